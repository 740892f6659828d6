//! Driver libraries in the image.

use hashbrown::{HashMap, HashSet};

use super::look::Look;
use crate::cuda::catalog::{major_minor, numbers};
use crate::cuda::compat::{CompatDriver, OwnDriver};
use crate::cuda::links::file_name;
use crate::cuda::{ForwardCompat, Inode, Library, Role, SearchFolder, is_stub_path};
use crate::layer::ContentHash;
use crate::rootfs::NodeId;

/// The soname of the driver library.
const SONAME: &[u8] = b"libcuda.so.1";

/// Forward-compatibility drivers, and other libraries that programs load instead of the driver.
pub(super) fn in_image(look: &Look<'_>, folders: &[SearchFolder]) -> (Vec<CompatDriver>, Vec<OwnDriver>) {
    let of_driver = |library: &&Library| {
        library.foreign.is_none()
            && &*library.component == "driver"
            && (look.rootfs.node(library.node).name().starts_with(b"libcuda.so")
                || library.soname.as_deref().is_some_and(|soname| soname.as_bytes() == SONAME))
    };
    let libraries: Vec<&Library> = look.inventory.libraries.iter().filter(of_driver).collect();
    if libraries.is_empty() {
        return (Vec::new(), Vec::new());
    }
    let offered = offered(look, folders, &libraries);
    let by_of = |library: &Library| offered.get(&look.rootfs.node(library.node).content()?).cloned();
    let mut named: HashMap<NodeId, &str> = HashMap::new();
    for folder in folders {
        if let Some(node) = look.paths.lookup(&folder.path) {
            named.entry(node).or_insert(&folder.by);
        }
    }
    let compat = libraries.iter().filter(|library| is_compat(library)).map(|library| {
        // Its symbolic links may be created at container start, so the folder alone is sufficient.
        let folder = look.rootfs.node(library.node).parent().id();
        let forced_by = named.get(&folder).map(|by| (*by).to_owned()).or_else(|| by_of(library));
        compat_driver(look, library, forced_by)
    });
    let hash = |library: &Library| look.hash(look.rootfs.node(library.node).content()?);
    let stubs: HashSet<&ContentHash> =
        libraries.iter().filter(|library| is_stub(look, library)).filter_map(|stub| hash(stub)).collect();
    let own = libraries.iter().filter(|library| library.hard_link_of.is_none() && !is_compat(library));
    let own = own.filter_map(|library| {
        let by = by_of(library)?;
        let stub = is_stub(look, library) || hash(library).is_some_and(|hash| stubs.contains(hash));
        Some(OwnDriver { path: look.shown(library.node), stub, by })
    });
    (compat.collect(), own.collect())
}

fn is_compat(library: &Library) -> bool {
    library.role == Role::Compat && library.hard_link_of.is_none()
}

fn is_stub(look: &Look<'_>, library: &Library) -> bool {
    library.role == Role::Stub || is_stub_path(&look.path(library.node))
}

/// Driver libraries that the loader finds as `libcuda.so.1`, and the source of the search folder.
fn offered(look: &Look<'_>, folders: &[SearchFolder], libraries: &[&Library]) -> HashMap<Inode, String> {
    let inode = |node: NodeId| look.rootfs.node(node).content();
    let known: HashSet<Inode> = libraries.iter().filter_map(|library| inode(library.node)).collect();
    let mut registered: HashMap<NodeId, Vec<Inode>> = HashMap::new();
    for library in libraries.iter().filter(|one| one.soname.as_deref().map(str::as_bytes) == Some(SONAME)) {
        let folder = look.rootfs.node(library.node).parent().id();
        registered.entry(folder).or_default().extend(inode(library.node));
    }
    let default = default_folders(look);
    let default = default.iter().map(|path| (*path, format!("the loader's folder {}", text(path)), true));
    let named = folders.iter().map(|folder| (&folder.path[..], folder.by.clone(), folder.file.is_some()));
    let mut looked_into = HashSet::new();
    let mut offered = HashMap::new();
    for (path, by, cached) in named.chain(default) {
        let Some(folder) = look.paths.lookup(path).filter(|id| looked_into.insert((*id, cached))) else {
            continue;
        };
        let by_name = look.paths.lookup_from(folder, SONAME).and_then(inode);
        // ldconfig creates links for the sonames in its folders.
        let by_soname = registered.get(&folder).filter(|_| cached && by_name.is_none());
        for found in by_name.into_iter().chain(by_soname.into_iter().flatten().copied()) {
            if known.contains(&found) {
                offered.entry(found).or_insert_with(|| by.clone());
            }
        }
    }
    offered
}

fn text(path: &[u8]) -> String {
    String::from_utf8_lossy(path).into_owned()
}

/// Default search path of glibc's loader.
fn default_folders(look: &Look<'_>) -> Vec<&'static [u8]> {
    let architecture = look.input.image.platform.as_ref().map(|platform| platform.architecture.as_str());
    let mut folders: Vec<&[u8]> = match architecture {
        Some("arm64") => vec![b"/lib/aarch64-linux-gnu", b"/usr/lib/aarch64-linux-gnu"],
        Some("amd64") | None => vec![b"/lib/x86_64-linux-gnu", b"/usr/lib/x86_64-linux-gnu"],
        Some(_) => Vec::new(),
    };
    let plain: [&[u8]; 4] = [b"/lib64", b"/usr/lib64", b"/lib", b"/usr/lib"];
    folders.extend(plain);
    folders
}

fn compat_driver(look: &Look<'_>, library: &Library, forced_by: Option<String>) -> CompatDriver {
    let path = look.path(library.node);
    // The name `libcuda.so.1` contains no branch.
    let version = file_name(&path).strip_prefix(b"libcuda.so.").map(numbers).unwrap_or_default();
    let branch = version.first().copied().filter(|branch| version.len() > 1 && *branch > 99);
    let note: Option<&ForwardCompat> = library.forward_compat.as_ref();
    let by_note = note.and_then(|note| major_minor(note.cuda_version.as_deref()?));
    let by_branch = || {
        let known = look.catalog.driver_branches().iter().find(|known| Some(known.branch) == branch)?;
        known.cuda_version()
    };
    CompatDriver {
        path: look.shown(library.node),
        cuda: by_note.or_else(by_branch),
        branch,
        drivers: note.map(|note| note.driver.clone()).filter(|drivers| !drivers.is_empty()),
        devices: note.map(|note| note.device.clone()).unwrap_or_default(),
        forced_by,
    }
}
