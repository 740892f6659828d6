//! Images with many files: what a comparison of them takes, in counts.

use std::io::Read;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use cutaway::analysis::{Analysis, Layer};
use cutaway::base::Limits;
use cutaway::compare::{Change, compare};
use cutaway::jobs::{CancelToken, Progress};
use cutaway::layer::{Context, DirId, EntryKind, Expected, IndexBuilder, LayerIndex, NewEntry, read_stream};
use cutaway::rootfs::merge;
use cutaway::source::{Blob, LayerSource};

use super::packed;
use crate::fixtures::tarball::{BLOCK, file};
use crate::support::Place;

const FILES: usize = 300_000;
/// Of an image whose bodies pass in the test: making them takes longer than all else here.
const HASHED: usize = 20_000;
const FILES_EACH: usize = 20;
/// What a comparison of images with 300,000 files may take beyond the analyses.
const MOST_BYTES: u64 = 100 << 20;

/// A tar stream that is made while it is read. Every tenth file has a body that depends on `odd`.
struct Stream {
    odd: u8,
    made: usize,
    member: Vec<u8>,
    at: usize,
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        if self.at == self.member.len() {
            self.member.clear();
            self.at = 0;
            if self.made < HASHED {
                let (folder, place) = (self.made / FILES_EACH, self.made % FILES_EACH);
                let name = format!("srv/part{:03}/folder{folder}/file{place}.dat", folder % 100);
                let body = vec![if self.made.is_multiple_of(10) { self.odd } else { 1 }; 1 + self.made % 500];
                file(name, body).write(&mut self.member);
            } else if self.made == HASHED {
                self.member.resize(2 * BLOCK, 0);
            }
            self.made += 1;
        }
        let count = buffer.len().min(self.member.len() - self.at);
        buffer[..count].copy_from_slice(&self.member[self.at..self.at + count]);
        self.at += count;
        Ok(count)
    }
}

/// An analysis of one layer as it passed in an archive. The packing of an image takes longer than all else here.
fn analysis(of: &Analysis, odd: u8) -> Arc<Analysis> {
    let context = Context {
        limits: Limits::default(),
        cancel: CancelToken::new(),
        progress: Progress::default(),
        subject: "layer 0".to_owned(),
        kept: Arc::new(AtomicU64::new(0)),
        inflate: None,
        beside: false,
        points: None,
    };
    let mut stream = Stream { odd, made: 0, member: Vec::new(), at: 0 };
    let read = Arc::new(read_stream(&mut stream, &Expected::default(), &context).unwrap());
    assert_eq!(read.index.counts().files, HASHED as u64);
    let merged = merge(&[Arc::clone(&read.index)], &[], 10);
    let mut image = (*of.image).clone();
    let source =
        LayerSource { blob: Blob::Streamed(0), digest: None, diff_id: None, ..image.layers[0].clone() };
    image.layers = vec![source];
    Arc::new(Analysis {
        image: Arc::new(image),
        layers: vec![Layer { read: Some(read), ..Layer::default() }],
        merge: Some(Arc::new(merged)),
        ..of.clone()
    })
}

#[test]
fn hashes_of_many_files_are_compared_without_reading_or_copying_them() {
    let place = Place::new();
    let small = packed(&place, "small", [vec![file("a", "1")]]);
    let images = [analysis(&small, 1), analysis(&small, 2)];
    let progress = Progress::default();
    let mut comparison = None;
    let taken = allocation_counter::measure(|| {
        comparison = compare(&images, &CancelToken::new(), &progress).ok();
    });
    let tree = comparison.unwrap().tree;
    let most = MOST_BYTES * HASHED as u64 / FILES as u64;
    assert!(taken.bytes_max < most, "{} bytes at once", taken.bytes_max);
    assert_eq!(progress.snapshot().bytes_compared, 0);
    let sums = tree.files(1, 0);
    assert_eq!((sums.changed, sums.same), (HASHED as u64 / 10, HASHED as u64 / 10 * 9));
    assert_eq!((sums.added, sums.removed, sums.unknown), (0, 0, 0));
}

#[test]
fn two_images_of_300_000_files_take_little_memory() {
    let place = Place::new();
    let small = packed(&place, "small", [vec![file("a", "1")]]);
    // No file of one has the path of one of the other: no two images make more rows.
    let images = ["one", "two"].map(|folder| {
        let files = (0..FILES).map(|file| (file % (FILES_EACH + 1) == 0, format!("{folder}-{file}")));
        of_index(&small, files_in_folders(files))
    });
    let mut comparison = None;
    let taken = allocation_counter::measure(|| {
        comparison = compare(&images, &CancelToken::new(), &Progress::default()).ok();
    });
    assert!(taken.bytes_max < MOST_BYTES, "{} bytes at once", taken.bytes_max);
    // No path, file or folder costs an allocation of its own.
    assert!(taken.count_total < 1000, "{} allocations", taken.count_total);
    let tree = comparison.unwrap().tree;
    assert_eq!(tree.len(), 2 * FILES + 1);
    let mut changes = Vec::new();
    let taken = allocation_counter::measure(|| changes = tree.changes(1, 0));
    assert!(taken.count_total < 10, "{} allocations", taken.count_total);
    assert_eq!(changes.iter().filter(|change| **change == Change::Added).count(), FILES);
}

/// An analysis of an index that is made entry by entry.
fn of_index(of: &Analysis, index: LayerIndex) -> Arc<Analysis> {
    let mut read = (**of.layers[0].read.as_ref().unwrap()).clone();
    read.index = Arc::new(index);
    let merged = merge(&[Arc::clone(&read.index)], &[], 10);
    Arc::new(Analysis {
        layers: vec![Layer { read: Some(Arc::new(read)), ..Layer::default() }],
        merge: Some(Arc::new(merged)),
        ..of.clone()
    })
}

const FOLDER: NewEntry<'_> = NewEntry {
    kind: EntryKind::Directory,
    size: 0,
    mode: 0o755,
    uid: 0,
    gid: 0,
    mtime: 0,
    link: b"",
    body_at: None,
};

/// Folders, each in the one before or beside it.
fn folders(names: impl Iterator<Item = (bool, String)>) -> LayerIndex {
    let mut builder = IndexBuilder::new(&Limits::default());
    let mut at = DirId::ROOT;
    for (inside, name) in names {
        builder.add(at, name.as_bytes(), FOLDER, true).unwrap();
        if inside {
            at = builder.dir(at, name.as_bytes()).unwrap();
        }
    }
    builder.finish()
}

/// Folders of the root, and files in the last one.
fn files_in_folders(names: impl Iterator<Item = (bool, String)>) -> LayerIndex {
    let mut builder = IndexBuilder::new(&Limits::default());
    let mut at = DirId::ROOT;
    for (is_folder, name) in names {
        if is_folder {
            builder.add(DirId::ROOT, name.as_bytes(), FOLDER, true).unwrap();
            at = builder.dir(DirId::ROOT, name.as_bytes()).unwrap();
        } else {
            let file = NewEntry { kind: EntryKind::File, size: 100, ..FOLDER };
            builder.add(at, name.as_bytes(), file, true).unwrap();
        }
    }
    builder.finish()
}

#[test]
fn a_very_deep_tree_and_a_very_wide_folder_are_walked() {
    let place = Place::new();
    let small = packed(&place, "small", [vec![file("a", "1")]]);
    let deep = |count: usize| folders((0..count).map(|_| (true, "d".to_owned())));
    let wide = |count: usize| folders((0..count).map(|name| (false, format!("n{}", name * 7919 % count))));
    let images = [of_index(&small, deep(100_000)), of_index(&small, deep(100_001))];
    let comparison = compare(&images, &CancelToken::new(), &Progress::default()).unwrap();
    let changes = comparison.tree.changes(1, 0);
    assert_eq!(changes.len(), 100_002);
    assert_eq!(
        (changes[0], changes[100_000], changes[100_001]),
        (Change::Changed, Change::Changed, Change::Added)
    );
    let images = [of_index(&small, wide(200_000)), of_index(&small, wide(200_003))];
    let tree = compare(&images, &CancelToken::new(), &Progress::default()).unwrap().tree;
    assert_eq!(tree.len(), 200_004);
    assert_eq!(tree.changes(1, 0).iter().filter(|change| **change == Change::Added).count(), 3);
    assert!(tree.find(b"/n123456").is_some());
}
