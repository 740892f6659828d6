//! Tests of libraries opened at run time.

use super::{Elf, Image, OpenRule, Use, rule};

#[test]
fn what_is_opened_counts_with_what_it_needs() {
    let mut image = Image::new();
    image.elf("/bin/a", Elf::program(&["libcudart.so.13"]).rpath("/x"));
    image.library("/x/libcudart.so.13", &[]);
    image.library("/x/libplug.so", &["libdep.so", "libc.so.6"]).library("/x/libdep.so", &[]);
    image.library("/x/libfar.so", &[]).library("/x/libother.so", &[]);
    image.rules.opens = vec![
        ("libcudart.so.*", rule(&["libcuda.so.1", "libplug.so", "libgone.so"], true)),
        ("libdep.so", rule(&["libfar.so"], false)),
        ("libother.so", rule(&["libfar.so"], false)),
    ];
    let links = image.resolve();
    assert_eq!(
        links.opens("/x/libcudart.so.13"),
        ["libcuda.so.1: host", "libplug.so: /x/libplug.so by rpath of a /x", "libgone.so: missing"]
    );
    for path in ["/x/libplug.so", "/x/libdep.so", "/x/libfar.so"] {
        assert_eq!(links.usage(path), Use::Dlopen, "{path}");
    }
    // An opened object has no loading object: its NEEDED entries are searched by its own and the program's
    // DT_RPATH.
    assert_eq!(links.need("/x/libplug.so", "libdep.so"), "/x/libdep.so by rpath of a /x");
    assert_eq!(links.usage("/x/libother.so"), Use::Unreferenced);
    assert!(links.opens("/x/libother.so").is_empty());
    assert_eq!(links.object("/x/libfar.so").opened_by, [links.id("/x/libdep.so")]);
    let chain = ["/x/libfar.so", "/x/libdep.so", "/x/libplug.so", "/x/libcudart.so.13", "/bin/a"];
    assert_eq!(links.chain("/x/libfar.so"), chain);
    let opened = links.object("/x/libplug.so").reached.clone().unwrap();
    assert!(opened.opened && !links.object("/x/libdep.so").reached.clone().unwrap().opened);
}

#[test]
fn what_is_needed_elsewhere_counts_as_needed() {
    let mut image = Image::new();
    image.elf("/bin/a", Elf::program(&["libopener.so"]).rpath("/x"));
    image.elf("/bin/b", Elf::program(&["libx.so"]).rpath("/x"));
    image.library("/x/libopener.so", &[]).library("/x/libx.so", &[]);
    image.rules.opens =
        vec![("libopener.so", rule(&["libx.so"], false)), ("libx.so", rule(&["libx.so"], false))];
    let links = image.resolve();
    assert_eq!(links.usage("/x/libx.so"), Use::Needed);
    assert_eq!(links.chain("/x/libx.so"), ["/x/libx.so", "/bin/b"]);
    assert_eq!(links.opens("/x/libx.so"), ["libx.so: /x/libx.so by loaded"]);
}

#[test]
fn patterns_name_files_of_the_searched_folders() {
    let mut image = Image::new();
    image.elf("/bin/a", Elf::program(&["libcudnn.so.9"]).runpath("/x"));
    image.library("/x/libcudnn.so.9", &[]);
    for name in ["ops", "cnn", "adv"] {
        image.library(&format!("/x/libcudnn_{name}.so.9"), &[]);
    }
    let same_folder = OpenRule { same_folder: true, ..rule(&["libcudnn_*.so.9", "libnone_*.so"], true) };
    image.rules.opens = vec![("libcudnn.so.9", same_folder)];
    let links = image.resolve();
    assert_eq!(
        links.opens("/x/libcudnn.so.9"),
        [
            "libcudnn_adv.so.9: /x/libcudnn_adv.so.9 by table a test",
            "libcudnn_cnn.so.9: /x/libcudnn_cnn.so.9 by table a test",
            "libcudnn_ops.so.9: /x/libcudnn_ops.so.9 by table a test",
            "libnone_*.so: missing",
        ]
    );
    assert_eq!(links.usage("/x/libcudnn_ops.so.9"), Use::Dlopen);
}

#[test]
fn packages_load_libraries_of_other_packages() {
    let mut image = Image::new();
    let site = "/usr/lib/python3.12/site-packages";
    image.elf("/usr/bin/python3.12", Elf::program(&["libc.so.6"]));
    let module = format!("{site}/faiss/_swigfaiss.so");
    image.elf(&module, Elf::library("", &["libcublas.so.12"]));
    image.library(&format!("{site}/nvidia/cublas/lib/libcublas.so.12"), &["libcublasLt.so.12"]);
    image.library(&format!("{site}/nvidia/cublas/lib/libcublasLt.so.12"), &[]);
    image.library(&format!("{site}/nvidia/nccl/lib/libnccl.so.2"), &[]);
    image.library(&format!("{site}/nvidia/cufft/lib/libcufft.so.11"), &[]);
    image.rules.packages = vec![("faiss", rule(&["libcublas*.so.*", "libnccl.so.2"], false))];
    let links = image.resolve();
    assert_eq!(
        links.need(&module, "libcublas.so.12"),
        format!("{site}/nvidia/cublas/lib/libcublas.so.12 by table a test")
    );
    assert_eq!(links.usage(&format!("{site}/nvidia/cublas/lib/libcublasLt.so.12")), Use::Needed);
    assert_eq!(links.usage(&format!("{site}/nvidia/nccl/lib/libnccl.so.2")), Use::Dlopen);
    assert_eq!(links.usage(&format!("{site}/nvidia/cufft/lib/libcufft.so.11")), Use::Unreferenced);
    assert_eq!(links.opens(&module).len(), 3);
}

#[test]
fn who_hands_over_whole_paths_of_packages_finds_them_before_the_loader() {
    let mut image = Image::new();
    let site = "/usr/lib/python3.12/site-packages";
    image.elf("/usr/bin/python3.12", Elf::program(&["libc.so.6"]));
    let module = format!("{site}/torch/_C.cpython-312-x86_64-linux-gnu.so");
    image.elf(&module, Elf::library("", &["libc.so.6"]));
    image.environment.conf_folders = vec![b"/usr/local/cuda/lib64".to_vec()];
    image.library("/usr/local/cuda/lib64/libcublas.so.12", &[]);
    image.library("/usr/local/cuda/lib64/libcufft.so.11", &[]);
    image.library(&format!("{site}/nvidia/cublas/lib/libcublas.so.12"), &[]);
    let first = OpenRule { packages_first: true, ..rule(&["libcublas.so.*", "libcufft.so.11"], true) };
    image.rules.packages = vec![("torch", first)];
    let links = image.resolve();
    assert_eq!(
        links.opens(&module),
        [
            format!("libcublas.so.12: {site}/nvidia/cublas/lib/libcublas.so.12 by table a test"),
            "libcufft.so.11: /usr/local/cuda/lib64/libcufft.so.11 by cache /usr/local/cuda/lib64".to_owned(),
        ]
    );
    assert_eq!(links.usage("/usr/local/cuda/lib64/libcublas.so.12"), Use::Unreferenced);
}

#[test]
fn what_openers_do_without_is_not_firmly_used() {
    let mut image = Image::new();
    image.elf("/bin/a", Elf::program(&["liba.so"]).rpath("/x"));
    for (name, needed) in
        [("a", "libb.so"), ("b", "liba.so"), ("must", "libofmust.so"), ("may", "libofmay.so")]
    {
        image.library(&format!("/x/lib{name}.so"), &[needed]);
    }
    image.library("/x/libofmust.so", &[]).library("/x/libofmay.so", &["libb.so", "libgone.so"]);
    image.rules.opens =
        vec![("liba.so", rule(&["libmay.so"], true)), ("libb.so", rule(&["libmust.so"], false))];
    let links = image.resolve();
    let firm = links.links.firmly_used();
    let is_firm = |path: &str| firm[links.id(path).0 as usize];
    for path in ["/bin/a", "/x/liba.so", "/x/libb.so", "/x/libmust.so", "/x/libofmust.so"] {
        assert!(is_firm(path), "{path}");
    }
    for path in ["/x/libmay.so", "/x/libofmay.so"] {
        assert!(!is_firm(path) && links.usage(path) == Use::Dlopen, "{path}");
    }
}

#[test]
fn what_a_package_finds_for_its_modules_keeps_the_version_that_they_need() {
    let mut image = Image::new();
    let site = "/usr/lib/python3.12/site-packages";
    image.elf("/usr/bin/python3.12", Elf::program(&["libc.so.6"]));
    let module = format!("{site}/cupy/cudnn.cpython-312-x86_64-linux-gnu.so");
    image.elf(&module, Elf::library("", &["libcudnn.so.8"]));
    let (eight, nine) =
        (format!("{site}/nvidia/cudnn/lib/libcudnn.so.8"), format!("{site}/nvidia/cudnn/lib/libcudnn.so.9"));
    image.library(&nine, &[]);
    image.rules.packages = vec![("cupy", OpenRule { needed_only: true, ..rule(&["libcudnn.so.*"], false) })];
    let links = image.resolve();
    assert_eq!(links.need(&module, "libcudnn.so.8"), "missing");
    assert_eq!(links.usage(&nine), Use::Unreferenced);
    assert!(links.opens(&module).is_empty());
    image.library(&eight, &[]);
    let links = image.resolve();
    assert_eq!(links.need(&module, "libcudnn.so.8"), format!("{eight} by table a test"));
    assert_eq!((links.usage(&eight), links.usage(&nine)), (Use::Needed, Use::Unreferenced));
}

#[test]
fn what_other_packages_may_load_before_displaces_what_the_loader_finds() {
    let site = "/usr/lib/python3.12/site-packages";
    let toolkit = |name: &str| format!("/usr/local/cuda/lib64/{name}");
    let wheel = |name: &str| format!("{site}/nvidia/cublas/lib/{name}");
    let image = |with_program: bool| {
        let mut image = Image::new();
        image.elf("/usr/bin/python3.12", Elf::program(&["libc.so.6"]));
        image.elf(
            &format!("{site}/ort/_state.cpython-312-x86_64-linux-gnu.so"),
            Elf::library("", &["libcublas.so.12", "libcufft.so.11"]),
        );
        image.environment.conf_folders = vec![b"/usr/local/cuda/lib64".to_vec()];
        for name in ["libcublas.so.12", "libcufft.so.11"] {
            image.library(&toolkit(name), &["libown.so.1"]);
        }
        image.library(&toolkit("libown.so.1"), &[]);
        image.library(&toolkit("liblt.so.12"), &[]);
        image.elf(&toolkit("libcublas.so.12"), Elf::library("libcublas.so.12", &["liblt.so.12"]));
        image.elf(
            &wheel("libcublas.so.12"),
            Elf::library("libcublas.so.12", &["liblt.so.12"]).runpath("$ORIGIN"),
        );
        image.library(&wheel("liblt.so.12"), &[]);
        let call = Some("ort.preload()".to_owned());
        let preload = rule(&["libcublas.so.*"], true);
        image.rules.packages = vec![("ort", OpenRule { call, packages_first: true, ..preload })];
        if with_program {
            image.elf("/bin/tool", Elf::program(&["libcublas.so.12"]));
        }
        image.resolve()
    };
    let links = image(false);
    let displaced: Vec<_> = ["libcublas.so.12", "liblt.so.12"].map(|name| links.id(&toolkit(name))).into();
    assert_eq!(links.links.displaced, displaced);
    assert_eq!(links.links.preloaders[&links.id(&wheel("libcublas.so.12"))], ["ort.preload()"]);
    for name in ["libcublas.so.12", "liblt.so.12"] {
        assert_ne!(links.usage(&toolkit(name)), Use::Unreferenced, "{name}");
        assert_ne!(links.usage(&wheel(name)), Use::Unreferenced, "{name}");
    }
    // A program loads the toolkit's copy, independent of Python packages.
    assert_eq!(image(true).links.displaced, []);
}
