//! Markdown as the nodes that an agent would make of it.

use std::path::{Path, PathBuf};

use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};
use serde_json::{Value, json};

use super::documents::{insert, operation};

/// A node to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// The place of its parent in the list; none: the title.
    pub parent: Option<usize>,
    /// Its kind.
    pub kind: &'static str,
    /// Its text.
    pub text: String,
    /// Whether a task is done.
    pub done: bool,
    /// What language a code block names.
    pub language: Option<String>,
}

/// The blocks of a Markdown text, parents before children.
#[must_use]
pub fn blocks(markdown: &str) -> Vec<Block> {
    let options = Options::ENABLE_TABLES | Options::ENABLE_TASKLISTS;
    let mut builder = Builder::default();
    for event in Parser::new_ext(markdown, options) {
        builder.take(event);
    }
    builder.end_text();
    builder.blocks
}

/// The blocks of the repository's own Markdown, over and over, at least so many.
///
/// # Panics
/// When there is none.
#[must_use]
pub fn own_blocks(count: usize) -> Vec<Block> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let files = files(&root);
    assert!(!files.is_empty(), "the repository has no Markdown");
    let mut all: Vec<Block> = Vec::new();
    while all.len() < count {
        for file in &files {
            let base = all.len();
            let text = std::fs::read_to_string(file).expect("a file of the repository");
            all.extend(
                blocks(&text).into_iter().map(|block| Block {
                    parent: block.parent.map(|parent| parent + base),
                    ..block
                }),
            );
        }
    }
    all
}

/// The operations that insert blocks as the nodes of these IDs.
#[must_use]
pub fn operations(blocks: &[Block], ids: &[String], root: &str) -> Vec<Value> {
    let mut all = Vec::new();
    for (block, node) in blocks.iter().zip(ids) {
        let parent = block.parent.map_or(root, |parent| ids[parent].as_str());
        all.push(insert(node, parent, block.kind, &block.text));
        if block.done {
            all.push(operation("set_done", node, &block.text, json!({ "done": true })));
        }
        if let Some(language) = &block.language {
            let language = json!({ "language": language });
            all.push(operation("set_language", node, &block.text, language));
        }
    }
    all
}

/// The Markdown files of a folder, without what is built or hidden, in a fixed order.
#[must_use]
pub fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    gather(folder, &mut found);
    found.sort();
    found
}

fn gather(folder: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() && name != "target" && name != "node_modules" && !name.starts_with('.') {
            gather(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "md") {
            found.push(path);
        }
    }
}

#[derive(Default)]
struct Builder {
    blocks: Vec<Block>,
    /// The headings that are open, with their levels.
    sections: Vec<(HeadingLevel, usize)>,
    /// The list items and quotes that are open.
    inside: Vec<usize>,
    /// The block that takes text now.
    open: Option<usize>,
    rows: Vec<Vec<String>>,
    in_table: bool,
}

impl Builder {
    fn parent(&self) -> Option<usize> {
        self.inside.last().copied().or_else(|| self.sections.last().map(|(_, block)| *block))
    }

    fn start(&mut self, kind: &'static str) -> usize {
        self.end_text();
        let parent = self.parent();
        self.start_under(parent, kind)
    }

    fn start_under(&mut self, parent: Option<usize>, kind: &'static str) -> usize {
        self.blocks.push(Block { parent, kind, text: String::new(), done: false, language: None });
        let block = self.blocks.len() - 1;
        self.open = Some(block);
        block
    }

    fn end_text(&mut self) {
        self.open = None;
    }

    fn write(&mut self, text: &str) {
        if self.in_table {
            if let Some(cell) = self.rows.last_mut().and_then(|row| row.last_mut()) {
                cell.push_str(text);
            }
            return;
        }
        let block = self.open.unwrap_or_else(|| self.start("paragraph"));
        self.blocks[block].text.push_str(text);
    }

    fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.enter(tag),
            Event::End(tag) => self.leave(tag),
            Event::Text(text) | Event::Code(text) | Event::InlineHtml(text) | Event::Html(text) => {
                self.write(&text);
            }
            Event::SoftBreak | Event::HardBreak => {
                // Headings hold one line; elsewhere the break is part of the text.
                let one_line = self.open.is_some_and(|block| self.blocks[block].kind == "heading");
                self.write(if one_line { " " } else { "\n" });
            }
            Event::Rule => {
                self.start("divider");
                self.end_text();
            }
            Event::TaskListMarker(done) => {
                if let Some(item) = self.inside.last().copied() {
                    self.blocks[item].kind = "task";
                    self.blocks[item].done = done;
                }
            }
            _ => {}
        }
    }

    fn enter(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Heading { level, .. } => {
                self.end_text();
                self.sections.retain(|(open, _)| *open < level);
                let parent = self.sections.last().map(|(_, block)| *block);
                let block = self.start_under(parent, "heading");
                self.sections.push((level, block));
            }
            Tag::Paragraph => {
                // The first paragraph of an item or a quote is the item's own text.
                let own = self.inside.last().copied().filter(|item| self.open == Some(*item));
                if own.is_none_or(|item| !self.blocks[item].text.is_empty()) {
                    self.start("paragraph");
                }
            }
            Tag::Item => {
                let item = self.start("listblock");
                self.inside.push(item);
            }
            Tag::BlockQuote(_) => {
                let quote = self.start("quote");
                self.inside.push(quote);
            }
            Tag::CodeBlock(kind) => {
                let block = self.start("code");
                if let CodeBlockKind::Fenced(language) = kind {
                    self.blocks[block].language =
                        Some(language.to_string()).filter(|name| !name.is_empty());
                }
            }
            Tag::Table(_) => {
                self.start("table");
                self.in_table = true;
                self.rows.clear();
            }
            Tag::TableHead | Tag::TableRow => self.rows.push(Vec::new()),
            Tag::TableCell => {
                if let Some(row) = self.rows.last_mut() {
                    row.push(String::new());
                }
            }
            _ => {}
        }
    }

    fn leave(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Item | TagEnd::BlockQuote(_) => {
                self.inside.pop();
                self.end_text();
            }
            TagEnd::Table => {
                self.in_table = false;
                let text = table(&std::mem::take(&mut self.rows));
                if let Some(block) = self.open {
                    self.blocks[block].text = text;
                }
                self.end_text();
            }
            TagEnd::Paragraph | TagEnd::Heading(_) | TagEnd::CodeBlock => self.end_text(),
            _ => {}
        }
    }
}

/// The text of a table: rows by LF, cells by TAB, every row as long as the longest.
fn table(rows: &[Vec<String>]) -> String {
    let width = rows.iter().map(Vec::len).max().unwrap_or(1);
    let cell = |text: &String| text.replace('\\', "\\\\").replace('\t', "\\t").replace('\n', "\\n");
    let line = |row: &Vec<String>| {
        let mut cells: Vec<String> = row.iter().map(cell).collect();
        cells.resize(width, String::new());
        cells.join("\t")
    };
    rows.iter().map(line).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_lists_tasks_tables_and_code_become_nodes() {
        let found = blocks(
            "intro\n\n# A\n\nfirst\nsecond\n\n- one\n  - two\n- [x] three\n\n## B\n\n```rust\nfn f() {}\n```\n\n| a | b |\n|---|---|\n| 1 | `x` |\n\n> said\n\n---\n\n# C\n",
        );
        let seen: Vec<(Option<usize>, &str, &str)> =
            found.iter().map(|block| (block.parent, block.kind, block.text.as_str())).collect();
        assert_eq!(
            seen,
            [
                (None, "paragraph", "intro"),
                (None, "heading", "A"),
                (Some(1), "paragraph", "first\nsecond"),
                (Some(1), "listblock", "one"),
                (Some(3), "listblock", "two"),
                (Some(1), "task", "three"),
                (Some(1), "heading", "B"),
                (Some(6), "code", "fn f() {}\n"),
                (Some(6), "table", "a\tb\n1\tx"),
                (Some(6), "quote", "said"),
                (Some(6), "divider", ""),
                (None, "heading", "C"),
            ]
        );
        assert!(found[5].done);
        assert_eq!(found[7].language.as_deref(), Some("rust"));
    }
}
