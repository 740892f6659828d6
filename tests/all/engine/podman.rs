//! Podman's own service, with a storage of its own.

use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::library::ask;
use super::scene::{Machine, anywhere, image, same};
use super::socket::proxy;
use crate::fixtures::docker::save_classic;
use crate::fixtures::image::Image;
use crate::fixtures::tarball::tar;
use crate::oracle::{have, skip};

const NAME: &str = "localhost/app:1.0";

/// The service, ended when dropped.
pub struct Podman {
    pub machine: Machine,
    service: Option<Child>,
}

impl Podman {
    /// A service that holds these images; `None` where podman cannot be had.
    pub fn holding(images: &[(&Image, &[&str])]) -> Option<Self> {
        if !have(&["podman"]) {
            return None;
        }
        let mut podman = Self { machine: Machine::new(), service: None };
        std::fs::create_dir_all(podman.machine.path("run/podman")).unwrap();
        std::fs::create_dir_all(podman.machine.path("podtmp")).unwrap();
        let works = podman.command(&["images"]).output().unwrap();
        if !works.status.success() {
            skip(&format!(
                "podman cannot keep images here: {}",
                String::from_utf8_lossy(&works.stderr).trim()
            ));
            return None;
        }
        for (place, image) in images.iter().enumerate() {
            podman.load(&format!("load{place}.tar"), image);
        }
        let address = format!("unix://{}", podman.socket().display());
        let service = podman.command(&["system", "service", "--time=0", &address]).spawn().unwrap();
        podman.service = Some(service);
        let started = Instant::now();
        while UnixStream::connect(podman.socket()).is_err() {
            assert!(started.elapsed() < Duration::from_mins(1), "podman's service does not listen");
            thread::sleep(Duration::from_millis(20));
        }
        Some(podman)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new("podman");
        command
            .arg("--root")
            .arg(self.machine.path("root"))
            .arg("--runroot")
            .arg(self.machine.path("runroot"))
            .args(["--storage-driver", "vfs"])
            .args(arguments)
            .env("HOME", self.machine.path("home"))
            .env("XDG_RUNTIME_DIR", self.machine.path("run"))
            .env("TMPDIR", self.machine.path("podtmp"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command
    }

    pub fn podman(&self, arguments: &[&str]) {
        let mut command = self.command(arguments);
        let output = command.stderr(Stdio::piped()).spawn().unwrap().wait_with_output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    }

    fn load(&self, name: &str, image: &(&Image, &[&str])) {
        let path = self.machine.put(name, tar(save_classic(&[*image])));
        self.podman(&["load", "--input", &path]);
    }

    /// The report of what podman itself saves.
    pub fn saved(&self, name: &str) -> Value {
        let path = self.machine.path("saved.tar").to_str().unwrap().to_owned();
        std::fs::remove_file(&path).ok();
        self.podman(&["save", "--format", "docker-archive", "--output", &path, name]);
        self.machine.report_of_file(&format!("docker-archive:{path}"))
    }

    fn socket(&self) -> PathBuf {
        self.machine.path("run/podman/podman.sock")
    }

    pub fn host(&self) -> String {
        format!("unix://{}", self.socket().display())
    }
}

impl Drop for Podman {
    fn drop(&mut self) {
        if let Some(service) = &mut self.service {
            service.kill().ok();
            service.wait().ok();
        }
    }
}

#[test]
fn an_image_of_podman_is_read_as_what_podman_saves() {
    let Some(podman) = Podman::holding(&[(&image("podman"), &[NAME, "localhost/plain:latest"])]) else {
        return;
    };
    let expected = podman.saved(NAME);
    let id = expected["image"]["config_digest"].as_str().unwrap().to_owned();
    let host = podman.host();
    let elsewhere = podman.machine.path("nowhere");
    let elsewhere = ("XDG_RUNTIME_DIR", elsewhere.to_str().unwrap());
    let mut seen = Vec::new();
    for (environment, reference) in [
        (vec![], format!("podman:{NAME}")),
        (vec![], format!("podman://{NAME}")),
        (vec![], format!("docker-daemon:{NAME}")),
        (vec![], "podman:plain".to_owned()),
        (vec![elsewhere, ("CONTAINER_HOST", &host)], format!("podman:{NAME}")),
        (vec![elsewhere, ("DOCKER_HOST", &host)], format!("docker:{NAME}")),
        (vec![elsewhere, ("DOCKER_HOST", &host)], format!("docker-daemon:{id}")),
        (vec![], format!("podman:{}", &id[7..])),
        (vec![], format!("podman:{}", &id[7..19])),
    ] {
        let environment = [&[("CUTAWAY_NO_CACHE", "1")], &environment[..]].concat();
        let mut report = podman.machine.report(&environment, &reference);
        assert_eq!(
            (&report["image"]["source"], &report["image"]["reference"]),
            (&"engine".into(), &reference.into())
        );
        // Podman saves the names that it is asked for; the engine tells all of them.
        seen.push(report["image"]["tags"].take());
        report["image"]["tags"] = expected["image"]["tags"].clone();
        same(&anywhere(report), &expected);
    }
    for tags in seen {
        let mut tags: Vec<&str> = tags.as_array().unwrap().iter().filter_map(Value::as_str).collect();
        tags.sort_unstable();
        assert_eq!(tags, [NAME, "localhost/plain:latest"]);
    }
}

#[test]
fn an_image_of_podman_streams_once() {
    let Some(podman) = Podman::holding(&[(&image("podman"), &[NAME])]) else { return };
    let expected = podman.saved(NAME);
    let proxy = proxy(&podman.machine, "p.sock", &podman.socket(), |_, _, _| false);
    let environment = [("CONTAINER_HOST", &*proxy.host()), ("XDG_RUNTIME_DIR", "/nowhere")];
    let reference = format!("podman:{NAME}");
    let streamed = |environment: &[(&str, &str)]| {
        same(&anywhere(podman.machine.report(environment, &reference)), &expected);
        proxy.seen().iter().filter(|path| path.ends_with("/get")).count()
    };
    assert_eq!([streamed(&environment), streamed(&environment)], [1, 0]);
    let id = expected["image"]["config_digest"].as_str().unwrap();
    podman.machine.report(&environment, &format!("podman:{id}"));
    assert_eq!(proxy.seen(), [format!("/images/{id}/json")]);
    // Another image of the same name is another one.
    podman.load("again.tar", &(&image("changed"), &[NAME]));
    let changed = podman.machine.report(&environment, &reference);
    assert_ne!(changed["image"]["config_digest"], expected["image"]["config_digest"]);
    same(&anywhere(changed), &podman.saved(NAME));
}

#[test]
fn a_break_in_what_podman_sends_is_said_and_not_kept() {
    let Some(podman) = Podman::holding(&[(&image("podman"), &[NAME])]) else { return };
    let broken = Arc::new(AtomicBool::new(true));
    let breaks = Arc::clone(&broken);
    let proxy = proxy(&podman.machine, "p.sock", &podman.socket(), move |path, there, here| {
        if !path.ends_with("/get") || !breaks.load(Ordering::SeqCst) {
            return false;
        }
        // In the middle of a layer; some bytes come late.
        let mut part = Vec::new();
        there.take(250_000).read_to_end(&mut part).unwrap();
        here.write_all(&part[..100_000]).ok();
        thread::sleep(Duration::from_millis(300));
        here.write_all(&part[100_000..]).ok();
        true
    });
    let environment = [("CONTAINER_HOST", &*proxy.host()), ("XDG_RUNTIME_DIR", "/nowhere")];
    let reference = format!("podman:{NAME}");
    let message = podman.machine.refusal(&environment, &reference);
    assert!(message.contains("no data that identifies the layers"), "{message}");
    broken.store(false, Ordering::SeqCst);
    proxy.seen();
    same(&anywhere(podman.machine.report(&environment, &reference)), &podman.saved(NAME));
    assert_eq!(proxy.seen().len(), 2);
}

#[test]
fn podman_lists_what_it_holds_and_each_reference_opens_it() {
    let images = [image("one"), image("two"), image("three")];
    let Some(podman) = Podman::holding(&[
        (&images[0], &["localhost/one:1"]),
        (&images[1], &["localhost/lost:1"]),
        (&images[2], &["example.org/three:1", "example.org/three:2"]),
    ]) else {
        return;
    };
    podman.podman(&["untag", "localhost/lost:1"]);
    let ids = images.map(|image| crate::fixtures::digest(&image.config_bytes()));
    let environment = [("CONTAINER_HOST", &*podman.host()), ("DOCKER_HOST", &podman.host())];
    let listing = ask(&podman.machine, &environment, "list");
    let listed = listing["images"].as_array().unwrap();
    for (id, tags) in ids.iter().zip([1, 0, 2]) {
        let found: Vec<&Value> = listed.iter().filter(|image| image["id"] == id.as_str()).collect();
        assert_eq!(found.len(), 1, "{listing:#}");
        assert_eq!(found[0]["tags"].as_array().unwrap().len(), tags);
        assert!(found[0]["bytes"].as_u64().unwrap() > 500_000);
        assert!(found[0]["created"].as_i64().unwrap() > 0);
        assert!(found[0]["engine"].as_str().unwrap().starts_with("podman ("));
        let reference = found[0]["reference"].as_str().unwrap();
        assert_eq!(reference.starts_with("podman:sha256:"), tags == 0, "{reference}");
        let report = podman.machine.report(&environment, reference);
        assert_eq!(report["image"]["config_digest"], id.as_str(), "{reference}");
    }
    assert_eq!(ask(&podman.machine, &environment, "holds example.org/three:2"), "podman:example.org/three:2");
    assert_eq!(ask(&podman.machine, &environment, "holds three"), Value::Null);
}

#[test]
fn what_podman_does_not_have_is_said_for_each_place() {
    let Some(podman) = Podman::holding(&[]) else { return };
    let message = podman.machine.refusal(&[], "podman:localhost/nothing:1");
    let place = format!("rootless podman ({}): no such image", podman.host());
    assert!(message.contains(&place), "{message}");
    assert!(message.contains("CONTAINER_HOST: not set"), "{message}");
}
