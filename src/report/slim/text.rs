//! What people read of a slim image.

use std::cmp::Ordering;

use super::{PrunedLine, SlimReport};
use crate::base::size::human;
use crate::base::text::{counted, printable};
use crate::slim::Action;

/// Platforms named in the summary.
const SHOWN_PLATFORMS: usize = 8;

impl SlimReport {
    /// Layers with an action, by its name.
    fn count(&self, action: Action) -> usize {
        self.layers.iter().filter(|layer| layer.action == action.as_str()).count()
    }

    /// What people read: names in lower case, and sizes, layers, what was removed, what was verified.
    pub fn facts(&self) -> Vec<(&'static str, String)> {
        let mut facts = Vec::new();
        let (before, after) = (&self.before, &self.after);
        if let (Some(now), Some(then)) = (before.compressed_bytes, after.compressed_bytes) {
            let about = if self.output.is_some() { "" } else { "about " };
            facts.push(("compressed", change(now, then, about)));
        } else if let Some(now) = before.compressed_bytes {
            facts.push((
                "compressed",
                format!("{} before; after unknown: layers are stored uncompressed", human(now)),
            ));
        }
        facts.push(("merged", change(before.merged_bytes, after.merged_bytes, "")));
        let actions = Action::ALL.iter().map(|action| (self.count(*action), action.as_str()));
        let actions = actions.filter(|(count, _)| *count > 0).map(|(count, name)| format!("{count} {name}"));
        let layers = counted(self.layers.len(), "layer");
        facts.push(("layers", format!("{layers}: {}", actions.collect::<Vec<_>>().join(", "))));
        let files = self.removed.iter().filter(|line| !line.shadowed).count();
        let hidden = match self.removed.len() - files {
            0 => String::new(),
            count => format!(" and {},", counted(count, "shadowed file")),
        };
        let findings = counted(self.plan.findings.len(), "finding");
        facts.push(("removed", format!("{}{hidden} from {findings}", counted(files, "file"))));
        if let Some(code) = &self.gpu_code {
            let sum = |of: fn(&PrunedLine) -> u64| code.libraries.iter().map(of).sum();
            let change = change(sum(|line| line.before_bytes), sum(|line| line.after_bytes), "");
            let files = counted(code.libraries.len(), "file");
            facts.push((
                "GPU code",
                format!("{change} in {files}, for {}", code.compute_capabilities.join(", ")),
            ));
        }
        if !self.forgotten_packages.is_empty() {
            let packages = counted(self.forgotten_packages.len(), "package");
            facts.push(("forgotten", format!("{packages} without files")));
        }
        if !self.other_platforms.is_empty() {
            let platforms = self.other_platforms.iter().filter_map(|other| other.platform.as_deref());
            let platforms: Vec<&str> = platforms.take(SHOWN_PLATFORMS).collect();
            let count = counted(self.other_platforms.len(), "other image");
            facts.push(("platforms", format!("{count} unchanged: {}", platforms.join(", "))));
        }
        if self.kept_base.layers > 0 {
            let layers = counted(self.kept_base.layers, "layer");
            let bytes = human(self.kept_base.bytes);
            let words = format!("{layers} unchanged, which keeps {bytes} that could be removed");
            facts.push(("base image", words));
        }
        if let Some(verified) = &self.verification {
            let (paths, dependencies) =
                (counted(verified.paths, "path"), counted(verified.dependencies, "library dependency"));
            facts.push(("verified", format!("{paths} and {dependencies} as predicted")));
            if let Some(gpu) = &verified.gpu {
                let (all, device) = (counted(gpu.containers, "container"), printable(&gpu.device));
                let (before, after) = (gpu.loaded_before, gpu.loaded_after);
                facts.push((
                    "driver",
                    format!("{all} of GPU code on {device}: {before} loaded before, {after} after"),
                ));
            }
        }
        facts
    }

    /// The summary of the command line.
    pub fn to_text(&self) -> String {
        let mut lines = Vec::new();
        if let Some(output) = &self.output {
            lines.push(printable(&output.destination));
            lines.push(format!("  manifest    {}", output.manifest_digest));
        }
        lines.extend(self.facts().iter().map(|(name, value)| format!("  {name:<10}  {value}")));
        lines.push(String::new());
        lines.join("\n")
    }
}

/// A size before and after, and the change.
fn change(now: u64, then: u64, about: &str) -> String {
    let percent = if now == 0 { 0.0 } else { 100.0 * now.abs_diff(then) as f64 / now as f64 };
    let sign = match then.cmp(&now) {
        Ordering::Less => "\u{2212}",
        Ordering::Equal => "",
        Ordering::Greater => "+",
    };
    format!("{} before, {about}{} after ({sign}{percent:.1} %)", human(now), human(then))
}

#[cfg(test)]
mod tests {
    use super::change;

    #[test]
    fn a_change_has_one_sign() {
        for (now, then, end) in
            [(200, 100, "(\u{2212}50.0 %)"), (100, 103, "(+3.0 %)"), (100, 100, "(0.0 %)"), (0, 0, "(0.0 %)")]
        {
            let text = change(now, then, "");
            assert!(text.ends_with(end), "{text}");
        }
    }
}
