//! Computes the fingerprint of the sources that write cache records.
//!
//! A record contains what a parser made of a layer. If a parser changes, earlier records are invalid, and a version
//! number maintained by hand would be forgotten. The folder of the records is therefore named by this fingerprint:
//! a version with other sources uses another folder and reads everything again.
//!
//! Requires neither git nor a dependency: a packaged source has the same fingerprint as a checkout.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Everything that affects the contents of a record: the parsers, their input, their limits, and the code that joins
/// their results. A superfluous folder costs one reading after an upgrade, a missing one correctness.
const FOLDERS: [&str; 7] =
    ["src/analysis", "src/base", "src/cache", "src/formats", "src/layer", "src/rootfs", "src/source"];

/// What determines which single files an inventory asks for, beside [`FOLDERS`].
const RULES: [&str; 2] = ["assets/catalog", "src/cuda"];

/// Versions of the crates that parse tar headers, databases and JSON. All crates, because a list would be forgotten.
const LOCK: &str = "Cargo.lock";

fn main() -> io::Result<()> {
    let root = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    println!("cargo:rerun-if-changed=build.rs");
    for folder in FOLDERS.iter().chain(&RULES) {
        println!("cargo:rerun-if-changed={folder}");
    }
    // A missing file would rerun this script at every build.
    if root.join(LOCK).exists() {
        println!("cargo:rerun-if-changed={LOCK}");
    }
    println!("cargo:rustc-env=CUTAWAY_INDEX_FINGERPRINT={:016x}", fingerprint(&root)?);
    println!("cargo:rustc-env=CUTAWAY_RULES_FINGERPRINT={:016x}", fingerprint_of(&root, &RULES)?);
    Ok(())
}

/// Hash of the sources that write cache records.
pub(crate) fn fingerprint(root: &Path) -> io::Result<u64> {
    fingerprint_of(root, &FOLDERS)
}

/// Hash of the paths and contents of sources, independent of directory order.
fn fingerprint_of(root: &Path, folders: &[&str]) -> io::Result<u64> {
    let mut files = Vec::new();
    for folder in folders {
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

/// Adds the sources below `folder`, each with its path relative to the project root. Tests are excluded.
fn collect(folder: &Path, shown: &str, files: &mut Vec<(String, PathBuf)>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let (path, shown) = (entry.path(), format!("{shown}/{name}"));
        if path.is_dir() && name != "tests" {
            collect(&path, &shown, files)?;
        } else if name != "tests.rs"
            && path.extension().is_some_and(|extension| extension == "rs" || extension == "toml")
        {
            files.push((shown, path));
        }
    }
    Ok(())
}

/// FNV-1a: the input is trusted, and 64 bits exclude accidental collisions.
struct Fnv(u64);

impl Fnv {
    fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    /// Adds the length, then the bytes, so that file boundaries are part of the hash.
    fn add(&mut self, bytes: &[u8]) {
        let length = (bytes.len() as u64).to_le_bytes();
        for byte in length.iter().chain(bytes) {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}
