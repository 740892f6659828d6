//! Libraries that are not there, or are none.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use super::{GRACE, Machine, SHORT, stand_in};
use crate::oracle::skip;

#[test]
fn a_library_that_is_not_there_is_named() {
    let mut machine = Machine::bare();
    let path = machine.place.path("nowhere/libcuda.so.1");
    machine.library = Some(path.clone());
    let check = machine.check(&[]);
    check.fails("library", "no-library");
    assert!(
        check.json["tried"].as_array().unwrap().iter().any(|tried| tried["path"] == path),
        "{:#}",
        check.json
    );
    assert!(check.json["driver"].is_null() && check.devices().is_empty());
}

#[test]
fn without_a_driver_the_search_tells_where_it_looked() {
    let machine = Machine::bare();
    let check = machine.check(&[]);
    if check.json["error"]["name"] != "no-library" {
        skip("this machine has a driver");
        return;
    }
    check.fails("library", "no-library").hints_at(&["driver"]);
    let tried: Vec<&str> =
        check.json["tried"].as_array().unwrap().iter().map(|tried| tried["path"].as_str().unwrap()).collect();
    assert_eq!(tried.first(), Some(&"libcuda.so.1"), "{tried:?}");
    assert!(tried.len() > 2 && tried[1..].iter().all(|path| path.starts_with('/')), "{tried:?}");
    assert!(!tried.iter().any(|path| path.contains("stubs")), "{tried:?}");
    let text = machine.text(&[]);
    assert_eq!(text.code, 2);
    assert!(format!("{}{}", text.stdout, text.stderr).contains("libcuda.so.1"), "{}", text.stderr);
}

#[test]
fn a_stub_is_no_driver() {
    let by_place = Machine::built(&[], "cuda/lib64/stubs/libcuda.so.1").check(&[]);
    by_place.fails("library", "stub").hints_at(&["driver", "LD_LIBRARY_PATH", "stubs"]);
    // A stub's functions do nothing but say that it is one.
    let by_code = Machine::new().with("FAIL", "cuInit:34").check(&[]);
    by_code.fails("init", "stub").hints_at(&["driver", "LD_LIBRARY_PATH", "stubs"]);
}

#[test]
fn a_link_to_a_stub_is_a_stub() {
    let mut machine = Machine::bare();
    machine.place.put("cuda/lib64/stubs/libcuda.so", stand_in(&[]));
    fs::create_dir(machine.place.path("lib")).unwrap();
    let link = machine.place.path("lib/libcuda.so.1");
    symlink("../cuda/lib64/stubs/libcuda.so", &link).unwrap();
    machine.library = Some(link);
    machine.check(&[]).fails("library", "stub");
}

/// The stand-in, made for another machine.
fn foreign() -> Vec<u8> {
    let mut bytes = stand_in(&[]);
    let machine = if cfg!(target_arch = "x86_64") { [183, 0] } else { [62, 0] };
    bytes[18..20].copy_from_slice(&machine);
    bytes
}

#[test]
fn files_that_are_no_libraries_are_refused() {
    let whole = stand_in(&[]);
    let mut machines: Vec<(&str, Vec<u8>)> = vec![
        ("empty", Vec::new()),
        ("text", b"#!/bin/sh\necho this is no library\n".to_vec()),
        ("a header alone", whole[..64].to_vec()),
        ("another machine", foreign()),
        ("noise", (0..100_000_u32).map(|n| n.wrapping_mul(2_654_435_761).to_le_bytes()[2]).collect()),
    ];
    let mut class = whole.clone();
    class[4] = 1;
    machines.push(("32 bits", class));
    for (what, bytes) in machines {
        let machine = Machine::of("driver/libcuda.so.1", bytes);
        let check = machine.check(&[]);
        check.fails("library", "not-a-library");
        let path = machine.library.clone().unwrap();
        let told = format!("{} {}", check.message(), check.json["tried"]);
        assert!(told.contains(&path), "{what}: {told}");
        assert!(machine.pids().is_empty(), "{what} was run");
    }
}

#[test]
fn a_library_that_was_cut_short_does_no_harm() {
    // The loader maps what the headers promise: what is missing there ends the process that touches it.
    let whole = stand_in(&[]);
    for share in [4, 2] {
        let machine = Machine::of("driver/libcuda.so.1", &whole[..whole.len() / share]);
        let check = machine.check(&[]);
        let name = check.error("name").as_str().unwrap();
        assert!(["not-a-library", "crashed"].contains(&name), "{:#}", check.json);
        assert_eq!(check.error("stage"), "library");
    }
}

#[test]
fn folders_are_refused_and_pipes_and_endless_files_hold_nobody_up() {
    let folder = Machine::of("driver/libcuda.so.1/inside", "");
    let path = folder.place.path("driver/libcuda.so.1");
    let check = Machine { library: Some(path), ..folder }.check(&[]);
    check.fails("library", "not-a-library");

    let pipe = Machine::bare();
    let path = pipe.place.path("libcuda.so.1");
    assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
    let open = |path: &str| {
        let machine = Machine { library: Some(path.to_owned()), ..Machine::bare().limited(SHORT) };
        let check = machine.check(&[]);
        assert!(check.took < GRACE, "{path}: {:?}", check.took);
        let name = check.error("name").as_str().unwrap();
        assert!(["not-a-library", "timed-out"].contains(&name), "{path}: {:#}", check.json);
        assert_eq!(check.error("stage"), "library");
    };
    std::thread::scope(|scope| {
        for path in [path.as_str(), "/dev/zero", "/dev/null", "/proc/self/mem"] {
            scope.spawn(move || open(path));
        }
    });
}

#[test]
fn a_library_without_cuda_is_told_by_the_function_that_it_lacks() {
    let check = Machine::built(&["-DNO_CUDA"], "driver/libcuda.so.1").check(&[]);
    let name = check.error("name").as_str().unwrap();
    assert!(["too-old", "not-a-library"].contains(&name), "{:#}", check.json);
    assert!(check.message().contains("cuInit"), "{}", check.message());
}

#[test]
fn a_library_that_another_one_is_missing_for_names_that_one() {
    let folder = tempfile::tempdir().unwrap();
    let other = folder.path().join("libnot-installed.so.7");
    let made =
        Command::new("gcc").args(["-shared", "-Wl,-soname,libnot-installed.so.7", "-o"]).arg(&other).status();
    assert!(made.unwrap().success());
    let other = other.to_str().unwrap();
    let machine = Machine::built(&["-Wl,--no-as-needed", other], "driver/libcuda.so.1");
    fs::remove_file(other).unwrap();
    let check = machine.check(&[]);
    assert_eq!((check.outcome.code, check.error("stage")), (2, &"library".into()));
    let told = format!("{} {}", check.message(), check.json["tried"]);
    assert!(told.contains("libnot-installed.so.7"), "{told}");
}
