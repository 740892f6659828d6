use super::{MOST_BYTES, failure, to_html};
use crate::report::page::{Block, Chart, Column, Line, Page, Part, Row, Section, Slice, Table};

const BREAKS_OUT: &str = "</title><script>x</script>\"'>&amp; a/b";
const ESCAPED: &str = "&lt;/title&gt;&lt;script&gt;x&lt;/script&gt;&quot;&#x27;&gt;&amp;amp; a/b";

fn page(blocks: Vec<Block>) -> Page {
    let section = Section { part: Part::Files, note: String::new(), blocks };
    Page { title: "image".to_owned(), sections: vec![section], ..Page::default() }
}

fn table(rows: usize, row: impl Fn(usize) -> Row) -> Table {
    Table {
        columns: vec![Column { title: "Path".to_owned(), number: false }],
        rows: (0..rows).map(row).collect(),
        more: 0,
        noun: "files",
    }
}

fn row(text: String) -> Row {
    Row { cells: vec![Line::code(text)], details: Vec::new() }
}

/// The first number of the line that says what was left out of a table.
fn left_out(html: &str, noun: &str) -> u64 {
    let (before, _) = html.split_once(&format!(" more {noun} are omitted")).expect("a line on it");
    let number = before.rsplit('>').next().expect("a number");
    number.replace(',', "").parse().expect("a number")
}

#[test]
fn texts_attributes_and_titles_of_drawings_are_escaped() {
    let parts = vec![Slice { name: BREAKS_OUT.to_owned(), bytes: 1, colour: "system" }];
    let mut page = page(vec![Block::Chart(Chart { title: BREAKS_OUT.to_owned(), parts })]);
    page.title = BREAKS_OUT.to_owned();
    page.generator = BREAKS_OUT.to_owned();
    let html = to_html(&page);
    assert!(!html.contains("<script"));
    for place in [
        format!("<title>{ESCAPED}</title>\n"),
        format!("<h1>{ESCAPED}</h1>"),
        format!("<meta name=\"generator\" content=\"{ESCAPED}\" />"),
        format!("<title id=\"chart-1-title\">{ESCAPED}</title>"),
        format!("<desc id=\"chart-1-desc\">{ESCAPED} 1 B, 100.0 %</desc>"),
        format!("<g class=\"system\"><title>1. {ESCAPED}: 1 B, 100.0 %</title>"),
        format!("<figcaption id=\"chart-1-caption\">{ESCAPED}</figcaption>"),
    ] {
        assert!(html.contains(&place), "{place}");
    }
    assert!(failure(&page, BREAKS_OUT).contains(&format!("<h1>{ESCAPED}</h1>\n<p>")));
    assert!(!failure(&page, BREAKS_OUT).contains("<script"));
}

#[test]
fn what_looks_like_an_escaped_slash_stays_what_it_is() {
    let html = to_html(&page(vec![Block::Line(Line::plain("a/b &#x2f; &amp;#x2f;"))]));
    assert!(html.contains("<p>a/b &amp;#x2f; &amp;amp;#x2f;</p>"), "{html}");
}

#[test]
fn colours_are_names_of_the_style_sheet_and_parts_of_nothing_are_not_drawn() {
    let slice = |bytes, colour| Slice { name: format!("of {colour}"), bytes, colour };
    let parts = vec![slice(3, "wasted"), slice(0, "system"), slice(1, "\"><script>")];
    let html = to_html(&page(vec![Block::Chart(Chart { title: "all".to_owned(), parts })]));
    assert!(html.contains("<g class=\"wasted\"><title>1. of wasted: 3 B, 75.0 %</title>"));
    assert!(html.contains("<g class=\"other\"><title>2. of "));
    assert!(!html.contains("of system"));
    let nothing = vec![slice(0, "system")];
    let html = to_html(&page(vec![Block::Chart(Chart { title: "none".to_owned(), parts: nothing })]));
    assert!(!html.contains("<figure"));
}

#[test]
fn control_characters_come_through_as_text_only() {
    let html = to_html(&page(vec![
        Block::Line(Line::plain("a\u{0}b\u{202e}c\u{85}\n")),
        Block::Code("diff", "+\tone\u{1b}[31m\r\n two\n".to_owned()),
    ]));
    assert!(html.contains("<p>a\\x00b\\xe2\\x80\\xaec\\xc2\\x85\\x0a</p>"));
    assert!(html.contains("<span class=\"added\">+\tone\\x1b[31m</span>\n two\n</code>"), "{html}");
    assert!(!html.contains(|c: char| c.is_control() && c != '\n' && c != '\t'));
}

#[test]
fn a_page_that_fits_is_whole() {
    let mut table = table(1000, |at| row(format!("/file-{at}")));
    table.more = 4242;
    let html = to_html(&page(vec![Block::Table(table)]));
    assert_eq!(html.matches("<code>/file-").count(), 1000);
    assert_eq!(left_out(&html, "files"), 4242);
    assert!(!html.contains("Shortened"));
}

#[test]
fn rows_that_are_left_out_are_counted_exactly() {
    let mut table = table(100_000, |at| row(format!("/folder/{}/file-{at}", "x".repeat(900))));
    table.more = 7;
    let html = to_html(&page(vec![Block::Table(table)]));
    assert!(html.len() <= MOST_BYTES, "{}", html.len());
    assert!(html.len() > MOST_BYTES / 4, "{} bytes of what there is room for", html.len());
    let shown = html.matches("<code>/folder/").count() as u64;
    assert_eq!(left_out(&html, "files"), 100_000 - shown + 7);
    let rest = crate::base::size::grouped(100_000 - shown);
    assert!(html.contains(&format!("omitted: {rest} rows. The JSON report is complete.")));
}

#[test]
fn details_go_after_rows_and_are_counted_exactly() {
    let details = || vec![Block::Line(Line::plain("y".repeat(18_000))); 2];
    let table = table(300, |at| Row { details: details(), ..row(format!("/file-{at}")) });
    let html = to_html(&page(vec![Block::Table(table)]));
    assert!(html.len() <= MOST_BYTES, "{}", html.len());
    let rows = html.matches("<code>/file-").count();
    let kept = html.matches("<details>").count();
    assert_eq!(rows, 100, "details go only when rows are few");
    assert!(0 < kept && kept < rows, "{kept} of {rows}");
    assert_eq!(left_out(&html, "files"), 300 - rows as u64);
    let told = format!("omitted: {} rows, {} details of rows.", 300 - rows, rows - kept);
    assert!(html.contains(&told), "{told}");
}

#[test]
fn no_page_is_too_large_for_it() {
    let long = "z".repeat(3_000_000);
    let fold = |blocks| Block::Fold("more".to_owned(), blocks);
    let deep = (0..1000).fold(Block::Line(Line::plain("end")), |block, _| fold(vec![block]));
    let wide: Vec<Block> = (0..50_000).map(|at| Block::Heading(format!("{at} {}", "w".repeat(50)))).collect();
    let lines = "line\n".repeat(2_000_000);
    let rows = || Block::Table(table(5000, |at| row(format!("{at}"))));
    let pages = [
        ("a long text", page(vec![Block::Line(Line::plain(&long))]), "1 text cut short"),
        ("a deep fold", page(vec![deep]), "1 other part"),
        ("many blocks", page(wide), "other parts"),
        ("a long code", page(vec![Block::Code("dockerfile", lines)]), "rows"),
        ("many tables", page((0..500).map(|_| rows()).collect()), "rows"),
        ("a long title", Page { title: long.clone(), ..Page::default() }, "1 text cut short"),
    ];
    for (name, page, told) in pages {
        let html = to_html(&page);
        assert!(html.len() <= MOST_BYTES, "{name}: {} bytes", html.len());
        assert!(html.contains("Shortened to limit the file size; omitted: "), "{name}");
        assert!(html.contains(told), "{name}: {told}");
    }
}

#[test]
fn a_page_that_cannot_be_made_small_says_so() {
    let cells = || (0..200).map(|_| Line::plain("c".repeat(300))).collect();
    let columns = || (0..200).map(|_| Column { title: "t".repeat(300), number: false }).collect();
    let rows = || (0..100).map(|_| Row { cells: cells(), details: Vec::new() }).collect();
    let tables =
        || (0..40).map(|_| Block::Table(Table { columns: columns(), rows: rows(), more: 0, noun: "rows" }));
    let mut page = page(tables().collect());
    page.sections = vec![page.sections[0].clone(), page.sections[0].clone()];
    let html = to_html(&page);
    assert!(html.contains("<h1>image</h1>"));
    assert!(html.contains("larger than 2 MB even when shortened. The JSON report is complete."));
}

#[test]
fn anchors_are_the_ids_of_parts_each_once() {
    let mut page = page(vec![Block::Line(Line::plain("x"))]);
    page.sections = vec![page.sections[0].clone(), page.sections[0].clone()];
    let html = to_html(&page);
    for anchor in ["files", "files-2"] {
        assert_eq!(html.matches(&format!("<section id=\"{anchor}\"")).count(), 1);
        assert_eq!(html.matches(&format!("<a href=\"#{anchor}\">Files</a>")).count(), 1);
    }
}
