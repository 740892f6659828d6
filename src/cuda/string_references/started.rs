//! Files and packages that the command starts.

use hashbrown::HashSet;

use crate::cuda::context::InventoryContext;
use crate::cuda::packages::Packages;
use crate::rootfs::{NodeId, NodeKind};

/// Packages of the application, and files named in the command. A package installed from a folder or a
/// repository has a `direct_url.json` (packaging.python.org).
pub(super) fn started(
    context: &InventoryContext<'_>,
    packages: &Packages,
) -> (HashSet<usize>, HashSet<NodeId>) {
    let (mut own, mut started) = (HashSet::new(), HashSet::new());
    let config = context.input.image.run_config();
    let words = |list: Option<&Vec<String>>| list.cloned().unwrap_or_default();
    let command = config.map_or_else(Vec::new, |config| {
        [words(config.entrypoint().as_ref()), words(config.cmd().as_ref())].concat()
    });
    let folders = context.input.image.search_path();
    let mut module = None;
    for text in command.iter().take(WORDS) {
        let parts = text.split(|c: char| c.is_whitespace() || "'\"();&|".contains(c));
        for part in parts.filter(|part| !part.is_empty()).take(WORDS) {
            if std::mem::replace(&mut module, (part == "-m").then_some(())).is_some() {
                let name = part.split(['.', ':']).next().unwrap_or_default().as_bytes().to_vec();
                for (place, package) in packages.list.iter().enumerate() {
                    let folder = package.root.as_ref().map(|root| [root, &b"/"[..], &name].concat());
                    let node = folder.and_then(|folder| context.paths.lookup(&folder));
                    let first = node.and_then(|node| context.node(node).children().next());
                    if first.is_some_and(|file| packages.owners.of(file.id()) == Some(place)) {
                        own.insert(place);
                    }
                }
            }
            let found = if part.contains('/') {
                context.paths.lookup(part.as_bytes())
            } else {
                let mut tries = folders.split(':').take(WORDS).map(|folder| format!("{folder}/{part}"));
                tries.find_map(|path| context.paths.lookup(path.as_bytes()))
            };
            let file = found.filter(|node| context.node(*node).kind() == NodeKind::File);
            started.extend(file);
            own.extend(file.and_then(|node| packages.owners.of(node)));
        }
    }
    for node in context.nodes_named(b"direct_url.json") {
        own.extend(packages.owners.of(node));
    }
    // Packages of the catalogue or the distribution are excluded: python and uvicorn are not the application.
    own.retain(|place| {
        packages.list.get(*place).is_some_and(|package| {
            matches!(package.manager, "pip" | "conda")
                && context.catalog.framework_of_package(package.manager, &package.name).is_none()
                && context.catalog.component_of_package(&package.name).is_none()
        })
    });
    (own, started)
}

/// Maximum number of words of a command, and of folders of a search path.
const WORDS: usize = 256;
