use std::sync::Arc;

use super::{Amount, Date, Measured, Outcome, Policy, PolicyError, near};
use crate::base::{Limits, Warning, WarningCode};
use crate::cuda::catalog::Catalog;
use crate::findings::value::{Finding, Findings, Item, Severity, Verdict};
use crate::findings::{Category, rule};
use crate::layer::{EntryId, EntryKind, IndexBuilder, NewEntry};
use crate::rootfs::{Rootfs, merge};

/// Line, column, message and hint of a rejected file.
fn refused(text: &str) -> (usize, usize, String, String) {
    match Policy::parse("cutaway.toml", text) {
        Err(PolicyError::Fault { file, line, column, message, hint }) => {
            assert_eq!(file, "cutaway.toml");
            (line, column, message, hint.unwrap_or_default())
        }
        other => panic!("{text}: {other:?}"),
    }
}

#[test]
fn faults_name_line_column_and_cause() {
    let cases: &[(&str, usize, usize, &str)] = &[
        ("targets = [", 1, 12, ""),
        ("\ntypo = 1", 2, 1, "unknown field `typo`"),
        ("[budget]\nmerged = 1", 2, 1, "unknown field `merged`"),
        ("[rules]\nwarn = []", 2, 1, "unknown field `warn`"),
        ("[[ignore]]\nrule = \"stubs\"\nreason = \"x\"\nuntil = 1", 4, 1, "unknown field `until`"),
        ("[budget]\nmerged_bytes = -1", 2, 16, "negative"),
        ("[budget]\nmerged_bytes = \"4 gigs\"", 2, 16, "4 gigs"),
        ("[budget]\nmerged_bytes = 1.5", 2, 16, "expected an integer or a size"),
        ("[budget]\nefficiency = 1.01", 2, 14, "between 0 and 1"),
        ("[budget]\nefficiency = nan", 2, 14, "between 0 and 1"),
        ("[budget]\nefficiency = \"95 %\"", 2, 14, "invalid type"),
        ("[rules]\ndeny = [\"stubs\", \"heders\"]", 2, 18, "unknown rule \"heders\""),
        ("[rules]\nallow = [\"\"]", 2, 10, "unknown rule \"\""),
        ("[rules]\ndeny = [\"cuda-*\", \"x*\"]", 2, 19, "no rule matches"),
        ("[[ignore]]\nrule = \"xyz\"\nreason = \"x\"", 2, 8, "unknown rule \"xyz\""),
        ("[[ignore]]\nrule = \"stubs\"", 1, 1, "missing field `reason`"),
        ("[[ignore]]\nrule = \"stubs\"\nreason = \" \"", 3, 10, "empty reason"),
        ("[[ignore]]\nrule = \"stubs\"\nreason = \"x\"\npath = \"\"", 4, 8, "empty"),
        ("[[ignore]]\nrule = \"stubs\"\nreason = \"x\"\nexpires = \"2026-02-29\"", 4, 11, "not a date"),
        ("[[ignore]]\nrule = \"stubs\"\nreason = \"x\"\nexpires = 2026-02-01T10:00:00Z", 4, 11, "YYYY-MM-DD"),
        ("[[ignore]]\nrule = \"stubs\"\nreason = \"x\"\nexpires = 20260201", 4, 11, "YYYY-MM-DD"),
        ("targets = [\"gpu:l4\", \" \"]", 1, 22, "empty value"),
        ("targets = []\nprofile = \" \"", 2, 11, "empty value"),
        ("targets = []\nplatform = \"gke\"", 2, 1, "unknown field `platform`"),
        ("# é\ntargets = [\"é\", 1]", 2, 17, "invalid type"),
    ];
    for (text, line, column, cause) in cases {
        let found = refused(text);
        assert_eq!((found.0, found.1), (*line, *column), "{text}: {found:?}");
        assert!(found.2.contains(cause), "{text}: {found:?}");
    }
}

#[test]
fn what_may_be_meant_is_told() {
    assert_eq!(refused("[rules]\ndeny = [\"heders\"]").3, "did you mean headers?");
    assert_eq!(refused("[rules]\ndeny = [\"libraries\"]").3.matches("-libraries").count(), 3);
    assert!(refused("[rules]\ndeny = [\"qqqqqqqqqq\"]").3.contains("cutaway explain"));
    assert_eq!(near("", ["a-rule"]), Vec::<&str>::new());
    assert_eq!(near(&"x".repeat(100_000), ["a-rule"]), Vec::<&str>::new());
}

#[test]
fn targets_are_looked_up_where_they_stand() {
    let text = "targets = [\"gpu:l4\",\n  \"gpu:l44\"]";
    let error = Policy::parse("cutaway.toml", text)
        .unwrap()
        .targets(Catalog::builtin(), &|| Err("no GPU".to_owned()))
        .unwrap_err();
    assert!(error.to_string().contains("cutaway.toml, line 2, column 3: unknown target gpu:l44"), "{error}");
    assert!(error.hint().unwrap().contains("gpu:l4"), "{error}");
    let policy = Policy::parse("cutaway.toml", "targets = [\"gpu:l4\", \"cc=8.6\"]").unwrap();
    let targets = policy.targets(Catalog::builtin(), &|| Err("no GPU".to_owned())).unwrap();
    assert_eq!(targets.iter().map(|target| target.sm).collect::<Vec<_>>(), [89, 86]);
}

#[test]
fn a_file_is_bounded() {
    let large = "#".repeat(super::FILE_BYTES + 1);
    assert!(Policy::parse("c", &large).unwrap_err().to_string().contains("more than 1048576 bytes"));
    let ignore = "[[ignore]]\nrule = \"stubs\"\nreason = \"x\"\n";
    assert!(Policy::parse("c", &ignore.repeat(1000)).is_ok());
    assert!(refused(&ignore.repeat(1001)).2.contains("more than 1000 ignores"));
    let path = format!("[[ignore]]\nrule = \"stubs\"\nreason = \"x\"\npath = \"{}\"", "*a".repeat(513));
    assert!(refused(&path).2.contains("more than 1024 bytes"));
    let longest = format!("[[ignore]]\nrule = \"stubs\"\nreason = \"x\"\npath = \"{}\"", "*a".repeat(512));
    assert!(Policy::parse("c", &longest).is_ok());
}

#[test]
fn days_are_those_of_the_calendar() {
    for (text, day) in
        [("1970-01-01", 0), ("2000-02-29", 11_016), ("2026-11-20", 20_777), ("9999-12-31", 2_932_896)]
    {
        assert_eq!((text.parse(), Date(day).to_string()), (Ok(Date(day)), text.to_owned()));
    }
    for text in
        ["1969-12-31", "2026-00-01", "2026-13-01", "2026-04-31", "2100-02-29", "2026-1-1", "+026-01-01"]
    {
        text.parse::<Date>().unwrap_err();
    }
}

#[test]
fn globs_stop_at_slashes_unless_they_have_two_stars() {
    let fits = |glob: &str, text: &str| super::pattern::Pattern::new(glob).unwrap().is_match(text);
    assert!(fits("/a/*.so", "/a/b.so") && !fits("/a/*.so", "/a/b/c.so") && fits("/a/**.so", "/a/b/c.so"));
    assert!(fits("/a/**/c", "/a/c") && fits("/a/**/c", "/a/b/b/c") && !fits("/a/**/c", "/a/bc"));
    assert!(fits("/a/**", "/a/b") && !fits("/a/**", "/ab") && !fits("a", "ab") && !fits("b", "ab"));
    assert!(fits("/[x]?.{a,b}", "/[x]?.{a,b}") && !fits("/a.c", "/abc"));
}

/// A layer of files, each with its size.
fn rootfs(files: &[(&str, u64)]) -> Rootfs {
    let mut index = IndexBuilder::new(&Limits::default());
    for (path, size) in files {
        let kind = EntryKind::File;
        let entry =
            NewEntry { kind, size: *size, mode: 0, uid: 0, gid: 0, mtime: 0, link: b"", body_at: None };
        index.add_path(path.as_bytes(), entry).unwrap();
    }
    merge(&[Arc::new(index.finish())], &["test".to_owned()], 10).rootfs
}

fn finding(id: &str, verdict: Verdict, items: &[(u32, u64)], subjects: &[&str]) -> Finding {
    let rule = rule(id).unwrap();
    let item =
        |(entry, bytes): &(u32, u64)| Item { layer: 0, entry: EntryId(*entry), node: None, bytes: *bytes };
    let items: Vec<Item> = items.iter().map(item).collect();
    let bytes = items.iter().map(|item| item.bytes).sum();
    Finding {
        id: format!("{id}:{}", verdict.as_str()),
        rule,
        severity: Severity::Low,
        verdict,
        category: rule.category,
        title: id.to_owned(),
        reason: String::new(),
        proof: Vec::new(),
        question: None,
        readers: Vec::new(),
        reading: Vec::new(),
        fix: String::new(),
        bytes: if rule.category.has_bytes() { bytes } else { 0 },
        merged_bytes: 0,
        layers: Vec::new(),
        items,
        subjects: subjects.iter().map(|subject| (*subject).to_owned()).collect(),
        packages: Vec::new(),
        users: Vec::new(),
        potential_bytes: if rule.category == Category::UnusedGpuCode { 700 } else { 0 },
        potential_compressed_bytes: None,
        rests_on: Vec::new(),
    }
}

const FILES: [(&str, u64); 6] = [
    ("/usr/include/a.h", 10),
    ("/usr/include/b.h", 20),
    ("/opt/x/lib.a", 100),
    ("/usr/bin/nvcc", 400),
    ("/opt/copy.so", 50),
    ("/opt/big.so", 1000),
];

fn findings() -> Findings {
    let list = vec![
        finding("static-libraries", Verdict::Safe, &[(2, 100)], &[]),
        finding("headers", Verdict::Safe, &[(0, 10), (1, 20)], &[]),
        finding("duplicates", Verdict::Unsure, &[(4, 50)], &["copy.so"]),
        finding("unused-gpu-code", Verdict::Unsure, &[(5, 1000)], &[]),
        finding("secrets", Verdict::Unsure, &[], &["ENV API_KEY", "ENV TOKEN"]),
        finding("compilers", Verdict::Needed, &[(3, 400)], &[]),
    ];
    Findings { list, ..Findings::default() }
}

fn judge(text: &str) -> Outcome {
    judge_with(text, |_| ())
}

fn judge_with(text: &str, change: impl FnOnce(&mut Measured<'_>)) -> Outcome {
    let (rootfs, findings) = (rootfs(&FILES), findings());
    let mut measured = Measured {
        complete: true,
        compressed_bytes: Some(500),
        merged_bytes: Some(1580),
        wasted_bytes: Some(20),
        efficiency: Some(0.9875),
        findings: Some(&findings),
        rootfs: &rootfs,
    };
    change(&mut measured);
    let policy = Policy::parse("cutaway.toml", text).unwrap();
    policy.judge(&measured, "2026-06-15".parse().unwrap())
}

#[test]
fn without_a_policy_only_an_incomplete_image_fails() {
    assert_eq!(judge("").verdict(), "verdict: pass");
    let incomplete = judge_with("[rules]\ndeny = [\"*\"]", |measured| measured.complete = false);
    assert_eq!(incomplete.verdict(), "verdict: fail reason=incomplete");
}

#[test]
fn budgets_are_kept_up_to_their_limit() {
    let kept = "[budget]\ncompressed_bytes = 500\nmerged_bytes = \"1580 B\"\ndevel_bytes = 130\nwasted_bytes = 20\n\
                duplicate_bytes = 50\ndead_gpu_code_bytes = 700\nefficiency = 0.9875";
    let outcome = judge(kept);
    assert!(outcome.passes() && outcome.checks.len() == 7, "{outcome:?}");
    let broken = "[budget]\ncompressed_bytes = 499\nmerged_bytes = 1579\ndevel_bytes = 129\nwasted_bytes = 19\n\
                  duplicate_bytes = 49\ndead_gpu_code_bytes = 699\nefficiency = 0.9876";
    let words = "budget:compressed_bytes,budget:merged_bytes,budget:devel_bytes,budget:wasted_bytes,\
                 budget:duplicate_bytes,budget:dead_gpu_code_bytes,budget:efficiency";
    assert_eq!(judge(broken).verdict(), format!("verdict: fail reason={words}"));
    let devel = judge(broken).checks[2].clone();
    assert_eq!(devel.actual, Some(Amount::Bytes(130)), "what is needed does not count");
    assert_eq!(devel.detail, "static-libraries 100 B, headers 30 B");
}

#[test]
fn what_is_unknown_never_passes() {
    let outcome = judge_with("[budget]\ncompressed_bytes = \"9 PiB\"\nefficiency = 0", |measured| {
        measured.compressed_bytes = None;
        measured.efficiency = None;
    });
    assert_eq!(outcome.reasons, ["budget:compressed_bytes", "budget:efficiency"]);
    assert!(outcome.checks.iter().all(|check| check.actual.is_none() && !check.detail.is_empty()));
    let text = "[budget]\ndevel_bytes = \"9 PiB\"\n[rules]\ndeny = [\"headers\"]";
    let reasons = ["budget:devel_bytes", "rules-unknown"];
    assert_eq!(judge_with(text, |measured| measured.findings = None).reasons, reasons);
    // Rules that were cut short found less than there is.
    let warnings = vec![Warning::new(WarningCode::FactsLimited, "findings", "a fault")];
    let broken = Findings { warnings, ..Findings::default() };
    let (policy, rootfs) = (Policy::parse("c", text).unwrap(), rootfs(&[]));
    let measured = Measured {
        complete: true,
        compressed_bytes: None,
        merged_bytes: None,
        wasted_bytes: None,
        efficiency: None,
        findings: Some(&broken),
        rootfs: &rootfs,
    };
    assert_eq!(policy.judge(&measured, Date(0)).reasons, reasons);
}

#[test]
fn denied_rules_fail_unless_they_are_allowed_or_needed() {
    assert_eq!(judge("[rules]\ndeny = [\"headers\"]").reasons, ["rule:headers"]);
    assert_eq!(
        judge("[rules]\ndeny = [\"*\"]\nallow = [\"h*\", \"secrets\"]").reasons,
        ["rule:duplicates", "rule:static-libraries", "rule:unused-gpu-code"]
    );
    assert!(judge("[rules]\ndeny = [\"compilers\"]").passes());
    let failing = &judge("[rules]\ndeny = [\"headers\"]").failing[0];
    assert_eq!((failing.bytes, failing.files, failing.examples.len()), (30, 2, 2));
    assert_eq!(failing.examples[0], "/usr/include/a.h");
}

#[test]
fn ignores_take_single_files_out() {
    let ignore = |rule: &str, path: &str, more: &str| {
        format!(
            "[budget]\ndevel_bytes = 0\n[rules]\ndeny = [\"headers\"]\n\
             [[ignore]]\nrule = \"{rule}\"\npath = \"{path}\"\nreason = \"x\"\n{more}"
        )
    };
    let outcome = judge(&ignore("headers", "/usr/include/a.h", ""));
    assert_eq!((outcome.failing[0].bytes, outcome.failing[0].files), (20, 1));
    assert_eq!(outcome.checks[0].actual, Some(Amount::Bytes(120)));
    assert_eq!((outcome.ignored[0].bytes, outcome.ignored[0].things), (10, 1));
    let all = judge(&ignore("*", "/**", ""));
    assert!(all.passes() && all.notes.is_empty(), "{all:?}");
    let other = judge(&ignore("stubs", "/**", ""));
    assert!(
        !other.passes() && other.notes[0].contains("ignore 1 (stubs on /**) matches no finding"),
        "{other:?}"
    );
    // A finding required at run time cannot fail: there is nothing to ignore.
    assert!(judge(&ignore("compilers", "/**", "")).notes[0].contains("matches no finding"));
}

#[test]
fn a_file_belongs_to_the_first_ignore_that_fits() {
    let outcome = judge(
        "[[ignore]]\nrule = \"headers\"\npath = \"/usr/**\"\nreason = \"x\"\n\
         [[ignore]]\nrule = \"headers\"\nreason = \"y\"",
    );
    assert_eq!(outcome.ignored.len(), 1, "{outcome:?}");
    assert_eq!((outcome.ignored[0].bytes, outcome.notes.len()), (30, 0));
}

#[test]
fn ignores_expire_the_day_after() {
    let of = |day: &str| {
        format!(
            "[rules]\ndeny = [\"headers\"]\n[[ignore]]\nrule = \"headers\"\nreason = \"x\"\nexpires = {day}"
        )
    };
    assert!(judge(&of("2026-06-15")).passes() && judge(&of("\"2026-06-15\"")).passes());
    let late = judge(&of("2026-06-14"));
    assert_eq!(late.reasons, ["rule:headers"]);
    assert_eq!(late.notes, ["ignore 1 (headers) expired on 2026-06-14 and is no longer applied"]);
}

#[test]
fn names_of_findings_without_files_can_be_ignored() {
    let of = |path: &str| {
        format!(
            "[rules]\ndeny = [\"secrets\"]\n[[ignore]]\nrule = \"secrets\"\npath = \"{path}\"\nreason = \"x\""
        )
    };
    assert_eq!(judge(&of("ENV API_KEY")).failing[0].examples, ["ENV TOKEN"]);
    assert!(judge(&of("ENV *")).passes());
}

#[test]
fn a_finding_goes_with_all_of_its_names() {
    let of = |path: &str| {
        format!(
            "[budget]\nduplicate_bytes = 0\n[rules]\ndeny = [\"duplicates\"]\n\
             [[ignore]]\nrule = \"duplicates\"\npath = \"{path}\"\nreason = \"x\""
        )
    };
    let outcome = judge(&of("copy.*"));
    assert!(outcome.passes() && outcome.ignored[0].bytes == 50, "{outcome:?}");
    assert_eq!(judge(&of("other.*")).reasons, ["budget:duplicate_bytes", "rule:duplicates"]);
}

#[test]
fn gpu_code_counts_until_all_its_files_are_ignored() {
    let of = |path: &str| {
        format!(
            "[budget]\ndead_gpu_code_bytes = 0\n\
             [[ignore]]\nrule = \"unused-gpu-code\"\npath = \"{path}\"\nreason = \"x\""
        )
    };
    assert_eq!(judge(&of("/opt/none")).checks[0].actual, Some(Amount::Bytes(700)));
    assert!(judge(&of("/opt/big.so")).passes());
}
