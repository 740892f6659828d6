//! Headers and GPU code of a program or library as pages.

use std::fmt::Write as _;

use super::listed::{page_of, table};
use crate::base::size::{grouped, human};
use crate::base::text::{counted, escape};
use crate::cuda::{compression_name, kind_label};
use crate::formats::elf::{ElfFacts, ElfKind, SectionRow, Segment, listing};
use crate::formats::fatbin::{ClassSum, GpuFacts, Row, arch_name};
use crate::report::page::{Block, Line, Page, Tone};

/// Sections in the table, and groups of containers.
const ROWS: usize = 5_000;

const fn machine(number: u16) -> &'static str {
    match number {
        3 => "x86",
        8 => "MIPS",
        20 => "PowerPC",
        21 => "PowerPC 64",
        22 => "S390",
        40 => "ARM",
        62 => "x86-64",
        183 => "AArch64",
        190 => "NVIDIA CUDA",
        224 => "AMD GPU",
        243 => "RISC-V",
        247 => "BPF",
        258 => "LoongArch",
        _ => "unknown",
    }
}

fn kind(facts: &ElfFacts) -> String {
    match facts.kind {
        ElfKind::Relocatable => "Object for the linker".to_owned(),
        ElfKind::Executable => "Program at a fixed address".to_owned(),
        ElfKind::SharedObject if facts.pie => "Position-independent program".to_owned(),
        ElfKind::SharedObject => "Shared object".to_owned(),
        ElfKind::Core => "Core dump".to_owned(),
        ElfKind::Other(number) => format!("Type {number}"),
        ElfKind::Unknown => "Unknown: the header is not readable".to_owned(),
    }
}

pub(super) fn elf_page(facts: &ElfFacts, bytes: &[u8]) -> Page {
    let text = |value: String| Line::plain(value);
    let name = |value: &Option<Vec<u8>>| value.as_ref().map(|value| Line::code(escape(value)));
    let class = if facts.class64 { "64-bit" } else { "32-bit" };
    let order = if facts.little_endian { "little endian" } else { "big endian" };
    let mut list = vec![
        ("Type".to_owned(), text(kind(facts))),
        (
            "Machine".to_owned(),
            text(format!("{} ({}), {class}, {order}", machine(facts.machine), facts.machine)),
        ),
    ];
    let mut add = |title: &str, line: Option<Line>| list.extend(line.map(|line| (title.to_owned(), line)));
    add("Soname", name(&facts.soname));
    add("Interpreter", name(&facts.interpreter));
    add("RPATH", name(&facts.rpath));
    add("RUNPATH", name(&facts.runpath));
    let hex = |id: &Vec<u8>| {
        id.iter().fold(String::new(), |mut text, byte| {
            write!(text, "{byte:02x}").ok();
            text
        })
    };
    add("Build id", facts.build_id.as_ref().map(|id| Line::code(hex(id))));
    add("Linking", facts.is_static.then(|| text("No dynamic table".to_owned())));
    add("Flags", (facts.flags != 0).then(|| Line::code(format!("{:#x}", facts.flags))));
    add("Default folders", facts.no_default_lib.then(|| text("Not searched (DF_1_NODEFLIB)".to_owned())));
    let mut blocks = vec![Block::Facts(list)];
    if !facts.needed.is_empty() {
        blocks.push(Block::Heading(format!("Needed: {}", counted(facts.needed.len() as u64, "library"))));
        let versions = |file: &[u8]| {
            let found = facts.version_needs.iter().find(|need| need.file == file);
            found.map_or_else(String::new, |need| {
                need.versions.iter().map(|version| escape(version)).collect::<Vec<_>>().join(", ")
            })
        };
        let rows = facts.needed.iter().map(|file| vec![Line::code(escape(file)), Line::code(versions(file))]);
        blocks.push(table(&[("NEEDED", false), ("Versions", false)], rows.collect()));
    }
    match listing(bytes) {
        Err(reason) => blocks.push(Block::Line(Line::plain(reason).tone(Tone::Bad))),
        Ok(found) => {
            blocks.push(Block::Heading(format!("Program headers: {}", found.segments.len())));
            let columns =
                [("Type", false), ("Offset", true), ("Address", true), ("Bytes", true), ("Align", true)];
            blocks.push(table(&columns, found.segments.iter().map(segment).collect()));
            if let Some(sections) = &found.sections {
                blocks.push(Block::Heading(format!("Sections: {}", grouped(sections.len() as u64))));
                let columns =
                    [("Name", false), ("Type", false), ("Flags", false), ("Offset", true), ("Bytes", true)];
                blocks.push(table(&columns, sections.iter().take(ROWS).map(section).collect()));
            } else {
                let words = format!(
                    "The section table is at byte {}, after what was read: load more to see it.",
                    grouped(found.sections_at)
                );
                blocks.push(Block::Line(Line::plain(words).tone(Tone::Weak)));
            }
        }
    }
    page_of(blocks)
}

fn hex(number: u64) -> Line {
    Line::code(format!("{number:#x}"))
}

fn segment(segment: &Segment) -> Vec<Line> {
    let kind = match segment.kind {
        0 => "NULL",
        1 => "LOAD",
        2 => "DYNAMIC",
        3 => "INTERP",
        4 => "NOTE",
        6 => "PHDR",
        7 => "TLS",
        0x6474_e550 => "GNU_EH_FRAME",
        0x6474_e551 => "GNU_STACK",
        0x6474_e552 => "GNU_RELRO",
        0x6474_e553 => "GNU_PROPERTY",
        other => {
            return vec![
                hex(other.into()),
                hex(segment.at),
                hex(segment.address),
                hex(segment.bytes),
                hex(segment.align),
            ];
        }
    };
    vec![Line::code(kind), hex(segment.at), hex(segment.address), hex(segment.bytes), hex(segment.align)]
}

fn section(section: &SectionRow) -> Vec<Line> {
    let kind = match section.kind {
        0 => "NULL".to_owned(),
        1 => "PROGBITS".to_owned(),
        2 => "SYMTAB".to_owned(),
        3 => "STRTAB".to_owned(),
        4 => "RELA".to_owned(),
        5 => "HASH".to_owned(),
        6 => "DYNAMIC".to_owned(),
        7 => "NOTE".to_owned(),
        8 => "NOBITS".to_owned(),
        9 => "REL".to_owned(),
        11 => "DYNSYM".to_owned(),
        14 => "INIT_ARRAY".to_owned(),
        15 => "FINI_ARRAY".to_owned(),
        0x6fff_fff6 => "GNU_HASH".to_owned(),
        0x6fff_fffd => "VERDEF".to_owned(),
        0x6fff_fffe => "VERNEED".to_owned(),
        0x6fff_ffff => "VERSYM".to_owned(),
        other => format!("{other:#x}"),
    };
    let flags: String = [(1, 'W'), (2, 'A'), (4, 'X')]
        .iter()
        .filter(|(bit, _)| section.flags & bit != 0)
        .map(|(_, sign)| sign)
        .collect();
    vec![
        Line::code(escape(&section.name)),
        Line::code(kind),
        Line::code(flags),
        hex(section.at),
        Line::plain(human(section.bytes)),
    ]
}

pub(super) fn gpu_page(gpu: &GpuFacts) -> Page {
    let row = |row: &Row| {
        vec![
            Line::code(row.arch_name()),
            Line::plain(kind_label(row.kind)),
            Line::plain(compression_name(row.compression)),
            Line::plain(grouped(row.entries)),
            Line::plain(human(row.bytes)),
            Line::plain(human(row.uncompressed_bytes)),
        ]
    };
    let columns = [
        ("Architecture", false),
        ("Kind", false),
        ("Compression", false),
        ("Entries", true),
        ("Bytes", true),
        ("Uncompressed", true),
    ];
    let mut blocks = vec![
        Block::Heading("Entries by architecture".to_owned()),
        table(&columns, gpu.rows.iter().map(row).collect()),
    ];
    if !gpu.containers.groups.is_empty() {
        blocks.push(Block::Heading("Containers with the same entries".to_owned()));
        let class = |sum: &ClassSum| {
            let class = &sum.class;
            format!("{} × {}", grouped(sum.entries), arch_name(class.kind, class.arch, class.suffix))
        };
        let rows = gpu.containers.groups.iter().take(ROWS).map(|group| {
            let bytes = group.classes.iter().fold(0_u64, |all, sum| all.saturating_add(sum.bytes));
            vec![
                Line::plain(grouped(group.containers)),
                Line::plain(human(bytes)),
                Line::code(group.classes.iter().map(class).collect::<Vec<_>>().join(", ")),
            ]
        });
        blocks.push(table(&[("Containers", true), ("Bytes", true), ("Entries", false)], rows.collect()));
    }
    if !gpu.sections.is_empty() {
        blocks.push(Block::Heading("Sections with GPU code".to_owned()));
        let rows = gpu.sections.iter().map(|section| {
            vec![Line::code(crate::base::text::printable(&section.name)), Line::plain(human(section.bytes))]
        });
        blocks.push(table(&[("Section", false), ("Bytes", true)], rows.collect()));
    }
    if !gpu.problems.is_empty() {
        let words = counted(gpu.problems.len() as u64, "problem");
        blocks.push(Block::Line(
            Line::plain(format!("{words} while it was read: see the log")).tone(Tone::Unsure),
        ));
    }
    page_of(blocks)
}
