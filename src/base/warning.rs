//! What went wrong without stopping the analysis.

use std::fmt;

use serde::{Serialize, Serializer};

use super::words::words;

/// Stable names of warnings; scripts may match them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum WarningCode {
    /// A layer has no bytes here (a foreign layer, or a blob that is not in the source).
    LayerMissing,
    /// The layer's bytes end early, or cannot be read or inflated.
    LayerCutShort,
    /// The layer is not a readable tar stream.
    LayerMalformed,
    /// The file changed while it was read: contents may be inconsistent.
    SourceChanged,
    /// The bytes do not have the digest or diff id that is claimed for them.
    DigestMismatch,
    /// The bytes are not as many as the manifest claims.
    SizeMismatch,
    /// The media type declares another compression than the contents have.
    MediaTypeMismatch,
    /// Something follows the end of the tar stream or of the compressed stream.
    TrailingData,
    /// A tar header is unusual but could be read.
    TarOddity,
    /// A path steps out of the root by `..`; it was kept inside.
    PathEscapes,
    /// A hard link names a file that is not there.
    HardLinkDangling,
    /// A path goes through a symbolic link: runtimes disagree whether to follow it.
    ParentIsSymlink,
    /// The image config cannot be read, or lacks required parts.
    ConfigIncomplete,
    /// The history of the config does not match the layers.
    HistoryMismatch,
    /// The manifest, index or archive breaks its specification but could be used.
    ManifestOddity,
    /// A folder or file of a root filesystem could not be read or was not entered.
    NotRead,
    /// An ELF file, static archive or GPU code has parts that contradict each other or are cut.
    BinaryMalformed,
    /// A package database, file list or version file cannot be read, or not to its end.
    PackagesMalformed,
    /// Not analysed, because a limit was reached.
    FactsLimited,
    /// Library search: an entrypoint that is not a file, a limit on work.
    LinksOddity,
    /// No fault: figures of the layer come from its table of contents, and its bytes were not read whole.
    FromTable,
    /// More warnings of the same kind were counted, not kept.
    MoreWarnings,
}

words!(WarningCode {
    LayerMissing = "layer-missing",
    LayerCutShort = "layer-cut-short",
    LayerMalformed = "layer-malformed",
    SourceChanged = "source-changed",
    DigestMismatch = "digest-mismatch",
    SizeMismatch = "size-mismatch",
    MediaTypeMismatch = "media-type-mismatch",
    TrailingData = "trailing-data",
    TarOddity = "tar-oddity",
    PathEscapes = "path-escapes",
    HardLinkDangling = "hard-link-dangling",
    ParentIsSymlink = "parent-is-symlink",
    ConfigIncomplete = "config-incomplete",
    HistoryMismatch = "history-mismatch",
    ManifestOddity = "manifest-oddity",
    NotRead = "not-read",
    BinaryMalformed = "binary-malformed",
    PackagesMalformed = "packages-malformed",
    FactsLimited = "facts-limited",
    LinksOddity = "links-oddity",
    FromTable = "from-table",
    MoreWarnings = "more-warnings",
});

impl fmt::Display for WarningCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for WarningCode {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// One fault: its stable code, what happened, and the thing it happened to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Warning {
    /// Stable name.
    pub code: WarningCode,
    /// One sentence for people, already safe to show.
    pub message: String,
    /// The layer (`layer 3, sha256:…`), file or object, already safe to show.
    pub subject: String,
}

impl Warning {
    /// A warning about `subject`.
    pub fn new(code: WarningCode, subject: impl Into<String>, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), subject: subject.into() }
    }
}

/// Maximum bytes of one text of a warning: names are untrusted.
const TEXT_BYTES: usize = 4 << 10;

fn cut(mut text: String) -> String {
    if text.len() > TEXT_BYTES {
        text.truncate(text.floor_char_boundary(TEXT_BYTES));
        text.push('…');
    }
    text
}

/// Gathers warnings and keeps at most a set number of each code, so that a hostile layer with a
/// million faults costs a counter and not a million strings.
#[derive(Clone, Debug, Default)]
pub struct Warnings {
    kept: Vec<Warning>,
    counts: std::collections::BTreeMap<WarningCode, usize>,
    per_code: usize,
}

impl Warnings {
    /// Keeps up to `per_code` warnings of each code.
    pub fn with_limit(per_code: usize) -> Self {
        Self { per_code, ..Self::default() }
    }

    /// Adds a warning; `make` is called only when it will be kept.
    pub fn push_with(&mut self, code: WarningCode, make: impl FnOnce() -> (String, String)) {
        let count = self.counts.entry(code).or_default();
        *count += 1;
        if *count <= self.per_code {
            let (subject, message) = make();
            self.kept.push(Warning { code, message: cut(message), subject: cut(subject) });
        }
    }

    /// All kept warnings, and one for each code of which some were not kept.
    pub fn finish(self, subject: &str) -> Vec<Warning> {
        let mut kept = self.kept;
        for (code, count) in self.counts {
            if count > self.per_code {
                let message = format!("{} more warnings with code {code}", count - self.per_code);
                kept.push(Warning::new(WarningCode::MoreWarnings, subject, message));
            }
        }
        kept
    }
}
