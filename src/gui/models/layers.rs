//! The layers of an image as a table.

use crate::analysis::{Analysis, Layer};
use crate::base::digest::{Digest, short};
use crate::base::redact;
use crate::base::size::{grouped, human_or_dash};
use crate::base::text::counted;
use crate::base::text::printable;
use crate::gui::models::files::PathFact;
use crate::gui::models::format;
use crate::report::short_instruction;
use crate::source::LayerSource;

/// Progress of the work on a layer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LayerState {
    /// Nothing is known of it yet.
    Waiting,
    /// Read to its end.
    Ready,
    /// Read in part: why.
    Incomplete(String),
    /// Nothing could be read of it: why.
    Failed(String),
    /// Nothing will come: the work was stopped before it.
    Stopped,
}

impl LayerState {
    /// Whether some of its files are known.
    pub fn has_files(&self) -> bool {
        matches!(self, Self::Ready | Self::Incomplete(_))
    }

    /// A word for it; empty where all is well.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Ready => "",
            Self::Waiting => "not read yet",
            Self::Incomplete(_) => "incomplete",
            Self::Failed(_) => "failed",
            Self::Stopped => "not read",
        }
    }

    /// What is wrong with it.
    pub fn fault(&self) -> Option<&str> {
        match self {
            Self::Incomplete(why) | Self::Failed(why) => Some(why),
            Self::Waiting | Self::Ready | Self::Stopped => None,
        }
    }
}

/// One layer as it is listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LayerItem {
    /// From 0 at the bottom.
    pub index: usize,
    /// The instruction in one line, without the shell that every `RUN` has; the digest where there is
    /// none. Safe to show, secrets redacted.
    pub title: String,
    /// The whole instruction, for a tooltip.
    pub instruction: String,
    /// Progress of the work on it.
    pub state: LayerState,
    /// The blob as stored.
    pub compressed: Option<u64>,
    /// Its regular files.
    pub content: Option<u64>,
    /// Bytes of them that no path of the merged view reaches.
    pub wasted: Option<u64>,
    /// Bytes, here or below, that this layer hides.
    pub hides: Option<u64>,
    /// How many entries it has.
    pub entries: Option<u64>,
}

/// The base image of an image whose lowest layers are known to be those of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BaseLayers {
    /// Its name, safe to show; `None` if only its layers are known.
    pub name: Option<String>,
    /// How many layers it has; at least one of the image is above them.
    pub count: usize,
}

impl BaseLayers {
    /// The base image, once the inventory is there. `None` without one, or if its end is unknown.
    pub fn of(analysis: &Analysis) -> Option<Self> {
        let base = analysis.inventory.as_deref()?.base.as_ref()?;
        let is_part = base.layers > 0 && base.layers < analysis.layers.len();
        is_part.then(|| Self { name: base_name(analysis), count: base.layers })
    }

    /// Whether a layer is part of it.
    pub fn has(&self, layer: usize) -> bool {
        layer < self.count
    }

    /// `Base image ubuntu:22.04`.
    pub fn title(&self) -> String {
        self.name.as_ref().map_or_else(|| "Base image".to_owned(), |name| format!("Base image {name}"))
    }
}

/// The name of the base image, else its distribution; safe to show.
pub fn base_name(analysis: &Analysis) -> Option<String> {
    let base = analysis.inventory.as_deref()?.base.as_ref()?;
    base.reference.as_deref().or(base.distribution.as_deref()).map(printable)
}

impl LayerItem {
    /// All layers of an image, bottom first. With `done`, what is missing will not come.
    pub fn all(analysis: &Analysis, done: bool) -> Vec<Self> {
        let layers = analysis.image.layers.iter().zip(&analysis.layers).enumerate();
        // Files of a layer that was not read completely may be wasted, or shadow those of any lower layer.
        let unread = analysis.layers.iter().any(Self::has_fault);
        let item = |(index, (source, layer))| {
            let mut item = Self::new(analysis, index, source, layer, done);
            item.wasted = item.wasted.filter(|bytes| *bytes > 0 || !unread);
            item
        };
        layers.map(item).collect()
    }

    /// Whether a part of a layer could not be read.
    pub(super) fn has_fault(layer: &Layer) -> bool {
        layer.fault.is_some() || layer.read.as_deref().is_some_and(|read| !read.complete)
    }

    /// One layer, by its number; `None` where there is none.
    pub(super) fn of(analysis: &Analysis, index: usize, done: bool) -> Option<Self> {
        let (source, layer) = (analysis.image.layers.get(index)?, analysis.layers.get(index)?);
        Some(Self::new(analysis, index, source, layer, done))
    }

    fn new(analysis: &Analysis, index: usize, source: &LayerSource, layer: &Layer, done: bool) -> Self {
        let read = layer.read.as_deref();
        let instruction = source.created_by.as_deref().map(|text| printable(&redact::instruction(text)));
        let one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let digest = source.digest.as_ref().or(source.diff_id.as_ref()).map(ToString::to_string);
        let title = match (&instruction, &digest) {
            (Some(text), _) => brief(&one_line(&short_instruction(text))),
            (None, Some(digest)) => printable(short(digest)),
            (None, None) => format!("layer {index}"),
        };
        let state = state(layer, done);
        // Of a layer whose first entry was not reached nothing is known: that is not zero.
        let known = !matches!(state, LayerState::Failed(_));
        let waste = analysis.waste(index).filter(|_| read.is_some() && known);
        let counts = layer.counts().filter(|_| known);
        Self {
            index,
            title,
            instruction: instruction.or_else(|| digest.as_deref().map(printable)).unwrap_or_default(),
            state,
            compressed: analysis.layer_compressed(index),
            content: counts.map(|counts| counts.content_bytes),
            wasted: waste.map(|waste| waste.wasted_bytes),
            hides: waste.map(|waste| waste.hides_bytes),
            entries: counts.map(|counts| counts.entries),
        }
    }

    /// Its sizes by name; a dash for what is not known.
    pub fn sizes(&self) -> Vec<PathFact> {
        let sizes = [
            ("Compressed", self.compressed),
            ("Content", self.content),
            ("Wasted", self.wasted),
            ("Shadows", self.hides),
        ];
        let dash = || human_or_dash(None);
        let facts =
            sizes.map(|(name, bytes)| PathFact { name, value: bytes.map_or_else(dash, format::exact) });
        let entries = self.entries.map(|count| PathFact { name: "Entries", value: grouped(count) });
        facts.into_iter().chain(entries).collect()
    }

    /// What its manifest and config declare: when it was created, digests and media type.
    pub fn declared(source: &LayerSource) -> Vec<PathFact> {
        let digest = |digest: &Option<Digest>| digest.as_ref().map(|digest| printable(digest.as_ref()));
        let facts = [
            ("Created", source.created.as_deref().map(format::created)),
            ("Digest", digest(&source.digest)),
            ("Diff ID", digest(&source.diff_id)),
            ("Media type", source.media_type.as_deref().map(printable)),
        ];
        facts.into_iter().filter_map(|(name, value)| Some(PathFact { name, value: value? })).collect()
    }

    /// Screen reader text.
    pub fn spoken(&self) -> String {
        self.spoken_with(self.state.word())
    }

    /// The same, with other words on how far it is.
    pub fn spoken_with(&self, state: &str) -> String {
        let mut text = format!("Layer {}: {}", self.index, self.title);
        if !state.is_empty() {
            text = format!("{text}, {state}");
        }
        format!(
            "{text}, compressed {}, content {}, wasted {}",
            human_or_dash(self.compressed),
            human_or_dash(self.content),
            human_or_dash(self.wasted)
        )
    }
}

fn state(layer: &Layer, done: bool) -> LayerState {
    if let Some(fault) = &layer.fault {
        return LayerState::Failed(fault.message.clone());
    }
    match layer.read.as_deref() {
        None if done => LayerState::Stopped,
        None => LayerState::Waiting,
        Some(read) if read.complete => LayerState::Ready,
        Some(read) => {
            let why = match read.warnings.as_slice() {
                [] => "only part of the layer could be read".to_owned(),
                // The fault that ended the pass comes last but for those of the digests.
                [one] => one.message.clone(),
                [.., _] => {
                    let text: Vec<_> = read.warnings.iter().map(|warning| warning.message.as_str()).collect();
                    text.join("; ")
                }
            };
            if read.index.is_empty() { LayerState::Failed(why) } else { LayerState::Incomplete(why) }
        }
    }
}

/// An instruction that has to fit one line: without what most of them begin with (`apt-get update`,
/// `set -eux`) and without options that do not affect what is installed.
pub fn brief(instruction: &str) -> String {
    const FIT: usize = 48;
    const PREPARE: [&str; 6] = ["apt-get update", "apt update", "set -e", "set -ex", "set -eux", "set -x"];
    const SILENT: [&str; 8] =
        ["-y", "-q", "-qq", "-qqy", "--yes", "--no-install-recommends", "--no-cache-dir", "--assume-yes"];
    let Some(command) = instruction.strip_prefix("RUN ").filter(|text| text.chars().count() > FIT) else {
        return instruction.to_owned();
    };
    let mut command = command;
    let mut skipped = false;
    while let Some((first, rest)) =
        ["&&", ";"].iter().filter_map(|end| command.split_once(end)).min_by_key(|(first, _)| first.len())
    {
        if !PREPARE.contains(&without(first, &SILENT).as_str()) {
            break;
        }
        (command, skipped) = (rest.trim_start(), true);
    }
    format!("RUN {}{}", if skipped { "… " } else { "" }, without(command, &SILENT))
}

fn without(text: &str, words: &[&str]) -> String {
    text.split_whitespace().filter(|word| !words.contains(word)).collect::<Vec<_>>().join(" ")
}

/// Which layers are not known yet, in words: `layer 2`, `layers 2 and 5`, `7 of 12 layers`.
pub fn waiting_for(items: &[LayerItem]) -> Option<String> {
    let waiting: Vec<usize> =
        items.iter().filter(|item| item.state == LayerState::Waiting).map(|item| item.index).collect();
    match waiting.as_slice() {
        [] => None,
        [one] => Some(format!("layer {one}")),
        [one, two] => Some(format!("layers {one} and {two}")),
        many if many.len() == items.len() => Some(format!("all {}", counted(items.len(), "layer"))),
        many => Some(format!("{} of {}", grouped(many.len() as u64), counted(items.len(), "layer"))),
    }
}

#[cfg(test)]
mod tests {
    use super::brief;

    #[test]
    fn long_instructions_begin_with_what_tells_them_apart() {
        for (text, shown) in [
            (
                "RUN apt-get update && apt-get install -y --no-install-recommends cuda-libraries && rm -rf /x",
                "RUN … apt-get install cuda-libraries && rm -rf /x",
            ),
            (
                "RUN apt-get update && apt-get install -y curl",
                "RUN apt-get update && apt-get install -y curl",
            ),
            (
                "COPY --chown=1:1 a-very-long-name another-very-long-name /srv/app",
                "COPY --chown=1:1 a-very-long-name another-very-long-name /srv/app",
            ),
            (
                "RUN set -eux; make -C /usr/src/some/long/path; make -C /usr/src install",
                "RUN … make -C /usr/src/some/long/path; make -C /usr/src install",
            ),
        ] {
            assert_eq!(brief(text), shown);
        }
    }
}
