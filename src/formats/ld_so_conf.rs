//! `/etc/ld.so.conf` and the files of `/etc/ld.so.conf.d`: folders searched by the glibc loader.
//!
//! Lines are parsed as in `parse_conf` and `add_dir` of ldconfig.

/// A line with an effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Line {
    /// A folder to search, without trailing slashes.
    Folder(Vec<u8>),
    /// A pattern of files to include, for [`glob_match`]. Without a leading slash it is relative to the folder of the
    /// file that contains it. Matches are read in order of their names.
    Include(Vec<u8>),
}

/// Maximum lines of a file. Real ones have a few.
const LINES: usize = 10_000;

/// Parses such a file: the first 10,000 lines that have an effect.
pub fn read(bytes: &[u8]) -> Vec<Line> {
    bytes.split(|byte| *byte == b'\n').flat_map(read_line).take(LINES).collect()
}

fn read_line(line: &[u8]) -> Vec<Line> {
    // There are no quotes: the first `#` begins a comment. A NUL ends the line, as in C.
    let line = line.split(|byte| matches!(byte, b'#' | 0)).next().unwrap_or_default();
    let line = trim_start(line);
    if let Some((b"include", [b' ' | b'\t', patterns @ ..])) = line.split_at_checked(7) {
        let patterns = patterns.split(|byte| matches!(byte, b' ' | b'\t')).filter(|one| !one.is_empty());
        return patterns.map(|one| Line::Include(one.to_vec())).collect();
    }
    // `hwcap` is obsolete and ignored.
    if let Some((word, [b' ' | b'\t', ..])) = line.split_at_checked(5)
        && word.eq_ignore_ascii_case(b"hwcap")
    {
        return Vec::new();
    }
    // A library kind may follow: `/lib=libc6`.
    let mut folder = line.split(|byte| *byte == b'=').next().unwrap_or_default();
    while let [rest @ .., last] = folder
        && is_space(*last)
    {
        folder = rest;
    }
    while let [rest @ .., b'/'] = folder {
        folder = rest;
    }
    // ldconfig removes trailing slashes, which leaves nothing of the root.
    if folder.is_empty() { Vec::new() } else { vec![Line::Folder(folder.to_vec())] }
}

/// White space as in C `isspace`, vertical tab included.
fn is_space(byte: u8) -> bool {
    byte.is_ascii_whitespace() || byte == 0x0b
}

fn trim_start(mut line: &[u8]) -> &[u8] {
    while let [first, rest @ ..] = line
        && is_space(*first)
    {
        line = rest;
    }
    line
}

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

/// Body of a fuzz target: must never panic.
#[cfg(feature = "fuzzing")]
pub fn fuzz_ld_so_conf(bytes: &[u8]) {
    for line in read(bytes).iter().take(64) {
        let (Line::Folder(text) | Line::Include(text)) = line;
        let half = text.len().min(200) / 2;
        let (pattern, name) =
            text.get(..2 * half).unwrap_or_default().split_at_checked(half).unwrap_or_default();
        glob_match(pattern, name);
    }
    super::os_release::read(bytes);
    super::cuda_version::read(bytes);
}

#[cfg(test)]
mod tests {
    use super::{Line, glob_match, read};

    fn folder(path: &str) -> Line {
        Line::Folder(path.into())
    }

    fn include(pattern: &str) -> Line {
        Line::Include(pattern.into())
    }

    #[test]
    fn lines_are_read_as_ldconfig_reads_them() {
        let text = b"# all\n\n\tinclude /etc/ld.so.conf.d/*.conf  more/*.conf # both\r\n\
            /usr/local/cuda/targets/x86_64-linux/lib/\n  /opt/a b/lib \t\n/lib=libc6\n/old = glibc2\n\
            hwcap 1 nosegneg\nHWCAP\t0 x\nhwcapfolder\nincluded/lib\n////\n/\n=\ninclude\n/a:/b,/c\n/end";
        let expected = vec![
            include("/etc/ld.so.conf.d/*.conf"),
            include("more/*.conf"),
            folder("/usr/local/cuda/targets/x86_64-linux/lib"),
            folder("/opt/a b/lib"),
            folder("/lib"),
            folder("/old"),
            folder("hwcapfolder"),
            folder("included/lib"),
            folder("include"),
            folder("/a:/b,/c"),
            folder("/end"),
        ];
        assert_eq!(read(text), expected);
        assert_eq!(read(b"/a\0b\n/c"), vec![folder("/a"), folder("/c")]);
        assert_eq!(read(&b"/a\n".repeat(20_000)).len(), 10_000);
    }

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
        ] {
            assert_eq!(glob_match(pattern.as_bytes(), name.as_bytes()), expected, "{pattern} {name}");
        }
        // Many stars take no exponential time.
        assert!(!glob_match(&b"*a".repeat(500), &b"a".repeat(499)));
        assert!(!glob_match(&[b"*a".repeat(500), b"b".to_vec()].concat(), &b"a".repeat(5000)));
    }
}
