//! Bearer tokens as registries hand them out: the challenge, the token server, and what a token is worth.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

use super::http::Head;
use super::proxy::Kind;

/// Who may have a token, and which tokens are worth something.
#[derive(Default)]
pub struct Guard {
    /// `NAME:PASSWORD`; without, everybody gets a token.
    login: Option<String>,
    /// A refresh token that is exchanged by POST.
    identity: Option<String>,
    given: AtomicUsize,
    worth: Mutex<Vec<String>>,
}

impl Guard {
    /// Tokens for everybody.
    pub fn anonymous() -> Self {
        Self::default()
    }

    /// Tokens for `NAME:PASSWORD`.
    pub fn login(login: &str) -> Self {
        Self { login: Some(login.to_owned()), ..Self::default() }
    }

    /// Tokens for who brings this refresh token.
    pub fn identity(token: &str) -> Self {
        Self { identity: Some(token.to_owned()), ..Self::default() }
    }

    /// No token that was given out is worth anything any more.
    pub fn expire(&self) {
        self.worth.lock().unwrap().clear();
    }

    /// The answer of the token server, or a challenge; `None` lets the request pass.
    pub fn judge(&self, request: &Head, body: &[u8], kind: Kind, port: u16) -> Option<(Head, String)> {
        let given = request.get("authorization").unwrap_or("");
        if kind == Kind::Token {
            if !self.may_have_one(request, given, body) {
                return Some((Head::answer(401), r#"{"details":"incorrect username or password"}"#.into()));
            }
            let token = format!("HUNTER2-{}", self.given.fetch_add(1, Ordering::SeqCst));
            self.worth.lock().unwrap().push(token.clone());
            let head = Head::answer(200).with("Content-Type", "application/json");
            return Some((
                head,
                format!(r#"{{"token":"{token}","access_token":"{token}","expires_in":300}}"#),
            ));
        }
        let worth = self.worth.lock().unwrap();
        if worth.iter().any(|token| given == format!("Bearer {token}")) {
            return None;
        }
        let realm = format!("http://127.0.0.1:{port}/token");
        let repository = request.word(1).trim_start_matches("/v2/");
        let end = ["/manifests/", "/blobs/", "/tags/"].iter().find_map(|part| repository.find(part));
        let scope =
            end.map_or_else(String::new, |end| format!(",scope=\"repository:{}:pull\"", &repository[..end]));
        let challenge = format!("Bearer realm=\"{realm}\",service=\"tests\"{scope}");
        let body = r#"{"errors":[{"code":"UNAUTHORIZED","message":"authentication required"}]}"#;
        Some((Head::answer(401).with("WWW-Authenticate", &challenge), body.into()))
    }

    fn may_have_one(&self, request: &Head, given: &str, body: &[u8]) -> bool {
        if let Some(identity) = &self.identity {
            let body = String::from_utf8_lossy(body);
            let field =
                |name: &str| body.split('&').find_map(|pair| pair.strip_prefix(name)).map(str::to_owned);
            return request.word(0) == "POST"
                && field("grant_type=").as_deref() == Some("refresh_token")
                && field("refresh_token=").as_ref() == Some(identity)
                && field("scope=").is_some_and(|scope| scope.contains("pull"));
        }
        let whole = request.word(0) == "GET"
            && request.word(1).contains("service=tests")
            && request.word(1).contains("scope=repository");
        let expected = self.login.as_ref().map(|login| format!("Basic {}", BASE64_STANDARD.encode(login)));
        whole && expected.is_none_or(|expected| given == expected)
    }
}
