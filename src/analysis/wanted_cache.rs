//! Which single files an inventory asked for, so that a second opening takes it once: with them.
//!
//! The first inventory of a plain archive only finds out which files matter. The answer follows from the layers, the
//! config and the program alone, so it is cached under the identity of all of them. Facts about the files have records of
//! their own.

use serde::{Deserialize, Serialize};

use super::layer_cache::LayerCache;
use super::options::Options;
use super::value::Analysis;
use crate::cuda::{Inode, Wanted};
use crate::layer::EntryId;
use crate::source::Blob;

/// The files by kind, as layer and entry.
#[derive(Deserialize, Serialize)]
struct Record {
    hashes: Vec<(u16, EntryId)>,
    binaries: Vec<(u16, EntryId)>,
    texts: Vec<(u16, EntryId)>,
}

/// Text that is equal only for the same image, read by the same program. `None` if a layer has no reliable identity, or
/// with a catalogue of the user.
pub(super) fn identity(analysis: &Analysis, options: &Options) -> Option<String> {
    if options.catalog.is_some() {
        return None;
    }
    let image = &analysis.image;
    let mut hasher = blake3::Hasher::new();
    // Each part with its length, so that no two lists of parts are the same bytes.
    let mut add = |bytes: &[u8]| {
        hasher.update(&(bytes.len() as u64).to_le_bytes());
        hasher.update(bytes);
    };
    add(env!("CUTAWAY_RULES_FINGERPRINT").as_bytes());
    add(&image.config_bytes);
    add(&image.manifest_bytes);
    add(format!("{:?}", (&image.source, &image.reference, &image.tags, &image.platform)).as_bytes());
    for (layer, source) in analysis.layers.iter().zip(&image.layers) {
        let (Blob::Section(section), None) = (&source.blob, &layer.table) else { return None };
        let read = layer.read.as_ref()?;
        if section.was_written().unwrap_or(true) {
            return None;
        }
        add(LayerCache::place(section)?.as_bytes());
        // A layer of the same bytes may have fewer facts if the budget of the image was exhausted.
        add(&(read.index.len() as u64).to_le_bytes());
        add(&read.facts.kept_bytes().to_le_bytes());
    }
    Some(hasher.finalize().to_hex().to_string())
}

/// The files that the inventory of this image asked for.
pub(super) fn load(layer_cache: &LayerCache<'_>, identity: &str, analysis: &Analysis) -> Option<Wanted> {
    let Record { hashes, binaries, texts } = postcard::from_bytes(&layer_cache.wanted(identity)?).ok()?;
    let exists = |(layer, entry): &Inode| {
        let read = analysis.layers.get(usize::from(*layer)).and_then(|layer| layer.read.as_ref());
        read.is_some_and(|read| (entry.0 as usize) < read.index.len())
    };
    let all = hashes.iter().chain(&binaries).chain(&texts).all(exists);
    all.then_some(Wanted { hashes, binaries, texts })
}

/// Stores them.
pub(super) fn keep(layer_cache: &LayerCache<'_>, identity: &str, wanted: &Wanted) {
    let Wanted { hashes, binaries, texts } = wanted.clone();
    if let Ok(record) = postcard::to_allocvec(&Record { hashes, binaries, texts }) {
        layer_cache.keep_wanted(identity, &record);
    }
}
