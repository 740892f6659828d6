//! What single layers are called, what is declared about them, and why one is not read.

use std::sync::Arc;

use super::options::Options;
use super::value::Layer;
use crate::base::digest::short;
use crate::base::{Section, Warning, WarningCode};
use crate::layer::{Expected, LayerRead};
use crate::source::{Blob, LayerSource};

pub(super) fn length(layer: &LayerSource) -> u64 {
    match &layer.blob {
        Blob::Section(section) => section.len(),
        Blob::Remote(blob) => blob.size(),
        Blob::Streamed(_) | Blob::Folder(_) | Blob::Missing(_) => 0,
    }
}

pub(super) fn subject(place: usize, layer: &LayerSource) -> String {
    match layer.digest.as_ref().or(layer.diff_id.as_ref()) {
        Some(digest) => format!("layer {place} ({}:{})", digest.algorithm(), short(digest.as_ref())),
        None => format!("layer {place}"),
    }
}

/// Warns if the file changed since it was opened: contents may be inconsistent. A matching digest disproves that.
pub(super) fn note_write(section: &Section, expected: &Expected, read: &mut LayerRead, subject: &str) {
    let proven =
        expected.digest.as_ref().is_some_and(|digest| read.digest.as_deref() == Some(digest.as_ref()));
    if proven || read.warnings.iter().any(|warning| warning.code == WarningCode::SourceChanged) {
        return;
    }
    let message = match section.was_written() {
        Ok(false) => return,
        Ok(true) => "the file changed while it was read: contents may be inconsistent".to_owned(),
        Err(error) => format!("cannot check whether the file changed while it was read: {error}"),
    };
    read.complete = false;
    read.warnings.push(Warning::new(WarningCode::SourceChanged, subject, message));
}

/// A copy of a layer that was read, checked against the declared properties of `source`.
pub(super) fn judged(layer: &Layer, source: &LayerSource, subject: &str) -> Layer {
    let mut judged = layer.clone();
    if let Some(read) = &mut judged.read {
        Arc::make_mut(read).check(&expected(source, false), subject);
    }
    judged
}

pub(super) fn expected(source: &LayerSource, verify: bool) -> Expected {
    Expected {
        digest: source.digest.clone(),
        diff_id: source.diff_id.clone(),
        size: source.size,
        media_type: source.media_type.clone(),
        verify,
    }
}

/// A layer that is not read, because the layers read before exceed the entry limit of an image.
pub(super) fn too_many(subject: &str, options: &Options) -> Layer {
    let message = format!("not read: the image has more than {} entries", options.limits.image_entries);
    let fault = Some(Warning::new(WarningCode::LayerMalformed, subject, message));
    Layer { fault, ..Layer::default() }
}

pub(super) fn missing(subject: &str, reason: &str) -> Layer {
    let fault = Warning::new(WarningCode::LayerMissing, subject, reason);
    Layer { fault: Some(fault), ..Layer::default() }
}
