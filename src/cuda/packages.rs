//! Installed packages, and the package of each file.

mod automatic;
mod listed;
mod own;

use std::collections::{BTreeMap, BTreeSet};

use hashbrown::{HashMap, HashSet};

use super::context::InventoryContext;
use super::value::Package;
use crate::base::WarningCode;
use crate::base::convert::layer16;
use crate::base::text::{escape, printable};
use crate::base::warning::Warnings;
use crate::formats::document::DocumentKind;
use crate::formats::packages::dpkg::{DIVERSIONS, Diversions};
use crate::formats::packages::{self as formats, apk, conda, dpkg, pip, rpm};
use crate::jobs::both;
use crate::layer::Document;
use crate::rootfs::NodeId;
use automatic::Automatic;
use listed::{LIST_BYTES, Lists};

/// The owning package of each file of the merged view.
#[derive(Clone, Debug, Default)]
pub struct Owners {
    /// By node: package index plus 1; 0 without an owner.
    by_node: Vec<u32>,
    /// Files that several Python packages list.
    shared: HashSet<NodeId>,
}

impl Owners {
    /// The package that owns a file, as index in [`Inventory::packages`](super::Inventory::packages); `None`
    /// if no package lists it.
    pub fn of(&self, node: NodeId) -> Option<usize> {
        let place = *self.by_node.get(node.0 as usize)?;
        (place as usize).checked_sub(1)
    }

    /// Whether several Python packages list a file.
    pub fn is_shared(&self, node: NodeId) -> bool {
        self.shared.contains(&node)
    }
}

/// A package during collection.
struct PackageDraft {
    package: Package,
    /// Its own metadata file, if it has one.
    papers: Option<NodeId>,
    /// Nodes of its file list, without folders; `None` without a list.
    files: Option<Vec<NodeId>>,
    /// The highest layer whose database contains this version of it.
    last_layer: u16,
}

impl PackageDraft {
    fn new(package: Package, papers: Option<NodeId>, files: Option<Vec<NodeId>>) -> Self {
        Self { last_layer: package.layer, package, papers, files }
    }
}

/// Installed packages of an image.
#[derive(Default)]
pub(super) struct Packages {
    pub(super) list: Vec<Package>,
    pub(super) owners: Owners,
    /// Indexes of pip packages whose metadata file belongs to a package of another manager.
    doubles: BTreeSet<usize>,
}

impl Packages {
    /// Whether a pip package is also a package of another manager, which installed its metadata.
    pub(super) fn is_double(&self, place: usize) -> bool {
        self.doubles.contains(&place)
    }
}

/// Package managers by precedence of ownership: a file of a distribution's package belongs to that package,
/// even if a Python package lists it too.
const MANAGERS: [&str; 5] = ["dpkg", "rpm", "apk", "conda", "pip"];

pub(super) fn gather(context: &InventoryContext<'_>, warnings: &mut Warnings) -> Packages {
    let mut found = Vec::new();
    let mut lists = Lists::new(context);
    let automatic = Automatic::read(context);
    // In parallel, since both parse all databases.
    let (layers, ()) = both(
        || database_layers(context),
        || {
            read_dpkg(context, &automatic, &mut found, &mut lists, warnings);
            read_rpm(context, &automatic, &mut found, &mut lists, warnings);
            read_apk(context, &automatic, &mut found, &mut lists, warnings);
            read_pip(context, &mut found, &mut lists, warnings);
            read_conda(context, &mut found, &mut lists, warnings);
        },
    );
    if lists.is_full() {
        warnings.push_with(WarningCode::FactsLimited, || {
            let what = format!("the file lists of all packages exceed {LIST_BYTES} bytes: some omitted");
            ("package lists".to_owned(), what)
        });
    }
    found.sort_by(|a, b| key(&a.package).cmp(&key(&b.package)));
    // A database may be visible at two paths.
    found.dedup_by(|a, b| key(&a.package) == key(&b.package));
    for found in &mut found {
        let package = &found.package;
        let identity = identity(package.manager, &package.name, &package.version, package.root.as_deref());
        if let Some((first, last)) = layers.get(&identity) {
            found.package.layer = found.package.layer.min(*first);
            found.last_layer = found.last_layer.max(*last);
        }
    }
    let owners = own::own(context, &mut found);
    let brought = |papers: Option<NodeId>| owners.of(papers?).map(|owner| found[owner].package.manager);
    let doubles = (0..found.len())
        .filter(|place| brought(found[*place].papers).is_some_and(|manager| manager != "pip"))
        .collect();
    Packages { list: found.into_iter().map(|found| found.package).collect(), owners, doubles }
}

fn key(package: &Package) -> (&str, &str, &str, Option<&[u8]>) {
    (package.manager, &package.name, &package.version, package.root.as_deref())
}

fn rank(package: &Package) -> usize {
    MANAGERS.iter().position(|manager| *manager == package.manager).unwrap_or(MANAGERS.len())
}

fn names(from: &[String]) -> Vec<String> {
    from.iter().map(|name| printable(name)).collect()
}

fn package(manager: &'static str, from: &formats::Package, layer: u16, root: Option<Vec<u8>>) -> Package {
    Package {
        manager,
        name: printable(&from.name),
        version: printable(&from.version),
        bytes: None,
        files: None,
        layer,
        root,
        maker: from.maker.as_deref().map(printable),
        depends: names(&from.depends),
        recommends: names(&from.recommends),
        suggests: names(&from.suggests),
        provides: names(&from.provides),
        source: from.source.as_deref().map(printable),
        essential: from.essential,
        automatic: None,
    }
}

/// Parses a document, and reports its problems.
fn read(
    context: &InventoryContext<'_>,
    node: NodeId,
    document: &Document,
    warnings: &mut Warnings,
    parse: impl FnOnce(&[u8]) -> formats::Read,
) -> Vec<formats::Package> {
    let path = || escape(&context.path(node));
    match document.bytes() {
        Ok(bytes) => {
            let read = parse(&bytes);
            for problem in &read.problems {
                warnings.push_with(WarningCode::PackagesMalformed, || {
                    (path(), format!("byte {}: {}", problem.at, problem.what))
                });
            }
            read.packages
        }
        Err(error) => {
            warnings.push_with(WarningCode::PackagesMalformed, || {
                (path(), format!("second read failed: {error}"))
            });
            Vec::new()
        }
    }
}

fn read_dpkg(
    context: &InventoryContext<'_>,
    automatic: &Automatic,
    found: &mut Vec<PackageDraft>,
    lists: &mut Lists<'_>,
    warnings: &mut Warnings,
) {
    let bytes = |document: &Document| document.bytes().unwrap_or_default();
    let mut files: HashMap<Vec<u8>, Vec<NodeId>> = HashMap::new();
    let diversions = context.entry_at(DIVERSIONS).and_then(|node| {
        let (layer, entry) = context.node(node).content()?;
        Diversions::read(&bytes(context.layer(layer)?.facts.document(entry)?))
    });
    let diversions = diversions.unwrap_or_default();
    for visible in context.visible(DocumentKind::DpkgList) {
        if let Some(name) = dpkg::list_name(context.node(visible.node).name()) {
            let at = |path| {
                let to = diversions.diverted_to(path, name).filter(|to| context.entry_at(to).is_some());
                to.unwrap_or(path)
            };
            let list = lists.absolute(dpkg::list_paths(&bytes(visible.document)).map(at));
            files.entry(name.to_vec()).or_default().extend(list.unwrap_or_default());
        }
    }
    for visible in context.visible(DocumentKind::DpkgSums) {
        let name = context.node(visible.node).name();
        let name = name.strip_suffix(b".md5sums").unwrap_or(name);
        let list = dpkg::read_md5sums(&bytes(visible.document));
        let list = lists.absolute(list.iter().map(Vec::as_slice));
        files.entry(name.to_vec()).or_default().extend(list.unwrap_or_default());
    }
    for kind in [DocumentKind::DpkgStatus, DocumentKind::DpkgStatusPart] {
        for visible in context.visible(kind) {
            let layer = context.node(visible.node).layer();
            let parse =
                if kind == DocumentKind::DpkgStatus { dpkg::read_whole_status } else { dpkg::read_status };
            let packages = read(context, visible.node, visible.document, warnings, parse);
            for from in packages.into_iter().filter(|from| from.installed) {
                // Packages for two architectures have the same name, and their lists were merged: the first
                // one gets them.
                let files = files.remove(from.name.as_bytes());
                let mut package = package("dpkg", &from, layer, None);
                automatic.apt(&from, &mut package);
                found.push(PackageDraft::new(package, None, files));
            }
        }
    }
}

fn read_rpm(
    context: &InventoryContext<'_>,
    automatic: &Automatic,
    found: &mut Vec<PackageDraft>,
    lists: &mut Lists<'_>,
    warnings: &mut Warnings,
) {
    for visible in context.visible(DocumentKind::RpmJournal) {
        if visible.document.size > 0 {
            warnings.push_with(WarningCode::PackagesMalformed, || {
                let what = "has uncommitted changes (write-ahead log), which were not read";
                (escape(&context.path(visible.node)), what.to_owned())
            });
        }
    }
    for visible in context.visible(DocumentKind::Rpm) {
        let layer = context.node(visible.node).layer();
        for from in read(context, visible.node, visible.document, warnings, read_rpm_bytes) {
            let mut package = package("rpm", &from, layer, None);
            package.automatic = automatic.dnf(&from);
            let files = from.files.and_then(|files| lists.absolute(files.iter().map(Vec::as_slice)));
            found.push(PackageDraft::new(package, None, files));
        }
    }
}

fn read_rpm_bytes(bytes: &[u8]) -> formats::Read {
    match rpm::sniff(bytes) {
        Some(kind) => rpm::read(bytes, kind),
        None if bytes.is_empty() => formats::Read::default(),
        None => formats::Read {
            packages: Vec::new(),
            problems: vec![formats::Problem { at: 0, what: "unknown rpm database format".into() }],
        },
    }
}

fn read_apk(
    context: &InventoryContext<'_>,
    automatic: &Automatic,
    found: &mut Vec<PackageDraft>,
    lists: &mut Lists<'_>,
    warnings: &mut Warnings,
) {
    for visible in context.visible(DocumentKind::Apk) {
        let layer = context.node(visible.node).layer();
        for from in read(context, visible.node, visible.document, warnings, apk::read_installed) {
            let mut package = package("apk", &from, layer, None);
            package.automatic = automatic.apk(&from);
            let files = from.files.and_then(|files| lists.absolute(files.iter().map(Vec::as_slice)));
            found.push(PackageDraft::new(package, None, files));
        }
    }
}

fn read_pip(
    context: &InventoryContext<'_>,
    found: &mut Vec<PackageDraft>,
    lists: &mut Lists<'_>,
    warnings: &mut Warnings,
) {
    for visible in context.visible(DocumentKind::PipMetadata) {
        let info = context.node(visible.node).parent();
        let root = info.parent().path();
        if !is_python_folder(context, &root) || is_conda_cache(&root) {
            continue;
        }
        let layer = context.node(visible.node).layer();
        for from in read(context, visible.node, visible.document, warnings, pip::read_metadata) {
            let files = context.paths.child(info.id(), b"RECORD").and_then(|record| {
                let (layer, entry) = context.node(record).content()?;
                let document = context.layer(layer)?.facts.document(entry)?;
                let mut list = lists.relative(&root);
                read(context, record, document, warnings, |bytes| {
                    let problems = pip::record_paths(bytes, |path| list.add(path));
                    formats::Read { packages: Vec::new(), problems }
                });
                list.finish()
            });
            let package = package("pip", &from, layer, Some(root.clone()));
            found.push(PackageDraft::new(package, Some(visible.node), files));
        }
    }
}

/// Whether Python searches this folder for packages. Vendored packages (`_vendor`) and build output next to
/// sources are not installed.
fn is_python_folder(context: &InventoryContext<'_>, folder: &[u8]) -> bool {
    let mut parts = folder.rsplit(|byte| *byte == b'/');
    let (name, above) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    let trimmed = |listed: &str| listed.trim_end_matches('/').as_bytes() == folder;
    matches!(name, b"site-packages" | b"dist-packages")
        || (name.starts_with(b"python3") && matches!(above, b"lib" | b"lib64"))
        || context.variable("PYTHONPATH").is_some_and(|list| list.split(':').any(trimmed))
}

/// Whether a packages folder is in conda's package cache, `pkgs/NAME/lib/python3.12/site-packages` or
/// `pkgs/NAME/site-packages`, which has hard links of installed files among others.
fn is_conda_cache(folder: &[u8]) -> bool {
    let parts: Vec<&[u8]> = folder.rsplit(|byte| *byte == b'/').take(5).collect();
    matches!(parts[..], [_, _, b"lib", _, b"pkgs"] | [_, _, b"pkgs", ..])
}

fn read_conda(
    context: &InventoryContext<'_>,
    found: &mut Vec<PackageDraft>,
    lists: &mut Lists<'_>,
    warnings: &mut Warnings,
) {
    for visible in context.visible(DocumentKind::CondaMeta) {
        let root = context.node(visible.node).parent().parent().path();
        let layer = context.node(visible.node).layer();
        for from in read(context, visible.node, visible.document, warnings, conda::read_meta) {
            let files = from.files.as_ref().and_then(|files| {
                let mut list = lists.relative(&root);
                for file in files {
                    list.add(file);
                }
                list.finish()
            });
            let package = package("conda", &from, layer, Some(root.clone()));
            found.push(PackageDraft::new(package, None, files));
        }
    }
}

/// Manager, name, version, and install folder for managers with several.
type Identity = (&'static str, String, String, Option<Vec<u8>>);

/// Identity of a package version across layers. Packages in different Python environments are different.
fn identity(manager: &'static str, name: &str, version: &str, root: Option<&[u8]>) -> Identity {
    (manager, name.to_owned(), version.to_owned(), root.map(<[u8]>::to_vec))
}

/// The lowest and the highest layer whose database contains each version of each package, shadowed databases
/// included.
fn database_layers(context: &InventoryContext<'_>) -> BTreeMap<Identity, (u16, u16)> {
    let mut layers: BTreeMap<Identity, (u16, u16)> = BTreeMap::new();
    for layer in 0..layer16(context.input.layers.len()) {
        let Some(read) = context.layer(layer) else { continue };
        for document in read.facts.documents() {
            let (manager, parse): (_, fn(&[u8]) -> formats::Read) = match document.kind {
                DocumentKind::DpkgStatus | DocumentKind::DpkgStatusPart => ("dpkg", dpkg::read_status),
                DocumentKind::Rpm => ("rpm", read_rpm_bytes),
                DocumentKind::Apk => ("apk", apk::read_installed),
                DocumentKind::PipMetadata => ("pip", pip::read_metadata),
                DocumentKind::CondaMeta => ("conda", conda::read_meta),
                _ => continue,
            };
            let Ok(bytes) = document.bytes() else { continue };
            let index = context.rootfs.layer(layer);
            // Both store the document in a folder of its own below the packages folder or environment.
            let root = matches!(manager, "pip" | "conda")
                .then(|| index.dir_path(index.dir_parent(index.dir(document.entry))));
            let root = root.map(|root| if root.is_empty() { b"/".to_vec() } else { root });
            for package in parse(&bytes).packages.into_iter().filter(|package| package.installed) {
                let (name, version) = (printable(&package.name), printable(&package.version));
                let identity = identity(manager, &name, &version, root.as_deref());
                layers.entry(identity).or_insert((layer, layer)).1 = layer;
            }
        }
    }
    layers
}
