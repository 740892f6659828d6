//! The words, and where one begins and ends.

use super::NAME_BYTES;

/// What is looked for: tools of the build and of those who measure, headers of CUDA, and what asks a framework
/// to compile or to load libraries.
pub const WORDS: [&str; 37] = [
    "nvcc",
    "ptxas",
    "nvlink",
    "fatbinary",
    "cudafe++",
    "cuobjdump",
    "nvdisasm",
    "nvprune",
    "cicc",
    "libdevice",
    "libnvvm",
    "libcudadevrt",
    "cpp_extension",
    "load_inline",
    "RawKernel",
    "cuda_runtime.h",
    "cuda_fp16.h",
    "gcc",
    "g++",
    "clang",
    "cc1",
    "ninja",
    "cmake",
    "make",
    "git",
    "gdb",
    "cuda-gdb",
    "compute-sanitizer",
    "nsys",
    "ncu",
    "nvprof",
    "perf",
    "strace",
    "valgrind",
    "pkg-config",
    "CUDA_HOME",
    "preload_dlls",
];

/// The key of names of shared libraries.
pub(super) const SHARED: &str = ".so";

/// Bytes of the version behind it: `.so.535.104.05` has 14.
const VERSION_BYTES: usize = 32;

/// A few bytes that stand in some words, chosen to be rare in text and short enough for a vectorised search.
pub(super) struct Key {
    pub(super) text: &'static str,
    /// Places in [`WORDS`], and where the key stands in each.
    pub(super) words: &'static [(usize, usize)],
}

const fn key(text: &'static str, words: &'static [(usize, usize)]) -> Key {
    Key { text, words }
}

/// Every word has its key; the tests check the numbers. With 32 keys the search is twice as fast as with more.
pub(super) const KEYS: [Key; 32] = [
    key("nvcc", &[(0, 0)]),
    key("ptxa", &[(1, 0)]),
    key("nvli", &[(2, 0)]),
    key("fatb", &[(3, 0)]),
    key("afe+", &[(4, 3)]),
    key("cuob", &[(5, 0)]),
    key("nvdi", &[(6, 0)]),
    key("nvpr", &[(7, 0), (30, 0)]),
    key("cicc", &[(8, 0)]),
    key("dev", &[(9, 3), (11, 7)]),
    key("nvvm", &[(10, 3)]),
    key("cpp_", &[(12, 0)]),
    key("oad_", &[(13, 1), (36, 4)]),
    key("RawK", &[(14, 0)]),
    key("uda_", &[(15, 1), (16, 1)]),
    key("gcc", &[(17, 0)]),
    key("g++", &[(18, 0)]),
    key("clan", &[(19, 0)]),
    key("cc1", &[(20, 0)]),
    key("ninj", &[(21, 0)]),
    key("make", &[(22, 1), (23, 0)]),
    key("git", &[(24, 0)]),
    key("gdb", &[(25, 0), (26, 5)]),
    key("-san", &[(27, 7)]),
    key("nsys", &[(28, 0)]),
    key("ncu", &[(29, 0)]),
    key("perf", &[(31, 0)]),
    key("stra", &[(32, 0)]),
    key("valg", &[(33, 0)]),
    key("pkg-", &[(34, 0)]),
    key("A_HO", &[(35, 3)]),
    key(SHARED, &[]),
];

/// One of [`WORDS`].
#[derive(Clone, Copy)]
pub(super) struct Word {
    pub(super) text: &'static str,
}

impl Word {
    /// Whether it is a word of English too, and counts only as a command.
    pub(super) fn is_english(self) -> bool {
        matches!(self.text, "make" | "git" | "perf")
    }

    /// Whether it is so short that any bytes may look like it.
    pub(super) fn is_short(self) -> bool {
        self.text.len() <= 3
    }
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Whether a word is no part of a longer one. What follows may be a version (`gcc-13`, `libdevice.10.bc`); what
/// stands before may be a folder, the machine that a compiler is for (`x86_64-linux-gnu-gcc`), or an escape such
/// as `\n`.
pub(super) fn stands_alone(bytes: &[u8], start: usize, end: usize, word: &str) -> bool {
    let after = match bytes.get(end..).unwrap_or(&[]) {
        [b'+', b'+', rest @ ..] if word == "clang" => rest.first(),
        rest => rest.first(),
    };
    if after.is_some_and(|byte| is_name(*byte) || *byte == b'+') {
        return false;
    }
    match &bytes[..start] {
        [] | [.., b'\\', b'n' | b't' | b'r'] => true,
        before if before.ends_with(b"-gnu-") || before.ends_with(b"-musl-") => true,
        // A file of a repository that is read without git.
        [before @ .., b'.'] if word == "git" => {
            !before.last().is_some_and(|byte| is_name(*byte))
                && is_repository(bytes.get(end..).unwrap_or(&[]))
        }
        // Python's names are reached through their module: `cupy.RawKernel`.
        [.., b'.'] => matches!(word, "cpp_extension" | "load_inline" | "RawKernel" | "preload_dlls"),
        [.., last] => !is_name(*last) && !matches!(last, b'+' | b'-'),
    }
}

/// Whether what follows `.git` is a file that says which commit is checked out.
fn is_repository(rest: &[u8]) -> bool {
    [&b"/HEAD"[..], b"/refs/", b"/logs/", b"/packed-refs"].iter().any(|file| rest.starts_with(file))
}

/// The name of the shared library whose `.so` stands at `at`, with the numbers that follow.
pub(super) fn library(bytes: &[u8], at: usize, at_start: bool) -> Option<&[u8]> {
    let mut end = at + SHARED.len();
    while let Some([b'.', digits @ ..]) = bytes.get(end..) {
        let count = digits.iter().take(VERSION_BYTES).take_while(|byte| byte.is_ascii_digit()).count();
        if count == 0 {
            break;
        }
        end += 1 + count;
        if end - at > VERSION_BYTES {
            return None;
        }
    }
    if bytes.get(end).is_some_and(|byte| is_name(*byte)) {
        return None;
    }
    // The longest name that is kept, and the byte before it.
    let least = end.saturating_sub(NAME_BYTES + 1);
    let is_part = |byte: &u8| is_name(*byte) || matches!(byte, b'.' | b'+' | b'-');
    let token = bytes.get(least..at)?;
    let token = &token[token.iter().rposition(|byte| !is_part(byte)).map_or(0, |place| place + 1)..];
    let begin = at - token.len();
    // At the edge of what is looked at, the byte before is not known.
    let first = usize::from(begin == least && !(at_start && begin == 0));
    let place = (first..token.len())
        .find(|place| token[*place..].starts_with(b"lib") && (*place == 0 || !is_name(token[*place - 1])))?;
    bytes.get(begin + place..end).filter(|name| name.len() <= NAME_BYTES)
}

/// Whether a line is a remark: it begins with `#`, and that is neither `#!` nor the `#include` of C code that a
/// script holds.
pub(super) fn is_remark(line: &[u8]) -> bool {
    let blanks = line.iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\r')).count();
    let Some([b'#', rest @ ..]) = line.get(blanks..) else { return false };
    !rest.starts_with(b"!") && !rest.trim_ascii_start().starts_with(b"include")
}

/// How words are stored: as a number with a bit for each of [`WORDS`].
pub(super) mod numbers {
    use serde::de::{Deserialize as _, Deserializer, Error as _};
    use serde::ser::{Error as _, Serializer};

    use super::WORDS;

    pub(in crate::formats::mentions) fn serialize<S: Serializer>(
        words: &[&'static str],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let mut bits = 0_u64;
        for word in words {
            let place = WORDS.iter().position(|known| known == word);
            bits |= 1 << place.ok_or_else(|| S::Error::custom("a word that is not looked for"))?;
        }
        serializer.serialize_u64(bits)
    }

    pub(in crate::formats::mentions) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<&'static str>, D::Error> {
        let bits = u64::deserialize(deserializer)?;
        if bits >> WORDS.len() != 0 {
            return Err(D::Error::custom("a word that is not looked for"));
        }
        Ok((0..).zip(WORDS).filter(|(place, _)| bits >> place & 1 == 1).map(|(_, word)| word).collect())
    }
}
