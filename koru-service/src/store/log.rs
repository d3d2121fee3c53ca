//! The update log of a document: appended in the commit of a change, packed and given keyframes later.
//!
//! Single updates are small and stay as they are (v1); packed runs and keyframes are compressed with
//! zstd at level 3, which measured 1.5 times smaller than lz4 (design, model and store, section 3).

use koru_model::revision::Chain;
use rusqlite::{Connection, OptionalExtension as _};

use super::documents::{number, signed};
use super::placing::DocumentKey;
use crate::errors::ServiceError;

const LEVEL: i32 = 3;
/// The largest state or segment that is unpacked, in bytes: far beyond what 100,000 nodes take.
const UNPACKED: usize = 1 << 30;

/// What leads to a state: a keyframe, where there is one, and the updates behind it.
#[derive(Debug, Default)]
pub struct Trail {
    /// The whole state at the keyframe.
    pub keyframe: Option<Vec<u8>>,
    /// The number of the keyframe's change; 0: none.
    pub from: u64,
    /// The updates behind it, in order.
    pub updates: Vec<Vec<u8>>,
}

/// Appends a change.
///
/// # Errors
/// Those of the storage.
pub fn append(
    connection: &Connection,
    document: DocumentKey,
    seq: u64,
    update: &[u8],
    chain: Chain,
) -> Result<(), ServiceError> {
    connection
        .prepare_cached("INSERT INTO update_log (document, seq, body) VALUES (?1, ?2, ?3)")?
        .execute((document.0, signed(seq), update))?;
    connection
        .prepare_cached("INSERT INTO change (document, seq, chain) VALUES (?1, ?2, ?3)")?
        .execute((document.0, signed(seq), chain.0))?;
    Ok(())
}

/// What leads to the state after change `seq`.
///
/// # Errors
/// Those of the storage, and when a part is missing or cannot be unpacked.
pub fn trail(
    connection: &Connection,
    document: DocumentKey,
    seq: u64,
) -> Result<Trail, ServiceError> {
    let keyframe: Option<(i64, Vec<u8>)> = connection
        .prepare_cached(
            "SELECT seq, body FROM keyframe WHERE document = ?1 AND seq <= ?2 ORDER BY seq DESC LIMIT 1",
        )?
        .query_row((document.0, signed(seq)), |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let from = keyframe.as_ref().map_or(0, |(seq, _)| seq.unsigned_abs());
    let mut trail = Trail {
        keyframe: keyframe.map(|(_, body)| unpack(&body)).transpose()?,
        from,
        updates: updates(connection, document, from, seq)?,
    };
    if trail.updates.len() as u64 != seq - from {
        return Err(ServiceError::Internal("an update of a document is missing"));
    }
    trail.updates.shrink_to_fit();
    Ok(trail)
}

/// The updates of the changes behind `from` up to `to`, packed or not.
fn updates(
    connection: &Connection,
    document: DocumentKey,
    from: u64,
    to: u64,
) -> Result<Vec<Vec<u8>>, ServiceError> {
    let mut found = Vec::new();
    let mut statement = connection.prepare_cached(
        "SELECT first, body FROM segment WHERE document = ?1 AND last > ?2 AND first <= ?3 ORDER BY first",
    )?;
    let mut rows = statement.query((document.0, signed(from), signed(to)))?;
    while let Some(row) = rows.next()? {
        let first = number(row, "first")?;
        let run = split(&unpack(&row.get::<_, Vec<u8>>("body")?)?)?;
        let wanted = (first..).zip(run).filter(|(seq, _)| *seq > from && *seq <= to);
        found.extend(wanted.map(|(_, update)| update));
    }
    let mut statement = connection.prepare_cached(
        "SELECT body FROM update_log WHERE document = ?1 AND seq > ?2 AND seq <= ?3 ORDER BY seq",
    )?;
    let rows = statement.query_map((document.0, signed(from), signed(to)), |row| row.get(0))?;
    for body in rows {
        found.push(body?);
    }
    Ok(found)
}

/// How much log there is behind the newest keyframe.
#[derive(Debug, Clone, Copy)]
pub struct Tail {
    /// The count of changes.
    pub changes: u64,
    /// Their size, in bytes.
    pub bytes: u64,
    /// The size of the newest keyframe, in bytes; 0: there is none.
    pub keyframe_bytes: u64,
}

/// How much log there is behind the newest keyframe.
///
/// # Errors
/// Those of the storage.
pub fn tail(connection: &Connection, document: DocumentKey) -> Result<Tail, ServiceError> {
    Ok(connection
        .prepare_cached(
            "SELECT count(*) AS changes, coalesce(sum(length(body)), 0) AS bytes,
               (SELECT coalesce(max(length(k.body)), 0) FROM keyframe k JOIN document d
                ON d.k = k.document AND k.seq = d.key_seq WHERE d.k = ?1) AS keyframe_bytes
             FROM update_log WHERE document = ?1",
        )?
        .query_row([document.0], |row| {
            Ok(Tail {
                changes: number(row, "changes")?,
                bytes: number(row, "bytes")?,
                keyframe_bytes: number(row, "keyframe_bytes")?,
            })
        })?)
}

/// The number of the change of the document's newest keyframe; 0: none.
///
/// # Errors
/// Those of the storage.
pub fn newest_keyframe(
    connection: &Connection,
    document: DocumentKey,
) -> Result<u64, ServiceError> {
    Ok(connection
        .prepare_cached("SELECT key_seq FROM document WHERE k = ?1")?
        .query_row([document.0], |row| number(row, "key_seq"))?)
}

/// A keyframe with the packed log in front of it, ready to be written.
#[derive(Debug)]
pub struct Packed {
    /// The number of the keyframe's change.
    pub seq: u64,
    /// The number of the first change of the segment.
    pub first: u64,
    keyframe: Vec<u8>,
    segment: Vec<u8>,
}

/// Packs a state and the updates that led to it from the last keyframe on.
///
/// # Errors
/// When the compression fails.
pub fn pack(from: u64, updates: &[Vec<u8>], state: &[u8]) -> Result<Packed, ServiceError> {
    let mut run = Vec::new();
    for update in updates {
        let length = u32::try_from(update.len())
            .map_err(|_| ServiceError::Internal("an update is larger than 4 GiB"))?;
        run.extend_from_slice(&length.to_be_bytes());
        run.extend_from_slice(update);
    }
    Ok(Packed {
        seq: from + updates.len() as u64,
        first: from + 1,
        keyframe: compress(state)?,
        segment: compress(&run)?,
    })
}

/// Writes a keyframe and its segment in place of the updates that they hold.
///
/// # Errors
/// Those of the storage.
pub fn write_packed(
    connection: &Connection,
    document: DocumentKey,
    packed: &Packed,
) -> Result<(), ServiceError> {
    let (first, last) = (signed(packed.first), signed(packed.seq));
    connection
        .prepare_cached(
            "INSERT INTO segment (document, first, last, body) VALUES (?1, ?2, ?3, ?4)",
        )?
        .execute((document.0, first, last, &packed.segment))?;
    connection
        .prepare_cached("DELETE FROM update_log WHERE document = ?1 AND seq BETWEEN ?2 AND ?3")?
        .execute((document.0, first, last))?;
    connection
        .prepare_cached("INSERT INTO keyframe (document, seq, body) VALUES (?1, ?2, ?3)")?
        .execute((document.0, last, &packed.keyframe))?;
    connection
        .prepare_cached("UPDATE document SET key_seq = ?2 WHERE k = ?1")?
        .execute((document.0, last))?;
    Ok(())
}

fn compress(bytes: &[u8]) -> Result<Vec<u8>, ServiceError> {
    zstd::bulk::compress(bytes, LEVEL)
        .map_err(|_| ServiceError::Internal("a state could not be compressed"))
}

fn unpack(bytes: &[u8]) -> Result<Vec<u8>, ServiceError> {
    zstd::stream::decode_all(bytes)
        .ok()
        .filter(|unpacked| unpacked.len() <= UNPACKED)
        .ok_or(ServiceError::Internal("a packed part of the log is damaged"))
}

/// The updates of an unpacked segment.
fn split(run: &[u8]) -> Result<Vec<Vec<u8>>, ServiceError> {
    let damaged = || ServiceError::Internal("a packed part of the log is damaged");
    let mut found = Vec::new();
    let mut rest = run;
    while !rest.is_empty() {
        let (length, tail) = rest.split_first_chunk::<4>().ok_or_else(damaged)?;
        let length = usize::try_from(u32::from_be_bytes(*length)).map_err(|_| damaged())?;
        let (update, tail) = tail.split_at_checked(length).ok_or_else(damaged)?;
        found.push(update.to_vec());
        rest = tail;
    }
    Ok(found)
}
