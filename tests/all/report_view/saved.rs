//! Reports that were saved, opened again in the window.

use std::fs;

use cutaway::report::{Report, read_saved};
use egui::accesskit::Role;
use egui::{Key, Modifiers};
use egui_kittest::kittest::{NodeT as _, Queryable as _};

use crate::journeys::Window;

const NEEDS: &str = "Not available in a saved report: open the image";

fn view(window: &Window, name: &'static str) -> (bool, bool) {
    let node = window.harness.get_by_role_and_label(Role::Tab, name);
    let node = node.accesskit_node();
    (node.is_disabled(), node.toggled() == Some(egui::accesskit::Toggled::True))
}

/// Steps until the report in front is made, with what is proposed for an image.
fn reported(window: &mut Window) {
    for _ in 0..2 {
        window.until("report", |window| !window.state().is_working());
        window.harness.run_steps(4);
    }
}

/// Exports the JSON report of the devel sample through the window.
fn export(window: &mut Window, path: &std::path::Path) -> Report {
    window.open("sample:devel");
    window.settles();
    window.press(Modifiers::COMMAND, Key::Num8);
    assert_eq!(view(window, "Report"), (false, true));
    reported(window);
    window.click(Role::RadioButton, "JSON");
    reported(window);
    window.press(Modifiers::COMMAND, Key::E);
    window.press(Modifiers::COMMAND, Key::A);
    window.types(path.to_str().unwrap());
    window.press(Modifiers::NONE, Key::Enter);
    window.sees("Report saved to ");
    read_saved(&fs::read(path).unwrap()).unwrap()
}

#[test]
fn a_report_that_the_window_saved_opens_again_with_the_same_figures() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("devel-report.json");
    let mut window = Window::new();
    let report = export(&mut window, &path);
    assert!(report.proposals.as_ref().is_some_and(|list| !list.is_empty()), "proposals are in it");
    window.press(Modifiers::COMMAND, Key::W);
    window.open(path.to_str().unwrap());
    window.settles();
    window.sees("Saved report");
    window.sees("saved report  ·  ");
    assert_eq!(view(&window, "Overview"), (false, true));
    let merged = cutaway::base::size::human(report.totals.merged_bytes.unwrap());
    assert!(window.shows(&merged), "no {merged}");
    assert!(view(&window, "Compare").0 && !view(&window, "Dockerfile").0);
    window.harness.get_by_role_and_label(Role::Tab, "Compare").hover();
    window.sees(NEEDS);
    window.harness.remove_cursor();

    window.press(Modifiers::COMMAND, Key::Num2);
    window.sees("Layers, 20 layers");
    assert!(window.harness.query_all_by_role(Role::Row).count() >= 10);
    window.press(Modifiers::COMMAND, Key::Num3);
    window.sees("GPU code");
    window.press(Modifiers::COMMAND, Key::Num4);
    let finding = &report.findings.as_ref().unwrap()[0];
    window.sees(&finding.title);
    window.press(Modifiers::COMMAND, Key::Num5);
    window.sees("Merged size after");
    window.harness.get_by_role_and_label(Role::Button, "Copy diff").click();
    let diff = report.proposals.as_ref().unwrap()[0].diff.clone().unwrap();
    copied(&mut window, |text| text == diff);
    window.press(Modifiers::COMMAND, Key::Num7);
    window.sees("This machine");
    assert!(!report.compatibility.as_ref().unwrap().targets.is_empty());
    window.press(Modifiers::COMMAND, Key::Num8);
    reported(&mut window);
    window.click(Role::RadioButton, "JSON");
    reported(&mut window);
    window.harness.get_by_role_and_label(Role::Button, "Copy report").click();
    let saved = fs::read_to_string(&path).unwrap();
    copied(&mut window, |text| text == saved);

    // Commands that need the image say so.
    window.press(Modifiers::COMMAND, Key::K);
    window.types("save dockerfile as");
    let option = window.harness.get_by_role_and_label(Role::ListBoxOption, "Save Dockerfile as…");
    assert!(option.accesskit_node().is_disabled());
    window.press(Modifiers::NONE, Key::Escape);
    window.click(Role::Button, "Open source image…");
    window.settles();
    assert_eq!(view(&window, "sample:devel"), (false, true), "its image comes to the front");
}

/// Steps until a text is put on the clipboard.
fn copied(window: &mut Window, is: impl Fn(&str) -> bool) {
    window.until("copied text", |window| {
        let commands = &window.output().platform_output.commands;
        commands.iter().any(|command| matches!(command, egui::OutputCommand::CopyText(text) if is(text)))
    });
}

#[test]
fn markdown_is_copied_from_any_view() {
    let mut window = Window::new();
    window.open("sample:runtime");
    window.settles();
    window.press(Modifiers::COMMAND, Key::K);
    window.types("copy report as markdown");
    window.press(Modifiers::NONE, Key::Enter);
    copied(&mut window, |text| text.starts_with('#') && text.contains("sample:runtime"));
    assert_eq!(view(&window, "Report"), (false, true));
}

#[test]
fn other_documents_are_refused_with_the_reason_and_can_be_tried_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("saved.json");
    let mut window = Window::new();
    let report = export(&mut window, &path);
    let whole = fs::read_to_string(&path).unwrap();
    window.press(Modifiers::COMMAND, Key::W);
    let newer = whole.replacen("cutaway.report/1", "cutaway.report/7", 1);
    let cases = [
        ("newer.json", newer.as_str(), "cutaway.report/7", "newer version of Cutaway"),
        ("foreign.json", "  {\"schema\": \"other/1\"}", "not a saved report", "--format json"),
        ("nothing.json", "{}", "no schema given", "--format json"),
        ("cut.json", &whole[..whole.len() / 2], "not a JSON document", ""),
        ("malformed.json", "{\"schema\": \"cutaway.report/1\"}", "invalid report", ""),
    ];
    for (name, text, why, hint) in cases {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        window.open(path.to_str().unwrap());
        window.settles();
        window.sees("Cannot open report");
        assert!(window.shows(why), "{name}: no {why:?}: {:#?}", window.harness.root());
        assert!(hint.is_empty() || window.shows(hint), "{name}: no {hint:?}");
        fs::write(&path, &whole).unwrap();
        window.click(Role::Button, "Try again");
        window.settles();
        window.sees("Saved report");
        window.press(Modifiers::COMMAND, Key::W);
    }
    // Blanks and a mark of the encoding before it do not matter; nor does its name.
    let odd = folder.path().join("odd");
    fs::write(&odd, format!("\n\t {whole}")).unwrap();
    window.open(odd.to_str().unwrap());
    window.settles();
    window.sees("Saved report");
    // Without its image the way there is explained.
    let mut away = report;
    away.image.reference = "/nowhere/at/all.tar".to_owned();
    away.proposals = None;
    fs::write(&odd, cutaway::report::to_json(&away)).unwrap();
    window.press(Modifiers::COMMAND, Key::R);
    window.settles();
    window.click(Role::Button, "Open source image…");
    window.sees("/nowhere/at/all.tar not found");
    assert!(view(&window, "Dockerfile").0);
    window.harness.get_by_role_and_label(Role::Tab, "Dockerfile").hover();
    window.sees("No proposed Dockerfile in this report");
}
