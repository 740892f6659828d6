//! In: complete package databases and metadata files of single packages, as bytes.
//! Out: the packages with their declared properties, and where a document is damaged; a database without
//! some of them.
//! Must not know: the location of a document, layers, which packages belong to CUDA.

pub mod apk;
pub mod apt;
pub mod conda;
pub mod dnf;
pub mod dpkg;
mod fields;
pub mod forget;
pub mod npm;
pub mod pip;
pub mod rpm;

use std::fmt::Display;

use hashbrown::HashSet;

/// One package, as a database declares it. Text is truncated at 4 KiB, and bytes that are not UTF-8 are replaced; it
/// must be escaped before it is shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Package {
    /// Its name.
    pub name: String,
    /// Its version: with rpm `[epoch:]version-release`, where an epoch of 0 is left out.
    pub version: String,
    /// Target architecture: `amd64`, `x86_64`, `noarch`; conda's `subdir`.
    pub architecture: Option<String>,
    /// Source package: `Source` of dpkg without its version, the source package of rpm, the origin of apk.
    pub source: Option<String>,
    /// Vendor: `Maintainer` of dpkg, vendor or else packager of rpm, maintainer of apk, author of a Python package,
    /// channel of conda. A channel may be a URL with a token.
    pub maker: Option<String>,
    /// Dependencies, each once: names without versions, all of several alternatives; for rpm and apk also files and
    /// sonames. For Python the lines of `Requires-Dist` as written.
    pub depends: Vec<String>,
    /// Recommended packages, in the same form; dpkg and rpm only.
    pub recommends: Vec<String>,
    /// Suggested packages, in the same form; dpkg only.
    pub suggests: Vec<String>,
    /// Names provided besides its own, without versions: virtual packages, and for rpm and apk capabilities.
    pub provides: Vec<String>,
    /// Whether the manager never removes it as unneeded: `Essential`, `Protected`, `Important`, on hold, or priority
    /// `required` or `important`. dpkg only.
    pub essential: bool,
    /// Whether it is installed. dpkg also lists removed packages; other databases list installed ones only.
    pub installed: bool,
    /// Paths of its files, links and folders in the order of the database; absolute, or for conda relative to the
    /// prefix. `None` if the format stores them elsewhere.
    pub files: Option<Vec<Vec<u8>>>,
}

/// A format violation in a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Offset in the document, in bytes. 0 if there is none, as for `SQLite` databases.
    pub at: u64,
    /// The violation, without text from the document.
    pub what: String,
}

/// Contents of a document.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Read {
    /// The packages, in the order of the document.
    pub packages: Vec<Package>,
    /// Unreadable parts: the first 20, then one that counts the rest.
    pub problems: Vec<Problem>,
}

/// Limits on the results of one document: short entries take many times their length in memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    /// Packages: whole distributions have fewer than a hundred thousand.
    pub(crate) packages: usize,
    /// Dependency names of all packages together: some 30 per package in practice.
    pub(crate) names: usize,
    /// Paths of all packages together: a large image has fewer than a million.
    pub(crate) paths: usize,
    /// Bytes of these paths: rpm stores a folder once for all its files, so they can exceed the document.
    pub(crate) path_bytes: usize,
}

impl Bounds {
    pub(crate) const USUAL: Self =
        Self { packages: 100_000, names: 4_000_000, paths: 4_000_000, path_bytes: 256 << 20 };
}

/// Maximum reported problems of a document.
const PROBLEMS: usize = 20;

/// Maximum bytes of a text: no real name, version or URL is that long.
const TEXT_BYTES: usize = 4096;

/// Collects packages and problems within the limits.
#[derive(Debug)]
struct Collector {
    read: Read,
    left: Bounds,
    unkept_problems: u64,
    /// Whether the omission of names or paths was reported.
    told: (bool, bool),
}

impl Collector {
    fn new(bounds: Bounds) -> Self {
        Self { read: Read::default(), left: bounds, unkept_problems: 0, told: (false, false) }
    }

    fn problem(&mut self, at: usize, what: impl Display) {
        if self.read.problems.len() < PROBLEMS {
            self.read.problems.push(Problem { at: at as u64, what: what.to_string() });
        } else {
            self.unkept_problems += 1;
        }
    }

    /// Adds a package; `false` if there are too many and reading should end.
    fn package(&mut self, at: usize, package: Package) -> bool {
        if self.left.packages == 0 {
            self.problem(at, "too many packages; the rest is omitted");
            return false;
        }
        self.left.packages -= 1;
        self.read.packages.push(package);
        true
    }

    /// The names in `names`, each once and none empty.
    fn names<'a>(&mut self, at: usize, names: impl Iterator<Item = &'a [u8]>) -> Vec<String> {
        let mut kept = Vec::new();
        let mut known = HashSet::new();
        for name in names {
            if name.is_empty() || known.contains(name) {
                continue;
            }
            if self.left.names == 0 {
                if !self.told.0 {
                    self.problem(at, "too many dependencies; the rest is omitted");
                    self.told.0 = true;
                }
                break;
            }
            self.left.names -= 1;
            known.insert(name);
            kept.push(text(name));
        }
        kept
    }

    /// Joins `parts` to a path and adds it to `files`; `false` if there are too many.
    fn path(&mut self, at: usize, files: &mut Vec<Vec<u8>>, parts: &[&[u8]]) -> bool {
        let bytes = parts.iter().fold(0_usize, |sum, part| sum.saturating_add(part.len()));
        if self.left.paths == 0 || self.left.path_bytes < bytes {
            if !self.told.1 {
                self.problem(at, "too many file names; the rest is omitted");
                self.told.1 = true;
            }
            return false;
        }
        self.left.paths -= 1;
        self.left.path_bytes -= bytes;
        files.push(parts.concat());
        true
    }

    fn finish(mut self) -> Read {
        if self.unkept_problems > 0 {
            let at = self.read.problems.last().map_or(0, |last| last.at);
            let what = format!("{} more problems", self.unkept_problems);
            self.read.problems.push(Problem { at, what });
        }
        self.read
    }
}

/// `bytes` as text: lines joined by a space, trimmed, truncated at [`TEXT_BYTES`].
fn text(bytes: &[u8]) -> String {
    let bytes = bytes.trim_ascii();
    let bytes = bytes.get(..TEXT_BYTES).unwrap_or(bytes);
    let text = String::from_utf8_lossy(bytes);
    if text.contains('\n') {
        return text.split('\n').map(str::trim).collect::<Vec<_>>().join(" ");
    }
    text.into_owned()
}

/// [`text`], or `None` if it is empty.
fn some_text(bytes: &[u8]) -> Option<String> {
    Some(text(bytes)).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests;
