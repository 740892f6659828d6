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
    if !json.contains(harms) {
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
