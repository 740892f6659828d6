//! Tokens of a shell text.

use super::super::value::Span;
use super::quote::{ShellWord, read};

/// A token.
#[derive(Debug)]
pub(super) enum Token {
    Word(ShellWord),
    Operator(Operator, Span),
    /// End of the text, or of the part that can be parsed.
    End,
}

/// A token that separates words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    Newline,
    /// `;` or `&`.
    Sequence,
    And,
    Or,
    Pipe,
    /// `;;`, `;&` or `;;&`.
    CaseEnd,
    Open,
    Close,
    /// A redirection to a file, with an optional descriptor before it.
    Write,
    /// `>&`: to a file or a descriptor.
    WriteOrCopy,
    /// A redirection that does not write to a file.
    Read,
    /// `<<`, or `<<-`, which removes tabs.
    Heredoc(bool),
}

/// Operators; longer ones precede their prefixes.
const OPERATORS: [(&str, Operator); 23] = [
    ("\n", Operator::Newline),
    (";;&", Operator::CaseEnd),
    (";;", Operator::CaseEnd),
    (";&", Operator::CaseEnd),
    (";", Operator::Sequence),
    ("&&", Operator::And),
    ("&>>", Operator::Write),
    ("&>", Operator::Write),
    ("&", Operator::Sequence),
    ("||", Operator::Or),
    ("|&", Operator::Pipe),
    ("|", Operator::Pipe),
    ("(", Operator::Open),
    (")", Operator::Close),
    ("<<<", Operator::Read),
    ("<<-", Operator::Heredoc(true)),
    ("<<", Operator::Heredoc(false)),
    ("<&", Operator::Read),
    ("<>", Operator::Read),
    ("<", Operator::Read),
    (">>", Operator::Write),
    (">|", Operator::Write),
    (">&", Operator::WriteOrCopy),
];

/// The tokens of a text, one after the other.
pub(super) struct Lexer<'a> {
    pub(super) text: &'a str,
    pub(super) at: usize,
    /// Tabs before lines are ignored.
    pub(super) strips_tabs: bool,
    /// A construct is not closed.
    pub(super) broken: bool,
}

impl<'a> Lexer<'a> {
    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// Skips white space, continuations and comments.
    fn skip(&mut self) {
        loop {
            let rest = self.rest();
            let blank = rest.len() - rest.trim_start_matches([' ', '\t']).len();
            let after = rest.get(blank..).unwrap_or_default();
            self.at += blank;
            if after.starts_with("\\\n") {
                self.at += 2;
            } else if after.starts_with('#') {
                self.at += after.find('\n').unwrap_or(after.len());
            } else if blank == 0 {
                return;
            }
        }
    }

    pub(super) fn next(&mut self) -> Token {
        self.skip();
        let rest = self.rest();
        let start = self.at;
        if rest.is_empty() || self.broken {
            return Token::End;
        }
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let after = rest.get(digits..).unwrap_or_default();
        let numbered = digits > 0 && after.starts_with(['<', '>']);
        let process = after.starts_with("<(") || after.starts_with(">(");
        if (digits == 0 || numbered) && !process {
            let found = OPERATORS.iter().find(|(written, _)| after.starts_with(written));
            let found = found.copied().or_else(|| after.starts_with('>').then_some((">", Operator::Write)));
            if let Some((written, operator)) = found {
                self.at += digits + written.len();
                return Token::Operator(operator, start..self.at);
            }
        }
        let Some(mut word) = read(self.text, start).filter(|word| word.span.end > start) else {
            self.broken = true;
            return Token::End;
        };
        self.at = word.span.end;
        // A descriptor chosen by the shell: `{name}>file`.
        word.understood &= !(self.rest().starts_with(['<', '>']) && word.text.starts_with('{'));
        Token::Word(word)
    }

    /// Skips the lines of a heredoc; returns whether it has an end.
    pub(super) fn heredoc(&mut self, name: &str, strips_tabs: bool) -> bool {
        while !self.rest().is_empty() {
            let rest = self.rest();
            let line = rest.split_once('\n').map_or(rest, |(line, _)| line);
            self.at = (self.at + line.len() + 1).min(self.text.len());
            let line = if strips_tabs || self.strips_tabs { line.trim_start_matches('\t') } else { line };
            if line == name {
                return true;
            }
        }
        false
    }
}
