//! Why a file or folder is in an image, schema `cutaway.why/1`: what brought it, who owns and loads it, which finding it
//! is in, and what would happen without it.

mod folder;
mod history;
mod loading;
mod make;
mod path;
mod text;
mod without;

use schemars::JsonSchema;
use serde::Serialize;

use super::library::PackageName;
use super::options::Generator;
use super::vocabulary;
use super::words::Word;

pub use folder::{WhyFolder, WhyShare};
pub(super) use history::KINDS;
pub use history::{WhyLayer, WhyVersion};
pub use loading::{WhyLoading, WhyStep, search_step};
pub use path::PathName;
pub use without::{Effect, WhyWithout};

/// Schema of this document.
const SCHEMA: &str = "cutaway.why/1";

/// Why a path is in an image.
#[derive(Clone, Debug, JsonSchema, PartialEq, Serialize)]
pub struct WhyReport {
    /// Name and version of this schema.
    #[schemars(extend("const" = SCHEMA))]
    pub schema: Word,
    /// Generator of this document.
    pub generator: Generator,
    /// The image.
    pub image: WhyImage,
    /// Absolute path, escaped.
    pub path: PathName,
    /// file, folder, symlink or other.
    #[schemars(transform = vocabulary::path_kind)]
    pub kind: Word,
    /// Whether a container sees it. If not, this is about its last version, which an upper layer removed.
    pub visible: bool,
    /// Logical bytes; for a folder, those of the files below it, each inode once. Null for other kinds.
    pub bytes: Option<u64>,
    /// Regular files at or below it.
    pub files: u64,
    /// Target of a symbolic link, as stored.
    pub link: Option<String>,
    /// What the link leads to in a container; null if that does not exist, and for all else.
    pub link_target: Option<PathName>,
    /// Further names of the same inode.
    pub other_names: Vec<PathName>,
    /// The layer that brought this version; null for a folder that exists only through paths below it.
    pub layer: Option<WhyLayer>,
    /// All versions, the lowest first.
    pub versions: Vec<WhyVersion>,
    /// The package that owns it.
    pub package: Option<WhyPackage>,
    /// Who loads it; null if it is no ELF file that the loader resolves.
    pub loading: Option<WhyLoading>,
    /// Settings of the image that name it, such as `ENTRYPOINT` or `ENV PATH`.
    pub settings: Vec<String>,
    /// Files of the application whose text names it.
    pub references: Vec<WhyReference>,
    /// Findings that it is part of.
    pub findings: Vec<WhyFinding>,
    /// What would happen without it.
    pub without: WhyWithout,
    /// Totals of a folder; null for all else.
    pub folder: Option<WhyFolder>,
}

/// The image.
#[derive(Clone, Debug, JsonSchema, PartialEq, Serialize)]
pub struct WhyImage {
    /// The reference as it was given, without user info.
    pub reference: String,
    /// Digest of the manifest bytes.
    pub manifest_digest: Option<String>,
    /// Whether every layer was read: otherwise parts of the answer may be missing.
    pub complete: bool,
}

/// A package with the layer that installed it.
#[derive(Clone, Debug, JsonSchema, PartialEq, Serialize)]
pub struct WhyPackage {
    /// The package.
    #[serde(flatten)]
    pub name: PackageName,
    /// The lowest layer whose package database has this version.
    pub layer: u16,
    /// Number of its files; null without a file list.
    pub files: Option<u64>,
    /// Their bytes; null without a file list.
    pub bytes: Option<u64>,
    /// Where its manager recorded that it was installed as a dependency; null otherwise.
    pub automatic: Option<Word>,
}

/// A file that names the path.
#[derive(Clone, Debug, JsonSchema, PartialEq, Serialize)]
pub struct WhyReference {
    /// The file that contains the name.
    pub path: PathName,
    /// The names.
    pub names: Vec<String>,
}

/// A finding that the path is part of.
#[derive(Clone, Debug, JsonSchema, PartialEq, Serialize)]
pub struct WhyFinding {
    /// Its id.
    pub id: String,
    /// Rule id, as in `cutaway explain`.
    #[schemars(transform = vocabulary::finding_rule)]
    pub rule: Word,
    /// Title, one line.
    pub title: String,
    /// safe, needed, unsure.
    #[schemars(transform = vocabulary::verdict)]
    pub verdict: Word,
    /// Category.
    #[schemars(transform = vocabulary::category)]
    pub category: Word,
    /// Files of this path in the finding.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Bytes of the whole finding.
    pub finding_bytes: u64,
    /// Reason of the verdict.
    pub reason: String,
    /// The question that decides the verdict, if it needs review.
    pub question: Option<String>,
    /// The statements that prove the verdict.
    pub proof: Vec<String>,
    /// Files and settings that use or name it.
    pub used_by: Vec<String>,
    /// Whether it is about versions of this path that an upper layer shadows, and not about what a container sees.
    #[serde(skip)]
    #[schemars(skip)]
    pub shadowed: bool,
}
