//! From an index or manifest to an image: platform, manifest, config, layers, for any source of documents.

use std::collections::BTreeSet;
use std::sync::Arc;

use oci_spec::image::{Descriptor, DigestAlgorithm, ImageIndex, ImageManifest};
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::choose::{Offer, check_platform, choose, descriptor_platform, fitting, is_attestation, names};
use super::config::{self, Claim};
use super::context::Chosen;
use super::error::SourceError;
use super::image::{Blob, Image, LayerSource, size_mismatch};
use super::registry::Fault;
use crate::base::redact::json_fault;
use crate::base::{Digest, Warning, WarningCode, digest};

/// Documents by descriptor, and locations of layers, of one source.
pub(super) trait Documents {
    /// Name of the source in messages.
    fn label(&self) -> &str;
    /// Name for messages, the bytes of an index or manifest, and whether they match the digest.
    fn document(&self, descriptor: &Descriptor) -> Result<(String, Vec<u8>, bool), SourceError>;
    /// Name for messages, and the bytes of a config.
    fn config(&self, descriptor: &Descriptor) -> Result<(String, Vec<u8>), SourceError> {
        self.document(descriptor).map(|(object, bytes, _)| (object, bytes))
    }
    /// Location of a layer.
    fn layer(&self, descriptor: &Descriptor) -> Blob;
    /// The names that an entry of the outermost index gives its image.
    fn names(&self, descriptor: &Descriptor) -> Vec<String> {
        names(descriptor)
    }
}

/// Enough of a document to identify it, whatever its media type.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Probe {
    schema_version: Option<u64>,
    media_type: Option<String>,
    manifests: Option<IgnoredAny>,
    layers: Option<IgnoredAny>,
    fs_layers: Option<IgnoredAny>,
}

/// Opens the image of a manifest, or the selected image of an index.
pub(super) fn open_either(
    store: &dyn Documents,
    object: &str,
    bytes: Vec<u8>,
    descriptor: Option<&Descriptor>,
    chosen: &Chosen<'_>,
) -> Result<Image, SourceError> {
    if probe(object, &bytes)?.manifests.is_some() {
        return of_index(store, object, &bytes, chosen);
    }
    let mut image = Image::empty();
    fill(store, &mut image, object, bytes, descriptor, chosen)?;
    Ok(image)
}

/// The selected image of an index.
pub(super) fn of_index(
    store: &dyn Documents,
    object: &str,
    bytes: &[u8],
    chosen: &Chosen<'_>,
) -> Result<Image, SourceError> {
    let index = parse_index(object, bytes)?;
    let mut warnings = Vec::new();
    let offers = offers(store, &index, chosen, &mut warnings)?;
    let offer = choose(store.label(), &offers, chosen)?;
    let mut image = image(store, &offer, chosen)?;
    let mut seen = BTreeSet::new();
    let each = fitting(&offers, chosen.select).into_iter().map(|offer| &offer.descriptor);
    image.index = each.filter(|one| seen.insert(one.digest().as_ref())).cloned().collect();
    take(&mut image, warnings);
    Ok(image)
}

/// Adds the warnings of the indexes before those of the manifest; a digest mismatch there counts too.
fn take(image: &mut Image, warnings: Vec<Warning>) {
    image.intact &= warnings.is_empty();
    image.warnings.splice(0..0, warnings);
}

fn probe(object: &str, bytes: &[u8]) -> Result<Probe, SourceError> {
    let probe: Probe =
        serde_json::from_slice(bytes).map_err(|error| malformed(object, &json_fault(&error)))?;
    if probe.schema_version == Some(1) || probe.fs_layers.is_some() {
        return Err(SourceError::Unsupported {
            object: object.into(),
            reason: "Docker manifest schema 1, which has no sizes and is deprecated".into(),
            hint: Some(
                "pull and push the image with a current tool, which writes a schema 2 manifest".into(),
            ),
        });
    }
    Ok(probe)
}

fn malformed(object: &str, error: &dyn std::fmt::Display) -> SourceError {
    SourceError::Malformed { object: object.into(), reason: crate::base::text::printable(&error.to_string()) }
}

/// Rejects digests that are not plain hexadecimal: file names and URLs contain them.
pub(super) fn check_algorithm(digest: &Digest) -> Result<(), SourceError> {
    match digest.algorithm() {
        DigestAlgorithm::Sha256 | DigestAlgorithm::Sha384 | DigestAlgorithm::Sha512 => Ok(()),
        algorithm => Err(SourceError::Unsupported {
            object: digest.to_string(),
            reason: format!("unsupported digest algorithm {algorithm}"),
            hint: None,
        }),
    }
}

/// Whether a layer is non-distributable (foreign), and so not part of the source.
pub(super) fn is_foreign(descriptor: &Descriptor) -> bool {
    let media_type = descriptor.media_type().to_string();
    media_type.contains("foreign") || media_type.contains("nondistributable")
}

fn parse_index(object: &str, bytes: &[u8]) -> Result<ImageIndex, SourceError> {
    probe(object, bytes)?;
    serde_json::from_slice(bytes).map_err(|error| malformed(object, &json_fault(&error)))
}

/// All image manifests of an index, nested indexes included, attestations excluded.
fn offers(
    store: &dyn Documents,
    index: &ImageIndex,
    chosen: &Chosen<'_>,
    warnings: &mut Vec<Warning>,
) -> Result<Vec<Offer>, SourceError> {
    let limits = chosen.limits;
    let mut offers = Vec::new();
    let (mut seen, mut documents) = (0, 0);
    let too_many = || malformed(store.label(), &format!("more than {} manifests", limits.index_descriptors));
    let first = |descriptor: &Descriptor| Offer {
        names: store.names(descriptor).into(),
        descriptor: descriptor.clone(),
        within: Arc::from([]),
    };
    let mut queue: Vec<Offer> = index.manifests().iter().rev().map(first).collect();
    while let Some(offer) = queue.pop() {
        seen += 1;
        if seen > limits.index_descriptors {
            return Err(too_many());
        }
        chosen.cancel.check()?;
        if is_attestation(&offer.descriptor) {
            continue;
        }
        let media_type = offer.descriptor.media_type().to_string();
        let says_manifest =
            media_type.contains("image.manifest") || media_type.contains("distribution.manifest.v");
        let says_index = media_type.contains("image.index") || media_type.contains("manifest.list");
        if says_manifest && !says_index {
            offers.push(offer);
            continue;
        }
        // An index may list manifests that were not copied.
        let Ok((object, bytes, intact)) = store.document(&offer.descriptor) else {
            offers.push(offer);
            continue;
        };
        documents += bytes.len() as u64;
        if documents > limits.documents_bytes {
            let reason = format!("indexes exceed {} bytes", limits.documents_bytes);
            return Err(malformed(store.label(), &reason));
        }
        let Ok(Probe { manifests: Some(_), .. }) = probe(&object, &bytes) else {
            if says_index || media_type.ends_with("+json") || bytes.starts_with(b"{") {
                offers.push(offer);
            }
            continue;
        };
        if !intact {
            let (found, claimed) = (digest::sha256_of(&bytes), offer.descriptor.digest());
            let message = format!("the index has the digest {found}, the descriptor declares {claimed}");
            warnings.push(Warning::new(WarningCode::DigestMismatch, object.clone(), message));
        }
        warnings.extend(size_mismatch(&object, "index", &bytes, offer.descriptor.size()));
        if offer.within.len() >= limits.index_depth || offer.within.contains(offer.descriptor.digest()) {
            let reason = format!("indexes nested more than {} deep, or cyclic", limits.index_depth);
            return Err(malformed(&object, &reason));
        }
        let nested = parse_index(&object, &bytes)?;
        if seen + queue.len() + nested.manifests().len() > limits.index_descriptors {
            return Err(too_many());
        }
        let within: Arc<[Digest]> = offer.within.iter().chain([offer.descriptor.digest()]).cloned().collect();
        queue.extend(nested.manifests().iter().rev().map(|descriptor| Offer {
            descriptor: descriptor.clone(),
            names: Arc::clone(&offer.names),
            within: Arc::clone(&within),
        }));
    }
    Ok(offers)
}

fn image(store: &dyn Documents, offer: &Offer, chosen: &Chosen<'_>) -> Result<Image, SourceError> {
    let (object, bytes, intact) = store.document(&offer.descriptor)?;
    let mut image = Image::empty();
    image.tags = offer.names.to_vec();
    image.platform = descriptor_platform(&offer.descriptor);
    if !intact {
        image.intact = false;
        let message = format!(
            "the manifest has the digest {}, the descriptor declares {}",
            digest::sha256_of(&bytes),
            offer.descriptor.digest()
        );
        image.warnings.push(Warning::new(WarningCode::DigestMismatch, object.clone(), message));
    }
    image.check_size(&object, "manifest", &bytes, offer.descriptor.size());
    fill(store, &mut image, &object, bytes, Some(&offer.descriptor), chosen)?;
    Ok(image)
}

/// Reads manifest and config into the image.
fn fill(
    store: &dyn Documents,
    image: &mut Image,
    object: &str,
    bytes: Vec<u8>,
    descriptor: Option<&Descriptor>,
    chosen: &Chosen<'_>,
) -> Result<(), SourceError> {
    let probe = probe(object, &bytes)?;
    if probe.layers.is_none() {
        return Err(malformed(object, &"not an image manifest: no layers"));
    }
    let manifest: ImageManifest =
        serde_json::from_slice(&bytes).map_err(|error| malformed(object, &json_fault(&error)))?;
    if manifest.layers().len() > chosen.limits.layers {
        let reason = format!("{} layers, limit {}", manifest.layers().len(), chosen.limits.layers);
        return Err(malformed(object, &reason));
    }
    image.media_type = probe
        .media_type
        .or_else(|| descriptor.map(|descriptor| descriptor.media_type().to_string()))
        .or_else(|| Some("application/vnd.oci.image.manifest.v1+json".into()));
    image.manifest_digest = Some(digest::sha256_of(&bytes));
    image.layers = manifest.layers().iter().map(|descriptor| layer(store, descriptor)).collect();
    match store.config(manifest.config()) {
        Ok((config_object, config_bytes)) => {
            let descriptor = manifest.config();
            let claimed = Claim { digest: Some(descriptor.digest()), size: Some(descriptor.size()) };
            config::attach(image, &config_object, config_bytes, claimed);
        }
        Err(SourceError::Cancelled(cancelled)) => return Err(cancelled.into()),
        // A config that could not be fetched may exist: an image without its config would be misleading.
        Err(SourceError::Registry(error)) if error.fault != Fault::NotFound => {
            return Err(SourceError::Registry(error));
        }
        Err(error) => {
            image.intact = false;
            let message = format!("no config: {error}");
            image.warnings.push(Warning::new(WarningCode::ConfigIncomplete, object, message));
        }
    }
    image.manifest = Some(manifest);
    image.manifest_bytes = Arc::from(bytes);
    check_platform(image, store.label(), chosen)
}

fn layer(store: &dyn Documents, descriptor: &Descriptor) -> LayerSource {
    let media_type = descriptor.media_type().to_string();
    let blob = match store.layer(descriptor) {
        Blob::Missing(_) if is_foreign(descriptor) => {
            Blob::Missing("foreign layer, distributed by its owner and not included in the image".into())
        }
        blob => blob,
    };
    LayerSource {
        blob,
        digest: Some(descriptor.digest().clone()),
        diff_id: None,
        media_type: Some(media_type),
        size: Some(descriptor.size()),
        annotations: descriptor
            .annotations()
            .iter()
            .flatten()
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect(),
        created_by: None,
        created: None,
    }
}
