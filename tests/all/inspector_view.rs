//! The panel about a path: contents in all forms, why the path is there, and the ways to it.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::Arc;

use cutaway::gui::testing;
use cutaway::gui::views::{Command, View};
use egui::accesskit::Role;
use egui::{Key, Modifiers};
use egui_kittest::kittest::Queryable as _;

use crate::fixtures::image::Image;
use crate::fixtures::layout::Layout;
use crate::fixtures::packing::Packing;
use crate::fixtures::tarball::{dir, file, symlink as link, tar, whiteout};
use crate::journeys::Window;
use crate::support::Place;

fn image(place: &Place) -> String {
    let inner = tar([file("inside/one", "1"), file("two", vec![b'2'; 3000])]);
    let lines = (0..400).map(|line| format!("line {line}")).collect::<Vec<_>>().join("\n") + "\n";
    let image = Image::of(
        Packing::Gzip,
        [
            tar([
                dir("etc"),
                file("etc/lines", lines),
                file("etc/data.json", r#"{"b":[1,2],"a":"x"}"#),
                file("etc/bytes", vec![0, 1, 2, b'A', 0xff]),
                file("etc/inner.tar", inner),
                file("etc/gone", "lower version"),
                link("etc/link", "lines"),
                file("etc/latin", b"caf\xe9 and tea".to_vec()),
            ]),
            tar([whiteout("etc/gone"), file("etc/new", "upper")]),
        ],
    );
    place.put_layout("image", &Layout::of(&image, "a"))
}

#[test]
fn json_and_toml_are_folded() {
    let place = Place::new();
    let items = (0..400).map(|item| format!("{{\"name\":\"item {item}\"}}")).collect::<Vec<_>>().join(",");
    let files = [
        dir("a"),
        file("a/data.json", format!("{{\"z\":1,\"list\":[{items}]}}")),
        file("a/p.toml", "[tool]\nname = \"x\"\n"),
        file("a/broken.json", "{\n\"a\": 1,\n}\n"),
        file("a/none.json", "{}"),
        file("a/deep.json", "[".repeat(100_000) + &"]".repeat(100_000)),
        file("a/large.json", format!("[{}]", "1,".repeat(5 << 20) + "1")),
        file("a/bad.toml", "a = 1\na = 2\n"),
    ];
    let image = Image::of(Packing::Gzip, [tar(files)]);
    let mut window = opened(&place.put_layout("image", &Layout::of(&image, "a")), "/a/data.json");
    contents(&mut window);
    assert!(window.shows("z: 1") && window.shows("list, 400 items") && !window.shows("0, 1 member"));
    window.harness.get_by_role_and_label(Role::Tree, "File values").focus();
    window.harness.run_steps(2);
    for key in [Key::ArrowDown, Key::ArrowDown, Key::ArrowRight, Key::ArrowDown, Key::Space, Key::ArrowDown] {
        window.press(Modifiers::NONE, key);
        window.harness.run_steps(2);
    }
    assert!(window.shows("name: \"item 0\"") && !window.shows("item 1"));
    window.harness.get_by_label("Find in file").focus();
    window.harness.run_steps(2);
    window.types("ITEM 399");
    window.harness.run_steps(6);
    assert!(window.shows("1 of 1 value") && window.shows("name: \"item 399\""));
    // Enter on a value shows it in the text.
    window.harness.get_by_role_and_label(Role::Tree, "File values").focus();
    window.harness.run_steps(2);
    window.press(Modifiers::NONE, Key::Enter);
    window.harness.run_steps(4);
    assert!(window.shows("{\"z\":1,"));
    for (path, shown) in [
        ("/a/p.toml", "name: \"x\""),
        ("/a/broken.json", "Not valid JSON, line 3, column 1: key must be a string"),
        ("/a/none.json", "No values"),
        ("/a/deep.json", "Shown as text, line 1, column 130: more than 128 levels"),
        ("/a/large.json", "JSON of more than 8.00 MiB is shown as text"),
        ("/a/bad.toml", "Not valid TOML, line 2, column 1: duplicate key"),
    ] {
        select(&mut window, path);
        contents(&mut window);
        assert!(window.shows(shown), "{path}");
    }
    select(&mut window, "/a/broken.json");
    contents(&mut window);
    window.harness.get_by_role_and_label(Role::Button, "Go to line 3").click();
    window.harness.run_steps(3);
    assert!(window.shows("\"a\": 1,"));
}

/// A picture with pixels that can be seen through.
fn png(width: u32, height: u32) -> Vec<u8> {
    let mut bytes = std::io::Cursor::new(Vec::new());
    let pixel = |x: u32, y: u32| image::Rgba([x.to_le_bytes()[0], y.to_le_bytes()[0], 120, 200]);
    image::RgbaImage::from_fn(width, height, pixel).write_to(&mut bytes, image::ImageFormat::Png).unwrap();
    bytes.into_inner()
}

#[test]
fn pictures_are_shown() {
    let place = Place::new();
    let broken = png(40, 30)[..60].to_vec();
    let mut hostile = png(40, 30);
    hostile[16..20].fill(0x7f);
    let mut crc = flate2::Crc::new();
    crc.update(&hostile[12..29]);
    hostile[29..33].copy_from_slice(&crc.sum().to_be_bytes());
    let files = [
        dir("a"),
        file("a/large.png", png(1600, 900)),
        file("a/small", png(40, 30)),
        file("a/broken.png", broken),
        file("a/hostile.png", hostile),
        file("a/other.jpg", vec![0; 64]),
        // Begins like a BMP.
        file("a/words", "BM is short for bitmap"),
    ];
    let image = Image::of(Packing::Gzip, [tar(files)]);
    let mut window = opened(&place.put_layout("image", &Layout::of(&image, "a")), "/a/large.png");
    contents(&mut window);
    assert!(window.shows("PNG picture, 1,600 × 900 pixels, 8-bit RGBA"), "{:#?}", window.harness.root());
    let name = "large.png, PNG picture, 1,600 × 900 pixels, 8-bit RGBA";
    window.harness.get_by_role_and_label(Role::Image, name);
    window.harness.get_by_role_and_label(Role::Button, "Actual size").click();
    window.harness.run_steps(3);
    window.harness.get_by_role_and_label(Role::Image, name).focus();
    window.harness.run_steps(2);
    window.press(Modifiers::NONE, Key::ArrowRight);
    window.harness.run_steps(2);
    for (path, shown, hex) in [
        ("/a/small", "PNG picture, 40 × 30 pixels", false),
        ("/a/broken.png", "Cannot show the PNG picture: ", true),
        ("/a/hostile.png", "Cannot show the PNG picture: larger than 8,192 pixels a side", true),
        ("/a/other.jpg", "Not a picture of the format in its name", true),
        ("/a/words", "ASCII, 1 line", false),
    ] {
        select(&mut window, path);
        contents(&mut window);
        assert!(window.shows(shown), "{path}");
        assert_eq!(window.shows("00000000  "), hex, "{path}");
    }
}

/// A window with this image in Layers, and a path selected.
fn opened(image: &str, path: &str) -> Window {
    let setup = cutaway::gui::app::Setup { image: Some(image.to_owned()), ..testing::setup() };
    let mut window = Window::of([1400.0, 1300.0], setup);
    window.settles();
    select(&mut window, path);
    window
}

fn select(window: &mut Window, path: &str) {
    let path = path.as_bytes().to_vec();
    let app = window.harness.state_mut();
    app.run(Command::Show(View::Layers));
    app.views().unwrap().layers.select_path(path);
    window.harness.run_steps(8);
}

/// Shows the contents of the selected path.
fn contents(window: &mut Window) {
    window.press(Modifiers::NONE, Key::F3);
    window.harness.run_steps(4);
    window.until("contents", |harness| !harness.state().is_working());
    window.harness.run_steps(4);
}

#[test]
fn text_has_its_encoding_lines_and_search() {
    let place = Place::new();
    let mut window = opened(&image(&place), "/etc/lines");
    contents(&mut window);
    assert!(window.shows("ASCII, 400 lines"));
    assert!(window.shows("line 0") && !window.shows("line 399"));
    window.harness.get_by_label("Find in file").focus();
    window.harness.run_steps(2);
    window.types("line 399");
    window.harness.run_steps(6);
    assert!(window.shows("1 of 1 line") && window.shows("line 399"));
    // The same key closes the panel.
    window.harness.get_by_role_and_label(Role::Tree, "Files").focus();
    window.harness.run_steps(2);
    window.press(Modifiers::NONE, Key::F3);
    window.harness.run_steps(4);
    assert!(!window.shows("ASCII, 400 lines"));
}

#[test]
fn every_form_of_contents_is_shown() {
    let place = Place::new();
    let image = image(&place);
    let cases = [
        ("/etc/data.json", "b, 2 items"),
        ("/etc/bytes", "00000000  00 01 02 41 ff"),
        ("/etc/inner.tar", "tar: 2 members"),
        ("/etc/latin", "not UTF-8; other bytes as \\xNN, 1 line, 12 B"),
        ("/etc/link", "line 0"),
    ];
    let mut window = opened(&image, "/etc/data.json");
    for (path, shown) in cases {
        select(&mut window, path);
        contents(&mut window);
        assert!(window.shows(shown), "{path}: {:#?}", window.harness.root());
    }
}

#[test]
fn the_details_of_a_file_lead_on() {
    let mut window = opened("sample:devel", "/usr/local/cuda-13.0/bin/nvcc");
    window.sees("Removable: Compilers");
    assert!(window.shows("cuda-nvcc-13-0"));
    window.press(Modifiers::COMMAND, Key::I);
    window.harness.run_steps(4);
    window.sees("Without it");
    for part in ["Removable", "Brought by", "Package", "Findings"] {
        assert!(window.shows(part), "{part}");
    }
    // The finding is a link.
    let finding = "Compilers in the CUDA toolkit /usr/local/cuda-13.0";
    window.harness.get_all_by_role_and_label(Role::Link, finding).next().unwrap().click();
    window.harness.run_steps(6);
    assert!(window.in_front("Findings"));
}

/// Saves the file of the panel under a path.
fn save_to(window: &mut Window, to: &Path) {
    window.harness.get_by_role_and_label(Role::Button, "Save…").click();
    window.harness.run_steps(3);
    window.harness.get_by_role_and_label(Role::TextInput, "Save to").focus();
    window.harness.run_steps(2);
    window.press(Modifiers::COMMAND, Key::A);
    window.harness.run_steps(2);
    window.types(to.to_str().unwrap());
    window.harness.run_steps(2);
    window.harness.get_by_role_and_label(Role::Button, "Save").click();
    window.harness.run_steps(3);
}

#[test]
fn a_file_is_saved_and_nothing_is_replaced() {
    let place = Place::new();
    let folder = tempfile::tempdir().unwrap();
    let to = folder.path().join("lines");
    fs::write(&to, "mine").unwrap();
    let mut window = opened(&image(&place), "/etc/lines");
    contents(&mut window);
    save_to(&mut window, &to);
    window.sees("Not saved");
    assert_eq!(fs::read(&to).unwrap(), b"mine");
    fs::remove_file(&to).unwrap();
    save_to(&mut window, &to);
    window.sees("Saved ");
    assert!(fs::read(&to).unwrap().starts_with(b"line 0\nline 1\n"));
}

#[test]
fn escape_closes_the_panel_while_a_list_has_the_focus() {
    let place = Place::new();
    let mut window = opened(&image(&place), "/etc/lines");
    let has_focus = |window: &Window, role: Role| {
        let mut all = window.harness.get_all_by_role(role);
        all.any(|node| egui_kittest::kittest::NodeT::accesskit_node(&node).is_focused())
    };
    for page in ["Contents", "Why is this here?"] {
        let row = window.harness.get_all_by_role(Role::TreeItem).next().unwrap();
        row.click();
        window.harness.run_steps(2);
        select(&mut window, "/etc/lines");
        contents(&mut window);
        window.click(Role::Tab, page);
        // The keyboard is in the files, beside the panel.
        let row = window.harness.get_all_by_role(Role::TreeItem).last().unwrap();
        row.click();
        window.harness.run_steps(2);
        assert!(window.shows("Close panel"), "{page}");
        window.press(Modifiers::NONE, Key::Escape);
        assert!(!window.shows("Close panel"), "{page}");
        assert!(has_focus(&window, Role::Tree) || has_focus(&window, Role::TreeItem), "the list keeps it");
    }
}

#[test]
fn selected_rows_are_saved_as_one_archive() {
    let place = Place::new();
    let files = [
        dir("a"),
        dir("a/sub"),
        file("a/sub/deep", vec![b'd'; 3000]),
        file("b", "b of the lower layer"),
        file("c", "not selected"),
        file("d", "d"),
        file("gone", "lower version"),
    ];
    let image =
        Image::of(Packing::Gzip, [tar(files), tar([whiteout("gone"), file("b", "b of the upper layer")])]);
    let folder = tempfile::tempdir().unwrap();
    let to = folder.path().join("selection.tar");
    let mut window = opened(&place.put_layout("image", &Layout::of(&image, "a")), "/a");
    window.harness.get_by_role_and_label(Role::Tree, "Files").focus();
    window.harness.run_steps(2);
    // Rows: a/sub, b, gone, c, d. With Shift a range; Space takes a file out of it.
    for (key, modifiers, shown) in [
        (Key::ArrowDown, Modifiers::SHIFT, "2 selected: 2.95 KiB in 2 files"),
        (Key::ArrowDown, Modifiers::SHIFT, "3 selected: 2.95 KiB in 2 files"),
        (Key::ArrowDown, Modifiers::SHIFT, "4 selected: 2.96 KiB in 3 files"),
        (Key::Space, Modifiers::NONE, "3 selected: 2.95 KiB in 2 files"),
        (Key::Space, Modifiers::COMMAND, "4 selected: 2.96 KiB in 3 files"),
        (Key::Space, Modifiers::COMMAND, "3 selected: 2.95 KiB in 2 files"),
    ] {
        window.press(modifiers, key);
        window.harness.run_steps(2);
        window.sees(shown);
    }
    window.harness.get_by_role_and_label(Role::TreeItem, "d, 1 B").click_modifiers(Modifiers::COMMAND);
    window.harness.run_steps(3);
    window.sees("4 selected: 2.95 KiB in 3 files");
    window.harness.get_by_role_and_label(Role::Button, "Save selection as tar…").click();
    window.harness.run_steps(3);
    window.press(Modifiers::COMMAND, Key::A);
    window.harness.run_steps(2);
    window.types(to.to_str().unwrap());
    window.harness.run_steps(2);
    window.press(Modifiers::NONE, Key::Enter);
    window.harness.run_steps(3);
    window.until("the archive", |harness| !harness.state().is_working());
    window.harness.run_steps(4);
    window.sees("Saved 3 files, 1 left out to ");
    let wanted = [("a/sub/", 0), ("a/sub/deep", 3000), ("b", 20), ("d", 1)];
    assert_eq!(members(&to), wanted.map(|(name, size)| (name.to_owned(), size)));
    // An arrow alone chooses one row again.
    window.harness.get_by_role_and_label(Role::Tree, "Files").focus();
    window.harness.run_steps(2);
    window.press(Modifiers::NONE, Key::ArrowUp);
    window.harness.run_steps(3);
    assert!(!window.shows("selected: "));
}

/// Names and bytes in an archive, in order of the names.
fn members(archive: &Path) -> Vec<(String, u64)> {
    let mut names: Vec<_> = tar::Archive::new(fs::File::open(archive).unwrap())
        .entries()
        .unwrap()
        .map(|entry| entry.unwrap())
        .map(|entry| (String::from_utf8_lossy(&entry.path_bytes()).into_owned(), entry.size()))
        .collect();
    names.sort();
    names
}

/// Everything in the tree is selected: names that could do harm, links out of a folder, a folder with what is in it, and
/// a path whose folder became a link.
#[test]
fn a_hostile_selection_stays_inside_its_archive() {
    let place = Place::new();
    let lower = [
        dir("a"),
        file("a/one", "1"),
        file("a/new\nline\u{202e}", "22"),
        link("a/out", "/../../etc/passwd"),
        file("../../escaped", "333"),
        dir("b"),
        file("b/was", "of b"),
        dir("c"),
        file("c/was", "of c, seen by nobody"),
    ];
    let upper = [whiteout("c"), link("c", "b")];
    let image = Image::of(Packing::Gzip, [tar(lower), tar(upper)]);
    let folder = tempfile::tempdir().unwrap();
    let to = folder.path().join("all.tar");
    let mut window = opened(&place.put_layout("image", &Layout::of(&image, "a")), "/a/one");
    window.harness.get_by_role_and_label(Role::Tree, "Files").focus();
    window.harness.run_steps(2);
    window.press(Modifiers::NONE, Key::Home);
    window.harness.run_steps(2);
    for _ in 0..12 {
        window.press(Modifiers::SHIFT, Key::ArrowDown);
        window.harness.run_steps(2);
    }
    window.harness.get_by_role_and_label(Role::Button, "Save selection as tar…").click();
    window.harness.run_steps(3);
    window.press(Modifiers::COMMAND, Key::A);
    window.harness.run_steps(2);
    window.types(to.to_str().unwrap());
    window.harness.run_steps(2);
    window.press(Modifiers::NONE, Key::Enter);
    window.harness.run_steps(3);
    window.until("the archive", |harness| !harness.state().is_working());
    window.harness.run_steps(4);
    window.sees("Saved 4 files");
    let wanted = [
        ("a/", 0),
        ("a/new\nline\u{202e}", 2),
        ("a/one", 1),
        ("a/out", 0),
        ("b/", 0),
        ("b/was", 4),
        ("c", 0),
        ("escaped", 3),
    ];
    assert_eq!(members(&to), wanted.map(|(name, size)| (name.to_owned(), size)));
}

#[test]
fn files_open_with_other_programs_as_private_copies() {
    let place = Place::new();
    let (sender, opened_paths) = std::sync::mpsc::channel();
    let opener = Arc::new(move |path: &Path| {
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        let modes = [path, path.parent().unwrap(), path.parent().unwrap().parent().unwrap()].map(mode);
        sender.send((path.to_owned(), fs::read(path).unwrap(), modes)).map_err(|error| error.to_string())
    });
    let files =
        [dir("a"), file("a/-plot\u{202e}.png", png(40, 30)), file("a/tool", b"\x7fELF\x02\x01\x01".to_vec())];
    let image = Image::of(Packing::Gzip, [tar(files)]);
    let image = place.put_layout("image", &Layout::of(&image, "a"));
    let setup = cutaway::gui::app::Setup { image: Some(image), opener, ..testing::setup() };
    let mut window = Window::of([1400.0, 1300.0], setup);
    window.settles();
    select(&mut window, "/a/-plot\u{202e}.png");
    contents(&mut window);
    let open = |window: &mut Window| {
        window.harness.get_by_role_and_label(Role::Button, "Open externally").click();
        window.harness.run_steps(3);
        window.until("the copy", |harness| !harness.state().is_working());
        window.harness.run_steps(3);
    };
    open(&mut window);
    window.sees("Opened the copy ");
    window.sees("/1/plot_.png, which is removed when the window closes");
    let (path, bytes, modes) = opened_paths.recv_timeout(std::time::Duration::from_mins(1)).unwrap();
    assert_eq!((modes, bytes), ([0o400, 0o700, 0o700], png(40, 30)));
    assert!(path.ends_with("1/plot_.png"));
    select(&mut window, "/a/tool");
    contents(&mut window);
    open(&mut window);
    window.sees("Cannot open tool: it is an ELF program or library");
    assert!(opened_paths.try_recv().is_err());
    drop(window);
    assert!(!path.exists() && !path.parent().unwrap().parent().unwrap().exists());
}
