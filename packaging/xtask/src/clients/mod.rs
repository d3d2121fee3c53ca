//! `cargo xtask clients`: real MCP clients list the tools, call each, and are refused as they should be.
//!
//! Each is pinned and installed below `target/clients`, and gets an empty `HOME` and a home of Koru's own.

mod inspector;
mod install;

use koru_tests::support::home::Home;

use crate::Outcome;
use crate::programs::{Profile, build, output};
use install::Installed;
pub(crate) use install::{NODE as NODE_VERSION, Node};

pub(crate) fn run() -> Outcome {
    let programs = build(Profile::Development)?;
    println!("== installing what is missing");
    let installed = Installed::new()?;
    let server = programs.bridge.display().to_string();
    for mode in ["legacy", "auto", "2026-07-28"] {
        println!("== Python SDK {}, {mode}", install::PYTHON_SDK);
        let home = Home::of(programs.clone());
        let script = install::script("python_sdk.py");
        let mut command = installed.python(&home)?;
        shows(command.arg(script).args([mode, &server]))?;
    }
    println!("== TypeScript SDK {}", install::TYPESCRIPT_SDK);
    let home = Home::of(programs.clone());
    shows(installed.typescript(&home)?.arg(&server))?;
    println!("== Inspector {}", install::INSPECTOR);
    inspector::run(&installed, &Home::of(programs))
}

/// Runs a check to its end and shows what it says.
fn shows(command: &mut std::process::Command) -> Outcome {
    let (code, said, complained) = output(command)?;
    print!("{said}");
    if code == Some(0) {
        return Ok(());
    }
    Err(format!("the check ended with {code:?}\n{complained}"))
}
