//! The final stage of a recipe.

use std::collections::BTreeSet;

use crate::formats::dockerfile::Dockerfile;
use crate::rewrite::recipe::{Recipe, shared_layer};

/// The instructions that create the image, from the base image on, through stages that start from each other.
pub(super) struct Final<'r> {
    pub(super) file: &'r Dockerfile,
    /// The `FROM` of the final stage.
    pub(super) from: usize,
    /// The `FROM` of the first stage in its chain.
    pub(super) base_from: usize,
    /// The base image of that first stage, with arguments filled in.
    pub(super) base: String,
    /// Names of all stages.
    pub(super) names: BTreeSet<String>,
    /// Instructions of all these stages, in order, without their `FROM`s.
    pub(super) steps: Vec<usize>,
    /// The layer that several of them created together.
    pub(super) shared: Option<SharedLayer>,
}

/// The only layer above the base image where several instructions add files.
pub(super) struct SharedLayer {
    /// The layer.
    pub(super) layer: u16,
    /// The instructions that may have added its files.
    makers: Vec<usize>,
}

impl SharedLayer {
    fn of(recipe: &Recipe, steps: &[usize]) -> Option<Self> {
        let (layer, makers) = shared_layer(&recipe.file, &recipe.ties, steps.iter().copied())?;
        Some(Self { layer, makers })
    }
}

impl<'r> Final<'r> {
    /// `None` when the file has no stage.
    pub(super) fn of(recipe: &'r Recipe) -> Option<Self> {
        let file = &recipe.file;
        let stages = file.stages();
        let last = stages.last()?;
        let mut chain = vec![last];
        while let Some(parent) = chain.last().and_then(|stage| stage.parent) {
            if chain.len() > stages.len() {
                break;
            }
            chain.push(stages.get(parent)?);
        }
        let base = chain.last()?.base.clone();
        let steps: Vec<usize> = chain.iter().rev().flat_map(|stage| stage.body.clone()).collect();
        Some(Self {
            file,
            from: last.from,
            base_from: chain.last()?.from,
            base,
            names: stages.iter().filter_map(|stage| stage.name.clone()).collect(),
            shared: SharedLayer::of(recipe, &steps),
            steps,
        })
    }

    /// The layers to which an instruction may have added files.
    pub(super) fn layers_of(&self, recipe: &Recipe, place: usize) -> Vec<u16> {
        let mut layers = recipe.ties.get(place).map(|tie| tie.layers.clone()).unwrap_or_default();
        if let Some(shared) = &self.shared {
            layers.retain(|layer| *layer != shared.layer);
            layers.extend(shared.makers.contains(&place).then_some(shared.layer));
        }
        layers
    }

    /// An unused name for the build stage. The new final stage keeps the name of the current one: builds select it by
    /// `--target`.
    pub(super) fn build_name(&self) -> String {
        let names = ["build", "builder", "build-stage"].into_iter().map(str::to_owned);
        let more = (2..).map(|number| format!("build-{number}"));
        names.chain(more).find(|name| !self.names.contains(name)).unwrap_or_default()
    }

    /// The text of an instruction without the end of its last line.
    pub(super) fn text(&self, step: usize) -> &'r str {
        self.file.slice(&self.file.instructions[step].span).trim_end_matches(['\r', '\n'])
    }
}
