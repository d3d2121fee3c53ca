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
