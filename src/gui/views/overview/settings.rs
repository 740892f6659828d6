//! How the image runs: its configuration, line by line.

use egui::{RichText, Ui};

use super::{section, tables};
use crate::base::text::elide_end;
use crate::gui::design::{Tokens, space, text};
use crate::gui::models::overview::Setting;

/// How many lines of a setting are shown before the rest is asked for.
const LINES: usize = 12;
/// Longer lines are cut until all is asked for.
const LINE: usize = 240;

/// Shows the configuration; `all` shows long values in full.
pub(super) fn show(ui: &mut Ui, settings: &[Setting], all: &mut bool) {
    let tokens = Tokens::of(ui);
    section(ui, "Image configuration", "likely secrets are redacted");
    if settings.is_empty() {
        tables::nothing(ui, "No readable image configuration.");
        return;
    }
    let label = 120.0;
    for setting in settings {
        ui.horizontal_top(|ui| {
            let (rect, _) = ui.allocate_exact_size(egui::vec2(label, 20.0), egui::Sense::hover());
            let painter = ui.painter();
            painter.text(
                rect.left_center() - egui::vec2(0.0, 1.5),
                egui::Align2::LEFT_CENTER,
                setting.name,
                text::body(),
                tokens.text_weak,
            );
            ui.vertical(|ui| {
                ui.spacing_mut().item_spacing.y = 2.0;
                if setting.lines.is_empty() {
                    ui.label(RichText::new("–").color(tokens.text_weak));
                }
                let shown = if *all { usize::MAX } else { LINES };
                for line in setting.lines.iter().take(shown) {
                    let cut = if *all { line.clone() } else { elide_end(line, LINE) };
                    let label =
                        ui.add(egui::Label::new(line_job(tokens, setting, &cut)).wrap().selectable(true));
                    if cut != *line && label.clicked() {
                        *all = true;
                    }
                }
                let more = setting.lines.len().saturating_sub(shown);
                let cut = !*all && setting.lines.iter().any(|line| line.chars().count() > LINE);
                if (more > 0 || cut)
                    && ui
                        .link(if more > 0 { format!("Show {more} more") } else { "Show all".to_owned() })
                        .clicked()
                {
                    *all = true;
                }
            });
        });
        ui.add_space(space::XS);
    }
}

/// A line of the configuration; of a pair, the name is dimmed.
fn line_job(tokens: &Tokens, setting: &Setting, line: &str) -> egui::text::LayoutJob {
    let format = |color| egui::TextFormat::simple(text::mono(), color);
    let mut job = egui::text::LayoutJob::default();
    match line.split_once('=').filter(|_| matches!(setting.name, "Environment" | "Labels")) {
        Some((name, value)) => {
            job.append(&format!("{name}="), 0.0, format(tokens.text_weak));
            job.append(value, 0.0, format(tokens.text));
        }
        None => job.append(line, 0.0, format(tokens.text)),
    }
    job
}
