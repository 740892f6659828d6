//! Files of which GPU code is taken out, and how the image says so.

use std::sync::Arc;

use super::json::Object;
use super::replacement::Replacement;
use crate::layer::EntryId;

/// Annotation and label of an image without some GPU code: compute capabilities that it is for, such as `8.0,9.0`.
pub const GPU_TARGETS: &str = "dev.cutaway.gpu.targets";
/// Annotation and label: a JSON list with the path, and the digests before and after, of every changed file.
const FILES: &str = "dev.cutaway.gpu.files";
/// The variable that nvidia-container-toolkit compares with the GPU before a container starts.
const REQUIRE: &str = "NVIDIA_REQUIRE_ARCH";

/// What GPU code stays.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pruning {
    /// The GPUs that must be able to run the image: id of the target, and SM number.
    pub targets: Vec<(String, u32)>,
    /// Keep PTX for GPUs of the future.
    pub keep_ptx: bool,
    /// Turn pages of zeros into memory instead of file.
    pub shrink: bool,
}

impl Pruning {
    /// SM numbers of the targets, each once, in ascending order.
    pub fn sms(&self) -> Vec<u32> {
        let mut sms: Vec<u32> = self.targets.iter().map(|(_, sm)| *sm).collect();
        sms.sort_unstable();
        sms.dedup();
        sms
    }
}

/// A file that loses GPU code.
#[derive(Clone, Debug)]
pub struct PrunedFile {
    /// Its path in the merged view, unescaped.
    pub path: Vec<u8>,
    /// The layer that has it.
    pub layer: u16,
    pub(super) entry: EntryId,
    /// Bytes of GPU code before, and after.
    pub gpu_bytes: (u64, u64),
    /// Bytes of the file before, and after.
    pub file_bytes: (u64, u64),
    /// Containers of GPU code.
    pub containers: u64,
    /// Entries that stay.
    pub entries_kept: u64,
    /// Entries that go.
    pub entries_removed: u64,
    pub(super) content: Arc<Replacement>,
}

impl PrunedFile {
    /// SHA-256 digests of the file before and after; `None` until it is written.
    pub fn digests(&self) -> Option<&(String, String)> {
        self.content.digests.get()
    }
}

/// GPU code that is taken out of an image.
#[derive(Clone, Debug)]
pub struct Pruned {
    /// What stays.
    pub pruning: Pruning,
    /// The files that change, by path.
    pub files: Vec<PrunedFile>,
}

/// A version as `9.0`.
fn version(sm: u32) -> String {
    format!("{}.{}", sm / 10, sm % 10)
}

impl Pruned {
    /// Compute capabilities of the targets, such as `8.0,9.0`.
    pub fn capabilities(&self) -> String {
        self.pruning.sms().into_iter().map(version).collect::<Vec<_>>().join(",")
    }

    /// The digests of all files that changed, as JSON.
    fn digests(&self) -> String {
        let files = self.files.iter().filter_map(|file| {
            let (before, after) = file.digests()?;
            let path = crate::base::text::escape(&file.path);
            Some(serde_json::json!({ "path": path, "before": before, "after": after }))
        });
        serde_json::Value::Array(files.collect()).to_string()
    }

    /// Sets the annotations of a manifest, or the labels of a config.
    pub(super) fn describe(&self, notes: &mut Object) {
        notes.set(GPU_TARGETS, &self.capabilities());
        notes.set(FILES, &self.digests());
    }

    /// Clauses of `NVIDIA_REQUIRE_ARCH`, one for each target: that compute capability or a later one of its major
    /// version, which runs the same machine code. With PTX, a later major version too.
    fn clauses(&self) -> Vec<String> {
        let clause = |sm: u32| {
            let from = format!("arch>={}", version(sm));
            if self.pruning.keep_ptx { from } else { format!("{from},arch<{}", version(sm / 10 * 10 + 10)) }
        };
        self.pruning.sms().into_iter().map(clause).collect()
    }

    /// Adds the requirement and the labels to the part of the config that engines run by.
    pub(super) fn require(&self, run: &mut Object) {
        let mut variables: Vec<String> = run.read("Env").unwrap_or_default();
        let start = format!("{REQUIRE}=");
        let known = variables.iter().rposition(|variable| variable.starts_with(&start));
        let clauses = self.clauses();
        let before = known.map(|place| variables[place][start.len()..].to_owned()).unwrap_or_default();
        let before: Vec<&str> = before.split(' ').filter(|clause| !clause.is_empty()).collect();
        // Every old alternative with every new one: both conditions must hold.
        let value = if before.is_empty() {
            clauses
        } else {
            before.iter().flat_map(|old| clauses.iter().map(move |new| format!("{old},{new}"))).collect()
        };
        let variable = format!("{start}{}", value.join(" "));
        match known {
            Some(place) => variables[place] = variable,
            None => variables.push(variable),
        }
        run.set("Env", &variables);
        let mut labels: Object = run.read("Labels").unwrap_or_default();
        self.describe(&mut labels);
        run.set("Labels", &labels);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn required(env: &str, sms: &[u32], keep_ptx: bool) -> Vec<String> {
        let targets = sms.iter().map(|sm| (String::new(), *sm)).collect();
        let pruned = Pruned { pruning: Pruning { targets, keep_ptx, shrink: false }, files: Vec::new() };
        let mut run = Object::parse(env.as_bytes());
        pruned.require(&mut run);
        run.read("Env").unwrap()
    }

    #[test]
    fn targets_are_alternatives_and_old_conditions_still_hold() {
        assert_eq!(
            required("{}", &[90, 80, 90], false),
            ["NVIDIA_REQUIRE_ARCH=arch>=8.0,arch<9.0 arch>=9.0,arch<10.0"]
        );
        assert_eq!(
            required(r#"{"Env":["A=1","NVIDIA_REQUIRE_ARCH=arch>=7.5 brand=tesla","B=2"]}"#, &[120], false),
            [
                "A=1",
                "NVIDIA_REQUIRE_ARCH=arch>=7.5,arch>=12.0,arch<13.0 brand=tesla,arch>=12.0,arch<13.0",
                "B=2"
            ]
        );
        assert_eq!(required(r#"{"Env":null}"#, &[86], true), ["NVIDIA_REQUIRE_ARCH=arch>=8.6"]);
    }
}
