//! A proxy that stands before a registry, counts what passes, and misbehaves as a test wants.

use std::io::{BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;
use std::time::{Duration, Instant};

use super::guard::Guard;
use super::http::{Head, ask, connect};

/// What a request is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `/v2/`.
    Ping,
    Manifest,
    Blob,
    Tags,
    Token,
    /// A tunnel.
    Connect,
    Other,
}

/// What becomes of a request.
#[derive(Clone, Debug)]
pub enum Fault {
    /// The connection ends after so many bytes of the body.
    Cut(usize),
    /// Nothing comes for a while.
    Delay(Duration),
    /// Nothing comes any more after so many bytes of the body.
    Stall(usize),
    /// One byte of the body is another.
    Flip,
    /// The whole comes, whatever range was asked for.
    NoRange,
    /// An answer without the registry: status, headers, body.
    Answer(u16, Vec<(&'static str, String)>, String),
    /// The bytes are elsewhere, at this port.
    Redirect(u16),
    /// A body without an end.
    Endless,
    /// All tokens that were given out are worth nothing any more.
    Expire,
}

#[derive(Debug)]
struct Rule {
    kind: Kind,
    contains: String,
    times: usize,
    fault: Fault,
}

/// One request, and what was sent for it.
#[derive(Clone, Debug)]
pub struct Seen {
    pub kind: Kind,
    pub method: String,
    pub path: String,
    pub range: Option<String>,
    pub authorization: Option<String>,
    pub status: u16,
    /// Bytes of head and body in both directions.
    pub bytes: u64,
    pub at: Instant,
}

struct State {
    upstream: u16,
    port: u16,
    guard: Option<Guard>,
    rules: Mutex<Vec<Rule>>,
    seen: Mutex<Vec<Seen>>,
    ended: AtomicBool,
}

/// A running proxy; it ends with the value.
pub struct Proxy {
    pub port: u16,
    state: Arc<State>,
}

impl Proxy {
    /// Stands before the server at port `upstream`.
    pub fn before(upstream: u16) -> Self {
        Self::start(upstream, None)
    }

    /// The same, for who brings a token that the proxy itself gives out.
    pub fn guarded(upstream: u16, guard: Guard) -> Self {
        Self::start(upstream, Some(guard))
    }

    fn start(upstream: u16, guard: Option<Guard>) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let (rules, seen, ended) = (Mutex::default(), Mutex::default(), AtomicBool::new(false));
        let state = Arc::new(State { upstream, port, guard, rules, seen, ended });
        let shared = Arc::clone(&state);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if shared.ended.load(Ordering::SeqCst) {
                    return;
                }
                let state = Arc::clone(&shared);
                thread::spawn(move || state.serve(stream));
            }
        });
        Self { port, state }
    }

    /// The next `times` requests of `kind` whose path contains `part` meet this fault.
    pub fn fault(&self, kind: Kind, part: &str, times: usize, fault: Fault) -> &Self {
        self.state.rules.lock().unwrap().push(Rule { kind, contains: part.to_owned(), times, fault });
        self
    }

    /// All requests so far.
    pub fn seen(&self) -> Vec<Seen> {
        self.state.seen().clone()
    }

    /// The requests of a kind, so far.
    pub fn of(&self, kind: Kind) -> Vec<Seen> {
        self.seen().into_iter().filter(|seen| seen.kind == kind).collect()
    }

    /// All bytes so far, of heads and bodies, in both directions.
    pub fn bytes(&self) -> u64 {
        self.seen().iter().map(|seen| seen.bytes).sum()
    }

    /// Forgets the requests, and the faults that are still to come.
    pub fn forget(&self) {
        self.state.rules.lock().unwrap().clear();
        self.state.seen().clear();
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.state.ended.store(true, Ordering::SeqCst);
        // Wakes the listener.
        drop(connect(self.port));
    }
}

fn kind(method: &str, path: &str) -> Kind {
    let path = path.split('?').next().unwrap_or(path);
    match path {
        _ if method == "CONNECT" => Kind::Connect,
        "/v2/" | "/v2" => Kind::Ping,
        "/token" => Kind::Token,
        _ if path.contains("/manifests/") => Kind::Manifest,
        _ if path.contains("/blobs/") => Kind::Blob,
        _ if path.ends_with("/tags/list") => Kind::Tags,
        _ => Kind::Other,
    }
}

impl State {
    fn seen(&self) -> MutexGuard<'_, Vec<Seen>> {
        self.seen.lock().unwrap()
    }

    fn take(&self, kind: Kind, path: &str) -> Option<Fault> {
        let mut rules = self.rules.lock().unwrap();
        let fits = |rule: &&mut Rule| rule.kind == kind && rule.times > 0 && path.contains(&rule.contains);
        let rule = rules.iter_mut().find(fits)?;
        rule.times -= 1;
        Some(rule.fault.clone())
    }

    fn serve(&self, stream: TcpStream) {
        stream.set_nodelay(true).ok();
        let Ok(mut out) = stream.try_clone() else { return };
        let mut reader = BufReader::new(stream);
        while let Some(request) = Head::read(&mut reader) {
            let mut body = vec![0; request.length().unwrap_or(0).min(1 << 20)];
            if reader.read_exact(&mut body).is_err() {
                return;
            }
            let (method, path) = (request.word(0).to_owned(), request.word(1).to_owned());
            let header = |name: &str| request.get(name).map(str::to_owned);
            let place = {
                let mut seen = self.seen();
                seen.push(Seen {
                    kind: kind(&method, &path),
                    range: header("range"),
                    authorization: header("authorization"),
                    status: 0,
                    bytes: (request.bytes().len() + body.len()) as u64,
                    at: Instant::now(),
                    method,
                    path,
                });
                seen.len() - 1
            };
            let mut answer = Answer { state: self, place, out: &mut out };
            if answer.give(&request, &body, &mut reader).is_none() {
                out.shutdown(Shutdown::Both).ok();
                return;
            }
        }
    }
}

/// The answer to one request. `None` of its functions ends the connection.
struct Answer<'a> {
    state: &'a State,
    place: usize,
    out: &'a mut TcpStream,
}

impl Answer<'_> {
    fn give(&mut self, request: &Head, body: &[u8], rest: &mut BufReader<TcpStream>) -> Option<()> {
        let (method, path) = (request.word(0), request.word(1));
        let kind = kind(method, path);
        let fault = self.state.take(kind, path);
        if kind == Kind::Connect && fault.is_none() {
            return self.tunnel(rest);
        }
        let mut request = request.clone();
        match &fault {
            Some(Fault::Delay(time)) => thread::sleep(*time),
            Some(Fault::Answer(status, headers, body)) => {
                let mut head = Head::answer(*status);
                for (name, value) in headers {
                    head.set(name, value);
                }
                return self.whole(head, body.as_bytes(), method);
            }
            Some(Fault::Redirect(port)) => {
                let target = format!("http://127.0.0.1:{port}{path}?X-Signature=HUNTER2");
                return self.whole(Head::answer(307).with("Location", &target), b"", method);
            }
            Some(Fault::Expire) => self.state.guard.iter().for_each(Guard::expire),
            Some(Fault::NoRange) => request.remove("range"),
            _ => (),
        }
        if let Some(guard) = &self.state.guard {
            if let Some((head, body)) = guard.judge(&request, body, kind, self.state.port) {
                return self.whole(head, body.as_bytes(), method);
            }
            request.remove("authorization");
        }
        let (mut head, mut from) = ask(self.state.upstream, &request, body)?;
        head.first = head.first.replacen("HTTP/1.0", "HTTP/1.1", 1);
        head.remove("connection");
        head.remove("transfer-encoding");
        if method == "HEAD" {
            return self.send(&head);
        }
        if let Some(Fault::Endless) = fault {
            head.remove("content-length");
            self.send(&head.with("Connection", "close"))?;
            loop {
                self.write(&[b' '; 16 << 10])?;
            }
        }
        let Some(length) = head.length() else {
            let mut body = Vec::new();
            from.read_to_end(&mut body).ok()?;
            return self.whole(head, &body, method);
        };
        self.send(&head)?;
        self.pass(&mut from, length, fault.as_ref())
    }

    fn pass(&mut self, from: &mut impl Read, length: usize, fault: Option<&Fault>) -> Option<()> {
        let (mut buffer, mut passed) = (vec![0; 16 << 10], 0);
        while passed < length {
            let limit = match fault {
                Some(Fault::Cut(at) | Fault::Stall(at)) => at - passed,
                _ => length - passed,
            };
            if limit == 0 {
                if let Some(Fault::Stall(_)) = fault {
                    // Until the other side has gone.
                    self.out.set_read_timeout(Some(Duration::from_secs(20))).ok()?;
                    self.out.read_exact(&mut buffer[..1]).ok();
                }
                return None;
            }
            let most = limit.min(buffer.len());
            let read = from.read(&mut buffer[..most]).ok().filter(|read| *read > 0)?;
            if let (Some(Fault::Flip), 0) = (fault, passed) {
                buffer[read / 2] ^= 1;
            }
            self.write(&buffer[..read])?;
            passed += read;
        }
        Some(())
    }

    fn tunnel(&mut self, rest: &mut BufReader<TcpStream>) -> Option<()> {
        let mut there = connect(self.state.upstream)?;
        self.send(&Head::answer(200))?;
        let (mut back, mut out) = (there.try_clone().ok()?, self.out.try_clone().ok()?);
        thread::spawn(move || {
            std::io::copy(&mut back, &mut out).ok();
            out.shutdown(Shutdown::Both).ok();
        });
        std::io::copy(rest, &mut there).ok();
        there.shutdown(Shutdown::Both).ok();
        None
    }

    fn whole(&mut self, head: Head, body: &[u8], method: &str) -> Option<()> {
        self.send(&head.with("Content-Length", &body.len().to_string()))?;
        if method == "HEAD" { Some(()) } else { self.write(body) }
    }

    fn send(&mut self, head: &Head) -> Option<()> {
        self.state.seen().get_mut(self.place)?.status = head.status();
        self.write(&head.bytes())
    }

    fn write(&mut self, bytes: &[u8]) -> Option<()> {
        self.out.write_all(bytes).ok()?;
        // A test may have forgotten what was seen before.
        self.state.seen().get_mut(self.place)?.bytes += bytes.len() as u64;
        Some(())
    }
}
