//! To be written.

use crate::findings::rule::Rule;
use crate::findings::value::{Category, Severity};

pub(super) static RULE: Rule = Rule {
    id: "metadata-copies",
    title: "Copies that change only mode or owner",
    category: Category::Overwritten,
    severity: Severity::Medium,
    fix: "To be written.",
    finds: "To be written.",
    matters: "To be written.",
    example: r#""#,
    remedy: r#""#,
    source: "To be written.",
};
use crate::findings::facts::Facts;
use crate::findings::finish::Draft;

pub(super) fn find(_: &Facts<'_>) -> Vec<Draft> {
    Vec::new()
}
