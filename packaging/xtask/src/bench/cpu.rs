//! What an edit costs without disk and socket: the model alone, in this process.
//!
//! `cargo xtask bench` runs this in a release build of its own and reads one line of JSON from it.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use koru_model::document::Document;
use koru_model::edit::Operation;
use koru_model::edit::batch;
use koru_model::edit::facts::{Facts, FactsError, Property, Touch};
use koru_model::ids::{DocumentId, FileId, NodeId, TagId};
use koru_model::value::Definition;
use koru_tests::support::documents::{id, insert, replace};
use serde_json::{Value, json};

use super::driver::median;
use super::table::Table;
use crate::programs::{cargo, output};

type Outcome = Result<(), String>;

/// A workspace in which nothing ever happened.
struct Nothing;

impl Facts for Nothing {
    fn last_change(&mut self, _: NodeId, _: &Property) -> Result<Option<Touch>, FactsError> {
        Ok(None)
    }

    fn changed_after(&mut self, _: u64) -> Result<BTreeMap<NodeId, Touch>, FactsError> {
        Ok(BTreeMap::new())
    }

    fn attributes(&mut self) -> Result<Vec<Definition>, FactsError> {
        Ok(Vec::new())
    }

    fn find_tag(&mut self, _: &str) -> Result<Option<TagId>, FactsError> {
        Ok(None)
    }

    fn make_tag(&mut self, _: &str) -> Result<TagId, FactsError> {
        Err("no tags here".into())
    }

    fn resolve_tag(&mut self, _: TagId) -> Result<Option<TagId>, FactsError> {
        Ok(None)
    }

    fn has_document(&mut self, _: DocumentId) -> Result<bool, FactsError> {
        Ok(false)
    }

    fn has_file(&mut self, _: FileId) -> Result<bool, FactsError> {
        Ok(false)
    }
}

fn operations(all: &[Value]) -> Result<Vec<Operation>, String> {
    serde_json::from_value(json!(all)).map_err(|error| error.to_string())
}

/// A document of so many paragraphs, and their IDs.
fn document(nodes: usize) -> Result<(Document, Vec<String>), String> {
    let root = id();
    let ids: Vec<String> = (1..nodes).map(|_| id()).collect();
    let all: Vec<Value> = ids
        .iter()
        .enumerate()
        .map(|(number, node)| insert(node, &root, "paragraph", &text(number)))
        .collect();
    let root = root.parse().map_err(|_| "no ID".to_owned())?;
    let (made, _) = Document::create(1, root, "Cost", &operations(&all)?, &mut Nothing)
        .map_err(|error| format!("{error:?}"))?;
    Ok((made, ids))
}

fn text(number: usize) -> String {
    format!("This is paragraph number {number} of a document whose edits are timed in process.")
}

/// The median of an edit of one node, and of the refusal of 100 operations.
fn cost(nodes: usize) -> Result<(Duration, Duration), String> {
    let (mut made, ids) = document(nodes)?;
    let mut edits = Vec::new();
    for round in 0..300 {
        let place = round * 7919 % ids.len();
        let node = made.state().live(ids[place].parse().map_err(|_| "no ID".to_owned())?);
        let says = node.map(|node| node.text().into_owned()).unwrap_or_default();
        let batch = operations(&[replace(&ids[place], &says, &format!("{says} {round}"))])?;
        let began = Instant::now();
        let plan = batch::apply(made.state(), 1, 1, &batch, &mut Nothing)
            .map_err(|error| format!("{error:?}"))?
            .ok_or("nothing was changed")?;
        made.carry_out(plan).map_err(|error| error.to_string())?;
        edits.push(began.elapsed());
    }
    let mut refusals = Vec::new();
    let mut stale: Vec<Value> =
        (0..99).map(|place| replace(&ids[300 + place], &text(300 + place), "new")).collect();
    // The last one is stale, so that the other 99 were done in vain.
    stale.push(replace(&ids[400], "never was", "new"));
    let stale = operations(&stale)?;
    for _ in 0..100 {
        let began = Instant::now();
        let refused = batch::apply(made.state(), 1, 1, &stale, &mut Nothing).is_err();
        refusals.push(began.elapsed());
        if !refused {
            return Err("a stale batch was taken".into());
        }
    }
    Ok((median(edits), median(refusals)))
}

/// What the release build of this recipe prints.
pub(crate) fn print() -> Outcome {
    let (small, _) = cost(1_000)?;
    let (large, refusal) = cost(10_000)?;
    let micros = |duration: Duration| u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
    println!("{}", json!([micros(small), micros(large), micros(refusal)]));
    Ok(())
}

/// Runs the release build and takes its figures into the table.
pub(super) fn measure(table: &mut Table) -> Outcome {
    let mut command = cargo();
    command.args(["run", "--quiet", "--release", "--package", "xtask", "--", "cpu"]);
    let (code, said, complained) = output(&mut command)?;
    let figures: Vec<u64> = serde_json::from_str(&said)
        .map_err(|error| format!("cpu ended with {code:?}: {error}\n{complained}"))?;
    let [small, large, refusal] = figures.as_slice() else {
        return Err(format!("cpu said {said}"));
    };
    let (small, large) = (Duration::from_nanos(*small), Duration::from_nanos(*large));
    let refusal = Duration::from_nanos(*refusal);
    let factor = large.as_secs_f64() / small.as_secs_f64().max(1e-9);
    table
        .add("CPU of an edit in 10,000 nodes / in 1,000 (in process)", micros(large), micros(small))
        .ratio(factor)
        .target("≤ 8 ×", factor <= 8.0);
    table
        .add("refusing 100 operations at 10,000 nodes (in process)", micros(refusal), "–".into())
        .target("< 1 ms", refusal < Duration::from_millis(1));
    Ok(())
}

fn micros(duration: Duration) -> String {
    format!("{:.0} µs", duration.as_secs_f64() * 1e6)
}
