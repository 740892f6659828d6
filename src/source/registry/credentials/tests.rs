use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::prelude::{BASE64_STANDARD, BASE64_STANDARD_NO_PAD};
use serde_json::json;
use tempfile::TempDir;

use super::super::environment::Environment;
use super::{Access, Credential, Search, search_in};

const HUB: &str = "docker.io";

fn home() -> (TempDir, Environment) {
    let folder = TempDir::new().unwrap();
    let environment = Environment::below(folder.path());
    (folder, environment)
}

fn put(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn login(text: &str) -> serde_json::Value {
    json!({"auth": BASE64_STANDARD.encode(text)})
}

fn docker(folder: &TempDir, document: &serde_json::Value) {
    put(&folder.path().join(".docker/config.json"), &document.to_string());
}

fn look(environment: &Environment, host: &str) -> Search {
    search_in(environment, host, "team/app", &Access::default())
}

/// Way and credential of all that was found.
fn found(search: &Search) -> Vec<(&str, String)> {
    let text = |credential: &Credential| match credential {
        Credential::Password { user, password } => format!("{user}:{password}"),
        Credential::IdentityToken(token) => format!("identity {token}"),
        Credential::Bearer(token) => format!("bearer {token}"),
    };
    search.found.iter().map(|found| (found.way.as_str(), text(&found.credential))).collect()
}

fn result<'a>(search: &'a Search, way: &str) -> &'a str {
    let tried = search.tried.iter().find(|tried| tried.way == way);
    &tried.unwrap_or_else(|| panic!("no {way} in {:#?}", search.tried)).result
}

/// A helper that runs `script`. Another process writes it: a file that is open for writing in this one while a test
/// beside it starts a program could not be started.
fn helper(folder: &TempDir, name: &str, script: &str) {
    let path = folder.path().join(format!("bin/docker-credential-{name}"));
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let write = format!("cat >\"$0\" <<'END'\n#!/bin/sh\n{script}\nEND\nchmod +x \"$0\"");
    assert!(Command::new("sh").arg("-c").arg(write).arg(&path).status().unwrap().success());
}

#[test]
fn without_any_login_each_place_is_named() {
    let (_folder, environment) = home();
    let search = look(&environment, "example.test:5000");
    assert!(search.found.is_empty());
    let tried: Vec<String> = search.tried.iter().map(ToString::to_string).collect();
    assert_eq!(
        tried,
        [
            "this session's login: no entry for example.test:5000",
            "the environment: neither CUTAWAY_REGISTRY_HOST nor DOCKER_AUTH_CONFIG is set",
            "~/run/containers/auth.json: no such file",
            "~/.config/containers/auth.json: no such file",
            "~/.docker/config.json: no such file",
        ]
    );
}

#[test]
fn places_are_tried_in_their_order_and_a_login_only_once() {
    let (folder, mut environment) = home();
    environment.login_host = Some("example.test".into());
    environment.login_user = Some("variable".into());
    environment.login_password = Some("1".into());
    let auths = |text: &str| json!({"auths": {"example.test": login(text)}}).to_string();
    environment.docker_auth = Some(auths("text:2"));
    put(&folder.path().join("run/containers/auth.json"), &auths("runtime:3"));
    put(&folder.path().join(".config/containers/auth.json"), &auths("config:4"));
    put(&folder.path().join(".docker/config.json"), &auths("text:2"));
    let access = Access::default();
    access.logins.set("example.test", Credential::Bearer("0".into()));
    let search = search_in(&environment, "example.test", "app", &access);
    assert_eq!(
        found(&search),
        [
            ("this session's login", "bearer 0".to_owned()),
            ("CUTAWAY_REGISTRY_HOST", "variable:1".to_owned()),
            ("DOCKER_AUTH_CONFIG", "text:2".to_owned()),
            ("~/run/containers/auth.json", "runtime:3".to_owned()),
            ("~/.config/containers/auth.json", "config:4".to_owned()),
        ]
    );
    assert_eq!(result(&search, "~/.docker/config.json"), "the same for example.test as DOCKER_AUTH_CONFIG");

    let named = folder.path().join("named.json");
    put(&named, &auths("named:5"));
    environment.auth_file = Some(named);
    let search = look(&environment, "example.test");
    let ways: Vec<&str> = search.found.iter().map(|found| found.way.as_str()).collect();
    assert_eq!(ways, ["CUTAWAY_REGISTRY_HOST", "DOCKER_AUTH_CONFIG", "~/named.json"]);
}

#[test]
fn variables_are_for_their_host_only() {
    let (_folder, mut environment) = home();
    environment.login_host = Some("user:HUNTER2@other.test".into());
    environment.login_token = Some("HUNTER2".into());
    let search = look(&environment, "example.test");
    assert_eq!(found(&search), []);
    assert!(!format!("{search:?}").contains("HUNTER2"), "{search:?}");
    environment.login_host = Some("example.test".into());
    assert_eq!(
        found(&look(&environment, "example.test")),
        [("CUTAWAY_REGISTRY_HOST", "bearer HUNTER2".into())]
    );
    assert_eq!(found(&look(&environment, "example.test:5000")), []);
    environment.login_token = None;
    environment.login_user = Some("half".into());
    assert!(result(&look(&environment, "example.test"), "CUTAWAY_REGISTRY_HOST").contains("is set"));
    environment.login_password = Some("whole".into());
    environment.login_host = Some("index.docker.io".into());
    assert_eq!(found(&look(&environment, HUB)), [("CUTAWAY_REGISTRY_HOST", "half:whole".into())]);
}

#[test]
fn the_most_specific_entry_counts() {
    let (folder, environment) = home();
    let mut auths = json!({
        "example.test/team/app": login("app:1"), "example.test/team": login("team:2"),
        "example.test": login("host:3"), "https://example.test/v1/": login("old:4"),
        "example.test/tea": login("other:5"), "example.tes": login("other:6"),
    });
    let chain = ["example.test/team/app", "example.test/team", "example.test", "https://example.test/v1/"];
    for (key, expected) in chain.iter().zip(["app:1", "team:2", "host:3", "old:4"]) {
        docker(&folder, &json!({"auths": auths}));
        assert_eq!(
            found(&look(&environment, "example.test")),
            [("~/.docker/config.json", expected.to_owned())]
        );
        auths.as_object_mut().unwrap().remove(*key);
    }
    docker(&folder, &json!({"auths": auths}));
    let search = look(&environment, "example.test");
    assert_eq!(result(&search, "~/.docker/config.json"), "no entry for example.test");
}

#[test]
fn docker_hub_is_found_under_each_of_its_names() {
    let (folder, environment) = home();
    for key in ["https://index.docker.io/v1/", "index.docker.io", "docker.io", "registry-1.docker.io"] {
        docker(&folder, &json!({"auths": {key: login("me:secret")}}));
        assert_eq!(found(&look(&environment, HUB)).len(), 1, "{key}");
        assert_eq!(found(&look(&environment, "example.test")).len(), 0, "{key}");
    }
}

#[test]
fn entries_have_several_forms() {
    let (folder, environment) = home();
    let password = "pass:word with \u{e4}";
    let unpadded = json!({"auth": BASE64_STANDARD_NO_PAD.encode(format!("me:{password}"))});
    let cases = [
        (login(&format!("me:{password}")), format!("me:{password}")),
        (unpadded, format!("me:{password}")),
        (login("me:old\0\0"), "me:old".into()),
        (json!({"username": "me", "password": "plain"}), "me:plain".into()),
        (json!({"auth": BASE64_STANDARD.encode("<token>:"), "identitytoken": "T"}), "identity T".into()),
        (json!({"registrytoken": "R"}), "bearer R".into()),
    ];
    for (entry, expected) in cases {
        docker(&folder, &json!({"auths": {"example.test": entry}, "psFormat": 1}));
        assert_eq!(found(&look(&environment, "example.test")), [("~/.docker/config.json", expected)]);
    }
    for entry in [json!({}), json!({"auth": ""}), json!({"email": "a@b"})] {
        docker(&folder, &json!({"auths": {"example.test": entry}}));
        assert_eq!(
            result(&look(&environment, "example.test"), "~/.docker/config.json"),
            "no entry for example.test"
        );
    }
}

#[test]
fn a_file_that_cannot_be_used_says_why_and_quotes_nothing() {
    let (folder, environment) = home();
    let path = folder.path().join(".docker/config.json");
    for (text, reason) in [
        ("{\"auths\": HUNTER2}", "JSON syntax error at line 1 column 11"),
        ("{\"auths\": \"HUNTER2\"}", "unexpected JSON type at line 1 column 19"),
        ("", "unexpected end of the JSON at line 1 column 0"),
        ("{\"auths\": {\"example.test\": {\"auth\": \"HUNTER2!\"}}}", "entry is not base64 NAME:PASSWORD"),
        (
            "{\"auths\": {\"example.test\": {\"auth\": \"SFVOVEVSMg==\"}}}",
            "entry is not base64 NAME:PASSWORD",
        ),
    ] {
        put(&path, text);
        let search = look(&environment, "example.test");
        assert_eq!(result(&search, "~/.docker/config.json"), reason);
        assert!(!format!("{search:?}").contains("HUNTER2"));
    }
    fs::File::create(&path).unwrap().set_len((16 << 20) + 1).unwrap();
    let search = look(&environment, "example.test");
    assert_eq!(result(&search, "~/.docker/config.json"), "larger than 16 MiB");
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    assert_eq!(result(&look(&environment, "example.test"), "~/.docker/config.json"), "not a regular file");
}

#[test]
fn a_helper_of_the_host_stands_for_the_rest_of_the_file() {
    let (folder, environment) = home();
    helper(
        &folder,
        "one",
        r#"read -r server; echo "{\"ServerURL\":\"$server\",\"Username\":\"$1\",\"Secret\":\"$server\"}""#,
    );
    let helpers = json!({"example.test": "one"});
    docker(
        &folder,
        &json!({"credHelpers": helpers, "auths": {"example.test": login("not:me"), "x.test": login("a:b")}}),
    );
    let way = "credHelpers of ~/.docker/config.json: docker-credential-one";
    assert_eq!(found(&look(&environment, "example.test")), [(way, "get:example.test".into())]);
    assert_eq!(found(&look(&environment, "x.test")), [("~/.docker/config.json", "a:b".into())]);
    helper(&folder, "one", r#"cat >/dev/null; echo '{"Username":"<token>","Secret":"T"}'"#);
    assert_eq!(found(&look(&environment, "example.test")), [(way, "identity T".into())]);
    helper(&folder, "one", "cat >/dev/null; echo 'credentials not found in native keychain'; exit 1");
    assert_eq!(result(&look(&environment, "example.test"), way), "no entry for example.test");
}

#[test]
fn a_store_is_asked_for_empty_entries_and_before_the_entries() {
    let (folder, environment) = home();
    let script = r#"read -r server; [ "$server" = docker.io ] || { echo "credentials not found in native keychain"; exit 1; }
echo '{"Username":"me","Secret":"kept"}'"#;
    helper(&folder, "all", script);
    docker(&folder, &json!({"credsStore": "all", "auths": {"docker.io": {}, "example.test": login("a:b")}}));
    let way = "credsStore of ~/.docker/config.json: docker-credential-all";
    assert_eq!(found(&look(&environment, HUB)), [(way, "me:kept".into())]);
    let search = look(&environment, "example.test");
    assert_eq!(found(&search), [("~/.docker/config.json", "a:b".into())]);
    assert_eq!(result(&search, way), "no entry for example.test");
}

#[test]
fn a_helper_that_fails_is_named_and_its_secret_is_not() {
    let (folder, mut environment) = home();
    environment.patience = Duration::from_secs(1);
    let refused = |name: &str| {
        docker(&folder, &json!({"credsStore": name}));
        let search = look(&environment, "example.test");
        assert_eq!(found(&search), []);
        assert!(!format!("{search:?}").contains("HUNTER2"), "{search:?}");
        search.tried.last().unwrap().result.clone()
    };
    assert_eq!(refused("none"), "docker-credential-none is not installed");
    for name in ["../evil", "a b", "", "a/b", "a\u{202e}b"] {
        let expected = if name.is_empty() { "no entry for example.test" } else { "invalid helper name" };
        assert_eq!(refused(name), expected, "{name}");
    }
    helper(
        &folder,
        "loud",
        "echo HUNTER2; echo 'the keychain has HUNTER2 and is locked' >&2; echo more >&2; exit 3",
    );
    assert_eq!(refused("loud"), "failed: exit status: 3: the keychain has <redacted> and is locked");
    helper(&folder, "long", "printf 'a b%.0s' $(seq 500) >&2; exit 1");
    assert!(refused("long").len() < 260);
    helper(&folder, "odd", "echo '{\"Username\":\"me\",\"Secret\":[\"HUNTER2\"]}'");
    assert_eq!(refused("odd"), "unexpected JSON type at line 1 column 26");
    helper(&folder, "endless", "exec yes HUNTER2");
    assert_eq!(refused("endless"), "output too large");
    let started = Instant::now();
    helper(&folder, "slow", "exec sleep 60");
    assert_eq!(refused("slow"), "no answer within 1 s");
    helper(&folder, "orphan", "sleep 20 & exit 0");
    assert_eq!(refused("orphan"), "no answer within 1 s");
    assert!(started.elapsed() < Duration::from_secs(15), "a helper was waited for");
}
