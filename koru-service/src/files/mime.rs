//! What a file is: by its content first, then by its name.

use mime_guess::{Mime, mime};

/// How much of the beginning of a content is looked at, in bytes.
pub const HEAD_BYTES: usize = 8 * 1024;

/// The type of a file, by the beginning of its content and by its name.
///
/// The content decides. The name is believed where it says the same more exactly (a zip that is an
/// e-book), and where the content has no mark of its own, as long as it does not contradict: what
/// reads as text is no picture, and what holds zero bytes is no text.
#[must_use]
pub fn of(head: &[u8], name: &str) -> String {
    let named = mime_guess::from_path(name.rsplit(['/', '\\']).next().unwrap_or(name)).first();
    let Some(found) = infer::get(head) else {
        return by_name(head, named);
    };
    let found = found.mime_type();
    let is_finer = |named: &Mime| match found {
        "application/zip" => is_container(named),
        "text/xml" => is_xml(named),
        "text/html" => named.essence_str() == "application/xhtml+xml",
        _ => false,
    };
    match named {
        Some(named) if is_finer(&named) => named.essence_str().to_owned(),
        _ => found.to_owned(),
    }
}

fn by_name(head: &[u8], named: Option<Mime>) -> String {
    let plain = if is_text(head) { mime::TEXT_PLAIN } else { mime::APPLICATION_OCTET_STREAM };
    let believed = named.filter(|named| {
        head.is_empty()
            || if is_text(head) {
                says_text(named)
            } else {
                !head.contains(&0) || !says_text(named)
            }
    });
    believed.unwrap_or(plain).essence_str().to_owned()
}

/// Whether the beginning of a content is UTF-8 without U+0000; a character may be cut at its end.
fn is_text(head: &[u8]) -> bool {
    let is_utf8 = match std::str::from_utf8(head) {
        Ok(_) => true,
        Err(error) => error.error_len().is_none() && head.len() >= HEAD_BYTES,
    };
    is_utf8 && !head.contains(&0)
}

fn says_text(named: &Mime) -> bool {
    const TEXTS: [&str; 14] = [
        "application/json",
        "application/javascript",
        "application/ecmascript",
        "application/xml",
        "application/toml",
        "application/yaml",
        "application/x-yaml",
        "application/sql",
        "application/x-sql",
        "application/x-sh",
        "application/x-tex",
        "application/rtf",
        "application/x-subrip",
        "application/postscript",
    ];
    named.type_() == mime::TEXT
        || is_xml(named)
        || named.suffix() == Some(mime::JSON)
        || TEXTS.contains(&named.essence_str())
}

fn is_xml(named: &Mime) -> bool {
    named.suffix() == Some(mime::XML)
}

/// Types that are zip archives inside.
fn is_container(named: &Mime) -> bool {
    let name = named.essence_str();
    name.starts_with("application/vnd.openxmlformats-officedocument.")
        || name.starts_with("application/vnd.oasis.opendocument.")
        || name.starts_with("application/vnd.ms-")
        || named.suffix().is_some_and(|suffix| suffix == "zip")
        || ["application/java-archive", "application/vnd.android.package-archive"].contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Case C63: text with a binary ending, binary with `.md`.
    #[test]
    fn the_content_decides_and_the_name_helps() {
        const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR";
        const ZIP: &[u8] = b"PK\x03\x04\x14\0\0\0\0\0";
        for (head, name, expected) in [
            (PNG, "a.png", "image/png"),
            (PNG, "a.md", "image/png"),
            (PNG, "", "image/png"),
            (b"%PDF-1.7\n", "notes.txt", "application/pdf"),
            (ZIP, "a.zip", "application/zip"),
            (ZIP, "a.bin", "application/zip"),
            (
                ZIP,
                "a.docx",
                "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
            ),
            (ZIP, "a.png", "application/zip"),
            (b"# Notes\n", "notes.md", "text/markdown"),
            (b"# Notes\n", "notes.png", "text/plain"),
            (b"# Notes\n", "notes", "text/plain"),
            ("résumé".as_bytes(), "日本 🎉", "text/plain"),
            (b"{\"a\": 1}", "a.json", "application/json"),
            (b"<svg xmlns='x'/>", "a.svg", "image/svg+xml"),
            (b"<?xml version='1.0'?><svg/>", "a.svg", "image/svg+xml"),
            (b"<?xml version='1.0'?><a/>", "a.txt", "text/xml"),
            (b"\x00\x01\x02\x03", "a.md", "application/octet-stream"),
            (b"\x00\x01\x02\x03", "a", "application/octet-stream"),
            (b"M\xfcller;7\n", "latin.csv", "text/csv"),
            (b"", "a.png", "image/png"),
            (b"", "a", "text/plain"),
            (b"x", "../../etc/passwd", "text/plain"),
            (b"x", "a/b.csv", "text/csv"),
        ] {
            assert_eq!(of(head, name), expected, "{name}");
        }
        let mut long = vec![b'x'; HEAD_BYTES - 1];
        long.push(0xc3);
        assert_eq!(of(&long, "long"), "text/plain", "a character may be cut by the look");
        assert_eq!(of(b"x\xc3", "short"), "application/octet-stream");
    }
}
