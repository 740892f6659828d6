//! What engines hold, as the start screen and the command line ask.

use std::os::unix::net::UnixListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::library::ask;
use super::scene::{Machine, TAG, image};
use super::socket::{Engine, Socket, begin, piece, say};
use crate::fixtures::docker::save_classic;
use crate::fixtures::{digest, json_bytes};

/// An engine that lists these images.
fn lists(machine: &Machine, name: &str, images: &Value, is_podman: bool) -> Socket {
    let images = json_bytes(images);
    let engine = if is_podman { "Podman Engine" } else { "Engine" };
    let version =
        json_bytes(&json!({"Components": [{"Name": engine, "Version": "1"}], "ApiVersion": "1.41"}));
    std::fs::create_dir_all(machine.path(name).parent().unwrap()).unwrap();
    Socket::new(machine.path(name), move |path, stream| match path.split('?').next().unwrap() {
        "/images/json" => say(stream, 200, &images),
        "/version" => say(stream, 200, &version),
        _ => say(stream, 404, b"{}"),
    })
}

fn listed(id: &str, tags: &Value, size: i64, created: i64) -> Value {
    json!({
        "Id": id, "ParentId": "", "RepoTags": tags, "RepoDigests": null, "Created": created, "Size": size,
        "SharedSize": -1, "Labels": null, "Containers": -1
    })
}

fn id(seed: &str) -> String {
    digest(seed.as_bytes())
}

#[test]
fn images_of_all_engines_are_listed_once_and_newest_first() {
    let machine = Machine::new();
    let held = json!([
        listed(&id("old"), &json!(["old:1", "old:latest"]), 5000, 100),
        listed(&id("lost"), &json!(["<none>:<none>"]), 7000, 300),
    ]);
    let docker = lists(&machine, "d.sock", &held, false);
    let held = json!([
        listed(&id("new"), &json!(["localhost/new:1"]), 9000, 200),
        listed(&id("shadow"), &json!(["old:1"]), 1, 50),
    ]);
    let podman = lists(&machine, "run/podman/podman.sock", &held, true);
    let _silent = UnixListener::bind(machine.path("run/docker.sock")).unwrap();
    let environment = [("DOCKER_HOST", &*docker.host()), ("CONTAINER_HOST", &podman.host())];
    let listing = ask(&machine, &environment, "list");
    let mine: Vec<&Value> = listing["images"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|image| ["old", "lost", "new", "shadow"].iter().any(|name| image["id"] == id(name)))
        .collect();
    let root = rustix::process::getuid().is_root();
    let engine = if root { "podman (rootful)" } else { "podman (rootless)" };
    let expected = [
        json!({"engine": "docker", "reference": format!("docker-daemon:{}", id("lost")), "id": id("lost"), "tags": [],
            "bytes": 7000, "created": 300}),
        json!({"engine": engine, "reference": "podman:localhost/new:1", "id": id("new"), "tags": ["localhost/new:1"],
            "bytes": 9000, "created": 200}),
        json!({"engine": "docker", "reference": "docker-daemon:old:1", "id": id("old"),
            "tags": ["old:1", "old:latest"], "bytes": 5000, "created": 100}),
        json!({"engine": engine, "reference": "podman:old:1", "id": id("shadow"), "tags": ["old:1"],
            "bytes": 1, "created": 50}),
    ];
    assert_eq!(mine, expected.iter().collect::<Vec<_>>());
    let tried = listing["tried"].as_array().unwrap();
    let said = |way: &str| tried.iter().filter(|line| line.as_str().unwrap().starts_with(way)).count();
    assert_eq!(
        (said("DOCKER_HOST ("), said("CONTAINER_HOST ("), said("rootless podman (")),
        (1, 1, 0),
        "{tried:?}"
    );
    assert!(tried.iter().any(|line| line.as_str().unwrap().ends_with("no answer within 3 s")), "{tried:?}");
    assert!(listing["milliseconds"].as_f64().unwrap() < 30_000.0);
}

#[test]
fn lists_that_engines_may_not_give_are_bounded() {
    let machine = Machine::new();
    let many: Vec<Value> = (0..10_050)
        .map(|number| listed(&id(&number.to_string()), &json!([format!("n:{number}")]), 1, 5))
        .collect();
    let mut images = vec![
        listed("../../etc/passwd", &json!(["no-id:1"]), 1, 1),
        listed(&id("odd"), &json!(["a\u{1b}[2J\u{202e}:1", "x".repeat(5000)]), -1, -5),
        listed(&id("huge"), &json!(["huge:1"]), i64::MAX, i64::MAX),
    ];
    images.extend(many);
    let socket = lists(&machine, "d.sock", &json!(images), false);
    let listing = ask(&machine, &[("DOCKER_HOST", &socket.host())], "list");
    let images = listing["images"].as_array().unwrap();
    assert!((9_990..=10_000).contains(&images.len()), "{}", images.len());
    let of = |seed: &str| images.iter().find(|image| image["id"] == id(seed)).unwrap();
    assert_eq!(of("odd")["reference"], format!("docker-daemon:{}", id("odd")));
    assert_eq!(of("odd")["tags"], json!(["a\\x1b[2J\\xe2\\x80\\xae:1"]));
    for seed in ["odd", "huge"] {
        assert_eq!((&of(seed)["bytes"], &of(seed)["created"]), (&Value::Null, &Value::Null));
    }
    assert!(!listing.to_string().contains("passwd"));
}

#[test]
fn without_engines_the_list_is_empty_and_says_where_it_looked() {
    let machine = Machine::new();
    let listing = ask(&machine, &[], "list");
    let tried: Vec<&str> = listing["tried"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    let here = machine.path("run").to_str().unwrap().to_owned();
    let mine: Vec<&&str> = tried.iter().filter(|line| line.contains(&here)).collect();
    assert_eq!(mine.len(), 2, "{tried:?}");
    assert!(mine.iter().all(|line| line.ends_with("no such socket")), "{tried:?}");
    assert!(!tried.iter().any(|line| line.contains("not set")), "{tried:?}");
}

#[test]
fn an_engine_tells_whether_it_holds_an_image_of_a_registry() {
    let machine = Machine::new();
    let image = image("held");
    let engine = Engine::new(&image, save_classic(&[(&image, &[TAG])]));
    let socket = engine.at(&machine, "d.sock");
    let environment = [("DOCKER_HOST", &*socket.host())];
    assert_eq!(ask(&machine, &environment, &format!("holds {TAG}")), format!("docker-daemon:{TAG}"));
    assert_eq!(ask(&machine, &environment, "holds example.org/cutaway-test-nobody:1"), Value::Null);
    socket.seen();
    // A short name is that of the hub, whatever else the engine would take it for.
    assert_eq!(ask(&machine, &environment, "holds cutaway-test-nobody"), Value::Null);
    assert_eq!(socket.seen(), ["/images/docker.io/library/cutaway-test-nobody/json"]);
    let podman = [("CONTAINER_HOST", &*socket.host())];
    assert_eq!(ask(&machine, &podman, &format!("holds {TAG}")), format!("podman:{TAG}"));
    // Nobody waits for those who do not answer.
    let _silent = UnixListener::bind(machine.path("s.sock")).unwrap();
    let silent = format!("unix://{}", machine.path("s.sock").display());
    let started = Instant::now();
    assert_eq!(ask(&machine, &[("DOCKER_HOST", &silent)], &format!("holds {TAG}")), Value::Null);
    assert!(started.elapsed() < Duration::from_secs(9), "as long as an opening waits");
}

#[test]
fn cancelling_drops_the_connection_and_ends_at_once() {
    let machine = Machine::new();
    let image = image("endless");
    let engine = Engine::new(&image, []);
    let start = crate::fixtures::tarball::tar(save_classic(&[(&image, &[TAG])]));
    let dropped = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&dropped);
    let total = engine.inspected()["Size"].clone();
    let socket = Socket::new(machine.path("d.sock"), move |path, stream| {
        if !path.ends_with("/get") {
            engine.answer(path, stream);
            return;
        }
        // The start of a layer, and then nothing but now and then a byte.
        begin(stream);
        piece(stream, &start[..100_000]);
        while piece(stream, b"x") {
            std::thread::sleep(Duration::from_millis(20));
        }
        seen.store(true, Ordering::SeqCst);
    });
    let answer = ask(&machine, &[("DOCKER_HOST", &socket.host())], &format!("cancel docker-daemon:{TAG}"));
    assert!(answer["milliseconds"].as_f64().unwrap() < 1000.0, "{answer}");
    assert_eq!(answer["error"], "cancelled");
    assert_eq!(answer["total"], total);
    assert!(answer["passed"].as_u64().unwrap() >= 100_000, "{answer}");
    let patience = Instant::now();
    while !dropped.load(Ordering::SeqCst) {
        assert!(patience.elapsed().as_secs() < 10, "the connection was not dropped");
        std::thread::sleep(Duration::from_millis(10));
    }
}
