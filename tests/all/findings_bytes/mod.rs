//! Findings about bytes, on images that are made by code: for every rule one that must be told, and one that
//! must not.

mod artifacts;
mod caches;
mod hidden;
mod libraries;
mod questions;
mod readers;

use serde_json::{Value, json};

use crate::fixtures::elf::Elf;
use crate::fixtures::image::{Image, Layer};
use crate::fixtures::layout::Layout;
use crate::fixtures::packing::Packing;
use crate::fixtures::tarball::{Member, file, tar};
use crate::support::{Place, Report};

/// The report of an image of these layers that starts `command`.
fn judged(packing: Packing, layers: &[Vec<Member>], command: &[&str], environment: &[&str]) -> Report {
    let layers = layers.iter().map(|members| (members.clone(), packing));
    judged_mixed(&layers.collect::<Vec<_>>(), command, environment)
}

/// The same with each layer packed in its own way.
fn judged_mixed(layers: &[(Vec<Member>, Packing)], command: &[&str], environment: &[&str]) -> Report {
    let mut image =
        layers.iter().enumerate().fold(Image::new(Packing::Gzip), |image, (step, (members, packing))| {
            image.add(&format!("RUN step {step} # buildkit"), Layer::new(&tar(members.clone()), *packing))
        });
    image.config = json!({"Cmd": command, "Env": environment});
    let place = Place::new();
    place.report(&format!("oci:{}", place.put_layout("image", &Layout::of(&image, "t"))))
}

/// One gzip layer that starts the program of [`service`].
fn judged_files(members: Vec<Member>) -> Report {
    judged(Packing::Gzip, &[[service(&[]), members].concat()], &["/srv/service"], &[])
}

/// The loader, the C library, and a program of our own that needs these libraries.
fn service(needed: &[&str]) -> Vec<Member> {
    vec![
        file("lib64/ld-linux-x86-64.so.2", Elf::library("ld-linux-x86-64.so.2").build()),
        file("usr/lib/x86_64-linux-gnu/libc.so.6", Elf::library("libc.so.6").build()),
        file("etc/ld.so.conf", "/usr/local/cuda-13.0/targets/x86_64-linux/lib\n"),
        file("srv/service", Elf::program("service").needing(needed).build()).mode(0o755),
    ]
}

fn items(list: &Value) -> &[Value] {
    list.as_array().unwrap_or_else(|| panic!("no list: {list:#}"))
}

/// The finding with bytes that holds a path; a file stands in one at most.
fn finding<'a>(report: &'a Report, path: &str) -> Option<&'a Value> {
    let has = |one: &&Value| one["bytes"] != 0 && items(&one["paths"]).iter().any(|known| known == path);
    let found: Vec<&Value> = items(&report.json["findings"]).iter().filter(has).collect();
    assert!(found.len() < 2, "{path} is in {} findings: {found:#?}", found.len());
    found.first().copied()
}

/// `rule verdict` of a path, or `-`.
fn of(report: &Report, path: &str) -> String {
    finding(report, path).map_or_else(
        || "-".to_owned(),
        |one| format!("{} {}", one["rule"].as_str().unwrap(), one["verdict"].as_str().unwrap()),
    )
}

/// Each path has this rule and verdict, and what is unsure has a question.
fn all(report: &Report, expected: &[(&str, &str)]) {
    for (path, wanted) in expected {
        let found = of(report, path);
        assert_eq!(found, *wanted, "{path}: {:#?}", finding(report, path));
        if let Some(one) = finding(report, path) {
            assert_eq!(one["question"].is_string(), one["verdict"] == "unsure", "{one:#}");
            assert!(!items(&one["proof"]).is_empty() && one["reason"] != "" && one["fix"] != "", "{one:#}");
        }
    }
}

/// All of the proof of a finding in one text.
fn proof(finding: &Value) -> String {
    items(&finding["proof"]).iter().map(|line| line.as_str().unwrap()).collect::<Vec<_>>().join("\n")
}
