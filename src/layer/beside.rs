//! Hashes large files and searches them for names on a second thread.
//!
//! Where several threads decode a layer, the one that walks it is what all wait for. It then only copies the bytes of
//! large files, which takes a third of the time.

use std::thread::{Builder, JoinHandle};

use crossbeam_channel::{Receiver, Sender, bounded, unbounded};

use super::index::EntryId;
use super::watch::{Content, Findings};

/// Files from this size on: they have nearly all bytes of such a layer.
pub(super) const LEAST_BYTES: u64 = 64 << 10;
/// Bytes of a message, a multiple of what BLAKE3 hashes at once: many, because each may wake a thread.
const CHUNK: usize = 512 << 10;
/// Messages that wait.
const AHEAD: usize = 16;

enum Message {
    /// A file begins; one that has no end before it is dropped.
    Begin(Content, u64),
    Bytes(Vec<u8>),
    End(EntryId),
}

/// The second thread. It ends when this and all files are gone.
pub(super) struct Beside {
    sender: Sender<Message>,
    used: Receiver<Vec<u8>>,
    /// Not bounded, so that the thread never waits; as long as the files that wait, if it is read with each file.
    found: Receiver<(EntryId, Findings)>,
    thread: JoinHandle<()>,
}

impl Beside {
    /// `None` if there can be no further thread.
    pub(super) fn new() -> Option<Self> {
        let (sender, messages) = bounded(AHEAD);
        let (empty, used) = bounded(AHEAD);
        let (finds, found) = unbounded();
        let work = move || work(&messages, &empty, &finds);
        let thread = Builder::new().name("contents".to_owned()).spawn(work).ok()?;
        Some(Self { sender, used, found, thread })
    }

    /// Begins a file of `size` bytes.
    pub(super) fn begin(&self, content: Content, size: u64) -> BesideFile {
        let file = BesideFile { sender: self.sender.clone(), used: self.used.clone(), bytes: Vec::new() };
        file.send(Message::Begin(content, size));
        file
    }

    /// What was found since the last call. Each file must ask, so that nothing piles up that is not counted.
    pub(super) fn found(&self) -> Vec<(EntryId, Findings)> {
        self.found.try_iter().collect()
    }

    /// What was found in the files that are left.
    pub(super) fn finish(self) -> Vec<(EntryId, Findings)> {
        drop(self.sender);
        // A panic there belongs to the job that walks.
        self.thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        self.found.try_iter().collect()
    }
}

fn work(messages: &Receiver<Message>, empty: &Sender<Vec<u8>>, found: &Sender<(EntryId, Findings)>) {
    let mut file: Option<(Content, u64)> = None;
    for message in messages {
        match message {
            Message::Begin(content, size) => file = Some((content, size)),
            Message::Bytes(bytes) => {
                if let Some((content, size)) = &mut file {
                    content.push(&bytes, *size);
                }
                empty.try_send(bytes).ok();
            }
            Message::End(entry) => {
                if let Some((content, _)) = file.take() {
                    found.send((entry, content.finish())).ok();
                }
            }
        }
    }
}

/// A file whose bytes go to that thread.
pub(super) struct BesideFile {
    sender: Sender<Message>,
    used: Receiver<Vec<u8>>,
    bytes: Vec<u8>,
}

impl BesideFile {
    /// The next bytes.
    pub(super) fn push(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            if self.bytes.capacity() == 0 {
                self.bytes = self.used.try_recv().unwrap_or_default();
                self.bytes.clear();
                self.bytes.reserve_exact(CHUNK);
            }
            let (now, rest) = bytes.split_at(bytes.len().min(CHUNK - self.bytes.len()));
            self.bytes.extend_from_slice(now);
            bytes = rest;
            if self.bytes.len() == CHUNK {
                self.flush();
            }
        }
    }

    /// The file is complete.
    pub(super) fn end(mut self, entry: EntryId) {
        self.flush();
        self.send(Message::End(entry));
    }

    fn flush(&mut self) {
        let bytes = std::mem::take(&mut self.bytes);
        self.send(Message::Bytes(bytes));
    }

    fn send(&self, message: Message) {
        // Without a receiver it has panicked, which `finish` passes on.
        self.sender.send(message).ok();
    }
}
