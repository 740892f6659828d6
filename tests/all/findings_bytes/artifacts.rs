//! What builds leave behind.

use super::{all, judged, judged_files, of, service};
use crate::fixtures::elf::{Elf, object};
use crate::fixtures::packing::Packing;
use crate::fixtures::service::{SITE, wheel};
use crate::fixtures::tarball::file;

fn relocatable(machine: u16) -> Vec<u8> {
    object(1, machine, 0, (0, 0), &[(".text", &[0x90; 64])])
}

#[test]
fn object_files_are_told_by_their_header() {
    let report = judged_files(vec![
        file("srv/build/main.o", relocatable(62)),
        file("srv/build/arm.obj", relocatable(183)),
        file("srv/models/cube.obj", "v 0 0 0\nv 1 0 0\n"),
        file("srv/bpf/filter.o", relocatable(247)),
        file("srv/notes.o", "a text that is called so"),
        file("usr/lib/x86_64-linux-gnu/crt1.o", relocatable(62)),
    ]);
    all(
        &report,
        &[
            ("/srv/build/main.o", "build-artifacts safe"),
            ("/srv/build/arm.obj", "build-artifacts safe"),
            ("/srv/models/cube.obj", "-"),
            ("/srv/bpf/filter.o", "-"),
            ("/srv/notes.o", "-"),
        ],
    );
    assert!(of(&report, "/usr/lib/x86_64-linux-gnu/crt1.o").starts_with("compilers "));
}

#[test]
fn a_build_tree_may_hold_what_runs() {
    let mut members = service(&[]);
    let mut program = Elf::program("service").needing(&["libgrpc.so.1"]);
    program.rpath = Some("/srv/build/_deps/grpc-build".into());
    members.push(file("srv/build/CMakeFiles/service", program.build()).mode(0o755));
    members.push(file("srv/build/_deps/grpc-build/libgrpc.so.1", Elf::library("libgrpc.so.1").build()));
    members.push(file("srv/build/_deps/grpc-build/libother.so.1", Elf::library("libother.so.1").build()));
    members.push(file("srv/build/_deps/grpc-src/data/roots.pem", "certificates"));
    members.push(file("srv/build/_deps/grpc-src/grpc.cc", "int main() {}"));
    members.push(file("srv/build/CMakeFiles/service.dir/main.cc.o", relocatable(62)));
    members
        .push(file("srv/build/CMakeFiles/3.28/CompilerIdC/a.out", Elf::program("a.out").build()).mode(0o755));
    members.push(file("srv/build/CMakeCache.txt", "CMAKE_BUILD_TYPE:STRING=Release\n"));
    members.push(file("srv/build/app", Elf::program("app").build()).mode(0o755));
    let report = judged(Packing::Gzip, &[members], &["/srv/build/CMakeFiles/service"], &[]);
    all(
        &report,
        &[
            ("/srv/build/CMakeFiles/service", "build-artifacts needed"),
            ("/srv/build/_deps/grpc-build/libgrpc.so.1", "build-artifacts needed"),
            ("/srv/build/_deps/grpc-build/libother.so.1", "build-artifacts unsure"),
            ("/srv/build/_deps/grpc-src/data/roots.pem", "build-artifacts unsure"),
            ("/srv/build/_deps/grpc-src/grpc.cc", "build-artifacts safe"),
            ("/srv/build/CMakeFiles/service.dir/main.cc.o", "build-artifacts safe"),
            ("/srv/build/CMakeFiles/3.28/CompilerIdC/a.out", "build-artifacts safe"),
            ("/srv/build/CMakeCache.txt", "build-artifacts safe"),
            ("/srv/build/app", "-"),
        ],
    );
}

#[test]
fn a_repository_can_go_unless_git_is_asked() {
    let git = || file("srv/.git/objects/pack/a.pack", "objects");
    let path = "/srv/.git/objects/pack/a.pack";
    all(&judged_files(vec![git()]), &[(path, "build-artifacts safe")]);
    let scm =
        [vec![git()], wheel(SITE, "setuptools-scm", "8.1.0", &[("setuptools_scm/a.py", b"pass\n".to_vec())])];
    all(&judged_files(scm.concat()), &[(path, "build-artifacts unsure")]);
    let names = vec![git(), file("srv/version.sh", "#!/bin/sh\ngit describe --tags\n").mode(0o755)];
    all(&judged_files(names), &[(path, "build-artifacts unsure")]);
}

#[test]
fn wheels_can_go_once_they_are_installed() {
    let installed = wheel(SITE, "my-app", "1.2", &[("my_app/a.py", b"pass\n".to_vec())]);
    let archives = vec![
        file("wheels/my_app-1.2-py3-none-any.whl", "PK"),
        file("wheels/my_app-1.3-py3-none-any.whl", "PK"),
        file("srv/dist/my_app-1.2.tar.gz", "gz"),
        file(format!("{SITE}/virtualenv/seed/wheels/embed/pip-24.0-py3-none-any.whl"), "PK"),
        file("usr/lib/python3.12/ensurepip/_bundled/pip-24.0-py3-none-any.whl", "PK"),
    ];
    let report = judged_files([installed, archives].concat());
    all(
        &report,
        &[
            ("/wheels/my_app-1.2-py3-none-any.whl", "build-artifacts safe"),
            ("/wheels/my_app-1.3-py3-none-any.whl", "build-artifacts unsure"),
            ("/srv/dist/my_app-1.2.tar.gz", "build-artifacts safe"),
            (&format!("/{SITE}/virtualenv/seed/wheels/embed/pip-24.0-py3-none-any.whl"), "-"),
            ("/usr/lib/python3.12/ensurepip/_bundled/pip-24.0-py3-none-any.whl", "-"),
        ],
    );
}

#[test]
fn core_dumps_and_logs_are_told_from_files_of_that_name() {
    let report = judged_files(vec![
        file("srv/core.1234", object(4, 62, 0, (0, 0), &[(".note", &[0; 16])])),
        file("srv/core", "a program's own folder of settings"),
        file("srv/src/config.log", "configure: exit 0\n"),
        file("srv/src/config.status", "#!/bin/sh\n"),
        file("var/log/config.log", "an application's log\n"),
        file("srv/target/release/deps/libx.rlib", "rust"),
        file("srv/node_modules/.cache/babel/a.json", "{}"),
    ]);
    all(
        &report,
        &[
            ("/srv/core.1234", "build-artifacts safe"),
            ("/srv/core", "-"),
            ("/srv/src/config.log", "build-artifacts safe"),
            ("/var/log/config.log", "-"),
            ("/srv/target/release/deps/libx.rlib", "build-artifacts safe"),
            ("/srv/node_modules/.cache/babel/a.json", "build-artifacts safe"),
        ],
    );
}
