//! A registry that keeps what it received of an interrupted chunk, and says how much that is, as the OCI distribution
//! specification has it. (Docker's registry forgets the upload.)

use std::collections::BTreeMap;
use std::io::{BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use crate::fixtures::digest;
use crate::registry::http::Head;

/// A running registry.
pub struct Resuming {
    pub port: u16,
}

/// Documents and blobs by path, uploads by number.
#[derive(Default)]
struct Storage {
    stored: BTreeMap<String, Vec<u8>>,
    types: BTreeMap<String, String>,
    uploads: Vec<Vec<u8>>,
}

impl Resuming {
    pub fn start() -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let storage = Arc::new(Mutex::new(Storage::default()));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let storage = Arc::clone(&storage);
                thread::spawn(move || serve(stream, &storage));
            }
        });
        Self { port }
    }
}

fn serve(stream: TcpStream, storage: &Mutex<Storage>) -> Option<()> {
    let mut out = stream.try_clone().ok()?;
    let mut reader = BufReader::new(stream);
    while let Some(request) = Head::read(&mut reader) {
        let (method, target) = (request.word(0), request.word(1));
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let length = request.length().unwrap_or(0);
        let upload = path.split_once("/uploads/").and_then(|(_, number)| number.parse::<usize>().ok());
        let mut body = Vec::new();
        if let ("PATCH", Some(number)) = (method, upload) {
            let start =
                request.get("content-range").unwrap().split('-').next().unwrap().parse::<usize>().unwrap();
            let fits = storage.lock().unwrap().uploads[number].len() == start;
            let mut left = length;
            let mut piece = vec![0; 64 << 10];
            while left > 0 {
                let count = reader.read(&mut piece[..left.min(64 << 10)]).ok().filter(|count| *count > 0)?;
                if fits {
                    storage.lock().unwrap().uploads[number].extend_from_slice(&piece[..count]);
                }
                left -= count;
            }
            if !fits {
                answer(&mut out, Head::answer(416), b"")?;
                continue;
            }
        } else {
            reader.by_ref().take(length as u64).read_to_end(&mut body).ok().filter(|read| *read == length)?;
        }
        let (head, body) = reply(&request, path, query, upload, body, &mut storage.lock().unwrap());
        let body = if method == "HEAD" { Vec::new() } else { body };
        answer(&mut out, head, &body)?;
    }
    Some(())
}

fn reply(
    request: &Head,
    path: &str,
    query: &str,
    upload: Option<usize>,
    body: Vec<u8>,
    storage: &mut Storage,
) -> (Head, Vec<u8>) {
    let place = |number: usize| format!("{}/uploads/{number}", path.split("/uploads/").next().unwrap());
    match (request.word(0), upload) {
        ("POST", _) => {
            storage.uploads.push(Vec::new());
            (Head::answer(202).with("Location", &place(storage.uploads.len() - 1)), Vec::new())
        }
        ("PATCH" | "GET", Some(number)) => {
            let status = if request.word(0) == "GET" { 204 } else { 202 };
            let last = storage.uploads[number].len().saturating_sub(1);
            let head = Head::answer(status).with("Location", &place(number));
            (head.with("Range", &format!("0-{last}")), Vec::new())
        }
        ("PUT", Some(number)) => {
            let mut blob = std::mem::take(&mut storage.uploads[number]);
            blob.extend(body);
            let found = digest(&blob);
            if query != format!("digest={}", found.replace(':', "%3A")) {
                return (
                    Head::answer(400),
                    br#"{"errors":[{"code":"DIGEST_INVALID","message":""}]}"#.to_vec(),
                );
            }
            storage.stored.insert(format!("{}/{found}", path.split("/uploads/").next().unwrap()), blob);
            (Head::answer(201), Vec::new())
        }
        ("PUT", None) => {
            storage.types.insert(path.to_owned(), request.get("content-type").unwrap().to_owned());
            storage.stored.insert(path.to_owned(), body);
            (Head::answer(201), Vec::new())
        }
        ("GET" | "HEAD", _) if path == "/v2/" => (Head::answer(200), Vec::new()),
        ("GET" | "HEAD", _) => match storage.stored.get(path) {
            Some(bytes) => {
                let kind = storage.types.get(path).map_or("application/octet-stream", String::as_str);
                (Head::answer(200).with("Content-Type", kind), bytes.clone())
            }
            None => (Head::answer(404), Vec::new()),
        },
        _ => (Head::answer(405), Vec::new()),
    }
}

fn answer(out: &mut TcpStream, head: Head, body: &[u8]) -> Option<()> {
    let head = match head.status() {
        204 => head,
        _ => head.with("Content-Length", &body.len().to_string()),
    };
    out.write_all(&head.bytes()).ok()?;
    out.write_all(body).ok()
}
