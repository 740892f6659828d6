//! The lines of a new final stage: repeated instructions, and copies.

use std::collections::{BTreeSet, HashSet};

use super::from::{install, installer};
use super::keep::{FileDisposition, Keep};
use super::owners::{Owner, of as owner_of, owners, takes_owner};
use super::packages::{Asked, added};
use super::roots::{Finder, MOST_PATHS, Root, Roots};
use super::runs::{Trim, units};
use super::shell::Work;
use super::sources::is_within;
use super::stage::Final;
use super::state::{State, state};
use super::steps::{Kind, Step, Steps, makes};
use super::words::{shell_word, variables, word};
use crate::base::size::human;
use crate::base::text::{counted, escape, printable};
use crate::cuda::links::{file_name, folder_of};
use crate::formats::dockerfile::{Keyword, ShellCommand, Span};
use crate::rewrite::tidy::{Call, Tidied, style};
use crate::rewrite::value::Edit;
use crate::rootfs::{Node, NodeId, NodeKind};

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
    /// The folder to which both parts write.
    folder: NodeId,
    /// The content of the second part: folders, and files by folder.
    later: Vec<(NodeId, Vec<NodeId>)>,
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
    /// Where the build stage is divided so that a code change does not copy the dependencies again.
    pub(super) division: Option<Division>,
    /// Lines after the new `FROM`.
    pub(super) text: Vec<Line>,
    /// Edits of the instructions that follow.
    pub(super) edits: Vec<(Span, String, String)>,
    /// Nodes of the new image besides its base and its packages.
    pub(super) covered: HashSet<NodeId>,
    /// Commands at the end of the build stage.
    pub(super) removed: Vec<(String, u64)>,
    pub(super) assumed: Vec<String>,
    pub(super) by_hand: Vec<String>,
    /// Steps of the build stage that the new stage has whole.
    pub(super) repeated: HashSet<usize>,
    /// Steps whose changes of owners and removals the new stage has.
    pub(super) alive: HashSet<usize>,
    folder: Option<String>,
    pending_folder: Option<String>,
    /// The `USER` of today's instruction, and that of the lines.
    user: (Option<String>, Option<String>),
    users_done: bool,
    /// Whether packages are to be installed and nobody knows how.
    pub(super) is_unknown: bool,
    /// Arguments by step, and the line before which each is due.
    arguments: Vec<(usize, usize)>,
    /// Arguments and variables that were due earlier.
    settled: HashSet<usize>,
}

impl<'l, 'w, 'a, 's, 'r> Lines<'l, 'w, 'a, 's, 'r> {
    /// `last` and `build` are the last step of the build stage and its name.
    pub(super) fn new(
        stage: &'l Final<'r>,
        keep: &'l Keep<'w, 'a>,
        steps: &'l Steps<'s, 'r>,
        (last, build): (usize, &'l str),
        asked: &'l Asked,
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
            removed: Vec::new(),
            assumed: Vec::new(),
            by_hand: Vec::new(),
            repeated: HashSet::new(),
            alive: HashSet::new(),
            folder: None,
            pending_folder: None,
            user: (None, None),
            users_done: false,
            is_unknown: false,
            arguments: Vec::new(),
            settled: HashSet::new(),
        }
    }

    pub(super) fn write(&mut self) {
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
            if let Kind::Run(works) = &step.kind {
                self.beside(at, works);
            }
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

    /// Adds packages that files need and no instruction installs, if no instruction with an installation is repeated.
    fn packages_first(&mut self) {
        // An instruction that cannot be edited cannot install more packages.
        let repeats = (0..self.steps.list.len()).any(|at| self.installs(at) && !self.steps.is_opaque(at));
        if self.added.is_empty() || repeats {
            return;
        }
        let Some(installer) = installer(self.keep.world, self.keep.base, &self.steps.programs()) else {
            self.is_unknown = true;
            return;
        };
        let names = std::mem::take(&mut self.added);
        let text = install(self.stage.file, &self.keyword("RUN"), installer, &names).replace("\r\n", "\n");
        self.add(text, format!("Files of the image need these packages: {}.", names.join(", ")));
    }

    /// Whether a step still installs packages.
    pub(super) fn installs(&self, at: usize) -> bool {
        let Some(Kind::Run(works)) = self.steps.list.get(at).map(|step| &step.kind) else { return false };
        let Some(run) = self.steps.run(at) else { return false };
        works.contains(&Work::Install)
            && run.commands.iter().zip(works).any(|(command, work)| {
                *work == Work::Install
                    && Call::of(command).is_some_and(|call| {
                        let packages = super::shell::package_words(&call);
                        packages
                            .iter()
                            .any(|word| !self.dropped.contains(super::shell::package_name(&word.text)))
                    })
            })
    }

    fn setting(&mut self, at: usize) {
        let step = &self.steps.list[at];
        let later = || self.steps.list[at + 1..].iter().any(|other| other.keyword == step.keyword);
        match step.keyword {
            Keyword::WorkDir => {
                let path = self.steps.scene.workdir(step.place + 1);
                match path {
                    Some(path) => self.pending_folder = Some(path),
                    None => self.add(self.text(at), "Repeated: a new stage does not inherit it."),
                }
            }
            Keyword::User => self.user.0 = Some(self.text(at)),
            Keyword::Cmd | Keyword::Entrypoint | Keyword::Healthcheck | Keyword::StopSignal if later() => {}
            Keyword::Arg | Keyword::Env if self.settled.contains(&at) => {}
            Keyword::Arg => self.arguments.push((at, self.text.len())),
            _ => self.add(self.text(at), "Repeated: a new stage does not inherit it."),
        }
    }

    /// Names that an `ARG` or `ENV` sets.
    fn names(&self, at: usize) -> Vec<&'r str> {
        let instruction =
            self.steps.list.get(at).and_then(|step| self.stage.file.instructions.get(step.place));
        let words = instruction.map(|one| one.words.as_slice()).unwrap_or_default();
        words.iter().map(|word| word.text.split('=').next().unwrap_or_default()).collect()
    }

    /// Arguments go before the lines that use them; those that none uses stay in the build stage.
    fn settle_arguments(&mut self) {
        let follows = self.steps.list.get(self.last + 1..).unwrap_or_default();
        let later: Vec<&str> = follows.iter().map(|step| self.stage.text(step.place)).collect();
        let installs_later = follows.iter().any(Step::installs);
        for (at, place) in std::mem::take(&mut self.arguments).into_iter().rev() {
            let names = self.names(at);
            let lines = self.text[place..].iter().map(|line| line.text.as_str());
            let is_used = lines
                .clone()
                .chain(later.iter().copied())
                .any(|text| variables(text).any(|name| names.contains(&name)));
            // apt reads it by itself.
            let is_read = names.contains(&"DEBIAN_FRONTEND")
                && (installs_later || lines.clone().any(|text| text.contains("apt")));
            if is_used || is_read {
                let reason = "Repeated: later instructions of this stage use it.".to_owned();
                self.text.insert(place, Line { text: self.text(at), reason });
            }
        }
    }

    /// Variables of later instructions that lines before them use already.
    fn settle(&mut self, at: usize, commands: &[String]) {
        let mut wanted: BTreeSet<String> =
            commands.iter().flat_map(|text| variables(text)).map(str::to_owned).collect();
        let mut due = Vec::new();
        for step in (at + 1..self.steps.list.len()).rev() {
            let sets = matches!(self.steps.list[step].keyword, Keyword::Arg | Keyword::Env);
            if sets && self.names(step).iter().any(|name| wanted.contains(*name)) {
                wanted.extend(variables(&self.text(step)).map(str::to_owned));
                due.push(step);
            }
        }
        for step in due.into_iter().rev() {
            self.add(self.text(step), "Before the lines that use it.");
            self.settled.insert(step);
        }
    }

    /// Sets the working directory for relative paths of the next line.
    fn flush_folder(&mut self, at: usize) {
        let relative = self.steps.list.get(at).is_none_or(|step| {
            let target = self.stage.file.instructions.get(step.place).and_then(|one| one.words.last());
            target.is_none_or(|word| !word.text.starts_with('/'))
        });
        if let Some(path) = self.pending_folder.take_if(|_| relative) {
            if self.folder.as_ref() != Some(&path) {
                self.add(
                    format!("{} {path}", self.keyword("WORKDIR")),
                    "Repeated: a new stage does not inherit it.",
                );
                self.cover_folder(path.as_bytes());
            }
            self.folder = Some(path);
        }
    }

    /// Sets the working directory of the image if no later instruction does.
    fn last_folder(&mut self) {
        let follows = self.steps.list.get(self.last + 1..).unwrap_or_default();
        let Some(path) = self.pending_folder.take() else { return };
        let sets = follows.iter().position(|step| step.keyword == Keyword::WorkDir);
        let before = &follows[..sets.unwrap_or(follows.len())];
        let is_used = sets.is_none() || before.iter().any(|step| !matches!(step.kind, Kind::Setting));
        if is_used && self.folder.as_ref() != Some(&path) {
            self.add(
                format!("{} {path}", self.keyword("WORKDIR")),
                "Repeated: a new stage does not inherit it.",
            );
            self.cover_folder(path.as_bytes());
        }
    }

    /// The lines run as the user of today's instruction from here on.
    pub(super) fn run_as_now(&mut self) {
        if let Some(user) = self.user.0.clone().filter(|user| self.user.1.as_ref() != Some(user)) {
            self.add(user, "Repeated: a new stage does not inherit it.");
            self.user.1.clone_from(&self.user.0);
        }
    }

    /// Lines that are added run as root.
    fn run_as_root(&mut self) {
        let is_root = |user: &String| {
            matches!(
                user.split_whitespace().nth(1).and_then(|name| name.split(':').next()),
                Some("root" | "0")
            )
        };
        if self.user.1.as_ref().is_some_and(|user| !is_root(user)) {
            let user = format!("{} root", self.keyword("USER"));
            self.add(user.clone(), "What follows changes files of the system.");
            self.user.1 = Some(user);
        }
    }

    /// The user of the image, unless the next instruction that asks for one sets it.
    fn last_user(&mut self) {
        let mut follows = self.steps.list.iter().skip(self.last + 1);
        let asks = |step: &&Step| {
            !matches!(step.kind, Kind::Setting) || matches!(step.keyword, Keyword::User | Keyword::WorkDir)
        };
        if follows.find(asks).is_none_or(|step| step.keyword != Keyword::User) {
            self.run_as_now();
        }
    }

    fn cover_folder(&mut self, path: &[u8]) {
        if let Some(node) = self.keep.world.paths.lookup(path) {
            self.covered.insert(node);
        }
    }

    /// All files that a step added and the new stage keeps.
    fn cover_step(&mut self, at: usize, also: impl Fn(FileDisposition) -> bool) {
        let nodes: Vec<NodeId> = self
            .keep
            .world
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
        let owned = self.keep.world.system_owner(node.id()).is_some();
        owned && self.keep.fate(node.id()) != FileDisposition::Copied
            || matches!(state(&node.path()), Some(State::PackagePapers(_)))
            || node.path().starts_with(b"/var/lib/apt/lists/")
            || node.path().starts_with(b"/var/cache/apt/")
    }

    fn chown(&self, at: usize, folder: &[u8]) -> Option<&Owner> {
        owner_of(&self.owners, at, folder)
    }

    fn copied_from_stage(&mut self, at: usize) {
        let text = self.with_owner(at, self.text(at));
        self.add(text, "Repeated: copies from another stage.");
        self.repeated.insert(at);
        self.cover_step(at, |_| true);
    }

    /// The text of a `COPY` with the owner that a later `RUN` sets.
    fn with_owner(&mut self, at: usize, text: String) -> String {
        match self.owner_flag(at) {
            Some((place, flag)) => {
                let start = self.stage.file.instructions[self.steps.list[at].place].span.start;
                let mut text = text;
                text.insert_str(place - start, &flag);
                text
            }
            None => text,
        }
    }

    fn owner_flag(&mut self, at: usize) -> Option<(usize, String)> {
        let step = self.steps.list.get(at)?;
        let instruction = self.stage.file.instructions.get(step.place)?;
        if !takes_owner(instruction) {
            return None;
        }
        let target = instruction.words.last()?;
        let folder = self.steps.scene.absolute(step.place, &target.text)?;
        let owner = self.chown(at, folder.as_bytes())?.clone();
        self.users(at);
        let place = style::flag_place(self.steps.scene, step.place)?;
        Some((place.start, format!(" --chown={}", owner.spec)))
    }

    /// Users and groups, and the folders that they own, before the first instruction that uses their names.
    pub(super) fn users(&mut self, at: usize) {
        if self.users_done {
            return;
        }
        self.users_done = true;
        let mut runs: Vec<Vec<String>> = vec![Vec::new()];
        for step in 0..self.steps.list.len() {
            let hoisted = self.hoisted(step);
            let Some(run) = self.steps.run(step).filter(|_| !hoisted.is_empty()) else { continue };
            for unit in units(&run.commands) {
                let of = run.commands.get(unit.clone()).unwrap_or_default();
                let (Some(first), Some(last)) = (of.first(), of.last()) else { continue };
                if !hoisted.contains(&unit.start) {
                    continue;
                }
                let text = self.stage.file.slice(&(first.span.start..last.span.end)).to_owned();
                match runs.last_mut().filter(|_| unit.len() == 1) {
                    Some(run) => run.push(text),
                    // Alternatives are a list of their own.
                    None => runs.extend([vec![text], Vec::new()]),
                }
            }
        }
        let mut folders: Vec<(&str, &Owner)> = Vec::new();
        for owner in &self.owners {
            for folder in &owner.folders {
                folders.retain(|(known, _)| known != folder);
                folders.push((folder, owner));
            }
        }
        let folders: Vec<(String, String)> = folders
            .iter()
            .filter_map(|(path, owner)| {
                let (user, group) = owner.parts();
                let word = shell_word(path.as_bytes())?;
                Some((format!("install -d -o {user} -g {group} {word}"), (*path).to_owned()))
            })
            .collect();
        for (command, path) in folders {
            runs.last_mut().into_iter().for_each(|run| run.push(command.clone()));
            self.cover_folder(path.as_bytes());
        }
        runs.retain(|run| !run.is_empty());
        if runs.is_empty() {
            return;
        }
        self.settle(at, &runs.concat());
        self.run_as_root();
        let joint = format!(" {}\n    && ", self.stage.file.escape);
        for run in runs {
            let text = format!("{} {}", self.keyword("RUN"), run.join(&joint));
            self.add(text, "Users must exist before the first COPY that names them as owners.");
        }
        for at in 0..self.steps.list.len() {
            if !self.hoisted(at).is_empty() && !self.steps.list[at].makes() {
                self.cover_step(at, |fate| fate != FileDisposition::Gone);
            }
        }
    }

    /// Whether `COPY`s give the owner that a command gives.
    pub(super) fn is_handled(&self, step: usize, command: usize) -> bool {
        self.owners.iter().any(|owner| owner.step == step && owner.command == command)
    }

    pub(super) fn is_hoisted(&self) -> bool {
        self.owners.iter().any(Owner::is_named)
    }

    /// A `RUN` that cannot be edited: repeated unchanged or not at all.
    fn run_opaque(&mut self, at: usize) {
        let step = &self.steps.list[at];
        if step.makes() && !step.installs() {
            return;
        }
        if step.compiles {
            self.by_hand.push(format!(
                "line {} installs packages and compiles in an unsupported form: repeat the part that the final stage needs",
                self.steps.scene.line(step.place)
            ));
            return;
        }
        self.flush_folder(at);
        self.run_as_now();
        self.add(self.text(at), "Repeated: needed at run time.");
        self.cover_step(at, |_| true);
        self.repeated.insert(at);
        self.alive.insert(at);
    }

    fn run(&mut self, at: usize, works: &[Work]) {
        let step = &self.steps.list[at];
        let Some(run) = self.steps.run(at) else { return };
        if self.steps.is_opaque(at) {
            self.run_opaque(at);
            return;
        }
        let making = step.makes();
        let installs = self.installs(at);
        let added = if installs { std::mem::take(&mut self.added) } else { Vec::new() };
        let hoisted = self.hoisted(at);
        let sources = if making && installs && self.sets_up_sources(at) {
            works.iter().rposition(|work| *work == Work::Install).unwrap_or_default()
        } else {
            0
        };
        // Alone it is worth a line only where there is something to remove.
        let removes = !making
            && (works.iter().any(|work| !matches!(work, Work::Remove | Work::Shell | Work::Manage))
                || !self.removes_nothing(at));
        let stays = |place: usize| {
            let (Some(work), Some(command)) = (works.get(place), run.commands.get(place)) else {
                return false;
            };
            if hoisted.contains(&place) {
                return false;
            }
            match work {
                Work::Users => true,
                Work::Owner => !making && !self.is_handled(at, place) && !self.is_about_nothing(at, place),
                Work::Install => installs,
                Work::Manage => !making || installs,
                // What sets up the source of packages goes before their installation.
                Work::Other | Work::Configure if place < sources => true,
                Work::Configure if making => configures(command),
                Work::Configure => true,
                Work::Remove => removes || installs,
                Work::Shell => {
                    !making || (installs && Call::of(command).is_none_or(|call| call.program != "cd"))
                }
                _ => false,
            }
        };
        let changes =
            (0..works.len()).any(|place| matches!(works[place], Work::Owner | Work::Remove) && stays(place));
        let file = self.stage.file;
        let Some(instruction) = file.instructions.get(step.place) else { return };
        let trim = Trim {
            file,
            instruction,
            run,
            works,
            dropped: self.dropped,
            added: &added,
            extra: &[],
            stays: &stays,
            lean: true,
        };
        let Some(text) = trim.text() else {
            self.added = added;
            return;
        };
        if changes {
            self.alive.insert(at);
        }
        let names = works.iter().zip(&run.commands).filter(|(work, _)| **work == Work::Install);
        let calls: Vec<Call<'_>> = names.filter_map(|(_, command)| Call::of(command)).collect();
        let packages = calls.iter().flat_map(super::shell::package_words);
        let unknown: Vec<&str> = packages
            .map(|word| word.text.as_str())
            .filter(|word| !super::shell::is_package_word(word))
            .collect();
        if installs && !unknown.is_empty() {
            self.by_hand.push(format!(
                "line {} installs {}: which of these packages the final stage needs, and their size, is unknown",
                self.steps.scene.line(step.place),
                unknown.join(", ")
            ));
        }
        let reason = if installs && added.is_empty() {
            "Repeated without the packages that only the build needs.".to_owned()
        } else if installs {
            format!(
                "Repeated without the packages that only the build needs, and with those that files of the image need: {}.",
                added.join(", ")
            )
        } else {
            "Repeated: its effect is not copied from the build stage.".to_owned()
        };
        let relative = !text.contains(" /");
        if relative {
            self.flush_folder(at);
        }
        self.run_as_now();
        self.add(text, reason);
        if !making {
            self.repeated.insert(at);
            self.cover_step(at, |fate| fate != FileDisposition::Installed);
        }
    }

    /// A `COPY` of the build context: repeated if the image needs its files at run time.
    fn context(&mut self, at: usize) {
        let (mut wanted, mut left) = (Vec::new(), (0_u64, 0_u64));
        let world = self.keep.world;
        for node in world.rootfs.nodes().filter(|node| node.kind() != NodeKind::Directory) {
            if self.steps.origin(node) != Some(at) {
                continue;
            }
            match self.keep.fate(node.id()) {
                FileDisposition::Gone => left = (left.0 + 1, left.1 + node.bytes()),
                _ => wanted.push(node.id()),
            }
        }
        let is_list = |node: &NodeId| is_list_of_packages(world.rootfs.node(*node).name());
        if wanted.is_empty() || wanted.iter().all(is_list) {
            return;
        }
        let single = if left.0 > 0 { self.parts(at, &wanted) } else { None };
        if let Some(texts) = single {
            for text in texts {
                self.add(text, "Repeated for the files needed at run time; sources stay in the build stage.");
            }
        } else {
            self.flush_folder(at);
            let text = self.with_owner(at, self.text(at));
            self.add(text, "Repeated: needed at run time.");
            self.repeated.insert(at);
            // Files of it that the plan removes are copied too.
            self.cover_step(at, |fate| fate == FileDisposition::Gone);
        }
        self.covered.extend(wanted);
    }

    /// The needed parts of a context folder, as a `COPY` each; `None` when they are too many, or cannot be named.
    fn parts(&mut self, at: usize, wanted: &[NodeId]) -> Option<Vec<String>> {
        let step = self.steps.list.get(at)?;
        let instruction = self.stage.file.instructions.get(step.place)?;
        let [source, target] = instruction.words.as_slice() else { return None };
        // Other flags are about the whole of what is copied, and ADD unpacks.
        let of_each = |name: &str| matches!(name, "chown" | "chmod" | "link");
        if instruction.keyword != Keyword::Copy || !instruction.flags.iter().all(|flag| of_each(&flag.name)) {
            return None;
        }
        let folder = self.steps.scene.absolute(step.place, &target.text)?;
        let world = self.keep.world;
        let top = world.paths.lookup(folder.as_bytes())?;
        if world.rootfs.node(top).kind() != NodeKind::Directory || source.text.contains(['*', '?', '$']) {
            return None;
        }
        let mut parts: BTreeSet<NodeId> = BTreeSet::new();
        for node in wanted {
            let mut node = world.rootfs.node(*node);
            while node.parent().id() != top {
                node = node.parent();
                if node.id() == NodeId::ROOT {
                    return None;
                }
            }
            parts.insert(node.id());
        }
        if parts.len() > MOST_PATHS {
            return None;
        }
        // The part must be needed completely.
        let all = |part: NodeId| {
            let mut open = vec![world.rootfs.node(part)];
            while let Some(node) = open.pop() {
                let gone = node.kind() != NodeKind::Directory
                    && self.keep.fate(node.id()) == FileDisposition::Gone
                    && self.steps.origin(node) == Some(at);
                if gone {
                    return false;
                }
                open.extend(node.children());
            }
            true
        };
        if !parts.iter().all(|part| all(*part)) {
            return None;
        }
        let start = source.text.trim_start_matches("./").trim_end_matches('/');
        let start = if start == "." || start.is_empty() { String::new() } else { format!("{start}/") };
        let mut flags: Vec<String> =
            instruction.flags.iter().map(|flag| self.stage.file.slice(&flag.span).to_owned()).collect();
        let owner = self.chown(at, folder.as_bytes()).filter(|_| takes_owner(instruction)).cloned();
        if let Some(owner) = owner {
            self.users(at);
            flags.push(format!("--chown={}", owner.spec));
        }
        let flag: String = flags.into_iter().flat_map(|flag| [flag, " ".to_owned()]).collect();
        let copy = self.keyword("COPY");
        let mut files = Vec::new();
        let mut texts = Vec::new();
        for part in parts {
            let node = world.rootfs.node(part);
            let name = word(node.name())?;
            if node.kind() == NodeKind::Directory {
                texts.push(format!("{copy} {flag}{start}{name} {}/{name}", folder.trim_end_matches('/')));
            } else {
                files.push(format!("{start}{name}"));
            }
        }
        if !files.is_empty() {
            texts.push(format!("{copy} {flag}{} {}/", files.join(" "), folder.trim_end_matches('/')));
        }
        Some(texts)
    }

    /// Copies what the build stage created up to a step and the final stage needs.
    fn copies(&mut self, at: usize) {
        let here: Vec<Root> =
            self.roots.list.iter().filter(|root| root.steps.last() == Some(&at)).cloned().collect();
        for root in here {
            self.copy(&root, at);
        }
    }

    /// Divides the build stage where a folder receives dependencies before the first code and results after it.
    fn divide(&mut self) {
        let candidates = self.roots.list.iter().filter(|root| root.files.is_empty() && root.steps.len() > 1);
        let Some(root) = candidates.max_by_key(|root| root.bytes) else { return };
        let (Some(first), Some(last)) = (root.steps.first(), root.steps.last()) else { return };
        let brings_code = |at: &usize| {
            let step = &self.steps.list[*at];
            let instruction = self.stage.file.instructions.get(step.place);
            let sources = instruction.map(|one| one.words.as_slice()).and_then(|words| words.split_last());
            step.kind == Kind::Context
                && sources.is_some_and(|(_, sources)| {
                    !sources.iter().all(|source| is_list_of_packages(file_name(source.text.as_bytes())))
                })
        };
        let Some(code) = (*first..*last).find(brings_code) else { return };
        let Some(step) = root.steps.range(..code).next_back().copied() else { return };
        // A stage that starts from another one does not inherit its arguments.
        let declared = self.steps.list[..=step].iter().filter(|one| one.keyword == Keyword::Arg);
        let words =
            declared.filter_map(|one| self.stage.file.instructions.get(one.place)).flat_map(|one| &one.words);
        let names: Vec<&str> = words.map(|word| word.text.split('=').next().unwrap_or_default()).collect();
        let mut texts = self.steps.list[step + 1..=self.last].iter().map(|one| self.stage.text(one.place));
        if texts.any(|text| variables(text).any(|name| names.contains(&name))) {
            return;
        }
        let Some(later) = self.later(root.folder, step) else { return };
        let taken = |name: &&str| !self.stage.names.contains(*name) && *name != self.build;
        let Some(name) = ["deps", "dependencies", "packages"].into_iter().find(taken) else { return };
        self.division = Some(Division { step, name: name.to_owned(), folder: root.folder, later });
    }

    /// The content that later steps add to a folder: folders of their own, and files by folder; `None` when these are
    /// too many to list.
    fn later(&self, folder: NodeId, step: usize) -> Option<Vec<(NodeId, Vec<NodeId>)>> {
        let world = self.keep.world;
        let is_later = |node: Node<'_>| self.steps.origin(node).is_some_and(|origin| origin > step);
        // Whether everything below is from later steps, and whether anything is.
        let below = |top: Node<'_>| {
            let (mut all, mut any) = (true, false);
            let mut open = vec![top];
            while let Some(node) = open.pop() {
                if node.kind() == NodeKind::Directory {
                    open.extend(node.children());
                } else if is_later(node) {
                    any = true;
                } else {
                    all = false;
                }
            }
            (all, any)
        };
        let mut found: Vec<(NodeId, Vec<NodeId>)> = Vec::new();
        let mut paths = 0;
        let mut open = vec![world.rootfs.node(folder)];
        while let Some(node) = open.pop() {
            let mut files = Vec::new();
            for child in node.children() {
                if child.kind() != NodeKind::Directory {
                    files.extend(is_later(child).then(|| child.id()));
                    continue;
                }
                match below(child) {
                    (true, true) => {
                        found.push((child.id(), Vec::new()));
                        paths += 1;
                    }
                    (false, true) => open.push(child),
                    _ => {}
                }
            }
            paths += files.len();
            if !files.is_empty() {
                files.sort_unstable();
                found.push((node.id(), files));
            }
            if paths > MOST_PATHS {
                return None;
            }
        }
        found.sort_unstable();
        (!found.is_empty()).then_some(found)
    }

    /// Copies a folder that a divided build stage fills.
    fn copy_divided(&mut self, root: &Root, division: &Division) {
        let world = self.keep.world;
        let first = root.steps.first().copied().unwrap_or_default();
        let Some(path) = word(&world.rootfs.node(root.folder).path()) else { return };
        let owner = self.chown(first, path.as_bytes()).cloned();
        let flag = owner.map(|owner| format!(" --chown={}", owner.spec)).unwrap_or_default();
        let (copy, build) = (self.keyword("COPY"), self.build);
        self.add(
            format!("{copy} --from={}{flag} {path} {path}", division.name),
            "Dependencies in a separate layer: a code change does not copy them again.",
        );
        for (folder, files) in &division.later {
            let Some(at) = word(&world.rootfs.node(*folder).path()) else { continue };
            let names: Option<Vec<String>> =
                files.iter().map(|file| word(&world.rootfs.node(*file).path())).collect();
            let text = match names.unwrap_or_default().as_slice() {
                [] => format!("{copy} --from={build}{flag} {at} {at}"),
                [one] => format!("{copy} --from={build}{flag} {one} {one}"),
                many => format!("{copy} --from={build}{flag} {} {at}/", many.join(" ")),
            };
            self.add(text, "Results of the build stage.");
        }
        self.cover_below(root.folder);
    }

    fn copy(&mut self, root: &Root, at: usize) {
        if let Some(division) =
            self.division.clone().filter(|division| division.folder == root.folder && root.files.is_empty())
        {
            let owner = self.chown(
                root.steps.first().copied().unwrap_or(at),
                &self.keep.world.rootfs.node(root.folder).path(),
            );
            if owner.is_some() {
                self.users(at);
            }
            self.copy_divided(root, &division);
            return;
        }
        let world = self.keep.world;
        let folder = world.rootfs.node(root.folder).path();
        let Some(path) = word(if folder.is_empty() { b"/" } else { &folder }) else {
            self.by_hand.push(format!("copy {} from the build stage", escape(&folder)));
            return;
        };
        let first = root.steps.first().copied().unwrap_or(at);
        let owner = self.chown(first, &folder).cloned();
        if owner.is_some() {
            self.users(at);
        }
        let flag = owner.map(|owner| format!(" --chown={}", owner.spec)).unwrap_or_default();
        let copy = format!("{} --from={}{flag}", self.keyword("COPY"), self.build);
        if root.files.is_empty() {
            self.add(
                format!("{copy} {path} {path}"),
                format!("Installed in {path} by the build stage, {}.", human(root.bytes)),
            );
            self.cover_below(root.folder);
            return;
        }
        let names: Vec<Option<String>> =
            root.files.iter().map(|node| word(&world.rootfs.node(*node).path())).collect();
        let Some(names) = names.into_iter().collect::<Option<Vec<String>>>() else {
            self.by_hand.push(format!("copy the files of {} from the build stage", escape(&folder)));
            return;
        };
        let whose = self.needs(&root.files);
        let path = if path == "/" { String::new() } else { path };
        if names.len() > MOST_PATHS {
            self.by_hand.push(format!(
                "{} of {} are needed: collect them in a separate folder of the build stage, and copy that folder",
                counted(names.len() as u64, "file"),
                printable(&path)
            ));
            return;
        }
        let text = match names.as_slice() {
            [one] => format!("{copy} {one} {one}"),
            many => format!("{copy} {} {path}/", many.join(" ")),
        };
        self.add(text, format!("{}, {}.", whose, human(root.bytes)));
        self.covered.extend(root.files.iter().copied());
    }

    /// The reason for copied files: a kept file that loads one of them.
    fn needs(&self, files: &[NodeId]) -> String {
        let links = &self.keep.world.input.inventory.links;
        let mut users = BTreeSet::new();
        for node in files {
            let Some(id) = self
                .keep
                .world
                .rootfs
                .node(*node)
                .content()
                .and_then(|inode| self.keep.world.objects.get(&inode))
            else {
                continue;
            };
            let object = links.object(*id);
            for other in object.needed_by.iter().chain(&object.opened_by) {
                let other = links.object(*other).node;
                if self.keep.fate(other) != FileDisposition::Gone && !files.contains(&other) {
                    users.insert(escape(&self.keep.world.rootfs.node(other).path()));
                }
            }
        }
        match users.into_iter().next() {
            Some(user) => format!("Built in the build stage and loaded by {user}"),
            None => "Built in the build stage".to_owned(),
        }
    }

    fn cover_below(&mut self, folder: NodeId) {
        let removed: Vec<Vec<u8>> = self.removed.iter().map(|(path, _)| path.clone().into_bytes()).collect();
        let mut open = vec![self.keep.world.rootfs.node(folder)];
        while let Some(node) = open.pop() {
            if !removed.is_empty() && removed.iter().any(|path| is_within(&node.path(), path)) {
                continue;
            }
            self.covered.insert(node.id());
            open.extend(node.children());
        }
    }

    /// Superfluous parts of copied folders: removed at the end of the build stage if they are large.
    fn junk(&mut self) {
        const LITTLE: u64 = 10 << 20;
        let merged = self.keep.world.input.merge.merged_bytes;
        let all: u64 = self.roots.junk.iter().map(|(_, bytes)| bytes).sum();
        if all < LITTLE.min(merged / 100).max(1) {
            return;
        }
        for (node, bytes) in self.roots.junk.iter().take(MOST_PATHS) {
            // Each must be worth an argument.
            if *bytes < LITTLE.min(merged / 100) {
                break;
            }
            if let Some(path) = shell_word(&self.keep.world.rootfs.node(*node).path()) {
                self.removed.push((path, *bytes));
            }
        }
    }

    /// Recreates links that a `COPY` would follow, and the loader cache.
    fn loader(&mut self) {
        let mut commands = Vec::new();
        let links = std::mem::take(&mut self.roots.links);
        if links.len() > MOST_PATHS {
            self.by_hand.push(format!(
                "{} outside of copied folders: recreate those that are needed",
                counted(links.len() as u64, "symbolic link")
            ));
        }
        for (target, path, _) in links.iter().take(MOST_PATHS) {
            if let (Some(target), Some(link)) = (shell_word(target), shell_word(path)) {
                commands.push(format!("ln -sfn {target} {link}"));
                let folder = self.keep.world.paths.lookup(folder_of(path));
                let node = folder.and_then(|folder| self.keep.world.paths.child(folder, file_name(path)));
                self.covered.extend(node);
            }
        }
        let caches =
            self.covered.iter().any(|node| is_cached_library(&self.keep.world.rootfs.node(*node).path()));
        let calls = self.steps.programs().contains("ldconfig");
        let repeated = self.text.iter().any(|line| line.text.contains("ldconfig"));
        if (caches && self.keep.world.has_ldconfig()) && (calls || !repeated) {
            commands.push("ldconfig".to_owned());
        }
        if !commands.is_empty() {
            self.run_as_root();
            let joint = format!(" {}\n    && ", self.stage.file.escape);
            let text = format!("{} {}", self.keyword("RUN"), commands.join(&joint));
            self.add(text, "COPY follows symbolic links, so they are created again; ldconfig adds the copied libraries to the loader cache.");
        }
    }

    /// An instruction after the new lines: it stays in place.
    fn stays(&mut self, at: usize) {
        let step = &self.steps.list[at];
        match &step.kind {
            Kind::Setting => {}
            Kind::Context | Kind::FromStage => {
                if let Some((place, flag)) = self.owner_flag(at) {
                    self.edits.push((
                        place..place,
                        flag,
                        "Sets the owner on copy; a RUN did so by storing the files again.".to_owned(),
                    ));
                }
                self.cover_step(at, |_| true);
            }
            Kind::Run(works) => {
                self.stays_run(at, works);
                self.cover_step(at, |_| true);
            }
        }
    }

    /// Whether a `RUN` only removes files in the working directory: build leftovers, which are not copied.
    fn cleans_up(&self, at: usize, works: &[Work]) -> bool {
        let Some(run) = self.steps.run(at) else { return false };
        let relative = |command: &ShellCommand| {
            Call::of(command).is_none_or(|call| call.words.iter().all(|word| !word.text.contains(['/', '$'])))
        };
        works.contains(&Work::Remove)
            && works.iter().all(|work| matches!(work, Work::Remove | Work::Shell))
            && run.commands.iter().all(relative)
            && self.removes_nothing(at)
    }

    fn stays_run(&mut self, at: usize, works: &[Work]) {
        let step = &self.steps.list[at];
        if self.cleans_up(at, works) {
            if let Some(span) = self.steps.scene.whole(step.place) {
                let why = "The files that this removes stay in the build stage.".to_owned();
                self.edits.push((span, String::new(), why));
            }
            return;
        }
        let Some(run) = self.steps.run(at).filter(|_| !self.steps.is_opaque(at)) else {
            self.alive.insert(at);
            return;
        };
        let hoisted = self.hoisted(at);
        let added = if self.installs(at) { std::mem::take(&mut self.added) } else { Vec::new() };
        let stays = |place: usize| !(self.is_handled(at, place) || hoisted.contains(&place));
        let is_alive =
            (0..works.len()).any(|place| matches!(works[place], Work::Owner | Work::Remove) && stays(place));
        let file = self.stage.file;
        let Some(instruction) = file.instructions.get(step.place) else { return };
        let extra: Vec<Edit> = self.tidied.within(&instruction.span).cloned().collect();
        let changes =
            (0..run.commands.len()).any(|place| !stays(place)) || step.installs() || !extra.is_empty();
        if !changes {
            self.alive.extend(is_alive.then_some(at));
            return;
        }
        let trim = Trim {
            file,
            instruction,
            run,
            works,
            dropped: self.dropped,
            added: &added,
            extra: &extra,
            stays: &stays,
            lean: true,
        };
        let before = self.text(at);
        let text = trim.text();
        self.alive.extend((is_alive && text.is_some()).then_some(at));
        match text {
            Some(text) if text != before => {
                let span = instruction.span.start..instruction.span.start + before.len();
                self.edits.push((
                    span,
                    text,
                    "Without commands for the build and those that the lines above replace.".to_owned(),
                ));
            }
            Some(_) => {}
            None => {
                if let Some(span) = self.steps.scene.whole(step.place) {
                    self.edits.push((
                        span,
                        String::new(),
                        "Replaced by COPY --chown and the lines above.".to_owned(),
                    ));
                }
            }
        }
    }

    /// Notes sources that are not in the new image.
    fn sources_left(&mut self) {
        let world = self.keep.world;
        let mut sums = (0_u64, 0_u64);
        let mut first = None;
        for node in world.rootfs.nodes().filter(|node| node.kind() == NodeKind::File) {
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
                "Sources and build files stay in the build stage: {} ({}), such as {first}. No command, variable or working directory of the image names them.",
                counted(sums.0, "file"),
                human(sums.1)
            ));
        }
    }
}

/// Whether a command of a building instruction configures the system, so that its effect is not copied.
pub(super) fn configures(command: &ShellCommand) -> bool {
    const OF_SYSTEM: [&str; 9] = [
        "locale-gen",
        "update-locale",
        "localedef",
        "update-ca-certificates",
        "update-alternatives",
        "fc-cache",
        "dpkg-reconfigure",
        "setcap",
        "sed",
    ];
    Call::of(command).is_some_and(|call| OF_SYSTEM.contains(&call.program))
        || command.writes.iter().any(|path| path.starts_with("/etc/"))
}

/// Whether a file is a package list for an installer.
fn is_list_of_packages(name: &[u8]) -> bool {
    const NAMES: [&[u8]; 10] = [
        b"environment.yml",
        b"environment.yaml",
        b"Pipfile",
        b"Pipfile.lock",
        b"poetry.lock",
        b"uv.lock",
        b"package-lock.json",
        b"yarn.lock",
        b"pnpm-lock.yaml",
        b"pdm.lock",
    ];
    NAMES.contains(&name)
        || (name.starts_with(b"requirements") || name.starts_with(b"constraints")) && name.ends_with(b".txt")
}

/// Whether a library is in a folder that the loader finds only by its cache.
fn is_cached_library(path: &[u8]) -> bool {
    let name = path.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
    let library = memchr::memmem::find(name, b".so").is_some();
    let folder = &path[..path.len() - name.len()];
    library
        && (folder == b"/usr/local/lib/"
            || folder.starts_with(b"/usr/local/cuda")
            || folder.starts_with(b"/usr/lib/x86_64-linux-gnu/")
            || folder.starts_with(b"/usr/lib64/")
            || folder.starts_with(b"/usr/local/lib64/"))
}

/// Whether one of a step's commands creates content.
pub(super) fn last_making(steps: &Steps<'_, '_>, from: usize) -> Option<usize> {
    let is = |step: &Step| {
        step.compiles || matches!(&step.kind, Kind::Run(works) if works.iter().any(|work| makes(*work)))
    };
    (from..steps.list.len()).rev().find(|at| is(&steps.list[*at]))
}
