//! Writes the layers of a selection, the documents, and publishes the image once it is verified.
//!
//! Outputs are written in parallel, each in one pass: a thread reads and hashes the blob, another decompresses it,
//! leaves out members and hashes the new stream, and a pool compresses blocks. Layers of a compressed archive or an
//! engine have no bytes of their own: the source is opened again, and its members are taken as they pass.

mod streamed;

use std::io::{self, Write};
use std::sync::{Mutex, PoisonError};

use hashbrown::HashMap;

use super::blob::{Reading, digest_of, fault};
use super::compare::Inode;
use super::documents::{WrittenLayer, documents};
use super::encode::{Digested, Encoded, Encoder, Pool};
use super::layer::{END, Fault, rewrite};
use super::selection::{Output, Selection, Sizes, named};
use super::store::{BlobSink, KeptBlob, Published, Store};
use super::verify::{Verified, verify};
use super::{Destination, SlimError, SlimOptions, folder, platforms};
use crate::analysis::{Analysis, Options};
use crate::base::text::escape;
use crate::base::{Digest, Hasher};
use crate::formats::compression::Compression;
use crate::jobs::{CancelToken, Progress, catch_panic, run_all, workers};
use crate::layer::{ContentHash, EntryId, LayerRead};
use crate::source::{Blob, LayerSource};

/// Layers that are written at a time: each one keeps some megabytes of buffers.
const STREAMS: usize = 4;

/// What was written.
#[derive(Clone, Debug)]
pub struct Written {
    /// Where the image is.
    pub published: Published,
    /// Digest of its manifest.
    pub manifest_digest: Digest,
    /// Digest of its config.
    pub config_digest: Digest,
    /// Digest of the index of all platforms; `None` if only one is written.
    pub index_digest: Option<Digest>,
    /// By layer of the source: what it became. Merged layers share one; `None` for dropped ones.
    pub layers: Vec<Option<WrittenLayer>>,
    /// Sizes of the source.
    pub before: Sizes,
    /// Sizes of the image.
    pub after: Sizes,
    /// What was proven by opening it again.
    pub verified: Verified,
    /// What the user should know.
    pub warnings: Vec<String>,
}

/// Writes the image of a selection to `destination`, opens it again, compares it, and publishes it. `opened` are the
/// options of the analysis. A file whose new content cannot be proven is left as it was, and `selection` says so.
///
/// # Errors
/// The source changed, the destination fails, the result is not the predicted one, or cancelled. The destination then
/// shows nothing.
pub fn write(
    analysis: &Analysis,
    selection: &mut Selection,
    options: &SlimOptions,
    destination: &Destination,
    opened: &Options,
    progress: &Progress,
    cancel: &CancelToken,
) -> Result<Written, SlimError> {
    loop {
        let store = destination.open(&opened.access, &analysis.image, cancel)?;
        let mut unproven = Vec::new();
        let written = write_to(analysis, selection, options, store, opened, &mut unproven, progress, cancel);
        if written.is_ok() || unproven.is_empty() {
            return written;
        }
        for (inode, what) in unproven {
            let path = selection.leave_whole(analysis, inode)?;
            let path = path.as_deref().map_or_else(String::new, escape);
            selection.warnings.push(format!("{path} keeps all GPU code: without some of it {what}"));
        }
    }
}

#[allow(clippy::too_many_arguments, reason = "everything that is known before writing")]
fn write_to(
    analysis: &Analysis,
    selection: &Selection,
    options: &SlimOptions,
    store: Box<dyn Store + '_>,
    opened: &Options,
    unproven: &mut Vec<(Inode, String)>,
    progress: &Progress,
    cancel: &CancelToken,
) -> Result<Written, SlimError> {
    let outputs: Vec<&Output> = selection.written().collect();
    let streams = STREAMS.min(outputs.len()).min(workers());
    let pool = Pool::new(workers(), streams)
        .map_err(|error| SlimError::refused("the image", format!("cannot start a thread: {error}")))?;
    let bytes = |number: usize| analysis.layers[number].read.as_ref()?.compressed_bytes;
    let read = outputs.iter().flat_map(|output| {
        let is_read = |number: &usize| output.is_kept() || selection.entries(*number) > 0;
        output.layers.clone().filter(is_read).filter_map(bytes)
    });
    let carried = platforms::carried(analysis, selection, opened, cancel)?;
    let (carried_bytes, carried_layers) = platforms::totals(&carried);
    progress
        .set_totals(read.sum::<u64>().saturating_add(carried_bytes), outputs.len() as u64 + carried_layers);
    let writer = Writer {
        analysis,
        selection,
        options,
        store: &*store,
        opened,
        reading: Reading { limits: &opened.limits, blobs: opened.access.blobs.as_ref(), progress, cancel },
        pool,
        hashes: Mutex::default(),
        unproven: Mutex::default(),
    };
    let layers = writer.outputs(&outputs, streams);
    unproven.append(&mut writer.unproven.lock().unwrap_or_else(PoisonError::into_inner));
    let layers = layers?;
    let hashes = writer.hashes.into_inner().unwrap_or_else(PoisonError::into_inner);
    cancel.check()?;
    platforms::keep(&carried, &*store, progress, cancel)?;
    let platform = opened.platform.as_ref();
    let mut documents = documents(&analysis.image, selection, &layers, platform, store.is_layout())?;
    documents.platforms = platforms::index(&analysis.image, carried, &documents)?;
    let index_digest = documents.platforms.as_ref().map(|platforms| platforms.digest.clone());
    let (manifest_digest, config_digest) =
        (documents.manifest_digest.clone(), documents.config_digest.clone());
    let staged = store.stage(documents)?;
    let verified = verify(
        analysis,
        selection,
        &layers,
        &hashes,
        options.force,
        &staged.reference(),
        opened,
        progress,
        cancel,
    )?;
    cancel.check()?;
    progress.tell("Publishing the image");
    let published = staged.publish()?;
    let mut by_layer = vec![None; analysis.layers.len()];
    for (output, layer) in outputs.iter().zip(&layers) {
        by_layer[output.layers.clone()].fill(Some(layer.clone()));
    }
    let mut warnings = selection.warnings.clone();
    warnings.extend(verified.lost.iter().cloned());
    let compressed_bytes = Some(layers.iter().map(|layer| layer.compressed_bytes).sum());
    Ok(Written {
        published,
        manifest_digest,
        config_digest,
        index_digest,
        layers: by_layer,
        before: selection.before,
        after: Sizes { compressed_bytes, ..selection.after },
        verified,
        warnings,
    })
}

/// Hashes of files as they were read from the source.
pub(super) type Hashes = HashMap<Inode, ContentHash>;

/// A layer that is being compressed into the store.
type Target<'a> = Digested<Encoder<'a, Box<dyn BlobSink + Send + 'a>>>;

struct Writer<'a> {
    analysis: &'a Analysis,
    selection: &'a Selection,
    options: &'a SlimOptions,
    store: &'a dyn Store,
    opened: &'a Options,
    reading: Reading<'a>,
    pool: Pool,
    hashes: Mutex<Hashes>,
    /// Files whose new content is not what it must be.
    unproven: Mutex<Vec<(Inode, String)>>,
}

impl Writer<'_> {
    fn outputs(&self, outputs: &[&Output], streams: usize) -> Result<Vec<WrittenLayer>, SlimError> {
        let results: Mutex<Vec<Option<WrittenLayer>>> = Mutex::new(vec![None; outputs.len()]);
        let failed: Mutex<Option<SlimError>> = Mutex::default();
        let (streamed, mut direct): (Vec<usize>, Vec<usize>) =
            (0..outputs.len()).partition(|place| self.is_streamed(outputs[*place]));
        direct.sort_by_key(|place| std::cmp::Reverse(self.length(outputs[*place])));
        run_all(direct, streams, |place| {
            if failed.lock().unwrap_or_else(PoisonError::into_inner).is_some() {
                return;
            }
            let done = catch_panic(|| self.direct(outputs[place])).unwrap_or_else(|panic| {
                let reason = format!("internal error; please report it: {panic}");
                Err(SlimError::refused(named(self.analysis, outputs[place].layers.start), reason))
            });
            match done {
                Ok(layer) => results.lock().unwrap_or_else(PoisonError::into_inner)[place] = Some(layer),
                Err(error) => {
                    failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                }
            }
            self.reading.progress.add_layer();
        });
        if let Some(error) = failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
            return Err(error);
        }
        let mut results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
        self.streamed(outputs, streamed, &mut results)?;
        let missing = || SlimError::refused("the image", "a layer was not written");
        results.into_iter().map(|layer| layer.ok_or_else(missing)).collect()
    }

    fn source(&self, number: usize) -> Result<(&LayerSource, &LayerRead), SlimError> {
        let source = self.analysis.image.layers.get(number);
        let read = self.analysis.layers.get(number).and_then(|layer| layer.read.as_deref());
        source.zip(read).ok_or_else(|| SlimError::refused(named(self.analysis, number), "it was not read"))
    }

    fn is_streamed(&self, output: &Output) -> bool {
        let is = |number: usize| matches!(self.analysis.image.layers[number].blob, Blob::Streamed(_));
        output.layers.clone().any(is)
    }

    fn length(&self, output: &Output) -> u64 {
        let bytes = |number: usize| self.analysis.layers[number].read.as_ref()?.compressed_bytes;
        output.layers.clone().filter_map(bytes).sum()
    }

    /// An output whose layers have bytes of their own.
    fn direct(&self, output: &Output) -> Result<WrittenLayer, SlimError> {
        let first = output.layers.start;
        if output.is_kept() {
            return self.keep(first);
        }
        let mut target = self.begin()?;
        for number in output.layers.clone() {
            let (source, read) = self.source(number)?;
            let result = if let Blob::Folder(path) = &source.blob {
                folder::write(
                    path,
                    read,
                    self.selection,
                    number,
                    self.reading.cancel,
                    &mut target,
                    &mut |entry, hash| {
                        self.note(number, read, entry, hash);
                    },
                )
            } else if self.selection.entries(number) == 0 {
                continue;
            } else {
                self.reading.inflate(source, read, |reader| self.rewrite(number, read, reader, &mut target))
            };
            result.map_err(|error| self.fault(number, error))?;
        }
        self.finish(target).map_err(|error| self.fault(first, error))
    }

    /// A fault of a layer as an error.
    fn fault(&self, number: usize, error: Fault) -> SlimError {
        if let Fault::Unproven(entry, what) = &error {
            let mut unproven = self.unproven.lock().unwrap_or_else(PoisonError::into_inner);
            unproven.push(((crate::base::convert::layer16(number), *entry), what.clone()));
        }
        fault(error, &named(self.analysis, number))
    }

    fn rewrite(
        &self,
        number: usize,
        read: &LayerRead,
        reader: &mut dyn io::BufRead,
        target: &mut dyn Write,
    ) -> Result<(), Fault> {
        let environment = (self.reading.limits, self.reading.cancel);
        let mut hashes = Vec::new();
        let result =
            rewrite(reader, &read.index, self.selection, number, environment, target, &mut |entry, hash| {
                match read.facts.hash(entry) {
                    // Already known, and compared when the image is verified.
                    Some(known) if *known == hash => {}
                    _ => hashes.push((entry, hash)),
                }
            });
        let mut all = self.hashes.lock().unwrap_or_else(PoisonError::into_inner);
        all.extend(
            hashes.into_iter().map(|(entry, hash)| ((crate::base::convert::layer16(number), entry), hash)),
        );
        result
    }

    fn note(&self, number: usize, read: &LayerRead, entry: EntryId, hash: ContentHash) {
        if read.facts.hash(entry) != Some(&hash) {
            let inode = (crate::base::convert::layer16(number), entry);
            self.hashes.lock().unwrap_or_else(PoisonError::into_inner).insert(inode, hash);
        }
    }

    fn begin(&self) -> Result<Target<'_>, SlimError> {
        let encoder = self.pool.encoder(self.options.encoding, self.store.begin()?);
        Ok(Digested { out: encoder, hasher: Hasher::sha256(), bytes: 0 })
    }

    fn finish(&self, mut target: Target<'_>) -> Result<WrittenLayer, Fault> {
        target.write_all(&END).map_err(Fault::Write)?;
        let diff_id = parsed(&target.hasher.finish())?;
        let Encoded { out, digest, bytes } = target.out.finish().map_err(Fault::Write)?;
        let digest = parsed(&digest)?;
        finish_blob(out, &digest, bytes)?;
        let compression = self.options.encoding.compression();
        Ok(WrittenLayer { digest, diff_id, compressed_bytes: bytes, compression })
    }

    fn kept(&self, number: usize) -> Result<(Digest, WrittenLayer), SlimError> {
        let (source, read) = self.source(number)?;
        let refused = |reason: &str| SlimError::refused(named(self.analysis, number), reason);
        let digest = digest_of(source, read).ok_or_else(|| refused("its digest is unknown"))?;
        let diff_id = source.diff_id.clone().or_else(|| read.diff_id.as_ref()?.parse().ok());
        let layer = WrittenLayer {
            digest: digest.clone(),
            diff_id: diff_id.ok_or_else(|| refused("the config does not name its diff id"))?,
            compressed_bytes: read.compressed_bytes.ok_or_else(|| refused("its size is unknown"))?,
            compression: read.compression.unwrap_or(Compression::None),
        };
        Ok((digest, layer))
    }

    fn keep(&self, number: usize) -> Result<WrittenLayer, SlimError> {
        let (digest, layer) = self.kept(number)?;
        let (source, _) = self.source(number)?;
        let blob = KeptBlob { layer: source, digest: &digest, size: layer.compressed_bytes };
        self.store.keep(&blob, self.reading.progress, self.reading.cancel)?;
        self.reading.progress.add_passed(layer.compressed_bytes);
        Ok(layer)
    }
}

fn parsed(digest: &str) -> Result<Digest, Fault> {
    digest.parse().map_err(|_| Fault::Read("its digest cannot be written".to_owned()))
}

fn finish_blob(sink: Box<dyn BlobSink + Send + '_>, digest: &Digest, bytes: u64) -> Result<(), Fault> {
    sink.finish(digest, bytes).map_err(|error| match error {
        SlimError::Cancelled => Fault::Cancelled,
        error => Fault::Write(io::Error::other(error)),
    })
}
