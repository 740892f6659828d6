//! Small things that are in the way every day.

use std::fs;

use cutaway::gui::views::{Command, View};
use egui::accesskit::Role;
use egui::{Key, Modifiers};
use egui_kittest::kittest::{NodeT as _, Queryable as _};

use crate::fixtures::image::Image;
use crate::fixtures::layout::Layout;
use crate::fixtures::packing::Packing;
use crate::fixtures::sample;
use crate::fixtures::tarball::{file, tar};
use crate::journeys::{Window, folder};

fn field(window: &Window) -> String {
    let field = window.harness.get_by_role_and_label(Role::TextInput, "Path or reference");
    field.value().unwrap_or_default()
}

#[test]
fn the_window_begins_with_the_keyboard_in_its_field() {
    let mut window = Window::new();
    window.harness.run_steps(4);
    window.types("sample:runtime");
    assert_eq!(field(&window), "sample:runtime");
    window.press(Modifiers::NONE, Key::Enter);
    assert!(window.in_front("sample:runtime"));
}

#[test]
fn a_path_that_failed_is_edited_and_its_views_are_not_there() {
    let mut window = Window::new();
    window.open("/nowhere/image.tar");
    window.settles();
    window.sees("Cannot open image");
    let view = window.harness.get_by_role_and_label(Role::Tab, "Layers");
    assert!(view.accesskit_node().is_disabled());
    window.click(Role::Button, "Edit path");
    assert_eq!(field(&window), "/nowhere/image.tar");
    assert!(!window.has_tab("image.tar"));
}

#[test]
fn prefixes_are_understood_in_any_case() {
    let folder = folder();
    fs::create_dir(folder.path().join("etc")).unwrap();
    fs::write(folder.path().join("etc/hostname"), "host").unwrap();
    let mut window = Window::new();
    window.open(&format!("Rootfs:{}", folder.path().display()));
    window.settles();
    assert!(!window.shows("Cannot open image"));
    window.sees("1 layer");
}

#[test]
fn recent_images_tell_which_failed() {
    let folder = folder();
    let path = folder.path().join("tool.tar");
    fs::write(&path, sample::runtime()).unwrap();
    let mut window = Window::new();
    let about = |window: &mut Window| {
        window.press(Modifiers::COMMAND, Key::T);
        let entry = window.harness.get_by_role_and_label(Role::Button, "tool.tar");
        entry.accesskit_node().description().unwrap_or_default()
    };
    window.open(path.to_str().unwrap());
    window.settles();
    assert_ne!(about(&mut window), "could not be opened");
    window.click(Role::Button, "Close tool.tar");
    fs::remove_file(&path).unwrap();
    window.open(path.to_str().unwrap());
    window.settles();
    assert_eq!(about(&mut window), "could not be opened");
    fs::write(&path, sample::runtime()).unwrap();
    window.open(path.to_str().unwrap());
    window.settles();
    assert_ne!(about(&mut window), "could not be opened");
}

#[test]
fn an_image_without_cuda_needs_no_gpu() {
    let folder = folder();
    let layer = tar([file("bin/tool", *b"#!/bin/sh\n")]);
    let path = folder.path().join("plain");
    Layout::of(&Image::of(Packing::Gzip, [layer]), "latest").write(&path);
    let mut window = Window::build([1280.0, 820.0], None);
    window.open(path.to_str().unwrap());
    window.settles();
    window.press(Modifiers::COMMAND, Key::Num7);
    window.sees("Needs no GPU");
    assert!(window.harness.query_by_role(Role::Row).is_none(), "no verdicts on machines");
}

#[test]
fn the_palette_finds_files_libraries_and_findings() {
    let mut window = Window::new();
    window.open("sample:devel");
    window.settles();
    let chosen = |window: &mut Window, typed: &str, wanted: &str| {
        window.press(Modifiers::COMMAND, Key::K);
        window.types(typed);
        window.until(wanted, |window| {
            window
                .query_all_by_role(Role::ListBoxOption)
                .any(|option| option.accesskit_node().label().is_some_and(|label| label.starts_with(wanted)))
        });
        window.press(Modifiers::NONE, Key::Enter);
        window.harness.run_steps(8);
    };
    chosen(&mut window, "os-release", "os-release");
    assert!(window.in_front("Layers"));
    window.sees("/etc/");
    chosen(&mut window, "libcudart.so.1", "libcudart.so.1");
    assert!(window.in_front("CUDA"), "a library");
    chosen(&mut window, "system profilers", "System profilers");
    assert!(window.in_front("Findings"), "a finding");
}

#[test]
fn layers_are_sorted_by_waste_and_the_choice_stays() {
    let mut window = Window::build([1280.0, 900.0], None);
    window.open("sample:devel");
    window.settles();
    window.press(Modifiers::COMMAND, Key::Num2);
    window.harness.run_steps(8);
    let rows = |window: &Window| {
        let rows = window.harness.get_all_by_role(Role::ListBoxOption);
        rows.filter_map(|row| row.accesskit_node().label()).collect::<Vec<_>>()
    };
    let chosen = |window: &Window| {
        let mut rows = window.harness.get_all_by_role(Role::ListBoxOption);
        rows.find(|row| row.accesskit_node().is_selected() == Some(true))
            .and_then(|row| row.accesskit_node().label())
    };
    // Below the head of the base image.
    assert!(rows(&window)[1].starts_with("Layer 0: "), "{:?}", rows(&window));
    window.harness.state_mut().views().unwrap().layers.select_layer(3);
    window.harness.run_steps(4);
    let before = chosen(&window);
    assert!(before.as_ref().is_some_and(|row| row.starts_with("Layer 3: ")), "{before:?}");
    window.click(Role::ColumnHeader, "Sort by wasted");
    window.harness.run_steps(4);
    let model = window.harness.state_mut().views().unwrap().layers.browser().items.clone();
    let most = model.iter().max_by_key(|item| item.wasted).unwrap();
    assert!(rows(&window)[0].starts_with(&format!("Layer {}: ", most.index)), "{:?}", rows(&window));
    assert_eq!(window.harness.state_mut().views().unwrap().layers.browser().layer(), Some(3));
    window.click(Role::ColumnHeader, "Sort by layer");
    window.harness.run_steps(4);
    assert!(rows(&window)[1].starts_with("Layer 0: "), "{:?}", rows(&window));
}

#[test]
fn a_report_warns_of_the_extension_of_another_format() {
    let mut window = Window::build([1280.0, 820.0], None);
    window.open("sample:runtime");
    window.settles();
    window.press(Modifiers::COMMAND, Key::E);
    window.harness.run_steps(4);
    window.press(Modifiers::COMMAND, Key::A);
    window.types("/tmp/report.json");
    window.sees("The report is HTML, the extension that of JSON.");
    window.click(Role::Button, "Save as JSON");
    assert!(!window.shows("The report is HTML"));
    assert!(window.harness.query_by_role_and_label(Role::TextInput, "Save report as").is_some());
}

#[test]
fn lists_keep_a_height_in_a_small_window_with_large_text() {
    let mut window = Window::build([900.0, 600.0], None);
    window.open("sample:devel");
    window.settles();
    for _ in 0..4 {
        window.press(Modifiers::COMMAND, Key::Plus);
    }
    assert!(window.shows("140 %"));
    let app = window.harness.state_mut();
    app.run(Command::Show(View::Layers));
    app.views().unwrap().layers.select_path(b"/usr/local/cuda-13.0/bin/nvcc".to_vec());
    window.harness.run_steps(8);
    assert!(window.harness.state_mut().views().unwrap().layers.selected_target().is_some());
    let rows = window.harness.state_mut().views().unwrap().layers.painted_rows();
    assert!(rows >= 5, "{rows} rows of files");
    window.press(Modifiers::COMMAND, Key::Num4);
    window.harness.run_steps(8);
    window.harness.get_all_by_role(Role::Row).nth(1).unwrap().click();
    window.harness.run_steps(8);
    let (rows, _) = window.harness.state_mut().views().unwrap().findings.painted_rows();
    assert!(rows >= 4, "{rows} rows of findings");
    window.press(Modifiers::COMMAND, Key::Num7);
    window.until("verdicts", |window| window.query_all_by_role(Role::Row).next().is_some());
    let rows = window.harness.state_mut().views().unwrap().gpu.painted_rows();
    assert!(rows >= 4, "{rows} rows of machines");
    window.click(Role::Button, "Show this machine");
    window.sees("Hide this machine");
}
