//! The commands of a shell text: one pass over its tokens with a stack of open constructs.

mod operator;

use super::super::joined::Joined;
use super::super::value::{Span, Word};
use super::lex::{Lexer, Token};
use super::quote::ShellWord;
use super::{Joiner, ShellCommand};

/// Maximum depth of nested `$(...)`: each level reads its text again.
const MOST_DEPTH: u32 = 3;

/// Maximum commands of a text: far more than any real one has.
const MOST_COMMANDS: usize = 20_000;

/// An open construct.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Open {
    If,
    Loop,
    Case,
    Braces,
    Subshell,
}

/// Contexts in which words are not commands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Commands,
    /// Between `for` and `do`, with the number of words read.
    Loop(u32),
    /// Between `case` and `in`, with the number of words read.
    Case(u32),
    /// A pattern of `case`.
    Pattern(Pattern),
    /// After `function`.
    Name,
    /// Between `[[` and `]]`.
    Test,
}

/// The part of a pattern read so far.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Pattern {
    Nothing,
    /// `(` or `|`.
    Operator,
    Word,
}

/// What may come next.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    Command,
    /// After a command or a compound command: an operator follows.
    Operator,
    /// After `name()`: a compound command follows.
    Body,
}

/// The current command; spans in the shell text.
struct Current {
    words: Vec<Word>,
    span: Span,
    writes: Vec<String>,
    reads: Vec<String>,
    understood: bool,
}

/// Result of parsing a text.
pub(super) struct Read {
    pub(super) commands: Vec<ShellCommand>,
    /// Delimiters of heredocs whose lines are outside the text.
    pub(super) heredocs: Vec<String>,
    /// Whether all of it was parsed.
    understood: bool,
}

struct Reader<'a> {
    joined: &'a Joined,
    lexer: Lexer<'a>,
    commands: Vec<ShellCommand>,
    inner: Vec<Span>,
    open: Vec<Open>,
    mode: Mode,
    next: Next,
    joiner: Joiner,
    /// After `&&`, `||` or `|`: a command must follow.
    expects: bool,
    negated: bool,
    current: Option<Current>,
    /// End of the previous command, in the file.
    before: usize,
    heredocs: Vec<(String, bool)>,
    broken: bool,
}

/// Parses a shell text. `strips_tabs`: tabs before lines are ignored.
pub(super) fn read(joined: &Joined, strips_tabs: bool) -> Read {
    read_part(joined, 0..joined.text().len(), strips_tabs, 0)
}

fn read_part(joined: &Joined, span: Span, strips_tabs: bool, depth: u32) -> Read {
    let text = joined.text().get(..span.end).unwrap_or_default();
    let mut reader = Reader {
        joined,
        lexer: Lexer { text, at: span.start, strips_tabs, broken: false },
        commands: Vec::new(),
        inner: Vec::new(),
        open: Vec::new(),
        mode: Mode::Commands,
        next: Next::Command,
        joiner: Joiner::First,
        expects: false,
        negated: false,
        current: None,
        before: joined.source(span.start),
        heredocs: Vec::new(),
        broken: false,
    };
    reader.run();
    let mut commands = reader.commands;
    let mut understood = !reader.broken && (depth < MOST_DEPTH || reader.inner.is_empty());
    if understood && !reader.inner.is_empty() {
        for span in reader.inner {
            let read = read_part(joined, span, strips_tabs, depth + 1);
            understood &= read.understood && commands.len() < MOST_COMMANDS;
            commands.extend(read.commands);
            if !understood {
                break;
            }
        }
        commands.sort_by_key(|command| command.span.start);
    }
    for command in &mut commands {
        command.plain &= understood && depth == 0;
    }
    let heredocs = reader.heredocs.into_iter().map(|(name, _)| name).collect();
    Read { commands, heredocs, understood }
}

impl Reader<'_> {
    fn run(&mut self) {
        loop {
            match self.lexer.next() {
                Token::Word(word) => self.word(word),
                Token::Operator(operator, span) => self.operator(operator, &span),
                Token::End => break,
            }
            if self.commands.len() >= MOST_COMMANDS {
                self.broken = true;
                return;
            }
        }
        self.finish();
        let whole = self.open.is_empty() && self.mode == Mode::Commands && self.next != Next::Body;
        self.broken |= self.lexer.broken || !whole || self.expects;
    }

    fn word(&mut self, word: ShellWord) {
        self.inner.extend(word.inner.iter().cloned());
        match self.mode {
            Mode::Commands => self.command_word(word),
            Mode::Loop(1) if word.bare && word.text == "do" => self.mode = Mode::Commands,
            Mode::Loop(count) => self.mode = Mode::Loop(count.saturating_add(1)),
            Mode::Case(0) => self.mode = Mode::Case(1),
            Mode::Case(_) => {
                self.broken |= !word.bare || word.text != "in";
                self.mode = Mode::Pattern(Pattern::Nothing);
            }
            Mode::Pattern(Pattern::Nothing) if word.bare && word.text == "esac" => {
                self.mode = Mode::Commands;
                self.close(Open::Case, &word.span);
            }
            Mode::Pattern(before) => {
                self.broken |= before == Pattern::Word;
                self.mode = Mode::Pattern(Pattern::Word);
            }
            Mode::Name => {
                self.mode = Mode::Commands;
                self.next = Next::Body;
            }
            Mode::Test => {
                if word.bare && word.text == "]]" {
                    self.mode = Mode::Commands;
                }
                self.add(word);
            }
        }
    }

    /// A word in a position where a command may start or continue.
    fn command_word(&mut self, word: ShellWord) {
        if self.current.is_some() {
            self.add(word);
            return;
        }
        if word.bare && self.reserved(&word) {
            return;
        }
        self.broken |= self.next != Next::Command;
        self.begin(word.span.start);
        if word.bare && word.text == "[[" {
            self.mode = Mode::Test;
            self.misunderstood();
        }
        self.add(word);
    }

    fn begin(&mut self, start: usize) {
        let current = Current {
            words: Vec::new(),
            span: start..start,
            writes: Vec::new(),
            reads: Vec::new(),
            understood: !self.negated,
        };
        self.negated = false;
        self.expects = false;
        self.current = Some(current);
        self.next = Next::Operator;
    }

    fn add(&mut self, word: ShellWord) {
        if let Some(current) = &mut self.current {
            current.understood &= word.understood;
            current.span.end = word.span.end;
            current.words.push(Word { text: word.text, span: self.joined.span(&word.span) });
        }
    }

    fn misunderstood(&mut self) {
        if let Some(current) = &mut self.current {
            current.understood = false;
        }
    }

    /// Handles a reserved word; whether it was one.
    fn reserved(&mut self, word: &ShellWord) -> bool {
        let starts = self.next != Next::Operator;
        match word.text.as_str() {
            "if" if starts => self.enter(Open::If),
            "while" | "until" if starts => self.enter(Open::Loop),
            "for" | "select" if starts => {
                self.enter(Open::Loop);
                self.mode = Mode::Loop(0);
            }
            "case" if starts => {
                self.enter(Open::Case);
                self.mode = Mode::Case(0);
            }
            "{" if starts => self.enter(Open::Braces),
            "function" if starts => self.mode = Mode::Name,
            "!" if starts => {
                self.broken |= self.expects && self.joiner == Joiner::Pipe;
                self.negated = true;
            }
            // Reserved in bash, or invalid here.
            "in" | "]]" | "coproc" | "time" => self.broken = true,
            "then" | "else" | "elif" => self.between(Open::If),
            "do" => self.between(Open::Loop),
            "fi" => self.close(Open::If, &word.span),
            "done" => self.close(Open::Loop, &word.span),
            "esac" => self.close(Open::Case, &word.span),
            "}" => self.close(Open::Braces, &word.span),
            _ => return false,
        }
        true
    }

    fn enter(&mut self, open: Open) {
        self.open.push(open);
        self.next = Next::Command;
        self.expects = false;
    }

    fn between(&mut self, open: Open) {
        self.broken |= self.open.last() != Some(&open) || self.expects;
        self.next = Next::Command;
    }

    fn close(&mut self, open: Open, span: &Span) {
        self.broken |= self.open.pop() != Some(open) || self.expects;
        self.next = Next::Operator;
        self.negated = false;
        self.before = self.joined.span(span).end;
    }
}
