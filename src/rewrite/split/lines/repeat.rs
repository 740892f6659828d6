//! `RUN` instructions that the new stage repeats, and instructions that stay in place after its lines.

use super::super::from::{install, installer};
use super::super::keep::FileDisposition;
use super::super::operands::{Operand, makes_folders, operands};
use super::super::runs::Trim;
use super::super::shell::{Work, is_package_word, package_name, package_words};
use super::super::steps::Kind;
use super::super::tools::sets_up_sources;
use super::super::words::shell_word;
use super::{Lines, configures};
use crate::formats::dockerfile::ShellCommand;
use crate::rewrite::tidy::{Call, Run};
use crate::rewrite::value::Edit;
use crate::rootfs::{Node, NodeId, NodeKind};
use hashbrown::HashSet;

impl Lines<'_, '_, '_, '_, '_> {
    /// Adds packages that files need and no instruction installs, if no instruction with an installation is repeated.
    pub(super) fn packages_first(&mut self) {
        // An instruction that cannot be edited cannot install more packages.
        let repeats = (0..self.steps.list.len()).any(|at| self.installs(at) && !self.steps.is_opaque(at));
        // What an instruction calls must be there before it.
        let names =
            if repeats { self.keep.tools_among(&mut self.added) } else { std::mem::take(&mut self.added) };
        if names.is_empty() {
            return;
        }
        let Some(installer) = installer(self.keep.context, self.keep.base, &self.steps.programs()) else {
            self.is_unknown = true;
            return;
        };
        let text = install(self.stage.file, &self.keyword("RUN"), installer, &names).replace("\r\n", "\n");
        let shown = self.keep.with_causes(&names);
        self.add(text, format!("The image needs these packages: {shown}."));
    }

    /// Whether a step still installs packages.
    pub(in crate::rewrite::split) fn installs(&self, at: usize) -> bool {
        let Some(Kind::Run(works)) = self.steps.list.get(at).map(|step| &step.kind) else { return false };
        let Some(run) = self.steps.run(at) else { return false };
        works.contains(&Work::Install)
            && run.commands.iter().zip(works).any(|(command, work)| {
                *work == Work::Install
                    && Call::of(command).is_some_and(|call| {
                        let packages = package_words(&call);
                        packages.iter().any(|word| !self.dropped.contains(package_name(&word.text)))
                    })
            })
    }

    /// A `RUN` that cannot be edited: repeated unchanged or not at all.
    pub(super) fn run_opaque(&mut self, at: usize, works: &[Work]) {
        let step = &self.steps.list[at];
        let archives = self.steps.installs_archives(at);
        if step.makes() && !step.installs() && (!archives || step.compiles) {
            self.leave_owners(at, works);
            return;
        }
        if step.compiles {
            // Files are copied, and packages installed; what else it sets up is not.
            let all = operands(self.steps, at);
            let is_more = |(place, (command, work)): (usize, (&ShellCommand, &Work))| match work {
                Work::Users | Work::Owner => true,
                Work::Configure => {
                    configures(command)
                        || Call::of(command).is_some_and(|call| makes_folders(&call))
                            && all[place].list.iter().any(|operand| self.stays_empty(operand))
                }
                _ => false,
            };
            let run = self.steps.run(at);
            let is_more = run.is_some_and(|run| run.commands.iter().zip(works).enumerate().any(is_more));
            if !is_more && !sets_up_sources(self.keep.context, self.steps, at) {
                return;
            }
            self.manual_steps.push(format!(
                "line {} installs packages and compiles in an unsupported form: repeat the part that the final stage needs",
                self.steps.tidying.line(step.place)
            ));
            return;
        }
        if self.waits(at) {
            return;
        }
        self.flush_folder(at);
        self.run_as_now();
        self.add(self.text(at), "Repeated: needed at run time.");
        self.cover_step(at, |_| true);
        self.repeated.insert(at);
        self.alive.insert(at);
    }

    /// Leaves users, and changes of owners and modes, to the reader that a building `RUN` makes in a form that cannot be
    /// divided. Copies from the build stage have the modes of their files, those from the context do not.
    fn leave_owners(&mut self, at: usize, works: &[Work]) {
        let Some(run) = self.steps.run(at) else { return };
        let all = operands(self.steps, at);
        for (place, (command, work)) in run.commands.iter().zip(works).enumerate() {
            let is_kept = || {
                Call::of(command).is_some_and(|call| call.program == "chmod")
                    && !all[place].list.iter().any(|operand| self.stays_empty(operand))
                    && !all[place].list.iter().any(|operand| self.comes_from_context(operand))
            };
            let is_lost = match work {
                Work::Users => true,
                Work::Owner => !self.is_handled(at, place) && !self.is_about_nothing(at, place) && !is_kept(),
                _ => false,
            };
            if is_lost {
                self.leave(at, self.stage.file.slice(&command.span));
            }
        }
    }

    /// Whether an operand may be something that an earlier instruction copies from the context.
    fn comes_from_context(&self, operand: &Operand) -> bool {
        let is_context = |node: Node<'_>| {
            let step = self.steps.origin(node).and_then(|step| self.steps.list.get(step));
            step.is_some_and(|step| matches!(step.kind, Kind::Context))
        };
        operand.path.is_none() || self.nodes_of(operand).into_iter().any(is_context)
    }

    /// Whether an operand is a folder of the image without files.
    fn stays_empty(&self, operand: &Operand) -> bool {
        let context = self.keep.context;
        let path = operand.path.as_deref().filter(|_| !operand.is_pattern);
        let node = path.and_then(|path| context.paths.lookup(path.as_bytes()));
        node.map(|node| context.rootfs.node(node))
            .is_some_and(|node| node.kind() == NodeKind::Directory && self.keep.is_empty(node))
    }

    pub(super) fn run(&mut self, at: usize, works: &[Work]) {
        let step = &self.steps.list[at];
        let Some(run) = self.steps.run(at) else { return };
        if self.steps.is_opaque(at) {
            self.run_opaque(at, works);
            return;
        }
        let making = step.makes();
        let installs = self.installs(at);
        let added = if installs { std::mem::take(&mut self.added) } else { Vec::new() };
        let mut elsewhere = self.hoisted(at);
        elsewhere.extend(self.moved(at, works));
        let sources = if making && installs && sets_up_sources(self.keep.context, self.steps, at) {
            works.iter().rposition(|work| *work == Work::Install).unwrap_or_default()
        } else {
            0
        };
        // A `RUN` that only removes files is repeated only if the new stage has some of them.
        let removes = !making
            && (works.iter().any(|work| !matches!(work, Work::Remove | Work::Shell | Work::Manage))
                || !self.removes_nothing(at));
        // A command that reads the settings, such as `update-ca-certificates`, is repeated after those that write them.
        let mut settings = run.commands.iter().zip(works).filter(|(_, work)| **work == Work::Configure);
        let copied_settings = making
            && settings.all(|(command, _)| !configures(command) || self.writes_what_is_copied(at, command));
        let stays = |place: usize| {
            let (Some(work), Some(command)) = (works.get(place), run.commands.get(place)) else {
                return false;
            };
            if elsewhere.contains(&place) {
                return false;
            }
            match work {
                Work::Configure if !making && self.makes_what_goes(at, place) => false,
                Work::Configure if self.makes_owned_folders(at, place) => false,
                Work::Users => true,
                Work::Owner => !making && !self.is_handled(at, place) && !self.is_about_nothing(at, place),
                Work::Install => installs,
                Work::Manage => !making || installs,
                // Commands that set up package repositories are repeated before the installation.
                Work::Other | Work::Configure if place < sources => true,
                Work::Configure if making => configures(command) && !copied_settings,
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
        let owners: Vec<usize> =
            (0..works.len()).filter(|place| works[*place] == Work::Owner && stays(*place)).collect();
        let Some(text) = self.trimmed(run, works, &added, &[], &stays) else {
            self.added.extend(added);
            return;
        };
        let text = self.with_parents(at, text);
        if changes {
            self.alive.insert(at);
        }
        self.change_owners(at, &owners);
        let names = works.iter().zip(&run.commands).filter(|(work, _)| **work == Work::Install);
        let calls: Vec<Call<'_>> = names.filter_map(|(_, command)| Call::of(command)).collect();
        let packages = calls.iter().flat_map(package_words);
        let unknown: Vec<&str> =
            packages.map(|word| word.text.as_str()).filter(|word| !is_package_word(word)).collect();
        if installs && !unknown.is_empty() {
            self.manual_steps.push(format!(
                "line {} installs {}: which of these packages the final stage needs, and their size, is unknown",
                self.steps.tidying.line(step.place),
                unknown.join(", ")
            ));
        }
        let reason = if installs && added.is_empty() {
            "Repeated without build-only packages.".to_owned()
        } else if installs {
            format!(
                "Repeated without build-only packages; adds packages that shipped files need: {}.",
                self.keep.with_causes(&added)
            )
        } else {
            "Repeated: its effect is not copied from the build stage.".to_owned()
        };
        let is_relative = |operand: &Operand| operand.is_relative;
        // WORKDIR makes the folder that the command names.
        let is_pending = self.pending_folder.as_ref().is_some_and(|folder| text.contains(folder.as_str()));
        let relative = is_pending
            || !text.contains(" /")
            || operands(self.steps, at).iter().any(|named| named.list.iter().any(is_relative));
        if relative {
            self.flush_folder(at);
        }
        self.run_as_now();
        self.missing_folders(at, &owners);
        self.add(text, reason);
        if !making {
            self.repeated.insert(at);
            self.cover_step(at, |fate| fate != FileDisposition::Installed);
        }
    }

    /// The text of a `RUN` in which `mkdir` takes folders that an earlier line has made with their owners.
    fn with_parents(&self, at: usize, text: String) -> String {
        let all = operands(self.steps, at);
        let commands = self.steps.run(at).map(|run| run.commands.as_slice()).unwrap_or_default();
        commands.iter().zip(&all).fold(text, |text, (command, named)| {
            let is_made = |operand: &Operand| {
                let path = operand.path.as_deref().map(|path| path.trim_end_matches('/'));
                path.is_some_and(|path| self.owners.iter().any(|owner| owner.folders.contains(path)))
            };
            let is_one = Call::of(command).is_some_and(|call| call.program == "mkdir");
            let old = self.stage.file.slice(&command.span);
            if !is_one || !named.list.iter().any(is_made) || old.contains(" -p") || old.contains("--parents")
            {
                return text;
            }
            text.replacen(old, &old.replacen("mkdir", "mkdir -p", 1), 1)
        })
    }

    /// Whether a command makes only folders that an earlier line has made with their owners: `mkdir` fails then.
    fn makes_owned_folders(&self, at: usize, place: usize) -> bool {
        let call = self.steps.run(at).and_then(|run| run.commands.get(place)).and_then(Call::of);
        let is_plain = call.is_some_and(|call| {
            let options = call.words.iter().filter(|word| word.text.starts_with('-'));
            call.program == "mkdir" && { options }
                .all(|word| matches!(word.text.as_str(), "-p" | "--parents"))
        });
        let all = operands(self.steps, at);
        let Some(named) = all.get(place).filter(|named| is_plain && !named.list.is_empty()) else {
            return false;
        };
        named.list.iter().all(|operand| {
            let path = operand.path.as_deref().filter(|_| !operand.is_pattern);
            path.is_some_and(|path| self.makes_with_owner(path.trim_end_matches('/')))
        })
    }

    /// Makes the empty folders whose owner or mode these commands of a step change, and which a build made.
    fn missing_folders(&mut self, at: usize, commands: &[usize]) {
        let named = operands(self.steps, at).into_iter().enumerate();
        let named = named.filter(|(place, _)| commands.contains(place)).flat_map(|(_, named)| named.list);
        let paths: Vec<String> =
            named.filter_map(|operand| operand.path.filter(|_| !operand.is_pattern)).collect();
        let made = self.steps.run(at).map(|run| run.commands.iter().filter_map(Call::of).collect::<Vec<_>>());
        let is_made = |path: &str| {
            made.iter().flatten().any(|call| {
                makes_folders(call) && call.words.iter().any(|word| word.text.trim_end_matches('/') == path)
            })
        };
        let words: Vec<String> = paths
            .iter()
            .filter(|path| !is_made(path) && self.is_missing_folder(path))
            .filter_map(|path| shell_word(path.as_bytes()))
            .collect();
        if !words.is_empty() {
            let text = format!("{} mkdir -p {}", self.keyword("RUN"), words.join(" "));
            self.add(text, "An empty folder that the build stage makes, and that no COPY names.");
            for path in &paths {
                self.cover_folder(path.as_bytes());
            }
        }
    }

    /// The same for a step that stays in place after the new lines.
    pub(super) fn missing_folders_of(&mut self, at: usize) {
        let Kind::Run(works) = &self.steps.list[at].kind else { return };
        let is_one = |place: &usize| works[*place] == Work::Owner && !self.is_handled(at, *place);
        let owners: Vec<usize> = (0..works.len()).filter(is_one).collect();
        if !owners.is_empty() {
            self.missing_folders(at, &owners);
        }
    }

    /// Counts what these commands of a step, which change attributes, store once more.
    fn change_owners(&mut self, at: usize, commands: &[usize]) {
        let named = operands(self.steps, at).into_iter().enumerate();
        let again: HashSet<NodeId> = (named.filter(|(place, _)| commands.contains(place)))
            .flat_map(|(_, named)| named.list)
            .flat_map(|operand| self.copied_from_build(&operand))
            .collect();
        let changes = |place: &usize| {
            let run = self.steps.run(at).and_then(|run| run.commands.get(*place));
            run.and_then(Call::of).is_some_and(|call| matches!(call.program, "chown" | "chgrp"))
        };
        self.clears |= !again.is_empty() && commands.iter().any(changes);
        self.store_again(&again);
    }

    /// Whether a command of a step only writes files that the new stage copies as the step left them.
    fn writes_what_is_copied(&self, at: usize, command: &ShellCommand) -> bool {
        let context = self.keep.context;
        let is_copied = |path: &str| {
            context.paths.lookup(path.as_bytes()).is_some_and(|node| {
                self.keep.fate(node) == FileDisposition::Copied
                    && self.steps.origin(context.rootfs.node(node)) == Some(at)
            })
        };
        let Some(call) = Call::of(command) else { return false };
        let words = call.words.iter().map(|word| word.text.as_str());
        // The first word of sed is its script, unless options give one.
        let skipped = match call.program {
            "echo" | "printf" => usize::MAX,
            "tee" => 0,
            "sed" if !words.clone().any(|word| matches!(word, "-e" | "-f")) => 1,
            _ => return false,
        };
        let named = words.filter(|word| !word.starts_with('-')).skip(skipped);
        let mut paths = named.chain(command.writes.iter().map(String::as_str)).peekable();
        paths.peek().is_some() && paths.all(|path| path.starts_with('/') && is_copied(path))
    }

    /// A `RUN` without the commands and packages that go; `None` if nothing with an effect is left.
    fn trimmed(
        &self,
        run: &Run,
        works: &[Work],
        added: &[String],
        extra: &[Edit],
        stays: &dyn Fn(usize) -> bool,
    ) -> Option<String> {
        let (file, dropped) = (self.stage.file, self.dropped);
        let instruction = file.instructions.get(run.place)?;
        let keeps_archives = self.keep.context.keeps_archives();
        let keeps_lists = self.reads_lists_after(run.place);
        Trim {
            file,
            instruction,
            run,
            works,
            dropped,
            added,
            extra,
            stays,
            lean: true,
            keeps_archives,
            keeps_lists,
        }
        .text()
    }

    /// Whether an instruction that is repeated as a whole reads package lists that an earlier one fetched.
    fn reads_lists_after(&self, place: usize) -> bool {
        let steps = self.steps.list.iter().enumerate();
        steps.filter(|(at, step)| step.place > place && self.steps.is_whole(*at)).any(|(at, _)| {
            let calls = self.steps.run(at).into_iter().flat_map(|run| &run.commands).filter_map(Call::of);
            let mut of_apt = calls.filter(|call| matches!(call.program, "apt" | "apt-get"));
            of_apt.next().is_some_and(|call| !call.has("update"))
        })
    }

    /// An instruction after the new lines: it stays in place.
    pub(super) fn stays(&mut self, at: usize) {
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
    pub(super) fn cleans_up(&self, at: usize, works: &[Work]) -> bool {
        let Some(run) = self.steps.run(at) else { return false };
        let relative = |command: &ShellCommand| {
            Call::of(command).is_none_or(|call| call.words.iter().all(|word| !word.text.contains(['/', '$'])))
        };
        works.contains(&Work::Remove)
            && works.iter().all(|work| matches!(work, Work::Remove | Work::Shell))
            && run.commands.iter().all(relative)
            && self.removes_nothing(at)
    }

    pub(super) fn stays_run(&mut self, at: usize, works: &[Work]) {
        let step = &self.steps.list[at];
        if self.cleans_up(at, works) {
            if let Some(span) = self.steps.tidying.whole(step.place) {
                let line = self.steps.tidying.line(step.place);
                let why = format!("RUN of old line {line} dropped: its files stay in the build stage.");
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
        let is_of_build = |place: usize| {
            let call = run.commands.get(place).and_then(Call::of);
            call.is_some_and(|call| call.program == "update-alternatives" && self.offers_what_stays(&call))
        };
        let stays = |place: usize| {
            let is_replaced = self.is_handled(at, place) || self.makes_owned_folders(at, place);
            !(is_replaced || hoisted.contains(&place) || is_of_build(place))
        };
        let is_alive =
            (0..works.len()).any(|place| matches!(works[place], Work::Owner | Work::Remove) && stays(place));
        let owners: Vec<usize> =
            (0..works.len()).filter(|place| works[*place] == Work::Owner && stays(*place)).collect();
        let Some(instruction) = self.stage.file.instructions.get(step.place) else { return };
        let extra: Vec<Edit> = self.tidied.within(&instruction.span).cloned().collect();
        let before = self.text(at);
        let changes = (0..run.commands.len()).any(|place| !stays(place))
            || step.installs()
            || !extra.is_empty()
            || self.with_parents(at, before.clone()) != before;
        if !changes {
            self.alive.extend(is_alive.then_some(at));
            self.change_owners(at, &owners);
            return;
        }
        let text = self.trimmed(run, works, &added, &extra, &stays);
        let text = text.map(|text| self.with_parents(at, text));
        self.alive.extend((is_alive && text.is_some()).then_some(at));
        if text.is_some() {
            self.change_owners(at, &owners);
        }
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
                self.added.extend(added);
                if let Some(span) = self.steps.tidying.whole(step.place) {
                    let line = self.steps.tidying.line(step.place);
                    let why = format!(
                        "RUN of old line {line} dropped: replaced by COPY --chown and the lines above."
                    );
                    self.edits.push((span, String::new(), why));
                }
            }
        }
    }
}
