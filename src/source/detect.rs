//! Recognises JSON documents, which may be given in place of an image.

use std::io::{BufReader, Read as _};
use std::path::Path;

use serde::Deserialize;

use super::files::open_regular;
use crate::base::read_at::SectionReader;

/// Bytes that distinguish a JSON document from a tar, whose header fields end in zero bytes.
const HEAD_BYTES: usize = 512;

/// Whether a regular file begins like a JSON document: not an archive, but possibly a saved report.
pub fn is_json(path: &Path) -> bool {
    let Ok(section) = open_regular(path) else { return false };
    let mut head = [0; HEAD_BYTES];
    let count = section.read_full_at(&mut head, 0).unwrap_or(0);
    let head = head.get(..count).unwrap_or_default();
    head.trim_ascii_start().starts_with(b"{") && !head.contains(&0)
}

/// Bytes of a document searched for its schema.
const DOCUMENT_BYTES: u64 = 512 << 20;

/// The kind of a document of Cutaway; `None` for anything else.
pub(super) fn schema_of(path: &Path) -> Option<String> {
    #[derive(Deserialize)]
    struct Head {
        schema: String,
    }
    if !is_json(path) {
        return None;
    }
    let reader = SectionReader::new(open_regular(path).ok()?).take(DOCUMENT_BYTES);
    let head: Head = serde_json::from_reader(BufReader::new(reader)).ok()?;
    head.schema.starts_with("cutaway.").then_some(head.schema)
}
