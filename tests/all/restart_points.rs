//! Restart points of gzip streams: the same bytes from any place, nothing before the point read, and never other bytes.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::io::{self, Write};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use cutaway::analysis::{Analysis, Options, analyze};
use cutaway::base::Section;
use cutaway::base::read_at::ReadAt;
use cutaway::cache::Cache;
use cutaway::contents::{find, read_into};
use cutaway::formats::inflate::{
    Division, GroupHash, Gunzip, ParallelGunzip, PointsSlot, RestartPoints, SeekableGunzip,
};
use cutaway::jobs::{CancelToken, Cancelled, Progress};
use cutaway::layer::EntryId;
use cutaway::slim::FileSink;
use cutaway::source::Reference;

use crate::fixtures::image::Image;
use crate::fixtures::layout::Layout;
use crate::fixtures::packing::{Packing, gzip};
use crate::fixtures::tarball::{file, tar};
use crate::inflate::{Numbers, contents, member};
use crate::support::Place;

type Groups = Arc<Mutex<HashMap<GroupHash, Vec<u8>>>>;

/// Points and groups of windows.
type Recorded = (RestartPoints, Groups);

/// Reads a stream to its end, by one thread or by several.
fn record(stream: &[u8], distance: u64, division: Option<Division>) -> Option<Recorded> {
    let groups: Groups = Arc::default();
    let store = Arc::clone(&groups);
    let slot = PointsSlot::new(
        distance,
        Arc::new(move |hash, bytes| {
            store.lock().unwrap().insert(*hash, bytes.to_vec());
        }),
    );
    let copied = match division {
        Some(division) => thread::scope(|scope| {
            let mut reader = ParallelGunzip::new(scope, stream, division, Some(slot.clone())).unwrap();
            io::copy(&mut reader, &mut io::sink())
        }),
        None => io::copy(&mut Gunzip::new(stream, Some(slot.clone())), &mut io::sink()),
    };
    copied.ok()?;
    let points = slot.take()?;
    assert_eq!(RestartPoints::from_bytes(&points.to_bytes()).as_ref(), Some(&points));
    Some((points, groups))
}

/// Compressed bytes that know how far at the front they were read.
struct Watched {
    bytes: Vec<u8>,
    lowest: Arc<AtomicU64>,
}

impl ReadAt for Watched {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        self.lowest.fetch_min(offset, Ordering::Relaxed);
        let rest = self.bytes.get(usize::try_from(offset).unwrap()..).unwrap_or_default();
        let count = rest.len().min(buffer.len());
        buffer[..count].copy_from_slice(&rest[..count]);
        Ok(count)
    }
}

/// A stream that is read from its points, and the lowest place of it that was read since the last reset.
fn seekable(stream: &[u8], (points, groups): Recorded) -> (SeekableGunzip, Arc<AtomicU64>) {
    let lowest = Arc::new(AtomicU64::new(u64::MAX));
    let bytes = Watched { bytes: stream.to_vec(), lowest: Arc::clone(&lowest) };
    let section = Section::new(Arc::new(bytes), 0, stream.len() as u64);
    let load = move |hash: &GroupHash| groups.lock().unwrap().get(hash).cloned();
    (SeekableGunzip::new(section, points, Arc::new(load)), lowest)
}

fn read(from: &SeekableGunzip, offset: usize, length: usize) -> io::Result<Vec<u8>> {
    let mut out = vec![0; length];
    let mut filled = 0;
    while filled < length {
        match from.read_at(&mut out[filled..], (offset + filled) as u64)? {
            0 => break,
            count => filled += count,
        }
    }
    out.truncate(filled);
    Ok(out)
}

fn ways() -> Vec<Option<Division>> {
    vec![
        None,
        Some(Division { workers: 0, reader_helps: false, piece: 3_000, ahead: 1, symbols: 0 }),
        Some(Division { workers: 0, reader_helps: true, piece: 3_000, ahead: 6, symbols: 10 << 20 }),
        Some(Division { workers: 1, reader_helps: false, piece: 3_000, ahead: 2, symbols: 10 << 20 }),
        Some(Division { workers: 2, reader_helps: false, piece: 50_000, ahead: 3, symbols: 1 << 20 }),
    ]
}

/// Checks places of a stream, in any order, and returns how many points it has, by one thread and by several.
fn check(name: &str, stream: &[u8], bytes: &[u8], distance: u64) -> Vec<usize> {
    let mut found = Vec::new();
    for division in ways() {
        let Some(recorded) = record(stream, distance, division) else {
            found.push(0);
            continue;
        };
        found.push(recorded.0.len());
        assert_eq!(recorded.0.bytes(), bytes.len() as u64, "{name}");
        let (reader, _) = seekable(stream, recorded);
        let mut numbers = Numbers(71);
        for _ in 0..60 {
            let offset = numbers.below(bytes.len());
            let length = 1 + numbers.below(if offset.is_multiple_of(5) { 400_000 } else { 3_000 });
            let wanted = &bytes[offset..bytes.len().min(offset + length)];
            assert!(
                read(&reader, offset, length).unwrap() == wanted,
                "{name}, {division:?}: {offset}+{length}"
            );
        }
        let last = bytes.len() - 1;
        assert!(read(&reader, last, 9).unwrap() == bytes[last..], "{name}");
        assert!(read(&reader, bytes.len(), 9).unwrap().is_empty(), "{name}");
        assert!(read(&reader, 0, bytes.len()).unwrap() == bytes, "{name}: all");
    }
    found
}

#[test]
fn every_place_of_every_kind_of_stream_has_the_same_bytes() {
    let bytes = contents(2_500_000, 5);
    for level in [0, 1, 6, 9] {
        let found = check(&format!("level {level}"), &member(&bytes, level), &bytes, 100_000);
        // Level 1 of zlib-rs writes few blocks, in which there are no points.
        let least = if level == 1 { 1 } else { 5 };
        assert!(found.iter().all(|count| *count >= least), "level {level}: {found:?}");
    }
    // Like pigz: each stretch ends at a byte, with an empty stored block.
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    for part in bytes.chunks(131_072) {
        encoder.write_all(part).unwrap();
        encoder.flush().unwrap();
    }
    let found = check("flushed", &encoder.finish().unwrap(), &bytes, 100_000);
    assert!(found.iter().all(|count| *count >= 5), "{found:?}");
    let members: Vec<u8> =
        bytes.chunks(170_000).zip((0..10).cycle()).flat_map(|(part, level)| member(part, level)).collect();
    let found = check("members", &members, &bytes, 100_000);
    assert!(found.iter().all(|count| *count >= 2), "{found:?}");
    check("zeros", &member(&vec![0; 3 << 20], 6), &vec![0; 3 << 20], 100_000);
    check("stored zeros", &member(&vec![0; 3 << 20], 0), &vec![0; 3 << 20], 100_000);
    assert_eq!(check("short", &member(&bytes[..90_000], 6), &bytes[..90_000], 100_000), [0; 5]);
}

#[test]
fn streams_of_the_program_gzip_have_points() {
    let bytes = contents(3_000_000, 17);
    for level in ["-1", "-6", "-9"] {
        let mut gzip = Command::new("gzip")
            .args(["-c", level])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut to = gzip.stdin.take().unwrap();
        let all = bytes.clone();
        let writer = thread::spawn(move || to.write_all(&all).unwrap());
        let stream = gzip.wait_with_output().unwrap().stdout;
        writer.join().unwrap();
        let found = check(level, &stream, &bytes, 150_000);
        assert!(found.iter().all(|count| *count >= 5), "gzip {level}: {found:?}");
    }
}

#[test]
fn what_is_before_the_point_is_not_read() {
    let bytes = contents(4_000_000, 23);
    let stream = member(&bytes, 6);
    for division in ways() {
        let recorded = record(&stream, 200_000, division).unwrap();
        let mut spoiled = stream.clone();
        let half = stream.len() / 2;
        spoiled[..half].fill(0xaa);
        let (reader, lowest) = seekable(&spoiled, recorded);
        let at = bytes.len() - 300_000;
        assert!(read(&reader, at, 200_000).unwrap() == bytes[at..at + 200_000]);
        assert!(lowest.load(Ordering::Relaxed) >= half as u64, "{division:?}");
        // And what is there is not trusted.
        read(&reader, 1_000, 10).unwrap_err();
        assert!(read(&reader, at, 10).unwrap() == bytes[at..at + 10], "usable after an error");
    }
}

#[test]
fn going_on_reads_nothing_twice() {
    let bytes = contents(3_000_000, 29);
    let stream = member(&bytes, 6);
    let (points, groups) = record(&stream, 100_000, None).unwrap();
    // Files behind each other, as a folder has them: one decoder for all of them.
    let opened = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&opened);
    let load = move |hash: &GroupHash| {
        count.fetch_add(1, Ordering::Relaxed);
        groups.lock().unwrap().get(hash).cloned()
    };
    let section = Section::new(Arc::new(stream.clone()), 0, stream.len() as u64);
    let reader = SeekableGunzip::new(section, points.clone(), Arc::new(load));
    for at in (1_000_000..1_400_000).step_by(7_000) {
        assert!(read(&reader, at, 5_000).unwrap() == bytes[at..at + 5_000]);
    }
    assert_eq!(opened.load(Ordering::Relaxed), 1);
    let files = (1_000_000_u64..1_400_000).step_by(7_000).map(|at| (at, 5_000));
    let (each, all) = (points.cost([(1_000_000, 5_000)]), points.cost(files));
    assert!((5_000..600_000).contains(&each), "{each}");
    assert!((400_000..1_100_000).contains(&all), "{all}");
    assert_eq!(points.cost([(0, bytes.len() as u64)]), bytes.len() as u64);
}

#[test]
fn damage_is_an_error_and_never_other_bytes() {
    let bytes = contents(1_500_000, 31);
    let stream = member(&bytes, 6);
    let (points, groups) = record(&stream, 100_000, None).unwrap();
    let whole = groups.lock().unwrap().clone();
    let mut numbers = Numbers(37);
    let (mut failed, mut right) = (0, 0);
    for round in 0..60 {
        let mut stream = stream.clone();
        let mut groups = whole.clone();
        match round % 3 {
            0 => {
                let at = numbers.below(stream.len());
                stream[at] ^= 1 << numbers.below(8);
            }
            1 => {
                let group = groups.values_mut().next().unwrap();
                let at = numbers.below(group.len());
                group[at] ^= 1 << numbers.below(8);
            }
            _ => {
                let at = numbers.below(stream.len());
                stream.truncate(at);
            }
        }
        let (reader, _) = seekable(&stream, (points.clone(), Arc::new(Mutex::new(groups))));
        for _ in 0..5 {
            let offset = numbers.below(bytes.len() - 1_000);
            match read(&reader, offset, 1_000) {
                Ok(found) => {
                    assert!(found == bytes[offset..offset + 1_000], "round {round}: other bytes");
                    right += 1;
                }
                Err(_) => failed += 1,
            }
        }
    }
    assert!(failed > 20 && right > 20, "{failed} and {right}");
    // Bytes that are no points are no points.
    let record = points.to_bytes();
    for length in 0..record.len() {
        assert!(RestartPoints::from_bytes(&record[..length]).is_none(), "{length}");
    }
}

/// What arrives.
#[derive(Default)]
struct Files(BTreeMap<(u16, EntryId), Vec<u8>>, Vec<u8>);

impl FileSink for Files {
    fn begin(&mut self, _: (u16, EntryId), _: u64) {
        assert!(self.1.is_empty());
    }

    fn push(&mut self, bytes: &[u8]) {
        self.1.extend_from_slice(bytes);
    }

    fn end(&mut self, file: (u16, EntryId)) -> Result<(), Cancelled> {
        self.0.insert(file, std::mem::take(&mut self.1));
        Ok(())
    }
}

const FILES: usize = 24;

/// A layer of 24 MiB.
fn image(packing: Packing) -> Image {
    let files =
        (0..FILES).map(|number| file(format!("srv/file{number}"), contents(1 << 20, number as u64 + 1)));
    Image::of(packing, [tar(files)])
}

/// The file of this number, and the bytes of the image that were read for it.
fn one(analysis: &Analysis, options: &Options, number: usize) -> (Vec<u8>, u64) {
    let rootfs = &analysis.merge.as_ref().unwrap().rootfs;
    let path = format!("/srv/file{number}").into_bytes();
    let inode = rootfs.node(find(analysis, rootfs, &path, true).unwrap()).content().unwrap();
    let (progress, mut files) = (Progress::default(), Files::default());
    let wanted = BTreeMap::from([(inode, path)]);
    read_into(analysis, options, &wanted, &mut files, &progress, &CancelToken::new()).unwrap();
    (files.0.remove(&inode).unwrap(), progress.snapshot().bytes_read)
}

fn opened(reference: &str, place: &Place) -> (Arc<Analysis>, Options) {
    let options = Options { cache: Some(Cache::new(place.cache(), 1 << 30)), ..Options::default() };
    let reference = Reference::parse(reference).unwrap();
    let analysis = analyze(&reference, &options, &CancelToken::new(), &Progress::default(), &|_| ()).unwrap();
    (analysis, options)
}

#[test]
fn one_file_of_a_layer_is_read_from_its_point() {
    let place = Place::new();
    for (name, packing) in [("one", Packing::Gzip), ("members", Packing::GzipMembers)] {
        let reference = place.put_layout(name, &Layout::of(&image(packing), "a"));
        // After the first opening, and after another.
        for _ in 0..2 {
            let (analysis, options) = opened(&reference, &place);
            let all = analysis.layers[0].read.as_ref().unwrap().compressed_bytes.unwrap();
            for number in [FILES - 1, 13] {
                let (bytes, read) = one(&analysis, &options, number);
                assert!(bytes == contents(1 << 20, number as u64 + 1), "{number}");
                if packing == Packing::Gzip {
                    assert!(read < all / 2, "{number}: {read} of {all}");
                }
            }
            let verified = Options { verify: true, ..options };
            assert!(one(&analysis, &verified, 20).1 >= all, "verification reads everything");
        }
    }
}

#[test]
fn without_intact_points_the_layer_is_read_from_its_start() {
    let place = Place::new();
    let reference = place.put_layout("image", &Layout::of(&image(Packing::Gzip), "a"));
    let (analysis, options) = opened(&reference, &place);
    let all = analysis.layers[0].read.as_ref().unwrap().compressed_bytes.unwrap();
    assert!(one(&analysis, &options, 20).1 < all / 2);
    // Records of this size are windows: the last byte is in one of them.
    let mut damaged = 0;
    for version in fs::read_dir(place.cache()).unwrap() {
        for record in fs::read_dir(version.unwrap().path()).unwrap() {
            let path = record.unwrap().path();
            let mut bytes = fs::read(&path).unwrap();
            if String::from_utf8_lossy(&bytes).contains("restart windows") {
                *bytes.last_mut().unwrap() ^= 1;
                fs::write(&path, bytes).unwrap();
                damaged += 1;
            }
        }
    }
    assert!(damaged > 0);
    let (bytes, read) = one(&analysis, &options, 20);
    assert!(bytes == contents(1 << 20, 21));
    assert!(read >= all, "{read} of {all}");
}

#[test]
fn a_file_that_changed_has_no_points() {
    let place = Place::new();
    let layout = Layout::of(&image(Packing::Gzip), "a");
    let reference = place.put_layout("image", &layout);
    let (analysis, options) = opened(&reference, &place);
    // The same length, another content: the blob is no longer what its name says.
    let packed = gzip(&tar([file("srv/other", contents(1 << 20, 99))]));
    let digest = analysis.layers[0].read.as_ref().unwrap().digest.clone().unwrap();
    let path = place.path(&format!("image/blobs/{}", digest.replacen(':', "/", 1)));
    let mut file = fs::OpenOptions::new().write(true).open(&path).unwrap();
    file.write_all(&packed).unwrap();
    drop(file);
    let rootfs = &analysis.merge.as_ref().unwrap().rootfs;
    let inode = rootfs.node(find(&analysis, rootfs, b"/srv/file20", true).unwrap()).content().unwrap();
    let wanted = BTreeMap::from([(inode, b"/srv/file20".to_vec())]);
    let mut files = Files::default();
    let (progress, cancel) = (Progress::default(), CancelToken::new());
    read_into(&analysis, &options, &wanted, &mut files, &progress, &cancel).unwrap_err();
}

#[test]
fn the_program_prints_a_file_the_same_each_time() {
    let place = Place::new();
    let reference = place.put_layout("image", &Layout::of(&image(Packing::Gzip), "a"));
    let wanted = contents(1 << 20, FILES as u64);
    for cached in [true, false, true, true] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cutaway"));
        place.settle(&mut command);
        if !cached {
            command.env("CUTAWAY_NO_CACHE", "1");
        }
        let path = format!("/srv/file{}", FILES - 1);
        let output = command.args(["cat", &reference, &path]).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        assert!(output.stdout == wanted);
    }
}
