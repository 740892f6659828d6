//! Shrunk libraries, as loaders and tools of this machine read them.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use cutaway::formats::elf::shrink::{ElfTables, Shrunk, TableCollector, shrink, verify};
use cutaway::formats::pieces::{Pieces, PiecesWriter};
use tempfile::TempDir;

use crate::oracle::have;

/// Data like GPU code of which most was replaced by zeros, and data that is written.
const BLOB: &str = r#"
.section .nv_fatbin,"a",@progbits
.balign 8
.globl gpu_code, gpu_code_end
.hidden gpu_code, gpu_code_end
gpu_code:
.fill 5000,1,0x11
.zero 300000
.fill 70000,1,0x22
.zero 1000000
.fill 9,1,0x33
.zero 30000
.fill 9,1,0x44
.zero 200000
.fill 64,1,0x55
gpu_code_end:
.section .written,"aw",@progbits
.globl written
.hidden written
written: .fill 100,1,0x66
.zero 400000
.fill 100,1,0x77
.section .note.GNU-stack,"",@progbits
"#;

const LIBRARY: &str = r"
extern const unsigned char gpu_code[], gpu_code_end[];
extern unsigned char written[];
static int made;
static char zeros[200000];
__attribute__((constructor)) static void make(void) { made = 9; }
int made_value(void) { return made + zeros[made]; }
const void *const relocated[] = { gpu_code, made_value };
unsigned long gpu_size(void) { return gpu_code_end - gpu_code; }
const unsigned char *gpu(void) { return gpu_code; }
unsigned char *data(void) { return written; }
#ifdef WITH_TLS
__thread int counter = 42;
int next(void) { return counter++; }
#endif
";

/// Exceptions need unwind tables, which loaders find by program headers.
const THROWS: &str = r#"
#include <stdexcept>
extern "C" int catches(void) {
    try { throw std::runtime_error("x"); } catch (const std::exception &) { return 7; }
}
"#;

/// Prints what a library has in memory and does.
const LOADER: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
static int headers;
static int each(struct dl_phdr_info *info, size_t size, void *name) {
    if (strstr(info->dlpi_name, name)) headers = info->dlpi_phnum;
    return 0;
}
int main(int count, char **arguments) {
    void *library = dlopen(arguments[1], RTLD_NOW);
    if (!library) { puts(dlerror()); return 1; }
    unsigned long (*size)(void) = dlsym(library, "gpu_size");
    const unsigned char *(*gpu)(void) = dlsym(library, "gpu");
    unsigned char *(*data)(void) = dlsym(library, "data");
    int (*made)(void) = dlsym(library, "made_value"), (*next)(void) = dlsym(library, "next");
    int (*catches)(void) = dlsym(library, "catches");
    unsigned long sum = 5381, at;
    for (at = 0; at < size(); at++) sum = sum * 33 + gpu()[at];
    for (at = 0; at < 400200; at++) { sum = sum * 33 + data()[at]; data()[at] = 1; }
    dl_iterate_phdr(each, strrchr(arguments[1], '/'));
    printf("%lu %lx %d %d %d %d\n", size(), sum, made(), next ? next() : -1, catches ? catches() : -1, headers > 0);
    return dlclose(library);
}
"#;

fn run(program: &str, arguments: &[&str], folder: &Path) -> Output {
    Command::new(program).args(arguments).current_dir(folder).env("LC_ALL", "C").output().expect("it runs")
}

/// Output of a program that must succeed.
fn output(program: &str, arguments: &[&str], folder: &Path) -> String {
    let done = run(program, arguments, folder);
    let text = [done.stdout, done.stderr].concat();
    let text = String::from_utf8_lossy(&text).into_owned();
    assert!(done.status.success(), "{program} {arguments:?}: {text}");
    text
}

fn tables(bytes: &[u8]) -> ElfTables {
    let mut collector = TableCollector::default();
    bytes.chunks(4_000).for_each(|chunk| collector.push(chunk));
    collector.finish()
}

/// Writes the shrunk file of one whose long runs of zeros become holes.
fn shrunk(old: &Path, new: &Path) -> Shrunk {
    let bytes = fs::read(old).unwrap();
    let mut pieces = Pieces::default();
    let (mut done, mut at) = (0, 0);
    while at < bytes.len() {
        let zeros = bytes[at..].iter().take_while(|byte| **byte == 0).count();
        if zeros >= 4_096 {
            pieces.copy(done as u64, (at - done) as u64);
            pieces.zeros(zeros as u64);
            done = at + zeros;
        }
        at += zeros.max(1);
    }
    pieces.copy(done as u64, (bytes.len() - done) as u64);
    let shrunk = shrink(&tables(&bytes), &pieces).expect("there is something to gain");
    let mut out = Vec::new();
    let mut writer = PiecesWriter::new(&shrunk.pieces);
    writer.push(&bytes, &mut out).unwrap();
    writer.finish(&mut out).unwrap();
    fs::write(new, &out).unwrap();
    verify(&tables(&bytes), &tables(&out), File::open(old).unwrap(), File::open(new).unwrap()).unwrap();
    shrunk
}

/// A folder with programs that load a library, and the library before (`old`) and after (`new`).
fn built(compiler: &str, options: &[&str], sources: &[(&str, &str)]) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_owned();
    let all = [("blob.S", BLOB), ("library.c", LIBRARY), ("loader.c", LOADER)];
    for (name, text) in all.iter().chain(sources) {
        fs::write(path.join(name), text).unwrap();
    }
    output(compiler, &["-w", "-o", "loader", "loader.c", "-ldl"], &path);
    fs::create_dir(path.join("old")).unwrap();
    fs::create_dir(path.join("new")).unwrap();
    output("gcc", &[&["-g", "-fPIC", "-c", "library.c", "blob.S"], options].concat(), &path);
    if sources.is_empty() {
        let link = ["-shared", "-Wl,-rpath,/opt/x", "-o", "old/lib.so", "library.o", "blob.o"];
        output("gcc", &link, &path);
    } else {
        output("g++", &["-g", "-fPIC", "-c", sources[0].0, "-o", "throws.o"], &path);
        let link =
            ["-shared", "-Wl,-z,now", "-Wl,--hash-style=both", "-Wl,-rpath,/opt/x", "-o", "old/lib.so"];
        output("g++", &[&link[..], &["library.o", "blob.o", "throws.o"]].concat(), &path);
    }
    let ledger = shrunk(&path.join("old/lib.so"), &path.join("new/lib.so")).ledger;
    assert_eq!(ledger.holes, 4, "{ledger:?}");
    (folder, path)
}

fn load(path: &Path, library: &str) -> String {
    output("./loader", &[path.join(library).to_str().unwrap()], path)
}

#[test]
fn glibc_loads_a_shrunk_library() {
    if !have(&["gcc", "g++"]) {
        return;
    }
    let (_folder, path) = built("gcc", &["-DWITH_TLS"], &[("throws.cc", THROWS)]);
    let before = load(&path, "old/lib.so");
    assert!(before.contains(" 9 42 7 1"), "{before}");
    assert_eq!(load(&path, "new/lib.so"), before);
    let linked = |library: &str| output("ldd", &[library], &path).lines().count();
    assert_eq!(linked("new/lib.so"), linked("old/lib.so"));
}

#[test]
fn musl_loads_a_shrunk_library() {
    // It has no `--version`.
    if !have(&["gcc"])
        || !Path::new("/usr/bin/musl-gcc").exists() && !crate::oracle::skip("not installed: musl-gcc")
    {
        return;
    }
    let (_folder, path) = built("musl-gcc", &[], &[]);
    let before = load(&path, "old/lib.so");
    assert!(before.contains(" 9 -1 -1 1"), "{before}");
    assert_eq!(load(&path, "new/lib.so"), before);
}

#[test]
fn binutils_read_and_strip_a_shrunk_library() {
    if !have(&["gcc", "g++", "readelf", "strip"]) {
        return;
    }
    let (_folder, path) = built("gcc", &["-DWITH_TLS"], &[("throws.cc", THROWS)]);
    let warnings = run("readelf", &["-aW", "new/lib.so"], &path).stderr;
    assert_eq!(String::from_utf8_lossy(&warnings), "");
    let before = load(&path, "old/lib.so");
    for option in ["--strip-debug", "--strip-all"] {
        output("strip", &[option, "-o", "new/stripped.so", "new/lib.so"], &path);
        assert_eq!(load(&path, "new/stripped.so"), before, "{option}");
    }
}

#[test]
fn elflint_has_no_new_complaint() {
    if !have(&["gcc", "g++", "strip", "eu-elflint", "eu-strip"]) {
        return;
    }
    let (_folder, path) = built("gcc", &["-DWITH_TLS"], &[("throws.cc", THROWS)]);
    // Symbols of addresses after a hole name the section of before; the libraries of NVIDIA have none.
    for library in ["old/lib.so", "new/lib.so"] {
        output("strip", &["--strip-all", library], &path);
    }
    shrunk(&path.join("old/lib.so"), &path.join("new/lib.so"));
    let complaints = |library: &str| {
        let done = run("eu-elflint", &["--gnu-ld", library], &path);
        String::from_utf8_lossy(&done.stdout).into_owned()
    };
    assert_eq!(complaints("new/lib.so"), complaints("old/lib.so"));
    output("eu-strip", &["-g", "-o", "new/stripped.so", "new/lib.so"], &path);
    assert_eq!(load(&path, "new/stripped.so"), load(&path, "old/lib.so"));
}

#[test]
fn patchelf_changes_a_shrunk_library() {
    if !have(&["gcc", "g++", "patchelf"]) {
        return;
    }
    let (_folder, path) = built("gcc", &["-DWITH_TLS"], &[("throws.cc", THROWS)]);
    assert_eq!(output("patchelf", &["--print-rpath", "new/lib.so"], &path), "/opt/x\n");
    let before = load(&path, "old/lib.so");
    output("patchelf", &["--set-rpath", "/a/longer/path/that/does/not/fit", "new/lib.so"], &path);
    assert_eq!(
        output("patchelf", &["--print-rpath", "new/lib.so"], &path),
        "/a/longer/path/that/does/not/fit\n"
    );
    assert_eq!(load(&path, "new/lib.so"), before);
}

#[test]
fn gdb_finds_symbols_and_bytes() {
    if !have(&["gcc", "g++", "gdb"]) {
        return;
    }
    let (_folder, path) = built("gcc", &["-DWITH_TLS"], &[("throws.cc", THROWS)]);
    let asked = |library: &str| {
        let commands =
            ["info address catches", "x/4xb gpu_code", "x/2xb gpu_code+100000", "info line catches"];
        let mut arguments = vec!["-batch", "-nx"];
        for command in commands {
            arguments.extend(["-ex", command]);
        }
        arguments.push(library);
        output("gdb", &arguments, &path)
    };
    let before = asked("old/lib.so");
    assert!(before.contains("0x11"), "{before}");
    assert_eq!(asked("new/lib.so"), before);
}
