//! The end of a value. Nothing here examines text after the value.

/// How deep quotes and substitutions may be nested.
const MAX_LEVEL: u8 = 32;

/// Quotes of shells and of JSON.
pub(super) fn is_quote(byte: u8) -> bool {
    matches!(byte, b'"' | b'\'' | b'`')
}

/// White space within a line; a carriage return belongs to the line end.
pub(super) fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | 0x0b | 0x0c)
}

/// The end of a shell's word that begins at `start` inside the quote `open`. Quotes, escaped blanks
/// and command substitutions stay within it; blanks, `;`, `|` and `&` end it, and the open quote.
pub(super) fn shell_word(bytes: &[u8], start: usize, open: Option<u8>) -> usize {
    let mut at = start;
    while let Some(byte) = bytes.get(at).copied() {
        let next = bytes.get(at + 1).copied();
        match byte {
            b'\\' => {
                let escapes = escapes(bytes, at);
                at = match bytes.get(at + escapes) {
                    Some(quote) if is_quote(*quote) => segment(bytes, at, open).2,
                    Some(_) => at + escapes + 1,
                    None => bytes.len(),
                };
            }
            quote if is_quote(quote) && open == Some(quote) => {
                let closes = next.is_none_or(|next| !is_quote(next) && !next.is_ascii_alphanumeric());
                if at > start || closes && next != Some(b'$') {
                    return at;
                }
                at = segment(bytes, at, None).2;
            }
            quote if is_quote(quote) => at = segment(bytes, at, open).2,
            b'$' if next == Some(b'(') => at = balanced(bytes, at + 1, 0),
            b';' | b'|' | b'&' | b'\n' => return at,
            _ if is_blank(byte) => return at,
            _ => at += 1,
        }
    }
    at.min(bytes.len())
}

fn escapes(bytes: &[u8], at: usize) -> usize {
    bytes[at..].iter().take_while(|byte| **byte == b'\\').count()
}

/// Range of a quoted value, and its end. The quote may be escaped; then one with equal escaping closes it. An unclosed
/// one extends to the end, or to the end of `open`.
fn segment(bytes: &[u8], start: usize, open: Option<u8>) -> (usize, usize, usize) {
    nested_segment(bytes, start, open, 0)
}

fn nested_segment(bytes: &[u8], start: usize, open: Option<u8>, level: u8) -> (usize, usize, usize) {
    let depth = escapes(bytes, start);
    let inner = start + depth + 1;
    let Some(quote) = bytes.get(start + depth).copied() else { return (start, bytes.len(), bytes.len()) };
    let mut at = inner;
    while let Some(byte) = bytes.get(at).copied() {
        let found = escapes(bytes, at);
        match bytes.get(at + found).copied() {
            Some(end) if end == quote && (found == depth || quote == b'\'' && depth == 0) => {
                return (inner, at, at + found + 1);
            }
            Some(end) if found == 0 && Some(end) == open => return (inner, at, at),
            // Quotes in a substitution are its own.
            Some(b'$') if found == 0 && quote == b'"' && bytes.get(at + 1) == Some(&b'(') => {
                at = balanced(bytes, at + 1, level + 1);
            }
            _ if byte == b'\\' && (quote != b'\'' || depth > 0) => at += found + 1,
            _ => at += found.max(1),
        }
    }
    (inner, bytes.len(), bytes.len())
}

/// The end of the bracketed text at `start`. Brackets in quotes do not count. Beyond the maximum nesting of quotes and
/// substitutions, the rest is inside.
fn balanced(bytes: &[u8], start: usize, level: u8) -> usize {
    if level > MAX_LEVEL {
        return bytes.len();
    }
    let mut depth = 0_usize;
    let mut at = start;
    while let Some(byte) = bytes.get(at).copied() {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            b'"' | b'\'' => {
                at = nested_segment(bytes, at, None, level).2;
                continue;
            }
            _ => {}
        }
        at += 1;
        if depth == 0 {
            return at;
        }
    }
    bytes.len()
}

/// The value after a quoted name: a quoted string, a whole list or object, or a word.
pub(super) fn json_value(bytes: &[u8], start: usize, open: Option<u8>) -> (usize, usize) {
    let escapes = escapes(bytes, start);
    match bytes.get(start + escapes).copied() {
        Some(byte) if is_quote(byte) && (escapes > 0 || open != Some(byte)) => {
            let (inner, end, _) = segment(bytes, start, open);
            (inner, end)
        }
        Some(b'[' | b'{') => (start, balanced(bytes, start, 0)),
        _ => {
            let ends = |byte: &u8| {
                is_blank(*byte) || matches!(byte, b'\n' | b',' | b'}' | b']' | b';' | b'|' | b'&')
            };
            let length = bytes[start..].iter().take_while(|byte| !ends(byte) && open != Some(**byte)).count();
            (start, start + length)
        }
    }
}

/// The end of the open quote, or of the text. If the word continues after it, its end, and `true`.
pub(super) fn to_quote(bytes: &[u8], start: usize, open: Option<u8>) -> (usize, bool) {
    let Some(quote) = open else { return (bytes.len(), false) };
    let mut at = start;
    while let Some(byte) = bytes.get(at).copied() {
        if byte == quote {
            let goes_on = |next: &u8| is_quote(*next) || next.is_ascii_alphanumeric() || *next == b'$';
            return match bytes.get(at + 1) {
                Some(next) if goes_on(next) => (shell_word(bytes, at + 1, None), true),
                _ => (at, false),
            };
        }
        at += if byte == b'\\' && quote == b'"' { 2 } else { 1 };
    }
    (bytes.len(), false)
}

/// The end of a value in pairs recorded without quotes: the next `NAME=`, or the end.
pub(super) fn recorded(text: &str, start: usize) -> usize {
    let bytes = text.as_bytes();
    let mut at = start;
    // Some builders do record the quotes.
    if bytes.get(at).is_some_and(|byte| matches!(byte, b'"' | b'\'')) {
        let (_, _, end) = segment(bytes, at, None);
        let closed = bytes.get(end).is_none_or(u8::is_ascii_whitespace);
        if closed {
            at = end;
        }
    }
    while at < bytes.len() {
        let word = at + bytes[at..].iter().take_while(|byte| !byte.is_ascii_whitespace()).count();
        let next = word + bytes[word..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        let length = bytes[next..]
            .iter()
            .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-'))
            .count();
        let begins = bytes.get(next).is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_');
        let assigns = bytes.get(next + length) == Some(&b'=') && bytes.get(next + length + 1) != Some(&b'=');
        if next == bytes.len() || next > word && begins && assigns {
            return word;
        }
        at = next;
    }
    bytes.len()
}
