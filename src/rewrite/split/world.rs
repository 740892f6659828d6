//! The image as the planner looks at it.

mod command;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::state::{State, state};
use crate::base::size::human;
use crate::cuda::Inode;
use crate::cuda::links::{ObjectId, Paths};
use crate::findings::{Answer, Category, Finding, User, Verdict};
use crate::formats::dockerfile::Keyword;
use crate::rewrite::propose::Input;
use crate::rewrite::recipe::Recipe;
use crate::rootfs::{Node, NodeId, NodeKind, Rootfs};

/// Managers whose packages are installed again rather than copied.
const SYSTEM_MANAGERS: [&str; 3] = ["dpkg", "rpm", "apk"];

pub(super) struct World<'a> {
    pub(super) input: &'a Input<'a>,
    pub(super) rootfs: &'a Rootfs,
    pub(super) paths: Paths<'a>,
    /// Layers of the base image of the recipe's final stage.
    pub(super) base_layers: u16,
    /// Files of findings that the plan takes away.
    pub(super) gone: HashSet<Inode>,
    /// Of them: content for building, documentation left out. Every package has some of that.
    pub(super) built: HashSet<Inode>,
    /// Files of findings that look like content for building and stay: they are used, or it is a question.
    pub(super) stays: HashSet<Inode>,
    /// Of them: what is safe to take away and is to stay all the same, as the user says.
    chosen: HashSet<Inode>,
    /// Findings whose question is open.
    pub(super) open: Vec<&'a Finding>,
    /// ELF files by inode.
    pub(super) objects: HashMap<Inode, ObjectId>,
    /// What checks of the container's health say.
    health: Vec<String>,
    /// By layer: the text of the instructions that made it.
    texts: HashMap<u16, String>,
    /// Packages of the system by name.
    pub(super) by_name: BTreeMap<&'a str, usize>,
    /// By package: those that it depends on.
    depends: Vec<Vec<usize>>,
    /// By package: whether a good part of it looks like content for building and stays all the same: then it is
    /// installed for that part.
    built_for: HashSet<usize>,
    /// Libraries by soname and file name: places in the inventory.
    pub(super) libraries: HashMap<String, Vec<usize>>,
    /// Libraries by node.
    pub(super) library_at: HashMap<NodeId, usize>,
    /// By package: the nodes that it owns, without folders.
    pub(super) files_of: HashMap<usize, Vec<NodeId>>,
}

impl<'a> World<'a> {
    pub(super) fn new(input: &'a Input<'a>, recipe: &'a Recipe, base_layers: u16) -> Self {
        let rootfs = &input.merge.rootfs;
        let (mut gone, mut built, mut stays) = (HashSet::new(), HashSet::new(), HashSet::new());
        let (mut open, mut chosen) = (Vec::new(), HashSet::new());
        let starts = starts_something(input);
        for finding in input.findings.list.iter().filter(|finding| finding.category.has_bytes()) {
            let planned = input.plan.contains(&finding.id);
            // What is safe and not to go stays as well: the user said so.
            let items = finding.items.iter().map(|item| (item.layer, item.entry));
            // Of copies that something else is loaded instead of, the proof says whether all is found without them.
            let read = !matches!(
                finding.category,
                Category::DocsSamples
                    | Category::BuildMetadata
                    | Category::Stubs
                    | Category::PackageCaches
                    | Category::Duplicates
            );
            if planned && finding.verdict != Verdict::Needed {
                if finding.category.is_devel() && read {
                    built.extend(items.clone());
                }
                gone.extend(items);
            } else if finding.verdict == Verdict::Unsure
                && starts
                && !is_named(finding)
                && input.plan.answer(&finding.id) != Some(Answer::Used)
            {
                // What is not proven comes only where something that is kept leads to it: the question is told.
                if finding.category.is_devel() && read {
                    built.extend(items.clone());
                }
                open.push(finding);
            } else if read || finding.verdict == Verdict::Needed {
                if finding.verdict == Verdict::Safe && finding.rests_on.is_empty() {
                    chosen.extend(items.clone());
                }
                stays.extend(items);
            }
        }
        let objects = (0..).map(ObjectId).zip(&input.inventory.links.objects);
        let objects = objects.filter_map(|(id, object)| Some((rootfs.node(object.node).content()?, id)));
        let mut files_of: HashMap<usize, Vec<NodeId>> = HashMap::new();
        for node in rootfs.nodes().filter(|node| node.kind() != NodeKind::Directory) {
            if let Some(owner) = input.inventory.owners.of(node.id()) {
                files_of.entry(owner).or_default().push(node.id());
            }
        }
        let packages = input.inventory.packages.iter().enumerate();
        let system = packages.filter(|(_, package)| SYSTEM_MANAGERS.contains(&package.manager));
        let texts = texts(recipe);
        let health = recipe.file.instructions.iter().filter(|one| one.keyword == Keyword::Healthcheck);
        let mut world = Self {
            input,
            rootfs,
            health: health.flat_map(|one| &one.words).map(|word| word.text.clone()).collect(),
            paths: Paths::new(rootfs),
            base_layers,
            gone,
            built,
            stays,
            chosen,
            open,
            objects: objects.collect(),
            texts,
            depends: Vec::new(),
            built_for: HashSet::new(),
            libraries: HashMap::new(),
            library_at: HashMap::new(),
            by_name: system.map(|(place, package)| (package.name.as_str(), place)).collect(),
            files_of,
        };
        world.count();
        world
    }

    /// What is asked often, worked out once.
    fn count(&mut self) {
        let inventory = self.input.inventory;
        let place = |name: &String| self.by_name.get(name.as_str()).copied();
        self.depends = inventory
            .packages
            .iter()
            .map(|package| package.depends.iter().filter_map(place).collect())
            .collect();
        let built_for = self.files_of.keys().copied().filter(|package| {
            let much = |set: &HashSet<Inode>| {
                let (part, all) = self.share(*package, set);
                part > 0 && part.saturating_mul(10) >= all.saturating_mul(3)
            };
            much(&self.chosen) || much(&self.stays) && !self.is_aside(*package)
        });
        self.built_for = built_for.collect();
        for (place, library) in inventory.libraries.iter().enumerate() {
            self.library_at.insert(library.node, place);
            let name = String::from_utf8_lossy(self.rootfs.node(library.node).name()).into_owned();
            if let Some(soname) = library.soname.as_ref().filter(|soname| **soname != name) {
                self.libraries.entry(soname.clone()).or_default().push(place);
            }
            self.libraries.entry(name).or_default().push(place);
        }
    }

    /// The package of the system that a path belongs to.
    pub(super) fn system_owner(&self, node: NodeId) -> Option<usize> {
        let owner = self.input.inventory.owners.of(node)?;
        SYSTEM_MANAGERS.contains(&self.input.inventory.packages[owner].manager).then_some(owner)
    }

    /// Whether a package comes from NVIDIA's repository.
    pub(super) fn is_cuda(&self, package: usize) -> bool {
        let package = &self.input.inventory.packages[package];
        self.input.catalog.is_nvidia_package(&package.name, package.maker.as_deref())
    }

    /// Whether a file of a package is not as the package brought it: a later layer has it again, or the
    /// instruction that installs the package names it or its folder.
    pub(super) fn is_changed(&self, node: Node<'_>, package: usize) -> bool {
        if node.kind() == NodeKind::Directory {
            return false;
        }
        if node.layer() > self.input.inventory.packages[package].layer {
            return true;
        }
        let Some(text) = self.texts.get(&node.layer()) else { return false };
        let path = String::from_utf8_lossy(&node.path()).into_owned();
        if text.contains(&path) {
            return true;
        }
        // `sed -i ... /etc/nginx/conf.d/*.conf`, `cd /etc/nginx && sed ...`; of folders above only those that belong to one program.
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        path.starts_with("/etc/") && folder.matches('/').count() >= 2 && names_folder(text, folder)
    }

    /// Whether the instructions of a layer install packages of the system; true when it is not known.
    pub(super) fn installs(&self, layer: u16) -> bool {
        const TOOLS: [&str; 9] =
            ["apt", "aptitude", "dnf", "yum", "microdnf", "tdnf", "zypper", "dpkg -i", "rpm -"];
        self.texts.get(&layer).is_none_or(|text| {
            (text.contains("install") || text.contains("dpkg -i") || text.contains("rpm -"))
                && TOOLS.iter().any(|tool| text.contains(tool))
        })
    }

    /// Whether the instructions of a layer hold a text.
    pub(super) fn says(&self, layer: u16, text: &str) -> bool {
        self.texts.get(&layer).is_some_and(|all| all.contains(text))
    }

    /// Whether a path is what the user's instructions made it, and not a package that they install.
    pub(super) fn is_own_work(&self, node: Node<'_>) -> bool {
        !self.installs(node.layer()) || self.says(node.layer(), &String::from_utf8_lossy(&node.path()))
    }

    /// Whether something of a layer is written by its own tools and not by the user: what installs packages, adds
    /// users, keeps caches.
    pub(super) fn is_by_product(&self, node: Node<'_>) -> bool {
        let path = node.path();
        let named = || self.says(node.layer(), &String::from_utf8_lossy(&path));
        match state(&path) {
            None => false,
            Some(State::Packages) if tool_keeps(&path) => true,
            Some(State::Packages) => self.installs(node.layer()) && !named(),
            Some(State::Users) => true,
            Some(State::Lost) if node.kind() == NodeKind::Symlink => !self.is_own_work(node),
            Some(State::PackagePapers(_) | State::Compiled | State::Lost) => true,
        }
    }

    /// Whether a path is one of the user's instructions.
    pub(super) fn is_users(&self, node: Node<'_>) -> bool {
        node.layer() >= self.base_layers
    }

    /// Packages that are installed when these are, themselves included. Of alternatives, those that the image has.
    pub(super) fn with_dependencies(&self, packages: impl IntoIterator<Item = usize>) -> BTreeSet<usize> {
        let mut open: Vec<usize> = packages.into_iter().collect();
        let mut known: BTreeSet<usize> = open.iter().copied().collect();
        while let Some(place) = open.pop() {
            open.extend(self.depends(place).iter().filter(|place| known.insert(**place)));
        }
        known
    }

    /// What a package depends on, as far as the image has it.
    pub(super) fn depends(&self, package: usize) -> &[usize] {
        self.depends.get(package).map(Vec::as_slice).unwrap_or_default()
    }
}

impl World<'_> {
    /// Whether a good part of a package looks like content for building and stays all the same: then it is
    /// installed for that part.
    pub(super) fn is_built_for(&self, package: usize) -> bool {
        self.built_for.contains(&package)
    }

    /// Whether a package of the toolkit has only headers and libraries for other purposes than compiling kernels:
    /// what compiles at run time reads the headers of the runtime.
    fn is_aside(&self, package: usize) -> bool {
        const OF_KERNELS: [&str; 5] = ["cudart", "crt", "cccl", "nvrtc", "nvcc"];
        let name = &self.input.inventory.packages[package].name;
        let is_dev =
            name.contains("-dev-") || name.contains("-devel-") || name.starts_with("cuda-profiler-api");
        is_dev && self.is_cuda(package) && !OF_KERNELS.iter().any(|known| name.contains(known))
    }

    /// Bytes of a package that are in a set, and all of its bytes.
    pub(super) fn share(&self, package: usize, set: &HashSet<Inode>) -> (u64, u64) {
        let mut sums = (0, 0);
        for node in self.files_of.get(&package).into_iter().flatten() {
            let node = self.rootfs.node(*node);
            let Some(inode) = node.content() else { continue };
            sums.1 += node.bytes();
            if set.contains(&inode) {
                sums.0 += node.bytes();
            }
        }
        sums
    }

    /// One comment about what the new image lacks although nobody has said that it is unused; `None` when that is
    /// little. A finding counts when `left` is true for most of its files.
    pub(super) fn open_question(&self, left: &dyn Fn(NodeId) -> bool) -> Option<String> {
        let mut open: Vec<(u64, &str)> = Vec::new();
        for finding in &self.open {
            let items = finding.items.iter().filter(|item| item.node.is_some_and(left));
            let bytes: u64 = items.map(|item| item.bytes).sum();
            // What weighs next to nothing is listed beside the proposal only.
            if bytes.saturating_mul(100) >= self.input.merge.merged_bytes && bytes * 2 > finding.merged_bytes
            {
                open.push((bytes, finding.rule.title));
            }
        }
        open.sort_unstable_by(|one, other| other.cmp(one));
        open.dedup_by_key(|(_, title)| *title);
        let shown: Vec<String> = open
            .iter()
            .take(3)
            .map(|(bytes, title)| format!("{} ({})", title.to_lowercase(), human(*bytes)))
            .collect();
        (!shown.is_empty()).then(|| format!("# Left out unless the service uses them: {}", shown.join(", ")))
    }

    /// Whether a package of this name is only for building, by the rules about packages.
    pub(super) fn is_builders(&self, name: &str) -> bool {
        let manager =
            self.by_name.get(name).map_or("dpkg", |place| self.input.inventory.packages[*place].manager);
        self.input.catalog.is_devel_package(manager, name).is_some()
    }

    /// Whether a package of Python came from a repository, an archive or a folder: PEP 610 has a file for that.
    pub(super) fn installs_from_repositories(&self) -> bool {
        self.rootfs.nodes().any(|node| node.name() == b"direct_url.json" && node.kind() == NodeKind::File)
    }

    /// Whether today's base is one of NVIDIA's CUDA images.
    pub(super) fn is_cuda_image(&self) -> bool {
        self.input.inventory.base.as_ref().is_some_and(|base| base.flavor != crate::cuda::Flavor::None)
    }

    /// Whether the image has ldconfig; images with musl do not.
    pub(super) fn has_ldconfig(&self) -> bool {
        [&b"/sbin/ldconfig"[..], b"/usr/sbin/ldconfig"].iter().any(|path| self.paths.lookup(path).is_some())
    }

    /// The script that prints NVIDIA's banner before the command.
    pub(super) fn is_banner(&self, node: NodeId) -> bool {
        self.rootfs.node(node).path().starts_with(b"/opt/nvidia/nvidia_entrypoint")
    }
}

/// What commands write that are repeated.
fn tool_keeps(path: &[u8]) -> bool {
    [&b"/etc/ssl/certs/"[..], b"/etc/ld.so.cache", b"/var/lib/"].iter().any(|folder| path.starts_with(folder))
}

/// Whether a text names a folder, and not one whose name only begins alike.
fn names_folder(text: &str, folder: &str) -> bool {
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"._-".contains(byte);
    text.match_indices(folder).any(|(at, _)| !text.as_bytes().get(at + folder.len()).is_some_and(is_name))
}

/// Texts are looked into for paths of files: a `RUN` has some hundred bytes.
const TEXT_BYTES: usize = 64 << 10;

fn texts(recipe: &Recipe) -> HashMap<u16, String> {
    let mut texts: HashMap<u16, String> = HashMap::new();
    for (instruction, tie) in recipe.file.instructions.iter().zip(&recipe.ties) {
        let text = recipe.file.slice(&instruction.span);
        for layer in &tie.layers {
            let known = texts.entry(*layer).or_default();
            if known.len() + text.len() < TEXT_BYTES {
                known.push_str(text);
            }
        }
    }
    texts
}

/// Whether the image says what it runs: a command that is more than a shell.
fn starts_something(input: &Input<'_>) -> bool {
    const SHELLS: [&str; 6] = ["sh", "bash", "dash", "ash", "zsh", "nvidia_entrypoint.sh"];
    let config = input.image.config.as_ref().and_then(|config| config.config().as_ref());
    let words = config.into_iter().flat_map(|config| [config.entrypoint(), config.cmd()]).flatten().flatten();
    let mut words = words.map(|word| word.rsplit('/').next().unwrap_or_default());
    words.any(|word| !word.is_empty() && !SHELLS.contains(&word))
}

/// Whether a file of the image, a setting or a program that runs speaks for using what a finding is about. That a
/// package could use it says less.
fn is_named(finding: &Finding) -> bool {
    finding.users.iter().any(|user| !matches!(user, User::Package(..)))
}
