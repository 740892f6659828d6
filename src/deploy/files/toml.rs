//! TOML to a document with positions.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::node::{Entry, Node, Position, Value};
use super::{FileError, NESTING};

/// Parses a TOML document.
pub(super) fn parse(text: &str) -> Result<Node, FileError> {
    let lines = Lines::of(text);
    let table = DeTable::parse(text).map_err(|error| {
        let at = lines.position(error.span().map_or(0, |span| span.start));
        FileError::Syntax { at, message: error.message().to_owned() }
    })?;
    let entries = entries(table.get_ref(), &lines, 0)?;
    Ok(Node { at: Position { line: 1, column: 1 }, value: Value::Map(entries) })
}

fn entries(table: &DeTable<'_>, lines: &Lines<'_>, depth: usize) -> Result<Vec<Entry>, FileError> {
    let mut entries = Vec::new();
    for (key, value) in table {
        let at = lines.position(key.span().start);
        let node = node(value, lines, depth + 1)?;
        entries.push(Entry { key: key.get_ref().to_string(), at, node });
    }
    // The parser sorts them by name.
    entries.sort_by_key(|entry| entry.at);
    Ok(entries)
}

fn node(value: &Spanned<DeValue<'_>>, lines: &Lines<'_>, depth: usize) -> Result<Node, FileError> {
    let at = lines.position(value.span().start);
    if depth > NESTING {
        return Err(FileError::TooDeep { at });
    }
    let scalar = |text: String, quoted| Value::Scalar { text, quoted };
    let value = match value.get_ref() {
        DeValue::String(text) => scalar(text.to_string(), true),
        DeValue::Integer(number) => scalar(number.as_str().to_owned(), false),
        DeValue::Float(number) => scalar(number.as_str().to_owned(), false),
        DeValue::Boolean(is) => scalar(is.to_string(), false),
        DeValue::Datetime(date) => scalar(date.to_string(), false),
        DeValue::Array(items) => {
            Value::List(items.iter().map(|item| node(item, lines, depth + 1)).collect::<Result<_, _>>()?)
        }
        DeValue::Table(table) => Value::Map(entries(table, lines, depth)?),
    };
    Ok(Node { at, value })
}

/// Line starts of a text: positions of byte offsets without counting from the start each time.
struct Lines<'a> {
    text: &'a str,
    starts: Vec<usize>,
}

impl<'a> Lines<'a> {
    fn of(text: &'a str) -> Self {
        let after = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
        Self { text, starts: std::iter::once(0).chain(after).collect() }
    }

    fn position(&self, offset: usize) -> Position {
        let line = self.starts.partition_point(|start| *start <= offset).max(1);
        let start = self.starts.get(line - 1).copied().unwrap_or(0);
        let before = self.text.get(start..offset).unwrap_or_default();
        Position { line, column: before.chars().count() + 1 }
    }
}
