//! `cutaway cache`, and the switches that do without it.

use std::fs;
use std::path::Path;

use cutaway::cache::{Cache, Key};

use crate::support::{Outcome, Place};

/// A place whose cache has three records of some 1000 bytes, and something of somebody else.
fn filled() -> (Place, u64) {
    let place = Place::new();
    let cache = Cache::new(place.cache(), 1 << 20);
    for name in ["a", "b", "c"] {
        cache.put(&Key::new(name.to_owned()), &[0; 1000]);
    }
    assert_eq!(cache.take_notes(), [""; 0]);
    fs::create_dir(place.cache().join("wheels")).unwrap();
    let bytes = cache.usage().unwrap().bytes;
    (place, bytes)
}

fn told(outcome: &Outcome) -> &str {
    assert_eq!((outcome.code, outcome.stderr.as_str()), (0, ""), "{outcome:?}");
    &outcome.stdout
}

#[test]
fn the_folder_is_the_one_of_the_environment_else_of_the_desktop() {
    let place = Place::new();
    let usual = format!("{}\n", place.cache().display());
    let cases = [
        (vec![], usual.clone()),
        (vec![("CUTAWAY_CACHE_DIR", "/some/where")], "/some/where\n".to_owned()),
        (vec![("CUTAWAY_CACHE_DIR", "")], usual),
        (
            vec![("XDG_CACHE_HOME", "not/absolute"), ("HOME", "/home/of")],
            "/home/of/.cache/cutaway\n".to_owned(),
        ),
        (vec![("XDG_CACHE_HOME", ""), ("HOME", "/home/of")], "/home/of/.cache/cutaway\n".to_owned()),
    ];
    for (environment, expected) in cases {
        assert_eq!(told(&place.run_with(&environment, &["cache", "dir"])), expected, "{environment:?}");
    }
    let relative = place.run_with(&[("CUTAWAY_CACHE_DIR", "here")], &["cache", "dir"]);
    assert_eq!((relative.code, relative.stdout.as_str()), (2, ""));
    assert!(relative.stderr.contains("CUTAWAY_CACHE_DIR is \"here\""), "{}", relative.stderr);
    let homeless = place.run_with(&[("XDG_CACHE_HOME", ""), ("HOME", "nowhere")], &["cache", "size"]);
    assert!(homeless.code == 2 && homeless.stderr.contains("no home folder"), "{}", homeless.stderr);
    assert!(!place.cache().exists(), "asking makes no folder");
}

#[test]
fn the_size_is_told_to_the_byte_beside_the_limit() {
    let empty = Place::new();
    assert_eq!(
        told(&empty.run(&["cache", "size"])),
        "0 entries (0 B), limit 2.00 GiB (2,147,483,648 bytes)\n"
    );
    let (place, bytes) = filled();
    assert_eq!(bytes, 3 * 1061);
    let expected = "3 entries (3.11 KiB, 3,183 bytes), limit 488 KiB (500,000 bytes)\n";
    assert_eq!(told(&place.run_with(&[("CUTAWAY_CACHE_SIZE", "500kB")], &["cache", "size"])), expected);
    let wrong = place.run_with(&[("CUTAWAY_CACHE_SIZE", "much")], &["cache", "size"]);
    assert!(
        wrong.code == 2 && wrong.stderr.contains("CUTAWAY_CACHE_SIZE: invalid size \"much\""),
        "{wrong:?}"
    );
}

#[test]
fn prune_says_what_went_what_is_left_and_what_is_not_the_caches() {
    let (place, _) = filled();
    let kept = "skipped wheels: not part of the cache\n";
    let nothing = format!("removed 0 entries (0 B)\nleft    3 entries (3.11 KiB, 3,183 bytes)\n{kept}");
    assert_eq!(told(&place.run(&["cache", "prune"])), nothing);
    let one =
        format!("removed 1 entry (1.04 KiB, 1,061 bytes)\nleft    2 entries (2.07 KiB, 2,122 bytes)\n{kept}");
    assert_eq!(told(&place.run(&["cache", "prune", "--max-size", "2.5KiB"])), one);
    let limited = place.run_with(&[("CUTAWAY_CACHE_SIZE", "2kB")], &["cache", "prune"]);
    assert!(told(&limited).contains("\nleft    1 entry (1.04 KiB, 1,061 bytes)\n"), "{limited:?}");
    let all = format!("removed 1 entry (1.04 KiB, 1,061 bytes)\nleft    0 entries (0 B)\n{kept}");
    assert_eq!(told(&place.run(&["cache", "prune", "--all"])), all);
    let names: Vec<_> =
        fs::read_dir(place.cache()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["wheels"]);
    for wrong in [&["prune", "--all", "--max-size", "1"][..], &["prune", "--max-size", "x"], &[], &["clear"]]
    {
        assert_eq!(place.run(&[&["cache"], wrong].concat()).code, 2, "{wrong:?}");
    }
}

#[test]
fn a_folder_that_cannot_be_listed_is_an_error_with_its_cause() {
    let place = Place::new();
    let file = place.put("file", "mine");
    for command in [&["cache", "size"][..], &["cache", "prune", "--all"]] {
        let outcome = place.run_with(&[("CUTAWAY_CACHE_DIR", &file)], command);
        assert_eq!((outcome.code, outcome.stdout.as_str()), (2, ""));
        assert!(outcome.stderr.contains(&file) && outcome.stderr.contains("Not a directory"), "{outcome:?}");
    }
    assert_eq!(fs::read(Path::new(&file)).unwrap(), b"mine");
}

#[test]
fn a_cache_that_cannot_be_used_is_noted_and_changes_no_result() {
    let place = Place::new();
    let report = ["report", "sample:runtime", "-v"];
    let without = place.run(&[&report[..], &["--no-cache"]].concat());
    let noted = |environment: &[(&str, &str)], options: &[&str]| {
        let outcome = place.run_with(environment, &[&report[..], options].concat());
        assert_eq!((outcome.code, &outcome.stdout), (0, &without.stdout));
        let notes: Vec<&str> = outcome.stderr.lines().filter(|line| line.starts_with("note: ")).collect();
        assert!(notes.len() <= 1, "{notes:?}");
        notes.first().is_some_and(|note| note.contains("Index cache disabled: CUTAWAY_CACHE_"))
    };
    let wrong = ("CUTAWAY_CACHE_DIR", "relative");
    assert!(noted(&[wrong], &[]));
    assert!(noted(&[("CUTAWAY_CACHE_SIZE", "5G")], &[]));
    assert!(
        noted(&[wrong, ("CUTAWAY_NO_CACHE", "0")], &[]) && noted(&[wrong, ("CUTAWAY_NO_CACHE", "")], &[])
    );
    assert!(!noted(&[wrong, ("CUTAWAY_NO_CACHE", "1")], &[]) && !noted(&[wrong], &["--no-cache"]));
    assert!(!noted(&[("CUTAWAY_CACHE_SIZE", "0")], &[]));
    // Not on -v, and not on a terminal: only the report.
    assert_eq!(place.run_with(&[wrong], &["report", "sample:runtime"]).stderr, "");
    for command in [
        &["check", "sample:runtime", "--no-cache"][..],
        &["dockerfile", "sample:runtime", "--no-cache"],
        &["compare", "sample:runtime", "sample:runtime", "--no-cache"],
        &["--no-cache", "sample:runtime"],
    ] {
        assert_eq!(place.run(command).code, 0, "{command:?}");
    }
    let compared = ["compare", "sample:runtime", "sample:devel", "-v"];
    let compared = place.run_with(&[wrong], &compared).stderr;
    assert_eq!(compared.matches("note: ").count(), 1, "one cache for all images: {compared}");
}
