//! Layers that are read by their tables of contents: the tree first, then the files that the inventory needs.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use super::layer_cache::{BodiesByLayer, LayerCache};
use super::options::{Depth, Options};
use super::outcome::{judged, subject};
use super::toc_cache::TocCache;
use super::value::{Analysis, Layer};
use crate::base::size::{grouped, human};
use crate::base::text::counted;
use crate::base::{Warning, WarningCode};
use crate::cuda::{Inode, Wanted};
use crate::jobs::{Cancelled, Progress, catch_panic, run_all, workers};
use crate::layer::{Context, EntryId, LayerRead, ListedBodies, look_into_listed, read_listed, wanted_of};
use crate::source::table::{Ranges, Reading, Table, TocError, Want};
use crate::source::{Blob, LayerSource};

/// Result of the search for a table.
pub(super) enum Listed {
    /// The tree of the layer, and the table for reading its files.
    Tree(Box<Layer>),
    /// No table is declared, or the layer is not readable by ranges.
    None,
    /// A table is declared and cannot be used.
    Refused(TocError),
}

/// Reads a layer by its table of contents, if the manifest declares one.
pub(super) fn read_tree(
    source: &LayerSource,
    context: &Context,
    depth: Depth,
    layer_cache: Option<&LayerCache<'_>>,
) -> Result<Listed, Cancelled> {
    let ranges: Arc<dyn Ranges> = match &source.blob {
        Blob::Remote(blob) => Arc::new(blob.clone()),
        Blob::Section(section) => Arc::new(section.clone()),
        Blob::Streamed(_) | Blob::Folder(_) | Blob::Missing(_) => return Ok(Listed::None),
    };
    let Context { limits, cancel, progress, subject, .. } = context;
    let layer_cache =
        layer_cache.and_then(|layer_cache| Some((layer_cache, LayerCache::listed_place(source)?)));
    let record = layer_cache.as_ref().and_then(|(layer_cache, place)| layer_cache.table(place));
    let ranges = Arc::new(TocCache::new(ranges, record.as_deref()));
    let (table, contents) =
        match Table::open(Arc::clone(&ranges) as _, &source.annotations, limits, cancel, progress) {
            Ok(Some(opened)) => opened,
            Ok(None) => return Ok(Listed::None),
            Err(why) => {
                cancel.check()?;
                return Ok(Listed::Refused(why));
            }
        };
    if let (Some(record), Some((layer_cache, place))) = (ranges.record(), &layer_cache) {
        layer_cache.keep_table(place, &record);
    }
    let before = layer_cache
        .filter(|_| depth == Depth::Full)
        .and_then(|(layer_cache, place)| layer_cache.listed(&place, context));
    if let Some(read) = before.filter(|read| read.index.len() == contents.entries().len()) {
        progress.add_passed(table.size);
        progress.add_entries(read.index.len() as u64);
        let (read, table) = (Some(Arc::new(read)), Some(Arc::new(table)));
        return Ok(Listed::Tree(Box::new(Layer { read, fault: None, table, looked: true })));
    }
    let read = read_listed(&contents, table.format, table.size, context)?;
    progress.tell(format!(
        "{subject}: {} entries from the table of contents ({}), for {} of {}",
        grouped(read.index.len() as u64),
        table.format,
        human(table.fetched_bytes()),
        human(table.size),
    ));
    progress.add_passed(table.size);
    Ok(Listed::Tree(Box::new(Layer {
        read: Some(Arc::new(read)),
        fault: None,
        table: Some(Arc::new(table)),
        looked: false,
    })))
}

/// Reports a declared table that was not used: as a warning if its digest is wrong, else as a note.
pub(super) fn note_refused(refused: &TocError, read: &mut LayerRead, context: &Context) {
    if refused.contradicts {
        let message = format!("{}; the layer was read completely", refused.why);
        read.warnings.push(Warning::new(WarningCode::DigestMismatch, context.subject.clone(), message));
    } else {
        context.progress.tell(format!("{}: {}; reading it completely", context.subject, refused.why));
    }
}

/// Why a layer is not read at this depth; `None` if it is read. `refused` is why its table was not used.
pub(super) fn left_out(depth: Depth, refused: Option<&TocError>) -> Option<String> {
    match (depth, refused) {
        (Depth::Full, _) => None,
        (Depth::Manifest, _) => Some("skipped (--depth manifest)".to_owned()),
        (Depth::Toc, None) => {
            Some("skipped (--depth toc): the manifest names no table of contents for it".to_owned())
        }
        (Depth::Toc, Some(refused)) => Some(format!("skipped (--depth toc): {}", refused.why)),
    }
}

/// Fetches the relevant files of layers whose trees are from tables of contents. `groups` are layers with the
/// same blob. Returns whether there were any.
///
/// # Errors
/// Only cancellation.
pub(super) fn look_into_all(
    analysis: &mut Analysis,
    groups: &[Vec<usize>],
    layer_cache: Option<&LayerCache<'_>>,
    context_of: &(dyn Fn(usize) -> Context + Sync),
) -> Result<bool, Cancelled> {
    let needed = need(&analysis.layers, groups, context_of);
    let Some(Context { cancel, .. }) = needed.first().map(|first| context_of(first.place())) else {
        return Ok(false);
    };
    let looked = Mutex::new(Vec::new());
    let layers = &analysis.layers;
    run_all(needed, workers(), |needed: Needed| {
        let context = context_of(needed.place());
        let layer = layers.get(needed.place()).cloned().unwrap_or_default();
        let done = catch_panic(|| look(&layer, &needed, &context)).unwrap_or_else(|panic| {
            let message = format!("internal error while reading; please report it: {panic}");
            let fault = Some(Warning::new(WarningCode::LayerMalformed, context.subject.clone(), message));
            Ok(Layer { fault, ..layer.clone() })
        });
        // Cancellation is reported below.
        if let Ok(layer) = done {
            looked.lock().unwrap_or_else(PoisonError::into_inner).push((needed.places, layer));
        }
    });
    cancel.check()?;
    let image = Arc::clone(&analysis.image);
    for (places, looked) in looked.into_inner().unwrap_or_else(PoisonError::into_inner) {
        for (number, place) in places.into_iter().enumerate() {
            let (Some(layer), Some(source)) = (analysis.layers.get_mut(place), image.layers.get(place))
            else {
                continue;
            };
            // The declared properties of the others were compared when their trees were read.
            if let (0, Some(layer_cache), Some(read)) = (number, layer_cache, &looked.read)
                && let Some(listed) = LayerCache::listed_place(source).filter(|_| is_proven(&looked))
            {
                layer_cache.keep_listed(&listed, read, &subject(place, source));
            }
            *layer =
                if number == 0 { looked.clone() } else { judged(&looked, source, &subject(place, source)) };
        }
    }
    note_unproven(analysis);
    Ok(true)
}

/// Warns about layers whose files are not read because of the requested depth.
pub(super) fn leave_bodies(analysis: &mut Analysis, options: &Options) {
    if options.depth != Depth::Toc {
        return;
    }
    let image = Arc::clone(&analysis.image);
    for ((place, layer), source) in analysis.layers.iter_mut().enumerate().zip(&image.layers) {
        let (Some(read), Some(table)) = (&mut layer.read, &layer.table) else { continue };
        let read = Arc::make_mut(read);
        read.complete = false;
        let subject_of = |place| subject(place, source);
        let message = "files skipped (--depth toc); libraries and packages are unknown";
        read.warnings.push(Warning::new(WarningCode::NotRead, subject_of(place), message));
        read.warnings.push(from_table(table, subject_of(place), None));
    }
}

/// Files of a layer to fetch.
struct Needed {
    /// Indexes of the layers with this blob.
    places: Vec<usize>,
    wanted: Vec<(EntryId, bool)>,
    files: u64,
    bytes: u64,
}

impl Needed {
    fn place(&self) -> usize {
        self.places.first().copied().unwrap_or(usize::MAX)
    }
}

/// The files to fetch from each blob, largest total first. Reports the overall total.
fn need(
    layers: &[Layer],
    groups: &[Vec<usize>],
    context_of: &(dyn Fn(usize) -> Context + Sync),
) -> Vec<Needed> {
    let mut all = Vec::new();
    let (mut files, mut bytes, mut size) = (0_u64, 0_u64, 0_u64);
    for places in groups {
        let first = places.first().copied().unwrap_or(usize::MAX);
        let Some(layer) = layers.get(first) else { continue };
        let (Some(read), Some(table), false) = (&layer.read, &layer.table, layer.looked) else { continue };
        let wanted = wanted_of(read, &context_of(first));
        let want = |whole: bool| if whole { Want::Whole } else { Want::Head };
        let planned = table.plan(wanted.iter().map(|(entry, whole)| (entry.0 as usize, want(*whole))));
        files = files.saturating_add(planned.files);
        bytes = bytes.saturating_add(planned.bytes);
        size = size.saturating_add(table.size);
        let places = places.clone();
        all.push(Needed { places, wanted, files: planned.files, bytes: planned.bytes });
    }
    if let Some(first) = all.first() {
        let (files, bytes, size) = (grouped(files), human(bytes), human(size));
        let progress = context_of(first.place()).progress;
        progress.tell(format!("libraries and package lists: fetching {files} files, {bytes} of {size}"));
    }
    all.sort_by_key(|needed| std::cmp::Reverse(needed.bytes));
    all
}

/// Fetches and analyses the relevant files of one layer.
fn look(layer: &Layer, needed: &Needed, context: &Context) -> Result<Layer, Cancelled> {
    let (Some(read), Some(table)) = (&layer.read, &layer.table) else { return Ok(layer.clone()) };
    let mut read = LayerRead::clone(read);
    look_into_listed(&mut read, &needed.wanted, &mut Bodies(table.cursor()), context)?;
    table.let_go();
    read.warnings.push(from_table(table, context.subject.clone(), Some(needed)));
    Ok(Layer {
        read: Some(Arc::new(read)),
        fault: layer.fault.clone(),
        table: layer.table.clone(),
        looked: true,
    })
}

/// Whether all bytes read of a layer are verified.
fn is_proven(layer: &Layer) -> bool {
    layer.table.as_ref().is_some_and(|table| table.unproven() == 0)
}

/// Warns about layers with unverified bytes.
pub(super) fn note_unproven(analysis: &mut Analysis) {
    const WHY: &str = "files were used without a digest in the table of contents to verify them";
    let image = Arc::clone(&analysis.image);
    for ((place, layer), source) in analysis.layers.iter_mut().enumerate().zip(&image.layers) {
        let (Some(read), Some(table)) = (&mut layer.read, &layer.table) else { continue };
        let files = table.unproven();
        if files > 0 {
            let read = Arc::make_mut(read);
            read.complete = false;
            read.warnings.retain(|warning| !warning.message.ends_with(WHY));
            let message = format!("of {}, {WHY}", counted(files, "file"));
            read.warnings.push(Warning::new(WarningCode::NotRead, subject(place, source), message));
        }
    }
}

/// A warning that lists which facts are from the table of contents.
fn from_table(table: &Table, subject: String, needed: Option<&Needed>) -> Warning {
    let rest = needed.map_or_else(String::new, |needed| {
        let (files, bytes) = (grouped(needed.files), human(needed.bytes));
        format!("; {files} relevant files were fetched ({bytes} of {})", human(table.size))
    });
    let message = format!(
        "tree, sizes, owners, modes and times are from the table of contents ({}), verified by the manifest{rest}",
        table.format
    );
    Warning::new(WarningCode::FromTable, subject, message)
}

/// The files of a layer, read by its table of contents.
struct Bodies<'a>(Reading<'a>);

impl ListedBodies for Bodies<'_> {
    fn open(&mut self, entry: EntryId) {
        self.0.open(entry.0 as usize);
    }

    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer)
    }

    fn prove(&mut self) -> io::Result<()> {
        self.0.prove()
    }

    fn broken(&self) -> Option<String> {
        self.0.broken()
    }
}

/// Whether any contents are known; true for an image without layers.
pub(super) fn is_any_read(analysis: &Analysis) -> bool {
    analysis.layers.is_empty() || analysis.layers.iter().any(|layer| layer.read.is_some())
}

/// Whether the merged view cannot be analysed because the requested depth leaves layers incomplete.
pub(super) fn is_shallow(options: &Options, layers: &[Layer]) -> bool {
    options.depth != Depth::Full && !layers.iter().all(Layer::is_complete)
}

/// Plans the fetches from layers that are read by their tables of contents, and reports their total size.
pub(super) fn plan_bodies(
    tables: &[Option<Arc<Table>>],
    wanted: &Wanted,
    before: &BodiesByLayer,
    progress: &Progress,
) {
    let is_known = |inode: &Inode| {
        let facts = before.get(&inode.0);
        facts.is_some_and(|facts| {
            facts.mentions.contains_key(&inode.1) || facts.binaries.contains_key(&inode.1)
        })
    };
    // Files to hash are not counted: those with a unique digest are not read, and uniqueness is not known
    // yet.
    let (mut files, mut bytes) = (0_u64, 0_u64);
    for (place, table) in tables.iter().enumerate() {
        let Some(table) = table else { continue };
        let of_layer = wanted
            .texts
            .iter()
            .chain(&wanted.binaries)
            .filter(|inode| usize::from(inode.0) == place && !is_known(inode));
        let planned = table.plan(of_layer.map(|inode| (inode.1.0 as usize, Want::Whole)));
        files = files.saturating_add(planned.files);
        bytes = bytes.saturating_add(planned.bytes);
    }
    if files > 0 {
        let what = "scripts, settings and programs without an owning package";
        progress.tell(format!("{what}: fetching {} files, {}", grouped(files), human(bytes)));
    }
}
