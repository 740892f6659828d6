//! Whether a word is in command position.

use std::ops::Range;

use super::around::{
    ends_word, has_argument, imports_programs, is_absolute, is_compiler, is_function, is_in_call,
    is_in_words, is_key, is_of_binutils, is_prose, is_route, is_word_list,
};
use super::bounds::{follows_times, is_of_function};
use super::tables;
use super::values::{
    follows_variables, is_named, is_nested, is_set, is_setting, is_value, key_before, reads_environment,
};
use super::wrappers::{self, Shell};

/// Words before a command that are not commands.
pub(super) const STARTERS: [&[u8]; 9] =
    [b"RUN", b"exec", b"sudo", b"then", b"do", b"else", b"time", b"xargs", b"env"];
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
        _ if is_in_brackets(before) && blanks == 0 => rest.starts_with(b" "),
        _ if blanks > 0 && follows_placeholder(before) => true,
        [.., b'(' | b'\\'] if shell.is_script => true,
        head => {
            let from = head.iter().rposition(|byte| !byte.is_ascii_alphanumeric()).map_or(0, |at| at + 1);
            blanks > 0 && (STARTERS.contains(&&head[from..]) || wrappers::follows(head, shell))
        }
    }
}

/// Whether a text ends with a key of commands alone: `cmd =`, as in settings of supervisors.
fn is_command_of(before: &[u8]) -> bool {
    matches!(key_before(before), b"cmd" | b"command")
}

/// Whether a text ends with brackets that are quotes, behind a call that starts programs: `sh %{`, `system %Q(`,
/// `os.execute([[`.
fn is_in_brackets(before: &[u8]) -> bool {
    let head = match before {
        [head @ .., b'%', b'{' | b'('] | [head @ .., b'[', b'['] => head,
        [head @ .., b'%', b'Q' | b'q', b'(' | b'{' | b'['] => head,
        _ => return false,
    };
    is_in_call(head.trim_ascii_end(), b",")
}

/// Whether all of a string so far is one value that is put in, in a call that starts programs or the value of a setting for
/// one: `os.system(f"{NICE} make report")`, `cmd = "%s make report" % nice`.
fn follows_placeholder(before: &[u8]) -> bool {
    let start = match before {
        [head @ .., b'%', b's'] => Some(head.len()),
        [head @ .., b'}'] => head.iter().rposition(|byte| *byte == b'{'),
        _ => None,
    };
    start.is_some_and(|start| {
        let head = before[..start].strip_suffix(b"$").unwrap_or(&before[..start]);
        let [head @ .., b'\'' | b'"' | b'`'] = head else { return false };
        is_in_call(without_prefix(head).trim_ascii_end(), b",")
    })
}

/// The text before a string of Python, without the letters that say how it is read: `f"…"`.
pub(super) fn without_prefix(head: &[u8]) -> &[u8] {
    let letters = head.iter().rev().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
    let (rest, word) = head.split_at(head.len() - letters);
    if matches!(word, b"b" | b"f" | b"r" | b"br" | b"fr" | b"rb" | b"rf") { rest } else { head }
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
        (is_compiler(word) || matches!(word, "nm" | "strip") && is_command_of(before))
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
        _ if is_in_brackets(before) && blanks == 0 => has_argument(rest, word),
        _ if blanks > 0 && follows_placeholder(before) => has_argument(rest, word),
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
