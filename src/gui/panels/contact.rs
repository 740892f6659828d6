//! Asks before a host is contacted that was not contacted before.

use egui::{Label, RichText, Ui};

use super::sheet::{focus_first, sheet, title};
use super::{login, tags};
use crate::base::text::{elide_middle, printable};
use crate::gui::app::{App, Question};
use crate::gui::design::{Tokens, space, text};
use crate::gui::widgets::controls::{primary_button, weak};

/// What was answered.
enum HostAnswer {
    Contact,
    Cancel,
    Local(String),
}

/// Shows the dialog about a registry that is to be shown now; one at a time.
pub(crate) fn remote(ui: &Ui, app: &mut App) {
    if app.remote.login.is_some() {
        login::login(ui, app);
        return;
    }
    if let Some(question) = app.question() {
        contact(ui, app, &question);
    } else {
        app.remote.focused = false;
        tags::tags(ui, app);
    }
}

fn contact(ui: &Ui, app: &mut App, question: &Question) {
    let mut focused = app.remote.focused;
    let (answer, closes) = sheet(ui, "contact", 520.0, |ui| show(ui, question, &mut focused));
    app.remote.focused = focused;
    match answer {
        Some(HostAnswer::Contact) => app.allow(&question.host),
        Some(HostAnswer::Local(reference)) => app.open_local(question.tab, &reference),
        Some(HostAnswer::Cancel) => app.refuse(question.tab),
        None if closes => app.refuse(question.tab),
        None => {}
    }
}

fn show(ui: &mut Ui, question: &Question, focused: &mut bool) -> Option<HostAnswer> {
    let tokens = Tokens::of(ui);
    let host = printable(&question.host);
    title(ui, &format!("Connect to {host}?"));
    let wanted = elide_middle(&question.wanted, 120);
    ui.add(Label::new(RichText::new(wanted).font(text::mono()).color(tokens.text_weak)).wrap());
    ui.add_space(space::XS);
    let what = if question.tab.is_some() { "image" } else { "repository" };
    for line in [
        format!("Sends the {what} name, and credentials from this machine if the registry requires them."),
        "The registry may redirect to other hosts for tokens and layers. Nothing is uploaded.".to_owned(),
    ] {
        ui.add(Label::new(line).wrap());
    }
    weak(ui, "Your choice is saved for this host.");
    ui.add_space(space::M);
    ui.horizontal_wrapped(|ui| {
        let contact = primary_button(ui, "Connect");
        focus_first(&contact, focused);
        let mut answer = contact.clicked().then_some(HostAnswer::Contact);
        if let Some((reference, engine)) = &question.local {
            let open = ui.button(format!("Open from {engine}"));
            let open =
                open.on_hover_text("Open the local image with this name, without a network connection");
            if open.clicked() {
                answer = Some(HostAnswer::Local(reference.clone()));
            }
        }
        if ui.button("Cancel").clicked() {
            answer = Some(HostAnswer::Cancel);
        }
        answer
    })
    .inner
}
