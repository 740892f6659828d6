//! Rules as data, and their manual pages.

use std::fmt::Write as _;

use super::rules::ALL;
use super::value::{Category, Severity};

/// A rule and its manual page.
#[derive(Debug)]
pub struct Rule {
    /// Its stable name, as in reports and `cutaway.toml`.
    pub id: &'static str,
    /// Its display name.
    pub title: &'static str,
    /// The category of its findings.
    pub category: Category,
    /// The default severity.
    pub severity: Severity,
    /// The default fix, in one sentence.
    pub fix: &'static str,
    /// What it detects.
    pub finds: &'static str,
    /// Why it matters.
    pub matters: &'static str,
    /// An example that causes a finding, in Markdown.
    pub example: &'static str,
    /// How a finding is proven.
    pub proven: &'static str,
    /// What to do, in Markdown: the corrected example.
    pub remedy: &'static str,
    /// Sources of its facts.
    pub source: &'static str,
}

impl PartialEq for Rule {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl Eq for Rule {}

/// All rules, by category and id.
pub fn rules() -> &'static [&'static Rule] {
    ALL
}

/// The rule with this id.
pub fn rule(id: &str) -> Option<&'static Rule> {
    ALL.iter().copied().find(|rule| rule.id == id)
}

/// The manual page of a rule, in Markdown: the text of `assets/manual/rules/ID.md`.
pub fn page(rule: &Rule) -> String {
    let mut page = String::new();
    let (id, title) = (rule.id, rule.title);
    let (category, severity) = (rule.category.label(), rule.severity.label());
    // Writing to a String cannot fail.
    writeln!(page, "# {title}\n\nRule `{id}` · category: {category} · severity: {severity}\n").ok();
    for (head, text) in [
        ("What it detects", rule.finds),
        ("Why it matters", rule.matters),
        ("Example", rule.example),
        ("How it is proven", rule.proven),
        ("What to do", rule.remedy),
        ("Sources", rule.source),
    ] {
        writeln!(page, "## {head}\n\n{}\n", text.trim()).ok();
    }
    page.truncate(page.trim_end().len());
    page.push('\n');
    page
}

/// Manual chapters other than rules: name and text.
const CHAPTERS: [(&str, &str); 15] = [
    ("cache", include_str!("../../assets/manual/cache.md")),
    ("check", include_str!("../../assets/manual/check.md")),
    ("ci", include_str!("../../assets/manual/ci.md")),
    ("cli", include_str!("../../assets/manual/cli.md")),
    ("compare", include_str!("../../assets/manual/compare.md")),
    ("compatibility", include_str!("../../assets/manual/compatibility.md")),
    ("cuda", include_str!("../../assets/manual/cuda.md")),
    ("dockerfile", include_str!("../../assets/manual/dockerfile.md")),
    ("gpu", include_str!("../../assets/manual/gpu.md")),
    ("labels", include_str!("../../assets/manual/labels.md")),
    ("performance", include_str!("../../assets/manual/performance.md")),
    ("registries", include_str!("../../assets/manual/registries.md")),
    ("report", include_str!("../../assets/manual/report.md")),
    ("sizes", include_str!("../../assets/manual/sizes.md")),
    ("verdicts", include_str!("../../assets/manual/verdicts.md")),
];

/// The chapter of the manual with this name, in Markdown.
pub fn chapter(name: &str) -> Option<&'static str> {
    CHAPTERS.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}

/// Names of all chapters.
pub fn chapters() -> impl Iterator<Item = &'static str> {
    CHAPTERS.iter().map(|(name, _)| *name)
}
