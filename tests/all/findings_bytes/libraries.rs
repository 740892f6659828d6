//! Parts of the driver, second copies, and libraries that nothing reaches.

use super::{all, finding, items, judged, judged_files, proof, service};
use crate::fixtures::elf::Elf;
use crate::fixtures::image::Layer;
use crate::fixtures::layout::Layout;
use crate::fixtures::packing::Packing;
use crate::fixtures::service::{CudaBase, SITE, debs, wheel};
use crate::fixtures::tarball::{Member, file, tar};
use crate::support::Place;
use serde_json::json;

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
    // What it opens by name has the same verdict.
    let compiler = "usr/lib/x86_64-linux-gnu/libnvidia-ptxjitcompiler.so.580.95.05";
    let settings = "usr/lib/x86_64-linux-gnu/libnvidia-gtk3.so.580.95.05";
    let parts = vec![
        library("usr/lib/x86_64-linux-gnu/libcuda.so.1", "libcuda.so.1"),
        library(compiler, "libnvidia-ptxjitcompiler.so.1"),
        library(settings, "libnvidia-gtk3.so.580.95.05"),
    ];
    let with_parts = started([service(&["libcuda.so.1"]), parts].concat());
    let verdicts = [
        ("/usr/lib/x86_64-linux-gnu/libnvidia-ptxjitcompiler.so.580.95.05", "driver-libraries unsure"),
        ("/usr/lib/x86_64-linux-gnu/libnvidia-gtk3.so.580.95.05", "driver-libraries safe"),
    ];
    all(&with_parts, &verdicts);
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

#[test]
fn a_library_that_a_plugin_needs_stays() {
    const PLUGIN: &str = "usr/lib/x86_64-linux-gnu/hwloc/hwloc_solver.so";
    let (fft, solver) = (format!("{LIB}/libcufft.so.12"), format!("{LIB}/libcusolver.so.12"));
    let needing = |soname: &str, needs: &[&str]| {
        let mut elf = Elf::library(soname).needing(needs);
        elf.runpath = Some(format!("/{LIB}"));
        elf.sized(20_000)
    };
    let image = |needs: &[&str], plugin: bool| {
        let toolkit: &[(&str, Vec<u8>)] =
            &[(&fft, needing("libcufft.so.12", &[])), (&solver, needing("libcusolver.so.12", needs))];
        let plugins: &[(&str, Vec<u8>)] = &[(PLUGIN, needing("hwloc_solver.so", &["libcusolver.so.12"]))];
        let all = [("cuda-libraries-13-0", "13.0.2-1", toolkit), ("libhwloc-plugins", "2.9.0-1", plugins)];
        started([service(&[]), debs(&all[..=usize::from(plugin)])].concat())
    };
    let (shown_fft, shown_solver) = (format!("/{fft}"), format!("/{solver}"));
    // One needs the other, and both can go.
    let both = image(&["libcufft.so.12"], false);
    all(&both, &[(&shown_fft, "unused-libraries safe"), (&shown_solver, "unused-libraries safe")]);
    // A plugin that nobody is known to load stays, with what its library needs.
    let needed = image(&["libcufft.so.12"], true);
    all(&needed, &[(&shown_fft, "-"), (&shown_solver, "-")]);
    // What it does not need can go.
    let other = image(&[], true);
    all(&other, &[(&shown_fft, "unused-libraries safe"), (&shown_solver, "-")]);
}

#[test]
fn a_library_that_a_profiler_needs_goes_with_the_profiler_only() {
    const PROFILER: &str =
        "opt/nvidia/nsight-compute/2025.3.1/target/linux-desktop-glibc_2_11_3-x64/libprofile.so";
    let (fft, solver) = (format!("{LIB}/libcufft.so.12"), format!("{LIB}/libcusolver.so.12"));
    let mut profiler = Elf::library("libprofile.so").needing(&["libcufft.so.12"]);
    profiler.runpath = Some(format!("/{LIB}"));
    let of = |soname: &str| Elf::library(soname).sized(20_000);
    let toolkit: &[(&str, Vec<u8>)] = &[(&fft, of("libcufft.so.12")), (&solver, of("libcusolver.so.12"))];
    let tools: &[(&str, Vec<u8>)] = &[(PROFILER, profiler.sized(20_000))];
    let all_packages =
        [("cuda-libraries-13-0", "13.0.2-1", toolkit), ("nsight-compute-2025.3.1", "1", tools)];
    let report = started([service(&[]), debs(&all_packages)].concat());
    let (fft, solver) = (format!("/{fft}"), format!("/{solver}"));
    all(&report, &[(&format!("/{PROFILER}"), "profilers safe")]);
    all(&report, &[(&fft, "unused-libraries safe"), (&solver, "unused-libraries safe")]);
    let id = finding(&report, &format!("/{PROFILER}")).unwrap()["id"].as_str().unwrap().to_owned();
    assert!(finding(&report, &fft).unwrap()["reason"].as_str().unwrap().contains(&id));
    assert!(!finding(&report, &solver).unwrap()["reason"].as_str().unwrap().contains(&id));
}

#[test]
fn a_client_of_the_x_server_is_no_part_of_the_driver() {
    let path = "usr/lib/x86_64-linux-gnu/libXNVCtrl.so.0.0.0";
    let content: &[(&str, Vec<u8>)] = &[(path, Elf::library("libXNVCtrl.so.0").sized(20_000))];
    let report = started([service(&[]), debs(&[("libxnvctrl0", "525.85.05-3", content)])].concat());
    all(&report, &[(&format!("/{path}"), "-")]);
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

/// A toolkit of CUDA 12 with the libraries of cuBLAS and cuDNN.
fn toolkit_12() -> Vec<Member> {
    let cublas = Elf::library("libcublas.so.12").needing(&["libcublasLt.so.12"]).sized(20_000);
    let files = [
        ("libcublas.so.12", cublas),
        ("libcublasLt.so.12", Elf::library("libcublasLt.so.12").sized(30_000)),
        ("libcudnn.so.9", Elf::library("libcudnn.so.9").sized(10_000)),
        ("libcudnn_graph.so.9", Elf::library("libcudnn_graph.so.9").sized(15_000)),
        ("libnvrtc.so.12", Elf::library("libnvrtc.so.12").sized(16_000)),
        ("libnvrtc-builtins.so.12.9", Elf::library("libnvrtc-builtins.so.12.9").sized(12_000)),
        ("libnpps.so.12", Elf::library("libnpps.so.12").sized(9_000)),
    ];
    let files =
        files.map(|(name, bytes)| (format!("usr/local/cuda-12.9/targets/x86_64-linux/lib/{name}"), bytes));
    let files: Vec<(&str, Vec<u8>)> =
        files.iter().map(|(path, bytes)| (path.as_str(), bytes.clone())).collect();
    debs(&[("cuda-libraries-12-9", "12.9.1-1", &files)])
}

/// ONNX Runtime for GPUs, whose provider finds what it needs by the loader's rules.
fn onnxruntime() -> Vec<Member> {
    let provider = Elf::library("libonnxruntime_providers_cuda.so").needing(&["libcublas.so.12"]).sized(5000);
    let mut module = Elf::library("state");
    module.soname = None;
    wheel(
        SITE,
        "onnxruntime-gpu",
        "1.22.0",
        &[
            ("onnxruntime/capi/onnxruntime_pybind11_state.so", module.build()),
            ("onnxruntime/capi/libonnxruntime_providers_cuda.so", provider),
        ],
    )
}

/// Wheels with copies of the same libraries.
fn wheels_12() -> Vec<Member> {
    let mut cublas = Elf::library("libcublas.so.12").needing(&["libcublasLt.so.12"]);
    cublas.runpath = Some("$ORIGIN".into());
    let lt = Elf { seed: "wheel".into(), ..Elf::library("libcublasLt.so.12") };
    let of =
        |soname: &str| Elf { seed: "wheel".into(), runpath: Some("$ORIGIN".into()), ..Elf::library(soname) };
    [
        wheel(
            SITE,
            "nvidia-cublas-cu12",
            "12.9.1.4",
            &[
                ("nvidia/cublas/lib/libcublas.so.12", cublas.sized(20_000)),
                ("nvidia/cublas/lib/libcublasLt.so.12", lt.sized(31_000)),
            ],
        ),
        wheel(
            SITE,
            "nvidia-cudnn-cu12",
            "9.10.2.21",
            &[
                ("nvidia/cudnn/lib/libcudnn.so.9", of("libcudnn.so.9").sized(11_000)),
                ("nvidia/cudnn/lib/libcudnn_graph.so.9", of("libcudnn_graph.so.9").sized(15_500)),
            ],
        ),
        wheel(
            SITE,
            "nvidia-cuda-nvrtc-cu12",
            "12.8.93",
            &[
                ("nvidia/cuda_nvrtc/lib/libnvrtc.so.12", of("libnvrtc.so.12").sized(16_500)),
                (
                    "nvidia/cuda_nvrtc/lib/libnvrtc-builtins.so.12.8",
                    of("libnvrtc-builtins.so.12.8").sized(12_500),
                ),
            ],
        ),
    ]
    .concat()
}

fn python_12() -> Vec<Member> {
    let python = Elf::program("python3.12").build();
    let conf = file("etc/ld.so.conf", "/usr/local/cuda-12.9/targets/x86_64-linux/lib\n");
    [service(&[]), vec![conf, file("opt/venv/bin/python3.12", python).mode(0o755)]].concat()
}

/// Libraries of the toolkit that are not loaded after the wheels' were; the last has another name there.
const DISPLACED: [&str; 6] = [
    "libcublas.so.12",
    "libcublasLt.so.12",
    "libcudnn.so.9",
    "libcudnn_graph.so.9",
    "libnvrtc.so.12",
    "libnvrtc-builtins.so.12.9",
];

const LIB_12: &str = "/usr/local/cuda-12.9/targets/x86_64-linux/lib";

#[test]
fn toolkit_libraries_that_preloaded_wheels_stand_in_for_are_a_question() {
    let members = || [python_12(), toolkit_12(), onnxruntime(), wheels_12()].concat();
    let report = started(members());
    let toolkit = |name: &str| format!("{LIB_12}/{name}");
    for name in DISPLACED {
        all(&report, &[(&toolkit(name), "duplicates unsure")]);
    }
    for name in [
        "cuda_nvrtc/lib/libnvrtc.so.12",
        "cuda_nvrtc/lib/libnvrtc-builtins.so.12.8",
        "cudnn/lib/libcudnn_graph.so.9",
        "cublas/lib/libcublas.so.12",
        "cublas/lib/libcublasLt.so.12",
        "cudnn/lib/libcudnn.so.9",
    ] {
        all(&report, &[(&format!("/{SITE}/nvidia/{name}"), "-")]);
    }
    all(&report, &[(&toolkit("libnpps.so.12"), "unused-libraries safe")]);
    let found = finding(&report, &toolkit("libcublas.so.12")).unwrap();
    let bytes_of = |path: &str| {
        let libraries = items(&report.json["cuda"]["libraries"]);
        libraries.iter().find(|one| one["path"] == path).and_then(|one| one["bytes"].as_u64()).unwrap()
    };
    assert_eq!(found["bytes"], DISPLACED.map(|name| bytes_of(&toolkit(name))).iter().sum::<u64>());
    assert_eq!(
        found["question"],
        "Does the service load them from the toolkit, without onnxruntime.preload_dlls() first?"
    );
    let told = proof(found);
    assert!(told.contains("libonnxruntime_providers_cuda.so"), "{found:#}");
    assert!(
        told.contains(&format!("/{SITE}/nvidia/cublas/lib/libcublas.so.12 is loaded instead")),
        "{found:#}"
    );
    assert!(!told.contains("mentions preload_dlls"), "{found:#}");
    for soname in DISPLACED.iter().filter(|name| !name.contains("builtins")) {
        let duplicates = items(&report.json["cuda"]["duplicates"]);
        let one = duplicates.iter().find(|one| one["soname"] == *soname).unwrap();
        assert_eq!(one["reclaimable_bytes"], bytes_of(&toolkit(soname)), "{one:#}");
    }
    // The application calls it.
    let app = file("srv/app/main.py", "import onnxruntime\nonnxruntime.preload_dlls()\n");
    let report = started([members(), vec![app]].concat());
    let found = finding(&report, &toolkit("libcublas.so.12")).unwrap();
    assert_eq!(found["verdict"], "unsure");
    assert!(proof(found).contains("/srv/app/main.py mentions preload_dlls"), "{found:#}");
}

#[test]
fn toolkit_libraries_that_somebody_else_loads_stay() {
    // A program of the application loads cuBLAS: only cuDNN is loaded by the packages alone.
    let tool = file("srv/tool", Elf::program("tool").needing(&["libcublas.so.12"]).build()).mode(0o755);
    let report = started([python_12(), toolkit_12(), onnxruntime(), wheels_12(), vec![tool]].concat());
    all(
        &report,
        &[
            (&format!("{LIB_12}/libcublas.so.12"), "-"),
            (&format!("{LIB_12}/libcublasLt.so.12"), "-"),
            (&format!("{LIB_12}/libcudnn.so.9"), "duplicates unsure"),
        ],
    );
    // Without copies there is nothing to load instead.
    let report = started([python_12(), toolkit_12(), onnxruntime()].concat());
    all(&report, &[(&format!("{LIB_12}/libcublas.so.12"), "-"), (&format!("{LIB_12}/libcudnn.so.9"), "-")]);
}

#[test]
fn another_import_that_loads_a_copy_before_is_named() {
    let mut torch = Elf::library("libtorch_cuda.so").needing(&["libcublas.so.12"]);
    torch.runpath = Some("$ORIGIN/../../nvidia/cublas/lib".into());
    let mut module = Elf::library("_C").needing(&["libtorch_cuda.so"]);
    (module.soname, module.runpath) = (None, Some("$ORIGIN/lib".into()));
    let torch = wheel(
        SITE,
        "torch",
        "2.9.1",
        &[
            ("torch/_C.cpython-312-x86_64-linux-gnu.so", module.build()),
            ("torch/lib/libtorch_cuda.so", torch.sized(8000)),
        ],
    );
    let report = started([python_12(), toolkit_12(), onnxruntime(), wheels_12(), torch].concat());
    let found = finding(&report, &format!("{LIB_12}/libcublas.so.12")).unwrap();
    assert_eq!(
        found["question"],
        "Does the service load them from the toolkit, without importing torch or onnxruntime.preload_dlls() first?"
    );
}

#[test]
fn cudnn_9_is_not_used_by_a_cupy_that_needs_cudnn_8() {
    let module = |needed: &str| {
        let mut module = Elf::library("module").needing(&[needed]);
        module.soname = None;
        module.build()
    };
    let cupy = wheel(
        SITE,
        "cupy-cuda12x",
        "13.6.0",
        &[
            ("cupy_backends/cuda/libs/cudnn.cpython-312-x86_64-linux-gnu.so", module("libcudnn.so.8")),
            ("cupy_backends/cuda/libs/cublas.cpython-312-x86_64-linux-gnu.so", module("libcublas.so.12")),
        ],
    );
    let report = started([python_12(), toolkit_12(), cupy.clone()].concat());
    all(
        &report,
        &[
            (&format!("{LIB_12}/libcudnn.so.9"), "unused-libraries safe"),
            (&format!("{LIB_12}/libcublas.so.12"), "-"),
        ],
    );
    let missing = items(&report.json["findings"]).iter().find(|one| one["rule"] == "missing-libraries");
    let missing = missing.unwrap_or_else(|| panic!("nothing is missing: {:#}", report.json["findings"]));
    assert!(proof(missing).contains("libcudnn.so.8, needed by"), "{missing:#}");
    // Libraries of another major of CUDA are none of its own either, and those of a wheel are found.
    let wheel_13 = wheel(
        SITE,
        "nvidia-cublas",
        "13.1.0.3",
        &[("nvidia/cu13/lib/libcublas.so.13", Elf::library("libcublas.so.13").sized(12_000))],
    );
    let report = started([python_12(), wheels_12(), wheel_13, cupy].concat());
    all(
        &report,
        &[
            (&format!("/{SITE}/nvidia/cublas/lib/libcublas.so.12"), "-"),
            (&format!("/{SITE}/nvidia/cu13/lib/libcublas.so.13"), "unused-libraries unsure"),
            (&format!("/{SITE}/nvidia/cudnn/lib/libcudnn.so.9"), "unused-libraries unsure"),
        ],
    );
}

#[test]
fn copies_without_a_soname_are_known_by_their_file() {
    let perf = |seed: &str| {
        let mut library = Elf { seed: seed.into(), ..Elf::library("libnvperf_host.so") };
        library.soname = None;
        library.sized(14_000)
    };
    let members = vec![
        file("usr/local/cuda-12.9/extras/CUPTI/lib64/libnvperf_host.so", perf("toolkit")),
        file(
            "opt/nvidia/nsight-compute/2025.2/target/linux-desktop-glibc_2_11_3-x64/libnvperf_host.so",
            perf("ncu"),
        ),
        file(
            "usr/local/cuda-12.9/extras/CUPTI/lib64/libcupti.so.12",
            Elf::library("libcupti.so.12").sized(9000),
        ),
    ];
    let report = started([service(&[]), members].concat());
    let duplicates = items(&report.json["cuda"]["duplicates"]);
    let names: Vec<&str> = duplicates.iter().filter_map(|one| one["soname"].as_str()).collect();
    assert_eq!(names, ["libnvperf_host.so"]);
    assert_eq!(items(&duplicates[0]["paths"]).len(), 2);
}

#[test]
fn what_every_flavor_of_the_base_brings_is_not_told_as_removable() {
    const CUDART: &str = "usr/local/cuda-12.4/targets/x86_64-linux/lib/libcudart.so.12";
    const CUBLAS: &str = "usr/local/cuda-12.4/targets/x86_64-linux/lib/libcublas.so.12";
    for flavor in ["base", "runtime"] {
        let base = CudaBase { version: "12.4.1", flavor, cudnn: None, distribution: ("ubuntu", "22.04") };
        let mut image = base.image();
        let steps: Vec<&String> = image.history.iter().filter(|step| !step.1).map(|step| &step.0).collect();
        for (installs, path, soname) in [
            ("cuda-cudart-12-4", CUDART, "libcudart.so.12"),
            ("cuda-libraries-12-4", CUBLAS, "libcublas.so.12"),
        ] {
            if let Some(layer) = steps.iter().position(|step| step.contains(installs)) {
                image.layers[layer] = Layer::new(&tar([library(path, soname)]), Packing::Gzip);
            }
        }
        let cudart = Elf { seed: "wheel".into(), ..Elf::library("libcudart.so.12") };
        let mut module = Elf::library("ops.so").needing(&["libcudart.so.12"]);
        (module.soname, module.runpath) = (None, Some("$ORIGIN/../nvidia/cuda_runtime/lib".into()));
        let with_wheel = [
            wheel(
                SITE,
                "nvidia-cuda-runtime-cu12",
                "12.4.127",
                &[("nvidia/cuda_runtime/lib/libcudart.so.12", cudart.sized(21_000))],
            ),
            vec![file(format!("{SITE}/ops/ops.cpython-312-x86_64-linux-gnu.so"), module.build())],
        ];
        for members in [vec![], with_wheel.concat()] {
            let members = [python_12(), members].concat();
            let mut image = image.clone().layer("COPY service / # buildkit", &tar(members));
            image.config["Cmd"] = json!(["/srv/service"]);
            image.config["Entrypoint"] = json!(null);
            let place = Place::new();
            let layout = Layout::of(&image, "t");
            let report = place.report(&format!("oci:{}", place.put_layout("image", &layout)));
            all(&report, &[(&format!("/{CUDART}"), "-")]);
            if flavor == "runtime" {
                all(&report, &[(&format!("/{CUBLAS}"), "unused-libraries safe")]);
            }
        }
    }
}

#[test]
fn what_a_mentioned_library_needs_is_a_question_as_well() {
    let deep = |soname: &str, needed: &[&str]| {
        file(format!("{LIB}/{soname}"), Elf::library(soname).needing(needed).sized(20_000))
    };
    let libraries = || {
        vec![
            deep("libcublas.so.13", &["libcublasLt.so.13"]),
            deep("libcublasLt.so.13", &[]),
            deep("libcufft.so.12", &[]),
            file("etc/ld.so.conf.d/cuda.conf", format!("/{LIB}\n")),
        ]
    };
    let with = |source: &str| started([service(&[]), libraries(), vec![file("srv/app.py", source)]].concat());
    let path = |name: &str| format!("/{LIB}/{name}");
    let report = with("import ctypes\nctypes.CDLL('libcublas.so.13')\n");
    for name in ["libcublas.so.13", "libcublasLt.so.13"] {
        all(&report, &[(&path(name), "unused-libraries unsure")]);
    }
    all(&report, &[(&path("libcufft.so.12"), "unused-libraries safe")]);
    let found = finding(&report, &path("libcublasLt.so.13")).unwrap();
    assert!(found["title"].as_str().unwrap().contains("mentioned by the application"), "{found:#}");
    let report = with("import ctypes\n");
    all(&report, &[(&path("libcublasLt.so.13"), "unused-libraries safe")]);
    // What it opens by name, per the catalog.
    let names = ["libcudnn.so.9", "libcudnn_graph.so.9", "libcudnn_ops.so.9"];
    let parts = || names.map(|name| deep(name, &[])).to_vec();
    for (source, verdict) in [("import ctypes\nctypes.CDLL('libcudnn.so.9')\n", "unsure"), ("pass\n", "safe")]
    {
        let app = file("srv/app.py", source);
        let report = started([service(&[]), parts(), libraries(), vec![app]].concat());
        for name in names {
            all(&report, &[(&path(name), &format!("unused-libraries {verdict}"))]);
        }
    }
    // A library of another package between them: it stays, and so does what it needs.
    let vision: &[(&str, Vec<u8>)] = &[(
        "usr/lib/x86_64-linux-gnu/libvision.so.4",
        Elf::library("libvision.so.4").needing(&["libcufft.so.12"]).sized(20_000),
    )];
    let app = file("srv/app.py", "import ctypes\nctypes.CDLL('libvision.so.4')\n");
    let members = [service(&[]), libraries(), debs(&[("libvision4", "4", vision)]), vec![app]].concat();
    let report = started(members);
    all(&report, &[(&path("libcufft.so.12"), "-")]);
    all(&report, &[(&path("libcublasLt.so.13"), "unused-libraries safe")]);
}

#[test]
fn a_library_in_question_goes_only_with_those_that_need_it() {
    const WHEEL: &str = "nvidia/cublas/lib/libcublas.so.12";
    let cublas = || {
        wheel(SITE, "nvidia-cublas-cu12", "12.8.4.1", &[(WHEEL, Elf::library("libcublas.so.12").sized(9000))])
    };
    let mut solver = Elf::library("libcusolver.so.11").needing(&["libcublas.so.12"]);
    solver.runpath = Some(format!("/{SITE}/nvidia/cublas/lib"));
    let (solver, bytes) = (format!("{LIB}/libcusolver.so.11"), solver.sized(20_000));
    let packages = || debs(&[("libcusolver-12-8", "11.7.3.90-1", &[(&*solver, bytes.clone())])]);
    let app = || file("srv/app.py", "import ctypes\nctypes.CDLL('libcusolver.so.11')\n");
    let report = started([service(&[]), cublas(), packages(), vec![app()]].concat());
    let (needed, needs) = (format!("/{SITE}/{WHEEL}"), format!("/{solver}"));
    all(&report, &[(&needed, "unused-libraries unsure"), (&needs, "unused-libraries unsure")]);
    let finding_of = |path: &str| finding(&report, path).unwrap().clone();
    let (needed, needs) = (finding_of(&needed), finding_of(&needs));
    let id = |finding: &serde_json::Value| finding["id"].as_str().unwrap().to_owned();
    let rests_on = |one: &serde_json::Value, other: &serde_json::Value| {
        one["reason"].as_str().unwrap().contains(&format!("together with {}", id(other)))
    };
    assert!(rests_on(&needed, &needs), "{needed:#}");
    assert!(!rests_on(&needs, &needed), "{needs:#}");
}

#[test]
fn libraries_whose_names_are_settings_or_put_together_are_asked_about() {
    let solver = "usr/local/cuda-13.0/targets/x86_64-linux/lib/libcusolver.so.12";
    let packages = || {
        let files: &[(&str, Vec<u8>)] = &[(solver, Elf::library("libcusolver.so.12").sized(20_000))];
        [service(&[]), debs(&[("libcusolver-13-0", "12.0-1", files)])].concat()
    };
    let path = format!("/{solver}");
    let with = |text: &str, environment: &[&str]| {
        let members = [packages(), vec![file("srv/app.py", text)]].concat();
        super::of(&judged(Packing::Gzip, &[members], &["/srv/service"], environment), &path)
    };
    assert_eq!(with("print('libraries')\n", &[]), "unused-libraries safe");
    assert_eq!(with("x = name.endswith('.so')\n", &[]), "unused-libraries safe");
    for variable in ["SOLVER_LIB=libcusolver.so.12", "SOLVER=cusolver", "SOLVER=libcusolver"] {
        assert_eq!(with("print(1)\n", &[variable]), "unused-libraries unsure", "{variable}");
    }
    for text in ["ctypes.CDLL(f'libmine_{v}.so')\n", "cp build/lib*.so /usr/lib\n"] {
        assert_eq!(with(text, &[]), "unused-libraries safe", "{text}");
    }
    for text in [
        "ctypes.CDLL(f'lib{a}_{b}.so')\nctypes.CDLL(find_library(name))\n",
        "ctypes.CDLL('libcu%(part)s.so')\n",
        "ctypes.CDLL(f\"lib{n}.so.{v}\")\n",
        "ctypes.CDLL('lib%s.so.%d' % (n, v))\n",
        "ctypes.CDLL(\"lib\" + n + \".so.12\")\n",
        "list(Path('/usr/local/cuda/lib64').glob('libcu*.so.*'))\n",
    ] {
        assert_eq!(with(text, &[]), "unused-libraries unsure", "{text}");
    }
}
