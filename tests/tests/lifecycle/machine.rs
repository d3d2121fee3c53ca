//! What the machine refuses: a full disk, and other users. These need root; `cargo xtask faults` runs them.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use koru_tests::support::bridge::{Bridge, Reply};
use koru_tests::support::documents::{Page, id, insert, replace, text};
use koru_tests::support::home::Home;
use koru_tests::support::programs::Programs;
use koru_tests::support::until;

fn runs(program: &str, arguments: &[&str]) -> bool {
    Command::new(program).args(arguments).status().is_ok_and(|status| status.success())
}

/// A small disk, until it is dropped.
struct Disk<'a>(&'a Path);

impl<'a> Disk<'a> {
    fn mount(folder: &'a Path, size: &str) -> Self {
        let path = folder.to_str().expect("a path in UTF-8");
        let size = format!("size={size}");
        assert!(runs("mount", &["-t", "tmpfs", "-o", &size, "tmpfs", path]), "mounting needs root");
        Self(folder)
    }
}

impl Drop for Disk<'_> {
    fn drop(&mut self) {
        let path = self.0.to_string_lossy().into_owned();
        // What was just ended may hold the disk for a moment.
        for _ in 0..100 {
            if runs("umount", &[&path]) {
                return;
            }
            std::thread::park_timeout(std::time::Duration::from_millis(20));
        }
    }
}

#[test]
#[ignore = "needs root and a tmpfs: cargo xtask faults"]
fn c75_a_full_disk_refuses_whole_and_recovers_without_a_restart() {
    let above = tempfile::tempdir().expect("a folder");
    let _disk = Disk::mount(above.path(), "6m");
    let home = Home::in_folder(Programs::beside_this_test(), above.path());
    let bridge = home.bridge();
    let page = Page::of_lines(&bridge, "Full", 1);
    let running = home.service_pids();
    let ballast = above.path().join("ballast");
    std::fs::write(&ballast, vec![1; 1 << 20]).expect("room for ballast");
    let big: String =
        (0..40_000).map(|number| format!("{:x} ", number * 2_654_435_761_u64)).collect();
    let mut written = 0;
    let refused = loop {
        let edit = page.edit(&page.revision, &[insert(&id(), &page.root, "code", &big)]);
        match bridge.call("edit_document", edit) {
            Reply::Ok(_) => written += 1,
            Reply::Refused(error) => break error,
            other => panic!("{other:?}"),
        }
        assert!(written < 100, "the disk never fills");
    };
    assert_eq!(refused["code"], "storage_failed");
    assert!(text(&refused["message"]).to_lowercase().contains("disk"), "{refused}");
    let held = page.texts(&bridge).len();
    assert_eq!(held, 1 + written, "reads go on; what was refused is not there");
    std::fs::remove_file(&ballast).expect("the ballast is ours");
    page.change(&bridge, &[replace(&page.nodes[0], "line 0", "room again")]);
    assert_eq!(home.service_pids(), running, "without a restart");
    assert!(home.kill_service());
    assert_eq!(page.texts(&bridge).len(), held, "and it is what the disk holds");
}

/// Adds a file by the command line; what it says where it does not succeed.
fn add(home: &Home, path: &Path) -> Result<(), String> {
    let output = home.command().args(["file", "add"]).arg(path).output().expect("koru-mcp runs");
    if output.status.success() {
        return Ok(());
    }
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    Err(String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
#[ignore = "needs root and a tmpfs: cargo xtask faults"]
fn c75_a_file_that_finds_no_room_leaves_nothing_and_fits_later() {
    const STEP: u64 = 64 * 1024;
    const FILE: u64 = 6 * STEP;
    let above = tempfile::tempdir().expect("a folder");
    let beside = tempfile::tempdir().expect("a folder");
    let _disk = Disk::mount(above.path(), "8m");
    let home = Home::in_folder(Programs::beside_this_test(), above.path());
    let bridge = home.bridge();
    let page = Page::of_lines(&bridge, "Kept", 1);
    let running = home.service_pids();
    let path = beside.path().join("scan.bin");
    std::fs::write(&path, vec![7; usize::try_from(FILE).expect("a size")])
        .expect("a file elsewhere");
    let listed = || bridge.ok("list_files", serde_json::json!({ "workspace_id": page.workspace }));
    let free = || {
        let found = rustix::fs::statvfs(above.path()).expect("a file system");
        found.f_bavail * found.f_frsize
    };
    let ballast = above.path().join("ballast");
    let held = std::fs::File::create(&ballast).expect("a ballast");
    // From no room at all to enough, a step at a time: the log, the folders, the content, the row.
    let mut refused = 0;
    let mut size = free();
    loop {
        rustix::fs::ftruncate(&held, 0).expect("a shorter ballast");
        let size_now = size.min(free());
        if size_now > 0 {
            let all = rustix::fs::FallocateFlags::empty();
            rustix::fs::fallocate(&held, all, 0, size_now).expect("room for the ballast");
        }
        match add(&home, &path) {
            Ok(()) => break,
            Err(said) => {
                assert!(said.contains("storage_failed"), "{said}");
                assert!(said.contains("disk is full"), "{said}");
                refused += 1;
            }
        }
        assert_eq!(listed()["files"], serde_json::json!([]), "nothing half there is seen");
        assert_eq!(page.texts(&bridge), ["line 0"], "reads go on");
        let incoming = home.folders().store.join("files/incoming");
        let left = std::fs::read_dir(incoming).into_iter().flatten().count();
        assert_eq!(left, 0, "what was sent of it is gone");
        size = size.saturating_sub(STEP);
    }
    assert!(refused >= 6, "only {refused} attempts found no room");
    assert_eq!(listed()["files"].as_array().map(Vec::len), Some(1));
    assert!(home.run(&["file", "verify"]).status.success());
    assert_eq!(home.service_pids(), running, "without a restart");
    assert!(home.kill_service());
    assert_eq!(listed()["files"].as_array().map(Vec::len), Some(1), "and it is on the disk");
}

#[test]
#[ignore = "needs root and setpriv: cargo xtask faults"]
fn c65_a_folder_that_may_not_be_read_is_told() {
    use std::os::unix::fs::chown;
    let above = tempfile::tempdir().expect("a folder");
    let open = |path: &Path, mode: u32| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("ours");
    };
    open(above.path(), 0o755);
    for program in [Programs::beside_this_test().bridge, Programs::beside_this_test().service] {
        let to = above.path().join(program.file_name().expect("a program has a name"));
        std::fs::copy(program, to).expect("a copy that the other user can reach");
    }
    let own = above.path().join("own");
    let closed = own.join("in/closed");
    std::fs::create_dir_all(&closed).expect("folders");
    std::fs::write(closed.join("secret"), "secret").expect("a file");
    std::fs::write(own.join("in/open"), "open").expect("a file");
    std::fs::write(own.join("in/shut"), "shut").expect("a file");
    open(&closed, 0o000);
    open(&own.join("in/shut"), 0o000);
    chown(&own, Some(1234), Some(1234)).expect("root may");
    let run = |arguments: &[&str]| {
        let mut command = Command::new("setpriv");
        command.args(["--reuid", "1234", "--regid", "1234", "--clear-groups"]);
        command.arg(above.path().join("koru-mcp")).args(arguments).current_dir(&own);
        command.env_clear().env("KORU_HOME", own.join("home"));
        command.output().expect("koru-mcp runs")
    };
    let output = run(&["file", "add", "in"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("in/closed: may not be read"), "{said}");
    assert!(said.contains("in/shut: may not be read"), "{said}");
    let listed = run(&["file", "list", "--json"]);
    let listed: serde_json::Value = serde_json::from_slice(&listed.stdout).expect("JSON");
    assert_eq!(listed["files"].as_array().map(Vec::len), Some(1), "{listed}");
    assert_eq!(listed["files"][0]["name"], "open");
    assert!(run(&["service", "stop"]).status.success());
}

#[test]
#[ignore = "needs root and setpriv: cargo xtask faults"]
fn another_user_gets_nowhere() {
    let home = Home::new();
    let page = Page::of_lines(&home.bridge(), "Private", 1);
    let folders = home.folders();
    // Open every folder and the socket: the peer's user is checked, not only the way to it.
    for folder in [home.beside(), home.path(), folders.run.as_path()] {
        std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o755)).expect("ours");
    }
    std::fs::set_permissions(&folders.socket, std::fs::Permissions::from_mode(0o666))
        .expect("ours");
    let programs = tempfile::tempdir().expect("a folder");
    std::fs::set_permissions(programs.path(), std::fs::Permissions::from_mode(0o755))
        .expect("ours");
    for program in [&home.programs().bridge, &home.programs().service] {
        let to = programs.path().join(program.file_name().expect("a program has a name"));
        std::fs::copy(program, to).expect("a copy that the other user can reach");
    }
    let mut command = Command::new("setpriv");
    command.args(["--reuid", "1234", "--regid", "1234", "--clear-groups"]);
    command.arg(programs.path().join("koru-mcp")).args(["serve", "--stdio"]);
    home.clear(&mut command);
    let stranger = Bridge::start(command);
    stranger.initialize("stranger");
    let said = stranger.err("read_document", page.this());
    assert!(!said.to_string().contains("line 0"));
    assert_eq!(said["code"], "service_unavailable", "{said}");
    stranger.kill();
    until("the end of the stranger", || Some(stranger.ended()));
    assert_eq!(page.texts(&home.bridge()), ["line 0"]);
}
