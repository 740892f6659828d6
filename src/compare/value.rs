//! Values of a comparison. Each list `Vec<_>` with one value per image is in the order of the images.
//!
//! A size is `None` if unknown, and 0 if the image is known to have none.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::labels::labelled;
use crate::base::words::{Word, words};
use crate::cuda::{CODE_KINDS, MANAGERS};
use crate::findings::rules;

/// What became of a path in an image against another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Change {
    /// Both have it, with the same content.
    Same,
    /// Only the image has it.
    Added,
    /// Only the baseline has it.
    Removed,
    /// Both have it; kind, size, content or target of a link differ. A folder: something below it differs.
    Changed,
    /// Both have a file of one size, and the contents could not be compared; or a device or pipe. A folder: nothing
    /// below it is known to differ, and something is unknown.
    Unknown,
    /// Neither has it.
    Absent,
}

words!(Change {
    Added = "added",
    Removed = "removed",
    Changed = "changed",
    Unknown = "unknown",
    Same = "same",
    Absent = "absent",
});

labelled!(Change: CHANGES);

impl Change {
    /// Marker, so that the meaning does not depend on colour.
    pub const fn sign(self) -> &'static str {
        match self {
            Self::Same | Self::Absent => "",
            Self::Added => "+",
            Self::Removed => "−",
            Self::Changed => "~",
            Self::Unknown => "?",
        }
    }
}

/// A layer, and the images that have it.
#[derive(Clone, Debug, PartialEq)]
pub struct LayerRow {
    /// Digest of the blob in the first image that has it.
    pub digest: Option<String>,
    /// Digest of the tar stream.
    pub diff_id: Option<String>,
    /// Blob as stored in each image; `None` where an image does not have the layer, or its size is not known.
    pub bytes: Vec<Option<u64>>,
    /// Regular files of the layer.
    pub content_bytes: Option<u64>,
    /// Where each image has it, from 0 at the bottom; a layer may be in an image several times, or not at all.
    pub places: Vec<Vec<usize>>,
    /// How the layer of each image is known to be that of the first that has it; `None` where it is not there.
    pub matches: Vec<Option<LayerMatch>>,
    /// Instruction that created it in the first image that has it, not redacted.
    pub created_by: Option<String>,
}

impl LayerRow {
    /// The images that have it.
    pub fn shared_by(&self) -> impl Iterator<Item = usize> + '_ {
        self.places.iter().enumerate().filter(|(_, places)| !places.is_empty()).map(|(image, _)| image)
    }
}

/// How two layers are known to be the same; the strongest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LayerMatch {
    /// The same blob: pulled once.
    Digest,
    /// The same tar stream, packed in another way.
    DiffId,
    /// The same paths, kinds, owners, modes, links and contents of files; only times or the order differ. It would
    /// be the same blob if the build were reproducible.
    Content,
}

words!(LayerMatch {
    Digest = "digest",
    DiffId = "diff-id",
    Content = "content",
});

labelled!(LayerMatch: LAYER_MATCHES);

/// A CUDA component.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
#[schemars(rename = "CompareComponent")]
pub struct ComponentRow {
    /// Name.
    pub name: String,
    /// Bytes in each image, each inode once.
    pub bytes: Vec<Option<u64>>,
    /// Versions of its libraries, joined by commas; null if absent or unknown.
    pub versions: Vec<Option<String>>,
}

/// GPU code of an architecture.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
#[schemars(rename = "CompareGpuCode")]
pub struct GpuCodeRow {
    /// `sm_90a`, `compute_90`, `lto_90`.
    pub arch: String,
    /// sass, ptx, lto, other.
    #[schemars(extend("enum" = CODE_KINDS))]
    pub kind: Word,
    /// Bytes as stored in each image.
    pub bytes: Vec<Option<u64>>,
}

/// A package.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
#[schemars(rename = "ComparePackage")]
pub struct PackageRow {
    /// dpkg, rpm, apk, pip, conda.
    #[schemars(extend("enum" = MANAGERS))]
    pub manager: Word,
    /// Name.
    pub name: String,
    /// Versions in each image, several joined by commas; null where it is not installed.
    pub versions: Vec<Option<String>>,
    /// Bytes of its files; null if unknown or not installed.
    pub bytes: Vec<Option<u64>>,
}

/// A variable, label or other setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingRow {
    /// Its name: of a variable, of a label with `label ` before it, or such as `entrypoint`.
    pub name: String,
    /// Its value in each image; `None` where it is not set. Words of commands are as [`Self::words`] has them.
    pub values: Vec<Option<String>>,
    /// The same as words, for `entrypoint` and `command`; empty for all else.
    pub words: Vec<Option<Vec<String>>>,
}

impl SettingRow {
    /// Whether an image has another value than the first.
    pub fn differs(&self) -> bool {
        let words = self.words.windows(2).any(|pair| pair[0] != pair[1]);
        words || self.values.windows(2).any(|pair| pair[0] != pair[1])
    }
}

/// Findings of a rule.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
#[schemars(rename = "CompareFinding")]
pub struct FindingRow {
    /// The rule.
    #[schemars(extend("enum" = rules().map(|rule| rule.id).collect::<Vec<_>>()))]
    pub rule: Word,
    /// Layer bytes of the findings; null if the rules did not run.
    pub bytes: Vec<Option<u64>>,
    /// Number of findings; null if the rules did not run.
    pub counts: Vec<Option<u64>>,
}

/// Regular files of an image against those of the baseline, by path.
//
// A file with several names counts at each of them, with its logical bytes. Where only one of both has a file at a path
// and the other a folder or link, that is a changed file, with no bytes in the other.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
#[schemars(rename = "CompareFiles")]
pub struct FileSums {
    /// Paths that only the image has.
    pub added: u64,
    /// Paths that only the first has.
    pub removed: u64,
    /// Paths of both whose size or content differs.
    pub changed: u64,
    /// Paths of both with one size, whose contents could not be compared.
    pub unknown: u64,
    /// Paths of both with the same content.
    pub same: u64,
    /// Bytes of the added files.
    pub added_bytes: u64,
    /// Bytes of the removed files, in the first image.
    pub removed_bytes: u64,
    /// Bytes of the changed files, in the image.
    pub changed_bytes: u64,
    /// Bytes of the changed files, in the first image.
    pub changed_bytes_before: u64,
    /// Bytes of the files whose contents could not be compared.
    pub unknown_bytes: u64,
}
