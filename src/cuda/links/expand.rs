//! The tokens `$ORIGIN`, `$LIB` and `$PLATFORM` in search paths and names.

/// Values of the tokens.
pub(super) struct Tokens<'a> {
    /// The folder of the object that the text is from.
    pub(super) origin: &'a [u8],
    /// `lib64`, `lib`, or `lib/x86_64-linux-gnu` with Debian's layout.
    pub(super) lib: &'a [u8],
    /// The machine.
    pub(super) platform: &'a [u8],
}

/// Longer paths than this are no paths to a kernel (`PATH_MAX` is 4096).
pub(super) const PATH_BYTES: usize = 4096;

/// `text` with its tokens replaced, and nothing when it grows too long for a path; other `$` stay. A token ends where no letter, digit or `_` follows,
/// or with its brace (`is_dst` of glibc).
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

/// What follows a token at the start of `text`, when it is there.
fn after<'a>(text: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    if let Some(inner) = text.strip_prefix(b"{") {
        return inner.strip_prefix(name)?.strip_prefix(b"}");
    }
    let rest = text.strip_prefix(name)?;
    let goes_on = rest.first().is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    (!goes_on).then_some(rest)
}
