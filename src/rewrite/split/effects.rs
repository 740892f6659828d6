//! Side effects of a building `RUN` that copies of its results do not include: owners, modes, empty folders,
//! removals.

use super::keep::FileDisposition;
use super::lines::{Lines, configures};
use super::operands::{Operand, makes_folders, operands};
use super::runs::cut;
use super::shell::Work;
use super::sources::is_within;
use super::steps::Kind;
use super::words::shell_word;
use crate::formats::dockerfile::{ShellCommand, Span};
use crate::rewrite::tidy::Call;
use crate::rootfs::{Node, NodeId, NodeKind};
use hashbrown::HashSet;

impl<'a> Lines<'_, '_, 'a, '_, '_> {
    /// The commands of a building step whose effect on content of the new stage is not copied.
    pub(super) fn beside(&mut self, at: usize, works: &[Work]) -> Vec<String> {
        let Some(run) = self.steps.run(at).filter(|_| !self.steps.is_opaque(at)) else { return Vec::new() };
        if !self.steps.list[at].makes() {
            return Vec::new();
        }
        let installs = self.installs(at);
        let hoisted = self.hoisted(at);
        let mut commands = self.empty_folders(at);
        let mut again = HashSet::new();
        let mut here = self.folder.clone();
        for (place, (command, named)) in run.commands.iter().zip(operands(self.steps, at)).enumerate() {
            let Some(call) = Call::of(command).filter(|_| !hoisted.contains(&place)) else { continue };
            let is_meant = match works.get(place) {
                Some(Work::Configure) => makes_folders(&call) && !configures(command),
                Some(Work::Owner) => !self.is_handled(at, place),
                Some(Work::Remove) => !installs,
                _ => false,
            };
            if !is_meant {
                continue;
            }
            let mut stays: Vec<bool> = named
                .list
                .iter()
                .map(|operand| match works.get(place) {
                    Some(Work::Configure) => self.makes_again(operand),
                    Some(Work::Owner) => {
                        // A COPY keeps modes, of which a change of owner clears some. kaniko and Docker's old builder
                        // lose capabilities.
                        let is_cleared =
                            self.clears || commands.iter().any(|text: &String| text.contains("chown "));
                        let is_copied = call.program == "chmod" && !is_cleared;
                        self.changes(operand, at, is_copied, &mut commands)
                    }
                    _ => self.is_brought_again(operand, at),
                })
                .collect();
            if !stays.contains(&true) {
                // Of which files is not known.
                if works.get(place) == Some(&Work::Owner)
                    && named.list.iter().any(|operand| operand.path.is_none())
                {
                    self.leave(at, self.stage.file.slice(&command.span));
                }
                continue;
            }
            if works.get(place) == Some(&Work::Owner) {
                // Of one that is not known, nobody knows that it can go.
                for (stays, operand) in stays.iter_mut().zip(&named.list) {
                    *stays |= operand.path.is_none();
                }
                let stay = named.list.iter().zip(&stays).filter(|(_, stays)| **stays);
                again.extend(stay.flat_map(|(operand, _)| self.copied_from_build(operand)));
            }
            let text = self.without(command, &named.list, &stays, call.program == "rm");
            let is_relative =
                named.list.iter().zip(&stays).any(|(operand, stays)| *stays && operand.is_relative);
            let is_elsewhere = |folder: &&String| is_relative && here.as_ref() != Some(folder);
            let folder = named.folder.as_ref().filter(is_elsewhere);
            let Some(text) = self.with_assignments(run, place, &text) else {
                self.leave(at, &text);
                continue;
            };
            match folder.and_then(|folder| shell_word(folder.as_bytes())) {
                Some(word) => {
                    commands.push(format!("cd {word} && {text}"));
                    here.clone_from(&named.folder);
                }
                None => commands.push(text),
            }
            if works.get(place) != Some(&Work::Configure) {
                self.alive.insert(at);
            }
        }
        self.store_again(&again);
        commands
    }

    /// Files at and below an operand that a copy from the build stage brought.
    pub(super) fn copied_from_build(&self, operand: &Operand) -> Vec<NodeId> {
        let nodes = self.nodes_of(operand).into_iter().filter(|node| {
            node.kind() == NodeKind::File
                && self.covered.contains(&node.id())
                && self.keep.fate(node.id()) == FileDisposition::Copied
                && self.steps.origin(*node).is_some_and(|step| self.steps.list[step].makes())
        });
        nodes.map(Node::id).collect()
    }

    /// Counts files that a change of their attributes stores once more.
    pub(super) fn store_again(&mut self, nodes: &HashSet<NodeId>) {
        let rootfs = self.keep.context.rootfs;
        self.stored_again += nodes.iter().map(|node| rootfs.node(*node).bytes()).sum::<u64>();
    }

    /// Repeats commands after the copies of a step.
    pub(super) fn after_copies(&mut self, at: usize, commands: &[String], as_root: bool) {
        if commands.is_empty() {
            return;
        }
        self.users(at);
        if as_root {
            self.run_as_root();
        } else {
            self.run_as_now();
        }
        let joint = format!(" {}\n    && ", self.stage.file.escape);
        let text = format!("{} {}", self.keyword("RUN"), commands.join(&joint));
        self.add(text, "Repeated: its effect is not copied from the build stage.");
    }

    /// The text of a command without the operands that do not stay; `rm` gets `-f`.
    fn without(&self, command: &ShellCommand, list: &[Operand], stays: &[bool], is_rm: bool) -> String {
        let mut cuts: Vec<(Span, String)> = Vec::new();
        let mut before = command.span.start;
        for word in &command.words {
            let goes = list.iter().zip(stays).any(|(operand, stays)| !stays && operand.span == word.span);
            if goes {
                cuts.push((before..word.span.end, String::new()));
            }
            // Some of the files may exist only in the build stage.
            let is_forced = command.words.iter().any(|word| {
                word.text.starts_with('-') && !word.text.starts_with("--") && word.text.contains('f')
            });
            if is_rm && !is_forced && word.text.rsplit('/').next() == Some("rm") {
                cuts.push((word.span.end..word.span.end, " -f".to_owned()));
            }
            before = word.span.end;
        }
        cut(self.stage.file, &command.span, cuts)
    }

    /// All nodes at and below an operand.
    pub(super) fn nodes_of(&self, operand: &Operand) -> Vec<Node<'a>> {
        let context = self.keep.context;
        let Some(path) = operand.path.as_deref() else { return Vec::new() };
        let folder =
            if operand.is_pattern { path.rsplit_once('/').map_or("", |(above, _)| above) } else { path };
        let Some(top) = context.paths.lookup(folder.as_bytes()) else { return Vec::new() };
        let mut open = vec![context.rootfs.node(top)];
        let mut found = Vec::new();
        while let Some(node) = open.pop() {
            open.extend(node.children());
            if !operand.is_pattern || operand.covers(&node.path()) {
                found.push(node);
            }
        }
        found
    }

    /// Commands for the empty folders that a step which compiles made, with their owners: those of `make install`.
    fn empty_folders(&mut self, at: usize) -> Vec<String> {
        /// More are no folders of a service.
        const MOST: usize = 8;
        let step = &self.steps.list[at];
        // What else makes folders is repeated itself.
        let makes = |command: &ShellCommand| Call::of(command).is_some_and(|call| makes_folders(&call));
        let adds_users = matches!(&step.kind, Kind::Run(works) if works.contains(&Work::Users));
        let makes = self.steps.run(at).is_none_or(|run| run.commands.iter().any(makes));
        if !step.compiles || step.installs() || adds_users || makes {
            return Vec::new();
        }
        let rootfs = self.keep.context.rootfs;
        let is_made = |node: &Node<'a>| {
            node.kind() == NodeKind::Directory
                && step.layers.contains(&node.layer())
                && node.entry().is_some()
                && node.children().len() == 0
                && self.keep.context.system_owner(node.id()).is_none()
                && !self.keep.is_build_only(node.id())
        };
        let made: Vec<Node<'a>> = rootfs.nodes().filter(is_made).take(MOST + 1).collect();
        if made.len() > MOST {
            return Vec::new();
        }
        let mut commands: Vec<String> = Vec::new();
        for node in made {
            let path = node.path();
            // Folders of cargo's output, too, are empty after a build.
            let is_cache = [&b"/root/"[..], b"/var/cache/"].iter().any(|folder| path.starts_with(folder))
                || [&b"/target/debug/"[..], b"/target/release/"]
                    .iter()
                    .any(|part| memchr::memmem::find(&path, part).is_some());
            let is_missing = self.is_missing_folder(&String::from_utf8_lossy(&path));
            if is_cache || !is_missing || !self.makes_folder_again(&path) {
                continue;
            }
            // Those above have owners and modes of their own.
            let above = std::iter::successors(Some(node), |node| Some(node.parent()));
            let mut chain: Vec<Node<'a>> = above
                .take_while(|one| {
                    let is_missing = || self.is_missing_folder(&String::from_utf8_lossy(&one.path()));
                    step.layers.contains(&one.layer()) && (one.id() == node.id() || is_missing())
                })
                .take(MOST)
                .collect();
            chain.reverse();
            for one in chain {
                let made = one.index_entry().map(|(index, entry)| (index.owner(entry), index.mode(entry)));
                let ((uid, gid), bits) = made.unwrap_or(((0, 0), 0o755));
                let is_plain = (uid, gid, bits) == (0, 0, 0o755);
                let Some(word) = shell_word(&one.path()).filter(|_| !is_plain || one.id() == node.id())
                else {
                    continue;
                };
                let owner = if (uid, gid) == (0, 0) { String::new() } else { format!(" -o {uid} -g {gid}") };
                let mode_option = if bits == 0o755 { String::new() } else { format!(" -m {bits:o}") };
                let command = if is_plain {
                    format!("mkdir -p {word}")
                } else {
                    format!("install -d{owner}{mode_option} {word}")
                };
                if !commands.contains(&command) {
                    commands.push(command);
                }
            }
        }
        commands
    }

    /// Whether a path is a folder of the image without files that the new stage does not have so far.
    pub(super) fn is_missing_folder(&self, path: &str) -> bool {
        let context = self.keep.context;
        let node = context.paths.lookup(path.as_bytes()).map(|node| context.rootfs.node(node));
        node.is_some_and(|node| {
            node.kind() == NodeKind::Directory
                && node.layer() >= self.keep.base.layers
                && self.keep.is_empty(node)
                && !self.covered.contains(&node.id())
                && self.folder.as_deref() != Some(path)
        })
    }

    /// Whether an operand is a folder that stays empty and is not copied. Marks it as part of the new stage.
    fn makes_again(&mut self, operand: &Operand) -> bool {
        let path = operand.path.as_deref().filter(|_| !operand.is_pattern).unwrap_or_default();
        self.makes_folder_again(path.as_bytes())
    }

    /// Whether a path is a folder that stays empty and is not copied. Marks it as part of the new stage.
    fn makes_folder_again(&mut self, path: &[u8]) -> bool {
        const LOST: [&[u8]; 2] = [b"/tmp", b"/var/tmp"];
        // Services fail without theirs.
        const OF_SERVICES: [&[u8]; 4] = [b"/run", b"/var/lib", b"/var/log", b"/var/run"];
        let context = self.keep.context;
        let Some(node) = context.paths.lookup(path).map(|id| context.rootfs.node(id)) else {
            return false;
        };
        let is_copied = self
            .roots
            .list
            .iter()
            .filter(|root| root.files.is_empty())
            .any(|root| is_within(path, &context.rootfs.node(root.folder).path()));
        let stays = node.kind() == NodeKind::Directory
            && self.keep.is_empty(node)
            && !is_copied
            && !LOST.iter().any(|folder| is_within(path, folder))
            && (self.keep.is_of_stage(node) || OF_SERVICES.iter().any(|folder| is_within(path, folder)));
        if stays {
            self.covered.insert(node.id());
        }
        stays
    }

    /// Whether a command only makes folders that the image does not have in the end, and that no other command which may
    /// be repeated names.
    pub(super) fn makes_what_goes(&self, at: usize, place: usize) -> bool {
        let command = self.steps.run(at).and_then(|run| run.commands.get(place));
        if !command.and_then(Call::of).is_some_and(|call| makes_folders(&call)) {
            return false;
        }
        let all = operands(self.steps, at);
        let Some(named) = all.get(place).filter(|named| !named.list.is_empty()) else { return false };
        let goes = |path: &str| {
            self.keep.context.paths.lookup(path.as_bytes()).is_none()
                && !self.is_named_beside(at, place, path)
        };
        named
            .list
            .iter()
            .all(|operand| operand.path.as_deref().filter(|_| !operand.is_pattern).is_some_and(goes))
    }

    /// Whether another command of a `RUN`, or one of a later `RUN` that makes no content, may name a path: by its last
    /// part, as it may be in the folder above. Whoever enters a folder names what is in it by anything.
    fn is_named_beside(&self, at: usize, place: usize, path: &str) -> bool {
        let name = path.rsplit('/').next().unwrap_or(path);
        let names = |command: &ShellCommand| {
            let words =
                command.words.iter().map(|word| &word.text).chain(&command.writes).chain(&command.reads);
            let removes = Call::of(command).is_some_and(|call| matches!(call.program, "rm" | "rmdir"));
            !removes && words.into_iter().any(|word| word.contains(name))
        };
        let of = |step: usize| self.steps.run(step).map(|run| run.commands.as_slice()).unwrap_or_default();
        // What is installed may need it, as Java's packages need folders of the manual.
        let works: &[Work] = match &self.steps.list[at].kind {
            Kind::Run(works) => works,
            _ => &[],
        };
        let mut here = of(at).iter().enumerate().filter(|(other, _)| *other != place);
        let later = (at + 1..self.steps.list.len()).filter(|step| !self.steps.list[*step].makes());
        works.contains(&Work::Install)
            || here.any(|(_, command)| names(command))
            || later.flat_map(of).any(names)
    }

    /// Whether a change of owner or mode applies to content that the new stage has at this point without the
    /// change. Adds commands for empty folders, and a manual step for files that are copied later.
    fn changes(&mut self, operand: &Operand, at: usize, is_copied: bool, commands: &mut Vec<String>) -> bool {
        let nodes = self.nodes_of(operand);
        if let [folder] = nodes.as_slice()
            && folder.kind() == NodeKind::Directory
            && !self.covered.contains(&folder.id())
            && folder.layer() >= self.keep.base.layers
            && self.makes_again(operand)
        {
            let path = shell_word(&folder.path());
            commands.extend(path.map(|path| format!("mkdir -p {path}")));
            return true;
        }
        let is_built = |node: Node<'_>| {
            self.steps
                .origin(node)
                .and_then(|step| self.steps.list.get(step))
                .is_some_and(super::steps::Step::makes)
        };
        let is_there = |node: &Node<'_>| {
            matches!(self.keep.fate(node.id()), FileDisposition::Base | FileDisposition::Installed)
                || self.covered.contains(&node.id())
                    && (!(is_copied && is_built(*node))
                        // No copy brings an empty folder.
                        || node.kind() == NodeKind::Directory && self.keep.is_empty(*node))
        };
        let content = |node: &&Node<'_>| node.kind() != NodeKind::Directory;
        if nodes.iter().any(is_there) {
            return true;
        }
        let is_late = |node: &Node<'_>| {
            self.keep.fate(node.id()) == FileDisposition::Copied
                && self.steps.origin(*node).is_some_and(|step| step <= at)
        };
        if !is_copied && nodes.iter().filter(content).any(is_late) {
            let place = self.steps.list[at].place;
            self.manual_steps.push(format!(
                "line {} changes the owner of {}, which is copied later: repeat it after the COPY",
                self.steps.tidying.line(place),
                operand.path.as_deref().unwrap_or_default()
            ));
        }
        false
    }

    /// Whether an instruction that the new stage has before a step adds content at or below a path.
    pub(super) fn is_brought_again(&self, operand: &Operand, at: usize) -> bool {
        let rootfs = self.keep.context.rootfs;
        let steps = self.steps.list.iter().enumerate().take(at);
        let mut again = steps.filter(|(step, _)| *step > self.last || self.repeated.contains(step));
        again.any(|(_, step)| {
            step.layers.iter().any(|layer| {
                let index = rootfs.layer(*layer);
                index.entries().any(|entry| operand.covers(&index.path(entry)))
            })
        })
    }

    /// Whether the new stage has none of the files that the commands of a `RUN` name.
    pub(super) fn removes_nothing(&self, at: usize) -> bool {
        let named = operands(self.steps, at);
        named
            .iter()
            .flat_map(|named| &named.list)
            .all(|operand| operand.path.is_some() && !self.is_brought_again(operand, at))
    }

    /// Whether all files that a command names stay in the build stage.
    pub(super) fn is_about_nothing(&self, at: usize, place: usize) -> bool {
        let named = operands(self.steps, at);
        let Some(named) = named.get(place).filter(|named| !named.list.is_empty()) else { return false };
        named.list.iter().all(|operand| {
            let nodes = self.nodes_of(operand);
            let mut content = nodes.iter().filter(|node| node.kind() != NodeKind::Directory).peekable();
            content.peek().is_some() && content.all(|node| self.keep.fate(node.id()) == FileDisposition::Gone)
        })
    }

    /// Indexes of a step's commands that add users: they move before the lines that name these users.
    pub(super) fn hoisted(&self, at: usize) -> Vec<usize> {
        let Some(step) = self.steps.list.get(at) else { return Vec::new() };
        let Kind::Run(works) = &step.kind else { return Vec::new() };
        let Some(run) = self.steps.run(at) else { return Vec::new() };
        if !self.is_hoisted() || self.steps.is_opaque(at) || step.installs() && at <= self.last {
            return Vec::new();
        }
        let adds = |unit: &std::ops::Range<usize>| {
            let works = works.get(unit.clone()).unwrap_or_default();
            works.contains(&Work::Users)
                && works.iter().all(|work| matches!(work, Work::Users | Work::Shell | Work::Configure))
        };
        super::runs::units(&run.commands).into_iter().filter(adds).flatten().collect()
    }

    /// Whether files of `layer` that `by` shadows are stored in both: the new stage has the instructions of
    /// both layers.
    pub(super) fn stored_twice(&self, layer: u16, by: u16) -> bool {
        let step = |layer: u16| self.steps.list.iter().position(|step| step.layers.contains(&layer));
        step(layer).is_some_and(|step| step > self.last || self.repeated.contains(&step))
            && step(by).is_some_and(|step| self.alive.contains(&step))
    }
}
