//! One instruction, from the first byte of its first line to the end of its last heredoc.

use super::fault::{Fault, quoted};
use super::joined::{Joined, is_space, line_at};
use super::value::{Flag, Form, Heredoc, Instruction, Keyword, Span};
use super::word::{first, flags, split, trimmed, unquoted, words};

/// Reads the instruction that starts with the line at `at`. The caller sets its line numbers.
pub(super) fn read(text: &str, at: usize, escape: char) -> Result<Instruction, Fault> {
    let (joined, end) = Joined::lines(text, at..text.len(), escape);
    let line = trimmed(joined.text(), &(0..joined.text().len()));
    let head = head(&joined, &line, at)?;
    let (keyword, trigger) = match head.keyword {
        Keyword::OnBuild if !head.rest.is_empty() => (Keyword::OnBuild, Some(trigger(&joined, &head, at)?)),
        keyword => (keyword, None),
    };
    let part = trigger.as_ref().unwrap_or(&head);
    let arguments = trigger.as_ref().map_or(&head.rest, |_| &head.line);
    let (form, mut list) = words(part.keyword, &joined, &part.rest, escape)?;
    if let Some(trigger) = &trigger {
        let (_, first) = words(Keyword::OnBuild, &joined, &trigger.name, escape)?;
        list.splice(..0, first);
    }
    let mut instruction = Instruction {
        keyword,
        span: at..end,
        keyword_span: joined.span(&head.name),
        arguments: if arguments.is_empty() { head.end(&joined) } else { joined.span(arguments) },
        words: list,
        form,
        heredocs: Vec::new(),
        trigger: trigger.as_ref().map(|trigger| trigger.keyword),
        flags: trigger.map_or(head.flags, |trigger| trigger.flags),
        line: 0,
        last_line: 0,
    };
    let acting = instruction.trigger.unwrap_or(keyword);
    if form == Form::Shell && matches!(acting, Keyword::Add | Keyword::Copy | Keyword::Run) {
        heredocs(text, &joined, &line, &mut instruction)?;
    }
    Ok(instruction)
}

/// Keyword, flags and arguments, as spans of the joined text.
struct Head {
    keyword: Keyword,
    name: Span,
    flags: Vec<Flag>,
    /// The arguments.
    rest: Span,
    /// The text after the keyword: flags and arguments.
    line: Span,
}

impl Head {
    /// The empty span after the keyword or the last flag.
    fn end(&self, joined: &Joined) -> Span {
        let end = self.flags.last().map_or_else(|| joined.span(&self.name).end, |flag| flag.span.end);
        end..end
    }
}

fn head(joined: &Joined, line: &Span, at: usize) -> Result<Head, Fault> {
    let name = first(joined, line);
    let word = joined.slice(&name);
    let Some(keyword) = Keyword::named(word) else {
        let what = if word.is_empty() {
            "missing instruction".to_owned()
        } else {
            format!("unknown instruction {}", quoted(word))
        };
        return Err(Fault::new(if word.is_empty() { at } else { joined.source(name.start) }, what));
    };
    let after = trimmed(joined.text(), &(name.end..line.end));
    let (flags, start) = flags(joined, &after);
    let rest = trimmed(joined.text(), &(start..line.end));
    Ok(Head { keyword, name, flags, rest, line: after })
}

/// The instruction inside an `ONBUILD`.
fn trigger(joined: &Joined, onbuild: &Head, at: usize) -> Result<Head, Fault> {
    if let Some(flag) = onbuild.flags.first() {
        return Err(Fault::new(flag.span.start, "ONBUILD takes no flags"));
    }
    let trigger = head(joined, &onbuild.rest, at)?;
    if matches!(trigger.keyword, Keyword::OnBuild | Keyword::From | Keyword::Maintainer) {
        let what = format!("ONBUILD cannot be followed by {}", trigger.keyword.as_str());
        return Err(Fault::new(joined.source(trigger.name.start), what));
    }
    Ok(trigger)
}

/// Reads the heredocs of the line, and extends the instruction to their end.
fn heredocs(text: &str, joined: &Joined, line: &Span, instruction: &mut Instruction) -> Result<(), Fault> {
    if !joined.text().contains("<<") {
        return Ok(());
    }
    for (span, mut heredoc) in openings(joined, line) {
        let start = instruction.span.end;
        let mut at = start;
        loop {
            if at >= text.len() {
                let what = format!("unterminated heredoc {}", quoted(&heredoc.name));
                return Err(Fault::new(joined.source(span.start), what));
            }
            let (end, next) = line_at(text, at);
            let found = text.get(at..end).unwrap_or_default();
            let found = if heredoc.strips_tabs { found.trim_start_matches('\t') } else { found };
            if found == heredoc.name {
                heredoc.body = start..at;
                instruction.span.end = next;
                break;
            }
            at = next;
        }
        instruction.heredocs.push(heredoc);
    }
    Ok(())
}

/// The words that open heredocs, as in BuildKit: optional digits, `<<`, an optional dash, white space and a name
/// without `<`. A line with an unclosed quote has none.
fn openings(joined: &Joined, line: &Span) -> Vec<(Span, Heredoc)> {
    let Some(words) = lexed(joined.text(), line) else { return Vec::new() };
    words.into_iter().filter_map(|span| Some((span.clone(), opening(joined.slice(&span))?))).collect()
}

/// The heredoc that a word opens, if any.
pub(super) fn opening(word: &str) -> Option<Heredoc> {
    let rest = word.trim_start_matches(|c: char| c.is_ascii_digit()).strip_prefix("<<")?;
    let (strips_tabs, rest) = rest.strip_prefix('-').map_or((false, rest), |rest| (true, rest));
    let raw = rest.trim_start_matches([' ', '\t', '\r', '\n', '\x0c']);
    if raw.contains('<') || split(raw, &(0..raw.len()), '\\', char::is_whitespace).len() != 1 {
        return None;
    }
    let name = unquoted(raw, '\\');
    let expands = !has_quotes(raw);
    (!name.is_empty()).then_some(Heredoc { name, expands, strips_tabs, body: 0..0 })
}

fn has_quotes(word: &str) -> bool {
    let mut characters = word.chars();
    while let Some(character) = characters.next() {
        match character {
            '\'' | '"' => return true,
            '\\' => {
                characters.next();
            }
            _ => {}
        }
    }
    false
}

/// The words of a line; `<<` and white space after it belong to the next word.
fn lexed(text: &str, line: &Span) -> Option<Vec<Span>> {
    let words = split(text, line, '\\', char::is_whitespace);
    if words.last().is_some_and(|last| !is_closed(text.get(last.clone()).unwrap_or_default())) {
        return None;
    }
    let mut merged: Vec<Span> = Vec::new();
    for word in words {
        match merged.last_mut() {
            Some(before) if joins(text, before, &word) => before.end = word.end,
            _ => merged.push(word),
        }
    }
    Some(merged)
}

/// Whether a word is an unfinished `<<`, with nothing but white space of one kind before the next word.
fn joins(text: &str, word: &Span, next: &Span) -> bool {
    let between = text.get(word.end..next.start).unwrap_or_default();
    let bare = text.get(word.clone()).unwrap_or_default();
    between.chars().all(|c| is_space(c) && c != '\x0b' && c != '\x0c')
        && bare.strip_suffix("<<").is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Whether all quotes of a word are closed.
fn is_closed(word: &str) -> bool {
    let mut quote = None;
    let mut characters = word.chars();
    while let Some(character) = characters.next() {
        if quote == Some(character) {
            quote = None;
        } else if character == '\\' && quote != Some('\'') {
            characters.next();
        } else if quote.is_none() && matches!(character, '\'' | '"') {
            quote = Some(character);
        }
    }
    quote.is_none()
}
