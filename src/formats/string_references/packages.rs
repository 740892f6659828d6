//! Commands that build packages: an installation compiles what comes without a wheel, gem or binary.

use std::ops::Range;

use super::command::STARTERS;

/// Maximum bytes before a word that are looked at.
const REACH: usize = 128;
/// Maximum options between a program and its command.
const OPTIONS: usize = 4;
/// Programs that install packages for a language, and may compile them.
const INSTALLERS: [&[u8]; 9] =
    [b"bundle", b"bundler", b"gem", b"npm", b"pip", b"pipenv", b"pipx", b"pnpm", b"poetry"];
/// Commands of `setup.py` that build.
const OF_SETUP: [&[u8]; 6] = [b"bdist_wheel", b"build", b"build_clib", b"build_ext", b"develop", b"install"];
/// What separates the words of a command in a text, in a string, or in a list of strings.
const BETWEEN: &[u8] = b" \t\n\r'\",\\";

/// Whether a word of such a command is one at its place; `None` for other words.
pub(super) fn builds(text: &[u8], place: &Range<usize>, word: &str) -> Option<bool> {
    match word {
        "install" => Some(is_command_of(&INSTALLERS, text, place.start)),
        "rebuild" => Some(is_command_of(&[b"npm", b"pnpm"], text, place.start)),
        "setup.py" => Some(OF_SETUP.contains(&next(text.get(place.end..).unwrap_or_default()))),
        _ => None,
    }
}

/// The word after a program.
fn next(rest: &[u8]) -> &[u8] {
    let rest = &rest[..rest.len().min(REACH)];
    let start = rest.iter().position(|byte| !BETWEEN.contains(byte)).unwrap_or(rest.len());
    let word = &rest[start..];
    let length = word.iter().position(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_');
    if start == 0 { &[] } else { &word[..length.unwrap_or(word.len())] }
}

/// Whether the word that starts at `at` is a command of one of these programs, which is started there.
fn is_command_of(programs: &[&[u8]], text: &[u8], at: usize) -> bool {
    let from = at.saturating_sub(REACH);
    let mut head = &text[from..at];
    for _ in 0..=OPTIONS {
        let end = head.iter().rposition(|byte| !BETWEEN.contains(byte)).map_or(0, |last| last + 1);
        let start = head[..end].iter().rposition(|byte| is_end(*byte)).map_or(0, |last| last + 1);
        let token = &head[start..end];
        head = &head[..start];
        if token.starts_with(b"-") {
            continue;
        }
        let name = token.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
        // `pip3.11`
        let bare =
            name.iter().rposition(|byte| !byte.is_ascii_digit() && *byte != b'.').map_or(0, |last| last + 1);
        let is_whole = start > 0 || from == 0;
        return end < at - from
            && is_whole
            && programs.contains(&&name[..bare])
            && is_start(head, token.contains(&b'/'));
    }
    false
}

/// Whether a word ends at this byte.
fn is_end(byte: u8) -> bool {
    BETWEEN.contains(&byte) || b"`()[]{}=;&|<>!$:".contains(&byte)
}

/// Whether a program is started behind this text: at the start of a line, of a string or of a command in it, or as a
/// module of Python.
fn is_start(before: &[u8], has_path: bool) -> bool {
    let trimmed = before.trim_ascii_end();
    let is_apart = trimmed.len() < before.len();
    match trimmed {
        [] => true,
        _ if before[trimmed.len()..].contains(&b'\n') => true,
        [.., b'&' | b'|' | b';' | b'!' | b'(' | b'{' | b'[' | b'`' | b'=' | b'\'' | b'"'] => true,
        [.., b'\\', b'n'] => true,
        // A key of YAML, alone in its line.
        [key @ .., b':'] if is_apart => {
            let line = key.rsplit(|byte| *byte == b'\n').next().unwrap_or_default().trim_ascii_start();
            let line = line.strip_prefix(b"- ").unwrap_or(line);
            line.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
        }
        // A path to it in prose is rare.
        _ if has_path => true,
        words => {
            let start = words.iter().rposition(|byte| is_end(*byte)).map_or(0, |last| last + 1);
            let last = &words[start..];
            // `CC=gcc pip install x`
            let is_assignment = start > 0 && words[start - 1] == b'=';
            is_apart && (last == b"-m" || is_assignment || STARTERS.contains(&last))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> bool {
        let place = |word: &str| text.find(word).map(|at| at..at + word.len());
        ["install", "rebuild", "setup.py"]
            .iter()
            .any(|word| place(word).is_some_and(|place| builds(text.as_bytes(), &place, word) == Some(true)))
    }

    #[test]
    fn installations_of_packages_are_commands() {
        for text in [
            "pip install x",
            "set -e\n  pip3.11 -q install x",
            "for p in /plugins/*; do pip install -q --no-deps \"$p\"; done",
            "/opt/venv/bin/pip install x",
            "cd x && gem install -q --local x.gem",
            "cd x &&\n    bundle install",
            "if ! npm rebuild; then",
            "run([sys.executable, \"-m\", \"pip\", \"install\", name])",
            "run([\"pip\",\n     \"install\", name])",
            "os.system('pip install ' + name)",
            "\"postinstall\": \"npm rebuild\"",
            "exec python3 -m pip --no-cache-dir install .",
            "CFLAGS=-O2 pip install x",
            "command: pip install x",
            "steps:\n  - run: pip install x",
            "python setup.py build_ext --inplace",
            "[\"setup.py\", \"install\"]",
        ] {
            assert!(found(text), "{text}");
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
            "rebuild",
            "docker build && npm start rebuild",
            "setup.py",
            "python setup.py sdist",
            "a/setup.py",
        ] {
            assert!(!found(text), "{text}");
        }
    }
}
