//! Labels.

use crate::findings::Answer;

/// An answer as a button: of a finding with files, and of one without.
pub const fn answer(answer: Answer, has_bytes: bool) -> &'static str {
    match (answer, has_bytes) {
        (Answer::Used, true) => "Yes (keep)",
        (Answer::Unused, true) => "No (remove)",
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
