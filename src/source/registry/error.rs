//! Why a registry did not give what was asked.

use std::fmt;
use std::time::Duration;

use super::super::access::Tried;

/// What went wrong, told apart as far as the user can act on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The name of the host is not known.
    UnknownHost,
    /// Nobody answers there.
    Unreachable(String),
    /// The connection is not trusted.
    Certificate(String),
    /// The server shows the certificate of a CA as its own.
    CaAsServer,
    /// The server talks plain HTTP.
    PlainHttp,
    /// The registry wants to know who asks, or does not accept what it was told (401).
    Unauthorized,
    /// Who asks may not have it (403).
    Forbidden,
    /// There is no such thing (404).
    NotFound,
    /// Too many requests (429); how long to wait, when it says so.
    TooMany(Option<Duration>),
    /// The registry is in trouble (5xx).
    Server(u16),
    /// An answer that is none of a registry.
    NotARegistry(String),
    /// What came does not have the digest that it should.
    WrongDigest(String),
    /// The connection broke, again and again.
    Cut(String),
    /// Nothing came for too long.
    Slow(Duration),
    /// A document larger than any of its kind.
    TooLarge(u64),
    /// A file with certificates or settings that cannot be used.
    Settings(String),
}

/// Why a registry did not give what was asked. Nothing in it is secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegistryError {
    /// Host and port, as in the reference.
    pub host: String,
    /// The repository.
    pub repository: String,
    /// What was asked for, such as `the manifest of latest`.
    pub wanted: String,
    /// Why.
    pub fault: Fault,
    /// What the registry said about it.
    pub said: Option<String>,
    /// Credentials, mirrors and attempts that were tried, with what came of each.
    pub tried: Vec<Tried>,
}

impl fmt::Display for RegistryError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "cannot get {} of {} from {}", self.wanted, self.repository, self.host)
    }
}

impl std::error::Error for RegistryError {}

impl RegistryError {
    /// What the user can do about it.
    pub fn hint(&self) -> Option<String> {
        None
    }

    /// The host to log in to, when that may help.
    pub fn login(&self) -> Option<&str> {
        matches!(self.fault, Fault::Unauthorized | Fault::Forbidden).then_some(self.host.as_str())
    }
}
