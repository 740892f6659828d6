//! The panel about a path: contents in all forms, why the path is there, and the ways to it.

use std::fs;
use std::path::Path;

use cutaway::gui::testing;
use cutaway::gui::views::{Command, View};
use egui::accesskit::Role;
use egui::{Key, Modifiers};
use egui_kittest::kittest::Queryable as _;

use crate::fixtures::image::Image;
use crate::fixtures::layout::Layout;
use crate::fixtures::packing::Packing;
use crate::fixtures::tarball::{dir, file, symlink as link, tar, whiteout};
use crate::journeys::Window;
use crate::support::Place;

fn image(place: &Place) -> String {
    let inner = tar([file("inside/one", "1"), file("two", vec![b'2'; 3000])]);
    let lines = (0..400).map(|line| format!("line {line}")).collect::<Vec<_>>().join("\n") + "\n";
    let image = Image::of(
        Packing::Gzip,
        [
            tar([
                dir("etc"),
                file("etc/lines", lines),
                file("etc/data.json", r#"{"b":[1,2],"a":"x"}"#),
                file("etc/bytes", vec![0, 1, 2, b'A', 0xff]),
                file("etc/inner.tar", inner),
                file("etc/gone", "lower version"),
                link("etc/link", "lines"),
                file("etc/latin", b"caf\xe9 and tea".to_vec()),
            ]),
            tar([whiteout("etc/gone"), file("etc/new", "upper")]),
        ],
    );
    place.put_layout("image", &Layout::of(&image, "a"))
}

/// A window with this image in Layers, and a path selected.
fn opened(image: &str, path: &str) -> Window {
    let setup = cutaway::gui::app::Setup { image: Some(image.to_owned()), ..testing::setup() };
    let mut window = Window::of([1400.0, 1300.0], setup);
    window.settles();
    select(&mut window, path);
    window
}

fn select(window: &mut Window, path: &str) {
    let path = path.as_bytes().to_vec();
    let app = window.harness.state_mut();
    app.run(Command::Show(View::Layers));
    app.views().unwrap().layers.select_path(path);
    window.harness.run_steps(8);
}

/// Shows the contents of the selected path.
fn contents(window: &mut Window) {
    window.press(Modifiers::NONE, Key::F3);
    window.harness.run_steps(4);
    window.until("contents", |harness| !harness.state().is_working());
    window.harness.run_steps(4);
}

#[test]
fn text_has_its_encoding_lines_and_search() {
    let place = Place::new();
    let mut window = opened(&image(&place), "/etc/lines");
    contents(&mut window);
    assert!(window.shows("ASCII, 400 lines"));
    assert!(window.shows("line 0") && !window.shows("line 399"));
    window.harness.get_by_label("Find in file").focus();
    window.harness.run_steps(2);
    window.types("line 399");
    window.harness.run_steps(6);
    assert!(window.shows("1 of 1 line") && window.shows("line 399"));
    // The same key closes the panel.
    window.harness.get_by_role_and_label(Role::Tree, "Files").focus();
    window.harness.run_steps(2);
    window.press(Modifiers::NONE, Key::F3);
    window.harness.run_steps(4);
    assert!(!window.shows("ASCII, 400 lines"));
}

#[test]
fn every_form_of_contents_is_shown() {
    let place = Place::new();
    let image = image(&place);
    let cases = [
        ("/etc/data.json", "\"a\": \"x\","),
        ("/etc/bytes", "00000000  00 01 02 41 ff"),
        ("/etc/inner.tar", "tar: 2 members"),
        ("/etc/latin", "not UTF-8; other bytes as \\xNN, 1 line, 12 B"),
        ("/etc/link", "line 0"),
        ("/etc", "A folder"),
    ];
    let mut window = opened(&image, "/etc/data.json");
    for (path, shown) in cases {
        select(&mut window, path);
        contents(&mut window);
        assert!(window.shows(shown), "{path}: {:#?}", window.harness.root());
    }
}

#[test]
fn the_details_of_a_file_lead_on() {
    let mut window = opened("sample:devel", "/usr/local/cuda-13.0/bin/nvcc");
    window.sees("Removable: Compilers");
    assert!(window.shows("cuda-nvcc-13-0"));
    window.press(Modifiers::COMMAND, Key::I);
    window.harness.run_steps(4);
    window.sees("Without it");
    for part in ["Removable", "Brought by", "Package", "Findings"] {
        assert!(window.shows(part), "{part}");
    }
    // The finding is a link.
    let finding = "Compilers in the CUDA toolkit /usr/local/cuda-13.0";
    window.harness.get_all_by_role_and_label(Role::Link, finding).next().unwrap().click();
    window.harness.run_steps(6);
    assert!(window.in_front("Findings"));
}

/// Saves the file of the panel under a path.
fn save_to(window: &mut Window, to: &Path) {
    window.harness.get_by_role_and_label(Role::Button, "Save…").click();
    window.harness.run_steps(3);
    window.harness.get_by_role_and_label(Role::TextInput, "Save to").focus();
    window.harness.run_steps(2);
    window.press(Modifiers::COMMAND, Key::A);
    window.harness.run_steps(2);
    window.types(to.to_str().unwrap());
    window.harness.run_steps(2);
    window.harness.get_by_role_and_label(Role::Button, "Save").click();
    window.harness.run_steps(3);
}

#[test]
fn a_file_is_saved_and_nothing_is_replaced() {
    let place = Place::new();
    let folder = tempfile::tempdir().unwrap();
    let to = folder.path().join("lines");
    fs::write(&to, "mine").unwrap();
    let mut window = opened(&image(&place), "/etc/lines");
    contents(&mut window);
    save_to(&mut window, &to);
    window.sees("Not saved");
    assert_eq!(fs::read(&to).unwrap(), b"mine");
    fs::remove_file(&to).unwrap();
    save_to(&mut window, &to);
    window.sees("Saved ");
    assert!(fs::read(&to).unwrap().starts_with(b"line 0\nline 1\n"));
}

#[test]
fn escape_closes_the_panel_while_a_list_has_the_focus() {
    let place = Place::new();
    let mut window = opened(&image(&place), "/etc/lines");
    let has_focus = |window: &Window, role: Role| {
        let mut all = window.harness.get_all_by_role(role);
        all.any(|node| egui_kittest::kittest::NodeT::accesskit_node(&node).is_focused())
    };
    for page in ["Contents", "Why is this here?"] {
        let row = window.harness.get_all_by_role(Role::TreeItem).next().unwrap();
        row.click();
        window.harness.run_steps(2);
        select(&mut window, "/etc/lines");
        contents(&mut window);
        window.click(Role::Tab, page);
        // The keyboard is in the files, beside the panel.
        let row = window.harness.get_all_by_role(Role::TreeItem).last().unwrap();
        row.click();
        window.harness.run_steps(2);
        assert!(window.shows("Close panel"), "{page}");
        window.press(Modifiers::NONE, Key::Escape);
        assert!(!window.shows("Close panel"), "{page}");
        assert!(has_focus(&window, Role::Tree) || has_focus(&window, Role::TreeItem), "the list keeps it");
    }
}
