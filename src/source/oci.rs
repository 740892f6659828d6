//! OCI image layouts (folder or archive) and skopeo's directory: location of their documents and blobs.

use std::path::Path;

use oci_spec::image::Descriptor;

use super::archive;
use super::context::Chosen;
use super::error::SourceError;
use super::files::Files;
use super::image::{Blob, Image};
use super::manifests::{Documents, check_algorithm, of_index, open_either};
use super::reference::{Transport, split_select, whole};
use crate::base::{Digest, digest};

/// An OCI image layout in a folder.
pub(super) static LAYOUT: Transport = Transport {
    name: "oci",
    prefixes: &["oci:"],
    form: "oci:DIR[:TAG or @DIGEST]",
    about: "OCI image layout",
    is_path: true,
    parse: split_select,
    detect: |path| path.join("index.json").is_file(),
    open: |reference, context| {
        let files = Files::folder(Path::new(&reference.location))?;
        open(&files, &context.chosen(&reference.select))
    },
};

/// The same in a tar.
pub(super) static ARCHIVE: Transport = Transport {
    name: "oci-archive",
    prefixes: &["oci-archive:"],
    form: "oci-archive:FILE[:TAG]",
    about: "OCI image layout in a tar archive",
    is_path: true,
    parse: split_select,
    detect: |_| false,
    open: |reference, context| {
        let files = archive::open(Path::new(&reference.location), context)?;
        open(&files, &context.chosen(&reference.select))
    },
};

/// Skopeo's flat folder.
pub(super) static DIR: Transport = Transport {
    name: "dir",
    prefixes: &["dir:"],
    form: "dir:DIR",
    about: "skopeo directory",
    is_path: true,
    parse: whole,
    detect: |path| path.join("manifest.json").is_file(),
    open: |reference, context| {
        let files = Files::folder(Path::new(&reference.location))?;
        open_flat(&files, &context.chosen(&reference.select))
    },
};

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
    files.note_fault(&mut image);
    Ok(image)
}

fn open_flat(files: &Files, chosen: &Chosen<'_>) -> Result<Image, SourceError> {
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
