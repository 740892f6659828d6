//! Packages and users of the final stage.

use std::collections::BTreeSet;

use super::{Writer, listed};
use crate::base::size::human;
use crate::rewrite::split::effects::is_package_word;

/// Packages that are compared with each other, to name few.
const MOST_COMPARED: usize = 60;

impl Writer<'_, '_, '_, '_, '_> {
    /// Sources over https want certificates before the first package comes from them; the distribution's own image
    /// has none.
    pub(super) fn certificates(&mut self) {
        let place = self.keep.world.by_name.get("ca-certificates");
        let sources = self.trees.copies.iter().any(|copy| {
            copy.early && copy.from.iter().any(|path| path.starts_with("/etc/apt/sources.list.d"))
        });
        if sources && place.is_some_and(|place| self.keep.installed.contains(place)) {
            let line = self.run(&[
                "apt-get update".to_owned(),
                "apt-get install -y --no-install-recommends ca-certificates".to_owned(),
            ]);
            self.add(&line, "The sources that are copied next may be read over https.", None);
        }
    }

    pub(super) fn install(&mut self) {
        let inventory = self.keep.world.input.inventory;
        let mut words: Vec<&str> = Vec::new();
        let mut bytes = 0;
        let mut named = BTreeSet::new();
        for wanted in self.wanted {
            if let Some(place) = wanted.place.filter(|place| self.keep.installed.contains(place)) {
                words.push(&wanted.asked.word);
                named.insert(place);
            }
        }
        // What comes with those above needs no name of its own.
        let brought = self.keep.world.with_dependencies(named.iter().copied());
        let mut more: Vec<&str> = Vec::new();
        // Nor what another of these depends on.
        let few = self.keep.named.len() <= MOST_COMPARED;
        let closures: Vec<(usize, BTreeSet<usize>)> = (self.keep.named.iter().filter(|_| few))
            .map(|place| (*place, self.keep.world.with_dependencies([*place])))
            .collect();
        let closure = |place: usize| closures.iter().find(|(known, _)| *known == place).map(|(_, all)| all);
        let comes_with = |place: usize| {
            closures.iter().any(|(other, all)| {
                *other != place
                    && all.contains(&place)
                    && !closure(place).is_some_and(|own| own.contains(other))
            })
        };
        for place in &self.keep.named {
            let package = &inventory.packages[*place];
            if brought.contains(place) || package.layer < self.keep.base.layers || comes_with(*place) {
                continue;
            }
            if is_package_word(&package.name) {
                more.push(&package.name);
            } else {
                self.by_hand
                    .push(format!("the package {} has a name that no command may hold", package.name));
            }
        }
        for place in &self.keep.installed {
            bytes += inventory.packages[*place].bytes.unwrap_or_default();
        }
        if words.is_empty() && more.is_empty() {
            return;
        }
        let manager =
            self.keep.named.iter().next().map_or("dpkg", |place| inventory.packages[*place].manager);
        let reason = match (words.is_empty(), more.is_empty()) {
            (_, true) => "Packages of the build stage that the image needs when it runs.".to_owned(),
            (true, _) => format!(
                "Files that are copied need {}, which the build stage has by other packages.",
                listed(&more)
            ),
            _ => format!(
                "Packages that the image needs when it runs; {} came with others in the build stage.",
                listed(&more)
            ),
        };
        let mut all: Vec<&str> = words.iter().chain(&more).copied().collect();
        all.dedup();
        let mut commands = if manager == "rpm" {
            let tool = self.effects.rpm_tool.as_deref().unwrap_or("dnf");
            vec![format!("{tool} install -y{}", self.lines(&all))]
        } else {
            vec![
                "apt-get update".to_owned(),
                format!(
                    "DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends{}",
                    self.lines(&all)
                ),
            ]
        };
        let removed = self.removed_again();
        if !removed.is_empty() {
            let paths: Vec<&str> = removed.iter().map(String::as_str).collect();
            commands.push(format!("rm -rf{}", self.lines(&paths)));
        }
        commands.push(match (manager, self.effects.rpm_tool.as_deref()) {
            ("rpm", tool) => format!("{} clean all", tool.unwrap_or("dnf")),
            _ => "rm -rf /var/lib/apt/lists/*".to_owned(),
        });
        let line = self.run(&commands);
        self.add(&line, format!("{reason} They take {} with what they depend on.", human(bytes)), None);
        self.assumed.push(format!(
            "Packages that are installed again ({}) may come in other versions than this image has, unless they are pinned.",
            listed(&all)
        ));
    }
    /// What the user's instructions remove of packages, and installing them brings again.
    fn removed_again(&self) -> Vec<String> {
        const OF_PACKAGES: [&str; 7] =
            ["/etc/", "/usr/bin/", "/usr/sbin/", "/usr/lib/", "/usr/share/", "/bin/", "/var/www/"];
        let mut removed: Vec<String> = Vec::new();
        for path in &self.effects.removed {
            let of_packages = OF_PACKAGES.iter().any(|folder| path.starts_with(folder));
            let is_there = self.keep.world.paths.lookup(path.as_bytes()).is_some();
            if of_packages && !is_there && !removed.contains(path) && removed.len() < MOST_COMPARED {
                removed.push(path.clone());
            }
        }
        removed
    }
}
