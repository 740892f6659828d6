//! Formats identified by their first bytes alone: PTX, and programs of other systems.

use super::FileFacts;
use crate::formats::fatbin::Suffix;

/// Maximum bytes stored of such a file. In real files, comments precede `.version`.
pub(super) const TEXT_BYTES: usize = 4 << 10;

/// Which of them.
#[derive(Clone, Copy, Debug)]
pub(super) enum Text {
    Ptx,
    Pe,
}

impl Text {
    /// The facts, from the first [`TEXT_BYTES`] bytes.
    pub(super) fn facts(self, head: &[u8], bytes: u64) -> FileFacts {
        match self {
            Self::Ptx => ptx(head, bytes),
            Self::Pe => FileFacts::Pe { machine: pe_machine(head).unwrap_or(0) },
        }
    }
}

fn ptx(head: &[u8], bytes: u64) -> FileFacts {
    let text = String::from_utf8_lossy(head);
    let mut isa = None;
    let mut target = None;
    for line in text.lines() {
        let mut words = line.split_ascii_whitespace();
        match (words.next(), words.next()) {
            (Some(".version"), Some(word)) if isa.is_none() => isa = version(word),
            (Some(".target"), Some(word)) if target.is_none() => target = architecture(word),
            _ => {}
        }
    }
    match (isa, target) {
        (Some(isa), Some((arch, suffix))) => {
            FileFacts::Ptx { isa: Some(isa), arch: Some(arch), suffix, bytes }
        }
        _ => FileFacts::Ptx { isa: None, arch: None, suffix: None, bytes },
    }
}

/// A version such as `8.3`.
fn version(word: &str) -> Option<(u16, u16)> {
    let (major, minor) = word.split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

/// A target such as `sm_90a`; options follow a comma.
fn architecture(word: &str) -> Option<(u32, Option<Suffix>)> {
    let name = word.split(',').next()?.strip_prefix("sm_")?;
    let (digits, suffix) = match name.as_bytes().last()? {
        b'a' => (name.strip_suffix('a')?, Some(Suffix::A)),
        b'f' => (name.strip_suffix('f')?, Some(Suffix::F)),
        _ => (name, None),
    };
    Some((digits.parse().ok()?, suffix))
}

fn pe_machine(head: &[u8]) -> Option<u16> {
    let at = u32::from_le_bytes(*head.get(0x3c..)?.first_chunk()?);
    let header = head.get(usize::try_from(at).ok()?..)?.strip_prefix(b"PE\0\0")?;
    header.first_chunk().map(|raw| u16::from_le_bytes(*raw))
}

/// Whether `head` is a Mach-O file: one architecture in either byte order, or a universal binary.
pub(super) fn is_mach_o(head: &[u8]) -> bool {
    /// More architectures than any universal binary has. Java class files share the magic, and have a number of at
    /// least 45 here.
    const ARCHITECTURES: u32 = 30;
    let Some((magic, rest)) = head.split_first_chunk::<4>() else { return false };
    match u32::from_be_bytes(*magic) {
        0xfeed_face | 0xfeed_facf | 0xcefa_edfe | 0xcffa_edfe => true,
        0xcafe_babe => rest.first_chunk().is_some_and(|raw| u32::from_be_bytes(*raw) < ARCHITECTURES),
        _ => false,
    }
}
