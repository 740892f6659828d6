//! The levels of the GPU software stack, from the server to the device, and their suppliers.

use std::collections::BTreeSet;

use super::classes::is_framework_component;
use super::context::InventoryContext;
use super::links::Links;
use super::packages::Packages;
use super::value::{
    Class, ClassBytes, Framework, Level, Library, Role, StackLevel, Strategy, SuppliedBy, Supplier, Use,
    WeightFile,
};
use crate::base::redact;
use crate::base::size::human;
use crate::base::text::printable;
use crate::formats::document::DocumentKind;
use crate::formats::os_release;
use crate::rootfs::NodeId;

/// Input for the stack.
pub(super) struct Known<'a> {
    pub(super) context: &'a InventoryContext<'a>,
    pub(super) packages: &'a Packages,
    pub(super) links: &'a Links,
    pub(super) libraries: &'a [Library],
    pub(super) frameworks: &'a [Framework],
    pub(super) weights: &'a [WeightFile],
    pub(super) classes: &'a ClassBytes,
    /// Whether any file contains GPU code.
    pub(super) gpu_code: bool,
    /// Whether a library or program contains GPU code.
    pub(super) linked_code: bool,
}

/// Maximum number of files for each level; JSON lists all libraries separately.
const PATHS: usize = 40;

/// All levels, from the top.
pub(super) fn levels(known: &Known<'_>) -> Vec<StackLevel> {
    vec![
        known.server(),
        known.model(),
        known.of_frameworks(Level::Framework),
        known.of_frameworks(Level::Kernels),
        known.toolkit_libraries(),
        known.runtime(),
        known.driver(),
        host(
            Level::KernelDriver,
            "nvidia.ko",
            "kernel module of the host; libcuda must have the same version",
        ),
        known.system(),
        host(Level::Gpu, "GPU", "GPU of the host"),
    ]
}

fn host(level: Level, name: &str, note: &str) -> StackLevel {
    StackLevel {
        level,
        names: vec![name.to_owned()],
        supplied_by: vec![SuppliedBy::Host],
        nodes: Vec::new(),
        note: Some(note.to_owned()),
    }
}

fn supplied_by(supplier: Supplier) -> SuppliedBy {
    match supplier {
        Supplier::Wheel => SuppliedBy::Wheel,
        Supplier::Conda => SuppliedBy::Conda,
        Supplier::Toolkit | Supplier::Distro => SuppliedBy::BaseImage,
        Supplier::Application => SuppliedBy::ByHand,
    }
}

impl Known<'_> {
    /// Whether the image contains GPU code, CUDA libraries or CUDA frameworks.
    fn uses_cuda(&self) -> bool {
        self.gpu_code
            || self.libraries.iter().any(|library| library.role == Role::Runtime)
            || self.frameworks.iter().any(|framework| framework.strategy != Strategy::None)
    }

    fn packaged_by(&self, framework: &Framework) -> SuppliedBy {
        match framework.package.map(|place| self.packages.list[place].manager) {
            Some("pip") => SuppliedBy::Wheel,
            Some("conda") => SuppliedBy::Conda,
            Some(_) => SuppliedBy::BaseImage,
            None => SuppliedBy::ByHand,
        }
    }

    fn of_frameworks(&self, level: Level) -> StackLevel {
        let here = || self.frameworks.iter().filter(|framework| framework.level == level);
        let name = |framework: &Framework| match &framework.version {
            Some(version) => format!("{} {version}", framework.name),
            None => framework.name.to_string(),
        };
        let by: BTreeSet<SuppliedBy> = here().map(|framework| self.packaged_by(framework)).collect();
        let nodes =
            here().filter_map(|framework| self.context.paths.lookup(&framework.path)).take(PATHS).collect();
        let nothing = by.is_empty();
        StackLevel {
            level,
            names: here().map(name).collect::<BTreeSet<_>>().into_iter().collect(),
            supplied_by: if nothing { vec![SuppliedBy::NotUsed] } else { by.into_iter().collect() },
            nodes,
            note: None,
        }
    }

    fn server(&self) -> StackLevel {
        let level = self.of_frameworks(Level::Server);
        if !level.names.is_empty() {
            return level;
        }
        let config = self.context.input.image.run_config();
        let words = config.map(|config| {
            let words = config.entrypoint().iter().flatten().chain(config.cmd().iter().flatten());
            words.cloned().collect::<Vec<String>>()
        });
        // A command line in a single word may contain secrets: only its first part is shown, redacted, since
        // it may be an assignment or a URL.
        let program = words.and_then(|words| Some(words.first()?.split_whitespace().next()?.to_owned()));
        let program = program.and_then(|program| redact::words(&[program]).pop());
        StackLevel {
            supplied_by: vec![SuppliedBy::Unknown],
            note: Some(match &program {
                Some(program) => format!("no known server; the image starts {}", printable(program)),
                None => "no known server, and the image has no start command".to_owned(),
            }),
            ..level
        }
    }

    fn model(&self) -> StackLevel {
        let level = self.of_frameworks(Level::Model);
        let mut names = level.names;
        let weights: u64 = self.weights.iter().map(|file| file.bytes).sum();
        let code = self.classes.merged.get(&Class::Application).copied().unwrap_or(0);
        if weights > 0 {
            names.push(format!("{} weights", human(weights)));
        }
        if code > 0 {
            names.push(format!("{} application files", human(code)));
        }
        let mut by: BTreeSet<SuppliedBy> =
            level.supplied_by.into_iter().filter(|by| *by != SuppliedBy::NotUsed).collect();
        if weights + code > 0 {
            by.insert(SuppliedBy::ByHand);
        }
        let none = by.is_empty();
        StackLevel {
            level: Level::Model,
            names,
            supplied_by: if none { vec![SuppliedBy::Unknown] } else { by.into_iter().collect() },
            nodes: self.weights.iter().map(|file| file.node).take(PATHS).collect(),
            note: (weights == 0 && self.uses_cuda()).then(|| "no model weights in the image".to_owned()),
        }
    }

    /// The level of libraries whose component passes `fits`.
    fn of_libraries(&self, level: Level, fits: impl Fn(&str) -> bool) -> StackLevel {
        let here: Vec<&Library> = self
            .libraries
            .iter()
            .filter(|library| {
                library.role == Role::Runtime && library.foreign.is_none() && fits(&library.component)
            })
            .collect();
        let is_used = |library: &&&Library| self.links.object(library.object).usage != Use::Unreferenced;
        let used: Vec<&Library> = here.iter().filter(is_used).copied().collect();
        let shown = if used.is_empty() { &here } else { &used };
        let names: BTreeSet<&str> = shown.iter().map(|library| &*library.component).collect();
        let mut by: BTreeSet<SuppliedBy> =
            shown.iter().map(|library| supplied_by(library.supplier)).collect();
        let missing = self.missing(&fits);
        if !missing.is_empty() {
            by.insert(SuppliedBy::Missing);
        }
        let mut note = None;
        if !missing.is_empty() {
            let list = missing.iter().take(4).cloned().collect::<Vec<_>>().join(", ");
            note = Some(format!("needed and missing: {list}"));
        } else if used.is_empty() && !here.is_empty() {
            note = Some("present, not known to be loaded".to_owned());
        }
        let unused = by.is_empty();
        StackLevel {
            level,
            names: names.into_iter().map(str::to_owned).collect(),
            supplied_by: if unused { vec![SuppliedBy::NotUsed] } else { by.into_iter().collect() },
            nodes: shown.iter().map(|library| library.node).take(PATHS).collect(),
            note,
        }
    }

    /// Missing libraries of these components that objects in certain use need. Objects that are only opened
    /// optionally, such as further providers of ONNX Runtime, may lack their libraries.
    fn missing(&self, fits: &impl Fn(&str) -> bool) -> Vec<String> {
        let mut names = BTreeSet::new();
        let firm = self.links.firmly_used();
        let used = self.links.objects.iter().zip(firm).filter(|(_, firm)| *firm);
        for (object, _) in used {
            for need in object.needs.iter().filter(|need| need.is_missing()) {
                let component = self.context.catalog.component_of(need.name.as_bytes());
                if component.is_some_and(|component| fits(&component.name)) {
                    names.insert(need.name.clone());
                }
            }
        }
        names.into_iter().collect()
    }

    fn toolkit_libraries(&self) -> StackLevel {
        let fits =
            |name: &str| !is_framework_component(name) && !matches!(name, "cudart" | "driver" | "nvtx");
        self.of_libraries(Level::Libraries, fits)
    }

    fn runtime(&self) -> StackLevel {
        let mut level = self.of_libraries(Level::Runtime, |name| name == "cudart");
        for library in self.libraries.iter().filter(|library| &*library.component == "cudart") {
            let soname = library.soname.clone().filter(|_| library.role == Role::Runtime);
            if let Some(soname) = soname.filter(|soname| !level.names.contains(soname)) {
                level.names.push(soname);
            }
        }
        level.names.retain(|name| name != "cudart");
        if level.nodes.is_empty() && !level.supplied_by.contains(&SuppliedBy::Missing) {
            if self.linked_code {
                let note = "no libcudart: programs with GPU code link it statically or use the driver API";
                level.supplied_by = vec![SuppliedBy::Static];
                level.note = Some(note.to_owned());
            } else if self.gpu_code {
                level.supplied_by = vec![SuppliedBy::Unknown];
                level.note = Some("no libcudart: GPU code is loaded through the driver API".to_owned());
            }
        }
        level
    }

    fn driver(&self) -> StackLevel {
        let baked: Vec<NodeId> = self
            .libraries
            .iter()
            .filter(|library| {
                library.role == Role::Runtime && library.foreign.is_none() && &*library.component == "driver"
            })
            .map(|library| library.node)
            .collect();
        let compat = self.libraries.iter().any(|library| library.role == Role::Compat);
        let note = if !baked.is_empty() {
            "mounted from the host; copies of driver libraries in the image conflict with it"
        } else if compat {
            "mounted from the host when the container starts; the image also has the forward-compatibility driver"
        } else {
            "mounted from the host when the container starts"
        };
        let used = self.uses_cuda();
        StackLevel {
            level: Level::Driver,
            names: vec!["libcuda.so.1".to_owned()],
            supplied_by: vec![if used { SuppliedBy::Host } else { SuppliedBy::NotUsed }],
            nodes: baked,
            note: Some(note.to_owned()),
        }
    }

    fn system(&self) -> StackLevel {
        let name = self.context.visible(DocumentKind::OsRelease).iter().find_map(|file| {
            let release = os_release::read(&file.document.bytes().ok()?);
            release.pretty_name.or(release.id)
        });
        let note = match &name {
            Some(name) => format!("host kernel and drivers; {} userland from the image", printable(name)),
            None => "host kernel and drivers".to_owned(),
        };
        host(Level::System, "Linux", &note)
    }
}
