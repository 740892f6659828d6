//! What the single steps of an analysis cost, on inputs that are made here.
//!
//! `cargo bench --no-default-features --bench micro`, or with `-- merge` only those with this word in their name.
//! Wall time: look at the fastest and the median, and not at the mean, on a busy machine.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a bench may stop at the first surprise"
)]

#[path = "../fixtures/mod.rs"]
mod fixtures;

use std::sync::atomic::AtomicU64;
use std::sync::{Arc, LazyLock};

use cutaway::analysis::{Analysis, Options, analyze};
use cutaway::base::{Limits, Section};
use cutaway::cuda::catalog::Catalog;
use cutaway::cuda::{FileContents, Input, inventory};
use cutaway::formats::input::{SeekInput, StreamInput};
use cutaway::formats::tar::{TarInput, TarWalk};
use cutaway::jobs::{CancelToken, Progress};
use cutaway::layer::{
    Context, EntryKind, Expected, IndexBuilder, LayerIndex, LayerRead, NewEntry, read_layer, read_stream,
};
use cutaway::report::{self, Report, to_json};
use cutaway::rootfs::merge;
use cutaway::source::Reference;
use divan::counter::{BytesCount, ItemsCount};
use divan::{Bencher, black_box};

use crate::fixtures::elf::Elf;
use crate::fixtures::filler;
use crate::fixtures::packing::Packing;
use crate::fixtures::tarball::{file, symlink, tar};

/// Entries of the layer that is walked, read, packed and stored.
const ENTRIES: usize = 20_000;
const LAYERS: u32 = 8;
const ENTRIES_EACH: u32 = 20_000;

fn main() {
    divan::Divan::default().sample_count(20).sample_size(1).config_with_args().main();
}

/// The tar stream of a layer as Python packages have it: small sources, some data, links, and a library in each
/// 200 entries. About 100 MB.
static TAR: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let each = |number: usize| {
        let folder = format!("opt/venv/lib/python3.12/site-packages/pack_{}", number / 90);
        match number % 200 {
            0 => {
                let name = format!("lib{number}.so");
                let library =
                    Elf::library(&name).with_section(".rodata", filler::code(&name, 800_000)).build();
                file(format!("{folder}/{name}"), library).mode(0o755)
            }
            1..=10 => symlink(format!("{folder}/link_{number}"), "module_0.py"),
            11..40 => {
                file(format!("{folder}/data_{number}.bin"), filler::code(&number.to_string(), number % 9000))
            }
            _ => {
                let name = format!("{folder}/module_{number}.py");
                let body = filler::python(&name, number % 1500);
                file(name, body)
            }
        }
    };
    tar((0..ENTRIES).map(each))
});
static GZIP: LazyLock<Vec<u8>> = LazyLock::new(|| Packing::Gzip.pack(&TAR).1);
static ZSTD: LazyLock<Vec<u8>> = LazyLock::new(|| Packing::Zstd.pack(&TAR).1);
static LAYER: LazyLock<LayerRead> =
    LazyLock::new(|| read_stream(&mut TAR.as_slice(), &Expected::default(), &context()).unwrap());
static INDEXES: LazyLock<Vec<Arc<LayerIndex>>> = LazyLock::new(|| (0..LAYERS).map(index).collect());
/// The built-in sample: packages of dpkg and pip, a toolkit, and some hundred libraries.
static SAMPLE: LazyLock<Arc<Analysis>> = LazyLock::new(|| {
    let reference = Reference::parse("sample:devel").unwrap();
    analyze(&reference, &Options::default(), &CancelToken::new(), &Progress::default(), &|_| ()).unwrap()
});

fn context() -> Context {
    Context {
        limits: Limits::default(),
        cancel: CancelToken::new(),
        progress: Progress::default(),
        subject: "layer 0".to_owned(),
        kept: Arc::new(AtomicU64::new(0)),
        inflate: None,
        beside: false,
        points: None,
    }
}

fn section(bytes: &'static [u8]) -> Section {
    Section::new(Arc::new(bytes), 0, bytes.len() as u64)
}

/// A layer by entries. One path in five is in the layer below, too.
fn index(salt: u32) -> Arc<LayerIndex> {
    let mut builder = IndexBuilder::new(&Limits::default());
    for number in 0..ENTRIES_EACH {
        let layer = if number % 5 == 0 { salt / 2 } else { salt };
        let folder = number / 90;
        let path = format!("opt/lib/pack_{}/mod_{folder}/file_{layer}_{number}.py", folder / 30);
        let entry = NewEntry {
            kind: EntryKind::File,
            size: u64::from(number),
            mode: 0o644,
            uid: 0,
            gid: 0,
            mtime: 1_767_323_045,
            link: b"",
            body_at: None,
        };
        builder.add_path(path.as_bytes(), entry).unwrap();
    }
    Arc::new(builder.finish())
}

fn walk(input: impl TarInput) -> usize {
    let mut walk = TarWalk::new(input, &Limits::default());
    let mut members = 0;
    while walk.advance().unwrap() {
        black_box(walk.member());
        members += 1;
    }
    assert_eq!(members, ENTRIES);
    members
}

/// From header to header.
#[divan::bench]
fn tar_walk_seek(bencher: Bencher<'_, '_>) {
    let bytes = TAR.as_slice();
    bencher
        .counter(ItemsCount::new(ENTRIES))
        .bench_local(|| walk(SeekInput::new(section(bytes), &Progress::default(), &CancelToken::new())));
}

/// Through all bytes, of which only headers are looked at.
#[divan::bench]
fn tar_walk_stream(bencher: Bencher<'_, '_>) {
    let bytes = TAR.as_slice();
    bencher
        .counter(ItemsCount::new(ENTRIES))
        .bench_local(|| walk(StreamInput::new(bytes, None, u64::MAX, &CancelToken::new())));
}

fn layer(bencher: Bencher<'_, '_>, bytes: &'static [u8]) {
    bencher.counter(BytesCount::new(TAR.len())).bench_local(|| {
        let read = read_layer(&section(bytes), &Expected::default(), &context()).unwrap();
        assert!(read.complete && read.index.len() == ENTRIES);
        read
    });
}

/// A plain layer that can be read at any place: headers, and of bodies what says something. Throughput counts the
/// bytes that are stepped over.
#[divan::bench]
fn layer_seek(bencher: Bencher<'_, '_>) {
    layer(bencher, &TAR);
}

/// A plain layer that passes once: SHA-256 of all of it, BLAKE3 of every file, facts of those that say something.
#[divan::bench]
fn layer_stream(bencher: Bencher<'_, '_>) {
    bencher
        .counter(BytesCount::new(TAR.len()))
        .with_inputs(|| TAR.as_slice())
        .bench_local_values(|mut bytes| read_stream(&mut bytes, &Expected::default(), &context()).unwrap());
}

/// The same out of gzip, by the tar stream's bytes.
#[divan::bench]
fn layer_gzip(bencher: Bencher<'_, '_>) {
    layer(bencher, &GZIP);
}

/// The same out of zstd, by the tar stream's bytes.
#[divan::bench]
fn layer_zstd(bencher: Bencher<'_, '_>) {
    layer(bencher, &ZSTD);
}

/// What a layer that was read becomes in the cache.
#[divan::bench]
fn stored_layer_write(bencher: Bencher<'_, '_>) {
    let read = &*LAYER;
    bencher.counter(ItemsCount::new(ENTRIES)).bench_local(|| read.to_bytes("layer 0"));
}

/// And back.
#[divan::bench]
fn stored_layer_read(bencher: Bencher<'_, '_>) {
    let bytes = LAYER.to_bytes("layer 0");
    bencher
        .counter(ItemsCount::new(ENTRIES))
        .bench_local(|| LayerRead::from_bytes(&bytes, "layer 0", &Limits::default()).unwrap());
}

/// Layers to the view of a container, with all sums.
#[divan::bench]
fn merge_layers(bencher: Bencher<'_, '_>) {
    let indexes = INDEXES.as_slice();
    bencher.counter(ItemsCount::new(LAYERS * ENTRIES_EACH)).bench_local(|| merge(indexes, &[], 10));
}

/// Packages, libraries, links, GPU code and classes of the sample.
#[divan::bench]
fn inventory_of_sample(bencher: Bencher<'_, '_>) {
    let layers: Vec<Option<Arc<LayerRead>>> = SAMPLE.layers.iter().map(|layer| layer.read.clone()).collect();
    let (bodies, merge) = (FileContents::default(), SAMPLE.merge.as_deref().unwrap());
    let input =
        Input { image: &SAMPLE.image, layers: &layers, merge, bodies: &bodies, catalog: Catalog::builtin() };
    bencher.bench_local(|| inventory(&input, 10));
}

/// The analysis of the sample to the model of its report.
#[divan::bench]
fn report_model(bencher: Bencher<'_, '_>) {
    let analysis = &*SAMPLE;
    bencher.bench_local(|| Report::new(analysis, &report::Options::default()).unwrap());
}

/// The model to JSON, by the bytes that come out.
#[divan::bench]
fn report_json(bencher: Bencher<'_, '_>) {
    let report = Report::new(&SAMPLE, &report::Options::default()).unwrap();
    let bytes = to_json(&report).len();
    bencher.counter(BytesCount::new(bytes)).bench_local(|| to_json(&report));
}
