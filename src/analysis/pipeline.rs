//! The stages of an analysis: source, layers, merged view, inventory, findings.

use std::cmp::Reverse;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::bodies;
use super::layer_cache::LayerCache;
use super::options::{AnalysisError, Depth, Options};
use super::outcome::{expected, judged, length, note_write, subject, too_many};
use super::single::read_one;
use super::streamed::{Streamed, StreamedLayer};
use super::tables;
use super::value::{Analysis, Layer};
use super::wanted_cache;
use crate::base::{Limits, Warning, WarningCode};
use crate::cuda::{FileContents, Input, Inventory, inventory};
use crate::findings::{self, Findings, findings};
use crate::formats::inflate::{Division, FEW_CORES};
use crate::jobs::{CancelToken, Cancelled, Progress, catch_panic, run_from_both_ends, workers};
use crate::layer::{Context, LayerIndex};
use crate::rootfs::merge;
use crate::source::{Blob, Image, OpenContext, Reference, open};

/// Analyses an image on this thread and a thread pool. `publish` receives each stage: manifest and config,
/// every finished layer, the merged view, inventory and findings. The last stage is also returned.
///
/// # Errors
/// The image cannot be opened, its folder cannot be read, or the job is cancelled.
pub fn analyze(
    reference: &Reference,
    options: &Options,
    cancel: &CancelToken,
    progress: &Progress,
    publish: &(dyn Fn(Arc<Analysis>) + Sync),
) -> Result<Arc<Analysis>, AnalysisError> {
    // Verification requires reading the bytes.
    let cache = options.cache.as_ref().filter(|_| !options.verify);
    let layer_cache = cache.map(|cache| LayerCache::new(cache, &options.limits));
    let layer_cache = layer_cache.as_ref();
    let kept = Arc::new(AtomicU64::new(0));
    let context_of = |limits: Limits, subject: &str| Context {
        limits,
        cancel: cancel.clone(),
        progress: progress.clone(),
        subject: subject.to_owned(),
        kept: Arc::clone(&kept),
        inflate: None,
        beside: false,
        points: None,
    };
    let mut streamed = Streamed::new(options, layer_cache, &context_of);
    let image = {
        let mut context = OpenContext {
            limits: &options.limits,
            platform: options.platform.as_ref(),
            access: &options.access,
            cancel,
            progress,
            sink: &mut streamed,
        };
        Arc::new(open(reference, &mut context)?)
    };
    let pass = LayerPass {
        image: &image,
        options,
        cancel,
        progress,
        publish,
        streamed: &streamed.reads,
        layer_cache,
        context_of: &context_of,
        state: Mutex::new(Analysis::of(&image)),
        entries: AtomicU64::new(0),
        failed: Mutex::new(None),
        bytes: 0,
        long: 0,
    };
    let mut analysis = pass.run()?;
    if options.depth != Depth::Full && !tables::is_any_read(&analysis) {
        // Without layers nothing is merged: totals stay unknown.
        return Ok(Arc::new(analysis));
    }
    tables::leave_bodies(&mut analysis, options);
    merge_layers(&mut analysis, options, layer_cache);
    cancel.check()?;
    publish(Arc::new(analysis.clone()));
    if tables::is_shallow(options, &analysis.layers) {
        return Ok(Arc::new(analysis));
    }
    let context = |place: usize| context_of(options.limits.clone(), &subject(place, &image.layers[place]));
    if tables::look_into_all(&mut analysis, &distinct(&image), layer_cache, &context)? {
        publish(Arc::new(analysis.clone()));
    }
    take_inventory(&mut analysis, options, layer_cache, cancel, progress, publish)?;
    let analysis = Arc::new(analysis);
    publish(Arc::clone(&analysis));
    Ok(analysis)
}

/// Reads the layers of an image side by side, each blob once.
struct LayerPass<'a> {
    image: &'a Image,
    options: &'a Options,
    cancel: &'a CancelToken,
    progress: &'a Progress,
    publish: &'a (dyn Fn(Arc<Analysis>) + Sync),
    streamed: &'a [StreamedLayer],
    layer_cache: Option<&'a LayerCache<'a>>,
    context_of: &'a (dyn Fn(Limits, &str) -> Context + Sync),
    state: Mutex<Analysis>,
    /// Entries of all layers so far.
    entries: AtomicU64,
    failed: Mutex<Option<AnalysisError>>,
    /// Compressed bytes of all layers.
    bytes: u64,
    /// Layers that are long enough for several threads.
    long: usize,
}

impl LayerPass<'_> {
    fn run(mut self) -> Result<Analysis, AnalysisError> {
        (self.publish)(Arc::new(self.lock().clone()));
        let work = distinct(self.image);
        let lengths = work.iter().map(|places| length(&self.image.layers[places[0]]));
        self.long = lengths.clone().filter(|bytes| Division::is_long(*bytes)).count();
        let bytes = lengths.fold(0, u64::saturating_add);
        self.bytes = bytes;
        // A streamed archive was already read; its length is the total.
        let passed = self.progress.snapshot().bytes_total;
        let total = if self.streamed.is_empty() { bytes } else { passed };
        self.progress.set_totals(total, self.image.layers.len() as u64);
        run_from_both_ends(work, workers(), |places| self.read(places));
        self.cancel.check()?;
        match self.failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
            Some(error) => Err(error),
            None => Ok(self.state.into_inner().unwrap_or_else(PoisonError::into_inner)),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Analysis> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn subject(&self, place: usize) -> String {
        subject(place, &self.image.layers[place])
    }

    /// Reads one blob, for all layers that have it.
    fn read(&self, places: Vec<usize>) {
        if self.cancel.is_cancelled() {
            return;
        }
        let (place, options) = (places[0], self.options);
        if self.entries.load(Ordering::Relaxed) > options.limits.image_entries {
            for place in places {
                self.lock().layers[place] = too_many(&self.subject(place), options);
            }
            return;
        }
        let subject = self.subject(place);
        let source = &self.image.layers[place];
        let inflate = Division::for_share(length(source), self.bytes, self.long, workers());
        let beside = inflate.is_some_and(|division| division.workers > 0 || workers() > FEW_CORES);
        let context = (self.context_of)(options.limits.clone(), &subject);
        let points = self.layer_cache.and_then(LayerCache::points_slot);
        let context =
            Context { inflate, beside, points, progress: context.progress.of_layer(place), ..context };
        let done = catch_panic(|| read_one(source, &context, options, self.streamed, self.layer_cache));
        let (layer, was_known) = match done {
            Ok(Ok(read)) => read,
            Ok(Err(error)) => {
                *self.failed.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                return;
            }
            Err(panic) => {
                let message = format!("internal error while reading; please report it: {panic}");
                let fault = Some(Warning::new(WarningCode::LayerMalformed, subject, message));
                (Layer { fault, ..Layer::default() }, false)
            }
        };
        let count = layer.read.as_ref().map_or(0, |read| read.index.len() as u64);
        let mut state = self.lock();
        for (number, place) in places.into_iter().enumerate() {
            // A blob used by several layers is read once, but its entries are merged for each.
            let before = self.entries.fetch_add(count, Ordering::Relaxed);
            state.layers[place] = if number > 0 && before > options.limits.image_entries {
                too_many(&self.subject(place), options)
            } else {
                judged(&layer, &self.image.layers[place], &self.subject(place))
            };
            self.progress.add_layer();
            if was_known {
                self.progress.add_known_layer();
            }
        }
        // Within the lock, so that no older stage is published after a newer one.
        (self.publish)(Arc::new(state.clone()));
    }
}

/// Merges the layers, or takes the merged view from the cache.
fn merge_layers(analysis: &mut Analysis, options: &Options, layer_cache: Option<&LayerCache<'_>>) {
    let indexes: Vec<Arc<LayerIndex>> =
        analysis.layers.iter().map(|layer| index_of(layer, options)).collect();
    let subjects: Vec<String> =
        analysis.image.layers.iter().enumerate().map(|(place, source)| subject(place, source)).collect();
    let pairs: Vec<_> = analysis.layers.iter().zip(&analysis.image.layers).collect();
    let known = layer_cache.and_then(|cache| Some((cache, cache.view_key(&pairs)?)));
    let stored = known.as_ref().and_then(|(cache, key)| cache.view(key, &indexes));
    let view = stored.unwrap_or_else(|| {
        let merge = merge(&indexes, &subjects, options.limits.warnings_per_code);
        if let Some((cache, key)) = &known {
            cache.keep_view(key, &merge);
        }
        merge
    });
    analysis.merge = Some(Arc::new(view));
}

/// Analyses the merged view; then reads the few bodies that refine the result, and analyses again.
fn take_inventory(
    analysis: &mut Analysis,
    options: &Options,
    layer_cache: Option<&LayerCache<'_>>,
    cancel: &CancelToken,
    progress: &Progress,
    publish: &(dyn Fn(Arc<Analysis>) + Sync),
) -> Result<(), Cancelled> {
    let Some(merge) = analysis.merge.clone() else { return Ok(()) };
    let layers = analysis.reads();
    let image = Arc::clone(&analysis.image);
    let look = |bodies: &FileContents| {
        let image = &image;
        let catalog = options.catalog();
        let input = Input { image, layers: &layers, merge: &merge, bodies, catalog };
        catch_panic(|| inventory(&input, options.limits.warnings_per_code))
    };
    let failed = |panic: &str| {
        let message = format!("internal error in the CUDA inventory; please report it: {panic}");
        let warnings = vec![Warning::new(WarningCode::FactsLimited, "CUDA inventory", message)];
        Arc::new(Inventory { warnings, ..Inventory::default() })
    };
    let identity = layer_cache.and_then(|_| wanted_cache::identity(analysis, options));
    let known = layer_cache.zip(identity.as_deref());
    if let Some(wanted) = known.and_then(|(cache, identity)| wanted_cache::load(cache, identity, analysis)) {
        let bodies = bodies::read(analysis, &layers, &merge, &wanted, layer_cache, cancel, progress)?;
        note_writes(analysis);
        match look(&bodies) {
            Ok((found, _)) => complete(analysis, found, bodies, options),
            Err(panic) => analysis.inventory = Some(failed(&panic)),
        }
        return Ok(());
    }
    let mut bodies = FileContents::default();
    let (mut found, wanted) = match look(&bodies) {
        Ok(found) => found,
        Err(panic) => {
            analysis.inventory = Some(failed(&panic));
            return Ok(());
        }
    };
    cancel.check()?;
    let wanted = bodies::readable(analysis, wanted);
    if !wanted.is_empty() {
        found.waits_for = Some(
            "files of equal size to compare, and others to search for GPU code and names of tools".to_owned(),
        );
        let first = Analysis { inventory: Some(Arc::new(found)), ..analysis.clone() };
        publish(Arc::new(first));
        bodies = bodies::read(analysis, &layers, &merge, &wanted, layer_cache, cancel, progress)?;
        note_writes(analysis);
        tables::note_unproven(analysis);
        // Not if a layer was written to meanwhile.
        if let Some((cache, identity)) = known
            && wanted_cache::identity(analysis, options).as_deref() == Some(identity)
        {
            wanted_cache::keep(cache, identity, &wanted);
        }
        found = match look(&bodies) {
            Ok((found, _)) => found,
            Err(panic) => {
                analysis.inventory = Some(failed(&panic));
                return Ok(());
            }
        };
    }
    complete(analysis, found, bodies, options);
    Ok(())
}

/// Applies the rules to the complete inventory, and stores both.
fn complete(analysis: &mut Analysis, found: Inventory, bodies: FileContents, options: &Options) {
    let found = Arc::new(found);
    analysis.catalog.clone_from(&options.catalog);
    analysis.targets = match &options.targets[..] {
        [] => findings::default_targets(options.catalog()).into(),
        chosen => chosen.into(),
    };
    analysis.findings = Some(Arc::new(apply_rules(analysis, &found, &bodies, options)));
    analysis.inventory = Some(found);
    analysis.bodies = Arc::new(bodies);
}

/// Warns about layer files that were written to since they were opened.
fn note_writes(analysis: &mut Analysis) {
    for (place, source) in analysis.image.layers.iter().enumerate() {
        let (Blob::Section(section), Some(read)) = (&source.blob, &mut analysis.layers[place].read) else {
            continue;
        };
        if section.was_written().unwrap_or(true) {
            note_write(section, &expected(source, false), Arc::make_mut(read), &subject(place, source));
        }
    }
}

/// Applies the rules to the complete inventory.
fn apply_rules(
    analysis: &Analysis,
    inventory: &Inventory,
    bodies: &FileContents,
    options: &Options,
) -> Findings {
    let Some(merge) = &analysis.merge else { return Findings::default() };
    let layers = analysis.reads();
    let catalog = options.catalog();
    let input = findings::Input {
        image: &analysis.image,
        layers: &layers,
        merge,
        bodies,
        inventory,
        catalog,
        complete: analysis.totals().is_some_and(|totals| totals.complete),
        targets: &analysis.targets,
        today: options.today,
    };
    catch_panic(|| findings(&input)).unwrap_or_else(|panic| {
        let message = format!("internal error in the rules; please report it: {panic}");
        let warnings = vec![Warning::new(WarningCode::FactsLimited, "findings", message)];
        Findings { warnings, ..Findings::default() }
    })
}

/// Indexes of layers, grouped by blob: each blob is read once. Largest first, so that the longest read does
/// not start last; one worker takes the smallest, whose files are then known early.
fn distinct(image: &Image) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    let mut by_digest = std::collections::HashMap::new();
    for (place, layer) in image.layers.iter().enumerate() {
        let digest =
            layer.digest.as_ref().filter(|_| matches!(layer.blob, Blob::Section(_) | Blob::Remote(_)));
        let group = digest.map_or(groups.len(), |digest| *by_digest.entry(digest).or_insert(groups.len()));
        if group == groups.len() {
            groups.push(Vec::new());
        }
        groups[group].push(place);
    }
    groups.sort_by_key(|places| Reverse(length(&image.layers[places[0]])));
    groups
}

/// The index of a layer for the merge; an empty one for a layer without bytes.
fn index_of(layer: &Layer, options: &Options) -> Arc<LayerIndex> {
    match &layer.read {
        Some(read) => Arc::clone(&read.index),
        None => Arc::new(crate::layer::IndexBuilder::new(&options.limits).finish()),
    }
}
