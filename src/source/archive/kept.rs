//! Cached listing of an archive or engine stream, so that it need not be read again.

use std::collections::BTreeMap;

use super::super::context::{OpenContext, SourceKey};
use super::super::files::Member;
use crate::base::text::printable;

/// The members in the form that [`recall`] reads; `None` if one of them cannot be serialised.
pub(in crate::source) fn to_bytes(members: &BTreeMap<String, Member>) -> Option<Vec<u8>> {
    postcard::to_allocvec(members).ok()
}

/// The members of an earlier read, if all of its layers are known.
pub(in crate::source) fn recall(
    key: &SourceKey,
    context: &mut OpenContext<'_>,
) -> Option<BTreeMap<String, Member>> {
    let bytes = context.sink.recall(key)?;
    let mut members: BTreeMap<String, Member> = postcard::from_bytes(&bytes).ok()?;
    for member in members.values_mut() {
        // The text comes from a cache file and is shown: escape it.
        if let Member::Unusable(why) = member {
            *why = printable(why);
        }
    }
    Some(members)
}
