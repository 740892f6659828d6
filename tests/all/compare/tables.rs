//! Environment, settings, and the tables that come from the inventory and the findings.

use std::sync::Arc;

use cutaway::compare::SettingRow;
use serde_json::json;

use super::{Form, analysed, compared, folder, image, packed, stored};
use crate::fixtures::packing::Packing;
use crate::fixtures::tarball::file;
use crate::support::Place;

fn values(row: &SettingRow) -> Vec<Option<&str>> {
    row.values.iter().map(Option::as_deref).collect()
}

fn names(rows: &[SettingRow]) -> Vec<&str> {
    rows.iter().map(|row| row.name.as_str()).collect()
}

#[test]
fn settings_stand_side_by_side() {
    let place = Place::new();
    let mut one = image([vec![file("a", "1")]]);
    let mut two = one.clone();
    one.config = json!({
        "Env": ["B=1", "A=x=y", "B=2", "EMPTY"], "Entrypoint": ["/bin/a", "two words"], "User": "",
        "Labels": {"z": "1", "b": "2"}, "ExposedPorts": {"90/tcp": {}, "80/tcp": {}}
    });
    two.config = json!({
        "Env": ["A=x=z", "C="], "Entrypoint": ["/bin/a two", "words"], "Cmd": ["serve"], "User": "7",
        "WorkingDir": "/srv", "Labels": {"b": "2"}
    });
    let images = [
        stored(&place, "one", Form::Oci(Packing::Gzip), &one),
        stored(&place, "two", Form::Oci(Packing::Gzip), &two),
        folder(&place, "three", &[(b"a", b"1")]),
    ];
    let comparison = compared(&images);
    assert_eq!(names(&comparison.environment), ["A", "B", "C", "EMPTY"]);
    let environment: Vec<_> = comparison.environment.iter().map(values).collect();
    assert_eq!(environment[0], [Some("x=y"), Some("x=z"), None]);
    assert_eq!(environment[1], [Some("2"), None, None], "the last counts");
    assert_eq!(environment[2], [None, Some(""), None]);
    assert_eq!(environment[3], [Some(""), None, None]);
    assert_eq!(
        names(&comparison.settings),
        ["entrypoint", "command", "user", "working directory", "ports", "platform", "label b", "label z"]
    );
    let row = |name: &str| comparison.settings.iter().find(|row| row.name == name).unwrap();
    assert_eq!(values(row("entrypoint")), [Some("/bin/a two words"), Some("/bin/a two words"), None]);
    assert_eq!(row("entrypoint").words[0], Some(vec!["/bin/a".to_owned(), "two words".to_owned()]));
    assert!(row("entrypoint").differs(), "the words differ");
    assert_eq!(values(row("command")), [None, Some("serve"), None]);
    assert_eq!(values(row("user")), [None, Some("7"), None]);
    assert_eq!(values(row("ports")), [Some("80/tcp, 90/tcp"), None, None]);
    assert_eq!(values(row("platform")), [Some("linux/amd64"), Some("linux/amd64"), None]);
    assert_eq!(values(row("label b")), [Some("2"), Some("2"), None]);
}

#[test]
fn what_the_rules_did_not_look_at_is_unknown() {
    let place = Place::new();
    let one = packed(&place, "one", [vec![file("root/.cache/pip/http/x", vec![1; 5000])]]);
    let clean = packed(&place, "two", [vec![file("a", "1")]]);
    let blind = Arc::new(cutaway::analysis::Analysis { findings: None, inventory: None, ..(*clean).clone() });
    let comparison = compared(&[one, clean, blind]);
    let row = comparison.findings.iter().find(|row| row.bytes[0] == Some(5000)).unwrap();
    assert_eq!(row.bytes, [Some(5000), Some(0), None]);
    assert_eq!(row.counts, [Some(1), Some(0), None]);
}

#[test]
fn a_package_of_several_versions_is_one_row() {
    let place = Place::new();
    let status = |versions: &str| file("var/lib/dpkg/status", versions);
    let package = |name: &str, version: &str, arch: &str| {
        format!(
            "Package: {name}\nStatus: install ok installed\nArchitecture: {arch}\nVersion: {version}\nMaintainer: x\nDescription: x\n\n"
        )
    };
    let metadata = |root: &str, version: &str| {
        file(
            format!("{root}/tool-{version}.dist-info/METADATA"),
            format!("Metadata-Version: 2.1\nName: tool\nVersion: {version}\n"),
        )
    };
    let images = [
        packed(
            &place,
            "one",
            [vec![
                status(&package("libc6", "2.39", "amd64")),
                metadata("usr/lib/python3/dist-packages", "1.10.0"),
                metadata("opt/venv/lib/python3.12/site-packages", "1.9.0"),
            ]],
        ),
        packed(&place, "two", [vec![status(&package("libc6", "2.41", "amd64"))]]),
    ];
    let comparison = compared(&images);
    let rows: Vec<(&str, &str, Vec<Option<&str>>)> = comparison
        .packages
        .iter()
        .map(|row| (&*row.manager, row.name.as_str(), row.versions.iter().map(Option::as_deref).collect()))
        .collect();
    assert_eq!(
        rows,
        [
            ("dpkg", "libc6", vec![Some("2.39"), Some("2.41")]),
            ("pip", "tool", vec![Some("1.9.0, 1.10.0"), None]),
        ]
    );
}

#[test]
fn the_samples_differ_as_they_should() {
    let images = [analysed("sample:devel"), analysed("sample:runtime")];
    let comparison = compared(&images);
    // Columns are what the analyses say.
    for (place, image) in images.iter().enumerate() {
        let inventory = image.inventory.as_ref().unwrap();
        let sum = |bytes: Vec<Option<u64>>| bytes.into_iter().map(Option::unwrap).sum::<u64>();
        let components = comparison.components.iter().map(|row| row.bytes[place]).collect();
        assert_eq!(sum(components), inventory.components.iter().map(|one| one.bytes).sum::<u64>());
        let code = comparison.gpu_code.iter().map(|row| row.bytes[place]).collect();
        assert_eq!(sum(code), inventory.gpu_code.iter().map(|one| one.bytes).sum::<u64>());
        let packages = comparison.packages.iter().filter(|row| row.versions[place].is_some()).count();
        let mut known: Vec<_> = inventory.packages.iter().map(|one| (one.manager, &one.name)).collect();
        known.sort();
        known.dedup();
        assert_eq!(packages, known.len());
        let totals = image.totals().unwrap();
        let root = comparison.tree.row(cutaway::compare::RowId::ROOT);
        assert_eq!(root.bytes(place), Some(totals.merged_bytes));
    }
    assert!(comparison.components.iter().any(|row| row.versions[0].is_some()));
    assert!(comparison.components.is_sorted_by_key(|row| std::cmp::Reverse(row.bytes.iter().max().copied())));
    let sums = comparison.tree.files(1, 0);
    assert!(sums.removed_bytes > sums.added_bytes, "{sums:?}");
    assert_eq!(sums.unknown, 0, "{sums:?}");
    assert!(sums.same > 0, "{sums:?}");
    let both = comparison.layers.iter().filter(|row| row.shared_by().count() == 2).count();
    assert!(both > 0, "no layer is shared");
    assert!(comparison.findings.iter().any(|row| row.bytes[0] > row.bytes[1]));
    assert!(comparison.environment.iter().any(|row| row.name == "PATH"));
}
