//! A file larger than memory should ever hold: added by the command line, read back by a client, each side
//! measured. `cargo xtask faults --file-mib N` makes it as large as one likes.

use std::fs::File;
use std::io::{BufWriter, Read as _, Write as _};
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use koru_model::content::ContentHasher;
use koru_model::protocol::base64::Base64;
use koru_tests::support::PATIENCE;
use koru_tests::support::documents::{personal, text};
use koru_tests::support::home::Home;
use serde_json::{Value, json};

const MIB: u64 = 1024 * 1024;
/// What a file may cost, above what a process takes at rest, in KiB.
const ALLOWED_KIB: u64 = 32 * 1024;

fn mib() -> u64 {
    std::env::var("KORU_FILE_MIB").ok().and_then(|text| text.parse().ok()).unwrap_or(48)
}

/// Bytes that no disk and no program can make fewer.
fn write_noise(path: &Path, mib: u64) {
    let mut file = BufWriter::with_capacity(1 << 20, File::create(path).expect("a file"));
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    for _ in 0..mib * MIB / 8 {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        file.write_all(&state.to_le_bytes()).expect("room for the file");
    }
    // Not a whole number of pieces.
    file.write_all(b"the end").and_then(|()| file.flush()).expect("room for the file");
}

fn hash_of(path: &Path) -> String {
    let mut file = File::open(path).expect("the file");
    let mut hasher = ContentHasher::default();
    let mut buffer = vec![0; 1 << 20];
    loop {
        let read = file.read(&mut buffer).expect("the file is read");
        if read == 0 {
            return hasher.finish().0.to_string();
        }
        hasher.update(&buffer[..read]);
    }
}

/// What a process took at most so far, in KiB.
fn peak_kib(pid: u32) -> Option<u64> {
    field_kib(pid, "VmHWM:")
}

fn field_kib(pid: u32, name: &str) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse().ok()
}

/// Runs `koru-mcp` to its end: what it wrote, and what it took at most, in KiB.
fn measured(home: &Home, arguments: &[&str]) -> (String, u64) {
    let mut command = home.command();
    command.args(arguments).stdout(Stdio::piped());
    let mut child: Child = command.spawn().expect("koru-mcp runs");
    let deadline = Instant::now() + PATIENCE + Duration::from_secs(mib() / 8);
    let mut peak = 0;
    let status = loop {
        peak = peak_kib(child.id()).map_or(peak, |kib| kib.max(peak));
        if let Some(status) = child.try_wait().expect("a child of ours") {
            break status;
        }
        assert!(Instant::now() < deadline, "{arguments:?} does not end");
        std::thread::park_timeout(Duration::from_millis(2));
    };
    let mut said = String::new();
    child.stdout.take().expect("stdout is a pipe").read_to_string(&mut said).expect("what it said");
    assert!(status.success(), "{arguments:?}: {said}");
    (said, peak)
}

#[test]
fn c63_a_large_file_costs_little_memory_and_comes_back_the_same() {
    let home = Home::new();
    let path = home.beside().join("large.bin");
    write_noise(&path, mib());
    let hash = hash_of(&path);
    let (_, idle_command) = measured(&home, &["file", "list"]);
    let bridge = home.bridge();
    let workspace = personal(&bridge);
    let service = *home.service_pids().first().expect("a service");
    // A small one first, so that what is loaded once is not counted.
    let small = home.beside().join("small.bin");
    std::fs::write(&small, "small").expect("a file");
    let _ = measured(&home, &["file", "add", small.to_str().expect("UTF-8")]);
    let idle_service = field_kib(service, "VmRSS:").expect("the service runs");
    let idle_bridge = field_kib(bridge.pid(), "VmRSS:").expect("the bridge runs");

    let began = Instant::now();
    let (said, command) =
        measured(&home, &["file", "add", "--json", path.to_str().expect("UTF-8")]);
    let adding = began.elapsed();
    let added: Value = serde_json::from_str(&said).expect("JSON");
    let file = &added["files"][0];
    assert_eq!(file["hash"], hash);
    assert_eq!(file["size"], mib() * MIB + 7);
    let after_adding = peak_kib(service).expect("the service runs");

    let began = Instant::now();
    let mut hasher = ContentHasher::default();
    loop {
        let piece = bridge.ok(
            "read_file",
            json!({ "workspace_id": workspace, "file_id": file["file_id"],
                "offset": hasher.bytes(), "length": MIB }),
        );
        assert_eq!(piece["offset"], hasher.bytes());
        assert_eq!(piece["total_bytes"], file["size"]);
        let bytes: Base64 = serde_json::from_value(piece["base64"].clone()).expect("base64");
        assert_eq!(piece["length"], bytes.0.len());
        hasher.update(&bytes.0);
        assert_eq!(piece["eof"], hasher.bytes() == mib() * MIB + 7);
        if piece["eof"] == true {
            break;
        }
    }
    let reading = began.elapsed();
    assert_eq!(hasher.finish().0.to_string(), text(&file["hash"]));
    let verified = home.run(&["file", "verify"]);
    assert!(verified.status.success(), "{verified:?}");

    let reader = peak_kib(bridge.pid()).expect("the bridge runs");
    let whole = peak_kib(service).expect("the service runs");
    let above = [
        ("koru-mcp file add", command.saturating_sub(idle_command)),
        ("the service while adding", after_adding.saturating_sub(idle_service)),
        ("the service in all", whole.saturating_sub(idle_service)),
        ("the bridge while reading", reader.saturating_sub(idle_bridge)),
    ];
    report(&format!(
        "{} MiB: added in {adding:.1?}, read in {reading:.1?}; KiB above idle: {above:?}",
        mib()
    ));
    for (who, kib) in above {
        assert!(kib <= ALLOWED_KIB, "{who} took {kib} KiB above idle");
    }
}

#[expect(clippy::print_stderr, reason = "what a long run did is shown with --nocapture")]
fn report(summary: &str) {
    eprintln!("{summary}");
}
