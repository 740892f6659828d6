//! Rules as data: what a rule is called, and the page of the manual that is made from it.

use std::fmt::Write as _;

use super::rules::ALL;
use super::value::{Category, Severity};

/// A rule, and what the manual says of it.
#[derive(Debug)]
pub struct Rule {
    /// Its stable name, as in reports and `cutaway.toml`.
    pub id: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// What its findings are sorted as.
    pub category: Category,
    /// How much a finding matters when nothing else is said.
    pub severity: Severity,
    /// What to do about a finding when nothing more exact is said, in one sentence.
    pub fix: &'static str,
    /// What it finds.
    pub finds: &'static str,
    /// Why that matters.
    pub matters: &'static str,
    /// An example, in Markdown: what leads to a finding.
    pub example: &'static str,
    /// What to do, in Markdown: the example put right.
    pub remedy: &'static str,
    /// Where its facts come from.
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

/// The page of the manual about a rule, in Markdown. `assets/manual/rules/ID.md` is this.
pub fn page(rule: &Rule) -> String {
    let mut page = String::new();
    let (id, title) = (rule.id, rule.title);
    let (category, severity) = (rule.category.as_str(), rule.severity.as_str());
    // Writing to a String cannot fail.
    writeln!(page, "# {title}\n\nRule `{id}` · category `{category}` · severity {severity}\n").ok();
    for (head, text) in [
        ("What it finds", rule.finds),
        ("Why it matters", rule.matters),
        ("Example", rule.example),
        ("What to do", rule.remedy),
        ("Where the facts come from", rule.source),
    ] {
        writeln!(page, "## {head}\n\n{}\n", text.trim()).ok();
    }
    page.truncate(page.trim_end().len());
    page.push('\n');
    page
}

/// Chapters of the manual that are no rule: name and text.
const CHAPTERS: [(&str, &str); 11] = [
    ("cache", include_str!("../../assets/manual/cache.md")),
    ("check", include_str!("../../assets/manual/check.md")),
    ("ci", include_str!("../../assets/manual/ci.md")),
    ("compare", include_str!("../../assets/manual/compare.md")),
    ("compatibility", include_str!("../../assets/manual/compatibility.md")),
    ("dockerfile", include_str!("../../assets/manual/dockerfile.md")),
    ("gpu", include_str!("../../assets/manual/gpu.md")),
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
