//! Section C, first part: several writers, stale reads.

use std::collections::BTreeSet;

use koru_tests::support::bridge::Reply;
use koru_tests::support::documents::{
    Page, conflicts, id, insert, nodes, personal, remove, replace, text,
};
use koru_tests::support::home::Home;
use serde_json::json;

#[test]
fn c25_parallel_edits_of_different_nodes_all_land() {
    let home = Home::new();
    let bridges = [home.bridge(), home.bridge()];
    let page = Page::of_lines(&bridges[0], "Parallel", 20);
    let posted: Vec<_> = (0..20)
        .map(|number| {
            let new = format!("changed {number}");
            let edit = replace(&page.nodes[number], &format!("line {number}"), &new);
            let bridge = &bridges[number % 2];
            (bridge, bridge.post_call("edit_document", page.edit(&page.revision, &[edit])))
        })
        .collect();
    let mut revisions = BTreeSet::new();
    for (bridge, call) in posted {
        let Reply::Ok(result) = bridge.wait(call) else { panic!("an edit was refused") };
        revisions.insert(text(&result["revision"]));
    }
    assert_eq!(revisions.len(), 20, "each has a place in the order");
    let expected: Vec<String> = (0..20).map(|number| format!("changed {number}")).collect();
    assert_eq!(page.texts(&bridges[0]), expected);

    let appended: Vec<_> = (0..20)
        .map(|number| {
            let edit = insert(&id(), &page.root, "paragraph", &format!("appended {number}"));
            let bridge = &bridges[number % 2];
            (bridge, bridge.post_call("edit_document", page.edit(&page.revision, &[edit])))
        })
        .collect();
    for (bridge, call) in appended {
        assert!(matches!(bridge.wait(call), Reply::Ok(_)));
    }
    let found: BTreeSet<String> = page.texts(&bridges[1]).into_iter().skip(20).collect();
    assert_eq!(found, (0..20).map(|number| format!("appended {number}")).collect());
}

#[test]
fn c25_parallel_edits_of_one_node_land_once_and_tell_the_others() {
    let home = Home::new();
    let bridges = [home.bridge(), home.bridge()];
    let page = Page::of_lines(&bridges[0], "One node", 1);
    let posted: Vec<_> = (0..20)
        .map(|number| {
            let edit = replace(&page.nodes[0], "line 0", &format!("writer {number}"));
            let bridge = &bridges[number % 2];
            (bridge, bridge.post_call("edit_document", page.edit(&page.revision, &[edit])))
        })
        .collect();
    let replies: Vec<Reply> = posted.into_iter().map(|(bridge, call)| bridge.wait(call)).collect();
    let now = page.texts(&bridges[0]).remove(0);
    let revision = page.now(&bridges[0]);
    let mut landed = 0;
    for (number, reply) in replies.iter().enumerate() {
        match reply {
            Reply::Ok(result) => {
                landed += 1;
                assert_eq!(now, format!("writer {number}"));
                assert_eq!(result["revision"], revision);
            }
            Reply::Refused(error) => {
                assert_eq!(error["code"], "precondition_failed");
                assert_eq!(conflicts(error)[0]["actual"], now);
                assert_eq!(error["details"]["revision"], revision);
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(landed, 1);
}

#[test]
fn c26_a_stale_writer_may_touch_what_nobody_touched() {
    let home = Home::new();
    let (a, b) = (home.bridge(), home.bridge());
    let page = Page::of_lines(&a, "Stale", 2);
    let edit = |node: usize, old: &str, new: &str| {
        page.edit(&page.revision, &[replace(&page.nodes[node], old, new)])
    };
    a.ok("edit_document", edit(0, "line 0", "A's"));
    b.ok("edit_document", edit(1, "line 1", "B's"));
    b.err("edit_document", edit(0, "line 0", "B's too"));
    let everything = [
        remove(&page.nodes[0], "line 0"),
        remove(&page.nodes[1], "B's"),
        insert(&id(), &page.root, "paragraph", "all new"),
    ];
    b.err("edit_document", page.edit(&page.revision, &everything));
    assert_eq!(page.texts(&a), ["A's", "B's"]);
}

#[test]
fn c27_a_rewrite_beside_small_edits_equals_some_serial_order() {
    let home = Home::new();
    let (a, b) = (home.bridge(), home.bridge());
    for round in 0..5 {
        let page = Page::of_lines(&a, &format!("Rewrite {round}"), 200);
        let rewrite: Vec<_> = (0..200)
            .flat_map(|number| {
                [
                    remove(&page.nodes[number], &format!("line {number}")),
                    insert(&id(), &page.root, "paragraph", &format!("new {number}")),
                ]
            })
            .collect();
        let small: Vec<u64> = (0..50)
            .map(|number| {
                let edit = replace(&page.nodes[number], &format!("line {number}"), "small");
                b.post_call("edit_document", page.edit(&page.revision, &[edit]))
            })
            .collect();
        let rewritten = a.call("edit_document", page.edit(&page.revision, &rewrite));
        let landed = small.into_iter().filter(|call| matches!(b.wait(*call), Reply::Ok(_))).count();
        let read = page.read(&a);
        let ids: BTreeSet<String> =
            nodes(&read).iter().map(|node| text(&node["node_id"])).collect();
        assert_eq!(ids.len(), 201);
        let texts = page.texts(&a);
        if matches!(rewritten, Reply::Ok(_)) {
            assert_eq!(landed, 0, "an edit after the rewrite would have found no node");
            assert!(texts.iter().enumerate().all(|(at, text)| *text == format!("new {at}")));
        } else {
            assert!(landed > 0);
            assert_eq!(texts.iter().filter(|text| *text == "small").count(), landed);
        }
    }
}

#[test]
fn c28_a_restart_under_two_clients_doubles_nothing() {
    let home = Home::new();
    let (a, b) = (home.bridge(), home.bridge());
    let page = Page::of_lines(&a, "Restarted", 50);
    let before = page.read(&b);
    home.stop_service();
    assert_eq!(page.read(&a), before);
    assert!(home.kill_service());
    assert_eq!(page.read(&b), before);
    page.change(&a, &[replace(&page.nodes[0], "line 0", "after")]);
    assert_eq!(page.texts(&b)[0], "after");
}

#[test]
fn c29_a_reader_sees_what_another_just_wrote() {
    let home = Home::new();
    let (a, b) = (home.bridge(), home.bridge());
    let page = Page::of_lines(&a, "Fresh", 1);
    let mut says = "line 0".to_owned();
    for number in 0..20 {
        let new = format!("round {number}");
        let title = if number == 0 { "Fresh".into() } else { format!("Title {}", number - 1) };
        let revision = page.change(
            &b,
            &[
                replace(&page.nodes[0], &says, &new),
                replace(&page.root, &title, &format!("Title {number}")),
            ],
        );
        says = new;
        let read = page.read(&a);
        assert_eq!(read["revision"], revision);
        assert_eq!(nodes(&read)[1]["text"], says);
        let listed = a.ok("list_documents", json!({ "workspace_id": page.workspace }));
        assert_eq!(listed["documents"][0]["title"], format!("Title {number}"));
    }
}

#[test]
fn c35_bad_calls_among_good_ones_stay_alone() {
    let home = Home::new();
    let bridge = home.bridge();
    let page = Page::of_lines(&bridge, "Mixed", 10);
    let huge = "x".repeat(900_000);
    let calls: Vec<(bool, u64)> = (0..50)
        .map(|number| match number % 5 {
            0 => (true, bridge.post_call("read_document", page.this())),
            1 => (false, bridge.post_call("read_document", json!({ "nonsense": number }))),
            2 => {
                let edit = insert(&id(), &page.root, "paragraph", &huge);
                (true, bridge.post_call("edit_document", page.edit(&page.revision, &[edit])))
            }
            3 => {
                let edit = replace(&page.nodes[0], "never was", &huge);
                (false, bridge.post_call("edit_document", page.edit(&page.revision, &[edit])))
            }
            _ => {
                let edit = replace(&page.nodes[0], "line 0", &format!("{huge}{huge}"));
                (false, bridge.post_call("edit_document", page.edit(&page.revision, &[edit])))
            }
        })
        .collect();
    for (good, call) in calls {
        let reply = bridge.wait(call);
        match reply {
            Reply::Ok(_) => assert!(good),
            // Reads of what has grown beyond a reply are told to page.
            Reply::Refused(error) => assert!(!good || error["code"] == "too_large", "{error}"),
            other => panic!("{other:?}"),
        }
    }
    assert!(!personal(&bridge).is_empty());
}

#[test]
fn c36_a_writer_that_thought_for_long_is_told_what_changed() {
    let home = Home::new();
    let (slow, quick) = (home.bridge(), home.bridge());
    let page = Page::of_lines(&slow, "Slow", 2);
    for number in 0..50 {
        let old = if number == 0 { "line 0".into() } else { format!("v{}", number - 1) };
        page.change(&quick, &[replace(&page.nodes[0], &old, &format!("v{number}"))]);
    }
    home.stop_service();
    let late = |node: usize, text: &str| {
        page.edit(&page.revision, &[replace(&page.nodes[node], text, "late")])
    };
    let refused = slow.err("edit_document", late(0, "line 0"));
    assert_eq!(refused["code"], "precondition_failed");
    assert_eq!(conflicts(&refused)[0]["actual"], "v49");
    slow.ok("edit_document", late(1, "line 1"));
    assert_eq!(page.texts(&quick), ["v49", "late"]);
}
