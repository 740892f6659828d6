//! Names of places that images are written to.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use super::store::{
    ArchiveForm, ArchiveStore, EngineStore, FolderForm, FolderStore, ImageName, Origin, RegistryStore, single,
};
use super::{SlimError, Store};
use crate::base::text::printable;
use crate::jobs::CancelToken;
use crate::source::registry::full_name;
use crate::source::{Access, Image, Reference, Select, SourceError, redacted};

/// Where an image is written.
#[derive(Clone, Debug)]
pub struct Destination {
    text: String,
    kind: Kind,
}

#[derive(Clone, Debug)]
enum Kind {
    Folder { path: PathBuf, form: FolderForm },
    Archive { path: PathBuf, form: ArchiveForm },
    Registry(Reference),
    Engine(Reference, ImageName),
}

/// The forms, for messages and help.
const FORMS: &str = "oci:DIR[:TAG], oci-archive:FILE[:TAG], docker-archive:FILE[:REF], dir:DIR, docker://REF, \
    docker-daemon:REF, podman:REF";
/// Maximum length of a tag in a layout.
const TAG_BYTES: usize = 255;

impl FromStr for Destination {
    type Err = SlimError;

    fn from_str(text: &str) -> Result<Self, SlimError> {
        Self::parse(text)
    }
}

impl Destination {
    /// Parses a destination. Accesses the file system only to distinguish a path with a colon from a path with a tag.
    ///
    /// # Errors
    /// Not one of the forms, or with a name that an image cannot have there.
    pub fn parse(text: &str) -> Result<Self, SlimError> {
        let kind = kind(text)
            .map_err(|reason| SlimError::Destination { text: redacted(&printable(text)), reason })?;
        Ok(Self { text: text.to_owned(), kind })
    }

    /// The path, if it is a file or folder of this machine.
    pub fn path(&self) -> Option<&Path> {
        match &self.kind {
            Kind::Folder { path, .. } | Kind::Archive { path, .. } => Some(path),
            Kind::Registry(_) | Kind::Engine(..) => None,
        }
    }

    /// Refuses a file or folder that cannot be written, as [`Self::open`] does. Other kinds are checked when they are
    /// opened.
    ///
    /// # Errors
    /// Something else is there, or the folder that it would be in is not.
    pub fn check(&self) -> Result<(), SlimError> {
        match &self.kind {
            Kind::Folder { path, form } => FolderStore::check(path, form).map(drop),
            Kind::Archive { path, form } => ArchiveStore::check(path, form).map(drop),
            Kind::Registry(_) | Kind::Engine(..) => Ok(()),
        }
    }

    /// Refuses a destination that cannot hold images of several platforms under one name.
    ///
    /// # Errors
    /// It holds one.
    pub fn check_platforms(&self) -> Result<(), SlimError> {
        match &self.kind {
            Kind::Folder { form: FolderForm::Layout(_), .. }
            | Kind::Archive { form: ArchiveForm::Oci(_), .. }
            | Kind::Registry(_) => Ok(()),
            Kind::Folder { .. } | Kind::Archive { .. } | Kind::Engine(..) => Err(single(self.to_string())),
        }
    }

    /// Opens the destination for an image made from `source`. Nothing is visible there until it is published.
    ///
    /// # Errors
    /// The destination cannot be written to.
    pub fn open(
        &self,
        access: &Access,
        source: &Image,
        cancel: &CancelToken,
    ) -> Result<Box<dyn Store>, SlimError> {
        cancel.check()?;
        let origin = Origin { blobs: access.blobs.clone() };
        Ok(match &self.kind {
            Kind::Folder { path, form } => Box::new(FolderStore::open(path, form.clone(), origin)?),
            Kind::Archive { path, form } => Box::new(ArchiveStore::open(path, form.clone(), origin, cancel)?),
            Kind::Registry(reference) => {
                Box::new(RegistryStore::open(reference, access, source, origin, cancel)?)
            }
            Kind::Engine(reference, name) => {
                Box::new(EngineStore::open(reference, name.clone(), origin, cancel)?)
            }
        })
    }
}

/// The destination as given, redacted.
impl fmt::Display for Destination {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&redacted(&printable(&self.text)))
    }
}

fn kind(text: &str) -> Result<Kind, String> {
    const PREFIXES: [&str; 7] =
        ["oci:", "oci-archive:", "docker-archive:", "dir:", "docker://", "docker-daemon:", "podman:"];
    let Some(prefix) = PREFIXES.iter().find(|prefix| text.starts_with(**prefix)) else {
        return Err(format!("use one of {FORMS}"));
    };
    let reference = Reference::parse(text).map_err(|error| match error {
        SourceError::Reference { reason, .. } => reason,
        other => other.to_string(),
    })?;
    // Without a slash at the end, which would ask for a folder.
    let path: PathBuf = Path::new(&reference.location).components().collect();
    Ok(match *prefix {
        "oci:" => Kind::Folder { path, form: FolderForm::Layout(tag(&reference.select)?) },
        "dir:" => Kind::Folder { path, form: FolderForm::Flat },
        "oci-archive:" => Kind::Archive { path, form: ArchiveForm::Oci(tag(&reference.select)?) },
        "docker-archive:" => {
            let name = match &reference.select {
                Select::Only => None,
                Select::Name(name) => Some(image_name(name)?),
                Select::Digest(_) | Select::Place(_) => return Err(NOT_A_NAME.into()),
            };
            Kind::Archive { path, form: ArchiveForm::Docker(name) }
        }
        "docker://" => {
            full_name(&reference.location)?;
            Kind::Registry(reference)
        }
        _ => {
            let name = image_name(&reference.location)?;
            Kind::Engine(reference, name)
        }
    })
}

const NOT_A_NAME: &str = "a digest or a number cannot be chosen for a new image; use a tag";

/// The name of an image in an engine: as given, with a tag.
fn image_name(text: &str) -> Result<ImageName, String> {
    let full = full_name(text)?;
    let is_tagged = text.rsplit('/').next().is_some_and(|last| last.contains(':'));
    let name = if is_tagged { text.to_owned() } else { format!("{text}:latest") };
    Ok(ImageName { name, full })
}

/// The tag of an image in a layout.
fn tag(select: &Select) -> Result<Option<String>, String> {
    match select {
        Select::Only => Ok(None),
        Select::Name(tag) => {
            let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._:@/+".contains(&byte);
            let ends = |c: char| c.is_ascii_alphanumeric();
            if tag.len() <= TAG_BYTES
                && tag.bytes().all(plain)
                && tag.starts_with(ends)
                && tag.ends_with(ends)
            {
                return Ok(Some(tag.clone()));
            }
            Err(format!("invalid tag '{}'", printable(tag)))
        }
        Select::Digest(_) | Select::Place(_) => Err(NOT_A_NAME.into()),
    }
}
