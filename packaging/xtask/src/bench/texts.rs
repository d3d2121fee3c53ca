//! The same text as a document and as Markdown.

use std::path::PathBuf;

use koru_tests::support::bridge::Bridge;
use koru_tests::support::documents::{Page, id, personal, text};
use koru_tests::support::markdown::{self, Block};
use serde_json::json;

use super::Bench;

/// One text in both forms.
pub(super) struct Text {
    pub(super) page: Page,
    pub(super) blocks: Vec<Block>,
    pub(super) file: PathBuf,
    pub(super) plain: String,
}

impl Text {
    /// Of the repository's own Markdown, so many nodes with the title.
    pub(super) fn new(bench: &Bench, bridge: &Bridge, nodes: usize) -> Result<Self, String> {
        let mut blocks = markdown::own_blocks(nodes - 1);
        blocks.truncate(nodes - 1);
        let plain = as_markdown(&blocks);
        let file = bench.files.join(format!("{nodes}.md"));
        std::fs::write(&file, &plain).map_err(|error| format!("{}: {error}", file.display()))?;
        let root = id();
        let ids: Vec<String> = blocks.iter().map(|_| id()).collect();
        let workspace = personal(bridge);
        let made = bridge.ok(
            "create_document",
            json!({ "workspace_id": workspace, "title": format!("{nodes} nodes"), "root_node_id": root,
                "initial_operations": markdown::operations(&blocks, &ids, &root) }),
        );
        let page = Page {
            workspace,
            document: text(&made["document_id"]),
            root,
            revision: text(&made["revision"]),
            nodes: ids,
        };
        Ok(Self { page, blocks, file, plain })
    }

    /// The paragraph nearest to the middle whose text stands once in the whole text.
    pub(super) fn middle(&self) -> usize {
        let wanted = |place: &usize| {
            let block = &self.blocks[*place];
            block.kind == "paragraph" && self.plain.matches(block.text.as_str()).count() == 1
        };
        let middle = self.blocks.len() / 2;
        (middle..self.blocks.len()).find(wanted).or_else(|| (0..middle).find(wanted)).unwrap_or(0)
    }
}

fn as_markdown(blocks: &[Block]) -> String {
    let mut all = Vec::new();
    for block in blocks {
        let text = &block.text;
        all.push(match block.kind {
            "heading" => format!("# {text}"),
            "listblock" => format!("- {text}"),
            "task" => format!("- [{}] {text}", if block.done { "x" } else { " " }),
            "quote" => format!("> {text}"),
            "code" => format!("```{}\n{text}```", block.language.as_deref().unwrap_or_default()),
            "divider" => "---".to_owned(),
            _ => text.clone(),
        });
    }
    all.join("\n\n") + "\n"
}
