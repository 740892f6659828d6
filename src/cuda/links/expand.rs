//! Dynamic string tokens `$ORIGIN`, `$LIB` and `$PLATFORM` in search paths and names.

/// Values of the tokens.
pub(super) struct Tokens<'a> {
    /// `$ORIGIN`: folder of the object with the text.
    pub(super) origin: &'a [u8],
    /// `$LIB`: `lib64`, `lib`, or `lib/x86_64-linux-gnu` on Debian.
    pub(super) lib: &'a [u8],
    /// `$PLATFORM`: name of the machine.
    pub(super) platform: &'a [u8],
}

/// Maximum length of a path, in bytes (`PATH_MAX`).
pub(super) const PATH_BYTES: usize = 4096;

/// `text` with its tokens replaced; empty if the result exceeds [`PATH_BYTES`]. Other `$` are unchanged. A
/// token ends before a character other than a letter, digit or `_`, or at its closing brace (`is_dst` of
/// glibc).
pub(super) fn expand(text: &[u8], tokens: &Tokens<'_>) -> Vec<u8> {
    let mut expanded = Vec::with_capacity(text.len());
    let mut left = text;
    while let Some(dollar) = left.iter().position(|byte| *byte == b'$') {
        expanded.extend_from_slice(&left[..dollar]);
        left = &left[dollar + 1..];
        let known = [(&b"ORIGIN"[..], tokens.origin), (b"PLATFORM", tokens.platform), (b"LIB", tokens.lib)];
        match known.iter().find_map(|(name, value)| Some((after(left, name)?, value))) {
            Some((rest, value)) => {
                expanded.extend_from_slice(value);
                left = rest;
            }
            None => expanded.push(b'$'),
        }
        if expanded.len() > PATH_BYTES {
            return Vec::new();
        }
    }
    expanded.extend_from_slice(left);
    expanded
}

/// The rest after the token `name` at the start of `text`; `None` if it is another one.
fn after<'a>(text: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    if let Some(inner) = text.strip_prefix(b"{") {
        return inner.strip_prefix(name)?.strip_prefix(b"}");
    }
    let rest = text.strip_prefix(name)?;
    let goes_on = rest.first().is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    (!goes_on).then_some(rest)
}
