//! Commands of a `RUN` that name files which a later `COPY` brings into the new stage: they follow it.

use super::super::keep::FileDisposition;
use super::super::operands::{Operand, operands};
use super::super::runs::units;
use super::super::shell::Work;
use super::Lines;
use crate::cuda::links::{file_name, folder_of};
use crate::formats::dockerfile::ShellCommand;
use crate::rewrite::tidy::Call;
use crate::rootfs::NodeKind;
use hashbrown::HashSet;

/// A command that waits: its step and its index among the commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Waiting {
    step: usize,
    command: usize,
}

impl<'l> Lines<'l, '_, '_, '_, '_> {
    /// Indexes of a step's commands that are not repeated where they are: they wait for a copy, or are only about files
    /// that stay in the build stage. Notes those that wait.
    pub(super) fn moved(&mut self, at: usize, works: &[Work]) -> Vec<usize> {
        let Some(run) = self.steps.run(at) else { return Vec::new() };
        let makes = self.steps.list[at].makes();
        let mut moved = Vec::new();
        for unit in units(&run.commands).into_iter().filter(|unit| unit.len() == 1) {
            let (place, command) = (unit.start, &run.commands[unit.start]);
            let Some(call) = Call::of(command) else { continue };
            let named = match works.get(place) {
                Some(Work::Configure) => of_configuration(&call),
                // Those of a step that creates content are about what is there after its copies.
                Some(Work::Owner) if !makes && !self.is_handled(at, place) => {
                    paths_of_operands(self, at, place)
                }
                _ => continue,
            };
            if call.program == "update-alternatives" && self.offers_what_stays(&call) {
                moved.push(place);
            } else if named.iter().any(|path| self.is_copied_later(path, at)) {
                moved.push(place);
                // A COPY keeps modes and capabilities; a change of owner clears some of them.
                if !self.waiting.is_empty() || !matches!(call.program, "chmod" | "setcap") {
                    self.waiting.push(Waiting { step: at, command: place });
                }
            }
        }
        moved
    }

    /// The texts of commands whose files the new stage has now.
    pub(in crate::rewrite::split) fn arrived(&mut self) -> Vec<String> {
        let mut texts = Vec::new();
        let mut again = HashSet::new();
        for waiting in std::mem::take(&mut self.waiting) {
            let Some(command) = self.command_of(waiting) else { continue };
            let Some(call) = Call::of(command) else { continue };
            let named = match call.program {
                "chown" | "chgrp" | "chmod" | "setcap" => {
                    paths_of_operands(self, waiting.step, waiting.command)
                }
                _ => of_configuration(&call),
            };
            if named.iter().any(|path| self.is_copied_later(path, waiting.step)) {
                self.waiting.push(waiting);
                continue;
            }
            if call.program == "update-alternatives" {
                self.link_again(&call);
            } else {
                let named = operands(self.steps, waiting.step).into_iter().nth(waiting.command);
                let list = named.map(|named| named.list).unwrap_or_default();
                again.extend(list.iter().flat_map(|operand| self.copied_from_build(operand)));
            }
            texts.push(self.stage.file.slice(&command.span).to_owned());
        }
        self.store_again(&again);
        texts
    }

    fn command_of(&self, waiting: Waiting) -> Option<&'l ShellCommand> {
        self.steps.run(waiting.step)?.commands.get(waiting.command)
    }

    /// Whether a file at or below a path, as it was after a step, is copied and not yet there.
    fn is_copied_later(&self, path: &str, step: usize) -> bool {
        let context = self.keep.context;
        let Some(top) = context.paths.lookup(path.as_bytes()) else { return false };
        let mut open = vec![context.rootfs.node(top)];
        while let Some(node) = open.pop() {
            let is_late = node.kind() != NodeKind::Directory
                && self.keep.fate(node.id()) == FileDisposition::Copied
                && !self.covered.contains(&node.id())
                && self
                    .steps
                    .origin(node)
                    .is_some_and(|origin| origin <= step && self.steps.list[origin].makes());
            if is_late {
                return true;
            }
            open.extend(node.children());
        }
        false
    }

    /// Whether `update-alternatives` offers a program that stays in the build stage.
    fn offers_what_stays(&self, call: &Call<'_>) -> bool {
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

fn paths_of_operands(lines: &Lines<'_, '_, '_, '_, '_>, at: usize, place: usize) -> Vec<String> {
    let named = operands(lines.steps, at).into_iter().nth(place).unwrap_or_default();
    let is_plain = |operand: &Operand| !operand.is_pattern && !operand.is_relative;
    if !named.list.iter().all(is_plain) {
        return Vec::new();
    }
    named.list.into_iter().filter_map(|operand| operand.path).collect()
}
