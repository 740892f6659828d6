//! GPU code that no target uses.

use std::collections::BTreeMap;

use hashbrown::HashSet;

use crate::base::size::human;
use crate::cuda::compat::TargetGpu;
use crate::cuda::links::site_root;
use crate::cuda::pruning::{CodeRatios, EstimateRow, PruneEstimate, PruneRule};
use crate::cuda::{GpuCode, HolderKind, Library, Supplier, arch_name};
use crate::findings::classification::item;
use crate::findings::draft::Draft;
use crate::findings::facts::Facts;
use crate::findings::value::{Category, Rule, Severity, Verdict};
use crate::formats::fatbin::{ContainerFacts, GpuKind};
use crate::rootfs::NodeId;

pub(super) static RULE: Rule = Rule {
    id: "unused-gpu-code",
    title: "GPU code unused by all targets",
    category: Category::UnusedGpuCode,
    severity: Severity::Info,
    fix: "Remove it with cutaway slim --target, or build for the architectures of the targets.",
    page: include_str!("../../../assets/manual/rules/unused-gpu-code.md"),
};

/// Maximum files listed one by one.
const NAMED: usize = 8;

/// A file with GPU code.
pub(super) struct CodeFile<'a> {
    pub(super) node: NodeId,
    pub(super) supplier: Supplier,
    pub(super) code: &'a [GpuCode],
    containers: &'a ContainerFacts,
}

/// A file and what the rule removes from it.
struct Unused {
    node: NodeId,
    removed: EstimateRow,
}

#[derive(Default)]
struct Group {
    files: Vec<Unused>,
    estimate: PruneEstimate,
}

pub(super) fn find(facts: &Facts<'_>) -> Vec<Draft> {
    let targets = facts.input.targets;
    if targets.is_empty() {
        return Vec::new();
    }
    let rule = PruneRule::new(targets.iter().map(|target| target.sm), false);
    let sorted: HashSet<_> =
        facts.classification.files.iter().map(|file| (file.item.layer, file.item.entry)).collect();
    let files = holders(facts);
    let ratios = CodeRatios::of(files.iter().map(|file| file.containers));
    let mut groups: BTreeMap<Supplier, Group> = BTreeMap::new();
    for file in files {
        // Build content has a finding of its own, with all of its bytes.
        if facts.node(file.node).content().is_none_or(|inode| sorted.contains(&inode)) {
            continue;
        }
        let estimate = rule.estimate(file.containers, &ratios);
        let removed = estimate.total();
        if removed.removed_bytes > 0 {
            let group = groups.entry(file.supplier).or_default();
            group.files.push(Unused { node: file.node, removed });
            group.estimate.add(&estimate);
        }
    }
    groups.into_iter().map(|(supplier, group)| draft(facts, supplier, group)).collect()
}

/// Files with GPU code, each inode once, and their suppliers.
pub(super) fn holders<'a>(facts: &Facts<'a>) -> Vec<CodeFile<'a>> {
    let inventory = facts.inventory;
    let libraries = inventory.libraries.iter().filter(|library| {
        library.hard_link_of.is_none() && library.foreign.is_none() && !library.gpu_code.is_empty()
    });
    let library = |library: &'a Library| CodeFile {
        node: library.node,
        supplier: library.supplier,
        code: &library.gpu_code,
        containers: &library.containers,
    };
    let mut found: Vec<_> = libraries.map(library).collect();
    // Archives are build content.
    let others = inventory.holders.iter().filter(|holder| holder.kind != HolderKind::Archive);
    found.extend(others.map(|holder| CodeFile {
        node: holder.node,
        supplier: supplier(facts, holder.node),
        code: &holder.gpu_code,
        containers: &holder.containers,
    }));
    found
}

fn supplier(facts: &Facts<'_>, node: NodeId) -> Supplier {
    let path = facts.path(node);
    let owner = facts.owner(node).and_then(|place| facts.inventory.packages.get(place));
    match owner.map(|package| package.manager) {
        _ if site_root(&path).is_some() => Supplier::Wheel,
        Some("pip") => Supplier::Wheel,
        Some("conda") => Supplier::Conda,
        _ if facts.catalog.toolkit_root(&path).is_some() => Supplier::Toolkit,
        Some(_) => Supplier::Distro,
        None => Supplier::Application,
    }
}

/// The titles of targets as a list.
pub(super) fn names<'t>(targets: impl IntoIterator<Item = &'t TargetGpu>) -> String {
    targets.into_iter().map(TargetGpu::title).collect::<Vec<_>>().join(", ")
}

fn draft(facts: &Facts<'_>, supplier: Supplier, mut group: Group) -> Draft {
    let targets = facts.input.targets;
    let own = supplier == Supplier::Application;
    let who = match supplier {
        Supplier::Wheel => "Python packages",
        Supplier::Conda => "conda packages",
        Supplier::Toolkit => "CUDA toolkit libraries",
        Supplier::Distro => "distribution packages",
        Supplier::Application => "application files",
    };
    let all = match targets.len() {
        1 | 2 => names(targets),
        count => format!("all {count} targets"),
    };
    let title = format!("GPU code in {who}, unused by {all}");
    let mut draft = Draft::new(&RULE, Verdict::Unsure, title);
    group.files.sort_by_key(|file| std::cmp::Reverse(file.removed.removed_bytes));
    let total = group.estimate.total();
    draft.potential_bytes = total.removed_bytes;
    draft.potential_compressed_bytes = total.removed_compressed_bytes;
    let count = group.files.len();
    draft.reason = format!(
        "{count} {} {} of GPU code that the targets cannot run or do not need. {}",
        if count == 1 { "file has" } else { "files have" },
        human(draft.potential_bytes),
        match total.removed_compressed_bytes {
            Some(bytes) => format!("Without it, about {} less is pulled.", human(bytes)),
            None => "How much less would be pulled is unknown.".to_owned(),
        },
    );
    draft.proof.push(format!("targets: {}", names(targets)));
    let mut architectures: Vec<(String, u64)> = Vec::new();
    for ((kind, arch, suffix), row) in &group.estimate.rows {
        if row.removed_bytes > 0 {
            architectures.push((arch_name(*kind, *arch, *suffix), row.removed_bytes));
        }
    }
    architectures.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    let list: Vec<String> =
        architectures.iter().map(|(name, bytes)| format!("{name} {}", human(*bytes))).collect();
    draft.proof.push(format!("by architecture: {}", list.join(", ")));
    for file in group.files.iter().take(NAMED) {
        let row = &file.removed;
        draft.proof.push(format!(
            "{}: {} of {}, {}",
            facts.shown(file.node),
            human(row.removed_bytes),
            human(row.removed_bytes.saturating_add(row.kept_bytes)),
            row.removed_compressed_bytes.map_or_else(
                || "compressed unknown".to_owned(),
                |bytes| format!("compressed about {}", human(bytes))
            ),
        ));
    }
    if group.estimate.fixed_bytes > 0 {
        let fixed = human(group.estimate.fixed_bytes);
        draft.proof.push(format!("{fixed} in these files stay: in containers that cannot be changed"));
    }
    if group.estimate.rows.iter().any(|((kind, ..), row)| *kind == GpuKind::Ptx && row.removed_bytes > 0) {
        draft.proof.push("with PTX, code for later GPUs is removed too; --keep-ptx keeps it".to_owned());
    }
    draft.items = group
        .files
        .iter()
        .filter_map(|file| Some(item(&facts.classification, facts.rootfs, facts.node(file.node).content()?)))
        .collect();
    draft.question = Some("Does the image run on other GPUs as well?".to_owned());
    let options: Vec<String> = targets.iter().map(|target| format!("--target {}", target.id)).collect();
    let options = options.join(" ");
    draft.fix = format!("Remove it: cutaway slim IMAGE {options} -o FILE. {COSTS}");
    if own {
        /// Below this a build for fewer architectures is not worth the effort.
        const MUCH: u64 = 64 << 20;
        draft.severity = Some(if draft.potential_bytes >= MUCH { Severity::Medium } else { Severity::Low });
        let mut architectures: Vec<u32> = targets.iter().map(|target| target.sm).collect();
        architectures.sort_unstable();
        architectures.dedup();
        let flags: Vec<String> =
            architectures.iter().map(|sm| format!("-gencode arch=compute_{sm},code=sm_{sm}")).collect();
        let newest = architectures.last().copied().unwrap_or_default();
        let newest = format!("-gencode arch=compute_{newest},code=compute_{newest}");
        let build = format!("nvcc {} and PTX for later GPUs with {newest}", flags.join(" "));
        draft.fix = format!("{} Or build for the targets only: {build}.", draft.fix);
    }
    draft
}

/// What the removal costs.
const COSTS: &str = "Other GPUs then fail with error 209, and hashes in RECORD of wheels and *.md5sums of packages no longer match. \
                     Whether changed copies of NVIDIA's files may be used or passed on depends on NVIDIA's licenses.";
