//! `[regression]`: every key passes at its limit and fails beyond, and what is not known never passes.

use serde_json::{Value, json};

use super::{base, compare, image, last_line, pair, put};
use crate::fixtures::layout::Layout;
use crate::fixtures::tarball::file;
use crate::schema::fits;
use crate::support::{Outcome, Place};

/// The samples, held to this table.
fn samples(table: &str) -> Outcome {
    let place = Place::new();
    place.put("cutaway.toml", format!("[regression]\n{table}\n"));
    place.run(&["compare", "sample:runtime", "sample:devel", "--today", "2026-01-05"])
}

fn ends(table: &str, code: i32, line: &str) {
    let outcome = samples(table);
    assert_eq!((outcome.code, last_line(&outcome.stdout)), (code, line), "{table}: {}", outcome.stderr);
}

/// What the findings of a report that are safe or unsure have in these categories.
fn found(report: &Value, categories: &[&str], field: &str) -> u64 {
    let findings = report["findings"].as_array().unwrap().iter();
    let counted = findings
        .filter(|one| one["verdict"] != "needed" && categories.contains(&one["category"].as_str().unwrap()));
    counted.map(|one| one[field].as_u64().unwrap_or(0)).sum()
}

#[test]
fn growth_holds_up_to_its_limit() {
    const DEVEL: [&str; 9] = [
        "stubs",
        "static-libraries",
        "headers",
        "profilers",
        "debuggers",
        "compilers",
        "build-metadata",
        "docs-samples",
        "build-tools",
    ];
    let place = Place::new();
    // Next to nothing, and an image with something for every budget.
    let (first, last) = (put(&place, "one", &pair().0), "sample:devel");
    let read =
        |image: &str| place.run(&["report", image, "--format", "json", "--today", "2026-01-05"]).stdout;
    let (before, after): (Value, Value) =
        (serde_json::from_str(&read(&first)).unwrap(), serde_json::from_str(&read(last)).unwrap());
    let total =
        |name: &str| after["totals"][name].as_u64().unwrap() - before["totals"][name].as_u64().unwrap();
    let grown = |categories: &[&str], field: &str| {
        found(&after, categories, field) - found(&before, categories, field)
    };
    let keys = [
        ("compressed_bytes", total("compressed_bytes")),
        ("merged_bytes", total("merged_bytes")),
        ("wasted_bytes", total("wasted_bytes")),
        ("devel_bytes", grown(&DEVEL, "bytes")),
        ("duplicate_bytes", grown(&["duplicates"], "bytes")),
        ("dead_gpu_code_bytes", grown(&["unused-gpu-code"], "potential_bytes")),
    ];
    for (key, growth) in keys {
        assert!(growth > 0, "{key} does not grow, so nothing is tested");
        let fails = format!("verdict: fail reason=regression:{key}");
        for (limit, code, line) in [(growth, 0, "verdict: pass"), (growth - 1, 1, fails.as_str())] {
            let config = place.put("r.toml", format!("[regression]\n{key} = {limit}"));
            let outcome = place.run(&["compare", &first, last, "--config", &config, "--today", "2026-01-05"]);
            assert_eq!((outcome.code, last_line(&outcome.stdout)), (code, line), "{key}: {}", outcome.stdout);
        }
    }
    ends("efficiency = 0.016", 0, "verdict: pass");
    ends("efficiency = 0.015", 1, "verdict: fail reason=regression:efficiency");
    let both = "verdict: fail reason=regression:merged_bytes,regression:devel_bytes";
    ends("devel_bytes = 0\nmerged_bytes = \"1 MiB\"", 1, both);
}

#[test]
fn what_a_node_pulls_has_a_limit_of_its_own() {
    let (first, second) = pair();
    let place = Place::new();
    let pulled = second.layers[1].blob.len();
    let (one, two) = (put(&place, "one", &first), put(&place, "two", &second));
    for (limit, code, line) in
        [(pulled, 0, "verdict: pass"), (pulled - 1, 1, "verdict: fail reason=regression:pull_bytes")]
    {
        let config = place.put("r.toml", format!("[regression]\npull_bytes = {limit}"));
        let outcome = place.run(&["compare", &one, &two, "--config", &config]);
        assert_eq!((outcome.code, last_line(&outcome.stdout)), (code, line));
    }
}

#[test]
fn rules_that_find_more_fail_by_name() {
    ends("new_findings = [\"stubs\"]", 1, "verdict: fail reason=regression:new_findings:stubs");
    let both = "verdict: fail reason=regression:new_findings:static-libraries,regression:new_findings:stubs";
    ends("new_findings = [\"st*\"]", 1, both);
    ends("new_findings = [\"weights-in-middle-layer\"]", 0, "verdict: pass");
    let ignored =
        "new_findings = [\"stubs\"]\n[[ignore]]\nrule = \"stubs\"\nreason = \"linked at the start\"";
    ends(ignored, 0, "verdict: pass");
    let place = Place::new();
    place.put("cutaway.toml", "[regression]\nnew_findings = [\"*\"]");
    let backwards = place.run(&["compare", "sample:devel", "sample:devel"]);
    assert_eq!(backwards.code, 0, "{}", backwards.stdout);
}

#[test]
fn an_image_that_shrinks_keeps_every_budget_of_growth() {
    let place = Place::new();
    let zero = ["compressed_bytes", "merged_bytes", "wasted_bytes", "devel_bytes", "duplicate_bytes"];
    let table = format!("{} = 0\nefficiency = 0.0", zero.join(" = 0\n"));
    place.put("cutaway.toml", format!("[regression]\n{table}"));
    let outcome = place.run(&["compare", "sample:devel", "sample:runtime"]);
    assert_eq!((outcome.code, last_line(&outcome.stdout)), (0, "verdict: pass"), "{}", outcome.stdout);
    assert!(outcome.stdout.contains("−10.3 MiB"), "{}", outcome.stdout);
}

#[test]
fn a_figure_that_is_not_known_fails_its_budget() {
    let place = Place::new();
    place.put("root/file", "x");
    let config = place.put("r.toml", "[regression]\ncompressed_bytes = \"1 PiB\"\npull_bytes = \"1 PiB\"");
    let root = format!("rootfs:{}", place.path("root"));
    let outcome = place.run(&["compare", "sample:runtime", &root, "--config", &config, "--format", "json"]);
    assert_eq!(outcome.code, 1, "{}", outcome.stderr);
    let json: Value = serde_json::from_str(&outcome.stdout).unwrap();
    fits("compare", &json);
    assert_eq!(json["verdict"]["pass"], false);
    assert_eq!(json["verdict"]["reasons"], json!(["regression:compressed_bytes", "regression:pull_bytes"]));
    let checks = json["verdict"]["checks"].as_array().unwrap();
    assert!(checks.iter().all(|check| check["ok"] == false && check["actual"].is_null()), "{checks:#?}");
    let line = "verdict: fail reason=regression:compressed_bytes,regression:pull_bytes";
    assert_eq!(last_line(&outcome.stderr), line);
}

#[test]
fn an_incomplete_image_fails_whatever_the_budget_says() {
    let (first, second) = pair();
    let place = Place::new();
    let mut layout = Layout::of(&second, "latest");
    layout.remove_blob(&second.layers[1].digest);
    let (one, two) = (put(&place, "one", &first), format!("oci:{}", place.put_layout("two", &layout)));
    let three = put(&place, "three", &first);
    let config = place.put("r.toml", "[regression]\nmerged_bytes = \"1 PiB\"");
    // In the middle, too, and without a budget.
    for arguments in [
        &["compare", &one, &two, "--config", &config][..],
        &["compare", &one, &two, &three, "--config", &config],
        &["compare", &one, &two],
    ] {
        let outcome = place.run(arguments);
        let line = "verdict: fail reason=incomplete";
        assert_eq!((outcome.code, last_line(&outcome.stdout)), (2, line), "{}", outcome.stdout);
        assert!(
            outcome.stdout.contains("Incomplete: two could not be read completely."),
            "{}",
            outcome.stdout
        );
        assert!(outcome.stdout.contains("layer-missing"), "{}", outcome.stdout);
    }
}

#[test]
fn the_verdict_stands_where_it_is_not_in_the_way() {
    let (first, second) = pair();
    for format in super::FORMATS {
        let outcome = compare(&[&first, &second], &["--format", format]);
        let (data, messages) =
            (outcome.stdout.contains("verdict: pass"), outcome.stderr.contains("verdict: pass"));
        assert_eq!((data, messages), (format == "text", format != "text"), "{format}");
    }
}

#[test]
fn faults_of_the_table_have_line_and_column_and_check_accepts_it() {
    let place = Place::new();
    for (table, at) in [
        ("merged = 1", "line 2, column 1: unknown field `merged`"),
        ("efficiency = 2.0", "line 2, column 14: efficiency must be between 0 and 1"),
        ("pull_bytes = \"1 G\"", "line 2, column 14: "),
        ("new_findings = [\"stubs\", \"heders\"]", "line 2, column 26: unknown rule \"heders\""),
    ] {
        let config = place.put("r.toml", format!("[regression]\n{table}"));
        for command in [&["compare", "sample:runtime", "sample:devel"][..], &["check", "sample:runtime"]] {
            let message = place.failure(&[command, &["--config", &config]].concat());
            assert!(message.contains(at), "{message}");
        }
    }
    let config = place.put("r.toml", "[regression]\nmerged_bytes = 0\nnew_findings = [\"*\"]");
    let checked = place.run(&["check", "sample:runtime", "--config", &config]);
    assert_eq!((checked.code, last_line(&checked.stdout)), (0, "verdict: pass"), "{}", checked.stdout);
}

#[test]
fn only_what_layers_below_have_in_common_is_not_pulled() {
    let (first, _) = pair();
    let apart = image(&[("COPY base / # buildkit", vec![file("etc/base", "x")]), base()], json!({}));
    let json = super::report(&[&first, &apart], 0);
    // The second layer is the first image's lowest blob: it is there already.
    assert_eq!(json["pull_bytes"], json!([0, apart.layers[0].blob.len()]));
}
