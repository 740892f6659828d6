//! Text for a terminal.

use std::fmt::Write as _;

use super::make::shown_name;
use super::{PathName, WhyFinding, WhyLayer, WhyLoading, WhyReport, WhyVersion};
use crate::base::labels::VERDICTS;
use crate::base::size::human;
use crate::base::text::{and_more, counted, elide_end, printable};

/// Lines of a list, and characters of an instruction.
const MOST: usize = 8;
const INSTRUCTION: usize = 160;
/// Width of the first column.
const NAMES: usize = 12;

struct Text(String);

impl Text {
    /// A line with a name in the first column; further lines of it have none.
    fn line(&mut self, name: &str, text: &str) {
        writeln!(self.0, "{name:NAMES$} {text}").ok();
    }

    fn list(&mut self, name: &str, lines: &[String], all: usize) {
        for (place, line) in lines.iter().take(MOST).enumerate() {
            self.line(if place == 0 { name } else { "" }, line);
        }
        let shown = lines.len().min(MOST);
        if all > shown {
            self.line("", and_more(all, shown).trim_start());
        }
    }
}

fn paths(paths: &[PathName]) -> Vec<String> {
    paths.iter().map(ToString::to_string).collect()
}

fn of_layer(layer: u16, instruction: Option<&str>) -> String {
    let one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let text = instruction.map(|text| format!(": {}", elide_end(&printable(&one_line(text)), INSTRUCTION)));
    format!("layer {layer}{}", text.unwrap_or_default())
}

impl WhyReport {
    /// The answer for people.
    pub fn to_text(&self) -> String {
        let mut out = Text(String::new());
        let kind = match &*self.kind {
            "symlink" => "symbolic link",
            "other" => "device, pipe or socket",
            kind => kind,
        };
        let mut head = format!("{}: {kind}", self.path);
        match (&*self.kind, self.bytes) {
            ("folder", Some(bytes)) => {
                write!(head, ", {} in {}", human(bytes), counted(self.files, "file")).ok()
            }
            (_, Some(bytes)) => write!(head, ", {}", human(bytes)).ok(),
            _ => None,
        };
        writeln!(out.0, "{head}\n").ok();
        if let Some(link) = &self.link {
            let target = self.link_target.as_ref().map_or_else(|| "nothing".to_owned(), ToString::to_string);
            out.line("Points to", &format!("{link}, which leads to {target}"));
        }
        if !self.visible {
            out.line("Visible", "no: an upper layer removed it");
        }
        match &self.layer {
            Some(layer) => Self::brought(&mut out, layer),
            None => out.line("Brought by", "no layer has an entry for this folder"),
        }
        let earlier: Vec<&WhyVersion> = self.versions.iter().collect();
        if earlier.len() > 1 || !self.visible {
            let lines: Vec<String> = earlier.iter().map(|version| Self::version(version)).collect();
            out.list("Versions", &lines, lines.len());
        }
        out.list("Hard links", &paths(&self.other_names), self.other_names.len());
        match &self.package {
            Some(package) => {
                let (name, version) = (printable(&package.name.name), printable(&package.name.version));
                let automatic = if package.automatic.is_some() { ", as a dependency" } else { "" };
                let text = format!(
                    "{name} {version} ({}), installed in layer {}{automatic}",
                    package.name.manager, package.layer
                );
                out.line("Package", &text);
            }
            None if &*self.kind != "folder" && self.visible => out.line("Package", "none owns it"),
            None => {}
        }
        if let Some(loading) = &self.loading {
            loading.write(&mut out);
        }
        out.list("Named in", &self.settings, self.settings.len());
        let references: Vec<String> =
            self.references.iter().map(|one| format!("{} ({})", one.path, one.names.join(", "))).collect();
        out.list("Mentioned in", &references, references.len());
        if let Some(folder) = &self.folder {
            let share = |one: &super::WhyShare, name: String| {
                format!("{:>10}  {:>14}  {name}", human(one.bytes), counted(one.files, "file"))
            };
            let layers: Vec<String> =
                folder.layers.iter().map(|one| share(one, format!("layer {}", one.name))).collect();
            out.list("By layer", &layers, layers.len());
            let name = |name: &str| if name.is_empty() { "no package".to_owned() } else { printable(name) };
            let owners: Vec<String> = folder.owners.iter().map(|one| share(one, name(&one.name))).collect();
            out.list("By package", &owners, owners.len() + usize::try_from(folder.more_owners).unwrap_or(0));
            let largest: Vec<String> =
                folder.largest.iter().map(|one| format!("{:>10}  {}", human(one.bytes), one.path)).collect();
            out.list("Largest", &largest, largest.len());
        }
        self.findings.iter().take(MOST).for_each(|finding| finding.write(&mut out));
        if self.findings.len() > MOST {
            out.line("", and_more(self.findings.len(), MOST).trim_start());
        }
        writeln!(out.0, "\nWithout {}: {}", shown_name(&self.path), self.without.kind.title().to_lowercase())
            .ok();
        self.without.statements.iter().take(MOST).for_each(|text| {
            writeln!(out.0, "  {text}").ok();
        });
        if self.visible {
            let (merged, layers) = (human(self.without.merged_bytes), human(self.without.layer_bytes));
            writeln!(out.0, "  The merged view is {merged} smaller, the layers {layers}.").ok();
        } else {
            writeln!(out.0, "  The layers are {} smaller.", human(self.without.layer_bytes)).ok();
        }
        out.0
    }

    fn brought(out: &mut Text, layer: &WhyLayer) {
        out.line("Brought by", &of_layer(layer.layer, layer.instruction.as_deref()));
        match (layer.is_base, &layer.base) {
            (Some(true), Some(base)) => out.line("", &format!("base image {}", printable(base))),
            (Some(true), None) => out.line("", "base image"),
            (Some(false), _) => out.line("", "above the base image"),
            (None, _) => {}
        }
    }

    fn version(version: &WhyVersion) -> String {
        let bytes = version.bytes.map_or_else(String::new, |bytes| format!(", {}", human(bytes)));
        let fate = match (version.hidden_by, version.replaced) {
            (Some(by), true) if &*version.kind == "folder" => format!(", touched again by layer {by}"),
            (Some(by), true) => format!(", replaced by layer {by}"),
            (Some(by), false) => format!(", removed by layer {by}"),
            (None, _) => ", visible".to_owned(),
        };
        format!("layer {}: {}{bytes}{fate}", version.layer, version.kind)
    }
}

impl WhyLoading {
    fn write(&self, out: &mut Text) {
        let Some(first) = self.chain.first() else { return };
        if let Some(root) = &first.root {
            out.line("Loaded as", root);
        }
        for (place, step) in self.chain.iter().skip(1).enumerate() {
            let how = step.how.as_deref().unwrap_or("loads it");
            let root = step.root.as_ref().map_or_else(String::new, |root| format!("; {root}"));
            out.line(if place == 0 { "Loaded by" } else { "" }, &format!("{}: {how}{root}", step.path));
        }
        if self.chain.len() == 1 && first.root.is_none() {
            out.line("Loaded by", "nothing that runs: unreferenced");
        }
        let more = |all: u64| usize::try_from(all).unwrap_or(usize::MAX);
        out.list("Needed by", &paths(&self.needed_by), more(self.needed_by_count));
        out.list("Opened by", &paths(&self.opened_by), more(self.opened_by_count));
        out.list("Same soname", &paths(&self.copies), self.copies.len());
    }
}

impl WhyFinding {
    fn write(&self, out: &mut Text) {
        let verdict = VERDICTS.shown(&self.verdict);
        let (bytes, all) = (human(self.bytes), human(self.finding_bytes));
        out.line("Finding", &format!("{} [{}]: {verdict}, {bytes} of {all}", self.title, self.id));
        out.line("", &self.reason);
        if let Some(question) = &self.question {
            out.line("", question);
        }
        for text in self.proof.iter().take(3) {
            out.line("", text);
        }
    }
}
