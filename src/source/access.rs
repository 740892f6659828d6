//! Access to registries and engines: options, and the logins of this session.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use crate::cache::Blobs;

/// Access to registries and engines.
#[derive(Clone, Debug, Default)]
pub struct Access {
    /// Use plain HTTP for registries. On the loopback interface it is tried even without this option.
    pub plain_http: bool,
    /// A PEM file of certificates that are trusted in addition to the system's.
    pub ca_file: Option<PathBuf>,
    /// Logins entered in this session.
    pub logins: Logins,
    /// The blob cache for layers from registries; `None` to cache only analysis results.
    pub blobs: Option<Blobs>,
}

/// Credentials for a registry. `Debug` shows the kind only.
#[derive(Clone, PartialEq, Eq)]
pub enum Credential {
    /// A name and a password or access token.
    Password {
        /// The name.
        user: String,
        /// The password.
        password: String,
    },
    /// A refresh token that is exchanged for an access token (OAuth 2), as `docker login` stores it for some
    /// registries.
    IdentityToken(String),
    /// A token that is sent unchanged.
    Bearer(String),
}

impl fmt::Debug for Credential {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Password { .. } => "Password(..)",
            Self::IdentityToken(_) => "IdentityToken(..)",
            Self::Bearer(_) => "Bearer(..)",
        })
    }
}

/// Logins of this process, by host. Clones share them; they are never written to disk.
#[derive(Clone, Default)]
pub struct Logins(Arc<Mutex<BTreeMap<String, Credential>>>);

impl Logins {
    /// Uses this login for `host` (with its port, as in the reference) from now on.
    pub fn set(&self, host: &str, credential: Credential) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(host.to_owned(), credential);
    }

    /// Forgets the login for `host`.
    pub fn forget(&self, host: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(host);
    }

    /// The login for `host`.
    pub fn get(&self, host: &str) -> Option<Credential> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(host).cloned()
    }
}

impl fmt::Debug for Logins {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let logins = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        formatter.debug_set().entries(logins.keys()).finish()
    }
}

/// An attempt and its result, for a credential source, a mirror or a socket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tried {
    /// The way, such as `credHelpers in config.json` or the path of a socket. Safe to show.
    pub way: String,
    /// Result, such as `no entry for ghcr.io`. Safe to show.
    pub result: String,
}

impl fmt::Display for Tried {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.way, self.result)
    }
}
