//! Lists the images of this machine's engines.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use bollard::models::ImageSummary;
use tokio::task::JoinSet;

use super::super::access::Tried;
use super::super::runtime::wait;
use super::client::{Client, Failure, bytes, full_id, names};
use super::host::Host;
use super::name::is_name;
use super::places::{self, Endpoint, EngineSelection};
use crate::base::text::counted;
use crate::jobs::CancelToken;

/// An image of an engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalImage {
    /// Name of the engine, such as `docker` or `podman (rootless)`.
    pub engine: String,
    /// The reference that opens it, such as `docker-daemon:nginx:latest`.
    pub reference: String,
    /// Its id: a digest.
    pub id: String,
    /// Its names with tags, safe to show; none for an image that lost them.
    pub tags: Vec<String>,
    /// Unpacked size reported by the engine, shared layers included; `None` if not reported.
    pub bytes: Option<u64>,
    /// Creation time, in seconds since 1970.
    pub created: Option<i64>,
}

/// Images of this machine's engines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listing {
    /// Images, newest first.
    pub images: Vec<LocalImage>,
    /// Sockets that were tried, and the results.
    pub tried: Vec<Tried>,
}

/// How long an engine may take to list its images.
const LIST: Duration = Duration::from_secs(3);
/// Time limit of engines when the answer is optional.
const HOLDS: Duration = Duration::from_secs(1);
/// Maximum images listed.
const MOST: usize = 10_000;
/// Last second of the year 9999; later creation times are invalid.
const LAST: i64 = 253_402_300_799;

/// The images of one engine.
struct Answer {
    engine: &'static str,
    /// Whether references with the podman transport use it.
    podman: bool,
    images: Vec<LocalImage>,
}

/// Queries the engines of this machine. Engines that do not answer in time are omitted and named.
pub fn list(cancel: &CancelToken) -> Listing {
    let places = places::here(EngineSelection::All);
    let podmans = places::here(EngineSelection::Podman);
    let answers = each(&places, LIST, cancel, |client| async move {
        let images = client.list().await?;
        Ok((images, client.is_podman().await?))
    });
    let mut listing = Listing::default();
    let mut given: Vec<Answer> = Vec::new();
    for (place, answer) in places.iter().zip(answers) {
        let result = match answer {
            Ok((images, is_podman)) => {
                let podman = podmans.iter().any(|other| other.is_at(place));
                let engine = engine(place, is_podman);
                let images: Vec<LocalImage> = images.into_iter().take(MOST).filter_map(local).collect();
                let result = format!("{engine} has {}", counted(images.len() as u64, "image"));
                given.push(Answer { engine, podman, images });
                result
            }
            // Variables that are not set are not sockets.
            Err(Failure::Unusable(unusable)) if unusable.reason == "not set" => continue,
            Err(failure) => failure.to_string(),
        };
        listing.tried.push(Tried { way: place.way.clone(), result });
    }
    listing.images = referenced(given);
    listing.images.sort_by(|one, other| {
        (other.created, &one.tags, &one.reference).cmp(&(one.created, &other.tags, &other.reference))
    });
    listing.images.truncate(MOST);
    listing
}

/// The reference that opens the image of this name from a local engine, if one has it. Waits at most a second; an
/// engine without an answer counts as not having it.
pub fn holds(name: &str, cancel: &CancelToken) -> Option<String> {
    let full: Arc<str> = full_name(name)?.into();
    let places = places::here(EngineSelection::All);
    let podmans = places::here(EngineSelection::Podman);
    let answers = each(&places, HOLDS, cancel, |client| {
        let full = Arc::clone(&full);
        async move { client.inspect(&full).await }
    });
    let (place, _) = places.iter().zip(answers).find(|(_, answer)| answer.is_ok())?;
    let is_podmans = podmans.iter().any(|other| other.is_at(place));
    Some(if is_podmans { format!("podman:{full}") } else { format!("docker-daemon:{name}") })
}

/// The full name at a registry: engines would resolve a short one by their own configuration.
fn full_name(name: &str) -> Option<String> {
    if !is_name(name) {
        return None;
    }
    let first = name.split_once('/').map(|(first, _)| first);
    Some(match first {
        Some(host) if host == "localhost" || host.contains(['.', ':']) => name.to_owned(),
        Some(_) => format!("docker.io/{name}"),
        None => format!("docker.io/library/{name}"),
    })
}

/// Queries all locations in parallel; answers in the order of the locations.
fn each<T: Send + 'static, W: Future<Output = Result<T, Failure>> + Send + 'static>(
    places: &[Endpoint],
    limit: Duration,
    cancel: &CancelToken,
    question: impl Fn(Client) -> W,
) -> Vec<Result<T, Failure>> {
    let clients = places
        .iter()
        .map(|place| place.host.clone().map_err(Failure::Unusable).and_then(|host| Client::new(&host)));
    let mut answers: Vec<Option<Result<T, Failure>>> = Vec::new();
    let asked = async {
        let mut questions = JoinSet::new();
        for (at, client) in clients.enumerate() {
            answers.push(client.as_ref().err().map(|failure| Err(failure.clone())));
            if let Ok(client) = client {
                let work = question(client);
                questions.spawn(async move { (at, tokio::time::timeout(limit, work).await) });
            }
        }
        while let Some(done) = questions.join_next().await {
            let Ok((at, Ok(answer))) = done else { continue };
            if let Some(slot) = answers.get_mut(at) {
                *slot = Some(answer);
            }
        }
    };
    // Each request ends by its own limit; this wait ends earlier only if cancelled.
    let ended = wait(cancel, limit.saturating_mul(2), asked);
    answers.resize_with(places.len(), || None);
    let unanswered = match ended {
        Ok(_) => Failure::TimedOut(limit),
        Err(cancelled) => Failure::Other(cancelled.to_string()),
    };
    answers.into_iter().map(|answer| answer.unwrap_or_else(|| Err(unanswered.clone()))).collect()
}

/// Display name of the engine.
fn engine(place: &Endpoint, is_podman: bool) -> &'static str {
    match &place.host {
        _ if !is_podman => "docker",
        Ok(Host::Unix(path)) if places::is_roots(path) => "podman (rootful)",
        Ok(Host::Unix(_)) => "podman (rootless)",
        _ => "podman",
    }
}

/// Plausible facts about an image; engine and reference are added later.
fn local(image: ImageSummary) -> Option<LocalImage> {
    Some(LocalImage {
        engine: String::new(),
        reference: String::new(),
        id: full_id(&image.id)?,
        tags: names(image.repo_tags),
        bytes: bytes(Some(image.size)),
        created: Some(image.created).filter(|created| (1..=LAST).contains(created)),
    })
}

/// Images that earlier engines would open by a name: their id, or `None` if ambiguous.
#[derive(Default)]
struct Before(BTreeMap<String, Option<String>>);

impl Before {
    fn add(&mut self, image: &LocalImage) {
        for tag in &image.tags {
            // Podman matches a short name as the end of a full one.
            let ends = tag.match_indices('/').map(|(at, _)| &tag[at + 1..]);
            for name in std::iter::once(tag.as_str()).chain(ends) {
                let id = self.0.entry(name.to_owned()).or_insert_with(|| Some(image.id.clone()));
                id.take_if(|id| *id != image.id);
            }
        }
    }

    /// Whether no earlier engine opens another image by this name.
    fn leaves(&self, name: &str, image: &LocalImage) -> bool {
        self.0.get(name).is_none_or(|id| id.as_ref() == Some(&image.id))
    }
}

/// Assigns each image the reference that opens it: its first name, unless an earlier engine has another image of this
/// name, else its id.
fn referenced(answers: Vec<Answer>) -> Vec<LocalImage> {
    let (mut all, mut podmans) = (Before::default(), Before::default());
    let mut images = Vec::new();
    for Answer { engine, podman, images: mut held } in answers {
        let (scheme, before) = if podman { ("podman", &podmans) } else { ("docker-daemon", &all) };
        for image in &mut held {
            let first = image.tags.first().filter(|tag| is_name(tag) && before.leaves(tag, image));
            image.reference = format!("{scheme}:{}", first.unwrap_or(&image.id));
            engine.clone_into(&mut image.engine);
        }
        for image in &held {
            all.add(image);
            if podman {
                podmans.add(image);
            }
        }
        images.extend(held);
    }
    images
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image(id: &str, tags: &[&str]) -> LocalImage {
        LocalImage {
            engine: String::new(),
            reference: String::new(),
            id: format!("sha256:{id}"),
            tags: tags.iter().map(|tag| (*tag).to_owned()).collect(),
            bytes: None,
            created: None,
        }
    }

    #[test]
    fn a_reference_opens_the_image_it_stands_beside() {
        let docker = vec![image("1", &["x:1", "y:1"]), image("2", &[]), image("3", &["not a name"])];
        let rootless = vec![image("4", &["docker.io/library/x:1"]), image("5", &["localhost/z:1"])];
        let rootful =
            vec![image("6", &["localhost/z:1"]), image("5", &["localhost/z:1"]), image("7", &["z:1"])];
        let answers = vec![
            Answer { engine: "docker", podman: false, images: docker },
            Answer { engine: "podman (rootless)", podman: true, images: rootless },
            Answer { engine: "podman (rootful)", podman: true, images: rootful },
        ];
        let references: Vec<String> = referenced(answers).into_iter().map(|image| image.reference).collect();
        let expected = [
            "docker-daemon:x:1",
            "docker-daemon:sha256:2",
            "docker-daemon:sha256:3",
            "podman:docker.io/library/x:1",
            "podman:localhost/z:1",
            "podman:sha256:6",
            "podman:localhost/z:1",
            // A short name means the first that ends in it.
            "podman:sha256:7",
        ];
        assert_eq!(references, expected);
    }

    #[test]
    fn names_at_registries_are_asked_for_in_full() {
        for (name, full) in [
            ("nginx", Some("docker.io/library/nginx")),
            ("me/app:1", Some("docker.io/me/app:1")),
            ("ghcr.io/me/app", Some("ghcr.io/me/app")),
            ("localhost/app", Some("localhost/app")),
            ("h:5000/app", Some("h:5000/app")),
            ("a b", None),
        ] {
            assert_eq!(full_name(name).as_deref(), full, "{name}");
        }
    }
}
