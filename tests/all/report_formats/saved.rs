//! A report that was saved is as good as the image for every format, and is refused where only the image will do.

use std::process::{Command, Stdio};

use cutaway::report::to_json;

use super::{FORMATS, printed, scene};
use crate::support::{Place, program};

#[test]
fn a_saved_report_gives_every_format_that_the_image_gives() {
    let place = Place::new();
    for image in
        ["sample:devel".to_owned(), "sample:runtime".to_owned(), scene::plain(&place), scene::hostile(&place)]
    {
        let saved = place.put("saved.json", printed(&place, &image, &["--format", "json"]));
        let code = place.run(&["report", &image]).code;
        for (name, options) in FORMATS {
            let again = place.run(&[&["report", &saved], options].concat());
            assert_eq!(again.code, code, "{image} {name}: {}", again.stderr);
            let first = place.run(&[&["report", &image], options].concat());
            assert_eq!(again.stderr, first.stderr, "{image} {name}");
            assert!(again.stdout == first.stdout, "{image}: {name} differs");
        }
    }
}

#[test]
fn json_is_safe_wherever_a_character_is() {
    // Before, at and behind the ends of the parts in which the text is searched.
    for at in (4_085..4_100).chain([0, 8_185, 8_192]) {
        for unsafe_one in ['\u{202e}', '\u{7f}', '\u{85}'] {
            let text = format!("{}\u{e9}{unsafe_one}{}", "x".repeat(at), "y".repeat(9_000));
            let json = to_json(&text);
            assert!(!json.contains(unsafe_one) && json.contains('\u{e9}'), "{at}: {unsafe_one:?}");
            assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text);
        }
    }
}

#[test]
fn it_is_told_that_it_is_a_saved_report() {
    let place = Place::new();
    let saved = place.put("any.name", printed(&place, "sample:runtime", &["--format", "json"]));
    let said = place.run(&["report", &saved, "-v"]).stderr;
    assert!(said.contains("any.name is a saved report of sample:runtime"), "{said}");
    // Nothing depends on how the document is laid out.
    let document: serde_json::Value =
        serde_json::from_str(&printed(&place, "sample:runtime", &["--format", "json"])).unwrap();
    let flat = place.put("flat", format!("\n  {document}"));
    assert_eq!(printed(&place, &flat, &[]), printed(&place, "sample:runtime", &[]));
}

#[test]
fn reports_with_the_earlier_names_of_fields_still_open() {
    let place = Place::new();
    let json = printed(&place, "sample:devel", &["--format", "json"]);
    let earlier = json.replace("\"resolved_by\":", "\"picks\":").replace("\"toc\":", "\"table\":");
    assert!(earlier.contains("\"picks\":") && earlier.contains("\"table\":"));
    let saved = place.put("earlier.json", earlier);
    assert!(printed(&place, &saved, &["--format", "json"]) == json);
}

#[test]
fn what_needs_the_image_is_refused_by_name() {
    let place = Place::new();
    let saved = place.put("saved.json", printed(&place, "sample:runtime", &["--format", "json"]));
    let dockerfile = place.put("Dockerfile", "FROM a\n");
    for options in [
        &["--verify"][..],
        &["--dockerfile", &dockerfile],
        &["--target", "gpu:a100-80"],
        &["--platform", "linux/arm64"],
        &["--catalog", "more.toml"],
    ] {
        let message = place.failure(&[&["report", &saved], options].concat());
        for part in ["saved.json", options[0], "needs the image", "\nhint: "] {
            assert!(message.contains(part), "{part}: {message}");
        }
    }
    for arguments in [
        &["check", &saved][..],
        &["dockerfile", &saved],
        &["dockerfile", &format!("{saved}:latest")],
        &["compare", &saved, "sample:runtime"],
    ] {
        let message = place.failure(arguments);
        for part in ["saved.json", "\nhint: "] {
            assert!(message.contains(part), "{arguments:?}: {message}");
        }
    }
}

#[test]
fn what_is_no_report_of_this_schema_is_refused_without_a_word_of_its_content() {
    let place = Place::new();
    let right = printed(&place, "sample:runtime", &["--format", "json"]);
    let newer = right.replacen("cutaway.report/1", "cutaway.report/2", 1);
    let secret = right.replacen("\"complete\": true", "\"complete\": \"hunter2\"", 1);
    let broken = &right[..right.len() / 2];
    for (name, text, said) in [
        ("newer", newer.as_str(), "cutaway.report/2"),
        ("foreign", "{\"schemaVersion\": 2}", "not a saved report"),
        ("other", "{\"schema\": \"cutaway.gpu/1\"}", "cutaway.gpu/1"),
        ("odd", "{\"schema\": [1]}", "not a saved report"),
        ("early", broken, "end of the JSON"),
        ("wrong", &secret, "invalid report"),
        ("empty", "{\"schema\": \"cutaway.report/1\"}", "missing field"),
        ("hostile", "{\"schema\": \"\\u001b[31m\\u202e\"}", "not a saved report"),
    ] {
        let file = place.put(name, text);
        let message = place.failure(&["report", &file, "--format", "html"]);
        assert!(message.contains(name) && message.contains(said), "{name}: {message}");
        assert!(!message.contains("hunter2"), "{message}");
    }
    let message = place.failure(&["check", &place.put("newer", &newer)]);
    assert!(message.contains("cutaway.report/2"), "{message}");
}

#[test]
fn a_pipe_in_the_place_of_a_report_does_not_hang() {
    let place = Place::new();
    let pipe = place.path("pipe.json");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    for command in ["report", "check", "dockerfile"] {
        let output = program().args([command, &pipe]).stdin(Stdio::null()).output();
        let output = output.unwrap();
        assert_eq!(output.status.code(), Some(2), "{command}");
        assert!(String::from_utf8_lossy(&output.stderr).contains("pipe.json"), "{command}");
    }
}

#[test]
fn a_tar_whose_first_member_looks_like_json_is_an_archive() {
    use crate::fixtures::tarball::{file, tar};
    let place = Place::new();
    let archive = place.put("odd.tar", tar([file("{\"schema\":\"cutaway.report/1\"}", "x")]));
    let message = place.failure(&["report", &archive]);
    assert!(message.contains("manifest.json"), "{message}");
}
