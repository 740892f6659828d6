//! The loader's configuration in the image.

use super::scene::Scene;
use crate::base::WarningCode;
use crate::base::text::escape;
use crate::base::warning::Warnings;
use crate::formats::document::DocumentKind;
use crate::formats::ld_so_conf::{self, Line, glob_match};
use crate::rootfs::NodeId;

/// Files that include files that include files: ldconfig has no bound, a loop would be one.
const DEPTH: usize = 8;
/// Folders in all; real images have under thirty.
const FOLDERS: usize = 4096;

/// The folders of `/etc/ld.so.conf` in the order in which ldconfig reads them, includes applied.
pub(super) fn conf_folders(scene: &Scene<'_>, warnings: &mut Warnings) -> Vec<Vec<u8>> {
    let mut folders = Vec::new();
    if let Some(node) = scene.paths.lookup(b"/etc/ld.so.conf") {
        read_conf(scene, node, 0, &mut folders, warnings);
    }
    folders
}

fn read_conf(
    scene: &Scene<'_>,
    node: NodeId,
    depth: usize,
    folders: &mut Vec<Vec<u8>>,
    warnings: &mut Warnings,
) {
    let path = scene.path(node);
    let Some(bytes) = document(scene, node) else {
        warnings.push_with(WarningCode::FactsLimited, || {
            (escape(&path), format!("{} was not kept: the loader's folders may lack some", escape(&path)))
        });
        return;
    };
    for line in ld_so_conf::read(&bytes) {
        match line {
            Line::Folder(folder) if folders.len() < FOLDERS => {
                if !folders.contains(&folder) {
                    folders.push(folder);
                }
            }
            Line::Include(pattern) if depth < DEPTH => {
                for node in included(scene, &path, &pattern) {
                    read_conf(scene, node, depth + 1, folders, warnings);
                }
            }
            Line::Folder(_) | Line::Include(_) => warnings.push_with(WarningCode::FactsLimited, || {
                (escape(&path), format!("{} names more folders than are followed", escape(&path)))
            }),
        }
    }
}

/// Files that an include names; only its last part is a pattern, as everywhere where one is used.
fn included(scene: &Scene<'_>, from: &[u8], pattern: &[u8]) -> Vec<NodeId> {
    let slash = |path: &[u8]| path.iter().rposition(|byte| *byte == b'/');
    let absolute = if pattern.starts_with(b"/") {
        pattern.to_vec()
    } else {
        let folder = slash(from).map_or(&b""[..], |slash| &from[..=slash]);
        [folder, pattern].concat()
    };
    let Some(slash) = slash(&absolute) else { return Vec::new() };
    let (folder, name) = (&absolute[..=slash], &absolute[slash + 1..]);
    scene
        .paths
        .children_of(folder)
        .into_iter()
        .filter(|child| glob_match(name, scene.node(*child).name()))
        .filter_map(|child| scene.paths.lookup(&scene.path(child)))
        .collect()
}

fn document(scene: &Scene<'_>, node: NodeId) -> Option<Vec<u8>> {
    let (layer, entry) = scene.node(node).content()?;
    scene.layer(layer)?.facts.document(entry)?.bytes().ok()
}

/// Libraries that `/etc/ld.so.preload` names.
pub(super) fn preloads(scene: &Scene<'_>) -> Vec<Vec<u8>> {
    let files = scene.visible(DocumentKind::LoaderPreload);
    let bytes = files.iter().filter_map(|file| file.document.bytes().ok()).flatten().collect::<Vec<u8>>();
    bytes
        .split(|byte| byte.is_ascii_whitespace() || *byte == b':')
        .filter(|name| !name.is_empty())
        .map(<[u8]>::to_vec)
        .collect()
}
