//! Writes an image through the library, in a process of its own that can be killed.

use std::env;
use std::io::{BufRead as _, BufReader, Read, Write as _};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use cutaway::base::{Digest, Limits, Platform};
use cutaway::jobs::{CancelToken, Cancelled, Progress};
use cutaway::slim::{Destination, Documents, KeptBlob, SlimError};
use cutaway::source::{Access, Blob, Image, LayerSource, OpenContext, Reference, Sink, StreamedMember};
use serde_json::{Value, json};

use crate::registry::bench::PATIENCE;
use crate::support::Place;

/// Says what a child process is to do.
const TASK: &str = "CUTAWAY_TEST_SLIM_TASK";
/// Said by a process that waits for its end.
const PAUSED: &str = "PAUSED HERE";

/// What to write, and how.
#[derive(Clone)]
pub struct Task {
    source: String,
    destination: String,
    environment: Vec<(String, String)>,
    more: Value,
}

impl Task {
    /// Writes the image `source` to `destination`: all layers but the last are kept, and that one is written.
    pub fn new(source: &str, destination: &str) -> Self {
        let (source, destination) = (source.to_owned(), destination.to_owned());
        Self { source, destination, environment: Vec::new(), more: json!({}) }
    }

    /// With a variable of the environment.
    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    /// With this file of certificates.
    pub fn trusting(mut self, file: &str) -> Self {
        self.more["ca"] = file.into();
        self
    }

    /// Keeps the last layer too.
    pub fn keeping_all(mut self) -> Self {
        self.more["keep_all"] = true.into();
        self
    }

    fn start(&self, place: &Place) -> Child {
        let mut task = json!({"source": self.source, "destination": self.destination});
        task.as_object_mut().unwrap().extend(self.more.as_object().unwrap().clone());
        let (_, room) = module_path!().split_once("::").unwrap();
        let mut command = Command::new(env::current_exe().unwrap());
        command.args(["--exact", &format!("{room}::the_library_writes"), "--nocapture"]);
        place.settle(&mut command);
        command
            .env("CUTAWAY_REGISTRY_TIMEOUT_MS", PATIENCE)
            .env(TASK, task.to_string())
            .envs(self.environment.iter().cloned())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command.spawn().expect("this program starts")
    }

    /// What came of it.
    pub fn run(&self, place: &Place) -> Value {
        let output = self.start(place).wait_with_output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(
            output.status.success() && text.contains("1 passed"),
            "{text}{}",
            String::from_utf8_lossy(&output.stderr)
        );
        let answer = text.split("ANSWER ").nth(1).and_then(|rest| rest.lines().next()).expect("an answer");
        assert!(!answer.contains("HUNTER2"), "a secret is shown: {answer}");
        serde_json::from_str(answer).unwrap()
    }

    /// The reference of the published image.
    pub fn succeeds(&self, place: &Place) -> String {
        let answer = self.run(place);
        answer["published"].as_str().unwrap_or_else(|| panic!("not published: {answer:#}")).to_owned()
    }

    /// The message of a failure, with its hint.
    pub fn fails(&self, place: &Place) -> String {
        let answer = self.run(place);
        let message = answer["error"].as_str().unwrap_or_else(|| panic!("no failure: {answer:#}"));
        format!("{message} hint: {}", answer["hint"].as_str().unwrap_or_default())
    }

    /// Drops everything at this point.
    pub fn dropped_at(&self, place: &Place, point: &str) {
        let mut task = self.clone();
        task.more["drop"] = point.into();
        assert_eq!(task.run(place)["dropped"], point);
    }

    /// Kills the process at this point.
    pub fn killed_at(&self, place: &Place, point: &str) {
        let mut task = self.clone();
        task.more["pause"] = point.into();
        let mut child = task.start(place);
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
        let paused = lines.any(|line| line.contains(PAUSED));
        child.kill().unwrap();
        let mut errors = String::new();
        child.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
        child.wait().unwrap();
        assert!(paused, "{point} was not reached: {errors}");
    }
}

/// The points at which a write may end.
pub const POINTS: [&str; 4] = ["open", "blob", "stage", "publish"];

#[test]
fn the_library_writes() {
    // Only where a test asks, which names what.
    let Ok(task) = env::var(TASK) else { return };
    let task: Value = serde_json::from_str(&task).unwrap();
    let answer = write(&task).unwrap_or_else(|error| match error {
        SlimError::Write { ref hint, .. } => json!({"error": error.to_string(), "hint": hint}),
        error => json!({"error": error.to_string()}),
    });
    println!("\nANSWER {answer}");
}

struct NoSink;

impl Sink for NoSink {
    fn layer(&mut self, _: &StreamedMember, _: &mut dyn Read) -> Result<usize, Cancelled> {
        panic!("the images of these tests are not streamed")
    }
}

fn opened(reference: &str, access: &Access) -> Image {
    let platform = Platform { os: "linux".into(), architecture: "amd64".into(), variant: None };
    let mut context = OpenContext {
        limits: &Limits::default(),
        platform: Some(&platform),
        access,
        cancel: &CancelToken::new(),
        progress: &Progress::default(),
        sink: &mut NoSink,
    };
    let image = cutaway::source::open(&Reference::parse(reference).unwrap(), &mut context);
    image.unwrap_or_else(|error| panic!("{reference}: {error}"))
}

fn digest(text: Option<&String>) -> Digest {
    text.unwrap().parse().unwrap()
}

fn bytes_of(layer: &LayerSource) -> Vec<u8> {
    match &layer.blob {
        Blob::Section(section) => section.read_all(1 << 30).unwrap(),
        Blob::Remote(remote) => {
            let mut bytes = Vec::new();
            remote.stream(&CancelToken::new(), &Progress::default()).read_to_end(&mut bytes).unwrap();
            bytes
        }
        _ => panic!("a layer without bytes"),
    }
}

fn write(task: &Value) -> Result<Value, SlimError> {
    let text = |name: &str| task[name].as_str().unwrap_or_default();
    let access = Access { ca_file: task["ca"].as_str().map(Into::into), ..Access::default() };
    let cancel = CancelToken::new();
    let pause = |point: &str| {
        if text("pause") == point {
            println!("{PAUSED}");
            thread::sleep(Duration::from_mins(2));
        }
        text("drop") == point
    };
    let destination = Destination::parse(text("destination"))?;
    let image = opened(text("source"), &access);
    let progress = Progress::default();
    let store = destination.open(&access, &image, &cancel)?;
    if pause("open") {
        return Ok(json!({"dropped": "open"}));
    }
    let mut kept = &image.layers[..];
    if task["keep_all"] != true {
        let (last, first) = image.layers.split_last().unwrap();
        kept = first;
        let bytes = bytes_of(last);
        let (one, other) = bytes.split_at(bytes.len() / 2);
        let broken = |error: std::io::Error| SlimError::Write {
            what: "blob".into(),
            reason: error.to_string(),
            hint: None,
        };
        let mut sink = store.begin()?;
        sink.write_all(one).map_err(broken)?;
        if pause("blob") {
            return Ok(json!({"dropped": "blob"}));
        }
        sink.write_all(other).map_err(broken)?;
        sink.finish(last.digest.as_ref().unwrap(), bytes.len() as u64)?;
    }
    let keep = |layer: &LayerSource| {
        let (digest, size) = (layer.digest.as_ref().unwrap(), layer.size.unwrap());
        store.keep(&KeptBlob { layer, digest, size }, &progress, &cancel)
    };
    thread::scope(|scope| -> Result<(), SlimError> {
        let threads: Vec<_> = kept.iter().map(|layer| scope.spawn(|| keep(layer))).collect();
        threads.into_iter().try_for_each(|thread| thread.join().unwrap())
    })?;
    if pause("stage") {
        return Ok(json!({"dropped": "stage"}));
    }
    let staged = store.stage(Documents {
        manifest: image.manifest_bytes.to_vec(),
        media_type: image.media_type.clone().unwrap(),
        manifest_digest: digest(image.manifest_digest.as_ref()),
        config: image.config_bytes.to_vec(),
        config_digest: digest(image.config_digest.as_ref()),
        layers: image
            .layers
            .iter()
            .map(|layer| (layer.digest.clone().unwrap(), layer.size.unwrap()))
            .collect(),
        platforms: None,
    })?;
    let again = opened(&staged.reference(), &access);
    assert_eq!(again.config_digest, image.config_digest, "{}", staged.reference());
    assert!(again.intact && again.warnings.is_empty());
    for (layer, expected) in again.layers.iter().zip(&image.layers) {
        assert!(bytes_of(layer) == bytes_of(expected), "other bytes at {}", staged.reference());
    }
    if pause("publish") {
        return Ok(json!({"dropped": "publish"}));
    }
    let published = staged.publish()?.reference;
    let told = progress.messages_since(0);
    Ok(json!({"published": published, "told": told, "read": progress.snapshot().bytes_read}))
}
