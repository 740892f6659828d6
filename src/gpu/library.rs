//! Finds and opens the driver library.
#![allow(unsafe_code, reason = "opening a library runs its code")]

use std::fs;
use std::path::{Component, Path, PathBuf};

use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};

use super::TriedLibrary;
use super::api::Cuda;
use super::fault::Fault;

/// The name that drivers install. `libcuda.so` without a version is for linking, and may be the toolkit's stub.
const SONAME: &str = "libcuda.so.1";
/// The PTX compiler, which libcuda opens by name.
const COMPILER: &str = "libnvidia-ptxjitcompiler.so.1";
/// Folders with mounted drivers that may be outside the loader's search path: GKE device plugin, its older form, WSL 2,
/// NixOS.
pub(super) const FOLDERS: [&str; 4] =
    ["/usr/local/nvidia/lib64", "/usr/local/nvidia/lib", "/usr/lib/wsl/lib", NIXOS];
/// The driver folder of NixOS, which programs of nixpkgs search.
pub(super) const NIXOS: &str = "/run/opengl-driver/lib";
/// Value of `by` if the loader found the library.
pub(super) const BY_LOADER: &str = "loader";
/// Value of `by` if the file was given.
const BY_NAME: &str = "given";

/// An open driver.
pub(super) struct OpenDriver {
    pub(super) cuda: &'static Cuda,
    /// The name used to open it, as in [`TriedLibrary`].
    pub(super) tried: String,
    /// Path of its file, links resolved.
    pub(super) path: Option<String>,
    /// `loader`, `given` or the folder.
    pub(super) by: String,
    /// The folder of its other files.
    pub(super) folder: Option<PathBuf>,
}

impl OpenDriver {
    /// Whether programs that use only the loader do not find it.
    pub(super) fn is_hidden(&self) -> bool {
        self.by != BY_LOADER && self.by != BY_NAME
    }
}

enum LibraryLocation {
    Loader,
    Folder(&'static str),
    Given(PathBuf),
}

/// Searches for the library, location by location.
pub(super) struct Search {
    places: Vec<LibraryLocation>,
    /// Results of unusable locations, for the error if none is usable.
    stub: Option<String>,
    old: Option<Fault>,
    foreign: Option<String>,
}

impl Search {
    /// A search in all locations, or for one file.
    pub(super) fn new(given: Option<&Path>) -> Self {
        // Taken from the end: the loader's own search comes first.
        let places = match given {
            Some(file) => vec![LibraryLocation::Given(file.to_owned())],
            None => FOLDERS
                .into_iter()
                .rev()
                .map(LibraryLocation::Folder)
                .chain([LibraryLocation::Loader])
                .collect(),
        };
        Self { places, stub: None, old: None, foreign: None }
    }

    /// Opens the library at the next location that has one. Reports each location to `tell`.
    ///
    /// # Errors
    /// There is none, or none of them is a driver.
    pub(super) fn open(&mut self, tell: &mut dyn FnMut(TriedLibrary)) -> Result<OpenDriver, Fault> {
        while let Some(place) = self.places.pop() {
            let (name, by) = match &place {
                LibraryLocation::Loader => (PathBuf::from(SONAME), BY_LOADER.to_owned()),
                LibraryLocation::Folder(folder) => (Path::new(folder).join(SONAME), (*folder).to_owned()),
                LibraryLocation::Given(file) => (file.clone(), BY_NAME.to_owned()),
            };
            let tried = name.to_string_lossy().into_owned();
            let mut outcome = |outcome: String| tell(TriedLibrary { path: tried.clone(), outcome });
            let is_file = !matches!(place, LibraryLocation::Loader);
            if is_file && fs::metadata(&name).is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound)
            {
                outcome(ABSENT.to_owned());
                continue;
            }
            if is_file && is_stub(&fs::canonicalize(&name).unwrap_or_else(|_| name.clone())) {
                self.stub.get_or_insert_with(|| tried.clone());
                outcome(STUB.to_owned());
                continue;
            }
            if let LibraryLocation::Folder(folder) = place {
                prepare(Path::new(folder));
            }
            let before = loaded();
            let library = match open(&name) {
                Ok(library) => library,
                Err(text) if !is_file && is_absent(&text) => {
                    outcome(ABSENT.to_owned());
                    continue;
                }
                Err(text) => {
                    self.foreign.get_or_insert_with(|| text.clone());
                    outcome(text);
                    continue;
                }
            };
            let path = if is_file {
                fs::canonicalize(&name).ok()
            } else {
                loaded().into_iter().find(|path| !before.contains(path))
            };
            if path.as_deref().is_some_and(is_stub) {
                self.stub.get_or_insert_with(|| tried.clone());
                outcome(STUB.to_owned());
                // Not closed: closing would run its code again.
                std::mem::forget(library);
                continue;
            }
            match Cuda::new(library) {
                Ok(cuda) => {
                    outcome("taken".to_owned());
                    let folder = path.as_deref().and_then(Path::parent).map(Path::to_owned);
                    let path = path.map(|path| path.to_string_lossy().into_owned());
                    // Leaked on purpose: it is never closed.
                    let cuda = Box::leak(Box::new(cuda));
                    return Ok(OpenDriver { cuda, tried, path, by, folder });
                }
                Err(fault) => {
                    outcome(match &fault {
                        Fault::Missing(symbol) => format!("no function {symbol}"),
                        _ => "unusable".to_owned(),
                    });
                    self.old.get_or_insert(fault);
                }
            }
        }
        Err(self.verdict())
    }

    /// Records that the last opened library is a stub, according to its error code.
    pub(super) fn is_stub(&mut self, found: &OpenDriver, tell: &mut dyn FnMut(TriedLibrary)) {
        self.stub.get_or_insert_with(|| found.tried.clone());
        tell(TriedLibrary { path: found.tried.clone(), outcome: STUB.to_owned() });
    }

    fn verdict(&mut self) -> Fault {
        if let Some(stub) = self.stub.take() {
            return Fault::own("stub", format!("{stub} is a stub: for linking only, without a driver"));
        }
        if let Some(text) = self.foreign.take() {
            return Fault::own("not-a-library", format!("cannot load the driver library: {text}"));
        }
        self.old
            .take()
            .unwrap_or_else(|| Fault::own("no-library", format!("CUDA driver library {SONAME} not found")))
    }
}

const ABSENT: &str = "not found";
const STUB: &str = "a stub for linking, not a driver";

/// Opens a library by name or path.
///
/// # Errors
/// Loader errors.
pub(super) fn open(name: &Path) -> Result<Library, String> {
    // SAFETY: this runs the code that a driver runs when it is loaded. It is the file that every program with CUDA
    // loads, and this is a process of its own that holds nothing of value: see `parent`.
    unsafe { Library::open(Some(name), RTLD_NOW | RTLD_LOCAL) }.map_err(|error| error.to_string())
}

/// Preloads the PTX compiler, which libcuda opens by name alone, from a folder outside the loader's search path.
fn prepare(folder: &Path) {
    if let Ok(compiler) = open(&folder.join(COMPILER)) {
        std::mem::forget(compiler);
    }
}

/// Whether the loader error means that the library is missing, rather than invalid or lacking another library. The
/// first text is glibc's, the second musl's.
fn is_absent(text: &str) -> bool {
    let none = "No such file or directory";
    text.contains(none)
        && (text.starts_with(&format!("{SONAME}: cannot open"))
            || text.starts_with(&format!("Error loading shared library {SONAME}: ")))
}

fn is_stub(path: &Path) -> bool {
    path.components().any(|part| part == Component::Normal("stubs".as_ref()))
}

/// Files of libcuda loaded by this process, links resolved.
fn loaded() -> Vec<PathBuf> {
    let maps = fs::read_to_string("/proc/self/maps").unwrap_or_default();
    let mut paths: Vec<PathBuf> = maps
        .lines()
        .filter_map(|line| line.find('/').and_then(|start| line.get(start..)))
        .map(PathBuf::from)
        .filter(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("libcuda.so")))
        .collect();
    paths.dedup();
    paths
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{LibraryLocation, Search, is_absent, is_stub, open};

    #[test]
    fn only_a_folder_named_stubs_makes_a_stub() {
        assert!(is_stub(Path::new("/usr/local/cuda/lib64/stubs/libcuda.so.1")));
        assert!(!is_stub(Path::new("/usr/lib/nostubs/libcuda.so.1")));
    }

    #[test]
    fn what_is_not_there_is_told_from_what_is_faulty() {
        let none = open(Path::new("libcutaway-none.so.1")).err().unwrap();
        assert!(none.contains("No such file"), "{none}");
        assert!(!is_absent(&none), "it is another library");
        assert!(is_absent("libcuda.so.1: cannot open shared object file: No such file or directory"));
        assert!(!is_absent("libdxcore.so: cannot open shared object file: No such file or directory"));
        assert!(!is_absent("/usr/lib/libcuda.so.1: invalid ELF header"));
    }

    #[test]
    fn the_loader_is_asked_before_folders_that_it_does_not_know() {
        let mut search = Search::new(None);
        assert!(matches!(search.places.pop(), Some(LibraryLocation::Loader)));
        assert!(matches!(search.places.pop(), Some(LibraryLocation::Folder("/usr/local/nvidia/lib64"))));
        assert_eq!(Search::new(Some(Path::new("/x"))).places.len(), 1);
    }

    #[test]
    fn a_file_that_is_no_library_is_told_with_the_words_of_the_loader() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("libcuda.so.1");
        std::fs::write(&file, "text").unwrap();
        let mut told = Vec::new();
        let fault = Search::new(Some(&file)).open(&mut |tried| told.push(tried)).err().unwrap();
        assert!(format!("{fault:?}").contains("not-a-library"), "{fault:?}");
        assert!(
            told[0].outcome.contains("file too short") || told[0].outcome.contains("invalid ELF"),
            "{told:?}"
        );
    }
}
