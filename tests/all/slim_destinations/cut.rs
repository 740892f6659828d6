//! A connection that breaks in the middle of an upload.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use super::folders::place;
use super::resuming::Resuming;
use super::writer::Task;
use crate::fixtures::layout::Layout;
use crate::fixtures::packing::Packing;
use crate::fixtures::tarball::{file, tar};
use crate::registry::bench::{image, noise, ready, run};
use crate::registry::server::Server;
use crate::support::Place;

/// Passes bytes to a server, and breaks a connection after each of these numbers of bytes on the way there.
struct Wire {
    port: u16,
    passed: Arc<AtomicUsize>,
    breaks: Arc<Mutex<Vec<usize>>>,
}

impl Wire {
    fn before(upstream: u16, breaks: &[usize]) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let (passed, breaks) = (Arc::new(AtomicUsize::new(0)), Arc::new(Mutex::new(breaks.to_vec())));
        let wire = Self { port, passed: Arc::clone(&passed), breaks: Arc::clone(&breaks) };
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let Ok(server) = TcpStream::connect(("127.0.0.1", upstream)) else { return };
                let (passed, breaks) = (Arc::clone(&passed), Arc::clone(&breaks));
                let (mut back, mut out) = (server.try_clone().unwrap(), client.try_clone().unwrap());
                thread::spawn(move || {
                    std::io::copy(&mut back, &mut out).ok();
                    out.shutdown(Shutdown::Both).ok();
                });
                thread::spawn(move || there(client, server, &passed, &breaks));
            }
        });
        wire
    }
}

fn there(mut client: TcpStream, mut server: TcpStream, passed: &AtomicUsize, breaks: &Mutex<Vec<usize>>) {
    let mut buffer = vec![0; 16 << 10];
    while let Ok(count) = client.read(&mut buffer) {
        let total = passed.fetch_add(count, Ordering::SeqCst) + count;
        let mut breaks = breaks.lock().unwrap();
        if breaks.first().is_some_and(|at| total >= *at) {
            breaks.remove(0);
            break;
        }
        drop(breaks);
        if count == 0 || server.write_all(&buffer[..count]).is_err() {
            break;
        }
    }
    client.shutdown(Shutdown::Both).ok();
    server.shutdown(Shutdown::Both).ok();
}

/// An image with a layer of 30 MiB below its last one, and as its last one.
fn large(place: &Place) -> [(String, bool); 2] {
    let body = tar([file("opt/large", noise("large", 30 << 20))]);
    let image = image(Packing::Plain).layer("RUN large", &body);
    let layout = place.put_layout("large", &Layout::of(&image, "1"));
    [(format!("oci:{layout}:1"), false), (format!("oci:{layout}:1"), true)]
}

/// In the first chunk of the large blob, in the third, and in the last.
const BREAKS: [usize; 3] = [5 << 20, 20 << 20, 29 << 20];

fn push_through(wire: &Wire, place: &Place, source: &str, kept: bool, server: u16) {
    let task = Task::new(source, &format!("docker://127.0.0.1:{}/team/large:1", wire.port));
    let task = if kept { task.keeping_all() } else { task };
    let published = task.succeeds(place);
    assert!(wire.breaks.lock().unwrap().is_empty(), "not all breaks were met");
    let direct = published.replace(&wire.port.to_string(), &server.to_string());
    let outcome = run(place, &[], &["report", &direct, "--format", "json"]);
    assert_eq!(outcome.code, 0, "{}{}", outcome.stdout, outcome.stderr);
}

#[test]
fn an_upload_continues_where_the_registry_has_it() {
    let (place, _) = place();
    for (source, kept) in large(&place) {
        let registry = Resuming::start();
        let wire = Wire::before(registry.port, &BREAKS);
        push_through(&wire, &place, &source, kept, registry.port);
        // What was on its way when the connection broke, which sockets hold, and nothing else.
        let passed = wire.passed.load(Ordering::SeqCst);
        assert!(passed < 31 << 20, "kept {kept}: {passed} bytes");
    }
}

#[test]
fn a_blob_that_a_registry_loses_is_sent_again() {
    if !ready() {
        return;
    }
    let (place, _) = place();
    for (source, kept) in large(&place) {
        let server = Server::plain();
        let wire = Wire::before(server.port, &BREAKS);
        push_through(&wire, &place, &source, kept, server.port);
    }
}

#[test]
fn a_registry_that_stays_away_is_an_error_without_a_tag() {
    if !ready() {
        return;
    }
    let server = Server::plain();
    let (place, source) = place();
    let breaks: Vec<usize> = (1..200).map(|number| 100_000 + number).collect();
    let wire = Wire::before(server.port, &breaks);
    let message = Task::new(&source, &format!("docker://127.0.0.1:{}/team/app:1", wire.port)).fails(&place);
    assert!(message.contains("connection interrupted") && message.contains("5 attempts"), "{message}");
    let outcome = run(&place, &[], &["tags", &format!("127.0.0.1:{}/team/app", server.port)]);
    assert!(!outcome.stdout.contains('1'), "{}", outcome.stdout);
}
