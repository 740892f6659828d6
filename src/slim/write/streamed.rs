//! Layers of a source that is read in one pass: it is opened again, and its members are taken as they pass.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};

use super::super::SlimError;
use super::super::again::{Hashed, again};
use super::super::blob::{fault, inflate_stream};
use super::super::documents::WrittenLayer;
use super::super::layer::Fault;
use super::super::selection::{Output, named};
use super::{Writer, finish_blob};
use crate::formats::compression::Compression;
use crate::source::Blob;

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
            self.again(&mut |id, bytes| {
                let Some(place) = by_id.get(&id).copied() else { return Ok(()) };
                let number = outputs[place].layers.start;
                results[place] = Some(if outputs[place].is_kept() {
                    self.copy(number, bytes)?
                } else {
                    let mut target = self.begin()?;
                    self.member(number, bytes, &mut target)?;
                    self.finish(target).map_err(|error| self.fault(number, error))?
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
                self.again(&mut |id, bytes| {
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
            let layer = self.finish(target).map_err(|error| self.fault(number, error))?;
            results[place] = Some(layer);
            self.reading.progress.add_layer();
        }
        Ok(())
    }

    fn again(
        &self,
        each: &mut dyn FnMut(usize, &mut dyn Read) -> Result<(), SlimError>,
    ) -> Result<(), SlimError> {
        again(self.analysis, self.opened, &self.reading, each)
    }

    /// Rewrites a layer that passes.
    fn member(&self, number: usize, bytes: &mut dyn Read, target: &mut dyn Write) -> Result<(), SlimError> {
        let (_, read) = self.source(number)?;
        let mut hashed = Hashed::new(bytes, read.digest.as_deref(), self.reading.progress);
        let compression = read.compression.unwrap_or(Compression::None);
        let work = |reader: &mut dyn io::BufRead| self.rewrite(number, read, reader, target);
        inflate_stream(&mut hashed, compression, self.reading.limits, work)
            .and_then(|()| hashed.finish())
            .map_err(|error| self.fault(number, error))
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
