//! zstd by several threads: the same bytes and errors as by one, however a stream is divided.

use std::io::{self, Read};
use std::sync::Arc;
use std::thread;

use crossbeam_channel::bounded;
use cutaway::base::{Limits, Section};
use cutaway::formats::inflate;
use cutaway::formats::zstd::{Division, ParallelZstd};
use cutaway::jobs::{CancelToken, Progress};
use cutaway::layer::{Context, Expected, read_layer};
use zstd::stream::read::Decoder;

use crate::fixtures::packing::zstd_window;
use crate::fixtures::tarball::{file, tar};
use crate::inflate::{Numbers, contents};

const WINDOW_LOG: u32 = 23;

fn divisions() -> Vec<Division> {
    let of = |workers, portion_bytes| Division { workers, portion_bytes, window_log: WINDOW_LOG };
    vec![
        of(1, 1),
        of(2, 1),
        of(3, 5_000),
        of(1, 100_000),
        Division::of(1, WINDOW_LOG),
        Division::of(8, WINDOW_LOG),
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

/// Opens a stream that arrives in buffers of `buffer` bytes, then does `work` with its reader.
fn opened<R>(
    stream: &[u8],
    buffer: usize,
    last: Option<io::Error>,
    division: Division,
    work: impl FnOnce(ParallelZstd) -> R,
) -> R {
    thread::scope(|scope| {
        let (sender, full) = bounded(2);
        let (empty, used) = bounded(2);
        scope.spawn(move || {
            let buffers = stream.chunks(buffer).map(|bytes| Ok(bytes.to_vec()));
            for bytes in buffers.chain(last.map(Err)) {
                sender.send(bytes).ok();
                used.try_recv().ok();
            }
        });
        work(ParallelZstd::new(scope, full, empty, division).unwrap())
    })
}

fn check(name: &str, stream: &[u8]) {
    let mut decoder = Decoder::with_buffer(stream).unwrap();
    decoder.window_log_max(WINDOW_LOG).unwrap();
    let (wanted, fault) = read(decoder);
    for division in divisions() {
        for buffer in [997, 256 << 10] {
            let (found, found_fault) = opened(stream, buffer, None, division, read);
            assert_eq!(found_fault, fault, "{name}, {division:?}, {buffer}");
            if fault.is_none() {
                assert_eq!(found.len(), wanted.len(), "{name}, {division:?}, {buffer}");
            }
            // What the library decodes in a call that fails is lost, however long the buffer is.
            let both = found.len().min(wanted.len());
            assert!(found[..both] == wanted[..both], "{name}, {division:?}, {buffer}");
        }
    }
}

fn frame(bytes: &[u8], level: i32) -> Vec<u8> {
    zstd::stream::encode_all(bytes, level).unwrap()
}

/// What podman writes between and behind the frames of `zstd:chunked`.
fn skippable(bytes: &[u8]) -> Vec<u8> {
    let length = u32::try_from(bytes.len()).unwrap().to_le_bytes();
    [&[0x50, 0x2a, 0x4d, 0x18], &length[..], bytes].concat()
}

#[test]
fn every_level_and_kind_of_content_gives_the_same_bytes() {
    for level in [-5, 1, 3, 9] {
        check(&format!("level {level}"), &frame(&contents(3_000_000, 7), level));
    }
    check("nothing", &frame(b"", 3));
    check("a byte", &frame(b"x", 3));
    check("zeros", &frame(&vec![0; 8 << 20], 3));
    check("one block with its size", &zstd::bulk::compress(&contents(90_000, 9), 3).unwrap());
}

#[test]
fn frames_follow_each_other_in_any_number() {
    let all = contents(6_000_000, 11);
    let large: Vec<u8> = all.chunks(900_000).flat_map(|part| frame(part, 1)).collect();
    check("large frames", &large);
    let tiny: Vec<u8> = all[..60_000].chunks(97).flat_map(|part| frame(part, 3)).collect();
    check("tiny frames", &tiny);
    let chunked: Vec<u8> = all[..2_000_000]
        .chunks(40_000)
        .flat_map(|part| [frame(part, 3), skippable(&part[..20])].concat())
        .chain(skippable(&all[..50_000]))
        .collect();
    check("skippable frames", &chunked);
    check("only skippable frames", &[skippable(b"a"), skippable(b"")].concat());
}

#[test]
fn faults_are_the_same_wherever_they_are() {
    let all = contents(500_000, 17);
    let stream: Vec<u8> = all.chunks(90_000).flat_map(|part| frame(part, 3)).collect();
    let mut numbers = Numbers(23);
    for _ in 0..30 {
        let cut = 1 + numbers.below(stream.len() - 1);
        check(&format!("cut at {cut}"), &stream[..cut]);
    }
    for _ in 0..60 {
        let mut broken = stream.clone();
        let (at, bit) = (numbers.below(stream.len()), numbers.below(8));
        broken[at] ^= 1 << bit;
        check(&format!("bit {bit} of byte {at}"), &broken);
    }
    for tail in [&b"\0\0\0\0"[..], b"x", b"text after the end", &[0x28, 0xb5, 0x2f, 0xfd], &[0x51, 0x2a]] {
        check(&format!("{tail:?} at the end"), &[&stream[..], tail].concat());
    }
    // A checksum that is wrong.
    let mut encoder = zstd::stream::Encoder::new(Vec::new(), 3).unwrap();
    encoder.include_checksum(true).unwrap();
    io::Write::write_all(&mut encoder, &all).unwrap();
    let mut summed = encoder.finish().unwrap();
    *summed.last_mut().unwrap() ^= 1;
    check("a wrong checksum", &[&stream[..], &summed[..], &stream[..]].concat());
    check("a larger window", &[&stream[..], &zstd_window(27, &all)[..], &stream[..]].concat());
}

#[test]
fn errors_of_the_source_are_passed_on() {
    let all = contents(300_000, 29);
    let stream: Vec<u8> = all.chunks(50_000).flat_map(|part| frame(part, 3)).collect();
    for division in divisions() {
        for cut in [0, frame(&all[..50_000], 3).len(), 100_000] {
            let gone = Some(io::Error::other("the network is gone"));
            let (found, fault) = opened(&stream[..cut], 997, gone, division, read);
            assert_eq!(fault.unwrap().1, "the network is gone", "{division:?}");
            assert!(found == all[..found.len()], "{division:?}");
        }
    }
}

#[test]
fn a_reader_that_is_dropped_early_ends_its_threads() {
    let all = contents(30_000_000, 31);
    for stream in [frame(&all, 1), all.chunks(100_000).flat_map(|part| frame(part, 1)).collect()] {
        for division in divisions() {
            let mut some = [0; 100];
            opened(&stream, 256 << 10, None, division, |mut reader| reader.read_exact(&mut some).unwrap());
            assert_eq!(some, all[..100]);
        }
    }
}

#[test]
fn a_layer_reads_the_same() {
    let script =
        |bytes: usize| [b"import os\nos.system('nvcc -o a a.cu')\n", &contents(bytes, 9)[..]].concat();
    let large = [("opt/build.py", 1_500_000), ("opt/data.bin", 1 << 20), ("opt/last.py", 1_100_000)];
    let small = (0..300).map(|number| file(format!("opt/file{number}"), contents(4_000, number + 1)));
    let tar = tar(small.chain(large.map(|(name, bytes)| file(name, script(bytes)))));
    let frames = |bytes: usize| -> Vec<u8> { tar.chunks(bytes).flat_map(|part| frame(part, 3)).collect() };
    let (one, many) = (frames(usize::MAX), frames(30_000));
    // A later frame that needs a larger window: the layer is read again, by one worker.
    let wider = [frame(&tar[..1_000_000], 3), zstd_window(26, &tar[1_000_000..])].concat();
    for (stream, is_whole) in
        [(&one[..], true), (&many, true), (&wider, true), (&many[..many.len() / 2], false)]
    {
        let read = |inflate: Option<inflate::Division>| {
            let context = Context {
                limits: Limits::default(),
                cancel: CancelToken::new(),
                progress: Progress::default(),
                subject: "layer 0".to_owned(),
                kept: Arc::default(),
                inflate,
                beside: inflate.is_some(),
                points: None,
            };
            let section = Section::new(Arc::new(stream.to_vec()), 0, stream.len() as u64);
            let expected = Expected { verify: true, ..Expected::default() };
            let read = read_layer(&section, &expected, &context).unwrap();
            let told: Vec<String> = read.warnings.iter().map(|one| format!("{one:?}")).collect();
            let facts = (read.index.len(), read.facts);
            (facts, read.digest, read.diff_id, read.uncompressed_bytes, read.complete, told)
        };
        let wanted = read(None);
        assert_eq!(wanted.4, is_whole);
        assert!(wanted.0.1.hashes().len() >= 100);
        for workers in [0, 1, 3] {
            assert_eq!(read(Some(inflate::Division::of(workers))), wanted, "{workers}");
        }
    }
}
