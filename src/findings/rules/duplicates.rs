//! Duplicates: libraries of one name of which one copy is loaded, and identical files.

mod copies;
mod same;

use crate::findings::draft::Draft;
use crate::findings::facts::Facts;
use crate::findings::value::{Category, Rule, Severity};

pub(super) static RULE: Rule = Rule {
    id: "duplicates",
    title: "Duplicates",
    category: Category::Duplicates,
    severity: Severity::Medium,
    fix: "Use one supplier for the libraries: wheels on a plain base image, or the toolkit and packages built against it.",
    page: include_str!("../../../assets/manual/rules/duplicates.md"),
};

pub(super) fn find(facts: &Facts<'_>) -> Vec<Draft> {
    let mut drafts = copies::find(facts);
    drafts.extend(same::find(facts));
    drafts
}
