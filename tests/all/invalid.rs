//! Images that no engine would run: reported as far as they can be read, incomplete, and with status 2.

use serde_json::{Value, json};

use crate::fixtures::image::Image;
use crate::fixtures::layout::{Files, Layout, members_of, tagged};
use crate::fixtures::packing::{Packing, gzip};
use crate::fixtures::tarball::{file, tar};
use crate::fixtures::{digest, json_bytes, sha256_hex};
use crate::support::{Place, Report};

const TAG: &str = "t";

/// An image of one gzip and one plain layer of 3000 bytes each.
fn image() -> Image {
    let image = Image::new(Packing::Gzip).layer("RUN one", &tar([file("a", vec![1; 3000])]));
    Image { packing: Packing::Plain, ..image }.layer("RUN two", &tar([file("b", vec![2; 3000])]))
}

/// What is written in place of what is right.
struct Made {
    image: Image,
    /// The bytes of the config; `None` for one that is not there.
    config: Option<Vec<u8>>,
    config_size: u64,
    manifest_size: u64,
}

impl Made {
    fn of(image: Image) -> Self {
        let config = image.config_bytes();
        let mut made =
            Self { config_size: config.len() as u64, config: Some(config), image, manifest_size: 0 };
        made.manifest_size = json_bytes(&made.manifest()).len() as u64;
        made
    }

    fn with_config(config: Option<&[u8]>) -> Self {
        let mut made = Self::of(image());
        made.config_size = config.map_or(7, <[u8]>::len) as u64;
        made.config = config.map(<[u8]>::to_vec);
        made.manifest_size = json_bytes(&made.manifest()).len() as u64;
        made
    }

    fn config_digest(&self) -> String {
        digest(self.config.as_deref().unwrap_or(b"missing"))
    }

    fn manifest(&self) -> Value {
        let mut manifest = self.image.manifest_json();
        manifest["config"]["digest"] = json!(self.config_digest());
        manifest["config"]["size"] = json!(self.config_size);
        manifest
    }

    fn layout(&self) -> Layout {
        let mut layout = Layout::default();
        for layer in &self.image.layers {
            layout.put_blob(&layer.digest, &layer.blob);
        }
        if let Some(config) = &self.config {
            layout.add_blob(config);
        }
        let mut descriptor = layout.add_json(&self.manifest());
        descriptor["size"] = json!(self.manifest_size);
        layout.root(tagged(descriptor, TAG));
        layout
    }

    /// `docker save` of Docker 25: descriptors of layers with their sizes.
    fn modern(&self) -> Files {
        let mut files = self.layout().files();
        files.remove("index.json");
        let blob = |digest: &str| format!("blobs/{}", digest.replacen(':', "/", 1));
        let layers: Vec<String> = self.image.layers.iter().map(|layer| blob(&layer.digest)).collect();
        let sources: Value =
            self.image.layers.iter().map(|layer| (layer.diff_id.clone(), layer.descriptor())).collect();
        let saved = json!([{
            "Config": blob(&self.config_digest()), "RepoTags": ["app:t"], "Layers": layers, "LayerSources": sources
        }]);
        files.insert("manifest.json".into(), json_bytes(&saved));
        files
    }

    /// `docker save` before that: no sizes.
    fn classic(&self) -> Files {
        let mut files = Files::new();
        let mut layers = Vec::new();
        for layer in &self.image.layers {
            let name = format!("{}/layer.tar", sha256_hex(&layer.tar));
            files.insert(name.clone(), layer.tar.clone());
            layers.push(name);
        }
        let name = format!("{}.json", &self.config_digest()["sha256:".len()..]);
        files.extend(self.config.as_ref().map(|config| (name.clone(), config.clone())));
        let saved = json!([{"Config": name, "RepoTags": ["app:t"], "Layers": layers}]);
        files.insert("manifest.json".into(), json_bytes(&saved));
        files
    }

    fn flat(&self) -> Files {
        let mut files = Files::new();
        let hex = |digest: &str| digest["sha256:".len()..].to_owned();
        for layer in &self.image.layers {
            files.insert(hex(&layer.digest), layer.blob.clone());
        }
        files.extend(self.config.as_ref().map(|config| (hex(&self.config_digest()), config.clone())));
        files.insert("version".into(), b"Directory Transport Version: 1.1\n".to_vec());
        files.insert("manifest.json".into(), json_bytes(&self.manifest()));
        files
    }

    /// The references of all forms on disk.
    fn forms(&self, place: &Place) -> Vec<String> {
        let layout = self.layout();
        let archive = layout.archive();
        let saved = |files: &Files| tar(members_of(files));
        vec![
            format!("oci:{}", place.put_layout("layout", &layout)),
            format!("oci-archive:{}", place.put("a.tar", &archive)),
            format!("oci-archive:{}", place.put("a.tar.gz", gzip(&archive))),
            format!("docker-archive:{}", place.put("m.tar", saved(&self.modern()))),
            format!("docker-archive:{}", place.put("m.tar.gz", gzip(&saved(&self.modern())))),
            format!("docker-archive:{}", place.put("c.tar", saved(&self.classic()))),
            format!("dir:{}", place.put_files("flat", &self.flat())),
        ]
    }
}

/// The report is incomplete, holds both layers, and one warning of this code has all of these parts.
fn invalid(report: &Report, what: &str, code: &str, parts: &[&str]) {
    assert_eq!(report.code, 2, "{what}: {:#}", report.json["warnings"]);
    assert!(!report.complete(), "{what}");
    assert_eq!(report.total("content_bytes"), 6000, "{what}");
    let told = report.json["warnings"].as_array().unwrap().iter().any(|warning| {
        let text =
            format!("{}: {}", warning["subject"].as_str().unwrap(), warning["message"].as_str().unwrap());
        warning["code"] == code && parts.iter().all(|part| text.contains(part))
    });
    assert!(told, "{what}: no {code} with {parts:?}: {:#}", report.json["warnings"]);
}

#[test]
fn what_is_right_is_complete_in_every_form() {
    let place = Place::new();
    for reference in Made::of(image()).forms(&place) {
        let report = place.report(&reference);
        assert!(report.complete() && report.codes().is_empty(), "{reference}: {:#}", report.json["warnings"]);
    }
}

#[test]
fn a_config_that_cannot_be_read_makes_the_image_invalid() {
    let right = image().config_json();
    let with = |name: &str, value: Value| {
        let mut config = right.clone();
        config[name] = value;
        json_bytes(&config)
    };
    let cases = [
        ("no JSON", Some(b"config?".to_vec())),
        ("cut short", Some(image().config_bytes()[..40].to_vec())),
        ("a list", Some(b"[]".to_vec())),
        ("an empty file", Some(Vec::new())),
        ("a config without layers", Some(b"{\"os\":\"linux\",\"architecture\":\"amd64\"}".to_vec())),
        ("a number as rootfs", Some(with("rootfs", json!(7)))),
        ("a text as history", Some(with("history", json!("x")))),
        ("a list as config", Some(with("config", json!([])))),
        ("an environment of numbers", Some(with("config", json!({"Env": [1]})))),
        ("an architecture that is a number", Some(with("architecture", json!(64)))),
        ("diff ids that are none", Some(with("rootfs", json!({"type": "layers", "diff_ids": ["a", "b"]})))),
        ("a missing config", None),
    ];
    for (what, config) in cases {
        let place = Place::new();
        for reference in Made::with_config(config.as_deref()).forms(&place) {
            invalid(
                &place.report_with(&reference, &[]),
                &format!("{what}: {reference}"),
                "config-incomplete",
                &[],
            );
        }
    }
}

#[test]
fn absent_fields_that_engines_do_without_are_a_warning() {
    let mut config = image().config_json();
    config["architecture"] = Value::Null;
    config.as_object_mut().unwrap().remove("os");
    let place = Place::new();
    for reference in Made::with_config(Some(&json_bytes(&config))).forms(&place) {
        let report = place.report(&reference);
        assert!(report.complete(), "{reference}");
        assert_eq!(report.warnings("config-incomplete").len(), 2, "{:#}", report.json["warnings"]);
    }
}

#[test]
fn a_document_of_another_size_than_its_descriptor_says() {
    for more in [-3_i64, 3] {
        let mut made = Made::of(image());
        let real = made.config_size;
        made.config_size = real.checked_add_signed(more).unwrap();
        made.manifest_size = json_bytes(&made.manifest()).len() as u64;
        let sizes = [real.to_string(), made.config_size.to_string()];
        let place = Place::new();
        for reference in made.forms(&place).iter().filter(|form| !form.starts_with("docker")) {
            let config = made.config_digest()["sha256:".len()..].to_owned();
            let parts = [sizes[0].as_str(), &sizes[1], "config", &config];
            invalid(&place.report_with(reference, &[]), reference, "size-mismatch", &parts);
        }
        let mut made = Made::of(image());
        let real = made.manifest_size;
        made.manifest_size = real.checked_add_signed(more).unwrap();
        let sizes = [real.to_string(), made.manifest_size.to_string()];
        for reference in made.forms(&place).iter().filter(|form| form.starts_with("oci")) {
            let parts = [sizes[0].as_str(), &sizes[1], "manifest"];
            invalid(&place.report_with(reference, &[]), reference, "size-mismatch", &parts);
        }
    }
}

#[test]
fn an_index_of_another_size_than_its_descriptor_says() {
    let mut layout = Layout::default();
    let descriptor = layout.add_image(&image());
    let mut index = layout.add_index(&[descriptor]);
    let real = index["size"].as_u64().unwrap();
    index["size"] = json!(real + 1);
    layout.root(tagged(index, TAG));
    let place = Place::new();
    let reference = format!("oci:{}", place.put_layout("nested", &layout));
    let parts = [&real.to_string()[..], &(real + 1).to_string(), "index"];
    invalid(&place.report_with(&reference, &[]), "index", "size-mismatch", &parts);
}

#[test]
fn a_layer_of_another_size_than_its_descriptor_says_however_it_is_read() {
    for number in [0, 1] {
        for more in [-3_i64, 3] {
            let mut wrong = image();
            let real = wrong.layers[number].size;
            wrong.layers[number].size = real.checked_add_signed(more).unwrap();
            let sizes = [real.to_string(), wrong.layers[number].size.to_string()];
            let digest = wrong.layers[number].digest[7..19].to_owned();
            let place = Place::new();
            // What was read of the right image serves the wrong one: the blobs are the same.
            for reference in Made::of(image()).forms(&place) {
                place.report(&reference);
            }
            for reference in Made::of(wrong).forms(&place).iter().filter(|form| !form.ends_with("c.tar")) {
                for run in ["from its bytes or the cache", "from the cache"] {
                    let report = place.report_with(reference, &[]);
                    let parts = [&sizes[0][..], &sizes[1], &digest];
                    invalid(&report, &format!("{reference} {run}"), "size-mismatch", &parts);
                }
                let report = place.report_with(reference, &["--verify"]);
                invalid(&report, reference, "size-mismatch", &[&sizes[0], &sizes[1]]);
            }
        }
    }
}
