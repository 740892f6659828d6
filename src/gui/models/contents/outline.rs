//! JSON and TOML as a tree: nodes with their places in the text, in the order of the text.

mod json;
mod rows;
mod toml;

use std::ops::Range;
use std::sync::Arc;

pub use self::rows::{OutlineRow, OutlineRows};
use super::TextDocument;
use super::search::{MOST_FOUND, Searched};
use crate::base::size::{grouped, human};
use crate::base::text::{counted, elide_end, printable};

/// Values of a tree: 28 MiB of nodes, and as many rows as other lists have.
const MOST_NODES: usize = 1_000_000;
/// Levels of a tree.
const MOST_DEPTH: usize = 128;
/// Characters of a value that are shown.
const SHOWN: usize = 400;

/// A language of values in values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Syntax {
    /// JSON, RFC 8259.
    Json,
    /// TOML 1.
    Toml,
}

impl Syntax {
    /// Its name.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Json => "JSON",
            Self::Toml => "TOML",
        }
    }

    /// Bytes of a text that is parsed; the parser of TOML keeps some hundred bytes for a short line meanwhile.
    pub const fn most_bytes(self) -> usize {
        match self {
            Self::Json => 8 << 20,
            Self::Toml => 4 << 20,
        }
    }

    /// The language of a file with this name.
    pub fn of_name(name: &[u8]) -> Option<Self> {
        let name = name.to_ascii_lowercase();
        let ends = |endings: &[&[u8]]| endings.iter().any(|ending| name.ends_with(ending));
        let is = |names: &[&[u8]]| names.contains(&&*name);
        if ends(&[b".json", b".ipynb", b".webmanifest"]) || is(&[b"pipfile.lock"]) {
            Some(Self::Json)
        } else if ends(&[b".toml"])
            || is(&[b"cargo.lock", b"poetry.lock", b"uv.lock", b"pdm.lock", b"pipfile"])
        {
            Some(Self::Toml)
        } else {
            None
        }
    }
}

/// Why a text has no tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutlineError {
    /// The reason, with its place.
    pub words: String,
    /// The line of the fault, from 0.
    pub line: Option<usize>,
}

/// What a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NodeKind {
    /// Members with names.
    Object,
    /// Members in order.
    List,
    /// One value.
    Scalar,
}

/// A value with its name. Nodes are in the order of the text, each before its members.
#[derive(Clone, Debug)]
struct Node {
    /// Bytes of the name in the text; empty for members of a list.
    key: (u32, u32),
    /// Bytes of the value.
    value: (u32, u32),
    /// The node after its last descendant.
    end: u32,
    /// Number of its members.
    members: u32,
    kind: NodeKind,
    depth: u8,
}

/// A tree of values over its text.
#[derive(Debug)]
pub struct Outline {
    /// The language.
    pub syntax: Syntax,
    text: Arc<TextDocument>,
    /// The root first.
    nodes: Vec<Node>,
}

impl Outline {
    /// The tree of a text.
    ///
    /// # Errors
    /// The text is not of this language, or beyond the limits of bytes, values or levels.
    pub fn parse(text: &Arc<TextDocument>, syntax: Syntax) -> Result<Self, OutlineError> {
        let all = text.all();
        if all.len() > syntax.most_bytes() {
            let most = human(syntax.most_bytes() as u64);
            let words = format!("{} of more than {most} is shown as text", syntax.title());
            return Err(OutlineError { words, line: None });
        }
        let fault = |fault: Fault| {
            let (line, column) = fault.place.unwrap_or_default();
            let place = match fault.place {
                Some(_) => format!(", line {}, column {}", grouped(line as u64), grouped(column as u64)),
                None => String::new(),
            };
            let reason = elide_end(&printable(&fault.reason.replace('\n', ", ")), SHOWN);
            let words = if fault.is_limit {
                format!("Shown as text{place}: {reason}")
            } else {
                format!("Not valid {}{place}: {reason}", syntax.title())
            };
            OutlineError { words, line: fault.place.map(|_| line.saturating_sub(1)) }
        };
        let nodes = match syntax {
            Syntax::Json => json::nodes(all),
            Syntax::Toml => toml::nodes(all),
        };
        Ok(Self { syntax, text: Arc::clone(text), nodes: nodes.map_err(fault)? })
    }

    /// Number of values, the root not counted.
    pub fn values(&self) -> usize {
        self.nodes.len().saturating_sub(1)
    }

    fn slice(&self, (start, end): (u32, u32)) -> &str {
        self.text.all().get(start as usize..end as usize).unwrap_or_default()
    }

    fn node(&self, node: usize) -> &Node {
        &self.nodes[node]
    }

    /// The members of a node.
    fn members(&self, node: usize) -> impl Iterator<Item = usize> + '_ {
        let end = self.nodes[node].end as usize;
        let mut at = node + 1;
        std::iter::from_fn(move || {
            let member = at;
            at = self.nodes.get(member).filter(|_| member < end)?.end as usize;
            Some(member)
        })
    }

    /// Whether a node has members.
    fn folds(&self, node: usize) -> bool {
        self.nodes[node].members > 0
    }

    /// The name of a node as the text has it, without the quotes of JSON where it needs none; safe to show.
    fn key(&self, node: usize) -> String {
        let key = self.slice(self.nodes[node].key);
        let bare = key.strip_prefix('"').and_then(|key| key.strip_suffix('"'));
        printable(&elide_end(bare.filter(|key| !key.contains('\\')).unwrap_or(key), SHOWN))
    }

    /// The value of a node as the text has it; of one with members their number. Safe to show.
    fn value(&self, node: usize) -> String {
        let found = self.node(node);
        match found.kind {
            NodeKind::Object => counted(u64::from(found.members), "member"),
            NodeKind::List => counted(u64::from(found.members), "item"),
            NodeKind::Scalar => printable(&elide_end(self.slice(found.value), SHOWN)),
        }
    }

    /// The line of the text with a node.
    pub fn line(&self, node: usize) -> usize {
        let found = self.node(node);
        let start = if found.key.0 == found.key.1 { found.value.0 } else { found.key.0 };
        self.text.line_at(start as usize)
    }

    /// What copying a node gives: a string of JSON without its quotes, any other value as the text has it; of a table
    /// of TOML, which may be in several places, its name.
    pub fn copied(&self, node: usize) -> String {
        let found = self.node(node);
        let value = self.slice(found.value);
        match (self.syntax, found.kind) {
            (Syntax::Json, NodeKind::Scalar) => {
                serde_json::from_str::<String>(value).unwrap_or_else(|_| value.to_owned())
            }
            (Syntax::Toml, NodeKind::Object) => self.slice(found.key).to_owned(),
            _ => value.to_owned(),
        }
    }
}

impl Searched for Outline {
    /// The nodes with this in their name or value, whatever the case of ASCII letters.
    fn find(&self, query: &str) -> Vec<usize> {
        let query = query.to_ascii_lowercase();
        let has = |range| contains(self.slice(range), &query);
        let is = |node: &Node| has(node.key) || (node.kind == NodeKind::Scalar && has(node.value));
        // The root has neither.
        let found = self.nodes.iter().enumerate().filter(|(_, node)| is(node));
        found.map(|(place, _)| place).take(MOST_FOUND).collect()
    }

    fn bytes(&self) -> usize {
        self.text.all().len()
    }
}

/// Whether `text` contains `query`, which is in lower case, whatever the case of ASCII letters.
fn contains(text: &str, query: &str) -> bool {
    let (text, query) = (text.as_bytes(), query.as_bytes());
    query.is_empty() || text.windows(query.len()).any(|part| part.eq_ignore_ascii_case(query))
}

/// Why there are no nodes.
struct Fault {
    reason: String,
    /// Line and column, from 1.
    place: Option<(usize, usize)>,
    /// Whether the text may be right.
    is_limit: bool,
}

impl Fault {
    fn at(text: &str, offset: usize, reason: &str, is_limit: bool) -> Self {
        let before = &text.as_bytes()[..offset.min(text.len())];
        let line = memchr::memchr_iter(b'\n', before).count() + 1;
        let start = memchr::memrchr(b'\n', before).map_or(0, |end| end + 1);
        let column = String::from_utf8_lossy(&before[start..]).chars().count() + 1;
        Self { reason: reason.to_owned(), place: Some((line, column)), is_limit }
    }
}

/// Nodes as they are found.
#[derive(Default)]
struct Builder {
    nodes: Vec<Node>,
    /// The nodes whose members are being found.
    open: Vec<usize>,
}

impl Builder {
    /// Adds a node to the innermost open one.
    fn add(&mut self, key: Range<usize>, value: Range<usize>, kind: NodeKind) -> Result<(), String> {
        if self.nodes.len() > MOST_NODES {
            return Err(format!("more than {} values", grouped(MOST_NODES as u64)));
        }
        if self.open.len() > MOST_DEPTH {
            return Err(format!("more than {MOST_DEPTH} levels"));
        }
        if let Some(parent) = self.open.last() {
            self.nodes[*parent].members += 1;
        }
        let place = |range: Range<usize>| {
            (u32::try_from(range.start).unwrap_or(u32::MAX), u32::try_from(range.end).unwrap_or(u32::MAX))
        };
        let end = u32::try_from(self.nodes.len() + 1).unwrap_or(u32::MAX);
        let depth = u8::try_from(self.open.len()).unwrap_or(u8::MAX);
        self.nodes.push(Node { key: place(key), value: place(value), end, members: 0, kind, depth });
        if kind != NodeKind::Scalar {
            self.open.push(self.nodes.len() - 1);
        }
        Ok(())
    }

    /// Ends the innermost open node; `end` is where its text ends, if that is one piece.
    fn close(&mut self, end: Option<usize>) {
        let all = u32::try_from(self.nodes.len()).unwrap_or(u32::MAX);
        if let Some(node) = self.open.pop().map(|open| &mut self.nodes[open]) {
            node.end = all;
            if let Some(end) = end.and_then(|end| u32::try_from(end).ok()) {
                node.value.1 = end;
            }
        }
    }
}

#[cfg(test)]
mod tests;
