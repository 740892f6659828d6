//! Users of a compiler or of git that do not name them.

use hashbrown::HashSet;

use super::{Certainty, Demand, Demands};
use crate::base::text::{elide_middle, escape};
use crate::cuda::StringReference;
use crate::cuda::search_folders;
use crate::findings::facts::Facts;
use crate::findings::named::MAX_SHOWN_CHARS;
use crate::findings::value::User;
use crate::rootfs::{Node, NodeId, NodeKind};

/// Folders that the linker searches besides.
const OF_LINKER: [&[u8]; 2] = [b"/usr/local/lib", b"/usr/local/lib64"];
/// Folders that ldconfig reads without a setting.
const DEFAULT_FOLDERS: [&[u8]; 4] = [b"/lib", b"/usr/lib", b"/lib64", b"/usr/lib64"];

/// Programs that run git for repositories that their own files name.
const OF_GIT: [&str; 9] = [
    "ansible-galaxy",
    "ansible-pull",
    "bower",
    "composer",
    "cookiecutter",
    "copier",
    "kustomize",
    "pre-commit",
    "terraform",
];

impl Demands {
    /// `ctypes.util.find_library` of Python asks gcc, `ld` and `objdump` for libraries that the loader's cache lacks:
    /// those in folders of `LD_LIBRARY_PATH`, and those of upper layers in folders that the linker searches.
    pub(super) fn lookups(&mut self, facts: &Facts<'_>) {
        let mut mentions =
            facts.inventory.mentions.iter().filter(|one| one.words.contains(&"find_library")).peekable();
        if mentions.peek().is_none() {
            return;
        }
        let configured = search_folders("", &facts.paths, facts.input.layers);
        let configured = configured.iter().map(|folder| &folder.path[..]).chain(DEFAULT_FOLDERS);
        // musl has no cache, and a library of a layer above that of the cache is not in it.
        let cache = facts.paths.lookup(b"/etc/ld.so.cache").map(|cache| facts.node(cache).layer());
        let is_musl = ["x86_64", "aarch64"]
            .iter()
            .any(|machine| facts.paths.lookup(format!("/lib/ld-musl-{machine}.so.1").as_bytes()).is_some());
        let cached: HashSet<NodeId> = configured
            .filter(|_| !is_musl || cache.is_some())
            .filter_map(|folder| facts.paths.lookup(folder))
            .collect();
        let value = facts.variable("LD_LIBRARY_PATH").unwrap_or_default();
        let of_compiler = facts.variable("LIBRARY_PATH").unwrap_or_default().split(':').map(str::as_bytes);
        let folders = search_folders(value, &facts.paths, facts.input.layers);
        let folders = folders.iter().map(|folder| &folder.path[..]).chain(DEFAULT_FOLDERS).chain(OF_LINKER);
        let searched: HashSet<NodeId> =
            folders.chain(of_compiler).filter_map(|folder| facts.paths.lookup(folder)).collect();
        // A program that sets the variables may add any folder.
        let names_variable = |one: &StringReference| {
            !one.of_package
                && one.words.iter().any(|word| matches!(*word, "LD_LIBRARY_PATH" | "LIBRARY_PATH"))
        };
        let is_anywhere = facts.inventory.mentions.iter().any(names_variable);
        let is_cached = |folder: NodeId, name: Node<'_>| {
            cached.contains(&folder) && cache.is_some_and(|cache| name.layer() <= cache)
        };
        // The linker reads links, too.
        let is_object = |name: &[u8]| name.windows(3).any(|part| part == b".so");
        let nodes: Vec<Node<'_>> = if is_anywhere {
            facts.nodes_named(is_object).into_iter().map(|node| facts.node(node)).collect()
        } else {
            let children = searched.iter().flat_map(|folder| facts.node(*folder).children());
            children.filter(|node| is_object(node.name())).collect()
        };
        let files = nodes.into_iter().filter(|node| node.kind() != NodeKind::Directory);
        let objects: Vec<(&[u8], bool)> =
            files.map(|node| (node.name(), is_cached(node.parent().id(), node))).collect();
        let is_lost = |library: &str| {
            let is_one = |name: &[u8]| {
                let rest = name.strip_prefix(library.as_bytes());
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(b"."))
            };
            let mut found = objects.iter().filter(|(name, _)| is_one(name)).peekable();
            found.peek().is_some() && !found.any(|(_, is_cached)| *is_cached)
        };
        for mention in mentions {
            // A name that is computed, or that stands in another line than the call.
            let may_be_any = (is_anywhere || !value.is_empty()) && !mention.of_package;
            let is_computed =
                mention.libraries.is_empty() || mention.libraries.iter().any(|name| **name == *"lib*.so");
            let library = match mention.libraries.iter().find(|name| is_lost(name)) {
                Some(name) => escape(name.as_bytes()),
                None if is_computed && may_be_any => "a library whose name is computed".to_owned(),
                None => continue,
            };
            let why = format!(
                "calls find_library, which looks for {library} with gcc, ld and objdump if the loader's cache lacks it"
            );
            self.asked("compiler", facts, mention.node, why);
        }
    }

    /// Programs that run git for repositories that a file of theirs names.
    pub(super) fn users_of_git(&mut self, facts: &Facts<'_>) {
        let name_of = |word: &str| OF_GIT.into_iter().find(|name| *name == word);
        for mention in facts.inventory.mentions.iter().filter(|mention| !mention.of_package) {
            if let Some(name) = mention.programs.iter().find_map(|name| name_of(name)) {
                self.asked("git", facts, mention.node, format!("starts {name}, which may run git"));
            }
        }
        let command = facts.command();
        let mut words = command.iter().flat_map(|text| text.split_whitespace());
        if let Some(name) = words.find_map(|word| name_of(word.rsplit('/').next().unwrap_or(word))) {
            let who = "the image's command";
            self.add(
                "git",
                &Demand {
                    certainty: Certainty::Asked,
                    who: who.to_owned(),
                    user: User::Setting(who.to_owned()),
                    why: format!("starts {name}, which may run git"),
                    site: None,
                    whole_toolkit: true,
                },
            );
        }
    }

    fn asked(&mut self, name: &str, facts: &Facts<'_>, node: NodeId, why: String) {
        let demand = Demand {
            certainty: Certainty::Asked,
            who: elide_middle(&facts.shown(node), MAX_SHOWN_CHARS),
            user: User::File(node),
            why,
            site: None,
            whole_toolkit: true,
        };
        self.add(name, &demand);
    }
}
