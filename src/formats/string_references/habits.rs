//! How a binary stores its strings, and whether it starts programs.

use serde::{Deserialize, Serialize};

/// Why a binary may reference more than was found in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum UncertaintyReason {
    /// It does not: its strings are terminated, or it starts no program.
    #[default]
    Plain,
    /// It starts programs, and its strings are not terminated: Go, Rust, and Cython since 3.2 store them in one block
    /// without separators.
    Unbounded,
    /// Built by Rust, without references to C library functions that start programs. A static program does not need
    /// them.
    Rust,
    /// A library that starts programs. Only programs are searched for all tools.
    Library,
    /// The package manager uv: it names the tools that building packages from source takes, and starts them only then.
    PackageManager,
    /// A program that starts programs: compilers of C and C++ put strings of some bytes into instructions.
    Instructions,
    /// Has the path of the shell or a system call that may be `execve`, and no names of functions that start programs: if
    /// it is static, it needs none and may start others.
    Shell,
}

/// The interpreter name of a program is within this many bytes of the file's start, unless it was moved.
const FRONT: u64 = 64 << 10;
/// C library functions that start programs.
const STARTERS: [&[u8]; 12] = [
    b"posix_spawn",
    b"posix_spawnp",
    b"execl",
    b"execle",
    b"execlp",
    b"execv",
    b"execve",
    b"execvp",
    b"execvpe",
    b"fexecve",
    b"popen",
    b"system",
];
/// Length of the longest of them.
const LONGEST: usize = 12;

#[derive(Default)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts about one program")]
pub(super) struct StringScanState {
    go: bool,
    /// Contains Go's own function for starting programs.
    go_starts: bool,
    rust: bool,
    /// Contains paths of the sources of uv.
    uv: bool,
    /// Cython 3.2 or later made it.
    cython: bool,
    /// Contains the name of something in Python that starts programs, not terminated, or compressed strings.
    python_starts: bool,
    starts: bool,
    shell: bool,
    /// Offset in the file from which it is known to be a program.
    program: Option<u64>,
    /// Bytes of the file before the current range.
    before: u64,
}

impl StringScanState {
    /// Takes in the first bytes of the file. What is no ELF file is searched as a program.
    pub(super) fn begin(&mut self, bytes: &[u8]) {
        let is_elf = bytes.starts_with(crate::formats::elf::MAGIC);
        let of_fixed_place = matches!(bytes.get(16..18), Some([2, 0] | [0, 2]));
        // The system call of ARM, PowerPC, S/390 and RISC-V is not searched for.
        let of_others = matches!(bytes.get(18..20), Some([183 | 40 | 21 | 22 | 243, 0] | [0, 21 | 22]));
        self.shell = is_elf && of_fixed_place && of_others;
        self.program = (!is_elf || of_fixed_place).then_some(0);
    }

    /// Examines a match of a key that shows a habit. `first` is the first of these bytes that is new. Returns whether it is
    /// in the name `system`, which is also a word.
    pub(super) fn look(&mut self, bytes: &[u8], at: usize, key: &str, first: usize) -> bool {
        let has = |back: usize, text: &[u8]| {
            at.checked_sub(back).and_then(|start| bytes.get(start..start + text.len())) == Some(text)
        };
        // What Python has for it: modules of Cython call no function of the C library.
        self.python_starts |= match key {
            "bpro" => has(2, b"subprocess"),
            "exec" => has(0, b"execv") || has(0, b"execl"),
            "pawn" => has(1, b"spawn"),
            "pope" => has(0, b"popen"),
            "stem" => has(2, b"system") && !has(6, b"filesystem"),
            // Compressed strings may name anything.
            "S_ST" => has(14, b"CYTHON_COMPRESS_STRINGS="),
            "LZSS" => has(0, b"LZSS string data decompression"),
            _ => false,
        };
        match key {
            "bpro" | "pawn" | "S_ST" | "LZSS" => {}
            "n_3_" => {
                let minor = bytes.get(at + key.len()..).unwrap_or(&[]);
                let is_old = matches!(minor, [b'0' | b'1', next, ..] if !next.is_ascii_digit());
                self.cython |= has(6, b"_cython_3_") && !is_old;
            }
            " Go " => self.go |= has(1, b"\xff Go buildinf:"),
            "(*Cm" => self.go_starts |= has(8, b"os/exec.(*Cmd)"),
            "ustc" => self.rust |= has(2, b"/rustc/"),
            "s/uv" => self.uv |= has(5, b"crates/uv/src/"),
            // `mov $59, %eax`
            ";\0\0\0" => self.shell |= has(1, b"\xb8;\0\0\0"),
            "n/sh" => self.shell |= has(3, b"/bin/sh\0"),
            "/ld-" if self.program.is_none() && (has(0, b"/ld-linux") || has(0, b"/ld-musl")) => {
                self.program = Some(self.before + (at - first) as u64);
            }
            "/ld-" => {}
            _ => {
                // Linkers merge a string with the tail of another.
                let rest = bytes.get(at..).unwrap_or(&[]);
                let end = rest.iter().take(LONGEST + 1).position(|byte| *byte == 0);
                let Some(end) = end.map(|length| at + length) else { return false };
                let mut names = STARTERS.iter().filter(|name| {
                    let start = end.checked_sub(name.len()).filter(|start| *start <= at);
                    start.is_some_and(|start| {
                        let before = start.checked_sub(1).and_then(|at| bytes.get(at));
                        let begins = before.is_none_or(|byte| *byte == 0)
                            || before == Some(&b'_') && *name != b"system";
                        begins && bytes.get(start..end) == Some(**name)
                    })
                });
                let Some(name) = names.next() else { return false };
                if *name == b"system" {
                    return true;
                }
                self.starts = true;
            }
        }
        false
    }

    /// Notes that it has the function `system`.
    pub(super) fn start(&mut self) {
        self.starts = true;
    }

    /// Start of the part of `range` that is known to belong to a program.
    pub(super) fn program(&self, range: &std::ops::Range<usize>) -> Option<usize> {
        let skipped = self.program?.saturating_sub(self.before);
        let from = range.start + usize::try_from(skipped).ok()?;
        (from < range.end).then_some(from)
    }

    /// Bytes of the file before the range that is searched.
    pub(super) fn before(&self) -> u64 {
        self.before
    }

    pub(super) fn passed(&mut self, bytes: usize) {
        self.before += bytes as u64;
    }

    /// Whether Go built it.
    pub(super) fn is_of_go(&self) -> bool {
        self.go
    }

    /// Whether functions of the C library start programs in it.
    pub(super) fn starts_in_c(&self) -> bool {
        self.starts
    }

    /// Whether it starts programs.
    pub(super) fn starts(&self) -> bool {
        if self.go { self.go_starts } else { self.starts }
    }

    pub(super) fn habit(&self) -> UncertaintyReason {
        match (self.go || self.rust, self.starts()) {
            _ if self.rust && self.uv => UncertaintyReason::PackageManager,
            (true, true) => UncertaintyReason::Unbounded,
            _ if self.cython && self.python_starts => UncertaintyReason::Unbounded,
            _ if self.rust && !self.go => UncertaintyReason::Rust,
            (false, true) if self.program.is_none_or(|from| from > FRONT) => UncertaintyReason::Library,
            (false, true) => UncertaintyReason::Instructions,
            (false, false) if self.shell => UncertaintyReason::Shell,
            _ => UncertaintyReason::Plain,
        }
    }
}
