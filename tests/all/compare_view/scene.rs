//! Images to compare, and the view on a stage of its own.

use std::sync::Arc;
use std::time::Duration;

use cutaway::analysis::Analysis;
use cutaway::gui::models::compare::{ImageState, OpenImage};
use cutaway::gui::views::View;
use cutaway::gui::views::compare::CompareView;
use egui::Key;
use egui::accesskit::Role;
use egui_kittest::Harness;

use crate::fixtures::image::Image;
use crate::fixtures::layout::Layout;
use crate::fixtures::packing::Packing;
use crate::fixtures::tarball::{Member, dir, file, symlink, tar};
use crate::models::{analysis, sized};
use crate::support::Place;
use crate::view_stage::{self, Stage, names, settle};

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

pub(crate) fn begin(images: Vec<OpenImage>, size: [f32; 2]) -> Harness<'static, Stage> {
    let analysis = match &images[0].state {
        ImageState::Ready(analysis) => Arc::clone(analysis),
        _ => three().remove(0),
    };
    let mut stage = Stage::new(analysis, View::Compare);
    stage.views.compare = CompareView::new(images[0].id);
    stage.images.images = images;
    stage.begin(size)
}

/// The view of the first of these images with all of them beside.
pub(crate) fn show(analyses: &[Arc<Analysis>]) -> Harness<'static, Stage> {
    let names = ["one", "two", "three", "four", "five"];
    let images = analyses.iter().zip(names).zip(1..).map(|((analysis, name), id)| ready(id, name, analysis));
    let mut harness = begin(images.collect(), [1400.0, 860.0]);
    for id in 2..=analyses.len() as u64 {
        harness.state_mut().views.compare.add(id);
    }
    settle(&mut harness);
    harness
}

pub(crate) fn click(harness: &mut Harness<'_, Stage>, role: Role, label: &str) {
    view_stage::click(harness, role, label);
    settle(harness);
}

pub(crate) fn press(harness: &mut Harness<'_, Stage>, keys: &[Key]) {
    for key in keys {
        view_stage::press(harness, &[*key]);
        settle(harness);
    }
}

pub(crate) fn rows(harness: &Harness<'_, Stage>) -> Vec<String> {
    names(harness, Role::Row)
}

pub(crate) fn row(harness: &Harness<'_, Stage>, start: &str) -> String {
    let rows = rows(harness);
    rows.iter()
        .find(|row| row.starts_with(start))
        .unwrap_or_else(|| panic!("no {start} in {rows:#?}"))
        .clone()
}
