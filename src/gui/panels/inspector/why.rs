//! Why a path is in the image, with a link for everything that is named.

use std::sync::Arc;

use egui::{Frame, Label, Margin, RichText, ScrollArea, Ui};

use crate::base::labels::VERDICTS;
use crate::base::size::human;
use crate::base::text::{and_more, counted, elide_end, elide_middle, printable, sentence};
use crate::findings::{FileFindings, Verdict};
use crate::gui::design::{Tokens, space, text};
use crate::gui::models::findings::short_question;
use crate::gui::models::inspector::{Inspector, PathTarget};
use crate::gui::views::layers::severity;
use crate::gui::views::{Action, ViewContext, path_menu};
use crate::gui::widgets::controls::{heading, weak};
use crate::gui::widgets::fold::fold;
use crate::gui::widgets::pane::empty;
use crate::report::{Effect, PathName, WhyFinding, WhyReport, WhyShare};

/// Lines of a list.
const MOST: usize = 12;

pub(super) fn show(ui: &mut Ui, inspector: &Inspector, context: &mut ViewContext<'_>) {
    let report = match (inspector.why(), inspector.why_error()) {
        (Some(Ok(report)), _) => Arc::clone(report),
        (Some(Err(reason)), _) => return empty(ui, "Not in the image", &sentence(reason)),
        (None, Some(reason)) => return empty(ui, "Cannot explain this path", reason),
        (None, None) if context.analysis.merge.is_none() => {
            return empty(ui, "Waiting for layers", "The answer is available when the layers are merged.");
        }
        (None, None) => return empty(ui, "Searching…", ""),
    };
    ScrollArea::vertical().id_salt("why").auto_shrink(false).show(ui, |ui| {
        Frame::new().inner_margin(Margin::symmetric(12, 10)).show(ui, |ui| {
            ui.set_width(ui.available_width());
            body(ui, &report, severity(context.analysis, &report), context.actions);
        });
    });
}

fn link(ui: &mut Ui, path: &PathName, actions: &mut Vec<Action>) {
    let shown = path.to_string();
    let response = ui.link(RichText::new(elide_middle(&shown, 72)).font(text::mono())).on_hover_text(shown);
    actions.extend(path_menu(&response, &path.0));
    if response.clicked() {
        actions.push(Action::ShowWhy(PathTarget::of(path.0.clone())));
    }
}

fn links(ui: &mut Ui, title: &str, paths: &[PathName], all: u64, actions: &mut Vec<Action>) {
    if paths.is_empty() {
        return;
    }
    section(ui, title);
    paths.iter().take(MOST).for_each(|path| link(ui, path, actions));
    let all = usize::try_from(all).unwrap_or(usize::MAX);
    let shown = paths.len().min(MOST);
    if all > shown {
        weak(ui, and_more(all, shown).trim_start());
    }
}

fn section(ui: &mut Ui, title: &str) {
    ui.add_space(space::M);
    heading(ui, title);
}

fn paragraph(ui: &mut Ui, words: &str) {
    ui.add(Label::new(words).wrap().selectable(true));
}

fn layer_link(ui: &mut Ui, layer: u16, instruction: Option<&str>, actions: &mut Vec<Action>) {
    ui.horizontal_wrapped(|ui| {
        if ui.link(format!("Layer {layer}")).clicked() {
            actions.push(Action::SelectLayer(usize::from(layer)));
        }
        if let Some(instruction) = instruction {
            let one_line = instruction.split_whitespace().collect::<Vec<_>>().join(" ");
            let words = RichText::new(elide_end(&printable(&one_line), 200)).font(text::mono());
            ui.add(Label::new(words).wrap()).on_hover_text(printable(instruction));
        }
    });
}

fn body(ui: &mut Ui, report: &WhyReport, severity: Option<FileFindings>, actions: &mut Vec<Action>) {
    without(ui, report);
    if let Some(link) = &report.link {
        section(ui, "Points to");
        paragraph(ui, link);
        match &report.link_target {
            Some(target) => self::link(ui, target, actions),
            None => drop(weak(ui, "which does not exist")),
        }
    }
    section(ui, "Brought by");
    match &report.layer {
        Some(layer) => {
            layer_link(ui, layer.layer, layer.instruction.as_deref(), actions);
            match (layer.is_base, &layer.base) {
                (Some(true), Some(base)) => drop(weak(ui, format!("Base image {}", printable(base)))),
                (Some(true), None) => drop(weak(ui, "Base image")),
                (Some(false), _) => drop(weak(ui, "Above the base image")),
                (None, _) => {}
            }
        }
        None => drop(weak(ui, "No layer has an entry for this folder.")),
    }
    versions(ui, report, actions);
    section(ui, "Package");
    match &report.package {
        Some(package) => {
            let name = &package.name;
            let automatic = if package.automatic.is_some() { ", as a dependency" } else { "" };
            let words = format!("{} {} ({}){automatic}", name.name, name.version, name.manager);
            paragraph(ui, &printable(&words));
            if let (Some(files), Some(bytes)) = (package.files, package.bytes) {
                weak(ui, format!("{}, {}", counted(files, "file"), human(bytes)));
            }
            layer_link(ui, package.layer, None, actions);
        }
        None => drop(weak(ui, "No package owns it.")),
    }
    loading(ui, report, actions);
    if !report.settings.is_empty() {
        section(ui, "Named in");
        paragraph(ui, &report.settings.join(", "));
    }
    if !report.references.is_empty() {
        section(ui, "Mentioned in");
        for reference in report.references.iter().take(MOST) {
            ui.horizontal_wrapped(|ui| {
                link(ui, &reference.path, actions);
                weak(ui, reference.names.join(", "));
            });
        }
    }
    links(ui, "Hard links", &report.other_names, report.other_names.len() as u64, actions);
    section(ui, "Findings");
    match severity {
        Some(all) => drop(ui.label(RichText::new(all.words()).font(text::strong()))),
        None if report.findings.is_empty() => drop(weak(ui, "Part of no finding.")),
        None => {}
    }
    report.findings.iter().take(MOST).for_each(|finding| show_finding(ui, finding, actions));
    if let Some(folder) = &report.folder {
        shares(ui, "By layer", &folder.layers, |name| format!("Layer {name}"));
        shares(ui, "By package", &folder.owners, |name| {
            if name.is_empty() { "No package".to_owned() } else { printable(name) }
        });
        if !folder.largest.is_empty() {
            section(ui, "Largest files");
            for file in folder.largest.iter().take(MOST) {
                ui.horizontal_wrapped(|ui| {
                    weak(ui, human(file.bytes));
                    link(ui, &file.path, actions);
                });
            }
        }
    }
}

fn without(ui: &mut Ui, report: &WhyReport) {
    let tokens = Tokens::of(ui);
    let without = &report.without;
    let color = match without.kind {
        Effect::Nothing => tokens.success,
        Effect::Unknown | Effect::MayBreak => tokens.warning,
        Effect::Breaks => tokens.error,
    };
    heading(ui, "Without it");
    let title = match (without.kind, without.required_by) {
        (Effect::Breaks, files @ 1..) => format!("Required by {}", counted(files, "file")),
        (kind, _) => kind.title().to_owned(),
    };
    ui.label(RichText::new(title).font(text::strong()).color(color));
    without.statements.iter().take(MOST).for_each(|words| paragraph(ui, words));
    let (merged, layers) = (human(without.merged_bytes), human(without.layer_bytes));
    weak(ui, format!("Saves {merged} in the merged view, {layers} in the layers."));
}

fn versions(ui: &mut Ui, report: &WhyReport, actions: &mut Vec<Action>) {
    if report.versions.len() < 2 && report.visible {
        return;
    }
    section(ui, "Versions");
    for version in report.versions.iter().take(MOST) {
        ui.horizontal_wrapped(|ui| {
            if ui.link(format!("Layer {}", version.layer)).clicked() {
                actions.push(Action::SelectLayer(usize::from(version.layer)));
            }
            let bytes = version.bytes.map_or_else(String::new, |bytes| format!(", {}", human(bytes)));
            let fate = match (version.hidden_by, version.replaced) {
                (Some(by), true) if &*version.kind == "folder" => format!(", touched again by layer {by}"),
                (Some(by), true) => format!(", replaced by layer {by}"),
                (Some(by), false) => format!(", removed by layer {by}"),
                (None, _) => ", visible".to_owned(),
            };
            ui.label(format!("{}{bytes}{fate}", version.kind));
        });
    }
}

fn loading(ui: &mut Ui, report: &WhyReport, actions: &mut Vec<Action>) {
    let Some(loading) = &report.loading else { return };
    section(ui, "Loaded by");
    let root = loading.chain.first().and_then(|step| step.root.as_ref());
    if let Some(root) = root {
        paragraph(ui, &sentence(root));
    } else if loading.chain.len() < 2 {
        weak(ui, "Unreferenced: nothing that runs loads it.");
    }
    for step in loading.chain.iter().skip(1) {
        ui.horizontal_wrapped(|ui| {
            link(ui, &step.path, actions);
            let root = step.root.as_ref().map_or_else(String::new, |root| format!("; {root}"));
            weak(ui, format!("{}{root}", step.how.as_deref().unwrap_or("loads it")));
        });
    }
    links(ui, "Needed by", &loading.needed_by, loading.needed_by_count, actions);
    links(ui, "Opened by", &loading.opened_by, loading.opened_by_count, actions);
    links(ui, "Same soname", &loading.copies, loading.copies.len() as u64, actions);
}

fn show_finding(ui: &mut Ui, finding: &WhyFinding, actions: &mut Vec<Action>) {
    let tokens = Tokens::of(ui);
    let color = match &*finding.verdict {
        word if word == Verdict::Safe.as_str() => tokens.success,
        word if word == Verdict::Needed.as_str() => tokens.error,
        _ => tokens.warning,
    };
    ui.horizontal_wrapped(|ui| {
        if ui.link(&finding.title).on_hover_text(&finding.id).clicked() {
            actions.push(Action::SelectFinding(finding.id.clone()));
        }
        ui.label(RichText::new(VERDICTS.shown(&finding.verdict)).color(color));
        weak(ui, format!("{} of {}", human(finding.bytes), human(finding.finding_bytes)));
    });
    paragraph(ui, &finding.reason);
    if let Some(question) = &finding.question {
        paragraph(ui, short_question(question, &finding.reason, &finding.proof));
    }
    if !finding.proof.is_empty() {
        let title = if finding.verdict == Verdict::Unsure.as_str() { "Evidence" } else { "Proof" };
        fold(ui, title, &finding.id, false, |ui| {
            finding.proof.iter().for_each(|words| paragraph(ui, words));
        });
    }
}

fn shares(ui: &mut Ui, title: &str, list: &[WhyShare], name: impl Fn(&str) -> String) {
    if list.is_empty() {
        return;
    }
    section(ui, title);
    egui::Grid::new(title).num_columns(3).spacing([space::M, 2.0]).show(ui, |ui| {
        for share in list.iter().take(MOST) {
            ui.label(human(share.bytes));
            weak(ui, counted(share.files, "file"));
            ui.label(name(&share.name));
            ui.end_row();
        }
    });
}
