//! Checking all contents against their hashes, a step at a time, so that no call takes long.

use koru_model::content::{PIECE_BYTES, pieces_of, root};
use koru_model::ids::{FileId, WorkspaceId};
use koru_model::protocol::admin::VerifyFrom;
use serde::Serialize;

use super::Damage;
use crate::errors::ServiceError;
use crate::service::Service;
use crate::session::Session;
use crate::store::files::{self, Content, ContentKey};

/// How many bytes a step checks, at most.
const STEP_BYTES: u64 = 64 * 1024 * 1024;
/// How many contents a step checks, at most.
const STEP_CONTENTS: usize = 500;

/// What a step found.
#[derive(Debug, Default, Serialize)]
pub struct Step {
    /// How many bytes it checked.
    pub checked_bytes: u64,
    /// How many bytes there are in all.
    pub total_bytes: u64,
    /// Of how many contents it reached the end.
    pub contents: usize,
    /// The files whose content is not what it was.
    pub damaged: Vec<Damaged>,
    /// Where the next step goes on; none: this was the last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<VerifyFrom>,
}

/// A file whose content is not what it was.
#[derive(Debug, Serialize)]
pub struct Damaged {
    /// Its workspace.
    pub workspace_id: WorkspaceId,
    /// Its ID.
    pub file_id: FileId,
    /// Its name.
    pub name: String,
    /// What is wrong: `missing`, `length`, `damaged` or `unreadable`.
    pub problem: &'static str,
    /// Where the damaged MiB begins, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset: Option<u64>,
}

/// Checks the next contents.
///
/// # Errors
/// Those of the storage; a damaged content is no error but a finding.
pub fn step(
    service: &Service,
    session: &Session,
    from: Option<VerifyFrom>,
) -> Result<Step, ServiceError> {
    let read = |from| service.store.read(|connection| files::next_content(connection, from));
    let total_bytes = service.store.read(files::bytes)?;
    let mut step = Step { total_bytes, ..Step::default() };
    let mut at = from.unwrap_or(VerifyFrom { content: 0, piece: 0 });
    while let Some(content) = read(ContentKey(at.content))? {
        if content.key.0 != at.content {
            at = VerifyFrom { content: content.key.0, piece: 0 };
        }
        let room = STEP_BYTES.saturating_sub(step.checked_bytes) / PIECE_BYTES;
        if room == 0 || step.contents >= STEP_CONTENTS {
            step.next = Some(at);
            break;
        }
        let behind = pieces_of(content.size).min(at.piece.saturating_add(room));
        let found = check(service, &content, at.piece, behind)?;
        let start = at.piece.saturating_mul(PIECE_BYTES).min(content.size);
        step.checked_bytes += (behind * PIECE_BYTES).min(content.size) - start;
        let is_whole = behind == pieces_of(content.size);
        if let Some(damage) = found {
            step.damaged.extend(holders(service, session, &content, damage)?);
        }
        if is_whole || found.is_some() {
            step.contents += 1;
            at = VerifyFrom { content: content.key.0 + 1, piece: 0 };
        } else {
            at.piece = behind;
        }
    }
    Ok(step)
}

/// Checks some pieces of a content, and with the first of them that the values of all make its hash.
fn check(
    service: &Service,
    content: &Content,
    first: u64,
    behind: u64,
) -> Result<Option<Damage>, ServiceError> {
    let values = |first, count| {
        service.store.read(|connection| files::piece_values(connection, content.key, first, count))
    };
    let mut opened = match service.contents.open(content) {
        Ok(opened) => opened,
        Err(damage) => return still_there(service, content, damage),
    };
    if first == 0 && root(&values(0, pieces_of(content.size))?) != content.hash {
        return Ok(Some(Damage::Piece(0)));
    }
    for number in first..behind {
        let found = values(number, 1)?;
        let Some(value) = found.first() else {
            return still_there(service, content, Damage::Piece(number * PIECE_BYTES));
        };
        if let Err(damage) = opened.piece(number, value) {
            return still_there(service, content, damage);
        }
    }
    Ok(None)
}

/// A content that was removed meanwhile is not damaged.
fn still_there(
    service: &Service,
    content: &Content,
    damage: Damage,
) -> Result<Option<Damage>, ServiceError> {
    let is_named = service.store.read(|connection| files::is_content(connection, content.hash))?;
    Ok(is_named.then_some(damage))
}

fn holders(
    service: &Service,
    session: &Session,
    content: &Content,
    damage: Damage,
) -> Result<Vec<Damaged>, ServiceError> {
    let holders = service.store.read(|connection| files::holders(connection, content.key))?;
    Ok(holders
        .into_iter()
        .filter(|(workspace, ..)| session.includes(*workspace))
        .map(|(workspace_id, file_id, name)| Damaged {
            workspace_id,
            file_id,
            name,
            problem: damage.name(),
            offset: damage.offset(),
        })
        .collect())
}
