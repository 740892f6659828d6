//! Labels.

use crate::findings::{Answer, Category, Severity, Verdict};

/// A verdict as the head of a group.
pub const fn verdict(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Safe => "Removable",
        Verdict::Unsure => "Needs review",
        Verdict::Needed => "Required at run time",
    }
}

/// What a verdict means for whoever chooses.
pub const fn about(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Safe => "Nothing in the image uses it; see the proof",
        Verdict::Unsure => "Requires an answer; selecting it answers: not used",
        Verdict::Needed => "Looks build-only, but is used at run time",
    }
}

/// An answer as a button: of a finding with files, and of one without.
pub const fn answer(answer: Answer, has_bytes: bool) -> &'static str {
    match (answer, has_bytes) {
        (Answer::Used, true) => "Used",
        (Answer::Unused, true) => "Not used",
        (Answer::Used, false) => "Yes",
        (Answer::Unused, false) => "No",
    }
}

/// What an answer does.
pub const fn about_answer(answer: Answer, has_bytes: bool) -> &'static str {
    match (answer, has_bytes) {
        (Answer::Used, true) => "Keep the files",
        (Answer::Unused, true) => "Remove the files",
        (Answer::Used, false) => "Nothing to fix",
        (Answer::Unused, false) => "Fix required",
    }
}

/// A severity as a cell.
pub const fn severity(severity: Severity) -> &'static str {
    match severity {
        Severity::High => "High",
        Severity::Medium => "Medium",
        Severity::Low => "Low",
        Severity::Info => "Info",
    }
}

/// A severity in a line of words.
pub const fn weight(severity: Severity) -> &'static str {
    match severity {
        Severity::High => "high severity",
        Severity::Medium => "medium severity",
        Severity::Low => "low severity",
        Severity::Info => "informational",
    }
}

/// A category as a cell: its name in reports as words.
pub fn category(category: Category) -> String {
    let words = category.as_str().replace('-', " ").replace("gpu", "GPU");
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Numbers of layers in a line: `layer 3`, `layers 1, 3 and 5`, `layers 1, 2, 3 and 4 more`.
pub fn layers(numbers: &[u16]) -> String {
    const NAMED: usize = 4;
    let text = |numbers: &[u16]| numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    match numbers {
        [] => "no layer".to_owned(),
        [one] => format!("layer {one}"),
        [first @ .., last] if numbers.len() <= NAMED => format!("layers {} and {last}", text(first)),
        _ => format!("layers {} and {} more", text(&numbers[..NAMED - 1]), numbers.len() + 1 - NAMED),
    }
}
