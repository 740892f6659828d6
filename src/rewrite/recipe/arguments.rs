//! Build arguments: declarations and values.

use std::collections::{BTreeMap, BTreeSet};

use super::step::{Body, Dialect, Run, Step};
use super::values::pairs;
use crate::formats::dockerfile::Keyword;

/// Names of all build arguments declared in the history.
pub(super) fn declared(steps: &[Step<'_>]) -> BTreeSet<String> {
    let all =
        steps.iter().filter_map(|step| step.arguments(Keyword::Arg).map(|text| declarations(step, text)));
    all.flatten().map(|(name, _)| name).collect()
}

/// Names of an `ARG`, with their defaults.
pub(super) fn declarations(step: &Step<'_>, text: &str) -> Vec<(String, Option<String>)> {
    let mut found = Vec::new();
    let mut rest = text;
    loop {
        let word = rest.split_whitespace().next().unwrap_or_default();
        if word.is_empty() {
            return found;
        }
        if word.contains('=') {
            let known = |_: &str| None;
            found.extend(
                pairs(rest, step.dialect, &known).into_iter().map(|(name, value)| (name, Some(value))),
            );
            return found;
        }
        found.push((word.to_owned(), None));
        rest = rest.trim_start()[word.len()..].trim_start();
    }
}

/// Build arguments of a `RUN` and their values.
pub(super) fn arguments(step: &Step<'_>, names: &BTreeSet<String>) -> Vec<(String, String)> {
    let Body::Run(Run { count, arguments, .. }) = &step.body else { return Vec::new() };
    let mut found: Vec<(String, String)> = Vec::new();
    let all = pairs(arguments, Dialect::Evaluated, &|_| None);
    let mut more = all.len().saturating_sub(*count);
    for (name, value) in all {
        // A name within a value is not a declared name.
        match found.last_mut().filter(|_| more > 0 && !names.contains(&name)) {
            Some(before) => {
                before.1.extend([" ", &name, "=", &value]);
                more -= 1;
            }
            None => found.push((name, value)),
        }
    }
    found
}

/// By entry that declares build arguments: their values in the next `RUN` that has them.
pub(super) fn given<'a>(
    steps: &[Step<'_>],
    calls: &'a [Vec<(String, String)>],
) -> BTreeMap<usize, BTreeMap<&'a str, &'a str>> {
    let mut next: BTreeMap<&str, &str> = BTreeMap::new();
    let mut found = BTreeMap::new();
    for (place, step) in steps.iter().enumerate().rev() {
        next.extend(calls[place].iter().map(|(name, value)| (name.as_str(), value.as_str())));
        if let Some(text) = step.arguments(Keyword::Arg) {
            let names = declarations(step, text);
            let values = names.iter().filter_map(|(name, _)| next.get_key_value(name.as_str()));
            found.insert(place, values.map(|(name, value)| (*name, *value)).collect());
        }
    }
    found
}
