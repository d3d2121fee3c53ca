//! The repository's own Markdown, over and over, as one document of 2,000 nodes.

use std::sync::atomic::{AtomicBool, Ordering};

use koru_tests::support::bridge::Bridge;
use koru_tests::support::documents::{Page, id, insert, nodes, personal, replace, text};
use koru_tests::support::home::Home;
use koru_tests::support::markdown::{self, Block};
use serde_json::{Value, json};

const NODES: usize = 2000;
/// In how many operations a batch adds nodes.
const BATCH: usize = 250;

/// Builds the document: the first nodes with it, the others by batches; its nodes' IDs.
fn build(bridge: &Bridge, blocks: &[Block]) -> Page {
    let root = id();
    let ids: Vec<String> = blocks.iter().map(|_| id()).collect();
    let all = markdown::operations(blocks, &ids, &root);
    let mut batches = all.chunks(BATCH);
    let first = batches.next().unwrap_or_default();
    let workspace = personal(bridge);
    let made = bridge.ok(
        "create_document",
        json!({ "workspace_id": workspace, "title": "Everything", "root_node_id": root, "initial_operations": first }),
    );
    let mut page = Page {
        workspace,
        document: text(&made["document_id"]),
        root,
        revision: text(&made["revision"]),
        nodes: ids,
    };
    for batch in batches {
        let result = bridge.ok("edit_document", page.edit(&page.revision, batch));
        page.revision = text(&result["revision"]);
    }
    page
}

fn check_full(found: &[Value], page: &Page, blocks: &[Block], edited: &str) {
    let (title, found) = found.split_first().expect("a title");
    assert_eq!(title["text"], "Everything");
    // The list of blocks is in document order, so the read must be, too.
    assert_eq!(found.len(), blocks.len() + 1, "and the node that is edited meanwhile");
    for (place, block) in blocks.iter().enumerate() {
        let node = &found[place];
        assert_eq!(node["node_id"], page.nodes[place]);
        let parent = block.parent.map_or(&page.root, |parent| &page.nodes[parent]);
        assert_eq!(node["parent_id"], *parent, "{node}");
        assert_eq!(node["kind"], block.kind, "{node}");
        assert_eq!(node["text"], block.text, "{node}");
        if block.kind == "task" {
            assert_eq!(node["done"], block.done, "{node}");
        }
        assert_eq!(node.get("language").and_then(Value::as_str), block.language.as_deref());
    }
    assert_eq!(found[blocks.len()]["node_id"], edited);
}

/// The same from compact nodes: tails, depths, and parents by depth.
fn check_compact(found: &[Value], page: &Page, blocks: &[Block]) {
    let mut path: Vec<usize> = Vec::new();
    assert_eq!(found.len(), blocks.len() + 2);
    for (place, block) in blocks.iter().enumerate() {
        let node = &found[place + 1];
        let tail = text(&node["id"]);
        assert!(tail.len() >= 8 && page.nodes[place].replace('-', "").ends_with(&tail));
        let depth = node.get("depth").map_or(Some(1), Value::as_u64).unwrap_or_default();
        path.truncate(usize::try_from(depth).unwrap_or(usize::MAX).saturating_sub(1));
        assert_eq!(path.last().copied(), block.parent, "{node}");
        path.push(place);
        assert_eq!((&node["kind"], &node["text"]), (&json!(block.kind), &json!(block.text)));
    }
}

/// All pages of one state.
fn by_pages(bridge: &Bridge, page: &Page, size: usize, compact: bool) -> Vec<Value> {
    let mut found = Vec::new();
    let mut more = json!({ "page_size": size, "compact": compact });
    loop {
        let read = bridge.ok("read_document", page.reading(more.clone()));
        assert!(read.to_string().len() <= 26 * 1024 || nodes(&read).len() == 1);
        found.extend(nodes(&read).to_vec());
        let Some(next) = read.get("next_after_node_id") else { return found };
        more["after_node_id"] = next.clone();
        more["revision"] = read["revision"].clone();
    }
}

#[test]
fn two_thousand_nodes_are_read_back_equal_while_another_client_edits() {
    let home = Home::new();
    let bridge = home.bridge();
    let blocks = markdown::own_blocks(NODES);
    let page = build(&bridge, &blocks);
    let edited = id();
    page.change(&bridge, &[insert(&edited, &page.root, "paragraph", "0")]);
    let other = home.bridge();
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let editing = scope.spawn(|| {
            let mut base = page.now(&other);
            let mut number = 0;
            while !stop.load(Ordering::Relaxed) {
                let edit = replace(&edited, &format!("{number}"), &format!("{}", number + 1));
                base = text(&other.ok("edit_document", page.edit(&base, &[edit]))["revision"]);
                number += 1;
            }
            number
        });
        let checked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            check_full(nodes(&page.read(&bridge)), &page, &blocks, &edited);
            check_full(&by_pages(&bridge, &page, 100, false), &page, &blocks, &edited);
            let compact = bridge.ok("read_document", page.reading(json!({ "compact": true })));
            check_compact(nodes(&compact), &page, &blocks);
            check_compact(&by_pages(&bridge, &page, 2000, true), &page, &blocks);
        }));
        stop.store(true, Ordering::Relaxed);
        let number = editing.join().expect("a client that edits");
        checked.expect("what was built is read back");
        assert!(number > 0, "nothing was edited meanwhile");
        assert_eq!(page.node(&bridge, &edited)["text"], number.to_string());
    });
    assert!(home.kill_service());
    check_full(nodes(&page.read(&bridge)), &page, &blocks, &edited);
}
