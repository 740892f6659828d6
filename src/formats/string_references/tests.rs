use std::collections::BTreeSet;

use super::bounds::{CALLS, SHARED};
use super::finders::{LONGEST, SHORTEST, Vectorised};
use super::keys::{BINARY, PROGRAM, TEXT};
use super::words::{STARTS, TREE_SCRIPTS, WORDS};
use super::*;

mod binaries;
mod texts;

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

const MODULES: [&str; 16] = [
    "_compilation",
    "pytest",
    "unittest",
    "autowrap",
    "cffi",
    "cppimport",
    "f2py",
    "mypyc",
    "nuitka",
    "pycc",
    "pymc",
    "pytensor",
    "pyximport",
    "tinygrad",
    "ufuncify",
    "use_cpp",
];
const OF_TEXTS: [&str; 61] = [
    "find_library",
    "LD_LIBRARY_PATH",
    "LIBRARY_PATH",
    ".tests",
    "CMakeCache.txt",
    "compile_commands.json",
    "config.log",
    "pkgconfig",
    "/waf",
    "Cython.Build",
    "meson",
    "scons",
    "/usr/include",
    "/usr/lib",
    "node_modules",
    "cythonize",
    "ffi.compile",
    "ffi.set_source",
    "ffi.verify",
    ".o\"",
    ".o'",
    "Gem.install",
    "ProjectBuilder",
    "mkmf",
    "pip._internal",
    "pip.main",
    "CBuilder",
    "CC",
    "CPAN::Shell",
    "Config{cc}",
    "Config{ld}",
    "Config{make}",
    "DependencyInstaller",
    "Makefile.PL",
    "SHLIB",
    "bundler/inline",
    "install.packages",
    "luarocks",
    "wheel",
    "CXX",
    "FC",
    "LDCXXSHARED",
    "LDSHARED",
    "NVCC",
    "build_ext",
    "bunx",
    "corepack",
    "cpanm",
    "cython.inline",
    "cython_inline",
    "ext_modules",
    "install",
    "node-gyp",
    "npm",
    "npx",
    "pnpm",
    "rebuild",
    "setup.py",
    "share/doc",
    "share/man",
    "yarn",
];

#[test]
fn every_word_has_a_key_and_every_key_stands_in_its_words() {
    let in_binaries = PROGRAM.iter().chain([&*BINARY]).map(Vectorised::keys);
    assert!(in_binaries.clone().all(|keys| keys.len() <= 64));
    for keys in in_binaries.chain([TEXT.keys()]) {
        let mut texts = BTreeSet::new();
        for key in keys {
            assert!((SHORTEST..=LONGEST).contains(&key.text.len()), "{}", key.text);
            assert!(texts.insert(key.text), "{} twice", key.text);
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
        ("open('/usr/include/asm-generic/errno-base.h')\n", "/usr/include"),
        ("open('/usr/lib/x86_64-linux-gnu/libz.a')\n", "/usr/lib"),
        ("DIRS = [BASE / 'node_modules']\n", "node_modules"),
        ("os.system(\"cythonize -i k.pyx\")\n", "cythonize"),
        ("parse_file(path, use_cpp=True)\n", "use_cpp"),
        ("command = distribution.get_command_obj(\"build_ext\")\n", "build_ext"),
        ("shlex.split(sysconfig.get_config_var(\"LDSHARED\"))\n", "LDSHARED"),
        ("my $b = ExtUtils::CBuilder->new(quiet => 1);\n", "CBuilder"),
        ("use Config;\nsystem(\"$Config{cc} -shared x.c\");\n", "Config{cc}"),
        ("system($Config{make});\n", "Config{make}"),
        ("system($Config{ld}, \"-shared\");\n", "Config{ld}"),
        ("cc = RbConfig::CONFIG[\"CC\"]\n", "CC"),
        ("Gem::DependencyInstaller.new.install(name)\n", "DependencyInstaller"),
        ("require \"bundler/inline\"\n", "bundler/inline"),
        ("CPAN::Shell->install($module);\n", "CPAN::Shell"),
        ("system(\"perl\", \"Makefile.PL\");\n", "Makefile.PL"),
        ("system2(R, c(\"CMD\", \"SHLIB\", path))\n", "SHLIB"),
        ("install.packages(path, repos = NULL, type = \"source\")\n", "install.packages"),
        ("os.execute(\"luarocks make\")\n", "luarocks"),
        ("run([sys.executable, \"-m\", \"pip\", \"wheel\", path])\n", "wheel"),
        ("shlex.split(sysconfig.get_config_var(\"LDCXXSHARED\"))\n", "LDCXXSHARED"),
        ("shlex.split(sysconfig.get_config_var(\"CXX\"))\n", "CXX"),
        ("run([os.environ['FC'], '-shared'])\n", "FC"),
        ("tool = os.getenv(\"NVCC\")\n", "NVCC"),
        ("setup(name='x', ext_modules=[extension], script_args=['build'])\n", "ext_modules"),
        ("result = cython_inline('return a + b', a=1, b=2)\n", "cython_inline"),
        ("import Cython.Build as build\n", "Cython.Build"),
        ("#!/bin/sh\n./waf configure build\n", "/waf"),
        ("#!/bin/sh\nmeson setup build\n", "meson"),
        ("#!/bin/sh\n\"${NINJA:-ninja}\" -C build\n", "ninja"),
        ("for line in open(ROOT / \"build\" / \"CMakeCache.txt\"):\n", "CMakeCache.txt"),
        ("data = json.load(open('build/compile_commands.json'))\n", "compile_commands.json"),
        ("open('/usr/lib/x86_64-linux-gnu/pkgconfig/libcurl.pc')\n", "pkgconfig"),
        ("os.system('./waf configure build')\n", "/waf"),
        ("subprocess.run([root + \"/waf\", \"build\"])\n", "/waf"),
        ("open('build/config.log')\n", "config.log"),
        ("check_call([\"/src/waf\", \"-j4\", \"x\"])\n", "/waf"),
        ("run([root + \"/waf\"])\n", "/waf"),
        ("python3 /src/waf list\n", "/waf"),
        ("LOG=config.log\n", "config.log"),
        ("d = os.environ.get('PKG_CONFIG_PATH', '/usr/lib/pkgconfig')\n", "pkgconfig"),
        ("for d in ${PKG_CONFIG_PATH:-/usr/lib/pkgconfig}; do ls $d; done\n", "pkgconfig"),
        ("print(sh.nm(path))\n", "nm"),
        ("TOOLS = {'symbols': 'nm'}\nsubprocess.run([TOOLS[x], path])\n", "nm"),
        ("log = (ROOT / 'config.log').read_text()\n", "config.log"),
        ("subprocess.run([\"scons\", \"-j4\"])\n", "scons"),
        ("y = cython.inline('return a + b', a=1, b=2)\n", "cython.inline"),
        ("#!/bin/sh\nfor p in /plugins/*; do pip install -q \"$p\"; done\n", "install"),
        ("cd /srv && npm ci\n", "npm"),
        ("cd /srv && $NPM rebuild\n", "rebuild"),
        ("exec npx -y serve\n", "npx"),
        ("cd /srv && pnpm dlx serve\n", "pnpm"),
        ("cd /srv && corepack enable\n", "corepack"),
        ("cd /srv && yarn --production\n", "yarn"),
        ("bunx serve\n", "bunx"),
        ("python3 setup.py install\n", "setup.py"),
        ("from build import ProjectBuilder\n", "ProjectBuilder"),
        ("Gem.install('bcrypt')\n", "Gem.install"),
        ("require 'mkmf'\n", "mkmf"),
        ("pip.main(arguments)\n", "pip.main"),
        ("from pip._internal import main\n", "pip._internal"),
        ("from numba.pycc import CC\n", "pycc"),
        ("cc = RbConfig::CONFIG.fetch('CC')\n", "CC"),
        ("COMPILE = ('cc', '-O2')\nsubprocess.call(COMPILE)\n", "cc"),
        ("import subprocess\nclass S:\n    tool: str = 'cc'\n", "cc"),
        ("import subprocess\nTOOLS = {'link': 'ld'}\n", "ld"),
        ("engine.add_object_file(\"/srv/dot.o\")\n", ".o\""),
        ("Path('kernels').glob('*.o')\n", ".o'"),
        ("from main import ffi\nffi.verify('int f();')\n", "ffi.verify"),
        ("#!/bin/sh\necho \"version `git rev-parse HEAD`\"\n", "git"),
        ("#!/bin/sh\necho 'make -C /srv' | sh\n", "make"),
        ("#!/bin/sh\nprintf 'git pull' > /x\n", "git"),
        ("#!/bin/sh\nexec conda run -n app bash -c \"git pull\"\n", "git"),
        ("#!/bin/sh\nsu conda -c \"make -C /srv\"\n", "make"),
        ("#!/bin/sh\napt-get install -y curl \\\n\nmake -C /srv\n", "make"),
        ("timeout 60 make -C /srv\n", "make"),
        ("command=timeout 60 make serve\n", "make"),
        ("#!/bin/sh\nif make -C /srv; then :; fi\n", "make"),
        ("#!/bin/sh\ncommand -v git >/dev/null || exit 1\n", "git"),
        ("#!/bin/sh\nfor tool in make; do $tool; done\n", "make"),
        ("#!/bin/bash\nlocal tool=make; $tool -C native\n", "make"),
        ("#!/bin/sh\n: \"${TOOL:=git}\"\n", "git"),
        ("#!/bin/sh\n\"cc\" -o x x.c\n", "cc"),
        ("post_start: git -C /repo fetch\n", "git"),
        ("prepare: git pull && echo ok\n", "git"),
        ("  - name: k\n    shell: make all\n", "make"),
        ("refresh: [git, pull]\n", "git"),
        ("compile: c++ -O2 -o /tmp/k /srv/k.c\n", "c++"),
        ("print qx(git -C /repo log);\n", "git"),
        ("system(qw(make -C /srv));\n", "make"),
        ("(Path(here) / \".git\" / \"HEAD\").read_text()\n", "git"),
        ("kernels: make -C native\n", "make"),
        ("\"start\": \"cross-env A=1 make serve\"\n", "make"),
        ("#!/bin/sh\nrun() { echo \"$*\"; \"$@\"; }\nrun cc x.c\n", "cc"),
        ("#!/bin/sh\ncase $1 in\n  build) make -C /srv ;;\nesac\n", "make"),
        ("#!/bin/sh\ncat <(git log)\n", "git"),
        ("#!/bin/sh\ntest -f x.o||cc -c x.c\n", "cc"),
        ("import sh\nsh.gcc('-c', 'x.c')\n", "gcc"),
        ("git = sh.git.bake(_cwd='/srv')\n", "git"),
        ("from sh import git\n", "git"),
        ("output = %x(make -C native)\n", "make"),
        ("CMD = %w[make -C native]\n", "make"),
        ("[vcs]\nbinary = git\n", "git"),
        ("linker: ld\n", "ld"),
        ("vcs: {binary: /usr/bin/git}\n", "git"),
        ("<command>make -v</command>\n", "make"),
        ("apps:\n  - script: make\n    args: -C /srv\n", "make"),
        ("run([\"nice\", \"-n\", \"5\", \"c++\", path])\n", "c++"),
        ("const g = join(__dirname, '.git');\nread(join(g, 'HEAD'))\n", "git"),
        ("$d = dirname(__FILE__).'/.git';\nfile($d.'/HEAD');\n", "git"),
        ("GITDIR=${APP:-/srv}/.git\nread -r _ ref < \"$GITDIR/HEAD\"\n", "git"),
        ("from plumbum import local\nlocal['cc']('-c', 'x.c')\n", "cc"),
        ("from plumbum.cmd import git\n", "git"),
        ("local.cmd.git('--version')\n", "git"),
        ("set compiler cc\nexec $compiler -c x.c\n", "cc"),
        ("web: python3 main.py\nsync: git pull\n", "git"),
        ("git:x:1000:1000::/home/git:/usr/bin/git-shell\n", "git-shell"),
        ("::respawn:/usr/bin/make -C /srv run\n", "make"),
        ("build: \"|/usr/bin/make -C /srv\"\n", "make"),
        ("SCRIPT_FILENAME $document_root/git-http-backend;\n", "git"),
        ("#!/usr/bin/make -f\nall:\n\t@echo 1\n", "make"),
    ] {
        let found: Vec<_> = script(text).into_iter().filter(|found| !STARTS.contains(found)).collect();
        assert_eq!(found, [word], "{text}");
    }
    assert_eq!(script("# pip install x\necho 'to install: see setup.py'\n"), <[&str; 0]>::default());
    for text in [
        "from cffi import FFI\nffi = FFI()\nlib = ffi.dlopen('libz.so.1')\n",
        "import subprocess\nmessage = {'cc': address}\nmessage['cc'] = address\n",
        "#!/bin/sh\nlog() { echo \"$@\"; }\nlog cc is missing\n",
        "#!/bin/sh\necho timeout of make\napt-get install -y git make\n",
        "#!/bin/sh\napt-get update && apt-get install -y \\\n  curl \\\n  git \\\n  make\n",
        "description: make all of it faster\n",
        "description: git pull of the data\n",
        "exclude = ['.git', '__pycache__']\n",
        "ignored: ['.git'], names: ['HEADER']\n",
        "ignored: ['.git'], methods: ['GET', 'HEAD']\n",
        "message: set compiler cc to your own\n",
        "#!/bin/sh\necho \"must be run as root\"\necho \"check if size matches\"\n",
        "#!/bin/sh\ndie \"must be run as root\"\n",
        "#!/bin/sh\necho \"please install git and make\" >&2\n",
        "import subprocess\ndata.get('cc', [])\nFIELDS = ('to', 'cc', 'bcc')\nCOUNTRIES = ['ca', 'cc', 'cd']\n",
        "{\"fields\": [\"to\",\"cc\",\"bcc\"], \"openapi\": \"3.0\", \"spawn\": 1}\n",
        "FIELDS = %w[size color weight]\nmethods = %w[strip upcase]\n",
        "label.action: make payment\ntool: strip\nverb: git add\n",
    ] {
        assert_eq!(
            words(Sort::Script, text).iter().filter(|word| !STARTS.contains(word)).count(),
            0,
            "{text}"
        );
    }
    assert_eq!(script("import _cffi_backend\nx = 'libcffi'\n"), <[&str; 0]>::default());
    for text in [
        "cc = os.environ.get('CC')\n",
        "sysconfig.get_config_var(\"CC\").split()\n",
        "compiler = ENV['CC']\n",
    ] {
        assert_eq!(script(text), ["CC"], "{text}");
    }
    for text in [
        "country = 'CC'\nto = [\"CC\", \"BCC\"]\n",
        "roman = ['CXX', 'FC']\n",
        "NVCC = 3\n",
        "print(\"environ\", NVCC)\n",
    ] {
        assert_eq!(script(text), <[&str; 0]>::default(), "{text}");
    }
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
fn nested_settings_and_tables_of_cron_name_tools() {
    for (text, word) in [
        ("# jobs\nSHELL=/bin/sh\n* * * * * root cd /srv && make kernels\n", "make"),
        ("*/10 2-4 * jan mon git -C /repo pull\n", "git"),
        ("@hourly root /usr/bin/gcc -c x.c\n", "gcc"),
        ("@hourly cc -c x.c\n", "cc"),
        ("0 4 * * * app cc -c x.c\n", "cc"),
        ("os.listdir('/usr/include')\n", "/usr/include"),
        ("#!/bin/sh\nexec python3 -m lint.tests.test_cc\n", ".tests"),
        ("[jit]\ncxx = \"c++\"\n", "c++"),
        ("jit:\n  cxx: c++\n", "c++"),
        ("[build]\ncxx = c++\n", "c++"),
        ("compiler:\n  name: c++\n", "c++"),
        ("compiler: # jit\n  flags: -O3\n  name: c++\n", "c++"),
        ("compilers:\n  - name: c++\n", "c++"),
        ("[compiler]\nname = \"c++\"\n", "c++"),
        ("{\"compiler\": {\"name\": \"c++\"}}\n", "c++"),
        ("{\"compiler\": {\n  \"name\": \"c++\"}}\n", "c++"),
        ("{\"backend\": {\"exe\": \"c++\", \"flags\": [\"-O3\"]}}\n", "c++"),
        ("{\"cc\": \"cc\"}\n", "cc"),
    ] {
        assert_eq!(script(text), [word], "{text}");
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
        "mail.copy(config[\"cc\"])\n",
        "the order is = go to the shop\nx = as seen\nwith a=b as shown\nA wheel is a wheel\n",
        "#include <x.cpp>\nm4.large\nfoo.cc\n",
        "{\"cc\": [\"a@example.org\"], \"go\": true}\n",
        "{\"language\": \"c++\", \"name\": \"cc\"}\n",
        "fields:\n  name: cc\nlanguage: c++\n",
        "[language]\nname = \"c++\"\nlanguages: [c++, rust]\n",
        "include_directories(\"/usr/include/eigen3\")\n",
        "setup(ext=[Extension(include_dirs=['/usr/include'])])\n",
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
        ("CC=cc; $CC -c x.c\n", "cc"),
        (": \"${CC:=cc}\"\n", "cc"),
        ("CC=${CC:-cc}\n$CC -c x.c\n", "cc"),
        ("os.system('CFLAGS=-O2 cc -c x.c')\n", "cc"),
        ("LC_ALL=C LANG=C as -o x.o x.s\n", "as"),
        ("[worker]\ncommand = cc -O2 -o model model.c\n", "cc"),
        ("subprocess.run('GIT_DIR=/repo.git git log', shell=True)\n", "git"),
        ("command: git pull --ff-only\n", "git"),
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

#[test]
fn a_word_counts_only_when_it_stands_alone() {
    for text in
        ["xgcc", "gccx", "_gcc", "gcc_x", "gcc1", ".gcc", "-gcc", "gcc+", "egg++", "nvcc_args", "libnvvmx"]
    {
        assert_eq!(script(text), <[&str; 0]>::default(), "{text}");
    }
    for text in [
        "gcc",
        "/usr/bin/gcc",
        "gcc-13",
        "gcc.exe",
        "CC=gcc",
        "CC=${CC:-gcc}",
        ": ${CC:=gcc}",
        "(gcc)",
        "x86_64-linux-gnu-gcc",
        r"a\ngcc b",
    ] {
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
fn names_of_libraries() {
    assert_eq!(
        libraries(
            Sort::Script,
            "CDLL('libcublas.so.13') /opt/x/libfoo-1.2.so libc++.so.1 libcublas.so.13 xlibno.so lib.so libx.sock \
             libx.so_ a-libb.so libs.so.1a %s.so lib%d.so"
        ),
        ["lib*.so", "lib.so", "libb.so", "libc++.so.1", "libcublas.so.13", "libfoo-1.2.so"]
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
    let named = |name: &str, bytes: &[u8], executable, piece: usize| {
        let mut scanner = Scanner::waiting(name.as_bytes(), bytes.len() as u64, executable).unwrap();
        bytes.chunks(piece).for_each(|bytes| scanner.push(bytes));
        scanner.finish().words
    };
    let search = |bytes: &[u8], executable, piece| named("a.1", bytes, executable, piece);
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
        // Text that a script may source, or read commands from.
        for name in ["app", ".bash_profile", "passwd"] {
            assert_eq!(named(name, b"git pull\n", false, piece), ["git"], "{name}");
        }
        assert_eq!(named("app", &program, false, piece), ["nvcc"]);
        // Data behind a script.
        let payload = [&b"git pull\n"[..], &[b'#'; 60], b"\nexit 0\n\0\0PAYLOAD"].concat();
        assert_eq!(named("app", &payload, false, piece), ["git"]);
        let words = "git\nmake\n".repeat(20);
        for (name, bytes) in [
            ("app", &b"git \0pull\n"[..]),
            ("LICENSE", b"git pull\n"),
            ("a.md", b"git pull\n"),
            ("0123456789abcdef-d", b"git pull\n"),
            ("vocab", words.as_bytes()),
            ("README.zh-CN", b"git pull\n"),
            ("Changes.rdoc", b"git pull\n"),
            ("prod.Dockerfile", b"git pull\n"),
            ("ld.so", b"glibc-ld.so.cache1.1\0libbfd.so\0\ngit pull\n"),
            ("loaders.cache", b"git pull\n"),
        ] {
            assert_eq!(named(name, bytes, false, piece), <[&str; 0]>::default(), "{name}");
        }
    }
    assert_eq!(Sort::by_name(b"a.py"), Some(Sort::Python));
    assert_eq!(Sort::by_name(b"a.json"), Some(Sort::Text));
    assert_eq!(Sort::by_name(b"py"), None);
    assert!(Scanner::new(Sort::Text, TEXT_BYTES + 1).is_none());
    assert!(Scanner::waiting(b"a", BINARY_BYTES + 1, true).is_none());
    let large = Scanner::new(Sort::Plain, PLAIN_BYTES + 1);
    assert!(large.is_none());
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
