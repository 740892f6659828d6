//! The cold start as reports tell it, the platform that judges an image, and the rates of a machine.

use serde_json::{Value, json};

use crate::fixtures::docker::save_classic;
use crate::fixtures::elf::Elf;
use crate::fixtures::filler::code;
use crate::fixtures::image::Image;
use crate::fixtures::layout::Layout;
use crate::fixtures::packing::Packing;
use crate::fixtures::tarball::{Member, file, tar};
use crate::support::Place;

const LIB: &str = "usr/local/cuda-13.0/targets/x86_64-linux/lib";
const CUDART: &str = "usr/local/cuda-13.0/targets/x86_64-linux/lib/libcudart.so.13";

/// Rates at which one thing takes all the time: 1000 bytes a second over the wire.
const SLOW_WIRE: &str = r#"
[[node]]
id = "cloud"
name = "Slow wire"
network_mb_s = { low = 0.001, high = 0.001 }
connection_mb_s = { low = 0.001, high = 0.001 }
slots = 3
pipelined = true
write_mb_s = { low = 1e9, high = 1e9 }
files_per_s = { low = 1e12, high = 1e12 }
layer_seconds = { low = 0.0, high = 0.0 }
read_mb_s = { low = 1e9, high = 1e9 }
start_seconds = { low = 0.25, high = 0.25 }
source = "test"

[[codec]]
id = "gzip"
inflate_mb_s = { low = 1e9, high = 1e9 }
gzip_ratio = { low = 1.0, high = 1.0 }
tar_ratio = { low = 0.5, high = 0.5 }
engine_speed = { low = 1.0, high = 1.0 }
source = "test"
"#;

/// A C service with CUDA, and a static library that nothing uses.
fn image(environment: &[&str]) -> Image {
    let program = Elf::program("server").needing(&["libcudart.so.13", "libc.so.6"]);
    let below: Vec<Member> = vec![
        file("lib64/ld-linux-x86-64.so.2", Elf::library("ld-linux-x86-64.so.2").build()),
        file("usr/lib/x86_64-linux-gnu/libc.so.6", Elf::library("libc.so.6").build()),
        file(CUDART, Elf::library("libcudart.so.13").build()),
        file(format!("{LIB}/libcublas_static.a"), [b"!<arch>\n".to_vec(), code("static", 60_000)].concat()),
        file("etc/ld.so.conf.d/cuda.conf", format!("/{LIB}\n")),
        file("etc/ld.so.conf", "include /etc/ld.so.conf.d/*.conf\n"),
    ];
    let above = vec![file("app/server", program.sized(0)).mode(0o755)];
    let mut image = Image::of(Packing::Gzip, [tar(below), tar(above)]);
    image.config = json!({"Entrypoint": ["/app/server"], "Env": environment});
    image
}

fn put(place: &Place, environment: &[&str]) -> String {
    format!("oci:{}", place.put_layout("image", &Layout::of(&image(environment), "t")))
}

fn scenario<'v>(report: &'v Value, name: &str) -> &'v Value {
    let list = report["cold_start"]["scenarios"].as_array().unwrap();
    list.iter().find(|one| one["name"] == name).unwrap_or_else(|| panic!("no scenario {name}: {list:#?}"))
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("not a number: {value}"))
}

#[test]
fn a_share_beyond_the_whole_is_refused() {
    let place = Place::new();
    let with = |share: &str| {
        let codec = SLOW_WIRE.replace("gzip_ratio", &format!("input_share = {share}\ngzip_ratio"));
        let arguments = ["report", "sample:runtime", "--format", "json", "--catalog"];
        place.run(&[&arguments[..], &[&*place.put("rates.toml", &codec)]].concat())
    };
    for share in ["-0.1", "1.01", "nan", "inf"] {
        let outcome = with(share);
        assert_eq!(outcome.code, 2, "{share}: {}", outcome.stderr);
        for part in ["rates.toml", "gzip", "input_share must be between 0 and 1"] {
            assert!(outcome.stderr.contains(part), "{share}: {}", outcome.stderr);
        }
    }
    for share in ["0.0", "1.0"] {
        assert_eq!(with(share).code, 0, "{share}");
    }
}

#[test]
fn seconds_follow_from_bytes_and_rates() {
    let place = Place::new();
    let image = put(&place, &[]);
    let catalog = place.put("rates.toml", SLOW_WIRE);
    let report = place.report_with(&image, &["--catalog", &catalog]).json;
    let pull = scenario(&report, "pull");
    let wire = number(&report["totals"]["compressed_bytes"]) / 1000.0;
    for bound in ["total_seconds", "total_low_seconds", "total_high_seconds"] {
        // Decompression takes nothing that a millisecond shows.
        assert!((number(&pull[bound]) - wire - 0.25).abs() < 0.002, "{bound}: {pull:#} is not {wire}");
    }
    let finding = report["findings"].as_array().unwrap().iter().find(|one| one["rule"] == "static-libraries");
    let costs = &finding.unwrap()["cold_start_seconds"];
    assert!(number(&costs["low"]) > 1.0, "of 60 KB: {costs}");
    assert!((number(&costs["low"]) - number(&costs["high"])).abs() < 0.002);
    let saved = number(&pull["total_seconds"]) - number(&pull["after_plan_seconds"]);
    assert!((saved - number(&costs["low"])).abs() < 0.002, "the plan has this finding only");
    let after = number(&report["plan"]["compressed_bytes_after"]) / 1000.0 + 0.25;
    assert!((number(&pull["after_plan_high_seconds"]) - after).abs() < 0.01, "as the plan predicts");
    let network = &pull["assumptions"]["network"];
    assert_eq!((number(&network["low"]), network["unit"].as_str()), (0.001, Some("MB/s")));
    assert_eq!(network["source"], "test");
    assert_eq!(pull["after_slim_seconds"], Value::Null, "no target was given");
    let slim = place.report_with(&image, &["--catalog", &catalog, "--target", "gpu:l4"]).json;
    let slim = scenario(&slim, "pull");
    assert!(number(&slim["after_slim_seconds"]) <= number(&slim["after_plan_seconds"]));
}

#[test]
fn bounds_are_in_order_and_start_up_is_what_the_loader_maps() {
    let place = Place::new();
    let report = place.report(&put(&place, &[])).json;
    let cold = &report["cold_start"];
    assert_eq!(
        (&cold["profile"], &cold["node"], &cold["rates"]),
        (&Value::Null, &json!("cloud"), &json!("catalog"))
    );
    let names: Vec<&str> =
        cold["scenarios"].as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["pull", "lazy-estargz", "lazy-soci"], "no base image is recognised");
    for one in cold["scenarios"].as_array().unwrap() {
        for start in ["total", "after_plan"] {
            let [low, middle, high] = ["_low_seconds", "_seconds", "_high_seconds"]
                .map(|end| number(&one[format!("{start}{end}").as_str()]));
            assert!(0.0 < low && low <= middle && middle <= high, "{one:#}");
        }
        let assumptions = one["assumptions"].as_object().unwrap();
        for (name, value) in assumptions {
            assert!(number(&value["low"]) <= number(&value["high"]), "{name}");
            assert!(value["source"].as_str().is_some_and(|text| !text.is_empty()), "{name}");
        }
    }
    let paths = cold["startup"]["paths"].as_array().unwrap();
    let names: Vec<&str> = paths.iter().map(|path| path.as_str().unwrap()).collect();
    let cudart = format!("/{CUDART}");
    assert_eq!(names, ["/app/server", "/usr/lib/x86_64-linux-gnu/libc.so.6", &cudart]);
    let ids: Vec<&str> =
        cold["advice"].as_array().unwrap().iter().map(|one| one["id"].as_str().unwrap()).collect();
    assert!(ids.contains(&"warm-instance"), "{ids:?}");
}

#[test]
fn python_starts_with_extension_modules_of_its_own() {
    let place = Place::new();
    let library = |name: &str| Elf::library(name).build();
    let own = |name: &str| format!("usr/lib/python3.12/lib-dynload/{name}.cpython-312-x86_64-linux-gnu.so");
    let files = vec![
        file("usr/bin/python3.12", Elf::program("python3.12").needing(&["libc.so.6"]).build()).mode(0o755),
        file("usr/lib/x86_64-linux-gnu/libc.so.6", library("libc.so.6")),
        file("usr/lib/x86_64-linux-gnu/libssl.so.3", library("libssl.so.3")),
        file("usr/lib/x86_64-linux-gnu/libtk8.6.so", library("libtk8.6.so")),
        file(own("_ssl"), Elf::library("").needing(&["libssl.so.3"]).build()),
        file(own("_tkinter"), Elf::library("").needing(&["libtk8.6.so"]).build()),
        file("usr/lib/python3.12/os.py", b"import abc\n"),
    ];
    let mut image = Image::of(Packing::Gzip, [tar(files)]);
    image.config = json!({"Entrypoint": ["/usr/bin/python3.12", "-c", "import ssl"]});
    let image = format!("oci:{}", place.put_layout("image", &Layout::of(&image, "t")));
    let report = place.report(&image).json;
    let startup = &report["cold_start"]["startup"];
    let paths = startup["paths"].as_array().unwrap();
    let names: Vec<&str> =
        paths.iter().map(|path| path.as_str().unwrap().rsplit('/').next().unwrap()).collect();
    assert_eq!(names, ["python3.12", "_ssl.cpython-312-x86_64-linux-gnu.so", "libc.so.6", "libssl.so.3"]);
    assert_eq!(startup["modules"], 1);
}

#[test]
fn lazy_loading_takes_as_long_after_the_removal_of_what_is_not_read() {
    let place = Place::new();
    let archive = [b"!<arch>\n".to_vec(), vec![b'x'; 600_000]].concat();
    let below = [file(format!("{LIB}/libcublas_static.a"), archive)];
    let above = [
        file("app/server", Elf::program("server").sized(0)).mode(0o755),
        file("app/data", code("data", 200_000)),
    ];
    let mut image = Image::of(Packing::Gzip, [tar(below), tar(above)]);
    image.config = json!({"Entrypoint": ["/app/server"]});
    let image = format!("oci:{}", place.put_layout("image", &Layout::of(&image, "t")));
    let report = place.report(&image).json;
    assert!(number(&report["plan"]["merged_bytes_after"]) < 300_000.0, "the archive is removed");
    for name in ["lazy-estargz", "lazy-soci"] {
        let lazy = scenario(&report, name);
        for end in ["_low_seconds", "_seconds", "_high_seconds"] {
            let [now, after] =
                ["total", "after_plan"].map(|start| number(&lazy[format!("{start}{end}").as_str()]));
            assert!((now - after).abs() < 0.001, "{name}{end}: {now} and {after}");
        }
    }
}

#[test]
fn an_unknown_size_makes_no_estimate() {
    let place = Place::new();
    place.put("root/app/file", "x");
    let report = place.report(&format!("rootfs:{}", place.path("root"))).json;
    for one in report["cold_start"]["scenarios"].as_array().unwrap() {
        for bound in ["total_seconds", "total_low_seconds", "after_plan_high_seconds"] {
            assert_eq!(one[bound], Value::Null, "{one:#}");
        }
        assert!(one["unknown"].as_str().unwrap().contains("compressed size of layer 0"), "{one:#}");
    }
    assert_eq!(report["cold_start"]["startup"], Value::Null, "there is no command");
    let text = place.run(&["report", &format!("rootfs:{}", place.path("root"))]).stdout;
    assert!(text.contains("Cold start: unknown"), "{text}");
}

#[test]
fn layers_that_a_tool_stored_uncompressed_are_assumed_to_be_gzip() {
    let place = Place::new();
    let image = image(&[]).packed(Packing::Plain);
    let archive = place.put("image.tar", tar(save_classic(&[(&image, &["service:1"])])));
    let report = place.report(&format!("docker-archive:{archive}")).json;
    let assumed = &scenario(&report, "pull")["assumptions"]["gzip_ratio"];
    assert_eq!((number(&assumed["low"]), number(&assumed["high"])), (0.3, 0.6));
}

#[test]
fn a_platform_judges_the_image_by_its_machines() {
    let place = Place::new();
    let image = put(&place, &[]);
    let report = place.report_with(&image, &["--profile", "gke"]).json;
    let targets = report["compatibility"]["targets"].as_array().unwrap();
    assert!(targets.iter().all(|one| one["target"].as_str().unwrap().starts_with("gke:")), "{targets:#?}");
    for target in targets {
        let reason = &target["reasons"][0];
        assert_eq!(
            (&target["verdict"], &reason["rule"]),
            (&json!("fails"), &json!("driver-path")),
            "{target:#}"
        );
        assert!(reason["hint"].as_str().unwrap().contains("LD_LIBRARY_PATH=/usr/local/nvidia/lib64"));
    }
    assert_eq!(report["cold_start"]["profile"]["driver_folder"], "/usr/local/nvidia/lib64");
    let given = place.report_with(&image, &["--profile", "gke", "--target", "gpu:l4"]).json;
    assert_eq!(given["compatibility"]["targets"][0]["verdict"], "fails", "a given GPU is on the platform");
    let text = place.run(&["report", &image, "--profile", "GKE"]).stdout;
    assert!(text.contains("Google Kubernetes Engine") && text.contains("mounted folder"), "{text}");
    let lazy = place.report_with(&image, &["--profile", "modal"]).json;
    assert_eq!(lazy["cold_start"]["scenarios"][0]["name"], "lazy-store");
    let unknown = place.failure(&["report", &image, "--profile", "gkee"]);
    assert!(
        unknown.contains("unknown profile gkee") && unknown.contains("hint: profiles are docker, "),
        "{unknown}"
    );
}

#[test]
fn a_check_fails_where_no_machine_of_the_platform_runs_the_image() {
    let last = |text: &str| text.lines().last().unwrap_or_default().to_owned();
    let place = Place::new();
    let image = put(&place, &[]);
    place.put("cutaway.toml", "profile = \"gke\"\n");
    let fails = place.run(&["check", &image]);
    assert_eq!((fails.code, last(&fails.stdout).as_str()), (1, "verdict: fail reason=profile:gke"));
    let told = ["Runs on Google Kubernetes Engine", "gke:g2-standard-4: ", "hint: Add to the image: ENV"];
    assert!(told.iter().all(|text| fails.stdout.contains(text)), "{}", fails.stdout);
    assert!(fails.stdout.lines().all(|line| line.chars().count() <= 80), "{}", fails.stdout);
    let aside = tempfile::tempdir().unwrap();
    let summary = aside.path().join("summary.md");
    place.run(&["check", &image, "--summary", summary.to_str().unwrap()]);
    let summary = std::fs::read_to_string(&summary).unwrap();
    assert!(summary.contains("| Google Kubernetes Engine | verdict | why | fix |"), "{summary}");
    let elsewhere = place.run(&["check", &image, "--profile", "kubernetes"]);
    assert_eq!((elsewhere.code, last(&elsewhere.stdout).as_str()), (0, "verdict: pass"));
    let other = Place::new();
    let ready = put(&other, &["LD_LIBRARY_PATH=/usr/local/nvidia/lib64"]);
    let passes = other.run(&["check", &ready, "--profile", "gke"]);
    assert_eq!((passes.code, last(&passes.stdout).as_str()), (0, "verdict: pass"), "{}", passes.stdout);
    other.put("cutaway.toml", "profile = \"gkee\"\n");
    let unknown = other.failure(&["check", &ready]);
    assert!(unknown.contains("cutaway.toml, line 1, column 11: unknown profile \"gkee\""), "{unknown}");
}

#[test]
fn every_format_for_people_has_the_section() {
    let place = Place::new();
    for format in ["text", "markdown", "html"] {
        let text = place.run(&["report", "sample:devel", "--format", format]).stdout;
        for wanted in
            ["Cold start", "Full pull, empty node", "Pull, base image on the node", "Keep an instance warm"]
        {
            assert!(text.contains(wanted), "{format} lacks {wanted}");
        }
    }
}

#[test]
fn a_machine_is_measured_once_and_its_rates_are_used() {
    let place = Place::new();
    let missing = place.failure(&["report", "sample:devel", "--rates", "calibrated"]);
    assert!(
        missing.contains("no measured rates") && missing.contains("hint: run cutaway calibrate"),
        "{missing}"
    );
    let folder = place.path("disk");
    std::fs::create_dir(&folder).unwrap();
    let measured = place.run(&["calibrate", "--quick", "--dir", &folder, "--format", "json"]);
    let rates: Value = serde_json::from_str(&measured.stdout).unwrap();
    assert_eq!((measured.code, &rates["schema"]), (0, &json!("cutaway.calibration/1")));
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0, "nothing is left behind");
    let report = place.report_with("sample:devel", &["--rates", "calibrated"]).json;
    assert_eq!(report["cold_start"]["rates"], "calibrated");
    let write = &scenario(&report, "pull")["assumptions"]["write"];
    assert!((number(&write["low"]) - number(&rates["write_mb_s"]["low"])).abs() < 0.001);
    let text = place.run(&["calibrate", "--quick", "--dir", &folder, "--no-save"]).stdout;
    assert!(text.contains("gzip decompression") && text.contains("Not stored"), "{text}");
}
