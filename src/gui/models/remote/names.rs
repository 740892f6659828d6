//! References to registries, as they are typed and shown.

use std::net::IpAddr;

use crate::source::{Reference, registry};

/// The reference and its host, when what was typed names an image at a registry.
pub fn registry_of(typed: &str) -> Option<(Reference, String)> {
    // The grammar looks whether there is such a path; what can only be a path is not looked for on each key.
    if typed.starts_with(['/', '.', '~']) {
        return None;
    }
    let reference = Reference::parse(typed).ok()?;
    let host = registry::host(&reference)?;
    Some((reference, host))
}

/// Whether a host, with or without a port, is this machine.
pub fn is_loopback(host: &str) -> bool {
    let name = match host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((inside, _)) => inside,
        None => host.rsplit_once(':').map_or(host, |(name, _)| name),
    };
    name.eq_ignore_ascii_case("localhost") || name.parse().is_ok_and(|ip: IpAddr| ip.is_loopback())
}

/// The host to log in to, from what was typed: with or without a scheme and what follows the host.
pub fn login_host(typed: &str) -> Option<String> {
    let typed = typed.trim();
    let rest = typed.split_once("://").map_or(typed, |(_, rest)| rest);
    let host = rest.split('/').next().unwrap_or_default();
    let is_host = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | ':' | '-' | '[' | ']');
    if host.is_empty() || !host.chars().all(is_host) {
        return None;
    }
    // A name without a dot or a port is a folder of Docker Hub to the grammar.
    let known = Reference::parse(&format!("docker://{host}/a/a")).ok().and_then(|one| registry::host(&one));
    known.filter(|known| host.contains(['.', ':']) || host == known)
}

/// The parts of a reference: what comes before the last part of its name, that part, and the tag or digest.
fn split(text: &str) -> (&str, &str) {
    let end = text.find('@').unwrap_or(text.len());
    let named = &text[..end];
    let last = named.rfind('/').map_or(0, |slash| slash + 1);
    // The colon of `registry:NAME` is none of a tag.
    let last = last.max(if named.starts_with("registry:") { "registry:".len() } else { 0 });
    let tag = named[last..].find(':').map_or(end, |colon| last + colon);
    text.split_at(tag)
}

/// The reference with this tag in the place of its own, or of its digest.
pub fn with_tag(text: &str, tag: &str) -> String {
    format!("{}:{tag}", split(text).0)
}

/// The reference without transport, tag and digest.
pub fn repository(text: &str) -> &str {
    let whole = split(text).0;
    let name = whole.strip_prefix("docker:").or_else(|| whole.strip_prefix("registry:")).unwrap_or(whole);
    name.trim_start_matches('/')
}

#[cfg(test)]
mod tests {
    use super::{is_loopback, login_host, repository, with_tag};

    #[test]
    fn tags_take_the_place_of_tags_and_digests() {
        for (text, wanted) in [
            ("debian", "debian:new"),
            ("debian:12", "debian:new"),
            ("docker://ghcr.io/team/tool", "docker://ghcr.io/team/tool:new"),
            ("localhost:5000/tool:1", "localhost:5000/tool:new"),
            ("localhost:5000/tool", "localhost:5000/tool:new"),
            ("ghcr.io/tool:1@sha256:00", "ghcr.io/tool:new"),
            ("ghcr.io/tool@sha256:00", "ghcr.io/tool:new"),
            ("registry:tool", "registry:tool:new"),
            ("registry:tool:1", "registry:tool:new"),
        ] {
            assert_eq!(with_tag(text, "new"), wanted, "{text}");
        }
        assert_eq!(repository("docker://ghcr.io/team/tool:1@sha256:00"), "ghcr.io/team/tool");
        assert_eq!(repository("registry:tool:1"), "tool");
        assert_eq!(repository("localhost:5000/tool:1"), "localhost:5000/tool");
    }

    #[test]
    fn this_machine_is_told_from_others() {
        for host in ["localhost", "localhost:5000", "127.0.0.1:80", "127.8.0.1", "[::1]:5000", "[::1]"] {
            assert!(is_loopback(host), "{host}");
        }
        for host in ["ghcr.io", "localhost.example:5000", "128.0.0.1", "[::2]:5000", "", ":"] {
            assert!(!is_loopback(host), "{host}");
        }
    }

    #[test]
    fn hosts_are_taken_from_what_was_typed() {
        for (typed, wanted) in [
            (" ghcr.io ", Some("ghcr.io")),
            ("https://ghcr.io/", Some("ghcr.io")),
            ("registry.example:5000/team", Some("registry.example:5000")),
            ("docker.io", Some("docker.io")),
            ("team", None),
            ("", None),
            ("me@ghcr.io", None),
        ] {
            assert_eq!(login_host(typed).as_deref(), wanted, "{typed}");
        }
    }
}
