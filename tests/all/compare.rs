//! Several images side by side: paths and contents, layers, settings, sums.

mod contents;
mod large;
mod layers;
mod model;
mod tables;

use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::Arc;

use cutaway::analysis::{Analysis, Options, analyze};
use cutaway::compare::{Change, Comparison, Row, RowId, compare};
use cutaway::jobs::{CancelToken, Progress};
use cutaway::source::Reference;

use crate::fixtures::docker::save_classic;
use crate::fixtures::image::Image;
use crate::fixtures::layout::{Layout, flat_dir};
use crate::fixtures::packing::{Packing, gzip};
use crate::fixtures::tarball::{Member, tar};
use crate::support::Place;

/// The forms in which an image may lie on the disk here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// An OCI layout: compressed layers are hashed as they pass.
    Oci(Packing),
    /// `docker save` of before 2024: plain layers in an archive, which are stepped over.
    Docker,
    /// The same, compressed as a whole: it passes once.
    DockerGzip,
    /// skopeo's folder.
    Dir,
}

const FORMS: [Form; 5] =
    [Form::Oci(Packing::Gzip), Form::Oci(Packing::Plain), Form::Docker, Form::DockerGzip, Form::Dir];

/// Analyses what a reference names.
fn analysed(reference: &str) -> Arc<Analysis> {
    let reference = Reference::parse(reference).expect("a reference");
    analyze(&reference, &Options::default(), &CancelToken::new(), &Progress::default(), &|_| ())
        .expect("an image")
}

/// Puts an image on the disk in a form, and analyses it.
fn stored(place: &Place, name: &str, form: Form, image: &Image) -> Arc<Analysis> {
    match form {
        Form::Oci(packing) => {
            let image = image.clone().packed(packing);
            analysed(&format!("oci:{}", place.put_layout(name, &Layout::of(&image, "t"))))
        }
        Form::Docker => {
            let image = image.clone().packed(Packing::Plain);
            let path = place.put(&format!("{name}.tar"), tar(save_classic(&[(&image, &["a:b"])])));
            analysed(&format!("docker-archive:{path}"))
        }
        Form::DockerGzip => {
            let image = image.clone().packed(Packing::Plain);
            let path = place.put(&format!("{name}.tgz"), gzip(&tar(save_classic(&[(&image, &["a:b"])]))));
            analysed(&format!("docker-archive:{path}"))
        }
        Form::Dir => {
            let image = image.clone().packed(Packing::Zstd);
            analysed(&format!("dir:{}", place.put_files(name, &flat_dir(&image))))
        }
    }
}

/// An image of these layers.
fn image<const N: usize>(layers: [Vec<Member>; N]) -> Image {
    Image::of(Packing::Gzip, layers.map(tar))
}

/// The same, in an OCI layout with gzip.
fn packed<const N: usize>(place: &Place, name: &str, layers: [Vec<Member>; N]) -> Arc<Analysis> {
    stored(place, name, Form::Oci(Packing::Gzip), &image(layers))
}

/// A folder as an image, of paths and bodies.
fn folder(place: &Place, name: &str, files: &[(&[u8], &[u8])]) -> Arc<Analysis> {
    let root = place.path(name);
    std::fs::create_dir_all(&root).unwrap();
    for (path, body) in files {
        let path = Path::new(&root).join(std::ffi::OsStr::from_bytes(path));
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, body).unwrap();
    }
    analysed(&format!("rootfs:{root}"))
}

/// Compares, and holds the result against what is true of every comparison. With how many bytes were read.
fn compared_reading(images: &[Arc<Analysis>]) -> (Comparison, u64) {
    let progress = Progress::default();
    let comparison = compare(images, &CancelToken::new(), &progress).unwrap();
    check(&comparison);
    (comparison, progress.snapshot().bytes_compared)
}

fn compared(images: &[Arc<Analysis>]) -> Comparison {
    compared_reading(images).0
}

/// What became of a path in the second image against the first; of a folder with what is below it.
fn change(comparison: &Comparison, path: &str) -> Change {
    between(comparison, path, 1, 0)
}

fn between(comparison: &Comparison, path: &str, image: usize, baseline: usize) -> Change {
    let row = comparison.tree.find(path.as_bytes()).unwrap_or_else(|| panic!("no row {path}"));
    comparison.tree.changes(image, baseline)[row.0 as usize]
}

/// What is true of every comparison.
fn check(comparison: &Comparison) {
    let (tree, images) = (&comparison.tree, comparison.images.len());
    assert_eq!(tree.rows().len(), tree.len());
    for row in tree.rows() {
        assert_eq!(tree.find(&row.path()), Some(row.id()));
        let names: Vec<&[u8]> = row.children().map(Row::name).collect();
        assert!(names.is_sorted_by(|one, other| one < other), "{names:?}");
        assert!(row.children().all(|child| child.parent().id() == row.id() && child.id() > row.id()));
        let had = (0..images).any(|image| row.node(image).is_some());
        assert!(had || row.id() == RowId::ROOT, "nobody has {:?}", row.path());
    }
    for image in 0..images {
        let itself = tree.changes(image, image);
        assert!(itself.iter().all(|change| matches!(change, Change::Same | Change::Absent)));
        for baseline in 0..images {
            check_pair(comparison, image, baseline);
        }
    }
    for row in &comparison.layers {
        assert!(row.shared_by().count() > 0);
        for image in 0..images {
            assert_eq!(row.matches[image].is_some(), !row.places[image].is_empty());
        }
    }
    for (image, analysis) in comparison.images.iter().enumerate() {
        let mut places: Vec<usize> =
            comparison.layers.iter().flat_map(|row| row.places[image].clone()).collect();
        places.sort_unstable();
        assert_eq!(places, (0..analysis.layers.len()).collect::<Vec<_>>(), "each layer stands once");
    }
    assert_eq!(comparison.pull_bytes.len(), images);
    assert_eq!(comparison.pull_bytes[0], Some(0));
}

fn check_pair(comparison: &Comparison, image: usize, baseline: usize) {
    let tree = &comparison.tree;
    let (changes, back) = (tree.changes(image, baseline), tree.changes(baseline, image));
    for (there, back) in changes.iter().zip(&back) {
        let swapped = match there {
            Change::Added => Change::Removed,
            Change::Removed => Change::Added,
            other => *other,
        };
        assert_eq!(swapped, *back);
    }
    let sums = tree.files(image, baseline);
    let logical = |of: usize| -> u64 {
        let files = tree.rows().filter(|row| row.kind(of) == Some(cutaway::rootfs::NodeKind::File));
        files.filter_map(|row| row.bytes(of)).sum()
    };
    assert_eq!(
        logical(baseline) + sums.added_bytes + sums.changed_bytes,
        logical(image) + sums.removed_bytes + sums.changed_bytes_before,
    );
    let turned = tree.files(baseline, image);
    assert_eq!((sums.added, sums.added_bytes), (turned.removed, turned.removed_bytes));
    assert_eq!((sums.same, sums.unknown), (turned.same, turned.unknown));
    assert_eq!((sums.changed, sums.changed_bytes), (turned.changed, turned.changed_bytes_before));
    let all = tree.largest_changes(image, baseline, usize::MAX);
    assert_eq!(all.len() as u64, sums.added + sums.removed + sums.changed);
    let few = tree.largest_changes(image, baseline, 3);
    assert_eq!(few, all[..few.len()]);
    assert_eq!(few.len(), all.len().min(3));
}
