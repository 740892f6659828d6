//! The dynamic table: names, needed libraries, search paths, and required versions of libraries.

use std::io;

use super::layout::{Program, Table};
use super::parse::Context;
use super::{ElfFacts, MACHINE_NONE, VersionNeed};

const NEEDED: u64 = 1;
const STRING_TABLE: u64 = 5;
const STRING_BYTES: u64 = 10;
const SONAME: u64 = 14;
const RPATH: u64 = 15;
const RUNPATH: u64 = 29;
const FLAGS_1: u64 = 0x6fff_fffb;
const VERSION_NEEDS: u64 = 0x6fff_fffe;

const FLAG_NO_DEFAULT_LIB: u64 = 0x800;
const FLAG_PIE: u64 = 0x0800_0000;

/// Maximum bytes between the start of a segment and its dynamic table that a stream stores.
const NEAR: u64 = 1 << 20;

/// Size of an entry of the version needs, of either kind.
const VERSION_ENTRY: usize = 16;
/// Maximum length of a name in the version needs.
const VERSION_NAME_MAX: usize = 256;

/// The dynamic table, before string lookup.
#[derive(Default)]
struct Tags {
    needed: Vec<u64>,
    more_needed: u64,
    soname: Option<u64>,
    rpath: Option<u64>,
    runpath: Option<u64>,
    strings: Option<u64>,
    string_bytes: Option<u64>,
    flags: u64,
    versions: Option<u64>,
}

/// The dynamic string table: its offset in the file, and its end.
#[derive(Clone, Copy)]
struct Strings {
    at: u64,
    end: u64,
}

impl Strings {
    /// Location of the string at `offset`, and its maximum length up to `most`, terminator included.
    fn place(self, offset: u64, most: usize) -> Option<(u64, u64)> {
        let at = self.at.checked_add(offset)?;
        let room = self.end.checked_sub(at)?;
        (room > 0).then_some((at, room.min(most as u64 + 1)))
    }
}

/// Reads the table of `program`; `programs` maps addresses to file offsets.
pub(super) fn dynamic(
    context: &mut Context<'_>,
    program: &Program,
    programs: &[Program],
    facts: &mut ElfFacts,
) -> io::Result<()> {
    if let Some(at) = near(program, programs) {
        context.bytes.want(at, program.at - at);
    }
    let Some(tags) = tags(context, program)? else {
        context.problems.add(program.at, "the dynamic table cannot be read");
        facts.version_needs_known = false;
        return Ok(());
    };
    facts.pie = tags.flags & FLAG_PIE != 0;
    facts.no_default_lib = tags.flags & FLAG_NO_DEFAULT_LIB != 0;
    if tags.more_needed > 0 {
        let what = format!("{} needed libraries beyond the first {}", tags.more_needed, tags.needed.len());
        context.problems.add(program.at, what);
    }
    let offset = tags.strings.and_then(|address| offset_of(address, programs));
    let Some(at) = offset else {
        // Code of Guile is for no machine, and has no names: ld.so loads none of it.
        if context.header.machine != MACHINE_NONE {
            context.problems.add(program.at, "the string table of the dynamic table cannot be found");
        }
        facts.version_needs_known = tags.versions.is_none();
        return Ok(());
    };
    let end = tags.string_bytes.and_then(|bytes| at.checked_add(bytes)).unwrap_or(context.size);
    let strings = Strings { at, end: end.min(context.size) };
    let (name, path) = (context.limits.string_bytes, context.limits.path_bytes);
    // All are requested before the first is read, so that a stream can store them together.
    let wanted = (tags.soname.iter().chain(&tags.needed).map(|offset| (*offset, name)))
        .chain(tags.rpath.iter().chain(&tags.runpath).map(|offset| (*offset, path)));
    let wanted: Vec<_> = wanted.filter_map(|(offset, most)| strings.place(offset, most)).collect();
    let strings = Strings { end: reach(context, wanted, strings.end), ..strings };
    let mut room = context.limits.names_bytes;
    if let Some(offset) = tags.soname {
        facts.soname = string(context, strings, offset, name, "file itself")?;
        room = room.saturating_sub(facts.soname.as_ref().map_or(0, Vec::len));
    }
    for offset in &tags.needed {
        let Some(found) = string(context, strings, *offset, name, "needed library")? else { continue };
        let Some(rest) = room.checked_sub(found.len()) else {
            let kept = facts.needed.len();
            let what =
                format!("too many bytes of names: needed libraries after the first {kept} are omitted");
            context.problems.add(program.at, what);
            room = 0;
            break;
        };
        room = rest;
        facts.needed.push(found);
    }
    if let Some(offset) = tags.rpath {
        facts.rpath = string(context, strings, offset, path, "search path")?;
    }
    if let Some(offset) = tags.runpath {
        facts.runpath = string(context, strings, offset, path, "search path")?;
    }
    if let Some(address) = tags.versions {
        let known_from = known_from(context, program, programs);
        let needs = match offset_of(address, programs) {
            Some(at) => versions(context, at, strings, known_from, room)?,
            None => None,
        };
        facts.version_needs_known = needs.is_some();
        facts.version_needs = needs.unwrap_or_default();
    }
    Ok(())
}

fn tags(context: &mut Context<'_>, program: &Program) -> io::Result<Option<Tags>> {
    let layout = context.header.layout;
    let stride = layout.dynamic_bytes() as u64;
    let table = Table { at: program.at, stride, count: program.bytes / stride };
    let table = context.cut(table, context.limits.dynamic_entries, "entries of the dynamic table");
    context.bytes.want(table.at, table.bytes());
    let mut tags = Tags::default();
    let most = context.limits.needed;
    let all = context.each(table, layout.dynamic_bytes(), |_, raw| {
        let Some((tag, value)) = layout.dynamic(raw) else { return false };
        match tag {
            0 => return false,
            NEEDED if tags.needed.len() < most => tags.needed.push(value),
            NEEDED => tags.more_needed += 1,
            STRING_TABLE => tags.strings = Some(value),
            STRING_BYTES => tags.string_bytes = Some(value),
            // If there are several, the loader uses the last.
            SONAME => tags.soname = Some(value),
            RPATH => tags.rpath = Some(value),
            RUNPATH => tags.runpath = Some(value),
            FLAGS_1 => tags.flags = value,
            VERSION_NEEDS => tags.versions = Some(value),
            _ => {}
        }
        true
    })?;
    Ok(all.then_some(tags))
}

/// File offset of the byte at `address`.
fn offset_of(address: u64, programs: &[Program]) -> Option<u64> {
    programs.iter().filter(|program| program.kind == 1).find_map(|program| {
        let inside = address.checked_sub(program.address).filter(|inside| *inside < program.bytes)?;
        program.at.checked_add(inside)
    })
}

/// Requests the strings `wanted` (offset and length) and returns the end of the readable part: after the head, a stream
/// can store a limited number of bytes.
fn reach(context: &mut Context<'_>, mut wanted: Vec<(u64, u64)>, end: u64) -> u64 {
    wanted.sort_unstable();
    let mut passed = context.limits.head_bytes as u64;
    let mut room = context.limits.spread_bytes;
    for (at, bytes) in wanted {
        let behind = at.saturating_add(bytes);
        let more = behind.saturating_sub(passed.max(at));
        let Some(rest) = room.checked_sub(more) else {
            context.problems.add(at, "names too far apart: from here on omitted");
            return at;
        };
        room = rest;
        passed = passed.max(behind);
        context.bytes.want_string(at, bytes);
    }
    end
}

fn string(
    context: &mut Context<'_>,
    strings: Strings,
    offset: u64,
    most: usize,
    what: &str,
) -> io::Result<Option<Vec<u8>>> {
    let text = match strings.place(offset, most) {
        Some((at, bytes)) => {
            let found = context.bytes.string(at, most)?;
            found.filter(|found| (found.len() as u64) < bytes)
        }
        None => None,
    };
    if text.is_none() {
        let at = strings.at.saturating_add(offset);
        context.problems.add(at, format!("the name of a {what} cannot be read"));
    }
    Ok(text)
}

/// The version needs; `None` if they are damaged, or if a stream could not store them: their table must be in the head,
/// and their strings there or from `known_from` on. Both readers give equal results. `room` is the remaining budget for
/// bytes of names.
fn versions(
    context: &mut Context<'_>,
    mut at: u64,
    strings: Strings,
    known_from: u64,
    mut room: usize,
) -> io::Result<Option<Vec<VersionNeed>>> {
    let head = context.limits.head_bytes as u64;
    let mut list = Vec::new();
    let mut left = context.limits.versions;
    let mut complete = true;
    loop {
        let Some((file, count, first, next)) = need(context, at, head)? else { return Ok(None) };
        let mut need = VersionNeed::default();
        complete &= version_name(context, strings, file, known_from, &mut need.file)?;
        let mut names = need.file.len();
        let mut aux = at.saturating_add(u64::from(first));
        for _ in 0..count {
            let Some(room) = left.checked_sub(1) else { return Ok(None) };
            left = room;
            let Some((name, step)) = auxiliary(context, aux, head)? else { return Ok(None) };
            let mut version = Vec::new();
            complete &= version_name(context, strings, name, known_from, &mut version)?;
            names = names.saturating_add(version.len());
            if names > room {
                break;
            }
            need.versions.push(version);
            if step == 0 {
                break;
            }
            aux = aux.saturating_add(u64::from(step));
        }
        let Some(rest) = room.checked_sub(names) else {
            context.problems.add(at, "too many bytes of names: version requirements are omitted");
            return Ok(None);
        };
        room = rest;
        list.push(need);
        if next == 0 {
            return Ok(complete.then_some(list));
        }
        let Some(room) = left.checked_sub(1) else { return Ok(None) };
        left = room;
        at = at.saturating_add(u64::from(next));
    }
}

/// Offset from which a stream can store strings of the dynamic table: the start of the segment that contains it, if
/// near, otherwise its end; but not before the end of program headers outside the head.
fn known_from(context: &Context<'_>, program: &Program, programs: &[Program]) -> u64 {
    let table = context.header.programs;
    let table_end = table.at.saturating_add(table.bytes());
    if table_end > context.limits.head_bytes as u64 {
        return program.end().max(table_end);
    }
    near(program, programs).unwrap_or(program.end())
}

/// Start of the segment that contains the dynamic table, if it is so near that everything in between is stored:
/// patchelf puts the strings there.
fn near(program: &Program, programs: &[Program]) -> Option<u64> {
    let own = programs.iter().find(|own| own.kind == 1 && own.holds(program))?;
    (program.at - own.at <= NEAR).then_some(own.at)
}

fn raw_entry(context: &mut Context<'_>, at: u64, head: u64) -> io::Result<Option<[u8; VERSION_ENTRY]>> {
    let mut raw = [0; VERSION_ENTRY];
    let inside = at.checked_add(VERSION_ENTRY as u64).is_some_and(|end| end <= head);
    Ok(if inside && context.bytes.read(at, &mut raw)? { Some(raw) } else { None })
}

/// Name of the library, number of versions, offset of the first one, offset of the next library.
fn need(context: &mut Context<'_>, at: u64, head: u64) -> io::Result<Option<(u32, u16, u32, u32)>> {
    let layout = context.header.layout;
    let Some(raw) = raw_entry(context, at, head)? else { return Ok(None) };
    let fields =
        || Some((layout.u32(&raw, 4)?, layout.u16(&raw, 2)?, layout.u32(&raw, 8)?, layout.u32(&raw, 12)?));
    Ok(fields())
}

/// Name of the version, offset of the next one.
fn auxiliary(context: &mut Context<'_>, at: u64, head: u64) -> io::Result<Option<(u32, u32)>> {
    let layout = context.header.layout;
    let Some(raw) = raw_entry(context, at, head)? else { return Ok(None) };
    let fields = || Some((layout.u32(&raw, 8)?, layout.u32(&raw, 12)?));
    Ok(fields())
}

/// Requests the name, and reads it if it is available; returns whether it was.
fn version_name(
    context: &mut Context<'_>,
    strings: Strings,
    offset: u32,
    known_from: u64,
    name: &mut Vec<u8>,
) -> io::Result<bool> {
    let Some((at, bytes)) = strings.place(u64::from(offset), VERSION_NAME_MAX) else { return Ok(false) };
    let in_head = at.saturating_add(bytes) <= context.limits.head_bytes as u64;
    if !in_head && at < known_from {
        return Ok(false);
    }
    context.bytes.want_string(at, bytes);
    let found = context.bytes.string(at, VERSION_NAME_MAX)?;
    let found = found.filter(|found| (found.len() as u64) < bytes);
    let known = found.is_some();
    name.extend(found.unwrap_or_default());
    Ok(known)
}
