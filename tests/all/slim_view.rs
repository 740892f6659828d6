//! "Write slim image…" as people use it: from where it opens, what its choices do, what is written, and what is not.

use std::fs;
use std::path::Path;

use cutaway::formats::contents::Format;
use cutaway::gui::app::Setup;
use cutaway::gui::testing;
use cutaway::gui::views::Command;
use egui::accesskit::Role;
use egui::{Key, Modifiers, Theme};
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use serde_json::Value;

use crate::fixtures::image::Image;
use crate::fixtures::layout::Layout;
use crate::fixtures::packing::Packing;
use crate::fixtures::tarball::{file, tar, whiteout};
use crate::journeys::Window;
use crate::pictures::{can_paint, take};
use crate::registry::bench::{noise, ready};
use crate::registry::server::Server;
use crate::support::Place;
use crate::tables::writer::pack;

const OPEN: &str = "Write slim image…";
const NONE: Modifiers = Modifiers::NONE;

/// A window with an image that was read, and the sheet with its sizes.
fn sheet(image: &str) -> Window {
    let mut window = Window::of([1100.0, 900.0], Setup { image: Some(image.to_owned()), ..testing::setup() });
    window.settles();
    window.harness.state_mut().run(Command::WriteSlim);
    window.sees("Destination");
    sized(&mut window);
    window
}

/// Steps until the sizes of the choices are there.
fn sized(window: &mut Window) {
    window.settles();
    window.sees("Merged");
    // The sheet grows with them, and takes its place in the middle again.
    window.harness.run_steps(4);
}

/// Types a destination of this kind.
fn choose(window: &mut Window, kind: &str, name: &str) {
    window.click(Role::Button, kind);
    let label = if name.starts_with('/') { "Path" } else { "Name" };
    window.harness.get_by_role_and_label(Role::TextInput, label).focus();
    window.harness.run_steps(2);
    window.press(Modifiers::COMMAND, Key::A);
    window.types(name);
    window.settles();
    window.harness.run_steps(4);
}

/// What the sheet says of a size or a count.
fn fact(window: &Window, part: &str) -> String {
    let found: Vec<String> = window
        .harness
        .query_all_by_label_contains(part)
        .filter_map(|node| node.accesskit_node().value().or_else(|| node.accesskit_node().label()))
        .collect();
    found.first().unwrap_or_else(|| panic!("no {part}")).clone()
}

fn can_write(window: &Window) -> bool {
    let write = window.harness.get_by_role_and_label(Role::Button, "Write");
    !write.accesskit_node().is_disabled()
}

/// What the command would write.
fn dry_run(place: &Place, image: &str, arguments: &[&str]) -> Value {
    let outcome = place.run(&[&["slim", image, "--dry-run", "--format", "json"], arguments].concat());
    serde_json::from_str(&outcome.stdout).unwrap()
}

fn names(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

/// A layout whose lower layer has a large file that stays, takes a while to compress, and one that the upper shadows.
fn slow(folder: &Path) -> String {
    let lower = tar([file("srv/data.bin", noise("slow", 96 << 20)), file("srv/old", vec![b'a'; 4 << 20])]);
    let image = Image::new(Packing::Plain)
        .layer("COPY data / # buildkit", &lower)
        .layer("COPY new / # buildkit", &tar([file("srv/old", *b"new")]));
    let path = folder.join("slow");
    Layout::of(&image, "latest").write(&path);
    format!("oci:{}", path.display())
}

/// Begins to write a slow image to the folder `out` of `folder`.
fn writing(folder: &Path) -> Window {
    let mut window = sheet(&slow(folder));
    fs::create_dir(folder.join("out")).unwrap();
    let out = folder.join("out/slim");
    choose(&mut window, "OCI layout", out.to_str().unwrap());
    window.click(Role::Button, "Write");
    window.sees(" of 2 layers written");
    window.until("bytes on disk", |_| !names(&folder.join("out")).is_empty());
    window
}

#[test]
fn the_sheet_opens_from_views_menu_and_palette() {
    let mut window = Window::of([1100.0, 900.0], testing::setup());
    window.press(Modifiers::COMMAND, Key::K);
    window.types("slim");
    let option = window.harness.get_by_role_and_label(Role::ListBoxOption, OPEN);
    assert!(option.accesskit_node().is_disabled(), "there is no image");
    window.press(NONE, Key::Escape);

    window.open("sample:devel");
    window.settles();
    for view in ["Overview", "Findings"] {
        window.click(Role::Tab, view);
        let button = window.harness.get_by_role_and_label(Role::Button, OPEN);
        button.scroll_to_me();
        window.harness.run_steps(4);
        window.click(Role::Button, OPEN);
        window.sees("Destination");
        window.harness.run_steps(2);
        let path = window.harness.get_by_role_and_label(Role::TextInput, "Path");
        assert!(path.is_focused(), "{view}");
        window.press(NONE, Key::Escape);
        assert!(!window.shows("Destination"), "Escape closes it");
    }
    window.press(Modifiers::COMMAND, Key::K);
    window.types("slim");
    window.press(NONE, Key::Enter);
    window.sees("Destination");
    sized(&mut window);
    window.click(Role::Button, "Close");
    window.until("view", |window| window.query_all_by_label_contains("Destination").next().is_none());
    // Where no view has the button.
    window.press(Modifiers::COMMAND, Key::Num2);
    assert!(window.in_front("Layers"));
    window.click(Role::Button, "Image");
    window.click(Role::Button, OPEN);
    window.sees("Destination");
}

#[test]
fn sizes_are_those_of_the_plan_and_follow_the_choices() {
    let place = Place::new();
    let mut window = sheet("sample:devel");
    let merged = |document: &Value| {
        let size = |part: &str| cutaway::base::size::human(document[part]["merged_bytes"].as_u64().unwrap());
        format!("{} before, {} after", size("before"), size("after"))
    };
    window.sees(&merged(&dry_run(&place, "sample:devel", &[])));
    let all = fact(&window, "20 layers: ");
    window.click(Role::CheckBox, "Keep the layers of the base image");
    sized(&mut window);
    window.sees(&merged(&dry_run(&place, "sample:devel", &["--keep-base"])));
    assert_ne!(fact(&window, "20 layers: "), all);
    window.sees("unchanged, which keeps ");
    // Choices stay until the window is closed, and a smaller plan removes less.
    window.press(NONE, Key::Escape);
    window.click(Role::Tab, "Findings");
    window.harness.state_mut().run(Command::ClearPlan);
    window.harness.state_mut().run(Command::WriteSlim);
    sized(&mut window);
    window.sees("unchanged, which keeps ");
    window.sees("0 files from 0 findings");
}

#[test]
fn a_destination_that_cannot_be_used_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    fs::write(at("taken.tar"), b"mine").unwrap();
    fs::create_dir(at("full")).unwrap();
    fs::write(at("full/letter"), b"mine").unwrap();
    let mut window = sheet("sample:devel");
    assert!(!can_write(&window), "there is no destination");
    for (kind, name, reason) in [
        ("Docker archive", at("taken.tar"), "the file exists; remove it, or choose another name"),
        ("OCI archive", at("taken.tar"), "the file exists"),
        ("OCI layout", at("full"), "is not empty, and is not an OCI image layout"),
        ("Directory", at("full"), "the folder exists and is not empty"),
        ("OCI layout", at("no/such:1"), "create it first"),
        ("OCI layout", at("new:-"), "invalid tag"),
        ("Registry", "UPPER/Case".to_owned(), "invalid destination"),
    ] {
        choose(&mut window, kind, &name);
        window.sees(reason);
        assert!(!can_write(&window), "{kind} {name}");
        window.press(NONE, Key::Enter);
        window.settles();
    }
    assert_eq!(names(folder.path()), ["full", "taken.tar"]);
    assert_eq!(names(&folder.path().join("full")), ["letter"]);
    choose(&mut window, "OCI layout", &at("new:1"));
    assert!(can_write(&window));
}

#[test]
fn a_layout_is_written_and_compared() {
    let (place, folder) = (Place::new(), tempfile::tempdir().unwrap());
    let mut window = sheet("sample:devel");
    let out = folder.path().join("out").to_str().unwrap().to_owned();
    choose(&mut window, "OCI layout", &format!("{out}:1.0"));
    window.click(Role::Button, "zstd");
    window.harness.get_by_role_and_label(Role::TextInput, "Path").focus();
    window.harness.run_steps(2);
    // Enter in the field writes.
    window.press(NONE, Key::Enter);
    window.sees("Slim image written");
    window.settles();
    window.sees("as predicted");
    assert!(window.shows("rewritten") && window.shows("Files removed"));
    let expected = dry_run(&place, "sample:devel", &[]);
    let report = place.report(&format!("oci:{out}:1.0"));
    for size in ["merged_bytes", "content_bytes"] {
        assert_eq!(report.total(size), expected["after"][size].as_u64().unwrap(), "{size}");
    }
    let compressed = cutaway::base::size::human(report.total("compressed_bytes"));
    window.sees(&format!("{compressed} after"));
    let compressions = report.layers().iter().map(|layer| layer["compression"].as_str().unwrap());
    assert!(compressions.collect::<Vec<_>>().contains(&"zstd"));
    assert_eq!(names(folder.path()), ["out"], "nothing else is left");
    // The comparison is in front of the sheet's image, with the written one beside it.
    window.press(NONE, Key::Escape);
    assert!(!window.shows("Slim image written"));
    assert!(window.in_front("sample:devel") && window.in_front("Compare"));
    window.until("comparison", |window| !window.state().is_busy() && !window.state().is_working());
    window.sees("B out:1.0");
    window.sees("Pull size");

    // The same layout takes another image beside the first.
    window.harness.state_mut().run(Command::WriteSlim);
    sized(&mut window);
    choose(&mut window, "OCI layout", &format!("{out}:2.0"));
    window.sees("others stay");
    window.click(Role::Button, "Write");
    window.sees("Slim image written");
    assert_eq!(place.report(&format!("oci:{out}:1.0")).total("merged_bytes"), report.total("merged_bytes"));
    assert_eq!(place.report(&format!("oci:{out}:2.0")).total("merged_bytes"), report.total("merged_bytes"));
}

#[test]
fn an_archive_is_written_with_the_base_kept() {
    let (place, folder) = (Place::new(), tempfile::tempdir().unwrap());
    let mut window = sheet("sample:devel");
    window.click(Role::CheckBox, "Keep the layers of the base image");
    sized(&mut window);
    let out = folder.path().join("slim.tar").to_str().unwrap().to_owned();
    choose(&mut window, "Docker archive", &format!("{out}:me/app:1"));
    window.click(Role::Button, "Write");
    window.sees("Slim image written");
    window.sees("The layers of the base image keep ");
    let close = window.harness.get_by_role_and_label(Role::Button, "Show comparison");
    assert!(close.is_focused());
    window.press(NONE, Key::Enter);
    assert!(window.in_front("Compare"));
    window.until("comparison", |window| !window.state().is_busy() && !window.state().is_working());
    let expected = dry_run(&place, "sample:devel", &["--keep-base"]);
    let report = place.report(&format!("docker-archive:{out}"));
    assert_eq!(report.total("merged_bytes"), expected["after"]["merged_bytes"].as_u64().unwrap());
    assert_eq!(names(folder.path()), ["slim.tar"]);
}

#[test]
fn cancelling_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut window = writing(folder.path());
    // Hidden, it goes on, and the status bar stops it too.
    window.press(NONE, Key::Escape);
    assert!(!window.shows("Destination"));
    window.click(Role::Button, "writing slow");
    window.sees("Destination");
    window.click(Role::Button, "Cancel");
    window.sees("Cancelled. Nothing was written.");
    assert_eq!(names(&folder.path().join("out")), [""; 0]);
    assert!(can_write(&window), "it can be tried again");
    window.click(Role::Button, "Write");
    window.until("bytes on disk", |_| !names(&folder.path().join("out")).is_empty());
    window.press(NONE, Key::Escape);
    window.click(Role::Button, "Cancel writing slow");
    window.settles();
    assert_eq!(names(&folder.path().join("out")), [""; 0]);
}

#[test]
fn closing_the_window_leaves_nothing_half_written() {
    let folder = tempfile::tempdir().unwrap();
    drop(writing(folder.path()));
    assert_eq!(names(&folder.path().join("out")), [""; 0]);
}

#[test]
fn writing_goes_on_when_its_tab_is_closed() {
    let folder = tempfile::tempdir().unwrap();
    let mut window = writing(folder.path());
    window.press(NONE, Key::Escape);
    window.press(Modifiers::COMMAND, Key::W);
    assert!(!window.has_tab("slow"));
    window.settles();
    assert!(window.in_front("slim"), "the written image opens alone");
    assert_eq!(names(&folder.path().join("out")), ["slim"]);
}

#[test]
fn an_error_is_shown_and_can_be_retried() {
    // A port that nobody listens on.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let mut window = sheet("sample:devel");
    choose(&mut window, "Registry", &format!("127.0.0.1:{port}/team/app:1"));
    window.click(Role::Button, "Write");
    window.settles();
    window.sees("Connection refused");
    assert!(window.shows(&format!("to 127.0.0.1:{port}/team/app")));
    window.sees("What to do");
    assert!(window.shows("1 error"), "the log has it");
    assert!(!window.in_front("Compare"));
    window.harness.get_by_role_and_label(Role::Button, "Try again");
}

#[test]
fn a_layer_that_cannot_be_written_says_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    // The only layer of the result is rewritten: the other one has nothing left to hide.
    let image = Image::new(Packing::Plain)
        .layer(
            "COPY data / # buildkit",
            &tar([file("srv/data", noise("data", 24 << 20)), file("srv/old", *b"old")]),
        )
        .layer("RUN rm /srv/old # buildkit", &tar([whiteout("srv/old")]));
    let path = folder.path().join("image");
    Layout::of(&image, "latest").write(&path);
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let mut window = sheet(&format!("oci:{}", path.display()));
    choose(&mut window, "Registry", &format!("127.0.0.1:{port}/team/app:1"));
    window.click(Role::Button, "Write");
    window.settles();
    window.sees("Cannot write layer 0");
    window.sees(&format!("Check that 127.0.0.1:{port} is up"));
}

#[test]
fn layers_known_by_their_tables_are_read_first() {
    if !ready() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let lower = [file("srv/data.bin", noise("data", 1 << 20)), file("srv/old", vec![b'a'; 1 << 20])];
    let image = Image::default()
        .add("COPY data / # buildkit", pack(Format::Estargz, &lower).layer(Format::Estargz))
        .add(
            "COPY new / # buildkit",
            pack(Format::Estargz, &[file("srv/old", *b"new")]).layer(Format::Estargz),
        );
    let server = Server::plain();
    server.push(&Layout::of(&image, "1"), "1", "team/lazy:1");
    let image = Some(format!("docker://127.0.0.1:{}/team/lazy:1", server.port));
    let mut window = Window::of([1100.0, 900.0], Setup { image, ..testing::setup() });
    window.settles();
    window.harness.state_mut().run(Command::WriteSlim);
    window.sees("Layers were read by their tables of contents");
    assert!(!can_write(&window));
    window.click(Role::Button, "Read all layers");
    sized(&mut window);
    let out = folder.path().join("out");
    choose(&mut window, "OCI layout", out.to_str().unwrap());
    window.click(Role::Button, "Write");
    window.sees("Slim image written");
    let place = Place::new();
    assert_eq!(place.report(&format!("oci:{}", out.display())).total("wasted_bytes"), 0);
}

#[test]
fn a_path_can_be_picked() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("picked.tar");
    let picker = testing::picker(Some(path.clone()));
    let setup = Setup { image: Some("sample:devel".to_owned()), picker, ..testing::setup() };
    let mut window = Window::of([1100.0, 900.0], setup);
    window.settles();
    window.harness.state_mut().run(Command::WriteSlim);
    sized(&mut window);
    window.click(Role::Button, "OCI archive");
    window.click(Role::Button, "Browse…");
    let browse = window.harness.get_by_role_and_label(Role::Button, "Browse…");
    assert!(browse.accesskit_node().is_disabled(), "one dialog at a time");
    window.until("path", |window| {
        let field = window.get_by_role_and_label(Role::TextInput, "Path");
        field.accesskit_node().value().as_deref() == path.to_str()
    });
    window.settles();
    assert!(can_write(&window));
}

#[test]
fn the_sheet_in_a_small_window() {
    if !can_paint() {
        return;
    }
    let setup = Setup { image: Some("sample:devel".to_owned()), ..testing::setup() };
    let mut window = Window::painted(Theme::Light, [860.0, 560.0], setup);
    window.settles();
    window.harness.state_mut().run(Command::WriteSlim);
    sized(&mut window);
    choose(&mut window, "Docker archive", "/no/such/folder/slim.tar");
    window.sees("create it first");
    // A caret blinks.
    window.press(NONE, Key::Tab);
    take(&mut window, "slim_light");
}

#[test]
fn gpu_code_is_kept_for_chosen_gpus_only() {
    let (place, folder) = (Place::new(), tempfile::tempdir().unwrap());
    let mut window = sheet("sample:devel");
    let all = fact(&window, "KiB before, about ");
    window.sees("If none is selected, all GPU code stays.");
    window.click(Role::CheckBox, "H100 80GB (9.0)");
    sized(&mut window);
    assert_ne!(fact(&window, "KiB before, about "), all);
    window.sees("removed, compressed about ");
    window.sees("NVIDIA's licenses");
    let out = folder.path().join("out").to_str().unwrap().to_owned();
    choose(&mut window, "OCI layout", &out);
    window.click(Role::Button, "Write");
    window.sees("Slim image written");
    let expected = dry_run(&place, "sample:devel", &["--target", "h100"]);
    let written = place.report(&format!("oci:{out}"));
    assert_eq!(written.json["image"]["config"]["labels"]["dev.cutaway.gpu.targets"], "9.0");
    let code: u64 = expected["gpu_code"]["libraries"]
        .as_array()
        .unwrap()
        .iter()
        .map(|line| line["entries_removed"].as_u64().unwrap())
        .sum();
    assert!(code > 0);
    assert_eq!(written.total("merged_bytes"), expected["after"]["merged_bytes"].as_u64().unwrap());
}
