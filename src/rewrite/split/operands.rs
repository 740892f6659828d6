//! Paths that the commands of a `RUN` name, with the working directory of each command.

use super::sources::is_within;
use super::steps::Steps;
use crate::formats::dockerfile::Span;
use crate::rewrite::tidy::Call;

/// A path that a command names.
#[derive(Clone, Debug)]
pub(super) struct Operand {
    /// Its range in the text.
    pub(super) span: Span,
    /// The absolute path; of a pattern, the part before the first wildcard. `None` if the text does not
    /// determine it.
    pub(super) path: Option<String>,
    pub(super) is_pattern: bool,
    pub(super) is_relative: bool,
}

impl Operand {
    /// Whether a path is at or below this one, or starts with the literal part of the pattern.
    pub(super) fn covers(&self, path: &[u8]) -> bool {
        let Some(own) = self.path.as_deref() else { return false };
        if self.is_pattern { path.starts_with(own.as_bytes()) } else { is_within(path, own.as_bytes()) }
    }
}

/// Paths that one command names.
#[derive(Clone, Debug, Default)]
pub(super) struct Operands {
    /// Its working directory; `None` if unknown.
    pub(super) folder: Option<String>,
    pub(super) list: Vec<Operand>,
}

/// Paths by command of a step: of owner and mode changes, created folders, searched folders, removed files.
pub(super) fn operands(steps: &Steps<'_, '_>, step: usize) -> Vec<Operands> {
    let (Some(run), Some(one)) = (steps.run(step), steps.list.get(step)) else { return Vec::new() };
    let absolute = |folder: Option<&str>, path: &str| match folder {
        _ if path.starts_with('/') => steps.tidying.absolute(one.place, path),
        Some(folder) => steps.tidying.absolute(one.place, &format!("{folder}/{path}")),
        None => None,
    };
    let mut folder = steps.tidying.workdir(one.place);
    let mut found = Vec::new();
    for command in &run.commands {
        let mut own = Operands { folder: folder.clone(), list: Vec::new() };
        if let Some(call) = Call::of(command) {
            if matches!(call.program, "cd" | "pushd" | "popd") {
                let target = call.words.first().filter(|_| call.program != "popd");
                folder = target.and_then(|word| absolute(folder.as_deref(), &word.text));
            }
            for at in places(&call) {
                let word = &call.words[at];
                let text = steps.filled(step, word);
                let end = text.find(['*', '?', '[']);
                let literal = &text[..end.unwrap_or(text.len())];
                // Only the folder of a pattern is a path; the literal part of its name is not.
                let (above, name) = literal.rsplit_once('/').unwrap_or((".", literal));
                let path = match end {
                    None => absolute(own.folder.as_deref(), literal),
                    Some(_) => absolute(own.folder.as_deref(), if above.is_empty() { "/" } else { above })
                        .map(|above| format!("{}/{name}", above.trim_end_matches('/'))),
                };
                own.list.push(Operand {
                    span: word.span.clone(),
                    path,
                    is_pattern: end.is_some(),
                    is_relative: !text.starts_with('/'),
                });
            }
        }
        found.push(own);
    }
    found
}

/// Whether a call creates folders.
pub(super) fn makes_folders(call: &Call<'_>) -> bool {
    call.program == "mkdir"
        || call.program == "install"
            && call.words.iter().any(|word| {
                word.text == "--directory"
                    || word.text.starts_with('-') && !word.text.starts_with("--") && word.text.contains('d')
            })
}

/// Indexes of the words of a call that are paths.
fn places(call: &Call<'_>) -> Vec<usize> {
    let takes_value: &[&str] = match call.program {
        "mkdir" => &["-m"],
        "install" if makes_folders(call) => &["-m", "-o", "-g"],
        "find" => {
            let is_path = |at: &usize| !call.words[*at].text.starts_with(['-', '(', '!']);
            return (0..call.words.len()).take_while(is_path).collect();
        }
        "setcap" => return places_of_setcap(call),
        "chown" | "chmod" | "chgrp" | "rm" | "rmdir" => &[],
        _ => return Vec::new(),
    };
    let mut found = Vec::new();
    let mut words = call.words.iter().enumerate();
    while let Some((at, word)) = words.next() {
        if takes_value.contains(&word.text.as_str()) {
            words.next();
        } else if !word.text.starts_with('-') {
            found.push(at);
        }
    }
    // The owner or the mode comes first.
    if call.program.starts_with("ch") && !found.is_empty() {
        found.remove(0);
    }
    found
}

/// `setcap` takes capabilities and a file, or `-r` and a file, several times.
fn places_of_setcap(call: &Call<'_>) -> Vec<usize> {
    let mut found = Vec::new();
    let mut words = call.words.iter().enumerate();
    while let Some((_, word)) = words.next() {
        match word.text.as_str() {
            "-n" => {
                words.next();
            }
            "-q" | "-v" | "-f" => {}
            // What comes before the file: its capabilities, or their removal.
            _ => found.extend(words.next().map(|(at, _)| at)),
        }
    }
    found
}
