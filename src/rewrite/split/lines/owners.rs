//! Owners: `--chown` of copies, and the users they name.

use super::super::keep::FileDisposition;
use super::super::owners::{Owner, of as owner_of, takes_owner};
use super::super::runs::units;
use super::super::shell::Work;
use super::super::sources::is_within;
use super::super::steps::Kind;
use super::super::words::shell_word;
use super::Lines;
use crate::formats::dockerfile::ShellCommand;
use crate::rewrite::tidy::style;
use crate::rootfs::Node;

/// Whether scripts of a package may add this user: `redis` of `redis-server`, `postgres` of `postgresql-15`, `postfix`; not
/// `python` of `python3-venv`, nor `app` of `apparmor`.
fn is_user_of(user: &str, package: &str) -> bool {
    const ENDS: [&str; 6] = ["", "-server", "-common", "-core", "-daemon", "-base"];
    /// Letters of a name that another package hardly begins with by chance.
    const LONG: usize = 5;
    const LANGUAGES: [&str; 4] = ["python", "nodejs", "julia", "rustc"];
    let user = user.strip_prefix('_').unwrap_or(user);
    let is_long = user.len() >= LONG && !LANGUAGES.contains(&user);
    package.strip_prefix(user).is_some_and(|end| is_long || ENDS.contains(&end))
}

/// Command for a folder with an owner.
const FOLDER: &str = "install -d";

impl Lines<'_, '_, '_, '_, '_> {
    pub(super) fn chown(&self, at: usize, folder: &[u8]) -> Option<&Owner> {
        owner_of(&self.owners, at, folder)
    }

    /// Numbers of user and group of a path in the image.
    pub(super) fn owner_in_image(&self, node: Node<'_>) -> Option<(u32, u32)> {
        node.entry().map(|entry| self.keep.context.rootfs.layer(node.layer()).owner(entry))
    }

    /// The option for the mode that a folder has in the image, unless it is the usual one.
    fn mode_option(&self, path: &str) -> String {
        let context = self.keep.context;
        let node = context.paths.lookup(path.as_bytes()).map(|node| context.rootfs.node(node));
        let mode = node.and_then(Node::index_entry).map(|(index, entry)| index.mode(entry));
        mode.filter(|mode| *mode != 0o755).map_or_else(String::new, |mode| format!(" -m {mode:o}"))
    }

    /// The text of a `COPY` with the owner that a later `RUN` sets.
    pub(super) fn with_owner(&mut self, at: usize, text: String) -> String {
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

    pub(super) fn owner_flag(&mut self, at: usize) -> Option<(usize, String)> {
        let step = self.steps.list.get(at)?;
        let instruction = self.stage.file.instructions.get(step.place)?;
        let target = instruction.words.last()?;
        let folder = self.steps.tidying.absolute(step.place, &target.text)?;
        // A COPY into a home would make it before `useradd --create-home` does.
        let named = instruction.flags.iter().any(|flag| flag.name == "chown");
        if named || self.is_in_home(folder.as_bytes()) {
            self.users(at);
        }
        if !takes_owner(instruction) {
            return None;
        }
        let owner = self.chown(at, folder.as_bytes())?.clone();
        self.users(at);
        let place = style::flag_place(self.steps.tidying, step.place)?;
        Some((place.start, format!(" --chown={}", owner.spec)))
    }

    /// The user of the image, if no command that is repeated makes it: a script, a target of make, or a package that is
    /// copied as files may have done so. Commands that add it in a form that is not repeated are told elsewhere.
    pub(in crate::rewrite::split) fn missing_user(&self) -> Option<String> {
        /// Users of base images.
        const OF_BASES: [&str; 20] = [
            "_apt", "backup", "bin", "daemon", "games", "irc", "list", "lp", "mail", "man", "news", "node",
            "nobody", "proxy", "root", "sync", "sys", "ubuntu", "uucp", "www-data",
        ];
        /// Users of packages with other names.
        const OF_PACKAGES: [&str; 2] = ["messagebus", "mysql"];
        let context = self.keep.context;
        let config = context.input.image.run_config()?;
        let user = config.user().as_deref()?.split(':').next()?;
        let is_name = user.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
        if !is_name || OF_BASES.contains(&user) {
            return None;
        }
        let table = context.rootfs.node(context.paths.lookup(b"/etc/passwd")?);
        let is_lost = self.steps.of_layer(table.layer()).is_some_and(|at| {
            at <= self.last && self.steps.list[at].place >= self.stage.from && !self.repeated.contains(&at)
        });
        if !is_lost && self.keep.assumption_of_archives().is_none() {
            return None;
        }
        // Scripts of packages add users, mostly of the package's name.
        let installs = |(at, package): &(usize, String)| {
            (*at > self.last || self.installs(*at) && !self.dropped.contains(package.as_str()))
                && (is_user_of(user, package) || OF_PACKAGES.contains(&user))
        };
        let is_made = (0..self.steps.list.len()).any(|at| {
            let Kind::Run(works) = &self.steps.list[at].kind else { return false };
            let commands = self.steps.run(at).map(|run| run.commands.as_slice()).unwrap_or_default();
            let names =
                |command: &ShellCommand| command.words.iter().any(|word| self.steps.filled(at, word) == user);
            commands.iter().zip(works).any(|(command, work)| *work == Work::Users && names(command))
        });
        (!is_made && !self.steps.asked().iter().any(installs)).then(|| user.to_owned())
    }

    /// Adds users, groups and the folders that they own, before the first instruction that uses their names.
    pub(in crate::rewrite::split) fn users(&mut self, at: usize) {
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
                    // A pipe or a list with alternatives gets its own `RUN`.
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
                let mode = self.mode_option(path);
                Some((format!("{FOLDER} -o {user} -g {group}{mode} {word}"), (*path).to_owned()))
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
            let reason = if run.iter().all(|command| command.starts_with(FOLDER)) {
                "Creates the folder with the owner that a RUN sets today."
            } else {
                "Users must exist before the first COPY that names them as owners."
            };
            self.add(text, reason);
        }
        for at in 0..self.steps.list.len() {
            if !self.hoisted(at).is_empty() && !self.steps.list[at].makes() {
                self.cover_step(at, |fate| fate != FileDisposition::Gone);
            }
        }
    }

    /// Whether a folder is in the home of a user that the new stage adds: of the usual ones, or one that the command names.
    pub(super) fn is_in_home(&self, folder: &[u8]) -> bool {
        let mut homes = (0..self.steps.list.len()).flat_map(|step| {
            let hoisted = self.hoisted(step);
            let commands = self.steps.run(step).map(|run| run.commands.as_slice()).unwrap_or_default();
            let words = commands.iter().enumerate().filter(move |(place, _)| hoisted.contains(place));
            words.flat_map(|(_, command)| &command.words)
        });
        folder.starts_with(b"/home/")
            || homes.any(|word| word.text.starts_with('/') && is_within(folder, word.text.as_bytes()))
    }

    /// Whether `COPY --chown` replaces a command.
    pub(in crate::rewrite::split) fn is_handled(&self, step: usize, command: usize) -> bool {
        self.owners.iter().any(|owner| owner.step == step && owner.command == command)
    }

    /// Whether a folder was made with its owner, together with the users.
    pub(super) fn makes_with_owner(&self, path: &str) -> bool {
        self.users_done && self.owners.iter().any(|owner| owner.folders.iter().any(|folder| folder == path))
    }

    pub(in crate::rewrite::split) fn is_hoisted(&self) -> bool {
        self.owners.iter().any(Owner::is_named)
    }
}

#[cfg(test)]
mod tests {
    use super::is_user_of;

    #[test]
    fn packages_add_users_of_their_names() {
        for (user, package) in [
            ("redis", "redis-server"),
            ("postgres", "postgresql-15"),
            ("memcache", "memcached"),
            ("git", "git-daemon"),
            ("_chrony", "chrony"),
        ] {
            assert!(is_user_of(user, package), "{user} {package}");
        }
        for (user, package) in
            [("python", "python3-venv"), ("app", "apparmor"), ("gitea", "git"), ("kiosk", "make")]
        {
            assert!(!is_user_of(user, package), "{user} {package}");
        }
    }
}
