//! `list_tags`.

use koru_tests::support::documents::{Page, id, operation, text};
use koru_tests::support::home::Home;
use serde_json::json;

#[test]
fn tags_come_with_their_parents_and_uses() {
    let home = Home::new();
    let bridge = home.bridge();
    let page = Page::of_lines(&bridge, "Tagged", 2);
    let tag = |node: usize, name: &str| {
        operation("add_tag", &page.nodes[node], &format!("line {node}"), json!({ "tag": name }))
    };
    page.change(&bridge, &[tag(0, "family/calls"), tag(1, "#Family/Calls"), tag(1, "work")]);
    let listed = bridge.ok("list_tags", json!({ "workspace_id": page.workspace }));
    let tags = listed["tags"].as_array().expect("tags");
    let names: Vec<String> = tags.iter().map(|tag| text(&tag["name"])).collect();
    assert_eq!(names, ["family", "family/calls", "work"]);
    assert_eq!(tags[1]["parent"], tags[0]["tag_id"]);
    assert_eq!(tags[1]["uses"], 2);
    let by_id = json!({ "tag_id": tags[1]["tag_id"] });
    page.change(&bridge, &[operation("remove_tag", &page.nodes[0], "line 0", by_id)]);
    let listed = bridge.ok("list_tags", json!({ "workspace_id": page.workspace }));
    assert_eq!(listed["tags"][1]["uses"], 1);
}

#[test]
fn unknown_tags_and_workspaces_are_refused() {
    let home = Home::new();
    let bridge = home.bridge();
    let page = Page::of_lines(&bridge, "Tagged", 1);
    let unknown = operation("add_tag", &page.nodes[0], "line 0", json!({ "tag_id": id() }));
    assert_eq!(page.refused(&bridge, &[unknown])["code"], "not_found");
    let both = json!({ "tag": "a", "tag_id": id() });
    let both = operation("add_tag", &page.nodes[0], "line 0", both);
    assert_eq!(page.refused(&bridge, &[both])["code"], "invalid_request");
    let denied = bridge.err("list_tags", json!({ "workspace_id": id() }));
    assert_eq!(denied["code"], "permission_denied");
}
