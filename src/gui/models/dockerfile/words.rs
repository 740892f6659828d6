//! Labels.

use crate::rewrite::{Applicability, StageSize};

/// How much may be taken without thinking, in a word or two.
pub const fn applicability(applicability: Applicability) -> &'static str {
    match applicability {
        Applicability::Safe => "Safe",
        Applicability::Review => "Needs review",
        Applicability::Manual => "Manual",
    }
}

/// What that means for whoever takes it.
pub const fn about(applicability: Applicability) -> &'static str {
    match applicability {
        Applicability::Safe => "The image behaves the same; see the proof",
        Applicability::Review => "The image should behave the same; review the assumptions",
        Applicability::Manual => "Manual work is required before it builds",
    }
}

/// The name of a stage; `last` is the image.
pub fn stage(stage: &StageSize, last: bool) -> String {
    let name = crate::base::text::printable(&stage.name);
    match (name.is_empty(), last) {
        (true, true) => "final stage".to_owned(),
        (true, false) => "unnamed stage".to_owned(),
        (false, true) => format!("{name} (final)"),
        (false, false) => name,
    }
}

/// Words with a capital letter and a full stop.
pub fn sentence(text: &str) -> String {
    let mut letters = text.trim_end_matches('.').chars();
    let text: String =
        letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect());
    format!("{text}.")
}
