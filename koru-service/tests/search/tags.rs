//! Tags that a person renames, merges and removes, as search finds them.

use serde_json::{Value, json};

use super::support::{Fixture, marked, titles};

fn tag_id(koru: &Fixture, name: &str) -> Value {
    let listed = koru.ok("list_tags", &json!({ "workspace_id": koru.workspace }));
    let tags = listed["tags"].as_array().unwrap();
    let found = tags.iter().find(|tag| tag["name"] == name);
    found.unwrap_or_else(|| panic!("no tag {name} in {listed}"))["tag_id"].clone()
}

/// The titles that a filter by a tag admits.
fn admitted(koru: &Fixture, tag: &str) -> Vec<String> {
    let mut found = titles(&koru.search_with(&json!({ "query": "", "tags": [tag] })));
    found.sort();
    found
}

fn found(koru: &Fixture, query: &str) -> Vec<String> {
    let mut found = koru.titles(query);
    found.sort();
    found
}

#[test]
fn renamed_merged_and_removed_tags_are_found_by_what_they_are_called_now() {
    let koru = Fixture::new();
    let add = |title: &str, tags: &[&str]| {
        let doc = koru.page(title, &["paragraph Words"]);
        for tag in tags {
            koru.change(&doc, "Words", "add_tag", &json!({ "tag": tag }));
        }
    };
    add("One", &["family/telephone"]);
    add("Two", &["chatter"]);
    add("Both", &["chatter", "family/telephone"]);
    let workspace_id = koru.workspace.clone();

    let id = tag_id(&koru, "family");
    let rename = json!({ "workspace_id": workspace_id, "tag_id": id, "name": "kinship" });
    koru.ok("tag.rename", &rename);
    assert_eq!(found(&koru, "kinship telephone"), ["Both", "One"]);
    assert_eq!(admitted(&koru, "Kinship"), ["Both", "One"]);
    assert!(found(&koru, "\"family\"").is_empty() && admitted(&koru, "family").is_empty());

    let source = tag_id(&koru, "chatter");
    let target = tag_id(&koru, "kinship/telephone");
    let merge = json!({ "workspace_id": workspace_id, "source": source, "target": target });
    koru.ok("tag.merge", &merge);
    for name in ["kinship", "kinship/telephone"] {
        assert_eq!(admitted(&koru, name), ["Both", "One", "Two"], "{name}");
    }
    assert!(found(&koru, "\"chatter\"").is_empty() && admitted(&koru, "chatter").is_empty());
    let hits = koru.search("telephone");
    let hits = hits["hits"].as_array().unwrap();
    assert_eq!(hits.len(), 3);
    for hit in hits {
        assert_eq!((&hit["field"], &hit["snippet"]), (&json!("tag"), &json!("kinship/telephone")));
        assert_eq!(marked(hit), ["telephone"]);
        assert!(hit.get("other_matches").is_none(), "a node counts once: {hit}");
    }
    let by_node = koru.search_with(&json!({ "query": "telephone", "per": "node" }));
    assert_eq!(by_node["hits"].as_array().map(Vec::len), Some(3));

    let tag_id = tag_id(&koru, "kinship");
    let remove = json!({ "workspace_id": workspace_id, "tag_id": tag_id, "force": true });
    assert_eq!(koru.ok("tag.remove", &remove)["uses"], 3);
    assert!(found(&koru, "\"telephone\"").is_empty() && admitted(&koru, "kinship").is_empty());
    assert_eq!(found(&koru, "words"), ["Both", "One", "Two"]);
}
