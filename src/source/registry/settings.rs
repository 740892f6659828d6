//! What the machine says of registries: mirrors and plain HTTP (registries.conf), certificates (certs.d).

use std::path::PathBuf;

use super::super::access::{Access, Tried};

/// A place that may hold a repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Endpoint {
    /// Host and port.
    pub(super) host: String,
    /// The repository there.
    pub(super) repository: String,
    /// Whether it may be reached by plain HTTP, or with a certificate that nobody vouches for.
    pub(super) insecure: bool,
    /// Whether it is a mirror, which may lack the image.
    pub(super) mirror: bool,
    /// Certificates (PEM files) that are trusted for it beside those of the system.
    pub(super) ca_files: Vec<PathBuf>,
    /// Certificate and key (PEM files) to show to it.
    pub(super) identity: Option<(PathBuf, PathBuf)>,
}

/// Where a repository is looked for, in order: mirrors first, the registry itself last.
#[derive(Clone, Debug, Default)]
pub(super) struct Places {
    pub(super) endpoints: Vec<Endpoint>,
    /// Files that were not usable, and why.
    pub(super) faults: Vec<Tried>,
    /// Why the registry may not be contacted at all.
    pub(super) blocked: Option<String>,
}

/// The places of a repository. `by_digest` when the image is named by digest: some mirrors serve only those.
pub(super) fn places(host: &str, repository: &str, by_digest: bool, access: &Access) -> Places {
    let _ = (by_digest, access);
    let host = if host == "docker.io" { "registry-1.docker.io" } else { host };
    let endpoint = Endpoint {
        host: host.to_owned(),
        repository: repository.to_owned(),
        insecure: false,
        mirror: false,
        ca_files: Vec::new(),
        identity: None,
    };
    Places { endpoints: vec![endpoint], ..Places::default() }
}
