//! Frameworks and servers, their CUDA version, and the source of their CUDA libraries.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::catalog::{self, CudaClue, FrameworkLevel, normalized_python_name, split_library_name};
use super::classes::is_framework_component;
use super::context::InventoryContext;
use super::links::{Links, ObjectId, Resolution};
use super::packages::Packages;
use super::value::{Framework, Level, Library, Strategy, Supplier};
use crate::base::text::printable;
use crate::formats::binary::FileFacts;
use crate::formats::document::DocumentKind;
use crate::formats::packages::pip;

/// Input of the framework detection.
pub(super) struct Evidence<'a> {
    pub(super) context: &'a InventoryContext<'a>,
    pub(super) packages: &'a Packages,
    pub(super) links: &'a Links,
    pub(super) libraries: &'a [Library],
}

/// All frameworks, sorted by name and path.
pub(super) fn find(evidence: &Evidence<'_>) -> Vec<Framework> {
    let mut groups: BTreeMap<(&str, Vec<u8>), Vec<usize>> = BTreeMap::new();
    for (place, package) in evidence.packages.list.iter().enumerate() {
        // A conda or distribution package may also have pip metadata: it is listed once.
        if evidence.packages.is_double(place) {
            continue;
        }
        if let Some(framework) = evidence.context.catalog.framework_of_package(package.manager, &package.name)
        {
            let root = package.root.clone().unwrap_or_default();
            groups.entry((&framework.name, root)).or_default().push(place);
        }
    }
    let mut found: Vec<Framework> = groups
        .iter()
        .filter_map(|((name, root), places)| {
            let rule = evidence.context.catalog.framework(name)?;
            Some(evidence.packaged(rule, root, places))
        })
        .collect();
    found.extend(evidence.unpackaged(&groups));
    found.sort_by(|a, b| (&a.name, &a.path).cmp(&(&b.name, &b.path)));
    found
}

pub(super) fn level(level: FrameworkLevel) -> Level {
    match level {
        FrameworkLevel::Server => Level::Server,
        FrameworkLevel::Model => Level::Model,
        FrameworkLevel::Framework => Level::Framework,
        FrameworkLevel::Kernels => Level::Kernels,
    }
}

impl Evidence<'_> {
    /// A framework installed by packages; the package with its name, if any, determines version and path.
    fn packaged(&self, rule: &catalog::Framework, root: &[u8], places: &[usize]) -> Framework {
        let list = &self.packages.list;
        let named = |place: &&usize| normalized_python_name(&list[**place].name) == rule.name;
        let main = places.iter().find(named).or(places.first()).copied();
        let main = main.map(|place| &list[place]);
        let torch = if rule.name == "torch" { self.torch_version(rule, root) } else { None };
        let (said_version, said_cuda) = torch.unzip();
        let version = said_version.or_else(|| Some(main?.version.clone()));
        let owned = self.owned_by(places);
        let mut core: Vec<ObjectId> = owned.iter().copied().filter(|id| self.is_core(rule, *id)).collect();
        let unlisted = places.iter().all(|place| list[*place].files.is_none());
        if core.is_empty() && !root.is_empty() {
            // Without a file list, or with other files in place of the listed ones, core libraries are
            // searched below the same folder.
            core = self.cores_below(rule, root, |owner| owner.is_none_or(|owner| places.contains(&owner)));
        }
        let without_core = core.is_empty();
        let objects = if without_core { owned } else { core };
        let cuda_version = said_cuda
            .flatten()
            .or_else(|| {
                places
                    .iter()
                    .find_map(|place| rule.cuda_of_package(&list[*place].name, &list[*place].version))
            })
            .or_else(|| self.cuda_of_soname(rule, &objects));
        let is_cpu = places.iter().any(|place| {
            let version = version.as_deref().unwrap_or(&list[*place].version);
            rule.is_cpu_build(&list[*place].name, version)
        });
        let other = places
            .iter()
            .any(|place| rule.is_for_other_devices(version.as_deref().unwrap_or(&list[*place].version)));
        let (strategy, why) = if other {
            (Strategy::None, "built for other devices, according to its version".to_owned())
        } else if is_cpu {
            (Strategy::None, "built without CUDA, according to its name or version".to_owned())
        } else if objects.is_empty() && unlisted && rule.may_hold_code() {
            (Strategy::Unknown, "list of its files missing".to_owned())
        } else {
            self.strategy(rule, &objects, without_core)
        };
        Framework {
            name: Arc::from(rule.name.as_str()),
            version,
            cuda_version: cuda_version.filter(|_| !is_cpu && !other),
            strategy,
            evidence: why,
            path: if root.is_empty() { b"/".to_vec() } else { root.to_vec() },
            level: level(rule.level),
            package: places.iter().find(named).or(places.first()).copied(),
        }
    }

    /// Frameworks recognised by their files, one for each folder: those without an owning package, and those
    /// in a package with another name.
    fn unpackaged(&self, packaged: &BTreeMap<(&str, Vec<u8>), Vec<usize>>) -> Vec<Framework> {
        let mut found: BTreeMap<(&str, Vec<u8>), Vec<ObjectId>> = BTreeMap::new();
        let mut walker = self.context.catalog.walker();
        for id in self.links.ids() {
            let node = self.links.object(id).node;
            let path = self.context.path(node);
            let Some(rule) = walker.path(&path).framework else { continue };
            let owner = self.packages.owners.of(node);
            let told = packaged.iter().any(|((name, root), places)| {
                *name == rule.name
                    && (owner.is_some_and(|owner| places.contains(&owner))
                        || (!root.is_empty() && is_below(&path, root)))
            });
            if !told {
                found.entry((&rule.name, home(&path).to_vec())).or_default().push(id);
            }
        }
        found
            .into_iter()
            .filter_map(|((name, folder), matched)| {
                let rule = self.context.catalog.framework(name)?;
                let package = matched.iter().find_map(|id| {
                    let node = self.links.object(*id).node;
                    self.packages.owners.of(node)
                });
                let core = self.cores_below(rule, &folder, |owner| owner == package);
                let without_core = core.is_empty();
                let version = matched.iter().find_map(|id| self.library_version(*id));
                let objects = if without_core { matched } else { core };
                let (strategy, evidence) = self.strategy(rule, &objects, without_core);
                Some(Framework {
                    name: Arc::from(name),
                    version,
                    cuda_version: self.cuda_of_soname(rule, &objects),
                    strategy,
                    evidence,
                    path: folder,
                    level: level(rule.level),
                    package,
                })
            })
            .collect()
    }

    fn library_version(&self, object: ObjectId) -> Option<String> {
        let library = self.libraries.iter().find(|library| library.object == object)?;
        library.version.as_ref().map(|(version, _)| version.clone())
    }

    /// Version and CUDA version from `torch/version.py`, which has the local version part and the CUDA
    /// version; `METADATA` of the index does not.
    fn torch_version(&self, rule: &catalog::Framework, root: &[u8]) -> Option<(String, Option<String>)> {
        const FILE: &str = "torch/version.py";
        let visible = self.context.visible(DocumentKind::TorchVersion);
        let text = visible.iter().find_map(|file| {
            let path = self.context.path(file.node);
            let folder = path.strip_suffix(FILE.as_bytes())?.strip_suffix(b"/")?;
            is_python_folder_of(folder, root).then(|| file.document.bytes().ok())?
        })?;
        Some((printable(&pip::torch_version(&text)?), rule.cuda_of_file(FILE, &text)))
    }

    /// The objects owned by these packages.
    fn owned_by(&self, places: &[usize]) -> Vec<ObjectId> {
        let of_them = |id: &ObjectId| {
            let owner = self.packages.owners.of(self.links.object(*id).node);
            owner.is_some_and(|owner| places.contains(&owner))
        };
        self.links.ids().filter(of_them).collect()
    }

    /// The core libraries below a folder whose owner passes `fits`.
    fn cores_below(
        &self,
        rule: &catalog::Framework,
        folder: &[u8],
        fits: impl Fn(Option<usize>) -> bool,
    ) -> Vec<ObjectId> {
        let wanted = |id: &ObjectId| {
            let node = self.links.object(*id).node;
            self.is_core(rule, *id)
                && fits(self.packages.owners.of(node))
                && is_below(&self.context.path(node), folder)
        };
        self.links.ids().filter(wanted).collect()
    }

    fn is_core(&self, rule: &catalog::Framework, object: ObjectId) -> bool {
        let node = self.context.node(self.links.object(object).node);
        split_library_name(node.name())
            .is_some_and(|name| rule.core_libraries.iter().any(|stem| stem.as_bytes() == name.stem))
    }

    /// CUDA major version from the soname of a CUDA library in the NEEDED entries of the objects.
    fn cuda_of_soname(&self, rule: &catalog::Framework, objects: &[ObjectId]) -> Option<String> {
        let ways = rule.cuda_from.iter().filter(|way| way.clue == CudaClue::Soname);
        for stem in ways.filter_map(|way| way.library.as_deref()) {
            for id in objects {
                for need in &self.links.object(*id).needs {
                    let Some(name) = split_library_name(need.name.as_bytes()) else { continue };
                    if let (true, Some(major)) = (name.stem == stem.as_bytes(), name.version.first()) {
                        return Some(major.to_string());
                    }
                }
            }
        }
        None
    }

    /// Source of the CUDA libraries that the objects need and open.
    fn strategy(
        &self,
        rule: &catalog::Framework,
        objects: &[ObjectId],
        without_core: bool,
    ) -> (Strategy, String) {
        let mut suppliers: BTreeMap<Supplier, usize> = BTreeMap::new();
        let mut names: BTreeSet<String> = BTreeSet::new();
        let mut missing: BTreeSet<&str> = BTreeSet::new();
        let has_code = objects.iter().any(|id| self.has_gpu_code(*id));
        if without_core && rule.cpu.without_core_library && !has_code {
            let stems = rule.core_libraries.join(", ");
            return (Strategy::None, format!("no library of its GPU part found: {stems}"));
        }
        for id in objects {
            let object = self.links.object(*id);
            let needed = object
                .needs
                .iter()
                .flat_map(|need| need.found.iter().map(|found| (&need.name, found, false)));
            let opened = object.opens.iter().map(|open| (&open.name, &open.found, open.optional));
            for (name, found, optional) in needed.chain(opened) {
                let component = self.context.catalog.component_of(name.as_bytes());
                if component
                    .is_none_or(|component| component.driver || is_framework_component(&component.name))
                {
                    continue;
                }
                match found {
                    Resolution::Found { object, .. } => {
                        if let Some(library) = self.libraries.iter().find(|library| library.object == *object)
                        {
                            *suppliers.entry(library.supplier).or_default() += 1;
                            names.insert(name.clone());
                        }
                    }
                    Resolution::Missing if !optional => {
                        missing.insert(name);
                    }
                    Resolution::Missing | Resolution::Host => {}
                }
            }
        }
        let some = |names: &BTreeSet<String>| names.iter().take(3).cloned().collect::<Vec<_>>().join(", ");
        let words = suppliers
            .iter()
            .map(|(supplier, count)| format!("{count} from {}", supplier.label()))
            .collect::<Vec<_>>()
            .join(", ");
        let bundled = |supplier: &Supplier| matches!(supplier, Supplier::Wheel | Supplier::Conda);
        let base = |supplier: &Supplier| matches!(supplier, Supplier::Toolkit | Supplier::Distro);
        let strategy = if suppliers.is_empty() {
            if !missing.is_empty() {
                let list = missing.iter().take(3).copied().collect::<Vec<_>>().join(", ");
                return (Strategy::Unknown, format!("not in the image: {}", printable(&list)));
            }
            if rule.static_cuda && has_code {
                return (Strategy::ByHand, "CUDA runtime linked statically".to_owned());
            }
            if has_code {
                return (
                    Strategy::Unknown,
                    "contains GPU code, needs no CUDA library of the image".to_owned(),
                );
            }
            return (Strategy::None, "contains no GPU code and needs no CUDA library".to_owned());
        } else if suppliers.keys().all(bundled) {
            Strategy::WheelBundled
        } else if suppliers.keys().all(base) {
            Strategy::BaseImage
        } else if suppliers.keys().all(|supplier| *supplier == Supplier::Application) {
            Strategy::ByHand
        } else {
            Strategy::Mixed
        };
        let more = match names.len().saturating_sub(3) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        (strategy, format!("links to CUDA libraries: {words} ({}{more})", printable(&some(&names))))
    }

    fn has_gpu_code(&self, object: ObjectId) -> bool {
        let Some((layer, entry)) = self.context.node(self.links.object(object).node).content() else {
            return false;
        };
        let facts = self.context.layer(layer).and_then(|read| read.facts.binary(entry));
        facts.and_then(FileFacts::gpu).is_some_and(|gpu| !gpu.rows.is_empty())
    }
}

fn is_below(path: &[u8], folder: &[u8]) -> bool {
    folder == b"/" || path.strip_prefix(folder).is_some_and(|rest| rest.starts_with(b"/"))
}

/// Whether `folder` contains the Python packages installed in `root`: `root` is a package folder itself, a
/// conda environment (`lib/python3.12/site-packages` below it, but not in a nested environment), or empty for
/// the system.
fn is_python_folder_of(folder: &[u8], root: &[u8]) -> bool {
    if root.is_empty() {
        return folder.starts_with(b"/usr/lib") && folder.ends_with(b"-packages");
    }
    let Some(rest) = folder.strip_prefix(root) else { return false };
    let parts: Vec<&[u8]> = rest.split(|byte| *byte == b'/').collect();
    match parts[..] {
        [b""] => true,
        [b"", b"lib", version, b"site-packages"] => version.starts_with(b"python3"),
        _ => false,
    }
}

/// The folder that identifies a framework: that of the file, without a trailing `bin` or `lib`, unless that
/// leaves a system folder.
fn home(path: &[u8]) -> &[u8] {
    let folder = |path: &[u8]| path.iter().rposition(|byte| *byte == b'/').unwrap_or(0);
    let inner = &path[..folder(path)];
    let outer = &inner[..folder(inner)];
    let is_part = [&b"/bin"[..], b"/lib", b"/lib64"].iter().any(|end| inner.ends_with(end));
    let chosen = if is_part && !matches!(outer, b"" | b"/usr" | b"/usr/local") { outer } else { inner };
    if chosen.is_empty() { b"/" } else { chosen }
}
