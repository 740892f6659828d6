//! Width and colours of text on stdout.

use std::io::IsTerminal as _;
use std::path::Path;

use clap::ValueEnum;

use crate::report::TextStyle;

/// Columns beyond which lines are harder to read than to scroll.
const MOST_COLUMNS: usize = 160;
/// Narrower terminals wrap by themselves.
const LEAST_COLUMNS: usize = 60;

/// When text has colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum Color {
    /// On a terminal, unless `NO_COLOR` is set
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// How text is written.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
pub(super) struct TextArguments {
    /// When to use colors
    #[arg(long, value_enum, default_value = "auto", value_name = "WHEN")]
    color: Color,
    /// Print all sections also on a terminal
    #[arg(long)]
    full: bool,
}

impl TextArguments {
    /// All sections.
    pub(super) fn whole(color: Color) -> Self {
        Self { color, full: true }
    }

    /// The style of text on stdout, or in `file`. A terminal gets a summary in its width, all else the whole text in
    /// 80 columns.
    pub(super) fn style(self, file: Option<&Path>) -> TextStyle {
        let plain = TextStyle::default();
        let stdout = std::io::stdout();
        let is_terminal = file.is_none() && stdout.is_terminal();
        let color = match self.color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => is_terminal && colors_by_environment(),
        };
        let columns = terminal_size::terminal_size_of(&stdout).filter(|_| is_terminal);
        let width =
            columns.map_or(plain.width, |(width, _)| usize::from(width.0).clamp(LEAST_COLUMNS, MOST_COLUMNS));
        TextStyle { width, color, brief: is_terminal && !self.full }
    }
}

/// <https://no-color.org>: any value but the empty one.
fn colors_by_environment() -> bool {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    !is_set("NO_COLOR") && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}
