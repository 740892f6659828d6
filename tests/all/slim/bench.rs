//! Slims an image in this process, and reads what was written without the program's own reader.

use std::fs;
use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;

use cutaway::analysis::{Analysis, Options, analyze};
use cutaway::findings::{Category, Finding, Findings, Item, Plan, Rule, Severity, Verdict};
use cutaway::jobs::{CancelToken, Progress};
use cutaway::rootfs::{NodeId, NodeKind};
use cutaway::slim::{Destination, Selection, SlimError, SlimOptions, Written, write};
use cutaway::source::Reference;
use serde_json::Value;

use crate::fixtures::image::Image;
use crate::fixtures::layout::Layout;
use crate::fixtures::packing::Packing;
use crate::fixtures::tarball::{Member, tar};
use crate::support::Place;

static RULE: Rule = Rule {
    id: "build-artifacts",
    title: "Build artifacts",
    category: Category::BuildArtifacts,
    severity: Severity::Low,
    fix: "",
    page: "",
};

/// An image of these layers, in a layout.
pub fn image<const N: usize>(layers: [Vec<Member>; N]) -> Image {
    Image::of(Packing::Gzip, layers.map(tar))
}

/// An analysis without a cache.
pub fn open(reference: &str) -> Arc<Analysis> {
    let reference = Reference::parse(reference).unwrap();
    let (cancel, progress) = (CancelToken::new(), Progress::default());
    analyze(&reference, &Options::default(), &cancel, &progress, &|_| {}).unwrap()
}

/// The same with one finding of the files at `paths`, and the plan that removes it.
pub fn plan(analysis: &Analysis, paths: &[&str]) -> (Analysis, Plan) {
    let merge = analysis.merge.as_ref().unwrap();
    let mut items: Vec<Item> = Vec::new();
    for node in merge.rootfs.nodes().filter(|node| node.kind() == NodeKind::File) {
        let path = node.path();
        let Some((layer, entry)) = node.content().filter(|_| paths.iter().any(|one| one.as_bytes() == path))
        else {
            continue;
        };
        let node: Option<NodeId> = Some(node.id());
        items.push(Item { layer, entry, node, bytes: merge.rootfs.layer(layer).size(entry) });
    }
    items.sort_unstable();
    items.dedup_by_key(|item| (item.layer, item.entry));
    let finding = Finding {
        id: "build-artifacts:safe".into(),
        rule: &RULE,
        severity: Severity::Low,
        verdict: Verdict::Safe,
        category: Category::BuildArtifacts,
        title: String::new(),
        reason: String::new(),
        proof: Vec::new(),
        question: None,
        readers: Vec::new(),
        reading: Vec::new(),
        fix: String::new(),
        bytes: items.iter().map(|item| item.bytes).sum(),
        items,
        merged_bytes: 0,
        layers: Vec::new(),
        subjects: Vec::new(),
        packages: Vec::new(),
        users: Vec::new(),
        potential_bytes: 0,
        potential_compressed_bytes: Some(0),
        rests_on: Vec::new(),
    };
    let mut plan = Plan::default();
    if !paths.is_empty() {
        plan.set(&finding.id, true);
    }
    let list = if paths.is_empty() { Vec::new() } else { vec![finding] };
    let findings = Findings { list, ..Findings::default() };
    (Analysis { findings: Some(Arc::new(findings)), ..analysis.clone() }, plan)
}

/// Writes `reference` without `paths` to the layout `name` of `place`.
pub fn slim(
    place: &Place,
    reference: &str,
    paths: &[&str],
    options: &SlimOptions,
    name: &str,
) -> Result<(Selection, Written), SlimError> {
    let (analysis, plan) = plan(&open(reference), paths);
    let mut selection = Selection::new(&analysis, &plan, options)?;
    let opened = Options::default();
    let (cancel, progress) = (CancelToken::new(), Progress::default());
    let destination = Destination::parse(&format!("oci:{}:new", place.path(name)))?;
    let written = write(&analysis, &mut selection, options, &destination, &opened, &progress, &cancel)?;
    let end = progress.snapshot();
    let kept = written.layers.iter().flatten().count();
    assert!(kept == 0 || end.layers_total > 0, "{end:?}");
    assert_eq!((end.layers_done, end.bytes_passed), (end.layers_total, end.bytes_total));
    Ok((selection, written))
}

/// A written image.
pub struct Slimmed {
    pub selection: Selection,
    pub written: Written,
    pub manifest: Value,
    pub config: Value,
    /// Blobs of its layers.
    pub blobs: Vec<Vec<u8>>,
    /// Their tar streams.
    pub tars: Vec<Vec<u8>>,
}

/// Writes `image` without `paths`, and reads the layout.
pub fn slimmed(image: &Image, paths: &[&str], options: &SlimOptions) -> Slimmed {
    let place = Place::new();
    let source = place.put_layout("source", &Layout::of(image, "t"));
    let (selection, written) = slim(&place, &format!("oci:{source}"), paths, options, "out").unwrap();
    read(&place, selection, written)
}

/// Reads the layout `out`.
pub fn read(place: &Place, selection: Selection, written: Written) -> Slimmed {
    let blob =
        |digest: &str| fs::read(Path::new(&place.path("out/blobs")).join(digest.replace(':', "/"))).unwrap();
    let json = |bytes: &[u8]| serde_json::from_slice::<Value>(bytes).unwrap();
    let index = json(&fs::read(place.path("out/index.json")).unwrap());
    let manifest = json(&blob(index["manifests"][0]["digest"].as_str().unwrap()));
    let config = json(&blob(manifest["config"]["digest"].as_str().unwrap()));
    let layers = manifest["layers"].as_array().unwrap();
    let blobs: Vec<Vec<u8>> = layers.iter().map(|layer| blob(layer["digest"].as_str().unwrap())).collect();
    let tars = blobs.iter().map(|blob| plain(blob)).collect();
    Slimmed { selection, written, manifest, config, blobs, tars }
}

fn plain(blob: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    match blob {
        [0x1f, 0x8b, ..] => drop(flate2::read::GzDecoder::new(blob).read_to_end(&mut out).unwrap()),
        [0x28, 0xb5, ..] => out = zstd::stream::decode_all(blob).unwrap(),
        _ => out = blob.to_vec(),
    }
    out
}

impl Slimmed {
    /// Names of the members of a layer.
    pub fn names(&self, layer: usize) -> Vec<String> {
        let mut archive = tar::Archive::new(&self.tars[layer][..]);
        let name = |entry: tar::Entry<'_, &[u8]>| String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        archive.entries().unwrap().map(|entry| name(entry.unwrap())).collect()
    }

    /// What became of each layer.
    pub fn actions(&self) -> Vec<&'static str> {
        self.selection.layers.iter().map(|layer| layer.action.as_str()).collect()
    }
}
