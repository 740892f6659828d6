//! GPU code: architectures against files, in bytes.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::libraries::LibraryItem;
use super::target::{CodeTarget, Fit};
use super::words;
use crate::base::size::human;
use crate::base::text::counted;
use crate::base::text::escape;
use crate::cuda::kind_label;
use crate::cuda::{GpuCode, Inventory};
use crate::formats::fatbin::{ContainerFacts, GpuKind, Suffix};
use crate::rootfs::Rootfs;

/// Bytes of GPU code of one architecture, by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CodeBytes {
    /// Machine code.
    pub sass: u64,
    /// Assembler text that the driver compiles.
    pub ptx: u64,
    /// Code for the linker.
    pub lto: u64,
    /// Of kinds that are not known.
    pub other: u64,
}

impl CodeBytes {
    /// The kinds in the order in which they are shown, with their bytes.
    pub fn each(self) -> [(GpuKind, u64); 4] {
        [
            (GpuKind::Sass, self.sass),
            (GpuKind::Ptx, self.ptx),
            (GpuKind::Lto, self.lto),
            (GpuKind::Other(0), self.other),
        ]
    }

    /// All of them.
    pub fn bytes(self) -> u64 {
        self.each().into_iter().map(|(_, bytes)| bytes).fold(0, u64::saturating_add)
    }

    fn add(&mut self, kind: GpuKind, bytes: u64) {
        let part = match kind {
            GpuKind::Sass => &mut self.sass,
            GpuKind::Ptx => &mut self.ptx,
            GpuKind::Lto => &mut self.lto,
            GpuKind::Other(_) => &mut self.other,
        };
        *part = part.saturating_add(bytes);
    }
}

/// An architecture: a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Architecture {
    /// SM number.
    pub arch: u32,
    /// `a` or `f`.
    pub suffix: Option<Suffix>,
    /// Both: `90a`.
    pub label: String,
    /// Bytes in the whole image, each file once.
    pub parts: CodeBytes,
    /// The same once unpacked.
    pub uncompressed: u64,
}

impl Architecture {
    /// The best that any of its code does on a GPU.
    pub fn fit(&self, parts: CodeBytes, target: &CodeTarget) -> Fit {
        let used = parts.each().into_iter().filter(|(_, bytes)| *bytes > 0);
        used.map(|(kind, _)| target.fit(kind, self.arch, self.suffix)).max().unwrap_or(Fit::Never)
    }

    /// Its bytes by kind, in words: `SASS 1.20 MiB, PTX 300 KiB`.
    pub fn kinds(parts: CodeBytes) -> String {
        let used = parts.each().into_iter().filter(|(_, bytes)| *bytes > 0);
        let used = used.map(|(kind, bytes)| format!("{} {}", kind_label(kind), human(bytes)));
        used.collect::<Vec<_>>().join(", ")
    }
}

/// A file with GPU code: a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArchMatrixRow {
    /// The library, in the model; `None` for other files.
    pub library: Option<usize>,
    /// File name, safe to show.
    pub name: String,
    /// Absolute path, safe to show.
    pub path: String,
    /// Absolute path, any bytes.
    pub raw: Vec<u8>,
    /// What it is, where it is no library.
    pub word: &'static str,
    /// Bytes for each architecture, in the order of the columns.
    pub cells: Vec<CodeBytes>,
    /// All of them.
    pub bytes: u64,
    /// The containers of it.
    pub containers: ContainerFacts,
}

/// Architectures against files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ArchMatrix {
    /// The columns, oldest architecture first.
    pub architectures: Vec<Architecture>,
    /// The rows, largest first.
    pub rows: Vec<ArchMatrixRow>,
    /// Bytes of all GPU code, each file once.
    pub bytes: u64,
}

/// What a GPU makes of all GPU code of an image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeVerdict {
    /// Bytes that run as they are.
    pub native: u64,
    /// Bytes that the driver can compile.
    pub jit: u64,
    /// Bytes that are of no use there.
    pub never: u64,
    /// Files none of whose GPU code can run.
    pub without: usize,
    /// All of it, in a sentence.
    pub sentence: String,
}

impl ArchMatrix {
    pub(super) fn new(inventory: &Inventory, rootfs: &Rootfs, libraries: &[LibraryItem]) -> Self {
        let mut columns: BTreeMap<(u32, Option<Suffix>), (CodeBytes, u64)> = BTreeMap::new();
        for sum in &inventory.gpu_code {
            let column = columns.entry((sum.arch, sum.suffix)).or_default();
            column.0.add(sum.kind, sum.bytes);
            column.1 = column.1.saturating_add(sum.uncompressed_bytes);
        }
        let of_libraries = inventory.libraries.iter().map(|library| &library.gpu_code);
        let of_holders = inventory.holders.iter().map(|holder| &holder.gpu_code);
        for code in of_libraries.chain(of_holders).flatten() {
            columns.entry((code.arch, code.suffix)).or_default();
        }
        let places: BTreeMap<(u32, Option<Suffix>), usize> = columns.keys().copied().zip(0..).collect();
        let cells = |codes: &[GpuCode]| {
            let mut cells = vec![CodeBytes::default(); places.len()];
            for code in codes {
                cells[places[&(code.arch, code.suffix)]].add(code.kind, code.bytes);
            }
            cells
        };
        let mut rows = Vec::new();
        for (place, (library, item)) in inventory.libraries.iter().zip(libraries).enumerate() {
            if library.hard_link_of.is_none() && !library.gpu_code.is_empty() {
                let containers = &library.containers;
                let (name, path, raw) = (item.name.clone(), item.path.clone(), item.raw.clone());
                let cells = cells(&library.gpu_code);
                let bytes = sum(&cells);
                let (library, word) = (Some(place), "");
                let containers = containers.clone();
                rows.push(ArchMatrixRow { library, name, path, raw, word, cells, bytes, containers });
            }
        }
        for holder in &inventory.holders {
            let raw = rootfs.node(holder.node).path();
            let cells = cells(&holder.gpu_code);
            rows.push(ArchMatrixRow {
                library: None,
                name: words::file_name(rootfs, holder.node),
                path: escape(&raw),
                raw,
                word: words::holder(holder.kind),
                bytes: sum(&cells),
                cells,
                containers: holder.containers.clone(),
            });
        }
        rows.sort_by(|one, other| (Reverse(one.bytes), &one.raw).cmp(&(Reverse(other.bytes), &other.raw)));
        let architectures: Vec<Architecture> = columns
            .into_iter()
            .map(|((arch, suffix), (parts, uncompressed))| Architecture {
                arch,
                suffix,
                label: words::architecture(arch, suffix),
                parts,
                uncompressed,
            })
            .collect();
        let bytes = architectures.iter().map(|column| column.parts.bytes()).fold(0, u64::saturating_add);
        Self { architectures, rows, bytes }
    }

    /// The row of a library or another file.
    pub fn position(&self, raw: &[u8]) -> Option<usize> {
        self.rows.iter().position(|row| row.raw == raw)
    }

    /// What `target` makes of it.
    pub fn judge(&self, target: &CodeTarget) -> CodeVerdict {
        let (mut native, mut jit, mut never) = (0_u64, 0_u64, 0_u64);
        for column in &self.architectures {
            for (kind, bytes) in column.parts.each() {
                let sum = match target.fit(kind, column.arch, column.suffix) {
                    Fit::Native => &mut native,
                    Fit::Jit => &mut jit,
                    Fit::Never => &mut never,
                };
                *sum = sum.saturating_add(bytes);
            }
        }
        let runs = |row: &ArchMatrixRow| {
            let mut cells = row.cells.iter().zip(&self.architectures);
            cells.any(|(parts, column)| column.fit(*parts, target) > Fit::Never)
        };
        let without = self.rows.iter().filter(|row| !runs(row)).count();
        let sentence = sentence(target, native, jit, never, without, self.rows.len());
        CodeVerdict { native, jit, never, without, sentence }
    }
}

fn sum(cells: &[CodeBytes]) -> u64 {
    cells.iter().map(|parts| parts.bytes()).fold(0, u64::saturating_add)
}

fn sentence(target: &CodeTarget, native: u64, jit: u64, never: u64, without: usize, files: usize) -> String {
    let name = target.title();
    let mut text = match (native, jit) {
        (0, 0) => format!("No GPU code runs on {name}"),
        (0, jit) => format!("{name}: no native code, {} compiled by the driver (JIT)", human(jit)),
        (native, 0) => format!("{name}: {} runs natively", human(native)),
        (native, jit) => {
            format!("{name}: {} runs natively, {} compiled by the driver (JIT)", human(native), human(jit))
        }
    };
    if never > 0 && native + jit > 0 {
        text = format!("{text}, {} never runs", human(never));
    }
    text.push('.');
    if without > 0 && native.saturating_add(jit) > 0 {
        let files = format!("{without} of {}", counted(files, "file"));
        let contain = if without == 1 { "contains" } else { "contain" };
        text = format!("{text} {files} {contain} no usable code for it.");
    }
    text
}
