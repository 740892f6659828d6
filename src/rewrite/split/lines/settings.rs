//! Settings, users and the working folder of the new stage.

use super::super::steps::{Kind, Step};
use super::super::words::variables;
use super::{Line, Lines};
use crate::formats::dockerfile::Keyword;
use std::collections::BTreeSet;

impl<'r> Lines<'_, '_, '_, '_, 'r> {
    pub(super) fn setting(&mut self, at: usize) {
        let step = &self.steps.list[at];
        let later = || self.steps.list[at + 1..].iter().any(|other| other.keyword == step.keyword);
        match step.keyword {
            Keyword::WorkDir => {
                let path = self.steps.tidying.workdir(step.place + 1);
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
    pub(super) fn names(&self, at: usize) -> Vec<&'r str> {
        let instruction =
            self.steps.list.get(at).and_then(|step| self.stage.file.instructions.get(step.place));
        let words = instruction.map(|one| one.words.as_slice()).unwrap_or_default();
        words.iter().map(|word| word.text.split('=').next().unwrap_or_default()).collect()
    }

    /// Inserts arguments before the lines that use them; unused ones stay in the build stage.
    pub(super) fn settle_arguments(&mut self) {
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
            // apt reads this variable itself.
            let is_read = names.contains(&"DEBIAN_FRONTEND")
                && (installs_later || lines.clone().any(|text| text.contains("apt")));
            if is_used || is_read {
                let reason = "Repeated: later instructions of this stage use it.".to_owned();
                self.text.insert(place, Line { text: self.text(at), reason });
            }
        }
    }

    /// Adds variables and arguments of later instructions that `commands` use.
    pub(super) fn settle(&mut self, at: usize, commands: &[String]) {
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
    pub(super) fn flush_folder(&mut self, at: usize) {
        let relative = self.steps.list.get(at).is_none_or(|step| self.is_relative(step));
        if let Some(path) = self.pending_folder.take_if(|_| relative) {
            if self.folder.as_ref() != Some(&path) {
                self.enter(at, &path);
            }
            self.folder = Some(path);
        }
    }

    /// Whether a step writes to a path below the working directory; commands may.
    fn is_relative(&self, step: &Step) -> bool {
        if matches!(step.kind, Kind::Run(_)) {
            return true;
        }
        let target = self.stage.file.instructions.get(step.place).and_then(|one| one.words.last());
        target.is_none_or(|word| !word.text.starts_with('/'))
    }

    /// Sets the working directory of the image if no later instruction does.
    pub(super) fn last_folder(&mut self) {
        let follows = self.steps.list.get(self.last + 1..).unwrap_or_default();
        let Some(path) = self.pending_folder.take() else { return };
        let sets = follows.iter().position(|step| step.keyword == Keyword::WorkDir);
        let before = &follows[..sets.unwrap_or(follows.len())];
        let uses = |step: &Step| match step.kind {
            Kind::Setting => false,
            Kind::Run(_) => true,
            Kind::Context | Kind::FromStage => self.is_relative(step),
        };
        let next = sets.and_then(|at| follows.get(at));
        // Nothing else makes an empty folder.
        let node = self.keep.context.paths.lookup(path.as_bytes());
        let is_empty = || node.is_some_and(|node| self.keep.is_empty(self.keep.context.rootfs.node(node)));
        let is_used = next.is_none_or(|next| self.is_relative(next)) || before.iter().any(uses) || is_empty();
        if is_used && self.folder.as_ref() != Some(&path) {
            self.enter(self.last, &path);
        }
    }

    /// Adds a `WORKDIR`, which makes its folder for the user in effect.
    fn enter(&mut self, at: usize, path: &str) {
        let node = self.keep.context.paths.lookup(path.as_bytes());
        let owner = node.and_then(|node| self.owner_in_image(self.keep.context.rootfs.node(node)));
        if self.user.0.is_some() && owner.is_some_and(|(user, _)| user != 0) {
            self.users(at);
            self.run_as_now();
        }
        self.add(format!("{} {path}", self.keyword("WORKDIR")), "Repeated: a new stage does not inherit it.");
        self.cover_folder(path.as_bytes());
    }

    /// Sets the user of the current instruction for the following lines.
    pub(in crate::rewrite::split) fn run_as_now(&mut self) {
        if let Some(user) = self.user.0.clone().filter(|user| self.user.1.as_ref() != Some(user)) {
            self.add(user, "Repeated: a new stage does not inherit it.");
            self.user.1.clone_from(&self.user.0);
        }
    }

    /// Sets the user to root for added lines.
    pub(in crate::rewrite::split) fn run_as_root(&mut self) {
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

    /// Sets the user of the image, unless the next instruction that depends on the user sets it.
    pub(super) fn last_user(&mut self) {
        let mut follows = self.steps.list.iter().skip(self.last + 1);
        let asks = |step: &&Step| {
            !matches!(step.kind, Kind::Setting) || matches!(step.keyword, Keyword::User | Keyword::WorkDir)
        };
        if follows.find(asks).is_none_or(|step| step.keyword != Keyword::User) {
            self.run_as_now();
        }
    }
}
