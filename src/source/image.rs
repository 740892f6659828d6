//! An opened image: declared properties and the location of its layers.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use oci_spec::image::{Config, Descriptor, ImageConfiguration, ImageManifest};

use super::registry::RemoteBlob;
use crate::base::{Digest, Platform, Section, Warning, WarningCode};

/// What engines set `PATH` to where an image does not.
const DEFAULT_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// An image with its documents, raw and parsed.
#[derive(Clone)]
pub struct Image {
    /// Name of the transport, such as `oci-archive`.
    pub source: String,
    /// The reference as it was given.
    pub reference: String,
    /// Names that the source gives the image.
    pub tags: Vec<String>,
    /// Media type of the manifest; `None` where there is none (docker-archive, rootfs).
    pub media_type: Option<String>,
    /// Digest of the manifest bytes, computed.
    pub manifest_digest: Option<String>,
    /// Digest of the config bytes, computed.
    pub config_digest: Option<String>,
    /// The manifest bytes, over which digests are computed.
    pub manifest_bytes: Arc<[u8]>,
    /// The manifest; `None` where there is none.
    pub manifest: Option<ImageManifest>,
    /// The config bytes.
    pub config_bytes: Arc<[u8]>,
    /// The config; `None` when there is none or it cannot be read.
    pub config: Option<ImageConfiguration>,
    /// Words of the health check, from `Healthcheck.Test` of the config, which Docker adds to the specification; empty
    /// when there is none.
    pub health_check: Vec<String>,
    /// Platform, from the config or else the descriptor.
    pub platform: Option<Platform>,
    /// Layers, bottom first.
    pub layers: Vec<LayerSource>,
    /// The images of the index that it was selected from, each once, in their order and with itself. Empty without an
    /// index.
    pub index: Vec<Descriptor>,
    /// Whether the documents can be read and have the digests and sizes of their descriptors.
    pub intact: bool,
    /// Faults of the documents.
    pub warnings: Vec<Warning>,
}

/// Location and declared properties of one layer.
#[derive(Clone)]
pub struct LayerSource {
    /// Its bytes.
    pub blob: Blob,
    /// Digest of the blob, from the descriptor or the blob's place.
    pub digest: Option<Digest>,
    /// Digest of the uncompressed tar, from the config.
    pub diff_id: Option<Digest>,
    /// Media type from the descriptor.
    pub media_type: Option<String>,
    /// Bytes of the blob, from the descriptor.
    pub size: Option<u64>,
    /// Annotations of the descriptor: eStargz and zstd:chunked have the location of their table of contents there.
    pub annotations: BTreeMap<String, String>,
    /// Instruction that created it, from the history.
    pub created_by: Option<String>,
    /// When it was created, from the history: RFC 3339.
    pub created: Option<String>,
}

impl LayerSource {
    /// A layer without declared properties.
    pub(super) fn at(blob: Blob) -> Self {
        Self {
            blob,
            digest: None,
            diff_id: None,
            media_type: None,
            size: None,
            annotations: BTreeMap::new(),
            created_by: None,
            created: None,
        }
    }
}

/// The bytes of a layer.
#[derive(Clone)]
pub enum Blob {
    /// Can be read at any place.
    Section(Section),
    /// Passed in a compressed archive: the number returned by the sink.
    Streamed(usize),
    /// A folder with the files themselves.
    Folder(PathBuf),
    /// At a registry.
    Remote(RemoteBlob),
    /// Not here.
    Missing(String),
}

/// Warning about a document whose size differs from its descriptor.
pub(super) fn size_mismatch(object: &str, what: &str, bytes: &[u8], claimed: u64) -> Option<Warning> {
    let found = bytes.len() as u64;
    (found != claimed).then(|| {
        let message = format!("the {what} has {found} bytes, the descriptor declares {claimed}");
        Warning::new(WarningCode::SizeMismatch, object, message)
    })
}

impl Image {
    /// How containers of the image are run, from its config.
    pub fn run_config(&self) -> Option<&Config> {
        self.config.as_ref()?.config().as_ref()
    }

    /// The environment, as `NAME=VALUE`.
    pub fn environment(&self) -> &[String] {
        self.run_config().and_then(|config| config.env().as_deref()).unwrap_or_default()
    }

    /// The value of a variable; the last definition counts.
    pub fn variable(&self, name: &str) -> Option<&str> {
        let pairs = self.environment().iter().rev();
        pairs
            .filter_map(|pair| pair.split_once('='))
            .find(|(known, _)| *known == name)
            .map(|(_, value)| value)
    }

    /// The folders in which programs are searched, separated by colons.
    pub fn search_path(&self) -> &str {
        self.variable("PATH").unwrap_or(DEFAULT_PATH)
    }

    /// Compares a document with the size in its descriptor.
    pub(super) fn check_size(&mut self, object: &str, what: &str, bytes: &[u8], claimed: u64) {
        if let Some(warning) = size_mismatch(object, what, bytes, claimed) {
            self.intact = false;
            self.warnings.push(warning);
        }
    }

    pub(super) fn empty() -> Self {
        Self {
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
            config: None,
            platform: None,
            layers: Vec::new(),
            index: Vec::new(),
            intact: true,
            warnings: Vec::new(),
        }
    }
}
