//! The estimated cold start for the overview: a line, and the assumptions behind it.

use crate::analysis::Analysis;
use crate::base::text::printable;
use crate::deploy::span;
use crate::findings::Plan;
use crate::report::{
    AssumptionPart, ColdStartPart, Options, cold_start_figure, cold_start_part, cold_start_sentence,
};

/// What the overview shows of the cold start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColdStartLine {
    /// Before and after the plan, in words.
    pub sentence: String,
    /// Rows: phase, and its time. Download and unpacking overlap.
    pub phases: Vec<[String; 2]>,
    /// Rows: name, value with unit, source.
    pub assumptions: Vec<[String; 3]>,
}

impl ColdStartLine {
    /// The estimate of an analysis with a plan; `None` before the layers are merged.
    pub fn new(analysis: &Analysis, plan: &Plan) -> Option<Self> {
        let options = Options { plan: Some(plan.clone()), paths: false, ..Options::default() };
        Some(Self::of(&cold_start_part(analysis, &options)?))
    }

    fn of(part: &ColdStartPart) -> Self {
        let Some(first) = part.scenarios.first() else {
            return Self { sentence: "unknown".to_owned(), phases: Vec::new(), assumptions: Vec::new() };
        };
        let sentence = match (cold_start_sentence(part), &first.unknown) {
            (Some(sentence), _) => format!("{}: {sentence}", first.title),
            (None, Some(why)) => why.clone(),
            (None, None) => "unknown".to_owned(),
        };
        let row = |(name, one): (&String, &AssumptionPart)| {
            let (low, high) = (cold_start_figure(one.low), cold_start_figure(one.high));
            let value = if low == high { low } else { format!("{low} to {high}") };
            [printable(name), format!("{value} {}", one.unit), printable(&one.source)]
        };
        let phases = first.phases.as_ref().map_or_else(Vec::new, |phases| {
            let parts = [
                ("Download", phases.fetch),
                ("Unpack, meanwhile", phases.unpack),
                ("Start the process", phases.start),
                ("Read files", phases.read),
            ];
            parts.map(|(name, seconds)| [name.to_owned(), span(seconds.low, seconds.high)]).into()
        });
        Self {
            sentence: printable(&sentence),
            phases,
            assumptions: first.assumptions.iter().map(row).collect(),
        }
    }
}
