//! Registries and engines in the window: nobody is contacted unasked, no password is shown.

mod engines;
mod login;
mod pictures;
mod progress;
mod tags;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use cutaway::analysis::{Failure, Options};
use cutaway::gui::models::remote::RemoteSetup;
use cutaway::gui::{Setup, testing};
use cutaway::source::engine::{Listing, LocalImage};
use cutaway::source::{Access, Credential, Tried};
use egui::accesskit::Role;
use egui::{Key, Modifiers};
use egui_kittest::kittest::Queryable as _;

use crate::journeys::Window;

/// Nobody listens there, and nobody may: the port is for privileged programs and unassigned.
const NOBODY: &str = "127.0.0.1:1/team/tool:1";
/// A host that is not this machine, by a name that never leads anywhere.
const ELSEWHERE: &str = "registry.invalid/team/tool:1";

fn window_of(remote: RemoteSetup, access: Access) -> Window {
    let options = Options { access, ..Options::default() };
    Window::of([1100.0, 720.0], Setup { remote, options, ..testing::setup() })
}

fn window() -> Window {
    window_of(testing::no_remote(), Access::default())
}

fn field(window: &Window) -> String {
    let field = window.harness.get_by_role_and_label(Role::TextInput, "Path or reference");
    field.value().unwrap_or_default()
}

fn type_into(window: &mut Window, role: Role, name: &str, text: &str) {
    window.harness.get_by_role_and_label(role, name).focus();
    window.harness.run_steps(2);
    window.types(text);
}

fn palette(window: &mut Window, command: &str) {
    window.press(Modifiers::COMMAND, Key::K);
    window.types(command);
    window.press(Modifiers::NONE, Key::Enter);
    window.harness.run_steps(2);
}

/// Everything that a screen reader is told, as text.
fn told(window: &Window) -> String {
    format!("{:#?}", window.harness.root())
}

pub(crate) fn local(reference: &str, tags: &[&str], bytes: Option<u64>, created: Option<i64>) -> LocalImage {
    LocalImage {
        engine: if reference.starts_with("podman") { "podman (rootless)" } else { "docker" }.to_owned(),
        reference: reference.to_owned(),
        id: "sha256:4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945".to_owned(),
        tags: tags.iter().map(|tag| (*tag).to_owned()).collect(),
        bytes,
        created,
    }
}

fn tried(way: &str, result: &str) -> Tried {
    Tried { way: way.to_owned(), result: result.to_owned() }
}

/// Engines that hold `images`; how often they were asked is counted.
pub(crate) fn engines(images: Vec<LocalImage>, tried: Vec<Tried>) -> (RemoteSetup, Arc<AtomicUsize>) {
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let listing = Listing { images, tried };
    let engines = Arc::new(move |_: &_| {
        count.fetch_add(1, Ordering::SeqCst);
        listing.clone()
    });
    (RemoteSetup { engines, ..testing::no_remote() }, asked)
}

#[test]
fn a_registry_is_contacted_only_when_that_is_allowed() {
    let mut window = window();
    window.open(ELSEWHERE);
    window.sees("Connect to registry.invalid?");
    assert!(window.shows("credentials from this machine"));
    assert!(!window.harness.state().is_busy(), "nothing is read before the answer");
    window.until("focus", |window| window.get_by_role_and_label(Role::Button, "Connect").is_focused());
    window.press(Modifiers::NONE, Key::Escape);
    assert!(!window.has_tab("tool:1") && !window.shows("Connect to registry.invalid?"));
    assert_eq!(field(&window), ELSEWHERE, "what was typed is still there");
    window.press(Modifiers::NONE, Key::Enter);
    window.sees("Connect to registry.invalid?");
    window.click(Role::Button, "Cancel");
    assert!(!window.has_tab("tool:1"));
    assert_eq!(window.harness.state().settings().allowed, Vec::<String>::new());
}

#[test]
fn this_machine_is_contacted_without_a_question() {
    let mut window = window();
    window.open(NOBODY);
    window.settles();
    window.sees("Cannot open image");
    assert!(!window.shows("Connect to 127.0.0.1:1?"));
    assert_eq!(window.harness.state().settings().allowed, Vec::<String>::new());
}

#[test]
fn an_image_beside_another_asks_too() {
    let mut window = window();
    window.open("sample:runtime");
    window.settles();
    window.press(Modifiers::COMMAND, Key::Num6);
    type_into(&mut window, Role::TextInput, "Path or reference", ELSEWHERE);
    window.press(Modifiers::NONE, Key::Enter);
    window.sees("Connect to registry.invalid?");
    window.press(Modifiers::NONE, Key::Escape);
    assert!(!window.has_tab("tool:1") && window.in_front("sample:runtime"));
    assert!(window.shows("Add image to compare"));
}

/// What the fake registry was asked for, and with which login.
type Asked = Arc<Mutex<Vec<(String, Option<Credential>)>>>;

/// A registry with three tags, which wants the login `me` with `hunter2` where `locked`.
fn registry(locked: bool) -> (RemoteSetup, Asked) {
    let asked = Asked::default();
    let log = Arc::clone(&asked);
    let tags = Arc::new(move |reference: &cutaway::source::Reference, access: &Access, _: &_, _: &_| {
        let login = access.logins.get("127.0.0.1:1");
        log.lock().unwrap().push((reference.text.clone(), login.clone()));
        let right = Credential::Password { user: "me".into(), password: "hunter2".into() };
        if locked && login != Some(right) {
            return Err(refused());
        }
        Ok(["latest", "1.0", "1.0-cuda"].map(str::to_owned).to_vec())
    });
    (RemoteSetup { tags, ..testing::no_remote() }, asked)
}

pub(crate) fn refused() -> Failure {
    Failure {
        hint: Some("check the name".to_owned()),
        login: Some("127.0.0.1:1".to_owned()),
        tried: vec![tried("config.json", "no entry for 127.0.0.1:1"), tried("anonymous", "refused")],
        ..Failure::new(
            "cannot get the tags of team/tool from 127.0.0.1:1: login required (401); tried: \
             config.json: no entry for 127.0.0.1:1, anonymous: refused",
        )
    }
}

#[test]
fn dialogs_come_to_rest_in_a_small_window() {
    let (remote, _) = registry(true);
    let mut window = Window::of([640.0, 420.0], Setup { remote, ..testing::setup() });
    window.open(ELSEWHERE);
    window.sees("Connect to registry.invalid?");
    window.harness.run();
    window.press(Modifiers::NONE, Key::Escape);
    window.harness.state_mut().open_failed(NOBODY, refused());
    window.harness.run();
    window.click(Role::Button, "Log in…");
    window.harness.run();
    let send = window.harness.get_by_role_and_label(Role::Button, "Log in").rect();
    assert!(send.bottom() < 420.0, "all of the dialog is in sight: {send:?}");
    window.press(Modifiers::NONE, Key::Escape);
    palette(&mut window, "list tags");
    window.sees("login required (401)");
    window.harness.run();
}
