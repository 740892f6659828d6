//! Nodes of TOML. The parser orders tables by name; the places of their keys in the text give the order back, so that
//! no feature of it is needed that changes its maps everywhere.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::{Builder, Fault, Node, NodeKind};
use crate::base::size::grouped;

/// Signs of tables and lists at most: the parser takes some 3 KiB for each table, whatever is in it.
const MOST_TABLES: usize = 64 << 10;
/// Signs of values and line ends at most: the parser takes some 200 bytes for each.
const MOST_VALUES: usize = 500_000;

pub(super) fn nodes(text: &str) -> Result<Vec<Node>, Fault> {
    if let Some((at, reason)) = excess(text) {
        return Err(Fault::at(text, at, &reason, true));
    }
    let table = DeTable::parse(text).map_err(|error| {
        let reason = error.message();
        // More levels than the parser takes: the text may be right.
        let is_limit = reason.contains("recurs");
        match error.span() {
            Some(span) => Fault::at(text, span.start, reason, is_limit),
            None => Fault { reason: reason.to_owned(), place: None, is_limit },
        }
    })?;
    let mut found = Builder::default();
    let limit = |(reason, at): (String, usize)| Fault::at(text, at, &reason, true);
    found.add(0..0, 0..text.len(), NodeKind::Object).map_err(|reason| limit((reason, 0)))?;
    members(&mut found, table.get_ref()).map_err(limit)?;
    found.close(None);
    Ok(found.nodes)
}

/// Where a text exceeds a limit, and which: what it takes to parse is known before it is parsed.
fn excess(text: &str) -> Option<(usize, String)> {
    let bytes = text.as_bytes();
    let (mut at, mut tables, mut values) = (0, 0_usize, 0_usize);
    while let Some(byte) = bytes.get(at) {
        let start = at;
        at += 1;
        match byte {
            b'#' => at = memchr::memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |end| at + end),
            b'"' | b'\'' => at = end_of_string(bytes, start),
            b'[' | b'{' | b'.' => tables += 1,
            b',' | b'=' | b'\n' => values += 1,
            _ => {}
        }
        for (count, most, what) in
            [(tables, MOST_TABLES, "tables and lists"), (values, MOST_VALUES, "values and lines")]
        {
            if count > most {
                return Some((start, format!("more than {} {what}", grouped(most as u64))));
            }
        }
    }
    None
}

/// The byte after a string that begins at `start`; a string of one line ends with the line at the latest.
fn end_of_string(bytes: &[u8], start: usize) -> usize {
    let quote = bytes[start];
    let is_long = bytes[start..].starts_with(&[quote; 3]);
    let mut at = start + if is_long { 3 } else { 1 };
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'\\' if quote == b'"' => at += 2,
            b'\n' if !is_long => return at,
            byte if *byte == quote && !is_long => return at + 1,
            byte if *byte == quote && bytes[at..].starts_with(&[quote; 3]) => return at + 3,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// Adds the members of a table; on failure why, and where in the text.
fn members(found: &mut Builder, table: &DeTable<'_>) -> Result<(), (String, usize)> {
    let mut list: Vec<_> = table.iter().collect();
    list.sort_by_key(|(key, _)| key.span().start);
    list.into_iter().try_for_each(|(key, value)| add(found, key.span(), value))
}

fn add(
    found: &mut Builder,
    key: std::ops::Range<usize>,
    value: &Spanned<DeValue<'_>>,
) -> Result<(), (String, usize)> {
    let at = key.start;
    let kind = match value.get_ref() {
        DeValue::Table(_) => NodeKind::Object,
        DeValue::Array(_) => NodeKind::List,
        _ => NodeKind::Scalar,
    };
    found.add(key, value.span(), kind).map_err(|reason| (reason, at))?;
    match value.get_ref() {
        DeValue::Table(table) => members(found, table)?,
        DeValue::Array(list) => {
            for value in list {
                add(found, value.span().start..value.span().start, value)?;
            }
        }
        _ => return Ok(()),
    }
    found.close(None);
    Ok(())
}
