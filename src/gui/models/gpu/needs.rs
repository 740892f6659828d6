//! What an image needs of any machine, in lines.

use super::judged::Judged;

/// How many architectures are named.
const NAMED: usize = 12;

impl Judged {
    /// CUDA and the driver.
    pub fn needs_line(&self) -> String {
        if !self.needs.uses_cuda {
            return "Nothing that this image runs is known to use CUDA.".to_owned();
        }
        let requires = &self.requires;
        let Some(cuda) = &requires.cuda else {
            return "It uses CUDA, but no version is known that it was built for.".to_owned();
        };
        let driver = match (&requires.min_driver, &requires.min_driver_minor_compat) {
            (Some(full), Some(least)) if full != least => format!(
                "everything works from driver {full} on, and from {least} on as long as no PTX has to be compiled"
            ),
            (Some(full), _) => format!("everything works from driver {full} on"),
            (None, Some(least)) => {
                format!("it works from driver {least} on as long as no PTX has to be compiled")
            }
            (None, None) => "which driver that takes is not known".to_owned(),
        };
        format!("Built for CUDA {cuda}: {driver}.")
    }

    /// GPU code; `None` where that says nothing.
    pub fn code_line(&self) -> Option<String> {
        let (sass, ptx) = (&self.requires.sass, &self.requires.ptx);
        match (named(sass), named(ptx)) {
            _ if !self.needs.uses_cuda => None,
            (Some(sass), Some(ptx)) => Some(format!("SASS for {sass}; after compiling PTX also {ptx}.")),
            (Some(sass), None) => Some(format!("SASS for {sass}; no PTX for others.")),
            (None, Some(ptx)) => Some(format!("No SASS; after compiling PTX {ptx}.")),
            (None, None) => None,
        }
    }
}

fn named(architectures: &[String]) -> Option<String> {
    let shown = architectures.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
    let more = architectures.len().saturating_sub(NAMED);
    match (shown.is_empty(), more) {
        (true, _) => None,
        (false, 0) => Some(shown),
        (false, more) => Some(format!("{shown} and {more} more")),
    }
}
