//! Location of a table of contents, and its digest: annotations of the layer in the manifest.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::fetch::Fetched;
use super::ranges::TocError;
use crate::base::text::printable;
use crate::base::{Digest, Limits, digest};
use crate::formats::contents::chunked::{self, Position};
use crate::formats::contents::{Contents, Format, Refused, estargz};
use crate::jobs::Cancelled;

/// Bytes at the end of a blob that are fetched first for eStargz: they contain the footer, and usually the table.
const TAIL: u64 = 64 << 10;

static ONE_TABLE: Mutex<()> = Mutex::new(());
/// Tables with more stored bytes are large.
const LARGE: u64 = 4 << 20;

/// Annotations about a table.
pub(super) enum Claim {
    /// Location in the footer.
    Estargz(Digest),
    /// Location in the annotations.
    Chunked(Position, Digest),
}

impl From<Refused> for TocError {
    fn from(why: Refused) -> Self {
        Self { why: why.to_string(), contradicts: false, cancelled: false }
    }
}

impl From<io::Error> for TocError {
    fn from(error: io::Error) -> Self {
        let cancelled = Cancelled::is_cause_of(&error);
        let why = if error.kind() == io::ErrorKind::Unsupported {
            "the registry does not support range requests".to_owned()
        } else {
            printable(&format!("cannot fetch the table of contents: {error}"))
        };
        Self { why, contradicts: false, cancelled }
    }
}

impl Claim {
    /// Parses the annotations; `None` without a table.
    pub(super) fn of(annotations: &BTreeMap<String, String>) -> Result<Option<Self>, TocError> {
        let digest = |name: &str| {
            let text = annotations.get(name)?;
            let digest = text.parse::<Digest>();
            Some(digest.map_err(|_| Refused::new(format!("annotation {name} is not a digest: {text}"))))
        };
        // Some writers of zstd:chunked also add the annotation of eStargz.
        if let Some(text) = annotations.get(chunked::POSITION) {
            let Some(digest) = digest(chunked::DIGEST) else {
                return Err(Refused::new(format!("annotation {} missing", chunked::DIGEST)).into());
            };
            let position = Position::parse(text);
            let position = position.ok_or_else(|| Refused::new(format!("invalid position {text}")))?;
            return Ok(Some(Self::Chunked(position, digest?)));
        }
        Ok(digest(estargz::DIGEST).transpose()?.map(Self::Estargz))
    }

    pub(super) fn format(&self) -> Format {
        match self {
            Self::Estargz(_) => Format::Estargz,
            Self::Chunked(..) => Format::ZstdChunked,
        }
    }

    pub(super) fn digest(&self) -> &Digest {
        match self {
            Self::Estargz(digest) | Self::Chunked(_, digest) => digest,
        }
    }

    /// Fetches, verifies and parses the table.
    pub(super) fn fetch(&self, fetched: &mut Fetched, limits: &Limits) -> Result<Contents, TocError> {
        match self {
            Self::Estargz(digest) => fetch_estargz(digest, fetched, limits),
            Self::Chunked(position, digest) => fetch_chunked(*position, digest, fetched, limits),
        }
    }
}

fn fetch_chunked(
    position: Position,
    digest: &Digest,
    fetched: &mut Fetched,
    limits: &Limits,
) -> Result<Contents, TocError> {
    let (size, length) = (fetched.size(), position.length);
    if position.offset.checked_add(length).is_none_or(|end| end > size) {
        return Err(Refused::new("the table of contents is beyond the end of the layer").into());
    }
    bounded(length, limits)?;
    let turn = Turn::for_bytes(length);
    let stored = fetched.range(position.offset, length)?;
    let _turn = turn.begin();
    prove(digest, &stored)?;
    let json = chunked::inflate(&stored, position, limits)?;
    drop(stored);
    Ok(Contents::parse(&json, Format::ZstdChunked, position.data_end(), limits)?)
}

fn fetch_estargz(digest: &Digest, fetched: &mut Fetched, limits: &Limits) -> Result<Contents, TocError> {
    let size = fetched.size();
    let tail_at = size.saturating_sub(TAIL);
    let tail = fetched.range(tail_at, size - tail_at)?;
    let Some((offset, footer)) = estargz::footer(&tail) else {
        return Err(Refused::new("the layer has no eStargz footer").into());
    };
    let end = size.saturating_sub(footer as u64);
    if offset >= end {
        return Err(
            Refused::new("the footer points to a table of contents beyond the end of the layer").into()
        );
    }
    bounded(end - offset, limits)?;
    let turn = Turn::for_bytes(end - offset);
    let mut member = if offset < tail_at { fetched.range(offset, tail_at - offset)? } else { Vec::new() };
    let skipped = usize::try_from(offset.saturating_sub(tail_at)).unwrap_or(usize::MAX);
    let until = tail.len().saturating_sub(footer);
    member.extend_from_slice(tail.get(skipped..until).unwrap_or_default());
    let _turn = turn.begin();
    let found = estargz::inflate(&member, limits)?;
    prove(digest, &found.json)?;
    Ok(estargz::parse(&found, offset, end, limits)?)
}

/// Tables are decompressed and parsed one at a time, large ones also fetched one at a time, so that only one is in
/// memory.
struct Turn(Option<MutexGuard<'static, ()>>);

impl Turn {
    fn for_bytes(length: u64) -> Self {
        Self((length > LARGE).then(|| ONE_TABLE.lock().unwrap_or_else(PoisonError::into_inner)))
    }

    fn begin(self) -> MutexGuard<'static, ()> {
        self.0.unwrap_or_else(|| ONE_TABLE.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

fn bounded(length: u64, limits: &Limits) -> Result<(), Refused> {
    let most = limits.table_bytes;
    if length <= most {
        return Ok(());
    }
    Err(Refused::new(format!("the table of contents has {length} bytes, the limit is {most}")))
}

/// The digest verifies the manifest, which contains the digest of the table.
fn prove(claimed: &Digest, bytes: &[u8]) -> Result<(), TocError> {
    match digest::matches(claimed, bytes) {
        Some(true) => Ok(()),
        Some(false) => {
            let why =
                format!("the table of contents does not have the digest {claimed} declared by the manifest");
            Err(TocError { why: printable(&why), contradicts: true, cancelled: false })
        }
        None => Err(Refused::new(format!(
            "the digest {claimed} of the table of contents has an unknown algorithm"
        ))
        .into()),
    }
}
