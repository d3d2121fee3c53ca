//! `insert_inline`: a link to a document, or an attachment, inside a text.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::edit::draft::{Draft, Looks};
use crate::edit::fault::{Fault, Target};
use crate::ids::{DocumentId, FileId, NodeId, NodeRef};
use crate::inline::{Inline, Placed};
use crate::limits;
use crate::text;

/// Inserts a link or an attachment into a node's text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InsertInline {
    /// The node: its ID, or a tail of it of at least 8 hex digits.
    pub node_id: NodeRef,
    /// The node's exact text as the operation finds it.
    pub expected: String,
    /// Where in `expected`, in bytes of UTF-8 from its start; on a character boundary, not inside a token.
    pub at_utf8: u64,
    /// What to insert.
    pub inline: NewInline,
}

/// A link to a document or an attachment, as an operation names it. What a read adds to an inline is ignored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NewInline {
    /// document: a link; attachment: a file.
    #[serde(rename = "type")]
    pub kind: InlineKind,
    /// document: the target document's ID.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub document_id: Option<DocumentId>,
    /// document: a node of the target document to point at; its whole ID.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node_id: Option<NodeId>,
    /// attachment: the file's ID.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_id: Option<FileId>,
    /// What to show instead of the target's title or name: one line, at most 200 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
}

/// What an inline is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "a doc on a variant makes its schema a union of constants")]
pub enum InlineKind {
    Document,
    Attachment,
}

impl NewInline {
    fn accept(&self, draft: &mut Draft<'_>) -> Result<Inline, Fault> {
        let label = match self.label.as_deref() {
            None | Some("") => None,
            Some(label) => Some(
                text::accept_line(label, limits::LABEL_CHARS)
                    .map_err(|fault| Fault::invalid("inline.label", fault.to_string()))?
                    .into_owned(),
            ),
        };
        match self.kind {
            InlineKind::Document => {
                let document = self.document_id.ok_or_else(|| {
                    Fault::invalid("inline.document_id", "is missing: a link names its document")
                })?;
                if !draft.facts.has_document(document)? {
                    return Err(Fault::NotFound {
                        target: Target::Document,
                        field: "inline.document_id",
                        id: document.to_string(),
                    });
                }
                Ok(Inline::Document { document, node: self.node_id, label })
            }
            InlineKind::Attachment => {
                let file = self.file_id.ok_or_else(|| {
                    Fault::invalid("inline.file_id", "is missing: an attachment names its file")
                })?;
                if !draft.facts.has_file(file)? {
                    return Err(Fault::NotFound {
                        target: Target::File,
                        field: "inline.file_id",
                        id: file.to_string(),
                    });
                }
                Ok(Inline::Attachment { file, label })
            }
        }
    }
}

impl InsertInline {
    /// Applies the operation to a draft.
    ///
    /// # Errors
    /// When the node is gone, takes no inlines or carries another text, when the offset is no edge of
    /// a character outside a token, or the target is not in the workspace.
    pub fn apply(&self, draft: &mut Draft<'_>) -> Result<(), Fault> {
        let node = draft.expect(&self.node_id, &self.expected, Looks::IntoText)?;
        if !node.kind.has_inlines() {
            return Err(Fault::invalid(
                "node_id",
                format!("names a {}, which holds no inlines", node.kind.name()),
            ));
        }
        let at = check_offset(&node.stored, &node.inlines, self.at_utf8)?;
        let inline = self.inline.accept(draft)?;
        let rich = node.rich().with_inline(at, &inline);
        text::accept(&rich.text).map_err(|fault| Fault::invalid("inline", fault.to_string()))?;
        draft.change(node.id, |node| node.set_rich(rich));
        Ok(())
    }
}

/// Checks that an offset lies on an edge of a character and outside every token.
fn check_offset(text: &str, inlines: &[Placed], at_utf8: u64) -> Result<usize, Fault> {
    let length = text.len();
    let at = usize::try_from(at_utf8).ok().filter(|at| *at <= length).ok_or_else(|| {
        Fault::invalid("at_utf8", format!("lies behind the text, which is {length} bytes long"))
    })?;
    if let Some(placed) = inlines
        .iter()
        .find(|placed| placed.at_utf8 < at && at < placed.at_utf8 + placed.inline.token_len())
    {
        let end = placed.at_utf8 + placed.inline.token_len();
        return Err(Fault::invalid(
            "at_utf8",
            format!("lies inside a token; the nearest edges are {} and {end}", placed.at_utf8),
        ));
    }
    if !text.is_char_boundary(at) {
        let before = (0..at).rev().find(|edge| text.is_char_boundary(*edge)).unwrap_or(0);
        let after = (at..=length).find(|edge| text.is_char_boundary(*edge)).unwrap_or(length);
        return Err(Fault::invalid(
            "at_utf8",
            format!("lies inside a character; the nearest edges are {before} and {after}"),
        ));
    }
    Ok(at)
}
