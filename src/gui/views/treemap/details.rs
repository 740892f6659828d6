//! What the tooltip of a cell adds: layer, owner, class and findings.

use std::sync::Arc;

use crate::base::text::{elide_middle, printable};
use crate::gui::models::background::Same;
use crate::gui::models::files::FileTree;
use crate::gui::models::treemap_colors::{inode, owner, owner_name};
use crate::gui::views::ViewContext;
use crate::report::short_instruction;
use crate::rootfs::PathId;

/// Titles of findings in a tooltip.
const MOST_FINDINGS: usize = 3;
/// Letters of a line.
const LINE: usize = 90;

/// The facts of the cell under the pointer, found once and not on each frame.
#[derive(Default)]
pub(super) struct HoverFacts {
    of: Option<(u64, Same<FileTree>, PathId)>,
    lines: Vec<String>,
}

impl HoverFacts {
    pub(super) fn of(&mut self, context: &ViewContext<'_>, tree: &Arc<FileTree>, path: PathId) -> &[String] {
        let key = (context.generation, Same(Arc::clone(tree)), path);
        if self.of.as_ref() != Some(&key) {
            self.lines = lines(context, tree, path);
            self.of = Some(key);
        }
        &self.lines
    }
}

fn lines(context: &ViewContext<'_>, tree: &FileTree, path: PathId) -> Vec<String> {
    let analysis = context.analysis;
    let Some(version) = tree.version(path).filter(|_| !tree.is_folder(path)) else { return Vec::new() };
    let mut lines = Vec::new();
    let Some(inode) = inode(tree, &version) else { return lines };
    let source = analysis.image.layers.get(usize::from(inode.0));
    if let Some(instruction) = source.and_then(|source| source.created_by.as_deref()) {
        let text = printable(&crate::base::redact::instruction(&short_instruction(instruction)));
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        lines.push(format!("Layer {}: {}", inode.0, elide_middle(&text, LINE)));
    }
    if let Some(inventory) = analysis.inventory.as_deref() {
        let package = owner(analysis, &version).and_then(|place| inventory.packages.get(place));
        lines.push(match package {
            Some(package) => format!("Owner: {}", owner_name(package.manager, &package.name)),
            None => "Owner: no package".to_owned(),
        });
        if let Some(class) = inventory.classes.of(inode.0, inode.1) {
            lines.push(format!("Class: {}", class.label()));
        }
    }
    if let Some(findings) = analysis.findings.as_deref() {
        let about = findings
            .list
            .iter()
            .filter(|finding| finding.items.iter().any(|item| (item.layer, item.entry) == inode));
        let about: Vec<_> = about.collect();
        let all = findings.together(about.iter().map(|finding| &*finding.id));
        lines.extend(all.map(|all| all.words()));
        let found: Vec<String> = about
            .iter()
            .map(|finding| {
                format!("{}: {}", finding.verdict.label(), elide_middle(&printable(&finding.title), LINE))
            })
            .collect();
        let more = found.len().saturating_sub(MOST_FINDINGS);
        lines.extend(found.into_iter().take(MOST_FINDINGS));
        if more > 0 {
            lines.push(format!("{more} more findings"));
        }
    }
    lines
}
