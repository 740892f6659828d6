//! Images of which a part could not be read: the window says so, and judges nothing that it did not see.

use egui::accesskit::Role;
use egui::{Key, Modifiers};
use egui_kittest::kittest::{NodeT as _, Queryable as _};

use crate::journeys::{Window, damaged, folder};

#[test]
fn a_damaged_layer_is_named_with_its_cause_and_leads_to_the_log() {
    let folder = folder();
    let mut window = Window::build([1280.0, 820.0], None);
    window.open(&damaged(folder.path()));
    window.settles();
    window.sees("Cannot read layer 1: ");
    let tab = window.harness.get_by_role_and_label(Role::Tab, "damaged");
    assert_eq!(tab.accesskit_node().description().as_deref(), Some("incomplete"));
    for view in [Key::Num1, Key::Num2, Key::Num3, Key::Num4] {
        window.press(Modifiers::COMMAND, view);
        window.harness.run_steps(4);
        assert!(window.shows("Cannot read layer 1: "), "in each view: {view:?}");
    }
    window.press(Modifiers::COMMAND, Key::Num2);
    let rows = window.harness.get_all_by_role(Role::ListBoxOption);
    let rows: Vec<String> = rows.filter_map(|row| row.accesskit_node().label()).collect();
    // What nobody read is not zero: neither of the layer, nor what it wastes of the one below.
    assert!(rows[0].ends_with("wasted –") && !rows[0].contains("content –"), "{rows:?}");
    assert!(rows[1].ends_with("content –, wasted –"), "{rows:?}");
    window.click(Role::Button, "Show in log");
    window.sees("layer-cut-short");
}

#[test]
fn nothing_reassures_above_a_layer_that_was_not_read() {
    let folder = folder();
    let mut window = Window::build([1280.0, 1200.0], None);
    window.open(&damaged(folder.path()));
    window.settles();
    for words in ["no wasted bytes", "No wasted", "Nothing is wasted"] {
        assert!(!window.shows(words), "{words}: {:#?}", window.harness.root());
    }
    window.press(Modifiers::COMMAND, Key::Num4);
    window.harness.run_steps(8);
    assert!(!window.shows("No findings"), "{:#?}", window.harness.root());
    window.press(Modifiers::COMMAND, Key::Num3);
    window.harness.run_steps(8);
    assert!(!window.shows("No CUDA in this image"), "{:#?}", window.harness.root());
}

#[test]
fn the_log_is_about_the_image_in_front_newest_first() {
    let folder = folder();
    let mut window = Window::build([1280.0, 820.0], None);
    window.open(&damaged(folder.path()));
    window.settles();
    window.open("/nowhere/image.tar");
    window.settles();
    window.press(Modifiers::COMMAND, Key::J);
    let lines = |window: &Window| {
        let entries = window.harness.get_all_by_role(Role::Button);
        let lines = entries.filter_map(|entry| entry.accesskit_node().label());
        lines.filter(|line| line.starts_with("warning: ") || line.starts_with("error: ")).collect::<Vec<_>>()
    };
    let failed = lines(&window);
    assert_eq!(failed.len(), 1, "{failed:?}");
    assert_eq!(failed[0].matches("/nowhere/image.tar").count(), 1, "the path is there once: {failed:?}");
    window.click(Role::Button, "All images");
    let all = lines(&window);
    assert_eq!(all.len(), 2, "{all:?}");
    assert!(all[0].starts_with("error: ") && all[1].contains("layer-cut-short"), "newest first: {all:?}");
    window.click(Role::Tab, "damaged");
    window.click(Role::Button, "This image");
    assert_eq!(lines(&window).len(), 1, "{:?}", lines(&window));
}
