//! The whole way: the window, a check in a process of its own, and a library that stands in for the driver's.

use std::path::{Path, PathBuf};
use std::process::Command;

use cutaway::gui::models::gpu::MachineSetup;
use egui::Key;
use egui::accesskit::Role;
use egui_kittest::kittest::Queryable as _;

use crate::journeys::Window;

/// A stand-in for the driver's library on a device that is simulated.
fn stand_in(folder: &Path) -> PathBuf {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fake_cuda");
    let made = folder.join("libcuda.so.1");
    let done = Command::new("gcc")
        .args(["-std=gnu11", "-O2", "-shared", "-fPIC", "-fvisibility=hidden", "-o"])
        .arg(&made)
        .args([sources.join("fake_cuda.c"), sources.join("ptx.c")])
        .arg("-lm")
        .output()
        .expect("gcc runs");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    made
}

#[test]
fn one_check_in_a_process_of_its_own_is_shown_by_all_tabs() {
    let folder = tempfile::tempdir().unwrap();
    let setup = MachineSetup {
        executable: Some(env!("CARGO_BIN_EXE_cutaway").into()),
        library: Some(stand_in(folder.path())),
        history: Some(folder.path().join("data/gpu-history.json")),
        ..MachineSetup::default()
    };
    let mut window = Window::on(setup);
    // Without an image, from the start screen.
    window.click(Role::Link, "This machine's GPU");
    window.sees("libcuda.so.1 found: ");
    window.click(Role::Button, "Run check");
    window.sees("This GPU works: all ");
    window.sees("Simulated GPU");
    window.click(Role::Link, "Open image");
    window.sees("Open a container image");

    for reference in ["sample:devel", "sample:runtime"] {
        window.open(reference);
        window.settles();
        window.press(egui::Modifiers::COMMAND, Key::Num7);
        window.sees("This GPU works: all ");
        window.sees("host, Simulated GPU (9.0), driver ");
    }
    assert!(folder.path().join("data/gpu-history.json").exists());
    window.press(egui::Modifiers::COMMAND, Key::K);
    window.types("run gpu check");
    window.press(egui::Modifiers::NONE, Key::Enter);
    window.until("a second run", |window| window.query_all_by_label_contains(" works, ").count() == 2);
}
