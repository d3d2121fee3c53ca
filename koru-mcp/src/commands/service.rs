//! `service`: the background process.

use std::time::{Duration, Instant};

use clap::Subcommand;
use koru_model::protocol::admin::Admin;
use koru_model::protocol::home::Home;
use serde_json::{Value, json};

use super::{Done, Failure, Session};
use crate::output;
use crate::service::{admin_request, find, has_left};

/// How long the service may take to finish what it is doing.
const PATIENCE: Duration = Duration::from_secs(10);

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Action {
    /// Start it, where it does not run.
    Start,
    /// Let it finish what it is doing, and end.
    Stop,
    /// Tell how it is; exit 1 where it does not run.
    Status {
        /// Print one JSON object.
        #[arg(long)]
        json: bool,
    },
}

pub(crate) async fn run(home: &Home, action: Action) -> Done {
    match action {
        Action::Start => {
            let status = Session::open(home).await?.admin(&Admin::ServiceStatus {}).await?;
            tell(&status)
        }
        Action::Stop => {
            let said = if stop(home).await? { "stopped" } else { "it did not run" };
            Ok(output::line(said)?)
        }
        Action::Status { json } => match status(home).await? {
            Some(status) if json => Ok(output::json(&status)?),
            Some(status) => tell(&status),
            None => {
                if json {
                    output::json(&json!({ "state": "stopped" }))?;
                } else {
                    output::line("it does not run")?;
                }
                Err(Failure::Shown)
            }
        },
    }
}

/// What the running service says of itself; none where none runs.
///
/// # Errors
/// When it is there and does not answer.
pub(super) async fn status(home: &Home) -> Result<Option<Value>, Failure> {
    ask(home, &Admin::ServiceStatus {}).await
}

/// Ends the service and waits until it has left the store; false where none ran.
///
/// # Errors
/// When it does not end.
pub(super) async fn stop(home: &Home) -> Result<bool, Failure> {
    if ask(home, &Admin::ServiceStop {}).await?.is_none() {
        return Ok(false);
    }
    if has_left(home, Instant::now() + PATIENCE).await? {
        return Ok(true);
    }
    Err(Failure::Said("the service was asked to end and still runs".into()))
}

/// One question to the service that runs, whatever its release, without starting one.
async fn ask(home: &Home, admin: &Admin) -> Result<Option<Value>, Failure> {
    let deadline = Instant::now() + PATIENCE;
    let Some(connection) = find(home, deadline).await? else { return Ok(None) };
    let Some(request) = admin_request(admin) else { return Ok(None) };
    let answer = tokio::time::timeout_at(deadline.into(), connection.call(request)).await;
    match answer {
        Ok(Ok(outcome)) => Ok(Some(serde_json::from_str(outcome?.get()).unwrap_or_default())),
        // It ended before it answered, which is an answer to `stop`.
        Ok(Err(_)) => Ok(Some(Value::Null)),
        Err(_) => Err(Failure::Said("the service does not answer".into())),
    }
}

fn tell(status: &Value) -> Done {
    let store = &status["store"];
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), output::clean);
    output::line(&format!(
        "running: version {}, process {}, since {} s, {} connections",
        text(&status["version"]),
        status["pid"],
        status["uptime_s"],
        status["connections"]
    ))?;
    output::line(&format!("store: {}, {} bytes", text(&store["path"]), store["bytes"]))?;
    Ok(())
}
