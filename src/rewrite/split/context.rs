//! The image and derived facts for the planner.

mod command;
mod open;
mod packages;
mod records;

use std::collections::{BTreeMap, BTreeSet};

use hashbrown::{HashMap, HashSet};

use self::open::{is_named, starts_something, tests, used};
use super::stage::Final;
use super::state::{State, state};
use super::tools::Tools;
use crate::base::size::human;
use crate::cuda::links::{ObjectId, Paths};
use crate::cuda::{Inode, Package};
use crate::findings::{Category, Finding, Verdict};
use crate::formats::dockerfile::Keyword;
use crate::rewrite::input::Input;
use crate::rewrite::recipe::Recipe;
use crate::rootfs::{Node, NodeId, NodeKind, Rootfs};

pub(super) struct SplitContext<'a> {
    pub(super) input: &'a Input<'a>,
    pub(super) rootfs: &'a Rootfs,
    pub(super) paths: Paths<'a>,
    /// Layers of the base image of the recipe's final stage.
    pub(super) base_layers: u16,
    /// Files of findings in the plan.
    pub(super) gone: HashSet<Inode>,
    /// Links in caches that the plan removes as a whole.
    pub(super) cached_links: HashSet<NodeId>,
    /// Build content of findings in the plan and of open questions, without documentation, which every
    /// package has.
    pub(super) built: HashSet<Inode>,
    /// Files of findings that look like build content and stay: used, or an open question.
    pub(super) stays: HashSet<Inode>,
    /// Of them: safe findings that the user keeps.
    chosen: HashSet<Inode>,
    /// Of them: files in question.
    asked: HashSet<Inode>,
    /// Findings whose question is open.
    pub(super) open: Vec<&'a Finding>,
    /// ELF files by inode.
    pub(super) objects: HashMap<Inode, ObjectId>,
    /// Texts of health checks.
    health: Vec<String>,
    /// By layer: the text of its instructions.
    texts: HashMap<u16, String>,
    /// System packages by name.
    pub(super) by_name: BTreeMap<&'a str, usize>,
    /// By package: its dependencies.
    depends: Vec<Vec<usize>>,
    /// Packages of which it is unknown whether anything opens their libraries.
    pub(super) opened: BTreeSet<usize>,
    /// What instructions of the new image call.
    pub(super) tools: Tools,
    /// Packages that a building instruction installs from files.
    pub(super) archives: BTreeSet<usize>,
    /// Files of packages that an instruction diverted: packages are not unpacked there again.
    diverted: HashSet<NodeId>,
    /// By package: whether it is from NVIDIA's repository.
    is_cuda: Vec<bool>,
    /// By package: whether a large part looks like build content and stays: then it is installed for that part.
    built_for: HashSet<usize>,
    /// Libraries by soname and file name, as indexes in the inventory.
    pub(super) libraries: HashMap<String, Vec<usize>>,
    /// Libraries by node.
    pub(super) library_at: HashMap<NodeId, usize>,
    /// By package: its nodes, without folders.
    pub(super) files_of: HashMap<usize, Vec<NodeId>>,
}

impl<'a> SplitContext<'a> {
    pub(super) fn new(input: &'a Input<'a>, recipe: &Recipe, stage: &Final<'_>, base_layers: u16) -> Self {
        let rootfs = &input.merge.rootfs;
        let (mut gone, mut built, mut stays) = (HashSet::new(), HashSet::new(), HashSet::new());
        let (mut open, mut chosen, mut asked) = (Vec::new(), HashSet::new(), HashSet::new());
        let starts = starts_something(input);
        let (used, of_tests) = (used(input), tests(input));
        let is_used = |finding: &Finding| used.contains(finding.id.as_str());
        for finding in input.findings.list.iter().filter(|finding| finding.category.has_bytes()) {
            let planned = input.plan.contains(&finding.id);
            // Safe findings outside the plan stay: the user's choice.
            let items = finding.items.iter().map(|item| (item.layer, item.entry));
            // For copies that are not loaded, the proof checks that everything resolves without them.
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
                && !is_named(finding, &of_tests)
                && !is_used(finding)
            {
                // Unproven files are kept only if a kept file leads to them: the question is reported.
                if finding.category.is_devel() && read {
                    built.extend(items.clone());
                }
                open.push(finding);
            } else if read || finding.verdict == Verdict::Needed || is_used(finding) {
                if finding.verdict == Verdict::Safe && finding.rests_on.is_empty() {
                    chosen.extend(items.clone());
                }
                if finding.verdict == Verdict::Unsure && !is_used(finding) {
                    asked.extend(items.clone());
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
        let is_cuda =
            |package: &Package| input.catalog.is_nvidia_package(&package.name, package.maker.as_deref());
        let system = packages.filter(|(_, package)| package.is_of_system());
        let texts = texts(recipe, stage);
        let health = recipe.file.instructions.iter().filter(|one| one.keyword == Keyword::Healthcheck);
        let mut context = Self {
            input,
            rootfs,
            health: health.flat_map(|one| &one.words).map(|word| word.text.clone()).collect(),
            paths: Paths::new(rootfs),
            base_layers,
            gone,
            cached_links: super::caches::links_in_caches(input),
            built,
            stays,
            chosen,
            asked,
            open,
            objects: objects.collect(),
            texts,
            depends: Vec::new(),
            is_cuda: input.inventory.packages.iter().map(is_cuda).collect(),
            archives: BTreeSet::new(),
            opened: BTreeSet::new(),
            tools: Tools::default(),
            diverted: super::packages::diverted(input),
            built_for: HashSet::new(),
            libraries: HashMap::new(),
            library_at: HashMap::new(),
            by_name: system.map(|(place, package)| (package.name.as_str(), place)).collect(),
            files_of,
        };
        context.count();
        context
    }

    /// Precomputes facts that are needed often.
    fn count(&mut self) {
        let inventory = self.input.inventory;
        // A virtual package is there by its only provider. Which of several apt would choose is not known.
        let mut providers: HashMap<&str, Option<usize>> = HashMap::new();
        for (place, package) in inventory.packages.iter().enumerate().filter(|(_, one)| one.is_of_system()) {
            for name in &package.provides {
                let known = providers.entry(name).or_insert(Some(place));
                if *known != Some(place) {
                    *known = None;
                }
            }
        }
        let place = |name: &String| {
            let own = self.by_name.get(name.as_str()).copied();
            own.or_else(|| providers.get(name.as_str()).copied().flatten())
        };
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
            let is_in_question = || self.is_for_others(*package) && much(&self.asked);
            let is_part = || self.is_aside(*package) || self.only_pulls_in(*package) || is_in_question();
            much(&self.chosen) || much(&self.stays) && !is_part()
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

    /// The system package that owns a path.
    pub(super) fn system_owner(&self, node: NodeId) -> Option<usize> {
        let owner = self.input.inventory.owners.of(node)?;
        self.input.inventory.packages[owner].is_of_system().then_some(owner)
    }

    /// Whether a package is from NVIDIA's repository.
    pub(super) fn is_cuda(&self, package: usize) -> bool {
        self.is_cuda[package]
    }

    /// Whether a package file was modified: an upper layer stores it again, or the instruction that installs the
    /// package diverts it, or names it or its folder.
    pub(super) fn is_changed(&self, node: Node<'_>, package: usize) -> bool {
        if node.kind() == NodeKind::Directory {
            return false;
        }
        if node.layer() > self.input.inventory.packages[package].layer || self.diverted.contains(&node.id()) {
            return true;
        }
        let Some(text) = self.texts.get(&node.layer()) else { return false };
        let path = String::from_utf8_lossy(&node.path()).into_owned();
        if text.contains(&path) {
            return true;
        }
        // `sed -i ... /etc/nginx/conf.d/*.conf`, `cd /etc/nginx && sed ...`; of parent folders only those that belong
        // to one program.
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        path.starts_with("/etc/") && folder.matches('/').count() >= 2 && names_folder(text, folder)
    }

    /// Whether the instructions of a layer install system packages; true when unknown.
    pub(super) fn installs(&self, layer: u16) -> bool {
        const TOOLS: [&str; 9] =
            ["apt", "aptitude", "dnf", "yum", "microdnf", "tdnf", "zypper", "dpkg -i", "rpm -"];
        self.texts.get(&layer).is_none_or(|text| {
            (text.contains("install") || text.contains("dpkg -i") || text.contains("rpm -"))
                && TOOLS.iter().any(|tool| text.contains(tool))
        })
    }

    /// Whether the plan removes a file or link.
    pub(super) fn goes(&self, node: Node<'_>) -> bool {
        node.content().is_some_and(|inode| self.gone.contains(&inode))
            || self.cached_links.contains(&node.id())
    }

    /// Whether the instructions of a layer contain a text.
    pub(super) fn says(&self, layer: u16, text: &str) -> bool {
        self.texts.get(&layer).is_some_and(|all| all.contains(text))
    }

    /// Whether the user's instructions created a path, and not a package that they install.
    pub(super) fn is_own_work(&self, node: Node<'_>) -> bool {
        !self.installs(node.layer()) || self.says(node.layer(), &String::from_utf8_lossy(&node.path()))
    }

    /// Whether a file of a layer, with its path, is generated by tools: by package installation, user creation, caches.
    pub(super) fn is_by_product(&self, node: Node<'_>, path: &[u8]) -> bool {
        let named = || self.says(node.layer(), &String::from_utf8_lossy(path));
        match state(path) {
            None => false,
            Some(State::Packages) if tool_keeps(path) => true,
            Some(State::Packages) => self.installs(node.layer()) && !named(),
            Some(State::Users) => true,
            Some(State::Lost) if node.kind() == NodeKind::Symlink => !self.is_own_work(node),
            Some(State::PackagePapers(_) | State::Compiled | State::Lost) => true,
        }
    }

    /// Whether a path is in the user's layers.
    pub(super) fn is_users(&self, node: Node<'_>) -> bool {
        node.layer() >= self.base_layers
    }

    /// Packages that are installed with these, themselves included. Of alternatives, those that the image has.
    pub(super) fn with_dependencies(&self, packages: impl IntoIterator<Item = usize>) -> BTreeSet<usize> {
        let mut open: Vec<usize> = packages.into_iter().collect();
        let mut known: BTreeSet<usize> = open.iter().copied().collect();
        while let Some(place) = open.pop() {
            open.extend(self.depends(place).iter().filter(|place| known.insert(**place)));
        }
        known
    }

    /// Dependencies of a package that are in the image.
    pub(super) fn depends(&self, package: usize) -> &[usize] {
        self.depends.get(package).map(Vec::as_slice).unwrap_or_default()
    }
}

impl SplitContext<'_> {
    /// A comment about open questions whose files the new image lacks; `None` when that is little. A finding counts
    /// when `left` is true for most of its files.
    pub(super) fn open_question(&self, left: &dyn Fn(NodeId) -> bool) -> Option<String> {
        let mut by_title: BTreeMap<&str, u64> = BTreeMap::new();
        for finding in &self.open {
            let items = finding.items.iter().filter(|item| item.node.is_some_and(left));
            let bytes: u64 = items.map(|item| item.bytes).sum();
            if bytes * 2 > finding.merged_bytes {
                *by_title.entry(finding.rule.title).or_default() += bytes;
            }
        }
        let mut open: Vec<(u64, &str)> = by_title.into_iter().map(|(title, bytes)| (bytes, title)).collect();
        // Little is listed only with the proposal.
        open.retain(|(bytes, _)| bytes.saturating_mul(100) >= self.input.merge.merged_bytes);
        open.sort_unstable_by(|one, other| other.cmp(one));
        let shown: Vec<String> =
            open.iter().take(3).map(|(bytes, title)| format!("{title} ({})", human(*bytes))).collect();
        (!shown.is_empty()).then(|| format!("# Left out, needs review: {}", shown.join(", ")))
    }

    /// Whether a package of this name is a development package, by the package rules.
    pub(super) fn is_builders(&self, name: &str) -> bool {
        let manager =
            self.by_name.get(name).map_or("dpkg", |place| self.input.inventory.packages[*place].manager);
        self.input.catalog.is_devel_package(manager, name).is_some()
    }

    /// Whether the current base is an NVIDIA CUDA image.
    pub(super) fn is_cuda_image(&self) -> bool {
        self.input.inventory.base.as_ref().is_some_and(|base| base.flavor != crate::cuda::Flavor::None)
    }

    /// Whether apt left archives in the image.
    pub(super) fn keeps_archives(&self) -> bool {
        let folder = self.paths.lookup(b"/var/cache/apt/archives");
        folder.is_some_and(|folder| {
            self.rootfs.node(folder).children().any(|file| file.name().ends_with(b".deb"))
        })
    }

    /// Whether the image has ldconfig; musl images do not.
    pub(super) fn has_ldconfig(&self) -> bool {
        [&b"/sbin/ldconfig"[..], b"/usr/sbin/ldconfig"].iter().any(|path| self.paths.lookup(path).is_some())
    }

    /// The script that prints NVIDIA's banner before the command.
    pub(super) fn is_banner(&self, node: NodeId) -> bool {
        self.rootfs.node(node).path().starts_with(b"/opt/nvidia/nvidia_entrypoint")
    }
}

/// Files written by repeated commands.
fn tool_keeps(path: &[u8]) -> bool {
    [&b"/etc/ssl/certs/"[..], b"/etc/ld.so.cache", b"/var/lib/"].iter().any(|folder| path.starts_with(folder))
}

/// Whether a text names a folder, and not one whose name only starts the same.
fn names_folder(text: &str, folder: &str) -> bool {
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"._-".contains(byte);
    text.match_indices(folder).any(|(at, _)| !text.as_bytes().get(at + folder.len()).is_some_and(is_name))
}

/// Texts are searched for file paths: a `RUN` has some hundred bytes.
const TEXT_BYTES: usize = 64 << 10;

fn texts(recipe: &Recipe, stage: &Final<'_>) -> HashMap<u16, String> {
    let mut texts: HashMap<u16, String> = HashMap::new();
    for (place, instruction) in recipe.file.instructions.iter().enumerate() {
        let text = recipe.file.slice(&instruction.span);
        for layer in stage.layers_of(recipe, place) {
            let known = texts.entry(layer).or_default();
            if known.len() + text.len() < TEXT_BYTES {
                known.push_str(text);
            }
        }
    }
    texts
}
