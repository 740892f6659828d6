use std::collections::HashSet;
use std::sync::Arc;

use crate::base::convert::index32;
use crate::compare::Change;
use crate::jobs::{CancelToken, Cancelled};
use crate::rootfs::{NodeKind, PathId, Timeline, Version, VersionId};

/// Which files a tree shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    /// What one layer brings and removes.
    Layer(u16),
    /// What a container would see after this layer, and what the layer removed.
    Merged(u16),
}

impl Scope {
    /// The layer that marks are about.
    pub fn layer(self) -> u16 {
        match self {
            Self::Layer(layer) | Self::Merged(layer) => layer,
        }
    }
}

/// What the layer does to a path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum PathChange {
    /// Nothing.
    #[default]
    None,
    /// A folder with changes below it.
    Inside,
    /// Was not there before.
    Added,
    /// Replaces what was there, or changes its mode or owner.
    Changed,
    /// Takes it away.
    Removed,
}

impl PathChange {
    /// Its sign, so that colour is not needed.
    pub const fn sign(self) -> &'static str {
        match self {
            Self::None => "",
            Self::Inside => "·",
            Self::Added => "+",
            Self::Changed => "~",
            Self::Removed => "−",
        }
    }

    /// A word for it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::None => Change::Same.label(),
            Self::Inside => "changes inside",
            Self::Added => Change::Added.label(),
            Self::Changed => Change::Changed.label(),
            Self::Removed => Change::Removed.label(),
        }
    }
}

/// The sign of shadowed bytes.
pub const HIDDEN_SIGN: &str = "◦";

const SHOWN: u8 = 1;
const HIDDEN: u8 = 2;
const MARK_SHIFT: u8 = 2;
const MARK_BITS: u8 = 0b111 << MARK_SHIFT;
const DIRECTORY: u8 = 1 << 5;
const PARENT: u8 = 1 << 6;
/// How many paths are looked at between two looks at the cancel token.
const STRIDE: usize = 1 << 16;

/// Every path of a scope with its sizes: parallel arrays over the paths of a timeline, 17 bytes each.
pub struct FileTree {
    timeline: Arc<Timeline>,
    scope: Scope,
    bytes: Vec<u64>,
    files: Vec<u32>,
    version: Vec<u32>,
    state: Vec<u8>,
    shown: usize,
}

const NONE: u32 = u32::MAX;

impl FileTree {
    /// Picks the scope out of the timeline and sums its sizes. Without `marks`, which need all layers
    /// below, nothing is marked.
    ///
    /// # Errors
    /// When cancelled.
    pub fn new(
        timeline: Arc<Timeline>,
        scope: Scope,
        marks: bool,
        cancel: &CancelToken,
    ) -> Result<Self, Cancelled> {
        let count = timeline.len();
        let mut tree = Self {
            timeline,
            scope,
            bytes: vec![0; count],
            files: vec![0; count],
            version: vec![NONE; count],
            state: vec![0; count],
            shown: 0,
        };
        tree.pick(cancel)?;
        tree.sum(marks);
        Ok(tree)
    }

    /// Own facts of every path.
    fn pick(&mut self, cancel: &CancelToken) -> Result<(), Cancelled> {
        let timeline = Arc::clone(&self.timeline);
        let layer = self.scope.layer();
        let mut counted = HashSet::new();
        for path in timeline.paths() {
            if (path.0 as usize).is_multiple_of(STRIDE) {
                cancel.check()?;
            }
            let mut seen = Seen::default();
            for version in timeline.versions(path) {
                if version.layer > layer {
                    break;
                }
                seen.add(&timeline, version, layer);
            }
            let (shows, mark) = seen.judge(&timeline, self.scope, path);
            let Some(version) = shows else { continue };
            let at = path.0 as usize;
            let lost = version.lost.is_some() && mark != PathChange::Removed;
            let folder = version.kind == NodeKind::Directory;
            self.version[at] = version.id.0;
            self.state[at] = SHOWN
                | if lost { HIDDEN } else { 0 }
                | if folder { DIRECTORY } else { 0 }
                | (mark as u8) << MARK_SHIFT;
            self.files[at] = u32::from(version.kind == NodeKind::File);
            self.bytes[at] = match (self.scope, mark) {
                (Scope::Layer(_), PathChange::Removed) | (Scope::Merged(_), _) => {
                    bytes_once(&timeline, &version, layer, &mut counted)
                }
                // All entries of the layer at this path, duplicates included.
                (Scope::Layer(_), _) => seen.held,
            };
        }
        Ok(())
    }

    /// Adds everything to the folder it is in, from the leaves up.
    fn sum(&mut self, marks: bool) {
        self.state[0] |= SHOWN | DIRECTORY;
        if self.mark(PathId::ROOT) == PathChange::Added {
            self.set_mark(0, PathChange::Inside);
        }
        // A folder that is removed, but in which the layer itself holds something: it brings a path and
        // then replaces a folder above it. Its bytes are the layer's own.
        for at in (1..self.state.len()).rev() {
            let parent = self.timeline.parent(PathId(index32(at))).0 as usize;
            let held = self.state[at] & SHOWN != 0 && self.mark_at(at) != PathChange::Removed;
            if held && self.mark_at(parent) == PathChange::Removed {
                self.set_mark(parent, PathChange::Inside);
            }
        }
        for at in (1..self.state.len()).rev() {
            if self.state[at] & SHOWN == 0 {
                continue;
            }
            self.shown += 1;
            let parent = self.timeline.parent(PathId(index32(at))).0 as usize;
            self.state[parent] |= SHOWN | DIRECTORY | PARENT;
            let (mark, above) = (self.mark_at(at), self.mark_at(parent));
            if mark != PathChange::None && above == PathChange::None {
                self.set_mark(parent, PathChange::Inside);
            }
            if mark != PathChange::Removed || above == PathChange::Removed {
                self.bytes[parent] += self.bytes[at];
                self.files[parent] += self.files[at];
            }
        }
        if !marks {
            for state in &mut self.state {
                *state &= !(MARK_BITS | HIDDEN);
            }
        }
    }

    fn mark_at(&self, at: usize) -> PathChange {
        match (self.state[at] & MARK_BITS) >> MARK_SHIFT {
            1 => PathChange::Inside,
            2 => PathChange::Added,
            3 => PathChange::Changed,
            4 => PathChange::Removed,
            _ => PathChange::None,
        }
    }

    fn set_mark(&mut self, at: usize, mark: PathChange) {
        self.state[at] = self.state[at] & !MARK_BITS | (mark as u8) << MARK_SHIFT;
    }

    /// The paths that this tree is a part of.
    pub fn timeline(&self) -> &Arc<Timeline> {
        &self.timeline
    }

    /// Which files it shows.
    pub fn scope(&self) -> Scope {
        self.scope
    }

    /// How many paths it shows, without the root.
    pub fn len(&self) -> usize {
        self.shown
    }

    /// Whether it shows nothing.
    pub fn is_empty(&self) -> bool {
        self.shown == 0
    }

    /// Whether a path is part of it.
    pub fn shows(&self, path: PathId) -> bool {
        self.state.get(path.0 as usize).is_some_and(|state| state & SHOWN != 0)
    }

    /// Bytes of the files at or below, each once. What is removed counts within what is removed only.
    pub fn bytes(&self, path: PathId) -> u64 {
        self.bytes[path.0 as usize]
    }

    /// Files at or below, second names included.
    pub fn files(&self, path: PathId) -> u32 {
        self.files[path.0 as usize]
    }

    /// What the layer does to a path.
    pub fn mark(&self, path: PathId) -> PathChange {
        self.mark_at(path.0 as usize)
    }

    /// Whether a later layer takes the path away or replaces it.
    pub fn is_hidden(&self, path: PathId) -> bool {
        self.state[path.0 as usize] & HIDDEN != 0
    }

    /// The layer that takes the path away or replaces it later.
    pub fn hidden_by(&self, path: PathId) -> Option<u16> {
        self.version(path).filter(|_| self.is_hidden(path)).and_then(|version| version.lost)
    }

    /// Whether a path is a folder.
    pub fn is_folder(&self, path: PathId) -> bool {
        self.state[path.0 as usize] & DIRECTORY != 0
    }

    /// The version shown at a path; `None` for a folder without its own entry, and for the root.
    pub fn version(&self, path: PathId) -> Option<Version> {
        let id = self.version[path.0 as usize];
        (id != NONE).then(|| self.timeline.version(VersionId(id)))
    }

    /// The children of a folder in this scope, unordered.
    pub fn children(&self, path: PathId) -> impl Iterator<Item = PathId> + '_ {
        self.timeline.children(path).filter(|child| self.shows(*child))
    }

    /// Whether a folder has children in this scope.
    pub fn has_children(&self, path: PathId) -> bool {
        self.state[path.0 as usize] & PARENT != 0
    }
}

/// The bytes of a file; 0 for a second name whose bytes stand elsewhere. `counted` has the files whose bytes were
/// told, and whether at a path that is gone: what is gone must not take the bytes of what is there.
fn bytes_once(
    timeline: &Timeline,
    version: &Version,
    layer: u16,
    counted: &mut HashSet<(u16, crate::layer::EntryId, bool)>,
) -> u64 {
    let Some((inode_layer, entry, home)) = timeline.shares(version.id) else {
        return timeline.bytes(version);
    };
    // A removed path is looked at as it was before.
    let gone = !version.shows_after(layer);
    let layer = if gone { layer.saturating_sub(1) } else { layer };
    let at_home = home.0 != NONE && timeline.version(home).shows_after(layer);
    if at_home || !counted.insert((inode_layer, entry, gone)) { 0 } else { timeline.bytes(version) }
}

/// What the versions of a path are to a layer.
#[derive(Default)]
struct Seen {
    /// What the path was before the layer.
    before: Option<Version>,
    /// What it is after it.
    after: Option<Version>,
    /// What the layer itself brings.
    own: Option<Version>,
    /// Bytes in the layer at the path.
    held: u64,
}

impl Seen {
    fn add(&mut self, timeline: &Timeline, version: Version, layer: u16) {
        if version.layer == layer {
            if timeline.shares(version.id).is_none() {
                self.held += timeline.bytes(&version);
            }
            self.own = Some(version);
        } else if version.until.is_none_or(|until| until >= layer) {
            self.before = Some(version);
        }
        if version.shows_after(layer) {
            self.after = Some(version);
        }
    }

    fn judge(&self, timeline: &Timeline, scope: Scope, path: PathId) -> (Option<Version>, PathChange) {
        match (self.before, self.after, self.own) {
            (_, None, None) if path == PathId::ROOT => (None, PathChange::None),
            (Some(before), None, own) => match (own, scope) {
                // The layer brings the path and removes it again, as a folder above it is replaced.
                (Some(own), Scope::Layer(_)) => (Some(own), PathChange::Changed),
                _ => (Some(before), PathChange::Removed),
            },
            (None, None, Some(own)) if matches!(scope, Scope::Layer(_)) => (Some(own), PathChange::Added),
            (_, None, _) => (None, PathChange::None),
            (before, Some(after), own) => {
                let mark = match (before, own) {
                    (_, None) => PathChange::None,
                    (None, Some(_)) => PathChange::Added,
                    (Some(before), Some(own)) => changed(timeline, &before, &own),
                };
                let shows = own.is_some() || matches!(scope, Scope::Merged(_));
                (shows.then_some(after), mark)
            }
        }
    }
}

/// A folder that is named again with the same mode and owner is not changed.
fn changed(timeline: &Timeline, before: &Version, own: &Version) -> PathChange {
    let (NodeKind::Directory, NodeKind::Directory) = (before.kind, own.kind) else {
        return PathChange::Changed;
    };
    let facts = |version: &Version| {
        let index = timeline.layer(version.layer);
        version.entry.map(|entry| (index.mode(entry), index.owner(entry)))
    };
    match (facts(before), facts(own)) {
        (Some(before), Some(own)) if before != own => PathChange::Changed,
        _ => PathChange::None,
    }
}
