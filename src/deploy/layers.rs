//! Sizes of an image's layers, now and without what is removed.

use std::collections::BTreeMap;

use super::model::LayerSize;
use super::rates::{End, Rates};
use crate::analysis::Analysis;
use crate::cuda::catalog::Interval;
use crate::findings::{Finding, Plan, lost, tar_bytes};
use crate::formats::compression::Compression;

/// Sources that store layers without compression, whatever the registry has: their compressed sizes are assumed.
const UNCOMPRESSED_SOURCES: [&str; 2] = ["engine", "docker-archive"];

/// A layer as a registry stores it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StoredLayer {
    /// Bytes over the wire; an interval where the compression at the registry is assumed.
    pub compressed: Interval,
    /// Bytes of the tar stream.
    pub uncompressed: f64,
    /// Files, folders and links.
    pub entries: f64,
    /// Compression of the blob.
    pub codec: Compression,
}

impl StoredLayer {
    /// The sizes at one end.
    pub fn at(&self, end: End) -> LayerSize {
        LayerSize {
            compressed: end.cost(self.compressed),
            uncompressed: self.uncompressed,
            entries: self.entries,
            codec: self.codec,
        }
    }

    /// Without this content; the rest is assumed to compress at the same ratio.
    pub(super) fn without(&self, bytes: u64, files: u64) -> Self {
        let gone = tar_bytes(bytes, files) as f64;
        let left = (self.uncompressed - gone).max(0.0) / self.uncompressed.max(1.0);
        Self {
            compressed: scaled(self.compressed, Interval { low: left, high: left }),
            uncompressed: (self.uncompressed - gone).max(0.0),
            entries: (self.entries - files as f64).max(0.0),
            codec: self.codec,
        }
    }

    /// With fewer compressed bytes, for content that is replaced by zeros.
    fn lighter(&self, bytes: f64) -> Self {
        let whole = f64::midpoint(self.compressed.low, self.compressed.high).max(1.0);
        let left = (1.0 - bytes / whole).max(0.0);
        Self { compressed: scaled(self.compressed, Interval { low: left, high: left }), ..*self }
    }

    /// Compressed with zstd instead of gzip.
    pub(super) fn with_zstd(&self, rates: &Rates) -> Self {
        if self.codec != Compression::Gzip {
            return *self;
        }
        let compressed = scaled(self.compressed, rates.gzip_ratio(Compression::Zstd));
        Self { compressed, codec: Compression::Zstd, ..*self }
    }

    /// One of `parts` equal layers.
    pub(super) fn split(&self, parts: usize) -> Self {
        let share = 1.0 / parts.max(1) as f64;
        Self {
            compressed: scaled(self.compressed, Interval { low: share, high: share }),
            uncompressed: self.uncompressed * share,
            entries: self.entries * share,
            codec: self.codec,
        }
    }
}

fn scaled(of: Interval, by: Interval) -> Interval {
    Interval { low: of.low * by.low, high: of.high * by.high }
}

/// All layers of an image, or why their sizes are unknown.
#[derive(Clone, Debug)]
pub(super) struct Layers {
    pub(super) list: Vec<StoredLayer>,
    /// Whether compressed sizes are assumed, because the source stores layers uncompressed.
    pub(super) assumed: bool,
}

impl Layers {
    /// The layers of an analysis.
    ///
    /// # Errors
    /// The first layer of unknown size, as a sentence.
    pub(super) fn of(analysis: &Analysis, rates: &Rates) -> Result<Self, String> {
        let mut assumed = false;
        let mut list = Vec::with_capacity(analysis.layers.len());
        let may_assume = UNCOMPRESSED_SOURCES.contains(&analysis.image.source.as_str());
        for (number, layer) in analysis.layers.iter().enumerate() {
            let read = layer.read.as_deref();
            let sizes = read
                .and_then(|read| Some((read.compressed_bytes?, read.uncompressed_bytes?, read.compression?)));
            let (Some((compressed, uncompressed, codec)), Some(counts)) = (sizes, layer.counts()) else {
                return Err(format!("the compressed size of layer {number} is unknown"));
            };
            let exact = Interval { low: compressed as f64, high: compressed as f64 };
            let (compressed, codec) = if may_assume && codec == Compression::None {
                assumed = true;
                let whole = uncompressed as f64;
                let whole = Interval { low: whole, high: whole };
                (scaled(whole, rates.tar_ratio(Compression::Gzip)), Compression::Gzip)
            } else {
                (exact, codec)
            };
            list.push(StoredLayer {
                compressed,
                uncompressed: uncompressed as f64,
                entries: counts.entries as f64,
                codec,
            });
        }
        Ok(Self { list, assumed })
    }

    /// The layers after a plan.
    pub(super) fn after(&self, analysis: &Analysis, plan: &Plan) -> Option<Vec<StoredLayer>> {
        let findings = analysis.findings.as_deref()?;
        let removed = findings.list.iter().filter(|finding| plan.contains(&finding.id));
        Some(self.less(&lost(removed.flat_map(|finding| &finding.layers))))
    }

    /// The layers after `cutaway slim` with a plan and targets: without shadowed files and without GPU code that no
    /// target runs. `None` if what that code saves is unknown.
    pub(super) fn after_slim(&self, analysis: &Analysis, plan: &Plan) -> Option<Vec<StoredLayer>> {
        let findings = analysis.findings.as_deref()?;
        let removed: Vec<&Finding> =
            findings.list.iter().filter(|finding| plan.contains(&finding.id)).collect();
        let mut gone = lost(removed.iter().flat_map(|finding| &finding.layers));
        for (number, _) in self.list.iter().enumerate() {
            let layer = crate::base::convert::layer16(number);
            let shares = removed.iter().flat_map(|finding| &finding.layers);
            let shadowed: u64 = shares
                .filter(|share| share.layer == layer)
                .map(|share| share.bytes.saturating_sub(share.merged_bytes))
                .sum();
            let rest = analysis.waste(number)?.wasted_bytes.saturating_sub(shadowed);
            gone.entry(layer).or_default().0 += rest;
        }
        let mut left = self.less(&gone);
        for finding in findings.list.iter().filter(|finding| finding.potential_bytes > 0) {
            left = lighter(&left, finding)?;
        }
        Some(left)
    }

    /// The layers without what one finding costs: its files, or the GPU code inside its files. `None` if it costs no
    /// byte, or an unknown number of them.
    pub(super) fn without(&self, finding: &Finding) -> Option<Vec<StoredLayer>> {
        if finding.bytes > 0 {
            return Some(self.less(&lost(&finding.layers)));
        }
        if finding.potential_bytes > 0 { lighter(&self.list, finding) } else { None }
    }

    fn less(&self, lost: &BTreeMap<u16, (u64, u64)>) -> Vec<StoredLayer> {
        let of = |number: usize| u16::try_from(number).ok().and_then(|layer| lost.get(&layer)).copied();
        let layers = self.list.iter().enumerate();
        layers
            .map(|(number, layer)| match of(number) {
                Some((bytes, files)) => layer.without(bytes, files),
                None => *layer,
            })
            .collect()
    }
}

/// Layers without the GPU code inside the files of a finding. Its compressed bytes are divided by the bytes of these
/// files in each layer.
fn lighter(layers: &[StoredLayer], finding: &Finding) -> Option<Vec<StoredLayer>> {
    let saved = finding.potential_compressed_bytes? as f64;
    let mut files: BTreeMap<u16, u64> = BTreeMap::new();
    for item in &finding.items {
        *files.entry(item.layer).or_default() += item.bytes.max(1);
    }
    let all = files.values().sum::<u64>().max(1) as f64;
    let mut layers = layers.to_vec();
    for (layer, bytes) in files {
        if let Some(layer) = layers.get_mut(usize::from(layer)) {
            *layer = layer.lighter(saved * bytes as f64 / all);
        }
    }
    Some(layers)
}
