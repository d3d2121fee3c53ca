//! The list of tools, in one reply or in pages.

use std::sync::Arc;

use rmcp::model::{CacheScope, ListToolsResult, Tool, ToolAnnotations};

use super::catalogue::Entry;

/// A page is shorter than this, in bytes of its JSON.
const PAGE_BYTES: usize = 7_000;
/// How long a client may keep the lists, which change with the program alone.
pub(super) const TTL_MS: u64 = 3_600_000;

/// The replies to `tools/list`, ready made.
#[derive(Debug)]
pub(super) struct Pages(Vec<ListToolsResult>);

impl Pages {
    pub(super) fn new<'a>(entries: impl Iterator<Item = &'a Entry>, split: bool) -> Self {
        Self::of(entries.map(tool), split)
    }

    fn of(tools: impl Iterator<Item = Tool>, split: bool) -> Self {
        let mut pages: Vec<Vec<Tool>> = vec![Vec::new()];
        for tool in tools {
            if let Some(page) = pages.last_mut() {
                page.push(tool);
                if split && page.len() > 1 && length(page) >= PAGE_BYTES {
                    let next = page.pop().into_iter().collect();
                    pages.push(next);
                }
            }
        }
        let last = pages.len() - 1;
        let results = pages.into_iter().enumerate().map(|(number, tools)| {
            let mut result = listed(tools);
            result.next_cursor = (number < last).then(|| cursor(number + 1));
            result
        });
        Self(results.collect())
    }

    /// The page that a cursor names; none where it names none.
    pub(super) fn page(&self, wanted: Option<&str>) -> Option<ListToolsResult> {
        let Some(wanted) = wanted else { return self.0.first().cloned() };
        let number = (1..self.0.len()).find(|number| cursor(*number) == wanted)?;
        self.0.get(number).cloned()
    }
}

fn tool(entry: &Entry) -> Tool {
    let mut tool = Tool::new(entry.name, entry.description, Arc::new(entry.input_schema.clone()));
    tool.title = Some(entry.title.into());
    tool.annotations = Some(ToolAnnotations::from_raw(
        Some(entry.title.into()),
        Some(entry.read_only),
        Some(entry.destructive),
        Some(entry.idempotent),
        Some(false),
    ));
    tool
}

fn listed(tools: Vec<Tool>) -> ListToolsResult {
    ListToolsResult::with_all_items(tools).with_ttl_ms(TTL_MS).with_cache_scope(CacheScope::Public)
}

fn length(tools: &[Tool]) -> usize {
    let mut result = listed(tools.to_vec());
    result.next_cursor = Some(cursor(usize::MAX));
    serde_json::to_vec(&result).map_or(0, |bytes| bytes.len())
}

fn cursor(number: usize) -> String {
    format!("koru-tools-{number:x}")
}

#[cfg(test)]
mod tests {
    use serde_json::Map;

    use super::*;

    fn tools() -> impl Iterator<Item = Tool> {
        (0..21).map(|number| {
            let length = [100, 900, 3_000, 6_000][number % 4];
            Tool::new(format!("tool_{number}"), "x".repeat(length), Arc::new(Map::new()))
        })
    }

    #[test]
    fn pages_hold_every_tool_once_and_keep_their_bound() {
        let pages = Pages::of(tools(), true);
        let mut names = Vec::new();
        let mut next: Option<String> = None;
        loop {
            let page = pages.page(next.as_deref()).unwrap();
            assert!(serde_json::to_vec(&page).unwrap().len() < PAGE_BYTES);
            names.extend(page.tools.into_iter().map(|tool| tool.name));
            next = page.next_cursor;
            if next.is_none() {
                break;
            }
        }
        assert!(pages.0.len() > 1);
        assert_eq!(names, tools().map(|tool| tool.name).collect::<Vec<_>>());
        assert!(pages.page(Some("koru-tools-0")).is_none());
        assert!(pages.page(Some("")).is_none());
        let whole = Pages::of(tools(), false);
        assert!(whole.page(Some("koru-tools-1")).is_none());
        assert_eq!(whole.page(None).unwrap().tools.len(), 21);
    }
}
