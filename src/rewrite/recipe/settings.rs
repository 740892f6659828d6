//! The settings that instructions make in an image's configuration, and those they leave open.

use std::collections::{BTreeMap, BTreeSet};

use oci_spec::image::Config;

use super::redaction_policy::RedactionPolicy;
use super::step::{Body, Dialect, Step};
use super::values::{exec, expand, list, pairs, quoted, strings};
use crate::formats::dockerfile::Keyword;

/// The builders' default.
const DEFAULT_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// Labels added by builders.
const BUILDERS_LABELS: [&str; 1] = ["io.buildah.version"];

/// Settings of an image, as made by instructions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Settings {
    environment: BTreeMap<String, String>,
    /// Build arguments, which variables may use.
    arguments: BTreeMap<String, String>,
    labels: BTreeMap<String, String>,
    ports: BTreeSet<String>,
    volumes: BTreeSet<String>,
    user: String,
    folder: String,
    stop: String,
    entrypoint: Option<Vec<String>>,
    command: Option<Vec<String>>,
    /// Whether this Dockerfile set the command, and not its base.
    own_command: bool,
}

/// The settings of an image's configuration.
pub(super) fn of_config(config: &Config) -> Settings {
    let split = |pair: &String| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        (name.to_owned(), value.to_owned())
    };
    let labels: BTreeMap<String, String> = config.labels().clone().unwrap_or_default().into_iter().collect();
    Settings {
        environment: config.env().iter().flatten().map(split).collect(),
        arguments: BTreeMap::new(),
        labels,
        ports: config.exposed_ports().iter().flatten().map(|text| port(text)).collect(),
        volumes: config.volumes().iter().flatten().cloned().collect(),
        user: config.user().clone().unwrap_or_default(),
        folder: config.working_dir().clone().unwrap_or_default(),
        stop: config.stop_signal().clone().unwrap_or_default(),
        entrypoint: config.entrypoint().clone().filter(|words| !words.is_empty()),
        command: config.cmd().clone().filter(|words| !words.is_empty()),
        own_command: false,
    }
}

impl Settings {
    /// The value of a variable.
    pub(super) fn variable(&self, name: &str) -> Option<&str> {
        self.environment.get(name).map(String::as_str)
    }

    /// Declares a build argument.
    pub(super) fn argument(&mut self, name: &str, value: &str) {
        self.arguments.insert(name.to_owned(), value.to_owned());
    }

    /// The value of a variable for an instruction.
    fn known(&self, name: &str) -> Option<String> {
        let set = self.environment.get(name).or_else(|| self.arguments.get(name)).cloned();
        set.or_else(|| (name == "PATH").then(|| DEFAULT_PATH.to_owned()))
    }

    /// A path in the working directory; `None` while that is unknown.
    pub(super) fn absolute(&self, path: &str) -> Option<String> {
        (path.starts_with('/') || !self.folder.is_empty()).then(|| join(&self.folder, path))
    }

    /// The value of a label.
    pub(super) fn label(&self, name: &str) -> Option<&str> {
        self.labels.get(name).map(String::as_str)
    }

    /// Marks these settings as those of the base image: a new Dockerfile starts from them.
    pub(super) fn start(&mut self) {
        self.own_command = false;
    }

    /// Applies an entry. `last` are the settings of the image, which determine where unquoted values end.
    pub(super) fn apply(&mut self, step: &Step<'_>, last: &Settings) {
        let Body::Plain(keyword, text) = &step.body else { return };
        let source = step.dialect == Dialect::Source;
        let filled = |text: &str| {
            if source { expand(text, &|name| self.known(name)) } else { text.to_owned() }
        };
        match keyword {
            Keyword::Env => {
                let found = self.pairs(step, text, last);
                self.environment.extend(found);
            }
            Keyword::Label => {
                let found = self.pairs(step, text, last);
                self.labels.extend(found);
            }
            Keyword::Expose => {
                let text = filled(text);
                self.ports.extend(list(&text).iter().map(|text| port(text)));
            }
            Keyword::Volume => {
                let text = filled(text);
                self.volumes.extend(list(&text));
            }
            Keyword::User => self.user = filled(text),
            Keyword::WorkDir => self.folder = join(&self.folder, &filled(text)),
            Keyword::StopSignal => self.stop = list(&filled(text)).concat(),
            Keyword::Cmd => {
                self.command = Some(words(text)).filter(|words| !words.is_empty());
                self.own_command = true;
            }
            Keyword::Entrypoint => {
                self.entrypoint = Some(words(text)).filter(|words| !words.is_empty());
                if !self.own_command {
                    self.command = None;
                }
            }
            _ => {}
        }
    }

    /// Pairs of an `ENV` or `LABEL`.
    pub(super) fn pairs(&self, step: &Step<'_>, text: &str, last: &Settings) -> Vec<(String, String)> {
        let of_last = |name: &str| match step.keyword() {
            Some(Keyword::Label) => last.label(name).map(str::to_owned),
            _ => last.variable(name).map(str::to_owned),
        };
        match step.dialect {
            Dialect::Source => pairs(text, Dialect::Source, &|name| self.known(name)),
            Dialect::Evaluated => pairs(text, Dialect::Evaluated, &of_last),
        }
    }

    /// Instructions that turn these settings into `last`. Removed variables, labels, ports and volumes cannot be
    /// expressed.
    pub(super) fn missing(&self, last: &Settings, redaction_policy: RedactionPolicy) -> Vec<String> {
        let mut found = Vec::new();
        let pair = |(name, value): (&String, &String)| {
            format!("{}={}", quoted(name), quoted(&redaction_policy.value(name, value)))
        };
        for one in &last.environment {
            let by_itself = one.0 == "PATH" && one.1 == DEFAULT_PATH && self.variable("PATH").is_none();
            if self.variable(one.0) != Some(one.1) && !by_itself {
                found.push(format!("ENV {}", pair(one)));
            }
        }
        for one in &last.labels {
            if self.label(one.0) != Some(one.1) && !BUILDERS_LABELS.contains(&one.0.as_str()) {
                found.push(format!("LABEL {}", pair(one)));
            }
        }
        found.extend(last.ports.difference(&self.ports).map(|port| format!("EXPOSE {}", quoted(port))));
        found.extend(
            last.volumes
                .difference(&self.volumes)
                .map(|path| format!("VOLUME {}", exec(std::slice::from_ref(path)))),
        );
        if slashless(&self.folder) != slashless(&last.folder) {
            let folder = if last.folder.is_empty() { "/" } else { &last.folder };
            found.push(format!("WORKDIR {}", quoted(folder)));
        }
        if self.stop != last.stop && !last.stop.is_empty() {
            found.push(format!("STOPSIGNAL {}", quoted(&last.stop)));
        }
        if self.user != last.user {
            found.push(format!("USER {}", quoted(if last.user.is_empty() { "root" } else { &last.user })));
        }
        let command = |keyword: &str, words: Option<&Vec<String>>| {
            format!("{keyword} {}", exec(&redaction_policy.words(words.map_or(&[], Vec::as_slice))))
        };
        let entry = self.entrypoint != last.entrypoint;
        if entry {
            found.push(command("ENTRYPOINT", last.entrypoint.as_ref()));
        }
        // An entrypoint resets the command of the base.
        if self.command != last.command || entry && !self.own_command && last.command.is_some() {
            found.push(command("CMD", last.command.as_ref()));
        }
        found
    }
}

/// The words of a command.
pub(super) fn words(text: &str) -> Vec<String> {
    strings(text).unwrap_or_else(|| vec!["/bin/sh".to_owned(), "-c".to_owned(), text.to_owned()])
}

/// A port without the default protocol.
pub(super) fn port(text: &str) -> String {
    text.strip_suffix("/tcp").unwrap_or(text).to_owned()
}

/// A folder relative to another.
pub(super) fn join(folder: &str, path: &str) -> String {
    if path.starts_with('/') {
        return path.to_owned();
    }
    let path = path.strip_prefix("./").unwrap_or(path);
    format!("{}/{}", slashless(folder), if path == "." { "" } else { path })
}

/// Removes the trailing slash.
pub(super) fn slashless(path: &str) -> &str {
    path.trim_end_matches('/')
}
