//! Libraries that crash, hang, talk and leave things behind: the command always answers, and nothing stays.

use std::process::{Command, Stdio};
use std::time::Duration;

use super::{Check, GRACE, Machine, SHORT, runs, wait_for};
use crate::support::program;

/// That the command answered in time and every process that had the library is gone.
fn over(machine: &Machine, check: &Check) {
    assert!(check.took < GRACE + Duration::from_secs(2), "{:?}", check.took);
    let pids = machine.pids();
    assert!(!pids.is_empty(), "nobody loaded the library");
    for pid in pids {
        assert!(wait_for(Duration::from_secs(2), || !runs(pid)), "process {pid} is still there");
    }
}

#[test]
fn a_crash_names_the_step_and_the_signal() {
    for (place, stage) in [
        ("load", "library"),
        ("cuInit", "init"),
        ("cuDeviceGetName", "devices"),
        ("cuModuleLoadDataEx", "module"),
        ("cuLaunchKernel", "launch"),
        ("cuGraphLaunch", "graph-launches"),
    ] {
        let machine = Machine::new().with("CRASH", place);
        let check = machine.check(&[]);
        check.fails(stage, "crashed");
        assert!(check.message().contains("SIGSEGV"), "{}", check.message());
        assert!(check.error("hint").is_string(), "{place}");
        over(&machine, &check);
    }
}

#[test]
fn a_crash_after_the_kernel_passed_leaves_its_verdict() {
    let check = Machine::new().with("CRASH", "cuGraphLaunch").check(&[]);
    assert_eq!(check.devices()[0]["kernel_check"]["verdict"], "pass", "{:#}", check.json);
    let before = Machine::new().with("CRASH", "cuLaunchKernel").check(&[]);
    assert_eq!(before.devices()[0]["kernel_check"]["verdict"], "fail", "{:#}", before.json);
}

#[test]
fn a_crash_on_one_device_says_nothing_about_those_that_passed_before() {
    // Contexts are retained one after the other: at the second one the first device has passed.
    let machine = Machine::new().with("DEVICES", "2").with("CRASH", "cuDevicePrimaryCtxRetain:2");
    let check = machine.check(&[]);
    assert_eq!((check.error("name"), check.error("stage")), (&"crashed".into(), &"context".into()));
    assert!(check.message().contains("device 1"), "{}", check.message());
    let verdict = |index: usize| &check.devices()[index]["kernel_check"]["verdict"];
    assert_eq!((verdict(0), verdict(1)), (&"pass".into(), &"fail".into()));
    over(&machine, &check);
}

#[test]
fn what_hangs_is_ended_when_its_time_is_over() {
    let places = [("load", "library"), ("cuInit", "init"), ("cuModuleLoadDataEx", "module")];
    let hang = |place: &str, stage: &str, deaf: &str| {
        let machine = Machine::new().with("HANG", place).with("DEAF", deaf).limited(SHORT);
        let check = machine.check(&[]);
        check.fails(stage, "timed-out");
        assert!(check.message().contains("2 s"), "{}", check.message());
        let notes = check.json["notes"].to_string();
        assert!(!notes.contains("cannot be stopped"), "it ended with the command, not before: {notes}");
        assert!(check.took >= Duration::from_secs(2), "{:?}", check.took);
        over(&machine, &check);
    };
    // All at once: they only sleep.
    std::thread::scope(|scope| {
        for (place, stage) in places {
            for deaf in ["0", "1"] {
                scope.spawn(move || hang(place, stage, deaf));
            }
        }
    });
}

#[test]
fn what_happens_after_the_answer_does_not_change_it() {
    for how in ["CRASH", "HANG"] {
        let machine = Machine::new().with(how, "unload").limited("20");
        let check = machine.check(&[]);
        assert_eq!(check.outcome.code, 0, "{:#}", check.json);
        let notes = check.json["notes"].to_string();
        assert!(notes.contains("finished"), "it is not told: {notes}");
        assert!(check.took < Duration::from_secs(15), "{:?}", check.took);
        over(&machine, &check);
    }
}

#[test]
fn trouble_while_things_are_given_back_leaves_the_verdict_and_has_a_step() {
    for function in ["cuMemFree_v2", "cuModuleUnload", "cuDevicePrimaryCtxRelease_v2"] {
        let machine = Machine::new().with("CRASH", function);
        let check = machine.check(&[]);
        assert_eq!(check.error("name"), "crashed", "{function}");
        assert_eq!(check.devices()[0]["kernel_check"]["verdict"], "pass", "{function}: {:#}", check.json);
    }
    let machine = Machine::new().with("HANG", "cuDevicePrimaryCtxRelease_v2").limited("4");
    let check = machine.check(&[]);
    assert_eq!(check.error("name"), "timed-out");
    assert_eq!(check.devices()[0]["kernel_check"]["verdict"], "pass");
    over(&machine, &check);
}

#[test]
fn a_process_that_ends_early_is_no_answer() {
    for code in ["0", "3"] {
        let machine = Machine::new().with("EXIT", code);
        let check = machine.check(&[]);
        check.fails("init", "no-answer");
        assert!(check.message().contains(code), "{}", check.message());
        over(&machine, &check);
    }
}

#[test]
fn what_a_library_prints_disturbs_nothing() {
    let check = Machine::new().with("PRINT", "stdout").check(&[]);
    assert_eq!(check.outcome.code, 0, "{:#}", check.json);
    assert_eq!(check.devices()[0]["kernel_check"]["verdict"], "pass");
    assert!(!check.outcome.stdout.contains("NVIDIA says"), "{:#}", check.json);
}

#[test]
fn a_flood_is_not_kept() {
    let quiet = Machine::new().check(&[]).outcome.peak_kib;
    let machine = Machine::new().with("PRINT", "flood");
    let check = machine.check(&[]);
    // 24 MiB on each of stdout and stderr.
    assert!(check.outcome.peak_kib < quiet + (8 << 10), "{} KiB, {quiet} without", check.outcome.peak_kib);
    assert!(check.json.to_string().len() < 100_000);
    if check.outcome.code != 0 {
        check.fails("init", "garbage");
    }
    over(&machine, &check);
}

#[test]
fn words_in_every_file_that_is_open_are_no_answer() {
    let machine = Machine::new().with("PRINT", "files");
    let check = machine.check(&[]);
    if check.outcome.code != 0 {
        assert_eq!(check.error("name"), "garbage", "{:#}", check.json);
    }
    over(&machine, &check);
}

#[test]
fn a_process_left_behind_holds_nobody_up() {
    let machine = Machine::new().with("FORK", "1");
    let check = machine.check(&[]);
    let pids = machine.pids();
    // It sleeps for a minute with every file open; it is ours to end when the check has not.
    for pid in pids.iter().skip(1).filter(|pid| runs(**pid)) {
        Command::new("kill").args(["-9", &pid.to_string()]).status().unwrap();
    }
    assert_eq!(pids.len(), 2, "{pids:?}");
    assert_eq!(check.outcome.code, 0, "{:#}", check.json);
    assert!(check.took < Duration::from_secs(20), "{:?}", check.took);
    assert!(!runs(pids[0]));
}

#[test]
fn the_child_does_not_outlive_the_command() {
    for signal in ["-9", "-15"] {
        let machine = Machine::new().with("HANG", "cuInit").with("DEAF", "1");
        let mut parent = program()
            .args(machine.arguments(&[]))
            .envs(machine.environment.iter().cloned())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let begun = wait_for(Duration::from_secs(20), || !machine.pids().is_empty());
        Command::new("kill").args([signal, &parent.id().to_string()]).status().unwrap();
        parent.wait().unwrap();
        assert!(begun, "the child never loaded the library");
        let child = machine.pids()[0];
        let gone = wait_for(Duration::from_secs(5), || !runs(child));
        if !gone {
            Command::new("kill").args(["-9", &child.to_string()]).status().unwrap();
        }
        assert!(gone, "process {child} outlived the command after {signal}");
    }
}

#[test]
fn a_limit_that_is_none_is_wrong_use() {
    for limit in ["-1", "nan", "inf", "x", ""] {
        let machine = Machine::new();
        let outcome = machine.place.run_in(&machine.environment, &["gpu", "--limit", limit]);
        assert_eq!((outcome.code, outcome.stdout.as_str()), (2, ""), "{limit}: {}", outcome.stderr);
        assert!(machine.pids().is_empty());
    }
}
