//! What NVML adds, and that nothing depends on it.

use super::{GRACE, Machine, SHORT, built};

/// A machine with NVML beside libcuda.
fn managed() -> Machine {
    let machine = Machine::new();
    machine.place.put("driver/libnvidia-ml.so.1", built(&["fake_nvml.c"], &[]));
    machine
}

#[test]
fn what_nvml_says_of_driver_and_device_is_told() {
    let check = managed().check(&[]);
    assert_eq!(check.json["driver"]["version"], "580.126.09");
    let device = &check.devices()[0];
    assert_eq!(
        (&device["uuid"], &device["mig"]),
        (&"GPU-00010203-0405-0607-0809-0a0b0c0d0e0f".into(), &false.into())
    );
    let expected = serde_json::json!({
        "brand": "nvidia", "memory_used_bytes": 1_u64 << 30, "mig_mode": false, "compute_mode": "default",
        "ecc_uncorrected": 7, "temperature_c": 41, "fabric": null,
    });
    assert_eq!(device["nvml"], expected);
}

#[test]
fn a_part_of_a_gpu_is_told_by_its_uuid() {
    let check = managed().with_variable("FAKE_NVML_MIG", "1").check(&[]);
    let device = &check.devices()[0];
    assert_eq!(
        (&device["uuid"], &device["mig"]),
        (&"MIG-00010203-0405-0607-0809-0a0b0c0d0e0f".into(), &true.into())
    );
    assert_eq!(device["nvml"]["mig_mode"], true);
    assert_eq!(device["nvml"]["memory_used_bytes"], 5 << 20, "its own, not that of the whole");
    assert_eq!(device["nvml"]["temperature_c"], 41, "that of the whole, as it has none of its own");
}

#[test]
fn numbers_of_nvml_have_names() {
    let check = managed()
        .with_variable("FAKE_NVML_BRAND", "5")
        .with_variable("FAKE_NVML_MODE", "3")
        .with_variable("FAKE_NVML_FABRIC", "2")
        .check(&[]);
    let nvml = &check.devices()[0]["nvml"];
    assert_eq!(nvml["brand"], "geforce");
    assert_eq!(nvml["compute_mode"], "exclusive-process");
    assert_eq!(nvml["fabric"], "in-progress");
    let unknown =
        managed().with_variable("FAKE_NVML_BRAND", "4000").with_variable("FAKE_NVML_MODE", "77").check(&[]);
    let nvml = &unknown.devices()[0]["nvml"];
    assert!(nvml["brand"].is_null() && nvml["compute_mode"].is_null(), "{nvml}");
}

#[test]
fn a_device_that_nvml_does_not_know_has_nothing_of_it() {
    let check = managed().with("DEVICES", "2").check(&[]);
    assert!(
        check.devices()[0]["nvml"].is_object() && check.devices()[1]["nvml"].is_null(),
        "{:#}",
        check.json
    );
    assert_eq!(check.outcome.code, 0);
}

#[test]
fn without_nvml_the_check_passes_and_what_is_not_known_is_null() {
    let silent = || managed().with_variable("FAKE_NVML_SILENT", "1");
    let machines = [Machine::new(), managed().with_variable("FAKE_NVML_INIT", "18"), silent()];
    for machine in machines {
        let check = machine.check(&[]);
        assert_eq!(check.outcome.code, 0, "{:#}", check.json);
        let device = &check.devices()[0];
        let facts = device["nvml"].as_object();
        assert!(facts.is_none_or(|facts| facts.values().all(serde_json::Value::is_null)), "{device:#}");
        assert_ne!(check.json["driver"]["version"], "580.126.09");
    }
}

#[test]
fn nvml_that_hangs_is_ended_as_everything_else() {
    let machine = managed().with_variable("FAKE_NVML_HANG", "1").limited(SHORT);
    let check = machine.check(&[]);
    assert!(check.took < GRACE, "{:?}", check.took);
    assert_eq!(check.error("name"), "timed-out");
}

#[test]
fn exclusive_use_by_another_process_is_told() {
    let machine = managed().with_variable("FAKE_NVML_MODE", "3").with("FAIL", "cuDevicePrimaryCtxRetain:46");
    let check = machine.check(&[]);
    check.fails("context", "CUDA_ERROR_DEVICE_UNAVAILABLE").hints_at(&["exclusive"]);
}
