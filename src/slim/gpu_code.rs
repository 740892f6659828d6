//! The pass over the layers that locates the GPU code of each file, and decides which of it stays.
//!
//! Facts of the analysis say which files lose something; where their containers are, to the byte, is read here. The
//! bytes of a file are not kept: only the parts that its new form is made of.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use super::SlimError;
use super::compare::Inode;
use super::files::{FileSink, read_files};
use super::proof::{Proof, ShrunkTables};
use super::pruned::{Pruned, PrunedFile, Pruning};
use super::replacement::Replacement;
use super::selection::{Selection, Step};
use crate::analysis::{Analysis, Options};
use crate::base::convert::layer16;
use crate::base::text::escape;
use crate::cuda::pruning::{CodeRatios, EstimateRow, GpuCodeLocator, PruneRule};
use crate::formats::binary::{BinaryLimits, FileFacts};
use crate::formats::elf::ElfFacts;
use crate::formats::elf::shrink::{ElfTables, TableCollector, Unshrunk, shrink};
use crate::formats::fatbin::{GpuFacts, LocatedGpuCode};
use crate::jobs::{CancelToken, Cancelled, Progress};
use crate::layer::{ContentHash, EntryId, content_hash};

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
    progress.tell("Reading GPU code");
    let paths = wanted.iter().map(|(inode, one)| (*inode, one.path.clone())).collect();
    let mut found = Found { rule, wanted, reader: None, files: Vec::new(), whole: Vec::new() };
    read_files(analysis, opened, &paths, &mut found, progress, cancel)?;
    // Of sparse files a layer does not hold all bytes.
    let unread = found
        .wanted
        .values()
        .map(|one| format!("{} keeps all GPU code: it is a sparse file", escape(&one.path)));
    found.whole.extend(unread);
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
    for one in wanted.values() {
        sum.add(&one.estimate);
    }
    sum
}

/// Whether files of the image have GPU code that can be removed.
pub fn has_gpu_code(analysis: &Analysis) -> bool {
    gpu_files(analysis).any(|(_, _, _, gpu)| gpu.is_changeable)
}

type WantedFiles = BTreeMap<Inode, Wanted>;

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
            wanted.insert((layer16(number), entry), one);
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

/// Takes the files, and decides what stays of each.
struct Found {
    rule: PruneRule,
    /// Files that were not read yet.
    wanted: WantedFiles,
    reader: Option<Reader>,
    files: Vec<PrunedFile>,
    /// Files that stay as long as they are, and why.
    whole: Vec<String>,
}

impl FileSink for Found {
    fn begin(&mut self, file: Inode, bytes: u64) {
        self.reader = self.wanted.get(&file).map(|wanted| Reader::new(bytes, wanted.shrink));
    }

    fn push(&mut self, bytes: &[u8]) {
        if let Some(reader) = &mut self.reader {
            reader.push(bytes);
        }
    }

    fn end(&mut self, file: Inode) -> Result<(), Cancelled> {
        if let Some((reader, wanted)) = self.reader.take().zip(self.wanted.remove(&file)) {
            self.plan(file, wanted, reader);
        }
        Ok(())
    }
}

impl Found {
    /// Decides what stays of a file that was read to its end.
    fn plan(&mut self, (layer, entry): Inode, wanted: Wanted, file: Reader) {
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
                self.whole.push(format!("{} stays as long as it is: {why}", escape(&wanted.path)));
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
        self.files.push(PrunedFile {
            path: wanted.path,
            layer,
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
        (code, content_hash(&self.hasher.finalize()), self.tables.map(TableCollector::finish))
    }
}
