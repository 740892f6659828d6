//! Gives an image to an engine, as `docker load` does.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream;

use super::super::reference::Reference;
use super::super::runtime::wait;
use super::client::{Client, Failure};
use super::name::Name;
use super::places::{self, EngineSelection};
use super::{INSPECT, selection};
use crate::base::text::printable;
use crate::jobs::{CancelToken, Cancelled};

/// Time limit for loading: an engine unpacks every layer before it answers.
const LOAD: Duration = Duration::from_hours(1);
/// Bytes sent at once.
const PIECE: u64 = 1 << 20;

/// Why an engine does not take an image. Contains no secret.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// Reason, with what was tried.
    #[error("{reason}")]
    Failed {
        /// Why.
        reason: String,
        /// What to try.
        hint: Option<String>,
    },
    /// Cancelled.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
}

/// A running engine.
pub struct Engine {
    client: Client,
    way: String,
    name: Name,
}

impl Engine {
    /// The first engine that answers, of those that the reference means.
    ///
    /// # Errors
    /// None answers; all that were tried are named.
    pub fn find(reference: &Reference, cancel: &CancelToken) -> Result<Self, EngineError> {
        let mut tried = Vec::new();
        for place in places::here(selection(reference)) {
            let client = place.host.clone().map_err(Failure::Unusable).and_then(|host| Client::new(&host));
            let answer = match client {
                Ok(client) => match wait(cancel, INSPECT, client.ping())? {
                    Some(answer) => answer.map(|()| client),
                    None => Err(Failure::TimedOut(INSPECT)),
                },
                Err(failure) => Err(failure),
            };
            match answer {
                Ok(client) => {
                    return Ok(Self { client, way: place.way, name: Name::new(&reference.location) });
                }
                Err(failure) => tried.push(format!("{}: {failure}", place.way)),
            }
        }
        let start = match selection(reference) {
            EngineSelection::Podman => "start one, such as `systemctl --user start podman.socket`",
            EngineSelection::All => "start one, such as `systemctl start docker`, or set DOCKER_HOST",
        };
        let reason = format!("no container engine answers: {}", tried.join(", "));
        Err(EngineError::Failed { reason, hint: Some(format!("{start}; or write docker-archive:FILE")) })
    }

    /// Which engine it is, for messages.
    pub fn label(&self) -> &str {
        &self.way
    }

    /// Loads an archive of `docker save` that names the image.
    ///
    /// # Errors
    /// The archive cannot be read, or what the engine answers.
    pub fn load(&self, archive: &Path, cancel: &CancelToken) -> Result<(), EngineError> {
        let failed = |reason: String, hint: Option<String>| EngineError::Failed { reason, hint };
        let file = File::open(archive).map_err(|error| failed(error.to_string(), None))?;
        let loaded =
            wait(cancel, LOAD, self.client.load(pieces(file)))?.unwrap_or(Err(Failure::TimedOut(LOAD)));
        let manual =
            || Some(format!("write docker-archive:FILE, then `docker load -i FILE` for {}", self.name));
        loaded.map_err(|failure| failed(format!("{} answers: {failure}", self.way), manual()))?;
        // Some engines report a failure as a success.
        let held = wait(cancel, INSPECT, self.client.inspect(self.name.as_requested()))?
            .unwrap_or(Err(Failure::TimedOut(INSPECT)));
        held.map_err(|failure| {
            let reason = format!("{} took the image, but does not have {}: {failure}", self.way, self.name);
            failed(printable(&reason), manual())
        })?;
        Ok(())
    }
}

/// The bytes of a file, as a stream.
fn pieces(file: File) -> impl futures_util::Stream<Item = io::Result<Bytes>> + Send + 'static {
    stream::unfold(Some(file), async |file| {
        let mut file = file?;
        let mut piece = Vec::new();
        match Read::by_ref(&mut file).take(PIECE).read_to_end(&mut piece) {
            Ok(0) => None,
            Ok(_) => Some((Ok(Bytes::from(piece)), Some(file))),
            Err(error) => Some((Err(error), None)),
        }
    })
}
