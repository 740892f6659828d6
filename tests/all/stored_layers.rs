//! Layers and merged views as bytes: what comes back is what was read, and any other bytes are refused or harmless.

mod bodies;
mod hostile;
mod indexes;
mod views;

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use cutaway::base::{Limits, ReadAt, Section, Warning, WarningCode};
use cutaway::formats::binary::{BinaryLimits, read_deferred};
use cutaway::jobs::{CancelToken, Progress};
use cutaway::layer::{Context, DirId, EntryId, EntryKind, Expected, LayerRead, Verified, read_layer};
use cutaway::rootfs::{Timeline, merge};

use crate::fixtures::elf::Elf;
use crate::fixtures::fatbin::{Coding, section};
use crate::fixtures::object::archive;
use crate::fixtures::packages::{dpkg_list, dpkg_status, pip_metadata, pip_record};
use crate::fixtures::packing::Packing;
use crate::fixtures::sample;
use crate::fixtures::sparse::Sparse;
use crate::fixtures::tarball::{
    Member, character_device, dir, fifo, file, hardlink, member, opaque, symlink, tar, whiteout,
};
use crate::oracle::skip;

const SUBJECT: &str = "layer 3 (sha256:0123456789ab)";
const OTHER: &str = "layer 0";

struct Bytes(Vec<u8>);

impl ReadAt for Bytes {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> std::io::Result<usize> {
        let rest = self.0.get(usize::try_from(offset).unwrap()..).unwrap_or_default();
        let count = rest.len().min(buffer.len());
        buffer[..count].copy_from_slice(&rest[..count]);
        Ok(count)
    }
}

fn section_of(bytes: Vec<u8>) -> Section {
    let length = bytes.len() as u64;
    Section::new(Arc::new(Bytes(bytes)), 0, length)
}

fn context(limits: &Limits) -> Context {
    Context {
        limits: limits.clone(),
        cancel: CancelToken::new(),
        progress: Progress::default(),
        subject: SUBJECT.to_owned(),
        kept: Arc::default(),
        inflate: None,
        beside: false,
        points: None,
    }
}

/// A layer as it is read from `blob`; what it keeps is what it says that it keeps.
fn read_within(blob: &[u8], limits: &Limits) -> LayerRead {
    let context = context(limits);
    let read = read_layer(&section_of(blob.to_vec()), &Expected::default(), &context).unwrap();
    if read.complete {
        assert_eq!(context.kept.load(Ordering::Relaxed), read.facts.kept_bytes());
    }
    read
}

fn read(blob: &[u8]) -> LayerRead {
    read_within(blob, &Limits::default())
}

/// `read` as it is in another image, where nothing was judged yet.
fn elsewhere(read: &LayerRead) -> LayerRead {
    let mut read = read.clone();
    read.verified = Verified::default();
    for warning in &mut read.warnings {
        if warning.subject == SUBJECT {
            OTHER.clone_into(&mut warning.subject);
        }
    }
    read
}

fn comes_back(read: &LayerRead) {
    let bytes = read.to_bytes(SUBJECT);
    let again = LayerRead::from_bytes(&bytes, OTHER, &Limits::default()).unwrap();
    assert!(again == elsewhere(read), "another layer");
    assert_eq!(again.facts.kept_bytes(), read.facts.kept_bytes());
    // Storing has one answer.
    assert!(again.to_bytes(OTHER) == bytes);
    harmless(&again);
}

/// Everything that others ask of a layer.
fn harmless(read: &LayerRead) {
    let (index, facts) = (&read.index, &read.facts);
    let mut counted = 0;
    for entry in index.entries() {
        let path = index.path(entry);
        assert!(path.starts_with(b"/"));
        assert_eq!(index.dir_path(index.dir(entry)), path[..path.len() - index.name(entry).len() - 1]);
        let is_link = matches!(index.kind(entry), EntryKind::HardLink | EntryKind::Symlink);
        assert_eq!(index.link(entry).is_some(), is_link);
        assert!(index.kind(entry) == EntryKind::File || index.size(entry) == 0);
        counted += index.size(entry);
        let _ = (index.mode(entry), index.owner(entry), index.mtime(entry), index.body_at(entry));
        let _ = (facts.script(entry), facts.head(entry), facts.hash(entry), facts.mentions(entry));
        let _ = facts.search_kind(index, entry);
    }
    assert_eq!(counted, index.counts().content_bytes);
    assert_eq!(index.counts().entries, index.len() as u64);
    for document in facts.documents() {
        if let Ok(bytes) = document.bytes() {
            assert!(bytes.len() as u64 <= document.size);
        }
    }
    for (entry, binary) in facts.binaries() {
        let size = index.size(*entry);
        let gpu = || binary.gpu().into_iter();
        assert!(gpu().flat_map(|gpu| &gpu.rows).map(|row| row.bytes).sum::<u64>() <= size);
        assert!(gpu().flat_map(|gpu| &gpu.sections).map(|one| one.bytes).sum::<u64>() <= size);
        let mut binary = binary.clone();
        let file = section_of(vec![0x50; 200]);
        read_deferred(&file, &mut binary, &BinaryLimits::default(), &CancelToken::new()).unwrap();
    }
    let layers = vec![Arc::clone(index); 2];
    let merged = merge(&layers, &[], 2);
    let wasted: u64 = merged.waste.iter().map(|waste| waste.wasted_bytes).sum();
    assert_eq!(merged.merged_bytes + wasted, 2 * counted);
    assert!(merged.rootfs.nodes().all(|node| node.path().starts_with(b"/")));
    assert!(Timeline::new(&layers).paths().len() >= merged.rootfs.len());
    for warning in &read.warnings {
        assert!(!warning.subject.contains(char::is_control) && !warning.message.contains(char::is_control));
    }
}

/// A library with GPU code, of a sort of its own for each architecture.
fn cuda_library(soname: &str) -> Vec<u8> {
    let code = section(&[80, 90], Some(90), 3_000, Coding::Lz4, soname);
    Elf::library(soname).needing(&["libc.so.6", "libcudart.so.13"]).with_section(".nv_fatbin", code).build()
}

/// One of each thing that a layer can hold.
fn everything() -> Vec<Member> {
    let status: Vec<u8> =
        (0..60).flat_map(|package| dpkg_status(&format!("package-{package}"), "1.2-3", 40, &[])).collect();
    let names: Vec<String> = (0..80).map(|name| format!("/usr/share/doc/package/file-{name}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut odd = file(b"opt/odd\xff\n\x1b[31m", "x");
    (odd.mode, odd.owner, odd.mtime) = (0o4755, (70_000, 4_000_000_000), 4_000_000_000);
    let script = "#!/usr/bin/env python3\nimport os; os.system('nvcc -o a a.cu'); open('libcublas.so.13')\n";
    vec![
        dir("./"),
        dir("usr/."),
        dir("usr/lib"),
        file("usr/lib/libone.so.1", cuda_library("libone.so.1")),
        symlink("usr/lib/libone.so", "libone.so.1"),
        hardlink("usr/lib/libtwo.so.1", "usr/lib/libone.so.1"),
        file(
            "usr/lib/libone.a",
            archive(&[("a.o".to_owned(), cuda_library("a")), ("b.o".to_owned(), vec![1; 99])]),
        ),
        file("usr/lib/code.fatbin", section(&[75], None, 900, Coding::Stored, "loose")),
        file("usr/lib/kernel.ptx", ".version 8.3\n.target sm_90a\n.address_size 64\n"),
        file("usr/lib/prog.exe", [b"MZ".as_slice(), &[0; 200]].concat()),
        file("usr/lib/mac", [&[0xcf, 0xfa, 0xed, 0xfe][..], &[0; 200]].concat()),
        file("usr/bin/app", Elf::program("app").needing(&["libone.so.1"]).build()).mode(0o755),
        file("usr/bin/run", script).mode(0o755),
        file("usr/bin/cut.so", &cuda_library("cut")[..700]),
        file("models/weights.bin", vec![7; 2 << 20]),
        file("empty", ""),
        odd,
        file("../outside", "kept inside"),
        Sparse::regular(3, 4096).pax_1_0("sparse"),
        fifo("run/pipe"),
        character_device("dev/null"),
        member(b'Q', "unknown"),
        whiteout("gone"),
        opaque("usr/share"),
        file("var/lib/dpkg/status", status),
        file("var/lib/dpkg/info/package-1.list", dpkg_list(&names)),
        file("etc/os-release", "ID=debian\nVERSION_ID=\"12\"\n"),
        file("etc/ld.so.conf", "include /etc/ld.so.conf.d/*.conf\n"),
        file("opt/site/one-1.0.dist-info/METADATA", pip_metadata("one", "1.0", &["two>=1", "three"])),
        file("opt/site/one-1.0.dist-info/RECORD", pip_record(&[("one/__init__.py", "abc", 3)])),
        file("opt/site/big-1.0.dist-info/RECORD", vec![b'x'; 9 << 20]),
    ]
}

#[test]
fn a_layer_with_one_of_everything_comes_back_from_each_packing() {
    let tar = tar(everything());
    for packing in Packing::ALL {
        let blob = match packing {
            Packing::Plain => tar.clone(),
            _ => packing.pack(&tar).1,
        };
        let read = read(&blob);
        let facts = &read.facts;
        assert!(read.complete && facts.binaries().len() >= 8, "{packing:?}: {:?}", read.warnings);
        assert!(facts.documents().len() >= 6 && read.index.counts().whiteouts == 2);
        assert_eq!(facts.was_streamed(), packing != Packing::Plain);
        assert_eq!(facts.hashes().is_empty(), packing == Packing::Plain);
        let codes: Vec<WarningCode> = read.warnings.iter().map(|warning| warning.code).collect();
        assert!(codes.contains(&WarningCode::PathEscapes) && codes.contains(&WarningCode::FactsLimited));
        assert!(read.is_cacheable(), "{:?}", read.warnings);
        comes_back(&read);
    }
}

#[test]
fn the_samples_come_back() {
    for image in [sample::devel_image(), sample::runtime_image()] {
        for layer in &image.layers {
            for blob in [&layer.tar, &layer.blob] {
                let read = read(blob);
                assert!(read.is_cacheable() && !read.index.is_empty());
                comes_back(&read);
            }
        }
    }
}

#[test]
fn libraries_of_this_machine_come_back() {
    let folder = ["/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib"];
    let Some(folder) = folder.into_iter().find(|folder| Path::new(folder).join("libc.so.6").is_file()) else {
        skip("no libc.so.6");
        return;
    };
    let mut paths: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let mut left = 48 << 20;
    let mut members = Vec::new();
    for path in paths.iter().filter(|path| path.to_string_lossy().contains(".so") && path.is_file()) {
        let Ok(bytes) = fs::read(path) else { continue };
        if bytes.len() < left {
            left -= bytes.len();
            members.push(file(&path.to_string_lossy()[1..], bytes));
        }
    }
    let tar = tar(members);
    for blob in [tar.clone(), Packing::Zstd.pack(&tar).1] {
        let read = read(&blob);
        assert!(!read.facts.binaries().is_empty());
        comes_back(&read);
    }
}

#[test]
fn a_layer_that_ends_early_comes_back_and_is_not_kept() {
    let tar = tar(everything());
    for length in [0, 100, 600, 700, 5_000, tar.len() / 2, tar.len() * 2 / 3] {
        let read = read(&tar[..length]);
        assert!(length == 0 || !read.complete && !read.is_cacheable(), "{length}");
        comes_back(&read);
    }
    comes_back(&read(b"neither a tar nor packed"));
}

#[test]
fn warnings_about_the_layer_follow_it_and_others_stay() {
    let mut read = read(&tar([file("a", "1")]));
    let warnings = [
        Warning::new(WarningCode::TarOddity, SUBJECT, "odd"),
        Warning::new(WarningCode::FactsLimited, "/a/b", "too much"),
        Warning::new(WarningCode::MoreWarnings, SUBJECT, "3 more"),
    ];
    read.warnings = warnings.to_vec();
    read.verified = Verified { digest: true, diff_id: true };
    let again = LayerRead::from_bytes(&read.to_bytes(SUBJECT), OTHER, &Limits::default()).unwrap();
    let subjects: Vec<&str> = again.warnings.iter().map(|warning| warning.subject.as_str()).collect();
    assert_eq!(subjects, [OTHER, "/a/b", OTHER]);
    assert_eq!(again.verified, Verified::default());
    // A text that would move the cursor is no warning of ours.
    read.warnings = vec![Warning::new(WarningCode::TarOddity, SUBJECT, "a\u{1b}[2J")];
    assert!(LayerRead::from_bytes(&read.to_bytes(SUBJECT), OTHER, &Limits::default()).is_err());
}

#[test]
fn what_other_layers_left_no_room_for_is_not_kept() {
    let packed = Packing::Gzip.pack(&tar(everything())).1;
    let whole = read(&packed);
    assert!(whole.is_cacheable());
    // Room for all but the last fact, and for nothing.
    for facts_total in [whole.facts.kept_bytes() - 1, 0] {
        let read = read_within(&packed, &Limits { facts_total, ..Limits::default() });
        assert!(read.complete && !read.is_cacheable(), "{facts_total}");
        comes_back(&read);
    }
    // The reason is known even where the warning that would say so is one too many.
    let limits = Limits { facts_total: 0, warnings_per_code: 0, ..Limits::default() };
    assert!(!read_within(&packed, &limits).is_cacheable());
    // Files that could not be read may be readable another time.
    let mut read = whole;
    read.warnings.push(Warning::new(WarningCode::NotRead, "/a", "/a could not be looked into"));
    assert!(!read.is_cacheable());
}

#[test]
fn folders_lie_in_the_one_that_holds_them() {
    let layer = read(&tar([dir("a"), file("a/b/c", "1")]));
    let again = LayerRead::from_bytes(&layer.to_bytes(SUBJECT), SUBJECT, &Limits::default()).unwrap();
    let folder = again.index.dir(EntryId(1));
    assert_eq!(again.index.dir_path(folder), b"/a/b");
    assert_eq!(again.index.dir_parent(DirId::ROOT), DirId::ROOT);
}
