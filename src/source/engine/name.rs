//! Names of images as engines understand them.

use std::fmt;

use super::client::{EngineImage, NAME_BYTES, full_id};
use crate::base::Digest;

/// Whether it is a valid name for an engine: a name with tag or digest, or an id. It becomes part of a request path, so
/// no character with a meaning there is allowed.
pub(in crate::source) fn is_name(text: &str) -> bool {
    let (name, digest) = match text.split_once('@') {
        Some((name, digest)) => (name, Some(digest)),
        None => (text, None),
    };
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | ':');
    let part = |part: &str| part.starts_with(|c: char| c.is_ascii_alphanumeric()) && part.chars().all(plain);
    text.len() <= NAME_BYTES
        && name.split('/').all(part)
        && digest.is_none_or(|digest| digest.parse::<Digest>().is_ok() && digest.chars().all(plain))
}

/// A requested name that passed [`is_name`].
pub(super) struct Name(String);

impl Name {
    pub(super) fn new(text: &str) -> Self {
        Self(text.to_owned())
    }

    /// Form in engine requests.
    pub(super) fn as_requested(&self) -> &str {
        &self.0
    }

    /// The same name at a registry; ids and local names have none.
    pub(super) fn at_registry(&self) -> Option<&str> {
        let id = self.0.starts_with("sha256:") || self.0.bytes().all(|byte| byte.is_ascii_hexdigit());
        (!id && !self.0.starts_with("localhost/")).then_some(&self.0)
    }

    /// What to ask to save: exactly one image, where a name without a tag would save all of its tags.
    pub(super) fn to_save(&self, held: &EngineImage) -> String {
        let name = self.0.as_str();
        if self.is_id_of(held) {
            return held.id.clone();
        }
        let last = name.rsplit('/').next().unwrap_or_default();
        if name.contains('@') || last.contains(':') { name.to_owned() } else { format!("{name}:latest") }
    }

    /// Whether it is an id (or the beginning of one), rather than a name that looks like one.
    pub(super) fn is_id_of(&self, held: &EngineImage) -> bool {
        if let Some(hex) = self.0.strip_prefix("sha256:") {
            return held.id[7..].starts_with(hex);
        }
        let hex = !self.0.is_empty() && self.0.bytes().all(|byte| byte.is_ascii_hexdigit());
        let latest = format!("{}:latest", self.0);
        let tagged = |tag: &String| {
            tag.strip_suffix(&latest).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
        };
        hex && full_id(&held.id).is_some_and(|id| id[7..].starts_with(&self.0))
            && !held.tags.iter().any(tagged)
    }
}

impl fmt::Display for Name {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_and_ids_are_asked_for() {
        let digest = format!("sha256:{}", "ab".repeat(32));
        let (by_digest, both) = (format!("a/b@{digest}"), format!("a:1@{digest}"));
        for name in [
            "a",
            "A:1",
            "localhost:5000/a/b:1.0-x_y",
            "localhost/x",
            &digest,
            "0123456789ab",
            &by_digest,
            &both,
        ] {
            assert!(is_name(name), "{name}");
        }
        for name in [
            "",
            "/a",
            "a/",
            "a//b",
            "..",
            "a/../b",
            "a?b",
            "a#b",
            "a%2fb",
            "a b",
            "ä",
            "-a",
            "u:secret@example.org/i",
            "a@",
            "a@b",
            "a\n",
            &"a".repeat(NAME_BYTES + 1),
        ] {
            assert!(!is_name(name), "{name}");
        }
    }

    fn saved(name: &str, id: &str, tags: &[&str]) -> String {
        let tags = tags.iter().map(|tag| (*tag).to_owned()).collect();
        let held = EngineImage { id: format!("sha256:{id}"), tags, diff_ids: Vec::new(), bytes: None };
        Name::new(name).to_save(&held)
    }

    #[test]
    fn exactly_one_image_is_saved() {
        let id = "cafe".repeat(16);
        let full = format!("sha256:{id}");
        assert_eq!(saved("x", &id, &["localhost/x:latest"]), "x:latest");
        assert_eq!(saved("h:5000/x", &id, &[]), "h:5000/x:latest");
        assert_eq!(saved("x:1", &id, &["x:1"]), "x:1");
        assert_eq!(saved(&full, &id, &["x:1"]), full);
        assert_eq!(saved("sha256:cafe", &id, &[]), full);
        assert_eq!(saved("cafecafecafe", &id, &["x:1"]), full);
        assert_eq!(saved(&id, &id, &[]), full);
        // A name that could be an id is a name where the image has it.
        assert_eq!(saved("cafe", &id, &["docker.io/library/cafe:latest"]), "cafe:latest");
        assert_eq!(saved("cafe", &"beef".repeat(16), &["cafe:latest"]), "cafe:latest");
        let by_digest = format!("x@{full}");
        assert_eq!(saved(&by_digest, &id, &[]), by_digest);
    }
}
