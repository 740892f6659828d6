//! Members of archives, for people: tar (also compressed), zip (wheels, jars) and static libraries.

use std::io::Read as _;

use super::compression::{Compression, SNIFF_BYTES, sniff};
use super::input::{StreamInput, decoder};
use super::tar::{MemberKind, TarWalk, is_header};
use crate::base::Limits;
use crate::base::convert::in_memory;
use crate::jobs::CancelToken;

/// Members that are listed.
pub const MOST: usize = 10_000;
/// Decompressed bytes of a compressed archive that are walked.
const INFLATED: u64 = 1 << 30;

const AR: &[u8] = b"!<arch>\n";
const ZIP_ENTRY: &[u8] = b"PK\x01\x02";
const ZIP_END: &[u8] = b"PK\x05\x06";

/// One member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArchiveMember {
    /// Name, any bytes.
    pub name: Vec<u8>,
    /// Bytes once unpacked.
    pub bytes: u64,
    /// What it is: `file`, `folder`, `symlink`, `hard link` or `special`.
    pub kind: &'static str,
    /// Target of a link.
    pub link: Vec<u8>,
}

/// The members of an archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArchiveMembers {
    /// Form of the archive, such as `tar, gzip`.
    pub form: String,
    /// The members, in order.
    pub list: Vec<ArchiveMember>,
    /// Whether these are all.
    pub complete: bool,
}

/// The members of an archive; `None` if the bytes are none. `whole` says whether these are all bytes of the file.
pub fn members(bytes: &[u8], whole: bool, limits: &Limits, cancel: &CancelToken) -> Option<ArchiveMembers> {
    if bytes.starts_with(AR) {
        return Some(of_library(bytes, whole));
    }
    if bytes.starts_with(b"PK\x03\x04") || bytes.starts_with(ZIP_END) {
        return of_zip(bytes, whole);
    }
    let compression = sniff(&bytes[..bytes.len().min(SNIFF_BYTES)]).ok()?;
    let form = match compression {
        Compression::None => "tar".to_owned(),
        other => format!("tar, {}", other.as_str()),
    };
    let mut head = [0; 512];
    let open = || decoder(bytes, compression, limits.zstd_window_log);
    open().ok()?.read_exact(&mut head).ok()?;
    if !is_header(&head) {
        return None;
    }
    let input = StreamInput::new(open().ok()?, None, INFLATED.min(limits.inflated_bytes), cancel);
    let mut walk = TarWalk::new(input, limits);
    let mut list = Vec::new();
    let complete = loop {
        match walk.advance() {
            Ok(false) => break true,
            Err(_) => break false,
            Ok(true) if list.len() == MOST => break false,
            Ok(true) => {
                let member = walk.member();
                let kind = match member.kind {
                    MemberKind::File => "file",
                    MemberKind::Directory => "folder",
                    MemberKind::Symlink => "symlink",
                    MemberKind::HardLink => "hard link",
                    _ => "special",
                };
                let (name, link) = (member.path.clone(), member.link.clone());
                list.push(ArchiveMember { name, bytes: member.size, kind, link });
            }
        }
    };
    Some(ArchiveMembers { form, list, complete: complete && whole })
}

fn file(name: &[u8], bytes: u64) -> ArchiveMember {
    let kind = if name.ends_with(b"/") { "folder" } else { "file" };
    ArchiveMember { name: name.to_vec(), bytes, kind, link: Vec::new() }
}

/// Members of a static library (`ar`): names in headers, or in the member `//`.
fn of_library(bytes: &[u8], whole: bool) -> ArchiveMembers {
    let mut list = Vec::new();
    let mut long: &[u8] = &[];
    let mut at = AR.len();
    let mut complete = whole;
    while at < bytes.len() {
        let header = bytes.get(at..).and_then(|rest| rest.get(..60));
        let size = header.and_then(|header| number(&header[48..58]));
        let (Some(header), Some(size)) = (header, size.filter(|_| list.len() < MOST)) else {
            complete = false;
            break;
        };
        let body = at + 60;
        let name = header[..16].trim_ascii_end();
        let end = body.saturating_add(in_memory(size));
        match name {
            b"/" | b"/SYM64/" => {}
            b"//" => long = bytes.get(body..end.min(bytes.len())).unwrap_or_default(),
            [b'/', offset @ ..] => {
                let start = number(offset).map_or(usize::MAX, in_memory);
                let name = long.get(start..).unwrap_or_default();
                let stop = name.iter().position(|byte| *byte == b'\n').unwrap_or(name.len());
                list.push(file(name[..stop].strip_suffix(b"/").unwrap_or(&name[..stop]), size));
            }
            name => list.push(file(name.strip_suffix(b"/").unwrap_or(name), size)),
        }
        at = end.saturating_add(end % 2);
    }
    ArchiveMembers { form: "static library".to_owned(), list, complete }
}

/// A number in ASCII digits.
fn number(field: &[u8]) -> Option<u64> {
    std::str::from_utf8(field.trim_ascii()).ok()?.parse().ok()
}

/// Members of a zip, from its central directory, which is at the end of the file.
fn of_zip(bytes: &[u8], whole: bool) -> Option<ArchiveMembers> {
    let form = "zip".to_owned();
    if !whole {
        return Some(ArchiveMembers { form, list: Vec::new(), complete: false });
    }
    let u16_at = |raw: &[u8], at: usize| Some(u16::from_le_bytes(*raw.get(at..)?.first_chunk()?));
    let u32_at = |raw: &[u8], at: usize| Some(u32::from_le_bytes(*raw.get(at..)?.first_chunk()?));
    // A comment of up to 64 KiB follows the end record.
    let tail = bytes.len().saturating_sub(22 + (64 << 10));
    let end = tail + bytes[tail..].windows(4).rposition(|window| window == ZIP_END)?;
    let mut at = u32_at(bytes, end + 16)? as usize;
    let mut list = Vec::new();
    while bytes.get(at..at.checked_add(4)?) == Some(ZIP_ENTRY) && list.len() < MOST {
        let raw = &bytes[at..];
        let (size, name) = (u32_at(raw, 24)?, usize::from(u16_at(raw, 28)?));
        let more = usize::from(u16_at(raw, 30)?) + usize::from(u16_at(raw, 32)?);
        list.push(file(raw.get(46..46 + name)?, u64::from(size)));
        at = at.checked_add(46 + name + more)?;
    }
    // The count is 16 bits wide; larger archives have it elsewhere.
    let complete = at >= end || list.len() == usize::from(u16_at(bytes, end + 10)?);
    Some(ArchiveMembers { form, list, complete })
}

#[cfg(test)]
mod tests {
    use super::members;
    use crate::base::Limits;
    use crate::jobs::CancelToken;

    fn names(bytes: &[u8]) -> Option<Vec<String>> {
        let found = members(bytes, true, &Limits::default(), &CancelToken::new())?;
        Some(found.list.iter().map(|one| String::from_utf8_lossy(&one.name).into_owned()).collect())
    }

    #[test]
    fn members_of_libraries_have_short_and_long_names() {
        let header = |name: &str, size: usize| format!("{name:<16}{:<32}{size:<10}`\n", "");
        let long = "a_rather_long_name.o/\n";
        let text = format!(
            "!<arch>\n{}{long}{}x\n{}y",
            header("//", long.len()),
            header("/0", 2),
            header("b.o/", 1)
        );
        assert_eq!(names(text.as_bytes()).unwrap(), ["a_rather_long_name.o", "b.o"]);
    }

    #[test]
    fn other_bytes_and_cut_archives_are_no_error() {
        assert_eq!(names(b"text"), None);
        assert_eq!(names(b""), None);
        let cut = members(b"!<arch>\nshort", true, &Limits::default(), &CancelToken::new()).unwrap();
        assert!(!cut.complete && cut.list.is_empty());
        assert_eq!(names(b"PK\x05\x06 too short"), None);
    }
}
