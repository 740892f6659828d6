//! The wheels that `tests/fetch_wheels.sh` has put into a cache outside the repository.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use crate::oracle::{have, skip};

/// The wheels with these names, unpacked into one folder: only files whose path holds one of `parts`, which
/// goes for all when there are none. `None`, said loudly, when a wheel is not in the cache.
pub(crate) fn unpacked(names: &[&str], parts: &[&str]) -> Option<TempDir> {
    const UNPACK: &str = "import sys, zipfile\n\
        archive = zipfile.ZipFile(sys.argv[1])\n\
        names = [name for name in archive.namelist() if not sys.argv[3:] or any(part in name for part in sys.argv[3:])]\n\
        archive.extractall(sys.argv[2], names)";
    if std::env::var_os("CUTAWAY_NO_WHEELS").is_some_and(|value| value == "1") {
        return left_out("CUTAWAY_NO_WHEELS is 1");
    }
    if !have(&["python3", "readelf"]) {
        return None;
    }
    let folder = tempfile::Builder::new().prefix("cutaway-wheels-").tempdir().expect("a folder");
    for name in names {
        let wheel = cached(name)?;
        let target = folder.path();
        let done = Command::new("python3").args(["-c", UNPACK]).arg(&wheel).arg(target).args(parts).output();
        let done = done.expect("python3 runs");
        assert!(done.status.success(), "{}: {}", wheel.display(), String::from_utf8_lossy(&done.stderr));
    }
    Some(folder)
}

/// Says that a test is skipped where that is no fault, whatever `CUTAWAY_REQUIRE_TOOLS` says.
pub(crate) fn left_out<T>(reason: &str) -> Option<T> {
    let name = std::thread::current().name().unwrap_or("a test").to_owned();
    writeln!(io::stderr(), "SKIPPED: {name}: {reason}").ok();
    None
}

/// The file of a wheel in the cache, whole as far as its size says.
fn cached(name: &str) -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let list = fs::read_to_string(root.join("wheels.txt")).expect("the list of wheels");
    let line = list.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let line = line.into_iter().find(|line| line.first() == Some(&name)).expect("a wheel of the list");
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache")));
    let cache =
        std::env::var_os("CUTAWAY_WHEELS").map(PathBuf::from).or(Some(cache?.join("cutaway/wheels")))?;
    let path = cache.join(line[4]);
    if path.metadata().is_ok_and(|facts| facts.len().to_string() == line[2]) {
        return Some(path);
    }
    skip(&format!("{} is not there; run tests/fetch_wheels.sh", path.display()));
    None
}

/// Relative paths of the files below a folder, in order.
pub(crate) fn files_below(folder: &Path) -> Vec<String> {
    let (mut files, mut folders) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(&next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                files.push(path.strip_prefix(folder).unwrap().to_str().unwrap().to_owned());
            }
        }
    }
    files.sort();
    files
}
