//! GPUs that work, and how much of a machine is checked.

use serde_json::Value;

use super::Machine;

const ALL: [&str; 13] = [
    "start",
    "library",
    "init",
    "driver",
    "devices",
    "context",
    "module",
    "memory",
    "launch",
    "verify",
    "stream-launches",
    "graph-capture",
    "graph-launches",
];

#[test]
fn a_gpu_that_works_goes_through_every_step() {
    let machine = Machine::new();
    let check = machine.check(&[]);
    assert_eq!(check.steps(), ALL);
    assert_eq!(check.outcome.code, 0);
    assert_eq!(check.outcome.stderr, "");
    assert!(check.json["error"].is_null(), "{:#}", check.json);
    let [device] = check.devices() else { panic!("{:#}", check.json["devices"]) };
    assert_eq!(device["index"], 0);
    assert_eq!(device["name"], "Simulated GPU");
    assert_eq!(device["compute_capability"], "9.0");
    assert_eq!(device["memory_bytes"], 80_u64 << 30);
    assert_eq!(device["multiprocessors"], 132);
    assert_eq!(device["integrated"], false);
    assert_eq!(device["uuid"], "GPU-00010203-0405-0607-0809-0a0b0c0d0e0f");
    assert_eq!(device["kernel_check"]["verdict"], "pass");
    assert_eq!(
        device["kernel_check"]["max_abs_error"], 0.0,
        "the simulated device rounds as the processor does"
    );
    assert!(
        device["kernel_check"]["launch_us"].is_u64() && device["kernel_check"]["module_load_us"].is_u64()
    );
    assert!(!device["graph"].is_null());
    assert!(device["bandwidth_gb_s"].is_null(), "nobody asked for it");
    let driver = &check.json["driver"];
    assert_eq!(driver["cuda_version"], "13.0");
    assert_eq!(driver["library_path"], machine.library.clone().unwrap());
    assert_eq!(check.json["tried"][0]["outcome"], "taken");
}

#[test]
fn the_check_touches_the_device_only_in_its_child_and_once() {
    let machine = Machine::new().listening();
    machine.check(&[]);
    assert_eq!(machine.pids().len(), 1, "one process loads the library");
    let calls = machine.calls();
    let count = |name: &str| calls.iter().filter(|call| *call == name).count();
    assert_eq!((count("cuInit"), count("cuDevicePrimaryCtxRetain")), (1, 1));
    assert!(count("cuGraphLaunch") > 1 && count("cuLaunchKernel") > 100, "{calls:?}");
    assert_eq!(count("cuMemAlloc_v2"), count("cuMemFree_v2"), "what was taken is given back");
}

#[test]
fn launches_are_measured_on_a_stream_and_in_a_graph() {
    // A launch on a stream costs 40 µs here, one in a graph next to nothing.
    let machine = Machine::new().with("STREAM_US", "40");
    let check = machine.check(&[]);
    let graph = &check.devices()[0]["graph"];
    let figure = |name: &str| graph[name].as_f64().unwrap();
    assert!(figure("stream_us_per_launch") >= 40.0, "{graph}");
    assert!(figure("graph_us_per_launch") < figure("stream_us_per_launch"), "{graph}");
    assert!(figure("speedup") > 1.0, "{graph}");
}

#[test]
fn copies_are_timed_when_asked_for() {
    let check = Machine::new().check(&["--bandwidth"]);
    assert_eq!(check.steps(), [&ALL[..], &["bandwidth"]].concat());
    for name in ["host_to_device", "device_to_host", "device_to_device"] {
        let speed = check.devices()[0]["bandwidth_gb_s"][name].as_f64().unwrap();
        assert!((0.01..10_000.0).contains(&speed), "{name}: {speed}");
    }
}

#[test]
fn every_device_is_checked() {
    let check = Machine::new().with("DEVICES", "3").check(&[]);
    let found: Vec<_> =
        check.devices().iter().map(|device| (&device["index"], &device["kernel_check"]["verdict"])).collect();
    let pass = Value::from("pass");
    assert_eq!(found, [(&0.into(), &pass), (&1.into(), &pass), (&2.into(), &pass)]);
}

#[test]
fn one_device_of_several_can_be_asked_for() {
    let machine = Machine::new().with("DEVICES", "2").listening();
    let check = machine.check(&["--device", "1"]);
    for device in check.devices() {
        let expected = if device["index"] == 1 { "pass" } else { "skipped" };
        assert_eq!(device["kernel_check"]["verdict"], expected, "{device:#}");
    }
    assert!(check.devices().iter().any(|device| device["index"] == 1));
    let contexts = machine.calls().iter().filter(|call| *call == "cuDevicePrimaryCtxRetain").count();
    assert_eq!(contexts, 1, "the other one is left alone");
}

#[test]
fn help_shows_what_users_need_and_no_more() {
    let help = Machine::bare().place.run_in(&[], &["gpu", "--help"]);
    assert_eq!(help.code, 0);
    for option in ["--format", "--device", "--bandwidth"] {
        assert!(help.stdout.contains(option), "no {option}: {}", help.stdout);
    }
    for option in ["--child", "--library", "--limit"] {
        assert!(!help.stdout.contains(option), "{option}: {}", help.stdout);
    }
}

#[test]
fn a_device_that_is_not_there_is_an_error_that_names_it() {
    for (devices, number) in [("1", "1"), ("2", "7"), ("1", "4294967295")] {
        let check = Machine::new().with("DEVICES", devices).check(&["--device", number]);
        assert_eq!((check.outcome.code, check.error("code")), (2, &101.into()), "{:#}", check.json);
        let told = format!("{} {}", check.message(), check.error("hint"));
        assert!(told.contains(number), "{told}");
    }
    for number in ["-1", "x", "4294967296"] {
        let wrong = Machine::new().text(&["--device", number]);
        assert_eq!((wrong.code, wrong.stdout.as_str()), (2, ""), "{number}");
        assert!(wrong.stderr.contains(number), "{}", wrong.stderr);
    }
}

#[test]
fn the_text_names_what_matters_in_80_columns() {
    let outcome = Machine::new().with("DEVICES", "2").text(&["--bandwidth"]);
    assert_eq!((outcome.code, outcome.stderr.as_str()), (0, ""));
    for part in
        ["Simulated GPU", "9.0", "13.0", "80.0 GiB", "2 GPUs work", "Find libcuda.so.1", "graph", "GB/s"]
    {
        assert!(
            outcome.stdout.to_lowercase().contains(&part.to_lowercase()),
            "no {part}:\n{}",
            outcome.stdout
        );
    }
    let broken = Machine::new().with("FAIL", "cuInit:802").text(&[]);
    assert_eq!(broken.code, 2);
    let all = format!("{}{}", broken.stdout, broken.stderr);
    for part in ["CUDA_ERROR_SYSTEM_NOT_READY", "802", "hint: ", "fabric manager"] {
        assert!(all.to_lowercase().contains(&part.to_lowercase()), "no {part}:\n{all}");
    }
    for line in outcome.stdout.lines().chain(broken.stdout.lines()) {
        assert!(line.chars().count() <= 80, "{line}");
    }
}

#[test]
fn old_and_new_drivers_and_small_devices_are_told_apart() {
    for (driver, shown) in [("11040", "11.4"), ("12020", "12.2"), ("13010", "13.1")] {
        let check = Machine::new().with("DRIVER", driver).with("CC", "3.5").check(&["--device", "0"]);
        assert_eq!(check.json["driver"]["cuda_version"], shown);
        assert_eq!(check.devices()[0]["compute_capability"], "3.5");
        assert_eq!(check.outcome.code, 0);
    }
}

#[test]
fn the_loader_finds_the_library_as_it_does_for_every_program() {
    let mut machine = Machine::new();
    let path = machine.library.take().unwrap();
    let machine = machine.with_variable("LD_LIBRARY_PATH", path.strip_suffix("/libcuda.so.1").unwrap());
    let check = machine.check(&[]);
    assert_eq!(check.outcome.code, 0, "{:#}", check.json);
    assert_eq!(check.json["driver"]["found_by"], "loader");
    assert_eq!(check.json["driver"]["library_path"], path);
    assert_eq!(check.json["tried"][0]["path"], "libcuda.so.1");
}

#[test]
fn names_from_the_driver_cannot_harm() {
    for (name, shown) in [("full", "NNN"), ("Evil\u{1b}[31m\nGPU\u{202e}", "Evil")] {
        let machine = Machine::new().with("NAME", name);
        let check = machine.check(&[]);
        let text = machine.text(&[]);
        assert_eq!((check.outcome.code, text.code), (0, 0));
        assert!(check.devices()[0]["name"].as_str().unwrap().starts_with(shown), "{:#}", check.json);
        assert!(text.stdout.contains(shown), "{}", text.stdout);
    }
}

#[test]
fn absurd_numbers_of_devices_are_bounded() {
    for count in ["2000000000", "-3"] {
        let machine = Machine::new().with("DEVICES", count).limited("20");
        let check = machine.check(&["--device", "0"]);
        assert!(
            check.devices().len() < 1000 && check.outcome.peak_kib < 200 << 10,
            "{}",
            check.devices().len()
        );
        if count == "-3" {
            assert_eq!(check.outcome.code, 2, "{:#}", check.json);
        }
    }
}
