//! What all tables and panes have in common: columns that are resized and hidden, and dividers that move.

use cutaway::gui::views::View;
use egui::accesskit::Role;
use egui::{Key, Modifiers, Rect, vec2};
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT as _, Queryable as _};

use crate::view_stage::{Stage, click, names, press};
use crate::{cuda_view, findings_view};

fn show(size: [f32; 2]) -> Harness<'static, Stage> {
    Stage::new(cuda_view::with(|_| ()), View::Cuda).show(size)
}

fn place(harness: &Harness<'_, Stage>, role: Role, name: &str) -> Rect {
    harness.get_by_role_and_label(role, name).rect()
}

/// The width of the column of suppliers.
fn width(harness: &Harness<'_, Stage>) -> f32 {
    place(harness, Role::ColumnHeader, "Sort by supplier").width()
}

#[test]
fn columns_are_resized_by_their_border_and_a_double_click_undoes_it() {
    let mut harness = show([1300.0, 900.0]);
    let before = width(&harness);
    let from = place(&harness, Role::Splitter, "Width of supplier").center();
    harness.drag_at(from);
    harness.run_ok();
    harness.hover_at(from - vec2(30.0, 0.0));
    harness.run_ok();
    harness.drop_at(from - vec2(30.0, 0.0));
    harness.run_ok();
    assert!((width(&harness) - before - 30.0).abs() < 2.0, "{before} to {}", width(&harness));
    let heads = names(&harness, Role::ColumnHeader);
    assert_eq!(heads.len(), 8, "no column was left out: {heads:?}");
    assert!(heads.contains(&"Sort by size, largest first".to_owned()), "the order stays: {heads:?}");
    let border = place(&harness, Role::Splitter, "Width of supplier").center();
    for _ in 0..2 {
        harness.drag_at(border);
        harness.step();
        harness.drop_at(border);
        harness.step();
    }
    harness.run_ok();
    assert!((width(&harness) - before).abs() < 0.1);
}

#[test]
fn columns_are_hidden_by_a_menu_of_the_head_and_by_keys() {
    let mut harness = show([1300.0, 900.0]);
    let has = |harness: &Harness<'_, Stage>, name: &str| {
        names(harness, Role::ColumnHeader).iter().any(|head| head == name)
    };
    harness.get_by_role_and_label(Role::ColumnHeader, "Sort by layer").click_secondary();
    harness.run_ok();
    assert!(!names(&harness, Role::CheckBox).contains(&"Library".to_owned()), "the first column stays");
    click(&mut harness, Role::CheckBox, "Layer");
    assert!(!has(&harness, "Sort by layer") && has(&harness, "Sort by version"));
    press(&mut harness, &[Key::Escape]);
    assert_eq!(names(&harness, Role::CheckBox), [""; 0]);
    assert!(harness.get_by_role_and_label(Role::TreeGrid, "CUDA libraries").is_focused());
    harness.key_press_modifiers(Modifiers::SHIFT, Key::F10);
    harness.run_ok();
    assert!(harness.get_by_role_and_label(Role::CheckBox, "Version").is_focused());
    press(&mut harness, &[Key::Space]);
    assert!(!has(&harness, "Sort by version"));
    click(&mut harness, Role::Button, "Default columns");
    assert_eq!(names(&harness, Role::ColumnHeader).len(), 8);
}

#[test]
fn a_divider_is_moved_by_keys() {
    const DIVIDER: &str = "Resize library details";
    let mut harness = show([1300.0, 900.0]);
    let before = place(&harness, Role::Splitter, DIVIDER).center().x;
    harness.get_by_role_and_label(Role::Splitter, DIVIDER).focus();
    harness.run_ok();
    press(&mut harness, &[Key::ArrowLeft, Key::ArrowLeft, Key::ArrowRight, Key::ArrowDown]);
    let after = place(&harness, Role::Splitter, DIVIDER).center().x;
    assert!((before - after - 16.0).abs() <= 1.0, "{before} to {after}");
    press(&mut harness, &[Key::Home, Key::ArrowRight]);
    let node = harness.get_by_role_and_label(Role::Splitter, DIVIDER);
    assert_eq!(node.accesskit_node().numeric_value(), Some(280.0));
    press(&mut harness, &[Key::Escape]);
    assert!(!harness.get_by_role_and_label(Role::Splitter, DIVIDER).is_focused());
}

#[test]
fn a_narrow_view_has_its_pane_below() {
    let mut harness = show([800.0, 900.0]);
    assert!(harness.query_by_role_and_label(Role::Splitter, "Resize library details").is_none());
    harness.get_all_by_role(Role::Row).nth(1).unwrap().click();
    harness.run_ok();
    let before = place(&harness, Role::Splitter, "Resize library details");
    assert!(before.width() > 700.0, "{before}");
    harness.drag_at(before.center());
    harness.run_ok();
    harness.hover_at(before.center() - vec2(0.0, 50.0));
    harness.run_ok();
    harness.drop_at(before.center() - vec2(0.0, 50.0));
    harness.run_ok();
    let after = place(&harness, Role::Splitter, "Resize library details");
    assert!((before.top() - after.top() - 50.0).abs() <= 2.0, "{before} to {after}");
}

#[test]
fn a_column_knows_where_its_order_begins() {
    let mut harness = Stage::new(findings_view::scene::analysis(), View::Findings).show([1400.0, 900.0]);
    click(&mut harness, Role::ColumnHeader, "Sort by severity");
    click(&mut harness, Role::ColumnHeader, "Sort by severity, largest first");
    click(&mut harness, Role::ColumnHeader, "Sort by severity, smallest first");
    click(&mut harness, Role::ColumnHeader, "Sort by category");
    harness.get_by_role_and_label(Role::ColumnHeader, "Sort by category, smallest first");
}

#[test]
fn the_menu_of_columns_says_which_have_no_room() {
    let mut harness = show([600.0, 900.0]);
    harness.get_by_role_and_label(Role::TreeGrid, "CUDA libraries").focus();
    harness.run_ok();
    harness.key_press_modifiers(Modifiers::SHIFT, Key::F10);
    harness.run_ok();
    let columns = names(&harness, Role::CheckBox);
    assert!(columns.contains(&"Needed by (no room)".to_owned()), "{columns:?}");
    assert!(columns.contains(&"Size".to_owned()), "{columns:?}");
}
