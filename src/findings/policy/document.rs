//! Parsing of `cutaway.toml`: every fault with its line and column.

use std::collections::BTreeSet;

use serde::Deserialize;
use toml::{Spanned, Value};

use super::date::Date;
use super::pattern::{Pattern, near};
use super::{Budget, Ignore, Policy, Regression, Written};
use crate::base::size;
use crate::base::text::line_and_column as place;
use crate::findings::rules::{rule, rules};

/// Maximum bytes of a `cutaway.toml`: a thousand ignores take about 200 KiB.
pub const FILE_BYTES: usize = 1 << 20;

/// Maximum ignores in one file: each is matched against every file that a rule found.
const MOST_IGNORES: usize = 1000;
/// Maximum targets in one file: the catalogue has fewer.
const MOST_TARGETS: usize = 200;

/// Why a `cutaway.toml` was rejected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PolicyError {
    /// It exceeds the size limit.
    #[error("cannot read {file}: more than {limit} bytes")]
    TooLarge {
        /// The file.
        file: String,
        /// What is allowed.
        limit: usize,
    },
    /// Invalid TOML, an unknown or missing key, or an invalid value.
    #[error("invalid {file}, line {line}, column {column}: {message}")]
    Fault {
        /// The file.
        file: String,
        /// Line, from 1.
        line: usize,
        /// Column in characters, from 1.
        column: usize,
        /// What is wrong.
        message: String,
        /// A suggestion.
        hint: Option<String>,
    },
}

impl PolicyError {
    /// What to try next.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::TooLarge { .. } => None,
            Self::Fault { hint, .. } => hint.clone(),
        }
    }
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Document {
    targets: Vec<Spanned<String>>,
    profile: Option<Spanned<String>>,
    budget: BudgetTable,
    regression: RegressionTable,
    rules: RulesTable,
    ignore: Vec<Spanned<IgnoreTable>>,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct BudgetTable {
    compressed_bytes: Option<Spanned<Value>>,
    merged_bytes: Option<Spanned<Value>>,
    devel_bytes: Option<Spanned<Value>>,
    wasted_bytes: Option<Spanned<Value>>,
    duplicate_bytes: Option<Spanned<Value>>,
    dead_gpu_code_bytes: Option<Spanned<Value>>,
    efficiency: Option<Spanned<f64>>,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct RegressionTable {
    compressed_bytes: Option<Spanned<Value>>,
    merged_bytes: Option<Spanned<Value>>,
    devel_bytes: Option<Spanned<Value>>,
    wasted_bytes: Option<Spanned<Value>>,
    duplicate_bytes: Option<Spanned<Value>>,
    dead_gpu_code_bytes: Option<Spanned<Value>>,
    efficiency: Option<Spanned<f64>>,
    pull_bytes: Option<Spanned<Value>>,
    new_findings: Vec<Spanned<String>>,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct RulesTable {
    allow: Vec<Spanned<String>>,
    deny: Vec<Spanned<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct IgnoreTable {
    rule: Spanned<String>,
    path: Option<Spanned<String>>,
    reason: Spanned<String>,
    expires: Option<Spanned<Value>>,
}

/// A fault and its location.
struct Fault {
    at: usize,
    message: String,
    hint: Option<String>,
}

/// A fault at a value.
fn fault<T>(value: &Spanned<T>, message: impl Into<String>) -> Fault {
    Fault { at: value.span().start, message: message.into(), hint: None }
}

impl Policy {
    /// Parses a `cutaway.toml`. `name` is the file name in errors.
    ///
    /// # Errors
    /// Invalid TOML, an unknown key, an unknown rule or an invalid value: with line and column.
    pub fn parse(name: &str, text: &str) -> Result<Self, PolicyError> {
        if text.len() > FILE_BYTES {
            return Err(PolicyError::TooLarge { file: name.to_owned(), limit: FILE_BYTES });
        }
        let document: Result<Document, Fault> = toml::from_str(text).map_err(|error| Fault {
            at: error.span().map_or(0, |span| span.start),
            message: error.message().to_owned(),
            hint: None,
        });
        let policy = document.and_then(|document| Self::from_document(name, text, document));
        policy.map_err(|Fault { at, message, hint }| {
            let (line, column) = place(text, at);
            PolicyError::Fault { file: name.to_owned(), line, column, message, hint }
        })
    }

    fn from_document(name: &str, text: &str, document: Document) -> Result<Self, Fault> {
        if let Some(first) = document.targets.get(MOST_TARGETS) {
            return Err(fault(first, format!("more than {MOST_TARGETS} targets")));
        }
        if let Some(first) = document.ignore.get(MOST_IGNORES) {
            return Err(fault(first, format!("more than {MOST_IGNORES} ignores")));
        }
        let mut denied = BTreeSet::new();
        for pattern in &document.rules.deny {
            denied.extend(known_rules(pattern)?);
        }
        for pattern in &document.rules.allow {
            for allowed in known_rules(pattern)? {
                denied.remove(allowed);
            }
        }
        let written = |value: Spanned<String>| {
            let (line, column) = place(text, value.span().start);
            Ok(Written { text: filled(value)?, line, column })
        };
        Ok(Self {
            file: name.to_owned(),
            targets: document.targets.into_iter().map(written).collect::<Result<_, _>>()?,
            profile: document.profile.map(written).transpose()?,
            budget: budget(&document.budget)?,
            regression: regression(&document.regression)?,
            denied,
            ignores: document.ignore.into_iter().map(ignore).collect::<Result<_, _>>()?,
        })
    }
}

fn filled(value: Spanned<String>) -> Result<String, Fault> {
    if value.get_ref().trim().is_empty() {
        return Err(fault(&value, "empty value"));
    }
    Ok(value.into_inner())
}

fn budget(table: &BudgetTable) -> Result<Budget, Fault> {
    Ok(Budget {
        compressed_bytes: bytes(table.compressed_bytes.as_ref())?,
        merged_bytes: bytes(table.merged_bytes.as_ref())?,
        devel_bytes: bytes(table.devel_bytes.as_ref())?,
        wasted_bytes: bytes(table.wasted_bytes.as_ref())?,
        duplicate_bytes: bytes(table.duplicate_bytes.as_ref())?,
        dead_gpu_code_bytes: bytes(table.dead_gpu_code_bytes.as_ref())?,
        efficiency: table.efficiency.as_ref().map(ratio).transpose()?,
    })
}

fn regression(table: &RegressionTable) -> Result<Regression, Fault> {
    let mut new_findings = BTreeSet::new();
    for pattern in &table.new_findings {
        new_findings.extend(known_rules(pattern)?);
    }
    Ok(Regression {
        compressed_bytes: bytes(table.compressed_bytes.as_ref())?,
        merged_bytes: bytes(table.merged_bytes.as_ref())?,
        devel_bytes: bytes(table.devel_bytes.as_ref())?,
        wasted_bytes: bytes(table.wasted_bytes.as_ref())?,
        duplicate_bytes: bytes(table.duplicate_bytes.as_ref())?,
        dead_gpu_code_bytes: bytes(table.dead_gpu_code_bytes.as_ref())?,
        efficiency: table.efficiency.as_ref().map(ratio).transpose()?,
        pull_bytes: bytes(table.pull_bytes.as_ref())?,
        new_findings,
    })
}

fn bytes(value: Option<&Spanned<Value>>) -> Result<Option<u64>, Fault> {
    let Some(value) = value else { return Ok(None) };
    let size = match value.get_ref() {
        Value::Integer(number) => {
            u64::try_from(*number).map_err(|_| fault(value, format!("{number} is not a size: negative")))?
        }
        Value::String(text) => size::parse(text).map_err(|reason| fault(value, reason))?,
        other => {
            let what = other.type_str();
            return Err(fault(
                value,
                format!("expected an integer or a size such as \"4 GiB\", found {what}"),
            ));
        }
    };
    Ok(Some(size))
}

fn ratio(value: &Spanned<f64>) -> Result<f64, Fault> {
    let number = *value.get_ref();
    if (0.0..=1.0).contains(&number) {
        return Ok(number);
    }
    Err(fault(value, format!("efficiency must be between 0 and 1, found {number}")))
}

/// The rules that match an id or a glob: at least one.
fn known_rules(pattern: &Spanned<String>) -> Result<BTreeSet<&'static str>, Fault> {
    let text = pattern.get_ref();
    if !text.contains('*') {
        return match rule(text) {
            Some(known) => Ok(BTreeSet::from([known.id])),
            None => Err(Fault { hint: Some(hint(text)), ..fault(pattern, format!("unknown rule {text:?}")) }),
        };
    }
    let glob =
        Pattern::new(text).map_err(|reason| fault(pattern, format!("invalid glob {text:?}: {reason}")))?;
    let fitting: BTreeSet<_> = ids().filter(|id| glob.is_match(id)).collect();
    if fitting.is_empty() {
        return Err(Fault {
            hint: Some(hint("")),
            ..fault(pattern, format!("no rule matches the glob {text:?}"))
        });
    }
    Ok(fitting)
}

fn ids() -> impl Iterator<Item = &'static str> {
    rules().map(|rule| rule.id)
}

fn hint(name: &str) -> String {
    let near = near(name, ids());
    if near.is_empty() {
        "`cutaway explain` lists all rules".to_owned()
    } else {
        format!("did you mean {}?", near.join(" or "))
    }
}

fn ignore(table: Spanned<IgnoreTable>) -> Result<Ignore, Fault> {
    let table = table.into_inner();
    let path = table.path.as_ref().map(|path| {
        Pattern::new(path.get_ref()).map_err(|reason| fault(path, format!("invalid path glob: {reason}")))
    });
    if table.reason.get_ref().trim().is_empty() {
        return Err(fault(&table.reason, "empty reason: state why this is accepted"));
    }
    Ok(Ignore {
        rules: known_rules(&table.rule)?,
        rule: table.rule.into_inner(),
        path: path.transpose()?,
        reason: table.reason.into_inner(),
        expires: table.expires.as_ref().map(date).transpose()?,
    })
}

fn date(value: &Spanned<Value>) -> Result<Date, Fault> {
    let parsed = match value.get_ref() {
        Value::String(text) => text.parse(),
        // A plain date; a date with a time of day does not parse.
        Value::Datetime(moment) => moment.to_string().parse(),
        other => Err(format!("expected a date in the form YYYY-MM-DD, found {}", other.type_str())),
    };
    parsed.map_err(|reason: String| fault(value, format!("invalid expiry date: {reason}")))
}
