//! What images are called: in tabs, comparisons, the log and among the recent ones.

use std::fs;
use std::path::Path;

use egui::accesskit::Role;
use egui::{Key, Modifiers};
use egui_kittest::kittest::{NodeT as _, Queryable as _};

use crate::fixtures::image::Image;
use crate::fixtures::layout::Layout;
use crate::fixtures::packing::Packing;
use crate::fixtures::sample;
use crate::fixtures::tarball::{file, tar, without_end};
use crate::journeys::{Window, folder};

/// A layout in `folder` called as most tools call it; with `damage`, its layer ends too early.
fn layout(folder: &Path, release: &str, damage: bool) -> String {
    let whole = tar([file("app", release.as_bytes().to_vec())]);
    let cut = without_end([file("cut", vec![b'b'; 4000])]);
    let layer = if damage { &cut[..2048] } else { &whole[..] };
    let path = folder.join(release).join("oci");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    Layout::of(&Image::new(Packing::Gzip).layer("COPY app /", layer), "v1").write(&path);
    format!("oci:{}:v1", path.display())
}

#[test]
fn layouts_called_oci_are_named_after_their_folders() {
    let folder = folder();
    let mut window = Window::build([1280.0, 820.0], None);
    let (one, two) = (layout(folder.path(), "R1", true), layout(folder.path(), "R2", true));
    window.open(&one);
    window.settles();
    assert!(window.has_tab("R1:v1"), "{:#?}", window.harness.root());
    window.open(&two);
    window.settles();
    assert!(window.has_tab("R2:v1") && window.in_front("R2:v1"));

    // Each line of the log names its image.
    window.press(Modifiers::COMMAND, Key::J);
    let lines = |window: &Window, name: &str| {
        let entries = window.harness.get_all_by_role(Role::Button);
        let labels = entries.filter_map(|node| node.accesskit_node().label());
        labels.filter(|label| label.starts_with(&format!("warning: layer-cut-short: {name}"))).count()
    };
    assert_eq!(lines(&window, "R2:v1"), 1, "{:#?}", window.harness.root());
    window.press(Modifiers::COMMAND, Key::J);

    // Both sides of a comparison.
    window.press(Modifiers::COMMAND, Key::Num6);
    window.click(Role::Button, "Compare with R1:v1");
    window.sees("B R1:v1");
    assert!(window.shows("A R2:v1"));

    // What is offered to compare with, once it is closed.
    window.click(Role::Button, "Close R1:v1");
    window.press(Modifiers { shift: true, ..Modifiers::COMMAND }, Key::B);
    window.harness.run_steps(4);
    let written = crate::journeys_paths::written(&window);
    assert!(written.iter().any(|text| text == "R1:v1"), "{written:?}");
    window.press(Modifiers::NONE, Key::Escape);

    // The recent ones.
    window.press(Modifiers::COMMAND, Key::T);
    for name in ["R1:v1", "R2:v1"] {
        assert!(window.harness.query_by_role_and_label(Role::Button, name).is_some(), "{name}");
    }
}

#[test]
fn equal_names_are_told_apart_while_both_are_open() {
    let folder = folder();
    let path = |part: &str| {
        let path = folder.path().join(part).join("tool.tar");
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, sample::runtime()).unwrap();
        path
    };
    let (one, two) = (path("one"), path("two"));
    let mut window = Window::new();
    window.open(one.to_str().unwrap());
    assert!(window.has_tab("tool.tar"));
    window.open(two.to_str().unwrap());
    window.settles();
    assert!(window.has_tab("one/tool.tar") && window.has_tab("two/tool.tar"));
    window.press(Modifiers::COMMAND, Key::W);
    assert!(window.has_tab("tool.tar") && !window.has_tab("one/tool.tar"));
}
