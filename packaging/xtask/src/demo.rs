//! `cargo xtask demo`: nothing but Rust is needed.

use std::process::Command;

use crate::Outcome;
use crate::programs::{Profile, build, succeed};

pub(crate) fn run(arguments: &[String]) -> Outcome {
    let programs = build(Profile::Development)?;
    succeed(Command::new(programs.bridge).arg("demo").args(arguments))
}
