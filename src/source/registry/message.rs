//! What is sent, to where, and where a redirect leads.

use bytes::Bytes;
use reqwest::header::{HeaderMap, HeaderName, LOCATION};
use reqwest::{Method, StatusCode, Url};

use super::error::Fault;
use crate::base::text::printable;

/// Redirects in a row: one or two lead to a blob.
pub(super) const MOST_REDIRECTS: usize = 10;
/// Where a request goes.
pub(super) enum Place<'a> {
    /// Below the repository.
    Repository(&'a str),
    /// An address that the registry gave.
    Url(&'a Url),
}

/// A request without its address.
pub(super) struct Message<'a> {
    pub(super) method: Method,
    pub(super) headers: &'a [(HeaderName, String)],
    pub(super) body: Option<Bytes>,
    /// Whether redirects are followed: not with a body that contains a secret.
    pub(super) follow: bool,
}

impl<'a> Message<'a> {
    pub(super) fn new(method: Method, headers: &'a [(HeaderName, String)]) -> Self {
        Self { method, headers, body: None, follow: true }
    }

    pub(super) fn reads(&self) -> bool {
        matches!(self.method, Method::GET | Method::HEAD)
    }

    /// Whether an answer with this status is a redirect to follow. Others than these change the method of a write.
    pub(super) fn follows(&self, status: StatusCode) -> bool {
        self.follow && is_redirect(status) && (self.reads() || matches!(status.as_u16(), 307 | 308))
    }
}

fn is_redirect(status: StatusCode) -> bool {
    matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308)
}

/// Target of a redirect.
pub(super) fn target(from: &Url, headers: &HeaderMap) -> Result<Url, Fault> {
    let broken = || Fault::NotARegistry("redirect without a target".into());
    let place = headers.get(LOCATION).and_then(|value| value.to_str().ok()).ok_or_else(broken)?;
    let mut url = from.join(place).map_err(|_| broken())?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(broken());
    }
    // reqwest would make a password of it.
    url.set_username("").and_then(|()| url.set_password(None)).map_err(|()| broken())?;
    Ok(url)
}

/// Only host and port of a URL.
pub(super) fn shown_host(url: &Url) -> String {
    let host = printable(url.host_str().unwrap_or_default());
    url.port().map_or_else(|| host.clone(), |port| format!("{host}:{port}"))
}
