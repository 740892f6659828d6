//! A registry that goes away in the middle of a layer, and is back a moment later.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

use super::bench::{Bench, ready, same};

/// Bytes of answers that pass before it goes away: within the first layer.
const BEFORE: usize = 150_000;

/// Passes on what one side says to the other; `false` when it went away because `left` was used up.
fn pass(mut from: TcpStream, mut to: TcpStream, mut left: usize) -> bool {
    let mut buffer = [0; 16 << 10];
    while let Ok(count) = from.read(&mut buffer) {
        if count == 0 || to.write_all(&buffer[..count.min(left)]).is_err() {
            break;
        }
        if count >= left {
            for side in [&from, &to] {
                side.shutdown(Shutdown::Both).ok();
            }
            return false;
        }
        left -= count;
    }
    to.shutdown(Shutdown::Write).ok();
    true
}

/// A port that leads to `upstream`, but for a while in which nobody listens.
fn restarting(upstream: u16) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        let connect = |client: &TcpStream| {
            let server = TcpStream::connect(("127.0.0.1", upstream)).unwrap();
            let (client, up) = (client.try_clone().unwrap(), server.try_clone().unwrap());
            thread::spawn(move || pass(client, up, usize::MAX));
            server
        };
        let mut listener = Some(listener);
        let mut gone = false;
        while let Some(open) = &listener {
            let Ok((client, _)) = open.accept() else { return };
            let server = connect(&client);
            if gone {
                thread::spawn(move || pass(server, client, usize::MAX));
            } else if !pass(server, client, BEFORE) {
                gone = true;
                drop(listener.take());
                thread::sleep(Duration::from_millis(300));
                listener = TcpListener::bind(("127.0.0.1", port)).ok();
            }
        }
    });
    port
}

#[test]
fn a_registry_that_restarts_costs_a_pause_and_no_layer() {
    if !ready() {
        return;
    }
    let bench = Bench::new();
    let port = restarting(bench.server.port);
    let reference = format!("docker://127.0.0.1:{port}/team/app:1");
    same(&bench.place, &bench.image, &bench.report(&[], &reference));
}
