//! The layers view as data: which layer, which files, which rows; work that takes long is done elsewhere
//! and its last result stays until the next is there.

mod choice;
mod front;
mod marks;

use std::collections::HashSet;
use std::sync::Arc;

use super::background::Background;
use super::files::{FileSort, FileTree, FileTreeRequest, PathDetails, Scope, ShownTree, SortKey, is_large};
use super::layers::{LayerItem, LayerState};
use crate::analysis::Analysis;
use crate::base::convert::layer16;
use crate::jobs::Waker;
use crate::layer::LayerIndex;
use crate::rootfs::{PathId, Timeline};

pub use front::MissingTree;
pub use marks::Marks;

/// Images with fewer entries are worked on at once: a thread would cost more than the work.
const AT_ONCE: usize = 20_000;
/// A tree of fewer entries is made again with each layer that arrives.
const TINY: u64 = 2_000;
/// Trees that are kept: the one in front, and the one before it.
const KEPT_TREES: usize = 2;

/// Which layers a timeline is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Extent {
    /// All of them.
    All,
    /// All up to this one; later ones are still being read.
    UpTo(usize),
    /// One alone; those below are still being read.
    Only(usize),
    /// Those up to `last` that were read, while others are.
    Partial { last: usize, layers: usize, entries: u64 },
}

/// What the layers view shows.
#[allow(clippy::struct_excessive_bools, reason = "each is one choice or one thing to do")]
pub struct Browser {
    /// The layers, bottom first.
    pub items: Vec<LayerItem>,
    generation: Option<u64>,
    layer: Option<usize>,
    merged: bool,
    text: String,
    regex: bool,
    sort: FileSort,
    open: HashSet<PathId>,
    timeline: Option<(Extent, Arc<Timeline>)>,
    timeline_job: Background<(Extent, Arc<Timeline>)>,
    wanted: Option<Extent>,
    shown: Option<ShownTree>,
    shown_job: Background<ShownTree>,
    stale: bool,
    trees: Vec<Arc<FileTree>>,
    selected: Option<Vec<u8>>,
    selected_id: Option<PathId>,
    selected_row: Option<usize>,
    details: Option<PathDetails>,
    marks: Marks,
    /// A path to choose once it is known.
    pending: Option<Vec<u8>>,
    reveal: bool,
    /// Whether the layer was chosen after the path.
    about_layer: bool,
    small: bool,
    all_open: bool,
    epoch: u64,
}

impl Default for Browser {
    fn default() -> Self {
        Self {
            items: Vec::new(),
            generation: None,
            layer: None,
            merged: true,
            text: String::new(),
            regex: false,
            sort: FileSort::default(),
            open: HashSet::new(),
            timeline: None,
            timeline_job: Background::default(),
            wanted: None,
            shown: None,
            shown_job: Background::default(),
            stale: true,
            trees: Vec::new(),
            selected: None,
            selected_id: None,
            selected_row: None,
            details: None,
            marks: Marks::default(),
            pending: None,
            reveal: false,
            about_layer: false,
            small: true,
            all_open: false,
            epoch: 0,
        }
    }
}

impl Browser {
    /// Applies updates of the analysis and of background work. Called on each frame; it does
    /// something only after an update. `waker` is called when work is done.
    pub fn update(&mut self, analysis: &Analysis, generation: u64, done: bool, waker: &Waker) {
        if self.generation != Some(generation) {
            self.generation = Some(generation);
            self.items = LayerItem::all(analysis, done);
            let entries: u64 = self.items.iter().filter_map(|item| item.entries).sum();
            self.small = entries < AT_ONCE as u64;
        }
        self.layer = match (self.layer, self.items.len()) {
            (_, 0) => None,
            (Some(layer), count) => Some(layer.min(count - 1)),
            // The whole image, to begin with.
            (None, count) => Some(count - 1),
        };
        let wanted = self.extent(analysis, done);
        if wanted != self.wanted {
            self.wanted = wanted;
            self.start_timeline(analysis, waker);
        }
        if let Some(timeline) = self.timeline_job.take() {
            self.take_timeline(timeline);
        }
        if self.stale {
            self.start_shown(waker);
        }
        if let Some(shown) = self.shown_job.take() {
            self.take_shown(shown);
        }
        if let Some(path) = self.pending.take() {
            self.choose(path, waker);
        }
    }

    /// The timeline that what is chosen needs, as far as layers are known.
    fn extent(&self, analysis: &Analysis, done: bool) -> Option<Extent> {
        let layer = self.layer?;
        if analysis.merge.is_some() || done {
            return Some(Extent::All);
        }
        let known = |item: &LayerItem| item.state != LayerState::Waiting;
        if self.merged {
            if self.items[..=layer].iter().all(known) {
                return Some(Extent::UpTo(layer));
            }
            self.partial_extent(layer)
        } else {
            self.items[layer].state.has_files().then_some(Extent::Only(layer))
        }
    }

    /// The layers up to one that were read so far. A tree of some size is made again only when it grows by a quarter, so that
    /// all of them together cost no more than a few of the last one.
    fn partial_extent(&self, last: usize) -> Option<Extent> {
        let known = || self.items[..=last].iter().filter(|item| item.state.has_files());
        let (layers, entries) = (known().count(), known().filter_map(|item| item.entries).sum::<u64>());
        match self.wanted {
            Some(wanted @ Extent::Partial { last: same, entries: before, .. })
                if same == last && before > TINY && entries < before.saturating_add(before / 4) =>
            {
                Some(wanted)
            }
            _ => (layers > 0).then_some(Extent::Partial { last, layers, entries }),
        }
    }

    fn start_timeline(&mut self, analysis: &Analysis, waker: &Waker) {
        let Some(extent) = self.wanted else { return };
        let empty: Arc<LayerIndex> = Arc::default();
        let taken = |layer: usize| match extent {
            Extent::All => true,
            Extent::UpTo(last) | Extent::Partial { last, .. } => layer <= last,
            Extent::Only(one) => layer == one,
        };
        let indexes: Vec<Arc<LayerIndex>> = analysis
            .layers
            .iter()
            .enumerate()
            .map(|(place, layer)| match &layer.read {
                Some(read) if taken(place) => Arc::clone(&read.index),
                _ => Arc::clone(&empty),
            })
            .collect();
        let made = self.timeline_job.start(waker, self.small, move |cancel| {
            cancel.check()?;
            Ok((extent, Arc::new(Timeline::new(&indexes))))
        });
        if let Some(made) = made {
            self.take_timeline(made);
        }
    }

    fn take_timeline(&mut self, (extent, timeline): (Extent, Arc<Timeline>)) {
        // What was open stays open, by its path.
        if let Some((_, old)) = &self.timeline {
            self.open = self.open.iter().filter_map(|path| timeline.find(&old.full_path(*path))).collect();
            self.marks.move_to(old, &timeline);
        }
        self.timeline = Some((extent, timeline));
        self.trees.clear();
        self.stale = true;
    }

    fn start_shown(&mut self, waker: &Waker) {
        let (Some(layer), Some((extent, timeline))) = (self.layer, &self.timeline) else { return };
        let fits = match extent {
            Extent::All => true,
            Extent::UpTo(last) => layer <= *last,
            Extent::Only(one) => layer == *one && !self.merged,
            Extent::Partial { last, .. } => layer == *last && self.merged,
        };
        if !fits || self.wanted.is_some_and(|wanted| wanted != *extent) {
            return;
        }
        self.stale = false;
        let number = layer16(layer);
        let request = FileTreeRequest {
            timeline: Arc::clone(timeline),
            scope: if self.merged { Scope::Merged(number) } else { Scope::Layer(number) },
            marks: !matches!(extent, Extent::Only(_) | Extent::Partial { .. }) || layer == 0,
            text: self.text.clone(),
            regex: self.regex,
            sort: self.sort,
            open: if self.all_open { HashSet::new() } else { self.open.clone() },
            trees: self.trees.clone(),
        };
        let all_open = self.all_open;
        let made = self.shown_job.start(waker, self.small, move |cancel| {
            let mut request = request;
            if all_open {
                request.open = request.timeline.paths().collect();
            }
            ShownTree::new(request, cancel)
        });
        if let Some(made) = made {
            self.take_shown(made);
        }
    }

    fn take_shown(&mut self, shown: ShownTree) {
        self.trees.retain(|tree| !Arc::ptr_eq(tree, &shown.tree));
        self.trees.push(Arc::clone(&shown.tree));
        if self.trees.len() > KEPT_TREES {
            self.trees.remove(0);
        }
        let timeline = shown.tree.timeline();
        self.selected_id = self.selected.as_deref().and_then(|path| timeline.find(path));
        self.shown = Some(shown);
        self.epoch += 1;
        self.find_row();
        self.describe();
        self.sum_marks();
    }

    /// The row of what is chosen, after rows changed.
    fn find_row(&mut self) {
        self.selected_row = None;
        let Some(path) = self.selected_path() else { return };
        self.selected_row = self.shown.as_ref().and_then(|shown| shown.rows.position(shown.row_of(path)));
    }

    fn describe(&mut self) {
        let path = self.selected_path();
        self.details = self.shown.as_ref().zip(path).and_then(|(shown, path)| {
            let kept = shown.found.as_ref().is_none_or(|found| found.keeps(path));
            (kept && shown.tree.shows(path)).then(|| PathDetails::new(&shown.tree, path))
        });
    }

    /// Filters by what is typed.
    pub fn set_filter(&mut self, text: &str, regex: bool) {
        if self.text != text || self.regex != regex {
            text.clone_into(&mut self.text);
            self.regex = regex;
            self.stale = true;
        }
    }

    /// Orders by a column, or turns its order round.
    pub fn sort_by(&mut self, key: SortKey) {
        self.sort = self.sort.clicked(key);
        self.stale = true;
    }

    /// Expands the folder at a row: in place, or in the background when it is large.
    pub fn open_row(&mut self, row: usize) {
        let Some(shown) = &mut self.shown else { return };
        let Some(line) = shown.rows.as_slice().get(row).copied() else { return };
        if is_large(&shown.tree, line.path) {
            self.open.clone_from(shown.rows.open());
            self.open.extend(shown.chain(line.path));
            self.stale = true;
        } else if shown.rows.open_at(row, &shown.tree, shown.found.as_deref()) {
            self.rows_changed();
        }
    }

    /// Opens every folder, for measuring.
    pub fn open_all(&mut self) {
        self.all_open = true;
        self.stale = true;
    }

    /// Closes the folder at a row.
    pub fn close_row(&mut self, row: usize) {
        let Some(shown) = &mut self.shown else { return };
        if shown.rows.close_at(row) {
            self.rows_changed();
        }
    }

    fn rows_changed(&mut self) {
        if let Some(shown) = self.shown.as_ref().filter(|shown| shown.found.is_none()) {
            self.open.clone_from(shown.rows.open());
        }
        self.find_row();
    }
}
