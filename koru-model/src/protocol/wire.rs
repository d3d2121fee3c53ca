//! The frames between bridge and service: a length of 32 bits (big endian), then that many bytes of JSON.
//!
//! The first frame each way is a [`Hello`]; then the bridge sends [`FromClient`] frames and the
//! service an [`Answer`] for each request, in any order.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use uuid::Uuid;

use super::error::ToolError;
use crate::ids::WorkspaceId;

/// The protocol versions that this release speaks, from the oldest to the newest.
pub const PROTOCOL: [u32; 2] = [1, 1];
/// This release.
pub const RELEASE: &str = env!("CARGO_PKG_VERSION");
/// When this release was built, in seconds since 1970 (UTC); tells builds of one release apart.
pub const BUILD: &str = env!("KORU_BUILD");

/// What each side says first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// The oldest and the newest protocol version spoken.
    pub protocol: [u32; 2],
    /// The release, as `major.minor.patch`.
    pub release: String,
    /// The build, as in [`BUILD`].
    pub build: String,
    /// The version of the store's schema; 0 where unknown (the bridge has none).
    #[serde(default)]
    pub schema: u32,
    /// Names this run of the service; empty for a bridge.
    #[serde(default)]
    pub start_id: String,
    /// The process's ID.
    #[serde(default)]
    pub pid: u32,
}

impl Hello {
    /// This release's hello, without what only the service knows.
    #[must_use]
    pub fn of_this_build() -> Self {
        Self {
            protocol: PROTOCOL,
            release: RELEASE.into(),
            build: BUILD.into(),
            schema: 0,
            start_id: String::new(),
            pid: std::process::id(),
        }
    }

    /// Whether the two have a protocol version in common.
    #[must_use]
    pub fn can_talk_to(&self, other: &Self) -> bool {
        self.protocol[0] <= other.protocol[1] && other.protocol[0] <= self.protocol[1]
    }

    /// Orders by release, then by build.
    #[must_use]
    pub fn is_newer_than(&self, other: &Self) -> bool {
        fn rank(hello: &Hello) -> (Vec<u64>, u64) {
            let release = hello.release.split('.').map(|part| part.parse().unwrap_or(0)).collect();
            (release, hello.build.parse().unwrap_or(0))
        }
        rank(self) > rank(other)
    }
}

/// What a connection may reach.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scope {
    /// The only workspaces of the connection; none: all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub workspaces: Vec<WorkspaceId>,
    /// Whether writing is refused.
    #[serde(default)]
    pub read_only: bool,
}

/// One call.
#[derive(Debug, Serialize, Deserialize)]
pub struct Request {
    /// Names the call on its connection.
    pub id: u64,
    /// A tool's name, or a person's request (`workspace.create`, `service.status`, …).
    pub call: String,
    /// The arguments.
    pub params: Box<RawValue>,
    /// Names the call for ever: the same key is never applied twice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<Uuid>,
    /// Who calls: the MCP client's name and version, or `koru-mcp`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    /// What the connection may reach.
    #[serde(default)]
    pub scope: Scope,
}

/// A frame from the bridge, after its hello.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum FromClient {
    /// Nobody waits for the answer of this call any more.
    Cancel {
        /// The call's ID.
        cancel: u64,
    },
    /// A call.
    Request(Request),
}

impl<'de> Deserialize<'de> for FromClient {
    // A derived untagged enum reads through a buffer, which a `RawValue` does not survive.
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Frame {
            cancel: Option<u64>,
            id: Option<u64>,
            call: Option<String>,
            params: Option<Box<RawValue>>,
            key: Option<Uuid>,
            client: Option<String>,
            #[serde(default)]
            scope: Scope,
        }
        let frame = Frame::deserialize(deserializer)?;
        if let Some(cancel) = frame.cancel {
            return Ok(Self::Cancel { cancel });
        }
        let missing = <D::Error as serde::de::Error>::missing_field;
        Ok(Self::Request(Request {
            id: frame.id.ok_or_else(|| missing("id"))?,
            call: frame.call.ok_or_else(|| missing("call"))?,
            params: frame.params.ok_or_else(|| missing("params"))?,
            key: frame.key,
            client: frame.client,
            scope: frame.scope,
        }))
    }
}

/// The answer to a call; exactly one of `ok` and `error` is there.
#[derive(Debug, Serialize, Deserialize)]
pub struct Answer {
    /// The call's ID.
    pub id: u64,
    /// The result, one JSON object, as ready bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ok: Option<Box<RawValue>>,
    /// The failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ToolError>,
}

/// A message as a frame: its length, then its JSON.
///
/// # Errors
/// When the message cannot be serialized, or is longer than 4 GiB.
pub fn frame<T: Serialize>(message: &T) -> Result<Vec<u8>, serde_json::Error> {
    let mut bytes = vec![0; 4];
    serde_json::to_writer(&mut bytes, message)?;
    let length = u32::try_from(bytes.len() - 4).map_err(serde::ser::Error::custom)?;
    if let Some(head) = bytes.get_mut(..4) {
        head.copy_from_slice(&length.to_be_bytes());
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_of_a_client_are_read_as_they_were_written() {
        for json in [
            r#"{"id":1,"call":"list_tags","params":{"n":1.0e3},"scope":{"read_only":false}}"#,
            r#"{"cancel":1}"#,
        ] {
            let frame: FromClient = serde_json::from_str(json).unwrap();
            assert_eq!(serde_json::to_string(&frame).unwrap(), json);
        }
        assert!(serde_json::from_str::<FromClient>(r#"{"id":1,"call":"x"}"#).is_err());
    }
}
