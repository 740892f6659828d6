//! Everything that is called safe, deleted from real images, and what worked before asked again.
//!
//! `tests/deletion/run.sh` does it, with packages of Debian, `PyPI` and npm. Here a few small images run; the script
//! without names takes all of them.

use std::path::Path;
use std::process::Command;
use std::{fs, process};

use crate::oracle::{have, skip};
use crate::rewrite_built::may_be_root;

/// What the script needs beside root.
const TOOLS: [&str; 6] = ["buildah", "skopeo", "debootstrap", "python3", "unshare", "flock"];

/// The status with which the script says that not every image could be built.
const NOT_BUILT: i32 = 2;

#[test]
fn nothing_that_is_safe_is_needed_by_small_images() {
    if !have(&TOOLS) || !may_be_root() {
        return;
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/deletion/run.sh");
    // Not where temporary files go, which may be memory.
    let work = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("deletion-{}", process::id()));
    fs::create_dir_all(&work).unwrap();
    let mut command = Command::new(script);
    command.arg(&work).arg(env!("CARGO_BIN_EXE_cutaway")).arg("quick").env("CUTAWAY_DELETION_CLEAN", "1");
    let output = command.output().expect("the script runs");
    fs::remove_dir_all(&work).ok();
    let messages = String::from_utf8_lossy(&output.stderr);
    let table = String::from_utf8_lossy(&output.stdout);
    if output.status.code() == Some(NOT_BUILT) {
        skip(&format!("{}\n{table}", messages.lines().last().unwrap_or("run.sh could not build the images")));
        return;
    }
    assert!(output.status.success(), "{}\n{table}\n{messages}", output.status);
}
