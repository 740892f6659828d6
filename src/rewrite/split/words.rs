//! Paths as words of a Dockerfile and of a shell, and variables in their texts.

use crate::base::text::is_unsafe;

/// A path as a word of a `COPY`; `None` if it has characters with a special meaning.
pub(super) fn word(path: &[u8]) -> Option<String> {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"/._+-@:,=~%^".contains(byte);
    (!path.is_empty() && !path.starts_with(b"-") && path.iter().all(plain))
        .then(|| String::from_utf8_lossy(path).into_owned())
}

/// A path as a word of a shell, quoted if necessary; `None` if quoting is not sufficient.
pub(super) fn shell_word(path: &[u8]) -> Option<String> {
    if let Some(word) = word(path).filter(|word| !word.starts_with('~')) {
        return Some(word);
    }
    let text = std::str::from_utf8(path)
        .ok()
        .filter(|text| !text.chars().any(is_unsafe) && !text.starts_with('-'))?;
    // A backslash before a line end or a backtick would belong to the Dockerfile.
    (!text.contains(['\'', '\\', '`', '"', '<']) && !text.is_empty()).then(|| format!("'{text}'"))
}

/// Variable names used in a text as `$NAME` or `${NAME...}`.
pub(super) fn variables(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices('$').filter_map(|(at, _)| {
        let rest = text.get(at + 1..)?;
        let rest = rest.strip_prefix('{').unwrap_or(rest);
        let end = rest.find(|one: char| !one.is_ascii_alphanumeric() && one != '_').unwrap_or(rest.len());
        rest.get(..end).filter(|name| !name.is_empty())
    })
}
