//! Reads the stream of `docker save`, or uses the cached listing of an earlier one.

use super::super::archive::{kept, streamed};
use super::super::context::Select;
use super::super::context::{OpenContext, SourceKey};
use super::super::error::SourceError;
use super::super::files::Files;
use super::super::image::{Blob, Image};
use super::super::{docker, runtime};
use super::client::{Client, EngineImage, Failure};
use super::name::Name;
use super::places::Endpoint;
use super::stream::{Reader, StreamTimeouts};
use crate::base::digest::{self, Digest};

/// Opens an image reported by an engine. The inner error is why this engine does not provide it.
pub(super) fn open(
    place: &Endpoint,
    client: &Client,
    held: &EngineImage,
    name: &Name,
    context: &mut OpenContext<'_>,
) -> Result<Result<Image, Failure>, SourceError> {
    let label = format!("{name} of {}", place.way);
    // The facts of one engine do not apply to another.
    let key = SourceKey::Engine(format!("{} at {:?}", held.id, place.host));
    let total = held.bytes.unwrap_or(0);
    if let Some(image) = recalled(&label, &key, held, name, context) {
        context.progress.set_totals(total, 0);
        context.progress.add_passed(total);
        return Ok(Ok(named(image, held)));
    }
    context.progress.set_totals(total, 0);
    let stream = client.save(&name.to_save(held));
    let runtime = runtime::runtime().map_err(|error| SourceError::open("the network", error))?;
    let reader = Reader::start(stream, runtime, StreamTimeouts::default(), context.cancel, context.progress)?;
    let reader = match reader {
        Ok(reader) => reader,
        Err(failure) => return Ok(Err(failure)),
    };
    let (members, fault) = streamed::members(&label, reader, context)?;
    let whole = fault.is_none();
    let bytes = whole.then(|| kept::to_bytes(&members)).flatten();
    let files = Files::archive(label, members, fault);
    let image = match read(&files, held, name, context) {
        Err(SourceError::NotAnImage { .. }) if !whole => {
            let fault = files.fault().unwrap_or_default();
            return Ok(Err(Failure::Other(format!("no data that identifies the layers: {fault}"))));
        }
        image => image?,
    };
    if let Some(bytes) = bytes.filter(|_| is_held(&image, &files, held, context)) {
        context.sink.keep(&key, &bytes);
    }
    Ok(Ok(named(image, held)))
}

/// The image from the cached listing; `None` if it must be streamed.
fn recalled(
    label: &str,
    key: &SourceKey,
    held: &EngineImage,
    name: &Name,
    context: &mut OpenContext<'_>,
) -> Option<Image> {
    let members = kept::recall(key, context)?;
    let files = Files::archive(label.to_owned(), members, None);
    let image = read(&files, held, name, context).ok()?;
    let there = image.layers.iter().all(|layer| matches!(layer.blob, Blob::Streamed(_)));
    (there && fits(&image, held, context)).then_some(image)
}

/// The image of the streamed members, as in a `docker save` archive.
fn read(
    files: &Files,
    held: &EngineImage,
    name: &Name,
    context: &OpenContext<'_>,
) -> Result<Image, SourceError> {
    let by_name = match held.id.parse() {
        Ok(id) if name.is_id_of(held) => Select::Digest(id),
        _ => Select::Name(name.to_save(held)),
    };
    match docker::open_either(files, &context.chosen(&Select::Only)) {
        Err(SourceError::SeveralImages { .. }) => docker::open_either(files, &context.chosen(&by_name)),
        opened => opened,
    }
}

/// Uses the engine's current names: a stream has only the requested ones, and a cached one may be outdated.
fn named(mut image: Image, held: &EngineImage) -> Image {
    image.source.clear();
    image.tags.clone_from(&held.tags);
    image
}

/// Whether the stream contains the image with the engine's id: its config has the id as its digest, or, in containerd's
/// store, its manifest or the index that lists the manifest.
fn is_held(image: &Image, files: &Files, held: &EngineImage, context: &OpenContext<'_>) -> bool {
    let Some(config) = &image.config_digest else { return false };
    image.intact
        && fits(image, held, context)
        && (*config == held.id || names(files, &held.id, config, context, 2))
}

/// Whether the document with digest `id` exists and leads to the config: a manifest, or an index of it.
fn names(files: &Files, id: &str, config: &str, context: &OpenContext<'_>, depth: u8) -> bool {
    #[derive(serde::Deserialize)]
    struct Target {
        digest: String,
    }
    #[derive(serde::Deserialize)]
    struct Document {
        config: Option<Target>,
        #[serde(default)]
        manifests: Vec<Target>,
    }
    let Ok(digest) = id.parse::<Digest>() else { return false };
    let blob = format!("blobs/{}/{}", digest.algorithm(), digest.digest());
    let Ok(bytes) = files.read(&blob, context.limits.json_bytes) else { return false };
    if digest::matches(&digest, &bytes) != Some(true) {
        return false;
    }
    let Ok(document) = serde_json::from_slice::<Document>(&bytes) else { return false };
    document.config.is_some_and(|target| target.digest == config)
        || depth > 0
            && document
                .manifests
                .iter()
                .take(context.limits.layers)
                .any(|target| names(files, &target.digest, config, context, depth - 1))
}

/// Whether the config matches the engine's layers. With a selected platform it may differ.
fn fits(image: &Image, held: &EngineImage, context: &OpenContext<'_>) -> bool {
    let Some(config) = &image.config else { return false };
    context.platform.is_some() || held.diff_ids.is_empty() || *config.rootfs().diff_ids() == held.diff_ids
}
