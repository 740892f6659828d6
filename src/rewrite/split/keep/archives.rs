//! Packages for instructions: what they call, and what packages depend on that the build installs from files.

use super::causes::Cause;
use super::{FileDisposition, Keep};
use crate::base::text::counted;

impl Keep<'_, '_> {
    /// Installs what instructions call and the base lacks.
    pub(super) fn tools(&mut self) {
        for package in &self.context.tools.packages {
            if !self.is_in_base(*package) {
                self.install(*package, Cause::Instruction);
            }
        }
        for node in &self.context.tools.files {
            self.require(*node, b"", Cause::Instruction);
        }
    }

    /// Takes the packages that instructions call out of a list of names.
    pub(in crate::rewrite::split) fn tools_among(&self, names: &mut Vec<String>) -> Vec<String> {
        let context = self.context;
        let is_tool = |name: &mut String| {
            context.by_name.get(name.as_str()).is_some_and(|package| context.tools.packages.contains(package))
        };
        names.extract_if(.., is_tool).collect()
    }

    pub(super) fn is_in_base(&self, package: usize) -> bool {
        self.base.packages.contains(&package)
            || self.context.input.inventory.packages[package].layer < self.base.layers
    }

    /// Installs what packages from files depend on.
    pub(super) fn needs_of_archives(&mut self) {
        let context = self.context;
        for package in &context.archives {
            let files = context.files_of.get(package).into_iter().flatten();
            if !files.clone().any(|node| self.fate(*node) == FileDisposition::Copied) {
                continue;
            }
            for other in context.depends(*package) {
                if !self.is_in_base(*other) && !context.archives.contains(other) {
                    self.install(*other, Cause::Dependency(*package));
                }
            }
        }
    }

    /// Why files of packages are copied; `None` if there are none.
    pub(in crate::rewrite::split) fn assumption_of_archives(&self) -> Option<String> {
        let context = self.context;
        let is_copied = |package: &&usize| {
            let files = context.files_of.get(*package).into_iter().flatten();
            files.clone().any(|node| self.fate(*node) == FileDisposition::Copied)
        };
        let names: Vec<&str> = (context.archives.iter().filter(is_copied))
            .map(|package| context.input.inventory.packages[*package].name.as_str())
            .collect();
        let it = counted(names.len() as u64, "package");
        (!names.is_empty()).then(|| {
            format!(
                "The build installs {it} from files: {}. All content is copied; scripts of packages do not run again, \
                 and dpkg lists none of them.",
                names.join(", ")
            )
        })
    }
}
