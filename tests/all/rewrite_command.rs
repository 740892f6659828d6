//! `cutaway dockerfile` as people and scripts use it: what goes where, in which form, and what is refused.

use std::fs;
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

use crate::fixtures::elf::{Elf, archive};
use crate::fixtures::filler;
use crate::fixtures::image::{Image, Layer};
use crate::fixtures::layout::Layout;
use crate::fixtures::packing::Packing;
use crate::fixtures::service::{CudaBase, Deb, debs};
use crate::fixtures::tarball::{Member, file, symlink, tar};
use crate::oracle::have;
use crate::schema;
use crate::support::{Outcome, Place, program};

const LIB: &str = "usr/local/cuda-12.8/targets/x86_64-linux/lib";
const INCLUDE: &str = "usr/local/cuda-12.8/targets/x86_64-linux/include";
const TRIPLE: &str = "usr/lib/x86_64-linux-gnu";

/// The file that [`service`] was built from.
const DOCKERFILE: &str = "\
# The service.
FROM nvidia/cuda:12.8.1-devel-ubuntu24.04

WORKDIR /srv
# Built elsewhere.
COPY service   /srv/
ENTRYPOINT [\"/srv/service\"]
";

fn library(soname: &str, needed: &[&str]) -> Vec<u8> {
    Elf { runpath: Some("$ORIGIN".into()), ..Elf::library(soname) }.needing(needed).build()
}

/// A program that needs cuBLAS, on the devel image of CUDA 12.8.1.
fn service() -> Image {
    let at = |name: &str| format!("{LIB}/{name}");
    let libc =
        [(format!("{TRIPLE}/libc.so.6"), library("libc.so.6", &[]))].map(|(path, body)| (leak(path), body));
    let cudart = [(leak(at("libcudart.so.12")), library("libcudart.so.12", &["libc.so.6"]))];
    let cublas = [
        (leak(at("libcublas.so.12")), library("libcublas.so.12", &["libcublasLt.so.12"])),
        (leak(at("libcublasLt.so.12")), library("libcublasLt.so.12", &["libc.so.6"])),
    ];
    let object = [("part.o".to_owned(), filler::code("part", 400_000))];
    let devel = [
        (leak(at("libcublas_static.a")), archive(&object)),
        (leak(format!("{INCLUDE}/cublas_v2.h")), vec![b' '; 20_000]),
    ];
    let packages: [Deb<'_>; 4] = [
        ("libc6", "2.39-0ubuntu8", &libc),
        ("cuda-cudart-12-8", "12.8.90-1", &cudart),
        ("libcublas-12-8", "12.8.4.1-1", &cublas),
        ("libcublas-dev-12-8", "12.8.4.1-1", &devel),
    ];
    let base =
        CudaBase { version: "12.8.1", flavor: "devel", cudnn: None, distribution: ("ubuntu", "24.04") };
    let mut image = base.image();
    let mut put = |layer: usize, members: Vec<Member>| {
        let old = &image.layers[layer];
        image.layers[layer] = Layer::new(&tar(members), old.packing);
    };
    let system = vec![
        file("etc/os-release", "ID=ubuntu\nVERSION_ID=\"24.04\"\n"),
        file("etc/ld.so.conf", "include /etc/ld.so.conf.d/*.conf\n"),
        file("lib64/ld-linux-x86-64.so.2", library("ld-linux-x86-64.so.2", &[])),
    ];
    // Each layer has the files of its own package, and the database of all so far.
    let installed = |count: usize| {
        let mut members = debs(&packages[..count]);
        let before: Vec<&str> = packages[..count - 1]
            .iter()
            .flat_map(|(_, _, files)| files.iter())
            .map(|(path, _)| *path)
            .collect();
        members.retain(|member| !before.iter().any(|path| member.name == path.as_bytes()));
        members
    };
    put(0, [system, installed(1)].concat());
    let conf = vec![file("etc/ld.so.conf.d/cuda.conf", format!("/{LIB}\n"))];
    put(2, [installed(2), conf, vec![symlink("usr/local/cuda", "cuda-12.8")]].concat());
    put(5, installed(3));
    put(9, installed(4));
    let program =
        Elf::program("service").needing(&["libcublas.so.12", "libcudart.so.12", "libc.so.6"]).build();
    let mut image = image
        .layer("WORKDIR /srv", &tar([]))
        .layer("COPY service /srv/ # buildkit", &tar([file("srv/service", program).mode(0o755)]))
        .step("ENTRYPOINT [\"/srv/service\"]");
    image.config["Entrypoint"] = json!(["/srv/service"]);
    image.config["WorkingDir"] = json!("/srv");
    image
}

/// A path for the length of the tests.
fn leak(path: String) -> &'static str {
    path.leak()
}

/// An image in which nothing is to be better.
fn small() -> Image {
    let mut image =
        Image::new(Packing::Gzip).layer("COPY app /app # buildkit", &tar([file("app", "words\n")]));
    image.config = json!({"Cmd": ["/app"]});
    image
}

const SMALL: &str = "# Nothing but a file.\nFROM scratch\nCOPY app /app\nCMD [\"/app\"]";

struct Scene {
    place: Place,
    reference: String,
}

impl Scene {
    fn new(image: &Image) -> Self {
        let place = Place::new();
        let reference = format!("oci:{}", place.put_layout("image", &Layout::of(image, "latest")));
        Self { place, reference }
    }

    fn run(&self, options: &[&str]) -> Outcome {
        self.place.run(&[&["dockerfile", &self.reference], options].concat())
    }

    fn text(&self, options: &[&str]) -> String {
        let outcome = self.run(options);
        assert_eq!(outcome.code, 0, "{}", outcome.stderr);
        outcome.stdout
    }

    fn json(&self, options: &[&str]) -> Value {
        serde_json::from_str(&self.text(&[&["--format", "json"], options].concat())).unwrap()
    }

    fn failure(&self, options: &[&str]) -> String {
        self.place.failure(&[&["dockerfile", &self.reference], options].concat())
    }
}

/// The program with its own standard input, for what [`Place::run`] does not do.
fn run(arguments: &[&str], input: &[u8]) -> Output {
    let mut command = program();
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // What is refused is not read to its end.
    child.stdin.take().unwrap().write_all(input).ok();
    child.wait_with_output().unwrap()
}

fn list<'v>(value: &'v Value, name: &str) -> &'v [Value] {
    value[name].as_array().unwrap_or_else(|| panic!("no list {name}: {value:#}"))
}

/// What any answer holds to, whatever is proposed.
fn check(answer: &Value) {
    schema::fits("dockerfile", answer);
    assert_eq!(answer["generator"]["name"], "cutaway");
    let (image, recipe) = (&answer["image"], &answer["recipe"]);
    let now = image["content_bytes"].as_u64().unwrap();
    assert!(image["merged_bytes"].as_u64().unwrap() <= now && image["complete"].is_boolean());
    assert_eq!(recipe["origin"] == "given", recipe["name"].is_string());
    assert!(list(recipe, "unknown").iter().all(|one| one["line"].is_u64() && one["text"].is_string()));
    let lines: Vec<u64> =
        list(recipe, "instructions").iter().map(|one| one["line"].as_u64().unwrap()).collect();
    assert!(!lines.is_empty() && lines.is_sorted(), "{recipe:#}");
    assert_eq!(list(answer, "proposals").is_empty(), answer["reason"].is_string());
    let mut ranks = Vec::new();
    for proposal in list(answer, "proposals") {
        let text = proposal["dockerfile"].as_str().unwrap();
        assert_ne!(text, recipe["dockerfile"], "nothing is changed");
        assert!(proposal["diff"].as_str().unwrap().contains("\n@@ "), "{proposal:#}");
        assert!(["safe", "review", "manual"].contains(&proposal["applicability"].as_str().unwrap()));
        let predicted = &proposal["predicted"];
        let then = predicted["content_bytes"].as_u64().unwrap();
        assert_eq!(predicted["saved_bytes"], now.saturating_sub(then), "{predicted:#}");
        assert!(predicted["merged_bytes"].as_u64().unwrap() <= then);
        assert!(!list(predicted, "stages").is_empty());
        assert!(!list(proposal, "reasons").is_empty(), "{proposal:#}");
        for reason in list(proposal, "reasons") {
            let last = reason["line"].as_u64().unwrap() + reason["lines"].as_u64().unwrap();
            assert!(last <= text.lines().count() as u64 + 1, "{reason:#} of {text}");
            assert!(!reason["text"].as_str().unwrap().is_empty());
        }
        let removed: Vec<u64> =
            list(proposal, "removed").iter().map(|one| one["bytes"].as_u64().unwrap()).collect();
        assert!(removed.is_sorted_by(|a, b| a >= b), "{removed:?}");
        let closure = &proposal["closure"];
        assert_eq!(closure["resolved"] == true, list(closure, "faults").is_empty(), "{closure:#}");
        assert!(closure["dlopen_known"].is_boolean() && closure["unproven"].is_array());
        assert!(closure["objects"].is_u64() && closure["links"].is_u64());
        assert!(proposal["kept"].is_array() && proposal["hints"].is_array());
        ranks.push((closure["resolved"] == false, predicted["saved_bytes"].as_u64().unwrap()));
    }
    let faults: Vec<bool> = ranks.iter().map(|(faulty, _)| *faulty).collect();
    assert!(faults.is_sorted(), "not the best first: {ranks:?}");
    // The first brings most of what those like it can bring.
    if let Some(first) = ranks.first() {
        let most = ranks.iter().filter(|one| one.0 == first.0).map(|one| one.1).max();
        assert!(first.1 * 4 >= most.unwrap() * 3, "not the best first: {ranks:?}");
    }
}

#[test]
fn the_sample_gets_proposals_in_all_forms() {
    let place = Place::new();
    let run = |options: &[&str]| {
        let outcome = place.run(&[&["dockerfile", "sample:devel"], options].concat());
        assert_eq!((outcome.code, outcome.stderr.as_str()), (0, ""), "{options:?}");
        outcome.stdout
    };
    let answer: Value = serde_json::from_str(&run(&["--format", "json"])).unwrap();
    check(&answer);
    assert_eq!(answer["recipe"]["origin"], "rebuilt");
    let proposals = list(&answer, "proposals");
    let best = &proposals[0];
    assert_eq!(best["closure"]["resolved"], true, "{:#}", best["closure"]);
    assert!(best["predicted"]["saved_bytes"].as_u64() > Some(5 << 20), "{:#}", best["predicted"]);
    assert_eq!(run(&[]), best["dockerfile"].as_str().unwrap());
    assert_eq!(run(&["--format", "text"]), run(&[]));
    assert_eq!(run(&["--diff"]), best["diff"].as_str().unwrap());
    for proposal in proposals {
        let id = proposal["id"].as_str().unwrap();
        assert_eq!(run(&["--proposal", id]), proposal["dockerfile"].as_str().unwrap(), "{id}");
        let alone: Value = serde_json::from_str(&run(&["--proposal", id, "--format", "json"])).unwrap();
        assert_eq!(list(&alone, "proposals"), std::slice::from_ref(proposal));
    }
    let said = place.run(&["dockerfile", "sample:devel", "-v"]);
    assert_eq!(said.stdout, run(&[]));
    for word in [best["id"].as_str().unwrap(), "merged ", "content ", "Reasons, by line"] {
        assert!(said.stderr.contains(word), "no {word:?}: {}", said.stderr);
    }
    let message = place.failure(&["dockerfile", "sample:devel", "--proposal", "best"]);
    assert!(message.contains("\"best\"") && message.contains("hint: expected one of "), "{message}");
}

#[test]
fn the_report_names_what_is_proposed() {
    let place = Place::new();
    let report = place.report("sample:devel");
    let answer = place.run(&["dockerfile", "sample:devel", "--format", "json"]).stdout;
    let answer: Value = serde_json::from_str(&answer).unwrap();
    let short = |one: &Value| {
        let predicted = &one["predicted"];
        json!({
            "id": one["id"], "title": one["title"], "applicability": one["applicability"],
            "saved_bytes": predicted["saved_bytes"], "merged_bytes": predicted["merged_bytes"],
            "base_image": one["base_image"], "dockerfile": one["dockerfile"], "diff": one["diff"],
        })
    };
    let all: Vec<Value> = list(&answer, "proposals").iter().map(short).collect();
    assert_eq!(report.json["proposals"], Value::Array(all));
    let text = place.run(&["report", "sample:devel"]).stdout;
    assert!(
        text.contains("\n  Proposed Dockerfile\n") && text.contains("cutaway dockerfile IMAGE"),
        "{text}"
    );
}

#[test]
fn a_diff_makes_of_the_users_file_what_the_text_is() {
    let scene = Scene::new(&service());
    let given = scene.place.put("Dockerfile", DOCKERFILE);
    let answer = scene.json(&["--dockerfile", &given]);
    check(&answer);
    assert_eq!(
        (&answer["recipe"]["origin"], &answer["recipe"]["name"], &answer["recipe"]["dockerfile"]),
        (&"given".into(), &given.as_str().into(), &DOCKERFILE.into())
    );
    let copy = list(&answer["recipe"], "instructions").iter().find(|one| one["keyword"] == "COPY").unwrap();
    assert_eq!((&copy["line"], &copy["layers"]), (&6.into(), &json!([12])), "{copy:#}");
    let text = scene.text(&["--dockerfile", &given]);
    assert!(
        text.starts_with("# The service.\n") && text.contains("# Built elsewhere.\nCOPY service   /srv/\n"),
        "{text}"
    );
    if !have(&["patch"]) {
        return;
    }
    for proposal in list(&answer, "proposals") {
        let id = proposal["id"].as_str().unwrap();
        let diff = scene.text(&["--dockerfile", &given, "--diff", "--proposal", id]);
        let place = Place::new();
        let (file, patch) = (place.put("Dockerfile", DOCKERFILE), place.put("change.diff", &diff));
        let done = Command::new("patch").args([&file, &patch]).output().unwrap();
        assert!(done.status.success(), "{id}: {}", String::from_utf8_lossy(&done.stdout));
        assert_eq!(fs::read_to_string(&file).unwrap(), proposal["dockerfile"].as_str().unwrap(), "{id}");
    }
}

#[test]
fn a_devel_image_ends_on_a_smaller_base() {
    let scene = Scene::new(&service());
    let given = scene.place.put("Dockerfile", DOCKERFILE);
    let answer = scene.json(&["--dockerfile", &given]);
    let best = &list(&answer, "proposals")[0];
    let base = best["base_image"].as_str().unwrap();
    assert!(base.starts_with("nvidia/cuda:12.8.1-") && !base.contains("devel"), "{base}");
    let gone: Vec<&str> = list(best, "removed").iter().map(|one| one["path"].as_str().unwrap()).collect();
    assert!(gone.contains(&format!("/{LIB}/libcublas_static.a").as_str()), "{gone:?}");
    for kept in ["libcublas.so.12", "libcublasLt.so.12", "libcudart.so.12"] {
        assert!(!gone.contains(&format!("/{LIB}/{kept}").as_str()), "{gone:?}");
    }
    assert!(best["predicted"]["saved_bytes"].as_u64() >= Some(420_000), "{:#}", best["predicted"]);
}

#[test]
fn output_goes_to_a_file_also_over_the_one_that_was_read() {
    let scene = Scene::new(&service());
    let given = scene.place.put("out/Dockerfile", DOCKERFILE);
    let text = scene.text(&["--dockerfile", &given]);
    for target in [scene.place.path("out/new"), given.clone()] {
        let output = run(&["dockerfile", &scene.reference, "--dockerfile", &given, "-o", &target], b"");
        assert_eq!((output.status.code(), output.stdout.len()), (Some(0), 0));
        assert_eq!(fs::read_to_string(&target).unwrap(), text);
    }
    assert_eq!(fs::read_dir(scene.place.path("out")).unwrap().count(), 2, "something was left");
}

#[test]
fn standard_input_is_a_file_too() {
    let scene = Scene::new(&service());
    let given = scene.place.put("Dockerfile", DOCKERFILE);
    let arguments = ["dockerfile", &scene.reference, "--dockerfile", "-"];
    let output = run(&arguments, DOCKERFILE.as_bytes());
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(String::from_utf8(output.stdout).unwrap(), scene.text(&["--dockerfile", &given]));
    let output = run(&arguments, &vec![b'#'; (1 << 20) + 1]);
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0));
    assert!(message.contains("standard input") && message.contains("1048576"), "{message}");
}

#[test]
fn where_nothing_is_proposed_the_file_stays_as_it_is() {
    let scene = Scene::new(&small());
    // Without a line's end, and with Windows' ones.
    for text in [SMALL.to_owned(), SMALL.replace('\n', "\r\n")] {
        let given = scene.place.put("Dockerfile", &text);
        let output = run(&["dockerfile", &scene.reference, "--dockerfile", &given], b"");
        assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(0), text.as_bytes()));
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.starts_with("no proposal: "), "{said}");
        let output = run(&["dockerfile", &scene.reference, "--dockerfile", &given, "--diff"], b"");
        assert_eq!((output.status.code(), output.stdout.len()), (Some(0), 0));
    }
    let answer = scene.json(&[]);
    check(&answer);
    assert_eq!(list(&answer, "proposals").len(), 0, "{answer:#}");
    assert_eq!(scene.run(&["--format", "json"]).stderr, "");
    let rebuilt = scene.text(&[]);
    assert_eq!(rebuilt, answer["recipe"]["dockerfile"].as_str().unwrap());
    assert!(rebuilt.lines().any(|line| line.starts_with("COPY ")), "{rebuilt}");
    let report = scene.place.report(&scene.reference);
    assert_eq!(report.json["proposals"], json!([]));
    assert!(scene.failure(&["--proposal", "minimal"]).contains("no proposal \"minimal\""));
}

#[test]
fn a_file_of_another_image_is_refused_by_both_commands() {
    let scene = Scene::new(&service());
    let other =
        "FROM debian:12\nRUN apt-get update && apt-get install -y nginx\nCOPY site /var/www\nRUN make\n";
    let given = scene.place.put("Other", other);
    for message in [
        scene.failure(&["--dockerfile", &given]),
        scene.failure(&["--dockerfile", &given, "--format", "json"]),
        scene.place.failure(&["report", &scene.reference, "--dockerfile", &given]),
    ] {
        assert!(message.contains("Other does not belong to this image: "), "{message}");
        assert!(message.contains("\nhint: "), "{message}");
    }
}

#[test]
fn what_is_no_dockerfile_is_refused_with_its_place() {
    let scene = Scene::new(&service());
    for (text, place) in [
        ("FROM scratch\n\nBUILD it\n", "line 3, column 1: "),
        ("COPY a b\n", "line 1, column 1: "),
        ("", "line 1, column 1: "),
        ("FROM a\nRUN <<EOF\nmake\n", "line 2, column "),
    ] {
        let given = scene.place.put("Dockerfile", text);
        let message = scene.failure(&["--dockerfile", &given]);
        assert!(message.contains(&format!("error: {given}: {place}")), "{text:?}: {message}");
        assert_eq!(message.matches(place).count(), 1, "said twice: {message}");
    }
    let given = scene.place.put("Dockerfile", b"FROM a\nRUN \xff\xfe\x1b[31m\n");
    let message = scene.failure(&["--dockerfile", &given]);
    assert!(message.contains("line 2, column 5"), "{message}");
}

#[test]
fn what_is_no_file_is_refused_and_never_waited_for() {
    let scene = Scene::new(&small());
    let pipe = scene.place.path("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let folder = scene.place.path("image");
    let long = scene.place.put("long", vec![b'#'; (1 << 20) + 1]);
    for (path, why) in [
        (pipe.as_str(), "pipe"),
        (&folder, "folder"),
        ("/dev/zero", "device"),
        ("no/such/file", "No such file"),
        (&long, "1048576"),
    ] {
        for command in ["dockerfile", "report"] {
            let message = scene.place.failure(&[command, &scene.reference, "--dockerfile", path]);
            assert!(message.contains(path) && message.contains(why), "{message}");
            assert!(message.contains("\nhint: "), "{message}");
        }
    }
    // A name that is no text.
    let name = std::ffi::OsStr::from_bytes(b"no\xff\x1b");
    let output = program()
        .args(["dockerfile", &scene.reference, "--dockerfile"])
        .arg(Path::new(name))
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(!output.stderr.contains(&0x1b));
}

#[test]
fn wrong_use_is_2() {
    for options in
        [&["--diff", "--format", "json"][..], &["--format", "yaml"], &["--proposal"], &["--dockerfile"]]
    {
        let output = run(&[&["dockerfile", "sample:devel"], options].concat(), b"");
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{options:?}");
    }
}

#[test]
fn an_incomplete_image_is_printed_and_is_2() {
    let image = service();
    let mut layout = Layout::of(&image, "latest");
    layout.remove_blob(&image.layers[9].digest);
    let place = Place::new();
    let reference = format!("oci:{}", place.put_layout("image", &layout));
    let outcome = place.run(&["dockerfile", &reference, "--format", "json"]);
    assert_eq!(outcome.code, 2, "{}", outcome.stderr);
    let answer: Value = serde_json::from_str(&outcome.stdout).unwrap();
    check(&answer);
    assert_eq!(answer["image"]["complete"], false);
    assert!(!list(&answer, "warnings").is_empty());
    let safe = list(&answer, "proposals").iter().filter(|one| one["applicability"] == "safe").count();
    assert_eq!(safe, 0, "{answer:#}");
    let text = place.run(&["dockerfile", &reference]);
    assert_eq!(text.code, 2);
    assert!(text.stdout.contains("FROM "), "{}", text.stdout);
}

#[test]
fn secrets_of_the_history_are_in_no_output_unless_asked_for() {
    let mut image = Image::new(Packing::Gzip)
        .layer(
            "RUN |1 GIT_TOKEN=hunter2 /bin/sh -c git clone https://me:hunter2@example.org/x # buildkit",
            &tar([file("a", "x")]),
        )
        .step("ENV API_KEY=hunter2");
    image.config = json!({"Env": ["API_KEY=hunter2"]});
    let scene = Scene::new(&image);
    for form in [&["-v"][..], &["-v", "--diff"], &["-v", "--format", "json"]] {
        let outcome = scene.run(form);
        assert_eq!(outcome.code, 0, "{}", outcome.stderr);
        assert!(!outcome.stdout.contains("hunter2") && !outcome.stderr.contains("hunter2"), "{outcome:?}");
    }
    assert!(scene.text(&[]).contains("<redacted>"));
    assert!(scene.text(&["--show-secrets"]).contains("hunter2"));
    assert!(scene.text(&["--show-secrets", "--format", "json"]).contains("hunter2"));
}

#[test]
fn a_rebuilt_file_cannot_steer_a_terminal() {
    // `Place::run` holds all output to it.
    let image = Image::new(Packing::Gzip)
        .step("ENV A=\u{202e}b\u{1b}[2J")
        .layer("RUN /bin/sh -c printf '\u{1b}]0;x\u{7}' # buildkit", &tar([file("a\u{1b}[31m", "x")]))
        .step("LABEL a=\"b\nRUN rm -rf /\"");
    let scene = Scene::new(&image);
    for form in [&["-v"][..], &["-v", "--diff"], &["-v", "--format", "json"], &["-v", "--show-secrets"]] {
        let outcome = scene.run(form);
        assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    }
    let text = scene.text(&[]);
    assert!(!text.lines().any(|line| line.starts_with("RUN rm")), "a value became an instruction: {text}");
}

#[test]
fn names_in_the_image_write_no_instructions_of_their_own() {
    let names = ["odd\u{1b}[2J\nRUN evil #/x", "srv/a\nRUN evil/y", "opt/$HOME \"q\" \\/z", "b\u{202e}/w"];
    let members = names.map(|name| file(name, vec![b'n'; 5_000]));
    let image = service().layer("COPY all / # buildkit", &tar(members));
    let scene = Scene::new(&image);
    let given = scene.place.put("Dockerfile", format!("{DOCKERFILE}COPY all /\n"));
    // `Place::run` holds all output to be harmless.
    for form in [&["-v"][..], &["-v", "--diff"], &["-v", "--format", "json"], &["-v", "--dockerfile", &given]]
    {
        let outcome = scene.run(form);
        assert_eq!(outcome.code, 0, "{}", outcome.stderr);
        let evil = |line: &str| line.trim_start_matches(['+', ' ']).starts_with("RUN evil");
        assert!(!outcome.stdout.lines().any(evil), "a name became an instruction: {}", outcome.stdout);
    }
}

#[test]
fn two_runs_give_the_same_bytes() {
    let scene = Scene::new(&service());
    for form in [&["--format", "json"][..], &["--diff"], &["-v"]] {
        let (one, two) = (scene.run(form), scene.run(form));
        assert_eq!((one.stdout, one.stderr), (two.stdout, two.stderr), "{form:?}");
    }
}
