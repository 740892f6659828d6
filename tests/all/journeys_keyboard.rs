//! The keyboard in the views of an image.

use cutaway::gui::views::{Command, View};
use egui::accesskit::Role;
use egui::{Key, Modifiers};
use egui_kittest::kittest::{NodeT as _, Queryable as _};

use crate::journeys::Window;

fn opened() -> Window {
    let mut window = Window::build([1280.0, 900.0], None);
    window.open("sample:devel");
    window.settles();
    window.harness.run_steps(8);
    window
}

/// What has the focus: its role and its name.
fn focus(window: &Window) -> Option<(Role, String)> {
    // A list has the focus as a whole; screen readers are told its active row.
    let id = window.harness.ctx.memory(egui::Memory::focused)?.accesskit_id();
    let nodes = window.harness.root().children_recursive();
    let focused = nodes.into_iter().find(|node| node.accesskit_node().locate().0 == id)?;
    let node = focused.accesskit_node();
    Some((node.role(), node.label().unwrap_or_default()))
}

fn has_focus(window: &Window, role: Role, name: &str) -> bool {
    focus(window).is_some_and(|(is, named)| is == role && named == name)
}

/// The main list of each view, and its filter.
const LISTS: [(View, Role, &str, &str); 3] = [
    (View::Layers, Role::Tree, "Files", "Filter files"),
    (View::Cuda, Role::TreeGrid, "CUDA libraries", "Filter libraries"),
    (View::Findings, Role::TreeGrid, "Findings", "Filter findings"),
];

#[test]
fn a_view_takes_the_keyboard_to_its_list() {
    let mut window = opened();
    for (view, role, name, filter) in LISTS {
        window.harness.state_mut().run(Command::Show(view));
        window.harness.run_steps(8);
        assert!(has_focus(&window, role, name), "{view:?}: {:?}", focus(&window));
        // From the filter, Down and Enter go to the list.
        for key in [Key::ArrowDown, Key::Enter] {
            window.press(Modifiers::COMMAND, Key::F);
            assert!(has_focus(&window, Role::SearchInput, filter), "{view:?}: {:?}", focus(&window));
            window.press(Modifiers::NONE, key);
            window.harness.run_steps(2);
            assert!(has_focus(&window, role, name), "{view:?}, {key:?}: {:?}", focus(&window));
        }
    }
}

#[test]
fn tab_goes_from_the_filter_to_the_list_and_f6_from_pane_to_pane() {
    let mut window = opened();
    for (view, role, name, _) in LISTS {
        window.harness.state_mut().run(Command::Show(view));
        window.harness.run_steps(8);
        window.press(Modifiers::COMMAND, Key::F);
        window.press(Modifiers::NONE, Key::Tab);
        window.harness.run_steps(2);
        assert!(has_focus(&window, role, name), "{view:?}: {:?}", focus(&window));
        // F6 leaves the pane, and comes around to it again.
        let mut panes = Vec::new();
        for _ in 0..8 {
            window.press(Modifiers::NONE, Key::F6);
            window.harness.run_steps(2);
            panes.push(focus(&window));
            if has_focus(&window, role, name) {
                break;
            }
        }
        assert!(panes.len() >= 2 && panes.len() < 8, "{view:?}: {panes:?}");
        assert!(panes.iter().all(Option::is_some), "{view:?}: {panes:?}");
        window.press(Modifiers::SHIFT, Key::F6);
        window.harness.run_steps(2);
        window.press(Modifiers::NONE, Key::F6);
        window.harness.run_steps(2);
        assert!(has_focus(&window, role, name), "{view:?}: {:?}", focus(&window));
    }
}

#[test]
fn arrows_stay_with_their_list() {
    let mut window = opened();
    window.harness.state_mut().run(Command::Show(View::Layers));
    window.harness.run_steps(8);
    for (role, name) in [(Role::Tree, "Files"), (Role::ListBox, "Layers")] {
        window.harness.get_by_role_and_label(role, name).focus();
        window.harness.run_steps(2);
        for key in [Key::ArrowRight, Key::ArrowLeft, Key::ArrowUp, Key::End, Key::ArrowDown, Key::ArrowRight]
        {
            for _ in 0..3 {
                window.press(Modifiers::NONE, key);
            }
            assert!(has_focus(&window, role, name), "{name}, {key:?}: {:?}", focus(&window));
        }
    }
}

#[test]
fn changes_of_the_plan_are_undone() {
    let mut window = opened();
    window.press(Modifiers::COMMAND, Key::Num4);
    window.harness.run_steps(8);
    let plan = |window: &Window| {
        let groups = window.harness.get_all_by_role(Role::Group);
        let mut labels = groups.filter_map(|node| node.accesskit_node().label());
        labels.find(|label| label.starts_with("Merged: ")).unwrap()
    };
    let first = plan(&window);
    window.click(Role::Button, "None");
    let second = plan(&window);
    assert_ne!(first, second);
    window.harness.get_all_by_role(Role::Row).nth(1).unwrap().click();
    window.harness.run_steps(2);
    window.press(Modifiers::NONE, Key::Space);
    let third = plan(&window);
    assert_ne!(second, third);
    window.press(Modifiers::COMMAND, Key::Z);
    assert_eq!(plan(&window), second);
    window.press(Modifiers::COMMAND, Key::Z);
    assert_eq!(plan(&window), first);
    window.press(Modifiers::COMMAND, Key::Z);
    assert_eq!(plan(&window), first, "nothing is left to be undone");
    window.press(Modifiers::COMMAND | Modifiers::SHIFT, Key::Z);
    assert_eq!(plan(&window), second);
}

#[test]
fn f6_goes_through_panes_in_the_order_they_are_seen() {
    for size in [[1280.0, 900.0], [900.0, 700.0]] {
        let mut window = Window::build(size, None);
        window.open("sample:devel");
        window.settles();
        let app = window.harness.state_mut();
        app.run(Command::Show(View::Layers));
        app.views().unwrap().layers.select_path(b"/etc/os-release".to_vec());
        window.harness.run_steps(8);
        assert!(has_focus(&window, Role::Tree, "Files"), "{size:?}: {:?}", focus(&window));
        let panes = [
            (Role::Group, "File details"),
            (Role::Tab, "Layers"),
            (Role::ListBox, "Layers"),
            (Role::Tree, "Files"),
        ];
        for (role, name) in panes {
            window.press(Modifiers::NONE, Key::F6);
            window.harness.run_steps(2);
            assert!(has_focus(&window, role, name), "{name} at {size:?}: {:?}", focus(&window));
        }
    }
}

#[test]
fn a_filter_leads_to_its_first_match_and_escape_clears_it() {
    let mut window = opened();
    for ((view, role, name, filter), text) in LISTS.into_iter().zip(["cublas", "cublas", "headers"]) {
        window.harness.state_mut().run(Command::Show(view));
        window.harness.run_steps(8);
        window.press(Modifiers::COMMAND, Key::F);
        window.types(text);
        window.harness.run_steps(8);
        window.press(Modifiers::NONE, Key::ArrowDown);
        window.harness.run_steps(4);
        assert!(has_focus(&window, role, name), "{view:?}: {:?}", focus(&window));
        let rows = window.harness.query_all_by_role(Role::TreeItem);
        let rows = rows.chain(window.harness.query_all_by_role(Role::Row));
        let chosen: Vec<_> = rows.filter(|row| row.accesskit_node().is_selected() == Some(true)).collect();
        assert_eq!(chosen.len(), 1, "{view:?}");
        let node = chosen[0].accesskit_node();
        assert_eq!(node.data().is_expanded(), None, "{view:?}: no folder or group: {:?}", node.label());
        let value = |window: &Window| {
            window.harness.get_by_role_and_label(Role::SearchInput, filter).value().unwrap_or_default()
        };
        assert_eq!(value(&window), text);
        for _ in 0..2 {
            window.press(Modifiers::NONE, Key::Escape);
            window.harness.run_steps(2);
        }
        assert_eq!(value(&window), "", "{view:?}");
    }
}

#[test]
fn the_help_menu_has_the_manual_and_the_version() {
    let mut window = opened();
    for (command, words) in [(Command::Manual, "The window"), (Command::About, "License: MIT OR Apache-2.0")]
    {
        window.harness.state_mut().run(command);
        window.harness.run_steps(4);
        window.sees(words);
        window.press(Modifiers::NONE, Key::Escape);
        window.harness.run_steps(4);
        assert!(window.harness.query_by_label(words).is_none(), "{words}");
    }
}
