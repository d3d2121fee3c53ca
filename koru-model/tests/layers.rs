//! What may import what, held by reading the sources.

#![expect(clippy::unwrap_used, reason = "the helpers of a test fail by panicking, too")]

use std::path::{Path, PathBuf};

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.push(path);
        }
    }
}

/// Lines of code (comments left out) that hold one of the words, in files that may not.
fn offenders(words: &[&str], may: impl Fn(&str) -> bool) -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    assert!(files.len() > 10, "the sources were not found");
    let mut found = Vec::new();
    for file in files {
        let name = file.strip_prefix(&root).unwrap().to_string_lossy().replace('\\', "/");
        if may(&name) {
            continue;
        }
        for (number, line) in std::fs::read_to_string(&file).unwrap().lines().enumerate() {
            let code = line.split("//").next().unwrap();
            let has = |word: &&str| {
                let mut words = code.split(|c: char| !c.is_alphanumeric() && c != '_');
                words.any(|found| found == *word)
            };
            if words.iter().any(has) {
                found.push(format!("{name}:{}: {line}", number + 1));
            }
        }
    }
    found
}

#[test]
fn the_model_knows_nothing_of_the_protocol() {
    let found = offenders(&["protocol"], |name| name.starts_with("protocol/") || name == "lib.rs");
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn one_file_alone_names_the_crdt_library() {
    let found = offenders(&["yrs"], |name| name == "document/crdt.rs");
    assert!(found.is_empty(), "{}", found.join("\n"));
}
