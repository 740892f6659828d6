//! Errors that CUDA returns: the step, the name, and what to do about them.

use super::Machine;

/// A machine whose driver fails as told.
fn failing(failure: &str) -> Machine {
    Machine::new().with("FAIL", failure)
}

#[test]
fn every_error_of_the_driver_is_told_by_its_name_in_the_step_it_came_in() {
    for (failure, stage, code, name) in [
        ("cuInit:999", "init", 999, "CUDA_ERROR_UNKNOWN"),
        ("cuInit:3", "init", 3, "CUDA_ERROR_NOT_INITIALIZED"),
        ("cuDriverGetVersion:1", "driver", 1, "CUDA_ERROR_INVALID_VALUE"),
        ("cuDeviceGetCount:100", "devices", 100, "CUDA_ERROR_NO_DEVICE"),
        ("cuDevicePrimaryCtxRetain:2", "context", 2, "CUDA_ERROR_OUT_OF_MEMORY"),
        ("cuDevicePrimaryCtxRetain:46", "context", 46, "CUDA_ERROR_DEVICE_UNAVAILABLE"),
        ("cuCtxSetCurrent:201", "context", 201, "CUDA_ERROR_INVALID_CONTEXT"),
        ("cuModuleLoadDataEx:209", "module", 209, "CUDA_ERROR_NO_BINARY_FOR_GPU"),
        ("cuMemAlloc_v2:2", "memory", 2, "CUDA_ERROR_OUT_OF_MEMORY"),
        ("cuMemcpyHtoD_v2:700", "memory", 700, "CUDA_ERROR_ILLEGAL_ADDRESS"),
        ("cuLaunchKernel:719", "launch", 719, "CUDA_ERROR_LAUNCH_FAILED"),
        ("cuMemcpyDtoH_v2:700", "verify", 700, "CUDA_ERROR_ILLEGAL_ADDRESS"),
    ] {
        let check = failing(failure).check(&[]);
        check.fails(stage, name);
        assert_eq!(check.error("code"), code, "{failure}");
        assert_eq!(check.steps().last(), Some(&stage), "{failure}: nothing is tried after it");
        let function = failure.split(['_', ':']).next().unwrap();
        let message = check.message();
        assert!(message.contains(function) || message.contains(name), "{failure}: {message}");
    }
}

#[test]
fn what_happens_in_the_kernel_is_told_where_it_is_waited_for() {
    for code in ["700", "702", "719"] {
        let check = failing(&format!("cuStreamSynchronize:{code}")).check(&[]);
        assert_eq!(check.error("code").to_string(), code);
        assert!(["memory", "launch"].contains(&check.error("stage").as_str().unwrap()), "{:#}", check.json);
        assert_eq!(check.devices()[0]["kernel_check"]["verdict"], "fail");
        assert!(check.devices()[0]["kernel_check"]["max_abs_error"].is_null(), "nothing was compared");
    }
}

#[test]
fn errors_that_people_meet_have_hints_that_help() {
    for (failure, words) in [
        ("cuInit:35", &["newer driver", "update the driver", "newer", "compat"][..]),
        ("cuInit:36", &["newer", "update"]),
        ("cuInit:100", &["--gpus", "container toolkit", "CUDA_VISIBLE_DEVICES"]),
        ("cuDeviceGetCount:100", &["--gpus", "container toolkit", "CUDA_VISIBLE_DEVICES"]),
        ("cuInit:101", &["CUDA_VISIBLE_DEVICES", "MIG"]),
        ("cuInit:802", &["fabric"]),
        ("cuInit:803", &["restart"]),
        ("cuInit:804", &["compat"]),
        ("cuDevicePrimaryCtxRetain:805", &["MPS"]),
        ("cuInit:999", &["uvm", "dmesg", "modprobe"]),
        ("cuDevicePrimaryCtxRetain:46", &["exclusive", "compute mode"]),
        ("cuDevicePrimaryCtxRetain:2", &["memory"]),
        ("cuModuleLoadDataEx:221", &["NVIDIA_DRIVER_CAPABILITIES", "compute", "ptxjitcompiler"]),
        ("cuModuleLoadDataEx:222", &["newer", "update"]),
    ] {
        failing(failure).check(&[]).hints_at(words);
    }
}

#[test]
fn a_code_without_a_name_is_still_told() {
    let check = failing("cuInit:12345").check(&[]);
    assert_eq!((check.error("code"), check.error("stage")), (&12345.into(), &"init".into()));
    assert!(check.message().contains("12345"), "{}", check.message());
}

#[test]
fn what_the_compiler_of_the_driver_wrote_is_kept() {
    let check = failing("cuModuleLoadDataEx:218").check(&[]);
    check.fails("module", "CUDA_ERROR_INVALID_PTX");
    let log = check.error("log").as_str().unwrap();
    assert!(log.contains("the stand-in was told to fail"), "{log}");

    let endless = failing("cuModuleLoadDataEx:218").with("LOG", "full").check(&[]);
    endless.fails("module", "CUDA_ERROR_INVALID_PTX");
    let log = endless.error("log").as_str().unwrap();
    assert!(log.starts_with("LLLL") && log.len() <= 64 << 10, "{}", log.len());
}

#[test]
fn a_library_of_a_compat_package_is_named_as_the_cause() {
    for code in ["803", "804"] {
        let machine =
            Machine::built(&[], "cuda-13.0/compat/libcuda.so.1").with("FAIL", &format!("cuInit:{code}"));
        let check = machine.check(&[]);
        assert_eq!(check.error("code").to_string(), code);
        check.hints_at(&["compat"]);
    }
    let elsewhere = failing("cuInit:803").check(&[]);
    assert!(!elsewhere.error("hint").to_string().contains("compat"), "it is innocent");
}

#[test]
fn graphs_that_fail_leave_the_kernel_its_verdict() {
    for (failure, stage) in [
        ("cuStreamBeginCapture_v2:801", "graph-capture"),
        ("cuStreamEndCapture:901", "graph-capture"),
        ("cuGraphInstantiateWithFlags:2", "graph-capture"),
        ("cuGraphLaunch:719", "graph-launches"),
    ] {
        let check = failing(failure).check(&[]);
        assert_eq!(check.error("stage"), stage, "{failure}");
        let device = &check.devices()[0];
        assert_eq!(device["kernel_check"]["verdict"], "pass", "{failure}");
        assert!(device["graph"].is_null(), "{failure}: half a measurement is none");
    }
    // The first launch is that of the kernel; the others are those that are measured.
    let check = failing("cuLaunchKernel:719:40").check(&[]);
    assert_eq!(check.error("stage"), "stream-launches");
    assert_eq!(check.devices()[0]["kernel_check"]["verdict"], "pass");
}

#[test]
fn copies_that_fail_leave_everything_else_as_it_is() {
    for failure in ["cuMemHostAlloc:2", "cuMemcpyHtoDAsync_v2:1", "cuMemcpyDtoDAsync_v2:1"] {
        let check = failing(failure).check(&["--bandwidth"]);
        assert_eq!(check.error("stage"), "bandwidth", "{failure}");
        let device = &check.devices()[0];
        assert_eq!(device["kernel_check"]["verdict"], "pass");
        assert!(!device["graph"].is_null());
    }
    assert_eq!(failing("cuMemHostAlloc:2").check(&[]).outcome.code, 0, "nobody asked for copies");
}

#[test]
fn of_two_devices_one_fails_and_the_other_is_checked_all_the_same() {
    for (number, other) in [(0, 1), (1, 0)] {
        for (function, stage) in
            [("cuDevicePrimaryCtxRetain:46", "context"), ("cuModuleLoadDataEx:209", "module")]
        {
            let machine = failing(&format!("{function}:{}", number + 1)).with("DEVICES", "2");
            let check = machine.check(&[]);
            assert_eq!(check.error("stage"), stage);
            let verdict = |index: usize| &check.devices()[index]["kernel_check"]["verdict"];
            assert_eq!(
                (verdict(number), verdict(other)),
                (&"fail".into(), &"pass".into()),
                "{:#}",
                check.json
            );
            assert!(check.message().contains(&format!("device {number}")), "{}", check.message());
            assert_eq!(check.outcome.code, 0, "one GPU did everything: {:#}", check.json);
        }
    }
}

#[test]
fn an_old_driver_names_the_function_that_it_lacks() {
    let machine = Machine::built(&["-DWITHOUT_LAUNCH"], "driver/libcuda.so.1");
    let check = machine.check(&[]);
    check.fails("library", "too-old").hints_at(&["newer", "older"]);
    assert!(check.message().contains("cuLaunchKernel"), "{}", check.message());
}

#[test]
fn a_driver_without_graphs_passes_and_says_so() {
    let machine = Machine::built(&["-DWITHOUT_GRAPHS"], "driver/libcuda.so.1");
    let check = machine.check(&[]);
    assert_eq!(check.outcome.code, 0, "{:#}", check.json);
    assert!(check.devices()[0]["graph"].is_null());
    let notes = check.json["notes"].as_array().unwrap();
    assert!(notes.iter().any(|note| note.as_str().unwrap().to_lowercase().contains("graph")), "{notes:?}");
    assert!(!check.steps().contains(&"graph-launches"));
}

#[test]
fn drivers_of_cuda_10_and_11_make_graphs_in_their_own_way() {
    let machine =
        Machine::built(&["-DWITHOUT_FLAGS"], "driver/libcuda.so.1").with("DRIVER", "11000").listening();
    let check = machine.check(&[]);
    assert_eq!(check.outcome.code, 0, "{:#}", check.json);
    assert!(!check.devices()[0]["graph"].is_null());
    assert!(machine.calls().contains(&"cuGraphInstantiate_v2".to_owned()));
}
