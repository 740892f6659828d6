//! The plan: which findings are to be carried out, and what the image is then.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use super::item::can_be_chosen;
use super::prediction::Prediction;
use super::question::{self, QuestionItem};
use super::words;
use crate::analysis::Analysis;
use crate::base::size::human;
use crate::base::text::counted;
use crate::base::text::printable;
use crate::findings::{Answer, Answers, Finding, Findings, Plan, PlanChanges, SavedPlan, Verdict};
use crate::report::{PlanDocument, to_json};

/// What a saved plan brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoadedPlan {
    /// Findings in the plan.
    pub findings: usize,
    /// Answers to questions.
    pub answers: usize,
    /// Whether it was saved for another image.
    pub foreign: bool,
}

/// What the user does to a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlanChange {
    /// Puts the finding with this id in, or takes it out. For an unsure one this answers its question, and no other, with
    /// no, or takes the answer back.
    Set(String, bool),
    /// Answers the question of the finding with this id, or takes the answer back.
    Answer(String, Option<Answer>),
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
    answers: Answers,
    /// What was chosen before each change, oldest first.
    undone_to: Vec<Choice>,
    /// What was undone, oldest change last.
    redone_to: Vec<Choice>,
    questions: Vec<QuestionItem>,
    analysis: Option<Arc<Analysis>>,
    prediction: Option<Prediction>,
    revision: u64,
}

/// Changes that can be undone.
const UNDO: usize = 200;

/// What the user chose, without what follows from it.
#[derive(Clone, PartialEq)]
struct Choice {
    from_nothing: bool,
    changes: BTreeMap<String, bool>,
    answers: Answers,
}

impl ChosenPlan {
    /// Applies updates of the analysis.
    pub fn update(&mut self, analysis: Option<&Arc<Analysis>>) {
        let findings = |analysis: Option<&Arc<Analysis>>| analysis.and_then(|one| one.findings.clone());
        let (old, new) = (findings(self.analysis.as_ref()), findings(analysis));
        let same = old.as_ref().map(Arc::as_ptr) == new.as_ref().map(Arc::as_ptr);
        self.analysis = new.is_some().then(|| analysis.cloned()).flatten();
        if !same {
            self.make();
        }
    }

    fn choice(&self) -> Choice {
        let Self { from_nothing, changes, answers, .. } = self;
        Choice { from_nothing: *from_nothing, changes: changes.clone(), answers: answers.clone() }
    }

    fn choose(&mut self, choice: Choice) {
        let Choice { from_nothing, changes, answers } = choice;
        (self.from_nothing, self.changes, self.answers) = (from_nothing, changes, answers);
        self.make();
    }

    /// Keeps what was chosen before a change.
    fn keep_for_undo(&mut self, before: Choice) {
        if before != self.choice() {
            self.redone_to.clear();
            if self.undone_to.len() == UNDO {
                self.undone_to.remove(0);
            }
            self.undone_to.push(before);
        }
    }

    /// Whether a change can be undone.
    pub fn can_undo(&self) -> bool {
        !self.undone_to.is_empty()
    }

    /// Whether a change was undone.
    pub fn can_redo(&self) -> bool {
        !self.redone_to.is_empty()
    }

    /// Undoes the last change.
    pub fn undo(&mut self) {
        if let Some(before) = self.undone_to.pop() {
            self.redone_to.push(self.choice());
            self.choose(before);
        }
    }

    /// Does again what was undone last.
    pub fn redo(&mut self) {
        if let Some(after) = self.redone_to.pop() {
            self.undone_to.push(self.choice());
            self.choose(after);
        }
    }

    /// Carries out what the user asks for.
    pub fn change(&mut self, change: PlanChange) {
        let before = self.choice();
        self.apply(change);
        self.keep_for_undo(before);
        self.make();
    }

    fn apply(&mut self, change: PlanChange) {
        match change {
            PlanChange::Set(id, chosen) => {
                let of = self.findings().and_then(|findings| findings.find(&id));
                match of.filter(|one| can_be_chosen(one.verdict, one.bytes)).map(|one| one.verdict) {
                    Some(Verdict::Unsure) if chosen => self.answers.remove(id),
                    Some(Verdict::Unsure) if self.answers.get(&id).is_some() => self.answers.take_back(&id),
                    // Answered with another question: this one is not to be removed.
                    Some(Verdict::Unsure) => self.answers.give(id, Answer::Used),
                    Some(_) => {
                        self.changes.insert(id, chosen);
                    }
                    None => {}
                }
            }
            PlanChange::Answer(id, None) => self.answers.take_back(&id),
            PlanChange::Answer(id, Some(answer)) => {
                let of = self.findings().and_then(|findings| findings.find(&id));
                if of.is_some_and(|one| one.question.is_some()) {
                    self.answers.give(id, answer);
                }
            }
            PlanChange::AllSafe | PlanChange::Clear => {
                self.changes.clear();
                // That something is used stays true.
                self.answers.retain(|_, answer| answer == Answer::Used);
                self.from_nothing = change == PlanChange::Clear;
            }
        }
    }

    /// Replaces the selection with a saved plan. Returns how much of it applies.
    ///
    /// # Errors
    /// It does not fit the findings, in words; the plan stays as it was.
    pub fn load(&mut self, saved: SavedPlan) -> Result<LoadedPlan, String> {
        let Some(analysis) = self.analysis.clone() else {
            return Err("the findings are not available".to_owned());
        };
        let Some(findings) = analysis.findings.as_deref() else {
            return Err("the findings are not available".to_owned());
        };
        let image = &analysis.image;
        let same = saved.is_for(image.manifest_digest.as_deref(), image.config_digest.as_deref());
        let plan = PlanChanges { saved: Some(saved), ..PlanChanges::default() }.apply(findings);
        let plan = plan.map_err(|error| match error.hint() {
            Some(hint) => format!("{error}; {hint}"),
            None => error.to_string(),
        })?;
        let chosen =
            findings.list.iter().filter(|one| one.verdict == Verdict::Safe && plan.contains(&one.id));
        let before = self.choice();
        self.changes = chosen.map(|one| (one.id.clone(), true)).collect();
        self.answers = plan.answers().clone();
        self.from_nothing = true;
        self.keep_for_undo(before);
        self.make();
        Ok(LoadedPlan {
            findings: self.plan.ids(findings).len(),
            answers: self.answers.len(),
            foreign: same == Some(false),
        })
    }

    /// The plan as a document, schema `cutaway.plan/1`; `None` until the findings are there.
    pub fn document(&self) -> Option<String> {
        PlanDocument::new(self.analysis.as_deref()?, &self.plan).map(|document| to_json(&document))
    }

    /// All questions, in the order of the findings.
    pub fn questions(&self) -> &[QuestionItem] {
        &self.questions
    }

    /// The question of the finding with this id.
    pub fn question(&self, id: &str) -> Option<&QuestionItem> {
        self.questions.iter().find(|question| question.id == id)
    }

    /// Title of a finding that stays, without which the one with this id cannot be removed.
    pub fn blocking_cause(&self, id: &str) -> Option<String> {
        let findings = self.findings()?;
        let cause = findings.find(id)?.rests_on.iter().find(|cause| !self.contains(cause))?;
        Some(printable(&findings.find(cause)?.title))
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
        let name = printable(&crate::source::redacted(&analysis.image.reference));
        // Writing to a String cannot fail.
        writeln!(text, "Plan for {name}: {}", counted(prediction.chosen, "finding")).ok();
        let (now, then) = prediction.merged;
        writeln!(text, "Merged: {} now, {} after removal", human(now), human(then)).ok();
        if let Some((now, then)) = prediction.pull {
            writeln!(text, "Pull: {} now, about {} after removal (estimate)", human(now), human(then)).ok();
        }
        for finding in findings.list.iter().filter(|one| self.contains(&one.id)) {
            let layers: Vec<u16> = finding.layers.iter().map(|share| share.layer).collect();
            let (title, bytes) = (printable(&finding.title), human(finding.bytes));
            let verdict = finding.verdict.label().to_lowercase();
            writeln!(text, "\n- {title}: {bytes} in {}", words::layers(&layers)).ok();
            writeln!(text, "  {verdict} ({})", finding.rule.id).ok();
            if let Some(question) = &finding.question {
                writeln!(text, "  question: {} Answer: not used", printable(question)).ok();
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
            self.questions.clear();
            return;
        };
        let Some(findings) = analysis.findings.as_deref() else { return };
        let safe = |one: &Finding| one.verdict == Verdict::Safe && !self.from_nothing;
        let chosen = |one: &Finding| self.changes.get(&one.id).copied().unwrap_or_else(|| safe(one));
        // Answers about findings that another analysis does not have are kept for the one that does.
        let mut answers = self.answers.clone();
        answers.retain(|id, _| findings.find(id).is_some());
        let plan = Plan::of(findings, chosen, answers);
        self.questions = question::of(findings, &plan);
        self.prediction = Prediction::of(analysis, findings, &plan);
        self.plan = plan;
    }
}
