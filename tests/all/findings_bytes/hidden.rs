//! Files that a later layer hides, and those that it stores again.

use serde_json::Value;

use super::{all, finding, items, judged, judged_mixed, of, service};
use crate::fixtures::packing::Packing;
use crate::fixtures::tarball::{Member, file, hardlink, whiteout};

const WAYS: [[Packing; 2]; 4] = [
    [Packing::Gzip, Packing::Gzip],
    [Packing::Plain, Packing::Plain],
    [Packing::Gzip, Packing::Plain],
    [Packing::Plain, Packing::Zstd],
];

fn in_all_ways(lower: &[Member], upper: &[Member], judge: impl Fn(&super::Report)) {
    for [first, second] in WAYS {
        let layers = [([service(&[]), lower.to_vec()].concat(), first), (upper.to_vec(), second)];
        judge(&judged_mixed(&layers, &["/srv/service"], &[]));
    }
}

#[test]
fn what_a_later_layer_hides_names_both_layers() {
    let lower =
        [file("srv/a.bin", vec![1; 5000]), file("srv/b.bin", vec![2; 700]), file("srv/c.bin", vec![3; 90])];
    let upper = [whiteout("srv/a.bin"), file("srv/b.bin", vec![4; 800])];
    in_all_ways(&lower, &upper, |report| {
        all(report, &[("/srv/a.bin", "overwritten safe"), ("/srv/c.bin", "-")]);
        let found = finding(report, "/srv/a.bin").unwrap();
        assert_eq!(
            (&found["bytes"], &found["files"], &found["merged_bytes"]),
            (&5700.into(), &2.into(), &0.into())
        );
        assert_eq!(found["layers"], serde_json::json!([0]));
        assert!(found["fix"].as_str().unwrap().contains("layers 0 and 1"), "{found:#}");
        assert_eq!(report.json["totals"]["wasted_bytes"], found["bytes"]);
    });
}

#[test]
fn a_hidden_name_of_a_file_with_another_is_not_hidden() {
    let lower = [file("srv/a.bin", vec![1; 5000]), hardlink("srv/also.bin", "srv/a.bin")];
    let upper = [whiteout("srv/a.bin")];
    in_all_ways(&lower, &upper, |report| assert_eq!(of(report, "/srv/a.bin"), "-"));
}

#[test]
fn hidden_files_of_another_kind_stay_with_their_kind() {
    let lower = [file("root/.cache/pip/a", vec![1; 500]), file("usr/include/a.h", vec![2; 400])];
    let upper = [whiteout("root/.cache/pip/a"), whiteout("usr/include/a.h")];
    in_all_ways(&lower, &upper, |report| {
        all(report, &[("/root/.cache/pip/a", "package-caches safe"), ("/usr/include/a.h", "headers safe")]);
        assert!(items(&report.json["findings"]).iter().all(|one| one["rule"] != "overwritten"));
    });
}

fn metadata_only(report: &super::Report) -> Vec<Value> {
    items(&report.json["layers"]).iter().map(|layer| layer["metadata_only_bytes"].clone()).collect()
}

#[test]
fn files_that_chown_stored_again_are_proven_by_their_bytes() {
    let mut other = vec![5; 90_000];
    other[89_999] = 6;
    let lower = [
        file("srv/model.bin", vec![5; 90_000]),
        file("srv/small.txt", "small"),
        file("srv/changed.bin", vec![5; 90_000]),
        file("srv/longer.txt", "one"),
    ];
    let upper = [
        file("srv/model.bin", vec![5; 90_000]).owned_by(1000, 1000),
        file("srv/small.txt", "small").mode(0o755),
        file("srv/changed.bin", other),
        file("srv/longer.txt", "one and two"),
    ];
    in_all_ways(&lower, &upper, |report| {
        all(
            report,
            &[
                ("/srv/model.bin", "metadata-copies safe"),
                ("/srv/small.txt", "metadata-copies safe"),
                ("/srv/changed.bin", "overwritten safe"),
                ("/srv/longer.txt", "overwritten safe"),
            ],
        );
        let chown = finding(report, "/srv/model.bin").unwrap();
        assert!(chown["title"].as_str().unwrap().contains("owner"), "{chown:#}");
        assert_eq!(chown["bytes"], 90_000);
        assert_eq!(metadata_only(report), [Value::from(0), Value::from(90_005)]);
    });
}

#[test]
fn one_layer_may_hold_a_path_twice() {
    let members = [service(&[]), vec![file("srv/a", vec![1; 50]), file("srv/a", vec![2; 60])]].concat();
    let report = judged(Packing::Gzip, &[members], &["/srv/service"], &[]);
    let found = finding(&report, "/srv/a").unwrap();
    assert_eq!((&found["rule"], &found["bytes"]), (&"overwritten".into(), &50.into()));
}
