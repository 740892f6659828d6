//! Libraries: needed, opened, found elsewhere.

use serde_json::json;

use super::elf::elf;
use super::scene::{Scene, What, library, program, text};
use super::{faults, unproven};
use crate::rewrite::Applicability;

fn service() -> serde_json::Value {
    json!({"Entrypoint": ["/opt/app/serve"]})
}

#[test]
fn a_draft_that_keeps_all_is_safe() {
    let scene = Scene::new(
        &json!({"Cmd": ["/opt/app/serve"], "Env": ["PATH=/usr/bin"], "WorkingDir": "/opt/app"}),
        &[&[
            ("opt/app/serve", program(&["libc.so.6", "libx.so.1"], None)),
            ("usr/lib/libx.so.1", library("libx.so.1", &["libc.so.6"])),
        ]],
    );
    let proven = scene.without(&[]);
    assert_eq!(proven.closure.unproven, [""; 0]);
    assert_eq!(proven.closure.faults, [""; 0]);
    assert!(proven.closure.resolved && proven.closure.dlopen_known);
    assert_eq!(proven.applicability, Applicability::Safe);
    assert!(proven.removed.is_empty());
    // libc.so.6 opens seven names and needs one.
    assert_eq!((proven.closure.objects, proven.saved_bytes), (4, 0));
    assert!(proven.closure.links >= 4);
}

#[test]
fn a_library_that_is_left_out_is_a_fault() {
    let scene = Scene::new(
        &service(),
        &[&[
            ("opt/app/serve", program(&["libx.so.1"], None)),
            ("usr/lib/libx.so.1", library("libx.so.1", &[])),
        ]],
    );
    let proven = scene.without(&[(1, "usr/lib/libx.so.1")]);
    faults(&proven, &["/opt/app/serve", "libx.so.1", "/usr/lib/libx.so.1 is left out"]);
    assert_eq!(proven.removed.len(), 1);
}

#[test]
fn the_plan_is_named_when_it_takes_a_library() {
    let mut scene = Scene::new(
        &service(),
        &[&[
            ("opt/app/serve", program(&["libx.so.1"], None)),
            ("usr/lib/libx.so.1", library("libx.so.1", &[])),
        ]],
    );
    scene.find(crate::findings::Verdict::Safe, true, &[(1, "usr/lib/libx.so.1")]);
    faults(&scene.without(&[(1, "usr/lib/libx.so.1")]), &["libx.so.1", "removed by the plan"]);
}

#[test]
fn a_link_for_a_soname_that_is_left_out_is_a_fault() {
    let scene = Scene::new(
        &service(),
        &[&[
            ("opt/app/serve", program(&["libx.so.1"], Some("/opt/app/lib"))),
            ("opt/app/lib/libx.so.1.2", library("libx.so.1", &[])),
            ("opt/app/lib/libx.so.1", What::Link("libx.so.1.2")),
        ]],
    );
    faults(
        &scene.without(&[(1, "opt/app/lib/libx.so.1")]),
        &["/opt/app/serve needs libx.so.1", "/opt/app/lib/libx.so.1.2 exists, but no link"],
    );
}

#[test]
fn ldconfig_makes_links_in_its_own_folders() {
    let scene = Scene::new(
        &service(),
        &[&[
            ("opt/app/serve", program(&["libx.so.1"], None)),
            ("usr/lib/libx.so.1.2", library("libx.so.1", &[])),
            ("usr/lib/libx.so.1", What::Link("libx.so.1.2")),
        ]],
    );
    assert!(scene.without(&[(1, "usr/lib/libx.so.1")]).closure.resolved);
}

#[test]
fn a_part_of_cudnn_that_is_opened_must_be_there() {
    let parts =
        ["graph", "ops", "cnn", "adv", "engines_precompiled", "engines_runtime_compiled", "heuristic"];
    let names: Vec<String> = parts.iter().map(|part| format!("libcudnn_{part}.so.9")).collect();
    let paths: Vec<String> = names.iter().map(|name| format!("usr/lib/{name}")).collect();
    let mut layer = vec![
        ("opt/app/serve", program(&["libcudnn.so.9"], None)),
        ("usr/lib/libcudnn.so.9", library("libcudnn.so.9", &[])),
    ];
    layer.extend(paths.iter().zip(&names).map(|(path, name)| (path.as_str(), library(name, &[]))));
    let scene = Scene::new(&service(), &[&layer]);
    assert!(scene.without(&[]).closure.resolved);
    faults(
        &scene.without(&[(1, "usr/lib/libcudnn_ops.so.9")]),
        &["opens libcudnn_ops.so.9 at run time", "/usr/lib/libcudnn_ops.so.9 is left out"],
    );
}

#[test]
fn what_an_opener_does_without_is_no_fault() {
    let scene = Scene::new(
        &service(),
        &[&[
            ("opt/app/serve", program(&["libc.so.6"], None)),
            ("usr/lib/libgcc_s.so.1", library("libgcc_s.so.1", &[])),
        ]],
    );
    unproven(
        &scene.without(&[(1, "usr/lib/libgcc_s.so.1")]),
        &["/lib/libc.so.6 opens libgcc_s.so.1", "optional"],
    );
}

#[test]
fn a_folder_of_the_loader_that_is_not_searched_any_more() {
    let scene = Scene::new(
        &service(),
        &[&[
            ("opt/app/serve", program(&["libx.so.1"], None)),
            ("opt/x/libx.so.1", library("libx.so.1", &[])),
            ("etc/ld.so.conf", text("/opt/x\n")),
        ]],
    );
    assert!(scene.without(&[]).closure.resolved);
    faults(
        &scene.without(&[(1, "etc/ld.so.conf")]),
        &["libx.so.1", "/opt/x/libx.so.1 exists, but no link or search folder"],
    );
}

#[test]
fn another_search_path_of_the_environment() {
    let config = json!({"Entrypoint": ["/opt/app/serve"], "Env": ["LD_LIBRARY_PATH=/opt/x"]});
    let layer = [
        ("opt/app/serve", program(&["libx.so.1"], None)),
        ("opt/x/libx.so.1", library("libx.so.1", &[])),
        ("opt/y/libx.so.1", What::File(elf(Some("libx.so.1"), &[], Some("/other"), None))),
    ];
    let scene = Scene::new(&config, &[&layer]);
    let mut draft = scene.draft(&[]);
    draft.environment.clear();
    faults(&scene.prove(&draft), &["/opt/app/serve needs libx.so.1"]);
    draft.environment.push("LD_LIBRARY_PATH=/opt/y:/opt/x".to_owned());
    let proven = scene.prove(&draft);
    unproven(&proven, &["/opt/app/serve resolves libx.so.1 to /opt/y/libx.so.1 instead of /opt/x/libx.so.1"]);
    unproven(&proven, &["changed: LD_LIBRARY_PATH"]);
}

#[test]
fn a_library_of_the_same_content_elsewhere_is_as_good() {
    let layer = [
        ("opt/app/serve", program(&["libx.so.1"], Some("/opt/x:/opt/y"))),
        ("opt/x/libx.so.1", library("libx.so.1", &[])),
        ("opt/y/libx.so.1", library("libx.so.1", &[])),
        ("opt/z/libx.so.1", library("libx.so.1", &["libc.so.6"])),
    ];
    let scene = Scene::new(&service(), &[&layer]);
    let proven = scene.without(&[(1, "opt/x/libx.so.1")]);
    assert!(
        proven.closure.resolved && !proven.closure.unproven.iter().any(|text| text.contains("instead of"))
    );
}

#[test]
fn a_file_that_comes_back_must_find_what_it_needs() {
    let layers: [&[_]; 2] = [
        &[
            ("opt/app/serve", program(&[], None)),
            ("usr/lib/libold.so.1", library("libold.so.1", &["libgone.so.3"])),
        ],
        &[("usr/lib/.wh.libold.so.1", text(""))],
    ];
    let scene = Scene::new(&service(), &layers);
    assert_eq!(scene.without(&[]).closure.faults, [""; 0]);
    // A whiteout is named after what it deletes.
    let index = scene.merge.rootfs.layer(2);
    assert_eq!(index.len(), 1);
    let mut draft = scene.draft(&[]);
    draft.selection.set(2, crate::layer::EntryId(0), false);
    let proven = scene.prove(&draft);
    faults(&proven, &["/usr/lib/libold.so.1 needs libgone.so.3"]);
    assert!(proven.closure.unproven.iter().any(|text| text.contains("reappear: /usr/lib/libold.so.1")));
}

#[test]
fn what_was_missing_before_is_no_fault_and_told_once() {
    let scene = Scene::new(
        &service(),
        &[&[
            ("opt/app/serve", program(&["libgone.so.3"], None)),
            ("opt/app/other", program(&["libgone.so.3"], None)),
        ]],
    );
    let proven = scene.without(&[]);
    unproven(
        &proven,
        &[
            "libgone.so.3, needed by /opt/app/other, is already missing in the current image (and 1 more like it)",
        ],
    );
    assert_eq!(proven.closure.unproven.len(), 1);
}

#[test]
fn a_driver_of_the_host_is_found() {
    let scene = Scene::new(
        &service(),
        &[&[
            ("opt/app/serve", program(&["libcuda.so.1"], None)),
            ("usr/lib/libcuda.so.1", library("libcuda.so.1", &[])),
        ]],
    );
    unproven(
        &scene.without(&[(1, "usr/lib/libcuda.so.1")]),
        &[
            "/opt/app/serve resolved libcuda.so.1 to /usr/lib/libcuda.so.1, and now only to the host's library",
        ],
    );
}

#[test]
fn programs_need_their_loader() {
    let scene = Scene::new(&service(), &[&[("opt/app/serve", program(&[], None))]]);
    let proven = scene.without(&[(0, "lib64/ld-linux-x86-64.so.2")]);
    assert!(
        proven.closure.faults.iter().any(|text| text.contains(
            "/opt/app/serve cannot start: its interpreter /lib64/ld-linux-x86-64.so.2 is left out"
        )),
        "{:#?}",
        proven.closure
    );
}

#[test]
fn preloaded_libraries_are_asked_for() {
    let config = json!({"Entrypoint": ["/opt/app/serve"], "Env": ["LD_PRELOAD=libjemalloc.so.2"]});
    let layer = [
        ("opt/app/serve", program(&[], None)),
        ("usr/lib/libjemalloc.so.2", library("libjemalloc.so.2", &[])),
    ];
    let scene = Scene::new(&config, &[&layer]);
    assert!(scene.without(&[]).closure.unproven.is_empty());
    faults(&scene.without(&[(1, "usr/lib/libjemalloc.so.2")]), &["LD_PRELOAD contains libjemalloc.so.2"]);
    let mut draft = scene.draft(&[]);
    draft.environment.clear();
    unproven(&scene.prove(&draft), &["no longer set: LD_PRELOAD"]);
}
