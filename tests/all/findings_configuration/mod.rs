//! Rules about configuration, GPU code, secrets and weights: for each an image that must lead to a finding, and
//! one like it that must not.

mod base;
mod gpu_code;
mod hostile;
mod libraries;
mod loader_path;
mod requirements;
mod secrets;
mod targets;
mod weights;

use serde_json::{Value, json};

use crate::fixtures::elf::Elf;
use crate::fixtures::fatbin::{Coding, section};
use crate::fixtures::image::Image;
use crate::fixtures::layout::Layout;
use crate::fixtures::packing::Packing;
use crate::fixtures::tarball::{Member, file, tar};
use crate::support::{Place, Report};

const TRIPLE: &str = "usr/lib/x86_64-linux-gnu";
const SERVICE: &str = "/usr/bin/service";

/// The day that all reports are made for.
const TODAY: &str = "2026-01-15";

/// The report of an image with further options.
fn report_with(image: &Image, options: &[&str]) -> Report {
    let place = Place::new();
    let reference = format!("oci:{}", place.put_layout("image", &Layout::of(image, "t")));
    let day: &[&str] = if options.contains(&"--today") { &[] } else { &["--today", TODAY] };
    let report = place.report_with(&reference, &[day, options].concat());
    for finding in report.json["findings"].as_array().expect("findings") {
        whole(finding);
    }
    report
}

/// What is true of every finding of these rules.
fn whole(finding: &Value) {
    for field in ["id", "rule", "title", "reason", "fix"] {
        let text = finding[field].as_str().unwrap_or_default();
        assert!(!text.is_empty() && !text.contains("To be written"), "no {field}: {finding:#}");
    }
    let unsure = finding["verdict"] == "unsure";
    assert!(!unsure || finding["question"].is_string(), "no question: {finding:#}");
    let without = ["unused-gpu-code", "weights", "secrets", "configuration"];
    if without.iter().any(|category| finding["category"] == *category) {
        assert_eq!(finding["bytes"], 0, "{finding:#}");
        assert!(!finding["proof"].as_array().unwrap().is_empty(), "{finding:#}");
    }
}

fn report(image: &Image) -> Report {
    report_with(image, &[])
}

/// The image of one layer and these settings.
fn configured(members: Vec<Member>, config: Value) -> Image {
    let mut image = Image::of(Packing::Gzip, [tar(members)]);
    image.config = config;
    image
}

/// An image that starts a service, which needs these libraries, with these variables.
fn service(members: Vec<Member>, needed: &[&str], environment: &[&str]) -> Image {
    let mut all = system();
    all.push(program("usr/bin/service", needed));
    all.extend(members);
    configured(all, json!({"Entrypoint": [SERVICE], "Env": environment}))
}

fn system() -> Vec<Member> {
    vec![
        library("lib64/ld-linux-x86-64.so.2", "ld-linux-x86-64.so.2", &[]),
        library(&format!("{TRIPLE}/libc.so.6"), "libc.so.6", &[]),
        file("etc/ld.so.conf", "include /etc/ld.so.conf.d/*.conf\n"),
    ]
}

fn program(path: &str, needed: &[&str]) -> Member {
    let name = path.rsplit('/').next().unwrap();
    file(path, Elf::program(name).needing(needed).build()).mode(0o755)
}

fn library(path: &str, soname: &str, needed: &[&str]) -> Member {
    let elf = Elf { seed: path.into(), ..Elf::library(soname) };
    file(path, elf.needing(needed).build())
}

/// A library with code for these architectures, and PTX of one.
fn library_with_code(path: &str, soname: &str, sass: &[u32], ptx: Option<u32>) -> Member {
    let code = section(sass, ptx, 8_000, Coding::Stored, path);
    file(path, Elf::library(soname).with_section(".nv_fatbin", code).build())
}

/// The findings of a rule.
fn of_rule<'a>(report: &'a Report, rule: &str) -> Vec<&'a Value> {
    let list = report.json["findings"].as_array().expect("findings");
    list.iter().filter(|finding| finding["rule"] == rule).collect()
}

/// The only finding of a rule.
fn only<'a>(report: &'a Report, rule: &str) -> &'a Value {
    let found = of_rule(report, rule);
    assert_eq!(found.len(), 1, "{rule}: {found:#?}");
    found[0]
}

/// The rule finds nothing.
fn none(report: &Report, rule: &str) {
    assert_eq!(of_rule(report, rule), Vec::<&Value>::new(), "{rule}");
}

/// All texts of a list as one.
fn joined(list: &Value) -> String {
    let texts = list.as_array().expect("a list").iter().map(|text| text.as_str().expect("a text"));
    texts.collect::<Vec<_>>().join("\n")
}
