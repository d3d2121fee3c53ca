//! Random edits of every sort, each followed by a restore or a comparison of random entries, against plain
//! copies of earlier reads.

use std::collections::{BTreeMap, BTreeSet};

use koru_tests::support::bridge::{Bridge, Reply};
use koru_tests::support::documents::{
    Page, id, insert, move_last, nodes, operation, remove, replace, text,
};
use koru_tests::support::home::Home;
use serde_json::{Value, json};

use super::support::{compare, extracting, ids, newest, restoring, version};

fn rounds() -> usize {
    std::env::var("KORU_ROUNDS").ok().and_then(|text| text.parse().ok()).unwrap_or(200)
}

/// A small generator; its seed is in every message of failure.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap_or_default() % sides.max(1)
    }

    fn pick<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.roll(all.len())]
    }
}

const WORDS: &[&str] = &["ein", "Wort", "日本", "🌍", "two words", "line\nbreak", "", " ", "naïve"];

fn any_text(dice: &mut Dice, other: &Page) -> String {
    let mut text: String = (0..dice.roll(5)).map(|_| format!("{} ", dice.pick(WORDS))).collect();
    if dice.roll(3) == 0 {
        text += &format!("[[document:{}]]", other.document);
        text += dice.pick(WORDS);
    }
    text
}

/// An operation against what was read.
fn any_operation(dice: &mut Dice, read: &Value, page: &Page, other: &Page) -> Value {
    let all = nodes(read);
    let place = dice.roll(all.len());
    let node = &all[place];
    let (name, says) = (text(&node["node_id"]), text(&node["text"]));
    let parent = text(&all[dice.roll(all.len())]["node_id"]);
    match dice.roll(12) {
        0..=2 => {
            let kind = dice.pick(&[
                "paragraph",
                "heading",
                "listblock",
                "task",
                "quote",
                "code",
                "table",
                "contact",
                "divider",
            ]);
            let says = match kind {
                "heading" => "H".to_owned(),
                "table" => format!("a\tb\n{}\td", dice.roll(99)),
                "divider" => String::new(),
                _ => any_text(dice, other),
            };
            let parent = if dice.roll(2) == 0 { page.root.clone() } else { parent };
            insert(&id(), &parent, kind, &says)
        }
        3 => move_last(&name, &says, &parent),
        4 => json!({ "op": "move", "node_id": name, "expected": says, "parent_id": parent }),
        5 => remove(&name, &says),
        6 => operation("set_done", &name, &says, json!({ "done": node["done"] != true })),
        7 => {
            let language = dice.pick(&["rust", "c", "python"]);
            operation("set_language", &name, &says, json!({ "language": language }))
        }
        8 => {
            let value = dice.pick(&["red", "green", "blue"]);
            let set = json!({ "key": "koru.color", "value": { "kind": "text", "value": value } });
            operation("set_attribute", &name, &says, set)
        }
        9 if dice.roll(2) == 0 => {
            operation("clear_attribute", &name, &says, json!({ "key": "koru.color" }))
        }
        9 => {
            let op = dice.pick(&["add_tag", "remove_tag"]);
            operation(op, &name, &says, json!({ "tag": dice.pick(&["a", "a/b", "c"]) }))
        }
        10 => {
            let label = dice.pick(&["one", "two"]);
            let inline =
                json!({ "type": "document", "document_id": other.document, "label": label });
            operation("insert_inline", &name, &says, json!({ "at_utf8": 0, "inline": inline }))
        }
        _ => {
            let new = match node["kind"].as_str() {
                Some("title" | "heading") => format!("title {}", dice.roll(1000)),
                Some("table") => format!("a\tb\tc\nd\te\t{}", dice.roll(1000)),
                _ => any_text(dice, other),
            };
            replace(&name, &says, &new)
        }
    }
}

/// A tree that comparisons are applied to.
#[derive(Debug, Clone, PartialEq)]
struct Plain {
    content: BTreeMap<String, Value>,
    children: BTreeMap<String, Vec<String>>,
    parent: BTreeMap<String, String>,
}

/// What a node says, without its place and what follows from the rest.
fn content(node: &Value) -> Value {
    let mut node = node.clone();
    let fields = node.as_object_mut().expect("a node");
    for follows in ["parent_id", "rows"] {
        fields.remove(follows);
    }
    for list in ["inlines", "attributes", "tags"] {
        fields.entry(list).or_insert_with(|| json!([]));
    }
    for inline in fields["inlines"].as_array_mut().into_iter().flatten() {
        inline.as_object_mut().expect("an inline").remove("at_utf8");
    }
    for list in ["attributes", "tags"] {
        let all = fields[list].as_array_mut().expect("a list");
        all.sort_by_key(ToString::to_string);
    }
    node
}

impl Plain {
    fn of(read: &Value) -> Self {
        let mut plain =
            Self { content: BTreeMap::new(), children: BTreeMap::new(), parent: BTreeMap::new() };
        for node in nodes(read) {
            let name = text(&node["node_id"]);
            plain.content.insert(name.clone(), content(node));
            if let Some(parent) = node["parent_id"].as_str() {
                plain.put(&name, parent, None, true);
            }
        }
        plain
    }

    fn take(&mut self, name: &str) {
        if let Some(parent) = self.parent.remove(name) {
            let children = self.children.get_mut(&parent).expect("a parent");
            children.retain(|child| child != name);
            if children.is_empty() {
                self.children.remove(&parent);
            }
        }
    }

    fn put(&mut self, name: &str, parent: &str, after: Option<&str>, is_last: bool) {
        let children = self.children.entry(parent.to_owned()).or_default();
        let at = match after {
            _ if is_last => children.len(),
            Some(after) => {
                1 + children.iter().position(|one| one == after).expect("a neighbour that is there")
            }
            None => 0,
        };
        children.insert(at, name.to_owned());
        self.parent.insert(name.to_owned(), parent.to_owned());
    }

    /// Applies what leads to the right side.
    fn apply(&mut self, compared: &Value) {
        let all = compared["changes"].as_array().expect("changes");
        for change in all {
            let name = text(&change["node_id"]);
            match change["change"].as_str() {
                Some("removed") => {
                    self.take(&name);
                    self.content.remove(&name).expect("what is removed was there");
                }
                Some("moved" | "reordered") => self.take(&name),
                _ => {}
            }
        }
        for change in all {
            let name = text(&change["node_id"]);
            let place = match change["change"].as_str() {
                Some("added") => {
                    let before = self.content.insert(name.clone(), content(&change["node"]));
                    assert!(before.is_none(), "what is added was not there");
                    change
                }
                Some("moved" | "reordered") => &change["to"],
                Some("modified") => {
                    modify(self.content.get_mut(&name).expect("it is there"), change);
                    continue;
                }
                _ => continue,
            };
            self.put(&name, &text(&place["parent_id"]), place["after_node_id"].as_str(), false);
        }
    }
}

fn modify(node: &mut Value, change: &Value) {
    if let Some(said) = change.get("text") {
        let side = |not: &str| -> String {
            let all = said["segments"].as_array().expect("segments");
            all.iter().filter(|one| one["op"] != not).map(|one| text(&one["text"])).collect()
        };
        assert_eq!((side("insert"), side("delete")), (text(&said["left"]), text(&said["right"])));
        assert_eq!(node["text"], said["left"]);
        node["text"] = said["right"].clone();
    }
    if let Some(done) = change.get("done") {
        assert_eq!(node["done"], done["left"]);
        node["done"] = done["right"].clone();
    }
    if let Some(language) = change.get("language") {
        assert_eq!(node["language"], language["left"]);
        let fields = node.as_object_mut().expect("a node");
        fields.remove("language");
        if !language["right"].is_null() {
            fields.insert("language".into(), language["right"].clone());
        }
    }
    for list in ["attributes", "tags"] {
        if let Some(exchange) = change.get(list) {
            let all = node[list].as_array_mut().expect("a list");
            let gone = exchange["removed"].as_array().expect("a list");
            all.retain(|one| !gone.contains(one));
            all.extend(exchange["added"].as_array().expect("a list").clone());
        }
    }
    if let Some(inlines) = change.get("inlines") {
        node["inlines"] = inlines["right"].clone();
    }
    *node = content(node);
}

#[test]
fn every_earlier_state_comes_back_and_every_comparison_leads_there() {
    let seed = seed();
    let mut dice = Dice(seed);
    let home = Home::new();
    let bridge = home.bridge();
    let other = Page::of_lines(&bridge, "Other", 1);
    let page = Page::new(
        &bridge,
        "Random",
        &[("task", "one"), ("paragraph", "two"), ("code", "three"), ("table", "a\tb")],
    );
    let mut copies: Vec<(String, Value)> = vec![(newest(&bridge, &page), page.read(&bridge))];
    let (mut edits, mut restores) = (0, 0);
    for round in 0..rounds() {
        let read = copies.last().expect("a state").1.clone();
        let operations: Vec<Value> =
            (0..=dice.roll(3)).map(|_| any_operation(&mut dice, &read, &page, &other)).collect();
        if let Reply::Ok(result) =
            bridge.call("edit_document", page.edit(&text(&read["revision"]), &operations))
        {
            edits += 1;
            copies.push((text(&result["history"]["id"]), page.read(&bridge)));
        }
        let (entry, then) = copies[dice.roll(copies.len())].clone();
        assert_eq!(
            version(&bridge, &page, &entry)["nodes"],
            then["nodes"],
            "seed {seed}, round {round}"
        );
        check(&bridge, &page, &copies, &mut dice, seed);
        if dice.roll(3) == 0 {
            let now = &copies.last().expect("a state").1;
            let restored = bridge
                .ok("restore_document_version", restoring(&page, &entry, &text(&now["revision"])));
            let read = page.read(&bridge);
            assert_eq!(read["nodes"], then["nodes"], "seed {seed}, round {round}");
            let left = compare(&bridge, &page, &entry, None);
            assert_eq!(left["changes"], json!([]), "seed {seed}, round {round}");
            restores += 1;
            copies.push((text(&restored["history"]["id"]), read));
        }
        if round % 67 == 66 {
            home.stop_service();
        }
    }
    assert!(edits * 3 > rounds() && restores * 6 > rounds(), "{edits} edits, {restores} restores");
}

/// Two random states: what is told between them leads from one to the other.
fn check(bridge: &Bridge, page: &Page, copies: &[(String, Value)], dice: &mut Dice, seed: u64) {
    let (left, from) = &copies[dice.roll(copies.len())];
    let (right, to) = &copies[dice.roll(copies.len())];
    let compared = compare(bridge, page, left, Some(right));
    let mut plain = Plain::of(from);
    plain.apply(&compared);
    assert_eq!(plain, Plain::of(to), "seed {seed}: {compared}");
    let changed: BTreeSet<String> = compared["changes"]
        .as_array()
        .expect("changes")
        .iter()
        .filter(|change| change["change"] != "removed")
        .map(|change| text(&change["node_id"]))
        .collect();
    assert_eq!(compared["unchanged_nodes"], nodes(to).len() - changed.len());
}

/// Blocks that wander between documents, and documents that go back: every version stays as it was read,
/// and every link leads where the departures lead.
#[test]
fn blocks_wander_and_documents_go_back() {
    let seed = seed();
    let mut dice = Dice(seed);
    let home = Home::new();
    let bridge = home.bridge();
    let pages: Vec<Page> =
        (0..3).map(|number| Page::of_lines(&bridge, &format!("P{number}"), 6)).collect();
    let all: Vec<(usize, String)> = pages
        .iter()
        .enumerate()
        .flat_map(|(home, page)| page.nodes.iter().map(move |node| (home, node.clone())))
        .collect();
    let links: Vec<String> = all
        .iter()
        .map(|(home, node)| format!("[[document:{}#{node}]]", pages[*home].document))
        .collect();
    let blocks: Vec<(&str, &str)> = links.iter().map(|says| ("paragraph", says.as_str())).collect();
    let observer = Page::new(&bridge, "Observer", &blocks);
    let mut copies: Vec<Vec<(String, Value)>> =
        pages.iter().map(|page| vec![(newest(&bridge, page), page.read(&bridge))]).collect();
    let mut departures: BTreeMap<(String, usize), usize> = BTreeMap::new();
    let (mut extractions, mut restores) = (0, 0);
    for round in 0..rounds() {
        let from = dice.roll(3);
        let to = (from + 1 + dice.roll(2)) % 3;
        let (page, target) = (&pages[from], &pages[to]);
        let read = copies[from].last().expect("a state").1.clone();
        let here = ids(&read);
        if round * 3 > rounds() && dice.roll(4) == 0 {
            let (entry, then) = copies[from][dice.roll(copies[from].len())].clone();
            let restored = bridge
                .ok("restore_document_version", restoring(page, &entry, &text(&read["revision"])));
            let now = page.read(&bridge);
            assert_eq!(plain_links(&now), plain_links(&then), "seed {seed}, round {round}");
            copies[from].push((text(&restored["history"]["id"]), now));
            restores += 1;
        } else if !here.is_empty() {
            let node = here[dice.roll(here.len())].clone();
            let mut call =
                extracting(&bridge, page, &node, json!({ "target_document_id": target.document }));
            let there = ids(&copies[to].last().expect("a state").1);
            if dice.roll(2) == 0 && !there.is_empty() {
                call["under_node_id"] = json!(there[dice.roll(there.len())]);
            }
            if let Reply::Ok(answer) = bridge.call("extract_to_document", call) {
                let part = subtree(&read, &node);
                let (left, entered) = (page.read(&bridge), target.read(&bridge));
                for node in &part {
                    departures.insert((node.clone(), from), to);
                    assert!(!ids(&left).contains(node) && ids(&entered).contains(node));
                }
                assert_eq!(ids(&left).len() + part.len(), here.len() + 1);
                assert_eq!(ids(&entered).len(), there.len() + part.len());
                copies[from].push((text(&answer["history"]["source"]["id"]), left));
                copies[to].push((text(&answer["history"]["document"]["id"]), entered));
                extractions += 1;
            }
        }
        let one = dice.roll(3);
        let (entry, then) = &copies[one][dice.roll(copies[one].len())];
        let again = version(&bridge, &pages[one], entry);
        assert_eq!(plain_links(&again), plain_links(then), "seed {seed}, round {round}");
        if round % 10 == 9 {
            let live: Vec<BTreeSet<String>> = copies
                .iter()
                .map(|states| ids(&states.last().expect("a state").1).into_iter().collect())
                .collect();
            let seen = observer.read(&bridge);
            for ((home, node), shown) in all.iter().zip(&nodes(&seen)[1..]) {
                let expected = follow(&live, &departures, *home, node);
                let resolved = &shown["inlines"][0]["resolved"]["document_id"];
                let wanted = expected.map_or(Value::Null, |at| json!(pages[at].document));
                assert_eq!(resolved, &wanted, "seed {seed}, round {round}");
                if restores == 0 {
                    assert!(expected.is_some() || live[*home].contains(node), "nothing is lost");
                }
            }
        }
        if round % 67 == 66 {
            home.stop_service();
        }
    }
    assert!(extractions * 3 > rounds() && restores * 20 > rounds(), "{extractions}, {restores}");
}

fn seed() -> u64 {
    std::env::var("KORU_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(20_261_130)
}

/// The nodes of a read without what links look up at reading time.
fn plain_links(read: &Value) -> Vec<Value> {
    let mut all = nodes(read).to_vec();
    for inline in
        all.iter_mut().flat_map(|node| node["inlines"].as_array_mut().into_iter().flatten())
    {
        let inline = inline.as_object_mut().expect("an inline");
        inline.remove("resolved");
        inline.remove("title");
    }
    all
}

/// A node and all under it.
fn subtree(read: &Value, top: &str) -> Vec<String> {
    let mut found = vec![top.to_owned()];
    for node in nodes(read) {
        if node["parent_id"].as_str().is_some_and(|parent| found.iter().any(|one| one == parent)) {
            found.push(text(&node["node_id"]));
        }
    }
    found
}

/// Where a node is that left the document which a link names.
fn follow(
    live: &[BTreeSet<String>],
    departures: &BTreeMap<(String, usize), usize>,
    named: usize,
    node: &str,
) -> Option<usize> {
    if live[named].contains(node) {
        return None;
    }
    let mut at = named;
    for _ in 0..10 {
        at = *departures.get(&(node.to_owned(), at))?;
        if live[at].contains(node) {
            return Some(at);
        }
    }
    None
}
