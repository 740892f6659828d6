//! What an image needs of any machine, in lines.

use super::verdict_job::TargetVerdicts;

/// How many architectures are named.
const NAMED: usize = 12;

impl TargetVerdicts {
    /// CUDA and the driver.
    pub fn needs_line(&self) -> String {
        if !self.needs.uses_cuda {
            return "No CUDA in this image.".to_owned();
        }
        let requires = &self.requires;
        let Some(cuda) = &requires.cuda else {
            return "Uses CUDA; the CUDA version it was built for is unknown.".to_owned();
        };
        let driver = match (&requires.min_driver, &requires.min_driver_minor_compat) {
            (Some(full), Some(least)) if full != least => {
                format!("requires driver {full} or later; {least} or later without JIT compilation of PTX")
            }
            (Some(full), _) => format!("requires driver {full} or later"),
            (None, Some(least)) => {
                format!("requires driver {least} or later without JIT compilation of PTX")
            }
            (None, None) => "the required driver is unknown".to_owned(),
        };
        format!("Built for CUDA {cuda}: {driver}.")
    }

    /// Architectures on which all deciding files run; `None` without any.
    pub fn code_line(&self) -> Option<String> {
        let (sass, ptx) = (&self.requires.sass, &self.requires.ptx);
        match (named(sass), named(ptx)) {
            _ if !self.needs.uses_cuda => None,
            (Some(sass), Some(ptx)) => {
                Some(format!("Runs natively on {sass}; after JIT compilation of PTX on {ptx}."))
            }
            (Some(sass), None) => Some(format!("Runs natively on {sass}.")),
            (None, Some(ptx)) => Some(format!("Runs after JIT compilation of PTX on {ptx}.")),
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
