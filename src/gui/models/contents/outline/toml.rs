//! Nodes of TOML. The parser orders tables by name; the places of their keys in the text give the order back, so that
//! no feature of it is needed that changes its maps everywhere.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::{Builder, Fault, Node, NodeKind};

pub(super) fn nodes(text: &str) -> Result<Vec<Node>, Fault> {
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
            for value in list.iter() {
                add(found, value.span().start..value.span().start, value)?;
            }
        }
        _ => return Ok(()),
    }
    found.close(None);
    Ok(())
}
