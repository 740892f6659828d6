//! The library search path of all processes of an image, and its sources.

use std::sync::Arc;

use hashbrown::HashSet;

use super::links::{Paths, split_library_path};
use crate::base::redact;
use crate::base::text::{elide_middle, escape};
use crate::formats::document::DocumentKind;
use crate::formats::ld_so_conf::{self, Line};
use crate::layer::LayerRead;
use crate::rootfs::NodeId;

/// Maximum number of folders in `LD_LIBRARY_PATH`; together with the configuration files, twice as many. Real
/// paths have about ten.
const MOST_FOLDERS: usize = 1_000;

/// A folder on the search path of every process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchFolder {
    /// Path as configured.
    pub path: Vec<u8>,
    /// `ENV LD_LIBRARY_PATH`, or the configuration file.
    pub by: String,
    /// Node of the configuration file; `None` for the environment.
    pub file: Option<NodeId>,
}

/// Folders of `library_path`, the value of `LD_LIBRARY_PATH`, without duplicates, then those of
/// `/etc/ld.so.conf` and of the files in `/etc/ld.so.conf.d`, in file order.
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

/// A search folder for reports, redacted: paths are not secret, but a value split at colons may contain parts
/// of a URL.
pub fn shown_folder(path: &[u8]) -> String {
    if !path.starts_with(b"/") && path.contains(&b'@') {
        return redact::REDACTED.to_owned();
    }
    let shown = redact::value("", &escape(path)).into_owned();
    elide_middle(&shown, 200)
}

/// Whether a path is a `stubs` folder or in one.
pub fn is_stub_path(path: &[u8]) -> bool {
    path.split(|byte| *byte == b'/').any(|part| part == b"stubs")
}

/// Whether a path is the folder of a forward-compatibility driver or in one: `compat` below a CUDA folder, or
/// `cuda-compat*`.
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
