//! Answers that are none, late, or not the ones that were asked for.

use std::time::{Duration, Instant, SystemTime};

use super::bench::{Bench, ready};
use super::proxy::{Fault, Kind};

fn answer(status: u16) -> Fault {
    Fault::Answer(status, vec![], r#"{"errors":[{"code":"X","message":"words of the registry"}]}"#.into())
}

/// An answer that wants the next request at `when`.
fn later(when: &str) -> Fault {
    Fault::Answer(429, vec![("Retry-After", when.to_owned())], String::new())
}

#[test]
fn an_error_tells_status_repository_host_and_what_the_registry_says() {
    if !ready() {
        return;
    }
    let bench = Bench::new();
    for (status, part, requests) in [
        (401, "login required", 1),
        (403, "denied", 1),
        (404, "not found", 1),
        (429, "too many requests", 5),
        (500, "server error", 5),
        (503, "server error", 5),
    ] {
        bench.proxy.forget();
        bench.proxy.fault(Kind::Manifest, "", usize::MAX, answer(status));
        let message = bench.fails(&[], &bench.reference());
        let host = bench.host();
        for part in [part, &status.to_string(), "team/app", &host, "words of the registry", "hint: "] {
            assert!(message.contains(part), "{status}: {part} is not in {message}");
        }
        assert_eq!(bench.proxy.of(Kind::Manifest).len(), requests, "{status}");
    }
}

#[test]
fn a_registry_that_recovers_is_asked_again() {
    if !ready() {
        return;
    }
    for status in [429, 500, 502, 503, 504] {
        let bench = Bench::new();
        bench.proxy.fault(Kind::Manifest, "", 2, answer(status));
        bench.proxy.fault(Kind::Blob, bench.layer(0), 2, answer(status));
        bench.succeeds(&[]);
        assert_eq!(bench.proxy.of(Kind::Manifest).len(), 3, "{status}");
    }
}

#[test]
fn the_time_that_a_registry_asks_for_is_waited() {
    if !ready() {
        return;
    }
    let in_two = SystemTime::now() + Duration::from_secs(3);
    for when in ["1".to_owned(), httpdate(in_two)] {
        let bench = Bench::new();
        bench.proxy.fault(Kind::Manifest, "", 1, later(&when));
        bench.succeeds(&[]);
        let asked = bench.proxy.of(Kind::Manifest);
        let waited = asked[1].at - asked[0].at;
        assert_eq!(asked[0].status, 429);
        if when == "1" {
            assert!(waited >= Duration::from_secs(1), "{waited:?}");
        } else {
            // The date counts whole seconds.
            assert!(SystemTime::now() >= in_two - Duration::from_secs(1), "{waited:?}");
        }
    }
}

fn httpdate(when: SystemTime) -> String {
    let seconds = when.duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs();
    let output = std::process::Command::new("date")
        .args(["-u", "-d", &format!("@{seconds}"), "+%a, %d %b %Y %H:%M:%S GMT"])
        .env("LC_ALL", "C")
        .output()
        .unwrap();
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

#[test]
fn a_registry_that_wants_more_than_a_minute_is_not_waited_for() {
    if !ready() {
        return;
    }
    let bench = Bench::new();
    bench.proxy.fault(Kind::Manifest, "", usize::MAX, later("3600"));
    let started = Instant::now();
    let message = bench.fails(&[], &bench.reference());
    assert!(message.contains("429") && message.contains("3600"), "{message}");
    assert_eq!(bench.proxy.of(Kind::Manifest).len(), 1);
    assert!(started.elapsed() < Duration::from_secs(50));
}

#[test]
fn a_manifest_with_another_digest_is_an_error() {
    if !ready() {
        return;
    }
    let bench = Bench::new();
    let digest =
        bench.report(&[], &bench.reference()).json["image"]["manifest_digest"].as_str().unwrap().to_owned();
    bench.proxy.fault(Kind::Manifest, "", usize::MAX, Fault::Flip);
    let message = bench.fails(&[], &format!("docker://{}/team/app@{digest}", bench.host()));
    assert!(message.contains("digest") && message.contains(&digest[..20]), "{message}");
}

#[test]
fn a_config_with_another_digest_is_not_believed() {
    if !ready() {
        return;
    }
    let bench = Bench::new();
    let config = crate::fixtures::digest(&bench.image.config_bytes());
    bench.proxy.fault(Kind::Blob, &config, usize::MAX, Fault::Flip);
    let message = bench.fails(&[], &bench.reference());
    assert!(message.contains("digest mismatch") && message.contains(&config[..19]), "{message}");
}

#[test]
fn a_config_that_cannot_be_had_is_no_image_without_one() {
    if !ready() {
        return;
    }
    let bench = Bench::new();
    let config = crate::fixtures::digest(&bench.image.config_bytes());
    bench.proxy.fault(Kind::Blob, &config, usize::MAX, answer(503));
    let message = bench.fails(&[], &bench.reference());
    assert!(message.contains("server error (503)"), "{message}");
}

#[test]
fn an_endless_manifest_is_given_up() {
    if !ready() {
        return;
    }
    let bench = Bench::new();
    bench.proxy.fault(Kind::Manifest, "", usize::MAX, Fault::Endless);
    let outcome = bench.run(&[], &["report", &bench.reference()]);
    assert_eq!(outcome.code, 2);
    assert!(outcome.stderr.contains("larger than"), "{}", outcome.stderr);
    assert!(outcome.peak_kib < 200 << 10, "{} KiB", outcome.peak_kib);
    // What lies in the buffers of the system was sent, too.
    assert!(bench.proxy.bytes() < 64 << 20, "{} bytes", bench.proxy.bytes());
}

#[test]
fn a_page_of_html_is_no_manifest() {
    if !ready() {
        return;
    }
    let bench = Bench::new();
    let html = vec![("Content-Type", "text/html".to_owned())];
    let page = Fault::Answer(200, html, "<html><body>Please log in to the hotel</body></html>".into());
    bench.proxy.fault(Kind::Manifest, "", usize::MAX, page);
    let message = bench.fails(&[], &bench.reference());
    assert!(message.contains("not an answer of a registry") && message.contains(&bench.host()), "{message}");
}

#[test]
fn a_slow_server_is_given_up_and_named() {
    if !ready() {
        return;
    }
    let bench = Bench::new();
    let short = [("CUTAWAY_REGISTRY_TIMEOUT_MS", "300")];
    bench.proxy.fault(Kind::Manifest, "", usize::MAX, Fault::Delay(Duration::from_secs(3)));
    let message = bench.fails(&short, &bench.reference());
    assert!(message.contains("no data for 0.3 s"), "{message}");

    bench.proxy.forget();
    bench.proxy.fault(Kind::Manifest, "", 1, Fault::Delay(Duration::from_secs(2)));
    bench.succeeds(&[("CUTAWAY_REGISTRY_TIMEOUT_MS", "1000")]);
}

#[test]
fn a_redirect_that_leads_nowhere_names_where_it_leads() {
    if !ready() {
        return;
    }
    let bench = Bench::new();
    // A port at which nobody listens any more.
    let gone = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    bench.proxy.fault(Kind::Manifest, "", usize::MAX, Fault::Redirect(gone));
    let message = bench.fails(&[], &bench.reference());
    assert!(message.contains(&format!("redirected to 127.0.0.1:{gone}: connection failed")), "{message}");
}

#[test]
fn a_layer_of_which_nothing_came_is_unknown_and_not_empty() {
    if !ready() {
        return;
    }
    let bench = Bench::new();
    bench.proxy.fault(Kind::Blob, bench.layer(1), usize::MAX, answer(404));
    let report = bench.report(&[], &bench.reference());
    assert_eq!(report.code, 2);
    let layer = &report.layers()[1];
    for name in ["entries", "files", "content_bytes", "uncompressed_bytes"] {
        assert!(layer[name].is_null(), "{name}: {layer:#}");
    }
    assert_eq!(report.warnings("layer-missing").len(), 1);
    assert!(report.json["warnings"].to_string().contains("not found (404)"));
}

#[test]
fn a_check_of_documents_alone_ends_with_its_verdict() {
    if !ready() {
        return;
    }
    let bench = Bench::new();
    let outcome = bench.run(&[], &["check", &bench.reference(), "--depth", "manifest"]);
    assert_eq!((outcome.code, outcome.stdout.as_str()), (2, "verdict: fail reason=incomplete\n"));
    assert!(outcome.stderr.contains("not read because of --depth"), "{}", outcome.stderr);
}

#[test]
fn a_blob_of_another_size_than_its_descriptor_says_makes_the_image_invalid() {
    if !ready() {
        return;
    }
    for (part, more) in [("config", 3), ("config", -3), ("layer", 3), ("layer", -3_i64)] {
        let bench = Bench::new();
        let mut manifest = bench.image.manifest_json();
        let descriptor = match part {
            "config" => &mut manifest["config"],
            _ => &mut manifest["layers"][1],
        };
        let real = descriptor["size"].as_u64().unwrap();
        let claimed = real.checked_add_signed(more).unwrap();
        descriptor["size"] = claimed.into();
        let lie = || {
            let headers = vec![("Content-Type", manifest["mediaType"].as_str().unwrap().to_owned())];
            bench.proxy.fault(
                Kind::Manifest,
                "",
                usize::MAX,
                Fault::Answer(200, headers, manifest.to_string()),
            );
        };
        lie();
        let told = |run: &str, code: &str| {
            let report = bench.report(&[], &bench.reference());
            assert_eq!((report.code, report.complete()), (2, false), "{part} {more} {run}");
            let both = |warning: &&serde_json::Value| {
                let message = warning["message"].as_str().unwrap();
                message.contains(&real.to_string()) && message.contains(&claimed.to_string())
            };
            let warnings = report.warnings(code);
            assert!(warnings.iter().any(both), "{part} {more} {run}: {:#}", report.json["warnings"]);
            // All that the blob has is shown, but for what lies behind the claimed end.
            assert!(report.layers()[1]["files"] == 1, "{part} {more} {run}: {:#}", report.layers()[1]);
        };
        told("fetched", if part == "config" { "size-mismatch" } else { "layer-cut-short" });
        // The same blobs by a right manifest, kept, and then by the wrong one again.
        bench.proxy.forget();
        assert_eq!(bench.report(&[], &bench.reference()).code, 0);
        lie();
        told("from the cache", "size-mismatch");
    }
}
