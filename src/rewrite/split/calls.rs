//! What commands of unknown effect run: a build tool, a script, code, or another program.

mod tables;

use super::shell::COMPILERS;
use crate::cuda::links::SHELLS;
use crate::formats::string_references::is_wrapper;
use crate::rewrite::tidy::Call;
use tables::{BUILDERS, INTERPRETERS, MANAGERS, OF_PROGRAMS, OTHERS, STARTERS};

/// What a command runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target<'c> {
    /// A compiler or build tool.
    Builder,
    /// A file with commands or code, as it is written.
    Script(&'c str),
    /// Code in the command.
    Code(&'c str),
    /// A module of Python.
    Module(&'c str),
    /// Another program, as it is written.
    Program(&'c str),
}

/// What a command runs, also behind programs that start others.
pub(super) fn targets<'c>(call: &Call<'c>) -> Vec<Target<'c>> {
    let words = || call.words.iter().map(|word| word.text.as_str());
    if matches!(call.program, "." | "source") {
        return words().next().map(Target::Script).into_iter().collect();
    }
    if OTHERS.contains(&call.program) || tells(call) {
        return Vec::new();
    }
    if is_builder(call.program) || words().next().is_some_and(|word| is_pair(call.program, word)) {
        return vec![Target::Builder];
    }
    if is_wrapper(call.program.as_bytes()) || STARTERS.contains(&call.program) {
        let skipped = match words().position(|word| matches!(word, "exec" | "run")) {
            Some(at) => at + 1,
            None if MANAGERS.contains(&call.program) => return Vec::new(),
            None => 0,
        };
        return words().skip(skipped).flat_map(words_of_code).collect();
    }
    if SHELLS.contains(&call.program.as_bytes()) {
        return of_shell(call);
    }
    let name = call.program.trim_end_matches(|one: char| one.is_ascii_digit() || one == '.');
    if let Some((_, code, valued)) =
        INTERPRETERS.iter().find(|(known, _, _)| *known == name || *known == call.program)
    {
        return of_interpreter(call, code, valued);
    }
    if call.program.starts_with('$') {
        return vec![if names_compiler(call.program) {
            Target::Builder
        } else {
            Target::Program(call.program)
        }];
    }
    vec![if is_script(call.path) { Target::Script(call.path) } else { Target::Program(call.path) }]
}

/// Whether a command only tells something: `cmake --version`.
fn tells(call: &Call<'_>) -> bool {
    const OPTIONS: [&str; 5] = ["--help", "--info", "--version", "-V", "-version"];
    let [word] = call.words else { return false };
    OPTIONS.contains(&word.text.as_str())
        || is_builder(call.program) && matches!(&*word.text, "help" | "version")
}

/// The script or the text of a shell. In a pipe it reads an installer: `curl … | sh -s -- -y`.
fn of_shell<'c>(call: &Call<'c>) -> Vec<Target<'c>> {
    let mut words = call.words.iter().map(|word| word.text.as_str());
    while let Some(word) = words.next() {
        let is_option = word.starts_with(['-', '+']);
        let letters = word.get(1..).filter(|_| is_option && !word.starts_with("--"));
        match letters {
            Some(letters) if letters.contains('c') => {
                let text = words.find(|word| !word.starts_with('-'));
                return text.map(words_of_code).unwrap_or_default();
            }
            Some(letters) if letters.contains('s') => return Vec::new(),
            // `bash -euxo pipefail build.sh`
            Some(letters) if letters.ends_with(['o', 'O']) => _ = words.next(),
            _ if !is_option => return vec![Target::Script(word)],
            _ => {}
        }
    }
    Vec::new()
}

fn of_interpreter<'c>(call: &Call<'c>, code: &[&str], valued: &[&str]) -> Vec<Target<'c>> {
    let mut words = call.words.iter().map(|word| word.text.as_str());
    while let Some(word) = words.next() {
        if code.contains(&word) {
            return words.next().map(Target::Code).into_iter().collect();
        }
        if word == "-m" && call.program.starts_with("python") {
            let module = words.next().map(|name| {
                let last = name.rsplit('.').next().unwrap_or(name);
                if last == "build" || is_builder(last) { Target::Builder } else { Target::Module(name) }
            });
            return module.into_iter().collect();
        }
        if valued.contains(&word) {
            words.next();
        } else if !word.starts_with('-') {
            return vec![Target::Script(word)];
        }
    }
    Vec::new()
}

/// What the words of a text of a shell may run; only build tools and scripts can be told.
fn words_of_code(text: &str) -> Vec<Target<'_>> {
    let words = text.split(|one: char| one.is_whitespace() || "\"'();&|`".contains(one));
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    let mut found = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let name = word.rsplit('/').next().unwrap_or(word);
        let pair =
            words.get(at + 1).is_some_and(|next| is_pair(name, next) || name == "go" && *next == "build");
        if is_builder(name) || pair {
            found.push(Target::Builder);
        } else if has_suffix_of_script(name) && !word.contains("://") || word.starts_with("./") {
            found.push(Target::Script(word));
        }
    }
    found
}

fn is_builder(name: &str) -> bool {
    let stem = name.trim_end_matches(|one: char| one.is_ascii_digit() || one == '.').trim_end_matches('-');
    [name, stem].iter().any(|name| COMPILERS.contains(name) || BUILDERS.contains(name))
}

fn is_pair(program: &str, word: &str) -> bool {
    BUILDERS.iter().filter_map(|known| known.split_once(' ')).any(|known| known == (program, word))
}

/// Whether a word is the path of a script, not of an installed program: `./build.sh`, `/opt/app/setup`, `build.py`.
fn is_script(word: &str) -> bool {
    let name = word.rsplit('/').next().unwrap_or(word);
    let folder = &word[..word.len() - name.len()];
    let of_environment = folder.ends_with("/bin/") || folder.ends_with("/.bin/");
    has_suffix_of_script(name)
        || word.contains('/')
            && !word.starts_with('-')
            && !OF_PROGRAMS.contains(&folder)
            && !of_environment
            && !word.ends_with('/')
}

fn has_suffix_of_script(name: &str) -> bool {
    [".bash", ".js", ".pl", ".py", ".rb", ".sh"].iter().any(|suffix| name.ends_with(suffix))
}

/// Whether code or a name names a compiler.
pub(super) fn names_compiler(text: &str) -> bool {
    let mut words = text.split(|one: char| !(one.is_ascii_alphanumeric() || "+_-.".contains(one)));
    words.any(|word| COMPILERS.contains(&word) || matches!(word, "CC" | "CXX"))
}
