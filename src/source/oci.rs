//! OCI image layouts (folder or archive) and skopeo's flat folder: index, manifest, config, blobs.

use std::sync::Arc;

use oci_spec::image::{Descriptor, DigestAlgorithm, ImageIndex, ImageManifest};
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::Chosen;
use super::choose::{Offer, check_platform, choose, descriptor_platform, is_attestation, names};
use super::config;
use super::error::SourceError;
use super::files::Files;
use super::image::{Blob, Image, LayerSource};
use crate::base::redact::json_fault;
use crate::base::{Digest, Warning, WarningCode, digest};

/// How blobs are named.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Naming {
    /// `blobs/sha256/HEX`.
    Layout,
    /// `HEX`, manifests also `HEX.manifest.json`.
    Flat,
}

struct Store<'a> {
    files: &'a Files,
    naming: Naming,
    limit: u64,
}

/// Enough of a document to tell what it is, whatever its media type claims.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Probe {
    schema_version: Option<u64>,
    media_type: Option<String>,
    manifests: Option<IgnoredAny>,
    layers: Option<IgnoredAny>,
    fs_layers: Option<IgnoredAny>,
}

/// Opens a layout.
pub(super) fn open(files: &Files, chosen: &Chosen<'_>) -> Result<Image, SourceError> {
    let store = Store { files, naming: Naming::Layout, limit: chosen.limits.json_bytes };
    if !files.has("index.json") {
        let why = files.fault().map(|fault| format!("; the archive is damaged: {fault}")).unwrap_or_default();
        return Err(SourceError::NotAnImage {
            object: files.label().into(),
            reason: format!("it has no index.json, so it is no OCI image layout{why}"),
            hint: None,
        });
    }
    let bytes = files.read("index.json", chosen.limits.json_bytes)?;
    let object = files.label_of("index.json");
    let index = Store::parse_index(&object, &bytes)?;
    let mut warnings = Vec::new();
    let offers = store.offers(&index, chosen, &mut warnings)?;
    let offer = choose(files, &offers, chosen)?;
    let mut image = store.image(&offer, chosen)?;
    take(&mut image, warnings);
    add_fault(&mut image, files);
    Ok(image)
}

/// Opens skopeo's flat folder.
pub(super) fn open_flat(files: &Files, chosen: &Chosen<'_>) -> Result<Image, SourceError> {
    let store = Store { files, naming: Naming::Flat, limit: chosen.limits.json_bytes };
    if !files.has("manifest.json") {
        return Err(SourceError::NotAnImage {
            object: files.label().into(),
            reason: "it has no manifest.json".into(),
            hint: None,
        });
    }
    let bytes = files.read("manifest.json", chosen.limits.json_bytes)?;
    let object = files.label_of("manifest.json");
    if probe(&object, &bytes)?.manifests.is_none() {
        let mut image = Image::empty();
        store.fill(&mut image, &object, bytes, None, chosen)?;
        return Ok(image);
    }
    let index = Store::parse_index(&object, &bytes)?;
    let mut warnings = Vec::new();
    let offers = store.offers(&index, chosen, &mut warnings)?;
    let offer = choose(files, &offers, chosen)?;
    let mut image = store.image(&offer, chosen)?;
    take(&mut image, warnings);
    Ok(image)
}

/// Warnings of the indexes on the way to the manifest come first; a wrong digest there counts too.
fn take(image: &mut Image, warnings: Vec<Warning>) {
    image.intact &= warnings.is_empty();
    image.warnings.splice(0..0, warnings);
}

pub(super) fn add_fault(image: &mut Image, files: &Files) {
    if let Some(fault) = files.fault() {
        image.intact = false;
        let message = format!("the archive could not be read to its end: {fault}");
        image.warnings.push(Warning::new(WarningCode::ManifestOddity, files.label(), message));
    }
}

fn probe(object: &str, bytes: &[u8]) -> Result<Probe, SourceError> {
    let probe: Probe =
        serde_json::from_slice(bytes).map_err(|error| malformed(object, &json_fault(&error)))?;
    if probe.schema_version == Some(1) || probe.fs_layers.is_some() {
        return Err(SourceError::Unsupported {
            object: object.into(),
            reason: "it is a manifest of Docker schema 1, which has no sizes and was given up in 2017".into(),
            hint: Some(
                "pull and push the image again with a current tool: that makes a schema 2 manifest".into(),
            ),
        });
    }
    Ok(probe)
}

fn malformed(object: &str, error: &dyn std::fmt::Display) -> SourceError {
    SourceError::Malformed { object: object.into(), reason: crate::base::text::printable(&error.to_string()) }
}

impl Store<'_> {
    fn parse_index(object: &str, bytes: &[u8]) -> Result<ImageIndex, SourceError> {
        probe(object, bytes)?;
        serde_json::from_slice(bytes).map_err(|error| malformed(object, &json_fault(&error)))
    }

    fn name(&self, digest: &Digest) -> Result<String, SourceError> {
        // Only algorithms whose digests are plain hexadecimal: a name is made of them.
        match digest.algorithm() {
            DigestAlgorithm::Sha256 | DigestAlgorithm::Sha384 | DigestAlgorithm::Sha512 => {
                Ok(match self.naming {
                    Naming::Layout => format!("blobs/{}/{}", digest.algorithm(), digest.digest()),
                    Naming::Flat => digest.digest().to_owned(),
                })
            }
            algorithm => Err(SourceError::Unsupported {
                object: digest.to_string(),
                reason: format!("digests of the algorithm {algorithm} are not supported"),
                hint: None,
            }),
        }
    }

    /// A document by its descriptor, with whether it is what its digest says.
    fn document(&self, descriptor: &Descriptor) -> Result<(String, Vec<u8>, bool), SourceError> {
        let mut name = self.name(descriptor.digest())?;
        if self.naming == Naming::Flat && self.files.has(&format!("{name}.manifest.json")) {
            name.push_str(".manifest.json");
        }
        let bytes = self.files.read(&name, self.limit)?;
        let intact = digest::matches(descriptor.digest(), &bytes) != Some(false);
        Ok((self.files.label_of(&name), bytes, intact))
    }

    /// All image manifests that an index offers, nested indexes included, attestations left out.
    fn offers(
        &self,
        index: &ImageIndex,
        chosen: &Chosen<'_>,
        warnings: &mut Vec<Warning>,
    ) -> Result<Vec<Offer>, SourceError> {
        let limits = chosen.limits;
        let mut offers = Vec::new();
        let (mut seen, mut documents) = (0, 0);
        let too_many = || {
            malformed(
                self.files.label(),
                &format!("it names more than {} manifests", limits.index_descriptors),
            )
        };
        let first = |descriptor: &Descriptor| Offer {
            names: names(descriptor).into(),
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
            // Not here: an index may name what was not copied along.
            let Ok((object, bytes, intact)) = self.document(&offer.descriptor) else {
                offers.push(offer);
                continue;
            };
            documents += bytes.len() as u64;
            if documents > limits.documents_bytes {
                let reason = format!("its indexes have more than {} bytes", limits.documents_bytes);
                return Err(malformed(self.files.label(), &reason));
            }
            let Ok(Probe { manifests: Some(_), .. }) = probe(&object, &bytes) else {
                if says_index || media_type.ends_with("+json") || bytes.starts_with(b"{") {
                    offers.push(offer);
                }
                continue;
            };
            if !intact {
                let message = format!("its digest is not {} as claimed", offer.descriptor.digest());
                warnings.push(Warning::new(WarningCode::DigestMismatch, object.clone(), message));
            }
            if offer.within.len() >= limits.index_depth || offer.within.contains(offer.descriptor.digest()) {
                let reason =
                    format!("indexes are nested more than {} deep, or in a circle", limits.index_depth);
                return Err(malformed(&object, &reason));
            }
            let nested = Self::parse_index(&object, &bytes)?;
            if seen + queue.len() + nested.manifests().len() > limits.index_descriptors {
                return Err(too_many());
            }
            let within: Arc<[Digest]> =
                offer.within.iter().chain([offer.descriptor.digest()]).cloned().collect();
            queue.extend(nested.manifests().iter().rev().map(|descriptor| Offer {
                descriptor: descriptor.clone(),
                names: Arc::clone(&offer.names),
                within: Arc::clone(&within),
            }));
        }
        Ok(offers)
    }

    fn image(&self, offer: &Offer, chosen: &Chosen<'_>) -> Result<Image, SourceError> {
        let (object, bytes, intact) = self.document(&offer.descriptor)?;
        let mut image = Image::empty();
        image.tags = offer.names.to_vec();
        image.platform = descriptor_platform(&offer.descriptor);
        if !intact {
            image.intact = false;
            let message = format!(
                "the manifest's digest is {}, not {} as claimed",
                digest::sha256_of(&bytes),
                offer.descriptor.digest()
            );
            image.warnings.push(Warning::new(WarningCode::DigestMismatch, object.clone(), message));
        }
        self.fill(&mut image, &object, bytes, Some(&offer.descriptor), chosen)?;
        Ok(image)
    }

    /// Reads manifest and config into the image.
    fn fill(
        &self,
        image: &mut Image,
        object: &str,
        bytes: Vec<u8>,
        descriptor: Option<&Descriptor>,
        chosen: &Chosen<'_>,
    ) -> Result<(), SourceError> {
        let probe = probe(object, &bytes)?;
        if probe.layers.is_none() {
            return Err(malformed(object, &"it is no image manifest: it has no layers"));
        }
        let manifest: ImageManifest =
            serde_json::from_slice(&bytes).map_err(|error| malformed(object, &json_fault(&error)))?;
        if manifest.layers().len() > chosen.limits.layers {
            let reason =
                format!("it names {} layers, more than {}", manifest.layers().len(), chosen.limits.layers);
            return Err(malformed(object, &reason));
        }
        image.media_type = probe
            .media_type
            .or_else(|| descriptor.map(|descriptor| descriptor.media_type().to_string()))
            .or_else(|| Some("application/vnd.oci.image.manifest.v1+json".into()));
        image.manifest_digest = Some(digest::sha256_of(&bytes));
        image.layers = manifest.layers().iter().map(|layer| self.layer(layer)).collect();
        match self.document(manifest.config()) {
            Ok((config_object, config_bytes, _)) => {
                config::attach(image, &config_object, config_bytes, Some(manifest.config().digest()));
            }
            Err(error) => {
                let message = format!("there is no config to read: {error}");
                image.warnings.push(Warning::new(WarningCode::ConfigIncomplete, object, message));
            }
        }
        image.manifest = Some(manifest);
        image.manifest_bytes = Arc::from(bytes);
        check_platform(image, self.files.label(), chosen)
    }

    fn layer(&self, descriptor: &Descriptor) -> LayerSource {
        let media_type = descriptor.media_type().to_string();
        let blob = match self.name(descriptor.digest()) {
            Ok(name) => self.files.blob(&name),
            Err(error) => Blob::Missing(error.to_string()),
        };
        let foreign = media_type.contains("foreign") || media_type.contains("nondistributable");
        let blob = match blob {
            Blob::Missing(_) if foreign => Blob::Missing(
                "it is a foreign layer, which its owner hands out and which is not in the image".into(),
            ),
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
        }
    }
}
