//! How people meet the GPU view: by role and name, with mouse and keyboard.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use cutaway::analysis::Analysis;
use cutaway::cuda::compat::RunVerdict;
use cutaway::gpu::{Depth, History};
use cutaway::gui::models::gpu::{
    Machine, MachineSetup, RunItem, TargetItem, TargetKind, TargetQuery, TargetRows,
};
use cutaway::gui::models::grouped::GroupedRow;
use cutaway::gui::views::{Action, GpuView, ImageView as _, View};
use egui::Key;
use egui::accesskit::Role;
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable as _;

use super::scene::{begun, checker, held, judge, no_kernel, no_library, setup, works};
use crate::findings_view::scene::analysis;
use crate::view_stage::{Stage, click, press, selected, settle, shows, until};

fn show(machine: MachineSetup) -> Harness<'static, Stage> {
    let mut harness = begin(analysis(), machine, [1400.0, 1500.0]);
    settle(&mut harness);
    harness
}

fn begin(analysis: Arc<Analysis>, machine: MachineSetup, size: [f32; 2]) -> Harness<'static, Stage> {
    let mut stage = Stage { machine: Machine::new(machine), ..Stage::new(analysis, View::Gpu) };
    stage.views.gpu = GpuView::with(judge());
    stage.begin(size)
}

fn chosen(harness: &Harness<'_, Stage>) -> String {
    selected(harness).split(", ").next().unwrap_or_default().to_owned()
}

#[test]
fn nothing_but_the_library_is_looked_for_unasked() {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let (seen, inner) = (Arc::clone(&asked), checker(works()));
    let recording = setup(Arc::new(move |request, cancel, news| {
        let child = &request.child;
        seen.lock().unwrap().push((child.depth, child.bandwidth, child.device));
        inner(request, cancel, news)
    }));
    let mut harness = show(recording);
    harness.run_steps(20);
    settle(&mut harness);
    assert_eq!(*asked.lock().unwrap(), [(Depth::Library, false, None)]);
    harness.get_by_label("libcuda.so.1 found: /usr/lib/x86_64-linux-gnu/libcuda.so.580.159.04");
    harness.get_by_label("This machine, not checked");
    assert!(harness.state().machine.devices().is_empty(), "which GPUs there are is not asked");
    click(&mut harness, Role::CheckBox, "Measure bandwidth");
    click(&mut harness, Role::Button, "Run check");
    settle(&mut harness);
    assert_eq!(asked.lock().unwrap().last(), Some(&(Depth::Full, true, None)));
    harness.get_by_label("This GPU works: all 1,048,583 values are correct.");
    harness.get_by_role_and_label(Role::Meter, "On a stream: 5.67 µs per launch");
    harness.get_by_label("54.2 GB/s");
    let host =
        "host, H200 (9.0), driver 580.159.04 measured, Runs: The driver is as new as CUDA 13.0 asks for.";
    harness.get_by_role_and_label(Role::Row, host);
}

#[test]
fn steps_fill_in_and_a_check_can_be_stopped() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("gpu-history.json");
    let (checker, go) = held(begun(8), no_kernel(), works());
    let mut harness = show(MachineSetup { history: Some(path.clone()), ..setup(checker) });
    click(&mut harness, Role::Button, "Run check");
    until(&mut harness, "steps", |stage| {
        stage.machine.running().is_some_and(|(check, _)| check.steps.len() == 8)
    });
    harness.get_by_role_and_label(Role::ListItem, "Copy input, passed, 3.31 ms: 8.00 MiB");
    harness.get_by_role_and_label(Role::ListItem, "Run kernel, running");
    harness.get_by_role_and_label(Role::ListItem, "Verify results, pending");
    harness.get_by_label("This machine, checking");
    click(&mut harness, Role::Button, "Stop");
    settle(&mut harness);
    harness.get_by_label("Check cancelled.");
    assert!(!shows(&harness, "CUDA_ERROR") && !shows(&harness, ", failed"), "nobody is to blame for the end");
    assert!(harness.query_by_role_and_label(Role::ListItem, "Run kernel, running").is_none());
    assert!(History::load(&path).0.runs.is_empty(), "what was stopped is no run");

    click(&mut harness, Role::Button, "Run check again");
    go.send(()).unwrap();
    settle(&mut harness);
    harness.get_by_label("This GPU works: all 1,048,583 values are correct.");
    let runs = History::load(&path).0.runs;
    assert_eq!((runs.len(), runs[0].unix_seconds), (1, super::scene::NOW));
}

#[test]
fn an_error_says_what_it_means_and_what_to_do() {
    let mut harness = show(setup(checker(no_library())));
    assert!(shows(&harness, "no NVIDIA driver is installed"), "already while it is looked for");
    click(&mut harness, Role::Button, "Driver search 3 paths");
    harness.get_by_label("/usr/local/nvidia/lib64/libcuda.so.1");
    click(&mut harness, Role::Button, "Run check");
    settle(&mut harness);
    harness.get_by_label("No NVIDIA driver on this machine.");
    harness.get_by_label("no-library");
    harness.get_by_label("What to do");
    harness.get_by_label("This machine, no usable GPU");
    assert!(
        harness.state().views.gpu.judged().unwrap().targets.len() > 100,
        "the catalogue is judged all the same"
    );
    click(&mut harness, Role::Button, "Copy error");
    let actions: Vec<Action> = harness.state_mut().actions.drain(..).collect();
    assert!(matches!(&actions[..], [Action::CopyText(text)] if text.contains("no-library")), "{actions:?}");

    let mut harness = show(setup(checker(no_kernel())));
    click(&mut harness, Role::Button, "Run check");
    settle(&mut harness);
    harness.get_by_label("CUDA_ERROR_UNSUPPORTED_PTX_VERSION (222)");
    assert!(!shows(&harness, "Unsupported .version"), "the log is folded");
    click(&mut harness, Role::Button, "Compiler log 1 line");
    assert!(shows(&harness, "Unsupported .version 9.9"));
}

#[test]
fn earlier_runs_are_shown_again_and_forgotten_after_a_question() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("gpu-history.json");
    super::scene::history(&path);
    let mut harness = show(MachineSetup { history: Some(path.clone()), ..setup(checker(works())) });
    let older =
        "2025-11-23 03:04 UTC, H200, driver 570.195.03, works, 6.02 µs on a stream, 1.38 µs in a graph";
    let lines: Vec<String> =
        RunItem::all(harness.state().machine.runs()).iter().map(RunItem::spoken).collect();
    assert_eq!(lines[1], older);
    assert!(
        lines[0].ends_with(", error 222 (CUDA_ERROR_UNSUPPORTED_PTX_VERSION)"),
        "the newest first: {}",
        lines[0]
    );
    click(&mut harness, Role::Row, older);
    harness.get_by_label("Run of 2025-11-23 03:04:05 UTC");
    harness.get_by_label("570.195.03");
    harness.get_by_label("This machine, not checked");
    click(&mut harness, Role::Link, "Show latest run");
    assert!(!shows(&harness, "Run of"));
    click(&mut harness, Role::Button, "Clear…");
    click(&mut harness, Role::Button, "Cancel");
    assert_eq!(harness.state().machine.runs().len(), 2);
    click(&mut harness, Role::Button, "Clear…");
    click(&mut harness, Role::Button, "Delete 2 runs");
    assert!(harness.state().machine.runs().is_empty() && !path.exists());
    assert!(!shows(&harness, "Earlier runs"));
    // A file that cannot be read is said, and replaced by the next run.
    std::fs::write(&path, "{").unwrap();
    let mut harness = show(MachineSetup { history: Some(path.clone()), ..setup(checker(works())) });
    assert!(shows(&harness, "Cannot read the earlier GPU checks in "));
    click(&mut harness, Role::Button, "Run check");
    settle(&mut harness);
    assert_eq!(History::load(&path).0.runs.len(), 1);
}

#[test]
fn machines_are_walked_filtered_and_copied_by_keys() {
    let mut harness = show(setup(checker(works())));
    let judged = harness.state().views.gpu.judged().unwrap();
    let all = judged.targets.len();
    assert!(harness.get_all_by_role(Role::Row).count() < 80, "rows in sight only, of {all}");
    harness.state_mut().views.gpu.focus_search();
    harness.run_steps(3);
    let field = harness.get_by_role_and_label(Role::SearchInput, "Filter machines");
    assert!(field.is_focused());
    field.type_text("v100 gke");
    harness.run_steps(3);
    harness.get_by_label_contains(" machines shown");
    let rows = harness.state().views.gpu.painted_rows();
    assert!((2..20).contains(&rows), "{rows}: a filter unfolds");
    press(&mut harness, &[Key::Escape]);
    assert!(!shows(&harness, " machines shown"));

    harness.get_by_role_and_label(Role::TreeGrid, "Machines").focus();
    press(&mut harness, &[Key::ArrowDown, Key::ArrowDown, Key::J]);
    let first = chosen(&harness);
    let of_gpus = |target: &&TargetItem| target.kind == TargetKind::Gpu;
    assert_eq!(Some(&first), judged.targets.iter().find(of_gpus).map(|target| &target.id));
    press(&mut harness, &[Key::ArrowLeft, Key::ArrowLeft]);
    let rows = harness.state().views.gpu.painted_rows();
    assert!((8..30).contains(&rows), "{rows}: the GPUs are folded");
    harness.state_mut().views.gpu.select("gpu:p100");
    harness.run_steps(3);
    harness.event(egui::Event::Copy);
    harness.run_steps(3);
    let copied: Vec<Action> = harness.state_mut().actions.drain(..).collect();
    assert!(
        matches!(&copied[..], [Action::CopyText(row)] if row.starts_with("gpu:p100\tTesla P100\t6.0\t")),
        "{copied:?}"
    );
    harness.get_by_label("gpu-code: CUDA C++ Programming Guide, binary and PTX compatibility");
    harness.get_by_label("CUDA_ERROR_NO_BINARY_FOR_GPU (209)");
    let path = "/usr/lib/python3/dist-packages/torch/lib/libtorch_cuda.so";
    click(&mut harness, Role::Link, path);
    assert_eq!(harness.state().actions, [Action::SelectPath(path.as_bytes().to_vec())]);
    harness.get_by_role_and_label(Role::TreeGrid, "Machines").focus();
    harness.run_steps(2);
    press(&mut harness, &[Key::Escape]);
    assert_eq!(chosen(&harness), "");
}

#[test]
fn verdicts_are_chosen_and_another_driver_gives_others() {
    let mut harness = show(setup(checker(works())));
    let judged = harness.state().views.gpu.judged().unwrap();
    let count = |verdict| judged.targets.iter().filter(|target| target.judgement.verdict == verdict).count();
    let fails = count(RunVerdict::Fails);
    click(&mut harness, Role::CheckBox, &format!("Fails, {fails}"));
    harness.get_by_label(&format!("{fails} of {} machines shown", judged.targets.len()));
    click(&mut harness, Role::CheckBox, &format!("Fails, {fails}"));

    let with_compat = |harness: &Harness<'_, Stage>, id: &str| {
        let judged = harness.state().views.gpu.judged().unwrap();
        let target = judged.targets.iter().find(|target| target.id == id).unwrap();
        (target.judgement.verdict, target.driver_text())
    };
    assert_eq!(with_compat(&harness, "gpu:h100"), (RunVerdict::Runs, "580 typical".to_owned()));
    let field = harness.get_by_role_and_label(Role::TextInput, "Driver override");
    field.focus();
    harness.run_steps(2);
    harness.event(egui::Event::Text("535x".into()));
    settle(&mut harness);
    harness.get_by_label("Invalid driver version; enter 580 or 580.95.05");
    assert_eq!(
        with_compat(&harness, "gpu:h100").0,
        RunVerdict::Runs,
        "what is not understood changes nothing"
    );
    press(&mut harness, &[Key::Backspace]);
    settle(&mut harness);
    let stated = (RunVerdict::RunsWithCompat, "535 as entered".to_owned());
    assert_eq!(with_compat(&harness, "gpu:h100"), stated);
}

#[test]
fn groups_hold_what_the_filter_keeps() {
    let harness = show(setup(checker(works())));
    let judged = harness.state().views.gpu.judged().unwrap();
    let none = BTreeSet::new();
    let folded = BTreeSet::from([TargetKind::Gpu]);
    let rows = TargetRows::new(&judged, &TargetQuery::new("", &BTreeSet::new()), &folded);
    assert_eq!(rows.list.found, judged.targets.len());
    assert_eq!(
        rows.list.rows[..2],
        [GroupedRow::Group(0), GroupedRow::Group(1)],
        "this machine, then the folded GPUs"
    );
    let kinds: Vec<TargetKind> = rows.list.groups.iter().map(|group| group.kind).collect();
    let mut sorted = kinds.clone();
    sorted.sort();
    assert_eq!(kinds, sorted);
    for kind in [TargetKind::Azure, TargetKind::Aws, TargetKind::Google, TargetKind::Gke, TargetKind::Jetson]
    {
        assert!(kinds.contains(&kind), "{kind:?}");
    }
    assert!(!kinds.contains(&TargetKind::Other), "every machine of the catalogue has its place");
    let only = BTreeSet::from([RunVerdict::Fails]);
    let rows = TargetRows::new(&judged, &TargetQuery::new("AZURE v100", &only), &none);
    assert!(rows.list.found > 0 && rows.list.groups.len() == 1, "{rows:?}");
    assert_eq!(rows.list.groups[0].runs, 0);
    assert_eq!(rows.count(RunVerdict::Fails), rows.list.found);
    let rows = TargetRows::new(&judged, &TargetQuery::new("nothing-like-it", &BTreeSet::new()), &none);
    assert!(rows.list.rows.is_empty());
}

#[test]
fn what_is_waited_for_is_said() {
    let whole = analysis();
    let before = Arc::new(Analysis { inventory: None, findings: None, ..Analysis::clone(&whole) });
    let mut harness = begin(Arc::clone(&before), setup(checker(works())), [900.0, 640.0]);
    harness.state_mut().done = false;
    settle(&mut harness);
    harness.get_by_label("Waiting for image requirements");
    harness.state_mut().done = true;
    harness.run_steps(2);
    harness.get_by_label("Image requirements unknown");
    harness.state_mut().analysis = whole;
    settle(&mut harness);
    harness.get_by_label("Built for CUDA 13.0: requires driver 580.65.06 or later.");
    harness.get_by_role_and_label(Role::Button, "Run check");
}
