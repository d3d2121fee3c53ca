//! `read_file`: a piece of a file's bytes, checked against its hash.

use koru_model::content::{PIECE_BYTES, pieces_of};
use koru_model::file_text;
use koru_model::limits;
use koru_model::protocol::base64::Base64;
use koru_model::protocol::tools::{FileForm, ReadFile};
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};

use super::{Damage, refusal};
use crate::errors::ServiceError;
use crate::service::Service;
use crate::session::Session;
use crate::store::files::{self, Content, Listed};

/// How many bytes are read where nothing is said.
const LENGTH: u32 = 32 * 1024;

#[derive(Serialize)]
struct Piece<'a> {
    file: &'a Listed,
    offset: u64,
    length: u64,
    total_bytes: u64,
    eof: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    base64: Option<Base64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a str>,
}

/// Reads a piece of a file.
///
/// # Errors
/// When there is no such file, the piece begins behind its end, is wanted as text and is none, or
/// when the content is damaged.
pub fn read(
    service: &Service,
    session: &Session,
    params: &ReadFile,
) -> Result<Box<RawValue>, ServiceError> {
    let length = params.length.unwrap_or(LENGTH);
    if !(1..=limits::FILE_PIECE_BYTES).contains(&length) {
        let reason = format!("must be 1 to {}", limits::FILE_PIECE_BYTES);
        return Err(ServiceError::invalid("length", reason));
    }
    let (file, content) = look_up(service, session, params)?;
    let (total, offset) = (content.size, params.offset.unwrap_or(0));
    if offset > total {
        let reason = format!("lies behind the end of the file, which is {total} bytes long");
        return Err(ServiceError::invalid("offset", reason));
    }
    let end = offset.saturating_add(length.into()).min(total);
    let bytes = |from, to| match bytes(service, &content, from, to) {
        Err(Failed::Damage(damage)) => {
            // Where the file was removed meanwhile, that is the answer.
            look_up(service, session, params)?;
            Err(refusal::damaged(params.file_id, damage))
        }
        Err(Failed::Store(error)) => Err(error),
        Ok(bytes) => Ok(bytes),
    };
    let is_text = params.form == Some(FileForm::Text);
    if !is_text {
        let base64 = Some(Base64(bytes(offset, end)?));
        let (length, eof) = (end - offset, end == total);
        let piece =
            Piece { file: &file, offset, length, total_bytes: total, eof, base64, text: None };
        return Ok(to_raw_value(&piece)?);
    }
    let low = offset.saturating_sub(file_text::BEFORE as u64);
    let high = end.saturating_add(file_text::BEHIND as u64).min(total);
    let around = bytes(low, high)?;
    let within = |at: u64| usize::try_from(at - low).unwrap_or(usize::MAX);
    let found = file_text::piece(&around, within(offset), within(end)).map_err(|fault| {
        let at = low + fault.at as u64;
        ServiceError::invalid("as", format!("byte {at} is no UTF-8; read with as: base64"))
    })?;
    let (offset, length) = (low + found.start as u64, found.text.len() as u64);
    let eof = offset + length == total;
    let text = Some(found.text);
    let piece = Piece { file: &file, offset, length, total_bytes: total, eof, base64: None, text };
    Ok(to_raw_value(&piece)?)
}

fn look_up(
    service: &Service,
    session: &Session,
    params: &ReadFile,
) -> Result<(Listed, Content), ServiceError> {
    service.store.read(|connection| {
        let workspace = session.reach(service, connection, params.workspace_id)?;
        files::one(connection, workspace, params.file_id)
    })
}

enum Failed {
    Damage(Damage),
    Store(ServiceError),
}

/// The bytes from `from` to `to`, out of pieces that are each checked as a whole.
fn bytes(service: &Service, content: &Content, from: u64, to: u64) -> Result<Vec<u8>, Failed> {
    let mut opened = service.contents.open(content).map_err(Failed::Damage)?;
    let (first, behind) = (from / PIECE_BYTES, pieces_of(to));
    let count = behind.saturating_sub(first);
    let values = service
        .store
        .read(|connection| files::piece_values(connection, content.key, first, count))
        .map_err(Failed::Store)?;
    let mut all = Vec::with_capacity(usize::try_from(to - from).unwrap_or(0));
    for number in first..behind {
        let at = usize::try_from(number - first).unwrap_or(usize::MAX);
        let start = number * PIECE_BYTES;
        let value = values.get(at).ok_or(Failed::Damage(Damage::Piece(start)))?;
        let piece = opened.piece(number, value).map_err(Failed::Damage)?;
        let within = |at: u64| {
            usize::try_from(at.saturating_sub(start)).unwrap_or(usize::MAX).min(piece.len())
        };
        all.extend_from_slice(piece.get(within(from)..within(to)).unwrap_or_default());
    }
    Ok(all)
}
