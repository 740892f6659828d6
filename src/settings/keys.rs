//! All keys of the file, in its order: what `cutaway settings show` prints, and how a changed value is written.

use toml_edit::{Array, Value};

use super::Settings;
use crate::base::size::{Units, exact};

/// One key of the file.
#[derive(Debug)]
pub struct Key {
    /// Its table.
    pub table: &'static str,
    /// Its name in the table.
    pub name: &'static str,
    /// What it means, in a line.
    pub about: &'static str,
    /// Its value; `None` if there is none, and the key is left out.
    pub(super) value: fn(&Settings) -> Option<Value>,
}

const fn key(
    table: &'static str,
    name: &'static str,
    about: &'static str,
    value: fn(&Settings) -> Option<Value>,
) -> Key {
    Key { table, name, about, value }
}

/// All keys; those of a table stand together.
pub const KEYS: &[Key] = &[
    key("display", "theme", "Theme of the window: system, light or dark", |s| Some(s.theme.name().into())),
    key("display", "text_size", "Size of text in the window, 50 to 300 percent", |s| {
        Some(i64::from(s.text_size).into())
    }),
    key("display", "units", "Units of sizes: binary (MiB) or decimal (MB)", |s| {
        Some(if s.units == Units::Decimal { "decimal" } else { "binary" }.into())
    }),
    key("window", "restore_images", "Open the images of the last session", |s| Some(s.restore_images.into())),
    key("window", "watch_files", "Offer to reload local images that changed", |s| Some(s.watch_files.into())),
    key("analysis", "targets", "GPUs and machines that images are for, as in --target", |s| {
        Some(list(s.targets.iter().map(|target| target.text.as_str())))
    }),
    key("analysis", "profile", "Deployment platform, as in --profile", |s| {
        s.profile.as_ref().map(|profile| profile.text.as_str().into())
    }),
    key("cache", "limit", "Size limit of the index cache; 0 disables it", |s| s.cache_limit.map(size)),
    key("cache", "blob_limit", "Size limit of the blob cache for registries; 0 disables it", |s| {
        Some(size(s.blob_limit))
    }),
    key("engines", "list", "List images of Docker and Podman on the start screen", |s| {
        Some(s.list_engines.into())
    }),
    key("engines", "docker_host", "Address of the Docker API, if DOCKER_HOST is not set", |s| {
        s.docker_host.as_deref().map(Into::into)
    }),
    key("engines", "podman_host", "Address of the Podman API, if CONTAINER_HOST is not set", |s| {
        s.podman_host.as_deref().map(Into::into)
    }),
    key("registries", "ask", "Ask before the window contacts a registry for the first time", |s| {
        Some(s.ask.into())
    }),
    key("registries", "allowed", "Registries that the window contacts without asking", |s| {
        Some(list(s.allowed.iter().map(String::as_str)))
    }),
    key("registries", "ca_file", "Trust these CA certificates (PEM) in addition to the system's", |s| {
        s.ca_file.as_ref().and_then(|path| path.to_str()).map(Into::into)
    }),
];

fn list<'a>(texts: impl Iterator<Item = &'a str>) -> Value {
    Value::Array(texts.collect::<Array>())
}

/// A size in the file: `"20 GiB"` if that is exact, else a number.
fn size(bytes: u64) -> Value {
    let text = exact(bytes);
    text.parse::<i64>().map_or_else(|_| Value::from(text), Value::from)
}
