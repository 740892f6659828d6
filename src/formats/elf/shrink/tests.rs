//! Small libraries made by code, and changes of a shrunk one that the verification must see.

#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    reason = "numbers of small test files"
)]

use super::super::super::pieces::PiecesWriter;
use super::tables::{Section, Segment};
use super::*;

/// Pages of the library: headers, data, 20 of zeros, data, 30 of zeros, data; then bytes that are not loaded, and the
/// section table.
const PAGE: u64 = 4_096;
const LOADED: u64 = 53 * PAGE;
const ZEROS: [(u64, u64); 2] = [(2 * PAGE - 10, 20 * PAGE + 20), (23 * PAGE + 5, 30 * PAGE - 100)];
const FILE: u64 = LOADED + 200 + 4 * 64;

fn section(name: u32, kind: u32, flags: u64, at: u64, bytes: u64) -> Section {
    let address = if flags & 2 == 0 { 0 } else { at };
    Section { name, kind, flags, address, at, bytes, link: 0, info: 0, align: 1, entry: 0 }
}

fn load() -> Segment {
    Segment { kind: 1, flags: 4, at: 0, address: 0, physical: 0, file: LOADED, memory: LOADED, align: PAGE }
}

fn library_of(segments: &[Segment]) -> (Vec<u8>, Pieces) {
    let mut file: Vec<u8> = (0..FILE).map(|at| (at % 251) as u8 + 1).collect();
    let mut head = b"\x7fELF\x02\x01\x01".to_vec();
    head.resize(16, 0);
    for half in [3_u16, 62] {
        head.extend(half.to_le_bytes());
    }
    head.extend(1_u32.to_le_bytes());
    for word in [0, 64, LOADED + 200] {
        head.extend(u64::to_le_bytes(word));
    }
    head.extend(0_u32.to_le_bytes());
    for half in [64, 56, segments.len() as u16, 64, 4, 3] {
        head.extend(half.to_le_bytes());
    }
    for segment in segments {
        segment.write(&mut head);
    }
    file[..head.len()].copy_from_slice(&head);
    let mut table = Vec::new();
    section(0, 0, 0, 0, 0).write(&mut table);
    section(1, 1, 2, PAGE + 8, LOADED - PAGE - 8).write(&mut table);
    section(2, 1, 0, LOADED, 150).write(&mut table);
    section(3, 3, 0, LOADED + 150, 50).write(&mut table);
    let at = file.len() - table.len();
    file[at..].copy_from_slice(&table);
    let mut pieces = Pieces::default();
    let mut done = 0;
    for (at, bytes) in ZEROS {
        file[at as usize..(at + bytes) as usize].fill(0);
        pieces.copy(done, at - done);
        pieces.zeros(bytes);
        done = at + bytes;
    }
    pieces.copy(done, FILE - done);
    (file, pieces)
}

fn tables(file: &[u8], chunk: usize) -> ElfTables {
    let mut collector = TableCollector::default();
    file.chunks(chunk).for_each(|chunk| collector.push(chunk));
    collector.finish()
}

fn written(shrunk: &Shrunk, old: &[u8]) -> Vec<u8> {
    let (mut new, mut writer) = (Vec::new(), PiecesWriter::new(&shrunk.pieces));
    old.chunks(777).for_each(|chunk| writer.push(chunk, &mut new).unwrap());
    writer.finish(&mut new).unwrap();
    new
}

fn check(old: &[u8], new: &[u8]) -> Result<u64, Mismatch> {
    verify(&tables(old, 1_000), &tables(new, 1_000), old, new)
}

#[test]
fn a_library_with_pages_of_zeros_shrinks() {
    let (old, pieces) = library_of(&[load()]);
    assert_eq!(tables(&old, 1), tables(&old, 100_000), "chunks make no difference");
    let shrunk = shrink(&tables(&old, 13), &pieces).unwrap();
    let new = written(&shrunk, &old);
    let ledger = shrunk.ledger;
    assert_eq!((ledger.holes, ledger.holes_over_limit, ledger.segments), (2, 0, 6));
    assert_eq!(ledger.hole_bytes, 48 * PAGE, "whole pages only");
    assert_eq!(ledger.bytes_before, FILE);
    assert_eq!(ledger.bytes_after, new.len() as u64);
    let sum = ledger.bytes_before as i64 - ledger.hole_bytes as i64 + ledger.header_bytes;
    assert_eq!(sum, ledger.bytes_after as i64, "the ledger adds up to the byte");
    assert_eq!(check(&old, &new).unwrap(), LOADED + 200);
    assert_eq!(tables(&new, 50), shrunk.tables, "the tables are known before the file is written");
}

fn expanded(file: &[u8], chunk: usize) -> Vec<u8> {
    let (mut out, mut length) = (Vec::new(), 0);
    let mut expand = Expand::new(file.len() as u64);
    for chunk in file.chunks(chunk) {
        expand.push(chunk, |whole, bytes| {
            length = whole;
            out.extend_from_slice(bytes);
        });
    }
    assert_eq!(out.len() as u64, length, "the length is known before the bytes");
    out
}

#[test]
fn a_shrunk_library_expands_to_what_is_loaded() {
    let (old, pieces) = library_of(&[load()]);
    let new = written(&shrink(&tables(&old, 99), &pieces).unwrap(), &old);
    let whole = expanded(&new, 1_000);
    assert!(whole == expanded(&new, 1) && whole == expanded(&new, 1 << 20), "chunks make no difference");
    // The new headers, the old file, the new section table.
    let headers = PAGE as usize;
    assert!(whole[headers..headers + LOADED as usize] == old[..LOADED as usize]);
    let found = tables(&whole, 99);
    let sections: Vec<Section> = found.sections.chunks(64).map(Section::read).collect();
    let with_bytes: Vec<(u32, u64, u64)> = sections
        .iter()
        .filter(|section| section.file() > 0)
        .map(|section| (section.name, section.at - PAGE, section.bytes))
        .collect();
    let wanted = [(1, PAGE + 8, LOADED - PAGE - 8), (2, LOADED, 150), (3, LOADED + 150, 50)];
    assert_eq!(with_bytes, wanted, "each section in one piece");
    assert!(expanded(&old, 1_000) == old, "a file without holes passes as it is");
}

#[test]
fn hostile_holes_cost_neither_time_nor_memory() {
    let (old, pieces) = library_of(&[load()]);
    let new = written(&shrink(&tables(&old, 99), &pieces).unwrap(), &old);
    let parsed = Parsed::new(&tables(&new, 99)).unwrap();
    let segment = parsed.segments.iter().position(|part| part.kind == 1 && part.file == 0).unwrap();
    // A hole beyond all bounds: the next segment follows it, so that it counts.
    let mut huge = new.clone();
    let (hole, next) = (64 + segment * 56, 64 + (segment + 1) * 56);
    huge[hole + 40..hole + 48].copy_from_slice(&(1_u64 << 50).to_le_bytes());
    let behind = parsed.segments[segment].address + (1 << 50);
    huge[next + 16..next + 24].copy_from_slice(&behind.to_le_bytes());
    assert!(expanded(&huge, 1_000) == huge);
    // A hole without end behind the first part of a section, and one where its length comes around again.
    let at = new.len() - parsed.sections.len() * 64;
    let places = parsed.sections.iter().enumerate().filter(|(_, section)| section.kind == 8);
    let [(first, hole), (second, _)] = places.collect::<Vec<_>>()[..] else { panic!("two holes") };
    let mut wild = new.clone();
    for (index, address, bytes) in [(first, hole.address, u64::MAX), (second, PAGE + 7, 1)] {
        let mut header = Vec::new();
        Section { address, bytes, ..parsed.sections[index] }.write(&mut header);
        wild[at + index * 64..at + index * 64 + 64].copy_from_slice(&header);
    }
    assert!(expanded(&wild, 1_000).len() < 2 * FILE as usize);
}

#[test]
fn every_change_of_a_byte_or_header_is_a_mismatch() {
    let (old, pieces) = library_of(&[load()]);
    let new = written(&shrink(&tables(&old, 99), &pieces).unwrap(), &old);
    let segments = 64..64 + 6 * 56;
    let sections = new.len() - 4 * 64 - 6 * 64..new.len();
    let parsed = Parsed::new(&tables(&new, 99)).unwrap();
    let mut harmless = 0;
    for at in (0..new.len()).filter(|at| *at < 5_000 || *at % 97 == 0 || sections.contains(at)) {
        let mut changed = new.clone();
        changed[at] ^= 0x10;
        if check(&old, &changed).is_ok() {
            // Padding; and where a hole without bytes in the file would be.
            let holes = parsed.segments.iter().enumerate().filter(|(_, part)| part.file == 0);
            let mut fields = holes.map(|(index, _)| 64 + index * 56 + 8..64 + index * 56 + 16);
            let empty = parsed.sections.iter().enumerate().filter(|(_, part)| part.file() == 0);
            let mut offsets = empty.map(|(index, _)| {
                let field = sections.start + index * 64 + 24;
                field..field + 8
            });
            let padding = segments.end..PAGE as usize;
            let known = padding.contains(&at)
                || fields.any(|field| field.contains(&at))
                || offsets.any(|field| field.contains(&at));
            assert!(known, "a change at {at} goes unnoticed");
            harmless += 1;
        }
    }
    assert!(harmless > 0);
    for end in [0, 63, 200, new.len() - 1] {
        assert!(check(&old, &new[..end]).is_err());
    }
    let longer = [&new[..], b"\0"].concat();
    assert!(matches!(
        verify(&tables(&old, 9), &tables(&new, 9), &old[..], &longer[..]),
        Err(Mismatch::Length)
    ));
    let mut not_zero = old.clone();
    not_zero[10 * PAGE as usize] = 1;
    assert!(matches!(check(&not_zero, &new), Err(Mismatch::Bytes(_))));
}

#[test]
fn other_files_stay_and_say_why() {
    let (old, pieces) = library_of(&[load()]);
    let why = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut file = old.clone();
        change(&mut file);
        shrink(&tables(&file, 1_000), &pieces).map(|_| ()).unwrap_err()
    };
    assert_eq!(why(&|file| file[0] = 0), Unshrunk::NotElf);
    assert_eq!(why(&|file| file[4] = 1), Unshrunk::Class);
    assert_eq!(why(&|file| file[5] = 2), Unshrunk::Class);
    assert_eq!(why(&|file| file[16] = 2), Unshrunk::Program);
    assert_eq!(why(&|file| file[18] = 8), Unshrunk::Machine(8));
    assert_eq!(why(&|file| file[54] = 57), Unshrunk::Tables);
    assert_eq!(why(&|file| file[64] = 2), Unshrunk::NoSegments);
    assert_eq!(why(&|file| file[64] = 3), Unshrunk::Program);
    assert_eq!(why(&|file| file[64 + 10] = 1), Unshrunk::BeyondEnd);
    assert_eq!(why(&|file| file[64 + 16] = 1), Unshrunk::Misaligned);
    assert_eq!(why(&|file| file[64 + 41] = 0), Unshrunk::Overlap);
    assert_eq!(why(&|file| file.truncate(5_000)), Unshrunk::Tables);
    assert_eq!(why(&|file| file.push(1)), Unshrunk::Pieces);

    let mut appended = pieces.clone();
    appended.bytes(b"a long signature");
    let longer = [&old[..], b"a long signature"].concat();
    assert_eq!(shrink(&tables(&longer, 10), &appended), Err(Unshrunk::Appended(16)));
    let mut padded = pieces.clone();
    padded.bytes(b"\0");
    let longer = [&old[..], b"\0"].concat();
    let shrunk = shrink(&tables(&longer, 10), &padded).unwrap();
    check(&longer, &written(&shrunk, &longer)).unwrap();
    let mut unchanged = Pieces::default();
    unchanged.copy(0, FILE);
    assert_eq!(shrink(&tables(&old, 10), &unchanged), Err(Unshrunk::NoGain));
    let mut headless = Pieces::default();
    headless.zeros(FILE);
    assert_eq!(shrink(&tables(&old, 10), &headless), Err(Unshrunk::Pieces));
}

#[test]
fn zeros_of_other_headers_stay() {
    let note = Segment { kind: 4, at: 10 * PAGE, address: 10 * PAGE, file: 8, memory: 8, align: 4, ..load() };
    let (old, pieces) = library_of(&[load(), note]);
    let shrunk = shrink(&tables(&old, 1_000), &pieces).unwrap();
    assert_eq!(shrunk.ledger.holes, 1, "eight and eleven pages beside the note are below 64 KiB");
    check(&old, &written(&shrunk, &old)).unwrap();
}

#[test]
fn a_shrunk_file_has_nothing_more_to_gain() {
    let (old, pieces) = library_of(&[load()]);
    let new = written(&shrink(&tables(&old, 1_000), &pieces).unwrap(), &old);
    let mut again = Pieces::default();
    again.copy(0, new.len() as u64);
    assert_eq!(shrink(&tables(&new, 1_000), &again), Err(Unshrunk::NoGain));
}

#[test]
fn any_headers_are_refused_or_verified() {
    let (old, _) = library_of(&[load()]);
    let mut seed = 1_u64;
    for round in 0..3_000_u64 {
        let mut file = old.clone();
        for _ in 0..=round % 4 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let tail = file.len() - 256;
            let random = (seed >> 33) as usize;
            let at = if random.is_multiple_of(2) { random / 2 % 120 } else { tail + random / 2 % 256 };
            file[at] = [0, 1, 0x10, 0x7f, 0xff, (seed >> 20) as u8][random % 6];
        }
        fuzz_shrink(&file);
        fuzz_shrink(&file[..300]);
    }
}
