use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crate::base::convert::fraction;

/// Counters that running work adds to and anyone may read. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct Progress {
    counters: Arc<Counters>,
    /// The layer that bytes are counted for too.
    layer: Option<usize>,
}

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
    /// Bytes passed of each layer, once it is known how many there are.
    by_layer: OnceLock<Vec<AtomicU64>>,
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
        self.counters.bytes_read.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Adds bytes that are behind us, read or skipped.
    pub fn add_passed(&self, bytes: u64) {
        self.counters.bytes_passed.fetch_add(bytes, Ordering::Relaxed);
        let layer = self.layer.and_then(|layer| self.counters.by_layer.get()?.get(layer));
        if let Some(layer) = layer {
            layer.fetch_add(bytes, Ordering::Relaxed);
        }
    }

    /// Adds bytes of single files that were read after the layers.
    pub fn add_compared(&self, bytes: u64) {
        self.counters.bytes_compared.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Adds tar members or files.
    pub fn add_entries(&self, entries: u64) {
        self.counters.entries.fetch_add(entries, Ordering::Relaxed);
    }

    /// Adds a layer that was read before.
    pub fn add_known_layer(&self) {
        self.counters.layers_known.fetch_add(1, Ordering::Relaxed);
    }

    /// Adds one finished layer.
    pub fn add_layer(&self) {
        self.counters.layers_done.fetch_add(1, Ordering::Relaxed);
    }

    /// Sets what there is to do.
    pub fn set_totals(&self, bytes: u64, layers: u64) {
        self.counters.bytes_total.store(bytes, Ordering::Relaxed);
        self.counters.layers_total.store(layers, Ordering::Relaxed);
        self.counters.by_layer.get_or_init(|| (0..layers).map(|_| AtomicU64::new(0)).collect());
    }

    /// The same counters, for the work on one layer, counted from 0.
    #[must_use]
    pub fn of_layer(&self, layer: usize) -> Self {
        Self { layer: Some(layer), ..self.clone() }
    }

    /// Bytes of each layer that are done: read or skipped. Empty until it is known how many layers there are.
    pub fn passed_by_layer(&self) -> Vec<u64> {
        let layers = self.counters.by_layer.get();
        layers.into_iter().flatten().map(|layer| layer.load(Ordering::Relaxed)).collect()
    }

    /// Adds a message about the work, such as a retry or an upcoming fetch.
    pub fn tell(&self, message: impl Into<String>) {
        let mut told = self.counters.told.lock().unwrap_or_else(PoisonError::into_inner);
        if told.len() < MAX_MESSAGES {
            told.push(message.into());
        }
    }

    /// Messages from number `first` on, counted from 0.
    pub fn messages_since(&self, first: usize) -> Vec<String> {
        let told = self.counters.told.lock().unwrap_or_else(PoisonError::into_inner);
        told.get(first..).map(<[String]>::to_vec).unwrap_or_default()
    }

    /// The counters now.
    pub fn snapshot(&self) -> Snapshot {
        let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Snapshot {
            bytes_read: load(&self.counters.bytes_read),
            bytes_passed: load(&self.counters.bytes_passed),
            bytes_compared: load(&self.counters.bytes_compared),
            bytes_total: load(&self.counters.bytes_total),
            entries: load(&self.counters.entries),
            layers_done: load(&self.counters.layers_done),
            layers_known: load(&self.counters.layers_known),
            layers_total: load(&self.counters.layers_total),
        }
    }
}
