//! Programs that the command or the health check starts and that the image lacks.

use std::collections::BTreeSet;

use super::common::name_of;
use crate::base::text::{and_more, elide_middle, printable, sentence};
use crate::cuda::links::SHELLS;
use crate::findings::draft::Draft;
use crate::findings::facts::Facts;
use crate::findings::named::MAX_SHOWN_CHARS;
use crate::findings::value::{Category, Rule, Severity, User, Verdict};
use crate::formats::dockerfile::{Joiner, ShellCommand, is_assignment, is_builtin, script_commands};
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
/// Maximum programs in a proof.
const SHOWN: usize = 100;
/// What follows if a script has other commands.
const PARTLY: &str = "Its script ends there, or goes on without it.";

pub(super) fn find(facts: &Facts<'_>) -> Vec<Draft> {
    let image = facts.input.image;
    let is_linux = image.platform.as_ref().is_some_and(|platform| platform.os == "linux");
    if !facts.input.complete || !is_linux || facts.rootfs.is_empty() {
        return Vec::new();
    }
    let health: Vec<&str> = image.health_check.iter().map(String::as_str).collect();
    let mut steps = STEPS;
    let mut missing = |words: &[&str]| -> (BTreeSet<String>, bool) {
        let (called, is_decisive) = called(words);
        (called.into_iter().filter(|program| is_missing(facts, program, &mut steps)).collect(), is_decisive)
    };
    let (command, is_decisive) = missing(&facts.command());
    let effect = if is_decisive { "The container does not start." } else { PARTLY };
    let command = draft(facts, &command, "the image's command", Severity::High, effect);
    let (check, is_decisive) = missing(&health);
    let fails = "The check always fails: the container counts as unhealthy.";
    let effect = if is_decisive { fails } else { PARTLY };
    let check = draft(facts, &check, "the health check", Severity::Medium, effect);
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
    if names.is_empty() {
        return None;
    }
    let is = if names.len() == 1 { "is" } else { "are" };
    let title = format!("{shown} {is} missing for {who}");
    let mut draft = Draft::new(&RULE, Verdict::Unsure, title);
    draft.severity = Some(severity);
    let subject = sentence(who);
    draft.reason =
        format!("{} starts {shown}, which {is} not in the image. {effect}", subject.trim_end_matches('.'));
    draft.question = Some(match names.as_slice() {
        [_] => format!("Is {shown} mounted or added when the container starts?"),
        _ => format!("Are {shown} mounted or added when the container starts?"),
    });
    for name in names.iter().take(SHOWN) {
        draft.proof.push(if name.contains('/') {
            format!("no file {name} in the image")
        } else {
            format!("no program {name} in PATH")
        });
    }
    if let Some(more) = names.len().checked_sub(SHOWN).filter(|more| *more > 0) {
        draft.proof.push(format!("and {more} more"));
    }
    if names.iter().any(|name| !name.contains('/')) {
        let path = elide_middle(&printable(facts.input.image.search_path()), PATH_CHARS);
        draft.proof.push(format!("PATH is {path}"));
    }
    draft.users.push(User::Setting(who.to_owned()));
    draft.subjects = names.into_iter().take(SHOWN).collect();
    Some(draft)
}

/// Maximum shown characters of `PATH`.
const PATH_CHARS: usize = 500;

/// The programs that these words start whatever happens, as written; and whether nothing runs without them.
fn called(words: &[&str]) -> (Vec<String>, bool) {
    /// Programs that start what follows `--`.
    const INITS: [&str; 4] = ["docker-init", "dumb-init", "tini", "tini-static"];
    let is_shell = |word: &&str| SHELLS.contains(&name_of(word.as_bytes()));
    let (found, is_decisive) = match words {
        [] => (Vec::new(), true),
        // A text for a shell.
        [text] if text.contains(char::is_whitespace) => of_script(text),
        // `-l` and `-i` read settings, which may set `PATH`.
        [shell, option, text, ..] if is_shell(shell) && is_for_text(option) => {
            let (mut found, is_decisive) = of_script(text);
            found.push((*shell).to_owned());
            (found, is_decisive)
        }
        [program, rest @ ..] => {
            let mut found = vec![(*program).to_owned()];
            let options = rest.iter().take_while(|word| word.starts_with('-') && **word != "--").count();
            let started = rest.get(options + 1).filter(|_| rest.get(options) == Some(&"--"));
            if INITS.iter().any(|init| init.as_bytes() == name_of(program.as_bytes())) {
                found.extend(started.map(|word| (*word).to_owned()));
            }
            (found, true)
        }
    };
    (found.into_iter().filter(|program| is_name(program)).collect(), is_decisive)
}

/// Whether an option of a shell says that a text of commands follows: `-c`, `-ec`.
fn is_for_text(option: &str) -> bool {
    let letters = option.strip_prefix('-').unwrap_or_default();
    letters.ends_with('c') && letters.bytes().all(|byte| byte.is_ascii_alphabetic() && !b"il".contains(&byte))
}

/// Whether a word is the name or path of a program and nothing else, which might be a secret.
fn is_name(word: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"._+-/".contains(&byte);
    !word.starts_with('-') && word.bytes().all(is_part)
}

/// The programs that a script starts in any case, and whether it has no other. None if it asks whether there is a
/// program, or may bring some.
fn of_script(text: &str) -> (Vec<String>, bool) {
    const ASKING: [&str; 4] = ["command", "hash", "type", "which"];
    const BRINGING: [&str; 21] = [
        ".", "alias", "apk", "apt", "apt-get", "cargo", "conda", "dnf", "eval", "gem", "microdnf", "npm",
        "nvm", "pip", "pip3", "pnpm", "poetry", "source", "uv", "yarn", "yum",
    ];
    /// What a script does when a program fails does not replace it.
    const GIVING_UP: [&str; 5] = ["echo", "exit", "false", "kill", "printf"];
    /// These do not fail, so that what follows with `&&` is started.
    const SUCCEEDING: [&str; 12] =
        [":", "cd", "echo", "export", "mkdir", "printf", "set", "sleep", "true", "ulimit", "umask", "unset"];
    let commands = script_commands(text);
    let program = |command: &ShellCommand| {
        let mut words = command.words.iter().filter(|word| !is_assignment(word.text.as_bytes()));
        let first = words.next()?;
        let next = if first.text == "exec" { words.next()? } else { first };
        Some(next.text.clone())
    };
    let programs: Vec<Option<String>> = commands.iter().map(program).collect();
    let is_one = |program: &Option<String>, names: &[&str]| {
        program.as_deref().is_some_and(|name| names.contains(&name.rsplit('/').next().unwrap_or(name)))
    };
    let sets_path = |command: &ShellCommand| command.words.iter().any(|word| word.text.starts_with("PATH="));
    let may_bring = programs.iter().any(|one| is_one(one, &ASKING) || is_one(one, &BRINGING));
    if may_bring || commands.iter().any(sets_path) || text.contains("()") || text.contains("function ") {
        return (Vec::new(), false);
    }
    let enters = programs.iter().any(|one| is_one(one, &["cd", "pushd"]));
    // The next alternative of the same list: of `a | b && c || d`, `d`.
    let has_replacement = |at: usize| {
        let list = (at + 1..commands.len())
            .take_while(|next| !matches!(commands[*next].joiner, Joiner::First | Joiner::Sequence));
        let mut alternatives = list.filter(|next| commands[*next].joiner == Joiner::Or);
        alternatives.next().is_some_and(|next| !is_one(&programs[next], &GIVING_UP))
    };
    let does_nothing = |program: &Option<String>| {
        program.is_none() || is_one(program, &GIVING_UP) || is_one(program, &SUCCEEDING)
    };
    let is_alone = programs.iter().filter(|program| !does_nothing(program)).count() <= 1;
    // Succeeds whatever happened before.
    let ends_well = commands.last().is_some_and(|last| last.joiner == Joiner::Sequence)
        && programs.last().is_some_and(does_nothing);
    let mut found = Vec::new();
    let mut is_reached = true;
    for (at, (command, program)) in commands.iter().zip(&programs).enumerate() {
        is_reached = match command.joiner {
            Joiner::First | Joiner::Sequence => true,
            Joiner::Pipe => is_reached,
            Joiner::And => is_reached && at > 0 && is_one(&programs[at - 1], &SUCCEEDING),
            Joiner::Or => false,
        };
        if let Some(name) = program
            && is_reached
            && command.plain
            && !has_replacement(at)
            && !is_builtin(name.as_bytes())
            && !(enters && name.contains('/') && !name.starts_with('/'))
        {
            found.push(name.clone());
        }
    }
    (found, is_alone && !ends_well)
}

/// Programs that the container toolkit of NVIDIA mounts.
const MOUNTED: [&[u8]; 5] = [
    b"nvidia-cuda-mps-control",
    b"nvidia-cuda-mps-server",
    b"nvidia-debugdump",
    b"nvidia-persistenced",
    b"nvidia-smi",
];

/// Whether a program is nowhere in the image. One of a folder that is empty or a volume may be mounted.
fn is_missing(facts: &Facts<'_>, program: &str, steps: &mut u64) -> bool {
    if program.is_empty() || MOUNTED.contains(&name_of(program.as_bytes())) {
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
            // A link may lead to what is mounted.
            let name = name_of(program.as_bytes());
            let is_link = above.is_some_and(|above| facts.paths.child(above, name).is_some());
            let volumes = run.and_then(|run| run.volumes().as_ref());
            let is_volume = volumes.is_some_and(|volumes| {
                let above = above.map(|above| facts.path(above)).unwrap_or_default();
                volumes.iter().any(|volume| is_within(&above, volume.trim_end_matches('/').as_bytes()))
            });
            return has_files && !is_volume && !is_link;
        }
        found
    } else {
        let folders = facts.input.image.search_path().split(':').filter(|folder| folder.starts_with('/'));
        let mut links = false;
        let mut found = folders.take(FOLDERS).filter_map(|folder| {
            let above = walk(NodeId::ROOT, folder)?;
            let found = walk(above, program);
            // A link may lead to what is mounted.
            links |= found.is_none() && facts.paths.child(above, program.as_bytes()).is_some();
            found
        });
        let found = found.find(|node| facts.node(*node).kind() == NodeKind::File);
        if found.is_none() && links {
            return false;
        }
        found
    };
    found.is_none() && *steps > 0
}

/// Whether a path is a folder or in it.
fn is_within(path: &[u8], folder: &[u8]) -> bool {
    path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
}
