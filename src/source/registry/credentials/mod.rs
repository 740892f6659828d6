//! Locations of registry credentials, in the order in which they are tried.
//!
//! Locations and file formats are those of Docker (`config.json`) and containers/image (containers-auth.json(5));
//! `~/.dockercfg` is omitted, because it is obsolete since 2015.

mod file;
mod helper;

use super::super::access::{Access, Credential, Tried};
use super::environment::{Environment, absent, read};
use crate::base::text::{elide_middle, printable};

/// Size limit of credential files, far more than the logins of one person.
const LARGEST_FILE: u64 = 16 << 20;

/// A credential and its location, for messages.
#[derive(Clone, Debug)]
pub(super) struct StoredCredential {
    pub(super) way: String,
    pub(super) credential: Credential,
}

/// Credentials of all locations in order, and why the other locations have none.
#[derive(Clone, Debug, Default)]
pub(super) struct Search {
    pub(super) found: Vec<StoredCredential>,
    pub(super) tried: Vec<Tried>,
}

/// Finds credentials for `host` (as in the reference) and `repository`: the login of this session, variables, Podman's
/// files, Docker's file. Reads files and may run credential helpers, each for at most ten seconds.
pub(super) fn search(host: &str, repository: &str, access: &Access) -> Search {
    search_in(&Environment::real(), host, repository, access)
}

fn search_in(environment: &Environment, host: &str, repository: &str, access: &Access) -> Search {
    let mut search = Search::default();
    search.take("this session's login", host, access.logins.get(host).ok_or_else(|| absent(host)));
    search.variables(environment, host);
    let wanted = file::Wanted { host, repository };
    if let Some(text) = &environment.docker_auth {
        search.document("DOCKER_AUTH_CONFIG", text.as_bytes(), &wanted, environment);
    }
    let podman = || {
        [Some(environment.runtime_auth.clone()), below(environment.config.as_ref(), "containers/auth.json")]
    };
    let files = match &environment.auth_file {
        Some(path) => vec![path.clone()],
        None => podman().into_iter().flatten().collect(),
    };
    for path in files.into_iter().chain(below(environment.docker.as_ref(), "config.json")) {
        let way = environment.shown(&path);
        match read(&path, LARGEST_FILE) {
            Ok(Some(bytes)) => search.document(&way, &bytes, &wanted, environment),
            Ok(None) => search.without(&way, "no such file"),
            Err(reason) => search.without(&way, &reason),
        }
    }
    search
}

impl Search {
    /// Adds the result of a location. The same credential is not tried twice: a registry may lock an account after a
    /// few wrong passwords.
    fn take(&mut self, way: &str, host: &str, credential: Result<Credential, String>) {
        match credential {
            Err(result) => self.without(way, &result),
            Ok(credential) => match self.found.iter().find(|found| found.credential == credential) {
                Some(found) => {
                    let result = format!("the same for {host} as {}", found.way);
                    self.without(way, &result);
                }
                None => self.found.push(StoredCredential { way: way.to_owned(), credential }),
            },
        }
    }

    fn without(&mut self, way: &str, result: &str) {
        self.tried.push(Tried { way: way.to_owned(), result: result.to_owned() });
    }

    fn variables(&mut self, environment: &Environment, host: &str) {
        let Some(named) = &environment.login_host else {
            let result = match environment.docker_auth {
                Some(_) => "CUTAWAY_REGISTRY_HOST is not set",
                None => "neither CUTAWAY_REGISTRY_HOST nor DOCKER_AUTH_CONFIG is set",
            };
            return self.without("the environment", result);
        };
        let way = "CUTAWAY_REGISTRY_HOST";
        let is_it =
            named.eq_ignore_ascii_case(host) || file::is_docker_hub(host) && file::is_docker_hub(named);
        if !is_it {
            // Some users write a URL, with the login in it.
            let named = named.rsplit('@').next().unwrap_or_default();
            let shown = elide_middle(&printable(named), 100);
            return self.without(way, &format!("for {shown}, not {host}"));
        }
        let password = environment.login_user.clone().zip(environment.login_password.clone());
        let credential = password
            .map(|(user, password)| Credential::Password { user, password })
            .or_else(|| environment.login_token.clone().map(Credential::Bearer));
        self.take(
            way,
            host,
            credential.ok_or_else(|| {
                "neither CUTAWAY_REGISTRY_USERNAME with CUTAWAY_REGISTRY_PASSWORD nor CUTAWAY_REGISTRY_TOKEN is set"
                    .to_owned()
            }),
        );
    }

    /// Searches one file: its helper for the host, its credential store, its entries.
    fn document(&mut self, way: &str, bytes: &[u8], wanted: &file::Wanted<'_>, environment: &Environment) {
        let document = match file::parse(bytes) {
            Ok(document) => document,
            Err(reason) => return self.without(way, &reason),
        };
        // A helper for the host replaces the rest of the file, as in Docker and Podman.
        if let Some((key, name)) = document.helper(wanted) {
            let credential = helper::ask(name, &[key], wanted.host, environment);
            return self.take(
                &format!("credHelpers of {way}: {}", helper::shown(name)),
                wanted.host,
                credential,
            );
        }
        let entry = document.entry(wanted);
        if let Some(name) = document.store() {
            let credential = helper::ask(name, &wanted.servers(), wanted.host, environment);
            self.take(&format!("credsStore of {way}: {}", helper::shown(name)), wanted.host, credential);
            // With a store, an entry only marks a login, unless it contains one itself.
            if entry.is_none() {
                return;
            }
        }
        self.take(way, wanted.host, entry.unwrap_or_else(|| Err(absent(wanted.host))));
    }
}

fn below(folder: Option<&std::path::PathBuf>, name: &str) -> Option<std::path::PathBuf> {
    folder.map(|folder| folder.join(name))
}

#[cfg(test)]
mod tests;
