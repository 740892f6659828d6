//! Runs the program as a user would, in a folder of its own, and reads its report.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use crate::fixtures::layout::{Files, Layout, write_files};
use crate::offline::offline;
use crate::schema;

/// No single run may take longer, on however slow a machine.
const PATIENCE: Duration = Duration::from_mins(2);

/// How a run ended.
#[derive(Debug)]
pub struct Outcome {
    /// The exit status; a run that a signal ended fails the test.
    pub code: i32,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
    /// The highest resident set that was seen, in KiB.
    pub peak_kib: u64,
}

/// A report as it was printed.
#[derive(Debug)]
pub struct Report {
    /// The exit status.
    pub code: i32,
    /// The whole document.
    pub json: Value,
}

/// The program, for a run that is no matter of [`Place`]: without the index cache of whoever runs the tests.
pub fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cutaway"));
    offline(&mut command).env("CUTAWAY_NO_CACHE", "1");
    // Nor with the settings of whoever runs the tests.
    command.env("CUTAWAY_SETTINGS", "/nonexistent/settings.toml");
    command
}

/// A folder for one test, and a home folder beside it.
pub struct Place {
    work: TempDir,
    home: TempDir,
}

impl Place {
    /// A new empty folder.
    pub fn new() -> Self {
        let folder = || tempfile::Builder::new().prefix("cutaway-test-").tempdir().expect("a folder");
        Self { work: folder(), home: folder() }
    }

    /// The path of something in it.
    pub fn path(&self, name: &str) -> String {
        self.work.path().join(name).to_str().expect("a path in UTF-8").to_owned()
    }

    /// Writes a file; its path comes back.
    pub fn put(&self, name: &str, bytes: impl AsRef<[u8]>) -> String {
        let path = self.path(name);
        fs::create_dir_all(Path::new(&path).parent().expect("a parent")).expect("a folder");
        fs::write(&path, bytes).expect("a file");
        path
    }

    /// Writes files below a folder; its path comes back.
    pub fn put_files(&self, name: &str, files: &Files) -> String {
        write_files(files, &self.work.path().join(name));
        self.path(name)
    }

    /// Writes a layout; its path comes back.
    pub fn put_layout(&self, name: &str, layout: &Layout) -> String {
        self.put_files(name, &layout.files())
    }

    /// Runs the program with `arguments`.
    pub fn run(&self, arguments: &[&str]) -> Outcome {
        self.run_with(&[], arguments)
    }

    /// Runs the program with `arguments` and further variables of the environment.
    pub fn run_with(&self, environment: &[(&str, &str)], arguments: &[&str]) -> Outcome {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cutaway"));
        command.args(arguments);
        self.settle(&mut command);
        command.envs(environment.iter().copied());
        self.watch(command)
    }

    /// Runs the program with `arguments` and `environment`, and with nothing else that says where a GPU is.
    #[cfg(feature = "gpu")]
    pub fn run_in(&self, environment: &[(String, String)], arguments: &[&str]) -> Outcome {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cutaway"));
        for name in ["LD_LIBRARY_PATH", "LD_PRELOAD", "CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES"] {
            command.env_remove(name);
        }
        self.settle(&mut command);
        command.envs(environment.iter().cloned()).args(arguments);
        self.watch(command)
    }

    /// Runs the program with `arguments` and at most `mib` MiB of address space.
    pub fn run_within(&self, mib: u64, arguments: &[&str]) -> Outcome {
        let mut command = Command::new("sh");
        command.arg("-c").arg(format!("ulimit -v {}; exec \"$0\" \"$@\"", mib * 1024));
        command.arg(env!("CARGO_BIN_EXE_cutaway")).args(arguments);
        self.settle(&mut command);
        self.watch(command)
    }

    /// The JSON report of `reference`, however the run ended.
    pub fn report_with(&self, reference: &str, options: &[&str]) -> Report {
        let mut arguments = vec!["report", reference, "--format", "json"];
        arguments.extend(options);
        let outcome = self.run(&arguments);
        let json: Value = serde_json::from_str(&outcome.stdout).unwrap_or_else(|error| {
            panic!("no JSON for {reference} ({error}): status {}, {}", outcome.code, outcome.stderr)
        });
        let report = Report { code: outcome.code, json };
        report.check();
        report
    }

    /// The JSON report of an image that is all there.
    pub fn report(&self, reference: &str) -> Report {
        let report = self.report_with(reference, &[]);
        assert_eq!(report.code, 0, "{reference}: {:#}", report.json["warnings"]);
        report
    }

    /// The message of a run that must fail before a report: status 2, nothing on standard output.
    pub fn failure(&self, arguments: &[&str]) -> String {
        let outcome = self.run(arguments);
        assert_eq!(outcome.code, 2, "{arguments:?}: {}{}", outcome.stdout, outcome.stderr);
        assert_eq!(outcome.stdout, "", "{arguments:?}");
        assert!(outcome.stderr.starts_with("error: "), "{arguments:?}: {}", outcome.stderr);
        outcome.stderr
    }

    /// The message of a report that cannot be made; it must name `object`.
    pub fn refusal(&self, reference: &str, object: &str) -> String {
        let message = self.failure(&["report", reference, "--format", "json"]);
        assert!(message.contains(object), "the message does not name {object}: {message}");
        message
    }

    /// Lets a program work in this folder, with a home and an index cache of its own.
    pub fn settle(&self, command: &mut Command) {
        let home = self.home.path();
        offline(command)
            .current_dir(self.work.path())
            .env("HOME", home)
            .env("XDG_CACHE_HOME", home.join("cache"))
            .env("XDG_CONFIG_HOME", home.join("config"))
            .env("XDG_DATA_HOME", home.join("data"));
        for name in ["CUTAWAY_CACHE_DIR", "CUTAWAY_CACHE_SIZE", "CUTAWAY_NO_CACHE", "CUTAWAY_SETTINGS"] {
            command.env_remove(name);
        }
    }

    /// The folder that its runs have for the index cache; made by the first that keeps something.
    pub fn cache(&self) -> PathBuf {
        self.home.path().join("cache/cutaway")
    }

    fn watch(&self, mut command: Command) -> Outcome {
        let before = snapshot(self.work.path());
        command
            .env("MALLOC_ARENA_MAX", "2")
            .env_remove("DISPLAY")
            .env_remove("WAYLAND_DISPLAY")
            .env_remove("DOCKER_HOST")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program starts");
        let mut stdout = child.stdout.take().expect("a pipe");
        let mut stderr = child.stderr.take().expect("a pipe");
        let read_stdout = thread::spawn(move || {
            let mut bytes = Vec::new();
            stdout.read_to_end(&mut bytes).map(|_| bytes)
        });
        let read_stderr = thread::spawn(move || {
            let mut bytes = Vec::new();
            stderr.read_to_end(&mut bytes).map(|_| bytes)
        });
        let (code, peak_kib) = wait(&mut child, &format!("{command:?}"));
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("output in UTF-8");
        let stdout = text(read_stdout.join().expect("no panic").expect("a readable pipe"));
        let stderr = text(read_stderr.join().expect("no panic").expect("a readable pipe"));
        assert!(!stderr.contains("panicked"), "a panic: {stderr}");
        for output in [&stdout, &stderr] {
            assert!(!output.contains(harmful), "harmful characters in the output: {output:?}");
        }
        assert_eq!(snapshot(self.work.path()), before, "the program wrote into the folder of the image");
        Outcome { code, stdout, stderr, peak_kib }
    }
}

impl Report {
    /// A figure of the totals.
    pub fn total(&self, name: &str) -> u64 {
        self.json["totals"][name].as_u64().unwrap_or_else(|| panic!("no {name}: {:#}", self.json["totals"]))
    }

    /// Whether all layers could be read.
    pub fn complete(&self) -> bool {
        self.json["totals"]["complete"].as_bool().expect("complete is a truth value")
    }

    /// The layers.
    pub fn layers(&self) -> &[Value] {
        self.json["layers"].as_array().expect("layers are a list")
    }

    /// A figure of each layer.
    pub fn each(&self, name: &str) -> Vec<u64> {
        let figure = |layer: &Value| layer[name].as_u64().unwrap_or_else(|| panic!("no {name}: {layer:#}"));
        self.layers().iter().map(figure).collect()
    }

    /// Codes of the warnings, each once, in order.
    pub fn codes(&self) -> Vec<&str> {
        let warnings = self.json["warnings"].as_array().expect("warnings are a list");
        let mut codes: Vec<&str> = warnings.iter().filter_map(|warning| warning["code"].as_str()).collect();
        codes.sort_unstable();
        codes.dedup();
        codes
    }

    /// The warnings with this code; at least one.
    pub fn warnings(&self, code: &str) -> Vec<&Value> {
        let warnings = self.json["warnings"].as_array().expect("warnings are a list");
        let found: Vec<&Value> = warnings.iter().filter(|warning| warning["code"] == code).collect();
        assert!(!found.is_empty(), "no warning {code}: {:#}", self.json["warnings"]);
        found
    }

    /// Path, size and layer of the largest files.
    pub fn largest(&self) -> BTreeMap<String, (u64, u64)> {
        let files = self.json["largest_files"].as_array().expect("largest_files is a list");
        let entry = |file: &Value| {
            let path = file["path"].as_str().expect("a path").to_owned();
            (path, (file["bytes"].as_u64().expect("bytes"), file["layer"].as_u64().expect("a layer")))
        };
        files.iter().map(entry).collect()
    }

    /// What is true of every report.
    fn check(&self) {
        let complete = self.complete();
        assert_eq!(self.code, if complete { 0 } else { 2 }, "{:#}", self.json["warnings"]);
        schema::fits("report", &self.json);
        assert_eq!(self.total("layers"), self.layers().len() as u64);
        let sum = |name: &str| self.layers().iter().filter_map(|layer| layer[name].as_u64()).sum::<u64>();
        assert_eq!(self.total("content_bytes"), self.total("merged_bytes") + self.total("wasted_bytes"));
        assert_eq!(self.total("content_bytes"), sum("content_bytes"));
        assert_eq!(self.total("wasted_bytes"), sum("wasted_bytes"));
        assert_eq!(self.total("wasted_bytes"), sum("hides_bytes"));
        let efficiency = self.json["totals"]["efficiency"].as_f64();
        if self.total("content_bytes") > 0 {
            let expected = self.total("merged_bytes") as f64 / self.total("content_bytes") as f64;
            let efficiency = efficiency.expect("an efficiency");
            assert!((efficiency - expected).abs() < 1e-3, "{efficiency} is not {expected}");
        }
        for warning in self.json["warnings"].as_array().expect("a list") {
            let (subject, message) = (&warning["subject"], &warning["message"]);
            let path = subject.as_str().filter(|subject| subject.starts_with('/') && subject.len() > 1);
            let names_twice =
                path.is_some_and(|path| message.as_str().is_some_and(|text| text.contains(path)));
            assert!(!names_twice, "a path that stands twice in a warning: {warning:#}");
        }
        for (index, layer) in self.layers().iter().enumerate() {
            assert_eq!(layer["index"], index);
            if layer["entries"].is_null() {
                assert!(!complete, "a layer without figures in a complete report: {layer:#}");
                continue;
            }
            let kinds = ["files", "directories", "symlinks", "hardlinks", "whiteouts", "others"];
            let entries: u64 = kinds.iter().map(|kind| layer[kind].as_u64().expect("a count")).sum();
            assert_eq!(layer["entries"], entries, "{layer:#}");
        }
    }
}

/// Characters that no output may hold: they act on a terminal, or turn the direction of text.
fn harmful(character: char) -> bool {
    character.is_control() && character != '\n'
        || matches!(character, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn wait(child: &mut Child, what: &str) -> (i32, u64) {
    let started = Instant::now();
    let status_file = format!("/proc/{}/status", child.id());
    let mut peak_kib = 0;
    let mut pause = Duration::from_micros(500);
    loop {
        if let Ok(status) = fs::read_to_string(&status_file) {
            let high = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
            let kib = high.and_then(|text| text.trim().split(' ').next()?.parse::<u64>().ok());
            peak_kib = peak_kib.max(kib.unwrap_or(0));
        }
        if let Some(status) = child.try_wait().expect("the program can be waited for") {
            let code = status.code().unwrap_or_else(|| panic!("{what} was ended by {status}"));
            return (code, peak_kib);
        }
        if started.elapsed() > PATIENCE {
            child.kill().ok();
            child.wait().ok();
            panic!("{what} did not end within {PATIENCE:?}");
        }
        thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(10));
    }
}

/// Names, sizes and kinds of all that lies below a folder.
fn snapshot(folder: &Path) -> Vec<(String, u64, bool)> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        let Ok(entries) = fs::read_dir(&next) else { continue };
        for entry in entries.flatten() {
            let path = entry.path();
            let Ok(facts) = path.symlink_metadata() else { continue };
            if facts.is_dir() {
                folders.push(path.clone());
            }
            let size = if facts.is_file() { facts.len() } else { 0 };
            found.push((path.to_string_lossy().into_owned(), size, facts.is_dir()));
        }
    }
    found.sort();
    found
}
