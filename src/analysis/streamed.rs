//! Receives the members of a compressed archive while it is streamed, and recognises cached archives.

use std::io::Read;

use serde::{Deserialize, Serialize};

use super::layer_cache::LayerCache;
use super::options::{Depth, Options};
use crate::base::Limits;
use crate::base::convert::in_memory;
use crate::jobs::Cancelled;
use crate::layer::{Context, Expected, LayerRead, read_stream};
use crate::source::{Sink, SourceKey, StreamedMember};

/// Layers of a compressed archive; the source refers to them by index.
pub(super) struct Streamed<'a> {
    options: &'a Options,
    layer_cache: Option<&'a LayerCache<'a>>,
    context_of: &'a dyn Fn(Limits, &str) -> Context,
    passed_entries: u64,
    pub(super) reads: Vec<StreamedLayer>,
}

/// A layer of a compressed archive. `subject` is the subject of its warnings until its index in the image is
/// known.
pub(super) struct StreamedLayer {
    subject: String,
    read: LayerRead,
    /// Whether it was loaded from the cache.
    pub(super) was_known: bool,
    /// Whether no entries were omitted because earlier members used up the entry limit.
    whole: bool,
}

impl StreamedLayer {
    /// The layer, with `subject` as the subject of its warnings.
    pub(super) fn named(&self, subject: &str) -> LayerRead {
        let mut read = self.read.clone();
        for warning in read.warnings.iter_mut().filter(|warning| warning.subject == self.subject) {
            subject.clone_into(&mut warning.subject);
        }
        read
    }
}

/// Cached record of an archive: the source's record of its members, and the digests of its layers by index.
#[derive(Serialize, Deserialize)]
struct Passed<'a> {
    digests: Vec<&'a str>,
    members: &'a [u8],
}

impl<'a> Streamed<'a> {
    pub(super) fn new(
        options: &'a Options,
        layer_cache: Option<&'a LayerCache<'a>>,
        context_of: &'a dyn Fn(Limits, &str) -> Context,
    ) -> Self {
        Self { options, layer_cache, context_of, passed_entries: 0, reads: Vec::new() }
    }
}

impl Sink for Streamed<'_> {
    fn layer(&mut self, member: &StreamedMember, bytes: &mut dyn Read) -> Result<usize, Cancelled> {
        if self.options.depth != Depth::Full {
            // The member is streamed anyway, but its contents are not requested.
            return Ok(usize::MAX);
        }
        let limits = &self.options.limits;
        // All members are retained until the manifest selects some, so they share one limit.
        let left = in_memory(limits.image_entries.saturating_sub(self.passed_entries));
        let layer_entries = limits.layer_entries.min(left);
        let within = Limits { layer_entries, ..limits.clone() };
        let context = (self.context_of)(within, &member.name);
        // The digest in the member's name selects the hash algorithm; it is verified later.
        let verify = self.options.verify;
        let expected = Expected { verify, digest: member.digest.clone(), ..Expected::default() };
        let read = read_stream(bytes, &expected, &context)?;
        self.passed_entries += read.index.len() as u64;
        let whole = read.complete || layer_entries == limits.layer_entries;
        self.reads.push(StreamedLayer { subject: context.subject, read, was_known: false, whole });
        Ok(self.reads.len() - 1)
    }

    fn recall(&mut self, key: &SourceKey) -> Option<Vec<u8>> {
        let layer_cache = self.layer_cache.filter(|_| self.options.depth == Depth::Full)?;
        let record = layer_cache.archive(key)?;
        let passed: Passed<'_> = postcard::from_bytes(&record).ok()?;
        let context = (self.context_of)(self.options.limits.clone(), "a layer of the archive");
        let named =
            |read| StreamedLayer { subject: context.subject.clone(), read, was_known: true, whole: true };
        self.reads = layer_cache.blobs(&passed.digests, &context)?.into_iter().map(named).collect();
        Some(passed.members.to_vec())
    }

    fn keep(&mut self, key: &SourceKey, members: &[u8]) {
        let Some(layer_cache) = self.layer_cache.filter(|_| self.options.depth == Depth::Full) else {
            return;
        };
        let mut digests = Vec::with_capacity(self.reads.len());
        for StreamedLayer { subject, read, whole, .. } in &self.reads {
            match read.digest.as_deref() {
                Some(digest) if *whole && layer_cache.keep_blob(read, subject) => digests.push(digest),
                _ => return,
            }
        }
        if let Ok(record) = postcard::to_allocvec(&Passed { digests, members }) {
            layer_cache.keep_archive(key, &record);
        }
    }
}
