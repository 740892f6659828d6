//! Manifest and config of the written image: those of the source, with what changed.
//!
//! The original JSON stays as it is, member by member; only diff ids, history, the config and the layers of the
//! manifest, and its annotations are set. Nothing of this machine enters: no time, no name.

use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::SlimError;
use super::json::Object;
use super::selection::{Action, Selection};
use super::store::Documents;
use crate::base::digest::sha256_of;
use crate::base::text::counted;
use crate::base::{Digest, Platform};
use crate::formats::compression::Compression;
use crate::formats::contents::TOC_ANNOTATIONS;
use crate::source::Image;

const OCI_MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
const OCI_CONFIG: &str = "application/vnd.oci.image.config.v1+json";
const OCI_LAYER: &str = "application/vnd.oci.image.layer.v1.tar";
pub(super) const DOCKER_MANIFEST: &str = "application/vnd.docker.distribution.manifest.v2+json";
const DOCKER_CONFIG: &str = "application/vnd.docker.container.image.v1+json";
const DOCKER_LAYER: &str = "application/vnd.docker.image.rootfs.diff.tar";

/// Annotations of the manifest.
const SOURCE: &str = "dev.cutaway.source.digest";
const VERSION: &str = "dev.cutaway.version";
const PLAN: &str = "dev.cutaway.plan";
/// Ids of findings named in documents; the rest is counted.
const NAMED: usize = 40;

/// A layer of the result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenLayer {
    /// Digest of its blob.
    pub digest: Digest,
    /// Digest of its tar stream.
    pub diff_id: Digest,
    /// Bytes of its blob.
    pub compressed_bytes: u64,
    pub(super) compression: Compression,
}

/// Makes the documents. `layers` are those of the result, in order. `of_oci`: whatever the types of the source.
pub(super) fn documents(
    image: &Image,
    selection: &Selection,
    layers: &[WrittenLayer],
    platform: Option<&Platform>,
    of_oci: bool,
) -> Result<Documents, SlimError> {
    let config = config(image, selection, layers, platform);
    let config_digest = digest(&config)?;
    let is_zstd = layers.iter().any(|layer| layer.compression == Compression::Zstd);
    let was_docker = image.media_type.as_deref() == Some(DOCKER_MANIFEST);
    // Docker's manifests have no zstd.
    let docker = was_docker && !is_zstd && !of_oci;
    let mut manifest = match &image.manifest {
        Some(_) => Object::parse(&image.manifest_bytes),
        None => Object::default(),
    };
    let media_type = if docker { DOCKER_MANIFEST } else { OCI_MANIFEST };
    manifest.set_default("schemaVersion", &json!(2));
    if manifest.get("mediaType").is_some() || image.manifest.is_none() || docker != was_docker {
        manifest.set("mediaType", &media_type);
    }
    let mut descriptor: Object = manifest.read("config").unwrap_or_default();
    if descriptor.is_empty() || docker != was_docker {
        descriptor.set("mediaType", &if docker { DOCKER_CONFIG } else { OCI_CONFIG });
    }
    descriptor.set("digest", &config_digest.as_ref());
    descriptor.set("size", &config.len());
    // Some writers put the config itself into its descriptor.
    descriptor.remove("data");
    manifest.set("config", &descriptor);
    let known: Vec<Object> = manifest.read("layers").unwrap_or_default();
    let described: Vec<Object> = selection
        .written()
        .zip(layers)
        .map(|(output, layer)| {
            let mut known = known.get(output.layers.start).cloned().unwrap_or_default();
            let is_same = output.is_kept() && !known.is_empty();
            if !is_same || docker != was_docker {
                known.set("mediaType", &layer_type(docker, layer.compression));
            }
            if !is_same {
                known.set("digest", &layer.digest.as_ref());
                known.set("size", &layer.compressed_bytes);
                known.remove("urls");
                known.remove("data");
                if let Some(mut notes) = known.read::<Object>("annotations") {
                    notes.retain(|key| !TOC_ANNOTATIONS.iter().any(|start| key.starts_with(start)));
                    if notes.is_empty() {
                        known.remove("annotations");
                    } else {
                        known.set("annotations", &notes);
                    }
                }
            }
            known
        })
        .collect();
    manifest.set("layers", &described);
    if !docker {
        let mut notes: Object = manifest.read("annotations").unwrap_or_default();
        if let Some(digest) = &image.manifest_digest {
            notes.set(SOURCE, digest);
        }
        notes.set(VERSION, &env!("CARGO_PKG_VERSION"));
        if !selection.findings.is_empty() {
            notes.set(PLAN, &listed(selection, ","));
        }
        if let Some(pruned) = &selection.pruned {
            pruned.describe(&mut notes);
        }
        manifest.set("annotations", &notes);
    }
    let manifest = manifest.to_bytes();
    Ok(Documents {
        manifest_digest: digest(&manifest)?,
        manifest,
        media_type: media_type.to_owned(),
        config,
        config_digest,
        layers: layers.iter().map(|layer| (layer.digest.clone(), layer.compressed_bytes)).collect(),
        platforms: None,
    })
}

fn digest(bytes: &[u8]) -> Result<Digest, SlimError> {
    sha256_of(bytes).parse().map_err(|_| SlimError::refused("the image", "a digest cannot be written"))
}

fn layer_type(docker: bool, compression: Compression) -> String {
    match (docker, compression) {
        (true, Compression::None) => DOCKER_LAYER.to_owned(),
        (true, Compression::Gzip) => format!("{DOCKER_LAYER}.gzip"),
        (true, Compression::Zstd) => format!("{DOCKER_LAYER}.zstd"),
        (false, Compression::None) => OCI_LAYER.to_owned(),
        (false, Compression::Gzip) => format!("{OCI_LAYER}+gzip"),
        (false, Compression::Zstd) => format!("{OCI_LAYER}+zstd"),
    }
}

fn listed(selection: &Selection, between: &str) -> String {
    let ids = &selection.findings;
    let first = ids[..ids.len().min(NAMED)].join(between);
    match ids.len().checked_sub(NAMED).filter(|more| *more > 0) {
        Some(more) => format!("{first}{between}and {more} more"),
        None => first,
    }
}

fn config(
    image: &Image,
    selection: &Selection,
    layers: &[WrittenLayer],
    platform: Option<&Platform>,
) -> Vec<u8> {
    let mut config = Object::parse(&image.config_bytes);
    // As it is, if it describes the result: the digest of the config stays too.
    let diff_ids: Vec<&str> = layers.iter().map(|layer| layer.diff_id.as_ref()).collect();
    let mut rootfs: Object = config.read("rootfs").unwrap_or_default();
    if selection.is_unchanged()
        && rootfs.read::<Vec<String>>("diff_ids").is_some_and(|known| known == diff_ids)
    {
        return image.config_bytes.to_vec();
    }
    let host = Platform::host();
    let platform = image.platform.as_ref().or(platform).unwrap_or(&host);
    config.set_default("architecture", &json!(platform.architecture));
    config.set_default("os", &json!(platform.os));
    rootfs.set_default("type", &json!("layers"));
    rootfs.set("diff_ids", &diff_ids);
    config.set("rootfs", &rootfs);
    if let Some(pruned) = &selection.pruned {
        let mut run: Object = config.read("config").unwrap_or_default();
        pruned.require(&mut run);
        config.set("config", &run);
    }
    if !selection.is_unchanged() {
        let mut history: Vec<Box<RawValue>> = config.read("history").unwrap_or_default();
        mark_dropped(&mut history, selection);
        let mut entry = Object::default();
        if let Some(created) = config.read::<Value>("created") {
            entry.set("created", &created);
        }
        entry.set("created_by", &"cutaway slim");
        entry.set("comment", &comment(selection));
        entry.set("empty_layer", &true);
        history.extend(serde_json::value::to_raw_value(&entry).ok());
        config.set("history", &history);
    }
    config.to_bytes()
}

/// Marks the history entries of layers that are no longer there. An entry without a layer has `empty_layer`.
fn mark_dropped(history: &mut [Box<RawValue>], selection: &Selection) {
    let parse = |entry: &RawValue| serde_json::from_str::<Object>(entry.get()).unwrap_or_default();
    let makes = |entry: &Object| !entry.read::<bool>("empty_layer").unwrap_or_default();
    let made = history.iter().filter(|entry| makes(&parse(entry))).count();
    if made != selection.layers.len() {
        return;
    }
    // Of merged layers, the last one's entry stands for all.
    let lasts: Vec<usize> = selection.written().map(|output| output.layers.end - 1).collect();
    let mut layer = 0;
    for entry in history {
        let mut object = parse(entry);
        if !makes(&object) {
            continue;
        }
        if !lasts.contains(&layer) {
            object.set("empty_layer", &true);
            if let Ok(text) = serde_json::value::to_raw_value(&object) {
                *entry = text;
            }
        }
        layer += 1;
    }
}

fn comment(selection: &Selection) -> String {
    let changed = || selection.layers.iter().filter(|layer| layer.action != Action::Kept);
    let files: u64 = changed().map(|layer| layer.removed_files).sum();
    let bytes: u64 = changed().map(|layer| layer.removed_bytes).sum();
    let version = env!("CARGO_PKG_VERSION");
    let mut text = format!("Cutaway {version} removed {files} files, {bytes} bytes");
    if !selection.findings.is_empty() {
        text.push_str(": ");
        text.push_str(&listed(selection, ", "));
    }
    if !selection.forgotten.is_empty() {
        let packages = counted(selection.forgotten.len(), "package");
        text.extend(["; took ", &packages, " without files out of the package database"]);
    }
    if let Some(pruned) = &selection.pruned {
        let (files, targets) = (counted(pruned.files.len(), "file"), pruned.capabilities());
        let bytes: u64 = changed().map(|layer| layer.pruned_bytes).sum();
        text = format!("{text}; {bytes} bytes of GPU code that {targets} cannot run from {files}");
    }
    text
}
