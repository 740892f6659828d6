//! Sessions and blobs against a server that says what a test wants, one answer a connection.

use std::io::{self, Read, Write};
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use super::super::access::{Access, Credential};
use super::super::table::Ranges as _;
use super::name::Name;
use super::repository::Repository;
use super::session::Job;
use super::{RegistryError, RemoteBlob, documents};
use crate::jobs::{CancelToken, Cancelled, Progress};
use crate::source::SourceError;

const DIGEST: &str = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

/// A server on a port of its own, and the heads of the requests; it ends after the last answer.
struct Server {
    host: String,
    heads: Receiver<String>,
}

impl Server {
    /// `{PORT}` in an answer is that of the server.
    fn start(answers: &[&str]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let answers: Vec<String> =
            answers.iter().map(|answer| answer.replace("{PORT}", &port.to_string())).collect();
        let (sender, heads) = channel();
        thread::spawn(move || {
            for answer in answers {
                let (mut stream, _) = listener.accept().unwrap();
                let mut head = Vec::new();
                while !head.ends_with(b"\r\n\r\n") {
                    let mut byte = [0];
                    stream.read_exact(&mut byte).unwrap();
                    head.push(byte[0]);
                }
                sender.send(String::from_utf8(head).unwrap().to_ascii_lowercase()).ok();
                // Who is no longer interested ends the connection.
                stream.write_all(answer.as_bytes()).ok();
                if answer.is_empty() {
                    // Silence, until the other side goes away.
                    stream.read_to_end(&mut Vec::new()).ok();
                }
            }
        });
        Self { host: format!("127.0.0.1:{port}"), heads }
    }

    fn repository(&self, access: &Access) -> Repository {
        let name = Name::parse(&format!("{}/team/app", self.host)).unwrap();
        Repository::new(name, access, &Progress::default()).unwrap()
    }

    fn blob(&self, size: u64) -> RemoteBlob {
        let repository = self.repository(&plain());
        RemoteBlob::new(Arc::new(repository), DIGEST.parse().unwrap(), size)
    }

    fn heads(self) -> Vec<String> {
        self.heads.iter().collect()
    }
}

fn plain() -> Access {
    Access { plain_http: true, ..Access::default() }
}

fn answer(status: &str, headers: &str, body: &str) -> String {
    format!("HTTP/1.1 {status}\r\nConnection: close\r\n{headers}Content-Length: {}\r\n\r\n{body}", body.len())
}

fn read(blob: &RemoteBlob) -> (String, Option<io::Error>) {
    let mut bytes = Vec::new();
    let read = blob.stream(&CancelToken::new(), &Progress::default()).read_to_end(&mut bytes);
    (String::from_utf8(bytes).unwrap(), read.err())
}

#[test]
fn a_blob_goes_on_where_it_broke() {
    let broken = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n0123";
    let rest = answer("206 Partial Content", "Content-Range: bytes 4-9/10\r\n", "456789");
    let server = Server::start(&[broken, &rest]);
    let (text, fault) = read(&server.blob(10));
    assert!(fault.is_none(), "{fault:?}");
    assert_eq!(text, "0123456789");
    let heads = server.heads();
    assert!(!heads[0].contains("range:") && heads[1].contains("range: bytes=4-\r\n"), "{heads:?}");
    assert!(heads[0].contains(concat!("user-agent: cutaway/", env!("CARGO_PKG_VERSION"))), "{heads:?}");
    assert!(heads[0].contains("accept-encoding: identity"), "{heads:?}");
}

#[test]
fn a_server_that_ignores_the_range_is_read_past_what_is_known() {
    let broken = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n0123";
    let server = Server::start(&[broken, &answer("200 OK", "", "0123456789")]);
    let (text, fault) = read(&server.blob(10));
    assert!(fault.is_none(), "{fault:?}");
    assert_eq!(text, "0123456789");
    assert_eq!(server.heads().len(), 2);
}

#[test]
fn more_bytes_than_are_claimed_are_not_read() {
    let server = Server::start(&[&answer("200 OK", "", "0123456789")]);
    let (text, fault) = read(&server.blob(4));
    let fault = fault.expect("an error");
    assert_eq!((text.as_str(), fault.kind()), ("0123", io::ErrorKind::ConnectionAborted));
    assert!(fault.to_string().contains("10 bytes at the registry, 4 declared"), "{fault}");
}

#[test]
fn a_blob_that_is_shorter_there_ends_with_an_error_after_its_bytes() {
    let server = Server::start(&[&answer("200 OK", "", "0123")]);
    let (text, fault) = read(&server.blob(10));
    let fault = fault.expect("an error");
    assert_eq!((text.as_str(), fault.kind()), ("0123", io::ErrorKind::ConnectionAborted));
    assert!(fault.to_string().contains("4 bytes at the registry, 10 declared"), "{fault}");
    let source = std::error::Error::source(fault.get_ref().unwrap()).unwrap();
    assert!(source.is::<RegistryError>());
}

#[test]
fn a_range_has_its_exact_length_or_is_not_supported() {
    let part = answer("206 Partial Content", "Content-Range: bytes 2-4/10\r\n", "234");
    let server = Server::start(&[&part, &answer("200 OK", "", "0123456789")]);
    let (blob, cancel, progress) = (server.blob(10), CancelToken::new(), Progress::default());
    assert_eq!(blob.range(2, 3, &cancel, &progress).unwrap(), b"234");
    assert_eq!(progress.snapshot().bytes_read, 3);
    let fault = blob.range(2, 3, &cancel, &progress).unwrap_err();
    assert_eq!(fault.kind(), io::ErrorKind::Unsupported);
    assert!(server.heads()[0].contains("range: bytes=2-4\r\n"));
    assert!(blob.range(8, 3, &cancel, &progress).is_err(), "it is not within the blob");
}

#[test]
fn a_cancelled_read_lets_go_of_a_silent_server() {
    let server = Server::start(&[""]);
    let cancel = CancelToken::new();
    let mut stream = server.blob(10).stream(&cancel, &Progress::default());
    let reader = thread::spawn(move || stream.read(&mut [0; 10]));
    server.heads.recv().unwrap();
    cancel.cancel();
    let fault = reader.join().unwrap().unwrap_err();
    let inner = fault.get_ref().unwrap();
    assert!(inner.is::<Cancelled>(), "{fault}");
    // It ends when the other side goes away.
    assert!(server.heads().is_empty());
}

#[test]
fn the_password_does_not_follow_a_redirect_to_another_port() {
    let elsewhere = Server::start(&[&answer("200 OK", "", "{\"tags\":[\"1\"]}")]);
    let away = format!("Location: http://{}/tags?signature=SECRET\r\n", elsewhere.host);
    let challenge = answer("401 Unauthorized", "WWW-Authenticate: Basic realm=\"x\"\r\n", "");
    let server = Server::start(&[&challenge, &answer("307 Temporary Redirect", &away, "")]);
    let access = plain();
    access.logins.set(&server.host, Credential::Password { user: "me".into(), password: "hunter2".into() });
    let (cancel, progress) = (CancelToken::new(), Progress::default());
    let job = Job { cancel: &cancel, progress: &progress };
    let tags = documents::tags(&server.repository(&access), job).unwrap();
    assert_eq!(tags.tags, ["1"]);
    let heads = server.heads();
    assert!(heads[1].contains("authorization: basic"), "the registry is told: {heads:?}");
    let heads = elsewhere.heads();
    assert!(!heads[0].contains("authorization") && !heads[0].contains("referer"), "{heads:?}");
}

#[test]
fn a_refused_login_shows_neither_password_nor_token_even_when_the_registry_repeats_them() {
    let bearer = "WWW-Authenticate: Bearer realm=\"http://127.0.0.1:{PORT}/token?x=1\",service=\"s\"\r\n";
    let body = r#"{"errors":[{"code":"DENIED","message":"not with T0KEN1 of hunter2, bWU6aHVudGVyMg=="}]}"#;
    let denied = answer("403 Forbidden", "", body);
    let given = answer("200 OK", "", r#"{"token":"T0KEN1"}"#);
    let challenge =
        format!("HTTP/1.1 401 Unauthorized\r\nConnection: close\r\n{bearer}Content-Length: 0\r\n\r\n");
    let refused = answer("401 Unauthorized", "", "");
    let server = Server::start(&[&challenge, &given, &denied, &refused]);
    let access = plain();
    access.logins.set(&server.host, Credential::Password { user: "me".into(), password: "hunter2".into() });
    let (cancel, progress) = (CancelToken::new(), Progress::default());
    let job = Job { cancel: &cancel, progress: &progress };
    let fault = documents::tags(&server.repository(&access), job).unwrap_err();
    let SourceError::Registry(error) = &fault else { panic!("{fault}") };
    let shown = format!("{fault} {fault:?} {:?} {:?}", error.hint(), progress.messages_since(0));
    for secret in ["hunter2", "T0KEN1", "bWU6"] {
        assert!(!shown.contains(secret), "{shown}");
    }
    assert!(
        shown.contains("this session's login: refused (403)") && shown.contains("anonymous: refused"),
        "{shown}"
    );
}

#[test]
fn a_token_server_in_trouble_costs_a_pause_and_no_login() {
    let bearer = "WWW-Authenticate: Bearer realm=\"http://127.0.0.1:{PORT}/token\",service=\"s\"\r\n";
    let challenge =
        format!("HTTP/1.1 401 Unauthorized\r\nConnection: close\r\n{bearer}Content-Length: 0\r\n\r\n");
    let token = |text: &str| answer("200 OK", "", &format!("{{\"token\":\"{text}\"}}"));
    let tags = answer("200 OK", "", "{\"tags\":[\"1\"]}");
    let trouble = answer("503 Service Unavailable", "", "");
    let first = [&*challenge, &token("one"), &tags].map(str::to_owned);
    // The token is not good any more, and there is no other for a moment.
    let second = [&*challenge, &trouble, &challenge, &token("two"), &tags].map(str::to_owned);
    let answers: Vec<&str> = first.iter().chain(&second).map(String::as_str).collect();
    let server = Server::start(&answers);
    let repository = server.repository(&plain());
    let (cancel, progress) = (CancelToken::new(), Progress::default());
    let job = Job { cancel: &cancel, progress: &progress };
    for _ in 0..2 {
        assert_eq!(documents::tags(&repository, job).unwrap().tags, ["1"]);
    }
    let heads = server.heads();
    assert!(heads[7].contains("authorization: bearer two"), "{heads:?}");
}

#[test]
fn a_list_of_tags_that_is_cut_off_says_so() {
    let all: Vec<String> = (0..10_001).map(|number| format!("\"{number}\"")).collect();
    let server = Server::start(&[&answer("200 OK", "", &format!("{{\"tags\":[{}]}}", all.join(",")))]);
    let (cancel, progress) = (CancelToken::new(), Progress::default());
    let job = Job { cancel: &cancel, progress: &progress };
    let list = documents::tags(&server.repository(&plain()), job).unwrap();
    assert_eq!((list.tags.len(), list.complete), (10_000, false));
}
