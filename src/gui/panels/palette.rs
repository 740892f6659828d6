//! Every command by name, and every open image.

use egui::accesskit::Role;
use egui::{
    Align, Align2, Area, Frame, Id, Key, Margin, Modal, Modifiers, Order, ScrollArea, Sense, TextEdit, Ui,
    WidgetInfo, pos2, vec2,
};

use crate::gui::app::App;
use crate::gui::design::{Tokens, radius, row, space, text};
use crate::gui::models::background::Background;
use crate::gui::models::found::{FoundAt, FoundItem, LETTERS, find};
use crate::gui::views::{Action, Command};
use crate::gui::widgets::controls::{line_of_text, weak};

const WIDTH: f32 = 560.0;

/// The palette: closed, or open with what was typed.
#[derive(Default)]
pub(crate) struct Palette {
    open: Option<Search>,
}

#[derive(Default)]
struct Search {
    typed: String,
    chosen: usize,
    moved: bool,
    /// How many lines the last frame had.
    lines: usize,
    /// The image, its state and the text of the newest search in it.
    asked: Option<(u64, u64, String)>,
    job: Background<Vec<FoundItem>>,
    found: Vec<FoundItem>,
}

impl Search {
    /// Looks in the image in front for what is typed.
    fn look(&mut self, app: &App) {
        let front = app.front_tab().and_then(|tab| Some((tab.id, tab.generation, tab.analysis.clone()?)));
        let Some((tab, generation, analysis)) = front else { return };
        let asked = (tab, generation, self.typed.clone());
        if self.asked.as_ref() != Some(&asked) {
            self.asked = Some(asked);
            let typed = self.typed.clone();
            self.found.clear();
            self.job = Background::default();
            if typed.trim().chars().count() >= LETTERS {
                self.job.start(&app.waker(), false, move |cancel| find(&analysis, &typed, cancel));
            }
        }
        if let Some(found) = self.job.take() {
            self.found = found;
        }
    }
}

impl Palette {
    pub(crate) fn is_open(&self) -> bool {
        self.open.is_some()
    }

    pub(crate) fn toggle(&mut self) {
        self.open = if self.open.is_some() { None } else { Some(Search::default()) };
    }
}

/// A line of the palette.
struct PaletteItem {
    title: String,
    about: String,
    keys: String,
    enabled: bool,
    action: Action,
}

/// Shows the palette when it is open.
pub(crate) fn palette(ui: &Ui, app: &mut App) {
    let Some(mut search) = app.palette.open.take() else { return };
    search.look(app);
    let items = items(ui.ctx(), app, &search.typed, &search.found);
    let count = items.len();
    if std::mem::replace(&mut search.lines, count) != count {
        // The list takes its new height in the frame after.
        ui.ctx().request_repaint();
    }
    let step = |ui: &Ui, key| ui.input_mut(|input| input.count_and_consume_key(Modifiers::NONE, key));
    let (down, up) = (step(ui, Key::ArrowDown), step(ui, Key::ArrowUp));
    if count > 0 && down + up > 0 {
        search.chosen = (search.chosen + down + count * (1 + up) - up) % count;
        search.moved = true;
    }
    let entered = ui.input_mut(|input| input.consume_key(Modifiers::NONE, Key::Enter));
    let mut run = entered.then(|| items.get(search.chosen)).flatten();

    let tokens = Tokens::of(ui);
    let width = WIDTH.min(ui.content_rect().width() - 32.0);
    let top = (ui.content_rect().height() * 0.12).max(24.0);
    let area = Area::new(Id::unique("palette area"))
        .order(Order::Foreground)
        .anchor(Align2::CENTER_TOP, vec2(0.0, top));
    let frame =
        Frame::popup(ui.style()).fill(tokens.popup).corner_radius(radius::L).inner_margin(Margin::same(8));
    let modal = Modal::new(Id::unique("palette")).area(area).frame(frame).backdrop_color(tokens.backdrop());
    let shown = modal.show(ui.ctx(), |ui| {
        ui.set_width(width);
        let field = TextEdit::singleline(&mut search.typed)
            .id(Id::unique("palette field"))
            .hint_text("Search commands, images, findings, libraries and files")
            .margin(Margin::symmetric(8, 6))
            .desired_width(f32::INFINITY);
        let response = ui.add(field);
        response.widget_info(|| {
            WidgetInfo::text_edit(true, search.typed.as_str(), search.typed.as_str(), "Command")
        });
        response.request_focus();
        if response.changed() {
            search.chosen = 0;
            search.moved = true;
        }
        ui.add_space(space::XS);
        if items.is_empty() {
            ui.add_space(space::S);
            weak(ui, "  No match.");
            ui.add_space(space::S);
        }
        ui.spacing_mut().item_spacing.y = 0.0;
        let most = (ui.content_rect().height() - top - 120.0).clamp(120.0, 14.0 * row::NORMAL);
        let mut clicked = None;
        // A dialog that was small offers the list no more room than it took: the lines decide.
        let height = (count as f32 * row::NORMAL).min(most);
        let area = ScrollArea::vertical().max_height(most).min_scrolled_height(height);
        area.auto_shrink([false, true]).show(ui, |ui| {
            for (index, offer) in items.iter().enumerate() {
                let chosen = index == search.chosen;
                let response = line(ui, offer, chosen);
                if chosen && search.moved {
                    response.scroll_to_me(Some(Align::Center));
                }
                if response.clicked() {
                    clicked = Some(offer);
                }
            }
        });
        search.moved = false;
        clicked
    });
    run = shown.inner.or(run);
    if let Some(offer) = run.filter(|offer| offer.enabled) {
        app.actions.push(offer.action.clone());
    } else if !shown.should_close() {
        app.palette.open = Some(search);
    }
}

fn line(ui: &mut Ui, offer: &PaletteItem, chosen: bool) -> egui::Response {
    let tokens = Tokens::of(ui);
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), row::NORMAL), Sense::click());
    response.widget_info(|| WidgetInfo::selected(Role::ListBoxOption, offer.enabled, chosen, &offer.title));
    if !ui.is_rect_visible(rect) {
        return response;
    }
    if chosen {
        ui.painter().rect_filled(rect, radius::S, tokens.selection);
    } else if response.hovered() {
        ui.painter().rect_filled(rect, radius::S, tokens.hovered);
    }
    let middle = rect.center().y;
    let color = if offer.enabled { tokens.text } else { tokens.text_disabled };
    let title = ui.painter().text(
        pos2(rect.left() + 8.0, middle),
        Align2::LEFT_CENTER,
        &offer.title,
        text::body(),
        color,
    );
    let keys = ui.painter().text(
        pos2(rect.right() - 8.0, middle),
        Align2::RIGHT_CENTER,
        &offer.keys,
        text::small(),
        if offer.enabled { tokens.text_weak } else { tokens.text_disabled },
    );
    let between = egui::Rect::from_x_y_ranges(title.right() + 12.0..=keys.left() - 12.0, rect.y_range());
    if between.width() > 60.0 {
        let color = if offer.enabled { tokens.text_weak } else { tokens.text_disabled };
        line_of_text(ui, between, &offer.about, text::small(), color);
    }
    response
}

/// What fits what was typed, best first: before commands that only have its letters, what was found in the image.
fn items(context: &egui::Context, app: &App, typed: &str, found: &[FoundItem]) -> Vec<PaletteItem> {
    let found = found.iter().map(|item| PaletteItem {
        title: item.title.clone(),
        about: item.about.clone(),
        keys: String::new(),
        enabled: true,
        action: match &item.at {
            FoundAt::Finding(id) => Action::SelectFinding(id.clone()),
            FoundAt::Library(raw) => Action::ShowInCuda(raw.clone()),
            FoundAt::Path(raw) => Action::SelectPath(raw.clone()),
        },
    });
    let tabs = app.tabs.iter().map(|tab| PaletteItem {
        title: format!("Go to {}", tab.title),
        about: tab.shown.clone(),
        keys: String::new(),
        enabled: true,
        action: Action::ShowTab(tab.id),
    });
    let commands = Command::all().map(|command| PaletteItem {
        title: command.info().title.to_owned(),
        about: app.tooltip(command).to_owned(),
        keys: command.info().keys_text(context),
        enabled: app.check(command).is_ok(),
        action: Action::Run(command),
    });
    let mut fit: Vec<(u32, PaletteItem)> =
        commands.chain(tabs).filter_map(|offer| Some((rank(typed, &offer.title)?, offer))).collect();
    // These are in order.
    fit.extend(found.map(|offer| (2, offer)));
    // What can be run comes first; among equals the order of the menus stays.
    // A title typed in full comes before longer ones.
    let exact = |offer: &PaletteItem| offer.title.eq_ignore_ascii_case(typed.trim());
    fit.sort_by_key(|(rank, offer)| (!offer.enabled, *rank, !exact(offer)));
    fit.into_iter().map(|(_, offer)| offer).collect()
}

/// How well `title` fits `typed`, 0 best; `None` when not at all. Every word must begin a word, or
/// stand within one, or at least its letters must come in order.
fn rank(typed: &str, title: &str) -> Option<u32> {
    let (typed, title) = (typed.trim().to_lowercase(), title.to_lowercase());
    if title.starts_with(&typed) {
        return Some(0);
    }
    let words: Vec<&str> = title.split_whitespace().collect();
    let begins = |part: &str| words.iter().any(|word| word.starts_with(part));
    if typed.split_whitespace().all(begins) {
        return Some(1);
    }
    if typed.split_whitespace().all(|part| title.contains(part)) {
        return Some(2);
    }
    let mut letters = title.chars();
    let in_order = typed.chars().filter(|c| !c.is_whitespace()).all(|wanted| letters.any(|c| c == wanted));
    in_order.then_some(3)
}

#[cfg(test)]
mod tests {
    use super::{Command, items, rank};
    use crate::gui::app::{App, Setup};

    #[test]
    fn better_fits_come_first() {
        assert_eq!(rank("", "Open again"), Some(0));
        assert_eq!(rank("open", "Open again"), Some(0));
        assert_eq!(rank("again", "Open again"), Some(1));
        assert_eq!(rank("ag op", "Open again"), Some(1));
        assert_eq!(rank("gain", "Open again"), Some(2));
        assert_eq!(rank("oag", "Open again"), Some(3));
        assert_eq!(rank("xyz", "Open again"), None);
    }

    #[test]
    fn every_command_is_in_the_palette() {
        let context = egui::Context::default();
        let app = App::new(&context, None, Setup::default());
        let titles: Vec<String> =
            items(&context, &app, "", &[]).into_iter().map(|offer| offer.title).collect();
        assert_eq!(titles.len(), Command::all().count());
        for command in Command::all().map(Command::info) {
            assert!(titles.iter().any(|title| title == command.title), "{}", command.title);
            let found = items(&context, &app, command.title, &[]);
            assert!(found.iter().any(|offer| offer.title == command.title), "{}", command.title);
        }
    }
}
