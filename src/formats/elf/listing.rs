//! The tables of an ELF file, for people: program headers and sections.

use super::ElfKind;
use super::layout::{Header, header, stride_fits};
use crate::base::convert::in_memory;

/// Rows of a table. Objects with a section for each function have some ten thousand.
const ROWS: usize = 20_000;
/// Bytes of a section name.
const NAME: usize = 200;

/// A program header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// `p_type`.
    pub kind: u32,
    /// Offset in the file.
    pub at: u64,
    /// Address in memory.
    pub address: u64,
    /// Bytes in the file.
    pub bytes: u64,
    /// Alignment.
    pub align: u64,
}

/// A section.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SectionRow {
    /// Name, any bytes; empty if the names are not there.
    pub name: Vec<u8>,
    /// `sh_type`.
    pub kind: u32,
    /// `sh_flags`.
    pub flags: u64,
    /// Offset in the file.
    pub at: u64,
    /// Bytes.
    pub bytes: u64,
}

/// The tables of a file, as far as they are in its first bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ElfListing {
    /// `e_type`.
    pub kind: ElfKind,
    /// Program headers.
    pub segments: Vec<Segment>,
    /// Sections; `None` if the table or its names begin after the bytes.
    pub sections: Option<Vec<SectionRow>>,
    /// Offset of the section table.
    pub sections_at: u64,
}

/// The tables in `bytes`, the first bytes of an ELF file.
///
/// # Errors
/// The header is malformed; what is wrong with it.
pub fn listing(bytes: &[u8]) -> Result<ElfListing, &'static str> {
    let head = header(bytes)?;
    let layout = head.layout;
    let segments =
        rows(bytes, head.programs.at, head.programs.stride, head.programs.count, layout.program_bytes());
    let segments =
        segments.into_iter().flatten().filter_map(|raw| layout.program(raw)).map(|program| Segment {
            kind: program.kind,
            at: program.at,
            address: program.address,
            bytes: program.bytes,
            align: program.align,
        });
    let segments = segments.collect();
    Ok(ElfListing {
        kind: head.kind,
        segments,
        sections: sections(bytes, &head),
        sections_at: head.sections.at,
    })
}

fn sections(bytes: &[u8], head: &Header) -> Option<Vec<SectionRow>> {
    let layout = head.layout;
    let table = head.sections;
    if table.count == 0 {
        return Some(Vec::new());
    }
    let list: Vec<_> = rows(bytes, table.at, table.stride, table.count, layout.section_bytes())?
        .into_iter()
        .filter_map(|raw| layout.section(raw))
        .collect();
    let names = list.get(head.names as usize)?;
    let names = bytes.get(in_memory(names.at)..)?.get(..in_memory(names.bytes))?;
    let name = |at: u32| {
        let rest = names.get(at as usize..).unwrap_or_default();
        rest.iter().take(NAME).take_while(|byte| **byte != 0).copied().collect()
    };
    let row = |section: &super::layout::SectionHeader| SectionRow {
        name: name(section.name),
        kind: section.kind,
        flags: section.flags,
        at: section.at,
        bytes: section.bytes,
    };
    Some(list.iter().map(row).collect())
}

/// The entries of a table; `None` if it is not in the bytes.
fn rows(bytes: &[u8], at: u64, stride: u64, count: u64, needed: usize) -> Option<Vec<&[u8]>> {
    if !stride_fits(stride, needed) {
        return None;
    }
    let count = in_memory(count).min(ROWS);
    let length = in_memory(stride).checked_mul(count)?;
    let table = bytes.get(in_memory(at)..)?.get(..length)?;
    Some(table.chunks_exact(in_memory(stride)).collect())
}
