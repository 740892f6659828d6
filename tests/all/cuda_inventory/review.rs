//! Frameworks, packages, base images, classes and weights in images that were once told wrongly.

use serde_json::{Value, json};

use super::frameworks::{torch, wheels_of_cuda_12, with_code};
use super::{column, entry, image, items, library, number, report_of, report_of_members, texts};
use crate::fixtures::elf::Elf;
use crate::fixtures::image::Image;
use crate::fixtures::packages::pip_metadata;
use crate::fixtures::packing::Packing;
use crate::fixtures::service::{SITE, conda, debs, files, wheel};
use crate::fixtures::tarball::{Member, file, symlink, tar};
use crate::support::Report;

const MIB: usize = 1 << 20;
const UBUNTU: &str = "ID=ubuntu\nVERSION_ID=\"22.04\"\n";

fn frameworks(report: &Report) -> Vec<Value> {
    let fields = |one: &Value| json!([one["name"], one["version"], one["strategy"], one["path"]]);
    items(&report.json["cuda"]["frameworks"]).iter().map(fields).collect()
}

fn layered(layers: &[Vec<Member>]) -> Report {
    report_of(&image(Packing::Gzip, layers))
}

/// Members without those of this name.
fn without(members: Vec<Member>, name: &str) -> Vec<Member> {
    members.into_iter().filter(|member| !member.name.ends_with(name.as_bytes())).collect()
}

#[test]
fn torch_without_a_record_is_told_by_its_library() {
    let mut members = without(torch("2.9.1+cu128", "'12.8'", &["libcublas.so.12"]), "RECORD");
    members.extend(wheels_of_cuda_12());
    let report = report_of_members(members);
    let found = entry(&report.json["cuda"]["frameworks"], "name", "torch");
    assert_eq!((&found["strategy"], &found["cuda_version"]), (&json!("wheel-bundled"), &json!("12.8")));
    // Without the library nothing tells, but what the file states stays stated.
    let members = without(torch("2.9.1+cu128", "'12.8'", &[]), "RECORD");
    let report = report_of_members(without(members, ".so"));
    let found = entry(&report.json["cuda"]["frameworks"], "name", "torch");
    assert_eq!((&found["strategy"], &found["cuda_version"]), (&json!("unknown"), &json!("12.8")));
    assert!(found["evidence"].as_str().unwrap().contains("list of its files"), "{found:#}");
}

#[test]
fn a_server_in_pure_python_without_a_record_uses_no_cuda() {
    let report = report_of_members(without(wheel(SITE, "flask", "3.1.0", &[]), "RECORD"));
    assert_eq!(frameworks(&report), [json!(["flask", "3.1.0", "none", format!("/{SITE}")])]);
}

#[test]
fn torch_without_its_gpu_side_uses_no_cuda() {
    let version = b"__version__ = '2.9.1'\ncuda = None\n".to_vec();
    let content = [
        ("torch/version.py", version),
        ("torch/lib/libtorch_cpu.so", Elf::library("libtorch_cpu.so").build()),
    ];
    let report = report_of_members(wheel(SITE, "torch", "2.9.1", &content));
    let found = entry(&report.json["cuda"]["frameworks"], "name", "torch");
    assert_eq!((&found["strategy"], &found["cuda_version"]), (&json!("none"), &Value::Null));
    assert!(found["evidence"].as_str().unwrap().contains("libtorch_cuda"), "{found:#}");
}

#[test]
fn packages_that_python_does_not_look_for_are_none() {
    let about = |name: &str| pip_metadata(name, "1.0", &[]);
    let mut members = files(
        "usr/lib/python3/dist-packages",
        &[
            ("setuptools-1.0.dist-info/METADATA", about("setuptools")),
            ("setuptools/_vendor/jaraco.text-1.0.dist-info/METADATA", about("jaraco.text")),
        ],
    );
    members.extend([
        file("root/build/foo.egg-info/PKG-INFO", about("foo")),
        file("opt/conda/pkgs/six-1.0-0/site-packages/six-1.0.dist-info/METADATA", about("six")),
        file("opt/conda/pkgs/t-1.0-0/lib/python3.11/site-packages/t-1.0.dist-info/METADATA", about("t")),
        file("app/libraries/own-1.0.dist-info/METADATA", about("own")),
    ]);
    let mut image = image(Packing::Gzip, &[members]);
    assert_eq!(column(&report_of(&image).json["packages"], "name"), ["setuptools"]);
    image.config = json!({"Env": ["PYTHONPATH=/srv:/app/libraries/"]});
    assert_eq!(column(&report_of(&image).json["packages"], "name"), ["own", "setuptools"]);
}

#[test]
fn torch_of_conda_is_one_framework() {
    let site = "lib/python3.11/site-packages";
    let path = |rest: &str| format!("{site}/{rest}");
    let mut core = with_code("libtorch_cuda.so").needing(&["libcublas.so.12"]);
    core.runpath = Some("$ORIGIN/../../../..".into());
    let (library, version, about) = (
        path("torch/lib/libtorch_cuda.so"),
        path("torch/version.py"),
        path("torch-2.1.0.dist-info/METADATA"),
    );
    let text = |version: &str| format!("__version__ = '{version}'\ncuda = '12.1'\n").into_bytes();
    let mut members = conda(
        "opt/conda",
        "pytorch",
        "2.1.0",
        &[
            (&library, core.build()),
            (&version, text("2.1.0.post1")),
            (&about, pip_metadata("torch", "2.1.0", &[])),
        ],
    );
    let cublas = Elf::library("libcublas.so.12").build();
    members.extend(conda("opt/conda", "libcublas", "12.1.0.26", &[("lib/libcublas.so.12", cublas)]));
    // An environment within the environment has its own.
    members.push(file(format!("opt/conda/envs/a/{version}"), text("1.0")));
    let report = report_of_members(members);
    let expected = json!(["torch", "2.1.0.post1", "wheel-bundled", "/opt/conda"]);
    assert_eq!(frameworks(&report), [expected]);
    assert_eq!(report.json["cuda"]["frameworks"][0]["cuda_version"], "12.1");
    assert_eq!(column(&report.json["packages"], "name"), ["libcublas", "pytorch", "torch"]);
}

#[test]
fn a_library_copied_by_hand_beside_a_wheel_is_listed() {
    let mut members = torch("2.9.1+cu128", "'12.8'", &["libcublas.so.12"]);
    members.extend(wheels_of_cuda_12());
    let mut core = with_code("libtorch_cuda.so").needing(&["libcudart.so.11.0"]);
    core.runpath = Some("$ORIGIN".into());
    members.extend([
        file("opt/libtorch/lib/libtorch_cuda.so", core.build()),
        file("opt/libtorch/lib/libtorch.so", Elf::library("libtorch.so").build()),
        file("opt/libtorch/lib/libcudart.so.11.0", Elf::library("libcudart.so.11.0").build()),
    ]);
    let found = frameworks(&report_of_members(members));
    let by_hand = json!(["torch", null, "by-hand", "/opt/libtorch"]);
    let of_pip = json!(["torch", "2.9.1+cu128", "wheel-bundled", format!("/{SITE}")]);
    assert_eq!(found, [by_hand, of_pip]);
}

#[test]
fn the_version_of_torch_is_shown_as_text() {
    let text = "__version__ = '2.0\u{1b}]0;x\u{202e}'\ncuda = '1\u{202e}2'\n";
    let members = wheel(SITE, "torch", "2.0", &[("torch/version.py", text.into())]);
    let report = report_of_members(members);
    let shown = report.json["cuda"]["frameworks"].to_string() + &report.json["cuda"]["stack"].to_string();
    assert!(shown.contains("2.0"), "{shown}");
    assert_eq!(report.json["cuda"]["frameworks"][0]["cuda_version"], Value::Null);
    assert!(!shown.contains('\u{202e}') && !shown.contains("\\u001b"), "{shown}");
}

#[test]
fn a_base_of_joined_layers_has_no_boundary() {
    let step = |text: &str, empty: bool| (text.to_owned(), empty);
    let mut squashed = image(Packing::Gzip, &[vec![file("etc/os-release", UBUNTU)]]);
    squashed.config = json!({
        "Env": ["CUDA_VERSION=12.4.1", "NV_CUDA_CUDART_VERSION=12.4.127-1", "NVARCH=x86_64"]
    });
    let histories = [
        vec![
            step("ADD rootfs", false),
            step("RUN apt-get install cuda-cudart", false),
            step("ENV NVIDIA_DRIVER_CAPABILITIES=compute,utility", true),
            step("COPY app", false),
        ],
        vec![step("kaniko: snapshot", false)],
        vec![],
    ];
    for history in histories {
        squashed.history = history;
        let report = report_of(&squashed);
        let base = &report.json["image"]["base"];
        assert_eq!(base["layers"], 0, "{base:#}");
        let evidence = texts(&base["evidence"]).join("\n");
        assert!(evidence.contains("end of the base image"), "{evidence}");
    }
    let mut lone = image(Packing::Gzip, &[vec![file("etc/os-release", UBUNTU), file("app/x", "x")]]);
    lone.history = vec![step("kaniko: snapshot", false)];
    assert_eq!(report_of(&lone).json["image"]["base"], Value::Null);
}

#[test]
fn distroless_is_no_debian() {
    let release = "ID=debian\nVERSION_ID=\"12\"\n";
    let status = "Package: libc6\nVersion: 2.36\nArchitecture: amd64\nMaintainer: x\n";
    let layers = [
        vec![file("etc/os-release", release)],
        vec![file("var/lib/dpkg/status.d/libc6", status)],
        vec![file("app/x", "x")],
    ];
    let report = layered(&layers);
    let base = &report.json["image"]["base"];
    assert_eq!((&base["reference"], &base["layers"]), (&Value::Null, &json!(0)), "{base:#}");
    assert!(texts(&base["evidence"]).join("\n").contains("distroless"), "{base:#}");
    let plain = layered(&[vec![file("etc/os-release", release)], vec![file("app/x", "x")]]);
    assert_eq!(plain.json["image"]["base"]["reference"], "debian:12");
}

#[test]
fn each_environment_has_its_own_layer() {
    let at = |name: &str| wheel(&format!("opt/{name}/lib/python3.12/site-packages"), "foo", "1.0", &[]);
    let prefix = |name: &str| conda(&format!("opt/conda/envs/{name}"), "bar", "1.0", &[]);
    let both = |name: &str| [at(name), prefix(name)].concat();
    let report = layered(&[vec![file("etc/os-release", UBUNTU)], both("a"), both("b")]);
    let found: Vec<(String, u64)> = items(&report.json["packages"])
        .iter()
        .map(|package| (package["root"].as_str().unwrap_or_default().to_owned(), number(&package["layer"])))
        .collect();
    for (root, layer) in &found {
        let expected = if root.contains("/b") { 2 } else { 1 };
        assert_eq!(*layer, expected, "{root}: {found:?}");
    }
    assert_eq!(found.len(), 4);
}

#[test]
fn conda_packages_are_sorted_by_what_they_are() {
    let package = |name: &str, path: &str, bytes: usize| {
        conda("opt/conda", name, "12.4", &[(path, vec![1; bytes])])
            .into_iter()
            .filter(|member| !member.name.starts_with(b"opt/conda/conda-meta"))
            .chain(
                conda("opt/conda", name, "12.4", &[(path, Vec::new())])
                    .into_iter()
                    .filter(|member| member.name.starts_with(b"opt/conda/conda-meta")),
            )
            .collect::<Vec<_>>()
    };
    let cases = [
        ("libcublas-static", "lib/libcublas_static.a", 1_000, "cuda-devel"),
        ("cuda-nvcc-tools", "bin/ptxas", 2_000, "cuda-devel"),
        ("cuda-cudart-dev_linux-64", "targets/x86_64-linux/include/cuda.h", 3_000, "cuda-devel"),
        ("libcublas-dev", "include/cublas.h", 8_000, "cuda-devel"),
        ("cuda-opencl", "lib/libcl.so", 16_000, "cuda-runtime"),
        ("cudatoolkit", "lib/x", 32_000, "cuda-runtime"),
        ("openssl", "lib/libssl.so", 64_000, "system"),
        ("python", "lib/python3.11/abc.py", 128_000, "system"),
        ("requests", "lib/python3.11/site-packages/requests/api.py", 256_000, "framework"),
        ("pytorch", "lib/libx.so", 512_000, "framework"),
    ];
    for (name, path, bytes, class) in cases {
        let report = report_of_members(package(name, path, bytes));
        let sums = &report.layers()[0]["class_bytes"];
        assert!(number(&sums[class]) >= bytes as u64, "{name}: {sums:#}");
    }
}

#[test]
fn the_files_of_the_base_and_of_python_are_the_systems() {
    let release = file("etc/os-release", UBUNTU);
    let size = |bytes: usize| vec![b'x'; bytes];
    let base = vec![
        release,
        file("usr/local/bin/tool", size(1_000)),
        file("opt/own/model.gguf", [b"GGUF".to_vec(), size(5_000)].concat()),
    ];
    let python = vec![
        file("usr/local/bin/python3.12", size(10)),
        file("usr/local/lib/libpython3.12.so.1.0", size(20)),
        file("usr/local/lib/python3.12/abc.py", size(40)),
        file("usr/local/include/python3.12/Python.h", size(80)),
        file("usr/local/lib/python3.12/site-packages/x.py", size(160)),
        file("usr/local/bin/serve", size(320)),
    ];
    let report = layered(&[base, python]);
    assert_eq!(report.json["image"]["base"]["layers"], 1);
    let of = |layer: usize, class: &str| report.layers()[layer]["class_bytes"][class].as_u64().unwrap_or(0);
    assert_eq!(of(0, "system"), 1_000 + UBUNTU.len() as u64);
    assert_eq!((of(0, "weights"), of(0, "application")), (5_004, 0));
    assert_eq!((of(1, "system"), of(1, "framework"), of(1, "application")), (150, 160, 320));
}

#[test]
fn what_only_looks_like_weights_is_none() {
    let body = |start: &[u8], size: usize| {
        let mut body = start.to_vec();
        body.resize(size, 1);
        body
    };
    let zip = b"PK\x03\x04";
    // The header of a safetensors file may have a length that reads as the start of a text.
    let odd = [&[b'{', 1, 0, 0, 0, 0, 0, 0][..], b"{\"a\":1}"].concat();
    let cases: [(&str, Vec<u8>, Option<&str>); 15] = [
        ("m/variables.data-00000-of-00002", body(b"", 90), Some("tensorflow")),
        ("m/variables.data-1-of-2", body(b"", 2 * MIB), None),
        ("m/odd.safetensors", body(&odd, 2 * MIB), Some("safetensors")),
        ("m/net.tflite", body(b"\x1c\0\0\0TFL3", 2 * MIB), Some("tensorflow")),
        ("m/other.tflite", body(b"", 2 * MIB), None),
        ("m/model.h5", body(b"\x89HDF\r\n\x1a\n", 2 * MIB), Some("tensorflow")),
        ("m/other.h5", body(b"", 2 * MIB), None),
        ("srv/prod.plan", body(b"{\"format_version\":\"1.2\"}", 70_000), None),
        ("srv/big.plan", body(b"<plan>", 2 * MIB), None),
        ("data/game.engine", b"text".to_vec(), None),
        ("usr/local/bin/x.ort", b"hi".to_vec(), None),
        ("data/train.npy", body(b"\x93NUMPY\x01", 17 * MIB), None),
        ("usr/lib/jvm/app.mar", body(zip, 2 * MIB), None),
        ("firmware/fw.bin", body(zip, 2 * MIB), None),
        ("m/diffusion_pytorch_model.bin", body(zip, 2 * MIB), Some("pytorch")),
    ];
    let members = cases.iter().map(|(path, bytes, _)| file(*path, bytes.clone())).collect();
    let report = report_of_members(members);
    let weights = items(&report.json["cuda"]["weights"]);
    for (path, _, expected) in &cases {
        let found = weights.iter().find(|one| one["path"] == format!("/{path}"));
        assert_eq!(found.and_then(|one| one["format"].as_str()), *expected, "{path}");
    }
}

#[test]
fn a_file_put_over_that_of_a_package_is_nobodys() {
    let path = "usr/lib/x86_64-linux-gnu/libcudnn.so.9.1.0";
    let link = "usr/lib/x86_64-linux-gnu/libcudnn.so.9";
    let built = |bytes: usize| Elf::library("libcudnn.so.9").sized(bytes);
    let base = |listed: &str| {
        let content = [(listed, built(20_000))];
        debs(&[("libcudnn9-cuda-12", "9.1.0.70-1", &content)])
    };
    let owner = |layers: &[Vec<Member>], path: &str| {
        let report = layered(layers);
        library(&report, &format!("/{path}"))["package"]["name"].clone()
    };
    let chown = file(path, built(20_000)).owned_by(1_000, 1_000);
    assert_eq!(owner(&[base(path), vec![chown.clone()]], path), "libcudnn9-cuda-12");
    let own = file(path, built(30_000));
    assert_eq!(owner(&[base(path), vec![own.clone()]], path), Value::Null);
    // A copy of the copy that only changes its owner is no package's either.
    let chowned = own.clone().owned_by(1_000, 1_000);
    assert_eq!(owner(&[base(path), vec![own.clone()], vec![chowned]], path), Value::Null);
    // The database lists the package again after it: it was installed anew.
    let again: Vec<Member> = base(path).into_iter().filter(|one| one.name.starts_with(b"var")).collect();
    assert_eq!(owner(&[base(path), vec![own], again], path), "libcudnn9-cuda-12");
    // A file in the place of the package's link.
    let mut linked = base(link);
    linked.retain(|member| member.name != link.as_bytes());
    linked.push(symlink(link, "libcudnn.so.9.1.0"));
    assert_eq!(owner(&[linked, vec![file(link, built(30_000))]], link), Value::Null);
}

#[test]
fn a_history_that_fits_keeps_its_base() {
    let mut plain = Image::new(Packing::Gzip)
        .layer("ADD rootfs", &tar([file("etc/os-release", UBUNTU)]))
        .step("CMD [\"bash\"]")
        .layer("COPY app", &tar([file("app/x", "x")]));
    plain.config = json!({});
    assert_eq!(report_of(&plain).json["image"]["base"]["layers"], 1);
}
