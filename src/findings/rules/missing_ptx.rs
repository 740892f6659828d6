//! Targets for which files have no GPU code.

use std::collections::BTreeMap;

use super::common::holds;
use super::unused_gpu_code::{CodeFile, holders, names};
use crate::base::text::and_more;
use crate::cuda::compat::{TargetGpu, default_targets};
use crate::cuda::links::RootKind;
use crate::cuda::{Fit, GpuCode, Supplier, Use, fit};
use crate::findings::classification::item;
use crate::findings::draft::Draft;
use crate::findings::facts::Facts;
use crate::findings::value::{Category, Rule, Severity, Verdict};
use crate::formats::fatbin::{GpuKind, Suffix};
use crate::rootfs::NodeId;

pub(super) static RULE: Rule = Rule {
    id: "missing-ptx",
    title: "No GPU code for a target",
    category: Category::Configuration,
    severity: Severity::High,
    fix: "Build for the target as well, or include PTX.",
    page: include_str!("../../../assets/manual/rules/missing-ptx.md"),
};

/// Maximum files listed per target.
const NAMED: usize = 12;

/// A reachable file with GPU code.
struct Holder<'a> {
    node: NodeId,
    supplier: Supplier,
    code: Vec<&'a GpuCode>,
    /// Whether a root always loads it.
    firm: bool,
    /// Whether the entrypoint always loads it.
    started: bool,
}

/// Creates the finding about targets and their files.
type Tell = fn(&Facts<'_>, &[&TargetGpu], &[&Holder<'_>]) -> Draft;

pub(super) fn find(facts: &Facts<'_>) -> Vec<Draft> {
    let holders = used_holders(facts);
    let mut drafts = Vec::new();
    for (wanted, make) in [(Fit::Never, fails as Tell), (Fit::Jit, compiles)] {
        // Targets with the same files form one finding.
        let mut groups: BTreeMap<Vec<usize>, Vec<&TargetGpu>> = BTreeMap::new();
        for target in facts.input.targets {
            let best = |holder: &Holder<'_>| holder.code.iter().map(|row| on(target, row)).max();
            let files: Vec<usize> = holders
                .iter()
                .enumerate()
                .filter(|(_, holder)| best(holder) == Some(wanted))
                .map(|(place, _)| place)
                .collect();
            if !files.is_empty() {
                groups.entry(files).or_default().push(target);
            }
        }
        for (files, targets) in groups {
            let files: Vec<&Holder<'_>> = files.iter().filter_map(|place| holders.get(*place)).collect();
            drafts.push(make(facts, &targets, &files));
        }
    }
    drafts.extend(without_ptx(facts, &holders));
    drafts
}

fn on(target: &TargetGpu, row: &GpuCode) -> Fit {
    fit(target.sm, row.kind, row.arch, row.suffix)
}

/// Reachable files with SASS or PTX, or roots themselves.
fn used_holders<'a>(facts: &Facts<'a>) -> Vec<Holder<'a>> {
    let links = &facts.inventory.links;
    let firmly = links.firmly_used();
    let mut found = Vec::new();
    for CodeFile { node, supplier, code, .. } in holders(facts) {
        let code: Vec<&GpuCode> = code.iter().filter(|row| row.is_for_running()).collect();
        // CMake tries out the compiler there.
        if holds(&facts.path(node), b"/CMakeFiles/") {
            continue;
        }
        let Some(inode) = facts.node(node).content() else { continue };
        let Some((id, object)) = facts.object_of(inode) else { continue };
        // One architecture on purpose: the opener checks the GPU first.
        let on_purpose = code.iter().all(|row| row.suffix == Some(Suffix::A));
        if object.usage == Use::Unreferenced && object.root.is_none() || code.is_empty() || on_purpose {
            continue;
        }
        let root = links.chain(id).last().and_then(|root| links.object(*root).root.as_ref());
        let started = root.is_some_and(|root| matches!(root.kind, RootKind::Entrypoint | RootKind::Preload));
        let firm = firmly.get(id.0 as usize).copied().unwrap_or(false);
        found.push(Holder { node, supplier, code, firm, started });
    }
    found.sort_by_cached_key(|holder| facts.path(holder.node));
    found
}

fn draft(facts: &Facts<'_>, title: String, files: &[&Holder<'_>]) -> Draft {
    let mut draft = Draft::new(&RULE, Verdict::Unsure, title);
    draft.items = files
        .iter()
        .filter_map(|file| Some(item(&facts.classification, facts.rootfs, facts.node(file.node).content()?)))
        .collect();
    draft
}

/// Lists the files of each target.
fn tell(facts: &Facts<'_>, draft: &mut Draft, targets: &[&TargetGpu], files: &[&Holder<'_>], what: &str) {
    let more = and_more(files.len(), NAMED);
    let list: Vec<String> = files.iter().take(NAMED).map(|file| facts.shown(file.node)).collect();
    for target in targets {
        draft.proof.push(format!("{} {what}: {}{more}", target.title(), list.join(", ")));
    }
    draft.subjects = targets.iter().map(|target| target.id.clone()).collect();
}

fn fails(facts: &Facts<'_>, targets: &[&TargetGpu], files: &[&Holder<'_>]) -> Draft {
    let all = names(targets.iter().copied());
    let mut draft = draft(facts, format!("No GPU code for {all}"), files);
    let count = files.len();
    let (gpus, them) = if targets.len() == 1 { ("this GPU", "it") } else { ("these GPUs", "them") };
    draft.reason = format!(
        "{count} {} code for {gpus}: no SASS that runs there and no PTX to compile. Kernels that {} fail with error 209 (no kernel image).",
        if count == 1 { "reachable file has no" } else { "reachable files have no" },
        if count == 1 { "it launches" } else { "they launch" },
    );
    tell(facts, &mut draft, targets, files, "has no code in");
    let these = if count == 1 { "this file has" } else { "these files have" };
    draft.question = Some(format!("Is it acceptable that {these} no code for {all}?"));
    let asked_for = facts.input.targets != default_targets(facts.catalog);
    let started = files.iter().any(|file| file.firm && file.started);
    draft.severity = Some(match (files.iter().any(|file| file.firm), asked_for) {
        (true, true) => Severity::High,
        (true, false) if started => Severity::High,
        (true, false) => Severity::Medium,
        (false, _) => Severity::Low,
    });
    let mut numbers: Vec<u32> = targets.iter().map(|target| target.sm).collect();
    numbers.sort_unstable();
    numbers.dedup();
    let flags: Vec<String> =
        numbers.iter().map(|sm| format!("-gencode arch=compute_{sm},code=sm_{sm}")).collect();
    draft.fix = if files.iter().all(|file| file.supplier == Supplier::Application) {
        format!("Build for {them} as well: nvcc {}.", flags.join(" "))
    } else {
        format!(
            "Use builds of these packages that support {all}, and build your own code with {}.",
            flags.join(" ")
        )
    };
    draft
}

fn compiles(facts: &Facts<'_>, targets: &[&TargetGpu], files: &[&Holder<'_>]) -> Draft {
    let all = names(targets.iter().copied());
    let mut draft = draft(facts, format!("JIT compilation at the first start on {all}"), files);
    let (gpus, them) = if targets.len() == 1 { ("this GPU", "it") } else { ("these GPUs", "them") };
    draft.reason = format!(
        "{} reachable {} only PTX for {gpus}: the driver compiles it on first load, and the PTX version must not be newer than the driver.",
        files.len(),
        if files.len() == 1 { "file has" } else { "files have" },
    );
    tell(facts, &mut draft, targets, files, "has only PTX in");
    draft.question = Some(format!("Is JIT compilation at the first start acceptable on {all}?"));
    draft.severity = Some(Severity::Low);
    draft.fix =
        format!("Build with SASS for {them}, or keep the driver cache (CUDA_CACHE_PATH) on a volume.");
    draft
}

/// Application code without PTX that a later GPU could compile.
fn without_ptx(facts: &Facts<'_>, holders: &[Holder<'_>]) -> Option<Draft> {
    let lasts = |row: &&GpuCode| row.kind == GpuKind::Ptx && row.suffix.is_none();
    let files: Vec<&Holder<'_>> = holders
        .iter()
        .filter(|holder| holder.supplier == Supplier::Application && !holder.code.iter().any(lasts))
        .collect();
    let newest = files.iter().flat_map(|file| &file.code).map(|row| row.arch / 10).max()?;
    let title = format!("No PTX for GPUs after compute capability {newest}.x");
    let mut draft = draft(facts, title, &files);
    draft.severity = Some(Severity::Info);
    draft.reason = format!(
        "The application code has no PTX: it does not run on GPUs with a major version after {newest}."
    );
    for file in files.iter().take(NAMED) {
        let major = file.code.iter().map(|row| row.arch / 10).max().unwrap_or_default();
        draft
            .proof
            .push(format!("{} supports GPUs up to compute capability {major}.x", facts.shown(file.node)));
    }
    draft.question = Some("Does the image run only on GPUs that it has code for today?".to_owned());
    let arch = files.iter().flat_map(|file| &file.code).map(|row| row.arch).max().unwrap_or_default();
    draft.fix =
        format!("Add PTX of the newest architecture: nvcc -gencode arch=compute_{arch},code=compute_{arch}.");
    draft.subjects = files.iter().map(|file| facts.shown(file.node)).collect();
    Some(draft)
}
