//! The settings in the window, by roles and names.

use std::fs;
use std::path::PathBuf;

use cutaway::gui::app::{App, Setup};
use cutaway::gui::testing;
use cutaway::gui::views::Command;
use cutaway::settings::{SettingsFile, Theme};
use egui::Key;
use egui::accesskit::Role;
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable as _;

use crate::fixtures::image::Image;
use crate::fixtures::layout::Layout;
use crate::fixtures::packing::Packing;
use crate::fixtures::sample;
use crate::fixtures::tarball::{file, tar};
use crate::journeys::Window;

/// A window on a settings file, with the page in front.
fn page(path: PathBuf) -> Window {
    let settings = Some(SettingsFile::new(path));
    let mut window = Window::of([1000.0, 1500.0], Setup { settings, ..testing::setup() });
    window.harness.state_mut().run(Command::Settings);
    window.harness.step();
    window.harness.step();
    window
}

#[test]
fn changes_are_in_the_file_at_once_and_act() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("settings.toml");
    fs::write(&path, "# mine\n[display]\ntext_size = 120 # my eyes\n").unwrap();
    let mut window = page(path.clone());
    assert_eq!(window.harness.state().settings().text_size, 120);
    for (role, name) in [
        (Role::Button, "Light"),
        (Role::Button, "Larger text"),
        (Role::Button, "Decimal (MB)"),
        (Role::CheckBox, "Ask before connecting to a registry for the first time"),
        (Role::CheckBox, "List images of Docker and Podman on the start screen"),
    ] {
        window.harness.get_by_role_and_label(role, name).click();
        window.harness.step();
        window.harness.step();
    }
    let settings = window.harness.state().settings().clone();
    // One for the process: other tests expect binary units.
    cutaway::base::size::use_units(cutaway::base::size::Units::Binary);
    assert_eq!((settings.theme, settings.text_size, settings.ask), (Theme::Light, 130, false));
    assert_eq!(SettingsFile::new(path.clone()).load().unwrap(), settings);
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.starts_with("# mine\n") && text.contains("text_size = 130 # my eyes"), "{text}");
}

#[test]
fn what_is_typed_is_taken_when_it_is_a_value() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("settings.toml");
    let mut window = page(path.clone());
    for (wrong, reason, right) in [("much", "Invalid size \"much\"", "4 GiB")] {
        for text in [wrong, right] {
            let field = window.harness.get_by_role_and_label(Role::TextInput, "Limit of the blob cache");
            field.focus();
            window.harness.step();
            window.harness.key_press_modifiers(egui::Modifiers::COMMAND, Key::A);
            window.harness.step();
            let field = window.harness.get_by_role_and_label(Role::TextInput, "Limit of the blob cache");
            field.type_text(text);
            window.harness.step();
            window.harness.key_press(Key::Enter);
            window.harness.step();
            window.harness.step();
            let refused = window.harness.query_by_label_contains(reason).is_some();
            assert_eq!(refused, text == wrong, "{text}");
        }
    }
    assert_eq!(SettingsFile::new(path).load().unwrap().blob_limit, 4 << 30);
}

#[test]
fn an_invalid_file_is_shown_and_not_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("settings.toml");
    fs::write(&path, "[display]\nfont = 1\n").unwrap();
    let mut window = page(path.clone());
    assert!(window.harness.query_by_label_contains("line 2, column 1: unknown field `font`").is_some());
    window.harness.get_by_role_and_label(Role::Button, "Light").click();
    window.harness.step();
    assert_eq!(window.harness.state().settings().theme, Theme::Light, "for this session");
    assert_eq!(fs::read_to_string(&path).unwrap(), "[display]\nfont = 1\n");
}

#[test]
fn a_changed_file_is_offered_and_compared_with_what_was_shown() {
    let folder = tempfile::tempdir().unwrap();
    let write = |content: &[u8]| {
        let layer = tar([file("app/data", content)]);
        Layout::of(&Image::of(Packing::Plain, [layer]), "latest").write(folder.path());
    };
    write(b"one");
    let image = format!("oci:{}:latest", folder.path().to_str().unwrap());
    let mut window = Window::of([1200.0, 800.0], Setup { image: Some(image), ..testing::setup() });
    window.until("image", |harness| !harness.state().is_busy());
    // The first look is the state that later ones are compared with.
    std::thread::sleep(std::time::Duration::from_millis(100));
    window.harness.step();
    write(b"another content");
    window.harness.state_mut().look_at_files();
    window.until("offer", |harness| harness.query_by_label("Reload and compare").is_some());
    window.harness.get_by_label("Reload and compare").click();
    window.until("comparison", |harness| {
        !harness.state().is_busy() && harness.query_all_by_label_contains("(earlier)").next().is_some()
    });
    assert!(window.harness.query_by_label("Reload and compare").is_none());
}

#[test]
fn a_file_that_was_missing_is_offered_when_it_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("late.tar");
    let image = path.to_str().unwrap().to_owned();
    let mut window = Window::of([1200.0, 800.0], Setup { image: Some(image), ..testing::setup() });
    let failure = |harness: &Harness<'static, App>| {
        harness.query_all_by_label_contains("No such file").next().is_some()
    };
    window.until("failure", failure);
    std::thread::sleep(std::time::Duration::from_millis(100));
    window.harness.step();
    fs::write(&path, sample::devel()).unwrap();
    window.harness.state_mut().look_at_files();
    window.until("offer", |harness| harness.query_by_label("Reload").is_some());
    window.harness.get_by_label("Reload").click();
    window.until("image", |harness| !harness.state().is_busy() && !failure(harness));
}

#[test]
fn several_images_dropped_at_once_are_offered_for_comparison() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| {
        let path = folder.path().join(name);
        fs::write(&path, sample::devel()).unwrap();
        path
    };
    let (one, two) = (path("one.tar"), path("two.tar"));
    let mut window = Window::of([1200.0, 800.0], testing::setup());
    window.drop_files(&[&one, &two]);
    window.until("offer", |harness| harness.query_by_label("Compare").is_some());
    window.harness.get_by_label("Compare").click();
    window.until("comparison", |harness| {
        !harness.state().is_busy() && harness.query_by_role_and_label(Role::Tab, "two.tar").is_some()
    });
    assert!(window.harness.query_by_role_and_label(Role::Tab, "one.tar").is_some());
    assert!(window.harness.query_by_label("Add image…").is_some(), "the comparison is in front");
}

#[test]
fn the_deployment_platform_is_checked_and_images_begin_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("settings.toml");
    let mut window = page(path.clone());
    for text in ["nowhere", "AzureML"] {
        window.harness.get_by_role_and_label(Role::TextInput, "Deployment platform").focus();
        window.harness.step();
        window.harness.key_press_modifiers(egui::Modifiers::COMMAND, Key::A);
        window.harness.step();
        window.harness.get_by_role_and_label(Role::TextInput, "Deployment platform").type_text(text);
        window.harness.step();
        window.harness.key_press(Key::Enter);
        window.harness.step();
        window.harness.step();
        let refused = window.harness.query_all_by_label_contains("profiles are ").next().is_some();
        assert_eq!(refused, text == "nowhere", "{text}");
    }
    let kept = SettingsFile::new(path).load().unwrap().profile;
    assert_eq!(kept.map(|profile| profile.text).as_deref(), Some("AzureML"));
    let layer = tar([file("etc/hostname", *b"host")]);
    let image = folder.path().join("image");
    Layout::of(&Image::of(Packing::Gzip, [layer]), "latest").write(&image);
    window.open(&format!("oci:{}", image.display()));
    window.settles();
    assert_eq!(window.harness.state_mut().views().unwrap().deployment.profile(), "azureml");
}
