//! Packages installed as dependencies, as recorded by package managers.

use hashbrown::HashSet;

use super::super::context::{InventoryContext, Visible};
use super::super::value::Package;
use crate::formats::document::DocumentKind;
use crate::formats::packages::{self as formats, apk, apt, dnf};

/// Records of the package managers. Without a record, a package counts as manually installed.
pub(super) struct Automatic {
    apt: HashSet<apt::AutoInstalled>,
    counts: apt::AutoRemove,
    /// Manually installed apk packages; `None` without that list.
    world: Option<HashSet<String>>,
    dnf: dnf::Names,
    /// Path of the record in [`Self::dnf`].
    dnf_record: &'static str,
    /// Names of packages in dnf5 groups.
    grouped: HashSet<String>,
}

impl Automatic {
    pub(super) fn read(context: &InventoryContext<'_>) -> Self {
        let documents = |kind| context.visible(kind).iter().filter_map(|file| file.document.bytes().ok());
        let mut counts = apt::AutoRemove::default();
        // The files of the folder come first (apt.conf(5)); sorted by path, `apt.conf` would precede them.
        let (whole, parts): (Vec<&Visible<'_>>, Vec<&Visible<'_>>) = context
            .visible(DocumentKind::AptConf)
            .iter()
            .partition(|file| context.node(file.node).name() == b"apt.conf");
        for bytes in parts.into_iter().chain(whole).filter_map(|file| file.document.bytes().ok()) {
            apt::read_conf(&bytes, &mut counts);
        }
        let mut world: Option<HashSet<String>> = None;
        for bytes in documents(DocumentKind::ApkWorld) {
            world.get_or_insert_default().extend(apk::read_world(&bytes));
        }
        let of_dnf5: dnf::Names =
            documents(DocumentKind::DnfReasons).flat_map(|bytes| dnf::read_reasons(&bytes)).collect();
        // dnf5 imports the history of dnf4 at its first run and does not update it.
        let is_dnf5 = !context.visible(DocumentKind::DnfReasons).is_empty();
        let (dnf, dnf_record) = if is_dnf5 {
            (of_dnf5, "/usr/lib/sysimage/libdnf5/packages.toml")
        } else {
            let journal = documents(DocumentKind::DnfJournal).next().unwrap_or_default();
            let history = documents(DocumentKind::DnfHistory);
            let names = history.flat_map(|bytes| dnf::read_history(&bytes, &journal)).collect();
            (names, "/var/lib/dnf/history.sqlite")
        };
        Self {
            apt: documents(DocumentKind::AptStates).flat_map(|bytes| apt::read_states(&bytes)).collect(),
            counts,
            world,
            dnf,
            dnf_record,
            grouped: documents(DocumentKind::DnfGroups).flat_map(|bytes| dnf::read_groups(&bytes)).collect(),
        }
    }

    /// Sets apt's record of a package, and its dependencies that keep other packages installed.
    pub(super) fn apt(&self, from: &formats::Package, package: &mut Package) {
        let known = |architecture: Option<String>| self.apt.contains(&(from.name.clone(), architecture));
        // Packages for all architectures are recorded with the machine's architecture.
        let is_of_all = from.architecture.as_deref() == Some("all");
        let any = || self.apt.iter().any(|(name, _)| *name == from.name);
        if known(from.architecture.clone()) || known(None) || (is_of_all && any()) {
            package.automatic = Some("/var/lib/apt/extended_states");
        }
        let recommends = std::mem::take(&mut package.recommends);
        let suggests = std::mem::take(&mut package.suggests);
        for (names, keeps) in [(recommends, self.counts.recommends), (suggests, self.counts.suggests)] {
            if keeps { &mut package.recommends } else { &mut package.suggests }.extend(names);
        }
    }

    /// dnf's record that a package was installed as a dependency; `None` if it was not.
    pub(super) fn dnf(&self, from: &formats::Package) -> Option<&'static str> {
        let architecture = from.architecture.as_deref().unwrap_or_default();
        let is_automatic = self.dnf.contains(&format!("{}.{architecture}", from.name));
        (is_automatic && !self.grouped.contains(&from.name)).then_some(self.dnf_record)
    }

    /// apk's record of manually installed packages, if it does not contain the package.
    pub(super) fn apk(&self, from: &formats::Package) -> Option<&'static str> {
        let world = self.world.as_ref()?;
        let asked = world.contains(&from.name) || from.provides.iter().any(|name| world.contains(name));
        (!asked).then_some("/etc/apk/world")
    }
}
