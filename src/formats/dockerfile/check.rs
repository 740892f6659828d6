//! Rules for the arguments of each instruction.

use super::fault::{Fault, quoted};
use super::value::{Form, Instruction, Keyword, Span};

/// Checks an instruction against the rules of its keyword.
pub(super) fn check(instruction: &Instruction) -> Result<(), Fault> {
    let keyword = instruction.trigger.unwrap_or(instruction.keyword);
    let words = instruction.words.get(usize::from(instruction.trigger.is_some())..).unwrap_or_default();
    let name = keyword.as_str();
    let fault = |what: String| Err(Fault::new(instruction.keyword_span.start, what));
    match keyword {
        // An empty one is a shell form without a command.
        Keyword::Run | Keyword::Cmd | Keyword::Entrypoint => {}
        Keyword::Add | Keyword::Copy if words.len() < 2 => {
            return fault(format!("{name} needs a source and a destination"));
        }
        Keyword::Shell if instruction.form != Form::Exec || words.is_empty() => {
            return fault(format!("{name} needs an array of strings"));
        }
        _ if words.is_empty() => return fault(format!("{name} needs an argument")),
        Keyword::From => return from(instruction),
        Keyword::Healthcheck => {
            let kind = words.first().map(|word| word.text.to_ascii_uppercase());
            match kind.as_deref() {
                Some("CMD") if words.len() > 1 => {}
                Some("CMD") => return fault(format!("{name} CMD needs a command")),
                Some("NONE") if words.len() == 1 => {}
                Some("NONE") => return fault(format!("{name} NONE has no arguments")),
                _ => return fault(format!("{name} needs CMD or NONE")),
            }
        }
        _ => {}
    }
    Ok(())
}

fn from(instruction: &Instruction) -> Result<(), Fault> {
    match instruction.words.as_slice() {
        [_] => Ok(()),
        [_, middle, name] if middle.text.eq_ignore_ascii_case("as") => stage_name(&name.text, &name.span),
        [_, extra, ..] => Err(Fault::new(extra.span.start, "FROM takes an image and optionally AS NAME")),
        [] => Err(Fault::new(instruction.keyword_span.start, "FROM needs an image")),
    }
}

fn stage_name(name: &str, span: &Span) -> Result<(), Fault> {
    let rest = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if name.starts_with(|c: char| c.is_ascii_alphabetic()) && name.chars().all(rest) {
        return Ok(());
    }
    Err(Fault::new(span.start, format!("{} is not a stage name", quoted(name))))
}
