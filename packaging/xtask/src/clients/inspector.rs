//! The Inspector's command line, with `--strict`.

use koru_tests::support::documents::{Page, personal};
use koru_tests::support::home::Home;
use serde_json::{Value, json};

use super::install::Installed;
use crate::Outcome;
use crate::programs::output;

/// What the Inspector ends with where a tool says `isError`.
const TOOL_ERROR: i32 = 5;

pub(super) fn run(installed: &Installed, home: &Home) -> Outcome {
    let page = Page::of_lines(&home.bridge(), "For the Inspector", 3);
    let workspace = personal(&home.bridge());
    let check = |what: &str, arguments: &[&str], wanted: i32| {
        let mut command = installed.inspector(home)?;
        // The Inspector hands the server no more of its environment than it is told.
        let ours = format!("KORU_HOME={}", home.path().display());
        command.args(["--cli", "-e", &ours]);
        command.arg(&home.programs().bridge).args(["serve", "--stdio"]);
        let (code, said, complained) = output(command.args(arguments))?;
        if code == Some(wanted) {
            println!("{what}: {} bytes", said.len());
            return Ok(said);
        }
        Err(format!("Inspector, {what}: ended with {code:?}\n{said}\n{complained}"))
    };
    let list = check("tools/list --strict", &["--method", "tools/list", "--strict"], 0)?;
    let listed: Value = serde_json::from_str(&list).unwrap_or_default();
    let tools = listed["tools"].as_array().map_or(0, Vec::len);
    if tools < 11 {
        return Err(format!("Inspector lists {tools} tools"));
    }
    check("resources/list", &["--method", "resources/list"], 0)?;
    let read = ["--method", "resources/read", "--uri", "koru://docs/model"];
    check("resources/read", &read, 0)?;
    let here = json!({ "workspace_id": workspace });
    for (tool, arguments) in [
        ("get_documentation", json!({ "uri": "koru://docs/model" })),
        ("list_workspaces", json!({})),
        ("list_documents", here.clone()),
        ("read_document", page.reading(json!({ "compact": true }))),
        ("list_document_links", page.this()),
        ("list_tags", here.clone()),
        ("list_attributes", here),
        ("list_document_versions", page.this()),
        ("save_document_version", page.reading(json!({ "label": "inspected" }))),
    ] {
        let arguments = arguments.to_string();
        let call = ["--method", "tools/call", "--tool-name", tool, "--tool-args-json", &arguments];
        check(tool, &call, 0)?;
    }
    let bad = json!({ "workspace_id": "no ID", "documents": 1 }).to_string();
    let call =
        ["--method", "tools/call", "--tool-name", "list_documents", "--tool-args-json", &bad];
    check("a bad call", &call, TOOL_ERROR)?;
    Ok(())
}
