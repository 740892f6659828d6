//! Detects the source at a bare path, by content and never by name.

use std::fs;
use std::io::{BufReader, Read as _};
use std::path::Path;

use serde::Deserialize;

use super::error::SourceError;
use super::files::open_regular;
use super::reference::{Reference, Transport};
use crate::base::read_at::SectionReader;
use crate::base::text::{elide_end, printable};

/// Turns a bare path into a transport; other references pass unchanged.
pub(super) fn resolve(reference: &Reference) -> Result<Reference, SourceError> {
    let mut resolved = reference.clone();
    if reference.transport != Transport::Path {
        return Ok(resolved);
    }
    let path = Path::new(&reference.location);
    let object = printable(&reference.location);
    let facts = fs::metadata(path).map_err(|error| SourceError::open(&object, error))?;
    resolved.transport = if !facts.is_dir() {
        if let Some(schema) = schema_of(path) {
            return Err(document(object, &schema));
        }
        Transport::Archive
    } else if path.join("index.json").is_file() {
        Transport::Oci
    } else if path.join("manifest.json").is_file() {
        Transport::Dir
    } else if ["etc", "usr", "bin", "lib"].iter().filter(|name| path.join(name).is_dir()).count() >= 2 {
        Transport::Rootfs
    } else {
        return Err(SourceError::NotAnImage {
            object,
            reason: "no index.json (OCI layout), no manifest.json (skopeo dir), and not a root filesystem"
                .into(),
            hint: Some("open any folder as one layer with rootfs:DIR".into()),
        });
    };
    Ok(resolved)
}

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
fn schema_of(path: &Path) -> Option<String> {
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

fn document(object: String, schema: &str) -> SourceError {
    let (what, hint) = if schema.starts_with("cutaway.report/") {
        ("a saved report", Some("pass the image that it was generated from"))
    } else if schema.starts_with("cutaway.compare/") {
        ("a saved comparison", None)
    } else {
        ("a document of Cutaway", None)
    };
    SourceError::NotAnImage {
        object,
        reason: format!("it is {what} ({})", printable(&elide_end(schema, 80))),
        hint: hint.map(str::to_owned),
    }
}
