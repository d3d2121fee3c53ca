//! How the bridge ends, and how it is started wrongly.

use std::process::{Command, Stdio};
use std::time::Duration;

use super::client::Bridge;

const AT_ONCE: Duration = Duration::from_millis(100);

#[test]
fn the_end_of_input_ends_the_bridge_at_once() {
    for initialized in [false, true] {
        let mut bridge = if initialized { Bridge::initialized(&[]) } else { Bridge::start(&[]) };
        if !initialized {
            bridge.assert_quiet_and_alive();
        }
        bridge.close_input();
        let (status, took) = bridge.wait();
        assert_eq!(status.code(), Some(0));
        assert!(took < AT_ONCE, "{took:?}");
    }
}

#[test]
fn an_empty_input_is_no_failure() {
    let home = tempfile::tempdir().unwrap();
    let status = Command::new(env!("CARGO_BIN_EXE_koru-mcp"))
        .args(["serve", "--stdio"])
        .env("KORU_HOME", home.path())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .status()
        .unwrap();
    assert_eq!(status.code(), Some(0));
}

#[cfg(unix)]
#[test]
fn a_signal_ends_the_bridge_at_once_though_stdin_stays_open() {
    for signal in ["INT", "TERM"] {
        let mut bridge = Bridge::initialized(&[]);
        bridge.assert_quiet_and_alive();
        let pid = bridge.child.id().to_string();
        assert!(Command::new("kill").args(["-s", signal, &pid]).status().unwrap().success());
        let (status, took) = bridge.wait();
        assert_eq!(status.code(), Some(0), "{signal}");
        assert!(took < AT_ONCE, "{signal}: {took:?}");
    }
}

#[test]
fn wrong_usage_is_said_with_its_own_code() {
    let home = tempfile::tempdir().unwrap();
    for arguments in [
        &["serve"][..],
        &["nonsense"],
        &["serve", "--stdio", "--tool-pages", "maybe"],
        &["serve", "--stdio", "--workspace", "x"],
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_koru-mcp"))
            .args(arguments)
            .env("KORU_HOME", home.path())
            .stdin(Stdio::null())
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(output.stdout.is_empty() && !output.stderr.is_empty());
    }
}

#[test]
fn the_version_is_that_of_the_package() {
    let output = Command::new(env!("CARGO_BIN_EXE_koru-mcp")).arg("--version").output().unwrap();
    let version = String::from_utf8(output.stdout).unwrap();
    assert_eq!(version, format!("koru-mcp {}\n", env!("CARGO_PKG_VERSION")));
    assert_eq!(output.status.code(), Some(0));
}
