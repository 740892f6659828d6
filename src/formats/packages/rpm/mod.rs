//! rpm databases. All three kinds store one header per package, in different containers.

mod hash;
mod header;
mod ndb;
mod sqlite;

use header::Header;
pub(super) use sqlite::rows;

use super::{Bounds, Collector, Package, Read, some_text, text};

/// Format of a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DatabaseKind {
    /// `rpmdb.sqlite`: Fedora 33, RHEL 9 and later.
    Sqlite,
    /// `Packages`, a Berkeley DB hash: earlier versions.
    BerkeleyHash,
    /// `Packages.db`, the format of SUSE.
    Ndb,
}

/// Detects the kind from the first bytes. `None` for anything else, also for the other tables of Berkeley DB, which are
/// trees.
pub fn sniff(bytes: &[u8]) -> Option<DatabaseKind> {
    if bytes.starts_with(sqlite::MAGIC) {
        return Some(DatabaseKind::Sqlite);
    }
    if bytes.starts_with(ndb::MAGIC) {
        return Some(DatabaseKind::Ndb);
    }
    hash::byte_order(bytes).map(|_| DatabaseKind::BerkeleyHash)
}

/// Reads all packages of a database. Signature keys, which rpm stores as packages named `gpg-pubkey`, are left out. A
/// write-ahead log (`-wal`) of an `SQLite` database is not applied.
pub fn read(bytes: &[u8], kind: DatabaseKind) -> Read {
    let mut blobs = Blobs { collector: Collector::new(Bounds::USUAL), left: bytes.len(), full: false };
    match kind {
        DatabaseKind::Sqlite => sqlite::read(bytes, &mut blobs),
        DatabaseKind::BerkeleyHash => hash::read(bytes, &mut blobs),
        DatabaseKind::Ndb => ndb::read(bytes, &mut blobs),
    }
    blobs.collector.finish()
}

/// Reads a single header, as databases store it.
pub fn read_header(blob: &[u8]) -> Read {
    let mut blobs = Blobs { collector: Collector::new(Bounds::USUAL), left: blob.len(), full: false };
    blobs.add(0, blob);
    blobs.collector.finish()
}

/// Reads the stored headers. Their total size cannot exceed the database, unless it references the same bytes
/// repeatedly.
struct Blobs {
    collector: Collector,
    left: usize,
    full: bool,
}

impl Blobs {
    /// Charges `bytes` to the total size of headers; `false` if the database references bytes repeatedly.
    fn charge(&mut self, at: usize, bytes: usize) -> bool {
        if let Some(left) = self.left.checked_sub(bytes) {
            self.left = left;
            return true;
        }
        self.collector.problem(at, "overlapping headers; the rest is omitted");
        self.full = true;
        false
    }

    fn problem(&mut self, at: usize, what: impl std::fmt::Display) {
        self.collector.problem(at, what);
    }

    /// Whether reading should end.
    fn is_full(&self) -> bool {
        self.full
    }

    /// Reads the header `blob`, located at `at`.
    fn add(&mut self, at: usize, blob: &[u8]) {
        let header = match Header::parse(blob) {
            Ok(header) => header,
            Err(what) => return self.problem(at, what),
        };
        match package(&header, at, &mut self.collector) {
            Some(package) if package.name == "gpg-pubkey" => {}
            Some(package) => self.full |= !self.collector.package(at, package),
            None => self.problem(at, "header without a name"),
        }
    }
}

// Tags of rpmtag.h.
const NAME: u32 = 1000;
const VERSION: u32 = 1001;
const RELEASE: u32 = 1002;
const EPOCH: u32 = 1003;
const VENDOR: u32 = 1011;
const PACKAGER: u32 = 1015;
const ARCHITECTURE: u32 = 1022;
const OLD_FILE_NAMES: u32 = 1027;
const SOURCE_RPM: u32 = 1044;
const PROVIDE_NAME: u32 = 1047;
const REQUIRE_NAME: u32 = 1049;
const DIRECTORY_INDEXES: u32 = 1116;
const BASE_NAMES: u32 = 1117;
const DIRECTORY_NAMES: u32 = 1118;
const RECOMMEND_NAME: u32 = 5046;

fn package(header: &Header<'_>, at: usize, collector: &mut Collector) -> Option<Package> {
    let word = |tag| header.text(tag).and_then(some_text);
    let name = word(NAME)?;
    let mut version = header.text(VERSION).map(text).unwrap_or_default();
    if let Some(release) = word(RELEASE) {
        version = format!("{version}-{release}");
    }
    // A missing epoch equals epoch 0.
    if let Some(epoch) = header.number(EPOCH).filter(|epoch| *epoch != 0) {
        version = format!("{epoch}:{version}");
    }
    // Names with this prefix are features of rpm itself, not packages.
    let needed = header.texts(REQUIRE_NAME).filter(|name| !name.starts_with(b"rpmlib("));
    Some(Package {
        name,
        version,
        architecture: word(ARCHITECTURE),
        source: word(SOURCE_RPM),
        maker: word(VENDOR).or_else(|| word(PACKAGER)),
        depends: collector.names(at, needed),
        recommends: collector.names(at, header.texts(RECOMMEND_NAME)),
        provides: collector.names(at, header.texts(PROVIDE_NAME)),
        installed: true,
        files: Some(files(header, at, collector)),
        ..Package::default()
    })
}

/// The files: names and indexes of their folders; full paths in headers from before 1999.
fn files(header: &Header<'_>, at: usize, collector: &mut Collector) -> Vec<Vec<u8>> {
    let mut files = Vec::new();
    for path in header.texts(OLD_FILE_NAMES) {
        if !collector.path(at, &mut files, &[path]) {
            return files;
        }
    }
    let folders: Vec<&[u8]> = header.texts(DIRECTORY_NAMES).collect();
    let mut indexes = header.numbers(DIRECTORY_INDEXES);
    for name in header.texts(BASE_NAMES) {
        let folder = indexes.next().and_then(|index| folders.get(usize::try_from(index).ok()?));
        let Some(folder) = folder else {
            collector.problem(at, "file without a folder; the files after it are omitted");
            break;
        };
        if !collector.path(at, &mut files, &[folder, name]) {
            break;
        }
    }
    files
}

#[cfg(test)]
mod tests;
