//! Cached listing of an archive or engine stream, so that it need not be read again.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::super::context::{OpenContext, SourceKey};
use super::super::files::Member;

/// Serialised form of a member.
#[derive(Serialize, Deserialize)]
enum Kept {
    Document(Vec<u8>),
    Layer(usize),
    Link(String),
    Unusable(String),
}

impl Kept {
    fn of(member: &Member) -> Option<Self> {
        Some(match member {
            Member::Kept(bytes) => Self::Document(bytes.to_vec()),
            Member::Streamed(id) => Self::Layer(*id),
            Member::Link(target) => Self::Link(target.clone()),
            Member::Unusable(why) => Self::Unusable(why.clone()),
            Member::Section(_) => return None,
        })
    }
}

impl From<Kept> for Member {
    fn from(kept: Kept) -> Self {
        match kept {
            Kept::Document(bytes) => Self::Kept(bytes.into()),
            Kept::Layer(id) => Self::Streamed(id),
            Kept::Link(target) => Self::Link(target),
            // The text comes from a cache file and is shown: escape it.
            Kept::Unusable(why) => Self::Unusable(crate::base::text::printable(&why)),
        }
    }
}

/// The members in the form that [`recall`] reads; `None` if one of them cannot be serialised.
pub(in crate::source) fn to_bytes(members: &BTreeMap<String, Member>) -> Option<Vec<u8>> {
    let kept: Option<Vec<(&String, Kept)>> =
        members.iter().map(|(name, member)| Some((name, Kept::of(member)?))).collect();
    postcard::to_allocvec(&kept?).ok()
}

/// The members of an earlier read, if all of its layers are known.
pub(in crate::source) fn recall(
    key: &SourceKey,
    context: &mut OpenContext<'_>,
) -> Option<BTreeMap<String, Member>> {
    let bytes = context.sink.recall(key)?;
    let members: Vec<(String, Kept)> = postcard::from_bytes(&bytes).ok()?;
    Some(members.into_iter().map(|(name, kept)| (name, kept.into())).collect())
}
