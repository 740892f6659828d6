//! The report view: what is previewed is what is written, and how people get it out.

mod page;
mod saved;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use cutaway::analysis::Analysis;
use cutaway::gui::dialogs::Pick;
use cutaway::gui::models::findings::{ChosenPlan, PlanChange};
use cutaway::gui::models::report::{Opener, ReportSource, Writer};
use cutaway::gui::views::report::{Proposing, ReportContext, ReportView};
use cutaway::gui::views::{Action, ImageView as _};
use cutaway::report::page::Part;
use cutaway::report::{CsvTable, Format, Options, Report};
use cutaway::rewrite::Proposals;
use egui::Key;
use egui::accesskit::Role;
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT as _, Queryable as _};

use crate::dockerfile_view::scene::{MINIMAL, proposals};
use crate::findings_view::scene::analysis;
use crate::view_stage::{self, harness, shows, until};

const PLACE: &str = "Save report as";

struct Stage {
    analysis: Arc<Analysis>,
    plan: ChosenPlan,
    proposals: Option<Arc<Proposals>>,
    proposing: Proposing,
    waits: bool,
    view: ReportView,
    actions: Vec<Action>,
}

fn write() -> Writer {
    Arc::new(|report, format, parts| format.write(report, parts))
}

fn no_opener() -> Opener {
    Arc::new(|_| Ok(()))
}

fn begin(writer: Writer, opener: Opener) -> Harness<'static, Stage> {
    let analysis = analysis();
    let mut plan = ChosenPlan::default();
    plan.update(Some(&analysis));
    let stage = Stage {
        analysis,
        plan,
        proposals: Some(Arc::new(proposals(None))),
        proposing: Proposing::Done,
        waits: false,
        view: ReportView::with(writer, opener),
        actions: Vec::new(),
    };
    harness([1200.0, 800.0]).build_ui_state(
        |ui, stage: &mut Stage| {
            let Stage { analysis, plan, proposals, proposing, waits, view, actions } = stage;
            let source = ReportSource::Image {
                analysis,
                plan,
                proposals: proposals.as_ref(),
                devices: &[],
                machine: 0,
            };
            let context = &mut ReportContext {
                source: if *waits { Err(("Waiting", "for layer 3".to_owned())) } else { Ok(source) },
                image: "sample:devel",
                beside: None,
                proposing: proposing.clone(),
                plan: String::new(),
                actions,
            };
            view.show(ui, context);
        },
        stage,
    )
}

fn show() -> Harness<'static, Stage> {
    let mut harness = begin(write(), no_opener());
    settle(&mut harness);
    harness
}

/// Steps until nothing is worked on.
fn settle(harness: &mut Harness<'_, Stage>) {
    until(harness, "end", |stage| !stage.view.is_busy());
}

fn click(harness: &mut Harness<'_, Stage>, role: Role, label: &str) {
    view_stage::click(harness, role, label);
    settle(harness);
}

/// Types a path into the field, in the place of what stands there.
fn type_place(harness: &mut Harness<'_, Stage>, path: &Path) {
    harness.get_by_role_and_label(Role::TextInput, PLACE).focus();
    harness.run_steps(2);
    harness.key_press_modifiers(egui::Modifiers::COMMAND, Key::A);
    harness.run_steps(2);
    harness.event(egui::Event::Text(path.to_str().unwrap().into()));
    harness.run_steps(2);
}

fn place(harness: &Harness<'_, Stage>) -> String {
    harness.get_by_role_and_label(Role::TextInput, PLACE).value().unwrap()
}

fn actions(harness: &mut Harness<'_, Stage>) -> Vec<Action> {
    harness.state_mut().actions.drain(..).collect()
}

/// What a report of the stage is, made as the command line makes it.
fn report(stage: &Stage, paths: bool) -> Report {
    let options = Options { plan: Some(stage.plan.plan().clone()), paths, ..Options::default() };
    let mut report = Report::new(&stage.analysis, &options).unwrap();
    report.set_proposals(stage.proposals.as_ref().unwrap(), &options);
    report
}

#[test]
fn every_format_is_previewed_and_saved_to_the_byte() {
    let folder = tempfile::tempdir().unwrap();
    let mut harness = show();
    for (name, format, table) in [
        ("HTML", Format::Html, None),
        ("Markdown", Format::Markdown, None),
        ("JSON", Format::Json, None),
        ("SARIF", Format::Sarif, None),
        ("CSV", Format::Csv(CsvTable::Findings), None),
        ("CSV", Format::Csv(CsvTable::Layers), Some("Layers")),
        ("CSV", Format::Csv(CsvTable::Libraries), Some("CUDA libraries")),
        ("Text", Format::Text, None),
    ] {
        click(&mut harness, Role::RadioButton, name);
        if let Some(table) = table {
            click(&mut harness, Role::RadioButton, table);
        }
        let wanted = format.write(&report(harness.state(), format != Format::Text), &Part::ALL);
        assert!(wanted.len() > 100, "{name}: {wanted}");
        if !format.has_parts() {
            let first = wanted.lines().find(|line| !line.trim().is_empty()).unwrap();
            assert!(shows(&harness, first.trim_end()), "{name}: no {first:?}");
        }
        let path = folder.path().join(format!("report-{}.{}", table.unwrap_or(name), format.extension()));
        type_place(&mut harness, &path);
        click(&mut harness, Role::Button, "Save");
        let saved = std::fs::read_to_string(&path).unwrap();
        assert!(saved == wanted, "{name}: {} bytes, wanted {}", saved.len(), wanted.len());
        assert!(shows(&harness, " saved to "), "{name}");
        assert!(shows(&harness, &cutaway::base::size::human(wanted.len() as u64)), "{name}: no size");
        click(&mut harness, Role::Button, "Copy report");
        let copied = actions(&mut harness);
        assert!(copied == [Action::CopyText(wanted)], "{name}");
    }
    click(&mut harness, Role::RadioButton, "Proposed Dockerfile");
    type_place(&mut harness, &folder.path().join("Dockerfile.plan"));
    click(&mut harness, Role::Button, "Save");
    assert_eq!(std::fs::read_to_string(folder.path().join("Dockerfile.plan")).unwrap(), MINIMAL);
}

#[test]
fn parts_that_are_left_out_are_neither_shown_nor_saved() {
    let folder = tempfile::tempdir().unwrap();
    let mut harness = show();
    click(&mut harness, Role::RadioButton, "Markdown");
    assert!(harness.query_by_role_and_label(Role::Link, "Layers").is_some());
    click(&mut harness, Role::CheckBox, "Layers");
    click(&mut harness, Role::CheckBox, "Files");
    assert!(harness.query_by_role_and_label(Role::Link, "Layers").is_none());
    let path = folder.path().join("some.md");
    type_place(&mut harness, &path);
    click(&mut harness, Role::Button, "Save");
    let parts: Vec<Part> =
        Part::ALL.into_iter().filter(|part| !matches!(part, Part::Layers | Part::Files)).collect();
    let report = report(harness.state(), true);
    let (some, all) = (Format::Markdown.write(&report, &parts), Format::Markdown.write(&report, &Part::ALL));
    assert_ne!(some, all);
    assert!(std::fs::read_to_string(&path).unwrap() == some);
    // Formats that are always whole say why.
    click(&mut harness, Role::RadioButton, "JSON");
    assert!(shows(&harness, "JSON always contains everything"));
    assert!(harness.get_by_role_and_label(Role::CheckBox, "Layers").accesskit_node().is_disabled());
    click(&mut harness, Role::RadioButton, "HTML");
    click(&mut harness, Role::Link, "All");
    assert!(harness.state().view.choice().left_out.is_empty());
    assert!(harness.query_by_role_and_label(Role::Link, "Layers").is_some());
}

#[test]
fn a_file_that_is_there_is_replaced_only_when_that_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("report.html");
    std::fs::write(&path, "mine").unwrap();
    let mut harness = show();
    type_place(&mut harness, &path);
    harness.key_press(Key::Enter);
    settle(&mut harness);
    assert!(shows(&harness, "File already exists: "));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "mine");
    harness.key_press(Key::Enter);
    settle(&mut harness);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "mine", "one key too many replaces nothing");
    click(&mut harness, Role::Button, "Replace");
    assert!(std::fs::read_to_string(&path).unwrap().contains("<html"));
    // A dialog has asked by itself.
    std::fs::write(&path, "mine").unwrap();
    let Stage { view, plan, .. } = harness.state_mut();
    view.picked(Pick::SaveReport("html"), path.clone(), plan, &(Arc::new(|| ()) as cutaway::jobs::Waker));
    settle(&mut harness);
    assert!(std::fs::read_to_string(&path).unwrap().contains("<html"));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left behind");
}

#[test]
fn a_place_that_cannot_be_written_is_told_and_nothing_is_lost() {
    let folder = tempfile::tempdir().unwrap();
    let mut harness = show();
    click(&mut harness, Role::RadioButton, "Markdown");
    click(&mut harness, Role::CheckBox, "Layers");
    for path in [folder.path().join("none/report.md"), PathBuf::from("/proc/report.md"), folder.path().into()]
    {
        type_place(&mut harness, &path);
        click(&mut harness, Role::Button, "Save");
        if harness.query_by_role_and_label(Role::Button, "Replace").is_some() {
            click(&mut harness, Role::Button, "Replace");
        }
        assert!(shows(&harness, "Cannot save "), "{}", path.display());
        assert!(
            matches!(&actions(&mut harness)[..], [Action::Report(why)] if why.starts_with("Cannot save "))
        );
        assert_eq!(place(&harness), path.to_str().unwrap());
        assert_eq!(harness.state().view.choice().left_out.iter().collect::<Vec<_>>(), [&Part::Layers]);
    }
    type_place(&mut harness, &folder.path().join("report.md"));
    assert!(!shows(&harness, "Cannot save "), "typing goes on from there");
    click(&mut harness, Role::Button, "Save");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn the_offered_name_follows_the_image_and_the_format() {
    let mut harness = show();
    assert!(place(&harness).ends_with("/devel-report.html"), "{}", place(&harness));
    click(&mut harness, Role::RadioButton, "CSV");
    assert!(place(&harness).ends_with("/devel-findings.csv"), "{}", place(&harness));
    click(&mut harness, Role::RadioButton, "Layers");
    assert!(place(&harness).ends_with("/devel-layers.csv"), "{}", place(&harness));
    type_place(&mut harness, Path::new("/srv/mine.csv"));
    click(&mut harness, Role::RadioButton, "JSON");
    assert_eq!(place(&harness), "/srv/mine.json", "a name of one's own keeps its beginning");
    type_place(&mut harness, Path::new("/srv/mine"));
    click(&mut harness, Role::RadioButton, "SARIF");
    assert_eq!(place(&harness), "/srv/mine");
    click(&mut harness, Role::Button, "Browse…");
    assert!(matches!(actions(&mut harness)[..], [Action::Pick(_)]));
    harness.state_mut().view.dialog_failed("File dialogs are not available on this desktop");
    harness.run_steps(3);
    assert!(shows(&harness, "enter the path instead"));
}

#[test]
fn another_plan_gives_another_report() {
    let mut harness = show();
    click(&mut harness, Role::RadioButton, "JSON");
    let text = |harness: &mut Harness<'_, Stage>| {
        click(harness, Role::Button, "Copy report");
        match actions(harness).pop() {
            Some(Action::CopyText(text)) => serde_json::from_str::<serde_json::Value>(&text).unwrap(),
            other => panic!("{other:?}"),
        }
    };
    let before = text(&mut harness);
    harness.state_mut().plan.change(PlanChange::Clear);
    settle(&mut harness);
    let after = text(&mut harness);
    assert_ne!(before["plan"], after["plan"]);
    assert_eq!(before["totals"], after["totals"]);
    assert!(after["proposals"].is_array());
}

#[test]
fn what_is_proposed_comes_in_when_it_is_known_and_a_copy_waits_for_it() {
    let mut harness = begin(write(), no_opener());
    harness.state_mut().proposing = Proposing::Busy;
    let proposals = harness.state_mut().proposals.take();
    settle(&mut harness);
    assert!(shows(&harness, "Computing proposals; not included yet"));
    click(&mut harness, Role::RadioButton, "Proposed Dockerfile");
    assert!(shows(&harness, "Computing proposals…"));
    assert!(actions(&mut harness).is_empty(), "what is waited for is no error");
    harness.state_mut().view.copy_markdown();
    settle(&mut harness);
    assert!(actions(&mut harness).is_empty());
    harness.state_mut().proposals = proposals;
    harness.state_mut().proposing = Proposing::Done;
    settle(&mut harness);
    settle(&mut harness);
    let wanted = Format::Markdown.write(&report(harness.state(), true), &Part::ALL);
    assert!(actions(&mut harness) == [Action::CopyText(wanted)]);
    assert!(shows(&harness, "Report copied as Markdown"));
    harness.state_mut().proposing = Proposing::Failed("It broke".to_owned());
    settle(&mut harness);
    assert!(shows(&harness, "No proposed Dockerfile included: It broke"));
}

#[test]
fn a_report_that_fails_is_told_and_can_be_tried_again() {
    let runs = Arc::new(Mutex::new(0));
    let counter = Arc::clone(&runs);
    let writer: Writer = Arc::new(move |report, format, parts| {
        let mut runs = counter.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        *runs += 1;
        assert!(*runs > 1, "broken on purpose");
        format.write(report, parts)
    });
    let mut harness = begin(writer, no_opener());
    settle(&mut harness);
    harness.get_by_label("Cannot create report");
    assert!(shows(&harness, "broken on purpose"));
    assert!(matches!(&actions(&mut harness)[..], [Action::Report(_)]), "the log has it, once");
    assert!(harness.get_by_role_and_label(Role::Button, "Save").accesskit_node().is_disabled());
    click(&mut harness, Role::Button, "Try again");
    assert!(harness.query_by_label("Cannot create report").is_none());
    assert!(harness.query_by_role_and_label(Role::Document, "Preview").is_some());
    harness.state_mut().waits = true;
    harness.run_steps(2);
    assert!(shows(&harness, "for layer 3"));
}

#[test]
fn the_folder_and_the_browser_are_opened_elsewhere() {
    let folder = tempfile::tempdir().unwrap();
    let calls = Arc::new(Mutex::new(Vec::new()));
    let list = Arc::clone(&calls);
    let opener: Opener = Arc::new(move |path| {
        list.lock().unwrap().push((path.to_owned(), std::thread::current().id()));
        if path.is_dir() { Ok(()) } else { Err("nothing opens it".to_owned()) }
    });
    let mut harness = begin(write(), opener);
    settle(&mut harness);
    let path = folder.path().join("report.html");
    type_place(&mut harness, &path);
    click(&mut harness, Role::Button, "Save");
    click(&mut harness, Role::Button, "Open folder");
    wait(&mut harness, |_| calls.lock().unwrap().len() == 1);
    click(&mut harness, Role::Button, "Open in browser");
    wait(&mut harness, |harness| shows(harness, "nothing opens it"));
    assert!(matches!(&actions(&mut harness)[..], [Action::Report(why)] if why.starts_with("Cannot open ")));
    let calls = calls.lock().unwrap();
    let paths: Vec<&Path> = calls.iter().map(|one| one.0.as_path()).collect();
    assert_eq!(paths, [folder.path(), &path]);
    assert!(calls.iter().all(|one| one.1 != std::thread::current().id()), "never on the painting thread");
}

fn wait(harness: &mut Harness<'_, Stage>, there: impl Fn(&Harness<'_, Stage>) -> bool) {
    let begun = Instant::now();
    while !there(harness) {
        assert!(begun.elapsed() < Duration::from_mins(1), "it does not come");
        std::thread::sleep(Duration::from_millis(2));
        harness.run_steps(1);
    }
}

#[test]
fn a_large_report_is_written_beside_the_window_and_only_lines_in_sight_are_painted() {
    let turn = Arc::new(Mutex::new(()));
    let gate = Arc::clone(&turn);
    let writer: Writer = Arc::new(move |_, format, _| {
        drop(gate.lock());
        if format == Format::Json {
            "    \"line\": \"of many\",\n".repeat(300_000)
        } else {
            "small".to_owned()
        }
    });
    let closed = turn.lock().unwrap();
    let mut harness = begin(writer, no_opener());
    // Frames go on while it is written.
    harness.run_steps(10);
    assert!(harness.state().view.is_busy());
    assert!(shows(&harness, "Creating HTML…"));
    harness.get_by_role_and_label(Role::RadioButton, "JSON").click();
    harness.run_steps(4);
    assert!(shows(&harness, "Creating JSON…"));
    drop(closed);
    settle(&mut harness);
    assert!(shows(&harness, "300,000 lines"));
    let painted = harness.state().view.painted();
    assert!((10..80).contains(&painted), "{painted} lines");
    harness.get_by_role_and_label(Role::Document, "Preview of JSON").focus();
    harness.run_steps(2);
    harness.key_press(Key::End);
    harness.run_steps(3);
    let painted = harness.state().view.painted();
    assert!((10..80).contains(&painted), "{painted} lines");
}
