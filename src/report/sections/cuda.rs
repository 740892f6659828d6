//! CUDA: toolkits, frameworks, the stack, components, and what is missing.

use super::Content;
use super::libraries::libraries_table;
use super::make::{
    UNKNOWN, cell, fact, headed, label, name, number, one_line, paragraph, path, row, text, unknown,
};
use crate::base::labels::{FLAVORS, LEVELS, STACK_SUPPLIERS, STRATEGIES, SUPPLIERS};
use crate::base::size::{grouped, human};
use crate::base::text::counted;
use crate::report::cuda::{
    ComponentLine, CudaPart, FrameworkLine, StackLine, ToolkitLine, UnresolvedLine, WeightLine,
};
use crate::report::model::Report;
use crate::report::page::{Block, Column, Line, Tone};

/// Maximum toolkits and frameworks, one per line: images have one to five.
const LINES: usize = 20;
/// Levels of the stack: there are ten.
const STACK_LEVELS: usize = 12;
/// Components: the catalogue names about forty.
const COMPONENTS: usize = 60;
/// Names that lead nowhere, and model files.
const NAMES: usize = 30;
/// Characters of a line about a framework or a level.
const WORDS: usize = 240;

pub(super) fn section(report: &Report) -> Content {
    let Some(cuda) = &report.cuda else {
        return unknown("CUDA contents unknown: the image was not analysed completely.");
    };
    let mut facts: Vec<_> = cuda.toolkits.iter().take(LINES).map(toolkit).collect();
    facts.extend(cuda.frameworks.iter().take(LINES).map(framework));
    let left_out =
        cuda.toolkits.len().saturating_sub(LINES).saturating_add(cuda.frameworks.len().saturating_sub(LINES));
    if left_out > 0 {
        facts.push(fact("And", counted(left_out, "more toolkit or framework")));
    }
    let mut blocks = Vec::new();
    if cuda.libraries.is_empty() && cuda.gpu_code.is_empty() && cuda.frameworks.is_empty() {
        blocks.push(paragraph("No CUDA libraries, GPU code or frameworks found."));
    }
    if !facts.is_empty() {
        blocks.push(Block::Facts(facts));
    }
    blocks.extend(stack(&cuda.stack));
    blocks.extend(components(cuda));
    blocks.extend(libraries_table(&cuda.libraries));
    blocks.extend(weights(&cuda.weights));
    blocks.extend(unresolved(&cuda.unresolved));
    let note = match cuda.libraries.len() {
        0 => String::new(),
        count => counted(count, "library"),
    };
    (note, blocks)
}

fn toolkit(toolkit: &ToolkitLine) -> (String, Line) {
    let version = toolkit.version.as_deref().map_or_else(|| "unknown version".to_owned(), name);
    let cudnn = toolkit
        .cudnn_version
        .as_ref()
        .map_or_else(String::new, |version| format!(", cuDNN {}", name(version)));
    let text =
        format!("{version}, {}{cudnn}, in {}", label(&FLAVORS, &toolkit.flavor), path(&toolkit.root).text);
    fact("Toolkit", text)
}

fn framework(framework: &FrameworkLine) -> (String, Line) {
    let version = framework.version.as_deref().map_or_else(|| "unknown version".to_owned(), name);
    let built =
        framework.cuda_version.as_ref().map_or_else(String::new, |cuda| format!(", for CUDA {}", name(cuda)));
    let strategy = match &*framework.strategy {
        "none" => String::new(),
        strategy => format!(", {}", label(&STRATEGIES, strategy)),
    };
    fact("Framework", format!("{} {version}{built}{strategy}", name(&framework.name)))
}

fn stack(stack: &[StackLine]) -> Vec<Block> {
    let columns = [text("Level"), text("Contents"), text("Supplied by"), text("Note")];
    let line = |level: &StackLine| {
        let by: Vec<String> =
            level.supplied_by.split(", ").take(LINES).map(|by| label(&STACK_SUPPLIERS, by)).collect();
        let by = Line::plain(by.join(", "));
        let by = if level.supplied_by.contains("missing") { by.tone(Tone::Bad) } else { by };
        let what = Line::plain(one_line(&level.name, WORDS));
        let note = Line::plain(level.note.as_deref().map_or_else(String::new, |note| one_line(note, WORDS)));
        row([Line::plain(label(&LEVELS, &level.level)), what, by, note])
    };
    headed("CUDA stack", columns, "levels", (stack, STACK_LEVELS), line)
}

fn components(cuda: &CudaPart) -> Vec<Block> {
    let columns: [Column; 5] =
        [number("Bytes"), text("Component"), number("Files"), number("In use"), text("Supplied by")];
    let line = |component: &ComponentLine| {
        let files =
            cuda.libraries.iter().filter(|one| one.component == component.name && one.hardlink_of.is_none());
        let used = files.filter(|one| one.usage != "unreferenced").count();
        let by: Vec<String> =
            component.suppliers.iter().take(LINES).map(|by| label(&SUPPLIERS, by)).collect();
        row([
            Line::plain(human(component.bytes)),
            cell(&component.name),
            Line::plain(grouped(component.libraries as u64)),
            Line::plain(grouped(used as u64)),
            Line::plain(by.join(", ")),
        ])
    };
    headed("Libraries by component", columns, "components", (&cuda.components, COMPONENTS), line)
}

fn weights(weights: &[WeightLine]) -> Vec<Block> {
    let mut largest: Vec<&WeightLine> = weights.iter().collect();
    largest.sort_by(|a, b| b.bytes.cmp(&a.bytes).then_with(|| a.path.cmp(&b.path)));
    let columns = [number("Bytes"), text("File"), text("Format")];
    let line = |one: &&WeightLine| row([Line::plain(human(one.bytes)), path(&one.path), cell(&one.format)]);
    headed("Model weights, largest first", columns, "files", (&largest, NAMES), line)
}

fn unresolved(unresolved: &[UnresolvedLine]) -> Vec<Block> {
    let columns = [text("Name"), text("Needed by")];
    let line = |one: &UnresolvedLine| {
        let name = if one.name.is_empty() { Line::plain(UNKNOWN) } else { path(&one.name) };
        row([name, path(&one.path)])
    };
    headed("Missing libraries (unresolved NEEDED)", columns, "names", (unresolved, NAMES), line)
}
