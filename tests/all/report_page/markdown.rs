//! Markdown as GitHub's own program reads it.

use std::io::Write as _;
use std::process::{Command, Stdio};

use cutaway::report::{report_page, to_markdown};

use super::devel;
use crate::oracle::have;

/// What GitHub makes of a text: HTML, with tags as they stand in it.
pub fn rendered(markdown: &str) -> String {
    let mut child = Command::new("cmark-gfm")
        .args(["--unsafe", "-e", "table", "-e", "tagfilter", "-e", "autolink", "-e", "strikethrough"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("cmark-gfm starts");
    child.stdin.take().unwrap().write_all(markdown.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap()
}

pub fn have_cmark() -> bool {
    have(&["cmark-gfm"])
}

/// A piece of HTML.
#[derive(Debug, PartialEq)]
enum Piece<'a> {
    Tag(&'a str),
    Text(&'a str),
}

fn pieces(html: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut rest = html;
    while let Some(start) = rest.find('<') {
        pieces.push(Piece::Text(&rest[..start]));
        let end = start + rest[start..].find('>').expect("a tag that ends");
        pieces.push(Piece::Tag(&rest[start + 1..end]));
        rest = &rest[end + 1..];
    }
    pieces.push(Piece::Text(rest));
    pieces
}

/// The text that a reader sees, without what only keeps both sites from finding mentions.
pub fn seen(html: &str) -> String {
    let text: String = pieces(html)
        .into_iter()
        .filter_map(|piece| match piece {
            Piece::Text(text) => Some(text),
            Piece::Tag(_) => None,
        })
        .collect();
    decoded(&text).replace('\u{200b}', "").replace('\u{a0}', " ")
}

/// A text without entities: cmark-gfm writes a few, and leaves those within our own elements as they are.
fn decoded(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some(start) = rest.find('&') {
        plain += &rest[..start];
        let (entity, after) = rest[start + 1..].split_once(';').expect("an entity that ends");
        match entity {
            "lt" => plain.push('<'),
            "gt" => plain.push('>'),
            "quot" => plain.push('"'),
            "amp" => plain.push('&'),
            number => {
                let number = number.strip_prefix('#').unwrap_or_else(|| panic!("&{number};"));
                plain.push(char::from_u32(number.parse().unwrap()).unwrap());
            }
        }
        rest = after;
    }
    plain + rest
}

/// Every element is one that we write, each is closed, and rows have a cell for each column.
pub fn well_formed(html: &str) {
    const OURS: [&str; 23] = [
        "h2",
        "h3",
        "h4",
        "p",
        "ul",
        "li",
        "strong",
        "code",
        "pre",
        "table",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
        "details",
        "summary",
        "b",
        "sub",
        "span",
        "th align=\"right\"",
        "td align=\"right\"",
        "br /",
    ];
    let (mut open, mut columns, mut cells) = (Vec::new(), 0, 0);
    for piece in pieces(html) {
        let Piece::Tag(tag) = piece else { continue };
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "{html}");
            match name {
                "tr" => assert_eq!(cells, columns, "{html}"),
                "table" => columns = 0,
                _ => {}
            }
            continue;
        }
        let name = tag.split(' ').next().unwrap();
        let language = tag.strip_prefix("code class=\"language-").and_then(|rest| rest.strip_suffix('"'));
        assert!(
            OURS.contains(&tag) || language.is_some_and(|one| ["dockerfile", "diff"].contains(&one)),
            "<{tag}> in {html}"
        );
        match name {
            "tr" => cells = 0,
            "th" => (columns, cells) = (columns + 1, cells + 1),
            "td" => cells += 1,
            _ => {}
        }
        if !tag.ends_with('/') {
            open.push(name);
        }
    }
    assert!(open.is_empty(), "{open:?} is open in {html}");
}

#[test]
fn the_report_of_the_sample_is_read_as_it_is_meant() {
    if !have_cmark() {
        return;
    }
    let text = to_markdown(&report_page(&devel().1));
    assert!(text.chars().count() <= 60_000);
    let html = rendered(&text);
    well_formed(&html);
    let seen = seen(&html);
    for text in [
        "example.org/vision-service:devel",
        "20 layers",
        "Static libraries in the CUDA toolkit /usr/local/cuda-13.0",
        "cutaway explain static-libraries",
        "FROM nvidia/cuda:",
        "libcublasLt.so.13",
        "HF_TOKEN",
    ] {
        assert!(seen.contains(text), "{text} is not in {seen}");
    }
    assert!(html.contains("<pre><code class=\"language-diff\">"), "the diff is coloured");
    assert!(html.matches("<table>").count() > 10, "tables are tables");
    // What is not folded is at most a few screens.
    let open = seen_open(&html);
    assert!(open.lines().filter(|line| !line.is_empty()).count() < 260, "{open}");
}

/// What is seen before anything is opened.
fn seen_open(html: &str) -> String {
    let (mut depth, mut shown) = (0_usize, String::new());
    for piece in pieces(html) {
        match piece {
            Piece::Tag("details") => depth += 1,
            Piece::Tag("/details") => depth -= 1,
            Piece::Text(text) if depth == 0 => shown += text,
            _ => {}
        }
    }
    shown
}
