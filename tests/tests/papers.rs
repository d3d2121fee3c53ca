//! What the papers say, held against what is there.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use koru_model::protocol::tools;
use koru_tests::support::markdown;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn text(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The direct dependencies of every crate.
fn dependencies() -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for member in ["koru-model", "koru-service", "koru-mcp", "tests", "packaging/xtask"] {
        let mut wanted = false;
        for line in text(&format!("{member}/Cargo.toml")).lines() {
            if line.starts_with('[') {
                wanted = line.ends_with("dependencies]");
            } else if wanted && let Some((name, _)) = line.split_once(['.', ' ', '=']) {
                found.insert(name.to_owned());
            }
        }
    }
    found.retain(|name| !name.is_empty() && !name.starts_with("koru-") && !name.starts_with('#'));
    found
}

#[test]
fn every_dependency_has_its_reason() {
    let papers = text("docs/dependencies.md");
    let named: BTreeSet<&str> = papers
        .lines()
        .filter_map(|line| line.strip_prefix("| ")?.split(" |").next())
        .flat_map(|names| names.split(", "))
        .collect();
    let all = dependencies();
    assert!(all.len() > 20, "{all:?}");
    let silent: Vec<&String> = all.iter().filter(|name| !named.contains(name.as_str())).collect();
    assert!(silent.is_empty(), "docs/dependencies.md does not say why: {silent:?}");
    let gone: Vec<&&str> =
        named.iter().filter(|name| **name != "crate" && !all.contains(**name)).collect();
    assert!(gone.is_empty(), "docs/dependencies.md names what is not used: {gone:?}");
}

#[test]
fn the_readme_names_every_tool() {
    let readme = text("README.md");
    for tool in tools::all() {
        assert!(readme.contains(&format!("`{}`", tool.name)), "README.md lacks {}", tool.name);
    }
}

#[test]
fn every_link_between_the_papers_leads_somewhere() {
    let mut dead = Vec::new();
    for file in markdown::files(&root()) {
        let folder = file.parent().map(Path::to_path_buf).unwrap_or_default();
        let text = std::fs::read_to_string(&file).expect("a paper");
        for part in text.split("](").skip(1) {
            let target = part.split(')').next().unwrap_or_default();
            let target = target.split('#').next().unwrap_or_default();
            if !target.is_empty() && !target.contains(':') && !folder.join(target).exists() {
                dead.push(format!("{}: {target}", file.display()));
            }
        }
    }
    assert!(dead.is_empty(), "{dead:?}");
}
