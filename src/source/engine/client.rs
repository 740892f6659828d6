//! Requests to an engine's API and their answers. Podman answers like Docker.

use std::io::{self, ErrorKind};
use std::pin::pin;
use std::time::Duration;

use bollard::errors::Error;
use bollard::models::{ImageInspect, ImageSummary};
use bollard::query_parameters::{ImportImageOptionsBuilder, ListImagesOptions};
use bollard::{API_DEFAULT_VERSION, Docker};
use bytes::Bytes;
use futures_util::Stream;

use super::host::{Host, Unusable};
use crate::base::text::{elide_end, printable};

/// Why an engine does not provide the image.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Failure {
    /// Unusable address.
    #[error("{}", .0.reason)]
    Unusable(Unusable),
    /// No such socket, or no listener.
    #[error("{0}")]
    NoListener(String),
    /// Permission denied.
    #[error("permission denied")]
    NotAllowed,
    /// No answer within this time.
    #[error("no answer within {} s", .0.as_secs())]
    TimedOut(Duration),
    /// No such image.
    #[error("no such image")]
    NoSuchImage,
    /// Any other failure, as a clause that is safe to show.
    #[error("{0}")]
    Other(String),
}

/// An engine's facts about an image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct EngineImage {
    /// Its id: the digest of its config, or in containerd's image store that of its manifest or index.
    pub(super) id: String,
    pub(super) tags: Vec<String>,
    /// Digests of the uncompressed layers, bottom first.
    pub(super) diff_ids: Vec<String>,
    /// Unpacked size.
    pub(super) bytes: Option<u64>,
}

/// A connection to one engine; created for each request.
#[derive(Clone)]
pub(super) struct Client(Docker);

/// Time limits are set per request; that of the library only must not be shorter.
const LIBRARY_LIMIT: u64 = 24 * 60 * 60;
/// Maximum length of an engine's error message.
const MAX_MESSAGE_BYTES: usize = 300;
/// Maximum stored names of one image.
pub(super) const TAGS: usize = 100;
/// Maximum length of a name: a registry allows 255 bytes, a tag 128.
pub(super) const NAME_BYTES: usize = 512;

impl Client {
    pub(super) fn new(host: &Host) -> Result<Self, Failure> {
        let docker = match host {
            Host::Unix(path) => Docker::connect_with_unix(
                path.to_str().ok_or(Failure::Other("path is not UTF-8".into()))?,
                LIBRARY_LIMIT,
                API_DEFAULT_VERSION,
            ),
            Host::Tcp(authority) => Docker::connect_with_http(authority, LIBRARY_LIMIT, API_DEFAULT_VERSION),
        };
        docker.map(Self).map_err(|error| meaning(&error))
    }

    /// Facts about an image.
    pub(super) async fn inspect(&self, name: &str) -> Result<EngineImage, Failure> {
        let ImageInspect { id, repo_tags, root_fs, size, .. } =
            self.0.inspect_image(name).await.map_err(|error| meaning(&error))?;
        let id = id.ok_or(Failure::Other("no image in the answer".into()))?;
        Ok(EngineImage {
            id: full_id(&id).ok_or(Failure::Other("no digest as image id in the answer".into()))?,
            tags: names(repo_tags.unwrap_or_default()),
            diff_ids: root_fs.and_then(|layers| layers.layers).unwrap_or_default(),
            bytes: bytes(size),
        })
    }

    /// All images except intermediate ones.
    pub(super) async fn list(&self) -> Result<Vec<ImageSummary>, Failure> {
        self.0.list_images(None::<ListImagesOptions>).await.map_err(|error| meaning(&error))
    }

    /// Whether it is podman.
    pub(super) async fn is_podman(&self) -> Result<bool, Failure> {
        let version = self.0.version().await.map_err(|error| meaning(&error))?;
        let parts = version.components.unwrap_or_default();
        Ok(parts.iter().any(|part| part.name.to_ascii_lowercase().contains("podman")))
    }

    /// Whether it answers at all.
    pub(super) async fn ping(&self) -> Result<(), Failure> {
        self.0.ping().await.map(|_| ()).map_err(|error| meaning(&error))
    }

    /// Loads an archive, as `docker load` does.
    pub(super) async fn load(
        &self,
        archive: impl Stream<Item = io::Result<Bytes>> + Send + 'static,
    ) -> Result<(), Failure> {
        use futures_util::StreamExt as _;

        let options = ImportImageOptionsBuilder::default().quiet(true).build();
        let mut answers = pin!(self.0.import_image(options, bollard::body_try_stream(archive), None));
        while let Some(answer) = answers.next().await {
            answer.map_err(|error| meaning(&error))?;
        }
        Ok(())
    }

    /// What `docker save` would write.
    pub(super) fn save(
        &self,
        name: &str,
    ) -> impl Stream<Item = Result<impl AsRef<[u8]> + Send + use<>, Failure>> + Unpin + Send + use<> {
        use futures_util::StreamExt as _;

        Box::pin(self.0.export_image(name).map(|chunk| chunk.map_err(|error| meaning(&error))))
    }
}

/// An id as `sha256:` and 64 digits.
pub(super) fn full_id(id: &str) -> Option<String> {
    let hex = id.strip_prefix("sha256:").unwrap_or(id);
    let plain = hex.len() == 64 && hex.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    plain.then(|| format!("sha256:{hex}"))
}

/// Names with tags, without placeholders: some engines list an image without names as `<none>:<none>`.
pub(super) fn names(tags: Vec<String>) -> Vec<String> {
    let named = |tag: &String| !tag.is_empty() && !tag.starts_with("<none>") && tag.len() <= NAME_BYTES;
    tags.into_iter().filter(named).take(TAGS).map(|tag| printable(&tag)).collect()
}

/// A plausible size: nonzero, and not larger than any disk.
pub(super) fn bytes(size: Option<i64>) -> Option<u64> {
    const MOST: u64 = 1 << 50;
    size.and_then(|size| u64::try_from(size).ok()).filter(|size| (1..=MOST).contains(size))
}

fn meaning(error: &Error) -> Failure {
    match error {
        Error::SocketNotFoundError(_) => return Failure::NoListener("no such socket".into()),
        Error::DockerResponseServerError { status_code: 404, .. } => return Failure::NoSuchImage,
        Error::DockerResponseServerError { status_code, message } => {
            let message = elide_end(&printable(message.trim()), MAX_MESSAGE_BYTES);
            let said = if message.is_empty() { String::new() } else { format!(": {message}") };
            return Failure::Other(format!("HTTP status {status_code}{said}"));
        }
        Error::DockerStreamError { error } => {
            return Failure::Other(elide_end(&printable(error.trim()), MAX_MESSAGE_BYTES));
        }
        Error::JsonDataError { .. } | Error::JsonSerdeError { .. } => {
            return Failure::Other("not an answer of a container engine".into());
        }
        _ => {}
    }
    let mut cause: &(dyn std::error::Error + 'static) = error;
    let mut system = None;
    while let Some(next) = cause.source() {
        cause = next;
        system = cause.downcast_ref::<io::Error>().map(io::Error::kind).or(system);
    }
    match system {
        Some(ErrorKind::PermissionDenied) => Failure::NotAllowed,
        Some(ErrorKind::NotFound) => Failure::NoListener("no such socket".into()),
        Some(ErrorKind::ConnectionRefused) => Failure::NoListener("connection refused".into()),
        _ => Failure::Other(elide_end(&printable(&cause.to_string()), MAX_MESSAGE_BYTES)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_digests_are_ids() {
        let hex = "0f".repeat(32);
        let full = format!("sha256:{hex}");
        assert_eq!(full_id(&hex).as_deref(), Some(full.as_str()));
        assert_eq!(full_id(&full), Some(full));
        for wrong in ["", "sha256:", "sha256:12", &"0F".repeat(32), &"../".repeat(22)] {
            assert_eq!(full_id(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn sizes_and_names_that_make_no_sense_are_none() {
        for size in [None, Some(-1), Some(0), Some(i64::MAX)] {
            assert_eq!(bytes(size), None, "{size:?}");
        }
        assert_eq!(bytes(Some(7)), Some(7));
        let long = "n".repeat(NAME_BYTES + 1);
        let tags = ["<none>:<none>", "", &long, "a:1", "b\u{1b}[2J:1"].map(str::to_owned);
        assert_eq!(names(tags.to_vec()), ["a:1", "b\\x1b[2J:1"]);
        assert_eq!(names(vec!["a:1".to_owned(); TAGS + 5]).len(), TAGS);
    }
}
