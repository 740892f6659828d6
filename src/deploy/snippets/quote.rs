//! Quoted texts.

use std::fmt::Write as _;

use crate::base::text::is_unsafe;

/// A string in double quotes that TOML and YAML 1.2 read alike.
pub(super) fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            // Separators and the byte order mark, which end a line or vanish in some readers.
            '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{85}' => push_code(&mut out, c),
            c if is_unsafe(c) || ('\u{fdd0}'..='\u{fdef}').contains(&c) => push_code(&mut out, c),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

fn push_code(out: &mut String, c: char) {
    let code = u32::from(c);
    // Writing to a string cannot fail.
    if code <= 0xffff {
        write!(out, "\\u{code:04X}").ok();
    } else {
        write!(out, "\\U{code:08X}").ok();
    }
}

/// A list of strings on one line.
pub(super) fn list(texts: &[String]) -> String {
    let quoted: Vec<String> = texts.iter().map(|text| quoted(text)).collect();
    format!("[{}]", quoted.join(", "))
}

/// A comment of one line.
pub(super) fn comment(text: &str) -> String {
    let plain: String = text
        .chars()
        .map(|c| if is_unsafe(c) || matches!(c, '\u{2028}' | '\u{2029}') { ' ' } else { c })
        .collect();
    format!("# {plain}\n")
}
