//! What a search has found so far in a file.

use std::cell::OnceCell;
use std::collections::BTreeSet;

use memchr::memrchr;

use super::bounds::{self, BuildPaths, CALLS, SHARED};
use super::comments::Comments;
use super::finders::{Broken, Finder, Key, LONGEST};
use super::habits::StringScanState;
use super::keys::{BINARY, PROGRAM, TEXT};
use super::sort::Sort;
use super::strings::Strings;
use super::unloaded::{Placing, Reference};
use super::words::{CARGO_BUILDS, Word};
use super::wrappers::{Content, Shell};
use super::{
    LIBRARIES, STARTS, StringReferences, WORDS, around, command, in_binary, packages, programs, values,
};

/// Maximum key matches examined in one file. Real files have some thousands; a hostile one consists of them.
const PLACES: usize = 1 << 18;

/// Whether make runs a file with this first line, `#!` left out: `#!/usr/bin/make -f`.
pub fn is_of_make(line: &[u8]) -> bool {
    let words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    let mut names = words.map(|word| word.rsplit(|byte| *byte == b'/').next().unwrap_or_default());
    let program = names.find(|name| !matches!(*name, b"env" | b"-S"));
    matches!(program, Some(b"make" | b"gmake"))
}

/// Bytes at the start of a text without a known suffix in which a zero shows that it is data.
const FRONT: usize = 64;

/// Whether a text is a list of words, one a line: a vocabulary.
fn is_list(text: &[u8]) -> bool {
    /// Lines of which all have one word; a script has a line with an argument.
    const LINES: usize = 24;
    let lines = text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii).filter(|line| !line.is_empty());
    let is_word = |line: &[u8]| !line.iter().any(u8::is_ascii_whitespace);
    let mut count = 0;
    let mut counted = lines.inspect(|_| count += 1);
    let all = counted.all(is_word);
    all && count >= LINES
}

/// Whether a script is a Python archive: a zip archive behind the line of its interpreter. What it has is compressed.
fn is_archive(text: &[u8]) -> bool {
    let end = memchr::memchr(b'\n', text).unwrap_or(text.len());
    text.starts_with(b"#!") && text[end..].trim_ascii_start().starts_with(b"PK\x03\x04")
}

/// Whether a text of this sort may start programs that only settings name.
fn may_start_any(text: &[u8], sort: Sort) -> bool {
    // Most texts are in Python and JavaScript. Few searches suffice to leave out nearly all of them.
    let names = |calls: &[&[u8]]| calls.iter().any(|call| memchr::memmem::find(text, call).is_some());
    match sort {
        Sort::Python | Sort::Binary => false,
        Sort::JavaScript => names(&[b"child_process", b"spawn", b"execa"]),
        // The value of a setting is a program where its key says so, which is decided there.
        Sort::Script | Sort::Text | Sort::Plain => true,
        Sort::Source | Sort::Code => names(&[b"exec", b"spawn", b"ommand", b"ystem"]),
    }
}

#[derive(Default)]
pub(super) struct Found {
    /// Indexes in [`WORDS`].
    words: BTreeSet<usize>,
    /// Words of a binary that count only if it starts programs.
    maybe: BTreeSet<usize>,
    /// Words of two letters in a binary that are whole strings.
    bounded: BTreeSet<usize>,
    libraries: BTreeSet<Vec<u8>>,
    programs: BTreeSet<Vec<u8>>,
    places: usize,
    cut: bool,
    is_text: bool,
    habits: StringScanState,
    /// Of a binary.
    pub(super) placing: Option<Box<Placing>>,
}

/// Whether a word at a position counts as a reference to a program.
#[derive(Clone, Copy)]
enum Counts {
    Yes,
    /// The context is ambiguous: any program may contain such a string.
    WhenItStartsPrograms,
    /// Two letters between zeros, which are a number in programs whose strings have no end.
    WhenStringsEnd,
    No,
}

impl Counts {
    fn of(counts: bool) -> Self {
        if counts { Self::Yes } else { Self::No }
    }
}

impl Found {
    pub(super) fn finish(mut self) -> StringReferences {
        if let Some(placing) = self.placing.take() {
            placing.loaded().for_each(|reference| self.add(reference));
        }
        // Strings of Go have no end: between zeros, two letters are a number, but in what C brings.
        if self.habits.is_of_go() && !self.habits.starts_in_c() {
            self.maybe.retain(|place| WORDS.get(*place).is_some_and(|text| text.len() > 2));
        } else {
            self.words.append(&mut self.bounded);
        }
        if self.habits.starts() {
            self.words.append(&mut self.maybe);
        }
        // Every program that Go built contains it.
        if self.habits.is_of_go() && !self.habits.starts() {
            self.words.retain(|place| WORDS.get(*place) != Some(&"go"));
        }
        StringReferences {
            words: self.words.into_iter().filter_map(|place| WORDS.get(place).copied()).collect(),
            libraries: self.libraries.into_iter().collect(),
            programs: self.programs.into_iter().collect(),
            cut: self.cut,
            habit: self.habits.habit(),
        }
    }

    /// Calls `look` with the position and key of each key that begins within `range`.
    fn places(
        &mut self,
        finder: &impl Finder,
        bytes: &[u8],
        range: std::ops::Range<usize>,
        mut look: impl FnMut(&mut Self, usize, &Key),
    ) {
        let bytes = &bytes[..bytes.len().min(range.end.saturating_add(LONGEST - 1))];
        let mut at = range.start;
        loop {
            let (start, keys) = match finder.next(bytes, at) {
                Ok(Some(hit)) => hit,
                Ok(None) => return,
                Err(Broken) => {
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
            for key in keys.iter().filter(|key| bytes[start..].starts_with(key.text.as_bytes())) {
                look(self, start, key);
            }
        }
    }

    pub(super) fn search_text(&mut self, text: &[u8], sort: Sort) {
        self.is_text = true;
        self.cut |= is_archive(text);
        // Data with a text at its start is none: `ld.so.cache` names all libraries. A script may have data behind it.
        let begins_data = || text.iter().take(FRONT).any(|byte| *byte == 0);
        if sort == Sort::Plain && (begins_data() || is_list(text)) {
            return;
        }
        let comments = Comments::of(text, sort);
        let mut shell = Shell::of(text);
        shell.content = Content::of(sort);
        let strings = OnceCell::new();
        let strings = || {
            let found = strings.get_or_init(|| Strings::of(text, sort.language(text)?));
            found.as_ref()
        };
        let starts = OnceCell::new();
        let starts = || *starts.get_or_init(|| sort != Sort::JavaScript || command::may_start_programs(text));
        let (opens_only, paths) = (OnceCell::new(), BuildPaths::of(text, sort));
        let may_start = OnceCell::new();
        let may_start = || *may_start.get_or_init(|| starts() && command::starts_programs(text));
        let counts = |word: Word, place: &std::ops::Range<usize>, line: usize| {
            let string = |at: usize| strings().map(|strings: &Strings| strings.around(at));
            let of_packages =
                packages::Place { text, word: place.clone(), shell: shell.is_script, string: &string };
            if let Some(counts) = packages::builds(&of_packages, word.text) {
                return counts;
            }
            // Without a compiler it opens libraries.
            if word.text == "cffi" && *opens_only.get_or_init(|| command::opens_only(text)) {
                return false;
            }
            // Names of variables and operators are not programs. Other names may be keys.
            let is_operator = sort == Sort::JavaScript && (word.is_english() || word.text == "g++");
            // Where the strings are not certain: `for(let g=0;g<f.length;g++)`
            if sort == Sort::JavaScript
                && word.text == "g++"
                && strings().is_none()
                && around::is_increment(text, place)
            {
                return false;
            }
            let is_property = word.text == "config.log";
            let may_be_code = (is_operator || is_property || word.is_weak()) && !word.is_variable();
            if may_be_code && strings().is_some_and(|strings: &Strings| !strings.contains(place.start)) {
                return false;
            }
            if word.is_common() && strings().is_some() && !starts() {
                return false;
            }
            if let Some(counts) = paths.counts(word.text, place) {
                return counts;
            }
            if word.is_variable() {
                values::is_of_environment(text, place, line)
            } else if word.is_weak() {
                command::in_commands(text, place, line, word.text, &shell, &may_start)
            } else {
                // A file whose name tells nothing may be prose.
                let may_be_prose = word.is_english() || sort == Sort::Plain && word.is_program();
                !may_be_prose || command::in_text(text, place, line, word.text, &shell)
            }
        };
        // The line of the previous match, and whether it is a comment: lines may be long.
        let mut line = (0, None);
        let mut seen = 0;
        self.places(&*TEXT, text, 0..text.len(), |found, at, key| {
            if let Some(newline) = memrchr(b'\n', &text[seen..at]) {
                line = (seen + newline + 1, None);
            }
            seen = at;
            // A key may begin with the previous line's end.
            let own = if text[at] == b'\n' { (at + 1, None) } else { line };
            let is_comment = own.1.unwrap_or_else(|| comments.is_line(text, own.0));
            if text[at] != b'\n' {
                line.1 = Some(is_comment);
            }
            let is_documentation =
                || strings().is_some_and(|strings: &Strings| strings.is_documentation(at.max(own.0)));
            if !is_comment && !comments.contains(at.max(own.0)) && !is_documentation() {
                found.look(text, at, key, true, |word, place| Counts::of(counts(word, place, own.0)));
            }
        });
        // A key is longer than these words and begins before them, so it misses them at the start of the text.
        for (number, word) in WORDS.iter().enumerate().filter(|(_, word)| word.len() < LONGEST) {
            let place = 0..word.len();
            if text.starts_with(word.as_bytes())
                && bounds::stands_alone(text, 0, place.end, word)
                && counts(Word { text: word }, &place, 0)
            {
                self.words.insert(number);
            }
        }
        if let Some(line) = text.strip_prefix(b"#!")
            && is_of_make(line.split(|byte| *byte == b'\n').next().unwrap_or_default())
        {
            self.words.extend(WORDS.iter().position(|word| *word == "make"));
        }
        if shell.is_script
            || self.words.iter().any(|word| STARTS.contains(&WORDS[*word]))
            || may_start_any(text, sort)
        {
            self.programs = programs::started(text, &shell, &comments);
        }
    }

    /// `at_start`: the first of these bytes is the first of the file. Ranges are consecutive.
    pub(super) fn search_binary(&mut self, bytes: &[u8], range: std::ops::Range<usize>, at_start: bool) {
        if at_start && range.start == 0 {
            self.habits.begin(bytes);
        }
        if let Some(placing) = &mut self.placing {
            placing.origin = self.habits.before().wrapping_sub(range.start as u64);
        }
        let counts = |word: Word, place: &std::ops::Range<usize>| {
            if CARGO_BUILDS.contains(&word.text) {
                return Counts::Yes;
            }
            let is_command = in_binary::refers_to(bytes, place, word);
            // A format string such as `size %d` looks like a command, also in a program that starts none.
            if word.is_weak() && (is_command || in_binary::is_whole(bytes, place)) {
                Counts::WhenItStartsPrograms
            } else if is_command && word.text.len() == 2 && in_binary::is_whole(bytes, place) {
                Counts::WhenStringsEnd
            } else {
                Counts::of(is_command)
            }
        };
        self.places(&*BINARY, bytes, range.clone(), |found, at, key| {
            if key.is_habit {
                if found.habits.look(bytes, at, key.text, range.start) {
                    found.place(at, Reference::System);
                }
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
            let module = || bounds::module(bytes, at).filter(|_| self.placing.is_none());
            if let Some(name) = bounds::library(bytes, at, at_start).or_else(module) {
                self.place(at, Reference::Library(name.to_vec()));
            } else if self.placing.is_none()
                && let Some(name) = bounds::put_together(bytes, at)
            {
                self.place(at, Reference::Library(name));
            }
            return;
        }
        if CALLS.contains(&key.text) {
            for name in bounds::called_libraries(bytes, at) {
                self.place(at, Reference::Library(name));
            }
        }
        for (number, shift) in &key.words {
            let Some(text) = WORDS.get(*number).filter(|_| !self.words.contains(number)) else { continue };
            let Some(start) = at.checked_add_signed(*shift) else { continue };
            let place = start..start + text.len();
            if bytes.get(place.clone()) != Some(text.as_bytes())
                || !bounds::stands_alone(bytes, place.start, place.end, text)
                || in_binary::is_ident(bytes, &place, self.is_text)
            {
                continue;
            }
            match counts(Word { text }, &place) {
                Counts::Yes => self.place(start, Reference::Word(*number)),
                Counts::WhenItStartsPrograms => self.place(start, Reference::MaybeWord(*number)),
                Counts::WhenStringsEnd => self.place(start, Reference::BoundedWord(*number)),
                Counts::No => {}
            }
        }
    }

    /// Adds a reference, or keeps it until the section table has passed. `at` is its place in the searched bytes.
    fn place(&mut self, at: usize, reference: Reference) {
        match &mut self.placing {
            Some(placing) if placing.has_room() => placing.push(at, reference),
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
            Reference::BoundedWord(number) => {
                self.bounded.insert(number);
            }
            Reference::System => self.habits.start(),
            Reference::Library(name)
                if self.libraries.len() < LIBRARIES || self.libraries.contains(&name) =>
            {
                self.libraries.insert(name);
            }
            Reference::Library(_) => self.cut = true,
        }
    }
}
