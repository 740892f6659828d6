//! Reports of images as the program writes them.

use std::io::Write as _;
use std::process::{Command, Stdio};

use super::{check_readable, chromium};
use crate::fixtures::image::Image;
use crate::fixtures::layout::Layout;
use crate::fixtures::tarball::{file, tar};
use crate::oracle::have;
use crate::support::Place;

fn written(place: &Place, arguments: &[&str]) -> String {
    let outcome = place.run(arguments);
    assert_eq!(outcome.code, 0, "{arguments:?}: {}", outcome.stderr);
    outcome.stdout
}

/// An image without CUDA, with a name that wants to be more than a name.
fn plain_image(place: &Place) -> String {
    let files = [
        file("etc/os-release", "ID=debian\nVERSION_ID=\"12\"\n"),
        file("srv/<img src=x onerror=alert(1)>", "x".repeat(5000)),
        file("srv/\u{202e}\u{1b}[31m", "y".repeat(4000)),
    ];
    let image = Image::default().layer("RUN echo '</style><script>alert(1)</script>'", &tar(files));
    format!("oci:{}", place.put_layout("plain", &Layout::of(&image, "latest")))
}

fn check(name: &str, html: &str) {
    let seen = chromium::open(html, &["--dump-dom"]);
    assert_eq!(seen.console, Vec::<String>::new(), "{name}");
    assert_eq!(seen.requests, Vec::<String>::new(), "{name}");
    check_readable(name, html);
    let sheets = chromium::sheets(html);
    assert!((1..=150).contains(&sheets), "{name}: {sheets} sheets");
}

#[test]
fn reports_of_images_can_be_read_and_printed() {
    if !have(&["chromium"]) {
        return;
    }
    let place = Place::new();
    let plain = plain_image(&place);
    for image in ["sample:devel", &plain] {
        let html = written(&place, &["report", image, "--format", "html"]);
        assert!(html.len() < 2_000_000, "{} bytes", html.len());
        check(image, &html);
    }
}

#[test]
fn comparisons_can_be_read_and_printed() {
    if !have(&["chromium"]) {
        return;
    }
    let place = Place::new();
    let plain = plain_image(&place);
    let two = ["compare", "sample:devel", "sample:runtime", "--format", "html"];
    check("two images", &written(&place, &two));
    let five =
        ["compare", "sample:devel", "sample:runtime", &plain, "sample:devel", &plain, "--format", "html"];
    check("five images", &written(&place, &five));
}

/// What GitHub makes of Markdown, with the part of its style that decides on widths.
fn as_on_github(markdown: &str) -> String {
    let mut command = Command::new("cmark-gfm");
    for extension in ["table", "strikethrough", "autolink", "tagfilter", "tasklist"] {
        command.args(["--extension", extension]);
    }
    let mut child = command
        .arg("--unsafe")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("cmark-gfm starts");
    let mut input = child.stdin.take().expect("a pipe");
    let markdown = markdown.to_owned();
    let writer = std::thread::spawn(move || input.write_all(markdown.as_bytes()));
    let output = child.wait_with_output().expect("cmark-gfm ends");
    writer.join().expect("no panic").expect("cmark-gfm reads all");
    assert!(output.status.success());
    let body = String::from_utf8(output.stdout).expect("UTF-8");
    format!(
        "<!DOCTYPE html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>x</title><style>\
         body {{ margin: 0 16px; font: 14px/1.5 sans-serif; overflow-wrap: break-word }}\
         table {{ display: block; width: max-content; max-width: 100%; overflow: auto }}\
         pre {{ overflow: auto }} code {{ font-size: 85% }}</style></head><body>{body}</body></html>"
    )
}

#[test]
fn markdown_fits_a_comment_and_fetches_nothing() {
    if !have(&["chromium", "cmark-gfm"]) {
        return;
    }
    let place = Place::new();
    let plain = plain_image(&place);
    let reports = [
        vec!["report", "sample:devel", "--format", "markdown"],
        vec!["report", &plain, "--format", "markdown"],
        vec!["compare", "sample:devel", "sample:runtime", "--format", "markdown"],
    ];
    for arguments in reports {
        let html = as_on_github(&written(&place, &arguments));
        assert!(html.contains("<table>"), "{arguments:?}: {html}");
        for element in ["<script", "<img", "<style>x", "<iframe"] {
            assert!(!html.contains(element), "{arguments:?}: {element}");
        }
        let seen = chromium::open(&html, &["--dump-dom"]);
        assert_eq!(seen.console, Vec::<String>::new(), "{arguments:?}");
        assert_eq!(seen.requests, Vec::<String>::new(), "{arguments:?}");
        for page in chromium::measure(&html, &[800], false) {
            let faults = page["faults"].as_array().expect("a list");
            let wide = |fault: &&serde_json::Value| {
                fault.as_str().is_some_and(|text| text.starts_with("the page is"))
            };
            assert_eq!(faults.iter().find(wide), None, "{arguments:?}");
            assert!(page["texts"].as_u64() > Some(10), "{arguments:?}: {page:#}");
        }
    }
}
