//! Names of the programs that the command starts, itself and by scripts.

use std::collections::BTreeSet;

use hashbrown::HashMap;

use super::unused_nodejs::is_of_nodejs;
use crate::base::text::{counted, printable};
use crate::cuda::StringReference;
use crate::cuda::links::SHELLS;
use crate::findings::demand::is_for_work;
use crate::findings::facts::Facts;
use crate::findings::value::User;
use crate::formats::string_references::is_wrapper;
use crate::rootfs::NodeId;

/// The names in command position of the command, the health check, and the scripts that they start. A name that might be
/// that of a script counts as one, so that more may be in it than is started.
pub(super) struct Reached(BTreeSet<String>);

/// Programs that start what their own settings name, wherever these are.
const LAUNCHERS: [&str; 23] = [
    "circusd",
    "cron",
    "crond",
    "foreman",
    "forego",
    "goreman",
    "hivemind",
    "honcho",
    "init",
    "invoke-rc.d",
    "just",
    "make",
    "my_init",
    "overmind",
    "pm2",
    "pm2-runtime",
    "run-parts",
    "runsvdir",
    "s6-svscan",
    "service",
    "supervisord",
    "systemd",
    "task",
];

/// What waits until people do something.
const WAITING: [&str; 6] = ["infinity", "null", "sleep", "sshd", "tail", "nvidia_entrypoint.sh"];

impl Reached {
    /// `None` if people start what they like: the command is only a shell, waits for nothing, or there is none.
    pub(super) fn of(facts: &Facts<'_>) -> Option<Self> {
        let is_idle = |word: &str| {
            let name = last_part(word);
            let is_shell = SHELLS.contains(&name.as_bytes()) || is_wrapper(name.as_bytes());
            word.starts_with('-') || is_shell || WAITING.contains(&name.as_str())
        };
        if is_for_work(facts) || facts.command().iter().flat_map(|text| text.split_whitespace()).all(is_idle)
        {
            return None;
        }
        let mut words: Vec<String> = Vec::new();
        for (text, _) in facts.commands() {
            let parts = text.split(|c: char| c.is_whitespace() || "'\"();&|`$={}[],".contains(c));
            words.extend(parts.filter(|word| !word.contains("://")).map(str::to_owned));
        }
        let mut by_name: HashMap<String, Vec<&StringReference>> = HashMap::new();
        for mention in &facts.inventory.mentions {
            let name = String::from_utf8_lossy(facts.node(mention.node).name()).into_owned();
            by_name.entry(name).or_default().push(mention);
        }
        let mut names: BTreeSet<String> = BTreeSet::new();
        let mut steps = STEPS;
        let mut open: Vec<String> = Vec::new();
        for word in words.iter().filter(|word| !word.is_empty()) {
            open.push(last_part(word));
            // A link has another name than the script.
            open.extend(resolved(facts, word, &mut steps));
        }
        while let Some(name) = open.pop() {
            if names.contains(&name) {
                continue;
            }
            if LAUNCHERS.contains(&name.as_str()) {
                // Their settings are no sources of packages.
                let own = facts.inventory.mentions.iter();
                let own = own.filter(|one| !one.of_package && !is_of_nodejs(facts, one.node));
                for mention in own {
                    open.extend(mention.programs.iter().cloned());
                    if lists_commands(facts, mention.node) {
                        open.extend(named(mention));
                    }
                }
            }
            for script in by_name.get(&name).into_iter().flatten() {
                open.extend(script.programs.iter().cloned());
                open.extend(named(script));
            }
            names.insert(name);
        }
        Some(Self(names))
    }

    pub(super) fn contains(&self, name: &str) -> bool {
        self.0.contains(name)
    }
}

/// The programs that a file which is started names in any position: `CMD="node server.js"`, `exec "$CMD"`.
fn named(mention: &StringReference) -> impl Iterator<Item = String> {
    let words = mention.words.iter().filter(|word| !LAUNCHERS.contains(word));
    words.map(|word| (*word).to_owned())
}

/// Whether a file lists commands for a launcher.
fn lists_commands(facts: &Facts<'_>, node: NodeId) -> bool {
    let name = facts.node(node).name();
    let is_one = |one: &&[u8]| name.len() >= one.len() && name[..one.len()].eq_ignore_ascii_case(one);
    [&b"procfile"[..], b"makefile", b"gnumakefile", b"justfile", b"taskfile"].iter().any(is_one)
}

/// Maximum path parts and links followed for the words of the command.
const STEPS: u64 = 1 << 16;

/// The name of the file to which a word of the command leads, as a path or in `PATH`.
fn resolved(facts: &Facts<'_>, word: &str, steps: &mut u64) -> Option<String> {
    const FOLDERS: usize = 64;
    let found = if word.contains('/') {
        let run = facts.input.image.run_config();
        let folder = run.and_then(|run| run.working_dir().as_deref()).unwrap_or("/");
        let folder = facts.paths.walk(NodeId::ROOT, folder.as_bytes(), steps)?;
        facts.paths.walk(folder, word.as_bytes(), steps)
    } else {
        let folders = facts.input.image.search_path().split(':').take(FOLDERS);
        folders
            .map(|folder| format!("{folder}/{word}"))
            .find_map(|path| facts.paths.walk(NodeId::ROOT, path.as_bytes(), steps))
    };
    let name = facts.node(found?).name();
    Some(String::from_utf8_lossy(name).into_owned())
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
