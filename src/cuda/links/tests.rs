//! Tests on small in-memory images.

mod hostile;
mod opens;
mod roots;
mod search;

use std::collections::BTreeMap;
use std::sync::Arc;

use super::resolver_state::STEPS;
use super::usage::resolve_within;
use super::{
    Binary, Environment, Links, Object, ObjectId, OpenRule, Paths, Resolution, Rules, SearchStep, file_name,
    folder_of, site_root,
};
use crate::base::Limits;
use crate::cuda::Use;
use crate::formats::glob::glob_match;
use crate::layer::{EntryKind, IndexBuilder, NewEntry};
use crate::rootfs::{NodeId, NodeKind, Rootfs, merge};

const X86_64: u16 = 62;
const LOADER: &str = "/lib64/ld-linux-x86-64.so.2";

/// An ELF file of a test image.
#[derive(Clone, Default)]
struct Elf {
    machine: u16,
    class32: bool,
    soname: Option<String>,
    needed: Vec<Vec<u8>>,
    rpath: Option<String>,
    runpath: Option<String>,
    interpreter: Option<String>,
    no_default_lib: bool,
}

impl Elf {
    fn library(soname: &str, needed: &[&str]) -> Self {
        let soname = (!soname.is_empty()).then(|| soname.to_owned());
        let needed = needed.iter().map(|name| name.as_bytes().to_vec()).collect();
        Self { machine: X86_64, soname, needed, ..Self::default() }
    }

    fn program(needed: &[&str]) -> Self {
        Self { interpreter: Some(LOADER.to_owned()), ..Self::library("", needed) }
    }

    fn rpath(mut self, text: &str) -> Self {
        self.rpath = Some(text.to_owned());
        self
    }

    fn runpath(mut self, text: &str) -> Self {
        self.runpath = Some(text.to_owned());
        self
    }
}

/// A test image.
#[derive(Default)]
struct Image {
    elves: BTreeMap<String, Elf>,
    links: Vec<(String, String)>,
    hard_links: Vec<(String, String)>,
    scripts: BTreeMap<String, String>,
    environment: Environment,
    rules: Table,
}

/// The rules of a test.
#[derive(Default)]
struct Table {
    opens: Vec<(&'static str, OpenRule)>,
    packages: Vec<(&'static str, OpenRule)>,
    /// Names of application libraries, in addition to those of one folder.
    application: Vec<&'static str>,
}

impl Rules for Table {
    fn is_host(&self, name: &[u8]) -> bool {
        name == b"libcuda.so.1"
    }

    fn opens(&self, file_name: &[u8], soname: Option<&[u8]>) -> Vec<OpenRule> {
        let fit = |pattern: &str| {
            glob_match(pattern.as_bytes(), file_name)
                || soname.is_some_and(|name| glob_match(pattern.as_bytes(), name))
        };
        self.opens.iter().filter(|(pattern, _)| fit(pattern)).map(|(_, rule)| rule.clone()).collect()
    }

    fn package_opens(&self, package: &[u8]) -> Vec<OpenRule> {
        let mut rules = self.packages.iter();
        rules.by_ref().filter(|(name, _)| name.as_bytes() == package).map(|(_, rule)| rule.clone()).collect()
    }

    fn preload_folders(&self) -> Vec<String> {
        vec!["nvidia/*/lib".to_owned(), "torch/lib".to_owned()]
    }

    fn is_toolkit_or_tool(&self, path: &[u8]) -> bool {
        path.starts_with(b"/usr/local/cuda")
    }

    fn is_of_application(&self, binary: &Binary<'_>) -> bool {
        let is_named = |name: &&str| name.as_bytes() == file_name(&binary.path);
        binary.path.starts_with(b"/app/plugins/") || self.application.iter().any(is_named)
    }

    fn is_devel_owned(&self, _: NodeId) -> bool {
        false
    }
}

fn rule(names: &[&str], optional: bool) -> OpenRule {
    OpenRule {
        names: names.iter().map(|name| (*name).to_owned()).collect(),
        optional,
        needed_only: false,
        call: None,
        source: "a test".to_owned(),
        same_folder: false,
        packages_first: false,
    }
}

impl Image {
    /// An image with a loader and a C library.
    fn new() -> Self {
        let mut image = Self::default();
        image.elf(LOADER, Elf::library("ld-linux-x86-64.so.2", &[]));
        image.elf("/lib64/libc.so.6", Elf::library("libc.so.6", &["ld-linux-x86-64.so.2"]));
        image
    }

    fn elf(&mut self, path: &str, elf: Elf) -> &mut Self {
        self.elves.insert(path.to_owned(), elf);
        self
    }

    /// A library whose soname is its file name.
    fn library(&mut self, path: &str, needed: &[&str]) -> &mut Self {
        let soname = path.rsplit('/').next().unwrap();
        self.elf(path, Elf::library(soname, needed))
    }

    fn link(&mut self, path: &str, target: &str) -> &mut Self {
        self.links.push((path.to_owned(), target.to_owned()));
        self
    }

    fn library_path(&mut self, value: &str) -> &mut Self {
        self.environment.ld_library_path = super::split_library_path(value.as_bytes());
        self
    }

    fn rootfs(&self) -> Rootfs {
        let mut index = IndexBuilder::new(&Limits::default());
        let mut add = |path: &str, kind, link: &str| {
            let entry = NewEntry {
                kind,
                size: 1,
                mode: 0o755,
                uid: 0,
                gid: 0,
                mtime: 0,
                link: link.as_bytes(),
                body_at: None,
            };
            index.add_path(path.as_bytes(), entry).unwrap();
        };
        for path in self.elves.keys().chain(self.scripts.keys()) {
            add(path, EntryKind::File, "");
        }
        for (path, target) in &self.links {
            add(path, EntryKind::Symlink, target);
        }
        for (path, target) in &self.hard_links {
            add(path, EntryKind::HardLink, target);
        }
        merge(&[Arc::new(index.finish())], &["test".to_owned()], 10).rootfs
    }

    fn resolve(&self) -> Resolved {
        self.resolve_within(STEPS)
    }

    fn resolve_within(&self, steps: u64) -> Resolved {
        let rootfs = self.rootfs();
        let paths = Paths::new(&rootfs);
        let binaries: Vec<Binary<'_>> = self
            .elves
            .iter()
            .map(|(path, elf)| Binary {
                node: paths.lookup(path.as_bytes()).unwrap(),
                path: path.clone().into_bytes(),
                machine: elf.machine,
                class64: !elf.class32,
                little_endian: true,
                is_library: elf.interpreter.is_none(),
                executable: elf.interpreter.is_some(),
                soname: elf.soname.as_deref().map(str::as_bytes),
                needed: &elf.needed,
                rpath: elf.rpath.as_deref().map(str::as_bytes),
                runpath: elf.runpath.as_deref().map(str::as_bytes),
                interpreter: elf.interpreter.as_deref().map(str::as_bytes),
                no_default_lib: elf.no_default_lib,
            })
            .collect();
        let scripts = |node: NodeId| {
            let path = String::from_utf8(paths.path(node)).unwrap();
            self.scripts.get(&path).map(|line| line.clone().into_bytes())
        };
        let (links, problems) =
            resolve_within(steps, &binaries, &paths, &self.environment, &self.rules, &scripts);
        let names = self.elves.keys().cloned().collect();
        assert_sound(&links);
        Resolved { links, problems, names }
    }
}

/// Checks invariants of every result.
fn assert_sound(links: &Links) {
    for id in links.ids() {
        let object = links.object(id);
        let chain = links.chain(id);
        let last = links.object(*chain.last().unwrap());
        if object.usage == Use::Unreferenced {
            assert_eq!(chain.len(), 1);
        } else {
            assert!(last.root.is_some(), "a chain that ends at no root: {chain:?}");
        }
        let asks = |found: &Resolution, of: ObjectId| matches!(found, Resolution::Found { object, .. } if *object == of);
        for from in &object.needed_by {
            assert!(
                links.object(*from).needs.iter().any(|need| need.found.iter().any(|found| asks(found, id)))
            );
        }
        for from in &object.opened_by {
            assert!(links.object(*from).opens.iter().any(|open| asks(&open.found, id)));
        }
        assert!(object.needed_by.is_sorted() && object.opened_by.is_sorted());
    }
}

/// The links of an image, by path.
struct Resolved {
    links: Links,
    problems: Vec<String>,
    names: Vec<String>,
}

impl Resolved {
    fn id(&self, path: &str) -> ObjectId {
        ObjectId(u32::try_from(self.names.iter().position(|name| name == path).unwrap()).unwrap())
    }

    fn object(&self, path: &str) -> &Object {
        self.links.object(self.id(path))
    }

    fn usage(&self, path: &str) -> Use {
        self.object(path).usage
    }

    fn shown(&self, found: &Resolution) -> String {
        match found {
            Resolution::Host => "host".to_owned(),
            Resolution::Missing => "missing".to_owned(),
            Resolution::Found { object, step } => {
                let step = match step {
                    SearchStep::Rpath(of, folder) => {
                        format!("rpath of {} {folder}", file_name_of(&self.names[of.0 as usize]))
                    }
                    SearchStep::LibraryPath(folder) => format!("env {folder}"),
                    SearchStep::Runpath(folder) => format!("runpath {folder}"),
                    SearchStep::Cache(folder) => format!("cache {folder}"),
                    SearchStep::Default(folder) => format!("default {folder}"),
                    SearchStep::Table(source) => format!("table {source}"),
                    SearchStep::Loaded => "loaded".to_owned(),
                    SearchStep::Path => "path".to_owned(),
                };
                format!("{} by {step}", self.names[object.0 as usize])
            }
        }
    }

    /// The resolutions of a NEEDED entry, as text.
    fn need(&self, path: &str, name: &str) -> String {
        let need = self.object(path).needs.iter().find(|need| need.name == name).unwrap();
        need.found.iter().map(|found| self.shown(found)).collect::<Vec<_>>().join(", ")
    }

    /// The libraries that an object opens, as text.
    fn opens(&self, path: &str) -> Vec<String> {
        let open = |open: &super::Open| format!("{}: {}", open.name, self.shown(&open.found));
        self.object(path).opens.iter().map(open).collect()
    }

    fn chain(&self, path: &str) -> Vec<&str> {
        self.links.chain(self.id(path)).iter().map(|id| self.names[id.0 as usize].as_str()).collect()
    }
}

fn file_name_of(path: &str) -> &str {
    path.rsplit('/').next().unwrap()
}

#[test]
fn paths_are_followed_as_a_kernel_does() {
    let mut image = Image::default();
    image.library("/usr/lib/x/libx.so.1", &[]).link("/lib", "usr/lib").link("/abs", "/usr/lib/x/../x");
    image.link("/usr/lib/libx.so", "x/libx.so.1").link("/loop/a", "b").link("/loop/b", "a");
    image.link("/up", "../../../usr").link("/gone", "/nowhere").link("/self", ".").link("/chain0", "/usr");
    for at in 1..=45 {
        image.link(&format!("/chain{at}"), &format!("chain{}", at - 1));
    }
    let rootfs = image.rootfs();
    let paths = Paths::new(&rootfs);
    let real = |path: &str| paths.real_path(path.as_bytes()).map(|path| String::from_utf8(path).unwrap());
    let library = Some("/usr/lib/x/libx.so.1".to_owned());
    for path in [
        "/lib/libx.so",
        "/abs/libx.so.1",
        "/up/lib/x/libx.so.1",
        "//lib/./x/../libx.so",
        "/self/self/abs/libx.so.1",
    ] {
        assert_eq!(real(path), library, "{path}");
    }
    assert_eq!(real("/../../usr/.."), Some("/".to_owned()));
    assert_eq!(real("/lib/"), Some("/usr/lib".to_owned()));
    for path in ["", "/loop/a", "/gone", "/lib/libx.so/", "/lib/libx.so/..", "/nothing", "/chain40"] {
        assert_eq!(real(path), None, "{path}");
    }
    assert_eq!(real("/chain39"), Some("/usr".to_owned()));
    let folder = paths.lookup(b"/usr/lib").unwrap();
    assert_eq!(paths.lookup_from(folder, b"../lib/x"), paths.lookup(b"/usr/lib/x"));
    assert_eq!(paths.lookup_from(folder, b"/usr"), paths.lookup(b"/usr"));
    assert!(paths.folder_from(folder, b"libx.so").is_none());
    let names: Vec<&[u8]> = paths.children_of(b"/lib").into_iter().map(|id| rootfs.node(id).name()).collect();
    assert_eq!(names, [&b"libx.so"[..], b"x"]);
    assert!(paths.children_of(b"/nothing").is_empty() && paths.children_of(b"/lib/libx.so").is_empty());
    assert_eq!(rootfs.node(paths.child(NodeId::ROOT, b"lib").unwrap()).kind(), NodeKind::Symlink);
}

#[test]
fn parts_of_paths_are_told() {
    assert_eq!((folder_of(b"/a/b"), folder_of(b"/a"), folder_of(b"a")), (&b"/a"[..], &b"/"[..], &b""[..]));
    assert_eq!(file_name(b"/a/b"), b"b");
    let site = site_root(b"/v/lib/python3.12/site-packages/torch/lib/libc10.so").unwrap();
    assert_eq!(site, (&b"/v/lib/python3.12/site-packages"[..], &b"torch/lib/libc10.so"[..]));
    assert_eq!(site_root(b"/usr/lib/python3/dist-packages"), None);
    assert_eq!(super::split_library_path(b"/a:/b;"), [b"/a".to_vec(), b"/b".to_vec(), Vec::new()]);
    assert!(super::split_library_path(b"").is_empty());
}
