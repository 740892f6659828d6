//! What stands around a name.

use std::ops::Range;

use super::command::REACH;
use super::values::{is_setting, is_value, key_before};
use super::wrappers::{Content, Shell};

/// Words that follow `make` in prose.
const PROSE: [&[u8]; 12] =
    [b"sure", b"it", b"the", b"a", b"an", b"use", b"this", b"that", b"them", b"sense", b"your", b"our"];
/// Parts of names of functions that start or look up a program.
const FUNCTIONS: [&[u8]; 11] = [
    b"call", b"exec", b"hich", b"ommand", b"output", b"pen", b"rogram", b"run", b"shell", b"spawn", b"ystem",
];
/// Functions of Ruby that start programs, also without brackets.
const CALLS_OF_RUBY: [&[u8]; 8] =
    [b"capture2", b"capture2e", b"capture3", b"exec", b"popen", b"sh", b"spawn", b"system"];
/// Names of programs that are English words.
const ENGLISH: [&[u8]; 20] = [
    b"animate",
    b"as",
    b"compare",
    b"composite",
    b"convert",
    b"display",
    b"file",
    b"flex",
    b"host",
    b"identify",
    b"import",
    b"less",
    b"link",
    b"patch",
    b"script",
    b"size",
    b"stream",
    b"strings",
    b"time",
    b"watch",
];
/// Subcommands of go.
const OF_GO: [&[u8]; 14] = [
    b"build",
    b"clean",
    b"doc",
    b"env",
    b"fmt",
    b"generate",
    b"get",
    b"install",
    b"list",
    b"mod",
    b"run",
    b"test",
    b"tool",
    b"version",
];
/// Subcommands of uv.
const OF_UV: [&[u8]; 11] =
    [b"add", b"build", b"export", b"init", b"lock", b"pip", b"python", b"run", b"sync", b"tool", b"venv"];

/// Whether a command may end or go on with these bytes behind its name.
pub(super) fn ends_word(rest: &[u8]) -> bool {
    rest.first().is_none_or(|byte| b" \t\n\r'\"`;|}&).-\\".contains(byte))
}

/// Whether a line imports programs as functions of the Python packages `sh` or plumbum.
pub(super) fn imports_programs(before: &[u8]) -> bool {
    before.starts_with(b"from sh import ") || before.starts_with(b"from plumbum.cmd import ")
}

/// Whether `g++` between these bytes is an increment of a variable: `;g++)`, `[g++]`.
pub(super) fn is_increment(text: &[u8], place: &Range<usize>) -> bool {
    let before = text[..place.start].last();
    let after = text.get(place.end);
    before.is_some_and(|byte| b";,([&|+-?:!{}=<>".contains(byte))
        && after.is_some_and(|byte| b");,]}=+-*/&|?:<>".contains(byte))
}

/// Whether a quoted word between these texts is the first of a list, an argument of a function that starts programs, or
/// the value of a setting that names one.
pub(super) fn is_in_call(before: &[u8], after: &[u8]) -> bool {
    let name = |text: &[u8]| {
        let length =
            text.iter().rev().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
        text[text.len() - length..].to_vec()
    };
    match before {
        // In brackets after a name it is a key.
        [head @ .., b'['] => {
            let is_key =
                head.last().is_some_and(|byte| byte.is_ascii_alphanumeric() || b"_)]\"'".contains(byte));
            !is_key && matches!(after, [b',' | b']', ..])
        }
        // A tuple that begins the argument of a function.
        [head @ .., b'(', b'('] => is_function(head) && after.starts_with(b","),
        // `(0, child_process_1.spawn)("unzip", …)`, as compilers of TypeScript write it, and `promisify(exec)("unzip x")`.
        [head @ .., b'('] => is_function(head) || head.strip_suffix(b")").is_some_and(is_function),
        [head @ .., b'=' | b':'] => {
            let name = name(unquoted(head.trim_ascii_end()));
            let is_constant = !name.is_empty() && name.iter().all(|byte| !byte.is_ascii_lowercase());
            is_constant || is_setting(&name)
        }
        // `system 'strip', file` of Ruby
        _ => after.starts_with(b",") && CALLS_OF_RUBY.contains(&&name(before)[..]),
    }
}

/// Whether a word is the name of a compiler or linker and little else.
pub(super) fn is_compiler(word: &str) -> bool {
    matches!(word, "cc" | "c++" | "c89" | "c99" | "ld")
}

/// Whether a quoted word behind this text may be a tool that reads or strips binaries, and is neither a unit of length nor
/// the method of a string.
pub(super) fn is_of_binutils(word: &str, before: &[u8], shell: &Shell<'_>) -> bool {
    let key = key_before(before.trim_ascii_end());
    matches!(word, "nm" | "strip")
        && shell.content != Content::Values
        && !key.to_ascii_lowercase().ends_with(b"unit")
        && !["attr(", "methodcaller("]
            .iter()
            .any(|call| memchr::memmem::find(before, call.as_bytes()).is_some())
}

/// Whether a quoted word between these texts is a key: `{"cc": …}`, `message["cc"]`, `message.get("cc")`.
pub(super) fn is_key(before: &[u8], after: &[u8]) -> bool {
    let is_index = before
        .strip_suffix(b"[")
        .and_then(<[u8]>::last)
        .is_some_and(|byte| byte.is_ascii_alphanumeric() || b"_)]".contains(byte));
    is_index
        || before.ends_with(b".get(")
        || matches!(after.trim_ascii_start(), [b':', ..] | [b'=', b'>', ..])
}

/// Tools for object files: beside one of these, a word is the name of another.
const OF_BINUTILS: [&[u8]; 12] = [
    b"addr", b"ar", b"gprof", b"ld", b"nm", b"objcopy", b"objdump", b"ranlib", b"readelf", b"size",
    b"strings", b"strip",
];

/// Whether what follows a key is the name of a tool: `: "size", …`.
fn is_value_a_tool(behind: &[u8]) -> bool {
    let value = behind.trim_ascii_start().strip_prefix(b":").map(<[u8]>::trim_ascii_start);
    let Some([quote @ (b'\'' | b'"'), rest @ ..]) = value else { return false };
    let length = rest.iter().take(REACH).position(|byte| byte == quote).unwrap_or_default();
    OF_BINUTILS.contains(&&rest[..length])
}

/// Whether a quoted word between these texts is one of a list of words, as in `("to", "cc", "bcc")`.
pub(super) fn is_in_words(before: &[u8], after: &[u8]) -> bool {
    let opens = before.iter().rposition(|byte| b"([{".contains(byte));
    // Arguments of a call may be words of many kinds.
    let is_call = opens.is_some_and(|at| {
        before[at] == b'(' && at > 0 && (before[at - 1].is_ascii_alphanumeric() || before[at - 1] == b'_')
    });
    // Neither another tool nor the key of a mapping: `("nm", "strings")`, `{"symbols": "nm", "sections": "size"}`.
    let is_plain = |text: &[u8]| match text {
        [quote @ (b'\'' | b'"'), rest @ ..] => {
            let length = rest.iter().take(REACH).position(|byte| byte == quote).unwrap_or_default();
            let (word, behind) = rest.split_at(length);
            length > 0
                && word.iter().all(|byte| byte.is_ascii_alphabetic() || *byte == b'_')
                && !OF_BINUTILS.contains(&word)
                && !is_value_a_tool(behind.get(1..).unwrap_or_default())
        }
        _ => false,
    };
    let next =
        after.trim_ascii_start().strip_prefix(b",").is_some_and(|rest| is_plain(rest.trim_ascii_start()));
    let last = before.trim_ascii_end().strip_suffix(b",").is_some_and(|head| {
        let head = head.trim_ascii_end();
        let inside = head.strip_suffix(b"'").or_else(|| head.strip_suffix(b"\""));
        inside.is_some_and(|inside| {
            let length = inside.iter().rev().take_while(|byte| byte.is_ascii_alphabetic()).count();
            !OF_BINUTILS.contains(&&inside[inside.len() - length..])
        })
    });
    !is_call && (next || last)
}

/// Whether a text ends with the name of a function that starts programs.
pub(super) fn is_function(text: &[u8]) -> bool {
    let length = text.iter().rev().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
    let name = &text[text.len() - length..];
    FUNCTIONS.iter().any(|part| memchr::memmem::find(name, part).is_some())
}

/// Whether an English word between these texts is the first in a list of words, as in `["as", "async", "from"]`: the
/// next one looks like none of its arguments.
pub(super) fn is_word_list(word: &[u8], before: &[u8], after: &[u8]) -> bool {
    if !ENGLISH.contains(&word) {
        return false;
    }
    let next = after.strip_prefix(b",").unwrap_or_default().trim_ascii_start();
    let [quote @ (b'\'' | b'"'), next @ ..] = next else { return false };
    let length = next.iter().take(REACH).position(|byte| byte == quote).unwrap_or_default();
    let is_plain = next[..length].iter().all(|byte| byte.is_ascii_alphabetic() || *byte == b'_');
    let Some(head) = before.strip_suffix(b"[").filter(|head| !is_value(head.trim_ascii_end())) else {
        return false;
    };
    let is_call = head.trim_ascii_end().strip_suffix(b"(").is_some_and(is_function);
    !is_call && length > 0 && is_plain
}

/// Whether a quoted English word is the value of a constant whose name says nothing of a program: `KIND = "file"`.
pub(super) fn is_plain_constant(word: &[u8], before: &[u8]) -> bool {
    let [head @ .., b'=' | b':'] = before else { return false };
    let head = unquoted(head.trim_ascii_end());
    let length = head.iter().rev().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
    let name = head[head.len() - length..].to_ascii_lowercase();
    ENGLISH.contains(&word) && !is_setting(&name) && name != word
}

/// Whether an English word in quotes between these texts is the only one of a list that neither a function starts nor a
/// name says to be a command: `dependencies: ["composite"]`.
pub(super) fn is_lone(word: &[u8], before: &[u8], after: &[u8]) -> bool {
    let Some(head) = before.strip_suffix(b"[").filter(|_| ENGLISH.contains(&word)) else { return false };
    let head = head.trim_ascii_end();
    after.starts_with(b"]") && !is_in_call(head, b",")
}

/// Whether the text after a word looks like command arguments, not like prose.
pub(super) fn has_argument(rest: &[u8], word: &str) -> bool {
    let blanks = rest.iter().take(REACH).take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    let rest = &rest[blanks..];
    let length =
        rest.iter().take(REACH).take_while(|byte| !byte.is_ascii_whitespace() && **byte != 0).count();
    let next = &rest[..length];
    let Some(first) = next.first().filter(|_| blanks > 0) else { return false };
    match word {
        "go" => is_option(next) || OF_GO.contains(&without_end(next)),
        "uv" => is_option(next) || OF_UV.contains(&without_end(next)),
        "uvx" => true,
        "ar" => {
            first == &b'-'
                || next.len() < 7 && next.iter().all(|byte| b"DIJMNOPSTUVXabcdfilmopqrstuvx".contains(byte))
        }
        "nm" | "cc" => *first != b'=' && *first != b':',
        _ => {
            let middle = next.strip_suffix(b".").unwrap_or(next);
            b"-/$\"'.*%{<|>&\\".contains(first) || middle.iter().any(|byte| matches!(byte, b'.' | b'/'))
        }
    }
}

/// Whether a word is an option, not a number.
fn is_option(word: &[u8]) -> bool {
    matches!(word, [b'-', second, ..] if second.is_ascii_alphabetic() || *second == b'-')
}

/// The last word of a command without what ends it: a quote, a bracket, a separator.
fn without_end(word: &[u8]) -> &[u8] {
    let end = word.iter().rposition(|byte| !b"\"'`),;|&}".contains(byte));
    &word[..end.map_or(0, |last| last + 1)]
}

/// The text without its closing quote: a mapping key.
fn unquoted(text: &[u8]) -> &[u8] {
    match text {
        [head @ .., b'\'' | b'"'] => head,
        _ => text,
    }
}

/// Whether the text before a word is an absolute path, not part of a URL.
pub(super) fn is_absolute(before: &[u8]) -> bool {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"_.+-/".contains(byte);
    let from = before.iter().rposition(|byte| !is_part(byte)).map_or(0, |at| at + 1);
    // `${UV:-/usr/bin/uv}`
    let path = &before[from..];
    let path = path.strip_prefix(b"-").filter(|_| before[..from].ends_with(b":")).unwrap_or(path);
    path.starts_with(b"/") && !path.starts_with(b"//") && before.get(from.wrapping_sub(1)) != Some(&b'}')
}

/// Whether a quoted path of one part is a route of a service and no program: `@app.get("/size")`, not `folder + "/size"`
/// or `"$FOLDER"/size`. uv is copied to the root.
pub(super) fn is_route(before: &[u8], word: &str) -> bool {
    let [head @ .., b'\'' | b'"' | b'`', b'/'] = before else { return false };
    let is_joined = match head.last() {
        // `return "/size"`, not `folder + "/size"`
        Some(b' ' | b'\t') => matches!(head.trim_ascii_end().last(), Some(b'+' | b'.' | b'%' | b'\\')),
        Some(byte) => !b"([{,:=>!".contains(byte),
        None => false,
    };
    !is_joined && !matches!(word, "uv" | "uvx")
}

pub(super) fn is_prose(word: &str, rest: &[u8]) -> bool {
    if word != "make" || !rest.starts_with(b" ") {
        return false;
    }
    let rest = rest.get(1..).unwrap_or(&[]);
    let next = rest.iter().take(8).take_while(|byte| byte.is_ascii_alphabetic()).count();
    PROSE.contains(&&rest[..next])
}
