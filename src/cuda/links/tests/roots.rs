//! Tests of roots.

use super::super::RootKind;
use super::{Elf, Image, Use};

fn words(words: &[&str]) -> Vec<Vec<u8>> {
    words.iter().map(|word| word.as_bytes().to_vec()).collect()
}

/// Kinds of roots by path.
fn roots(image: &Image) -> Vec<(String, RootKind, String)> {
    let links = image.resolve();
    let all = links.names.iter().filter_map(|path| {
        let root = links.object(path).root.clone()?;
        Some((path.clone(), root.kind, root.why))
    });
    all.collect()
}

fn entrypoints(image: &Image) -> Vec<(String, String)> {
    let all = roots(image).into_iter().filter(|(_, kind, _)| *kind == RootKind::Entrypoint);
    all.map(|(path, _, why)| (path, why)).collect()
}

fn programs() -> Image {
    let mut image = Image::new();
    for program in
        ["/usr/bin/python3.12", "/bin/sh", "/usr/bin/env", "/usr/bin/tini", "/app/run", "/usr/bin/ls"]
    {
        image.elf(program, Elf::program(&["libc.so.6"]));
    }
    image.link("/usr/bin/python3", "python3.12").link("/venv/bin/python", "/usr/bin/python3");
    image.environment.path = words(&["/venv/bin", "/usr/bin", "/bin"]);
    image
}

/// Entrypoint, command, and the resulting roots.
type Case = (&'static [&'static str], &'static [&'static str], &'static [(&'static str, &'static str)]);

#[test]
fn entrypoints_are_found_through_links_scripts_and_shells() {
    let cases: [Case; 9] = [
        (&["python", "app.py"], &[], &[("/usr/bin/python3.12", "the image's entrypoint")]),
        (&[], &["/app/run"], &[("/app/run", "the image's command")]),
        (
            &["/entry.sh"],
            &["python", "-m", "app"],
            &[
                ("/bin/sh", "interpreter of /entry.sh, the image's entrypoint"),
                ("/usr/bin/python3.12", "the image's command"),
            ],
        ),
        (
            &["serve"],
            &[],
            &[
                ("/usr/bin/env", "interpreter of /venv/bin/serve, the image's entrypoint"),
                ("/usr/bin/python3.12", "run by interpreter of /venv/bin/serve, the image's entrypoint"),
            ],
        ),
        (
            &["tini", "-g", "--", "./run"],
            &[],
            &[("/app/run", "run by the image's entrypoint"), ("/usr/bin/tini", "the image's entrypoint")],
        ),
        (
            &["/bin/sh", "-c", "A=1 exec ./run --x && nothing | ls"],
            &[],
            &[
                ("/app/run", "run by the image's entrypoint"),
                ("/bin/sh", "the image's entrypoint"),
                ("/usr/bin/ls", "run by the image's entrypoint"),
            ],
        ),
        (
            &["/bin/sh", "-c"],
            &["exec env X=1 python x.py"],
            &[
                ("/bin/sh", "the image's entrypoint"),
                ("/usr/bin/env", "run by the image's entrypoint"),
                ("/usr/bin/python3.12", "run by the image's entrypoint"),
            ],
        ),
        (&["/loop.sh"], &[], &[]),
        (&["/nothing"], &[], &[]),
    ];
    for (entrypoint, cmd, expected) in cases {
        let mut image = programs();
        image.environment.working_dir = b"/app".to_vec();
        image.scripts.insert("/entry.sh".to_owned(), "#! /bin/sh -e\n".to_owned());
        image.scripts.insert("/venv/bin/serve".to_owned(), "#!/usr/bin/env -S python3 -u".to_owned());
        image.scripts.insert("/loop.sh".to_owned(), "#!/loop.sh".to_owned());
        image.environment.entrypoint = words(entrypoint);
        image.environment.cmd = words(cmd);
        let found = entrypoints(&image);
        let found: Vec<(&str, &str)> =
            found.iter().map(|(path, why)| (path.as_str(), why.as_str())).collect();
        assert_eq!(found, expected, "{entrypoint:?} {cmd:?}");
        let missing = entrypoint == ["/nothing"];
        assert_eq!(image.resolve().problems.len(), usize::from(missing), "{entrypoint:?}");
    }
}

#[test]
fn programs_are_roots_and_libraries_that_run_are_none() {
    let mut image = programs();
    image.elf("/lib64/libc.so.6", Elf { soname: Some("libc.so.6".to_owned()), ..Elf::program(&[]) });
    image.elf("/usr/local/cuda/bin/nvcc", Elf::program(&["libnvvm.so"]));
    image.library("/usr/local/cuda/lib64/libnvvm.so", &[]).library_path("/usr/local/cuda/lib64");
    let found = roots(&image);
    assert!(found.iter().all(|(_, kind, _)| *kind == RootKind::Executable));
    assert_eq!(found.len(), 6);
    let links = image.resolve();
    assert_eq!(links.usage("/lib64/libc.so.6"), Use::Needed);
    assert_eq!(links.usage("/lib64/ld-linux-x86-64.so.2"), Use::Needed);
    // A library that only the toolkit's programs need is resolved but unreferenced.
    assert_eq!(links.usage("/usr/local/cuda/lib64/libnvvm.so"), Use::Unreferenced);
    assert_eq!(links.object("/usr/local/cuda/lib64/libnvvm.so").needed_by.len(), 1);
}

#[test]
fn extension_modules_are_loaded_into_their_python() {
    let mut image = programs();
    let site = "/usr/lib/python3.12/site-packages";
    image.elf("/usr/bin/python3.12", Elf::program(&["libpython.so", "libc.so.6"]).rpath("/usr/lib/py"));
    image.library("/usr/lib/py/libpython.so", &[]).library("/usr/lib/py/libextra.so", &[]);
    image.library("/usr/lib/py/libonly.so", &[]);
    image.library("/env/libpython.so", &[]);
    let module = format!("{site}/pkg/_C.cpython-312-x86_64-linux-gnu.so");
    image
        .elf(&module, Elf::library("", &["libpython.so", "libonly.so", "libown.so"]).runpath("$ORIGIN:/env"));
    image.library(&format!("{site}/pkg/libown.so"), &[]);
    image.elf(&format!("{site}/pkg/plugin.so"), Elf::library("", &["libextra.so"]));
    let links = image.resolve();
    // Loaded before by the interpreter; DT_RPATH of the program applies to modules without DT_RUNPATH.
    assert_eq!(links.need(&module, "libpython.so"), "/usr/lib/py/libpython.so by loaded");
    assert_eq!(links.need(&module, "libonly.so"), "missing");
    let found = "/usr/lib/py/libextra.so by rpath of python3.12 /usr/lib/py";
    assert_eq!(links.need(&format!("{site}/pkg/plugin.so"), "libextra.so"), found);
    assert_eq!(links.object(&module).root.as_ref().unwrap().kind, RootKind::Extension);
    assert_eq!(links.object(&format!("{site}/pkg/libown.so")).root, None);
    assert_eq!(links.chain(&format!("{site}/pkg/libown.so")), [&format!("{site}/pkg/libown.so"), &module]);
}

#[test]
fn modules_find_what_other_packages_loaded_before() {
    let mut image = programs();
    let site = "/venv/lib/python3.12/site-packages";
    let torch = format!("{site}/torch/_C.cpython-312-x86_64-linux-gnu.so");
    image.elf(&torch, Elf::library("", &["libtorch.so"]).rpath("$ORIGIN/lib"));
    image.library(&format!("{site}/torch/lib/libtorch.so"), &["libc10.so"]);
    image.library(&format!("{site}/torch/lib/libc10.so"), &[]);
    let vision = format!("{site}/torchvision/_C.so");
    image.elf(&vision, Elf::library("", &["libc10.so", "libnothing.so"]));
    let other = "/other/lib/python3.12/site-packages/x/_C.abi3.so";
    image.elf(other, Elf::library("", &["libc10.so"]));
    let links = image.resolve();
    assert_eq!(links.need(&vision, "libc10.so"), format!("{site}/torch/lib/libc10.so by loaded"));
    assert_eq!(links.need(&vision, "libnothing.so"), "missing");
    assert_eq!(links.need(other, "libc10.so"), "missing");
    let chain = [&format!("{site}/torch/lib/libc10.so"), &format!("{site}/torch/lib/libtorch.so"), &torch];
    assert_eq!(links.chain(&format!("{site}/torch/lib/libc10.so")), chain);
}

#[test]
fn preloaded_libraries_come_before_all_others() {
    let mut image = programs();
    image.elf("/opt/libjemalloc.so", Elf::library("libm.so", &["libdep.so"]).runpath("$ORIGIN"));
    image.library("/opt/libdep.so", &[]).library("/usr/lib64/libm.so", &[]);
    image.elf("/app/run", Elf::program(&["libm.so"]));
    image.environment.ld_preload = words(&["/opt/libjemalloc.so", "libnone.so"]);
    let links = image.resolve();
    assert_eq!(links.need("/app/run", "libm.so"), "/opt/libjemalloc.so by loaded");
    assert_eq!(links.object("/opt/libjemalloc.so").root.as_ref().unwrap().kind, RootKind::Preload);
    assert_eq!(links.usage("/opt/libdep.so"), Use::Needed);
    assert_eq!(links.usage("/usr/lib64/libm.so"), Use::Unreferenced);
    assert_eq!(links.problems, ["LD_PRELOAD names libnone.so, which does not exist"]);
}

#[test]
fn copies_for_newer_processors_follow_the_plain_copy() {
    let mut image = programs();
    image.library("/usr/lib64/libm.so", &[]).library("/usr/lib64/glibc-hwcaps/x86-64-v3/libm.so", &[]);
    image.library("/usr/lib64/libn.so", &[]).library("/usr/lib64/glibc-hwcaps/x86-64-v3/libn.so", &[]);
    image.elf("/app/run", Elf::program(&["libm.so"]));
    let links = image.resolve();
    assert_eq!(links.usage("/usr/lib64/glibc-hwcaps/x86-64-v3/libm.so"), Use::Needed);
    assert_eq!(links.usage("/usr/lib64/glibc-hwcaps/x86-64-v3/libn.so"), Use::Unreferenced);
    assert_eq!(links.problems.len(), 1);
}

#[test]
fn libraries_of_the_application_are_there_to_be_opened() {
    let mut image = programs();
    image.library("/app/plugins/ops.so", &["libdep.so"]).library("/usr/lib/libdep.so", &[]);
    image.library("/opt/other/libother.so", &[]);
    let why = "application or Python library; caller unknown";
    let expected = ("/app/plugins/ops.so".to_owned(), RootKind::Extension, why.to_owned());
    assert!(roots(&image).contains(&expected));
    let links = image.resolve();
    assert_eq!(links.usage("/usr/lib/libdep.so"), Use::Needed);
    assert_eq!(links.usage("/opt/other/libother.so"), Use::Unreferenced);
}

#[test]
fn libraries_of_a_package_without_modules_stand_for_the_package() {
    let mut image = programs();
    let site = "/venv/lib/python3.12/site-packages";
    let library = format!("{site}/paddle/base/libpaddle.so");
    image.elf(&library, Elf::library("libpaddle.so", &["libcublas.so.12"]));
    let cublas = format!("{site}/nvidia/cublas/lib/libcublas.so.12");
    let cudnn = format!("{site}/nvidia/cudnn/lib/libcudnn.so.9");
    image.library(&cublas, &[]).library(&cudnn, &[]);
    image.rules.application = vec!["libpaddle.so"];
    image.rules.packages = vec![("paddle", super::rule(&["libcublas.so.*", "libcudnn.so.*"], true))];
    let links = image.resolve();
    let root = links.object(&library).root.clone().unwrap();
    assert_eq!(root.kind, RootKind::Extension);
    assert!(root.why.contains("caller unknown"));
    assert_eq!(links.usage(&cudnn), Use::Dlopen);
    assert_eq!(links.need(&library, "libcublas.so.12"), format!("{cublas} by table a test"));
}
