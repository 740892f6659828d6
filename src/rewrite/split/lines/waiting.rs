//! Commands of a `RUN` that name files which a later `COPY` brings into the new stage: they follow it.

use super::super::keep::FileDisposition;
use super::super::operands::{Operands, operands};
use super::super::roots::Root;
use super::super::runs::units;
use super::super::shell::Work;
use super::super::sources::is_within;
use super::super::steps::Kind;
use super::super::words::{shell_word, variables};
use super::Lines;
use crate::base::text::printable;
use crate::cuda::links::{file_name, folder_of};
use crate::formats::dockerfile::{Form, Keyword, is_assignment};
use crate::rewrite::tidy::{Call, Run};
use crate::rootfs::NodeKind;
use hashbrown::HashSet;

/// A command that waits.
#[derive(Clone, Debug)]
pub(super) struct Waiting {
    step: usize,
    /// Its index among the commands of the step.
    command: usize,
    /// Paths of which files must be there before it.
    paths: Vec<String>,
    text: String,
}

impl Lines<'_, '_, '_, '_, '_> {
    /// Indexes of a step's commands that are not repeated where they are: they wait for a copy, or are only about files
    /// that stay in the build stage. Notes those that wait.
    pub(super) fn moved(&mut self, at: usize, works: &[Work]) -> Vec<usize> {
        let Some(run) = self.steps.run(at) else { return Vec::new() };
        let makes = self.steps.list[at].makes();
        let all = operands(self.steps, at);
        let mut moved = Vec::new();
        for unit in units(&run.commands).into_iter().filter(|unit| unit.len() == 1) {
            let (place, command) = (unit.start, &run.commands[unit.start]);
            let Some(call) = Call::of(command) else { continue };
            let named = &all[place];
            let paths = match works.get(place) {
                Some(Work::Configure) => of_configuration(&call),
                // Those of a step that creates content are about what is there after its copies.
                Some(Work::Owner) if !makes && !self.is_handled(at, place) => paths_of(named),
                _ => continue,
            };
            if call.program == "update-alternatives" && self.offers_what_stays(&call) {
                moved.push(place);
                continue;
            }
            let late = paths.iter().filter(|path| self.is_copied_later(path, at)).count();
            if late == 0 && !self.follows(&paths) {
                continue;
            }
            moved.push(place);
            // A COPY keeps modes, of which a change of owner clears some.
            let is_kept = call.program == "chmod" && late == paths.len();
            let is_cleared =
                self.clears || self.waiting.iter().any(|waiting| waiting.text.contains("chown "));
            if is_kept && !is_cleared {
                continue;
            }
            let text = self.stage.file.slice(&command.span);
            let is_relative = named.list.iter().any(|operand| operand.is_relative);
            let folder = named.folder.as_ref().filter(|_| is_relative);
            let text = match folder.and_then(|folder| shell_word(folder.as_bytes())) {
                Some(folder) => format!("cd {folder} && {text}"),
                None => text.to_owned(),
            };
            let Some(text) = self.with_assignments(run, place, &text) else {
                self.leave(at, &text);
                continue;
            };
            self.waiting.push(Waiting { step: at, command: place, paths, text });
        }
        moved
    }

    /// Whether a `RUN` that is repeated as a whole waits for a copy of files whose owner or mode it changes. Notes it.
    pub(super) fn waits(&mut self, at: usize) -> bool {
        let Some(run) = self.steps.run(at) else { return false };
        let is_owner = |place: &usize| {
            let call = run.commands.get(*place).and_then(Call::of);
            call.is_some_and(|call| matches!(call.program, "chown" | "chgrp" | "chmod" | "setcap"))
        };
        let all = operands(self.steps, at);
        let owners: Vec<usize> = (0..all.len()).filter(is_owner).collect();
        let paths: Vec<String> = owners.iter().flat_map(|place| paths_of(&all[*place])).collect();
        if !paths.iter().any(|path| self.is_copied_later(path, at)) {
            return false;
        }
        let place = self.steps.list[at].place;
        let instruction = self.stage.file.instructions.get(place);
        // What else it does, others may need before. A comment would hide what is added behind it.
        let Kind::Run(works) = &self.steps.list[at].kind else { return false };
        let is_only_owner = works.iter().all(|work| matches!(work, Work::Owner | Work::Shell));
        let is_plain = |text: &str| !text.contains('#');
        let folder = folder_of_owners(&all, &owners);
        let text = instruction
            .filter(|one| one.flags.is_empty() && one.heredocs.is_empty() && one.form == Form::Shell)
            .map(|one| self.stage.file.slice(&one.arguments).trim())
            .filter(|text| is_only_owner && is_plain(text));
        match (text, folder) {
            (Some(text), Some(folder)) => {
                let text = format!("{folder}{text}");
                let command = owners.first().copied().unwrap_or_default();
                self.waiting.push(Waiting { step: at, command, paths, text });
            }
            _ => self.leave(at, self.stage.text(place)),
        }
        true
    }

    /// A command of a `RUN` with the assignments before it, if it uses one of their variables. `None` if its value is known
    /// only in the `RUN`.
    pub(in crate::rewrite::split) fn with_assignments(
        &self,
        run: &Run,
        place: usize,
        text: &str,
    ) -> Option<String> {
        let mut used: HashSet<&str> = variables(text).collect();
        let mut assigned = Vec::new();
        // A value may use what is assigned before it.
        for (number, command) in run.commands.get(..place).unwrap_or_default().iter().enumerate().rev() {
            let words: Vec<&str> = command.words.iter().map(|word| word.text.as_str()).collect();
            let Some((first, rest)) = words.split_first() else { continue };
            let given = if matches!(*first, "export" | "declare" | "readonly") { rest } else { &words[..] };
            let is_one = |word: &&str| is_assignment(word.as_bytes());
            if !given.is_empty() && given.iter().all(is_one) {
                let names: Vec<&str> = given.iter().filter_map(|word| word.split('=').next()).collect();
                if !names.iter().any(|name| used.contains(name)) {
                    continue;
                }
                let text = self.stage.file.slice(&command.span);
                // The new stage may lack the program, or the file that it reads; a condition may hold or not.
                let is_certain = units(&run.commands).contains(&(number..number + 1));
                if text.contains("$(") || text.contains('`') || !is_certain {
                    return None;
                }
                used.retain(|name| !names.contains(name));
                used.extend(variables(text));
                assigned.push(text);
            } else if matches!(*first, "read" | "for" | "getopts")
                && rest.iter().any(|word| used.contains(word))
            {
                return None;
            }
        }
        // The rest comes from what is read or set in another way.
        if !used.iter().all(|name| self.is_set(name)) {
            return None;
        }
        let parts: Vec<&str> = assigned.into_iter().rev().chain([text]).collect();
        Some(parts.join(" && "))
    }

    /// Whether every `RUN` has a variable, or an instruction of the file may set it.
    fn is_set(&self, name: &str) -> bool {
        const OF_SHELL: [&str; 8] = ["HOME", "HOSTNAME", "IFS", "OLDPWD", "PATH", "PPID", "PWD", "UID"];
        let words = |keyword| {
            let declared = self.stage.file.instructions.iter().filter(move |one| one.keyword == keyword);
            declared.flat_map(|one| &one.words)
        };
        let is_one = |text: &str| text.split('=').next() == Some(name);
        OF_SHELL.contains(&name)
            || self.keep.context.input.image.variable(name).is_some()
            || words(Keyword::Arg).chain(words(Keyword::Env)).any(|word| is_one(&word.text))
    }

    /// The texts of commands whose files the new stage has now.
    pub(in crate::rewrite::split) fn arrived(&mut self) -> Vec<String> {
        // Nothing came since the last time.
        if self.waiting.is_empty() || self.covered.len() == self.covered_before {
            return Vec::new();
        }
        self.covered_before = self.covered.len();
        let mut texts = Vec::new();
        let mut again = HashSet::new();
        for waiting in std::mem::take(&mut self.waiting) {
            if self.follows(&waiting.paths)
                || waiting.paths.iter().any(|path| self.is_copied_later(path, waiting.step))
            {
                self.waiting.push(waiting);
                continue;
            }
            let run = self.steps.run(waiting.step);
            let command = run.and_then(|run| run.commands.get(waiting.command));
            let program = command.and_then(Call::of).map(|call| call.program);
            if let Some(call) = command.and_then(Call::of).filter(|_| program == Some("update-alternatives"))
            {
                self.link_again(&call);
            } else if matches!(program, Some("chown" | "chgrp" | "chmod" | "setcap")) {
                let named = operands(self.steps, waiting.step).into_iter().nth(waiting.command);
                let list = named.map(|named| named.list).unwrap_or_default();
                again.extend(list.iter().flat_map(|operand| self.copied_from_build(operand)));
            }
            texts.push(waiting.text);
        }
        self.store_again(&again);
        texts
    }

    /// Whether a command changes files that one which still waits changes before it.
    fn follows(&self, paths: &[String]) -> bool {
        let waiting = || self.waiting.iter().flat_map(|one| &one.paths);
        paths.iter().map(String::as_bytes).any(|path| {
            waiting().map(String::as_bytes).any(|other| is_within(path, other) || is_within(other, path))
        })
    }

    /// Leaves commands to the reader whose files no line copies.
    pub(super) fn not_arrived(&mut self) {
        for waiting in std::mem::take(&mut self.waiting) {
            self.leave(waiting.step, &waiting.text);
        }
    }

    /// Leaves a command to the reader.
    pub(in crate::rewrite::split) fn leave(&mut self, step: usize, text: &str) {
        self.manual_steps.push(format!(
            "line {} runs {}: repeat it after the COPY of its files",
            self.steps.tidying.line(self.steps.list[step].place),
            printable(text)
        ));
    }

    /// Whether a file at or below a path, as it was after a step, is copied and not yet there.
    fn is_copied_later(&self, path: &str, step: usize) -> bool {
        let context = self.keep.context;
        let Some(top) = context.paths.lookup(path.as_bytes()) else { return false };
        // A folder comes with one that is copied as a whole.
        let is_inside = |root: &Root| {
            root.files.is_empty()
                && root.steps.first().is_some_and(|first| *first <= step)
                && is_within(path.as_bytes(), &context.rootfs.node(root.folder).path())
        };
        if context.rootfs.node(top).kind() == NodeKind::Directory
            && !self.covered.contains(&top)
            && self.roots.list.iter().any(is_inside)
        {
            return true;
        }
        let mut open = vec![context.rootfs.node(top)];
        while let Some(node) = open.pop() {
            // In a layer of several instructions, which of them brought a file is not known.
            let may_be_there = |origin: usize| {
                (origin <= step || self.stage.shared.is_some()) && self.steps.list[origin].makes()
            };
            let is_late = node.kind() != NodeKind::Directory
                && self.keep.fate(node.id()) == FileDisposition::Copied
                && !self.covered.contains(&node.id())
                && self.steps.origin(node).is_some_and(may_be_there);
            if is_late {
                return true;
            }
            open.extend(node.children());
        }
        false
    }

    /// Whether `update-alternatives` offers a program that stays in the build stage.
    pub(super) fn offers_what_stays(&self, call: &Call<'_>) -> bool {
        let context = self.keep.context;
        let node = offered(call).and_then(|path| context.paths.lookup(path.as_bytes()));
        node.is_some_and(|node| self.keep.fate(node) == FileDisposition::Gone)
    }

    /// Links that a repeated `update-alternatives` makes are not made again.
    fn link_again(&mut self, call: &Call<'_>) {
        let words: Vec<&str> = call.words.iter().map(|word| word.text.as_str()).collect();
        let made: Vec<Vec<u8>> = words
            .iter()
            .enumerate()
            .filter(|(_, word)| matches!(**word, "--install" | "--slave" | "--set"))
            .flat_map(|(at, word)| {
                let (link, name) = match *word {
                    "--set" => (None, words.get(at + 1)),
                    _ => (words.get(at + 1), words.get(at + 2)),
                };
                let name = name.map(|name| format!("/etc/alternatives/{name}").into_bytes());
                link.map(|link| link.as_bytes().to_vec()).into_iter().chain(name)
            })
            .collect();
        self.roots.links.retain(|(_, link, _)| !made.contains(link));
        for link in made {
            let (folder, name) = (folder_of(&link), file_name(&link));
            let folder = self.keep.context.paths.lookup(folder);
            let node = folder.and_then(|folder| self.keep.context.paths.child(folder, name));
            self.covered.extend(node);
        }
    }
}

/// The program that `update-alternatives` offers or sets.
fn offered<'c>(call: &Call<'c>) -> Option<&'c str> {
    let words = &call.words;
    let after = |option: &str, further: usize| {
        let at = words.iter().position(|word| word.text == option)?;
        words.get(at + further).map(|word| word.text.as_str())
    };
    after("--install", 3).or_else(|| after("--set", 2))
}

/// Paths that a command which configures the system reads, as far as a copy can bring them.
fn of_configuration(call: &Call<'_>) -> Vec<String> {
    let fixed: &[&str] = match call.program {
        "update-alternatives" => return offered(call).map(str::to_owned).into_iter().collect(),
        "fc-cache" => &["/usr/share/fonts", "/usr/local/share/fonts"],
        "update-ca-certificates" => &["/usr/local/share/ca-certificates"],
        _ => &[],
    };
    fixed.iter().map(|path| (*path).to_owned()).collect()
}

/// The paths that a command names; of a pattern, its folder.
fn paths_of(named: &Operands) -> Vec<String> {
    let paths = named.list.iter().filter_map(|operand| {
        let path = operand.path.as_deref()?;
        let folder =
            if operand.is_pattern { path.rsplit_once('/').map_or("/", |(above, _)| above) } else { path };
        Some(folder.to_owned())
    });
    paths.collect()
}

/// The command that enters the folder in which a `RUN` changes owners and modes: empty if it names no path from
/// there. `None` if the folder is not known.
fn folder_of_owners(all: &[Operands], owners: &[usize]) -> Option<String> {
    let named = owners.iter().filter_map(|place| all.get(*place));
    let mut relative =
        named.filter(|named| named.list.iter().any(|operand| operand.is_relative || operand.path.is_none()));
    let Some(first) = relative.next() else { return Some(String::new()) };
    // A `cd` in it is part of its text.
    let first = all.first().and_then(|one| one.folder.as_ref()).or(first.folder.as_ref())?;
    Some(format!("cd {} && ", shell_word(first.as_bytes())?))
}
