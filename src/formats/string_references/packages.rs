//! Commands that build packages: an installation compiles what comes without a wheel, gem or binary.

use std::ops::Range;

use super::command::STARTERS;

/// Maximum bytes before or after a word that are looked at.
const REACH: usize = 128;
/// Maximum words between a program and its command: options and their values.
const OPTIONS: usize = 6;
/// Programs that install packages for a language and may compile them, with the commands that do.
const INSTALLERS: [(&[u8], &[&[u8]]); 19] = [
    (b"bundle", &[b"install", b"update"]),
    (b"bunx", &[]),
    (b"bundler", &[b"install", b"update"]),
    (b"easy_install", &[]),
    (b"corepack", &[]),
    (b"cpanm", &[]),
    (b"gem", &[b"install", b"update"]),
    (b"luarocks", &[b"install", b"make"]),
    (b"node-gyp", &[b"build", b"install", b"rebuild"]),
    (
        b"npm",
        &[
            b"add",
            b"ci",
            b"cit",
            b"clean-install",
            b"create",
            b"exec",
            b"i",
            b"init",
            b"install",
            b"install-test",
            b"it",
            b"rebuild",
            b"update",
            b"x",
        ],
    ),
    (b"npx", &[]),
    (b"pdm", &[b"add", b"install", b"sync"]),
    (b"pecl", &[b"install"]),
    (b"pip", &[b"install", b"wheel"]),
    (b"pipenv", &[b"install", b"sync"]),
    (b"pipx", &[b"install"]),
    (b"pnpm", &[b"add", b"create", b"dlx", b"i", b"install", b"rebuild", b"update"]),
    (b"poetry", &[b"add", b"install", b"update"]),
    (b"yarn", &[b"add", b"create", b"dlx", b"install"]),
];
/// Commands of `setup.py` that build.
const OF_SETUP: [&[u8]; 7] =
    [b"bdist", b"bdist_wheel", b"build", b"build_clib", b"build_ext", b"develop", b"install"];
/// What separates the words of a command in a text, in a string, or in a list of strings.
const BETWEEN: &[u8] = b" \t\n\r'\",\\[(";

/// Where a word is.
pub(super) struct Place<'t> {
    pub(super) text: &'t [u8],
    pub(super) word: Range<usize>,
    /// Whether every line of the text is a command of a shell.
    pub(super) shell: bool,
    /// The string around a position, in a source whose strings are known. Only strings are commands then.
    pub(super) string: &'t dyn Fn(usize) -> Option<Option<Range<usize>>>,
}

/// Whether a word of such a command is one at its place; `None` for other words.
pub(super) fn builds(place: &Place<'_>, word: &str) -> Option<bool> {
    match word {
        "install" | "rebuild" | "wheel" => Some(is_command(place, word.as_bytes())),
        "bunx" | "corepack" | "cpanm" | "luarocks" | "node-gyp" | "npm" | "npx" | "pnpm" => {
            Some(is_program(place, word.as_bytes()))
        }
        // Without a command it installs.
        "yarn" => {
            let is_bare = following(place.text, place.word.end).all(|word| word.starts_with(b"-"));
            let is_apart = place
                .text
                .get(place.word.end)
                .is_none_or(|byte| BETWEEN.contains(byte) || b";&|)".contains(byte));
            Some(is_program(place, b"yarn") || is_bare && is_apart && is_started(place, place.word.start))
        }
        "setup.py" => {
            let mut words = following(place.text, place.word.end);
            Some(words.any(|word| OF_SETUP.contains(&word)))
        }
        _ => None,
    }
}

/// The words after a program, in its line or list.
fn following(text: &[u8], at: usize) -> impl Iterator<Item = &[u8]> {
    let rest = text.get(at..).unwrap_or_default();
    let rest = &rest[..rest.len().min(REACH)];
    // What is joined to the program is its name.
    let is_apart = rest.first().is_some_and(|byte| BETWEEN.contains(byte));
    let line =
        if is_apart { rest.split(|byte| b"\n;&|)]".contains(byte)).next().unwrap_or_default() } else { &[] };
    line.split(|byte| is_end(*byte)).filter(|word| !word.is_empty()).take(OPTIONS)
}

fn is_installer(name: &[u8], command: &[u8]) -> bool {
    INSTALLERS.iter().any(|(known, commands)| *known == name && commands.contains(&command))
}

/// Whether a program that installs is started, with a command that does. Some have no commands.
fn is_program(place: &Place<'_>, name: &[u8]) -> bool {
    let commands =
        INSTALLERS.iter().find(|(known, _)| *known == name).map_or(&[][..], |(_, commands)| commands);
    let mut words = following(place.text, place.word.end);
    (commands.is_empty() || words.any(|word| commands.contains(&word))) && is_started(place, place.word.start)
}

/// Whether this word is a command of a program that installs, which is started before it.
fn is_command(place: &Place<'_>, command: &[u8]) -> bool {
    let text = place.text;
    let least = place.word.start.saturating_sub(REACH);
    let mut at = place.word.start;
    for number in 0..=OPTIONS {
        let (start, end) = word_before(text, least, at);
        if end == at || start == end {
            return false;
        }
        let token = &text[start..end];
        at = start;
        if token == b"-mpip" {
            return true;
        }
        if token.starts_with(b"-") {
            continue;
        }
        let is_variable = text[least..start].ends_with(b"$") || text[least..start].ends_with(b"${");
        if is_installer(&bare(token, is_variable), command) {
            let sigil = if text[least..start].ends_with(b"${") { 2 } else { usize::from(is_variable) };
            return is_started(place, start - sigil);
        }
        // The value of an option.
        let before = word_before(text, least, start);
        if number == OPTIONS || !text[before.0..before.1].starts_with(b"-") {
            return false;
        }
    }
    false
}

/// The word before `at`, and not before `least`.
fn word_before(text: &[u8], least: usize, at: usize) -> (usize, usize) {
    let head = &text[least..at];
    let end = head.iter().rposition(|byte| !BETWEEN.contains(byte)).map_or(0, |last| last + 1);
    // `${PIP}`
    let end = if head[..end].ends_with(b"}") { end - 1 } else { end };
    let start = head[..end].iter().rposition(|byte| is_end(*byte)).map_or(0, |last| last + 1);
    (least + start, least + end)
}

/// The name of a program without its folder and version: `pip` of `/usr/bin/pip-3.11`.
fn bare(token: &[u8], is_variable: bool) -> Vec<u8> {
    let name = token.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
    let name = name.strip_suffix(b".main").unwrap_or(name);
    let is_version = |byte: &u8| byte.is_ascii_digit() || *byte == b'.';
    let length = name.iter().rposition(|byte| !is_version(byte)).map_or(0, |last| last + 1);
    let name = &name[..length];
    let name = name.strip_suffix(b"-").unwrap_or(name);
    if is_variable { name.to_ascii_lowercase() } else { name.to_vec() }
}

/// Whether a word ends at this byte.
fn is_end(byte: u8) -> bool {
    BETWEEN.contains(&byte) || b"`){}]=;&|<>!$:@".contains(&byte)
}

/// Whether a program whose name or path begins at `at`, or shortly before, is started there.
fn is_started(place: &Place<'_>, at: usize) -> bool {
    let text = place.text;
    let folder = text[..at].iter().rev().take(REACH).take_while(|byte| !is_end(**byte)).count();
    let (at, has_path) = (at - folder, folder > 0);
    match (place.string)(at) {
        Some(Some(string)) => {
            let head = &text[string.start.min(at).max(at.saturating_sub(REACH))..at];
            // Quotes in a string are prose, but for a command of a shell.
            let quoted =
                head.trim_ascii_end().strip_suffix(b"'").or_else(|| head.trim_ascii_end().strip_suffix(b"`"));
            quoted.map_or_else(
                || is_start(head, has_path, place.shell),
                |head| head.trim_ascii_end().ends_with(b" -c"),
            )
        }
        Some(None) => false,
        None => is_start(&text[at.saturating_sub(REACH)..at], has_path, place.shell),
    }
}

/// Whether a program is started behind this text: at the start of a line, of a string or of a command in it, or as a
/// module of Python.
fn is_start(before: &[u8], has_path: bool, shell: bool) -> bool {
    let trimmed = before.trim_ascii_end();
    let line = before.rsplit(|byte| b"\n;&|".contains(byte)).next().unwrap_or_default();
    if shell {
        let quotes = line.iter().filter(|byte| matches!(byte, b'"' | b'\'')).count();
        let prints = [&b"echo"[..], b"printf"].iter().any(|word| line.trim_ascii_start().starts_with(word));
        return !prints || quotes == 0 && line.trim_ascii().is_empty();
    }
    match trimmed {
        [] => true,
        _ if before[trimmed.len()..].contains(&b'\n') => true,
        [.., b'&' | b'|' | b';' | b'!' | b'(' | b'{' | b'[' | b'`' | b'=' | b'\'' | b'"'] => true,
        [.., b'\\', b'n'] => true,
        // An entry of a list of YAML, or a line of a Makefile.
        [head @ .., b'-' | b'@']
            if head.rsplit(|byte| *byte == b'\n').next().unwrap_or_default().trim_ascii().is_empty() =>
        {
            true
        }
        // A key of YAML, alone in its line.
        [key @ .., b':'] if trimmed.len() < before.len() => {
            let line = key.rsplit(|byte| *byte == b'\n').next().unwrap_or_default().trim_ascii_start();
            let line = line.strip_prefix(b"- ").unwrap_or(line);
            line.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
        }
        // A path to it in prose is rare.
        _ if has_path => true,
        words => {
            let start = words.iter().rposition(|byte| is_end(*byte)).map_or(0, |last| last + 1);
            let last = &words[start..];
            // `CC=gcc pip install x`
            let is_assignment = start > 0 && words[start - 1] == b'=';
            trimmed.len() < before.len() && (last == b"-m" || is_assignment || STARTERS.contains(&last))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether a text has such a command; in a source, strings are those between double quotes.
    fn found(text: &str, shell: bool, source: bool) -> bool {
        let string = |at: usize| {
            source.then(|| {
                let open = text[..at].matches('"').count() % 2 == 1;
                let start = text[..at].rfind('"').map_or(0, |quote| quote + 1);
                open.then_some(start..text.len())
            })
        };
        ["install", "rebuild", "setup.py", "npm", "npx", "yarn", "pnpm", "corepack", "node-gyp", "cpanm"]
            .iter()
            .any(|word| {
                text.match_indices(word).any(|(at, _)| {
                    let place =
                        Place { text: text.as_bytes(), word: at..at + word.len(), shell, string: &string };
                    builds(&place, word) == Some(true)
                })
            })
    }

    #[test]
    fn installations_of_packages_are_commands() {
        for text in [
            "pip install x",
            "set -e\n  pip3.11 -q install x",
            "/opt/venv/bin/pip install x",
            "cd x && gem install -q --local x.gem",
            "cd x &&\n    bundle install",
            "npm ci",
            "npm exec vite",
            "npx -y serve",
            "\"start\": \"npx serve\"",
            "pnpm dlx serve",
            "corepack pnpm i",
            "cd x && yarn",
            "yarn --frozen-lockfile",
            "npm --prefix /app install",
            "\"postinstall\": \"npm rebuild\"",
            "\"install\": \"node-gyp rebuild\"",
            "exec python3 -m pip --no-cache-dir install .",
            "python -mpip install x",
            "pip --cache-dir /tmp install x",
            "CFLAGS=-O2 pip install x",
            "command: pip install x",
            "steps:\n  - run: pip install x",
            "script:\n  - pip install x",
            "all:\n\t@pip install x",
            "python setup.py -q build_ext --inplace",
            "${PIP} install x",
            "cpanm --notest x",
        ] {
            assert!(found(text, false, false), "{text}");
        }
        for text in [
            "please install x",
            "Missing x: use pip install x",
            "Missing part: pip install x",
            "pip list; make install",
            "apt-get install gcc",
            "apt-get update && apt-get -y install x",
            "def install(pip):",
            "pipinstall x",
            "npm start",
            "yarn start",
            "\"packageManager\": \"yarn@4.1.0\"",
            "pnpm run build",
            "npm run install-docs",
            "setup.py",
            "python setup.py sdist",
            "a/setup.py",
            "the module npm ci",
        ] {
            assert!(!found(text, false, false), "{text}");
        }
    }

    #[test]
    fn in_a_shell_every_line_is_a_command() {
        for text in [
            "if pip install x; then",
            "sudo -H pip install x",
            "gosu app timeout 60 pip install x",
            "PIP_INDEX_URL=https://host/simple pip install x",
            "for p in /plugins/*; do pip install -q --no-deps \"$p\"; done",
            "poetry run pip install x",
            "echo start && npm ci",
        ] {
            assert!(found(text, true, false), "{text}");
        }
        assert!(!found("echo \"run pip install x\"", true, false));
    }

    #[test]
    fn in_a_source_only_strings_are_commands() {
        for text in [
            "run([sys.executable, \"-m\", \"pip\", \"install\", name])",
            "run([\"pip\",\n     \"install\", name])",
            "os.system(\"pip install \" + name)",
            "spawn(\"npm\", [\"install\"])",
            "spawn(\"npm\", [\"ci\"])",
            "run([\"setup.py\", \"install\"])",
            "run(\"cd x && npm ci\")",
        ] {
            assert!(found(text, false, true), "{text}");
        }
        for text in [
            "raise ImportError(\"Please run `pip install foo`\")",
            "raise ImportError(\"use 'pip install x'\")",
            "message = \"Run `npm install -D webpack-cli`\"",
            "npm.install()",
        ] {
            assert!(!found(text, false, true), "{text}");
        }
    }
}
