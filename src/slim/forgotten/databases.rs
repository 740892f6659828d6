//! The package databases of an image, with the files that belong to single packages.

use hashbrown::HashMap;

use crate::analysis::Analysis;
use crate::base::convert::layer16;
use crate::base::text::escape;
use crate::cuda::links::Paths;
use crate::formats::document::DocumentKind;
use crate::formats::packages::dpkg::{DIVERSIONS, Diversions};
use crate::formats::packages::forget::without_packages;
use crate::formats::packages::rpm::{self, DatabaseKind};
use crate::formats::packages::{Package, Read, apk, dpkg};
use crate::layer::Document;
use crate::rootfs::NodeId;
use crate::slim::bits::Bits;
use crate::slim::compare::Inode;

/// The package managers of distributions.
pub(super) const MANAGERS: [&str; 3] = ["dpkg", "rpm", "apk"];

/// The folder with the files that dpkg has for each package.
const INFO: &[u8] = b"/var/lib/dpkg/info";

/// The databases that the merged view shows.
pub(super) struct Databases<'a> {
    pub(super) list: Vec<Database<'a>>,
    pub(super) diversions: Diversions,
    /// Databases that could not be read.
    pub(super) notes: Vec<String>,
}

/// One database.
pub(super) struct Database<'a> {
    pub(super) manager: &'static str,
    pub(super) node: NodeId,
    pub(super) inode: Inode,
    pub(super) bytes: Vec<u8>,
    pub(super) read: Read,
    /// Why it cannot be edited.
    pub(super) fault: Option<String>,
    path: Vec<u8>,
    kind: DocumentKind,
    /// By package of dpkg: its file list, and its files in the database.
    of_dpkg: Vec<Own<'a>>,
}

/// What dpkg has for a package beside `status`.
#[derive(Clone, Default)]
struct Own<'a> {
    list: Option<&'a Document>,
    papers: Vec<NodeId>,
}

/// A document that the merged view shows.
struct Visible<'a> {
    node: NodeId,
    inode: Inode,
    document: &'a Document,
}

impl<'a> Databases<'a> {
    /// Databases that are removed, by the nodes in `gone`, are left out.
    pub(super) fn read(analysis: &'a Analysis, paths: &Paths<'_>, gone: &Bits) -> Self {
        let rootfs = paths.rootfs();
        let mut visible: Vec<Visible<'a>> = Vec::new();
        for (number, layer) in analysis.layers.iter().enumerate() {
            let number = layer16(number);
            let documents = layer.read.as_deref().map(|read| read.facts.documents()).unwrap_or_default();
            for document in documents {
                let nodes = rootfs.all_names(number, document.entry);
                visible.extend(nodes.map(|node| Visible { node, inode: (number, document.entry), document }));
            }
        }
        visible.sort_by_cached_key(|visible| rootfs.node(visible.node).path());
        let info = Info::new(paths, &visible);
        let (diversions, fault) = diversions(paths, &visible);
        let (mut list, mut notes) = (Vec::new(), Vec::new());
        for one in visible.iter().filter(|visible| !gone.has(visible.node.0)) {
            let Some(manager) = manager(one.document.kind) else { continue };
            match Database::new(manager, one, paths, &info) {
                Some(database) => list.push(database),
                None => notes.push(format!(
                    "{manager}: {} cannot be read; all of its packages stay",
                    escape(&paths.path(one.node))
                )),
            }
        }
        for database in list.iter_mut().filter(|database| database.manager == "dpkg") {
            database.fault = database.fault.take().or_else(|| fault.clone());
        }
        Self { list, diversions, notes }
    }
}

fn manager(kind: DocumentKind) -> Option<&'static str> {
    match kind {
        DocumentKind::DpkgStatus | DocumentKind::DpkgStatusPart => Some("dpkg"),
        DocumentKind::Rpm => Some("rpm"),
        DocumentKind::Apk => Some("apk"),
        _ => None,
    }
}

/// The diversions of dpkg, and why they are not known.
fn diversions(paths: &Paths<'_>, visible: &[Visible<'_>]) -> (Diversions, Option<String>) {
    let Some(node) = paths.entry_at(DIVERSIONS) else { return (Diversions::default(), None) };
    let document = visible.iter().find(|visible| visible.node == node).and_then(|one| whole(one.document));
    match document.as_deref().and_then(Diversions::read) {
        Some(read) => (read, None),
        None => (Diversions::default(), Some(format!("{} cannot be read", escape(DIVERSIONS)))),
    }
}

/// The bytes of a document that is stored to its end.
fn whole(document: &Document) -> Option<Vec<u8>> {
    document.bytes().ok().filter(|bytes| bytes.len() as u64 == document.size)
}

/// The files of `info`, by the part of their names before the last dot.
struct Info<'a> {
    lists: HashMap<Vec<u8>, &'a Document>,
    /// Those of `status.d`.
    sums: HashMap<NodeId, &'a Document>,
    papers: HashMap<Vec<u8>, Vec<NodeId>>,
}

impl<'a> Info<'a> {
    fn new(paths: &Paths<'_>, visible: &[Visible<'a>]) -> Self {
        let rootfs = paths.rootfs();
        let folder = paths.folder_from(NodeId::ROOT, INFO);
        let mut papers: HashMap<Vec<u8>, Vec<NodeId>> = HashMap::new();
        let mut files: Vec<_> =
            folder.into_iter().flat_map(|folder| rootfs.node(folder).children()).collect();
        files.sort_by_key(|node| node.id());
        for node in files {
            if let Some((stem, _)) = split(node.name()) {
                papers.entry(stem.to_vec()).or_default().push(node.id());
            }
        }
        let lists = visible.iter().filter(|visible| visible.document.kind == DocumentKind::DpkgList);
        let list = |visible: &Visible<'a>| {
            let node = rootfs.node(visible.node);
            let (stem, _) = split(node.name()).filter(|_| Some(node.parent().id()) == folder)?;
            Some((stem.to_vec(), visible.document))
        };
        let sums = visible.iter().filter(|visible| visible.document.kind == DocumentKind::DpkgSums);
        let sums = sums.map(|visible| (visible.node, visible.document)).collect();
        Self { lists: lists.filter_map(list).collect(), sums, papers }
    }

    /// Those of a package. Of packages that may be installed for several architectures, the names have that too; without
    /// it they are of the only package of that name.
    fn of(&self, package: &Package, is_only: bool) -> Own<'a> {
        let architecture = package.architecture.as_deref().unwrap_or_default();
        let full = format!("{}:{architecture}", package.name).into_bytes();
        let stem = if self.lists.contains_key(&full) { full } else { package.name.clone().into_bytes() };
        let list = self.lists.get(&stem).copied().filter(|_| is_only || stem != package.name.as_bytes());
        Own { list, papers: list.and_then(|_| self.papers.get(&stem).cloned()).unwrap_or_default() }
    }
}

/// A file name before and after its last dot.
fn split(name: &[u8]) -> Option<(&[u8], &[u8])> {
    let dot = memchr::memrchr(b'.', name)?;
    Some((&name[..dot], &name[dot + 1..]))
}

impl<'a> Database<'a> {
    /// `None` if it is not stored to its end, or has an unknown format.
    fn new(manager: &'static str, one: &Visible<'a>, paths: &Paths<'_>, info: &Info<'a>) -> Option<Self> {
        let Visible { node, inode, document } = *one;
        let path = paths.path(node);
        let bytes = whole(document)?;
        let mut fault = None;
        let read = match document.kind {
            DocumentKind::DpkgStatus => dpkg::read_whole_status(&bytes),
            DocumentKind::Apk => apk::read_installed(&bytes),
            DocumentKind::Rpm => {
                let kind = rpm::sniff(&bytes)?;
                fault = Some(format!(
                    "{} is {}, which cannot be edited byte for byte",
                    escape(&path),
                    format(kind)
                ));
                rpm::read(&bytes, kind)
            }
            _ => dpkg::read_status(&bytes),
        };
        if fault.is_none()
            && let Err(error) = without_packages(&bytes, &read, &mut |_| false)
        {
            fault = Some(format!("{}: {error}", escape(&path)));
        }
        let of_dpkg = match document.kind {
            DocumentKind::DpkgStatus => {
                let mut count: HashMap<&str, usize> = HashMap::new();
                for package in &read.packages {
                    *count.entry(&package.name).or_default() += 1;
                }
                let own = |package: &Package| info.of(package, count.get(package.name.as_str()) == Some(&1));
                read.packages.iter().map(own).collect()
            }
            DocumentKind::DpkgStatusPart => {
                let sums = paths.entry_at(&[&path, &b".md5sums"[..]].concat());
                let own = |sums| Some(Own { list: Some(*info.sums.get(&sums)?), papers: vec![sums] });
                vec![sums.and_then(own).unwrap_or_default()]
            }
            _ => Vec::new(),
        };
        Some(Self { manager, node, inode, bytes, read, fault, path, kind: document.kind, of_dpkg })
    }
}

impl Database<'_> {
    /// Its path, escaped.
    pub(super) fn path(&self) -> String {
        escape(&self.path)
    }

    /// Whether it is a file for one package, which goes with it.
    pub(super) fn is_of_one_package(&self) -> bool {
        self.kind == DocumentKind::DpkgStatusPart && self.read.packages.len() == 1
    }

    /// Passes the paths of a package, folders included, to `work`; `None` if they are not known.
    pub(super) fn with_files<T>(&self, place: usize, work: impl FnOnce(&[&[u8]]) -> T) -> Option<T> {
        fn all(files: &[Vec<u8>]) -> Vec<&[u8]> {
            files.iter().map(Vec::as_slice).collect()
        }
        let list = || whole(self.of_dpkg.get(place)?.list?);
        Some(match self.kind {
            DocumentKind::DpkgStatus => work(&dpkg::list_paths(&list()?).collect::<Vec<_>>()),
            DocumentKind::DpkgStatusPart => work(&all(&dpkg::read_md5sums(&list()?))),
            _ => work(&all(self.read.packages.get(place)?.files.as_ref()?)),
        })
    }

    /// Files that belong to one package.
    pub(super) fn papers(&self, place: usize) -> &[NodeId] {
        self.of_dpkg.get(place).map_or(&[], |own| &own.papers)
    }
}

/// A format of rpm, as its documentation calls it.
fn format(kind: DatabaseKind) -> &'static str {
    match kind {
        DatabaseKind::Sqlite => "an SQLite database",
        DatabaseKind::BerkeleyHash => "a Berkeley DB hash",
        DatabaseKind::Ndb => "an ndb database",
    }
}
