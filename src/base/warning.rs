//! Warnings: faults that do not stop the analysis.

use std::fmt;

use serde::{Serialize, Serializer};

use super::words::words;

/// Stable codes of warnings; scripts may match them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum WarningCode {
    /// The bytes of a layer are not available (a foreign layer, or a blob that is missing from the source).
    LayerMissing,
    /// The layer's bytes end early, or cannot be read or inflated.
    LayerCutShort,
    /// The layer is not a readable tar stream.
    LayerMalformed,
    /// The file changed while it was read: contents may be inconsistent.
    SourceChanged,
    /// The bytes do not match the declared digest or diff id.
    DigestMismatch,
    /// The number of bytes differs from the manifest.
    SizeMismatch,
    /// The media type declares a different compression than the content has.
    MediaTypeMismatch,
    /// Data after the end of the tar stream or of the compressed stream.
    TrailingData,
    /// A tar header is unusual but could be read.
    TarOddity,
    /// A path leaves the root by `..`, or a whiteout its folder; it was kept inside.
    PathEscapes,
    /// The target of a hard link is missing.
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
    /// Parts of an ELF file, static archive or GPU code contradict each other or are truncated.
    BinaryMalformed,
    /// A package database, file list or version file cannot be read, or only partly.
    PackagesMalformed,
    /// Not analysed, because a limit was reached.
    FactsLimited,
    /// Library search: an entrypoint that is not a file, a limit on work.
    LinksOddity,
    /// Informational: figures of the layer are from its table of contents; its bytes were not read completely.
    FromTable,
    /// More warnings with this code were counted, not stored.
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

/// A fault: its stable code, message and subject.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Warning {
    /// Stable code.
    pub code: WarningCode,
    /// One sentence, safe to show.
    pub message: String,
    /// The layer (`layer 3, sha256:…`), file or object, safe to show.
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

/// Collects warnings and stores a limited number per code, so that a hostile layer with a million faults costs a
/// counter and not a million strings.
#[derive(Clone, Debug, Default)]
pub struct Warnings {
    kept: Vec<Warning>,
    counts: std::collections::BTreeMap<WarningCode, usize>,
    per_code: usize,
}

impl Warnings {
    /// Stores up to `per_code` warnings of each code.
    pub fn with_limit(per_code: usize) -> Self {
        Self { per_code, ..Self::default() }
    }

    /// Adds a warning; `make` is called only if it is stored.
    pub fn push_with(&mut self, code: WarningCode, make: impl FnOnce() -> (String, String)) {
        let count = self.counts.entry(code).or_default();
        *count += 1;
        if *count <= self.per_code {
            let (subject, message) = make();
            self.kept.push(Warning { code, message: cut(message), subject: cut(subject) });
        }
    }

    /// All stored warnings, and one for each code with more.
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
