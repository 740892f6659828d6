//! Locations of engines, in the order in which they are tried.

use std::path::Path;
use std::sync::{PoisonError, RwLock};

use super::context::{self, EngineEnvironment};
use super::host::{self, Host, Unusable};

/// A possible location of an engine.
#[derive(Clone, Debug)]
pub(super) struct Endpoint {
    /// Display name, safe to show.
    pub(super) way: String,
    /// Whether it is one of podman's.
    podman: bool,
    /// Its address, or why there is none.
    pub(super) host: Result<Host, Unusable>,
}

/// Engines selected by a reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EngineSelection {
    /// Those of docker, then podman.
    All,
    /// Podman only.
    Podman,
}

impl Endpoint {
    /// Whether both are the same socket.
    pub(super) fn is_at(&self, other: &Self) -> bool {
        let real = |host: &Host| match host {
            Host::Unix(path) => Host::Unix(std::fs::canonicalize(path).unwrap_or_else(|_| path.clone())),
            Host::Tcp(_) => host.clone(),
        };
        matches!((&self.host, &other.host), (Ok(one), Ok(other)) if real(one) == real(other))
    }
}

/// Addresses of engines from the user's settings, which the environment overrides.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EngineHosts {
    /// Used if `DOCKER_HOST` is not set.
    pub docker: Option<String>,
    /// Used if `CONTAINER_HOST` is not set.
    pub podman: Option<String>,
}

/// One for the process, as the environment variables are that it stands in for.
static HOSTS: RwLock<EngineHosts> = RwLock::new(EngineHosts { docker: None, podman: None });

/// Sets the addresses that are used where the environment has none, from now on.
pub fn use_hosts(hosts: EngineHosts) {
    *HOSTS.write().unwrap_or_else(PoisonError::into_inner) = hosts;
}

/// Locations of this machine for a reference, in order, each once.
pub(super) fn here(asked: EngineSelection) -> Vec<Endpoint> {
    let lookup = |name: &str| std::env::var(name).ok();
    let hosts = HOSTS.read().unwrap_or_else(PoisonError::into_inner).clone();
    once(all(&EngineEnvironment::new(&lookup, rustix::process::getuid().as_raw()), &hosts, asked))
}

fn all(around: &EngineEnvironment<'_>, hosts: &EngineHosts, asked: EngineSelection) -> Vec<Endpoint> {
    let mut places = Vec::new();
    let run = around.variable("XDG_RUNTIME_DIR").unwrap_or_else(|| format!("/run/user/{}", around.user));
    let tls = around.variable("DOCKER_TLS_VERIFY").or_else(|| around.variable("DOCKER_TLS")).is_some();
    let named = |way: String, podman: bool, address: Option<String>, tls: bool| match address {
        Some(address) => {
            let way = format!("{way} ({})", host::shown(&address));
            Endpoint { way, podman, host: host::parse(&address, tls) }
        }
        None => Endpoint { way, podman, host: Err(Unusable { reason: "not set".into(), hint: None }) },
    };
    let socket = |way: &str, podman: bool, path: String| {
        named(way.to_owned(), podman, Some(format!("unix://{path}")), false)
    };
    let docker = around.variable("DOCKER_HOST");
    let of_settings = hosts.docker.clone().filter(|_| docker.is_none());
    places.push(named("DOCKER_HOST".into(), false, docker, tls));
    if of_settings.is_some() {
        places.push(named("docker_host in the settings".into(), false, of_settings, tls));
    }
    if let Some(context) = context::current(around) {
        let way = format!("docker context {}", context.name);
        places.push(match context.host {
            Ok((address, tls)) => named(way, false, Some(address), tls),
            Err(reason) => Endpoint { way, podman: false, host: Err(Unusable { reason, hint: None }) },
        });
    }
    places.push(socket("docker", false, "/var/run/docker.sock".into()));
    places.push(socket("rootless docker", false, format!("{run}/docker.sock")));
    if let Some(home) = around.variable("HOME") {
        places.push(socket("rootless docker", false, format!("{home}/.docker/run/docker.sock")));
        places.push(socket("docker desktop", false, format!("{home}/.docker/desktop/docker.sock")));
    }
    let podman = around.variable("CONTAINER_HOST");
    let of_settings = hosts.podman.clone().filter(|_| podman.is_none());
    places.push(named("CONTAINER_HOST".into(), true, podman, false));
    if of_settings.is_some() {
        places.push(named("podman_host in the settings".into(), true, of_settings, false));
    }
    places.push(socket("rootless podman", true, format!("{run}/podman/podman.sock")));
    places.push(socket("rootful podman", true, "/run/podman/podman.sock".into()));
    places.retain(|place| asked == EngineSelection::All || place.podman);
    places
}

/// Merges locations with the same socket, under the name of the first.
fn once(places: Vec<Endpoint>) -> Vec<Endpoint> {
    let mut kept: Vec<Endpoint> = Vec::with_capacity(places.len());
    for place in places {
        if !kept.iter().any(|other| other.is_at(&place)) {
            kept.push(place);
        }
    }
    kept
}

/// Whether the socket belongs to root.
pub(super) fn is_roots(path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    path.metadata().is_ok_and(|facts| facts.uid() == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(variables: &[(&str, &str)], asked: EngineSelection) -> Vec<Endpoint> {
        let lookup = |name: &str| {
            variables.iter().find(|(variable, _)| *variable == name).map(|(_, value)| (*value).to_owned())
        };
        once(all(&EngineEnvironment::new(&lookup, 1234), &EngineHosts::default(), asked))
    }

    fn ways(variables: &[(&str, &str)], asked: EngineSelection) -> Vec<String> {
        found(variables, asked).into_iter().map(|place| place.way).collect()
    }

    #[test]
    fn places_come_in_the_order_of_the_contract() {
        let docker = [
            "DOCKER_HOST (tcp://h:1)",
            "docker (unix:///var/run/docker.sock)",
            "rootless docker (unix:///run/user/1234/docker.sock)",
            "rootless docker (unix:///h/.docker/run/docker.sock)",
            "docker desktop (unix:///h/.docker/desktop/docker.sock)",
        ];
        let podman = [
            "CONTAINER_HOST",
            "rootless podman (unix:///run/user/1234/podman/podman.sock)",
            "rootful podman (unix:///run/podman/podman.sock)",
        ];
        let variables = [("DOCKER_HOST", "tcp://h:1"), ("HOME", "/h")];
        assert_eq!(ways(&variables, EngineSelection::All), [&docker[..], &podman[..]].concat());
        assert_eq!(ways(&variables, EngineSelection::Podman), podman);
    }

    #[test]
    fn a_socket_that_two_ways_reach_is_asked_once() {
        let place = "unix:///run/podman/podman.sock";
        let both = [("DOCKER_HOST", place), ("CONTAINER_HOST", "unix:///run/podman/../podman/podman.sock")];
        let count = |asked| ways(&both, asked).iter().filter(|way| way.contains(place)).count();
        assert_eq!(count(EngineSelection::All), 1);
        assert_eq!(count(EngineSelection::Podman), 1);
    }

    #[test]
    fn empty_variables_are_not_set() {
        let empty = [("DOCKER_HOST", ""), ("XDG_RUNTIME_DIR", "")];
        assert_eq!(ways(&empty, EngineSelection::All), ways(&[], EngineSelection::All));
        assert!(
            found(&empty, EngineSelection::All)[0]
                .host
                .as_ref()
                .is_err_and(|fault| fault.reason == "not set")
        );
    }

    #[test]
    fn the_settings_stand_in_for_variables_that_are_not_set() {
        let hosts = EngineHosts { docker: Some("tcp://d:1".into()), podman: Some("unix:///p".into()) };
        let ways = |variables: &[(&str, &str)]| -> Vec<String> {
            let lookup = |name: &str| {
                variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
            };
            let places = all(&EngineEnvironment::new(&lookup, 1234), &hosts, EngineSelection::All);
            places.into_iter().map(|place| place.way).filter(|way| way.contains("settings")).collect()
        };
        assert_eq!(
            ways(&[]),
            ["docker_host in the settings (tcp://d:1)", "podman_host in the settings (unix:///p)"]
        );
        assert_eq!(ways(&[("DOCKER_HOST", "tcp://h:1"), ("CONTAINER_HOST", "unix:///c")]), [""; 0]);
    }
}
