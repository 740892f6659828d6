use std::io::Write as _;
use std::process::{Command, Stdio};

use super::super::value::Applicability;
use super::fuzz::patched;
use super::*;

fn edit(at: Range<usize>, with: &str, reason: &str) -> Edit {
    Edit { at, with: with.into(), reason: reason.into(), applicability: Applicability::Safe, bytes: Some(1) }
}

/// Text, line and count of each reason.
fn told(reasons: &[Reason]) -> Vec<(&str, u32, u32)> {
    reasons.iter().map(|reason| (reason.text.as_str(), reason.line, reason.lines)).collect()
}

#[test]
fn edits_are_exact_and_reasons_name_new_lines() {
    let text = "FROM a\nRUN one\nRUN two\nCMD x\n";
    let at = |part: &str| text.find(part).unwrap();
    let edits = [
        edit(at("CMD")..at("CMD"), "USER u\n", "a line more"),
        edit(at("one")..at("one") + 3, "1", "another word"),
        edit(at("RUN two")..at("CMD"), "", "a line less"),
        edit(0..0, "ARG v=1\nARG w=2\n", "two lines before all"),
        edit(at("\nRUN two")..at("\nRUN two"), " \\\n    && more", "goes on"),
    ];
    let (after, reasons, left_out) = apply(text, &edits);
    assert_eq!(after, "ARG v=1\nARG w=2\nFROM a\nRUN 1 \\\n    && more\nUSER u\nCMD x\n");
    assert!(left_out.is_empty());
    assert_eq!(
        told(&reasons),
        [
            ("two lines before all", 1, 2),
            ("another word", 4, 1),
            ("goes on", 4, 2),
            ("a line less", 5, 0),
            ("a line more", 6, 1),
        ]
    );
}

#[test]
fn one_line_keeps_the_reasons_of_several_edits() {
    let text = "RUN pip install a && apt-get install b\r\n";
    let edits = [
        edit(text.find(" b").unwrap()..text.find(" b").unwrap(), " -x", "second"),
        edit(text.find(" a").unwrap()..text.find(" a").unwrap(), " -y", "first"),
        edit(text.find("\r\n").unwrap()..text.find("\r\n").unwrap(), "\r\nCMD z", "third"),
    ];
    let (after, reasons, _) = apply(text, &edits);
    assert_eq!(after, "RUN pip install -y a && apt-get install -x b\r\nCMD z\r\n");
    assert_eq!(told(&reasons), [("first", 1, 1), ("second", 1, 1), ("third", 2, 1)]);
}

#[test]
fn overlapping_and_impossible_edits_are_left_out() {
    let text = "aé bcd";
    let edits = [
        edit(4..6, "X", "first"),
        edit(5..7, "Y", "overlaps it"),
        edit(2..2, "Z", "inside a character"),
        edit(90..91, "Z", "behind the end"),
        #[allow(clippy::reversed_empty_ranges, reason = "what a fault may make")]
        edit(3..1, "Z", "backwards"),
        edit(4..4, "in ", "before the first"),
        edit(6..6, "out", "right behind it"),
    ];
    let (after, reasons, left_out) = apply(text, &edits);
    assert_eq!(after, "aé in Xoutd");
    assert_eq!(left_out, [1, 2, 3, 4]);
    let texts: Vec<_> = reasons.iter().map(|reason| reason.text.as_str()).collect();
    assert_eq!(texts, ["before the first", "first", "right behind it"]);
}

#[test]
fn a_file_without_a_last_line_end_takes_edits_at_its_end() {
    let text = "FROM a\nRUN b";
    let (after, reasons, _) = apply(text, &[edit(text.len()..text.len(), "\nCMD c\n", "at the end")]);
    assert_eq!(after, "FROM a\nRUN b\nCMD c\n");
    assert_eq!(told(&reasons), [("at the end", 3, 1)]);
    let (after, reasons, _) = apply(text, &[edit(text.len()..text.len(), " && d", "the last line")]);
    assert_eq!(after, "FROM a\nRUN b && d");
    assert_eq!(told(&reasons), [("the last line", 2, 1)]);
    let (after, reasons, _) = apply(text, &[edit(7..text.len(), "", "gone")]);
    assert_eq!(after, "FROM a\n");
    assert_eq!(told(&reasons), [("gone", 1, 0)]);
    assert_eq!(told(&apply("a\n", &[edit(0..2, "", "all gone")]).1), [("all gone", 0, 0)]);
}

/// Pairs of texts that diffs are hard on.
fn pairs() -> Vec<(String, String)> {
    let numbered = || (0..40).map(|number| format!("line {number}\n")).collect::<Vec<_>>().concat();
    let mut changed = numbered().replace("line 3\n", "").replace("line 20\n", "line 20\nnew\n");
    changed = changed.replace("line 33\n", "line three\n");
    vec![
        (numbered(), changed),
        ("a\r\nb\r\nc\r\n".into(), "a\r\nb \\\r\n    && d\r\nc\r\n".into()),
        ("a\nb".into(), "a\nb\nc".into()),
        ("a\nb".into(), "a\nb\n".into()),
        ("a\nb\n".into(), "a\nb".into()),
        ("a\rb\nc".into(), "a\rx\nc".into()),
        (String::new(), "new\n".into()),
        ("old\n".into(), String::new()),
        ("a\u{2028}b\u{b}\n".into(), "a\u{2028}c\u{b}\n".into()),
    ]
}

#[test]
fn a_diff_says_what_changed() {
    let mut after = String::from("FROM a\n\n");
    after.push_str("RUN b \\\n    && c\n");
    assert_eq!(
        unified("Dockerfile", "FROM a\n\nRUN b\n", &after),
        "--- Dockerfile\n+++ Dockerfile\n@@ -1,3 +1,4 @@\n FROM a\n \n-RUN b\n+RUN b \\\n+    && c\n"
    );
    assert_eq!(unified("Dockerfile", "a", "a"), "");
    for (before, after) in pairs() {
        assert_eq!(patched(&before, &unified("x", &before, &after)), after, "{before:?}");
    }
}

/// Runs a program in a folder with some input; `None` when it is not installed.
fn run(folder: &std::path::Path, program: &[&str], input: &str) -> Option<bool> {
    let mut command = Command::new(program[0]);
    command.args(&program[1..]).current_dir(folder).stdin(Stdio::piped()).stdout(Stdio::null());
    let mut child = command.spawn().ok()?;
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    Some(child.wait().unwrap().success())
}

#[test]
fn patch_and_git_take_the_diff() {
    for program in [&["patch", "-p0", "--binary"][..], &["git", "apply", "-p0", "-"]] {
        for (before, after) in pairs() {
            let folder = tempfile::tempdir().unwrap();
            let file = folder.path().join("Dockerfile");
            std::fs::write(&file, &before).unwrap();
            let diff = unified("Dockerfile", &before, &after);
            let Some(success) = run(folder.path(), program, &diff) else {
                assert!(std::env::var_os("CUTAWAY_REQUIRE_TOOLS").is_none(), "{} is missing", program[0]);
                println!("SKIPPED: {} is not installed", program[0]);
                return;
            };
            assert!(success, "{program:?} does not take\n{diff}");
            let patched = std::fs::read_to_string(&file).unwrap_or_default();
            assert_eq!(patched, after, "{program:?} made something else of\n{diff}");
        }
    }
}

#[test]
fn diffs_of_hostile_texts_are_made() {
    let lines = |count: u64, seed: u64| -> String {
        let is_a = |number: u64| (number ^ seed).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 63 == 0;
        (0..count).map(|number| if is_a(number) { "a\n" } else { "b\n" }).collect()
    };
    // Lines of one byte, with nothing, little and much in common: of 1 MiB, and of a size where they are compared.
    for count in [1 << 19, 1 << 12] {
        let (ones, others, mixed, more) =
            ("a\n".repeat(1 << 19), "b\n".repeat(1 << 19), lines(count, 0), lines(count, 0x5555_5555));
        let in_the_middle = format!("{mixed}x\n{mixed}");
        let pairs =
            [(&ones, &others), (&mixed, &more), (&ones, &mixed), (&mixed, &others), (&mixed, &in_the_middle)];
        for (before, after) in pairs {
            let diff = unified("Dockerfile", before, after);
            assert!(patched(before, &diff) == *after, "the diff is wrong");
        }
    }
}

#[test]
fn promises_hold_for_odd_files() {
    let files: [&str; 6] = [
        "FROM a\nRUN b\n",
        "# escape=`\r\nFROM a\r\nRUN b `\r\n  c\r\n",
        "FROM a AS x\nRUN <<EOF\nb\nEOF\nCOPY --from=x /a /b",
        "\u{feff}# syntax=docker/dockerfile:1\n\nARG v=1\nfrom a:${v}\nrun [\"b\"]\n",
        "",
        "FROM ä\nENV é=ö ü=1\n\n\n",
    ];
    for file in files {
        for end in 0..=file.len() {
            fuzz_edits(&file.as_bytes()[..end]);
        }
    }
}
