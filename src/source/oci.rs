//! OCI image layouts (folder or archive) and skopeo's directory: location of their documents and blobs.

use oci_spec::image::Descriptor;

use super::Chosen;
use super::error::SourceError;
use super::files::Files;
use super::image::{Blob, Image};
use super::manifests::{Documents, check_algorithm, of_index, open_either};
use crate::base::{Digest, Warning, WarningCode, digest};

/// How blobs are named.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Naming {
    /// `blobs/sha256/HEX`.
    Layout,
    /// `HEX`, manifests also `HEX.manifest.json`.
    Flat,
}

struct Store<'a> {
    files: &'a Files,
    naming: Naming,
    limit: u64,
}

/// Opens a layout.
pub(super) fn open(files: &Files, chosen: &Chosen<'_>) -> Result<Image, SourceError> {
    let store = Store { files, naming: Naming::Layout, limit: chosen.limits.json_bytes };
    if !files.has("index.json") {
        let why = files.fault().map(|fault| format!("; damaged archive: {fault}")).unwrap_or_default();
        return Err(SourceError::NotAnImage {
            object: files.label().into(),
            reason: format!("no index.json: not an OCI image layout{why}"),
            hint: None,
        });
    }
    let bytes = files.read("index.json", chosen.limits.json_bytes)?;
    let object = files.label_of("index.json");
    let mut image = of_index(&store, &object, &bytes, chosen)?;
    add_fault(&mut image, files);
    Ok(image)
}

/// Opens skopeo's flat folder.
pub(super) fn open_flat(files: &Files, chosen: &Chosen<'_>) -> Result<Image, SourceError> {
    let store = Store { files, naming: Naming::Flat, limit: chosen.limits.json_bytes };
    if !files.has("manifest.json") {
        return Err(SourceError::NotAnImage {
            object: files.label().into(),
            reason: "no manifest.json".into(),
            hint: None,
        });
    }
    let bytes = files.read("manifest.json", chosen.limits.json_bytes)?;
    let object = files.label_of("manifest.json");
    open_either(&store, &object, bytes, None, chosen)
}

pub(super) fn add_fault(image: &mut Image, files: &Files) {
    if let Some(fault) = files.fault() {
        image.intact = false;
        let message = format!("cannot read the archive to its end: {fault}");
        image.warnings.push(Warning::new(WarningCode::ManifestOddity, files.label(), message));
    }
}

impl Store<'_> {
    fn name(&self, digest: &Digest) -> Result<String, SourceError> {
        check_algorithm(digest)?;
        Ok(match self.naming {
            Naming::Layout => format!("blobs/{}/{}", digest.algorithm(), digest.digest()),
            Naming::Flat => digest.digest().to_owned(),
        })
    }
}

impl Documents for Store<'_> {
    fn label(&self) -> &str {
        self.files.label()
    }

    fn document(&self, descriptor: &Descriptor) -> Result<(String, Vec<u8>, bool), SourceError> {
        let mut name = self.name(descriptor.digest())?;
        if self.naming == Naming::Flat && self.files.has(&format!("{name}.manifest.json")) {
            name.push_str(".manifest.json");
        }
        let bytes = self.files.read(&name, self.limit)?;
        let intact = digest::matches(descriptor.digest(), &bytes) != Some(false);
        Ok((self.files.label_of(&name), bytes, intact))
    }

    fn layer(&self, descriptor: &Descriptor) -> Blob {
        match self.name(descriptor.digest()) {
            Ok(name) => self.files.blob(&name),
            Err(error) => Blob::Missing(error.to_string()),
        }
    }
}
