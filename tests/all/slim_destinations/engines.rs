//! Images that are loaded into podman.

use std::fs;

use super::folders::place;
use super::writer::{POINTS, Task};
use crate::engine::podman::Podman;
use crate::engine::scene::{anywhere, same};

/// With the sockets of this machine only.
fn task(podman: &Podman, source: &str, destination: &str) -> Task {
    let temporary = podman.machine.path("tmp");
    Task::new(source, destination)
        .with("CONTAINER_HOST", &podman.host())
        .with("DOCKER_HOST", &podman.host())
        .with("XDG_RUNTIME_DIR", "/nowhere")
        .with("TMPDIR", temporary.to_str().unwrap())
}

#[test]
fn an_image_is_loaded_into_podman_under_its_name() {
    let Some(podman) = Podman::holding(&[]) else { return };
    let (place, source) = place();
    let expected = place.report(&source);
    for (destination, name) in [
        ("podman:localhost/app:1.0", "localhost/app:1.0"),
        ("docker-daemon:example.org/team/app", "example.org/team/app:latest"),
        ("podman:short:2", "short:2"),
    ] {
        let task = task(&podman, &source, destination);
        for point in POINTS {
            task.dropped_at(&place, point);
        }
        assert_eq!(task.succeeds(&place), destination);
        assert_eq!(fs::read_dir(podman.machine.path("tmp")).unwrap().count(), 0, "a temporary file was left");
        let environment = [("CONTAINER_HOST", &*podman.host()), ("DOCKER_HOST", &podman.host())];
        let report = podman.machine.report(&environment, destination);
        assert_eq!(report["image"]["config_digest"], expected.json["image"]["config_digest"], "{name}");
        assert_eq!(report["totals"]["merged_bytes"], expected.json["totals"]["merged_bytes"], "{name}");
        let mut saved = podman.saved(name);
        let mut report = anywhere(report);
        report["image"]["tags"] = saved["image"]["tags"].take();
        saved["image"]["tags"] = report["image"]["tags"].clone();
        same(&report, &saved);
    }
}

#[test]
fn an_engine_that_is_not_there_is_named_before_anything_is_written() {
    let (place, source) = place();
    let task = |destination: &str| {
        Task::new(&source, destination)
            .with("CONTAINER_HOST", "unix:///nowhere/podman.sock")
            .with("DOCKER_HOST", "tcp://127.0.0.1:1")
            .with("XDG_RUNTIME_DIR", "/nowhere")
            .with("TMPDIR", "/nowhere")
    };
    let message = task("podman:app:1").fails(&place);
    for part in [
        "cannot write podman:app:1",
        "CONTAINER_HOST (unix:///nowhere/podman.sock): no such socket",
        "podman.socket",
    ] {
        assert!(message.contains(part), "{message}");
    }
}
