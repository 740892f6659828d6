//! Parser directives.

use super::fault::{Fault, quoted};
use super::value::{Directive, Span};

/// All known directives (docs.docker.com/reference/dockerfile, "Parser directives"); any other line is a comment.
const NAMES: [&str; 3] = ["syntax", "escape", "check"];

/// Reads a comment line without its leading white space. `whole` is the range of the complete line.
pub(super) fn read(
    line: &str,
    at: usize,
    whole: Span,
    before: &[Directive],
) -> Result<Option<Directive>, Fault> {
    let rest = line.strip_prefix('#').unwrap_or(line).trim_start();
    let Some((name, value)) = rest.split_once('=') else { return Ok(None) };
    let name = name.trim_end_matches(is_plain_space).to_ascii_lowercase();
    let value = value.trim_matches(is_plain_space);
    if value.is_empty() || !NAMES.contains(&name.as_str()) {
        return Ok(None);
    }
    if before.iter().any(|directive| directive.name == name) {
        return Err(Fault::new(at, format!("duplicate parser directive {name}")));
    }
    if name == "escape" && !["\\", "`"].contains(&value) {
        let start = at + line.trim_end_matches(is_plain_space).len() - value.len();
        return Err(Fault::new(
            start,
            format!("the escape character must be \\ or `, not {}", quoted(value)),
        ));
    }
    Ok(Some(Directive { name, value: value.to_owned(), span: whole }))
}

const fn is_plain_space(character: char) -> bool {
    matches!(character, ' ' | '\t' | '\r' | '\n' | '\x0c')
}
