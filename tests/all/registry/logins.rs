//! Who asks: credentials in all the places they may lie, and the ways registries want them.

use std::fs;
use std::process::Command;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};

use super::bench::{Bench, put, ready, ready_for_secrets};
use super::guard::Guard;
use super::proxy::{Fault, Kind};
use super::server::{PASSWORD, Server, USER};

fn entry(bench: &Bench, login: &str) -> Value {
    json!({"auths": {bench.host(): {"auth": BASE64_STANDARD.encode(login)}}})
}

fn own() -> String {
    format!("{USER}:{PASSWORD}")
}

/// A credential helper; another process writes it, since a file that this one has open cannot be started.
fn helper(bench: &Bench, name: &str, script: &str) -> String {
    let folder = bench.home().join("bin");
    fs::create_dir_all(&folder).unwrap();
    let write = format!("cat >\"$0\" <<'END'\n#!/bin/sh\n{script}\nEND\nchmod +x \"$0\"");
    let path = folder.join(format!("docker-credential-{name}"));
    assert!(Command::new("sh").arg("-c").arg(write).arg(path).status().unwrap().success());
    format!("{}:{}", folder.display(), std::env::var("PATH").unwrap())
}

#[test]
fn a_login_is_found_in_each_place_that_docker_and_podman_use() {
    if !ready_for_secrets() {
        return;
    }
    let bench = Bench::at(Server::with_login());
    let home = bench.home();
    let text = entry(&bench, &own()).to_string();
    let message = bench.fails(&[], &bench.reference());
    assert!(message.contains("401"), "{message}");

    for name in [".docker/config.json", "config/containers/auth.json"] {
        let path = home.join(name);
        put(&path, &text);
        bench.succeeds(&[]);
        fs::remove_file(path).unwrap();
    }
    let runtime = home.join("run");
    put(&runtime.join("containers/auth.json"), &text);
    bench.succeeds(&[("XDG_RUNTIME_DIR", runtime.to_str().unwrap())]);
    let elsewhere = home.join("elsewhere");
    put(&elsewhere.join("config.json"), &text);
    bench.succeeds(&[("DOCKER_CONFIG", elsewhere.to_str().unwrap())]);
    bench.succeeds(&[("REGISTRY_AUTH_FILE", elsewhere.join("config.json").to_str().unwrap())]);
    bench.succeeds(&[("DOCKER_AUTH_CONFIG", &text)]);
    let host = bench.host();
    let variables = [
        ("CUTAWAY_REGISTRY_HOST", host.as_str()),
        ("CUTAWAY_REGISTRY_USERNAME", USER),
        ("CUTAWAY_REGISTRY_PASSWORD", PASSWORD),
    ];
    bench.succeeds(&variables);
    assert!(bench.fails(&variables[1..], &bench.reference()).contains("401"));
    assert!(
        bench.layer_requests().is_empty()
            || bench.layer_requests().iter().all(|seen| seen.authorization.is_some())
    );
}

#[test]
fn helpers_and_stores_are_asked() {
    if !ready_for_secrets() {
        return;
    }
    let bench = Bench::at(Server::with_login());
    let path = helper(
        &bench,
        "test",
        &format!(
            "read -r server; echo \"$1 $server\" >>\"$HOME/asked\"\n\
             echo '{{\"ServerURL\":\"x\",\"Username\":\"{USER}\",\"Secret\":\"{PASSWORD}\"}}'"
        ),
    );
    let config = bench.home().join(".docker/config.json");
    let environment = [("PATH", path.as_str())];
    for settings in [json!({"credHelpers": {bench.host(): "test"}}), json!({"credsStore": "test"})] {
        put(&config, &settings.to_string());
        bench.succeeds(&environment);
        let asked = fs::read_to_string(bench.home().join("asked")).unwrap();
        assert!(asked.lines().all(|line| line == format!("get {}", bench.host())), "{asked}");
        fs::remove_file(bench.home().join("asked")).unwrap();
    }
    put(&config, &json!({"credsStore": "missing"}).to_string());
    let message = bench.fails(&environment, &bench.reference());
    assert!(message.contains("docker-credential-missing is not installed"), "{message}");
    helper(&bench, "broken", &format!("echo {PASSWORD}; echo 'no luck with {PASSWORD}' >&2; exit 1"));
    put(&config, &json!({"credsStore": "broken"}).to_string());
    let message = bench.fails(&environment, &bench.reference());
    assert!(message.contains("docker-credential-broken") && message.contains("no luck"), "{message}");
}

#[test]
fn a_wrong_password_names_each_place_that_was_tried_and_no_secret() {
    if !ready_for_secrets() {
        return;
    }
    let bench = Bench::at(Server::with_login());
    put(&bench.home().join(".docker/config.json"), &entry(&bench, "tester:HUNTER2-wrong").to_string());
    put(&bench.home().join("config/containers/auth.json"), "{\"auths\": HUNTER2}");
    let message = bench.fails(&[], &bench.reference());
    for part in [
        "401",
        "team/app",
        &bench.host(),
        "this session's login: no entry",
        "the environment: ",
        "config/containers/auth.json: JSON syntax error",
        "~/.docker/config.json: ",
        "hint: ",
        "docker login",
    ] {
        assert!(message.contains(part), "{part} is not in {message}");
    }
    let encoded = BASE64_STANDARD.encode("tester:HUNTER2-wrong");
    assert!(!message.contains(&encoded), "{message}");
}

#[test]
fn the_first_login_that_the_registry_accepts_is_used() {
    if !ready_for_secrets() {
        return;
    }
    let bench = Bench::at(Server::with_login());
    put(&bench.home().join("config/containers/auth.json"), &entry(&bench, "tester:HUNTER2-old").to_string());
    put(&bench.home().join(".docker/config.json"), &entry(&bench, &own()).to_string());
    bench.succeeds(&[]);
}

#[test]
fn tokens_are_fetched_for_everybody_and_for_a_login() {
    if !ready() {
        return;
    }
    let bench = Bench::guarded(Guard::anonymous());
    bench.succeeds(&[]);
    let tokens = bench.proxy.of(Kind::Token);
    assert_eq!(tokens.len(), 1, "one token is enough: {tokens:#?}");
    assert!(tokens[0].authorization.is_none());
    assert!(tokens[0].path.contains("scope=repository") && tokens[0].path.contains("service=tests"));

    let bench = Bench::guarded(Guard::login(&own()));
    let message = bench.fails(&[], &bench.reference());
    assert!(message.contains("401"), "{message}");
    put(&bench.home().join(".docker/config.json"), &entry(&bench, &own()).to_string());
    bench.proxy.forget();
    bench.succeeds(&[]);
    let basic = format!("Basic {}", BASE64_STANDARD.encode(own()));
    for seen in bench.proxy.seen() {
        let password = seen.authorization.as_deref() == Some(&basic);
        assert_eq!(password, seen.kind == Kind::Token && seen.status == 200, "{seen:#?}");
    }
}

#[test]
fn an_identity_token_is_exchanged() {
    if !ready() {
        return;
    }
    let bench = Bench::guarded(Guard::identity("HUNTER2-identity"));
    let entry = json!({"auths": {bench.host(): {"auth": BASE64_STANDARD.encode("<token>:"), "identitytoken": "HUNTER2-identity"}}});
    put(&bench.home().join(".docker/config.json"), &entry.to_string());
    bench.succeeds(&[]);
    assert!(bench.proxy.of(Kind::Token).iter().any(|seen| seen.method == "POST" && seen.status == 200));
}

#[test]
fn a_token_that_expires_in_the_middle_is_fetched_anew() {
    if !ready() {
        return;
    }
    let bench = Bench::guarded(Guard::anonymous());
    bench.proxy.fault(Kind::Blob, bench.layer(1), 1, Fault::Expire);
    bench.succeeds(&[]);
    // Layers that were asked for at the same moment may each meet the expiry.
    let tokens = bench.proxy.of(Kind::Token).len();
    assert!((2..=4).contains(&tokens), "{tokens}");
}

#[test]
fn where_a_blob_is_redirected_to_gets_no_login() {
    if !ready() {
        return;
    }
    let bench = Bench::guarded(Guard::anonymous());
    let other = super::proxy::Proxy::before(bench.server.port);
    bench.proxy.fault(Kind::Blob, "sha256:", usize::MAX, Fault::Redirect(other.port));
    bench.succeeds(&[]);
    let seen = other.seen();
    assert_eq!(seen.len(), 4, "{seen:#?}");
    for seen in seen {
        assert!(seen.authorization.is_none() && seen.path.contains("X-Signature"), "{seen:#?}");
    }
}
