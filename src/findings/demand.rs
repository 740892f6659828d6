//! Build content that is read at run time, and its readers.
//!
//! Each thing that can be read has a name: one of the words of `read_as` and `reads_devel` in the catalogue, such as
//! `nvcc`, `ptxas` or `headers`. A demand records that a reader uses the thing with one of these names.

mod by_hand;
mod compilers;
mod linked;
mod lookups;
mod tests;
mod words;

use std::collections::BTreeSet;

pub(super) use by_hand::is_for_work;
pub use words::is_searched_for;
use words::{WITH_NVCC, building, implied, known, program_word, told};
pub(super) use words::{is_not_searched_in_libraries, searched_terms, tool_name};

use super::facts::{COMMAND, Facts};
use super::named::MAX_SHOWN_CHARS;
use super::value::User;
use crate::base::convert::index32;
use crate::base::text::{elide_middle, printable};
use crate::cuda::Use;
use crate::cuda::links::{ObjectId, site_root};
use crate::formats::string_references::BUILDING;
use crate::rootfs::{NodeId, NodeKind};

/// Whether a demand is certain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Certainty {
    /// An installed component reads it at run time.
    Known,
    /// Something mentions it: whether it is read is an open question.
    Asked,
}

/// A run-time reader of build content.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Demand {
    pub(super) certainty: Certainty,
    /// Display name of the reader: `triton 3.5.1`, `/app/serve.py`.
    pub(super) who: String,
    /// The reader as evidence.
    pub(super) user: User,
    /// Predicate of the sentence whose subject is `who`.
    pub(super) why: String,
    /// The reader's site-packages folder: copies in wheels of that folder are used first.
    pub(super) site: Option<Vec<u8>>,
    /// Needs a whole toolkit: the part in a wheel is not enough.
    pub(super) whole_toolkit: bool,
}

/// All demands, by name of what is read.
#[derive(Debug, Default)]
pub(super) struct Demands {
    /// Each with the name of what is read, in order.
    list: Vec<(&'static str, Demand)>,
    /// Copies in wheels: the name of what they provide, and the site-packages folder.
    copies: BTreeSet<(&'static str, Vec<u8>)>,
    /// Whether the image has nvcc: without it nothing is read for it.
    has_nvcc: bool,
    /// Names with more than [`MOST`] demands.
    cut: BTreeSet<&'static str>,
    /// Test files of Python packages that name build tools, and are no readers: nothing of the image runs tests.
    tests: Vec<NodeId>,
}

/// Whether a file is a test, an example or a dependency: a file of the service itself is better evidence.
fn is_aside(who: &str) -> bool {
    const FOLDERS: [&str; 8] =
        ["__tests__", "doc", "docs", "example", "examples", "node_modules", "test", "tests"];
    let (folders, name) = who.rsplit_once('/').unwrap_or_default();
    folders.split('/').any(|folder| FOLDERS.contains(&folder))
        || ["test_", "_test"].iter().any(|start| name.starts_with(start))
}

/// Maximum demands recorded for one name: thousands of application files may mention a compiler.
pub(super) const MOST: usize = 256;

impl Demands {
    pub(super) fn of(facts: &Facts<'_>) -> Self {
        let is_nvcc = |name: &[u8]| matches!(name, b"nvcc" | b"nvcc.bin" | b"cicc" | b"cudafe++");
        let has_nvcc = !facts.nodes_named(is_nvcc).is_empty();
        let mut demands = Self { copies: copies(facts), has_nvcc, ..Self::default() };
        demands.frameworks(facts);
        demands.settings(facts);
        demands.programs_in_settings(facts);
        demands.command(facts);
        demands.mentions(facts);
        demands.compiled_before(facts);
        demands.nvrtc_users(facts);
        demands.by_hand(facts);
        demands.links(facts);
        demands.lookups(facts);
        demands.users_of_git(facts);
        demands.python(facts);
        demands.compilers_of_python(facts);
        demands.compilers_of_r(facts);
        demands.compilers_of_packages(facts);
        demands.readers_of_documentation(facts);
        // The service's own files are better evidence than those of packages.
        let is_of_package = |demand: &Demand| match demand.user {
            User::File(node) => facts.owner(node).is_some(),
            User::Package(..) => true,
            User::Object(_) | User::Setting(_) => false,
        };
        let rank = |demand: &Demand| {
            let of_file = matches!(demand.user, User::File(_));
            (is_aside(&demand.who), is_of_package(demand), of_file)
        };
        let key = |(name, demand): &(&'static str, Demand)| (*name, demand.certainty, rank(demand));
        demands.list.sort_by(|one, other| key(one).cmp(&key(other)).then_with(|| one.cmp(other)));
        demands.list.dedup();
        demands
    }

    /// Readers of this name, by index, as far as they can read a file in this site-packages folder (or outside of any).
    /// Certain ones first.
    pub(super) fn on<'d>(&'d self, name: &'d str, copy: Option<&'d [u8]>) -> impl Iterator<Item = u32> + 'd {
        let serves = move |demand: &Demand| match (copy, &demand.site) {
            // A copy in a wheel is for readers in the same site-packages; readers elsewhere may have that folder in
            // their path. Virtual environments may see the system packages.
            (Some(copy), Some(site)) => copy == site || copy.starts_with(b"/usr/"),
            // The toolkit copy is unused by a reader with its own copy in a wheel.
            (None, Some(site)) => {
                let key = known(name).map(|(key, _)| key);
                demand.whole_toolkit || !key.is_some_and(|key| self.copies.contains(&(key, site.clone())))
            }
            (_, None) => true,
        };
        self.range(name).filter(move |place| serves(&self.list[*place].1)).map(index32)
    }

    /// Where the readers of this name are in the list, which is sorted: asked once for each file of build content.
    fn range(&self, name: &str) -> std::ops::Range<usize> {
        let start = self.list.partition_point(|(known, _)| *known < name);
        start..self.list.partition_point(|(known, _)| *known <= name)
    }

    /// A demand by its index.
    pub(super) fn get(&self, place: u32) -> Option<&Demand> {
        self.list.get(place as usize).map(|(_, demand)| demand)
    }

    /// The site-packages folders in which a wheel has a copy of this name.
    pub(super) fn copies_of<'d>(&'d self, name: &'d str) -> impl Iterator<Item = &'d [u8]> {
        self.copies.iter().filter(move |(key, _)| *key == name).map(|(_, site)| site.as_slice())
    }

    /// Whether not all readers of this name are recorded.
    pub(super) fn is_cut(&self, name: &str) -> bool {
        self.cut.contains(name)
    }

    /// Whether this name has any reader.
    pub(super) fn any(&self, name: &str) -> bool {
        !self.range(name).is_empty()
    }

    /// Test files of Python packages that are no readers.
    pub(super) fn tests(&self) -> &[NodeId] {
        &self.tests
    }

    fn add(&mut self, name: &str, demand: &Demand) {
        let Some((key, why)) = known(name) else { return };
        if self.list.iter().filter(|(known, _)| *known == key).count() >= MOST {
            self.cut.insert(key);
            return;
        }
        let mut one = demand.clone();
        if one.why.is_empty() {
            why.clone_into(&mut one.why);
        }
        self.list.push((key, one));
        // One that a file names may be mounted.
        let is_named = ["names nvcc", "names the variable NVCC"].contains(&demand.why.as_str());
        if key == "nvcc" && (self.has_nvcc || is_named) {
            for (with, use_of_it) in WITH_NVCC.into_iter().filter_map(known) {
                let why = match &*demand.why {
                    "" => String::new(),
                    "names nvcc" => format!("names nvcc, which {use_of_it}"),
                    why => format!("{why}; nvcc {use_of_it}"),
                };
                self.add(with, &Demand { whole_toolkit: true, why, ..demand.clone() });
            }
        }
    }

    /// Readers from the catalogue's frameworks.
    fn frameworks(&mut self, facts: &Facts<'_>) {
        for framework in &facts.inventory.frameworks {
            let Some(rule) = facts.catalog.framework(&framework.name) else { continue };
            let who = match &framework.version {
                Some(version) => format!("{} {}", framework.name, printable(version)),
                None => framework.name.to_string(),
            };
            let demand = Demand {
                certainty: Certainty::Known,
                user: User::Package(who.clone(), framework.path.clone()),
                who,
                why: String::new(),
                site: site_of(&framework.path),
                whole_toolkit: false,
            };
            for name in &rule.reads_devel {
                // libtorch without Python compiles nothing: torch.compile is Python.
                let of_python = matches!(name.as_str(), "compiler" | "headers-torch");
                if of_python && framework.package.is_none() && demand.site.is_none() {
                    continue;
                }
                self.add(name, &demand);
            }
            for name in &rule.asks_devel {
                let compiles = name == "compiler";
                let why = if compiles {
                    "runs a C or C++ compiler when the service calls torch.compile or a Triton kernel"
                } else {
                    "compiles kernels with NVRTC when the service asks it to; they may include CUDA headers"
                };
                // Setting CC for a framework that runs a compiler is deliberate.
                let named = ["CC", "CXX"]
                    .iter()
                    .any(|name| facts.variable(name).is_some_and(|value| !value.is_empty()));
                let certainty = if compiles && named { Certainty::Known } else { Certainty::Asked };
                self.add(name, &Demand { certainty, why: why.to_owned(), ..demand.clone() });
            }
        }
    }

    /// Variables that set the location of parts of a toolkit.
    fn settings(&mut self, facts: &Facts<'_>) {
        const SETTINGS: [(&str, &[&str]); 6] = [
            ("TRITON_PTXAS_PATH", &["ptxas"]),
            ("TRITON_LIBDEVICE_PATH", &["libdevice"]),
            ("CC", &["compiler"]),
            ("CXX", &["compiler"]),
            ("NVCC", &["nvcc"]),
            ("CUDACXX", &["nvcc"]),
        ];
        for (name, reads) in SETTINGS {
            if facts.variable(name).is_some_and(|value| !value.is_empty()) {
                // Many images set CC by habit; an explicit TRITON_* path is deliberate.
                let certainty = if name.starts_with("TRITON") { Certainty::Known } else { Certainty::Asked };
                self.setting(name, reads, certainty);
            }
        }
        let flags = facts.variable("XLA_FLAGS").unwrap_or_default();
        if flags.contains("xla_gpu_cuda_data_dir") {
            self.setting("XLA_FLAGS", &["ptxas", "libdevice"], Certainty::Known);
        }
    }

    /// Variables whose value is a program: `TOOLCHAIN=gcc`. Many images set such ones by habit.
    fn programs_in_settings(&mut self, facts: &Facts<'_>) {
        for (name, value) in facts.environment().iter().filter_map(|text| text.split_once('=')) {
            let Some(program) = value.split_whitespace().next() else { continue };
            // `GOPATH=/go` is a folder.
            let node = program.starts_with('/').then(|| facts.paths.lookup(program.as_bytes())).flatten();
            if node.is_some_and(|node| facts.node(node).kind() == NodeKind::Directory) {
                continue;
            }
            let base = program.rsplit('/').next().unwrap_or(program);
            if BUILDING.contains(&base)
                || matches!(name, "PKG_CONFIG_PATH" | "PKG_CONFIG_LIBDIR" | "PKG_CONFIG_SYSROOT_DIR")
            {
                continue;
            }
            let setting = format!("ENV {}", printable(name));
            self.word(program_word(program), Certainty::Asked, &setting, &|| User::Setting(setting.clone()));
        }
    }

    fn setting(&mut self, name: &str, reads: &[&str], certainty: Certainty) {
        let who = format!("ENV {name}");
        let why = "sets its location".to_owned();
        let user = User::Setting(format!("ENV {name}"));
        for read in reads {
            let demand = Demand {
                certainty,
                who: who.clone(),
                user: user.clone(),
                why: why.clone(),
                site: None,
                whole_toolkit: true,
            };
            self.add(read, &demand);
        }
    }

    /// Programs started by entrypoint and command.
    fn command(&mut self, facts: &Facts<'_>) {
        for (text, who) in facts.commands() {
            let words = text.split(|c: char| c.is_whitespace() || "'\"();&|`$={}[],".contains(c));
            // The last part of a URL is no program.
            for word in words.filter(|word| !BUILDING.contains(word) && !word.contains("://")) {
                self.word(program_word(word), Certainty::Known, who, &|| User::Setting(who.to_owned()));
            }
        }
        for word in building(&facts.command().join(" ")) {
            self.word(word, Certainty::Asked, COMMAND, &|| User::Setting(COMMAND.to_owned()));
        }
    }

    /// Mentions in application files.
    fn mentions(&mut self, facts: &Facts<'_>) {
        let runs_tests = tests::are_run(facts);
        for mention in &facts.inventory.mentions {
            if mention.of_package && !runs_tests && tests::is_one(facts, mention.node) {
                if !mention.words.is_empty() {
                    self.tests.push(mention.node);
                }
                continue;
            }
            let who = elide_middle(&facts.shown(mention.node), MAX_SHOWN_CHARS);
            for word in &mention.words {
                self.word(word, Certainty::Asked, &who, &|| User::File(mention.node));
            }
            // A library without a program: `CDLL("libnvrtc.so.12")`.
            if mention.libraries.iter().any(|name| name.starts_with("libnvrtc.so")) {
                let (who, user) = (who.clone(), User::File(mention.node));
                let why = "names libnvrtc, which compiles sources that may include CUDA headers".to_owned();
                self.add(
                    "headers",
                    &Demand { certainty: Certainty::Asked, who, user, why, site: None, whole_toolkit: true },
                );
            }
        }
    }

    fn word(&mut self, word: &str, certainty: Certainty, who: &str, user: &dyn Fn() -> User) {
        let Some((word, reads)) = implied(word) else { return };
        for read in reads {
            let why = format!("names {}", told(word));
            let (who, user) = (who.to_owned(), user());
            self.add(read, &Demand { certainty, who, user, why, site: None, whole_toolkit: true });
        }
    }

    /// Users of NVRTC that are not known to ship the headers that their sources include.
    fn nvrtc_users(&mut self, facts: &Facts<'_>) {
        let links = &facts.inventory.links;
        let is_known = |id: ObjectId| {
            let node = links.object(id).node;
            let of_package = facts.owner(node).and_then(|place| facts.inventory.packages.get(place));
            facts.catalog.component_of(facts.node(node).name()).is_some()
                || of_package.is_some_and(|package| {
                    facts.catalog.framework_of_package(package.manager, &package.name).is_some()
                        || facts.catalog.component_of_package(&package.name).is_some()
                })
        };
        for library in facts.inventory.libraries.iter().filter(|library| &*library.component == "nvrtc") {
            let object = links.object(library.object);
            for id in object.needed_by.iter().chain(&object.opened_by).copied() {
                if links.object(id).usage == Use::Unreferenced || is_known(id) {
                    continue;
                }
                self.add(
                    "headers",
                    &Demand {
                        certainty: Certainty::Asked,
                        who: elide_middle(&facts.shown(links.object(id).node), MAX_SHOWN_CHARS),
                        user: User::Object(id),
                        why: "compiles with NVRTC; its sources may include CUDA headers".to_owned(),
                        site: None,
                        whole_toolkit: true,
                    },
                );
            }
        }
    }

    /// Any Python package may run git: programs, extension modules and shell scripts of packages are not searched for it,
    /// and sources may start it through another package. Packages of a distribution depend on it then.
    fn python(&mut self, facts: &Facts<'_>) {
        let mut packages = facts.inventory.packages.iter().filter(|package| package.manager == "pip");
        let python = packages.find(|package| !package.is_in_debians_folder());
        if let Some(package) = python {
            let root = package.root.clone().unwrap_or_default();
            let demand = Demand {
                certainty: Certainty::Asked,
                user: User::Package("Python packages".to_owned(), root),
                who: "A Python package".to_owned(),
                why: "may run git at run time, as GitPython, wandb and mlflow do".to_owned(),
                site: None,
                whole_toolkit: true,
            };
            self.add("git", &demand);
        }
    }
}

/// The site-packages folder of a framework: its path may be that folder itself.
fn site_of(path: &[u8]) -> Option<Vec<u8>> {
    let inside = [path, b"/"].concat();
    site_root(&inside).map(|(site, _)| site.to_vec())
}

/// Copies in wheels, by file name: a headers folder may belong to another library.
fn copies(facts: &Facts<'_>) -> BTreeSet<(&'static str, Vec<u8>)> {
    let mut copies = BTreeSet::new();
    for sorted in &facts.classification.files {
        let Some(node) = sorted.item.node else { continue };
        let name = facts.node(node).name();
        let key = match name {
            b"ptxas" => "ptxas",
            b"cuda_fp16.h" => "headers",
            b"libcudadevrt.a" => "cudadevrt",
            _ if name.starts_with(b"libdevice.") => "libdevice",
            _ if name.starts_with(b"libnvvm.so") => "libnvvm",
            _ => continue,
        };
        let path = facts.path(node);
        // Only Triton uses the tools that it ships.
        let of_nvidia = path.windows(8).any(|part| part == b"/nvidia/")
            && !path.windows(8).any(|part| part == b"/triton/");
        if let (Some((site, _)), true) = (site_root(&path), of_nvidia) {
            copies.insert((key, site.to_vec()));
        }
    }
    copies
}
