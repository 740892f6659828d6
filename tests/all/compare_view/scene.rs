//! Images to compare, and the view on a stage of its own.

use std::sync::Arc;
use std::time::{Duration, Instant};

use cutaway::analysis::Analysis;
use cutaway::gui::design;
use cutaway::gui::models::compare::{ImageState, OpenImage};
use cutaway::gui::models::findings::ChosenPlan;
use cutaway::gui::views::compare::{CompareContext, ComparePage, CompareView};
use cutaway::gui::views::{Action, ViewContext};
use cutaway::jobs::Progress;
use egui::Key;
use egui::accesskit::Role;
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT as _, Queryable as _};

use crate::fixtures::image::Image;
use crate::fixtures::layout::Layout;
use crate::fixtures::packing::Packing;
use crate::fixtures::tarball::{Member, dir, file, symlink, tar};
use crate::models::{analysis, sized};
use crate::support::Place;

pub(crate) const PATIENCE: Duration = Duration::from_mins(1);

pub(crate) fn image(layers: impl IntoIterator<Item = Vec<Member>>) -> Image {
    layers
        .into_iter()
        .fold(Image::new(Packing::Gzip), |image, members| image.layer("COPY . / # buildkit", &tar(members)))
}

pub(crate) fn analysis_of(image: &Image) -> Arc<Analysis> {
    let place = Place::new();
    analysis(&place.put_layout("layout", &Layout::of(image, "t")))
}

/// Three images that share a layer: the second has a file more and one other, the third has neither of its layers.
pub(crate) fn three() -> Vec<Arc<Analysis>> {
    let base =
        || vec![dir("lib"), sized("lib/a.so", 4_000), sized("lib/b.so", 300), symlink("lib/l", "a.so")];
    [
        image([base(), vec![sized("app/main", 50), sized("app/gone", 700)]]),
        image([base(), vec![sized("app/main", 90), sized("app/new", 2_000)]]),
        image([vec![dir("lib"), file("lib/a.so", vec![b'y'; 4_000]), sized("other", 10)]]),
    ]
    .iter()
    .map(analysis_of)
    .collect()
}

pub(crate) fn ready(id: u64, title: &str, analysis: &Arc<Analysis>) -> OpenImage {
    let state = ImageState::Ready(Arc::clone(analysis));
    OpenImage { id, title: title.to_owned(), shown: format!("oci:{title}"), state }
}

pub(crate) fn other(id: u64, title: &str, state: ImageState) -> OpenImage {
    OpenImage { id, title: title.to_owned(), shown: format!("oci:{title}"), state }
}

pub(crate) struct Stage {
    pub(crate) analysis: Arc<Analysis>,
    pub(crate) around: CompareContext,
    pub(crate) view: CompareView,
    pub(crate) actions: Vec<Action>,
}

pub(crate) fn begin(images: Vec<OpenImage>, size: [f32; 2]) -> Harness<'static, Stage> {
    let analysis = match &images[0].state {
        ImageState::Ready(analysis) => Arc::clone(analysis),
        _ => three().remove(0),
    };
    let view = CompareView::new(images[0].id);
    let around = CompareContext { images, ..CompareContext::default() };
    let stage = Stage { analysis, around, view, actions: Vec::new() };
    Harness::builder()
        .with_size(size)
        .with_context_setup(design::apply)
        .with_step_dt(1.0 / 60.0)
        .build_ui_state(
            |ui, stage: &mut Stage| {
                let Stage { analysis, around, view, actions } = stage;
                let plan = ChosenPlan::default();
                let progress = Progress::default().snapshot();
                let context =
                    &mut ViewContext { analysis, generation: 1, plan: &plan, progress, done: true, actions };
                view.ui(ui, context, around);
            },
            stage,
        )
}

/// Steps until nothing is worked on.
pub(crate) fn settle(harness: &mut Harness<'_, Stage>) {
    let begun = Instant::now();
    harness.run_steps(3);
    while harness.state().view.is_busy() {
        assert!(begun.elapsed() < PATIENCE, "it does not end");
        std::thread::sleep(Duration::from_millis(2));
        harness.run_steps(1);
    }
    harness.run_steps(4);
}

/// The view of the first of these images with all of them beside.
pub(crate) fn show(analyses: &[Arc<Analysis>]) -> Harness<'static, Stage> {
    let names = ["one", "two", "three", "four", "five"];
    let images = analyses.iter().zip(names).zip(1..).map(|((analysis, name), id)| ready(id, name, analysis));
    let mut harness = begin(images.collect(), [1400.0, 860.0]);
    for id in 2..=analyses.len() as u64 {
        harness.state_mut().view.add(id);
    }
    settle(&mut harness);
    harness
}

pub(crate) fn click(harness: &mut Harness<'_, Stage>, role: Role, label: &str) {
    harness.get_by_role_and_label(role, label).click();
    settle(harness);
}

pub(crate) fn press(harness: &mut Harness<'_, Stage>, keys: &[Key]) {
    for key in keys {
        harness.key_press(*key);
        settle(harness);
    }
}

pub(crate) fn rows(harness: &Harness<'_, Stage>) -> Vec<String> {
    harness.query_all_by_role(Role::Row).filter_map(|row| row.accesskit_node().label()).collect()
}

pub(crate) fn row(harness: &Harness<'_, Stage>, start: &str) -> String {
    let rows = rows(harness);
    rows.iter()
        .find(|row| row.starts_with(start))
        .unwrap_or_else(|| panic!("no {start} in {rows:#?}"))
        .clone()
}

pub(crate) fn page(harness: &mut Harness<'_, Stage>, page: ComparePage) {
    harness.state_mut().view.show_page(page);
    settle(harness);
}

pub(crate) fn actions(harness: &mut Harness<'_, Stage>) -> Vec<Action> {
    harness.state_mut().actions.drain(..).collect()
}
