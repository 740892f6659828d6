//! The same instructions on a smaller base, without build-only packages.

use std::collections::BTreeSet;

use super::from::{self, config, described, install, installer, reference, settings};
use super::keep::{FileDisposition, Keep};
use super::packages::{PackageSelection, added};
use super::runs::Trim;
use super::stage::Final;
use super::state::{State, state};
use super::steps::{Kind, Steps};
use crate::base::size::human;
use crate::rewrite::draft::Draft;
use crate::rewrite::select::Selection;
use crate::rewrite::tidy::{Tidied, earlier_stages, entries};
use crate::rewrite::value::{Applicability, Edit};
use crate::rootfs::NodeKind;

/// The draft on the base of `keep`; `None` when nothing changes.
pub(super) fn draft(
    id: &'static str,
    stage: &Final<'_>,
    steps: &Steps<'_, '_>,
    keep: &Keep<'_, '_>,
    asked: &PackageSelection,
    tidied: &Tidied,
) -> Option<Draft> {
    let base = keep.base;
    let mut swap = Swap {
        stage,
        steps,
        keep,
        asked,
        tidied,
        edits: Vec::new(),
        trimmed: Vec::new(),
        left_out: Vec::new(),
        changes: false,
    };
    let mut names = added(keep, &asked.kept);
    swap.question();
    if !base.own {
        swap.from();
    }
    let set = settings(keep, stage.file, stage);
    let needed = names.clone();
    let mut first = keep.tools_among(&mut names);
    swap.packages(&mut names);
    first.extend(names);
    swap.head(&set, &first)?;
    if base.own && !swap.changes {
        // Clean-ups alone are another proposal.
        return None;
    }
    let mut edits = swap.edits;
    let (trimmed, left_out) = (swap.trimmed, swap.left_out);
    let is_free =
        |edit: &&Edit| !trimmed.iter().any(|span| span.start <= edit.at.start && edit.at.end <= span.end);
    edits.extend(tidied.edits.iter().filter(is_free).cloned());
    if edits.is_empty() {
        return None;
    }
    let config = config(keep, stage, &set);
    let mut assumed = tidied.assumed.clone();
    assumed.extend(from::assumed(stage, base));
    if !needed.is_empty() {
        assumed.push(format!(
            "The package repository configured in {} has these packages: {}.",
            base.reference,
            needed.join(", ")
        ));
    }
    if !asked.dropped.is_empty() {
        let list: Vec<&str> = asked.dropped.iter().map(String::as_str).collect();
        assumed
            .push(format!("No instruction needs these packages on the new base image: {}.", list.join(", ")));
    }
    assumed.extend(asked.assumption(keep.context));
    assumed.extend(asked.assumption_of_interpreters(keep.context));
    let languages = steps
        .list
        .iter()
        .any(|step| matches!(&step.kind, Kind::Run(works) if works.contains(&super::shell::Work::Language)));
    if languages && (!base.own || !asked.dropped.is_empty()) {
        assumed.push(
            "Packages installed by pip and similar tools come as wheels or need no compiler.".to_owned(),
        );
    }
    let title = match (base.own, base.flavor) {
        (true, _) => "Install no build packages, keep the base image".to_owned(),
        (false, _) => format!("Swap the base image for {}", base.reference),
    };
    Some(Draft {
        id,
        title,
        applicability: Applicability::Review,
        base_image: Some(base.reference.clone()),
        edits,
        selection: selection(keep, steps, asked, tidied, &left_out),
        stored_again: 0,
        environment: config.environment,
        entrypoint: config.entrypoint,
        stages: earlier_stages(stage.file),
        kept: config.kept,
        assumed,
        manual_steps: Vec::new(),
        hints: tidied.hints.clone(),
    })
}

struct Swap<'d, 'r, 's, 'p, 'k, 'w, 'a> {
    stage: &'d Final<'r>,
    steps: &'d Steps<'s, 'p>,
    keep: &'k Keep<'w, 'a>,
    asked: &'d PackageSelection,
    tidied: &'d Tidied,
    edits: Vec<Edit>,
    /// Rewritten parts of the file: clean-ups within them are part of the new text.
    trimmed: Vec<std::ops::Range<usize>>,
    /// Layers of removed instructions.
    left_out: Vec<u16>,
    /// Whether packages or settings change.
    changes: bool,
}

impl Swap<'_, '_, '_, '_, '_, '_, '_> {
    fn edit(&mut self, at: std::ops::Range<usize>, with: String, reason: String, bytes: Option<u64>) {
        self.edits.push(Edit { at, with, reason, applicability: Applicability::Review, bytes });
    }

    fn from(&mut self) {
        let base = self.keep.base;
        let Some(from) = self.stage.file.instructions.get(self.stage.base_from) else { return };
        let Some(word) = from.words.first() else { return };
        let gone = |node: &crate::rootfs::Node<'_>| {
            node.kind() == NodeKind::File
                && !self.keep.context.is_users(*node)
                && self.keep.fate(node.id()) == FileDisposition::Gone
        };
        let bytes: u64 = self.keep.context.rootfs.nodes().filter(gone).map(crate::rootfs::Node::bytes).sum();
        let what = described(base);
        let reason = format!(
            "Nothing is compiled here, so the image can start from {what}. That is {} less.",
            human(bytes)
        );
        self.edit(word.span.clone(), reference(self.stage, base), reason, Some(bytes));
    }

    /// A comment above the base image if much is left out that is not proven unused.
    fn question(&mut self) {
        let Some(from) = self.stage.file.instructions.get(self.stage.base_from) else { return };
        let context = self.keep.context;
        let going = going(self.keep, self.steps, self.asked);
        // The instructions bring again what is of no package of the system.
        let left_out = |node| {
            self.keep.fate(node) == FileDisposition::Gone
                && (!context.is_users(context.rootfs.node(node))
                    || context.system_owner(node).is_some_and(|owner| going.contains(&owner)))
        };
        let question = context.open_question(&left_out);
        if let Some(question) = question {
            let at = from.span.start;
            let end = self.stage.file.line_end();
            self.edit(
                at..at,
                format!("{question}{end}"),
                "Not proven unused: answer the questions of these findings.".to_owned(),
                None,
            );
        }
    }

    /// Installations without build-only packages; missing packages are added to the first one.
    fn packages(&mut self, names: &mut Vec<String>) {
        let file = self.stage.file;
        for (at, step) in self.steps.list.iter().enumerate() {
            let Kind::Run(works) = &step.kind else { continue };
            if !step.installs() || self.steps.is_opaque(at) {
                continue;
            }
            let (Some(run), Some(instruction)) = (self.steps.run(at), file.instructions.get(step.place))
            else {
                continue;
            };
            let extra: Vec<Edit> = self.tidied.within(&instruction.span).cloned().collect();
            let trim = Trim {
                file,
                instruction,
                run,
                works,
                dropped: &self.asked.dropped,
                added: names,
                extra: &extra,
                stays: &|_| true,
                lean: false,
                // Clean-ups are in `extra`.
                keeps_archives: false,
                keeps_lists: false,
            };
            let before = self.stage.text(step.place);
            let Some(text) = trim.text() else {
                let Some(span) = self.steps.tidying.whole(step.place) else { continue };
                self.trimmed.push(span.clone());
                self.changes = true;
                if self.stage.shared.is_none() {
                    self.left_out.extend(&step.layers);
                }
                self.edit(
                    span,
                    String::new(),
                    "Only a build needs these packages, and nothing is built here.".to_owned(),
                    None,
                );
                continue;
            };
            // Only changed instructions are rewritten.
            let dropped: Vec<&String> =
                self.asked.dropped.iter().filter(|name| before.contains(name.as_str())).collect();
            let is_added = trim.adds();
            let added = if is_added { names.as_slice() } else { &[] };
            let changes = is_added || !dropped.is_empty();
            let span = &instruction.span;
            let is_merged = self.tidied.edits.iter().any(|edit| {
                let (start, end) = (edit.at.start, edit.at.end);
                start < span.end && span.start < end && !(span.start <= start && end <= span.end)
            });
            // Clean-ups of merged instructions are edits of their own.
            let reason = reason(self.keep, &dropped, added, if is_merged { &[] } else { &extra });
            if is_merged && !reason.is_empty() {
                for (at, with) in (Trim { extra: &[], ..trim }).package_edits().unwrap_or_default() {
                    self.edit(at, with, reason.clone(), None);
                }
            } else if text != before && !reason.is_empty() {
                let span = instruction.span.start..instruction.span.start + before.len();
                let bytes = extra.iter().filter_map(|edit| edit.bytes).sum();
                self.trimmed.push(instruction.span.clone());
                self.edit(span, text, reason, Some(bytes).filter(|bytes| *bytes > 0));
            } else {
                continue;
            }
            self.changes |= changes;
            if is_added {
                names.clear();
            }
        }
    }

    /// Inserts after the `FROM`: variables, and packages if no instruction installs any. `None` if the
    /// installer is unknown.
    fn head(&mut self, set: &[String], names: &[String]) -> Option<()> {
        let file = self.stage.file;
        let from = file.instructions.get(self.stage.base_from)?;
        let lower = file.slice(&from.keyword_span).bytes().all(|byte| byte.is_ascii_lowercase());
        let word = |keyword: &str| if lower { keyword.to_lowercase() } else { keyword.to_owned() };
        let (end, escape) = (file.line_end(), file.escape);
        let mut text = String::new();
        let mut reasons = Vec::new();
        if !set.is_empty() {
            text.push_str(&word("ENV"));
            text.push(' ');
            text.push_str(&set.join(&format!(" {escape}{end}    ")));
            text.push_str(end);
            reasons.push(from::reason_of_settings(self.keep.context).to_owned());
        }
        if !names.is_empty() {
            let installer = installer(self.keep.context, self.keep.base, &self.steps.programs())?;
            text.push_str(&install(file, &word("RUN"), installer, names));
            text.push_str(end);
            reasons.push(format!("The image needs these packages: {}.", self.keep.with_causes(names)));
        }
        if !text.is_empty() {
            self.changes = true;
            // Instructions include the end of their last line.
            let mut at = from.span.end;
            if !file.text().get(..at).is_some_and(|before| before.ends_with('\n')) {
                at = from.span.end;
                text.insert_str(0, end);
                text.truncate(text.trim_end().len());
            }
            self.edit(at..at, text, reasons.join(" "), None);
        }
        Some(())
    }
}

fn reason(keep: &Keep<'_, '_>, dropped: &[&String], added: &[String], extra: &[Edit]) -> String {
    let mut sentences = Vec::new();
    if !dropped.is_empty() {
        let names: Vec<&str> = dropped.iter().map(|name| name.as_str()).collect();
        sentences.push(format!("Only a build needs these packages: {}.", names.join(", ")));
    }
    if !added.is_empty() {
        sentences.push(format!("Files that stay need these packages: {}.", keep.with_causes(added)));
    }
    for edit in extra {
        if !sentences.contains(&edit.reason) {
            sentences.push(edit.reason.clone());
        }
    }
    sentences.join(" ")
}

/// The content of the image with the same instructions on the new base.
fn selection(
    keep: &Keep<'_, '_>,
    steps: &Steps<'_, '_>,
    asked: &PackageSelection,
    tidied: &Tidied,
    left_out: &[u16],
) -> Selection {
    let context = keep.context;
    let mut selection = Selection::all(&entries(context.input));
    let base_layers = keep.base.layers..context.base_layers;
    for layer in base_layers.clone() {
        for entry in context.rootfs.layer(layer).entries() {
            selection.set(layer, entry, false);
        }
    }
    let going = going(keep, steps, asked);
    for node in context.rootfs.nodes() {
        if base_layers.contains(&node.layer()) {
            // Folders cost nothing, and a reinstalled package creates its own.
            let stays = match node.kind() {
                NodeKind::Directory => has_kept_below(keep, node),
                _ => keep.fate(node.id()) != FileDisposition::Gone,
            };
            if stays {
                selection.set_node(node, true);
            }
        } else if context.is_users(node) && node.kind() != NodeKind::Directory {
            let owner = context.system_owner(node.id());
            let of_going = owner.is_some_and(|owner| going.contains(&owner))
                || is_paper_of(context, &going, &node.path());
            if of_going {
                selection.set_node(node, false);
            }
        }
    }
    for layer in left_out {
        for entry in context.rootfs.layer(*layer).entries() {
            selection.set(*layer, entry, false);
        }
    }
    // Packages that another instruction installs now.
    for node in context.rootfs.nodes().filter(|node| left_out.contains(&node.layer())) {
        let is_installed = |place: &usize| keep.installed.contains(place);
        let stays = match state(&node.path()) {
            Some(State::PackagePapers(name)) => context.by_name.get(name.as_str()).is_some_and(is_installed),
            Some(State::Packages) => !keep.installed.is_empty(),
            _ => context.system_owner(node.id()).as_ref().is_some_and(is_installed),
        };
        if stays {
            selection.set_node(node, true);
        }
    }
    selection.leave_out(context.rootfs, &tidied.gone);
    selection
}

fn has_kept_below(keep: &Keep<'_, '_>, folder: crate::rootfs::Node<'_>) -> bool {
    let mut open = vec![folder];
    while let Some(node) = open.pop() {
        if node.kind() != NodeKind::Directory {
            if keep.fate(node.id()) != FileDisposition::Gone {
                return true;
            }
            continue;
        }
        open.extend(node.children());
    }
    false
}

/// Packages of the repeated instructions: the installer brings what they depend on, also where the current base has it.
pub(super) fn staying(keep: &Keep<'_, '_>, steps: &Steps<'_, '_>, asked: &PackageSelection) -> Vec<usize> {
    let context = keep.context;
    let going = going(keep, steps, asked);
    let packages = context.input.inventory.packages.iter().enumerate();
    packages
        .filter(|(place, package)| {
            package.is_of_system() && package.layer >= context.base_layers && !going.contains(place)
        })
        .map(|(place, _)| place)
        .collect()
}

/// Packages that are no longer installed: the dropped ones, and those that were installed only with them.
fn going(keep: &Keep<'_, '_>, steps: &Steps<'_, '_>, asked: &PackageSelection) -> BTreeSet<usize> {
    let context = keep.context;
    let stays = context.with_dependencies(asked.kept.iter().copied().chain(keep.installed.iter().copied()));
    let mut going = BTreeSet::new();
    for (at, step) in steps.list.iter().enumerate().filter(|(_, step)| step.installs()) {
        let drops = steps.asked().iter().any(|(place, name)| *place == at && asked.dropped.contains(name));
        if !drops || steps.is_opaque(at) {
            continue;
        }
        let packages = context.input.inventory.packages.iter().enumerate();
        going.extend(
            packages
                .filter(|(place, package)| {
                    package.is_of_system() && step.layers.contains(&package.layer) && !stays.contains(place)
                })
                .map(|(place, _)| place),
        );
    }
    going
}

fn is_paper_of(context: &super::context::SplitContext<'_>, going: &BTreeSet<usize>, path: &[u8]) -> bool {
    let Some(State::PackagePapers(name)) = state(path) else { return false };
    context.by_name.get(name.as_str()).is_some_and(|place| going.contains(place))
}
