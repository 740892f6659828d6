//! Facts of files as people read them.

use chrono::DateTime;

use crate::base::size::{grouped, human};
use crate::base::text::{escape, is_unsafe, printable};
use crate::rootfs::NodeKind;

/// Bytes of a name to save a file under; file systems take 255.
const SAVE_NAME: usize = 240;

/// Mode bits as `ls -l` writes them, and in octal: `-rwxr-xr-x (755)`.
pub fn mode(mode: u16, kind: NodeKind) -> String {
    let mut text = String::with_capacity(16);
    text.push(match kind {
        NodeKind::Directory => 'd',
        NodeKind::Symlink => 'l',
        NodeKind::File => '-',
        NodeKind::Other => '?',
    });
    for (shift, special, letter) in [(6, 0o4000, 's'), (3, 0o2000, 's'), (0, 0o1000, 't')] {
        let bits = mode >> shift;
        text.push(if bits & 4 == 0 { '-' } else { 'r' });
        text.push(if bits & 2 == 0 { '-' } else { 'w' });
        text.push(match (bits & 1 != 0, mode & special != 0) {
            (true, true) => letter,
            (false, true) => letter.to_ascii_uppercase(),
            (true, false) => 'x',
            (false, false) => '-',
        });
    }
    format!("{text} ({mode:o})")
}

/// A size with its bytes: `1.20 MiB (1,258,291 bytes)`.
pub fn exact(bytes: u64) -> String {
    if bytes < 1024 { human(bytes) } else { format!("{} ({} bytes)", human(bytes), grouped(bytes)) }
}

/// A path for the clipboard: as it is, or escaped where it could do harm when it is pasted.
pub fn copy_text(raw: &[u8]) -> String {
    let harmless = |text: &&str| !text.chars().any(is_unsafe);
    std::str::from_utf8(raw).ok().filter(harmless).map_or_else(|| escape(raw), ToOwned::to_owned)
}

/// A name to save a file under: the name in the image, with `_` for characters that could do harm in a dialog or a
/// terminal, short enough for any file system with an ending added.
pub fn save_name(name: &[u8]) -> String {
    let is_bad = |c: char| is_unsafe(c) || c == '/' || c == char::REPLACEMENT_CHARACTER;
    let name = String::from_utf8_lossy(name);
    let name: String = name.chars().map(|c| if is_bad(c) { '_' } else { c }).collect();
    end_of(&name, SAVE_NAME).to_owned()
}

/// The last characters of a name, at most `bytes` bytes of them.
pub fn end_of(name: &str, bytes: usize) -> &str {
    let start = (name.len().saturating_sub(bytes)..=name.len()).find(|at| name.is_char_boundary(*at));
    &name[start.unwrap_or(name.len())..]
}

/// A share in words for a column of numbers: `< 0.1 %` for `under 0.1 %`.
pub fn short_share(words: &str) -> String {
    words.replace("under ", "< ").replace("over ", "> ")
}

/// Seconds since 1970 as `2026-01-02 03:04:05 UTC`; years beyond 262,000 as the number of seconds.
pub fn utc(seconds: i64) -> String {
    match DateTime::from_timestamp(seconds, 0) {
        Some(time) => time.format("%Y-%m-%d %H:%M:%S UTC").to_string(),
        None => format!("{seconds} s after 1970-01-01 UTC"),
    }
}

/// A time of a config, RFC 3339, in the same form; one that is not understood as it is.
pub fn created(text: &str) -> String {
    DateTime::parse_from_rfc3339(text).map_or_else(|_| printable(text), |time| utc(time.timestamp()))
}

#[cfg(test)]
mod tests {
    use super::{created, mode, save_name, utc};
    use crate::rootfs::NodeKind;

    #[test]
    fn names_to_save_under_are_harmless() {
        for (name, shown) in [
            (&b".bashrc"[..], ".bashrc"),
            (b"a\nb\x1b[31m\xff.txt", "a_b_[31m_.txt"),
            ("gnp\u{202e}exe".as_bytes(), "gnp_exe"),
            ("\u{7532} \u{e4}.so".as_bytes(), "\u{7532} \u{e4}.so"),
            (b"", ""),
        ] {
            assert_eq!(save_name(name), shown);
        }
        let long = save_name(format!("{}.txt", "\u{7532}".repeat(85)).as_bytes());
        assert!(long.len() <= 240 && long.ends_with("\u{7532}.txt"));
    }

    #[test]
    fn modes_read_as_in_a_listing() {
        assert_eq!(mode(0o755, NodeKind::File), "-rwxr-xr-x (755)");
        assert_eq!(mode(0o1777, NodeKind::Directory), "drwxrwxrwt (1777)");
        assert_eq!(mode(0o4644, NodeKind::File), "-rwSr--r-- (4644)");
    }

    #[test]
    fn times_are_those_of_date() {
        assert_eq!(utc(0), "1970-01-01 00:00:00 UTC");
        assert_eq!(utc(1_767_323_045), "2026-01-02 03:04:05 UTC");
        assert_eq!(utc(951_782_400), "2000-02-29 00:00:00 UTC");
        assert_eq!(utc(-1), "1969-12-31 23:59:59 UTC");
        assert_eq!(created("2026-01-02T04:04:05.123456789+01:00"), "2026-01-02 03:04:05 UTC");
        assert_eq!(created("yesterday"), "yesterday");
        assert!(utc(i64::MAX).ends_with(" UTC") && utc(i64::MIN).ends_with(" UTC"));
    }
}
