//! Writes a page as text, for terminals and files.

mod brief;
mod table;

use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};

use super::page::{Block, Chart, Line, Page, Part, Section, Tone};
use super::sections::remark;
use crate::base::size::human;
use crate::base::text::{elide_end, elide_middle};
use crate::base::wrap::wrap;

/// Columns of text that is not written to a terminal.
pub(super) const WIDTH: usize = 80;
/// Before the lines of a section.
const INDENT: usize = 2;
/// Names of facts are aligned up to this width.
const FACT_NAME: usize = 18;
/// Characters of a full bar.
const BAR: usize = 24;

/// Layout of a page as text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextStyle {
    /// Columns.
    pub width: usize,
    /// Whether ANSI colours are used.
    pub color: bool,
    /// Whether only the summary and the first rows of the most important sections are written.
    pub brief: bool,
}

impl Default for TextStyle {
    fn default() -> Self {
        Self { width: WIDTH, color: false, brief: false }
    }
}

/// A page as text. Contains no control characters but line ends and, with `color`, ANSI colours.
pub fn to_text(page: &Page, style: TextStyle) -> String {
    let mut writer = Writer { out: String::new(), style };
    if style.brief {
        writer.page(&brief::brief(page));
    } else {
        writer.page(page);
    }
    writer.out
}

/// Writes the blocks of a page one after the other. Writing to a `String` cannot fail.
struct Writer {
    out: String,
    style: TextStyle,
}

impl Writer {
    fn page(&mut self, page: &Page) {
        let width = self.style.width;
        self.line(0, Tone::Strong, &elide_middle(&page.title, width));
        self.paragraph(0, Tone::Weak, &page.facts.join(", "));
        if !page.lead.is_empty() {
            self.out.push('\n');
        }
        page.lead.iter().for_each(|one| self.paragraph(0, one.tone, &one.text));
        page.sections.iter().for_each(|one| self.section(one));
    }

    fn section(&mut self, section: &Section) {
        let title = section.part.title();
        self.out.push('\n');
        let head = match section.note.as_str() {
            "" => title.to_owned(),
            note => format!("{title}: {note}"),
        };
        self.line(0, Tone::Strong, &elide_end(&head, self.style.width));
        self.blocks(section.part, &section.blocks);
    }

    fn blocks(&mut self, part: Part, list: &[Block]) {
        let mut before: Option<&Block> = None;
        for block in list {
            let is_apart = match block {
                Block::Heading(_) | Block::Chart(_) => true,
                Block::Fold(_, inside) => !is_code(inside),
                Block::Table(_) => {
                    before.is_some_and(|before| !matches!(before, Block::Line(_) | Block::Heading(_)))
                }
                Block::Line(_) | Block::Facts(_) | Block::Code(..) => false,
            };
            if is_apart {
                self.out.push('\n');
            }
            self.block(part, block);
            before = Some(block);
        }
    }

    fn block(&mut self, part: Part, block: &Block) {
        match block {
            Block::Line(line) => self.paragraph(INDENT, line.tone, &line.text),
            Block::Heading(text) => self.paragraph(INDENT, Tone::Strong, text),
            Block::Facts(facts) => self.facts(facts),
            Block::Chart(chart) => self.chart(chart),
            Block::Table(table) => {
                // Other details are in the JSON report.
                let below = |details: &[Block]| {
                    if self.style.brief { None } else { remark(part, details) }
                };
                let text = table::write(table, self.style, &below);
                self.out += &text;
            }
            // `cutaway dockerfile` prints it, ready for use, and with --diff the changes.
            Block::Fold(title, inside) if is_code(inside) => {
                if matches!(inside[..], [Block::Code("dockerfile", _)]) {
                    self.paragraph(INDENT, Tone::Plain, &format!("{title}: run `cutaway dockerfile IMAGE`"));
                }
            }
            Block::Fold(title, inside) => {
                self.paragraph(INDENT, Tone::Strong, title);
                self.blocks(part, inside);
            }
            Block::Code(_, text) => {
                let width = self.style.width - INDENT;
                text.lines().for_each(|line| self.line(INDENT, Tone::Plain, &elide_end(line, width)));
            }
        }
    }

    /// Names and values in two columns; a name that is repeated stands once.
    fn facts(&mut self, facts: &[(String, Line)]) {
        let longest = facts.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0).min(FACT_NAME);
        let mut before = None;
        for (name, value) in facts {
            let shown = if before == Some(name) { "" } else { name };
            before = Some(name);
            let indent = INDENT + longest + 2;
            let lines = wrap(&value.text, self.style.width - indent);
            for (number, line) in lines.iter().enumerate() {
                let name = if number == 0 { shown } else { "" };
                let line = self.paint(value.tone, &elide_end(line, self.style.width - indent));
                writeln!(self.out, "{:INDENT$}{:<longest$}  {line}", "", elide_end(name, longest)).ok();
            }
        }
    }

    fn chart(&mut self, chart: &Chart) {
        let total = chart.total();
        self.paragraph(INDENT, Tone::Strong, &format!("{}: {}", chart.title, human(total)));
        let parts = chart.parts.iter().filter(|part| part.bytes > 0);
        let names = parts.clone().map(|part| part.name.chars().count()).max().unwrap_or(0).min(FACT_NAME * 2);
        for part in parts {
            let (name, bytes, share) = (elide_end(&part.name, names), human(part.bytes), chart.share(part));
            let bar = "#".repeat(bar_length(part.bytes, total));
            writeln!(self.out, "{:INDENT$}{bytes:>10}  {name:<names$}  {share:>12}  {bar}", "").ok();
        }
    }

    /// Lines of at most the width, those after the first moved in; a word that is longer is cut.
    fn paragraph(&mut self, indent: usize, tone: Tone, text: &str) {
        for (number, line) in wrap(text, self.style.width - indent - INDENT).iter().enumerate() {
            let indent = if number == 0 { indent } else { indent + INDENT };
            self.line(indent, tone, &elide_end(line, self.style.width - indent));
        }
    }

    fn line(&mut self, indent: usize, tone: Tone, text: &str) {
        if !text.is_empty() {
            let text = self.paint(tone, text);
            write!(self.out, "{:indent$}{text}", "").ok();
        }
        self.out.push('\n');
    }

    fn paint(&self, tone: Tone, text: &str) -> String {
        paint(self.style, tone, text)
    }
}

/// Whether a fold has nothing but text to copy.
fn is_code(blocks: &[Block]) -> bool {
    blocks.iter().all(|block| matches!(block, Block::Code(..)))
}

/// At least one character, so that no part disappears.
fn bar_length(part: u64, whole: u64) -> usize {
    let share = u128::from(part) * BAR as u128 / u128::from(whole.max(1));
    usize::try_from(share).unwrap_or(BAR).clamp(1, BAR)
}

fn paint(layout: TextStyle, tone: Tone, text: &str) -> String {
    let color = |color: AnsiColor| Style::new().fg_color(Some(color.into()));
    let style = match tone {
        Tone::Plain => Style::new(),
        Tone::Strong => Style::new().bold(),
        Tone::Weak => Style::new().dimmed(),
        Tone::Good | Tone::Added => color(AnsiColor::Green),
        Tone::Unsure | Tone::Changed => color(AnsiColor::Yellow),
        Tone::Bad | Tone::Removed => color(AnsiColor::Red),
    };
    if layout.color && !text.is_empty() { format!("{style}{text}{style:#}") } else { text.to_owned() }
}
