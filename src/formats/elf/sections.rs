//! The section table, for facts that only section names determine: locations of GPU code, and the note of a
//! compatibility package.

use std::io;

use super::super::binary::BinaryLimits;
use super::super::fatbin::{self, Region};
use super::layout::{self, SectionHeader, Table};
use super::notes::{self, COMPAT_SECTION};
use super::parse::{Context, Places};
use super::{ElfFacts, ElfKind};
use crate::base::text::escape;

/// Maximum examined length of section names: the searched names are shorter.
pub(super) const NAME_MAX: usize = 100;

/// Bytes of section names that a stream stores if they follow the section table.
const NAMES_WANTED: u64 = 1 << 20;

const PROGBITS: u32 = 1;
const NOTE: u32 = 7;

/// Flags of a section: it is loaded, it is code.
const ALLOC: u64 = 2;
const EXECUTE: u64 = 4;

/// Minimum useful size: the header of a container, that of an entry, and a word of code.
const LEAST_BYTES: u64 = 16 + 64 + 8;

/// Maximum sections without a stored name that are recorded.
const UNNAMED_MAX: usize = 4_096;

/// Possible locations of GPU code. A file without a readable section table may have it anywhere.
pub(super) fn sections(
    context: &mut Context<'_>,
    facts: &mut ElfFacts,
    wants_note: bool,
) -> io::Result<Places> {
    let anywhere = Region { name: String::new(), at: 0, bytes: context.size, exclusive: false };
    let anywhere = Places { regions: vec![anywhere], ..Places::default() };
    let Some((table, names)) = tables(context)? else { return Ok(anywhere) };
    let layout = context.header.layout;
    let mut candidates: Vec<SectionHeader> = Vec::new();
    let all = context.each(table, layout.section_bytes(), |_, raw| {
        let wanted = |section: &SectionHeader| {
            section.bytes > 0 && (section.kind == PROGBITS || wants_note && section.kind == NOTE)
        };
        candidates.extend(layout.section(raw).filter(wanted));
        true
    })?;
    if !all {
        context.problems.add(table.at, "section headers cannot be read");
        return Ok(anywhere);
    }
    // Objects may have one data section per variable.
    let data_sections = context.limits.data_sections && facts.kind != ElfKind::Relocatable;
    let mut list = Vec::new();
    let mut unnamed = Vec::new();
    for section in candidates {
        if u64::from(section.name) >= names.bytes {
            continue;
        }
        let name_at = names.at.saturating_add(u64::from(section.name));
        match context.bytes.string(name_at, NAME_MAX)? {
            Some(name) if name == COMPAT_SECTION && wants_note && facts.forward_compat.is_none() => {
                notes::compat(context, &section, facts)?;
            }
            Some(name) if section.kind == PROGBITS => {
                list.extend(region(&name, &section, data_sections));
            }
            None if unnamed.len() < UNNAMED_MAX => {
                unnamed.push((section.at, section.at.saturating_add(section.bytes)));
            }
            _ => {}
        }
        if list.len() > context.limits.gpu_sections {
            context.problems.add(section.at, "too many sections with GPU code: the rest is omitted");
            break;
        }
    }
    let regions = fatbin::regions(list, context.size, context.problems);
    Ok(Places { regions, by_table: true, unnamed })
}

/// The section named `name`, if it may contain NVIDIA GPU code. Some libraries embed containers as data: cuFFT 11 all
/// of them in `.ldata`, cuSPARSE 12 and CUPTI some in `.rodata`.
fn region(name: &[u8], section: &SectionHeader, data_sections: bool) -> Option<Region> {
    let has = |part: &[u8]| name.windows(part.len()).any(|window| window == part);
    let exclusive = name == b".nv_fatbin" || name == b"__nv_relfatbin";
    let foreign = name.starts_with(b".hip");
    let is_data = section.flags & (ALLOC | EXECUTE) == ALLOC && section.bytes >= LEAST_BYTES;
    let may = exclusive || has(b"cask") || has(b"fatbin") || (data_sections && is_data);
    let region = Region { name: escape(name), at: section.at, bytes: section.bytes, exclusive };
    (may && !foreign).then_some(region)
}

/// The section table, and the header of the section with its names.
fn tables(context: &mut Context<'_>) -> io::Result<Option<(Table, SectionHeader)>> {
    let (layout, limits) = (context.header.layout, context.limits);
    let mut table = context.header.sections;
    let mut names = u64::from(context.header.names);
    if table.at == 0 {
        return Ok(None);
    }
    if !layout::stride_fits(table.stride, layout.section_bytes()) {
        context.problems.add(table.at, "invalid size of section headers");
        return Ok(None);
    }
    let wanted = wanted(&table, context.size, limits);
    context.bytes.want(table.at, wanted);
    // Numbers too large for the ELF header are in the first section header.
    if table.count == 0 || names == 0xffff {
        let Some(first) = section_at(context, &table, 0)? else {
            context.problems.add(table.at, "section headers cannot be read");
            return Ok(None);
        };
        if table.count == 0 {
            table.count = first.bytes;
        }
        if names == 0xffff {
            names = u64::from(first.link);
        }
    }
    let table = context.cut(table, limits.sections, "section headers");
    if table.count == 0 {
        return Ok(None);
    }
    let section = if names == 0 || names >= table.count { None } else { section_at(context, &table, names)? };
    // 8 is `SHT_NOBITS`.
    let section = section.filter(|section| section.kind != 8 && section.at < context.size);
    if let Some(section) = section {
        context.bytes.want(section.at, section.bytes.min(NAMES_WANTED));
        return Ok(Some((table, section)));
    }
    context.problems.add(table.at, "section names cannot be found");
    Ok(None)
}

/// Number of bytes of a section table to store.
pub(super) fn wanted(table: &Table, size: u64, limits: &BinaryLimits) -> u64 {
    let most = table.stride.saturating_mul(limits.sections as u64);
    let claimed = if table.count == 0 { most } else { table.bytes().min(most) };
    claimed.min(size.saturating_sub(table.at))
}

fn section_at(context: &mut Context<'_>, table: &Table, index: u64) -> io::Result<Option<SectionHeader>> {
    let mut raw = [0; 64];
    let layout = context.header.layout;
    let raw = raw.get_mut(..layout.section_bytes()).unwrap_or_default();
    let at = table.stride.saturating_mul(index).saturating_add(table.at);
    let there = context.bytes.read(at, raw)?;
    Ok(if there { layout.section(raw) } else { None })
}
