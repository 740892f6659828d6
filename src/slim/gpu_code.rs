//! The pass over the layers that locates the GPU code of each file, and decides which of it stays.
//!
//! Facts of the analysis say which files lose something; where their containers are, to the byte, is read here. The
//! bytes of a file are not kept: only the parts that its new form is made of.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::SlimError;
use super::again::{Hashed, again};
use super::blob::{Reading, fault, inflate_stream};
use super::layer::Fault;
use super::proof::{Proof, ShrunkTables};
use super::pruned::{Pruned, PrunedFile, Pruning};
use super::replacement::Replacement;
use super::selection::{Selection, Step, named};
use super::write::STREAMS;
use crate::analysis::{Analysis, Options};
use crate::base::convert::layer16;
use crate::base::text::escape;
use crate::cuda::pruning::{CodeRatios, EstimateRow, GpuCodeLocator, PruneRule};
use crate::formats::binary::{BinaryLimits, FileFacts};
use crate::formats::elf::ElfFacts;
use crate::formats::elf::shrink::{ElfTables, TableCollector, Unshrunk, shrink};
use crate::formats::fatbin::{GpuFacts, LocatedGpuCode};
use crate::formats::input::{BUFFER_BYTES, StreamInput};
use crate::formats::tar::TarWalk;
use crate::jobs::{CancelToken, Progress, catch_panic, run_all, workers};
use crate::layer::{ContentHash, EntryId, LayerRead, open_file};
use crate::source::Blob;

/// Takes the GPU code out of `selection` that no target of `pruning` can run. `opened` are the options of the analysis.
///
/// # Errors
/// A layer cannot be read again, or cancelled.
pub fn prune(
    analysis: &Analysis,
    selection: &mut Selection,
    pruning: &Pruning,
    opened: &Options,
    progress: &Progress,
    cancel: &CancelToken,
) -> Result<(), SlimError> {
    let rule = PruneRule::new(pruning.sms(), pruning.keep_ptx);
    let (wanted, base_bytes) = wanted(analysis, selection, &rule, pruning.shrink);
    if base_bytes > 0 {
        selection.warnings.push(format!(
            "the layers of the base image keep {} of GPU code that the targets cannot run",
            crate::base::size::human(base_bytes)
        ));
    }
    let bytes = |number: &usize| analysis.layers[*number].read.as_ref()?.compressed_bytes;
    progress.set_totals(wanted.keys().filter_map(bytes).sum(), wanted.len() as u64);
    progress.tell("Reading GPU code");
    let pass = Pass {
        analysis,
        opened,
        rule,
        wanted,
        reading: Reading { limits: &opened.limits, blobs: opened.access.blobs.as_ref(), progress, cancel },
        found: Mutex::default(),
    };
    pass.run()?;
    let mut found = pass.found.into_inner().unwrap_or_else(PoisonError::into_inner);
    found.files.sort_by(|one, other| one.path.cmp(&other.path));
    found.whole.sort();
    selection.warnings.append(&mut found.whole);
    if !found.files.is_empty() {
        selection.warnings.push(LICENSES.to_owned());
    }
    selection.prune(analysis, Pruned { pruning: pruning.clone(), files: found.files })
}

/// What [`prune`] would remove, by the facts of the analysis: nothing is read. Compressed bytes are an estimate.
pub fn prune_estimate(analysis: &Analysis, selection: &Selection, pruning: &Pruning) -> EstimateRow {
    let rule = PruneRule::new(pruning.sms(), pruning.keep_ptx);
    let mut sum = EstimateRow::NONE;
    let (wanted, _) = wanted(analysis, selection, &rule, pruning.shrink);
    wanted.values().flat_map(BTreeMap::values).for_each(|one| sum.add(&one.estimate));
    sum
}

/// Whether files of the image have GPU code that can be removed.
pub fn has_gpu_code(analysis: &Analysis) -> bool {
    gpu_files(analysis).any(|(_, _, _, gpu)| gpu.is_changeable)
}

type WantedFiles = BTreeMap<usize, BTreeMap<EntryId, Wanted>>;

/// The files that may lose code, by layer; and bytes of code in layers of the base image that stays for that reason.
fn wanted(analysis: &Analysis, selection: &Selection, rule: &PruneRule, shrink: bool) -> (WantedFiles, u64) {
    let ratios = CodeRatios::of(gpu_files(analysis).map(|(_, _, _, gpu)| &gpu.containers));
    let mut wanted = WantedFiles::new();
    let mut base_bytes = 0_u64;
    for (number, entry, elf, gpu) in gpu_files(analysis) {
        let estimate = rule.estimate(&gpu.containers, &ratios);
        let total = estimate.total();
        if !gpu.is_changeable || (total.removed_bytes, estimate.fixed_bytes) == (0, 0) {
            continue;
        }
        if number < selection.base_layers {
            base_bytes = base_bytes.saturating_add(total.removed_bytes);
            continue;
        }
        let rootfs = analysis.merge.as_ref().map(|merge| &merge.rootfs);
        let node = rootfs.and_then(|rootfs| {
            rootfs.all_names(layer16(number), entry).map(|node| rootfs.node(node).path()).min()
        });
        let stays = !matches!(selection.step(number, entry), Step::Leave);
        if let Some(path) = node.filter(|_| stays) {
            // A program is loaded by the kernel, and libraries that can be run are programs.
            let one = Wanted { path, shrink: shrink && !elf.pie, estimate: total };
            wanted.entry(number).or_default().insert(entry, one);
        }
    }
    (wanted, base_bytes)
}

/// What the program cannot decide.
const LICENSES: &str = "hashes in RECORD of wheels and *.md5sums of packages no longer match the changed files; whether \
                        changed copies of NVIDIA's files may be used or passed on depends on NVIDIA's licenses (CUDA \
                        Toolkit EULA, cuDNN SLA)";

/// All files with GPU code: layer, entry, facts.
fn gpu_files(analysis: &Analysis) -> impl Iterator<Item = (usize, EntryId, &ElfFacts, &GpuFacts)> {
    let reads = analysis
        .layers
        .iter()
        .enumerate()
        .filter_map(|(number, layer)| Some((number, layer.read.as_deref()?)));
    reads.flat_map(|(number, read)| {
        read.facts.binaries().iter().filter_map(move |(entry, facts)| match facts {
            FileFacts::Elf(elf) => Some((number, *entry, &**elf, elf.gpu.as_deref()?)),
            _ => None,
        })
    })
}

/// A file that may lose GPU code.
struct Wanted {
    path: Vec<u8>,
    shrink: bool,
    estimate: EstimateRow,
}

#[derive(Default)]
struct Found {
    files: Vec<PrunedFile>,
    /// Files that stay as long as they are, and why.
    whole: Vec<String>,
}

struct Pass<'a> {
    analysis: &'a Analysis,
    opened: &'a Options,
    rule: PruneRule,
    wanted: WantedFiles,
    reading: Reading<'a>,
    found: Mutex<Found>,
}

impl Pass<'_> {
    fn run(&self) -> Result<(), SlimError> {
        let (streamed, mut direct): (Vec<usize>, Vec<usize>) = self
            .wanted
            .keys()
            .partition(|number| matches!(self.analysis.image.layers[**number].blob, Blob::Streamed(_)));
        direct.sort_by_key(|number| {
            std::cmp::Reverse(
                self.analysis.layers[*number].read.as_ref().and_then(|read| read.compressed_bytes),
            )
        });
        let failed: Mutex<Option<SlimError>> = Mutex::default();
        run_all(direct, STREAMS.min(workers()), |number| {
            if failed.lock().unwrap_or_else(PoisonError::into_inner).is_some() {
                return;
            }
            let done = catch_panic(|| {
                self.layer(number).map_err(|error| fault(error, &named(self.analysis, number)))
            });
            let done = done.unwrap_or_else(|panic| {
                let reason = format!("internal error; please report it: {panic}");
                Err(SlimError::refused(named(self.analysis, number), reason))
            });
            if let Err(error) = done {
                failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
            }
            self.reading.progress.add_layer();
        });
        if let Some(error) = failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
            return Err(error);
        }
        if streamed.is_empty() { Ok(()) } else { self.streamed(&streamed) }
    }

    /// Layers that exist only while their source is read, in one pass.
    fn streamed(&self, numbers: &[usize]) -> Result<(), SlimError> {
        again(self.analysis, self.opened, &self.reading, &mut |id, bytes| {
            let is = |number: &&usize| matches!(self.analysis.image.layers[**number].blob, Blob::Streamed(own) if own == id);
            // The same member may be several layers; an upper one hides the files of the lower ones.
            let Some(number) = numbers.iter().rfind(is).copied() else { return Ok(()) };
            let layer = named(self.analysis, number);
            let Some(read) = self.analysis.layers[number].read.as_deref() else { return Ok(()) };
            let mut hashed = Hashed::new(bytes, read.digest.as_deref(), self.reading.progress);
            let compression = read.compression.unwrap_or(crate::formats::compression::Compression::None);
            inflate_stream(&mut hashed, compression, self.reading.limits, |reader| {
                self.walk(number, read, reader)
            })
            .and_then(|()| hashed.finish())
            .map_err(|error| fault(error, &layer))?;
            self.reading.progress.add_layer();
            Ok(())
        })
    }

    fn layer(&self, number: usize) -> Result<(), Fault> {
        let source = &self.analysis.image.layers[number];
        let Some(read) = self.analysis.layers[number].read.as_deref() else { return Ok(()) };
        if let Blob::Folder(root) = &source.blob {
            return self.folder(number, read, root);
        }
        self.reading.inflate(source, read, |reader| self.walk(number, read, reader))
    }

    fn walk(&self, number: usize, read: &LayerRead, reader: &mut dyn std::io::BufRead) -> Result<(), Fault> {
        let input = StreamInput::new(reader, None, self.reading.limits.inflated_bytes, self.reading.cancel);
        let mut walk = TarWalk::new(input, self.reading.limits);
        let mut entries = read.index.entries();
        while walk.advance()? {
            let member = walk.member();
            let Some(entry) = entries.next() else {
                return Err(Fault::Read(format!("{} was not there before", escape(&member.path))));
            };
            let Some(wanted) = self.wanted.get(&number).and_then(|wanted| wanted.get(&entry)) else {
                continue;
            };
            if member.size != read.index.size(entry) {
                return Err(Fault::Read(format!(
                    "{} is not what it was when the image was analysed",
                    escape(&member.path)
                )));
            }
            // Bytes of a sparse file are in the stream without its holes.
            if member.stored != member.size {
                self.keep_whole(wanted, "it is a sparse file");
                continue;
            }
            let mut file = Reader::new(member.size, wanted.shrink);
            walk.pass_body(&mut |bytes| file.push(bytes))?;
            self.plan(number, entry, wanted, file);
        }
        Ok(())
    }

    fn folder(&self, number: usize, read: &LayerRead, root: &std::path::Path) -> Result<(), Fault> {
        let failed = |path: &[u8], error: &std::io::Error| Fault::Read(format!("{}: {error}", escape(path)));
        let mut buffer = vec![0; BUFFER_BYTES];
        for (entry, wanted) in self.wanted.get(&number).into_iter().flatten() {
            let path = read.index.path(*entry);
            let mut from = open_file(root, &path).map_err(|error| failed(&path, &error))?;
            let mut file = Reader::new(read.index.size(*entry), wanted.shrink);
            loop {
                self.reading.cancel.check().map_err(|_| Fault::Cancelled)?;
                let count = from.read(&mut buffer).map_err(|error| failed(&path, &error))?;
                if count == 0 {
                    break;
                }
                file.push(&buffer[..count]);
            }
            self.plan(number, *entry, wanted, file);
        }
        Ok(())
    }

    fn keep_whole(&self, wanted: &Wanted, why: &str) {
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        found.whole.push(format!("{} keeps all GPU code: {why}", escape(&wanted.path)));
    }

    /// Decides what stays of a file that was read to its end.
    fn plan(&self, number: usize, entry: EntryId, wanted: &Wanted, file: Reader) {
        let (code, old, tables) = file.finish();
        let plan = self.rule.plan(&code);
        if !plan.is_change() {
            return;
        }
        let ledger = plan.ledger();
        let (before, removed) = (ledger.before_bytes, ledger.removed_bytes());
        let (containers, entries_kept) = (ledger.containers, ledger.kept_entries());
        let entries_removed = ledger.removed_entries();
        let pruned = plan.pieces(&code);
        let (mut pieces, mut shrunk) = (pruned.clone(), None);
        match tables.map(|old| (shrink(&old, &pruned), old)) {
            Some((Ok(shorter), old)) => {
                pieces = shorter.pieces;
                shrunk = Some(ShrunkTables { pruned, old, new: shorter.tables });
            }
            None | Some((Err(Unshrunk::NoGain), _)) => {}
            Some((Err(why), _)) => {
                let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
                found.whole.push(format!("{} stays as long as it is: {why}", escape(&wanted.path)));
            }
        }
        let file_bytes = (code.file_bytes, pieces.len());
        let proof = Proof { stays: plan.stays().to_vec(), code, shrunk };
        let content = Replacement {
            pieces,
            old,
            removed_bytes: removed,
            removed_compressed_bytes: wanted.estimate.removed_compressed_bytes,
            proof: Some(proof),
            digests: OnceLock::new(),
        };
        self.found.lock().unwrap_or_else(PoisonError::into_inner).files.push(PrunedFile {
            path: wanted.path.clone(),
            layer: layer16(number),
            entry,
            gpu_bytes: (before, before.saturating_sub(removed)),
            file_bytes,
            containers,
            entries_kept,
            entries_removed,
            content: Arc::new(content),
        });
    }
}

/// What is collected of one file while it passes.
struct Reader {
    bytes: u64,
    head: Vec<u8>,
    locator: Option<GpuCodeLocator>,
    hasher: blake3::Hasher,
    tables: Option<TableCollector>,
}

impl Reader {
    fn new(bytes: u64, shrink: bool) -> Self {
        let tables = shrink.then(TableCollector::default);
        Self { bytes, head: Vec::new(), locator: None, hasher: blake3::Hasher::new(), tables }
    }

    fn push(&mut self, chunk: &[u8]) {
        self.hasher.update(chunk);
        if let Some(tables) = &mut self.tables {
            tables.push(chunk);
        }
        if let Some(locator) = &mut self.locator {
            locator.push(chunk);
        } else if self.head.len() < 4 {
            // The first bytes say whether it is an ELF file.
            self.head.extend_from_slice(chunk);
            if self.head.len() >= 4 {
                self.locator = GpuCodeLocator::start(&self.head, self.bytes, &BinaryLimits::default());
                if let Some(locator) = &mut self.locator {
                    locator.push(&self.head);
                }
                self.head.truncate(4);
            }
        }
    }

    fn finish(self) -> (LocatedGpuCode, ContentHash, Option<ElfTables>) {
        let code = self.locator.map(GpuCodeLocator::finish).unwrap_or_default();
        (code, *self.hasher.finalize().as_bytes(), self.tables.map(TableCollector::finish))
    }
}
