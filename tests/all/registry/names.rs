//! Names that lead nowhere, and the tags of a repository.

use std::io::Read as _;

use serde_json::Value;

use super::bench::{Bench, ready};
use super::http::{Head, ask};
use super::proxy::{Fault, Kind};
use crate::fixtures::layout::Layout;

#[test]
fn what_is_not_there_is_named_with_where_it_was_looked_for() {
    if !ready() {
        return;
    }
    let bench = Bench::new();
    let host = bench.host();
    let absent = format!("sha256:{}", "0".repeat(64));
    for (reference, parts) in [
        (format!("docker://{host}/team/app:2"), ["team/app", "2", "404"]),
        (format!("docker://{host}/team/none:1"), ["team/none", "1", "404"]),
        (format!("docker://{host}/team/app@{absent}"), ["team/app", &absent[..19], "404"]),
    ] {
        let message = bench.fails(&[], &reference);
        for part in [host.as_str(), "hint: "].into_iter().chain(parts) {
            assert!(message.contains(part), "{reference}: {part} is not in {message}");
        }
    }
    assert_eq!(bench.proxy.of(Kind::Blob).len(), 0);
    let asked = bench.proxy.of(Kind::Manifest);
    assert_eq!(asked.len(), 3, "what is not there is asked for once: {asked:#?}");
}

#[test]
fn a_host_that_is_unknown_is_named() {
    if !ready() {
        return;
    }
    // Longer than any part of a name may be: the system does not even ask the network.
    let host = format!("{}.invalid", "a".repeat(70));
    let bench = Bench::new();
    // Without TLS, which would refuse such a name itself.
    let reference = format!("docker://{host}/team/app:1");
    let outcome = bench.run(&[("NO_PROXY", &host)], &["report", &reference, "--plain-http"]);
    assert_eq!(outcome.code, 2);
    let message = outcome.stderr;
    for part in [host.as_str(), "team/app", "host not found", "hint: "] {
        assert!(message.contains(part), "{part} is not in {message}");
    }
}

#[test]
fn a_port_at_which_nobody_listens_is_named() {
    if !ready() {
        return;
    }
    let bench = Bench::new();
    // Freed before it is asked: nobody else on this machine is likely to take it at once.
    let port = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port();
    let message = bench.fails(&[], &format!("docker://127.0.0.1:{port}/team/app:1"));
    for part in [format!("127.0.0.1:{port}").as_str(), "connection failed", "hint: "] {
        assert!(message.contains(part), "{part} is not in {message}");
    }
}

#[test]
fn no_bare_name_reaches_a_registry_of_others_from_a_test() {
    let place = crate::support::Place::new();
    for reference in ["docker://library/nothing", "library/nothing:1", "registry:quay.example/nothing"] {
        let message = super::bench::run(&place, &[], &["report", reference]).stderr;
        assert!(message.contains("error: ") && message.contains("connection failed"), "{message}");
    }
}

#[test]
fn tags_are_listed_as_the_registry_has_them_over_all_pages() {
    if !ready() {
        return;
    }
    let bench = Bench::new();
    let layout = Layout::of(&bench.image, "t");
    for tag in ["a", "b-2", "latest"] {
        bench.server.push(&layout, "t", &format!("team/app:{tag}"));
    }
    let request = Head { first: "GET /v2/team/app/tags/list HTTP/1.0".into(), headers: Vec::new() };
    let (_, mut body) = ask(bench.server.port, &request, b"").expect("an answer");
    let mut text = String::new();
    body.read_to_string(&mut text).unwrap();
    let listed: Value = serde_json::from_str(&text).unwrap();
    let expected: Vec<&str> = listed["tags"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert_eq!(expected.len(), 4);

    let name = format!("{}/team/app", bench.host());
    for reference in [format!("docker://{name}"), name.clone(), format!("{name}:latest")] {
        let outcome = bench.run(&[], &["tags", &reference]);
        assert_eq!(outcome.code, 0, "{}", outcome.stderr);
        assert_eq!(outcome.stdout.lines().collect::<Vec<_>>(), expected);
    }
    let outcome = bench.run(&[], &["tags", &name, "--format", "json"]);
    let json: Value = serde_json::from_str(&outcome.stdout).unwrap();
    assert_eq!(json["tags"], listed["tags"]);
    assert_eq!(bench.proxy.of(Kind::Blob).len() + bench.proxy.of(Kind::Manifest).len(), 0);

    bench.proxy.forget();
    let next = vec![("Link", "</v2/team/app/tags/list?n=2&last=old>; rel=\"next\"".to_owned())];
    let first = r#"{"name":"team/app","tags":["older","old"]}"#.to_owned();
    bench.proxy.fault(Kind::Tags, "list", 1, Fault::Answer(200, next, first));
    let outcome = bench.run(&[], &["tags", &name]);
    assert_eq!(outcome.stdout.lines().collect::<Vec<_>>(), [&["older", "old"], &expected[..]].concat());
    assert!(bench.proxy.of(Kind::Tags)[1].path.contains("last=old"));

    let outcome = bench.run(&[], &["tags", &format!("{}/team/none", bench.host())]);
    assert_eq!(outcome.code, 2);
    assert!(outcome.stderr.contains("team/none") && outcome.stderr.contains("404"), "{}", outcome.stderr);
}
