//! Rules about paths, asked on a walk over folders: a file costs no more than the bytes of its name.

mod net;
#[cfg(test)]
mod tests;

use std::hash::BuildHasher as _;

use hashbrown::{DefaultHashBuilder, HashTable};

use super::Catalog;
use super::places::DevelPath;
use crate::base::convert::index32;
pub(super) use net::Net;
use net::Verdict;

/// Bytes of the states that a walker remembers: a large image needs some hundred kilobytes. When they are
/// full, all are forgotten and made again as they are met.
const CACHE_BYTES: usize = 4 << 20;

/// A state from which only a slash leads elsewhere.
const SETTLED: u32 = 1 << 31;
const NONE: u32 = u32::MAX;

/// Where a walk is, to go on from. It belongs to the [`Walker`] that gave it, and stays good as long as that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FolderState(u32);

/// The rules that fit a path.
#[derive(Clone, Copy, Debug)]
pub struct PathRules<'c> {
    /// Content for building: of all rules that fit, the one whose category the report takes first, then
    /// the first in the files.
    pub devel: Option<&'c DevelPath>,
    /// Whether it lies in a folder of tools that packages start by themselves.
    pub tool: bool,
    /// What it is for, as a class of the contract, when neither a package nor its content tells.
    pub class: Option<&'c str>,
    /// Whether it is the root of a CUDA toolkit, or lies below one.
    pub toolkit: bool,
}

/// Asks the rules about paths, from folder to folder. It remembers what it met, so that one is used for many
/// paths.
pub struct Walker<'c> {
    catalog: &'c Catalog,
    net: &'c Net,
    /// A state has `1 << shift` places in `rows`, one for each kind of byte; it is named by the first.
    shift: u32,
    /// The state that follows; `NONE` until it was asked for.
    rows: Vec<u32>,
    states: Vec<NodeSet>,
    /// The nodes of all states.
    sets: Vec<u32>,
    by_set: HashTable<u32>,
    hasher: DefaultHashBuilder,
    limit: usize,
    /// How many times all states were forgotten.
    age: u32,
    folders: Vec<Folder>,
    /// Names of all folders.
    names: Vec<u8>,
    scratch: Vec<u32>,
}

/// A set of nodes that a walk may be at.
struct NodeSet {
    start: usize,
    end: usize,
    verdict: Verdict,
    /// A folder that has it.
    folder: u32,
}

/// How a state is found again once it was forgotten. Folders with the same state share one.
struct Folder {
    parent: u32,
    name: std::ops::Range<usize>,
    state: u32,
    age: u32,
}

impl Catalog {
    /// Begins to ask the rules about paths.
    pub fn walker(&self) -> Walker<'_> {
        self.walker_within(CACHE_BYTES)
    }

    /// The rules that fit one absolute path. For many paths a [`Self::walker`] is faster.
    pub fn path_rules(&self, path: &[u8]) -> PathRules<'_> {
        self.rules_of(self.places.net().of_path(path))
    }

    fn rules_of(&self, verdict: Verdict) -> PathRules<'_> {
        let net = self.places.net();
        let place = |ranks: &[usize], rank: Option<u32>| ranks.get(rank? as usize).copied();
        let devel = place(&net.devel, verdict.devel).and_then(|at| self.document.devel_paths.get(at));
        let class = place(&net.classes, verdict.class).and_then(|at| self.document.path_classes.get(at));
        let class = class.map(|class| class.class.as_str());
        PathRules { devel, tool: verdict.tool, class, toolkit: verdict.toolkit }
    }

    fn walker_within(&self, limit: usize) -> Walker<'_> {
        let net = self.places.net();
        Walker {
            catalog: self,
            net,
            shift: net.kind_count.next_power_of_two().trailing_zeros(),
            rows: Vec::new(),
            states: Vec::new(),
            sets: Vec::new(),
            by_set: HashTable::new(),
            hasher: DefaultHashBuilder::default(),
            limit,
            age: 0,
            folders: Vec::new(),
            names: Vec::new(),
            scratch: Vec::new(),
        }
    }
}

impl<'c> Walker<'c> {
    /// The root folder.
    pub fn root(&mut self) -> FolderState {
        if self.folders.is_empty() {
            self.folders.push(Folder { parent: 0, name: 0..0, state: 0, age: NONE });
        }
        FolderState(0)
    }

    /// What lies in a folder under a name, as a folder. Names have no slash.
    pub fn below(&mut self, folder: FolderState, name: &[u8]) -> FolderState {
        let state = self.state_below(folder, name);
        let known = self.state(state).folder;
        if known != NONE {
            return FolderState(known);
        }
        let id = index32(self.folders.len());
        let start = self.names.len();
        self.names.extend_from_slice(name);
        let name = start..self.names.len();
        self.folders.push(Folder { parent: folder.0, name, state, age: self.age });
        let place = self.place(state);
        self.states[place].folder = id;
        FolderState(id)
    }

    /// The rules that fit what lies in a folder under a name.
    pub fn file(&mut self, folder: FolderState, name: &[u8]) -> PathRules<'c> {
        let state = self.state_below(folder, name);
        self.rules(state)
    }

    /// The rules that fit an absolute path.
    pub fn path(&mut self, path: &[u8]) -> PathRules<'c> {
        let root = self.root();
        let mut state = self.state_of(root);
        for part in path.strip_prefix(b"/").unwrap_or(path).split(|byte| *byte == b'/') {
            state = self.run(state, part);
        }
        self.rules(state)
    }

    fn state_below(&mut self, folder: FolderState, name: &[u8]) -> u32 {
        let state = self.state_of(folder);
        self.run(state, name)
    }

    /// The state after a slash and a name.
    fn run(&mut self, state: u32, name: &[u8]) -> u32 {
        let mut state = self.next(state & !SETTLED, b'/');
        for byte in name {
            if state & SETTLED != 0 {
                break;
            }
            state = self.next(state, *byte);
        }
        state
    }

    #[inline]
    fn next(&mut self, state: u32, byte: u8) -> u32 {
        let next = self.rows[state as usize + usize::from(self.net.kind(byte))];
        if next == NONE { self.find_next(state, byte) } else { next }
    }

    #[cold]
    fn find_next(&mut self, state: u32, byte: u8) -> u32 {
        let NodeSet { start, end, .. } = *self.state(state);
        let mut set = std::mem::take(&mut self.scratch);
        self.net.step(&self.sets[start..end], byte, &mut set);
        let age = self.age;
        let next = self.intern(&set);
        self.scratch = set;
        if self.age == age {
            self.rows[state as usize + usize::from(self.net.kind(byte))] = next;
        }
        next
    }

    /// The state of a set of nodes. May forget all others.
    fn intern(&mut self, set: &[u32]) -> u32 {
        let hash = self.hasher.hash_one(set);
        let settled = if self.net.is_settled(set) { SETTLED } else { 0 };
        let (states, sets) = (&self.states, &self.sets);
        let same = |id: &u32| {
            let state = &states[*id as usize];
            &sets[state.start..state.end] == set
        };
        if let Some(found) = self.by_set.find(hash, same) {
            return (*found << self.shift) | settled;
        }
        let bytes = (self.rows.len() + self.sets.len() + set.len()) * size_of::<u32>()
            + self.states.len() * size_of::<NodeSet>();
        if bytes > self.limit {
            self.rows.clear();
            self.states.clear();
            self.sets.clear();
            self.by_set.clear();
            self.age += 1;
        }
        let id = index32(self.states.len());
        let start = self.sets.len();
        self.sets.extend_from_slice(set);
        let (end, verdict) = (self.sets.len(), self.net.verdict(set));
        self.states.push(NodeSet { start, end, verdict, folder: NONE });
        self.rows.resize(self.states.len() << self.shift, NONE);
        let (states, sets, hasher) = (&self.states, &self.sets, &self.hasher);
        self.by_set.insert_unique(hash, id, |id| {
            let state = &states[*id as usize];
            hasher.hash_one(&sets[state.start..state.end])
        });
        (id << self.shift) | settled
    }

    fn place(&self, state: u32) -> usize {
        ((state & !SETTLED) >> self.shift) as usize
    }

    fn state(&self, state: u32) -> &NodeSet {
        &self.states[self.place(state)]
    }

    fn rules(&self, state: u32) -> PathRules<'c> {
        self.catalog.rules_of(self.state(state).verdict)
    }

    fn state_of(&mut self, folder: FolderState) -> u32 {
        let known = &self.folders[folder.0 as usize];
        if known.age == self.age { known.state } else { self.state_again(folder.0) }
    }

    /// Finds the state of a folder that was forgotten, from the nearest folder above that was not.
    #[cold]
    fn state_again(&mut self, folder: u32) -> u32 {
        let mut way = vec![folder];
        let mut at = folder;
        let mut state = loop {
            let known = &self.folders[at as usize];
            if known.age == self.age {
                way.pop();
                break known.state;
            }
            if at == 0 {
                way.pop();
                break self.start();
            }
            at = known.parent;
            way.push(at);
        };
        while let Some(folder) = way.pop() {
            let range = self.folders[folder as usize].name.clone();
            let name = self.names[range].to_vec();
            state = self.run(state, &name);
            self.remember(folder, state);
        }
        state
    }

    fn start(&mut self) -> u32 {
        let net = self.net;
        let state = self.intern(net.start());
        self.remember(0, state);
        state
    }

    fn remember(&mut self, folder: u32, state: u32) {
        let known = &mut self.folders[folder as usize];
        known.state = state;
        known.age = self.age;
        let place = self.place(state);
        if self.states[place].folder == NONE {
            self.states[place].folder = folder;
        }
    }
}
