//! Collects facts from the files of a layer: while they stream past, or by reading the relevant parts.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

use zstd::bulk::Compressor;

use super::beside::{self, Beside};
use super::context::Context;
use super::facts::{Document, HASH_BYTES, LayerFacts, Packed};
use super::index::{DirId, EntryId, LayerIndex};
use super::watch::{Content, ContentAt, Findings, Hashing, SCRIPT_BYTES, Watch};
use crate::base::convert::in_memory;
use crate::base::text::escape;
use crate::base::warning::Warnings;
use crate::base::{Limits, Section, WarningCode};
use crate::formats::binary::{self, BinaryLimits, HEAD_BYTES, MAGIC_BYTES};
use crate::formats::document::{DocumentKind, Folder, Keep};
use crate::formats::string_references::{Scanner, Sort};
use crate::jobs::CancelToken;

/// Minimum size of files that are compared with others of equal size: smaller duplicates waste little. Libraries are
/// compared at any size, because two of one name matter.
pub const COMPARED_BYTES: u64 = 64 << 10;

/// Whether a file of this name and size is compared with others of equal size.
pub fn is_compared(name: &[u8], size: u64) -> bool {
    size >= COMPARED_BYTES || (size > 0 && memchr::memmem::find(name, b".so").is_some())
}

/// Whether a file is hashed while streamed. Small ones are too: this shows whether an upper layer repeats the same file
/// with another mode or owner.
fn is_hashed(file: &File<'_>) -> bool {
    file.size > 0 && !file.sparse
}

/// Minimum size of a file whose first bytes are stored: smaller ones are not models.
const KEPT_HEAD_BYTES: u64 = 1 << 20;
/// Smaller documents are not compressed.
const PACKED_BYTES: usize = 1 << 10;

/// A file that is about to be streamed.
pub(super) struct File<'a> {
    pub(super) entry: EntryId,
    pub(super) dir: DirId,
    pub(super) name: &'a [u8],
    /// Logical size in bytes; a sparse file stores fewer.
    pub(super) size: u64,
    pub(super) sparse: bool,
    pub(super) mode: u32,
}

/// Bytes needed of a file that has to be fetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Want {
    Whole,
    /// Its first bytes determine whether the rest is needed.
    Head,
}

/// Collects the facts of one layer.
pub(super) struct Capture<'a> {
    limits: &'a Limits,
    binary_limits: BinaryLimits,
    cancel: &'a CancelToken,
    /// Bytes of facts stored so far for all layers of the image.
    kept: &'a AtomicU64,
    facts: LayerFacts,
    warnings: Warnings,
    /// Entries are grouped by folder.
    last_folder: (DirId, Option<Folder>),
    compressor: Option<Compressor<'static>>,
    kept_bytes: u64,
    beside: Option<Beside>,
}

impl<'a> Capture<'a> {
    pub(super) fn new(context: &'a Context) -> Self {
        let limits = &context.limits;
        Self {
            limits,
            binary_limits: BinaryLimits::default(),
            cancel: &context.cancel,
            kept: &context.kept,
            facts: LayerFacts::default(),
            warnings: Warnings::with_limit(limits.warnings_per_code),
            last_folder: (DirId::ROOT, None),
            compressor: None,
            kept_bytes: 0,
            beside: None,
        }
    }

    /// Hashes and searches files on threads of their own.
    pub(super) fn with_threads(self) -> Self {
        Self { beside: Beside::new(), ..self }
    }

    /// Limits for binaries.
    pub(super) fn binary_limits(&self) -> BinaryLimits {
        self.binary_limits.clone()
    }

    /// The facts and faults.
    pub(super) fn finish(mut self) -> (LayerFacts, Warnings) {
        if let Some(beside) = self.beside.take() {
            for (entry, findings) in beside.finish() {
                self.keep_findings(entry, findings);
            }
            self.facts.hashes.sort_unstable_by_key(|(entry, _)| *entry);
            self.facts.mentions.sort_by_key(|(entry, _)| *entry);
        }
        // Nearly every file has one.
        self.facts.hashes.shrink_to_fit();
        (self.facts, self.warnings)
    }

    /// Removes the last entry, whose body is missing.
    pub(super) fn forget_from(&mut self, entry: EntryId) {
        self.facts.forget_from(entry);
    }

    /// Begins a file whose bytes will be streamed; `None` if nothing is needed.
    pub(super) fn watch(&mut self, file: &File<'_>, index: &LayerIndex) -> Option<Watch> {
        let document = self.document_of(file, index);
        // A document is never a binary, whatever its first bytes, in every way of reading.
        let look = document.is_none() && is_worth_a_look(file);
        let hash = is_hashed(file);
        let mentions = match Sort::by_path(index.dir_name(file.dir), file.name) {
            _ if file.sparse => None,
            Some(sort) => Scanner::new(sort, file.size),
            None if look || document.is_none() && Sort::is_plain(file.name) => {
                Scanner::waiting(file.name, file.size, file.mode & 0o111 != 0)
            }
            None => None,
        };
        if document.is_none() && !look && !hash {
            return None;
        }
        self.facts.passed = true;
        let document = document.map(|(kind, most)| (kind, Vec::new(), most));
        let content = Content { hashing: if hash { Hashing::Waiting } else { Hashing::Off }, mentions };
        Some(Watch {
            entry: file.entry,
            head: Vec::new(),
            file_name: if look { file.name.to_vec() } else { Vec::new() },
            size: file.size,
            executable: file.mode & 0o111 != 0,
            look,
            scan: None,
            document,
            content: match &self.beside {
                Some(beside) if file.size >= beside::LEAST_BYTES => {
                    ContentAt::Beside(beside.begin(content, file.size))
                }
                _ => ContentAt::Here(content),
            },
        })
    }

    /// Stores the facts of a file that was streamed completely.
    pub(super) fn keep(&mut self, mut watch: Watch) {
        if watch.look && watch.head.len() < HEAD_BYTES {
            watch.begin(&self.binary_limits);
        }
        let entry = watch.entry;
        if watch.executable && watch.head.starts_with(b"#!") {
            self.keep_script(entry, &watch.head);
        }
        match watch.scan {
            Some(scan) => self.keep_binary(entry, scan.finish()),
            None => self.keep_head(entry, watch.size, &watch.head),
        }
        if let Some((kind, bytes, _)) = watch.document {
            self.keep_document(entry, kind, watch.size, bytes);
        }
        match watch.content {
            ContentAt::Here(content) => self.keep_findings(entry, content.finish()),
            ContentAt::Beside(file) => {
                if let Some(beside) = &mut self.beside {
                    beside.end(file, entry);
                }
            }
        }
        for (entry, findings) in self.beside.as_ref().map(Beside::found).unwrap_or_default() {
            self.keep_findings(entry, findings);
        }
    }

    fn keep_findings(&mut self, entry: EntryId, (hash, mentions): Findings) {
        if let Some(hash) = hash.filter(|_| self.charge(HASH_BYTES)) {
            self.facts.hashes.push((entry, hash));
        }
        if let Some(mentions) = mentions.filter(|mentions| !mentions.is_empty()) {
            if self.charge(mentions.kept_bytes() as u64) {
                self.facts.mentions.push((entry, mentions));
            } else {
                self.facts.lost_string_references += 1;
            }
        }
    }

    /// Whether any byte of a file is needed.
    pub(super) fn wants(&mut self, file: &File<'_>, index: &LayerIndex) -> bool {
        is_worth_a_look(file) || self.document_of(file, index).is_some()
    }

    /// Bytes needed of a file, judged by its path and mode.
    pub(super) fn wants_listed(&mut self, file: &File<'_>, index: &LayerIndex) -> Option<Want> {
        if let Some((_, most)) = self.document_of(file, index) {
            return Some(if most as u64 >= file.size { Want::Whole } else { Want::Head });
        }
        is_worth_a_look(file).then(|| if is_likely_binary(file) { Want::Whole } else { Want::Head })
    }

    /// [`Self::watch`] for a file that is fetched: other files of the layer are not streamed.
    pub(super) fn watch_listed(&mut self, file: &File<'_>, index: &LayerIndex) -> Option<Watch> {
        let watch = self.watch(file, index);
        self.facts.passed = false;
        watch
    }

    /// Analyses a seekable file.
    pub(super) fn read(&mut self, file: &File<'_>, index: &LayerIndex, body: &Section) {
        let document = self.document_of(file, index);
        let look = is_worth_a_look(file);
        if document.is_none() && !look {
            return;
        }
        let done = (|| -> io::Result<()> {
            if let Some((kind, most)) = document {
                let wanted = body.len().min(most as u64);
                let bytes = body.part(0, wanted).read_all(wanted)?;
                self.keep_document(file.entry, kind, file.size, bytes);
                return Ok(());
            }
            let mut head = [0; SCRIPT_BYTES];
            let wanted = match () {
                () if file.mode & 0o111 != 0 => SCRIPT_BYTES,
                () if file.size >= KEPT_HEAD_BYTES => HEAD_BYTES,
                // Nearly all of many thousands of files are of no format that is analysed.
                () => MAGIC_BYTES,
            };
            let count = body.read_full_at(&mut head[..wanted], 0)?;
            let head = &head[..count];
            if file.mode & 0o111 != 0 && head.starts_with(b"#!") {
                self.keep_script(file.entry, head);
            }
            let head = &head[..count.min(HEAD_BYTES)];
            let facts = binary::read(body, head, file.name, &self.binary_limits, self.cancel)?;
            match facts {
                Some(facts) => self.keep_binary(file.entry, facts),
                None => self.keep_head(file.entry, file.size, head),
            }
            Ok(())
        })();
        if let Err(error) = done {
            // A missing body is reported by the walk, for the whole layer.
            self.warnings
                .push_with(WarningCode::NotRead, || (path(file, index), format!("not analysed: {error}")));
        }
    }

    /// Document kind of a file, and how many of its bytes are stored.
    fn document_of(&mut self, file: &File<'_>, index: &LayerIndex) -> Option<(DocumentKind, usize)> {
        if self.last_folder.0 != file.dir || file.dir == DirId::ROOT {
            self.last_folder = (file.dir, Folder::of(&index.dir_path(file.dir)));
        }
        let kind = Folder::document(self.last_folder.1, file.name)?;
        let most = match kind.keep() {
            Keep::Whole => self.limits.document_bytes,
            Keep::Database => self.limits.database_bytes,
            Keep::Head => return Some((kind, in_memory(self.limits.document_head_bytes.min(file.size)))),
        };
        if file.sparse || file.size > most {
            let size = file.size;
            self.warnings.push_with(WarningCode::FactsLimited, || {
                let why = if file.sparse {
                    "stored as a sparse file".to_owned()
                } else {
                    format!("{size} bytes, limit {most} for such a file")
                };
                (path(file, index), format!("not read: {why}"))
            });
            return None;
        }
        Some((kind, in_memory(file.size)))
    }

    fn keep_script(&mut self, entry: EntryId, head: &[u8]) {
        let line = head[2..].split(|byte| *byte == b'\n').next().unwrap_or_default();
        if self.has_room() {
            self.facts.scripts.push((entry, line.into()));
        }
    }

    fn keep_head(&mut self, entry: EntryId, size: u64, head: &[u8]) {
        let first = head.first_chunk::<HEAD_BYTES>().filter(|_| size >= KEPT_HEAD_BYTES);
        if let Some(first) = first.filter(|_| self.facts.heads.len() < self.limits.layer_binaries) {
            self.facts.heads.push((entry, *first));
        }
    }

    fn keep_binary(&mut self, entry: EntryId, facts: binary::FileFacts) {
        if self.has_room() && self.charge(facts.kept_bytes() as u64) {
            self.facts.binaries.push((entry, facts));
        }
    }

    /// Charges `bytes` to the budget of the image; false if it is exhausted.
    fn charge(&mut self, bytes: u64) -> bool {
        let most = self.limits.facts_total;
        let room = self.kept.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes) <= most;
        if !room {
            self.kept.fetch_sub(bytes, Ordering::Relaxed);
            self.facts.left_out = true;
            self.warnings.push_with(WarningCode::FactsLimited, || {
                let what = format!("facts of files exceed {most} bytes: the rest is omitted");
                ("facts".to_owned(), what)
            });
        }
        room
    }

    fn has_room(&mut self) -> bool {
        let most = self.limits.layer_binaries;
        let room = self.facts.binaries.len() + self.facts.scripts.len() < most;
        if !room {
            self.warnings.push_with(WarningCode::FactsLimited, || {
                ("binaries".to_owned(), format!("more than {most} binaries and scripts: the rest is omitted"))
            });
        }
        room
    }

    fn keep_document(&mut self, entry: EntryId, kind: DocumentKind, size: u64, bytes: Vec<u8>) {
        let packed = self.pack(bytes);
        let length = packed.bytes().len() as u64;
        let most = self.limits.documents_total;
        if self.kept_bytes + length > most {
            self.warnings.push_with(WarningCode::FactsLimited, || {
                let what = format!("package lists exceed {most} bytes: the rest is omitted");
                ("package lists".to_owned(), what)
            });
            return;
        }
        if !self.charge(length) {
            return;
        }
        self.kept_bytes += length;
        self.facts.documents.push(Document { entry, kind, size, packed });
    }

    fn pack(&mut self, bytes: Vec<u8>) -> Packed {
        if bytes.len() < PACKED_BYTES {
            return Packed::Plain(bytes.into());
        }
        if self.compressor.is_none() {
            self.compressor = Compressor::new(1).ok();
        }
        let packed = self.compressor.as_mut().and_then(|compressor| compressor.compress(&bytes).ok());
        match packed {
            Some(packed) if packed.len() < bytes.len() => Packed::Zstd(packed.into(), bytes.len()),
            _ => Packed::Plain(bytes.into()),
        }
    }
}

/// Whether a file may be a binary: certain names are excluded, because checking each of 100,000 Python files would cost
/// a read. Streamed files are excluded too, so that a layer has equal facts in each form.
fn is_worth_a_look(file: &File<'_>) -> bool {
    const TEXT: [&[u8]; 34] = [
        b"py", b"pyc", b"pyi", b"h", b"hpp", b"cuh", b"inl", b"c", b"cc", b"cpp", b"txt", b"md", b"rst",
        b"json", b"yaml", b"yml", b"toml", b"xml", b"html", b"css", b"js", b"ts", b"map", b"svg", b"png",
        b"jpg", b"gif", b"mo", b"po", b"csv", b"cmake", b"pc", b"gz", b"list",
    ];
    if file.sparse || file.size < 20 {
        return false;
    }
    if file.mode & 0o111 != 0 {
        return true;
    }
    let extension = file.name.iter().rposition(|byte| *byte == b'.').map(|dot| &file.name[dot + 1..]);
    extension.is_none_or(|extension| !TEXT.contains(&extension))
}

/// Whether name or mode of a file indicate a binary, which is analysed completely.
fn is_likely_binary(file: &File<'_>) -> bool {
    const BINARY: [&[u8]; 6] = [b"a", b"o", b"cubin", b"fatbin", b"ptx", b"exe"];
    let extension = file.name.iter().rposition(|byte| *byte == b'.').map(|dot| &file.name[dot + 1..]);
    file.mode & 0o111 != 0
        || memchr::memmem::find(file.name, b".so").is_some()
        || extension.is_some_and(|extension| BINARY.contains(&extension))
}

fn path(file: &File<'_>, index: &LayerIndex) -> String {
    let mut path = index.dir_path(file.dir);
    path.push(b'/');
    path.extend_from_slice(file.name);
    escape(&path)
}
