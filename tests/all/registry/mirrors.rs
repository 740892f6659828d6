//! Mirrors and other settings of registries.conf.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

use super::bench::{Bench, put, ready, same};
use super::guard::Guard;
use super::proxy::{Fault, Kind, Proxy};

fn settle(bench: &Bench, text: &str) {
    put(&bench.home().join("config/containers/registries.conf"), text);
}

/// The registry, which may be asked for anything below `team`, with a mirror.
fn with_mirror(bench: &Bench, mirror: &Proxy, more: &str) {
    let text = format!(
        "[[registry]]\nprefix = \"{host}/team\"\nlocation = \"{host}/team\"\n{more}\n\
         [[registry.mirror]]\nlocation = \"127.0.0.1:{}/team\"\n",
        mirror.port,
        host = bench.host()
    );
    settle(bench, &text);
}

#[test]
fn a_mirror_is_asked_first_and_serves_all() {
    if !ready() {
        return;
    }
    let bench = Bench::new();
    let mirror = Proxy::before(bench.server.port);
    with_mirror(&bench, &mirror, "");
    bench.succeeds(&[]);
    assert_eq!(mirror.of(Kind::Blob).len(), 4);
    assert!(bench.proxy.seen().is_empty(), "{:#?}", bench.proxy.seen());
}

#[test]
fn the_registry_stands_in_for_a_mirror_that_fails_and_it_is_said() {
    if !ready() {
        return;
    }
    for (fault, said) in [
        (Fault::Answer(500, vec![], "broken".into()), "500"),
        (Fault::Answer(403, vec![], String::new()), "403"),
        (Fault::Answer(404, vec![], String::new()), "404"),
        (Fault::Answer(200, vec![("Content-Type", "text/html".into())], "<html>hello".into()), "registry"),
    ] {
        let bench = Bench::new();
        let mirror = Proxy::before(bench.server.port);
        with_mirror(&bench, &mirror, "");
        mirror.fault(Kind::Manifest, "", usize::MAX, fault);
        bench.succeeds(&[]);
        // Not to have a tag does not mean to have no blob.
        assert!(said == "404" || mirror.of(Kind::Blob).is_empty(), "{said}");
        let name = format!("127.0.0.1:{}", mirror.port);
        let outcome = bench.run(&[], &["report", &bench.reference(), "--verbose"]);
        assert_eq!(outcome.code, 0, "{}", outcome.stderr);
        // A mirror need not have everything.
        assert!(said == "404" || outcome.stderr.contains(&name), "{said}: {}", outcome.stderr);
        let message = bench.fails(&[], &format!("docker://{}/team/none:1", bench.host()));
        assert!(message.contains(&name) && message.contains(said), "{said}: {message}");
    }
}

#[test]
fn a_mirror_that_loses_a_layer_is_stood_in_for() {
    if !ready() {
        return;
    }
    let bench = Bench::new();
    let mirror = Proxy::before(bench.server.port);
    with_mirror(&bench, &mirror, "");
    mirror.fault(Kind::Blob, bench.layer(1), usize::MAX, Fault::Answer(404, vec![], String::new()));
    bench.succeeds(&[]);
    let asked = bench.layer_requests();
    assert!(asked.iter().any(|seen| seen.path.contains(bench.layer(1))), "{asked:#?}");
}

#[test]
fn a_mirror_for_digests_is_not_asked_for_tags() {
    if !ready() {
        return;
    }
    let bench = Bench::new();
    let mirror = Proxy::before(bench.server.port);
    with_mirror(&bench, &mirror, "mirror-by-digest-only = true");
    let report = bench.report(&[], &bench.reference());
    same(&bench.place, &bench.image, &report);
    assert!(mirror.seen().is_empty(), "{:#?}", mirror.seen());
    let digest = report.json["image"]["manifest_digest"].as_str().unwrap();
    let report = bench.report(&[], &format!("docker://{}/team/app@{digest}", bench.host()));
    same(&bench.place, &bench.image, &report);
    assert!(!mirror.of(Kind::Manifest).is_empty());
}

#[test]
fn a_name_is_rewritten_and_a_blocked_one_refused() {
    if !ready() {
        return;
    }
    let bench = Bench::new();
    settle(
        &bench,
        &format!(
            "[[registry]]\nprefix = \"registry.example/copies\"\nlocation = \"{}/team\"\n\
             [[registry]]\nlocation = \"blocked.example\"\nblocked = true\n",
            bench.host()
        ),
    );
    let report = bench.report(&[], "docker://registry.example/copies/app:1");
    same(&bench.place, &bench.image, &report);
    assert_eq!(report.json["image"]["reference"], "docker://registry.example/copies/app:1");
    let message = bench.fails(&[], "docker://blocked.example/app:1");
    assert!(message.contains("registries.conf") && message.contains("blocks blocked.example"), "{message}");
}

#[test]
fn a_faulty_file_is_left_out_and_named_when_something_fails() {
    if !ready() {
        return;
    }
    let bench = Bench::new();
    settle(&bench, "[[registry]]\nlocation = 5\n");
    bench.succeeds(&[]);
    let message = bench.fails(&[], &format!("docker://{}/team/none:1", bench.host()));
    assert!(message.contains("registries.conf: line 2: "), "{message}");
}

#[test]
fn a_login_is_for_the_host_that_gets_it_not_for_the_name_that_leads_there() {
    if !ready() {
        return;
    }
    let bench = Bench::guarded(Guard::login("me:HUNTER2-mine"));
    let lead = format!("[[registry]]\nprefix = \"registry.example\"\nlocation = \"{}\"\n", bench.host());
    settle(&bench, &lead);
    let login = |host: &str, password: &str| {
        let given = BASE64_STANDARD.encode(format!("me:{password}"));
        put(
            &bench.home().join(".docker/config.json"),
            &format!(r#"{{"auths":{{"{host}":{{"auth":"{given}"}}}}}}"#),
        );
    };
    login("registry.example", "HUNTER2-other");
    let message = bench.fails(&[], "docker://registry.example/team/app:1");
    assert!(message.contains(&format!("no entry for {}", bench.host())), "{message}");
    let told = BASE64_STANDARD.encode("me:HUNTER2-other");
    let given = |seen: super::proxy::Seen| seen.authorization.unwrap_or_default();
    assert!(bench.proxy.seen().into_iter().all(|seen| !given(seen).contains(&told)));
    login(&bench.host(), "HUNTER2-mine");
    same(&bench.place, &bench.image, &bench.report(&[], "docker://registry.example/team/app:1"));
}

#[test]
fn the_registry_stands_in_for_a_mirror_whose_config_is_another() {
    if !ready() {
        return;
    }
    let bench = Bench::new();
    let mirror = Proxy::before(bench.server.port);
    let config = crate::fixtures::digest(&bench.image.config_bytes());
    mirror.fault(Kind::Blob, &config, usize::MAX, Fault::Flip);
    let (host, mirror) = (bench.host(), format!("127.0.0.1:{}", mirror.port));
    settle(
        &bench,
        &format!("[[registry]]\nlocation = \"{host}\"\n[[registry.mirror]]\nlocation = \"{mirror}\"\n"),
    );
    bench.succeeds(&[]);
}
