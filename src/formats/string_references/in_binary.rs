//! Whether a word of a program or library refers to a program or file.

use std::ops::Range;

use super::around::{has_argument, is_prose};
use super::command::REACH;
use super::words::Word;

/// Whether the word at `place` of a binary refers to a program or file. Random bytes may look like a short word, so
/// that must be a complete string; an English word must begin one.
pub(super) fn refers_to(bytes: &[u8], place: &Range<usize>, word: Word) -> bool {
    let before = bytes.get(..place.start).unwrap_or(&[]);
    let rest = bytes.get(place.end..).unwrap_or(&[]);
    if !before.last().is_none_or(|byte| is_readable(*byte))
        || !rest.first().is_none_or(|byte| is_readable(*byte))
    {
        return false;
    }
    // A compiler writes its name and its build folders into its output.
    let is_part = |byte: &&u8| byte.is_ascii_alphanumeric() || b"._+-".contains(byte);
    let folder = rest.iter().take(REACH).find(|byte| !is_part(byte)) == Some(&b'/');
    // `%s%clang%c` prints a character before it.
    if folder || rest.starts_with(b" LLVM") || before.ends_with(b"%") {
        return false;
    }
    if !word.is_english() && !word.is_short() {
        return true;
    }
    let begin = before.iter().rev().take(REACH).take_while(|byte| is_printable(**byte)).count();
    let end = rest.iter().take(REACH).take_while(|byte| is_printable(**byte)).count();
    let string = &before[before.len() - begin..];
    let bounded = before.len().checked_sub(begin + 1).is_none_or(|at| before[at] == 0)
        && rest.get(end).is_none_or(|byte| *byte == 0);
    if !bounded || !word.is_english() {
        return bounded;
    }
    let alone = matches!(rest, [] | [0 | b' ', ..])
        && !is_prose(word.text, rest)
        && !(word.text == "make" && is_description(&rest[..end]))
        && !(word.is_weak() && rest.starts_with(b" ") && !has_argument(rest, word.text));
    let with_path = string.ends_with(b"/") && !string.contains(&b' ') && !string.contains(&b':');
    alone && (string.is_empty() || with_path)
}

/// Whether words follow that are no targets: `make fractal surface`.
fn is_description(rest: &[u8]) -> bool {
    const TARGETS: [&[u8]; 7] = [b"all", b"build", b"check", b"clean", b"dist", b"install", b"test"];
    let mut words = rest.split(|byte| *byte == b' ').filter(|word| !word.is_empty()).peekable();
    let is_plain = |word: &[u8]| word.iter().all(u8::is_ascii_alphabetic);
    let is_prose = |word: &[u8]| is_plain(word) && !TARGETS.contains(&word);
    words.next().is_some_and(is_prose) && words.peek().is_some() && words.all(is_prose)
}

/// Whether the word at `place` of a binary is a complete string.
pub(super) fn is_whole(bytes: &[u8], place: &Range<usize>) -> bool {
    let before = place.start.checked_sub(1).and_then(|at| bytes.get(at));
    before.is_none_or(|byte| *byte == 0) && bytes.get(place.end).is_none_or(|byte| *byte == 0)
}

/// Whether the word at `place` is part of a compiler identification: an ident string (`GCC: (conda-forge gcc 12.4.0-2)
/// 12.4.0`), a version (`gcc version 12.2.0`, `built by gcc 12.2.0`), or the note that CUDA 13 adds to GPU code.
/// In a text `compiler: ` is a setting.
pub(super) fn is_ident(bytes: &[u8], place: &Range<usize>, is_text: bool) -> bool {
    let before = bytes.get(place.start.saturating_sub(REACH)..place.start).unwrap_or(&[]);
    let from = before.iter().rposition(|byte| matches!(byte, 0 | b'\n' | b'\r')).map_or(0, |at| at + 1);
    let before = &before[from..];
    let rest = bytes.get(place.end..).unwrap_or(&[]);
    // `gcc-13 (Ubuntu 13.2.0-23ubuntu4)`
    let suffix = rest.strip_prefix(b"-").map_or(0, |rest| {
        1 + rest.iter().take(REACH).take_while(|byte| byte.is_ascii_digit() || **byte == b'.').count()
    });
    let after = rest.get(if suffix > 1 { suffix } else { 0 }..).unwrap_or(&[]);
    before.starts_with(b"GCC: (")
        || !is_text && before.ends_with(b"compiler: ")
        // An option that SQLite was compiled with: `COMPILER=gcc-12.2.0`.
        || before == b"COMPILER=" && suffix > 1 && after.first().is_none_or(|byte| *byte == 0)
        || after.starts_with(b" version ")
        || after.strip_prefix(b" (").is_some_and(|rest| rest.first().is_some_and(u8::is_ascii_uppercase))
        || after.strip_prefix(b" ").is_some_and(is_version)
        || rest.starts_with(b"\0Cuda compilation tools, release ")
}

/// Whether a text begins with a version such as `12.2`, not with a file name such as `1.c`.
fn is_version(text: &[u8]) -> bool {
    let digits = text.iter().take(REACH).take_while(|byte| byte.is_ascii_digit()).count();
    let minor = text.get(digits..).and_then(|rest| rest.strip_prefix(b"."));
    digits > 0 && minor.and_then(<[u8]>::first).is_some_and(u8::is_ascii_digit)
}

fn is_printable(byte: u8) -> bool {
    matches!(byte, b'\t' | b'\n' | b'\r' | 0x20..=0x7e)
}

fn is_readable(byte: u8) -> bool {
    byte == 0 || is_printable(byte)
}
