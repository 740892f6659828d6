//! Whether a word is in command position.

use std::ops::Range;

use super::bounds::{follows_times, is_of_function};
use super::tables;
use super::values::{
    follows_variables, is_named, is_nested, is_set, is_setting, is_value, key_before, reads_environment,
};
use super::wrappers::{self, Content, Shell};

/// Words that follow `make` in prose.
const PROSE: [&[u8]; 12] =
    [b"sure", b"it", b"the", b"a", b"an", b"use", b"this", b"that", b"them", b"sense", b"your", b"our"];
/// Words before a command that are not commands.
pub(super) const STARTERS: [&[u8]; 9] =
    [b"RUN", b"exec", b"sudo", b"then", b"do", b"else", b"time", b"xargs", b"env"];
/// Parts of names of functions that start or look up a program.
const FUNCTIONS: [&[u8]; 11] = [
    b"call", b"exec", b"hich", b"ommand", b"output", b"pen", b"rogram", b"run", b"shell", b"spawn", b"ystem",
];
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
/// Maximum examined bytes of a path or string.
pub(super) const REACH: usize = super::NAME_BYTES;

/// Whether a source in JavaScript may start programs: it names a module or a function that does.
pub(super) fn may_start_programs(text: &[u8]) -> bool {
    const MODULES: [&[u8]; 8] =
        [b"child_process", b"spawn", b"execa", b"tinyexec", b"actions/exec", b"shelljs", b"Deno.", b"zx"];
    MODULES.iter().any(|module| memchr::memmem::find(text, module).is_some())
}

/// Whether a source with cffi opens libraries and compiles nothing.
pub(super) fn opens_only(text: &[u8]) -> bool {
    const COMPILES: [&[u8]; 5] = [b"set_source", b"verify", b"compile", b"emit_c_code", b"ffiplatform"];
    let has = |part: &[u8]| memchr::memmem::find(text, part).is_some();
    has(b".dlopen(") && !COMPILES.iter().any(|part| has(part))
}

/// Whether a source in another language starts programs: it names a function that does.
pub(super) fn starts_programs(text: &[u8]) -> bool {
    const CALLS: [&[u8]; 14] = [
        b"subprocess",
        b"popen",
        b"Popen",
        b"os.system",
        b"system(",
        b"exec(",
        b"execv",
        b"spawn",
        b"check_output",
        b"Open3",
        b"distutils",
        b"ccompiler",
        b"ProcessBuilder",
        b"Command",
    ];
    CALLS.iter().any(|call| memchr::memmem::find(text, call).is_some())
}

/// Whether the word at `place` of a text is in command position: quoted, with a path, or at the start of a line or of a
/// command in it. `line` is the start of its line. `shell`: the text is a shell script, in which every line is a command.
pub(super) fn in_text(text: &[u8], place: &Range<usize>, line: usize, word: &str, shell: &Shell<'_>) -> bool {
    let rest = text.get(place.end..).unwrap_or(&[]);
    let before = text.get(line.max(place.start.saturating_sub(REACH))..place.start).unwrap_or(&[]);
    let whole_line = before.len() == place.start - line;
    if before.ends_with(b".")
        || before.ends_with(b":-") && rest.starts_with(b"}")
        || imports_programs(before)
        || word == "git" && rest.starts_with(b"-http-backend")
    {
        return true;
    }
    if shell.is_script && matches!(word, "make" | "git") && !rest.starts_with(b"=") {
        return !wrappers::is_listed(text, place);
    }
    if is_prose(word, rest) {
        return false;
    }
    if tables::is_cell(text, place, line, word, shell) || tables::is_split(before, rest) {
        return true;
    }
    if let [head @ .., quote @ (b'\'' | b'"' | b'`')] = before {
        // A column of a table: `car['make']`; not `local["make"]` of plumbum and `system(COMMANDS["make"])`.
        if word == "make" && rest.get(1) == Some(&b']') && is_key(head, &[]) {
            let call = head.iter().rposition(|byte| *byte == b'(').map(|at| &head[..at]);
            return head.ends_with(b"local[") || call.is_some_and(is_function);
        }
        return match rest {
            [] | [b' ', ..] => true,
            // A mapping key is not a command, nor is the type of a repository.
            [end, after @ ..] => {
                end == quote
                    && after.trim_ascii_start().first() != Some(&b':')
                    && !(word == "git" && tables::is_of_repository(text, place, shell))
            }
        };
    }
    // `refresh: [make, kernels]` in YAML
    if word != "git" && before.strip_suffix(b": [").is_some() && rest.starts_with(b",") {
        return true;
    }
    // `vcs: {binary: /usr/bin/git}`
    if in_folder(before, rest) {
        return is_absolute(before);
    }
    let ends = matches!(
        rest,
        [] | [
            b' ' | b'\t' | b'\n' | b'\r' | b'\'' | b'"' | b'`' | b';' | b'|' | b'&' | b')' | b'\\' | b'<',
            ..
        ]
    );
    // An assigned name is not a command.
    if !ends || rest.trim_ascii_start().starts_with(b"=") {
        return false;
    }
    if before.ends_with(b"/") {
        return is_absolute(before) && !is_route(before, word);
    }
    let blanks = before.iter().rev().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    let before = &before[..before.len() - blanks];
    if blanks > 0
        && (follows_variables(before, whole_line)
            || is_value(before)
            || is_named(before, rest, word)
            || is_set(before, rest))
    {
        return true;
    }
    match before {
        [] => whole_line,
        [.., b'&' | b';' | b'|' | b'!'] | [.., b'$', b'('] | [.., b'\\', b'n'] => true,
        // `<command>make -v</command>`
        [head @ .., b'>'] => {
            let name = head.iter().rposition(|byte| *byte == b'<').map_or(&[][..], |at| &head[at + 1..]);
            blanks == 0 && is_setting(name)
        }
        // `command=make run` in settings.
        [.., b'='] => blanks == 0 && matches!(rest, [] | [b' ' | b'\n' | b'\r', ..]),
        // A list entry, or a Makefile line with `@` or `-`.
        [head @ .., b'-' | b'@'] if head.trim_ascii().is_empty() => whole_line,
        // `%x(make)` and `%w[make -j]` of Ruby, `qx(make)` of Perl
        [.., b'%' | b'q', b'w' | b'x', b'(' | b'{' | b'['] => true,
        [.., b'(' | b'\\'] if shell.is_script => true,
        head => {
            let from = head.iter().rposition(|byte| !byte.is_ascii_alphanumeric()).map_or(0, |at| at + 1);
            blanks > 0 && (STARTERS.contains(&&head[from..]) || wrappers::follows(head, shell))
        }
    }
}

/// Whether a program's path in a folder of programs is a cell, or an entry of a list: `/usr/bin/cc,-shared`.
fn in_folder(before: &[u8], rest: &[u8]) -> bool {
    before.ends_with(b"/bin/") && matches!(rest, [b'}' | b']' | b',' | b'<', ..])
}

/// The same for a word that is common in texts that start no program; `starts_programs`: whether this text does.
pub(super) fn in_commands(
    text: &[u8],
    place: &Range<usize>,
    line: usize,
    word: &str,
    shell: &Shell<'_>,
    starts_programs: &dyn Fn() -> bool,
) -> bool {
    let rest = text.get(place.end..).unwrap_or(&[]);
    let before = text.get(line.max(place.start.saturating_sub(REACH))..place.start).unwrap_or(&[]);
    if is_compiler(word)
        && (tables::is_cell(text, place, line, word, shell) || tables::is_split(before, rest))
    {
        return true;
    }
    if is_compiler(word) && in_folder(before, rest) {
        return is_absolute(before);
    }
    if is_of_function(before) {
        return true;
    }
    let whole_line = before.len() == place.start - line;
    if !ends_word(rest) || rest.trim_ascii_start().starts_with(b"=") {
        return false;
    }
    if before.ends_with(b"-gnu-") || before.ends_with(b"-musl-") || imports_programs(before) {
        return true;
    }
    if before.ends_with(b"/") {
        return is_absolute(before) && !is_route(before, word);
    }
    let is_started = || shell.is_script || has_argument(rest, word);
    if let [head @ .., quote @ (b'\'' | b'"' | b'`')] = before {
        return match rest {
            [end, after @ ..] if end == quote => {
                reads_environment(head)
                    || shell.is_script && head.trim_ascii().is_empty()
                    || wrappers::follows(head, shell)
                    || is_compiler(word) && is_nested(text, head.trim_ascii_end(), line)
                    // plumbum
                    || head.ends_with(b"local[")
                    // `[sys.executable, "-m", "uv", "run"]`
                    || word == "uv" && matches!(head.trim_ascii_end(), [.., b'-', b'm', b'\'' | b'"', b','])
                    || is_in_call(head.trim_ascii_end(), after.trim_ascii_start())
                        && !is_word_list(word.as_bytes(), head.trim_ascii_end(), after.trim_ascii_start())
                    || (is_compiler(word) || is_of_binutils(word, head, shell))
                        && !is_key(head, after)
                        && !is_in_words(head, after)
                        && starts_programs()
            }
            _ => has_argument(rest, word),
        };
    }
    let blanks = before.iter().rev().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    let before = &before[..before.len() - blanks];
    let starts = || follows_variables(before, whole_line) || is_value(before) || is_named(before, rest, word);
    // `linker: ld`
    let is_alone = || {
        is_compiler(word)
            && (matches!(rest, [] | [b'\n' | b'\r', ..])
                || tables::is_remark(rest)
                || matches!(rest, [b',' | b'}', ..]) && before.contains(&b'{'))
            && (is_value(before) || is_nested(text, before, line) || is_set(before, rest))
    };
    let is_led = blanks > 0 || before.ends_with(b"=");
    if is_led && has_argument(rest, word) && starts() || blanks > 0 && is_alone() {
        return true;
    }
    // `python -m uv run`
    if word == "uv" && before.ends_with(b"-m") {
        return is_started();
    }
    if shell.is_table && whole_line && follows_times(before) {
        return true;
    }
    match before {
        [] => whole_line && is_started(),
        [.., b'&' | b';' | b'|' | b'!' | b'('] | [.., b'\\', b'n'] => is_started(),
        [.., b'%' | b'q', b'x', b'{' | b'['] => true,
        [.., b'%' | b'q', b'w', b'{' | b'['] => has_argument(rest, word),
        // `${CC:=cc}`, `${RUN:-uv run}`
        [.., b':', b'=' | b'-'] => blanks == 0 && (rest.starts_with(b"}") || has_argument(rest, word)),
        [head @ .., b'='] => {
            blanks == 0
                && head.last().is_some_and(u8::is_ascii_uppercase)
                && matches!(rest, [] | [b' ' | b'\n' | b'\r' | b';', ..])
        }
        [head @ .., b'-' | b'@'] if head.trim_ascii().is_empty() => whole_line && has_argument(rest, word),
        head => {
            let from = head.iter().rposition(|byte| !byte.is_ascii_alphanumeric()).map_or(0, |at| at + 1);
            let is_behind = || STARTERS.contains(&&head[from..]) || wrappers::follows(head, shell);
            blanks > 0 && is_started() && is_behind()
        }
    }
}

/// Whether a command may end or go on with these bytes behind its name.
fn ends_word(rest: &[u8]) -> bool {
    rest.first().is_none_or(|byte| b" \t\n\r'\"`;|}&).-\\".contains(byte))
}

/// Whether a line imports programs as functions of the Python packages `sh` or plumbum.
fn imports_programs(before: &[u8]) -> bool {
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
        [head @ .., b'('] => is_function(head),
        [head @ .., b'=' | b':'] => {
            let name = name(unquoted(head.trim_ascii_end()));
            let is_constant = !name.is_empty() && name.iter().all(|byte| !byte.is_ascii_lowercase());
            is_constant || is_setting(&name)
        }
        _ => false,
    }
}

/// Whether a word is the name of a compiler or linker and little else.
pub(super) fn is_compiler(word: &str) -> bool {
    matches!(word, "cc" | "c++" | "c89" | "c99" | "ld")
}

/// Whether a quoted word behind this text may be a tool that reads or strips binaries, and is neither a unit of length nor
/// the method of a string.
fn is_of_binutils(word: &str, before: &[u8], shell: &Shell<'_>) -> bool {
    let key = key_before(before.trim_ascii_end());
    matches!(word, "nm" | "strip")
        && shell.content != Content::Values
        && !key.to_ascii_lowercase().ends_with(b"unit")
        && !["attr(", "methodcaller("]
            .iter()
            .any(|call| memchr::memmem::find(before, call.as_bytes()).is_some())
}

/// Whether a quoted word between these texts is a key: `{"cc": …}`, `message["cc"]`, `message.get("cc")`.
fn is_key(before: &[u8], after: &[u8]) -> bool {
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
fn is_in_words(before: &[u8], after: &[u8]) -> bool {
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
fn is_function(text: &[u8]) -> bool {
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
fn is_absolute(before: &[u8]) -> bool {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"_.+-/".contains(byte);
    let from = before.iter().rposition(|byte| !is_part(byte)).map_or(0, |at| at + 1);
    // `${UV:-/usr/bin/uv}`
    let path = &before[from..];
    let path = path.strip_prefix(b"-").filter(|_| before[..from].ends_with(b":")).unwrap_or(path);
    path.starts_with(b"/") && !path.starts_with(b"//") && before.get(from.wrapping_sub(1)) != Some(&b'}')
}

/// Whether a quoted path of one part is a route of a service and no program: `@app.get("/size")`, not `folder + "/size"`
/// or `"$FOLDER"/size`. uv is copied to the root.
fn is_route(before: &[u8], word: &str) -> bool {
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
