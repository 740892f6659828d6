//! A report as a page: sections of paragraphs, tables and charts, independent of Markdown, HTML and widgets.
//!
//! Contents, wording and list lengths are determined here once, so that formats agree. All texts are plain: safe on a
//! terminal ([`printable`](crate::base::text::printable)), and not escaped for any format.

use crate::base::labels::slug;
use crate::base::size::grouped;

/// A report for people.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Page {
    /// Subject, such as the name of the image.
    pub title: String,
    /// Kind of report, generator and version.
    pub generator: String,
    /// Facts under the title: source, platform, creation time.
    pub facts: Vec<String>,
    /// What to know first, in a sentence or two.
    pub lead: Vec<Line>,
    /// In the order in which they are read.
    pub sections: Vec<Section>,
}

/// What a section is about: what a user may leave out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Part {
    /// Sizes and classes.
    Sizes,
    /// What should not be there.
    Findings,
    /// The plan, and the Dockerfile that implements it.
    Plan,
    /// On which machines it runs.
    Compatibility,
    /// How long it takes to start on a node.
    ColdStart,
    /// Layers.
    Layers,
    /// CUDA libraries by component, frameworks, the stack.
    Cuda,
    /// GPU code by architecture.
    GpuCode,
    /// CUDA Graphs: which frameworks capture, what turns them off.
    CudaGraphs,
    /// Duplicates.
    Duplicates,
    /// Installed packages.
    Packages,
    /// Files: the largest ones, or those that differ.
    Files,
    /// Environment, command, labels.
    Settings,
    /// What went wrong.
    Warnings,
}

impl Part {
    /// All of them, in the order of a page.
    pub const ALL: [Self; 14] = [
        Self::Sizes,
        Self::Findings,
        Self::Plan,
        Self::Compatibility,
        Self::ColdStart,
        Self::Layers,
        Self::Cuda,
        Self::GpuCode,
        Self::CudaGraphs,
        Self::Duplicates,
        Self::Packages,
        Self::Files,
        Self::Settings,
        Self::Warnings,
    ];

    /// Its heading, which is also its name in lists of parts.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Sizes => "Sizes",
            Self::Findings => "Findings",
            Self::Plan => "Plan",
            Self::Compatibility => "Compatibility",
            Self::ColdStart => "Cold start",
            Self::Layers => "Layers",
            Self::Cuda => "CUDA",
            Self::GpuCode => "GPU code",
            Self::CudaGraphs => "CUDA Graphs",
            Self::Duplicates => "Duplicates",
            Self::Packages => "Packages",
            Self::Files => "Files",
            Self::Settings => "Settings",
            Self::Warnings => "Warnings",
        }
    }

    /// Whether it is of first interest: sizes, findings, plan, compatibility, warnings. The rest is folded or shortened
    /// if space is limited.
    pub const fn is_first(self) -> bool {
        matches!(self, Self::Sizes | Self::Findings | Self::Plan | Self::Compatibility | Self::Warnings)
    }

    /// A stable name: an anchor in HTML.
    pub fn id(self) -> String {
        slug(self.title())
    }
}

/// A part of a page.
#[derive(Clone, Debug, PartialEq)]
pub struct Section {
    /// The part it shows.
    pub part: Part,
    /// The most important figure or two, beside the heading; may be empty.
    pub note: String,
    /// Blocks; never empty.
    pub blocks: Vec<Block>,
}

/// A piece of a section.
#[derive(Clone, Debug, PartialEq)]
pub enum Block {
    /// A paragraph.
    Line(Line),
    /// A heading below that of the section.
    Heading(String),
    /// Names and values.
    Facts(Vec<(String, Line)>),
    /// Parts of a whole.
    Chart(Chart),
    /// Rows and columns.
    Table(Table),
    /// Collapsed: a line, and its contents.
    Fold(String, Vec<Block>),
    /// Text to copy: its language, such as `dockerfile` or `diff`, and the text with its line ends.
    Code(&'static str, String),
}

/// Meaning of a text; never conveyed by colour alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Tone {
    /// As all text.
    #[default]
    Plain,
    /// The main result: a passing verdict, the total.
    Strong,
    /// Beside the point.
    Weak,
    /// It is well: `safe`, `runs`.
    Good,
    /// Look at it: `Needs review`, `Runs after JIT compilation`.
    Unsure,
    /// It is not well: `fails`.
    Bad,
    /// It came in addition. Its text begins with a sign.
    Added,
    /// It is gone. Its text begins with a sign.
    Removed,
    /// It is another one.
    Changed,
}

/// A text and how it is meant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line {
    /// The text; empty for a cell with nothing in it.
    pub text: String,
    /// How it is meant.
    pub tone: Tone,
    /// Whether it is a path, an id or a command: shown in a font of even width, never translated.
    pub code: bool,
}

impl Line {
    /// A text without more.
    pub fn plain(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// A path, an id, a command.
    pub fn code(text: impl Into<String>) -> Self {
        Self { text: text.into(), code: true, ..Self::default() }
    }

    /// The same, meant in another way.
    pub fn tone(self, tone: Tone) -> Self {
        Self { tone, ..self }
    }
}

/// A column of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its heading, with which size it shows.
    pub title: String,
    /// Whether it contains numbers: right-aligned, tabular figures.
    pub number: bool,
}

/// Rows and columns.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// Headings.
    pub columns: Vec<Column>,
    /// As many cells each as there are columns.
    pub rows: Vec<Row>,
    /// Rows that are left out here, because they are too many.
    pub more: u64,
    /// Noun for the rows, plural, for the line that counts omitted rows.
    pub noun: &'static str,
}

/// A row of a table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row {
    /// One for each column.
    pub cells: Vec<Line>,
    /// Evidence of the row. Empty if the row is complete.
    pub details: Vec<Block>,
}

/// A whole and its parts, as one bar, with a legend of names, sizes and shares.
#[derive(Clone, Debug, PartialEq)]
pub struct Chart {
    /// Title, such as `Layer content by class`.
    pub title: String,
    /// The parts in the order of the bar; those without bytes are left out.
    pub parts: Vec<Slice>,
}

/// A part of a whole.
#[derive(Clone, Debug, PartialEq)]
pub struct Slice {
    /// Its name.
    pub name: String,
    /// Its bytes.
    pub bytes: u64,
    /// Which colour of the palette, by the same names as the window has: a class such as `cuda-devel`, `wasted`.
    pub colour: &'static str,
}

impl Page {
    /// The page with the requested sections only.
    pub fn only(mut self, parts: &[Part]) -> Self {
        self.sections.retain(|section| parts.contains(&section.part));
        self
    }
}

impl Table {
    /// The number of omitted rows, as a sentence: the same in every format.
    pub fn left_out(&self) -> Option<String> {
        let more = grouped(self.more);
        match self.more {
            0 => None,
            1 => Some(format!("1 more {}: see the JSON report.", singular(self.noun))),
            _ => Some(format!("{more} more {}: see the JSON report.", self.noun)),
        }
    }
}

/// One of what a table lists.
fn singular(noun: &str) -> String {
    match (noun.strip_suffix("ies"), noun.strip_suffix('s')) {
        (Some(stem), _) => format!("{stem}y"),
        (None, Some(stem)) => stem.to_owned(),
        (None, None) => noun.to_owned(),
    }
}

impl Chart {
    /// The bytes of the whole.
    pub fn total(&self) -> u64 {
        self.parts.iter().fold(0, |sum, part| sum.saturating_add(part.bytes))
    }

    /// What a part is of the whole, in words: the same in every format.
    pub fn share(&self, part: &Slice) -> String {
        share(part.bytes, self.total())
    }
}

/// The share of a part in a whole: `2.5 %`, `under 0.1 %`; a dash if the whole is zero. 0 % and 100 % are exact.
pub fn share(part: u64, whole: u64) -> String {
    match part as f64 / whole as f64 * 100.0 {
        _ if whole == 0 => "–".to_owned(),
        share if part > 0 && share < 0.1 => "under 0.1 %".to_owned(),
        share if part < whole && share > 99.9 => "over 99.9 %".to_owned(),
        share => format!("{share:.1} %"),
    }
}

#[cfg(test)]
mod tests {
    use super::share;

    #[test]
    fn a_small_share_is_not_shown_as_none() {
        assert_eq!(share(1, 10_000), "under 0.1 %");
        assert_eq!(share(3_424, 10_000), "34.2 %");
        assert_eq!(share(1, 1), "100.0 %");
    }
}
