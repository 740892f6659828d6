//! CUDA toolkits in the image, with version and flavor.

use super::catalog::{Catalog, numbers};
use super::context::InventoryContext;
use super::libraries::upstream;
use super::packages::Packages;
use super::value::{Flavor, Library, Package, Role, Supplier, Toolkit};
use crate::base::text::escape;
use crate::formats::cuda_version;
use crate::formats::document::{DocumentKind, may_be_toolkit};
use crate::rootfs::{NodeId, NodeKind};

/// All toolkits sorted by root, and the index of the one at `/usr/local/cuda`.
pub(super) fn find(context: &InventoryContext<'_>, packages: &Packages) -> (Vec<Toolkit>, Option<usize>) {
    let mut toolkits: Vec<Toolkit> = context
        .rootfs
        .nodes()
        .filter(|node| {
            node.kind() == NodeKind::Directory && may_be_toolkit(node.parent().name(), node.name())
        })
        .map(|node| (node.id(), node.path()))
        .filter(|(_, path)| context.catalog.toolkit_root(path).is_some_and(|(_, rest)| rest.is_empty()))
        .filter_map(|(id, root)| toolkit(context, packages, id, root))
        .collect();
    toolkits.sort_by(|a, b| a.root.cmp(&b.root));
    let named = context.paths.real_path(b"/usr/local/cuda");
    let place = named.and_then(|root| toolkits.iter().position(|toolkit| toolkit.root == root));
    (toolkits, place)
}

fn toolkit(
    context: &InventoryContext<'_>,
    packages: &Packages,
    id: NodeId,
    root: Vec<u8>,
) -> Option<Toolkit> {
    let flavor = flavor(context, &root)?;
    let (version, evidence) = version(context, packages, id, &root);
    Some(Toolkit { root, version, evidence, flavor, cudnn_version: None })
}

/// Flavor by content: devel with nvcc, CUDA headers or static libraries, runtime with cuBLAS or similar
/// libraries, base with other libraries or the compatibility driver; `None` without any of them.
fn flavor(context: &InventoryContext<'_>, root: &[u8]) -> Option<Flavor> {
    let names = |folder: &str| -> Vec<&[u8]> {
        let path = [root, folder.as_bytes()].concat();
        context.paths.children_of(&path).into_iter().map(|child| context.node(child).name()).collect()
    };
    let mut libraries = names("/lib64");
    libraries.extend(names("/lib"));
    for target in names("/targets") {
        libraries.extend(names(&format!("/targets/{}/lib", String::from_utf8_lossy(target))));
    }
    let has = |list: &[&[u8]], start: &[u8]| list.iter().any(|name| name.starts_with(start));
    let is_static = |name: &&[u8]| name.ends_with(b".a");
    if names("/bin").contains(&&b"nvcc"[..])
        || has(&names("/include"), b"cuda_runtime")
        || libraries.iter().any(is_static)
    {
        Some(Flavor::Devel)
    } else if has(&libraries, b"libcublas") || has(&libraries, b"libnpp") || has(&libraries, b"libcusparse") {
        Some(Flavor::Runtime)
    } else if has(&libraries, b"libcudart") || has(&names("/compat"), b"libcuda") {
        Some(Flavor::Base)
    } else if libraries.is_empty() {
        None
    } else {
        Some(Flavor::Base)
    }
}

/// The version and its source: `version.json` is exact, the package of cudart has the point release, the folder name
/// the minor version.
fn version(
    context: &InventoryContext<'_>,
    packages: &Packages,
    id: NodeId,
    root: &[u8],
) -> (Option<String>, String) {
    for visible in context.visible(DocumentKind::CudaVersion) {
        let node = context.node(visible.node);
        if node.parent().id() != id {
            continue;
        }
        let bytes = visible.document.bytes().unwrap_or_default();
        if let Some(read) = cuda_version::read(&bytes) {
            return (Some(read), escape(&node.path()));
        }
    }
    // The distribution's package has the name of its folder.
    let by_name =
        |package: &&Package| root.rsplit(|byte| *byte == b'/').next() == Some(package.name.as_bytes());
    if let Some(package) = packages.list.iter().filter(|package| package.is_of_system()).find(by_name) {
        let version = upstream(package.manager, &package.version).to_owned();
        return (Some(version), format!("package {} {}", package.name, package.version));
    }
    let folder = folder_version(root);
    let of_minor = |package: &&Package| {
        let minor = package_minor(&package.name);
        minor.is_some() && folder.as_ref().is_none_or(|folder| minor.as_ref() == Some(folder))
    };
    let cudart = packages.list.iter().filter(|package| package.is_of_system()).find(of_minor);
    if let Some(package) = cudart {
        let minor = package_minor(&package.name);
        let release = point_release(context.catalog, packages, &package.version);
        let evidence = format!("package {} {}", package.name, package.version);
        return (release.or(minor), evidence);
    }
    match folder {
        Some(version) => (Some(version), format!("folder {}", escape(root))),
        None => (None, "no version in version.json, packages or folder name".to_owned()),
    }
}

/// The toolkit that shipped this version of cudart; if there are several, the version of cuBLAS distinguishes
/// them.
fn point_release(catalog: &Catalog, packages: &Packages, cudart: &str) -> Option<String> {
    let releases: Vec<&str> = catalog
        .toolkits_of_cudart(upstream("dpkg", cudart))
        .map(|toolkit| toolkit.version.as_str())
        .collect();
    if let [one] = releases[..] {
        return Some(one.to_owned());
    }
    let cublas = packages
        .list
        .iter()
        .filter(|package| package.is_of_system())
        .find(|package| is_package_of(&package.name, "libcublas"))?;
    let of_cublas: Vec<&str> = catalog
        .toolkits_of_cublas(upstream("dpkg", &cublas.version))
        .map(|toolkit| toolkit.version.as_str())
        .filter(|version| releases.is_empty() || releases.contains(version))
        .collect();
    match of_cublas[..] {
        [one] => Some(one.to_owned()),
        _ => None,
    }
}

/// Whether a package name is `STEM-X-Y`.
fn is_package_of(name: &str, stem: &str) -> bool {
    name.strip_prefix(stem).is_some_and(|rest| minor_suffix(rest).is_some())
}

/// Minor version in a package name: `13.0` for `cuda-cudart-13-0`.
fn package_minor(name: &str) -> Option<String> {
    minor_suffix(name.strip_prefix("cuda-cudart")?)
}

fn minor_suffix(rest: &str) -> Option<String> {
    let (major, minor) = rest.strip_prefix('-')?.split_once('-')?;
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    (is_number(major) && is_number(minor)).then(|| format!("{major}.{minor}"))
}

/// Version in a folder name: `13.0` for `/usr/local/cuda-13.0`, and for `cuda/13.0` of the HPC SDK.
fn folder_version(root: &[u8]) -> Option<String> {
    let mut parts = root.rsplit(|byte| *byte == b'/');
    let name = parts.next()?;
    let version = if parts.next() == Some(b"cuda") { name } else { name.strip_prefix(b"cuda-")? };
    (numbers(version).len() > 1).then(|| escape(version))
}

/// Sets the cuDNN version of each toolkit: that of the first system cuDNN with the same or an unknown CUDA
/// major version.
pub(super) fn add_cudnn(toolkits: &mut [Toolkit], libraries: &[Library], packages: &Packages) {
    let of_system = |library: &&Library| {
        matches!(library.supplier, Supplier::Toolkit | Supplier::Distro)
            && library.role == Role::Runtime
            && &*library.component == "cudnn"
    };
    for toolkit in toolkits {
        let major =
            toolkit.version.as_deref().and_then(|version| numbers(version.as_bytes()).first().copied());
        let fits = |library: &&Library| {
            let of = library.cuda_major.as_ref().map(|(major, _)| *major);
            of.is_none() || major.is_none() || of == major
        };
        let library = libraries.iter().filter(of_system).find(fits);
        toolkit.cudnn_version = library.and_then(|library| {
            let package = library.package.map(|place| &packages.list[place]);
            let of_package = package.map(|package| upstream(package.manager, &package.version).to_owned());
            of_package.or_else(|| library.version.as_ref().map(|(version, _)| version.clone()))
        });
    }
}
