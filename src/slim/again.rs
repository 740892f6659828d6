//! A source that is read in one pass, such as a compressed archive, opened again.

use std::io::{self, Read};

use super::SlimError;
use super::blob::Reading;
use super::layer::Fault;
use crate::analysis::{Analysis, Options};
use crate::base::{Digest, Hasher};
use crate::jobs::{Cancelled, Progress};
use crate::source::{OpenContext, Reference, Sink, StreamedMember, open};

/// Opens the source of `analysis` again and passes each of its members that may be a layer, with its number.
pub(super) fn again(
    analysis: &Analysis,
    opened: &Options,
    reading: &Reading<'_>,
    each: &mut dyn FnMut(usize, &mut dyn Read) -> Result<(), SlimError>,
) -> Result<(), SlimError> {
    let refused = |reason: String| SlimError::refused("the image", reason);
    let reference =
        Reference::parse(&analysis.image.reference).map_err(|error| refused(error.to_string()))?;
    let mut again = Again { number: 0, each, error: None };
    // Layers are counted as they pass, and the archive has other totals.
    let scratch = Progress::default();
    let mut context = OpenContext {
        limits: reading.limits,
        platform: opened.platform.as_ref(),
        access: &opened.access,
        cancel: reading.cancel,
        progress: &scratch,
        sink: &mut again,
    };
    let opened = open(&reference, &mut context);
    if let Some(error) = again.error {
        return Err(error);
    }
    reading.cancel.check()?;
    opened.map(drop).map_err(|error| refused(error.to_string()))
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
pub(super) struct Hashed<'a> {
    inner: &'a mut dyn Read,
    progress: &'a Progress,
    hasher: Option<Hasher>,
    expected: Option<&'a str>,
}

impl<'a> Hashed<'a> {
    pub(super) fn new(inner: &'a mut dyn Read, expected: Option<&'a str>, progress: &'a Progress) -> Self {
        let digest = expected.and_then(|digest| digest.parse::<Digest>().ok());
        Self { inner, progress, hasher: digest.as_ref().and_then(Hasher::for_digest), expected }
    }

    /// Reads the rest and compares the digest.
    pub(super) fn finish(&mut self) -> Result<(), Fault> {
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
