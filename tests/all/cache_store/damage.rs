//! Records that are not as they were written.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use cutaway::cache::Cache;

use super::{PLENTY, folder, found, key, put};

/// Looks for a record that must not be taken, and returns the note, which must name its file.
fn refused(folder: &Path, name: &str, file: &Path, how: &str) -> String {
    let cache = Cache::new(folder.to_owned(), PLENTY);
    assert!(cache.get(&key(name)).is_none(), "taken although {how}");
    let notes = cache.take_notes();
    let [note] = &notes[..] else { panic!("{how}: {notes:?}") };
    assert!(note.contains(file.to_str().unwrap()), "{how}: {note}");
    assert!(note.contains("replacing the entry"), "{how}: {note}");
    assert!(cache.get(&key(name)).is_none() && cache.take_notes().is_empty(), "noted twice: {how}");
    note.clone()
}

#[test]
fn every_changed_byte_and_every_cut_is_refused() {
    let place = folder();
    let file = put(place.path(), "sha256:1234", b"the index of a layer");
    let whole = fs::read(&file).unwrap();
    assert!(whole.windows(11).any(|bytes| bytes == b"sha256:1234"), "the key stands in the record");
    for at in 0..whole.len() {
        for change in [1, 0x80, 0xff] {
            let mut bytes = whole.clone();
            bytes[at] ^= change;
            fs::write(&file, &bytes).unwrap();
            refused(place.path(), "sha256:1234", &file, &format!("byte {at} was changed by {change}"));
        }
        fs::write(&file, &whole[..at]).unwrap();
        refused(place.path(), "sha256:1234", &file, &format!("it ends at {at}"));
    }
    fs::write(&file, [&whole[..], b"\0"].concat()).unwrap();
    refused(place.path(), "sha256:1234", &file, "there is more behind it");
    // What was read again takes its place.
    Cache::new(place.path().to_owned(), PLENTY).put(&key("sha256:1234"), b"the index of a layer");
    assert_eq!(fs::read(&file).unwrap(), whole);
}

#[test]
fn the_record_of_another_key_is_refused() {
    let place = folder();
    let (one, two) = (put(place.path(), "one", b"same"), put(place.path(), "two", b"same"));
    fs::copy(&one, &two).unwrap();
    refused(place.path(), "two", &two, "it is about something else");
    assert_eq!(found(place.path(), "one").as_deref(), Some(&b"same"[..]));
}

#[test]
fn a_file_that_claims_or_has_terabytes_takes_no_memory() {
    let place = folder();
    let file = put(place.path(), "one", b"payload");
    let grown = fs::OpenOptions::new().write(true).open(&file).unwrap();
    grown.set_len(1 << 40).unwrap();
    let note = refused(place.path(), "one", &file, "it has a hole of a terabyte");
    assert!(note.contains("larger than an entry can be"), "{note}");
    grown.set_len(3 << 30).unwrap();
    refused(place.path(), "one", &file, "it has a hole of three gigabytes");
    let mut whole = fs::read(put(place.path(), "two", b"payload")).unwrap();
    // The length of the payload, wherever it stands.
    let at = whole.windows(8).position(|bytes| bytes == 7_u64.to_le_bytes()).unwrap();
    whole[at..at + 8].copy_from_slice(&(1_u64 << 40).to_le_bytes());
    fs::write(&file, whole).unwrap();
    refused(place.path(), "one", &file, "it claims a terabyte");
}

#[test]
fn what_is_no_file_is_neither_followed_nor_waited_for() {
    let place = folder();
    let outside = place.path().join("outside");
    let (linked, piped) = (put(place.path(), "linked", b"1"), put(place.path(), "piped", b"2"));
    let (blocked, dangling) = (put(place.path(), "blocked", b"3"), put(place.path(), "dangling", b"4"));
    let socket = put(place.path(), "socket", b"5");
    fs::rename(&linked, &outside).unwrap();
    let untouched = fs::read(&outside).unwrap();
    symlink(&outside, &linked).unwrap();
    for gone in [&piped, &blocked, &dangling, &socket] {
        fs::remove_file(gone).unwrap();
    }
    assert!(Command::new("mkfifo").arg(&piped).status().unwrap().success());
    fs::create_dir(&blocked).unwrap();
    symlink("nowhere", &dangling).unwrap();
    // A path of a socket has little room.
    let short = tempfile::Builder::new().prefix("s").tempdir().unwrap();
    let bound = std::os::unix::net::UnixListener::bind(short.path().join("s")).unwrap();
    fs::rename(short.path().join("s"), &socket).unwrap();
    let all = [
        ("linked", &linked),
        ("piped", &piped),
        ("blocked", &blocked),
        ("dangling", &dangling),
        ("socket", &socket),
    ];
    for (name, file) in all {
        let note = refused(place.path(), name, file, name);
        assert!(note.contains("not a regular file"), "{note}");
    }
    drop(bound);
    let cache = Cache::new(place.path().to_owned(), PLENTY);
    for (name, _) in all {
        cache.put(&key(name), b"new");
        assert_eq!(found(place.path(), name).is_some(), name != "blocked", "{name}");
    }
    assert_eq!(fs::read(&outside).unwrap(), untouched, "the link was replaced and not what it leads to");
    assert!(!outside.with_file_name("nowhere").exists());
    let notes = cache.take_notes();
    let [note] = &notes[..] else { panic!("{notes:?}") };
    assert!(note.contains("is a folder") && note.contains(blocked.to_str().unwrap()), "{note}");
    let left = fs::read_dir(blocked.parent().unwrap()).unwrap().count();
    assert_eq!(left, all.len(), "a temporary file was left");
}
