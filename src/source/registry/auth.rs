//! Authentication: challenges of a registry, and the answers.
//!
//! Docker's token protocol (distribution.github.io/distribution/spec/auth): a registry answers 401 and names a token
//! server (realm), which issues a token for a scope to known users, and often to anonymous ones.

use std::collections::VecDeque;
use std::sync::PoisonError;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use http_auth::ChallengeParser;
use reqwest::header::{CONTENT_TYPE, HeaderMap, WWW_AUTHENTICATE};
use reqwest::{Method, RequestBuilder, Url};
use serde::Deserialize;
use tokio::sync::Mutex;

use super::super::access::{Credential, Tried};
use super::credentials::{Search, StoredCredential};
use super::error::Fault;
use super::message::Message;
use super::session::{Job, Session};
use super::transport::{Failure, Stop};
use crate::base::redact::REDACTED;
use crate::base::text::printable;

/// An answer of a token server: tokens have some KiB.
const TOKEN_BYTES: u64 = 1 << 20;
/// Client id for refresh tokens: any name works.
const CLIENT: &str = "cutaway";

/// Proof sent with a request. No `Debug`: all of it is secret.
#[derive(Clone)]
pub(super) enum Proof {
    Password { user: String, password: String },
    Token(String),
}

impl Proof {
    pub(super) fn apply(&self, request: RequestBuilder) -> RequestBuilder {
        match self {
            Self::Password { user, password } => request.basic_auth(user, Some(password)),
            Self::Token(token) => request.bearer_auth(token),
        }
    }
}

/// Secret parts of a credential, which the server may repeat.
fn secrets(credential: &Credential) -> Vec<String> {
    match credential {
        Credential::Password { user, password } => {
            vec![BASE64_STANDARD.encode(format!("{user}:{password}")), password.clone()]
        }
        Credential::IdentityToken(token) | Credential::Bearer(token) => vec![token.clone()],
    }
}

/// A challenge that can be answered.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Challenge {
    Basic,
    Bearer { realm: Url, service: Option<String>, scope: Option<String> },
}

/// Authentication state at one endpoint.
pub(super) struct Auth {
    state: Mutex<AuthState>,
    /// All secrets that were or may be sent, oldest first.
    secrets: std::sync::Mutex<Vec<String>>,
}

struct AuthState {
    /// Credentials that were not rejected yet, the current one first; `None` is anonymous.
    candidates: VecDeque<Option<StoredCredential>>,
    tried: Vec<Tried>,
    challenges: Vec<Challenge>,
    proof: Option<Proof>,
    /// Whether the proof was accepted before: then a 401 means that it has expired.
    proven: bool,
    /// Number of proofs so far, so that of several requests rejected together only one renews it.
    generation: u64,
    told: bool,
}

/// The current proof and its generation.
pub(super) struct CurrentProof {
    pub(super) proof: Option<Proof>,
    pub(super) generation: u64,
}

impl Auth {
    pub(super) fn new(search: Search) -> Self {
        let proof = match search.found.first().map(|found| &found.credential) {
            Some(Credential::Bearer(token)) => Some(Proof::Token(token.clone())),
            _ => None,
        };
        let secrets = search.found.iter().flat_map(|found| secrets(&found.credential)).collect();
        let state = AuthState {
            candidates: search.found.into_iter().map(Some).chain([None]).collect(),
            tried: search.tried,
            challenges: Vec::new(),
            proof,
            proven: false,
            generation: 0,
            told: false,
        };
        Self { state: Mutex::new(state), secrets: std::sync::Mutex::new(secrets) }
    }

    /// `text` from the server, without secrets.
    pub(super) fn without_secrets(&self, text: String) -> String {
        let secrets = self.secrets.lock().unwrap_or_else(PoisonError::into_inner);
        let secrets = secrets.iter().filter(|secret| !secret.is_empty());
        secrets.fold(text, |text, secret| text.replace(secret, REDACTED))
    }

    pub(super) async fn now(&self) -> CurrentProof {
        let state = self.state.lock().await;
        CurrentProof { proof: state.proof.clone(), generation: state.generation }
    }

    /// Whether to request the challenge before anything else, so that a user with credentials never requests
    /// anonymously.
    pub(super) async fn asks_first(&self) -> bool {
        let state = self.state.lock().await;
        state.generation == 0 && state.proof.is_none() && matches!(state.candidates.front(), Some(Some(_)))
    }

    /// Attempts and their results.
    pub(super) async fn tried(&self) -> Vec<Tried> {
        self.state.lock().await.tried.clone()
    }

    /// A request with `generation` succeeded.
    pub(super) async fn accepted(&self, generation: u64, session: &Session, job: Job<'_>) {
        let mut state = self.state.lock().await;
        if state.generation != generation || state.proven {
            return;
        }
        state.proven = true;
        let refused: Vec<String> = state
            .tried
            .iter()
            .filter(|tried| tried.result.starts_with("refused"))
            .map(ToString::to_string)
            .collect();
        if !refused.is_empty() && !state.told && matches!(state.candidates.front(), Some(None)) {
            state.told = true;
            let message = format!("{}: {}; retrying anonymously", session.host, refused.join(", "));
            job.progress.tell(message);
        }
    }

    /// A request with `generation` was refused with `status`; `headers` have the challenge. Returns whether there is
    /// another proof to try.
    pub(super) async fn refused(
        &self,
        generation: u64,
        status: u16,
        headers: &HeaderMap,
        session: &Session,
        job: Job<'_>,
    ) -> Result<bool, Stop> {
        let mut state = self.state.lock().await;
        if state.generation != generation {
            return Ok(true);
        }
        let wanted = challenges(headers);
        if !wanted.is_empty() {
            state.challenges = wanted;
        }
        if status == 403 && (state.proven || state.candidates.len() < 2 || state.challenges.is_empty()) {
            return Ok(false);
        }
        let expired = std::mem::take(&mut state.proven) && !state.is_fixed();
        if expired {
            // The old proof is invalid, whatever the next attempt gives.
            state.proof = None;
        } else if state.proof.is_some() {
            state.refuse(format!("refused ({status})"));
        }
        while let Some(candidate) = state.candidates.front().cloned() {
            let made = make(candidate.as_ref(), &state.challenges, session, job).await?;
            match made {
                Ok(proof) => {
                    if let Proof::Token(token) = &proof {
                        self.secrets.lock().unwrap_or_else(PoisonError::into_inner).push(token.clone());
                    }
                    state.proof = Some(proof);
                    state.generation += 1;
                    return Ok(true);
                }
                Err(result) => state.refuse(result),
            }
        }
        Ok(false)
    }
}

impl AuthState {
    /// Whether the proof cannot be renewed.
    fn is_fixed(&self) -> bool {
        let front = self.candidates.front().and_then(Option::as_ref);
        matches!(self.proof, Some(Proof::Password { .. }))
            || matches!(front.map(|found| &found.credential), Some(Credential::Bearer(_)))
    }

    fn refuse(&mut self, result: String) {
        self.proof = None;
        if let Some(candidate) = self.candidates.pop_front() {
            let way = candidate.map_or_else(|| "anonymous".to_owned(), |found| found.way);
            self.tried.push(Tried { way, result });
        }
    }
}

/// The proof of `candidate`; the inner error is why there is none.
async fn make(
    candidate: Option<&StoredCredential>,
    challenges: &[Challenge],
    session: &Session,
    job: Job<'_>,
) -> Result<Result<Proof, String>, Stop> {
    let bearer = challenges.iter().find(|challenge| matches!(challenge, Challenge::Bearer { .. }));
    match (candidate.map(|found| &found.credential), bearer) {
        (Some(Credential::Bearer(token)), _) => Ok(Ok(Proof::Token(token.clone()))),
        (credential, Some(Challenge::Bearer { realm, service, scope })) => {
            fetch(credential, realm, service.as_deref(), scope.as_deref(), session, job).await
        }
        (Some(Credential::Password { user, password }), _) if challenges.contains(&Challenge::Basic) => {
            Ok(Ok(Proof::Password { user: user.clone(), password: password.clone() }))
        }
        (Some(_), _) => Ok(Err("not supported by this registry".into())),
        (None, _) => Ok(Err("refused (401)".into())),
    }
}

/// Gets a token.
async fn fetch(
    credential: Option<&Credential>,
    realm: &Url,
    service: Option<&str>,
    scope: Option<&str>,
    session: &Session,
    job: Job<'_>,
) -> Result<Result<Proof, String>, Stop> {
    let server = printable(realm.host_str().unwrap_or("its token server"));
    if credential.is_some() && realm.scheme() == "http" && !session.may_speak_plain_to(realm) {
        return Ok(Err(format!("not sent: the token server {server} uses plain HTTP")));
    }
    let scopes = session.scopes(scope);
    let joined = scopes.join(" ");
    let mut pairs: Vec<(&str, &str)> = service.map(|service| ("service", service)).into_iter().collect();
    let mut url = realm.clone();
    let mut form = None;
    let mut proof = None;
    match credential {
        Some(Credential::IdentityToken(token)) => {
            pairs.extend([
                ("scope", joined.as_str()),
                ("grant_type", "refresh_token"),
                ("client_id", CLIENT),
                ("refresh_token", token),
            ]);
            // A form and a query have the same encoding.
            let mut query = realm.clone();
            query.query_pairs_mut().clear().extend_pairs(&pairs);
            form = Some(query.query().unwrap_or_default().to_owned());
        }
        other => {
            pairs.extend(scopes.iter().map(|scope| ("scope", scope.as_str())));
            if let Some(Credential::Password { user, password }) = other {
                pairs.push(("account", user));
                proof = Some(Proof::Password { user: user.clone(), password: password.clone() });
            }
            url.query_pairs_mut().extend_pairs(&pairs);
        }
    }
    let headers = [(CONTENT_TYPE, "application/x-www-form-urlencoded".to_owned())];
    let message = match form {
        Some(form) => {
            Message { body: Some(form.into()), follow: false, ..Message::new(Method::POST, &headers) }
        }
        None => Message::new(Method::GET, &[]),
    };
    let mut response = session.send(url, &message, proof.as_ref(), job).await?;
    let status = response.status().as_u16();
    match status {
        200..=299 => {}
        429 | 500..=599 => {
            let mut failure = session.failed(response, job).await?;
            failure.said = Some(match failure.said {
                Some(said) => format!("(token server {server}) {said}"),
                None => format!("from its token server {server}"),
            });
            return Err(Stop::Failed(failure));
        }
        _ => return Ok(Err(format!("refused ({status} from the token server {server})"))),
    }
    let body = session.body(&mut response, TOKEN_BYTES, job).await?;
    let answer: TokenAnswer = serde_json::from_slice(&body).unwrap_or_default();
    let token = answer.token.or(answer.access_token).filter(|token| !token.is_empty());
    if let Some(token) = token.filter(|token| token.bytes().all(|byte| byte.is_ascii_graphic())) {
        return Ok(Ok(Proof::Token(token)));
    }
    let fault = Fault::NotARegistry(format!("no token from the token server {server}"));
    Err(Stop::Failed(Failure::of(fault)))
}

#[derive(Default, Deserialize)]
struct TokenAnswer {
    token: Option<String>,
    access_token: Option<String>,
}

/// The challenges in the headers of an answer.
fn challenges(headers: &HeaderMap) -> Vec<Challenge> {
    let mut wanted = Vec::new();
    for text in headers.get_all(WWW_AUTHENTICATE).iter().filter_map(|value| value.to_str().ok()) {
        for challenge in ChallengeParser::new(text).filter_map(Result::ok) {
            let param = |name: &str| {
                let mut params = challenge.params.iter();
                let found = params.find(|(key, _)| key.eq_ignore_ascii_case(name));
                found.map(|(_, value)| value.to_unescaped()).filter(|value| !value.is_empty())
            };
            if challenge.scheme.eq_ignore_ascii_case("basic") {
                wanted.push(Challenge::Basic);
            } else if challenge.scheme.eq_ignore_ascii_case("bearer")
                && let Some(realm) = param("realm").and_then(|realm| Url::parse(&realm).ok())
                && matches!(realm.scheme(), "http" | "https")
            {
                wanted.push(Challenge::Bearer { realm, service: param("service"), scope: param("scope") });
            }
        }
    }
    wanted
}

#[cfg(test)]
mod tests {
    use reqwest::Url;
    use reqwest::header::{HeaderMap, HeaderValue, WWW_AUTHENTICATE};

    use super::{Challenge, challenges};

    fn of(values: &[&'static str]) -> Vec<Challenge> {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(WWW_AUTHENTICATE, HeaderValue::from_static(value));
        }
        challenges(&headers)
    }

    #[test]
    fn challenges_are_found_in_one_header_and_in_several() {
        let bearer = Challenge::Bearer {
            realm: Url::parse("https://auth.example/token").expect("a URL"),
            service: Some("registry.example".into()),
            scope: Some("repository:a/b:pull".into()),
        };
        let text = r#"bearer realm="https://auth.example/token",service="registry.example",scope="repository:a/b:pull""#;
        assert_eq!(of(&[text]), std::slice::from_ref(&bearer));
        assert_eq!(of(&[r#"Basic realm="x""#, text]), [Challenge::Basic, bearer]);
        assert_eq!(of(&[r#"Negotiate, BASIC realm="x""#]), [Challenge::Basic]);
    }

    #[test]
    fn a_realm_that_is_no_web_address_is_no_challenge() {
        assert_eq!(of(&[r#"Bearer realm="file:///etc/passwd""#]), []);
        assert_eq!(of(&[r#"Bearer service="x""#]), []);
        assert_eq!(of(&["\"\"=,"]), []);
    }
}
