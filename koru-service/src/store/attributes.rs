//! The attributes that nodes of a workspace may carry: built in, or defined by a person.

use std::collections::{BTreeMap, BTreeSet};

use koru_model::limits;
use koru_model::protocol::error::Problem;
use koru_model::value::ValueKind;
use rusqlite::Connection;
use serde::Serialize;

use super::workspaces::WorkspaceKey;
use crate::errors::ServiceError;

/// What the keys of built-in attributes begin with.
pub const BUILT_IN_PREFIX: &str = "koru.";
/// The most options of one attribute.
const OPTIONS: usize = 1_000;

/// An attribute as a workspace defines it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Definition {
    /// Its key.
    pub key: String,
    /// What people see.
    pub label: String,
    /// The kinds of value that it takes.
    pub kinds: Vec<ValueKind>,
    /// The only texts that it takes; `koru.color` takes `#rrggbb` besides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub options: Option<Vec<String>>,
    /// Whether Koru defines it.
    pub built_in: bool,
}

impl Definition {
    /// The definition as the model checks values by it.
    #[must_use]
    pub fn into_model(self) -> koru_model::value::Definition {
        koru_model::value::Definition {
            takes_rgb: self.built_in && self.key == "koru.color",
            key: self.key,
            label: self.label,
            kinds: self.kinds,
            options: self.options,
        }
    }
}

/// An attribute as `list_attributes` shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Listed {
    /// The definition.
    #[serde(flatten)]
    pub definition: Definition,
    /// How many live nodes carry it, outside the trash.
    pub uses: u32,
}

/// The attributes that every workspace has.
#[must_use]
pub fn built_in() -> Vec<Definition> {
    koru_model::value::built_in()
        .into_iter()
        .map(|found| Definition {
            key: found.key,
            label: found.label,
            kinds: found.kinds,
            options: found.options,
            built_in: true,
        })
        .collect()
}

/// All definitions of a workspace by key, the built-in ones included.
///
/// # Errors
/// Those of the storage.
pub fn definitions(
    connection: &Connection,
    workspace: WorkspaceKey,
) -> Result<BTreeMap<String, Definition>, ServiceError> {
    let mut all: BTreeMap<_, _> =
        built_in().into_iter().map(|found| (found.key.clone(), found)).collect();
    let mut statement = connection
        .prepare_cached("SELECT key, label, kinds, options FROM attribute WHERE workspace = ?1")?;
    let mut rows = statement.query([workspace.0])?;
    while let Some(row) = rows.next()? {
        let key: String = row.get(0)?;
        let kinds: String = row.get(2)?;
        let options: Option<String> = row.get(3)?;
        let definition = Definition {
            key: key.clone(),
            label: row.get(1)?,
            kinds: serde_json::from_str(&kinds)?,
            options: options.map(|options| serde_json::from_str(&options)).transpose()?,
            built_in: false,
        };
        all.insert(key, definition);
    }
    Ok(all)
}

/// All attributes of a workspace by key, with their uses.
///
/// # Errors
/// Those of the storage.
pub fn list(connection: &Connection, workspace: WorkspaceKey) -> Result<Vec<Listed>, ServiceError> {
    let mut statement = connection.prepare_cached(
        "WITH RECURSIVE trashed (k) AS (
           SELECT k FROM document WHERE workspace = ?1 AND trashed_at IS NOT NULL
           UNION
           SELECT d.k FROM document d JOIN trashed t ON d.workspace = ?1 AND d.parent = t.k
         )
         SELECT u.key, count(*) FROM attribute_use u JOIN document d ON d.k = u.document
         WHERE d.workspace = ?1 AND d.k NOT IN (SELECT k FROM trashed) GROUP BY u.key",
    )?;
    let uses: BTreeMap<String, u32> = statement
        .query_map([workspace.0], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<Result<_, _>>()?;
    let listed = definitions(connection, workspace)?.into_values().map(|definition| Listed {
        uses: uses.get(&definition.key).copied().unwrap_or(0),
        definition,
    });
    Ok(listed.collect())
}

/// Defines an attribute, or changes its definition; values that stand stay as they are.
///
/// # Errors
/// When the definition is none, naming every fault.
pub fn define(
    connection: &Connection,
    workspace: WorkspaceKey,
    key: &str,
    label: Option<&str>,
    kinds: &[ValueKind],
    options: Option<&[String]>,
) -> Result<(), ServiceError> {
    let problems = faults(key, label, kinds, options);
    if !problems.is_empty() {
        return Err(ServiceError::Invalid(problems));
    }
    let kinds = serde_json::to_string(kinds)?;
    let options = options.map(serde_json::to_string).transpose()?;
    connection.execute(
        "INSERT INTO attribute (workspace, key, label, kinds, options) VALUES (?1, ?2, ?3, ?4, ?5)
         ON CONFLICT (workspace, key)
         DO UPDATE SET label = excluded.label, kinds = excluded.kinds, options = excluded.options",
        (workspace.0, key, label.unwrap_or(key), kinds, options),
    )?;
    Ok(())
}

/// Removes a definition that no node uses, in the trash or not.
///
/// # Errors
/// When it is built in, unknown or used.
pub fn remove(
    connection: &Connection,
    workspace: WorkspaceKey,
    key: &str,
) -> Result<(), ServiceError> {
    let known = definitions(connection, workspace)?;
    match known.get(key) {
        None => {
            let known = known.into_keys().collect();
            return Err(ServiceError::UnknownAttribute { key: key.into(), known });
        }
        Some(found) if found.built_in => {
            return Err(ServiceError::invalid("key", "a built-in attribute cannot be removed"));
        }
        Some(_) => {}
    }
    let uses: u32 = connection.query_row(
        "SELECT count(*) FROM attribute_use u JOIN document d ON d.k = u.document
         WHERE u.key = ?2 AND d.workspace = ?1",
        (workspace.0, key),
        |row| row.get(0),
    )?;
    if uses > 0 {
        return Err(ServiceError::AttributeUsed { key: key.into(), uses });
    }
    connection
        .execute("DELETE FROM attribute WHERE workspace = ?1 AND key = ?2", (workspace.0, key))?;
    Ok(())
}

fn faults(
    key: &str,
    label: Option<&str>,
    kinds: &[ValueKind],
    options: Option<&[String]>,
) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut fault = |path: &str, reason: &str| problems.push(Problem::new(path, reason));
    if key.is_empty() || key.chars().any(|c| c.is_whitespace() || c.is_control()) {
        fault("key", "must not be empty and must hold neither spaces nor control characters");
    }
    if key.chars().count() > limits::KEY_CHARS {
        fault("key", &format!("must have at most {} characters", limits::KEY_CHARS));
    }
    if key.starts_with(BUILT_IN_PREFIX) {
        fault("key", "keys that begin with koru. are built in");
    }
    if let Some(label) = label
        && let Some(reason) = line_fault(label)
    {
        fault("label", reason);
    }
    if kinds.is_empty() {
        fault("kinds", "at least one kind of value is needed");
    }
    if kinds.iter().collect::<BTreeSet<_>>().len() < kinds.len() {
        fault("kinds", "each kind must stand there once");
    }
    if let Some(options) = options {
        if kinds != [ValueKind::Text] {
            fault("options", "only an attribute whose one kind is text can have options");
        }
        if options.is_empty() || options.len() > OPTIONS {
            fault("options", &format!("1 to {OPTIONS} options, or the field left out"));
        }
        if options.iter().collect::<BTreeSet<_>>().len() < options.len() {
            fault("options", "each option must stand there once");
        }
        for (index, option) in options.iter().enumerate() {
            if let Some(reason) = line_fault(option) {
                fault(&format!("options[{index}]"), reason);
            }
        }
    }
    problems
}

fn line_fault(text: &str) -> Option<&'static str> {
    if text.trim().is_empty() {
        Some("must not be empty")
    } else if text.chars().any(char::is_control) {
        Some("must be one line without control characters")
    } else if text.chars().count() > limits::KEY_CHARS {
        Some("must have at most 100 characters")
    } else {
        None
    }
}
