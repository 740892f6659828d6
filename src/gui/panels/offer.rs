//! What to do with files that were dropped while an image is in front.

use egui::Ui;

use super::sheet::{focus_first, sheet, title};
use crate::base::text::counted;
use crate::base::text::{elide_middle, printable};
use crate::gui::app::{App, DropOffer};
use crate::gui::design::space;
use crate::gui::widgets::controls::{primary_button, weak};

/// How many files are named.
const NAMED: usize = 4;

/// What was answered.
enum OfferAnswer {
    Open,
    Compare,
    Cancel,
}

/// Shows the sheet while there is something to decide.
pub(crate) fn offer(ui: &Ui, app: &mut App) {
    let Some(offer) = &mut app.offer else { return };
    let tab = app.tabs.iter().find(|tab| Some(tab.id) == offer.tab);
    if tab.is_none() && offer.tab.is_some() {
        app.take_offer(false);
        return;
    }
    let image = tab.map(|tab| elide_middle(&tab.title, 36));
    match sheet(ui, "dropped files", 460.0, |ui| show(ui, offer, image.as_deref())) {
        (Some(OfferAnswer::Open), _) => app.take_offer(false),
        (Some(OfferAnswer::Compare), _) => app.take_offer(true),
        (Some(OfferAnswer::Cancel), _) | (None, true) => app.offer = None,
        (None, false) => {}
    }
}

fn show(ui: &mut Ui, offer: &mut DropOffer, image: Option<&str>) -> Option<OfferAnswer> {
    ui.spacing_mut().item_spacing.y = 4.0;
    let name = |path: &std::path::PathBuf| {
        let name = path.file_name().unwrap_or(path.as_os_str());
        elide_middle(&printable(&name.to_string_lossy()), 64)
    };
    let names: Vec<String> = offer.paths.iter().take(NAMED).map(name).collect();
    let files = offer.paths.len();
    match names.as_slice() {
        [one] if files == 1 => title(ui, one),
        _ => title(ui, &format!("{} dropped", counted(files, "file"))),
    }
    if files > 1 {
        for name in &names {
            weak(ui, name);
        }
        if files > NAMED {
            weak(ui, format!("and {} more", files - NAMED));
        }
    }
    ui.add_space(space::XS);
    weak(
        ui,
        match image {
            Some(_) => "Compare with the open image, or open in a new tab.",
            None => "Compare them with each other, or open each in a tab.",
        },
    );
    ui.add_space(space::L);
    ui.horizontal_wrapped(|ui| {
        let tabs = if files == 1 { "Open in new tab" } else { "Open in new tabs" };
        let open = primary_button(ui, tabs);
        focus_first(&open, &mut offer.seen);
        let beside = ui.button(image.map_or("Compare".to_owned(), |image| format!("Compare with {image}")));
        let cancel = ui.button("Cancel");
        let answers =
            [(open, OfferAnswer::Open), (beside, OfferAnswer::Compare), (cancel, OfferAnswer::Cancel)];
        answers.into_iter().find_map(|(button, answer)| button.clicked().then_some(answer))
    })
    .inner
}
