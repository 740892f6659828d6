//! What the final stage starts from, and what of CUDA it has.

use std::collections::BTreeMap;

use cutaway::findings::{Answer, Plan, Verdict};
use cutaway::rewrite::Applicability;

use super::parts::{
    BASE, DEVEL, INCLUDE, LIB, built, cuda, devel, lib, library, program, python, text, tools, weighty,
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
    assert_eq!(ids(&proposals)[..1], [("stages", BASE)]);
    let best = &proposals.list[0];
    assert!(best.closure.resolved && best.applicability == Applicability::Review, "{best:#?}");
    assert!(best.dockerfile.starts_with("FROM nvidia/cuda:12.4.1-devel-ubuntu22.04 AS build\nRUN apt-get"));
    let stage = "\
FROM nvidia/cuda:12.4.1-base-ubuntu22.04
RUN apt-get update && apt-get install -y --no-install-recommends libcurand-12-4 \\
    && rm -rf /var/lib/apt/lists/*
COPY --from=build /src/build/serve /src/build/serve
COPY --from=build /usr/local/bin/serve /usr/local/bin/serve
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
fn libraries_of_the_toolkit_come_by_their_packages_and_the_banner_goes() {
    let scene = service(devel(), &["libcurand.so.10"]);
    let proposals = scene.propose();
    let best = one(&proposals, "stages");
    assert_eq!(best.base_image.as_deref(), Some(BASE));
    has_none(best, &["libcurand.so", "/usr/local/cuda"]);
    assert!(last_stage(&best.dockerfile).contains(" libcurand-12-4 "), "{}", best.dockerfile);
    let said = best.kept.iter().any(|line| line.contains("no NVIDIA entrypoint"));
    assert!(said, "{:?}", best.kept);
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
    let scene = weighty()
        .apt("python3 cmake", [python(), tools()].concat())
        .run("pip install app", wheel(site, "app", "1.0", &content))
        .cmd(&["python3", "-m", "app"]);
    let proposals = scene.propose();
    let best = one(&proposals, "distribution");
    assert_eq!(best.base_image.as_deref(), Some("ubuntu:22.04"));
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
    assert!(best.kept.iter().any(|line| line.contains("no NVIDIA entrypoint")), "{:?}", best.kept);
}

#[test]
fn settings_that_the_user_made_are_kept_as_they_are() {
    let scene = weighty()
        .env("NVIDIA_DRIVER_CAPABILITIES", "all")
        .copy("app /app", vec![program("app", &[])])
        .env("LD_LIBRARY_PATH", "/opt/own")
        .cmd(&["/app"]);
    let best = &one(&scene.propose(), "distribution").clone();
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
fn cudnn_comes_with_its_runtime_flavour_and_not_by_files() {
    for (version, cudnn, tag, part) in [
        ("12.4.1", "9.1.0.70-1", "12.4.1-cudnn-runtime-ubuntu22.04", "libcudnn_graph.so.9"),
        ("12.1.1", "8.9.0.131-1+cuda12.1", "12.1.1-cudnn8-runtime-ubuntu22.04", "libcudnn_graph.so.8"),
    ] {
        let soname = part.replace("_graph", "");
        let scene = service(cuda(version, Some(cudnn)), &[&soname, "libcurand.so.10"]);
        let proposals = scene.propose();
        let runtime = one(&proposals, "stages");
        assert_eq!(runtime.base_image.as_deref(), Some(format!("nvidia/cuda:{tag}").as_str()));
        has_none(runtime, &["libcudnn", "libcurand"]);
        assert!(runtime.closure.resolved, "{:#?}", runtime.closure);
        assert!(gone(runtime).contains(&"/usr/include/cudnn.h"), "{:?}", gone(runtime));
    }
}

#[test]
fn a_version_without_images_of_cudnn_has_its_package_installed() {
    // There are no cuDNN images of 12.2.0: somebody built one by the same instructions.
    let scene = service(cuda("12.2.0", Some("9.1.0.70-1")), &["libcudnn.so.9"]);
    let proposals = scene.propose();
    let best = &proposals.list[0];
    assert_eq!(best.base_image.as_deref(), Some("nvidia/cuda:12.2.0-base-ubuntu22.04"));
    assert!(last_stage(&best.dockerfile).contains(" libcudnn9-cuda-12 "), "{}", best.dockerfile);
    has_none(best, &["libcudnn.so", "libcudnn9-dev"]);
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
    let stage = last_stage(&best.dockerfile);
    assert!(stage.contains(" cuda-cudart-dev-12-4 ") && stage.contains(" cuda-nvrtc-12-4 "), "{stage}");
    // libnvrtc opens it by its name.
    let builtins = format!("/{LIB}/libnvrtc-builtins.so.12.4.127");
    assert!(!gone.contains(&builtins.as_str()), "{gone:?}");
}

#[test]
fn a_compiler_that_triton_starts_is_asked_for_and_stays_by_a_yes() {
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
    let asking = &scene.propose().list[0];
    let comment =
        asking.dockerfile.lines().find(|line| line.starts_with("# Left out, needs review")).unwrap();
    assert!(comment.contains("Compilers"), "{comment}");
    let known = scene.analysis();
    let findings = known.findings.as_ref().unwrap();
    let open = findings
        .list
        .iter()
        .filter(|one| one.verdict == Verdict::Unsure && !one.title.contains("uild tools"));
    let answers: BTreeMap<String, Answer> = open.map(|one| (one.id.clone(), Answer::Used)).collect();
    let plan = Plan::of(findings, |one| one.verdict == Verdict::Safe, answers.into());
    let best = &scene.propose_by(&known, &plan, &scene.dockerfile()).list[0];
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
fn a_question_that_is_answered_keeps_files() {
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
    // A script of the image names it: its package comes along until somebody says that it is not used.
    let named = scene.propose_by(&known, &plan, &text);
    assert!(!gone(&named.list[0]).contains(&nvcc), "{}", named.list[0].dockerfile);
    // Other questions are about parts of the same package.
    for one in findings.list.iter().filter(|one| one.verdict == Verdict::Unsure) {
        plan.set(&one.id, true);
    }
    let taken = scene.propose_by(&known, &plan, &text);
    assert!(gone(&taken.list[0]).contains(&nvcc), "{}", taken.list[0].dockerfile);
    let answers = BTreeMap::from([(question.id.clone(), Answer::Used)]);
    let plan = Plan::of(findings, |one| one.verdict == Verdict::Safe, answers.into());
    let kept = scene.propose_by(&known, &plan, &text);
    assert!(!gone(&kept.list[0]).contains(&nvcc), "{}", kept.list[0].dockerfile);
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
        has_lines(best, &[&format!("FROM {prefix}:12.4.1-base-ubuntu22.04")]);
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
