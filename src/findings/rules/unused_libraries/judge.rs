//! Why an unreferenced library is removable, or which question remains.

use hashbrown::HashSet;

use super::super::common::holds;
use crate::cuda::links::{RootKind, folder_of, site_root};
use crate::cuda::{Library, Supplier, Use};
use crate::findings::demand::Certainty;
use crate::findings::facts::Facts;
use crate::findings::value::User;

/// The reason for a verdict; libraries with the same reason form one finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum LibraryReason {
    Free,
    /// The configuration was not read: what the image runs is unknown.
    NoConfiguration,
    /// The image has no application to analyse.
    NoApplication,
    /// An application file mentions it.
    Named,
    /// An application file computes a name that fits.
    ComputedName,
    /// A reachable object opens a library of this name, and does not find this one.
    Opened,
    /// An installed component builds programs that may link it, or reads it.
    Read,
    /// Not all application programs could be searched.
    Unsearched,
    /// A part of a library whose other parts are used.
    Part,
    /// Only the builder of `TensorRT` opens it.
    BuilderResource,
    /// `GPUDirect` Storage is configured.
    Storage,
    /// An installed package owns it.
    Recorded,
    /// Added outside package managers.
    ByHand,
}

impl LibraryReason {
    pub(super) fn title(self) -> &'static str {
        match self {
            Self::Free => "",
            Self::NoConfiguration => ", configuration unknown",
            Self::NoApplication => ", no application in the image",
            Self::Named => ", mentioned by the application",
            Self::ComputedName => ", names computed at run time",
            Self::Opened => ", opened by name",
            Self::Read => ", possibly linked at run time",
            Self::Unsearched => ", not fully searched",
            Self::Part => ", parts of used libraries",
            Self::BuilderResource => ", TensorRT builder resources",
            Self::Storage => ", for GPUDirect Storage",
            Self::Recorded => ", owned by installed packages",
            Self::ByHand => ", added outside packages",
        }
    }

    pub(super) fn reason(self) -> &'static str {
        match self {
            Self::Free => {
                "Unreferenced: no program or module needs or opens these libraries, and no application file mentions one."
            }
            Self::NoConfiguration => {
                "Unreferenced, but what the image runs is unknown: it has no readable configuration."
            }
            Self::NoApplication => {
                "Unreferenced, but the image does not define what it runs, or contains no application that could need them."
            }
            Self::Named => {
                "Unreferenced by the loader's rules, but application files or settings mention them or a library that needs them."
            }
            Self::ComputedName => {
                "Unreferenced by the loader's rules, but an application file computes names of libraries at run time."
            }
            Self::Opened => {
                "A reachable program opens libraries with these names or those that need them, and does not find these copies."
            }
            Self::Read => {
                "Unreferenced, but an installed or mentioned tool builds programs at run time, which may link them."
            }
            Self::Unsearched => {
                "Unreferenced, but not all application programs could be searched for their names."
            }
            Self::Part => {
                "Other parts of the same libraries are used. Which parts they open from their folder depends on the computation."
            }
            Self::BuilderResource => {
                "Only engine builds open them. A service that loads a finished plan does not need them."
            }
            Self::Storage => "Unreferenced, but GPUDirect Storage is set up in the image.",
            Self::Recorded => {
                "Unreferenced by the loader's rules. An installed package owns them, and Python may open them by path."
            }
            Self::ByHand => "Unreferenced by the loader's rules. They were added outside package managers.",
        }
    }

    /// Whether the reason for another library, which needs one with this reason, says more about it.
    pub(super) fn is_weaker_than(self, other: Self) -> bool {
        let is_use = !matches!(other, Self::Free | Self::Recorded | Self::ByHand);
        self == Self::Free || is_use && matches!(self, Self::Recorded | Self::ByHand)
    }

    pub(super) fn question(self) -> Option<&'static str> {
        Some(match self {
            // Asked with the names of these programs.
            Self::Free | Self::Unsearched => return None,
            Self::NoConfiguration => "Does the image run anything that loads these libraries?",
            Self::NoApplication => "Do images built on this one load any of these libraries?",
            Self::Named | Self::ComputedName | Self::Opened => "Does the service open them at run time?",
            Self::Read => "Is anything linked against them at run time?",
            Self::Part => "Does the service compute anything that needs these parts?",
            Self::BuilderResource => "Does the service build TensorRT engines?",
            Self::Storage => "Does the service read files through GPUDirect Storage?",
            Self::Recorded => "Does the service load them, by path or through the packages that own them?",
            Self::ByHand => "Does anything open them by path?",
        })
    }
}

/// Components whose libraries open each other from their folder.
const IN_PARTS: [&str; 4] = ["cudnn", "nvrtc", "nvshmem", "tensorrt"];

/// Programs that are not an application by themselves.
const SHELLS: [&[u8]; 9] =
    [b"sh", b"bash", b"dash", b"ash", b"busybox", b"tini", b"dumb-init", b"env", b"sleep"];

pub(super) struct Judge<'f, 'a> {
    facts: &'f Facts<'a>,
    has_application: bool,
    /// Component and folder of the reachable libraries.
    parts: HashSet<(String, Vec<u8>)>,
    /// Names that used objects open, per the dlopen table.
    opened: HashSet<String>,
    storage: bool,
}

/// Whether a library contains the kernels that the `TensorRT` builder selects from.
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

    /// The reason for the verdict on a library, and its user. `None` when it is used after all.
    pub(super) fn judge(&self, library: &Library) -> Option<(LibraryReason, Option<User>)> {
        let facts = self.facts;
        if is_builder_resource(facts, library) {
            return self.resource(library);
        }
        if !self.has_application && facts.input.image.config.is_none() {
            return Some((LibraryReason::NoConfiguration, None));
        }
        if !self.has_application {
            return Some((LibraryReason::NoApplication, None));
        }
        if let Some(user) = self.named(library) {
            return Some((LibraryReason::Named, Some(user)));
        }
        let name = facts.node(library.node).name();
        let soname = library.soname.as_deref().unwrap_or_default();
        let fits = |open: &String| {
            crate::formats::glob::glob_match(open.as_bytes(), name)
                || crate::formats::glob::glob_match(open.as_bytes(), soname.as_bytes())
        };
        if self.opened.iter().any(fits) || name.starts_with(b"libnccl-") {
            return Some((LibraryReason::Opened, None));
        }
        if IN_PARTS.contains(&&*library.component) {
            let folder = folder_of(&facts.path(library.node)).to_vec();
            if self.parts.contains(&(library.component.to_string(), folder)) {
                return Some((LibraryReason::Part, None));
            }
        }
        if &*library.component == "cufile" && self.storage {
            return Some((LibraryReason::Storage, None));
        }
        match library.supplier {
            Supplier::Wheel | Supplier::Conda => return Some((LibraryReason::Recorded, None)),
            Supplier::Application => return Some((LibraryReason::ByHand, None)),
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
            return Some((LibraryReason::Read, Some(demand.user.clone())));
        }
        let put_together = |name: &[u8]| facts.named.puts_together(name);
        if let Some(user) = put_together(name).or_else(|| put_together(soname.as_bytes())) {
            return Some((LibraryReason::ComputedName, Some(user)));
        }
        if facts.inventory.searched.programs_left_out > 0 {
            return Some((LibraryReason::Unsearched, None));
        }
        Some((LibraryReason::Free, None))
    }

    /// Builder resources are needed by components that build engines, except `TensorRT` itself.
    fn resource(&self, library: &Library) -> Option<(LibraryReason, Option<User>)> {
        let path = self.facts.path(library.node);
        let copy = site_root(&path).map(|(site, _)| site);
        let demands = self.facts.demands.on("builder-resources", copy);
        let mut demands = demands.filter_map(|place| self.facts.demands.get(place));
        let builds = demands.any(|one| one.certainty == Certainty::Known && !one.who.starts_with("tensorrt"));
        (!builds).then_some((LibraryReason::BuilderResource, None))
    }

    /// The mention of a library, by its soname or file name.
    fn named(&self, library: &Library) -> Option<User> {
        let by_soname = || self.facts.named.library(library.soname.as_deref()?.as_bytes());
        self.facts.named.user(self.facts, library.node).or_else(by_soname)
    }
}

/// Whether the image defines what it runs and contains an application: a program or module of its own, a framework, or
/// searchable files. An image with only a shell is a base image.
fn has_application(facts: &Facts<'_>) -> bool {
    let links = &facts.inventory.links;
    let is_root =
        |kind| links.objects.iter().any(|object| object.root.as_ref().is_some_and(|root| root.kind == kind));
    if !is_root(RootKind::Entrypoint) {
        return false;
    }
    // Roots without a system package: application programs, and those of a plain base.
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
