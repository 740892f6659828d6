//! What files of the application and the image's settings name: a question, or a need.

use cutaway::findings::is_searched_for;

use super::scene::{
    INCLUDE, Judged, LIB, PYTHON, compilers, image, in_toolkit, library, program, script, system, toolkit,
};
use crate::fixtures::elf::Elf;
use crate::fixtures::packages::dpkg_status;
use crate::fixtures::tarball::{Member, file};

fn judged(app: Vec<Member>, command: &[&str], environment: &[&str]) -> Judged {
    Judged::of(&image(&[[system(), compilers(), toolkit()].concat(), app], command, environment))
}

const SERVE: [&str; 2] = [PYTHON, "/srv/app/serve.py"];

#[test]
fn a_script_that_calls_nvcc_makes_a_question_that_names_it() {
    for body in [
        "#!/bin/sh\nnvcc -O2 kernel.cu -o kernel\n",
        "import subprocess\nsubprocess.run(['nvcc', '-O2', 'kernel.cu'])\n",
    ] {
        let name = if body.starts_with("#!") { "build.sh" } else { "build.py" };
        let path = format!("srv/app/{name}");
        let app = vec![script("srv/app/serve.py", "pass\n"), script(&path, body).mode(0o755)];
        let judged = judged(app, &SERVE, &[]);
        judged.all(
            "unsure",
            &[&in_toolkit("bin/nvcc"), &in_toolkit("nvvm/bin/cicc"), &in_toolkit("bin/ptxas")],
        );
        judged.never_safe(&[&format!("/{INCLUDE}/cuda_runtime.h"), &format!("/{LIB}/libcudart_static.a")]);
        // nvcc runs the compiler of the system, which reads its headers.
        judged.all("unsure", &["/usr/bin/x86_64-linux-gnu-gcc-13", "/usr/include/stdio.h"]);
        let nvcc = judged.find(&in_toolkit("bin/nvcc")).unwrap();
        let question = nvcc["question"].as_str().unwrap_or_default();
        assert!(question.contains(&format!("/{path}")), "{nvcc:#}");
    }
}

#[test]
fn an_extension_that_is_built_at_run_time_makes_a_question() {
    let body = "from torch.utils.cpp_extension import load\nops = load('ops', ['ops.cu'])\n";
    let judged = judged(vec![script("srv/app/serve.py", body)], &SERVE, &[]);
    judged.all("unsure", &[&in_toolkit("bin/nvcc"), "/usr/bin/x86_64-linux-gnu-gcc-13"]);
    judged.never_safe(&[&format!("/{INCLUDE}/cuda_runtime.h"), "/usr/include/stdio.h"]);
    let nvcc = judged.find(&in_toolkit("bin/nvcc")).unwrap();
    assert!(nvcc["question"].as_str().unwrap_or_default().contains("/srv/app/serve.py"), "{nvcc:#}");
}

#[test]
fn what_a_compiler_reads_is_judged_as_the_compiler() {
    // The C library's headers are of a package that gcc only recommends.
    let status = |name: &str, files: &str, more: &[(&str, &str)]| {
        [
            file(format!("var/lib/dpkg/status.d/{name}"), dpkg_status(name, "1.0", 100, more)),
            file(format!("var/lib/dpkg/status.d/{name}.md5sums"), files),
        ]
    };
    let line = |path: &str| format!("{:032}  {path}\n", 0);
    let inline: String =
        ["usr/share/perl5/Inline.pm", "usr/share/perl5/Inline/C.pm", "usr/share/perl5/Inline/Lex.pm"]
            .map(line)
            .concat();
    let packages = |name: &str| {
        [
            status(name, &inline, &[("Depends", "gcc-13")]),
            status("libc6-dev", &line("usr/include/stdio.h"), &[]),
            status("make", &line("usr/bin/make"), &[]),
        ]
    };
    let more = [
        file("usr/share/perl5/Inline.pm", "1;\n"),
        file("usr/share/perl5/Inline/C.pm", "1;\n"),
        file("usr/share/perl5/Inline/Lex.pm", "1;\n"),
        program("usr/bin/make", &[]),
    ];
    // Inline::C does nothing else than compile.
    for (name, verdict) in [("libinline-c-perl", "needed"), ("libsome-perl", "unsure")] {
        let members = [system(), compilers(), packages(name).concat(), more.to_vec()].concat();
        let app = vec![script("srv/app/serve.py", "pass\n")];
        let judged = Judged::of(&image(&[members, app], &SERVE, &[]));
        let files = ["/usr/bin/x86_64-linux-gnu-gcc-13", "/usr/include/stdio.h", "/usr/bin/make"];
        judged.all(verdict, &files);
    }
}

#[test]
fn an_application_that_uses_cffi_makes_a_question() {
    let body = "from cffi import FFI\nffi = FFI()\nlib = ffi.verify('int one(void) { return 1; }')\n";
    let judged = judged(vec![script("srv/app/serve.py", body)], &SERVE, &[]);
    judged.all("unsure", &["/usr/bin/x86_64-linux-gnu-gcc-13", "/usr/include/stdio.h"]);
    judged.all("safe", &[&in_toolkit("bin/nvcc")]);
}

#[test]
fn it_is_known_for_which_names_files_are_searched() {
    for name in ["gcc", "gcc-12", "x86_64-linux-gnu-strip", "libfoo.so.1", "nvcc"] {
        assert!(is_searched_for(name.as_bytes()), "{name}");
    }
    for name in ["xz", "perl", "data.bin", "sole", ""] {
        assert!(!is_searched_for(name.as_bytes()), "{name}");
    }
}

#[test]
fn a_word_that_only_looks_like_a_tool_makes_no_question() {
    let body = "# we do not need nvcc any more\ndef precompile():\n    magic, remake, digits = 1, 2, 3\n";
    let judged = judged(vec![script("srv/app/serve.py", body)], &SERVE, &[]);
    judged.all("safe", &[&in_toolkit("bin/nvcc")]);
}

#[test]
fn a_profiler_in_the_command_is_needed() {
    for command in [
        &["nsys", "profile", PYTHON, "/srv/app/serve.py"][..],
        &["/bin/sh", "-c", "exec nsys profile /opt/venv/bin/python3.12 /srv/app/serve.py"],
    ] {
        let judged = judged(vec![script("srv/app/serve.py", "pass\n")], command, &[]);
        judged.all("needed", &[&in_toolkit("bin/nsys")]);
        judged.all("safe", &[&in_toolkit("bin/cuda-gdb")]);
    }
}

#[test]
fn a_checker_in_the_command_is_needed() {
    let command = ["compute-sanitizer", PYTHON, "/srv/app/serve.py"];
    let judged = judged(vec![script("srv/app/serve.py", "pass\n")], &command, &[]);
    judged.all("needed", &[&in_toolkit("compute-sanitizer/compute-sanitizer")]);
}

#[test]
fn flags_of_xla_that_name_the_toolkit_make_its_parts_needed() {
    let environment = ["XLA_FLAGS=--xla_gpu_cuda_data_dir=/usr/local/cuda"];
    let judged = judged(vec![script("srv/app/serve.py", "pass\n")], &SERVE, &environment);
    judged.all("needed", &[&in_toolkit("bin/ptxas"), &in_toolkit("nvvm/libdevice/libdevice.10.bc")]);
}

#[test]
fn a_path_for_triton_makes_ptxas_needed() {
    let environment = ["TRITON_PTXAS_PATH=/usr/local/cuda/bin/ptxas"];
    let judged = judged(vec![script("srv/app/serve.py", "pass\n")], &SERVE, &environment);
    judged.all("needed", &[&in_toolkit("bin/ptxas")]);
}

#[test]
fn the_search_path_of_linkers_is_no_sign_of_use() {
    let environment = ["LIBRARY_PATH=/usr/local/cuda/lib64/stubs", "CUDA_HOME=/usr/local/cuda"];
    let judged = judged(vec![script("srv/app/serve.py", "pass\n")], &SERVE, &environment);
    judged.all("safe", &[&format!("/{LIB}/stubs/libcuda.so"), &in_toolkit("bin/nvcc")]);
}

#[test]
fn a_kernel_in_a_script_makes_headers_a_question() {
    let body = "import cuda\nsource = '#include <cuda_fp16.h>'\n";
    let judged = judged(vec![script("srv/app/serve.py", body)], &SERVE, &[]);
    judged.all("unsure", &[&format!("/{INCLUDE}/cuda_fp16.h")]);
}

const READELF: &str = "/usr/bin/x86_64-linux-gnu-readelf";
const M4: &str = "/usr/bin/m4";
const GIT: &str = "/usr/bin/git";
const HELPER: &str = "/usr/bin/dh_build";
const BFD: &str = "/usr/lib/x86_64-linux-gnu/libbfd.so";

/// Tools of builds, each in its package.
fn tools() -> Vec<Member> {
    let packages =
        [("binutils", READELF), ("m4", M4), ("git", GIT), ("debhelper", HELPER), ("libbinutils", BFD)];
    let each = packages.iter().flat_map(|(name, path)| {
        [
            file(format!("var/lib/dpkg/status.d/{name}"), dpkg_status(name, "1.0", 100, &[])),
            file(format!("var/lib/dpkg/status.d/{name}.md5sums"), format!("{:032}  {}\n", 0, &path[1..])),
            match *path {
                BFD => library(&BFD[1..], "libbfd.so", &[]),
                HELPER => program(&HELPER[1..], &["libbfd.so"]),
                path => program(&path[1..], &[]),
            },
        ]
    });
    each.collect()
}

fn with_tools(app: Vec<Member>) -> Judged {
    Judged::of(&image(&[[system(), compilers(), tools()].concat(), app], &["/srv/app/server"], &[]))
}

/// A program of the application with these strings.
fn server(strings: &[u8]) -> Vec<Member> {
    let server = Elf::program("server").with_section(".rodata", strings.to_vec());
    vec![file("srv/app/server", server.build()).mode(0o755)]
}

#[test]
fn tools_of_all_names_are_heard_in_texts_and_programs() {
    let judged = with_tools(server(b"\0nothing\0"));
    judged.all("safe", &[READELF, M4, GIT, "/usr/bin/x86_64-linux-gnu-gcc-13"]);
    for (tool, text) in [
        (READELF, "#!/bin/sh\nreadelf -d \"$1\"\n"),
        (M4, "#!/bin/sh\nm4 tpl.m4 > conf\n"),
        (M4, "#!/bin/sh\nbison x.y\n"),
        (READELF, "import subprocess\nsubprocess.run(['nm', '-D', path])\n"),
        (READELF, "#!/bin/sh\ngfortran x.f90\n"),
    ] {
        let name = if text.starts_with("#!") { "srv/app/run" } else { "srv/app/run.py" };
        let judged = with_tools([server(b"\0\0"), vec![script(name, text).mode(0o755)]].concat());
        judged.all("unsure", &[tool]);
        judged.all("safe", &[if tool == M4 { READELF } else { M4 }, GIT]);
        let found = judged.find(tool).unwrap();
        assert!(found["question"].as_str().unwrap_or_default().contains(name), "{found:#}");
    }
    let judged = with_tools(server(b"\0readelf -d %s\0"));
    judged.all("unsure", &[READELF, "/usr/bin/x86_64-linux-gnu-gcc-13"]);
    judged.all("safe", &[M4, GIT]);
}

#[test]
fn the_file_of_the_service_is_named_before_tests_and_declarations_never() {
    let command = "const r = execSync('readelf -d ' + path);\n";
    let declarations = script("srv/app/dist/a.d.ts", "export declare const tool: 'm4' | \"bison x.y\";\n");
    let judged = with_tools(
        [
            server(b"\0\0"),
            vec![
                script("srv/app/__tests__/a.js", command),
                script("srv/app/node_modules/a/index.js", command),
                script("srv/app/serve.js", command),
                declarations,
            ],
        ]
        .concat(),
    );
    judged.all("safe", &[M4]);
    judged.all("unsure", &[READELF]);
    let found = judged.find(READELF).unwrap();
    assert!(found["question"].as_str().unwrap().contains("/srv/app/serve.js"), "{found:#}");
}

#[test]
fn a_tool_whose_name_is_not_looked_for_is_a_question_without_the_statement() {
    let judged = with_tools(server(b"\0nothing\0"));
    // And the library that it needs.
    judged.all("unsure", &[HELPER, BFD]);
    let found = judged.find(HELPER).unwrap();
    assert!(!found["proof"].to_string().contains("names them"), "{found:#}");
    assert!(found["question"].as_str().unwrap_or_default().contains(HELPER), "{found:#}");
}

#[test]
fn programs_whose_strings_have_no_bounds_make_tools_a_question_when_they_start_programs() {
    const GO: &[u8] = b"\xff Go buildinf:\x08\x02go1.22\0";
    const RUST: &[u8] = b"/rustc/90b35a623/library/core/src/str.rs";
    let clone = b"secretgitclonefetch\0".to_vec();
    for (strings, verdict) in [
        ([GO, &clone].concat(), "safe"),
        ([GO, &clone, b"os/exec.(*Cmd).Start\0"].concat(), "unsure"),
        ([RUST, &clone, b"\0posix_spawnp\0"].concat(), "unsure"),
        // A name may be in instructions of C.
        ([&b"\0execvp\0"[..], &clone].concat(), "unsure"),
    ] {
        let judged = with_tools(server(&strings));
        judged.all(verdict, &[GIT, M4, READELF]);
        if verdict == "unsure" {
            let found = judged.find(READELF).unwrap();
            assert!(found["question"].as_str().unwrap().starts_with("Does /srv/app/server "), "{found:#}");
            assert!(found["proof"].to_string().contains("/srv/app/server"), "{found:#}");
        }
    }
}

/// uv as its image has it: a program of Rust without bounds between its strings, and one that starts it.
fn uv() -> Vec<Member> {
    let strings =
        b"/rustc/90b35a623/library/core/src/str.rs\0posix_spawnp\0crates/uv/src/child.rs\0readelf\0";
    let uv = Elf::program("uv").with_section(".rodata", strings.to_vec());
    let uvx = b"/rustc/90b35a623/library/core/src/str.rs\0execvp\0as\0";
    let uvx = Elf::program("uvx").with_section(".rodata", uvx.to_vec());
    vec![file("bin/uv", uv.build()).mode(0o755), file("bin/uvx", uvx.build()).mode(0o755)]
}

#[test]
fn a_package_manager_asks_for_compilers_only_where_something_starts_it() {
    let with = |command: &[&str], app: Vec<Member>| {
        let app = [server(b"\0nothing\0"), uv(), app].concat();
        Judged::of(&image(&[[system(), compilers(), tools()].concat(), app], command, &[]))
    };
    let server = ["/srv/app/server"];
    with(&server, vec![]).all("safe", &[READELF, M4, GIT]);
    with(&["uv", "run", "/srv/app/server"], vec![]).all("unsure", &[READELF, M4]);
    with(&["/bin/sh", "-c", "uv sync && exec server"], vec![]).all("unsure", &[READELF]);
    for text in ["#!/bin/sh\nuv sync --frozen\nexec server\n", "#!/bin/sh\nexec uvx ruff check\n"] {
        with(&server, vec![script("srv/app/start", text).mode(0o755)]).all("unsure", &[READELF, M4]);
    }
    let text = "import subprocess\nsubprocess.run(['uv', 'pip', 'install', 'x'])\n";
    with(&server, vec![script("srv/app/start.py", text)]).all("unsure", &[READELF, M4]);
    with(&server, vec![script("srv/app/read.py", "import uv_filter\nuv = 1\nprint('uv')\n")])
        .all("safe", &[M4]);
    // A program of this name that is another one.
    let other = Elf::program("uv").with_section(".rodata", b"\0execvp\0readelf -d\0".to_vec());
    let judged = with_tools(vec![file("bin/uv", other.build()).mode(0o755)]);
    judged.all("unsure", &[READELF]);
}

#[test]
fn files_about_the_build_of_the_image_name_no_user_of_its_tools() {
    let text = "FROM debian\nRUN apt-get install -y gcc m4\nRUN m4 a && gcc -o x x.c\n";
    let steps = "jobs:\n  build:\n    steps:\n      - run: gcc -o x x.c\n      - run: m4 a\n";
    let app = vec![file("srv/app/Dockerfile", text), file("srv/app/.github/workflows/ci.yml", steps)];
    with_tools([server(b"\0nothing\0"), app].concat()).all("safe", &[M4, "/usr/bin/x86_64-linux-gnu-gcc-13"]);
    let app = vec![file("srv/app/tasks.yml", steps)];
    with_tools([server(b"\0nothing\0"), app].concat()).all("unsure", &["/usr/bin/x86_64-linux-gnu-gcc-13"]);
}

#[test]
fn a_library_that_starts_programs_is_not_searched_for_all_tools() {
    let library = |strings: &[u8]| {
        let library = Elf::library("libplugin.so").with_section(".rodata", strings.to_vec());
        [server(b"\0\0"), vec![file("srv/app/libplugin.so", library.build())]].concat()
    };
    let judged = with_tools(library(b"\0popen\0"));
    judged.all("unsure", &[M4, READELF]);
    judged.all("safe", &[GIT]);
    with_tools(library(b"\0open\0")).all("safe", &[M4, READELF, GIT]);
}
