//! What is found in programs and libraries.

use super::*;

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
    let cases: [(bool, Vec<u8>, UncertaintyReason); 17] = [
        (true, [GO, b"gitsecretclone"].concat(), UncertaintyReason::Plain),
        (true, [GO, b"os/exec.(*Cmd).Start\0"].concat(), UncertaintyReason::Unbounded),
        (true, [GO, b"\0system\0popen\0"].concat(), UncertaintyReason::Plain),
        (true, RUST.to_vec(), UncertaintyReason::Rust),
        (true, [b"\0posix_spawnp\0", RUST].concat(), UncertaintyReason::Unbounded),
        (true, b"\0execvp\0".to_vec(), UncertaintyReason::Instructions),
        (true, b"\0/bin/sh\0-c\0".to_vec(), UncertaintyReason::Shell),
        (true, b"\0/bin/shutdown\0".to_vec(), UncertaintyReason::Plain),
        (false, b"\0execvp\0".to_vec(), UncertaintyReason::Library),
        (false, b"\0my_popen\0".to_vec(), UncertaintyReason::Library),
        (false, b"\0filesystem\0popens\0".to_vec(), UncertaintyReason::Plain),
        (false, b"\0_cython_3_2_0\0gccstripsubprocesstext\0".to_vec(), UncertaintyReason::Unbounded),
        (false, b"\0_cython_3_10\0makeossystemtext\0".to_vec(), UncertaintyReason::Unbounded),
        (false, b"\0_cython_3_2_0\0filesystemnumpy\0".to_vec(), UncertaintyReason::Plain),
        // Compressed strings may name anything.
        (
            false,
            b"\0_cython_3_2_0\0macro 'CYTHON_COMPRESS_STRINGS=%d'.\0".to_vec(),
            UncertaintyReason::Unbounded,
        ),
        (
            false,
            b"\0_cython_3_3_1\0LZSS string data decompression failed\0".to_vec(),
            UncertaintyReason::Unbounded,
        ),
        (false, b"\0_cython_3_0_11\0gccstripsubprocesstext\0".to_vec(), UncertaintyReason::Plain),
    ];
    for (program, strings, habit) in cases {
        let bytes = elf(program, &strings);
        for piece in [1, 7, 100, bytes.len()] {
            assert_eq!(found(Sort::Binary, &bytes, piece).habit, habit, "{}", strings.escape_ascii());
        }
    }
    let of_go = |rest: &[u8]| words(Sort::Binary, elf(true, &[GO, b"\0go\0", rest].concat()));
    assert_eq!(of_go(b""), <[&str; 0]>::default());
    assert_eq!(of_go(b"os/exec.(*Cmd).Start\0\0system\0"), ["go"], "it may start what it names");
    // A number looks like it; longer names are none.
    assert_eq!(of_go(b"os/exec.(*Cmd).Start\0"), <[&str; 0]>::default());
    assert_eq!(of_go(b"syscall.Exec\0/usr/bin/gcc\0git clone --depth=1\0"), ["gcc", "git"]);
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
fn tables_for_unwinding_have_no_names() {
    let names = b"\0/lib64/ld-linux-x86-64.so.2\0execvp\0";
    let file = |encoding: u8| {
        let index_at = (64 + 2 * 56 + names.len()) as u64;
        let segment = [
            &[0x50, 0xe5, 0x74, 0x64, 4, 0, 0, 0][..],
            &index_at.to_le_bytes(),
            &[0; 16],
            &12_u64.to_le_bytes(),
            &12_u64.to_le_bytes(),
            &[0; 8],
        ];
        let index = [1, encoding, 3, 0x3b, 8, 0, 0, 0, 0, 0, 0, 0];
        let sections: [(u32, u64, u32, &[u8]); 3] =
            [(1, 2, 0, &index), (1, 2, 0, b"\x10\0\0\0ld\0\0\xc0"), (1, 2, 0, b"\0git\0")];
        let mut bytes = with_kinds(0..4_000, &[&segment.concat()[..], names].concat(), &sections, b"");
        bytes[56] = 2;
        bytes
    };
    for piece in [1, 13, 180, 4_000] {
        assert_eq!(found(Sort::Binary, &file(0x1b), piece).words, ["git"], "pieces of {piece}");
        // Where the table is unknown, all counts.
        assert_eq!(found(Sort::Binary, &file(0), piece).words, ["git", "ld"], "pieces of {piece}");
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
fn what_a_file_was_compiled_with_is_no_demand() {
    for ident in [
        "GCC: (conda-forge gcc 12.4.0-2) 12.4.0",
        "GCC: (Debian 12.2.0-14) 12.2.0",
        "gcc version 12.2.0 (Debian 12.2.0-14)",
        "built by gcc 10.2.1 20210110 (Debian 10.2.1-6)",
        "compiler: gcc -fPIC -pthread -m64 -Wa,--noexecstack -O3",
        "gcc-13 (Ubuntu 13.2.0-23ubuntu4) 13.2.0",
        "g++ (GCC) 11.4.0",
        "COMPILER=gcc-12.2.0",
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
fn tables_of_segments_at_the_end_of_all_offsets_are_no_tables() {
    let header = std::fs::read("fixtures/crashes/mentions/segments-at-the-end").unwrap();
    let mut scanner = Scanner::new(Sort::Binary, header.len() as u64).unwrap();
    scanner.push(&header);
    assert!(scanner.finish().is_empty());
}
