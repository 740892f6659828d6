//! The store of blobs that the user wants kept, and what `cutaway cache` says of it.

use std::fs;
use std::io::{Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::time::{Duration, SystemTime};

use cutaway::cache::Blobs;

use crate::support::Place;

fn digest(letter: char) -> String {
    format!("sha256:{}", letter.to_string().repeat(64))
}

fn keep(blobs: &Blobs, letter: char, bytes: &[u8]) {
    let mut new = blobs.begin(bytes.len() as u64).unwrap().unwrap();
    new.write_all(bytes).unwrap();
    new.keep(&digest(letter)).unwrap();
}

fn files(blobs: &Blobs) -> usize {
    fs::read_dir(blobs.folder()).map_or(0, Iterator::count)
}

#[test]
fn a_blob_is_found_only_once_it_is_whole() {
    let place = Place::new();
    let blobs = Blobs::new(place.cache(), 1000);
    assert!(blobs.find(&digest('a')).is_none());
    assert!(!place.cache().exists(), "asking makes no folder");
    let mut new = blobs.begin(4).unwrap().unwrap();
    new.write_all(b"ab").unwrap();
    assert!(blobs.find(&digest('a')).is_none());
    drop(new);
    assert_eq!(files(&blobs), 0, "what was not finished leaves nothing");
    keep(&blobs, 'a', b"abcd");
    let mut bytes = Vec::new();
    blobs.find(&digest('a')).unwrap().read_to_end(&mut bytes).unwrap();
    assert_eq!(bytes, b"abcd");
    let mode = fs::metadata(blobs.folder().join(digest('a').replace(':', "-"))).unwrap().permissions().mode();
    assert_eq!(mode & 0o077, 0, "only its owner may read what may be a private image");
}

#[test]
fn the_blob_that_was_used_longest_ago_goes_first() {
    let place = Place::new();
    let blobs = Blobs::new(place.cache(), 1000);
    for (letter, age) in [('a', 300), ('b', 200), ('c', 100)] {
        keep(&blobs, letter, &[0; 300]);
        let file = fs::File::open(blobs.folder().join(digest(letter).replace(':', "-"))).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(age)).unwrap();
    }
    blobs.find(&digest('a')).unwrap();
    let removed = blobs.prune(600).unwrap();
    assert_eq!((removed.files, removed.bytes), (1, 300));
    assert!(blobs.find(&digest('b')).is_none());
    assert!(blobs.find(&digest('a')).is_some() && blobs.find(&digest('c')).is_some());
    assert!(blobs.begin(1001).unwrap().is_none(), "more than all that may be kept");
}

#[test]
fn names_that_are_no_digests_reach_no_file() {
    let place = Place::new();
    let blobs = Blobs::new(place.cache(), 1000);
    keep(&blobs, 'a', b"abcd");
    fs::write(place.cache().join("blobs/README"), "mine").unwrap();
    let long = "a".repeat(64);
    for name in ["../blobs/README", "README", "sha256:", "sha256:../x", &format!("sha256:{long}/../../x")] {
        assert!(blobs.find(name).is_none(), "{name}");
    }
    blobs.prune(0).unwrap();
    assert!(place.cache().join("blobs/README").exists(), "what somebody else put there stays");
    assert!(blobs.find(&digest('a')).is_none());
}

#[test]
fn a_folder_that_others_may_write_to_is_not_used() {
    let place = Place::new();
    let blobs = Blobs::new(place.cache(), 1000);
    keep(&blobs, 'a', b"abcd");
    fs::set_permissions(blobs.folder(), fs::Permissions::from_mode(0o777)).unwrap();
    assert!(blobs.find(&digest('a')).is_none());
    let refused = blobs.begin(1).err().expect("it is not written to either").to_string();
    assert!(refused.contains("other users can write to it"), "{refused}");
}

#[test]
fn cutaway_cache_counts_and_removes_them_beside_the_records() {
    let place = Place::new();
    let blobs = Blobs::new(place.cache(), 1000);
    keep(&blobs, 'a', &[0; 300]);
    let size = place.run(&["cache", "size"]);
    assert_eq!((size.code, size.stderr.as_str()), (0, ""));
    assert!(size.stdout.contains("blobs   1 cached blob (300 B)\n"), "{}", size.stdout);
    let usual = place.run(&["cache", "prune"]);
    assert!(usual.stdout.contains("1 cached blob") && !usual.stdout.contains("skipped"), "{}", usual.stdout);
    assert!(blobs.find(&digest('a')).is_some(), "their limit is said where they are kept");
    let all = place.run(&["cache", "prune", "--all"]);
    assert!(all.stdout.contains("removed 1 cached blob (300 B)\n"), "{}", all.stdout);
    assert!(blobs.find(&digest('a')).is_none());
}

#[test]
fn what_an_ended_run_left_is_removed_and_what_is_being_written_is_not() {
    let place = Place::new();
    let blobs = Blobs::new(place.cache(), 1000);
    let mut writing = blobs.begin(4).unwrap().unwrap();
    writing.write_all(b"ab").unwrap();
    let left = blobs.folder().join(".new-0123456789abcdef");
    fs::write(&left, [0; 100]).unwrap();
    let old = SystemTime::now() - Duration::from_mins(1);
    for file in fs::read_dir(blobs.folder()).unwrap() {
        fs::File::open(file.unwrap().path()).unwrap().set_modified(old).unwrap();
    }
    let removed = Blobs::new(place.cache(), 1000).prune(1000).unwrap();
    assert_eq!((removed.files, removed.bytes), (1, 100));
    assert!(!left.exists());
    writing.write_all(b"cd").unwrap();
    writing.keep(&digest('a')).unwrap();
    assert!(blobs.find(&digest('a')).is_some());
}

#[test]
fn what_arrives_together_is_within_the_limit_together() {
    let place = Place::new();
    let blobs = Blobs::new(place.cache(), 1000);
    keep(&blobs, 'a', &[0; 900]);
    let one = blobs.begin(600).unwrap();
    assert!(one.is_some() && blobs.find(&digest('a')).is_none(), "room is made first");
    assert!(blobs.begin(600).unwrap().is_none(), "there is none for a second one");
    drop(one);
    assert!(blobs.begin(600).unwrap().is_some());
}
