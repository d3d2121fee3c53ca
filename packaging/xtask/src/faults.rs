//! `cargo xtask faults`: the long kill loops, a large file, and what needs root.

use crate::Outcome;
use crate::programs::{Profile, build, cargo, is_there, output, succeed};

const KILLS: &str = "200";
/// How many kills while files come in.
const FILE_KILLS: &str = "60";
/// How large a file is that is added and read back, in MiB.
const FILE_MIB: &str = "256";

/// A package, and one of its binaries of tests.
type Tests = [&'static str; 2];
const PROGRAMS: Tests = ["koru-tests", "all"];
const SEARCH: Tests = ["koru-service", "search"];

pub(crate) fn run(arguments: &[String]) -> Outcome {
    let (mut kills, mut file_mib) = (KILLS, FILE_MIB);
    for pair in arguments.chunks(2) {
        match pair {
            [flag, number] if number.parse::<u32>().is_err() => {
                return Err(format!("{flag} {number}: not a number"));
            }
            [flag, number] if flag == "--kills" => kills = number,
            [flag, number] if flag == "--file-mib" => file_mib = number,
            _ => return Err("usage: cargo xtask faults [--kills N] [--file-mib N]".into()),
        }
    }
    build(Profile::Development)?;
    println!("== {kills} kills under load");
    test("nothing_acknowledged_is_lost_and_nothing_applied_twice", &[], kills)?;
    println!("== {kills} kills while the index of search is written");
    let index = "after_every_kill_the_index_is_sound_and_equals_the_documents";
    let mut command = test_command(&SEARCH, index);
    succeed(command.env("KORU_KILLS", kills))?;
    println!("== kills while files come in");
    test("lifecycle::file_crash::", &[], kills)?;
    println!("== a file of {file_mib} MiB: added, read back, measured");
    let mut command = test_command(&PROGRAMS, "lifecycle::large_file::");
    succeed(command.env("KORU_FILE_MIB", file_mib))?;
    match obstacle() {
        Some(why) => println!("== SKIPPED, NOT TESTED: a full disk, another user: {why}"),
        None => {
            println!("== a full disk, another user");
            test("lifecycle::machine::", &["--ignored", "--test-threads=1"], kills)?;
        }
    }
    Ok(())
}

fn test(name: &str, flags: &[&str], kills: &str) -> Outcome {
    let mut command = test_command(&PROGRAMS, name);
    command.args(flags).env("KORU_KILLS", kills).env("KORU_FILE_KILLS", FILE_KILLS);
    succeed(&mut command)
}

fn test_command([package, binary]: &Tests, name: &str) -> std::process::Command {
    let mut command = cargo();
    command.args(["test", "--quiet", "--package", package, "--test", binary, "--", "--nocapture"]);
    command.arg(name);
    command
}

/// Why the tests of the machine cannot run here.
fn obstacle() -> Option<&'static str> {
    let is_root = std::env::consts::OS == "linux"
        && output(std::process::Command::new("id").arg("-u"))
            .is_ok_and(|(_, id, _)| id.trim() == "0");
    if !is_root {
        return Some("this needs root on Linux");
    }
    if !is_there("setpriv") {
        return Some("setpriv is missing");
    }
    let folder = tempfile::tempdir().ok()?;
    let mut mount = std::process::Command::new("mount");
    mount.args(["-t", "tmpfs", "tmpfs"]).arg(folder.path());
    let mounts = output(&mut mount).is_ok_and(|(code, _, _)| code == Some(0));
    let _ = output(std::process::Command::new("umount").arg(folder.path()));
    if mounts { None } else { Some("nothing can be mounted here") }
}
