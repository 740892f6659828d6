//! Operators of the shell grammar.

use super::super::super::value::Span;
use super::super::lex::{Operator, Token};
use super::super::{Joiner, ShellCommand};
use super::{Mode, Next, Open, Pattern, Reader};

impl Reader<'_> {
    pub(super) fn operator(&mut self, operator: Operator, span: &Span) {
        match (self.mode, operator) {
            (_, Operator::Newline) if !self.heredocs.is_empty() => {
                for (name, strips) in std::mem::take(&mut self.heredocs) {
                    self.broken |= !self.lexer.heredoc(&name, strips);
                }
                self.operator(operator, span);
            }
            (_, Operator::Read | Operator::Write | Operator::WriteOrCopy | Operator::Heredoc(_))
                if self.mode == Mode::Commands =>
            {
                self.redirection(operator, span);
            }
            (Mode::Loop(1..), Operator::Newline | Operator::Sequence) => self.mode = Mode::Commands,
            (Mode::Case(1) | Mode::Pattern(Pattern::Nothing), Operator::Newline) => {}
            (Mode::Pattern(Pattern::Nothing), Operator::Open)
            | (Mode::Pattern(Pattern::Word), Operator::Pipe) => self.mode = Mode::Pattern(Pattern::Operator),
            (Mode::Pattern(Pattern::Word), Operator::Close) => {
                self.mode = Mode::Commands;
                self.next = Next::Command;
            }
            (Mode::Test, Operator::Heredoc(_) | Operator::Sequence | Operator::CaseEnd) => self.broken = true,
            (Mode::Test, _) => {}
            (Mode::Commands, Operator::Open) => self.parenthesis(span),
            (Mode::Commands, Operator::Close) => {
                self.finish();
                self.close(Open::Subshell, span);
            }
            (Mode::Commands, Operator::CaseEnd) => {
                self.finish();
                self.broken |= self.open.last() != Some(&Open::Case) || self.expects;
                self.joiner = Joiner::Sequence;
                self.mode = Mode::Pattern(Pattern::Nothing);
            }
            (Mode::Commands, _) => self.separator(operator),
            _ => self.broken = true,
        }
    }

    /// A separator between commands.
    fn separator(&mut self, operator: Operator) {
        self.finish();
        if self.next != Next::Operator {
            // An empty line is valid; any other operator needs a command before it.
            self.broken |= operator != Operator::Newline;
            return;
        }
        self.next = Next::Command;
        self.joiner = match operator {
            Operator::And => Joiner::And,
            Operator::Or => Joiner::Or,
            Operator::Pipe => Joiner::Pipe,
            _ => Joiner::Sequence,
        };
        self.expects = self.joiner != Joiner::Sequence;
    }

    /// A subshell begins, or a function: `name()`.
    fn parenthesis(&mut self, span: &Span) {
        if self.current.is_none() && self.next == Next::Body {
            // `function name()`.
            let at = self.lexer.at;
            if matches!(self.lexer.next(), Token::Operator(Operator::Close, _)) {
                return;
            }
            self.lexer.at = at;
        }
        let Some(current) = &self.current else {
            self.broken |= self.next == Next::Operator;
            self.enter(Open::Subshell);
            return;
        };
        let name = current.words.len() == 1 && current.span.end == span.start && current.writes.is_empty();
        let closed = matches!(self.lexer.next(), Token::Operator(Operator::Close, _));
        self.broken |= !(name && closed);
        self.current = None;
        self.next = Next::Body;
    }

    /// A redirection, which takes the next word.
    fn redirection(&mut self, operator: Operator, span: &Span) {
        let Token::Word(word) = self.lexer.next() else {
            self.broken = true;
            return;
        };
        self.inner.extend(word.inner.iter().cloned());
        if let Operator::Heredoc(strips) = operator {
            self.heredocs.push((word.text.clone(), strips));
        }
        if self.current.is_none() && self.next == Next::Operator {
            // Redirection of a compound command.
            self.before = self.joined.span(&word.span).end;
            return;
        }
        if self.current.is_none() {
            self.broken |= self.next == Next::Body;
            self.begin(span.start);
        }
        let copies = word.text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
        if let Some(current) = &mut self.current {
            current.understood &= word.understood;
            current.span.end = word.span.end;
            match operator {
                Operator::Write => current.writes.push(word.text),
                Operator::WriteOrCopy if !copies => current.writes.push(word.text),
                Operator::Read if !copies => current.reads.push(word.text),
                _ => {}
            }
        }
    }

    /// Ends the command.
    pub(super) fn finish(&mut self) {
        let Some(current) = self.current.take() else { return };
        let span = self.joined.span(&current.span);
        let before = self.before.min(span.start)..span.start;
        self.before = span.end;
        self.broken |= self.mode == Mode::Test;
        self.commands.push(ShellCommand {
            plain: current.understood && self.open.is_empty() && !current.words.is_empty(),
            words: current.words,
            span,
            joiner: self.joiner,
            before,
            writes: current.writes,
            reads: current.reads,
        });
    }
}
