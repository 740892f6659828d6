//! Names of the programs that the command starts, itself and by scripts.

use std::collections::BTreeSet;

use crate::base::text::{counted, printable};
use crate::cuda::links::SHELLS;
use crate::findings::facts::Facts;
use crate::findings::value::User;
use crate::formats::string_references::is_wrapper;

/// The names in command position of the command, the health check, and the scripts that they start. A name that might be
/// that of a script counts as one, so that more may be in it than is started.
pub(super) struct Reached(BTreeSet<String>);

impl Reached {
    /// `None` if the command is only a shell, in which people start what they like, or if there is none.
    pub(super) fn of(facts: &Facts<'_>) -> Option<Self> {
        let is_shell = |word: &str| {
            let name = last_part(word);
            // The entrypoint of NVIDIA's images starts a shell.
            name == "nvidia_entrypoint.sh"
                || SHELLS.contains(&name.as_bytes())
                || is_wrapper(name.as_bytes())
                || word.starts_with('-')
        };
        if facts.command().iter().flat_map(|text| text.split_whitespace()).all(is_shell) {
            return None;
        }
        let mut names: BTreeSet<String> = BTreeSet::new();
        for (text, _) in facts.commands() {
            let words = text.split(|c: char| c.is_whitespace() || "'\"();&|`$={}[],".contains(c));
            names.extend(words.filter(|word| !word.contains("://")).map(last_part));
        }
        let mut open: Vec<_> = facts
            .inventory
            .mentions
            .iter()
            .filter(|mention| !mention.programs.is_empty())
            .map(|mention| (String::from_utf8_lossy(facts.node(mention.node).name()), mention))
            .collect();
        loop {
            let before = open.len();
            open.retain(|(name, mention)| {
                let is_reached = names.contains(&**name);
                if is_reached {
                    names.extend(mention.programs.iter().cloned());
                }
                !is_reached
            });
            if open.len() == before {
                return Some(Self(names));
            }
        }
    }

    pub(super) fn contains(&self, name: &str) -> bool {
        self.0.contains(name)
    }
}

/// A setting or a file, how it is shown, and the program that it names.
pub(super) type Mention<'a> = (User, String, &'a str);

/// The variables and files that name one of these programs in command position.
pub(super) fn mentions<'a>(facts: &Facts<'_>, programs: &[&'a str]) -> Vec<Mention<'a>> {
    let known = |name: &str| programs.iter().copied().find(|program| *program == name);
    let mut found = Vec::new();
    for (name, value) in facts.environment().iter().filter_map(|text| text.split_once('=')) {
        let first = value.split_whitespace().next().map(last_part);
        if let Some(program) = first.and_then(|first| known(&first)) {
            let setting = format!("ENV {}", printable(name));
            found.push((User::Setting(setting.clone()), setting, program));
        }
    }
    for mention in &facts.inventory.mentions {
        let words = mention.words.iter().copied();
        let mut names = mention.programs.iter().map(String::as_str).chain(words);
        if let Some(program) = names.find_map(known) {
            found.push((User::File(mention.node), facts.shown(mention.node), program));
        }
    }
    found
}

/// That so many other files name such a program, as the end of a sentence.
pub(super) fn and_others(count: usize) -> String {
    match count {
        0 => String::new(),
        1 => ", as one other file does".to_owned(),
        count => format!(", as {} do", counted(count, "other file")),
    }
}

fn last_part(word: &str) -> String {
    word.rsplit('/').next().unwrap_or(word).to_owned()
}
