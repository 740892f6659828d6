//! Invariants of every parsed Dockerfile.

use super::shell::commands;
use super::value::{Dockerfile, Form, Instruction, Keyword, PieceKind, Span};
use super::{parse, word};

/// Maximum instructions whose commands are checked: each takes a pass over its text.
const COMMANDS: usize = 2000;

/// Body of a fuzz target: parses any bytes, and checks the invariants of the result.
///
/// # Panics
/// An invariant is violated.
pub fn fuzz_dockerfile(bytes: &[u8]) {
    let file = match parse(bytes) {
        Ok(file) => file,
        Err(error) => {
            assert!(error.line >= 1 && error.column >= 1, "places are counted from 1: {error}");
            let lines = bytes.split(|byte| *byte == b'\n').count();
            assert!(error.line as usize <= lines, "the place of a fault is in the file: {error}");
            return;
        }
    };
    assert_eq!(file.text().as_bytes(), bytes, "the text is what was read");
    tiles(&file);
    let mut end = 0;
    for (number, instruction) in file.instructions.iter().enumerate() {
        assert!(instruction.span.start >= end, "instructions follow each other");
        end = instruction.span.end;
        assert_eq!(instruction.line, file.position(instruction.span.start).0);
        assert!(instruction.last_line >= instruction.line);
        places(&file, instruction);
        if number < COMMANDS {
            shell(&file, number, instruction);
        }
    }
    stages(&file);
    let again = parse(bytes);
    assert!(again.is_ok_and(|again| again.instructions == file.instructions && again.pieces == file.pieces));
}

/// Pieces are contiguous, and contain all instructions.
fn tiles(file: &Dockerfile) {
    let mut at = 0;
    let mut instructions = 0;
    for piece in &file.pieces {
        assert_eq!(piece.span.start, at, "pieces have no gap");
        assert!(piece.span.end > at && file.text().is_char_boundary(piece.span.end));
        at = piece.span.end;
        if let PieceKind::Instruction(number) = piece.kind {
            assert_eq!(number, instructions, "instructions are in order");
            assert_eq!(file.instructions.get(number).map(|instruction| &instruction.span), Some(&piece.span));
            instructions += 1;
        }
    }
    assert_eq!(at, file.text().len(), "pieces reach to the end");
    assert_eq!(instructions, file.instructions.len());
}

fn inside(file: &Dockerfile, span: &Span, outer: &Span) {
    assert!(
        span.start <= span.end && outer.start <= span.start && span.end <= outer.end,
        "{span:?} in {outer:?}"
    );
    assert!(file.text().get(span.clone()).is_some(), "{span:?} cuts a character");
}

/// Parts of an instruction are inside it and in order.
fn places(file: &Dockerfile, instruction: &Instruction) {
    let all = &instruction.span;
    inside(file, &instruction.keyword_span, all);
    inside(file, &instruction.arguments, all);
    assert!(file.slice(&instruction.keyword_span).len() >= instruction.keyword.as_str().len());
    let mut at = instruction.keyword_span.end;
    for flag in &instruction.flags {
        inside(file, &flag.span, &(at..all.end));
        assert!(
            file.slice(&flag.span).starts_with('-') || file.slice(&flag.span).contains(['\'', '"', '\\'])
        );
        at = flag.span.end;
    }
    let mut at = instruction.arguments.start;
    for one in &instruction.words {
        inside(file, &one.span, &(at..instruction.arguments.end));
        at = one.span.end;
        let written = file.slice(&one.span);
        if instruction.form == Form::Shell && !written.contains('\n') {
            assert_eq!(word::unquoted(written, file.escape), one.text, "a word says what is written");
        }
        let _ = file.expand(&one.text, &|name| Some(name.to_owned()));
        let _ = file.expand_word(one, &|_| None);
    }
    let mut at = instruction.arguments.end;
    for heredoc in &instruction.heredocs {
        inside(file, &heredoc.body, &(at..all.end));
        at = heredoc.body.end;
    }
}

fn stages(file: &Dockerfile) {
    let mut next = 0;
    for (number, stage) in file.stages().iter().enumerate() {
        assert!(
            stage.from >= next && stage.body.start == stage.from + 1 && stage.body.end >= stage.body.start
        );
        assert!(stage.parent.is_none_or(|parent| parent < number), "a stage starts from an earlier one");
        next = stage.body.end;
    }
    assert_eq!(next, file.instructions.len(), "stages reach to the last instruction");
}

/// Commands lie in the instruction, and their words in them.
fn shell(file: &Dockerfile, number: usize, instruction: &Instruction) {
    let list = commands(file, number);
    assert!(list.is_empty() || instruction.keyword == Keyword::Run, "only RUN has commands");
    let mut plain_end = 0;
    for command in &list {
        if command.plain {
            assert!(command.before.start >= plain_end, "plain commands follow each other");
            plain_end = command.span.end;
        }
        inside(file, &command.span, &instruction.span);
        inside(file, &command.before, &instruction.span);
        assert!(!command.words.is_empty() || !command.plain, "a plain command has words");
        let mut at = command.span.start;
        for one in &command.words {
            inside(file, &one.span, &(at..command.span.end));
            at = one.span.end;
        }
    }
}
