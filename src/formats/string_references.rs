//! String references of a file: names of build tools, CUDA headers and shared libraries in its text or strings. Only
//! strings are found here; conclusions are drawn elsewhere.

mod around;
mod bounds;
mod command;
mod comments;
mod finders;
mod found;
mod habits;
mod in_binary;
mod keys;
mod packages;
mod programs;
mod sort;
mod strings;
mod tables;
mod unloaded;
mod values;
mod words;
mod wrappers;

use serde::{Deserialize, Serialize};

use crate::base::convert::in_memory;
use found::Found;
pub use found::is_of_make;
pub use habits::UncertaintyReason;
use programs::{PROGRAM_BYTES, PROGRAMS};
use sort::HEAD_BYTES;
use sort::PLAIN_BYTES;
pub use sort::{BINARY_BYTES, SOURCE_BYTES, Sort, TEXT_BYTES};
pub use words::{BUILDING, CARGO_BUILDS, STARTS, TREE_SCRIPTS, WORDS, names_intermediate};
pub use wrappers::is_wrapper;

/// Maximum library names stored for one file. Real programs open some dozens at most.
const LIBRARIES: usize = 256;
/// Maximum bytes of such a name.
const NAME_BYTES: usize = 128;
/// Bytes of context before and after a match.
const AROUND: usize = NAME_BYTES + 32;

/// Strings found in a file, in the order of [`WORDS`]; empty for nearly all files.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StringReferences {
    /// The words, each once.
    #[serde(with = "words::numbers")]
    pub words: Vec<&'static str>,
    /// Names of shared libraries such as `libcublas.so.13`, sorted.
    pub libraries: Vec<Vec<u8>>,
    /// Names of programs that a text starts, sorted. Any names in command position: most are programs.
    pub programs: Vec<Vec<u8>>,
    /// Whether results are incomplete: more library names or more key matches than the limits.
    pub cut: bool,
    /// Why a binary may reference more than was found.
    pub habit: UncertaintyReason,
}

impl StringReferences {
    /// Whether nothing was found.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
            && self.libraries.is_empty()
            && self.programs.is_empty()
            && !self.cut
            && self.habit == UncertaintyReason::Plain
    }

    /// Whether a search could have found these: names within their limits and in order.
    pub(crate) fn is_possible(&self) -> bool {
        let fits = |names: &[Vec<u8>], most: usize, bytes: usize| {
            names.len() <= most
                && names.iter().all(|name| name.len() <= bytes)
                && names.is_sorted_by(|one, next| one < next)
        };
        fits(&self.libraries, LIBRARIES, NAME_BYTES) && fits(&self.programs, PROGRAMS, PROGRAM_BYTES)
    }

    /// Approximate size in memory, in bytes.
    pub fn kept_bytes(&self) -> usize {
        let names = self.libraries.iter().chain(&self.programs);
        let names: usize = names.map(|name| size_of::<Vec<u8>>() + name.len()).sum();
        size_of::<Self>() + self.words.len() * size_of::<&str>() + names
    }
}

/// A search of a file read as a stream, in chunks of any length. Stores a text completely, at most [`TEXT_BYTES`] or
/// [`SOURCE_BYTES`], and some hundred bytes of a binary.
pub struct Scanner {
    state: State,
    found: Found,
}

enum State {
    /// The first bytes of a file whose kind is still unknown.
    Waiting {
        head: Vec<u8>,
        size: u64,
        executable: bool,
        /// Whether it is searched if it is a text.
        plain: bool,
    },
    Text {
        text: Vec<u8>,
        size: u64,
        sort: Sort,
    },
    /// The last bytes read; positions from `next` on are not searched yet.
    Binary {
        tail: Vec<u8>,
        next: usize,
        at_start: bool,
    },
    Done,
}

impl Scanner {
    /// A search of a file of `size` bytes. `None` if it is too large.
    pub fn new(sort: Sort, size: u64) -> Option<Self> {
        let state = match sort {
            Sort::Plain => State::Waiting { head: Vec::new(), size, executable: false, plain: true },
            _ => State::of(sort, size),
        };
        (size <= sort.most()).then(|| Self { state, found: Found::default() })
    }

    /// A search of a file of this name whose kind follows from its first bytes.
    pub fn waiting(name: &[u8], size: u64, executable: bool) -> Option<Self> {
        let plain = size <= PLAIN_BYTES && Sort::is_plain(name);
        let state = State::Waiting { head: Vec::new(), size, executable, plain };
        (size <= BINARY_BYTES).then(|| Self { state, found: Found::default() })
    }

    /// Takes the next bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        match &mut self.state {
            State::Waiting { head, .. } => {
                let taken = bytes.len().min(HEAD_BYTES.saturating_sub(head.len()));
                head.extend_from_slice(&bytes[..taken]);
                if head.len() >= HEAD_BYTES {
                    self.decide();
                    self.push(&bytes[taken..]);
                }
            }
            State::Text { text, size, sort } => {
                if text.is_empty() && bytes.len() as u64 == *size {
                    let sort = *sort;
                    self.state = State::Done;
                    return self.found.search_text(bytes, sort);
                }
                let room = in_memory(sort.most()).saturating_sub(text.len());
                text.extend_from_slice(&bytes[..bytes.len().min(room)]);
            }
            State::Binary { tail, next, at_start } => {
                let found = &mut self.found;
                found.placing.get_or_insert_default().sections.push(bytes);
                // First the matches across the boundary, then those in the new bytes alone.
                tail.extend_from_slice(&bytes[..bytes.len().min(2 * AROUND)]);
                let end = tail.len().saturating_sub(AROUND);
                if *next < end {
                    found.search_binary(tail, *next..end, *at_start);
                    *next = end;
                }
                if bytes.len() > 2 * AROUND {
                    found.search_binary(bytes, AROUND..bytes.len() - AROUND, false);
                    tail.clear();
                    tail.extend_from_slice(&bytes[bytes.len() - 2 * AROUND..]);
                    (*next, *at_start) = (AROUND, false);
                } else if *next > AROUND {
                    tail.drain(..*next - AROUND);
                    (*next, *at_start) = (AROUND, false);
                }
            }
            State::Done => {}
        }
    }

    /// The strings found.
    pub fn finish(mut self) -> StringReferences {
        if matches!(self.state, State::Waiting { .. }) {
            self.decide();
        }
        match &self.state {
            State::Text { text, sort, .. } => self.found.search_text(text, *sort),
            State::Binary { tail, next, at_start } => {
                self.found.search_binary(tail, *next..tail.len(), *at_start);
            }
            State::Waiting { .. } | State::Done => {}
        }
        self.found.finish()
    }

    fn decide(&mut self) {
        let State::Waiting { head, size, executable, plain } = &mut self.state else { return };
        let head = std::mem::take(head);
        let size = *size;
        let sort = Sort::by_head(&head, *executable, *plain).filter(|sort| size <= sort.most());
        self.state = sort.map_or(State::Done, |sort| State::of(sort, size));
        self.push(&head);
    }
}

impl State {
    fn of(sort: Sort, size: u64) -> Self {
        match sort {
            Sort::Binary => Self::Binary { tail: Vec::new(), next: 0, at_start: true },
            _ => Self::Text { text: Vec::new(), size, sort },
        }
    }
}

#[cfg(test)]
mod tests;
