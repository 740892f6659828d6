//! Sizes, removed files, and images that are not fully known.

use serde_json::json;

use super::super::notes::Sentences;
use super::faults;
use super::scene::{Scene, What, program, text};
use super::unproven;
use crate::findings::{Category, Verdict};
use crate::rewrite::Applicability;

#[test]
fn bytes_are_those_of_what_is_kept() {
    let layers: [&[_]; 2] = [
        &[("srv/large", text("123456789")), ("srv/old", text("12")), ("opt/serve", program(&[], None))],
        &[("srv/old", text("1234")), ("srv/second", What::Second("srv/large")), ("srv/small", text("1"))],
    ];
    let mut scene = Scene::new(&json!({"Entrypoint": ["/opt/serve"]}), &layers);
    scene.find(Verdict::Safe, true, &[(1, "srv/large")]);
    let all = scene.without(&[]);
    let proven = scene.without(&[(1, "srv/large"), (2, "srv/second"), (2, "srv/old"), (2, "srv/small")]);
    assert_eq!(all.saved_bytes, 0);
    assert_eq!(all.merged_bytes + 2, all.content_bytes);
    assert_eq!(proven.saved_bytes, 9 + 4 + 1);
    assert_eq!(proven.content_bytes, all.content_bytes - 14);
    assert_eq!(proven.merged_bytes, proven.content_bytes);
    let removed: Vec<_> =
        proven.removed.iter().map(|one| (one.path.as_str(), one.bytes, one.category)).collect();
    let wanted =
        [("/srv/large", 9, Some(Category::Compilers)), ("/srv/old", 4, None), ("/srv/small", 1, None)];
    assert_eq!(removed, wanted);
    // The lower layer's file reappears.
    assert!(
        proven
            .closure
            .unproven
            .iter()
            .any(|text| text.contains("lower layer's version") && text.contains("/srv/old"))
    );
}

#[test]
fn what_could_not_be_read_is_not_proven() {
    let scene = Scene::without_top(&json!({"Entrypoint": ["/serve"]}), &[("serve", program(&[], None))]);
    let proven = scene.without(&[]);
    assert!(!proven.closure.dlopen_known);
    unproven(&proven, &["parts of the image could not be read"]);
}

#[test]
fn an_image_without_programs() {
    let scene = Scene::of(&json!({}), Vec::new());
    let proven = scene.without(&[]);
    unproven(&proven, &["no program and no library"]);
    assert_eq!((proven.closure.objects, proven.closure.links), (0, 0));
    let scene = Scene::new(&json!({"Entrypoint": ["/serve"]}), &[&[("serve", program(&[], None))]]);
    let out = [(0, "lib64/ld-linux-x86-64.so.2"), (0, "lib/libc.so.6"), (1, "serve")];
    faults(&scene.without(&out), &["the command runs /serve"]);
}

#[test]
fn what_the_draft_takes_to_be_true_is_told() {
    let scene = Scene::new(&json!({"Entrypoint": ["/serve"]}), &[&[("serve", program(&[], None))]]);
    let mut draft = scene.draft(&[]);
    draft.assumed.push("apt installs the same versions".to_owned());
    let proven = scene.prove(&draft);
    assert_eq!(proven.closure.unproven, ["apt installs the same versions"]);
    assert_eq!(proven.applicability, Applicability::Review);
    draft.manual_steps.push("write the file".to_owned());
    let proven = scene.prove(&draft);
    assert_eq!(proven.closure.unproven, ["write the file", "apt installs the same versions"]);
    assert_eq!(proven.applicability, Applicability::Manual);
    assert!(proven.closure.resolved);
}

#[test]
fn sentences_are_bounded() {
    let mut sentences = Sentences::default();
    for number in 0..300 {
        sentences.add(format!("sentence {number}"));
        sentences.say("same", || "the same".to_owned());
    }
    let list = sentences.finish();
    assert_eq!(list.len(), 201);
    assert_eq!(list[1], "the same (and 299 more like it)");
    assert_eq!(list[200], "and 101 more");
}
