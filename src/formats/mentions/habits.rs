//! How a binary keeps its strings, and whether it starts programs.

use serde::{Deserialize, Serialize};

/// Why a binary may name more than was found in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Habit {
    /// It does not: its strings have bounds, or it starts no program.
    #[default]
    Plain,
    /// It starts programs, and its strings have no bounds: those of Go and Rust lie in one block, without a byte
    /// between them.
    Unbounded,
    /// It was made by Rust and has no symbols of a C library that start programs. When it is static, it need not.
    Rust,
    /// A library that starts programs. Only programs are searched for all tools.
    Library,
}

/// Bytes of a file within which the name of its loader stands, unless it was moved afterwards.
const FRONT: u64 = 64 << 10;
/// Functions of the C library that start programs.
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
/// Bytes of the longest of them.
const LONGEST: usize = 12;

#[derive(Default)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts about one program")]
pub(super) struct Habits {
    go: bool,
    /// Go has a function of its own for it.
    go_starts: bool,
    rust: bool,
    starts: bool,
    /// It is a program from here on: bytes of the file.
    program: Option<u64>,
    /// Bytes of the file before those that are looked at.
    before: u64,
}

impl Habits {
    /// Takes in the first bytes of the file. What is no ELF file is searched as a program.
    pub(super) fn begin(&mut self, bytes: &[u8]) {
        let is_elf = bytes.starts_with(crate::formats::elf::MAGIC);
        let of_fixed_place = matches!(bytes.get(16..18), Some([2, 0] | [0, 2]));
        self.program = (!is_elf || of_fixed_place).then_some(0);
    }

    /// Takes in a place with a key of [`HABITS`](super::keys::HABITS). `first` is the first of these bytes that was
    /// not looked at before.
    pub(super) fn look(&mut self, bytes: &[u8], at: usize, key: &str, first: usize) {
        let has = |back: usize, text: &[u8]| {
            at.checked_sub(back).and_then(|start| bytes.get(start..start + text.len())) == Some(text)
        };
        match key {
            " Go " => self.go |= has(1, b"\xff Go buildinf:"),
            "(*Cm" => self.go_starts |= has(8, b"os/exec.(*Cmd)"),
            "ustc" => self.rust |= has(2, b"/rustc/"),
            "/ld-" if self.program.is_none() && (has(0, b"/ld-linux") || has(0, b"/ld-musl")) => {
                self.program = Some(self.before + (at - first) as u64);
            }
            "/ld-" => {}
            _ => {
                // Linkers let one name be the end of another.
                let rest = bytes.get(at..).unwrap_or(&[]);
                let end = rest.iter().take(LONGEST + 1).position(|byte| *byte == 0);
                let Some(end) = end.map(|length| at + length) else { return };
                self.starts |= STARTERS.iter().any(|name| {
                    let start = end.checked_sub(name.len()).filter(|start| *start <= at);
                    start.is_some_and(|start| {
                        let before = start.checked_sub(1).and_then(|at| bytes.get(at));
                        let begins = before.is_none_or(|byte| *byte == 0)
                            || before == Some(&b'_') && *name != b"system";
                        begins && bytes.get(start..end) == Some(*name)
                    })
                });
            }
        }
    }

    /// From where on the bytes at `range` are those of a program.
    pub(super) fn program(&self, range: &std::ops::Range<usize>) -> Option<usize> {
        let skipped = self.program?.saturating_sub(self.before);
        let from = range.start + usize::try_from(skipped).ok()?;
        (from < range.end).then_some(from)
    }

    pub(super) fn passed(&mut self, bytes: usize) {
        self.before += bytes as u64;
    }

    /// Whether it starts programs.
    pub(super) fn starts(&self) -> bool {
        if self.go { self.go_starts } else { self.starts }
    }

    pub(super) fn habit(&self) -> Habit {
        match (self.go || self.rust, self.starts()) {
            (true, true) => Habit::Unbounded,
            _ if self.rust && !self.go => Habit::Rust,
            (false, true) if self.program.is_none_or(|from| from > FRONT) => Habit::Library,
            _ => Habit::Plain,
        }
    }
}
