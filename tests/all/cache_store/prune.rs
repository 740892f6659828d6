//! What is removed, in which order, and what never is.

use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use cutaway::cache::{Cache, Usage};

use super::{PLENTY, folder, found, key, put, records};

/// Says when a file was used last, in seconds since 1970.
fn used(file: &Path, seconds: u64) {
    let time = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
    File::open(file).unwrap().set_modified(time).unwrap();
}

fn cache(folder: &Path, limit: u64) -> Cache {
    Cache::new(folder.to_owned(), limit)
}

/// A folder of another version with one record, copied from `file`.
fn other_version(folder: &Path, name: &str, file: &Path) -> PathBuf {
    let version = folder.join(name);
    fs::create_dir(&version).unwrap();
    let copy = version.join(file.file_name().unwrap());
    fs::copy(file, &copy).unwrap();
    copy
}

#[test]
fn what_was_used_longest_ago_goes_first_whatever_version_made_it() {
    let place = folder();
    let files = ["a", "b", "c"].map(|name| put(place.path(), name, &[7; 1000]));
    let size = fs::metadata(&files[0]).unwrap().len();
    let old = other_version(place.path(), "index-1-0123456789abcdef", &files[0]);
    let older = other_version(place.path(), "index-77-00000000000000ff", &files[0]);
    for (file, seconds) in files.iter().chain([&old, &older]).zip([3000, 4000, 5000, 2000, 1000]) {
        used(file, seconds);
    }
    assert_eq!(cache(place.path(), 0).usage().unwrap(), Usage { files: 5, bytes: 5 * size });
    // Nothing was put in by this run, so nothing is tidied.
    let run = cache(place.path(), 3 * size);
    assert!(run.get(&key("a")).is_some());
    run.tidy();
    assert_eq!(records(place.path()).len(), 5);
    // The new one and the one that was just used stay, and the younger of the others.
    run.put(&key("d"), &[8; 1000]);
    run.tidy();
    let left = ["a", "b", "c", "d"].map(|name| found(place.path(), name).is_some());
    assert_eq!(left, [true, false, true, true]);
    assert!(!old.parent().unwrap().exists() && !older.parent().unwrap().exists(), "empty folders stay");
    assert_eq!(run.usage().unwrap(), Usage { files: 3, bytes: 3 * size });
    // A byte too little for two leaves one; c was used last by the look above, but for d.
    assert_eq!(run.prune(2 * size - 1).unwrap(), Usage { files: 2, bytes: 2 * size });
    assert!(found(place.path(), "d").is_some());
    assert_eq!((run.prune(0).unwrap().files, run.prune(0).unwrap().files), (1, 0));
    run.put(&key("e"), b"");
    assert!(
        found(place.path(), "e").is_some() && run.take_notes().is_empty(),
        "a cleared folder is made anew"
    );
}

#[test]
fn what_is_not_of_the_cache_stays_and_is_named() {
    let place = folder();
    let file = put(place.path(), "a", b"payload");
    let (version, hex) = (file.parent().unwrap(), file.file_name().unwrap().to_str().unwrap());
    let outside = folder();
    let target = outside.path().join(hex);
    fs::copy(&file, &target).unwrap();
    let digit = |digit: &str| version.join(digit.repeat(64));
    let foreign = [
        place.path().join("wheels/torch.whl"),
        place.path().join("index-1-short/file"),
        place.path().join(hex),
        version.join("notes.txt"),
        version.join(".new-zz"),
        // A name of the cache, and another content.
        digit("1"),
        version.join(".new-0123456789abcdef"),
    ];
    for path in &foreign {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "somebody's").unwrap();
    }
    // A content of the cache, and another name.
    let loud = version.join(hex.to_uppercase());
    fs::copy(&file, &loud).unwrap();
    fs::create_dir(digit("2")).unwrap();
    symlink(&target, digit("3")).unwrap();
    symlink(outside.path(), place.path().join("index-1-0123456789abcdef")).unwrap();
    fs::write(place.path().join("index-1-1111111111111111"), "a file").unwrap();

    let run = cache(place.path(), 0);
    assert_eq!(run.usage().unwrap().files, 1);
    assert_eq!(run.prune(0).unwrap().files, 1);
    assert!(!file.exists());
    let left = |path: &Path| fs::symlink_metadata(path).is_ok();
    for path in &foreign {
        assert_eq!(fs::read(path).unwrap(), b"somebody's", "{}", path.display());
    }
    assert!(left(&digit("2")) && left(&digit("3")) && left(&target) && left(&loud));
    let others: Vec<String> =
        run.others().unwrap().iter().map(|path| path.to_string_lossy().into_owned()).collect();
    for named in ["wheels", "index-1-short", "index-1-0123456789abcdef", "index-1-1111111111111111", hex] {
        assert!(others.contains(&named.to_owned()), "{named} is not among {others:?}");
    }
    // Four at the top and a stray record; five files, a folder and a link beside the records.
    assert_eq!(others.len(), 5 + 7, "{others:?}");
}

#[test]
fn unfinished_files_go_when_they_are_an_hour_old() {
    let place = folder();
    let file = put(place.path(), "a", b"payload");
    let begun = fs::read(&file).unwrap();
    let names = [".new-0000000000000001", ".new-0000000000000002", ".new-0000000000000003"];
    let [young, old, empty] = names.map(|name| file.with_file_name(name));
    for (path, bytes) in [(&young, &begun[..30]), (&old, &begun[..30]), (&empty, &[])] {
        fs::write(path, bytes).unwrap();
    }
    used(&old, 1000);
    used(&empty, 1000);
    let run = cache(place.path(), PLENTY);
    assert_eq!(run.usage().unwrap().files, 1, "what is unfinished is no record");
    run.put(&key("b"), b"");
    run.tidy();
    assert_eq!([young.exists(), old.exists(), empty.exists(), file.exists()], [true, false, false, true]);
    assert!(run.others().unwrap().is_empty());
}
