//! Formats new text in the style of the file.

use super::call::Call;
use super::context::{Run, TidyContext};
use crate::formats::dockerfile::{Joiner, ShellCommand, Span};

/// The joiner for another command of a `RUN`, on its own line: in the style of the `RUN`, else of another one of the
/// file, else the common one. With `strict` a semicolon is allowed.
pub(in crate::rewrite) fn joint(context: &TidyContext<'_>, run: &Run, strict: bool) -> String {
    let of = |run: &Run, strict: bool| {
        run.commands.iter().rev().find_map(|command| copied(context, command, strict))
    };
    let common = || format!(" {}{}    && ", context.file.escape, context.file.line_end());
    // A strict list continues with `;` or `&&`; others only with `&&`.
    let others = || context.runs.iter().filter(|other| other.may_edit).find_map(|other| of(other, false));
    let others = || context.joint.get_or_init(others).clone();
    of(run, strict).or_else(others).unwrap_or_else(common)
}

/// The text before a command, if it is a joiner, an escaped line end and white space.
fn copied(context: &TidyContext<'_>, command: &ShellCommand, strict: bool) -> Option<String> {
    let text = context.file.slice(&command.before);
    let joiner = match command.joiner {
        Joiner::And => "&&",
        Joiner::Sequence if strict => ";",
        _ => return None,
    };
    let mut rest: Vec<&str> = text.split_whitespace().collect();
    rest.sort_unstable();
    let escape = context.file.escape.to_string();
    let mut plain = [joiner, escape.as_str()];
    plain.sort_unstable();
    (rest == plain
        && text.matches('\n').count() == 1
        && text.contains(&format!("{escape}{}", context.file.line_end())))
    .then(|| text.to_owned())
}

/// The place to add a command so that it runs after all others succeed, and the text before it. `None` when nothing can
/// follow them.
pub(in crate::rewrite) fn end(context: &TidyContext<'_>, run: &Run) -> Option<(usize, String)> {
    let instruction = context.instruction(run.place).filter(|_| run.may_edit)?;
    let last = run.commands.last()?;
    let ends = |command: &ShellCommand| {
        Call::of(command).is_none_or(|call| matches!(call.program, "exit" | "exec" | "return" | "trap"))
    };
    if run.commands.iter().any(ends) {
        return None;
    }
    let end = last.span.end;
    let body =
        instruction.heredocs.iter().map(|heredoc| &heredoc.body).find(|body| body.contains(&last.span.start));
    let rest = context.file.slice(&(end..body.unwrap_or(&instruction.arguments).end));
    if end > body.unwrap_or(&instruction.arguments).end || !rest.trim().is_empty() {
        return None;
    }
    if body.is_some() && run.is_strict {
        let before = context.file.text().get(..last.span.start).unwrap_or_default();
        let line = before.rsplit('\n').next().unwrap_or_default();
        if line.trim().is_empty() {
            return Some((end, format!("{}{line}", context.file.line_end())));
        }
    }
    let joint =
        if instruction.heredocs.is_empty() { joint(context, run, run.is_strict) } else { " && ".to_owned() };
    Some((end, joint))
}

/// The place to add a flag to an instruction.
pub(in crate::rewrite) fn flag_place(context: &TidyContext<'_>, place: usize) -> Option<Span> {
    let instruction = context.instruction(place)?;
    let at = instruction.flags.last().map_or(instruction.keyword_span.end, |flag| flag.span.end);
    Some(at..at)
}

/// The edits that remove commands from a list so that the others work as before. `None` when that is impossible; not
/// all commands may be removed.
pub(in crate::rewrite) fn without(run: &Run, gone: &[usize]) -> Option<Vec<Span>> {
    let stays = |joiner: Joiner| joiner == Joiner::And || run.is_strict && joiner == Joiner::Sequence;
    let mut spans = Vec::new();
    // Commands at the beginning are removed with the joiner of the first that stays.
    let head = (0..run.commands.len()).take_while(|at| gone.contains(at)).count();
    if head > 0 {
        let (first, next) = (run.commands.first()?, run.commands.get(head)?);
        let joiners = run.commands.get(1..=head)?;
        spans.push(joiners.iter().all(|one| stays(one.joiner)).then_some(first.span.start..next.span.start)?);
    }
    for at in gone.iter().filter(|at| **at >= head) {
        let command = run.commands.get(*at)?;
        let next = run.commands.get(at + 1);
        let stays = stays(command.joiner) && next.is_none_or(|next| next.joiner == command.joiner);
        spans.push(stays.then_some(command.before.start..command.span.end)?);
    }
    Some(spans)
}
