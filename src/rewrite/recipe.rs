//! The Dockerfile to change: the user's own, or one reconstructed from the image history; and which layers each of its
//! instructions created.

mod align;
mod arguments;
mod base;
mod belongs;
mod copied;
mod forms;
mod given;
mod history_tokens;
mod matching;
mod page;
mod rebuild;
mod redaction_policy;
mod run;
mod settings;
mod step;
mod values;
mod write;

use oci_spec::image::{Config, History};

use redaction_policy::RedactionPolicy;

pub(super) use write::NAMED_BY_LAYER;

use super::input::{DOCKERFILE_BYTES, Given, Input, RewriteError};
use crate::cuda::BaseImage;
use crate::formats::dockerfile::{Dockerfile, Keyword, parse};

/// The origin of a recipe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Provided by the user, with its name.
    Given(String),
    /// Reconstructed from the image's history.
    Reconstructed,
}

/// A Dockerfile and the layers of its instructions.
#[derive(Clone, Debug)]
pub struct Recipe {
    /// The file.
    pub file: Dockerfile,
    /// Its origin.
    pub origin: Origin,
    /// One for each instruction of the file.
    pub ties: Vec<InstructionLayers>,
    /// Number of layers of the final stage's base image; `None` when the history does not record it.
    pub base_layers: Option<usize>,
    /// What is unknown, in sentences, each with the line of the file.
    pub unknown: Vec<(u32, String)>,
}

/// The history entries and layers of an instruction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InstructionLayers {
    /// Entries of the image's history, counted from 0; none when the instruction is not part of the final image (of an
    /// earlier stage), or leaves no trace.
    pub history: Vec<usize>,
    /// Layers, counted from 0 at the bottom.
    pub layers: Vec<u16>,
    /// Content bytes of these layers; `None` when a layer was not read.
    pub content_bytes: Option<u64>,
}

/// The only layer of these instructions, if several of them created it: buildah does so without `--layers`, kaniko with
/// `--single-snapshot`. The history names the last instruction, which may be a `CMD`. With the instructions that may have
/// added its files.
pub(super) fn shared_layer(
    file: &Dockerfile,
    ties: &[InstructionLayers],
    places: impl Iterator<Item = usize> + Clone,
) -> Option<(u16, Vec<usize>)> {
    let mut layers = places.clone().filter_map(|place| ties.get(place)).flat_map(|tie| &tie.layers);
    let layer = *layers.next()?;
    let adds_files = |place: &usize| {
        let keyword = file.instructions.get(*place).map(|one| one.keyword);
        matches!(keyword, Some(Keyword::Run | Keyword::Copy | Keyword::Add))
            && ties.get(*place).is_some_and(|tie| !tie.history.is_empty())
    };
    let makers: Vec<usize> = places.filter(adds_files).collect();
    let is_shared = makers.iter().filter_map(|place| ties.get(*place)).any(|tie| tie.layers.is_empty());
    (is_shared && layers.all(|other| *other == layer)).then_some((layer, makers))
}

/// The facts about an image that a recipe needs.
struct Facts<'a> {
    history: &'a [History],
    config: Option<&'a Config>,
    /// Content bytes of each layer, bottom first; `None` for one that was not read.
    layers: Vec<Option<u64>>,
    base: Option<&'a BaseImage>,
    redaction_policy: RedactionPolicy,
    /// Names of the files that the `COPY` of a layer likely put into this folder, an absolute path.
    copied: &'a dyn Fn(usize, &str) -> Option<Vec<String>>,
}

/// Reads or rebuilds the recipe of an image.
///
/// # Errors
/// The given file is not a Dockerfile, or does not belong to the image.
pub(super) fn recipe(input: &Input<'_>) -> Result<Recipe, RewriteError> {
    let config = input.image.config.as_ref();
    let content = |read: &Option<_>| {
        read.as_ref().map(|read: &std::sync::Arc<crate::layer::LayerRead>| read.index.counts().content_bytes)
    };
    let copied = |layer: usize, to: &str| copied::names(&input.layers.get(layer)?.as_ref()?.index, to);
    let facts = Facts {
        history: config.and_then(|config| config.history().as_deref()).unwrap_or_default(),
        config: config.and_then(|config| config.config().as_ref()),
        layers: input.layers.iter().map(content).collect(),
        base: input.inventory.base.as_ref(),
        redaction_policy: RedactionPolicy { shows: input.show_secrets },
        copied: &copied,
    };
    match &input.dockerfile {
        Some(given) => facts.given(given),
        None => facts.rebuilt(),
    }
}

impl Facts<'_> {
    fn given(&self, given: &Given<'_>) -> Result<Recipe, RewriteError> {
        let name = || given.name.to_owned();
        if given.text.len() > DOCKERFILE_BYTES {
            let (bytes, most) = (given.text.len(), DOCKERFILE_BYTES);
            return Err(RewriteError::TooLarge { name: name(), bytes, most });
        }
        let file = parse(given.text).map_err(|source| RewriteError::Syntax { name: name(), source })?;
        let steps = step::read(self.history);
        let fits = self.fits(&steps);
        let found = base::find(&steps, self.base, fits);
        let last = self.config.map(settings::of_config).unwrap_or_default();
        let mut held = given::hold(&file, &steps, &found, self.base, &last)
            .map_err(|why| RewriteError::Foreign { name: name(), why })?;
        self.tell_misfit(&steps, &mut held.unknown);
        held.unknown.sort_by_key(|(line, _)| *line);
        let ties = held.ties.into_iter().map(|entries| self.tie(&steps, fits, entries)).collect();
        let base_layers = held.base_layers.filter(|_| fits || steps.is_empty());
        Ok(Recipe { file, origin: Origin::Given(name()), ties, base_layers, unknown: held.unknown })
    }

    fn rebuilt(&self) -> Result<Recipe, RewriteError> {
        let steps = step::read(self.history);
        let fits = self.fits(&steps);
        let found = base::find(&steps, self.base, fits);
        let last = self.config.map(settings::of_config);
        let distribution = self.base.and_then(|base| base.distribution.as_deref());
        let copied = |layer: usize, to: &str| (self.copied)(layer, to).filter(|_| fits);
        let mut page =
            rebuild::rebuild(&steps, &found, last.as_ref(), distribution, self.redaction_policy, &copied);
        self.tell_misfit(&steps, &mut page.unknown);
        page.unknown.sort_by_key(|(line, _)| *line);
        let file = parse(page.text.as_bytes()).map_err(|source| RewriteError::Syntax {
            name: "the Dockerfile reconstructed from the image history".to_owned(),
            source,
        })?;
        let ties = page.ties.into_iter().map(|entries| self.tie(&steps, fits, entries)).collect();
        let unknown = page.unknown;
        Ok(Recipe { file, origin: Origin::Reconstructed, ties, base_layers: found.layers, unknown })
    }

    /// Whether the history has as many layers as the image.
    fn fits(&self, steps: &[step::Step<'_>]) -> bool {
        step::layers(steps) == self.layers.len()
    }

    fn tell_misfit(&self, steps: &[step::Step<'_>], unknown: &mut Vec<(u32, String)>) {
        if !self.fits(steps) && !steps.is_empty() {
            let (told, are) = (step::layers(steps), self.layers.len());
            let what = format!(
                "The history has {told} layers, the image {are}: which instruction created which layer \
                 is unknown."
            );
            unknown.insert(0, (1, what));
        }
    }

    fn tie(&self, steps: &[step::Step<'_>], fits: bool, history: Vec<usize>) -> InstructionLayers {
        let made = |place: &usize| u16::try_from(steps.get(*place)?.layer?).ok();
        let layers: Vec<u16> = if fits { history.iter().filter_map(made).collect() } else { Vec::new() };
        let bytes = |layer: &u16| self.layers.get(usize::from(*layer)).copied().flatten();
        // The layers of an instruction without a trace are unknown.
        let content_bytes =
            layers.iter().map(bytes).sum::<Option<u64>>().filter(|_| fits && !history.is_empty());
        InstructionLayers { history, layers, content_bytes }
    }
}

#[cfg(test)]
mod tests;
