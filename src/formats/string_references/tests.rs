use super::bounds::{CALLS, SHARED};
use super::keys::{BINARY, Finder, LONGEST, PROGRAM, TEXT};
use super::words::{STARTS, TREE_SCRIPTS, WORDS};
use super::*;

fn found(sort: Sort, bytes: &[u8], piece: usize) -> StringReferences {
    let mut scanner = Scanner::new(sort, bytes.len() as u64).unwrap();
    bytes.chunks(piece.max(1)).for_each(|bytes| scanner.push(bytes));
    scanner.finish()
}

fn words(sort: Sort, bytes: impl AsRef<[u8]>) -> Vec<&'static str> {
    let bytes = bytes.as_ref();
    found(sort, bytes, bytes.len()).words
}

fn script(text: &str) -> Vec<&'static str> {
    words(Sort::Script, text)
}

fn libraries(sort: Sort, bytes: impl AsRef<[u8]>) -> Vec<String> {
    let bytes = bytes.as_ref();
    let names = found(sort, bytes, bytes.len()).libraries;
    names.into_iter().map(|name| String::from_utf8(name).unwrap()).collect()
}

/// Bytes that any file of a compiler may have, without a word.
fn noise(count: usize) -> Vec<u8> {
    let mut state = 1_u32;
    std::iter::repeat_with(|| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state.to_be_bytes()[0]
    })
    .take(count)
    .collect()
}

/// How a program would start what a word stands for.
fn named(word: &str) -> String {
    match word {
        "-config" => "python3.12-config".to_owned(),
        "dpkg-" => "dpkg-buildpackage".to_owned(),
        word => word.to_owned(),
    }
}

#[test]
fn every_word_has_a_key_and_every_key_stands_in_its_words() {
    const MODULES: [&str; 7] = ["cffi", "cppimport", "f2py", "pymc", "pytensor", "pyximport", "tinygrad"];
    const OF_TEXTS: [&str; 11] = [
        "CC",
        "LDSHARED",
        "build_ext",
        "cpanm",
        "install",
        "node-gyp",
        "npm",
        "rebuild",
        "setup.py",
        "share/doc",
        "share/man",
    ];
    let finders: Vec<&Finder> = TEXT.iter().chain(PROGRAM.iter()).chain([&*BINARY]).collect();
    for finder in &finders {
        assert!(finder.keys.len() <= 64);
        for key in &finder.keys {
            assert!((3..=LONGEST).contains(&key.text.len()), "{}", key.text);
            let is_of_library = key.text == SHARED || CALLS.contains(&key.text);
            assert!(is_of_library || key.is_habit == key.words.is_empty(), "{}", key.text);
        }
    }
    for word in STARTS {
        assert_eq!(script(&format!("x.{word}p([a])\n")), [word]);
    }
    for name in MODULES {
        for text in
            [format!("import {name}\n"), format!("from {name} import x\n"), format!("x = {name}.X()\n")]
        {
            assert_eq!(script(&text), [name], "{text}");
        }
    }
    for (text, word) in [
        ("numpy.f2py.compile(source)\n", "f2py"),
        ("command = distribution.get_command_obj(\"build_ext\")\n", "build_ext"),
        ("shlex.split(sysconfig.get_config_var(\"LDSHARED\"))\n", "LDSHARED"),
        ("#!/bin/sh\nfor p in /plugins/*; do pip install -q \"$p\"; done\n", "install"),
        ("cd /srv && npm ci\n", "npm"),
        ("cd /srv && pnpm rebuild\n", "rebuild"),
        ("python3 setup.py install\n", "setup.py"),
    ] {
        assert_eq!(script(text), [word], "{text}");
    }
    assert_eq!(script("# pip install x\necho 'to install: see setup.py'\n"), <[&str; 0]>::default());
    assert_eq!(script("import _cffi_backend\nx = 'libcffi'\n"), <[&str; 0]>::default());
    for text in [
        "cc = os.environ.get('CC')\n",
        "sysconfig.get_config_var(\"CC\").split()\n",
        "compiler = ENV['CC']\n",
    ] {
        assert_eq!(script(text), ["CC"], "{text}");
    }
    assert_eq!(script("country = 'CC'\nto = [\"CC\", \"BCC\"]\n"), <[&str; 0]>::default());
    for text in
        ["os.environ.get('MY_CC', 'cc')\n", "ENV.fetch(\"TOOL\", \"cc\")\n", "process.env.CC || 'cc'\n"]
    {
        assert!(script(text).contains(&"cc"), "{text}");
    }
    assert_eq!(script("alias /usr/share/doc/apache2;\n"), ["share/doc"]);
    assert_eq!(script("os.listdir('/usr/share/man')\n"), ["share/man"]);
    for word in TREE_SCRIPTS {
        let path = word.strip_prefix('/').unwrap_or(word);
        assert_eq!(script(&format!("cd lib && ./{path}\n")), [word]);
        assert_eq!(script(&format!("x.png/old{path}ration\n")), <[&str; 0]>::default());
        if !word.ends_with('/') {
            let found = words(Sort::Binary, format!("\u{1}\0cd lib && ./{path}\0\u{1}\0"));
            assert_eq!(found, [word]);
        }
    }
    let is_of_texts = |word: &&str| [&STARTS[..], &TREE_SCRIPTS, &OF_TEXTS, &MODULES].concat().contains(word);
    for word in WORDS.into_iter().filter(|word| !is_of_texts(word)) {
        let name = named(word);
        for text in [
            format!("subprocess.run(['{name}', '-x', path])\n"),
            format!("x\n  /usr/bin/{name} -x\n"),
            format!("{name} -x\n"),
            format!("#!/bin/sh\n{name} $1\n"),
        ] {
            assert!(script(&text).contains(&word), "{text}");
        }
        for string in [name.clone(), format!("/usr/bin/{name}"), format!("{name} -x %s")] {
            let found = words(Sort::Binary, format!("\u{1}\0{string}\0\u{1}\0popen\0"));
            assert!(found.contains(&word), "{string}: {found:?}");
        }
    }
}

#[test]
fn words_of_many_meanings_count_where_programs_are_started_only() {
    for text in [
        "as described before\n",
        "import numpy as np\n",
        "x = {'size': 3, \"as\": 1, 'strings': [], \"flex\": 2}\n",
        "display: 'flex',\n",
        "value = frame['size']\nframe.get('size')\nx.strip()\n",
        "strings are joined\ngo to the next page\nsize of it\n",
        "languages: [c, 'c++17']\nargs = -std=c99\nto: cc\n",
        "it should be sold as go ar\n",
        "#include <x.cpp>\nm4.large\nfoo.cc\n",
        "{\"cc\": [\"a@example.org\"], \"go\": true}\n",
    ] {
        assert_eq!(script(text), <[&str; 0]>::default(), "{text}");
    }
    for (text, word) in [
        ("#!/bin/bash\nset -e\nstrip app\n", "strip"),
        ("#!/bin/sh\nif true; then as x; fi\n", "as"),
        ("out=$(nm -D lib.so)\n", "nm"),
        ("m4 tpl.m4 > conf\n", "m4"),
        ("find . -exec strip -s {} +\n", "strip"),
        ("check_output([\"size\", path])\n", "size"),
        ("shutil.which('ld')\n", "ld"),
        ("CC=cc ./configure\n", "cc"),
        ("LINKER = 'ld'\n", "ld"),
        ("x86_64-linux-gnu-ld -r\n", "ld"),
        ("/usr/bin/x86_64-linux-gnu-ld.bfd -r\n", "ld"),
        ("/usr/bin/ld.gold -r\n", "ld"),
        ("go build ./...\n", "go"),
        ("ar rcs libx.a x.o\n", "ar"),
        ("os.system('readelf -d ' + path)\n", "readelf"),
        ("git-upload-pack /srv\n", "git-upload-pack"),
        ("dpkg-shlibdeps x\n", "dpkg-"),
    ] {
        assert!(script(text).contains(&word), "{text}: {:?}", script(text));
    }
    assert_eq!(script("dpkg-query -W\nmagic-config\n"), <[&str; 0]>::default());
    // Colors of `ls`, and a copy that dpkg left.
    assert_eq!(script(".dpkg-dist 00;90\ncp a b.dpkg-old\n"), <[&str; 0]>::default());
    // A program after a full stop, as in strings without separators, still counts.
    assert_eq!(script("x.dpkg-shlibdeps y\n"), ["dpkg-"]);
    assert_eq!(words(Sort::Binary, "\0size\0strings\0as\0"), <[&str; 0]>::default());
    assert_eq!(words(Sort::Binary, "\0size\0posix_spawnp\0"), ["size"]);
}

/// An ELF file: a library, or a program that asks for a loader.
fn elf(program: bool, strings: &[u8]) -> Vec<u8> {
    let mut bytes = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x03\0>\0".to_vec();
    bytes.extend(noise(200));
    bytes.extend_from_slice(if program { b"\0/lib64/ld-linux-x86-64.so.2\0" } else { b"\0" });
    bytes.extend_from_slice(strings);
    bytes.extend(noise(300));
    bytes
}

#[test]
fn binaries_tell_how_they_keep_strings_and_whether_they_start_programs() {
    const GO: &[u8] = b"\xff Go buildinf:\x08\x02go1.22";
    const RUST: &[u8] = b"/rustc/90b35a623/library/core/src/str.rs";
    let cases: [(bool, Vec<u8>, UncertaintyReason); 9] = [
        (true, [GO, b"gitsecretclone"].concat(), UncertaintyReason::Plain),
        (true, [GO, b"os/exec.(*Cmd).Start\0"].concat(), UncertaintyReason::Unbounded),
        (true, [GO, b"\0system\0popen\0"].concat(), UncertaintyReason::Plain),
        (true, RUST.to_vec(), UncertaintyReason::Rust),
        (true, [b"\0posix_spawnp\0", RUST].concat(), UncertaintyReason::Unbounded),
        (true, b"\0execvp\0".to_vec(), UncertaintyReason::Plain),
        (false, b"\0execvp\0".to_vec(), UncertaintyReason::Library),
        (false, b"\0my_popen\0".to_vec(), UncertaintyReason::Library),
        (false, b"\0filesystem\0popens\0".to_vec(), UncertaintyReason::Plain),
    ];
    for (program, strings, habit) in cases {
        let bytes = elf(program, &strings);
        for piece in [1, 7, 100, bytes.len()] {
            assert_eq!(found(Sort::Binary, &bytes, piece).habit, habit, "{}", strings.escape_ascii());
        }
    }
    let tool = b"\0/usr/bin/readelf\0";
    assert_eq!(words(Sort::Binary, elf(true, tool)), ["readelf"]);
    assert_eq!(words(Sort::Binary, elf(false, tool)), <[&str; 0]>::default());
}

/// A 64-bit ELF file with sections of these flags and contents, its section table, and bytes behind it. `loaded` is the
/// part of a segment.
fn with_sections(loaded: std::ops::Range<u64>, sections: &[(u64, &[u8])], behind: &[u8]) -> Vec<u8> {
    let front = b"\0/lib64/ld-linux-x86-64.so.2\0execvp\0";
    let sections: Vec<_> = sections.iter().map(|(flags, content)| (1, *flags, 0, *content)).collect();
    with_kinds(loaded, front, &sections, behind)
}

/// The same with sections of any kind, which each name another one.
fn with_kinds(
    loaded: std::ops::Range<u64>,
    front: &[u8],
    sections: &[(u32, u64, u32, &[u8])],
    behind: &[u8],
) -> Vec<u8> {
    let mut bytes = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x03\0>\0".to_vec();
    bytes.resize(64, 0);
    bytes[32] = 64;
    (bytes[54], bytes[56]) = (56, 1);
    let size = loaded.end - loaded.start;
    bytes.extend([&[1, 0, 0, 0, 4, 0, 0, 0][..], &loaded.start.to_le_bytes(), &[0; 16]].concat());
    bytes.extend([&size.to_le_bytes()[..], &size.to_le_bytes(), &[0; 8]].concat());
    bytes.extend_from_slice(front);
    let mut table = vec![0; 64];
    for (kind, flags, link, content) in sections {
        let (at, size) = (bytes.len() as u64, content.len() as u64);
        table.extend([&[0; 4][..], &kind.to_le_bytes(), &flags.to_le_bytes(), &[0; 8]].concat());
        table.extend([&at.to_le_bytes()[..], &size.to_le_bytes(), &link.to_le_bytes(), &[0; 20]].concat());
        bytes.extend_from_slice(content);
    }
    let at = bytes.len() as u64;
    bytes[40..48].copy_from_slice(&at.to_le_bytes());
    bytes[58..60].copy_from_slice(&64_u16.to_le_bytes());
    bytes[60..62].copy_from_slice(&u16::try_from(sections.len() + 1).unwrap().to_le_bytes());
    bytes.extend(table);
    bytes.extend_from_slice(behind);
    bytes
}

#[test]
fn what_is_not_loaded_is_not_started() {
    const LOADED: u64 = 2;
    let debug: &[u8] = b"\0ar\0gcc\0libcublas.so.13\0";
    let sections: [(u64, &[u8]); 3] =
        [(LOADED, b"\0nvcc\0libnvrtc.so.13\0"), (0, debug), (LOADED, b"\0git\0")];
    let bytes = with_sections(0..120, &sections, b"\0/usr/bin/cmake\0");
    for piece in [1, 7, 63, 64, 65, 300, bytes.len()] {
        let found = found(Sort::Binary, &bytes, piece);
        assert_eq!(found.words, ["nvcc", "cmake", "git"], "pieces of {piece}");
        assert_eq!(found.libraries, [b"libnvrtc.so.13"], "pieces of {piece}");
    }
    // Loaded, by one of both tables, or in a file whose table is not there, they count.
    let loaded = with_sections(0..120, &[(LOADED, debug)], b"");
    let in_segment = with_sections(0..200, &sections[1..2], b"");
    let cut = with_sections(0..120, &sections[1..2], b"");
    let cut = &cut[..cut.len() - 1];
    for bytes in [&loaded[..], &in_segment, cut] {
        let found = found(Sort::Binary, bytes, 50);
        assert_eq!((found.words.len(), found.libraries.len()), (2, 1), "{found:?}");
    }
}

#[test]
fn a_library_starts_programs_by_a_function_that_its_symbols_name() {
    const SYMBOLS: u32 = 11;
    const STRINGS: u32 = 3;
    const NEEDS: u32 = 0x6fff_fffe;
    let library = |kind: u32, names: &'static [u8], rest: &'static [u8]| {
        let sections =
            [(SYMBOLS, 2, 2, &[0; 24][..]), (STRINGS, 2, 0, names), (kind, 2, 2, &[0; 16]), (1, 2, 0, rest)];
        with_kinds(0..4_000, b"\0", &sections, b"")
    };
    // The category of an error of Boost.
    let word: &[u8] = b"\0generic\0system\0gcc -c\0";
    let of = |kind, names, rest| found(Sort::Binary, &library(kind, names, rest), 50).habit;
    assert_eq!(of(NEEDS, b"\0strlen\0libc.so.6\0", word), UncertaintyReason::Plain);
    assert_eq!(of(NEEDS, b"\0strlen\0system\0", b"\0gcc -c\0"), UncertaintyReason::Library);
    // Nothing is needed of a library, as in a static program: the function may be in it.
    assert_eq!(of(1, b"\0strlen\0", word), UncertaintyReason::Library);
    let cut = library(NEEDS, b"\0strlen\0", word);
    assert_eq!(found(Sort::Binary, &cut[..cut.len() - 1], 50).habit, UncertaintyReason::Library);
}

#[test]
fn the_note_of_the_cuda_compiler_is_no_demand() {
    let note =
        b"NVIDIA Corp\0\x02\0\0\0a\0\0\0\0nvlink\0Cuda compilation tools, release 13.0, V13.0.88\0Build x\0";
    assert_eq!(words(Sort::Binary, note), <[&str; 0]>::default());
    assert_eq!(words(Sort::Binary, b"\0nvlink\0Cuda\0"), ["nvlink"]);
}

#[test]
fn a_word_counts_only_when_it_stands_alone() {
    for text in
        ["xgcc", "gccx", "_gcc", "gcc_x", "gcc1", ".gcc", "-gcc", "gcc+", "egg++", "nvcc_args", "libnvvmx"]
    {
        assert_eq!(script(text), <[&str; 0]>::default(), "{text}");
    }
    for text in
        ["gcc", "/usr/bin/gcc", "gcc-13", "gcc.exe", "CC=gcc", "(gcc)", "x86_64-linux-gnu-gcc", r"a\ngcc b"]
    {
        assert_eq!(script(text), ["gcc"], "{text}");
    }
    assert_eq!(script("clang++ a"), ["clang"]);
    assert_eq!(
        script("torch.utils.cpp_extension.load_inline(); cupy.RawKernel()"),
        ["cpp_extension", "load_inline", "RawKernel"]
    );
    assert_eq!(script("cuda-gdb"), ["cuda-gdb"]);
    assert_eq!(script("nvvm/libdevice/libdevice.10.bc libnvvm.so.4"), ["libdevice", "libnvvm"]);
    assert_eq!(script("os.environ['CUDA_HOME'] + '/bin/nvcc'"), ["nvcc", "CUDA_HOME"]);
}

#[test]
fn what_a_file_was_compiled_with_is_no_demand() {
    for ident in [
        "GCC: (conda-forge gcc 12.4.0-2) 12.4.0",
        "GCC: (Debian 12.2.0-14) 12.2.0",
        "gcc version 12.2.0 (Debian 12.2.0-14)",
        "built by gcc 10.2.1 20210110 (Debian 10.2.1-6)",
        "compiler: gcc -fPIC -pthread -m64 -Wa,--noexecstack -O3",
        "gcc-13 (Ubuntu 13.2.0-23ubuntu4) 13.2.0",
        "g++ (GCC) 11.4.0",
        "Ubuntu clang version 18.1.3 (1ubuntu1)",
        "clang LLVM 14",
        "cmake version 3.25.1",
    ] {
        for padded in [format!("\u{1}\0{ident}\0\u{1}"), format!("\u{1}\0one\0{ident}\0{ident}\0")] {
            assert_eq!(words(Sort::Binary, &padded), <[&str; 0]>::default(), "{ident}");
            let pieces = found(Sort::Binary, padded.as_bytes(), 7).words;
            assert_eq!(pieces, <[&str; 0]>::default(), "{ident}");
        }
    }
    for command in
        ["gcc -O2 -shared -o %s %s", "gcc 1.c -o one", "/usr/bin/gcc", "gcc-13 -c", "gcc --version"]
    {
        assert_eq!(words(Sort::Binary, format!("\u{1}\0{command}\0\u{1}")), ["gcc"], "{command}");
    }
    assert_eq!(script("print('built with gcc 12.2')\n"), <[&str; 0]>::default());
    assert_eq!(script("gcc --version\ngcc 12.c\n"), ["gcc"]);
}

#[test]
fn words_of_english_count_as_commands_only() {
    for text in [
        "['make']",
        "\"make\"",
        "'make -j'",
        "[\"make\", 1]",
        "make",
        "make -j8",
        "\tmake all",
        "a && make",
        "a; make",
        "a | make -f -",
        "RUN make",
        "exec make",
        "/usr/bin/make",
        "!make",
        "x=$(make)",
        "- make -C a",
        "\t@make x",
        "command=make run",
        "if a; then make",
    ] {
        assert_eq!(script(text), ["make"], "{text}");
    }
    for text in [
        "we make it",
        "\"make sure that\"",
        "make the",
        "make = 1",
        "make: x",
        "def make(self):",
        "a.make()",
        "{\"make\": 1}",
        "https://make/x",
        "https://x.org/make",
        "src/make",
        "make-up",
        "to make",
    ] {
        assert_eq!(script(text), <[&str; 0]>::default(), "{text}");
    }
    assert_eq!(script("git pull\nperf = 1\nperf stat x\n"), ["git", "perf"]);
    assert_eq!(script("subprocess.run([\"git\", \"clone\"])"), ["git", "subprocess"]);
    assert_eq!(
        script("from git import Repo\n# git clone\nhttps://github.com/a/git\n"),
        <[&str; 0]>::default()
    );
}

#[test]
fn remarks_do_not_count() {
    assert_eq!(script("  # nvcc\n\t#gcc\n#"), <[&str; 0]>::default());
    assert_eq!(script("#!/usr/bin/env ninja\nx # nvcc"), ["nvcc", "ninja"]);
    assert_eq!(
        script("'''\n#include <cuda_fp16.h>\n# include \"cuda_runtime.h\"\n'''"),
        ["cuda_runtime.h", "cuda_fp16.h"]
    );
    assert_eq!(words(Sort::Text, "#gcc"), ["gcc"]);
    assert_eq!(script("# libcublas.so\n"), <[&str; 0]>::default());
    assert_eq!(libraries(Sort::Script, "# libcublas.so\nlibcufft.so"), ["libcufft.so"]);
}

#[test]
fn comments_of_sources_do_not_count() {
    let source = |text: &str| words(Sort::Source, text);
    assert_eq!(source("// go build ./...\n\t//nvcc\n"), <[&str; 0]>::default());
    assert_eq!(
        source("/*\nPackage x needs gcc:\n\n  go build -tags y\n*/\npackage x\n"),
        <[&str; 0]>::default()
    );
    assert_eq!(source("/** gcc */\n * clang\nrun('cc1')"), ["clang", "cc1"]);
    assert_eq!(source("/**\n * Runs `gcc`.\n */\nrun('cc1')"), ["cc1"]);
    assert_eq!(source("/*\nUse `go build` or\n  go get x\n*/\npackage x\nrun(`gcc -v`)"), ["gcc"]);
    // Strings of several lines.
    assert_eq!(source("const ignore = `\n/*\n!/src\n`;\nspawn('gcc', a)\n/** doc */"), ["gcc"]);
    let banner = "banner = `\n/*\n * ${execSync('git rev-parse HEAD')}\n */`";
    assert_eq!(source(banner), ["git"]);
    // The first line of a script, C code in Go, the end of a block in its line, other ends of lines.
    assert_eq!(source("//usr/bin/env go run \"$0\" \"$@\"; exit\npackage main\n"), ["go"]);
    assert_eq!(source("// #include <cuda_runtime.h>\nimport \"C\"\n"), ["cuda_runtime.h"]);
    assert_eq!(source("/*\n// old\n//*/ spawn('gcc')"), ["gcc"]);
    assert_eq!(source("// (c)\rspawn('gcc')\r"), ["gcc"]);
    assert_eq!(source("// gcc\r\nspawn('cc1')\r\n"), ["cc1"]);
    // Code after a comment, and what only looks like one.
    assert_eq!(source("/* c8 ignore next */ spawn('gcc')"), ["gcc"]);
    assert_eq!(source("spawn('gcc') // nvcc"), ["nvcc", "gcc"]);
    assert_eq!(source("glob('src/**/*.js')\nspawn('gcc')\n/* x */"), ["gcc"]);
    assert_eq!(source("/*\nspawn('gcc')"), ["gcc"]);
    assert_eq!(words(Sort::Text, "// gcc"), ["gcc"]);
    for name in ["main.go", "a.gradle", "A.java", "a.swift"] {
        assert_eq!(Sort::by_name(name.as_bytes()), Some(Sort::Source), "{name}");
    }
    assert_eq!(Sort::by_name(b"a.mjs"), Some(Sort::JavaScript));
    for piece in [1, 7, 4096] {
        let text = b"/*\n  go build\n*/\nexec.Command(\"gcc\")\n";
        assert_eq!(found(Sort::Source, text, piece).words, ["gcc"]);
    }
}

#[test]
fn binaries_hold_strings() {
    let none = <[&str; 0]>::default();
    assert_eq!(words(Sort::Binary, b"\0git\0\0/usr/bin/make\0perf stat -a\0"), ["make", "git", "perf"]);
    assert_eq!(words(Sort::Binary, b"\0a git\0x/make b c\xff\0make sure\0how to make\0"), none);
    assert_eq!(words(Sort::Binary, b"\0\x90gcc\0\xffnvcc\0 gcc\xf0\0"), none);
    assert_eq!(words(Sort::Binary, b"\0clang version 18.1.3\0/build/gcc-13/x\0/usr/lib/gcc/x86\0"), none);
    assert_eq!(words(Sort::Binary, b"\0sh -c gcc -o x\0%s/bin/nvcc\0"), ["nvcc", "gcc"]);
    assert_eq!(words(Sort::Binary, b"# nvcc"), ["nvcc"]);
}

#[test]
fn names_of_libraries() {
    assert_eq!(
        libraries(
            Sort::Script,
            "CDLL('libcublas.so.13') /opt/x/libfoo-1.2.so libc++.so.1 libcublas.so.13 xlibno.so lib.so libx.sock \
             libx.so_ a-libb.so libs.so.1a %s.so lib%d.so"
        ),
        ["lib.so", "libb.so", "libc++.so.1", "libcublas.so.13", "libfoo-1.2.so"]
    );
    assert_eq!(
        libraries(Sort::Binary, b"\x02libcuda.so.1\0libcudart.so.13.0.96\x80"),
        ["libcuda.so.1", "libcudart.so.13.0.96"]
    );
    let longest = format!("lib{}.so", "a".repeat(NAME_BYTES - 6));
    assert_eq!(libraries(Sort::Script, format!(" {longest} ")), std::slice::from_ref(&longest));
    assert_eq!(libraries(Sort::Script, &longest), std::slice::from_ref(&longest));
    assert_eq!(libraries(Sort::Script, format!(" x{longest}")), <[&str; 0]>::default());
    assert_eq!(libraries(Sort::Script, longest.replace("lib", "liba")), <[&str; 0]>::default());
    let many: Vec<String> = (0..1_000).map(|number| format!("lib{number}.so ")).collect();
    let many = many.concat();
    let mentions = found(Sort::Text, many.as_bytes(), many.len());
    assert_eq!((mentions.libraries.len(), mentions.cut), (LIBRARIES, true));
}

#[test]
fn pieces_of_any_length_give_the_same() {
    let strings = b"\0git\0/usr/bin/gcc\0nvcc\0x86_64-linux-gnu-gcc -x\0libcublas.so.13\0make -j\0\
        compute-sanitizer\0libcudadevrt\0\xffgdb\0cuda-gdb\0/a/b/c/perf\0";
    let mut binary = noise(700);
    binary.extend_from_slice(strings);
    binary.extend(noise(900));
    binary.extend_from_slice(&strings[..strings.len() - 1]);
    let text = "# gcc\nmake -j\n  # nvcc\nx = 'git'\nlibnvrtc.so.12\n\"ninja\"\n".repeat(9);
    for (sort, bytes) in
        [(Sort::Binary, &binary[..]), (Sort::Binary, strings), (Sort::Script, text.as_bytes())]
    {
        let whole = found(sort, bytes, bytes.len());
        assert!(whole.words.len() > 2 && !whole.libraries.is_empty(), "{whole:?}");
        for piece in (1..=2 * AROUND + 9).chain([bytes.len() - 1]) {
            assert_eq!(found(sort, bytes, piece), whole, "pieces of {piece}");
        }
        for split in 0..=bytes.len() {
            let mut scanner = Scanner::new(sort, bytes.len() as u64).unwrap();
            scanner.push(&bytes[..split]);
            scanner.push(&bytes[split..]);
            assert_eq!(scanner.finish(), whole, "split at {split}");
        }
    }
}

#[test]
fn the_head_tells_what_the_name_does_not() {
    let search = |bytes: &[u8], executable, piece: usize| {
        let mut scanner = Scanner::waiting(bytes.len() as u64, executable).unwrap();
        bytes.chunks(piece).for_each(|bytes| scanner.push(bytes));
        scanner.finish().words
    };
    let mut program = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x03\0>\0".to_vec();
    program.extend_from_slice(b"\0nvcc\0");
    let mut object = program.clone();
    object[16] = 1;
    for piece in 1..30 {
        assert_eq!(search(&program, false, piece), ["nvcc"]);
        assert_eq!(search(&object, true, piece), <[&str; 0]>::default());
        assert_eq!(search(b"#!/bin/sh\nnvcc\n", true, piece), ["nvcc"]);
        assert_eq!(search(b"#!/bin/sh\nnvcc\n", false, piece), <[&str; 0]>::default());
        assert_eq!(search(b"it says nvcc and more", true, piece), <[&str; 0]>::default());
    }
    assert_eq!(Sort::by_name(b"a.py"), Some(Sort::Python));
    assert_eq!(Sort::by_name(b"a.json"), Some(Sort::Text));
    assert_eq!(Sort::by_name(b"py"), None);
    assert!(Scanner::new(Sort::Text, TEXT_BYTES + 1).is_none());
    assert!(Scanner::waiting(BINARY_BYTES + 1, true).is_none());
}

#[test]
fn operators_and_variables_of_java_script_and_python_are_no_programs() {
    let js = |text: &str| words(Sort::JavaScript, text);
    for code in
        ["x = (size / 2)", "a=b,c++&&g++;", "import a from 'b'; export { a as /x/ }", "y = make(ld -1)"]
    {
        assert_eq!(js(code), <[&str; 0]>::default(), "{code}");
    }
    assert_eq!(js("spawn('ld', ['-o', out])"), ["ld"]);
    assert_eq!(js("exec(`cd ${folder} && make -j ${jobs}`)"), ["make"]);

    assert_eq!(js("new Set(['as', 'async', 'from'])"), <[&str; 0]>::default());
    assert_eq!(js("spawn(['size', '-A', file]); run(['as', file])"), ["as", "size"]);
    assert_eq!(js("const cc = process.env.CC || 'cc'"), ["cc"]);
    // Where the strings are not certain, all of the text counts.
    assert_eq!(js("<p>Don't</p>\nx = (size / 2)"), ["size"]);
    // Keys and patterns may be programs.
    assert_eq!(js("const KITS = { gcc: ['-O2'] }; /^clang$/.exec(name)"), ["gcc", "clang"]);
    assert_eq!(js("spawn(['size', 'vmlinux'])"), ["size"]);
    assert_eq!(js("#!/usr/bin/env -S make -f\nx = (size / 2)"), ["size"]);
    let py = |text: &str| words(Sort::Python, text);
    assert_eq!(py("#!/bin/sh\n''''exec make \"$0\" # '''\n"), ["make"]);
    assert_eq!(py("#!/usr/bin/env python3\nx = (size / 2)\n"), <[&str; 0]>::default());
    assert_eq!(py("x = (size / 2)\n"), <[&str; 0]>::default());
    assert_eq!(py("run(['strip', '-s', path])\n"), ["strip"]);
    assert_eq!(py("def f():\n    '''Compiles with\n    gcc -O2.\n    '''\n"), <[&str; 0]>::default());
    assert_eq!(py("SCRIPT = '''\n    gcc -O2 a.c\n    '''\n"), ["gcc"]);
}

#[test]
fn a_hostile_file_is_looked_at_in_so_many_places_only() {
    let text = ".so".repeat(300_000);
    let mentions = found(Sort::Text, text.as_bytes(), 7_000);
    assert_eq!((mentions.words.len(), mentions.libraries.len(), mentions.cut), (0, 0, true));
    let text = "nvcc libx.so ".repeat(20_000);
    let mentions = found(Sort::Text, text.as_bytes(), 100_000);
    assert_eq!((mentions.words, mentions.libraries.len(), mentions.cut), (vec!["nvcc"], 1, false));
}

#[test]
fn files_of_a_repository_that_a_script_reads_are_heard() {
    assert_eq!(script("version = open('/srv/.git/HEAD').read()\n"), ["git"]);
    assert_eq!(script("cat .git/refs/heads/main\n"), ["git"]);
    for text in
        ["exclude = ['.git']\n", "https://example.org/a.git/HEAD\n", "x.git/info\n", "see .github/HEAD\n"]
    {
        assert_eq!(script(text), <[&str; 0]>::default(), "{text}");
    }
}

#[test]
fn a_format_is_no_command_in_a_program_that_starts_none() {
    let with = |strings: &[u8]| {
        let mut bytes = crate::formats::elf::MAGIC.to_vec();
        bytes.resize(16, 0);
        bytes.extend_from_slice(&[2, 0]);
        bytes.resize(64, 0);
        bytes.extend_from_slice(strings);
        words(Sort::Binary, bytes)
    };
    assert_eq!(with(b"\0size %d: %s\n\0printf\0"), Vec::<&str>::new());
    assert_eq!(with(b"\0size %s\0system\0"), ["size"]);
}

#[test]
fn settings_that_load_a_module_name_it() {
    for (text, name) in [
        ("; xml\nextension=dom.so\n", Some("dom.so")),
        ("zend_extension = /usr/lib/php/20220829/opcache.so\n", Some("opcache.so")),
        ("load_module modules/ngx_http_echo_module.so;\n", Some("ngx_http_echo_module.so")),
        ("  LoadModule ssl_module /usr/lib/apache2/modules/mod_ssl.so\n", Some("mod_ssl.so")),
        (";extension=dom.so\n", None),
        ("path = dom.so\n", None),
        ("extension=dom.sock\n", None),
        ("extension=.so\n", None),
    ] {
        assert_eq!(libraries(Sort::Script, text), Vec::from_iter(name.map(str::to_owned)), "{text}");
    }
}

#[test]
fn calls_that_open_a_library_by_its_short_name_name_it() {
    for (text, names) in [
        ("  ffi_lib \"sodium\"\n", &["libsodium.so"][..]),
        ("ffi_lib ['vips', \"libglib-2.0\"]\n", &["libglib-2.0.so", "libvips.so"]),
        ("ffi_lib 'libsodium.so.23'\n", &["libsodium.so.23"]),
        ("path = ctypes.util.find_library('magic')\n", &["libmagic.so"]),
        ("ffi_library 'sodium'\n", &[]),
        ("ffi_lib FFI::Library::LIBC\n", &[]),
        ("ffi_lib \"#{folder}/x\"\n", &[]),
        ("find_library(ZLIB z)\n", &[]),
    ] {
        assert_eq!(libraries(Sort::Script, text), names, "{text}");
    }
}

#[test]
fn tables_of_segments_at_the_end_of_all_offsets_are_no_tables() {
    let header = std::fs::read("fixtures/crashes/mentions/segments-at-the-end").unwrap();
    let mut scanner = Scanner::new(Sort::Binary, header.len() as u64).unwrap();
    scanner.push(&header);
    assert!(scanner.finish().is_empty());
}
