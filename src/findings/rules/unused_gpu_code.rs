//! To be written.

use crate::findings::rule::Rule;
use crate::findings::value::{Category, Severity};

pub(super) static RULE: Rule = Rule {
    id: "unused-gpu-code",
    title: "GPU code that no target runs",
    category: Category::UnusedGpuCode,
    severity: Severity::Info,
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
