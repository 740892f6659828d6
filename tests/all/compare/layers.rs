//! Layers that several images have, and what a node pulls.

use std::sync::Arc;

use cutaway::analysis::Analysis;
use cutaway::compare::{Change, Comparison, LayerMatch};

use super::{Form, change, compared, folder, image, packed, stored};
use crate::fixtures::image::{Image, Layer};
use crate::fixtures::layout::Layout;
use crate::fixtures::packing::Packing;
use crate::fixtures::tarball::{Member, character_device, file, hardlink, symlink, tar, whiteout};
use crate::support::Place;

const GZIP: Form = Form::Oci(Packing::Gzip);

fn one() -> Vec<Member> {
    vec![file("one", vec![1; 2999]), file("d/e/deep", "1"), symlink("s", "one"), hardlink("h", "one")]
}

fn two() -> Vec<Member> {
    vec![file("two", "2"), whiteout("nothing")]
}

fn three() -> Vec<Member> {
    vec![file("three", "3")]
}

/// Where each image has a layer, and how it is known to be the same.
type Shown = (Vec<Vec<usize>>, Vec<Option<LayerMatch>>);

fn shown(comparison: &Comparison) -> Vec<Shown> {
    comparison.layers.iter().map(|row| (row.places.clone(), row.matches.clone())).collect()
}

fn blob(analysis: &Analysis, layer: usize) -> u64 {
    analysis.layers[layer].read.as_ref().unwrap().compressed_bytes.unwrap()
}

#[test]
fn layers_match_wherever_they_stand() {
    let place = Place::new();
    let images =
        [packed(&place, "one", [one(), two()]), packed(&place, "two", [two(), three(), one(), two()])];
    let comparison = compared(&images);
    let same = Some(LayerMatch::Digest);
    assert_eq!(
        shown(&comparison),
        [
            (vec![vec![0], vec![2]], vec![same, same]),
            (vec![vec![1], vec![0, 3]], vec![same, same]),
            (vec![vec![], vec![1]], vec![None, same]),
        ]
    );
    assert_eq!(comparison.pull_bytes, [Some(0), Some(blob(&images[1], 1))]);
    let first = &comparison.layers[0];
    assert_eq!(first.bytes, [Some(blob(&images[0], 0)); 2]);
    assert_eq!(first.content_bytes, Some(3000));
    assert_eq!(first.created_by.as_deref(), Some("RUN step 0 # buildkit"));
    assert_eq!(first.digest, images[0].image.layers[0].digest.as_ref().map(ToString::to_string));
    assert_eq!(comparison.layers[2].bytes, [None, Some(blob(&images[1], 1))]);
}

#[test]
fn a_layer_that_is_packed_anew_has_the_same_diff_id() {
    let place = Place::new();
    let made = image([one(), two()]);
    let images = [
        stored(&place, "gzip", GZIP, &made),
        stored(&place, "zstd", Form::Oci(Packing::Zstd), &made),
        stored(&place, "plain", Form::Docker, &made),
        stored(&place, "again", Form::Oci(Packing::Zstd), &made),
    ];
    let comparison = compared(&images);
    let other = Some(LayerMatch::DiffId);
    assert_eq!(comparison.layers.len(), 2);
    assert_eq!(comparison.layers[0].matches, [Some(LayerMatch::Digest), other, other, other]);
    assert!(comparison.layers[0].bytes[2] > comparison.layers[0].bytes[0]);
    // The same tar streams from the bottom up are unpacked there already.
    assert_eq!(comparison.pull_bytes, [Some(0); 4]);
}

#[test]
fn a_stream_that_lies_on_others_is_pulled_again() {
    let place = Place::new();
    let images = [
        stored(&place, "gzip", GZIP, &image([one(), two()])),
        stored(&place, "zstd", Form::Oci(Packing::Zstd), &image([one(), three(), two(), two()])),
    ];
    let comparison = compared(&images);
    // The first is unpacked, the last two are one blob.
    assert_eq!(comparison.pull_bytes[1], Some(blob(&images[1], 1) + blob(&images[1], 2)));
}

/// The same layer, made at another time in another order.
fn rebuilt(members: Vec<Member>) -> Vec<Member> {
    let later = |mut member: Member| {
        member.mtime += 86_400;
        member
    };
    members.into_iter().rev().map(later).collect()
}

#[test]
fn layers_whose_times_and_order_alone_differ_have_the_same_content() {
    let place = Place::new();
    let images = [
        packed(&place, "one", [two(), one()]),
        packed(&place, "two", [three(), rebuilt(one()), rebuilt(two())]),
        packed(&place, "three", [rebuilt(one())]),
    ];
    let comparison = compared(&images);
    let (digest, content) = (Some(LayerMatch::Digest), Some(LayerMatch::Content));
    assert_eq!(
        shown(&comparison),
        [
            (vec![vec![0], vec![2], vec![]], vec![digest, content, None]),
            (vec![vec![1], vec![1], vec![0]], vec![digest, content, content]),
            (vec![vec![], vec![0], vec![]], vec![None, digest, None]),
        ]
    );
    // It is another blob all the same.
    assert_eq!(comparison.pull_bytes[2], Some(blob(&images[2], 0)));
}

#[test]
fn layers_of_other_content_do_not_match() {
    let place = Place::new();
    let base =
        || vec![file("a", "1234").mode(0o644), symlink("s", "a"), hardlink("h", "a"), file("d/e/x", "1")];
    let first = packed(&place, "first", [base()]);
    let with = |at: usize, member: Member| {
        let mut members = rebuilt(base());
        members[3 - at] = member;
        members
    };
    let cases = [
        ("content", with(0, file("a", "1235"))),
        ("size", with(0, file("a", "12345"))),
        ("name", with(0, file("b", "1234"))),
        ("mode", with(0, file("a", "1234").mode(0o755))),
        ("owner", with(0, file("a", "1234").owned_by(1, 0))),
        ("target", with(1, symlink("s", "h"))),
        ("kind", with(1, hardlink("s", "a"))),
        ("folder", with(3, file("f/e/x", "1"))),
        ("depth", with(3, file("e/x", "1"))),
    ];
    for (what, members) in cases {
        let other = packed(&place, what, [members]);
        assert_eq!(compared(&[Arc::clone(&first), other]).layers.len(), 2, "{what}");
    }
    let same = packed(&place, "same", [rebuilt(base())]);
    assert_eq!(compared(&[first, same]).layers.len(), 1);
}

#[test]
fn layers_with_devices_or_in_one_image_are_not_matched_by_content() {
    let place = Place::new();
    let device = || vec![character_device("null"), file("a", "1")];
    let images = [packed(&place, "one", [device()]), packed(&place, "two", [rebuilt(device())])];
    assert_eq!(compared(&images).layers.len(), 2);
    let images = [packed(&place, "three", [one(), rebuilt(one())])];
    assert_eq!(compared(&images).layers.len(), 2);
}

#[test]
fn the_last_of_two_entries_of_a_path_counts() {
    let place = Place::new();
    let images = [
        packed(&place, "one", [vec![file("a", "1"), file("a", "2")]]),
        packed(&place, "two", [vec![file("a", "2"), file("a", "1")]]),
    ];
    let comparison = compared(&images);
    assert_eq!(comparison.layers.len(), 2);
    assert_eq!(change(&comparison, "/a"), Change::Changed);
}

/// An image whose one layer claims digest and diff id of `claimed`, and holds `held`.
fn lying(claimed: &[Member], held: &[Member], packing: Packing) -> Image {
    let honest = Layer::new(&tar(claimed.to_vec()), packing);
    let mut layer = Layer::new(&tar(held.to_vec()), packing);
    layer.digest.clone_from(&honest.digest);
    layer.diff_id.clone_from(&honest.diff_id);
    Image::new(packing).add("RUN it", layer)
}

#[test]
fn a_claim_that_the_bytes_disprove_does_not_count() {
    let place = Place::new();
    let (claimed, held) = ([file("a", "1")], [file("a", "2")]);
    let images = [
        packed(&place, "one", [claimed.to_vec()]),
        super::analysed(&format!(
            "oci:{}",
            place.put_layout("two", &Layout::of(&lying(&claimed, &held, Packing::Gzip), "t"))
        )),
    ];
    let comparison = compared(&images);
    assert_eq!(change(&comparison, "/a"), Change::Changed);
    assert_eq!(comparison.layers.len(), 2);
    assert_eq!(comparison.pull_bytes[1], Some(blob(&images[1], 0)));
}

#[test]
fn a_claim_that_looks_wrong_does_not_make_files_the_same() {
    let place = Place::new();
    // A plain layer is not hashed, but it has other entries.
    let (claimed, held) = (vec![file("a", "1")], [file("a", "2"), file("b", "1")]);
    let images = [
        stored(&place, "one", Form::Oci(Packing::Plain), &image([claimed.clone()])),
        super::analysed(&format!(
            "oci:{}",
            place.put_layout("two", &Layout::of(&lying(&claimed, &held, Packing::Plain), "t"))
        )),
    ];
    assert_eq!(change(&compared(&images), "/a"), Change::Changed);
}

#[test]
fn a_layer_that_is_missing_is_known_by_its_digest() {
    let place = Place::new();
    let made = image([one(), two()]);
    let mut lacks = made.clone();
    lacks.layers[0].stored = false;
    let images = [stored(&place, "whole", GZIP, &made), {
        let path = place.put_layout("lacks", &Layout::of(&lacks, "t"));
        super::analysed(&format!("oci:{path}"))
    }];
    let comparison = compared(&images);
    assert_eq!(comparison.layers[0].places, [vec![0], vec![0]]);
    assert_eq!(comparison.layers[0].bytes, [Some(blob(&images[0], 0)), None]);
    assert_eq!(comparison.pull_bytes[1], Some(0));
    let turned = compared(&[packed(&place, "other", [three()]), Arc::clone(&images[1])]);
    assert_eq!(turned.pull_bytes[1], None, "its size is not known");
    assert_eq!(turned.layers[1].content_bytes, None);
}

#[test]
fn a_folder_is_no_blob() {
    let place = Place::new();
    let images = [
        packed(&place, "one", [vec![file("a", "1")]]),
        folder(&place, "two", &[(b"a", b"1")]),
        folder(&place, "three", &[(b"a", b"1")]),
    ];
    let comparison = compared(&images);
    assert_eq!(comparison.layers.len(), 3);
    assert_eq!(comparison.pull_bytes, [Some(0), None, None]);
    assert_eq!(comparison.layers[1].bytes, [None; 3]);
    assert_eq!(comparison.layers[1].digest, None);
    // The same analysis twice is the same layer.
    let twice = compared(&[Arc::clone(&images[1]), Arc::clone(&images[1])]);
    assert!(twice.tree.changes(1, 0).iter().all(|change| *change == Change::Same));
}
