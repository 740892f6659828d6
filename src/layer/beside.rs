//! Hashes files and searches them for names on two further threads.
//!
//! Where several threads decode a layer, the one that walks it is what all wait for. It then only copies the bytes of
//! files, which takes a third of the time. One thread takes the large files, the other one the small ones, many at once.

use std::thread::{Builder, JoinHandle};

use crossbeam_channel::{Receiver, Sender, bounded, unbounded};

use super::index::EntryId;
use super::watch::{Content, Findings};
use crate::base::convert::in_memory;

/// Smaller files are not worth a copy.
pub(super) const LEAST_BYTES: u64 = 512;
/// Large files from this size on: they have nearly all bytes of layers of libraries.
const LARGE_BYTES: u64 = 64 << 10;
/// Bytes of a message, a multiple of what BLAKE3 hashes at once: many, because each may wake a thread.
const CHUNK: usize = 512 << 10;
/// Messages about large files that wait.
const AHEAD: usize = 16;
/// Messages with small files that wait.
const SMALL_AHEAD: usize = 4;

enum Message {
    /// A large file begins; one that has no end before it is dropped.
    Begin(Box<Content>, u64),
    Bytes(Vec<u8>),
    End(EntryId),
    /// Whole files.
    Files(Vec<(EntryId, SmallFile)>),
}

/// The further threads. They end when this and all files are gone.
pub(super) struct Beside {
    large: Sender<Message>,
    small: Sender<Message>,
    used: Receiver<Vec<u8>>,
    /// Not bounded, so that the threads never wait; as long as the files that wait, if it is read with each file.
    found: Receiver<(EntryId, Findings)>,
    /// Small files that were not sent yet.
    files: Vec<(EntryId, SmallFile)>,
    /// Their bytes.
    bytes: usize,
    threads: [JoinHandle<()>; 2],
}

impl Beside {
    /// `None` if there can be no further threads.
    pub(super) fn new() -> Option<Self> {
        let (empty, used) = bounded(AHEAD);
        let (finds, found) = unbounded();
        let thread = |ahead| {
            let (sender, messages) = bounded(ahead);
            let (empty, finds) = (empty.clone(), finds.clone());
            let work = move || work(&messages, &empty, &finds);
            Some((sender, Builder::new().name("contents".to_owned()).spawn(work).ok()?))
        };
        let ((large, one), (small, other)) = (thread(AHEAD)?, thread(SMALL_AHEAD)?);
        Some(Self { large, small, used, found, files: Vec::new(), bytes: 0, threads: [one, other] })
    }

    /// Begins a file of `size` bytes.
    pub(super) fn begin(&self, content: Content, size: u64) -> BesideFile {
        if size < LARGE_BYTES {
            let bytes = Vec::with_capacity(in_memory(size));
            return BesideFile::Small(SmallFile { content: Box::new(content), bytes });
        }
        let file = LargeFile { sender: self.large.clone(), used: self.used.clone(), bytes: Vec::new() };
        file.send(Message::Begin(Box::new(content), size));
        BesideFile::Large(file)
    }

    /// A file is complete.
    pub(super) fn end(&mut self, file: BesideFile, entry: EntryId) {
        match file {
            BesideFile::Large(file) => file.end(entry),
            BesideFile::Small(file) => {
                self.bytes += file.bytes.len();
                self.files.push((entry, file));
                if self.bytes >= CHUNK {
                    self.flush();
                }
            }
        }
    }

    fn flush(&mut self) {
        self.bytes = 0;
        // Without a receiver it has panicked, which `finish` passes on.
        self.small.send(Message::Files(std::mem::take(&mut self.files))).ok();
    }

    /// What was found since the last call. Each file must ask, so that nothing piles up that is not counted.
    pub(super) fn found(&self) -> Vec<(EntryId, Findings)> {
        self.found.try_iter().collect()
    }

    /// What was found in the files that are left.
    pub(super) fn finish(mut self) -> Vec<(EntryId, Findings)> {
        self.flush();
        drop((self.large, self.small));
        for thread in self.threads {
            // A panic there belongs to the job that walks.
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        }
        self.found.try_iter().collect()
    }
}

fn work(messages: &Receiver<Message>, empty: &Sender<Vec<u8>>, found: &Sender<(EntryId, Findings)>) {
    let mut file: Option<(Box<Content>, u64)> = None;
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
            Message::Files(files) => {
                for (entry, SmallFile { mut content, bytes }) in files {
                    content.push(&bytes, bytes.len() as u64);
                    found.send((entry, content.finish())).ok();
                }
            }
        }
    }
}

/// A file whose bytes go to one of these threads.
pub(super) enum BesideFile {
    Small(SmallFile),
    Large(LargeFile),
}

/// A file that is sent when it is complete.
pub(super) struct SmallFile {
    content: Box<Content>,
    bytes: Vec<u8>,
}

/// A file whose bytes are sent while they pass.
pub(super) struct LargeFile {
    sender: Sender<Message>,
    used: Receiver<Vec<u8>>,
    bytes: Vec<u8>,
}

impl BesideFile {
    /// The next bytes.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        match self {
            Self::Small(file) => file.bytes.extend_from_slice(bytes),
            Self::Large(file) => file.push(bytes),
        }
    }
}

impl LargeFile {
    fn push(&mut self, mut bytes: &[u8]) {
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
    fn end(mut self, entry: EntryId) {
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
