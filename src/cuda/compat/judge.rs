//! Verdicts: each rule has its own verdict, and the worst one is the verdict of the image.

mod code;
mod compat;
mod cudnn;
mod driver;
mod host;
mod place;
mod requirement;
#[cfg(test)]
mod tests;

use std::cmp::Reverse;

use super::{Judgement, Needs, Reason, RuleId, RunVerdict, TargetGpu};
use crate::base::text::sentence;
use crate::cuda::catalog::Catalog;
use host::Host;

/// Whether an image runs on a target. Deterministic: depends only on needs, target and catalogue. For many
/// targets [`Judge`] prepares the shared part once.
pub fn judge(needs: &Needs, target: &TargetGpu, catalog: &Catalog) -> Judgement {
    Judge::new(needs, catalog).judge(target)
}

/// The needs of an image, prepared for many targets.
pub struct Judge<'a> {
    needs: &'a Needs,
    catalog: &'a Catalog,
    requirements: requirement::Requirements<'a>,
    code: code::Code<'a>,
}

impl<'a> Judge<'a> {
    /// Reads each row of each file with GPU code once; each target then costs one pass over the groups of
    /// files with equal code.
    pub fn new(needs: &'a Needs, catalog: &'a Catalog) -> Self {
        let requirements = requirement::Requirements::new(needs);
        Self { needs, catalog, requirements, code: code::Code::new(needs) }
    }

    /// Whether the image runs on a target.
    pub fn judge(&self, target: &TargetGpu) -> Judgement {
        let needs = self.needs;
        let platform = place::platform(needs, target);
        // If the platform does not match, nothing else matters.
        if let Some(other) = platform.as_ref().filter(|reason| reason.verdict == RunVerdict::Fails) {
            return concluded(vec![other.clone()]);
        }
        let incomplete = needs.incomplete.as_deref().map(incomplete);
        let host = Host::new(target, self.catalog);
        // The container toolkit checks them even for images without CUDA.
        let requirements = self.requirements.judge(&host);
        if !needs.uses_cuda {
            let none = Reason::new(RunVerdict::Runs, RuleId::NoCuda, "The image does not use CUDA.");
            let bad = requirements.into_iter().filter(|reason| reason.verdict != RunVerdict::Runs);
            return concluded(bad.chain([incomplete.unwrap_or(none)]).collect());
        }
        let before = platform
            .into_iter()
            .chain(requirements)
            .chain(place::judge(needs, target))
            .chain(driver::dropped(&host));
        let (remarks, mut reasons): (Vec<Reason>, Vec<Reason>) =
            before.partition(|reason| reason.verdict == RunVerdict::Runs);
        let driven = driver::judge(needs, &host);
        reasons.extend(driven.reasons);
        let coded = self.code.judge(&host, &driven.ptx);
        reasons.extend(coded.reasons);
        let (fine, cudnn): (Vec<Reason>, Vec<Reason>) =
            cudnn::judge(needs, &host).into_iter().partition(|reason| reason.verdict == RunVerdict::Runs);
        reasons.extend(cudnn);
        if let Some(incomplete) = incomplete {
            // Unread parts may contain what is missing: only verdicts independent of the image's content are
            // certain.
            for reason in reasons.iter_mut().filter(|reason| !is_certain(reason.rule)) {
                reason.verdict = reason.verdict.min(RunVerdict::Unknown);
            }
            reasons.push(incomplete);
        }
        reasons.extend(proofs(&reasons, coded.proof, driven.proof));
        if reasons.is_empty() {
            let text = "The image uses CUDA, but states no CUDA version and has no GPU code.";
            reasons.push(Reason::new(RunVerdict::Runs, RuleId::Driver, text));
        }
        reasons.extend(fine);
        reasons.extend(remarks);
        reasons.extend(coded.remarks);
        concluded(reasons)
    }
}

/// Whether the verdict is independent of unread parts of the image.
fn is_certain(rule: RuleId) -> bool {
    matches!(rule, RuleId::Platform | RuleId::Requirement | RuleId::DriverDropped)
}

fn incomplete(why: &str) -> Reason {
    let text = format!("Requirements unknown: {}", why.trim_end_matches('.'));
    Reason::new(RunVerdict::Unknown, RuleId::Incomplete, sentence(&text))
}

/// Reasons for a positive verdict. If no reason is negative, the first one is the complete justification and
/// serves as the verdict's text.
fn proofs(reasons: &[Reason], code: Option<code::Proof>, driver: Option<(RuleId, String)>) -> Vec<Reason> {
    let runs = |rule, text: &str| Reason::new(RunVerdict::Runs, rule, sentence(text));
    let fine = reasons.iter().all(|reason| reason.verdict == RunVerdict::Runs);
    let whole = match (&code, driver) {
        (Some(code), Some((rule, driver))) if fine => {
            Some(runs(rule, &format!("{}. {}", code.all, sentence(&driver))))
        }
        (_, driver) => driver.map(|(rule, text)| runs(rule, &text)),
    };
    let code = code.map(|code| {
        let text = if fine && whole.is_some() { code.files } else { code.all };
        runs(RuleId::GpuCode, &text).about(code.subject)
    });
    whole.into_iter().chain(code).collect()
}

/// Maximum number of listed reasons: an image may have thousands of owners of GPU code.
const MOST_REASONS: usize = 100;

fn concluded(mut reasons: Vec<Reason>) -> Judgement {
    // The stable sort preserves the order of the rules among equal verdicts.
    reasons.sort_by_key(|reason| Reverse(reason.verdict));
    if reasons.len() > MOST_REASONS {
        let more = reasons.split_off(MOST_REASONS);
        if let Some(first) = more.first() {
            let text = format!("{} more reasons, none worse.", more.len());
            reasons.push(Reason::new(first.verdict, RuleId::GpuCode, text));
        }
    }
    let first = reasons.first();
    Judgement {
        verdict: first.map_or(RunVerdict::Unknown, |reason| reason.verdict),
        why: first.map(|reason| reason.text.clone()).unwrap_or_default(),
        reasons,
    }
}

impl Reason {
    fn new(verdict: RunVerdict, rule: RuleId, text: impl Into<String>) -> Self {
        Self { verdict, rule, text: text.into(), subject: None, error: None, hint: None }
    }

    fn about(self, subject: impl Into<String>) -> Self {
        Self { subject: Some(subject.into()), ..self }
    }

    fn with_error(self, code: u32, name: &'static str) -> Self {
        Self { error: Some((code, name)), ..self }
    }

    fn with_hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }
}
