//! Loader configuration of the image.

use hashbrown::HashSet;

use super::context::InventoryContext;
use crate::base::WarningCode;
use crate::base::text::escape;
use crate::base::warning::Warnings;
use crate::formats::document::DocumentKind;
use crate::formats::glob::glob_match;
use crate::formats::ld_so_conf::{self, Line};
use crate::rootfs::NodeId;

/// Maximum depth of includes; ldconfig has no limit, and real images need less than two.
const DEPTH: usize = 8;
/// Maximum number of folders; real images have fewer than thirty.
const FOLDERS: usize = 4096;
/// Maximum number of names in `/etc/ld.so.preload`; real ones have one or two.
const PRELOADS: usize = 64;
/// Length in bytes from which names are ignored: the kernel rejects them (`PATH_MAX`).
const NAME_BYTES: usize = 4096;
/// Work limit for includes, in compared names; real images need less than a hundred.
const NAMES: usize = 1 << 20;

/// The folders of `/etc/ld.so.conf` in the order in which ldconfig reads them, with includes.
pub(super) fn conf_folders(context: &InventoryContext<'_>, warnings: &mut Warnings) -> Vec<Vec<u8>> {
    let mut reader = Reader {
        context,
        warnings,
        folders: Vec::new(),
        known: HashSet::new(),
        files: HashSet::new(),
        names_left: NAMES,
    };
    if let Some(node) = context.paths.lookup(b"/etc/ld.so.conf") {
        reader.read(node, 0);
    }
    reader.folders
}

struct Reader<'a, 'w> {
    context: &'a InventoryContext<'a>,
    warnings: &'w mut Warnings,
    folders: Vec<Vec<u8>>,
    known: HashSet<Vec<u8>>,
    /// Files already read; a second read would add nothing.
    files: HashSet<NodeId>,
    names_left: usize,
}

impl Reader<'_, '_> {
    fn read(&mut self, node: NodeId, depth: usize) {
        if !self.files.insert(node) {
            return;
        }
        let path = self.context.path(node);
        let Some(bytes) = document(self.context, node) else {
            self.warnings.push_with(WarningCode::FactsLimited, || {
                (escape(&path), "not read: folders may be missing from the loader's search path".to_owned())
            });
            return;
        };
        let mut is_cut = false;
        for line in ld_so_conf::read(&bytes) {
            match line {
                Line::Folder(folder) if self.known.contains(&folder) => {}
                Line::Folder(folder) if self.folders.len() < FOLDERS => {
                    self.known.insert(folder.clone());
                    self.folders.push(folder);
                }
                Line::Include(pattern) if depth < DEPTH && self.names_left > 0 => {
                    for node in self.included(&path, &pattern) {
                        self.read(node, depth + 1);
                    }
                }
                Line::Folder(_) | Line::Include(_) => is_cut = true,
            }
        }
        if is_cut {
            self.warnings.push_with(WarningCode::FactsLimited, || {
                (escape(&path), "names too many folders".to_owned())
            });
        }
    }

    /// Files that match an include. Only the last path component may be a pattern, as in practice.
    fn included(&mut self, from: &[u8], pattern: &[u8]) -> Vec<NodeId> {
        let slash = |path: &[u8]| path.iter().rposition(|byte| *byte == b'/');
        let absolute = if pattern.starts_with(b"/") {
            pattern.to_vec()
        } else {
            let folder = slash(from).map_or(&b""[..], |slash| &from[..=slash]);
            [folder, pattern].concat()
        };
        let Some(slash) = slash(&absolute) else { return Vec::new() };
        let (folder, name) = (&absolute[..=slash], &absolute[slash + 1..]);
        let paths = &self.context.paths;
        let mut budget = self.names_left as u64;
        let folder = paths.walk(NodeId::ROOT, folder, &mut budget);
        let children = folder.map(|folder| paths.children(folder)).unwrap_or_default();
        // Long patterns cost more to compare, and each line costs at least its own length.
        let cost = children.len().saturating_mul(1 + name.len() / 8).saturating_add(absolute.len());
        self.names_left = self.names_left.saturating_sub(cost);
        children
            .into_iter()
            .filter(|child| glob_match(name, self.context.node(*child).name()))
            .filter_map(|child| paths.lookup(&self.context.path(child)))
            .collect()
    }
}

fn document(context: &InventoryContext<'_>, node: NodeId) -> Option<Vec<u8>> {
    let (layer, entry) = context.node(node).content()?;
    context.layer(layer)?.facts.document(entry)?.bytes().ok()
}

/// Whether musl's is the only loader in the image. If both are present and no program decides, the image's
/// own is glibc's, because programs for musl include their loader.
pub(super) fn is_musl_alone(context: &InventoryContext<'_>) -> bool {
    let has = |start: &[u8]| {
        let folders = ["/lib", "/lib64", "/usr/lib", "/usr/lib64"];
        let mut nodes = folders.iter().flat_map(|folder| context.paths.children_of(folder.as_bytes()));
        nodes.any(|node| context.node(node).name().starts_with(start))
    };
    has(b"ld-musl-") && !has(b"ld-linux")
}

/// The folders of `/etc/ld-musl-*.path`, in order.
pub(super) fn musl_folders(context: &InventoryContext<'_>) -> Vec<Vec<u8>> {
    let bytes = context.visible(DocumentKind::MuslPath).iter().filter_map(|file| file.document.bytes().ok());
    let mut folders = Vec::new();
    for bytes in bytes {
        let lines = bytes.split(|byte| matches!(byte, b':' | b'\n')).filter(|folder| !folder.is_empty());
        folders.extend(lines.take(FOLDERS - folders.len()).map(<[u8]>::to_vec));
    }
    folders
}

/// Libraries listed in `/etc/ld.so.preload`.
pub(super) fn preloads(context: &InventoryContext<'_>) -> Vec<Vec<u8>> {
    let files = context.visible(DocumentKind::LoaderPreload);
    let bytes = files.iter().filter_map(|file| file.document.bytes().ok()).flatten().collect::<Vec<u8>>();
    bytes
        .split(|byte| byte.is_ascii_whitespace() || *byte == b':')
        .filter(|name| !name.is_empty() && name.len() < NAME_BYTES)
        .take(PRELOADS)
        .map(<[u8]>::to_vec)
        .collect()
}
