//! The findings view and the plan: what they make of findings, and how people meet them.

pub(crate) mod scene;

use std::collections::BTreeSet;
use std::sync::Arc;

use cutaway::analysis::Analysis;
use cutaway::base::{Warning, WarningCode};
use cutaway::findings::{Answer, Findings, Severity, User, Verdict, rules};
use cutaway::gui::dialogs::Pick;
use cutaway::gui::models::findings::{
    ChosenPlan, FindingColumn, FindingDetails, FindingFiles, FindingGroup, FindingRows, FindingSort,
    FindingsModel, ManualBlock, PlanChange, blocks,
};
use cutaway::gui::models::grouped::GroupedRow;
use cutaway::gui::models::layers::LayerItem;
use cutaway::gui::views::{Action, ImageView as _, View};
use cutaway::report::read_plan;
use egui::accesskit::{Role, Toggled};
use egui::{Key, Modifiers};
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT as _, Queryable as _};

use self::scene::{HEADERS, analysis};
use crate::view_stage::{Stage, actions, click, press, selected, settle, tab};

const STATIC: &str = "Static libraries in the CUDA 13.0 toolkit";
const COMPILER: &str = "CUDA compiler";

fn model(analysis: &Analysis) -> FindingsModel {
    FindingsModel::new(analysis).unwrap()
}

fn plan(analysis: &Arc<Analysis>) -> ChosenPlan {
    let mut plan = ChosenPlan::default();
    plan.update(Some(analysis));
    plan
}

fn details(analysis: &Arc<Analysis>, rule: &str) -> FindingDetails {
    let model = model(analysis);
    let place = model.items.iter().position(|item| item.rule == rule).unwrap();
    let details = FindingDetails::new(analysis, &LayerItem::all(analysis, true), place).unwrap();
    FindingDetails { files: FindingFiles::new(analysis, place), ..details }
}

/// Rules of the rows, verdicts in brackets.
fn names(model: &FindingsModel, rows: &FindingRows) -> Vec<String> {
    let name = |row: &GroupedRow| match row {
        GroupedRow::Group(group) => format!("[{}]", rows.groups[*group].group.label()),
        GroupedRow::Item(place) => model.items[*place].rule.to_owned(),
    };
    rows.rows.iter().map(name).collect()
}

fn filtered(model: &FindingsModel, filter: &str) -> Vec<String> {
    let rows = FindingRows::new(&model.items, filter, FindingSort::default(), &BTreeSet::new());
    assert_eq!(rows.error, None, "{filter}");
    names(model, &rows).into_iter().filter(|name| !name.starts_with('[')).collect()
}

#[test]
fn findings_stand_by_verdict_and_saving() {
    let model = model(&analysis());
    let none = BTreeSet::new();
    let rows = FindingRows::new(&model.items, "", FindingSort::default(), &none);
    let all = [
        "[Removable]",
        "static-libraries",
        "package-caches",
        "headers",
        "overwritten",
        "[Problems]",
        "visible-devices",
        "[Needs review]",
        "unused-gpu-code",
        "compilers",
        "[Required at run time]",
        "stubs",
    ];
    assert_eq!(names(&model, &rows), all);
    assert_eq!((rows.groups[0].merged_bytes, rows.groups[0].bytes), (10_308_008, 10_308_008 + (1 << 20)));
    let by_severity = FindingSort::default().clicked(FindingColumn::Severity, true);
    let rows = FindingRows::new(&model.items, "", by_severity, &none);
    let severities: Vec<_> = rows.groups[0].findings.iter().map(|at| model.items[*at].severity).collect();
    assert!(severities.is_sorted(), "{severities:?}");
    let folded = BTreeSet::from([FindingGroup::Removable]);
    let rows = FindingRows::new(&model.items, "", FindingSort::default(), &folded);
    assert_eq!(names(&model, &rows)[..2], ["[Removable]", "[Problems]"]);
    let rows = FindingRows::new(&model.items, "static", FindingSort::default(), &folded);
    assert_eq!(names(&model, &rows), ["[Removable]", "static-libraries"], "what a filter finds is shown");
}

#[test]
fn filters_are_about_all_that_the_list_shows() {
    let model = model(&analysis());
    for (filter, found) in [
        ("toolkit", vec!["static-libraries", "headers"]),
        ("verdict:needs-review", vec!["visible-devices", "unused-gpu-code", "compilers"]),
        ("category:headers", vec!["headers"]),
        ("rule:stub", vec!["stubs"]),
        ("layer:4", vec!["package-caches", "overwritten"]),
        ("size:>2M", vec!["static-libraries", "compilers"]),
        ("Unused verdict:unsure", vec!["unused-gpu-code"]),
        ("nothing", vec![]),
    ] {
        assert_eq!(filtered(&model, filter), found, "{filter}");
    }
    for (filter, message) in [
        ("verdict:maybe", "invalid filter verdict:maybe"),
        ("category:toys", "invalid filter category:toys"),
        ("rule:none", "invalid filter rule:none"),
        ("severity:bad", "invalid filter severity:bad"),
        ("layer:top", "invalid filter layer:top"),
        ("size:lots", "invalid filter size:lots"),
    ] {
        let rows = FindingRows::new(&model.items, filter, FindingSort::default(), &BTreeSet::new());
        assert!(rows.error.unwrap().to_string().starts_with(message), "{filter}");
        assert_eq!(rows.found, model.items.len(), "a filter that is not understood hides nothing");
    }
}

#[test]
fn details_lead_to_the_evidence() {
    let analysis = analysis();
    let compiler = details(&analysis, "compilers");
    let users: Vec<_> = compiler.users.iter().map(|user| (user.kind, user.name.as_str())).collect();
    let used_by = [("", "torch 2.9.1"), ("named in", "/srv/app.py"), ("set in", "ENV CUDA_HOME")];
    assert_eq!(users, used_by);
    assert_eq!(compiler.users[1].raw.as_deref(), Some(&b"/srv/app.py"[..]));
    assert_eq!(compiler.users[2].raw, None);
    let stub = details(&analysis, "stubs");
    assert_eq!(stub.users[0].kind, "loaded by");
    let last = stub.users[0].chain.last().unwrap();
    assert!(last.why.is_some(), "the chain ends at what runs: {:?}", stub.users[0]);
    let headers = details(&analysis, "headers");
    let files = headers.files.unwrap();
    let largest: Vec<&str> = files.places.iter().map(|line| line.shown.as_str()).collect();
    assert_eq!((files.len(), largest), (HEADERS, vec!["/usr/local/cuda-13.0/include/"]));
    let merge = analysis.merge.as_ref().unwrap();
    let (first, last) = (files.line(merge, 0).unwrap(), files.line(merge, HEADERS - 1).unwrap());
    assert_eq!((first.bytes, last.bytes), (2_199, 1_000), "largest first");
    assert_eq!(first.shown, "/usr/local/cuda-13.0/include/header_1199.h");
    assert_eq!(files.line(merge, HEADERS), None);
    assert_eq!((headers.layers[0].layer, headers.layers[0].files), (3, HEADERS as u64));
    let hidden = details(&analysis, "overwritten");
    let largest = &hidden.files.as_ref().unwrap().places[0];
    assert!(largest.hidden && largest.raw == b"/srv/model.bin");
    assert_eq!((hidden.item.merged_bytes, hidden.layers[0].hidden), (0, 1 << 20));
    assert_eq!(details(&analysis, "static-libraries").packages, ["libcublas-13-0 13.1.0.3-1 (dpkg)"]);
}

#[test]
fn a_plan_begins_with_what_is_safe_and_keeps_what_was_changed() {
    let analysis = analysis();
    let mut plan = plan(&analysis);
    let sizes = |plan: &ChosenPlan| {
        let prediction = plan.prediction().unwrap().clone();
        (prediction.chosen, prediction.open, prediction.merged.0 - prediction.merged.1, prediction.lost)
    };
    let safe = (4, 1, 10_308_008, 10_308_008 + (1 << 20));
    assert_eq!(sizes(&plan), safe);
    assert_eq!(plan.prediction().unwrap().sentence(), "4 of 5 selectable findings selected, 1 open question");
    plan.change(PlanChange::Set("compilers:unsure".into(), true));
    plan.change(PlanChange::Set("headers:safe".into(), false));
    for needed in ["stubs:needed", "visible-devices:unsure", "nobody:safe"] {
        plan.change(PlanChange::Set(needed.into(), true));
        assert!(!plan.contains(needed), "{needed}: nothing to gain, or needed");
    }
    let prediction = plan.prediction().unwrap();
    assert_eq!(prediction.sentence(), "4 of 5 selectable findings selected");
    let (now, then) = prediction.pull.unwrap();
    assert!(then < now);
    // Another analysis of the same image: what was changed stays, by id.
    let changed = sizes(&plan);
    plan.update(None);
    assert_eq!(plan.prediction(), None);
    plan.update(Some(&scene::analysis()));
    assert_eq!(sizes(&plan), changed);
    plan.change(PlanChange::Clear);
    assert_eq!(sizes(&plan), (0, 1, 0, 0));
    assert_eq!(plan.prediction().unwrap().sentence(), "0 of 5 selectable findings selected, 1 open question");
    assert_eq!(plan.prediction().unwrap().outcome(), None);
    plan.change(PlanChange::AllSafe);
    assert_eq!(sizes(&plan), safe);
}

#[test]
fn a_plan_can_be_copied_as_text() {
    let analysis = analysis();
    let mut plan = plan(&analysis);
    plan.change(PlanChange::Set("compilers:unsure".into(), true));
    let text = plan.text().unwrap();
    assert!(text.contains("5 findings\nMerged: "), "{text}");
    assert!(text.contains("\n- CUDA compiler: 3.00 MiB in layer 3\n  needs review (compilers)\n"));
    assert!(text.contains("  question: Does the service compile kernels at run time? Answer: not used\n"));
    assert!(!text.contains("stub"));
}

#[test]
fn an_answer_puts_a_finding_in_or_keeps_it_out() {
    let analysis = analysis();
    let mut plan = plan(&analysis);
    let id = "compilers:unsure";
    let answer = |answer| PlanChange::Answer(id.into(), answer);
    assert_eq!(plan.questions().len(), 1);
    let question = plan.question(id).unwrap();
    assert_eq!((question.answer, question.bytes), (None, 3 << 20));
    let revision = plan.revision();
    plan.change(answer(Some(Answer::Used)));
    assert_eq!((plan.contains(id), plan.plan().answer(id)), (false, Some(Answer::Used)));
    assert!(plan.revision() > revision, "what is made of the plan is made again");
    assert_eq!(plan.prediction().unwrap().open, 0);
    plan.change(answer(Some(Answer::Unused)));
    assert_eq!((plan.contains(id), plan.plan().answer(id)), (true, Some(Answer::Unused)));
    plan.change(answer(None));
    assert_eq!((plan.contains(id), plan.plan().answer(id)), (false, None));
    // A tick is an answer too, and taking it away takes the answer back.
    plan.change(PlanChange::Set(id.into(), true));
    assert_eq!(plan.plan().answer(id), Some(Answer::Unused));
    plan.change(PlanChange::Set(id.into(), false));
    assert_eq!(plan.plan().answer(id), None);
    for other in ["headers:safe", "stubs:needed", "nobody:unsure"] {
        plan.change(PlanChange::Answer(other.into(), Some(Answer::Used)));
        assert_eq!(plan.plan().answer(other), None, "{other} asks nothing");
    }
    // That something is used stays true when all else is chosen anew, and for another analysis.
    plan.change(answer(Some(Answer::Used)));
    plan.change(PlanChange::AllSafe);
    plan.update(None);
    plan.update(Some(&scene::analysis()));
    assert_eq!(plan.plan().answer(id), Some(Answer::Used));
    plan.change(answer(Some(Answer::Unused)));
    plan.change(PlanChange::Clear);
    assert!(!plan.contains(id), "no finding is chosen");
}

/// Findings of one image whose questions are about readers: the compiler about two, static libraries about one of them,
/// caches about another one.
fn with_readers() -> Arc<Analysis> {
    scene::with(|merge| {
        let mut findings = scene::findings(merge);
        for finding in &mut findings.list {
            let (app, build) = (("ENV APP", "names gcc"), ("ENV BUILD", "names make"));
            let readers = match finding.rule.id {
                "compilers" => vec![app, build],
                "static-libraries" => vec![build],
                "package-caches" => vec![("ENV UV", "names cc")],
                _ => continue,
            };
            let reader = |(who, why): (&str, &str)| (Some(User::Setting(who.to_owned())), why.to_owned());
            finding.readers = readers.into_iter().map(reader).collect();
            finding.question = Some("Does one of these need the files at run time?".to_owned());
            finding.verdict = Verdict::Unsure;
        }
        findings
    })
}

#[test]
fn a_no_answers_questions_about_the_same_readers_until_it_is_taken_back() {
    let analysis = with_readers();
    let mut plan = plan(&analysis);
    let [compilers, libraries, caches] = ["compilers:unsure", "static-libraries:safe", "package-caches:safe"];
    let answer = |id: &str, answer| PlanChange::Answer(id.into(), answer);
    let answers = |plan: &ChosenPlan| [compilers, libraries, caches].map(|id| plan.plan().answer(id));
    let (yes, no) = (Some(Answer::Used), Some(Answer::Unused));
    let question = plan.question(compilers).unwrap();
    assert_eq!((question.follows, question.also.as_slice()), (false, [STATIC.to_owned()].as_slice()));
    assert!(plan.question(libraries).unwrap().follows);
    assert_eq!(plan.prediction().unwrap().open, 2, "asked once");

    plan.change(answer(compilers, no));
    assert_eq!(answers(&plan), [no, no, None]);
    assert!(plan.contains(libraries) && plan.prediction().unwrap().open == 1);
    plan.change(answer(compilers, yes));
    assert_eq!(answers(&plan), [yes, None, None], "what followed from the no is open again");
    plan.undo();
    assert_eq!(answers(&plan), [no, no, None]);
    plan.change(answer(compilers, None));
    assert_eq!(answers(&plan), [None; 3]);
    // An answer of its own stays, and a tick answers nothing else.
    for own in [yes, no] {
        plan.change(answer(libraries, own));
        plan.change(answer(compilers, no));
        assert_eq!(answers(&plan), [no, own, None]);
        assert!(!plan.question(libraries).unwrap().follows, "it is shown with its answer");
        plan.change(answer(compilers, None));
        assert_eq!(answers(&plan), [None, own, None]);
        plan.change(answer(libraries, None));
    }
    plan.change(PlanChange::Set(compilers.into(), true));
    assert_eq!(answers(&plan), [no, None, None]);
    let ticked = plan.question(compilers).unwrap();
    assert_eq!((ticked.answer, ticked.is_selected, ticked.is_own), (None, true, false), "not for the others");
    assert_eq!(ticked.also, [STATIC], "what a no would answer, too");
    // A finding that follows is taken out: it is used.
    plan.change(answer(compilers, no));
    assert!(!plan.question(libraries).unwrap().is_own);
    plan.change(PlanChange::Set(libraries.into(), false));
    assert_eq!(answers(&plan), [no, yes, None]);
    plan.change(answer(libraries, None));
    plan.change(PlanChange::Set(compilers.into(), false));
    assert_eq!(answers(&plan), [None; 3], "nothing follows from an answer that was taken back");
}

#[test]
fn what_rests_on_another_finding_leaves_the_plan_with_it() {
    let analysis = scene::with(|merge| {
        let mut findings = scene::findings(merge);
        let headers = findings.list.iter_mut().find(|one| one.id == "headers:safe").unwrap();
        headers.rests_on = vec!["static-libraries:safe".into()];
        findings
    });
    let mut plan = plan(&analysis);
    assert!(plan.contains("headers:safe") && plan.blocking_cause("headers:safe").is_none());
    plan.change(PlanChange::Set("static-libraries:safe".into(), false));
    assert!(!plan.contains("headers:safe"));
    assert_eq!(plan.blocking_cause("headers:safe").as_deref(), Some(STATIC));
    plan.change(PlanChange::Set("static-libraries:safe".into(), true));
    assert!(plan.contains("headers:safe"));
    let mut harness = show(analysis, View::Findings, true);
    click(&mut harness, Role::CheckBox, &format!("{STATIC} in the plan"));
    harness.state_mut().views.findings.select("headers:safe");
    harness.run();
    let node = harness.get_by_role_and_label(Role::CheckBox, "In the plan");
    assert!(node.accesskit_node().is_disabled());
    harness.get_by_label("2 of 5 selectable findings selected, 1 open question");
}

#[test]
fn a_saved_plan_is_read_again() {
    let analysis = analysis();
    let mut saved = plan(&analysis);
    saved.change(PlanChange::Set("headers:safe".into(), false));
    saved.change(PlanChange::Answer("compilers:unsure".into(), Some(Answer::Unused)));
    let document = saved.document().unwrap();
    assert!(document.contains("\"schema\": \"cutaway.plan/1\""), "{document}");
    let read = || read_plan(document.as_bytes()).unwrap();
    let mut other = plan(&analysis);
    let loaded = other.load(read()).unwrap();
    assert_eq!((loaded.findings, loaded.answers, loaded.foreign), (4, 1, false));
    assert_eq!(other.plan(), saved.plan());
    assert_eq!(other.document().unwrap(), document);
    // What does not fit leaves the plan as it is.
    let mut odd = read();
    odd.findings[0].title = Some("Toys".into());
    let before = other.plan().clone();
    let why = other.load(odd).unwrap_err();
    assert!(why.starts_with("findings[0]: finding static-libraries:safe is now "), "{why}");
    assert_eq!(other.plan(), &before);
    let mut foreign = read();
    (foreign.manifest_digest, foreign.config_digest) = (Some("sha256:0".into()), Some("sha256:0".into()));
    let mut of_other = Analysis::clone(&analysis);
    let image = Arc::make_mut(&mut of_other.image);
    image.manifest_digest = Some("sha256:1".into());
    let mut third = plan(&Arc::new(of_other));
    assert!(third.load(foreign).unwrap().foreign);
}

#[test]
fn every_page_of_the_manual_can_be_laid_out() {
    for rule in rules() {
        let blocks = blocks(rule.page);
        let heads = blocks.iter().filter(|block| matches!(block, ManualBlock::Heading(_))).count();
        assert_eq!(heads, 6, "{}", rule.id);
        for block in &blocks {
            if let ManualBlock::Text(spans) | ManualBlock::Point(spans) = block {
                let odd = spans.iter().find(|span| span.text.contains("```") || span.text.contains("**"));
                assert_eq!(odd, None, "{}: not laid out", rule.id);
            }
        }
    }
}

fn show(analysis: Arc<Analysis>, view: View, done: bool) -> Harness<'static, Stage> {
    Stage { plan: plan(&analysis), done, plans: true, ..Stage::new(analysis, view) }.show([1300.0, 900.0])
}

fn in_plan(harness: &Harness<'_, Stage>, title: &str) -> bool {
    let name = format!("{title} in the plan");
    let node = harness.get_by_role_and_label(Role::CheckBox, &name);
    node.accesskit_node().toggled() == Some(Toggled::True)
}

#[test]
fn the_list_is_walked_and_chosen_by_keys() {
    let mut harness = show(analysis(), View::Findings, true);
    assert!(selected(&harness).starts_with(STATIC), "the first one, where there is room for its details");
    harness.get_by_label("4 of 5 selectable findings selected, 1 open question");
    let row = harness.get_all_by_role(Role::Row).nth(1).unwrap();
    row.click();
    harness.run();
    assert!(in_plan(&harness, STATIC));
    press(&mut harness, &[Key::Space]);
    assert!(!in_plan(&harness, STATIC));
    harness.get_by_label("3 of 5 selectable findings selected, 1 open question");
    press(&mut harness, &[Key::J, Key::ArrowDown, Key::K]);
    assert!(selected(&harness).starts_with("pip download cache in /root/.cache/pip"));
    press(&mut harness, &[Key::End, Key::Space]);
    assert!(selected(&harness).starts_with("Stub library, linked by a used library"));
    harness.get_by_label("3 of 5 selectable findings selected, 1 open question");
    press(&mut harness, &[Key::Enter]);
    assert!(harness.get_by_role_and_label(Role::Tab, "Reasons").is_focused(), "Enter goes to the details");
    press(&mut harness, &[Key::Escape, Key::Home]);
    press(&mut harness, &[Key::ArrowLeft]);
    assert_eq!(harness.get_all_by_role(Role::Row).count(), 8 + 4 - 4, "the first verdict is shut");
    press(&mut harness, &[Key::ArrowRight, Key::End, Key::Escape]);
    assert_eq!(selected(&harness), "");
}

#[test]
fn boxes_and_buttons_change_the_plan_at_once() {
    let mut harness = show(analysis(), View::Findings, true);
    let unpacked = |harness: &Harness<'_, Stage>| {
        let mut groups =
            harness.get_all_by_role(Role::Group).filter_map(|node| node.accesskit_node().label());
        groups.find(|label| label.starts_with("Merged: ")).unwrap()
    };
    let first = unpacked(&harness);
    click(&mut harness, Role::CheckBox, &format!("{COMPILER} in the plan"));
    assert!(selected(&harness).starts_with(COMPILER));
    harness.get_by_label("5 of 5 selectable findings selected");
    assert_ne!(unpacked(&harness), first);
    click(&mut harness, Role::CheckBox, "In the plan");
    assert_eq!(unpacked(&harness), first);
    click(&mut harness, Role::Button, "None");
    harness.get_by_label("0 of 5 selectable findings selected, 1 open question");
    click(&mut harness, Role::Button, "All removable");
    assert_eq!(unpacked(&harness), first);
    let boxes = harness.get_all_by_role(Role::CheckBox);
    let boxes = boxes.filter_map(|node| node.accesskit_node().label());
    assert_eq!(boxes.filter(|label| label.ends_with(" in the plan")).count(), 5, "where something is gained");
}

#[test]
fn a_question_is_answered_where_it_is_asked() {
    let mut harness = show(analysis(), View::Findings, true);
    harness.state_mut().views.findings.select("compilers:unsure");
    harness.run();
    let (used, unused) = (format!("Yes (keep): {COMPILER}"), format!("No (remove): {COMPILER}"));
    let undo = format!("Undo answer: {COMPILER}");
    let is_on = |harness: &Harness<'_, Stage>, name: &str| {
        harness.get_by_role_and_label(Role::RadioButton, name).accesskit_node().toggled()
            == Some(Toggled::True)
    };
    assert!(!is_on(&harness, &used) && !is_on(&harness, &unused));
    assert!(harness.query_by_label(&undo).is_none());
    click(&mut harness, Role::RadioButton, &unused);
    assert!(is_on(&harness, &unused) && in_plan(&harness, COMPILER));
    harness.get_by_label("5 of 5 selectable findings selected");
    click(&mut harness, Role::RadioButton, &used);
    assert!(is_on(&harness, &used) && !is_on(&harness, &unused) && !in_plan(&harness, COMPILER));
    harness.get_by_label("4 of 5 selectable findings selected");
    click(&mut harness, Role::Link, &undo);
    assert!(!is_on(&harness, &used) && !is_on(&harness, &unused));
    harness.get_by_label("4 of 5 selectable findings selected, 1 open question");
    // By keys.
    harness.get_by_role_and_label(Role::RadioButton, &used).focus();
    harness.run();
    press(&mut harness, &[Key::Tab]);
    assert!(harness.get_by_role_and_label(Role::RadioButton, &unused).is_focused());
    press(&mut harness, &[Key::Space]);
    assert!(is_on(&harness, &unused) && in_plan(&harness, COMPILER));
    // The tick is the same answer.
    click(&mut harness, Role::CheckBox, "In the plan");
    assert!(!is_on(&harness, &unused) && !in_plan(&harness, COMPILER));
}

#[test]
fn a_plan_is_saved_and_opened() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("plan.json").to_str().unwrap().to_owned();
    let mut harness = show(analysis(), View::Findings, true);
    harness.state_mut().plan.change(PlanChange::Set("headers:safe".into(), false));
    harness.state_mut().views.findings.ask_where_plan();
    harness.run();
    let types = |harness: &mut Harness<'static, Stage>, field: &str, text: &str| {
        let node = harness.get_by_role_and_label(Role::TextInput, field);
        assert!(node.is_focused(), "{field}");
        harness.key_press_modifiers(Modifiers::COMMAND, Key::A);
        harness.run_steps(2);
        harness.get_by_role_and_label(Role::TextInput, field).type_text(text);
        harness.run_steps(2);
        press(harness, &[Key::Enter]);
        let begun = std::time::Instant::now();
        while harness.state().views.findings.is_busy() {
            assert!(begun.elapsed() < std::time::Duration::from_mins(1), "it does not end");
            std::thread::sleep(std::time::Duration::from_millis(2));
            harness.run_steps(1);
        }
        harness.run_steps(4);
    };
    types(&mut harness, "Save plan as", &path);
    harness.get_by_label(&format!("Plan saved to {path}"));
    let saved = std::fs::read(&path).unwrap();
    assert_eq!(read_plan(&saved).unwrap().findings.len(), 3);
    // A file that exists is replaced by the button alone.
    harness.state_mut().views.findings.ask_where_plan();
    harness.run();
    types(&mut harness, "Save plan as", &path);
    harness.get_by_label(&format!("File already exists: {path}"));
    harness.get_by_label("Replace");
    harness.state_mut().plan.change(PlanChange::Clear);
    harness.state_mut().views.findings.ask_for_plan();
    harness.run();
    types(&mut harness, "Open plan", &format!("{path}.no"));
    harness.get_by_label_contains("Cannot read plan plan.json.no: ");
    let told = actions(&mut harness);
    assert!(matches!(told.as_slice(), [Action::Report(why)] if why.contains("plan.json.no")), "{told:?}");
    types(&mut harness, "Open plan", &path);
    harness.get_by_label("Plan plan.json opened: 3 findings, 0 answers");
    harness.get_by_label("3 of 5 selectable findings selected, 1 open question");
    harness.state_mut().views.findings.ask_for_plan();
    harness.run();
    click(&mut harness, Role::Button, "Browse…");
    assert_eq!(actions(&mut harness), [Action::Pick(Pick::Plan)]);
    harness.state_mut().views.findings.dialog_failed("File dialogs are not available on this desktop");
    harness.run();
    harness.get_by_label("File dialogs are not available on this desktop; enter the path instead");
}

#[test]
fn evidence_is_one_click_away() {
    let mut harness = show(analysis(), View::Findings, true);
    harness.state_mut().views.findings.select("compilers:unsure");
    harness.run();
    harness.get_by_label("Does the service compile kernels at run time?");
    click(&mut harness, Role::Link, "/srv/app.py");
    click(&mut harness, Role::Link, "Layer 3");
    click(&mut harness, Role::Link, "/usr/local/cuda-13.0/bin/nvcc");
    let nvcc = Action::SelectPath(b"/usr/local/cuda-13.0/bin/nvcc".to_vec());
    let wanted = [Action::SelectPath(b"/srv/app.py".to_vec()), Action::SelectLayer(3), nvcc];
    assert_eq!(actions(&mut harness), wanted);
    harness.state_mut().views.findings.select("overwritten:safe");
    harness.run();
    click(&mut harness, Role::Link, "/srv/model.bin");
    let wanted = [Action::SelectLayer(4), Action::SelectPath(b"/srv/model.bin".to_vec())];
    assert_eq!(actions(&mut harness), wanted, "a hidden file is to be seen in its own layer");
    click(&mut harness, Role::Tab, "Manual");
    harness.get_by_label("Why it matters");
}

#[test]
fn only_files_in_sight_are_made() {
    let mut harness = show(analysis(), View::Findings, true);
    harness.state_mut().views.findings.select("headers:safe");
    harness.run();
    click(&mut harness, Role::Link, "All 1,200 files");
    let (_, files) = harness.state().views.findings.painted_rows();
    assert!((10..60).contains(&files), "{files}");
    let row = "/usr/local/cuda-13.0/include/header_1199.h, 2.15 KiB, layer 3";
    click(&mut harness, Role::Row, row);
    harness.get_by_label("Copy path").click();
    harness.run();
    click(&mut harness, Role::Row, row);
    press(&mut harness, &[Key::J, Key::Enter]);
    let path = |number: usize| format!("/usr/local/cuda-13.0/include/header_{number:04}.h");
    let wanted = [Action::CopyText(path(1_199)), Action::SelectPath(path(1_198).into_bytes())];
    assert_eq!(actions(&mut harness), wanted);
    tab(&mut harness, "Reasons");
    assert_eq!(harness.state().views.findings.painted_rows().1, 0);
}

#[test]
fn a_file_of_several_findings_has_one_severity() {
    let whole = analysis();
    let mut findings = Findings::clone(whole.findings.as_deref().unwrap());
    let headers = findings.list.iter().position(|finding| finding.id == "headers:safe").unwrap();
    let shared = findings.list[headers].items[HEADERS - 1];
    findings.list[headers].severity = Severity::Low;
    let other = findings.list.iter().position(|finding| finding.rule.id == "compilers").unwrap();
    findings.list[other].severity = Severity::High;
    findings.list[other].items.push(shared);
    let all = findings.by_file().get(shared.layer, shared.entry).unwrap();
    assert_eq!((all.severity, all.verdict, all.count), (Severity::High, Verdict::Unsure, 2));
    assert_eq!(findings.together(["headers:safe", "compilers:unsure"].into_iter()), Some(all));
    let counted: usize = findings.by_file().all().map(|file| usize::from(file.count)).sum();
    assert_eq!(counted, findings.list.iter().map(|finding| finding.items.len()).sum::<usize>());

    let mut overlapping = Analysis::clone(&whole);
    overlapping.findings = Some(Arc::new(findings));
    let overlapping = Arc::new(overlapping);
    let merge = overlapping.merge.as_ref().unwrap();
    for rule in ["headers", "compilers"] {
        let files = details(&overlapping, rule).files.unwrap();
        let mut lines = (0..files.len()).filter_map(|row| files.line(merge, row));
        assert!(lines.any(|line| line.all == Some(all)), "{rule}");
    }
    let mut harness = show(overlapping, View::Findings, true);
    harness.state_mut().views.findings.select("headers:safe");
    harness.run();
    click(&mut harness, Role::Link, "All 1,200 files");
    let row = "header_1199.h, 2.15 KiB, layer 3, high severity, in 2 findings";
    harness.get_by_label_contains(row);
}

/// Found with a million files: the first frame of a finding put all of its files in order and took 21 ms.
#[test]
fn the_files_of_a_large_finding_are_ordered_beside_the_window() {
    const FILES: usize = 400_000;
    let whole = analysis();
    let mut findings = Findings::clone(whole.findings.as_ref().unwrap());
    let headers = findings.list.iter().position(|finding| finding.rule.id == "headers").unwrap();
    let items = &mut findings.list[headers].items;
    *items = items.iter().copied().cycle().take(FILES).collect();
    let mut large = Analysis::clone(&whole);
    large.findings = Some(Arc::new(findings));
    let mut harness = show(Arc::new(large), View::Findings, true);
    harness.state_mut().views.findings.select("headers:safe");
    let frame = allocation_counter::measure(|| harness.step());
    assert!(frame.bytes_total < 4 * FILES as u64, "{} bytes in the frame", frame.bytes_total);
    harness.get_by_label("Files  400,000");
    settle(&mut harness);
    harness.get_by_role_and_label(Role::Link, "All 400,000 files");
}

#[test]
fn the_search_field_filters() {
    let mut harness = show(analysis(), View::Findings, true);
    harness.state_mut().views.findings.focus_search();
    harness.run();
    let field = harness.get_by_role_and_label(Role::SearchInput, "Filter findings");
    assert!(field.is_focused());
    field.type_text("verdict:required");
    harness.run();
    harness.get_by_label("1 of 8 findings matches, 8 B");
    harness.state_mut().views.findings.select("compilers:unsure");
    harness.run();
    assert_eq!(harness.get_all_by_role(Role::Row).count(), 12, "what is asked for is to be seen");
}

#[test]
fn what_is_not_known_yet_is_said() {
    let whole = analysis();
    let mut before = Analysis::clone(&whole);
    before.findings = None;
    let before = Arc::new(before);
    let mut harness = show(Arc::clone(&before), View::Findings, false);
    harness.get_by_label("Waiting for findings");
    harness.get_by_label("Rules are running.");
    harness.state_mut().views.findings.select("headers:safe");
    harness.state_mut().plan.update(Some(&whole));
    harness.state_mut().analysis = whole;
    harness.state_mut().generation = 2;
    harness.run();
    assert!(selected(&harness).starts_with("Headers in the CUDA 13.0 toolkit"), "chosen before it was known");
    let harness = show(before, View::Findings, true);
    harness.get_by_label("Findings unknown");
    let harness = show(scene::with(|_| Findings::default()), View::Findings, true);
    harness.get_by_label("No findings");
    harness.get_by_label_contains(&format!("{} rules checked ", rules().len()));
    let failed = |_: &_| {
        let warnings = vec![Warning::new(WarningCode::FactsLimited, "findings", "looking failed")];
        Findings { warnings, ..Findings::default() }
    };
    let harness = show(scene::with(failed), View::Findings, true);
    harness.get_by_label("Cannot show findings");
    harness.get_by_label("looking failed");
}

#[test]
fn the_overview_leads_to_the_largest_savings() {
    let mut harness = show(analysis(), View::Overview, true);
    harness.get_by_label_contains("After removal of 4 selected findings: ");
    // What only a slim image is without is the largest.
    harness.get_by_label_contains(", 800 MiB, By slim");
    click(&mut harness, Role::Link, &format!("{STATIC}, 6.00 MiB, Removable, in the plan"));
    click(&mut harness, Role::Link, &format!("{COMPILER}, 3.00 MiB, Needs review"));
    click(&mut harness, Role::Link, "All 8 findings (5 selectable)");
    let id = |id: &str| Action::SelectFinding(id.to_owned());
    let wanted = [id("static-libraries:safe"), id("compilers:unsure"), Action::ShowView(View::Findings)];
    assert_eq!(actions(&mut harness), wanted);
    let harness = show(scene::with(|_| Findings::default()), View::Overview, true);
    harness.get_by_label("No removable content found.");
}
