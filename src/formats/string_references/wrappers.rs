//! Programs that start another one: `timeout 60 make`, `gosu app git pull`, `["nice", "-n", "5", "cc", …]`.

use std::cell::OnceCell;
use std::ops::Range;

use super::sort::Sort;

/// Bytes of a continued line that are looked at, and its lines.
const LINE_BYTES: usize = 2 << 10;
const LINES: usize = 64;
/// Functions of a script that are looked at.
const FUNCTIONS: usize = 256;
/// Bytes of a function that are looked at.
const BODY: usize = 1 << 10;

/// Such programs, with how many words of their own come before the command, options aside.
pub(super) const WRAPPERS: [(&[u8], usize); 63] = [
    (b"bundle", 1),
    (b"catatonit", 0),
    (b"chpst", 0),
    (b"chronic", 0),
    (b"chroot", 1),
    (b"chrt", 0),
    (b"conda", 1),
    (b"cpulimit", 0),
    (b"cross-env", 0),
    (b"doas", 0),
    (b"docker-init", 0),
    (b"dotenv", 0),
    (b"dumb-init", 0),
    (b"eatmydata", 0),
    (b"env", 0),
    (b"envdir", 1),
    (b"exec", 0),
    (b"fakeroot", 0),
    (b"faketime", 1),
    (b"firejail", 0),
    (b"flock", 1),
    (b"gosu", 1),
    (b"ionice", 0),
    (b"linux32", 0),
    (b"linux64", 0),
    (b"mamba", 1),
    (b"micromamba", 1),
    (b"nice", 0),
    (b"nohup", 0),
    (b"npx", 0),
    (b"nsenter", 0),
    (b"numactl", 0),
    (b"parallel", 0),
    (b"pdm", 1),
    (b"pipenv", 1),
    (b"pkexec", 0),
    (b"pnpx", 0),
    (b"poetry", 1),
    (b"prlimit", 0),
    (b"runcon", 1),
    (b"runuser", 0),
    (b"s6-applyuidgid", 0),
    (b"s6-setuidgid", 1),
    (b"setarch", 1),
    (b"setpriv", 0),
    (b"setsid", 0),
    (b"setuidgid", 1),
    (b"softlimit", 0),
    (b"stdbuf", 0),
    (b"strace", 0),
    (b"su-exec", 1),
    (b"sudo", 0),
    (b"systemd-run", 0),
    (b"taskset", 1),
    (b"time", 0),
    (b"timeout", 1),
    (b"tini", 0),
    (b"unbuffer", 0),
    (b"unshare", 0),
    (b"valgrind", 0),
    (b"with-contenv", 0),
    (b"xargs", 0),
    (b"xvfb-run", 0),
];

/// Whether a program with this name (`tini`, `tini-static`) starts the command in its arguments, and no other.
pub fn is_wrapper(name: &[u8]) -> bool {
    const BUILDS: [&[u8]; 5] = [b"-static", b"-amd64", b"-arm64", b"-aarch64", b"-x86_64"];
    let mut name = name;
    while let Some(rest) = BUILDS.iter().find_map(|build| name.strip_suffix(*build)) {
        name = rest;
    }
    WRAPPERS.iter().any(|(known, _)| *known == name)
}

/// Words that precede a command in a shell script.
pub(super) const OF_SHELL: [&[u8]; 20] = [
    b"builtin", b"command", b"coproc", b"do", b"elif", b"else", b"eval", b"exec", b"if", b"not", b"RUN",
    b"run", b"then", b"time", b"trap", b"until", b"watch", b"while", b"set", b"{",
];

/// Whether a text is a shell script, in which every line is a command, and its functions that start what follows them:
/// `run() { echo "+ $*"; "$@"; }`.
pub(super) struct Shell<'t> {
    text: &'t [u8],
    pub(super) is_script: bool,
    /// Whether it is a table of cron: commands follow the times and, in those of the system, a user.
    pub(super) is_table: bool,
    pub(super) content: Content,
    functions: OnceCell<Vec<&'t [u8]>>,
}

/// What a text consists of, besides commands.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Content {
    /// A source.
    Source,
    /// Values and cells, or prose.
    Values,
    /// Values and cells.
    Tables,
}

impl Content {
    pub(super) fn of(sort: Sort) -> Self {
        match sort {
            Sort::Script | Sort::Plain => Self::Tables,
            Sort::Code | Sort::Text => Self::Values,
            Sort::Python | Sort::JavaScript | Sort::Source | Sort::Binary => Self::Source,
        }
    }
}

impl<'t> Shell<'t> {
    pub(super) fn of(text: &'t [u8]) -> Self {
        let is_table = super::bounds::is_table(text);
        Self {
            text,
            is_script: is_table || super::bounds::is_shell(text),
            is_table,
            content: Content::Source,
            functions: OnceCell::new(),
        }
    }

    /// Whether a word precedes a command.
    fn precedes(&self, word: &[u8]) -> bool {
        self.is_script && (OF_SHELL.contains(&word) || self.functions().contains(&word))
    }

    fn functions(&self) -> &[&'t [u8]] {
        self.functions.get_or_init(|| {
            let starts = memchr::memmem::find_iter(self.text, b"()").take(FUNCTIONS);
            starts.filter_map(|at| self.function(at)).collect()
        })
    }

    /// The name before these brackets, if the function starts its arguments as a command.
    fn function(&self, brackets: usize) -> Option<&'t [u8]> {
        let (before, body) = self.text.split_at(brackets);
        let before = before.trim_ascii_end();
        let is_name = |byte: &&u8| byte.is_ascii_alphanumeric() || b"_-".contains(byte);
        let name = &before[before.len() - before.iter().rev().take_while(is_name).count()..];
        let body = &body[2..body.len().min(BODY)];
        let line = body.split(|byte| *byte == b'\n').next().unwrap_or_default();
        let body = if line.trim_ascii_end().ends_with(b"}") {
            line
        } else {
            &body[..memchr::memmem::find(body, b"\n}").unwrap_or(body.len())]
        };
        let starts = |at: usize| {
            let before = body[..at].strip_suffix(b"\"").unwrap_or(&body[..at]);
            let line = before.rsplit(|byte| b"\n;&|".contains(byte)).next().unwrap_or_default();
            let line = line.trim_ascii();
            line.is_empty() || matches!(line, b"{" | b"!" | b"if" | b"exec" | b"until" | b"while" | b"time")
        };
        let started = memchr::memmem::find_iter(body, b"$@").any(starts);
        (started && !name.is_empty()).then_some(name)
    }
}

/// Whether the word at this place of a shell script is only printed, or names a package for a package manager.
pub(super) fn is_listed(text: &[u8], place: &Range<usize>) -> bool {
    const MANAGERS: [&[u8]; 12] = [
        b"apk",
        b"apt",
        b"apt-get",
        b"aptitude",
        b"brew",
        b"conda",
        b"dnf",
        b"mamba",
        b"microdnf",
        b"micromamba",
        b"yum",
        b"zypper",
    ];
    const COMMANDS: [&[u8]; 4] = [b" install", b" add ", b" remove", b" purge"];
    let least = place.start.saturating_sub(LINE_BYTES);
    let mut start = place.start;
    // A line goes on behind a backslash.
    for _ in 0..LINES {
        let Some(newline) = memchr::memrchr(b'\n', &text[least..start]) else { break };
        start = least + newline;
        let before = text[least..start].strip_suffix(b"\r").unwrap_or(&text[least..start]);
        if !before.ends_with(b"\\") {
            start += 1;
            break;
        }
    }
    let line = text[start..place.start].rsplit(|byte| b";&|(`{".contains(byte)).next().unwrap_or_default();
    let mut words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    let is_before = |word: &&[u8]| OF_SHELL.contains(word) || *word == b"sudo" || word.contains(&b'=');
    let Some(first) = words.by_ref().take(8).find(|word| !is_before(word)) else { return false };
    if matches!(first, b"echo" | b"printf") {
        let rest = &text[place.end..text.len().min(place.end + LINE_BYTES)];
        let rest = rest.split(|byte| *byte == b'\n').next().unwrap_or_default();
        // `>&2` is printed, too.
        let goes_elsewhere = |at: usize| {
            matches!(rest[at], b'|' | b'`') || rest[at] == b'>' && rest.get(at + 1) != Some(&b'&')
        };
        return !(0..rest.len()).any(goes_elsewhere);
    }
    MANAGERS.contains(&first) && COMMANDS.iter().any(|command| memchr::memmem::find(line, command).is_some())
}

/// Whether a command follows such a program and its arguments. `before` is the text of its line before it. Outside of a
/// shell script, where the same words are prose, the program itself has to begin a command.
pub(super) fn follows(before: &[u8], shell: &Shell<'_>) -> bool {
    let is_script = shell.is_script;
    let ends_command = |at: usize| match before[at] {
        b'\n' | b';' | b'|' | b'`' | b'(' => true,
        // `2>&1`
        b'&' => at == 0 || !matches!(before[at - 1], b'>' | b'<'),
        // `case $1 in build) make`
        b')' => is_script,
        _ => false,
    };
    let start = (0..before.len()).rev().find(|at| ends_command(*at)).map_or(0, |at| at + 1);
    let behind_pattern = start.checked_sub(1).is_some_and(|at| before[at] == b')');
    let words = before[start..].split(|byte| b" \t'\",[]".contains(byte)).filter(|word| !word.is_empty());
    let (mut is_first, mut is_start) = (true, true);
    // Words that may still come before the command; `None` outside of such a program.
    let mut own: Option<usize> = behind_pattern.then_some(0);
    let mut follows_option = false;
    for word in words {
        // A Makefile does not print what begins with `@`.
        let name = word.strip_prefix(b"@").unwrap_or(word);
        // `command=timeout`
        let name = name.rsplit(|byte| matches!(byte, b'/' | b'=')).next().unwrap_or_default();
        let known = WRAPPERS.iter().find(|(known, _)| *known == name).map(|(_, own)| *own);
        if is_script && is_start && matches!(word, b"echo" | b"printf") {
            return false;
        }
        // In prose these words are common.
        let may_precede = is_first || own.is_some() || word == b"{";
        let known = known.or_else(|| (may_precede && shell.precedes(word)).then_some(0));
        is_start = false;
        own = match (known, own) {
            (Some(count), before) if is_script || is_first || before.is_some() => {
                follows_option = false;
                Some(count)
            }
            // `>/tmp/log 2>&1 make`
            (_, None) if is_script && is_first && word.iter().any(|byte| matches!(byte, b'<' | b'>')) => {
                Some(0)
            }
            (_, None) => None,
            (_, Some(left)) => {
                let is_option = word.starts_with(b"-");
                let is_value = matches!(word[0], b'0'..=b'9' | b'$' | b'%' | b'{' | b'!' | b'<' | b'>')
                    || word.contains(&b'=');
                let left = match () {
                    () if is_option || is_value && left == 0 || follows_option => Some(left),
                    () => left.checked_sub(1),
                };
                follows_option = is_option && word != b"--" && !word.contains(&b'=');
                left
            }
        };
        // A key of YAML or of settings, an entry of a list, a variable that is set for the command, and `{` and `!`.
        is_first =
            matches!(word.last(), Some(b':' | b'=')) || matches!(word, b"-" | b"@" | b"{" | b"!" | b"--");
        is_first |= word.contains(&b'=') && own.is_none();
    }
    own.is_some()
}

#[cfg(test)]
mod tests {
    use super::{Shell, follows, is_wrapper};

    fn script(before: &str) -> bool {
        let shell = Shell::of(b"#!/bin/sh\nlog() { echo \"$@\"; }\nrun() { log \"$@\"; \"$@\"; }\n");
        follows(before.as_bytes(), &shell)
    }

    fn other(before: &str) -> bool {
        follows(before.as_bytes(), &Shell::of(b""))
    }

    #[test]
    fn builds_of_a_launcher_are_launchers() {
        for name in ["tini", "tini-static", "tini-static-amd64", "gosu-arm64"] {
            assert!(is_wrapper(name.as_bytes()), "{name}");
        }
        for name in ["env-staticfiles", "tinies", "-static", "app"] {
            assert!(!is_wrapper(name.as_bytes()), "{name}");
        }
    }

    #[test]
    fn a_command_follows_the_program_that_starts_it() {
        for text in [
            "timeout 60 ",
            "timeout -k 5 60s ",
            "timeout \"${T:-60}\" ",
            "nice -n 5 ",
            "nice ",
            "gosu app ",
            "gosu app timeout 60 ",
            "su-exec app ",
            "sudo -u app ",
            "sudo ",
            "setpriv --reuid=1000 --regid 1000 ",
            "runuser -u app -- ",
            "env -i PATH=$PATH ",
            "env CCACHE_DISABLE=1 ",
            "flock /tmp/lock ",
            "stdbuf -oL ",
            "nohup ",
            "taskset -c 0 ",
            "taskset 0x3 ",
            "ionice -c3 ",
            "chrt -b 0 ",
            "tini -- ",
            "/usr/bin/tini -g -- ",
            "dumb-init ",
            "xargs -n1 ",
            "xargs -r -P 4 -I {} ",
            "find . | parallel ",
            "command ",
            "if ! timeout 5 ",
            "until ",
            "while ! ",
            "unshare -n ",
            "chroot --userspec=app / ",
            "exec gosu \"$USER\" ",
            "exec ",
            "{ ",
            "LANG=C nice ",
            "poetry run ",
            "build() { ",
            "run ",
            "  run nice ",
            "  build) ",
            "until ",
            "[ -n \"$BUILD\" ] && { ",
            ">/tmp/log 2>&1 ",
            "eval ",
            "set -- ",
            "function f { ",
            "cross-env NODE_ENV=production ",
        ] {
            assert!(script(text), "{text}");
        }
        for text in [
            "",
            "apt-get install -y ",
            "echo build with ",
            "timeout 60 curl ",
            "gosu app python3 ",
            "cd /srv; ls ",
            "timeout 60 x; apk add ",
            "env | grep ",
            "log ",
            "echo x >/tmp/log ",
        ] {
            assert!(!script(text), "{text}");
        }
    }

    #[test]
    fn outside_of_a_shell_such_a_program_begins_a_command() {
        for text in [
            "command: timeout 60 ",
            "command = nice -n 5 ",
            "  - timeout 60 ",
            "\t@nice ",
            "\"start\": \"timeout 60 ",
            "subprocess.run([\"timeout\", \"60\", ",
            "subprocess.run([\"nice\", \"-n\", \"5\", \"",
            "os.system('timeout 60 ",
            "kernels: timeout 60 ",
        ] {
            assert!(other(text), "{text}");
        }
        for text in [
            "It would be nice if we ",
            "the time to ",
            "x = 'a nice ",
            "Every time you ",
            "a command ",
            "value: some time ",
        ] {
            assert!(!other(text), "{text}");
        }
    }
}
