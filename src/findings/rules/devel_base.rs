//! Final stages on a devel base image.

use std::collections::BTreeSet;

use super::build_content::is_loaded;
use crate::base::size::human;
use crate::base::text::{escape, printable};
use crate::cuda::Flavor;
use crate::findings::demand::Certainty;
use crate::findings::draft::Draft;
use crate::findings::facts::Facts;
use crate::findings::value::{Category, Rule, Severity, Verdict};

pub(super) static RULE: Rule = Rule {
    id: "devel-base",
    title: "Devel image as final stage",
    category: Category::Configuration,
    severity: Severity::Medium,
    fix: "Build in a stage on the devel image, and copy the result into the runtime flavor.",
    page: include_str!("../../../assets/manual/rules/devel-base.md"),
};

/// Demand names, besides nvcc, that the runtime flavor does not serve.
const OTHERS: [&str; 6] = ["ptxas", "headers", "libdevice", "libnvvm", "cudadevrt", "cupti"];

/// Maximum libraries listed.
const NAMED: usize = 4;

pub(super) fn find(facts: &Facts<'_>) -> Vec<Draft> {
    let inventory = facts.inventory;
    let base = inventory.base.as_ref().filter(|base| base.flavor == Flavor::Devel);
    let told =
        inventory.base.as_ref().is_some_and(|base| matches!(base.flavor, Flavor::Base | Flavor::Runtime));
    let toolkit = inventory.toolkit.and_then(|place| inventory.toolkits.get(place));
    let (subject, layers, evidence) = match (base, toolkit) {
        (Some(base), _) => {
            let name = base.reference.as_deref().map_or_else(|| "a CUDA devel image".to_owned(), printable);
            (name, base.layers, base.evidence.clone())
        }
        // The toolkit was installed on a smaller flavor: the base does not contain it.
        (None, Some(toolkit)) if toolkit.flavor == Flavor::Devel && !told => {
            let name = format!("the CUDA toolkit {}", escape(&toolkit.root));
            (name, 0, vec![toolkit.evidence.clone()])
        }
        _ => return Vec::new(),
    };
    let devel = || facts.classification.files.iter().filter(|file| file.category.is_devel());
    let of_base = |layer: u16| layers == 0 || usize::from(layer) < layers;
    let bytes = devel()
        .filter(|file| of_base(file.item.layer))
        .fold(0_u64, |sum, file| sum.saturating_add(file.item.bytes));
    let loaded: Vec<String> = devel()
        .filter(|file| of_base(file.item.layer))
        .filter(|file| {
            let object = facts.object_of((file.item.layer, file.item.entry));
            object.is_some_and(|(_, object)| is_loaded(facts, object))
        })
        .filter_map(|file| Some(facts.shown(file.item.node?)))
        .take(NAMED)
        .collect();
    let title = match base {
        Some(_) => format!("Final stage built on {subject}"),
        None => format!("Final stage contains {subject} with its compiler"),
    };
    let mut draft = Draft::new(&RULE, Verdict::Safe, title);
    draft.reason = format!(
        "{} of build-only content in {}.",
        human(bytes),
        match base {
            Some(_) if layers > 0 => format!("its {layers} layers"),
            _ => "it and next to it".to_owned(),
        }
    );
    draft.proof = evidence.iter().map(|text| printable(text)).collect();
    let readers = |name: &str| -> Vec<(bool, String)> {
        let demands = facts.demands.on(name, None).filter_map(|place| facts.demands.get(place));
        demands
            .map(|demand| (demand.certainty == Certainty::Known, format!("{} {}", demand.who, demand.why)))
            .collect()
    };
    let of_nvcc = if facts.demands.any("nvcc") { readers("nvcc") } else { Vec::new() };
    let of_others: Vec<(bool, String)> = OTHERS.iter().flat_map(|name| readers(name)).collect();
    if of_nvcc.iter().any(|(known, _)| *known) {
        draft.verdict = Verdict::Needed;
        draft.reason.push_str(" nvcc runs at run time.");
    } else if let Some((_, first)) = of_nvcc.first() {
        draft.verdict = Verdict::Unsure;
        draft.question = Some(format!("Does the service run nvcc? {first}."));
    } else if !loaded.is_empty() || !of_others.is_empty() {
        draft.verdict = Verdict::Unsure;
        draft.question =
            Some("Does the service use parts of the devel flavor beyond those in the proof?".to_owned());
        draft.reason.push_str(" Nothing is known to run nvcc, but other parts are used at run time.");
    } else {
        draft.reason.push_str(" Nothing is known to run nvcc or to read its parts at run time.");
    }
    for path in loaded {
        draft.proof.push(format!("{path} is build-only content, and a reachable program loads it"));
    }
    let told: BTreeSet<String> = of_nvcc.into_iter().chain(of_others).map(|(_, text)| text).collect();
    draft.proof.extend(told);
    draft.subjects = vec![subject];
    vec![draft]
}
