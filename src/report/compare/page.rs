//! A comparison as a page: its sections, wording, and list bounds.

mod contents;
mod layers;
mod lead;
mod runs;
mod settings;
mod sizes;

pub use lead::moved_in_words;

use super::model::CompareReport;
use super::rows::View;
use crate::base::text::printable;
use crate::report::page::{Page, Part};
use crate::report::sections::make::{Content, sections};

/// Images side by side; of more, the first and the newest are shown.
const MOST_IMAGES: usize = 8;
/// Characters of the head of a column.
const TITLE_WIDTH: usize = 28;

/// The page of a comparison.
pub fn compare_page(report: &CompareReport) -> Page {
    page_of(&View::new(report, MOST_IMAGES, TITLE_WIDTH))
}

/// The page with the images of a view as columns.
pub(super) fn page_of(view: &View<'_>) -> Page {
    let made = [
        (Part::Sizes, sizes::section(view)),
        (Part::Findings, contents::findings(view)),
        (Part::Compatibility, runs::section(view)),
        (Part::Layers, layers::section(view)),
        (Part::Cuda, contents::components(view)),
        (Part::GpuCode, contents::gpu_code(view)),
        (Part::Packages, contents::packages(view)),
        (Part::Files, contents::files(view)),
        (Part::Settings, settings::section(view)),
        (Part::Warnings, settings::warnings(view)),
    ];
    let generator = &view.report.generator;
    Page {
        title: lead::title(view),
        generator: printable(&format!("Comparison of {} {}", generator.name, generator.version)),
        facts: lead::facts(view),
        lead: lead::lead(view),
        sections: sections(made),
    }
}
