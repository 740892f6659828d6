//! A page as GitHub's Markdown, which GitLab reads as well.

mod escape;
mod write;

pub use escape::escape as markdown_escape;

use super::page::{Line, Page};
use super::shorten::{Limits, shortened};
use crate::base::text::{elide_end, elide_middle};
use write::write;

/// Maximum characters of a comment: GitHub accepts 65,536, and a prefix may be added.
const MOST: usize = 60_000;

/// From a comfortable length to what fits of the largest page. A comment is a summary; the rest is in the JSON or HTML
/// report.
const STEPS: [Limits; 10] = [
    Limits { first: (60, 60), others: (60, 60), inner: 6, text: 700, code: 12_000 },
    Limits { first: (60, 20), others: (40, 0), inner: 5, text: 500, code: 8_000 },
    Limits { first: (60, 12), others: (40, 0), inner: 4, text: 400, code: 8_000 },
    Limits { first: (60, 8), others: (30, 0), inner: 3, text: 400, code: 6_000 },
    Limits { first: (40, 5), others: (25, 0), inner: 3, text: 300, code: 5_000 },
    Limits { first: (30, 3), others: (20, 0), inner: 2, text: 240, code: 3_000 },
    Limits { first: (20, 0), others: (12, 0), inner: 0, text: 160, code: 1_500 },
    Limits { first: (12, 0), others: (8, 0), inner: 0, text: 120, code: 0 },
    Limits { first: (8, 0), others: (4, 0), inner: 0, text: 80, code: 0 },
    Limits { first: (4, 0), others: (2, 0), inner: 0, text: 60, code: 0 },
];

/// Maximum lines and characters of the remainder if even the shortest lists do not fit.
const LAST_LINES: usize = 4;
const LAST_TEXT: usize = 300;

/// A page as Markdown that fits a comment of a pull request: at most 60,000 characters.
pub fn to_markdown(page: &Page) -> String {
    for (step, limits) in STEPS.into_iter().enumerate() {
        let text = write(&shortened(page, limits), step > 0);
        if text.chars().count() <= MOST {
            return text;
        }
    }
    write(&last_resort(page), true)
}

/// The title and the first lines, which always fit.
fn last_resort(page: &Page) -> Page {
    let line = |line: &Line| Line { text: elide_end(&line.text, LAST_TEXT), ..*line };
    Page {
        title: elide_middle(&page.title, LAST_TEXT),
        generator: elide_end(&page.generator, LAST_TEXT),
        lead: page.lead.iter().take(LAST_LINES).map(line).collect(),
        ..Page::default()
    }
}
