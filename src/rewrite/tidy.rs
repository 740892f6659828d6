//! The same stages with cleaner instructions.

mod apt;
mod caches;
mod call;
mod hints;
mod merge;
mod owners;
mod scene;
mod style;
mod version;
mod view;
mod work;

use super::draft::Draft;
use super::propose::Input;
use super::recipe::{Origin, Recipe};
use super::select::Selection;
use super::value::{Applicability, StageSize};
use crate::formats::dockerfile::Dockerfile;
use scene::Scene;
use work::Work;

pub(super) use version::{VersionArgument, version_argument};

/// A draft that keeps base and stages; `None` when nothing is to be tidied.
pub(super) fn draft(input: &Input<'_>, recipe: &Recipe) -> Option<Draft> {
    let name = match &recipe.origin {
        Origin::Given(name) => name.as_str(),
        Origin::Rebuilt => "Dockerfile",
    };
    let waste = view::waste(input);
    let look = view::View::new(&input.merge.rootfs);
    let scene = Scene::new(&recipe.file, name, &recipe.ties, &waste, &look);
    let work = tidy(&scene);
    if work.edits.is_empty() && work.hints.is_empty() {
        return None;
    }
    let entries = view::entries(input);
    let mut selection = Selection::all(&entries);
    for (layer, entry) in &work.gone {
        let rootfs = &input.merge.rootfs;
        let count = entries.get(usize::from(*layer)).copied().unwrap_or(0);
        selection.set(*layer, *entry, false, count);
        // Further names of the file are entries too.
        for node in rootfs.names(*layer, *entry) {
            let node = rootfs.node(*node);
            if let Some(other) = node.entry() {
                let count = entries.get(usize::from(node.layer())).copied().unwrap_or(0);
                selection.set(node.layer(), other, false, count);
            }
        }
    }
    let config = input.image.config.as_ref().and_then(|config| config.config().as_ref());
    Some(Draft {
        id: "tidy",
        title: "Same stages, tidier instructions".to_owned(),
        applicability: work.edits.iter().map(|edit| edit.applicability).max().unwrap_or(Applicability::Safe),
        base_image: base(&recipe.file),
        selection,
        environment: config.and_then(|config| config.env().clone()).unwrap_or_default(),
        entrypoint: config.and_then(|config| config.entrypoint().clone()),
        stages: earlier_stages(&recipe.file),
        kept: Vec::new(),
        assumed: work.assumed,
        by_hand: Vec::new(),
        hints: work.hints,
        edits: work.edits,
    })
}

/// All that can be tidied. Owners first, since they make whole instructions superfluous; caches after merging,
/// since a later `RUN` may remove them already.
fn tidy<'a>(scene: &'a Scene<'a>) -> Work<'a> {
    let mut work = Work::new(scene);
    owners::give_to_copies(&mut work);
    merge::merge(&mut work);
    caches::keep_none(&mut work);
    caches::remove(&mut work);
    apt::leave_out_recommended(&mut work);
    if let Some(argument) = version_argument(scene.file, 2) {
        work.edits.extend(argument.edits);
    }
    hints::hidden(&mut work);
    hints::ignore(&mut work);
    work
}

/// What the final stage starts from, in the end.
fn base(file: &Dockerfile) -> Option<String> {
    let stages = file.stages();
    let mut stage = stages.last()?;
    // Stages only start from earlier ones.
    while let Some(parent) = stage.parent {
        stage = stages.get(parent)?;
    }
    Some(stage.base.clone())
}

fn earlier_stages(file: &Dockerfile) -> Vec<StageSize> {
    let mut stages = file.stages();
    stages.pop();
    let size = |stage: crate::formats::dockerfile::Stage| StageSize {
        name: stage.name.unwrap_or_default(),
        base: stage.base,
        merged_bytes: None,
    };
    stages.into_iter().map(size).collect()
}

#[cfg(test)]
mod tests;
