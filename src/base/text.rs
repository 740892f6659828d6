//! Escapes untrusted bytes, so that names are safe on a terminal and readable.

/// `bytes` as the contract writes paths: invalid UTF-8 and control characters as `\xNN`, a backslash as `\\`.
/// Bidirectional controls are escaped too, byte by byte, because they can make one name look like another.
pub fn escape(bytes: &[u8]) -> String {
    // Nearly all names: printable ASCII.
    if bytes.iter().all(|byte| matches!(byte, b' '..=b'~') && *byte != b'\\')
        && let Ok(text) = std::str::from_utf8(bytes)
    {
        return text.to_owned();
    }
    let mut shown = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        for character in chunk.valid().chars() {
            push_escaped(&mut shown, character);
        }
        for byte in chunk.invalid() {
            push_byte(&mut shown, *byte);
        }
    }
    shown
}

/// `text` with its control characters and direction overrides escaped; backslashes stay as they are.
/// For prose from an image (instructions, labels), where a backslash is ordinary.
pub fn printable(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        if character == '\\' {
            shown.push('\\');
        } else {
            push_escaped(&mut shown, character);
        }
    }
    shown
}

/// A number of things: `1 file`, `2,000 files`, `2 libraries`.
pub fn counted(count: impl TryInto<u64>, one: &str) -> String {
    let count = count.try_into().unwrap_or(u64::MAX);
    let number = super::size::grouped(count);
    match one.strip_suffix('y') {
        _ if count == 1 => format!("1 {one}"),
        Some(stem) if !stem.ends_with(['a', 'e', 'o', 'u']) => format!("{number} {stem}ies"),
        _ => format!("{number} {one}s"),
    }
}

/// Words as one would type them in a shell.
pub fn shell_words(words: &[String]) -> String {
    let plain = |word: &String| {
        !word.is_empty() && word.chars().all(|c| c.is_alphanumeric() || "-_./=:,@%+<>".contains(c))
    };
    let quote = |word: &String| {
        if plain(word) { word.clone() } else { format!("'{}'", word.replace('\'', "'\\''")) }
    };
    words.iter().map(quote).collect::<Vec<_>>().join(" ")
}

/// A text as a sentence: first letter upper case, unless it begins with a path or name, and a full stop.
pub fn sentence(text: &str) -> String {
    let first = text.split_whitespace().next().unwrap_or_default();
    let plain = !first.is_empty() && first.chars().all(|c| c.is_ascii_lowercase() || c == '\'');
    let mut whole = match (plain, text.get(..1), text.get(1..)) {
        (true, Some(letter), Some(rest)) => format!("{}{rest}", letter.to_ascii_uppercase()),
        _ => text.to_owned(),
    };
    if !whole.ends_with(['.', '?', ':']) {
        whole.push('.');
    }
    whole
}

/// The number of things beyond those named, as the end of a list.
pub fn and_more(all: usize, named: usize) -> String {
    if all > named { format!(" and {} more", all - named) } else { String::new() }
}

/// `text` shortened to `width` characters with `…` in its middle, so that both ends stay readable.
pub fn elide_middle(text: &str, width: usize) -> String {
    let length = text.chars().count();
    if length <= width {
        return text.to_owned();
    }
    let keep = width.saturating_sub(1);
    // The end of a path is more specific: it gets the larger half.
    let head = keep / 5;
    let tail = keep - head;
    let mut shown: String = text.chars().take(head).collect();
    shown.push('…');
    shown.extend(text.chars().skip(length - tail));
    shown
}

/// A message without the number that the system gives an error: ` (os error 2)`.
pub fn without_errno(message: &str) -> String {
    let mut parts = message.split(" (os error ");
    let mut words = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let number = part.trim_start_matches(|letter: char| letter.is_ascii_digit());
        match number.strip_prefix(')').filter(|_| number.len() < part.len()) {
            Some(rest) => words.push_str(rest),
            None => words.extend([" (os error ", part]),
        }
    }
    words
}

/// `text` shortened to `width` characters with `…` at its end.
pub fn elide_end(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    let mut shown: String = text.chars().take(width.saturating_sub(1)).collect();
    shown.push('…');
    shown
}

fn push_escaped(shown: &mut String, character: char) {
    match character {
        '\\' => shown.push_str("\\\\"),
        c if is_unsafe(c) => {
            let mut buffer = [0; 4];
            for byte in c.encode_utf8(&mut buffer).bytes() {
                push_byte(shown, byte);
            }
        }
        c => shown.push(c),
    }
}

fn push_byte(shown: &mut String, byte: u8) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    shown.push_str("\\x");
    shown.push(HEX[usize::from(byte >> 4)] as char);
    shown.push(HEX[usize::from(byte & 15)] as char);
}

/// Whether a character can change how a terminal or a line of text shows other characters.
pub fn is_unsafe(c: char) -> bool {
    c.is_control() || turns_direction(c)
}

/// The same for a text of several lines: line ends and tabs stay.
pub fn printable_lines(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        if matches!(character, '\\' | '\n' | '\t') {
            shown.push(character);
        } else {
            push_escaped(&mut shown, character);
        }
    }
    shown
}

/// The bidirectional controls of Unicode (UAX 9) and the line and paragraph separators.
fn turns_direction(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Line and column of a byte, both from 1; columns are characters.
pub fn line_and_column(text: &str, at: usize) -> (usize, usize) {
    let before = text.get(..at).unwrap_or(text);
    let column = before.chars().rev().take_while(|character| *character != '\n').count() + 1;
    (before.matches('\n').count() + 1, column)
}

#[cfg(test)]
mod tests {
    use super::{elide_middle, escape, printable};

    #[test]
    fn hostile_names_are_shown_harmless() {
        assert_eq!(escape(b"/a\x1b[31m\n\\b"), "/a\\x1b[31m\\x0a\\\\b");
        assert_eq!(escape(b"/caf\xe9"), "/caf\\xe9");
        assert_eq!(escape("/café/\u{202e}txt".as_bytes()), "/café/\\xe2\\x80\\xaetxt");
        assert_eq!(escape(b"\x7f\xc2\x85"), "\\x7f\\xc2\\x85");
        assert_eq!(printable("a\\b\tc"), "a\\b\\x09c");
    }

    #[test]
    fn the_file_name_survives_eliding() {
        assert_eq!(elide_middle("/usr/local/cuda/lib64/libcublas.so.12", 20), "/us…/libcublas.so.12");
        assert_eq!(elide_middle("short", 20), "short");
    }
}
