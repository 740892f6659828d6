//! What became of a path, in all ways in which it can be known.

use std::fs;
use std::time::{Duration, SystemTime};

use cutaway::compare::{Change, compare};
use cutaway::jobs::{CancelToken, Progress};

use super::{FORMS, Form, between, change, compared, compared_reading, folder, image, packed, stored};
use crate::fixtures::packing::Packing;
use crate::fixtures::sparse::Sparse;
use crate::fixtures::tarball::{
    Member, character_device, dir, fifo, file, hardlink, opaque, symlink, tar, whiteout,
};
use crate::support::Place;

/// A body whose start, middle and end say nothing of the byte that is `odd`.
fn large(odd: u8) -> Vec<u8> {
    let mut bytes = vec![b'x'; 100_000];
    bytes[30_000] = odd;
    bytes
}

#[test]
fn every_change_is_told_by_content_in_all_forms() {
    let place = Place::new();
    let before = image([vec![
        file("same", "1234"),
        file("changed", "1234"),
        file("large", large(1)),
        file("large-same", large(1)),
        file("other-size", "12"),
        file("gone", "1"),
        file("empty", ""),
        symlink("link", "same"),
        symlink("moved", "same"),
        dir("still"),
    ]]);
    let after = image([vec![
        file("same", "1234"),
        file("changed", "1235"),
        file("large", large(2)),
        file("large-same", large(1)),
        file("other-size", "123"),
        file("new", "1"),
        file("empty", ""),
        symlink("link", "same"),
        symlink("moved", "changed"),
        dir("still"),
    ]]);
    for (at, one) in FORMS.into_iter().enumerate() {
        for (to, other) in FORMS.into_iter().enumerate() {
            let images = [
                stored(&place, &format!("{at}-{to}-before"), one, &before),
                stored(&place, &format!("{at}-{to}-after"), other, &after),
            ];
            let comparison = compared(&images);
            for (path, expected) in [
                ("/same", Change::Same),
                ("/changed", Change::Changed),
                ("/large", Change::Changed),
                ("/large-same", Change::Same),
                ("/other-size", Change::Changed),
                ("/gone", Change::Removed),
                ("/new", Change::Added),
                ("/empty", Change::Same),
                ("/link", Change::Same),
                ("/moved", Change::Changed),
                ("/still", Change::Same),
                ("/", Change::Changed),
            ] {
                assert_eq!(change(&comparison, path), expected, "{path} of {other:?} against {one:?}");
            }
            let sums = comparison.tree.files(1, 0);
            assert_eq!((sums.added, sums.removed, sums.changed, sums.same), (1, 1, 3, 3));
            assert_eq!(sums.unknown, 0);
        }
    }
}

#[test]
fn a_time_proves_nothing() {
    let place = Place::new();
    // Both bear the same time, and then only the times differ.
    let later = |member: Member| Member { mtime: member.mtime + 1000, ..member };
    let images = [
        packed(&place, "one", [vec![file("a", "1"), file("b", "1")]]),
        packed(&place, "two", [vec![file("a", "2"), later(file("b", "1"))]]),
    ];
    let comparison = compared(&images);
    assert_eq!(change(&comparison, "/a"), Change::Changed);
    assert_eq!(change(&comparison, "/b"), Change::Same);
}

#[test]
fn an_image_is_the_same_as_itself_in_every_form_without_reading() {
    let place = Place::new();
    let made = image([
        vec![file("a/b", "1"), file("a/large", large(1)), fifo("pipe"), character_device("null")],
        vec![whiteout("a/b"), hardlink("a/also", "a/large"), file("c", "3")],
    ]);
    let images = FORMS.map(|form| stored(&place, &format!("{form:?}"), form, &made));
    let (comparison, read) = compared_reading(&images);
    assert_eq!(read, 0, "one of the streams was hashed, or the layers are one");
    for image in 0..images.len() {
        for baseline in 0..images.len() {
            let changes = comparison.tree.changes(image, baseline);
            assert!(changes.iter().all(|change| *change == Change::Same), "{image} against {baseline}");
        }
    }
    assert_eq!(comparison.layers.len(), 2);
    assert_eq!(comparison.tree.find(b"/a/b"), None);
}

#[test]
fn second_names_of_a_file_have_its_content() {
    let place = Place::new();
    let images = [
        packed(&place, "one", [vec![file("a", "1234"), file("b", "1234"), file("c", "1")]]),
        packed(&place, "two", [vec![file("a", "1234"), hardlink("b", "a"), hardlink("c", "a")]]),
        folder(&place, "three", &[(b"a", b"1234"), (b"b", b"1234"), (b"c", b"1234")]),
    ];
    let comparison = compared(&images);
    assert_eq!(change(&comparison, "/b"), Change::Same);
    assert_eq!(change(&comparison, "/c"), Change::Changed);
    assert_eq!(between(&comparison, "/", 2, 1), Change::Same);
    let row = comparison.tree.row(comparison.tree.find(b"/b").unwrap());
    assert_eq!([row.bytes(0), row.bytes(1), row.bytes(3)], [Some(4), Some(4), None]);
    let sums = comparison.tree.files(1, 0);
    assert_eq!((sums.changed, sums.changed_bytes, sums.changed_bytes_before), (1, 4, 1));
}

#[test]
fn a_file_with_many_names_is_read_once() {
    let place = Place::new();
    let names: Vec<String> = (0..50).map(|name| format!("n{name}")).collect();
    let all = |body: &[u8]| {
        let mut members = vec![file(&names[0], body)];
        members.extend(names[1..].iter().map(|name| hardlink(name, &names[0])));
        image([members])
    };
    // The second images have a file more, so that no layer is shared.
    let mut more = all(&[7; 1000]);
    more = more.layer("RUN more", &tar([file("more", "1")]));
    let mut other = image([vec![file("other", "1")]]);
    other = other.layer(
        "RUN all",
        &tar(std::iter::once(file(&names[0], [7; 1000]))
            .chain(names[1..].iter().map(|name| hardlink(name, &names[0])))
            .chain([file("last", "1")])),
    );
    let images = [stored(&place, "one", Form::Docker, &more), stored(&place, "two", Form::Docker, &other)];
    let (comparison, read) = compared_reading(&images);
    assert_eq!(change(&comparison, "/n49"), Change::Same);
    // Workers may begin with the same file.
    assert!((2000..=2000 * 16).contains(&read), "{read} bytes were read");
}

#[test]
fn whiteouts_take_away_and_kinds_may_change() {
    let place = Place::new();
    let below =
        || vec![dir("a"), file("a/x", "12"), file("a/y", "1"), file("kind", "123"), file("link", "1")];
    let images = [
        packed(&place, "one", [below()]),
        packed(
            &place,
            "two",
            [below(), vec![whiteout("a/x"), dir("kind"), file("kind/inner", "1"), symlink("link", "a")]],
        ),
        packed(&place, "three", [below(), vec![opaque("a"), file("a/z", "1")]]),
    ];
    let comparison = compared(&images);
    assert_eq!(change(&comparison, "/a/x"), Change::Removed);
    assert_eq!(change(&comparison, "/a/y"), Change::Same);
    assert_eq!(change(&comparison, "/a"), Change::Changed);
    assert_eq!(change(&comparison, "/kind"), Change::Changed);
    assert_eq!(change(&comparison, "/kind/inner"), Change::Added);
    assert_eq!(change(&comparison, "/link"), Change::Changed);
    assert_eq!(between(&comparison, "/kind/inner", 2, 0), Change::Absent);
    assert_eq!(between(&comparison, "/kind", 2, 0), Change::Same);
    assert_eq!(between(&comparison, "/kind/inner", 2, 1), Change::Removed);
    assert_eq!(between(&comparison, "/a/z", 2, 1), Change::Added);
    let sums = comparison.tree.files(1, 0);
    assert_eq!((sums.added, sums.removed, sums.changed, sums.same), (1, 1, 2, 1));
    assert_eq!((sums.changed_bytes, sums.changed_bytes_before), (0, 4));
}

#[test]
fn a_folder_that_only_one_has_is_added_with_all_below_it() {
    let place = Place::new();
    let images = [
        packed(&place, "one", [vec![file("b/c", "1")]]),
        packed(&place, "two", [vec![file("b/c", "1"), file("new/deep/down", "1")]]),
    ];
    let comparison = compared(&images);
    for path in ["/new", "/new/deep", "/new/deep/down"] {
        assert_eq!(change(&comparison, path), Change::Added);
        assert_eq!(between(&comparison, path, 0, 1), Change::Removed);
    }
    assert_eq!(change(&comparison, "/b"), Change::Same);
    assert_eq!(change(&comparison, "/"), Change::Changed);
}

#[test]
fn what_cannot_be_read_is_unknown() {
    let place = Place::new();
    let holes = Sparse::regular(2, 512);
    let sparse = || holes.old_gnu("holes");
    let size = usize::try_from(holes.size).unwrap();
    let images = [
        packed(&place, "one", [vec![sparse(), file("d/a", "1")]]),
        packed(&place, "two", [vec![file("holes", vec![b'a'; size]), file("d/a", "1")]]),
        packed(&place, "three", [vec![sparse(), file("d/a", "1"), file("more", "1")]]),
        packed(&place, "four", [vec![file("holes", "1"), file("d/a", "1")]]),
        packed(&place, "five", [vec![file("first", "1")], vec![sparse(), file("d/a", "1")]]),
    ];
    let (comparison, read) = compared_reading(&images);
    assert_eq!(read, 0);
    assert_eq!(change(&comparison, "/holes"), Change::Unknown);
    assert_eq!(change(&comparison, "/d"), Change::Same);
    assert_eq!(change(&comparison, "/"), Change::Unknown);
    assert_eq!(between(&comparison, "/holes", 2, 0), Change::Unknown, "in another layer");
    assert_eq!(between(&comparison, "/holes", 3, 0), Change::Changed, "of another size");
    assert_eq!(between(&comparison, "/holes", 4, 0), Change::Same, "in the same layer");
    assert_eq!(between(&comparison, "/holes", 4, 1), Change::Unknown);
    let sums = comparison.tree.files(1, 0);
    assert_eq!((sums.unknown, sums.unknown_bytes, sums.same), (1, holes.size, 1));
}

#[test]
fn devices_are_not_known_to_be_the_same() {
    let place = Place::new();
    let images = [
        packed(&place, "one", [vec![dir("dev"), character_device("dev/null")]]),
        packed(&place, "two", [vec![dir("dev"), fifo("dev/null")]]),
    ];
    assert_eq!(change(&compared(&images), "/dev/null"), Change::Unknown);
}

#[test]
fn a_file_that_changed_since_the_analysis_is_unknown() {
    let place = Place::new();
    let body = vec![b'x'; 20_000];
    let files: [(&[u8], &[u8]); 4] =
        [(b"kept", &body), (b"written", &body), (b"gone", &body), (b"longer", &body)];
    let images = [folder(&place, "one", &files), folder(&place, "two", &files)];
    let root = place.path("two");
    let written = fs::File::options().write(true).open(format!("{root}/written")).unwrap();
    written.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(1)).unwrap();
    fs::remove_file(format!("{root}/gone")).unwrap();
    fs::write(format!("{root}/longer"), vec![b'x'; 20_001]).unwrap();
    let comparison = compared(&images);
    assert_eq!(change(&comparison, "/kept"), Change::Same);
    for path in ["/written", "/gone", "/longer"] {
        assert_eq!(change(&comparison, path), Change::Unknown, "{path}");
    }
}

#[test]
fn files_that_a_sample_tells_apart_are_not_read_whole() {
    let place = Place::new();
    let mut other = vec![b'x'; 4 << 20];
    let body = other.clone();
    other[0] = b'y';
    let images = [folder(&place, "one", &[(b"a", &body)]), folder(&place, "two", &[(b"a", &other)])];
    let (comparison, read) = compared_reading(&images);
    assert_eq!(change(&comparison, "/a"), Change::Changed);
    assert_eq!(read, 2 * 3 * 4096);
}

#[test]
fn names_are_bytes() {
    let place = Place::new();
    let images = [
        packed(&place, "one", [vec![file(b"a\xff/b", "1"), file(b"\xc3\xa9", "1")]]),
        folder(&place, "two", &[(b"a\xff/b", b"2"), (b"\xc3\xa9", b"1")]),
    ];
    let tree = compared(&images).tree;
    let row = tree.find(b"/a\xff/b").unwrap();
    assert_eq!(tree.row(row).change(1, 0), Change::Changed);
    assert_eq!(tree.row(row).path(), b"/a\xff/b");
    assert_eq!(tree.row(tree.find(b"/\xc3\xa9").unwrap()).change(1, 0), Change::Same);
    assert_eq!(tree.find(b"/a\xff/b/c"), None);
    assert_eq!(tree.find(b"/a"), None);
}

#[test]
fn any_of_three_images_may_be_the_baseline() {
    let place = Place::new();
    let with = |body: &str| image([vec![file("f", body), file("d/always", "1")]]);
    let images = [
        stored(&place, "one", Form::Oci(Packing::Gzip), &with("11")),
        stored(&place, "two", Form::Docker, &with("22")),
        folder(&place, "three", &[(b"f", b"11"), (b"d/always", b"1")]),
    ];
    let comparison = compared(&images);
    for (image, baseline, expected) in [
        (0, 0, Change::Same),
        (1, 0, Change::Changed),
        (2, 0, Change::Same),
        (0, 1, Change::Changed),
        (2, 1, Change::Changed),
        (0, 2, Change::Same),
        (1, 2, Change::Changed),
    ] {
        assert_eq!(between(&comparison, "/f", image, baseline), expected, "{image} against {baseline}");
        assert_eq!(between(&comparison, "/", image, baseline), expected);
        assert_eq!(between(&comparison, "/d/always", image, baseline), Change::Same);
    }
}

#[test]
fn the_largest_changes_come_first() {
    let place = Place::new();
    let images = [
        packed(
            &place,
            "one",
            [vec![file("z", vec![1; 50]), file("m", vec![1; 70]), file("same", vec![1; 99])]],
        ),
        packed(
            &place,
            "two",
            [vec![
                file("m", vec![1; 20]),
                file("same", vec![1; 99]),
                file("b/c", vec![1; 60]),
                file("a", vec![1; 50]),
                file("b-", vec![1; 60]),
            ]],
        ),
    ];
    let tree = compared(&images).tree;
    let names = |limit| -> Vec<String> {
        let rows = tree.largest_changes(1, 0, limit);
        rows.into_iter().map(|row| String::from_utf8(tree.row(row).path()).unwrap()).collect()
    };
    assert_eq!(names(9), ["/m", "/b/c", "/b-", "/a", "/z"]);
    assert_eq!(names(2), ["/m", "/b/c"]);
    assert_eq!(names(0), [""; 0]);
}

#[test]
fn a_cancelled_comparison_ends() {
    let place = Place::new();
    let images = [packed(&place, "one", [vec![file("a", "1")]])];
    let cancel = CancelToken::new();
    cancel.cancel();
    assert!(compare(&images, &cancel, &Progress::default()).is_err());
}
