//! The estimated cold start, in a line; its assumptions below it once opened.

use std::sync::Arc;

use egui::{Grid, Label, RichText, Ui};

use crate::analysis::Analysis;
use crate::base::text::counted;
use crate::findings::Plan;
use crate::gui::design::{Tokens, space, text};
use crate::gui::models::background::Background;
use crate::gui::models::cold_start::ColdStartLine;
use crate::gui::views::waker;
use crate::gui::widgets::fold::fold;

/// The line, computed for each analysis and plan.
#[derive(Default)]
pub(super) struct ColdStartState {
    of: Option<(u64, u64)>,
    job: Background<Option<ColdStartLine>>,
    line: Option<ColdStartLine>,
}

impl ColdStartState {
    /// Starts the estimate when the analysis or the plan changed. The line before stays until it is there.
    pub(super) fn update(&mut self, ui: &Ui, basis: (u64, u64), analysis: &Arc<Analysis>, plan: &Plan) {
        if self.of != Some(basis) {
            self.of = Some(basis);
            let (waker, analysis, plan) = (waker(ui), Arc::clone(analysis), plan.clone());
            self.job.start(&waker, false, move |cancel| {
                cancel.check()?;
                Ok(ColdStartLine::new(&analysis, &plan))
            });
        }
        if let Some(line) = self.job.take() {
            self.line = line;
        }
    }

    pub(super) fn is_busy(&self) -> bool {
        self.job.is_busy()
    }

    pub(super) fn show(&self, ui: &mut Ui) {
        let Some(line) = &self.line else { return };
        let tokens = Tokens::of(ui);
        fold(ui, "Cold start", &line.sentence, false, |ui| {
            let about = "Estimate on a cloud machine, until the process runs and its libraries are read. Other platforms: \
                         cutaway report --profile. The model: cutaway explain cold-start.";
            ui.label(RichText::new(about).color(tokens.text_weak));
            Grid::new("cold-start-phases").num_columns(2).spacing([space::L, space::XS]).show(ui, |ui| {
                for [phase, time] in &line.phases {
                    ui.label(RichText::new(phase).color(tokens.text_weak));
                    ui.label(RichText::new(time).color(tokens.text));
                    ui.end_row();
                }
            });
            let count = counted(line.assumptions.len(), "rate");
            fold(ui, "Assumptions", &format!("{count}, each with its source"), false, |ui| {
                Grid::new("cold-start-assumptions").num_columns(3).spacing([space::L, space::XS]).show(
                    ui,
                    |ui| {
                        for [name, value, source] in &line.assumptions {
                            ui.label(RichText::new(name).font(text::mono()).color(tokens.text));
                            ui.label(RichText::new(value).color(tokens.text));
                            ui.add(Label::new(RichText::new(source).color(tokens.text_weak)).wrap());
                            ui.end_row();
                        }
                    },
                );
            });
        });
        ui.add_space(space::L);
    }
}
