//! Errors of registry requests.

use std::fmt;
use std::time::Duration;

use serde_json::Value;

use super::super::access::Tried;

/// Cause of a failure, distinguished by what the user can do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// Unknown host name.
    #[error("host not found")]
    UnknownHost,
    /// Connection refused.
    #[error("connection failed: {0}")]
    Unreachable(String),
    /// Untrusted TLS certificate.
    #[error("untrusted TLS connection: {0}")]
    Certificate(String),
    /// The server uses a CA certificate as its own.
    #[error("a CA certificate is used as the server certificate")]
    CaAsServer,
    /// The server uses plain HTTP.
    #[error("the server speaks plain HTTP, not TLS")]
    PlainHttp,
    /// The server uses TLS, but was contacted by plain HTTP.
    #[error("the server speaks TLS, not plain HTTP")]
    RequiresTls,
    /// A failure at another host, to which the registry or its login redirects.
    #[error("redirected to {0}: {1}")]
    Elsewhere(String, Box<Self>),
    /// Authentication required or rejected (401).
    #[error("login required or rejected (401)")]
    Unauthorized,
    /// Access denied (403).
    #[error("access denied (403)")]
    Forbidden,
    /// Not found (404).
    #[error("not found (404)")]
    NotFound,
    /// Too many requests (429), with the delay if given.
    #[error("too many requests (429)")]
    TooMany(Option<Duration>),
    /// Server error (5xx).
    #[error("server error ({0})")]
    Server(u16),
    /// Not a registry's response.
    #[error("not an answer of a registry: {0}")]
    NotARegistry(String),
    /// A write that the registry does not accept (4xx).
    #[error("request refused ({0})")]
    Refused(u16),
    /// An upload was interrupted, and the registry does not have what it accepted before.
    #[error("connection interrupted; the registry accepted {sent} bytes and has {}", .has.map_or("none".to_owned(), |has| has.to_string()))]
    UploadLost {
        /// Bytes that it accepted.
        sent: u64,
        /// Bytes that it has; `None` if it forgot the upload.
        has: Option<u64>,
    },
    /// Digest mismatch.
    #[error("digest mismatch: {0}")]
    WrongDigest(String),
    /// The connection broke repeatedly.
    #[error("connection interrupted: {0}")]
    Cut(String),
    /// Timeout while receiving.
    #[error("no data for {}", seconds(*.0))]
    Slow(Duration),
    /// A document exceeds its size limit.
    #[error("larger than the limit of {}", crate::base::size::human(*.0))]
    TooLarge(u64),
    /// An unusable certificate or settings file.
    #[error("{0}")]
    Settings(String),
}

/// Why a registry request failed. Contains no secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegistryError {
    /// Host and port, as in the reference.
    pub host: String,
    /// The repository.
    pub repository: String,
    /// Requested object, such as `the manifest of latest`.
    pub wanted: String,
    /// Why.
    pub fault: Fault,
    /// Message of the registry.
    pub said: Option<String>,
    /// Credentials, mirrors and attempts that were tried, with the results.
    pub tried: Vec<Tried>,
}

/// Object of a tag request.
pub(super) const TAGS: &str = "the tag list";

impl fmt::Display for RegistryError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "cannot get {} of {} from {}: ", self.wanted, self.repository, self.host)?;
        self.write_why(formatter)
    }
}

impl std::error::Error for RegistryError {}

impl RegistryError {
    fn write_why(&self, formatter: &mut dyn fmt::Write) -> fmt::Result {
        write!(formatter, "{}", self.fault)?;
        if let Some(said) = &self.said {
            write!(formatter, "; server message: {said}")?;
        }
        for (place, tried) in self.tried.iter().enumerate() {
            let lead = if place == 0 { "; tried: " } else { ", " };
            write!(formatter, "{lead}{tried}")?;
        }
        Ok(())
    }

    /// Cause, server message and attempts, without the requested object.
    pub fn why(&self) -> String {
        let mut why = String::new();
        // Writing to a String cannot fail.
        self.write_why(&mut why).ok();
        why
    }

    /// What the user can do about it.
    pub fn hint(&self) -> Option<String> {
        let host = &self.host;
        Some(match &self.fault {
            Fault::UnknownHost => format!("check the host name {host} and the network; set HTTPS_PROXY to use a proxy"),
            Fault::Unreachable(_) => {
                format!("check that {host} is up and the port is right; HTTPS_PROXY and NO_PROXY control the proxy")
            }
            Fault::Certificate(why) if why.contains("signed") => format!(
                "pass its CA with --ca-file FILE or SSL_CERT_FILE, or add it as /etc/docker/certs.d/{host}/ca.crt"
            ),
            Fault::Certificate(why) if why.contains("alert") => format!("the server may require a client certificate: \
                add it with its key as /etc/docker/certs.d/{host}/client.cert and client.key"),
            Fault::Certificate(_) => "the server needs a certificate valid for this name and today; check this \
                machine's clock too".into(),
            Fault::CaAsServer => {
                "create a server certificate signed by the CA, and pass the CA with --ca-file; or use --plain-http".into()
            }
            Fault::PlainHttp => "use --plain-http to connect without TLS; traffic is then neither encrypted nor \
                authenticated".into(),
            Fault::Elsewhere(other, _) => format!("check that this machine can reach {other}; HTTPS_PROXY and NO_PROXY \
                control the proxy"),
            Fault::RequiresTls => "omit --plain-http".into(),
            Fault::Unauthorized | Fault::Forbidden => {
                format!("check the name; for a private repository, run docker login {host} or podman login {host}")
            }
            Fault::NotFound if self.wanted == TAGS => "check the name".into(),
            Fault::NotFound => {
                format!("check the name and the tag; list tags with `cutaway tags {host}/{}`", self.repository)
            }
            Fault::TooMany(wait) => {
                let wait = wait.map_or_else(|| "wait".to_owned(), |wait| format!("wait {}", seconds(wait)));
                format!("{wait}, or log in for a higher limit: docker login {host} or podman login {host}")
            }
            Fault::Server(_) => format!("try again later; if it persists, contact the operator of {host}"),
            Fault::NotARegistry(_) => format!("check that {host} is a registry on the right port, not a web page or a \
                login page of a proxy"),
            Fault::Refused(405) => format!("{host} may be read-only, or a mirror: push to another registry"),
            Fault::Refused(413) => format!("{host} or a proxy before it limits the size of requests"),
            Fault::Refused(_) => format!("check the name and the rules of {host} for it, such as tags that stay"),
            Fault::WrongDigest(_) => "a proxy modifies the data, or the registry's storage is damaged; nothing of it is \
                used".into(),
            Fault::Cut(_) | Fault::UploadLost { .. } => "try again; a proxy or firewall may close long connections".into(),
            Fault::Slow(_) => "try again later, or check the network".into(),
            Fault::TooLarge(_) | Fault::Settings(_) => return None,
        })
    }

    /// The host to log in to, when that may help.
    pub fn login(&self) -> Option<&str> {
        matches!(self.fault, Fault::Unauthorized | Fault::Forbidden).then_some(self.host.as_str())
    }
}

/// A time as messages show it.
pub(super) fn seconds(time: Duration) -> String {
    let tenths = (time.as_millis() + 50) / 100;
    match (tenths, tenths % 10) {
        (0, _) => format!("{} ms", time.as_millis()),
        (_, 0) => format!("{} s", tenths / 10),
        _ => format!("{}.{} s", tenths / 10, tenths % 10),
    }
}

/// Maximum bytes of a server message.
const MAX_MESSAGE_BYTES: usize = 400;

/// The message in an error body: bounded, safe to show, without secrets in URLs, and `without_secrets` that were sent,
/// which a server may repeat.
pub(super) fn said(body: &[u8], without_secrets: impl Fn(String) -> String) -> Option<String> {
    let text = match serde_json::from_slice::<oci_client::errors::OciEnvelope>(body) {
        Ok(envelope) => envelope.errors.iter().map(one_error).collect::<Vec<_>>().join("; "),
        Err(_) => other_error(body),
    };
    let text = without_secrets(text);
    let text = crate::base::text::printable(text.trim());
    let text = crate::base::text::elide_end(&without_queries(&text), MAX_MESSAGE_BYTES);
    (!text.is_empty()).then_some(text)
}

fn one_error(error: &oci_client::errors::OciError) -> String {
    let code = serde_json::to_value(&error.code).ok();
    let code = code.as_ref().and_then(Value::as_str).unwrap_or("error");
    if error.message.is_empty() { code.to_owned() } else { format!("{} ({code})", error.message) }
}

/// Message of token servers and reverse proxies: other JSON forms, or a line of text. A web page has no message in its
/// first line.
fn other_error(body: &[u8]) -> String {
    const KEYS: [&str; 4] = ["details", "message", "error_description", "error"];
    let json: Option<Value> = serde_json::from_slice(body).ok();
    let detail = json.as_ref().and_then(|json| KEYS.iter().find_map(|key| json.get(*key)?.as_str()));
    let text = std::str::from_utf8(body).unwrap_or_default();
    let line = text.trim().lines().next().filter(|line| !line.starts_with(['<', '{', '[']));
    detail.or(line).unwrap_or_default().to_owned()
}

/// URLs without user info, and without queries, which may be signed.
fn without_queries(text: &str) -> String {
    let text = crate::base::redact::url_user_info(text);
    let cut = |word: &str| match word.split_once("://") {
        Some((_, rest)) if rest.contains('?') => word.split('?').next().unwrap_or_default().to_owned() + "?…",
        _ => word.to_owned(),
    };
    text.split(' ').map(cut).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::super::access::Tried;
    use super::{Fault, RegistryError, seconds};

    fn said(body: &[u8]) -> Option<String> {
        super::said(body, |text| text)
    }

    fn error(fault: Fault) -> RegistryError {
        RegistryError {
            host: "registry.example:5000".into(),
            repository: "team/app".into(),
            wanted: "the manifest of latest".into(),
            fault,
            said: None,
            tried: Vec::new(),
        }
    }

    #[test]
    fn an_error_names_thing_repository_host_cause_answer_and_what_was_tried() {
        let tried = |way: &str, result: &str| Tried { way: way.into(), result: result.into() };
        let error = RegistryError {
            said: Some("authentication required (UNAUTHORIZED)".into()),
            tried: vec![tried("auth.json", "refused (401)"), tried("anonymous", "refused")],
            ..error(Fault::Unauthorized)
        };
        assert_eq!(
            error.to_string(),
            "cannot get the manifest of latest of team/app from registry.example:5000: login required \
             or rejected (401); server message: authentication required (UNAUTHORIZED); tried: auth.json: refused \
             (401), anonymous: refused"
        );
        assert_eq!(error.login(), Some("registry.example:5000"));
        assert!(error.hint().is_some_and(|hint| hint.contains("podman login registry.example:5000")));
    }

    #[test]
    fn each_fault_that_the_user_can_act_on_says_how() {
        let hint = |fault| error(fault).hint().unwrap_or_default();
        assert!(hint(Fault::NotFound).contains("cutaway tags registry.example:5000/team/app"));
        assert!(hint(Fault::TooMany(Some(Duration::from_secs(90)))).contains("wait 90 s"));
        assert!(hint(Fault::PlainHttp).contains("--plain-http"));
        assert!(hint(Fault::CaAsServer).contains("signed by the CA"));
        let unknown = Fault::Certificate("certificate not signed by a trusted CA".into());
        let hint = hint(unknown);
        for way in ["--ca-file", "SSL_CERT_FILE", "/etc/docker/certs.d/registry.example:5000/ca.crt"] {
            assert!(hint.contains(way), "{hint}");
        }
    }

    #[test]
    fn what_a_registry_says_is_short_harmless_and_without_signed_queries() {
        let body =
            br#"{"errors":[{"code":"DENIED","message":"see https://u:p@store.example/x?sig=SECRET now"}]}"#;
        let text = said(body).expect("a message");
        assert!(!text.contains("SECRET") && !text.contains("u:p"), "{text}");
        assert!(text.ends_with("now (DENIED)"), "{text}");
        assert_eq!(said(b"<html>many words</html>"), None);
        assert_eq!(said(b"\xff\xfe"), None);
        assert_eq!(said(b"bad\x1b[31m\nmore").as_deref(), Some("bad\\x1b[31m"));
        assert_eq!(
            said(br#"{"details":"wrong name or password"}"#).as_deref(),
            Some("wrong name or password")
        );
        let long = said("word ".repeat(10_000).as_bytes()).expect("a message");
        assert!(long.chars().count() <= super::MAX_MESSAGE_BYTES);
    }

    #[test]
    fn times_are_shown_in_seconds() {
        assert_eq!(seconds(Duration::from_secs(30)), "30 s");
        assert_eq!(seconds(Duration::from_millis(520)), "0.5 s");
        assert_eq!(seconds(Duration::from_millis(20)), "20 ms");
    }
}
