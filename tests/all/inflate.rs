//! Gzip by several threads: the same bytes and errors as by one, however a stream is divided.

use std::io::{self, Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use cutaway::base::read_at::ReadAt;
use cutaway::base::{Limits, Section};
use cutaway::formats::inflate::{Division, Gunzip, ParallelGunzip, PointsSlot};
use cutaway::jobs::{CancelToken, Progress};
use cutaway::layer::{Context, Expected, read_layer};
use flate2::bufread::MultiGzDecoder;
use flate2::{Compression, GzBuilder};

use crate::fixtures::tarball::{file, tar};

/// Numbers that look random and are the same in each run.
pub struct Numbers(pub u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % end as u64).unwrap()
    }
}

/// Words, noise, runs and repetitions from far back, in turn.
pub fn contents(bytes: usize, seed: u64) -> Vec<u8> {
    let mut numbers = Numbers(seed);
    let mut out: Vec<u8> = Vec::with_capacity(bytes + 40_000);
    while out.len() < bytes {
        let length = 1 + numbers.below(20_000);
        match numbers.below(5) {
            0 => out.extend((0..length).map(|_| numbers.next().to_le_bytes()[0])),
            1 => out.extend(vec![numbers.next().to_le_bytes()[0]; length]),
            2 if !out.is_empty() => {
                let start = out.len().saturating_sub(1 + numbers.below(32_768));
                let end = out.len().min(start + length);
                out.extend_from_within(start..end);
            }
            _ => {
                while out.len() % 20_000 < 15_000 {
                    out.extend(format!("line {} of {}\n", numbers.below(1_000), numbers.below(50)).bytes());
                }
                out.push(b'.');
            }
        }
    }
    out.truncate(bytes);
    out
}

pub fn member(bytes: &[u8], level: u32) -> Vec<u8> {
    let builder = GzBuilder::new().filename("layer.tar").comment("made by a test");
    let mut encoder = builder.write(Vec::new(), Compression::new(level));
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// Divisions from very small to usual.
fn divisions() -> Vec<Division> {
    let of =
        |workers, piece, ahead, symbols| Division { workers, reader_helps: false, piece, ahead, symbols };
    let helped = |piece, ahead, symbols| Division { reader_helps: true, ..of(0, piece, ahead, symbols) };
    vec![
        of(1, 1_000, 1, 10 << 20),
        of(2, 3_000, 3, 10 << 20),
        of(3, 20_000, 7, 10 << 20),
        // No part fits: the coordinator decodes all.
        of(2, 50_000, 4, 1),
        // Parts end before their piece does.
        of(2, 200_000, 4, 1 << 20),
        of(0, 1_000, 1, 0),
        helped(1_000, 6, 10 << 20),
        helped(20_000, 9, 1 << 20),
        // No part fits, or no piece is far enough ahead.
        helped(5_000, 6, 1),
        helped(5_000, 2, 1 << 20),
        Division::of(0),
        Division::of_two(),
        Division::of(2),
    ]
}

/// All bytes, and the error that ended them.
fn read(mut reader: impl Read) -> (Vec<u8>, Option<(io::ErrorKind, String)>) {
    let (mut out, mut buffer) = (Vec::new(), vec![0; 60_000]);
    loop {
        match reader.read(&mut buffer) {
            Ok(0) => return (out, None),
            Ok(count) => out.extend_from_slice(&buffer[..count]),
            Err(error) => return (out, Some((error.kind(), error.to_string()))),
        }
    }
}

/// The same from several threads.
fn parallel(
    stream: impl Read + Send,
    division: Division,
    slot: Option<PointsSlot>,
) -> (Vec<u8>, Option<(io::ErrorKind, String)>) {
    thread::scope(|scope| read(ParallelGunzip::new(scope, stream, division, slot).unwrap()))
}

fn check(name: &str, stream: &[u8]) {
    let (wanted, fault) = read(MultiGzDecoder::new(stream));
    for distance in [1, 100_000, 4 << 20] {
        let slot = PointsSlot::new(distance, Arc::new(|_, _| ()));
        let (found, found_fault) = read(Gunzip::new(stream, Some(slot.clone())));
        assert_eq!(found_fault, fault, "{name}, a point each {distance}");
        let both = found.len().min(wanted.len());
        assert!(found[..both] == wanted[..both], "{name}, a point each {distance}");
        assert!(fault.is_some() || found.len() == wanted.len(), "{name}, a point each {distance}");
        assert!(fault.is_none() || slot.take().is_none(), "{name}: points of a stream with a fault");
    }
    for division in divisions() {
        let (found, found_fault) = parallel(stream, division, None);
        assert_eq!(found_fault, fault, "{name}, {division:?}");
        if fault.is_none() {
            assert_eq!(found.len(), wanted.len(), "{name}, {division:?}");
        }
        // Before an error zlib may withhold or repeat what is not certain.
        let both = found.len().min(wanted.len());
        assert!(found[..both] == wanted[..both], "{name}, {division:?}");
    }
}

#[test]
fn every_level_and_kind_of_content_gives_the_same_bytes() {
    for level in [0, 1, 4, 6, 9] {
        check(&format!("level {level}"), &member(&contents(1_500_000, 7), level));
    }
    check("nothing", &member(b"", 6));
    check("a byte", &member(b"x", 6));
    check("zeros", &member(&vec![0; 8 << 20], 9));
    let noise: Vec<u8> = std::iter::repeat_with({
        let mut numbers = Numbers(3);
        move || numbers.next().to_le_bytes()[0]
    })
    .take(700_000)
    .collect();
    check("noise", &member(&noise, 6));
}

#[test]
fn members_follow_each_other_in_any_number() {
    let all = contents(600_000, 11);
    let several: Vec<u8> =
        all.chunks(70_000).zip((0..10).cycle()).flat_map(|(part, level)| member(part, level)).collect();
    check("members", &several);
    let tiny: Vec<u8> = all[..30_000].chunks(97).flat_map(|part| member(part, 6)).collect();
    check("tiny members", &tiny);
    let with_empty = [member(b"", 6), member(&all, 6), member(b"", 1), member(b"end", 6)].concat();
    check("empty members", &with_empty);
}

#[test]
fn flushed_blocks_are_found() {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), Compression::default());
    for part in contents(900_000, 13).chunks(9_000) {
        encoder.write_all(part).unwrap();
        encoder.flush().unwrap();
    }
    check("flushed", &encoder.finish().unwrap());
}

#[test]
fn a_stream_that_is_cut_between_two_blocks_is_truncated() {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), Compression::default());
    let mut cuts = Vec::new();
    for part in contents(60_000, 37).chunks(6_000) {
        encoder.write_all(part).unwrap();
        encoder.flush().unwrap();
        cuts.push(encoder.get_ref().len());
    }
    let stream = encoder.finish().unwrap();
    for cut in cuts {
        check(&format!("cut behind a flush at {cut}"), &stream[..cut]);
    }
}

#[test]
fn faults_are_the_same_wherever_they_are() {
    let stream = [member(&contents(400_000, 17), 6), member(&contents(50_000, 19), 1)].concat();
    let mut numbers = Numbers(23);
    for cut in [0, 1, 9, 10, 30, stream.len() - 1, stream.len() - 8, stream.len() - 9] {
        check(&format!("cut at {cut}"), &stream[..cut]);
    }
    for _ in 0..40 {
        let cut = numbers.below(stream.len());
        check(&format!("cut at {cut}"), &stream[..cut]);
    }
    for _ in 0..60 {
        let mut broken = stream.clone();
        let (at, bit) = (numbers.below(stream.len()), numbers.below(8));
        broken[at] ^= 1 << bit;
        check(&format!("bit {bit} of byte {at}"), &broken);
    }
    for tail in [&b"\0\0\0\0"[..], b"x", b"text after the end", &[0x1f, 0x8b]] {
        check(&format!("{tail:?} at the end"), &[&stream[..], tail].concat());
    }
}

#[test]
fn errors_of_the_source_are_passed_on() {
    struct Fails<'a>(&'a [u8]);
    impl Read for Fails<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            if self.0.is_empty() {
                return Err(io::Error::other("the network is gone"));
            }
            self.0.read(buffer)
        }
    }
    let stream = member(&contents(300_000, 29), 6);
    for division in divisions() {
        let (found, fault) = parallel(Fails(&stream[..100_000]), division, None);
        assert_eq!(fault.unwrap().1, "the network is gone", "{division:?}");
        assert!(found == contents(300_000, 29)[..found.len()], "{division:?}");
    }
}

#[test]
fn a_reader_that_is_dropped_early_ends_its_threads() {
    // The channel takes 4 MiB.
    let stream = member(&contents(9_000_000, 31), 6);
    for division in divisions() {
        thread::scope(|scope| {
            let mut reader = ParallelGunzip::new(scope, &stream[..], division, None).unwrap();
            let mut some = [0; 100];
            reader.read_exact(&mut some).unwrap();
        });
    }
}

#[test]
fn a_layer_reads_the_same() {
    let script =
        |bytes: usize| [b"import os\nos.system('nvcc -o a a.cu')\n", &contents(bytes, 9)[..]].concat();
    let large = [("opt/build.py", 1_500_000), ("opt/data.bin", 1 << 20), ("opt/last.py", 1_100_000)];
    let small = (0..300).map(|number| file(format!("opt/file{number}"), contents(4_000, number + 1)));
    let members = small.chain(large.map(|(name, bytes)| file(name, script(bytes))));
    let stream = member(&tar(members), 6);
    for stream in [&stream[..], &stream[..stream.len() - 20_000], &stream[..stream.len() - 3]] {
        let read = |inflate, points| {
            let context = Context {
                limits: Limits::default(),
                cancel: CancelToken::new(),
                progress: Progress::default(),
                subject: "layer 0".to_owned(),
                kept: Arc::default(),
                inflate,
                beside: inflate.is_some(),
                points,
            };
            let section = Section::new(Arc::new(stream.to_vec()), 0, stream.len() as u64);
            let expected = Expected { verify: true, ..Expected::default() };
            let read = read_layer(&section, &expected, &context).unwrap();
            let told: Vec<String> = read.warnings.iter().map(|one| format!("{one:?}")).collect();
            let facts = (read.index.len(), read.facts);
            (facts, read.digest, read.diff_id, read.uncompressed_bytes, read.complete, told)
        };
        let wanted = read(None, None);
        assert!(wanted.0.1.hashes().len() >= 302);
        let slot = PointsSlot::new(100_000, Arc::new(|_, _| ()));
        assert_eq!(read(None, Some(slot.clone())), wanted);
        for division in divisions() {
            assert_eq!(read(Some(division), Some(slot.clone())), wanted, "{division:?}");
        }
    }
}

/// Compressed bytes that note how much was counted as stored when they were last read.
struct Watched {
    bytes: Vec<u8>,
    kept: Arc<AtomicU64>,
    seen: Arc<AtomicU64>,
}

impl ReadAt for Watched {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let mut rest = self.bytes.get(usize::try_from(offset).unwrap()..).unwrap_or_default();
        if !rest.is_empty() {
            self.seen.store(self.kept.load(Ordering::Relaxed), Ordering::Relaxed);
        }
        rest.read(buffer)
    }
}

#[test]
fn what_a_second_thread_finds_is_counted_while_the_layer_passes() {
    let mut numbers = Numbers(5);
    let noise: Vec<u8> =
        std::iter::repeat_with(|| numbers.next().to_le_bytes()).take(1 << 17).flatten().collect();
    // More than is read ahead.
    let members = (0..100).map(|number| file(format!("opt/file{number}"), noise.clone()));
    let bytes = member(&tar(members), 0);
    let (length, kept, seen) = (bytes.len() as u64, Arc::default(), Arc::new(AtomicU64::new(0)));
    let context = Context {
        limits: Limits::default(),
        cancel: CancelToken::new(),
        progress: Progress::default(),
        subject: "layer 0".to_owned(),
        kept: Arc::clone(&kept),
        inflate: Some(Division::of(3)),
        beside: true,
        points: None,
    };
    let watched = Watched { bytes, kept, seen: Arc::clone(&seen) };
    let section = Section::new(Arc::new(watched), 0, length);
    let read = read_layer(&section, &Expected::default(), &context).unwrap();
    assert_eq!(read.facts.hashes().len(), 100);
    assert!(seen.load(Ordering::Relaxed) > 0, "nothing was counted before the end");
}

#[test]
fn a_stream_gets_its_share_of_the_cores() {
    let several = |workers| Some(Division::of(workers));
    let (one_thread, both_threads) = (several(0), Some(Division::of_two()));
    let alone = |bytes, cores| Division::for_share(bytes, bytes, 1, cores);
    assert_eq!(alone(1 << 30, 1), None);
    assert_eq!(alone(1 << 30, 2), both_threads);
    assert_eq!(alone(1 << 30, 3), several(3));
    assert_eq!(alone(1 << 30, 128), several(16));
    assert_eq!(alone(1 << 20, 16), None, "too short");
    let of_four = |bytes, cores| Division::for_share(bytes, 1 << 30, 4, cores);
    assert_eq!(of_four(800 << 20, 2), both_threads, "others wait for it");
    assert_eq!(of_four(600 << 20, 4), one_thread, "others use the rest");
    assert_eq!(of_four(300 << 20, 8), several(3), "others would wait for it");
    assert_eq!(of_four(600 << 20, 2), None, "others use the rest");
    assert_eq!(of_four(300 << 20, 4), None, "others use the rest");
    assert_eq!(of_four(600 << 20, 16), several(9));
    assert_eq!(of_four(80 << 20, 8), one_thread, "cores would be idle");
    assert_eq!(Division::for_share(80 << 20, 1 << 30, 5, 8), None, "others use the rest");
}
