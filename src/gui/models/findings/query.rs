//! What the search field of the findings asks for.

use super::item::FindingItem;
use crate::base::labels::{SEVERITIES, VERDICTS, slug};
use crate::findings::{Category, Severity, Verdict, rules};
use crate::gui::models::files::{FileQueryError, size_range};

/// A filter over findings: all terms must match.
#[derive(Clone, Debug, Default)]
pub struct FindingQuery {
    terms: Vec<Term>,
}

#[derive(Clone, Debug)]
enum Term {
    Part(String),
    Verdict(Verdict),
    Category(Vec<Category>),
    Rule(String),
    Layer(u16),
    Severity(Severity),
    Size(u64, u64),
}

/// Why a filter is invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FindingQueryError {
    /// A size.
    #[error(transparent)]
    Plain(#[from] FileQueryError),
    /// Not a verdict.
    #[error("invalid filter {0}; expected {words}", words = VERDICTS.expected())]
    Verdict(String),
    /// Not a category.
    #[error("invalid filter {0}; expected part of a category, such as category:headers")]
    Category(String),
    /// Not a rule.
    #[error("invalid filter {0}; expected part of a rule ID, such as rule:static-libraries")]
    Rule(String),
    /// Not a severity.
    #[error("invalid filter {0}; expected {words}", words = SEVERITIES.expected())]
    Severity(String),
    /// Not a layer.
    #[error("invalid filter {0}; expected a layer number, such as layer:3")]
    Layer(String),
}

impl FindingQuery {
    /// Reads a filter. Terms are separated by spaces: `verdict:removable`, `category:headers`, `rule:stubs`,
    /// `layer:3`, `severity:high`, `size:>10M`; all others are parts of title, category or rule.
    ///
    /// # Errors
    /// When a term is invalid.
    pub fn parse(text: &str) -> Result<Self, FindingQueryError> {
        let terms = text.split_whitespace().map(term).collect::<Result<_, _>>()?;
        Ok(Self { terms })
    }

    /// Whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// Whether a finding matches.
    pub fn fits(&self, item: &FindingItem) -> bool {
        self.terms.iter().all(|term| match term {
            Term::Part(part) => {
                let holds = |text: &str| text.to_lowercase().contains(part);
                holds(&item.title) || item.rule.contains(part) || holds(item.category.label())
            }
            Term::Verdict(verdict) => item.verdict == *verdict,
            Term::Category(part) => part.contains(&item.category),
            Term::Rule(part) => item.rule.contains(part),
            Term::Layer(layer) => item.layers.contains(layer),
            Term::Severity(severity) => item.severity == *severity,
            Term::Size(least, most) => (*least..=*most).contains(&item.bytes),
        })
    }
}

fn term(text: &str) -> Result<Term, FindingQueryError> {
    let part = text.to_lowercase();
    let Some((key, value)) = part.split_once(':') else { return Ok(Term::Part(part)) };
    let wrong = || text.to_owned();
    match key {
        "verdict" => {
            let found = Verdict::from_label(value);
            found.map(Term::Verdict).ok_or_else(|| FindingQueryError::Verdict(wrong()))
        }
        "category" => {
            // Part of a label or JSON value.
            let fits = |one: &&Category| slug(one.label()).contains(value) || one.as_str().contains(value);
            let found: Vec<Category> = Category::ALL.iter().filter(fits).copied().collect();
            let term = (!found.is_empty()).then_some(Term::Category(found));
            term.ok_or_else(|| FindingQueryError::Category(wrong()))
        }
        "rule" => {
            let known = rules().any(|rule| rule.id.contains(value));
            known.then(|| Term::Rule(value.to_owned())).ok_or_else(|| FindingQueryError::Rule(wrong()))
        }
        "severity" => {
            let found = Severity::from_label(value);
            found.map(Term::Severity).ok_or_else(|| FindingQueryError::Severity(wrong()))
        }
        "layer" => value.parse().map(Term::Layer).map_err(|_| FindingQueryError::Layer(wrong())),
        // Units are case sensitive.
        "size" => {
            let size = text.get("size:".len()..).unwrap_or_default();
            Ok(size_range(size).map(|(least, most)| Term::Size(least, most))?)
        }
        _ => Ok(Term::Part(part.clone())),
    }
}

#[cfg(test)]
mod tests {
    use super::FindingQuery;
    use crate::base::labels::{CATEGORIES, SEVERITIES, VERDICTS, slug};

    #[test]
    fn labels_and_values_are_filters() {
        for family in [VERDICTS, SEVERITIES, CATEGORIES] {
            for label in family.list {
                for word in [label.value.to_owned(), label.word(), slug(label.text)] {
                    let filter = format!("{}:{word}", family.key);
                    assert!(FindingQuery::parse(&filter).is_ok(), "{filter}");
                }
            }
        }
        let error = FindingQuery::parse("verdict:maybe").unwrap_err().to_string();
        assert!(error.ends_with(&VERDICTS.expected()), "{error}");
    }
}
