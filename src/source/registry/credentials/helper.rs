//! Credential helpers: programs that store logins for Docker and Podman.
//!
//! The protocol is that of docker/docker-credential-helpers: `docker-credential-NAME get`, the server on standard
//! input, `{"Username", "Secret"}` on standard output.

use std::env;
use std::io::{self, Read, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use serde::Deserialize;

use super::super::super::access::Credential;
use super::super::environment::{Environment, absent};
use crate::base::redact::{REDACTED, json_fault, value};
use crate::base::text::{elide_middle, printable};

/// Maximum answer: a login has some hundred bytes, a token some thousand.
const LARGEST_ANSWER: u64 = 256 << 10;

/// Message of helpers without a login for a server, by the protocol.
const NOT_FOUND: &str = "credentials not found in native keychain";

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Answer {
    username: String,
    secret: String,
}

/// Output of a helper, and whether it succeeded.
struct Printed {
    well: bool,
    status: String,
    stdout: Vec<u8>,
    stderr: Vec<u8>,
}

/// Program name of a helper, for messages.
pub(super) fn shown(name: &str) -> String {
    format!("docker-credential-{}", elide_middle(&printable(name), 60))
}

/// Queries a helper for the first known one of `servers`. The reason of a failure names `host` and contains no secret.
pub(super) fn ask(
    name: &str,
    servers: &[&str],
    host: &str,
    environment: &Environment,
) -> Result<Credential, String> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    if name.len() > 100 || !name.bytes().all(plain) {
        return Err("invalid helper name".into());
    }
    let program = find(name, environment).ok_or_else(|| format!("{} is not installed", shown(name)))?;
    let mut last = absent(host);
    for server in servers {
        match ask_one(&program, server, environment.patience)? {
            Some(credential) => return Ok(credential),
            None => last = absent(host),
        }
    }
    Err(last)
}

fn find(name: &str, environment: &Environment) -> Option<PathBuf> {
    // Relative folders could run a program beside an image.
    let folders = env::split_paths(&environment.search_path).filter(|folder| folder.is_absolute());
    folders.map(|folder| folder.join(format!("docker-credential-{name}"))).find(|path| path.is_file())
}

fn ask_one(program: &Path, server: &str, patience: Duration) -> Result<Option<Credential>, String> {
    let mut child = Command::new(program)
        .arg("get")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| format!("cannot start: {error}"))?;
    let printed = talk(&mut child, server, patience);
    if printed.is_err() {
        // It may have exited in between.
        child.kill().ok();
        child.wait().ok();
    }
    judge(&printed?)
}

fn judge(printed: &Printed) -> Result<Option<Credential>, String> {
    let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).contains(NOT_FOUND);
    if said(&printed.stdout) || said(&printed.stderr) {
        return Ok(None);
    }
    if !printed.well {
        let said = message(&printed.stderr, &printed.stdout);
        return Err(said.map_or_else(
            || format!("failed: {}", printed.status),
            |said| format!("failed: {}: {said}", printed.status),
        ));
    }
    let answer: Answer = serde_json::from_slice(&printed.stdout).map_err(|error| json_fault(&error))?;
    if answer.secret.is_empty() {
        return Ok(None);
    }
    Ok(Some(if answer.username == "<token>" {
        Credential::IdentityToken(answer.secret)
    } else {
        Credential::Password { user: answer.username, password: answer.secret }
    }))
}

/// First line of standard error, without anything that is also on standard output, which may be the secret.
fn message(stderr: &[u8], stdout: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(stderr);
    let line = text.lines().map(str::trim).find(|line| !line.is_empty())?;
    let printed = String::from_utf8_lossy(stdout);
    let between = |c: char| c.is_whitespace() || matches!(c, '"' | ',' | '{' | '}');
    let secrets = printed.split(between).flat_map(|word| [word, word.trim_matches(':')]);
    let mut line = line.to_owned();
    for secret in secrets.filter(|word| word.chars().count() >= 4) {
        line = line.replace(secret, REDACTED);
    }
    let shown: String = printable(&value("", &line)).chars().take(200).collect();
    Some(shown)
}

/// Sends the server and reads the output, until both pipes close or the time limit.
fn talk(child: &mut Child, server: &str, patience: Duration) -> Result<Printed, String> {
    let started = Instant::now();
    let left = || patience.saturating_sub(started.elapsed());
    if let Some(mut stdin) = child.stdin.take() {
        // The name of a server fits into any pipe, so this does not wait. A helper that reads nothing may still answer.
        stdin.write_all(server.as_bytes()).ok();
    }
    let stdout = collect(child.stdout.take());
    let stderr = collect(child.stderr.take());
    let late = || format!("no answer within {} s", patience.as_secs());
    let stdout = receive(&stdout, left()).ok_or_else(late)??;
    let stderr = receive(&stderr, left()).ok_or_else(late)??;
    loop {
        let ended = child.try_wait().map_err(|error| error.to_string())?;
        if let Some(status) = ended {
            return Ok(Printed { well: status.success(), status: status.to_string(), stdout, stderr });
        }
        if left().is_zero() {
            return Err(late());
        }
        thread::sleep(Duration::from_millis(5));
    }
}

/// Reads on a separate thread: a child of the helper may keep the pipe open after the helper was killed.
fn collect(pipe: Option<impl Read + Send + 'static>) -> Receiver<io::Result<Vec<u8>>> {
    let (sender, receiver) = sync_channel(1);
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let read = match pipe {
            Some(pipe) => pipe.take(LARGEST_ANSWER + 1).read_to_end(&mut bytes),
            None => Ok(0),
        };
        // The time limit has passed: there is no receiver.
        sender.send(read.map(|_| bytes)).ok();
    });
    receiver
}

fn receive(pipe: &Receiver<io::Result<Vec<u8>>>, patience: Duration) -> Option<Result<Vec<u8>, String>> {
    match pipe.recv_timeout(patience) {
        Ok(Ok(bytes)) if bytes.len() as u64 > LARGEST_ANSWER => Some(Err("output too large".into())),
        Ok(read) => Some(read.map_err(|error| format!("invalid output: {error}"))),
        Err(RecvTimeoutError::Timeout) => None,
        Err(RecvTimeoutError::Disconnected) => Some(Err("invalid output".into())),
    }
}
