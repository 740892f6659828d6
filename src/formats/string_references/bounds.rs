//! Where a searched word or the name of a library begins and ends.

use std::cell::OnceCell;
use std::ops::Range;

use super::words::STARTS;
use super::{NAME_BYTES, Sort};

/// The key of names of shared libraries.
pub(super) const SHARED: &str = ".so";

/// Maximum bytes of the version after it: `.so.535.104.05` has 14.
const VERSION_BYTES: usize = 32;

fn is_digit(byte: u8) -> bool {
    byte.is_ascii_digit() || byte == b'.'
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Programs of dpkg itself. All others with this prefix build packages.
const OF_DPKG: [&[u8]; 15] = [
    b"deb",
    b"divert",
    b"fsys-usrunmess",
    b"maintscript-helper",
    b"preconfigure",
    b"query",
    b"realpath",
    b"reconfigure",
    b"split",
    b"statoverride",
    b"trigger",
    b"db-backup",
    b"db-keeper",
    b"dev",
    b"sig",
];

/// Whether a word is not part of a longer one. A version may follow (`gcc-13`, `libdevice.10.bc`); a folder, a target
/// triplet (`x86_64-linux-gnu-gcc`) or an escape such as `\n` may precede.
pub(super) fn stands_alone(bytes: &[u8], start: usize, end: usize, word: &str) -> bool {
    match word {
        // `python3.11-config`
        "-config" => {
            let number = bytes[..start].iter().rev().take_while(|byte| is_digit(**byte)).count();
            return bytes[..start - number].ends_with(b"python")
                && number > 0
                && !bytes.get(end).is_some_and(|byte| is_name(*byte));
        }
        "dpkg-" => {
            let rest = bytes.get(end..).unwrap_or(&[]);
            let length =
                rest.iter().take(VERSION_BYTES).take_while(|byte| is_name(**byte) || **byte == b'-').count();
            let own = OF_DPKG.iter().any(|own| &rest[..length] == *own);
            // Ends of file names that dpkg leaves behind, also in the colors of `ls`.
            let left =
                matches!(&rest[..length], b"bak" | b"backup" | b"del" | b"dist" | b"new" | b"old" | b"tmp")
                    && bytes[..start].ends_with(b".");
            let alone = bytes[..start].last().is_none_or(|byte| !is_name(*byte) && *byte != b'-');
            return length > 0 && !own && !left && alone;
        }
        "/bootstrap" | "/configure" | "sh configure" => {
            return !bytes.get(end).is_some_and(|byte| is_name(*byte) || b"-./".contains(byte));
        }
        "/waf" => return is_waf(&bytes[..start], bytes.get(end..).unwrap_or_default()),
        // `config.log` is also a property of an object; in sources it counts in strings only.
        "config.log" => {
            let (before, after) = (bytes[..start].last(), bytes.get(end));
            return !before.is_some_and(|byte| is_name(*byte) || *byte == b'.')
                && !after.is_some_and(|byte| is_name(*byte) || b".(".contains(byte));
        }
        // The variable tells a build where to look: `export PKG_CONFIG_PATH=/usr/local/lib/pkgconfig`.
        "pkgconfig" if sets_pkg_config(&bytes[..start]) => return false,
        ".o\"" | ".o'" => return true,
        ".tests" => {
            let of_module = bytes[..start].last().is_some_and(|byte| is_name(*byte));
            return of_module && !bytes.get(end).is_some_and(|byte| is_name(*byte) || *byte == b'(');
        }
        "test/" | "tests/" => {
            return !bytes[..start].last().is_some_and(|byte| is_name(*byte) || b"+-.".contains(byte));
        }
        word if STARTS.contains(&word) => return true,
        _ => {}
    }
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
        // The Python packages `sh` and plumbum start programs as functions.
        before if is_of_function(before) => matches!(bytes.get(end), Some(b'(' | b'.' | b'[')),
        // A repository file that is read without git.
        [before @ .., b'.'] if word == "git" => {
            !before.last().is_some_and(|byte| is_name(*byte))
                && (is_repository(bytes.get(end..).unwrap_or(&[])) || is_repository_folder(bytes, end))
        }
        // Python names are accessed through their module: `cupy.RawKernel`.
        [.., b'.'] => {
            matches!(
                word,
                "_compilation"
                    | "autowrap"
                    | "cpp_extension"
                    | "f2py"
                    | "find_library"
                    | "load_inline"
                    | "pycc"
                    | "RawKernel"
                    | "preload_dlls"
                    | "ufuncify"
            )
        }
        // `${CC:-gcc}`
        [.., b':', b'-'] => true,
        [.., last] => !is_name(*last) && !matches!(last, b'+' | b'-'),
    }
}

/// Whether a path ends the text before that is the value of a variable for pkg-config: `PKG_CONFIG_PATH=/opt/lib/`.
fn sets_pkg_config(before: &[u8]) -> bool {
    const NAMES: [&[u8]; 3] = [b"PKG_CONFIG_PATH", b"PKG_CONFIG_LIBDIR", b"PKG_CONFIG_SYSROOT_DIR"];
    let near = &before[before.len().saturating_sub(2 * NAME_BYTES)..];
    let is_path = |byte: &u8| is_name(*byte) || b"/.-:${}\"'".contains(byte);
    let length = near.iter().rev().take_while(|byte| is_path(byte)).count();
    let head = near[..near.len() - length].trim_ascii_end();
    let head = head.strip_suffix(b"=").map(|head| head.strip_suffix(b":").unwrap_or(head).trim_ascii_end());
    head.is_some_and(|head| NAMES.iter().any(|name| head.ends_with(name)))
}

/// Whether `/waf` between these texts is the script of the build system waf, not a route or an address: `./waf`,
/// `"$ROOT/waf" configure`, `[root + "/waf"]`.
fn is_waf(before: &[u8], rest: &[u8]) -> bool {
    const COMMANDS: [&[u8]; 5] = [b"build", b"clean", b"configure", b"dist", b"install"];
    let gap = rest.iter().take(4).take_while(|byte| b" '\",".contains(byte)).count();
    let next = &rest[gap..];
    let command = next.iter().take(10).take_while(|byte| byte.is_ascii_alphabetic()).count();
    let ends = !rest.first().is_some_and(|byte| is_name(*byte) || b"-./".contains(byte));
    let is_joined = || {
        let head = before.strip_suffix(b"\"").or_else(|| before.strip_suffix(b"'"));
        head.is_some_and(|head| head.trim_ascii_end().ends_with(b"+"))
    };
    let is_started = || {
        let near = &before[before.len().saturating_sub(NAME_BYTES)..];
        let mut words = near.rsplit(u8::is_ascii_whitespace);
        let is_path = words.next().is_some_and(|path| path.starts_with(b"/"));
        is_path && words.next().is_some_and(|word| memchr::memmem::find(word, b"python").is_some())
    };
    let is_command = gap > 0 && (next.starts_with(b"-") || COMMANDS.contains(&&next[..command]));
    ends && (before.ends_with(b".") || is_command || is_joined() || is_started())
}

/// Paths of headers and static libraries in a text.
pub(super) struct BuildPaths<'t> {
    text: &'t [u8],
    sort: Sort,
    /// Whether the text gives a build folders with headers.
    builds: OnceCell<bool>,
    /// Whether it is what a compiler or a build system writes about a build.
    is_record: OnceCell<bool>,
}

impl<'t> BuildPaths<'t> {
    pub(super) fn of(text: &'t [u8], sort: Sort) -> Self {
        Self { text, sort, builds: OnceCell::new(), is_record: OnceCell::new() }
    }

    /// Whether a folder at `place` begins a path that somebody reads: that of a header or a static library, or the folder
    /// of headers itself, where nothing builds. The path ends with a quote or, as a word, before. `None` for other words.
    pub(super) fn counts(&self, word: &str, place: &Range<usize>) -> Option<bool> {
        const HEADERS: [&[u8]; 4] = [b".h", b".hh", b".hpp", b".inc"];
        let rest = self.text.get(place.end..).unwrap_or_default();
        let rest = &rest[..rest.len().min(NAME_BYTES)];
        let is_end = |byte: &u8| byte.is_ascii_whitespace() || b"'\"`,;:)]}<>|&#".contains(byte);
        let bare = &rest[..rest.iter().position(is_end).unwrap_or(rest.len())];
        let quoted = memchr::memchr3(b'\'', b'"', b'`', rest).map(|end| &rest[..end]);
        let ends = |path: &[u8], known: &[&[u8]]| known.iter().any(|end| path.ends_with(end));
        match word {
            "/usr/include" => Some(
                quoted
                    .is_some_and(|path| ends(path, &HEADERS) || matches!(path, [] | b"/") && !self.builds())
                    || ends(bare, &HEADERS) && !self.is_included(place.start) && !self.is_record(),
            ),
            "/usr/lib" => {
                let is_one = ends(bare, &[b".a"]) || quoted.is_some_and(|path| ends(path, &[b".a"]));
                Some(is_one && !self.is_record())
            }
            _ => None,
        }
    }

    /// Whether a header is named for a compiler: `#include </usr/include/x.h>`.
    fn is_included(&self, start: usize) -> bool {
        let before = self.text.get(..start).unwrap_or_default();
        before.strip_suffix(b"<").is_some_and(|before| before.trim_ascii_end().ends_with(b"include"))
    }

    fn builds(&self) -> bool {
        const BUILDS: [&[u8]; 4] = [b"include_dirs", b"include_directories", b"setup(", b"includePath"];
        *self.builds.get_or_init(|| self.has(&BUILDS))
    }

    /// Dependencies of object files, and commands that link them. Scripts and sources are none.
    fn is_record(&self) -> bool {
        let may_be = matches!(self.sort, Sort::Code | Sort::Text | Sort::Plain);
        may_be && *self.is_record.get_or_init(|| self.has(&[b".o:", b".o ", b".o\n"]))
    }

    fn has(&self, parts: &[&[u8]]) -> bool {
        parts.iter().any(|part| memchr::memmem::find(self.text, part).is_some())
    }
}

/// Whether a text ends with `sh.` or `local.cmd.`, the start of a function that is a program.
pub(super) fn is_of_function(text: &[u8]) -> bool {
    [&b"sh."[..], b"local.cmd."].iter().any(|start| {
        let before = text.strip_suffix(*start);
        before.is_some_and(|before| !before.last().is_some_and(|byte| is_name(*byte) || *byte == b'.'))
    })
}

/// Whether a path ends with the `.git` before `end`, and the text around names a file that names the checked-out commit:
/// `join(__dirname, '.git')`, `GIT_DIR=${APP:-/srv}/.git`.
fn is_repository_folder(text: &[u8], end: usize) -> bool {
    const AROUND: usize = 1 << 10;
    const BESIDE: usize = 24;
    let is_end = matches!(
        text.get(end..),
        Some([] | [b'\'' | b'"' | b'`' | b'\n' | b'\r' | b' ' | b';' | b')' | b'}', ..])
    );
    let around = &text[end.saturating_sub(AROUND)..text.len().min(end.saturating_add(AROUND))];
    is_end
        && memchr::memmem::find_iter(around, b"HEAD").any(|at| {
            let before = around[..at].last();
            let after = around.get(at + 4);
            let is_bound = |byte: Option<&u8>| byte.is_none_or(|byte| b"'\"`/ \n".contains(byte));
            // The method of HTTP stands beside others.
            let beside = &around[at.saturating_sub(BESIDE)..around.len().min(at + BESIDE)];
            let is_method = [&b"GET"[..], b"POST", b"PUT", b"OPTIONS"]
                .iter()
                .any(|other| memchr::memmem::find(beside, other).is_some());
            is_bound(before) && is_bound(after) && !is_method
        })
}

/// Whether the text after `.git` is a file that names the checked-out commit.
fn is_repository(rest: &[u8]) -> bool {
    // `root / ".git" / "HEAD"`, `join(root, ".git", "HEAD")`
    let between = rest.iter().take(8).take_while(|byte| b"'\" /,".contains(byte)).count();
    let is_joined = between > 3 && matches!(rest[0], b'\'' | b'"');
    let rest = if is_joined { &rest[between..] } else { rest.strip_prefix(b"/").unwrap_or_default() };
    [&b"HEAD"[..], b"refs", b"logs", b"packed-refs"].iter().any(|file| {
        rest.strip_prefix(*file).is_some_and(|rest| !rest.first().is_some_and(|byte| is_name(*byte)))
    })
}

/// The name of the shared library whose `.so` is at `at`, with its version.
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
    // The longest name that is stored, and the byte before it.
    let least = end.saturating_sub(NAME_BYTES + 1);
    let is_part = |byte: &u8| is_name(*byte) || matches!(byte, b'.' | b'+' | b'-');
    let token = bytes.get(least..at)?;
    let token = &token[token.iter().rposition(|byte| !is_part(byte)).map_or(0, |place| place + 1)..];
    let begin = at - token.len();
    // At the edge of the searched bytes, the byte before is unknown.
    let first = usize::from(begin == least && !(at_start && begin == 0));
    let place = (first..token.len())
        .find(|place| token[*place..].starts_with(b"lib") && (*place == 0 || !is_name(token[*place - 1])))?;
    bytes.get(begin + place..end).filter(|name| name.len() <= NAME_BYTES)
}

/// The name whose `.so` is at `at`, if a part of it is put in at run time, with `*` in place of each such part:
/// `lib*.so` of `f"lib{name}.so"`, `"lib%s.so.%d"` and `"lib" + name + ".so.12"`.
pub(super) fn put_together(text: &[u8], at: usize) -> Option<Vec<u8>> {
    let line = &text[at.saturating_sub(NAME_BYTES)..at];
    let line = &line[memchr::memrchr(b'\n', line).map_or(0, |newline| newline + 1)..];
    if let [head @ .., b'\'' | b'"'] = line {
        // A text that begins with `.so` is also a suffix that is looked for.
        let head = head.trim_ascii_end();
        let is_joined = head.ends_with(b"+") || head.ends_with(b" .") || head.ends_with(b"..");
        let begins = |part: &[u8]| memchr::memmem::find(head, part).is_some();
        let is_name = is_joined && [&b"\"lib\""[..], b"'lib'", b"/lib\"", b"/lib'"].into_iter().any(begins);
        return is_name.then(|| b"lib*.so".to_vec());
    }
    let is_part = |byte: &u8| is_name(*byte) || b"{}%$*#[]().+-".contains(byte);
    let token = &line[line.iter().rposition(|byte| !is_part(byte)).map_or(0, |place| place + 1)..];
    // A pattern without quotes is one of a shell, for files.
    let in_quotes = || {
        let before = line[..line.len() - token.len()].iter().rev();
        let mut before = before.skip_while(|byte| is_part(byte) || **byte == b'/');
        before.next().is_some_and(|byte| matches!(byte, b'\'' | b'"' | b'`'))
    };
    let start = memchr::memmem::find(token, b"lib").filter(|at| *at == 0 || !is_name(token[at - 1]))?;
    let mut name = Vec::new();
    let mut rest = &token[start..];
    while let Some((first, others)) = rest.split_first() {
        let after = |length: usize| others.get(length..).unwrap_or_default();
        let closed = |start: usize, end: u8| memchr::memchr(end, after(start)).map(|found| start + found + 1);
        let skipped = match (first, others) {
            (b'{', _) => closed(0, b'}'),
            (b'$' | b'#', [b'{', ..]) => closed(1, b'}'),
            (b'$', _) => Some(others.iter().take_while(|byte| is_name(**byte)).count()),
            (b'%', [b'(', ..]) => closed(1, b')').map(|end| end + 1),
            (b'%', [b's' | b'd' | b'i', ..]) => Some(1),
            (b'*', _) if in_quotes() => Some(0),
            (byte, _) if is_name(*byte) || b".+-".contains(byte) => {
                name.push(*byte);
                rest = others;
                continue;
            }
            _ => return None,
        };
        rest = after(skipped?);
        name.push(b'*');
    }
    name.contains(&b'*').then(|| [&name[..], SHARED.as_bytes()].concat())
}

/// The keys of calls that open libraries by a name without `lib` and `.so`: `ffi_lib "sodium"` of Ruby,
/// `find_library("sodium")` of Python, `ffi.dlopen("sodium")` of cffi.
pub(super) const CALLS: [&str; 3] = ["ffi_", "nd_l", ".dlo"];

/// The libraries that such a call names in its line, the key being at `at`.
pub(super) fn called_libraries(text: &[u8], at: usize) -> Vec<Vec<u8>> {
    const NAMES: [&[u8]; 3] = [b"ffi_lib", b"find_library", b".dlopen"];
    let starts_here = |name: &&&[u8]| {
        let start = if name.starts_with(b"find") { at.checked_sub(2) } else { Some(at) };
        start.and_then(|start| text.get(start..)).is_some_and(|rest| rest.starts_with(name))
    };
    let Some(name) = NAMES.iter().find(starts_here) else { return Vec::new() };
    let start = if name.starts_with(b"find") { at - 2 } else { at };
    let rest = &text[start + name.len()..text.len().min(start + name.len() + 4 * NAME_BYTES)];
    let line = rest.split(|byte| *byte == b'\n').next().unwrap_or_default();
    if line.first().is_none_or(|byte| !matches!(byte, b' ' | b'(' | b'[')) {
        return Vec::new();
    }
    let variable = line.strip_prefix(b"(").filter(|_| name.starts_with(b"find")).unwrap_or_default();
    let length = variable.iter().take_while(|byte| is_name(**byte) || **byte == b'.').count();
    let rest = variable[length..].trim_ascii_start();
    // `names[i]`, `name + ext`, `f"lib{name}"`; the function of CMake separates its arguments by blanks.
    let is_open = match rest.first() {
        Some(b')') => variable.get(length) == Some(&b')'),
        Some(b'[' | b'(' | b'+' | b'%' | b'\'' | b'"') => true,
        _ => false,
    };
    if length > 0 && is_open && !text[..start].ends_with(b"def ") {
        return vec![b"lib*.so".to_vec()];
    }
    let is_joined = |quote: u8| {
        let end = variable.get(1..).and_then(|text| memchr::memchr(quote, text));
        let after = end.and_then(|end| variable.get(end + 2..)).unwrap_or_default().trim_ascii_start();
        matches!(after.first(), Some(b'+' | b'%' | b'.'))
    };
    if variable.first().is_some_and(|first| matches!(first, b'\'' | b'"') && is_joined(*first)) {
        return vec![b"lib*.so".to_vec()];
    }
    let mut parts = line.split(|byte| matches!(byte, b'\'' | b'"'));
    let mut found = Vec::new();
    // Every second part is between quotes.
    while let (Some(_), Some(name)) = (parts.next(), parts.next()) {
        let is_name = !name.is_empty()
            && name.len() <= NAME_BYTES - 6
            && name.iter().all(|byte| is_name(*byte) || matches!(byte, b'.' | b'+' | b'-'));
        if is_name && memchr::memmem::find(name, SHARED.as_bytes()).is_none() {
            let lib: &[u8] = if name.starts_with(b"lib") { b"" } else { b"lib" };
            found.push([lib, name, SHARED.as_bytes()].concat());
        }
    }
    found
}

/// The module whose `.so` is at `at`, in a line of settings that makes a server load it: PHP's `extension=dom.so`,
/// nginx's `load_module modules/ngx_http_echo_module.so;`, Apache's `LoadModule ssl_module …/mod_ssl.so`; or with an
/// absolute path anywhere: `redis-server --loadmodule /srv/mod/hello.so`.
pub(super) fn module(text: &[u8], at: usize) -> Option<&[u8]> {
    const DIRECTIVES: [&[u8]; 4] = [b"extension", b"zend_extension", b"load_module", b"LoadModule"];
    let end = at + SHARED.len();
    if text.get(end).is_some_and(|byte| is_name(*byte) || *byte == b'.') {
        return None;
    }
    let from = at.saturating_sub(2 * NAME_BYTES);
    let line = &text[from..at];
    let line = &line[memchr::memrchr(b'\n', line).map_or(0, |newline| newline + 1)..];
    let line = line.trim_ascii_start();
    let directive = line.iter().position(|byte| !is_name(*byte)).map_or(line, |end| &line[..end]);
    let is_part = |byte: &u8| is_name(*byte) || matches!(byte, b'.' | b'+' | b'-');
    let stem = line.iter().rev().take_while(|byte| is_part(byte)).count();
    let path = line.iter().rev().take_while(|byte| is_part(byte) || **byte == b'/').count();
    let is_absolute = line[line.len() - path..].starts_with(b"/");
    ((is_absolute || DIRECTIVES.contains(&directive)) && stem > 0 && stem + SHARED.len() <= NAME_BYTES)
        .then(|| text.get(at - stem..end))
        .flatten()
}

/// The command of a line of a table of cron, behind the times.
pub(super) fn scheduled(line: &[u8]) -> Option<&[u8]> {
    let line = line.trim_ascii_start();
    let word = |text: &'_ [u8]| text.iter().position(u8::is_ascii_whitespace);
    if let Some(rest) = line.strip_prefix(b"@") {
        const NAMES: [&[u8]; 8] =
            [b"annually", b"daily", b"hourly", b"midnight", b"monthly", b"reboot", b"weekly", b"yearly"];
        let end = word(rest)?;
        return NAMES.contains(&&rest[..end]).then(|| rest[end..].trim_ascii_start());
    }
    let mut rest = line;
    for place in 0..5 {
        let end = word(rest)?;
        // Months and days have names.
        let is_part = |byte: &u8| {
            byte.is_ascii_digit() || b"*/,-~".contains(byte) || place > 2 && byte.is_ascii_alphabetic()
        };
        if !rest[..end].iter().all(is_part) {
            return None;
        }
        rest = rest[end..].trim_ascii_start();
    }
    Some(rest).filter(|rest| !rest.is_empty())
}

/// Whether a text ends where the command of a line of such a table begins, behind a user perhaps.
pub(super) fn follows_times(before: &[u8]) -> bool {
    let line = [before, b" x"].concat();
    scheduled(&line).is_some_and(|rest| {
        let mut words = rest.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
        words.nth(2).is_none()
    })
}

/// Whether a text is a table of cron: by its first line that is neither a comment nor a variable.
pub(super) fn is_table(text: &[u8]) -> bool {
    const LINES: usize = 1024;
    let lines = text.split(|byte| *byte == b'\n').take(LINES).map(|line| &line[..line.len().min(NAME_BYTES)]);
    let mut lines = lines.filter(|line| {
        let line = line.trim_ascii_start();
        let name = line.iter().take_while(|byte| is_name(**byte)).count();
        !line.is_empty()
            && line[0] != b'#'
            && !(name > 0 && line[name..].trim_ascii_start().starts_with(b"="))
    });
    lines.next().is_some_and(|line| scheduled(line).is_some())
}

/// Bytes in which the first command of a script is looked for: behind a licence.
const SCRIPT_HEAD: usize = 4 << 10;

/// Whether a text is a shell script, by its first line, or without `#!` by its first command.
pub(super) fn is_shell(text: &[u8]) -> bool {
    const FIRST: [&[u8]; 11] = [
        b". /", b"cd /", b"echo ", b"exec ", b"export ", b"if [", b"mkdir -", b"set -", b"source ",
        b"umask 0", b"until [",
    ];
    /// These begin sentences, too.
    const WORDS: [&[u8]; 3] = [b"printf ", b"sleep ", b"trap "];
    if text.starts_with(b"#!") {
        let line = text.iter().take(NAME_BYTES).take_while(|byte| **byte != b'\n').count();
        return text[..line].trim_ascii_end().ends_with(b"sh");
    }
    let lines = text[..text.len().min(SCRIPT_HEAD)].split(|byte| *byte == b'\n');
    let mut lines = lines.map(<[u8]>::trim_ascii).filter(|line| !line.is_empty() && line[0] != b'#');
    let is_argument =
        |rest: &[u8]| rest.first().is_some_and(|byte| byte.is_ascii_digit() || b"'\"$".contains(byte));
    lines.next().is_some_and(|line| {
        FIRST.iter().any(|start| line.starts_with(start))
            || WORDS.iter().any(|start| line.strip_prefix(*start).is_some_and(is_argument))
    })
}
