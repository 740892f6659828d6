//! Errors of the network as readers see them.

use std::{fmt, io};

use super::super::error::SourceError;
use super::error::{Fault, RegistryError};
use crate::jobs::Cancelled;

/// An error of the network as readers see it.
#[derive(Debug)]
struct Broken(Box<RegistryError>);

impl fmt::Display for Broken {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.0.host, self.0.why())
    }
}

impl std::error::Error for Broken {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&*self.0)
    }
}

/// A network error for readers, with a kind that distinguishes truncated from invalid data.
pub(super) fn io_error(error: SourceError) -> io::Error {
    match error {
        SourceError::Cancelled(Cancelled) => Cancelled.into(),
        SourceError::Registry(error) => {
            let kind = match &error.fault {
                Fault::NotFound => io::ErrorKind::NotFound,
                Fault::Unauthorized | Fault::Forbidden => io::ErrorKind::PermissionDenied,
                Fault::Slow(_) => io::ErrorKind::TimedOut,
                Fault::WrongDigest(_) | Fault::TooLarge(_) => io::ErrorKind::InvalidData,
                _ => io::ErrorKind::ConnectionAborted,
            };
            io::Error::new(kind, Broken(error))
        }
        other => io::Error::new(io::ErrorKind::ConnectionAborted, other.to_string()),
    }
}
