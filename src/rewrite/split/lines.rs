//! The lines of a new final stage: repeated instructions, and copies.

mod collection;
mod context;
mod copies;
mod division;
mod owners;
mod repeat;
mod settings;
mod waiting;

use std::collections::BTreeSet;

use hashbrown::HashSet;

use super::keep::{FileDisposition, Keep};
use super::owners::{Owner, owners};
use super::packages::{PackageSelection, added};
use super::roots::{Finder, Roots};
use super::stage::Final;
use super::state::{State, state};
use super::steps::{Kind, Step, Steps, makes};
use crate::base::size::human;
use crate::base::text::{counted, escape};
use crate::formats::dockerfile::{ShellCommand, Span};
use crate::rewrite::tidy::{Call, Tidied};
use crate::rootfs::{Node, NodeId, NodeKind};
use division::Later;
use waiting::Waiting;

/// A line of the new stage.
#[derive(Clone, Debug)]
pub(super) struct Line {
    pub(super) text: String,
    pub(super) reason: String,
}

/// A divided build stage: what it installs before the first code is copied, and the rest.
#[derive(Clone, Debug)]
pub(super) struct Division {
    /// The last step of the first part.
    pub(super) step: usize,
    /// The name of the first part.
    pub(super) name: String,
    /// A stage between it and the final one that removes what is unused at run time: its name, paths and bytes; `None`
    /// if nothing is removed.
    pub(super) without: Option<(String, Vec<(String, u64)>)>,
    /// The folder to which both parts write.
    folder: NodeId,
    /// The content of the second part.
    later: Later,
    /// Single compiled modules of Python in it, which are not copied: Python compiles their sources again.
    compiled: Vec<NodeId>,
}

impl Division {
    /// The stage whose dependencies the final stage copies.
    fn source(&self) -> &str {
        self.without.as_ref().map_or(&self.name, |(name, _)| name)
    }
}

/// The new stage.
pub(super) struct Lines<'l, 'w, 'a, 's, 'r> {
    pub(super) stage: &'l Final<'r>,
    pub(super) keep: &'l Keep<'w, 'a>,
    pub(super) steps: &'l Steps<'s, 'r>,
    /// The last step of the build stage.
    pub(super) last: usize,
    /// The name of the build stage.
    pub(super) build: &'l str,
    /// Packages that the new stage does not install.
    pub(super) dropped: &'l BTreeSet<String>,
    /// Clean-ups of the instructions that stay.
    pub(super) tidied: &'l Tidied,
    /// Packages that it installs in addition to the current ones.
    pub(super) added: Vec<String>,
    owners: Vec<Owner>,
    pub(super) roots: Roots,
    /// How the build stage is divided so that a code change does not copy the dependencies again; `None` if
    /// it is not.
    pub(super) division: Option<Division>,
    /// Lines after the new `FROM`.
    pub(super) text: Vec<Line>,
    /// Edits of the instructions that follow.
    pub(super) edits: Vec<(Span, String, String)>,
    /// Nodes of the new image besides its base and its packages.
    pub(super) covered: HashSet<NodeId>,
    /// Bytes that copied folders store again.
    pub(super) stored_again: u64,
    /// Commands at the end of the build stage.
    pub(super) removed: Vec<(String, u64)>,
    /// Commands before these that remove packages for development, with the bytes, and the files.
    pub(super) pruned: Vec<(String, u64)>,
    pruned_files: HashSet<NodeId>,
    /// The command at its end that collects results whose names contain a version.
    pub(super) collected: Option<String>,
    pub(super) assumed: Vec<String>,
    pub(super) manual_steps: Vec<String>,
    /// Steps of the build stage that the new stage repeats completely.
    pub(super) repeated: HashSet<usize>,
    /// Steps whose owner changes and removals are part of the new stage.
    pub(super) alive: HashSet<usize>,
    pub(super) folder: Option<String>,
    pending_folder: Option<String>,
    /// `USER` instructions in effect: in the current file, and in the new stage.
    user: (Option<String>, Option<String>),
    users_done: bool,
    /// Whether packages must be installed and the installer is unknown.
    pub(super) is_unknown: bool,
    /// `ARG`s: the step, and the index of the line before which it is inserted if used.
    arguments: Vec<(usize, usize)>,
    /// Folders of the build stage that are copied before the code.
    copied_early: HashSet<NodeId>,
    /// Whether the owner of a copied file was changed, which clears capabilities.
    pub(super) clears: bool,
    /// Commands that follow a copy.
    waiting: Vec<Waiting>,
    /// Nodes of the new image when they were looked at last.
    covered_before: usize,
    /// Steps of `ARG`s and `ENV`s that were added early, because earlier lines use them.
    settled: HashSet<usize>,
}

impl<'l, 'w, 'a, 's, 'r> Lines<'l, 'w, 'a, 's, 'r> {
    /// `last` and `build` are the last step of the build stage and its name.
    pub(super) fn new(
        stage: &'l Final<'r>,
        keep: &'l Keep<'w, 'a>,
        steps: &'l Steps<'s, 'r>,
        (last, build): (usize, &'l str),
        asked: &'l PackageSelection,
        tidied: &'l Tidied,
    ) -> Self {
        let (dropped, added) = (&asked.dropped, added(keep, &asked.kept));
        let is_copied = |step: usize| steps.list.get(step).is_some_and(Step::makes) && !steps.is_whole(step);
        let roots = Finder { keep, steps, last, is_copied: &is_copied }.find();
        Self {
            stage,
            keep,
            steps,
            last,
            build,
            dropped,
            tidied,
            added,
            owners: owners(steps, keep, &roots),
            roots,
            division: None,
            text: Vec::new(),
            edits: Vec::new(),
            covered: HashSet::new(),
            stored_again: 0,
            removed: Vec::new(),
            pruned: Vec::new(),
            pruned_files: HashSet::new(),
            collected: None,
            assumed: Vec::new(),
            manual_steps: Vec::new(),
            repeated: HashSet::new(),
            alive: HashSet::new(),
            folder: None,
            pending_folder: None,
            user: (None, None),
            users_done: false,
            is_unknown: false,
            arguments: Vec::new(),
            copied_early: HashSet::new(),
            clears: false,
            waiting: Vec::new(),
            covered_before: 0,
            settled: HashSet::new(),
        }
    }

    pub(super) fn write(&mut self) {
        for step in &self.steps.unclear {
            let line = self.steps.tidying.line(self.steps.list[*step].place);
            self.manual_steps.push(format!(
                "line {line} copies into a folder that the build may fill, too, and one layer has both: \
                 remove the COPY of files from the build stage that come with line {line}"
            ));
        }
        self.prune();
        self.junk();
        self.divide();
        self.packages_first();
        for at in 0..=self.last {
            let Some(step) = self.steps.list.get(at) else { continue };
            match &step.kind {
                Kind::Setting => self.setting(at),
                Kind::Context => self.context(at),
                Kind::FromStage => {
                    self.flush_folder(at);
                    self.copied_from_stage(at);
                }
                Kind::Run(works) => self.run(at, works),
            }
            self.copies(at);
            let arrived = self.arrived();
            self.clears |= arrived.iter().any(|text| text.contains("chown "));
            // They were run before the user of this step was set.
            self.after_copies(at, &arrived, true);
            if let Kind::Run(works) = &step.kind {
                let commands = self.beside(at, works);
                self.after_copies(at, &commands, false);
            }
        }
        self.not_arrived();
        for at in self.last + 1..self.steps.list.len() {
            self.missing_folders_of(at);
        }
        self.users(self.last);
        self.loader();
        self.last_folder();
        self.last_user();
        self.settle_arguments();
        for at in self.last + 1..self.steps.list.len() {
            self.stays(at);
        }
        self.sources_left();
        self.recompiled();
    }

    pub(super) fn add(&mut self, text: String, reason: impl Into<String>) {
        self.text.push(Line { text, reason: reason.into() });
    }

    pub(super) fn keyword(&self, keyword: &str) -> String {
        let from = self.stage.file.instructions.get(self.stage.from);
        let lower = from.is_some_and(|from| {
            self.stage.file.slice(&from.keyword_span).bytes().all(|byte| byte.is_ascii_lowercase())
        });
        if lower { keyword.to_lowercase() } else { keyword.to_owned() }
    }

    fn text(&self, at: usize) -> String {
        self.steps.list.get(at).map(|step| self.stage.text(step.place)).unwrap_or_default().to_owned()
    }

    fn cover_folder(&mut self, path: &[u8]) {
        if let Some(node) = self.keep.context.paths.lookup(path) {
            self.covered.insert(node);
        }
    }

    /// Adds the files of a step to `covered`: those whose disposition `also` accepts and that do not come
    /// with packages.
    fn cover_step(&mut self, at: usize, also: impl Fn(FileDisposition) -> bool) {
        let nodes: Vec<NodeId> = self
            .keep
            .context
            .rootfs
            .nodes()
            .filter(|node| node.kind() != NodeKind::Directory && also(self.keep.fate(node.id())))
            .filter(|node| self.steps.origin(*node) == Some(at) && !self.comes_with_packages(*node))
            .map(Node::id)
            .collect();
        self.covered.extend(nodes);
    }

    /// Whether a file exists exactly when its package does, or is a package list that is cleaned up.
    fn comes_with_packages(&self, node: Node<'_>) -> bool {
        let owned = self.keep.context.system_owner(node.id()).is_some();
        let path = node.path();
        owned && self.keep.fate(node.id()) != FileDisposition::Copied
            || matches!(state(&path), Some(State::PackagePapers(_)))
            || path.starts_with(b"/var/lib/apt/lists/")
            || path.starts_with(b"/var/cache/apt/")
    }

    fn copied_from_stage(&mut self, at: usize) {
        let text = self.with_owner(at, self.text(at));
        self.add(text, "Repeated: copies from another stage.");
        self.repeated.insert(at);
        self.cover_step(at, |_| true);
    }

    /// Notes compiled modules of the base image that are not in the new image.
    fn recompiled(&mut self) {
        let divided = self.division.iter().flat_map(|division| &division.compiled);
        let compiled: BTreeSet<NodeId> = self.keep.recompiled.iter().chain(divided).copied().collect();
        let compiled = compiled.into_iter().filter(|node| !self.covered.contains(node));
        let left: Vec<Node<'_>> = compiled.map(|node| self.keep.context.rootfs.node(node)).collect();
        let Some(first) = left.first() else { return };
        self.assumed.push(format!(
            "Python compiles modules when it loads them: {} ({}), such as {}, stay in the build stage; their sources are in the image.",
            counted(left.len() as u64, "compiled module"),
            human(left.iter().map(|node| node.bytes()).sum()),
            escape(&first.path())
        ));
    }

    /// Notes sources that are not in the new image.
    fn sources_left(&mut self) {
        let context = self.keep.context;
        let mut sums = (0_u64, 0_u64);
        let mut first = None;
        for node in context.rootfs.nodes().filter(|node| node.kind() == NodeKind::File) {
            if self.keep.is_build_only(node.id())
                && self.keep.fate(node.id()) == FileDisposition::Gone
                && !self.covered.contains(&node.id())
            {
                sums = (sums.0 + 1, sums.1 + node.bytes());
                first.get_or_insert_with(|| escape(&node.path()));
            }
        }
        if let Some(first) = first {
            self.assumed.push(format!(
                "Sources, build files and unused installers stay in the build stage: {} ({}), such as {first}. No command, variable or working directory of the image names them.",
                counted(sums.0, "file"),
                human(sums.1)
            ));
        }
    }
}

/// Whether a command of a building instruction configures the system, which a copy of its results does not.
pub(super) fn configures(command: &ShellCommand) -> bool {
    const OF_SYSTEM: [&str; 8] = [
        "locale-gen",
        "update-locale",
        "localedef",
        "update-ca-certificates",
        "update-alternatives",
        "fc-cache",
        "dpkg-reconfigure",
        "sed",
    ];
    Call::of(command).is_some_and(|call| OF_SYSTEM.contains(&call.program))
        || command.writes.iter().any(|path| path.starts_with("/etc/"))
}

/// The last step, from index `from` on, that compiles or creates content.
pub(super) fn last_making(steps: &Steps<'_, '_>, from: usize) -> Option<usize> {
    let is = |step: &Step| {
        step.compiles || matches!(&step.kind, Kind::Run(works) if works.iter().any(|work| makes(*work)))
    };
    (from..steps.list.len()).rev().find(|at| is(&steps.list[*at]))
}
