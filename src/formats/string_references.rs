//! String references of a file: names of build tools, CUDA headers and shared libraries in its text or strings. Only
//! strings are found here; conclusions are drawn elsewhere.

mod command;
mod habits;
mod keys;
mod sort;
mod unloaded;
mod words;

use std::collections::BTreeSet;

use memchr::memrchr;
use serde::{Deserialize, Serialize};

use crate::base::convert::in_memory;
use habits::StringScanState;
pub use habits::UncertaintyReason;
use keys::{BINARY, Finder, Key, LONGEST, PROGRAM, TEXT};
use sort::HEAD_BYTES;
pub use sort::{BINARY_BYTES, Sort, TEXT_BYTES};
use unloaded::SectionTable;
use words::{SHARED, Word};
pub use words::{STARTS, WORDS};

/// Maximum library names stored for one file. Real programs open some dozens at most.
const LIBRARIES: usize = 256;
/// Maximum bytes of such a name.
const NAME_BYTES: usize = 128;
/// Maximum key matches examined in one file. Real files have some thousands; a hostile one consists of them.
const PLACES: usize = 1 << 16;
/// Maximum references whose section is determined at the end of a file; the others count wherever they are.
const PLACED: usize = 1 << 12;
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
            && !self.cut
            && self.habit == UncertaintyReason::Plain
    }

    /// Whether a search could have found these: names within their limits and in order.
    pub(crate) fn is_possible(&self) -> bool {
        self.libraries.len() <= LIBRARIES
            && self.libraries.iter().all(|name| name.len() <= NAME_BYTES)
            && self.libraries.is_sorted_by(|one, next| one < next)
    }

    /// Approximate size in memory, in bytes.
    pub fn kept_bytes(&self) -> usize {
        let names: usize = self.libraries.iter().map(|name| size_of::<Vec<u8>>() + name.len()).sum();
        size_of::<Self>() + self.words.len() * size_of::<&str>() + names
    }
}

/// A search of a file read as a stream, in chunks of any length. Stores a text completely, at most [`TEXT_BYTES`], and
/// some hundred bytes of a binary.
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
    },
    Text {
        text: Vec<u8>,
        size: u64,
        remarks: bool,
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
        (size <= sort.most()).then(|| Self { state: State::of(sort, size), found: Found::default() })
    }

    /// A search of a file whose kind follows from its first bytes.
    pub fn waiting(size: u64, executable: bool) -> Option<Self> {
        let state = State::Waiting { head: Vec::new(), size, executable };
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
            State::Text { text, size, remarks } => {
                if text.is_empty() && bytes.len() as u64 == *size {
                    let remarks = *remarks;
                    self.state = State::Done;
                    return self.found.search_text(bytes, remarks);
                }
                let room = in_memory(TEXT_BYTES).saturating_sub(text.len());
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
            State::Text { text, remarks, .. } => self.found.search_text(text, *remarks),
            State::Binary { tail, next, at_start } => {
                self.found.search_binary(tail, *next..tail.len(), *at_start);
            }
            State::Waiting { .. } | State::Done => {}
        }
        self.found.finish()
    }

    fn decide(&mut self) {
        let State::Waiting { head, size, executable } = &mut self.state else { return };
        let head = std::mem::take(head);
        let size = *size;
        let sort = Sort::by_head(&head, *executable).filter(|sort| size <= sort.most());
        self.state = sort.map_or(State::Done, |sort| State::of(sort, size));
        self.push(&head);
    }
}

impl State {
    fn of(sort: Sort, size: u64) -> Self {
        match sort {
            Sort::Binary => Self::Binary { tail: Vec::new(), next: 0, at_start: true },
            _ => Self::Text { text: Vec::new(), size, remarks: sort == Sort::Script },
        }
    }
}

#[derive(Default)]
struct Found {
    /// Indexes in [`WORDS`].
    words: BTreeSet<usize>,
    /// Words of a binary that count only if it starts programs.
    maybe: BTreeSet<usize>,
    libraries: BTreeSet<Vec<u8>>,
    places: usize,
    cut: bool,
    habits: StringScanState,
    /// Of a binary.
    placing: Option<Box<Placing>>,
}

/// References in an ELF file, with their offsets: those in sections that are not loaded are removed at the end.
#[derive(Default)]
struct Placing {
    sections: SectionTable,
    references: Vec<(u64, Reference)>,
    /// Offset in the file of the bytes that are searched.
    origin: u64,
}

/// What a binary refers to.
enum Reference {
    /// Index in [`WORDS`].
    Word(usize),
    /// The same, if the binary starts programs.
    MaybeWord(usize),
    Library(Vec<u8>),
}

/// Whether a word at a position counts as a reference to a program.
#[derive(Clone, Copy)]
enum Counts {
    Yes,
    /// The context is ambiguous: any program may contain such a string.
    WhenItStartsPrograms,
    No,
}

impl Counts {
    fn of(counts: bool) -> Self {
        if counts { Self::Yes } else { Self::No }
    }
}

impl Found {
    fn finish(mut self) -> StringReferences {
        if let Some(placing) = self.placing.take() {
            let unloaded = placing.sections.unloaded();
            for (at, reference) in placing.references {
                if !unloaded.iter().any(|section| section.contains(&at)) {
                    self.add(reference);
                }
            }
        }
        if self.habits.starts() {
            self.words.append(&mut self.maybe);
        }
        StringReferences {
            words: self.words.into_iter().filter_map(|place| WORDS.get(place).copied()).collect(),
            libraries: self.libraries.into_iter().collect(),
            cut: self.cut,
            habit: self.habits.habit(),
        }
    }

    /// Calls `look` with the position and key of each key that begins within `range`.
    fn places(
        &mut self,
        finder: &Finder,
        bytes: &[u8],
        range: std::ops::Range<usize>,
        mut look: impl FnMut(&mut Self, usize, &Key),
    ) {
        let bytes = &bytes[..bytes.len().min(range.end.saturating_add(LONGEST - 1))];
        let mut at = range.start;
        loop {
            let (start, key) = match finder.next(bytes, at.min(bytes.len())) {
                Ok(Some(hit)) => hit,
                Ok(None) => return,
                Err(keys::Broken) => {
                    self.cut = true;
                    return;
                }
            };
            if start >= range.end {
                return;
            }
            self.places += 1;
            if self.places > PLACES {
                self.cut = true;
                return;
            }
            at = start + 1;
            look(self, start, key);
        }
    }

    fn search_text(&mut self, text: &[u8], remarks: bool) {
        let shell = words::is_shell(text);
        let counts = |word: Word, place: &std::ops::Range<usize>, line: usize| {
            if word.text == "CC" {
                command::is_of_environment(text, place, line)
            } else if word.is_weak() {
                command::in_commands(text, place, line, word.text, shell)
            } else {
                !word.is_english() || command::in_text(text, place, line, word.text)
            }
        };
        for finder in &*TEXT {
            // The line of the previous match, and whether it is a comment: lines may be long.
            let mut line = (0, None);
            let mut seen = 0;
            self.places(finder, text, 0..text.len(), |found, at, key| {
                if let Some(newline) = memrchr(b'\n', &text[seen..at]) {
                    line = (seen + newline + 1, None);
                }
                seen = at;
                // A key may begin with the previous line's end.
                let own = if text[at] == b'\n' { (at + 1, None) } else { line };
                let is_remark = own.1.unwrap_or_else(|| remarks && words::is_remark(&text[own.0..]));
                if text[at] != b'\n' {
                    line.1 = Some(is_remark);
                }
                if !is_remark {
                    found.look(text, at, key, true, |word, place| Counts::of(counts(word, place, own.0)));
                }
            });
        }
        // A key is longer than these words and begins before them, so it misses them at the start of the text.
        for (number, word) in WORDS.iter().enumerate().filter(|(_, word)| word.len() < LONGEST) {
            let place = 0..word.len();
            if text.starts_with(word.as_bytes())
                && words::stands_alone(text, 0, place.end, word)
                && counts(Word { text: word }, &place, 0)
            {
                self.words.insert(number);
            }
        }
    }

    /// `at_start`: the first of these bytes is the first of the file. Ranges are consecutive.
    fn search_binary(&mut self, bytes: &[u8], range: std::ops::Range<usize>, at_start: bool) {
        if at_start && range.start == 0 {
            self.habits.begin(bytes);
        }
        if let Some(placing) = &mut self.placing {
            placing.origin = self.habits.before().wrapping_sub(range.start as u64);
        }
        let counts = |word: Word, place: &std::ops::Range<usize>| {
            let is_command = command::in_binary(bytes, place, word);
            // A format string such as `size %d` looks like a command, also in a program that starts none.
            if word.is_weak() && (is_command || command::is_whole(bytes, place)) {
                Counts::WhenItStartsPrograms
            } else {
                Counts::of(is_command)
            }
        };
        self.places(&BINARY, bytes, range.clone(), |found, at, key| {
            if key.is_habit {
                found.habits.look(bytes, at, key.text, range.start);
            } else {
                found.look(bytes, at, key, at_start, counts);
            }
        });
        if let Some(from) = self.habits.program(&range) {
            for finder in &*PROGRAM {
                self.places(finder, bytes, from..range.end, |found, at, key| {
                    found.look(bytes, at, key, at_start, counts);
                });
            }
        }
        self.habits.passed(range.len());
    }

    fn look(
        &mut self,
        bytes: &[u8],
        at: usize,
        key: &Key,
        at_start: bool,
        counts: impl Fn(Word, &std::ops::Range<usize>) -> Counts,
    ) {
        if key.text == SHARED {
            if let Some(name) = words::library(bytes, at, at_start) {
                self.place(at, Reference::Library(name.to_vec()));
            }
            return;
        }
        for (number, shift) in &key.words {
            let Some(text) = WORDS.get(*number).filter(|_| !self.words.contains(number)) else { continue };
            let Some(start) = at.checked_add_signed(*shift) else { continue };
            let place = start..start + text.len();
            if bytes.get(place.clone()) != Some(text.as_bytes())
                || !words::stands_alone(bytes, place.start, place.end, text)
                || command::is_ident(bytes, &place)
            {
                continue;
            }
            match counts(Word { text }, &place) {
                Counts::Yes => self.place(start, Reference::Word(*number)),
                Counts::WhenItStartsPrograms => self.place(start, Reference::MaybeWord(*number)),
                Counts::No => {}
            }
        }
    }

    /// Adds a reference, or keeps it until the section table has passed. `at` is its place in the searched bytes.
    fn place(&mut self, at: usize, reference: Reference) {
        match &mut self.placing {
            Some(placing) if placing.sections.is_known() && placing.references.len() < PLACED => {
                placing.references.push((placing.origin.wrapping_add(at as u64), reference));
            }
            _ => self.add(reference),
        }
    }

    fn add(&mut self, reference: Reference) {
        match reference {
            Reference::Word(number) => {
                self.words.insert(number);
            }
            Reference::MaybeWord(number) => {
                self.maybe.insert(number);
            }
            Reference::Library(name)
                if self.libraries.len() < LIBRARIES || self.libraries.contains(&name) =>
            {
                self.libraries.insert(name);
            }
            Reference::Library(_) => self.cut = true,
        }
    }
}

#[cfg(test)]
mod tests;
