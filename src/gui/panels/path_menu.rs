//! What can be done with a path, wherever it is shown, or with another row.

use egui::containers::menu::menu_style;
use egui::{Align, Id, Key, Layout, Popup, PopupAnchor, PopupCloseBehavior, PopupKind, Pos2, Ui};

use crate::base::text::elide_middle;
use crate::gui::app::App;
use crate::gui::models::format;
use crate::gui::models::inspector::PathTarget;
use crate::gui::views::Action;
use crate::gui::views::layers::SAVE_SELECTION;
use crate::gui::widgets::controls::weak;

/// The menu, while it is open.
pub(crate) fn path_menu(ui: &Ui, app: &mut App) {
    let is = |holds: fn(&App, u64, &PathTarget) -> bool| {
        app.path_menu.as_ref().is_some_and(|menu| holds(app, menu.tab, &menu.target))
    };
    let (folder, in_layers) = (is(App::is_folder), is(App::is_in_layers));
    let in_cuda = app.path_menu.as_ref().is_some_and(|menu| app.is_in_cuda(menu.tab, &menu.target.raw));
    // In a comparison the path may be of another image, which comes to the front with what is chosen.
    let other = app.path_menu.as_ref().map(|menu| menu.tab).filter(|tab| app.compares(*tab));
    let title =
        other.and_then(|tab| app.tabs.iter().find(|open| open.id == tab)).map(|tab| tab.title.clone());
    let several = other.is_none() && app.selects_several();
    let Some(menu) = &mut app.path_menu else { return };
    let (id, target) = (Id::unique("path menu"), menu.target.clone());
    let cuda = in_cuda.then(|| ("Show in CUDA", Action::ShowInCuda(target.raw.clone())));
    let contents = (!folder).then(|| ("Show contents", Action::ShowContents(target.clone())));
    let layers = (!in_layers).then(|| ("Show in Layers", Action::SelectPath(target.raw.clone())));
    let entries = { contents.into_iter() }
        .chain([("Why is this here?", Action::ShowWhy(target.clone()))])
        .chain(layers)
        .chain([("Show in treemap", Action::ShowInTreemap(target.raw.clone()))])
        .chain(cuda)
        .chain([
            ("Filter to this folder", Action::FilterFolder(target.raw.clone())),
            (if folder { "Save folder as tar…" } else { "Save file…" }, Action::SavePath(target.clone())),
        ]);
    let entries = entries
        .chain(several.then_some((SAVE_SELECTION, Action::AskSelection)))
        .chain([("Copy path", Action::CopyText(format::copy_text(&target.raw)))]);
    let entries: Vec<(&str, Action)> = entries.collect();
    let (closed, chosen) = popup(ui, id, menu.at, &mut menu.focused, title.as_deref(), &entries);
    if closed {
        app.path_menu = None;
    }
    if let Some(chosen) = chosen {
        let copies = matches!(chosen, Action::CopyText(_));
        // The folder filter and the treemap are of the image in front.
        app.actions.extend(other.filter(|_| !copies).map(Action::ShowTab));
        app.actions.push(chosen);
    }
}

/// The menu of a row that is no path, while it is open.
pub(crate) fn row_menu(ui: &Ui, app: &mut App) {
    let front = app.front;
    let Some(menu) = app.row_menu.as_mut().filter(|menu| menu.front == front) else {
        app.row_menu = None;
        return;
    };
    let id = Id::unique("row menu");
    let (closed, chosen) = popup(ui, id, menu.at, &mut menu.focused, None, &menu.entries);
    if closed {
        app.row_menu = None;
    }
    app.actions.extend(chosen);
}

/// A menu at a place: whether it is to be closed, and what was chosen. Its first entry gets the focus once.
fn popup(
    ui: &Ui,
    id: Id,
    at: Pos2,
    focused: &mut bool,
    title: Option<&str>,
    entries: &[(&str, Action)],
) -> (bool, Option<Action>) {
    let (mut open, mut chosen) = (true, None);
    Popup::new(id, ui.ctx().clone(), PopupAnchor::Position(at), ui.layer_id())
        .kind(PopupKind::Menu)
        .layout(Layout::top_down_justified(Align::Min))
        .style(menu_style)
        .close_behavior(PopupCloseBehavior::CloseOnClick)
        .open_bool(&mut open)
        .show(|ui| {
            if let Some(title) = title {
                weak(ui, format!("In {}", elide_middle(title, 32)));
            }
            for (place, (label, action)) in entries.iter().enumerate() {
                let response = ui.button(*label);
                if place == 0 && !*focused {
                    *focused = response.has_focus();
                    response.request_focus();
                }
                if response.clicked() {
                    chosen = Some(action.clone());
                }
            }
        });
    let escaped = ui.input(|input| input.key_pressed(Key::Escape));
    (!open || escaped || chosen.is_some(), chosen)
}
