//! Why there are no newer proposals, with what can be done about it.

use egui::{Label, RichText, Ui};

use super::DockerfileEvent;
use crate::base::text::elide_end;
use crate::gui::design::{Tokens, space, text};
use crate::gui::models::dockerfile::{Excerpt, Problem};
use crate::gui::views::commands::{Command, command_button};
use crate::gui::widgets::alert::error_box;

/// Characters shown before and after the position in a line.
const AROUND: usize = 60;

pub(super) fn show(ui: &mut Ui, problem: &Problem, given: bool, events: &mut Vec<DockerfileEvent>) {
    let tokens = Tokens::of(ui);
    error_box(ui, |ui| {
        ui.add(Label::new(RichText::new(&problem.title).font(text::strong())).wrap());
        ui.add(Label::new(&problem.message).wrap().selectable(true));
        if let Some(excerpt) = &problem.excerpt {
            show_excerpt(ui, excerpt);
        }
        if let Some(hint) = &problem.hint {
            ui.add(Label::new(RichText::new(hint).color(tokens.text_weak)).wrap());
        }
        ui.add_space(space::XS);
        ui.horizontal(|ui| {
            let about = "Read the file again and recompute the proposals";
            if ui.button("Try again").on_hover_text(about).clicked() {
                events.push(DockerfileEvent::Retry);
            }
            if given {
                let buttons = [
                    (Command::OpenDockerfile, "Open another…"),
                    (Command::CloseDockerfile, "Close Dockerfile"),
                ];
                for (command, label) in buttons {
                    events.extend(command_button(ui, command, label).map(DockerfileEvent::Window));
                }
            }
        });
    });
    ui.add_space(space::S);
}

/// The line, and a sign below the place in it.
fn show_excerpt(ui: &mut Ui, excerpt: &Excerpt) {
    let tokens = Tokens::of(ui);
    let from = excerpt.before.saturating_sub(AROUND);
    let before = if from > 0 { "…" } else { "" };
    let part: String = excerpt.text.chars().skip(from).collect();
    let number = format!("{} ", excerpt.line);
    let room = number.chars().count() + before.chars().count() + (excerpt.before - from);
    let mono = |words: String, color| Label::new(RichText::new(words).font(text::mono()).color(color));
    ui.spacing_mut().item_spacing.y = 0.0;
    let line = format!("{number}{before}{}", elide_end(&part, 2 * AROUND));
    ui.add(mono(line, tokens.text).selectable(true).truncate());
    ui.add(mono(format!("{}^", " ".repeat(room)), tokens.error));
    ui.spacing_mut().item_spacing.y = 4.0;
}
