//! What to do with files that were dropped while an image is in front.

use egui::{Frame, Id, Label, Margin, Modal, RichText, Ui};

use crate::base::text::counted;
use crate::base::text::{elide_middle, printable};
use crate::gui::app::App;
use crate::gui::design::{Tokens, radius, space, text};
use crate::gui::widgets::controls::{primary_button, weak};

/// How many files are named.
const NAMED: usize = 4;

/// Shows the sheet while there is something to decide.
pub(crate) fn offer(ui: &Ui, app: &mut App) {
    let Some(offer) = &app.offer else { return };
    let Some(tab) = app.tabs.iter().find(|tab| tab.id == offer.tab) else {
        app.take_offer(false);
        return;
    };
    let title = elide_middle(&tab.title, 36);
    let name = |path: &std::path::PathBuf| {
        let name = path.file_name().unwrap_or(path.as_os_str());
        elide_middle(&printable(&name.to_string_lossy()), 64)
    };
    let names: Vec<String> = offer.paths.iter().take(NAMED).map(name).collect();
    let files = offer.paths.len();
    let first = !offer.seen;
    let mut focused = false;
    let tokens = Tokens::of(ui);
    let frame =
        Frame::popup(ui.style()).fill(tokens.popup).corner_radius(radius::L).inner_margin(Margin::same(20));
    let modal = Modal::new(Id::unique("dropped files")).frame(frame).backdrop_color(tokens.backdrop());
    let shown = modal.show(ui.ctx(), |ui| {
        ui.set_width((ui.content_rect().width() - 80.0).clamp(200.0, 460.0));
        let head = match names.as_slice() {
            [one] if files == 1 => one.clone(),
            _ => format!("{} dropped", counted(files, "file")),
        };
        ui.add(Label::new(RichText::new(head).font(text::title()).color(tokens.text)).wrap());
        if files > 1 {
            for name in &names {
                weak(ui, name);
            }
            if files > NAMED {
                weak(ui, format!("and {} more", files - NAMED));
            }
        }
        ui.add_space(space::XS);
        weak(ui, "Compare with the open image, or open in a new tab.");
        ui.add_space(space::L);
        let mut chosen = None;
        ui.horizontal_wrapped(|ui| {
            let tabs = if files == 1 { "Open in new tab" } else { "Open in new tabs" };
            let open = primary_button(ui, tabs);
            if first {
                // Until it stays there: the first frame only finds the place of the sheet.
                focused = open.has_focus();
                open.request_focus();
            }
            let beside = ui.button(format!("Compare with {title}"));
            if open.clicked() {
                chosen = Some(false);
            } else if beside.clicked() {
                chosen = Some(true);
            }
            if ui.button("Cancel").clicked() {
                ui.close();
            }
        });
        chosen
    });
    if let Some(offer) = &mut app.offer {
        offer.seen |= focused;
    }
    match shown.inner {
        Some(beside) => app.take_offer(beside),
        None if shown.should_close() => app.offer = None,
        None => {}
    }
}
