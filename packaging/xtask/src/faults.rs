//! `cargo xtask faults`: the long kill loop, and what needs root.

use crate::Outcome;
use crate::programs::{Profile, build, cargo, is_there, output, succeed};

const KILLS: &str = "200";

pub(crate) fn run(arguments: &[String]) -> Outcome {
    let kills = match arguments {
        [] => KILLS,
        [flag, number] if flag == "--kills" && number.parse::<u32>().is_ok() => number,
        _ => return Err("usage: cargo xtask faults [--kills N]".into()),
    };
    build(Profile::Development)?;
    println!("== {kills} kills under load");
    test("nothing_acknowledged_is_lost_and_nothing_applied_twice", &[], kills)?;
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
    let mut command = cargo();
    command.args([
        "test",
        "--quiet",
        "--package",
        "koru-tests",
        "--test",
        "all",
        "--",
        "--nocapture",
    ]);
    succeed(command.arg(name).args(flags).env("KORU_KILLS", kills))
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
