//! What an image needs of a machine and whether it has it, as reports tell it.

mod drivers;
mod uses;

use serde_json::{Value, json};

use crate::fixtures::elf::Elf;
use crate::fixtures::fatbin::{Coding, Entry, container, section};
use crate::fixtures::image::Image;
use crate::fixtures::layout::Layout;
use crate::fixtures::packing::Packing;
use crate::fixtures::service::{SITE, debs, wheel};
use crate::fixtures::tarball::{Member, file, tar};
use crate::support::{Place, Report};
use cutaway::base::labels::TARGET_VERDICTS;

const TRIPLE: &str = "usr/lib/x86_64-linux-gnu";
const CUDART: &str = "nvidia/cuda_runtime/lib/libcudart.so.12";

/// An image that starts a service of this build, with further files and variables.
fn image(service: Elf, members: Vec<Member>, environment: &[&str]) -> Image {
    let mut all = vec![
        file("lib64/ld-linux-x86-64.so.2", Elf::library("ld-linux-x86-64.so.2").build()),
        file(format!("{TRIPLE}/libc.so.6"), Elf::library("libc.so.6").build()),
        file("etc/ld.so.conf", "include /etc/ld.so.conf.d/*.conf\n"),
        file("app/server", service.sized(0)).mode(0o755),
    ];
    all.extend(members);
    let mut image = Image::of(Packing::Gzip, [tar(all)]);
    image.config = json!({"Entrypoint": ["/app/server"], "Env": environment});
    image
}

fn server() -> Elf {
    Elf::program("server")
}

fn with_code(elf: Elf, sass: &[u32], ptx: Option<u32>) -> Elf {
    let seed = elf.seed.clone();
    elf.with_section(".nv_fatbin", section(sass, ptx, 8_000, Coding::Stored, &seed))
}

/// Of many architectures, and small all the same.
fn with_less_code(elf: Elf, sass: &[u32]) -> Vec<u8> {
    elf.with_section(".nv_fatbin", section(sass, None, 4_000, Coding::Stored, "less")).build()
}

/// The report on these targets, held against what is true of every one.
fn report(image: &Image, targets: &[&str]) -> Report {
    let place = Place::new();
    let reference = format!("oci:{}", place.put_layout("image", &Layout::of(image, "t")));
    report_of(&place, &reference, targets)
}

fn report_of(place: &Place, reference: &str, targets: &[&str]) -> Report {
    let options: Vec<&str> = targets.iter().flat_map(|target| ["--target", target]).collect();
    let report = place.report_with(reference, &options);
    let told = &report.json["compatibility"];
    assert_eq!(told["targets"].as_array().unwrap().len(), targets.len(), "{told:#}");
    for target in told["targets"].as_array().unwrap() {
        let reasons = target["reasons"].as_array().unwrap();
        assert_eq!((&target["verdict"], &target["why"]), (&reasons[0]["verdict"], &reasons[0]["text"]));
        assert!(reasons.iter().all(|reason| reason["source"].as_str().is_some_and(|text| !text.is_empty())));
    }
    report
}

/// Verdict and rule for each target.
fn verdicts(image: &Image, targets: &[&str]) -> Vec<(String, String)> {
    let report = report(image, targets);
    let list = report.json["compatibility"]["targets"].as_array().unwrap().iter();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    list.map(|target| (text(&target["verdict"]), text(&target["reasons"][0]["rule"]))).collect()
}

fn expect(image: &Image, wanted: &[(&str, &str, &str)]) {
    let targets: Vec<&str> = wanted.iter().map(|(target, ..)| *target).collect();
    let found = verdicts(image, &targets);
    for ((target, verdict, rule), (found, by)) in wanted.iter().zip(&found) {
        assert_eq!((found.as_str(), by.as_str()), (*verdict, *rule), "{target}: {found:?}");
    }
}

/// A wheel of NVIDIA's runtime, and what else is given.
fn runtime(version: &str) -> Vec<Member> {
    let library = Elf::library("libcudart.so.12").build();
    wheel(SITE, "nvidia-cuda-runtime-cu12", version, &[(CUDART, library)])
}

/// A wheel like torch's: a module that needs its own library, which needs the CUDA libraries beside it.
fn torch(sass: &[u32]) -> Vec<Member> {
    let module = Elf {
        soname: None,
        runpath: Some("$ORIGIN/lib".into()),
        ..Elf::library("_C").needing(&["libtorch_cuda.so"])
    };
    let run_path = "$ORIGIN/../../nvidia/cuda_runtime/lib:$ORIGIN/../../nvidia/cusparselt/lib";
    let core = Elf { runpath: Some(run_path.into()), ..Elf::library("libtorch_cuda.so") };
    let core = with_code(core.needing(&["libcudart.so.12", "libcusparseLt.so.0"]), sass, None);
    let sparse = with_code(Elf::library("libcusparseLt.so.0"), &[80, 90], None).build();
    let version = b"__version__ = '2.9.1+cu128'\ncuda: Optional[str] = '12.8'\n".to_vec();
    let linalg = with_less_code(Elf::library("libtorch_cuda_linalg.so"), &[70, 75, 80, 90, 120]);
    let mut members = wheel(
        SITE,
        "torch",
        "2.9.1",
        &[
            ("torch/version.py", version),
            ("torch/_C.cpython-312-x86_64-linux-gnu.so", module.build()),
            ("torch/lib/libtorch_cuda.so", core.build()),
            ("torch/lib/libtorch_cuda_linalg.so", linalg),
        ],
    );
    members.extend(wheel(
        SITE,
        "nvidia-cusparselt-cu12",
        "0.7.1",
        &[("nvidia/cusparselt/lib/libcusparseLt.so.0", sparse)],
    ));
    members.extend(runtime("12.8.90"));
    members
}

#[test]
fn what_the_entrypoint_holds_decides() {
    let image = image(with_code(server(), &[80], None), vec![], &[]);
    expect(
        &image,
        &[
            ("gpu:v100-16,driver=580", "fails", "gpu-code"),
            ("gpu:a10,driver=580", "runs", "gpu-code"),
            ("gpu:h100,driver=580", "fails", "gpu-code"),
        ],
    );
    let report = report(&image, &["gpu:v100-16,driver=580"]);
    let reason = &report.json["compatibility"]["targets"][0]["reasons"][0];
    assert_eq!(reason["error"], json!({"code": 209, "name": "CUDA_ERROR_NO_BINARY_FOR_GPU"}));
    assert_eq!(reason["subject"], "/app/server");
}

/// What nvcc's linker leaves in a program that it links: a small cubin without a kernel, for its oldest GPU.
/// Tried on an H200: such a program with a library for 9.0 runs.
#[test]
fn code_too_small_to_hold_a_kernel_is_not_asked_for() {
    let kernels = with_code(Elf::library("libkernels.so.1"), &[90], None).build();
    let lib = || vec![file("usr/local/lib/libkernels.so.1", kernels.clone())];
    let path = ["LD_LIBRARY_PATH=/usr/local/lib"];
    let linked = |bytes: usize| {
        let code = container(&[Entry::cubin(75, None, bytes, Coding::Stored, "x")]);
        server().needing(&["libkernels.so.1"]).with_section(".nv_fatbin", code)
    };
    expect(&image(linked(1_200), lib(), &path), &[("gpu:h100,driver=580", "runs", "gpu-code")]);
    expect(&image(linked(2_600), lib(), &path), &[("gpu:h100,driver=580", "fails", "gpu-code")]);
}

#[test]
fn what_the_entrypoint_loads_decides_and_what_lies_beside_it_does_not() {
    let kernels = with_code(Elf::library("libkernels.so.1"), &[80], None).build();
    let lib = file("usr/local/lib/libkernels.so.1", kernels.clone());
    let needed =
        image(server().needing(&["libkernels.so.1"]), vec![lib], &["LD_LIBRARY_PATH=/usr/local/lib"]);
    expect(&needed, &[("gpu:h100,driver=580", "fails", "gpu-code")]);
    let module = with_code(Elf { soname: None, ..Elf::library("x") }, &[80], None).build();
    let beside = wheel(SITE, "kernels", "1.0", &[("kernels/_C.cpython-312-x86_64-linux-gnu.so", module)]);
    expect(&image(server(), beside, &[]), &[("gpu:h100,driver=580", "unknown", "gpu-code")]);
    // What nothing reaches is not asked for.
    let lost = file("usr/local/cuda-13.0/targets/x86_64-linux/lib/libcufft.so.12", kernels);
    expect(&image(server(), vec![lost], &[]), &[("gpu:h100,driver=580", "runs", "no-cuda")]);
}

#[test]
fn ptx_alone_is_compiled_where_the_driver_is_new_enough() {
    let code = container(&[Entry::ptx(80, (8, 7), 4_000, Coding::Stored, "x")]);
    let image = image(server().with_section(".nv_fatbin", code), vec![], &[]);
    expect(
        &image,
        &[
            ("gpu:h100,driver=580", "runs-with-jit", "gpu-code"),
            // Branch 550 compiles PTX up to 8.4.
            ("gpu:h100,driver=550", "fails", "ptx-version"),
            ("gpu:t4,driver=580", "fails", "gpu-code"),
        ],
    );
    // CUDA 12.8 writes that PTX: all that is known of whoever links the runtime into itself.
    let requires = &report(&image, &["gpu:h100,driver=580"]).json["compatibility"]["requires"];
    assert_eq!((&requires["cuda"], &requires["sass"]), (&"12.8".into(), &json!([])));
    assert_eq!(requires["versions"][0]["who"], "/app/server");
    assert!(requires["ptx"].as_array().unwrap().contains(&"sm_90".into()), "{requires:#}");
}

#[test]
fn a_framework_decides_by_its_largest_library_and_what_it_may_do_without_does_not() {
    let image = image(server(), torch(&[70, 75, 80, 90]), &[]);
    expect(
        &image,
        &[
            ("gpu:a100-80,driver=580", "runs", "driver-version"),
            // cuSPARSELt has nothing for it, and begins with 8.0.
            ("gpu:t4,driver=580", "runs", "driver-version"),
            ("gpu:a10,driver=535", "runs", "minor-version-compatibility"),
            ("gpu:a10,driver=470", "fails", "driver-version"),
            ("cc=12.0,driver=580", "fails", "gpu-code"),
        ],
    );
    let report = report(&image, &["gpu:t4,driver=580"]);
    let requires = &report.json["compatibility"]["requires"];
    assert_eq!(requires["cuda"], "12.8");
    assert_eq!(requires["min_driver_minor_compat"], "525.60.13");
    let who: Vec<&str> =
        requires["versions"].as_array().unwrap().iter().map(|line| line["who"].as_str().unwrap()).collect();
    assert_eq!(who, ["libcudart.so.12", "torch 2.9.1+cu128"], "{requires:#}");
}

#[test]
fn a_runtime_of_one_minor_version_is_told_from_its_package() {
    let members = debs(&[(
        "cuda-cudart-12-4",
        "12.4.127-1",
        &[(&format!("{TRIPLE}/libcudart.so.12"), Elf::library("libcudart.so.12").build())],
    )]);
    let report =
        report(&image(server().needing(&["libcudart.so.12"]), members, &[]), &["gpu:l4,driver=525.60.13"]);
    let told = &report.json["compatibility"];
    assert_eq!(told["requires"]["cuda"], "12.4");
    let line = &told["requires"]["versions"][0];
    assert_eq!((&line["version"], &line["firm"]), (&"12.4".into(), &true.into()));
    assert!(line["evidence"].as_str().unwrap().contains("12.4.127"), "{line:#}");
    assert_eq!(told["targets"][0]["verdict"], "runs");
}

#[test]
fn an_image_that_was_not_read_whole_is_unknown() {
    let mut image = image(server().needing(&["libcuda.so.1"]), vec![], &[]);
    image = image.layer("RUN more", &tar([file("opt/more", "more")]));
    image.layers[1].stored = false;
    let found = report(&image, &["gpu:l4,driver=580"]);
    assert_eq!(found.code, 2);
    let target = &found.json["compatibility"]["targets"][0];
    assert_eq!(
        (&target["verdict"], &target["reasons"][0]["rule"]),
        (&"unknown".into(), &"incomplete".into())
    );
}

#[test]
fn each_target_is_told_as_it_was_asked_for() {
    let image = image(with_code(server(), &[80], None), vec![], &[]);
    let report = report(&image, &["gpu:a100-80,driver=535", "cc=8.6", "aws:p4d.24xlarge"]);
    let targets = report.json["compatibility"]["targets"].as_array().unwrap();
    assert_eq!(targets[0]["target"], "gpu:a100-80,driver=535");
    assert_eq!((&targets[0]["driver"], &targets[0]["driver_source"]), (&"535".into(), &"stated".into()));
    assert_eq!((&targets[1]["compute_capability"], &targets[1]["driver"]), (&"8.6".into(), &Value::Null));
    assert_eq!((&targets[2]["gpus"], &targets[1]["gpus"]), (&"8".into(), &Value::Null));
}

#[test]
fn the_text_says_what_the_json_says() {
    let place = Place::new();
    let image = image(server(), torch(&[75, 80]), &[]);
    let reference = format!("oci:{}", place.put_layout("image", &Layout::of(&image, "t")));
    let targets = ["gpu:t4,driver=535", "gpu:h100,driver=580", "gpu:l4"];
    let json = report_of(&place, &reference, &targets).json;
    let options: Vec<&str> = targets.iter().flat_map(|target| ["--target", *target]).collect();
    let text = place.run(&[&["report", &reference][..], &options].concat()).stdout;
    let part = text.split("\nCompatibility: ").nth(1).expect("the section").split("\nLayers").next().unwrap();
    assert!(part.lines().all(|line| line.chars().count() <= 80), "{part}");
    let told = &json["compatibility"];
    let cuda = told["requires"]["cuda"].as_str().unwrap();
    let built = part.lines().find(|line| line.starts_with("  Built for  ")).unwrap();
    assert!(built.ends_with(&format!("  CUDA {cuda}")), "{part}");
    let rows: Vec<&str> = part.lines().skip_while(|line| !line.contains("  Verdict  ")).collect();
    let why_at = rows[0].find("Why").unwrap();
    for target in told["targets"].as_array().unwrap() {
        let (verdict, why) = (target["verdict"].as_str().unwrap(), target["why"].as_str().unwrap());
        let gpu = target["gpu"].as_str().unwrap().trim_start_matches("NVIDIA ");
        let verdict = TARGET_VERDICTS.get(verdict).unwrap().text;
        let gpu = format!("  {gpu} ({})", target["compute_capability"].as_str().unwrap());
        let place =
            rows.iter().position(|line| line.starts_with(&gpu)).unwrap_or_else(|| panic!("{gpu}: {part}"));
        assert!(rows[place].contains(&format!("  {verdict}  ")), "{verdict}: {part}");
        // A cell of several lines.
        let last = rows[place + 1..].iter().take_while(|line| line.starts_with("   ")).count();
        let lines = rows[place..=place + last].iter().filter_map(|line| line.get(why_at..));
        assert_eq!(lines.collect::<Vec<_>>().join(" "), why, "{part}");
    }
}

#[test]
fn an_image_without_cuda_runs_and_needs_nothing() {
    let report = report(&image(server(), vec![], &[]), &["gpu:l4"]);
    let told = &report.json["compatibility"];
    assert_eq!((&told["requires"]["cuda"], &told["requires"]["versions"]), (&Value::Null, &json!([])));
    assert_eq!(
        (&told["targets"][0]["verdict"], &told["targets"][0]["reasons"][0]["rule"]),
        (&"runs".into(), &"no-cuda".into())
    );
}

#[test]
fn without_targets_five_common_gpus_follow_those_of_this_machine() {
    let place = Place::new();
    let image = image(with_code(server(), &[80], None), vec![], &[]);
    let reference = format!("oci:{}", place.put_layout("image", &Layout::of(&image, "t")));
    let report = place.report_with(&reference, &[]);
    let targets = report.json["compatibility"]["targets"].as_array().unwrap();
    let ids: Vec<&str> = targets.iter().map(|target| target["target"].as_str().unwrap()).collect();
    let (host, common) = ids.split_at(ids.len() - 5);
    assert_eq!(common, ["gpu:t4", "gpu:a10", "gpu:a100-80", "gpu:l4", "gpu:h100"]);
    assert!(host.iter().all(|id| id.starts_with("host")), "{ids:?}");
}

#[test]
fn cudnn_is_judged_by_its_version() {
    let cudnn = with_code(Elf::library("libcudnn.so.9"), &[80, 90], None).build();
    let path = format!("/{SITE}/nvidia/cudnn/lib");
    let members = |package: &str, version: &str| {
        wheel(SITE, package, version, &[("nvidia/cudnn/lib/libcudnn.so.9", cudnn.clone())])
    };
    let of = |package: &str, version: &str| {
        let server = Elf { runpath: Some(path.clone()), ..server() };
        image(server.needing(&["libcudnn.so.9"]), members(package, version), &[])
    };
    let volta = "gpu:v100-16,driver=580";
    assert_eq!(verdicts(&of("nvidia-cudnn-cu13", "9.13.1.26"), &[volta])[0].1, "cudnn");
    assert_ne!(verdicts(&of("nvidia-cudnn-cu12", "9.7.1.26"), &[volta])[0].1, "cudnn");
}
