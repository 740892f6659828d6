//! Access to registries and engines: options, and the logins of this session.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use crate::cache::Blobs;

/// How registries and engines are reached.
#[derive(Clone, Debug, Default)]
pub struct Access {
    /// Talk plain HTTP to registries. Registries on the loopback are tried without it, too.
    pub plain_http: bool,
    /// A file with certificates (PEM) that are trusted beside those of the system.
    pub ca_file: Option<PathBuf>,
    /// What the user entered in this session.
    pub logins: Logins,
    /// Where layers from registries are kept as they are; `None` to keep only what was found in them.
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
    /// A refresh token that is exchanged for an access token (OAuth 2), as `docker login` keeps it for some
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

/// Logins that last as long as the program, by host. Clones share them; nothing of it is ever written.
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

/// An attempt and its result: a credential source, a mirror, a socket.
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
