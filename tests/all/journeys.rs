//! What people do with the window, by the roles and names that a screen reader would tell them.
//!
//! Analyses run on threads of their own, so a journey steps the window until what it waits for is
//! there, and fails when that takes too long.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, Instant};

use cutaway::gui::app::{App, Setup};
use cutaway::gui::models::gpu::MachineSetup;
use cutaway::gui::testing;
use cutaway::gui::views::{Command, DockerfileView};
use egui::accesskit::Role;
use egui::{Key, Modifiers, Theme};
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use egui_kittest::{Harness, Node};

use crate::fixtures::image::{Image, Layer};
use crate::fixtures::layout::Layout;
use crate::fixtures::packing::{Packing, gzip};
use crate::fixtures::sample;
use crate::fixtures::tarball::{file, tar, without_end};

const PATIENCE: Duration = Duration::from_mins(1);
const CTRL_SHIFT: Modifiers = Modifiers { shift: true, ..Modifiers::COMMAND };

/// A window in memory.
pub(crate) struct Window {
    pub(crate) harness: Harness<'static, App>,
}

impl Window {
    pub(crate) fn new() -> Self {
        Self::with(None)
    }

    /// A window whose file dialogs answer `picked`.
    fn with(picked: Option<PathBuf>) -> Self {
        Self::build([1100.0, 720.0], picked)
    }

    pub(crate) fn build(size: [f32; 2], picked: Option<PathBuf>) -> Self {
        Self::of(size, Setup { picker: testing::picker(picked), ..testing::setup() })
    }

    /// A window that opens images side by side.
    pub(crate) fn comparing(image: String, compare: Vec<String>) -> Self {
        Self::of([1400.0, 860.0], Setup { image: Some(image), compare, ..testing::setup() })
    }

    /// A window on a machine whose GPU is checked as `machine` says.
    pub(crate) fn on(machine: MachineSetup) -> Self {
        Self::of([1280.0, 1100.0], Setup { machine, ..testing::setup() })
    }

    pub(crate) fn of(size: [f32; 2], setup: Setup) -> Self {
        let builder = Harness::builder().with_size(size).with_max_steps(16);
        Self { harness: builder.build_eframe(|context| testing::app(&context.egui_ctx, setup)) }
    }

    /// A window that paints, in one of the themes.
    pub(crate) fn painted(theme: Theme, size: [f32; 2], setup: Setup) -> Self {
        let builder = Harness::builder().with_size(size).with_max_steps(16);
        let builder = builder.with_render_cursor(false).with_theme(theme).wgpu();
        let mut harness = builder.build_eframe(|context| {
            let mut app = testing::app(&context.egui_ctx, setup);
            app.run(if theme == Theme::Dark { Command::ThemeDark } else { Command::ThemeLight });
            app
        });
        harness.run_steps(2);
        Self { harness }
    }

    /// Steps until `there` holds.
    pub(crate) fn until(&mut self, what: &str, there: impl Fn(&Harness<'static, App>) -> bool) {
        let begun = Instant::now();
        loop {
            self.harness.step();
            if there(&self.harness) {
                // One more, so that what is new has its place.
                self.harness.step();
                return;
            }
            assert!(begun.elapsed() < PATIENCE, "no {what} in {PATIENCE:?}: {:#?}", self.harness.root());
            sleep(Duration::from_millis(10));
        }
    }

    /// Steps until some text with `part` in it is there.
    pub(crate) fn sees(&mut self, part: &str) {
        self.until(part, |window| window.query_all_by_label_contains(part).next().is_some());
    }

    /// Whether some text with `part` in it is there now.
    pub(crate) fn shows(&self, part: &str) -> bool {
        self.harness.query_all_by_label_contains(part).next().is_some()
    }

    /// Steps until all images are read, or failed.
    pub(crate) fn settles(&mut self) {
        self.until("end of the work", |window| !window.state().is_busy());
    }

    /// Steps until nothing is worked on, and fails where the window does not come to rest then.
    fn rests(&mut self) {
        self.until("end of the work", |window| !window.state().is_busy() && !window.state().is_working());
        self.harness.run();
    }

    pub(crate) fn click(&mut self, role: Role, name: &str) {
        self.harness.get_by_role_and_label(role, name).click();
        self.harness.run_steps(2);
    }

    pub(crate) fn press(&mut self, modifiers: Modifiers, key: Key) {
        self.harness.key_press_modifiers(modifiers, key);
        self.harness.run_steps(2);
    }

    pub(crate) fn types(&mut self, text: &str) {
        self.harness.event(egui::Event::Text(text.to_owned()));
        self.harness.run_steps(2);
    }

    fn tab(&self, name: &'static str) -> Node<'_> {
        self.harness.get_by_role_and_label(Role::Tab, name)
    }

    pub(crate) fn has_tab(&self, name: &str) -> bool {
        self.harness.query_by_role_and_label(Role::Tab, name).is_some()
    }

    /// Whether the tab or view of this name is in front.
    pub(crate) fn in_front(&self, name: &'static str) -> bool {
        self.tab(name).accesskit_node().toggled() == Some(egui::accesskit::Toggled::True)
    }

    pub(crate) fn drop_file(&mut self, path: &Path) {
        self.drop_files(&[path]);
    }

    /// Drops files at once.
    pub(crate) fn drop_files(&mut self, paths: &[&Path]) {
        for path in paths {
            self.harness.input_mut().dropped_files.push(Arc::new(Dropped((*path).to_owned())));
        }
        self.harness.run_steps(2);
    }

    /// Opens a reference through the field of the start screen.
    pub(crate) fn open(&mut self, reference: &str) {
        self.press(Modifiers::COMMAND, Key::T);
        self.harness.get_by_role_and_label(Role::TextInput, "Path or reference").focus();
        self.harness.run_steps(1);
        self.types(reference);
        self.press(Modifiers::NONE, Key::Enter);
    }
}

#[derive(Debug)]
struct Dropped(PathBuf);

impl egui::DroppedFile for Dropped {
    fn path(&self) -> &Path {
        &self.0
    }
    fn bytes(&self) -> Result<Vec<u8>, String> {
        fs::read(&self.0).map_err(|error| error.to_string())
    }
}

pub(crate) fn folder() -> tempfile::TempDir {
    tempfile::Builder::new().prefix("cutaway-window-").tempdir().unwrap()
}

/// A layout whose last layer inflates to 7 GiB of zeros: nobody waits for its end.
pub(crate) fn endless(folder: &Path) -> String {
    let header = without_end([file("zeros", []).claiming(7 << 30)]);
    let zeros = gzip(&vec![0; 16 << 20]);
    let mut blob = gzip(&header);
    for _ in 0..7 * 64 {
        blob.extend(&zeros);
    }
    let small = tar([file("small", *b"a few bytes")]);
    let image = Image::new(Packing::Gzip)
        .layer("COPY small / # buildkit", &small)
        .add("COPY zeros / # buildkit", Layer::of_blob(header, blob, Packing::Gzip));
    let path = folder.join("endless");
    Layout::of(&image, "latest").write(&path);
    format!("oci:{}", path.display())
}

/// A layout whose second layer ends in the middle of a member.
pub(crate) fn damaged(folder: &Path) -> String {
    let whole = tar([file("whole", vec![b'a'; 4000])]);
    let cut = without_end([file("cut", vec![b'b'; 4000])]);
    let image = Image::new(Packing::Gzip)
        .layer("COPY whole / # buildkit", &whole)
        .layer("COPY cut / # buildkit", &cut[..2048]);
    let path = folder.join("damaged");
    Layout::of(&image, "latest").write(&path);
    format!("oci:{}", path.display())
}

#[test]
fn a_sample_opens_through_the_start_screen() {
    let mut window = Window::new();
    assert!(window.shows("Open a container image"));
    window.click(Role::Button, "sample:devel");
    assert!(window.in_front("sample:devel"));
    window.settles();
    assert!(window.in_front("Overview"));
    window.sees("20 layers");
    assert!(window.shows("No warnings"));
    assert!(!window.shows("Open a container image"));
}

#[test]
fn views_change_by_rail_and_by_key() {
    let mut window = Window::new();
    window.open("sample:runtime");
    window.settles();
    window.press(Modifiers::COMMAND, Key::Num2);
    assert!(window.in_front("Layers") && !window.in_front("Overview"));
    window.click(Role::Tab, "Overview");
    assert!(window.in_front("Overview"));
    window.press(Modifiers::COMMAND, Key::Num3);
    assert!(window.in_front("CUDA"));
    window.press(Modifiers::COMMAND, Key::F);
    window.types("libcudart");
    window.sees("libraries match");
    window.click(Role::Tab, "Overview");
    window.press(Modifiers::COMMAND, Key::Num5);
    assert!(window.in_front("Dockerfile"));
    window.click(Role::Tab, "Overview");
    for (key, name) in
        [(Key::Num6, "Compare"), (Key::Num7, "GPU"), (Key::Num8, "Report"), (Key::Num9, "Deploy")]
    {
        window.press(Modifiers::COMMAND, key);
        assert!(window.in_front(name), "{name}");
    }
}

/// What the findings view says of the unpacked size.
fn unpacked(window: &Window) -> String {
    let groups = window.harness.get_all_by_role(Role::Group);
    let mut labels = groups.filter_map(|node| node.accesskit_node().label());
    labels.find(|label| label.starts_with("Merged: ")).unwrap()
}

#[test]
fn findings_are_chosen_and_lead_to_layers() {
    let mut window = Window::build([1280.0, 820.0], None);
    window.open("sample:devel");
    window.settles();
    window.press(Modifiers::COMMAND, Key::Num4);
    assert!(window.in_front("Findings"));
    window.sees("Removable");
    let planned = unpacked(&window);
    // The first row is a verdict, the second the largest finding that is safe.
    window.harness.get_all_by_role(Role::Row).nth(1).unwrap().click();
    window.harness.run_steps(2);
    window.press(Modifiers::NONE, Key::Space);
    let changed = unpacked(&window);
    assert_ne!(planned, changed, "the prediction follows at once");

    window.press(Modifiers::COMMAND, Key::K);
    window.types("select all removable");
    window.press(Modifiers::NONE, Key::Enter);
    assert_eq!(unpacked(&window), planned);
    window.press(Modifiers::COMMAND, Key::K);
    window.types("clear selection");
    window.press(Modifiers::NONE, Key::Enter);
    window.sees("0 of ");
    window.press(Modifiers::COMMAND, Key::F);
    window.types("verdict:removable");
    window.sees(" match");

    window.click(Role::Tab, "Overview");
    assert!(!window.shows("selected findings"), "an empty plan changes nothing");
    window.click(Role::Tab, "Findings");
    let leads_to_layer =
        |node: &Node<'_>| node.accesskit_node().label().is_some_and(|label| label.starts_with("Layer "));
    let layer = window.harness.query_all_by_role(Role::Link).find(leads_to_layer);
    layer.unwrap().scroll_to_me();
    window.harness.run_steps(4);
    let layer = window.harness.query_all_by_role(Role::Link).find(leads_to_layer);
    layer.unwrap().click();
    window.harness.run_steps(2);
    assert!(window.in_front("Layers"));
}

#[test]
fn the_palette_finds_and_runs_commands() {
    let mut window = Window::new();
    window.press(Modifiers::COMMAND, Key::K);
    window.sees("Open archive…");
    window.types("runtime");
    assert!(window.harness.query_by_role_and_label(Role::ListBoxOption, "Open archive…").is_none());
    window.press(Modifiers::NONE, Key::Enter);
    assert!(window.in_front("sample:runtime"));
    window.settles();

    window.press(CTRL_SHIFT, Key::P);
    window.types("log");
    window.press(Modifiers::NONE, Key::Enter);
    window.sees("No warnings or errors");

    window.press(Modifiers::COMMAND, Key::K);
    window.types("close dockerfile");
    let option = window.harness.get_by_role_and_label(Role::ListBoxOption, "Close Dockerfile");
    assert!(option.accesskit_node().is_disabled(), "a command that cannot run is there, and says so");
    window.press(Modifiers::NONE, Key::Escape);
    assert!(window.harness.query_by_role(Role::ListBoxOption).is_none());

    window.press(Modifiers::COMMAND, Key::K);
    window.press(Modifiers::NONE, Key::ArrowDown);
    window.press(Modifiers::NONE, Key::ArrowUp);
    window.press(Modifiers::NONE, Key::ArrowUp);
    window.press(Modifiers::NONE, Key::ArrowDown);
    window.press(Modifiers::NONE, Key::Enter);
    assert!(window.shows("Open a container image"), "the first command shows the start screen");
}

#[test]
fn an_error_is_shown_where_it_was_asked_for_and_can_be_retried() {
    let folder = folder();
    let path = folder.path().join("late.tar");
    let mut window = Window::new();
    window.open(path.to_str().unwrap());
    window.settles();
    window.sees("Cannot open image");
    window.sees("No such file or directory");
    assert!(window.shows("1 error"));

    fs::write(&path, sample::runtime()).unwrap();
    window.click(Role::Button, "Try again");
    window.settles();
    assert!(!window.shows("Cannot open image"));
    window.sees("linux/amd64");
    assert!(window.shows("1 error"), "the log keeps it");
}

#[test]
fn hints_are_shown() {
    let mut window = Window::new();
    // Nobody listens there.
    window.open("127.0.0.1:1/team/tool:1");
    window.settles();
    window.sees("What to do");
    window.sees("Check that 127.0.0.1:1 is up");
    window.click(Role::Button, "Close");
    assert!(window.shows("Open a container image"));
}

#[test]
fn secrets_of_a_reference_are_not_shown() {
    let mut window = Window::new();
    window.open("docker://me:hunter2@registry.example/tool");
    window.settles();
    window.sees("Cannot open ");
    assert!(!window.shows("hunter2"), "{:#?}", window.harness.root());
}

#[test]
fn work_can_be_cancelled_and_started_again() {
    let folder = folder();
    let mut window = Window::new();
    window.open(&endless(folder.path()));
    window.sees("1 of 2 layers");
    assert!(window.harness.query_by_role(Role::ProgressIndicator).is_some());
    window.click(Role::Button, "Cancel endless");
    window.settles();
    window.sees("Cancelled after 1 of 2 layers");
    window.click(Role::Button, "Reload");
    assert!(window.harness.state().is_busy());
    window.press(Modifiers::COMMAND, Key::Period);
    window.settles();
    window.press(Modifiers::COMMAND, Key::W);
    assert!(window.shows("Open a container image"));
}

#[test]
fn a_second_image_loads_beside_the_first() {
    let folder = folder();
    let mut window = Window::new();
    window.open(&endless(folder.path()));
    window.sees("1 of 2 layers");
    window.open("sample:devel");
    window.sees("20 layers");
    assert!(window.harness.state().is_busy(), "the first goes on");
    window.press(Modifiers::CTRL, Key::Tab);
    assert!(window.in_front("endless"));
    window.press(Modifiers::CTRL | Modifiers::SHIFT, Key::Tab);
    assert!(window.in_front("sample:devel"));
    window.click(Role::Button, "Close endless");
    assert!(!window.has_tab("endless"));
    window.settles();
    window.open("sample:devel");
    assert!(window.in_front("sample:devel"), "an open image comes to the front and is not opened twice");
    window.press(Modifiers::COMMAND, Key::W);
    assert!(!window.has_tab("sample:devel"));
}

#[test]
fn dropped_and_picked_files_open() {
    let folder = folder();
    let (dropped, picked) = (folder.path().join("dropped.tar"), folder.path().join("picked.tar"));
    fs::write(&dropped, sample::devel()).unwrap();
    fs::write(&picked, sample::runtime()).unwrap();
    let mut window = Window::with(Some(picked));
    window.drop_file(&dropped);
    window
        .until("dropped image", |window| window.query_by_role_and_label(Role::Tab, "dropped.tar").is_some());
    assert!(window.in_front("dropped.tar"));
    window.settles();
    window.sees("20 layers");

    window.press(Modifiers::COMMAND, Key::O);
    window.until("picked image", |window| window.query_by_role_and_label(Role::Tab, "picked.tar").is_some());
    window.settles();
    window.press(Modifiers::COMMAND, Key::T);
    assert!(window.harness.query_by_role_and_label(Role::Button, "dropped.tar").is_some(), "it is recent");
    window.click(Role::Button, "dropped.tar");
    assert!(window.in_front("dropped.tar"));
}

#[test]
fn a_damaged_layer_is_a_warning_in_the_log() {
    let folder = folder();
    let mut window = Window::new();
    window.open(&damaged(folder.path()));
    window.settles();
    window.sees("incomplete");
    window.click(Role::Button, "1 warning");
    window.sees("layer-cut-short");
    window.harness.get_by_role_and_label(Role::Button, "Copy all").click();
    window.until("copied text", |window| {
        let copied = |command: &egui::OutputCommand| {
            matches!(command, egui::OutputCommand::CopyText(text) if text.contains("layer-cut-short"))
        };
        window.output().platform_output.commands.iter().any(copied)
    });
    window.click(Role::Button, "Clear");
    window.sees("No warnings or errors");
}

#[test]
fn what_the_inventory_warns_of_is_in_the_log() {
    let folder = folder();
    let mut image = Image::of(Packing::Gzip, [tar([file("etc/settings", b"x".to_vec())])]);
    image.config = serde_json::json!({"Entrypoint": ["/bin/gone"]});
    let path = folder.path().join("image");
    Layout::of(&image, "latest").write(&path);
    let mut window = Window::new();
    window.open(path.to_str().unwrap());
    window.settles();
    window.click(Role::Button, "1 warning");
    window.sees("links-oddity");
}

#[test]
fn the_key_sheet_opens_and_closes() {
    let mut window = Window::new();
    window.press(Modifiers::NONE, Key::F1);
    window.sees("Keyboard shortcuts");
    window.sees("Ctrl+Shift+P");
    window.press(Modifiers::COMMAND, Key::Num1);
    window.press(Modifiers::NONE, Key::Escape);
    assert!(!window.shows("Ctrl+Shift+P"));
}

#[test]
fn text_grows_and_shrinks() {
    let mut window = Window::new();
    window.press(Modifiers::COMMAND, Key::Plus);
    window.press(Modifiers::COMMAND, Key::Plus);
    assert!(window.shows("120 %"));
    assert!((window.harness.ctx.zoom_factor() - 1.2).abs() < 0.01);
    window.press(Modifiers::COMMAND, Key::Minus);
    assert!(window.shows("110 %"));
    window.press(Modifiers::COMMAND, Key::Num0);
    assert!(!window.shows("%"));
    assert!((window.harness.ctx.zoom_factor() - 1.0).abs() < 0.01);
}

#[test]
fn menus_hold_the_commands() {
    let mut window = Window::new();
    window.click(Role::Button, "View");
    window.sees("Reset zoom");
    window.harness.get_by_label_contains("Light theme").click();
    window.harness.run_steps(2);
    assert!(!window.harness.ctx.global_style().visuals.dark_mode);
}

#[test]
fn the_filter_takes_the_cursor() {
    let mut window = Window::new();
    window.open("sample:runtime");
    window.settles();
    for (modifiers, key) in [(Modifiers::COMMAND, Key::F), (Modifiers::NONE, Key::Slash)] {
        window.press(Modifiers::COMMAND, Key::Num1);
        window.press(modifiers, key);
        assert!(window.in_front("Layers"), "{key:?}");
        window.until("cursor in the filter", |window| {
            window.get_by_role_and_label(Role::SearchInput, "Filter files").is_focused()
        });
        window.types("libcudart");
        let typed = window.harness.get_by_role_and_label(Role::SearchInput, "Filter files").value();
        assert!(!typed.unwrap_or_default().contains('/'), "the sign that gave the focus is not typed");
        window.press(Modifiers::NONE, Key::Escape);
    }
}

/// `run` fails when the window does not come to rest, when a control has no name, and when a
/// character has no glyph.
#[test]
fn every_state_comes_to_rest_and_names_its_controls() {
    let folder = folder();
    for size in [[1100.0, 720.0], [640.0, 420.0]] {
        let mut window = Window::build(size, None);
        window.rests();
        window.open("/nowhere/image.tar");
        window.settles();
        window.rests();
        window.open(&damaged(folder.path()));
        window.settles();
        window.rests();
        window.open("sample:devel");
        window.settles();
        window.rests();
        window.press(Modifiers::COMMAND, Key::J);
        window.rests();
        window.press(Modifiers::COMMAND, Key::Num2);
        window.rests();
        window.press(Modifiers::COMMAND, Key::K);
        window.rests();
        window.press(Modifiers::NONE, Key::Escape);
        window.press(Modifiers::NONE, Key::F1);
        window.rests();
        window.press(Modifiers::NONE, Key::Escape);
        for _ in 0..10 {
            window.press(Modifiers::COMMAND, Key::Plus);
        }
        window.rests();
        window.press(Modifiers::COMMAND, Key::T);
        window.rests();
    }
}

#[test]
fn a_missing_file_leaves_the_window_at_rest() {
    let mut window = Window::build([1100.0, 720.0], None);
    window.open("/nowhere/image.tar");
    window.settles();
    let mut steps = || {
        sleep(Duration::from_millis(20));
        window.harness.run()
    };
    let steps: Vec<u64> = (0..20).map(|_| steps()).collect();
    assert!(steps.contains(&1), "no frame was the last: {steps:?}");
}

#[test]
fn a_desktop_without_dialogs_is_told() {
    let picker = Arc::new(|_| None);
    let builder = Harness::builder().with_size([1100.0, 720.0]).with_max_steps(16);
    let harness = builder.build_eframe(|context| {
        App::new(&context.egui_ctx, None, Setup { picker, remote: testing::no_remote(), ..Setup::default() })
    });
    let mut window = Window { harness };
    window.click(Role::Button, "Open folder…");
    window.sees("File dialogs are not available");
    assert!(window.shows("1 error"));
}

#[test]
fn a_platforms_file_is_dropped_and_picked() {
    let folder = folder();
    let path = folder.path().join("pod.yaml");
    let pod = "apiVersion: v1\nkind: Pod\nspec:\n  containers: [{name: a, image: 'sample:devel'}]\n";
    fs::write(&path, pod).unwrap();
    let mut window = Window::with(Some(path.clone()));
    window.drop_file(&path);
    window.sees("pod.yaml configures a platform: open its image first, then drop it there");
    // The image that it names is in the field.
    window.press(Modifiers::NONE, Key::Enter);
    window.settles();
    assert!(window.has_tab("sample:devel"));
    window.drop_file(&path);
    window.sees("Platform file");
    assert!(window.in_front("Deploy"));
    window.sees("Line 4, spec.containers[0].image: high");
    window.click(Role::Button, "Close");
    window.press(Modifiers::COMMAND, Key::K);
    window.types("open platform");
    window.press(Modifiers::NONE, Key::Enter);
    window.click(Role::Button, "Browse…");
    window.sees("Open another…");
}

#[test]
fn a_dockerfile_is_dropped_copied_forgotten_and_picked() {
    let folder = folder();
    let path = folder.path().join("Dockerfile.gpu");
    fs::write(&path, crate::dockerfile_view::scene::ORIGINAL).unwrap();
    let image = folder.path().join("none.tar");
    fs::write(&image, [0; 512]).unwrap();
    let mut window = Window::with(Some(path.clone()));
    window.open("sample:runtime");
    window.settles();
    let views = window.harness.state_mut().views().unwrap();
    views.dockerfile = DockerfileView::with(crate::dockerfile_view::scene::proposer());
    window.press(CTRL_SHIFT, Key::C);
    assert!(window.in_front("Overview"), "nothing is proposed before it is shown");
    window.drop_file(&path);
    window.sees("Your Dockerfile: Dockerfile.gpu");
    assert!(window.in_front("Dockerfile"));
    window.harness.get_by_role_and_label(Role::Button, "Copy Dockerfile").click();
    window.until("copied text", |window| {
        let commands = &window.output().platform_output.commands;
        let minimal = crate::dockerfile_view::scene::MINIMAL;
        commands
            .iter()
            .any(|command| matches!(command, egui::OutputCommand::CopyText(text) if text == minimal))
    });
    window.sees("Proposed Dockerfile copied");
    window.press(Modifiers::COMMAND, Key::K);
    window.types("close dockerfile");
    window.press(Modifiers::NONE, Key::Enter);
    window.sees("Reconstructed from image history");
    window.press(CTRL_SHIFT, Key::D);
    window.click(Role::Button, "Browse…");
    window.sees("Your Dockerfile: Dockerfile.gpu");
    window.drop_file(&image);
    window.sees("Compare with sample:runtime");
    window.click(Role::Button, "Open in new tab");
    window.sees("none.tar");
    assert!(window.has_tab("none.tar") && window.has_tab("sample:runtime"));
}
