//! Inlines: links and attachments inside a text, seen by clients as tokens.

use serde::Serialize;

use crate::ids::{DocumentId, FileId, NodeId};

/// One indivisible object inside a text.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Inline {
    /// A link to a document, or to a node of it.
    Document {
        /// The target.
        document: DocumentId,
        /// The node of the target to point at.
        node: Option<NodeId>,
        /// The text to show in place of the target's title.
        label: Option<String>,
    },
    /// An attached file.
    Attachment {
        /// The file.
        file: FileId,
        /// The text to show in place of the file's name.
        label: Option<String>,
    },
}

const DOCUMENT: &str = "[[document:";
const ATTACHMENT: &str = "[[attachment:";
const END: &str = "]]";
const ID: usize = 36;

impl Inline {
    /// The token that stands for it in the text that clients see.
    #[must_use]
    pub fn token(&self) -> String {
        match self {
            Self::Document { document, node: None, .. } => format!("{DOCUMENT}{document}{END}"),
            Self::Document { document, node: Some(node), .. } => {
                format!("{DOCUMENT}{document}#{node}{END}")
            }
            Self::Attachment { file, .. } => format!("{ATTACHMENT}{file}{END}"),
        }
    }

    /// The length of its token, in bytes.
    #[must_use]
    pub fn token_len(&self) -> usize {
        match self {
            Self::Document { node: None, .. } => DOCUMENT.len() + ID + END.len(),
            Self::Document { node: Some(_), .. } => DOCUMENT.len() + ID + 1 + ID + END.len(),
            Self::Attachment { .. } => ATTACHMENT.len() + ID + END.len(),
        }
    }

    /// Its label.
    #[must_use]
    pub fn label(&self) -> Option<&str> {
        match self {
            Self::Document { label, .. } | Self::Attachment { label, .. } => label.as_deref(),
        }
    }

    /// The same inline with another label.
    #[must_use]
    pub fn with_label(mut self, new: Option<String>) -> Self {
        match &mut self {
            Self::Document { label, .. } | Self::Attachment { label, .. } => *label = new,
        }
        self
    }

    /// Reads the token that a text begins with.
    fn at_start(text: &str) -> Option<Self> {
        if let Some(rest) = text.strip_prefix(DOCUMENT) {
            let document = rest.get(..ID)?.parse().ok()?;
            let rest = rest.get(ID..)?;
            if rest.starts_with(END) {
                return Some(Self::Document { document, node: None, label: None });
            }
            let rest = rest.strip_prefix('#')?;
            let node = rest.get(..ID)?.parse().ok()?;
            return rest.get(ID..)?.starts_with(END).then_some(Self::Document {
                document,
                node: Some(node),
                label: None,
            });
        }
        let rest = text.strip_prefix(ATTACHMENT)?;
        let file = rest.get(..ID)?.parse().ok()?;
        rest.get(ID..)?.starts_with(END).then_some(Self::Attachment { file, label: None })
    }
}

/// An inline where it stands in the text that clients see.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Placed {
    /// Where its token begins, in bytes of UTF-8.
    pub at_utf8: usize,
    /// The inline.
    pub inline: Inline,
}

/// A text with its inlines, which stand in it as tokens.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct RichText {
    /// The text as clients see it.
    pub text: String,
    /// Its inlines, in order.
    pub inlines: Vec<Placed>,
}

/// A piece of a [`RichText`].
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Piece<'a> {
    /// Plain text.
    Text(&'a str),
    /// An inline.
    Inline(&'a Inline),
}

impl RichText {
    /// A text in which tokens are plain text.
    #[must_use]
    pub fn plain(text: impl Into<String>) -> Self {
        Self { text: text.into(), inlines: Vec::new() }
    }

    /// A text in which every well-formed token is an inline without label; IDs are made lower case.
    #[must_use]
    pub fn with_tokens(text: &str) -> Self {
        let mut out = Self { text: String::with_capacity(text.len()), inlines: Vec::new() };
        let mut rest = text;
        while let Some(at) = rest.find("[[") {
            let (head, tail) = rest.split_at(at);
            out.text.push_str(head);
            if let Some(inline) = Inline::at_start(tail) {
                out.inlines.push(Placed { at_utf8: out.text.len(), inline: inline.clone() });
                out.text.push_str(&inline.token());
                rest = tail.get(inline.token_len()..).unwrap_or_default();
            } else {
                out.text.push('[');
                rest = tail.get(1..).unwrap_or_default();
            }
        }
        out.text.push_str(rest);
        out
    }

    /// Gives equal tokens the labels that they have in `old`, in order.
    pub fn take_labels_from(&mut self, old: &[Placed]) {
        let mut taken = vec![false; old.len()];
        for placed in &mut self.inlines {
            let bare = placed.inline.clone().with_label(None);
            let found = old.iter().enumerate().find(|(index, candidate)| {
                !taken.get(*index).copied().unwrap_or(true)
                    && candidate.inline.clone().with_label(None) == bare
            });
            if let Some((index, candidate)) = found {
                if let Some(slot) = taken.get_mut(index) {
                    *slot = true;
                }
                placed.inline = bare.with_label(candidate.inline.label().map(str::to_owned));
            }
        }
    }

    /// Its pieces, in order; no piece of text is empty.
    #[must_use]
    pub fn pieces(&self) -> Vec<Piece<'_>> {
        pieces(&self.text, &self.inlines)
    }

    /// Appends text.
    pub fn push_text(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// Appends an inline.
    pub fn push_inline(&mut self, inline: Inline) {
        let at_utf8 = self.text.len();
        self.text.push_str(&inline.token());
        self.inlines.push(Placed { at_utf8, inline });
    }

    /// The same text with an inline more, at a byte offset outside any token.
    #[must_use]
    pub fn with_inline(&self, at_utf8: usize, inline: &Inline) -> Self {
        let mut out = Self::default();
        let mut done = false;
        let mut at = 0;
        for piece in self.pieces() {
            match piece {
                Piece::Text(text) => {
                    if !done && at_utf8 >= at && at_utf8 < at + text.len() {
                        out.push_text(text.get(..at_utf8 - at).unwrap_or_default());
                        out.push_inline(inline.clone());
                        out.push_text(text.get(at_utf8 - at..).unwrap_or_default());
                        done = true;
                    } else {
                        out.push_text(text);
                    }
                    at += text.len();
                }
                Piece::Inline(existing) => {
                    if !done && at_utf8 == at {
                        out.push_inline(inline.clone());
                        done = true;
                    }
                    out.push_inline(existing.clone());
                    at += existing.token_len();
                }
            }
        }
        if !done {
            out.push_inline(inline.clone());
        }
        out
    }
}

/// The pieces of a text with its inlines.
#[must_use]
pub fn pieces<'a>(text: &'a str, inlines: &'a [Placed]) -> Vec<Piece<'a>> {
    let mut out = Vec::with_capacity(inlines.len() * 2 + 1);
    let mut at = 0;
    for placed in inlines {
        if let Some(head) = text.get(at..placed.at_utf8).filter(|head| !head.is_empty()) {
            out.push(Piece::Text(head));
        }
        out.push(Piece::Inline(&placed.inline));
        at = placed.at_utf8 + placed.inline.token_len();
    }
    if let Some(tail) = text.get(at..).filter(|tail| !tail.is_empty()) {
        out.push(Piece::Text(tail));
    }
    out
}

/// How a target is found at reading time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Lifecycle {
    /// It is there.
    Live,
    /// It lies in the trash.
    Trash,
    /// It does not exist.
    Missing,
}

#[cfg(test)]
mod tests {
    use super::*;

    const D: &str = "0198c2f0-0000-7000-8000-00000000000d";
    const N: &str = "0198c2f0-0000-7000-8000-00000000000e";

    #[test]
    fn only_well_formed_tokens_are_inlines() {
        for (text, inlines) in [
            (format!("[[document:{D}]]"), 1),
            (format!("é[[document:{D}#{N}]][[attachment:{D}]]x"), 2),
            (format!("[[[document:{D}]]]"), 1),
            (format!("[[document:{}]]", D.to_uppercase()), 1),
            (format!("[[document:{D}]"), 0),
            (format!("[[document:{D}#]]"), 0),
            (format!("[[document: {D}]]"), 0),
            (format!("[[Document:{D}]]"), 0),
            ("[[x]] [[document:é]]".into(), 0),
        ] {
            let rich = RichText::with_tokens(&text);
            assert_eq!(rich.inlines.len(), inlines, "{text}");
            assert_eq!(rich.text.to_lowercase(), text.to_lowercase());
            for placed in &rich.inlines {
                assert!(
                    rich.text.get(placed.at_utf8..).unwrap().starts_with(&placed.inline.token())
                );
                assert_eq!(placed.inline.token().len(), placed.inline.token_len());
            }
        }
    }

    #[test]
    fn kept_tokens_keep_their_labels_in_order() {
        let token = format!("[[document:{D}]]");
        let mut old = RichText::with_tokens(&format!("{token} {token}"));
        for (label, placed) in ["first", "second"].into_iter().zip(&mut old.inlines) {
            placed.inline = placed.inline.clone().with_label(Some(label.into()));
        }
        let mut new = RichText::with_tokens(&format!("x {token} y {token} {token}"));
        new.take_labels_from(&old.inlines);
        let labels: Vec<_> = new.inlines.iter().map(|placed| placed.inline.label()).collect();
        assert_eq!(labels, [Some("first"), Some("second"), None]);
    }

    #[test]
    fn an_inline_goes_in_at_any_edge() {
        let link: Inline =
            RichText::with_tokens(&format!("[[document:{D}]]")).inlines.remove(0).inline;
        let base = RichText::with_tokens(&format!("ab[[attachment:{D}]]c"));
        for at in [0, 1, 2, 2 + 51, base.text.len()] {
            let with = base.with_inline(at, &link);
            assert_eq!(with.inlines.len(), 2);
            let mut text = base.text.clone();
            text.insert_str(at, &link.token());
            assert_eq!(with.text, text);
            assert_eq!(with, RichText::with_tokens(&text));
        }
    }
}
