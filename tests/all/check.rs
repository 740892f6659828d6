//! `cutaway check` and `cutaway explain` as a pipeline uses them: exit codes, the last line, the summary.

use std::fs;

use cutaway::findings::{chapters, rules};

use crate::fixtures::image::Image;
use crate::fixtures::layout::Layout;
use crate::fixtures::packing::Packing;
use crate::fixtures::tarball::{Member, file, tar};
use crate::support::{Outcome, Place};

const LIB: &str = "usr/local/cuda-13.0/targets/x86_64-linux/lib";
const INCLUDE: &str = "usr/local/cuda-13.0/targets/x86_64-linux/include";

/// A service on a toolkit with a static library of 3000 bytes and two headers of 100; 500 bytes are replaced.
fn members() -> [Vec<Member>; 2] {
    [
        vec![
            file(format!("{LIB}/libcublas_static.a"), [b"!<arch>\n".to_vec(), vec![b'x'; 2992]].concat()),
            file(format!("{INCLUDE}/cublas_v2.h"), vec![b' '; 100]),
            file(format!("{INCLUDE}/cuda_|<b>`.h"), vec![b' '; 100]),
            file("srv/model", vec![b'm'; 500]),
        ],
        vec![file("srv/model", vec![b'n'; 500])],
    ]
}

fn layout() -> Layout {
    Layout::of(&Image::of(Packing::Plain, members().into_iter().map(tar)), "latest")
}

/// Checks the service against a file.
fn check(config: &str, options: &[&str]) -> Outcome {
    let place = Place::new();
    let image = place.put_layout("image", &layout());
    place.put("cutaway.toml", config);
    let reference = format!("oci:{image}");
    let mut arguments = vec!["check", &reference, "--today", "2026-06-15"];
    arguments.extend(options);
    place.run(&arguments)
}

fn last(outcome: &Outcome) -> &str {
    outcome.stdout.lines().last().unwrap_or_default()
}

/// The check ends with this code and this line.
fn ends(config: &str, code: i32, line: &str) -> Outcome {
    let outcome = check(config, &[]);
    assert_eq!((outcome.code, last(&outcome)), (code, line), "{}{}", outcome.stdout, outcome.stderr);
    assert!(outcome.stdout.lines().all(|line| line.chars().count() <= 80 || line.starts_with("verdict: ")));
    outcome
}

#[test]
fn without_a_file_a_complete_image_passes_and_the_findings_are_told() {
    let place = Place::new();
    let image = place.put_layout("image", &layout());
    let outcome = place.run(&["check", &format!("oci:{image}")]);
    assert_eq!((outcome.code, last(&outcome)), (0, "verdict: pass"), "{}", outcome.stdout);
    assert!(outcome.stdout.contains("no cutaway.toml"), "{}", outcome.stdout);
    assert!(outcome.stdout.contains("static-libraries: "), "{}", outcome.stdout);
    assert_eq!(place.run(&["check", "sample:devel"]).code, 0);
}

#[test]
fn budgets_hold_up_to_their_limit() {
    let kept =
        "[budget]\nmerged_bytes = 3700\nwasted_bytes = 500\ndevel_bytes = \"3.2 kB\"\nefficiency = 0.88";
    ends(kept, 0, "verdict: pass");
    let line =
        "verdict: fail reason=budget:merged_bytes,budget:devel_bytes,budget:wasted_bytes,budget:efficiency";
    let broken = "[budget]\nmerged_bytes = 3699\nwasted_bytes = 499\ndevel_bytes = 3199\nefficiency = 0.9";
    let outcome = ends(broken, 1, line);
    assert!(outcome.stdout.contains("fail  merged_bytes"), "{}", outcome.stdout);
}

#[test]
fn a_size_that_is_not_known_fails_its_budget() {
    let place = Place::new();
    fs::create_dir(place.path("root")).unwrap();
    place.put("root/file", "x");
    let config = place.put("c.toml", "[budget]\ncompressed_bytes = \"1 PiB\"");
    let outcome = place.run(&["check", &format!("rootfs:{}", place.path("root")), "--config", &config]);
    assert_eq!((outcome.code, last(&outcome)), (1, "verdict: fail reason=budget:compressed_bytes"));
    assert!(outcome.stdout.contains("unknown, limit"), "{}", outcome.stdout);
}

#[test]
fn denied_rules_fail_and_allowed_ones_do_not() {
    ends("[rules]\ndeny = [\"headers\"]", 1, "verdict: fail reason=rule:headers");
    ends("[rules]\ndeny = [\"h*\"]\nallow = [\"headers\"]", 0, "verdict: pass");
    let both = "verdict: fail reason=rule:headers,rule:static-libraries";
    let outcome = ends("[rules]\ndeny = [\"headers\", \"static-*\"]", 1, both);
    assert!(outcome.stdout.contains("libcublas_static.a"), "{}", outcome.stdout);
}

#[test]
fn ignored_files_count_no_more() {
    let ignore = |path: &str, expires: &str| {
        format!(
            "[budget]\ndevel_bytes = 3100\n[rules]\ndeny = [\"headers\"]\n\
             [[ignore]]\nrule = \"headers\"\npath = \"{path}\"\nreason = \"kernels\"\n{expires}"
        )
    };
    let all = ends(&ignore("/usr/local/**/include/*.h", ""), 0, "verdict: pass");
    assert!(all.stdout.contains("headers at /usr/local/**/include/*.h: kernels"), "{}", all.stdout);
    let fails = "verdict: fail reason=rule:headers";
    ends(&ignore("/usr/local/**/cublas_v2.h", ""), 1, fails);
    let day = "expires = 2026-06-15";
    ends(&ignore("/**", day), 0, "verdict: pass");
    let day = "expires = 2026-06-14";
    let fails = "verdict: fail reason=budget:devel_bytes,rule:headers";
    let late = ends(&ignore("/**", day), 1, fails);
    assert!(late.stdout.contains("expired on 2026-06-14"), "{}", late.stdout);
}

#[test]
fn an_incomplete_image_fails_whatever_the_file_says() {
    let place = Place::new();
    let image = Image::of(Packing::Plain, members().into_iter().map(tar));
    let mut layout = Layout::of(&image, "latest");
    layout.remove_blob(&image.layers[0].digest);
    let reference = format!("oci:{}", place.put_layout("image", &layout));
    for config in ["", "[budget]\nmerged_bytes = 0\n[rules]\ndeny = [\"*\"]"] {
        place.put("cutaway.toml", config);
        let outcome = place.run(&["check", &reference]);
        assert_eq!(
            (outcome.code, last(&outcome)),
            (2, "verdict: fail reason=incomplete"),
            "{}",
            outcome.stdout
        );
        assert!(outcome.stdout.contains("\nIncomplete\n"), "{}", outcome.stdout);
    }
}

#[test]
fn a_file_that_cannot_be_used_is_an_error_with_its_place() {
    let place = Place::new();
    for (text, message) in [
        ("[budget]\nmerged = 1", "cutaway.toml, line 2, column 1: unknown field `merged`"),
        (
            "[rules]\ndeny = [\"heders\"]",
            "line 2, column 9: unknown rule \"heders\"\nhint: did you mean headers?",
        ),
        ("targets = [\"gpu:l44\"]", "line 1, column 12: unknown target gpu:l44\nhint: did you mean gpu:l4"),
    ] {
        place.put("cutaway.toml", text);
        let error = place.failure(&["check", "sample:runtime"]);
        assert!(error.contains(message), "{error}");
    }
    place.put("cutaway.toml", [0xff]);
    assert!(place.failure(&["check", "sample:runtime"]).contains("cutaway.toml is not UTF-8"));
    let error = place.failure(&["check", "sample:runtime", "--config", "no/such.toml"]);
    assert!(error.contains("cannot read no/such.toml"), "{error}");
}

#[test]
fn targets_are_read_and_refused_by_both_commands() {
    let place = Place::new();
    for command in ["check", "report"] {
        assert_eq!(
            place.run(&[command, "sample:runtime", "--target", "cc=8.6", "--target", "gpu:l4"]).code,
            0
        );
        let error = place.failure(&[command, "sample:runtime", "--target", "gpu:l44"]);
        assert!(error.contains("unknown target gpu:l44\nhint: "), "{error}");
    }
}

#[test]
fn the_summary_is_appended_and_means_only_itself() {
    let elsewhere = Place::new();
    let summary = elsewhere.path("summary.md");
    let config = "[budget]\nmerged_bytes = 1\n[rules]\ndeny = [\"static-*\"]\n\
                  [[ignore]]\nrule = \"headers\"\nreason = \"a | <b> `c` [d](e)\"";
    for round in 1..=2 {
        let outcome = check(config, &["--summary", &summary]);
        assert_eq!(outcome.code, 1, "{}", outcome.stderr);
        let text = fs::read_to_string(&summary).unwrap();
        assert_eq!(text.matches("## Cutaway: ").count(), round, "{text}");
        assert_eq!(
            text.matches("\n**fail**: `budget:merged_bytes`, `rule:static-libraries`\n").count(),
            round
        );
        assert_eq!(
            text.matches("| **fail** | `merged_bytes` | 3.61 KiB | at most 1 B |").count(),
            round,
            "{text}"
        );
        assert_eq!(text.matches("<details>").count(), round);
        assert!(!text.contains("<b>") && !text.contains("`c`") && !text.contains("[d]"), "{text}");
        let rows = text.lines().filter(|line| line.contains("static-libraries` | Removable |"));
        assert_eq!(rows.map(|row| row.matches('|').count()).collect::<Vec<_>>(), vec![7; round], "{text}");
    }
    let error = Place::new().failure(&["check", "sample:runtime", "--summary", "no/such/folder/s.md"]);
    assert!(error.contains("cannot write no/such/folder/s.md"), "{error}");
}

#[test]
fn the_manual_is_printed() {
    let place = Place::new();
    let list = place.run(&["explain"]);
    let names: Vec<&str> = rules().map(|rule| rule.id).chain(chapters()).collect();
    for name in names {
        assert!(list.stdout.contains(&format!("- `{name}`: ")), "{name}: {}", list.stdout);
        let page = place.run(&["explain", name]);
        assert!(page.code == 0 && page.stdout.starts_with("# ") && page.stdout.ends_with('\n'), "{name}");
    }
    let error = place.failure(&["explain", "heders"]);
    assert!(error.contains("heders") && error.contains("hint: did you mean headers?"), "{error}");
    assert!(place.failure(&["explain", "nothing-like-it"]).contains("`cutaway explain`"));
}
