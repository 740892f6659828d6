//! Why packages are in the new stage.

use super::Keep;
use crate::base::text::escape;
use crate::rootfs::NodeId;

/// What made a package part of the new stage.
#[derive(Clone, Copy, Debug)]
pub(super) enum Cause<'a> {
    /// The plan keeps files of it.
    Plan,
    /// A file of the new image loads one of its libraries.
    Loads(NodeId),
    /// A text of the new image has the name of one of its files.
    Names(NodeId, &'a str),
    /// A text of the application starts one of its programs.
    Starts(NodeId, &'a str),
    /// The command of the image runs one of its programs.
    Command,
    /// Every process loads its library by `LD_PRELOAD`.
    Preloaded,
    /// A script runs with it.
    Interprets(NodeId),
    /// It runs the Python packages of the application, or they import it.
    Python,
    /// Its modules are for this package.
    Modules(usize),
    /// This package reads its data.
    Data(usize),
    /// This package runs its programs.
    Runs(usize),
    /// A repeated instruction calls one of its programs.
    Instruction,
    /// This package, whose files are copied, depends on it.
    Dependency(usize),
    /// A link leads to one of its files, or one of its links to a file that stays.
    Link(NodeId),
    /// Packages that serve without a link or a dependency.
    Silent,
}

impl Keep<'_, '_> {
    /// Names of packages, with what needs each.
    pub(in crate::rewrite::split) fn with_causes(&self, names: &[String]) -> String {
        names.iter().map(|name| self.with_cause(name)).collect::<Vec<_>>().join(", ")
    }

    fn with_cause(&self, name: &str) -> String {
        let place = self.context.by_name.get(name);
        let Some(cause) = place.and_then(|place| self.causes.get(place)) else { return name.to_owned() };
        let path = |node: &NodeId| escape(&self.context.rootfs.node(*node).path());
        match cause {
            Cause::Plan => format!("{name} (the plan keeps files of it)"),
            Cause::Loads(file) => format!("{name} ({} loads it)", path(file)),
            Cause::Names(file, text) => format!("{name} ({} names {text})", path(file)),
            Cause::Starts(file, program) => format!("{name} ({} starts {program})", path(file)),
            Cause::Command => format!("{name} (the command runs it)"),
            Cause::Preloaded => format!("{name} (LD_PRELOAD names it)"),
            Cause::Interprets(script) => format!("{name} (runs {})", path(script)),
            Cause::Python => format!("{name} (for Python packages)"),
            Cause::Modules(host) => {
                format!("{name} (modules for {})", self.context.input.inventory.packages[*host].name)
            }
            Cause::Data(reader) => {
                format!("{name} (data of {})", self.context.input.inventory.packages[*reader].name)
            }
            Cause::Instruction => format!("{name} (a RUN calls it)"),
            Cause::Dependency(package) => {
                format!("{name} ({} depends on it)", self.context.input.inventory.packages[*package].name)
            }
            Cause::Runs(reader) => {
                format!("{name} ({} runs it)", self.context.input.inventory.packages[*reader].name)
            }
            Cause::Link(link) => format!("{name} (by the link {})", path(link)),
            Cause::Silent => name.to_owned(),
        }
    }
}
