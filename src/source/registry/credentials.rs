//! Where credentials for a registry may lie, in the order in which they are tried.

use super::super::access::{Access, Credential, Tried};

/// A credential, and where it was found, as messages name it.
#[derive(Clone, Debug)]
pub(super) struct Found {
    pub(super) way: String,
    pub(super) credential: Credential,
}

/// What the places have for a repository: all that were found, in order, and what became of the places without one.
#[derive(Clone, Debug, Default)]
pub(super) struct Search {
    pub(super) found: Vec<Found>,
    pub(super) tried: Vec<Tried>,
}

/// Looks for credentials of `host` (as in the reference) and `repository`.
pub(super) fn search(host: &str, repository: &str, access: &Access) -> Search {
    let _ = (host, repository, access);
    Search::default()
}
