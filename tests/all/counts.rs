//! What an analysis costs in counts that no machine changes: bytes read, allocations, memory an entry.

use std::fs;
use std::io;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use cutaway::base::{Limits, ReadAt, Section};
use cutaway::formats::compression::SNIFF_BYTES;
use cutaway::jobs::{CancelToken, Progress};
use cutaway::layer::{Context, Expected, LayerIndex, LayerRead, read_layer, read_stream};
use cutaway::rootfs::merge;
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

use crate::fixtures::docker::save_classic;
use crate::fixtures::elf::Elf;
use crate::fixtures::image::Image;
use crate::fixtures::layout::Layout;
use crate::fixtures::packing::{Packing, gzip};
use crate::fixtures::tarball::{BLOCK, Member, file, symlink, tar};
use crate::support::Place;

/// Of bytes beyond headers, one in so many may be read.
const ONE_IN: u64 = 100;

/// Bytes that count how many of them were read.
struct Counted {
    bytes: Vec<u8>,
    read: AtomicU64,
}

impl ReadAt for Counted {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let rest = &self.bytes[usize::try_from(offset).unwrap().min(self.bytes.len())..];
        let count = rest.len().min(buffer.len());
        buffer[..count].copy_from_slice(&rest[..count]);
        self.read.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}

fn context(progress: &Progress) -> Context {
    Context {
        limits: Limits::default(),
        cancel: CancelToken::new(),
        progress: progress.clone(),
        subject: "layer 0".to_owned(),
        kept: Arc::new(AtomicU64::new(0)),
        inflate: None,
        beside: false,
        points: None,
    }
}

/// Files of 60 KB and some more, no two of one size, and one in twenty a library of 500 KB. None of them is the
/// application's own, which a second look would search for names of tools.
fn large_files(files: usize) -> Vec<Member> {
    let each = |number: usize| {
        let more = 8 * number;
        match number % 20 {
            0 => {
                let name = format!("lib{number}.so");
                file(format!("usr/lib/{name}"), Elf::library(&name).sized(500_000 + more))
            }
            1..10 => file(format!("usr/share/doc/{number}.txt"), vec![b'#'; 60_000 + more]),
            _ => file(format!("usr/share/data/{number}.bin"), vec![7; 60_000 + more]),
        }
    };
    (0..files).map(each).collect()
}

#[test]
fn of_a_plain_layer_hardly_more_than_headers_is_read() {
    let files = 200;
    let bytes = tar(large_files(files));
    let headers = (files * BLOCK + 2 * BLOCK) as u64;
    let length = bytes.len() as u64;
    let counted = Arc::new(Counted { bytes, read: AtomicU64::new(0) });
    let progress = Progress::default();
    let section = Section::new(Arc::<Counted>::clone(&counted), 0, length);
    let read = read_layer(&section, &Expected::default(), &context(&progress)).unwrap();
    assert_eq!(read.index.len(), files);
    assert_eq!(read.facts.binaries().len(), files / 20, "libraries were looked into");
    let beyond = counted.read.load(Ordering::Relaxed) - headers;
    assert!(beyond > 0 && beyond < length / ONE_IN, "{beyond} of {length} bytes beyond {headers} of headers");
    // What is told is what was read, but for the bytes that the compression is known by.
    let told = progress.snapshot().bytes_read;
    assert_eq!(told + SNIFF_BYTES as u64, counted.read.load(Ordering::Relaxed));
}

/// What read calls of the whole process returned, and what it says itself that it read.
fn bytes_read(place: &Place, reference: &str) -> (u64, u64) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_cutaway"))
        .args(["report", reference, "--format", "json", "-o", "/dev/null", "-v"])
        .env("HOME", place.path("home"))
        .env("XDG_CACHE_HOME", place.path("home/cache"))
        .env("CUTAWAY_NO_CACHE", "1")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // Its counters are there until it is waited for.
    let pid = Pid::from_child(&child);
    waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT).unwrap();
    let counters = fs::read_to_string(format!("/proc/{}/io", child.id())).unwrap();
    let mut said = String::new();
    io::Read::read_to_string(&mut child.stderr.take().unwrap(), &mut said).unwrap();
    assert!(child.wait().unwrap().success(), "{said}");
    assert!(!said.contains("then read"), "a second look at files of different sizes: {said}");
    let number = |text: &str, before: &str| -> u64 {
        let rest = text.split(before).nth(1).unwrap_or_else(|| panic!("no {before:?} in {text}"));
        rest.trim_start().split(|sign: char| !sign.is_ascii_digit()).next().unwrap().parse().unwrap()
    };
    (number(&counters, "rchar:"), number(&said, "read "))
}

#[test]
fn of_plain_images_the_process_reads_hardly_more_than_headers() {
    let place = Place::new();
    let image = |files: usize| {
        let mut files = large_files(files);
        let upper = files.split_off(files.len() / 2);
        Image::of(Packing::Plain, [tar(files), tar(upper)])
    };
    let archive = |image: &Image| tar(save_classic(&[(image, &["example.org/a:1"])]));
    let (full, empty) = (image(400), image(0));
    let layout =
        |name: &str, image: &Image| format!("oci:{}", place.put_layout(name, &Layout::of(image, "a")));
    let pairs = [
        [
            format!("docker-archive:{}", place.put("full.tar", archive(&full))),
            format!("docker-archive:{}", place.put("empty.tar", archive(&empty))),
        ],
        [layout("full", &full), layout("empty", &empty)],
    ];
    let length: u64 = full.layers.iter().map(|layer| layer.tar.len() as u64).sum();
    let headers = (400 * BLOCK) as u64;
    for [full, empty] in pairs {
        let (read, said) = bytes_read(&place, &full);
        let (read_empty, said_empty) = bytes_read(&place, &empty);
        // The process reads files of its own, the same for both.
        let (read, said) = (read - read_empty, said - said_empty);
        assert!(read > headers, "{full}: {read} bytes, less than its headers");
        assert!(read - headers < length / ONE_IN, "{full}: {read} bytes of {length}, headers {headers}");
        // What the program says of itself is true, but for longer sizes and names in its documents.
        assert!(read.abs_diff(said) < 4096, "{full}: {read} bytes were read, {said} are said");
    }
}

/// A layer of small files, ten to a folder, and one link in ten.
fn small_files(entries: usize, salt: usize) -> Vec<u8> {
    let name = |number: usize| {
        let (folder, kind) = (number / 10, ["py", "pyc", "h", "txt", "dat"][number % 5]);
        format!("opt/part_{salt}/folder_{folder:05}/module_{number:06}.{kind}")
    };
    let each = |number: usize| match number % 10 {
        9 => symlink(name(number), "module_of_another_name.py"),
        _ => file(name(number), vec![b'a'; number % 300]),
    };
    tar((0..entries).map(each))
}

/// How many allocations `work` makes for each of the last 10,000 of 20,000 entries: what a layer costs once is in
/// both measurements.
fn allocations_an_entry(mut work: impl FnMut(usize)) -> f64 {
    // What the first use of a table costs is no cost of an entry.
    work(10_000);
    let mut count = |entries| allocation_counter::measure(|| work(entries)).count_total as f64;
    (count(20_000) - count(10_000)) / 10_000.0
}

/// The work of this thread alone: hashing and reading go on beside it, without an entry in sight.
fn assert_allocations(what: &str, most: f64, work: impl FnMut(usize)) {
    let measured = allocations_an_entry(work);
    assert!(measured < most, "{what}: {measured:.3} allocations an entry, more than {most}");
    println!("{what}: {measured:.3} allocations an entry");
}

fn plain_section(bytes: Vec<u8>) -> Section {
    let length = bytes.len() as u64;
    Section::new(Arc::new(Counted { bytes, read: AtomicU64::new(0) }), 0, length)
}

#[test]
fn an_entry_costs_few_allocations_whichever_way_its_layer_is_read() {
    let tars = [10_000, 20_000].map(|entries| small_files(entries, 0));
    let of = |entries: usize| &tars[entries / 10_000 - 1];
    let sections = tars.clone().map(plain_section);
    let section = |entries: usize| &sections[entries / 10_000 - 1];
    let packed = [Packing::Gzip, Packing::Zstd]
        .map(|packing| tars.clone().map(|tar| plain_section(packing.pack(&tar).1)));
    let packed = |form: usize, entries: usize| &packed[form][entries / 10_000 - 1];
    let context = context(&Progress::default());
    let expected = Expected::default();
    let all =
        |read: LayerRead, entries: usize| assert_eq!((read.index.len(), read.complete), (entries, true));

    // Measured 1.5. Ten files share a folder: what a new one costs is a good half of it.
    assert_allocations("seek", 2.0, |entries| {
        all(read_layer(section(entries), &expected, &context).unwrap(), entries);
    });
    // Measured 1.9: sources are searched for names of tools as they pass. With a buffer for each name it was 2.9.
    assert_allocations("stream", 2.4, |entries| {
        all(read_stream(&mut of(entries).as_slice(), &expected, &context).unwrap(), entries);
    });
    for (form, what) in ["gzip", "zstd"].into_iter().enumerate() {
        assert_allocations(what, 2.4, |entries| {
            all(read_layer(packed(form, entries), &expected, &context).unwrap(), entries);
        });
    }
}

#[test]
fn an_entry_costs_no_allocation_of_its_own_in_the_merge() {
    let context = context(&Progress::default());
    let layer = |entries: usize, salt: usize| -> Arc<LayerIndex> {
        let section = plain_section(small_files(entries, salt));
        read_layer(&section, &Expected::default(), &context).unwrap().index
    };
    let stacks = [10_000, 20_000].map(|entries| [layer(entries / 2, 0), layer(entries / 2, 1)]);
    // Measured 0.1, which is one for each folder of ten.
    assert_allocations("merge", 0.2, |entries| {
        let merged = merge(&stacks[entries / 10_000 - 1], &[], 10);
        assert_eq!(merged.merged_files, entries as u64 / 10 * 9);
    });
}

/// What an analysis without the window may take: of itself, and for each entry.
const BASE_BYTES: u64 = 64 << 20;
/// What the code of an unoptimised program with the window takes beside: some 15 MiB more are resident than without
/// the window, before anything is read.
const UNOPTIMISED_BYTES: u64 = if cfg!(debug_assertions) { 10 << 20 } else { 0 };
const ENTRY_BYTES: u64 = 120;
/// What 100,000 entries more really take, each: measured 165 to 190, mostly the index, the hash of the content and the merged
/// view. More than the budget's share of an entry, which what is left of its base makes up for.
const MORE_BYTES: u64 = 200;

#[test]
fn memory_is_within_its_budget_and_grows_evenly() {
    let place = Place::new();
    let peak = |entries: usize| {
        let layers = (0..4).map(|salt| small_files(entries / 4, salt));
        let archive = tar(save_classic(&[(&Image::of(Packing::Plain, layers), &["example.org/a:1"])]));
        let path = place.put(&format!("{entries}.tar.gz"), gzip(&archive));
        let most = BASE_BYTES + UNOPTIMISED_BYTES + entries as u64 * ENTRY_BYTES;
        // How threads take turns moves the peak by some MiB: the least of three tells what is needed.
        let peaks = [(); 3].map(|()| {
            let outcome = place.run(&["report", &format!("docker-archive:{path}"), "--format", "json"]);
            assert_eq!(outcome.code, 0, "{}", outcome.stderr);
            let peak = outcome.peak_kib * 1024;
            assert!(peak < most, "{peak} bytes for {entries} entries, more than {most}");
            peak
        });
        peaks.into_iter().min().unwrap()
    };
    let (few, many) = (peak(20_000), peak(120_000));
    let more = many.saturating_sub(few) / 100_000;
    println!("{few} and {many} bytes, {more} an entry");
    assert!(more < MORE_BYTES, "{more} bytes an entry: {few} and {many} in all");
}
