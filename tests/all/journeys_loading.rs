//! What is shown of an image while it is being read.

use egui::accesskit::Role;
use egui::{Key, Modifiers};
use egui_kittest::kittest::{NodeT as _, Queryable as _};

use crate::journeys::{Window, endless, folder};

#[test]
fn files_of_the_layers_that_were_read_are_shown_while_others_are_read() {
    let folder = folder();
    let mut window = Window::build([1280.0, 820.0], None);
    window.open(&endless(folder.path()));
    window.press(Modifiers::COMMAND, Key::Num2);
    let row = |window: &egui_kittest::Harness<'static, cutaway::gui::app::App>, name: &str| {
        window
            .query_all_by_role(Role::TreeItem)
            .any(|row| row.accesskit_node().label().is_some_and(|label| label.starts_with(name)))
    };
    window.until("the file of the first layer", |window| row(window, "small, "));
    assert!(window.harness.state().is_busy(), "the second layer is still being read");
    window.sees("Files of 1 of 2 layers");
    // The treemap has it too.
    assert!(window.shows("Treemap of /, 11 B"), "{:#?}", window.harness.root());
    window.press(Modifiers::COMMAND, Key::Period);
    window.settles();
}

#[test]
fn work_tells_how_long_it_takes() {
    let folder = folder();
    let mut window = Window::build([1280.0, 820.0], None);
    window.open(&endless(folder.path()));
    window.sees("1 of 2 layers");
    window.sees(" left");
    window.press(Modifiers::COMMAND, Key::Num2);
    // How far each layer is.
    window.until("progress of layer 1", |window| {
        window
            .query_all_by_label_contains("Layer 1: ")
            .any(|node| node.accesskit_node().label().is_some_and(|label| label.contains(" % read")))
    });
    window.press(Modifiers::COMMAND, Key::Period);
    window.settles();
}
