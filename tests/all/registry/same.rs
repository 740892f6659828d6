//! What a registry has is what the same image gives from a folder.

use serde_json::json;

use super::bench::{Bench, image, ready, report, same};
use super::proxy::Kind;
use crate::fixtures::layout::{Layout, tagged};
use crate::fixtures::packing::Packing;
use crate::support::Place;

#[test]
fn the_report_of_a_registry_is_that_of_a_folder() {
    if !ready() {
        return;
    }
    let bench = Bench::new();
    let forms = [
        ("gzip", image(Packing::Gzip)),
        ("members", image(Packing::GzipMembers)),
        ("zstd", image(Packing::Zstd)),
        ("plain", image(Packing::Plain)),
        ("docker", image(Packing::Gzip).with_docker_types()),
    ];
    for (name, image) in forms {
        match name {
            "docker" => bench.server.push_docker(&image, "forms/docker:t"),
            name => bench.server.push(&Layout::of(&image, "t"), "t", &format!("forms/{name}:t")),
        }
        let reference = format!("docker://{}/forms/{name}:t", bench.host());
        let place = Place::new();
        let found = report(&place, &[], &reference);
        assert_eq!(found.json["image"]["reference"], reference);
        same(&place, &image, &found);
    }
    // The registry answered at once: nobody was asked twice, and every blob came whole.
    assert!(bench.proxy.seen().iter().all(|seen| seen.status == 200), "{:#?}", bench.proxy.seen());
}

#[test]
fn each_way_to_write_the_name_leads_to_the_image() {
    if !ready() {
        return;
    }
    let bench = Bench::new();
    let digest =
        bench.report(&[], &bench.reference()).json["image"]["manifest_digest"].as_str().unwrap().to_owned();
    let host = bench.host();
    for reference in [
        format!("{host}/team/app:1"),
        format!("registry:{host}/team/app:1"),
        format!("docker://{host}/team/app@{digest}"),
        format!("docker://{host}/team/app:1@{digest}"),
        format!("docker://{host}/team/app:another@{digest}"),
        format!("docker://localhost:{}/team/app:1", bench.proxy.port),
    ] {
        let report = bench.report(&[], &reference);
        assert_eq!(report.json["image"]["manifest_digest"], digest.as_str(), "{reference}");
        same(&bench.place, &bench.image, &report);
    }
}

#[test]
fn of_an_index_the_image_of_the_platform_is_read_and_nothing_else() {
    if !ready() {
        return;
    }
    let bench = Bench::new();
    let arm = image(Packing::Zstd).for_platform("linux", "arm64", Some("v8"));
    let mut layout = Layout::default();
    let mut own = bench.image.clone();
    own.config = json!({"Env": ["PATH=/own"]});
    let manifests = vec![layout.add_image(&own), layout.add_image(&arm)];
    let attestation = layout.add_attestation(&manifests[0]);
    let index = layout.add_index(&[manifests.clone(), vec![attestation]].concat());
    layout.root(tagged(index, "t"));
    bench.server.push(&layout, "t", "team/many:t");
    let reference = format!("docker://{}/team/many:t", bench.host());

    for (platform, image) in [("linux/amd64", &own), ("linux/arm64/v8", &arm), ("linux/arm64", &arm)] {
        bench.proxy.forget();
        let place = Place::new();
        let outcome = super::bench::run(
            &place,
            &[],
            &["report", &reference, "--format", "json", "--platform", platform],
        );
        let json = serde_json::from_str(&outcome.stdout).expect("a report");
        same(&place, image, &crate::support::Report { code: outcome.code, json });
        let blobs = bench.proxy.of(Kind::Blob);
        assert_eq!(blobs.len(), 4, "a config and three layers: {blobs:#?}");
        for layer in &image.layers {
            assert!(blobs.iter().any(|seen| seen.path.contains(&layer.digest)), "{platform}");
        }
    }

    bench.proxy.forget();
    let outcome = bench.run(&[], &["report", &reference, "--platform", "linux/s390x"]);
    assert_eq!((outcome.code, outcome.stdout.as_str()), (2, ""));
    for part in ["linux/s390x", "linux/amd64", "linux/arm64/v8", "hint: choose one with --platform linux/"] {
        assert!(outcome.stderr.contains(part), "{part}: {}", outcome.stderr);
    }
    assert!(!outcome.stderr.contains("unknown"), "an attestation is no platform: {}", outcome.stderr);
    assert_eq!(bench.proxy.of(Kind::Blob).len(), 0);
}
