//! Libraries that are missing, and those of two majors.

use super::{TRIPLE, joined, library, none, of_rule, only, program, report, service};

#[test]
fn what_the_service_needs_and_nobody_has_is_missing() {
    let image = service(
        vec![library(&format!("{TRIPLE}/libinference.so.1"), "libinference.so.1", &["libcublas.so.13"])],
        &["libinference.so.1"],
        &[],
    );
    let report = report(&image);
    let finding = only(&report, "missing-libraries");
    assert_eq!((&finding["severity"], &finding["verdict"]), (&"high".into(), &"unsure".into()));
    assert_eq!(joined(&finding["subjects"]), "libcublas.so.13");
    let proof = joined(&finding["proof"]);
    assert!(proof.contains(&format!("/{TRIPLE}/libinference.so.1 ← /usr/bin/service")), "{proof}");
    assert!(finding["question"].as_str().unwrap().contains("libcublas.so.13"), "{finding:#}");
}

#[test]
fn other_programs_matter_less() {
    let image = service(vec![program("usr/bin/other", &["libmissing.so.1"])], &[], &[]);
    assert_eq!(only(&report(&image), "missing-libraries")["severity"], "low");
}

#[test]
fn the_hosts_libraries_and_unused_ones_are_not_missing() {
    let unused = library("opt/left/libleft.so.1", "libleft.so.1", &["libnothing.so.1"]);
    let cudart = library(&format!("{TRIPLE}/libcudart.so.13"), "libcudart.so.13", &[]);
    let report = report(&service(vec![unused, cudart], &["libcuda.so.1", "libcudart.so.13"], &[]));
    let found = of_rule(&report, "missing-libraries");
    assert!(found.iter().all(|finding| finding["severity"] != "high"), "{found:#?}");
    assert!(!format!("{found:?}").contains("libcuda.so.1"), "{found:#?}");
}

#[test]
fn two_majors_in_one_process_are_found() {
    let report = report(&service(
        vec![
            library(&format!("{TRIPLE}/libone.so.1"), "libone.so.1", &["libcudart.so.12"]),
            library(&format!("{TRIPLE}/libcudart.so.12"), "libcudart.so.12", &[]),
            library(&format!("{TRIPLE}/libcudart.so.13"), "libcudart.so.13", &[]),
        ],
        &["libone.so.1", "libcudart.so.13"],
        &[],
    ));
    let finding = only(&report, "mixed-majors");
    assert_eq!(finding["severity"], "high");
    assert_eq!(finding["title"], "cudart 12 and 13 in one process");
    let proof = joined(&finding["proof"]);
    let way = format!("cudart 12: /{TRIPLE}/libcudart.so.12 ← /{TRIPLE}/libone.so.1 ← /usr/bin/service");
    assert!(proof.contains(&way), "{proof}");
    assert!(proof.contains(&format!("cudart 13: /{TRIPLE}/libcudart.so.13 ← /usr/bin/service")), "{proof}");
}

#[test]
fn two_majors_for_two_programs_are_a_note() {
    let members = vec![
        program("usr/bin/other", &["libcudart.so.12"]),
        library(&format!("{TRIPLE}/libcudart.so.12"), "libcudart.so.12", &[]),
        library(&format!("{TRIPLE}/libcudart.so.13"), "libcudart.so.13", &[]),
    ];
    let finding_of = |members| report(&service(members, &["libcudart.so.13"], &[]));
    assert_eq!(only(&finding_of(members.clone()), "mixed-majors")["severity"], "info");
    none(&finding_of(members[2..].to_vec()), "mixed-majors");
    // A copy that nothing loads is a duplicate, and no danger.
    none(&finding_of(members[1..].to_vec()), "mixed-majors");
}
