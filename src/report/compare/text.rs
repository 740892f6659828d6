//! The page of a comparison for a terminal. The last line is the verdict.

use super::model::CompareReport;
use super::page::page_of;
use super::rows::View;
use crate::base::text::printable;
use crate::report::text::{TextStyle, to_text};

/// Images side by side; of more, the first and the last.
const MOST_IMAGES: usize = 4;
/// Columns then.
const ENDS: usize = 2;
/// Characters of the head of a column: a size with its sign has as many.
const TITLE_WIDTH: usize = 9;

/// A comparison as text, always with all sections. Nothing in it can steer a terminal.
pub fn compare_to_text(report: &CompareReport, style: TextStyle) -> String {
    let most = if report.images.len() > MOST_IMAGES { ENDS } else { MOST_IMAGES };
    let page = page_of(&View::new(report, most, TITLE_WIDTH));
    let text = to_text(&page, TextStyle { brief: false, ..style });
    let note = match report.verdict {
        Some(_) => "",
        None => "no [regression] limits: only an incomplete image fails\n",
    };
    // The verdict stays whole: scripts read it.
    format!("{text}\n{note}{}\n", printable(&report.verdict_line()))
}
