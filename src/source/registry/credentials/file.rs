//! The common format of Docker's `config.json` and Podman's `auth.json`.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use serde::Deserialize;

use super::super::super::access::Credential;
use crate::base::redact::json_fault;

/// Names of Docker Hub in these files; Docker writes the first.
const DOCKER_HUB: [&str; 5] = [
    "https://index.docker.io/v1/",
    "index.docker.io",
    "docker.io",
    "registry-1.docker.io",
    "https://docker.io",
];

/// The target of a credential.
pub(super) struct Wanted<'a> {
    pub(super) host: &'a str,
    pub(super) repository: &'a str,
}

/// The relevant parts of a credentials file.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Document {
    #[serde(default)]
    auths: Option<BTreeMap<String, AuthEntry>>,
    #[serde(default)]
    creds_store: Option<String>,
    #[serde(default)]
    cred_helpers: Option<BTreeMap<String, String>>,
}

#[derive(Deserialize)]
struct AuthEntry {
    #[serde(default)]
    auth: Option<String>,
    #[serde(default)]
    username: Option<String>,
    #[serde(default)]
    password: Option<String>,
    #[serde(default, alias = "identityToken")]
    identitytoken: Option<String>,
    #[serde(default, alias = "registryToken")]
    registrytoken: Option<String>,
}

/// Parses a file; the error quotes nothing of it.
pub(super) fn parse(bytes: &[u8]) -> Result<Document, String> {
    // Some editors begin a file with a byte order mark.
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    serde_json::from_slice(bytes).map_err(|error| json_fault(&error))
}

/// Whether a host is Docker Hub under one of its names.
pub(super) fn is_docker_hub(host: &str) -> bool {
    DOCKER_HUB.iter().any(|name| name.eq_ignore_ascii_case(host))
}

impl Wanted<'_> {
    /// Keys of an entry, the most specific first.
    fn keys(&self) -> Vec<String> {
        let mut keys = Vec::new();
        let hosts: Vec<&str> = if is_docker_hub(self.host) { DOCKER_HUB.to_vec() } else { vec![self.host] };
        let ends = self.repository.match_indices('/').map(|(end, _)| end).chain([self.repository.len()]);
        let mut paths: Vec<&str> = ends.filter_map(|end| self.repository.get(..end)).collect();
        paths.reverse();
        for path in paths.into_iter().filter(|path| !path.is_empty()) {
            // Keys with a path name a host, never a URL.
            keys.extend(
                hosts.iter().filter(|host| !host.contains("//")).map(|host| format!("{host}/{path}")),
            );
        }
        for host in hosts {
            keys.push(host.to_owned());
            if !host.contains("//") {
                keys.extend(["https://", "http://"].iter().flat_map(|scheme| {
                    ["", "/", "/v1", "/v1/", "/v2", "/v2/"].map(|end| format!("{scheme}{host}{end}"))
                }));
            }
        }
        keys
    }

    /// Server names for a credential store.
    pub(super) fn servers(&self) -> Vec<&str> {
        if is_docker_hub(self.host) {
            // Docker writes the first, Podman the second.
            return vec!["https://index.docker.io/v1/", "docker.io"];
        }
        vec![self.host]
    }
}

impl Document {
    /// The helper configured for the host, with its key, which is passed to the helper.
    pub(super) fn helper(&self, wanted: &Wanted<'_>) -> Option<(&str, &str)> {
        let helpers = self.cred_helpers.as_ref()?;
        let found = wanted.keys().into_iter().find_map(|key| helpers.get_key_value(&key));
        found.map(|(key, name)| (key.as_str(), name.as_str())).filter(|(_, name)| !name.is_empty())
    }

    /// The helper that stores all logins.
    pub(super) fn store(&self) -> Option<&str> {
        self.creds_store.as_deref().filter(|name| !name.is_empty())
    }

    /// The credential of the most specific entry; `None` when no entry has one.
    pub(super) fn entry(&self, wanted: &Wanted<'_>) -> Option<Result<Credential, String>> {
        let auths = self.auths.as_ref()?;
        wanted.keys().iter().filter_map(|key| auths.get(key)).find_map(AuthEntry::credential)
    }
}

impl AuthEntry {
    fn credential(&self) -> Option<Result<Credential, String>> {
        let filled = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
        if let Some(token) = filled(&self.identitytoken) {
            return Some(Ok(Credential::IdentityToken(token)));
        }
        if let Some(token) = filled(&self.registrytoken) {
            return Some(Ok(Credential::Bearer(token)));
        }
        if let Some(auth) = filled(&self.auth) {
            return Some(decode(&auth).ok_or_else(|| "entry is not base64 NAME:PASSWORD".to_owned()));
        }
        let (user, password) = filled(&self.username).zip(filled(&self.password))?;
        Some(Ok(Credential::Password { user, password }))
    }
}

/// `NAME:PASSWORD` in base64, with or without padding. Zero bytes at the end are not part of the password: old versions
/// of Docker wrote them.
fn decode(auth: &str) -> Option<Credential> {
    let lenient = GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
    let bytes = GeneralPurpose::new(&STANDARD, lenient).decode(auth.trim()).ok()?;
    let text = String::from_utf8(bytes).ok()?;
    let (user, password) = text.split_once(':')?;
    let password = password.trim_end_matches('\0');
    let whole = !user.is_empty() && !password.is_empty();
    whole.then(|| Credential::Password { user: user.to_owned(), password: password.to_owned() })
}
