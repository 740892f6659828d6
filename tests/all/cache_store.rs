//! The index cache on disk: what is put in comes out unharmed or not at all, and nothing else is ever touched.

mod damage;
mod fingerprint;
mod processes;
mod prune;
mod trust;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use cutaway::cache::{Cache, Key};
use tempfile::TempDir;

/// More than any test puts in.
const PLENTY: u64 = 1 << 30;

fn folder() -> TempDir {
    tempfile::Builder::new().prefix("cutaway-cache-").tempdir().unwrap()
}

fn key(text: &str) -> Key {
    Key::new(text.to_owned())
}

/// What another run finds.
fn found(folder: &Path, name: &str) -> Option<Vec<u8>> {
    Cache::new(folder.to_owned(), PLENTY).get(&key(name)).map(|found| found.bytes().to_vec())
}

/// The files in the folders of records, sorted.
fn records(folder: &Path) -> Vec<PathBuf> {
    let list = |folder: &Path| {
        let entries = fs::read_dir(folder).into_iter().flatten();
        entries.map(|entry| entry.unwrap().path()).collect::<Vec<_>>()
    };
    let versions = list(folder).into_iter().filter(|path| path.to_string_lossy().contains("/index-"));
    let mut files: Vec<PathBuf> = versions.flat_map(|version| list(&version)).collect();
    files.sort();
    files
}

/// Puts one record in; its file comes back.
fn put(folder: &Path, name: &str, bytes: &[u8]) -> PathBuf {
    let before = records(folder);
    let cache = Cache::new(folder.to_owned(), PLENTY);
    cache.put(&key(name), bytes);
    assert_eq!(cache.take_notes(), [""; 0]);
    let made: Vec<PathBuf> = records(folder).into_iter().filter(|file| !before.contains(file)).collect();
    let [file] = &made[..] else { panic!("one new file: {made:?}") };
    file.clone()
}

#[test]
fn what_is_put_in_comes_out_in_another_run() {
    let place = folder();
    // A folder that is not there yet, nor the one above it.
    let folder = place.path().join("cache/cutaway");
    let cache = Cache::new(folder.clone(), PLENTY);
    assert!(cache.get(&key("a")).is_none() && !cache.has(&key("a")));
    assert!(!folder.exists(), "looking for something makes no folder");
    let long = "b".repeat(100_000);
    let records: [(&str, &[u8]); 4] = [("a", b"one"), ("", b"two"), (&long, &[0, 255, 10]), ("\0/../é", b"")];
    for (name, bytes) in records {
        cache.put(&key(name), bytes);
    }
    for (name, bytes) in records {
        assert_eq!(found(&folder, name).as_deref(), Some(bytes));
        assert!(cache.has(&key(name)));
    }
    assert_eq!((found(&folder, "b"), cache.has(&key("b"))), (None, false));
    cache.put(&key("a"), b"another");
    assert_eq!(found(&folder, "a").as_deref(), Some(&b"another"[..]));
    let usage = cache.usage().unwrap();
    let files = self::records(&folder);
    let bytes: u64 = files.iter().map(|file| fs::metadata(file).unwrap().len()).sum();
    assert_eq!((usage.files, usage.bytes), (4, bytes), "{files:?}");
    assert_eq!((files.len(), cache.take_notes().len(), cache.others().unwrap().len()), (4, 0, 0));
    // Names of files of an image are nobody else's business.
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert!(files.iter().all(|file| mode(file) == 0o600));
    assert_eq!((mode(&folder), mode(files[0].parent().unwrap())), (0o700, 0o700));
}

#[test]
fn a_record_larger_than_the_limit_is_not_kept_and_a_limit_of_nothing_keeps_nothing() {
    let place = folder();
    let small = Cache::new(place.path().join("small"), 1000);
    small.put(&key("a"), &[1; 1000]);
    small.put(&key("c"), &[1; 2000]);
    small.put(&key("b"), &[1; 500]);
    let notes = small.take_notes();
    assert!(notes.len() == 1 && notes[0].contains("1000 B"), "one note for all of them: {notes:?}");
    assert!(!small.has(&key("a")) && small.has(&key("b")));
    let none = Cache::new(place.path().join("none"), 0);
    none.put(&key("a"), b"");
    none.tidy();
    assert!(!none.folder().exists() && none.take_notes().is_empty());
}
