//! The view in the window: images come from tabs, paths, samples and drops, and lead back to their tabs.

use std::fs;
use std::path::Path;

use egui::accesskit::Role;
use egui::{Key, Modifiers};
use egui_kittest::kittest::{NodeT as _, Queryable as _};

use crate::fixtures::sample;
use crate::journeys::Window;
use crate::support::Place;

const CTRL_SHIFT: Modifiers = Modifiers { shift: true, ..Modifiers::COMMAND };

fn write_samples(folder: &Path) -> [String; 2] {
    [("left.tar", sample::devel()), ("right.tar", sample::runtime())].map(|(name, bytes)| {
        let path = folder.join(name);
        fs::write(&path, bytes).unwrap();
        path.to_str().unwrap().to_owned()
    })
}

fn compared(window: &mut Window) {
    window.until("comparison", |window| !window.state().is_busy() && !window.state().is_working());
}

#[test]
fn images_are_added_from_tabs_paths_and_samples() {
    let place = Place::new();
    let path = place.path("right.tar");
    fs::write(&path, sample::runtime()).unwrap();
    let mut window = Window::new();
    window.open("sample:runtime");
    window.open("sample:devel");
    window.settles();
    window.press(Modifiers::COMMAND, Key::Num6);
    window.sees("Add image to compare");
    window.click(Role::Button, "Compare with sample:runtime");
    compared(&mut window);
    window.sees("Pull size");
    // By its path: it opens in a tab behind.
    window.press(CTRL_SHIFT, Key::B);
    window.sees("Close without adding");
    window.types(&path);
    window.press(Modifiers::NONE, Key::Enter);
    window.until("third image", |window| {
        window.query_by_role_and_label(Role::RadioButton, "C right.tar").is_some()
    });
    compared(&mut window);
    assert!(window.in_front("sample:devel"), "it opens behind");
    assert!(window.has_tab("right.tar"));
    window.click(Role::Button, "Close right.tar");
    compared(&mut window);
    assert!(window.harness.query_by_role_and_label(Role::RadioButton, "C right.tar").is_none());
    window.sees("Pull size");
    // Every command is in the palette.
    for (typed, name) in [
        ("compare with", "Compare with…"),
        ("next base", "Next baseline"),
        ("only diff", "Only differences"),
        ("copy comp", "Copy comparison"),
        ("save comp", "Save comparison as…"),
        ("clear comp", "Clear comparison"),
    ] {
        window.press(Modifiers::COMMAND, Key::K);
        window.types(typed);
        let option = window.harness.get_by_role_and_label(Role::ListBoxOption, name);
        assert!(!option.accesskit_node().is_disabled(), "{name}");
        window.press(Modifiers::NONE, Key::Escape);
    }
    window.press(Modifiers::NONE, Key::F8);
    compared(&mut window);
    window.harness.get_by_role_and_label(Role::RadioButton, "B sample:runtime, the baseline");
}

#[test]
fn compare_on_the_command_line_opens_all_beside_the_first() {
    let folder = tempfile::tempdir().unwrap();
    let [left, right] = write_samples(folder.path());
    let images = vec![right, "sample:runtime".to_owned()];
    let mut window = Window::comparing(left, images);
    compared(&mut window);
    assert!(window.in_front("left.tar") && window.in_front("Compare"));
    for name in ["A left.tar, the baseline", "B right.tar", "C sample:runtime"] {
        window.harness.get_by_role_and_label(Role::RadioButton, name);
    }
    // To a path in the layers of another tab.
    window.click(Role::Tab, "Files, 820 differ");
    compared(&mut window);
    window.harness.get_all_by_role(Role::Row).next().unwrap().click();
    window.harness.run_steps(3);
    window.click(Role::Button, "Show in Layers of B right.tar");
    assert!(window.in_front("right.tar") && window.in_front("Layers"));
    window.sees("/usr");
}

#[test]
fn a_dropped_image_is_offered_to_stand_beside_the_one_in_front() {
    let folder = tempfile::tempdir().unwrap();
    let [left, right] = write_samples(folder.path());
    let mut window = Window::new();
    window.open("sample:devel");
    window.settles();
    window.drop_file(Path::new(&left));
    window.sees("Compare with sample:devel");
    window.harness.run_steps(2);
    assert!(window.harness.get_by_role_and_label(Role::Button, "Open in new tab").is_focused());
    window.press(Modifiers::NONE, Key::Escape);
    assert!(!window.has_tab("left.tar"), "Escape does nothing");
    window.drop_file(Path::new(&left));
    window.sees("Compare with sample:devel");
    window.press(Modifiers::NONE, Key::Enter);
    assert!(window.in_front("left.tar") && window.in_front("Overview"));
    window.settles();
    window.drop_file(Path::new(&right));
    window.sees("Compare with left.tar");
    window.press(Modifiers::NONE, Key::ArrowRight);
    window.press(Modifiers::NONE, Key::Enter);
    compared(&mut window);
    assert!(window.in_front("left.tar") && window.in_front("Compare"));
    window.harness.get_by_role_and_label(Role::RadioButton, "B right.tar");
    // A saved report opens in a tab of its own.
    let report = folder.path().join("saved.json");
    let place = Place::new();
    let outcome = place.run(&["report", "sample:runtime", "--format", "json"]);
    fs::write(&report, outcome.stdout).unwrap();
    window.drop_file(&report);
    window.until("report", |window| window.query_by_role_and_label(Role::Tab, "saved.json").is_some());
    assert!(window.harness.query_by_role_and_label(Role::Button, "Open in new tab").is_none());
}

#[test]
fn a_comparison_is_saved_and_copied() {
    let folder = tempfile::tempdir().unwrap();
    let mut window = Window::comparing("sample:devel".into(), vec!["sample:runtime".into()]);
    compared(&mut window);
    window.sees("Pull size");
    for (name, format, start) in
        [("c.html", "HTML", "<!doctype html"), ("c.md", "Markdown", "#"), ("c.json", "JSON", "{")]
    {
        window.click(Role::Button, "Save comparison as…");
        window.click(Role::RadioButton, format);
        let field = window.harness.get_by_role_and_label(Role::TextInput, "Save comparison as");
        field.focus();
        window.harness.run_steps(1);
        window.press(Modifiers::COMMAND, Key::A);
        let path = folder.path().join(name);
        window.types(path.to_str().unwrap());
        window.press(Modifiers::NONE, Key::Enter);
        window.sees("Comparison saved to ");
        let text = fs::read_to_string(&path).unwrap();
        assert!(
            text.to_lowercase().trim_start().starts_with(start),
            "{name}: {}",
            &text[..80.min(text.len())]
        );
        window.click(Role::Button, "Dismiss message");
    }
    // One that is there is replaced only where that is said.
    window.click(Role::Button, "Save comparison as…");
    window.press(Modifiers::NONE, Key::Enter);
    window.sees("File already exists: ");
    window.click(Role::Button, "Replace");
    window.sees("Comparison saved to ");
    window.click(Role::Button, "Copy comparison");
    window.until("copied text", |window| {
        let copied = |command: &egui::OutputCommand| {
            matches!(command, egui::OutputCommand::CopyText(text) if text.contains("sample:runtime"))
        };
        window.output().platform_output.commands.iter().any(copied)
    });
}
