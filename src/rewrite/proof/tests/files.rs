//! Commands, scripts, paths, links, folders.

use serde_json::json;

use super::scene::{Scene, What, library, program, text};
use super::{faults, unproven};

#[test]
fn an_entrypoint_that_is_left_out() {
    let scene = Scene::new(
        &json!({"Entrypoint": ["serve"], "Env": ["PATH=/opt/app"]}),
        &[&[("opt/app/serve", program(&[], None))]],
    );
    faults(&scene.without(&[(1, "opt/app/serve")]), &["the command runs serve (/opt/app/serve)"]);
    let mut draft = scene.draft(&[]);
    draft.environment = vec!["PATH=/usr/bin".to_owned()];
    let proven = scene.prove(&draft);
    faults(&proven, &["runs serve", "not on the search path"]);
}

#[test]
fn an_entrypoint_that_the_draft_drops_is_not_asked_for() {
    let scene = Scene::new(
        &json!({"Entrypoint": ["/opt/nvidia/nvidia_entrypoint.sh"], "Cmd": ["/opt/app/serve"]}),
        &[
            &[
                ("opt/nvidia/nvidia_entrypoint.sh", text("#!/bin/bash\nexec \"$@\"\n")),
                ("bin/bash", program(&[], None)),
            ],
            &[("opt/app/serve", program(&[], None))],
        ],
    );
    let left_out = [(1, "opt/nvidia/nvidia_entrypoint.sh")];
    faults(&scene.without(&left_out), &["/opt/nvidia/nvidia_entrypoint.sh"]);
    let mut draft = scene.draft(&left_out);
    draft.entrypoint = None;
    let proven = scene.prove(&draft);
    assert_eq!(proven.closure.faults, [""; 0]);
    assert!(scene.without(&[]).closure.unproven.is_empty());
}

#[test]
fn the_interpreter_of_a_script_is_followed() {
    let scene = Scene::new(
        &json!({"Entrypoint": ["/opt/app/run"]}),
        &[&[
            ("opt/app/run", text("#!/usr/bin/env python3\n")),
            ("usr/bin/env", program(&[], None)),
            ("usr/bin/python3", What::Link("python3.12")),
            ("usr/bin/python3.12", program(&[], None)),
        ]],
    );
    assert!(scene.without(&[]).closure.resolved);
    for (out, named) in [
        ("usr/bin/python3", "runs python3 (/usr/bin/python3.12): present, but not on the search path"),
        ("usr/bin/python3.12", "runs python3 (/usr/bin/python3.12): not in the new image"),
        ("usr/bin/env", "runs /usr/bin/env"),
    ] {
        faults(&scene.without(&[(1, out)]), &[named]);
    }
}

#[test]
fn scripts_that_the_command_does_not_start_are_told_of() {
    let scene = Scene::new(
        &json!({"Entrypoint": ["/opt/app/serve"]}),
        &[&[
            ("opt/app/serve", program(&[], None)),
            ("usr/bin/perl", program(&[], None)),
            ("usr/bin/tool", text("#!/usr/bin/perl -w\nprint 1;\n")),
        ]],
    );
    unproven(
        &scene.without(&[(1, "usr/bin/perl")]),
        &["1 script with interpreter /usr/bin/perl, which is left out", "/usr/bin/tool"],
    );
}

#[test]
fn what_a_shell_runs_and_names_is_there() {
    let scene = Scene::new(
        &json!({"Cmd": ["/bin/sh", "-c", "exec server --config=/etc/server.yaml data/table.bin"],
                "Env": ["PATH=/usr/bin", "MODEL=/srv/model"], "WorkingDir": "/srv"}),
        &[&[
            ("bin/sh", program(&[], None)),
            ("usr/bin/server", program(&[], None)),
            ("etc/server.yaml", text("a: b")),
            ("srv/data/table.bin", text("1")),
            ("srv/model", text("2")),
        ]],
    );
    for (out, named) in [
        ("usr/bin/server", "the command runs server (/usr/bin/server)"),
        ("etc/server.yaml", "the command names /etc/server.yaml"),
        ("srv/data/table.bin", "the command names /srv/data/table.bin"),
        ("srv/model", "ENV MODEL refers to /srv/model"),
    ] {
        faults(&scene.without(&[(1, out)]), &[named]);
    }
}

#[test]
fn half_of_a_pair_of_hard_links() {
    let scene = Scene::new(
        &json!({"Entrypoint": ["/usr/bin/second"]}),
        &[&[("usr/bin/first", program(&[], None)), ("usr/bin/second", What::Second("usr/bin/first"))]],
    );
    assert!(scene.without(&[]).closure.resolved);
    faults(
        &scene.without(&[(1, "usr/bin/second")]),
        &["runs /usr/bin/second (/usr/bin/second)", "not on the search path"],
    );
    let proven = scene.without(&[(1, "usr/bin/first")]);
    assert!(proven.closure.faults.iter().any(|text| {
        text == "/usr/bin/second is a hard link to usr/bin/first, which is left out: it has no content"
    }));
}

#[test]
fn a_library_that_a_file_of_the_application_names() {
    let layer = [
        ("opt/app/serve", program(&[], None)),
        ("opt/app/plugins.yaml", text("backend: libspecial.so.2\n")),
        ("opt/lib/libspecial.so.2", library("libspecial.so.2", &[])),
    ];
    let mut scene = Scene::new(&json!({"Entrypoint": ["/opt/app/serve"]}), &[&layer]);
    let out = [(1, "opt/lib/libspecial.so.2")];
    faults(
        &scene.without(&out),
        &["/opt/app/plugins.yaml mentions libspecial.so.2", "/opt/lib/libspecial.so.2 is left out"],
    );
    scene.findings.list.clear();
    scene.find(crate::findings::Verdict::Safe, true, &out);
    unproven(&scene.without(&out), &["/opt/app/plugins.yaml mentions libspecial.so.2", "removes", "as safe"]);
}

#[test]
fn what_is_needed_stays_and_is_told_of() {
    let layer = [("opt/app/serve", program(&[], None)), ("opt/cuda/ptxas", program(&[], None))];
    let mut scene = Scene::new(&json!({"Entrypoint": ["/opt/app/serve"]}), &[&layer]);
    scene.find(crate::findings::Verdict::Needed, false, &[(1, "opt/cuda/ptxas")]);
    let proven = scene.without(&[]);
    assert_eq!(proven.kept, ["Compilers: triton 3.5.1 runs ptxas."]);
    let proven = scene.without(&[(1, "opt/cuda/ptxas")]);
    faults(&proven, &["left out but required at run time: 1 file, such as /opt/cuda/ptxas"]);
}

#[test]
fn the_user_is_known_by_name() {
    let config = json!({"Entrypoint": ["/opt/app/serve"], "User": "app"});
    let layers: [&[_]; 2] = [
        &[("etc/passwd", text("root:x:0:0\n")), ("opt/app/serve", program(&[], None))],
        &[("etc/passwd", text("root:x:0:0\napp:x:1:1\n"))],
    ];
    let scene = Scene::new(&config, &layers);
    assert!(scene.without(&[]).closure.unproven.is_empty());
    let mut draft = scene.draft(&[(2, "etc/passwd")]);
    unproven(&scene.prove(&draft), &["user app", "/etc/passwd"]);
    faults(&scene.without(&[(1, "etc/passwd"), (2, "etc/passwd")]), &["user app", "/etc/passwd is left out"]);
    // A sentence that contains the user's name is not a proof.
    draft.assumed.push("nvidia/app:1 is taken to be what this image was built on".to_owned());
    unproven(&scene.prove(&draft), &["user app", "/etc/passwd"]);
}

#[test]
fn folders_for_writing_are_told_of() {
    let layer = [
        ("opt/app/serve", program(&[], None)),
        ("srv/cache", What::Folder(1000, 0o755)),
        ("srv/data", What::Folder(1000, 0o700)),
        ("srv/data/seed", text("1")),
    ];
    let scene = Scene::new(&json!({"Entrypoint": ["/opt/app/serve"]}), &[&layer]);
    let proven = scene.without(&[(1, "srv/cache"), (1, "srv/data")]);
    unproven(&proven, &["folder /srv/data has a different owner or mode", "1000:0", "700"]);
    unproven(&proven, &["empty folder /srv/cache is left out"]);
}

#[test]
fn a_working_folder_and_files_of_nobody() {
    let layer = [("opt/app/serve", program(&[], None)), ("srv/a/x", text("1")), ("srv/a/y", text("2"))];
    let scene = Scene::new(&json!({"Entrypoint": ["/opt/app/serve"], "WorkingDir": "/srv/a"}), &[&layer]);
    let proven = scene.without(&[(1, "srv/a/x"), (1, "srv/a/y")]);
    faults(&proven, &["working directory /srv/a is left out"]);
    let told = "2 files (2 B) not in the new image, in no package and no finding of the plan: /srv (2)";
    assert!(proven.closure.unproven.iter().any(|text| text == told), "{:#?}", proven.closure.unproven);
}

#[test]
fn a_script_for_a_shell_may_start_anything() {
    let layer = [
        ("bin/sh", program(&[], None)),
        ("opt/start.sh", text("#!/bin/sh -e\nexec /opt/serve\n")),
        ("opt/serve", program(&[], None)),
        ("opt/other", program(&[], None)),
    ];
    let mut scene = Scene::new(&json!({"Entrypoint": ["/opt/start.sh"]}), &[&layer]);
    assert!(scene.without(&[]).closure.unproven.is_empty());
    unproven(&scene.without(&[(1, "opt/other")]), &["/opt/start.sh is a shell script"]);
    // Files removed by the plan are covered by its findings.
    scene.find(crate::findings::Verdict::Safe, true, &[(1, "opt/other")]);
    assert!(scene.without(&[(1, "opt/other")]).closure.unproven.is_empty());
}

#[test]
fn a_question_of_the_findings_is_passed_on() {
    let layer =
        [("opt/serve", program(&[], None)), ("opt/tool", program(&[], None)), ("opt/asks", text("tool"))];
    let mut scene = Scene::new(&json!({"Entrypoint": ["/opt/serve"]}), &[&layer]);
    scene.find(crate::findings::Verdict::Unsure, true, &[(1, "opt/tool")]);
    let words = ["not in the new image, needs review: 1 file", "such as /opt/tool"];
    unproven(&scene.without(&[(1, "opt/tool")]), &words);
    // The subject of the question is left out as well.
    let asks = scene.merge.rootfs.first_name(1, scene.entry(1, "opt/asks")).unwrap();
    let last = scene.findings.list.last_mut().unwrap();
    last.users.push(crate::findings::User::File(asks));
    let proven = scene.without(&[(1, "opt/tool"), (1, "opt/asks")]);
    assert!(
        !proven.closure.unproven.iter().any(|text| text.contains("needs review")),
        "{:#?}",
        proven.closure
    );
}

#[test]
fn links_that_are_gone_or_lead_elsewhere_are_told_of() {
    let config = json!({"Entrypoint": ["/opt/app/serve"]});
    let layers: [&[_]; 2] = [
        &[("opt/app/serve", program(&[], None)), ("opt/app/other", program(&[], None))],
        &[("usr/bin/serve", What::Link("/opt/app/serve")), ("usr/bin/lost", What::Link("/nowhere"))],
    ];
    let scene = Scene::new(&config, &layers);
    unproven(
        &scene.without(&[(2, "usr/bin/serve")]),
        &["links are missing or have another target: /usr/bin/serve"],
    );
    assert!(scene.without(&[(2, "usr/bin/lost")]).closure.unproven.is_empty());
}
