//! Bytes inside JSON: base64 with the standard alphabet and padding, and nothing else (case C64).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// Bytes that are written and read as base64: no line breaks, no url-safe letters, no missing padding.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Base64(pub Vec<u8>);

impl Serialize for Base64 {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&STANDARD.encode(&self.0))
    }
}

impl<'de> Deserialize<'de> for Base64 {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;
        impl de::Visitor<'_> for Text {
            type Value = Base64;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a text in base64")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Base64, E> {
                STANDARD.decode(text).map(Base64).map_err(|_| {
                    E::custom(
                        "no base64; use the standard alphabet with padding, without line breaks",
                    )
                })
            }
        }
        deserializer.deserialize_str(Text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Case C64.
    #[test]
    fn base64_is_strict() {
        let read = |text: &str| serde_json::from_value::<Base64>(text.into()).ok();
        assert_eq!(read(""), Some(Base64(Vec::new())));
        assert_eq!(read("+/8="), Some(Base64(vec![0xfb, 0xff])));
        for wrong in
            ["-_8=", "+/8", "+/8==", "+/8=\n", "+/\n8=", "data:;base64,+/8=", " ", "+/9=", "="]
        {
            assert_eq!(read(wrong), None, "{wrong:?}");
        }
        assert_eq!(serde_json::to_string(&Base64(vec![0xfb, 0xff])).unwrap(), "\"+/8=\"");
    }
}
