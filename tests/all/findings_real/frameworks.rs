//! What naive tools break: content for building that frameworks read at run time.

use super::scene::{
    COMPILERS, INCLUDE, Judged, LIB, ROOT, compilers, image, in_toolkit, library, package, program, script,
    system, toolkit,
};
use crate::fixtures::elf::Elf;
use crate::fixtures::service::{SITE, debs, wheel};
use crate::fixtures::tarball::{Member, file};

fn torch() -> Vec<Member> {
    let content = [
        ("torch/__init__.py", b"pass\n".to_vec()),
        ("torch/version.py", b"__version__ = '2.9.1'\ncuda = '12.8'\n".to_vec()),
        ("torch/lib/libtorch_cuda.so", Elf::library("libtorch_cuda.so").build()),
        ("torch/include/ATen/ATen.h", b"/* ATen */\n".to_vec()),
    ];
    wheel(SITE, "torch", "2.9.1", &content)
}

fn triton() -> Vec<Member> {
    let content = [
        ("triton/__init__.py", b"pass\n".to_vec()),
        ("triton/_C/libtriton.so", Elf::library("libtriton.so").build()),
        ("triton/backends/nvidia/bin/ptxas", Elf::program("ptxas").build()),
        ("triton/backends/nvidia/lib/libdevice.10.bc", b"BC\xc0\xde".to_vec()),
    ];
    wheel(SITE, "triton", "3.5.1", &content)
}

fn toolkit_compilers() -> [String; 4] {
    ["bin/nvcc", "bin/ptxas", "nvvm/bin/cicc", "nvvm/libdevice/libdevice.10.bc"].map(in_toolkit)
}

fn jit_parts() -> [String; 2] {
    ["bin/ptxas", "nvvm/libdevice/libdevice.10.bc"].map(in_toolkit)
}

fn strs(paths: &[String]) -> Vec<&str> {
    paths.iter().map(String::as_str).collect()
}

#[test]
fn torch_with_triton_may_need_the_c_compiler_and_pythons_header_but_no_nvcc() {
    // torch.compile and Triton kernels start a compiler; whether the service calls them is a question.
    let judged = Judged::python([torch(), triton()].concat(), &[]);
    judged.all("unsure", &COMPILERS);
    // A toolkit's compiler is of no use to either: triton has its own.
    judged.all("safe", &strs(&toolkit_compilers()));
    judged.never_safe(&[
        &format!("/{SITE}/triton/backends/nvidia/bin/ptxas"),
        &format!("/{SITE}/triton/backends/nvidia/lib/libdevice.10.bc"),
    ]);
}

#[test]
fn a_well_made_image_of_torch_has_nothing_safe_that_is_needed() {
    let wheels = [
        torch(),
        triton(),
        wheel(
            SITE,
            "nvidia-cuda-runtime-cu12",
            "12.8.90",
            &[
                ("nvidia/cuda_runtime/lib/libcudart.so.12", Elf::library("libcudart.so.12").build()),
                ("nvidia/cuda_runtime/include/cuda_fp16.h", b"/* half */\n".to_vec()),
            ],
        ),
        wheel(
            SITE,
            "nvidia-cuda-cupti-cu12",
            "12.8.90",
            &[("nvidia/cuda_cupti/lib/libcupti.so.12", Elf::library("libcupti.so.12").build())],
        ),
    ];
    let app = vec![script("srv/app/serve.py", "import torch\n")];
    let judged = Judged::of(&image(
        &[[system(), compilers()].concat(), wheels.concat(), app],
        &[super::scene::PYTHON, "/srv/app/serve.py"],
        &[],
    ));
    judged.all("unsure", &COMPILERS);
    judged.never_safe(&[
        &format!("/{SITE}/nvidia/cuda_runtime/lib/libcudart.so.12"),
        &format!("/{SITE}/nvidia/cuda_cupti/lib/libcupti.so.12"),
        &format!("/{SITE}/torch/include/ATen/ATen.h"),
        &format!("/{SITE}/torch/lib/libtorch_cuda.so"),
    ]);
}

fn jax() -> Vec<Member> {
    let plugin = "jax_plugins/xla_cuda12/xla_cuda_plugin.so";
    let content = [(plugin, Elf::library("xla_cuda_plugin.so").build())];
    [package("jax", "0.8.1"), package("jaxlib", "0.8.1"), wheel(SITE, "jax-cuda12-pjrt", "0.8.1", &content)]
        .concat()
}

fn nvcc_wheel(name: &str, folder: &str) -> Vec<Member> {
    let paths = [
        format!("nvidia/{folder}/bin/ptxas"),
        format!("nvidia/{folder}/nvvm/libdevice/libdevice.10.bc"),
        format!("nvidia/{folder}/nvvm/lib64/libnvvm.so"),
    ];
    let content = [
        (paths[0].as_str(), Elf::program("ptxas").build()),
        (paths[1].as_str(), b"BC\xc0\xde wheel".to_vec()),
        (paths[2].as_str(), Elf::library("libnvvm.so.4").build()),
    ];
    wheel(SITE, name, "12.8.93", &content)
}

#[test]
fn jax_needs_ptxas_and_libdevice_of_the_toolkit_when_no_wheel_has_them() {
    let judged = Judged::python(jax(), &[]);
    judged.all("needed", &strs(&jit_parts()));
    judged.all("safe", &[&in_toolkit("bin/cuda-gdb"), &format!("/{LIB}/libcublas_static.a")]);
}

#[test]
fn jax_needs_those_of_the_wheel_where_it_lies_beside() {
    for (name, folder) in [("nvidia-cuda-nvcc-cu12", "cuda_nvcc"), ("nvidia-cuda-nvcc", "cu13")] {
        let judged = Judged::python([jax(), nvcc_wheel(name, folder)].concat(), &[]);
        judged.all(
            "needed",
            &[
                &format!("/{SITE}/nvidia/{folder}/bin/ptxas"),
                &format!("/{SITE}/nvidia/{folder}/nvvm/libdevice/libdevice.10.bc"),
            ],
        );
        judged.all("safe", &strs(&jit_parts()));
    }
}

#[test]
fn a_wheel_in_another_environment_is_no_copy_for_jax() {
    let mut members = jax();
    for mut member in nvcc_wheel("nvidia-cuda-nvcc-cu12", "cuda_nvcc") {
        let name = String::from_utf8(member.name).unwrap().replace("opt/venv", "opt/other");
        member.name = name.into_bytes();
        members.push(member);
    }
    let judged = Judged::python(members, &[]);
    judged.never_safe(&strs(&jit_parts()));
}

#[test]
fn tensorflow_needs_ptxas_and_libdevice() {
    let core = "tensorflow/libtensorflow_cc.so.2";
    let content = [(core, Elf::library("libtensorflow_cc.so.2").build())];
    let judged = Judged::python(wheel(SITE, "tensorflow", "2.21.0", &content), &[]);
    judged.all("needed", &strs(&jit_parts()));
}

#[test]
fn numba_needs_libnvvm_libdevice_cudadevrt_and_headers() {
    for name in ["numba", "numba-cuda"] {
        let judged = Judged::python(package(name, "0.30.4"), &[]);
        judged.all(
            "needed",
            &[
                &in_toolkit("nvvm/lib64/libnvvm.so.4.0.0"),
                &in_toolkit("nvvm/libdevice/libdevice.10.bc"),
                &format!("/{LIB}/libcudadevrt.a"),
                &format!("/{INCLUDE}/cuda_fp16.h"),
            ],
        );
        judged.all("safe", &[&format!("/{LIB}/libcublas_static.a"), &in_toolkit("bin/cuda-gdb")]);
    }
}

#[test]
fn cupy_needs_the_headers_of_the_toolkit_when_no_wheel_has_them() {
    let headers = [format!("/{INCLUDE}/cuda_fp16.h"), format!("/{INCLUDE}/cuda_runtime.h")];
    let judged = Judged::python(package("cupy-cuda12x", "14.2.0"), &[]);
    judged.all("needed", &strs(&headers));
    judged.all("safe", &[&in_toolkit("bin/nvcc"), &format!("/{LIB}/libcudadevrt.a")]);

    let content = [("nvidia/cuda_runtime/include/cuda_fp16.h", b"/* half */\n".to_vec())];
    let wheel = wheel(SITE, "nvidia-cuda-runtime-cu12", "12.9.79", &content);
    let judged = Judged::python([package("cupy-cuda12x", "14.2.0"), wheel].concat(), &[]);
    judged.all("needed", &[&format!("/{SITE}/nvidia/cuda_runtime/include/cuda_fp16.h")]);
}

#[test]
fn headers_of_another_library_in_a_wheel_are_no_copy_for_cupy() {
    let content = [("nvidia/cudnn/include/cudnn.h", b"/* cudnn */\n".to_vec())];
    let cudnn = wheel(SITE, "nvidia-cudnn-cu12", "9.10.2.21", &content);
    let judged = Judged::python([package("cupy-cuda12x", "14.2.0"), cudnn].concat(), &[]);
    judged.all("needed", &[&format!("/{INCLUDE}/cuda_fp16.h")]);
}

#[test]
fn those_that_compile_at_run_time_need_nvcc_headers_ninja_and_gcc() {
    for name in ["deepspeed", "flashinfer-python", "sglang", "deep-gemm", "vllm", "gsplat"] {
        let ninja = vec![program("usr/bin/ninja", &[])];
        let judged = Judged::python([torch(), package(name, "1.0"), ninja].concat(), &[]);
        judged.all("needed", &strs(&toolkit_compilers()));
        judged
            .all("needed", &[&format!("/{INCLUDE}/cuda_runtime.h"), &format!("/{INCLUDE}/cccl/cub/cub.cuh")]);
        judged.all("needed", &COMPILERS);
        if name != "deep-gemm" {
            judged.all("needed", &["/usr/bin/ninja"]);
        }
        // nvcc links the static runtime unless it is told not to.
        judged.never_safe(&[&format!("/{LIB}/libcudart_static.a"), &format!("/{LIB}/libcudadevrt.a")]);
        judged.all("safe", &[&in_toolkit("bin/cuda-gdb"), "/opt/nvidia/nsight-compute/2025.1.0/ncu"]);
    }
}

#[test]
fn builder_resources_are_not_safe_while_tensorrt_is_used() {
    let system_libraries = "usr/lib/x86_64-linux-gnu";
    let resource = format!("{system_libraries}/libnvinfer_builder_resource_sm90.so.10.9.0");
    let infer = format!("{system_libraries}/libnvinfer.so.10");
    let content = [
        (infer.as_str(), Elf::library("libnvinfer.so.10").build()),
        (resource.as_str(), Elf::library("libnvinfer_builder_resource_sm90.so.10.9.0").build()),
    ];
    let mut members = [system(), debs(&[("libnvinfer10", "10.9.0.34-1+cuda12.8", &content)])].concat();
    members.push(program("srv/app/bin/serve", &["libnvinfer.so.10"]));
    members.push(file("srv/app/model.plan", "ftrt and so on"));
    let judged = Judged::of(&image(&[members], &["/srv/app/bin/serve"], &[]));
    judged.never_safe(&[&format!("/{infer}"), &format!("/{resource}")]);
}

#[test]
fn what_cudnn_opens_by_name_is_not_safe() {
    let folder = "usr/lib/x86_64-linux-gnu";
    let names = [
        "libcudnn_graph.so.9",
        "libcudnn_ops.so.9",
        "libcudnn_engines_precompiled.so.9",
        "libcudnn_heuristic.so.9",
    ];
    let mut members = [system(), toolkit()].concat();
    members.push(library(&format!("{folder}/libcudnn.so.9"), "libcudnn.so.9", &[]));
    members.extend(names.map(|name| library(&format!("{folder}/{name}"), name, &[])));
    members.push(program("srv/app/bin/serve", &["libcudnn.so.9"]));
    let judged = Judged::of(&image(&[members], &["/srv/app/bin/serve"], &[]));
    let paths = names.map(|name| format!("/{folder}/{name}"));
    judged.never_safe(&strs(&paths));
    judged.never_safe(&[&format!("/{folder}/libcudnn.so.9")]);
}

#[test]
fn a_second_toolkit_is_not_the_one_that_is_read() {
    // Both may be what jax finds: /usr/local/cuda names one of them only.
    let mut other = Vec::new();
    for mut member in toolkit() {
        let name = String::from_utf8(member.name).unwrap();
        if name.starts_with(ROOT) {
            member.name = name.replace("cuda-12.8", "cuda-12.4").into_bytes();
            other.push(member);
        }
    }
    let judged = Judged::python([jax(), other].concat(), &[]);
    judged.all("needed", &strs(&jit_parts()));
}
