//! What files of the application and the image's settings name: a question, or a need.

use super::scene::{INCLUDE, Judged, LIB, PYTHON, compilers, image, in_toolkit, script, system, toolkit};
use crate::fixtures::tarball::Member;

fn judged(app: Vec<Member>, command: &[&str], environment: &[&str]) -> Judged {
    Judged::of(&image(&[[system(), compilers(), toolkit()].concat(), app], command, environment))
}

const SERVE: [&str; 2] = [PYTHON, "/srv/app/serve.py"];

#[test]
fn a_script_that_calls_nvcc_makes_a_question_that_names_it() {
    for body in [
        "#!/bin/sh\nnvcc -O2 kernel.cu -o kernel\n",
        "import subprocess\nsubprocess.run(['nvcc', '-O2', 'kernel.cu'])\n",
    ] {
        let name = if body.starts_with("#!") { "build.sh" } else { "build.py" };
        let path = format!("srv/app/{name}");
        let app = vec![script("srv/app/serve.py", "pass\n"), script(&path, body).mode(0o755)];
        let judged = judged(app, &SERVE, &[]);
        judged.all(
            "unsure",
            &[&in_toolkit("bin/nvcc"), &in_toolkit("nvvm/bin/cicc"), &in_toolkit("bin/ptxas")],
        );
        judged.never_safe(&[&format!("/{INCLUDE}/cuda_runtime.h"), &format!("/{LIB}/libcudart_static.a")]);
        let nvcc = judged.find(&in_toolkit("bin/nvcc")).unwrap();
        let question = nvcc["question"].as_str().unwrap_or_default();
        assert!(question.contains(&format!("/{path}")), "{nvcc:#}");
    }
}

#[test]
fn an_extension_that_is_built_at_run_time_makes_a_question() {
    let body = "from torch.utils.cpp_extension import load\nops = load('ops', ['ops.cu'])\n";
    let judged = judged(vec![script("srv/app/serve.py", body)], &SERVE, &[]);
    judged.all("unsure", &[&in_toolkit("bin/nvcc"), "/usr/bin/x86_64-linux-gnu-gcc-13"]);
    judged.never_safe(&[&format!("/{INCLUDE}/cuda_runtime.h"), "/usr/include/stdio.h"]);
    let nvcc = judged.find(&in_toolkit("bin/nvcc")).unwrap();
    assert!(nvcc["question"].as_str().unwrap_or_default().contains("/srv/app/serve.py"), "{nvcc:#}");
}

#[test]
fn a_word_that_only_looks_like_a_tool_makes_no_question() {
    let body = "# we do not need nvcc any more\ndef precompile():\n    magic, remake, digits = 1, 2, 3\n";
    let judged = judged(vec![script("srv/app/serve.py", body)], &SERVE, &[]);
    judged.all("safe", &[&in_toolkit("bin/nvcc")]);
}

#[test]
fn a_profiler_in_the_command_is_needed() {
    for command in [
        &["nsys", "profile", PYTHON, "/srv/app/serve.py"][..],
        &["/bin/sh", "-c", "exec nsys profile /opt/venv/bin/python3.12 /srv/app/serve.py"],
    ] {
        let judged = judged(vec![script("srv/app/serve.py", "pass\n")], command, &[]);
        judged.all("needed", &[&in_toolkit("bin/nsys")]);
        judged.all("safe", &[&in_toolkit("bin/cuda-gdb")]);
    }
}

#[test]
fn a_checker_in_the_command_is_needed() {
    let command = ["compute-sanitizer", PYTHON, "/srv/app/serve.py"];
    let judged = judged(vec![script("srv/app/serve.py", "pass\n")], &command, &[]);
    judged.all("needed", &[&in_toolkit("compute-sanitizer/compute-sanitizer")]);
}

#[test]
fn flags_of_xla_that_name_the_toolkit_make_its_parts_needed() {
    let environment = ["XLA_FLAGS=--xla_gpu_cuda_data_dir=/usr/local/cuda"];
    let judged = judged(vec![script("srv/app/serve.py", "pass\n")], &SERVE, &environment);
    judged.all("needed", &[&in_toolkit("bin/ptxas"), &in_toolkit("nvvm/libdevice/libdevice.10.bc")]);
}

#[test]
fn a_path_for_triton_makes_ptxas_needed() {
    let environment = ["TRITON_PTXAS_PATH=/usr/local/cuda/bin/ptxas"];
    let judged = judged(vec![script("srv/app/serve.py", "pass\n")], &SERVE, &environment);
    judged.all("needed", &[&in_toolkit("bin/ptxas")]);
}

#[test]
fn the_search_path_of_linkers_is_no_sign_of_use() {
    let environment = ["LIBRARY_PATH=/usr/local/cuda/lib64/stubs", "CUDA_HOME=/usr/local/cuda"];
    let judged = judged(vec![script("srv/app/serve.py", "pass\n")], &SERVE, &environment);
    judged.all("safe", &[&format!("/{LIB}/stubs/libcuda.so"), &in_toolkit("bin/nvcc")]);
}

#[test]
fn a_kernel_in_a_script_makes_headers_a_question() {
    let body = "import cuda\nsource = '#include <cuda_fp16.h>'\n";
    let judged = judged(vec![script("srv/app/serve.py", body)], &SERVE, &[]);
    judged.all("unsure", &[&format!("/{INCLUDE}/cuda_fp16.h")]);
}
