//! Notes: the build id, and NVIDIA's note in the `libcuda.so` of a compatibility package.

use std::io;

use super::ElfFacts;
use super::layout::{Program, SectionHeader};
use super::parse::Context;

/// Note type of the build id (owner GNU).
const BUILD_ID: u32 = 3;
/// Maximum plausible build id: a SHA-512. Linkers write 16 or 20 bytes.
const BUILD_ID_MAX: u32 = 64;
/// Maximum notes read of one segment.
const NOTES_MAX: usize = 4_096;

/// Name of the section, and owner of its note.
pub(super) const COMPAT_SECTION: &[u8] = b".note.cuda.fwd_compatibility";
pub(super) const COMPAT_OWNER: &[u8; 19] = b"NVIDIA Corporation\0";

/// Finds the build id in a note segment.
pub(super) fn build_id(context: &mut Context<'_>, program: &Program, facts: &mut ElfFacts) -> io::Result<()> {
    let end = program.end();
    context.bytes.want(program.at, program.bytes);
    let align = if program.align == 8 { 8 } else { 4 };
    let mut at = program.at;
    for _ in 0..NOTES_MAX {
        let mut raw = [0; 16];
        if facts.build_id.is_some() || end.saturating_sub(at) < 16 || !context.bytes.read(at, &mut raw)? {
            break;
        }
        let Some((owner, length, kind)) = fields(context, &raw) else { break };
        let name_end = at.saturating_add(12).saturating_add(u64::from(owner));
        let body = round_up(name_end, align);
        let next = round_up(body.saturating_add(u64::from(length)), align);
        let fits = body.saturating_add(u64::from(length)) <= end;
        if raw.ends_with(b"GNU\0") && owner == 4 && kind == BUILD_ID && length <= BUILD_ID_MAX && fits {
            let mut id = vec![0; usize::try_from(length).unwrap_or(0)];
            if context.bytes.read(body, &mut id)? {
                facts.build_id = Some(id);
            }
        }
        at = next;
    }
    Ok(())
}

/// Reads the note of a compatibility package.
pub(super) fn compat(
    context: &mut Context<'_>,
    section: &SectionHeader,
    facts: &mut ElfFacts,
) -> io::Result<()> {
    const OWNER_AT: u64 = 12;
    context.bytes.want(section.at, section.bytes.min(context.limits.compat_bytes as u64));
    let mut raw = [0; 12];
    let mut owner = [0; 19];
    let there = context.bytes.read(section.at, &mut raw)?
        && context.bytes.read(section.at.saturating_add(OWNER_AT), &mut owner)?;
    let sizes = fields(context, &raw).filter(|_| there && owner == *COMPAT_OWNER);
    let text = match sizes {
        Some((owner, length, _)) => {
            let body = OWNER_AT + round_up(u64::from(owner), 4);
            let length = usize::try_from(length).unwrap_or(usize::MAX);
            let fits = length <= context.limits.compat_bytes && body + length as u64 <= section.bytes;
            text_at(context, section.at.saturating_add(body), if fits { length } else { 0 })?
        }
        None => None,
    };
    if text.is_none() {
        context.problems.add(section.at, "the forward-compatibility note cannot be read");
    }
    facts.forward_compat = text;
    Ok(())
}

fn text_at(context: &mut Context<'_>, at: u64, length: usize) -> io::Result<Option<String>> {
    let mut bytes = vec![0; length];
    if length == 0 || !context.bytes.read(at, &mut bytes)? {
        return Ok(None);
    }
    let text = String::from_utf8(bytes).ok();
    Ok(text.map(|text| text.trim_end_matches('\0').to_owned()))
}

/// Length of the owner's name, length of the descriptor, type.
fn fields(context: &Context<'_>, raw: &[u8]) -> Option<(u32, u32, u32)> {
    let layout = context.header.layout;
    Some((layout.u32(raw, 0)?, layout.u32(raw, 4)?, layout.u32(raw, 8)?))
}

fn round_up(number: u64, align: u64) -> u64 {
    number.checked_next_multiple_of(align).unwrap_or(u64::MAX)
}
