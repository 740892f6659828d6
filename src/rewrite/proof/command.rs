//! What the command starts: programs, interpreters of scripts, files and modules that it names.

mod python;

use std::collections::{BTreeSet, HashSet};

use super::said::{Said, counted};
use super::side::{Side, shown};
use super::sides::Both;
use crate::cuda::Inode;
use crate::cuda::links::{SHELLS, WRAPPERS, commands, file_name, is_assignment};
use crate::rootfs::{NodeId, NodeKind};

/// Scripts may name scripts as their interpreters; Linux follows 4 of them. Wrappers count too.
const DEPTH: usize = 8;
/// Commands that are followed, and words of each that are looked at; real images have a handful.
const COMMANDS: usize = 256;
const WORDS: usize = 256;

/// The entrypoint of NVIDIA's images shows what lies beside it, and runs the command
/// (gitlab.com/nvidia/container-images/cuda).
const NVIDIA_ENTRYPOINT: &[u8] = b"/opt/nvidia/nvidia_entrypoint.sh";

/// What the command was seen to do.
#[derive(Debug, Default)]
pub(super) struct Started {
    /// Pythons of the new view that it runs.
    pub(super) pythons: HashSet<Inode>,
    /// Whether it runs a script for a shell, whose text nobody has read.
    pub(super) script: bool,
}

/// Holds everything that the new command names to what the image as it is has there.
pub(super) fn command(both: &Both<'_>, entrypoint: &[String], cmd: &[String], said: &mut Said) -> Started {
    let mut runner = Runner {
        both,
        said,
        started: Started::default(),
        left: COMMANDS,
        told: HashSet::new(),
        named: BTreeSet::new(),
        folders: BTreeSet::new(),
    };
    let words = |list: &'_ [String]| list.iter().map(|word| word.clone().into_bytes()).collect::<Vec<_>>();
    let (entrypoint, cmd) = (words(entrypoint), words(cmd));
    let all: Vec<&[u8]> = entrypoint.iter().chain(&cmd).map(Vec::as_slice).collect();
    runner.follow(&all, 0);
    // Many entrypoints end by running the command.
    if !entrypoint.is_empty() && !cmd.is_empty() {
        let cmd: Vec<&[u8]> = cmd.iter().map(Vec::as_slice).collect();
        if both.old.program(cmd[0]).is_some() {
            runner.follow(&cmd, 0);
        }
    }
    runner.started
}

struct Runner<'b, 'a> {
    both: &'b Both<'a>,
    said: &'b mut Said,
    started: Started,
    left: usize,
    /// Programs that were looked at.
    told: HashSet<Vec<u8>>,
    /// Paths that were looked at.
    named: BTreeSet<NodeId>,
    /// Folders whose sources were looked at.
    folders: BTreeSet<NodeId>,
}

impl Runner<'_, '_> {
    fn follow(&mut self, words: &[&[u8]], depth: usize) {
        let Some((program, arguments)) = words.split_first() else { return };
        let arguments = &arguments[..arguments.len().min(WORDS)];
        if depth > DEPTH || self.left == 0 {
            self.said.unproven.add("the command runs more programs than were followed".to_owned());
            return;
        }
        self.left -= 1;
        let name = file_name(program);
        let file = self.program(program);
        let mut runs_python = is_python(name);
        if let Some(inode) = file
            && self.both.elf(inode).is_none()
        {
            runs_python |= self.script(inode, depth);
        } else if let (Some(inode), true) = (file, runs_python) {
            self.started.pythons.insert(inode);
        } else if file.is_none() && name != b"exec" {
            self.paths(arguments);
            return;
        }
        if runs_python {
            self.python(is_python(name), arguments);
        }
        if SHELLS.contains(&name) {
            self.shell(arguments, depth);
        } else if WRAPPERS.contains(&name) {
            let both = self.both;
            let starts = |word: &&[u8]| {
                let found = || both.old.program(word).or_else(|| both.new.program(word)).is_some();
                !word.starts_with(b"-") && !is_assignment(word) && found()
            };
            if let Some(place) = arguments.iter().position(starts) {
                self.follow(&arguments[place..], depth + 1);
                return;
            }
        }
        self.paths(arguments);
    }

    /// The file of a program in the new view, or else in the old one, held to each other.
    fn program(&mut self, word: &[u8]) -> Option<Inode> {
        let (old, new) = (&self.both.old, &self.both.new);
        let (was, is) = (old.program(word), new.program(word));
        let content = |side: &Side<'_>, node: Option<NodeId>| Some((node?, side.node(node?).content()?));
        let (was, is) = (content(old, was), content(new, is));
        // A whole command line in one word may hold secrets: its first part names the program.
        let first = word.split(u8::is_ascii_whitespace).next().unwrap_or_default();
        let is_new = self.told.insert(word.to_vec());
        match (was, is) {
            _ if !is_new => {}
            (Some((was, inode)), None) => {
                let path = old.shown(was);
                let why = if self.both.is_planned(inode) {
                    "the plan takes it away"
                } else if self.both.has(inode) {
                    "it is there, but not where it is looked for"
                } else {
                    "it is left out"
                };
                let name = shown(first);
                self.said.faults.add(format!("the command starts {name}, which was {path}: {why}"));
            }
            (None, None) if !is_builtin(first) => {
                let name = shown(first);
                self.said
                    .unproven
                    .add(format!("the command starts {name}, which was no file of the image before"));
            }
            (Some((was, one)), Some((is, other))) if self.both.is_same(one, other) != Some(true) => {
                let (name, was, is) = (shown(first), old.shown(was), new.shown(is));
                let text =
                    format!("the command starts {name}, which was {was} and is {is} with other content");
                self.said.unproven.add(text);
            }
            _ => {}
        }
        is.or(was).map(|(_, inode)| inode)
    }

    /// Follows the interpreter of a script; whether that is a Python.
    fn script(&mut self, inode: Inode, depth: usize) -> bool {
        let Some(line) = self.both.script(inode) else { return false };
        let words: Vec<&[u8]> = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).collect();
        let interpreter = words.iter().rev().map(|word| file_name(word)).find(|word| !word.starts_with(b"-"));
        self.follow(&words, depth + 1);
        if words.iter().any(|word| SHELLS.contains(&file_name(word))) {
            self.started.script = true;
            self.unread(inode);
        }
        interpreter.is_some_and(is_python)
    }

    /// Nobody has read what a script for a shell starts. That matters where more goes than findings speak of.
    fn unread(&mut self, inode: Inode) {
        let side = if self.both.has(inode) { &self.both.new } else { &self.both.old };
        let path = side.rootfs.first_name(inode.0, inode.1).map(|node| side.node(node).path());
        let path = path.unwrap_or_default();
        if path != NVIDIA_ENTRYPOINT && !(self.both.lost.is_empty() && self.both.changed.is_empty()) {
            let path = shown(&path);
            self.said.unproven.say(format!("script {path}"), || {
                format!("{path} is a script for a shell: what it starts was not followed")
            });
        }
    }

    /// A shell runs the line after its option `-c`, or the script that is its first other argument.
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
            self.follow(&[first], depth + 1);
        }
    }

    /// Files and folders that words name.
    fn paths(&mut self, words: &[&[u8]]) {
        let pieces = words.iter().flat_map(|word| word.split(|byte| b"=,;:'\"()&|<> \t\n".contains(byte)));
        for piece in pieces.filter(|piece| !piece.is_empty() && !piece.starts_with(b"-")).take(WORDS) {
            let Some(node) = self.both.old.find(piece) else { continue };
            let old = self.both.old.node(node);
            let is_file = old.kind() != NodeKind::Directory;
            if (!piece.contains(&b'/') && !is_file) || !self.named.insert(node) {
                continue;
            }
            let path = self.both.old.shown(node);
            if self.both.new.find(piece).is_none() {
                let is_planned = old.content().is_some_and(|inode| self.both.is_planned(inode));
                let why = if is_planned { "the plan takes it away" } else { "it is left out" };
                self.said.faults.say(format!("path {path}"), || format!("the command names {path}: {why}"));
            } else if !is_file && !is_of_system(&old.path()) {
                self.lost_below(node, &format!("{path}, which the command names"));
            }
        }
    }

    /// Files below a folder that are lost without a word in the plan.
    fn lost_below(&mut self, folder: NodeId, what: &str) {
        let Some((count, first)) = self.both.lost_below(folder) else { return };
        let first = self.both.old.shown(first);
        self.said.faults.say(format!("below {what}"), || {
            format!(
                "{} below {what}, left out without a finding of the plan: such as {first}",
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

/// Folders that hold more than one application.
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

/// What a shell does itself, and what only it can tell.
fn is_builtin(name: &[u8]) -> bool {
    const BUILTINS: [&[u8]; 18] = [
        b"cd", b"exec", b"export", b"set", b"source", b".", b"ulimit", b"umask", b"trap", b"wait", b"exit",
        b"eval", b"read", b"shift", b"unset", b"echo", b"[", b":",
    ];
    name.contains(&b'$') || BUILTINS.contains(&name)
}
