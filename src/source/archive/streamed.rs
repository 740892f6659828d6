//! Members of a streamed archive.

use std::collections::BTreeMap;
use std::io::{BufRead, Read as _};

use super::super::context::{OpenContext, StreamedMember};
use super::super::error::SourceError;
use super::super::files::{Member, digest_of_name};
use super::members::{Members, advance, insert, other_member};
use crate::formats::compression::SNIFF_BYTES;
use crate::formats::input::StreamInput;
use crate::formats::tar::{MemberKind, TarWalk, is_header};
use crate::jobs::Cancelled;

/// Walks the tar from `reader`: documents are stored, possible layers go to the sink.
pub(in crate::source) fn members(
    label: &str,
    reader: impl BufRead,
    context: &mut OpenContext<'_>,
) -> Result<Members, SourceError> {
    let (limits, cancel) = (context.limits, context.cancel);
    let mut walk = TarWalk::new(StreamInput::new(reader, None, limits.inflated_bytes, cancel), limits);
    let mut members = (BTreeMap::new(), 0);
    let mut kept_bytes = [0; 2];
    let mut fault = None;
    while advance(&mut walk, cancel, &mut fault)? {
        let (kind, size, stored) = (walk.member().kind, walk.member().size, walk.member().stored);
        let path = walk.member().path.clone();
        let found = match kind {
            MemberKind::File if size != stored => Member::Unusable("sparse member of the archive".into()),
            MemberKind::File => {
                let mut start = Vec::with_capacity(SNIFF_BYTES);
                let sniffed = walk.by_ref().take(SNIFF_BYTES as u64).read_to_end(&mut start);
                if let Err(error) = sniffed {
                    Cancelled::check_error(&error)?;
                    fault = Some(error.to_string());
                    break;
                }
                if looks_like_json(&start) && stored <= limits.json_bytes {
                    let kept = &mut kept_bytes[usize::from(stored > COMMON_DOCUMENT)];
                    *kept += stored;
                    if *kept > limits.archive_json_total {
                        let most = limits.archive_json_total;
                        Member::Unusable(format!(
                            "not kept: the documents of the archive exceed {most} bytes"
                        ))
                    } else if let Err(error) = walk.read_to_end(&mut start) {
                        Cancelled::check_error(&error)?;
                        fault = Some(error.to_string());
                        break;
                    } else {
                        Member::Kept(start)
                    }
                } else {
                    let digest = digest_of_name(&String::from_utf8_lossy(&path));
                    let member =
                        StreamedMember { name: crate::base::text::escape(&path), size: stored, digest };
                    Member::Streamed(context.sink.layer(&member, &mut start.as_slice().chain(&mut walk))?)
                }
            }
            kind => match other_member(kind, &path, &walk.member().link) {
                Some(member) => member,
                None => continue,
            },
        };
        insert(&mut members, &path, found, label, limits)?;
    }
    if fault.is_none()
        && let Err(error) = walk.into_input().drain()
    {
        Cancelled::check_error(&error)?;
        fault = Some(error.to_string());
    }
    Ok((members.0, fault))
}

/// Indexes, manifests and configs are smaller than this.
const COMMON_DOCUMENT: u64 = 1 << 20;

fn looks_like_json(start: &[u8]) -> bool {
    let first = start.iter().find(|byte| !byte.is_ascii_whitespace());
    matches!(first, Some(b'{' | b'[')) && !is_header(start)
}
