//! Sums that must come out on any image: findings, layers, categories, plan; and files with several names.

use std::collections::BTreeMap;

use serde_json::Value;

use super::scene::{Judged, LIB, PYTHON, ROOT, image, program, script, static_library, system, toolkit};
use crate::fixtures::tarball::{dir, file, hardlink, opaque, symlink, whiteout};
use crate::support::Report;

fn number(value: &Value, name: &str) -> u64 {
    value[name].as_u64().unwrap_or_else(|| panic!("no {name}: {value:#}"))
}

fn items(value: &Value) -> &[Value] {
    value.as_array().unwrap_or_else(|| panic!("no list: {value:#}"))
}

/// What must be true of the findings of every report.
pub(super) fn check(report: &Report) {
    let json = &report.json;
    let mut by_category: BTreeMap<&str, u64> = BTreeMap::new();
    let mut by_verdict: BTreeMap<&str, u64> = BTreeMap::new();
    let mut by_layer: BTreeMap<u64, u64> = BTreeMap::new();
    let mut ids = Vec::new();
    for finding in items(&json["findings"]) {
        let (verdict, bytes) = (finding["verdict"].as_str().unwrap(), number(finding, "bytes"));
        ids.push(finding["id"].as_str().unwrap());
        for name in ["bytes", "merged_bytes", "files"] {
            let sum: u64 = items(&finding["layer_bytes"]).iter().map(|share| number(share, name)).sum();
            assert_eq!(sum, number(finding, name), "{name}: {finding:#}");
        }
        assert!(number(finding, "merged_bytes") <= bytes, "{finding:#}");
        assert!(!finding["reason"].as_str().unwrap().is_empty(), "no reason: {finding:#}");
        assert!(!finding["fix"].as_str().unwrap().is_empty(), "no fix: {finding:#}");
        if bytes > 0 {
            assert!(!items(&finding["paths"]).is_empty(), "no paths: {finding:#}");
            let settled = verdict != "unsure" || finding["question"].is_string();
            assert!(settled, "unsure without a question: {finding:#}");
            assert!(
                verdict != "safe" || !items(&finding["proof"]).is_empty(),
                "safe without proof: {finding:#}"
            );
        }
        for share in items(&finding["layer_bytes"]) {
            *by_layer.entry(number(share, "layer")).or_default() += number(share, "bytes");
        }
        *by_verdict.entry(verdict).or_default() += bytes;
        if verdict != "needed" && bytes > 0 {
            *by_category.entry(finding["category"].as_str().unwrap()).or_default() += bytes;
        }
    }
    let mut once = ids.clone();
    once.sort_unstable();
    once.dedup();
    assert_eq!(once.len(), ids.len(), "an id twice: {ids:?}");
    let sums = &json["reclaimable"];
    for verdict in ["safe", "unsure"] {
        let name = format!("{verdict}_bytes");
        assert_eq!(number(sums, &name), by_verdict.get(verdict).copied().unwrap_or(0), "{name}");
    }
    let listed: BTreeMap<&str, u64> = (sums["by_category"].as_object().unwrap().iter())
        .map(|(category, bytes)| (category.as_str(), bytes.as_u64().unwrap()))
        .collect();
    assert_eq!(listed, by_category);
    for (layer, bytes) in by_layer {
        let content = report.each("content_bytes")[usize::try_from(layer).unwrap()];
        assert!(bytes <= content, "layer {layer}: findings of {bytes} bytes in {content}");
    }
    let planned: Vec<&str> = items(&json["plan"]["findings"]).iter().map(|id| id.as_str().unwrap()).collect();
    let chosen = |finding: &&Value| planned.contains(&finding["id"].as_str().unwrap());
    let merged: u64 =
        items(&json["findings"]).iter().filter(chosen).map(|finding| number(finding, "merged_bytes")).sum();
    assert_eq!(number(&json["plan"], "merged_bytes_after"), report.total("merged_bytes") - merged);
}

const SERVE: [&str; 2] = [PYTHON, "/srv/app/serve.py"];

fn body(member: &crate::fixtures::tarball::Member) -> u64 {
    member.body.len() as u64
}

#[test]
fn hard_links_count_once_and_symbolic_links_nothing() {
    let archive = static_library(&format!("{LIB}/libcufft_static.a"), 5_000);
    let bytes = body(&archive);
    let layer = vec![
        archive,
        hardlink(format!("{LIB}/libcufft_static_again.a"), format!("{LIB}/libcufft_static.a")),
        symlink(format!("{LIB}/libcufft_link.a"), "libcufft_static.a"),
        symlink("usr/local/cuda", "cuda-12.8"),
    ];
    let judged = Judged::of(&image(&[system(), layer], &SERVE, &[]));
    let found = judged.find(&format!("/{LIB}/libcufft_static.a")).expect("found");
    assert_eq!((number(found, "bytes"), number(found, "files")), (bytes, 1), "{found:#}");
    // Whoever deletes one name only frees nothing: all of them are told.
    let again = judged.find(&format!("/{LIB}/libcufft_static_again.a")).expect("found");
    assert_eq!(again["id"], found["id"]);
}

#[test]
fn what_a_later_layer_deletes_is_paid_for_and_leads_nowhere() {
    let lost = static_library(&format!("{LIB}/libcufft_static.a"), 5_000);
    let replaced = static_library(&format!("{LIB}/libcusparse_static.a"), 4_000);
    let kept = static_library(&format!("{LIB}/libcusparse_static.a"), 1_000);
    let (gone, now) = (body(&lost) + body(&replaced), body(&kept));
    let layers = [system(), vec![lost, replaced], vec![whiteout(&format!("{LIB}/libcufft_static.a")), kept]];
    let judged = Judged::of(&image(&layers, &SERVE, &[]));
    let archives: Vec<&Value> = (judged.findings().iter())
        .filter(|one| items(&one["paths"]).iter().any(|path| path.as_str().unwrap().ends_with("_static.a")))
        .collect();
    let sum = |name: &str| archives.iter().map(|one| number(one, name)).sum::<u64>();
    assert_eq!((sum("bytes"), sum("merged_bytes"), sum("files")), (gone + now, now, 3), "{archives:#?}");
    assert!(archives.iter().all(|one| one["verdict"] == "safe"), "{archives:#?}");
    assert_eq!(judged.report.each("wasted_bytes"), [0, gone, 0]);
}

#[test]
fn a_folder_that_is_emptied_is_hidden_whole() {
    let include = format!("{ROOT}/targets/x86_64-linux/include");
    let header = |name: &str| file(format!("{include}/{name}"), format!("/* {name} */"));
    let layers = [
        [system(), vec![dir(&include), header("cuda.h"), header("cuda_fp16.h")]].concat(),
        vec![opaque(&include), header("cuda.h")],
    ];
    let judged = Judged::of(&image(&layers, &SERVE, &[]));
    let headers: u64 = (judged.findings().iter())
        .filter(|one| one["category"] == "headers" || one["category"] == "overwritten")
        .map(|one| number(one, "files"))
        .sum();
    assert_eq!(headers, 3);
}

#[test]
fn a_path_twice_in_one_layer_is_counted_as_two_files() {
    let first = static_library(&format!("{LIB}/libcufft_static.a"), 5_000);
    let second = static_library(&format!("{LIB}/libcufft_static.a"), 2_000);
    let (all, now) = (body(&first) + body(&second), body(&second));
    let judged = Judged::of(&image(&[system(), vec![first, second]], &SERVE, &[]));
    let sum = |name: &str| {
        let archives = judged.findings().iter().filter(|one| {
            items(&one["paths"]).iter().any(|path| path.as_str().unwrap().ends_with("libcufft_static.a"))
        });
        archives.map(|one| number(one, name)).sum::<u64>()
    };
    assert_eq!((sum("bytes"), sum("merged_bytes")), (all, now));
}

#[test]
fn an_image_without_anything_to_find_has_sums_of_nothing() {
    let app = vec![script("srv/app/serve.py", "pass\n"), program("srv/app/bin/serve", &[])];
    let judged = Judged::of(&image(&[system(), app], &SERVE, &[]));
    assert_eq!(judged.report.json["reclaimable"]["safe_bytes"], 0, "{:#}", judged.report.json["findings"]);
    assert_eq!(judged.report.json["plan"]["merged_bytes_after"], judged.report.total("merged_bytes"));
}

#[test]
fn names_that_are_no_text_are_shown_escaped_and_counted() {
    let odd = [LIB.as_bytes(), b"/lib\xff\\odd_static.a"].concat();
    let archive = crate::fixtures::tarball::Member { name: odd, ..static_library("x.a", 3_000) };
    let bytes = body(&archive);
    let judged = Judged::of(&image(&[system(), [toolkit(), vec![archive]].concat()], &SERVE, &[]));
    let path = format!("/{LIB}/lib\\xff\\\\odd_static.a");
    assert_eq!(judged.of_path(&path), "static-libraries safe");
    assert!(number(judged.find(&path).unwrap(), "bytes") > bytes);
}
