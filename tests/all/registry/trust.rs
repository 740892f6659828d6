//! Whom a connection trusts, when it may be plain, and which way it takes.

use std::fs;

use super::bench::{Bench, put, ready, ready_for_secrets, same};
use super::proxy::{Kind, Proxy};
use super::server::{NAME, PASSWORD, Server, USER};
use crate::oracle::cutaway;

/// The image at a server itself: the proxy does not speak TLS.
fn direct(bench: &Bench) -> String {
    format!("docker://127.0.0.1:{}/team/app:1", bench.server.port)
}

#[test]
fn a_private_ca_is_trusted_when_it_is_named() {
    if !ready_for_secrets() {
        return;
    }
    let bench = Bench::at(Server::secure());
    let reference = direct(&bench);
    let ca = bench.server.ca();
    let ca = ca.to_str().unwrap();
    let host = format!("127.0.0.1:{}", bench.server.port);

    let message = bench.fails(&[], &reference);
    for part in [host.as_str(), "untrusted TLS connection", "hint: ", "--ca-file", "certs.d"] {
        assert!(message.contains(part), "{part} is not in {message}");
    }
    let outcome = bench.run(&[], &["report", &reference, "--format", "json", "--ca-file", ca]);
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    let by_file: serde_json::Value = serde_json::from_str(&outcome.stdout).unwrap();
    assert_eq!(by_file["totals"]["layers"], 3);
    let report = bench.report(&[("SSL_CERT_FILE", ca)], &reference);
    same(&bench.place, &bench.image, &report);
    for folder in ["containers", "docker"] {
        let path = bench.home().join(format!("config/{folder}/certs.d/{host}/ca.crt"));
        put(&path, &fs::read_to_string(ca).unwrap());
        let report = bench.report(&[], &reference);
        same(&bench.place, &bench.image, &report);
        fs::remove_file(path).unwrap();
    }
    assert!(bench.fails(&[], &reference).contains("untrusted TLS connection"), "nothing is remembered");
    let localhost = reference.replace("127.0.0.1", "localhost");
    assert_eq!(bench.report(&[("SSL_CERT_FILE", ca)], &localhost).code, 0);
}

#[test]
fn a_server_that_wants_a_certificate_and_a_login_gets_both() {
    if !ready_for_secrets() {
        return;
    }
    let bench = Bench::at(Server::secure_with_everything());
    let host = format!("127.0.0.1:{}", bench.server.port);
    let own = bench.home().join(format!("config/containers/certs.d/{host}"));
    let from = bench.server.folder.path().join("certs");
    fs::create_dir_all(&own).unwrap();
    fs::copy(from.join("ca.crt"), own.join("ca.crt")).unwrap();
    let login = serde_json::json!({"auths": {&host: {"username": USER, "password": PASSWORD}}});
    put(&bench.home().join(".docker/config.json"), &login.to_string());
    bench.fails(&[], &direct(&bench));
    for name in ["client.cert", "client.key"] {
        fs::copy(from.join(name), own.join(name)).unwrap();
    }
    let report = bench.report(&[], &direct(&bench));
    same(&bench.place, &bench.image, &report);
}

#[test]
fn a_registry_that_registries_conf_calls_insecure_needs_no_trust() {
    if !ready_for_secrets() {
        return;
    }
    let bench = Bench::at(Server::secure());
    let text = format!("[[registry]]\nlocation = \"127.0.0.1:{}\"\ninsecure = true\n", bench.server.port);
    put(&bench.home().join("config/containers/registries.conf"), &text);
    let report = bench.report(&[], &direct(&bench));
    same(&bench.place, &bench.image, &report);
}

#[test]
fn a_ca_file_that_cannot_be_used_is_named() {
    if !ready_for_secrets() {
        return;
    }
    let bench = Bench::at(Server::secure());
    let missing = bench.home().join("missing.crt");
    let empty = bench.home().join("empty.crt");
    put(&empty, "this is no certificate\n");
    for path in [missing, empty] {
        let path = path.to_str().unwrap();
        let outcome = bench.run(&[], &["report", &direct(&bench), "--ca-file", path]);
        assert_eq!(outcome.code, 2);
        assert!(outcome.stderr.contains(path), "{}", outcome.stderr);
    }
}

#[test]
fn the_certificate_of_a_ca_as_that_of_a_server_has_a_hint_of_its_own() {
    if !ready_for_secrets() {
        return;
    }
    let server = Server::with_certificate_of_ca();
    let bench = Bench::at(server);
    let ca = bench.server.ca();
    let message = bench.fails(&[("SSL_CERT_FILE", ca.to_str().unwrap())], &direct(&bench));
    for part in ["certificate", "CA", "hint: ", "signed by"] {
        assert!(message.contains(part), "{part} is not in {message}");
    }
}

#[test]
fn plain_http_is_spoken_on_the_loopback_and_elsewhere_only_when_asked() {
    if !ready() {
        return;
    }
    let bench = Bench::new();
    bench.succeeds(&[]);
    // Another name of the loopback, which only the proxy for HTTP can find.
    let through = Proxy::before(bench.server.port);
    let address = format!("http://127.0.0.1:{}", through.port);
    let environment = [("HTTP_PROXY", address.as_str()), ("HTTPS_PROXY", address.as_str())];
    let reference = format!("docker://{NAME}/team/app:1");
    bench.fails(&environment, &reference);
    assert!(through.seen().iter().all(|seen| seen.kind == Kind::Connect), "{:#?}", through.seen());
    let outcome = bench.run(&environment, &["report", &reference, "--format", "json", "--plain-http"]);
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
}

#[test]
fn tls_that_is_spoken_to_in_plain_http_is_recognised() {
    if !ready_for_secrets() {
        return;
    }
    let bench = Bench::at(Server::secure());
    let outcome = bench.run(&[], &["report", &direct(&bench), "--plain-http"]);
    assert_eq!(outcome.code, 2);
    let told = outcome.stderr;
    assert!(told.contains("the server speaks TLS, not plain HTTP"), "{told}");
    assert!(told.contains("hint: omit --plain-http"), "{told}");
}

#[test]
fn proxies_are_used_for_the_hosts_that_they_are_for() {
    if !ready_for_secrets() {
        return;
    }
    let bench = Bench::at(Server::secure());
    let ca = bench.server.ca();
    let address = format!("http://tester:HUNTER2@{}", bench.host());
    let reference = format!("docker://{NAME}/team/app:1");
    let common = [("HTTPS_PROXY", address.as_str()), ("SSL_CERT_FILE", ca.to_str().unwrap())];
    let report = bench.report(&common, &reference);
    same(&bench.place, &bench.image, &report);
    let tunnels = bench.proxy.of(Kind::Connect);
    assert!(
        !tunnels.is_empty() && tunnels.iter().all(|seen| seen.path == format!("{NAME}:443")),
        "{tunnels:#?}"
    );
    assert_eq!(bench.proxy.seen().len(), tunnels.len());

    bench.proxy.forget();
    // Longer than any part of a name may be: the system does not even ask the network.
    let host = format!("{}.example", "a".repeat(70));
    let http = ("HTTP_PROXY", address.as_str());
    let reference = format!("docker://{host}/team/app:1");
    for (excepted, through) in [(".example", false), ("other.test", true)] {
        let outcome = bench.run(&[http, ("NO_PROXY", excepted)], &["report", &reference, "--plain-http"]);
        assert_eq!(outcome.stderr.contains("host not found"), !through, "{}", outcome.stderr);
        assert_eq!(!bench.proxy.seen().is_empty(), through, "{:#?}", bench.proxy.seen());
    }

    let closed = [("HTTPS_PROXY", crate::offline::NOWHERE)];
    let message = bench.fails(&closed, &format!("docker://{NAME}/team/app:1"));
    assert!(message.contains(NAME) && message.contains("HTTPS_PROXY"), "{message}");
}

#[test]
fn the_help_names_the_options() {
    let help = String::from_utf8(cutaway(&["report", "--help"]).stdout).unwrap();
    assert!(help.contains("--ca-file") && help.contains("--plain-http"));
}
