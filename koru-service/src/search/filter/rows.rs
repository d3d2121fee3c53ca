//! What the store knows of tags and attributes, as sets of nodes and documents.

use koru_model::tag;
use koru_model::value::ValueKind;
use rusqlite::types::{Value as Column, ValueRef};
use rusqlite::{Connection, Params, Row};

use super::bits::Bits;
use super::condition::{Condition, Test};
use super::range::{End, Range};
use crate::errors::ServiceError;
use crate::search::memory::{KindCode, NodeKey, View};
use crate::store::comparables;
use crate::store::workspaces::WorkspaceKey;

/// The nodes of which something holds, and the documents of whose titles it holds.
#[derive(Debug, Clone, Default)]
pub(super) struct Carriers {
    pub(super) nodes: Bits,
    pub(super) documents: Bits,
}

/// What is looked through.
pub(super) struct Rows<'a> {
    pub(super) connection: &'a Connection,
    pub(super) view: &'a View,
    /// The documents that count.
    pub(super) scope: &'a Bits,
}

impl Carriers {
    /// Whether it holds of the node or of its document's title.
    pub(super) fn has(&self, node: NodeKey, document: u32) -> bool {
        self.nodes.has(node.0) || self.documents.has(document)
    }
}

impl Rows<'_> {
    /// Adds what a statement finds: rows of document and node.
    fn gather(
        &self,
        sql: &str,
        params: impl Params,
        carriers: &mut Carriers,
    ) -> Result<(), ServiceError> {
        let mut statement = self.connection.prepare_cached(sql)?;
        let mut rows = statement.query(params)?;
        while let Some(row) = rows.next()? {
            self.add(row, carriers)?;
        }
        Ok(())
    }

    fn add(&self, row: &Row<'_>, carriers: &mut Carriers) -> Result<(), ServiceError> {
        // Tens of thousands of rows are read in a few milliseconds, so nothing more is asked of each.
        if let (ValueRef::Integer(document), ValueRef::Integer(node)) =
            (row.get_ref(0)?, row.get_ref(1)?)
            && let (Ok(document), Ok(node)) = (u32::try_from(document), u32::try_from(node))
            && node > 0
            && self.scope.has(document)
        {
            carriers.nodes.add(node);
        }
        Ok(())
    }

    /// Notes the documents whose titles are among the nodes: in the order of keys, in which memory is fast.
    fn with_titles(&self, mut carriers: Carriers) -> Carriers {
        for key in carriers.nodes.iter().map(NodeKey) {
            if let Some(entry) = self.view.node(key)
                && entry.kind == KindCode::TITLE
            {
                carriers.documents.add(entry.document);
            }
        }
        carriers
    }

    /// The nodes that carry a tag of that name, or one below it; `name` has been accepted.
    pub(super) fn tagged(
        &self,
        workspaces: &[WorkspaceKey],
        name: &str,
    ) -> Result<Carriers, ServiceError> {
        let folded = tag::folded(name);
        // U+0030 comes right after the slash.
        let (below, behind) = (format!("{folded}/"), format!("{folded}0"));
        let mut carriers = Carriers::default();
        for workspace in workspaces {
            self.gather(
                "WITH meant (k, id) AS (
                   SELECT k, id FROM tag WHERE workspace = ?1 AND folded = ?2
                   UNION ALL
                   SELECT k, id FROM tag WHERE workspace = ?1 AND folded >= ?3 AND folded < ?4
                 ), carried (id) AS (
                   SELECT id FROM meant
                   UNION ALL
                   SELECT f.id FROM meant m CROSS JOIN tag_former f WHERE f.tag = m.k
                 )
                 SELECT u.document, u.n FROM carried c CROSS JOIN tag_use u WHERE u.tag = c.id",
                (workspace.0, &folded, &below, &behind),
                &mut carriers,
            )?;
        }
        Ok(self.with_titles(carriers))
    }

    /// The nodes that carry what the condition tells of: for `missing`, those that have it.
    pub(super) fn attributed(&self, condition: &Condition) -> Result<Carriers, ServiceError> {
        let mut carriers = Carriers::default();
        let key = &condition.key;
        match &condition.test {
            Test::Exists(kinds) | Test::Missing(kinds) if kinds.is_empty() => self.gather(
                "SELECT document, n FROM attribute_use INDEXED BY attribute_use_by_value WHERE key = ?1",
                [key],
                &mut carriers,
            )?,
            Test::Exists(kinds) | Test::Missing(kinds) => {
                for kind in kinds {
                    self.gather(
                        "SELECT document, n FROM attribute_use INDEXED BY attribute_use_by_value
                         WHERE key = ?1 AND kind = ?2",
                        (key, comparables::code(*kind)),
                        &mut carriers,
                    )?;
                }
            }
            Test::In(ranges) => {
                for (kind, range) in ranges {
                    self.in_range(key, *kind, range, &mut carriers)?;
                }
            }
        }
        Ok(self.with_titles(carriers))
    }

    fn in_range(
        &self,
        key: &str,
        kind: ValueKind,
        range: &Range,
        carriers: &mut Carriers,
    ) -> Result<(), ServiceError> {
        let (least, most) = if kind == ValueKind::Number {
            (Column::Real(f64::NEG_INFINITY), Column::Real(f64::INFINITY))
        } else {
            (Column::Integer(i64::MIN), Column::Integer(i64::MAX))
        };
        let (from, until) = (coarse(&range.from), coarse(&range.until));
        // Between the ends all is inside; at them the exact value decides.
        if from.is_none() || from != until {
            self.gather(
                "SELECT document, n FROM attribute_use INDEXED BY attribute_use_by_value
                 WHERE key = ?1 AND kind = ?2 AND value > ?3 AND value < ?4",
                (
                    key,
                    comparables::code(kind),
                    from.as_ref().unwrap_or(&least),
                    until.as_ref().unwrap_or(&most),
                ),
                carriers,
            )?;
        }
        let mut statement = self.connection.prepare_cached(
            "SELECT document, n, value, exact FROM attribute_use INDEXED BY attribute_use_by_value
             WHERE key = ?1 AND kind = ?2 AND value = ?3",
        )?;
        let until = until.filter(|until| from.as_ref() != Some(until));
        for end in [from, until].iter().flatten() {
            let mut rows = statement.query((key, comparables::code(kind), end))?;
            while let Some(row) = rows.next()? {
                let value = comparables::read(kind, row.get_ref(2)?, row.get_ref(3)?);
                if value.is_some_and(|value| range.holds(&value)) {
                    self.add(row, carriers)?;
                }
            }
        }
        Ok(())
    }
}

fn coarse(end: &End) -> Option<Column> {
    match end {
        End::Open => None,
        End::With(value) | End::Without(value) => Some(comparables::place(value)),
    }
}
