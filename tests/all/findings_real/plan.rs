//! The plan: what is left when the files of all safe findings are never put in is what was predicted.

use std::collections::BTreeSet;

use super::scene::{Judged, LIB, PYTHON, compilers, image, program, script, static_library, system, toolkit};
use crate::fixtures::tarball::{Member, hardlink, whiteout};

/// The files of the findings that are in the plan.
fn planned(judged: &Judged) -> BTreeSet<String> {
    let json = &judged.report.json;
    let ids = json["plan"]["findings"].as_array().unwrap();
    (judged.findings().iter())
        .filter(|finding| ids.contains(&finding["id"]))
        .flat_map(|finding| finding["paths"].as_array().unwrap())
        .map(|path| path.as_str().unwrap().to_owned())
        .collect()
}

/// The layers without the files at these paths, their links to them and what hides them.
fn without(layers: &[Vec<Member>], paths: &BTreeSet<String>) -> Vec<Vec<Member>> {
    let gone = |name: &[u8]| {
        let name = format!("/{}", String::from_utf8_lossy(name)).replace("/.wh.", "/");
        paths.contains(&name)
    };
    let stays = |member: &&Member| match member.kind {
        b'0' => !gone(&member.name),
        b'1' => !gone(&member.name) && !gone(&member.link),
        _ => true,
    };
    layers.iter().map(|members| members.iter().filter(stays).cloned().collect()).collect()
}

fn layers() -> Vec<Vec<Member>> {
    vec![
        [system(), compilers()].concat(),
        [toolkit(), vec![static_library(&format!("{LIB}/libcufft_static.a"), 6_000)]].concat(),
        vec![
            whiteout(&format!("{LIB}/libcufft_static.a")),
            program("srv/app/bin/serve", &["libcublas.so.12", "libcudart.so.12"]),
            script("srv/app/start.sh", "#!/bin/sh\nexec /srv/app/bin/serve\n"),
        ],
    ]
}

/// Builds the image again without the planned files, which must come out as predicted.
fn carry_out(layers: &[Vec<Member>]) {
    let command = ["/srv/app/bin/serve"];
    let before = Judged::of(&image(layers, &command, &[]));
    let paths = planned(&before);
    let after = Judged::of(&image(&without(layers, &paths), &command, &[]));
    let predicted = &before.report.json["plan"]["merged_bytes_after"];
    assert_eq!(*predicted, after.report.total("merged_bytes"), "{paths:#?}");
    assert!(after.report.total("merged_bytes") < before.report.total("merged_bytes"));
    // What was safe to leave out leaves nothing that is missing, and nothing more of the same kind.
    assert_eq!(after.report.json["cuda"]["unresolved"], before.report.json["cuda"]["unresolved"]);
    assert_eq!(planned(&after), BTreeSet::new());
}

#[test]
fn carrying_the_plan_out_gives_the_bytes_that_were_predicted() {
    carry_out(&layers());
}

#[test]
fn carrying_the_plan_out_takes_all_names_of_a_file() {
    let mut layers = layers();
    layers[2].insert(0, hardlink(format!("{LIB}/libcublas_again.a"), format!("{LIB}/libcublas_static.a")));
    carry_out(&layers);
}

#[test]
fn the_plan_is_what_is_safe() {
    let judged = Judged::of(&image(&layers(), &[PYTHON], &[]));
    let safe: Vec<&str> = (judged.findings().iter())
        .filter(|finding| finding["verdict"] == "safe" && finding["bytes"] != 0)
        .map(|finding| finding["id"].as_str().unwrap())
        .collect();
    let ids = judged.report.json["plan"]["findings"].as_array().unwrap();
    assert_eq!(ids.iter().map(|id| id.as_str().unwrap()).collect::<Vec<_>>(), safe);
    assert!(!safe.is_empty());
}
