//! Tools that have another name by a link: `ln -s /usr/bin/gcc /usr/local/bin/kcc`.

use super::words::{searched_terms, tool_name};
use super::{Certainty, Demand, Demands};
use crate::base::text::{elide_middle, escape};
use crate::cuda::links::folder_of;
use crate::findings::facts::Facts;
use crate::findings::named::MAX_SHOWN_CHARS;
use crate::findings::value::User;
use crate::rootfs::{Node, NodeKind};

/// Folders whose links packages and the system make.
const OF_SYSTEM: [&[u8]; 4] = [b"/etc/alternatives", b"/etc/rc", b"/etc/ssl", b"/proc"];
/// Folders of the system, where links join what packages install.
const JOINED: [&[u8]; 5] = [b"/usr", b"/lib", b"/bin", b"/sbin", b"/etc"];

impl Demands {
    /// Links of the user to build tools and headers: files are searched for the names of tools, not for those of links.
    pub(super) fn links(&mut self, facts: &Facts<'_>) {
        let links = facts.rootfs.nodes().filter(|node| node.kind() == NodeKind::Symlink);
        for link in links.filter(|link| usize::from(link.layer()) >= facts.base_layers()) {
            let text = link.entry().and_then(|entry| facts.rootfs.layer(link.layer()).link(entry));
            let is_absolute = text.is_some_and(|text| text.starts_with(b"/"));
            let in_programs = matches!(link.parent().name(), b"bin" | b"sbin");
            if facts.owner(link.id()).is_some() {
                continue;
            }
            let folder = link.parent();
            let target = text.and_then(|text| facts.paths.lookup_from(folder.id(), text));
            let Some(target) = target.map(|target| facts.node(target)) else { continue };
            let path = link.path();
            // A tree links its own files to each other.
            let mut ends = path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at);
            let top = ends.nth(2).unwrap_or_else(|| folder_of(&path).len());
            let leaves = top == 0 || !target.path().starts_with(&path[..=top]);
            if !(is_absolute || in_programs || leaves) {
                continue;
            }
            let is_of_package = || {
                text.is_some_and(|text| text.starts_with(b"/etc/alternatives/"))
                    && !path.starts_with(b"/usr/local/")
                    && !is_named(facts, link)
            };
            if OF_SYSTEM.iter().any(|folder| path.starts_with(folder)) || is_of_package() {
                continue;
            }
            let leads_to = target.path();
            let names = match target.kind() {
                NodeKind::File | NodeKind::Directory
                    if (leads_to.starts_with(b"/usr/include")
                        || leads_to == b"/usr"
                        || leads_to.starts_with(b"/usr/lib/") && leads_to.ends_with(b".a"))
                        && !JOINED.iter().any(|folder| path.starts_with(folder)) =>
                {
                    vec!["libraries"]
                }
                NodeKind::File => tools(link, target),
                _ => Vec::new(),
            };
            let demand = Demand {
                certainty: Certainty::Asked,
                who: elide_middle(&facts.shown(link.id()), MAX_SHOWN_CHARS),
                user: User::File(link.id()),
                why: format!("leads to {}", elide_middle(&escape(&leads_to), MAX_SHOWN_CHARS)),
                site: None,
                whole_toolkit: true,
            };
            for name in names {
                self.add(name, &demand);
            }
        }
    }
}

/// The names of a tool in a folder of programs, if the link to it has none of them.
fn tools(link: Node<'_>, target: Node<'_>) -> Vec<&'static str> {
    let of = |node: Node<'_>| {
        std::str::from_utf8(node.name()).map(|name| searched_terms(tool_name(name))).unwrap_or_default()
    };
    if link.name() == target.name() || target.parent().name() != b"bin" {
        return Vec::new();
    }
    let names = of(target);
    if names.is_empty() || !of(link).is_empty() { Vec::new() } else { names.into_iter().collect() }
}

/// Whether the instruction of a link's layer names it; alternatives that packages offer are not named.
fn is_named(facts: &Facts<'_>, link: Node<'_>) -> bool {
    let layer = facts.input.image.layers.get(usize::from(link.layer()));
    let text = layer.and_then(|layer| layer.created_by.as_deref()).unwrap_or_default();
    let name = String::from_utf8_lossy(link.name());
    text.contains("update-alternatives")
        && text.split(|one: char| one.is_whitespace() || one == '/').any(|word| word == name)
}
