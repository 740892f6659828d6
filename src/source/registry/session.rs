//! One endpoint: its scheme, its authentication, and requests with retries.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use memchr::memmem;
use reqwest::header::{ACCEPT_ENCODING, HeaderName, RETRY_AFTER};
use reqwest::{Client, Method, Response, StatusCode, Url};

use super::super::access::{Access, Tried};
use super::super::error::SourceError;
use super::auth::{Auth, Proof};
use super::credentials::Search;
use super::error::{Fault, RegistryError, said, seconds};
use super::message::{MOST_REDIRECTS, Message, Place, shown_host, target};
use super::retry::{Retries, Times, retry_after};
use super::settings::Endpoint;
use super::transport::{Failure, Stop, Transport, failure, is_at, is_loopback, pause, within};
use crate::base::text::printable;
use crate::jobs::{CancelToken, Cancelled, Progress};

/// Maximum bytes read of an error body.
const ERROR_BYTES: u64 = 64 << 10;
/// Maximum authentication rounds: each credential takes at most two.
const MOST_PROOFS: usize = 64;

/// Bytes per second that a body must be sent at, at least.
const SLOWEST: u64 = 64 << 10;

/// Cancellation and progress of a request.
#[derive(Clone, Copy)]
pub(super) struct Job<'a> {
    pub(super) cancel: &'a CancelToken,
    pub(super) progress: &'a Progress,
}

/// A requested object.
pub(super) struct Ask<'a> {
    /// Below the repository, such as `manifests/latest`.
    pub(super) path: &'a str,
    /// Name in messages.
    pub(super) wanted: &'a str,
    pub(super) headers: &'a [(HeaderName, String)],
}

/// A session with one endpoint for one repository.
pub(super) struct Session {
    /// Host and port for messages.
    pub(super) host: String,
    pub(super) times: Times,
    endpoint: Endpoint,
    /// What a token must allow; empty to ask for what the registry's challenge names.
    scopes: Vec<String>,
    transport: Transport,
    auth: Auth,
    /// Whether plain HTTP was requested.
    plain_is_wanted: bool,
    /// Whether the endpoint uses plain HTTP.
    plain: AtomicBool,
    /// Whether plain HTTP may be tried.
    may_be_plain: bool,
    /// Whether it has answered.
    answered: AtomicBool,
    /// Whether the challenge was requested.
    asked: AtomicBool,
}

impl Session {
    pub(super) fn new(
        host: &str,
        endpoint: &Endpoint,
        search: Search,
        access: &Access,
        times: Times,
    ) -> Result<Self, Fault> {
        let base = Url::parse(&format!("https://{}/", endpoint.host));
        let loopback = base.is_ok_and(|url| url.host_str().is_some_and(is_loopback));
        Ok(Self {
            host: host.to_owned(),
            times,
            endpoint: endpoint.clone(),
            scopes: Vec::new(),
            transport: Transport::new(endpoint, access, &times)?,
            auth: Auth::new(search),
            plain_is_wanted: access.plain_http,
            plain: AtomicBool::new(access.plain_http),
            may_be_plain: loopback || endpoint.insecure,
            answered: AtomicBool::new(false),
            asked: AtomicBool::new(false),
        })
    }

    /// The session for writing, and for reading from these repositories of the same registry.
    pub(super) fn for_push(mut self, sources: &[String]) -> Self {
        let own = format!("repository:{}:pull,push", self.endpoint.repository);
        let sources = sources.iter().map(|source| format!("repository:{source}:pull"));
        self.scopes = std::iter::once(own).chain(sources).collect();
        self
    }

    /// What a token must allow, the repository first. The challenge may name the repository in the registry's own way.
    pub(super) fn scopes(&self, challenge: Option<&str>) -> Vec<String> {
        let mut scopes = self.scopes.clone();
        match (scopes.first_mut(), challenge) {
            (None, Some(challenge)) => scopes.push(challenge.to_owned()),
            (None, None) => scopes.push(format!("repository:{}:pull", self.endpoint.repository)),
            (Some(own), Some(challenge)) if challenge.contains("push") => challenge.clone_into(own),
            _ => {}
        }
        scopes
    }

    fn is_plain(&self) -> bool {
        self.plain.load(Ordering::Relaxed)
    }

    /// Whether plain HTTP is allowed for `url`: on request, on the loopback interface, or for an endpoint that the
    /// settings mark as insecure.
    pub(super) fn may_speak_plain_to(&self, url: &Url) -> bool {
        self.plain_is_wanted
            || url.host_str().is_some_and(is_loopback)
            || self.endpoint.insecure && is_at(url, &self.endpoint.host)
    }

    /// Whether an unreachable server was reachable before, and may be restarting.
    fn is_there(&self, failure: &Failure) -> bool {
        let fault = match &failure.fault {
            Fault::Elsewhere(_, fault) => fault,
            fault => fault,
        };
        matches!(fault, Fault::Unreachable(_) | Fault::UnknownHost) && self.answered.load(Ordering::Relaxed)
    }

    /// Retries until a response has status 200 to 299, or 416, which is about a range.
    pub(super) async fn get(
        &self,
        ask: &Ask<'_>,
        retries: &mut Retries,
        job: Job<'_>,
    ) -> Result<Response, SourceError> {
        let message = Message::new(Method::GET, ask.headers);
        self.request(&Place::Repository(ask.path), &message, ask.wanted, retries, job).await
    }

    /// Retries until a request succeeds, as [`Self::exchange`] says.
    pub(super) async fn request(
        &self,
        place: &Place<'_>,
        message: &Message<'_>,
        wanted: &str,
        retries: &mut Retries,
        job: Job<'_>,
    ) -> Result<Response, SourceError> {
        loop {
            match self.exchange(place, message, job).await {
                Ok(response) => return Ok(response),
                Err(stop) => self.again(stop, wanted, retries, job).await?,
            }
        }
    }

    /// Waits for the next attempt after a failure; returns the error if there is none.
    pub(super) async fn again(
        &self,
        stop: Stop,
        wanted: &str,
        retries: &mut Retries,
        job: Job<'_>,
    ) -> Result<(), SourceError> {
        let failure = match stop {
            Stop::Cancelled => return Err(Cancelled.into()),
            Stop::Failed(failure) => failure,
        };
        let failure = Failure { again: failure.again || self.is_there(&failure), ..failure };
        let wait = if failure.again { retries.next_wait(failure.after) } else { None };
        let Some(wait) = wait else {
            let made = retries.made();
            let mut error = self.error(wanted, failure).await;
            if made > 1 {
                error.tried.push(Tried { way: format!("{made} attempts"), result: "all failed".into() });
            }
            return Err(SourceError::Registry(Box::new(error)));
        };
        let (made, most) = (retries.made(), retries.most());
        let message =
            format!("{}: {}; retrying in {} ({made} of {most})", self.host, failure.fault, seconds(wait));
        job.progress.tell(message);
        pause(wait, job.cancel).await.map_err(|_| Cancelled.into())
    }

    /// The error of a failure at this endpoint.
    pub(super) async fn error(&self, wanted: &str, failure: Failure) -> RegistryError {
        let about_login = matches!(failure.fault, Fault::Unauthorized | Fault::Forbidden);
        RegistryError {
            host: self.host.clone(),
            repository: self.endpoint.repository.clone(),
            wanted: wanted.to_owned(),
            fault: failure.fault,
            said: failure.said,
            tried: if about_login { self.auth.tried().await } else { Vec::new() },
        }
    }

    /// Sends one request, with as many proofs as it takes. A response has status 200 to 299, or 416 to a read, which is
    /// about a range.
    pub(super) async fn exchange(
        &self,
        place: &Place<'_>,
        message: &Message<'_>,
        job: Job<'_>,
    ) -> Result<Response, Stop> {
        let empty = Message::new(Method::GET, &[]);
        if !self.asked.load(Ordering::Relaxed) && self.auth.asks_first().await {
            let response = self.send_here("", &empty, None, job).await?;
            if response.status() == StatusCode::UNAUTHORIZED && is_at(response.url(), &self.endpoint.host) {
                self.auth.refused(0, 401, response.headers(), self, job).await?;
            }
            self.asked.store(true, Ordering::Relaxed);
        }
        for _ in 0..MOST_PROOFS {
            let now = self.auth.now().await;
            let response = match place {
                Place::Repository(path) => {
                    let path = format!("{}/{path}", self.endpoint.repository);
                    self.send_here(&path, message, now.proof.as_ref(), job).await?
                }
                Place::Url(url) => {
                    let proof = now.proof.as_ref().filter(|_| is_at(url, &self.endpoint.host));
                    self.send((*url).clone(), message, proof, job).await?
                }
            };
            let status = response.status();
            if status.is_success() || status == StatusCode::RANGE_NOT_SATISFIABLE && message.reads() {
                self.auth.accepted(now.generation, self, job).await;
                return Ok(response);
            }
            let here = is_at(response.url(), &self.endpoint.host);
            let about_login = matches!(status.as_u16(), 401 | 403) && here;
            let headers = response.headers().clone();
            let mut failure = self.failed(response, job).await?;
            if !message.reads() && here && matches!(failure.fault, Fault::NotARegistry(_)) {
                failure.fault = Fault::Refused(status.as_u16());
            }
            if !about_login
                || !self.auth.refused(now.generation, status.as_u16(), &headers, self, job).await?
            {
                return Err(Stop::Failed(failure));
            }
        }
        Err(Fault::Unauthorized.into())
    }

    /// Requests a path below `/v2/`, by TLS or else by plain HTTP if allowed.
    async fn send_here(
        &self,
        path: &str,
        message: &Message<'_>,
        proof: Option<&Proof>,
        job: Job<'_>,
    ) -> Result<Response, Stop> {
        let url = |scheme: &str| {
            Url::parse(&format!("{scheme}://{}/v2/{path}", self.endpoint.host))
                .map_err(|_| Fault::Settings(format!("invalid host {}", printable(&self.endpoint.host))))
        };
        if !self.is_plain() {
            match self.send(url("https")?, message, proof, job).await {
                Err(Stop::Failed(failure)) if failure.no_tls && self.may_be_plain => {}
                answered => {
                    self.answered.fetch_or(answered.is_ok(), Ordering::Relaxed);
                    return answered;
                }
            }
        }
        let response = self.send(url("http")?, message, proof, job).await?;
        self.plain.store(true, Ordering::Relaxed);
        self.answered.store(true, Ordering::Relaxed);
        Ok(response)
    }

    /// Sends one request and follows redirects. The proof goes to the origin of `url` only.
    pub(super) async fn send(
        &self,
        mut url: Url,
        message: &Message<'_>,
        proof: Option<&Proof>,
        job: Job<'_>,
    ) -> Result<Response, Stop> {
        let mut proof = proof;
        for _ in 0..=MOST_REDIRECTS {
            let client: Client = self.transport.client(&url)?;
            let method = message.method.clone();
            let mut request = client.request(method, url.clone()).header(ACCEPT_ENCODING, "identity");
            for (name, value) in message.headers {
                request = request.header(name, value);
            }
            if let Some(proof) = proof {
                request = proof.apply(request);
            }
            let mut limit = self.times.idle;
            if let Some(body) = &message.body {
                limit += Duration::from_secs(body.len() as u64 / SLOWEST);
                request = request.body(body.clone());
            }
            let sent = within(request.send(), limit, job.cancel).await?;
            let secure = url.scheme() == "https";
            let response = sent.map_err(|error| {
                let mut failure = failure(&error, secure, self.times.connect);
                failure.explain(&url);
                if !is_at(&url, &self.endpoint.host) {
                    failure.fault = Fault::Elsewhere(shown_host(&url), Box::new(failure.fault));
                }
                Stop::Failed(failure)
            })?;
            if !message.follows(response.status()) {
                return Ok(response);
            }
            let next = target(&url, response.headers())?;
            if url.scheme() == "https" && next.scheme() == "http" && !self.may_speak_plain_to(&next) {
                return Err(Fault::NotARegistry("redirect from TLS to plain HTTP".into()).into());
            }
            if next.origin() != url.origin() {
                proof = None;
            }
            url = next;
        }
        Err(Fault::NotARegistry(format!("more than {MOST_REDIRECTS} redirects")).into())
    }

    /// Fault of an unsuccessful answer.
    pub(super) async fn failed(&self, mut response: Response, job: Job<'_>) -> Result<Failure, Stop> {
        let status = response.status();
        let here = is_at(response.url(), &self.endpoint.host);
        let away = response.url().host_str().map(printable).unwrap_or_default();
        let plain = response.url().scheme() == "http";
        let after = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok());
        let after = after.and_then(|value| retry_after(value, SystemTime::now()));
        let body = match self.body(&mut response, ERROR_BYTES, job).await {
            Err(Stop::Cancelled) => return Err(Stop::Cancelled),
            // The rest of the body is irrelevant.
            read => read.unwrap_or_default(),
        };
        let fault = match status.as_u16() {
            429 => Fault::TooMany(after),
            500..=599 => Fault::Server(status.as_u16()),
            // Messages of Go's server and of nginx.
            400 if plain
                && ["HTTPS server", "HTTPS port"]
                    .iter()
                    .any(|words| memmem::find(&body, words.as_bytes()).is_some()) =>
            {
                Fault::RequiresTls
            }
            _ if !here => Fault::NotARegistry(format!("{away} (redirect target) answers {status}")),
            401 => Fault::Unauthorized,
            403 => Fault::Forbidden,
            404 => Fault::NotFound,
            _ => Fault::NotARegistry(status.to_string()),
        };
        let mut said = said(&body, |text| self.auth.without_secrets(text));
        if let (Fault::Server(_), Some(after)) = (&fault, after) {
            let wants = format!("retry after {}", seconds(after));
            said = Some(said.map_or_else(|| wants.clone(), |said| format!("{said}; {wants}")));
        }
        Ok(Failure { said, after, ..Failure::of(fault) })
    }

    /// The whole body of a response, if it has at most `most` bytes.
    pub(super) async fn body(
        &self,
        response: &mut Response,
        most: u64,
        job: Job<'_>,
    ) -> Result<Vec<u8>, Stop> {
        let mut body = Vec::new();
        loop {
            let secure = response.url().scheme() == "https";
            let chunk = within(response.chunk(), self.times.idle, job.cancel).await?;
            match chunk.map_err(|error| Stop::Failed(failure(&error, secure, self.times.connect)))? {
                Some(chunk) if (body.len() + chunk.len()) as u64 > most => {
                    return Err(Fault::TooLarge(most).into());
                }
                Some(chunk) => body.extend_from_slice(&chunk),
                None => return Ok(body),
            }
        }
    }
}
