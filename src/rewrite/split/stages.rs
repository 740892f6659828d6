//! Two stages: the current instructions up to the last one that builds become a build stage, and a smaller final stage
//! repeats what is needed at run time and copies the results.

use super::LITTLE;
use super::from::{self, config, described, reference, settings};
use super::keep::{FileDisposition, Keep};
use super::lines::{Lines, last_making};
use super::packages::{PackageSelection, without_recommended};
use super::stage::Final;
use super::steps::Steps;
use crate::base::size::human;
use crate::formats::dockerfile::{PieceKind, Span};
use crate::layer::{EntryId, EntryKind};
use crate::rewrite::draft::Draft;
use crate::rewrite::input::Input;
use crate::rewrite::select::Selection;
use crate::rewrite::tidy;
use crate::rewrite::value::{Applicability, Edit, StageSize};
use crate::rootfs::{Node, NodeKind};

/// The draft whose final stage uses the base of `keep`; `None` when no instruction builds.
pub(super) fn draft(
    id: &'static str,
    input: &Input<'_>,
    stage: &Final<'_>,
    steps: &Steps<'_, '_>,
    keep: &Keep<'_, '_>,
    asked: &PackageSelection,
) -> Option<Draft> {
    let base = keep.base;
    let last = last_making(steps, 0)?;
    // Stages used by others are unchanged; only the last one is split.
    let place = steps.list.get(last)?.place;
    if place < stage.from {
        return None;
    }
    let tidied = tidy::of_tail(steps.tidying, place + 1);
    let build = stage.build_name();
    let mut lines = Lines::new(stage, keep, steps, (last, &build), asked, &tidied);
    let set = settings(keep, stage.file, stage);
    lines.write();
    if let Some(user) = lines.missing_user() {
        lines
            .manual_steps
            .push(format!("no command of the new stage makes the user {user}: make it before USER"));
    }
    if lines.is_unknown {
        return None;
    }
    let merged = input.merge.merged_bytes;
    // A second stage that installs the same packages again must leave something behind.
    if base.own && asked.dropped.is_empty() && left_behind(keep) < LITTLE.min(merged / 100) {
        return None;
    }
    let at = split_at(stage, place);
    let mut writer = Writer { stage, keep, build: &build, at, is_first: true, edits: Vec::new() };
    writer.build_stage(&lines, steps);
    writer.final_stage(&lines, &set);
    writer.tail(&lines, &tidied);
    let edits = writer.edits;
    let config = config(keep, stage, &set);
    let mut assumed = lines.assumed.clone();
    assumed.extend(tidied.assumed.iter().cloned());
    assumed.extend(from::assumed(stage, base));
    if !asked.dropped.is_empty() {
        let dropped: Vec<&str> = asked.dropped.iter().map(String::as_str).collect();
        assumed.push(format!("Only the build stage needs these packages: {}.", dropped.join(", ")));
    }
    assumed.extend(asked.assumption(keep.context));
    assumed.extend(asked.assumption_of_interpreters(keep.context));
    assumed.extend(keep.assumption_of_archives());
    assumed.extend(without_recommended(steps, keep, asked));
    let title = if base.own {
        "Multi-stage: build first, run on the same base image".to_owned()
    } else {
        format!("Multi-stage: run on {}", base.reference)
    };
    Some(Draft {
        id,
        title,
        applicability: Applicability::Review,
        base_image: Some(base.reference.clone()),
        edits,
        selection: selection(keep, &lines, &tidied),
        stored_again: lines.stored_again,
        environment: config.environment,
        entrypoint: config.entrypoint,
        stages: stages(input, stage, steps, last, &[&lines.removed[..], &lines.pruned].concat(), &build),
        kept: config.kept,
        assumed,
        manual_steps: lines.manual_steps.clone(),
        hints: tidied.hints.clone(),
    })
}

/// Characters of a line above which its paths are written below one another.
const WIDE: usize = 100;

/// Writes the edits.
struct Writer<'d, 'r, 'w, 'a> {
    stage: &'d Final<'r>,
    keep: &'d Keep<'w, 'a>,
    /// The name of the build stage.
    build: &'d str,
    /// Offset at which the new stage is inserted.
    at: usize,
    /// Whether nothing has been inserted there yet.
    is_first: bool,
    edits: Vec<Edit>,
}

impl Writer<'_, '_, '_, '_> {
    fn word(&self, keyword: &str) -> String {
        let file = self.stage.file;
        let from = file.instructions.get(self.stage.from).map(|from| file.slice(&from.keyword_span));
        let lower = from.is_some_and(|from| from.bytes().all(|byte| byte.is_ascii_lowercase()));
        if lower { keyword.to_lowercase() } else { keyword.to_owned() }
    }

    fn edit(&mut self, at: Span, with: String, reason: impl Into<String>, bytes: Option<u64>) {
        let reason = reason.into();
        self.edits.push(Edit { at, with, reason, applicability: Applicability::Review, bytes });
    }

    /// Inserts lines of the new stage.
    fn put(&mut self, text: &str, reason: impl Into<String>, bytes: Option<u64>) {
        let end = self.stage.file.line_end();
        let mut text = text.replace("\r\n", "\n").replace('\n', end);
        let before = self.stage.file.text().get(..self.at);
        if self.is_first && !before.is_some_and(|before| before.ends_with('\n')) {
            text.insert_str(0, end);
        }
        self.is_first = false;
        self.edit(self.at..self.at, format!("{text}{end}"), reason, bytes);
    }

    /// Names the current stage, divides it, and removes superfluous copied files at its end.
    fn build_stage(&mut self, lines: &Lines<'_, '_, '_, '_, '_>, steps: &Steps<'_, '_>) {
        let file = self.stage.file;
        let Some(from) = file.instructions.get(self.stage.from) else { return };
        let division = lines.division.as_ref();
        let first = division.map_or(self.build, |division| &division.name);
        let (at, name) = match from.words.get(2) {
            Some(name) => (name.span.clone(), first.to_owned()),
            None => (from.arguments.end..from.arguments.end, format!(" {} {first}", self.word("AS"))),
        };
        self.edit(at, name, "Becomes the build stage: the image contains only what is copied from it.", None);
        if let Some(division) = division
            && let Some(step) = steps.list.get(division.step)
        {
            let at = split_at(self.stage, step.place);
            let end = file.line_end();
            let blank = if ends_with_blank(file.text(), at) { "" } else { end };
            let (from, named, build) = (self.word("FROM"), self.word("AS"), self.build);
            self.edit(
                at..at,
                format!("{blank}{from} {} {named} {build}{end}", division.name),
                "The previous stage contains only the dependencies: a code change does not rebuild them.",
                None,
            );
        }
        for (command, bytes) in &lines.pruned {
            let text = format!("{} {command}", self.word("RUN"));
            self.put(
                &text,
                "The build needs the packages for development, the service does not.",
                Some(*bytes),
            );
        }
        self.remove(&lines.removed);
        if let Some(command) = &lines.collected {
            let text = format!("{} {command}", self.word("RUN"));
            self.put(
                &text,
                "The names contain a version: listed in COPY, the next one would not be found.",
                None,
            );
        }
        if let Some((division, (name, removed))) =
            division.and_then(|division| Some((division, division.without.as_ref()?)))
        {
            let gap = if self.is_first && ends_with_blank(file.text(), self.at) { "" } else { "\n" };
            let (from, named) = (self.word("FROM"), self.word("AS"));
            self.put(
                &format!("{gap}{from} {} {named} {name}", division.name),
                "The build may use what this stage removes.",
                None,
            );
            self.remove(removed);
        }
    }

    fn remove(&mut self, removed: &[(String, u64)]) {
        if removed.is_empty() {
            return;
        }
        let paths: Vec<&str> = removed.iter().map(|(path, _)| path.as_str()).collect();
        let bytes = removed.iter().map(|(_, bytes)| bytes).sum();
        let mut text = format!("{} rm -rf {}", self.word("RUN"), paths.join(" "));
        if paths.len() > 1 && text.len() > WIDE {
            text = format!(
                "{} rm -rf {}",
                self.word("RUN"),
                paths.join(&format!(" {}\n    ", self.stage.file.escape))
            );
        }
        self.put(&text, "Unused at run time, but inside copied folders.", Some(bytes));
    }

    fn final_stage(&mut self, lines: &Lines<'_, '_, '_, '_, '_>, set: &[String]) {
        let (file, base) = (self.stage.file, self.keep.base);
        let name = file.instructions.get(self.stage.from).and_then(|from| from.words.get(2));
        let name = name.map(|name| format!(" {} {}", self.word("AS"), file.slice(&name.span)));
        let flags = file.instructions.get(self.stage.base_from).map(|from| from.flags.as_slice());
        let flags = flags.unwrap_or_default().iter().map(|flag| format!("{} ", file.slice(&flag.span)));
        let flags: String = flags.collect();
        let is_apart = self.is_first && ends_with_blank(file.text(), self.at);
        let gap = if is_apart { "" } else { "\n" };
        let nodes = self.keep.context.rootfs.nodes().filter(|node| node.kind() == NodeKind::File);
        let gone =
            nodes.filter(|node| self.keep.fate(node.id()) == FileDisposition::Gone).map(Node::bytes).sum();
        let question = self.keep.context.open_question(&|node| self.keep.fate(node) == FileDisposition::Gone);
        let question = question.map_or_else(String::new, |question| format!("{question}\n"));
        let (from, reference) = (self.word("FROM"), reference(self.stage, base));
        self.put(
            &format!("{gap}{question}{from} {flags}{reference}{}", name.unwrap_or_default()),
            format!("The image starts from {}. The build stage keeps {}.", described(base), human(gone)),
            Some(gone),
        );
        if !set.is_empty() {
            let text = format!("{} {}", self.word("ENV"), set.join(&format!(" {}\n    ", file.escape)));
            self.put(&text, from::reason_of_settings(self.keep.context), None);
        }
        for line in &lines.text {
            self.put(&line.text, line.reason.clone(), None);
        }
    }

    /// Changes of the instructions that follow.
    fn tail(&mut self, lines: &Lines<'_, '_, '_, '_, '_>, tidied: &tidy::Tidied) {
        for (at, with, reason) in &lines.edits {
            self.edit(at.clone(), with.clone(), reason.clone(), None);
        }
        let replaced: Vec<Span> = self.edits.iter().map(|edit| edit.at.clone()).collect();
        let is_free = |one: &&Edit| {
            !replaced.iter().any(|at| at.start < at.end && at.start <= one.at.start && one.at.end <= at.end)
        };
        self.edits.extend(tidied.edits.iter().filter(is_free).cloned());
    }
}

fn stages(
    input: &Input<'_>,
    stage: &Final<'_>,
    steps: &Steps<'_, '_>,
    last: usize,
    removed: &[(String, u64)],
    build: &str,
) -> Vec<StageSize> {
    let mut stages = tidy::earlier_stages(stage.file);
    // Content of later instructions is in the final stage only.
    let later = steps.list.iter().skip(last + 1).flat_map(|step| &step.layers).min();
    let later = later.filter(|_| stage.shared.is_none());
    let nodes = input.merge.rootfs.nodes().filter(|node| node.kind() == NodeKind::File);
    // A later change of attributes stores a file again that the build stage has too.
    let is_of_later = |node: &Node<'_>| steps.origin(*node).is_none_or(|step| step > last);
    let later: u64 = nodes
        .filter(|node| later.is_some_and(|later| node.layer() >= *later) && is_of_later(node))
        .map(Node::bytes)
        .sum();
    let removed: u64 = removed.iter().map(|(_, bytes)| bytes).sum();
    stages.push(StageSize {
        name: build.to_owned(),
        base: stage.base.clone(),
        merged_bytes: Some(input.merge.merged_bytes.saturating_sub(later).saturating_sub(removed)),
    });
    stages
}

/// Bytes that only a build stage keeps out of the image: not those of packages, nor those that a clean-up removes.
fn left_behind(keep: &Keep<'_, '_>) -> u64 {
    const CLEANED: [&[u8]; 5] =
        [b"/root/.cache/", b"/root/.npm/", b"/var/cache/", b"/var/lib/apt/", b"/var/log/"];
    let context = keep.context;
    let is_left = |node: &Node<'_>| {
        node.kind() == NodeKind::File
            && keep.fate(node.id()) == FileDisposition::Gone
            && context.system_owner(node.id()).is_none()
            && !CLEANED.iter().any(|folder| node.path().starts_with(folder))
            && !node.name().ends_with(b".pyc")
    };
    context.rootfs.nodes().filter(is_left).map(Node::bytes).sum()
}

fn ends_with_blank(text: &str, at: usize) -> bool {
    let before = text.get(..at).unwrap_or_default();
    before.ends_with("\n\n") || before.ends_with("\n\r\n")
}

/// The start of the new stage: after the last instruction that builds, before the comments of the next one.
fn split_at(stage: &Final<'_>, place: usize) -> usize {
    let pieces = &stage.file.pieces;
    let Some(at) = pieces.iter().position(|piece| piece.kind == PieceKind::Instruction(place)) else {
        return stage.file.text().len();
    };
    let mut end = pieces[at].span.end;
    for piece in &pieces[at + 1..] {
        if piece.kind != PieceKind::Blank {
            break;
        }
        end = piece.span.end;
    }
    end
}

/// The content of the new image: the new base, installed packages, and copies.
fn selection(keep: &Keep<'_, '_>, lines: &Lines<'_, '_, '_, '_, '_>, tidied: &tidy::Tidied) -> Selection {
    let rootfs = keep.context.rootfs;
    let entries = tidy::entries(keep.context.input);
    let mut selection = Selection::prefix(&entries, usize::from(keep.base.layers));
    for node in rootfs.nodes() {
        let fate = keep.fate(node.id());
        let stays = lines.covered.contains(&node.id())
            || matches!(
                fate,
                FileDisposition::Base | FileDisposition::Installed | FileDisposition::Rewritten
            );
        if !stays {
            continue;
        }
        selection.set_node(node, true);
        let mut above = node.parent();
        while above.id() != crate::rootfs::NodeId::ROOT {
            if let Some(entry) = above.entry() {
                selection.set(above.layer(), entry, true);
            }
            above = above.parent();
        }
    }
    for hidden in rootfs.hidden().iter().filter(|hidden| lines.stored_twice(hidden.layer, hidden.by)) {
        selection.set(hidden.layer, hidden.entry, true);
        // The whiteouts that remove it are in the new stage too.
        let index = rootfs.layer(hidden.by);
        let is_removal =
            |entry: &EntryId| matches!(index.kind(*entry), EntryKind::Whiteout | EntryKind::Opaque);
        index.entries().filter(is_removal).for_each(|entry| selection.set(hidden.by, entry, true));
    }
    for (layer, entry) in &tidied.gone {
        selection.set(*layer, *entry, false);
    }
    selection
}
