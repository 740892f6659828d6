//! Reads a layer of the image or loads it from the cache.

use std::io::Read;
use std::sync::Arc;

use super::blob_cache::read_and_keep;
use super::layer_cache::LayerCache;
use super::options::{AnalysisError, Depth, Options};
use super::outcome::{expected, length, missing, note_write};
use super::streamed::StreamedLayer;
use super::tables::{Listed, left_out, note_refused, read_tree};
use super::value::Layer;
use crate::base::size::human;
use crate::base::{Section, Warning, WarningCode};
use crate::cache::Blobs;
use crate::jobs::Cancelled;
use crate::layer::{Context, Expected, LayerRead, read_download, read_folder, read_layer};
use crate::source::registry::RemoteBlob;
use crate::source::table::Table;
use crate::source::{Blob, LayerSource};

/// Reads a layer to the depth of `options`; the flag is `true` if it was loaded from the cache.
pub(super) fn read_one(
    source: &LayerSource,
    context: &Context,
    options: &Options,
    streamed: &[StreamedLayer],
    layer_cache: Option<&LayerCache<'_>>,
) -> Result<(Layer, bool), AnalysisError> {
    let (expected, blobs) = (expected(source, options.verify), options.access.blobs.as_ref());
    let subject = context.subject.as_str();
    let was_read = match options.depth {
        Depth::Manifest => false,
        Depth::Toc => was_read(source, layer_cache),
        Depth::Full => Table::is_named(&source.annotations) && was_read(source, layer_cache),
    };
    let mut refused = None;
    if by_table(source, options) && !was_read {
        match read_tree(source, context, options.depth, layer_cache)? {
            Listed::Tree(layer) => {
                let was_known = layer.looked;
                return Ok((*layer, was_known));
            }
            Listed::Refused(why) => refused = Some(why),
            Listed::None => {}
        }
    }
    if let Some(why) = left_out(options.depth, refused.as_ref()).filter(|_| !was_read) {
        context.progress.add_passed(length(source));
        let fault = Some(Warning::new(WarningCode::NotRead, subject, why));
        return Ok((Layer { fault, ..Layer::default() }, false));
    }
    let (read, was_known) = match &source.blob {
        Blob::Section(section) => read_section(section, &expected, context, layer_cache)?,
        Blob::Remote(blob) if blob.size() > context.limits.inflated_bytes => {
            let reason =
                format!("not fetched: the manifest declares {}, above the limit", human(blob.size()));
            return Ok((missing(subject, &reason), false));
        }
        Blob::Remote(blob) => {
            let (read, was_known) = read_remote(blob, blobs, &expected, context, layer_cache)?;
            if read.compression.is_none() && read.digest.is_none() {
                // Nothing was received: its contents are unknown, not empty.
                let fault = read.warnings.into_iter().next();
                let fault = fault.map(|fault| Warning { code: WarningCode::LayerMissing, ..fault });
                return Ok((Layer { fault, ..Layer::default() }, false));
            }
            (read, was_known)
        }
        Blob::Folder(path) => {
            let read = read_folder(path, context).map_err(|source| AnalysisError::Folder {
                path: crate::base::text::printable(&path.display().to_string()),
                source,
            })?;
            (read, false)
        }
        Blob::Streamed(id) => {
            // Several layers may refer to one archive member.
            let Some(layer) = streamed.get(*id) else {
                return Ok((missing(subject, "not found in the archive stream"), false));
            };
            let read = layer.named(subject);
            if layer.was_known {
                context.progress.add_entries(read.index.len() as u64);
            }
            (read, layer.was_known)
        }
        Blob::Missing(reason) => return Ok((missing(subject, reason), false)),
    };
    let mut read = read;
    if let Some(refused) = refused {
        note_refused(&refused, &mut read, context);
    }
    Ok((Layer { read: Some(Arc::new(read)), ..Layer::default() }, was_known))
}

/// Whether a layer is read by its table of contents, if it has one. With depth `Full`, local layers, layers
/// to verify and layers to store in the blob cache are read completely instead.
fn by_table(source: &LayerSource, options: &Options) -> bool {
    let is_remote = matches!(source.blob, Blob::Remote(_));
    match options.depth {
        Depth::Manifest => false,
        Depth::Toc => true,
        Depth::Full => is_remote && !options.verify && options.access.blobs.is_none(),
    }
}

/// Whether a complete read of a registry layer is cached, which has more facts than its table of contents.
fn was_read(source: &LayerSource, layer_cache: Option<&LayerCache<'_>>) -> bool {
    let Blob::Remote(blob) = &source.blob else { return false };
    layer_cache.is_some_and(|layer_cache| layer_cache.has_blob(blob.digest().as_ref()))
}

/// A seekable layer: loaded from the cache, or read and stored.
fn read_section(
    section: &Section,
    expected: &Expected,
    context: &Context,
    layer_cache: Option<&LayerCache<'_>>,
) -> Result<(LayerRead, bool), Cancelled> {
    if let Some(layer_cache) = layer_cache
        && let Some(read) = layer_cache.section(section, expected, context)?
    {
        return Ok((read, true));
    }
    let mut read = read_layer(section, expected, context)?;
    note_write(section, expected, &mut read, &context.subject);
    if let Some(layer_cache) = layer_cache {
        layer_cache.keep_section(section, expected, &read, context);
    }
    Ok((read, false))
}

/// A registry layer: loaded from the cache, or fetched and stored. The declared digest is the key: a record
/// with this key exists only if the bytes were hashed to it.
fn read_remote(
    blob: &RemoteBlob,
    blobs: Option<&Blobs>,
    expected: &Expected,
    context: &Context,
    layer_cache: Option<&LayerCache<'_>>,
) -> Result<(LayerRead, bool), Cancelled> {
    if let Some(layer_cache) = layer_cache
        && let Some(read) = layer_cache.blob(blob.digest().as_ref(), context)
    {
        context.progress.add_passed(blob.size());
        context.progress.add_entries(read.index.len() as u64);
        return Ok((read, true));
    }
    let read = if let Some(blobs) = blobs {
        read_and_keep(blob, blobs, expected, context)?
    } else {
        let open = || -> Box<dyn Read + Send> { Box::new(blob.stream(&context.cancel, &context.progress)) };
        read_download(&open, blob.size(), expected, context)?
    };
    if let Some(layer_cache) = layer_cache {
        layer_cache.keep_blob_of(&read, context);
    }
    Ok((read, false))
}
