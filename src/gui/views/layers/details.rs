//! Everything about the chosen path.

use egui::{RichText, ScrollArea, Ui};

use super::empty;
use super::files::mark_color;
use crate::analysis::Analysis;
use crate::base::labels::VERDICTS;
use crate::base::size::human;
use crate::base::text::{elide_middle, printable};
use crate::findings::FileFindings;
use crate::gui::design::{Tokens, space, text};
use crate::gui::models::browser::Browser;
use crate::gui::models::cuda::is_listed;
use crate::gui::models::files::{PathFact, Scope};
use crate::gui::models::format;
use crate::gui::models::inspector::PathTarget;
use crate::gui::models::path_why::PathWhy;
use crate::gui::views::commands::command_button;
use crate::gui::views::{Action, Command, ViewContext, path_menu};
use crate::gui::widgets::controls::{heading, weak};
use crate::gui::widgets::layer_chip::layer_chip;
use crate::report::WhyReport;

/// The width of names, so that the values of all tables are below each other.
const NAMES: f32 = 76.0;

/// Shows the facts, and what each layer does to the path.
pub(super) fn show(ui: &mut Ui, browser: &mut Browser, why: &PathWhy, context: &mut ViewContext<'_>) {
    let Some(details) = browser.details() else {
        empty(ui, "No file selected", "Select a file in the tree or treemap to see its metadata and layers.");
        return;
    };
    let tokens = Tokens::of(ui);
    let folder = browser.shown().is_some_and(|shown| shown.tree.is_folder(details.path));
    let mut go_to = None;
    let margin = egui::Margin::symmetric(12, 10);
    ScrollArea::vertical().id_salt("facts").auto_shrink(false).show(ui, |ui| {
        egui::Frame::new().inner_margin(margin).show(ui, |ui| {
            ui.set_width(ui.available_width());
            let name = details.shown_path.rsplit('/').find(|part| !part.is_empty()).unwrap_or("/");
            ui.horizontal_top(|ui| {
                ui.with_layout(egui::Layout::right_to_left(egui::Align::Min), |ui| {
                    if ui.button("Copy path").clicked() {
                        context.actions.push(Action::CopyText(format::copy_text(&details.raw_path)));
                    }
                    ui.with_layout(egui::Layout::top_down(egui::Align::Min), |ui| {
                        ui.label(RichText::new(elide_middle(name, 64)).font(text::heading()));
                        let folder = details.shown_path.strip_suffix(name).unwrap_or("");
                        ui.label(
                            RichText::new(elide_middle(folder, 160))
                                .font(text::mono())
                                .color(tokens.text_weak),
                        );
                    });
                });
            });
            if let Some(fate) = &details.fate {
                ui.label(RichText::new(fate).color(tokens.hidden));
            }
            ui.add_space(space::S);
            facts(ui, "facts", &details.facts);
            ui.add_space(space::S);
            let target = PathTarget { raw: details.raw_path.clone(), version: details.version };
            ui.horizontal_wrapped(|ui| {
                if !folder {
                    context.actions.extend(command_button(ui, Command::ShowContents, "Contents"));
                }
                if ui.button("Why is this here?").clicked() {
                    context.actions.push(Action::ShowWhy(target));
                }
            });
            if let Some(Ok(report)) = why.answer(&details.raw_path) {
                let cuda = is_in_cuda(context, &details.raw_path).then(|| details.raw_path.clone());
                let severity = severity(context.analysis, report);
                let last = context.analysis.layers.len().checked_sub(1).and_then(|at| u16::try_from(at).ok());
                let scope = browser.shown().map(|shown| shown.tree.scope());
                if scope != last.map(Scope::Merged) {
                    ui.add_space(space::S);
                    weak(ui, "In the whole image");
                }
                reasons(ui, report, severity, cuda, context.actions);
            }
            ui.add_space(space::M);
            heading(ui, "Layer history");
            if details.touches.is_empty() {
                ui.label(RichText::new("None: this is the root folder.").color(tokens.text_weak));
            }
            for touch in &details.touches {
                ui.horizontal(|ui| {
                    ui.spacing_mut().item_spacing.x = space::S;
                    let sign = RichText::new(touch.mark.sign())
                        .font(text::mono())
                        .color(mark_color(tokens, touch.mark));
                    ui.add_sized([12.0, 18.0], egui::Label::new(sign));
                    let (chip, _) = ui.allocate_exact_size(egui::vec2(7.0, 14.0), egui::Sense::hover());
                    layer_chip(ui.painter(), tokens, chip, usize::from(touch.layer));
                    let item = browser.items.get(usize::from(touch.layer));
                    let link = ui.link(format!("Layer {}", touch.layer));
                    let link = match item {
                        Some(item) => link.on_hover_ui(|ui| super::layer_list::describe(ui, item, false)),
                        None => link,
                    };
                    if link.clicked() {
                        go_to = Some(usize::from(touch.layer));
                    }
                    let bytes = touch.bytes.map_or_else(String::new, |bytes| format!(", {}", human(bytes)));
                    ui.add(egui::Label::new(format!("{}{bytes}", touch.what)).wrap());
                });
            }
        });
    });
    if let Some(layer) = go_to {
        browser.select_layer(layer);
        browser.set_merged(false);
    }
}

/// Names and values, to read and to copy.
pub(super) fn facts(ui: &mut Ui, salt: &str, facts: &[PathFact]) {
    let weak = Tokens::of(ui).text_weak;
    let grid = egui::Grid::new(salt).num_columns(2).min_col_width(NAMES);
    grid.spacing([space::M, space::XS]).show(ui, |ui| {
        for fact in facts {
            ui.label(RichText::new(fact.name).color(weak));
            ui.add(egui::Label::new(RichText::new(&fact.value)).wrap().selectable(true));
            ui.end_row();
        }
    });
}

/// What the findings about a file come to; not for a folder, whose files may be in different ones.
pub(in crate::gui) fn severity(analysis: &Analysis, report: &WhyReport) -> Option<FileFindings> {
    let findings = analysis.findings.as_deref().filter(|_| report.folder.is_none())?;
    findings.together(report.findings.iter().map(|finding| &*finding.id))
}

/// Whether the CUDA view has a row for it.
fn is_in_cuda(context: &ViewContext<'_>, raw: &[u8]) -> bool {
    let known = context.analysis.inventory.as_ref().zip(context.analysis.merge.as_ref());
    known.is_some_and(|(inventory, merge)| is_listed(inventory, merge, raw))
}

/// Package, who loads it, its findings, and what would happen without it, each a link; `cuda` is its path if the CUDA
/// view lists it.
fn reasons(
    ui: &mut Ui,
    report: &WhyReport,
    severity: Option<FileFindings>,
    cuda: Option<Vec<u8>>,
    actions: &mut Vec<Action>,
) {
    let tokens = Tokens::of(ui);
    let why = || Action::ShowWhy(PathTarget::of(report.path.0.clone()));
    let grid = egui::Grid::new("reasons").num_columns(2).min_col_width(NAMES);
    grid.spacing([space::M, space::XS]).show(ui, |ui| {
        let name = |ui: &mut Ui, words: &str| {
            ui.add(egui::Label::new(RichText::new(words).color(tokens.text_weak)).extend());
        };
        // Links stay inside a narrow pane, as facts do.
        ui.style_mut().wrap_mode = Some(egui::TextWrapMode::Wrap);
        if let Some(package) = &report.package {
            name(ui, "Package");
            let words = printable(&format!(
                "{} {} ({})",
                package.name.name, package.name.version, package.name.manager
            ));
            if ui.link(elide_middle(&words, 48)).on_hover_text(words).clicked() {
                actions.push(why());
            }
            ui.end_row();
        }
        if let Some(loading) = &report.loading {
            name(ui, "Loaded by");
            match (loading.chain.get(1), &loading.root) {
                (_, Some(root)) => drop(ui.label(elide_middle(root, 48))),
                (Some(step), None) => {
                    let path = step.path.to_string();
                    let response = ui.link(elide_middle(&path, 48)).on_hover_text(path);
                    actions.extend(path_menu(&response, &step.path.0));
                    if response.clicked() {
                        actions.push(Action::SelectPath(step.path.0.clone()));
                    }
                }
                (None, None) => drop(ui.label("Nothing that runs")),
            }
            ui.end_row();
        }
        if let Some(all) = severity {
            name(ui, "Severity");
            ui.label(all.words());
            ui.end_row();
        }
        for (place, finding) in report.findings.iter().take(3).enumerate() {
            name(ui, if place == 0 { "Findings" } else { "" });
            let words = format!("{}: {}", VERDICTS.shown(&finding.verdict), finding.title);
            if ui.link(words).clicked() {
                actions.push(Action::SelectFinding(finding.id.clone()));
            }
            ui.end_row();
        }
        name(ui, "Without it");
        if ui.link(report.without.kind.title()).clicked() {
            actions.push(why());
        }
        ui.end_row();
        if let Some(raw) = cuda {
            name(ui, "CUDA");
            if ui.link("Show in CUDA").clicked() {
                actions.push(Action::ShowInCuda(raw));
            }
            ui.end_row();
        }
    });
}
