//! Owners that a `RUN chown -R` sets for files of earlier instructions: the `COPY` of a stage sets them itself.

use super::shell::Work;
use super::sources::is_within;
use super::steps::{Kind, Steps};
use crate::rewrite::tidy::Call;

/// A recursive change of owner that `COPY --chown` can express.
#[derive(Clone, Debug)]
pub(super) struct Owner {
    /// Its step.
    pub(super) step: usize,
    /// Its index among the commands of the `RUN`.
    pub(super) command: usize,
    /// User and group, in the form of `--chown`.
    pub(super) spec: String,
    /// The folder, absolute.
    pub(super) path: String,
}

impl Owner {
    /// Whether the owner is a name, which must exist before a `COPY` uses it.
    pub(super) fn is_named(&self) -> bool {
        !self.spec.bytes().all(|byte| byte.is_ascii_digit() || byte == b':')
    }

    /// User and group separately.
    pub(super) fn parts(&self) -> (&str, &str) {
        self.spec.split_once(':').unwrap_or((&self.spec, "0"))
    }
}

/// All of them, in order. Only the recursive form with one path per command.
pub(super) fn owners(steps: &Steps<'_, '_>) -> Vec<Owner> {
    let mut found = Vec::new();
    for (step, one) in steps.list.iter().enumerate() {
        let Kind::Run(works) = &one.kind else { continue };
        let Some(run) = steps.run(step).filter(|run| run.may_edit) else { continue };
        for (command, shell) in run.commands.iter().enumerate() {
            let Some(call) = Call::of(shell).filter(|call| call.program == "chown") else { continue };
            let options = call.words.iter().take_while(|word| word.text.starts_with('-')).count();
            let recursive =
                call.words[..options].iter().any(|word| word.text == "-R" || word.text == "--recursive");
            let [spec, path] = &call.words[options..] else { continue };
            let is_name = |name: &str| {
                !name.is_empty()
                    && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte))
            };
            let (user, group) = spec.text.split_once(':').unwrap_or((&spec.text, "0"));
            let group = if group.is_empty() { user } else { group };
            let path = steps.scene.absolute(one.place, &path.text);
            if works.get(command) == Some(&Work::Owner)
                && let Some(path) =
                    path.filter(|path| recursive && is_name(user) && is_name(group) && path != "/")
            {
                found.push(Owner { step, command, spec: format!("{user}:{group}"), path });
            }
        }
    }
    found
}

/// The final owner of a folder's content, if added by an instruction at `step`.
pub(super) fn of<'o>(owners: &'o [Owner], step: usize, folder: &[u8]) -> Option<&'o Owner> {
    let mut later = owners.iter().rev().filter(|owner| owner.step > step);
    later.find(|owner| is_within(folder, owner.path.as_bytes()))
}
