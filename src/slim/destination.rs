//! Names of places that images are written to.

use std::fmt;
use std::path::{Path, PathBuf};

use super::store::{LayoutStore, Origin};
use super::{SlimError, Store};
use crate::base::text::printable;
use crate::jobs::CancelToken;
use crate::source::{Access, Image, Reference, Select, redacted};

/// Where an image is written.
#[derive(Clone, Debug)]
pub struct Destination {
    text: String,
    kind: Kind,
}

#[derive(Clone, Debug)]
enum Kind {
    Layout { folder: PathBuf, tag: Option<String> },
}

/// The forms, for messages and help.
const FORMS: &str = "oci:DIR[:TAG], oci-archive:FILE[:TAG], docker-archive:FILE[:REF], dir:DIR, docker://REF, \
    docker-daemon:REF, podman:REF";
/// Maximum length of a tag in a layout.
const TAG_BYTES: usize = 255;

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
            Kind::Layout { folder, .. } => Some(folder),
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
        let _ = source;
        let origin = Origin { blobs: access.blobs.clone() };
        Ok(match &self.kind {
            Kind::Layout { folder, tag } => Box::new(LayoutStore::open(folder, tag.as_deref(), origin)?),
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
    let prefixes = ["oci:"];
    let Some(prefix) = prefixes.iter().find(|prefix| text.starts_with(**prefix)) else {
        return Err(format!("use one of {FORMS}"));
    };
    let reference = Reference::parse(text).map_err(|error| error.to_string())?;
    let path = || PathBuf::from(&reference.location);
    Ok(match *prefix {
        "oci:" => Kind::Layout { folder: path(), tag: tag(&reference.select)? },
        _ => return Err(format!("use one of {FORMS}")),
    })
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
        Select::Digest(_) | Select::Place(_) => {
            Err("a digest or a number cannot be chosen for a new image; use a tag".into())
        }
    }
}
