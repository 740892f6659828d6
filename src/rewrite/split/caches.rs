//! Further names of files in caches that the plan removes.

use hashbrown::HashSet;

use crate::findings::{Category, Finding};
use crate::rewrite::input::Input;
use crate::rootfs::{NodeId, NodeKind, PathBuffer};

/// Hard and symbolic links in caches of package managers that the plan removes as a whole. Findings list the files that
/// store bytes; a stage that copied these names would store them again.
pub(super) fn links_in_caches(input: &Input<'_>) -> HashSet<NodeId> {
    let rootfs = &input.merge.rootfs;
    let mut walker = input.catalog.walker();
    let mut paths = PathBuffer::default();
    let mut rule_of =
        |node: NodeId| walker.path(paths.of(rootfs.node(node))).devel.map(|rule| rule.id.as_str());
    let mut rules = |goes: bool| -> HashSet<&str> {
        let is_wanted = |finding: &&Finding| {
            finding.category == Category::PackageCaches && input.plan.contains(&finding.id) == goes
        };
        let findings = input.findings.list.iter().filter(is_wanted);
        findings.flat_map(|finding| &finding.items).filter_map(|item| rule_of(item.node?)).collect()
    };
    let (going, staying) = (rules(true), rules(false));
    if going.is_empty() {
        return HashSet::new();
    }
    let is_link = |node: &crate::rootfs::Node<'_>| {
        node.kind() == NodeKind::Symlink || node.kind() == NodeKind::File && node.has_other_names()
    };
    let links = rootfs.nodes().filter(is_link).map(crate::rootfs::Node::id);
    links
        .filter(|link| rule_of(*link).is_some_and(|rule| going.contains(rule) && !staying.contains(rule)))
        .collect()
}
