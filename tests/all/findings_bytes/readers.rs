//! Who starts a tool or opens a library without naming it outright.

use serde_json::json;

use super::{all, judged, of, service};
use crate::fixtures::elf::Elf;
use crate::fixtures::image::{Image, Layer};
use crate::fixtures::layout::Layout;
use crate::fixtures::packing::Packing;
use crate::fixtures::service::debs;
use crate::fixtures::tarball::{Member, file, symlink, tar};
use crate::support::{Place, Report};

const GCC: &str = "/usr/lib/gcc/x86_64-linux-gnu/13/cc1plus";
const GIT: &str = "/usr/bin/git";

/// An image with a compiler, binutils and git, and these files; `command` is started.
fn report(files: &[(&str, &str)], command: &[&str], environment: &[&str]) -> Report {
    let program = |name: &str| Elf::program(name).build();
    let gcc: &[(&str, Vec<u8>)] = &[(&GCC[1..], program("cc1plus"))];
    let binutils: &[(&str, Vec<u8>)] = &[("usr/bin/x86_64-linux-gnu-objdump", program("objdump"))];
    let git: &[(&str, Vec<u8>)] = &[(&GIT[1..], program("git"))];
    let composer: &[(&str, Vec<u8>)] = &[("usr/bin/composer", program("composer"))];
    let packages = debs(&[
        ("g++-13", "13.2", gcc),
        ("binutils", "2.4", binutils),
        ("git", "2.39", git),
        ("composer", "2", composer),
    ]);
    let files: Vec<Member> = files.iter().map(|(path, text)| file(*path, *text).mode(0o755)).collect();
    judged(Packing::Gzip, &[[service(&[]), packages, files].concat()], command, environment)
}

#[test]
fn what_only_authors_of_packages_run_reads_nothing() {
    let modules = "srv/node_modules";
    let call = "require('child_process').execSync('gcc -c x.c')\n";
    let verdict = |path: &str, text: &str| of(&report(&[(path, text)], &["/srv/service"], &[]), GCC);
    for path in ["tar/test/index.js", "@scope/tar/docs/help/index.txt"] {
        assert_eq!(verdict(&format!("{modules}/{path}"), call), "compilers safe", "{path}");
    }
    for path in [
        "tar/docs/gen.js",
        "tar/lib/index.js",
        "tar/lib/test/index.js",
        "test/index.js",
        "@scope/test/index.js",
    ] {
        assert_eq!(verdict(&format!("{modules}/{path}"), call), "compilers unsure", "{path}");
    }
    assert_eq!(
        verdict(&format!("{modules}/sqlite/deps/download.sh"), "#!/bin/sh\nmake\ngcc x.c\n"),
        "compilers safe"
    );
    assert_eq!(verdict(&format!("{modules}/sqlite/deps/run.sh"), "#!/bin/sh\ngcc x.c\n"), "compilers unsure");
    assert_eq!(verdict(&format!("{modules}/sqlite/run.sh"), "#!/bin/sh\ngcc x.c\n"), "compilers unsure");
    // Examples are started too, and what another file names.
    assert_eq!(verdict(&format!("{modules}/demo/examples/server.js"), call), "compilers unsure");
    let test = format!("{modules}/demo/test/compile.js");
    let with =
        |path: &str, text: &str| of(&report(&[(&test, call), (path, text)], &["/srv/service"], &[]), GCC);
    let run = format!("{modules}/demo/bin/run.js");
    assert_eq!(with(&run, "require('../test/compile.js')\n"), "compilers unsure");
    assert_eq!(with("srv/main.js", "require('demo/test/compile')\n"), "compilers unsure");
    let other = format!("{modules}/other/bin/run.js");
    assert_eq!(with(&other, "require('../test/compile.js')\n"), "compilers safe");
    // A gem is installed.
    let script = "require 'mkmf'\ncreate_makefile('fast/fast')\n";
    let gem = "var/lib/gems/3.1.0/gems/fast-0.1.0/ext/fast/extconf.rb";
    assert_eq!(verdict(gem, script), "compilers safe");
    assert_eq!(verdict("srv/ext/fast/extconf.rb", script), "compilers unsure");
}

#[test]
fn an_option_of_the_command_is_no_program() {
    let found = report(&[], &["/srv/service", "-config", "/srv/config.yaml"], &["OPTIONS=-config x"]);
    all(&found, &[(GCC, "compilers safe")]);
    let found = report(&[], &["/srv/service", "-c", "python3.12-config --libs"], &[]);
    all(&found, &[(GCC, "compilers needed")]);
}

#[test]
fn a_library_outside_of_the_cache_is_looked_for_with_the_compiler() {
    let call = "from ctypes.util import find_library\nlib = CDLL(find_library(\"simk\"))\n";
    for (path, wanted) in
        [("srv/lib/libsimk.so.1", "compilers unsure"), ("usr/lib/libsimk.so.1", "compilers safe")]
    {
        let gcc: &[(&str, Vec<u8>)] = &[(&GCC[1..], Elf::program("cc1plus").build())];
        let library = file(path, Elf::library("libsimk.so.1").build());
        let own = vec![library, file("srv/main.py", call), file("etc/ld.so.cache", "")];
        let members = [service(&[]), debs(&[("g++-13", "13.2", gcc)]), own].concat();
        let found = judged(
            Packing::Gzip,
            std::slice::from_ref(&members),
            &["/srv/service"],
            &["LD_LIBRARY_PATH=/srv/lib"],
        );
        assert_eq!(of(&found, GCC), wanted, "{path}");
        // Nobody looks there.
        let found = judged(Packing::Gzip, &[members], &["/srv/service"], &[]);
        assert_eq!(of(&found, GCC), "compilers safe", "{path}");
    }
}

#[test]
fn find_library_follows_links_and_variables_that_programs_set() {
    let scene = |main: &str, more: Vec<Member>, environment: &[&str]| {
        let gcc: &[(&str, Vec<u8>)] = &[(&GCC[1..], Elf::program("cc1plus").build())];
        let own = vec![
            file("opt/foo/libfoo-2.1.so", Elf::library("libfoo-2.1.so").build()),
            file("srv/main.py", main),
        ];
        let members = [service(&[]), debs(&[("g++-13", "13.2", gcc)]), own, more].concat();
        of(&judged(Packing::Gzip, &[members], &["/srv/service"], environment), GCC)
    };
    let call = "from ctypes.util import find_library\nlib = CDLL(find_library(\"foo\"))\n";
    assert_eq!(scene(call, Vec::new(), &[]), "compilers safe");
    let link = || vec![symlink("usr/local/lib/libfoo.so", "/opt/foo/libfoo-2.1.so")];
    assert_eq!(scene(call, link(), &[]), "compilers unsure");
    let libfoo = || vec![file("opt/bar/libfoo.so.1", Elf::library("libfoo.so.1").build())];
    assert_eq!(scene(call, libfoo(), &[]), "compilers safe");
    assert_eq!(scene(call, libfoo(), &["LIBRARY_PATH=/opt/bar"]), "compilers unsure");
    let set = format!("import os\nos.environ[\"LD_LIBRARY_PATH\"] = \"/opt/bar\"\n{call}");
    assert_eq!(scene(&set, libfoo(), &[]), "compilers unsure");
}

#[test]
fn a_tool_under_another_name_is_a_question() {
    let objdump = "/usr/bin/x86_64-linux-gnu-objdump";
    let scene = |links: Vec<Member>| {
        let binutils: &[(&str, Vec<u8>)] = &[(&objdump[1..], Elf::program("objdump").build())];
        let members = [service(&[]), debs(&[("binutils", "2.4", binutils)]), links].concat();
        of(&judged(Packing::Gzip, &[members], &["/srv/service"], &[]), objdump)
    };
    assert_eq!(scene(Vec::new()), "compilers safe");
    for links in [
        vec![symlink("usr/local/bin/disassemble", objdump)],
        vec![
            symlink("usr/local/bin/disassemble", "/etc/alternatives/disassemble"),
            symlink("etc/alternatives/disassemble", objdump),
        ],
    ] {
        assert_eq!(scene(links), "compilers unsure");
    }
    // Files are searched for this name.
    // Relative, out of a tree of its own, and within one.
    let away = "../../usr/bin/x86_64-linux-gnu-objdump";
    assert_eq!(scene(vec![symlink("opt/kit/disassemble", away)]), "compilers unsure");
    let from_top = "usr/bin/x86_64-linux-gnu-objdump";
    assert_eq!(scene(vec![symlink("disassemble", from_top)]), "compilers unsure");
    let inside =
        vec![file("opt/kit/objdump", "#!/bin/sh\n"), symlink("opt/kit/bin2/disassemble", "../objdump")];
    assert_eq!(scene(inside), "compilers safe");
    assert_eq!(scene(vec![symlink("usr/local/bin/objdump", objdump)]), "compilers safe");
    let header = "/usr/include/sys/types.h";
    let scene = |links: Vec<Member>| {
        let headers: &[(&str, Vec<u8>)] = &[(&header[1..], b"typedef int t;\n".repeat(300))];
        let members = [service(&[]), debs(&[("libc6-dev", "2.36", headers)]), links].concat();
        of(&judged(Packing::Gzip, &[members], &["/srv/service"], &[]), header)
    };
    assert_eq!(scene(Vec::new()), "headers safe");
    assert_eq!(scene(vec![symlink("opt/sdk/include", "/usr/include")]), "headers unsure");
}

#[test]
fn a_health_check_starts_programs() {
    let git: &[(&str, Vec<u8>)] = &[(&GIT[1..], Elf::program("git").build())];
    let members = [service(&[]), debs(&[("git", "2.39", git)])].concat();
    let verdict = |test: &[&str]| {
        let mut image = Image::new(Packing::Gzip)
            .add("RUN x # buildkit", Layer::new(&tar(members.clone()), Packing::Gzip));
        image.config = json!({"Cmd": ["/srv/service"], "Healthcheck": {"Test": test}});
        let place = Place::new();
        of(&place.report(&format!("oci:{}", place.put_layout("image", &Layout::of(&image, "t")))), GIT)
    };
    assert_eq!(verdict(&["CMD-SHELL", "git -C /srv status || exit 1"]), "build-tools needed");
    assert_eq!(verdict(&["CMD", "/usr/bin/git", "status"]), "build-tools needed");
    assert_eq!(verdict(&["NONE"]), "build-tools safe");
    assert_eq!(verdict(&["CMD", "/srv/service", "check"]), "build-tools safe");
}

#[test]
fn who_installs_from_repositories_runs_git() {
    for (files, command) in [
        (
            &[("srv/start.sh", "#!/bin/sh\ncomposer install --no-dev\nexec php -S 0.0.0.0:80\n")][..],
            "/srv/start.sh",
        ),
        (&[], "/usr/bin/composer"),
    ] {
        let found = report(files, &[command], &[]);
        assert_eq!(of(&found, GIT), "build-tools unsure", "{command}");
    }
    assert_eq!(of(&report(&[], &["/srv/service"], &[]), GIT), "build-tools safe");
}

#[test]
fn a_variable_of_pkg_config_reads_nothing() {
    let set = ["PKG_CONFIG_PATH=/usr/local/lib/pkgconfig"];
    let metadata = "/usr/lib/x86_64-linux-gnu/pkgconfig/libcurl.pc";
    let files = [
        (&metadata[1..], "Name: libcurl\n"),
        ("srv/start.sh", "#!/bin/sh\nexport PKG_CONFIG_PATH=/usr/local/lib/pkgconfig\nexec /srv/service\n"),
    ];
    assert_eq!(of(&report(&files, &["/srv/start.sh"], &set), metadata), "build-metadata safe");
    let reads = [files[0], ("srv/main.py", "open('/usr/lib/x86_64-linux-gnu/pkgconfig/libcurl.pc')\n")];
    assert_eq!(of(&report(&reads, &["/srv/service"], &[]), metadata), "build-metadata unsure");
}

#[test]
fn launchers_of_uv_and_go_keep_their_caches() {
    let uv = "/root/.cache/uv/wheels-v5/pypi/flask/flask-3.msgpack";
    let go = "/root/go/pkg/mod/cache/download/example.org/x/@v/list";
    let caches = [(&uv[1..], "x"), (&go[1..], "v1\n"), ("root/go/pkg/mod/example.org/x/x.go", "package x\n")];
    for (path, text, environment, [of_uv, of_go]) in [
        ("srv/supervisord.conf", "[program:x]\ncommand=uv run serve.py\n", "A=b", ["unsure", "safe"]),
        ("srv/supervisord.conf", "[program:x]\ncommand=go run ./cmd\n", "A=b", ["safe", "unsure"]),
        ("srv/Procfile", "web: uv run serve.py\n", "A=b", ["unsure", "safe"]),
        ("srv/uwsgi.ini", "[uwsgi]\nattach-daemon = uv run serve.py\n", "A=b", ["unsure", "safe"]),
        ("srv/.env", "RUN_COMMAND=uv run serve.py\n", "A=b", ["unsure", "safe"]),
        (
            "srv/start.sh",
            "#!/bin/sh\nUV=${UV:-/usr/local/bin/uv}\nexec \"$UV\" run x\n",
            "A=b",
            ["unsure", "safe"],
        ),
        ("srv/start.sh", "#!/bin/sh\n: \"${RUN:=uv run}\"\nexec $RUN x\n", "A=b", ["unsure", "safe"]),
        ("srv/main.py", "subprocess.call([sys.executable, '-m', 'uv', 'run'])\n", "A=b", ["unsure", "safe"]),
        ("srv/main.py", "print('x')\n", "START=uv run serve.py", ["unsure", "safe"]),
        ("srv/main.py", "print('-m', 'x')\n", "UV=/usr/local/bin/uv", ["safe", "safe"]),
    ] {
        let files = [&caches[..], &[(path, text)]].concat();
        let found = report(&files, &["/srv/service"], &[environment]);
        let verdicts = [of(&found, uv), of(&found, go)];
        assert_eq!(
            verdicts,
            [of_uv, of_go].map(|verdict| format!("package-caches {verdict}")),
            "{text} {environment}"
        );
    }
}

#[test]
fn a_short_name_opens_a_library() {
    let gomp = "/usr/lib/x86_64-linux-gnu/libgomp.so.1";
    let program = |text: &str| {
        let libgomp: &[(&str, Vec<u8>)] = &[(&gomp[1..], Elf::library("libgomp.so.1").build())];
        let members =
            [service(&[]), debs(&[("libgomp1", "12", libgomp)]), vec![file("srv/main.py", text)]].concat();
        judged(Packing::Gzip, &[members], &["/srv/service"], &[]).json.to_string()
    };
    let named = |text: &str| program(text).contains("libgomp.so");
    assert!(named("from cffi import FFI\nffi = FFI()\nlib = ffi.dlopen(\"gomp\")\n"));
}

#[test]
fn sources_that_only_a_build_reads_are_no_readers() {
    let go = ("go/src/app/vendor/kerberos/unix.go", "package k\nvar cache = exec.Command(\"gcc\", \"-v\")\n");
    let crate_of = [
        ("app/vendor/sqlite3-sys/.cargo-checksum.json", "{\"files\":{}}"),
        ("app/vendor/sqlite3-sys/upgrade.sh", "#!/bin/sh\ngcc -c sqlite3.c\n"),
    ];
    let record = [("app/target/release/.fingerprint/app-1/lib-app.json", "{\"compiler\": \"gcc -v\"}")];
    let yarn = [("root/.yarn/berry/metadata/npm/x.json", "{\"scripts\": {\"test\": \"gcc -v\"}}")];
    for files in [&[go][..], &crate_of, &record, &yarn] {
        assert_eq!(of(&report(files, &["/srv/service"], &[]), GCC), "compilers safe", "{files:?}");
    }
    // Who compiles them again reads them.
    let start = ("srv/start.sh", "#!/bin/sh\nexec go run ./app\n");
    assert_eq!(of(&report(&[go, start], &["/srv/start.sh"], &[]), GCC), "compilers unsure");
    let own = ("srv/build.sh", "#!/bin/sh\ngcc -c x.c\n");
    assert_eq!(of(&report(&[own], &["/srv/service"], &[]), GCC), "compilers unsure");
}

#[test]
fn paths_without_quotes_are_read_too() {
    let header = "/usr/include/linux/input-event-codes.h";
    let library = "/usr/lib/x86_64-linux-gnu/libz.a";
    let scene = |path: &str, text: &str| {
        let gcc: &[(&str, Vec<u8>)] = &[(&GCC[1..], Elf::program("cc1plus").build())];
        let headers: &[(&str, Vec<u8>)] = &[(&header[1..], b"#define KEY_A 30\n".to_vec())];
        let libraries: &[(&str, Vec<u8>)] = &[(&library[1..], b"!<arch>\n".to_vec())];
        let packages = debs(&[
            ("g++-13", "13.2", gcc),
            ("linux-libc-dev", "6.1", headers),
            ("zlib1g-dev", "1.2", libraries),
        ]);
        let own = vec![file(path, text).mode(0o755)];
        let found = judged(Packing::Gzip, &[[service(&[]), packages, own].concat()], &["/srv/service"], &[]);
        [header, library].map(|path| of(&found, path))
    };
    for (path, text) in [
        ("srv/config.yaml", format!("keymap: {header}\n")),
        ("srv/config.yaml", format!("files:\n  - {header}\n")),
        ("srv/app.conf", format!("codes={header}\n")),
        ("srv/start.sh", format!("#!/bin/sh\nawk '/KEY/' {header}\n")),
        ("srv/main.py", "import os\nos.system(\"ls /usr/include\")\n".to_owned()),
        ("srv/main.py", "x = \"/opt/include:/usr/include\"\n".to_owned()),
        ("srv/main.py", format!("if args.o:\n    open(\"{header}\")\n")),
    ] {
        assert_eq!(scene(path, &text)[0], "headers unsure", "{text}");
    }
    for (path, text) in [
        ("srv/main.py", format!("data = open(\"{library}\", 'rb').read()\n")),
        ("srv/config.yaml", format!("archive: {library}\n")),
        ("srv/start.sh", format!("#!/bin/sh\nsymtool main.o {library}\n")),
        ("srv/start.sh", format!("#!/bin/sh\nx=$(sum <{library})\n")),
        ("srv/main.py", format!("if args.o:\n    open(\"{library}\")\n")),
    ] {
        assert_eq!(scene(path, &text)[1], "static-libraries unsure", "{text}");
    }
    for (path, text) in [
        ("srv/main.c.dep", format!("main.o: main.c \\\n {header}\n")),
        ("srv/link.txt", format!("/usr/bin/x main.o {library}\n")),
        ("srv/main.py", "x = '/usr/lib/python3'\nselector = '.a'\n".to_owned()),
        ("srv/main.h", format!("#include <{header}>\n")),
    ] {
        assert_eq!(scene(path, &text), ["headers safe", "static-libraries safe"], "{text}");
    }
}

#[test]
fn a_target_of_make_is_a_value_of_any_key() {
    let make: &[(&str, Vec<u8>)] = &[("usr/bin/make", Elf::program("make").build())];
    let scene = |path: &str, text: &str| {
        let members = [service(&[]), debs(&[("make", "4.3", make)]), vec![file(path, text)]].concat();
        of(&judged(Packing::Gzip, &[members], &["/srv/service"], &[]), "/usr/bin/make")
    };
    for (path, text) in [
        ("srv/Procfile", "web: gunicorn app\nreport: make report\n"),
        ("srv/tasks.yaml", "nightly:\n  report: make report-all\n"),
        ("srv/jobs.ini", "[jobs]\nnightly = make report\n"),
        ("srv/Procfile", "web-api: make serve\n"),
        ("srv/procs.yml", "procs:\n  api: make report && ./x\n"),
        ("srv/procs.yml", "api: make report > /dev/null\n"),
        ("srv/procs.yml", "api: make report PORT=80 # remark\n"),
        ("srv/procs.yml.in", "api: make report\n"),
    ] {
        assert_eq!(scene(path, text), "build-tools unsure", "{text}");
    }
    for (path, text) in
        [("srv/tasks.yaml", "title: make it so\n"), ("srv/tasks.yaml", "title: make Reports\n")]
    {
        assert_eq!(scene(path, text), "build-tools safe", "{text}");
    }
}

#[test]
fn texts_with_any_suffix_are_searched() {
    let make: &[(&str, Vec<u8>)] = &[("usr/bin/make", Elf::program("make").build())];
    let scene = |path: &str, text: &str, command: &str, variables: &[&str]| {
        let own = vec![file(path, text).mode(0o755)];
        let members = [service(&[]), debs(&[("make", "4.3", make)]), own].concat();
        of(&judged(Packing::Gzip, &[members], &[command], variables), "/usr/bin/make")
    };
    let plain = |path: &str, text: &str| scene(path, text, "/srv/service", &[]);
    for path in ["srv/.env.production", "srv/app.cnf", "srv/jobs.yml.dist", "srv/site.wsgi", "srv/app.psgi"] {
        assert_eq!(plain(path, "REPORT = \"make -C report\"\n"), "build-tools unsure", "{path}");
    }
    for path in ["srv/index.html", "srv/README.md", "srv/main.c", "srv/app.1", "srv/main.o.dep"] {
        assert_eq!(plain(path, "REPORT = \"make -C report\"\n"), "build-tools safe", "{path}");
    }
    // What a zip archive has is compressed.
    let archive = "#!/usr/bin/env python3\nPK\x03\x04\0\0";
    assert_eq!(plain("srv/app", archive), "build-tools unsure");
    assert_eq!(plain("srv/app", "#!/usr/bin/env python3\nprint('PK')\n"), "build-tools safe");
    // Python runs one that is not executable, too.
    let started = || {
        let own = vec![file("srv/tool", archive)];
        let members = [service(&[]), debs(&[("make", "4.3", make)]), own].concat();
        of(&judged(Packing::Gzip, &[members], &["python3", "/srv/tool"], &[]), "/usr/bin/make")
    };
    assert_eq!(started(), "build-tools unsure");
    // Another program reads it as data.
    let data = "python3 /srv/serve.py --data /srv/app.zip";
    assert_eq!(scene("srv/app.zip", "PK", data, &[]), "build-tools safe");
    assert_eq!(scene("srv/app.zip", "PK", "python3 /srv/app.zip", &[]), "build-tools unsure");
    assert_eq!(
        scene("srv/app.zip", "PK", "/srv/service", &["PYTHONPATH=/srv:/srv/app.zip"]),
        "build-tools unsure"
    );
    assert_eq!(scene("srv/app.zip", "PK", "/srv/service", &[]), "build-tools safe");
}

#[test]
fn a_folder_in_a_variable_is_no_program() {
    let scene = |value: &str| {
        let gcc: &[(&str, Vec<u8>)] = &[(&GCC[1..], Elf::program("cc1plus").build())];
        let own = vec![file("go/src/main.txt", "x\n")];
        let members = [service(&[]), debs(&[("g++-13", "13.2", gcc)]), own].concat();
        of(&judged(Packing::Gzip, &[members], &["/srv/service"], &[value]), GCC)
    };
    assert_eq!(scene("GOPATH=/go"), "compilers safe");
    assert_eq!(scene("RUNNER=go"), "compilers unsure");
}
