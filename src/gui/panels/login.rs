//! Asks for a name and a password, or a token, for a registry.

use std::fmt;

use egui::text_edit::TextEditState;
use egui::{Id, Key, Label, Margin, RichText, TextEdit, Ui, vec2};

use super::sheet::{focus_first, sheet, title};
use crate::base::text::printable;
use crate::gui::app::{App, Retry};
use crate::gui::design::{Tokens, space, text};
use crate::gui::models::remote::login_host;
use crate::gui::widgets::controls::{primary_button, weak};

/// Text that is zeroed on drop and never printed.
#[derive(Default)]
pub(crate) struct Secret(String);

impl Secret {
    /// The text itself; whoever takes it answers for it.
    pub(crate) fn into_text(mut self) -> String {
        std::mem::take(&mut self.0)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Secret(..)")
    }
}

impl Drop for Secret {
    fn drop(&mut self) {
        let mut bytes = std::mem::take(&mut self.0).into_bytes();
        bytes.fill(0);
        // Otherwise the compiler removes the unused write.
        std::hint::black_box(&bytes);
    }
}

/// The dialog.
#[derive(Debug)]
pub(crate) struct Login {
    host: String,
    /// Whether the host is given rather than typed.
    fixed: bool,
    user: String,
    password: Secret,
    retry: Option<Retry>,
    focused: bool,
}

impl Login {
    /// For this host, or for one that is typed.
    pub(crate) fn new(host: Option<&str>, user: String, retry: Option<Retry>) -> Self {
        // With room for most passwords, so that no copy is left behind as it grows.
        let password = Secret(String::with_capacity(512));
        let (fixed, host) = (host.is_some(), host.unwrap_or_default().to_owned());
        Self { host, fixed, user, password, retry, focused: false }
    }

    /// The host to log in to, once it is known.
    fn known_host(&self) -> Option<String> {
        if self.fixed { Some(self.host.clone()) } else { login_host(&self.host) }
    }

    /// Why it cannot be sent yet.
    fn missing_field(&self) -> Option<&'static str> {
        if self.known_host().is_none() {
            return Some("Enter a registry host first");
        }
        if self.user.trim().is_empty() {
            return Some("Enter a user name first");
        }
        self.password.0.is_empty().then_some("Enter a password or token first")
    }
}

/// Shows the dialog when it is open.
pub(super) fn login(ui: &Ui, app: &mut App) {
    let Some(mut login) = app.remote.login.take() else { return };
    let (sent, closes) = sheet(ui, "login", 440.0, |ui| show(ui, &mut login));
    // egui keeps what was typed, to undo it.
    if let Some(mut state) = TextEditState::load(ui.ctx(), password_id()) {
        state.clear_undoer();
        state.store(ui.ctx(), password_id());
    }
    match sent {
        Some(true) => {
            let host = login.known_host();
            let Login { user, password, retry, .. } = login;
            if let Some(host) = host {
                app.log_in(host, user.trim().to_owned(), password, retry);
                app.context.request_repaint();
            }
        }
        Some(false) => {}
        None if closes => {}
        None => {
            app.remote.login = Some(login);
            return;
        }
    }
    ui.data_mut(|data| data.remove::<TextEditState>(password_id()));
}

fn password_id() -> Id {
    Id::unique("login password")
}

/// Whether to log in (`true`) or to close it (`false`).
fn show(ui: &mut Ui, login: &mut Login) -> Option<bool> {
    if login.fixed {
        title(ui, &format!("Log in to {}", printable(&login.host)));
    } else {
        title(ui, "Log in to registry");
    }
    ui.add_space(space::XS);
    let mut entered = false;
    let mut first = Vec::new();
    if !login.fixed {
        let host = field(ui, "Registry", "ghcr.io, registry.example:5000", None, &mut login.host);
        entered |= host.1;
        first.push((login.host.is_empty(), host.0));
    }
    let user = field(ui, "User name", "", None, &mut login.user);
    let password = field(ui, "Password or token", "", Some(password_id()), &mut login.password.0);
    entered |= user.1 || password.1;
    first.push((login.user.is_empty(), user.0));
    first.push((true, password.0));
    if let Some((_, field)) = first.iter().find(|(empty, _)| *empty) {
        focus_first(field, &mut login.focused);
    }
    ui.add_space(space::XS);
    let host = login.known_host().map_or_else(|| "HOST".to_owned(), |host| printable(&host));
    let keep = format!(
        "Stored until Cutaway closes.\nFor a permanent login: docker login {host} or podman login {host}"
    );
    let keep = RichText::new(keep).font(text::small()).color(Tokens::of(ui).text_weak);
    ui.add(Label::new(keep).wrap().selectable(true));
    if login.retry.is_none() {
        weak(ui, "Used for the next request to the registry.");
    }
    ui.add_space(space::M);
    let missing_field = login.missing_field();
    let mut answer = (entered && missing_field.is_none()).then_some(true);
    ui.horizontal(|ui| {
        let send = ui.add_enabled_ui(missing_field.is_none(), |ui| primary_button(ui, "Log in")).inner;
        if send.on_disabled_hover_text(missing_field.unwrap_or_default()).clicked() {
            answer = Some(true);
        }
        if ui.button("Cancel").clicked() {
            answer = Some(false);
        }
    });
    answer
}

/// A field with its name above; whether Enter was pressed in it. One with an id is for a secret.
fn field(
    ui: &mut Ui,
    name: &str,
    hint: &str,
    secret: Option<Id>,
    text: &mut String,
) -> (egui::Response, bool) {
    let label = ui.label(RichText::new(name).font(text::strong()));
    let id = secret.unwrap_or_else(|| Id::unique(("login", name)));
    let field = TextEdit::singleline(text)
        .id(id)
        .password(secret.is_some())
        .hint_text(hint)
        .margin(Margin::symmetric(8, 5))
        .min_size(vec2(0.0, 28.0))
        .desired_width(f32::INFINITY);
    let response = ui.add(field).labelled_by(label.id);
    let entered = response.lost_focus() && ui.input(|input| input.key_pressed(Key::Enter));
    (response, entered)
}

#[cfg(test)]
mod tests {
    use super::{Login, Secret};

    #[test]
    fn a_password_is_never_printed() {
        let mut login = Login::new(Some("ghcr.io"), "me".to_owned(), None);
        login.password = Secret("hunter2".to_owned());
        let printed = format!("{login:?}");
        assert!(printed.contains("ghcr.io") && !printed.contains("hunter2"), "{printed}");
        assert_eq!(login.password.into_text(), "hunter2");
    }
}
