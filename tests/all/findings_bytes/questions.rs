//! Questions about the same readers: a no to one answers those about fewer readers, too.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{items, service};
use crate::fixtures::elf::Elf;
use crate::fixtures::image::{Image, Layer};
use crate::fixtures::layout::Layout;
use crate::fixtures::packing::Packing;
use crate::fixtures::service::debs;
use crate::fixtures::tarball::{file, tar};
use crate::support::Place;

/// An image with a compiler and make. One script calls the compiler, another one make, which may call both.
fn image(place: &Place) -> String {
    let gcc: &[(&str, Vec<u8>)] =
        &[("usr/lib/gcc/x86_64-linux-gnu/13/cc1plus", Elf::program("cc1plus").build())];
    let make: &[(&str, Vec<u8>)] = &[("usr/bin/make", Elf::program("make").build())];
    let scripts = vec![
        file("srv/compile.sh", "#!/bin/sh\ngcc -o a a.c\n").mode(0o755),
        file("srv/build.sh", "#!/bin/sh\nmake all\n").mode(0o755),
    ];
    let members = [service(&[]), debs(&[("g++-13", "13.2", gcc), ("make", "4.3", make)]), scripts].concat();
    let mut image =
        Image::new(Packing::Gzip).add("RUN install # buildkit", Layer::new(&tar(members), Packing::Gzip));
    image.config = serde_json::json!({"Cmd": ["/srv/service"]});
    format!("oci:{}", place.put_layout("image", &Layout::of(&image, "t")))
}

/// Answers of the plan, and open questions with the finding that they are answered with.
fn asked(place: &Place, image: &str, options: &[&str]) -> (Vec<String>, Vec<String>) {
    let outcome = place.run(&[&["dockerfile", image, "--format", "json"], options].concat());
    let found: Value = serde_json::from_str(&outcome.stdout).unwrap();
    crate::schema::fits("dockerfile", &found);
    let text = |one: &Value, key: &str| one[key].as_str().unwrap_or("-").to_owned();
    let lines = |list: &Value, key: &str| {
        let lines = items(list).iter().map(|one| format!("{} {}", text(one, "finding"), text(one, key)));
        let lines: BTreeSet<String> = lines.collect();
        lines.into_iter().collect()
    };
    (lines(&found["plan"]["answers"], "answer"), lines(&found["questions"], "answered_with"))
}

#[test]
fn a_no_answers_all_questions_about_the_same_readers() {
    let place = Place::new();
    let image = image(&place);
    let lines = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>();
    let (compilers, tools) = ("compilers:unsure", "build-tools:unsure");
    let open = lines(&[&format!("{tools} {compilers}"), &format!("{compilers} -")]);
    assert_eq!(asked(&place, &image, &[]), (lines(&[]), open));

    let no = |id: &str| format!("{id}=no");
    let both = lines(&[&format!("{tools} no"), &format!("{compilers} no")]);
    assert_eq!(asked(&place, &image, &["--answer", &no(compilers)]), (both, lines(&[])));
    // The compiler has another reader.
    let one = (lines(&[&format!("{tools} no")]), lines(&[&format!("{compilers} -")]));
    assert_eq!(asked(&place, &image, &["--answer", &no(tools)]), one);
    // What is asked for by name is that alone.
    let one = (lines(&[&format!("{compilers} no")]), lines(&[&format!("{tools} -")]));
    assert_eq!(asked(&place, &image, &["--remove", compilers]), one);
    // Its own answer comes first, and a yes answers nothing else.
    let own = ["--answer", &no(compilers), "--answer", &format!("{tools}=yes")];
    let answers = lines(&[&format!("{tools} yes"), &format!("{compilers} no")]);
    assert_eq!(asked(&place, &image, &own), (answers, lines(&[])));
    assert_eq!(asked(&place, &image, &["--keep", tools, "--answer", &no(compilers)]).1, lines(&[]));
    let yes = asked(&place, &image, &["--answer", &format!("{compilers}=yes")]);
    assert_eq!(yes.1, lines(&[&format!("{tools} -")]));
}
