//! Connections: runtime, trusted certificates, and classification of failures.

use std::error::Error;
use std::io;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use reqwest::{Certificate, Client, ClientBuilder, Identity, Url};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{CertificateError, InvalidMessage, RootCertStore};
use tokio::time::{Instant, sleep};

use super::super::access::Access;
use super::super::error::SourceError;
use super::super::runtime::{POLL_INTERVAL, runtime};
use super::error::Fault;
use super::retry::Times;
use super::settings::Endpoint;
use crate::base::read_at::read_up_to;
use crate::base::text::printable;
use crate::jobs::CancelToken;

/// Size limit of certificate files: that of a whole system has 250 KB.
const PEM_BYTES: u64 = 16 << 20;

/// Runs the asynchronous `work` to completion on this thread.
pub(super) fn wait_for<T>(work: impl Future<Output = T>) -> Result<T, SourceError> {
    let runtime = runtime().map_err(|error| SourceError::open("the network", error))?;
    Ok(runtime.block_on(work))
}

/// Why a wait ended early.
pub(super) enum Stop {
    Cancelled,
    Failed(Failure),
}

/// A failed request.
pub(super) struct Failure {
    pub(super) fault: Fault,
    /// Message of the server.
    pub(super) said: Option<String>,
    /// Whether another attempt may help.
    pub(super) again: bool,
    /// Delay requested by the server.
    pub(super) after: Option<Duration>,
    /// Whether the server does not use TLS.
    pub(super) no_tls: bool,
}

impl Failure {
    pub(super) fn of(fault: Fault) -> Self {
        let again = matches!(fault, Fault::Cut(_) | Fault::Slow(_) | Fault::Server(500 | 502..=504))
            || matches!(fault, Fault::TooMany(_));
        Self { fault, said: None, again, after: None, no_tls: false }
    }

    /// Adds possible causes of a failure of `url`: a proxy, whose address may contain a password and is not shown, or
    /// missing TLS.
    pub(super) fn explain(&mut self, url: &Url) {
        let direct = url.host_str().is_some_and(is_loopback);
        let variables = match url.scheme() {
            "https" => ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"],
            _ => ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"],
        };
        let proxy = variables.iter().find(|name| !direct && std::env::var_os(name).is_some());
        match (&mut self.fault, proxy) {
            (Fault::Unreachable(why), Some(name)) => *why = format!("{why} (proxy set by {name})"),
            (Fault::Cut(why), _) if url.scheme() == "http" => why.push_str(" (over plain HTTP)"),
            _ => {}
        }
    }
}

impl From<Fault> for Stop {
    fn from(fault: Fault) -> Self {
        Self::Failed(Failure::of(fault))
    }
}

/// Waits for `work` until it is done, nothing arrived for `idle`, or the job is cancelled.
pub(super) async fn within<T>(
    work: impl Future<Output = T>,
    idle: Duration,
    cancel: &CancelToken,
) -> Result<T, Stop> {
    // In this order: available data costs no timer.
    tokio::select! {
        biased;
        done = work => Ok(done),
        stop = watch(idle, cancel) => Err(stop),
    }
}

async fn watch(idle: Duration, cancel: &CancelToken) -> Stop {
    let start = Instant::now();
    loop {
        if cancel.is_cancelled() {
            return Stop::Cancelled;
        }
        let left = idle.saturating_sub(start.elapsed());
        if left.is_zero() {
            return Fault::Slow(idle).into();
        }
        sleep(left.min(POLL_INTERVAL)).await;
    }
}

/// Waits, unless the job is cancelled.
pub(super) async fn pause(time: Duration, cancel: &CancelToken) -> Result<(), Stop> {
    match watch(time, cancel).await {
        Stop::Cancelled => Err(Stop::Cancelled),
        Stop::Failed(_) => Ok(()),
    }
}

/// Clients for one endpoint. Untrusted certificates and the client certificate apply to the endpoint only, not to
/// redirect targets.
pub(super) struct Transport {
    host: String,
    insecure: bool,
    certificates: Vec<Certificate>,
    identity: Option<Identity>,
    connect: Duration,
    clients: Mutex<Vec<(Kind, Client)>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
struct Kind {
    /// Whether it is for the endpoint itself.
    own: bool,
    /// Whether proxies are bypassed.
    direct: bool,
}

impl Transport {
    pub(super) fn new(endpoint: &Endpoint, access: &Access, times: &Times) -> Result<Self, Fault> {
        let mut certificates = Vec::new();
        for path in access.ca_file.iter().chain(&endpoint.ca_files) {
            read_certificates(path, &mut certificates)?;
        }
        let identity = match &endpoint.identity {
            Some((certificate, key)) => Some(read_identity(certificate, key)?),
            None => None,
        };
        Ok(Self {
            host: endpoint.host.clone(),
            insecure: endpoint.insecure,
            certificates,
            identity,
            connect: times.connect,
            clients: Mutex::default(),
        })
    }

    /// The client for `url`.
    pub(super) fn client(&self, url: &Url) -> Result<Client, Fault> {
        let kind = Kind { own: is_at(url, &self.host), direct: url.host_str().is_some_and(is_loopback) };
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, client)) = clients.iter().find(|(known, _)| *known == kind) {
            return Ok(client.clone());
        }
        let certificates = self.certificates.clone();
        let client = self
            .builder(kind)
            .tls_certs_merge(certificates.clone())
            .build()
            // A system without certificates: only those given by the user are trusted, possibly none.
            .or_else(|_| self.builder(kind).tls_certs_only(certificates).build())
            .map_err(|error| Fault::Settings(format!("cannot create an HTTP client: {}", deepest(&error))))?;
        clients.push((kind, client.clone()));
        Ok(client)
    }

    fn builder(&self, kind: Kind) -> ClientBuilder {
        // Another provider may be installed already, which works as well.
        rustls::crypto::ring::default_provider().install_default().ok();
        let mut builder = Client::builder()
            .user_agent(concat!("cutaway/", env!("CARGO_PKG_VERSION")))
            // Redirects are followed manually, to control where secrets go.
            .redirect(reqwest::redirect::Policy::none())
            .referer(false)
            .http1_only()
            .connect_timeout(self.connect);
        if kind.direct {
            builder = builder.no_proxy();
        }
        if kind.own && self.insecure {
            builder = builder.tls_danger_accept_invalid_certs(true);
        }
        match self.identity.clone().filter(|_| kind.own) {
            Some(identity) => builder.identity(identity),
            None => builder,
        }
    }
}

fn read_pem(path: &Path) -> Result<Vec<u8>, Fault> {
    let bytes = std::fs::File::open(path).and_then(|file| read_up_to(file, PEM_BYTES));
    bytes.map_err(|error| Fault::Settings(format!("{}: {error}", shown(path))))
}

fn shown(path: &Path) -> String {
    printable(&path.display().to_string())
}

fn read_certificates(path: &Path, certificates: &mut Vec<Certificate>) -> Result<(), Fault> {
    let bytes = read_pem(path)?;
    let unusable = |why: &dyn std::fmt::Display| Fault::Settings(format!("{}: {why}", shown(path)));
    let before = certificates.len();
    for found in CertificateDer::pem_slice_iter(&bytes) {
        let found = found.map_err(|error| unusable(&error))?;
        certificates.push(Certificate::from_der(&found).map_err(|error| unusable(&error))?);
        RootCertStore::empty().add(found).map_err(|error| unusable(&error))?;
    }
    if certificates.len() == before {
        return Err(unusable(&"no PEM certificate in it"));
    }
    Ok(())
}

fn read_identity(certificate: &Path, key: &Path) -> Result<Identity, Fault> {
    let mut bytes = read_pem(key)?;
    bytes.push(b'\n');
    bytes.extend(read_pem(certificate)?);
    Identity::from_pem(&bytes).map_err(|_| {
        let (certificate, key) = (shown(certificate), shown(key));
        Fault::Settings(format!("{certificate} and {key} are not a PEM certificate and its key"))
    })
}

/// Whether `host`, without its port, is this machine.
pub(super) fn is_loopback(host: &str) -> bool {
    let host = host.trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost")
        || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Whether `url` leads to `host`, which may have a port.
pub(super) fn is_at(url: &Url, host: &str) -> bool {
    let same = |scheme: &str| {
        Url::parse(&format!("{scheme}://{host}")).is_ok_and(|own| {
            own.host_str() == url.host_str() && own.port_or_known_default() == url.port_or_known_default()
        })
    };
    same(url.scheme())
}

/// Fault of a failed request or answer. `secure` if TLS was used, or tried.
pub(super) fn failure(error: &reqwest::Error, secure: bool, connect: Duration) -> Failure {
    if error.is_dns() {
        return Failure::of(Fault::UnknownHost);
    }
    let mut no_tls = false;
    let fault = match (tls_error(error), error.is_connect()) {
        (Some(rustls::Error::InvalidMessage(InvalidMessage::InvalidContentType)), _) => {
            no_tls = true;
            Fault::PlainHttp
        }
        (Some(rustls::Error::InvalidCertificate(why)), _) => certificate_fault(why),
        (Some(rustls::Error::AlertReceived(alert)), _) => {
            Fault::Certificate(format!("the TLS handshake ended with alert {alert:?}"))
        }
        (Some(other), true) => Fault::Certificate(printable(&other.to_string())),
        (_, true) if error.is_timeout() => {
            no_tls = secure;
            Fault::Unreachable(format!("no connection within {} s", connect.as_secs_f32()))
        }
        (_, true) => {
            let kind = io_kind(error);
            let refused = !matches!(
                kind,
                Some(
                    io::ErrorKind::UnexpectedEof
                        | io::ErrorKind::ConnectionReset
                        | io::ErrorKind::BrokenPipe
                        | io::ErrorKind::ConnectionAborted
                )
            );
            no_tls = secure && !refused;
            let why = deepest(error);
            if refused { Fault::Unreachable(why) } else { Fault::Cut(why) }
        }
        _ => Fault::Cut(deepest(error)),
    };
    Failure { no_tls, ..Failure::of(fault) }
}

fn certificate_fault(why: &CertificateError) -> Fault {
    match why {
        CertificateError::Other(other) if format!("{other:?}").contains("CaUsedAsEndEntity") => {
            Fault::CaAsServer
        }
        CertificateError::UnknownIssuer => {
            Fault::Certificate("certificate not signed by a trusted CA".into())
        }
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
            Fault::Certificate("certificate expired".into())
        }
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            Fault::Certificate("certificate not yet valid".into())
        }
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            Fault::Certificate("certificate for another name".into())
        }
        other => Fault::Certificate(printable(&other.to_string())),
    }
}

/// The causes of an error; an error inside an [`io::Error`] is one of them.
fn causes<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |error: &&'a (dyn Error + 'static)| {
        let error: &'a (dyn Error + 'static) = *error;
        match error.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
            Some(inner) => Some(inner as &(dyn Error + 'static)),
            None => error.source(),
        }
    })
}

fn tls_error<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a rustls::Error> {
    causes(error).find_map(|cause| cause.downcast_ref())
}

fn io_kind(error: &(dyn Error + 'static)) -> Option<io::ErrorKind> {
    causes(error).filter_map(|cause| cause.downcast_ref::<io::Error>()).last().map(io::Error::kind)
}

/// The message of the innermost cause, which contains no URL.
fn deepest(error: &(dyn Error + 'static)) -> String {
    let cause = causes(error).last().unwrap_or(error);
    if cause.is::<reqwest::Error>() {
        return "the request failed".to_owned();
    }
    let words = cause.to_string();
    if words.starts_with("end of file before message length") {
        return "ended early".to_owned();
    }
    printable(&words)
}
