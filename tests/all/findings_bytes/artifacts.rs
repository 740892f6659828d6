//! What builds leave behind.

use super::{all, finding, judged, judged_files, of, service};
use crate::fixtures::elf::{Elf, object};
use crate::fixtures::image::{Image, Layer};
use crate::fixtures::layout::Layout;
use crate::fixtures::packing::Packing;
use crate::fixtures::service::{SITE, debs, wheel};
use crate::fixtures::tarball::{Member, dir, file, symlink, tar};
use crate::support::Place;

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
        file("usr/local/lib/afl/afl-compiler-rt.o", relocatable(62)),
        file("srv/lib/parse.o", relocatable(62)),
        file("srv/lib/parse.c", "int parse(void) { return 0; }\n"),
    ]);
    all(
        &report,
        &[
            ("/srv/build/main.o", "build-artifacts safe"),
            ("/srv/build/arm.obj", "build-artifacts safe"),
            ("/srv/models/cube.obj", "-"),
            ("/srv/bpf/filter.o", "-"),
            ("/srv/notes.o", "-"),
            ("/usr/local/lib/afl/afl-compiler-rt.o", "build-artifacts unsure"),
            ("/srv/lib/parse.o", "build-artifacts safe"),
        ],
    );
    assert!(of(&report, "/usr/lib/x86_64-linux-gnu/crt1.o").starts_with("compilers "));
}

#[test]
fn object_files_that_the_application_names_are_a_question() {
    let loads = |source: &str| {
        let report = judged_files(vec![
            file("srv/kernels/dot.o", relocatable(62)),
            file("srv/main.py", source.to_owned()),
        ]);
        of(&report, "/srv/kernels/dot.o")
    };
    for source in [
        "engine.add_object_file(\"/srv/kernels/dot.o\")\n",
        "for path in Path('kernels').glob('*.o'):\n    engine.add_object_file(str(path))\n",
        "engine.add_object_file(f'{name}.o')\n",
    ] {
        assert_eq!(loads(source), "build-artifacts unsure", "{source}");
    }
    assert_eq!(loads("# loads \"dot.o\"\nprint('hello')\n"), "build-artifacts safe");
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
fn who_denies_that_the_service_builds_is_also_asked_what_it_reads() {
    let table = "srv/target/release/build/squares-1/out/squares.tbl";
    let members = |script: &str| {
        vec![
            file(table, "0 1 4 9"),
            file("srv/target/release/build/squares-1/out/squares.rs", "pub const ALL: u8 = 4;\n"),
            file("srv/Cargo.toml", "[package]\n"),
            file("srv/start.sh", script).mode(0o755),
        ]
    };
    for (script, builds) in
        [("#!/bin/sh\nexec target/release/squares\n", false), ("#!/bin/sh\ncargo run\n", true)]
    {
        let report = judged_files(members(script));
        let found = finding(&report, &format!("/{table}")).unwrap();
        let question = found["question"].as_str().unwrap();
        assert!(question.contains("read anything from the build folder"), "{question}");
        assert_eq!(question.contains("or build there"), builds, "{question}");
    }
}

#[test]
fn a_program_that_names_the_output_of_build_scripts_is_named_in_the_question() {
    for profile in ["release", "debug"] {
        let table = format!("srv/target/{profile}/build/squares-1/out/squares.tbl");
        let service = format!("srv/target/{profile}/squares");
        let strings = format!("called `Option::unwrap()` on a `None` value/{table}src/main.rs");
        let program = Elf::program("squares").with_section(".rodata", strings.into_bytes()).build();
        let members = vec![
            file(table.as_str(), "0 1 4 9"),
            file("srv/Cargo.toml", "[package]\n"),
            file(service.as_str(), program).mode(0o755),
        ];
        let report = judged(Packing::Gzip, &[members], &[&format!("/{service}")], &[]);
        let found = finding(&report, &format!("/{table}")).unwrap();
        assert_eq!(found["verdict"], "unsure");
        let question = found["question"].as_str().unwrap();
        assert!(question.contains(&format!("/{service} names target/{profile}/build")), "{question}");
    }
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
    for (name, folder) in
        [("sentry-sdk", "sentry_sdk"), ("jupyterlab-git", "jupyterlab_git"), ("jupyterlab", "jupyterlab")]
    {
        let reads =
            [vec![git()], wheel(SITE, name, "2.0", &[(&format!("{folder}/a.py"), b"pass\n".to_vec())])];
        all(&judged_files(reads.concat()), &[(path, "build-artifacts unsure")]);
    }
}

#[test]
fn a_compiler_is_a_question_beside_r_packages_that_compile() {
    let gcc: &[(&str, Vec<u8>)] =
        &[("usr/lib/gcc/x86_64-linux-gnu/13/cc1plus", Elf::program("cc1plus").build())];
    let of = |more: &[Member]| {
        let members = [service(&[]), debs(&[("g++-13", "13.2", gcc)]), more.to_vec()].concat();
        judged(Packing::Gzip, &[members], &["/srv/service"], &[])
    };
    let path = "/usr/lib/gcc/x86_64-linux-gnu/13/cc1plus";
    all(&of(&[]), &[(path, "compilers safe")]);
    let library = "usr/local/lib/R/site-library";
    all(
        &of(&[file(format!("{library}/ggplot2/DESCRIPTION"), "Package: ggplot2\n")]),
        &[(path, "compilers safe")],
    );
    all(
        &of(&[file(format!("{library}/rstan/DESCRIPTION"), "Package: rstan\n")]),
        &[(path, "compilers unsure")],
    );
}

#[test]
fn what_builds_keep_of_themselves_is_no_reader_of_compilers() {
    let gcc: &[(&str, Vec<u8>)] =
        &[("usr/lib/gcc/x86_64-linux-gnu/13/cc1plus", Elf::program("cc1plus").build())];
    let path = "/usr/lib/gcc/x86_64-linux-gnu/13/cc1plus";
    let names = "#!/bin/sh\ngcc -o a a.c\n";
    let with = |more: &[&str]| {
        let files = more.iter().map(|path| file(*path, names).mode(0o755)).collect();
        let members = [service(&[]), debs(&[("g++-13", "13.2", gcc)]), files].concat();
        of(&judged(Packing::Gzip, &[members], &["/srv/service"], &[]), path)
    };
    let build_script = "srv/target/release/build/notes-1/build-script-build";
    for (files, verdict) in [
        (&["srv/lib-1.0/configure", "srv/lib-1.0/config.status"][..], "safe"),
        (&["srv/lib-1.0/build-aux/config.guess", "srv/lib-1.0/configure.ac"], "safe"),
        (&["srv/lib-1.0/.travis.yml", "srv/lib-1.0/.github/workflows/test.yml"], "safe"),
        (&["srv/target/.rustc_info.json", "srv/target/release/.fingerprint/a/lib-a.json"], "safe"),
        (&["srv/lib-1.0/.gitlab/ci/test.yml", "srv/lib-1.0/.github/actions/a/action.yml"], "safe"),
        (&[build_script, "srv/target/.rustc_info.json", "srv/target/release/.fingerprint/a/dep"], "safe"),
        // Not beside what cargo keeps there: another folder of this name.
        (&[build_script, "srv/target/.rustc_info.json"], "unsure"),
        (&["srv/lib-1.0/tests/all.sh", "srv/lib-1.0/config.status", "srv/lib-1.0/bootstrap"], "safe"),
        (&["srv/lib-1.0/config.nice", "srv/lib-1.0/build/shtool", "srv/lib-1.0/configure.ac"], "safe"),
        (&["root/.cargo/registry/src/index.crates.io-1/sqlite-0.1/upgrade.sh"], "safe"),
        (&["root/go/pkg/mod/example.org/x@v1/build.sh"], "safe"),
        (&["root/.cargo/bin/deploy.sh"], "unsure"),
        // A script of the service may have one of these names.
        (&["srv/configure"], "unsure"),
        (&["srv/missing"], "unsure"),
        (&["srv/lib-1.0/.circleci/build"], "unsure"),
        (&["srv/lib-1.0/.github/release.sh"], "unsure"),
        (&["srv/tests/all.sh"], "unsure"),
        (&[build_script], "unsure"),
        (&["srv/target/release/notes"], "unsure"),
    ] {
        assert_eq!(with(files), format!("compilers {verdict}"), "{files:?}");
    }
}

#[test]
fn who_installs_packages_when_it_starts_may_compile_them() {
    let path = "/usr/lib/gcc/x86_64-linux-gnu/13/cc1plus";
    let verdict = |name: &str, text: &str, command: &[&str]| {
        let packages = debs(&[(
            "g++-13",
            "13.2",
            &[("usr/lib/gcc/x86_64-linux-gnu/13/cc1plus", Elf::program("cc1plus").build())],
        )]);
        let members = [service(&[]), packages, vec![file(name, text).mode(0o755)]].concat();
        of(&judged(Packing::Gzip, &[members], command, &[]), path)
    };
    let service = ["/srv/service"];
    for (name, text) in [
        ("srv/start.sh", "#!/bin/sh\nfor p in /plugins/*; do pip install -q \"$p\"; done\n"),
        ("srv/start.js", "require('child_process').spawnSync('npm', ['ci'])\n"),
        ("srv/job.py", "import numpy.f2py\nnumpy.f2py.compile(open('a.f').read())\n"),
        ("srv/job.py", "command = distribution.get_command_obj('build_ext')\n"),
        ("srv/job.py", "subprocess.run(sysconfig.get_config_var('LDSHARED').split())\n"),
    ] {
        assert_eq!(verdict(name, text, &service), "compilers unsure", "{text}");
    }
    for (name, text) in [
        ("srv/start.sh", "#!/bin/sh\ninstall -d /data\necho \"or pip install x\"\n"),
        ("srv/job.py", "raise ImportError('Please run `pip install x`')\n"),
        // Packages of Node tell how to install others.
        ("srv/node_modules/a/index.js", "spawnSync('npm', ['ci'])\n"),
    ] {
        assert_eq!(verdict(name, text, &service), "compilers safe", "{text}");
    }
    let none = ("srv/none", "");
    assert_eq!(verdict(none.0, none.1, &["/bin/sh", "-c", "npm ci && exec app"]), "compilers unsure");
    assert_eq!(verdict(none.0, none.1, &["/bin/sh", "-c", "install -d /data && exec app"]), "compilers safe");
}

#[test]
fn what_programs_of_the_distribution_start_is_in_their_dependencies() {
    let path = "/usr/lib/gcc/x86_64-linux-gnu/13/cc1plus";
    let body = b"\xff Go buildinf:\x08\x02go1.22 os/exec.(*Cmd).Start\0".to_vec();
    let tool = Elf::program("tool").with_section(".go", body).build();
    let packages = debs(&[
        ("g++-13", "13.2", &[("usr/lib/gcc/x86_64-linux-gnu/13/cc1plus", Elf::program("cc1plus").build())]),
        ("tool", "1.0", &[("usr/bin/tool", tool)]),
    ]);
    let verdict = |maker: &str| {
        let mut packages = packages.clone();
        for member in &mut packages {
            let text = String::from_utf8_lossy(&member.body).replace("Some Body <some@example.org>", maker);
            if member.name.ends_with(b"/status") {
                member.body = text.into_bytes();
            }
        }
        of(&judged(Packing::Gzip, &[[service(&[]), packages].concat()], &["/srv/service"], &[]), path)
    };
    assert_eq!(verdict("Debian Tools <tools@lists.debian.org>"), "compilers safe");
    assert_eq!(verdict("Some Body <some@example.org>"), "compilers unsure");
}

#[test]
fn what_builds_keep_counts_where_a_script_of_the_service_may_start_it() {
    let gcc: &[(&str, Vec<u8>)] =
        &[("usr/lib/gcc/x86_64-linux-gnu/13/cc1plus", Elf::program("cc1plus").build())];
    let path = "/usr/lib/gcc/x86_64-linux-gnu/13/cc1plus";
    let configured =
        ["srv/lib-1.0/configure", "srv/lib-1.0/tests/all.sh", "srv/lib-1.0/config.status"].as_slice();
    let cargo = [
        "srv/target/release/build/notes-1/build-script-build",
        "srv/target/release/.fingerprint/notes-1/dep",
        "srv/target/.rustc_info.json",
    ];
    let with = |script: &str, command: &[&str], kept: &[&str]| {
        let kept = kept.iter().map(|path| file(*path, "#!/bin/sh\ngcc -o a a.c\n").mode(0o755)).collect();
        let start = file("srv/start", format!("#!/bin/sh\n{script}\n")).mode(0o755);
        let members = [service(&[]), debs(&[("g++-13", "13.2", gcc)]), vec![start], kept].concat();
        of(&judged(Packing::Gzip, &[members], command, &[]), path)
    };
    for (script, kept, verdict) in [
        ("exec /srv/service", configured, "safe"),
        ("cd /srv/lib-1.0 && ./configure --quiet", configured, "unsure"),
        ("sh configure", configured, "unsure"),
        ("sh \"$HERE/autogen.sh\"", configured, "unsure"),
        ("for test in lib-1.0/tests/*.sh; do $test; done", configured, "unsure"),
        ("curl https://example.org/configure.html", configured, "safe"),
        ("cat latest/notes", configured, "safe"),
        ("exec /srv/service", &cargo, "safe"),
        ("target/release/build/*/build-script-build", &cargo, "unsure"),
        ("exec target/debug/build/*/build-script-build", &cargo, "unsure"),
        ("exec /srv/service", &["srv/lib-1.0/.circleci/config.yml"], "safe"),
    ] {
        assert_eq!(with(script, &["/srv/service"], kept), format!("compilers {verdict}"), "{script}");
    }
    for command in ["cd /srv/lib-1.0 && ./configure", "cd /srv/lib-1.0; for test in tests/*; do $test; done"]
    {
        let found = with("true", &["/bin/sh", "-c", command], configured);
        assert_eq!(found, "compilers unsure", "{command}");
    }
    let command = "for script in /srv/target/release/build/*/build-script-build; do $script; done";
    assert_eq!(with("true", &["/bin/sh", "-c", command], &cargo), "compilers unsure");
}

#[test]
fn what_the_command_starts_counts_wherever_it_lies() {
    let gcc: &[(&str, Vec<u8>)] =
        &[("usr/lib/gcc/x86_64-linux-gnu/13/cc1plus", Elf::program("cc1plus").build())];
    let path = "/usr/lib/gcc/x86_64-linux-gnu/13/cc1plus";
    let names = "#!/bin/sh\nmake -C /srv/a && gcc -o a a.c\n";
    for (command, mark) in [
        ("srv/lib/tests/run.sh", "srv/lib/config.status"),
        ("srv/app/bootstrap", "srv/app/configure.ac"),
        ("srv/target/release/build/x-1/build-script-deploy", "srv/target/.rustc_info.json"),
        ("root/.cache/uv/environments-v2/x/bin/tool.sh", "root/.cache/uv/CACHEDIR.TAG"),
    ] {
        let files = vec![file(command, names).mode(0o755), file(mark, "{}")];
        let members = [service(&[]), debs(&[("g++-13", "13.2", gcc)]), files].concat();
        let report = judged(Packing::Gzip, &[members], &[&format!("/{command}")], &[]);
        assert_eq!(of(&report, path), "compilers unsure", "{command}");
        assert!(!of(&report, &format!("/{command}")).ends_with("safe"), "{command}");
    }
    // A script of the service in a source tree that it runs in, and an environment that `uv run` starts.
    for (command, script, mark) in [
        ("/srv/app/serve", "srv/app/tests/run.sh", "srv/app/config.status"),
        ("/srv/service", "root/.cache/uv/environments-v2/x/bin/tool.sh", "root/.cache/uv/CACHEDIR.TAG"),
    ] {
        let own = Elf::program("serve").build();
        let files = vec![
            file("srv/app/serve", own).mode(0o755),
            file(script, "#!/bin/sh\ngcc -o a a.c\n").mode(0o755),
            file(mark, "{}"),
        ];
        let members = [service(&[]), debs(&[("g++-13", "13.2", gcc)]), files].concat();
        let report = judged(Packing::Gzip, &[members], &[command], &[]);
        assert_eq!(of(&report, path), "compilers unsure", "{script}");
    }
}

#[test]
fn downloads_below_a_node_cache_are_not_removable() {
    let report = judged_files(vec![
        file("srv/node_modules/.cache/babel-loader/a.json", "{}"),
        file("srv/node_modules/.cache/puppeteer/chrome/linux-1/icudtl.dat", "data"),
        file("srv/node_modules/.cache/prisma/master/schema.json", "{}"),
    ]);
    all(
        &report,
        &[
            ("/srv/node_modules/.cache/babel-loader/a.json", "build-artifacts safe"),
            ("/srv/node_modules/.cache/puppeteer/chrome/linux-1/icudtl.dat", "build-artifacts unsure"),
            ("/srv/node_modules/.cache/prisma/master/schema.json", "build-artifacts unsure"),
        ],
    );
}

#[test]
fn wheels_can_go_once_they_are_installed() {
    let installed = wheel(SITE, "my-app", "1.2", &[("my_app/a.py", b"pass\n".to_vec())]);
    let archives = vec![
        file("wheels/my_app-1.2-py3-none-any.whl", "PK"),
        file("wheels/my_app-1.3-py3-none-any.whl", "PK"),
        file("srv/dist/my_app-1.2.tar.gz", "gz"),
        file("srv/pyproject.toml", "[project]\n"),
        file("var/www/dist/my_app-1.2.tar.gz", "gz"),
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
            ("/var/www/dist/my_app-1.2.tar.gz", "build-artifacts unsure"),
            (&format!("/{SITE}/virtualenv/seed/wheels/embed/pip-24.0-py3-none-any.whl"), "-"),
            ("/usr/lib/python3.12/ensurepip/_bundled/pip-24.0-py3-none-any.whl", "-"),
        ],
    );
}

#[test]
fn wheels_stay_where_a_start_script_of_the_default_path_may_install_them() {
    for folder in ["usr/local/sbin", "usr/sbin", "sbin", "usr/bin"] {
        let image = [
            service(&[]),
            wheel(SITE, "my-app", "1.2", &[("my_app/a.py", b"pass\n".to_vec())]),
            vec![
                file("wheels/my_app-1.2-py3-none-any.whl", "PK"),
                file(format!("{folder}/begin"), "#!/bin/sh\npip install /wheels/*.whl\n").mode(0o755),
            ],
        ];
        let report = judged(Packing::Gzip, &[image.concat()], &["begin"], &[]);
        all(&report, &[("/wheels/my_app-1.2-py3-none-any.whl", "build-artifacts unsure")]);
    }
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
        file("srv/target/.rustc_info.json", "{}"),
        file("opt/java/target/release/deps/app.jar", "a build of something else"),
        file("opt/doc/CMakeFiles/list.txt", "no build tree"),
        file("opt/app/build.ninja", "a text of an application"),
        file("srv/node_modules/.cache/babel-loader/a.json", "{}"),
    ]);
    all(
        &report,
        &[
            ("/srv/core.1234", "build-artifacts safe"),
            ("/srv/core", "-"),
            ("/srv/src/config.log", "build-artifacts safe"),
            ("/var/log/config.log", "-"),
            ("/srv/target/release/deps/libx.rlib", "build-artifacts safe"),
            ("/opt/java/target/release/deps/app.jar", "-"),
            ("/opt/doc/CMakeFiles/list.txt", "-"),
            ("/opt/app/build.ninja", "-"),
            ("/srv/node_modules/.cache/babel-loader/a.json", "build-artifacts safe"),
        ],
    );
}

#[test]
fn a_start_script_may_install_a_wheel_again() {
    let members = [
        service(&[]),
        wheel(SITE, "my-app", "1.2", &[("my_app/a.py", b"pass\n".to_vec())]),
        vec![
            file("wheels/my_app-1.2-py3-none-any.whl", "PK"),
            file("srv/start.sh", "#!/bin/sh\npip install /wheels/*.whl\nexec /srv/service\n").mode(0o755),
        ],
    ]
    .concat();
    for command in [&["/srv/start.sh"][..], &["sh", "-c", "exec /srv/service"]] {
        let report = judged(Packing::Gzip, std::slice::from_ref(&members), command, &[]);
        all(&report, &[("/wheels/my_app-1.2-py3-none-any.whl", "build-artifacts unsure")]);
    }
}

#[test]
fn files_that_packages_list_need_a_reason_of_their_own() {
    let object = ("my_app/kernels.o", relocatable(62));
    let report = judged_files(
        [
            wheel(
                SITE,
                "my-app",
                "1.2",
                &[(object.0, object.1.clone()), ("my_app/a.py", b"pass\n".to_vec())],
            ),
            debs(&[
                ("jit", "1", &[("usr/share/jit/stub.o", relocatable(62))]),
                ("make", "4.3", &[("usr/bin/make", Elf::program("make").build())]),
                ("own", "1", &[("usr/bin/cpack-own", Elf::program("cpack-own").build())]),
                ("zlib1g-dev", "1.3", &[("usr/lib/x86_64-linux-gnu/libz.a", b"INPUT(libz.so)".to_vec())]),
            ]),
            vec![
                file("usr/bin/cmake", Elf::program("cmake").build()).mode(0o755),
                file("usr/local/bin/ninja", Elf::program("ninja").build()).mode(0o755),
                file("usr/lib/x86_64-linux-gnu/libtext.a", "a text that is called so"),
                file("usr/include/data.bin", vec![1; 50]),
                file("usr/include/own.h", "int x;"),
            ],
        ]
        .concat(),
    );
    all(
        &report,
        &[
            (&format!("/{SITE}/my_app/kernels.o"), "build-artifacts unsure"),
            ("/usr/share/jit/stub.o", "build-artifacts unsure"),
            ("/usr/bin/make", "build-tools safe"),
            ("/usr/bin/cpack-own", "build-tools unsure"),
            ("/usr/bin/cmake", "build-tools unsure"),
            ("/usr/local/bin/ninja", "build-tools unsure"),
            ("/usr/lib/x86_64-linux-gnu/libz.a", "static-libraries safe"),
            ("/usr/lib/x86_64-linux-gnu/libtext.a", "-"),
            ("/usr/include/data.bin", "headers unsure"),
            ("/usr/include/own.h", "headers safe"),
        ],
    );
}

#[test]
fn documentation_that_a_setting_names_is_a_question() {
    let page = || file("usr/share/doc/manual/index.html", "<p>");
    let deb: &[(&str, Vec<u8>)] = &[("usr/share/doc/tool/run", Elf::program("run").build())];
    let members = [service(&[]), vec![page()], debs(&[("tool", "1", deb)])].concat();
    let of = |environment: &[&str]| {
        judged(Packing::Gzip, std::slice::from_ref(&members), &["/srv/service"], environment)
    };
    let (path, program) = ("/usr/share/doc/manual/index.html", "/usr/share/doc/tool/run");
    all(&of(&[]), &[(path, "docs-samples safe"), (program, "docs-samples unsure")]);
    all(&of(&["DOC_ROOT=/usr/share/doc/manual"]), &[(path, "docs-samples unsure")]);
}

#[test]
fn tests_of_python_are_a_question() {
    let python = "opt/env/lib/python3.12";
    let report = judged_files(
        [
            wheel(
                SITE,
                "my-app",
                "1.2",
                &[("my_app/tests/test_a.py", b"pass\n".to_vec()), ("my_app/a.py", b"pass\n".to_vec())],
            ),
            vec![
                file(format!("{python}/os.py"), "pass\n"),
                file(format!("{python}/test/support/__init__.py"), "pass\n"),
                file(format!("{python}/idlelib/idle_test/a.py"), "pass\n"),
                file("srv/lib/python3.12/test/a.py", "an application's own folder"),
                file(format!("{SITE}/by_hand/tests/a.py"), "pass\n"),
            ],
        ]
        .concat(),
    );
    all(
        &report,
        &[
            (&format!("/{python}/test/support/__init__.py"), "python-tests unsure"),
            (&format!("/{python}/idlelib/idle_test/a.py"), "python-tests unsure"),
            (&format!("/{SITE}/my_app/tests/test_a.py"), "python-tests unsure"),
            (&format!("/{SITE}/my_app/a.py"), "-"),
            ("/srv/lib/python3.12/test/a.py", "-"),
            (&format!("/{SITE}/by_hand/tests/a.py"), "-"),
        ],
    );
}

#[test]
fn a_repository_is_one_finding_and_one_folder() {
    let members = (0..24).map(|number| file(format!("srv/.git/objects/{number:02}/a"), vec![number; 40]));
    // What a hook names is no use of the repository by the service.
    let hook = "#!/bin/sh\ngit rev-parse HEAD\n";
    let more = [
        dir("srv/.git/refs/tags"),
        file("srv/.git/HEAD", "ref: refs/heads/main\n"),
        file("srv/.git/hooks/update.sample", hook).mode(0o755),
    ];
    let report = judged_files(members.chain(more).collect());
    let found = finding(&report, "/srv/.git/HEAD").unwrap();
    assert_eq!((&found["verdict"], found["paths"].as_array().unwrap().len()), (&"safe".into(), 26));
    let bytes = 24 * 40 + 21 + hook.len();
    assert_eq!(found["folders"], serde_json::json!([{"path": "/srv/.git/", "files": 26, "bytes": bytes}]));
}

#[test]
fn what_lies_beside_a_program_of_a_package_goes_with_it() {
    let deb: &[(&str, Vec<u8>)] = &[
        ("usr/bin/git", Elf::program("git").build()),
        ("usr/share/perl5/Git.pm", b"package Git;".to_vec()),
        ("usr/share/doc/git/copyright", b"GPL".to_vec()),
    ];
    let members = [service(&[]), debs(&[("git", "1:2.43", deb)])].concat();
    let of = |more: &[Member]| {
        judged(Packing::Gzip, &[[members.clone(), more.to_vec()].concat()], &["/srv/service"], &[])
    };
    let paths = ["/usr/bin/git", "/usr/share/perl5/Git.pm"];
    let report = of(&[]);
    for path in &paths {
        all(&report, &[(path, "build-tools safe")]);
    }
    all(&report, &[("/usr/share/doc/git/copyright", "-")]);
    let report = of(&[file("srv/version.sh", "#!/bin/sh\ngit describe --tags\n").mode(0o755)]);
    for path in &paths {
        all(&report, &[(path, "build-tools unsure")]);
    }
}

#[test]
fn what_cargo_built_on_the_way_is_free_unless_something_names_or_needs_it() {
    let mac = "srv/target/release/deps/libderive-0a1b.so";
    let members = |more: Vec<Member>| {
        let own = vec![
            file(mac, Elf::library("libderive-0a1b.so").build()),
            file("srv/target/.rustc_info.json", "{}"),
            file("srv/Cargo.toml", "[package]\n"),
            file("srv/target/release/serve", Elf::program("serve").build()).mode(0o755),
        ];
        [own, more].concat()
    };
    let script = |text: &str| vec![file("srv/start.sh", format!("#!/bin/sh\n{text}\n")).mode(0o755)];
    let needs = Elf::program("other").needing(&["libderive-0a1b.so"]).build();
    let tool = |path: &str| vec![file(path, Elf::program("tool").build()).mode(0o755)];
    let verdict_of = |members: Vec<Member>, path: &str, folder: &str| {
        let mut image = Image::of(Packing::Gzip, [tar([service(&[]), members].concat())]);
        image.config = serde_json::json!({"Cmd": ["/srv/target/release/serve"], "WorkingDir": folder});
        let place = Place::new();
        let report = place.report(&format!("oci:{}", place.put_layout("image", &Layout::of(&image, "t"))));
        of(&report, path)
    };
    // Programs that are nowhere else may be what runs, by a path that no search finds.
    for path in ["srv/target/release/deps/tool-0a1b", "srv/target/release/build/x-1/out/tool"] {
        assert_eq!(
            verdict_of(members(tool(path)), &format!("/{path}"), "/"),
            "build-artifacts unsure",
            "{path}"
        );
    }
    let script_of_build = "srv/target/release/build/x-1/build-script-build";
    for (folder, verdict) in [("/srv", "safe"), ("/srv/target/release/deps", "unsure")] {
        let found = verdict_of(members(tool(script_of_build)), &format!("/{script_of_build}"), folder);
        assert_eq!(found, format!("build-artifacts {verdict}"), "{folder}");
    }
    for (more, verdict) in [
        (Vec::new(), "safe"),
        (script("exec /srv/target/release/serve"), "safe"),
        (script("LD_LIBRARY_PATH=target/release/deps exec x"), "unsure"),
        (script("LD_PRELOAD=libderive-0a1b.so exec x"), "unsure"),
        (vec![file("srv/other", needs).mode(0o755)], "unsure"),
    ] {
        let report = judged(Packing::Gzip, &[members(more)], &["/srv/target/release/serve"], &[]);
        all(&report, &[(&format!("/{mac}"), &format!("build-artifacts {verdict}"))]);
    }
}

/// A project may be mounted: what the command starts is required, and no search could find what that uses.
#[test]
fn what_compiles_java_is_never_free() {
    let (javac, mvn) = ("usr/lib/jvm/java-17/bin/javac", "usr/share/maven/bin/mvn");
    let members = || {
        let jdk: &[(&str, Vec<u8>)] = &[(javac, Elf::program("javac").build())];
        let maven: &[(&str, Vec<u8>)] = &[(mvn, b"#!/bin/sh\nexec java\n".to_vec())];
        let link = symlink("usr/bin/mvn", "../share/maven/bin/mvn");
        [service(&[]), debs(&[("openjdk-17-jdk-headless", "17", jdk), ("maven", "3.8", maven)]), vec![link]]
            .concat()
    };
    for (command, verdict) in [("mvn", "needed"), ("/srv/service", "unsure")] {
        let report = judged(Packing::Gzip, &[members()], &[command, "exec:java"], &[]);
        all(&report, &[(&format!("/{javac}"), "compilers unsure")]);
        all(&report, &[(&format!("/{mvn}"), &format!("build-tools {verdict}"))]);
    }
}

/// Images of Node have npm beside it, which names every tool that an installation of packages may run.
#[test]
fn npm_beside_node_is_no_user_of_compilers() {
    let gcc: &[(&str, Vec<u8>)] =
        &[("usr/lib/gcc/x86_64-linux-gnu/13/cc1plus", Elf::program("cc1plus").build())];
    let path = "/usr/lib/gcc/x86_64-linux-gnu/13/cc1plus";
    let npm = |folder: &str| {
        vec![
            file(format!("{folder}/bin/npm-cli.js"), "#!/usr/bin/env node\nrequire('../lib')\n").mode(0o755),
            file(format!("{folder}/lib/build.js"), "spawn('gcc', ['-v'])\n"),
        ]
    };
    let with = |more: &[Member], script: &str| {
        let start = file("srv/start", format!("#!/bin/sh\n{script}\n")).mode(0o755);
        let members = [service(&[]), debs(&[("g++-13", "13.2", gcc)]), vec![start], more.to_vec()].concat();
        of(&judged(Packing::Gzip, &[members], &["/srv/service"], &[]), path)
    };
    let beside = npm("usr/local/lib/node_modules/npm");
    assert_eq!(with(&beside, "exec node server.js"), "compilers safe");
    for installs in ["npm ci", "npx serve", "npm exec serve", "yarn", "corepack pnpm i", "pnpm dlx serve"] {
        let script = format!("{installs} && exec node server.js");
        assert_eq!(with(&beside, &script), "compilers unsure", "{installs}");
    }
    assert_eq!(with(&npm("srv/node_modules/npm"), "exec node server.js"), "compilers unsure");
}

/// Sources that name git are evidence, of packages of the catalog too, but for packages that help to build others. What
/// else a package has is not searched for it.
#[test]
fn python_packages_that_name_git_are_named_in_the_question() {
    let git = || debs(&[("git", "1", &[("usr/bin/git", Elf::program("git").build())])]);
    let of = |package: &str, path: &str, source: &str| {
        let wheel = wheel(SITE, package, "1.0", &[(path, source.as_bytes().to_vec())]);
        judged_files([git(), wheel].concat())
    };
    let runs = "import subprocess\nsubprocess.run([\"git\", \"describe\"])\n";
    let named = "GIT = \"git\"\n";
    for (package, file, source, names) in [
        ("requests", "a.py", "pass\n", false),
        ("requests", "a.py", runs, true),
        ("requests", "a.py", named, true),
        ("torch", "a.py", runs, true),
        ("torch", "a.py", "pass\n", false),
        ("pip", "a.py", runs, false),
        // Its own source tree.
        ("pydantic", "_internal/_git.py", runs, false),
        ("pydantic", "_git.py", runs, true),
        ("requests", "_internal/_git.py", runs, true),
    ] {
        let report = of(package, &format!("{package}/{file}"), source);
        all(&report, &[("/usr/bin/git", "build-tools unsure")]);
        let found = finding(&report, "/usr/bin/git").unwrap();
        assert!(super::proof(found).contains("A Python package may run git"), "{package}: {found:#}");
        let named = super::proof(found).contains(&format!("/{package}/{file} names git"));
        assert_eq!(named, names, "{package}/{file}: {found:#}");
    }
}

#[test]
fn a_package_that_another_depends_on_is_a_question() {
    let program = |name: &str| Elf::program(name).build();
    let (git, lfs) = (program("git"), program("git-lfs"));
    let more: &[(&str, Vec<u8>)] = &[
        ("usr/bin/git-lfs", lfs),
        ("usr/share/doc/git-lfs/changelog.gz", b"a".to_vec()),
        ("usr/share/doc/git-lfs/copyright", b"b".to_vec()),
    ];
    let mut members = debs(&[
        ("git", "1", &[("usr/bin/git", git)]),
        ("make", "1", &[("usr/bin/make", program("make"))]),
        ("git-lfs", "1", more),
    ]);
    let status = members.iter_mut().find(|member| member.name == b"var/lib/dpkg/status").unwrap();
    let text = String::from_utf8(status.body.clone()).unwrap();
    status.body = text.replace("Package: git-lfs\n", "Package: git-lfs\nDepends: git (>= 1:1.8.2)\n").into();
    let report = judged_files(members);
    all(&report, &[("/usr/bin/git", "build-tools unsure"), ("/usr/bin/make", "build-tools safe")]);
    let found = finding(&report, "/usr/bin/git").unwrap();
    assert!(super::proof(found).contains("git-lfs 1 depends on git"), "{found:#}");
}

#[test]
fn modules_that_compile_make_compilers_a_question() {
    let path = "usr/lib/gcc/x86_64-linux-gnu/13/cc1plus";
    let compiler = || debs(&[("g++-13", "13.2", &[(path, Elf::program("cc1plus").build())])]);
    let of = |more: Vec<Member>| judged_files([compiler(), more].concat());
    let path = format!("/{path}");
    for module in ["cppimport", "pymc", "pytensor", "pyximport", "tinygrad"] {
        let app = vec![file("srv/app.py", format!("import {module}\n"))];
        all(&of(app), &[(&path, "compilers unsure")]);
    }
    for (package, verdict) in [("tinygrad", "unsure"), ("casadi", "unsure"), ("requests", "safe")] {
        let wheel = wheel(SITE, package, "1.0", &[(&format!("{package}/a.py"), b"pass\n".to_vec())]);
        all(&of(wheel), &[(&path, &format!("compilers {verdict}"))]);
    }
}

#[test]
fn what_uv_keeps_of_build_backends_names_no_compiler() {
    let path = "usr/lib/gcc/x86_64-linux-gnu/13/cc1plus";
    for (package, verdict) in [("hatchling", "compilers safe"), ("service", "compilers unsure")] {
        let mut members = debs(&[("g++-13", "13.2", &[(path, Elf::program("cc1plus").build())])]);
        let source = format!("root/.cache/uv/archive-v0/a1b2/{package}/builders/binary.py");
        members.push(file(source, "subprocess.run(['gcc', 'a.c'])\n"));
        all(&judged_files(members), &[(&format!("/{path}"), verdict)]);
    }
}

#[test]
fn what_uv_keeps_of_an_installed_package_names_no_compiler() {
    let path = "usr/lib/gcc/x86_64-linux-gnu/13/cc1plus";
    for (version, verdict) in [("1.0", "compilers safe"), ("2.0", "compilers unsure")] {
        let mut members = debs(&[("g++-13", "13.2", &[(path, Elf::program("cc1plus").build())])]);
        // Not linked: the environment is in another layer or file system.
        members.extend(wheel(SITE, "Some_Service", version, &[("service/a.py", b"pass\n".to_vec())]));
        let archive = "root/.cache/uv/archive-v0/a1b2";
        let content = [("service/b.py", b"subprocess.run(['gcc', 'a.c'])\n".to_vec())];
        members.extend(wheel(archive, "some-service", "1.0", &content));
        all(&judged_files(members), &[(&format!("/{path}"), verdict)]);
    }
}

#[test]
fn a_variable_whose_value_is_a_compiler_is_a_reader() {
    let gcc: &[(&str, Vec<u8>)] = &[
        ("usr/bin/gcc-13", Elf::program("gcc").build()),
        ("usr/lib/gcc/x86_64-linux-gnu/13/cc1", Elf::program("cc1").build()),
    ];
    let of = |value: &str| {
        let members = [service(&[]), debs(&[("gcc-13", "13.2", gcc)])].concat();
        let mut image =
            Image::new(Packing::Gzip).add("RUN install", Layer::new(&tar(members), Packing::Gzip));
        image.config = serde_json::json!({"Cmd": ["/srv/service"], "Env": [format!("TOOLCHAIN={value}")]});
        let place = Place::new();
        place.report(&format!("oci:{}", place.put_layout("image", &Layout::of(&image, "t"))))
    };
    for (value, verdict) in [
        ("gcc", "compilers unsure"),
        ("gcc-13 -O2", "compilers unsure"),
        // The driver alone compiles nothing.
        ("/usr/bin/gcc-13", "compilers unsure"),
        ("/opt/gcc/share", "compilers safe"),
    ] {
        all(&of(value), &[("/usr/lib/gcc/x86_64-linux-gnu/13/cc1", verdict)]);
    }
}

#[test]
fn headers_stay_where_something_unsearched_may_compile() {
    let header = "usr/include/math.h";
    let archive = "usr/lib/x86_64-linux-gnu/libc_nonshared.a";
    let libc: &[(&str, Vec<u8>)] =
        &[(header, b"double sqrt(double);\n".to_vec()), (archive, b"!<arch>\n".to_vec())];
    let gcc: &[(&str, Vec<u8>)] = &[("usr/lib/gcc/x86_64-linux-gnu/13/cc1", Elf::program("cc1").build())];
    let unsearched = || file("srv/a.pyc", "x");
    let paths = [format!("/{header}"), format!("/{archive}")];
    let with = [debs(&[("libc6-dev", "2.36", libc), ("gcc-13", "13.2", gcc)]), vec![unsearched()]].concat();
    let report = judged_files(with);
    all(&report, &[(&paths[0], "headers unsure"), (&paths[1], "static-libraries unsure")]);
    // Nothing reads them without a compiler.
    let report = judged_files([debs(&[("libc6-dev", "2.36", libc)]), vec![unsearched()]].concat());
    all(&report, &[(&paths[0], "headers safe"), (&paths[1], "static-libraries safe")]);
}

#[test]
fn who_compiles_at_run_time_reads_all_headers() {
    let header = "numpy/_core/include/numpy/arrayobject.h";
    let numpy = wheel(SITE, "numpy", "2.3.0", &[(header, b"int x;".to_vec())]);
    let path = format!("/{SITE}/{header}");
    all(&judged_files(numpy.clone()), &[(&path, "python-build-leftovers safe")]);
    let cython = wheel(SITE, "Cython", "3.1", &[("pyximport/a.py", b"pass\n".to_vec())]);
    all(&judged_files([numpy, cython].concat()), &[(&path, "python-build-leftovers unsure")]);
}
