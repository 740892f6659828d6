//! Names of secrets, and that their values are nowhere.

use serde_json::json;

use super::{configured, joined, none, of_rule, only, report, system};
use crate::fixtures::image::Image;
use crate::fixtures::packing::Packing;
use crate::fixtures::service::SITE;
use crate::fixtures::tarball::{file, tar, whiteout};
use crate::support::Report;

const VALUE: &str = "s3cr3t-value";

fn hides_the_value(report: &Report) {
    assert!(!report.json.to_string().contains(VALUE), "the value of a secret is in the report");
}

#[test]
fn variables_and_labels_are_named() {
    let config = json!({
        "Env": [format!("HF_TOKEN={VALUE}"), "PATH=/usr/bin", format!("INDEX=https://me:{VALUE}@pypi.example/simple")],
        "Labels": {"com.example.api-key": VALUE, "maintainer": "me"},
    });
    let found = report(&configured(system(), config));
    hides_the_value(&found);
    let finding = only(&found, "secrets");
    assert_eq!((&finding["severity"], &finding["verdict"]), (&"high".into(), &"unsure".into()));
    assert_eq!(
        joined(&finding["subjects"]),
        "ENV HF_TOKEN\nENV INDEX (user info in a URL)\nLABEL com.example.api-key"
    );
}

#[test]
fn build_arguments_and_commands_are_named() {
    let image = Image::new(Packing::Gzip)
        .step("ARG GITHUB_TOKEN")
        .layer(&format!("RUN |1 GITHUB_TOKEN={VALUE} /bin/sh -c ./build # buildkit"), &tar(system()))
        .step(&format!("RUN /bin/sh -c curl --password {VALUE} https://x.example"));
    let found = report(&image);
    hides_the_value(&found);
    let finding = only(&found, "secrets");
    assert_eq!(joined(&finding["subjects"]), "GITHUB_TOKEN\npassword");
    assert!(joined(&finding["proof"]).contains("GITHUB_TOKEN has a value in history step 1"), "{finding:#}");
}

#[test]
fn what_only_looks_like_a_secret_is_none() {
    let mut image = Image::new(Packing::Gzip)
        .step("ARG GITHUB_TOKEN")
        .step("ENV GPG_KEY=7169605F62C751356D054A26A821E680E5FA6305")
        .layer(
            "RUN /bin/sh -c gpg --keyserver hkps://keys.example --recv-keys \"$GPG_KEY\" # buildkit",
            &tar(system()),
        )
        .step("RUN /bin/sh -c huggingface-cli login --token $HF_TOKEN");
    image.config = json!({"Env": [
        "TOKENIZERS_PARALLELISM=false", "GPG_KEY=7169605F62C751356D054A26A821E680E5FA6305", "HF_TOKEN=",
        "DB_PASSWORD_FILE=/run/secrets/db", "MAX_TOKENS=4096",
    ]});
    none(&report(&image), "secrets");
}

#[test]
fn secret_files_are_found_in_hidden_layers_too() {
    let image = Image::of(
        Packing::Gzip,
        [
            tar([file("root/.netrc", VALUE), file("root/.ssh/id_ed25519", VALUE), file("app/.env", VALUE)]),
            tar([whiteout("root/.netrc")]),
        ],
    );
    let found = report(&image);
    hides_the_value(&found);
    let list = of_rule(&found, "secrets");
    assert_eq!(list.len(), 2, "{list:#?}");
    let sure = list.iter().find(|finding| finding["severity"] == "high").unwrap();
    assert_eq!(joined(&sure["subjects"]), "/root/.netrc\n/root/.ssh/id_ed25519");
    assert!(
        joined(&sure["proof"]).contains("/root/.netrc in layer 0, shadowed by an upper layer"),
        "{sure:#}"
    );
    assert!(
        sure["fix"].as_str().unwrap().contains("deleting them in an upper layer removes nothing"),
        "{sure:#}"
    );
    let maybe = list.iter().find(|finding| finding["severity"] == "medium").unwrap();
    assert_eq!(joined(&maybe["subjects"]), "/app/.env");
}

#[test]
fn public_certificates_and_tests_of_packages_are_none() {
    let site = |path: &str| format!("{SITE}/{path}");
    let members = vec![
        file("etc/ssl/certs/root.pem", "x"),
        file("etc/ssl/cert.pem", "x"),
        file(site("certifi/cacert.pem"), "x"),
        file(site("x/tests/id_rsa"), "x"),
        file("root/.ssh/id_rsa.pub", "x"),
        file("models/bert/config.json", "{}"),
        file("root/.netrc", ""),
    ];
    none(&report(&configured(members, json!({}))), "secrets");
}
