//! What operations do in a batch, as data; what one operation alone must be is beside it.

use serde_json::json;

use crate::document::state::Node;
use crate::document::view;
use crate::edit::check::{THERE, World, check, id, outcome, show, tree};
use crate::edit::facts::{Property, Touch};
use crate::ids::TagId;

const PAGE: &str = "t title T\n  a heading A\n    b paragraph B\n    c task C\n  d paragraph D\n";

#[test]
fn replace_text_changes_the_text_and_nothing_else() {
    let replace = |node: &str, expected: &str, text: &str| json!([{"op": "replace_text", "node_id": node, "expected": expected, "text": text}]);
    check(PAGE, &replace("t", "T", "New"), Ok(&PAGE.replace("title T", "title New")));
    check(
        PAGE,
        &replace("b", "B", " ’$&\\0 x\r\ny"),
        Ok(&PAGE.replace("paragraph B", "paragraph  ’$&\\0 x⏎y")),
    );
    check(PAGE, &replace("b", "b", "x"), Err(&["0 TextDiffers"]));
    check(PAGE, &replace("t", "T", "two\nlines"), Err(&["0 Invalid text"]));
    check(PAGE, &replace("a", "A", "two\nlines"), Err(&["0 Invalid text"]));
    check(PAGE, &replace("b", "B", "a\0b"), Err(&["0 Invalid text"]));
    check(PAGE, &replace("z", "", "x"), Err(&["0 Gone Node known=false"]));
    check("t title T\n  v divider\n", &replace("v", "", "x"), Err(&["0 Invalid node_id"]));
    let emoji = "t title T\n  e paragraph a😭b😊c\n";
    check(emoji, &replace("e", "a😭b😊c", "a😊c"), Ok("t title T\n  e paragraph a😊c\n"));
}

#[test]
fn insert_puts_a_node_where_it_is_told() {
    let insert = |more: serde_json::Value| {
        let mut operation = json!({"op": "insert", "node_id": "n", "parent_id": "t", "kind": "paragraph", "text": "N"});
        operation.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!([operation])
    };
    check(
        PAGE,
        &insert(json!({})),
        Ok(
            "t title T\n  n paragraph N\n  a heading A\n    b paragraph B\n    c task C\n  d paragraph D\n",
        ),
    );
    check(PAGE, &insert(json!({"at_end": true})), Ok(&format!("{PAGE}  n paragraph N\n")));
    check(PAGE, &insert(json!({"after_node_id": "d"})), Ok(&format!("{PAGE}  n paragraph N\n")));
    check(
        PAGE,
        &insert(json!({"parent_id": "a", "after_node_id": "b"})),
        Ok(&PAGE.replace("    c", "    n paragraph N\n    c")),
    );
    check(
        PAGE,
        &insert(json!({"parent_id": "b", "kind": "task"})),
        Ok(&PAGE.replace("    c", "      n task N\n    c")),
    );
    check(
        PAGE,
        &insert(json!({"parent_id": "b", "kind": "heading"})),
        Err(&["0 Invalid parent_id"]),
    );
    check(PAGE, &insert(json!({"kind": "title"})), Err(&["0 Invalid kind"]));
    check(PAGE, &insert(json!({"node_id": "b"})), Err(&["0 Invalid node_id"]));
    check(PAGE, &insert(json!({"after_node_id": "b"})), Err(&["0 NeighbourElsewhere"]));
    check(PAGE, &insert(json!({"after_node_id": "z"})), Err(&["0 Gone Neighbour known=false"]));
    check(PAGE, &insert(json!({"parent_id": "z"})), Err(&["0 Gone Parent known=false"]));
    check(PAGE, &insert(json!({"kind": "divider", "text": "x"})), Err(&["0 Invalid text"]));
    check(PAGE, &insert(json!({"kind": "table", "text": "a\tb\nc"})), Err(&["0 Invalid text"]));
    check(
        "t title T\n  k code x\n",
        &insert(json!({"parent_id": "k"})),
        Err(&["0 Invalid parent_id"]),
    );
}

#[test]
fn insert_inline_goes_between_characters_and_tokens() {
    let page = "t title T\n  p paragraph é\n  k code x\n";
    let inline = |node: &str, expected: &str, at: u64, target: &str| {
        json!([{"op": "insert_inline", "node_id": node, "expected": expected, "at_utf8": at,
            "inline": {"type": "document", "document_id": target}}])
    };
    let token = format!("[[document:{THERE}]]");
    check(page, &inline("p", "é", 2, THERE), Ok(&page.replace('é', &format!("é{token}"))));
    check(page, &inline("p", "é", 0, THERE), Ok(&page.replace('é', &format!("{token}é"))));
    check(page, &inline("p", "é", 1, THERE), Err(&["0 Invalid at_utf8"]));
    check(page, &inline("p", "é", 3, THERE), Err(&["0 Invalid at_utf8"]));
    check(page, &inline("p", "é", 0, "0198c2f0-0000-7000-8000-00000000ffff"), Err(&["0 NotFound"]));
    check(page, &inline("k", "x", 0, THERE), Err(&["0 Invalid node_id"]));
    check(page, &inline("t", "T", 0, THERE), Err(&["0 Invalid node_id"]));
    let linked = page.replace('é', &token);
    check(&linked, &inline("p", &token, 5, THERE), Err(&["0 Invalid at_utf8"]));
    check(
        &linked,
        &inline("p", &token.to_uppercase().replace("DOCUMENT", "document"), 49, THERE),
        Ok(&page.replace('é', &format!("{token}{token}"))),
    );
}

#[test]
fn move_keeps_the_node_and_refuses_rings() {
    let moved = |node: &str, expected: &str, more: serde_json::Value| {
        let mut operation = json!({"op": "move", "node_id": node, "expected": expected});
        operation.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!([operation])
    };
    check(
        PAGE,
        &moved("b", "B", json!({"parent_id": "t", "at_end": true})),
        Ok("t title T\n  a heading A\n    c task C\n  d paragraph D\n  b paragraph B\n"),
    );
    check(
        PAGE,
        &moved("c", "C", json!({"parent_id": "a"})),
        Ok("t title T\n  a heading A\n    c task C\n    b paragraph B\n  d paragraph D\n"),
    );
    check(PAGE, &moved("d", "D", json!({"parent_id": "t", "at_end": true})), Ok(PAGE));
    check(
        PAGE,
        &moved("a", "A", json!({"parent_id": "t", "after_node_id": "d"})),
        Ok("t title T\n  d paragraph D\n  a heading A\n    b paragraph B\n    c task C\n"),
    );
    check(PAGE, &moved("t", "T", json!({"parent_id": "a"})), Err(&["0 Invalid node_id"]));
    check(PAGE, &moved("a", "A", json!({"parent_id": "a"})), Err(&["0 Invalid parent_id"]));
    check(PAGE, &moved("a", "A", json!({"parent_id": "b"})), Err(&["0 Invalid parent_id"]));
    check(
        PAGE,
        &moved("d", "D", json!({"parent_id": "t", "after_node_id": "d"})),
        Err(&["0 Invalid after_node_id"]),
    );
    check(
        PAGE,
        &moved("d", "D", json!({"parent_id": "a", "after_node_id": "b", "at_end": true})),
        Err(&["0 Invalid at_end"]),
    );
    check(PAGE, &moved("d", "x", json!({"parent_id": "a"})), Err(&["0 TextDiffers"]));
    // Both into each other: the second would close a ring.
    check(
        "t title T\n  a paragraph A\n  b paragraph B\n",
        &json!([
            {"op": "move", "node_id": "a", "expected": "A", "parent_id": "b"},
            {"op": "move", "node_id": "b", "expected": "B", "parent_id": "a"}]),
        Err(&["1 Invalid parent_id"]),
    );
}

#[test]
fn remove_takes_everything_under_it() {
    let remove = |node: &str, expected: &str| json!([{"op": "remove", "node_id": node, "expected": expected}]);
    check(PAGE, &remove("a", "A"), Ok("t title T\n  d paragraph D\n"));
    check(PAGE, &remove("t", "T"), Err(&["0 Invalid node_id"]));
    let then = json!([
        {"op": "remove", "node_id": "a", "expected": "A"},
        {"op": "set_done", "node_id": "c", "expected": "C", "done": true}]);
    check(PAGE, &then, Err(&["1 Gone Node known=true"]));
}

#[test]
fn fields_of_one_kind_are_refused_on_another() {
    check(
        PAGE,
        &json!([{"op": "set_done", "node_id": "c", "expected": "C", "done": true}]),
        Ok(&PAGE.replace("task C", "task [x] C")),
    );
    check(
        PAGE,
        &json!([{"op": "set_done", "node_id": "b", "expected": "B", "done": true}]),
        Err(&["0 Invalid node_id"]),
    );
    check(
        PAGE,
        &json!([{"op": "set_language", "node_id": "b", "expected": "B", "language": "rust"}]),
        Err(&["0 Invalid node_id"]),
    );
    let attribute = |key: &str, kind: &str, value: &str| json!([{"op": "set_attribute", "node_id": "b", "expected": "B", "key": key, "value": {"kind": kind, "value": value}}]);
    check(PAGE, &attribute("koru.due", "date", "2026-12-24"), Ok(PAGE));
    check(PAGE, &attribute("koru.due", "date", "2026-02-30"), Err(&["0 AttributeRejected"]));
    check(PAGE, &attribute("koru.priority", "text", "soon"), Err(&["0 AttributeRejected"]));
    check(PAGE, &attribute("koru.duee", "date", "2026-12-24"), Err(&["0 UnknownAttribute"]));
    check(
        PAGE,
        &json!([{"op": "clear_attribute", "node_id": "b", "expected": "B", "key": "koru.due"}]),
        Ok(PAGE),
    );
    check(
        PAGE,
        &json!([{"op": "clear_attribute", "node_id": "b", "expected": "B", "key": "x"}]),
        Err(&["0 UnknownAttribute"]),
    );
    check(
        PAGE,
        &json!([{"op": "add_tag", "node_id": "b", "expected": "B", "tag": "a//b"}]),
        Err(&["0 Invalid tag"]),
    );
    check(
        PAGE,
        &json!([{"op": "add_tag", "node_id": "b", "expected": "B"}]),
        Err(&["0 Invalid tag"]),
    );
    check(
        PAGE,
        &json!([{"op": "add_tag", "node_id": "b", "expected": "B", "tag_id": THERE}]),
        Err(&["0 NotFound"]),
    );
    check(
        PAGE,
        &json!([{"op": "remove_tag", "node_id": "b", "expected": "B", "tag": "none"}]),
        Ok(PAGE),
    );
}

#[test]
fn expected_follows_the_batch() {
    let replace = |expected: &str, text: &str| json!({"op": "replace_text", "node_id": "c", "expected": expected, "text": text});
    let done = |expected: &str| json!({"op": "set_done", "node_id": "c", "expected": expected, "done": true});
    check(
        PAGE,
        &json!([replace("C", "D"), replace("D", "E"), done("E")]),
        Ok(&PAGE.replace("task C", "task [x] E")),
    );
    check(PAGE, &json!([replace("C", "D"), done("C")]), Ok(&PAGE.replace("task C", "task [x] D")));
    check(PAGE, &json!([replace("C", "D"), replace("C", "E")]), Err(&["1 TextDiffers"]));
    check(PAGE, &json!([replace("C", "D"), done("X")]), Err(&["1 TextDiffers"]));
}

#[test]
fn all_conflicts_are_told_but_not_those_that_follow_from_others() {
    check(
        PAGE,
        &json!([
            {"op": "insert", "node_id": "n", "parent_id": "z", "kind": "paragraph"},
            {"op": "replace_text", "node_id": "n", "expected": "", "text": "x"},
            {"op": "insert", "node_id": "m", "parent_id": "n", "kind": "paragraph"},
            {"op": "replace_text", "node_id": "m", "expected": "", "text": "x"},
            {"op": "replace_text", "node_id": "b", "expected": "x", "text": "y"},
            {"op": "replace_text", "node_id": "b", "expected": "y", "text": "z"},
            {"op": "replace_text", "node_id": "d", "expected": "D", "text": "z"},
            {"op": "remove", "node_id": "a", "expected": "x"},
            {"op": "replace_text", "node_id": "0000006e", "expected": "", "text": "x"}]),
        Err(&["0 Gone Parent known=false", "4 TextDiffers", "7 TextDiffers"]),
    );
}

#[test]
fn names_of_nodes_may_be_tails() {
    check(
        PAGE,
        &json!([{"op": "set_done", "node_id": "00000063", "expected": "C", "done": true}]),
        Ok(&PAGE.replace("task C", "task [x] C")),
    );
    let twins = "t title T\n  aa paragraph A\n  ba paragraph B\n";
    let tail = id("aa").hex().split_off(24);
    assert_eq!(tree(twins).tail(id("aa"), 8), tail);
    check(
        twins,
        &json!([{"op": "remove", "node_id": tail, "expected": "A"}]),
        Ok("t title T\n  ba paragraph B\n"),
    );
}

#[test]
fn what_was_changed_after_the_base_revision_is_guarded() {
    let before = tree(PAGE);
    let touch = Touch { seq: 5, by: "another".into(), at_ms: 0 };
    let mut world = World::default();
    for (node, property) in [
        ("c", Property::Done),
        ("d", Property::Place),
        ("b", Property::Attribute("koru.due".into())),
        ("b", Property::Text),
    ] {
        world.touched.insert((id(node), property), touch.clone());
    }
    for (operation, refused) in [
        (
            json!({"op": "set_done", "node_id": "c", "expected": "C", "done": true}),
            Some("0 Changed"),
        ),
        (
            json!({"op": "move", "node_id": "d", "expected": "D", "parent_id": "a"}),
            Some("0 Changed"),
        ),
        (
            json!({"op": "clear_attribute", "node_id": "b", "expected": "B", "key": "koru.due"}),
            None,
        ),
        (
            json!({"op": "set_attribute", "node_id": "b", "expected": "B", "key": "koru.due", "value": {"kind": "date", "value": "2026-12-24"}}),
            Some("0 Changed"),
        ),
        (
            json!({"op": "set_attribute", "node_id": "b", "expected": "B", "key": "koru.list", "value": {"kind": "text", "value": "number"}}),
            None,
        ),
        (json!({"op": "remove", "node_id": "a", "expected": "A"}), Some("0 Unread")),
        (json!({"op": "remove", "node_id": "d", "expected": "D"}), None),
        (json!({"op": "replace_text", "node_id": "b", "expected": "B", "text": "x"}), None),
    ] {
        let batch = json!([operation]);
        let old = outcome(&before, &mut world, (4, 5), &batch).err();
        assert_eq!(
            old.as_deref(),
            refused.map(|refused| vec![refused.to_owned()]).as_deref(),
            "{operation}"
        );
        assert!(outcome(&before, &mut world, (5, 5), &batch).is_ok(), "{operation}");
    }
}

#[test]
fn a_deep_tree_ends_at_the_limit() {
    let mut batch = Vec::new();
    let mut parent = "t".to_owned();
    for level in 0..49 {
        let name = format!("n{}", char::from(b'0' + level));
        batch.push(json!({"op": "insert", "node_id": name, "parent_id": parent, "kind": "listblock", "text": "x"}));
        parent = name;
    }
    let before = tree("t title T\n");
    assert_eq!(
        outcome(&before, &mut World::default(), (1, 1), &json!(batch)).err(),
        Some(vec!["48 Invalid parent_id".to_owned()])
    );
    batch.pop();
    let deep = outcome(&before, &mut World::default(), (1, 1), &json!(batch)).unwrap();
    assert_eq!(deep.live_nodes(), 49);
    assert!(show(&deep).lines().last().unwrap().starts_with(&"  ".repeat(48)));
}

/// The ID of a merged tag means the one that it went into: on a node, and in an operation.
#[test]
fn a_merged_tag_is_the_one_that_it_went_into() {
    let [kept, merged, removed] = [1, 2, 3].map(|byte| TagId::from_bytes([byte; 16]));
    let tag = |op: &str, field: &str, value: &str| json!([{"op": op, "node_id": "b", "expected": "B", field: value}]);
    for (carried, operations, left) in [
        (vec![merged], tag("add_tag", "tag", "Kept"), vec![merged]),
        (vec![merged], tag("add_tag", "tag_id", &merged.to_string()), vec![merged]),
        (vec![removed], tag("add_tag", "tag_id", &merged.to_string()), vec![kept, removed]),
        (vec![kept, merged, removed], tag("remove_tag", "tag", "kept"), vec![removed]),
        (vec![kept, merged], tag("remove_tag", "tag_id", &merged.to_string()), vec![]),
        (vec![merged], tag("remove_tag", "tag_id", &kept.to_string()), vec![]),
    ] {
        let mut world = World::default();
        world.tags.insert("kept".into(), kept);
        world.merged.insert(merged, kept);
        let nodes = tree(PAGE);
        let mut nodes: Vec<Node> = nodes.nodes().map(|node| Node::clone(node)).collect();
        let node = nodes.iter_mut().find(|node| node.id == id("b")).unwrap();
        node.tags.extend(carried);
        let before = view::build(nodes[0].id, nodes);
        let after = outcome(&before, &mut world, (1, 1), &operations).unwrap();
        let found: Vec<TagId> = after.node(id("b")).unwrap().tags.iter().copied().collect();
        assert_eq!(found, left, "{operations}");
    }
    let unknown = tag("remove_tag", "tag_id", &removed.to_string());
    let refused = outcome(&tree(PAGE), &mut World::default(), (1, 1), &unknown);
    assert_eq!(refused.unwrap_err(), ["0 NotFound"]);
}
