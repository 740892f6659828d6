//! Why a library that nothing reaches can go, or which question is left.

use std::collections::HashSet;

use super::super::common::holds;
use crate::cuda::links::{RootKind, folder_of, site_root};
use crate::cuda::{Library, Supplier, Use};
use crate::findings::demand::Certainty;
use crate::findings::facts::Facts;
use crate::findings::value::User;

/// Why a library is told as it is; what is the same is told together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Because {
    Free,
    /// The image has no application whose needs could be known.
    NoApplication,
    /// A file of the application names it.
    Named,
    /// Something that is reached opens a library of this name, and does not find this one.
    Opened,
    /// Something that is installed builds programs, which may link it, or reads it.
    Read,
    /// Not all programs of the application could be searched.
    Unsearched,
    /// A part of a library whose other parts are used.
    Part,
    /// Only the builder of `TensorRT` opens it.
    BuilderResource,
    /// `GPUDirect` Storage is configured.
    Storage,
    /// An installed package brought it.
    Recorded,
    /// Whoever made the image put it there.
    ByHand,
}

impl Because {
    pub(super) fn title(self) -> &'static str {
        match self {
            Self::Free => "",
            Self::NoApplication => ", in an image without an application",
            Self::Named => ", which the application names",
            Self::Opened => ", of a name that something opens",
            Self::Read => ", where programs are built at run time",
            Self::Unsearched => ", as far as could be searched",
            Self::Part => ", parts of libraries that are used",
            Self::BuilderResource => " but TensorRT's builder",
            Self::Storage => ", for GPUDirect Storage",
            Self::Recorded => ", of installed packages",
            Self::ByHand => " by their needs",
        }
    }

    pub(super) fn reason(self) -> &'static str {
        match self {
            Self::Free => {
                "No program or module of the image needs or opens these libraries, and no file of the application names one."
            }
            Self::NoApplication => {
                "Nothing reaches these libraries, but the image does not say what it runs, or holds no application that could need them."
            }
            Self::Named => {
                "Nothing reaches these libraries by the loader's rules, but files of the application name them."
            }
            Self::Opened => {
                "Something that runs opens libraries of these names, and these were not found on its way."
            }
            Self::Read => {
                "Nothing reaches these libraries, but something that is installed, or named, builds programs at run time, which may be linked to them."
            }
            Self::Unsearched => {
                "Nothing reaches these libraries. Not all programs of the application could be searched for their names."
            }
            Self::Part => {
                "Other parts of the same libraries are used. Which parts they open from their folder depends on what is computed."
            }
            Self::BuilderResource => {
                "Only building an engine opens these. A service that loads a finished plan does without."
            }
            Self::Storage => "Nothing reaches these libraries, but GPUDirect Storage is set up in the image.",
            Self::Recorded => {
                "Nothing reaches these libraries by the loader's rules. An installed package brought them, and Python may open them by their path."
            }
            Self::ByHand => {
                "Nothing reaches these libraries by the loader's rules. Whoever made the image put them there."
            }
        }
    }

    pub(super) fn question(self) -> Option<&'static str> {
        Some(match self {
            Self::Free => return None,
            Self::NoApplication => "Does what is built upon this image load any of these libraries?",
            Self::Named | Self::Opened => "Does the service open them when it runs?",
            Self::Read => "Is anything linked to them when the service runs?",
            Self::Unsearched => "Do the programs that could not be searched open them?",
            Self::Part => "Does the service compute anything that needs these parts?",
            Self::BuilderResource => "Does the service build TensorRT engines?",
            Self::Storage => "Does the service read files through GPUDirect Storage?",
            Self::Recorded => "Does anything need the packages that brought them?",
            Self::ByHand => "Does anything open them by their path?",
        })
    }
}

/// Components whose libraries open one another from their folder.
const IN_PARTS: [&str; 4] = ["cudnn", "nvrtc", "nvshmem", "tensorrt"];

/// Programs that are no application by themselves.
const SHELLS: [&[u8]; 9] =
    [b"sh", b"bash", b"dash", b"ash", b"busybox", b"tini", b"dumb-init", b"env", b"sleep"];

pub(super) struct Judge<'f, 'a> {
    facts: &'f Facts<'a>,
    has_application: bool,
    /// Component and folder of the libraries that are reached.
    parts: HashSet<(String, Vec<u8>)>,
    /// What used objects open, by the table.
    opened: HashSet<String>,
    storage: bool,
}

/// Whether a library holds the kernels that the builder of `TensorRT` chooses from.
pub(super) fn is_builder_resource(facts: &Facts<'_>, library: &Library) -> bool {
    facts.node(library.node).name().starts_with(b"libnvinfer_builder_resource")
}

impl<'f, 'a> Judge<'f, 'a> {
    pub(super) fn new(facts: &'f Facts<'a>) -> Self {
        let links = &facts.inventory.links;
        let used = |library: &&Library| links.object(library.object).usage != Use::Unreferenced;
        let part = |library: &Library| {
            (library.component.to_string(), folder_of(&facts.path(library.node)).to_vec())
        };
        let objects = links.objects.iter().filter(|object| object.usage != Use::Unreferenced);
        let opened = objects.flat_map(|object| &object.opens).map(|open| open.name.clone()).collect();
        let of_storage = |package: &crate::cuda::Package| {
            ["kvikio", "libkvikio", "gds-tools", "nvidia-fs", "nvidia-gds"]
                .iter()
                .any(|name| package.name.starts_with(name))
        };
        Self {
            facts,
            has_application: has_application(facts),
            parts: facts.inventory.libraries.iter().filter(used).map(part).collect(),
            opened,
            storage: facts.paths.lookup(b"/etc/cufile.json").is_some()
                || facts.inventory.packages.iter().any(of_storage),
        }
    }

    /// Why a library is told as it is, and who is meant. `None` when it is used after all.
    pub(super) fn judge(&self, library: &Library) -> Option<(Because, Option<User>)> {
        let facts = self.facts;
        if is_builder_resource(facts, library) {
            return self.resource(library);
        }
        if !self.has_application {
            return Some((Because::NoApplication, None));
        }
        if let Some(user) = self.named(library) {
            return Some((Because::Named, Some(user)));
        }
        let name = facts.node(library.node).name();
        let soname = library.soname.as_deref().unwrap_or_default();
        let fits = |open: &String| {
            crate::cuda::links::fits(open.as_bytes(), name)
                || crate::cuda::links::fits(open.as_bytes(), soname.as_bytes())
        };
        if self.opened.iter().any(fits) || name.starts_with(b"libnccl-") {
            return Some((Because::Opened, None));
        }
        if IN_PARTS.contains(&&*library.component) {
            let folder = folder_of(&facts.path(library.node)).to_vec();
            if self.parts.contains(&(library.component.to_string(), folder)) {
                return Some((Because::Part, None));
            }
        }
        if &*library.component == "cufile" && self.storage {
            return Some((Because::Storage, None));
        }
        match library.supplier {
            Supplier::Wheel | Supplier::Conda => return Some((Because::Recorded, None)),
            Supplier::Application => return Some((Because::ByHand, None)),
            Supplier::Toolkit | Supplier::Distro => {}
        }
        let reads: &[&str] = match &*library.component {
            "nvvm" => &["nvcc", "libnvvm"],
            "cupti" => &["nvcc", "cupti"],
            "nvrtc" | "nvjitlink" => &["nvcc", "headers"],
            _ => &["nvcc"],
        };
        let mut demands = reads.iter().flat_map(|name| facts.demands.on(name, None));
        if let Some(demand) = demands.find_map(|place| facts.demands.get(place)) {
            return Some((Because::Read, Some(demand.user.clone())));
        }
        if facts.inventory.searched.programs_left_out > 0 {
            return Some((Because::Unsearched, None));
        }
        Some((Because::Free, None))
    }

    /// Builder resources are needed by what is known to build engines, `TensorRT` itself aside.
    fn resource(&self, library: &Library) -> Option<(Because, Option<User>)> {
        let path = self.facts.path(library.node);
        let copy = site_root(&path).map(|(site, _)| site);
        let demands = self.facts.demands.on("builder-resources", copy);
        let mut demands = demands.filter_map(|place| self.facts.demands.get(place));
        let builds = demands.any(|one| one.certainty == Certainty::Known && !one.who.starts_with("tensorrt"));
        (!builds).then_some((Because::BuilderResource, None))
    }

    /// What names a library: by its soname or its file.
    fn named(&self, library: &Library) -> Option<User> {
        let by_soname = || self.facts.named.library(library.soname.as_deref()?.as_bytes());
        self.facts.named.user(self.facts, library.node).or_else(by_soname)
    }
}

/// Whether the image says what it runs, and holds an application: a program or module of its own, a framework,
/// or files that could be searched. An image with a shell alone is something to build upon.
fn has_application(facts: &Facts<'_>) -> bool {
    let links = &facts.inventory.links;
    let is_root =
        |kind| links.objects.iter().any(|object| object.root.as_ref().is_some_and(|root| root.kind == kind));
    if !is_root(RootKind::Entrypoint) {
        return false;
    }
    // Roots that no package of the system owns: programs of the application, and those of a plain base.
    let (mut own, mut plain) = (false, 0_u64);
    for object in links.objects.iter().filter(|object| object.root.is_some()) {
        let owner = facts.owner(object.node).and_then(|place| facts.inventory.packages.get(place));
        if owner.is_some_and(|package| !matches!(package.manager, "pip" | "conda")) {
            continue;
        }
        let node = facts.node(object.node);
        let is_plain = SHELLS.contains(&node.name())
            || node.name().starts_with(b"python")
            || usize::from(node.layer()) < facts.base_layers()
            || holds(&node.path(), b"/lib-dynload/");
        own |= !is_plain;
        plain += u64::from(is_plain);
    }
    own || !facts.inventory.frameworks.is_empty() || facts.inventory.searched.files > plain
}
