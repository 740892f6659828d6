//! In: an image reference.
//! Out: an [`Image`]: manifest, config, and access to the bytes of each layer.
//! Must not know: the contents of a layer. Members of a compressed archive go to the caller's sink.

mod access;
mod archive;
mod choose;
mod config;
mod context;
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
mod rootfs;
mod runtime;
mod samples;
pub mod table;
mod transports;

pub use access::{Access, Credential, Logins, Tried};
pub use context::{OpenContext, Select, Sink, SourceKey, StreamedMember};
pub use detect::is_json;
pub use error::SourceError;
pub use image::{Blob, Image, LayerSource};
pub use reference::{Reference, Transport};
pub use transports::{FORMAT_FOLDERS, open, prefix_in_case, redacted, reference_forms, without_prefix};
