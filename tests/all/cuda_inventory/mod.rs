//! What the report says of the CUDA content of images that are made by code: each part of it, on images small
//! enough to say beforehand what must come out.

mod bad_input;
mod base_images;
mod catalogue;
mod classes;
mod databases;
mod duplicates;
mod forms;
mod frameworks;
mod gpu_code;
mod libraries;
mod links;
mod packages;
mod reading;
mod review;
mod roots;
mod stack;
mod statements;
mod string_references;
mod toolkits;
mod weights;

use serde_json::{Value, json};

use crate::fixtures::elf::Elf;
use crate::fixtures::image::Image;
use crate::fixtures::layout::Layout;
use crate::fixtures::packing::Packing;
use crate::fixtures::tarball::{Member, file, tar};
use crate::support::{Place, Report};

/// The image of these layers.
fn image(packing: Packing, layers: &[Vec<Member>]) -> Image {
    Image::of(packing, layers.iter().map(|members| tar(members.clone())))
}

/// The report of an image, which must be complete.
fn report_of(image: &Image) -> Report {
    let place = Place::new();
    place.report(&format!("oci:{}", place.put_layout("image", &Layout::of(image, "t"))))
}

/// The report of an image of one gzip layer.
fn report_of_members(members: Vec<Member>) -> Report {
    report_of(&image(Packing::Gzip, &[members]))
}

/// The image of one layer and these settings.
fn configured(members: Vec<Member>, config: Value) -> Image {
    let mut image = image(Packing::Gzip, &[members]);
    image.config = config;
    image
}

/// A program that is started, of these libraries.
fn program(name: &str, needed: &[&str]) -> Elf {
    let mut program = Elf::program(name);
    program.needed.clear();
    program.needing(needed)
}

/// A program at a path.
fn executable(path: &str, elf: &Elf) -> Member {
    file(path, elf.build()).mode(0o755)
}

fn items(list: &Value) -> &[Value] {
    list.as_array().unwrap_or_else(|| panic!("no list: {list:#}"))
}

/// The entry of a list whose `key` is `value`; there must be one.
fn entry<'a>(list: &'a Value, key: &str, value: &str) -> &'a Value {
    let mut found = items(list).iter().filter(|entry| entry[key] == value);
    let first = found.next().unwrap_or_else(|| panic!("no {key} {value}: {list:#}"));
    assert!(found.next().is_none(), "{key} {value} twice: {list:#}");
    first
}

/// The library at a path.
fn library<'a>(report: &'a Report, path: &str) -> &'a Value {
    entry(&report.json["cuda"]["libraries"], "path", path)
}

/// One field of all entries of a list.
fn column<'a>(list: &'a Value, key: &str) -> Vec<&'a str> {
    items(list).iter().map(|entry| entry[key].as_str().unwrap_or("-")).collect()
}

/// The texts of a list.
fn texts(list: &Value) -> Vec<&str> {
    items(list).iter().map(|text| text.as_str().expect("a text")).collect()
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("no number: {value}"))
}

/// The config of an image that starts `program`.
fn starting(program: &str) -> Value {
    json!({"Entrypoint": [program]})
}

/// The report has no warnings but those with these codes.
fn only_warns_of(report: &Report, codes: &[&str]) {
    assert_eq!(report.codes(), codes, "{:#}", report.json["warnings"]);
}
