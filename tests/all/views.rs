//! The views as a user meets them: by role and name, with mouse and keyboard.

use std::sync::Arc;

use cutaway::analysis::Analysis;
use cutaway::gui::models::files::FileTreeRows;
use cutaway::gui::views::{Action, ImageView as _, View};
use egui::accesskit::Role;
use egui::{Key, Modifiers};
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT as _, Queryable as _};

use crate::models::{analysis, layers, sized, three_layers, wide};
use crate::view_stage::{Stage, actions, press, until};

/// A view of `analysis` that carries out no action.
fn show(analysis: Arc<Analysis>, view: View) -> Harness<'static, Stage> {
    Stage::new(analysis, view).show([1300.0, 900.0])
}

/// What the tree says of its rows, top to bottom.
fn rows(harness: &Harness<'_, Stage>) -> Vec<String> {
    harness.get_all_by_role(Role::TreeItem).filter_map(|row| row.accesskit_node().label()).collect()
}

fn chosen(harness: &Harness<'_, Stage>) -> String {
    let details = harness.state().views.layers.browser().details();
    details.map(|details| details.shown_path.clone()).unwrap_or_default()
}

#[test]
fn the_tree_is_walked_by_arrows_and_by_vim_keys() {
    let mut harness = show(analysis("sample:devel"), View::Layers);
    let row = harness.get_by_role_and_label(Role::TreeItem, "usr, 11.8 MiB in 891 files");
    assert_eq!(row.accesskit_node().data().is_expanded(), Some(false));
    row.click();
    harness.run();
    assert_eq!(chosen(&harness), "/usr");
    let row = harness.get_by_role_and_label(Role::TreeItem, "usr, 11.8 MiB in 891 files");
    assert!(row.is_focused(), "the chosen row stands for the tree");
    press(&mut harness, &[Key::ArrowRight, Key::ArrowDown]);
    let inside = chosen(&harness);
    assert!(inside.starts_with("/usr/") && inside.matches('/').count() == 2, "{inside}");
    let row = harness.get_by_role_and_label(Role::TreeItem, "usr, 11.8 MiB in 891 files");
    assert_eq!(row.accesskit_node().data().is_expanded(), Some(true));
    press(&mut harness, &[Key::L, Key::J]);
    assert_eq!(chosen(&harness).matches('/').count(), 3);
    press(&mut harness, &[Key::H, Key::H, Key::H]);
    assert_eq!(chosen(&harness), "/usr");
    press(&mut harness, &[Key::ArrowLeft]);
    assert!(rows(&harness).iter().all(|row| !row.starts_with("local")));
    press(&mut harness, &[Key::End]);
    let last = chosen(&harness);
    press(&mut harness, &[Key::K, Key::Home]);
    assert_ne!(last, chosen(&harness));
    assert_eq!(chosen(&harness), "/usr");
    press(&mut harness, &[Key::Enter]);
    assert!(rows(&harness).iter().any(|row| row.starts_with("local")));
}

#[test]
fn a_filter_is_typed_and_taken_back() {
    let mut harness = show(analysis("sample:devel"), View::Layers);
    harness.state_mut().views.layers.focus_search();
    harness.run();
    let field = harness.get_by_role_and_label(Role::SearchInput, "Filter files");
    assert!(field.is_focused());
    field.type_text("libcublas.so*");
    harness.run();
    harness.get_by_label_contains("paths match, ");
    let found = rows(&harness);
    assert!(found.iter().any(|row| row.starts_with("libcublas.so")), "{found:?}");
    assert!(found.iter().any(|row| row.starts_with("usr")), "the way to it stays: {found:?}");
    harness.key_press(Key::Escape);
    harness.run();
    assert!(harness.query_by_label_contains("paths match, ").is_none());
    assert!(harness.query_by_label("Clear filter").is_none());
    harness.get_by_role_and_label(Role::SearchInput, "Filter files").focus();
    harness.run();
    harness.get_by_role_and_label(Role::SearchInput, "Filter files").type_text("libcublas.so*");
    harness.run();
    harness.get_by_role_and_label(Role::Button, "Clear filter").click();
    harness.run();
    assert!(harness.query_by_label_contains("paths match, ").is_none());
    harness.get_by_role_and_label(Role::SearchInput, "Filter files").focus();
    harness.run();
    harness.get_by_role_and_label(Role::SearchInput, "Filter files").type_text("size:>lots");
    harness.run();
    harness.get_by_label_contains("invalid filter size:>lots");
    assert!(rows(&harness).len() > 10, "a filter that is not understood hides nothing");
}

#[test]
fn heads_sort_and_layers_switch() {
    let mut harness = show(three_layers(), View::Layers);
    harness.get_by_role_and_label(Role::TreeItem, "a, 32 B in 3 files, changes inside").click();
    harness.run();
    harness.get_by_role_and_label(Role::ColumnHeader, "Sort by name").click();
    harness.run();
    harness.get_by_role_and_label(Role::ColumnHeader, "Sort by name, smallest first");
    harness.get_by_label_contains("Layer 1: ").click();
    harness.get_by_label("This layer").click();
    harness.run();
    let shown = rows(&harness);
    assert_eq!(shown, ["a, 51 B in 2 files, changes inside", "deep, 5 B in 1 file, removed"]);
    // The strip has the focus of the keyboard now.
    press(&mut harness, &[Key::ArrowDown]);
}

#[test]
fn facts_lead_to_the_layers_that_touch_a_file() {
    let mut harness = show(three_layers(), View::Layers);
    harness.state_mut().views.layers.select_path(b"/a/old".to_vec());
    harness.run();
    assert_eq!(chosen(&harness), "/a/old");
    harness.get_by_label("Copy path").click();
    harness.run();
    assert_eq!(harness.state().actions, [Action::CopyText("/a/old".into())]);
    harness.get_by_role_and_label(Role::Link, "Layer 0").click();
    harness.run();
    assert_eq!(harness.state().views.layers.browser().layer(), Some(0));
    harness.get_by_label("Replaced by layer 1");
}

#[test]
fn the_treemap_selects_and_enters() {
    let files = vec![sized("big/one", 6_000), sized("big/two", 5_000), sized("small", 3_000)];
    let mut harness = show(layers([files]), View::Layers);
    let map = harness.get_by_role_and_label(Role::Figure, "Treemap of /, 13.7 KiB").rect();
    // The largest cells come first, at the top left.
    let inside = map.min + egui::vec2(24.0, 40.0);
    let click = |harness: &mut Harness<'_, Stage>, at: egui::Pos2| {
        harness.hover_at(at);
        for pressed in [true, false] {
            let button = egui::PointerButton::Primary;
            harness.event(egui::Event::PointerButton {
                pos: at,
                button,
                pressed,
                modifiers: Modifiers::NONE,
            });
            harness.step();
        }
        harness.run();
    };
    click(&mut harness, inside);
    assert_eq!(chosen(&harness), "/big/one");
    assert!(rows(&harness).iter().any(|row| row.starts_with("one")), "the tree opens to it");
    click(&mut harness, inside);
    harness.get_by_role_and_label(Role::Figure, "Treemap of /big, 10.7 KiB");
    harness.get_by_label("Up").click();
    harness.run();
    harness.get_by_role_and_label(Role::Figure, "Treemap of /, 13.7 KiB");
}

#[test]
fn the_overview_leads_to_layers_and_files() {
    let mut harness = show(analysis("sample:devel"), View::Overview);
    harness.get_by_label_contains("20 layers (778 KiB compressed) contain 21.9 MiB");
    let segment = harness
        .get_all_by_role(Role::Button)
        .find(|node| node.accesskit_node().label().is_some_and(|label| label.starts_with("Layer 9:")));
    segment.unwrap().click();
    harness.run();
    assert_eq!(actions(&mut harness), [Action::SelectLayer(9)]);
    let largest = |harness: &Harness<'_, Stage>| {
        let mut links = harness.get_all_by_role(Role::Link).filter_map(|node| node.accesskit_node().label());
        links.find(|label| label.contains("libcublasLt_static.a, ")).unwrap()
    };
    let largest = largest(&harness);
    harness.get_by_role_and_label(Role::Link, &largest).scroll_to_me();
    harness.run();
    harness.get_by_role_and_label(Role::Link, &largest).click();
    harness.run();
    let path = b"/usr/local/cuda-13.0/targets/x86_64-linux/lib/libcublasLt_static.a".to_vec();
    assert_eq!(harness.state().actions, [Action::SelectPath(path)]);
}

/// Shows the layers view of an image with everything open; gives rows in all, rows made for a frame that
/// scrolls, and the allocations of such a frame.
fn scrolled(files: u32) -> (usize, usize, u64) {
    let analysis = wide(files);
    let mut stage = Stage::new(analysis, View::Layers);
    stage.views.layers.open_all();
    let mut harness = stage.begin([1200.0, 800.0]);
    let counts = |harness: &Harness<'_, Stage>| {
        let layers = &harness.state().views.layers;
        (layers.browser().rows().map_or(0, FileTreeRows::len), layers.painted_rows())
    };
    for _ in 0..400 {
        harness.step();
        if counts(&harness).0 > files as usize {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    harness.hover_at(egui::pos2(600.0, 400.0));
    let mut allocations = 0;
    // Glyphs that come into view for the first time are laid out once: the last round counts.
    for _ in 0..3 {
        harness.event(egui::Event::MouseWheel {
            unit: egui::MouseWheelUnit::Page,
            source: egui::MouseWheelSource::Wheel,
            delta: egui::vec2(0.0, -7.0),
            phase: egui::TouchPhase::Move,
            modifiers: Modifiers::NONE,
        });
        harness.step();
        allocations = allocation_counter::measure(|| harness.step()).count_total;
    }
    let (rows, painted) = counts(&harness);
    (rows, painted, allocations)
}

#[test]
fn rows_out_of_sight_are_not_made() {
    let (few, painted_of_few, allocations_of_few) = scrolled(1_000);
    let (many, painted_of_many, allocations_of_many) = scrolled(60_000);
    assert_eq!((few, many), (1_010, 60_600));
    assert!(painted_of_few > 10, "{painted_of_few}");
    assert!(painted_of_many.abs_diff(painted_of_few) <= 2, "{painted_of_few} and {painted_of_many}");
    assert!(painted_of_many < 60, "{painted_of_many}");
    // Labels and shapes of some forty rows, on both trees: neither grows with what is out of sight.
    let both = format!("{allocations_of_few} and {allocations_of_many}");
    assert!(allocations_of_many < allocations_of_few * 5 / 4 + 200, "{both}");
    assert!(allocations_of_few > 100 && allocations_of_many < 8_000, "{both}");
}

#[test]
fn files_that_are_about_to_be_replaced_say_so() {
    let mut harness = Stage::new(wide(60_000), View::Layers).show([1200.0, 800.0]);
    until(&mut harness, "files", |stage| !stage.views.layers.browser().is_busy());
    let line = |harness: &Harness<'_, Stage>| {
        harness.query_by_role_and_label(Role::ProgressIndicator, "Updating files").is_some()
    };
    assert!(!line(&harness));
    // Work that ends within the frame that begins it shows no line: another layer then.
    let shown = (0..1_000).any(|round| {
        harness.state_mut().views.layers.select_layer(round % 2);
        harness.step();
        line(&harness)
    });
    assert!(shown, "work without a sign of it");
    until(&mut harness, "files", |stage| !stage.views.layers.browser().is_busy());
    assert!(!line(&harness));
}

#[test]
fn a_chosen_layer_has_details_until_a_file_is_chosen() {
    let mut harness = show(analysis("sample:devel"), View::Layers);
    harness.state_mut().views.layers.select_path(b"/usr".to_vec());
    harness.run();
    harness.get_by_role_and_label(Role::Group, "File details");
    harness.get_by_label_contains("Layer 3: ").click();
    harness.run();
    harness.get_by_role_and_label(Role::Group, "Layer details");
    harness.get_by_label("Diff ID");
    harness.get_by_role_and_label(Role::Button, "Copy digest").click();
    harness.run();
    let copied = actions(&mut harness);
    assert!(matches!(&copied[..], [Action::CopyText(text)] if text.starts_with("sha256:")), "{copied:?}");
    harness.get_all_by_role(Role::TreeItem).next().unwrap().click();
    harness.run();
    harness.get_by_role_and_label(Role::Group, "File details");
}

#[test]
fn details_of_what_the_filter_leaves_out_are_not_shown() {
    let mut harness = show(three_layers(), View::Layers);
    harness.state_mut().views.layers.select_path(b"/a/old".to_vec());
    harness.run();
    assert_eq!(chosen(&harness), "/a/old");
    harness.state_mut().views.layers.focus_search();
    harness.run();
    harness.get_by_role_and_label(Role::SearchInput, "Filter files").type_text("deep");
    harness.run();
    assert_eq!(chosen(&harness), "");
    harness.key_press(Key::Escape);
    harness.run();
    assert_eq!(chosen(&harness), "/a/old");
}

#[test]
fn layers_that_were_not_read_are_not_left_out() {
    let mut part = Analysis::clone(&three_layers());
    (part.layers[1].read, part.merge) = (None, None);
    let harness = show(Arc::new(part), View::Overview);
    harness.get_by_label("by compressed size, bottom first; dim: not read");
}
