//! What turns captures off: variables, words of the command, settings of configuration files.

use std::fmt;

use regex::Regex;

use super::{ConfigFile, Settings, Switch};
use crate::cuda::catalog::GraphSwitch;

/// Where a switch was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The environment of the image.
    Environment,
    /// Entrypoint or command.
    Command,
    /// A file, with the line from 1.
    File {
        /// Path, escaped.
        path: String,
        /// Line, from 1.
        line: usize,
    },
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Environment => f.write_str("environment"),
            Self::Command => f.write_str("command"),
            Self::File { path, line } => write!(f, "{path}:{line}"),
        }
    }
}

/// Maximum number of switches reported of one file.
const IN_FILE: usize = 16;
/// Maximum length of a line that is searched, in bytes: longer ones are data.
const LINE_BYTES: usize = 4 << 10;

/// All switches of the catalogue in the settings.
pub(super) fn find(known: &[GraphSwitch], settings: &Settings<'_>) -> Vec<Switch> {
    // The patterns of the catalogue were checked when it was read.
    let matcher = |rule: &GraphSwitch| rule.value.as_deref().map(Regex::new).transpose().ok();
    let rules: Vec<Rule<'_>> =
        known.iter().filter_map(|rule| Some(Rule { rule, value: matcher(rule)? })).collect();
    let mut found = Vec::new();
    for rule in &rules {
        let Some(name) = &rule.rule.variable else { continue };
        let set = settings.environment.iter().rev().find(|(known, _)| known == name);
        if let Some((_, value)) = set.filter(|(_, value)| rule.accepts(value)) {
            found.push(rule.switch(Origin::Environment, format!("{name}={value}")));
        }
    }
    let words: Vec<&str> = settings.command.iter().flat_map(|word| shell_words(word)).collect();
    for rule in &rules {
        found.extend(rule.in_words(&words).map(|setting| rule.switch(Origin::Command, setting)));
    }
    for file in settings.files.into_iter().flatten() {
        found.extend(in_file(&rules, file));
    }
    found
}

/// The words of a command given as one word to a shell; the word itself otherwise.
fn shell_words(word: &str) -> Vec<&str> {
    // Values in JSON contain spaces and are one word.
    if word.trim_start().starts_with(['{', '[']) || !word.contains(' ') {
        return vec![word];
    }
    word.split_whitespace().map(|part| part.trim_matches(['"', '\'', ';'])).collect()
}

struct Rule<'a> {
    rule: &'a GraphSwitch,
    value: Option<Regex>,
}

impl Rule<'_> {
    fn accepts(&self, value: &str) -> bool {
        self.value.as_ref().is_none_or(|pattern| pattern.is_match(value))
    }

    fn switch(&self, origin: Origin, setting: String) -> Switch {
        Switch {
            id: self.rule.id.clone(),
            origin,
            setting,
            effect: self.rule.effect,
            text: self.rule.text.clone(),
            captures: self.rule.captures.clone(),
            source: self.rule.source.clone(),
        }
    }

    /// The option of this switch among words, or an assignment of its variable before a program.
    fn in_words(&self, words: &[&str]) -> Option<String> {
        for (place, word) in words.iter().enumerate() {
            let next = words.get(place + 1).copied();
            let (name, own) = match word.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None => (*word, None),
            };
            if let (Some(variable), Some(value)) = (&self.rule.variable, own)
                && name == variable
                && self.accepts(value)
            {
                return Some((*word).to_owned());
            }
            let Some(argument) = &self.rule.argument else { continue };
            if name.replace('_', "-") != argument.replace('_', "-") {
                continue;
            }
            if self.value.is_none() {
                // A flag, unless it is set to false.
                let given = own.or(next.filter(|next| is_boolean(next)));
                if given.is_none_or(|value| !is_false(value)) {
                    return Some((*word).to_owned());
                }
            } else if own.or(next).is_some_and(|value| self.accepts(value)) {
                return Some(match own {
                    Some(_) => (*word).to_owned(),
                    None => format!("{word}={}", next.unwrap_or_default()),
                });
            }
        }
        None
    }

    /// A setting of a configuration file: `enforce-eager: true`, `"enforce_eager": true`, `enforce_eager = true`.
    fn in_line(&self, line: &str) -> Option<String> {
        let (key, value) = line.split_once([':', '='])?;
        let bare = |text: &str| text.trim().trim_end_matches(',').trim_matches(['"', '\'']).to_owned();
        let (key, value) = (bare(key.trim_start_matches(['-', '{', ' ', '\t'])), bare(value));
        let setting = self.rule.setting.as_deref()?;
        if !key.replace('-', "_").eq_ignore_ascii_case(setting) {
            return None;
        }
        let on = match &self.value {
            Some(_) => self.accepts(&value),
            None => !value.is_empty() && !is_false(&value),
        };
        on.then(|| format!("{key}={value}"))
    }
}

fn is_false(value: &str) -> bool {
    matches!(value.to_ascii_lowercase().as_str(), "false" | "0" | "no" | "off" | "none" | "null")
}

fn is_boolean(value: &str) -> bool {
    is_false(value) || matches!(value.to_ascii_lowercase().as_str(), "true" | "1" | "yes" | "on")
}

/// Switches in the lines of a file: exports and options of scripts, settings of configuration files.
fn in_file(rules: &[Rule<'_>], file: &ConfigFile) -> Vec<Switch> {
    let mut found: Vec<Switch> = Vec::new();
    for (number, line) in file.text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty()
            || line.len() > LINE_BYTES
            || line.starts_with(['#', '%'])
            || line.starts_with("//")
        {
            continue;
        }
        let words: Vec<&str> = shell_words(line);
        for rule in rules {
            if let Some(setting) = rule.in_words(&words).or_else(|| rule.in_line(line)) {
                found.push(rule.switch(Origin::File { path: file.path.clone(), line: number + 1 }, setting));
            }
            if found.len() >= IN_FILE {
                return found;
            }
        }
    }
    found
}
