//! What things are called.

use crate::rewrite::{Applicability, StageSize};

/// How much may be taken without thinking, in a word or two.
pub const fn applicability(applicability: Applicability) -> &'static str {
    match applicability {
        Applicability::Safe => "Safe",
        Applicability::Review => "To review",
        Applicability::Manual => "By hand",
    }
}

/// What that means for whoever takes it.
pub const fn about(applicability: Applicability) -> &'static str {
    match applicability {
        Applicability::Safe => "The image does the same afterwards; the proof stands beside it",
        Applicability::Review => "The image should do the same; what was taken to be true wants a look",
        Applicability::Manual => "It needs work by hand before it can be built",
    }
}

/// The name of a stage; `last` is the image.
pub fn stage(stage: &StageSize, last: bool) -> String {
    let name = crate::base::text::printable(&stage.name);
    match (name.is_empty(), last) {
        (true, true) => "final stage".to_owned(),
        (true, false) => "stage without a name".to_owned(),
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
