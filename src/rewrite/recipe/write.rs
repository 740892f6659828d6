//! Writes history entries as Dockerfile instructions.

use std::collections::BTreeMap;

use super::arguments::declarations;
use super::forms::{added, healthcheck};
use super::page::Page;
use super::redaction_policy::RedactionPolicy;
use super::run::shell_form;
use super::settings::{Settings, words};
use super::step::{Body, Dialect, Run, Step};
use super::values::{exec, list, quoted};
use crate::base::redact;
use crate::base::text::{elide_end, printable};
use crate::formats::dockerfile::Keyword;

/// Build arguments predefined by `BuildKit`.
const PLATFORM: [&str; 8] = [
    "TARGETPLATFORM",
    "TARGETOS",
    "TARGETARCH",
    "TARGETVARIANT",
    "BUILDPLATFORM",
    "BUILDOS",
    "BUILDARCH",
    "BUILDVARIANT",
];

/// The placeholder for sources of a `COPY` that are not recorded.
const UNKNOWN: &str = "<unknown>";

/// The note above a `COPY` whose sources are known by the layer only.
pub(in crate::rewrite) const NAMED_BY_LAYER: &str =
    "File names are from the layer; their folder in the build context or in another stage is not recorded.";

/// State that is carried from instruction to instruction.
pub(super) struct State<'a> {
    pub(super) settings: Settings,
    /// The settings of the image.
    pub(super) last: Settings,
    pub(super) shell: String,
    /// Build arguments and their values.
    pub(super) arguments: BTreeMap<String, String>,
    /// By entry that declares build arguments: their values in a later `RUN`.
    pub(super) given: BTreeMap<usize, BTreeMap<&'a str, &'a str>>,
    pub(super) redaction_policy: RedactionPolicy,
    /// Names of the files that the `COPY` of a layer likely put into this folder, an absolute path.
    pub(super) copied: &'a dyn Fn(usize, &str) -> Option<Vec<String>>,
    pub(super) told_flags: bool,
    pub(super) told_secret: bool,
}

impl State<'_> {
    /// Writes an entry; `call` are the build arguments of a `RUN`.
    pub(super) fn write(
        &mut self,
        page: &mut Page,
        place: usize,
        step: &Step<'_>,
        call: &[(String, String)],
    ) {
        match &step.body {
            Body::Run(run) => self.run(page, place, step, run, call),
            Body::Plain(keyword, text) => match (keyword, step.dialect) {
                (Keyword::Arg, _) => self.declare(page, place, step, text),
                (Keyword::Copy | Keyword::Add, _) => self.copy(page, place, step, *keyword, text),
                (Keyword::Env | Keyword::Label, Dialect::Evaluated) => {
                    let found = self.settings.pairs(step, text, &self.last);
                    let pairs: Vec<String> =
                        found.iter().map(|(name, value)| self.pair(page, name, value)).collect();
                    page.instruction(&format!("{} {}", keyword.as_str(), pairs.join(" ")), &[place], &[]);
                }
                (Keyword::Shell, _) => {
                    let words = list(text);
                    self.shell = words.join(" ");
                    page.instruction(&format!("SHELL {}", exec(&words)), &[place], &[]);
                }
                (_, Dialect::Source) => {
                    let shown = self.redaction_policy.instruction(&format!("{} {text}", keyword.as_str()));
                    self.secret(page, shown.contains(redact::REDACTED) && !text.contains(redact::REDACTED));
                    page.instruction(&shown, &[place], &[]);
                }
                (_, Dialect::Evaluated) => self.plain(page, place, *keyword, text),
            },
            Body::Other => {
                let text = elide_end(&self.redaction_policy.instruction(step.text), 160).replace('\n', " ");
                let what = match (text.as_str(), step.layer) {
                    ("", _) => "An entry of the history is empty.".to_owned(),
                    ("/bin/sh" | "sh" | "bash" | "/bin/bash", _) => {
                        "A container was committed here; its commands are not recorded.".to_owned()
                    }
                    _ => format!("Not created by a Dockerfile instruction: {text}"),
                };
                page.note(page.next_line(), &printable(&what));
                page.comment(&what);
            }
        }
    }

    /// Writes an instruction with its values unchanged.
    fn plain(&mut self, page: &mut Page, place: usize, keyword: Keyword, text: &str) {
        let name = keyword.as_str();
        let written = match keyword {
            Keyword::Cmd | Keyword::Entrypoint => exec(&self.redaction_policy.words(&words(text))),
            Keyword::Volume => exec(&list(text)),
            Keyword::Expose => list(text).iter().map(|port| quoted(port)).collect::<Vec<_>>().join(" "),
            Keyword::StopSignal => quoted(&list(text).concat()),
            Keyword::User | Keyword::WorkDir => quoted(text),
            Keyword::Healthcheck => {
                healthcheck(text, self.redaction_policy).unwrap_or_else(|| text.to_owned())
            }
            _ => self.redaction_policy.instruction(text),
        };
        self.secret(page, written.contains(redact::REDACTED) && !text.contains(redact::REDACTED));
        page.instruction(&format!("{name} {written}"), &[place], &[]);
    }

    fn pair(&mut self, page: &mut Page, name: &str, value: &str) -> String {
        let shown = self.redaction_policy.value(name, value);
        self.secret(page, shown != value);
        format!("{}={}", quoted(name), quoted(&shown))
    }

    /// Adds one note that values are redacted.
    pub(super) fn secret(&mut self, page: &mut Page, hidden: bool) {
        if hidden && !self.told_secret {
            self.told_secret = true;
            let text = format!("Values that may be secrets are written as {}.", redact::REDACTED);
            page.note(page.next_line(), &text);
            page.comment(&text);
        }
    }

    /// Adds one note about what this builder does not record.
    fn flags(&mut self, page: &mut Page, dialect: Dialect) {
        if !self.told_flags && dialect == Dialect::Evaluated {
            self.told_flags = true;
            let text = "Flags such as --mount of RUN and --from of COPY are not recorded; they may be missing here and below.";
            page.note(page.next_line(), text);
            page.comment(text);
        }
    }

    fn declare(&mut self, page: &mut Page, place: usize, step: &Step<'_>, text: &str) {
        let given = self.given.remove(&place).unwrap_or_default();
        let mut written = Vec::new();
        for (name, default) in declarations(step, text) {
            let value = given.get(name.as_str()).map(|value| (*value).to_owned()).or(default);
            let shown = match &value {
                Some(value) if !PLATFORM.contains(&name.as_str()) => self.pair(page, &name, value),
                _ => name.clone(),
            };
            self.settings.argument(&name, value.as_deref().unwrap_or_default());
            // Buildah writes all arguments declared so far.
            let before = self.arguments.insert(name, value.clone().unwrap_or_default());
            if before != Some(value.unwrap_or_default()) {
                written.push(shown);
            }
        }
        for (number, one) in written.iter().enumerate() {
            let entries: &[usize] = if number == 0 { &[place] } else { &[] };
            page.instruction(&format!("ARG {one}"), entries, &[]);
        }
    }

    fn run(
        &mut self,
        page: &mut Page,
        place: usize,
        step: &Step<'_>,
        run: &Run<'_>,
        call: &[(String, String)],
    ) {
        for (name, value) in call {
            if self.arguments.get(name) != Some(value) {
                let given = PLATFORM.contains(&name.as_str());
                let shown = if given { name.clone() } else { self.pair(page, name, value) };
                page.instruction(&format!("ARG {shown}"), &[], &[]);
                self.arguments.insert(name.clone(), value.clone());
            }
        }
        self.flags(page, step.dialect);
        let hidden = self.redaction_policy.instruction(&format!("RUN {}", run.command));
        let command = hidden.strip_prefix("RUN ").unwrap_or(&hidden);
        self.secret(page, command.contains(redact::REDACTED) && !run.command.contains(redact::REDACTED));
        if run.shell.is_none() && step.dialect == Dialect::Evaluated {
            let words: Vec<String> = command.split_whitespace().map(str::to_owned).collect();
            let note = "Written in exec form; the word boundaries are not recorded.".to_owned();
            page.instruction(&format!("RUN {}", exec(&words)), &[place], &[note]);
            return;
        }
        // Buildah writes /bin/sh for every shell.
        if let Some(shell) =
            run.shell.filter(|shell| *shell != self.shell && step.dialect == Dialect::Evaluated)
        {
            let words: Vec<String> = shell.split_whitespace().map(str::to_owned).collect();
            page.instruction(&format!("SHELL {}", exec(&words)), &[], &[]);
            shell.clone_into(&mut self.shell);
        }
        if let Some(text) = shell_form(command) {
            page.instruction(&format!("RUN {text}"), &[place], &[]);
        } else {
            let what = elide_end(&command.replace('\n', " "), 80);
            let note = format!("The command is not recorded: {what}");
            page.instruction(&format!("RUN {UNKNOWN}"), &[place], &[note]);
        }
    }

    fn copy(&mut self, page: &mut Page, place: usize, step: &Step<'_>, keyword: Keyword, text: &str) {
        self.flags(page, Dialect::Evaluated);
        let name = keyword.as_str();
        let text = self.redaction_policy.instruction(text);
        let escaped = |text: &str| {
            if step.dialect == Dialect::Evaluated { text.replace('$', "\\$") } else { text.to_owned() }
        };
        let Some(added) = added(&text) else {
            if text.split_whitespace().any(|word| word.starts_with("<<")) {
                let to = text.split_whitespace().next_back().unwrap_or("/");
                let note = "The content of this file is not recorded.".to_owned();
                page.instruction(&format!("{name} {UNKNOWN} {}", escaped(to)), &[place], &[note]);
            } else {
                page.instruction(&format!("{name} {}", escaped(&text)), &[place], &[]);
            }
            return;
        };
        let names = step.layer.filter(|_| keyword == Keyword::Copy && added.what != "folder");
        let to = self.settings.absolute(added.to);
        let (sources, note) = match names.zip(to).and_then(|(layer, to)| (self.copied)(layer, &to)) {
            Some(names) => (names, NAMED_BY_LAYER.to_owned()),
            None => (
                vec![UNKNOWN.to_owned()],
                format!("The {} copied to {} is not recorded.", added.what, elide_end(added.to, 80)),
            ),
        };
        let to = if added.to.contains(char::is_whitespace) {
            exec(&[sources, vec![added.to.to_owned()]].concat())
        } else if sources.len() > 1 && !added.to.ends_with('/') {
            // Several files need a folder.
            format!("{} {}/", sources.join(" "), escaped(added.to))
        } else {
            format!("{} {}", sources.join(" "), escaped(added.to))
        };
        page.instruction(&format!("{name} {}{to}", added.flags), &[place], &[note]);
    }
}
