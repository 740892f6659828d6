//! The GPU check through the program, against a driver's library that is made for the test: `tests/fake_cuda`
//! simulates a device and misbehaves as its environment tells it.

mod bad_libraries;
mod driver_errors;
mod healthy;
mod host_target;
mod images;
mod management;
mod processes;
mod ptx;
mod review;
mod shape;
mod wrong_numbers;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::{LazyLock, Mutex};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use crate::schema;
use crate::support::{Outcome, Place};

/// The limit where nothing should come near it, in seconds.
const AMPLE: &str = "60";
/// The limit of checks that hang, in seconds.
const SHORT: &str = "2";
/// What a check may take beyond its limit: to end the child, on a machine that is busy with other tests.
const GRACE: Duration = Duration::from_secs(6);

/// The stand-in for libcuda as gcc makes it with `flags`.
fn stand_in(flags: &[&str]) -> Vec<u8> {
    built(&["fake_cuda.c", "ptx.c"], flags)
}

/// A library of these sources; each form is compiled once.
fn built(sources: &[&str], flags: &[&str]) -> Vec<u8> {
    static BUILT: LazyLock<Mutex<BTreeMap<String, Vec<u8>>>> = LazyLock::new(Mutex::default);
    let mut built = BUILT.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let name = [sources, flags].concat().join(" ");
    built.entry(name).or_insert_with(|| compile(sources, flags)).clone()
}

fn compile(sources: &[&str], flags: &[&str]) -> Vec<u8> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fake_cuda");
    let folder = tempfile::tempdir().unwrap();
    let made = folder.path().join("made.so");
    let done = Command::new("gcc")
        .args(["-std=gnu11", "-O2", "-shared", "-fPIC", "-fvisibility=hidden", "-o"])
        .arg(&made)
        .args(sources.iter().map(|source| root.join(source)))
        .arg("-lm")
        .args(flags)
        .output()
        .expect("gcc runs");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    fs::read(made).unwrap()
}

/// A simulated machine: a library, and how it is to misbehave.
struct Machine {
    place: Place,
    /// What the library writes down; outside of the place, which must stay as it is.
    notes: TempDir,
    library: Option<String>,
    environment: Vec<(String, String)>,
    limit: &'static str,
}

/// A check as it was printed.
struct Check {
    outcome: Outcome,
    json: Value,
    /// How long the command took.
    took: Duration,
}

impl Machine {
    /// One with a GPU that does everything right.
    fn new() -> Self {
        Self::built(&[], "driver/libcuda.so.1")
    }

    /// One whose library is made with `flags` and lies at `path`.
    fn built(flags: &[&str], path: &str) -> Self {
        let mut machine = Self::bare();
        machine.library = Some(machine.place.put(path, stand_in(flags)));
        machine
    }

    /// One whose library is this file.
    fn of(path: &str, bytes: impl AsRef<[u8]>) -> Self {
        let mut machine = Self::bare();
        machine.library = Some(machine.place.put(path, bytes));
        machine
    }

    /// One without a library: the real search.
    fn bare() -> Self {
        let (place, notes) = (Place::new(), tempfile::tempdir().unwrap());
        let pids = notes.path().join("pids").to_str().unwrap().to_owned();
        let environment = vec![("FAKE_CUDA_PIDFILE".to_owned(), pids)];
        Self { place, notes, library: None, environment, limit: AMPLE }
    }

    /// Sets `FAKE_CUDA_` and `name`.
    fn with(self, name: &str, value: &str) -> Self {
        self.with_variable(&format!("FAKE_CUDA_{name}"), value)
    }

    fn with_variable(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    fn limited(mut self, seconds: &'static str) -> Self {
        self.limit = seconds;
        self
    }

    fn arguments<'a>(&'a self, options: &[&'a str]) -> Vec<&'a str> {
        let mut arguments = vec!["gpu", "--limit", self.limit];
        if let Some(library) = &self.library {
            arguments.extend(["--library", library]);
        }
        arguments.extend(options);
        arguments
    }

    /// Runs the check as text.
    fn text(&self, options: &[&str]) -> Outcome {
        self.place.run_in(&self.environment, &self.arguments(options))
    }

    /// Runs the check; what holds for every document is looked at here.
    fn check(&self, options: &[&str]) -> Check {
        let begun = Instant::now();
        let mut arguments = self.arguments(options);
        arguments.extend(["--format", "json"]);
        let outcome = self.place.run_in(&self.environment, &arguments);
        let json: Value = serde_json::from_str(&outcome.stdout).unwrap_or_else(|error| {
            panic!("no JSON ({error}): status {}\n{}\n{}", outcome.code, outcome.stdout, outcome.stderr)
        });
        let check = Check { outcome, json, took: begun.elapsed() };
        schema::fits("gpu", &check.json);
        let faults = shape::faults(&check.json);
        assert!(faults.is_empty(), "{}\n{:#}", faults.join("\n"), check.json);
        assert_eq!(
            check.outcome.code,
            if check.json["available"] == true { 0 } else { 2 },
            "{:#}",
            check.json
        );
        check
    }

    /// The processes that loaded the library, in order.
    fn pids(&self) -> Vec<u32> {
        let text = fs::read_to_string(self.notes.path().join("pids")).unwrap_or_default();
        text.lines().filter_map(|line| line.parse().ok()).collect()
    }

    /// The functions that were called, in order; asked for by [`Self::listening`].
    fn calls(&self) -> Vec<String> {
        let text = fs::read_to_string(self.notes.path().join("calls")).unwrap();
        text.lines().map(str::to_owned).collect()
    }

    fn listening(self) -> Self {
        let path = self.notes.path().join("calls").to_str().unwrap().to_owned();
        self.with("CALLS", &path)
    }
}

impl Check {
    /// The names of all steps in order.
    fn steps(&self) -> Vec<&str> {
        let steps = self.json["steps"].as_array().unwrap();
        steps.iter().map(|step| step["name"].as_str().unwrap()).collect()
    }

    /// The devices.
    fn devices(&self) -> &[Value] {
        self.json["devices"].as_array().unwrap()
    }

    /// A value of the error that must be there.
    fn error(&self, name: &str) -> &Value {
        assert!(!self.json["error"].is_null(), "no error: {:#}", self.json);
        &self.json["error"][name]
    }

    /// The message of the error.
    fn message(&self) -> &str {
        self.error("message").as_str().unwrap()
    }

    /// That the check failed in `stage`, with the error `name`.
    fn fails(&self, stage: &str, name: &str) -> &Self {
        let error = &self.json["error"];
        assert_eq!((&error["stage"], &error["name"]), (&stage.into(), &name.into()), "{:#}", self.json);
        assert_eq!(self.outcome.code, 2, "{:#}", self.json);
        self
    }

    /// That the hint holds one of these words.
    fn hints_at(&self, words: &[&str]) -> &Self {
        let hint = self.error("hint").as_str().unwrap_or_else(|| panic!("no hint: {:#}", self.json));
        let lower = hint.to_lowercase();
        assert!(words.iter().any(|word| lower.contains(&word.to_lowercase())), "none of {words:?}: {hint}");
        self
    }
}

/// Whether a process runs: one that is dead and was not waited for does not.
fn runs(pid: u32) -> bool {
    let Ok(stat) = fs::read_to_string(format!("/proc/{pid}/stat")) else { return false };
    let state = stat.rsplit(')').next().and_then(|rest| rest.trim().chars().next());
    !matches!(state, Some('Z' | 'X') | None)
}

/// Waits for something; whether it came.
fn wait_for(patience: Duration, mut holds: impl FnMut() -> bool) -> bool {
    let begun = Instant::now();
    while begun.elapsed() < patience {
        if holds() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    holds()
}
