//! Image references, and what a transport is.

use std::fmt;
use std::path::Path;
use std::str::FromStr as _;

use super::context::{OpenContext, Select};
use super::detect::is_json;
use super::error::{Invalid, SourceError};
use super::image::Image;
use crate::base::Digest;

/// A kind of source: how references name it, how a path is recognised as one, and how it is opened. A new one is added
/// to the list in `transports.rs`.
pub struct Transport {
    /// Name in reports.
    pub name: &'static str,
    /// Beginnings of references.
    pub(super) prefixes: &'static [&'static str],
    /// Form of its references, for the help.
    pub(super) form: &'static str,
    /// What it is, for the help.
    pub(super) about: &'static str,
    /// Whether its locations are paths, which have no user info.
    pub(super) is_path: bool,
    /// Splits what follows the prefix: the location, and which of the images there.
    pub(super) parse: fn(&str) -> Result<(&str, Select), Invalid>,
    /// Whether an existing path without a prefix is one.
    pub(super) detect: fn(&Path) -> bool,
    /// Opens an image.
    pub(super) open: fn(&Reference, &mut OpenContext<'_>) -> Result<Image, SourceError>,
}

impl Transport {
    /// Length of the prefix of this transport in a reference, and whether a path follows.
    pub(super) fn prefix_of(&self, text: &str) -> Option<(usize, bool)> {
        let prefix = self.prefixes.iter().find(|prefix| text.starts_with(**prefix))?;
        Some((prefix.len(), self.is_path))
    }
}

impl fmt::Debug for Transport {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name)
    }
}

/// A parsed image reference.
#[derive(Clone, Debug)]
pub struct Reference {
    /// The transport; `None` for a path whose content tells it.
    pub transport: Option<&'static Transport>,
    /// The path, or the name at a registry or engine.
    pub location: String,
    /// Selects one of the images there.
    pub select: Select,
    /// The text as it was given.
    pub text: String,
}

impl Reference {
    /// The path, if the image is a file or folder of this machine.
    pub fn path(&self) -> Option<&Path> {
        self.transport.is_none_or(|transport| transport.is_path).then(|| Path::new(&self.location))
    }

    /// The manifest with this digest at the same place.
    pub fn with_digest(&self, digest: &Digest) -> Self {
        if self.transport.is_none_or(|transport| transport.is_path) {
            return Self { select: Select::Digest(digest.clone()), ..self.clone() };
        }
        let name = self.location.split('@').next().unwrap_or_default();
        Self { location: format!("{name}@{digest}"), ..self.clone() }
    }

    /// The path of a JSON document that was given as an image: possibly a saved report.
    pub fn json_file(&self) -> Option<&Path> {
        let path = Path::new(&self.location);
        (self.transport.is_none() && self.select == Select::Only && is_json(path)).then_some(path)
    }
}

/// The parser of transports whose location is all of the text.
#[expect(clippy::unnecessary_wraps, reason = "a parser of a transport")]
pub(super) fn whole(text: &str) -> Result<(&str, Select), Invalid> {
    Ok((text, Select::Only))
}

/// Splits `PATH[:NAME]` or `PATH[@DIGEST]`. The longest prefix that exists is the path; when none
/// does, the path ends at the first colon, as containers/image has it.
pub(super) fn split_select(text: &str) -> Result<(&str, Select), Invalid> {
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
    let parsed = |digest: &str| {
        Digest::from_str(digest).map_err(|_| Invalid::from(format!("invalid digest '{digest}'")))
    };
    let by_digest = text[place..].starts_with('@');
    let select = if by_digest {
        Select::Digest(parsed(rest)?)
    } else if let Some(number) = rest.strip_prefix('@').and_then(|number| number.parse().ok()) {
        Select::Place(number)
    } else if let Some(digest) = rest.strip_prefix('@') {
        Select::Digest(parsed(digest)?)
    } else if rest.is_empty() {
        Select::Only
    } else {
        Select::Name(rest.into())
    };
    Ok((path, select))
}
