//! The plan: which findings are to be carried out, and what the image is then.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use super::item::can_be_chosen;
use super::words;
use crate::analysis::Analysis;
use crate::base::size::human;
use crate::base::text::printable;
use crate::findings::{Findings, Plan, Verdict};
use crate::gui::models::format::count;

/// What the user does to a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlanChange {
    /// Puts the finding with this id in, or takes it out.
    Set(String, bool),
    /// All findings that are safe to remove, and no other.
    AllSafe,
    /// No finding.
    Clear,
}

/// The plan of one image. It begins with all that is safe; what the user changed outlives a new analysis.
#[derive(Clone, Default)]
pub struct ChosenPlan {
    plan: Plan,
    /// Whether it begins with nothing rather than with all that is safe.
    from_nothing: bool,
    changes: BTreeMap<String, bool>,
    analysis: Option<Arc<Analysis>>,
    prediction: Option<Prediction>,
    revision: u64,
}

/// Sizes now, and when the plan is carried out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prediction {
    /// How many findings are chosen.
    pub chosen: usize,
    /// Of them: those whose question is open.
    pub open: usize,
    /// How many could be chosen.
    pub choosable: usize,
    /// Bytes of the merged view.
    pub merged: (u64, u64),
    /// Blobs as stored: the second one is an estimate. `None` where the size of a blob is not known.
    pub pull: Option<(u64, u64)>,
    /// Bytes that the layers lose.
    pub lost: u64,
}

impl ChosenPlan {
    /// Takes in news of the analysis.
    pub fn update(&mut self, analysis: Option<&Arc<Analysis>>) {
        let findings = |analysis: Option<&Arc<Analysis>>| analysis.and_then(|one| one.findings.clone());
        let (old, new) = (findings(self.analysis.as_ref()), findings(analysis));
        let same = match (&old, &new) {
            (Some(old), Some(new)) => Arc::ptr_eq(old, new),
            (None, None) => true,
            _ => false,
        };
        self.analysis = new.is_some().then(|| analysis.cloned()).flatten();
        if !same {
            self.make();
        }
    }

    /// Carries out what the user asks for.
    pub fn change(&mut self, change: PlanChange) {
        match change {
            PlanChange::Set(id, chosen) => {
                let of = self.findings().and_then(|findings| findings.find(&id));
                if of.is_some_and(|one| can_be_chosen(one.verdict, one.bytes)) {
                    self.changes.insert(id, chosen);
                }
            }
            PlanChange::AllSafe | PlanChange::Clear => {
                self.changes.clear();
                self.from_nothing = change == PlanChange::Clear;
            }
        }
        self.make();
    }

    /// Grows whenever the plan is another one.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// Whether a finding is in it.
    pub fn contains(&self, id: &str) -> bool {
        self.plan.contains(id)
    }

    /// The plan itself.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// What the image is when it is carried out; `None` until the findings are there.
    pub fn prediction(&self) -> Option<&Prediction> {
        self.prediction.as_ref()
    }

    /// The plan as text, for the clipboard; `None` until the findings are there.
    pub fn text(&self) -> Option<String> {
        let (analysis, prediction) = (self.analysis.as_deref()?, self.prediction()?);
        let findings = analysis.findings.as_deref()?;
        let mut text = String::new();
        let name = printable(&crate::base::redact::reference(&analysis.image.reference));
        // Writing to a String cannot fail.
        writeln!(text, "Plan for {name}: {}", count(prediction.chosen, "finding")).ok();
        let (now, then) = prediction.merged;
        writeln!(text, "Unpacked: {} now, {} then", human(now), human(then)).ok();
        if let Some((now, then)) = prediction.pull {
            writeln!(text, "Pull: {} now, about {} then (an estimate)", human(now), human(then)).ok();
        }
        for finding in findings.list.iter().filter(|one| self.contains(&one.id)) {
            let layers: Vec<u16> = finding.layers.iter().map(|share| share.layer).collect();
            let (title, bytes) = (printable(&finding.title), human(finding.bytes));
            let verdict = words::verdict(finding.verdict).to_lowercase();
            writeln!(text, "\n- {title}: {bytes} in {}", words::layers(&layers)).ok();
            writeln!(text, "  {verdict} ({})", finding.rule.id).ok();
            if let Some(question) = &finding.question {
                writeln!(text, "  open question: {}", printable(question)).ok();
            }
            writeln!(text, "  to do: {}", printable(&finding.fix)).ok();
        }
        Some(text)
    }

    fn findings(&self) -> Option<&Findings> {
        self.analysis.as_deref()?.findings.as_deref()
    }

    fn make(&mut self) {
        self.revision += 1;
        let Some(analysis) = &self.analysis else {
            (self.plan, self.prediction) = (Plan::default(), None);
            return;
        };
        let Some(findings) = analysis.findings.as_deref() else { return };
        let mut plan = if self.from_nothing { Plan::default() } else { Plan::of_safe(findings) };
        for finding in &findings.list {
            if let Some(chosen) = self.changes.get(&finding.id)
                && can_be_chosen(finding.verdict, finding.bytes)
            {
                plan.set(&finding.id, *chosen);
            }
        }
        plan.settle(findings);
        self.prediction = predict(analysis, findings, &plan);
        self.plan = plan;
    }
}

fn predict(analysis: &Analysis, findings: &Findings, plan: &Plan) -> Option<Prediction> {
    let predicted = analysis.predict(plan)?;
    let totals = analysis.totals()?;
    let chosen = || findings.list.iter().filter(|one| plan.contains(&one.id));
    Some(Prediction {
        chosen: chosen().count(),
        open: chosen().filter(|one| one.verdict == Verdict::Unsure).count(),
        choosable: findings.list.iter().filter(|one| can_be_chosen(one.verdict, one.bytes)).count(),
        merged: (totals.merged_bytes, predicted.merged_bytes),
        pull: totals.compressed_bytes.zip(predicted.compressed_bytes),
        lost: chosen().map(|one| one.bytes).sum(),
    })
}

impl Prediction {
    /// What is chosen, in words.
    pub fn sentence(&self) -> String {
        if self.choosable == 0 {
            return "No finding has bytes that can be taken away.".to_owned();
        }
        let mut text = match self.chosen {
            0 => format!("None of {} chosen", count(self.choosable, "finding")),
            chosen => format!("With {} of {} chosen", chosen, count(self.choosable, "finding")),
        };
        match self.open {
            0 => {}
            1 => text.push_str(", 1 with an open question"),
            open => text = format!("{text}, {open} with open questions"),
        }
        text.push('.');
        text
    }

    /// What the plan makes of the sizes, in a sentence for the overview; `None` when it changes nothing.
    pub fn outcome(&self) -> Option<String> {
        if self.chosen == 0 {
            return None;
        }
        let findings = match self.chosen {
            1 => "the finding of the plan".to_owned(),
            chosen => format!("the {chosen} findings of the plan"),
        };
        let pull =
            self.pull.map_or_else(String::new, |(_, then)| format!(" and about {} compressed", human(then)));
        Some(format!("Without {findings} that would be {} of files{pull}.", human(self.merged.1)))
    }
}
