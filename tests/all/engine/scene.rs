//! A machine without engines but those of the test.

use std::fs;
use std::io::Read as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::fixtures::image::Image;
use crate::fixtures::packing::Packing;
use crate::fixtures::tarball::{dir, file, symlink, tar, whiteout};
use crate::schema;

pub const TAG: &str = "example.org/app:1.0";

/// Bytes that do not compress.
pub fn noise(seed: &str, length: usize) -> Vec<u8> {
    let mut bytes = vec![0; length];
    blake3::Hasher::new().update(seed.as_bytes()).finalize_xof().fill(&mut bytes);
    bytes
}

/// An image of two layers; `seed` makes its bytes its own.
pub fn image(seed: &str) -> Image {
    let first = tar([
        dir("etc"),
        file("etc/os-release", b"ID=ubuntu\nVERSION_ID=\"24.04\"\n".to_vec()),
        dir("opt"),
        file("opt/one", noise(seed, 300_000)),
        symlink("opt/link", "one"),
        file("opt/gone", vec![b'g'; 900]),
    ]);
    let second = tar([
        dir("opt"),
        whiteout("opt/gone"),
        dir("srv"),
        file("srv/start.sh", b"#!/bin/sh\nexec nvcc --version\n".to_vec()).mode(0o755),
        file("srv/two", noise(seed, 200_000)),
    ]);
    let mut image = Image::of(Packing::Plain, [first, second]);
    image.config = json!({"Entrypoint": ["/srv/start.sh"], "Env": ["PATH=/usr/bin"]});
    image
}

/// A home folder without settings, a cache, and folders for sockets and temporary files.
pub struct Machine {
    folder: TempDir,
}

/// How a run ended.
pub struct Run {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
    /// The highest resident set that was seen, in KiB.
    pub peak_kib: u64,
}

impl Machine {
    pub fn new() -> Self {
        // Paths of sockets have 108 bytes at most.
        let folder = tempfile::Builder::new().prefix("cutaway-").tempdir().unwrap();
        for name in ["home", "run", "tmp", "cache"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        Self { folder }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn put(&self, name: &str, bytes: impl AsRef<[u8]>) -> String {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
        path.to_str().unwrap().to_owned()
    }

    /// Makes a program see this machine and, of its engines, those that `environment` names.
    pub fn settle(&self, command: &mut Command, environment: &[(&str, &str)]) {
        for name in [
            "DOCKER_HOST",
            "DOCKER_CONTEXT",
            "DOCKER_CONFIG",
            "DOCKER_TLS",
            "DOCKER_TLS_VERIFY",
            "CONTAINER_HOST",
        ] {
            command.env_remove(name);
        }
        for name in ["CUTAWAY_CACHE_SIZE", "CUTAWAY_NO_CACHE", "DISPLAY", "WAYLAND_DISPLAY"] {
            command.env_remove(name);
        }
        command
            .env("HOME", self.path("home"))
            .env("XDG_RUNTIME_DIR", self.path("run"))
            .env("TMPDIR", self.path("tmp"))
            .env("CUTAWAY_CACHE_DIR", self.path("cache"))
            .env("HTTPS_PROXY", "http://127.0.0.1:1")
            .env("MALLOC_ARENA_MAX", "2")
            .envs(environment.iter().copied())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
    }

    pub fn run(&self, environment: &[(&str, &str)], arguments: &[&str]) -> Run {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cutaway"));
        command.args(arguments);
        self.settle(&mut command, environment);
        self.watch(command)
    }

    /// Runs a command, and fails when anything ever lies in the folder of temporary files.
    pub fn watch(&self, mut command: Command) -> Run {
        let mut child = command.spawn().expect("the program starts");
        let mut outputs = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
        let stdout = thread::spawn(move || {
            let mut text = String::new();
            outputs.0.read_to_string(&mut text).map(|_| text)
        });
        let stderr = thread::spawn(move || {
            let mut text = String::new();
            outputs.1.read_to_string(&mut text).map(|_| text)
        });
        let mut peak_kib = 0;
        let status = loop {
            let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
            let high = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
            let kib = high.and_then(|text| text.trim().split(' ').next()?.parse().ok());
            peak_kib = peak_kib.max(kib.unwrap_or(0));
            let temporary: Vec<_> = fs::read_dir(self.path("tmp")).unwrap().collect();
            assert!(temporary.is_empty(), "temporary files: {temporary:?}");
            if let Some(status) = child.try_wait().unwrap() {
                break status;
            }
            thread::sleep(Duration::from_millis(1));
        };
        let (stdout, stderr) = (stdout.join().unwrap().unwrap(), stderr.join().unwrap().unwrap());
        assert!(!stderr.contains("panicked"), "{stderr}");
        Run { code: status.code().expect("an exit status"), stdout, stderr, peak_kib }
    }

    /// The report of a run and how it ended.
    pub fn report_with(
        &self,
        environment: &[(&str, &str)],
        reference: &str,
        options: &[&str],
    ) -> (i32, Value) {
        let run = self.run(environment, &[&["report", reference, "--format", "json"], options].concat());
        let report: Value = serde_json::from_str(&run.stdout)
            .unwrap_or_else(|error| panic!("no report of {reference} ({error}): {}", run.stderr));
        schema::fits("report", &report);
        (run.code, report)
    }

    /// The report of an image that is all there.
    pub fn report(&self, environment: &[(&str, &str)], reference: &str) -> Value {
        let (code, report) = self.report_with(environment, reference, &[]);
        assert_eq!(code, 0, "{reference}: {:#}", report["warnings"]);
        report
    }

    /// The report of an archive on the disk. Its layers are hashed as those of a stream always are.
    pub fn report_of_file(&self, reference: &str) -> Value {
        let (code, report) = self.report_with(&[("CUTAWAY_NO_CACHE", "1")], reference, &["--verify"]);
        assert_eq!(code, 0, "{reference}: {:#}", report["warnings"]);
        anywhere(report)
    }

    /// What a run says that gives no report.
    pub fn refusal(&self, environment: &[(&str, &str)], reference: &str) -> String {
        let run = self.run(environment, &["report", reference, "--format", "json"]);
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{reference}: {}", run.stderr);
        assert!(run.stderr.starts_with("error: "), "{}", run.stderr);
        run.stderr
    }
}

/// That two reports say the same, and else where they do not.
pub fn same(one: &Value, other: &Value) {
    fn differences(at: &str, one: &Value, other: &Value, found: &mut Vec<String>) {
        match (one, other) {
            (Value::Object(ones), Value::Object(others)) if ones.keys().eq(others.keys()) => {
                for (name, value) in ones {
                    differences(&format!("{at}/{name}"), value, &others[name], found);
                }
            }
            (Value::Array(ones), Value::Array(others)) if ones.len() == others.len() => {
                for (place, (one, other)) in ones.iter().zip(others).enumerate() {
                    differences(&format!("{at}/{place}"), one, other, found);
                }
            }
            _ if one == other => {}
            _ => found.push(format!("{at}: {one} and {other}")),
        }
    }
    let mut found = Vec::new();
    differences("", one, other, &mut found);
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// A report without what says where the image lies, and without what was hashed on the way: of layers that are
/// compressed a stream's are not unpacked for it, a file's are when asked.
pub fn anywhere(mut report: Value) -> Value {
    for layer in report["layers"].as_array_mut().unwrap() {
        layer["verified"] = Value::Null;
    }
    for name in ["source", "reference"] {
        report["image"][name] = Value::Null;
    }
    report
}
