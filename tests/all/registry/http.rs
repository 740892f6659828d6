//! As much of HTTP/1.1 as a proxy for tests needs.

use std::io::{BufRead, BufReader, Read as _, Write};
use std::net::TcpStream;
use std::time::Duration;

/// The first line and the headers of a request or an answer.
#[derive(Clone, Debug, Default)]
pub struct Head {
    pub first: String,
    pub headers: Vec<(String, String)>,
}

impl Head {
    /// An answer that has no headers yet.
    pub fn answer(status: u16) -> Self {
        let reason = match status {
            200 => "OK",
            401 => "Unauthorized",
            404 => "Not Found",
            429 => "Too Many Requests",
            _ => "Answer",
        };
        Self { first: format!("HTTP/1.1 {status} {reason}"), headers: Vec::new() }
    }

    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.set(name, value);
        self
    }

    /// Replaces a header.
    pub fn set(&mut self, name: &str, value: &str) {
        self.remove(name);
        self.headers.push((name.to_owned(), value.to_owned()));
    }

    pub fn remove(&mut self, name: &str) {
        self.headers.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
    }

    pub fn get(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    pub fn length(&self) -> Option<usize> {
        self.get("content-length").and_then(|length| length.parse().ok())
    }

    /// A word of the first line.
    pub fn word(&self, place: usize) -> &str {
        self.first.split(' ').nth(place).unwrap_or("")
    }

    pub fn status(&self) -> u16 {
        self.word(1).parse().unwrap_or(0)
    }

    /// As it goes over the line.
    pub fn bytes(&self) -> Vec<u8> {
        let headers = self.headers.iter().map(|(name, value)| format!("{name}: {value}\r\n"));
        let text: String = std::iter::once(format!("{}\r\n", self.first)).chain(headers).collect();
        (text + "\r\n").into_bytes()
    }

    /// Reads one; `None` when the other side is done, or talks something else.
    pub fn read(stream: &mut impl BufRead) -> Option<Self> {
        let mut line = || {
            let mut line = Vec::new();
            stream.by_ref().take(64 << 10).read_until(b'\n', &mut line).ok().filter(|read| *read > 0)?;
            Some(String::from_utf8(line).ok()?.trim_end().to_owned())
        };
        let first = line().filter(|first| first.contains(' '))?;
        let mut headers = Vec::new();
        loop {
            let line = line()?;
            if line.is_empty() {
                return Some(Self { first, headers });
            }
            let (name, value) = line.split_once(':')?;
            headers.push((name.to_owned(), value.trim().to_owned()));
        }
    }
}

/// A connection to a port of this machine.
pub fn connect(port: u16) -> Option<TcpStream> {
    let stream = TcpStream::connect(("127.0.0.1", port)).ok()?;
    stream.set_read_timeout(Some(Duration::from_mins(1))).ok()?;
    stream.set_nodelay(true).ok()?;
    Some(stream)
}

/// Sends a request and reads the head of the answer; the body follows from the reader. HTTP/1.0 keeps it unchunked.
pub fn ask(port: u16, request: &Head, body: &[u8]) -> Option<(Head, BufReader<TcpStream>)> {
    let mut stream = connect(port)?;
    let mut request = request.clone();
    request.first = format!("{} {} HTTP/1.0", request.word(0), request.word(1));
    request.set("Connection", "close");
    stream.write_all(&request.bytes()).ok()?;
    stream.write_all(body).ok()?;
    let mut reader = BufReader::new(stream);
    let head = Head::read(&mut reader)?;
    Some((head, reader))
}
