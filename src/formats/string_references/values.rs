//! Whether a command is the value of a setting or of a variable, or follows variables that are set for it.

use std::ops::Range;

use super::around::has_argument;
use super::command::REACH;

/// Keys of settings whose value is a program.
const SETTINGS: [&[u8]; 11] = [
    b"binary",
    b"cmd",
    b"command",
    b"compiler",
    b"driver",
    b"executable",
    b"linker",
    b"prog",
    b"program",
    b"script",
    b"tool",
];

/// Whether a command follows variables that are set for it alone: `CFLAGS=-O2 cc -c x.c`.
pub(super) fn follows_variables(before: &[u8], whole_line: bool) -> bool {
    let start = before
        .iter()
        .rposition(|byte| matches!(byte, b' ' | b'\t' | b'\'' | b'"' | b'`' | b'(' | b';' | b'&' | b'|'));
    let (head, token) = before.split_at(start.map_or(0, |start| start + 1));
    let name = token.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
    let is_set = name > 0 && !token[0].is_ascii_digit() && token.get(name) == Some(&b'=');
    if !is_set {
        return false;
    }
    match head.trim_ascii_end() {
        [] => whole_line,
        [.., b'\'' | b'"' | b'`' | b'(' | b';' | b'&' | b'|'] => true,
        head => follows_variables(head, whole_line),
    }
}

/// Whether a command is the value of a setting for one: `command = cc -O2 x.c`.
pub(super) fn is_value(before: &[u8]) -> bool {
    matches!(before, [.., b'=' | b':']) && is_setting(key_before(before))
}

/// The key of a setting before its value, without quotes and brackets: `VCS` of `env[VCS] =`; empty if there is none.
pub(super) fn key_before(before: &[u8]) -> &[u8] {
    let [head @ .., b'=' | b':'] = before else { return &[] };
    let key = head.trim_ascii_end();
    let key = key.strip_suffix(b"]").unwrap_or(key);
    let key = key.strip_suffix(b"\"").or_else(|| key.strip_suffix(b"'")).unwrap_or(key);
    let length = key.iter().rev().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
    &key[key.len() - length..]
}

/// Whether a word alone is the value of a variable of Tcl or of a C shell that is set in this line: `set compiler cc`.
pub(super) fn is_set(before: &[u8], rest: &[u8]) -> bool {
    let mut words = before.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    let first = words.next();
    let is_name = |word: &[u8]| word.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    first == Some(b"set")
        && words.next().is_some_and(is_name)
        && words.next().is_none()
        && matches!(rest, [] | [b'\n' | b'\r' | b';', ..])
}

/// Whether the value of a setting with this name is a program.
pub(super) fn is_setting(name: &[u8]) -> bool {
    let lower = name.to_ascii_lowercase();
    let last = lower.rsplit(|byte| b"_-".contains(byte)).next().unwrap_or_default();
    SETTINGS.iter().any(|part| lower.ends_with(part))
        || matches!(last, b"bin" | b"cc" | b"cxx" | b"exe" | b"fc")
}

/// Whether a program is the name in a setting for one, which begins before: `compiler:` and then `  name: c++`, the section
/// `[compiler]`, or `"compiler": {"name": "c++"}`.
pub(super) fn is_nested(text: &[u8], before: &[u8], line: usize) -> bool {
    /// Bytes above that are looked at.
    const ABOVE: usize = 1 << 11;
    let [head @ .., b'=' | b':'] = before else { return false };
    // In the same line.
    let (outer, key) = match head.iter().rposition(|byte| *byte == b'{') {
        Some(at) => (Some(head[..at].trim_ascii_end()), &head[at + 1..]),
        None => (None, head),
    };
    let key = key.trim_ascii();
    let key = unquoted(key.strip_prefix(b"- ").unwrap_or(key).trim_ascii_start());
    if !matches!(key, b"name" | b"path" | b"bin" | b"program") {
        return false;
    }
    if let Some(outer) = outer.filter(|outer| outer.ends_with(b":")) {
        return is_parent(outer);
    }
    let Some(end) = line.checked_sub(1).filter(|end| *end <= text.len()) else { return false };
    let indent = |line: &[u8]| line.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    let own = indent(head);
    let mut above = text[end.saturating_sub(ABOVE)..end].rsplit(|byte| *byte == b'\n');
    let parent = above.find(|line| {
        let is_section = line.trim_ascii_start().starts_with(b"[");
        !line.trim_ascii().is_empty() && (is_section || indent(line) < own)
    });
    parent.is_some_and(|line| {
        let line = line.split(|byte| *byte == b'#').next().unwrap_or_default().trim_ascii();
        match line.strip_prefix(b"[").and_then(|line| line.strip_suffix(b"]")) {
            Some(section) => is_setting(section.rsplit(|byte| *byte == b'.').next().unwrap_or_default()),
            None => is_parent(line.strip_suffix(b"{").unwrap_or(line).trim_ascii_end()),
        }
    })
}

/// Whether a line that ends with a key is a setting for a program: `compilers:`.
fn is_parent(line: &[u8]) -> bool {
    let Some(head) = line.strip_suffix(b":") else { return false };
    let key = head.rsplit(|byte| b"{, \t".contains(byte)).next().unwrap_or_default();
    let key = unquoted(key);
    is_setting(key.strip_suffix(b"s").unwrap_or(key)) || is_setting(key)
}

fn unquoted(key: &[u8]) -> &[u8] {
    let without = |quote: &[u8]| key.strip_prefix(quote)?.strip_suffix(quote);
    without(b"\"").or_else(|| without(b"'")).unwrap_or(key)
}

/// Whether a command with an option is the value of any setting, alone in its line: `kernels: make -C native`.
pub(super) fn is_named(before: &[u8], rest: &[u8], word: &str) -> bool {
    let [key @ .., b'=' | b':'] = before else { return false };
    let key = key.trim_ascii();
    let key = key.strip_prefix(b"- ").unwrap_or(key);
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-.".contains(byte);
    let is_key = !key.is_empty() && key.iter().all(is_part);
    is_key
        && (rest.starts_with(b" -")
            || (is_of_commands(key) || is_value(before)) && has_operand(rest)
            || word == "ar" && has_files(rest)
            || is_of_commands(key) && is_subcommand(word, rest)
            || word == "make" && is_target(key, rest)
            || matches!(word, "go" | "uv") && has_argument(rest, word))
}

/// Whether a value that is put in or a path follows: ` {file}`, ` $1`, ` /srv`; not ` / 2`.
fn has_operand(rest: &[u8]) -> bool {
    matches!(rest, [b' ', b'{' | b'$', ..])
        || matches!(rest, [b' ', b'/' | b'%', next, ..] if !next.is_ascii_whitespace())
}

/// Whether an operation and a file follow: `ar x {file}`.
fn has_files(rest: &[u8]) -> bool {
    let line = rest.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let mut words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    let is_operation =
        |word: &[u8]| word.len() < 7 && word.iter().all(|byte| b"abcdfimopqrstuvxDNPSTUV".contains(byte));
    words.next().is_some_and(is_operation)
        && words.next().is_some_and(|file| file.iter().any(|byte| b"{$/%.".contains(byte)))
}

/// Whether commands are usual values of a key: `post_start`, `shell`.
pub(super) fn is_of_commands(key: &[u8]) -> bool {
    const KEYS: [&[u8]; 22] = [
        b"after", b"before", b"build", b"cmd", b"command", b"compile", b"do", b"exec", b"fetch", b"hook",
        b"on", b"post", b"pre", b"prepare", b"pull", b"refresh", b"run", b"script", b"shell", b"start",
        b"sync", b"update",
    ];
    let lower = key.to_ascii_lowercase();
    lower.split(|byte| b"_-".contains(byte)).any(|part| KEYS.contains(&part))
}

/// Whether what follows `make` up to the end of the line is one word that looks like a target: `nightly: make report`. After
/// keys of texts, a word of one part is prose.
fn is_target(key: &[u8], rest: &[u8]) -> bool {
    const OF_TEXTS: [&[u8]; 14] = [
        b"action",
        b"caption",
        b"description",
        b"error",
        b"help",
        b"hint",
        b"label",
        b"message",
        b"name",
        b"note",
        b"placeholder",
        b"summary",
        b"text",
        b"title",
    ];
    // Up to the next command, where the output goes, or a remark; behind variables of make.
    let line = rest.split(|byte| b"\n\r#&|;>".contains(byte)).next().unwrap_or_default();
    let words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    let mut words = words.filter(|word| !word.contains(&b'='));
    let Some(target) = words.next().filter(|_| words.next().is_none()) else { return false };
    let is_part = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"_-./%".contains(byte);
    let key = key.rsplit(|byte| b"_-.".contains(byte)).next().unwrap_or_default();
    target.iter().all(is_part)
        && (!OF_TEXTS.contains(&key) || target.iter().any(|byte| b"_-./".contains(byte)))
}

/// Whether what follows `git` is one of its commands, and what follows `make` one word: a target.
pub(super) fn is_subcommand(word: &str, rest: &[u8]) -> bool {
    const OF_GIT: [&[u8]; 18] = [
        b"add",
        b"archive",
        b"checkout",
        b"clean",
        b"clone",
        b"commit",
        b"describe",
        b"diff",
        b"fetch",
        b"init",
        b"log",
        b"ls-files",
        b"pull",
        b"push",
        b"reset",
        b"rev-parse",
        b"show",
        b"submodule",
    ];
    let line = rest.split(|byte| b"\n;&|".contains(byte)).next().unwrap_or_default();
    let mut words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    let Some(first) = words.next() else { return false };
    match word {
        "git" => OF_GIT.contains(&first),
        "make" => words.next().is_none(),
        _ => false,
    }
}

/// Whether the line of a name reads variables of the environment, or of the build of Python or Ruby.
pub(super) fn is_of_environment(text: &[u8], place: &Range<usize>, line: usize) -> bool {
    let before = text.get(line.max(place.start.saturating_sub(REACH))..place.start);
    before.is_some_and(|before| {
        // `RbConfig::CONFIG["CC"]` of Ruby
        let of_ruby =
            || [&b"CONFIG["[..], b"CONFIG."].iter().any(|key| memchr::memmem::find(before, key).is_some());
        matches!(before, [.., b'\'' | b'"']) && (reads_environment(before) || of_ruby())
    })
}

/// Whether a text before a quoted word reads variables: the word is one, or its default, as in
/// `os.environ.get("CC", "cc")` and `ENV["CC"] || "cc"`.
pub(super) fn reads_environment(before: &[u8]) -> bool {
    const READS: [&[u8]; 7] = [b"environ", b"getenv", b"env.", b"env[", b"env(", b"_env", b"config_var"];
    let lower = before.to_ascii_lowercase();
    READS.iter().any(|part| memchr::memmem::find(&lower, part).is_some())
}
