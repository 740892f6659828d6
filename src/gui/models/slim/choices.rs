//! What the user chooses for a slim image.

use std::collections::BTreeSet;

use crate::gui::models::cuda::CodeTarget;
use crate::gui::models::typed::tidy;
use crate::slim::{Encoding, Pruning, SlimOptions};

/// A kind of destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DestinationKind {
    /// An OCI image layout.
    Layout,
    /// An OCI archive.
    Archive,
    /// An archive as `docker save` writes it.
    DockerArchive,
    /// A directory of `skopeo copy`.
    Directory,
    /// A registry.
    Registry,
    /// The local Docker engine.
    Docker,
    /// The local Podman engine.
    Podman,
}

impl DestinationKind {
    /// All kinds, in the order shown.
    pub const ALL: [Self; 7] = [
        Self::Layout,
        Self::Archive,
        Self::DockerArchive,
        Self::Directory,
        Self::Registry,
        Self::Docker,
        Self::Podman,
    ];

    /// Label, prefix of the destination, and an example of its name.
    pub const fn words(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::Layout => ("OCI layout", "oci:", "/path/to/folder:tag"),
            Self::Archive => ("OCI archive", "oci-archive:", "/path/to/image.tar:tag"),
            Self::DockerArchive => ("Docker archive", "docker-archive:", "/path/to/image.tar:name:tag"),
            Self::Directory => ("Directory", "dir:", "/path/to/folder"),
            Self::Registry => ("Registry", "docker://", "registry.example/team/image:tag"),
            Self::Docker => ("Docker", "docker-daemon:", "image:tag"),
            Self::Podman => ("Podman", "podman:", "image:tag"),
        }
    }

    /// Whether its name is a path.
    pub const fn is_path(self) -> bool {
        matches!(self, Self::Layout | Self::Archive | Self::DockerArchive | Self::Directory)
    }
}

/// What the user chooses.
#[allow(clippy::struct_excessive_bools, reason = "each is a box to tick")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlimChoices {
    /// Kind of the destination.
    pub kind: DestinationKind,
    /// Its name or path, as typed.
    pub name: String,
    /// Whether rewritten layers are compressed with zstd.
    pub zstd: bool,
    /// Whether the layers of the base image are kept.
    pub keep_base: bool,
    /// Ids of the GPUs whose code stays; none: all code stays.
    pub targets: BTreeSet<String>,
    /// Whether PTX stays for GPUs of the future.
    pub keep_ptx: bool,
    /// Whether libraries become shorter by what is removed.
    pub shrink: bool,
}

impl Default for SlimChoices {
    fn default() -> Self {
        Self {
            kind: DestinationKind::Layout,
            name: String::new(),
            zstd: false,
            keep_base: false,
            targets: BTreeSet::new(),
            keep_ptx: false,
            shrink: false,
        }
    }
}

impl SlimChoices {
    /// The destination; `None` without a name.
    pub(super) fn destination(&self) -> Option<String> {
        let name = tidy(&self.name);
        (!name.is_empty()).then(|| format!("{}{name}", self.kind.words().1))
    }

    /// What decides about the sizes.
    pub(super) fn sized_by(&self) -> (bool, BTreeSet<String>, bool) {
        (self.keep_base, self.targets.clone(), self.keep_ptx)
    }

    /// Which GPU code is removed; `None` if all of it stays.
    pub(super) fn pruning(&self, offered: &[CodeTarget]) -> Option<Pruning> {
        let chosen = offered.iter().filter(|target| self.targets.contains(&target.id));
        let targets: Vec<_> = chosen.map(|target| (target.id.clone(), target.sm())).collect();
        let Self { keep_ptx, shrink, .. } = *self;
        (!targets.is_empty()).then_some(Pruning { targets, keep_ptx, shrink })
    }

    /// Chooses a GPU, or no longer.
    pub fn toggle_target(&mut self, id: &str) {
        if !self.targets.remove(id) {
            self.targets.insert(id.to_owned());
        }
    }

    /// How the image is written.
    pub(super) fn options(&self) -> SlimOptions {
        let encoding = if self.zstd { Encoding::Zstd(3) } else { Encoding::default() };
        SlimOptions { keep_base: self.keep_base, encoding, ..SlimOptions::default() }
    }
}
