//! On which GPUs an image runs, in a sentence.

use super::target::works;
use crate::analysis::Analysis;
use crate::base::labels::inline;
use crate::base::text::{elide_end, printable};
use crate::cuda::compat::{Judge, Judgement, RunVerdict, TargetGpu, default_targets};

/// Letters of a reason.
const WHY: usize = 160;
const COMMON: &str = "common data center GPUs";

/// The verdict on the requested targets, or on common data-centre GPUs. `None` while it
/// is unknown, and for an image without CUDA.
pub fn runs_line(analysis: &Analysis) -> Option<String> {
    let needs = analysis.needs()?;
    if !needs.uses_cuda {
        return None;
    }
    let common = default_targets(analysis.known_rules());
    let (targets, what) = match &analysis.targets[..] {
        [] => (&common[..], COMMON),
        named if named == common => (named, COMMON),
        named => (named, "requested targets"),
    };
    let judge = Judge::new(&needs, analysis.known_rules());
    let judged = targets.iter().map(|target| (name(target), judge.judge(target))).collect::<Vec<_>>();
    (!judged.is_empty()).then(|| line(&judged, what))
}

fn line(judged: &[(String, Judgement)], what: &str) -> String {
    let all = judged.len();
    let runs = judged.iter().filter(|(_, judgement)| works(judgement.verdict)).count();
    let mut line = match runs {
        0 => format!("Runs on 0 of {all} {what}"),
        _ if runs == all => format!("Runs on all {all} {what}"),
        _ => format!("Runs on {runs} of {all} {what}"),
    };
    for (verdict, on) in [(RunVerdict::Fails, "on"), (RunVerdict::Unknown, "for")] {
        let of: Vec<_> = judged.iter().filter(|(_, judgement)| judgement.verdict == verdict).collect();
        if let Some((_, first)) = of.first() {
            let names: Vec<&str> = of.iter().map(|(name, _)| name.as_str()).collect();
            let why = elide_end(first.why.trim_end_matches('.'), WHY);
            line = format!("{line}; {} {on} {}: {why}", inline(verdict.label()), names.join(", "));
        }
    }
    line + "."
}

fn name(target: &TargetGpu) -> String {
    let of_catalog = target.id.starts_with("gpu:");
    if of_catalog { printable(target.name.trim_start_matches("NVIDIA ")) } else { printable(&target.id) }
}

#[cfg(test)]
mod tests {
    use super::line;
    use crate::cuda::compat::Judgement;
    use crate::cuda::compat::RunVerdict::{self, Fails, Runs, RunsWithJit, Unknown};

    #[test]
    fn what_does_not_run_is_named_with_its_reason() {
        let judged = |verdicts: &[(&str, RunVerdict)]| {
            let one = |(name, verdict): &(&str, RunVerdict)| {
                let why = format!("because of {name}.");
                (String::from(*name), Judgement { verdict: *verdict, why, reasons: Vec::new() })
            };
            verdicts.iter().map(one).collect::<Vec<_>>()
        };
        for (verdicts, wanted) in [
            (vec![("A10", Runs), ("L4", RunsWithJit)], "Runs on all 2 GPUs."),
            (
                vec![("T4", Fails), ("V100", Fails), ("L4", Runs)],
                "Runs on 1 of 3 GPUs; fails on T4, V100: because of T4.",
            ),
            (
                vec![("T4", Fails), ("L4", Unknown)],
                "Runs on 0 of 2 GPUs; fails on T4: because of T4; unknown for L4: because of L4.",
            ),
        ] {
            assert_eq!(line(&judged(&verdicts), "GPUs"), wanted);
        }
    }
}
