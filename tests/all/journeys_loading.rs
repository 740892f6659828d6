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

/// Where the controls of the view are: the filter and its buttons, the layers, the files.
fn places(window: &Window) -> Vec<(String, egui::Rect)> {
    let harness = &window.harness;
    let filter = harness.get_by_role_and_label(Role::SearchInput, "Filter files");
    let merged = harness.get_by_role_and_label(Role::Button, "Merged");
    let file = harness.get_all_by_role(Role::TreeItem);
    let layers = harness.get_all_by_role(Role::ColumnHeader);
    let all = [filter, merged].into_iter().chain(file).chain(layers);
    all.map(|node| (node.accesskit_node().label().unwrap_or_default(), node.rect())).collect()
}

#[test]
fn what_ends_the_loading_moves_nothing_below_the_pointer() {
    let folder = folder();
    for below in [false, true] {
        let mut window = Window::build([1280.0, 820.0], None);
        window.open(&endless(folder.path()));
        window.press(Modifiers::COMMAND, Key::Num2);
        window.sees("Files of 1 of 2 layers");
        window.until("the file of the first layer", |window| {
            window.query_all_by_role(Role::TreeItem).next().is_some()
        });
        let before = places(&window);
        assert!(before.len() > 4, "{before:?}");
        let pointer = if below { egui::pos2(640.0, 770.0) } else { before[2].1.center() };
        window.harness.hover_at(pointer);
        window.harness.run_steps(2);
        window.press(Modifiers::COMMAND, Key::Period);
        window.settles();
        window.sees("Cancelled after 1 of 2 layers.");
        window.harness.run_steps(4);
        let notice = |window: &Window| window.harness.get_by_role_and_label(Role::Button, "Reload").rect();
        let after = places(&window);
        for (name, place) in &before {
            // The names of layers and files tell sizes, which may be known by now.
            let name = name.split(',').next().unwrap();
            let now = after.iter().find(|(now, _)| now.split(',').next() == Some(name));
            assert_eq!(now.map(|(_, place)| place.min), Some(place.min), "{name}: {after:?}");
        }
        assert!((notice(&window).center().y - pointer.y).abs() > 50.0, "beside the pointer");
        // It takes its place once the pointer is elsewhere.
        window.harness.event(egui::Event::PointerGone);
        window.harness.run_steps(2);
        let filter = places(&window)[0].1;
        assert!(filter.top() > before[0].1.top() + 20.0, "{filter:?}");
        assert!(notice(&window).bottom() < filter.top());
        // And keeps it, whatever the pointer does.
        window.harness.hover_at(filter.center());
        window.harness.run_steps(2);
        assert_eq!(places(&window)[0].1, filter);
    }
}
