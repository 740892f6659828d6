//! Layers of a source that is read in one pass: it is opened again, and its members are taken as they pass.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};

use super::super::SlimError;
use super::super::blob::{fault, inflate_stream};
use super::super::documents::WrittenLayer;
use super::super::layer::Fault;
use super::super::selection::{Output, named};
use super::{Writer, finish_blob};
use crate::base::{Digest, Hasher};
use crate::formats::compression::Compression;
use crate::jobs::{Cancelled, Progress};
use crate::source::{Blob, OpenContext, Reference, Sink, StreamedMember, open};

impl Writer<'_> {
    /// Outputs of layers that exist only while their source is read. Layers that stay apart share one pass.
    pub(super) fn streamed(
        &self,
        outputs: &[&Output],
        places: Vec<usize>,
        results: &mut [Option<WrittenLayer>],
    ) -> Result<(), SlimError> {
        let (merged, mut single): (Vec<usize>, Vec<usize>) =
            places.into_iter().partition(|place| outputs[*place].layers.len() > 1);
        let id_of = |number: usize| match self.analysis.image.layers[number].blob {
            Blob::Streamed(id) => Some(id),
            _ => None,
        };
        // The same member may be several layers: one of them in each pass.
        while !single.is_empty() {
            let mut by_id: BTreeMap<usize, usize> = BTreeMap::new();
            for place in &single {
                if let Some(id) = id_of(outputs[*place].layers.start) {
                    by_id.entry(id).or_insert(*place);
                }
            }
            let before = single.len();
            self.pass(&mut |id, bytes| {
                let Some(place) = by_id.get(&id).copied() else { return Ok(()) };
                let number = outputs[place].layers.start;
                results[place] = Some(if outputs[place].is_kept() {
                    self.copy(number, bytes)?
                } else {
                    let mut target = self.begin()?;
                    self.member(number, bytes, &mut target)?;
                    self.finish(target).map_err(|error| fault(error, &named(self.analysis, number)))?
                });
                self.reading.progress.add_layer();
                Ok(())
            })?;
            single.retain(|place| results[*place].is_none());
            if single.len() == before {
                return Err(SlimError::refused("the image", "its archive changed since it was analysed"));
            }
        }
        // Members of an archive come in any order: the layers of one output in a pass each.
        for place in merged {
            let mut target = self.begin()?;
            for number in outputs[place].layers.clone().filter(|number| self.selection.entries(*number) > 0) {
                let mut found = false;
                self.pass(&mut |id, bytes| {
                    if !found && Some(id) == id_of(number) {
                        found = true;
                        self.member(number, bytes, &mut target)?;
                    }
                    Ok(())
                })?;
                if !found {
                    return Err(SlimError::refused(named(self.analysis, number), "it is no longer there"));
                }
            }
            let number = outputs[place].layers.start;
            let layer = self.finish(target).map_err(|error| fault(error, &named(self.analysis, number)))?;
            results[place] = Some(layer);
            self.reading.progress.add_layer();
        }
        Ok(())
    }

    /// Opens the source again and passes each of its members that may be a layer, with its number.
    fn pass(
        &self,
        each: &mut dyn FnMut(usize, &mut dyn Read) -> Result<(), SlimError>,
    ) -> Result<(), SlimError> {
        let refused = |reason: String| SlimError::refused("the image", reason);
        let reference =
            Reference::parse(&self.analysis.image.reference).map_err(|error| refused(error.to_string()))?;
        let mut again = Again { number: 0, each, error: None };
        // Layers are counted as they pass, and the archive has other totals.
        let scratch = Progress::default();
        let mut context = OpenContext {
            limits: self.reading.limits,
            platform: self.opened.platform.as_ref(),
            access: &self.opened.access,
            cancel: self.reading.cancel,
            progress: &scratch,
            sink: &mut again,
        };
        let opened = open(&reference, &mut context);
        if let Some(error) = again.error {
            return Err(error);
        }
        self.reading.cancel.check()?;
        opened.map(drop).map_err(|error| refused(error.to_string()))
    }

    /// Rewrites a layer that passes.
    fn member(&self, number: usize, bytes: &mut dyn Read, target: &mut dyn Write) -> Result<(), SlimError> {
        let (_, read) = self.source(number)?;
        let layer = named(self.analysis, number);
        let mut hashed = Hashed::new(bytes, read.digest.as_deref(), self.reading.progress);
        let compression = read.compression.unwrap_or(Compression::None);
        let work = |reader: &mut dyn io::BufRead| self.rewrite(number, read, reader, target);
        inflate_stream(&mut hashed, compression, self.reading.limits, work)
            .and_then(|()| hashed.finish())
            .map_err(|error| fault(error, &layer))
    }

    /// Copies a layer that passes.
    fn copy(&self, number: usize, bytes: &mut dyn Read) -> Result<WrittenLayer, SlimError> {
        let (digest, layer) = self.kept(number)?;
        let mut hashed = Hashed::new(bytes, Some(digest.as_ref()), self.reading.progress);
        let mut sink = self.store.begin()?;
        let copied = io::copy(&mut hashed, &mut sink).map_err(Fault::Write);
        copied
            .and_then(|_| hashed.finish())
            .and_then(|()| finish_blob(sink, &digest, layer.compressed_bytes))
            .map_err(|error| fault(error, &named(self.analysis, number)))?;
        Ok(layer)
    }
}

/// Takes the members of a source that is opened again.
struct Again<'a> {
    number: usize,
    each: &'a mut dyn FnMut(usize, &mut dyn Read) -> Result<(), SlimError>,
    error: Option<SlimError>,
}

impl Sink for Again<'_> {
    fn layer(&mut self, _: &StreamedMember, bytes: &mut dyn Read) -> Result<usize, Cancelled> {
        let number = self.number;
        self.number += 1;
        match (self.each)(number, bytes) {
            Ok(()) => Ok(number),
            Err(error) => {
                self.error = Some(error);
                Err(Cancelled)
            }
        }
    }
}

/// Hashes and counts what is read.
struct Hashed<'a> {
    inner: &'a mut dyn Read,
    progress: &'a Progress,
    hasher: Option<Hasher>,
    expected: Option<&'a str>,
}

impl<'a> Hashed<'a> {
    fn new(inner: &'a mut dyn Read, expected: Option<&'a str>, progress: &'a Progress) -> Self {
        let digest = expected.and_then(|digest| digest.parse::<Digest>().ok());
        Self { inner, progress, hasher: digest.as_ref().and_then(Hasher::for_digest), expected }
    }

    /// Reads the rest and compares the digest.
    fn finish(&mut self) -> Result<(), Fault> {
        io::copy(self, &mut io::sink()).map_err(|error| Fault::Read(error.to_string()))?;
        let found = self.hasher.take().map(Hasher::finish);
        match (found, self.expected) {
            (Some(found), Some(expected)) if found != expected => {
                Err(Fault::Read(format!("its bytes have the digest {found}")))
            }
            _ => Ok(()),
        }
    }
}

impl Read for Hashed<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        if let Some(hasher) = &mut self.hasher {
            hasher.update(&buffer[..count]);
        }
        self.progress.add_read(count as u64);
        self.progress.add_passed(count as u64);
        Ok(count)
    }
}
