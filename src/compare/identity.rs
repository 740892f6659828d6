//! Identifies the layers of several images.

use std::collections::HashMap;
use std::sync::Arc;

use crate::analysis::{Analysis, Layer};
use crate::base::Digest;
use crate::formats::compression::Compression;
use crate::layer::LayerRead;
use crate::source::LayerSource;

/// Known facts of an image's layer.
pub(super) struct Identity {
    /// Digest of the blob: of the bytes that are here where they were hashed, else as claimed.
    pub(super) digest: Option<String>,
    /// Digest of the tar stream, likewise.
    pub(super) diff_id: Option<String>,
    /// Layers with the same number have the same entries in the same order.
    pub(super) stream: u32,
}

/// The layers of each image.
pub(super) fn of(images: &[Arc<Analysis>]) -> Vec<Vec<Identity>> {
    let mut streams = Streams::default();
    let layers = |image: &Arc<Analysis>| {
        let sources = image.image.layers.iter().zip(&image.layers);
        sources.map(|(source, layer)| identity(source, layer, &mut streams)).collect()
    };
    images.iter().map(layers).collect()
}

fn identity(source: &LayerSource, layer: &Layer, streams: &mut Streams) -> Identity {
    let read = layer.read.as_deref();
    let found = read.and_then(|read| read.digest.as_ref());
    let (mut digest, disproved) = settle(source.digest.as_ref(), found);
    // A claim about one blob says nothing about another.
    let claimed = source.diff_id.as_ref().filter(|_| !disproved);
    let (mut diff_id, _) = settle(claimed, read.and_then(|read| read.diff_id.as_ref()));
    if read.is_some_and(|read| read.compression == Some(Compression::None)) {
        // The blob is the tar stream.
        diff_id = diff_id.or_else(|| digest.clone());
        digest = digest.or_else(|| diff_id.clone());
    }
    let stream = streams.number(digest.as_ref(), diff_id.as_ref(), read);
    Identity { digest, diff_id, stream }
}

/// The effective digest: that of the bytes if it can be compared with the claim, else the claim; and whether the bytes
/// disprove the claim.
fn settle(claimed: Option<&Digest>, found: Option<&String>) -> (Option<String>, bool) {
    match (claimed, found) {
        (Some(claimed), Some(found)) => {
            let algorithm = found.split_once(':').map_or("", |(algorithm, _)| algorithm);
            let disproved = algorithm == claimed.algorithm().as_ref() && claimed.as_ref() != found;
            (Some(if disproved { found.clone() } else { claimed.to_string() }), disproved)
        }
        (claimed, found) => (claimed.map(ToString::to_string).or_else(|| found.cloned()), false),
    }
}

/// Numbers of tar streams. An undisproved claim counts, if the parts that were read agree.
#[derive(Default)]
struct Streams {
    count: u32,
    known: HashMap<String, (u32, Looks)>,
    /// By the place of an index in memory: the same reading is the same layer, whatever it is called.
    readings: HashMap<usize, u32>,
}

/// How many entries, bytes of files, and bytes of the stream if its end was reached.
type Looks = (usize, u64, Option<u64>);

impl Streams {
    fn number(&mut self, digest: Option<&String>, diff_id: Option<&String>, read: Option<&LayerRead>) -> u32 {
        let Some(read) = read else { return self.next() };
        let index = &read.index;
        let looks = (index.len(), index.counts().content_bytes, read.uncompressed_bytes);
        let names = || diff_id.into_iter().chain(digest);
        let alike = names().find_map(|name| {
            self.known.get(name).filter(|(_, known)| *known == looks).map(|(number, _)| *number)
        });
        let reading = Arc::as_ptr(index) as usize;
        let number = self.readings.get(&reading).copied().or(alike).unwrap_or_else(|| self.next());
        self.readings.insert(reading, number);
        for name in names() {
            self.known.entry(name.clone()).or_insert((number, looks));
        }
        number
    }

    fn next(&mut self) -> u32 {
        self.count += 1;
        self.count - 1
    }
}
