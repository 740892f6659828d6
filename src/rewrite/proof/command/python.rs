//! Modules and sources that a Python runs.

use std::collections::BTreeSet;

use super::{Runner, WORDS, is_of_system};
use crate::base::text::counted;
use crate::cuda::links::{file_name, folder_of};
use crate::rewrite::proof::image_pair::ImagePair;
use crate::rewrite::proof::side::{Side, shown};
use crate::rootfs::{NodeId, NodeKind};

/// Maximum folders whose sources are checked; a command runs from one or two.
const FOLDERS: usize = 64;

impl Runner<'_, '_> {
    /// Checks what a Python runs: `-m MODULE`, a script, or `MODULE:NAME` of a server.
    pub(super) fn python(&mut self, itself: bool, arguments: &[&[u8]]) {
        let modules =
            arguments.iter().position(|word| *word == b"-m").and_then(|place| arguments.get(place + 1));
        if let Some(module) = modules.filter(|_| itself) {
            self.module(module);
        }
        let script =
            arguments.iter().find(|word| !word.starts_with(b"-")).filter(|_| itself && modules.is_none());
        if let Some(node) = script.and_then(|word| self.pair.old.find(word)) {
            self.sources(self.pair.old.node(node).parent().id(), node);
        }
        for word in arguments {
            if let Some((module, _)) = split_once(word, b':').filter(|(_, name)| is_module(name)) {
                self.module(module);
            }
        }
    }

    /// Checks a module in the working directory or in a folder of `PYTHONPATH`.
    fn module(&mut self, name: &[u8]) {
        if !is_module(name) {
            return;
        }
        let path: Vec<u8> = name.iter().map(|byte| if *byte == b'.' { b'/' } else { *byte }).collect();
        let find = |side: &Side<'_>| {
            let list = side.variable("PYTHONPATH").unwrap_or_default().as_bytes();
            let bases = [&b"."[..]].into_iter().chain(list.split(|byte| *byte == b':')).take(WORDS);
            let mut tries = bases.filter(|base| !base.is_empty()).flat_map(|base| {
                [&b".py"[..], b"/__init__.py", b""].map(|end| [base, b"/", &path, end].concat())
            });
            tries.find_map(|path| side.find(&path))
        };
        let Some(was) = find(&self.pair.old) else { return };
        let (shown_path, module) = (self.pair.old.shown(was), shown(name));
        if find(&self.pair.new).is_none() {
            let text =
                format!("the command runs Python module {module} ({shown_path}): not in the new image");
            self.notes.faults.add(text);
        }
        let is_file = self.pair.old.node(was).kind() == NodeKind::File;
        self.sources(if is_file { self.pair.old.node(was).parent().id() } else { was }, was);
    }

    /// Checks Python sources next to and below what runs: it may import them.
    fn sources(&mut self, folder: NodeId, itself: NodeId) {
        if self.folders.len() >= FOLDERS || !self.folders.insert(folder) {
            return;
        }
        let path = self.pair.old.node(folder).path();
        if is_of_system(&path) || file_name(&path) == b"bin" {
            return;
        }
        let start = [&path, &b"/"[..]].concat();
        let old = &self.pair.old;
        let packages = old.inventory.packages.iter().filter(|package| package.manager == "pip");
        let roots: BTreeSet<&[u8]> = packages.filter_map(|package| package.root.as_deref()).collect();
        let lost = self.pair.lost.iter().filter(|node| old.node(**node).name().ends_with(b".py"));
        let mut lost = lost.filter(|node| **node != itself).filter(|node| {
            let path = old.node(**node).path();
            let is_imported = path.strip_prefix(&start[..]).is_some_and(|below| {
                let mut folders = folder_of(below).split(|byte| *byte == b'/');
                !folders.any(|part| matches!(part, b"test" | b"tests" | b"site-packages" | b"dist-packages"))
            });
            is_imported && !is_installed(self.pair, &roots, &path, old.node(**node).bytes())
        });
        let Some(first) = lost.next() else { return };
        let (first, more) = (old.shown(*first), lost.count());
        let path = shown(&path);
        let all = more + 1;
        self.notes.faults.say(format!("sources {path}"), || {
            let files = counted(all as u64, "Python file");
            format!("{files} in {path}, the folder of the command, left out without a finding in the plan, such as {first}")
        });
    }
}

fn split_once(word: &[u8], at: u8) -> Option<(&[u8], &[u8])> {
    let place = word.iter().position(|byte| *byte == at)?;
    Some((&word[..place], &word[place + 1..]))
}

/// Whether a word may name a Python module, or an object in one.
fn is_module(word: &[u8]) -> bool {
    word.first().is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_')
        && word.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.'))
        && !word.ends_with(b".")
}

/// Whether a file in the folder in which setuptools builds is in a folder of installed packages of the new image, too,
/// with as many bytes. `roots` are these folders.
fn is_installed(pair: &ImagePair<'_>, roots: &BTreeSet<&[u8]>, path: &[u8], bytes: u64) -> bool {
    const BUILT: &[u8] = b"/build/lib";
    let below = memchr::memmem::rfind(path, BUILT).and_then(|at| path.get(at + BUILT.len()..));
    let below = below.filter(|below| matches!(below.first(), Some(b'/' | b'.')));
    let Some(at) = below.and_then(|below| memchr::memchr(b'/', below)) else { return false };
    let below = below.and_then(|below| below.get(at..)).unwrap_or_default();
    let mut found = roots.iter().filter_map(|root| pair.new.find(&[*root, below].concat()));
    found.any(|node| pair.new.node(node).bytes() == bytes)
}
