//! registries.conf, version 2, and its drop-in files.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use toml::Spanned;

use super::super::super::access::Tried;
use super::super::environment::{Environment, read};
use crate::base::text::{elide_middle, printable};

/// Size limit: the file is written by hand.
const LARGEST_FILE: u64 = 1 << 20;

/// Settings for the images below a prefix.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
pub(super) struct Registry {
    /// The file with the settings, as shown.
    #[serde(skip)]
    pub(super) file: String,
    pub(super) prefix: String,
    /// Replacement of the prefix; empty to leave the name unchanged.
    pub(super) location: String,
    pub(super) insecure: bool,
    pub(super) blocked: bool,
    mirror_by_digest_only: bool,
    #[serde(rename = "mirror")]
    pub(super) mirrors: Vec<Spanned<Mirror>>,
}

/// A mirror of the images below a prefix.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
pub(super) struct Mirror {
    pub(super) location: String,
    pub(super) insecure: bool,
    #[serde(rename = "pull-from-mirror")]
    pulls: Option<Pulls>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
enum Pulls {
    #[default]
    #[serde(rename = "all", alias = "")]
    All,
    #[serde(rename = "digest-only")]
    DigestOnly,
    #[serde(rename = "tag-only")]
    TagOnly,
}

impl Mirror {
    /// Whether it is used for images named by digest (or else by tag).
    pub(super) fn serves(&self, by_digest: bool) -> bool {
        match self.pulls.unwrap_or_default() {
            Pulls::All => true,
            Pulls::DigestOnly => by_digest,
            Pulls::TagOnly => !by_digest,
        }
    }
}

#[derive(Deserialize)]
struct Document {
    #[serde(default)]
    registry: Vec<Spanned<Registry>>,
    /// Lists of version 1.
    registries: Option<Spanned<toml::Value>>,
}

/// Reads the effective file and its drop-in files, by prefix: a later file replaces the settings of an earlier one for
/// the same prefix.
pub(super) fn read_all(environment: &Environment, faults: &mut Vec<Tried>) -> BTreeMap<String, Registry> {
    let user = environment.config.as_ref().map(|config| config.join("containers/registries.conf"));
    let user_folder = environment.config.as_ref().map(|config| config.join("containers/registries.conf.d"));
    let system = environment.etc.join("containers/registries.conf");
    let system_folder = environment.etc.join("containers/registries.conf.d");
    // The user's file replaces the system's.
    let (main, folders) = match (&environment.registries_conf, user) {
        (Some(named), _) => (named.clone(), vec![Some(system_folder), user_folder]),
        (None, Some(user)) if user.exists() => (user, vec![user_folder]),
        (None, _) => (system, vec![Some(system_folder), user_folder]),
    };
    let mut registries = BTreeMap::new();
    let files =
        [main].into_iter().chain(folders.into_iter().flatten().flat_map(|folder| dropped_in(&folder)));
    for path in files {
        let way = environment.shown(&path);
        match read_one(&path, &way) {
            Ok(found) => registries.extend(found.into_iter().map(|found| (found.prefix.clone(), found))),
            Err(result) => faults.push(Tried { way, result }),
        }
    }
    registries
}

/// The registry with the longest prefix of `name`, and the length of that prefix.
pub(super) fn choose<'a>(
    registries: &'a BTreeMap<String, Registry>,
    name: &str,
) -> Option<(&'a Registry, usize)> {
    let matching = registries.values().filter_map(|registry| {
        let end = matched(&registry.prefix, name)?;
        Some((registry, end))
    });
    matching.max_by_key(|(registry, _)| registry.prefix.len())
}

/// Length of `name` covered by a prefix.
fn matched(prefix: &str, name: &str) -> Option<usize> {
    let end = match prefix.strip_prefix('*') {
        Some(domain) => {
            let host = name.split('/').next().unwrap_or(name);
            let bare = host.split(':').next().unwrap_or(host);
            // An empty subdomain does not match.
            (bare.ends_with(domain) && bare.len() > domain.len()).then_some(bare.len())?
        }
        None => name.starts_with(prefix).then_some(prefix.len())?,
    };
    matches!(name.as_bytes().get(end), None | Some(b'/' | b':')).then_some(end)
}

fn dropped_in(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = entries
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|end| end == "conf"))
        .collect();
    files.sort();
    files
}

fn read_one(path: &Path, way: &str) -> Result<Vec<Registry>, String> {
    let Some(bytes) = read(path, LARGEST_FILE)? else { return Ok(Vec::new()) };
    let text = str::from_utf8(&bytes).map_err(|_| "not UTF-8".to_owned())?;
    let at = |place: usize, reason: &str| {
        let line = text.bytes().take(place).filter(|byte| *byte == b'\n').count() + 1;
        format!("line {line}: {}", elide_middle(&printable(reason), 200))
    };
    let document: Document = toml::from_str(text).map_err(|error| {
        let place = error.span().map_or(0, |span| span.start);
        at(place, error.message().lines().next().unwrap_or("not TOML"))
    })?;
    if let Some(old) = document.registries {
        return Err(at(old.span().start, "version 1 of the format is no longer supported"));
    }
    let tables = document.registry.into_iter();
    tables
        .map(|table| {
            let (place, mut registry) = (table.span().start, table.into_inner());
            way.clone_into(&mut registry.file);
            match registry.check() {
                Ok(()) => Ok(registry),
                Err((inner, reason)) => Err(at(inner.unwrap_or(place), &reason)),
            }
        })
        .collect()
}

impl Registry {
    /// Checks beyond the syntax; an error has an offset unless it concerns the whole table.
    fn check(&mut self) -> Result<(), (Option<usize>, String)> {
        let whole = |reason| (None, reason);
        self.location = cleaned(&self.location).map_err(whole)?;
        self.prefix = if self.prefix.is_empty() {
            self.location.clone()
        } else {
            plain_prefix(&self.prefix).map_err(whole)?
        };
        if self.prefix.is_empty() {
            return Err(whole("registry without prefix and location".into()));
        }
        if self.location.is_empty() && !self.prefix.starts_with("*.") {
            return Err(whole(format!("registry {} without location", self.prefix)));
        }
        for mirror in &mut self.mirrors {
            let place = mirror.span().start;
            mirror.as_mut().check(self.mirror_by_digest_only).map_err(|reason| (Some(place), reason))?;
        }
        Ok(())
    }
}

impl Mirror {
    fn check(&mut self, by_digest_only: bool) -> Result<(), String> {
        self.location = cleaned(&self.location)?;
        if self.location.is_empty() {
            return Err("mirror without location".into());
        }
        if by_digest_only && self.pulls.replace(Pulls::DigestOnly).is_some() {
            return Err("pull-from-mirror and mirror-by-digest-only exclude each other".into());
        }
        Ok(())
    }
}

fn plain_prefix(prefix: &str) -> Result<String, String> {
    let cleaned = cleaned(prefix.strip_prefix("*.").unwrap_or(prefix))?;
    if !prefix.starts_with("*.") {
        return Ok(cleaned);
    }
    if cleaned.is_empty() || cleaned.contains(['/', ':', '@']) {
        return Err(format!("'{prefix}' is not just a wildcard and a domain"));
    }
    Ok(format!("*.{cleaned}"))
}

/// A location without a scheme: host, port and path.
fn cleaned(text: &str) -> Result<String, String> {
    let cleaned = text.trim_end_matches('/');
    if cleaned.contains("://") {
        return Err("name a registry by host and path, without http:// or https://".into());
    }
    if let Some(odd) =
        cleaned.chars().find(|c| c.is_whitespace() || c.is_control() || matches!(c, '?' | '#' | '*' | '@'))
    {
        return Err(format!("invalid characters {odd:?} in a registry name"));
    }
    Ok(cleaned.to_owned())
}
