//! One layer: by ranges, as a stream, and compressed.

use std::io::Write as _;
use std::sync::Arc;

use flate2::write::GzEncoder;

use super::invariants;
use super::limits::limits;
use super::streams::zstd_frames;
use crate::base::{Limits, Section};
use crate::formats::compression::Compression;
use crate::formats::inflate::Division;
use crate::jobs::{CancelToken, Progress};
use crate::layer::{Context, Expected, LayerRead, read_layer, read_stream};

/// What the fuzzer's layer is called in warnings.
pub(super) const SUBJECT: &str = "layer 0";

/// Any bytes as the tar stream of a layer: as they are, and with the checksums of their headers set right, so that
/// a change of a header does not end there.
///
/// # Panics
/// When a promise is broken.
pub fn tar_walk(data: &[u8]) {
    let summed = with_checksums(data, 0);
    if summed != data {
        by_both_ways(data);
    }
    by_both_ways(&summed);
}

/// Any bytes as a gzip stream, or packed as one: a layer is the same whether it is compressed or not.
///
/// # Panics
/// When a promise is broken.
pub fn gzip_layer(data: &[u8]) {
    if data.starts_with(&[0x1f, 0x8b]) {
        packed_by_both_ways(data);
        return;
    }
    let tar = with_checksums(data, 0);
    let half = tar.len() / 2;
    let members = [tar.get(..half), tar.get(half..)].map(Option::unwrap_or_default);
    packed(&tar, &members.map(gzip).concat(), Compression::Gzip);
}

/// The same with zstd.
///
/// # Panics
/// When a promise is broken.
pub fn zstd_layer(data: &[u8]) {
    if data.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) || data.get(1..4) == Some(&[0x2a, 0x4d, 0x18]) {
        packed_by_both_ways(data);
        beside(data);
        zstd_frames(data);
        return;
    }
    let tar = with_checksums(data, 0);
    let half = tar.len() / 2;
    let frames = [tar.get(..half), tar.get(half..)].map(Option::unwrap_or_default);
    let frames = frames.map(|part| zstd::bulk::compress(part, 1).unwrap_or_default());
    packed(&tar, &frames.concat(), Compression::Zstd);
    beside(&frames.concat());
    zstd_frames(&frames.concat());
}

/// A layer is the same if other threads decode it.
fn beside(blob: &[u8]) {
    let limits = limits();
    let context = Context { inflate: Some(Division::of(2)), beside: true, ..context(&limits) };
    let expected = Expected::default();
    let alone = by_ranges(blob, &limits);
    let beside = read_layer(&section(blob), &expected, &context).unwrap_or_else(|_| never());
    invariants::layer(&beside, &limits);
    assert_eq!(alone.complete, beside.complete);
    assert_eq!(alone.digest, beside.digest);
    assert_eq!(alone.uncompressed_bytes, beside.uncompressed_bytes);
    // What is decoded in a call that fails is lost, and a call decodes more or less.
    if alone.complete {
        invariants::same_index(&alone.index, &beside.index);
        documents(&alone, &beside);
    }
}

fn by_both_ways(tar: &[u8]) -> LayerRead {
    let limits = limits();
    let seek = by_ranges(tar, &limits);
    let stream = as_stream(tar, &limits);
    for read in [&seek, &stream] {
        invariants::layer(read, &limits);
    }
    if seek.complete && stream.complete {
        invariants::same_index(&seek.index, &stream.index);
        documents(&seek, &stream);
    }
    invariants::merges(&seek.index);
    stream
}

/// Stored small files do not depend on how the layer is read.
fn documents(seek: &LayerRead, stream: &LayerRead) {
    let list = |read: &LayerRead| -> Vec<_> {
        let documents = read.facts.documents().iter();
        documents.map(|document| (document.entry, document.kind, document.bytes().ok())).collect()
    };
    assert_eq!(list(seek), list(stream));
    for entry in seek.index.entries() {
        assert_eq!(seek.facts.script(entry), stream.facts.script(entry));
    }
}

fn packed_by_both_ways(blob: &[u8]) {
    let limits = limits();
    let (file, stream) = (by_ranges(blob, &limits), as_stream(blob, &limits));
    for read in [&file, &stream] {
        invariants::layer(read, &limits);
    }
    assert_eq!(file.complete, stream.complete);
    // A file whose window is rejected is not read further, and so has no digest.
    assert!(file.digest.is_none() || file.digest == stream.digest);
    assert_eq!(file.uncompressed_bytes, stream.uncompressed_bytes);
    invariants::same_index(&file.index, &stream.index);
}

/// A layer that is read from `blob` is the one that is read from `tar`.
fn packed(tar: &[u8], blob: &[u8], compression: Compression) {
    let limits = limits();
    let (plain, packed) = (as_stream(tar, &limits), by_ranges(blob, &limits));
    invariants::layer(&packed, &limits);
    assert_eq!(packed.compression, Some(compression));
    // Bytes that are not a tar are reported before the walk, but only if not compressed.
    if plain.compression == Some(Compression::None) {
        assert_eq!(plain.complete, packed.complete);
        assert_eq!(plain.uncompressed_bytes, packed.uncompressed_bytes);
        invariants::same_index(&plain.index, &packed.index);
    }
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), flate2::Compression::fast());
    // Writing to memory has nothing that can fail.
    encoder.write_all(bytes).ok();
    encoder.finish().unwrap_or_default()
}

pub(super) fn by_ranges(blob: &[u8], limits: &Limits) -> LayerRead {
    read_layer(&section(blob), &Expected::default(), &context(limits)).unwrap_or_else(|_| never())
}

pub(super) fn as_stream(blob: &[u8], limits: &Limits) -> LayerRead {
    let mut rest = blob;
    read_stream(&mut rest, &Expected::default(), &context(limits)).unwrap_or_else(|_| never())
}

fn never() -> ! {
    unreachable!("nobody cancels")
}

fn context(limits: &Limits) -> Context {
    Context {
        limits: limits.clone(),
        cancel: CancelToken::new(),
        progress: Progress::default(),
        subject: SUBJECT.to_owned(),
        kept: Arc::default(),
        inflate: None,
        beside: false,
        points: None,
    }
}

fn section(bytes: &[u8]) -> Section {
    Section::new(Arc::new(bytes.to_vec()), 0, bytes.len() as u64)
}

/// The bytes with the checksum of every recognisable header corrected; up to `depth` also in nested archives.
pub(super) fn with_checksums(data: &[u8], depth: usize) -> Vec<u8> {
    const BLOCK: usize = 512;
    let mut bytes = data.to_vec();
    let mut at = 0_usize;
    while let Some(block) = bytes.get_mut(at..at.saturating_add(BLOCK)) {
        if block.iter().all(|byte| *byte == 0) {
            break;
        }
        let mut header = tar::Header::from_byte_slice(block).clone();
        header.set_cksum();
        block.copy_from_slice(header.as_bytes());
        // Links, folders and devices have no body, whatever they claim.
        let has_body = !matches!(block.get(156), Some(b'1'..=b'6'));
        let size = if has_body { header.entry_size().unwrap_or(0) } else { 0 };
        let start = at.saturating_add(BLOCK);
        let end = start.saturating_add(usize::try_from(size).unwrap_or(usize::MAX)).min(bytes.len());
        if let Some(body) = bytes.get_mut(start..end).filter(|body| depth > 0 && is_archive(body)) {
            let summed = with_checksums(body, depth - 1);
            body.copy_from_slice(&summed);
        }
        at = start.saturating_add(end.saturating_sub(start).next_multiple_of(BLOCK));
    }
    bytes
}

fn is_archive(body: &[u8]) -> bool {
    body.get(257..262) == Some(b"ustar")
}
