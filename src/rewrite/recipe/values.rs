//! Values of instructions, in the history and in a Dockerfile.

use super::step::Dialect;
use crate::base::text::is_unsafe;

/// Longest value of the configuration that is searched for in the history: comparing costs its length.
const MAX_KNOWN: usize = 4096;

/// Maximum bytes between the braces of a variable, default included: the end is searched at each `${`.
const MAX_VARIABLE: usize = 1024;

/// Longest text in which variables are filled in: `A=$A$A` doubles each time.
const MAX_FILLED: usize = 4096;

/// Returns the value of a variable.
pub(super) type Lookup<'a> = &'a dyn Fn(&str) -> Option<String>;

/// `NAME=VALUE` pairs. In the history they may be unquoted: then `known` (the values of the configuration) determines
/// the end of a value, else it ends before the next word that looks like `NAME=`. Variables in the text of a Dockerfile
/// are filled in by `known` too, as earlier settings.
pub(super) fn pairs(text: &str, dialect: Dialect, known: Lookup<'_>) -> Vec<(String, String)> {
    let mut rest = text.trim();
    let first = rest.split(char::is_whitespace).next().unwrap_or_default();
    if !first.contains('=') {
        let value = rest[first.len()..].trim();
        // The old form: the value is the rest of the line.
        return if value.is_empty() { Vec::new() } else { vec![(first.to_owned(), expand(value, known))] };
    }
    let mut found = Vec::new();
    let mut filled = 0;
    while !rest.is_empty() {
        let end = match dialect {
            Dialect::Source => {
                let (word, end) = word(rest, if filled > MAX_FILLED { &|_| None } else { known });
                filled += word.len();
                if let Some((name, value)) = word.split_once('=') {
                    found.push((name.to_owned(), value.to_owned()));
                }
                end
            }
            Dialect::Evaluated => {
                let Some((name, after)) = rest.split_once('=') else { break };
                let length = evaluated(after, known(name.trim()).as_deref());
                found.push((name.trim().to_owned(), after[..length].to_owned()));
                name.len() + 1 + length
            }
        };
        rest = rest[end..].trim_start();
    }
    found
}

/// The length of an unquoted value.
fn evaluated(text: &str, known: Option<&str>) -> usize {
    if let Some(known) = known.filter(|known| known.len() <= MAX_KNOWN)
        && let Some(rest) = text.strip_prefix(known)
        && (rest.trim().is_empty() || rest.starts_with(char::is_whitespace) && assigns(rest.trim_start()))
    {
        return known.len();
    }
    let mut at = 0;
    loop {
        let Some(space) = text[at..].find(char::is_whitespace) else { return text.len() };
        let rest = text[at + space..].trim_start();
        if rest.is_empty() || assigns(rest) {
            return at + space;
        }
        at = text.len() - rest.len();
    }
}

/// Whether a text begins with `NAME=`.
fn assigns(text: &str) -> bool {
    let length = text
        .bytes()
        .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-' | b'/'))
        .count();
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text[length..].starts_with('=')
        && !text[length..].starts_with("==")
}

/// The first word with quotes and escapes removed and variables filled in, and its end.
pub(super) fn word(text: &str, known: Lookup<'_>) -> (String, usize) {
    let mut out = String::new();
    let mut quote = None;
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        match (c, quote) {
            (c, None) if c.is_whitespace() => return (out, at),
            ('\'' | '"', None) => quote = Some(c),
            (c, Some(open)) if c == open => quote = None,
            (c, Some('\'')) => out.push(c),
            ('\\', _) => match chars.next() {
                Some((_, next)) if quote.is_none() || matches!(next, '"' | '$' | '\\') => out.push(next),
                Some((_, next)) => out.extend(['\\', next]),
                None => out.push('\\'),
            },
            ('$', _) if out.len() <= MAX_FILLED => {
                let (value, length) = variable(&text[at..], known);
                out.push_str(&value);
                while chars.peek().is_some_and(|(next, _)| *next < at + length) {
                    chars.next();
                }
            }
            (c, _) => out.push(c),
        }
    }
    (out, text.len())
}

/// A text with quotes removed and variables filled in.
pub(super) fn expand(text: &str, known: Lookup<'_>) -> String {
    let mut out = String::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (word, end) = word(rest, if out.len() > MAX_FILLED { &|_| None } else { known });
        out.push_str(&word);
        let blank = rest[end..].len() - rest[end..].trim_start().len();
        out.push_str(&rest[end..end + blank]);
        rest = &rest[end + blank..];
    }
    out
}

/// `$NAME`, `${NAME}`, `${NAME:-other}` or `${NAME:+other}` at the beginning: its value and its length. Unknown
/// variables stay as written.
fn variable(text: &str, known: Lookup<'_>) -> (String, usize) {
    let rest = &text[1..];
    let braced = rest.strip_prefix('{');
    let inner = braced.unwrap_or(rest);
    let length = inner.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
    let name = &inner[..length];
    if name.is_empty() {
        return ("$".to_owned(), 1);
    }
    if braced.is_none() {
        return (known(name).unwrap_or_else(|| text[..=length].to_owned()), length + 1);
    }
    let end = inner.bytes().take(MAX_VARIABLE).position(|byte| byte == b'}');
    let Some(end) = end else { return ("$".to_owned(), 1) };
    let whole = end + 3;
    let value = known(name);
    let set = value.as_ref().is_some_and(|value| !value.is_empty());
    let filled = match inner[length..end].split_at_checked(2) {
        None if length == end => value,
        Some((":-", _)) if set => value,
        Some((":-", other)) => Some(other.to_owned()),
        Some((":+", other)) => Some(if set { other.to_owned() } else { String::new() }),
        _ => None,
    };
    (filled.unwrap_or_else(|| text[..whole].to_owned()), whole)
}

/// Quotes a value for a Dockerfile.
pub(super) fn quoted(value: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "_./:,@%+=-~^".contains(c);
    if !value.is_empty() && value.chars().all(plain) {
        return value.to_owned();
    }
    let mut out = String::from("\"");
    for c in value.chars() {
        if matches!(c, '"' | '\\' | '$') {
            out.push('\\');
        }
        out.push(c);
    }
    out.push('"');
    out
}

/// Words in the exec form.
pub(super) fn exec(words: &[String]) -> String {
    let strings: Vec<String> = words
        .iter()
        .map(|word| {
            let json = serde_json::to_string(word).unwrap_or_default();
            let shown =
                |c: char| if is_unsafe(c) { format!("\\u{:04x}", u32::from(c)) } else { c.to_string() };
            json.chars().map(shown).collect()
        })
        .collect();
    format!("[{}]", strings.join(", "))
}

/// A list of strings: JSON, or in Go's format (`["a" "b"]`).
pub(super) fn strings(text: &str) -> Option<Vec<String>> {
    let text = text.trim();
    if let Ok(list) = serde_json::from_str::<Vec<String>>(text) {
        return Some(list);
    }
    let mut rest = text.strip_prefix('[')?.strip_suffix(']')?.trim();
    let mut found = Vec::new();
    while !rest.is_empty() {
        let (value, end) = string(rest)?;
        found.push(value);
        rest = rest[end..].trim_start();
    }
    Some(found)
}

/// A string in Go's quoting at the beginning of a text, and its end.
pub(super) fn string(text: &str) -> Option<(String, usize)> {
    let body = text.strip_prefix('"')?;
    let mut json = String::from("\"");
    let mut chars = body.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => {
                json.push('"');
                return Some((serde_json::from_str(&json).ok()?, at + 2));
            }
            '\\' => match chars.next()?.1 {
                'x' => json.push_str("\\u00"),
                'a' => json.push_str("\\u0007"),
                'v' => json.push_str("\\u000b"),
                other => json.extend(['\\', other]),
            },
            other => json.push(other),
        }
    }
    None
}

/// A list of words in any notation: JSON, `[a b]`, `map[80/tcp:{}]`, `a b`.
pub(super) fn list(text: &str) -> Vec<String> {
    if let Some(list) = strings(text) {
        return list;
    }
    let text = text.trim();
    let inner = text.strip_prefix("map").unwrap_or(text);
    let inner = inner.strip_prefix('[').and_then(|inner| inner.strip_suffix(']')).unwrap_or(text);
    let clean = |word: &str| word.strip_suffix(":{}").unwrap_or(word).to_owned();
    inner.split_whitespace().map(clean).collect()
}
