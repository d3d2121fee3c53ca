//! Frames as they come in: a length, then JSON.

use koru_model::limits;
use koru_model::protocol::wire::Request;
use serde::Deserialize;
use tokio::io::{AsyncRead, AsyncReadExt as _};

/// How much of a frame that is too long is looked at, for the call's ID.
const LOOK: usize = 64;
/// Up to which length a frame is read to its end in order to answer it.
const SKIPPED: usize = 1024 * 1024 * 1024;
/// What a frame's buffer begins with, whatever length the frame claims.
const BUFFER: usize = 64 * 1024;

/// What came in.
#[derive(Debug)]
pub(super) enum Incoming {
    /// A whole frame.
    Frame(Vec<u8>),
    /// A frame that is too long, of this length; its call, where that could be read.
    TooLong(Option<u64>, usize),
    /// The other side is gone, or no longer makes sense.
    End,
}

/// The next frame.
pub(super) async fn next(reader: &mut (impl AsyncRead + Unpin)) -> Incoming {
    let Ok(length) = reader.read_u32().await else { return Incoming::End };
    let length = length as usize;
    if length > limits::FRAME_BYTES {
        return skip(reader, length).await;
    }
    let mut bytes = Vec::with_capacity(length.min(BUFFER));
    match reader.take(length as u64).read_to_end(&mut bytes).await {
        Ok(read) if read == length => Incoming::Frame(bytes),
        _ => Incoming::End,
    }
}

async fn skip(reader: &mut (impl AsyncRead + Unpin), length: usize) -> Incoming {
    if length > SKIPPED {
        return Incoming::End;
    }
    let mut head = vec![0; LOOK];
    if reader.read_exact(&mut head).await.is_err() {
        return Incoming::End;
    }
    let mut rest = reader.take((length - LOOK) as u64);
    match tokio::io::copy(&mut rest, &mut tokio::io::sink()).await {
        Ok(read) if read == (length - LOOK) as u64 => Incoming::TooLong(leading_id(&head), length),
        _ => Incoming::End,
    }
}

/// The call's ID where the frame begins with it, as ours do.
pub(super) fn leading_id(frame: &[u8]) -> Option<u64> {
    let digits = frame.strip_prefix(br#"{"id":"#)?;
    let end = digits.iter().position(|byte| !byte.is_ascii_digit())?;
    std::str::from_utf8(digits.get(..end)?).ok()?.parse().ok()
}

/// What a frame says.
#[derive(Debug)]
pub(super) enum Message {
    /// A call.
    Request(Request),
    /// Nobody waits for this call any more.
    Cancel(u64),
    /// Neither; the call's ID, where it could be read.
    Nonsense(Option<u64>),
}

#[derive(Deserialize)]
struct Cancel {
    cancel: u64,
}

/// Reads a frame. One shape after the other: raw JSON does not pass through an untagged enum of serde.
pub(super) fn read(frame: &[u8]) -> Message {
    if let Ok(request) = serde_json::from_slice(frame) {
        return Message::Request(request);
    }
    match serde_json::from_slice(frame) {
        Ok(Cancel { cancel }) => Message::Cancel(cancel),
        Err(_) => Message::Nonsense(leading_id(frame)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_messages_of_a_client_are_told_apart() {
        let request = br#"{"id":7,"call":"list_workspaces","params":{"a":[1]}}"#;
        assert!(matches!(read(request), Message::Request(Request { id: 7, .. })));
        assert!(matches!(read(br#"{"cancel":7}"#), Message::Cancel(7)));
        assert!(matches!(read(br#"{"id":7,"call":3}"#), Message::Nonsense(Some(7))));
        assert!(matches!(read(b"\xff"), Message::Nonsense(None)));
    }

    #[tokio::test]
    async fn a_frame_that_is_too_long_is_read_past() {
        let length = limits::FRAME_BYTES + 1;
        let mut bytes = u32::try_from(length).unwrap().to_be_bytes().to_vec();
        bytes.extend(br#"{"id":12,"#);
        bytes.resize(4 + length, b' ');
        bytes.extend([0, 0, 0, 2, b'{', b'}']);
        let mut reader = bytes.as_slice();
        assert!(
            matches!(next(&mut reader).await, Incoming::TooLong(Some(12), found) if found == length)
        );
        assert!(matches!(next(&mut reader).await, Incoming::Frame(frame) if frame == b"{}"));
        assert!(matches!(next(&mut reader).await, Incoming::End));
    }
}
