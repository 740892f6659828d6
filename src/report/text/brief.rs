//! The summary for a terminal: the lead and the first rows of what decides, a screen and a half.

use crate::report::page::{Block, Line, Page, Part, Section, Tone};
use crate::report::shorten::{Limits, shortened};

/// Rows of a table.
const ROWS: usize = 6;
/// Text is elided by the columns of a table, paragraphs are few.
const LIMITS: Limits = Limits { first: (ROWS, 0), others: (ROWS, 0), inner: 0, text: 400, code: 0 };
/// Columns of the findings: bytes, title, severity. Where they are follows from the evidence.
const OF_FINDINGS: usize = 3;

/// The page without the sections that the lead summarises, and without details.
pub(super) fn brief(page: &Page) -> Page {
    let keeps = |part: Part| matches!(part, Part::Findings | Part::Compatibility | Part::Warnings);
    let mut page = shortened(page, LIMITS);
    page.sections.retain(|section| keeps(section.part));
    page.sections.iter_mut().for_each(brief_section);
    let hint = "All sections and the ids of findings: --full. All evidence: --format json.";
    page.sections.retain(|section| !section.blocks.is_empty());
    if let Some(last) = page.sections.last_mut() {
        last.blocks.extend([Block::Line(Line::default()), Block::Line(Line::plain(hint).tone(Tone::Weak))]);
    }
    page
}

fn brief_section(section: &mut Section) {
    if section.part == Part::Findings {
        for block in &mut section.blocks {
            let Block::Table(table) = block else { continue };
            table.columns.truncate(OF_FINDINGS);
            table.rows.iter_mut().for_each(|row| row.cells.truncate(OF_FINDINGS));
        }
    }
    section.blocks.retain(|block| match block {
        Block::Fold(..) | Block::Chart(_) | Block::Code(..) => false,
        // The lead has the sums of the findings.
        Block::Line(_) => section.part != Part::Findings,
        Block::Heading(_) | Block::Facts(_) | Block::Table(_) => true,
    });
}
