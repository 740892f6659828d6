//! JSON that is safe on a terminal: control characters and direction overrides are written as `\uNNNN`, which every
//! reader decodes.

use std::fmt::Write as _;

use serde::Serialize;

use crate::base::text::is_unsafe;

/// A report as indented JSON with a line end.
pub fn to_json(report: &impl Serialize) -> String {
    // Writing plain structs to memory has nothing that can fail.
    let mut json = serde_json::to_string_pretty(report).unwrap_or_default();
    json.push('\n');
    // serde_json escapes the controls below 0x20 itself: line ends are those between values, and all else that is unsafe
    // is within strings.
    let harms = |character: char| character != '\n' && is_unsafe(character);
    if !has(&json, harms) {
        return json;
    }
    let mut safe = String::with_capacity(json.len());
    for character in json.chars() {
        if harms(character) {
            let mut units = [0; 2];
            for unit in character.encode_utf16(&mut units) {
                write!(safe, "\\u{unit:04x}").ok();
            }
        } else {
            safe.push(character);
        }
    }
    safe
}

/// Whether text has a character that harms. Nearly all of it is printable ASCII, which does not.
fn has(text: &str, harms: impl Fn(char) -> bool + Copy) -> bool {
    const AT_ONCE: usize = 4096;
    (0..text.len()).step_by(AT_ONCE).any(|start| {
        let end = text.len().min(start + AT_ONCE);
        // Without an early end, so that many bytes are compared at once.
        let highest = text.as_bytes()[start..end].iter().fold(0, |highest, byte| *byte.max(&highest));
        highest > b'~' && text[text.floor_char_boundary(start)..text.ceil_char_boundary(end)].contains(harms)
    })
}
