//! Tags of a repository.

use cutaway::analysis::Failure;
use cutaway::source::Access;
use egui::accesskit::Role;
use egui::{Key, Modifiers};
use egui_kittest::kittest::{NodeT as _, Queryable as _};

use super::{ELSEWHERE, NOBODY, Window, field, palette, registry, type_into, window_of};

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
    assert!(!window.shows("Connect to 127.0.0.1:1?"));
    window.types("1.0");
    window.sees("2 of 3 tags");
    window.press(Modifiers::NONE, Key::ArrowDown);
    window.press(Modifiers::NONE, Key::Enter);
    assert_eq!(field(&window), "127.0.0.1:1/team/tool:1.0");
    assert!(!window.shows("Tags of"));
    assert_eq!(asked.lock().unwrap().len(), 1);
}

#[test]
fn tags_of_a_host_that_is_not_known_are_not_asked_for_unasked() {
    let (remote, asked) = registry(false);
    let mut window = window_of(remote, Access::default());
    type_into(&mut window, Role::TextInput, "Path or reference", ELSEWHERE);
    window.click(Role::Button, "Tags…");
    window.sees("Connect to registry.invalid?");
    window.press(Modifiers::NONE, Key::Escape);
    assert!(!window.shows("Connect to registry.invalid?") && asked.lock().unwrap().is_empty());
    window.click(Role::Button, "Tags…");
    window.click(Role::Button, "Connect");
    window.sees("3 tags");
    assert_eq!(window.harness.state().settings().allowed, ["registry.invalid"]);
    window.press(Modifiers::NONE, Key::Escape);
    window.click(Role::Button, "Tags…");
    window.sees("3 tags");
    window.press(Modifiers::NONE, Key::Escape);
    palette(&mut window, "reset registry permissions");
    assert_eq!(window.harness.state().settings().allowed, Vec::<String>::new());
    window.click(Role::Button, "Tags…");
    window.sees("Connect to registry.invalid?");
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
