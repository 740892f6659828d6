//! The image, prepared for deriving its requirements.

use hashbrown::{HashMap, HashSet};

use super::environments;
use crate::base::text::escape;
use crate::base::{Warning, WarningCode};
use crate::cuda::catalog::Catalog;
use crate::cuda::classes::is_framework_component;
use crate::cuda::compat::{CodeFile, NeedsInput, Weight};
use crate::cuda::links::{ObjectId, Paths, RootKind, SHELLS};
use crate::cuda::{Inode, Inventory, Library, Role, Use};
use crate::layer::ContentHash;
use crate::rootfs::{NodeId, Rootfs};

pub(super) struct Look<'a> {
    pub(super) input: &'a NeedsInput<'a>,
    pub(super) rootfs: &'a Rootfs,
    pub(super) inventory: &'a Inventory,
    pub(super) catalog: &'a Catalog,
    pub(super) paths: Paths<'a>,
    /// Run-time libraries in use for this architecture, each inode once.
    pub(super) libraries: Vec<&'a Library>,
    /// By object id: whether it is certainly loaded, from a root that counts.
    firm: Vec<bool>,
    /// Package folders that the start command does not use, or possibly not.
    aside: Vec<Vec<u8>>,
    /// By object id: whether it is certainly loaded from the entrypoint, the command or a preload.
    started: Vec<bool>,
    objects: HashMap<Inode, ObjectId>,
}

impl<'a> Look<'a> {
    pub(super) fn new(input: &'a NeedsInput<'a>) -> Self {
        let (inventory, rootfs) = (input.inventory, &input.merge.rootfs);
        let links = &inventory.links;
        let starts = |kind: RootKind| matches!(kind, RootKind::Entrypoint | RootKind::Preload);
        let inode = |id: ObjectId| rootfs.node(links.object(id).node).content();
        let mut look = Self {
            input,
            rootfs,
            inventory,
            catalog: input.catalog,
            paths: Paths::new(rootfs),
            libraries: Vec::new(),
            firm: Vec::new(),
            aside: Vec::new(),
            started: links.firmly_reached(|_, root| starts(root.kind)),
            objects: links.ids().filter_map(|id| Some((inode(id)?, id))).collect(),
        };
        let in_use = |library: &&Library| {
            library.hard_link_of.is_none()
                && library.foreign.is_none()
                && library.role == Role::Runtime
                && look.is_used(library.object)
        };
        look.libraries = inventory.libraries.iter().filter(in_use).collect();
        look.aside = environments::aside(&look);
        // Other programs are certainly started only if the image starts a script and no started program uses
        // CUDA itself.
        let starts_others = look.starts_script() && !look.starts_cuda();
        look.firm = links.firmly_reached(|object, root| match root.kind {
            RootKind::Entrypoint | RootKind::Preload => true,
            RootKind::Executable => starts_others,
            RootKind::Extension => !look.is_aside(object.node),
        });
        look
    }

    /// Whether the image starts a shell, or no known program.
    fn starts_script(&self) -> bool {
        let links = &self.inventory.links;
        let mut started = links.ids().filter(|id| self.is_started(*id)).peekable();
        let name = |id: ObjectId| self.rootfs.node(links.object(id).node).name();
        started.peek().is_none() || started.any(|id| SHELLS.contains(&name(id)) || name(id) == b"busybox")
    }

    /// Whether a started program certainly loads CUDA or the driver, or contains GPU code.
    fn starts_cuda(&self) -> bool {
        let links = &self.inventory.links;
        let mut known = Names::default();
        let holders = self.inventory.holders.iter().map(|holder| holder.node);
        let programs = holders.filter_map(|node| self.object_at(node));
        let libraries = self.libraries.iter().filter(|library| !library.gpu_code.is_empty());
        let holds = programs.chain(libraries.map(|library| library.object)).any(|id| self.is_started(id));
        holds
            || links
                .ids()
                .filter(|id| self.is_started(*id))
                .any(|id| links.object(id).needs.iter().any(|need| known.is_cuda(self, &need.name)))
    }

    /// Whether a file is in a package folder that the started program does not use, or possibly not.
    pub(super) fn is_aside(&self, node: NodeId) -> bool {
        if self.aside.is_empty() {
            return false;
        }
        let path = self.path(node);
        let is_in =
            |folder: &Vec<u8>| path.strip_prefix(&folder[..]).is_some_and(|rest| rest.starts_with(b"/"));
        self.aside.iter().any(is_in)
    }

    /// A started or deciding file, and a CUDA library that it needs and that is not in the image.
    fn lacks(&self, code: &[CodeFile]) -> Option<(NodeId, &'a str)> {
        let links = &self.inventory.links;
        let mut known = Names::default();
        let decide = code.iter().filter(|file| file.weight == Weight::Decides);
        let decide: HashSet<&str> = decide.map(|file| &*file.path).collect();
        let counts =
            |id: ObjectId| self.is_started(id) || decide.contains(&*self.shown(links.object(id).node));
        let lacking = links.ids().filter(|id| self.is_used(*id)).flat_map(|id| {
            let missing = links.object(id).needs.iter().filter(|need| need.is_missing());
            missing.map(move |need| (id, &*need.name))
        });
        let lacking: Vec<(ObjectId, &str)> =
            lacking.filter(|(id, name)| known.is_cuda(self, name) && counts(*id)).collect();
        if lacking.is_empty() {
            return None;
        }
        // A previously imported module may have loaded it.
        let libraries = &self.inventory.libraries;
        let sonames = libraries.iter().filter_map(|library| library.soname.clone());
        let names = libraries.iter().map(|library| escape(self.rootfs.node(library.node).name()));
        let there: HashSet<String> = sonames.chain(names).collect();
        let found = lacking.into_iter().find(|(_, name)| !there.contains(*name));
        found.map(|(id, name)| (links.object(id).node, name))
    }

    /// Whether it is reachable from a root or a root itself.
    pub(super) fn is_used(&self, id: ObjectId) -> bool {
        let object = self.inventory.links.object(id);
        object.usage != Use::Unreferenced || object.root.is_some()
    }

    pub(super) fn is_firm(&self, id: ObjectId) -> bool {
        self.firm.get(id.0 as usize).copied().unwrap_or(false)
    }

    pub(super) fn is_started(&self, id: ObjectId) -> bool {
        self.started.get(id.0 as usize).copied().unwrap_or(false)
    }

    /// The object of a program or library.
    pub(super) fn object_at(&self, node: NodeId) -> Option<ObjectId> {
        self.objects.get(&self.rootfs.node(node).content()?).copied()
    }

    /// Absolute path, as bytes.
    pub(super) fn path(&self, node: NodeId) -> Vec<u8> {
        self.rootfs.node(node).path()
    }

    /// Absolute path, escaped for display.
    pub(super) fn shown(&self, node: NodeId) -> String {
        escape(&self.path(node))
    }

    /// Hash of an inode's content; `None` if its bytes were not read.
    pub(super) fn hash(&self, inode: Inode) -> Option<&'a ContentHash> {
        let layer = self.input.layers.get(usize::from(inode.0)).and_then(Option::as_ref);
        let passed = layer.and_then(|read| read.facts.hash(inode.1));
        passed.or_else(|| self.input.bodies.hashes.get(&inode))
    }

    /// Environment of the image, as `NAME=VALUE`.
    pub(super) fn environment(&self) -> &'a [String] {
        self.input.image.environment()
    }

    /// Value of a variable, empty if unset; the last one takes precedence.
    pub(super) fn variable(&self, name: &str) -> &'a str {
        self.input.image.variable(name).unwrap_or_default()
    }

    /// Why the requirements may be incomplete; `None` if complete.
    pub(super) fn incomplete(&self, code: &[CodeFile]) -> Option<String> {
        if !self.input.complete {
            return Some("the image could not be read completely".to_owned());
        }
        let layers = self.input.layers.iter().flatten();
        let mut warnings = layers.flat_map(|read| &read.warnings).chain(&self.inventory.warnings);
        if let Some(warning) = warnings.find(|warning| hides_binaries(warning)) {
            return Some(warning.message.clone());
        }
        if let Some((node, name)) = self.lacks(code) {
            return Some(format!("{} needs {name}, which is not in the image", self.shown(node)));
        }
        let malformed: HashSet<&str> = self
            .inventory
            .warnings
            .iter()
            .filter(|warning| warning.code == WarningCode::BinaryMalformed)
            .map(|warning| warning.subject.as_str())
            .collect();
        if malformed.is_empty() {
            return None;
        }
        let nodes = self.libraries.iter().map(|library| library.node);
        let mut faults = nodes.map(|node| self.shown(node)).filter(|path| malformed.contains(path.as_str()));
        faults.next().map(|path| format!("{path} is in use and could not be read completely"))
    }
}

/// Whether a warning means that programs or libraries were not read.
fn hides_binaries(warning: &Warning) -> bool {
    match warning.code {
        WarningCode::FactsLimited => {
            matches!(warning.subject.as_str(), "binaries" | "facts" | "CUDA inventory")
        }
        WarningCode::LinksOddity => {
            warning.message.starts_with("the search for libraries stopped at its limit")
        }
        _ => false,
    }
}

/// Whether a component belongs to CUDA: not to a framework, the driver or the `OpenCL` loader.
pub(super) fn is_cuda_component(name: &str) -> bool {
    !is_framework_component(name) && !matches!(name, "driver" | "opencl" | "tensorrt")
}

/// Whether library names belong to CUDA or its driver, cached because many files need the same ones.
#[derive(Default)]
pub(super) struct Names<'n>(HashMap<&'n str, bool>);

impl<'n> Names<'n> {
    pub(super) fn is_cuda(&mut self, look: &Look<'_>, name: &'n str) -> bool {
        *self.0.entry(name).or_insert_with(|| {
            let component = look.catalog.component_of(name.as_bytes());
            component.is_some_and(|is| is_cuda_component(&is.name) || is.name == "tensorrt")
                || name.starts_with("libcuda.so")
        })
    }
}
