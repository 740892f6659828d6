//! Registry settings of the machine: mirrors and plain HTTP (registries.conf), certificates (certs.d).
//!
//! As in containers/image: containers-registries.conf(5), containers-registries.conf.d(5), containers-certs.d(5).
//! `unqualified-search-registries` and `[aliases]` are not used: a name without a host is on Docker Hub, as in Docker.

mod certificates;
mod conf;

use std::path::PathBuf;

use toml::Spanned;

use super::super::access::Tried;
use super::environment::Environment;

/// Host of docker.io.
pub(super) const DOCKER_HUB: &str = "registry-1.docker.io";

/// A location of a repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Endpoint {
    /// Host and port.
    pub(super) host: String,
    /// The repository there.
    pub(super) repository: String,
    /// Whether plain HTTP or an untrusted certificate is allowed.
    pub(super) insecure: bool,
    /// Whether it is a mirror, which may lack the image.
    pub(super) mirror: bool,
    /// Certificates (PEM files) that are trusted in addition to the system's.
    pub(super) ca_files: Vec<PathBuf>,
    /// Client certificate and key (PEM files).
    pub(super) identity: Option<(PathBuf, PathBuf)>,
}

/// Locations of a repository, in order: mirrors first, the registry last.
#[derive(Clone, Debug, Default)]
pub(super) struct Places {
    pub(super) endpoints: Vec<Endpoint>,
    /// Unusable files, with the reasons.
    pub(super) faults: Vec<Tried>,
    /// Why the registry may not be contacted at all.
    pub(super) blocked: Option<String>,
}

/// Locations of a repository. `by_digest` if the image is named by digest: some mirrors serve only those.
/// Command line options apply to every location.
pub(super) fn places(host: &str, repository: &str, by_digest: bool) -> Places {
    places_in(&Environment::real(), host, repository, by_digest)
}

fn places_in(environment: &Environment, host: &str, repository: &str, by_digest: bool) -> Places {
    let mut places = Places::default();
    let name = format!("{host}/{repository}");
    let registries = conf::read_all(environment, &mut places.faults);
    let Some((registry, matched)) = conf::choose(&registries, &name) else {
        places.add(&name, false, false, environment);
        return places;
    };
    if registry.blocked {
        places.blocked = Some(format!("{} blocks {}", registry.file, registry.prefix));
        return places;
    }
    let rest = name.get(matched..).unwrap_or_default();
    for mirror in registry.mirrors.iter().map(Spanned::get_ref).filter(|mirror| mirror.serves(by_digest)) {
        places.add(&format!("{}{rest}", mirror.location), mirror.insecure, true, environment);
    }
    // A wildcard without a location rewrites nothing.
    let own = match registry.location.as_str() {
        "" => name,
        location => format!("{location}{rest}"),
    };
    places.add(&own, registry.insecure, false, environment);
    places
}

impl Places {
    fn add(&mut self, name: &str, insecure: bool, mirror: bool, environment: &Environment) {
        let Some((host, repository)) = name.split_once('/').filter(|(_, repository)| !repository.is_empty())
        else {
            self.faults.push(Tried {
                way: "registries.conf".into(),
                result: format!("location {} has no repository", crate::base::text::printable(name)),
            });
            return;
        };
        // Docker Hub's API host differs from the name in references; certificate folders may use either.
        let hosts = if host == "docker.io" { vec![host, DOCKER_HUB] } else { vec![host] };
        let certificates = certificates::of(&hosts, environment, &mut self.faults);
        let host = hosts.last().copied().unwrap_or(host);
        self.endpoints.push(Endpoint {
            host: host.to_owned(),
            repository: repository.to_owned(),
            insecure,
            mirror,
            ca_files: certificates.ca_files,
            identity: certificates.identity,
        });
    }
}

#[cfg(test)]
mod tests;
