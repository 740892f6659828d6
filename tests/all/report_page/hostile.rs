//! What an image is called, or a report from a stranger holds, means only itself.

use cutaway::base::text::printable;
use cutaway::report::page::{Block, Column, Line, Page, Part, Row, Section, Table};
use cutaway::report::{markdown_escape, to_markdown};
use serde_json::{Value, json};

use super::markdown::{have_cmark, rendered, seen, well_formed};
use super::{finding, lines, of, page_of, small};

const HOSTILE: [&str; 40] = [
    "@octocat",
    "mail me@example.org now",
    "#1 and owner/repo#2 and GH-3 and !4",
    "https://example.org/a?b=c",
    "www.example.org",
    "ftp://example.org mailto:me@example.org xmpp:a@b.de",
    "<script>alert(1)</script>",
    "</td></tr></table><h1>x</h1>",
    "</details><details open>",
    "<img src=x onerror=alert(1)>",
    "<!-- hidden",
    "]]>",
    "&lt;b&gt; &amp; &#64;",
    "a | b | c",
    "|---|---|",
    "a \\| b",
    "back\\slash\\",
    "`code`",
    "``",
    "`",
    "a`b``c```d",
    "```\nfence",
    "~~~",
    "*bold* **bolder** _low_ __lower__ ~~gone~~",
    "[text](https://example.org)",
    "![picture](https://example.org/x.png)",
    "[ref]: https://example.org",
    "[^1]",
    "# heading",
    "- list",
    "+ list",
    "1. list",
    "1) list",
    "> quote",
    "---",
    "===",
    "$x^2$ and $$y$$",
    ":+1: :tada:",
    "{+ added +} {- gone -} ~label %milestone ^alert",
    "語 é \u{202e}txt\u{7}",
];

#[test]
fn hostile_texts_mean_only_themselves() {
    if !have_cmark() {
        return;
    }
    for text in HOSTILE {
        let text = printable(text);
        for markdown in [
            format!("{}\n", markdown_escape(&text)),
            format!("**{}**: x\n", markdown_escape(&text)),
            format!("- {}\n", markdown_escape(&text)),
            format!("## {}\n", markdown_escape(&text)),
            format!("| a | b |\n|---|---|\n| {} | c |\n", markdown_escape(&text)),
            format!("<details>\n<summary>{}</summary>\n\nx\n\n</details>\n", markdown_escape(&text)),
        ] {
            let html = rendered(&markdown);
            well_formed(&html);
            let shown = seen(&html);
            assert!(shown.contains(&text), "{text:?} is {shown:?} by {markdown:?}");
        }
    }
}

/// Every place of a page where a text can stand, each with every text, as prose and as code.
#[test]
fn hostile_texts_stay_where_they_stand() {
    if !have_cmark() {
        return;
    }
    for text in HOSTILE {
        let text = printable(text);
        for line in [Line::plain(text.as_str()), Line::code(text.as_str())] {
            let inner = vec![
                Block::Line(line.clone()),
                Block::Heading(text.clone()),
                Block::Facts(vec![
                    (text.clone(), line.clone()),
                    ("a".to_owned(), line.clone()),
                    ("a".to_owned(), line.clone()),
                ]),
                Block::Code("diff", format!("{text}\n{text}")),
            ];
            let columns = ["a", &text].map(|title| Column { title: title.to_owned(), number: false });
            let row = Row { cells: vec![line.clone(), line.clone()], details: inner.clone() };
            let mut blocks = inner;
            blocks.push(Block::Table(Table {
                columns: columns.to_vec(),
                rows: vec![row; 2],
                more: 2,
                noun: "rows",
            }));
            blocks.push(Block::Fold(text.clone(), blocks.clone()));
            let section = |part| Section { part, note: text.clone(), blocks: blocks.clone() };
            let page = Page {
                title: text.clone(),
                generator: text.clone(),
                facts: vec![text.clone(); 2],
                lead: vec![line.clone()],
                sections: vec![section(Part::Findings), section(Part::Layers)],
            };
            let html = rendered(&to_markdown(&page));
            well_formed(&html);
            let shown = seen(&html);
            // Twice in each of two sections: three facts and their name, two headings, cells, code, behind rows too.
            let times = shown.matches(&text).count();
            assert!(times > 80, "{text:?} is there {times} times in {html}");
        }
    }
}

#[test]
fn a_report_of_a_stranger_cannot_steer_anything() {
    let mut json = small();
    let bad = HOSTILE.join("\u{1b}[31m\n");
    let mut all = finding("a", "safe", 10, &bad);
    for word in ["rule", "severity", "category"] {
        all[word] = json!(bad);
    }
    json["findings"] = json!([all]);
    json["reclaimable"] =
        json!({"safe_bytes": 10, "unsure_bytes": 0, "potential_bytes": 0, "by_category": {}});
    strings(&mut json["image"], &bad);
    json["generator"] = json!({"name": bad, "version": bad});
    json["warnings"] = json!([{"code": bad, "message": bad, "subject": bad}]);
    json["largest_files"] = json!([{"path": bad, "bytes": 1, "layer": 0}]);
    json["proposals"] = json!([{
        "id": bad, "title": bad, "applicability": bad, "saved_bytes": 1, "base_image": bad, "dockerfile": bad, "diff": bad,
    }]);
    json["compatibility"] = json!({
        "requires": {"cuda": bad, "min_driver": bad, "min_driver_minor_compat": bad, "sass": [bad], "ptx": [bad],
            "versions": [{"version": bad, "who": bad, "subject": bad, "evidence": bad, "firm": true}]},
        "targets": [{"target": bad, "gpu": bad, "compute_capability": bad, "gpus": bad, "driver": bad,
            "driver_source": bad, "cuda_version": bad, "verdict": bad, "why": bad,
            "reasons": [{"verdict": bad, "rule": bad, "text": bad, "subject": bad, "hint": bad, "source": bad,
                "error": {"code": 1, "name": bad}}]}],
    });
    let report = of(&json);
    let page = page_of(&json);
    assert_eq!(report.warnings.len(), 1);
    let harmless = |text: &str| !text.chars().any(cutaway::base::text::is_unsafe);
    assert!(lines(&page).iter().all(|line| harmless(&line.text)), "{page:#?}");
    let heads = page.facts.iter().chain([&page.title, &page.generator]);
    assert!(heads.chain(page.sections.iter().map(|section| &section.note)).all(|text| harmless(text)));
    let text = to_markdown(&page);
    assert!(text.lines().all(harmless), "{text}");
    if have_cmark() {
        well_formed(&rendered(&text));
    }
}

/// Puts a text in place of every string and of every null.
fn strings(value: &mut Value, text: &str) {
    match value {
        Value::Object(fields) => fields.iter_mut().for_each(|(name, value)| match name.as_str() {
            "tags" => *value = json!([text]),
            "platform" => *value = json!({"os": text, "architecture": text, "variant": text}),
            "base" => {
                *value = json!({"reference": text, "flavor": text, "cuda_version": text, "cudnn_version": text,
                    "distribution": text, "layers": 1, "evidence": [text]});
            }
            "config" => {
                *value = json!({"env": [text], "entrypoint": [text], "cmd": [text], "working_dir": text,
                    "user": text, "labels": {text: text}, "exposed_ports": [text]});
            }
            _ => strings(value, text),
        }),
        other => *other = json!(text),
    }
}
