//! Small images for the proof: layers from paths and bytes, read like those of a real image.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use serde_json::{Value, json};

use super::super::{Proven, check};
use super::elf::elf;
use crate::base::Limits;
use crate::cuda::catalog::Catalog;
use crate::cuda::{self, FileContents, Inventory};
use crate::findings::{self, Category, Finding, Findings, Item, Plan, Severity, Verdict};
use crate::jobs::{CancelToken, Progress};
use crate::layer::{Context, EntryId, Expected, IndexBuilder, LayerRead, read_stream};
use crate::rewrite::draft::Draft;
use crate::rewrite::input::Input;
use crate::rewrite::select::Selection;
use crate::rewrite::value::Applicability;
use crate::rootfs::{Merge, merge};
use crate::source::Image;

/// The interpreter of the programs here.
pub(super) const LOADER: &str = "/lib64/ld-linux-x86-64.so.2";

/// An entry of a layer: its path without the leading slash, and its kind.
pub(super) type Entry<'a> = (&'a str, What<'a>);

pub(super) enum What<'a> {
    File(Vec<u8>),
    Link(&'a str),
    Second(&'a str),
    Folder(u64, u32),
}

/// A text.
pub(super) fn text(body: &str) -> What<'static> {
    What::File(body.as_bytes().to_vec())
}

/// A shared library.
pub(super) fn library(soname: &str, needed: &[&str]) -> What<'static> {
    What::File(elf(Some(soname), needed, None, None))
}

/// A program with the usual loader.
pub(super) fn program(needed: &[&str], runpath: Option<&str>) -> What<'static> {
    What::File(elf(None, needed, runpath, Some(LOADER)))
}

/// A Python package as installed by pip.
pub(super) fn wheel<'a>(site: &str, name: &str, files: &[(&str, Vec<u8>)]) -> Vec<(String, What<'a>)> {
    let info = format!("{name}-1.0.dist-info");
    let record: Vec<&str> = files.iter().map(|(path, _)| *path).collect();
    let record = format!("{info}/METADATA,,\n{info}/RECORD,,\n{},,\n", record.join(",,\n"));
    let about = format!("Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n\nText.\n");
    let mut all: Vec<(String, What<'a>)> =
        files.iter().map(|(path, body)| (format!("{site}/{path}"), What::File(body.clone()))).collect();
    all.push((format!("{site}/{info}/METADATA"), text(&about)));
    all.push((format!("{site}/{info}/RECORD"), text(&record)));
    all
}

/// An image and its analysis.
pub(super) struct Scene {
    image: Image,
    layers: Vec<Option<Arc<LayerRead>>>,
    pub(super) merge: Merge,
    bodies: FileContents,
    pub(super) inventory: Inventory,
    pub(super) findings: Findings,
    pub(super) plan: Plan,
    pub(super) complete: bool,
}

fn read(entries: &[Entry<'_>]) -> LayerRead {
    let mut builder = tar::Builder::new(Vec::new());
    for (path, what) in entries {
        let mut header = tar::Header::new_ustar();
        header.set_mode(0o755);
        header.set_uid(0);
        header.set_gid(0);
        header.set_size(0);
        match what {
            What::File(body) => {
                header.set_size(body.len() as u64);
                builder.append_data(&mut header, path, &body[..]).unwrap();
            }
            What::Link(target) => {
                header.set_entry_type(tar::EntryType::Symlink);
                builder.append_link(&mut header, path, target).unwrap();
            }
            What::Second(target) => {
                header.set_entry_type(tar::EntryType::Link);
                builder.append_link(&mut header, path, target).unwrap();
            }
            What::Folder(owner, mode) => {
                header.set_entry_type(tar::EntryType::Directory);
                header.set_uid(*owner);
                header.set_mode(*mode);
                builder.append_data(&mut header, path, &b""[..]).unwrap();
            }
        }
    }
    let stream = builder.into_inner().unwrap();
    let context = Context {
        limits: Limits::default(),
        cancel: CancelToken::new(),
        progress: Progress::default(),
        subject: "layer".to_owned(),
        kept: Arc::new(AtomicU64::new(0)),
        inflate: None,
        beside: false,
        points: None,
    };
    read_stream(&mut &stream[..], &Expected::default(), &context).unwrap()
}

impl Scene {
    /// An image of these layers above one with the loader and the C library.
    pub(super) fn new(config: &Value, layers: &[&[Entry<'_>]]) -> Self {
        let base: &[Entry<'_>] = &[
            ("lib64/ld-linux-x86-64.so.2", library("ld-linux-x86-64.so.2", &[])),
            ("lib/libc.so.6", library("libc.so.6", &["ld-linux-x86-64.so.2"])),
        ];
        let layers = std::iter::once(&base).chain(layers);
        Self::of(config, layers.map(|layer| Some(Arc::new(read(layer)))).collect())
    }

    /// An image of layers that were read.
    pub(super) fn of(config: &Value, layers: Vec<Option<Arc<LayerRead>>>) -> Self {
        let all = json!({
            "architecture": "amd64", "os": "linux", "config": config,
            "rootfs": {"type": "layers", "diff_ids": []}, "history": []
        });
        let image = Image {
            source: String::new(),
            reference: String::new(),
            tags: Vec::new(),
            media_type: None,
            manifest_digest: None,
            config_digest: None,
            manifest_bytes: Arc::from([]),
            manifest: None,
            config_bytes: Arc::from([]),
            health_check: Vec::new(),
            config: Some(serde_json::from_value(all).unwrap()),
            platform: None,
            layers: Vec::new(),
            index: Vec::new(),
            intact: true,
            warnings: Vec::new(),
        };
        let empty = || Arc::new(IndexBuilder::new(&Limits::default()).finish());
        let indexes: Vec<_> = layers
            .iter()
            .map(|layer| layer.as_ref().map_or_else(empty, |read| Arc::clone(&read.index)))
            .collect();
        let merge = merge(&indexes, &[], 0);
        let bodies = FileContents::default();
        let catalog = Catalog::builtin();
        let complete = layers.iter().all(Option::is_some);
        let input = cuda::Input { image: &image, layers: &layers, merge: &merge, bodies: &bodies, catalog };
        let (inventory, _) = cuda::inventory(&input, 8);
        let input = findings::Input {
            image: &image,
            layers: &layers,
            merge: &merge,
            bodies: &bodies,
            inventory: &inventory,
            catalog,
            complete,
            targets: &[],
            today: None,
        };
        let findings = findings::findings(&input);
        Self { image, layers, merge, bodies, inventory, findings, plan: Plan::default(), complete }
    }

    /// Adds a layer that could not be read.
    pub(super) fn without_top(config: &Value, layer: &[Entry<'_>]) -> Self {
        Self::of(config, vec![Some(Arc::new(read(layer))), None])
    }

    /// The entry of a layer at a path.
    pub(super) fn entry(&self, layer: u16, path: &str) -> EntryId {
        let index = self.merge.rootfs.layer(layer);
        let path = format!("/{path}");
        index
            .entries()
            .find(|entry| index.path(*entry) == path.as_bytes())
            .unwrap_or_else(|| panic!("no {path}"))
    }

    /// A draft that keeps all but these entries.
    pub(super) fn draft(&self, without: &[(u16, &str)]) -> Draft {
        let entries: Vec<usize> =
            self.layers.iter().map(|layer| layer.as_ref().map_or(0, |read| read.index.len())).collect();
        let mut selection = Selection::all(&entries);
        for (layer, path) in without {
            selection.set(*layer, self.entry(*layer, path), false);
        }
        let config = self.image.config.as_ref().unwrap().config().clone().unwrap();
        Draft {
            id: "minimal",
            title: String::new(),
            applicability: Applicability::Safe,
            base_image: None,
            edits: Vec::new(),
            selection,
            stored_again: 0,
            environment: config.env().clone().unwrap_or_default(),
            entrypoint: config.entrypoint().clone(),
            stages: Vec::new(),
            kept: Vec::new(),
            assumed: Vec::new(),
            manual_steps: Vec::new(),
            hints: Vec::new(),
        }
    }

    /// Adds a finding about files, and adds it to the plan if `planned`.
    pub(super) fn find(&mut self, verdict: Verdict, planned: bool, files: &[(u16, &str)]) {
        let items = files.iter().map(|(layer, path)| {
            let entry = self.entry(*layer, path);
            let node = self.merge.rootfs.first_name(*layer, entry);
            Item { layer: *layer, entry, node, bytes: 1 }
        });
        let items: Vec<Item> = items.collect();
        let id = format!("made:{}", self.findings.list.len());
        self.plan.set(&id, planned);
        self.findings.list.push(Finding {
            id,
            rule: findings::rules().next().unwrap(),
            severity: Severity::Low,
            verdict,
            category: Category::Compilers,
            title: "Compilers".to_owned(),
            reason: "triton 3.5.1 runs ptxas.".to_owned(),
            proof: Vec::new(),
            question: None,
            readers: Vec::new(),
            reading: Vec::new(),
            fix: String::new(),
            items,
            bytes: 1,
            merged_bytes: 1,
            layers: Vec::new(),
            subjects: Vec::new(),
            packages: Vec::new(),
            users: Vec::new(),
            rests_on: Vec::new(),
            potential_bytes: 0,
            potential_compressed_bytes: Some(0),
        });
    }

    /// The proof of a draft.
    pub(super) fn prove(&self, draft: &Draft) -> Proven {
        check(
            &Input {
                image: &self.image,
                layers: &self.layers,
                merge: &self.merge,
                bodies: &self.bodies,
                inventory: &self.inventory,
                findings: &self.findings,
                plan: &self.plan,
                catalog: Catalog::builtin(),
                targets: &[],
                complete: self.complete,
                dockerfile: None,
                show_secrets: false,
            },
            draft,
        )
    }

    /// The proof of a draft that keeps all but these entries.
    pub(super) fn without(&self, without: &[(u16, &str)]) -> Proven {
        self.prove(&self.draft(without))
    }
}
