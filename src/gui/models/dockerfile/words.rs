//! Labels.

use crate::rewrite::StageSize;

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
