//! The tokens by which instructions and history entries are compared: parts that builders neither merge nor split, each
//! with the forms in which it may be written.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hasher as _};

use super::arguments::declarations;
use super::forms::added;
use super::settings::{Settings, join, port, slashless};
use super::step::{Body, Run, Step};
use super::values::{expand, list};
use crate::formats::dockerfile::{Dockerfile, Form, Instruction, Keyword};

/// A part of an instruction or of an entry.
#[derive(Clone, Debug)]
pub(super) struct HistoryToken {
    /// Its forms; two parts are equal when they share one.
    pub(super) keys: Vec<u64>,
    /// The index of the instruction or the entry.
    pub(super) owner: usize,
}

impl HistoryToken {
    /// Whether both may be equal.
    pub(super) fn is(&self, other: &Self) -> bool {
        self.keys.iter().any(|key| other.keys.contains(key))
    }
}

/// A form: keyword and text without white space, quotes and brackets, which builders change.
fn key(keyword: Keyword, kind: u8, text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(keyword.as_str().as_bytes());
    hasher.write_u8(kind);
    let mut buffer = [0; 64];
    let mut length = 0;
    for byte in text.bytes() {
        if byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | b'\\' | b'[' | b']' | b',' | b'`') {
            continue;
        }
        buffer[length] = byte;
        length += 1;
        if length == buffer.len() {
            hasher.write(&buffer);
            length = 0;
        }
    }
    hasher.write(&buffer[..length]);
    hasher.finish()
}

/// The whole text.
const WHOLE: u8 = 0;
/// Only a name, or the destination of files.
const NAME: u8 = 1;

/// Parts of entries. `last` are the settings of the image.
pub(super) fn of_steps(steps: &[Step<'_>], last: &Settings) -> Vec<HistoryToken> {
    let mut found = Vec::new();
    let settings = Settings::default();
    for (owner, step) in steps.iter().enumerate() {
        let mut push = |keys: Vec<u64>| found.push(HistoryToken { keys, owner });
        match &step.body {
            Body::Run(Run { shell, command, .. }) => {
                let bare = without_flags(command);
                let mut keys = vec![key(Keyword::Run, WHOLE, bare)];
                keys.extend(shell.map(|shell| key(Keyword::Run, WHOLE, &format!("{shell}{bare}"))));
                push(keys);
            }
            Body::Plain(keyword @ (Keyword::Env | Keyword::Label), text) => {
                for (name, value) in settings.pairs(step, text, last) {
                    push(vec![key(*keyword, WHOLE, &format!("{name}={value}")), key(*keyword, NAME, &name)]);
                }
            }
            Body::Plain(keyword @ (Keyword::Copy | Keyword::Add), text) => match added(text) {
                Some(added) => push(vec![key(*keyword, NAME, target(added.to))]),
                None => push(vec![key(*keyword, WHOLE, without_flags(text))]),
            },
            Body::Plain(keyword @ Keyword::Expose, text) => {
                for text in list(text) {
                    push(vec![key(*keyword, WHOLE, &port(&text))]);
                }
            }
            Body::Plain(keyword @ Keyword::Volume, text) => {
                for text in list(text) {
                    push(vec![key(*keyword, WHOLE, &text)]);
                }
            }
            Body::Plain(keyword @ Keyword::Arg, text) => {
                for (name, _) in declarations(step, text) {
                    push(vec![key(*keyword, NAME, &name)]);
                }
            }
            Body::Plain(keyword @ Keyword::Healthcheck, _) => push(vec![key(*keyword, NAME, "")]),
            Body::Plain(keyword @ Keyword::WorkDir, text) => {
                push(vec![key(*keyword, WHOLE, slashless(text))]);
            }
            Body::Plain(keyword, text) => push(vec![key(*keyword, WHOLE, text)]),
            Body::Other => {}
        }
    }
    found
}

/// Settings of previous instructions of a file.
pub(super) struct Scope<'a> {
    file: &'a Dockerfile,
    known: BTreeMap<String, String>,
    folder: String,
    shell: String,
}

impl<'a> Scope<'a> {
    /// Before the first instruction.
    pub(super) fn new(file: &'a Dockerfile) -> Self {
        Self { file, known: BTreeMap::new(), folder: String::new(), shell: "/bin/sh -c".to_owned() }
    }

    /// Records a default of an `ARG`, or a variable.
    pub(super) fn set(&mut self, name: &str, value: &str) {
        let value = self.filled(value);
        self.known.insert(name.to_owned(), value);
    }

    fn filled(&self, text: &str) -> String {
        expand(text, &|name| self.known.get(name).cloned())
    }

    /// A text as written and, if different, with variables filled in.
    fn forms(&self, text: &str) -> Vec<String> {
        let mut forms = vec![text.to_owned()];
        if text.contains('$') {
            forms.push(self.filled(text));
        }
        forms
    }

    /// Parts of an instruction with index `owner`.
    pub(super) fn history_tokens(&mut self, instruction: &Instruction, owner: usize) -> Vec<HistoryToken> {
        let keyword = instruction.keyword;
        let words: Vec<&str> = instruction.words.iter().map(|word| word.text.as_str()).collect();
        let keys = |kind: u8, texts: &[String]| -> Vec<u64> {
            texts.iter().map(|text| key(keyword, kind, text)).collect()
        };
        let one = |keys: Vec<u64>| vec![HistoryToken { keys, owner }];
        match keyword {
            Keyword::From => Vec::new(),
            Keyword::Run => one(keys(WHOLE, &self.commands(instruction))),
            Keyword::Env | Keyword::Label => {
                let mut found = Vec::new();
                for (name, value) in pairs(&words) {
                    let mut all = keys(WHOLE, &self.forms(&format!("{name}={value}")));
                    if value.contains('$') {
                        all.push(key(keyword, NAME, name));
                    }
                    found.push(HistoryToken { keys: all, owner });
                    if keyword == Keyword::Env {
                        self.set(name, &value);
                    }
                }
                found
            }
            Keyword::Arg => {
                let mut found = Vec::new();
                for word in words {
                    let (name, value) =
                        word.split_once('=').map_or((word, None), |(name, value)| (name, Some(value)));
                    if let Some(value) = value {
                        self.set(name, value);
                    }
                    found.push(HistoryToken { keys: vec![key(keyword, NAME, name)], owner });
                }
                found
            }
            Keyword::Copy | Keyword::Add => {
                let whole = words.join(" ");
                let mut all = keys(WHOLE, &self.forms(&whole));
                for to in self.forms(words.last().copied().unwrap_or_default()) {
                    all.push(key(keyword, NAME, target(&to)));
                    all.push(key(keyword, NAME, target(&join(&self.folder, &to))));
                }
                one(all)
            }
            Keyword::Expose | Keyword::Volume => {
                let each = |word: &&str| {
                    let forms: Vec<String> = self.forms(word).iter().map(|text| port(text)).collect();
                    HistoryToken { keys: keys(WHOLE, &forms), owner }
                };
                words.iter().map(each).collect()
            }
            Keyword::Healthcheck => one(vec![key(keyword, NAME, "")]),
            Keyword::WorkDir => {
                let path = words.join(" ");
                let filled = self.filled(&path);
                let folder = join(&self.folder, &filled);
                let forms = [slashless(&path), slashless(&filled), slashless(&folder)].map(str::to_owned);
                let all = keys(WHOLE, &forms);
                folder.clone_into(&mut self.folder);
                // A relative path does not double in a step, but it may grow with each.
                self.folder.truncate(floor(&self.folder, MAX_FOLDER));
                one(all)
            }
            Keyword::Cmd | Keyword::Entrypoint => {
                let text = text(self.file, instruction);
                one(keys(WHOLE, &[format!("{}{text}", self.shell), format!("/bin/sh -c{text}"), text]))
            }
            Keyword::Shell => {
                self.shell = words.join(" ");
                one(keys(WHOLE, &[words.join(" ")]))
            }
            _ => one(keys(WHOLE, &self.forms(&text(self.file, instruction)))),
        }
    }

    /// Forms of a `RUN` in the history.
    fn commands(&self, instruction: &Instruction) -> Vec<String> {
        let head = text(self.file, instruction);
        if instruction.heredocs.is_empty() {
            let mut forms = self.forms(&head);
            if instruction.form == Form::Exec {
                let words: Vec<&str> = instruction.words.iter().map(|word| word.text.as_str()).collect();
                forms.push(words.join(" "));
            }
            return forms;
        }
        let (mut whole, mut open, mut bodies) = (head.clone(), head.clone(), String::new());
        for heredoc in &instruction.heredocs {
            let body = self.file.slice(&heredoc.body);
            for text in [&mut whole, &mut open, &mut bodies] {
                text.push_str(body);
            }
            whole.push_str(&heredoc.name);
        }
        let program = instruction.heredocs.first().map(|heredoc| format!("/dev/pipes/{}", heredoc.name));
        [whole, open, bodies, head].into_iter().chain(program).collect()
    }
}

/// Maximum bytes of a path: more than Linux accepts.
const MAX_FOLDER: usize = 8192;

fn floor(text: &str, most: usize) -> usize {
    if text.len() <= most {
        return text.len();
    }
    (0..=most).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

/// Arguments with continuation lines joined and comments between them removed.
pub(super) fn text(file: &Dockerfile, instruction: &Instruction) -> String {
    let mut out = String::new();
    for (number, line) in file.slice(&instruction.arguments).lines().enumerate() {
        let line = line.trim_end();
        if number > 0 && line.trim_start().starts_with('#') {
            continue;
        }
        out.push_str(line.strip_suffix(file.escape).unwrap_or(line));
    }
    out
}

/// Names and values of an `ENV` or `LABEL`.
fn pairs<'a>(words: &[&'a str]) -> Vec<(&'a str, String)> {
    match words {
        [name, rest @ ..] if !name.contains('=') => vec![(*name, rest.join(" "))],
        _ => words
            .iter()
            .filter_map(|word| word.split_once('='))
            .map(|(name, value)| (name, value.to_owned()))
            .collect(),
    }
}

/// The destination of files, without a leading `./`.
fn target(path: &str) -> &str {
    let path = slashless(path.trim());
    path.strip_prefix("./").unwrap_or(path)
}

/// Without `--name=value` before the arguments.
fn without_flags(text: &str) -> &str {
    let mut rest = text.trim_start();
    while rest.starts_with("--") {
        let Some(end) = rest.find(char::is_whitespace) else { return rest };
        rest = rest[end..].trim_start();
    }
    rest
}
