//! A folder with an unpacked root filesystem: an image of one layer, without documents.

use std::path::Path;

use super::error::SourceError;
use super::image::{Blob, Image, LayerSource};
use super::reference::{Transport, whole};

/// An unpacked root filesystem.
pub(super) static ROOTFS: Transport = Transport {
    name: "rootfs",
    prefixes: &["rootfs:"],
    form: "rootfs:DIR",
    about: "unpacked root filesystem",
    is_path: true,
    parse: whole,
    detect: |path| ["etc", "usr", "bin", "lib"].iter().filter(|name| path.join(name).is_dir()).count() >= 2,
    open: |reference, _| open(Path::new(&reference.location)),
};

fn open(path: &Path) -> Result<Image, SourceError> {
    let object = path.display().to_string();
    let facts = std::fs::metadata(path).map_err(|error| SourceError::open(&object, error))?;
    if !facts.is_dir() {
        return Err(SourceError::NotAnImage { object, reason: "not a folder".into(), hint: None });
    }
    Ok(Image { layers: vec![LayerSource::at(Blob::Folder(path.to_owned()))], ..Image::empty() })
}
