//! The real programs from outside: every tool, the cases of public bug reports, and the lives of processes.
//!
//! One binary, so that the programs are found once. A new file needs a line in the `mod.rs` beside
//! it; `no_file_is_forgotten` holds that.

mod cases;
mod documents;
mod history;
mod lifecycle;
mod papers;
mod person;
mod tools;

use std::path::Path;

#[test]
fn no_file_is_forgotten() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let mut forgotten = Vec::new();
    look(&folder, "all.rs", &mut forgotten);
    assert!(forgotten.is_empty(), "no `mod` names {forgotten:?}");
}

fn look(folder: &Path, list: &str, forgotten: &mut Vec<String>) {
    let listed = std::fs::read_to_string(folder.join(list)).unwrap_or_default();
    for entry in std::fs::read_dir(folder).expect("a folder of tests") {
        let path = entry.expect("an entry of a folder").path();
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        if path.file_name().is_some_and(|file| file == list) {
            continue;
        }
        if !listed.lines().any(|line| line == format!("mod {name};")) {
            forgotten.push(path.display().to_string());
        }
        if path.is_dir() {
            look(&path, "mod.rs", forgotten);
        }
    }
}
