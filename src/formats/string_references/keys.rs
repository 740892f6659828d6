//! How words are found: short literals that occur in them.

use std::sync::LazyLock;

use super::bounds::{CALLS, SHARED};
use super::finders::{Hashed, Key, Vectorised};

fn keys(texts: &[&[&'static str]]) -> Vec<Key> {
    texts.iter().copied().flatten().map(|text| Key::of_words(text)).collect()
}

/// Strings that show how a binary stores its strings and whether it starts programs.
const HABITS: [&str; 16] = [
    " Go ", "ustc", "s/uv", "n_3_", "bpro", "pawn", "S_ST", "LZSS", "(*Cm", "x_sp", "exec", "pope", "stem",
    "/ld-", "n/sh", ";\0\0\0",
];

/// Finds words of all kinds, library names and habits in every binary. Measured on 450 MB of shared libraries, one
/// search for all 42 keys takes as long as one for the words alone.
pub(super) static BINARY: LazyLock<Vectorised> = LazyLock::new(|| {
    let words = [
        "nvcc", "ptxa", "nvli", "fatb", "afe+", "cuob", "nvdi", "nvpr", "cicc", "dev", "nvvm", "cpp_",
        "oad_", "RawK", "uda_", "gcc", "g++", "clan", "cc1", "ninj", "make", "git", "gdb", "-san", "nsys",
        "ncu", "perf", "stra", "valg", "pkg-", "A_HO", "se/b", "ug/b", SHARED,
    ];
    let habits = HABITS.iter().map(|text| Key { text, words: Vec::new(), is_habit: true });
    Vectorised::of(keys(&[&words]).into_iter().chain(habits).collect())
});

const LONG_TOOLS: [&str; 38] = [
    "-con", "aclo", "r2li", "auto", "baze", "in2c", "biso", "++fi", "argo", "ccac", "cpac", "ctes", "dpkg",
    "elfe", "flex", "gcor", "gcov", "genc", "gfor", "gofm", "gp-a", "gp-c", "gp-d", "gpro", "gsta", "ifna",
    "ibto", "llvm", "ltra", "lto-", "memu", "mtra", "objc", "objd", "tche", "kgco", "anli", "delf",
];
const MORE_TOOLS: [&str; 14] = [
    "lldb", "rpcg", "rpmb", "rust", "scal", "size", "sotr", "spro", "trin", "trip", "swig", "eira", "vgdb",
    "yacc",
];

/// Find the remaining words in texts.
pub(super) static TEXT: LazyLock<Hashed> = LazyLock::new(|| {
    let short = [
        SHARED, "gcc", "g++", "cc1", "git", "gdb", "ncu", "c89", "c99", "lld", "dwp", "stut", "ccom", "xecv",
        "uvx", "'uv'", "\"uv\"", " uv ", "\nuv ", "\tuv ", "n/uv", "(uv ", "`uv ", "'uv ", "\"uv ", "cffi",
        "f2py", "pymc", "yten", "pyxi", "nygr", "'CC'", "\"CC\"", "'FC'", "\"FC\"", "'CXX", "\"CXX", "NVCC",
        "re/d", "re/m", "se/b", "ug/b", "/boo", "/con", "/waf", "g.st", "-tes", "sh c", "est/", "sts/",
        "\tcc\t", "\tld\t", "ig.l", "le_c", ".o\"", ".o'", "c++", "cpp", CALLS[0], CALLS[1], CALLS[2],
    ];
    let long = [
        "nvcc", "ptxa", "nvli", "fatb", "afe+", "cuob", "nvdi", "nvpr", "cicc", "ibde", "adev", "nvvm",
        "oad_", "RawK", "uda_", "clan", "ninj", "make", "-san", "nsys", "perf", "stra", "valg", "pkg-",
        "A_HO",
    ];
    let quoted = [
        "'ar'", "'as'", "'cc'", "'go'", "'ld'", "'m4'", "'nm'", "\"ar\"", "\"as\"", "\"cc\"", "\"go\"",
        "\"ld\"", "\"m4\"", "\"nm\"", "'ar ", "'as ", "'cc ", "'go ", "'ld ", "'m4 ", "'nm ", "\"ar ",
        "\"as ", "\"cc ", "\"go ", "\"ld ", "\"m4 ", "\"nm ", "-ar ", "-as ", "-nm ", "-ar\"", "-as\"",
        "-nm\"", "-ar'", "-as'", "-nm'", "subp", "os.s", "Pope",
    ];
    let at_start = [
        " ar ", " as ", " cc ", " go ", " ld ", " m4 ", " nm ", "\nar ", "\nas ", "\ncc ", "\ngo ", "\nld ",
        "\nm4 ", "\nnm ", "\tar ", "\tas ", "\tcc ", "\tgo ", "\tld ", "\tm4 ", "\tnm ", "(ar ", "(as ",
        "(cc ", "(go ", "(ld ", "(m4 ", "(nm ", "`ar ", "`as ", "`cc ", "`go ", "`ld ", "`m4 ", "`nm ",
        "n/ar", "n/as", "n/cc", "n/go", "n/ld", "n/m4", "n/nm", ";ar ", ";m4 ", ";nm ", "=ar\n", "=as\n",
        "=nm\n",
    ];
    let builds = [
        "ld_e", "panm", "-gyp", "npm ", "npm'", "npm\"", "stal", "rebu", "up.p", "LDSH", "se/d", "ug/d",
        "npx ", "npx'", "npx\"", "bunx", "repa", "pnpm", "yarn", "LDCX", "xt_m", "_inl", ".inl", "g{cc",
        "g{ld", "g{ma", "CBui", "ncyI", "SHLI", "l.pa", "r/in", "le.P", "N::S", "uaro", "whee", "pycc",
        "ctBu", "mkmf", "p._i", "p.ma", "m.in", " cc\"", " cc'", "ffi.", "towr", "ncif", "se_c", "honi",
        "uitk", "ypyc", "pila", ".tes", "ytes", "ttes", "n.Bu", "scon", "meso", "eCac", "RY_P", "de_m",
        "r/li",
    ];
    let led = [
        "=cc", ":cc", ",cc", ";cc", "[cc", "{cc", "|cc", "&cc", "-cc", "=ld", ":ld", ",ld", ";ld", "[ld",
        "{ld", "|ld", "&ld", "-ld", "=go", ":go", ",go", ";go", "[go", "{go", "|go", "&go", "-go", "=uv",
        ":uv", ",uv", ";uv", "[uv", "{uv", "|uv", "&uv", "-uv", " cc,", " ld,", " cc\n", " ld\n", " cc;",
        " ld;", " ld\"", " ld'", " cc]", " ld]", ".nm(", ".ar(", ".cc(", ".ld(", ".go(", ".uv(",
    ];
    Hashed::of(keys(&[&short, &long, &LONG_TOOLS, &MORE_TOOLS, &quoted, &at_start, &builds, &led]))
});

/// Find the remaining words in programs.
pub(super) static PROGRAM: LazyLock<[Vectorised; 2]> = LazyLock::new(|| {
    let short = [
        "\0ar\0", "\0as\0", "\0cc\0", "\0go\0", "\0ld\0", "\0m4\0", "\0nm\0", "\0c++", "\0cpp", "\0c89",
        "\0c99", "\0lld", "\0dwp", "\0ar ", "\0as ", "\0cc ", "\0go ", "\0ld ", "\0m4 ", "\0nm ", "\0uv\0",
        "\0uv ", "n/uv", "\0uvx", "/uvx", "n/ar", "n/as", "n/cc", "n/go", "n/ld", "n/m4", "n/nm", "/c++",
        "/cpp", "/c89", "/c99", "/lld", "/dwp", "/boo", "/con", "g.st", "-tes", "sh c", "se/d", "ug/d",
    ];
    [&[&LONG_TOOLS[..], &MORE_TOOLS][..], &[&short]].map(|texts| Vectorised::of(keys(texts)))
});
