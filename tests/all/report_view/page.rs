//! The page widget: what a page is made of, opened and walked by keys, and what a frame costs.

use std::sync::Arc;

use cutaway::gui::widgets::page::{PageOutput, PageShape, PageState, page};
use cutaway::report::page::{Block, Chart, Column, Line, Page, Part, Row, Section, Slice, Table, Tone};
use egui::accesskit::Role;
use egui::{Key, Modifiers};
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT as _, Queryable as _};

use crate::view_stage::{self, press};

const ROWS: usize = 5_000;

fn column(title: &str, number: bool) -> Column {
    Column { title: title.to_owned(), number }
}

fn row(number: usize, details: bool) -> Row {
    let path = format!("/usr/local/cuda-13.0/targets/x86_64-linux/lib/libnumber_{number}.so.13");
    let details =
        if details { vec![Block::Line(Line::plain(format!("Evidence of row {number}")))] } else { vec![] };
    Row {
        cells: vec![Line::code(path), Line::plain("runtime"), Line::plain(format!("{number} KiB"))],
        details,
    }
}

fn table(rows: usize, details: bool) -> Block {
    let columns = vec![column("Path", false), column("Component", false), column("Bytes", true)];
    let rows = (0..rows).map(|number| row(number, details)).collect();
    Block::Table(Table { columns, rows, more: 1_234, noun: "libraries" })
}

/// A page with some of everything.
fn made() -> Arc<Page> {
    let slice = |name: &str, bytes, colour| Slice { name: name.to_owned(), bytes, colour };
    let chart = Chart {
        title: "content by what it is for".to_owned(),
        parts: vec![
            slice("System", 3 << 20, "system"),
            slice("Devel", 1 << 20, "cuda-devel"),
            slice("None", 0, "x"),
        ],
    };
    let facts =
        vec![("Unpacked".to_owned(), Line::plain("4.00 MiB")), ("Pull".to_owned(), Line::plain("unknown"))];
    let section = |part, note: &str, blocks| Section { part, note: note.to_owned(), blocks };
    Arc::new(Page {
        title: "team/tool:1".to_owned(),
        generator: "Report of an image, made by cutaway".to_owned(),
        facts: vec!["oci-archive".to_owned(), "linux/amd64".to_owned()],
        lead: vec![Line::plain("It is large.").tone(Tone::Strong)],
        sections: vec![
            section(Part::Sizes, "4.00 MiB", vec![Block::Facts(facts), Block::Chart(chart)]),
            section(Part::Cuda, "", vec![table(ROWS, true)]),
            section(
                Part::Plan,
                "",
                vec![
                    Block::Heading("Proposal".to_owned()),
                    Block::Fold(
                        "More about it".to_owned(),
                        vec![Block::Line(Line::plain("Behind the fold"))],
                    ),
                    Block::Code("dockerfile", "FROM a\nRUN b\n".to_owned()),
                ],
            ),
        ],
    })
}

#[derive(Default)]
struct Stage {
    page: Arc<Page>,
    state: PageState,
    output: PageOutput,
    copied: Vec<String>,
}

fn show(page_made: Arc<Page>, size: [f32; 2]) -> Harness<'static, Stage> {
    let stage = Stage { page: page_made, ..Stage::default() };
    let mut harness = view_stage::harness(size).build_ui_state(
        |ui, stage: &mut Stage| {
            let shape = PageShape { name: "Report", page: &stage.page, opening: true, headings: true };
            let mut output = page(ui, "page", &shape, &mut stage.state);
            stage.copied.extend(output.copied.take());
            stage.output = output;
        },
        stage,
    );
    harness.run_steps(3);
    harness
}

fn focus(harness: &mut Harness<'_, Stage>) {
    harness.get_by_role_and_label(Role::Document, "Report").focus();
    harness.run_steps(2);
}

#[test]
fn all_blocks_are_there_by_name() {
    let harness = show(made(), [1_100.0, 900.0]);
    for label in ["team/tool:1", "oci-archive  ·  linux/amd64", "It is large.", "4.00 MiB", "unknown"] {
        assert!(harness.query_all_by_label(label).next().is_some(), "{label}");
    }
    harness.get_by_role_and_label(Role::Heading, "Sizes, 4.00 MiB");
    harness.get_by_role_and_label(Role::Label, "System: 3.00 MiB, 75.0 %");
    assert!(harness.query_by_label_contains("None").is_none(), "parts without bytes are left out");
    harness.get_by_role_and_label(Role::ColumnHeader, "Bytes");
    let spoken =
        "/usr/local/cuda-13.0/targets/x86_64-linux/lib/libnumber_0.so.13, Component runtime, Bytes 0 KiB";
    harness.get_by_role_and_label(Role::Row, spoken);
}

#[test]
fn a_frame_costs_what_is_in_sight() {
    let mut harness = show(made(), [1_100.0, 700.0]);
    assert!(harness.state().output.pieces > ROWS);
    assert!(harness.state().output.painted < 60, "{}", harness.state().output.painted);
    focus(&mut harness);
    press(&mut harness, &[Key::End]);
    assert!(harness.state().output.painted < 60, "{}", harness.state().output.painted);
    harness.get_by_role_and_label(Role::Button, "More about it");
    harness.get_by_role_and_label(Role::Link, "CUDA").click();
    harness.run_steps(4);
    harness.get_by_role_and_label(Role::Heading, "CUDA");
    assert!(harness.query_by_role_and_label(Role::Button, "More about it").is_none());
}

#[test]
fn rows_and_folds_open_by_key_and_by_click() {
    let mut harness = show(made(), [1_100.0, 700.0]);
    focus(&mut harness);
    // To the second section, and from its heading to its first row.
    press(&mut harness, &[Key::N, Key::N, Key::ArrowDown, Key::Enter]);
    assert_eq!(harness.query_all_by_label_contains("Evidence of row ").count(), 1);
    press(&mut harness, &[Key::ArrowLeft]);
    assert_eq!(harness.query_all_by_label_contains("Evidence of row ").count(), 0);
    let row = harness.query_all_by_role(Role::Row).nth(3).unwrap();
    row.click();
    harness.run_steps(3);
    assert_eq!(harness.query_all_by_label_contains("Evidence of row ").count(), 1);
    press(&mut harness, &[Key::End]);
    harness.get_by_role_and_label(Role::Button, "More about it").click();
    harness.run_steps(3);
    press(&mut harness, &[Key::End]);
    harness.get_by_label("Behind the fold");
    harness.get_by_role_and_label(Role::Button, "Copy dockerfile").click();
    harness.run_steps(3);
    assert_eq!(harness.state().copied, ["FROM a\nRUN b\n"]);
    press(&mut harness, &[Key::Escape, Key::Escape]);
    assert!(!harness.get_by_role_and_label(Role::Document, "Report").is_focused());
    harness.key_press_modifiers(Modifiers::NONE, Key::Enter);
    harness.run_steps(2);
    assert_eq!(harness.state().copied.len(), 1, "keys go elsewhere");
}

#[test]
fn columns_without_room_stand_below_the_row() {
    let page = Arc::new(Page {
        sections: vec![Section { part: Part::Cuda, note: String::new(), blocks: vec![table(3, false)] }],
        ..Page::default()
    });
    let wide = show(Arc::clone(&page), [900.0, 500.0]);
    assert_eq!(wide.query_all_by_role(Role::ColumnHeader).count(), 3);
    let first = |harness: &Harness<'_, Stage>| {
        harness.query_all_by_role(Role::Row).next().unwrap().accesskit_node().supports_expand_collapse()
    };
    assert!(!first(&wide), "there is nothing behind it");
    let mut narrow = show(page, [260.0, 500.0]);
    assert!(narrow.query_all_by_role(Role::ColumnHeader).count() < 3);
    assert!(first(&narrow));
    narrow.query_all_by_role(Role::Row).next().unwrap().click();
    narrow.run_steps(3);
    narrow.get_by_label("0 KiB");
    narrow.get_by_label("and 1,234 more libraries; see the JSON report for all");
}
