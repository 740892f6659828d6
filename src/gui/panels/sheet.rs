//! What dialogs have in common.

use egui::{Frame, Id, Label, Margin, Modal, Response, RichText, Ui};

use crate::analysis::Failure;
use crate::base::redact;
use crate::base::text::{printable, without_errno};
use crate::gui::design::{Tokens, radius, space, text};
use crate::gui::widgets::controls::primary_button;
use crate::source::Tried;

/// Shows a dialog of at most this width over the window; what `add` gives, and whether the dialog is to be closed.
pub(super) fn sheet<R>(ui: &Ui, name: &str, width: f32, add: impl FnOnce(&mut Ui) -> R) -> (R, bool) {
    let tokens = Tokens::of(ui);
    let frame =
        Frame::popup(ui.style()).fill(tokens.popup).corner_radius(radius::L).inner_margin(Margin::same(20));
    let modal = Modal::new(Id::unique(name)).frame(frame).backdrop_color(tokens.backdrop());
    let shown = modal.show(ui.ctx(), |ui| {
        ui.set_width((ui.content_rect().width() - 80.0).clamp(200.0, width));
        ui.spacing_mut().item_spacing.y = 6.0;
        add(ui)
    });
    let closes = shown.should_close();
    (shown.inner, closes)
}

/// Puts the keyboard on a control of a dialog that was just opened, until it stays there: the first frame only finds the
/// place of the dialog.
pub(super) fn focus_first(first: &Response, focused: &mut bool) {
    if !*focused {
        *focused = first.has_focus();
        first.request_focus();
    }
}

/// The head of a dialog.
pub(super) fn title(ui: &mut Ui, words: &str) {
    ui.add(Label::new(RichText::new(words).font(text::title()).color(Tokens::of(ui).text)).wrap());
}

/// Why something failed, and what to do about it, to read and to copy.
pub(super) fn failure(ui: &mut Ui, failure: &Failure) {
    let tokens = Tokens::of(ui);
    Frame::new()
        .fill(tokens.wash(tokens.error))
        .corner_radius(radius::M)
        .inner_margin(Margin::same(12))
        .show(ui, |ui| {
            ui.set_width(ui.available_width());
            ui.add(Label::new(sentence(failure.summary())).wrap().selectable(true));
            tried(ui, &failure.tried);
            if let Some(hint) = &failure.hint {
                ui.add_space(space::S);
                ui.label(RichText::new("What to do").font(text::strong()));
                ui.add(Label::new(capitalised(&safe(hint))).wrap().selectable(true));
            }
        });
}

/// What is to be done about a failure.
pub(super) enum FailureAnswer {
    /// Log in to this host.
    LogIn(String),
    Again,
    Copy(String),
    /// Correct what was to be opened.
    Edit,
    Close,
}

/// What can be done about a failure; with `edit`, about what was to be opened too.
pub(super) fn failure_buttons(ui: &mut Ui, failure: &Failure, edit: bool) -> Option<FailureAnswer> {
    ui.horizontal_wrapped(|ui| {
        let host = failure.login.clone();
        let log_in = host.filter(|_| primary_button(ui, "Log in…").clicked()).map(FailureAnswer::LogIn);
        let again =
            if failure.login.is_some() { ui.button("Try again") } else { primary_button(ui, "Try again") };
        let about = "Correct the path or reference and open it";
        let edits = edit && ui.button("Edit path").on_hover_text(about).clicked();
        let (copy, close) = (ui.button("Copy message"), ui.button("Close"));
        let again = again.clicked().then_some(FailureAnswer::Again);
        let copy = copy.clicked().then(|| FailureAnswer::Copy(whole(failure)));
        log_in
            .or(again)
            .or(edits.then_some(FailureAnswer::Edit))
            .or(copy)
            .or(close.clicked().then_some(FailureAnswer::Close))
    })
    .inner
}

/// Ways that were tried, a line for each.
fn tried(ui: &mut Ui, tried: &[Tried]) {
    if tried.is_empty() {
        return;
    }
    ui.add_space(space::S);
    ui.label(RichText::new("Attempts").font(text::strong()));
    for Tried { way, result } in tried {
        let (way, result) = (safe(way), safe(result));
        ui.add(Label::new(format!("{way}: {result}")).wrap().selectable(true));
    }
}

/// A failure as it is copied.
fn whole(failure: &Failure) -> String {
    let hint = failure.hint.as_ref().map(|hint| format!("\nhint: {}", safe(hint)));
    safe(&failure.message) + &hint.unwrap_or_default()
}

/// Messages may quote the reference: its secrets stay out of the window. Lines stay lines.
fn safe(message: &str) -> String {
    let lines: Vec<String> = without_errno(&redact::url_user_info(message)).lines().map(printable).collect();
    lines.join("\n")
}

/// Messages are written for the end of a line; one that begins with a name stays as it is.
pub(super) fn sentence(message: &str) -> String {
    let message = safe(message);
    if message.starts_with("cannot ") || message.starts_with("no ") { capitalised(&message) } else { message }
}

pub(super) fn capitalised(text: &str) -> String {
    // Hints are written for the command line, where they follow a colon.
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}
