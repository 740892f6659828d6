//! A chart as a bar: where each part begins and ends, and its row of the legend.

use std::borrow::Cow;

use serde::Serialize;

use crate::base::size::human;
use crate::report::page::{Chart, Slice};

/// Classes of the style sheet, the names of the window's colours.
const COLOURS: [&str; 7] =
    ["system", "cuda-runtime", "cuda-devel", "framework", "weights", "application", "wasted"];
/// What has another name.
const OTHER: &str = "other";

/// Minimum width of a part in hundredths of the bar, so that it is visible.
const LEAST_WIDTH: f64 = 0.6;
/// Minimum width of a part for its number.
const LEAST_NAMED: f64 = 5.0;

/// A bar and its legend.
#[derive(Serialize)]
pub(super) struct ChartView<'a> {
    pub(super) id: String,
    pub(super) title: Cow<'a, str>,
    /// All of it in words.
    pub(super) description: String,
    /// Whether the style of wasted bytes is needed.
    pub(super) hatched: bool,
    pub(super) parts: Vec<PartView<'a>>,
}

/// A part of the bar.
#[derive(Serialize)]
pub(super) struct PartView<'a> {
    /// Its number, in the bar and in the legend.
    key: usize,
    name: Cow<'a, str>,
    size: String,
    share: String,
    colour: &'static str,
    /// In hundredths of the bar.
    from: String,
    width: String,
    middle: String,
    /// Whether its number fits.
    named: bool,
}

impl<'a> ChartView<'a> {
    /// A chart with one part for each of `names`.
    pub(super) fn new(id: String, title: Cow<'a, str>, chart: &Chart, names: Vec<Cow<'a, str>>) -> Self {
        let slices: Vec<(&Slice, Cow<str>)> =
            chart.parts.iter().zip(names).filter(|(slice, _)| slice.bytes > 0).collect();
        let total = chart.parts.iter().map(|slice| slice.bytes as f64).sum::<f64>();
        let widths = widths(slices.iter().map(|(slice, _)| slice.bytes as f64 / total));
        let mut from = 0.0;
        let parts: Vec<PartView> = slices
            .into_iter()
            .zip(widths)
            .enumerate()
            .map(|(place, ((slice, name), width))| {
                let part = PartView {
                    key: place + 1,
                    name,
                    size: human(slice.bytes),
                    share: chart.share(slice),
                    colour: colour(slice.colour),
                    from: percent(from),
                    width: percent(width),
                    middle: percent(from + width / 2.0),
                    named: width >= LEAST_NAMED,
                };
                from += width;
                part
            })
            .collect();
        let told: Vec<String> =
            parts.iter().map(|part| format!("{} {}, {}", part.name, part.size, part.share)).collect();
        let hatched = parts.iter().any(|part| part.colour == "wasted");
        Self { id, title, description: told.join("; "), hatched, parts }
    }
}

/// The class of a colour; only names that we know.
fn colour(name: &str) -> &'static str {
    COLOURS.into_iter().find(|known| *known == name).unwrap_or(OTHER)
}

/// Hundredths of the bar: narrow parts are widened to be visible, at the cost of the others.
fn widths(shares: impl Iterator<Item = f64>) -> Vec<f64> {
    let shares: Vec<f64> = shares.map(|share| share * 100.0).collect();
    let least = LEAST_WIDTH.min(50.0 / shares.len().max(1) as f64);
    let (narrow, wide): (Vec<f64>, Vec<f64>) = shares.iter().partition(|share| **share < least);
    let scale = (100.0 - least * narrow.len() as f64) / wide.iter().sum::<f64>().max(f64::EPSILON);
    shares.iter().map(|share| if *share < least { least } else { share * scale }).collect()
}

fn percent(hundredths: f64) -> String {
    format!("{hundredths:.2}%")
}

#[cfg(test)]
mod tests {
    use super::widths;

    #[test]
    fn narrow_parts_are_seen_and_the_bar_is_full() {
        for shares in [vec![1.0], vec![0.999_99, 0.000_01], vec![0.5, 0.3, 0.2], vec![0.001; 1000]] {
            let widths = widths(shares.iter().copied());
            let sum: f64 = widths.iter().sum();
            assert!((sum - 100.0).abs() < 1e-6, "{shares:?}: {sum}");
            let least = widths.iter().copied().fold(f64::MAX, f64::min);
            assert!(least >= 0.05, "{least}");
        }
    }
}
