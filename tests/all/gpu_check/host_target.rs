//! `--target host`: the GPUs of this machine as targets of a report.

use super::Machine;

/// A machine whose library is found by the loader.
fn host() -> Machine {
    let mut machine = Machine::new();
    let path = machine.library.take().unwrap();
    machine.with_variable("LD_LIBRARY_PATH", path.strip_suffix("/libcuda.so.1").unwrap())
}

#[test]
fn the_gpus_of_this_machine_are_targets() {
    let machine = host().with("DEVICES", "2").with("CC", "8.6").listening();
    let arguments = ["report", "sample:devel", "--target", "host", "--format", "json"];
    let outcome = machine.place.run_in(&machine.environment, &arguments);
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    let report: serde_json::Value = serde_json::from_str(&outcome.stdout).unwrap();
    let targets = report["compatibility"]["targets"].as_array().unwrap();
    assert!(!targets.is_empty(), "{:#}", report["compatibility"]);
    for target in targets {
        assert_eq!(target["compute_capability"], "8.6", "{target:#}");
    }
    assert!(!machine.calls().contains(&"cuDevicePrimaryCtxRetain".to_owned()), "it takes no context");
}

#[test]
fn without_a_gpu_the_host_is_no_target() {
    for machine in [
        host().with("FAIL", "cuInit:802"),
        host().with("FAIL", "cuDeviceGetCount:100"),
        host().with("DEVICES", "0"),
        host().with("CRASH", "cuInit"),
    ] {
        let outcome =
            machine.place.run_in(&machine.environment, &["report", "sample:devel", "--target", "host"]);
        assert_eq!((outcome.code, outcome.stdout.as_str()), (2, ""), "{}", outcome.stderr);
        let lines: Vec<&str> = outcome.stderr.lines().collect();
        assert!(lines[0].starts_with("error: ") && lines[0].contains("host"), "{}", outcome.stderr);
        assert!(lines.iter().any(|line| line.starts_with("hint: ")), "{}", outcome.stderr);
    }
    let machine = host().with("FAIL", "cuInit:802");
    let message =
        machine.place.run_in(&machine.environment, &["report", "sample:devel", "--target", "host"]).stderr;
    assert!(message.contains("802") && message.contains("fabric manager"), "{message}");
}

#[test]
fn no_device_is_an_error_of_the_check() {
    let check = Machine::new().with("DEVICES", "0").check(&[]);
    assert_eq!((check.outcome.code, check.error("stage")), (2, &"devices".into()), "{:#}", check.json);
    assert!(check.error("hint").is_string());
}

#[test]
fn the_gain_of_graphs_is_measured_on_this_machine() {
    let machine = host();
    let arguments = ["deploy", "sample:devel", "--launches", "100,7", "--format", "json"];
    let outcome = machine.place.run_in(&machine.environment, &arguments);
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    let report: serde_json::Value = serde_json::from_str(&outcome.stdout).unwrap();
    crate::schema::fits("deploy", &report);
    let gains = report["cuda_graphs"]["gains"].as_array().unwrap();
    let launches: Vec<&serde_json::Value> = gains.iter().map(|gain| &gain["launches"]).collect();
    assert_eq!(launches, [100, 7]);
    assert!(
        gains.iter().all(|gain| gain["stream_us"].is_number() && gain["saved_us"].is_number()),
        "{gains:?}"
    );
    let failing = host().with("FAIL", "cuInit:802");
    let outcome = failing.place.run_in(&failing.environment, &arguments);
    assert_eq!((outcome.code, outcome.stdout.as_str()), (2, ""), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("cannot measure launches on this machine"), "{}", outcome.stderr);
}
