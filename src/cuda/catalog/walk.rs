//! Path rules, evaluated during a walk over folders: each file costs only the bytes of its name.

mod net;
#[cfg(test)]
mod tests;

use std::hash::BuildHasher as _;

use hashbrown::{DefaultHashBuilder, HashTable};

use super::Catalog;
use super::frameworks::Framework;
use super::places::DevelPath;
use crate::base::convert::index32;
pub(super) use net::Net;
use net::Verdict;

/// Maximum size of the cached states of a walker, in bytes; a large image needs a few hundred kilobytes. If
/// exceeded, all states are discarded and recomputed on demand.
const CACHE_BYTES: usize = 4 << 20;

/// Flag of a state that only a slash leaves.
const SETTLED: u32 = 1 << 31;
const NONE: u32 = u32::MAX;

/// Position of a walk in the folder tree. Valid only for the [`Walker`] that returned it, for its whole
/// lifetime.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FolderState(u32);

/// The rules that match a path.
#[derive(Clone, Copy, Debug)]
pub struct PathRules<'c> {
    /// Rule for development files: of all matching rules the one whose category comes first in the report,
    /// then the first in the files.
    pub devel: Option<&'c DevelPath>,
    /// Whether it is in a folder of helper programs that packages start.
    pub tool: bool,
    /// Class of the path, for files without an owning package or recognised content.
    pub class: Option<&'c str>,
    /// Whether it is the root of a CUDA toolkit or below one.
    pub toolkit: bool,
    /// The framework that it identifies.
    pub framework: Option<&'c Framework>,
}

/// Evaluates path rules from folder to folder. Caches states, so one instance should serve many paths.
pub struct Walker<'c> {
    catalog: &'c Catalog,
    net: &'c Net,
    /// Each state has `1 << shift` slots in `rows`, one for each kind of byte; its id is the index of the
    /// first slot.
    shift: u32,
    /// Following state; `NONE` until computed.
    rows: Vec<u32>,
    states: Vec<NodeSet>,
    /// The nodes of all states.
    sets: Vec<u32>,
    by_set: HashTable<u32>,
    hasher: DefaultHashBuilder,
    limit: usize,
    /// Number of times that all states were discarded.
    age: u32,
    folders: Vec<Folder>,
    /// Names of all folders, concatenated.
    names: Vec<u8>,
    scratch: Vec<u32>,
}

/// A set of nodes of the [`Net`] at which a walk can be.
struct NodeSet {
    start: usize,
    end: usize,
    verdict: Verdict,
    /// A folder with this state; `NONE` if there is none yet.
    folder: u32,
}

/// A folder, with the data to recompute its state after a discard. Folders with equal states have one entry.
struct Folder {
    parent: u32,
    name: std::ops::Range<usize>,
    state: u32,
    age: u32,
}

impl Catalog {
    /// A walker for evaluating rules on many paths.
    pub fn walker(&self) -> Walker<'_> {
        self.walker_within(CACHE_BYTES)
    }

    /// The rules that match one absolute path. For many paths [`Self::walker`] is faster.
    pub fn path_rules(&self, path: &[u8]) -> PathRules<'_> {
        self.rules_of(self.net.of_path(path))
    }

    fn rules_of(&self, verdict: Verdict) -> PathRules<'_> {
        let net = &self.net;
        let place = |ranks: &[usize], rank: Option<u32>| ranks.get(rank? as usize).copied();
        let devel = place(&net.devel, verdict.devel).and_then(|at| self.document.devel_paths.get(at));
        let class = place(&net.classes, verdict.class).and_then(|at| self.document.path_classes.get(at));
        let class = class.map(|class| class.class.as_str());
        let framework = verdict.framework.and_then(|at| self.document.frameworks.get(at as usize));
        PathRules { devel, tool: verdict.tool, class, toolkit: verdict.toolkit, framework }
    }

    fn walker_within(&self, limit: usize) -> Walker<'_> {
        let net = &self.net;
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

    /// The folder `name` in `folder`. Names contain no slash.
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

    /// The rules that match the entry `name` in `folder`.
    pub fn file(&mut self, folder: FolderState, name: &[u8]) -> PathRules<'c> {
        let state = self.state_below(folder, name);
        self.rules(state)
    }

    /// The rules that match an absolute path.
    pub fn path(&mut self, path: &[u8]) -> PathRules<'c> {
        let root = self.root();
        let mut state = self.state_of(root);
        for part in path.strip_prefix(b"/").unwrap_or(path).split(|byte| *byte == b'/') {
            state = self.run(state, part);
        }
        self.rules(state)
    }

    #[inline]
    fn state_below(&mut self, folder: FolderState, name: &[u8]) -> u32 {
        let state = self.state_of(folder);
        self.run(state, name)
    }

    /// The state after a slash and a name.
    #[inline]
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

    /// The state of a set of nodes. May discard all other states.
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

    #[inline]
    fn place(&self, state: u32) -> usize {
        ((state & !SETTLED) >> self.shift) as usize
    }

    #[inline]
    fn state(&self, state: u32) -> &NodeSet {
        &self.states[self.place(state)]
    }

    #[inline]
    fn rules(&self, state: u32) -> PathRules<'c> {
        self.catalog.rules_of(self.state(state).verdict)
    }

    #[inline]
    fn state_of(&mut self, folder: FolderState) -> u32 {
        let known = &self.folders[folder.0 as usize];
        if known.age == self.age { known.state } else { self.state_again(folder.0) }
    }

    /// Recomputes the discarded state of a folder from the nearest ancestor whose state is still cached.
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
