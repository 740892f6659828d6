//! Weights below other layers.

use super::{none, only, report};
use crate::fixtures::image::Image;
use crate::fixtures::packing::Packing;
use crate::fixtures::tarball::{Member, file, tar};

/// A file of weights of two MiB.
fn weights() -> Member {
    let header = br#"{"w":{"dtype":"F32","shape":[524288],"data_offsets":[0,2097152]}}"#;
    let mut body = (header.len() as u64).to_le_bytes().to_vec();
    body.extend(header);
    body.resize(body.len() + (2 << 20), 0);
    file("models/model.safetensors", body)
}

#[test]
fn weights_in_the_middle_are_found() {
    let app = || tar([file("app/main.py", "x = 1")]);
    let image = Image::of(Packing::Gzip, [tar([file("etc/x", "x")]), tar([weights()]), app()]);
    let found = report(&image);
    let finding = only(&found, "weights-in-middle-layer");
    assert_eq!((&finding["severity"], &finding["category"]), (&"low".into(), &"weights".into()));
    assert_eq!(finding["paths"][0], "/models/model.safetensors");
    assert_eq!(finding["layers"], serde_json::json!([1]));
    let image = Image::of(Packing::Gzip, [app(), tar([weights()]), tar([])]);
    none(&report(&image), "weights-in-middle-layer");
}
