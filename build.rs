//! Names the sources that make what the index cache keeps.
//!
//! A record of the cache holds what a parser made of a layer. When a parser changes, the records of the parser before
//! it are wrong, and nobody remembers to raise a number at every such change. So the folder that records lie in is
//! named after the sources that make them: another version of these has another folder, and reads everything anew.
//!
//! Needs neither git nor a dependency: a packaged source gives the same name as a checkout.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Whatever has a part in what a record says: the parsers, what they are given, what bounds them, and what puts their
/// results together. A folder too many costs one reading after an upgrade, one too few costs the truth.
const FOLDERS: [&str; 6] =
    ["src/analysis", "src/base", "src/cache", "src/formats", "src/layer", "src/source"];

/// Versions of the crates that read tar headers, databases and JSON. All of them, since a list would be forgotten.
const LOCK: &str = "Cargo.lock";

fn main() -> io::Result<()> {
    let root = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    println!("cargo:rerun-if-changed=build.rs");
    for folder in FOLDERS {
        println!("cargo:rerun-if-changed={folder}");
    }
    // A file that is named and is not there would run this script at every build.
    if root.join(LOCK).exists() {
        println!("cargo:rerun-if-changed={LOCK}");
    }
    println!("cargo:rustc-env=CUTAWAY_INDEX_FINGERPRINT={:016x}", fingerprint(&root)?);
    Ok(())
}

/// One number for the paths and contents of these sources, whatever the order in which a file system lists them.
pub(crate) fn fingerprint(root: &Path) -> io::Result<u64> {
    let mut files = Vec::new();
    for folder in FOLDERS {
        collect(&root.join(folder), folder, &mut files)?;
    }
    if root.join(LOCK).exists() {
        files.push((LOCK.to_owned(), root.join(LOCK)));
    }
    files.sort();
    let mut hash = Fnv::new();
    for (name, path) in files {
        hash.add(name.as_bytes());
        hash.add(&fs::read(&path)?);
    }
    Ok(hash.0)
}

/// Adds the sources below `folder`, each with its path as seen from the project's root. Tests make no facts.
fn collect(folder: &Path, shown: &str, files: &mut Vec<(String, PathBuf)>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let (path, shown) = (entry.path(), format!("{shown}/{name}"));
        if path.is_dir() && name != "tests" {
            collect(&path, &shown, files)?;
        } else if name != "tests.rs" && path.extension().is_some_and(|extension| extension == "rs") {
            files.push((shown, path));
        }
    }
    Ok(())
}

/// FNV-1a: nobody attacks a build with its own sources, and chance does not meet 64 bits.
struct Fnv(u64);

impl Fnv {
    fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    /// Adds bytes behind their number, so that what ends one file cannot begin the next.
    fn add(&mut self, bytes: &[u8]) {
        let length = (bytes.len() as u64).to_le_bytes();
        for byte in length.iter().chain(bytes) {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}
