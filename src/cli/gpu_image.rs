//! `cutaway gpu --image`: which containers of an image's GPU code the driver loads.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::progress::with_bar;
use super::reading::{ImageReader, ReadOptions};
use crate::analysis::{Analysis, AnalysisError, Options};
use crate::base::convert::in_memory;
use crate::base::text::{escape, printable};
use crate::cuda::pruning::GpuCodeLocator;
use crate::cuda::{HolderKind, Use};
use crate::formats::binary::BinaryLimits;
use crate::formats::elf::shrink::Expand;
use crate::gpu::{FileLoads, LoadOutcome, Loader, LoaderError, LoaderRequest, Loads};
use crate::jobs::{CancelToken, Cancelled, Progress};
use crate::layer::EntryId;
use crate::slim::{self, FileSink, read_files};
use crate::source::{Reference, redacted};

/// Containers that are named one by one.
const MOST_FAULTS: usize = 1000;
/// Notes that are stored.
const MOST_NOTES: usize = 100;

/// The GPU code of an image in the driver.
#[derive(JsonSchema, Serialize)]
pub(super) struct ImageLoads {
    /// The image, as it was named.
    pub(super) reference: String,
    /// Digest of its manifest.
    manifest_digest: Option<String>,
    /// Name of the device.
    pub(super) device: String,
    #[serde(flatten)]
    pub(super) all: Counts,
    /// Libraries with GPU code that nothing known loads: not tried.
    pub(super) unreferenced_libraries: usize,
    /// The libraries and executables, those with most containers first.
    pub(super) libraries: Vec<LibraryLoads>,
    /// Containers that neither load nor lack code for the device, at most 1000.
    pub(super) faults: Vec<LoadFault>,
    /// GPU code that was not tried because it is damaged, at most 100 places.
    pub(super) notes: Vec<String>,
}

/// Numbers of containers.
#[derive(Default, JsonSchema, Serialize)]
pub(super) struct Counts {
    /// All.
    pub(super) containers: usize,
    /// The driver loads them.
    pub(super) loaded: usize,
    /// They have only PTX for the device, which the driver compiles when a program starts: not compiled here.
    pub(super) jit: usize,
    /// They have no code that the device can run (error 209).
    pub(super) no_code: usize,
    /// The driver refuses them with another error.
    pub(super) refused: usize,
    /// The driver crashed on them.
    pub(super) crashed: usize,
    /// The driver did not return in time.
    pub(super) timed_out: usize,
    /// They are larger than 512 MiB and were not tried.
    pub(super) too_large: usize,
}

/// The containers of a file.
#[derive(JsonSchema, Serialize)]
pub(super) struct LibraryLoads {
    /// Path in the merged view.
    pub(super) path: String,
    #[serde(flatten)]
    pub(super) counts: Counts,
}

/// A container that does not load.
#[derive(JsonSchema, Serialize)]
pub(super) struct LoadFault {
    /// Path of the file in the merged view.
    pub(super) path: String,
    /// Number of the container in the file, from 0.
    container: usize,
    /// Its offset in the file, in bytes.
    pub(super) offset: u64,
    /// `refused`, `crashed`, `timed-out` or `too-large`.
    #[schemars(extend("enum" = ["refused", "crashed", "timed-out", "too-large"]))]
    pub(super) outcome: &'static str,
    /// The error, or how the process ended.
    pub(super) detail: Option<String>,
}

impl Counts {
    fn of(count: impl Fn(&str) -> usize, containers: usize) -> Self {
        Self {
            containers,
            loaded: count("loaded"),
            jit: count("jit"),
            no_code: count("no-code"),
            refused: count("refused"),
            crashed: count("crashed"),
            timed_out: count("timed-out"),
            too_large: count("too-large"),
        }
    }
}

impl ImageLoads {
    fn new(analysis: &Analysis, loads: &Loads, unreferenced_libraries: usize) -> Self {
        let mut files: Vec<&FileLoads> =
            loads.files.iter().filter(|file| !file.containers.is_empty()).collect();
        files.sort_by_key(|file| (std::cmp::Reverse(file.containers.len()), &file.path));
        let fault = |file: &FileLoads, number: usize, offset: u64, outcome: &LoadOutcome| LoadFault {
            path: file.path.clone(),
            container: number,
            offset,
            outcome: outcome.as_str(),
            detail: outcome.detail().map(|text| printable(&text)),
        };
        let faults = files.iter().flat_map(|file| {
            let bad = file.containers.iter().enumerate();
            let bad = bad.filter(|(_, (_, is))| {
                !matches!(is, LoadOutcome::Loaded | LoadOutcome::Jit | LoadOutcome::NoCode)
            });
            bad.map(|(number, (offset, outcome))| fault(file, number, *offset, outcome))
        });
        Self {
            reference: redacted(&analysis.image.reference),
            manifest_digest: analysis.image.manifest_digest.as_ref().map(ToString::to_string),
            device: printable(&loads.device),
            all: Counts::of(|word| loads.count(word), loads.containers()),
            unreferenced_libraries,
            notes: Vec::new(),
            faults: faults.take(MOST_FAULTS).collect(),
            libraries: files
                .iter()
                .map(|file| LibraryLoads {
                    path: file.path.clone(),
                    counts: Counts::of(|word| file.count(word), file.containers.len()),
                })
                .collect(),
        }
    }
}

/// Reads an image and loads its GPU code.
pub(super) fn load_image(
    image: &str,
    how: &ReadOptions,
    request: LoaderRequest,
) -> anyhow::Result<ImageLoads> {
    let reader = ImageReader::new(how);
    let mut options = reader.options(None)?;
    let reference = Reference::parse(image).map_err(AnalysisError::from)?;
    let mut analysis = reader.analyse_with(&reference, &options)?;
    if slim::needs_all_bytes(&analysis) {
        options.verify = true;
        analysis = reader.analyse_with(&reference, &options)?;
    }
    let (cancel, progress) = (CancelToken::new(), Progress::default());
    let (mut unreferenced, mut notes) = (0, Vec::new());
    let beside = (&mut unreferenced, &mut notes);
    let work = || load_all(&analysis, &options, request, &progress, &cancel, beside);
    let loads = with_bar(&progress, how.verbose, work)?;
    Ok(ImageLoads { notes, ..ImageLoads::new(&analysis, &loads, unreferenced) })
}

/// Hands all GPU code that something can reach to the driver. `unreferenced` becomes the number of other libraries, and
/// `notes` says which containers cannot be told apart from what surrounds them.
pub(super) fn load_all(
    analysis: &Analysis,
    options: &Options,
    request: LoaderRequest,
    progress: &Progress,
    cancel: &CancelToken,
    (unreferenced, notes): (&mut usize, &mut Vec<String>),
) -> anyhow::Result<Loads> {
    let (Some(inventory), Some(merge)) = (&analysis.inventory, &analysis.merge) else {
        anyhow::bail!("the libraries of {} are not known", redacted(&analysis.image.reference));
    };
    let has_code =
        |library: &&crate::cuda::Library| !library.gpu_code.is_empty() && library.hard_link_of.is_none();
    let mut holders = Vec::new();
    *unreferenced = 0;
    for library in inventory.libraries.iter().filter(has_code) {
        if inventory.links.object(library.object).usage == Use::Unreferenced {
            *unreferenced += 1;
        } else {
            holders.push(library.node);
        }
    }
    let programs = inventory.holders.iter().filter(|holder| holder.kind == HolderKind::Executable);
    holders.extend(programs.map(|holder| holder.node));
    let mut wanted = BTreeMap::new();
    for node in holders {
        let node = merge.rootfs.node(node);
        if let Some(inode) = node.content() {
            wanted.insert(inode, node.path());
        }
    }
    // Where containers are is known only at the end of a file, so every file is read twice; nothing is stored.
    progress.tell("Loading the GPU code");
    let mut first = Locate::default();
    let mut loader = Loader::start(request, cancel)?;
    read_files(analysis, options, &wanted, &mut first, progress, cancel)?;
    let Locate { found, problems, .. } = first;
    for (inode, problem) in problems.iter().take(MOST_NOTES) {
        let path = wanted.get(inode).map(|path| escape(path)).unwrap_or_default();
        notes.push(format!("{path}: {}", printable(problem)));
    }
    if problems.len() > MOST_NOTES {
        notes.push(format!("and {} more", problems.len() - MOST_NOTES));
    }
    wanted.retain(|inode, _| found.contains_key(inode));
    let mut second = Send {
        loader: &mut loader,
        located: &found,
        paths: &wanted,
        files: Vec::new(),
        error: None,
        left: &[],
        at: 0,
        expand: None,
    };
    let read = read_files(analysis, options, &wanted, &mut second, progress, cancel);
    if let Some(error) = second.error.take() {
        return Err(error.into());
    }
    let files = second.files;
    read?;
    Ok(Loads { files, device: loader.device().to_owned() })
}

type Inode = (u16, EntryId);
/// Where a container is in the file, a shortened one expanded: its start and its end.
type Place = (u64, u64);

/// Finds the containers of files.
#[derive(Default)]
struct Locate {
    found: BTreeMap<Inode, Vec<Place>>,
    /// What is not listed, and why.
    problems: Vec<(Inode, String)>,
    file: Option<Expand>,
    is_started: bool,
    locator: Option<GpuCodeLocator>,
}

impl FileSink for Locate {
    fn begin(&mut self, _: Inode, bytes: u64) {
        (self.file, self.is_started, self.locator) = (Some(Expand::new(bytes)), false, None);
    }

    fn push(&mut self, bytes: &[u8]) {
        let (Some(file), locator) = (&mut self.file, &mut self.locator) else { return };
        file.push(bytes, |length, bytes| {
            // The first bytes come in one piece, with the headers.
            if !std::mem::replace(&mut self.is_started, true) {
                *locator = GpuCodeLocator::start(bytes, length, &BinaryLimits::default());
            }
            if let Some(locator) = locator {
                locator.push(bytes);
            }
        });
    }

    fn end(&mut self, file: Inode) -> Result<(), Cancelled> {
        let found = self.locator.take().map(GpuCodeLocator::finish).unwrap_or_default();
        let containers = found.containers;
        let problems =
            found.problems.iter().map(|problem| (file, format!("at {}: {}", problem.at, problem.what)));
        self.problems.extend(problems);
        if !containers.is_empty() {
            self.found.insert(file, containers.iter().map(|one| (one.at, one.end())).collect());
        }
        Ok(())
    }
}

/// Sends the containers of files to the driver.
struct Send<'a> {
    loader: &'a mut Loader,
    located: &'a BTreeMap<Inode, Vec<Place>>,
    paths: &'a BTreeMap<Inode, Vec<u8>>,
    files: Vec<FileLoads>,
    error: Option<LoaderError>,
    /// Containers of the current file that are not complete yet, and the offset in it.
    left: &'a [Place],
    at: u64,
    expand: Option<Expand>,
}

impl Send<'_> {
    fn step<'b>(&mut self, bytes: &'b [u8]) -> Result<&'b [u8], LoaderError> {
        let (Some((start, end)), Some(file)) = (self.left.first().copied(), self.files.last_mut()) else {
            return Ok(&[]);
        };
        if self.at < start {
            let skip = in_memory(start - self.at).min(bytes.len());
            self.at += skip as u64;
            return Ok(bytes.get(skip..).unwrap_or_default());
        }
        if self.at == start {
            self.loader.begin(end - start)?;
        }
        let (now, rest) = bytes.split_at(in_memory(end - self.at).min(bytes.len()));
        self.loader.push(now);
        self.at += now.len() as u64;
        if self.at == end {
            file.containers.push((start, self.loader.end()?));
            self.left = self.left.get(1..).unwrap_or_default();
        }
        Ok(rest)
    }
}

impl FileSink for Send<'_> {
    fn begin(&mut self, file: Inode, bytes: u64) {
        let path = self.paths.get(&file).map(|path| escape(path)).unwrap_or_default();
        self.files.push(FileLoads { path, containers: Vec::new() });
        self.left = self.located.get(&file).map(Vec::as_slice).unwrap_or_default();
        (self.at, self.expand) = (0, Some(Expand::new(bytes)));
    }

    fn push(&mut self, bytes: &[u8]) {
        let Some(mut file) = self.expand.take() else { return };
        file.push(bytes, |_, mut bytes| {
            while !bytes.is_empty() && self.error.is_none() {
                match self.step(bytes) {
                    Ok(rest) => bytes = rest,
                    Err(error) => self.error = Some(error),
                }
            }
        });
        self.expand = Some(file);
    }

    fn end(&mut self, _: Inode) -> Result<(), Cancelled> {
        // A file that is shorter than before was refused by the reader.
        if self.error.is_some() { Err(Cancelled) } else { Ok(()) }
    }
}
