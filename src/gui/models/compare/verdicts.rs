//! On which of the GPUs that are common, or that were named, each image runs.

use std::sync::Arc;

use crate::analysis::Analysis;
use crate::base::text::printable;
use crate::cuda::compat::{Judge, RunVerdict, TargetGpu, default_targets};

/// A machine, and whether each image runs on it.
pub(super) struct MachineVerdicts {
    pub(super) name: String,
    /// `None` where it is unknown.
    pub(super) verdicts: Vec<Option<&'static str>>,
    pub(super) reasons: Vec<String>,
}

/// The machines; none where no image uses CUDA.
#[derive(Default)]
pub(super) struct Verdicts {
    pub(super) targets: Vec<MachineVerdicts>,
}

impl Verdicts {
    pub(super) fn new(images: &[Arc<Analysis>]) -> Self {
        let needs: Vec<_> = images.iter().map(|image| image.needs()).collect();
        if !needs.iter().flatten().any(|needs| needs.uses_cuda) {
            return Self::default();
        }
        let named = images.iter().map(|image| &image.targets).find(|targets| !targets.is_empty());
        let common = || images.first().map(|image| default_targets(image.known_rules())).unwrap_or_default();
        let targets: Vec<TargetGpu> = named.map_or_else(common, |targets| targets.to_vec());
        let judges: Vec<Option<Judge<'_>>> = images
            .iter()
            .zip(&needs)
            .map(|(image, needs)| Some(Judge::new(needs.as_ref()?, image.known_rules())))
            .collect();
        let row = |target: &TargetGpu| {
            let both = judges.iter().map(|judge| match judge.as_ref().map(|judge| judge.judge(target)) {
                Some(found) => (word(found.verdict), printable(&found.why)),
                None => (None, "Image requirements are unknown.".to_owned()),
            });
            let (verdicts, reasons) = both.unzip();
            MachineVerdicts { name: printable(target.name.trim_start_matches("NVIDIA ")), verdicts, reasons }
        };
        Self { targets: targets.iter().map(row).collect() }
    }
}

fn word(verdict: RunVerdict) -> Option<&'static str> {
    (verdict != RunVerdict::Unknown).then(|| verdict.label())
}
