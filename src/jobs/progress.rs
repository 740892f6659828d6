use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::base::convert::fraction;

/// Counters that running work adds to and anyone may read. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct Progress(Arc<Counters>);

#[derive(Debug, Default)]
struct Counters {
    bytes_read: AtomicU64,
    bytes_passed: AtomicU64,
    bytes_compared: AtomicU64,
    bytes_total: AtomicU64,
    entries: AtomicU64,
    layers_done: AtomicU64,
    layers_known: AtomicU64,
    layers_total: AtomicU64,
    told: Mutex<Vec<String>>,
}

/// Maximum messages of one job; further ones are dropped.
const MAX_MESSAGES: usize = 200;

/// The counters at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Snapshot {
    /// Bytes really read from the source.
    pub bytes_read: u64,
    /// Bytes of the source that are done: read or skipped.
    pub bytes_passed: u64,
    /// Bytes read of single files after the layers; not in `bytes_read`.
    pub bytes_compared: u64,
    /// Bytes of all blobs; 0 while unknown.
    pub bytes_total: u64,
    /// Tar members or files processed.
    pub entries: u64,
    /// Layers finished, failed ones included.
    pub layers_done: u64,
    /// Layers loaded from the cache.
    pub layers_known: u64,
    /// Layers of the image; 0 while unknown.
    pub layers_total: u64,
}

impl Snapshot {
    /// Fraction done, 0 to 1, or `None` while the total is unknown.
    pub fn fraction(&self) -> Option<f32> {
        (self.bytes_total > 0).then(|| fraction(self.bytes_passed, self.bytes_total))
    }
}

impl Progress {
    /// Adds bytes that were read.
    pub fn add_read(&self, bytes: u64) {
        self.0.bytes_read.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Adds bytes that are behind us, read or skipped.
    pub fn add_passed(&self, bytes: u64) {
        self.0.bytes_passed.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Adds bytes of single files that were read after the layers.
    pub fn add_compared(&self, bytes: u64) {
        self.0.bytes_compared.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Adds tar members or files.
    pub fn add_entries(&self, entries: u64) {
        self.0.entries.fetch_add(entries, Ordering::Relaxed);
    }

    /// Adds a layer that was read before.
    pub fn add_known_layer(&self) {
        self.0.layers_known.fetch_add(1, Ordering::Relaxed);
    }

    /// Adds one finished layer.
    pub fn add_layer(&self) {
        self.0.layers_done.fetch_add(1, Ordering::Relaxed);
    }

    /// Sets what there is to do.
    pub fn set_totals(&self, bytes: u64, layers: u64) {
        self.0.bytes_total.store(bytes, Ordering::Relaxed);
        self.0.layers_total.store(layers, Ordering::Relaxed);
    }

    /// Adds a message about the work, such as a retry or an upcoming fetch.
    pub fn tell(&self, message: impl Into<String>) {
        let mut told = self.0.told.lock().unwrap_or_else(PoisonError::into_inner);
        if told.len() < MAX_MESSAGES {
            told.push(message.into());
        }
    }

    /// Messages from number `first` on, counted from 0.
    pub fn messages_since(&self, first: usize) -> Vec<String> {
        let told = self.0.told.lock().unwrap_or_else(PoisonError::into_inner);
        told.get(first..).map(<[String]>::to_vec).unwrap_or_default()
    }

    /// The counters now.
    pub fn snapshot(&self) -> Snapshot {
        let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Snapshot {
            bytes_read: load(&self.0.bytes_read),
            bytes_passed: load(&self.0.bytes_passed),
            bytes_compared: load(&self.0.bytes_compared),
            bytes_total: load(&self.0.bytes_total),
            entries: load(&self.0.entries),
            layers_done: load(&self.0.layers_done),
            layers_known: load(&self.0.layers_known),
            layers_total: load(&self.0.layers_total),
        }
    }
}
