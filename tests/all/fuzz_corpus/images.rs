//! Seeds that whole images give: archives, their documents, reports, and what the cache keeps.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

use cutaway::analysis::{Analysis, Options, analyze};
use cutaway::base::Limits;
use cutaway::cache::{Cache, Key};
use cutaway::jobs::{CancelToken, Cancelled, Progress};
use cutaway::layer::BodyFacts;
use cutaway::report::{Options as ReportOptions, Report, to_json};
use cutaway::source::{Access, OpenContext, Reference, Sink, SourceKey, StreamedMember, open};
use serde_json::json;

use crate::fixtures::docker::{save_ancient, save_classic};
use crate::fixtures::elf::Elf;
use crate::fixtures::fatbin::{Coding, section, wrapper};
use crate::fixtures::image::Image;
use crate::fixtures::layout::Layout;
use crate::fixtures::packages::dpkg_status;
use crate::fixtures::packing::Packing;
use crate::fixtures::tarball::{file, tar, whiteout};
use crate::support::Place;

use super::seeds::{small_layer, zstd_stream};

/// What a layer is called where it is stored.
const SUBJECT: &str = "layer 0";

pub fn seeds(add: &mut impl FnMut(&'static str, &'static str, Vec<u8>)) {
    let image = image(Packing::Plain);
    let classic = tar(save_classic(&[(&image, &["a/b:latest"])]));
    add("image_archive", "docker.tar", classic.clone());
    add("image_archive", "oci.tar", Layout::of(&self::image(Packing::Gzip), "latest").archive());
    add("image_archive", "ancient.tar", tar(save_ancient(&plain(), "a/b", "latest")));
    documents(add);
    let place = Place::new();
    let packed = place.path("image.tar.zst");
    fs::write(&packed, zstd_stream(&classic)).unwrap();
    add("archive_members", "docker", members(&packed));
    let plain = place.path("image.tar");
    fs::write(&plain, &classic).unwrap();
    let analysis = analyzed(&plain);
    add("body_facts", "library", body_facts(&analysis).to_bytes());
    let read = analysis.layers.last().and_then(|layer| layer.read.as_ref()).unwrap();
    add("layer_record", "by-ranges", read.to_bytes(SUBJECT));
    let analysis = analyzed(&packed);
    let read = analysis.layers.last().and_then(|layer| layer.read.as_ref()).unwrap();
    add("layer_record", "as-a-stream", read.to_bytes(SUBJECT));
    let mut report = Report::new(&analysis, &ReportOptions::default()).unwrap();
    "image.tar.zst".clone_into(&mut report.image.reference);
    report.warnings.clear();
    add("saved_report", "report.json", to_json(&report).into_bytes());
    add("cache_file", "record", record());
}

/// An image with a bit of everything that the rules know.
fn image(packing: Packing) -> Image {
    let library = Elf::library("libcublas.so.12")
        .with_section(".nv_fatbin", section(&[90], None, 500, Coding::Stored, "x"))
        .with_section(".nvFatBinSegment", wrapper());
    let base = [
        file("etc/os-release", "ID=ubuntu\nVERSION_ID=\"22.04\"\n"),
        file("var/lib/dpkg/status", dpkg_status("libcublas-12-4", "12.4.5.8-1", 9, &[])),
        file("tmp/secret.pem", "x"),
    ];
    let top = [
        file("usr/local/cuda-12.4/lib64/libcublas.so.12", library.build()),
        file("usr/local/cuda-12.4/lib64/libcudart_static.a", "!<arch>\n"),
        file("usr/bin/serve", "#!/bin/sh\nexec python3 -c 'import torch'\n").mode(0o755),
        whiteout("tmp/secret.pem"),
    ];
    let mut image = Image::of(packing, [tar(base), tar(top)]).step("ENV A=b").step("CMD [\"serve\"]");
    image.config = json!({
        "Env": ["PATH=/usr/bin", "NVIDIA_REQUIRE_CUDA=cuda>=12.4", "API_TOKEN=abc"],
        "Cmd": ["/usr/bin/serve"], "Labels": {"a": "b"},
    });
    image
}

fn plain() -> Image {
    Image::of(Packing::Plain, [small_layer()])
}

/// The documents of an image, which name each other by digests of one letter.
fn documents(add: &mut impl FnMut(&'static str, &'static str, Vec<u8>)) {
    let digest = |letter: &str| format!("sha256:{}", letter.repeat(64));
    let descriptor = |kind: &str, letter: &str| {
        json!({"mediaType": format!("application/vnd.oci.image.{kind}+json"), "digest": digest(letter), "size": 9,
            "platform": {"os": "linux", "architecture": "amd64"},
            "annotations": {"org.opencontainers.image.ref.name": "latest"}})
    };
    let config = plain().config_json().to_string();
    let index = json!({"schemaVersion": 2, "manifests": [descriptor("index.v1", "a")]}).to_string();
    let nested = json!({"schemaVersion": 2, "manifests": [descriptor("manifest.v1", "b")]}).to_string();
    let manifest = json!({"schemaVersion": 2, "config": descriptor("config.v1", "c"), "layers": [
        {"mediaType": "application/vnd.oci.image.layer.v1.tar+gzip", "digest": digest("a"), "size": 7}]})
    .to_string();
    add(
        "image_documents",
        "oci",
        [index.as_str(), "", "", &nested, &manifest, &config].join("\0").into_bytes(),
    );
    let [a, b] = ["a", "b"].map(|letter| letter.repeat(64));
    let layers = [format!("{a}/layer.tar"), format!("{b}/layer.tar")];
    let saved = json!([{"Config": format!("{b}.json"), "RepoTags": ["a/b:c"], "Layers": layers}]).to_string();
    add("image_documents", "docker", ["", &saved, "", "", &config].join("\0").into_bytes());
    let repositories = json!({"a/b": {"latest": b}}).to_string();
    let (lower, upper) = (json!({"id": a}).to_string(), json!({"id": b, "parent": a}).to_string());
    add("image_documents", "ancient", ["", "", &repositories, &lower, &upper].join("\0").into_bytes());
}

fn analyzed(path: &str) -> Arc<Analysis> {
    let reference = Reference::parse(path).unwrap();
    analyze(&reference, &Options::default(), &CancelToken::new(), &Progress::default(), &|_| {}).unwrap()
}

/// Facts of all the kinds that are read of single files.
fn body_facts(analysis: &Analysis) -> BodyFacts {
    let facts = &analysis.layers.last().and_then(|layer| layer.read.as_ref()).unwrap().facts;
    let (entry, binary) = facts.binaries().first().unwrap();
    let mut mentions = cutaway::formats::string_references::StringReferences::default();
    mentions.libraries.push(b"libcudnn.so.9".to_vec());
    BodyFacts {
        samples: BTreeMap::from([(*entry, [7; 20])]),
        hashes: BTreeMap::from([(*entry, [9; 20])]),
        binaries: BTreeMap::from([(*entry, binary.clone())]),
        mentions: BTreeMap::from([(*entry, mentions)]),
    }
}

/// What is kept of the members of an archive that passed.
fn members(path: &str) -> Vec<u8> {
    struct Keeps(RefCell<Vec<u8>>);
    impl Sink for Keeps {
        fn layer(&mut self, _: &StreamedMember, bytes: &mut dyn Read) -> Result<usize, Cancelled> {
            io::copy(bytes, &mut io::sink()).unwrap();
            Ok(0)
        }
        fn keep(&mut self, _: &SourceKey, members: &[u8]) {
            *self.0.borrow_mut() = members.to_vec();
        }
    }
    let mut sink = Keeps(RefCell::default());
    let mut context = OpenContext {
        limits: &Limits::default(),
        platform: None,
        access: &Access::default(),
        cancel: &CancelToken::new(),
        progress: &Progress::default(),
        sink: &mut sink,
    };
    open(&Reference::parse(path).unwrap(), &mut context).unwrap();
    sink.0.into_inner()
}

/// The file of a record in the cache's folder.
fn record() -> Vec<u8> {
    let place = Place::new();
    let folder = place.path("cache");
    Cache::new(folder.clone().into(), 1 << 20).put(&Key::new("fuzz".to_owned()), SUBJECT.as_bytes());
    let mut found = Vec::new();
    list(Path::new(&folder), &mut found);
    assert_eq!(found.len(), 1, "a cache with one record has one file: {found:?}");
    fs::read(&found[0]).unwrap()
}

fn list(folder: &Path, found: &mut Vec<std::path::PathBuf>) {
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let path = entry.path();
        if path.is_dir() { list(&path, found) } else { found.push(path) }
    }
}
