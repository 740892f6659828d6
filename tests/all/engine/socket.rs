//! Sockets that answer as engines do, or pass requests on and watch.

use std::io::{Read as _, Write as _};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};

use serde_json::{Value, json};

use super::scene::{Machine, TAG};
use crate::fixtures::image::Image;
use crate::fixtures::tarball::{Member, tar};
use crate::fixtures::{digest, json_bytes};

/// Answers one request: its path, and where the answer goes.
type Answer = dyn Fn(&str, &mut UnixStream) + Send + Sync;

/// A socket that answers requests of HTTP, each on a connection of its own.
pub struct Socket {
    path: PathBuf,
    seen: Arc<Mutex<Vec<String>>>,
    ended: Arc<AtomicBool>,
    listening: Option<JoinHandle<()>>,
}

impl Socket {
    pub fn new(path: PathBuf, answer: impl Fn(&str, &mut UnixStream) + Send + Sync + 'static) -> Self {
        let listener = UnixListener::bind(&path).unwrap();
        let (seen, ended) = (Arc::new(Mutex::new(Vec::new())), Arc::new(AtomicBool::new(false)));
        let answer: Arc<Answer> = Arc::new(answer);
        let (paths, stop) = (Arc::clone(&seen), Arc::clone(&ended));
        let listening = thread::spawn(move || {
            for stream in listener.incoming() {
                if stop.load(Ordering::SeqCst) {
                    return;
                }
                let (answer, paths) = (Arc::clone(&answer), Arc::clone(&paths));
                thread::spawn(move || {
                    let mut stream = stream.unwrap();
                    let Some(path) = request(&mut stream) else { return };
                    paths.lock().unwrap().push(path.clone());
                    answer(&path, &mut stream);
                    stream.shutdown(Shutdown::Both).ok();
                });
            }
        });
        Self { path, seen, ended, listening: Some(listening) }
    }

    /// As `DOCKER_HOST` names it.
    pub fn host(&self) -> String {
        format!("unix://{}", self.path.display())
    }

    /// Paths that were asked for since the last call.
    pub fn seen(&self) -> Vec<String> {
        std::mem::take(&mut self.seen.lock().unwrap())
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::SeqCst);
        UnixStream::connect(&self.path).ok();
        if let Some(listening) = self.listening.take() {
            listening.join().ok();
        }
        // Another engine may take its place.
        std::fs::remove_file(&self.path).ok();
    }
}

/// The path that a request asks for.
fn request(stream: &mut UnixStream) -> Option<String> {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        stream.read_exact(&mut byte).ok()?;
        head.push(byte[0]);
    }
    let head = String::from_utf8(head).ok()?;
    head.strip_prefix("GET ")?.split(' ').next().map(str::to_owned)
}

/// Answers with a whole body.
pub fn say(stream: &mut UnixStream, status: u16, body: &[u8]) {
    let head =
        format!("HTTP/1.1 {status} Status\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len());
    stream.write_all(head.as_bytes()).ok();
    stream.write_all(body).ok();
}

/// Begins an answer whose length is not told, as engines send what they save.
pub fn begin(stream: &mut UnixStream) {
    stream.write_all(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n").ok();
}

/// A piece of such an answer; an empty one ends it. Whether the other side still listens.
pub fn piece(stream: &mut UnixStream, bytes: &[u8]) -> bool {
    stream
        .write_all(format!("{:x}\r\n", bytes.len()).as_bytes())
        .and_then(|()| stream.write_all(bytes))
        .and_then(|()| stream.write_all(b"\r\n"))
        .is_ok()
}

/// An engine of one image.
#[derive(Clone)]
pub struct Engine {
    pub name: String,
    pub id: String,
    pub diff_ids: Vec<String>,
    pub saved: Vec<u8>,
    /// Bytes of what is saved after which the connection breaks.
    pub cut: Option<usize>,
}

impl Engine {
    /// One that saves these members for an image, under its name and the digest of its config.
    pub fn new(image: &Image, members: impl IntoIterator<Item = Member>) -> Self {
        Self {
            name: TAG.into(),
            id: digest(&image.config_bytes()),
            diff_ids: image.layers.iter().map(|layer| layer.diff_id.clone()).collect(),
            saved: tar(members),
            cut: None,
        }
    }

    /// What it says of its image.
    pub fn inspected(&self) -> Value {
        json!({
            "Id": self.id, "RepoTags": [self.name], "Size": self.saved.len(), "Os": "linux", "Architecture": "amd64",
            "RootFS": {"Type": "layers", "Layers": self.diff_ids}, "Created": "2024-01-02T03:04:05Z"
        })
    }

    pub fn answer(&self, path: &str, stream: &mut UnixStream) {
        let known: [&str; 4] = [&self.name, &self.id, &self.id[7..], &self.id[7..19]];
        let asked = path.strip_prefix("/images/").and_then(|path| path.rsplit_once('/'));
        match asked {
            Some((name, "json")) if known.contains(&name) => {
                say(stream, 200, &json_bytes(&self.inspected()));
            }
            Some((name, "get")) if known.contains(&name) => {
                begin(stream);
                let upto = self.cut.unwrap_or(self.saved.len());
                let whole = self.saved[..upto].chunks(50_000).all(|chunk| piece(stream, chunk));
                if whole && self.cut.is_none() {
                    piece(stream, b"");
                }
            }
            _ => say(stream, 404, &json_bytes(&json!({"message": "No such image"}))),
        }
    }

    /// Listens at a place of this machine.
    pub fn at(self, machine: &Machine, name: &str) -> Socket {
        Socket::new(machine.path(name), move |path, stream| self.answer(path, stream))
    }
}

/// A socket that passes requests on to another one; `watch` sees each and may answer itself by being true.
pub fn proxy(
    machine: &Machine,
    name: &str,
    target: &Path,
    watch: impl Fn(&str, &mut UnixStream, &mut UnixStream) -> bool + Send + Sync + 'static,
) -> Socket {
    let target = target.to_owned();
    Socket::new(machine.path(name), move |path, stream| {
        let mut there = UnixStream::connect(&target).unwrap();
        let head = format!("GET {path} HTTP/1.1\r\nHost: d\r\nConnection: close\r\n\r\n");
        there.write_all(head.as_bytes()).unwrap();
        if !watch(path, &mut there, stream) {
            std::io::copy(&mut there, stream).ok();
        }
    })
}
