//! What the view remembers.

use std::sync::Arc;

use super::ViewContext;
use crate::analysis::Analysis;
use crate::findings::Findings;
use crate::gui::models::background::Background;
use crate::gui::models::filter::Filter;
use crate::gui::models::findings::{
    FindingDetails, FindingFiles, FindingGroup, FindingList, FindingRows, FindingSort, FindingsModel,
    ManualBlock,
};
use crate::gui::models::grouped::GroupedRow;
use crate::gui::models::layers::LayerItem;
use crate::gui::views::grouping::Grouping;
use crate::jobs::Waker;

/// Fewer files are put in order at once: a thread would cost more than the work.
const AT_ONCE: usize = 4_000;

/// The model, the choices made, and the rows that follow from both.
#[derive(Default)]
pub(super) struct FindingsState {
    pub(super) model: Option<Arc<FindingsModel>>,
    pub(super) layers: Vec<LayerItem>,
    pub(super) typed: String,
    pub(super) sorting: FindingSort,
    pub(super) groups: Grouping<FindingGroup>,
    pub(super) rows: FindingRows,
    pub(super) details: Option<FindingDetails>,
    /// The page of the manual about the rule of the chosen finding, once it was asked for.
    pub(super) manual: Option<Vec<ManualBlock>>,
    /// The chosen file of the chosen finding, by its row.
    pub(super) file: Option<usize>,
    /// Whether the chosen row is to be brought into sight.
    pub(super) reveal: bool,
    /// Whether the files of the details are still to be put in order.
    unordered: bool,
    files_job: Background<Option<FindingFiles>>,
    selected: Option<String>,
    /// Whether a first finding was chosen without being asked.
    begun: bool,
    analysis: Option<Arc<Analysis>>,
    source: Option<Arc<Findings>>,
    generation: Option<u64>,
}

impl FindingsState {
    /// Applies updates of the analysis; otherwise does nothing.
    pub(super) fn update(&mut self, context: &ViewContext<'_>) {
        if self.generation == Some(context.generation) {
            return;
        }
        self.generation = Some(context.generation);
        self.layers = LayerItem::all(context.analysis, context.done);
        let findings = &context.analysis.findings;
        let same = findings.as_ref().map(Arc::as_ptr) == self.source.as_ref().map(Arc::as_ptr);
        self.analysis = findings.is_some().then(|| Arc::clone(context.analysis));
        if !same {
            self.source.clone_from(findings);
            self.model = FindingsModel::new(context.analysis).map(Arc::new);
            self.make_rows();
        }
        self.describe();
    }

    pub(super) fn make_rows(&mut self) {
        let items = self.model.as_ref().map_or(&[][..], |model| &model.items);
        self.rows = FindingRows::new(items, &self.typed, self.sorting, &self.groups.folded);
    }

    /// Filters by what is typed.
    pub(super) fn set_filter(&mut self, text: &str) {
        if self.typed != text {
            text.clone_into(&mut self.typed);
            self.make_rows();
            if self.details.is_some() != self.shown_place().is_some() {
                self.describe();
            }
        }
    }

    /// The row with keyboard focus.
    pub(super) fn row(&self) -> Option<usize> {
        self.groups.row(&self.rows, self.place())
    }

    /// The id of what is chosen.
    pub(super) fn selected(&self) -> Option<&str> {
        self.selected.as_deref()
    }

    /// The place of what is chosen.
    fn place(&self) -> Option<usize> {
        self.model.as_ref()?.find(self.selected.as_deref()?)
    }

    /// The place of what is chosen, unless the filter leaves it out.
    fn shown_place(&self) -> Option<usize> {
        let item = |place: &usize| self.model.as_ref().and_then(|model| model.items.get(*place));
        let query = Filter::<FindingList>::typed(&self.typed).0;
        self.place().filter(|place| item(place).is_some_and(|item| query.fits(&item)))
    }

    pub(super) fn select_at(&mut self, place: usize) {
        let id = self.model.as_ref().and_then(|model| model.items.get(place)).map(|item| item.id.clone());
        if let Some(id) = id {
            self.select(&id);
        }
    }

    pub(super) fn select(&mut self, id: &str) {
        self.begun = true;
        self.groups.at = None;
        self.reveal = true;
        if self.selected.as_deref() == Some(id) {
            return;
        }
        self.selected = Some(id.to_owned());
        (self.file, self.manual) = (None, None);
        // A finding of a folded group, or one that the filter leaves out, is to be seen.
        if let (Some(model), Some(place)) = (self.model.clone(), self.place()) {
            let unfolded = self.groups.folded.remove(&FindingGroup::of(&model.items[place]));
            let hidden = self.shown_place().is_none();
            if hidden {
                self.typed.clear();
            }
            if unfolded || hidden {
                self.make_rows();
            }
        }
        self.describe();
    }

    /// Chooses the first finding where there is room for its details, once.
    pub(super) fn choose_first(&mut self) {
        let first = self.rows.rows.iter().find_map(|row| match row {
            GroupedRow::Item(place) => Some(*place),
            GroupedRow::Group(_) => None,
        });
        if let Some(first) = first.filter(|_| !self.begun) {
            self.select_at(first);
            self.reveal = false;
        }
    }

    pub(super) fn clear(&mut self) {
        (self.selected, self.details, self.groups.at) = (None, None, None);
        (self.file, self.manual) = (None, None);
    }

    fn describe(&mut self) {
        let place = self.shown_place();
        self.details = match (&self.analysis, &self.model, place) {
            (Some(analysis), Some(_), Some(place)) => FindingDetails::new(analysis, &self.layers, place),
            _ => None,
        };
        self.unordered = self.details.is_some();
    }

    /// Puts the files of the chosen finding in order: beside the window when there are many.
    pub(super) fn order_files(&mut self, waker: &Waker) {
        if let (true, Some(analysis), Some(place)) = (self.unordered, &self.analysis, self.place()) {
            self.unordered = false;
            let analysis = Arc::clone(analysis);
            let few = self.details.as_ref().is_some_and(|details| details.item.files < AT_ONCE);
            let files = self.files_job.start(waker, few, move |_| Ok(FindingFiles::new(&analysis, place)));
            if let (Some(files), Some(details)) = (files, &mut self.details) {
                details.files = files;
            }
        }
        if let (Some(files), Some(details)) = (self.files_job.take(), &mut self.details) {
            details.files = files;
        }
    }

    /// Whether the files of the chosen finding are being put in order.
    pub(super) fn is_busy(&self) -> bool {
        self.unordered || self.files_job.is_busy()
    }

    /// What is shown in place of files that are not in order.
    pub(super) fn files_wait(&self) -> &str {
        self.files_job.error().unwrap_or("Sorting files…")
    }
}
