//! `search`, by a person.

use koru_tests::support::documents::{Page, id, operation, text};
use koru_tests::support::home::Home;
use serde_json::{Value, json};

fn ok(home: &Home, arguments: &[&str]) -> String {
    let output = home.run(&[&["search"], arguments].concat());
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).expect("output in UTF-8")
}

fn fails(home: &Home, arguments: &[&str]) -> (Option<i32>, String) {
    let output = home.run(&[&["search"], arguments].concat());
    assert!(!output.status.success(), "{arguments:?}: {output:?}");
    (output.status.code(), String::from_utf8(output.stderr).expect("output in UTF-8"))
}

/// The titles of the hits: the first line of each.
fn titles(shown: &str) -> Vec<String> {
    let hits = shown.split("\n\n").filter(|hit| hit.trim().contains('\n'));
    hits.filter_map(|hit| hit.lines().next())
        .map(|line| line.split("  ").next().unwrap_or("").to_owned())
        .collect()
}

fn tail(id: &str) -> String {
    id.chars().skip(28).collect()
}

fn attribute(
    page: &Page,
    node: usize,
    expected: &str,
    key: &str,
    kind: &str,
    value: &str,
) -> Value {
    let value = json!({ "key": key, "value": { "kind": kind, "value": value } });
    operation("set_attribute", &page.nodes[node], expected, value)
}

#[test]
fn words_are_found_and_shown_with_where_they_stand() {
    let home = Home::new();
    let bridge = home.bridge();
    let page = Page::new(
        &bridge,
        "Garden",
        &[("task", "Buy compost"), ("paragraph", "Roses\nin March"), ("quote", "No more roses")],
    );
    let other = Page::of_lines(&bridge, "Compost heap", 1);
    home_move(&home, "Compost heap", "Garden");

    let shown = ok(&home, &["compost"]);
    assert_eq!(titles(&shown), ["Compost heap", "Garden"]);
    let first = format!("Compost heap  Garden\n  {} · ", tail(&other.document));
    assert!(shown.starts_with(&first), "{shown}");
    let hit = format!(
        "Garden\n  Buy compost\n  {} · task {} · ",
        tail(&page.document),
        tail(&page.nodes[0])
    );
    assert!(shown.contains(&hit), "{shown}");
    assert!(!shown.contains('\u{1b}'), "no colours into a pipe");
    // The tail that is shown names the document for other commands.
    let read = home.run(&["document", "show", &tail(&page.document)]);
    assert!(read.status.success(), "{read:?}");

    let json: Value =
        serde_json::from_str(&ok(&home, &["compost", "--json"])).expect("one JSON object");
    let asked = json!({ "query": "compost" });
    assert_eq!(json, bridge.ok("search_documents", asked));

    assert!(ok(&home, &["roses", "march"]).contains("Roses in March"));
    assert_eq!(titles(&ok(&home, &["\"buy compost\""])), ["Garden"]);
    let corrected = ok(&home, &["rosse "]);
    assert!(
        corrected.starts_with("nothing holds rosse; did you mean roses?\n\nGarden\n"),
        "{corrected}"
    );
    assert_eq!(ok(&home, &["nowhere"]), "nothing found\n");
    let paged = ok(&home, &["compost", "--limit", "1"]);
    assert!(titles(&paged).len() == 1 && paged.ends_with("more hits: --offset 1\n"), "{paged}");
    assert_eq!(titles(&ok(&home, &["compost", "--limit", "1", "--offset", "1"])), ["Garden"]);
    assert_eq!(
        titles(&ok(&home, &["line", "--document", "Garden/Compost heap"])),
        ["Compost heap"]
    );
    assert_eq!(ok(&home, &["line", "--document", "Garden"]), "nothing found\n");

    let trashed = home.run(&["document", "trash", "Garden/Compost heap"]);
    assert!(trashed.status.success(), "{trashed:?}");
    assert_eq!(titles(&ok(&home, &["compost"])), ["Garden"]);
    let trash = ok(&home, &["compost", "--trash"]);
    assert!(titles(&trash) == ["Compost heap"] && trash.contains("in the trash"), "{trash}");
    assert_eq!(titles(&ok(&home, &["compost", "--all"])).len(), 2);

    for (arguments, says) in [
        (&[][..], "nothing to search for"),
        (&["  ", "--sort", "modified"], "nothing to search for"),
        (&["x", "--kind", "image"], "one of title, heading"),
        (&["x", "--where", "koru.due>=today"], "includes both ends"),
        (&["x", "--done", "--open"], "cannot be used with"),
        (&["x", "--limit", "0"], "1..=200"),
        (
            &["x", "--document", "Garden", "--workspace", "Personal", "--workspace", "Personal"],
            "one workspace",
        ),
    ] {
        let (code, said) = fails(&home, arguments);
        assert!(code == Some(2) && said.contains(says), "{arguments:?}: {code:?} {said}");
    }
    for (arguments, says) in [
        (&["x", "--where", "no.such.key=1"][..], "unknown_attribute"),
        (&["x", "--where", "koru.due=soon"], "invalid_request"),
        (&["x", "--workspace", "Nowhere"], "no workspace Nowhere"),
        (&["x", "--document", &id()], "no document"),
    ] {
        let (code, said) = fails(&home, arguments);
        assert!(code == Some(1) && said.contains(says), "{arguments:?}: {code:?} {said}");
    }
}

fn home_move(home: &Home, document: &str, under: &str) {
    let moved = home.run(&["document", "move", document, "--under", under]);
    assert!(moved.status.success(), "{moved:?}");
}

#[test]
fn filters_are_typed_as_flags() {
    let home = Home::new();
    let bridge = home.bridge();
    let defined = home.run(&["attribute", "define", "price", "--kind", "number"]);
    assert!(defined.status.success(), "{defined:?}");
    let nodes = [("task", "first"), ("task", "second"), ("paragraph", "third")];
    let page = Page::new(&bridge, "Filtered", &nodes);
    page.change(
        &bridge,
        &[
            attribute(&page, 0, "first", "koru.due", "date", "2026-12-24"),
            attribute(&page, 1, "second", "koru.due", "date", "2027-01-01"),
            attribute(&page, 2, "third", "price", "number", "15.5"),
            attribute(&page, 0, "first", "koru.priority", "text", "high"),
            operation("add_tag", &page.nodes[0], "first", json!({ "tag": "family/calls" })),
            operation("set_done", &page.nodes[1], "second", json!({ "done": true })),
        ],
    );
    let found = |arguments: &[&str]| -> Vec<String> {
        let json = ok(&home, &[arguments, &["--per-node", "--json"]].concat());
        let json: Value = serde_json::from_str(&json).expect("one JSON object");
        let mut found: Vec<String> = json["hits"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|hit| text(&hit["snippet"]))
            .collect();
        found.sort();
        found
    };
    for (arguments, wanted) in [
        (&["--open"][..], &["first"][..]),
        (&["--done"], &["second"]),
        (&["--kind", "task"], &["first", "second"]),
        (&["--kind", "task", "--kind", "paragraph"], &["first", "second", "third"]),
        (&["--tag", "#FAMILY"], &["first"]),
        (&["--where", "koru.due"], &["first", "second"]),
        (&["--kind", "paragraph", "--where", "!koru.due"], &["third"]),
        (&["--where", "koru.due<2027-01-01"], &["first"]),
        (&["--where", "koru.due > 2026-12-24"], &["second"]),
        (&["--where", "koru.due=2026-12-24..2027-01-01"], &["first", "second"]),
        (&["--where", "koru.due=2026-12-24|2027-01-02"], &["first"]),
        (&["--where", "koru.priority=high", "--where", "koru.due"], &["first"]),
        (&["--where", "price=10..20"], &["third"]),
        (&["--where", "price=15.50"], &["third"]),
        (&["--where", "price<10"], &[]),
        (&["second", "--where", "koru.due<3000-01-01"], &["second"]),
    ] {
        assert_eq!(found(arguments), wanted, "{arguments:?}");
    }
    // A day that is counted from today.
    let today = "koru.due>today-36500";
    assert_eq!(found(&["--where", today]), ["first", "second"]);
}

#[test]
fn hits_of_several_workspaces_say_which() {
    let home = Home::new();
    let bridge = home.bridge();
    let here = Page::of_lines(&bridge, "Here", 1);
    let made = home.run(&["workspace", "create", "Work"]);
    let work = String::from_utf8(made.stdout).expect("output in UTF-8").trim().to_owned();
    let there = Page::new_in(&bridge, &work, "There", &[("paragraph", "line 0")]);
    let shown = ok(&home, &["line"]);
    assert!(shown.contains("· Personal\n") && shown.contains("· Work\n"), "{shown}");
    for (workspace, title) in [("Personal", "Here"), ("Work", "There"), (work.as_str(), "There")] {
        let shown = ok(&home, &["line", "--workspace", workspace]);
        assert_eq!(titles(&shown), [title]);
        assert!(!shown.contains(workspace), "{shown}");
    }
    assert_eq!(
        titles(&ok(&home, &["line", "--workspace", "Personal", "--workspace", "Work"])).len(),
        2
    );
    bridge.ok("save_document_version", here.this());
    assert_eq!(
        titles(&ok(&home, &["line", "--sort", "modified"])).first().map(String::as_str),
        Some("There")
    );
    assert_eq!(there.texts(&bridge), ["line 0"]);
    let (code, said) = fails(&home, &["line", "--document", "Here"]);
    assert!(code == Some(1) && said.contains("more than one live workspace"), "{said}");
}
