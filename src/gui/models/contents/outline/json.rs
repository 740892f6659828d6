//! Nodes of JSON. The parser proves the text; then its values are found without building any, so that numbers stay as
//! they are written and members in their order.

use serde::Deserialize as _;
use serde::de::IgnoredAny;

use super::{Builder, Fault, Node, NodeKind};

pub(super) fn nodes(text: &str) -> Result<Vec<Node>, Fault> {
    let mut proven = serde_json::Deserializer::from_str(text);
    IgnoredAny::deserialize(&mut proven).and_then(|_| proven.end()).map_err(|error| {
        let (line, column) = (error.line(), error.column());
        let reason = error.to_string();
        let reason = reason.strip_suffix(&format!(" at line {line} column {column}")).unwrap_or(&reason);
        Fault { reason: reason.to_owned(), place: (line > 0).then_some((line, column)), is_limit: false }
    })?;
    let bytes = text.as_bytes();
    let (mut found, mut at, mut key) = (Builder::default(), 0, None);
    while let Some(byte) = bytes.get(at) {
        let start = at;
        at += 1;
        let kind = match byte {
            b' ' | b'\n' | b'\r' | b'\t' | b',' | b':' => continue,
            b'}' | b']' => {
                found.close(Some(at));
                continue;
            }
            b'{' => NodeKind::Object,
            b'[' => NodeKind::List,
            b'"' => {
                at = end_of_string(bytes, at);
                let in_object =
                    found.open.last().is_some_and(|open| found.nodes[*open].kind == NodeKind::Object);
                if in_object && key.is_none() {
                    key = Some(start..at);
                    continue;
                }
                NodeKind::Scalar
            }
            _ => {
                while bytes
                    .get(at)
                    .is_some_and(|byte| !matches!(byte, b',' | b'}' | b']' | b' ' | b'\n' | b'\r' | b'\t'))
                {
                    at += 1;
                }
                NodeKind::Scalar
            }
        };
        found
            .add(key.take().unwrap_or(start..start), start..at, kind)
            .map_err(|reason| Fault::at(text, start, &reason, true))?;
    }
    Ok(found.nodes)
}

/// The byte after the quote that ends a string.
fn end_of_string(bytes: &[u8], mut at: usize) -> usize {
    while let Some(next) = memchr::memchr2(b'"', b'\\', &bytes[at..]) {
        if bytes[at + next] == b'"' {
            return at + next + 1;
        }
        at = (at + next + 2).min(bytes.len());
    }
    bytes.len()
}
