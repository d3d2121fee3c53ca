//! Real prose: the Markdown and the doc comments of this repository's dependencies, whose sources lie
//! wherever it is built.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use super::{Outcome, text};

/// Larger files are tables of constants, not prose.
const FILE_BYTES: u64 = 512 * 1024;
/// Longer paragraphs are no prose either.
const PARAGRAPH_BYTES: usize = 4_000;

/// A stretch of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Piece {
    /// A headline, with its level from 1.
    Heading(usize, String),
    /// A paragraph.
    Paragraph(String),
    /// An item of a list.
    Item(String),
}

/// What one file says.
#[derive(Debug, Clone)]
pub(crate) struct File {
    /// What it may be called where it has no headline.
    pub(crate) name: String,
    pub(crate) pieces: Vec<Piece>,
}

/// The prose of all dependencies, each paragraph once, in a fixed order; at most about so many pieces.
pub(crate) fn read(most: usize) -> Outcome<Vec<File>> {
    let mut seen = HashSet::new();
    let mut all = Vec::new();
    let mut pieces = 0;
    for (package, folder) in packages()? {
        let mut paths = Vec::new();
        gather(&folder, &mut paths);
        paths.sort();
        for path in paths {
            if pieces >= most {
                return Ok(all);
            }
            let Ok(source) = std::fs::read_to_string(&path) else { continue };
            let is_rust = path.extension().is_some_and(|ending| ending == "rs");
            let mut file = File { name: name(&package, &path), pieces: Vec::new() };
            if is_rust {
                for comment in comments(&source) {
                    file.pieces.extend(split(&comment));
                }
            } else {
                file.pieces = split(&source);
            }
            file.pieces.retain(|piece| match piece {
                Piece::Heading(..) => true,
                Piece::Paragraph(text) | Piece::Item(text) => seen.insert(text.clone()),
            });
            if file.pieces.iter().any(|piece| !matches!(piece, Piece::Heading(..))) {
                pieces += file.pieces.len();
                all.push(file);
            }
        }
    }
    Ok(all)
}

/// The sentences of all files, of 30 to 200 bytes, in their order.
pub(crate) fn sentences(files: &[File]) -> Vec<String> {
    let mut all = Vec::new();
    for piece in files.iter().flat_map(|file| &file.pieces) {
        let (Piece::Paragraph(text) | Piece::Item(text)) = piece else { continue };
        for sentence in text.split_inclusive(". ") {
            let sentence = sentence.trim();
            if (30..=200).contains(&sentence.len()) {
                all.push(sentence.to_owned());
            }
        }
    }
    all
}

/// The folders of the packages, by name and version.
fn packages() -> Outcome<Vec<(String, PathBuf)>> {
    let run = |program: &str, arguments: &[&str]| -> Outcome<Vec<u8>> {
        let output = Command::new(program)
            .args(arguments)
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .output()
            .map_err(|error| format!("{program}: {error}"))?;
        if output.status.success() {
            Ok(output.stdout)
        } else {
            Err(format!("{program}: {}", String::from_utf8_lossy(&output.stderr)))
        }
    };
    let version = String::from_utf8(run("rustc", &["-vV"])?).map_err(text)?;
    // Sources of packages for other systems may not be there.
    let host = version.lines().find_map(|line| line.strip_prefix("host: ")).unwrap_or_default();
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
    let said = run(
        &cargo,
        &["metadata", "--offline", "--format-version", "1", "--filter-platform", host],
    )?;
    let said: Value = serde_json::from_slice(&said).map_err(text)?;
    let mut found: Vec<(String, String, PathBuf)> = said["packages"]
        .as_array()
        .into_iter()
        .flatten()
        .filter(|package| !package["source"].is_null())
        .filter_map(|package| {
            let text = |key: &str| package[key].as_str().map(str::to_owned);
            let manifest = PathBuf::from(text("manifest_path")?);
            Some((text("name")?, text("version")?, manifest.parent()?.to_owned()))
        })
        .collect();
    found.sort();
    Ok(found.into_iter().map(|(name, _, folder)| (name, folder)).collect())
}

fn gather(folder: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.filter_map(Result::ok) {
        let path = entry.path();
        let Ok(kind) = entry.file_type() else { continue };
        if kind.is_dir() {
            gather(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "md" || ending == "rs")
            && entry.metadata().is_ok_and(|data| data.len() <= FILE_BYTES)
        {
            found.push(path);
        }
    }
}

fn name(package: &str, path: &Path) -> String {
    let stem = |path: Option<&Path>| {
        path.and_then(Path::file_stem).unwrap_or_default().to_string_lossy().into_owned()
    };
    format!("{package}: {} {}", stem(path.parent()), stem(Some(path)))
}

/// The doc comments of a source, each as the Markdown that it is.
fn comments(source: &str) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    let mut is_open = false;
    for line in source.lines() {
        let line = line.trim_start();
        let said = line
            .strip_prefix("///")
            .filter(|rest| !rest.starts_with('/'))
            .or_else(|| line.strip_prefix("//!"));
        match said {
            Some(said) => {
                if !is_open {
                    all.push(String::new());
                }
                is_open = true;
                if let Some(last) = all.last_mut() {
                    last.push_str(said.strip_prefix(' ').unwrap_or(said));
                    last.push('\n');
                }
            }
            None => is_open = false,
        }
    }
    all
}

/// The pieces of a Markdown text; code, tables, pictures and HTML are left out.
fn split(markdown: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut open: Option<Piece> = None;
    let mut is_code = false;
    for line in markdown.lines() {
        let bare = line.trim();
        if bare.starts_with("```") || bare.starts_with("~~~") {
            is_code = !is_code;
            close(&mut open, &mut pieces);
            continue;
        }
        if is_code
            || bare.is_empty()
            || bare.starts_with(['<', '|', '!', '[', '='])
            || line.starts_with("    ")
        {
            close(&mut open, &mut pieces);
            continue;
        }
        let level = bare.chars().take_while(|c| *c == '#').count();
        if (1..=6).contains(&level) && bare.get(level..).is_some_and(|rest| rest.starts_with(' ')) {
            close(&mut open, &mut pieces);
            let title = plain(bare.get(level..).unwrap_or_default());
            if latin_words(&title) > 0 && title.len() <= 200 {
                pieces.push(Piece::Heading(level, title));
            }
            continue;
        }
        let item = ["- ", "* ", "+ "].iter().find_map(|mark| bare.strip_prefix(mark));
        if let Some(item) = item {
            close(&mut open, &mut pieces);
            open = Some(Piece::Item(item.to_owned()));
            continue;
        }
        match &mut open {
            Some(Piece::Paragraph(text) | Piece::Item(text)) => {
                text.push(' ');
                text.push_str(bare);
            }
            _ => open = Some(Piece::Paragraph(bare.to_owned())),
        }
    }
    close(&mut open, &mut pieces);
    pieces
}

fn close(open: &mut Option<Piece>, pieces: &mut Vec<Piece>) {
    let Some(mut piece) = open.take() else { return };
    if let Piece::Paragraph(text) | Piece::Item(text) = &mut piece {
        *text = plain(text);
        if text.len() < 20 || text.len() > PARAGRAPH_BYTES || latin_words(text) < 4 {
            return;
        }
    }
    pieces.push(piece);
}

fn latin_words(text: &str) -> usize {
    text.split_whitespace()
        .filter(|word| word.chars().filter(char::is_ascii_alphabetic).count() > 1)
        .count()
}

/// A text without the addresses of its links, and without double quotation marks, which are syntax in a query.
fn plain(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text.trim();
    while let Some((before, after)) = rest.split_once("](") {
        kept.push_str(before);
        rest = after.split_once(')').map_or("", |(_, behind)| behind);
    }
    kept.push_str(rest);
    kept.retain(|c| !matches!(c, '[' | ']' | '`' | '"' | '*') && !c.is_control());
    kept.trim().to_owned()
}
