//! Packages and users of the final stage.

use super::{Writer, listed};
use crate::base::size::human;

/// Packages that are compared with each other, to name few.
const MOST_COMPARED: usize = 60;

impl Writer<'_, '_, '_, '_, '_> {
    pub(super) fn sources(&mut self) {
        if self.keep.installed.is_empty() {
            return;
        }
        for (step, alone) in &self.effects.sources {
            let line = self.stage.file.instructions[*step].line;
            if *alone {
                let text = self.stage.text(*step).replace("\r\n", "\n");
                self.add(
                    &text,
                    format!("As on line {line}: packages that are installed again come from there."),
                    None,
                );
            } else {
                self.by_hand.push(format!(
                    "line {line} names a source of packages among other work: repeat that part in the final stage"
                ));
            }
        }
    }

    pub(super) fn install(&mut self) {
        let inventory = self.keep.world.input.inventory;
        let mut words: Vec<&str> = Vec::new();
        let mut bytes = 0;
        let mut named = std::collections::BTreeSet::new();
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
        let comes_with = |place: usize| {
            let others = self.keep.named.iter().filter(|other| **other != place);
            others.take(MOST_COMPARED).any(|other| {
                self.keep.world.with_dependencies([*other]).contains(&place)
                    && !self.keep.world.with_dependencies([place]).contains(other)
            })
        };
        for place in &self.keep.named {
            let from_base = inventory.packages[*place].layer < self.keep.base.layers;
            if !brought.contains(place) && !from_base && !comes_with(*place) {
                more.push(&inventory.packages[*place].name);
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
        let commands = if manager == "rpm" {
            let tool = self.effects.rpm_tool.as_deref().unwrap_or("dnf");
            vec![format!("{tool} install -y{}", self.lines(&all)), format!("{tool} clean all")]
        } else {
            vec![
                "apt-get update".to_owned(),
                format!("apt-get install -y --no-install-recommends{}", self.lines(&all)),
                "rm -rf /var/lib/apt/lists/*".to_owned(),
            ]
        };
        let line = self.run(&commands);
        self.add(&line, format!("{reason} They take {} with what they depend on.", human(bytes)), None);
        self.assumed.push(format!(
            "Packages that are installed again ({}) may come in other versions than this image has, unless they are pinned.",
            listed(&all)
        ));
    }

    pub(super) fn users(&mut self) {
        if !self.effects.users.is_empty() {
            let line = self.run(&self.effects.users);
            self.add(&line, "Users and groups of the build stage: a new stage does not have them.", None);
        }
    }
}
