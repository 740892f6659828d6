//! YAML to documents with positions. Aliases are expanded within [`EXPANDED_BYTES`], merge keys (`<<`) are resolved.

use hashbrown::{HashMap, HashSet};
use saphyr_parser::{Event, Parser, ScalarStyle, ScanError, Span};

use super::node::{Entry, Node, Position, Value};
use super::{DOCUMENTS, EXPANDED_BYTES, FileError, NESTING};

/// Parses all documents of a stream.
pub(super) fn parse(text: &str) -> Result<Vec<Node>, FileError> {
    let mut builder = Builder::default();
    let mut parser = Parser::new_from_str(text.strip_prefix('\u{feff}').unwrap_or(text));
    while let Some(event) = parser.next_event() {
        let (event, span) = event.map_err(|error| syntax(&error))?;
        builder.take(&event, span)?;
    }
    Ok(builder.documents)
}

fn syntax(error: &ScanError) -> FileError {
    let at = error.marker();
    let at = Position { line: at.line().max(1), column: at.col() + 1 };
    FileError::Syntax { at, message: error.info().to_owned() }
}

/// An unfinished list or map.
struct Open {
    at: Position,
    anchor: usize,
    kind: Kind,
    bytes: usize,
}

enum Kind {
    List(Vec<Node>),
    Map { entries: Vec<Entry>, key: Option<(String, Position)> },
}

#[derive(Default)]
struct Builder {
    documents: Vec<Node>,
    open: Vec<Open>,
    /// Values with an anchor, and the bytes that a copy takes.
    anchors: HashMap<usize, (Node, usize)>,
    bytes: usize,
}

/// Bytes that a value takes besides its text, roughly.
const NODE_BYTES: usize = size_of::<Entry>();

impl Builder {
    fn take(&mut self, event: &Event<'_>, span: Span) -> Result<(), FileError> {
        let at = Position { line: span.start.line().max(1), column: span.start.col() + 1 };
        match event {
            Event::Scalar(text, style, anchor, _) => {
                let quoted = *style != ScalarStyle::Plain;
                let value = match &**text {
                    "" | "~" | "null" | "Null" | "NULL" if !quoted => Value::Null,
                    text => Value::Scalar { text: text.to_owned(), quoted },
                };
                let bytes = NODE_BYTES + text.len();
                self.count(bytes, at)?;
                self.push(Node { at, value }, *anchor, bytes, at)
            }
            Event::SequenceStart(anchor, _) => self.start(at, *anchor, Kind::List(Vec::new())),
            Event::MappingStart(anchor, _) => {
                self.start(at, *anchor, Kind::Map { entries: Vec::new(), key: None })
            }
            Event::SequenceEnd | Event::MappingEnd => self.end(at),
            Event::Alias(anchor) => {
                let Some((node, bytes)) = self.anchors.get(anchor).cloned() else {
                    // An alias inside its own value has no end.
                    return Err(FileError::Syntax {
                        at,
                        message: "alias of a value that contains it".into(),
                    });
                };
                self.count(bytes, at)?;
                self.push(node, 0, bytes, at)
            }
            Event::DocumentStart(_) => {
                self.anchors.clear();
                if self.documents.len() >= DOCUMENTS {
                    Err(FileError::TooManyDocuments { at })
                } else {
                    Ok(())
                }
            }
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => Ok(()),
        }
    }

    fn start(&mut self, at: Position, anchor: usize, kind: Kind) -> Result<(), FileError> {
        if self.open.len() >= NESTING {
            return Err(FileError::TooDeep { at });
        }
        self.count(NODE_BYTES, at)?;
        self.open.push(Open { at, anchor, kind, bytes: NODE_BYTES });
        Ok(())
    }

    fn count(&mut self, bytes: usize, at: Position) -> Result<(), FileError> {
        self.bytes = self.bytes.saturating_add(bytes);
        if self.bytes > EXPANDED_BYTES { Err(FileError::Expanded { at }) } else { Ok(()) }
    }

    fn end(&mut self, at: Position) -> Result<(), FileError> {
        let Some(open) = self.open.pop() else { return Ok(()) };
        let value = match open.kind {
            Kind::List(items) => Value::List(items),
            Kind::Map { entries, .. } => Value::Map(merged(entries)),
        };
        self.push(Node { at: open.at, value }, open.anchor, open.bytes, at)
    }

    /// Adds a finished value that takes `bytes`.
    fn push(&mut self, node: Node, anchor: usize, bytes: usize, at: Position) -> Result<(), FileError> {
        if anchor > 0 {
            self.count(bytes, at)?;
            self.anchors.insert(anchor, (node.clone(), bytes));
        }
        let depth = self.open.len();
        let Some(open) = self.open.last_mut() else {
            self.documents.push(node);
            return Ok(());
        };
        // An alias may nest values deeper than the events do.
        if depth + nesting(&node) > NESTING {
            return Err(FileError::TooDeep { at });
        }
        open.bytes = open.bytes.saturating_add(bytes);
        match &mut open.kind {
            Kind::List(items) => items.push(node),
            Kind::Map { entries, key } => match key.take() {
                Some((key, at)) => entries.push(Entry { key, at, node }),
                None => *key = Some((node.text().unwrap_or_default().to_owned(), at)),
            },
        }
        Ok(())
    }
}

fn nesting(node: &Node) -> usize {
    let below = match &node.value {
        Value::Null | Value::Scalar { .. } => return 0,
        Value::List(items) => items.iter().map(nesting).max(),
        Value::Map(entries) => entries.iter().map(|entry| nesting(&entry.node)).max(),
    };
    below.unwrap_or(0) + 1
}

/// The entries of a map with those of its merge keys, which do not replace its own.
fn merged(entries: Vec<Entry>) -> Vec<Entry> {
    if !entries.iter().any(|entry| entry.key == "<<") {
        return entries;
    }
    let (merges, mut own): (Vec<Entry>, Vec<Entry>) =
        entries.into_iter().partition(|entry| entry.key == "<<");
    for merge in merges {
        let maps = match merge.node.value {
            Value::Map(entries) => vec![entries],
            Value::List(items) => items.into_iter().map(|item| item.entries().to_vec()).collect(),
            Value::Null | Value::Scalar { .. } => Vec::new(),
        };
        let mut known: HashSet<String> = own.iter().map(|entry| entry.key.clone()).collect();
        own.extend(maps.into_iter().flatten().filter(|entry| known.insert(entry.key.clone())));
    }
    own
}
