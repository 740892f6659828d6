//! In: package databases and the papers of single packages: whole documents, as bytes.
//! Out: which packages they name, with what they claim of them, and where a document is damaged.
//! Must not know: where a document lay, layers, which packages are of CUDA.

pub mod apk;
pub mod apt;
pub mod conda;
pub mod dnf;
pub mod dpkg;
mod fields;
pub mod pip;
pub mod rpm;

use std::collections::HashSet;
use std::fmt::Display;

/// One package, as a database claims it. Text is cut at 4 KiB, and bytes that are not UTF-8 are
/// replaced; it is not safe to show as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Package {
    /// Its name.
    pub name: String,
    /// Its version: with rpm `[epoch:]version-release`, where an epoch of 0 is left out.
    pub version: String,
    /// The build string of conda, such as `py312_cuda129_0`; the others have none.
    pub build: Option<String>,
    /// What it was built for: `amd64`, `x86_64`, `noarch`; conda's `subdir`.
    pub architecture: Option<String>,
    /// Bytes that it takes once installed, as the database claims.
    pub installed_bytes: Option<u64>,
    /// What it was built from: `Source` of dpkg without its version, the source package of rpm, the
    /// origin of apk.
    pub source: Option<String>,
    /// Who made it: `Maintainer` of dpkg, vendor or else packager of rpm, maintainer of apk, author of a
    /// Python package, channel of conda. A channel may be an address with a token in it.
    pub maker: Option<String>,
    /// Its home page.
    pub homepage: Option<String>,
    /// What it needs, each once: names without versions, all of several alternatives, and with rpm and
    /// apk also files and sonames. For Python the lines of `Requires-Dist` as they are written.
    pub depends: Vec<String>,
    /// What it recommends, in the same form; of dpkg and rpm only.
    pub recommends: Vec<String>,
    /// What it suggests, in the same form; of dpkg only.
    pub suggests: Vec<String>,
    /// Names besides its own under which others may need it, without versions: virtual packages, and with rpm and
    /// apk capabilities.
    pub provides: Vec<String>,
    /// Whether its manager never removes it as unneeded: `Essential`, `Protected`, `Important`, on hold, or with
    /// the priority `required` or `important`. Of dpkg only.
    pub essential: bool,
    /// Whether it is installed. dpkg also keeps what was removed; all else that is listed is installed.
    pub installed: bool,
    /// Paths of its files, links and folders in the order of the database, absolute except with conda,
    /// where they are relative to the prefix. `None` when the format keeps them elsewhere.
    pub files: Option<Vec<Vec<u8>>>,
}

/// Something in a document that is not as its format has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Offset in the document, in bytes. 0 for what has no place of its own, as in `SQLite`.
    pub at: u64,
    /// What is wrong; holds no text from the document.
    pub what: String,
}

/// Contents of a document.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Read {
    /// The packages, in the order of the document.
    pub packages: Vec<Package>,
    /// What could not be read: the first 20, then one that counts the rest.
    pub problems: Vec<Problem>,
}

/// How much one document may grow into. Short entries take many times their bytes once they are values.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    /// Packages: whole distributions have below a hundred thousand.
    pub(crate) packages: usize,
    /// Names of dependencies in all packages together: some 30 for each package in practice.
    pub(crate) names: usize,
    /// Paths in all packages together: a large image has below a million.
    pub(crate) paths: usize,
    /// Bytes of these paths: rpm stores a folder once for all its files, so they can outgrow the document.
    pub(crate) path_bytes: usize,
}

impl Bounds {
    pub(crate) const USUAL: Self =
        Self { packages: 100_000, names: 4_000_000, paths: 4_000_000, path_bytes: 256 << 20 };
}

/// Problems of a document that are kept.
const PROBLEMS: usize = 20;

/// Bytes of a text that are kept: no name, version or address in use comes near.
const TEXT_BYTES: usize = 4096;

/// Gathers packages and problems within bounds.
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

    /// Keeps a package; `false` when there are too many and reading should end.
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

    /// Adds the path that `parts` make to `files`; `false` when there are too many.
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

/// `bytes` as text: lines joined by a space, without white space around them, cut at [`TEXT_BYTES`].
fn text(bytes: &[u8]) -> String {
    let bytes = bytes.trim_ascii();
    let bytes = bytes.get(..TEXT_BYTES).unwrap_or(bytes);
    let text = String::from_utf8_lossy(bytes);
    if text.contains('\n') {
        return text.split('\n').map(str::trim).collect::<Vec<_>>().join(" ");
    }
    text.into_owned()
}

/// [`text`], or `None` when nothing is left.
fn some_text(bytes: &[u8]) -> Option<String> {
    Some(text(bytes)).filter(|text| !text.is_empty())
}

/// A decimal number with white space around it.
fn number(bytes: &[u8]) -> Option<u64> {
    std::str::from_utf8(bytes.trim_ascii()).ok()?.parse().ok()
}

/// Body of a fuzz target: must never panic.
pub fn fuzz_dpkg(bytes: &[u8]) {
    dpkg::read_status(bytes);
    dpkg::read_list(bytes);
    dpkg::read_md5sums(bytes);
    dpkg::list_name(bytes);
    apk::read_installed(bytes);
    apk::read_world(bytes);
    apt::read_states(bytes);
    apt::read_conf(bytes, &mut apt::AutoRemove::default());
}

/// Body of a fuzz target: must never panic.
pub fn fuzz_pip(bytes: &[u8]) {
    pip::read_metadata(bytes);
    pip::read_record(bytes);
    pip::torch_version(bytes);
    conda::read_meta(bytes);
}

/// Body of a fuzz target: must never panic. The bytes are read as a database and as one header.
pub fn fuzz_rpm(bytes: &[u8]) {
    if let Some(kind) = rpm::sniff(bytes) {
        rpm::read(bytes, kind);
    }
    rpm::read_header(bytes);
    dnf::read_history(bytes, &[]);
    dnf::read_history(&[], bytes);
    dnf::read_history(bytes, bytes);
    dnf::read_reasons(bytes);
    dnf::read_groups(bytes);
}

#[cfg(test)]
mod tests;
