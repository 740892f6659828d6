//! What the final stage starts from, and what of CUDA it has.

use cutaway::findings::{Plan, Verdict};
use cutaway::rewrite::Applicability;

use super::parts::{
    BASE, DEVEL, INCLUDE, LIB, RUNTIME, TRIPLE, built, cuda, devel, lib, library, program, python, text,
    tools,
};
use super::scene::{Scene, deb, gone, has_lines, has_none, last_stage, one};
use crate::fixtures::elf::Elf;
use crate::fixtures::service::wheel;
use crate::fixtures::tarball::file;

/// A service in C++ that needs what `needed` says, on NVIDIA's devel image.
fn service(scene: Scene, needed: &[&str]) -> Scene {
    built(scene.apt("build-essential cmake git", tools()), needed).cmd(&["/usr/local/bin/serve"])
}

fn ids(proposals: &cutaway::rewrite::Proposals) -> Vec<(&str, &str)> {
    let list = proposals.list.iter();
    list.map(|one| (one.id.as_str(), one.base_image.as_deref().unwrap_or_default())).collect()
}

#[test]
fn a_program_on_a_devel_image_ends_on_the_base_flavour() {
    let scene = service(devel(), &["libcurand.so.10", "libcudart.so.12"]);
    let proposals = scene.propose();
    assert_eq!(ids(&proposals)[..2], [("minimal", BASE), ("runtime", RUNTIME)]);
    let best = &proposals.list[0];
    assert!(best.closure.resolved && best.applicability == Applicability::Review, "{best:#?}");
    assert!(best.dockerfile.starts_with(
        "ARG CUDA_VERSION=12.4.1\nFROM nvidia/cuda:${CUDA_VERSION}-devel-ubuntu22.04 AS build\nRUN apt-get"
    ));
    let stage = "\
FROM nvidia/cuda:${CUDA_VERSION}-base-ubuntu22.04
COPY --from=build /src /src
COPY --from=build /usr/local/bin /usr/local/bin
COPY --from=build /usr/local/cuda-12.4/targets/x86_64-linux/lib/libcurand.so.10 /usr/local/cuda-12.4/targets/x86_64-linux/lib/
RUN ldconfig
WORKDIR /src
CMD [\"/usr/local/bin/serve\"]
";
    assert_eq!(last_stage(&best.dockerfile), stage);
    let gone = gone(best);
    for path in
        ["/usr/bin/cmake", "/usr/bin/git", "/usr/lib/git-core/git-merge", "/usr/bin/x86_64-linux-gnu-gcc-11"]
    {
        assert!(gone.contains(&path), "{path}: {gone:?}");
    }
    for name in ["libcurand_static.a", "libcublas.so.12.4.5.8", "libnvrtc.so.12.4.127"] {
        assert!(gone.contains(&format!("/{}", lib(name)).as_str()), "{name}: {gone:?}");
    }
    assert!(!gone.contains(&format!("/{}", lib("libcurand.so.10.3.5.147")).as_str()), "{gone:?}");
}

#[test]
fn the_runtime_flavour_brings_all_libraries_and_none_is_copied() {
    let scene = service(devel(), &["libcurand.so.10"]);
    let proposals = scene.propose();
    let runtime = one(&proposals, "runtime");
    has_lines(runtime, &["FROM nvidia/cuda:${CUDA_VERSION}-runtime-ubuntu22.04"]);
    has_none(runtime, &["libcurand", "ldconfig"]);
    let sizes = [&proposals.list[0], runtime].map(|one| one.predicted.merged_bytes);
    assert!(sizes[0] < sizes[1], "{sizes:?}");
    // What the entrypoint of the runtime flavour does is as it was.
    assert!(!runtime.kept.iter().any(|line| line.contains("entrypoint")), "{:?}", runtime.kept);
    let best = &proposals.list[0];
    assert!(
        best.kept.iter().any(|line| line.contains("entrypoint of NVIDIA's image is gone")),
        "{:?}",
        best.kept
    );
}

#[test]
fn a_program_that_needs_nothing_of_cuda_ends_on_the_distribution() {
    let site = "usr/local/lib/python3.10/dist-packages";
    let library = Elf { rpath: Some("$ORIGIN".into()), ..Elf::library("libapp.so") };
    let library = library.needing(&["libcudart.so.12"]).build();
    let content = [
        ("app/__init__.py", b"import ctypes\n".to_vec()),
        ("app/libapp.so", library),
        ("app/libcudart.so.12", Elf::library("libcudart.so.12").needing(&["libc.so.6"]).build()),
    ];
    let scene = devel()
        .apt("python3 cmake", [python(), tools()].concat())
        .run("pip install app", wheel(site, "app", "1.0", &content))
        .cmd(&["python3", "-m", "app"]);
    let proposals = scene.propose();
    let best = &proposals.list[0];
    assert_eq!((best.id.as_str(), best.base_image.as_deref()), ("minimal", Some("ubuntu:22.04")));
    assert!(best.closure.resolved, "{:#?}", best.closure);
    has_lines(
        best,
        &[
            "FROM ubuntu:22.04",
            "ENV NVIDIA_VISIBLE_DEVICES=all \\",
            "NVIDIA_DRIVER_CAPABILITIES=compute,utility \\",
            "LD_LIBRARY_PATH=/usr/local/nvidia/lib:/usr/local/nvidia/lib64",
            "CMD [\"python3\",\"-m\",\"app\"]",
        ],
    );
    has_none(best, &["/usr/local/cuda-", "cmake"]);
    assert!(
        best.kept.iter().any(|line| line.contains("entrypoint of NVIDIA's image is gone")),
        "{:?}",
        best.kept
    );
    assert!(
        best.kept.iter().chain(&best.closure.unproven).any(|line| line.contains("NVIDIA_REQUIRE_CUDA")),
        "{:?}",
        best.kept
    );
}

#[test]
fn settings_that_the_user_made_are_kept_as_they_are() {
    let scene = devel()
        .env("NVIDIA_DRIVER_CAPABILITIES", "all")
        .copy("app /app", vec![program("app", &[])])
        .env("LD_LIBRARY_PATH", "/opt/own")
        .cmd(&["/app"]);
    let best = &scene.propose().list[0];
    assert_eq!(best.base_image.as_deref(), Some("ubuntu:22.04"));
    let stage = last_stage(&best.dockerfile);
    assert_eq!(stage.matches("NVIDIA_VISIBLE_DEVICES=all").count(), 1, "{stage}");
    // What the user says comes last, whatever is said before.
    for own in ["ENV NVIDIA_DRIVER_CAPABILITIES=all\n", "ENV LD_LIBRARY_PATH=/opt/own\n"] {
        assert_eq!(stage.matches(own).count(), 1, "{stage}");
        let name = own[4..].split('=').next().unwrap();
        assert_eq!(stage.rfind(name), stage.find(own).map(|at| at + 4), "{stage}");
    }
}

#[test]
fn cudnn_is_copied_in_parts_or_comes_with_the_runtime_flavour() {
    for (version, cudnn, tag, part) in [
        ("12.4.1", "9.1.0.70-1", "12.4.1-cudnn-runtime-ubuntu22.04", "libcudnn_graph.so.9"),
        ("12.1.1", "8.9.0.131-1+cuda12.1", "12.1.1-cudnn8-runtime-ubuntu22.04", "libcudnn_graph.so.8"),
    ] {
        let soname = part.replace("_graph", "");
        let scene = service(cuda(version, Some(cudnn)), &[&soname, "libcurand.so.10"]);
        let proposals = scene.propose();
        let best = &proposals.list[0];
        let base = format!("nvidia/cuda:{version}-base-ubuntu22.04");
        assert_eq!((best.id.as_str(), best.base_image.as_deref()), ("minimal", Some(base.as_str())));
        assert!(best.closure.resolved, "{:#?}", best.closure);
        let stage = last_stage(&best.dockerfile);
        for name in [part, &soname] {
            assert!(stage.contains(&format!("/{TRIPLE}/{name} ")), "no {name}: {stage}");
        }
        has_none(best, &["cudnn.h", "_static.a"]);
        let runtime = one(&proposals, "runtime");
        assert_eq!(runtime.base_image.as_deref(), Some(format!("nvidia/cuda:{tag}").as_str()));
        has_none(runtime, &["libcudnn", "libcurand"]);
        assert!(runtime.closure.resolved, "{:#?}", runtime.closure);
        assert!(gone(runtime).contains(&"/usr/include/cudnn.h"), "{:?}", gone(runtime));
    }
}

#[test]
fn a_version_without_images_of_cudnn_has_its_parts_copied() {
    // There are no cuDNN images of 12.2.0: somebody built one by the same instructions.
    let scene = service(cuda("12.2.0", Some("9.1.0.70-1")), &["libcudnn.so.9"]);
    let proposals = scene.propose();
    let best = &proposals.list[0];
    assert_eq!(best.base_image.as_deref(), Some("nvidia/cuda:12.2.0-base-ubuntu22.04"));
    for proposal in &proposals.list {
        assert!(
            !proposal.base_image.as_deref().unwrap().contains("cudnn-runtime"),
            "{:?}",
            proposal.base_image
        );
        assert!(proposal.closure.resolved, "{:#?}", proposal.closure);
    }
}

/// A program that compiles for the GPU while it runs, with headers of the toolkit.
fn cupy() -> Scene {
    let site = "usr/local/lib/python3.10/dist-packages";
    let body = Elf::library("core.so").needing(&["libnvrtc.so.12", "libcudart.so.12"]).build();
    let content = [("cupy/__init__.py", b"pass\n".to_vec()), ("cupy/core.so", body)];
    devel()
        .apt("python3 cmake git", [python(), tools()].concat())
        .run("pip install cupy-cuda12x", wheel(site, "cupy-cuda12x", "13.0.0", &content))
        .copy("serve.py /srv/", vec![file("srv/serve.py", "import cupy\n")])
        .cmd(&["python3", "/srv/serve.py"])
}

#[test]
fn headers_that_are_compiled_at_run_time_are_kept() {
    let proposals = cupy().propose();
    let best = &proposals.list[0];
    assert!(best.closure.resolved, "{:#?}", best.closure);
    let gone = gone(best);
    for path in [format!("/{INCLUDE}/cuda_fp16.h"), format!("/{LIB}/libnvrtc.so.12.4.127")] {
        assert!(!gone.contains(&path.as_str()), "{path}: {gone:?}");
    }
    assert!(gone.contains(&format!("/{LIB}/libcurand_static.a").as_str()), "{gone:?}");
    assert!(last_stage(&best.dockerfile).contains("/include"), "{}", best.dockerfile);
    // libnvrtc opens it by its name.
    let builtins = format!("/{LIB}/libnvrtc-builtins.so.12.4.127");
    assert!(!gone.contains(&builtins.as_str()), "{gone:?}");
}

#[test]
fn a_compiler_that_triton_starts_is_installed_again() {
    let site = "usr/local/lib/python3.10/dist-packages";
    let content = [
        ("triton/__init__.py", b"pass\n".to_vec()),
        ("triton/_C/libtriton.so", Elf::library("libtriton.so").needing(&["libc.so.6"]).build()),
    ];
    let headers = deb("python3-dev", "python3", vec![text("usr/include/python3.10/Python.h", 2_000)]);
    let scene = devel()
        .apt("python3 python3-dev gcc cmake", [python(), vec![headers], tools()].concat())
        .run("pip install triton", wheel(site, "triton", "3.0.0", &content))
        .copy("serve.py /srv/", vec![file("srv/serve.py", "import triton\n")])
        .cmd(&["python3", "/srv/serve.py"]);
    let best = &scene.propose().list[0];
    assert!(best.closure.resolved, "{:#?}", best.closure);
    let stage = last_stage(&best.dockerfile);
    let words: Vec<&str> = stage.split_whitespace().collect();
    assert!(words.contains(&"gcc") && words.contains(&"python3-dev"), "{stage}");
    assert!(!words.contains(&"cmake"), "{stage}");
    let gone = gone(best);
    for path in ["/usr/bin/x86_64-linux-gnu-gcc-11", "/usr/include/python3.10/Python.h"] {
        assert!(!gone.contains(&path), "{path}: {gone:?}");
    }
}

#[test]
fn the_plan_says_what_goes() {
    let scene = service(devel(), &["libcurand.so.10"]);
    let known = scene.analysis();
    let findings = known.findings.as_ref().unwrap();
    let path = format!("/{}", lib("libcurand_static.a"));
    let archives = findings.list.iter().find(|one| one.category.as_str() == "static-libraries").unwrap();
    assert_eq!(archives.verdict, Verdict::Safe);
    let mut plan = Plan::of_safe(findings);
    let text = scene.dockerfile();
    let with = scene.propose_by(&known, &plan, &text);
    assert!(gone(&with.list[0]).contains(&path.as_str()));
    plan.set(&archives.id, false);
    let without = scene.propose_by(&known, &plan, &text);
    for proposal in &without.list {
        assert!(!gone(proposal).contains(&path.as_str()), "{}\n{:?}", proposal.dockerfile, gone(proposal));
    }
}

#[test]
fn a_question_that_is_answered_takes_files_away() {
    let scene = service(
        devel().copy("notes.sh /app/", vec![file("app/notes.sh", "#!/bin/sh\nnvcc --version\n").mode(0o755)]),
        &["libcurand.so.10"],
    );
    let known = scene.analysis();
    let findings = known.findings.as_ref().unwrap();
    let is_compiler = |one: &&cutaway::findings::Finding| {
        one.category.as_str() == "compilers" && one.verdict == Verdict::Unsure
    };
    let Some(question) = findings.list.iter().find(is_compiler) else {
        panic!(
            "no question: {:#?}",
            findings.list.iter().map(|one| (&one.title, one.verdict)).collect::<Vec<_>>()
        );
    };
    let mut plan = Plan::of_safe(findings);
    let text = scene.dockerfile();
    let nvcc = "/usr/local/cuda-12.4/bin/nvcc";
    let kept = scene.propose_by(&known, &plan, &text);
    assert!(!gone(&kept.list[0]).contains(&nvcc), "{}", kept.list[0].dockerfile);
    plan.set(&question.id, true);
    let taken = scene.propose_by(&known, &plan, &text);
    assert!(gone(&taken.list[0]).contains(&nvcc), "{}", taken.list[0].dockerfile);
}

#[test]
fn a_library_of_the_users_in_the_toolkit_is_copied() {
    let own = library(LIB, "libown.so.1", ".0", &["libcurand.so.10"]);
    let scene = service(devel(), &["libown.so.1"]).run("make -C /own install", own);
    let scene = scene.cmd(&["/usr/local/bin/serve"]);
    let best = &scene.propose().list[0];
    assert!(best.closure.resolved, "{:#?}", best.closure);
    assert_eq!(best.base_image.as_deref(), Some(BASE));
    let gone = gone(best);
    assert!(!gone.iter().any(|path| path.contains("libown")), "{gone:?}");
    has_lines(best, &[&format!("RUN ln -sfn libown.so.1.0 /{LIB}/libown.so.1 \\"), "&& ldconfig"]);
}

#[test]
fn the_registry_of_the_user_is_kept() {
    for prefix in
        ["registry.example/nvidia/cuda", "nvcr.io/nvidia/cuda", "registry.example:5000/mirror/nvidia/cuda"]
    {
        let scene =
            service(devel(), &["libcurand.so.10"]).from(&format!("{prefix}:12.4.1-devel-ubuntu22.04"));
        let best = &scene.propose().list[0];
        assert_eq!(best.base_image.as_deref(), Some(format!("{prefix}:12.4.1-base-ubuntu22.04").as_str()));
        has_lines(best, &[&format!("FROM {prefix}:${{CUDA_VERSION}}-base-ubuntu22.04")]);
    }
}

#[test]
fn a_base_by_digest_is_named_by_its_tag_and_said() {
    let digest = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
    for from in [format!("{DEVEL}@{digest}"), format!("nvidia/cuda@{digest}")] {
        let scene = service(devel(), &["libcurand.so.10"]).from(&from);
        let best = &scene.propose().list[0];
        assert_eq!(best.base_image.as_deref(), Some(BASE));
        assert!(best.dockerfile.starts_with(&format!("FROM {from} AS build\n")), "{}", best.dockerfile);
        assert!(best.closure.unproven.iter().any(|line| line.contains("digest")), "{:#?}", best.closure);
    }
}
