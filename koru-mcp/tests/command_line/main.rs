//! The commands that a person types, as far as they need no service.
#![expect(clippy::unwrap_used, reason = "the helpers of a test may end it like the test itself")]

use std::io::Write as _;
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

struct Shell {
    home: tempfile::TempDir,
}

impl Shell {
    fn new() -> Self {
        Self { home: tempfile::tempdir().unwrap() }
    }

    fn run_with(&self, arguments: &[&str], input: &str) -> Output {
        let mut child = Command::new(env!("CARGO_BIN_EXE_koru-mcp"))
            .args(arguments)
            .env("KORU_HOME", self.home.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        child.wait_with_output().unwrap()
    }

    fn run(&self, arguments: &[&str]) -> (i32, Value, String) {
        let output = self.run_with(arguments, "");
        (
            output.status.code().unwrap(),
            serde_json::from_slice(&output.stdout).unwrap_or(Value::Null),
            String::from_utf8(output.stderr).unwrap(),
        )
    }
}

#[test]
fn doctor_looks_without_starting_or_making_anything() {
    let shell = Shell::new();
    let (_, report, _) = shell.run(&["doctor", "--no-start"]);
    assert_eq!(report["bridge"]["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(report["service"], json!({ "state": "stopped" }));
    assert!(report["paths"]["socket"].is_string() && report["problems"].is_array());
    assert_eq!(report["ok"], report["problems"].as_array().unwrap().is_empty());
    assert_eq!(std::fs::read_dir(shell.home.path()).unwrap().count(), 0);
}

#[cfg(unix)]
#[test]
fn doctor_names_a_folder_that_cannot_be_used() {
    let shell = Shell::new();
    std::os::unix::fs::symlink("/nowhere", shell.home.path().join("run")).unwrap();
    let (code, report, _) = shell.run(&["doctor"]);
    assert_eq!((code, &report["ok"]), (1, &json!(false)));
    let problem = &report["problems"][0];
    assert_eq!(problem["code"], "folder_unusable");
    assert!(problem["fix"].is_string());
}

#[test]
fn the_documentation_needs_no_service() {
    let shell = Shell::new();
    let (code, told, _) =
        shell.run(&["call", "get_documentation", r#"{"uri":"koru://docs/model"}"#]);
    assert_eq!((code, &told["mime_type"]), (0, &json!("text/markdown")));
    let output =
        shell.run_with(&["call", "get_documentation", "-"], r#"{"uri":"koru://docs/model"}"#);
    assert!(output.status.success());
}

#[test]
fn a_failed_call_is_told_as_json() {
    let shell = Shell::new();
    let (code, told, _) = shell.run(&["call", "get_documentation", "{oops"]);
    assert_eq!((code, &told["code"]), (1, &json!("invalid_request")));
}

#[test]
fn a_service_that_does_not_run_is_said_to() {
    let shell = Shell::new();
    let (code, told, _) = shell.run(&["service", "status", "--json"]);
    assert_eq!((code, told), (1, json!({ "state": "stopped" })));
    let output = shell.run_with(&["service", "stop"], "");
    assert!(output.status.success());
}

#[test]
fn wrong_usage_ends_with_two() {
    let shell = Shell::new();
    for arguments in [
        &["document"][..],
        &["attribute", "define", "x"],
        &["attribute", "define", "x", "--kind", "no"],
    ] {
        let (code, _, said) = shell.run(arguments);
        assert_eq!(code, 2, "{arguments:?}");
        assert!(!said.is_empty());
    }
}
