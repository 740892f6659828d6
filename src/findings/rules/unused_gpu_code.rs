//! GPU code that no target uses.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use crate::base::size::human;
use crate::cuda::compat::TargetGpu;
use crate::cuda::links::site_root;
use crate::cuda::{Fit, GpuCode, HolderKind, Supplier, arch_name, fit};
use crate::findings::classification::item;
use crate::findings::facts::Facts;
use crate::findings::finish::Draft;
use crate::findings::value::{Category, Rule, Severity, Verdict};
use crate::formats::fatbin::{GpuKind, Suffix};
use crate::rootfs::NodeId;

pub(super) static RULE: Rule = Rule {
    id: "unused-gpu-code",
    title: "GPU code unused by all targets",
    category: Category::UnusedGpuCode,
    severity: Severity::Info,
    fix: "Build for the architectures of the targets.",
    page: include_str!("../../../assets/manual/rules/unused-gpu-code.md"),
};

/// Maximum files listed one by one.
const NAMED: usize = 8;

/// A file and its unused code.
struct Unused {
    node: NodeId,
    /// Bytes that no target can run.
    never: u64,
    /// Bytes that some target can run, but for which it has a better match.
    worse: u64,
}

#[derive(Default)]
struct Group {
    files: Vec<Unused>,
    architectures: BTreeMap<String, u64>,
}

pub(super) fn find(facts: &Facts<'_>) -> Vec<Draft> {
    let targets = facts.input.targets;
    if targets.is_empty() {
        return Vec::new();
    }
    let sorted: HashSet<_> =
        facts.classification.files.iter().map(|file| (file.item.layer, file.item.entry)).collect();
    let mut groups: BTreeMap<Supplier, Group> = BTreeMap::new();
    for (node, supplier, code) in holders(facts) {
        // Build content has a finding of its own, with all of its bytes.
        if facts.node(node).content().is_none_or(|inode| sorted.contains(&inode)) {
            continue;
        }
        let used = used(code, targets);
        let group = groups.entry(supplier).or_default();
        let mut file = Unused { node, never: 0, worse: 0 };
        for row in code.iter().filter(|row| is_judged(row.kind) && !used.contains(&key(row))) {
            let can =
                targets.iter().any(|target| fit(target.sm, row.kind, row.arch, row.suffix) > Fit::Never);
            let sum = if can { &mut file.worse } else { &mut file.never };
            *sum = sum.saturating_add(row.bytes);
            let of_arch = group.architectures.entry(arch_name(row.kind, row.arch, row.suffix)).or_default();
            *of_arch = of_arch.saturating_add(row.bytes);
        }
        if file.never + file.worse > 0 {
            group.files.push(file);
        }
    }
    groups
        .into_iter()
        .filter(|(_, group)| !group.files.is_empty())
        .map(|(supplier, group)| draft(facts, supplier, group))
        .collect()
}

/// Files with GPU code, each inode once, and their suppliers.
pub(super) fn holders<'a>(facts: &Facts<'a>) -> Vec<(NodeId, Supplier, &'a [GpuCode])> {
    let inventory = facts.inventory;
    let libraries = inventory.libraries.iter().filter(|library| {
        library.hard_link_of.is_none() && library.foreign.is_none() && !library.gpu_code.is_empty()
    });
    let mut found: Vec<_> =
        libraries.map(|library| (library.node, library.supplier, &library.gpu_code[..])).collect();
    // Archives are build content.
    let others = inventory.holders.iter().filter(|holder| holder.kind != HolderKind::Archive);
    found.extend(others.map(|holder| (holder.node, supplier(facts, holder.node), &holder.gpu_code[..])));
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

/// LTO code becomes GPU code when it is linked: its use is unknown.
fn is_judged(kind: GpuKind) -> bool {
    matches!(kind, GpuKind::Sass | GpuKind::Ptx)
}

type Key = (bool, u32, Option<Suffix>);

fn key(row: &GpuCode) -> Key {
    (row.kind == GpuKind::Sass, row.arch, row.suffix)
}

/// The code of one file that the targets use: for each the newest SASS that it runs, in all variants, since kernels may
/// have only one of them; without SASS, the newest PTX.
fn used(code: &[GpuCode], targets: &[TargetGpu]) -> BTreeSet<Key> {
    let mut used = BTreeSet::new();
    for target in targets {
        let runs = |wanted: Fit| {
            code.iter().filter(move |row| fit(target.sm, row.kind, row.arch, row.suffix) == wanted)
        };
        let wanted = if runs(Fit::Native).next().is_some() { Fit::Native } else { Fit::Jit };
        let best = runs(wanted).map(|row| row.arch).max();
        used.extend(runs(wanted).filter(|row| Some(row.arch) == best).map(key));
    }
    used
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
    group.files.sort_by_key(|file| std::cmp::Reverse(file.never.saturating_add(file.worse)));
    let sum = |of: fn(&Unused) -> u64| group.files.iter().map(of).fold(0_u64, u64::saturating_add);
    let (never, worse) = (sum(|file| file.never), sum(|file| file.worse));
    draft.potential_bytes = never.saturating_add(worse);
    let count = group.files.len();
    draft.reason = format!(
        "{count} {} {} of GPU code that the targets do not use.",
        if count == 1 { "file has" } else { "files have" },
        human(draft.potential_bytes),
    );
    draft.reason.push_str(if own {
        " A build for fewer architectures leaves it out."
    } else {
        " No tool can remove it from linked libraries."
    });
    draft.proof.push(format!("targets: {}", names(targets)));
    if never > 0 {
        draft.proof.push(format!("{} for architectures that none of them runs", human(never)));
    }
    if worse > 0 {
        draft.proof.push(format!("{} with a better match for each of them in the same file", human(worse)));
    }
    let mut architectures: Vec<(String, u64)> = group.architectures.into_iter().collect();
    architectures.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    let list: Vec<String> =
        architectures.iter().map(|(name, bytes)| format!("{name} {}", human(*bytes))).collect();
    draft.proof.push(format!("by architecture: {}", list.join(", ")));
    for file in group.files.iter().take(NAMED) {
        draft.proof.push(format!(
            "{}: {}",
            facts.shown(file.node),
            human(file.never.saturating_add(file.worse))
        ));
    }
    draft.items = group
        .files
        .iter()
        .filter_map(|file| Some(item(&facts.classification, facts.rootfs, facts.node(file.node).content()?)))
        .collect();
    draft.question = Some(if own {
        "Does the image run on other GPUs as well?".to_owned()
    } else {
        "Does the image run on other GPUs as well, or is there no smaller build of these packages?".to_owned()
    });
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
        draft.fix = format!(
            "Build for the targets only: nvcc {} and PTX for later GPUs with -gencode arch=compute_{newest},code=compute_{newest}.",
            flags.join(" "),
        );
    } else {
        draft.fix =
            "No fix in this image: use a build of these packages for fewer architectures, if there is one."
                .into();
    }
    draft
}

#[cfg(test)]
mod tests {
    use super::{is_judged, key, used};
    use crate::cuda::GpuCode;
    use crate::cuda::compat::TargetGpu;
    use crate::formats::fatbin::{Compression, GpuKind, Suffix};

    fn row(kind: GpuKind, arch: u32, suffix: Option<Suffix>) -> GpuCode {
        let compression = Compression::None;
        GpuCode {
            arch,
            suffix,
            kind,
            isa: None,
            compression,
            entries: 1,
            without_kernel: 0,
            bytes: 1,
            uncompressed_bytes: 1,
        }
    }

    fn kept(code: &[GpuCode], targets: &[u32]) -> Vec<String> {
        let target = |sm: &u32| TargetGpu { sm: *sm, ..TargetGpu::default() };
        let targets: Vec<TargetGpu> = targets.iter().map(target).collect();
        let used = used(code, &targets);
        let rows = code.iter().filter(|row| is_judged(row.kind) && used.contains(&key(row)));
        rows.map(|row| crate::cuda::arch_name(row.kind, row.arch, row.suffix)).collect()
    }

    #[test]
    fn each_target_takes_its_best_match() {
        let a = Some(Suffix::A);
        let code = [
            row(GpuKind::Sass, 70, None),
            row(GpuKind::Sass, 80, None),
            row(GpuKind::Sass, 86, None),
            row(GpuKind::Sass, 90, None),
            row(GpuKind::Sass, 90, a),
            row(GpuKind::Ptx, 70, None),
            row(GpuKind::Ptx, 90, None),
            row(GpuKind::Lto, 90, None),
        ];
        assert_eq!(kept(&code, &[80]), ["sm_80"]);
        assert_eq!(kept(&code, &[89]), ["sm_86"]);
        assert_eq!(kept(&code, &[80, 86, 90]), ["sm_80", "sm_86", "sm_90", "sm_90a"]);
        // No SASS: the newest PTX that can be compiled there.
        assert_eq!(kept(&code, &[75]), ["sm_70"]);
        assert_eq!(kept(&code, &[61]), Vec::<String>::new());
        assert_eq!(kept(&code, &[100]), ["compute_90"]);
        assert_eq!(kept(&code[5..], &[75, 100]), ["compute_70", "compute_90"]);
    }
}
