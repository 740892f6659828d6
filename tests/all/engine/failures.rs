//! Engines that are not there, do not answer, answer nonsense, or break off.

use std::fs;
use std::os::unix::net::UnixListener;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;

use super::scene::{Machine, TAG, anywhere, image, same};
use super::socket::{Engine, Socket, say};
use crate::fixtures::docker::save_classic;
use crate::fixtures::{digest, json_bytes};
use crate::oracle::skip;

const REFERENCE: &str = "docker-daemon:example.org/app:1.0";

fn engine(seed: &str) -> Engine {
    let image = image(seed);
    Engine::new(&image, save_classic(&[(&image, &[TAG])]))
}

/// All parts stand in the text, one behind the other.
fn in_order(text: &str, parts: &[&str]) {
    let mut rest = text;
    for part in parts {
        let at = rest.find(part).unwrap_or_else(|| panic!("no '{part}' in its place in: {text}"));
        rest = &rest[at + part.len()..];
    }
}

#[test]
fn without_any_engine_all_places_are_named_in_order() {
    let machine = Machine::new();
    let message = machine.refusal(&[], REFERENCE);
    let run = machine.path("run");
    in_order(
        &message,
        &[
            TAG,
            "DOCKER_HOST: not set",
            "docker (unix:///var/run/docker.sock): ",
            &format!("rootless docker (unix://{}/docker.sock): no such socket", run.display()),
            "CONTAINER_HOST: not set",
            &format!("rootless podman (unix://{}/podman/podman.sock): no such socket", run.display()),
            "rootful podman (unix:///run/podman/podman.sock): ",
        ],
    );
    let message = machine.refusal(&[("CONTAINER_HOST", "unix:///nowhere")], &format!("podman:{TAG}"));
    in_order(&message, &["CONTAINER_HOST (unix:///nowhere): no such socket", "rootless podman"]);
    assert!(!message.contains("docker.sock"), "{message}");
    assert!(message.contains("podman.socket"), "a hint: {message}");
}

#[test]
fn an_engine_without_the_image_is_named_with_the_others() {
    let machine = Machine::new();
    let socket = engine("one").at(&machine, "e.sock");
    let environment = [("DOCKER_HOST", &*socket.host()), ("CONTAINER_HOST", "unix:///nowhere")];
    let message = machine.refusal(&environment, "docker:example.org/other:1");
    in_order(&message, &["DOCKER_HOST (unix://", "no such image", "CONTAINER_HOST", "no such socket"]);
    assert!(message.contains("docker images"), "a hint: {message}");
    assert_eq!(socket.seen(), ["/images/example.org/other:1/json"]);
}

#[test]
fn the_next_engine_is_asked_when_one_does_not_give_the_image() {
    let machine = Machine::new();
    let holder = engine("one").at(&machine, "holder.sock");
    let refuses = engine("one");
    let refuses = Socket::new(machine.path("refuses.sock"), move |path, stream| {
        if path.ends_with("/get") {
            say(stream, 500, &json_bytes(&json!({"message": "the disk\u{1b}[31m is full"})));
        } else {
            refuses.answer(path, stream);
        }
    });
    let environment = [("DOCKER_HOST", &*refuses.host()), ("CONTAINER_HOST", &holder.host())];
    let report = machine.report(&environment, REFERENCE);
    assert_eq!(report["totals"]["layers"], 2);
    assert_eq!((refuses.seen().len(), holder.seen().len()), (2, 2));
    // Alone it is named with what it said.
    let other = engine("two");
    let alone = Socket::new(machine.path("alone.sock"), move |path, stream| {
        if path.ends_with("/get") {
            say(stream, 500, &json_bytes(&json!({"message": "the disk\u{1b}[31m is full"})));
        } else {
            other.answer(path, stream);
        }
    });
    let message = machine.refusal(&[("DOCKER_HOST", &alone.host())], REFERENCE);
    assert!(message.contains("status 500: the disk\\x1b[31m is full"), "{message}");
}

#[test]
fn addresses_that_cannot_be_used_are_named_with_what_to_do() {
    let machine = Machine::new();
    for (address, parts) in [
        (
            "ssh://me@far.example",
            &["ssh is not supported", "ssh -nNT -L", "docker -H ssh://far.example save"][..],
        ),
        ("npipe:////./pipe/docker_engine", &["named pipes are supported by Windows"][..]),
        ("fd://", &["for servers only"][..]),
        ("tcp://me:hunter2@127.0.0.1:1", &["DOCKER_HOST (tcp://", "127.0.0.1:1): connection refused"][..]),
        ("nonsense", &["not an address"][..]),
    ] {
        let message = machine.refusal(&[("DOCKER_HOST", address)], REFERENCE);
        in_order(&message, parts);
        assert!(!message.contains("hunter2"), "{message}");
    }
    let tls = [("DOCKER_HOST", "tcp://127.0.0.1:1"), ("DOCKER_TLS_VERIFY", "1")];
    in_order(&machine.refusal(&tls, REFERENCE), &["TLS is not supported", "docker save"]);
}

#[test]
fn an_engine_behind_plain_tcp_gives_its_image() {
    let machine = Machine::new();
    let socket = engine("one").at(&machine, "e.sock");
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("tcp://{}", listener.local_addr().unwrap());
    let target = machine.path("e.sock");
    thread::spawn(move || {
        for mut here in listener.incoming().map_while(Result::ok) {
            let mut there = std::os::unix::net::UnixStream::connect(&target).unwrap();
            let (mut from, mut to) = (here.try_clone().unwrap(), there.try_clone().unwrap());
            thread::spawn(move || std::io::copy(&mut from, &mut to).ok());
            std::io::copy(&mut there, &mut here).ok();
            here.shutdown(std::net::Shutdown::Both).ok();
        }
    });
    let report = machine.report(&[("DOCKER_HOST", &address)], REFERENCE);
    assert_eq!(report["totals"]["layers"], 2);
    assert_eq!(socket.seen().len(), 2);
}

#[test]
fn a_socket_that_does_not_answer_is_given_up() {
    let machine = Machine::new();
    // Whoever listens without accepting lets connections come to stand.
    let _silent = UnixListener::bind(machine.path("s.sock")).unwrap();
    let holder = engine("one").at(&machine, "e.sock");
    let silent = format!("unix://{}", machine.path("s.sock").display());
    let started = Instant::now();
    let environment = [("DOCKER_HOST", &*silent), ("CONTAINER_HOST", &holder.host())];
    let report = machine.report(&environment, REFERENCE);
    assert_eq!(report["totals"]["layers"], 2);
    let waited = started.elapsed();
    assert!(waited > Duration::from_secs(9), "nobody waited for the silent one: {waited:?}");
    let message = machine.refusal(&environment[..1], REFERENCE);
    assert!(message.contains("no answer within 10 s"), "{message}");
}

#[test]
fn what_does_not_speak_as_engines_do_is_named() {
    let machine = Machine::new();
    for (number, body) in [&b"<html>"[..], b"[]", b"{}", b"{\"Id\": \"../../etc\"}", b""].iter().enumerate() {
        let body = body.to_vec();
        let socket =
            Socket::new(machine.path(&format!("{number}.sock")), move |_, stream| say(stream, 200, &body));
        let message = machine.refusal(&[("DOCKER_HOST", &socket.host())], REFERENCE);
        in_order(&message, &["DOCKER_HOST (unix://", "answer"]);
    }
    let hangs_up = Socket::new(machine.path("h.sock"), |_, _| {});
    let message = machine.refusal(&[("DOCKER_HOST", &hangs_up.host())], REFERENCE);
    in_order(&message, &["DOCKER_HOST (unix://", "connection closed"]);
}

#[test]
fn a_stream_that_breaks_shows_what_came_and_is_not_kept() {
    let machine = Machine::new();
    let image = image("one");
    let mut members = save_classic(&[(&image, &[TAG])]);
    members.reverse();
    let whole = Engine::new(&image, members);
    // In the middle of the layer that comes last, which is the first.
    let cut = Engine { cut: Some(whole.saved.len() - 200_000), ..whole.clone() };
    let socket = cut.at(&machine, "c.sock");
    let (code, report) = machine.report_with(&[("DOCKER_HOST", &socket.host())], REFERENCE, &[]);
    assert_eq!(code, 2);
    assert_eq!(report["totals"]["complete"], false);
    assert_eq!(report["totals"]["layers"], 2);
    assert_eq!(report["layers"][1]["entries"], 5, "the layer that came whole is shown");
    assert!(
        report["warnings"].to_string().contains("stream of the engine interrupted"),
        "{}",
        report["warnings"]
    );
    let socket = whole.at(&machine, "w.sock");
    let report = machine.report(&[("DOCKER_HOST", &socket.host())], REFERENCE);
    assert_eq!((report["totals"]["complete"].as_bool(), socket.seen().len()), (Some(true), 2));
}

#[test]
fn a_stream_that_breaks_before_its_manifest_is_an_error_that_says_so() {
    let machine = Machine::new();
    let whole = engine("one");
    let cut = Engine { cut: Some(200_000), ..whole };
    let socket = cut.at(&machine, "c.sock");
    let message = machine.refusal(&[("DOCKER_HOST", &socket.host())], REFERENCE);
    in_order(
        &message,
        &["DOCKER_HOST (unix://", "no data that identifies the layers", "stream of the engine interrupted"],
    );
}

#[test]
fn contexts_of_docker_are_followed() {
    let machine = Machine::new();
    let socket = engine("one").at(&machine, "e.sock");
    let id = digest(b"mine")[7..].to_owned();
    let meta = json!({"Name": "mine", "Metadata": {}, "Endpoints": {"docker": {"Host": socket.host(), "SkipTLSVerify": false}}});
    machine.put(&format!("home/.docker/contexts/meta/{id}/meta.json"), json_bytes(&meta));
    machine.put("home/.docker/config.json", r#"{"auths": {}, "currentContext": "mine"}"#);
    let by_config = machine.report(&[], REFERENCE);
    let by_variable = machine.report(&[("DOCKER_CONTEXT", "mine")], REFERENCE);
    same(&anywhere(by_config), &anywhere(by_variable));
    assert_eq!(socket.seen().len(), 3);
    let message = machine.refusal(&[("DOCKER_CONTEXT", "none")], REFERENCE);
    in_order(&message, &["docker context none: no such context"]);
    let folder = machine.path("elsewhere");
    fs::rename(machine.path("home/.docker"), &folder).unwrap();
    machine.report(&[("DOCKER_CONFIG", folder.to_str().unwrap())], REFERENCE);
    assert_eq!(socket.seen().len(), 1);
}

#[test]
fn who_may_not_talk_to_a_socket_is_told_how_to() {
    use std::os::unix::fs::PermissionsExt as _;

    let machine = Machine::new();
    let socket = engine("one").at(&machine, "e.sock");
    let open = |path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    open(machine.path("e.sock"), 0o000);
    let mut command = if rustix::process::getuid().is_root() {
        // Root may do anything, so somebody else has to try.
        let program = machine.path("cutaway");
        fs::copy(env!("CARGO_BIN_EXE_cutaway"), &program).unwrap();
        for name in ["", "home", "run", "tmp", "cache"] {
            open(machine.path(name), 0o777);
        }
        open(program.clone(), 0o755);
        let mut command = Command::new("setpriv");
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).arg(program);
        command
    } else {
        Command::new(env!("CARGO_BIN_EXE_cutaway"))
    };
    if Command::new("setpriv").arg("--version").output().is_err() {
        skip("not installed: setpriv");
        return;
    }
    command.args(["report", REFERENCE]);
    machine.settle(&mut command, &[("DOCKER_HOST", &socket.host())]);
    let run = machine.watch(command);
    assert_eq!(run.code, 2, "{}", run.stderr);
    in_order(&run.stderr, &["DOCKER_HOST (unix://", "permission denied", "group docker"]);
}

#[test]
fn names_that_mean_something_in_a_request_are_refused() {
    let machine = Machine::new();
    let socket = engine("one").at(&machine, "e.sock");
    for name in
        ["../containers/json?", "a/../../info", "a?x=1", "a#b", "a b", "u:hunter2@example.org/i", "a%2f"]
    {
        let message = machine.refusal(&[("DOCKER_HOST", &socket.host())], &format!("docker-daemon:{name}"));
        assert!(message.contains("is not an image reference") && !message.contains("hunter2"), "{message}");
    }
    assert_eq!(socket.seen(), [""; 0]);
}
