//! Paths in the Layers view: legible at any size, and what can be done with them.

use std::path::Path;

use cutaway::gui::app::App;
use cutaway::gui::views::{Command, View};
use egui::accesskit::Role;
use egui::epaint::Shape;
use egui::{Key, Modifiers};
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT as _, Queryable as _};

use crate::fixtures::image::Image;
use crate::fixtures::layout::Layout;
use crate::fixtures::packing::Packing;
use crate::fixtures::tarball::{file, symlink, tar};
use crate::journeys::{Window, folder};

const LIBRARIES: &str = "opt/venv/lib/python3.12/site-packages/nvidia/cublas/lib";

/// An image with libraries deep in chains of folders.
fn deep(folder: &Path) -> String {
    let library = |name: &str, size: usize| file(format!("{LIBRARIES}/{name}"), vec![b'x'; size]);
    let layer = tar([
        library("libcublasLt.so.12.1.3.1", 60_000),
        library("libcublas.so.12.1.3.1", 50_000),
        library("libnvblas.so.12.1.3.1", 40_000),
        file("etc/hostname", *b"host"),
        file("etc/passwd", *b"root"),
    ]);
    let path = folder.join("deep");
    Layout::of(&Image::of(Packing::Gzip, [layer]), "latest").write(&path);
    format!("oci:{}", path.display())
}

fn texts(shape: &Shape, into: &mut Vec<String>) {
    match shape {
        Shape::Text(text) => into.push(text.galley.text().to_owned()),
        Shape::Vec(shapes) => shapes.iter().for_each(|shape| texts(shape, into)),
        _ => {}
    }
}

/// All that is written in the window.
pub(crate) fn written(window: &Window) -> Vec<String> {
    let mut all = Vec::new();
    window.harness.output().shapes.iter().for_each(|clipped| texts(&clipped.shape, &mut all));
    all
}

fn layers(window: &mut Window, selected: &str) {
    let app = window.harness.state_mut();
    app.run(Command::Show(View::Layers));
    app.views().unwrap().layers.select_path(format!("/{selected}").into_bytes());
    window.harness.run_steps(8);
}

#[test]
fn names_of_files_are_legible_in_a_window_of_any_size() {
    let folder = folder();
    for size in [[1200.0, 800.0], [1100.0, 720.0], [900.0, 600.0], [640.0, 600.0]] {
        let mut window = Window::build(size, None);
        window.open(&deep(folder.path()));
        window.settles();
        layers(&mut window, &format!("{LIBRARIES}/libcublasLt.so.12.1.3.1"));
        // Not the selected one, whose name is in the details too.
        let written = written(&window);
        for name in ["libcublas.so.12.1.3.1", "libnvblas.so.12.1.3.1"] {
            assert!(written.iter().any(|text| text == name), "{name} at {size:?}: {written:?}");
        }
    }
}

#[test]
fn a_chain_of_folders_is_one_row() {
    let folder = folder();
    let mut window = Window::new();
    window.open(&deep(folder.path()));
    window.settles();
    window.press(Modifiers::COMMAND, Key::Num2);
    window.sees(&format!("{LIBRARIES}, "));
    let rows = |window: &Window| {
        let rows = window.harness.get_all_by_role(Role::TreeItem);
        rows.filter_map(|row| row.accesskit_node().label()).collect::<Vec<_>>()
    };
    assert_eq!(rows(&window).len(), 2, "{:?}", rows(&window));
    assert!(rows(&window)[1].starts_with("etc, "), "{:?}", rows(&window));
    // It opens and closes as one, and the way back from a file leads to it.
    layers(&mut window, &format!("{LIBRARIES}/libnvblas.so.12.1.3.1"));
    assert_eq!(rows(&window).len(), 5, "{:?}", rows(&window));
    // A folder within the chain is there to be selected: by its row.
    layers(&mut window, "opt/venv");
    let selected = |window: &Window| {
        let mut rows = window.harness.get_all_by_role(Role::TreeItem);
        rows.find(|row| row.accesskit_node().is_selected() == Some(true))
            .and_then(|row| row.accesskit_node().label())
    };
    assert!(selected(&window).is_some_and(|row| row.starts_with(LIBRARIES)), "{:?}", selected(&window));
}

#[test]
fn the_menu_of_a_path_filters_and_saves() {
    let folder = folder();
    let mut window = Window::new();
    window.open(&deep(folder.path()));
    window.settles();
    layers(&mut window, &format!("{LIBRARIES}/libnvblas.so.12.1.3.1"));
    let row = |window: &Window| {
        let mut rows = window.harness.get_all_by_role(Role::TreeItem);
        rows.find(|row| row.accesskit_node().label().is_some_and(|name| name.starts_with("libnvblas")))
            .unwrap()
            .accesskit_node()
            .id()
    };
    row(&window);
    let node = window
        .harness
        .get_all_by_role(Role::TreeItem)
        .find(|row| row.accesskit_node().label().is_some_and(|name| name.starts_with("libnvblas")));
    node.unwrap().click_secondary();
    window.harness.run_steps(4);
    for entry in ["Show contents", "Why is this here?", "Filter to this folder", "Save file…", "Copy path"]
    {
        let there = window.harness.query_all_by_role_and_label(Role::Button, entry).next().is_some();
        assert!(there, "{entry}");
    }
    let has = |window: &Window, entry: &str| {
        window.harness.query_all_by_role_and_label(Role::Button, entry).next().is_some()
    };
    assert!(!has(&window, "Show in Layers"), "it is shown there");
    window.press(Modifiers::NONE, Key::Escape);
    window.harness.get_all_by_role(Role::TreeItem).next().unwrap().click_secondary();
    window.harness.run_steps(4);
    assert!(
        has(&window, "Save folder as tar…") && !has(&window, "Show contents"),
        "a folder has no contents"
    );
    window.press(Modifiers::NONE, Key::Escape);
    window.harness.get_all_by_role(Role::TreeItem).nth(1).unwrap().click_secondary();
    window.harness.run_steps(4);
    window.click(Role::Button, "Filter to this folder");
    window.harness.run_steps(4);
    let filter = window.harness.get_by_role_and_label(Role::SearchInput, "Filter files").value();
    assert_eq!(filter.as_deref(), Some(format!("/{LIBRARIES}/**").as_str()));
    window.sees("3 of ");
}

/// An image of two layers, the lowest with a distribution.
fn plain(folder: &Path, name: &str, marker: &str) -> String {
    let base = tar([
        file("etc/os-release", *b"ID=ubuntu\nVERSION_ID=\"24.04\"\n"),
        file("usr/bin/tool", vec![b'x'; 4_000]),
        symlink("bin", "usr/bin"),
    ]);
    let own = tar([file("app/main", marker.as_bytes().to_vec()), file("usr/bin/tool", vec![b'y'; 5_000])]);
    let path = folder.join(name);
    Layout::of(&Image::of(Packing::Gzip, [base, own]), "latest").write(&path);
    format!("oci:{}", path.display())
}

fn options(window: &Window) -> Vec<String> {
    let rows = window.harness.get_all_by_role(Role::ListBoxOption);
    rows.filter_map(|row| row.accesskit_node().label()).collect()
}

#[test]
fn the_base_image_is_named_and_its_layers_fold() {
    let folder = folder();
    let mut window = Window::new();
    window.open(&plain(folder.path(), "plain", "one"));
    window.settles();
    window.sees("base image ubuntu:24.04 (1 of 2 layers)");
    window.press(Modifiers::COMMAND, Key::Num2);
    let rows = options(&window);
    assert_eq!(rows.len(), 4, "{rows:?}");
    assert!(rows[0].starts_with("Base image ubuntu:24.04, 1 layer, compressed "), "{rows:?}");
    assert!(rows[1].starts_with("Layer 0: ") && rows[1].ends_with(", base image"), "{rows:?}");
    assert!(rows[2].starts_with("Above the base image, 1 layer, "), "{rows:?}");
    // By keyboard: to the head, and folded.
    window.click(Role::ListBoxOption, &rows[0]);
    window.press(Modifiers::NONE, Key::ArrowLeft);
    assert_eq!(options(&window).len(), 3, "{:?}", options(&window));
    window.press(Modifiers::NONE, Key::ArrowRight);
    assert_eq!(options(&window), rows);
    // What is chosen stays chosen in another order, which has no groups.
    window.click(Role::ListBoxOption, &rows[1]);
    window.click(Role::ColumnHeader, "Sort by wasted");
    let sorted = options(&window);
    assert_eq!(sorted.len(), 2, "{sorted:?}");
    let mut all = window.harness.get_all_by_role(Role::ListBoxOption);
    let chosen = all.find(|row| row.accesskit_node().is_selected() == Some(true));
    assert_eq!(chosen.and_then(|row| row.accesskit_node().label()).as_deref(), Some(&*rows[1]));
}

#[test]
fn a_symbolic_link_shows_where_it_points() {
    let folder = folder();
    let mut window = Window::new();
    window.open(&plain(folder.path(), "links", "one"));
    window.settles();
    window.press(Modifiers::COMMAND, Key::Num2);
    window.sees("bin, 0 B, link to usr/bin");
    assert!(written(&window).iter().any(|text| text == "bin → usr/bin"), "{:?}", written(&window));
}

#[test]
fn a_path_of_a_comparison_has_the_menu() {
    let folder = folder();
    let (first, second) = (plain(folder.path(), "first", "one"), plain(folder.path(), "second", "two!"));
    let mut window = Window::comparing(first, vec![second]);
    window.settles();
    let label = |window: &Harness<'static, App>| {
        let mut tabs = window.query_all_by_role(Role::Tab).filter_map(|tab| tab.accesskit_node().label());
        tabs.find(|name| name.starts_with("Files"))
    };
    window.until("page of files", |window| label(window).is_some());
    let files = label(&window.harness).unwrap();
    window.click(Role::Tab, &files);
    window.sees("app; A ");
    window.harness.get_by_role_and_label(Role::Row, "app; A 3 B; B 4 B changed").click_secondary();
    window.harness.run_steps(4);
    assert!(window.shows("In first"), "the menu names the image");
    window.click(Role::Button, "Why is this here?");
    window.sees("Brought by");
}

#[test]
fn a_folder_is_saved_as_an_archive() {
    let folder = folder();
    let mut window = Window::new();
    window.open(&deep(folder.path()));
    window.settles();
    layers(&mut window, "etc");
    let row = |window: &Window| {
        let mut rows = window.harness.get_all_by_role(Role::TreeItem);
        rows.find(|row| row.accesskit_node().label().is_some_and(|name| name.starts_with("etc, ")))
            .unwrap()
            .click_secondary();
    };
    row(&window);
    window.harness.run_steps(4);
    window.click(Role::Button, "Save folder as tar…");
    window.until("a name that ends in .tar", |window| {
        let mut fields = window.query_all_by_role(Role::TextInput);
        fields.any(|field| field.value().as_deref() == Some("etc.tar"))
    });
}

#[test]
fn the_count_stays_behind_a_long_name_of_the_base_image() {
    for width in [900.0, 1100.0] {
        let mut window = Window::build([width, 700.0], None);
        window.open("sample:devel");
        window.settles();
        window.press(Modifiers::COMMAND, Key::Num2);
        window.harness.run_steps(4);
        let head = options(&window).into_iter().find(|row| row.starts_with("Base image ")).unwrap();
        let (name, rest) = head.split_once(", ").unwrap();
        let rest = rest.split_once(", ").unwrap().0;
        let texts = written(&window);
        let at = texts.iter().position(|text| *text == format!(", {rest}"));
        let at = at.unwrap_or_else(|| panic!("{rest}: {texts:?}"));
        let (start, end) = texts[at - 1].split_once('…').unwrap_or_else(|| panic!("{name}: {texts:?}"));
        assert!(name.starts_with(start) && name.ends_with(end), "{name}: {}", texts[at - 1]);
    }
}
