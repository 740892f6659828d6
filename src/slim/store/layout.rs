//! Documents of an OCI image layout, in a folder or an archive.

use serde_json::{Value, json};

use super::Documents;
use crate::base::Digest;

/// The index of a layout.
pub(super) const INDEX: &str = "index.json";
/// Annotation with the tag of an image in a layout.
const REF_NAME: &str = "org.opencontainers.image.ref.name";
/// containerd's annotation with the full name of an image.
const CONTAINERD_NAME: &str = "io.containerd.image.name";

/// The file that marks a layout.
pub(super) const MARK: (&str, &[u8]) = ("oci-layout", br#"{"imageLayoutVersion":"1.0.0"}"#);

/// Name of a blob in a layout.
pub(super) fn blob_name(digest: &Digest) -> String {
    format!("blobs/{}/{}", digest.algorithm(), digest.digest())
}

/// The descriptor of an image or its platforms in an index, with its tag and its full name.
pub(super) fn descriptor(documents: &Documents, tag: Option<&str>, name: Option<&str>) -> Value {
    let (digest, media_type, bytes) = documents.top();
    let mut descriptor =
        json!({ "mediaType": media_type, "digest": digest.to_string(), "size": bytes.len() });
    let annotations = [(REF_NAME, tag), (CONTAINERD_NAME, name)];
    for (key, value) in annotations.into_iter().filter_map(|(key, value)| Some((key, value?))) {
        descriptor["annotations"][key] = value.into();
    }
    descriptor
}

/// An index of these images.
pub(super) fn index(manifests: &[Value]) -> Vec<u8> {
    let index = json!({
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.index.v1+json",
        "manifests": manifests,
    });
    index.to_string().into_bytes()
}

/// The index with `descriptor` in place of what has the same tag.
pub(super) fn add(index: &[u8], descriptor: Value) -> Result<Vec<u8>, String> {
    let mut index: Value = serde_json::from_slice(index).map_err(|_| "not JSON".to_owned())?;
    let manifests = index.get_mut("manifests").and_then(Value::as_array_mut);
    let manifests = manifests.ok_or_else(|| "no list of manifests".to_owned())?;
    let tag =
        |descriptor: &Value| descriptor.pointer("/annotations").and_then(|all| all.get(REF_NAME)).cloned();
    let new = tag(&descriptor);
    // Without a tag an image has only its digest as a name.
    manifests.retain(|old| tag(old) != new || new.is_none() && old.get("digest") != descriptor.get("digest"));
    manifests.push(descriptor);
    serde_json::to_vec(&index).map_err(|error| error.to_string())
}
