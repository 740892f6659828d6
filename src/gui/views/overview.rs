//! The first view of an image.

mod classes;
mod cold_start;
mod runs;
mod savings;
mod settings;
mod stack;
mod tables;
mod uses;

use std::sync::Arc;

use egui::{RichText, ScrollArea, Ui};

use self::cold_start::ColdStartState;
use self::runs::RunsOn;
use self::tables::{Figure, Table};
use self::uses::Uses;
use super::commands::{Command, command_button};
use super::{Action, ImageView, View, ViewContext, waker};
use crate::base::size::{grouped, human, human_or_dash};
use crate::base::text::counted;
use crate::base::text::elide_end;
use crate::gui::design::{Tokens, space, text};
use crate::gui::models::background::Background;
use crate::gui::models::findings::Savings;
use crate::gui::models::layers::{LayerItem, LayerState};
use crate::gui::models::overview::{Contents, Overview, PathItem};
use crate::gui::models::report::SavedReport;
use crate::gui::widgets::controls::heading;
use crate::gui::widgets::stacked_bar::{Segment, stacked_bar};
use crate::report::page::Page;

/// From this width on, tables are side by side.
const WIDE: f32 = 760.0;
/// Lines of text longer than this are hard to follow.
const WIDEST: f32 = 1_240.0;
/// Images with fewer paths are looked through at once.
const AT_ONCE: usize = 20_000;
/// How many layers are named below the bar.
const NAMED: usize = 6;

/// State of the view of one image.
#[derive(Default)]
pub struct OverviewView {
    known: Option<(u64, Overview)>,
    contents: Option<Contents>,
    /// The generation that the contents were asked for.
    asked: Option<usize>,
    job: Background<Contents>,
    all_lines: bool,
    uses: Option<Uses>,
    runs: RunsOn,
    cold_start: ColdStartState,
    savings: Option<Savings>,
    /// The generation and the plan that the savings were made from.
    saved: Option<(u64, u64)>,
}

impl ImageView for OverviewView {
    fn saved_page(saved: &SavedReport) -> Option<&Arc<Page>> {
        Some(&saved.overview)
    }

    fn ui(&mut self, ui: &mut Ui, context: &mut ViewContext<'_>) {
        self.update(ui, context);
        let Self {
            known: Some((_, overview)),
            contents,
            job,
            all_lines,
            uses,
            runs,
            savings,
            cold_start,
            ..
        } = self
        else {
            return;
        };
        ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
            // Beside the bar there is a gap.
            ui.set_max_width((ui.available_width() - space::S).min(WIDEST));
            let arrival = overview.arrival(&context.progress);
            head(ui, overview, savings.as_ref(), arrival.as_deref());
            figures(ui, overview);
            ui.add_space(space::XL);
            cold_start.show(ui);
            if let Some(uses) = uses {
                uses.classes(ui, context.actions);
                ui.add_space(space::XL);
            }
            savings::show(ui, savings.as_ref(), (context.done, overview.incomplete), context.actions);
            if context.plan.prediction().is_some_and(|prediction| prediction.choosable > 0) {
                ui.add_space(space::S);
                context.actions.extend(command_button(ui, Command::WriteSlim, "Write slim image…"));
            }
            ui.add_space(space::XL);
            layers(ui, overview, context);
            ui.add_space(space::XL);
            if let Some(uses) = uses {
                uses.call_stack(ui, context.actions);
                runs.show(ui, context.actions);
                ui.add_space(space::XL);
            }
            let pending = overview.waits_for.clone();
            let pending = if job.is_busy() { Some("file sorting".to_owned()) } else { pending };
            files(ui, contents.as_ref(), pending.as_deref(), context);
            ui.add_space(space::XL);
            waste(ui, overview, contents.as_ref(), pending.as_deref(), context);
            ui.add_space(space::XL);
            settings::show(ui, &overview.settings, all_lines);
            ui.add_space(space::L);
        });
    }

    fn is_busy(&self) -> bool {
        self.job.is_busy() || self.runs.is_busy() || self.cold_start.is_busy()
    }
}

impl OverviewView {
    /// What is shown, as data.
    pub fn model(&self) -> Option<&Overview> {
        self.known.as_ref().map(|(_, overview)| overview)
    }

    fn update(&mut self, ui: &Ui, context: &ViewContext<'_>) {
        if self.known.as_ref().is_none_or(|(generation, _)| *generation != context.generation) {
            self.known = Some((context.generation, Overview::new(context.analysis, context.done)));
        }
        Uses::update(&mut self.uses, context.analysis);
        self.runs.update(ui, context.analysis);
        let saved = Some((context.generation, context.plan.revision()));
        if self.saved != saved {
            self.saved = saved;
            self.savings = Savings::new(context.analysis, context.plan);
        }
        if context.analysis.findings.is_some() {
            let basis = (context.generation, context.plan.revision());
            self.cold_start.update(ui, basis, context.analysis, context.plan.plan());
        }
        let merge = context.analysis.merge.as_ref();
        let at = merge.map(|merge| Arc::as_ptr(merge) as usize);
        if at != self.asked {
            self.asked = at;
            self.contents = None;
            if let Some(merge) = merge {
                let waker = waker(ui);
                let merge = Arc::clone(merge);
                let small = merge.rootfs.len() < AT_ONCE;
                let made = self.job.start(&waker, small, move |cancel| {
                    cancel.check()?;
                    Ok(Contents::new(&merge))
                });
                self.contents = made;
            }
        }
        if let Some(contents) = self.job.take() {
            self.contents = Some(contents);
        }
    }
}

fn head(ui: &mut Ui, overview: &Overview, savings: Option<&Savings>, arrival: Option<&str>) {
    let tokens = Tokens::of(ui);
    ui.label(RichText::new(&overview.name).font(text::title()).color(tokens.text));
    ui.label(RichText::new(overview.origin.join("  ·  ")).color(tokens.text_weak));
    ui.add_space(space::M);
    let outcome = savings.and_then(|savings| savings.outcome.as_deref());
    let sentence = match outcome.or(arrival) {
        Some(outcome) => format!("{} {outcome}", overview.sentence),
        None => overview.sentence.clone(),
    };
    ui.label(RichText::new(sentence).size(15.0).color(tokens.text));
    ui.add_space(space::L);
}

/// The three sizes.
fn figures(ui: &mut Ui, overview: &Overview) {
    let tokens = Tokens::of(ui);
    let totals = overview.totals.as_ref();
    let pending = overview.waits_for.as_ref().map(|what| format!("waiting for {what}"));
    let or_pending = |note: String| {
        if totals.is_some() { note } else { pending.clone().unwrap_or_else(|| "unknown".to_owned()) }
    };
    let layers = counted(overview.layers.len(), "layer");
    let wasted = totals.map(|totals| totals.wasted_bytes);
    let figures = [
        Figure {
            name: "Compressed",
            value: human_or_dash(overview.compressed),
            note: format!("{layers}, size of a first pull"),
            color: tokens.text,
        },
        Figure {
            name: "Merged",
            value: human_or_dash(totals.map(|totals| totals.merged_bytes)),
            note: or_pending(totals.map_or_else(String::new, |totals| {
                let files = usize::try_from(totals.merged_files).unwrap_or(usize::MAX);
                let read = if totals.complete { "the merged view" } else { "what was read" };
                format!("{} in {read}", counted(files, "file"))
            })),
            color: tokens.text,
        },
        Figure {
            name: "Wasted",
            value: match wasted {
                Some(0) if overview.incomplete => "unknown".to_owned(),
                wasted => human_or_dash(wasted),
            },
            note: or_pending(if overview.incomplete {
                "in what was read".to_owned()
            } else {
                "deleted or overwritten by upper layers".to_owned()
            }),
            color: if wasted.is_some_and(|bytes| bytes > 0) { tokens.hidden } else { tokens.text },
        },
    ];
    tables::figures(ui, &figures);
}

fn layers(ui: &mut Ui, overview: &Overview, context: &mut ViewContext<'_>) {
    let tokens = Tokens::of(ui);
    let items = &overview.layers;
    // Compressed sizes are used unless all layers are read: do not mix both.
    let known = |item: &LayerItem| item.content.is_some();
    let unread = !items.iter().all(known);
    let note = if items.iter().any(|item| item.state == LayerState::Waiting) {
        "by compressed size, bottom first; dim: not read yet"
    } else if unread {
        "by compressed size, bottom first; dim: not read"
    } else {
        "by content size, bottom first; hatched: wasted"
    };
    section(ui, "Layers", note);
    let size = |item: &LayerItem| if unread { item.compressed } else { item.content };
    let wasted = |item: &LayerItem| if unread { 0 } else { item.wasted.unwrap_or(0) };
    let segments: Vec<Segment> = items
        .iter()
        .map(|item| Segment {
            value: size(item).unwrap_or(0),
            fill: if known(item) { tokens.layer(item.index) } else { tokens.dim(tokens.layer(item.index)) },
            short: item.index.to_string(),
            spoken: item.spoken(),
            hatched: crate::base::convert::fraction(wasted(item), size(item).unwrap_or(0)),
        })
        .collect();
    let hover = |ui: &mut Ui, index: usize| super::layers::describe(ui, &items[index]);
    let clicked = stacked_bar(ui, "Layers by size", 36.0, &segments, hover);
    if let Some(layer) = clicked {
        context.actions.push(Action::SelectLayer(layer));
    }
    ui.add_space(space::S);
    let mut largest: Vec<&LayerItem> = items
        .iter()
        .filter(|item| size(item).is_some_and(|bytes| bytes > 0) || item.state.fault().is_some())
        .collect();
    largest.sort_by_key(|item| (item.state.fault().is_none(), std::cmp::Reverse(size(item))));
    largest.truncate(NAMED);
    if let Some(layer) = tables::layer_lines(ui, &largest, size) {
        context.actions.push(Action::SelectLayer(layer));
    }
    if items.len() > NAMED {
        ui.add_space(space::XS);
        let all = ui.link(format!("All {}", counted(items.len(), "layer")));
        if all.clicked() {
            context.actions.push(Action::ShowView(View::Layers));
        }
    }
}

fn files(ui: &mut Ui, contents: Option<&Contents>, pending: Option<&str>, context: &mut ViewContext<'_>) {
    let no_files = context.analysis.merge.as_ref().is_some_and(|merge| merge.merged_files == 0);
    let mut chosen = None;
    {
        let mut table = |ui: &mut Ui,
                         name: &'static str,
                         note: &str,
                         items: &dyn Fn(&Contents) -> &[PathItem],
                         folders: bool| {
            section(ui, name, note);
            match contents.map(items) {
                None => tables::waiting(ui, pending),
                Some([]) if no_files => tables::nothing(ui, "The image contains no files."),
                Some([]) => tables::nothing(ui, "All files in the image are empty."),
                Some(items) => {
                    let whole = items.first().map_or(0, |item| item.bytes);
                    let rows = items.iter().map(|item| tables::SizeRow::path(item, folders)).collect();
                    let columns =
                        if folders { &["Size", "Folder", "Files"] } else { &["Size", "File", "Layer"] };
                    let clicked = tables::table(ui, &Table { name, columns, rows, whole });
                    chosen = chosen.take().or(clicked.map(|click| click.action(|row| &items[row].raw)));
                }
            }
        };
        if ui.available_width() >= WIDE {
            ui.columns(2, |columns| {
                columns[0].spacing_mut().item_spacing.x = space::S;
                table(
                    &mut columns[0],
                    "Largest files",
                    "in the merged view",
                    &|contents| &contents.files,
                    false,
                );
                table(
                    &mut columns[1],
                    "Largest folders",
                    "non-overlapping",
                    &|contents| &contents.folders,
                    true,
                );
            });
        } else {
            table(ui, "Largest files", "in the merged view", &|contents| &contents.files, false);
            ui.add_space(space::XL);
            table(ui, "Largest folders", "non-overlapping", &|contents| &contents.folders, true);
        }
    }
    context.actions.extend(chosen);
}

fn waste(
    ui: &mut Ui,
    overview: &Overview,
    contents: Option<&Contents>,
    pending: Option<&str>,
    context: &mut ViewContext<'_>,
) {
    let tokens = Tokens::of(ui);
    section(ui, "Waste", "files deleted or overwritten by upper layers");
    let Some(contents) = contents else {
        tables::waiting(ui, pending);
        return;
    };
    if contents.waste.is_empty() {
        let words = if overview.incomplete {
            "Unknown: part of the image was not read."
        } else {
            "No wasted bytes: all file content is in the merged view."
        };
        tables::nothing(ui, words);
        return;
    }
    for pair in contents.pairs.iter().take(3) {
        let files = counted(pair.files, "file");
        let what = if pair.held_by == pair.hidden_by {
            format!("{} in {files} stored twice in layer {}", human(pair.bytes), pair.held_by)
        } else {
            format!(
                "{} in {files} of layer {}, shadowed by layer {}",
                human(pair.bytes),
                pair.held_by,
                pair.hidden_by
            )
        };
        let title = overview.layers.get(usize::from(pair.hidden_by)).map_or("", |item| item.title.as_str());
        let title = elide_end(title, 80);
        ui.horizontal_wrapped(|ui| {
            ui.label(RichText::new(what).color(tokens.text));
            ui.label(RichText::new(title).font(text::mono()).color(tokens.text_weak));
        });
    }
    ui.add_space(space::XS);
    let whole = contents.waste.first().map_or(0, |item| item.bytes);
    let rows = contents.waste.iter().map(tables::SizeRow::waste).collect();
    let table = Table { name: "Waste", columns: &["Size", "File", "Layer", "Shadowed by"], rows, whole };
    if let Some(click) = tables::table(ui, &table) {
        if let tables::RowClick::Open(row) = click {
            let layer = contents.waste[row].held_by;
            context.actions.push(Action::SelectLayer(usize::from(layer)));
        }
        context.actions.push(click.action(|row| &contents.waste[row].raw));
    }
    let more = contents.wasted_files.saturating_sub(contents.waste.len());
    if more > 0 {
        ui.label(
            RichText::new(format!(
                "and {} more {}",
                grouped(more as u64),
                if more == 1 { "file" } else { "files" }
            ))
            .font(text::small())
            .color(tokens.text_weak),
        );
    }
}

fn section(ui: &mut Ui, title: &str, note: &str) {
    let tokens = Tokens::of(ui);
    ui.horizontal(|ui| {
        heading(ui, title);
        ui.label(RichText::new(note).font(text::small()).color(tokens.text_weak));
    });
    ui.add_space(space::XS);
}
