//! The grammar of image references: the transports of containers/image, and bare paths.

use std::path::Path;
use std::str::FromStr as _;

use super::engine;
use super::error::SourceError;
use super::samples::Sample;
use crate::base::Digest;

/// Transport of an image reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// OCI image layout folder.
    Oci,
    /// The same in a tar.
    OciArchive,
    /// What `docker save` writes.
    DockerArchive,
    /// Skopeo's flat folder.
    Dir,
    /// An unpacked root filesystem.
    Rootfs,
    /// A built-in sample.
    Sample(Sample),
    /// A registry.
    Registry,
    /// A container engine's socket.
    Engine,
    /// An archive, detected by content.
    Archive,
    /// A path, detected by content.
    Path,
}

impl Transport {
    /// The name used in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Oci => "oci",
            Self::OciArchive => "oci-archive",
            Self::DockerArchive => "docker-archive",
            Self::Dir => "dir",
            Self::Rootfs => "rootfs",
            Self::Sample(_) => "sample",
            Self::Registry => "registry",
            Self::Engine => "engine",
            Self::Archive => "archive",
            Self::Path => "path",
        }
    }
}

/// Selects one of several images of a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Select {
    /// The only one.
    Only,
    /// By name or tag.
    Name(String),
    /// By the digest of its manifest or index.
    Digest(Digest),
    /// By its place in a docker archive, from 0.
    Place(usize),
}

/// A parsed image reference.
#[derive(Clone, Debug)]
pub struct Reference {
    /// The transport.
    pub transport: Transport,
    /// The path, or the name at a registry or engine.
    pub location: String,
    /// Selects one of the images there.
    pub select: Select,
    /// The text as it was given.
    pub text: String,
}

impl Reference {
    /// Parses a reference. Accesses the file system only to distinguish a path with a colon from a path with a tag, and
    /// a bare path from a name.
    ///
    /// # Errors
    /// Invalid reference.
    pub fn parse(text: &str) -> Result<Self, SourceError> {
        let bad = |reason: &str, hint: Option<&str>| SourceError::Reference {
            text: crate::base::redact::reference(&crate::base::text::printable(text)),
            reason: reason.into(),
            hint: hint.map(str::to_owned),
        };
        if text.is_empty() || text.contains('\0') {
            return Err(bad("empty or with a zero byte", None));
        }
        let (scheme, rest) = text.split_once(':').unwrap_or(("", text));
        let transport = match scheme {
            "oci" => Transport::Oci,
            "oci-archive" => Transport::OciArchive,
            "docker-archive" => Transport::DockerArchive,
            "dir" => Transport::Dir,
            "rootfs" => Transport::Rootfs,
            "sample" => {
                let sample = Sample::named(rest)
                    .ok_or_else(|| bad("unknown sample", Some("expected sample:devel or sample:runtime")))?;
                Transport::Sample(sample)
            }
            "registry" => Transport::Registry,
            "docker" if rest.starts_with("//") => Transport::Registry,
            "docker-daemon" | "docker" | "podman" => Transport::Engine,
            _ => return Self::bare(text, bad),
        };
        let rest = match transport {
            Transport::Registry | Transport::Engine => rest.trim_start_matches("//"),
            _ => rest,
        };
        if rest.is_empty() {
            return Err(bad("nothing after the transport", None));
        }
        if transport == Transport::Engine && !engine::is_name(rest) {
            return Err(bad(
                "container engines identify images by name and tag, digest, or id",
                Some("use docker-daemon:NAME:TAG, docker-daemon:sha256:ID or podman:NAME:TAG"),
            ));
        }
        let (location, select) = match transport {
            Transport::Oci | Transport::OciArchive | Transport::DockerArchive => {
                split_select(rest).map_err(|digest| bad(&format!("invalid digest '{digest}'"), None))?
            }
            _ => (rest, Select::Only),
        };
        Ok(Self { transport, location: location.into(), select, text: text.into() })
    }

    fn bare(text: &str, bad: impl Fn(&str, Option<&str>) -> SourceError) -> Result<Self, SourceError> {
        let made = |transport, location: &str, select| Self {
            transport,
            location: location.into(),
            select,
            text: text.into(),
        };
        if Path::new(text).symlink_metadata().is_ok() {
            return Ok(made(Transport::Path, text, Select::Only));
        }
        // A path followed by a name, if the path exists.
        if let Ok((location, select)) = split_select(text)
            && Path::new(location).symlink_metadata().is_ok()
        {
            return Ok(made(Transport::Path, location, select));
        }
        let archive = [".tar", ".tgz", ".tar.gz", ".tar.zst"].iter().any(|end| text.ends_with(end));
        if text.starts_with(['/', '.', '~']) || archive {
            return Ok(made(Transport::Path, text, Select::Only));
        }
        let registry_name = text.bytes().all(|byte| {
            byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b':' | b'.' | b'-' | b'_' | b'@')
        }) && text.starts_with(|c: char| c.is_ascii_alphanumeric());
        if registry_name {
            return Ok(made(Transport::Registry, text, Select::Only));
        }
        Err(bad(
            "no such path, and not a valid image name",
            Some(
                "use oci:DIR, oci-archive:FILE, docker-archive:FILE, dir:DIR, rootfs:DIR, sample:devel, or a path",
            ),
        ))
    }
}

/// Splits `PATH[:NAME]` or `PATH[@DIGEST]`. The longest prefix that exists is the path; when none
/// does, the path ends at the first colon, as containers/image has it.
fn split_select(text: &str) -> Result<(&str, Select), &str> {
    if Path::new(text).symlink_metadata().is_ok() {
        return Ok((text, Select::Only));
    }
    let splits = || text.match_indices([':', '@']).map(|(place, _)| place);
    let existing =
        splits().rev().find(|place| *place > 0 && Path::new(&text[..*place]).symlink_metadata().is_ok());
    let Some(place) = existing.or_else(|| splits().find(|place| *place > 0)) else {
        return Ok((text, Select::Only));
    };
    let (path, rest) = (&text[..place], &text[place + 1..]);
    let by_digest = text[place..].starts_with('@');
    let select = if by_digest {
        Select::Digest(Digest::from_str(rest).map_err(|_| rest)?)
    } else if let Some(number) = rest.strip_prefix('@').and_then(|number| number.parse().ok()) {
        Select::Place(number)
    } else if let Some(digest) = rest.strip_prefix('@') {
        Select::Digest(Digest::from_str(digest).map_err(|_| digest)?)
    } else if rest.is_empty() {
        Select::Only
    } else {
        Select::Name(rest.into())
    };
    Ok((path, select))
}
