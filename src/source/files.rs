//! Files by name: in a folder, in a plain archive, or retained from a stream.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::error::SourceError;
use super::image::{Blob, Image};
use crate::base::read_at::{self, LocalFile};
use crate::base::{Digest, Section, Warning, WarningCode};

/// Location of the documents and blobs of an image.
pub(super) struct Files {
    label: String,
    fault: Option<String>,
    place: FileOrigin,
}

enum FileOrigin {
    Folder(PathBuf),
    Archive(BTreeMap<String, Member>),
}

/// A member of an archive.
#[derive(Clone, Serialize, Deserialize)]
pub(super) enum Member {
    /// A small member, stored while the archive was streamed.
    Kept(Vec<u8>),
    /// Went to the sink.
    Streamed(usize),
    /// A link to another member.
    Link(String),
    /// Not a regular file, with the reason.
    Unusable(String),
    /// Can be read at any place. The last one: the numbers of a stored listing do not count it.
    #[serde(skip)]
    Section(Section),
}

/// Maximum links between members before they count as cyclic.
const MAX_LINKS: usize = 8;

impl Files {
    pub(super) fn folder(path: &Path) -> Result<Self, SourceError> {
        let label = crate::base::text::printable(&path.display().to_string());
        let facts = std::fs::metadata(path).map_err(|error| SourceError::open(&label, error))?;
        if !facts.is_dir() {
            return Err(SourceError::NotAnImage {
                object: label,
                reason: "not a folder".into(),
                hint: Some(
                    "open archives with oci-archive:FILE, docker-archive:FILE or the bare path".into(),
                ),
            });
        }
        Ok(Self { label, fault: None, place: FileOrigin::Folder(path.to_owned()) })
    }

    pub(super) fn archive(label: String, members: BTreeMap<String, Member>, fault: Option<String>) -> Self {
        Self { label, fault, place: FileOrigin::Archive(members) }
    }

    /// Why an archive could not be read to its end.
    pub(super) fn fault(&self) -> Option<&str> {
        self.fault.as_deref()
    }

    /// Marks an image of a damaged archive.
    pub(super) fn note_fault(&self, image: &mut Image) {
        if let Some(fault) = &self.fault {
            image.intact = false;
            let message = format!("cannot read the archive to its end: {fault}");
            image.warnings.push(Warning::new(WarningCode::ManifestOddity, &*self.label, message));
        }
    }

    /// Name of the source in errors.
    pub(super) fn label(&self) -> &str {
        &self.label
    }

    /// Name of a file of the source in errors.
    pub(super) fn label_of(&self, name: &str) -> String {
        format!("{} in {}", crate::base::text::printable(name), self.label)
    }

    pub(super) fn has(&self, name: &str) -> bool {
        match &self.place {
            FileOrigin::Folder(root) => root.join(name).symlink_metadata().is_ok(),
            FileOrigin::Archive(members) => members.contains_key(&normal(name)),
        }
    }

    /// Reads a small file completely.
    pub(super) fn read(&self, name: &str, limit: u64) -> Result<Vec<u8>, SourceError> {
        let object = || self.label_of(name);
        match self.member(name).map_err(|error| SourceError::open(object(), self.blame(error)))? {
            Member::Kept(bytes) => Ok(bytes),
            Member::Section(section) => {
                section.read_all(limit).map_err(|error| SourceError::open(object(), error))
            }
            Member::Streamed(_) | Member::Link(_) => Err(SourceError::Malformed {
                object: object(),
                reason: "not JSON, or too large for a document".into(),
            }),
            Member::Unusable(reason) => Err(SourceError::Malformed { object: object(), reason }),
        }
    }

    /// The bytes of a layer; faults are reported by [`Blob::Missing`].
    pub(super) fn blob(&self, name: &str) -> Blob {
        match self.member(name) {
            Ok(Member::Section(section)) => Blob::Section(section),
            Ok(Member::Streamed(id)) => Blob::Streamed(id),
            Ok(Member::Kept(_)) => Blob::Missing("a JSON document, not a layer".into()),
            Ok(Member::Link(_)) => Blob::Missing("cyclic link".into()),
            Ok(Member::Unusable(reason)) => Blob::Missing(reason),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let damage = self.fault().map(|fault| format!("; damaged archive: {fault}"));
                Blob::Missing(format!("no {}{}", self.label_of(name), damage.unwrap_or_default()))
            }
            Err(error) => Blob::Missing(format!("{}: {error}", self.label_of(name))),
        }
    }

    /// A missing file may be in the damaged part of an archive.
    fn blame(&self, error: io::Error) -> io::Error {
        match self.fault() {
            Some(fault) if error.kind() == io::ErrorKind::NotFound => {
                io::Error::new(io::ErrorKind::NotFound, format!("{error}; damaged archive: {fault}"))
            }
            _ => error,
        }
    }

    fn member(&self, name: &str) -> io::Result<Member> {
        match &self.place {
            FileOrigin::Folder(root) => {
                // Names come from digests and constants; a climbing name is rejected anyway.
                if name.starts_with('/') || name.split('/').any(|part| part == "..") {
                    return Err(io::Error::new(io::ErrorKind::InvalidInput, "the path escapes the folder"));
                }
                open_regular(&root.join(name)).map(Member::Section)
            }
            FileOrigin::Archive(members) => {
                let mut name = normal(name);
                for _ in 0..MAX_LINKS {
                    match members.get(&name) {
                        Some(Member::Link(target)) => name = normal(&beside(&name, target)),
                        Some(member) => return Ok(member.clone()),
                        None => return Err(io::ErrorKind::NotFound.into()),
                    }
                }
                Err(io::Error::other("cyclic links"))
            }
        }
    }
}

/// A regular file as a section.
pub(super) fn open_regular(path: &Path) -> io::Result<Section> {
    let file = read_at::open_regular(path)?;
    let length = file.metadata()?.len();
    Ok(Section::new(Arc::new(LocalFile::new(file)?), 0, length))
}

/// A member name without `./`, leading slashes and climbing parts.
pub(super) fn normal(name: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in name.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.join("/")
}

/// Digest in a member's name: `blobs/sha256/HEX` or `HEX.json`.
pub(super) fn digest_of_name(name: &str) -> Option<Digest> {
    let name = normal(name);
    let digest = match name.strip_prefix("blobs/") {
        Some(rest) => rest.replacen('/', ":", 1),
        None => format!("sha256:{}", name.strip_suffix(".json").unwrap_or(&name)),
    };
    digest.parse().ok()
}

/// A link target, relative to the folder of the link.
fn beside(link: &str, target: &str) -> String {
    if target.starts_with('/') {
        return target.to_owned();
    }
    match link.rsplit_once('/') {
        Some((folder, _)) => format!("{folder}/{target}"),
        None => target.to_owned(),
    }
}
