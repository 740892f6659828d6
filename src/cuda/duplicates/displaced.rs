//! Libraries of the toolkit or the system that Python packages load only if the process has not loaded the
//! packages' own copy before.

use std::collections::BTreeMap;

use super::stands_in;
use crate::cuda::links::Links;
use crate::cuda::value::{Displaced, Library, Role, Supplier};

/// The displaced libraries, by library index; `groups` contains library indexes by name.
pub(super) fn find(
    libraries: &[Library],
    links: &Links,
    groups: &BTreeMap<String, Vec<usize>>,
) -> Vec<Displaced> {
    let mut found: Vec<Displaced> = Vec::new();
    for (place, library) in libraries.iter().enumerate() {
        let outside = matches!(library.supplier, Supplier::Toolkit | Supplier::Distro);
        let plain = library.role == Role::Runtime && library.hard_link_of.is_none();
        if !outside || !plain || links.displaced.binary_search(&library.object).is_err() {
            continue;
        }
        let members = groups.values().find(|members| members.contains(&place));
        let copies = members.into_iter().flatten().filter_map(|copy| {
            let loaders = links.preloaders.get(&libraries[*copy].object)?;
            Some((*copy, loaders))
        });
        let mut copies = copies.peekable();
        if copies.peek().is_none() {
            // Only displaced libraries load it.
            found.push(Displaced { library: place, by: None, loaders: Vec::new() });
        } else if let Some((copy, loaders)) = copies.find(|(copy, _)| stands_in(library, &libraries[*copy])) {
            found.push(Displaced { library: place, by: Some(copy), loaders: loaders.clone() });
        }
    }
    if found.iter().all(|one| one.by.is_none()) {
        return Vec::new();
    }
    found
}
