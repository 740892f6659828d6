//! The loader's search path for all processes of an image, and its sources.

use std::collections::HashSet;
use std::sync::Arc;

use super::links::{Paths, split_library_path};
use crate::base::redact;
use crate::base::text::{elide_middle, escape};
use crate::formats::document::DocumentKind;
use crate::formats::ld_so_conf::{self, Line};
use crate::layer::LayerRead;
use crate::rootfs::NodeId;

/// Folders of a loader path that are looked at; a real one has some ten.
const MOST_FOLDERS: usize = 1_000;

/// A folder that the loader of every process looks into.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchFolder {
    /// As it is written.
    pub path: Vec<u8>,
    /// `ENV LD_LIBRARY_PATH`, or the file that names it.
    pub by: String,
    /// That file; `None` for the environment.
    pub file: Option<NodeId>,
}

/// Folders of `LD_LIBRARY_PATH`, whose value is given, then those of the loader's configuration, by file; each once
/// for each place that names it, in the order in which they are searched.
pub fn search_folders(
    library_path: &str,
    paths: &Paths<'_>,
    layers: &[Option<Arc<LayerRead>>],
) -> Vec<SearchFolder> {
    let mut known = HashSet::new();
    let mut folders: Vec<SearchFolder> = split_library_path(library_path.as_bytes())
        .into_iter()
        .filter(|path| known.insert(path.clone()))
        .take(MOST_FOLDERS)
        .map(|path| SearchFolder { path, by: "ENV LD_LIBRARY_PATH".to_owned(), file: None })
        .collect();
    let conf = paths.lookup(b"/etc/ld.so.conf");
    for node in conf.into_iter().chain(paths.children_of(b"/etc/ld.so.conf.d")) {
        let Some((layer, entry)) = paths.inode(node) else { continue };
        let read = layers.get(usize::from(layer)).and_then(Option::as_ref);
        let Some(document) = read.and_then(|read| read.facts.document(entry)) else { continue };
        let Some(bytes) =
            (document.kind == DocumentKind::LoaderConf).then(|| document.bytes().ok()).flatten()
        else {
            continue;
        };
        for line in ld_so_conf::read(&bytes) {
            if let Line::Folder(path) = line
                && folders.len() < 2 * MOST_FOLDERS
            {
                folders.push(SearchFolder { path, by: escape(&paths.path(node)), file: Some(node) });
            }
        }
    }
    folders
}

/// A loader path for reports: paths are not secret, but other text in it may be. It is split at colons, which splits
/// URLs.
pub fn shown_folder(path: &[u8]) -> String {
    if !path.starts_with(b"/") && path.contains(&b'@') {
        return redact::REDACTED.to_owned();
    }
    let shown = redact::value("", &escape(path)).into_owned();
    elide_middle(&shown, 200)
}

/// Whether a path is a stubs folder, or in one.
pub fn is_stub_path(path: &[u8]) -> bool {
    path.split(|byte| *byte == b'/').any(|part| part == b"stubs")
}

/// Whether a folder is that of the forward-compatibility driver: `compat` below one of CUDA, or what is in it.
pub fn is_compat_path(path: &[u8]) -> bool {
    let mut parts = path.split(|byte| *byte == b'/').skip_while(|part| !part.starts_with(b"cuda"));
    parts.next().is_some_and(|part| part.starts_with(b"cuda-compat")) || parts.any(|part| part == b"compat")
}

#[cfg(test)]
mod tests {
    use super::is_compat_path;

    #[test]
    fn the_folder_is_told_by_its_place() {
        for (path, wanted) in [
            ("/usr/local/cuda/compat", true),
            ("/usr/local/cuda-12.4/compat/", true),
            ("/usr/local/cuda/compat/lib", true),
            ("/usr/lib/compat", false),
            ("/usr/local/cuda/lib64", false),
            ("/opt/compat/cuda/lib64", false),
            ("/usr/local/cuda-compat-12", true),
        ] {
            assert_eq!(is_compat_path(path.as_bytes()), wanted, "{path}");
        }
    }
}
