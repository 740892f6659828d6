//! What is used for certain, what perhaps, and what is used and not there.

use serde_json::json;

use super::{expect, image, runtime, server, with_code};
use crate::fixtures::elf::Elf;
use crate::fixtures::service::wheel;
use crate::fixtures::tarball::{Member, file};

/// A wheel of torch whose own library has SASS for these.
fn torch_in(site: &str, version: &str, cuda: &str, sass: &[u32]) -> Vec<Member> {
    let module = Elf { soname: None, runpath: Some("$ORIGIN/lib".into()), ..Elf::library("_C") };
    let contents = format!("__version__ = '{version}'\ncuda: Optional[str] = '{cuda}'\n");
    let core = with_code(Elf::library("libtorch_cuda.so"), sass, None).build();
    let files = [
        ("torch/version.py", contents.into_bytes()),
        ("torch/_C.cpython-312-x86_64-linux-gnu.so", module.needing(&["libtorch_cuda.so"]).build()),
        ("torch/lib/libtorch_cuda.so", core),
    ];
    wheel(site, "torch", version, &files)
}

/// A framework of one module, which needs these.
fn module_of(name: &str, sass: &[u32], needs: &[&str]) -> Vec<Member> {
    let module = with_code(Elf { soname: None, ..Elf::library("_C").needing(needs) }, sass, None);
    wheel("usr/lib/python3/dist-packages", name, "0.12.0", &[(&format!("{name}/_C.abi3.so"), module.build())])
}

#[test]
fn of_two_frameworks_one_is_enough_unless_it_needs_the_other() {
    let torch = || torch_in("usr/lib/python3/dist-packages", "2.9.1+cu128", "12.8", &[80]);
    let with = |other: Vec<Member>| {
        let members = torch().into_iter().chain(runtime("12.8.90")).chain(other).collect();
        image(server(), members, &[])
    };
    let alone = with(vec![]);
    expect(&alone, &[("gpu:h100,driver=580", "fails", "gpu-code")]);
    let beside = with(module_of("vllm", &[90], &[]));
    expect(&beside, &[("gpu:h100,driver=580", "unknown", "gpu-code")]);
    let upon = with(module_of("vllm", &[90], &["libtorch_cuda.so"]));
    expect(&upon, &[("gpu:h100,driver=580", "fails", "gpu-code")]);
}

#[test]
fn a_name_for_one_architecture_is_no_choice_where_the_image_starts_the_file() {
    let mut image = image(server(), vec![], &[]);
    let program = with_code(server(), &[80], None).build();
    let members = [file("opt/build-sm80/server", program).mode(0o755)];
    image = image.layer("COPY", &crate::fixtures::tarball::tar(members));
    image.config = json!({"Entrypoint": ["/opt/build-sm80/server"]});
    expect(
        &image,
        &[("gpu:h100,driver=580", "fails", "gpu-code"), ("gpu:a10,driver=580", "runs", "gpu-code")],
    );
}

#[test]
fn a_library_of_cuda_that_is_not_there_is_told() {
    let lacking = with_code(server().needing(&["libcublas.so.12"]), &[80], None);
    expect(&image(lacking, vec![], &[]), &[("gpu:a10,driver=580", "unknown", "incomplete")]);
    // The driver's comes from the machine.
    let driven = with_code(server().needing(&["libcuda.so.1"]), &[80], None);
    expect(&image(driven, vec![], &[]), &[("gpu:a10,driver=580", "runs", "gpu-code")]);
}

#[test]
fn frameworks_of_environments_that_are_not_started_do_not_decide() {
    let (new, old) = ("opt/venv/lib/python3.12/site-packages", "opt/old/lib/python3.12/site-packages");
    let config = "home = /usr/bin\nversion = 3.12.3\n";
    let mut members = torch_in(new, "2.9.1", "12.8", &[80, 90]);
    members.extend(torch_in(old, "2.0.1", "13.0", &[80]));
    members.extend(["opt/venv/pyvenv.cfg", "opt/old/pyvenv.cfg"].map(|path| file(path, config)));
    members.push(file("usr/bin/python3.12", Elf::program("python3.12").build()).mode(0o755));
    let mut image = image(server(), members, &["PATH=/opt/venv/bin:/usr/bin:/bin"]);
    image.config["Entrypoint"] = json!(["/opt/venv/bin/python", "/app/main.py"]);
    let wanted = [
        ("gpu:a100-80,driver=580", "runs", "driver-version"),
        // What the other one lacks is a doubt, and no failure.
        ("gpu:h100,driver=580", "unknown", "gpu-code"),
        ("gpu:a100-80,driver=550", "unknown", "driver-version"),
        // What the one that is started lacks is a failure.
        ("gpu:t4,driver=580", "fails", "gpu-code"),
    ];
    expect(&image, &wanted);
    // A script may choose any of them.
    image.config["Entrypoint"] = json!(["/entry.sh"]);
    image.config["Cmd"] = json!(["/opt/venv/bin/python", "/app/main.py"]);
    expect(&image, &[("gpu:t4,driver=580", "unknown", "gpu-code"), wanted[1]]);
}

#[test]
fn programs_beside_one_that_uses_cuda_are_no_certain_need() {
    let with_runtime = |elf: Elf, path: &str| Elf { runpath: Some(format!("/{path}")), ..elf };
    let later = "opt/later/lib";
    let tool = with_runtime(Elf::program("tool").needing(&["libcudart.so.13"]), later).build();
    let beside = || {
        vec![
            file("opt/later/bin/tool", tool.clone()).mode(0o755),
            file(format!("{later}/libcudart.so.13"), Elf::library("libcudart.so.13").build()),
        ]
    };
    let own = format!("{}/nvidia/cuda_runtime/lib", super::SITE);
    let service = || with_runtime(server().needing(&["libcudart.so.12"]), &own);
    let mut members = runtime("12.4.127");
    members.extend(beside());
    let old = ("gpu:a100-80,driver=550", "unknown", "driver-version");
    expect(&image(service(), members, &[]), &[old]);
    expect(&image(server(), beside(), &[]), &[old]);
    // A script starts some program: nothing else uses CUDA.
    let shell = file("usr/bin/dash", Elf::program("dash").build()).mode(0o755);
    let script = file("entry.sh", "#!/usr/bin/dash\nexec \"$TOOL\"\n").mode(0o755);
    let mut started = image(server(), [beside(), vec![shell, script]].concat(), &[]);
    started.config["Entrypoint"] = json!(["/entry.sh"]);
    expect(&started, &[("gpu:a100-80,driver=550", "fails", "driver-version")]);
}

#[test]
fn a_service_that_only_runs_nvcc_uses_cuda() {
    let root = "usr/local/cuda-13.0";
    let toolkit = || {
        let version = json!({"cuda": {"name": "CUDA SDK", "version": "13.0.2"}}).to_string();
        vec![
            file(format!("{root}/version.json"), version),
            file(format!("{root}/bin/nvcc"), Elf::program("nvcc").build()).mode(0o755),
            crate::fixtures::tarball::symlink("usr/local/cuda", "cuda-13.0"),
        ]
    };
    let names_it = file("app/serve.py", "import subprocess\nsubprocess.run(['nvcc', '-ptx', path])\n");
    let compiles = image(server(), [toolkit(), vec![names_it.clone()]].concat(), &[]);
    // What it compiles is unknown; an old driver may be enough or not.
    expect(&compiles, &[("gpu:a100-80,driver=450", "unknown", "driver-version")]);
    for without in [toolkit(), vec![names_it]] {
        expect(&image(server(), without, &[]), &[("gpu:a100-80,driver=450", "runs", "no-cuda")]);
    }
}
