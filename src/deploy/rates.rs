//! The rates of an estimate: of the catalogue, or measured on this machine.

use std::collections::BTreeMap;

use super::calibrate::Calibration;
use crate::cuda::catalog::{Catalog, Interval, LazyFormat, Node, Profile};
use crate::formats::compression::Compression;

/// MB in bytes.
const MB: f64 = 1e6;

/// Rates of a node, of decoders, and of start-up.
#[derive(Clone, Debug)]
pub struct Rates {
    /// Rates of the node.
    pub node: Node,
    /// Rates measured on this machine, if they replace those of the catalogue.
    pub measured: Option<Calibration>,
    codecs: BTreeMap<&'static str, CodecRates>,
    library_share: Interval,
    module_share: Interval,
    startup_source: String,
}

#[derive(Clone, Debug)]
struct CodecRates {
    inflate: Interval,
    input_share: f64,
    overlap: Interval,
    gzip_ratio: Interval,
    tar_ratio: Interval,
    source: String,
}

impl CodecRates {
    fn at(&self, end: End) -> Decoder {
        // More overlap is better, as of a rate, but its middle is that of the durations.
        let overlap = match end {
            End::Best => self.overlap.high,
            End::Middle => f64::midpoint(self.overlap.low, self.overlap.high),
            End::Worst => self.overlap.low,
        };
        Decoder { rate: end.rate(self.inflate) * MB, input_share: self.input_share, overlap }
    }
}

/// The end of all intervals at which a duration is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The favourable end of every rate: the lower bound of a duration.
    Best,
    /// The middle: the geometric mean of a rate, the arithmetic mean of a duration.
    Middle,
    /// The unfavourable end of every rate: the upper bound of a duration.
    Worst,
}

impl End {
    /// All ends, best first.
    pub const ALL: [Self; 3] = [Self::Best, Self::Middle, Self::Worst];

    /// A rate, of which more is better. A hostile or empty interval never gives zero or NaN.
    pub fn rate(self, of: Interval) -> f64 {
        let rate = match self {
            Self::Best => of.high,
            Self::Middle => (of.low * of.high).sqrt(),
            Self::Worst => of.low,
        };
        if rate.is_finite() { rate.max(f64::MIN_POSITIVE) } else { f64::MAX }
    }

    /// A duration or an amount, of which less is better.
    pub fn cost(self, of: Interval) -> f64 {
        match self {
            Self::Best => of.low,
            Self::Middle => f64::midpoint(of.low, of.high),
            Self::Worst => of.high,
        }
    }
}

/// The rates at one end, in bytes and seconds.
#[derive(Clone, Debug)]
pub struct RatesAt {
    /// The end.
    pub end: End,
    /// Link to the registry, in bytes per second.
    pub network: f64,
    /// One download, in bytes per second.
    pub connection: f64,
    /// Layers downloaded at the same time, at least 1.
    pub slots: usize,
    /// Whether layers are unpacked while others are downloaded.
    pub pipelined: bool,
    /// Writing file contents, in bytes per second.
    pub write: f64,
    /// Creating files, folders and links, per second.
    pub files: f64,
    /// Committing a layer, in seconds.
    pub layer: f64,
    /// First reading of files, in bytes per second.
    pub read: f64,
    /// Creating the container and starting its process, in seconds.
    pub start: f64,
    pub(super) inflate: BTreeMap<&'static str, Decoder>,
}

/// Speed of a decoder.
#[derive(Clone, Copy, Debug)]
pub(super) struct Decoder {
    /// Bytes of output per second, of content that compresses to half.
    pub rate: f64,
    /// Share of the time of such content that grows with the compressed bytes.
    pub input_share: f64,
    /// Share of the shorter of decompression and writing during which both run.
    pub overlap: f64,
}

impl RatesAt {
    /// Round rates for computation by hand.
    #[cfg(test)]
    pub(super) fn for_tests(end: End, inflate: BTreeMap<&'static str, Decoder>) -> Self {
        Self {
            end,
            network: 100e6,
            connection: 60e6,
            slots: 2,
            pipelined: true,
            write: 500e6,
            files: 1000.0,
            layer: 0.1,
            read: 200e6,
            start: 1.0,
            inflate,
        }
    }

    /// Seconds to decompress and write, which take so long each.
    pub(super) fn together(&self, codec: Compression, inflate: f64, write: f64) -> f64 {
        let overlap = self.inflate.get(codec.as_str()).map_or(1.0, |decoder| decoder.overlap);
        inflate + write - overlap * inflate.min(write)
    }

    /// Seconds to decompress `compressed` bytes to `uncompressed` ones by one stream.
    pub fn inflate(&self, codec: Compression, compressed: f64, uncompressed: f64) -> f64 {
        self.inflate.get(codec.as_str()).map_or(0.0, |decoder| {
            let share = decoder.input_share;
            (uncompressed.max(0.0) * (1.0 - share) + 2.0 * compressed.max(0.0) * share) / decoder.rate
        })
    }
}

impl Rates {
    /// The rates of a platform. Measured ones replace those of decoders, disk and files; the network is never
    /// measured. `None` if the catalogue lacks them.
    pub fn of(catalog: &Catalog, profile: &Profile, measured: Option<&Calibration>) -> Option<Self> {
        let mut node = catalog.node(&profile.node)?.clone();
        let mut codecs = BTreeMap::new();
        for codec in Compression::ALL {
            let known = catalog.codec(codec.as_str())?;
            let mut rates = CodecRates {
                inflate: known.inflate_mb_s,
                input_share: known.input_share,
                overlap: known.engine_overlap,
                gzip_ratio: known.gzip_ratio,
                tar_ratio: known.tar_ratio,
                source: known.source.clone(),
            };
            if let Some(rate) = measured.and_then(|measured| measured.inflate(*codec)) {
                let speed = known.engine_speed;
                rates.inflate = Interval { low: rate * speed.low, high: rate * speed.high };
                rates.source = format!("cutaway calibrate, times the speed of engines: {}", known.source);
            }
            codecs.insert(codec.as_str(), rates);
        }
        if let Some(measured) = measured {
            measured.apply(&mut node);
        }
        let startup = catalog.startup()?;
        Some(Self {
            node,
            measured: measured.cloned(),
            codecs,
            library_share: startup.library_share,
            module_share: startup.module_share,
            startup_source: startup.source.clone(),
        })
    }

    /// All rates at one end.
    pub fn at(&self, end: End) -> RatesAt {
        let node = &self.node;
        RatesAt {
            end,
            network: end.rate(node.network_mb_s) * MB,
            connection: end.rate(node.connection_mb_s) * MB,
            slots: usize::try_from(node.slots.max(1)).unwrap_or(usize::MAX),
            pipelined: node.pipelined,
            write: end.rate(node.write_mb_s) * MB,
            files: end.rate(node.files_per_s),
            layer: end.cost(node.layer_seconds),
            read: end.rate(node.read_mb_s) * MB,
            start: end.cost(node.start_seconds),
            inflate: self.codecs.iter().map(|(id, codec)| (*id, codec.at(end))).collect(),
        }
    }

    /// Share of an ELF file that start-up reads.
    pub fn library_share(&self) -> Interval {
        self.library_share
    }

    /// Share of Python modules that start-up reads.
    pub fn module_share(&self) -> Interval {
        self.module_share
    }

    /// Compressed bytes relative to gzip.
    pub fn gzip_ratio(&self, codec: Compression) -> Interval {
        self.codecs.get(codec.as_str()).map_or(Interval::ONE, |codec| codec.gzip_ratio)
    }

    /// Compressed bytes relative to the tar stream.
    pub fn tar_ratio(&self, codec: Compression) -> Interval {
        self.codecs.get(codec.as_str()).map_or(Interval::ONE, |codec| codec.tar_ratio)
    }

    /// The rates as assumptions, by name.
    pub fn assumptions(&self, codecs: &[Compression]) -> BTreeMap<String, Assumption> {
        let node = &self.node;
        let mut all = BTreeMap::new();
        let mut add = |name: &str, of: Interval, unit, source: &str| {
            all.insert(
                name.to_owned(),
                Assumption { low: of.low, high: of.high, unit, source: source.to_owned() },
            );
        };
        let measured = format!("cutaway calibrate on this machine; otherwise {}", node.source);
        let disk = if self.measured.is_some() { &measured } else { &node.source };
        add("network", node.network_mb_s, "MB/s", &node.source);
        add("connection", node.connection_mb_s, "MB/s", &node.source);
        add("slots", f64::from(node.slots.max(1)).into(), "layers", &node.source);
        add("write", node.write_mb_s, "MB/s", disk);
        let files = format!("{disk}; times the speed of the engine");
        add("files", node.files_per_s, "files/s", if self.measured.is_some() { &files } else { disk });
        add("layer", node.layer_seconds, "s", disk);
        add("read", node.read_mb_s, "MB/s", disk);
        add("start", node.start_seconds, "s", &node.source);
        add("library_share", self.library_share, "share", &self.startup_source);
        add("module_share", self.module_share, "share", &self.startup_source);
        for codec in codecs {
            if let Some(rates) = self.codecs.get(codec.as_str()) {
                add(&format!("inflate_{}", codec.as_str()), rates.inflate, "MB/s", &rates.source);
                add(
                    &format!("input_share_{}", codec.as_str()),
                    rates.input_share.into(),
                    "share",
                    &rates.source,
                );
                add(&format!("overlap_{}", codec.as_str()), rates.overlap, "share", &rates.source);
            }
        }
        all
    }
}

/// An assumption of an estimate: its interval, unit and source.
#[derive(Clone, Debug, PartialEq)]
pub struct Assumption {
    /// Smallest value.
    pub low: f64,
    /// Largest value.
    pub high: f64,
    /// Unit, such as `MB/s`.
    pub unit: &'static str,
    /// Source of the value.
    pub source: String,
}

/// The assumptions of a lazy format.
pub(super) fn lazy_assumptions(format: &LazyFormat) -> Vec<(String, Assumption)> {
    [
        ("index", format.layer_seconds, "s"),
        ("request", format.request_seconds, "s"),
        ("chunk", f64::from(format.chunk_kib).into(), "KiB"),
        ("parallel", format.parallel, "requests"),
        ("fetch", format.fetch_mb_s, "MB/s"),
    ]
    .map(|(name, of, unit)| {
        let source = format.source.clone();
        (name.to_owned(), Assumption { low: of.low, high: of.high, unit, source })
    })
    .into()
}
