//! Logins: asked for where they are wanted, kept for the session, never shown.

use cutaway::gui::testing;
use cutaway::source::{Access, Credential};
use egui::accesskit::Role;
use egui::{Key, Modifiers};
use egui_kittest::kittest::{NodeT as _, Queryable as _};

use super::{NOBODY, palette, refused, registry, told, type_into, window_of};

#[test]
fn a_login_for_tags_is_asked_again_until_it_is_right_and_never_shown() {
    let access = Access::default();
    let (remote, asked) = registry(true);
    let mut window = window_of(remote, access.clone());
    type_into(&mut window, Role::TextInput, "Path or reference", NOBODY);
    window.click(Role::Button, "Tags…");
    window.sees("login required (401)");
    assert!(window.shows("config.json: no entry for 127.0.0.1:1"), "what was tried stands in lines");
    assert!(window.shows("Check the name"));
    window.click(Role::Button, "Log in…");
    window.sees("Log in to 127.0.0.1:1");
    assert!(window.shows("docker login 127.0.0.1:1 or podman login 127.0.0.1:1"));
    let send = window.harness.get_by_role_and_label(Role::Button, "Log in");
    assert!(send.accesskit_node().is_disabled(), "there is nothing to send yet");
    type_into(&mut window, Role::TextInput, "User name", "me");
    type_into(&mut window, Role::PasswordInput, "Password or token", "swordfish");
    assert!(!told(&window).contains("swordfish"), "{}", told(&window));
    window.press(Modifiers::NONE, Key::Enter);
    window.until("second answer", |_| asked.lock().unwrap().len() == 2);
    window.sees("login required (401)");

    window.click(Role::Button, "Log in…");
    let value = |role, name| window.harness.get_by_role_and_label(role, name).value().unwrap_or_default();
    assert_eq!(value(Role::TextInput, "User name"), "me", "the name is kept");
    assert_eq!(value(Role::PasswordInput, "Password or token"), "", "the password is not");
    type_into(&mut window, Role::PasswordInput, "Password or token", "hunter2");
    window.click(Role::Button, "Log in");
    window.sees("3 tags");
    assert!(!told(&window).contains("hunter2"));
    assert!(access.logins.get("127.0.0.1:1").is_some(), "all that read images use it");

    window.press(Modifiers::NONE, Key::Escape);
    palette(&mut window, "clear logins");
    assert_eq!(access.logins.get("127.0.0.1:1"), None);
}

#[test]
fn a_tab_that_failed_for_want_of_a_login_is_tried_again_with_it() {
    let access = Access::default();
    let mut window = window_of(testing::no_remote(), access.clone());
    window.harness.state_mut().open_failed(NOBODY, refused());
    window.sees("Attempts");
    window.click(Role::Button, "Log in…");
    window.press(Modifiers::NONE, Key::Escape);
    assert!(!window.shows("Log in to 127.0.0.1:1"));
    window.click(Role::Button, "Log in…");
    window.sees("Log in to 127.0.0.1:1");
    type_into(&mut window, Role::TextInput, "User name", "me");
    type_into(&mut window, Role::PasswordInput, "Password or token", "hunter2");
    window.click(Role::Button, "Log in");
    assert!(!window.shows("Log in to 127.0.0.1:1"));
    window.settles();
    // Nobody listens there: another failure in the place of the first says that it was tried.
    window.sees("Cannot open image");
    assert!(!window.shows("login required (401)"));
    let right = Credential::Password { user: "me".into(), password: "hunter2".into() };
    assert!(access.logins.get("127.0.0.1:1") == Some(right));
    window.press(Modifiers::COMMAND, Key::J);
    assert!(!told(&window).contains("hunter2"));
    let commands = &window.harness.output().platform_output.commands;
    assert!(!format!("{commands:?}").contains("hunter2"));
}

#[test]
fn a_login_can_come_before_the_image() {
    let access = Access::default();
    let mut window = window_of(testing::no_remote(), access.clone());
    palette(&mut window, "log in to");
    window.sees("Log in to registry");
    type_into(&mut window, Role::TextInput, "Registry", "https://registry.invalid/");
    type_into(&mut window, Role::TextInput, "User name", "me");
    type_into(&mut window, Role::PasswordInput, "Password or token", "hunter2");
    window.click(Role::Button, "Log in");
    assert!(access.logins.get("registry.invalid").is_some());
    assert!(!window.harness.state().is_busy(), "nobody is contacted by that");
}
