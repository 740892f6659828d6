//! Headers of a member with another name, target or owner: everything else in them stays byte for byte.
//!
//! A header is a run of blocks: extension headers (PAX, GNU long names) with their bodies, the header of the member,
//! and for old GNU sparse files the rest of their map.

use std::borrow::Cow;
use std::ops::Range;

use super::header::{GID, MODE, MTIME, SIZE, UID, number};
use crate::formats::pax::{Record, records};

const BLOCK: usize = 512;
const NAME: Range<usize> = 0..100;
const CHECKSUM: Range<usize> = 148..156;
const KIND: usize = 156;
const LINK: Range<usize> = 157..257;
const MAGIC: Range<usize> = 257..265;
const PREFIX: Range<usize> = 345..500;
const GNU_MAGIC: &[u8] = b"ustar  \0";

/// Permission bits, owner, group, and time of a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    /// Permission bits.
    pub mode: u16,
    /// Owner.
    pub uid: u32,
    /// Group.
    pub gid: u32,
    /// Seconds since 1970.
    pub mtime: i64,
}

/// What changes in a header; `None` stays.
#[derive(Clone, Copy, Debug, Default)]
pub struct Edit<'a> {
    /// Another name.
    pub path: Option<&'a [u8]>,
    /// Another link target.
    pub link: Option<&'a [u8]>,
    /// Other facts.
    pub facts: Option<Facts>,
    /// Another size of the body.
    pub size: Option<u64>,
}

/// The bytes are not a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the header cannot be changed: it is not complete")]
pub struct NotAHeader;

/// A part of a header.
pub(super) struct Piece<'a> {
    pub(super) kind: u8,
    bytes: &'a [u8],
}

/// The extension headers with their bodies, and the rest, which begins with the header of the member.
pub(super) fn pieces(raw: &[u8]) -> Result<(Vec<Piece<'_>>, &[u8]), NotAHeader> {
    let mut extensions = Vec::new();
    let mut rest = raw;
    while rest.len() >= BLOCK {
        let kind = rest[KIND];
        if !matches!(kind, b'x' | b'X' | b'g' | b'L' | b'K') {
            break;
        }
        let size = number(&rest[SIZE]).and_then(|size| usize::try_from(size).ok()).ok_or(NotAHeader)?;
        let end = size.checked_next_multiple_of(BLOCK).and_then(|size| size.checked_add(BLOCK));
        let (bytes, after) = end.and_then(|end| rest.split_at_checked(end)).ok_or(NotAHeader)?;
        extensions.push(Piece { kind, bytes });
        rest = after;
    }
    Ok((extensions, rest))
}

/// The global PAX headers among `raw`: they are no part of the member that follows.
///
/// # Errors
/// The bytes are not a header.
pub fn globals(raw: &[u8]) -> Result<Vec<u8>, NotAHeader> {
    let (extensions, _) = pieces(raw)?;
    Ok(extensions.iter().filter(|piece| piece.kind == b'g').flat_map(|piece| piece.bytes).copied().collect())
}

/// The header `raw` with `edit` applied.
///
/// # Errors
/// The bytes are not a header.
pub fn edited(raw: &[u8], edit: &Edit<'_>) -> Result<Vec<u8>, NotAHeader> {
    let (mut extensions, rest) = pieces(raw)?;
    let (block, beyond) = rest.split_at_checked(BLOCK).ok_or(NotAHeader)?;
    let mut editor = Editor { block: block.to_vec(), changes: Vec::new(), long: Vec::new() };
    let of = |piece: &Piece<'_>| body(piece).map(<[u8]>::to_vec);
    let pax: Vec<Vec<u8>> =
        extensions.iter().filter(|piece| piece.kind == b'x').map(of).collect::<Result<_, _>>()?;
    let has = |key: &[u8]| {
        pax.iter()
            .any(|body| records(body).flatten().any(|record| record.key == key && !record.value.is_empty()))
    };
    if let Some(path) = edit.path {
        extensions.retain(|piece| piece.kind != b'L');
        if has(b"GNU.sparse.name") {
            editor.changes.push((b"GNU.sparse.name", Some(path.to_vec())));
        } else {
            editor.text(path, NAME, b"path", b'L');
        }
    }
    if let Some(link) = edit.link {
        extensions.retain(|piece| piece.kind != b'K');
        editor.text(link, LINK, b"linkpath", b'K');
    }
    if let Some(facts) = edit.facts {
        editor.number(MODE, u64::from(facts.mode), None);
        editor.number(UID, u64::from(facts.uid), Some(b"uid"));
        editor.number(GID, u64::from(facts.gid), Some(b"gid"));
        match u64::try_from(facts.mtime) {
            Ok(time) => editor.number(MTIME, time, Some(b"mtime")),
            Err(_) => editor.changes.push((b"mtime", Some(facts.mtime.to_string().into_bytes()))),
        }
    }
    if let Some(size) = edit.size {
        editor.number(SIZE, size, Some(b"size"));
    }
    let mut out = Vec::with_capacity(raw.len() + 2 * BLOCK);
    let mut changes = std::mem::take(&mut editor.changes);
    // New records go to the last PAX header there is: readers refuse a member with two.
    let last = extensions.iter().rposition(|piece| piece.kind == b'x');
    for (place, piece) in extensions.iter().enumerate() {
        if piece.kind != b'x' || changes.is_empty() {
            out.extend_from_slice(piece.bytes);
            continue;
        }
        let mut body_now = changed_records(body(piece)?, &mut changes);
        if last == Some(place) {
            body_now.extend(new_records(&changes));
        }
        if !body_now.is_empty() {
            extension(&piece.bytes[..BLOCK], &body_now, &mut out);
        }
    }
    let new = if last.is_none() { new_records(&changes) } else { Vec::new() };
    if !new.is_empty() {
        extension(&blank(b'x', b"././@PaxHeader"), &new, &mut out);
    }
    out.extend_from_slice(&editor.long);
    set_checksum(&mut editor.block);
    out.extend_from_slice(&editor.block);
    out.extend_from_slice(beyond);
    Ok(out)
}

/// The header of a new member, POSIX format.
///
/// # Errors
/// Never, in practice: the header is made here.
pub fn fresh(
    kind: u8,
    edit: &Edit<'_>,
    device: Option<(u32, u32)>,
    attributes: &[(Vec<u8>, Vec<u8>)],
) -> Result<Vec<u8>, NotAHeader> {
    let mut block = blank(kind, b"");
    for (field, number) in
        device.into_iter().flat_map(|(major, minor)| [(329..337, major), (337..345, minor)])
    {
        octal(&mut block[field], u64::from(number));
    }
    let pax: Vec<u8> = attributes
        .iter()
        .flat_map(|(name, value)| record(&[b"SCHILY.xattr.", name.as_slice()].concat(), value))
        .collect();
    let mut raw = Vec::new();
    if !pax.is_empty() {
        extension(&blank(b'x', b"././@PaxHeader"), &pax, &mut raw);
    }
    raw.extend_from_slice(&block);
    edited(&raw, edit)
}

struct Editor {
    block: Vec<u8>,
    /// PAX records by key: the new value, or `None` to remove it.
    changes: Vec<RecordChange>,
    /// GNU long names, with their headers.
    long: Vec<u8>,
}

impl Editor {
    fn text(&mut self, text: &[u8], field: Range<usize>, key: &'static [u8], gnu: u8) {
        let is_gnu = &self.block[MAGIC] == GNU_MAGIC;
        let length = field.len();
        if field == NAME && self.block[MAGIC].starts_with(b"ustar\0") {
            self.block[PREFIX].fill(0);
        }
        let field = &mut self.block[field];
        field.fill(0);
        let short = &text[..text.len().min(length)];
        field[..short.len()].copy_from_slice(short);
        let mut value = None;
        if text.len() > length {
            if is_gnu {
                let mut body = text.to_vec();
                body.push(0);
                let mut header = blank(gnu, b"././@LongLink");
                header[MAGIC].copy_from_slice(GNU_MAGIC);
                extension(&header, &body, &mut self.long);
            } else {
                value = Some(text.to_vec());
            }
        }
        self.changes.push((key, value));
    }

    /// A number as octal digits, else in a PAX record.
    fn number(&mut self, field: Range<usize>, value: u64, key: Option<&'static [u8]>) {
        let fits = octal(&mut self.block[field], value);
        if let Some(key) = key {
            self.changes.push((key, (!fits).then(|| value.to_string().into_bytes())));
        }
    }
}

/// Writes `value` with leading zeros and a NUL; zero if it does not fit.
fn octal(field: &mut [u8], value: u64) -> bool {
    let digits = field.len() - 1;
    let text = format!("{value:0digits$o}");
    let fits = text.len() == digits;
    let text = if fits { text } else { "0".repeat(digits) };
    field[..digits].copy_from_slice(text.as_bytes());
    field[digits] = 0;
    fits
}

/// The body of an extension header.
pub(super) fn body<'a>(piece: &Piece<'a>) -> Result<&'a [u8], NotAHeader> {
    let size = number(&piece.bytes[SIZE]).and_then(|size| usize::try_from(size).ok()).ok_or(NotAHeader)?;
    piece.bytes.get(BLOCK..BLOCK + size).ok_or(NotAHeader)
}

/// A change of a PAX record: the new value, or `None` to remove it.
type RecordChange = (&'static [u8], Option<Vec<u8>>);

/// The records of changes that replace none.
fn new_records(changes: &[RecordChange]) -> Vec<u8> {
    let new = changes.iter().filter_map(|(key, value)| Some(record(key, value.as_ref()?)));
    new.flatten().collect()
}

/// The records of a PAX header, changed. A change that was made is taken from the list.
fn changed_records(body: &[u8], changes: &mut Vec<RecordChange>) -> Vec<u8> {
    let mut out = Vec::with_capacity(body.len());
    let mut made: Vec<&[u8]> = Vec::new();
    for Record { key, value } in records(body).flatten() {
        let change = changes.iter().find(|(changed, _)| *changed == key);
        let value = match change {
            Some((_, None)) => None,
            // A key twice: the last counts, so one is enough.
            Some(_) if made.contains(&key) => None,
            Some((key, Some(new))) => {
                made.push(key);
                Some(Cow::Borrowed(new.as_slice()))
            }
            None => Some(Cow::Borrowed(value)),
        };
        if let Some(value) = value {
            out.extend(record(key, &value));
        }
    }
    let made: Vec<Vec<u8>> = made.into_iter().map(<[u8]>::to_vec).collect();
    changes.retain(|(key, _)| !made.iter().any(|made| made == key));
    out
}

/// `LEN KEY=VALUE\n`, where the length counts itself.
fn record(key: &[u8], value: &[u8]) -> Vec<u8> {
    let rest = key.len() + value.len() + 3;
    let mut length = rest + 1;
    while rest + length.to_string().len() != length {
        length = rest + length.to_string().len();
    }
    [length.to_string().as_bytes(), b" ", key, b"=", value, b"\n"].concat()
}

/// Appends the extension header `block` with another body.
fn extension(block: &[u8], body: &[u8], out: &mut Vec<u8>) {
    let mut block = block.to_vec();
    octal(&mut block[SIZE], body.len() as u64);
    set_checksum(&mut block);
    out.extend_from_slice(&block);
    out.extend_from_slice(body);
    out.resize(out.len().next_multiple_of(BLOCK), 0);
}

fn blank(kind: u8, name: &[u8]) -> Vec<u8> {
    let mut block = vec![0; BLOCK];
    block[..name.len()].copy_from_slice(name);
    for (field, value) in [(MODE, 0o644), (UID, 0), (GID, 0), (SIZE, 0), (MTIME, 0)] {
        octal(&mut block[field], value);
    }
    block[KIND] = kind;
    block[MAGIC].copy_from_slice(b"ustar\x0000");
    block
}

fn set_checksum(block: &mut [u8]) {
    block[CHECKSUM].fill(b' ');
    let sum: u32 = block.iter().map(|byte| u32::from(*byte)).sum();
    block[CHECKSUM].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
}
