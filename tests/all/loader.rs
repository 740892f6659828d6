//! Judges the model of the dynamic loader by the loader of this machine.
//!
//! Small ELF files are linked into a folder, the model looks at it, then `ldconfig` and the loader, asked
//! for a list as by `ldd`, run with that folder as their root. What each name leads to must be the same.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::{MetadataExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use cutaway::base::Limits;
use cutaway::cuda::links::{Binary, Environment, Links, OpenRule, Paths, Resolution, Rules, resolve};
use cutaway::layer::{EntryKind, IndexBuilder, NewEntry};
use cutaway::rootfs::{NodeId, merge};
use tempfile::TempDir;

use crate::oracle::{have, skip};

const TOOLS: [&str; 5] = ["gcc", "ld", "readelf", "ldconfig", "python3"];
/// Runs the loader in a root, with variables that this script itself must not see.
const IN_ROOT: &str = "import os, sys
root, library_path, *command = sys.argv[1:]
os.chroot(root)
os.chdir('/')
environment = {'LD_TRACE_LOADED_OBJECTS': '1', 'LD_LIBRARY_PATH': library_path}
os.execve(command[0], command, environment)";
/// Random trees that are compared.
const RANDOM_TREES: u64 = 8;

/// Nothing is known beyond the files.
struct NoRules;

impl Rules for NoRules {
    fn is_host(&self, _: &[u8]) -> bool {
        false
    }

    fn opens(&self, _: &[u8], _: Option<&[u8]>) -> Vec<OpenRule> {
        Vec::new()
    }

    fn package_opens(&self, _: &[u8]) -> Vec<OpenRule> {
        Vec::new()
    }

    fn preload_folders(&self) -> Vec<String> {
        Vec::new()
    }

    fn is_toolkit_or_tool(&self, _: &[u8]) -> bool {
        false
    }

    fn is_of_application(&self, _: &Binary<'_>) -> bool {
        false
    }

    fn is_devel_owned(&self, _: NodeId) -> bool {
        false
    }
}

/// What is needed to link files.
struct Linker {
    work: TempDir,
    /// The loader of this machine.
    interpreter: String,
    /// The C library, in the first folder that the loader always looks into.
    libc: String,
}

/// A folder with a loader in it.
struct Tree<'a> {
    linker: &'a Linker,
    root: TempDir,
    library_path: String,
}

/// How one file is to be linked.
#[derive(Clone, Copy, Default)]
struct File<'a> {
    path: &'a str,
    soname: &'a str,
    needed: &'a [&'a str],
    /// `DT_RPATH`, or `DT_RUNPATH` with `new_tags`.
    rpath: &'a str,
    new_tags: bool,
    /// More options of `ld`.
    options: &'a [&'a str],
}

fn output(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{command:?}: {text}{}", String::from_utf8_lossy(&output.stderr));
    text
}

fn folder() -> TempDir {
    tempfile::Builder::new().prefix("cutaway-loader-").tempdir().unwrap()
}

impl Linker {
    /// `None` says that the test is skipped.
    fn new() -> Option<Self> {
        if !have(&TOOLS) {
            return None;
        }
        let work = folder();
        let in_root = "import os, sys; os.chroot(sys.argv[1])";
        let mut python = Command::new("python3");
        if !python.args(["-c", in_root]).arg(work.path()).output().is_ok_and(|it| it.status.success()) {
            skip("only root may change the root folder");
            return None;
        }
        let segments = output(Command::new("readelf").args(["-lW", "/bin/sh"]));
        let interpreter = segments.split("interpreter: ").nth(1)?.split(']').next()?.to_owned();
        if interpreter.contains("musl") {
            skip("the loader of this machine is not that of glibc");
            return None;
        }
        let listed = output(Command::new(&interpreter).args(["--inhibit-cache", "--list", "/bin/sh"]));
        let libc =
            listed.split_whitespace().find(|word| word.starts_with('/') && word.contains("/libc.so"))?;
        fs::write(work.path().join("a.c"), "int cutaway_marker(void) { return 1; }").unwrap();
        output(Command::new("gcc").args(["-c", "-fPIC", "a.c"]).current_dir(work.path()));
        Some(Self { work, interpreter, libc: libc.to_owned() })
    }

    /// An empty library with this soname, to link against.
    fn stub(&self, soname: &str) -> String {
        let file = format!("{}.so", soname.replace('/', "%"));
        if !self.work.path().join(&file).exists() {
            let mut make = Command::new("ld");
            output(
                make.current_dir(self.work.path()).args(["a.o", "-shared", "-soname", soname, "-o", &file]),
            );
        }
        file
    }
}

impl<'a> Tree<'a> {
    /// A root with this machine's loader.
    fn new(linker: &'a Linker) -> Self {
        let tree = Self { linker, root: folder(), library_path: String::new() };
        fs::create_dir(tree.at("/etc")).unwrap();
        for file in [&linker.interpreter, &linker.libc] {
            fs::create_dir_all(tree.at(file).parent().unwrap()).unwrap();
            fs::copy(file, tree.at(file)).unwrap();
        }
        tree
    }

    fn at(&self, path: &str) -> PathBuf {
        self.root.path().join(path.trim_start_matches('/'))
    }

    fn program(&self, needed: &[&str], rpath: &str, new_tags: bool) {
        let options = ["-pie", "-dynamic-linker", &self.linker.interpreter, "-e", "cutaway_marker"];
        self.link(File {
            path: "/bin/program",
            needed,
            rpath,
            new_tags,
            options: &options,
            ..File::default()
        });
    }

    fn library(&self, path: &str, needed: &[&str], runpath: &str) {
        let soname = path.rsplit('/').next().unwrap();
        self.link(File { path, soname, needed, rpath: runpath, new_tags: true, options: &[] });
    }

    /// Links a file. What it needs is linked against empty libraries with those sonames.
    fn link(&self, file: File<'_>) {
        let target = self.at(file.path);
        fs::create_dir_all(target.parent().unwrap()).unwrap();
        let mut command = Command::new("ld");
        command.current_dir(self.linker.work.path()).args(["a.o", "--no-as-needed", "-o"]).arg(&target);
        command.args(if file.options.is_empty() { &["-shared"][..] } else { file.options });
        if !file.soname.is_empty() {
            command.args(["-soname", file.soname]);
        }
        if !file.rpath.is_empty() {
            command.args(["-rpath", file.rpath]);
            command.arg(if file.new_tags { "--enable-new-dtags" } else { "--disable-new-dtags" });
        }
        command.args(file.needed.iter().map(|name| format!("./{}", self.linker.stub(name))));
        output(&mut command);
    }

    fn symlink(&self, path: &str, target: &str) {
        fs::create_dir_all(self.at(path).parent().unwrap()).unwrap();
        symlink(target, self.at(path)).unwrap();
    }

    fn conf(&self, folders: &[&str]) {
        fs::write(self.at("/etc/ld.so.conf"), folders.join("\n")).unwrap();
    }

    /// Compares the model with the loader; how many names were compared comes back.
    fn compare(&self, what: &str) -> usize {
        // ldconfig makes links: the model has to know without them.
        let model = self.model();
        output(Command::new("ldconfig").arg("-r").arg(self.root.path()));
        let mut list = Command::new("python3");
        list.args(["-c", IN_ROOT]).arg(self.root.path()).args([&self.library_path, &self.linker.interpreter]);
        let listed = list.arg("/bin/program").output().unwrap();
        let listed = String::from_utf8(listed.stdout).unwrap();
        let mut oracle = BTreeMap::new();
        for line in listed.lines().map(str::trim) {
            let (name, path) = line.split_once(" => ").unwrap_or((line, line));
            let name = name.split(" (0x").next().unwrap().to_owned();
            let path = path.split(" (0x").next().unwrap();
            if name.starts_with("linux-vdso")
                || name == self.linker.interpreter
                || path == self.linker.interpreter
            {
                continue;
            }
            let real = if path == "not found" { path.to_owned() } else { self.real(path) };
            // Of a name with a slash the list shows the path that it became.
            oracle.insert(if path == name { real.clone() } else { name }, real);
        }
        assert_eq!(model, oracle, "{what}:\n{listed}\n{}", self.describe());
        oracle.len()
    }

    /// The first name of the file that a path leads to. The roots of these tests hold relative links only.
    fn real(&self, path: &str) -> String {
        let inode = fs::metadata(self.at(path)).unwrap().ino();
        let mut first = None;
        walk(self.root.path(), &mut |path| {
            let is_same = fs::symlink_metadata(path).unwrap().ino() == inode;
            if is_same && first.is_none() {
                first = Some(format!("/{}", path.strip_prefix(self.root.path()).unwrap().to_str().unwrap()));
            }
        });
        first.unwrap()
    }

    /// What the names that the program loads lead to, by the model: each object under the first name.
    fn model(&self) -> BTreeMap<String, String> {
        let mut index = IndexBuilder::new(&Limits::default());
        let mut seen = BTreeMap::new();
        let mut elves = Vec::new();
        walk(self.root.path(), &mut |path| {
            let facts = fs::symlink_metadata(path).unwrap();
            let shown = format!("/{}", path.strip_prefix(self.root.path()).unwrap().to_str().unwrap());
            let (kind, link) = if facts.is_symlink() {
                (EntryKind::Symlink, fs::read_link(path).unwrap().to_str().unwrap().to_owned())
            } else if let Some(first) = seen.insert(facts.ino(), shown.clone()) {
                (EntryKind::HardLink, first)
            } else {
                elves.extend(Facts::read(path, &shown));
                (EntryKind::File, String::new())
            };
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
            index.add_path(shown.as_bytes(), entry).unwrap();
        });
        let rootfs = merge(&[Arc::new(index.finish())], &["root".to_owned()], 10).rootfs;
        let paths = Paths::new(&rootfs);
        let binaries: Vec<Binary<'_>> = elves.iter().map(|facts| facts.binary(&paths)).collect();
        let conf = fs::read_to_string(self.at("/etc/ld.so.conf")).unwrap_or_default();
        let parts = |text: &str, by: &str| -> Vec<Vec<u8>> {
            text.split(by)
                .filter(|part| !text.is_empty() && !part.is_empty())
                .map(|part| part.as_bytes().to_vec())
                .collect()
        };
        let environment = Environment {
            ld_library_path: parts(&self.library_path, ":"),
            conf_folders: parts(&conf, "\n"),
            ..Environment::default()
        };
        let (links, problems) = resolve(&binaries, &paths, &environment, &NoRules, &|_| None);
        assert!(problems.is_empty(), "{problems:?}");
        self.loaded(&links, &paths)
    }

    fn loaded(&self, links: &Links, paths: &Paths<'_>) -> BTreeMap<String, String> {
        let path = |node| String::from_utf8(paths.path(node)).unwrap();
        let program = links.ids().find(|id| path(links.object(*id).node) == "/bin/program").unwrap();
        let mut names = BTreeMap::new();
        let mut seen = BTreeSet::from([program]);
        let mut queue = std::collections::VecDeque::from([program]);
        while let Some(id) = queue.pop_front() {
            for need in &links.object(id).needs {
                // Only one program runs here, so each name has one meaning.
                match need.found.as_slice() {
                    [Resolution::Found { object, .. }] => {
                        let found = path(links.object(*object).node);
                        if seen.insert(*object) && found != self.real(&self.linker.interpreter) {
                            // The list shows a name with a slash as the path that it became.
                            let by_path = need.name.contains('/');
                            names.insert(if by_path { found.clone() } else { need.name.clone() }, found);
                            queue.push_back(*object);
                        }
                    }
                    [Resolution::Missing] => {
                        names.insert(need.name.clone(), "not found".to_owned());
                    }
                    other => panic!("{}: {other:?}", need.name),
                }
            }
        }
        names
    }

    /// All files with their dynamic sections, for a failure.
    fn describe(&self) -> String {
        let mut text = format!("library path {:?}\n", self.library_path);
        walk(self.root.path(), &mut |path| {
            let link = fs::read_link(path).ok();
            let shown = path.strip_prefix(self.root.path()).unwrap().to_str().unwrap();
            let facts = if link.is_none() { Facts::read(path, shown) } else { None };
            writeln!(text, "{shown} {link:?} {facts:?}").unwrap();
        });
        text
    }
}

fn walk(folder: &Path, each: &mut dyn FnMut(&Path)) {
    let mut entries: Vec<PathBuf> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() && !path.is_symlink() {
            walk(&path, each);
        } else {
            each(&path);
        }
    }
}

/// What `readelf` says of a file.
#[derive(Debug, Default)]
struct Facts {
    path: String,
    class64: bool,
    machine: u16,
    soname: Option<Vec<u8>>,
    needed: Vec<Vec<u8>>,
    rpath: Option<Vec<u8>>,
    runpath: Option<Vec<u8>>,
    interpreter: Option<Vec<u8>>,
    no_default_lib: bool,
}

impl Facts {
    fn read(file: &Path, path: &str) -> Option<Self> {
        if !fs::read(file).unwrap().starts_with(b"\x7fELF") {
            return None;
        }
        let text = output(Command::new("readelf").arg("-hdlW").arg(file));
        let mut facts = Self { path: path.to_owned(), ..Self::default() };
        for line in text.lines() {
            let value = || Some(line.split_once('[')?.1.strip_suffix(']')?.as_bytes().to_vec());
            if line.contains("(NEEDED)") {
                facts.needed.extend(value());
            } else if line.contains("(SONAME)") {
                facts.soname = value();
            } else if line.contains("(RPATH)") {
                facts.rpath = value();
            } else if line.contains("(RUNPATH)") {
                facts.runpath = value();
            } else if line.contains("(FLAGS_1)") {
                facts.no_default_lib = line.contains("NODEFLIB");
            } else if let Some((_, rest)) = line.split_once("interpreter: ") {
                facts.interpreter = Some(rest.trim_end_matches(']').into());
            } else if line.contains("Class:") {
                facts.class64 = line.contains("ELF64");
            } else if line.contains("Machine:") {
                let machines = [("X86-64", 62), ("AArch64", 183), ("80386", 3)];
                facts.machine = machines.iter().find(|(name, _)| line.contains(name)).map_or(0, |it| it.1);
            }
        }
        Some(facts)
    }

    fn binary(&self, paths: &Paths<'_>) -> Binary<'_> {
        Binary {
            node: paths.lookup(self.path.as_bytes()).unwrap(),
            path: self.path.clone().into_bytes(),
            machine: self.machine,
            class64: self.class64,
            little_endian: true,
            is_library: self.interpreter.is_none(),
            executable: self.interpreter.is_some(),
            soname: self.soname.as_deref(),
            needed: &self.needed,
            rpath: self.rpath.as_deref(),
            runpath: self.runpath.as_deref(),
            interpreter: self.interpreter.as_deref(),
            no_default_lib: self.no_default_lib,
        }
    }
}

/// Library files of one name in several folders, each with a file of its own behind it.
fn spread(tree: &Tree<'_>, folders: &[&str]) {
    for folder in folders {
        tree.library(&format!("{folder}/libx.so.1"), &[], "");
    }
}

#[test]
fn the_order_of_the_search_is_that_of_the_loader() {
    let Some(linker) = Linker::new() else { return };
    let all = ["/rpath", "/env", "/runpath", "/conf", "/usr/lib"];
    for skipped in 0..=all.len() {
        for (new_tags, no_default) in [(false, false), (true, false), (true, true)] {
            let mut tree = Tree::new(&linker);
            spread(&tree, &all[skipped..]);
            tree.conf(&["/conf"]);
            "/env".clone_into(&mut tree.library_path);

            let mut options = vec!["-pie", "-dynamic-linker", &linker.interpreter, "-e", "cutaway_marker"];
            options.extend(if no_default { &["-z", "nodefaultlib"][..] } else { &[] });
            let rpath = if new_tags { "/runpath" } else { "/none:/rpath" };
            let file =
                File { path: "/bin/program", needed: &["libx.so.1"], rpath, new_tags, ..File::default() };
            tree.link(File { options: &options, ..file });
            tree.compare(&format!("without the first {skipped}, new tags {new_tags}, {no_default}"));
        }
    }
}

/// What a tree shows, and how it is made.
type Case = (&'static str, fn(&mut Tree<'_>));

fn compare_all(cases: &[Case]) {
    let Some(linker) = Linker::new() else { return };
    for (what, make) in cases {
        let mut tree = Tree::new(&linker);
        make(&mut tree);
        assert!(tree.compare(what) > 0, "{what}");
    }
}

#[test]
fn inheritance_and_sonames_are_those_of_the_loader() {
    compare_all(&[
        ("DT_RPATH is inherited", |tree| {
            tree.library("/mid/libmid.so", &["libdeep.so"], "");
            tree.library("/deep/libdeep.so", &[], "");
            tree.program(&["libmid.so"], "/mid:/deep", false);
        }),
        ("DT_RUNPATH is not inherited", |tree| {
            tree.library("/mid/libmid.so", &["libdeep.so"], "");
            tree.library("/deep/libdeep.so", &[], "");
            tree.program(&["libmid.so"], "/mid:/deep", true);
        }),
        ("DT_RUNPATH of the asking object hides DT_RPATH above it", |tree| {
            tree.library("/mid/libmid.so", &["libdeep.so"], "/none");
            tree.library("/deep/libdeep.so", &[], "");
            tree.program(&["libmid.so"], "/mid:/deep", false);
        }),
        ("DT_RUNPATH in between does not", |tree| {
            tree.library("/mid/libmid.so", &["libdeep.so"], "/deep");
            tree.library("/deep/libdeep.so", &["libend.so"], "");
            tree.library("/top/libend.so", &[], "");
            tree.program(&["libmid.so"], "/mid:/top", false);
        }),
        ("a soname that is not the file's name", |tree| {
            tree.link(File { path: "/x/libfile.so", soname: "libother.so.1", ..File::default() });
            tree.library("/x/libother.so.1", &[], "");
            tree.library("/x/libasks.so", &["libother.so.1"], "/x");
            tree.program(&["libfile.so", "libother.so.1", "libasks.so"], "/x", true);
        }),
        ("two files of one soname: the first one loaded wins", |tree| {
            tree.library("/a/libsame.so", &[], "");
            tree.library("/b/libsame.so", &[], "");
            tree.library("/c/libone.so", &["libsame.so"], "/b");
            tree.library("/c/libtwo.so", &["libsame.so"], "/a");
            tree.program(&["libone.so", "libtwo.so"], "/c", true);
        }),
        ("breadth first", |tree| {
            tree.library("/c/libone.so", &["libsame.so"], "/a");
            tree.library("/c/libtwo.so", &["libdeep.so"], "/c");
            tree.library("/c/libdeep.so", &["libsame.so"], "/b");
            tree.library("/a/libsame.so", &[], "");
            tree.library("/b/libsame.so", &[], "");
            tree.program(&["libtwo.so", "libone.so"], "/c", true);
        }),
        ("one inode under two names", |tree| {
            tree.library("/x/libx.so", &[], "");
            tree.symlink("/x/liblink.so", "libx.so");
            fs::hard_link(tree.at("/x/libx.so"), tree.at("/x/libhard.so")).unwrap();
            tree.program(&["liblink.so", "libhard.so", "libx.so"], "/x", true);
        }),
    ]);
}

#[test]
fn origins_paths_and_the_cache_are_those_of_the_loader() {
    compare_all(&[
        ("$ORIGIN with links to folders", |tree| {
            tree.library("/opt/real/lib/liba.so", &["libb.so"], "${ORIGIN}/../b");
            tree.library("/opt/real/b/libb.so", &[], "");
            tree.library("/opt/b/libb.so", &[], "");
            tree.symlink("/opt/folder", "real/lib");
            tree.program(&["liba.so"], "$ORIGIN/../opt/folder", true);
        }),
        ("$ORIGIN with a link to the file", |tree| {
            tree.library("/opt/real/lib/liba.so", &["libb.so"], "$ORIGIN/../b");
            tree.library("/opt/real/b/libb.so", &[], "");
            tree.library("/opt/b/libb.so", &[], "");
            tree.symlink("/opt/file/liba.so", "../real/lib/liba.so");
            tree.program(&["liba.so"], "$ORIGIN/../opt/file", true);
        }),
        ("tokens", |tree| {
            tree.library("/a$ORIGINAL/libx.so", &[], "");
            tree.library("/x86_64/libz.so", &[], "");
            for lib in ["lib64", "lib", "lib/x86_64-linux-gnu", "lib/aarch64-linux-gnu"] {
                tree.library(&format!("/t/{lib}/libl.so"), &[], "");
            }
            tree.program(&["libx.so", "libl.so"], "/a$ORIGINAL:/t/$LIB:${ORIGIN", true);
        }),
        ("names with slashes", |tree| {
            tree.library("/opt/libx.so", &[], "");
            tree.program(&["/opt/libx.so", "$ORIGIN/../opt/liby.so", "/none/libz.so"], "", true);
            tree.library("/opt/liby.so", &["libx.so"], "");
        }),
        ("sonames and links in the cache", |tree| {
            tree.conf(&["/conf", "/conf2", "/again"]);
            tree.symlink("/again", "conf");
            for (path, soname) in [
                ("/conf/libx.so.1.9", "libx.so.1"),
                ("/conf/libx.so.1.10", "libx.so.1"),
                ("/conf2/libx.so.1.11", "libx.so.1"),
                ("/conf/other.so", "libother.so"),
                ("/usr/lib/liby-7.so", "liby.so.2"),
                ("/conf2/libz.so.3.0", "libz.so.3"),
                ("/conf/libnoname.so", ""),
                ("/conf/liblinked.so.1.0", "liblinked.so.1"),
            ] {
                tree.link(File { path, soname, ..File::default() });
            }
            tree.symlink("/conf/liblinked.so", "liblinked.so.1.0");
            tree.symlink("/conf/libwrong.so", "liblinked.so.1.0");
            let first = ["libx.so.1", "libother.so", "liby.so.2", "libz.so.3", "libnoname.so", "libwrong.so"];
            tree.program(&[&first[..], &["liblinked.so", "libx.so.1.9"]].concat(), "", true);
        }),
        ("files of another class", |tree| {
            tree.library("/b/libx.so.1", &[], "");
            tree.library("/usr/lib/libx.so.1", &[], "");
            tree.conf(&["/a", "/b"]);
            fs::create_dir_all(tree.at("/a")).unwrap();
            let mut gcc = Command::new("gcc");
            gcc.current_dir(tree.linker.work.path()).args([
                "-m32",
                "-shared",
                "-nostdlib",
                "-Wl,-soname,libx.so.1",
                "a.c",
            ]);
            if !gcc.arg("-o").arg(tree.at("/a/libx.so.1")).output().unwrap().status.success() {
                skip("gcc makes no 32-bit files");
            }
            tree.program(&["libx.so.1"], "/a", true);
        }),
    ]);
}

#[test]
fn random_trees_are_loaded_as_the_loader_does() {
    let Some(linker) = Linker::new() else { return };
    for seed in 1..=RANDOM_TREES {
        let mut tree = Tree::new(&linker);
        // A small generator (xorshift): the same trees every time.
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut random = move |below: usize| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            usize::try_from(state % below as u64).unwrap()
        };
        let folders = ["/a", "/b", "/c/lib", "/conf", "/usr/lib", "/link", "/env"];
        let searches =
            ["", "", "/a", "/b:/a", "$ORIGIN", "$ORIGIN/../b:/link", "/c/lib:$ORIGIN/../a", "/none::/c/lib"];
        let names: Vec<String> = (0..7).map(|at| format!("lib{at}.so.1")).collect();
        tree.symlink("/link", "c/lib");
        fs::create_dir_all(tree.at("/c/lib")).unwrap();
        tree.conf(&["/conf", "/link"]);
        if random(2) == 0 {
            "/env:/b".clone_into(&mut tree.library_path);
        }
        let some = |random: &mut dyn FnMut(usize) -> usize| -> Vec<&str> {
            let count = random(4);
            (0..count).map(|_| names[random(names.len())].as_str()).collect()
        };
        for _ in 0..14 {
            let name = &names[random(names.len())];
            // Some files have another name than their soname, some have none.
            let (file, soname) = match random(6) {
                0 => (format!("{name}.{}", random(12)), name.as_str()),
                1 => (name.clone(), ""),
                2 => (name.clone(), names[random(names.len())].as_str()),
                _ => (name.clone(), name.as_str()),
            };
            let path = format!("{}/{file}", folders[random(folders.len())]);
            let needed = some(&mut random);
            let (rpath, new_tags) = (searches[random(searches.len())], random(2) == 0);
            fs::remove_file(tree.at(&path)).ok();
            tree.link(File { path: &path, soname, needed: &needed, rpath, new_tags, options: &[] });
        }
        let mut needed = some(&mut random);
        needed.extend(["lib0.so.1", "lib1.so.1", "lib2.so.1"]);
        tree.program(&needed, searches[random(searches.len())], random(2) == 0);
        tree.compare(&format!("random tree {seed}"));
    }
}
