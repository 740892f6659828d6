//! Image archives. A plain one is indexed by its headers; a compressed one is read once, and possible layers go to the
//! sink as they pass, because the manifest may come last.

pub(super) mod kept;
mod members;
pub(super) mod streamed;

use std::collections::BTreeMap;
use std::io::{self, BufReader, Read};
use std::path::Path;
use std::sync::Arc;

use super::context::{OpenContext, SourceKey};
use super::error::SourceError;
use super::files::{Files, Member, open_regular};
use crate::base::Section;
use crate::base::read_at::SectionReader;
use crate::formats::compression::{Compression, SNIFF_BYTES, sniff};
use crate::formats::input::{BUFFER_BYTES, SeekInput, decoder};
use crate::formats::tar::{MemberKind, TarWalk};
use crate::jobs::Progress;
use members::{Members, advance, insert, other_member};

/// The files of an archive.
pub(super) fn open(path: &Path, context: &mut OpenContext<'_>) -> Result<Files, SourceError> {
    let label = crate::base::text::printable(&path.display().to_string());
    let section = open_regular(path).map_err(|error| SourceError::open(&label, error))?;
    open_section(label, &section, context)
}

/// The files of an archive in memory.
pub(super) fn open_bytes(
    label: &str,
    bytes: &'static [u8],
    context: &mut OpenContext<'_>,
) -> Result<Files, SourceError> {
    let section = Section::new(Arc::new(bytes), 0, bytes.len() as u64);
    open_section(label.into(), &section, context)
}

fn open_section(
    label: String,
    section: &Section,
    context: &mut OpenContext<'_>,
) -> Result<Files, SourceError> {
    let mut start = [0; SNIFF_BYTES];
    let count = section.read_full_at(&mut start, 0).map_err(|error| SourceError::open(&label, error))?;
    let not_an_image = |reason: String| SourceError::NotAnImage { object: label.clone(), reason, hint: None };
    if count == 0 {
        return Err(not_an_image("empty file".into()));
    }
    let compression = sniff(&start[..count]).map_err(|error| not_an_image(error.to_string()))?;
    let (members, fault) = match compression {
        Compression::None => plain_members(&label, section, context)?,
        Compression::Gzip | Compression::Zstd => known_members(&label, section, compression, context)?,
    };
    Ok(Files::archive(label, members, fault))
}

fn plain_members(label: &str, section: &Section, context: &OpenContext<'_>) -> Result<Members, SourceError> {
    // The search for members is not progress on layers: it uses a scratch counter.
    let input = SeekInput::new(section.clone(), &Progress::default(), context.cancel);
    let mut walk = TarWalk::new(input, context.limits);
    let mut members = (BTreeMap::new(), 0);
    let mut fault = None;
    while advance(&mut walk, context.cancel, &mut fault)? {
        let member = walk.member();
        let bytes = match member.kind {
            MemberKind::File if member.size != member.stored => {
                Member::Unusable("sparse member of the archive".into())
            }
            // Cut at the end of the file: the layer's pass reports the missing bytes.
            MemberKind::File => Member::Section(section.part(member.body_at, member.stored)),
            _ => match other_member(member.kind, &member.path, &member.link) {
                Some(member) => member,
                None => continue,
            },
        };
        insert(&mut members, &walk.member().path, bytes, label, context.limits)?;
    }
    Ok((members.0, fault))
}

/// The members of a compressed archive, from the cached listing if available.
fn known_members(
    label: &str,
    section: &Section,
    compression: Compression,
    context: &mut OpenContext<'_>,
) -> Result<Members, SourceError> {
    let file = section.place().map(|(file, _)| SourceKey::File(file));
    if let Some(members) = file.as_ref().and_then(|file| kept::recall(file, context)) {
        context.progress.set_totals(section.len(), 0);
        context.progress.add_passed(section.len());
        return Ok((members, None));
    }
    let (members, fault) = streamed_members(label, section, compression, context)?;
    let whole = fault.is_none() && !section.was_written().unwrap_or(true);
    if let Some(file) = file.filter(|_| whole)
        && let Some(bytes) = kept::to_bytes(&members)
    {
        context.sink.keep(&file, &bytes);
    }
    Ok((members, fault))
}

fn streamed_members(
    label: &str,
    section: &Section,
    compression: Compression,
    context: &mut OpenContext<'_>,
) -> Result<Members, SourceError> {
    let progress = context.progress;
    progress.set_totals(section.len(), 0);
    let source = Counted { inner: SectionReader::new(section.clone()), progress: progress.clone() };
    let source = BufReader::with_capacity(BUFFER_BYTES, source);
    let reader = decoder(source, compression, context.limits.zstd_window_log);
    let reader = reader.map_err(|error| SourceError::open(label, error))?;
    streamed::members(label, reader, context)
}

/// Counts the bytes read of a compressed archive.
struct Counted {
    inner: SectionReader,
    progress: Progress,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.progress.add_read(count as u64);
        self.progress.add_passed(count as u64);
        Ok(count)
    }
}
