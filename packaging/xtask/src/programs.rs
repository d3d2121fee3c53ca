//! Other programs: cargo, and what a recipe brings along.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use koru_tests::support::programs::Programs;

/// Which build is used.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Profile {
    /// What `cargo build` makes.
    Development,
    /// What people install.
    Release,
}

/// The root of the repository.
pub(crate) fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap_or_default()
}

/// The folder that cargo builds into.
pub(crate) fn target() -> PathBuf {
    let own = std::env::current_exe().unwrap_or_default();
    own.ancestors().nth(2).map(Path::to_path_buf).unwrap_or_default()
}

/// Cargo, in the repository.
pub(crate) fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(repository()).env("CARGO_TARGET_DIR", target());
    command
}

/// Builds both programs.
pub(crate) fn build(profile: Profile) -> Result<Programs, String> {
    let mut command = cargo();
    command.args(["build", "--quiet", "--package", "koru-mcp", "--package", "koru-service"]);
    let folder = match profile {
        Profile::Development => "debug",
        Profile::Release => {
            command.arg("--release");
            "release"
        }
    };
    succeed(&mut command)?;
    Ok(Programs::in_folder(&target().join(folder)))
}

/// Runs a program that shows what it does.
pub(crate) fn succeed(command: &mut Command) -> Result<(), String> {
    let status = command.status().map_err(|error| format!("{}: {error}", shown(command)))?;
    if status.success() { Ok(()) } else { Err(format!("{} ended with {status}", shown(command))) }
}

/// Runs a program; what it wrote, and how it ended.
pub(crate) fn output(command: &mut Command) -> Result<(Option<i32>, String, String), String> {
    let output = command
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("{}: {error}", shown(command)))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ok((output.status.code(), text(&output.stdout), text(&output.stderr)))
}

/// Whether a program can be run at all.
pub(crate) fn is_there(program: &str) -> bool {
    Command::new(program)
        .arg("--version")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok()
}

fn shown(command: &Command) -> String {
    let words: Vec<String> = std::iter::once(command.get_program())
        .chain(command.get_args())
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    words.join(" ")
}
