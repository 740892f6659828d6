//! Programs that the command or the health check starts and that the image lacks.

use std::collections::BTreeSet;

use super::common::name_of;
use crate::base::text::{and_more, elide_middle, printable};
use crate::cuda::links::SHELLS;
use crate::findings::draft::Draft;
use crate::findings::facts::Facts;
use crate::findings::named::MAX_SHOWN_CHARS;
use crate::findings::value::{Category, Rule, Severity, User, Verdict};
use crate::formats::dockerfile::{Joiner, ShellCommand, is_assignment, is_builtin, script_commands};
use crate::formats::string_references::is_wrapper;
use crate::rootfs::{NodeId, NodeKind};

pub(super) static RULE: Rule = Rule {
    id: "missing-programs",
    title: "Missing programs",
    category: Category::Configuration,
    severity: Severity::High,
    fix: "Install the package that has it in the final stage, or call a program that the image has.",
    page: include_str!("../../../assets/manual/rules/missing-programs.md"),
};

/// Maximum folders of `PATH`, and path parts and links followed for all programs.
const FOLDERS: usize = 64;
const STEPS: u64 = 1 << 16;
/// Maximum programs that are named.
const NAMED: usize = 3;

pub(super) fn find(facts: &Facts<'_>) -> Vec<Draft> {
    let image = facts.input.image;
    let is_linux = image.platform.as_ref().is_some_and(|platform| platform.os == "linux");
    if !facts.input.complete || !is_linux || facts.rootfs.is_empty() {
        return Vec::new();
    }
    let health: Vec<&str> = image.health_check.iter().map(String::as_str).collect();
    let mut steps = STEPS;
    let mut missing = |words: &[&str]| -> BTreeSet<String> {
        called(words).into_iter().filter(|program| is_missing(facts, program, &mut steps)).collect()
    };
    let command = missing(&facts.command());
    let check = missing(&health);
    let command =
        draft(facts, &command, "the image's command", Severity::High, "The container does not start.");
    let fails = "The check always fails: the container counts as unhealthy.";
    let check = draft(facts, &check, "the health check", Severity::Medium, fails);
    [command, check].into_iter().flatten().collect()
}

fn draft(
    facts: &Facts<'_>,
    missing: &BTreeSet<String>,
    who: &str,
    severity: Severity,
    effect: &str,
) -> Option<Draft> {
    let names: Vec<String> =
        missing.iter().map(|name| elide_middle(&printable(name), MAX_SHOWN_CHARS)).collect();
    let shown = names.get(..names.len().min(NAMED))?.join(", ");
    let shown = format!("{shown}{}", and_more(names.len(), NAMED));
    let (is, it) = if names.len() == 1 { ("is", "it") } else { ("are", "them") };
    if names.is_empty() {
        return None;
    }
    let mut draft = Draft::new(&RULE, Verdict::Unsure, format!("{shown} {is} missing for {who}"));
    draft.severity = Some(severity);
    draft.reason = format!(
        "{} starts {it}, and the image does not have {it}. {effect}",
        crate::base::text::sentence(who).trim_end_matches('.')
    );
    draft.question = Some(format!("Is {shown} mounted or added when the container starts?"));
    let path = printable(facts.input.image.search_path());
    for name in &names {
        draft.proof.push(if name.contains('/') {
            format!("no file {name} in the image")
        } else {
            format!("no program {name} in PATH ({path})")
        });
    }
    draft.users.push(User::Setting(who.to_owned()));
    draft.subjects = names;
    Some(draft)
}

/// The programs that these words start whatever happens, as written.
fn called(words: &[&str]) -> Vec<String> {
    let is_shell = |word: &&str| SHELLS.contains(&name_of(word.as_bytes()));
    match words {
        [] => Vec::new(),
        // A text for a shell.
        [text] if text.contains(char::is_whitespace) => of_script(text),
        [shell, rest @ ..] if is_shell(shell) => {
            let mut found = vec![(*shell).to_owned()];
            let text = rest.iter().position(|word| word.starts_with('-') && word.ends_with('c'));
            if let Some(text) = text.and_then(|at| rest.get(at + 1)) {
                found.extend(of_script(text));
            }
            found
        }
        [program, rest @ ..] => {
            let mut found = vec![(*program).to_owned()];
            if is_wrapper(name_of(program.as_bytes()))
                && let Some(at) = rest.iter().position(|word| *word == "--")
            {
                found.extend(rest.get(at + 1).map(|word| (*word).to_owned()));
            }
            found
        }
    }
}

/// The programs that a script starts in any case. None if it asks whether there is a program.
fn of_script(text: &str) -> Vec<String> {
    const ASKING: [&str; 4] = ["command", "hash", "type", "which"];
    /// What a script does when a program fails does not replace it.
    const GIVING_UP: [&str; 5] = ["echo", "exit", "false", "kill", "printf"];
    let commands = script_commands(text);
    let program = |command: &ShellCommand| {
        let mut words = command.words.iter().filter(|word| !is_assignment(word.text.as_bytes()));
        words.find(|word| word.text != "exec").map(|word| word.text.clone())
    };
    let programs: Vec<Option<String>> = commands.iter().map(program).collect();
    let asks = |program: &Option<String>| program.as_deref().is_some_and(|name| ASKING.contains(&name));
    if programs.iter().any(asks) {
        return Vec::new();
    }
    let has_replacement = |at: usize| {
        commands.get(at + 1).is_some_and(|next| next.joiner == Joiner::Or)
            && !programs[at + 1].as_deref().is_some_and(|name| GIVING_UP.contains(&name))
    };
    let is_certain =
        |at: usize| commands[at].plain && commands[at].joiner != Joiner::Or && !has_replacement(at);
    let found = programs.iter().enumerate().filter(|(at, _)| is_certain(*at));
    let found = found.filter_map(|(_, program)| program.clone());
    found.filter(|program| !is_builtin(program.as_bytes())).collect()
}

/// Whether a program is nowhere in the image. One of a folder that is empty or a volume may be mounted.
fn is_missing(facts: &Facts<'_>, program: &str, steps: &mut u64) -> bool {
    // An assignment may have a secret.
    if program.is_empty() || program.contains(['$', '`', '*', '?', '{', '~', '\\', '=']) {
        return false;
    }
    let run = facts.input.image.run_config();
    let folder = run.and_then(|run| run.working_dir().as_deref()).unwrap_or("/");
    let mut walk = |from: NodeId, path: &str| facts.paths.walk(from, path.as_bytes(), steps);
    let found = if program.contains('/') {
        let Some(from) = walk(NodeId::ROOT, folder) else { return false };
        let found = walk(from, program);
        if found.is_none() && !SHELLS.contains(&name_of(program.as_bytes())) {
            let above = program.rsplit_once('/').map_or("", |(above, _)| above);
            let above = walk(from, if above.is_empty() { "/" } else { above });
            let has_files = above.is_some_and(|above| facts.node(above).files() > 0);
            let volumes = run.and_then(|run| run.volumes().as_ref());
            let is_volume = volumes.is_some_and(|volumes| {
                let above = above.map(|above| facts.path(above)).unwrap_or_default();
                volumes.iter().any(|volume| above.starts_with(volume.trim_end_matches('/').as_bytes()))
            });
            return has_files && !is_volume;
        }
        found
    } else {
        let folders = facts.input.image.search_path().split(':').filter(|folder| folder.starts_with('/'));
        let mut found =
            folders.take(FOLDERS).filter_map(|folder| walk(NodeId::ROOT, &format!("{folder}/{program}")));
        found.find(|node| facts.node(*node).kind() == NodeKind::File)
    };
    found.is_none() && *steps > 0
}
