//! Hints beyond edits: content to exclude from the build context, and files shadowed by an instruction that cannot be
//! merged.

use std::collections::BTreeMap;

use super::context::{Kind, TidyContext, is_within};
use super::work::Work;
use crate::base::text::escape;
use crate::formats::dockerfile::{Instruction, Keyword};
use crate::rewrite::value::Hint;

/// Smallest saving for a hint about a pair of instructions.
const LEAST_BYTES: u64 = 1 << 20;

/// Maximum pairs in hints; the largest.
const MOST: usize = 8;

/// Maximum proposed lines of a `.dockerignore`; the largest.
const LINES: usize = 32;

/// Content of `COPY . …` that a `.dockerignore` excludes: the file is part of the proposal, and its bytes count.
pub(super) fn ignore(work: &mut Work<'_>) {
    let context = work.context;
    let mut lines: BTreeMap<String, u64> = BTreeMap::new();
    let mut from = Vec::new();
    for (place, copy) in context.file.instructions.iter().enumerate().filter(|(_, one)| is_whole_context(one))
    {
        let target = copy.words.last().and_then(|target| context.absolute(place, &target.text));
        // Including files that an edit removes: their copy in an upper layer stays.
        let waste = context.waste_of(context.layers(place));
        let waste: Vec<_> = waste.filter(|one| one.bytes > 0 && one.kind != Kind::Other).collect();
        work.take(&waste);
        for one in &waste {
            let path = context.look.path(one.layer, one.entry);
            let below = target.as_deref().filter(|target| is_within(&path, target));
            let Some(relative) = path.get(below.map_or(0, str::len)..) else { continue };
            let sum = lines.entry(line(relative)).or_default();
            *sum = sum.saturating_add(one.bytes);
        }
        if !waste.is_empty() {
            from.push(context.line(place).to_string());
        }
    }
    let bytes = lines.values().fold(0_u64, |sum, bytes| sum.saturating_add(*bytes));
    let mut lines: Vec<(String, u64)> = lines.into_iter().collect();
    lines.sort_by_key(|(_, bytes)| std::cmp::Reverse(*bytes));
    lines.truncate(LINES);
    let mut lines: Vec<String> = lines.into_iter().map(|(line, _)| line).collect();
    lines.sort();
    if !lines.is_empty() {
        work.hints.push(Hint {
            file: ".dockerignore".to_owned(),
            lines,
            reason: format!(
                "The build context copied on line {} contains them; nothing reads them at run time.",
                from.join(", ")
            ),
            bytes: Some(bytes),
        });
    }
}

/// Whether an instruction copies the whole build context.
fn is_whole_context(instruction: &Instruction) -> bool {
    let is_copy = matches!(instruction.keyword, Keyword::Copy | Keyword::Add);
    let of_context = !instruction.flags.iter().any(|flag| flag.name == "from");
    let sources = instruction.words.split_last().map(|(_, sources)| sources).unwrap_or_default();
    is_copy
        && of_context
        && sources.iter().any(|source| matches!(source.text.as_str(), "." | "./" | "*" | "./*" | "/"))
}

/// The pattern that excludes a file, by its path in the context.
fn line(path: &[u8]) -> String {
    /// Folders excluded as a whole, by name. `build`, `target` and `dist` may contain what the image runs: of these,
    /// files are listed.
    const FOLDERS: [&str; 8] = [
        ".git",
        "__pycache__",
        ".cache",
        ".npm",
        "node_modules/.cache",
        "CMakeFiles",
        ".ninja_deps",
        ".pytest_cache",
    ];
    let shown = escape(path);
    let shown = shown.trim_start_matches('/');
    let parts: Vec<&str> = shown.split('/').collect();
    let folders = parts.get(..parts.len().saturating_sub(1)).unwrap_or_default();
    for (at, part) in folders.iter().enumerate() {
        let is_cache = *part == "node_modules" && folders.get(at + 1) == Some(&".cache");
        if is_cache {
            return "**/node_modules/.cache".to_owned();
        }
        if FOLDERS.contains(part) {
            return if at == 0 && *part == ".git" { (*part).to_owned() } else { format!("**/{part}") };
        }
    }
    match parts.last().and_then(|name| name.rsplit_once('.')) {
        Some((stem, extension))
            if !stem.is_empty() && matches!(extension, "o" | "obj" | "lo" | "la" | "whl" | "pyc") =>
        {
            format!("**/*.{extension}")
        }
        _ => shown.to_owned(),
    }
}

/// Files of one instruction that another one shadows, if no edit helps.
pub(super) fn hidden(work: &mut Work<'_>) {
    let context = work.context;
    // By pair of layers: bytes, and those stored again.
    let mut pairs: BTreeMap<(u16, u16), (u64, u64)> = BTreeMap::new();
    for one in context.waste.iter().filter(|one| !work.gone.contains(&(one.layer, one.entry))) {
        let Some(by) = one.by.filter(|by| *by != one.layer) else { continue };
        let sums = pairs.entry((one.layer, by)).or_default();
        sums.0 = sums.0.saturating_add(one.bytes);
        sums.1 = sums.1.saturating_add(if one.copy.is_some() { one.bytes } else { 0 });
    }
    let mut pairs: Vec<_> = pairs.into_iter().filter(|(_, (bytes, _))| *bytes >= LEAST_BYTES).collect();
    pairs.sort_by_key(|(pair, (bytes, _))| (std::cmp::Reverse(*bytes), *pair));
    for ((layer, by), (bytes, copied)) in pairs.into_iter().take(MOST) {
        let (Some(maker), Some(hider)) = (context.maker(layer), context.maker(by)) else { continue };
        if maker == hider {
            continue;
        }
        let (one, other) = (told(context, maker), told(context, hider));
        let reason = if copied > bytes / 2 {
            format!(
                "The {other} copies files of the {one} to change owner, mode or time: set these where the files are added."
            )
        } else if matches!(context.instruction(maker).map(|one| one.keyword), Some(Keyword::Run)) {
            format!(
                "The {other} deletes or overwrites files of the {one}: delete them there, or merge the two by hand."
            )
        } else {
            format!(
                "The {other} deletes or overwrites files of the {one}: do not add them there, or provide them to one RUN with RUN --mount=type=bind."
            )
        };
        work.hint(Vec::new(), reason, Some(bytes));
    }
}

fn told(context: &TidyContext<'_>, place: usize) -> String {
    context
        .instruction(place)
        .map_or_else(String::new, |one| format!("{} of line {}", one.keyword.as_str(), one.line))
}
