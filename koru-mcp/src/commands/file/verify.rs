//! `file verify`: all contents against their hashes.

use koru_model::protocol::admin::{Admin, VerifyFrom};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::commands::{Done, Failure, Session};
use crate::output::{self, one_line};

/// What a step of the service found.
#[derive(Deserialize)]
struct Step {
    checked_bytes: u64,
    total_bytes: u64,
    contents: u64,
    damaged: Vec<Value>,
    #[serde(default)]
    next: Option<VerifyFrom>,
}

pub(super) async fn run(session: &Session, json: bool) -> Done {
    let bar = output::progress(0, "checking");
    let (mut bytes, mut contents, mut damaged) = (0, 0, Vec::new());
    let mut next = None;
    loop {
        let step = session.admin(&Admin::FileVerify { next }).await?;
        let step: Step = serde_json::from_value(step)
            .map_err(|_| Failure::Said("the service's answer cannot be read".into()))?;
        bytes += step.checked_bytes;
        contents += step.contents;
        damaged.extend(step.damaged);
        bar.set_length(step.total_bytes);
        bar.set_position(bytes);
        next = step.next;
        if next.is_none() {
            break;
        }
    }
    bar.finish_and_clear();
    let count = damaged.len();
    if json {
        let found = json!({ "ok": count == 0, "checked_bytes": bytes, "contents": contents, "damaged": damaged });
        output::json(&found)?;
        return if count == 0 { Ok(()) } else { Err(Failure::Shown) };
    }
    for file in &damaged {
        let text = |name: &str| one_line(file[name].as_str().unwrap_or_default());
        let place = file["offset"].as_u64().map_or(String::new(), |at| format!(" at byte {at}"));
        output::line(&format!(
            "{}  {}  {}{place}",
            text("file_id"),
            text("name"),
            text("problem")
        ))?;
    }
    if count == 0 {
        return Ok(output::line(&format!("{contents} contents, {bytes} bytes: all as they were"))?);
    }
    Err(Failure::Said(format!(
        "{count} damaged; to add the same file again repairs it, and so does a backup"
    )))
}
