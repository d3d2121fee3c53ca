//! What a client is told of a refused batch: codes, words, and the details to correct it by.
//!
//! An error is at most 4 KB: texts are windows around the first difference, at most ten conflicts are
//! listed, and the rest is counted.

use koru_model::document::State;
use koru_model::edit::batch::Failure;
use koru_model::edit::facts::Touch;
use koru_model::edit::fault::{Fault, Role, Target};
use koru_model::limits;
use koru_model::protocol::error::{Code, Problem, ToolError};
use koru_model::revision::Revision;
use koru_model::text;
use serde_json::{Map, Value, json};

use crate::outside::rfc3339;

/// Room that the list of conflicts and problems leaves for what stands around it, in bytes.
const AROUND: usize = 900;

/// What a refused batch is answered with.
pub(super) fn explain(
    failures: &[Failure],
    operations: usize,
    revision: Revision,
    state: &State,
) -> ToolError {
    told(failures, Some(("operations", operations)), Some(revision), Some(state))
}

/// What a refused call is answered with that is one change of its own and no batch.
pub(super) fn explain_call(fault: Fault, revision: Revision, state: &State) -> ToolError {
    told(&[Failure { operation_index: 0, fault }], None, Some(revision), Some(state))
}

/// What a refused creation is answered with.
pub(super) fn explain_initial(failures: &[Failure], operations: usize) -> ToolError {
    told(failures, Some(("initial_operations", operations)), None, None)
}

/// `batch`: the field that lists the operations, and how many there are.
fn told(
    failures: &[Failure],
    batch: Option<(&str, usize)>,
    revision: Option<Revision>,
    state: Option<&State>,
) -> ToolError {
    let mut conflicts: Vec<Value> = Vec::new();
    let mut problems: Vec<Value> = Vec::new();
    let (mut conflicts_omitted, mut problems_omitted) = (0, 0);
    let mut room = limits::ERROR_BYTES - AROUND;
    for failure in failures {
        let index = failure.operation_index;
        let (is_problem, value) = match problem(&failure.fault) {
            Some((field, reason)) => {
                let path = batch.map_or_else(
                    || field.to_owned(),
                    |(list, _)| format!("{list}[{index}].{field}"),
                );
                (true, json!(Problem::new(path, reason)))
            }
            None => (false, conflict(batch.map(|_| index), &failure.fault, state)),
        };
        let size = value.to_string().len() + 1;
        let (taken, omitted, most) = if is_problem {
            (&mut problems, &mut problems_omitted, limits::PROBLEMS)
        } else {
            (&mut conflicts, &mut conflicts_omitted, limits::CONFLICTS)
        };
        if taken.len() < most && size <= room {
            room -= size;
            taken.push(value);
        } else {
            *omitted += 1;
        }
    }
    let mut details = Map::new();
    if let Some(revision) = revision {
        details.insert("revision".into(), revision.to_string().into());
    }
    for (name, values, omitted) in
        [("conflicts", conflicts, conflicts_omitted), ("problems", problems, problems_omitted)]
    {
        if !values.is_empty() || omitted > 0 {
            details.insert(name.into(), values.into());
        }
        if omitted > 0 {
            details.insert(format!("{name}_omitted"), omitted.into());
        }
    }
    let Some(first) = failures.first() else {
        return ToolError::new(Code::Internal, "A batch was refused for no reason.");
    };
    if let Fault::UnknownAttribute { key, known } = &first.fault {
        details.insert("known".into(), json!(known.iter().take(50).collect::<Vec<_>>()));
        if let Some(nearest) = nearest(key, known) {
            details.insert("nearest".into(), nearest.into());
        }
    }
    let code = code(&first.fault);
    let what = sentence(&first.fault);
    let next = next_step(&first.fault, batch.map(|(list, _)| list));
    let refused = batch.map_or_else(
        || "the call".to_owned(),
        |(list, count)| format!("{list}[{}] of {count}", first.operation_index),
    );
    let message = format!("Nothing was changed: {refused} was refused, {what}. {next}");
    ToolError::new(code, message).with(Value::Object(details))
}

fn code(fault: &Fault) -> Code {
    match fault {
        Fault::TextDiffers { .. }
        | Fault::NeighbourElsewhere { .. }
        | Fault::Changed { .. }
        | Fault::Unread { .. } => Code::PreconditionFailed,
        Fault::Gone { .. } => Code::StaleNode,
        Fault::Invalid { .. } | Fault::Ambiguous { .. } => Code::InvalidRequest,
        Fault::UnknownAttribute { .. } => Code::UnknownAttribute,
        Fault::AttributeRejected { .. } => Code::AttributeRejected,
        Fault::NotFound { .. } => Code::NotFound,
        Fault::Facts(_) => Code::Internal,
    }
}

/// The field and the reason where the operation is wrong whatever the document holds.
fn problem(fault: &Fault) -> Option<(&'static str, String)> {
    match fault {
        Fault::Invalid { field, reason } => Some((field, reason.clone())),
        Fault::Ambiguous { field, candidates } => {
            let ids: Vec<String> = candidates.iter().take(5).map(ToString::to_string).collect();
            let reason =
                format!("names several nodes; give more digits, or one of {}", ids.join(", "));
            Some((field, reason))
        }
        Fault::UnknownAttribute { key, .. } => {
            Some(("key", format!("{} is no attribute of this workspace", short(key))))
        }
        Fault::AttributeRejected { key, reason } => {
            Some(("value", format!("the value for {} {reason}", short(key))))
        }
        Fault::NotFound { target, field, id } => {
            Some((field, format!("the workspace holds no {} {id}", thing(*target))))
        }
        Fault::TextDiffers { .. }
        | Fault::Gone { .. }
        | Fault::NeighbourElsewhere { .. }
        | Fault::Changed { .. }
        | Fault::Unread { .. }
        | Fault::Facts(_) => None,
    }
}

fn short(text: &str) -> String {
    text::window(text, 0)
}

fn thing(target: Target) -> &'static str {
    match target {
        Target::Tag => "tag",
        Target::Document => "document",
        Target::File => "file",
    }
}

fn nearest<'a>(key: &str, known: &'a [String]) -> Option<&'a str> {
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    koru_model::protocol::arguments::nearest(key, &known)
}

fn with_change(conflict: &mut Value, change: Option<&Touch>) {
    if let Some(change) = change {
        conflict["changed_by"] = change.by.clone().into();
        conflict["changed_at"] = rfc3339(change.at_ms).into();
    }
}

/// A fault of the state, as details list it.
fn conflict(index: Option<usize>, fault: &Fault, state: Option<&State>) -> Value {
    let base = |node: &str| match index {
        Some(index) => {
            json!({ "operation_index": index, "node_id": node, "code": code(fault).name() })
        }
        None => json!({ "node_id": node, "code": code(fault).name() }),
    };
    match fault {
        Fault::TextDiffers { node, expected, actual, from_before_batch, change } => {
            let mut conflict = base(&node.to_string());
            let difference = text::first_difference(expected, actual);
            let at = difference.as_ref().map_or(0, |difference| difference.at_utf8);
            conflict["expected"] = text::window(expected, at).into();
            conflict["actual"] = text::window(actual, at).into();
            conflict["first_difference"] = json!(difference);
            if *from_before_batch {
                conflict["expected_is_from_before_batch"] = true.into();
            }
            with_change(&mut conflict, change.as_ref());
            conflict
        }
        Fault::Gone { name, node, role, change } => {
            let mut conflict = base(&node.map_or_else(|| name.clone(), |node| node.to_string()));
            conflict["known"] = node.is_some().into();
            conflict["role"] = role_name(*role).into();
            with_change(&mut conflict, change.as_ref());
            conflict
        }
        Fault::NeighbourElsewhere { neighbour, parent, present_parent } => {
            let mut conflict = base(&neighbour.to_string());
            conflict["parent_id"] = json!(parent);
            conflict["present_parent_id"] = json!(present_parent);
            conflict
        }
        Fault::Changed { node, property, present, change } => {
            let mut conflict = base(&node.to_string());
            conflict["property"] = property.name().into();
            conflict["present"] = if present.to_string().len() > limits::WINDOW_CHARS * 2 {
                "too long to show; read the node".into()
            } else {
                present.clone()
            };
            with_change(&mut conflict, Some(change));
            conflict
        }
        Fault::Unread { node, nodes } => {
            let mut conflict = base(&node.to_string());
            let listed: Vec<Value> = nodes
                .iter()
                .take(5)
                .map(|(id, change)| {
                    let text = state.and_then(|state| state.live(*id)).map(|node| node.text());
                    let mut one = json!({ "node_id": id, "text": text.map(|text| text.chars().take(60).collect::<String>()) });
                    with_change(&mut one, Some(change));
                    one
                })
                .collect();
            conflict["unread_nodes"] = listed.into();
            if nodes.len() > 5 {
                conflict["unread_nodes_omitted"] = (nodes.len() - 5).into();
            }
            conflict
        }
        Fault::Invalid { .. }
        | Fault::Ambiguous { .. }
        | Fault::UnknownAttribute { .. }
        | Fault::AttributeRejected { .. }
        | Fault::NotFound { .. }
        | Fault::Facts(_) => base(""),
    }
}

fn role_name(role: Role) -> &'static str {
    match role {
        Role::Node => "node",
        Role::Parent => "parent",
        Role::Neighbour => "neighbour",
    }
}

/// What is the matter, to stand behind "was refused,".
fn sentence(fault: &Fault) -> String {
    match fault {
        Fault::TextDiffers { node, from_before_batch: true, .. } => format!(
            "because an earlier operation of this batch changed the text of node {node} and expected still is the text from before the batch"
        ),
        Fault::TextDiffers { node, .. } => {
            format!("because the text of node {node} is not the expected one")
        }
        Fault::Gone { name, node: Some(_), role, change, .. } => {
            let by =
                change.as_ref().map_or_else(String::new, |change| format!(" by {}", change.by));
            format!("because the {} {name} was removed{by}", role_name(*role))
        }
        Fault::Gone { name, node: None, role, .. } => {
            format!("because this document never held a {} {name}", role_name(*role))
        }
        Fault::NeighbourElsewhere { neighbour, .. } => {
            format!("because {neighbour} does not stand under the given parent")
        }
        Fault::Changed { node, property, change, .. } => format!(
            "because {} of node {node} was changed by {} after base_revision",
            property.name(),
            change.by
        ),
        Fault::Unread { node, nodes } => format!(
            "because {} of the nodes that go with {node} were added or changed after base_revision",
            nodes.len()
        ),
        Fault::Facts(_) => "because the store could not be read".into(),
        Fault::Invalid { .. }
        | Fault::Ambiguous { .. }
        | Fault::UnknownAttribute { .. }
        | Fault::AttributeRejected { .. }
        | Fault::NotFound { .. } => {
            problem(fault).map_or_else(String::new, |(field, reason)| format!("{field} {reason}"))
        }
    }
}

/// What to do next.
fn next_step(fault: &Fault, list: Option<&str>) -> String {
    let whole = if list.is_some() { "the whole batch" } else { "the call" };
    match fault {
        Fault::TextDiffers { from_before_batch: true, .. } => {
            "Give as expected the text that the earlier operation left (details.conflicts[].actual), and send the batch again.".into()
        }
        Fault::TextDiffers { .. } => {
            format!("Take the present text from details.conflicts[].actual (a window where it is long: then read the node), decide again, and send {whole} with base_revision = details.revision.")
        }
        Fault::Gone { node: None, .. } => {
            format!("Check the ID against read_document; then send {whole} again.")
        }
        Fault::Gone { .. } | Fault::NeighbourElsewhere { .. } => {
            format!("Read the document, take present IDs and places, and send {whole} again with the revision that you read.")
        }
        Fault::Changed { .. } => {
            format!("See details.conflicts[].present; if your change is still wanted, send {whole} again with base_revision = details.revision.")
        }
        Fault::Unread { .. } => {
            format!("Read it; if it shall go all the same, send {whole} again with the revision that you read.")
        }
        Fault::UnknownAttribute { .. } => {
            "Use a key of list_attributes; a person defines new ones with koru-mcp attribute define.".into()
        }
        Fault::NotFound { target: Target::Tag, .. } => {
            "Take a tag_id from list_tags, or give the tag's name as tag.".into()
        }
        Fault::NotFound { target: Target::File, .. } => {
            "No tool adds files; leave the attachment out, or ask the user to add the file.".into()
        }
        Fault::NotFound { .. } => "Take the ID from list_documents of this workspace.".into(),
        Fault::Invalid { .. }
        | Fault::Ambiguous { .. }
        | Fault::AttributeRejected { .. }
        | Fault::Facts(_) => format!("Correct {} and send the call again.", list.unwrap_or("it")),
    }
}
