use super::tree::{FileTree, PathChange, Scope};
use crate::base::size::human;
use crate::base::text::escape;
use crate::gui::models::format;
use crate::layer::{EntryId, EntryKind, LayerIndex};
use crate::rootfs::{NodeKind, PathId, Timeline, Version};

/// A fact about a path: what it is called, and how it reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathFact {
    /// Its name.
    pub name: &'static str,
    /// Its value, safe to show.
    pub value: String,
}

/// What one layer does to a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LayerChange {
    /// The layer.
    pub layer: u16,
    /// What it does, as a mark.
    pub mark: PathChange,
    /// What it does, in words.
    pub what: String,
    /// Bytes in the layer for the path; `None` without own bytes.
    pub bytes: Option<u64>,
}

/// Everything that is known about one path.
#[derive(Clone, Debug)]
pub struct PathDetails {
    /// The path it is about.
    pub path: PathId,
    /// The absolute path, any bytes: what is copied.
    pub raw_path: Vec<u8>,
    /// The absolute path, safe to show.
    pub shown_path: String,
    /// Layer and entry of the bytes of a file, if it is not what a container sees.
    pub version: Option<(u16, EntryId)>,
    /// Kind, size, mode, owner, time, link target.
    pub facts: Vec<PathFact>,
    /// What each layer does to it, bottom first.
    pub touches: Vec<LayerChange>,
    /// What becomes of it later, in words; `None` where it stays.
    pub fate: Option<String>,
}

impl PathDetails {
    /// The facts of `path` as `tree` shows it.
    pub fn new(tree: &FileTree, path: PathId) -> Self {
        let timeline = tree.timeline();
        let raw_path = timeline.full_path(path);
        let version = tree.version(path);
        let mut facts = Vec::new();
        let mut add = |name, value: String| facts.push(PathFact { name, value });
        let shared = version.as_ref().and_then(|version| timeline.shares(version.id));
        add("Kind", kind(tree, path, version.as_ref()));
        if tree.is_folder(path) {
            add(
                "Size",
                format!(
                    "{} in {}",
                    format::exact(tree.bytes(path)),
                    crate::base::text::counted(tree.files(path) as usize, "file")
                ),
            );
        } else if let Some(version) = version.as_ref().filter(|version| version.kind == NodeKind::File) {
            add("Size", format::exact(timeline.bytes(version)));
        }
        if let Some(version) = &version
            && let Some(entry) = version.entry
        {
            let index = timeline.layer(version.layer);
            if let Some(target) = index.link(entry) {
                let name = if version.kind == NodeKind::Symlink { "Points to" } else { "Hard link to" };
                let slash =
                    if version.kind == NodeKind::Symlink || target.starts_with(b"/") { "" } else { "/" };
                add(name, format!("{slash}{}", escape(target)));
            }
            // A second name has the mode, owner and time of its file.
            let (index, entry) = match shared {
                Some((layer, entry, _)) => (timeline.layer(layer), entry),
                None => (index, entry),
            };
            add("Mode", format::mode(index.mode(entry), version.kind));
            let (user, group) = index.owner(entry);
            add("Owner", format!("{user}:{group}"));
            add("Modified", format::utc(index.mtime(entry)));
        }
        let touches = touches(timeline, path);
        let fate = tree.hidden_by(path).map(|layer| {
            let gone = touches.iter().any(|touch| touch.layer == layer && touch.mark == PathChange::Removed);
            format!("{} by layer {layer}", if gone { "Removed" } else { "Replaced" })
        });
        let fate = match (tree.mark(path), tree.scope()) {
            (PathChange::Removed, Scope::Layer(layer) | Scope::Merged(layer)) => {
                Some(format!("Removed by layer {layer}"))
            }
            _ => fate,
        };
        let lower =
            version.as_ref().filter(|version| version.kind == NodeKind::File && version.until.is_some());
        let lower = lower.and_then(|version| match shared {
            Some((layer, entry, _)) => Some((layer, entry)),
            None => Some((version.layer, version.entry?)),
        });
        Self { path, version: lower, shown_path: escape(&raw_path), raw_path, facts, touches, fate }
    }
}

fn kind(tree: &FileTree, path: PathId, version: Option<&Version>) -> String {
    let Some(version) = version else { return "Folder, no entry in this layer".to_owned() };
    if version.kind == NodeKind::Directory && version.entry.is_none() {
        return "Folder without its own entry".to_owned();
    }
    let shared = tree.timeline().shares(version.id).is_some();
    match version.kind {
        NodeKind::Directory => "Folder",
        NodeKind::Symlink => "Symbolic link",
        NodeKind::Other => "Device, pipe or socket",
        NodeKind::File if shared => "File (hard link)",
        NodeKind::File if tree.is_folder(path) => "Folder",
        NodeKind::File => "File",
    }
    .to_owned()
}

fn touches(timeline: &Timeline, path: PathId) -> Vec<LayerChange> {
    let mut touches: Vec<LayerChange> = Vec::new();
    let mut before: Option<Version> = None;
    let removed = |layer| LayerChange {
        layer,
        mark: PathChange::Removed,
        what: PathChange::Removed.word().to_owned(),
        bytes: None,
    };
    for version in timeline.versions(path) {
        // A gap between two versions: some layer took the path away.
        if let Some(layer) = before.and_then(|before| before.until).filter(|until| *until < version.layer) {
            touches.push(removed(layer));
            before = None;
        }
        touches.push(touch(timeline, before.as_ref(), &version));
        before = Some(version);
    }
    if let Some(layer) = before.and_then(|before| before.until) {
        touches.push(removed(layer));
    }
    touches
}

fn touch(timeline: &Timeline, before: Option<&Version>, version: &Version) -> LayerChange {
    let own = version.kind == NodeKind::File && timeline.shares(version.id).is_none();
    let bytes = own.then(|| timeline.bytes(version));
    let layer = version.layer;
    let done = |mark, what: String| LayerChange { layer, mark, what, bytes };
    let Some(before) = before else { return done(PathChange::Added, PathChange::Added.word().to_owned()) };
    if before.layer == version.layer {
        return done(PathChange::Changed, "stored again in the same layer".to_owned());
    }
    if before.kind != version.kind {
        return done(PathChange::Changed, format!("replaced by {}", noun(version.kind)));
    }
    let changes = changes(timeline, before, version);
    match version.kind {
        NodeKind::Directory if changes.is_empty() => done(PathChange::Inside, "also touched".to_owned()),
        NodeKind::Directory => done(PathChange::Changed, format!("changed: {}", changes.join(", "))),
        _ if changes.is_empty() => {
            done(PathChange::Changed, "replaced; same size, mode and owner".to_owned())
        }
        _ => done(PathChange::Changed, format!("replaced: {}", changes.join(", "))),
    }
}

fn noun(kind: NodeKind) -> &'static str {
    match kind {
        NodeKind::File => "a file",
        NodeKind::Directory => "a folder",
        NodeKind::Symlink => "a symbolic link",
        NodeKind::Other => "a special file",
    }
}

/// What differs between two versions of one kind, as `mode 644 → 755`.
fn changes(timeline: &Timeline, before: &Version, after: &Version) -> Vec<String> {
    let facts = |version: &Version| {
        let index: &LayerIndex = timeline.layer(version.layer);
        let entry = version.entry?;
        // The metadata in a hard link's header is meaningless: it shares that of its file.
        (index.kind(entry) != EntryKind::HardLink)
            .then(|| (index.mode(entry), index.owner(entry), index.link(entry)))
    };
    let mut changes = Vec::new();
    if before.kind == NodeKind::File {
        let (old, new) = (timeline.bytes(before), timeline.bytes(after));
        if old != new {
            changes.push(format!("size {} → {}", human(old), human(new)));
        }
    }
    if let (Some(old), Some(new)) = (facts(before), facts(after)) {
        if old.0 != new.0 {
            changes.push(format!("mode {:o} → {:o}", old.0, new.0));
        }
        if old.1 != new.1 {
            changes.push(format!("owner {}:{} → {}:{}", old.1.0, old.1.1, new.1.0, new.1.1));
        }
        if let (Some(old), Some(new)) = (old.2, new.2)
            && old != new
        {
            changes.push(format!("target {} → {}", escape(old), escape(new)));
        }
    }
    changes
}
