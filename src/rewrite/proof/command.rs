//! What the command runs: programs, script interpreters, and the files and modules that it names.

mod python;

use std::collections::BTreeSet;

use hashbrown::HashSet;

use super::image_pair::ImagePair;
use super::notes::ProofNotes;
use super::side::{Side, shown};
use crate::base::text::counted;
use crate::cuda::Inode;
use crate::cuda::links::{SHELLS, commands, file_name};
use crate::formats::dockerfile::{is_assignment, is_builtin};
use crate::formats::string_references::is_wrapper;
use crate::rewrite::environments::is_isolated;
use crate::rootfs::{NodeId, NodeKind};

/// Maximum interpreters followed: a script may be the interpreter of a script; Linux follows 4. Wrappers
/// count too.
const DEPTH: usize = 8;
/// Maximum commands followed, and maximum words checked of each; real images have a handful.
const COMMANDS: usize = 256;
const WORDS: usize = 256;

/// The entrypoint of NVIDIA's images prints the files next to it, and runs the command
/// (gitlab.com/nvidia/container-images/cuda).
const NVIDIA_ENTRYPOINT: &[u8] = b"/opt/nvidia/nvidia_entrypoint.sh";

/// Observations about the command.
#[derive(Debug, Default)]
pub(super) struct Started {
    /// Pythons of the new view that it runs.
    pub(super) pythons: HashSet<Inode>,
    /// Of them: those that search the packages of the system, as none does in a virtual environment without these.
    pub(super) searching_system: HashSet<Inode>,
    /// Of these: those that anything but a script of a system package runs. What such a script imports, its package
    /// depends on, unless it is told what to run: `gunicorn app:app`.
    pub(super) by_application: HashSet<Inode>,
    /// Whether it runs a shell script, whose text is not analysed.
    pub(super) script: bool,
}

/// Compares everything that the new command names with the current image.
pub(super) fn command(
    pair: &ImagePair<'_>,
    entrypoint: &[String],
    cmd: &[String],
    notes: &mut ProofNotes,
) -> Started {
    let mut runner = Runner {
        pair,
        notes,
        started: Started::default(),
        left: COMMANDS,
        told: HashSet::new(),
        named: BTreeSet::new(),
        folders: BTreeSet::new(),
        of_package: false,
    };
    let words = |list: &'_ [String]| list.iter().map(|word| word.clone().into_bytes()).collect::<Vec<_>>();
    let (entrypoint, cmd) = (words(entrypoint), words(cmd));
    let all: Vec<&[u8]> = entrypoint.iter().chain(&cmd).map(Vec::as_slice).collect();
    runner.follow(&all, 0);
    // Many entrypoints end by running the command.
    if !entrypoint.is_empty() && !cmd.is_empty() {
        let cmd: Vec<&[u8]> = cmd.iter().map(Vec::as_slice).collect();
        if pair.old.program(cmd[0]).is_some() {
            runner.follow(&cmd, 0);
        }
    }
    runner.started
}

struct Runner<'b, 'a> {
    pair: &'b ImagePair<'a>,
    notes: &'b mut ProofNotes,
    started: Started,
    left: usize,
    /// Checked programs.
    told: HashSet<Vec<u8>>,
    /// Checked paths.
    named: BTreeSet<NodeId>,
    /// Folders whose sources were checked.
    folders: BTreeSet<NodeId>,
    /// Whether a script of a system package is followed.
    of_package: bool,
}

impl Runner<'_, '_> {
    fn follow(&mut self, words: &[&[u8]], depth: usize) {
        let Some((program, arguments)) = words.split_first() else { return };
        let arguments = &arguments[..arguments.len().min(WORDS)];
        if depth > DEPTH || self.left == 0 {
            self.notes.unproven.add("the command runs more programs than were checked".to_owned());
            return;
        }
        self.left -= 1;
        let name = file_name(program);
        let file = self.program(program);
        let mut runs_python = is_python(name);
        if let Some(inode) = file
            && self.pair.elf(inode).is_none()
        {
            runs_python |= self.script(inode, arguments, depth);
        } else if let (Some(inode), true) = (file, runs_python) {
            self.started.pythons.insert(inode);
            if !self.is_isolated(program) {
                self.started.searching_system.insert(inode);
                if !self.of_package {
                    self.started.by_application.insert(inode);
                }
            }
        } else if file.is_none() && name != b"exec" {
            self.paths(arguments);
            return;
        }
        if runs_python {
            self.python(is_python(name), arguments);
        }
        if SHELLS.contains(&name) {
            self.shell(arguments, depth);
        } else if is_wrapper(name) {
            let pair = self.pair;
            let starts = |word: &&[u8]| {
                let found = || pair.old.program(word).or_else(|| pair.new.program(word)).is_some();
                !word.starts_with(b"-") && !is_assignment(word) && found()
            };
            if let Some(place) = arguments.iter().position(starts) {
                self.follow(&arguments[place..], depth + 1);
                return;
            }
        }
        self.paths(arguments);
    }

    /// Whether a Python, started under this name, does not search the packages of the system. It looks for `pyvenv.cfg`
    /// in the folder of its name, before links, and above (PEP 405).
    fn is_isolated(&self, name: &[u8]) -> bool {
        let new = &self.pair.new;
        let Some((folder, _)) = new.program_in(name) else { return false };
        let folders = [folder, new.node(folder).parent().id()];
        let settings = folders.into_iter().find_map(|folder| new.find_from(folder, b"pyvenv.cfg"));
        settings.is_some_and(|node| is_isolated(new.rootfs, self.pair.input.layers, node))
    }

    /// The file of a program in the new view, or else in the old one, after comparing both.
    fn program(&mut self, word: &[u8]) -> Option<Inode> {
        let (old, new) = (&self.pair.old, &self.pair.new);
        let (was, is) = (old.program(word), new.program(word));
        let content = |side: &Side<'_>, node: Option<NodeId>| Some((node?, side.node(node?).content()?));
        let (was, is) = (content(old, was), content(new, is));
        // A command line in a single word may contain secrets: its first part names the program.
        let first = word.split(u8::is_ascii_whitespace).next().unwrap_or_default();
        let is_new = self.told.insert(word.to_vec());
        match (was, is) {
            _ if !is_new => {}
            (Some((was, inode)), None) => {
                let path = old.shown(was);
                let why = if self.pair.is_planned(inode) {
                    "removed by the plan"
                } else if self.pair.has(inode) {
                    "present, but not on the search path"
                } else {
                    "not in the new image"
                };
                let name = shown(first);
                self.notes.faults.add(format!("the command runs {name} ({path}): {why}"));
            }
            (None, None) if !is_of_shell(first) => {
                let name = shown(first);
                self.notes
                    .unproven
                    .add(format!("the command runs {name}, which does not exist in the current image"));
            }
            (Some((was, one)), Some((is, other))) if self.pair.is_same(one, other) != Some(true) => {
                let (name, was, is) = (shown(first), old.shown(was), new.shown(is));
                let text = format!(
                    "the command runs {name}, which was {was} and is now {is} with different content"
                );
                self.notes.unproven.add(text);
            }
            _ => {}
        }
        is.or(was).map(|(_, inode)| inode)
    }

    /// Follows the interpreter of a script; returns whether it is a Python.
    fn script(&mut self, inode: Inode, arguments: &[&[u8]], depth: usize) -> bool {
        let Some(line) = self.pair.script(inode) else { return false };
        let words: Vec<&[u8]> = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).collect();
        let interpreter = words.iter().rev().map(|word| file_name(word)).find(|word| !word.starts_with(b"-"));
        // Options and settings; a name may be a module of the application.
        let is_setting =
            |word: &&[u8]| word.starts_with(b"-") || word.contains(&b'/') && !word.ends_with(b".py");
        let of_package = arguments.iter().all(is_setting) && self.is_of_package(inode);
        let before = std::mem::replace(&mut self.of_package, of_package);
        self.follow(&words, depth + 1);
        self.of_package = before;
        if words.iter().any(|word| SHELLS.contains(&file_name(word))) {
            self.started.script = true;
            self.unread(inode);
        }
        interpreter.is_some_and(is_python)
    }

    /// Whether a file belongs to a package of dpkg.
    fn is_of_package(&self, inode: Inode) -> bool {
        let side = if self.pair.has(inode) { &self.pair.new } else { &self.pair.old };
        let node = side.rootfs.first_name(inode.0, inode.1);
        let package = node.and_then(|node| side.inventory.packages.get(side.inventory.owners.of(node)?));
        package.is_some_and(|package| package.manager == "dpkg")
    }

    /// The programs that a shell script runs are unknown. That matters when more is removed than the findings cover.
    fn unread(&mut self, inode: Inode) {
        let side = if self.pair.has(inode) { &self.pair.new } else { &self.pair.old };
        let path = side.rootfs.first_name(inode.0, inode.1).map(|node| side.node(node).path());
        let path = path.unwrap_or_default();
        if path != NVIDIA_ENTRYPOINT && !(self.pair.lost.is_empty() && self.pair.changed.is_empty()) {
            let path = shown(&path);
            self.notes.unproven.say(format!("script {path}"), || {
                format!("{path} is a shell script: the programs it runs were not checked")
            });
        }
    }

    /// A shell runs the text after `-c`, or the script that is its first other argument.
    fn shell(&mut self, arguments: &[&[u8]], depth: usize) {
        let is_option = |word: &&&[u8]| word.starts_with(b"-") && word.len() > 1;
        let options = arguments.iter().take_while(is_option).count();
        let (Some(first), Some(before)) = (arguments.get(options), arguments.get(..options)) else { return };
        if before.iter().any(|word| !word.starts_with(b"--") && word.ends_with(b"c")) {
            for command in commands(first) {
                let words: Vec<&[u8]> = command.iter().map(Vec::as_slice).collect();
                self.follow(&words, depth + 1);
            }
        } else {
            self.started.script = true;
            // A shell looks for a script in the working directory before PATH.
            let is_beside = !first.contains(&b'/') && self.pair.old.find(first).is_some();
            let beside = [b"./", *first].concat();
            self.follow(&[if is_beside { &beside } else { first }], depth + 1);
        }
    }

    /// Checks the files and folders in words.
    fn paths(&mut self, words: &[&[u8]]) {
        let pieces = words.iter().flat_map(|word| word.split(|byte| b"=,;:'\"()&|<> \t\n".contains(byte)));
        for piece in pieces.filter(|piece| !piece.is_empty() && !piece.starts_with(b"-")).take(WORDS) {
            let Some(node) = self.pair.old.find(piece) else { continue };
            let old = self.pair.old.node(node);
            let is_file = old.kind() != NodeKind::Directory;
            if (!piece.contains(&b'/') && !is_file) || !self.named.insert(node) {
                continue;
            }
            let path = self.pair.old.shown(node);
            if self.pair.new.find(piece).is_none() {
                let is_planned = old.content().is_some_and(|inode| self.pair.is_planned(inode));
                let why = if is_planned { "removed by the plan" } else { "not in the new image" };
                self.notes.faults.say(format!("path {path}"), || format!("the command names {path}: {why}"));
            } else if !is_file && !is_of_system(&old.path()) {
                self.lost_below(node, &format!("{path}, which the command names"));
            }
        }
    }

    /// Checks for files below a folder that are left out without a finding in the plan.
    fn lost_below(&mut self, folder: NodeId, what: &str) {
        let Some((count, first)) = self.pair.lost_below(folder) else { return };
        let first = self.pair.old.shown(first);
        self.notes.faults.say(format!("below {what}"), || {
            format!(
                "{} below {what} left out without a finding in the plan, such as {first}",
                counted(count, "file")
            )
        });
    }
}

/// Whether a program is a Python, by its name.
pub(super) fn is_python(name: &[u8]) -> bool {
    let rest = name.strip_prefix(b"python").or_else(|| name.strip_prefix(b"pypy"));
    rest.is_some_and(|rest| rest.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.'))
}

/// Folders shared by several applications.
fn is_of_system(path: &[u8]) -> bool {
    const SYSTEM: [&[u8]; 12] = [
        b"/",
        b"/usr",
        b"/usr/local",
        b"/usr/lib",
        b"/etc",
        b"/var",
        b"/opt",
        b"/home",
        b"/root",
        b"/tmp",
        b"/lib",
        b"/dev",
    ];
    SYSTEM.contains(&path)
}

/// Shell builtins and names that only a shell resolves.
fn is_of_shell(name: &[u8]) -> bool {
    name.contains(&b'$') || is_builtin(name)
}
