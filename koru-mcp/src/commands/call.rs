//! `call TOOL [JSON|-]`: one tool call.

use std::io::Read as _;

use koru_model::protocol::error::{Code, ToolError};
use koru_model::protocol::home::Home;
use serde_json::{Value, json};

use super::{Done, Failure, Session};
use crate::output;
use crate::serve::{catalogue, documentation};

/// The arguments of the command.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The tool.
    tool: String,
    /// Its arguments, a JSON object; - reads them from stdin.
    #[arg(value_name = "JSON", default_value = "{}")]
    arguments: String,
}

pub(crate) async fn run(home: &Home, arguments: Arguments) -> Done {
    let outcome = match read(&arguments.arguments) {
        Ok(value) => answer(home, &arguments.tool, value).await,
        Err(error) => Err(error),
    };
    match outcome {
        Ok(raw) => Ok(output::ready(&raw)?),
        Err(Failure::Tool(error)) => {
            output::json(&json!(error))?;
            Err(Failure::Shown)
        }
        Err(other) => Err(other),
    }
}

async fn answer(
    home: &Home,
    tool: &str,
    arguments: Value,
) -> Result<Box<serde_json::value::RawValue>, Failure> {
    if tool == catalogue::GET_DOCUMENTATION {
        catalogue::check(tool, arguments.as_object().cloned().unwrap_or_default())?;
        return Ok(documentation()?);
    }
    Ok(Session::open(home).await?.tool(tool, arguments).await?)
}

fn read(text: &str) -> Result<Value, Failure> {
    let mut input = String::new();
    let text = if text == "-" {
        std::io::stdin().read_to_string(&mut input)?;
        input.as_str()
    } else {
        text
    };
    serde_json::from_str(text).map_err(|error| {
        ToolError::new(Code::InvalidRequest, format!("The arguments are no JSON: {error}.")).into()
    })
}
