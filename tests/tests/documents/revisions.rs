//! Every state that a document ever had can be read by its revision, past keyframes and restarts.

use koru_tests::support::documents::{Page, nodes, replace, text};
use koru_tests::support::home::Home;
use serde_json::json;

/// More than two keyframes' worth.
const EDITS: usize = 700;

#[test]
fn old_revisions_are_served_after_hundreds_of_changes() {
    let home = Home::new();
    let bridge = home.bridge();
    let page = Page::of_lines(&bridge, "Revisions", 2);
    let mut base = page.revision.clone();
    let mut says = "line 0".to_owned();
    let mut states = vec![(base.clone(), says.clone())];
    for number in 1..=EDITS {
        let new = format!("state {number}");
        let edit = page.edit(&base, &[replace(&page.nodes[0], &says, &new)]);
        base = text(&bridge.ok("edit_document", edit)["revision"]);
        says = new;
        states.push((base.clone(), says.clone()));
    }
    let check = || {
        for (revision, says) in states.iter().step_by(37).chain(states.last()) {
            let more = json!({ "after_node_id": page.root, "revision": revision });
            let read = bridge.ok("read_document", page.reading(more));
            assert_eq!(nodes(&read)[0]["text"], *says);
            assert_eq!(read["revision"], *revision);
        }
    };
    check();
    assert!(home.kill_service());
    check();
    // An edit at the very first revision is judged by what it touches.
    let other = page.edit(&page.revision, &[replace(&page.nodes[1], "line 1", "other")]);
    bridge.ok("edit_document", other);
    let stale = page.edit(&page.revision, &[replace(&page.nodes[0], "line 0", "x")]);
    assert_eq!(bridge.err("edit_document", stale)["code"], "precondition_failed");
    let listed = bridge.ok("list_document_versions", page.reading(json!({ "limit": 1 })));
    assert_eq!(listed["entries"][0]["version"], 1 + 2 * (EDITS + 1));
}
