//! `/etc/ld.so.conf` and the files of `/etc/ld.so.conf.d`: folders searched by the glibc loader.
//!
//! Lines are parsed as in `parse_conf` and `add_dir` of ldconfig.

/// A line with an effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Line {
    /// A folder to search, without trailing slashes.
    Folder(Vec<u8>),
    /// A pattern of files to include, for [`glob_match`](super::glob::glob_match). Without a leading slash it is relative to the folder of the
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

/// Body of a fuzz target: must never panic.
#[cfg(feature = "fuzzing")]
pub fn fuzz_ld_so_conf(bytes: &[u8]) {
    for line in read(bytes).iter().take(64) {
        let (Line::Folder(text) | Line::Include(text)) = line;
        let half = text.len().min(200) / 2;
        let (pattern, name) =
            text.get(..2 * half).unwrap_or_default().split_at_checked(half).unwrap_or_default();
        super::glob::glob_match(pattern, name);
    }
    super::os_release::read(bytes);
    super::cuda_version::read(bytes);
}

#[cfg(test)]
mod tests {
    use super::{Line, read};

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
}
