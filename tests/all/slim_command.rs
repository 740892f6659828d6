//! `cutaway slim` as people and scripts use it: what goes where, in which form, and what is refused.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Stdio;
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::registry::bench;
use crate::registry::server::Server;
use crate::schema;
use crate::support::{Place, program};

const SAMPLE: &str = "sample:devel";

fn json(place: &Place, arguments: &[&str]) -> Value {
    let outcome = place.run(&[&["slim", SAMPLE, "--format", "json"], arguments].concat());
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    let document = serde_json::from_str(&outcome.stdout).unwrap();
    schema::fits("slim", &document);
    document
}

fn actions(document: &Value) -> Vec<&str> {
    document["layers"].as_array().unwrap().iter().map(|layer| layer["action"].as_str().unwrap()).collect()
}

#[test]
fn a_dry_run_predicts_what_is_then_written() {
    let place = Place::new();
    let dry = json(&place, &["--dry-run"]);
    assert!(dry["output"].is_null() && dry["verification"].is_null());
    let folder = tempfile::tempdir().unwrap();
    let out = format!("oci:{}", folder.path().join("out").display());
    let written = json(&place, &["-o", &out]);
    for part in ["before", "after"] {
        for size in ["content_bytes", "merged_bytes"] {
            assert_eq!(dry[part][size], written[part][size], "{part}.{size}");
        }
    }
    assert_eq!(dry["removed"], written["removed"]);
    assert_eq!(actions(&dry), actions(&written));
    assert_eq!(written["verification"]["merged_view"], true);
    // The ordinary reader has the last word.
    let report = place.report(&out);
    assert_eq!(report.total("merged_bytes"), written["after"]["merged_bytes"].as_u64().unwrap());
    assert_eq!(report.total("content_bytes"), written["after"]["content_bytes"].as_u64().unwrap());
    assert_eq!(report.total("compressed_bytes"), written["after"]["compressed_bytes"].as_u64().unwrap());
    assert_eq!(report.json["image"]["manifest_digest"], written["output"]["manifest_digest"]);
    assert_eq!(report.total("wasted_bytes"), 0);
    for layer in written["layers"].as_array().unwrap().iter().filter(|layer| layer["action"] == "kept") {
        assert_eq!(layer["before"]["digest"], layer["after"]["digest"]);
    }
    // Nothing is left to remove, and a second run changes nothing.
    let again = place.run(&["slim", &out, "--dry-run", "--format", "json"]);
    let again: Value = serde_json::from_str(&again.stdout).unwrap();
    assert!(actions(&again).iter().all(|action| *action == "kept"), "{:?}", actions(&again));
}

#[test]
fn the_plan_is_that_of_the_dockerfile() {
    let place = Place::new();
    let all = json(&place, &["--dry-run"]);
    let kept = json(&place, &["--dry-run", "--keep", "static-libraries:safe"]);
    let findings = |document: &Value| document["plan"]["findings"].as_array().unwrap().len();
    assert_eq!(findings(&kept) + 1, findings(&all));
    assert!(
        !kept["removed"].as_array().unwrap().iter().any(|line| line["finding"] == "static-libraries:safe")
    );
    let answered = json(&place, &["--dry-run", "--answer", "compilers:unsure=no"]);
    assert!(answered["removed"].as_array().unwrap().iter().any(|line| line["finding"] == "compilers:unsure"));
    let plan = place.put("plan.json", place.run(&["report", SAMPLE, "--format", "json"]).stdout);
    assert_eq!(json(&place, &["--dry-run", "--plan", &plan])["removed"], all["removed"]);
}

#[test]
fn what_is_required_goes_only_by_force() {
    let place = Place::new();
    let arguments = ["slim", SAMPLE, "--dry-run", "--remove", "profilers:needed"];
    let refused = place.failure(&arguments);
    assert!(refused.contains("required at run time"), "{refused}");
    let forced = place.run(&[&arguments[..], &["--force"]].concat());
    assert_eq!(forced.code, 0, "{}", forced.stderr);
    assert!(
        forced.stderr.contains("profilers:needed") && forced.stderr.contains("--force"),
        "{}",
        forced.stderr
    );
}

#[test]
fn layers_are_merged_and_those_of_the_base_kept() {
    let place = Place::new();
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| format!("oci:{}", folder.path().join(name).display());
    let squashed = json(&place, &["-o", &at("squashed"), "--squash-from", "12"]);
    assert_eq!(place.report(&at("squashed")).layers().len(), 13);
    assert!(actions(&squashed)[12..].iter().all(|action| *action == "merged"));
    let based = json(&place, &["-o", &at("based"), "--keep-base"]);
    let layers = usize::try_from(based["kept_base"]["layers"].as_u64().unwrap()).unwrap();
    assert!(layers > 0 && based["kept_base"]["bytes"].as_u64().unwrap() > 0);
    assert!(actions(&based)[..layers].iter().all(|action| *action == "kept"));
    let beyond = place.failure(&["slim", SAMPLE, "--dry-run", "--squash-from", "20"]);
    assert!(beyond.contains("no layer 20: the image has 20") && beyond.contains("0 to 19"), "{beyond}");
}

#[test]
fn packages_without_files_are_forgotten_and_listed() {
    let place = Place::new();
    let folder = tempfile::tempdir().unwrap();
    let out = format!("oci:{}", folder.path().join("out").display());
    let packages = |report: &Value| {
        let of = |package: &Value| {
            ["manager", "name", "version"].map(|field| package[field].as_str().unwrap().to_owned())
        };
        let all = report.as_array().unwrap().iter().map(of);
        all.filter(|[manager, ..]| manager == "dpkg").collect::<Vec<_>>()
    };
    let dry = json(&place, &["--dry-run", "--forget-packages"]);
    let written = json(&place, &["-o", &out, "--forget-packages"]);
    assert_eq!(dry["forgotten_packages"], written["forgotten_packages"]);
    assert_eq!(json(&place, &["--dry-run"])["forgotten_packages"], serde_json::json!([]));
    let forgotten = packages(&written["forgotten_packages"]);
    let before = packages(&place.report(SAMPLE).json["packages"]);
    assert!(!forgotten.is_empty() && forgotten.len() < before.len(), "{forgotten:?}");
    let mut expected = before;
    expected.retain(|package| !forgotten.contains(package));
    assert_eq!(packages(&place.report(&out).json["packages"]), expected);
    let text = place.run(&["slim", SAMPLE, "--dry-run", "--forget-packages"]);
    let line = text.stdout.lines().find(|line| line.trim_start().starts_with("forgotten"));
    assert!(line.is_some_and(|line| line.contains("without files")), "{}", text.stdout);
}

#[test]
fn text_leads_with_the_destination_and_sizes() {
    let place = Place::new();
    let folder = tempfile::tempdir().unwrap();
    let out = format!("oci:{}:1.0", folder.path().join("out").display());
    let outcome = place.run(&["slim", SAMPLE, "-o", &out, "--compression", "zstd:9"]);
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    let lines: Vec<&str> = outcome.stdout.lines().collect();
    assert_eq!(lines[0], out);
    for part in ["manifest", "compressed", "merged", "layers", "removed", "verified"] {
        assert!(lines.iter().any(|line| line.trim_start().starts_with(part)), "{part}: {}", outcome.stdout);
    }
}

#[test]
fn wrong_use_is_refused_before_anything_is_written() {
    let place = Place::new();
    for (arguments, part) in [
        (&["-o", "tape:out"][..], "tape:out"),
        (&["-o", "oci:"], "oci:"),
        (&["-o", "oci:out", "--depth", "manifest"], "all layers"),
        (&["-o", "oci:out", "--remove", "no-such:safe"], "no-such:safe"),
    ] {
        let message = place.failure(&[&["slim", SAMPLE], arguments].concat());
        assert!(message.contains(part), "{message}");
    }
    for arguments in [&[][..], &["-o", "oci:out", "--compression", "bzip2"], &["-o", "oci:out", "--dry-run"]]
    {
        assert_eq!(place.run(&[&["slim", SAMPLE], arguments].concat()).code, 2);
    }
    let cut = place.put("cut.tar", &fs::read("assets/samples/devel.tar").unwrap()[..400_000]);
    let outcome = place.run(&["slim", &cut, "-o", "oci:out"]);
    assert_eq!(outcome.code, 2);
    assert!(outcome.stderr.contains("error: "), "{}", outcome.stderr);
    assert!(!std::path::Path::new(&place.path("out")).exists());
}

#[test]
fn a_killed_run_leaves_nothing_under_the_name() {
    let (place, folder) = (Place::new(), tempfile::tempdir().unwrap());
    for moment in 0..20 {
        let out = folder.path().join(format!("out-{moment}")).display().to_string();
        let mut command = program();
        command.args(["slim", SAMPLE, "-o", &format!("oci:{out}")]);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        sleep(Duration::from_millis(moment * 25));
        let ended = child.try_wait().unwrap().is_some();
        child.kill().ok();
        child.wait().unwrap();
        if std::path::Path::new(&out).exists() {
            // It was published before it was killed: then it is whole.
            let report = place.report(&format!("oci:{out}"));
            assert!(report.complete(), "moment {moment}, ended {ended}");
        } else {
            assert!(!ended, "moment {moment}: it ended and wrote nothing");
        }
    }
}

#[test]
fn a_killed_push_leaves_no_tag_or_a_whole_image() {
    if !bench::ready() {
        return;
    }
    let (place, server) = (Place::new(), Server::plain());
    // Each push goes to a repository of its own, so that none finds the blobs of another.
    let push = |name: &str| {
        let mut command = program();
        command.args(["slim", SAMPLE, "-o"]);
        command.arg(format!("docker://127.0.0.1:{}/{name}:new", server.port));
        command.stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().unwrap()
    };
    let tags = |name: &str| {
        let tags = server.folder.path().join("storage/docker/registry/v2/repositories");
        tags.join(name).join("_manifests/tags/new/current/link").exists()
    };
    let started = Instant::now();
    assert!(push("team/whole").wait().unwrap().success());
    let whole = started.elapsed();
    assert!(tags("team/whole"));
    let mut cut = 0;
    for moment in 0..20 {
        let name = format!("team/moment-{moment}");
        let mut child = push(&name);
        sleep(whole * moment / 20);
        let ended = child.try_wait().unwrap();
        child.kill().ok();
        child.wait().unwrap();
        if tags(&name) {
            // The tag was there before the kill: then everything it names is.
            let report = place.report(&format!("docker://127.0.0.1:{}/{name}:new", server.port));
            assert!(report.complete(), "moment {moment}, ended {ended:?}");
        } else {
            assert!(ended.is_none(), "moment {moment}: it ended without a tag: {ended:?}");
            cut += 1;
        }
        assert!(push(&name).wait().unwrap().success(), "moment {moment}: the second run");
        assert!(tags(&name), "moment {moment}: the second run has no tag");
    }
    assert!(cut > 0, "no push was cut off");
}

#[test]
fn a_folder_that_cannot_be_written_is_named() {
    let place = Place::new();
    let folder = place.path("closed");
    fs::create_dir(&folder).unwrap();
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o500)).unwrap();
    if fs::write(format!("{folder}/probe"), b"").is_ok() {
        println!("SKIPPED: this user may write anywhere");
        return;
    }
    let message = place.failure(&["slim", SAMPLE, "-o", &format!("oci:{folder}/out")]);
    assert!(message.contains("closed"), "{message}");
}
