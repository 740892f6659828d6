//! Registries and engines in the window: nobody is contacted unasked, no password is shown.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use cutaway::analysis::Failure;
use cutaway::gui::models::remote::RemoteSetup;
use cutaway::gui::testing;
use cutaway::source::engine::{Listing, LocalImage};
use cutaway::source::{Access, Credential, Tried};
use egui::accesskit::Role;
use egui::{Key, Modifiers};
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT as _, Queryable as _};

use crate::journeys::Window;

/// Nobody listens there, and nobody may: the port is for privileged programs and unassigned.
const NOBODY: &str = "127.0.0.1:1/team/tool:1";
/// A host that is not this machine, by a name that never leads anywhere.
const ELSEWHERE: &str = "registry.invalid/team/tool:1";

fn window_of(remote: RemoteSetup, access: Access) -> Window {
    let builder = Harness::builder().with_size([1100.0, 720.0]).with_max_steps(16);
    let harness = builder.build_eframe(|context| testing::app_remote(&context.egui_ctx, remote, access));
    Window { harness }
}

fn window() -> Window {
    window_of(testing::no_remote(), Access::default())
}

fn shows(window: &Window, part: &str) -> bool {
    window.harness.query_all_by_label_contains(part).next().is_some()
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
fn images_of_engines_are_listed_newest_first_and_open() {
    let images = vec![
        local("docker-daemon:old:1", &["old:1"], Some(3 << 20), Some(86_400)),
        local("podman:new:1", &["new:1", "new:latest"], Some(2 << 30), Some(1_767_323_045)),
        local("docker-daemon:sha256:4f53", &[], None, None),
    ];
    let (remote, asked) = engines(images, vec![tried("/run/docker.sock", "docker has 3 images")]);
    let mut window = window_of(remote, Access::default());
    window.sees("3 images");
    let rows: Vec<String> = window
        .harness
        .get_all_by_role(Role::Button)
        .filter_map(|node| node.accesskit_node().label())
        .filter(|label| label.contains(", made "))
        .collect();
    assert_eq!(
        rows,
        [
            "new:1, podman (rootless), made 2026-01-02 03:04:05 UTC, 2.00 GiB",
            "old:1, docker, made 1970-01-02 00:00:00 UTC, 3.00 MiB",
            "4f53cda18c2b, docker, made some time ago, size not known",
        ]
    );
    assert!(!shows(&window, "/run/docker.sock"), "sockets are shown when asked for");
    window.click(Role::Button, "Engines");
    assert!(shows(&window, "/run/docker.sock: docker has 3 images"));
    window.click(Role::Link, "Refresh");
    window.until("second listing", |_| asked.load(Ordering::SeqCst) == 2);

    let row = window.harness.get_by_label_contains("old:1, docker");
    row.focus();
    window.harness.run_steps(2);
    window.press(Modifiers::NONE, Key::Enter);
    assert!(window.has_tab("docker-daemon:old:1"), "Enter on a row opens it");
}

#[test]
fn no_engine_is_one_line_with_what_was_tried_behind_it() {
    let (remote, _) = engines(vec![], vec![tried("DOCKER_HOST", "tcp://nowhere is not used")]);
    let mut window = window_of(remote, Access::default());
    window.sees("No container engine answers on this machine");
    assert!(!shows(&window, "Local images"));
    window.click(Role::Button, "Engines");
    assert!(shows(&window, "DOCKER_HOST: tcp://nowhere is not used"));

    let (remote, _) = engines(vec![], vec![tried("/run/podman.sock", "podman (rootful) has 0 images")]);
    let mut window = window_of(remote, Access::default());
    window.sees("The container engines of this machine hold no image");
}

#[test]
fn a_long_list_of_images_scrolls_in_its_own_place() {
    let images = (0..40).map(|index| {
        let name = format!("image:{index}");
        local(&format!("docker-daemon:{name}"), &[&name], Some(1 << 20), Some(1_000_000 - index))
    });
    let (remote, _) = engines(images.collect(), vec![]);
    let mut window = window_of(remote, Access::default());
    window.sees("40 images");
    let samples = window.harness.get_by_label("Samples").rect();
    assert!(samples.bottom() < 720.0, "the samples stay in sight: {samples:?}");
    window.harness.get_by_label_contains("image:39, docker").focus();
    window.harness.run_steps(8);
    let row = window.harness.get_by_label_contains("image:39, docker").rect();
    assert!(row.bottom() < samples.top(), "the row that has the focus is scrolled to: {row:?}");
}

#[test]
fn a_registry_is_contacted_only_when_that_is_allowed() {
    let mut window = window();
    window.open(ELSEWHERE);
    window.sees("Contact registry.invalid?");
    assert!(shows(&window, "credentials found on this machine"));
    assert!(!window.harness.state().is_busy(), "nothing is read before the answer");
    window.until("focus", |window| window.get_by_role_and_label(Role::Button, "Contact").is_focused());
    window.press(Modifiers::NONE, Key::Escape);
    assert!(!window.has_tab("tool:1") && !shows(&window, "Contact registry.invalid?"));
    assert_eq!(field(&window), ELSEWHERE, "what was typed is still there");
    window.press(Modifiers::NONE, Key::Enter);
    window.sees("Contact registry.invalid?");
    window.click(Role::Button, "Cancel");
    assert!(!window.has_tab("tool:1"));
    assert_eq!(window.harness.state().allowed_hosts(), Vec::<String>::new());
}

#[test]
fn this_machine_is_contacted_without_a_question() {
    let mut window = window();
    window.open(NOBODY);
    window.settles();
    window.sees("The image could not be opened");
    assert!(!shows(&window, "Contact 127.0.0.1:1?"));
    assert_eq!(window.harness.state().allowed_hosts(), Vec::<String>::new());
}

#[test]
fn an_image_beside_another_asks_too() {
    let mut window = window();
    window.open("sample:runtime");
    window.settles();
    window.press(Modifiers::COMMAND, Key::Num6);
    type_into(&mut window, Role::TextInput, "Path or reference", ELSEWHERE);
    window.press(Modifiers::NONE, Key::Enter);
    window.sees("Contact registry.invalid?");
    window.press(Modifiers::NONE, Key::Escape);
    assert!(!window.has_tab("tool:1") && window.in_front("sample:runtime"));
    assert!(shows(&window, "Add an image to compare with"));
}

#[test]
fn a_local_image_of_the_same_name_is_offered_instead() {
    let image = local("docker-daemon:registry.invalid/team/tool:1", &[ELSEWHERE], Some(1), Some(1));
    let (remote, _) = engines(vec![image], vec![]);
    let mut window = window_of(remote, Access::default());
    window.sees("1 image");
    window.open(ELSEWHERE);
    window.sees("Contact registry.invalid?");
    window.click(Role::Button, "Open from docker");
    assert!(!shows(&window, "Contact registry.invalid?"));
    assert!(window.has_tab("tool:1"));
    assert_eq!(window.harness.state().allowed_hosts(), Vec::<String>::new());
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
            "cannot get the tags of team/tool from 127.0.0.1:1: it wants a login (401); tried: \
             config.json: no entry for 127.0.0.1:1, anonymous: refused",
        )
    }
}

#[test]
fn a_tag_is_chosen_and_stands_in_the_reference() {
    let (remote, asked) = registry(false);
    let mut window = window_of(remote, Access::default());
    let button = |window: &Window| {
        let node = window.harness.get_by_role_and_label(Role::Button, "Tags…");
        !node.accesskit_node().is_disabled()
    };
    type_into(&mut window, Role::TextInput, "Path or reference", "/srv/image.tar");
    assert!(!button(&window), "a path has no tags");
    window.press(Modifiers::COMMAND, Key::A);
    window.types(NOBODY);
    assert!(button(&window));
    window.click(Role::Button, "Tags…");
    window.sees("Tags of 127.0.0.1:1/team/tool");
    window.sees("3 tags");
    assert!(!shows(&window, "Contact 127.0.0.1:1?"));
    window.types("1.0");
    window.sees("2 of 3 tags");
    window.press(Modifiers::NONE, Key::ArrowDown);
    window.press(Modifiers::NONE, Key::Enter);
    assert_eq!(field(&window), "127.0.0.1:1/team/tool:1.0-cuda");
    assert!(!shows(&window, "Tags of"));
    assert_eq!(asked.lock().unwrap().len(), 1);
}

#[test]
fn tags_of_a_host_that_is_not_known_are_not_asked_for_unasked() {
    let (remote, asked) = registry(false);
    let mut window = window_of(remote, Access::default());
    type_into(&mut window, Role::TextInput, "Path or reference", ELSEWHERE);
    window.click(Role::Button, "Tags…");
    window.sees("Contact registry.invalid?");
    window.press(Modifiers::NONE, Key::Escape);
    assert!(!shows(&window, "Contact registry.invalid?") && asked.lock().unwrap().is_empty());
    window.click(Role::Button, "Tags…");
    window.click(Role::Button, "Contact");
    window.sees("3 tags");
    assert_eq!(window.harness.state().allowed_hosts(), ["registry.invalid"]);
    window.press(Modifiers::NONE, Key::Escape);
    window.click(Role::Button, "Tags…");
    window.sees("3 tags");
    window.press(Modifiers::NONE, Key::Escape);
    palette(&mut window, "forget registries");
    assert_eq!(window.harness.state().allowed_hosts(), Vec::<String>::new());
    window.click(Role::Button, "Tags…");
    window.sees("Contact registry.invalid?");
}

#[test]
fn a_login_for_tags_is_asked_again_until_it_is_right_and_never_shown() {
    let access = Access::default();
    let (remote, asked) = registry(true);
    let mut window = window_of(remote, access.clone());
    type_into(&mut window, Role::TextInput, "Path or reference", NOBODY);
    window.click(Role::Button, "Tags…");
    window.sees("it wants a login (401)");
    assert!(shows(&window, "config.json: no entry for 127.0.0.1:1"), "what was tried stands in lines");
    assert!(shows(&window, "Check the name"));
    window.click(Role::Button, "Log in…");
    window.sees("Log in to 127.0.0.1:1");
    assert!(shows(&window, "docker login 127.0.0.1:1 or podman login 127.0.0.1:1"));
    let send = window.harness.get_by_role_and_label(Role::Button, "Log in");
    assert!(send.accesskit_node().is_disabled(), "there is nothing to send yet");
    type_into(&mut window, Role::TextInput, "User name", "me");
    type_into(&mut window, Role::PasswordInput, "Password or token", "swordfish");
    assert!(!told(&window).contains("swordfish"), "{}", told(&window));
    window.press(Modifiers::NONE, Key::Enter);
    window.until("second answer", |_| asked.lock().unwrap().len() == 2);
    window.sees("it wants a login (401)");

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
    palette(&mut window, "forget logins");
    assert_eq!(access.logins.get("127.0.0.1:1"), None);
}

#[test]
fn a_tab_that_failed_for_want_of_a_login_is_tried_again_with_it() {
    let access = Access::default();
    let mut window = window_of(testing::no_remote(), access.clone());
    window.harness.state_mut().open_failed(NOBODY, refused());
    window.sees("What was tried");
    window.click(Role::Button, "Log in…");
    window.press(Modifiers::NONE, Key::Escape);
    assert!(!shows(&window, "Log in to 127.0.0.1:1"));
    window.click(Role::Button, "Log in…");
    window.sees("Log in to 127.0.0.1:1");
    type_into(&mut window, Role::TextInput, "User name", "me");
    type_into(&mut window, Role::PasswordInput, "Password or token", "hunter2");
    window.click(Role::Button, "Log in");
    assert!(!shows(&window, "Log in to 127.0.0.1:1"));
    window.settles();
    // Nobody listens there: another failure in the place of the first says that it was tried.
    window.sees("The image could not be opened");
    assert!(!shows(&window, "it wants a login (401)"));
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
    window.sees("Log in to a registry");
    type_into(&mut window, Role::TextInput, "Registry", "https://registry.invalid/");
    type_into(&mut window, Role::TextInput, "User name", "me");
    type_into(&mut window, Role::PasswordInput, "Password or token", "hunter2");
    window.click(Role::Button, "Log in");
    assert!(access.logins.get("registry.invalid").is_some());
    assert!(!window.harness.state().is_busy(), "nobody is contacted by that");
}

#[test]
fn tags_of_the_image_in_front_lead_to_the_field() {
    let (remote, _) = registry(false);
    let mut window = window_of(remote, Access::default());
    window.harness.state_mut().open_failed(&format!("docker://{NOBODY}"), Failure::new("cannot be read"));
    window.harness.run_steps(2);
    palette(&mut window, "list tags");
    window.sees("3 tags");
    window.press(Modifiers::NONE, Key::Enter);
    assert_eq!(field(&window), "docker://127.0.0.1:1/team/tool:latest");
}

#[test]
fn dialogs_come_to_rest_in_a_small_window() {
    let (remote, _) = registry(true);
    let builder = Harness::builder().with_size([640.0, 420.0]).with_max_steps(16);
    let access = Access::default();
    let harness = builder.build_eframe(|context| testing::app_remote(&context.egui_ctx, remote, access));
    let mut window = Window { harness };
    window.open(ELSEWHERE);
    window.sees("Contact registry.invalid?");
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
    window.sees("it wants a login (401)");
    window.harness.run();
}
