//! Everything about one library, and why it is there.

use super::{CudaModel, words};
use crate::base::size::human;
use crate::base::text::counted;
use crate::base::text::{escape, printable};
use crate::cuda::links::{Object, ObjectId, Reached, Resolution};
use crate::cuda::{Inventory, Library, arch_name};
use crate::gui::models::files::PathFact;
use crate::gui::models::format;
use crate::gui::models::layers::LayerItem;
use crate::report::page::share;
use crate::rootfs::Rootfs;

/// Where a line leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LinkTarget {
    /// A library of the model.
    Library(usize),
    /// A path, any bytes.
    Path(Vec<u8>),
    /// A layer.
    Layer(usize),
}

/// How a needed name resolves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkState {
    /// A file of the image.
    Found,
    /// The host supplies it.
    Host,
    /// Missing and optional.
    Optional,
    /// It is nowhere.
    Missing,
}

/// One file that another one asks for, or that asks for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkLine {
    /// The name.
    pub name: String,
    /// How it was found, or why it is not there.
    pub about: String,
    /// The result.
    pub state: LinkState,
    /// Where it leads.
    pub place: Option<LinkTarget>,
}

/// GPU code of one kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeLine {
    /// The architecture as compilers write it.
    pub code: String,
    /// Kind, version of the instruction set and compression.
    pub about: String,
    /// How many entries.
    pub entries: u64,
    /// Bytes in the file.
    pub bytes: u64,
    /// Bytes once unpacked.
    pub uncompressed: u64,
}

/// A step from a file to the reason why it is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChainStep {
    /// The title.
    pub title: String,
    /// What it has to do with the step before it.
    pub about: String,
    /// Where it leads.
    pub place: Option<LinkTarget>,
}

/// Everything about one library.
#[derive(Clone, Debug)]
pub struct LibraryDetails {
    /// File name, safe to show.
    pub name: String,
    /// The parent folder, safe to show.
    pub folder: String,
    /// Absolute path, any bytes.
    pub raw: Vec<u8>,
    /// The same, safe to show.
    pub path: String,
    /// What is unusual about it.
    pub words: Vec<String>,
    /// Soname, version, sizes, who brought it.
    pub facts: Vec<PathFact>,
    /// The layer that contains it.
    pub layer: usize,
    /// Its GPU code, by architecture.
    pub codes: Vec<CodeLine>,
    /// What it needs.
    pub needs: Vec<LinkLine>,
    /// What needs it.
    pub needed_by: Vec<LinkLine>,
    /// What it opens at run time.
    pub opens: Vec<LinkLine>,
    /// What opens it at run time.
    pub opened_by: Vec<LinkLine>,
    /// From the file to the process that loads it, and to the instruction that brought it.
    pub chain: Vec<ChainStep>,
    /// Whether something that runs reaches it.
    pub reached: bool,
}

/// What the parts of the details are made from.
struct Source<'a> {
    model: &'a CudaModel,
    inventory: &'a Inventory,
    rootfs: &'a Rootfs,
}

impl LibraryDetails {
    /// The details of a library, by its place in the model; `None` when there is no such library.
    pub fn new(
        model: &CudaModel,
        inventory: &Inventory,
        rootfs: &Rootfs,
        layers: &[LayerItem],
        place: usize,
    ) -> Option<Self> {
        let source = Source { model, inventory, rootfs };
        let item = model.libraries.get(place)?;
        let library = inventory.libraries.get(place)?;
        let object = words::object(&inventory.links, library.object);
        let chain = source.chain(library, layers);
        let callers = |ids: &[ObjectId]| ids.iter().map(|id| source.caller(*id)).collect::<Vec<_>>();
        let folder = item.path.strip_suffix(&item.name).unwrap_or("");
        Some(Self {
            name: item.name.clone(),
            folder: folder.to_owned(),
            raw: item.raw.clone(),
            path: item.path.clone(),
            words: item.words.clone(),
            facts: source.facts(library, place),
            layer: usize::from(library.layer),
            codes: codes(library),
            needs: object.map(|object| source.needs(object)).unwrap_or_default(),
            needed_by: object.map(|object| callers(&object.needed_by)).unwrap_or_default(),
            opens: object.map(|object| source.opens(object)).unwrap_or_default(),
            opened_by: object.map(|object| callers(&object.opened_by)).unwrap_or_default(),
            chain,
            reached: object.is_some_and(|object| object.root.is_some() || object.reached.is_some()),
        })
    }
}

fn codes(library: &Library) -> Vec<CodeLine> {
    let mut codes: Vec<_> = library.gpu_code.iter().collect();
    codes.sort_by_key(|code| (code.arch, code.suffix, code.kind, code.isa));
    let line = |code: &&crate::cuda::GpuCode| {
        let isa = code.isa.map_or_else(String::new, |(major, minor)| format!(" ISA {major}.{minor}"));
        CodeLine {
            code: arch_name(code.kind, code.arch, code.suffix),
            about: format!("{}{isa}, {}", words::kind(code.kind), words::compression(code.compression)),
            entries: code.entries,
            bytes: code.bytes,
            uncompressed: code.uncompressed_bytes,
        }
    };
    codes.iter().map(line).collect()
}

impl Source<'_> {
    fn facts(&self, library: &Library, place: usize) -> Vec<PathFact> {
        let mut facts = Vec::new();
        let mut add = |name, value: String| facts.push(PathFact { name, value });
        add("Soname", library.soname.as_deref().map_or_else(|| "none".to_owned(), printable));
        let version = library
            .version
            .as_ref()
            .map(|(version, source)| format!("{}, {}", printable(version), words::version_source(*source)));
        add("Version", version.unwrap_or_else(|| "unknown".to_owned()));
        if let Some((major, says)) = &library.cuda_major {
            add("CUDA", format!("{major}, from {}", printable(says)));
        }
        add("Component", printable(&library.component));
        add("Role", library.role.described());
        if let Some(compat) = &library.forward_compat {
            let cuda = compat.cuda_version.as_deref().map(|version| format!("adds CUDA {version}"));
            let drivers: Vec<String> = compat.driver.iter().map(ToString::to_string).collect();
            let drivers = (!drivers.is_empty()).then(|| format!("on host driver {}", drivers.join(", ")));
            let requirements: Vec<String> = cuda.into_iter().chain(drivers).collect();
            if !requirements.is_empty() {
                add("Compatibility", printable(&requirements.join(" ")));
            }
        }
        if let Some(foreign) = &library.foreign {
            add("Platform", format!("{}: cannot run on this image's platform", printable(foreign)));
        }
        add("Size", format::exact(library.bytes));
        if let Some(first) = library.hard_link_of {
            add("Hard link to", escape(&self.rootfs.node(first).path()));
        }
        add("Supplier", library.supplier.label().to_owned());
        if let Some(package) = library.package.and_then(|place| self.inventory.packages.get(place)) {
            let text = format!("{} {} ({})", package.name, package.version, package.manager);
            add("Package", printable(&text));
        }
        let item = &self.model.libraries[place];
        add("Use", item.use_label().to_owned());
        if library.gpu_section_bytes > 0 {
            let share = share(library.gpu_section_bytes, library.bytes);
            let overhead = match library.overhead_bytes {
                0 => String::new(),
                bytes => format!(", {} headers and padding", human(bytes)),
            };
            let text = format!("{} ({share} of the file{overhead})", human(library.gpu_section_bytes));
            add("GPU code", text);
        }
        facts
    }

    /// Where an object leads: to a library of this view, or to its path.
    fn place(&self, id: ObjectId) -> Option<LinkTarget> {
        if let Some(place) = self.model.places.objects.get(&id) {
            return Some(LinkTarget::Library(*place));
        }
        let object = words::object(&self.inventory.links, id)?;
        Some(LinkTarget::Path(self.rootfs.node(object.node).path()))
    }

    fn name(&self, id: ObjectId) -> String {
        words::object_name(&self.inventory.links, self.rootfs, id)
    }

    fn resolved(&self, found: &Resolution) -> (String, LinkState, Option<LinkTarget>) {
        match found {
            Resolution::Found { object, step } => {
                let step = words::step(step, &self.inventory.links, self.rootfs);
                (step, LinkState::Found, self.place(*object))
            }
            Resolution::Host => ("supplied by the host driver".to_owned(), LinkState::Host, None),
            Resolution::Missing => ("not in the image".to_owned(), LinkState::Missing, None),
        }
    }

    fn needs(&self, object: &Object) -> Vec<LinkLine> {
        let mut lines = Vec::new();
        for need in &object.needs {
            if need.found.is_empty() {
                let about = "not resolved".to_owned();
                let name = printable(&need.name);
                lines.push(LinkLine { name, about, state: LinkState::Optional, place: None });
            }
            for found in &need.found {
                let (about, state, place) = self.resolved(found);
                lines.push(LinkLine { name: printable(&need.name), about, state, place });
            }
        }
        lines
    }

    fn opens(&self, object: &Object) -> Vec<LinkLine> {
        let line = |open: &crate::cuda::links::Open| {
            let (about, state, place) = self.resolved(&open.found);
            let (about, state) = match (state, open.optional) {
                (LinkState::Missing, true) => ("not in the image; optional".to_owned(), LinkState::Optional),
                (state, _) => (about, state),
            };
            let source = match open.source.as_str() {
                "" => String::new(),
                source => format!(" [{}]", printable(source)),
            };
            LinkLine { name: printable(&open.name), about: format!("{about}{source}"), state, place }
        };
        object.opens.iter().map(line).collect()
    }

    fn caller(&self, id: ObjectId) -> LinkLine {
        let object = words::object(&self.inventory.links, id);
        let raw = object.map(|object| self.rootfs.node(object.node).path()).unwrap_or_default();
        let name = self.name(id);
        let path = escape(&raw);
        let folder = path.strip_suffix(&name).unwrap_or("").to_owned();
        LinkLine { name, about: folder, state: LinkState::Found, place: self.place(id) }
    }

    fn chain(&self, library: &Library, layers: &[LayerItem]) -> Vec<ChainStep> {
        let links = &self.inventory.links;
        let mut steps = Vec::new();
        if words::object(links, library.object).is_some() {
            let chain = links.chain(library.object);
            for (place, id) in chain.iter().enumerate() {
                let Some(object) = words::object(links, *id) else { break };
                let before = place.checked_sub(1).and_then(|at| words::object(links, chain[at]));
                let how = before.and_then(|before| before.reached.as_ref());
                let mut about = match how {
                    None => "this file".to_owned(),
                    Some(reached) => self.how(reached),
                };
                if let Some(root) = &object.root {
                    about = format!("{about}; loaded as {}", printable(&root.why));
                }
                steps.push(ChainStep { title: self.name(*id), about, place: self.place(*id) });
            }
            let last = chain.last().and_then(|id| words::object(links, *id));
            if last.is_some_and(|object| object.root.is_none()) {
                let title = "Unreferenced".to_owned();
                let callers = last.map_or(0, |object| object.needed_by.len() + object.opened_by.len());
                let about = match callers {
                    0 => "No file in the image needs or opens it.".to_owned(),
                    1 => "1 file needs it, but no process loads that file.".to_owned(),
                    callers => format!("{} need it, but no process loads them.", counted(callers, "file")),
                };
                steps.push(ChainStep { title, about, place: None });
            }
        }
        let layer = usize::from(library.layer);
        // A layer without an instruction is named by its number, which is shown anyway.
        let instruction = layers.get(layer).map_or("", |item| item.title.as_str());
        let instruction = if instruction == format!("layer {layer}") { "" } else { instruction };
        let package = library.package.and_then(|place| self.inventory.packages.get(place));
        let title = match package {
            Some(package) => {
                printable(&format!("Layer {layer}, package {} {}", package.name, package.version))
            }
            None => format!("Layer {layer}"),
        };
        steps.push(ChainStep { title, about: instruction.to_owned(), place: Some(LinkTarget::Layer(layer)) });
        steps
    }

    fn how(&self, reached: &Reached) -> String {
        let verb = if reached.opened { "opens" } else { "needs" };
        let step = words::step(&reached.step, &self.inventory.links, self.rootfs);
        format!("{verb} {}, resolved by {step}", printable(&reached.name))
    }
}
