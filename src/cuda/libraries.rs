//! CUDA libraries: component, version, supplier and CUDA major version.

use std::collections::BTreeMap;

use std::sync::Arc;

use hashbrown::HashMap;

use super::catalog::{LibraryComponent, split_library_name};
use super::context::{BinaryFile, Inode, InventoryContext};
use super::gpu_code;
use super::links::{Links, ObjectId, site_root};
use super::packages::Packages;
use super::value::{Component, ForwardCompat, Library, Role, Supplier, Toolkit, VersionSource};
use crate::base::text::{escape, printable};
use crate::formats::binary::FileFacts;
use crate::formats::elf::{ElfFacts, ElfKind};
use crate::rootfs::NodeId;

/// Input of the library detection.
pub(super) struct LibraryContext<'a> {
    pub(super) context: &'a InventoryContext<'a>,
    pub(super) packages: &'a Packages,
    pub(super) links: &'a Links,
    pub(super) toolkits: &'a [Toolkit],
    /// Install folders of conda packages.
    pub(super) conda_roots: &'a [Vec<u8>],
    /// Names of the binaries with several names.
    pub(super) names: HashMap<Inode, Vec<NodeId>>,
}

/// All names of the binaries with several names.
pub(super) fn names(context: &InventoryContext<'_>) -> HashMap<Inode, Vec<NodeId>> {
    let mut names: HashMap<Inode, Vec<NodeId>> = HashMap::new();
    for file in &context.binaries {
        names.entry(file.inode).or_default().push(file.node);
    }
    names.retain(|_, names| names.len() > 1);
    names
}

/// All libraries, sorted by path.
pub(super) fn find(around: &LibraryContext<'_>) -> Vec<Library> {
    let objects: HashMap<Inode, ObjectId> = around
        .links
        .ids()
        .filter_map(|id| Some((around.context.node(around.links.object(id).node).content()?, id)))
        .collect();
    let mut first: HashMap<Inode, NodeId> = HashMap::new();
    let mut found = Vec::new();
    for file in &around.context.binaries {
        let FileFacts::Elf(elf) = file.facts else { continue };
        let Some(object) = objects.get(&file.inode) else { continue };
        let name = around.context.node(file.node).name();
        if !gpu_code::is_library_name(name) || elf.cubin.is_some() || elf.kind != ElfKind::SharedObject {
            continue;
        }
        let component = component(around, file, elf);
        let has_code = elf.gpu.as_ref().is_some_and(|gpu| !gpu.rows.is_empty());
        if component.is_none() && !has_code {
            continue;
        }
        let hard_link_of = first.get(&file.inode).copied();
        first.entry(file.inode).or_insert(file.node);
        found.push(library(around, file, elf, *object, component, hard_link_of));
    }
    found
}

/// The component by file name, otherwise by soname, so that renamed copies are recognised.
fn component<'a>(
    around: &LibraryContext<'a>,
    file: &BinaryFile<'_>,
    elf: &ElfFacts,
) -> Option<&'a LibraryComponent> {
    let catalog = around.context.catalog;
    catalog
        .component_of(around.context.node(file.node).name())
        .or_else(|| catalog.component_of(elf.soname.as_deref()?))
}

fn library(
    around: &LibraryContext<'_>,
    file: &BinaryFile<'_>,
    elf: &ElfFacts,
    object: ObjectId,
    component: Option<&LibraryComponent>,
    hard_link_of: Option<NodeId>,
) -> Library {
    let context = around.context;
    let path = context.path(file.node);
    let package = around.packages.owners.of(file.node);
    let role = role(around, &path, package, component);
    let gpu = elf.gpu.as_deref();
    let (overhead_bytes, gpu_section_bytes) = gpu_code::section_sums(gpu);
    Library {
        node: file.node,
        object,
        hard_link_of,
        soname: elf.soname.as_deref().map(escape),
        component: component
            .map_or_else(|| Arc::from("other"), |component| Arc::from(component.name.as_str())),
        version: version(around, file, elf, package, component),
        cuda_major: cuda_major(around, &path, elf, package, component),
        role,
        bytes: context.size(file.inode),
        layer: file.inode.0,
        supplier: supplier(around, &path, package),
        package,
        foreign: foreign(context, elf),
        forward_compat: elf.forward_compat.as_deref().and_then(|note| serde_json::from_str(note).ok()),
        gpu_code: gpu_code::of(file.facts),
        containers: gpu_code::containers(file.facts),
        overhead_bytes,
        gpu_section_bytes,
    }
}

fn has_part(path: &[u8], part: &[u8]) -> bool {
    path.split(|byte| *byte == b'/').any(|one| one == part)
}

fn role(
    around: &LibraryContext<'_>,
    path: &[u8],
    package: Option<usize>,
    component: Option<&LibraryComponent>,
) -> Role {
    let owner = package.map(|place| around.packages.list[place].name.as_str());
    // Outside a toolkit a folder of that name may have any content; a driver library in it is still a stub.
    let toolkit = around.context.catalog.toolkit_root(path).is_some();
    if has_part(path, b"stubs") && (toolkit || component.is_some_and(|component| component.driver)) {
        Role::Stub
    } else if owner.is_some_and(|name| name.starts_with("cuda-compat"))
        || (has_part(path, b"compat") && around.context.catalog.toolkit_root(path).is_some())
    {
        Role::Compat
    } else {
        Role::Runtime
    }
}

fn supplier(around: &LibraryContext<'_>, path: &[u8], package: Option<usize>) -> Supplier {
    let below = |root: &[u8]| path.strip_prefix(root).is_some_and(|rest| rest.starts_with(b"/"));
    let catalog = around.context.catalog;
    let owner = package.map(|place| &around.packages.list[place]);
    let of_nvidia = || {
        let owner = owner.filter(|owner| owner.is_of_system());
        owner.is_some_and(|owner| catalog.is_nvidia_package(&owner.name, owner.maker.as_deref()))
    };
    if has_part(path, b"site-packages") || has_part(path, b"dist-packages") {
        Supplier::Wheel
    } else if around.conda_roots.iter().any(|root| below(root)) {
        Supplier::Conda
    } else if around.toolkits.iter().any(|toolkit| below(&toolkit.root))
        || catalog.toolkit_root(path).is_some()
        || below(b"/opt/nvidia")
        || of_nvidia()
    {
        Supplier::Toolkit
    } else if owner.is_some() || is_system_folder(path) {
        Supplier::Distro
    } else {
        Supplier::Application
    }
}

/// Whether a path is in a folder that only the distribution writes to.
pub(super) fn is_system_folder(path: &[u8]) -> bool {
    const SYSTEM: [&[u8]; 8] =
        [b"/lib/", b"/lib64/", b"/lib32/", b"/usr/lib/", b"/usr/lib64/", b"/usr/lib32/", b"/bin/", b"/sbin/"];
    SYSTEM.iter().any(|folder| path.starts_with(folder))
}

/// The version: from the file name if it has more numbers than the soname, otherwise from another name of the
/// same file, the forward-compatibility note, or the package.
fn version(
    around: &LibraryContext<'_>,
    file: &BinaryFile<'_>,
    elf: &ElfFacts,
    package: Option<usize>,
    component: Option<&LibraryComponent>,
) -> Option<(String, VersionSource)> {
    let context = around.context;
    let soname_numbers =
        elf.soname.as_deref().and_then(split_library_name).map_or(0, |name| name.version.len());
    let full = |name: &[u8]| {
        let split = split_library_name(name)?;
        let says_more = split.version.len() > soname_numbers && split.version.len() > 1;
        says_more.then(|| escape(split.suffix))
    };
    let node = context.node(file.node);
    if let Some(version) = full(node.name()) {
        return Some((version, VersionSource::FileName));
    }
    // Another name of the same inode, such as `libnccl.so.2.28.3` for `libnccl.so.2`.
    let names = around.names.get(&file.inode).map(Vec::as_slice).unwrap_or_default();
    let folder = node.parent().id();
    let sibling = names
        .iter()
        .map(|name| context.node(*name))
        .filter(|name| name.parent().id() == folder)
        .filter_map(|name| full(name.name()))
        .min();
    if let Some(version) = sibling {
        return Some((version, VersionSource::Link));
    }
    let compat: Option<ForwardCompat> =
        elf.forward_compat.as_deref().and_then(|text| serde_json::from_str(text).ok());
    if let Some(version) = compat.and_then(|compat| compat.cuda_version) {
        return Some((printable(&version), VersionSource::Note));
    }
    let package = &around.packages.list[package?];
    // The version of a package does not apply to bundled libraries of other projects.
    let catalog = context.catalog;
    let fits = catalog
        .component_of_package(&package.name)
        .is_some_and(|of| component.is_some_and(|is| is.name == of.name));
    fits.then(|| (upstream(package.manager, &package.version).to_owned(), VersionSource::Package))
}

/// A package version without epoch and revision.
pub(super) fn upstream<'a>(manager: &str, version: &'a str) -> &'a str {
    let version = version.split_once(':').map_or(version, |(_, rest)| rest);
    match manager {
        "dpkg" | "rpm" | "apk" => {
            let version = version.split_once('-').map_or(version, |(upstream, _)| upstream);
            version.split_once('+').map_or(version, |(upstream, _)| upstream)
        }
        _ => version,
    }
}

/// CUDA major version with its evidence: package and folder distinguish versions with equal sonames.
fn cuda_major(
    around: &LibraryContext<'_>,
    path: &[u8],
    elf: &ElfFacts,
    package: Option<usize>,
    component: Option<&LibraryComponent>,
) -> Option<(u32, String)> {
    if let Some(package) = package.map(|place| &around.packages.list[place]) {
        if let Some(major) = around.context.catalog.cuda_of_package_name(&package.name) {
            return Some((major, format!("package {}", package.name)));
        }
        if let Some(major) = cuda_of_version(&package.version) {
            return Some((major, format!("package {} {}", package.name, package.version)));
        }
    }
    let below = |root: &[u8]| path.strip_prefix(root).is_some_and(|rest| rest.starts_with(b"/"));
    for toolkit in around.toolkits.iter().filter(|toolkit| below(&toolkit.root)) {
        let version = toolkit.version.as_deref().unwrap_or_default();
        if let Some(major) = version.split('.').next().and_then(|major| major.parse().ok()) {
            return Some((major, format!("toolkit {}", escape(&toolkit.root))));
        }
    }
    if let Some(major) = site_root(path).and_then(|(_, below)| folder_major(below)) {
        return Some((major, format!("folder nvidia/cu{major}")));
    }
    let component = component?;
    let soname = elf.soname.as_deref()?;
    match component.cuda_of_soname(soname) {
        [major] => Some((*major, format!("soname {}", escape(soname)))),
        _ => None,
    }
}

/// CUDA major version from the version of a package that exists for several, such as 12 for
/// `8.9.7.29-1+cuda12.2`.
fn cuda_of_version(version: &str) -> Option<u32> {
    version.split_once("+cuda")?.1.split('.').next()?.parse().ok()
}

/// CUDA major version from the folder of a CUDA 13 wheel below `site-packages`, such as 13 for
/// `nvidia/cu13/…`.
fn folder_major(below: &[u8]) -> Option<u32> {
    let part = below.strip_prefix(b"nvidia/cu")?.split(|byte| *byte == b'/').next()?;
    let digits = str::from_utf8(part).ok()?;
    digits.parse().ok().filter(|major| (10..100).contains(major))
}

/// Name of the ELF machine if it does not match the image's platform; `None` if it does.
fn foreign(context: &InventoryContext<'_>, elf: &ElfFacts) -> Option<String> {
    let platform = context.input.image.platform.as_ref()?;
    let wanted = match platform.architecture.as_str() {
        "amd64" => (62, true),
        "386" => (3, false),
        "arm64" => (183, true),
        "arm" => (40, false),
        "ppc64le" => (21, true),
        "s390x" => (22, true),
        "riscv64" => (243, true),
        _ => return None,
    };
    let is = (elf.machine, elf.class64);
    (is != wanted).then(|| machine_name(is))
}

/// Name of an ELF machine; unknown ones by number.
fn machine_name((machine, class64): (u16, bool)) -> String {
    match (machine, class64) {
        (62, true) => "x86_64".into(),
        (62, false) => "x32".into(),
        (3, _) => "i386".into(),
        (183, _) => "aarch64".into(),
        (40, _) => "arm".into(),
        (21, _) => "ppc64".into(),
        (22, _) => "s390x".into(),
        (243, _) => "riscv".into(),
        (machine, _) => format!("machine {machine}"),
    }
}

/// Sums by component, each inode once, largest first.
pub(super) fn components(libraries: &[Library]) -> Vec<Component> {
    let mut sums: BTreeMap<&Arc<str>, Component> = BTreeMap::new();
    for library in libraries.iter().filter(|library| library.hard_link_of.is_none()) {
        let sum = sums.entry(&library.component).or_insert_with(|| Component {
            name: Arc::clone(&library.component),
            bytes: 0,
            libraries: 0,
            suppliers: Vec::new(),
        });
        sum.bytes += library.bytes;
        sum.libraries += 1;
        if !sum.suppliers.contains(&library.supplier) {
            sum.suppliers.push(library.supplier);
        }
    }
    let mut sums: Vec<Component> = sums.into_values().collect();
    for sum in &mut sums {
        sum.suppliers.sort_unstable();
    }
    sums.sort_by_key(|sum| std::cmp::Reverse(sum.bytes));
    sums
}
