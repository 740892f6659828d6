//! Images of container engines on this machine, through their API: docker, podman.
//!
//! # Design
//!
//! **Engines** are queried by bollard through their socket. The stream of `docker save` goes into the walk
//! for compressed archives (`source/archive`): layers go to the sink as they pass, documents are retained,
//! and everything is joined at the end, wherever the manifest is. A new image is loaded from an archive of the
//! same form (`engine/load`).

mod client;
mod context;
mod host;
mod list;
mod load;
mod name;
mod places;
mod save;
mod stream;

use std::time::Duration;

pub use list::{Listing, LocalImage, holds, list};
pub use load::{Engine, EngineError};
pub use places::{EngineHosts, use_hosts};

use super::access::Tried;
use super::context::OpenContext;
use super::context::Select;
use super::error::{Invalid, SourceError};
use super::image::Image;
use super::reference::{Reference, Transport};
use super::runtime::wait;
use crate::base::text::printable;
use crate::jobs::{CancelToken, Cancelled};
use client::{Client, EngineImage, Failure};
use name::{Name, is_name};
use places::{Endpoint, EngineSelection};

/// A container engine's socket.
pub(super) static ENGINE: Transport = Transport {
    name: "engine",
    prefixes: &["docker-daemon:", "docker:", "podman:"],
    form: "docker-daemon:REF, podman:REF",
    about: "image in the local Docker or Podman engine",
    is_path: false,
    parse: |text| match text.trim_start_matches("//") {
        name if name.is_empty() || is_name(name) => Ok((name, Select::Only)),
        _ => Err(Invalid::new(
            "container engines identify images by name and tag, digest, or id",
            "use docker-daemon:NAME:TAG, docker-daemon:sha256:ID or podman:NAME:TAG",
        )),
    },
    detect: |_| false,
    open,
};

/// Time limit for the facts of one image: a socket-activated engine needs seconds.
const INSPECT: Duration = Duration::from_secs(10);

/// Opens an image of an engine by streaming what `docker save` would write, once and without a copy.
fn open(reference: &Reference, context: &mut OpenContext<'_>) -> Result<Image, SourceError> {
    let name = Name::new(&reference.location);
    let asked = selection(reference);
    let mut failures: Vec<(Endpoint, Failure)> = Vec::new();
    for place in places::here(asked) {
        let result = match ask(&place, &name, context.cancel)? {
            Ok((client, held)) => {
                if failures.iter().any(|(other, _)| other.host.is_ok()) {
                    context.progress.tell(format!("{name} is in {}", place.way));
                }
                save::open(&place, &client, &held, &name, context)?
            }
            Err(failure) => Err(failure),
        };
        match result {
            Ok(image) => return Ok(image),
            Err(failure) => failures.push((place, failure)),
        }
    }
    let hint = Some(hint(&failures, &name));
    let tried = failures
        .into_iter()
        .map(|(place, failure)| Tried { way: place.way, result: failure.to_string() })
        .collect();
    Err(SourceError::Engine { object: name.to_string(), tried, hint })
}

/// The engines that a reference means.
fn selection(reference: &Reference) -> EngineSelection {
    if reference.text.starts_with("podman:") { EngineSelection::Podman } else { EngineSelection::All }
}

/// Facts of the engine at `place` about the image.
fn ask(
    place: &Endpoint,
    name: &Name,
    cancel: &CancelToken,
) -> Result<Result<(Client, EngineImage), Failure>, Cancelled> {
    let client = match place.host.clone().map_err(Failure::Unusable).and_then(|host| Client::new(&host)) {
        Ok(client) => client,
        Err(failure) => return Ok(Err(failure)),
    };
    let answer = wait(cancel, INSPECT, client.inspect(name.as_requested()))?;
    Ok(answer.unwrap_or(Err(Failure::TimedOut(INSPECT))).map(|held| (client, held)))
}

/// Hint if no engine provided the image: from the most specific failure.
fn hint(failures: &[(Endpoint, Failure)], name: &Name) -> String {
    let of = |fits: &dyn Fn(&Failure) -> bool| failures.iter().find(|(_, failure)| fits(failure));
    let save = format!("docker save -o image.tar {name}, then open image.tar");
    if of(&|failure| matches!(failure, Failure::NotAllowed)).is_some() {
        return format!("add the user to the group docker, or have an authorized user run {save}");
    }
    let address = failures.iter().find_map(|(_, failure)| match failure {
        Failure::Unusable(unusable) => unusable.hint.clone(),
        _ => None,
    });
    if let Some(address) = address {
        return printable(&address);
    }
    if of(&|failure| matches!(failure, Failure::NoSuchImage)).is_some() {
        let list = "list local images with `docker images` or `podman images`";
        return match name.at_registry() {
            Some(name) => format!("{list}; read it from its registry with docker://{name}"),
            None => list.to_owned(),
        };
    }
    if of(&|failure| matches!(failure, Failure::TimedOut(_) | Failure::Other(_))).is_some() {
        return save;
    }
    format!(
        "start an engine, such as `systemctl --user start podman.socket`; or, on the machine with the image, {save}"
    )
}
