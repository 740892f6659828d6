//! Platforms that run images, their nodes, and the rates of the cold-start model.

use serde::Deserialize;

use super::Catalog;
use super::entry::CatalogEntry;
use crate::base::labels::labelled;
use crate::base::words::words;

/// A rate or a duration with its usual smallest and largest value.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Interval {
    /// Smallest usual value.
    pub low: f64,
    /// Largest usual value; not below `low`.
    pub high: f64,
}

/// How the driver reaches a container.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DriverDelivery {
    /// nvidia-container-toolkit mounts the driver and updates the loader's cache.
    Toolkit,
    /// A folder of the host is mounted; the image must configure the loader's search path.
    Folder,
    /// The platform mounts it in its own way and needs no setting of the image.
    Platform,
}

words!(DriverDelivery {
    Toolkit = "toolkit",
    Folder = "folder",
    Platform = "platform",
});

labelled!(DriverDelivery: DRIVER_DELIVERIES);

/// A platform that runs images.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// Identifier on the command line and in `cutaway.toml`, such as `gke`.
    pub id: String,
    /// Name of the platform.
    pub name: String,
    /// How the driver reaches the container.
    pub driver: DriverDelivery,
    /// Folder of the driver's libraries in the container; only for [`DriverDelivery::Folder`].
    pub driver_folder: Option<String>,
    /// Where the base image is named.
    pub base_image: String,
    /// Id of its usual node.
    pub node: String,
    /// Prefix of the target ids of all its machines, such as `azure:`; `None` if it hides its machines.
    pub machine_prefix: Option<String>,
    /// Usual machines, smallest first; empty if any machine may be used.
    #[serde(default)]
    pub machines: Vec<ProfileMachine>,
    /// Id of the lazy format by which it loads images; `None` if it pulls and unpacks them.
    pub lazy: Option<String>,
    /// Source of the facts.
    pub source: String,
}

/// A machine of a platform.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProfileMachine {
    /// Id of a target, such as `gpu:l4` or `azure:Standard_NC24ads_A100_v4`.
    pub target: String,
    /// The platform's own name: a VM size, an instance type, the value of a node label, a `compute` name.
    pub name: String,
}

/// Rates of a node. MB is 10^6 bytes.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Node {
    /// Identifier, such as `cloud`.
    pub id: String,
    /// Name in reports.
    pub name: String,
    /// Link to the registry, in MB/s.
    pub network_mb_s: Interval,
    /// One download, in MB/s.
    pub connection_mb_s: Interval,
    /// Layers downloaded at the same time.
    pub slots: u32,
    /// Whether layers are unpacked while others are downloaded.
    pub pipelined: bool,
    /// Writing file contents, in MB/s.
    pub write_mb_s: Interval,
    /// Creating files, folders and links, per second.
    pub files_per_s: Interval,
    /// Creating files by the engine, relative to the rate that `cutaway calibrate` measures.
    #[serde(default = "unchanged")]
    pub engine_files: Interval,
    /// Committing one layer, in seconds.
    pub layer_seconds: Interval,
    /// First reading of files at start-up, in MB/s.
    pub read_mb_s: Interval,
    /// Creating the container and starting its process, in seconds.
    pub start_seconds: Interval,
    /// Source of the rates.
    pub source: String,
}

fn unchanged() -> Interval {
    Interval::ONE
}

fn between() -> Interval {
    Interval { low: 0.0, high: 1.0 }
}

/// Rates of a compression.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Codec {
    /// `gzip`, `zstd` or `none`.
    pub id: String,
    /// Decompression by one stream, in MB/s of output, of content that compresses to half.
    pub inflate_mb_s: Interval,
    /// Share of the time of such content that grows with the compressed bytes, from 0 to 1; the rest grows with the
    /// output.
    #[serde(default)]
    pub input_share: f64,
    /// Compressed bytes relative to gzip of the same content.
    pub gzip_ratio: Interval,
    /// Compressed bytes relative to the tar stream.
    pub tar_ratio: Interval,
    /// Speed of container engines' decoders relative to the one of this program.
    pub engine_speed: Interval,
    /// Share of the shorter of decompression and writing during which engines do both, from 0 (one after the other) to
    /// 1 (a decoder of its own).
    #[serde(default = "between")]
    pub engine_overlap: Interval,
    /// Source of the rates.
    pub source: String,
}

/// A format or store that fetches what is read.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LazyFormat {
    /// Identifier, such as `soci`.
    pub id: String,
    /// Name in reports.
    pub name: String,
    /// Opening the index of one layer, in seconds.
    pub layer_seconds: Interval,
    /// One fetch without its bytes, in seconds.
    pub request_seconds: Interval,
    /// Bytes of one fetch, in KiB.
    pub chunk_kib: u32,
    /// Fetches at the same time during start-up.
    pub parallel: Interval,
    /// All fetches together, in MB/s.
    pub fetch_mb_s: Interval,
    /// Whether compressed bytes are fetched, to be decompressed by the node.
    pub compressed: bool,
    /// Whether the image must be converted; otherwise an index is stored beside it, or the platform converts it.
    pub rewrites_image: bool,
    /// Source of the rates.
    pub source: String,
}

/// Implements [`CatalogEntry`] with the id as key and the fields that are intervals of positive rates, of durations,
/// which may be zero, and of shares.
macro_rules! rated {
    ($entry:ty, rates: [$($rate:ident),*], durations: [$($duration:ident),*]
        $(, shares: [$($share:ident),*])?) => {
        impl CatalogEntry for $entry {
            fn key(&self) -> String {
                self.id.clone()
            }
            fn source(&self) -> &str {
                &self.source
            }
            fn fault(&self) -> Option<String> {
                let rates = [$((stringify!($rate), self.$rate, f64::MIN_POSITIVE),)*];
                let durations = [$((stringify!($duration), self.$duration, 0.0),)*];
                let mut all = rates.iter().chain(&durations);
                let broken = all.find(|(_, interval, least)| !interval.is_valid(*least));
                let broken = broken.map(|(name, ..)| format!("{name} must have finite, ordered, not negative values"));
                $($(let broken = broken.or_else(|| {
                    let message = || concat!(stringify!($share), " must be between 0 and 1").to_owned();
                    let share = Interval::from(self.$share);
                    (!share.is_valid(0.0) || share.high > 1.0).then(message)
                });)*)?
                broken
            }
        }
    };
}

/// What start-up reads of the files that it opens, as shares from 0 to 1.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Startup {
    /// `default`.
    pub id: String,
    /// Of an ELF file without its GPU code.
    pub library_share: Interval,
    /// Of the Python modules of imported packages.
    pub module_share: Interval,
    /// Source of the shares.
    pub source: String,
}

rated!(Startup, rates: [library_share, module_share], durations: []);
rated!(Node, rates: [network_mb_s, connection_mb_s, write_mb_s, files_per_s, engine_files, read_mb_s],
    durations: [layer_seconds, start_seconds]);
rated!(Codec, rates: [inflate_mb_s, gzip_ratio, tar_ratio, engine_speed], durations: [],
    shares: [input_share, engine_overlap]);
rated!(LazyFormat, rates: [parallel, fetch_mb_s], durations: [layer_seconds, request_seconds]);

impl CatalogEntry for Profile {
    fn key(&self) -> String {
        self.id.clone()
    }

    fn source(&self) -> &str {
        &self.source
    }

    fn fault(&self) -> Option<String> {
        let folder = self.driver == DriverDelivery::Folder;
        (folder != self.driver_folder.is_some())
            .then(|| "driver_folder is required with driver = \"folder\", and only there".to_owned())
    }
}

impl From<f64> for Interval {
    fn from(value: f64) -> Self {
        Self { low: value, high: value }
    }
}

impl Interval {
    /// Exactly 1.
    pub const ONE: Self = Self { low: 1.0, high: 1.0 };

    fn is_valid(self, least: f64) -> bool {
        self.low >= least && self.high >= self.low && self.high.is_finite()
    }
}

impl Catalog {
    /// Platforms, in file order.
    pub fn profiles(&self) -> &[Profile] {
        &self.document.profiles
    }

    /// The platform with this id.
    pub fn profile(&self, id: &str) -> Option<&Profile> {
        self.document.profiles.iter().find(|profile| profile.id == id)
    }

    /// Nodes, in file order.
    pub fn nodes(&self) -> &[Node] {
        &self.document.nodes
    }

    /// The node with this id.
    pub fn node(&self, id: &str) -> Option<&Node> {
        self.document.nodes.iter().find(|node| node.id == id)
    }

    /// Rates of compressions, in file order.
    pub fn codecs(&self) -> &[Codec] {
        &self.document.codecs
    }

    /// The rates of a compression.
    pub fn codec(&self, id: &str) -> Option<&Codec> {
        self.document.codecs.iter().find(|codec| codec.id == id)
    }

    /// What start-up reads; `None` if the catalogue is empty.
    pub fn startup(&self) -> Option<&Startup> {
        self.document.startups.first()
    }

    /// Lazy formats, in file order.
    pub fn lazy_formats(&self) -> &[LazyFormat] {
        &self.document.lazy_formats
    }

    /// The lazy format with this id.
    pub fn lazy_format(&self, id: &str) -> Option<&LazyFormat> {
        self.document.lazy_formats.iter().find(|format| format.id == id)
    }
}
