//! What the store knows of tags and attributes, as sets of nodes and documents.

use koru_model::comparable::Comparable;
use koru_model::tag;
use koru_model::value::ValueKind;
use rusqlite::types::Value as Column;
use rusqlite::{Connection, Row};

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
    fn add(&self, document: u32, node: u32, carriers: &mut Carriers) {
        if !self.scope.has(document) || node == 0 {
            return;
        }
        carriers.nodes.add(node);
        let entry = self.view.node(NodeKey(node));
        if entry.is_some_and(|entry| entry.kind == KindCode::TITLE) {
            carriers.documents.add(document);
        }
    }

    fn add_row(&self, row: &Row<'_>, carriers: &mut Carriers) -> Result<(), ServiceError> {
        self.add(row.get(0)?, row.get(1)?, carriers);
        Ok(())
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
        let mut statement = self.connection.prepare_cached(
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
        )?;
        for workspace in workspaces {
            let mut rows = statement.query((workspace.0, &folded, &below, &behind))?;
            while let Some(row) = rows.next()? {
                self.add_row(row, &mut carriers)?;
            }
        }
        Ok(carriers)
    }

    /// The nodes that carry what the condition tells of: for `missing`, those that have it.
    pub(super) fn attributed(&self, condition: &Condition) -> Result<Carriers, ServiceError> {
        let mut carriers = Carriers::default();
        match &condition.test {
            Test::Exists(kinds) | Test::Missing(kinds) if kinds.is_empty() => {
                let mut statement = self.connection.prepare_cached(
                    "SELECT document, n FROM attribute_use INDEXED BY attribute_use_by_value WHERE key = ?1",
                )?;
                let mut rows = statement.query([&condition.key])?;
                while let Some(row) = rows.next()? {
                    self.add_row(row, &mut carriers)?;
                }
            }
            Test::Exists(kinds) | Test::Missing(kinds) => {
                let mut statement = self.connection.prepare_cached(
                    "SELECT document, n FROM attribute_use INDEXED BY attribute_use_by_value
                     WHERE key = ?1 AND kind = ?2",
                )?;
                for kind in kinds {
                    let mut rows = statement.query((&condition.key, comparables::code(*kind)))?;
                    while let Some(row) = rows.next()? {
                        self.add_row(row, &mut carriers)?;
                    }
                }
            }
            Test::In(ranges) => {
                for (kind, range) in ranges {
                    self.in_range(&condition.key, *kind, range, &mut carriers)?;
                }
            }
        }
        Ok(carriers)
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
        let from = coarse(&range.from).unwrap_or(least);
        let until = coarse(&range.until).unwrap_or(most);
        let mut statement = self.connection.prepare_cached(
            "SELECT document, n, value, exact FROM attribute_use INDEXED BY attribute_use_by_value
             WHERE key = ?1 AND kind = ?2 AND value >= ?3 AND value <= ?4",
        )?;
        let mut rows = statement.query((key, comparables::code(kind), &from, &until))?;
        while let Some(row) = rows.next()? {
            let value = row.get_ref(2)?;
            // Between the ends all is inside; at them the exact value decides.
            let is_at_end = value == (&from).into() || value == (&until).into();
            if !is_at_end || Self::is_inside(row, kind, range)? {
                self.add_row(row, carriers)?;
            }
        }
        Ok(())
    }

    fn is_inside(row: &Row<'_>, kind: ValueKind, range: &Range) -> Result<bool, ServiceError> {
        let value = comparables::read(kind, row.get_ref(2)?, row.get_ref(3)?);
        Ok(value.is_some_and(|value: Comparable| range.holds(&value)))
    }
}

fn coarse(end: &End) -> Option<Column> {
    match end {
        End::Open => None,
        End::With(value) | End::Without(value) => Some(comparables::place(value)),
    }
}
