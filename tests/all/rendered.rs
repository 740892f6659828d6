//! Reports as a browser shows them: nothing is fetched, nothing complains, everything can be read.

mod chromium;
mod images;
mod pages;

use std::fs;
use std::io::Read as _;
use std::net::TcpListener;
use std::path::Path;
use std::process::Command;

use cutaway::report::page::Page;
use cutaway::report::to_html;
use serde_json::json;
use tempfile::TempDir;

use crate::oracle::have;

/// A phone, a window beside another one, a large window.
const WIDTHS: [u32; 3] = [360, 800, 1440];

/// What breaks out of places where it is not escaped: text, attributes, style, comments, the template itself.
const HOSTILE: &str = "</style></title></script></svg>--><img src=http://127.0.0.1:9/x onerror=alert(1)>\
                       \"' onload='x' {{ 7 * 7 }} {% raw %} &amp; &#x2f;&lt; ]]> \u{0}\u{7f}\u{9b}\u{202e}x";

/// A path that can be broken nowhere but anywhere.
fn endless() -> String {
    format!("/{}", "W".repeat(500))
}

fn all_pages() -> Vec<(&'static str, Page)> {
    vec![
        ("one of everything", pages::every()),
        ("hostile texts", pages::hostile(HOSTILE)),
        ("endless texts", pages::hostile(&endless())),
        ("many rows", pages::big(150)),
        ("nothing", Page::default()),
    ]
}

#[test]
fn every_block_and_tone_can_be_written() {
    for (name, page) in all_pages() {
        let html = to_html(&page);
        assert!(!html.contains("Cannot write this report as HTML"), "{name}: {html}");
        assert!(html.ends_with("</html>\n"), "{name}");
        assert!(!html.contains("<script"), "{name}");
    }
    let html = to_html(&pages::every());
    let classes = ["weak", "good", "unsure", "bad", "added", "removed", "changed", "strong"];
    for class in classes.iter().chain(&pages::COLOURS).chain(&["other"]) {
        assert!(
            html.contains(&format!("class=\"{class}")) || html.contains(&format!(" {class}\"")),
            "{class}"
        );
    }
    for element in ["<dl>", "<figure", "<table", "<details", "<pre>", "<h3", "<strong>", "<code>"] {
        assert!(html.contains(element), "{element}");
    }
}

#[test]
fn pages_are_closed_and_quoted_as_xml_wants_it() {
    if !have(&["python3"]) {
        return;
    }
    let folder = TempDir::new().unwrap();
    let mut files = Vec::new();
    for (place, (_, page)) in all_pages().iter().enumerate() {
        let file = folder.path().join(format!("{place}.html"));
        fs::write(&file, to_html(page)).unwrap();
        files.push(file);
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/rendered/structure.py");
    let output = Command::new("python3").arg(script).args(&files).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(String::from_utf8_lossy(&output.stdout).lines().count(), files.len());
}

#[test]
fn pages_have_the_colours_of_the_window() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let palette = fs::read_to_string(root.join("src/gui/design/palette.rs")).unwrap();
    let style = fs::read_to_string(root.join("assets/report/report.css")).unwrap();
    let (light, dark) = style.split_once("prefers-color-scheme: dark").expect("a dark theme");
    let (window_light, window_dark) = palette.split_once("pub static DARK").expect("two themes");
    for (style, window) in [(light, window_light), (dark, window_dark)] {
        let line = window.lines().find(|line| line.contains("classes: hues(")).expect("colours of classes");
        let hues: Vec<&str> = line.split('"').skip(1).step_by(2).collect();
        assert_eq!(hues.len(), 6);
        for (name, hue) in pages::COLOURS.iter().zip(hues) {
            assert!(style.contains(&format!("--{name}: {hue};")), "{name} is not {hue}");
        }
        for (name, token) in [("wasted", "hidden"), ("text", "text"), ("background", "background")] {
            let line = window.lines().find(|line| line.trim().starts_with(&format!("{token}: rgb(")));
            let hue = line.and_then(|line| line.split('"').nth(1)).expect("a colour");
            assert!(style.contains(&format!("--{name}: {hue};")), "{name} is not {hue}");
        }
    }
}

#[test]
fn pages_fetch_nothing_and_say_nothing_to_the_console() {
    if !have(&["chromium"]) {
        return;
    }
    for (name, page) in all_pages() {
        let html = to_html(&page);
        let seen = chromium::open(&html, &["--dump-dom"]);
        assert!(seen.dom.contains("id=\"content\""), "{name}: {}", seen.dom);
        assert_eq!(seen.console, Vec::<String>::new(), "{name}");
        assert_eq!(seen.requests, Vec::<String>::new(), "{name}");
    }
}

#[test]
fn a_page_that_fetches_or_complains_would_be_noticed() {
    if !have(&["chromium"]) {
        return;
    }
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/x", listener.local_addr().unwrap());
    let server = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut begin = [0; 6];
        stream.read_exact(&mut begin).unwrap();
        begin
    });
    let page = format!(
        "<!DOCTYPE html><title>x</title><img src=\"{address}\"><script>console.error('one'); console.warn('two')</script>"
    );
    let seen = chromium::open(&page, &["--dump-dom"]);
    assert_eq!(seen.requests, std::slice::from_ref(&address));
    assert_eq!(&server.join().unwrap(), b"GET /x");
    assert_eq!(seen.console.len(), 2, "{:?}", seen.console);

    // In our own frame the policy stops the same page, and says so.
    let ours = to_html(&pages::every());
    let planted = ours
        .replace("<main", &format!("<img src=\"{address}\" /><script>document.title = 'ran'</script><main"));
    let seen = chromium::open(&planted, &["--dump-dom"]);
    assert_eq!(seen.requests, Vec::<String>::new());
    assert_eq!(seen.console.len(), 2, "{:?}", seen.console);
    assert!(!seen.dom.contains("<title>ran</title>"));
}

#[test]
fn pages_can_be_read_at_any_width_in_both_themes() {
    if !have(&["chromium"]) {
        return;
    }
    for (name, page) in all_pages() {
        let html = to_html(&page);
        check_readable(name, &html);
    }
}

/// Nothing sticks out at any width, in either theme; more than a few words were looked at.
fn check_readable(name: &str, html: &str) {
    // Colours do not depend on the width.
    for (widths, dark) in [(&WIDTHS[..], false), (&WIDTHS[1..2], true)] {
        let found = chromium::measure(html, widths, dark);
        assert_eq!(found.len(), 2 * widths.len(), "{name}: {found:?}");
        for (place, page) in found.iter().enumerate() {
            assert_eq!(page["faults"], json!([]), "{name}: {page:#}");
            assert_eq!(page["width"], widths[place / 2], "{name}");
            assert_eq!(page["dark"], dark, "{name}");
            assert!(name == "nothing" || page["texts"].as_u64() > Some(20), "{name}: {page:#}");
        }
    }
}

#[test]
fn hostile_texts_stay_texts() {
    if !have(&["chromium"]) {
        return;
    }
    let found = chromium::measure(&to_html(&pages::hostile(HOSTILE)), &[800], false);
    let shown = cutaway::base::text::printable(HOSTILE);
    assert_eq!(found[0]["heading"], shown);
    assert_eq!(found[0]["title"], shown);
    assert!(
        shown.contains("<img src=") && shown.contains("\\x00") && shown.contains("\\xe2\\x80\\xae"),
        "{shown}"
    );
}

#[test]
fn a_page_that_cannot_be_read_would_be_noticed() {
    if !have(&["chromium"]) {
        return;
    }
    let page = "<!DOCTYPE html><html lang=\"en\"><head><title>x</title><style>\
                p { width: 900px } .pale { color: #999; background: #fff } td { max-width: 20px; white-space: nowrap }\
                </style></head><body><h1>x</h1><h3 id=\"a\">y</h3><p>wide</p><span class=\"pale\" id=\"a\">pale</span>\
                <img alt=\"\"><table><tr><th>wider than its box</th><td>wider than its box</td></tr></table></body></html>";
    let found = chromium::measure(page, &[360], false);
    let faults = found[0]["faults"].to_string();
    for fault in [
        "the page is 9",
        "level 3 after 1",
        "contrast 2.8",
        "twice the id",
        "<img",
        "without scope",
        "in a box of 2",
    ] {
        assert!(faults.contains(fault), "{fault}: {faults}");
    }
    let fine = chromium::measure(&to_html(&pages::every()), &[360], true);
    assert_eq!(fine[0]["faults"], json!([]));
}

#[test]
fn paper_has_folded_lists_and_the_evidence_that_was_opened() {
    use cutaway::report::page::Block;
    if !have(&["chromium"]) {
        return;
    }
    let sheets = chromium::sheets(&to_html(&pages::every()));
    assert!((3..=12).contains(&sheets), "{sheets} sheets");

    let mut page = pages::big(60);
    let html = to_html(&page);
    let closed = chromium::sheets(&html);
    assert!((2..=4).contains(&closed), "{closed} sheets");
    let opened = chromium::sheets(&html.replace("<details><summary>", "<details open=\"\"><summary>"));
    assert!(2 * opened >= 3 * closed, "{opened} sheets with evidence, {closed} without");

    let list = page.sections[0].blocks.clone();
    page.sections[0].blocks.push(Block::Fold("More of the same".to_owned(), list));
    let folded = chromium::sheets(&to_html(&page));
    assert!(folded > closed, "{folded} sheets with a folded list, {closed} without");
}
