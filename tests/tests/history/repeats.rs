//! Calls that are sent again: extractions and restores are applied once.

use koru_tests::support::bridge::{Bridge, Reply};
use koru_tests::support::documents::{Page, id, insert, replace, text};
use koru_tests::support::home::Home;
use serde_json::{Value, json};

use super::support::{entries, extracting, made, newest, restoring};

fn documents(bridge: &Bridge, page: &Page) -> usize {
    let listed = bridge.ok("list_documents", json!({ "workspace_id": page.workspace }));
    listed["documents"].as_array().map_or(0, Vec::len)
}

/// The answer to a call, sent again where it met a service that was just going.
fn surely(bridge: &Bridge, tool: &str, arguments: &Value) -> Value {
    loop {
        match bridge.call(tool, arguments.clone()) {
            Reply::Ok(result) => return result,
            Reply::Refused(error)
                if ["outcome_unknown", "service_unavailable"]
                    .contains(&error["code"].as_str().unwrap_or_default()) => {}
            other => panic!("{tool} failed: {other:?}"),
        }
    }
}

fn without_replayed(mut answer: Value) -> Value {
    assert_eq!(answer["replayed"], true, "{answer}");
    answer.as_object_mut().expect("an object").remove("replayed");
    answer
}

#[test]
fn an_extraction_that_is_sent_again_gives_its_first_answer() {
    let home = Home::new();
    let bridge = home.bridge();
    let page = Page::of_lines(&bridge, "Source", 3);
    let mut call =
        extracting(&bridge, &page, &page.nodes[0], json!({ "new_document_title": "New" }));
    call["extra_source_node_ids"] = json!([page.nodes[2]]);
    let first = bridge.ok("extract_to_document", call.clone());
    assert!(first.get("replayed").is_none());
    let target = made(&bridge, &page, &first);
    // By this client, by another, and after a restart.
    assert_eq!(without_replayed(bridge.ok("extract_to_document", call.clone())), first);
    assert_eq!(without_replayed(home.bridge().ok("extract_to_document", call.clone())), first);
    home.stop_service();
    assert_eq!(without_replayed(bridge.ok("extract_to_document", call.clone())), first);
    // Changes elsewhere, in both documents, are no matter.
    page.change(&bridge, &[replace(&page.nodes[1], "line 1", "elsewhere")]);
    target.change(&bridge, &[replace(&page.nodes[0], "line 0", "there")]);
    assert_eq!(without_replayed(bridge.ok("extract_to_document", call.clone())), first);
    assert_eq!(documents(&bridge, &page), 2);
    assert_eq!(entries(&bridge, &page).len(), 5);
    assert_eq!(entries(&bridge, &target).len(), 5, "created, extracted, edited");
    // Other input is another call.
    let mut other = call.clone();
    other["new_document_title"] = json!("Other");
    assert_eq!(bridge.err("extract_to_document", other)["code"], "stale_node");
    // Once the block is back and changed, it is judged anew.
    let created = entries(&bridge, &page).last().map(|entry| text(&entry["id"])).expect("entries");
    bridge.ok("restore_document_version", restoring(&page, &created, &page.now(&bridge)));
    let error = bridge.err("extract_to_document", call);
    assert_eq!(error["code"], "precondition_failed", "{error}");
}

#[test]
fn a_restore_that_is_sent_again_gives_its_first_answer() {
    let home = Home::new();
    let bridge = home.bridge();
    let page = Page::of_lines(&bridge, "Again", 2);
    let created = newest(&bridge, &page);
    let base = page.change(&bridge, &[replace(&page.nodes[0], "line 0", "changed")]);
    let call = restoring(&page, &created, &base);
    let first = bridge.ok("restore_document_version", call.clone());
    assert!(first.get("replayed").is_none());
    assert_eq!(without_replayed(bridge.ok("restore_document_version", call.clone())), first);
    home.stop_service();
    assert_eq!(without_replayed(home.bridge().ok("restore_document_version", call.clone())), first);
    bridge.ok("save_document_version", page.this());
    assert_eq!(
        without_replayed(bridge.ok("restore_document_version", call.clone())),
        first,
        "a saved version changes nothing"
    );
    assert_eq!(entries(&bridge, &page).len(), 6);
    page.change(&bridge, &[insert(&id(), &page.root, "paragraph", "later")]);
    assert_eq!(bridge.err("restore_document_version", call)["code"], "precondition_failed");
}

/// Calls that are in flight while the service dies: the bridge sends them again under the same key.
#[test]
fn a_call_that_meets_a_dying_service_is_applied_once() {
    let home = Home::new();
    let bridge = home.bridge();
    let page = Page::of_lines(&bridge, "Killed", 12);
    let created = newest(&bridge, &page);
    for (round, node) in page.nodes.iter().enumerate() {
        let call = extracting(
            &bridge,
            &page,
            node,
            json!({ "new_document_title": format!("New {round}") }),
        );
        let id = bridge.post_call("extract_to_document", call.clone());
        home.kill_service();
        let _ = bridge.wait(id);
        surely(&bridge, "extract_to_document", &call);
        assert_eq!(documents(&bridge, &page), 2 + round, "one document each");
    }
    let restore = restoring(&page, &created, &page.now(&bridge));
    let id = bridge.post_call("restore_document_version", restore.clone());
    home.kill_service();
    let _ = bridge.wait(id);
    surely(&bridge, "restore_document_version", &restore);
    assert_eq!(entries(&bridge, &page).len(), 1 + 2 * 13);
}
