//! Written images: what stays keeps its bytes, what goes is gone, and the merged view is the predicted one.

mod bench;
mod forget;
mod platforms;

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use cutaway::slim::{Encoding, SlimError, SlimOptions};
use proptest::collection::vec;
use proptest::prelude::{ProptestConfig, any, proptest};

use self::bench::{image, open, plan, slim, slimmed};
use crate::fixtures::image::{Image, Layer};
use crate::fixtures::layout::Layout;
use crate::fixtures::packing::Packing;
use crate::fixtures::sparse::Sparse;
use crate::fixtures::tarball::{
    Long, Member, character_device, dir, file, hardlink, member, opaque, symlink, tar, whiteout, without_end,
};
use crate::merge::{Step, step};
use crate::support::Place;

fn options() -> SlimOptions {
    SlimOptions::default()
}

fn sized(name: &str, bytes: usize) -> Member {
    file(name, vec![b'x'; bytes])
}

#[test]
fn a_removed_file_is_left_out_and_the_rest_keeps_its_bytes() {
    let rest = [
        dir("a"),
        file("a/x", "kept").pax("SCHILY.xattr.user.note", b"\0\n=binary".as_slice()).owned_by(5_000_000, 7),
        symlink("a/link", "x"),
        character_device("a/null"),
        file(format!("a/{}", "long".repeat(60)), "gnu").long(Long::Gnu).gnu(),
        Sparse::regular(30, 4096).old_gnu("a/holes"),
        Sparse::regular(3, 4096).pax_1_0("holes-1.0"),
        file("a/last", "end").mode(0o4755),
    ];
    let mut all = rest.to_vec();
    all.insert(3, sized("a/gone", 700));
    let out = slimmed(&image([all]), &["/a/gone"], &options());
    assert!(out.tars[0] == tar(rest));
    assert_eq!(out.actions(), ["rewritten"]);
    assert_eq!((out.selection.layers[0].removed_files, out.selection.layers[0].removed_bytes), (1, 700));
    assert_eq!(out.config["rootfs"]["diff_ids"][0], crate::fixtures::digest(&out.tars[0]));
}

#[test]
fn padding_and_global_headers_stay() {
    let mut global = member(b'g', "pax_global_header");
    global.body = b"11 comment=\n".to_vec();
    global.body = crate::fixtures::tarball::pax_records(&[(b"comment".to_vec(), b"x".to_vec())]);
    let build = |with: bool| {
        let mut bytes = Vec::new();
        file("one", "padded").write(&mut bytes);
        let end = bytes.len();
        bytes[end - 1] = b'!';
        global.write(&mut bytes);
        if with {
            sized("gone", 10).write(&mut bytes);
        }
        file("two", "two").write(&mut bytes);
        bytes.resize(bytes.len() + 1024, 0);
        bytes
    };
    let out = slimmed(&Image::of(Packing::Gzip, [build(true)]), &["/gone"], &options());
    assert!(out.tars[0] == build(false));
}

#[test]
fn a_layer_that_stops_after_its_last_file_is_read_to_its_end() {
    // As umoci writes it: without end blocks, and the last file is not padded.
    let mut bare = without_end([sized("gone", 10), sized("kept", 700)]);
    bare.truncate(bare.len() - 324);
    for packing in [Packing::Plain, Packing::Gzip, Packing::Zstd] {
        let source = Image::of(packing, [bare.clone()]);
        let (done, names) = mpsc::channel();
        thread::spawn(move || done.send(slimmed(&source, &["/gone"], &options()).names(0)));
        assert_eq!(names.recv_timeout(Duration::from_mins(2)).expect("it ends"), ["kept"]);
    }
}

#[test]
fn a_layer_that_loses_nothing_keeps_its_blob() {
    let source = image([vec![sized("a", 10)], vec![sized("b", 20), sized("c", 5)]]);
    let out = slimmed(&source, &["/b"], &options());
    assert_eq!(out.actions(), ["kept", "rewritten"]);
    assert!(out.blobs[0] == source.layers[0].blob);
    assert_eq!(out.manifest["layers"][0], source.layers[0].descriptor());
    assert_eq!(out.names(1), ["c"]);
}

#[test]
fn an_image_that_loses_nothing_keeps_its_config() {
    let source = image([vec![sized("a", 10)], vec![dir("d"), whiteout("gone"), sized("d/b", 20)]]);
    let out = slimmed(&source, &[], &options());
    assert_eq!(out.actions(), ["kept", "kept"]);
    assert_eq!(out.config, source.config_json());
    assert_eq!(out.manifest["layers"], source.manifest_json()["layers"]);
}

#[test]
fn shadowed_files_and_their_whiteouts_go() {
    let out = slimmed(
        &image([
            vec![dir("d"), sized("d/a", 100), sized("d/b", 50)],
            vec![whiteout("d/a"), sized("d/b", 60), sized("z", 1)],
            vec![opaque("d"), sized("d/c", 9), sized("y", 1)],
            vec![whiteout("y"), sized("w", 2)],
        ]),
        &[],
        &options(),
    );
    assert_eq!(out.actions(), ["rewritten", "rewritten", "rewritten", "kept"]);
    assert_eq!(out.names(0), ["d/"]);
    assert_eq!(out.names(1), ["z"]);
    // The opaque mark hides nothing that is left.
    assert_eq!(out.names(2), ["d/c"]);
    assert_eq!(out.selection.after.content_bytes, out.selection.after.merged_bytes);
}

#[test]
fn nothing_older_reappears() {
    let layers = || {
        [
            vec![symlink("x", "y"), dir("d"), sized("d/deep", 3)],
            vec![whiteout("x"), sized("x", 10), file("d", "a file now")],
            vec![sized("keep", 1)],
        ]
    };
    let out = slimmed(&image(layers()), &["/x", "/d"], &options());
    // Of the folder that the removed file had replaced, nothing is left either.
    assert_eq!(out.actions(), ["dropped", "dropped", "kept"]);
    assert_eq!(out.manifest["layers"].as_array().unwrap().len(), 1);
}

#[test]
fn a_layer_without_entries_is_dropped_and_its_history_says_so() {
    let source =
        image([vec![sized("a", 10)], vec![sized("b", 10)], vec![sized("c", 10)]]).step("CMD [\"x\"]");
    let out = slimmed(&source, &["/b"], &options());
    assert_eq!(out.actions(), ["kept", "dropped", "kept"]);
    let history = out.config["history"].as_array().unwrap();
    let empty: Vec<bool> = history.iter().map(|entry| entry["empty_layer"] == true).collect();
    assert_eq!(empty, [false, true, false, true, true]);
    let last = &history[4];
    assert!(
        last["comment"].as_str().unwrap().contains("removed 1 files, 10 bytes: build-artifacts:safe"),
        "{last}"
    );
    assert_eq!(last["created"], out.config["created"]);
    assert_eq!(out.manifest["annotations"]["dev.cutaway.plan"], "build-artifacts:safe");
    assert!(out.written.layers[1].is_none());
}

#[test]
fn a_hard_link_takes_over_the_content_of_its_target() {
    let body = "content".repeat(200);
    let long = format!("dir/{}", "n".repeat(120));
    let out = slimmed(
        &image([
            vec![
                dir("dir"),
                file("first", body.clone()).pax("SCHILY.xattr.user.a", "1").mode(0o755),
                hardlink(&long, "first").mode(0o755),
                hardlink("./third", "first").mode(0o755),
                hardlink("fourth", "./third").mode(0o755),
                sized("lost", 1),
            ],
            vec![whiteout("first"), whiteout("lost")],
        ]),
        &[],
        &options(),
    );
    assert_eq!(out.actions(), ["rewritten", "dropped"]);
    assert_eq!(out.names(0), ["dir/".to_owned(), long.clone(), "./third".into(), "fourth".into()]);
    let mut archive = ::tar::Archive::new(&out.tars[0][..]);
    let links: Vec<Option<String>> = archive
        .entries()
        .unwrap()
        .map(|entry| entry.unwrap().link_name_bytes().map(|name| String::from_utf8_lossy(&name).into_owned()))
        .collect();
    assert_eq!(links[2..], [Some(long), Some("./third".into())]);
    assert_eq!(out.selection.after.merged_bytes, body.len() as u64);
}

#[test]
fn a_link_of_other_facts_keeps_them() {
    let out = slimmed(
        &image([
            vec![
                file("a", "xyz").mode(0o600),
                hardlink("b", "a").mode(0o640).owned_by(1_000_000, 4),
                sized("lost", 1),
            ],
            vec![whiteout("a"), whiteout("lost")],
        ]),
        &[],
        &options(),
    );
    assert_eq!(out.names(0), ["b"]);
}

#[test]
fn a_link_across_layers_keeps_its_target_and_the_whiteout() {
    let out = slimmed(
        &image([
            vec![sized("a", 100), sized("b", 100)],
            vec![hardlink("c", "a")],
            vec![whiteout("a"), whiteout("b")],
        ]),
        &[],
        &options(),
    );
    assert_eq!(out.names(0), ["a"]);
    assert_eq!(out.names(2), [".wh.a"]);
}

#[test]
fn all_names_of_a_removed_file_go() {
    let out = slimmed(
        &image([
            vec![sized("a", 100), hardlink("b", "a"), sized("c", 1)],
            vec![hardlink("d", "b"), sized("e", 1)],
        ]),
        &["/b"],
        &options(),
    );
    assert_eq!((out.names(0), out.names(1)), (vec!["c".to_owned()], vec!["e".to_owned()]));
}

#[test]
fn layers_above_are_merged() {
    let source = image([
        vec![dir("d"), sized("d/base", 10)],
        vec![dir("d").mode(0o700), sized("d/a", 10), hardlink("l", "d/a")],
        vec![dir("d").mode(0o711), whiteout("d/a"), sized("d/b", 20)],
        vec![sized("d/c", 30), symlink("s", "d")],
    ]);
    let out = slimmed(&source, &["/d/b"], &SlimOptions { squash_from: Some(1), ..options() });
    assert_eq!(out.actions(), ["kept", "merged", "merged", "merged"]);
    assert_eq!(out.names(1), ["l", "d/", "d/c", "s"]);
    let empty: Vec<bool> =
        out.config["history"].as_array().unwrap().iter().map(|entry| entry["empty_layer"] == true).collect();
    assert_eq!(empty, [false, true, true, false, true]);
}

/// Says that the lowest layers are those of a base image.
fn set_base(analysis: &mut cutaway::analysis::Analysis, layers: usize) {
    let mut inventory = (**analysis.inventory.as_ref().unwrap()).clone();
    inventory.base = Some(cutaway::cuda::BaseImage {
        reference: None,
        flavor: cutaway::cuda::Flavor::None,
        cuda_version: None,
        cudnn_version: None,
        distribution: None,
        layers,
        below: Vec::new(),
        evidence: Vec::new(),
    });
    analysis.inventory = Some(std::sync::Arc::new(inventory));
}

#[test]
fn the_base_image_is_left_alone() {
    let place = Place::new();
    let source = image([
        vec![dir("d"), sized("d/base", 10), sized("d/old", 5), sized("two", 3)],
        vec![whiteout("d/old"), sized("d/app", 10), sized("two", 7), sized("more", 2)],
        vec![sized("d/base", 12), sized("other", 1)],
    ]);
    let reference = format!("oci:{}", place.put_layout("source", &Layout::of(&source, "t")));
    let (mut analysis, plan) = plan(&open(&reference), &["/d/app", "/two", "/d/base", "/more"]);
    set_base(&mut analysis, 1);
    let with = SlimOptions { keep_base: true, ..options() };
    let selection = cutaway::slim::Selection::new(&analysis, &plan, &with).unwrap();
    let actions: Vec<&str> = selection.layers.iter().map(|layer| layer.action.as_str()).collect();
    assert_eq!(actions, ["kept", "rewritten", "kept"]);
    // The files that stand over files of the base stay, and so does what they hide.
    assert_eq!(selection.base_bytes, 10 + 5 + 3 + 12 + 7);
    assert_eq!(selection.after.content_bytes, 10 + 5 + 3 + 7 + 12 + 1);
    let removed: Vec<String> = selection.removed(&analysis).map(|one| one.path).collect();
    assert_eq!(removed, ["/d/app", "/more"]);
    assert!(
        selection.warnings.iter().any(|text| text.contains("would otherwise go")),
        "{:?}",
        selection.warnings
    );
}

#[test]
fn two_runs_are_equal_and_zstd_is_smaller_than_nothing() {
    let body: Vec<u8> = (0..700_000_u64).flat_map(|n| (n * n % 997).to_string().into_bytes()).collect();
    let source = image([vec![file("big", body), sized("gone", 10)]]);
    for encoding in [Encoding::Gzip(6), Encoding::Zstd(3)] {
        let with = SlimOptions { encoding, ..options() };
        let (one, two) = (slimmed(&source, &["/gone"], &with), slimmed(&source, &["/gone"], &with));
        assert_eq!(one.written.manifest_digest, two.written.manifest_digest);
        assert!(one.blobs == two.blobs);
        let name = encoding.compression().as_str();
        assert!(one.manifest["layers"][0]["mediaType"].as_str().unwrap().ends_with(name));
        assert!(one.blobs[0].len() as u64 <= source.layers[0].size * 102 / 100);
    }
}

#[test]
fn manifests_of_docker_become_those_of_oci_in_a_layout_and_annotations_of_tables_go() {
    let mut layer = Layer::new(&tar([sized("a", 10), sized("b", 10)]), Packing::Gzip);
    layer.media_type = "application/vnd.docker.image.rootfs.diff.tar.gzip".into();
    layer.annotations = vec![
        ("containerd.io/snapshot/stargz/toc.digest".into(), format!("sha256:{}", "0".repeat(64))),
        ("kept".into(), "yes".into()),
    ];
    let source = Image::new(Packing::Gzip).with_docker_types().add("RUN x", layer);
    let out = slimmed(&source, &["/a"], &options());
    assert_eq!(out.manifest["layers"][0]["annotations"], serde_json::json!({"kept": "yes"}));
    // Readers of layouts accept no others: "no descriptor found for reference".
    for (encoding, end) in [(Encoding::Gzip(6), "v1.tar+gzip"), (Encoding::Zstd(3), "v1.tar+zstd")] {
        let out = slimmed(&source, &["/a"], &SlimOptions { encoding, ..options() });
        assert_eq!(out.manifest["mediaType"], "application/vnd.oci.image.manifest.v1+json");
        assert_eq!(out.manifest["config"]["mediaType"], "application/vnd.oci.image.config.v1+json");
        assert!(out.manifest["layers"][0]["mediaType"].as_str().unwrap().ends_with(end));
    }
}

#[test]
fn what_is_hostile_stays_as_it_was() {
    let odd = [
        file("../../etc/passwd", "out"),
        file("/absolute", "in"),
        file("twice", "first"),
        file("twice", "second"),
        hardlink("dangling", "nowhere"),
        Sparse { size: 4 << 40, parts: vec![(0, vec![b'x'; 512])] }.old_gnu("terabytes"),
    ];
    let mut all = odd.to_vec();
    all.push(sized("gone", 10));
    let out = slimmed(&image([all]), &["/gone"], &options());
    assert!(out.tars[0] == tar(odd));
}

#[test]
fn layers_that_cannot_be_read_are_refused() {
    let place = Place::new();
    let mut source = image([vec![sized("a", 10)], vec![sized("b", 10), sized("c", 1)]]);
    source.layers[1].stored = false;
    let reference = format!("oci:{}", place.put_layout("source", &Layout::of(&source, "t")));
    match slim(&place, &reference, &["/a"], &options(), "out") {
        Err(SlimError::Refused { object, .. }) => assert!(object.starts_with("layer 1 ("), "{object}"),
        other => panic!("{:?}", other.map(|_| ())),
    }
    assert!(!std::path::Path::new(&place.path("out")).exists());
}

#[test]
fn every_source_gives_the_same_layers() {
    let source = image([
        vec![dir("d"), sized("d/a", 5000), sized("d/b", 10)],
        vec![sized("keep", 10)],
        vec![whiteout("d/b"), sized("e", 3), hardlink("f", "e")],
    ]);
    let place = Place::new();
    let layout = Layout::of(&source, "t");
    let classic = tar(crate::fixtures::docker::save_classic(&[(&source, &["x:1"])]));
    let modern = tar(crate::fixtures::docker::save_modern(&[(&source, &["x:1"])]));
    let sources = [
        format!("oci:{}", place.put_layout("layout", &layout)),
        format!("oci-archive:{}", place.put("plain.tar", layout.archive())),
        format!(
            "oci-archive:{}",
            place.put("layout.tar.gz", crate::fixtures::packing::gzip(&layout.archive()))
        ),
        format!("docker-archive:{}", place.put("classic.tar", &classic)),
        format!("docker-archive:{}", place.put("classic.tar.gz", crate::fixtures::packing::gzip(&classic))),
        format!("docker-archive:{}", place.put("modern.tar.zst", crate::fixtures::packing::zstd(&modern))),
    ];
    for with in [options(), SlimOptions { squash_from: Some(1), ..options() }] {
        let mut diff_ids = Vec::new();
        for (number, reference) in sources.iter().enumerate() {
            let name = format!("out{number}{:?}", with.squash_from);
            let (_, written) = slim(&place, reference, &["/d/a"], &with, &name).unwrap();
            let ids: Vec<Option<String>> = written
                .layers
                .iter()
                .map(|layer| layer.as_ref().map(|layer| layer.diff_id.to_string()))
                .collect();
            diff_ids.push(ids);
        }
        assert!(diff_ids.iter().all(|ids| *ids == diff_ids[0]), "{diff_ids:#?}");
    }
}

#[test]
fn a_folder_becomes_an_image() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let place = Place::new();
    place.put("root/etc/os-release", "ID=test\n");
    place.put("root/usr/bin/tool", vec![b'x'; 100_000]);
    place.put("root/usr/lib/gone.a", "gone");
    place.put("root/bin/x", "");
    symlink("usr/bin/tool", place.path("root/tool")).unwrap();
    std::fs::hard_link(place.path("root/usr/bin/tool"), place.path("root/bin/tool")).unwrap();
    std::fs::set_permissions(place.path("root/usr/bin/tool"), std::fs::Permissions::from_mode(0o4755))
        .unwrap();
    let reference = format!("rootfs:{}", place.path("root"));
    let (selection, written) = slim(&place, &reference, &["/usr/lib/gone.a"], &options(), "out").unwrap();
    let (_, again) = slim(&place, &reference, &["/usr/lib/gone.a"], &options(), "again").unwrap();
    assert_eq!(written.manifest_digest, again.manifest_digest);
    let out = bench::read(&place, selection, written);
    let names = out.names(0);
    assert!(
        names.contains(&"usr/lib/".to_owned()) && !names.iter().any(|name| name.contains("gone")),
        "{names:?}"
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 160, failure_persistence: None, max_shrink_iters: 300, ..ProptestConfig::default() })]

    /// The image itself compares every written one with the prediction; here it must also agree to write it.
    #[test]
    fn any_image_without_any_files_is_as_predicted(
        layers in vec(vec(step(), 0..10), 1..5),
        choice in vec(any::<u8>(), 64),
        squash in proptest::option::of(0_usize..4),
    ) {
        let tars = layers.iter().map(|steps: &Vec<Step>| tar(steps.iter().map(Step::member)));
        let place = Place::new();
        let layout = Layout::of(&Image::of(Packing::Gzip, tars), "t");
        let reference = format!("oci:{}", place.put_layout("source", &layout));
        let analysis = open(&reference);
        let rootfs = &analysis.merge.as_ref().unwrap().rootfs;
        let files: Vec<String> = rootfs
            .nodes()
            .filter(|node| node.kind() == cutaway::rootfs::NodeKind::File)
            .map(|node| String::from_utf8(node.path()).unwrap())
            .collect();
        let chosen: Vec<&str> =
            files.iter().enumerate().filter(|(place, _)| choice[place % 64] < 80).map(|(_, path)| path.as_str()).collect();
        let with = SlimOptions { squash_from: squash, ..options() };
        match slim(&place, &reference, &chosen, &with, "out") {
            Ok((selection, written)) => {
                assert_eq!(selection.after.merged_bytes, written.after.merged_bytes);
            }
            // Refused is as good as written where one layer says of a path both that it is a folder and that it is none.
            Err(SlimError::Refused { .. }) if layers.iter().any(|steps| contradicts_itself(steps)) => {}
            // Known: a second name of a symbolic link whose first name is another entry in the squashed layer.
            Err(SlimError::Refused { .. })
                if squash.is_some() && layers.iter().any(|steps| links_a_symlink(steps)) => {}
            Err(error) => panic!("{error}"),
        }
    }
}

/// Whether a layer has a hard link whose target it has as a symbolic link.
fn links_a_symlink(steps: &[Step]) -> bool {
    let is_symlink =
        |target: &[u8]| steps.iter().any(|step| matches!(step, Step::Symlink(path) if path == target));
    steps.iter().any(|step| matches!(step, Step::HardLink(_, target) if is_symlink(target)))
}

/// Whether a layer has a path as a folder, or as the parent of another, and also as something else.
fn contradicts_itself(steps: &[Step]) -> bool {
    let mut folders: Vec<&[u8]> = Vec::new();
    let mut others: Vec<&[u8]> = Vec::new();
    for step in steps {
        let path = match step {
            Step::Dir(path) => {
                folders.push(path);
                path
            }
            Step::File(path, _) | Step::Symlink(path) | Step::HardLink(path, _) => {
                others.push(path);
                path
            }
            Step::Whiteout(path) | Step::Opaque(path) => path,
        };
        folders.extend((0..path.len()).map(|length| &path[..length]));
    }
    others.iter().any(|path| folders.contains(path))
}
