//! The members of an archive, plain or streamed.

use std::collections::BTreeMap;

use super::super::error::SourceError;
use super::super::files::{Member, normal};
use crate::base::Limits;
use crate::formats::tar::{MemberKind, TarError, TarInput, TarWalk};
use crate::jobs::{CancelToken, Cancelled};

/// Members by name, and why the archive could not be read to its end.
pub(in crate::source) type Members = (BTreeMap<String, Member>, Option<String>);

pub(super) fn advance<I: TarInput>(
    walk: &mut TarWalk<I>,
    cancel: &CancelToken,
    fault: &mut Option<String>,
) -> Result<bool, SourceError> {
    cancel.check()?;
    match walk.advance() {
        Ok(more) => Ok(more),
        Err(TarError::Read { source, .. }) if Cancelled::is_cause_of(&source) => Err(Cancelled.into()),
        // A damaged archive is usable up to the damage; missing layers are reported.
        Err(error) => {
            *fault = Some(error.to_string());
            Ok(false)
        }
    }
}

/// Members and the bytes of their names.
pub(super) type Gathered = (BTreeMap<String, Member>, usize);

pub(super) fn insert(
    members: &mut Gathered,
    path: &[u8],
    member: Member,
    label: &str,
    limits: &Limits,
) -> Result<(), SourceError> {
    members.1 += path.len() + if let Member::Link(target) = &member { target.len() } else { 0 };
    let malformed = |reason: String| SourceError::Malformed { object: label.into(), reason };
    if members.0.len() >= limits.archive_members {
        let most = limits.archive_members;
        return Err(malformed(format!("more than {most} members; an image archive has some hundreds")));
    }
    if members.1 > limits.archive_name_bytes {
        return Err(malformed(format!("names of members exceed {} bytes", limits.archive_name_bytes)));
    }
    members.0.insert(normal(&String::from_utf8_lossy(path)), member);
    Ok(())
}

/// What a member that is not a regular file is; `None` for folders.
pub(super) fn other_member(kind: MemberKind, path: &[u8], link: &[u8]) -> Option<Member> {
    match kind {
        MemberKind::Directory => None,
        MemberKind::Symlink => Some(Member::Link(String::from_utf8_lossy(link).into_owned())),
        // Hard links name members from the root of the archive.
        MemberKind::HardLink => Some(Member::Link(format!("/{}", String::from_utf8_lossy(link)))),
        _ => {
            let path = crate::base::text::escape(path);
            Some(Member::Unusable(format!("{path} in the archive is a device or pipe, not a file")))
        }
    }
}
