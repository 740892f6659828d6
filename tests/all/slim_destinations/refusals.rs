//! Destinations that cannot be used say why, before anything is written.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use cutaway::slim::Destination;

use super::folders::{names, place};
use super::writer::Task;

#[test]
fn what_is_no_destination_says_why() {
    for (text, part) in [
        ("", "use one of oci:DIR"),
        ("image", "use one of oci:DIR"),
        ("rootfs:/tmp/x", "use one of oci:DIR"),
        ("docker:app", "use one of oci:DIR"),
        ("oci:", "nothing after the transport"),
        ("oci:none/here:bad tag", "invalid tag 'bad tag'"),
        ("oci:none/here:-x", "invalid tag"),
        ("oci-archive:none:1\u{1b}[31m", "invalid tag '1\\x1b[31m'"),
        (
            "oci:none@sha256:01ba4719c80b6fe911b091a7c05124b64eeece964e09c058ef8f9805daca546b",
            "a digest or a number cannot be chosen",
        ),
        ("docker-archive:none.tar:Team/App", "invalid reference format"),
        ("docker-archive:none.tar:@0", "a digest or a number cannot be chosen"),
        ("docker://u:HUNTER2@registry.example/app", "remove user and password"),
        ("docker://registry.example", "a host without a repository"),
        (
            "docker://registry.example/app@sha256:01ba4719c80b6fe911b091a7c05124b64eeece964e09c058ef8f9805daca546b",
            "named by a tag, not by a digest",
        ),
        ("docker-daemon:a b", "container engines identify images"),
        (
            "podman:app@sha256:01ba4719c80b6fe911b091a7c05124b64eeece964e09c058ef8f9805daca546b",
            "named by a tag, not by a digest",
        ),
    ] {
        let error = Destination::parse(text).expect_err(text).to_string();
        assert!(error.contains(part) && error.starts_with("invalid destination"), "{text}: {error}");
        assert!(!error.contains("HUNTER2") && !error.contains('\u{1b}'), "{error}");
    }
    for text in ["oci:none", "oci:none:1", "dir:none", "docker://registry.example/app", "podman:app:1"] {
        assert_eq!(Destination::parse(text).unwrap().to_string(), text);
    }
}

#[test]
fn a_place_that_cannot_be_written_to_is_named() {
    let (place, source) = place();
    place.put("file", "mine");
    place.put("full/mine", "mine");
    fs::create_dir(place.path("locked")).unwrap();
    symlink("nowhere", place.path("dangling")).unwrap();
    let before = names(&place.path(""));
    for (destination, parts) in [
        ("oci:file", &["oci:file", "a file of this name exists"][..]),
        ("dir:file/", &["a file of this name exists"]),
        ("oci:full", &["is not empty, and is not an OCI image layout"]),
        ("dir:full", &["the folder exists and is not empty"]),
        ("dir:source", &["the folder exists and is not empty"]),
        ("oci-archive:file", &["oci-archive:file", "the file exists"]),
        ("docker-archive:full:app:1", &["the file exists"]),
        ("oci:dangling", &["oci:dangling", "No such file"]),
        ("oci:none/below/new", &["none/below", "No such file", "hint: create it first"]),
        ("oci-archive:none/new.tar", &["the folder none", "No such file"]),
        ("dir:file/new", &["the folder file", "not a folder"]),
        ("oci:/proc/new", &["/proc"]),
    ] {
        let message = Task::new(&source, destination).fails(&place);
        for part in parts {
            assert!(message.contains(part), "{destination}: {message}");
        }
        assert!(!message.contains(".cutaway-"), "{message}");
        assert_eq!(names(&place.path("")), before, "{destination}");
    }
    assert_eq!(fs::read(place.path("file")).unwrap(), b"mine");
    // Root may write everywhere.
    fs::set_permissions(place.path("locked"), fs::Permissions::from_mode(0o555)).unwrap();
    if fs::write(place.path("locked/probe"), "").is_err() {
        let message = Task::new(&source, "oci:locked/new").fails(&place);
        assert!(message.contains("the folder locked: permission denied"), "{message}");
    }
}

#[test]
fn a_blob_that_changed_since_is_not_taken_over() {
    let (place, source) = place();
    let layer = crate::registry::bench::image(crate::fixtures::packing::Packing::Gzip).layers[0].clone();
    let blob = place.path(&format!("source/blobs/{}", layer.digest.replace(':', "/")));
    let mut bytes = fs::read(&blob).unwrap();
    bytes[1000] ^= 1;
    fs::write(&blob, bytes).unwrap();
    for destination in ["oci:new", "oci-archive:new", "dir:new"] {
        let message = Task::new(&source, destination).fails(&place);
        assert!(
            message.contains(&layer.digest) && message.contains("changed since it was analysed"),
            "{message}"
        );
        assert!(fs::symlink_metadata(place.path("new")).is_err());
    }
}
