//! Single files of an image that have no function of their own beside their parser.

use crate::formats::compression::{Compression, SNIFF_BYTES, sniff};
use crate::formats::packages::{apk, apt, conda, dnf, dpkg, npm, pip, rpm as packages};
use crate::formats::python_project;
use crate::formats::string_references::{Scanner, Sort};
use crate::formats::zstd::zstd_window;

/// The package databases of Debian and Alpine.
pub fn packages_system(data: &[u8]) {
    dpkg::read_status(data);
    dpkg::list_paths(data).for_each(drop);
    dpkg::read_md5sums(data);
    dpkg::list_name(data);
    apk::read_installed(data);
    apk::read_world(data);
    apt::read_states(data);
    apt::read_conf(data, &mut apt::AutoRemove::default());
}

/// The records of Python packages and of npm, and the projects that require them.
pub fn packages_python(data: &[u8]) {
    python_project::Project::read(data);
    npm::read_installed(data);
    npm::Project::read(data);
    pip::read_metadata(data);
    pip::record_paths(data, |_| ());
    pip::torch_version(data);
    conda::read_meta(data);
}

/// The databases of rpm that are read without `SQLite`, and one header alone.
pub fn rpm(data: &[u8]) {
    if let Some(kind) = packages::sniff(data).filter(|kind| *kind != packages::DatabaseKind::Sqlite) {
        packages::read(data, kind);
    }
    packages::read_header(data);
    dnf::read_reasons(data);
    dnf::read_groups(data);
}

/// The databases of rpm and dnf that `SQLite` reads.
pub fn rpm_sqlite(data: &[u8]) {
    if packages::sniff(data) == Some(packages::DatabaseKind::Sqlite) {
        packages::read(data, packages::DatabaseKind::Sqlite);
    }
    dnf::read_history(data, &[]);
    dnf::read_history(data, data);
}

/// Words that a file names: pieces of any length give the same.
///
/// # Panics
/// When the length of pieces matters, or names are not in order.
pub fn mentions(data: &[u8]) {
    for sort in [
        Sort::Script,
        Sort::Python,
        Sort::JavaScript,
        Sort::Source,
        Sort::Code,
        Sort::Text,
        Sort::Plain,
        Sort::Binary,
    ] {
        let search = |piece: usize| {
            let mut scanner = Scanner::new(sort, data.len() as u64)?;
            data.chunks(piece).for_each(|bytes| scanner.push(bytes));
            Some(scanner.finish())
        };
        let whole = search(data.len().max(1));
        assert_eq!(whole, search(7), "{sort:?}: the length of pieces matters");
        let libraries = whole.map(|found| found.libraries).unwrap_or_default();
        assert!(libraries.is_sorted(), "names of libraries are sorted");
    }
}

/// Detects the compression of a stream, and the memory its first frame needs.
///
/// # Panics
/// If bytes after the inspected ones change the answer, or a zstd frame is misdetected.
pub fn sniffing(data: &[u8]) {
    let head = data.get(..SNIFF_BYTES).unwrap_or(data);
    let found = sniff(head);
    if data.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) && !crate::formats::tar::is_header(head) {
        assert_eq!(found, Ok(Compression::Zstd));
    }
    if let Some(window) = zstd_window(head) {
        assert_eq!(
            zstd_window(data),
            Some(window),
            "a header that is there says the same with more behind it"
        );
    }
}
