//! The treemap view: colours with their legend, selection shared with the layers view, folders by keyboard.

use cutaway::gui::models::treemap_colors::ColorBy;
use cutaway::gui::views::View;
use egui::Key;
use egui::accesskit::Role;
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT as _, Queryable as _};

use crate::findings_view::scene::analysis;
use crate::view_stage::{Stage, click, press, settle, until};

fn begin() -> Harness<'static, Stage> {
    let mut harness = Stage::new(analysis(), View::Treemap).show([1100.0, 720.0]);
    until(&mut harness, "colors", |stage| stage.views.treemap.colors().is_some());
    settle(&mut harness);
    harness
}

/// The name of the map, which has the folder that it shows.
fn folder(harness: &Harness<'_, Stage>) -> String {
    let figures = harness.get_all_by_role(Role::Figure);
    let mut names = figures.filter_map(|node| node.accesskit_node().label());
    names.find(|name| name.starts_with("Treemap of ")).unwrap()
}

fn selected_path(harness: &Harness<'_, Stage>) -> Option<Vec<u8>> {
    harness.state().views.layers.selected_target().map(|target| target.raw)
}

#[test]
fn every_color_has_a_legend_whose_bytes_are_those_of_the_files() {
    let mut harness = begin();
    let whole = harness.state().views.treemap.colors().unwrap().bytes;
    assert!(whole > 0);
    for by in ColorBy::ALL {
        click(&mut harness, Role::RadioButton, by.title());
        until(&mut harness, "colors", |stage| {
            stage.views.treemap.colors().is_some_and(|colors| colors.by == by)
        });
        let colors = harness.state().views.treemap.colors().unwrap();
        let sum: u64 = colors.groups.iter().map(|group| group.bytes).sum();
        assert_eq!((sum, colors.bytes), (whole, whole), "{}", by.title());
        assert!(colors.groups.iter().all(|group| !group.name.is_empty() && group.bytes > 0));
        let name = colors.groups[0].name.clone();
        let lines = harness.get_all_by_role(Role::ListItem);
        let mut labels = lines.filter_map(|node| node.accesskit_node().label());
        assert!(labels.any(|label| label.starts_with(&name) && label.ends_with('%')), "{name}");
    }
}

#[test]
fn cells_have_name_and_value_and_keys_move_between_them() {
    let mut harness = begin();
    let cells: Vec<(String, String)> = harness
        .get_all_by_role(Role::GraphicsObject)
        .map(|node| node.accesskit_node())
        .map(|node| (node.label().unwrap_or_default(), node.value().unwrap_or_default()))
        .collect();
    assert!(!cells.is_empty() && cells.iter().all(|(name, value)| !name.is_empty() && value.contains('B')));
    harness.get_by_role(Role::Figure).focus();
    harness.run_ok();
    press(&mut harness, &[Key::ArrowRight]);
    settle(&mut harness);
    let first = selected_path(&harness).expect("the largest cell is selected in the layers view");
    let begun = folder(&harness);
    press(&mut harness, &[Key::Enter]);
    settle(&mut harness);
    assert_ne!(folder(&harness), begun, "Enter shows the folder of the cell");
    let mut steps = 0;
    while !folder(&harness).starts_with("Treemap of /,") && steps < 16 {
        press(&mut harness, &[Key::Backspace]);
        steps += 1;
    }
    assert_eq!(folder(&harness), begun, "Backspace leads back");
    assert_eq!(selected_path(&harness), Some(first), "the selection stays");
}

#[test]
fn a_path_is_shown_in_its_folder_and_selected() {
    let mut harness = begin();
    harness.get_by_role(Role::Figure).focus();
    harness.run_ok();
    press(&mut harness, &[Key::ArrowRight]);
    let path = selected_path(&harness).unwrap();
    let views = &mut harness.state_mut().views;
    views.treemap.reveal(&path);
    views.layers.select_path(path.clone());
    settle(&mut harness);
    let parent =
        String::from_utf8_lossy(&path[..path.iter().rposition(|byte| *byte == b'/').unwrap()]).into_owned();
    assert!(folder(&harness).starts_with(&format!("Treemap of {parent}")), "{}", folder(&harness));
    assert_eq!(selected_path(&harness), Some(path));
}
