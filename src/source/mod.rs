//! In: an image reference.
//! Out: an [`Image`]: manifest, config, and access to the bytes of each layer.
//! Must not know: the contents of a layer. Members of a compressed archive go to the caller's sink.

mod access;
mod archive;
mod choose;
mod config;
mod detect;
mod docker;
pub mod engine;
mod error;
mod files;
mod image;
mod manifests;
mod oci;
mod reference;
pub mod registry;
mod runtime;
mod samples;
pub mod table;

use std::path::Path;

pub use access::{Access, Credential, Logins, Tried};
pub use archive::{Sink, SourceKey, StreamedMember};
pub use detect::is_json;
pub use error::SourceError;
pub use image::{Blob, Image, LayerSource};
pub use reference::{Reference, Select, Transport};
pub use samples::Sample;

use crate::base::{Limits, Platform};
use crate::jobs::{CancelToken, Progress};
use files::Files;

/// Environment of opening an image.
pub struct OpenContext<'a> {
    /// Limits for untrusted input.
    pub limits: &'a Limits,
    /// The platform to choose from an index; `None` for Linux on this machine's architecture.
    pub platform: Option<&'a Platform>,
    /// Access to registries and engines.
    pub access: &'a Access,
    /// Cancels the opening.
    pub cancel: &'a CancelToken,
    /// Receives byte counts if an archive is streamed.
    pub progress: &'a Progress,
    /// Gets every member of a compressed archive that may be a layer.
    pub sink: &'a mut dyn Sink,
}

/// Opens an image: reads its manifest and config and locates its layers. Layer bytes are not read, except of a
/// compressed archive, which is streamed once completely.
///
/// # Errors
/// The reference, the source, the index or the manifest is unusable.
pub fn open(reference: &Reference, context: &mut OpenContext<'_>) -> Result<Image, SourceError> {
    let reference = detect::resolve(reference)?;
    let Reference { transport, location, select, .. } = &reference;
    let path = Path::new(location);
    let chosen =
        Chosen { select, platform: context.platform, limits: context.limits, cancel: context.cancel };
    let mut form = *transport;
    let mut image = match transport {
        Transport::Rootfs => image::rootfs(path)?,
        Transport::Oci => oci::open(&Files::folder(path)?, &chosen)?,
        Transport::Dir => oci::open_flat(&Files::folder(path)?, &chosen)?,
        Transport::OciArchive => oci::open(&archive::open(path, context)?, &chosen)?,
        Transport::DockerArchive => docker::open(&archive::open(path, context)?, &chosen)?,
        Transport::Archive => {
            let files = archive::open(path, context)?;
            if files.has("manifest.json") || files.has("repositories") {
                form = Transport::DockerArchive;
                match docker::open(&files, &chosen) {
                    // Docker 25 and later keep the other platforms in the layout beside it.
                    Err(SourceError::NoPlatform { .. }) if files.has("index.json") => {
                        form = Transport::OciArchive;
                        oci::open(&files, &chosen)?
                    }
                    opened => opened?,
                }
            } else if files.has("index.json") {
                form = Transport::OciArchive;
                oci::open(&files, &chosen)?
            } else {
                let (reason, hint) = match files.fault() {
                    Some(fault) => (
                        format!("damaged archive: {fault}; no manifest.json or index.json before that"),
                        "copy or save the archive again",
                    ),
                    None => (
                        "neither manifest.json nor index.json in the archive".to_owned(),
                        "unpack a root filesystem in a tar (docker export) and open it as rootfs:DIR",
                    ),
                };
                return Err(SourceError::NotAnImage {
                    object: files.label().to_owned(),
                    reason,
                    hint: Some(hint.into()),
                });
            }
        }
        Transport::Sample(sample) => oci::open(&archive::open_bytes(*sample, context)?, &chosen)?,
        Transport::Registry => registry::open(&reference, context)?,
        Transport::Engine => engine::open(&reference, context)?,
        // Resolved above.
        Transport::Path => {
            return Err(SourceError::NotAnImage {
                object: reference.text,
                reason: "not a path".into(),
                hint: None,
            });
        }
    };
    form.name().clone_into(&mut image.source);
    image.reference.clone_from(&reference.text);
    Ok(image)
}

/// The selection, in addition to the location.
struct Chosen<'a> {
    select: &'a Select,
    platform: Option<&'a Platform>,
    limits: &'a Limits,
    cancel: &'a CancelToken,
}
