//! `doctor`: whether this installation works, and what to do where it does not.

use koru_model::protocol::admin::Admin;
use koru_model::protocol::error::{Code, ToolError};
use koru_model::protocol::home::{Home, NoHome};
use koru_model::protocol::wire::{BUILD, PROTOCOL, RELEASE};
use serde::Serialize;
use serde_json::{Value, json};

use super::{Done, Failure, Session, service};
use crate::output;
use crate::service::find_program;

/// Below this much room on the disk, changes may soon fail.
const ROOM: u64 = 64 * 1024 * 1024;

/// The arguments of the command.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Look only; start no service.
    #[arg(long)]
    no_start: bool,
}

/// What may be wrong: a closed list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum ProblemCode {
    HomeUnknown,
    FolderUnusable,
    ServiceMissing,
    ServiceStartFailed,
    ServiceNotAnswering,
    ServiceForeign,
    ServiceUnreachable,
    VersionMismatch,
    StoreUnhealthy,
    DiskFull,
}

#[derive(Debug, Serialize)]
struct Problem {
    code: ProblemCode,
    message: String,
    fix: &'static str,
}

pub(crate) async fn run(home: Result<Home, NoHome>, arguments: Arguments) -> Done {
    let report = match home {
        Ok(home) => look(&home, arguments.no_start).await,
        Err(error) => {
            let problem = problem(ProblemCode::HomeUnknown, error.to_string());
            json!({ "ok": false, "bridge": bridge(), "problems": [problem] })
        }
    };
    output::json(&report)?;
    if report["ok"] == true { Ok(()) } else { Err(Failure::Shown) }
}

async fn look(home: &Home, no_start: bool) -> Value {
    let mut problems = Vec::new();
    // Looking alone changes nothing, not even a folder's mode.
    let usable = if no_start { home.check_owner() } else { home.prepare() };
    if let Err(error) = usable {
        problems.push(problem(ProblemCode::FolderUnusable, error.to_string()));
    }
    if let Err(error) = find_program() {
        problems.push(problem(ProblemCode::ServiceMissing, error.to_string()));
    }
    let status = if problems.is_empty() { status(home, no_start).await } else { Ok(None) };
    let status = status.unwrap_or_else(|error| {
        problems.push(reach_problem(&error));
        None
    });
    let store = store(home, status.as_ref());
    if store["healthy"] == false {
        let message = "the store is damaged or cannot be written".to_owned();
        problems.push(problem(ProblemCode::StoreUnhealthy, message));
    }
    if let Some(free) = store["free_bytes"].as_u64().filter(|free| *free < ROOM) {
        problems.push(problem(
            ProblemCode::DiskFull,
            format!("{free} bytes are free on the store's disk"),
        ));
    }
    json!({
        "ok": problems.is_empty(),
        "bridge": bridge(),
        "service": service_part(status.as_ref()),
        "store": store,
        "paths": {
            "home": home.root,
            "store": home.store,
            "logs": home.logs,
            "socket": home.socket,
        },
        "problems": problems,
    })
}

async fn status(home: &Home, no_start: bool) -> Result<Option<Value>, Failure> {
    if no_start {
        return service::status(home).await;
    }
    Session::open(home).await?.admin(&Admin::ServiceStatus {}).await.map(Some)
}

fn bridge() -> Value {
    json!({
        "version": RELEASE,
        "build": BUILD,
        "path": std::env::current_exe().ok(),
        "protocol": PROTOCOL,
    })
}

fn service_part(status: Option<&Value>) -> Value {
    let Some(status) = status else { return json!({ "state": "stopped" }) };
    json!({
        "state": "running",
        "pid": status["pid"],
        "version": status["version"],
        "build": status["build"],
        "uptime_s": status["uptime_s"],
    })
}

fn store(home: &Home, status: Option<&Value>) -> Value {
    match status.and_then(|status| status.get("store")) {
        Some(store) => store.clone(),
        None => {
            let bytes = std::fs::metadata(home.database()).map_or(0, |found| found.len());
            json!({ "path": home.database(), "bytes": bytes })
        }
    }
}

fn reach_problem(failure: &Failure) -> Problem {
    let Failure::Tool(error) = failure else {
        return problem(ProblemCode::ServiceUnreachable, failure.to_string());
    };
    let reason = error.details.as_ref().and_then(|details| details["reason"].as_str());
    problem(code_of(error), reason.unwrap_or(&error.message).to_owned())
}

fn code_of(error: &ToolError) -> ProblemCode {
    let cause = error.details.as_ref().and_then(|details| details["cause"].as_str());
    match (error.code, cause) {
        (Code::VersionMismatch, _) => ProblemCode::VersionMismatch,
        (_, Some("start_failed" | "start_interrupted" | "start_slow")) => {
            ProblemCode::ServiceStartFailed
        }
        (_, Some("service_not_answering")) => ProblemCode::ServiceNotAnswering,
        (_, Some("foreign_service")) => ProblemCode::ServiceForeign,
        (_, Some("home_unusable")) => ProblemCode::FolderUnusable,
        _ => ProblemCode::ServiceUnreachable,
    }
}

fn problem(code: ProblemCode, message: String) -> Problem {
    let fix = match code {
        ProblemCode::HomeUnknown => "Set HOME, or KORU_HOME to a folder of your own.",
        ProblemCode::FolderUnusable => {
            "Make the folder yours and private (chown, chmod 700), do not use sudo, or set KORU_HOME to another folder."
        }
        ProblemCode::ServiceMissing => {
            "Install koru-mcp and koru-service into one folder, from one release."
        }
        ProblemCode::ServiceStartFailed => {
            "Follow the message; koru-service.log in the logs folder tells more."
        }
        ProblemCode::ServiceNotAnswering => {
            "Run koru-mcp service stop; where that does not help, end the process koru-service."
        }
        ProblemCode::ServiceForeign => {
            "Find out who serves the socket (see paths), and remove it or set KORU_HOME."
        }
        ProblemCode::ServiceUnreachable => "Run koru-mcp service stop, then koru-mcp doctor again.",
        ProblemCode::VersionMismatch => {
            "Quit the MCP client completely and start it again; then run koru-mcp service stop."
        }
        ProblemCode::StoreUnhealthy => {
            "Copy the store's folder somewhere safe before anything else; koru-service.log tells what was found."
        }
        ProblemCode::DiskFull => "Free some room on the store's disk; reading goes on meanwhile.",
    };
    Problem { code, message, fix }
}
