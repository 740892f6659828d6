//! What the files of whoever made the image name: tools of the build, headers, libraries.

use std::fs;
use std::sync::Arc;

use cutaway::analysis::{Analysis, Options, analyze};
use cutaway::cuda::Searched;
use cutaway::jobs::{CancelToken, Progress};
use cutaway::source::Reference;

use super::{executable, image, program};
use crate::fixtures::elf::Elf;
use crate::fixtures::layout::Layout;
use crate::fixtures::packing::Packing;
use crate::fixtures::service::{SITE, debs, unpack, wheel};
use crate::fixtures::sparse::Sparse;
use crate::fixtures::tarball::{Member, file, hardlink};
use crate::support::Place;

const MIB: usize = 1 << 20;

fn analysis(reference: &str, options: &Options) -> Arc<Analysis> {
    let reference = Reference::parse(reference).unwrap();
    analyze(&reference, options, &CancelToken::new(), &Progress::default(), &|_| {}).unwrap()
}

/// Path, words and libraries of each mention, and how much was searched.
fn heard(analysis: &Analysis) -> (Vec<(String, String, String)>, Searched) {
    let (inventory, merge) = (analysis.inventory.as_ref().unwrap(), analysis.merge.as_ref().unwrap());
    let path = |node| String::from_utf8(merge.rootfs.node(node).path()).unwrap();
    let mentions = inventory
        .mentions
        .iter()
        .map(|mention| (path(mention.node), mention.words.join(" "), mention.libraries.join(" ")));
    (mentions.collect(), inventory.searched.clone())
}

fn heard_in(packing: Packing, layers: &[Vec<Member>]) -> (Vec<(String, String, String)>, Searched) {
    let place = Place::new();
    let layout = place.put_layout("image", &Layout::of(&image(packing, layers), "t"));
    heard(&analysis(&format!("oci:{layout}"), &Options::default()))
}

fn mentions(list: &[(&str, &str, &str)]) -> Vec<(String, String, String)> {
    list.iter().map(|(a, b, c)| ((*a).into(), (*b).into(), (*c).into())).collect()
}

/// An application with all that it may name, and files of others that name the same.
fn layers() -> Vec<Vec<Member>> {
    let words = b"import torch.utils.cpp_extension\nsubprocess.run(['nvcc'])\n".to_vec();
    let mut base = debs(&[
        ("gcc", "4:13.2.0-7ubuntu1", &[("usr/bin/c89-gcc", b"#!/bin/sh\nexec gcc -std=c89\n".to_vec())]),
        ("tool", "1", &[("opt/tool/run.py", words.clone())]),
    ]);
    for path in [
        "usr/local/cuda-13.0/bin/nvcc.profile.sh",
        "usr/share/doc/a.py",
        "usr/lib/cmake/a.py",
        "etc/a.conf",
        "var/lib/a.py",
        "usr/include/a.py",
        "usr/local/lib/python3.12/_sysconfigdata.py",
        "usr/local/lib/python3.12/dist-packages/a.py",
        "opt/venv/lib/python3.12/site-packages/a.py",
        "app/a.txt",
    ] {
        base.push(file(path, words.clone()));
    }
    base.extend(wheel(SITE, "torch", "2.10.0", &[("torch/utils.py", words.clone())]));
    let mut service = program("service", &["libcudart.so.13", "libc.so.6"]);
    service.soname = Some("libservice.so.1".into());
    let strings =
        b"\0libcudart.so.13\0libservice.so.1\0libnvrtc.so.13\0libdevice.10.bc\0/usr/bin/gdb\0git clone\0";
    let service = service.with_section(".rodata", strings.to_vec());
    let object = Elf::library("libplugin.so").with_section(".rodata", b"\0ptxas\0".to_vec());
    let app = vec![
        executable("app/service", &service),
        file("app/libplugin.so", object.sized(3 * MIB)),
        file("app/main.py", words),
        file("app/quiet.py", "# nvcc\nx = 1\n"),
        file("app/start", "#!/bin/sh\n# cmake\ncd /app && make -j\n").mode(0o755),
        file("app/notes", "#!/bin/sh\nnvcc\n"),
        file("app/large.json", [b"\"nvcc\" ".repeat(10), vec![b' '; MIB]].concat()),
        file("etc/supervisor/conf.d/app.conf", "[program:app]\ncommand=git pull\n"),
        file("etc/systemd/system/app.service", "ExecStart=/usr/bin/nsys profile\n"),
        hardlink("app/zz.py", "app/main.py"),
        file("app/gone.py", "gcc"),
    ];
    let fix = vec![file("app/.wh.gone.py", ""), file("app/new.yaml", "cc: x86_64-linux-gnu-gcc\n")];
    vec![base, app, fix]
}

fn expected() -> Vec<(String, String, String)> {
    mentions(&[
        ("/app/a.txt", "nvcc cpp_extension", ""),
        ("/app/libplugin.so", "ptxas", ""),
        ("/app/main.py", "nvcc cpp_extension", ""),
        ("/app/new.yaml", "gcc", ""),
        ("/app/notes", "nvcc", ""),
        ("/app/service", "libdevice git gdb", "libnvrtc.so.13"),
        ("/app/start", "make", ""),
        ("/etc/a.conf", "nvcc cpp_extension", ""),
        ("/etc/supervisor/conf.d/app.conf", "git", ""),
        ("/etc/systemd/system/app.service", "nsys", ""),
        ("/opt/tool/run.py", "nvcc cpp_extension", ""),
        ("/usr/lib/cmake/a.py", "nvcc cpp_extension", ""),
        ("/var/lib/a.py", "nvcc cpp_extension", ""),
    ])
}

#[test]
fn only_files_of_the_application_are_heard_and_every_form_gives_the_same() {
    let layers = layers();
    let (found, searched) = heard_in(Packing::Gzip, &layers);
    assert_eq!(found, expected());
    assert_eq!((searched.files, searched.left_out), (14, 1));
    for packing in [Packing::Plain, Packing::Zstd] {
        assert_eq!(heard_in(packing, &layers), (found.clone(), searched.clone()), "{packing:?}");
    }
    let place = Place::new();
    let layout = place.put_layout("image", &Layout::of(&image(Packing::Plain, &layers), "t"));
    let verified = Options { verify: true, ..Options::default() };
    assert_eq!(heard(&analysis(&format!("oci:{layout}"), &verified)), (found.clone(), searched.clone()));
    let folder = place.path("rootfs");
    fs::create_dir(&folder).unwrap();
    unpack(&layers, folder.as_ref());
    assert_eq!(heard(&analysis(&format!("rootfs:{folder}"), &Options::default())), (found, searched));
}

#[test]
fn what_is_too_large_or_has_holes_counts_as_left_out() {
    let app = vec![
        file("app/line.py", vec![b'x'; 64 * MIB]),
        file(
            "app/names.sh",
            (0..50_000).map(|number| format!("lib{number}.so ")).collect::<Vec<_>>().concat(),
        ),
        file("app/small.sh", "nvcc\n"),
        Sparse { size: 90_000, parts: vec![(1_024, b"nvcc ".repeat(100))] }.old_gnu("app/sparse.py"),
    ];
    for packing in [Packing::Gzip, Packing::Plain] {
        let (found, searched) = heard_in(packing, std::slice::from_ref(&app));
        let told: Vec<(&str, usize)> =
            found.iter().map(|(path, words, names)| (path.as_str(), words.len() + names.len())).collect();
        assert_eq!(told.len(), 2, "{told:?}");
        assert_eq!(told[0].0, "/app/names.sh");
        assert!(told[0].1 < 256 * 12, "{}", told[0].1);
        assert_eq!(told[1], ("/app/small.sh", 4));
        // Two files were not searched, and of one there is more than was kept.
        assert_eq!((searched.files, searched.left_out), (2, 3));
    }
}

#[test]
fn so_many_files_are_searched_and_no_more() {
    let app: Vec<Member> = (0..20_010).map(|number| file(format!("app/{number:05}.sh"), "nvcc\n")).collect();
    for packing in [Packing::Gzip, Packing::Plain] {
        let (found, searched) = heard_in(packing, std::slice::from_ref(&app));
        let counted = Searched {
            files: 20_000,
            bytes: 100_000,
            left_out: 10,
            programs_left_out: 10,
            ..searched.clone()
        };
        assert_eq!(searched, counted);
        assert_eq!(searched.programs.len(), 8);
        assert_eq!(found.len(), 20_000);
        assert_eq!(found.last().unwrap().0, "/app/19999.sh");
    }
}

#[test]
fn small_files_that_pass_are_hashed() {
    let place = Place::new();
    let below = vec![file("a/x", "same"), file("a/empty", "")];
    let above = vec![file("a/x", "same").mode(0o600)];
    let layout = place.put_layout("image", &Layout::of(&image(Packing::Gzip, &[below, above]), "t"));
    let analysis = analysis(&format!("oci:{layout}"), &Options::default());
    let hashes: Vec<Vec<_>> = analysis
        .layers
        .iter()
        .map(|layer| {
            let read = layer.read.as_ref().unwrap();
            read.facts
                .hashed()
                .map(|entry| (read.index.path(entry), *read.facts.hash(entry).unwrap()))
                .collect()
        })
        .collect();
    assert_eq!(hashes[0], hashes[1]);
    assert_eq!(hashes[0].len(), 1, "an empty file has no hash");
    assert!(analysis.inventory.as_ref().unwrap().identical.is_empty());
}

#[test]
fn archives_of_programs_count_where_something_runs_them() {
    let jvm = || vec![file("opt/java/lib/server/libjvm.so", Elf::library("libjvm.so").build())];
    let left_out = |members: Vec<Member>| heard_in(Packing::Gzip, &[members]).1.programs_left_out;
    assert_eq!(left_out([jvm(), vec![file("usr/share/jenkins/jenkins.war", "PK")]].concat()), 0);
    let database = || debs(&[("tool", "1", &[("usr/share/java/tool.jar", b"PK".to_vec())])]);
    assert_eq!(left_out([jvm(), database(), vec![file("usr/share/jenkins/jenkins.war", "PK")]].concat()), 1);
    assert_eq!(left_out([jvm(), vec![file("app/app.jar", "PK")]].concat()), 1);
    assert_eq!(left_out(vec![file("app/app.jar", "PK")]), 0);
    let own = vec![file("opt/java/lib/jrt-fs.jar", "PK"), file("opt/java/lib/a.jar", "PK")];
    assert_eq!(left_out([jvm(), own].concat()), 0);
    assert_eq!(left_out(vec![file("app/a.phar", "x")]), 0);
    assert_eq!(left_out(vec![file("app/a.phar", "x"), file("usr/local/bin/php", "x").mode(0o755)]), 1);
    assert_eq!(left_out(vec![file("app/a.pyc", "x"), file("app/b.pyc", "x"), file("app/b.py", "x")]), 1);
}

#[test]
fn what_nobody_owns_in_the_folders_of_the_system_is_the_application() {
    let text = b"execSync('git clone')\n".to_vec();
    let mut members = debs(&[("tool", "1", &[("usr/lib/tool/own.js", text.clone())])]);
    for path in [
        "usr/lib/node_modules/n8n/run.js",
        "var/lib/gems/3.1.0/gems/x/lib/x.js",
        "usr/share/webapp/x.php",
        "var/lib/dpkg/info/x.js",
        "usr/share/doc/x/x.js",
    ] {
        members.push(file(path, text.clone()));
    }
    let paths = |members: &[Member]| {
        let (found, _) = heard_in(Packing::Gzip, &[members.to_vec()]);
        found.into_iter().map(|(path, ..)| path).collect::<Vec<_>>()
    };
    let own = [
        "/usr/lib/node_modules/n8n/run.js",
        "/usr/share/webapp/x.php",
        "/var/lib/gems/3.1.0/gems/x/lib/x.js",
    ];
    assert_eq!(paths(&members), own);
    // Without a database nobody knows whose they are.
    members.retain(|member| !member.name.starts_with(b"var/lib/dpkg/"));
    assert_eq!(paths(&members), <[&str; 0]>::default());
}

#[test]
fn packages_of_python_that_start_programs_are_heard() {
    let both = b"import subprocess\nsubprocess.run(['gcc', '-O2'])\n".to_vec();
    let layers = |name: &str, source: &[u8]| {
        let cc1 = executable("usr/lib/gcc/x86_64-linux-gnu/13/cc1", &program("cc1", &[]));
        [wheel(SITE, name, "1.0", &[("module/a.py", source.to_vec())]), vec![cc1]].concat()
    };
    let words = |name: &str, source: &[u8]| {
        let (found, _) = heard_in(Packing::Gzip, &[layers(name, source)]);
        found.into_iter().map(|(_, words, _)| words).collect::<Vec<_>>().concat()
    };
    assert_eq!(words("devito", &both), "gcc");
    assert_eq!(words("setuptools", &both), "");
    assert_eq!(words("devito", b"compilers = ['gcc']\n"), "");
}
