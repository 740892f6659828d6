//! All path globs as one automaton that reads paths byte by byte.
//!
//! Globs with a common prefix share nodes. Globs below toolkits and below `site-packages` folders are stored
//! once and entered from each possible location of such a folder.

use super::super::document::Document;
use super::super::entry::CatalogError;
use super::super::places::PathScope;
use crate::base::convert::index32;

/// Maximum number of nodes, at most one for each byte of a glob; the built-in catalogue has some 5,000.
const NODES: usize = 1 << 18;

/// Report order of categories by path; unknown ones come last.
pub(super) const CATEGORIES: [&str; 12] = [
    "package-caches",
    "build-artifacts",
    "stubs",
    "static-libraries",
    "headers",
    "profilers",
    "debuggers",
    "compilers",
    "build-metadata",
    "docs-samples",
    "build-tools",
    "driver-libraries",
];

/// A fact about paths whose walk ends at a node. Rules are given by rank; the lowest rank takes precedence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mark {
    Devel(u32),
    /// Excludes the path from this rule for development files.
    Except(u32),
    Tool,
    Class(u32),
    /// At or below the root of a toolkit.
    Toolkit,
    /// A file of this framework, by index.
    Framework(u32),
}

/// Bytes that leave the walk at a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Loop {
    #[default]
    None,
    /// A `*`: all bytes except the slash.
    Part,
    /// A `**`: all bytes.
    All,
}

/// The combined marks of a path; rules by rank.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Verdict {
    pub(super) devel: Option<u32>,
    pub(super) class: Option<u32>,
    pub(super) tool: bool,
    pub(super) toolkit: bool,
    pub(super) framework: Option<u32>,
}

/// A position in the globs.
#[derive(Clone, Debug, Default)]
struct Node {
    loops: Loop,
    edges: Vec<(u8, u32)>,
    /// Epsilon transitions: a following star, or globs that start here.
    also: Vec<u32>,
    marks: Vec<Mark>,
}

/// The globs of a catalogue.
#[derive(Clone, Debug)]
pub(in super::super) struct Net {
    nodes: Vec<Node>,
    /// Equivalence class of each byte: 0 for bytes in no glob.
    kinds: [u8; 256],
    /// Number of byte classes.
    pub(super) kind_count: usize,
    /// Initial nodes, sorted.
    start: Vec<u32>,
    /// Indexes of the rules for development files, by rank.
    pub(super) devel: Vec<usize>,
    /// Indexes of the path classes, by rank.
    pub(super) classes: Vec<usize>,
}

impl Default for Net {
    fn default() -> Self {
        let (nodes, start, devel, classes) = Default::default();
        Self { nodes, kinds: [0; 256], kind_count: 1, start, devel, classes }
    }
}

impl Net {
    pub(in super::super) fn new(document: &Document) -> Result<Self, CatalogError> {
        let mut net = Self { nodes: vec![Node::default(); 4], ..Self::default() };
        let [system, toolkit, plain, python] = [0, 1, 2, 3];
        // Below a toolkit's root, with or without a target folder.
        net.nodes[1].also.push(plain);
        let target = net.glob(toolkit, "targets/*/")?;
        net.also(target, plain);
        for root in &document.toolkit_roots {
            // Path components are never empty, so a root has as many slashes as its pattern.
            let pattern = root.pattern.replace("**", "*");
            for end in net.toolkit_root(system, &pattern)? {
                net.mark(end, Mark::Toolkit);
                let below = net.glob(end, "/")?;
                net.also(below, toolkit);
            }
        }
        let below_root = net.glob(plain, "**")?;
        net.mark(below_root, Mark::Toolkit);
        for folder in ["**/site-packages/", "**/dist-packages/"] {
            let below = net.glob(system, folder)?;
            net.also(below, python);
        }
        let entry = |scope| match scope {
            PathScope::System => system,
            PathScope::Toolkit => plain,
            PathScope::Python => python,
        };
        let paths = &document.devel_paths;
        let category = |at: usize| CATEGORIES.iter().position(|known| *known == paths[at].category);
        net.devel = ranked(paths.len(), |at| category(at).unwrap_or(CATEGORIES.len()));
        for (rank, at) in (0..).zip(net.devel.clone()) {
            let rule = &paths[at];
            net.rule(entry(rule.scope), rule.scope, &rule.patterns, Mark::Devel(rank))?;
            net.rule(entry(rule.scope), rule.scope, &rule.except, Mark::Except(rank))?;
        }
        for tools in &document.tool_folders {
            net.rule(entry(tools.scope), tools.scope, &tools.patterns, Mark::Tool)?;
        }
        let classes = &document.path_classes;
        net.classes = ranked(classes.len(), |at| match classes[at].scope {
            PathScope::Python => 0,
            PathScope::Toolkit => 1,
            PathScope::System => 2,
        });
        for (rank, at) in (0..).zip(net.classes.clone()) {
            let class = &classes[at];
            net.rule(entry(class.scope), class.scope, &class.patterns, Mark::Class(rank))?;
        }
        for (at, framework) in (0..).zip(&document.frameworks) {
            net.rule(system, PathScope::System, &framework.files, Mark::Framework(at))?;
        }
        net.finish(system);
        Ok(net)
    }

    fn rule(
        &mut self,
        entry: u32,
        scope: PathScope,
        globs: &[String],
        mark: Mark,
    ) -> Result<(), CatalogError> {
        for glob in globs {
            let end = self.glob(entry, glob)?;
            self.mark(end, mark);
            // A name in any folder also matches directly in the scope.
            let name = glob.strip_prefix("**/").filter(|name| !name.contains('/') && !name.contains("**"));
            let in_lib64 = glob.strip_prefix("lib/").map(|below| format!("lib64/{below}"));
            let in_lib64 = in_lib64.filter(|_| scope == PathScope::Toolkit);
            for other in name.into_iter().chain(in_lib64.as_deref()) {
                let end = self.glob(entry, other)?;
                self.mark(end, mark);
            }
        }
        Ok(())
    }

    /// The end nodes of a toolkit's root: one, or one for each digit that may follow `cuda-`.
    fn toolkit_root(&mut self, entry: u32, pattern: &str) -> Result<Vec<u32>, CatalogError> {
        let name = pattern.rsplit('/').next().unwrap_or_default();
        let Some(rest) = name.strip_prefix("cuda-*") else {
            return Ok(vec![self.glob(entry, pattern)?]);
        };
        let before = self.glob(entry, &pattern[..pattern.len() - rest.len() - 1])?;
        let rest = format!("*{rest}");
        let digits: Vec<u32> = ('0'..='9')
            .map(|digit| self.glob(before, digit.encode_utf8(&mut [0; 4])))
            .collect::<Result<_, _>>()?;
        digits.into_iter().map(|digit| self.glob(digit, &rest)).collect()
    }

    /// Adds the text of a glob, starting at node `at`, and returns its end node.
    fn glob(&mut self, at: u32, glob: &str) -> Result<u32, CatalogError> {
        let mut at = at;
        let mut rest = glob.as_bytes();
        while let Some((byte, after)) = rest.split_first() {
            rest = after;
            at = match (byte, after.strip_prefix(b"*")) {
                (b'*', Some(after)) => {
                    rest = after;
                    self.star(at, Loop::All)
                }
                (b'*', None) => self.star(at, Loop::Part),
                _ => self.edge(at, *byte),
            };
            if self.nodes.len() > NODES {
                let message = format!("globs longer than {NODES} bytes in total");
                return Err(CatalogError::Patterns { table: "path", message });
            }
        }
        Ok(at)
    }

    fn edge(&mut self, from: u32, byte: u8) -> u32 {
        let next = index32(self.nodes.len());
        let edges = &mut self.nodes[from as usize].edges;
        match edges.binary_search_by_key(&byte, |edge| edge.0) {
            Ok(found) => edges[found].1,
            Err(place) => {
                edges.insert(place, (byte, next));
                self.nodes.push(Node::default());
                next
            }
        }
    }

    fn star(&mut self, from: u32, loops: Loop) -> u32 {
        let known = |also: &&u32| self.nodes[**also as usize].loops == loops;
        if let Some(known) = self.nodes[from as usize].also.iter().find(known) {
            return *known;
        }
        let next = index32(self.nodes.len());
        self.nodes.push(Node { loops, ..Node::default() });
        self.also(from, next);
        next
    }

    fn also(&mut self, from: u32, other: u32) {
        self.nodes[from as usize].also.push(other);
    }

    fn mark(&mut self, node: u32, mark: Mark) {
        let marks = &mut self.nodes[node as usize].marks;
        if !marks.contains(&mark) {
            marks.push(mark);
        }
    }

    fn finish(&mut self, start: u32) {
        let mut named = [false; 256];
        named[usize::from(b'/')] = true;
        for (byte, _) in self.nodes.iter().flat_map(|node| &node.edges) {
            named[usize::from(*byte)] = true;
        }
        // Kind 0 is that of all bytes in no glob. Some bytes never occur in UTF-8, so there are fewer than
        // 255 others.
        let mut kinds = 0u8;
        for (kind, _) in self.kinds.iter_mut().zip(named).filter(|(_, named)| *named) {
            kinds = kinds.saturating_add(1);
            *kind = kinds;
        }
        self.kind_count = usize::from(kinds) + 1;
        let mut first = Vec::new();
        self.enter(start, &mut first);
        settle_order(&mut first);
        self.start = first;
    }

    /// Adds a node and its epsilon closure to `set`.
    fn enter(&self, node: u32, set: &mut Vec<u32>) {
        let first = set.len();
        set.push(node);
        let mut at = first;
        while let Some(node) = set.get(at) {
            let also = &self.nodes[*node as usize].also;
            set.extend_from_slice(also);
            at += 1;
        }
    }

    /// The initial nodes of a walk.
    pub(super) fn start(&self) -> &[u32] {
        &self.start
    }

    /// The equivalence class of a byte.
    pub(super) fn kind(&self, byte: u8) -> u8 {
        self.kinds[usize::from(byte)]
    }

    /// The nodes after one more byte, sorted.
    pub(super) fn step(&self, from: &[u32], byte: u8, set: &mut Vec<u32>) {
        set.clear();
        for id in from {
            let node = &self.nodes[*id as usize];
            match node.loops {
                Loop::All => set.push(*id),
                Loop::Part if byte != b'/' => set.push(*id),
                _ => {}
            }
            if let Ok(found) = node.edges.binary_search_by_key(&byte, |edge| edge.0) {
                self.enter(node.edges[found].1, set);
            }
        }
        settle_order(set);
    }

    /// Whether no byte except a slash changes the set.
    pub(super) fn is_settled(&self, set: &[u32]) -> bool {
        set.iter().all(|id| {
            let node = &self.nodes[*id as usize];
            node.loops != Loop::None && node.edges.iter().all(|(byte, _)| *byte == b'/')
        })
    }

    /// The facts about a path whose walk ends at these nodes.
    pub(super) fn verdict(&self, set: &[u32]) -> Verdict {
        let mut verdict = Verdict::default();
        let (mut fits, mut excepted) = (Vec::new(), Vec::new());
        for mark in set.iter().flat_map(|id| &self.nodes[*id as usize].marks) {
            match mark {
                Mark::Devel(rank) => fits.push(*rank),
                Mark::Except(rank) => excepted.push(*rank),
                Mark::Tool => verdict.tool = true,
                Mark::Class(rank) => verdict.class = Some(least(verdict.class, *rank)),
                Mark::Framework(at) => verdict.framework = Some(least(verdict.framework, *at)),
                Mark::Toolkit => verdict.toolkit = true,
            }
        }
        verdict.devel = fits.into_iter().filter(|rank| !excepted.contains(rank)).min();
        verdict
    }

    /// The facts about one path, without cached states.
    pub(super) fn of_path(&self, path: &[u8]) -> Verdict {
        let (mut at, mut next) = (self.start.clone(), Vec::new());
        for byte in path {
            self.step(&at, *byte, &mut next);
            std::mem::swap(&mut at, &mut next);
        }
        self.verdict(&at)
    }
}

fn least(known: Option<u32>, rank: u32) -> u32 {
    known.map_or(rank, |known| known.min(rank))
}

fn settle_order(set: &mut Vec<u32>) {
    set.sort_unstable();
    set.dedup();
}

/// Indexes of a table sorted by rank; the order is stable.
fn ranked(count: usize, rank: impl Fn(usize) -> usize) -> Vec<usize> {
    let mut places: Vec<usize> = (0..count).collect();
    places.sort_by_key(|at| rank(*at));
    places
}
