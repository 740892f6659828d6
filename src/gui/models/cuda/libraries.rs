//! Libraries as they are listed.

use std::sync::Arc;

use super::words;
use crate::base::labels::ENTRY_POINT;
use crate::base::labels::inline;
use crate::base::size::human;
use crate::base::text::counted;
use crate::base::text::{escape, printable};
use crate::cuda::{Inventory, Library, Role, Supplier, Use, arch_name};
use crate::report::{LibraryLine, library_lines};
use crate::rootfs::Rootfs;

/// A library as a line of the table.
#[derive(Clone, Debug)]
pub struct LibraryItem {
    /// Its fields in the report, for columns that show them as they are.
    pub line: LibraryLine,
    /// Its file name, safe to show.
    pub name: String,
    /// Its absolute path, safe to show.
    pub path: String,
    /// Its absolute path, any bytes.
    pub raw: Vec<u8>,
    /// Its component.
    pub component: Arc<str>,
    /// Its version, or a dash.
    pub version: String,
    /// Who brought it.
    pub supplier: Supplier,
    /// The layer that contains its bytes.
    pub layer: u16,
    /// Its size.
    pub bytes: u64,
    /// What it adds to a sum: nothing for a second name of a file.
    pub counted: u64,
    /// Bytes of GPU code with their containers.
    pub gpu_bytes: u64,
    /// Architectures of its GPU code, as compilers write them.
    pub codes: Vec<String>,
    /// Whether something that runs reaches it.
    pub usage: Use,
    /// Whether it is loaded on its own: a program, a preloaded library or a plug-in.
    pub is_root: bool,
    /// What is unusual about it, in words.
    pub words: Vec<String>,
}

impl LibraryItem {
    pub(super) fn all(inventory: &Inventory, rootfs: &Rootfs) -> Vec<Self> {
        let lines = library_lines(inventory, rootfs);
        let libraries = inventory.libraries.iter().zip(lines);
        libraries.map(|(library, line)| Self::new(inventory, rootfs, library, line)).collect()
    }

    fn new(inventory: &Inventory, rootfs: &Rootfs, library: &Library, line: LibraryLine) -> Self {
        let node = rootfs.node(library.node);
        let raw = node.path();
        let object = words::object(&inventory.links, library.object);
        let mut codes: Vec<String> =
            library.gpu_code.iter().map(|code| arch_name(code.kind, code.arch, code.suffix)).collect();
        codes.sort();
        codes.dedup();
        let mut notes = Vec::new();
        if library.role != Role::Runtime {
            notes.push(inline(library.role.label()));
        }
        notes.extend(library.foreign.as_deref().map(printable));
        if library.hard_link_of.is_some() {
            notes.push("hard link".to_owned());
        }
        Self {
            line,
            name: escape(node.name()),
            path: escape(&raw),
            raw,
            component: Arc::clone(&library.component),
            version: library
                .version
                .as_ref()
                .map_or_else(|| words::UNKNOWN.to_owned(), |(version, _)| printable(version)),
            supplier: library.supplier,
            layer: library.layer,
            bytes: library.bytes,
            counted: if library.hard_link_of.is_some() { 0 } else { library.bytes },
            gpu_bytes: library.gpu_section_bytes,
            codes,
            usage: object.map_or(Use::Unreferenced, |object| object.usage),
            is_root: object.is_some_and(|object| object.root.is_some()),
            words: notes,
        }
    }

    /// Why it is loaded, in words: nothing needs an entry point.
    pub fn use_label(&self) -> &'static str {
        if self.is_root && self.line.needed_by.is_empty() { ENTRY_POINT } else { self.usage.label() }
    }

    /// Screen reader text.
    pub fn spoken(&self) -> String {
        let mut text = format!("{}, {}", self.name, human(self.bytes));
        for word in &self.words {
            text = format!("{text}, {word}");
        }
        if self.gpu_bytes > 0 {
            text = format!("{text}, {} of GPU code", human(self.gpu_bytes));
        }
        format!(
            "{text}, version {}, {}, layer {}, {}, needed by {}",
            self.version,
            self.supplier.label(),
            self.layer,
            self.use_label(),
            counted(self.line.needed_by.len(), "file")
        )
    }
}
