//! What can be done with a path, wherever it is shown.

use egui::containers::menu::menu_style;
use egui::{Align, Id, Key, Layout, Popup, PopupAnchor, PopupCloseBehavior, PopupKind, Ui};

use crate::gui::app::App;
use crate::gui::models::format;
use crate::gui::views::Action;

/// The menu, while it is open.
pub(crate) fn path_menu(ui: &Ui, app: &mut App) {
    let in_cuda = app.path_menu.as_ref().is_some_and(|menu| app.is_in_cuda(&menu.target.raw));
    let Some(menu) = &mut app.path_menu else { return };
    let (id, target) = (Id::unique("path menu"), menu.target.clone());
    let cuda = in_cuda.then(|| ("Show in CUDA", Action::ShowInCuda(target.raw.clone())));
    let entries = [
        ("Show contents", Action::ShowContents(target.clone())),
        ("Why is this here?", Action::ShowWhy(target.clone())),
        ("Show in Layers", Action::SelectPath(target.raw.clone())),
    ];
    let entries = entries.into_iter().chain(cuda).chain([
        ("Filter to this folder", Action::FilterFolder(target.raw.clone())),
        ("Save file…", Action::SavePath(target.clone())),
        ("Copy path", Action::CopyText(format::copy_text(&target.raw))),
    ]);
    let (mut open, mut chosen) = (true, None);
    Popup::new(id, ui.ctx().clone(), PopupAnchor::Position(menu.at), ui.layer_id())
        .kind(PopupKind::Menu)
        .layout(Layout::top_down_justified(Align::Min))
        .style(menu_style)
        .close_behavior(PopupCloseBehavior::CloseOnClick)
        .open_bool(&mut open)
        .show(|ui| {
            for (place, (label, action)) in entries.enumerate() {
                let response = ui.button(label);
                if place == 0 && !menu.focused {
                    menu.focused = response.has_focus();
                    response.request_focus();
                }
                if response.clicked() {
                    chosen = Some(action);
                }
            }
        });
    let escaped = ui.input(|input| input.key_pressed(Key::Escape));
    if !open || escaped || chosen.is_some() {
        app.path_menu = None;
    }
    app.actions.extend(chosen);
}
