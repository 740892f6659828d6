//! Folders that cannot be used, or must not be.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown, symlink};
use std::path::Path;

use cutaway::cache::Cache;

use super::{PLENTY, folder, found, key, put, records};

/// A run that wants two records and keeps two; its only note.
fn one_note(folder: &Path) -> String {
    let cache = Cache::new(folder.to_owned(), PLENTY);
    for name in ["a", "b"] {
        assert!(cache.get(&key(name)).is_none(), "{name} was found");
        cache.put(&key(name), b"new");
    }
    cache.tidy();
    let notes = cache.take_notes();
    let [note] = &notes[..] else { panic!("{notes:?}") };
    assert!(note.contains(folder.to_str().unwrap()), "{note}");
    note.clone()
}

#[test]
fn a_file_in_the_place_of_a_folder_is_noted_once() {
    let place = folder();
    let file = place.path().join("file");
    fs::write(&file, "mine").unwrap();
    for folder in [file.clone(), file.join("below")] {
        let note = one_note(&folder);
        assert!(note.contains("Not a directory"), "{note}");
    }
    assert_eq!(fs::read(&file).unwrap(), b"mine");
    let inside = place.path().join("cache");
    let version = put(&inside, "a", b"").parent().unwrap().to_owned();
    fs::remove_dir_all(&version).unwrap();
    fs::write(&version, "mine").unwrap();
    assert!(one_note(&inside).contains(version.to_str().unwrap()));
    assert_eq!(fs::read(&version).unwrap(), b"mine");
    let error = Cache::new(file, PLENTY).usage().unwrap_err();
    assert!(error.to_string().contains("Not a directory"), "{error}");
}

#[test]
fn a_folder_that_cannot_be_made_is_noted_once() {
    // Where nobody can make a folder, not even root.
    let note = one_note(Path::new("/proc/self/cutaway"));
    assert!(note.contains("is read-only for this run"), "{note}");
}

#[test]
fn a_folder_that_others_may_write_to_is_not_believed() {
    let place = folder();
    let file = put(place.path(), "a", b"true");
    let (version, mode) = (file.parent().unwrap(), |mode| Permissions::from_mode(mode));
    for (path, bits) in [(place.path(), 0o777), (place.path(), 0o1777), (version, 0o770), (version, 0o702)] {
        let usual = fs::metadata(path).unwrap().permissions();
        fs::set_permissions(path, mode(bits)).unwrap();
        let note = one_note(place.path());
        assert!(note.contains("other users can write"), "{note}");
        fs::set_permissions(path, usual).unwrap();
    }
    assert_eq!(records(place.path()), [file], "nothing was kept there");
    // A group may have the folder that the user chose.
    fs::set_permissions(place.path(), mode(0o775)).unwrap();
    assert_eq!(found(place.path(), "a").as_deref(), Some(&b"true"[..]));
}

#[test]
fn what_belongs_to_another_user_is_not_believed() {
    const NOBODY: u32 = 65_534;
    let place = folder();
    if fs::metadata(place.path()).unwrap().uid() != 0 {
        // Who is not root has folders of root's at hand, and cannot make others.
        assert!(one_note(Path::new("/usr")).contains("another user"));
        return;
    }
    let file = put(place.path(), "a", b"false");
    for path in [place.path(), file.parent().unwrap()] {
        chown(path, Some(NOBODY), None).unwrap();
        let note = one_note(place.path());
        assert!(note.contains("another user"), "{note}");
        chown(path, Some(0), None).unwrap();
    }
    chown(&file, Some(NOBODY), None).unwrap();
    let cache = Cache::new(place.path().to_owned(), PLENTY);
    assert!(cache.get(&key("a")).is_none());
    assert!(cache.take_notes().concat().contains("another user"));
}

#[test]
fn a_link_to_the_folder_is_followed_and_one_below_it_is_not() {
    let place = folder();
    let (real, link) = (place.path().join("real"), place.path().join("link"));
    let version = put(&real, "a", b"1").parent().unwrap().to_owned();
    symlink(&real, &link).unwrap();
    assert_eq!(found(&link, "a").as_deref(), Some(&b"1"[..]));
    let away = place.path().join("away");
    fs::rename(&version, &away).unwrap();
    symlink(&away, &version).unwrap();
    assert!(one_note(&real).contains("Not a directory"));
    assert_eq!(fs::read_dir(&away).unwrap().count(), 1, "something was written through the link");
}
