//! What `cutaway dockerfile` proposes, built with buildah and started.
//!
//! `tests/rewrite/build.sh` does it, on stand-ins of the base images in a registry on the loopback. Here three cases
//! run, without their references; the script without names takes all of them, and `--all` all proposals of each.

use std::path::Path;
use std::process::Command;
use std::{fs, process};

use crate::oracle::{have, skip};
use crate::wheels::cache::left_out;

/// What the script needs beside root; its base images are made of wheels and of Debian's packages.
const TOOLS: [&str; 9] =
    ["buildah", "skopeo", "debootstrap", "docker-registry", "python3", "gcc", "ar", "dpkg-deb", "flock"];

/// The status with which the script says that nothing could be tried.
const NOTHING_TRIED: i32 = 2;

/// Runs the script for some cases and fails with its table.
fn build(cases: &[&str]) {
    if std::env::var_os("CUTAWAY_NO_WHEELS").is_some_and(|value| value == "1") {
        left_out::<()>("CUTAWAY_NO_WHEELS is 1");
        return;
    }
    if !have(&TOOLS) || !may_be_root() {
        return;
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/rewrite/build.sh");
    // Not where temporary files go, which may be memory: some gigabytes lie here for a while.
    let work = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("rewrite-{}", process::id()));
    fs::create_dir_all(&work).unwrap();
    let mut command = Command::new(script);
    command.arg(&work).arg(env!("CARGO_BIN_EXE_cutaway")).args(cases).env("CUTAWAY_REWRITE_CLEAN", "1");
    command.env("CUTAWAY_REWRITE_ONLY", "proposals");
    let output = command.output().expect("the script runs");
    fs::remove_dir_all(&work).ok();
    let said = String::from_utf8_lossy(&output.stderr);
    if output.status.code() == Some(NOTHING_TRIED) {
        skip(said.lines().last().unwrap_or("build.sh could not try anything"));
        return;
    }
    let table = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{}\n{table}\n{said}", output.status);
}

/// Base images are made with the rights of root, which the script takes when it may.
pub(crate) fn may_be_root() -> bool {
    let done = |program: &str, words: &[&str]| Command::new(program).args(words).output();
    done("id", &["-u"]).is_ok_and(|output| output.stdout == b"0\n")
        || done("sudo", &["-n", "true"]).is_ok_and(|output| output.status.success())
        || skip("this user is not root, and there is no sudo without a password")
}

/// In one run of the script, which gets each base image into its storage once.
#[test]
fn proposals_are_built_and_start_as_before() {
    build(&["cublas-cmake", "torch-server", "nothing-to-gain"]);
}
