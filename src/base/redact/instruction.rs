//! Instructions of an image's history, as builders record them.

use super::name::{REDACTED, is_secret_name};
use super::scan::{Mode, scan};
use super::url::url_user_info;

/// The suffix that BuildKit adds to an instruction.
const MARK: &str = "# buildkit";

/// Redacts an instruction of the history: values of build arguments (`|1 TOKEN=…`), of `ENV`, `ARG` and `LABEL`, of
/// assignments and options in commands (`TOKEN=…`, `--password …`, `X-Token: …`, `{"password": …}`) with secret names,
/// and user info in URLs. Each part of the text is scanned a fixed number of times, however many secrets there are.
pub fn instruction(text: &str) -> String {
    let text = url_user_info(text);
    let (head, rest) = text.split_at(head(&text));
    if let Some(arguments) = keyword(rest, &["ENV", "ARG", "LABEL"]) {
        let (values, mark) = split_mark(&rest[arguments..]);
        return [head, &rest[..arguments], &pairs(values), mark].concat();
    }
    let arguments = keyword(rest, &["RUN"]).unwrap_or(0);
    if rest[arguments..].starts_with('|') {
        let (values, command) = rest.split_at(shell(rest).unwrap_or(rest.len()));
        let (values, mark) = split_mark(values);
        return [head, &scan(values, Mode::Recorded).shown, mark, &scan(command, Mode::Shell).shown].concat();
    }
    scan(&text, Mode::Shell).shown
}

/// Length of the prefix before the instruction: docker's for those that run nothing, and ONBUILD.
fn head(text: &str) -> usize {
    let rest = text.trim_start();
    let rest = rest.strip_prefix("/bin/sh -c #(nop)").unwrap_or(rest).trim_start();
    text.len() - rest.len() + keyword(rest, &["ONBUILD"]).unwrap_or(0)
}

/// Start of the arguments if `text` begins with one of these words.
fn keyword(text: &str, words: &[&str]) -> Option<usize> {
    let end = text.find(char::is_whitespace)?;
    let known = words.iter().any(|word| text[..end].eq_ignore_ascii_case(word));
    let arguments = text[end..].trim_start();
    known.then_some(text.len() - arguments.len())
}

fn split_mark(values: &str) -> (&str, &str) {
    let trimmed = values.trim_end();
    let end = trimmed.strip_suffix(MARK).map_or(values.len(), |before| before.trim_end().len());
    values.split_at(end)
}

/// `NAME=VALUE` pairs, or the old form `NAME VALUE`, with the rest as its value.
fn pairs(values: &str) -> String {
    let end = values.find(char::is_whitespace).unwrap_or(values.len());
    let (name, value) = values.split_at(end);
    if name.contains('=') || value.trim().is_empty() || !is_secret_name(name) {
        return scan(values, Mode::Recorded).shown;
    }
    format!("{name} {REDACTED}")
}

/// Start of the shell that runs the command after build arguments: the path before the first `-c`. A value may contain
/// a path too, so a path alone is not sufficient.
fn shell(text: &str) -> Option<usize> {
    let mut candidate = None;
    let mut start = 0;
    for word in text.split_inclusive(char::is_whitespace) {
        let place = start;
        start += word.len();
        let word = word.trim_end().to_ascii_lowercase();
        let runs = word.starts_with('-') && word.ends_with('c') || matches!(&*word, "/c" | "-command");
        if runs && candidate.is_some() {
            return candidate;
        }
        let program = word.strip_suffix(".exe").unwrap_or(&word);
        if word.starts_with('/') && word.len() > 2 || matches!(program, "cmd" | "powershell" | "pwsh") {
            candidate = Some(place);
        }
    }
    None
}
