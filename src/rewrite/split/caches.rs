//! Further names of files in caches that the plan removes.

use hashbrown::HashSet;

use crate::cuda::links::{Paths, folder_of};
use crate::findings::{Category, Finding};
use crate::rewrite::input::Input;
use crate::rootfs::{Node, NodeId, NodeKind, PathBuffer, Rootfs};

/// Hard and symbolic links in caches of package managers of which nothing stays. Findings list the files that store bytes
/// and have no name outside; a stage that copied these names would store them again.
pub(super) fn links_in_caches(input: &Input<'_>) -> HashSet<NodeId> {
    let rootfs = &input.merge.rootfs;
    let tree = Paths::new(rootfs);
    let mut walker = input.catalog.walker();
    let mut paths = PathBuffer::default();
    let mut rule_of = |node: NodeId| {
        let rule = walker.path(paths.of(rootfs.node(node))).devel;
        rule.filter(|rule| rule.category == "package-caches").map(|rule| rule.id.as_str())
    };
    let stay =
        |finding: &&Finding| finding.category == Category::PackageCaches && !input.plan.contains(&finding.id);
    let items = input.findings.list.iter().filter(stay).flat_map(|finding| &finding.items);
    let staying: HashSet<&str> = items.filter_map(|item| rule_of(item.node?)).collect();
    let is_link = |node: &Node<'_>| {
        node.kind() == NodeKind::Symlink || node.kind() == NodeKind::File && node.has_other_names()
    };
    let links = rootfs.nodes().filter(is_link).map(Node::id);
    let links: Vec<(NodeId, &str)> = links
        .filter_map(|link| Some((link, rule_of(link).filter(|rule| !staying.contains(rule))?)))
        .collect();
    let links = links.into_iter().filter(|(link, rule)| {
        let node = rootfs.node(*link);
        match node.content() {
            // The content stays under a name outside.
            Some((layer, entry)) if node.kind() == NodeKind::File => {
                rootfs.all_names(layer, entry).any(|name| rule_of(name) != Some(*rule))
            }
            // What it leads to is in the same cache, or was there. A link out of it was made by somebody.
            _ => match tree.lookup(&node.path()) {
                Some(target) => rule_of(target) == Some(*rule),
                None => lost_target(rootfs, node).is_some_and(|path| {
                    input.catalog.path_rules(&path).devel.is_some_and(|found| found.id == **rule)
                }),
            },
        }
    });
    links.map(|(link, _)| link).collect()
}

/// The absolute path to which a link leads that leads nowhere, as it is written.
fn lost_target(rootfs: &Rootfs, node: Node<'_>) -> Option<Vec<u8>> {
    let link = rootfs.layer(node.layer()).link(node.entry()?)?;
    let path = node.path();
    let whole = if link.starts_with(b"/") { link.to_vec() } else { [folder_of(&path), b"/", link].concat() };
    let mut parts: Vec<&[u8]> = Vec::new();
    for part in whole.split(|byte| *byte == b'/').filter(|part| !part.is_empty() && *part != b".") {
        if part == b".." {
            parts.pop();
        } else {
            parts.push(part);
        }
    }
    Some(parts.iter().flat_map(|part| [b"/", *part].concat()).collect())
}
