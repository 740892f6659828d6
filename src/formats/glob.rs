//! Matching of one name or path with one glob, as in C and shells.

/// Whether all of `name` matches a pattern of `glob`: `*` and `?` match anything but a slash, `[a-z]` one byte of a
/// set, `[!a-z]` one byte outside it, and a backslash escapes the next byte. A dot at the start of a name, or after a
/// slash, is matched by a dot only.
pub fn glob_match(pattern: &[u8], name: &[u8]) -> bool {
    let (mut p, mut n) = (0, 0);
    // Where to resume after a mismatch: after the last star, one byte further into the name. An earlier star never
    // helps, so the time is at most the product of both lengths.
    let mut retry: Option<(usize, usize)> = None;
    loop {
        let hidden = name.get(n) == Some(&b'.') && (n == 0 || name.get(n - 1) == Some(&b'/'));
        match (pattern.get(p), name.get(n)) {
            (Some(b'*'), _) if !hidden => {
                p += 1;
                retry = Some((p, n));
                continue;
            }
            (None, None) => return true,
            (Some(_), Some(byte)) => {
                if let Some(after) = match_one(pattern, p, *byte, hidden) {
                    (p, n) = (after, n + 1);
                    continue;
                }
            }
            _ => {}
        }
        match retry {
            Some((after, from)) if name.get(from).is_some_and(|byte| *byte != b'/') => {
                retry = Some((after, from + 1));
                (p, n) = (after, from + 1);
            }
            _ => return false,
        }
    }
}

/// Position in the pattern after its part at `p` matched `byte`; `None` if it does not match.
fn match_one(pattern: &[u8], p: usize, byte: u8, hidden: bool) -> Option<usize> {
    let any = byte != b'/' && !hidden;
    match *pattern.get(p)? {
        b'?' => any.then_some(p + 1),
        b'\\' => match pattern.get(p + 1) {
            Some(escaped) => (*escaped == byte).then_some(p + 2),
            None => (byte == b'\\').then_some(p + 1),
        },
        b'[' => match match_class(pattern, p + 1, byte) {
            Some((matches, after)) => (any && matches).then_some(after),
            None => (byte == b'[').then_some(p + 1),
        },
        own => (own == byte).then_some(p + 1),
    }
}

/// Whether the class that begins at `p` contains `byte`, and its end. `None` if it has no end.
fn match_class(pattern: &[u8], mut p: usize, byte: u8) -> Option<(bool, usize)> {
    let inverted = matches!(pattern.get(p)?, b'!' | b'^');
    if inverted {
        p += 1;
    }
    let start = p;
    let mut found = false;
    loop {
        match pattern.get(p)? {
            b']' if p > start => return Some((found != inverted, p + 1)),
            b'\\' if pattern.get(p + 1).is_some() => p += 1,
            _ => {}
        }
        let low = *pattern.get(p)?;
        let (high, next) = match (pattern.get(p + 1), pattern.get(p + 2)) {
            (Some(b'-'), Some(high)) if *high != b']' => (*high, p + 3),
            _ => (low, p + 1),
        };
        found |= (low..=high).contains(&byte);
        p = next;
    }
}

#[cfg(test)]
mod tests {
    use super::glob_match;

    #[test]
    fn patterns_match_as_glob_does() {
        for (pattern, name, expected) in [
            ("/etc/ld.so.conf.d/*.conf", "/etc/ld.so.conf.d/000_cuda.conf", true),
            ("/etc/ld.so.conf.d/*.conf", "/etc/ld.so.conf.d/.hidden.conf", false),
            ("/etc/ld.so.conf.d/*.conf", "/etc/ld.so.conf.d/a/b.conf", false),
            ("/etc/ld.so.conf.d/*.conf", "/etc/ld.so.conf.d/x.conf.bak", false),
            ("*", "", true),
            ("*", ".x", false),
            (".*", ".x", true),
            ("a*b*c", "aXbYbZc", true),
            ("a*b*c", "aXbYbZ", false),
            ("*/x*", "a/xb", true),
            ("a?c", "a/c", false),
            ("a?c", "abc", true),
            ("[a-c]x", "bx", true),
            ("[!a-c]x", "bx", false),
            ("[^a-c]x", "dx", true),
            ("[]-]x", "]x", true),
            ("[]-]x", "-x", true),
            ("[ab", "[ab", true),
            ("[ab", "a", false),
            ("[.]x", ".x", false),
            ("a[/]b", "a/b", false),
            ("\\*", "*", true),
            ("\\*", "x", false),
            ("a\\", "a\\", true),
            ("", "", true),
            ("", "a", false),
            ("a*", "a", true),
            ("libx*.so.*", "libx_ops.so.9", true),
            ("libx*.so", "libx.so.1", false),
            ("a*b*c", "abbc", true),
        ] {
            assert_eq!(glob_match(pattern.as_bytes(), name.as_bytes()), expected, "{pattern} {name}");
        }
        // Many stars take no exponential time.
        assert!(!glob_match(&b"*a".repeat(500), &b"a".repeat(499)));
        assert!(!glob_match(&[b"*a".repeat(500), b"b".to_vec()].concat(), &b"a".repeat(5000)));
    }
}
