//! Words: their boundaries, and their text without quotes.

use super::fault::{Fault, quoted};
use super::joined::{Joined, is_space};
use super::value::{Flag, Form, Keyword, Span, Word};

/// The words of an instruction's arguments.
pub(super) fn words(
    keyword: Keyword,
    joined: &Joined,
    arguments: &Span,
    escape: char,
) -> Result<(Form, Vec<Word>), Fault> {
    let word = |span: &Span| Word { text: unquoted(joined.slice(span), escape), span: joined.span(span) };
    let shell = |spans: Vec<Span>| (Form::Shell, spans.iter().map(word).collect());
    Ok(match keyword {
        Keyword::Maintainer | Keyword::StopSignal | Keyword::User | Keyword::WorkDir => {
            shell(Some(arguments.clone()).into_iter().filter(|span| !span.is_empty()).collect())
        }
        Keyword::Env | Keyword::Label => shell(pairs(keyword, joined, arguments, escape)?),
        Keyword::Arg => {
            let spans = split(joined.text(), arguments, escape, char::is_whitespace);
            for span in &spans {
                named(joined, span)?;
            }
            shell(spans)
        }
        Keyword::Expose | Keyword::From | Keyword::OnBuild => {
            shell(split(joined.text(), arguments, escape, is_space))
        }
        Keyword::Healthcheck => {
            let kind = first(joined, arguments);
            let rest = trimmed(joined.text(), &(kind.end..arguments.end));
            let mut list: Vec<Word> =
                Some(&kind).filter(|kind| !kind.is_empty()).map(word).into_iter().collect();
            let (form, command) = match json(joined, &rest)? {
                Some(words) => (Form::Exec, words),
                None => shell(split(joined.text(), &rest, escape, is_space)),
            };
            list.extend(command);
            (form, list)
        }
        Keyword::Add
        | Keyword::Cmd
        | Keyword::Copy
        | Keyword::Entrypoint
        | Keyword::Run
        | Keyword::Shell
        | Keyword::Volume => match json(joined, arguments)? {
            Some(words) => (Form::Exec, words),
            None => shell(split(joined.text(), arguments, escape, is_space)),
        },
    })
}

/// `ENV` and `LABEL`: `NAME=VALUE` pairs, or in the old form one name and the rest as its value.
fn pairs(keyword: Keyword, joined: &Joined, arguments: &Span, escape: char) -> Result<Vec<Span>, Fault> {
    let spans = split(joined.text(), arguments, escape, char::is_whitespace);
    let Some(head) = spans.first() else { return Ok(spans) };
    if !joined.slice(head).contains('=') {
        let name = first(joined, arguments);
        let value = trimmed(joined.text(), &(name.end..arguments.end));
        if value.is_empty() {
            let what = format!("{} needs a name and a value", keyword.as_str());
            return Err(Fault::new(joined.source(name.start), what));
        }
        return Ok(vec![name, value]);
    }
    for span in &spans {
        if !joined.slice(span).contains('=') {
            let what = format!("{} is not NAME=VALUE", quoted(joined.slice(span)));
            return Err(Fault::new(joined.source(span.start), what));
        }
        named(joined, span)?;
    }
    Ok(spans)
}

fn named(joined: &Joined, span: &Span) -> Result<(), Fault> {
    if joined.slice(span).starts_with('=') {
        return Err(Fault::new(joined.source(span.start), "no name before ="));
    }
    Ok(())
}

/// A span without surrounding white space.
pub(super) fn trimmed(text: &str, span: &Span) -> Span {
    let part = text.get(span.clone()).unwrap_or_default();
    let end = span.start + part.trim_end().len();
    let start = span.start + (part.len() - part.trim_start().len());
    if start < end { start..end } else { span.start..span.start }
}

/// The start of a trimmed span, up to the first white space.
pub(super) fn first(joined: &Joined, span: &Span) -> Span {
    let part = joined.slice(span);
    span.start..span.start + part.find(is_space).unwrap_or(part.len())
}

/// Parts of a span, separated by white space that is neither quoted nor escaped.
pub(super) fn split(text: &str, span: &Span, escape: char, space: fn(char) -> bool) -> Vec<Span> {
    let mut words = Vec::new();
    let mut start = None;
    let mut quote = None;
    let mut characters = text.get(span.clone()).unwrap_or_default().char_indices();
    while let Some((at, character)) = characters.next() {
        if quote.is_none() && space(character) {
            words.extend(start.take().map(|start| start..span.start + at));
            continue;
        }
        start.get_or_insert(span.start + at);
        if quote == Some(character) {
            quote = None;
        } else if character == escape && quote != Some('\'') {
            characters.next();
        } else if quote.is_none() && matches!(character, '\'' | '"') {
            quote = Some(character);
        }
    }
    words.extend(start.map(|start| start..span.end));
    words
}

/// The text of a word; quotes and escapes removed. In double quotes an escape character applies only to `"`, `$` and
/// itself.
pub(super) fn unquoted(word: &str, escape: char) -> String {
    if !word.contains(['\'', '"', escape]) {
        return word.to_owned();
    }
    let mut text = String::with_capacity(word.len());
    let mut quote = None;
    let mut characters = word.chars().peekable();
    while let Some(character) = characters.next() {
        if quote == Some(character) {
            quote = None;
        } else if character == escape && quote != Some('\'') {
            let counts = |next: &char| quote.is_none() || matches!(*next, '"' | '$') || *next == escape;
            match characters.next_if(counts) {
                Some(next) => text.push(next),
                None if quote.is_some() => text.push(character),
                None => {}
            }
        } else if quote.is_none() && matches!(character, '\'' | '"') {
            quote = Some(character);
        } else {
            text.push(character);
        }
    }
    text
}

/// The flags at the start of a span, and their end. Their escape character is always the backslash. A lone `--` ends
/// them.
pub(super) fn flags(joined: &Joined, span: &Span) -> (Vec<Flag>, usize) {
    let mut flags = Vec::new();
    let mut at = span.start;
    loop {
        let rest = trimmed(joined.text(), &(at..span.end));
        if !joined.slice(&rest).starts_with("--") {
            return (flags, rest.start);
        }
        let flag = head(joined, &rest);
        at = flag.end;
        let text = unquoted(joined.slice(&flag), '\\');
        let Some(name) = text.strip_prefix("--").filter(|name| !name.is_empty()) else { return (flags, at) };
        let (name, value) = match name.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (name, None),
        };
        flags.push(Flag { name: name.to_owned(), value, span: joined.span(&flag) });
    }
}

/// The first word of a trimmed span.
fn head(joined: &Joined, span: &Span) -> Span {
    let mut quote = None;
    let mut characters = joined.slice(span).char_indices();
    while let Some((at, character)) = characters.next() {
        if quote.is_none() && character.is_whitespace() {
            return span.start..span.start + at;
        }
        if quote == Some(character) {
            quote = None;
        } else if character == '\\' {
            characters.next();
        } else if quote.is_none() && matches!(character, '\'' | '"') {
            quote = Some(character);
        }
    }
    span.clone()
}

/// The strings of a JSON array. `None` if it is not JSON: then it is in shell form.
///
/// # Errors
/// A JSON array with elements other than strings.
fn json(joined: &Joined, span: &Span) -> Result<Option<Vec<Word>>, Fault> {
    let text = joined.slice(span);
    if !text.starts_with('[') {
        return Ok(None);
    }
    let Ok(values) = serde_json::from_str::<Vec<serde_json::Value>>(text) else { return Ok(None) };
    let mut words = Vec::with_capacity(values.len());
    let mut at = 1;
    for value in values {
        let serde_json::Value::String(value) = value else {
            let what = "an array of arguments may contain strings only";
            return Err(Fault::new(joined.source(span.start), what));
        };
        let start = at + text.get(at..).and_then(|rest| rest.find('"')).unwrap_or_default();
        at = literal_end(text, start);
        words.push(Word { text: value, span: joined.span(&(span.start + start..span.start + at)) });
    }
    Ok(Some(words))
}

/// Offset after the closing quote of the JSON string at `start`.
pub(super) fn literal_end(text: &str, start: usize) -> usize {
    let mut bytes = text.bytes().enumerate().skip(start + 1);
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'"' => return at + 1,
            b'\\' => {
                bytes.next();
            }
            _ => {}
        }
    }
    text.len()
}
