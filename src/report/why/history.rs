//! Layers and versions of a path.

use schemars::JsonSchema;
use serde::Serialize;

use crate::analysis::Analysis;
use crate::report::options::Options;
use crate::report::short_instruction;
use crate::report::vocabulary;
use crate::report::words::Word;
use crate::rootfs::{NodeKind, PathId, Timeline, Version};

/// A layer, and the instruction that created it.
#[derive(Clone, Debug, JsonSchema, PartialEq, Serialize)]
pub struct WhyLayer {
    /// Its number, counted from 0 at the bottom.
    pub layer: u16,
    /// Digest of the blob.
    pub digest: Option<String>,
    /// The instruction, as in a Dockerfile, secrets redacted.
    pub instruction: Option<String>,
    /// Whether it belongs to the base image; null if its end is unknown.
    pub is_base: Option<bool>,
    /// Probable reference of that base image.
    pub base: Option<String>,
}

/// One version of the path.
#[derive(Clone, Debug, JsonSchema, PartialEq, Serialize)]
pub struct WhyVersion {
    /// The layer that has it.
    pub layer: u16,
    /// The instruction of that layer.
    pub instruction: Option<String>,
    /// file, folder, symlink or other.
    #[schemars(transform = vocabulary::path_kind)]
    pub kind: Word,
    /// Bytes of a file.
    pub bytes: Option<u64>,
    /// The layer that removes or replaces it; null if a container sees it.
    pub hidden_by: Option<u16>,
    /// Whether that layer has another version in its place.
    pub replaced: bool,
}

/// The word for a kind.
pub(super) const fn kind_name(kind: NodeKind) -> &'static str {
    match kind {
        NodeKind::File => "file",
        NodeKind::Directory => "folder",
        NodeKind::Symlink => "symlink",
        NodeKind::Other => "other",
    }
}

/// All words for kinds.
pub(in crate::report) const KINDS: [&str; 4] = [
    kind_name(NodeKind::File),
    kind_name(NodeKind::Directory),
    kind_name(NodeKind::Symlink),
    kind_name(NodeKind::Other),
];

pub(super) fn instruction(analysis: &Analysis, layer: u16, options: &Options) -> Option<String> {
    let text = analysis.image.layers.get(usize::from(layer))?.created_by.as_ref()?;
    Some(options.instruction(&short_instruction(text)))
}

pub(super) fn layer(analysis: &Analysis, number: u16, options: &Options) -> WhyLayer {
    let source = analysis.image.layers.get(usize::from(number));
    let base =
        analysis.inventory.as_deref().and_then(|found| found.base.as_ref()).filter(|base| base.layers > 0);
    let is_base = base.map(|base| usize::from(number) < base.layers);
    WhyLayer {
        layer: number,
        digest: source.and_then(|source| source.digest.as_ref()).map(ToString::to_string),
        instruction: instruction(analysis, number, options),
        is_base,
        base: base.filter(|_| is_base == Some(true)).and_then(|base| base.reference.clone()),
    }
}

/// All versions of a path, the lowest first.
pub(super) fn versions(
    analysis: &Analysis,
    timeline: &Timeline,
    path: PathId,
    options: &Options,
) -> Vec<WhyVersion> {
    let all: Vec<Version> = timeline.versions(path).collect();
    let line = |(place, version): (usize, &Version)| WhyVersion {
        layer: version.layer,
        instruction: instruction(analysis, version.layer, options),
        kind: kind_name(version.kind).into(),
        bytes: (version.kind == NodeKind::File).then(|| timeline.bytes(version)),
        hidden_by: version.until,
        replaced: all.get(place + 1).is_some_and(|next| Some(next.layer) == version.until),
    };
    all.iter().enumerate().map(line).collect()
}
