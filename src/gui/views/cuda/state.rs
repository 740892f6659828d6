//! What the view remembers.

use std::collections::BTreeSet;
use std::sync::Arc;

use egui::Ui;

use super::ViewContext;
use crate::cuda::Inventory;
use crate::cuda::catalog::Catalog;
use crate::gui::models::background::Background;
use crate::gui::models::cuda::{
    CodeTarget, CudaFile, CudaFiles, CudaModel, DuplicateGroup, DuplicateRows, LibraryDetails, LibraryRows,
    LibrarySort, PrunedCode,
};
use crate::gui::models::filter::Filter;
use crate::gui::models::layers::LayerItem;
use crate::gui::views::grouping::Grouping;
use crate::gui::views::waker;
use crate::rootfs::Merge;

/// Images with fewer libraries and objects are put in order at once.
const AT_ONCE: usize = 4_000;
/// Up to so many libraries, all components are shown unfolded at first.
const UNFOLDED: usize = 60;

/// The model, the choices made, and the rows that follow from both.
#[allow(clippy::struct_excessive_bools, reason = "each is one choice or one thing to do")]
pub(super) struct CudaState {
    pub(super) model: Option<Arc<CudaModel>>,
    pub(super) layers: Vec<LayerItem>,
    pub(super) typed: String,
    pub(super) sorting: LibrarySort,
    pub(super) grouped: bool,
    pub(super) groups: Grouping<Arc<str>>,
    pub(super) rows: LibraryRows,
    /// Files with GPU code that the filter keeps, by their row in the architecture matrix.
    pub(super) arch_matrix_rows: Vec<usize>,
    pub(super) copy_groups: Grouping<DuplicateGroup>,
    pub(super) copies: DuplicateRows,
    /// Where the GPUs to judge by come from; `None` for the catalogue that is built in.
    pub(super) catalog: Option<Arc<Catalog>>,
    /// The GPU to judge by.
    pub(super) target: Option<String>,
    /// GPUs that code is kept for, by id.
    pub(super) kept: BTreeSet<String>,
    /// The GPUs of this machine, and for which state of it.
    pub(super) hosts: Vec<CodeTarget>,
    machine: Option<u64>,
    /// `None` while it is to be computed.
    pruned: Option<PrunedCode>,
    /// Whether `pruned` is that of the ticked GPUs.
    is_pruned: bool,
    pub(super) details: Option<LibraryDetails>,
    /// Whether the chosen row is to be brought into sight.
    pub(super) reveal: bool,
    selected: Option<Vec<u8>>,
    source: Option<(Arc<Inventory>, Arc<Merge>)>,
    job: Background<CudaModel>,
    generation: Option<u64>,
    stale: bool,
    begun: bool,
}

impl Default for CudaState {
    fn default() -> Self {
        Self {
            model: None,
            layers: Vec::new(),
            typed: String::new(),
            sorting: LibrarySort::default(),
            grouped: true,
            groups: Grouping::default(),
            rows: LibraryRows::default(),
            arch_matrix_rows: Vec::new(),
            copy_groups: Grouping::default(),
            copies: DuplicateRows::default(),
            catalog: None,
            target: None,
            kept: BTreeSet::new(),
            hosts: Vec::new(),
            machine: None,
            pruned: None,
            is_pruned: false,
            details: None,
            reveal: false,
            selected: None,
            source: None,
            job: Background::default(),
            generation: None,
            stale: true,
            begun: false,
        }
    }
}

impl CudaState {
    /// Applies updates of the analysis; otherwise does nothing.
    pub(super) fn update(&mut self, ui: &Ui, context: &ViewContext<'_>) {
        let news = self.generation != Some(context.generation);
        if news {
            self.generation = Some(context.generation);
            self.layers = LayerItem::all(context.analysis, context.done);
            let both = context.analysis.inventory.clone().zip(context.analysis.merge.clone());
            let of = |source: &Option<(Arc<Inventory>, _)>| source.as_ref().map(|(of, _)| Arc::as_ptr(of));
            let same = of(&both) == of(&self.source);
            self.source = both;
            if !same {
                self.start(ui);
            }
        }
        if let Some(model) = self.job.take() {
            self.take(model);
        }
        let machine = Some(context.machine.generation());
        if self.machine != machine {
            self.machine = machine;
            self.hosts = context.machine.devices().iter().filter_map(CodeTarget::host).collect();
            self.is_pruned = false;
        }
        if self.stale {
            self.make_rows();
        }
        if news {
            self.describe();
        }
    }

    fn start(&mut self, ui: &Ui) {
        let Some((inventory, merge)) = self.source.clone() else {
            self.model = None;
            self.details = None;
            return;
        };
        let waker = waker(ui);
        let small = inventory.libraries.len() + inventory.links.objects.len() < AT_ONCE;
        let catalog = self.catalog.clone();
        let made = self.job.start(&waker, small, move |cancel| {
            cancel.check()?;
            let targets = CodeTarget::all(catalog.as_deref().unwrap_or_else(|| Catalog::builtin()));
            Ok(CudaModel::new(&inventory, &merge.rootfs, targets))
        });
        if let Some(model) = made {
            self.take(model);
        }
    }

    fn take(&mut self, model: CudaModel) {
        if !std::mem::replace(&mut self.begun, true) && model.libraries.len() > UNFOLDED {
            self.groups.folded =
                model.libraries.iter().map(|library| Arc::clone(&library.component)).collect();
        }
        self.model = Some(Arc::new(model));
        self.is_pruned = false;
        self.stale = true;
        self.describe();
    }

    fn make_rows(&mut self) {
        let Some(model) = &self.model else { return };
        self.stale = false;
        let libraries = &model.libraries;
        self.rows = LibraryRows::new(libraries, &self.typed, self.sorting, self.grouped, &self.groups.folded);
        // An invalid filter excludes nothing; the table of libraries shows the error.
        let (query, _) = Filter::<CudaFiles>::typed(&self.typed);
        let fits = |library: Option<usize>, raw: &[u8], bytes: u64| {
            query.fits(&CudaFile { library: library.and_then(|place| libraries.get(place)), raw, bytes })
        };
        let arch_matrix = model.arch_matrix.rows.iter().enumerate();
        let kept = arch_matrix.filter(|(_, row)| fits(row.library, &row.raw, row.bytes));
        self.arch_matrix_rows = kept.map(|(place, _)| place).collect();
        self.copies = DuplicateRows::new(&model.duplicates, &self.copy_groups.folded, |item| {
            item.copies.iter().any(|copy| fits(copy.library, &copy.raw, copy.bytes))
        });
    }

    /// The row of the table of libraries with keyboard focus.
    pub(super) fn library_row(&self) -> Option<usize> {
        self.groups.row(&self.rows, self.library())
    }

    /// Rows must be rebuilt.
    pub(super) fn changed(&mut self) {
        self.stale = true;
    }

    /// Filters by what is typed.
    pub(super) fn set_filter(&mut self, text: &str) {
        if self.typed != text {
            text.clone_into(&mut self.typed);
            self.stale = true;
            if self.details.is_some() != self.shown_library().is_some() {
                self.describe();
            }
        }
    }

    /// The GPU to judge by.
    pub(super) fn target_in<'a>(&self, model: &'a CudaModel) -> Option<&'a CodeTarget> {
        let id = self.target.as_ref()?;
        model.targets.iter().find(|target| target.id == *id)
    }

    /// GPUs to tick: common ones, this machine's, and the one to judge by.
    pub(super) fn offered(&self, model: &CudaModel) -> Vec<CodeTarget> {
        let judge = self.target.as_ref();
        let known = model
            .targets
            .iter()
            .filter(|target| target.is_common || judge == Some(&target.id) || self.kept.contains(&target.id));
        known.chain(&self.hosts).cloned().collect()
    }

    /// Ticks a GPU, or unticks it.
    pub(super) fn toggle_kept(&mut self, id: &str) {
        if !self.kept.remove(id) {
            self.kept.insert(id.to_owned());
        }
        self.is_pruned = false;
    }

    /// Computes what is kept and removed, once for each choice.
    pub(super) fn prune(&mut self, model: &CudaModel) {
        if !self.is_pruned {
            let targets = self.offered(model);
            self.pruned = PrunedCode::new(&model.arch_matrix, &targets, &self.kept);
            self.is_pruned = true;
        }
    }

    /// What is kept and removed for the ticked GPUs.
    pub(super) fn known_pruned(&self) -> Option<&PrunedCode> {
        self.pruned.as_ref().filter(|_| self.is_pruned)
    }

    /// The path of what is chosen.
    pub(super) fn selected(&self) -> Option<&[u8]> {
        self.selected.as_deref()
    }

    /// The library that is chosen.
    pub(super) fn library(&self) -> Option<usize> {
        self.model.as_ref()?.find(self.selected.as_deref()?)
    }

    /// The same, unless the filter leaves it out.
    fn shown_library(&self) -> Option<usize> {
        let libraries = &self.model.as_ref()?.libraries;
        let query = Filter::<CudaFiles>::typed(&self.typed).0;
        self.library().filter(|library| query.fits(&(&libraries[*library]).into()))
    }

    pub(super) fn select_library(&mut self, library: usize) {
        let raw = self.model.as_ref().and_then(|model| model.libraries.get(library));
        if let Some(raw) = raw.map(|library| library.raw.clone()) {
            self.select_path(raw);
        }
    }

    pub(super) fn select_path(&mut self, raw: Vec<u8>) {
        self.selected = Some(raw);
        (self.groups.at, self.copy_groups.at) = (None, None);
        self.reveal = true;
        // A library in a folded component, or one that the filter leaves out, is to be seen.
        if let (Some(model), Some(library)) = (&self.model, self.library()) {
            if self.groups.folded.remove(&model.libraries[library].component) {
                self.stale = true;
            }
            if self.shown_library().is_none() {
                self.typed.clear();
                self.stale = true;
            }
        }
        self.describe();
    }

    pub(super) fn clear(&mut self) {
        self.selected = None;
        self.details = None;
        (self.groups.at, self.copy_groups.at) = (None, None);
    }

    /// Why there is no model.
    pub(super) fn error(&self) -> Option<&str> {
        self.job.error()
    }

    fn describe(&mut self) {
        let library = self.shown_library();
        self.details = match (&self.model, &self.source, library) {
            (Some(model), Some((inventory, merge)), Some(library)) => {
                LibraryDetails::new(model, inventory, &merge.rootfs, &self.layers, library)
            }
            _ => None,
        };
    }
}
