//! What a result says: nothing twice, nothing that contradicts it, nothing left out.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::time::{Duration, Instant};

use cutaway::gpu::{self, CheckRequest, ChildRequest, KernelVerdict};
use cutaway::jobs::CancelToken;
use serde_json::Value;

use super::{Check, Machine, built, wait_for};

fn two(failure: &str) -> Machine {
    Machine::new().with("DEVICES", "2").with("FAIL", failure)
}

fn notes(check: &Check) -> String {
    check.json["notes"].to_string()
}

fn detail<'a>(check: &'a Check, step: &str) -> &'a Value {
    let steps = check.json["steps"].as_array().unwrap();
    &steps.iter().find(|known| known["name"] == step).unwrap()["detail"]
}

#[test]
fn an_error_names_its_device_once() {
    let check = two("cuModuleLoadDataEx:209:2").check(&[]);
    assert_eq!(check.message().matches("device 1").count(), 1, "{}", check.message());
}

#[test]
fn what_failed_on_a_second_device_is_told_too() {
    let check = two("cuModuleLoadDataEx:209:1,cuModuleLoadDataEx:218:2").check(&[]);
    assert!(check.message().contains("device 0"), "{}", check.message());
    assert!(notes(&check).contains("evice 1") && notes(&check).contains("218"), "{}", notes(&check));
    let crashed = two("cuDevicePrimaryCtxRetain:46:1").with("CRASH", "cuDevicePrimaryCtxRetain:2").check(&[]);
    assert_eq!(crashed.error("code"), 46);
    assert!(notes(&crashed).contains("SIGSEGV"), "{}", notes(&crashed));
}

#[test]
fn the_first_line_says_what_the_exit_code_says() {
    let line = |machine: Machine, options: &[&str]| {
        let outcome = machine.text(options);
        (outcome.code, outcome.stdout.lines().next().unwrap().to_owned())
    };
    let (code, first) = line(Machine::new().with("FAIL", "cuGraphLaunch:719"), &[]);
    assert_eq!(code, 2);
    assert_eq!(first, "Some checks failed: CUDA_ERROR_LAUNCH_FAILED", "its kernel was right");
    let (code, first) = line(two("cuGraphLaunch:719:1"), &[]);
    assert_eq!((code, first.as_str()), (0, "1 of 2 GPUs works: CUDA_ERROR_LAUNCH_FAILED"));
    let (code, first) = line(two("cuInit:802"), &[]);
    assert_eq!((code, first.as_str()), (2, "No working GPU: CUDA_ERROR_SYSTEM_NOT_READY"));
    let (code, first) = line(two("cuMemAlloc_v2:2"), &["--device", "1"]);
    assert_eq!(code, 2);
    assert!(first.contains("evice 1"), "nobody looked at the other one: {first}");
}

#[test]
fn numbers_are_on_the_device_before_the_kernel_runs() {
    let check = Machine::new().with("LATE", "1").check(&[]);
    assert_eq!(check.outcome.code, 0, "{:#}", check.json["error"]);
}

#[test]
fn what_is_no_number_has_no_difference() {
    let check = Machine::new().with("WRONG", "nan").check(&[]);
    assert!(check.devices()[0]["kernel_check"]["max_abs_error"].is_null(), "{:#}", check.json["devices"]);
    let right = Machine::new().check(&[]);
    assert_eq!(right.devices()[0]["kernel_check"]["tolerance"], 1e-6);
}

#[test]
fn a_step_shows_the_figures_that_the_device_has() {
    let check = Machine::new().with("STREAM_US", "20").check(&[]);
    let graph = &check.devices()[0]["graph"];
    let shown = detail(&check, "graph-launches").as_str().unwrap();
    for name in ["stream_us_per_launch", "graph_us_per_launch"] {
        let figure = format!("{:.2} us", graph[name].as_f64().unwrap());
        assert!(shown.contains(&figure), "{name} is {figure}: {shown}");
    }
    let first = detail(&check, "stream-launches").as_str().unwrap_or_default();
    assert!(!first.contains("us"), "a second figure for the same thing: {first}");
}

#[test]
fn what_makes_launches_slow_is_told_beside_them() {
    let check = Machine::new().with_variable("CUDA_LAUNCH_BLOCKING", "1").check(&[]);
    assert!(notes(&check).contains("CUDA_LAUNCH_BLOCKING"), "{}", notes(&check));
    for off in ["0", ""] {
        let check = Machine::new().with_variable("CUDA_LAUNCH_BLOCKING", off).check(&[]);
        assert!(!notes(&check).contains("CUDA_LAUNCH_BLOCKING"), "{off:?}: {}", notes(&check));
    }
}

#[test]
fn no_device_is_left_out_in_silence() {
    let machine = Machine::new().with("DEVICES", "130");
    // The stand-in has no context for it, which shows that it was tried.
    let check = machine.check(&["--device", "129"]);
    assert_eq!((check.error("stage"), check.error("code")), (&"context".into(), &2.into()));
    assert!(notes(&check).contains("128 of 130"), "{}", notes(&check));
}

#[test]
fn a_part_of_a_gpu_is_one_without_nvml_too() {
    let check = Machine::new().with("NAME", "NVIDIA A100-SXM4-40GB MIG 1g.5gb").check(&[]);
    let device = &check.devices()[0];
    assert_eq!((&device["mig"], &device["nvml"]), (&true.into(), &Value::Null));
    assert_eq!(device["uuid"], "MIG-00010203-0405-0607-0809-0a0b0c0d0e0f");
}

#[test]
fn what_the_driver_keeps_for_itself_is_not_in_use() {
    let machine = Machine::new().with_variable("FAKE_NVML_RESERVED", "616");
    machine.place.put("driver/libnvidia-ml.so.1", built(&["fake_nvml.c"], &[]));
    let check = machine.check(&[]);
    assert_eq!(check.devices()[0]["nvml"]["memory_used_bytes"], (1024 - 616) << 20);
}

/// A request to a child that is this script.
fn script(folder: &tempfile::TempDir, text: &str) -> CheckRequest {
    let path = folder.path().join("child");
    fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    let mut request = CheckRequest::new(ChildRequest::default()).unwrap();
    request.executable = path;
    request.limit = Duration::from_secs(30);
    request
}

#[test]
fn last_words_are_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let request = script(&folder, "(sleep 0.3; echo last words >&2) >&- & exit 3");
    let check = gpu::check(&request, &CancelToken::new(), &mut |_| ());
    let error = check.error.unwrap();
    assert_eq!((error.name.as_str(), error.log.as_deref()), ("no-answer", Some("last words")));
}

#[test]
fn a_child_that_was_stopped_is_ended_by_limit_and_by_cancel() {
    let folder = tempfile::tempdir().unwrap();
    let pid = folder.path().join("pid");
    let mut request =
        script(&folder, &format!("echo $$ > {0}.new; mv {0}.new {0}; kill -STOP $$", pid.display()));
    let gone = || {
        let pid = fs::read_to_string(&pid).unwrap();
        !fs::exists(format!("/proc/{}", pid.trim())).unwrap()
    };
    let begun = Instant::now();
    let cancel = CancelToken::new();
    let check = std::thread::scope(|scope| {
        let check = scope.spawn(|| gpu::check(&request, &cancel, &mut |_| ()));
        assert!(wait_for(Duration::from_secs(20), || pid.exists()));
        cancel.cancel();
        check.join().unwrap()
    });
    assert_eq!(check.error.unwrap().name, "cancelled");
    assert!(gone() && begun.elapsed() < Duration::from_secs(25));
    fs::remove_file(&pid).unwrap();

    request.limit = Duration::from_secs(1);
    let check = gpu::check(&request, &CancelToken::new(), &mut |_| ());
    assert_eq!(check.error.unwrap().name, "timed-out");
    assert!(gone());
}

#[test]
fn messages_that_make_no_sense_do_no_harm() {
    let folder = tempfile::tempdir().unwrap();
    let say = |message: &str| format!("cutaway.gpu/1 {message}\n");
    let deep = format!("{{\"note\":{}", "[".repeat(60_000));
    let step = r#"{"step":{"name":"verify","ok":true,"us":18446744073709551615,"device":4294967295}}"#;
    let lines = [
        say("\"end\""),
        say(step),
        say(step),
        say(r#"{"begin":{"stage":"launch","device":7}}"#),
        say(r#"{"step":{"name":"launch","ok":true,"us":1e400}}"#),
        say(r#"{"step":{"name":"launch","ok":true,"us":-1}}"#),
        say(r#"{"device":{"index":7,"kernel_check":{"verdict":"pass","max_abs_error":1e308}}}"#),
        say(r#"{"device":{"index":7}}"#),
        say(&deep),
        say(r#"{"note":"\u001b[31m\u202e"}"#),
        "no end of line".to_owned(),
    ];
    fs::write(folder.path().join("said"), lines.concat().into_bytes()).unwrap();
    let request = script(&folder, &format!("cat {}", folder.path().join("said").display()));
    let check = gpu::check(&request, &CancelToken::new(), &mut |_| ());
    assert_eq!(check.devices.len(), 1);
    assert_eq!(check.devices[0].kernel_check.verdict, KernelVerdict::Skipped, "the last word counts");
    assert!(!check.available);
}
