//! Questions of findings, and their answers.

use std::collections::BTreeMap;

use crate::base::text::printable;
use crate::findings::{Answer, Finding, Findings, Plan};

/// The question of a finding, and its answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuestionItem {
    /// Id of the finding.
    pub id: String,
    /// Title of the finding, safe to show.
    pub title: String,
    /// The question, safe to show. Yes means: used, keep it.
    pub text: String,
    /// What the layers lose without its files; 0 for a finding without files of its own.
    pub bytes: u64,
    /// The same with the files of `also`.
    pub all_bytes: u64,
    /// The answer; `None` while the question is open, and where only this finding was selected.
    pub answer: Option<Answer>,
    /// Whether this finding alone was selected, which is no answer for those in `also`.
    pub is_selected: bool,
    /// Whether the answer was given for this finding; else it follows from that of another one.
    pub is_own: bool,
    /// Titles of findings whose questions a no answers, too: open ones, or those that have no own answer.
    pub also: Vec<String>,
    /// Whether it is in `also` of another question.
    pub follows: bool,
}

impl QuestionItem {
    fn new(finding: &Finding, plan: &Plan) -> Option<Self> {
        Some(Self {
            id: finding.id.clone(),
            title: printable(&finding.title),
            text: printable(finding.question.as_deref()?),
            bytes: finding.bytes,
            all_bytes: finding.bytes,
            answer: plan.answer(&finding.id),
            is_selected: false,
            is_own: plan.answers().get(&finding.id).is_some(),
            also: Vec::new(),
            follows: false,
        })
    }

    /// Whether its answer changes the plan.
    pub fn has_bytes(&self) -> bool {
        self.bytes > 0
    }
}

/// All questions, in the order of the findings.
pub(super) fn of(findings: &Findings, plan: &Plan) -> Vec<QuestionItem> {
    let mut items: Vec<QuestionItem> =
        findings.list.iter().filter_map(|one| QuestionItem::new(one, plan)).collect();
    let places: BTreeMap<String, usize> = items.iter().map(|item| item.id.clone()).zip(0..).collect();
    for question in plan.questions(findings) {
        let place = |finding: &Finding| places.get(&finding.id).copied();
        let (Some(leading), Some(own)) = (question.answered_with.and_then(place), place(question.finding))
        else {
            continue;
        };
        items[own].follows = true;
        let title = items[own].title.clone();
        items[leading].also.push(title);
        items[leading].all_bytes = items[leading].all_bytes.saturating_add(question.finding.bytes);
    }
    for item in items.iter_mut().filter(|item| plan.answers().is_alone(&item.id)) {
        let open: Vec<&Finding> = plan.would_follow(findings, &item.id).collect();
        // Without others, a selection and an answer are the same.
        if !open.is_empty() {
            item.also = open.iter().map(|one| printable(&one.title)).collect();
            (item.answer, item.is_own, item.is_selected) = (None, false, true);
        }
    }
    items
}
