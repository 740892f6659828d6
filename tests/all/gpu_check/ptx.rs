//! The kernels of the check, assembled by the compilers that NVIDIA publishes: drivers hold the same.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use crate::wheels::cache::{files_below, unpacked};

fn kernel() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src/gpu/kernel.ptx")
}

/// A compiler from a wheel.
fn compiler(wheel: &str) -> Option<(TempDir, PathBuf)> {
    let folder = unpacked(&[wheel], &["bin/ptxas"])?;
    let name = files_below(folder.path()).into_iter().find(|name| name.ends_with("/bin/ptxas")).unwrap();
    let path = folder.path().join(name);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    Some((folder, path))
}

/// Whether a compiler takes a file for an architecture; what it wrote.
fn takes(compiler: &Path, arch: &str, file: &Path) -> (bool, String) {
    let output = Command::new(compiler)
        .args(["--warning-as-error", "-arch", arch, "-o", "/dev/null"])
        .arg(file)
        .output()
        .expect("ptxas runs");
    let text = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8_lossy(&text).into_owned())
}

fn assembled_for(wheel: &str, architectures: &[&str]) {
    let Some((folder, compiler)) = compiler(wheel) else { return };
    for arch in architectures {
        let (taken, text) = takes(&compiler, arch, &kernel());
        assert!(taken, "{wheel} for {arch}: {text}");
    }
    // That the compiler would say so.
    let source = fs::read_to_string(kernel()).unwrap();
    for (from, to) in
        [("fma.rn.f32", "fma.rn.f33"), ("%rd7, %rd4", "%rd7, %rd99"), (".target sm_30", ".target sm_999")]
    {
        let broken = folder.path().join("broken.ptx");
        assert!(source.contains(from), "the kernel has no {from}");
        fs::write(&broken, source.replace(from, to)).unwrap();
        let (taken, text) = takes(&compiler, architectures[0], &broken);
        assert!(!taken && !text.is_empty(), "{wheel} takes {to}");
    }
}

#[test]
fn the_kernels_are_of_the_oldest_form_that_every_driver_compiles() {
    let source = fs::read_to_string(kernel()).unwrap();
    let lines: Vec<&str> = source.lines().collect();
    for line in [".version 4.0", ".target sm_30", ".address_size 64"] {
        assert!(lines.contains(&line), "no line {line}");
    }
    assert!(source.is_ascii() && !source.contains('\0'));
}

#[test]
fn compilers_of_cuda_11_take_the_kernels() {
    let all = [
        "sm_35", "sm_37", "sm_50", "sm_52", "sm_60", "sm_61", "sm_70", "sm_72", "sm_75", "sm_80", "sm_86",
        "sm_87", "sm_89", "sm_90",
    ];
    assembled_for("nvidia-cuda-nvcc-cu11", &all);
}

#[test]
fn compilers_of_cuda_12_take_the_kernels() {
    let all = [
        "sm_50", "sm_60", "sm_61", "sm_70", "sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_90a", "sm_100",
        "sm_103", "sm_120", "sm_121",
    ];
    assembled_for("nvidia-cuda-nvcc-cu12", &all);
}

#[test]
fn compilers_of_cuda_13_take_the_kernels() {
    let all = [
        "sm_75", "sm_80", "sm_86", "sm_87", "sm_88", "sm_89", "sm_90", "sm_100", "sm_103", "sm_110",
        "sm_120", "sm_121",
    ];
    assembled_for("nvidia-cuda-nvcc", &all);
}
