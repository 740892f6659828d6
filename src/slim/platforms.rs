//! The other images of an index, which are carried over byte for byte.

use std::collections::BTreeSet;
use std::io::Read;

use oci_spec::image::Descriptor;
use serde_json::Value;

use super::documents::DOCKER_MANIFEST;
use super::store::{CarriedDocuments, Documents, KeptBlob, Platforms, Store};
use super::{Selection, SlimError, SlimOptions};
use crate::analysis::{Analysis, Options};
use crate::base::Digest;
use crate::base::digest::{sha256_of, short};
use crate::base::text::printable;
use crate::jobs::{CancelToken, Cancelled, Progress};
use crate::source::{Blob, Image, LayerSource, OpenContext, Reference, Sink, StreamedMember, open};

const OCI_INDEX: &str = "application/vnd.oci.image.index.v1+json";
const DOCKER_LIST: &str = "application/vnd.docker.distribution.manifest.list.v2+json";
/// Annotations that name an image in the index of a layout; in an index below it they would name one platform.
const NAMES: [&str; 2] = ["org.opencontainers.image.ref.name", "io.containerd.image.name"];

/// An image of the same index for another platform.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OtherPlatform {
    /// Its platform, such as `linux/arm64`; `None` if the index names none.
    pub platform: Option<String>,
    /// Digest of its manifest.
    pub manifest_digest: Digest,
}

/// The images of the index that are carried over. A note says if there are none.
pub(super) fn others(image: &Image, options: &SlimOptions, notes: &mut Vec<String>) -> Vec<OtherPlatform> {
    if !options.all_platforms {
        return Vec::new();
    }
    let own = image.manifest_digest.as_deref();
    let other = |descriptor: &Descriptor| OtherPlatform {
        platform: descriptor.platform().as_ref().map(|platform| {
            let variant = platform.variant().as_deref().filter(|variant| !variant.is_empty());
            let variant = variant.map(|variant| format!("/{variant}")).unwrap_or_default();
            printable(&format!("{}/{}{variant}", platform.os(), platform.architecture()))
        }),
        manifest_digest: descriptor.digest().clone(),
    };
    let others = image.index.iter().filter(|one| Some(one.digest().as_ref()) != own);
    let others: Vec<_> = others.map(other).collect();
    if others.is_empty() {
        notes.push("the source has no images for other platforms to carry over".to_owned());
    }
    others
}

/// Another image of the index, opened.
pub(super) struct Carried {
    name: String,
    image: Image,
}

/// Opens the images that are carried over.
pub(super) fn carried(
    analysis: &Analysis,
    selection: &Selection,
    opened: &Options,
    cancel: &CancelToken,
) -> Result<Vec<Carried>, SlimError> {
    let source = &analysis.image;
    if selection.platforms.is_empty() {
        return Ok(Vec::new());
    }
    if source.layers.iter().any(|layer| matches!(layer.blob, Blob::Streamed(_))) {
        let reason = "the other platforms of a compressed archive cannot be read again; decompress it first";
        return Err(SlimError::refused("the image", reason));
    }
    let reference = Reference::parse(&source.reference)
        .map_err(|error| SlimError::refused("the image", error.to_string()))?;
    let mut bytes = 0;
    let mut open = |other: &OtherPlatform| {
        let digest = &other.manifest_digest;
        let platform = other.platform.as_deref().unwrap_or("another platform");
        let name = format!("the image for {platform} ({}:{})", digest.algorithm(), short(digest.as_ref()));
        let mut context = OpenContext {
            limits: &opened.limits,
            platform: None,
            access: &opened.access,
            cancel,
            progress: &Progress::default(),
            sink: &mut NoSink,
        };
        let image = open(&reference.with_digest(digest), &mut context);
        cancel.check()?;
        let image = image.map_err(|error| SlimError::refused(&name, error.to_string()))?;
        if !image.intact || image.manifest_digest.as_deref() != Some(digest.as_ref()) {
            let why = image.warnings.first().map_or("its manifest or config is damaged", |one| &one.message);
            return Err(SlimError::refused(&name, why));
        }
        bytes += (image.manifest_bytes.len() + image.config_bytes.len()) as u64;
        if bytes > opened.limits.documents_bytes {
            let limit = opened.limits.documents_bytes;
            return Err(SlimError::refused("the index", format!("its documents exceed {limit} bytes")));
        }
        Ok(Carried { name, image })
    };
    selection.platforms.iter().map(&mut open).collect()
}

/// The layers of all of them, each once.
fn layers(carried: &[Carried]) -> impl Iterator<Item = (&Carried, &LayerSource)> {
    let mut seen = BTreeSet::new();
    let all =
        carried.iter().flat_map(|carried| carried.image.layers.iter().map(move |layer| (carried, layer)));
    all.filter(move |(_, layer)| layer.digest.as_ref().is_none_or(|digest| seen.insert(digest.as_ref())))
}

/// Bytes and number of the blobs that [`keep`] copies.
pub(super) fn totals(carried: &[Carried]) -> (u64, u64) {
    layers(carried).fold((0, 0), |(bytes, count), (_, layer)| {
        (layer.size.unwrap_or_default().saturating_add(bytes), count + 1)
    })
}

/// Copies their layers.
pub(super) fn keep(
    carried: &[Carried],
    store: &dyn Store,
    progress: &Progress,
    cancel: &CancelToken,
) -> Result<(), SlimError> {
    for (Carried { name, .. }, layer) in layers(carried) {
        let missing = || SlimError::refused(name, "the digest or size of a layer is unknown");
        let (digest, size) = layer.digest.as_ref().zip(layer.size).ok_or_else(missing)?;
        if let Blob::Missing(reason) = &layer.blob {
            return Err(SlimError::refused(name, format!("layer {digest}: {reason}")));
        }
        store.keep(&KeptBlob { layer, digest, size }, progress, cancel)?;
        progress.add_passed(size);
        progress.add_layer();
    }
    Ok(())
}

/// The index with the new image in its place; `None` if there are no others.
pub(super) fn index(
    source: &Image,
    carried: Vec<Carried>,
    new: &Documents,
) -> Result<Option<Platforms>, SlimError> {
    if carried.is_empty() {
        return Ok(None);
    }
    let unsound = |reason: &str| SlimError::refused("the index", reason);
    let mut types = vec![new.media_type.clone()];
    let mut manifests = Vec::new();
    for descriptor in &source.index {
        let mut entry = serde_json::to_value(descriptor).map_err(|error| unsound(&error.to_string()))?;
        if Some(descriptor.digest().as_ref()) == source.manifest_digest.as_deref() {
            entry["mediaType"] = new.media_type.as_str().into();
            entry["digest"] = new.manifest_digest.as_ref().into();
            entry["size"] = new.manifest.len().into();
            if let Some(entry) = entry.as_object_mut() {
                entry.remove("data");
                entry.remove("urls");
            }
        } else {
            types.push(descriptor.media_type().to_string());
        }
        if let Some(notes) = entry.get_mut("annotations").and_then(Value::as_object_mut) {
            for name in NAMES {
                notes.remove(name);
            }
            if notes.is_empty() {
                entry.as_object_mut().and_then(|entry| entry.remove("annotations"));
            }
        }
        manifests.push(entry);
    }
    // A list of Docker has manifests of Docker only.
    let media_type = if types.iter().all(|one| one == DOCKER_MANIFEST) { DOCKER_LIST } else { OCI_INDEX };
    let index = serde_json::json!({ "schemaVersion": 2, "mediaType": media_type, "manifests": manifests });
    let index = index.to_string().into_bytes();
    let parsed = |digest: &str| digest.parse::<Digest>().map_err(|_| unsound("a digest cannot be written"));
    let documents = |Carried { name, image }: Carried| {
        let digest = |digest: Option<&str>| {
            parsed(digest.ok_or_else(|| SlimError::refused(name.as_str(), "it has no config"))?)
        };
        Ok(CarriedDocuments {
            manifest_digest: digest(image.manifest_digest.as_deref())?,
            config_digest: digest(image.config_digest.as_deref())?,
            media_type: image.media_type.clone().unwrap_or_default(),
            manifest: image.manifest_bytes.to_vec(),
            config: image.config_bytes.to_vec(),
        })
    };
    Ok(Some(Platforms {
        digest: parsed(&sha256_of(&index))?,
        index,
        media_type: media_type.to_owned(),
        images: carried.into_iter().map(documents).collect::<Result<_, SlimError>>()?,
    }))
}

/// Refuses layers that pass only once.
struct NoSink;

impl Sink for NoSink {
    fn layer(&mut self, _: &StreamedMember, _: &mut dyn Read) -> Result<usize, Cancelled> {
        Err(Cancelled)
    }
}
