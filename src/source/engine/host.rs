//! Addresses of engines, as `DOCKER_HOST` and contexts write them.

use std::path::PathBuf;

use crate::base::redact;
use crate::base::text::{elide_middle, printable};

/// A supported address.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Host {
    /// A Unix socket.
    Unix(PathBuf),
    /// Host and port, plain HTTP.
    Tcp(String),
}

/// Why an address is unusable, and what to do instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Unusable {
    pub(super) reason: String,
    pub(super) hint: Option<String>,
}

const SHOWN: usize = 120;
/// Docker's default port.
const PORT: &str = "2375";

/// The address for display: without user info and control characters, shortened.
pub(super) fn shown(text: &str) -> String {
    elide_middle(&printable(&redact::url_user_info(text)), SHOWN)
}

/// Parses an address. With `tls`, a TCP address uses TLS.
pub(super) fn parse(text: &str, tls: bool) -> Result<Host, Unusable> {
    let unusable = |reason: &str, hint: Option<String>| Err(Unusable { reason: reason.into(), hint });
    let Some((scheme, rest)) = text.split_once("://") else {
        return unusable(
            "not an address; expected unix:// or tcp://",
            text.starts_with('/').then(|| "write unix:// before the path".into()),
        );
    };
    match scheme {
        "unix" if rest.starts_with('/') => Ok(Host::Unix(rest.into())),
        "unix" => unusable("the socket path does not start with /", None),
        "tcp" | "http" if !tls => tcp(rest),
        "tcp" | "http" | "https" => unusable(
            "TCP with TLS is not supported",
            Some("run `docker save -o image.tar IMAGE` on that engine, then open image.tar".into()),
        ),
        "ssh" => {
            let host = rest.split('/').next().unwrap_or_default();
            let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
            let host = elide_middle(&printable(host), SHOWN);
            unusable(
                "ssh is not supported",
                Some(format!(
                    "run `ssh -nNT -L /tmp/engine.sock:/var/run/docker.sock {host}` and set \
                    DOCKER_HOST=unix:///tmp/engine.sock; or run `docker -H ssh://{host} save -o image.tar IMAGE` and \
                    open image.tar"
                )),
            )
        }
        "npipe" => unusable("named pipes are supported by Windows only", None),
        "fd" => unusable("fd:// is for servers only", None),
        _ => unusable("unknown address scheme", Some("use unix:// or tcp://".into())),
    }
}

fn tcp(rest: &str) -> Result<Host, Unusable> {
    let unusable = |reason: &str| Err(Unusable { reason: reason.into(), hint: None });
    let rest = rest.trim_end_matches('/');
    let authority = rest.rsplit_once('@').map_or(rest, |(_, authority)| authority);
    if authority.contains(['/', '?', '#']) {
        return unusable("a path after the host is not supported");
    }
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | ':' | '[' | ']' | '%');
    if authority.is_empty() || authority.starts_with(':') || !authority.chars().all(plain) {
        return unusable("no host");
    }
    let port = match authority.rsplit_once(']') {
        Some((_, after)) => after.strip_prefix(':'),
        None => authority.split_once(':').map(|(_, port)| port),
    };
    match port {
        None => Ok(Host::Tcp(format!("{authority}:{PORT}"))),
        Some(port) if port.parse::<u16>().is_ok() => Ok(Host::Tcp(authority.into())),
        Some(_) => unusable("invalid port"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sockets_and_plain_tcp_are_addresses() {
        assert_eq!(parse("unix:///run/a.sock", true), Ok(Host::Unix("/run/a.sock".into())));
        for (text, authority) in [
            ("tcp://localhost:2376", "localhost:2376"),
            ("tcp://localhost", "localhost:2375"),
            ("http://127.0.0.1:99/", "127.0.0.1:99"),
            ("tcp://[::1]", "[::1]:2375"),
            ("tcp://[::1]:80", "[::1]:80"),
            ("tcp://me:secret@h:1", "h:1"),
        ] {
            assert_eq!(parse(text, false), Ok(Host::Tcp(authority.into())), "{text}");
        }
    }

    #[test]
    fn what_cannot_be_used_says_why() {
        for (text, tls, part) in [
            ("/run/a.sock", false, "not an address"),
            ("", false, "not an address"),
            ("unix://run/a.sock", false, "does not start with /"),
            ("unix://", false, "does not start with /"),
            ("tcp://h:2376", true, "TLS"),
            ("https://h", false, "TLS"),
            ("tcp://", false, "no host"),
            ("tcp://:80", false, "no host"),
            ("tcp://h:port", false, "invalid port"),
            ("tcp://h:70000", false, "invalid port"),
            ("tcp://h:80/v1", false, "path"),
            ("tcp://a b", false, "no host"),
            ("ssh://me@h", false, "ssh"),
            ("npipe:////./pipe/docker_engine", false, "Windows"),
            ("fd://", false, "servers"),
            ("gopher://h", false, "unknown"),
        ] {
            let reason = parse(text, tls).unwrap_err().reason;
            assert!(reason.contains(part), "{text}: {reason}");
        }
    }

    #[test]
    fn user_info_is_never_shown() {
        for text in ["tcp://me:hunter2@h:1", "ssh://hunter2@h", "tcp://hunter2@h/path"] {
            assert!(!shown(text).contains("hunter2"), "{}", shown(text));
            let hint = parse(text, false).err().and_then(|unusable| unusable.hint).unwrap_or_default();
            assert!(!hint.contains("hunter2"), "{hint}");
        }
        assert!(!shown("unix:///a\u{1b}[31m\u{202e}").contains(['\u{1b}', '\u{202e}']));
    }
}
