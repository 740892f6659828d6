use super::*;

#[test]
fn toolkits_and_architectures_fit_together() {
    let versions: Vec<Vec<u32>> =
        catalog().toolkits().iter().map(|t| numbers(t.version.as_bytes())).collect();
    assert!(versions.iter().all(|version| version.len() == 3));
    assert!(versions.is_sorted());
    let isas: Vec<Vec<u32>> = catalog().toolkits().iter().map(|t| numbers(t.ptx_isa.as_bytes())).collect();
    assert!(isas.is_sorted());
    let branches = catalog().driver_branches();
    assert!(branches.is_sorted_by_key(|branch| (branch.branch, numbers(branch.cuda.as_bytes()))));
    for toolkit in catalog().toolkits() {
        let major = numbers(toolkit.version.as_bytes())[0];
        let minimum = numbers(catalog().major(major).unwrap().min_driver.as_bytes());
        // The minimum of a major version applies from 11.1 on.
        if let Some(driver) = toolkit.driver_linux.as_ref().filter(|_| toolkit.version != "11.0.3") {
            assert!(numbers(driver.as_bytes()) >= minimum, "{}", toolkit.version);
        }
        for package in [&toolkit.cudart, &toolkit.cublas].into_iter().flatten() {
            assert!((3..=4).contains(&numbers(package.as_bytes()).len()), "{package}");
        }
    }
    assert!(catalog().architectures().is_sorted_by_key(|architecture| architecture.sm));
    for target in catalog().targets() {
        assert!(target.id.starts_with("gpu:"), "{}", target.id);
        let architecture = catalog().architecture(target.sm().unwrap());
        assert!(architecture.is_some(), "{}", target.id);
        assert_eq!(architecture.unwrap().tegra, target.class == GpuClass::Jetson, "{}", target.id);
    }
    for architecture in catalog().architectures() {
        if let Some(also) = architecture.also {
            assert_eq!(catalog().architecture(also).unwrap().also, Some(architecture.sm));
        }
    }
}

#[test]
fn hardware_facts() {
    assert_eq!(catalog().architecture(90).unwrap().introduced, "11.8");
    assert_eq!(catalog().architecture(37).unwrap().dropped.as_deref(), Some("12.0"));
    assert_eq!(catalog().architecture(70).unwrap().last_driver, Some(580));
    assert!(catalog().architecture(99).is_none());
    assert_eq!(catalog().target("gpu:a100-80").unwrap().sm(), Some(80));
    assert_eq!(catalog().target("gpu:gb10").unwrap().sm(), Some(121));
    let of_cudart = |version: &str| -> Vec<&str> {
        catalog().toolkits_of_cudart(version).map(|toolkit| toolkit.version.as_str()).collect()
    };
    assert_eq!(of_cudart("12.4.127-1"), ["12.4.1"]);
    assert_eq!(of_cudart("12.6.77"), ["12.6.2", "12.6.3"]);
    assert_eq!(of_cudart("13.0.96-1"), ["13.0.2", "13.0.3"]);
    assert_eq!(of_cudart("1.2.3"), [""; 0]);
    let of_cublas = catalog().toolkits_of_cublas("12.6.4.1-1").map(|toolkit| toolkit.version.as_str());
    assert_eq!(of_cublas.collect::<Vec<_>>(), ["12.6.3"]);
    assert_eq!(catalog().newest_toolkit("12.6").unwrap().version, "12.6.3");
    assert_eq!(catalog().newest_toolkit("13.0").unwrap().version, "13.0.2");
    assert!(catalog().newest_toolkit("9.9").is_none());
    assert_eq!(catalog().toolkit("13.0.2").unwrap().driver_linux.as_deref(), Some("580.95.05"));
}

#[test]
fn tags_are_those_that_exist() {
    let tag = |version, flavor, cudnn, distribution| {
        catalog().toolkit(version).unwrap().image_tag(flavor, cudnn, distribution)
    };
    assert_eq!(tag("13.0.2", "devel", true, "ubuntu24.04").unwrap(), "13.0.2-cudnn-devel-ubuntu24.04");
    assert_eq!(tag("11.8.0", "runtime", true, "ubuntu22.04").unwrap(), "11.8.0-cudnn8-runtime-ubuntu22.04");
    assert_eq!(tag("12.3.2", "runtime", true, "ubuntu22.04").unwrap(), "12.3.2-cudnn9-runtime-ubuntu22.04");
    assert_eq!(tag("12.3.1", "runtime", true, "ubuntu22.04"), None);
    assert_eq!(tag("12.3.1", "runtime", false, "ubuntu22.04").unwrap(), "12.3.1-runtime-ubuntu22.04");
    assert_eq!(tag("12.5.1", "runtime", true, "ubuntu24.04"), None);
    assert_eq!(tag("12.5.1", "base", true, "ubuntu22.04"), None);
    assert_eq!(tag("12.4.1", "base", false, "centos7"), None);
    assert_eq!(tag("13.0.2", "none", false, "ubuntu24.04"), None);
}

#[test]
fn frameworks_are_told_from_packages_and_files() {
    let of =
        |manager: &str, name: &str| catalog().framework_of_package(manager, name).map(|f| f.name.as_str());
    assert_eq!(of("pip", "torch"), Some("torch"));
    assert_eq!(of("pip", "Flash_Attn"), Some("flash-attn"));
    assert_eq!(of("pip", "cudf-cu12"), Some("rapids"));
    assert_eq!(of("pip", "jax-cuda13-plugin"), Some("jax"));
    assert_eq!(of("conda", "pytorch"), Some("torch"));
    assert_eq!(of("dpkg", "libnvinfer10"), Some("tensorrt"));
    assert_eq!(of("dpkg", "torch"), None);
    assert_eq!(of("pip", "torchx"), None);

    let of_path = |path: &str| catalog().path_rules(path.as_bytes()).framework.map(|f| f.name.as_str());
    assert_eq!(of_path("/opt/tritonserver/bin/tritonserver"), Some("tritonserver"));
    assert_eq!(of_path("/usr/lib/x86_64-linux-gnu/libnvinfer.so.10.3.0"), Some("tensorrt"));
    assert_eq!(of_path("/usr/bin/python3"), None);

    let torch = catalog().framework("torch").unwrap();
    let version = b"__version__ = '2.15.0+cu132'\ndebug = False\ncuda: Optional[str] = '13.2'\n";
    assert_eq!(torch.cuda_of_file("torch/version.py", version).unwrap(), "13.2");
    assert_eq!(torch.cuda_of_file("torch/version.py", b"cuda = None\n"), None);
    assert_eq!(torch.cuda_of_package("torch", "2.9.1+cu128").unwrap(), "12.8");
    assert!(torch.is_cpu_build("torch", "2.9.1+cpu") && !torch.is_cpu_build("torch", "2.9.1"));
    assert!(torch.is_for_other_devices("2.9.1+rocm6.4"));
    let onnxruntime = catalog().framework("onnxruntime").unwrap();
    assert!(onnxruntime.is_cpu_build("onnxruntime", "1.31.1"));
    assert!(!onnxruntime.is_cpu_build("onnxruntime-gpu", "1.31.1"));
    let cuda = |name: &str, package: &str| catalog().framework(name).unwrap().cuda_of_package(package, "1");
    assert_eq!(cuda("cupy", "cupy-cuda12x").as_deref(), Some("12"));
    assert_eq!(cuda("cupy", "cupy-cuda117").as_deref(), Some("11.7"));
    assert_eq!(cuda("jax", "jax_cuda13_plugin").as_deref(), Some("13"));
    assert_eq!(cuda("faiss", "faiss-gpu-cu12").as_deref(), Some("12"));
    for framework in catalog().frameworks() {
        assert!(framework.reads_devel.iter().all(|read| READ.contains(&read.as_str())), "{}", framework.name);
    }
}

#[test]
#[allow(clippy::too_many_lines, reason = "a table of cases")]
fn places_and_packages() {
    let devel = |path: &str| catalog().is_devel_path(path.as_bytes()).map(|rule| rule.id.as_str());
    for (path, expected) in [
        ("/usr/local/cuda-13.0/targets/x86_64-linux/lib/libcublas_static.a", Some("toolkit-static")),
        ("/usr/local/cuda/lib64/libcudadevrt.a", Some("toolkit-cudadevrt")),
        ("/usr/local/cuda/lib64/stubs/libcuda.so", Some("toolkit-stubs")),
        ("/usr/local/cuda/lib64/libcublas.so.13", None),
        ("/usr/local/cuda/compat/libcuda.so.580.95.05", None),
        ("/usr/local/cuda/gds/cufile.json", None),
        ("/usr/local/cuda/bin/ptxas", Some("toolkit-ptxas")),
        ("/usr/local/cuda/nvvm/libdevice/libdevice.10.bc", Some("toolkit-libdevice")),
        ("/usr/local/cuda/targets/sbsa-linux/include/cuda.h", Some("toolkit-headers")),
        ("/usr/local/cuda/lib64/libcupti.so.2025.3.1", Some("toolkit-cupti")),
        ("/opt/nvidia/nsight-compute/2025.3.1/ncu", Some("nsight")),
        ("/usr/include/cudnn_v9.h", Some("nvidia-system-headers")),
        ("/usr/include/stdio.h", Some("system-headers")),
        ("/usr/lib/x86_64-linux-gnu/libnccl_static.a", Some("nvidia-system-static")),
        ("/opt/app/lib/python3.12/site-packages/nvidia/cu13/include/cuda.h", Some("wheel-headers")),
        ("/opt/app/lib/python3.12/site-packages/nvidia/cu13/lib/libcublas.so.13", None),
        ("/opt/app/lib/python3.12/site-packages/torch/include/ATen/ATen.h", Some("framework-headers")),
        ("/usr/local/cudax/bin/nvcc", None),
        ("/usr/local/cuda-11.8/include/thrust/sort.h", Some("toolkit-headers")),
        ("/usr/local/cuda-11.8/nvvm-prev/bin/cicc", Some("toolkit-nvcc")),
        ("/usr/local/cuda-11.8/libnvvp/nvvp", Some("toolkit-profilers")),
        ("/usr/local/cuda-12.4/nsight-systems-2023.4.4/bin/nsys", Some("toolkit-profilers")),
        ("/usr/local/cuda/share/gdb/syscalls/amd64-linux.xml", Some("toolkit-debugger")),
        ("/usr/local/cuda/doc/man/man3/cufile.h.3", Some("toolkit-docs-samples")),
        ("/usr/lib64/libcudnn_graph_static_v9.a", Some("nvidia-system-static")),
        ("/usr/lib/nvidia-cuda-toolkit/bin/cicc", Some("toolkit-nvcc")),
        ("/usr/lib/nvidia-cuda-toolkit/libdevice/libdevice.10.bc", Some("toolkit-libdevice")),
        ("/usr/bin/ptxas", Some("debian-cuda-ptxas")),
        ("/usr/include/cuda_fp16.h", Some("debian-cuda-headers")),
        ("/opt/nvidia/hpc_sdk/Linux_x86_64/24.9/profilers/Nsight_Compute/ncu", Some("hpc-sdk-profilers")),
        ("/opt/nvidia/hpc_sdk/Linux_x86_64/24.9/cuda/12.6/bin/nvcc", Some("toolkit-nvcc")),
        ("/usr/lib/gcc/x86_64-linux-gnu/13/cc1plus", Some("system-compilers")),
        ("/usr/lib/gcc/x86_64-linux-gnu/13/libgcc.a", Some("system-compilers")),
        ("/usr/lib/gcc/x86_64-linux-gnu/13/crtbegin.o", Some("system-compilers")),
        ("/usr/lib/gcc/x86_64-linux-gnu/13/include/stddef.h", Some("compiler-headers")),
        ("/usr/lib/x86_64-linux-gnu/crt1.o", Some("system-compilers")),
        ("/usr/lib/x86_64-linux-gnu/libc_nonshared.a", Some("system-libc-static")),
        ("/usr/lib/x86_64-linux-gnu/libz.a", Some("system-static")),
        ("/usr/bin/ninja", Some("system-ninja")),
        ("/usr/bin/make", Some("system-build-tools")),
        ("/usr/lib/git-core/git-remote-http", Some("system-build-tools")),
        ("/usr/bin/gdb", Some("system-debuggers")),
        ("/usr/bin/gdbus", None),
        ("/usr/libexec/valgrind/memcheck-amd64-linux", Some("system-debuggers")),
        ("/usr/bin/perf", Some("system-profilers")),
        ("/usr/bin/perl", None),
        ("/usr/bin/ncu", Some("nsight-system")),
        ("/usr/share/gdb/auto-load/usr/lib/libstdc++.so.6-gdb.py", Some("system-gdb-scripts")),
        ("/opt/conda/lib/python3.12/test/support/__init__.py", Some("python-stdlib-tests")),
        ("/opt/conda/lib/python3.12/unittest/mock.py", None),
        ("/v/lib/python3.12/site-packages/pandas/tests/test_a.py", Some("python-tests")),
        ("/v/lib/python3.12/site-packages/numpy/_core/tests/test_a.py", Some("python-tests")),
        ("/v/lib/python3.12/site-packages/numpy/_core/tests/_natype.py", None),
        ("/v/lib/python3.12/site-packages/numpy/testing/a.py", None),
        ("/usr/share/doc/libc6/changelog.gz", Some("system-docs")),
        ("/usr/share/doc/libc6/copyright", None),
        ("/usr/share/locale/de/LC_MESSAGES/git.mo", None),
        ("/usr/share/cmake-3.28/Modules/FindCUDA.cmake", Some("system-cmake-modules")),
        ("/usr/local/lib/cmake/x/x.cmake", Some("system-build-metadata")),
        ("/usr/lib/python3/dist-packages/cmake/__init__.py", None),
        ("/usr/local/lib/python3.12/config-3.12-x86_64-linux-gnu/libpython3.12.a", Some("python-static")),
        ("/usr/local/include/python3.12/Python.h", Some("python-headers")),
        ("/opt/conda/include/zlib.h", Some("conda-headers")),
        ("/opt/conda/envs/x/targets/x86_64-linux/include/cuda.h", Some("conda-cuda-headers")),
        ("/opt/conda/x86_64-conda-linux-gnu/sysroot/usr/lib/crt1.o", Some("conda-compilers")),
        ("/opt/conda/lib/python3.12/site-packages/torch/include/c10/c10.h", Some("framework-headers")),
        ("/opt/conda/lib/python3.12/site-packages/x/include/mod.py", None),
        ("/v/site-packages/triton/backends/nvidia/include/cuda.h", Some("triton-headers")),
        ("/v/site-packages/triton/backends/nvidia/bin/ptxas", None),
        ("/v/site-packages/numpy/_core/include/numpy/arrayobject.h", Some("numpy-headers")),
        ("/v/site-packages/warp/native/warp.h", None),
        ("/v/site-packages/x/libx.a", Some("python-package-static")),
        // Rules for caches and build trees take precedence over rules for their content.
        ("/root/.cache/pip/http-v2/a/b/c", Some("cache-pip")),
        ("/.cache/pip/x", Some("cache-pip")),
        ("/root/.cache/uv/archive-v0/q/lib/python3.12/site-packages/torch/include/a.h", Some("cache-uv")),
        ("/root/.cache/uv/environments-v2/q/bin/python", None),
        ("/root/.cache/pypoetry/virtualenvs/a/bin/python", None),
        ("/opt/conda/pkgs/cuda-nvcc-12.4-0/bin/nvcc", Some("cache-conda")),
        ("/var/lib/apt/lists/x_InRelease", Some("cache-apt")),
        ("/var/cache/apt/archives/x.deb", Some("cache-apt")),
        ("/home/a/.cache/huggingface/hub/models--a--b/blobs/1", Some("hub-huggingface")),
        ("/app/.git/objects/pack/x.pack", Some("artifact-git")),
        ("/app/build/CMakeFiles/x.dir/a.o", Some("artifact-cmake")),
        ("/root/.cache/torch_extensions/py312/x/build.ninja", None),
        ("/wheels/x-1-py3-none-any.whl", Some("artifact-wheel")),
        ("/usr/lib/python3.12/ensurepip/_bundled/pip-24-py3-none-any.whl", None),
        ("/app/core", Some("artifact-core")),
        ("/usr/local/cuda", None),
    ] {
        assert_eq!(devel(path), expected, "{path}");
    }
    for rule in &catalog().document.devel_paths {
        assert!(CATEGORIES.contains(&rule.category.as_str()), "{}", rule.id);
        assert!(rule.read_as.as_deref().is_none_or(|read| READ.contains(&read)), "{}", rule.id);
    }
    let root = catalog().toolkit_root(b"/usr/local/cuda-13.0/bin/nvcc").unwrap();
    assert_eq!(root, (&b"/usr/local/cuda-13.0"[..], &b"bin/nvcc"[..]));
    assert_eq!(catalog().toolkit_root(b"/usr/local/cudax/bin/nvcc"), None);
    assert!(catalog().is_tool(b"/v/site-packages/triton/backends/nvidia/bin/ptxas"));
    assert!(!catalog().is_tool(b"/usr/bin/python3"));
    let class = |path: &str| catalog().path_rules(path.as_bytes()).class;
    assert_eq!(
        class("/v/lib/python3.12/site-packages/nvidia/cu13/lib/libcublas.so.13"),
        Some("cuda-runtime")
    );
    assert_eq!(class("/v/lib/python3.12/site-packages/torch/lib/libtorch.so"), Some("framework"));
    assert_eq!(class("/usr/bin/bash"), Some("system"));
    assert_eq!(class("/app/main.py"), None);

    let rule = |name: &str| catalog().is_devel_package("dpkg", name).map(|rule| rule.id.as_str());
    assert_eq!(rule("cuda-toolkit-13-0-config-common"), None);
    assert_eq!(rule("cuda-toolkit-13-0"), Some("cuda-metapackages"));
    assert_eq!(rule("libcublas-dev-13-0"), Some("cuda-libraries-devel"));
    assert_eq!(rule("libcublas-13-0"), None);
    assert_eq!(rule("libcudnn9-cuda-13"), None);
    assert_eq!(rule("libcurl4-openssl-dev"), Some("generic-headers"));
    assert_eq!(rule("gcc-13-base"), None);
    assert_eq!(rule("gcc-13"), Some("compilers"));
    assert_eq!(rule("postgresql-server-dev-15"), Some("generic-headers"));
    assert_eq!(rule("opencl-c-headers"), Some("generic-headers"));
    assert_eq!(rule("libhttp-headers-fast-perl"), None);
    assert_eq!(rule("gobject-introspection"), Some("introspection-tools"));
    // There it has the library and the typelibs.
    for manager in ["rpm", "apk", "conda"] {
        assert!(catalog().is_devel_package(manager, "gobject-introspection").is_none(), "{manager}");
    }
    assert_eq!(catalog().is_devel_package("rpm", "libcublas-devel-12-4").unwrap().id, "cuda-libraries-devel");
    assert!(catalog().is_devel_package("conda", "cuda-cupti").is_none());
    assert!(catalog().is_driver_package("dpkg", "libnvidia-compute-580").is_some());
    assert!(catalog().is_driver_package("dpkg", "libnvidia-container1").is_none());
    assert!(catalog().is_nvidia_package("libnccl2", Some("cudatools <cudatools@nvidia.com>")));
    assert!(catalog().is_nvidia_package("libnccl2", None));
    assert!(!catalog().is_nvidia_package("libnccl2", Some("Debian NVIDIA Maintainers <x@lists.debian.org>")));
    assert!(!catalog().is_nvidia_package("libc6", None));
    for (name, cuda) in [
        ("nvidia-cublas-cu12", Some(12)),
        ("cupy-cuda12x", Some(12)),
        ("jax-cuda13-plugin", Some(13)),
        ("libcudnn9-cuda-13", Some(13)),
        ("cuda-cudart-12-4", Some(12)),
        ("nvidia-cublas", None),
        ("libc6", None),
    ] {
        assert_eq!(catalog().cuda_of_package_name(name), cuda, "{name}");
    }
    let of = |name: &str| catalog().component_of_package(name).map(|component| component.name.as_str());
    assert_eq!(of("libcublas-13-0"), Some("cublas"));
    assert_eq!(of("nvidia_cudnn_cu12"), Some("cudnn"));
    assert_eq!(of("libcublas-dev-13-0"), None);
}

#[test]
fn weights_are_told_by_name_content_and_size() {
    let of = |path: &str, head: Option<&[u8]>, size| {
        catalog().weight_format(path.as_bytes(), head, size).map(|format| format.name.as_str())
    };
    assert_eq!(of("/m/model-00001-of-00002.safetensors", None, 10), Some("safetensors"));
    assert_eq!(of("/m/model.safetensors", Some(b"version https://git-lfs.github.com/spec/v1"), 134), None);
    assert_eq!(of("/m/MODEL.GGUF", Some(b"GGUF\x03\0\0\0"), 9), Some("gguf"));
    assert_eq!(of("/m/pytorch_model.bin", Some(b"PK\x03\x04........"), 5 << 20), Some("pytorch"));
    assert_eq!(of("/m/ggml-base.bin", Some(b"lmgg........"), 5 << 20), Some("ggml"));
    assert_eq!(of("/m/pytorch_model.bin", None, 5 << 20), Some("pytorch"));
    assert_eq!(of("/lib/firmware.bin", Some(b"\x7fELF........"), 5 << 20), None);
    assert_eq!(of("/m/pytorch_model.bin", None, 100), None);
    assert_eq!(of("/m/model.plan", None, 1 << 20), Some("tensorrt"));
    assert_eq!(of("/m/big.onnx.data", None, 1), Some("onnx"));
    let blob = "/root/.cache/huggingface/hub/models--a--b/blobs/0123abcd";
    assert_eq!(of(blob, Some(b"\x10\0\0\0\0\0\0\0{\"a\""), 2 << 20), Some("safetensors"));
    assert_eq!(of(blob, Some(b"GGUF\x03\0\0\0\0\0"), 2 << 20), Some("gguf"));
    assert_eq!(of(blob, Some(b"{\"vocabulary\""), 2 << 20), None);
    assert_eq!(of("/usr/bin/safetensors", None, 2 << 20), None);
    assert_eq!(of("/m/.onnx", None, 1), None);
    assert_eq!(of("", None, 0), None);
}

#[test]
fn base_images_show_in_the_configuration() {
    let cuda = [("CUDA_VERSION", "13.0.2"), ("NV_CUDA_CUDART_VERSION", "13.0.96-1"), ("NVARCH", "x86_64")];
    let runtime = [("NV_CUDA_LIB_VERSION", "13.0.2-1")];
    let devel =
        [("LIBRARY_PATH", "/usr/local/cuda/lib64/stubs"), ("NV_CUDA_CUDART_DEV_VERSION", "13.0.96-1")];
    let cudnn = [("NV_CUDNN_VERSION", "9.14.0.64-1")];
    let first = |parts: &[&[(&str, &str)]]| {
        let environment = parts.concat();
        let facts = BaseFacts { environment: &environment, ..BaseFacts::default() };
        Catalog::builtin().base_images_of(facts).next().map(|rule| (rule.id.clone(), rule.layers))
    };
    assert_eq!(first(&[&cuda]), Some(("nvidia-cuda-base".into(), Some(5))));
    assert_eq!(first(&[&cuda, &runtime]), Some(("nvidia-cuda-runtime".into(), Some(9))));
    assert_eq!(first(&[&cuda, &runtime, &cudnn]), Some(("nvidia-cuda-cudnn-runtime".into(), Some(10))));
    assert_eq!(first(&[&cuda, &runtime, &devel]), Some(("nvidia-cuda-devel".into(), Some(11))));
    assert_eq!(first(&[&cuda, &runtime, &devel, &cudnn]), Some(("nvidia-cuda-cudnn-devel".into(), Some(12))));
    let moved = [("NV_CUDA_CUDART_DEV_VERSION", "13.0.96-1"), ("LIBRARY_PATH", "/opt/lib")];
    assert_eq!(first(&[&cuda, &runtime, &moved]).unwrap().0, "nvidia-cuda-devel-by-version");
    let python = [("PYTHON_VERSION", "3.12.3"), ("GPG_KEY", "7169605F62C751356D054A26A821E680E5FA6305")];
    let facts = BaseFacts { environment: &python, ..BaseFacts::default() };
    let rule = catalog().base_images_of(facts).next().unwrap();
    assert_eq!(rule.reference(&python).unwrap(), "python:3.12.3");
    assert_eq!(rule.reference(&[]), None);
    assert_eq!(first(&[]), None);
    let ubuntu = catalog().distribution("ubuntu").unwrap();
    assert_eq!(ubuntu.tag("24.04").unwrap(), "ubuntu24.04");
    assert_eq!(catalog().distribution("rhel").unwrap().tag("9.4").unwrap(), "ubi9");
    assert_eq!(ubuntu.image(""), None);
}

#[test]
fn user_files_replace_and_add() {
    let text = "[[component]]\nname = \"nccl\"\nlibraries = [\"libnccl\", \"librccl\"]\nsource = \"ours\"\n\n\
        [[target]]\nid = \"gpu:ours\"\ngpu = \"Ours\"\ncompute_capability = \"9.0\"\nclass = \"data-center\"\n\
        source = \"ours\"\n";
    let merged = Catalog::with_user_files(&[("ours.toml", text)]).unwrap();
    assert_eq!(merged.component_of(b"librccl.so.1").unwrap().name, "nccl");
    assert_eq!(merged.components().len(), catalog().components().len());
    assert_eq!(merged.targets().len(), catalog().targets().len() + 1);
    assert_eq!(catalog().target("gpu:ours").map(|target| &target.id), None);
}

#[test]
fn faults_of_user_files_are_named() {
    let fault = |text: &str| Catalog::with_user_files(&[("ours.toml", text)]).unwrap_err().to_string();
    let unknown = "[[component]]\nname = \"x\"\nlibrarys = []\nsource = \"ours\"\n";
    assert!(fault(unknown).starts_with("invalid ours.toml, line 3, column 1: unknown field"));
    assert!(fault("[[componant]]\nname = \"x\"\n").contains("line 1, column 3: unknown field `componant`"));
    assert!(fault("[[maker]]\npattern = \"x\"\n").contains("missing field `source`"));
    assert!(fault("[[maker]]\npattern = \"x\"\nsource = \" \"\n").contains("empty source"));
    assert!(fault("[[maker]]\npattern = \"(\"\nsource = \"a\"\n").contains("cannot use maker"));
    assert!(fault("[[maker]]\npattern = \"(x{1000}){1000}\"\nsource = \"a\"\n").contains("size limit"));
    let twice = "[[maker]]\npattern = \"x\"\nsource = \"a\"\n".repeat(2);
    assert!(fault(&twice).contains("duplicate"));
    assert!(fault(&"#".repeat(2 << 20)).contains("the limit is 1048576"));
    assert!(
        fault(&format!("[[maker]]\npattern = \"{}\"\nsource = \"a\"", "x".repeat(2000))).contains("1024")
    );
    let odd = "[[weight_format]]\nname = \"x\"\nmagic = [{ offset = 0, bytes = \"123\" }]\nsource = \"a\"\n";
    assert!(fault(odd).contains("hexadecimal"));
    // A truncated file may only cause an error.
    let text = "[[open]]\nopener = \"libx\"\nnames = [\"liby.so.{major}\"]\nwhy = \"é\"\nsource = \"a\"\n";
    for end in (0..text.len()).filter(|end| text.is_char_boundary(*end)) {
        drop(Catalog::with_user_files(&[("cut.toml", &text[..end])]));
    }
}

#[test]
fn external_libraries_are_found_by_stem() {
    assert_eq!(catalog().external_library(b"libibverbs.so.1").unwrap().name, "libibverbs");
}
