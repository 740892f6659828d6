//! Parts of the driver, second copies, and libraries that nothing reaches.

use super::{all, finding, judged, judged_files, proof, service};
use crate::fixtures::elf::Elf;
use crate::fixtures::packing::Packing;
use crate::fixtures::service::{SITE, debs, wheel};
use crate::fixtures::tarball::{Member, file};

const LIB: &str = "usr/local/cuda-13.0/targets/x86_64-linux/lib";

fn library(path: &str, soname: &str) -> Member {
    file(path, Elf::library(soname).sized(20_000))
}

fn started(members: Vec<Member>) -> super::Report {
    judged(Packing::Gzip, &[members], &["/srv/service"], &[])
}

#[test]
fn parts_of_the_driver_are_told() {
    let deb: &[(&str, Vec<u8>)] = &[("usr/bin/nvidia-settings", b"a program of the driver".to_vec())];
    let members = vec![
        library("usr/lib/x86_64-linux-gnu/libcuda.so.580.95.05", "libcuda.so.1"),
        library("usr/local/cuda-13.0/compat/libcuda.so.580.95.05", "libcuda.so.1"),
        library(&format!("{LIB}/stubs/libnvidia-ml.so"), "libnvidia-ml.so.1"),
        library("usr/lib/x86_64-linux-gnu/libnvidia-container.so.1", "libnvidia-container.so.1"),
        file("usr/lib/firmware/nvidia/580.95.05/gsp_ga10x.bin", vec![1; 500]),
        file("lib/modules/6.8.0/updates/nvidia.ko", vec![1; 600]),
        file("srv/libcuda.so.txt", "notes"),
    ];
    let report = started([service(&[]), members, debs(&[("nvidia-settings", "580-1", deb)])].concat());
    all(
        &report,
        &[
            ("/usr/lib/x86_64-linux-gnu/libcuda.so.580.95.05", "driver-libraries safe"),
            ("/usr/bin/nvidia-settings", "driver-libraries safe"),
            ("/usr/lib/firmware/nvidia/580.95.05/gsp_ga10x.bin", "driver-libraries safe"),
            ("/lib/modules/6.8.0/updates/nvidia.ko", "driver-libraries safe"),
            ("/usr/local/cuda-13.0/compat/libcuda.so.580.95.05", "-"),
            ("/usr/lib/x86_64-linux-gnu/libnvidia-container.so.1", "-"),
            ("/srv/libcuda.so.txt", "-"),
        ],
    );
    let found = finding(&report, "/usr/bin/nvidia-settings").unwrap();
    assert_eq!(found["severity"], "high");
    let taken = started(
        [service(&["libcuda.so.1"]), vec![library("usr/lib/x86_64-linux-gnu/libcuda.so.1", "libcuda.so.1")]]
            .concat(),
    );
    all(&taken, &[("/usr/lib/x86_64-linux-gnu/libcuda.so.1", "driver-libraries unsure")]);
    let question = finding(&taken, "/usr/lib/x86_64-linux-gnu/libcuda.so.1").unwrap();
    assert!(proof(question).contains("/srv/service"), "{question:#}");
}

const TOOLKIT: &str = "usr/local/cuda-13.0/targets/x86_64-linux/lib/libcublas.so.13.1.0.3";
const WHEEL: &str = "nvidia/cu13/lib/libcublas.so.13";

fn cublas(seed: &str) -> Vec<u8> {
    Elf { seed: seed.into(), ..Elf::library("libcublas.so.13") }.sized(30_000)
}

/// The toolkit's and a wheel's copy of cuBLAS, and who loads it.
fn two_copies(loader: Member) -> Vec<Member> {
    [
        service(&[]),
        debs(&[("libcublas-13-0", "13.1.0.3-1", &[(TOOLKIT, cublas("one"))])]),
        wheel(SITE, "nvidia-cublas", "13.1.0.3", &[(WHEEL, cublas("two"))]),
        vec![file("opt/venv/bin/python3.12", Elf::program("python3.12").build()).mode(0o755), loader],
    ]
    .concat()
}

/// An extension module that loads the wheel's copy.
fn module() -> Member {
    let mut module = Elf::library("ops.so").needing(&["libcublas.so.13"]);
    module.soname = None;
    module.runpath = Some("$ORIGIN/../nvidia/cu13/lib".into());
    file(format!("{SITE}/ops/ops.cpython-312-x86_64-linux-gnu.so"), module.build())
}

#[test]
fn the_toolkits_copy_can_go_when_only_the_wheels_neighbours_load_it() {
    let report = started(two_copies(module()));
    all(&report, &[(&format!("/{TOOLKIT}"), "duplicates safe"), (&format!("/{SITE}/{WHEEL}"), "-")]);
    let found = finding(&report, &format!("/{TOOLKIT}")).unwrap();
    assert!(proof(found).contains(&format!("/{SITE}/{WHEEL} ← /{SITE}/ops/")), "{found:#}");
    // A program elsewhere asks for the name too, and would take the toolkit's copy on another path.
    let mut program = Elf::program("tool").needing(&["libcublas.so.13"]);
    program.rpath = Some(format!("/{SITE}/nvidia/cu13/lib"));
    let members = [two_copies(module()), vec![file("srv/tool", program.build()).mode(0o755)]].concat();
    all(&started(members), &[(&format!("/{TOOLKIT}"), "duplicates unsure")]);
    // A file of the application names it.
    let named = file("srv/app/load.py", "import ctypes\nctypes.CDLL('libcublas.so.13')\n");
    let members = [two_copies(module()), vec![named]].concat();
    all(&started(members), &[(&format!("/{TOOLKIT}"), "duplicates unsure")]);
}

#[test]
fn a_wheels_copy_is_a_question() {
    let program = Elf::program("service").needing(&["libcublas.so.13"]);
    let report = started(two_copies(file("srv/service", program.build()).mode(0o755)));
    let wheels = format!("/{SITE}/{WHEEL}");
    // The wheel's folder is on no search path of this program: the toolkit's copy is loaded.
    all(&report, &[(&wheels, "duplicates unsure")]);
    all(&report, &[(&format!("/{TOOLKIT}"), "-")]);
}

#[test]
fn large_files_of_one_content_are_a_question() {
    let bytes = vec![7; 2 << 20];
    let report = judged_files(vec![
        file("srv/models/a.bin", bytes.clone()),
        file("srv/models/b.bin", bytes.clone()),
        file("root/.cache/pip/c.bin", bytes),
        file("srv/models/d.bin", vec![8; 2 << 20]),
    ]);
    all(
        &report,
        &[
            ("/srv/models/a.bin", "-"),
            ("/srv/models/b.bin", "duplicates unsure"),
            ("/root/.cache/pip/c.bin", "package-caches safe"),
            ("/srv/models/d.bin", "-"),
        ],
    );
}

/// A toolkit of which the service loads cuBLAS.
fn toolkit() -> Vec<Member> {
    let of = |name: &str, soname: &str| (format!("{LIB}/{name}"), Elf::library(soname).sized(20_000));
    let files = [of("libcublas.so.13", "libcublas.so.13"), of("libcufft.so.12", "libcufft.so.12")];
    let content: Vec<(&str, Vec<u8>)> =
        files.iter().map(|(path, bytes)| (path.as_str(), bytes.clone())).collect();
    debs(&[("cuda-libraries-13-0", "13.0.2-1", &content)])
}

#[test]
fn libraries_that_nothing_reaches_can_go_when_nothing_names_them() {
    let (used, unused) = (format!("/{LIB}/libcublas.so.13"), format!("/{LIB}/libcufft.so.12"));
    let base = || [service(&["libcublas.so.13"]), toolkit()].concat();
    all(&started(base()), &[(&used, "-"), (&unused, "unused-libraries safe")]);
    let named =
        [base(), vec![file("srv/app/fft.py", "import ctypes\nctypes.CDLL('libcufft.so')\n")]].concat();
    all(&started(named), &[(&used, "-"), (&unused, "unused-libraries unsure")]);
    // An image to build upon: a shell, or nothing at all.
    let shell = file("bin/bash", Elf::program("bash").build()).mode(0o755);
    for command in [&["/bin/bash"][..], &[], &["/srv/missing"]] {
        let members = [toolkit(), vec![shell.clone()]].concat();
        let report = judged(Packing::Gzip, &[members], command, &[]);
        all(&report, &[(&used, "unused-libraries unsure"), (&unused, "unused-libraries unsure")]);
    }
}

#[test]
fn a_wheels_library_that_nothing_reaches_is_a_question() {
    let path = "nvidia/cufft/lib/libcufft.so.11";
    let wheels =
        wheel(SITE, "nvidia-cufft-cu12", "11.4.1.4", &[(path, Elf::library("libcufft.so.11").sized(9000))]);
    let report = judged_files(wheels);
    all(&report, &[(&format!("/{SITE}/{path}"), "unused-libraries unsure")]);
}
