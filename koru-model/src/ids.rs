//! One newtype for each kind of ID, so that none can be passed for another.
//!
//! An ID is a UUID. It is read in its hyphenated form, in any case, and written in lower case.

use std::fmt;
use std::str::FromStr;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use uuid::Uuid;

/// The text is not an ID.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a UUID in its hyphenated form")]
pub struct NotAnId;

fn parse_hyphenated(text: &str) -> Result<Uuid, NotAnId> {
    if text.len() != 36 {
        return Err(NotAnId);
    }
    Uuid::try_parse(text).map_err(|_| NotAnId)
}

macro_rules! id_type {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub Uuid);

        impl $name {
            /// The 16 bytes of the ID.
            #[must_use]
            pub fn as_bytes(&self) -> &[u8; 16] {
                self.0.as_bytes()
            }

            /// The ID that these 16 bytes spell.
            #[must_use]
            pub fn from_bytes(bytes: [u8; 16]) -> Self {
                Self(Uuid::from_bytes(bytes))
            }

            /// The ID in 22 characters of base64url, as it is kept inside the CRDT.
            #[must_use]
            pub fn to_compact(self) -> String {
                URL_SAFE_NO_PAD.encode(self.0.as_bytes())
            }

            /// Reads what [`Self::to_compact`] wrote.
            #[must_use]
            pub fn from_compact(text: &str) -> Option<Self> {
                let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
                Some(Self(Uuid::from_bytes(bytes.try_into().ok()?)))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.as_hyphenated().fmt(f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }

        impl FromStr for $name {
            type Err = NotAnId;
            fn from_str(text: &str) -> Result<Self, NotAnId> {
                parse_hyphenated(text).map(Self)
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let mut buffer = [0_u8; 36];
                serializer.serialize_str(self.0.as_hyphenated().encode_lower(&mut buffer))
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
                text.parse().map_err(D::Error::custom)
            }
        }

        impl JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }
            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({ "type": "string", "format": "uuid" })
            }
        }
    )*};
}

id_type! {
    /// Names a workspace.
    WorkspaceId;
    /// Names a document.
    DocumentId;
    /// Names a node of a document; unique within that document for ever.
    NodeId;
    /// Names a history entry.
    EntryId;
    /// Names a tag of a workspace.
    TagId;
    /// Names a file of a workspace.
    FileId;
    /// Names a local account.
    AccountId;
}

impl NodeId {
    /// The 32 lower-case hex digits of the ID, of which a tail may stand for the whole.
    #[must_use]
    pub fn hex(&self) -> String {
        self.0.as_simple().to_string()
    }
}

/// The least number of hex digits that a tail of a node ID has.
pub const TAIL_DIGITS: usize = 8;

/// How a call names a node of a given document: by its whole ID, or by a tail of it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum NodeRef {
    /// The whole ID.
    Whole(NodeId),
    /// The last hex digits of the ID, at least [`TAIL_DIGITS`], in lower case, without hyphens.
    Tail(String),
}

impl From<NodeId> for NodeRef {
    fn from(id: NodeId) -> Self {
        Self::Whole(id)
    }
}

impl fmt::Display for NodeRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole(id) => id.fmt(f),
            Self::Tail(digits) => f.write_str(digits),
        }
    }
}

impl FromStr for NodeRef {
    type Err = NotAnId;

    fn from_str(text: &str) -> Result<Self, NotAnId> {
        if let Ok(id) = text.parse() {
            return Ok(Self::Whole(id));
        }
        let is_hex = text.bytes().all(|byte| byte.is_ascii_hexdigit());
        match text.len() {
            32 if is_hex => {
                Uuid::try_parse(text).map(|id| Self::Whole(NodeId(id))).map_err(|_| NotAnId)
            }
            TAIL_DIGITS..32 if is_hex => Ok(Self::Tail(text.to_ascii_lowercase())),
            _ => Err(NotAnId),
        }
    }
}

impl Serialize for NodeRef {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for NodeRef {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        text.parse().map_err(|_| {
            D::Error::custom("not a node ID, nor a tail of one (8 or more hex digits, no hyphens)")
        })
    }
}

impl JsonSchema for NodeRef {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "NodeRef".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "format": "node" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_read_in_any_case_and_written_in_lower_case() {
        let id: NodeId = "0198C2F0-0000-7000-8000-0000000000AB".parse().unwrap();
        assert_eq!(id.to_string(), "0198c2f0-0000-7000-8000-0000000000ab");
        assert_eq!(NodeId::from_compact(&id.to_compact()), Some(id));
        for wrong in [
            "",
            "x",
            " 0198c2f0-0000-7000-8000-0000000000ab",
            "{0198c2f0-0000-7000-8000-0000000000ab}",
            "0198c2f0000070008000000000000000",
        ] {
            assert_eq!(wrong.parse::<NodeId>(), Err(NotAnId), "{wrong}");
        }
    }

    #[test]
    fn a_tail_has_eight_hex_digits_or_more() {
        assert_eq!("0000000AB".parse(), Ok(NodeRef::Tail("0000000ab".into())));
        for wrong in ["0000ab", "8000-0000000000ab", "0000000g", " 000000ab"] {
            assert_eq!(wrong.parse::<NodeRef>(), Err(NotAnId), "{wrong}");
        }
    }
}
