//! Location of eStargz's table: the last gzip member but one is a tar with the JSON, the last is empty and has the
//! offset of that one in its header.

use std::io::{BufReader, Read as _};

use flate2::bufread::GzDecoder;

use super::{Chunk, Contents, Format, Listed, Refused, buffer};
use crate::base::Limits;
use crate::base::convert::in_memory;
use crate::formats::input::{BUFFER_BYTES, StreamInput};
use crate::formats::tar::{MemberKind, TarWalk};
use crate::jobs::CancelToken;

/// Annotation with the digest of the JSON.
pub const DIGEST: &str = "containerd.io/snapshot/stargz/toc.digest";

/// Length of the footer member, and of its older form without the subfield header.
pub const FOOTER_BYTES: usize = 51;
const OLD_FOOTER_BYTES: usize = 47;
const FILE: &[u8] = b"stargz.index.json";

/// Offset of the member with the table, and length of the footer, from the last bytes of a blob; `None` if they are not
/// a footer.
pub fn footer(tail: &[u8]) -> Option<(u64, usize)> {
    let field = |bytes: usize, before: &[u8]| {
        let footer = tail.get(tail.len().checked_sub(bytes)?..)?;
        let extra = footer.strip_prefix(&[0x1f, 0x8b, 8, 4])?.get(6..)?.strip_prefix(before)?;
        let hex = extra.get(..22)?.strip_suffix(b"STARGZ")?;
        let plain = hex.iter().all(u8::is_ascii_hexdigit);
        let offset = u64::from_str_radix(std::str::from_utf8(hex).ok().filter(|_| plain)?, 16).ok()?;
        Some((offset, bytes))
    };
    field(FOOTER_BYTES, b"\x1a\0SG\x16\0").or_else(|| field(OLD_FOOTER_BYTES, b"\x16\0"))
}

/// The table itself: a file of the layer that the table does not list. Extraction as a plain layer creates it, and a
/// complete read counts it.
#[derive(Debug)]
pub struct TocFile {
    /// The JSON of the table.
    pub json: Vec<u8>,
    path: Vec<u8>,
    listed: Listed,
    /// Decompressed bytes before the JSON.
    inner: u64,
}

/// Decompresses the member with the table.
///
/// # Errors
/// It is not such a member, or exceeds `limits`.
pub fn inflate(member: &[u8], limits: &Limits) -> Result<TocFile, Refused> {
    let reader = BufReader::with_capacity(BUFFER_BYTES, GzDecoder::new(member));
    let most = limits.table_json_bytes;
    // Headers and padding are extra.
    let input = StreamInput::new(reader, None, most.saturating_add(1 << 20), &CancelToken::new());
    let mut walk = TarWalk::new(input, limits);
    let unusable = |why: &dyn std::fmt::Display| {
        Refused::new(format!("unusable gzip member of the table of contents: {why}"))
    };
    if !walk.advance().map_err(|error| unusable(&error))? {
        return Err(unusable(&"no file in it"));
    }
    let member = walk.member().clone();
    if member.kind != MemberKind::File || member.sparse || member.path != FILE {
        return Err(unusable(&"unexpected first file"));
    }
    if member.size > most {
        let size = member.size;
        return Err(unusable(&format!("the table has {size} bytes, the limit is {most}")));
    }
    let mut json = buffer(member.size);
    walk.by_ref().take(member.size).read_to_end(&mut json).map_err(|error| unusable(&error))?;
    if json.len() != in_memory(member.size) {
        return Err(unusable(&"the table is truncated"));
    }
    let listed = Listed::file(member.size, member.mode, member.uid, member.gid, member.mtime);
    Ok(TocFile { json, path: member.path, listed, inner: member.body_at })
}

/// Parses the table, which is at `offset..end` of the blob.
///
/// # Errors
/// Those of [`Contents::parse`].
pub fn parse(found: &TocFile, offset: u64, end: u64, limits: &Limits) -> Result<Contents, Refused> {
    let mut contents = Contents::parse(&found.json, Format::Estargz, offset, limits)?;
    let (size, inner) = (found.listed.size, found.inner);
    let sum = <sha2::Sha256 as sha2::Digest>::digest(&found.json).into();
    let part = Chunk { at: 0, size, offset, end, inner, zeros: false, sum: Some(sum) };
    contents.push(&found.path, found.listed, part, Some(sum))?;
    Ok(contents)
}

#[cfg(test)]
mod tests {
    use super::footer;

    #[test]
    fn both_footers_are_known() {
        let mut new = b"\x1f\x8b\x08\x04\0\0\0\0\0\xff\x1a\0SG\x16\x0000000000000012abSTARGZ".to_vec();
        new.extend([1, 0, 0, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!((new.len(), footer(&new)), (51, Some((0x12ab, 51))));
        let mut old = b"\x1f\x8b\x08\x04\0\0\0\0\0\xff\x16\x0000000000000012abSTARGZ".to_vec();
        old.extend([1, 0, 0, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!((old.len(), footer(&old)), (47, Some((0x12ab, 47))));
        old[20] = b'+';
        assert_eq!(footer(&old), None);
        assert_eq!(footer(b""), None);
    }
}
