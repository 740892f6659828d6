//! Environment, command and labels, without their secrets.

use super::line::{CompareLine, LineSubject};
use super::result::ComparisonResult;
use crate::base::redact;
use crate::base::text::printable;
use crate::compare::SettingRow;

const ENVIRONMENT: &str = "Environment";
const SETTINGS: &str = "Command, user and platform";
const LABELS: &str = "Labels";

pub(super) fn lines(compared: &ComparisonResult, baseline: usize) -> Vec<CompareLine> {
    let comparison = &compared.comparison;
    let environment = comparison.environment.iter().enumerate();
    let settings = comparison.settings.iter().enumerate();
    environment
        .map(|(place, row)| line(ENVIRONMENT, row, baseline).about(LineSubject::Variable(place)))
        .chain(settings.map(|(place, row)| {
            let section = if row.name.starts_with("label ") { LABELS } else { SETTINGS };
            line(section, row, baseline).about(LineSubject::Setting(place))
        }))
        .collect()
}

fn line(section: &'static str, row: &SettingRow, baseline: usize) -> CompareLine {
    let values = (0..row.values.len()).map(|image| value(row, image)).collect();
    let same = |image: usize| {
        row.values.get(image) == row.values.get(baseline) && row.words.get(image) == row.words.get(baseline)
    };
    let name = printable(row.name.strip_prefix("label ").unwrap_or(&row.name));
    CompareLine::texts(section, name, values, baseline, same)
}

/// The value of an image as it may be shown.
pub(super) fn value(row: &SettingRow, image: usize) -> Option<String> {
    if let Some(words) = row.words.get(image).and_then(Option::as_ref) {
        return Some(printable(&redact::words(words).join(" ")));
    }
    let value = row.values.get(image)?.as_deref()?;
    let name = row.name.strip_prefix("label ").unwrap_or(&row.name);
    Some(printable(&redact::value(name, value)))
}
