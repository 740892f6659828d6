//! Assembly of the inventory.

use hashbrown::HashSet;

use super::context::{BinaryFile, Inode, Input, InventoryContext};
use super::frameworks::Evidence;
use super::libraries::LibraryContext;
use super::links::Links;
use super::packages::Packages;
use super::stack::Known;
use super::value::{Displaced, Duplicate, Framework, GpuCodeSum, Inventory, Library, Toolkit, WeightFile};
use super::{
    base_image, classes, development, duplicates, frameworks, gpu_code, libraries, packages, rules, stack,
    string_references, toolkits, weights,
};
use crate::base::text::escape;
use crate::base::warning::Warnings;
use crate::base::{Warning, WarningCode};
use crate::formats::binary::FileFacts;
use crate::jobs::both;
use crate::rootfs::{NodeId, copies};

/// Files to read completely, from layers whose contents were not read in the first pass.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// Files with the size of another file, to compare their content.
    pub hashes: Vec<Inode>,
    /// Binaries with sections that may contain further GPU code.
    pub binaries: Vec<Inode>,
    /// Application files to search for string references.
    pub texts: Vec<Inode>,
}

impl Wanted {
    /// Whether no file remains to be read.
    pub fn is_empty(&self) -> bool {
        self.hashes.is_empty() && self.binaries.is_empty() && self.texts.is_empty()
    }
}

/// The inventory of an image, and the files that would make it more accurate. Reads no file content.
pub fn inventory(input: &Input<'_>, warnings_per_code: usize) -> (Inventory, Wanted) {
    let context = InventoryContext::new(input);
    let mut warnings = Warnings::with_limit(warnings_per_code);
    if context.left_out > 0 {
        warnings.push_with(WarningCode::FactsLimited, || {
            let what = format!("{} binaries omitted: their paths are too long in total", context.left_out);
            ("binaries".to_owned(), what)
        });
    }
    let packages = packages::gather(&context, &mut warnings);
    // In parallel, since what is apart visits every file, and depends on nothing else.
    let (apart, known) = both(|| Apart::find(&context), || Linked::find(&context, &packages, &mut warnings));
    let base = base_image::find(&context, &packages);
    let base_layers = base.as_ref().map_or(0, |base| base.layers);
    // In parallel, since both visit every file.
    let (class_bytes, heard) = both(
        || classes::sum(&context, &packages, &known.libraries, base_layers),
        || string_references::gather(&context, &packages, &known.toolkits, base_layers),
    );
    let stack = stack::levels(&Known {
        context: &context,
        packages: &packages,
        links: &known.links,
        libraries: &known.libraries,
        frameworks: &known.frameworks,
        weights: &apart.weights,
        classes: &class_bytes,
        gpu_code: !apart.gpu_code.is_empty(),
        linked_code: apart.gpu_code.iter().any(|sum| sum.libraries + sum.executables > 0),
    });
    binary_faults(&context, &mut warnings);
    let found = Inventory {
        toolkits: known.toolkits,
        toolkit: known.toolkit,
        components: libraries::components(&known.libraries),
        gpu_code: apart.gpu_code,
        holders: gpu_code::holders(&context),
        duplicates: known.duplicates,
        displaced: known.displaced,
        identical: duplicates::identical(&context, &apart.compared),
        frameworks: known.frameworks,
        stack,
        weights: apart.weights,
        base,
        classes: class_bytes,
        libraries: known.libraries,
        links: known.links,
        mentions: heard.mentions,
        searched: heard.searched,
        development: development::find(&context, &packages),
        managers: development::managers(&context, &packages),
        packages: packages.list,
        owners: packages.owners,
        warnings: finish(warnings, input),
        waits_for: None,
    };
    (found, Wanted { texts: heard.wanted, ..apart.wanted })
}

/// What follows from the files alone.
struct Apart {
    weights: Vec<WeightFile>,
    gpu_code: Vec<GpuCodeSum>,
    /// Files to compare with others.
    compared: Vec<(Inode, NodeId)>,
    /// Without texts.
    wanted: Wanted,
}

impl Apart {
    fn find(context: &InventoryContext<'_>) -> Self {
        let compared = duplicates::compared_files(context);
        let wanted = wanted(context, &compared);
        Self { weights: weights::find(context), gpu_code: gpu_code::sum(context), compared, wanted }
    }
}

/// What depends on packages and links.
struct Linked {
    toolkits: Vec<Toolkit>,
    toolkit: Option<usize>,
    links: Links,
    libraries: Vec<Library>,
    frameworks: Vec<Framework>,
    duplicates: Vec<Duplicate>,
    displaced: Vec<Displaced>,
}

impl Linked {
    fn find(context: &InventoryContext<'_>, packages: &Packages, warnings: &mut Warnings) -> Self {
        let (mut toolkits, toolkit) = toolkits::find(context, packages);
        let links = rules::links(context, packages, warnings);
        let libraries = libraries::find(&LibraryContext {
            context,
            packages,
            links: &links,
            toolkits: &toolkits,
            conda_roots: &conda_roots(packages),
            names: libraries::names(context),
        });
        toolkits::add_cudnn(&mut toolkits, &libraries, packages);
        let frameworks =
            frameworks::find(&Evidence { context, packages, links: &links, libraries: &libraries });
        let (duplicates, displaced) = duplicates::libraries(context, &libraries, &links);
        Self { toolkits, toolkit, links, libraries, frameworks, duplicates, displaced }
    }
}

fn finish(warnings: Warnings, input: &Input<'_>) -> Vec<Warning> {
    let mut list = warnings.finish("CUDA inventory");
    if let Some(fault) = input.catalog.fault() {
        list.push(Warning::new(WarningCode::FactsLimited, "catalog", fault));
    }
    list
}

fn conda_roots(packages: &Packages) -> Vec<Vec<u8>> {
    let mut roots: Vec<Vec<u8>> = packages
        .list
        .iter()
        .filter(|package| package.manager == "conda")
        .filter_map(|package| package.root.clone())
        .collect();
    roots.sort_unstable();
    roots.dedup();
    roots
}

/// Adds warnings for malformed binaries in the merged view.
fn binary_faults(context: &InventoryContext<'_>, warnings: &mut Warnings) {
    let mut seen = HashSet::new();
    for binary in context.binaries.iter().filter(|binary| seen.insert(binary.inode)) {
        let path = || escape(&context.path(binary.node));
        let mut tell = |at: u64, what: &str| {
            warnings.push_with(WarningCode::BinaryMalformed, || (path(), format!("byte {at}: {what}")));
        };
        let own = match binary.facts {
            FileFacts::Elf(elf) => &elf.problems[..],
            FileFacts::Archive(archive) => &archive.problems[..],
            _ => &[],
        };
        let of_code = binary.facts.gpu().map(|gpu| &gpu.problems[..]).unwrap_or_default();
        for problem in own.iter().chain(of_code) {
            tell(problem.at, &problem.what);
        }
    }
}

/// Whether a binary is worth a search for deferred GPU code: it belongs to CUDA or its ecosystem, has GPU
/// code already, or needs CUDA or the driver. Searching all programs of a system would read it completely.
fn may_hold_code(context: &InventoryContext<'_>, binary: &BinaryFile<'_>) -> bool {
    let known = |name: &[u8]| context.catalog.component_of(name).is_some() || context.catalog.is_driver(name);
    if known(context.node(binary.node).name()) {
        return true;
    }
    match binary.facts {
        FileFacts::Elf(elf) => {
            elf.soname.as_deref().is_some_and(known)
                || elf.needed.iter().any(|name| known(name))
                || elf.gpu.as_ref().is_some_and(|gpu| !gpu.sections.is_empty())
        }
        _ => true,
    }
}

fn wanted(context: &InventoryContext<'_>, compared: &[(Inode, NodeId)]) -> Wanted {
    let mut binaries: Vec<Inode> = context
        .binaries
        .iter()
        .filter(|binary| binary.facts.gpu().is_some_and(|gpu| !gpu.deferred.is_empty()))
        .filter(|binary| may_hold_code(context, binary))
        .map(|binary| binary.inode)
        .collect();
    binaries.sort_unstable();
    binaries.dedup();
    Wanted { hashes: unproven(context, compared), binaries, texts: Vec::new() }
}

/// Files to read for comparison: those of equal size in the merged view, and those that a layer overwrites
/// with a file of the same size.
fn unproven(context: &InventoryContext<'_>, compared: &[(Inode, NodeId)]) -> Vec<Inode> {
    let mut hashes = duplicates::unproven(context, compared);
    let mut known: HashSet<Inode> = hashes.iter().copied().collect();
    let pairs = copies(context.rootfs).flat_map(|(hidden, by)| [hidden, by]);
    hashes.extend(pairs.filter(|inode| context.hash(*inode).is_none() && known.insert(*inode)));
    hashes
}
