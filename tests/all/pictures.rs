//! What the window looks like, compared with pictures in `tests/snapshots`. Written anew where they differ
//! by `UPDATE_SNAPSHOTS=1 cargo test --test all pictures`; look at them before you commit them.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use cutaway::analysis::{Analysis, Layer as LayerState, Options, analyze};
use cutaway::findings::Findings;
use cutaway::gpu::Check;
use cutaway::gui::Setup;
use cutaway::gui::models::dockerfile::Proposer;
use cutaway::gui::models::gpu::MachineSetup;
use cutaway::gui::testing;
use cutaway::gui::views::{Command, DockerfileView, GpuView, View};
use cutaway::jobs::{CancelToken, Progress, Snapshot};
use cutaway::source::{Image, Reference};
use egui::accesskit::Role;
use egui::{Key, Modifiers, Theme};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable as _;

use crate::journeys::Window;
use crate::oracle::skip;

/// Whether anything here can paint: wgpu needs an adapter, and a processor will do.
pub(crate) fn can_paint() -> bool {
    let painted = catch_unwind(AssertUnwindSafe(|| {
        let mut harness = Harness::builder().with_size([16.0, 16.0]).wgpu().build_ui(|_| ());
        harness.render().map(drop)
    }));
    match painted {
        Ok(Ok(())) => true,
        Ok(Err(reason)) => skip(&format!("wgpu cannot paint here: {reason}")),
        Err(_) => skip("wgpu finds no adapter, not even Mesa's lavapipe"),
    }
}

/// A small window that paints, in one of the themes.
fn window(theme: Theme) -> Window {
    sized_window(theme, [860.0, 560.0])
}

fn sized_window(theme: Theme, size: [f32; 2]) -> Window {
    window_on(theme, size, crate::gpu_view::scene::setup(crate::gpu_view::scene::checker(Check::default())))
}

/// The same, on a machine whose GPU is checked as `machine` says.
fn window_on(theme: Theme, size: [f32; 2], machine: MachineSetup) -> Window {
    Window::painted(theme, size, Setup { machine, ..testing::setup() })
}

pub(crate) fn take(window: &mut Window, name: &str) {
    window.harness.remove_cursor();
    window.harness.run_steps(4);
    window.harness.snapshot(name);
}

/// Opens one moment of an analysis, under a name that does not depend on the folder of the test.
fn still(window: &mut Window, analysis: &Analysis, progress: Snapshot) {
    let mut analysis = analysis.clone();
    if !analysis.image.reference.starts_with("sample:") {
        let reference = "oci:/srv/images/vision/oci:latest".to_owned();
        analysis.image = Arc::new(Image { reference, ..Image::clone(&analysis.image) });
    }
    window.harness.state_mut().open_still(Arc::new(analysis), progress);
}

fn start(theme: Theme, name: &str) {
    if !can_paint() {
        return;
    }
    let mut window = window(theme);
    window.harness.state_mut().remember("oci:/srv/images/base:latest");
    window.harness.state_mut().remember("/srv/images/tool.tar");
    take(&mut window, name);
}

#[test]
fn the_start_screen_in_light() {
    start(Theme::Light, "start_light");
}

#[test]
fn the_start_screen_in_dark() {
    start(Theme::Dark, "start_dark");
}

#[test]
fn an_image_that_cannot_be_opened() {
    if !can_paint() {
        return;
    }
    let mut window = window(Theme::Light);
    let failure = crate::remote_view::refused();
    window.harness.state_mut().open_failed("registry.example/team/tool:1", failure);
    take(&mut window, "failed_light");
}

#[test]
fn the_palette() {
    if !can_paint() {
        return;
    }
    let mut window = window(Theme::Dark);
    window.press(Modifiers::COMMAND, Key::K);
    window.types("im");
    take(&mut window, "palette_dark");
}

/// The panel about a path of the sample, beside Layers.
fn inspected(theme: Theme, path: &str, command: Command, name: &str) {
    if !can_paint() {
        return;
    }
    let mut window = sized_window(theme, [1320.0, 720.0]);
    window.open("sample:devel");
    window.settles();
    let app = window.harness.state_mut();
    app.run(Command::Show(View::Layers));
    app.views().unwrap().layers.select_path(path.as_bytes().to_vec());
    window.harness.run_steps(8);
    window.harness.state_mut().run(command);
    window.harness.run_steps(4);
    window.until("the panel", |harness| !harness.state().is_working());
    take(&mut window, name);
}

#[test]
fn the_contents_of_a_library() {
    let path = "/opt/venv/lib/python3.12/site-packages/torch/lib/libtorch_cuda.so";
    inspected(Theme::Dark, path, Command::ShowContents, "contents_dark");
}

#[test]
fn why_a_compiler_is_there() {
    inspected(Theme::Light, "/usr/local/cuda-13.0/bin/nvcc", Command::ShowWhy, "why_light");
}

#[test]
fn a_whole_image() {
    if !can_paint() {
        return;
    }
    let mut window = window(Theme::Dark);
    window.open("sample:devel");
    window.settles();
    take(&mut window, "overview_dark");
}

/// The CUDA view of an image made by hand, so that its figures are those of this test alone.
fn cuda(theme: Theme, name: &str, page: Option<&str>) {
    if !can_paint() {
        return;
    }
    let mut window = window(theme);
    let progress = Progress::default().snapshot();
    still(&mut window, &crate::cuda_view::with(|_| ()), progress);
    window.harness.run_steps(2);
    window.press(Modifiers::COMMAND, Key::Num3);
    if let Some(page) = page {
        window.click(Role::Tab, page);
    }
    take(&mut window, name);
}

#[test]
fn cuda_libraries() {
    cuda(Theme::Dark, "cuda_dark", None);
}

#[test]
fn gpu_code() {
    cuda(Theme::Light, "gpu_code_light", Some("GPU code  2.62 GiB"));
}

/// The findings view of findings made by hand, in a window of this size.
fn findings(theme: Theme, size: [f32; 2], name: &str, analysis: &Analysis, select: Option<&str>) {
    if !can_paint() {
        return;
    }
    let mut window = sized_window(theme, size);
    let progress = Progress::default().snapshot();
    still(&mut window, analysis, progress);
    window.harness.run_steps(2);
    window.press(Modifiers::COMMAND, Key::Num4);
    if let Some(title) = select {
        window.click(Role::CheckBox, &format!("{title} in the plan"));
    }
    take(&mut window, name);
}

const LARGE: [f32; 2] = [1400.0, 820.0];
const SMALL: [f32; 2] = [900.0, 640.0];

#[test]
fn findings_in_dark() {
    let analysis = crate::findings_view::scene::analysis();
    findings(Theme::Dark, LARGE, "findings_dark", &analysis, Some("CUDA compiler"));
}

#[test]
fn findings_in_a_small_window() {
    let analysis = crate::findings_view::scene::analysis();
    findings(Theme::Light, SMALL, "findings_small_light", &analysis, Some("CUDA compiler"));
}

#[test]
fn no_findings() {
    let analysis = crate::findings_view::scene::with(|_| Findings::default());
    findings(Theme::Light, SMALL, "findings_empty_light", &analysis, None);
}

#[test]
fn findings_that_are_waited_for() {
    let whole = crate::findings_view::scene::analysis();
    let analysis = Arc::new(Analysis { findings: None, ..Analysis::clone(&whole) });
    findings(Theme::Dark, SMALL, "findings_loading_dark", &analysis, None);
}

/// The samples side by side, in the place of a tab.
fn comparison(theme: Theme, size: [f32; 2], name: &str, act: impl FnOnce(&mut Window)) {
    if !can_paint() {
        return;
    }
    let mut window = sized_window(theme, size);
    window.open("sample:runtime");
    window.open("sample:devel");
    window.settles();
    window.press(Modifiers::COMMAND, Key::Num6);
    window.click(Role::Button, "Compare with sample:runtime");
    window.until("comparison", |window| !window.state().is_busy() && !window.state().is_working());
    act(&mut window);
    take(&mut window, name);
}

#[test]
fn two_images_compared() {
    comparison(Theme::Dark, LARGE, "compare_dark", |_| ());
}

#[test]
fn files_compared_in_a_small_window() {
    comparison(Theme::Light, SMALL, "compare_files_light", |window| {
        window.click(Role::Tab, "Files, 820 differ");
    });
}

/// The Dockerfile view of proposals made by hand.
fn dockerfile(theme: Theme, size: [f32; 2], name: &str, proposer: Proposer, act: impl FnOnce(&mut Window)) {
    if !can_paint() {
        return;
    }
    let mut window = sized_window(theme, size);
    let analysis = crate::findings_view::scene::analysis();
    // A bar without a total moves with every frame, and how many pass until the proposals are there varies.
    let progress = Progress::default();
    progress.set_totals(1 << 20, 6);
    still(&mut window, &analysis, progress.snapshot());
    window.harness.state_mut().views().unwrap().dockerfile = DockerfileView::with(proposer);
    window.harness.run_steps(2);
    window.press(Modifiers::COMMAND, Key::Num5);
    window.until("proposals", |window| !window.state().is_working());
    act(&mut window);
    take(&mut window, name);
}

#[test]
fn a_dockerfile_and_its_proposals() {
    let proposer = crate::dockerfile_view::scene::proposer();
    dockerfile(Theme::Dark, LARGE, "dockerfile_dark", proposer, |window| {
        (0..3).for_each(|_| window.press(Modifiers::NONE, Key::F7));
    });
}

#[test]
fn a_dockerfile_in_a_small_window() {
    let proposer = crate::dockerfile_view::scene::proposer();
    dockerfile(Theme::Light, SMALL, "dockerfile_small_light", proposer, |window| {
        window.press(Modifiers::COMMAND, Key::S);
    });
}

#[test]
fn a_dockerfile_with_nothing_to_propose() {
    use crate::dockerfile_view::scene::{ORIGINAL, none};
    dockerfile(
        Theme::Light,
        SMALL,
        "dockerfile_empty_light",
        Arc::new(|_, _, _| Some(Ok(none(ORIGINAL)))),
        |_| (),
    );
}

/// The GPU view of a machine made by hand, and of an image with verdicts made by hand.
fn gpu(theme: Theme, size: [f32; 2], name: &str, machine: MachineSetup, act: impl FnOnce(&mut Window)) {
    if !can_paint() {
        return;
    }
    let mut window = window_on(theme, size, machine);
    let analysis = crate::findings_view::scene::analysis();
    let progress = Progress::default();
    progress.set_totals(1 << 20, 6);
    still(&mut window, &analysis, progress.snapshot());
    window.harness.state_mut().views().unwrap().gpu = GpuView::with(crate::gpu_view::scene::judge());
    window.harness.run_steps(2);
    window.press(Modifiers::COMMAND, Key::Num7);
    window.until("verdicts", |window| !window.state().is_working());
    act(&mut window);
    take(&mut window, name);
}

#[test]
fn a_gpu_that_works() {
    use crate::gpu_view::scene;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("gpu-history.json");
    scene::history(&path);
    let setup = MachineSetup { history: Some(path), ..scene::setup(scene::checker(scene::works())) };
    gpu(Theme::Dark, [1280.0, 1000.0], "gpu_dark", setup, |window| {
        window.click(Role::CheckBox, "Measure bandwidth");
        window.click(Role::Button, "Run check");
        window.until("end of the check", |window| !window.state().is_working());
        window.harness.get_by_label_contains("gpu:p100, ").click();
        window.harness.run_steps(4);
    });
}

#[test]
fn a_gpu_while_it_is_checked() {
    use crate::gpu_view::scene;
    let (checker, go) = scene::held(scene::begun(8), scene::begun(8), scene::works());
    gpu(Theme::Light, LARGE, "gpu_checking_light", scene::setup(checker), |window| {
        window.click(Role::Button, "Run check");
        window.sees("Copy input, passed");
    });
    drop(go);
}

#[test]
fn no_gpu_in_a_small_window() {
    use crate::gpu_view::scene;
    let setup = scene::setup(scene::checker(scene::no_library()));
    gpu(Theme::Light, SMALL, "gpu_none_light", setup, |_| ());
}

#[test]
fn an_image_on_a_platform() {
    if !can_paint() {
        return;
    }
    let mut window = sized_window(Theme::Light, [1100.0, 760.0]);
    window.open("sample:devel");
    window.settles();
    window.press(Modifiers::COMMAND, Key::Num9);
    window.click(Role::RadioButton, "Google Kubernetes Engine");
    window.sees("nvidia-tesla-t4");
    window.until("lines", |window| window.query_by_label("Writing lines…").is_none());
    take(&mut window, "deploy_light");
}

/// The treemap of the sample, colored in this way.
fn treemap(theme: Theme, size: [f32; 2], by: &'static str, name: &str) {
    if !can_paint() {
        return;
    }
    let mut window = sized_window(theme, size);
    window.open("sample:devel");
    window.settles();
    window.harness.state_mut().run(Command::Show(View::Treemap));
    window.harness.run_steps(4);
    window.click(Role::RadioButton, by);
    window.until("colors", |harness| !harness.state().is_working());
    window.harness.run_steps(4);
    take(&mut window, name);
}

#[test]
fn a_treemap_of_findings() {
    treemap(Theme::Dark, [1100.0, 720.0], "Finding", "treemap_dark");
}

#[test]
fn a_treemap_of_layers_in_a_small_window() {
    treemap(Theme::Light, [900.0, 600.0], "Layer", "treemap_small_light");
}

#[test]
fn an_image_while_it_loads() {
    if !can_paint() {
        return;
    }
    let (analysis, progress) = half_of("sample:devel");
    let mut window = window(Theme::Light);
    still(&mut window, &analysis, progress);
    take(&mut window, "loading_light");
}

/// An analysis of which half of the layers are known.
pub(crate) fn half_of(reference: &str) -> (Arc<Analysis>, Snapshot) {
    let reference = Reference::parse(reference).unwrap();
    let (options, cancel, progress) = (Options::default(), CancelToken::new(), Progress::default());
    let whole = analyze(&reference, &options, &cancel, &progress, &|_| ()).unwrap();
    let mut half = Analysis::clone(&whole);
    (half.merge, half.inventory, half.findings) = (None, None, None);
    let known = half.layers.len() / 2;
    for layer in half.layers.iter_mut().skip(known) {
        *layer = LayerState::default();
    }
    let all = progress.snapshot();
    let passed = Snapshot { bytes_passed: all.bytes_total / 3, layers_done: known as u64, ..all };
    (Arc::new(half), passed)
}
