//! What the comparison of two texts costs, ordinary ones and the worst: `cargo bench -p koru-model`.
//!
//! Printed as a ratio of reading both texts once, in the same run.
#![expect(clippy::print_stdout, reason = "a benchmark prints")]

use std::hint::black_box;
use std::time::Instant;

use koru_model::diff::{Budget, splices};

fn text(seed: u64, length: usize, from: &[&str]) -> String {
    let mut state = seed;
    (0..length)
        .filter_map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            from.get((state >> 33) as usize % from.len()).copied()
        })
        .collect()
}

/// The median of nine runs, in milliseconds.
fn median(mut work: impl FnMut()) -> f64 {
    let mut times: Vec<f64> = (0..9)
        .map(|_| {
            let began = Instant::now();
            work();
            began.elapsed().as_secs_f64() * 1e3
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times.get(4).copied().unwrap_or_default()
}

fn main() {
    let marks = [".", ",", ";", ":", "!", "?", " "];
    let signs = ["的", "一", "是", "不", "了"];
    let words = ["let ", "x", " = ", "call(", ");\n", "if ", "{\n", "}\n", "name", "1"];
    let code = text(3, 40_000, &words);
    let word = code.replacen("call", "ask", 1);
    let far = format!("use {}end\n", code.replacen("name", "title", 1));
    let cases = [
        ("one word of 100 kB of code", code.clone(), word),
        ("both ends of 100 kB of code", code.clone(), far),
        ("another 15 kB of code", text(4, 6_000, &words), text(5, 6_000, &words)),
        ("20,000 random marks", text(1, 19_990, &marks), text(2, 19_990, &marks)),
        ("20,000 of two marks", text(1, 19_990, &[".", ","]), text(2, 19_990, &[".", ","])),
        ("20,000 random signs", text(1, 19_990, &signs), text(2, 19_990, &signs)),
    ];
    println!("{:28} {:>9} {:>9} {:>8}", "text", "ms", "x read", "splices");
    for (name, old, new) in &cases {
        let read = median(|| {
            black_box(old.chars().chain(new.chars()).filter(|c| c.is_alphanumeric()).count());
        });
        let took = median(|| {
            black_box(splices((old, &[]), (new, &[]), &mut Budget::default()));
        });
        let count = splices((old, &[]), (new, &[]), &mut Budget::default()).len();
        println!("{name:28} {took:9.2} {:9.0} {count:8}", took / read.max(1e-6));
    }
}
