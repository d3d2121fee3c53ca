//! What tests say about files.

use koru_model::protocol::base64::Base64;
use serde_json::{Value, json};

use super::bridge::Bridge;
use super::documents::id;
use super::home::Home;

/// Adds a file of this name by the command line; its entry.
///
/// # Panics
/// When it is not added.
#[must_use]
pub fn add(home: &Home, name: &str, bytes: &[u8]) -> Value {
    let path = home.beside().join(id());
    std::fs::write(&path, bytes).expect("a file beside the home");
    let mut command = home.command();
    command.args(["file", "add", "--json", "--name", name, "--"]).arg(&path);
    let output = command.output().expect("koru-mcp runs");
    assert!(output.status.success(), "{name:?}: {output:?}");
    let said: Value = serde_json::from_slice(&output.stdout).expect("one JSON object");
    said["files"][0].clone()
}

/// What `read_file` gives of a piece, and the bytes in it.
///
/// # Panics
/// When it is refused.
#[must_use]
pub fn piece(
    bridge: &Bridge,
    workspace: &str,
    file: &Value,
    offset: u64,
    length: u64,
) -> (Value, Vec<u8>) {
    let piece = bridge.ok(
        "read_file",
        json!({ "workspace_id": workspace, "file_id": file["file_id"], "offset": offset, "length": length }),
    );
    let bytes: Base64 = serde_json::from_value(piece["base64"].clone()).expect("base64");
    (piece, bytes.0)
}

/// The whole of a file, read in pieces of a MiB.
///
/// # Panics
/// When it is refused, or its pieces do not fit together.
#[must_use]
pub fn content(bridge: &Bridge, workspace: &str, file: &Value) -> Vec<u8> {
    let mut all = Vec::new();
    loop {
        let (piece, bytes) = piece(bridge, workspace, file, all.len() as u64, 1 << 20);
        assert_eq!(piece["offset"], all.len());
        assert_eq!(piece["length"], bytes.len());
        all.extend(bytes);
        assert_eq!(piece["eof"], piece["total_bytes"] == all.len());
        if piece["eof"] == true {
            return all;
        }
    }
}
