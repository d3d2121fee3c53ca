//! A table's text: rows by LF, cells by TAB; in a cell `\\`, `\t`, `\n` stand for backslash, tab, line break.

use std::borrow::Cow;

/// Why a text is no table.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TableFault {
    /// There are no cells.
    #[error("has no cells: write rows by line feed and cells by tab, the header first")]
    Empty,
    /// It ends in a line feed.
    #[error("ends in a line feed; leave it out, a line feed stands only between rows")]
    TrailingLineFeed,
    /// A row has another number of cells than the header.
    #[error(
        "row {row} (counted from 0) has {cells} cells, the header has {header}; give every row the same number of cells"
    )]
    Uneven {
        /// The row, counted from 0.
        row: usize,
        /// Its count of cells.
        cells: usize,
        /// The header's count of cells.
        header: usize,
    },
    /// A backslash begins no known escape.
    #[error(
        "has a backslash at byte {at_utf8} that begins no escape; in a cell write \\\\ for a backslash, \\t for a tab, \\n for a line break"
    )]
    Escape {
        /// Where, in bytes of UTF-8.
        at_utf8: usize,
    },
    /// It looks like a Markdown table.
    #[error(
        "looks like a Markdown table; write cells by tab and rows by line feed, without | and without a line of dashes"
    )]
    Markdown,
}

fn looks_like_markdown(text: &str) -> bool {
    if text.contains('\t') {
        return false;
    }
    let mut lines = text.lines();
    let (Some(first), Some(second)) = (lines.next(), lines.next()) else {
        let line = text.trim();
        return line.len() > 2 && line.starts_with('|') && line.ends_with('|');
    };
    let is_rule = second.contains('-')
        && second.contains('|')
        && second.chars().all(|c| matches!(c, '|' | '-' | ':' | ' '));
    first.contains('|') && (is_rule || first.trim().starts_with('|') && first.trim().ends_with('|'))
}

/// Checks that the text is a table.
///
/// # Errors
/// When it is not.
pub fn check(text: &str) -> Result<(), TableFault> {
    if text.is_empty() {
        return Err(TableFault::Empty);
    }
    if text.ends_with('\n') {
        return Err(TableFault::TrailingLineFeed);
    }
    if looks_like_markdown(text) {
        return Err(TableFault::Markdown);
    }
    let mut escaped = false;
    for (at_utf8, c) in text.char_indices() {
        match (escaped, c) {
            (true, '\\' | 't' | 'n') => escaped = false,
            (true, _) => return Err(TableFault::Escape { at_utf8: at_utf8 - 1 }),
            (false, '\\') => escaped = true,
            (false, _) => {}
        }
    }
    if escaped {
        return Err(TableFault::Escape { at_utf8: text.len() - 1 });
    }
    let mut widths = text.split('\n').map(|row| row.split('\t').count()).enumerate();
    let header = widths.next().map_or(0, |(_, cells)| cells);
    match widths.find(|(_, cells)| *cells != header) {
        Some((row, cells)) => Err(TableFault::Uneven { row, cells, header }),
        None => Ok(()),
    }
}

/// The text with short rows padded by empty cells, as reads show it.
#[must_use]
pub fn padded(text: &str) -> Cow<'_, str> {
    let width = text.split('\n').map(|row| row.split('\t').count()).max().unwrap_or(1);
    if text.split('\n').all(|row| row.split('\t').count() == width) {
        return Cow::Borrowed(text);
    }
    let rows: Vec<String> = text
        .split('\n')
        .map(|row| format!("{row}{}", "\t".repeat(width - row.split('\t').count())))
        .collect();
    Cow::Owned(rows.join("\n"))
}

/// The cells, decoded, row by row.
#[must_use]
pub fn rows(text: &str) -> Vec<Vec<String>> {
    text.split('\n').map(|row| row.split('\t').map(decode).collect()).collect()
}

/// One cell without its escapes.
fn decode(cell: &str) -> String {
    let mut out = String::with_capacity(cell.len());
    let mut chars = cell.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some('t') => out.push('\t'),
                Some('n') => out.push('\n'),
                Some(other) => out.push(other),
                None => out.push('\\'),
            },
            c => out.push(c),
        }
    }
    out
}

/// A cell's text as it stands in a table's text.
#[must_use]
pub fn encode_cell(cell: &str) -> String {
    cell.replace('\\', "\\\\").replace('\t', "\\t").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_checked() {
        let uneven = TableFault::Uneven { row: 1, cells: 1, header: 2 };
        for (text, right) in [
            ("a\tb\nc\td", Ok(())),
            ("a", Ok(())),
            ("\t", Ok(())),
            ("a|b\tc", Ok(())),
            ("", Err(TableFault::Empty)),
            ("a\tb\n", Err(TableFault::TrailingLineFeed)),
            ("a\tb\nc", Err(uneven)),
            ("a\\x", Err(TableFault::Escape { at_utf8: 1 })),
            ("a\\", Err(TableFault::Escape { at_utf8: 1 })),
            ("| a | b |\n|---|---|\n| c | d |", Err(TableFault::Markdown)),
            ("a | b\n--- | ---\nc | d", Err(TableFault::Markdown)),
        ] {
            assert_eq!(check(text), right, "{text:?}");
        }
    }

    #[test]
    fn cells_come_back_as_they_were() {
        for cell in ["", "a|`b`", "back\\slash", "tab\tline\nend", "\\t"] {
            let text = format!("h\t{}", encode_cell(cell));
            assert_eq!(check(&text), Ok(()));
            assert_eq!(rows(&text), vec![vec!["h".to_owned(), cell.to_owned()]]);
        }
        assert_eq!(padded("a\tb\tc\nd"), "a\tb\tc\nd\t\t");
    }
}
