//! The program `koru-service`: one background process per user, started by `koru-mcp` when it is needed.

use std::process::ExitCode;

use koru_model::protocol::wire::RELEASE;

fn main() -> ExitCode {
    match std::env::args().nth(1).as_deref() {
        None => koru_service::boot::run(),
        Some("--version") => say(&mut std::io::stdout(), &format!("koru-service {RELEASE}"), 0),
        Some(_) => {
            let usage = "koru-service takes no arguments but --version; koru-mcp starts it when it is needed";
            say(&mut std::io::stderr(), usage, 2)
        }
    }
}

fn say(stream: &mut impl std::io::Write, line: &str, code: u8) -> ExitCode {
    let _ = writeln!(stream, "{line}");
    ExitCode::from(code)
}
