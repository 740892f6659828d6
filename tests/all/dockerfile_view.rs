//! The Dockerfile view: what it makes of two texts, and how people meet proposals.

pub(crate) mod scene;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use cutaway::analysis::Analysis;
use cutaway::gui::models::dockerfile::{
    Aligned, AlignedRow, DockerfileModel, LineChange, Proposer, SaveKind, is_dockerfile, named_dockerfile,
};
use cutaway::gui::models::findings::PlanChange;
use cutaway::gui::views::dockerfile::DockerfileView;
use cutaway::gui::views::{Action, Command, View};
use cutaway::rewrite::Origin;
use egui::Key;
use egui::accesskit::{Role, Toggled};
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT as _, Queryable as _};

use self::scene::{MINIMAL, ORIGINAL, none, proposal, proposals, proposer, reason, recipe};
use crate::findings_view::scene::analysis;
use crate::view_stage::{Stage, actions, click, press, settle, tab};

const REBUILT: &str = "Reconstructed from image history";
const MINIMAL_TITLE: &str =
    "Multi-stage: run on nvidia/cuda:13.0.1-base-ubuntu24.04, Needs review, saves 14.0 MiB of content";
const TIDY_TITLE: &str = "Clean up instructions, keep the stages, Safe, saves 2.00 MiB of content";

/// Rows as signs and line numbers: `1=1`, `2~2`, `3−`, `+3`.
fn shape(aligned: &Aligned) -> Vec<String> {
    let row = |row: &AlignedRow| match (&row.left, &row.right) {
        (Some(left), Some(right)) if left.change == LineChange::Same => {
            format!("{}={}", left.number, right.number)
        }
        (Some(left), Some(right)) if left.change == LineChange::Changed => {
            format!("{}~{}", left.number, right.number)
        }
        (left, right) => {
            let left = left.as_ref().map(|line| format!("{}{}", line.number, line.change.sign()));
            let right = right.as_ref().map(|line| format!("{}{}", line.change.sign(), line.number));
            left.unwrap_or_default() + &right.unwrap_or_default()
        }
    };
    aligned.rows.iter().map(row).collect()
}

#[test]
fn lines_that_belong_together_stand_in_one_row() {
    let before = "FROM team/a:devel\nRUN one two three\nRUN x\nCOPY . .\n";
    let after = "FROM team/a:runtime AS me\nRUN one two\nCOPY . .\nUSER me\n";
    let reasons = [
        reason(1, 1, "smaller", None),
        reason(2, 0, "x is not needed", None),
        reason(4, 1, "nobody is root", None),
    ];
    let aligned = Aligned::new(before, after, &reasons);
    assert_eq!(shape(&aligned), ["1~1", "2~2", "3−", "4=3", "+4"]);
    assert_eq!((aligned.added, aligned.removed, aligned.changed), (1, 1, 2));
    assert_eq!(aligned.changes, [0, 4]);
    assert_eq!(aligned.reason_rows, [0, 2, 4]);
    let reasons: Vec<_> = aligned.rows.iter().map(|row| row.reasons.clone()).collect();
    assert_eq!(
        reasons,
        [vec![0], vec![0], vec![1], vec![], vec![2]],
        "a row without one has its neighbour's"
    );
    let strong = |line: &cutaway::gui::models::dockerfile::DockerfileLine| -> Vec<String> {
        line.differs.iter().map(|range| line.text[range.clone()].to_owned()).collect()
    };
    let (left, right) = (aligned.rows[0].left.as_ref().unwrap(), aligned.rows[0].right.as_ref().unwrap());
    assert_eq!(
        (strong(left), strong(right)),
        (vec!["devel".to_owned()], vec!["runtime".to_owned(), "AS me".to_owned()])
    );
    assert_eq!(aligned.rows[2].spoken(), "line 3 removed: RUN x");
    assert_eq!(aligned.rows[3].spoken(), "line 3: COPY . .");
}

#[test]
fn texts_with_nothing_in_common_and_odd_ones_are_shown() {
    let aligned = Aligned::new("alpha\nbeta\n", "one\ntwo\nthree\n", &[]);
    assert_eq!(shape(&aligned), ["1−+1", "2−+2", "+3"]);
    assert_eq!(Aligned::new("", "", &[reason(1, 1, "nothing", None)]).reason_rows, [0]);
    assert_eq!(shape(&Aligned::new("", "one", &[reason(9, 4, "far", None)])), ["+1"]);
    let odd = Aligned::whole("\u{feff}\tRUN\ttrue\r\nRUN \u{202e}evil\u{7}\n");
    let text = |row: usize| odd.rows[row].left.as_ref().unwrap().text.clone();
    assert_eq!(text(0), "    RUN true");
    assert_eq!(text(1), "RUN \\xe2\\x80\\xaeevil\\x07");
    let long = Aligned::whole(&"x".repeat(3_000));
    assert!(long.rows[0].left.as_ref().unwrap().text.ends_with(" … and 1000 more characters"));
    assert!(Aligned::whole(&"\n".repeat(60_000)).cut);
    // The same both ways, and every line once.
    let (left, right) = (ORIGINAL, MINIMAL);
    let aligned = Aligned::new(left, right, &[]);
    let numbers =
        |side: fn(&AlignedRow) -> Option<u32>| aligned.rows.iter().filter_map(side).collect::<Vec<_>>();
    let all = |text: &str| (1..=u32::try_from(text.lines().count()).unwrap()).collect::<Vec<_>>();
    assert_eq!(numbers(|row| row.left.as_ref().map(|line| line.number)), all(left));
    assert_eq!(numbers(|row| row.right.as_ref().map(|line| line.number)), all(right));
}

#[test]
fn dockerfiles_are_known_by_name_or_content() {
    for (name, is) in [
        ("Dockerfile", true),
        ("dockerfile.dev", true),
        ("gpu.Dockerfile", true),
        ("Containerfile", true),
        ("image.tar", false),
        ("Dockerfiles", false),
    ] {
        assert_eq!(named_dockerfile(Path::new(name)), is, "{name}");
    }
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    };
    assert!(is_dockerfile(&write("build", ORIGINAL.as_bytes())));
    assert!(!is_dockerfile(&write("image.tar", &[0; 1_024])));
    assert!(!is_dockerfile(folder.path()));
    assert!(is_dockerfile(&write("Dockerfile", b"FORM typo")), "its faults are to be seen");
}

fn show(analysis: Arc<Analysis>, proposer: Proposer) -> Harness<'static, Stage> {
    let mut harness = begin(analysis, proposer, [1300.0, 860.0]);
    settle(&mut harness);
    harness
}

fn begin(analysis: Arc<Analysis>, proposer: Proposer, size: [f32; 2]) -> Harness<'static, Stage> {
    let mut stage = Stage::new(analysis, View::Dockerfile);
    stage.views.dockerfile = DockerfileView::with(proposer);
    stage.begin(size)
}

fn row(harness: &Harness<'_, Stage>) -> Option<usize> {
    harness.state().views.dockerfile.row()
}

fn rows(model: &DockerfileModel) -> &[AlignedRow] {
    &model.proposals[0].aligned.rows
}

#[test]
fn the_original_stands_beside_the_proposal() {
    let mut harness = show(analysis(), proposer());
    harness.get_by_label(REBUILT);
    harness.get_by_label("Proposal");
    harness.get_by_role_and_label(Role::Grid, "Dockerfile and proposal");
    harness.get_by_label_contains("base image nvidia/cuda:13.0.1-base-ubuntu24.04");
    assert_eq!(row(&harness), Some(0), "the first change, so that its reason is seen");
    harness.get_by_label("Names the build stage: the final stage copies from it");
    let first = "line 1 changed: FROM nvidia/cuda:13.0.1-devel-ubuntu24.04 AS build; \
                 was line 1: FROM nvidia/cuda:13.0.1-devel-ubuntu24.04. \
                 Why: Names the build stage: the final stage copies from it";
    let node = harness.get_by_role_and_label(Role::Row, first);
    assert_eq!(node.accesskit_node().is_selected(), Some(true));
    let model = harness.state().views.dockerfile.model().unwrap().clone();
    for row in rows(&model) {
        assert!(!row.is_changed() || !row.reasons.is_empty(), "no reason: {}", row.spoken());
    }
    let option = |harness: &Harness<'_, Stage>, title: &str| {
        harness.get_by_role_and_label(Role::RadioButton, title).accesskit_node().toggled()
    };
    assert_eq!(option(&harness, MINIMAL_TITLE), Some(Toggled::True));
    click(&mut harness, Role::RadioButton, TIDY_TITLE);
    assert_eq!(option(&harness, TIDY_TITLE), Some(Toggled::True));
    harness.get_by_label_contains(", unchanged");
    harness.get_by_role_and_label(Role::RadioButton, TIDY_TITLE).focus();
    press(&mut harness, &[Key::ArrowRight]);
    assert_eq!(option(&harness, MINIMAL_TITLE), Some(Toggled::True), "arrows go around");
}

#[test]
fn changes_are_walked_by_keys() {
    let mut harness = show(analysis(), proposer());
    let changes = harness.state().views.dockerfile.chosen().unwrap().aligned.changes.clone();
    assert!(changes.len() >= 4, "{changes:?}");
    harness.get_by_role_and_label(Role::Grid, "Dockerfile and proposal").focus();
    press(&mut harness, &[Key::N]);
    assert_eq!(row(&harness), Some(changes[1]));
    press(&mut harness, &[Key::J, Key::ArrowDown, Key::K]);
    assert_eq!(row(&harness), Some(changes[1] + 1));
    harness.key_press_modifiers(egui::Modifiers::SHIFT, Key::N);
    harness.run_steps(3);
    assert_eq!(row(&harness), Some(changes[1]));
    press(&mut harness, &[Key::Home]);
    harness.key_press_modifiers(egui::Modifiers::SHIFT, Key::N);
    harness.run_steps(3);
    assert_eq!(row(&harness), changes.last().copied(), "around the ends");
    press(&mut harness, &[Key::Enter]);
    assert!(harness.get_by_role_and_label(Role::Tab, "Changes  7").is_focused());
    press(&mut harness, &[Key::Escape, Key::Home]);
    assert_eq!(row(&harness), Some(0), "Escape goes back to the texts");
    press(&mut harness, &[Key::Escape]);
    assert_eq!(row(&harness), None);
    harness.get_by_label("Select a line to see why it changes.");
    // The list of reasons leads to the lines.
    let reason = "line after 13: curl and vim are unused at run time (Safe, saves 63.0 MiB of content)";
    click(&mut harness, Role::Row, reason);
    let chosen = row(&harness).unwrap();
    let model = harness.state().views.dockerfile.model().unwrap();
    assert_eq!(rows(model)[chosen].left.as_ref().unwrap().text, "RUN apt-get install -y curl vim");
    press(&mut harness, &[Key::ArrowDown]);
    assert_eq!(row(&harness), Some(chosen), "two reasons of one row");
    press(&mut harness, &[Key::ArrowDown]);
    let model = harness.state().views.dockerfile.model().unwrap();
    let package = &rows(model)[row(&harness).unwrap()].right.as_ref().unwrap();
    assert_eq!(package.number, 19);
}

#[test]
fn pages_say_what_the_image_is_then_and_what_is_not_proven() {
    let mut harness = show(analysis(), proposer());
    click(&mut harness, Role::Tab, "Image");
    for words in ["Content", "build", "final stage", "from nvidia/cuda:13.0.1-base-ubuntu24.04", "24.0 MiB"] {
        assert!(harness.query_all_by_label(words).next().is_some(), "{words}");
    }
    click(&mut harness, Role::Tab, "Proof  2");
    harness.get_by_label("All library links still resolve (1,902 links of 214 ELF files).");
    harness.get_by_label("pip installs the same versions again: requirements.txt pins none");
    harness.get_by_label("libcublas.so.13: torch 2.9.1 loads it");
    click(&mut harness, Role::Link, "Line 12");
    let chosen = row(&harness).unwrap();
    let model = harness.state().views.dockerfile.model().unwrap();
    assert_eq!(rows(model)[chosen].left.as_ref().unwrap().number, 12);
    click(&mut harness, Role::Tab, "Hints  1");
    click(&mut harness, Role::Button, "Copy lines for .dockerignore");
    assert_eq!(actions(&mut harness), [Action::CopyText(".git\n**/__pycache__\ntests/\n".into())]);
    click(&mut harness, Role::Tab, "Removed");
    harness.get_by_label_contains("1,202 files, ");
    assert!(harness.get_all_by_role(Role::Row).count() < 120, "rows in sight only");
    click(&mut harness, Role::Button, "Show in Findings");
    let static_library = "/usr/local/cuda-13.0/targets/x86_64-linux/lib/libcublas_static.a, 6.00 MiB, ";
    harness.get_by_label_contains(static_library).click();
    harness.run_steps(3);
    click(&mut harness, Role::Button, "Show in Findings");
    let wanted = [Action::ShowView(View::Findings), Action::SelectFinding("static-libraries:safe".into())];
    assert_eq!(actions(&mut harness), wanted);
}

#[test]
fn buttons_run_commands_of_the_window() {
    let mut harness = show(analysis(), proposer());
    for name in ["Copy Dockerfile", "Save Dockerfile as…", "Save patch as…", "Open Dockerfile…"] {
        click(&mut harness, Role::Button, name);
    }
    let commands =
        [Command::CopyDockerfile, Command::SaveDockerfile, Command::SavePatch, Command::OpenDockerfile];
    assert_eq!(actions(&mut harness), commands.map(Action::Run));
    assert!(harness.query_by_role_and_label(Role::Button, "Close Dockerfile").is_none());
    let view = &harness.state().views.dockerfile;
    assert_eq!(view.text(SaveKind::Dockerfile).as_deref(), Some(MINIMAL));
    assert!(view.text(SaveKind::Patch).unwrap().starts_with("--- Dockerfile\n"));
}

fn folder_with(name: &str, text: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, text).unwrap();
    (folder, path)
}

#[test]
fn a_proposal_is_saved_where_it_is_typed_and_replaces_nothing_unasked() {
    let (folder, given) = folder_with("Dockerfile", ORIGINAL);
    let mut harness = show(analysis(), proposer());
    harness.state_mut().views.dockerfile.open(given.clone());
    settle(&mut harness);
    harness.get_by_label("Your Dockerfile: Dockerfile");
    harness.state_mut().views.dockerfile.ask_where(SaveKind::Dockerfile);
    settle(&mut harness);
    assert!(harness.get_by_role_and_label(Role::TextInput, "Save proposal as").is_focused());
    press(&mut harness, &[Key::Enter]);
    settle(&mut harness);
    let saved = folder.path().join("Dockerfile.minimal");
    assert_eq!(std::fs::read_to_string(&saved).unwrap(), MINIMAL);
    harness.get_by_label_contains("Proposed Dockerfile saved to ");
    harness.state_mut().views.dockerfile.ask_where(SaveKind::Dockerfile);
    settle(&mut harness);
    std::fs::write(&saved, "mine").unwrap();
    press(&mut harness, &[Key::Enter]);
    settle(&mut harness);
    harness.get_by_label_contains("File already exists: ");
    assert_eq!(std::fs::read_to_string(&saved).unwrap(), "mine");
    click(&mut harness, Role::Button, "Replace");
    settle(&mut harness);
    assert_eq!(std::fs::read_to_string(&saved).unwrap(), MINIMAL);
    harness.state_mut().views.dockerfile.ask_where(SaveKind::Patch);
    settle(&mut harness);
    harness.event(egui::Event::Text("/none/".into()));
    press(&mut harness, &[Key::Enter]);
    settle(&mut harness);
    assert!(matches!(&actions(&mut harness)[..], [Action::Report(why)] if why.starts_with("Cannot save ")));
    harness.get_by_label_contains("Cannot save ");
    click(&mut harness, Role::Button, "Browse…");
    assert!(matches!(actions(&mut harness)[..], [Action::Pick(_)]));
    click(&mut harness, Role::Button, "Close field");
    assert!(harness.query_by_label_contains("Cannot save ").is_none());
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2, "no file is left behind");
}

#[test]
fn a_file_with_faults_is_shown_with_its_place_and_the_result_before_stays() {
    let (_folder, path) = folder_with("Dockerfile", "FROM a\nFORM b\n");
    let mut harness = show(analysis(), proposer());
    harness.state_mut().views.dockerfile.ask_for_file();
    harness.run_steps(3);
    harness.event(egui::Event::Text(path.to_str().unwrap().into()));
    press(&mut harness, &[Key::Enter]);
    settle(&mut harness);
    harness.get_by_label("Dockerfile is not a Dockerfile");
    harness.get_by_label_contains("Line 2, column 1");
    harness.get_by_label("2 FORM b");
    harness.get_by_label(REBUILT);
    std::fs::write(&path, "FROM scratch\n").unwrap();
    click(&mut harness, Role::Button, "Try again");
    settle(&mut harness);
    harness.get_by_label("Dockerfile does not match this image");
    harness.get_by_label_contains("reconstructed from the image history");
    std::fs::write(&path, ORIGINAL).unwrap();
    click(&mut harness, Role::Button, "Try again");
    settle(&mut harness);
    harness.get_by_label("Your Dockerfile: Dockerfile");
    assert!(harness.query_by_label("Try again").is_none());
    std::fs::remove_file(&path).unwrap();
    harness.state_mut().views.dockerfile.open(path);
    settle(&mut harness);
    harness.get_by_label("Cannot read Dockerfile");
    harness.get_by_label("Your Dockerfile: Dockerfile");
    harness.state_mut().views.dockerfile.forget();
    settle(&mut harness);
    harness.get_by_label(REBUILT);
    assert_eq!(harness.state().views.dockerfile.given(), None);
}

#[test]
fn another_plan_gives_other_proposals_and_those_before_stay_until_then() {
    let runs = Arc::new(AtomicUsize::new(0));
    let (counter, turn) = (Arc::clone(&runs), Arc::new(std::sync::Mutex::new(())));
    let gate = Arc::clone(&turn);
    let proposer: Proposer = Arc::new(move |analysis, plan, _| {
        counter.fetch_add(1, Ordering::SeqCst);
        drop(gate.lock());
        let mut made = proposals(None);
        made.list[0].title =
            format!("Without {} findings", plan.ids(analysis.findings.as_ref().unwrap()).len());
        Some(Ok(made))
    });
    let mut harness = show(analysis(), proposer);
    let title =
        |harness: &Harness<'_, Stage>| harness.state().views.dockerfile.chosen().unwrap().title.clone();
    assert_eq!((title(&harness).as_str(), runs.load(Ordering::SeqCst)), ("Without 4 findings", 1));
    let closed = turn.lock().unwrap();
    harness.state_mut().plan.change(PlanChange::Set("headers:safe".into(), false));
    harness.run_steps(3);
    harness.get_by_label("Computing proposals…");
    assert_eq!(title(&harness), "Without 4 findings");
    // Two more while it works: only the newest is worked out after it.
    harness.state_mut().plan.change(PlanChange::Clear);
    harness.run_steps(3);
    harness.state_mut().plan.change(PlanChange::Set("headers:safe".into(), true));
    harness.run_steps(3);
    drop(closed);
    settle(&mut harness);
    assert_eq!((title(&harness).as_str(), runs.load(Ordering::SeqCst)), ("Without 1 findings", 3));
    assert!(harness.query_by_label("Computing proposals…").is_none());
}

#[test]
fn open_questions_stand_beside_the_proposal_and_answers_change_it_in_place() {
    let compilers = "compilers:unsure";
    let runs = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&runs);
    let proposer: Proposer = Arc::new(move |_, plan, _| {
        counter.fetch_add(1, Ordering::SeqCst);
        let mut made = proposals(None);
        made.list[0].title = format!("{:?}, {}", plan.answer(compilers), plan.contains(compilers));
        Some(Ok(made))
    });
    let mut harness = show(analysis(), proposer);
    let title =
        |harness: &Harness<'_, Stage>| harness.state().views.dockerfile.chosen().unwrap().title.clone();
    // The second proposal and another line than the first are chosen: both stay.
    harness.state_mut().views.dockerfile.step(true);
    harness.run_steps(3);
    let chosen = row(&harness);
    assert!(chosen > Some(0), "{chosen:?}");
    click(&mut harness, Role::Link, "1 open question, 3.00 MiB");
    let tab = harness.get_by_role_and_label(Role::Tab, "Questions  1");
    assert_eq!(tab.accesskit_node().toggled(), Some(Toggled::True));
    harness.get_by_label("Does the service compile kernels at run time?");
    for (label, wanted) in [
        ("No (remove): CUDA compiler", "Some(Unused), true"),
        ("Yes (keep): CUDA compiler", "Some(Used), false"),
    ] {
        harness.get_by_role_and_label(Role::RadioButton, label).click();
        harness.run_steps(3);
        answer(&mut harness);
        settle(&mut harness);
        assert_eq!((title(&harness).as_str(), row(&harness)), (wanted, chosen), "{label}");
        harness.get_by_role_and_label(Role::Tab, "Questions");
    }
    assert!(harness.query_by_label("1 open question, 3.00 MiB").is_none());
    click(&mut harness, Role::Link, "Undo answer: CUDA compiler");
    answer(&mut harness);
    settle(&mut harness);
    assert_eq!((title(&harness).as_str(), runs.load(Ordering::SeqCst)), ("None, false", 4));
    click(&mut harness, Role::Link, "CUDA compiler");
    assert_eq!(actions(&mut harness), [Action::SelectFinding(compilers.into())]);
}

/// Carries out what the view asks of the plan, as the window does.
fn answer(harness: &mut Harness<'_, Stage>) {
    for action in actions(harness) {
        let Action::ChangePlan(change) = action else { panic!("{action:?}") };
        harness.state_mut().plan.change(change);
    }
}

#[test]
fn a_panic_is_an_error_that_can_be_tried_again() {
    let runs = Arc::new(AtomicUsize::new(0));
    let proposer: Proposer = Arc::new(move |_, _, _| {
        assert!(runs.fetch_add(1, Ordering::SeqCst) > 0, "broken on purpose");
        Some(Ok(proposals(None)))
    });
    let mut harness = show(analysis(), proposer);
    harness.get_by_label("Cannot compute proposals");
    harness.get_by_label_contains("broken on purpose");
    click(&mut harness, Role::Button, "Try again");
    settle(&mut harness);
    harness.get_by_label("Proposal");
}

#[test]
fn without_a_proposal_the_original_is_shown_whole() {
    let harness = show(analysis(), Arc::new(|_, _, _| Some(Ok(none(ORIGINAL)))));
    harness.get_by_role_and_label(Role::Grid, "Dockerfile");
    harness.get_by_label("No proposal");
    harness.get_by_label("The image is already on the smallest suitable base.");
    harness.get_by_label("The base image of the final stage is unknown.");
    harness.get_by_label("Does the service compile kernels at run time?");
    assert!(harness.query_by_label("Copy Dockerfile").is_none());
}

#[test]
fn what_is_waited_for_is_said() {
    let whole = analysis();
    let before = Arc::new(Analysis { findings: None, ..Analysis::clone(&whole) });
    let mut harness = begin(Arc::clone(&before), proposer(), [900.0, 600.0]);
    harness.state_mut().done = false;
    harness.run_steps(2);
    harness.get_by_label("Waiting for findings");
    harness.state_mut().done = true;
    harness.run_steps(2);
    harness.get_by_label("No proposal");
    harness.state_mut().plan.update(Some(&whole));
    harness.state_mut().analysis = whole;
    settle(&mut harness);
    harness.get_by_label("Proposal");
}

#[test]
fn long_files_paint_the_rows_in_sight() {
    let long: Proposer = Arc::new(|_, _, _| {
        let before: String = "FROM a\n".chars().chain("RUN one && two\n".repeat(10_000).chars()).collect();
        let after = before.replacen("RUN one && two", "RUN one", 1);
        let list = vec![proposal("tidy", "Long", &after, vec![reason(2, 1, "less", None)])];
        Some(Ok(cutaway::rewrite::Proposals {
            recipe: recipe(&before, Origin::Reconstructed),
            list,
            reason: None,
            notes: Vec::new(),
        }))
    });
    let mut harness = show(analysis(), long);
    tab(&mut harness, "Changes");
    harness.get_by_role_and_label(Role::Grid, "Dockerfile and proposal").focus();
    press(&mut harness, &[Key::End]);
    assert_eq!(row(&harness), Some(10_000));
    let painted = harness.state().views.dockerfile.painted_rows();
    assert!((10..80).contains(&painted), "{painted} rows");
    harness.get_by_role_and_label(Role::Row, "line 10001: RUN one && two");
}
