//! What the user is told beside the lines.

use super::{Writer, listed};
use crate::base::size::human;
use crate::base::text::{counted, escape, printable};
use crate::cuda::Flavor;
use crate::rewrite::split::keep::Fate;
use crate::rewrite::split::state;
use crate::rootfs::NodeKind;

/// What apt and dpkg write everywhere: it says nothing.
const USUAL: [&[u8]; 6] =
    [b"/var/log/", b"/var/cache/", b"/var/lib/apt/", b"/etc/host", b"/etc/resolv", b"/run/adduser"];

impl Writer<'_, '_, '_, '_, '_> {
    pub(super) fn entry(&mut self) {
        let banner = |words: &Option<Vec<String>>| {
            words
                .as_ref()
                .and_then(|words| words.first())
                .is_some_and(|word| word.contains("nvidia_entrypoint"))
        };
        let brings = matches!(self.keep.base.flavor, Flavor::Runtime | Flavor::Devel);
        if banner(&self.entrypoint) && !brings {
            self.entrypoint = None;
            self.kept.push(
                "The entrypoint of NVIDIA's image is gone: it prints a banner and warns when there is no driver; the command is run without it."
                    .to_owned(),
            );
        }
    }

    pub(super) fn assume(&mut self) {
        let world = self.keep.world;
        let mut lost = (0_u64, 0_u64);
        let mut names: Vec<String> = Vec::new();
        for node in world.rootfs.nodes().filter(|node| node.kind() == NodeKind::File && world.is_users(*node))
        {
            let known = node.content().is_some_and(|inode| world.gone.contains(&inode));
            if self.keep.fate(node.id()) == Fate::Gone
                && !known
                && world.system_owner(node.id()).is_none()
                && state::state(&node.path()) == Some(state::State::Lost)
            {
                lost = (lost.0 + 1, lost.1 + node.bytes());
                let path = node.path();
                if names.len() < 3 && !USUAL.iter().any(|usual| path.starts_with(usual)) {
                    names.push(escape(&path));
                }
            }
        }
        if lost.0 > 0 {
            self.assumed.push(format!(
                "{} ({}) below folders of caches, logs and temporary files {} not carried over{}.",
                counted(lost.0, "file"),
                human(lost.1),
                if lost.0 == 1 { "is" } else { "are" },
                if names.is_empty() { String::new() } else { format!(", such as {}", names.join(", ")) }
            ));
        }
        self.assumed.extend(self.effects.assumed.iter().cloned());
        self.dropped();
        for folder in &self.trees.mixed {
            self.assumed.push(format!(
                "Files in {} have several owners: COPY --from keeps them with BuildKit and buildah, and not with older builders and kaniko.",
                printable(folder)
            ));
        }
        for path in &self.trees.unnamed {
            self.by_hand
                .push(format!("{path} is needed and cannot be written in a COPY that is read by people"));
        }
    }
    /// Packages that the user asks for and that are not installed again.
    fn dropped(&mut self) {
        let asked = self.effects.packages.iter().filter(|asked| {
            let place = self.keep.world.by_name.get(asked.name.as_str());
            place.is_some_and(|place| {
                !self.keep.installed.contains(place)
                    && self.keep.world.input.inventory.packages[*place].layer >= self.keep.base.layers
            })
        });
        let world = self.keep.world;
        let copied =
            world.from_files.iter().map(|place| world.input.inventory.packages[*place].name.as_str());
        let mut copied: Vec<&str> = copied.collect();
        copied.sort_unstable();
        if !copied.is_empty() {
            self.assumed.push(format!(
                "Packages that were installed from files ({}) are copied file by file: the package manager of the new image does not know of them, and what their scripts do besides is not repeated.",
                listed(&copied)
            ));
        }
        let names: Vec<&str> = asked.map(|asked| asked.name.as_str()).collect();
        if !names.is_empty() {
            self.assumed.push(format!(
                "Only the build stage has {}: nothing that runs is known to start or read them.",
                listed(&names)
            ));
        }
    }
}
