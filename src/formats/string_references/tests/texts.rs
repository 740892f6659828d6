//! What is found in scripts, sources and settings.

use super::*;

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
fn strings_of_ruby_and_lua_and_values_put_in_begin_commands() {
    for text in [
        "sh %{make report}",
        "sh %Q(make report)",
        "os.execute([[make report]])",
        "os.system(f'{NICE} make report')",
        "os.system('%s make report' % nice)",
        "exec(`${nice} make report`)",
    ] {
        assert!(script(text).contains(&"make"), "{text}");
    }
    for (text, tool) in [
        ("system 'strip', '--strip-unneeded', file", "strip"),
        ("deb: ar x {file}", "ar"),
        ("cmd = strip\nargs = x\n", "strip"),
    ] {
        assert_eq!(script(text), [tool], "{text}");
    }
    for text in [
        "'%{make}' % car",
        "a[b[make]]",
        "x = f'{a} and make'",
        "words 'strip', 'trim'",
        "region: ar-ae",
        "k = strip\n",
        // Values that are put in, arithmetic, translations, prose.
        "sql = f\"{col} as {alias}\"",
        "log.info(\"%s size %s\", a, b)",
        "x = f'{user} make changes'",
        "x = '%s make' % x",
        "ratio = size / total",
        "x = strip / 2",
        "update = size % 2",
        "header: make / model / year",
        "greeting: make {name} happy",
        "label: as {name}",
        "[[make stuff]]",
        "title: %{make model}",
        "sleep well tonight\nyou make noise",
    ] {
        assert_eq!(script(text), <[&str; 0]>::default(), "{text}");
    }
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
    assert_eq!(words(Sort::JavaScript, "if (config.log) f(config.log.level)\n"), <[&str; 0]>::default());
    // Routes, addresses, properties and variables of a build are no tools.
    for text in [
        "ROUTES = {\"/api/waf\": None}\n",
        "run(x)\n@app.get('/size')\n",
        "app.get(\"/make\", list)\n",
        "print(car['make'], frame[\"make\"])\n",
        "open_page(\"https://example.org/waf\")\n",
        "export PKG_CONFIG_PATH=/usr/local/lib/pkgconfig\n",
    ] {
        assert_eq!(script(text), <[&str; 0]>::default(), "{text}");
    }
    assert_eq!(libraries(Sort::Script, "# libcublas.so\nlibcufft.so"), ["libcufft.so"]);
}

#[test]
fn joined_paths_indexes_and_tools_beside_tools_are_programs() {
    let source = |text: &str| words(Sort::Source, text);
    for (text, word) in [
        ("subprocess.run([folder + \"/make\", \"-C\", where])\n", "make"),
        ("subprocess.run([folder + \"/strip\", where])\n", "strip"),
        ("local[\"make\"](\"-C\", \"/srv\")\n", "make"),
        ("subprocess.run(x)\nTOOLS = {\"a\": \"nm\", \"b\": \"strings\"}\n", "nm"),
        ("subprocess.run(x)\nfor tool in (\"nm\", \"strings\"):\n", "nm"),
    ] {
        assert!(source(text).contains(&word), "{text}");
    }
    for text in [
        "subprocess.run(x)\n    return \"/size\"\n",
        "subprocess.run(x)\n    if \"/size\" in path:\n",
        "subprocess.run(x)\nSTEPS = {\"fn\": \"strip\", \"column\": \"a\"}\n",
    ] {
        assert_eq!(source(text), ["subprocess"], "{text}");
    }
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
    // What cgo is told about the build.
    for directive in ["/*\n#cgo pkg-config: sqlite3\n*/", "// #cgo pkg-config: sqlite3"] {
        assert_eq!(source(&format!("{directive}\nimport \"C\"\n")), <[&str; 0]>::default(), "{directive}");
    }
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
    for text in ["await $`go build`;", "exec('go build')", "run(\"go build\");", "spawn(`uv sync`)"] {
        assert_eq!(js(text).len(), 1, "{text}");
    }
    // Nothing there starts a program.
    assert_eq!(js("const KINDS = ['scalar', 'size']; exports.as = 'as'"), <[&str; 0]>::default());
    assert_eq!(js("const cc = process.env.CC || 'cc'"), ["cc"]);
    assert_eq!(js("<p>Don't</p>\nfor(let g=0;g<f.length;g++)u[g++]=S[A++];"), <[&str; 0]>::default());
    for code in ["exec(`g++ -c ${file}`)", "sh(`cd x;g++ -c y`)", "sh(`CXX=g++ make`)"] {
        assert!(js(&format!("<p>Don't</p>\n{code}")).contains(&"g++"), "{code}");
    }
    // Where the strings are not certain, all of the text counts.
    assert_eq!(js("<p>Don't</p>\nx = (size / 2)"), ["size"]);
    // Keys and patterns may be programs.
    assert_eq!(js("const KITS = { gcc: ['-O2'] }; /^clang$/.exec(name)"), ["gcc", "clang"]);
    assert_eq!(js("spawn(['size', 'vmlinux'])"), ["size"]);
    assert_eq!(js("#!/usr/bin/env -S make -f\nx = (size / 2)"), ["make", "size"]);
    let py = |text: &str| words(Sort::Python, text);
    assert_eq!(py("#!/bin/sh\n''''exec make \"$0\" # '''\n"), ["make"]);
    assert_eq!(py("#!/usr/bin/env python3\nx = (size / 2)\n"), <[&str; 0]>::default());
    assert_eq!(py("x = (size / 2)\n"), <[&str; 0]>::default());
    assert_eq!(py("run(['strip', '-s', path])\n"), ["strip"]);
    assert_eq!(py("def f():\n    '''Compiles with\n    gcc -O2.\n    '''\n"), <[&str; 0]>::default());
    assert_eq!(py("SCRIPT = '''\n    gcc -O2 a.c\n    '''\n"), ["gcc"]);
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
fn settings_that_load_a_module_name_it() {
    for (text, name) in [
        ("; xml\nextension=dom.so\n", Some("dom.so")),
        ("zend_extension = /usr/lib/php/20220829/opcache.so\n", Some("opcache.so")),
        ("load_module modules/ngx_http_echo_module.so;\n", Some("ngx_http_echo_module.so")),
        ("  LoadModule ssl_module /usr/lib/apache2/modules/mod_ssl.so\n", Some("mod_ssl.so")),
        ("redis-server --loadmodule /srv/mod/hello.so\n", Some("hello.so")),
        ("redis-server --loadmodule hello.so\n", None),
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
