//! What would happen without a path, as far as the image tells.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::Serialize;

use super::loading::{dependents, optional_openers};
use super::{WhyFinding, WhyReference};
use crate::base::labels::VERDICTS;
use crate::base::size::human;
use crate::base::text::{and_more, counted, escape, printable};
use crate::base::words::words;
use crate::cuda::Use;
use crate::cuda::links::{Links, ObjectId, RootKind};
use crate::findings::{Verdict, is_searched_for};
use crate::report::vocabulary;
use crate::report::words::Word;
use crate::rootfs::Rootfs;

/// Programs and libraries that are named.
const NAMED: usize = 3;

/// What would happen without a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effect {
    /// Nothing: no container sees it, or a finding proves that it is not used.
    Nothing,
    /// Unknown: nothing that was searched uses it, but which data files a program opens is not known.
    Unknown,
    /// Something may fail: it is opened if it is there, or its name is in a file of the application.
    MayBreak,
    /// Something that runs fails.
    Breaks,
}

words!(Effect {
    Nothing = "nothing",
    Unknown = "unknown",
    MayBreak = "may-break",
    Breaks = "breaks",
});

impl Effect {
    /// One line, as a title.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Nothing => "Removable",
            Self::Unknown => "No known user",
            Self::MayBreak => "Something may fail",
            Self::Breaks => "Something fails",
        }
    }
}

/// What would happen without the path.
#[derive(Clone, Debug, JsonSchema, PartialEq, Serialize)]
pub struct WhyWithout {
    /// nothing, unknown, may-break or breaks.
    #[schemars(transform = vocabulary::effect)]
    pub effect: Word,
    /// The reasons, one sentence each.
    pub statements: Vec<String>,
    /// Reduction of the merged view; 0 if another name keeps the bytes.
    pub merged_bytes: u64,
    /// Reduction of the layers, if the path is never added.
    pub layer_bytes: u64,
    /// The same as an enum, for the window.
    #[serde(skip)]
    #[schemars(skip)]
    pub kind: Effect,
    /// Programs and libraries that run and need it, for the window.
    #[serde(skip)]
    #[schemars(skip)]
    pub required_by: usize,
}

/// What is known about the users of a path.
pub(super) struct Users<'a> {
    pub(super) links: Option<(&'a Links, &'a Rootfs)>,
    /// The objects at or below the path.
    pub(super) objects: Vec<ObjectId>,
    /// Of a link: where it leads, and the object there.
    pub(super) target: Option<(String, Option<ObjectId>)>,
    pub(super) settings: &'a [String],
    pub(super) references: &'a [WhyReference],
    pub(super) findings: &'a [WhyFinding],
    /// Its name.
    pub(super) name: &'a [u8],
    pub(super) visible: bool,
    /// Whether all layers were read and the rules ran.
    pub(super) complete: bool,
    /// Further names of the inode.
    pub(super) other_names: usize,
}

impl Users<'_> {
    /// The effect, from the strongest reason down.
    pub(super) fn without(&self, merged_bytes: u64, layer_bytes: u64) -> WhyWithout {
        let mut statements = Vec::new();
        let mut effect = Effect::Nothing;
        let mut required_by = 0;
        let mut add = |kind: Effect, text: String| {
            effect = effect.max(kind);
            statements.push(text);
        };
        if self.visible {
            self.settings(&mut add);
            required_by = self.objects(&mut add);
            self.link(&mut add);
            self.mentions(&mut add);
            self.verdicts(&mut add);
        } else {
            add(Effect::Nothing, "No container sees it: an upper layer removed it.".to_owned());
        }
        if statements.is_empty() {
            effect = Effect::Unknown;
            let text = if is_searched_for(self.name) {
                "No program of the image is known to load it, and no file that was searched names it. Which data \
                 files a program opens is not known."
            } else {
                "No program of the image is known to load it. Files are searched for names of build tools and \
                 libraries, not for this one: what runs or opens it is not known."
            };
            statements.push(text.to_owned());
            if let Some((target, _)) = &self.target {
                statements.push(format!("It leads to {target}: who opens that by this name is not known."));
            }
        }
        if !self.complete {
            effect = effect.max(Effect::Unknown);
            statements.push("Not all of the image was read: a user may be in the rest.".to_owned());
        }
        if self.other_names > 0 && merged_bytes == 0 {
            let names = counted(self.other_names as u64, "further name");
            statements.push(format!("Its bytes stay as long as {names} of the same file stay."));
        }
        let word = effect.as_str().into();
        WhyWithout { effect: word, statements, merged_bytes, layer_bytes, kind: effect, required_by }
    }

    fn settings(&self, add: &mut dyn FnMut(Effect, String)) {
        for setting in self.settings {
            match setting.as_str() {
                "ENTRYPOINT" | "CMD" => {
                    add(Effect::Breaks, format!("Containers do not start: {setting} names it."));
                }
                "WORKDIR" => {
                    add(Effect::MayBreak, "WORKDIR names it; engines create it again, empty.".to_owned());
                }
                other => add(Effect::MayBreak, format!("{other} names it.")),
            }
        }
    }

    /// Gives how many programs and libraries that run need the objects.
    fn objects(&self, add: &mut dyn FnMut(Effect, String)) -> usize {
        let Some((links, rootfs)) = self.links.filter(|_| !self.objects.is_empty()) else { return 0 };
        let path = |id: &ObjectId| escape(&rootfs.node(links.object(*id).node).path());
        let own: BTreeSet<ObjectId> = self.objects.iter().copied().collect();
        let started: Vec<&ObjectId> = self
            .objects
            .iter()
            .filter(|id| {
                let root = links.object(**id).root.as_ref();
                root.is_some_and(|root| matches!(root.kind, RootKind::Entrypoint | RootKind::Preload))
            })
            .collect();
        for id in started.iter().take(NAMED) {
            let why = links.object(**id).root.as_ref().map_or_else(String::new, |root| printable(&root.why));
            add(Effect::Breaks, format!("{} is loaded at the start: {why}.", path(id)));
        }
        let users = dependents(links, &self.objects);
        let loaded: Vec<&ObjectId> = users
            .iter()
            .filter(|id| links.object(**id).usage != Use::Unreferenced || links.object(**id).root.is_some())
            .collect();
        let entry: Vec<&&ObjectId> = loaded
            .iter()
            .filter(|id| {
                links.object(***id).root.as_ref().is_some_and(|root| root.kind == RootKind::Entrypoint)
            })
            .collect();
        if !loaded.is_empty() {
            let first = if entry.is_empty() { loaded.first().copied() } else { entry.first().map(|id| **id) };
            let first = first.map_or_else(String::new, path);
            let what = counted(loaded.len() as u64, "program or library that runs");
            let what = what.replace("program or library that runss", "programs and libraries that run");
            let what = if loaded.len() == 1 { "1 program or library that runs".to_owned() } else { what };
            let verb = if loaded.len() == 1 { "needs" } else { "need" };
            let through = if entry.is_empty() { "such as" } else { "the entrypoint among them:" };
            let named = if loaded.len() == 1 { format!(": {first}") } else { format!(", {through} {first}") };
            add(
                Effect::Breaks,
                format!("{what} {verb} it{named}. The loader stops where the file is missing."),
            );
        } else if !users.is_empty() {
            let what = counted(users.len() as u64, "file");
            add(Effect::Unknown, format!("{what} with NEEDED entries for it, none of them known to run."));
        }
        let openers: Vec<(ObjectId, ObjectId)> = self
            .objects
            .iter()
            .flat_map(|id| links.object(*id).opened_by.iter().map(|by| (*id, *by)))
            .filter(|(_, by)| !own.contains(by))
            .collect();
        if let Some((id, by)) = openers.first() {
            let optional = optional_openers(links, *id) == links.object(*id).opened_by.len();
            let kind = if optional { Effect::MayBreak } else { Effect::Breaks };
            let tail = if optional { ", and runs without it" } else { "" };
            let more = and_more(openers.len(), 1);
            add(kind, format!("{}{more} opens it at run time{tail}.", path(by)));
        }
        loaded.len()
    }

    /// Those who find a library by the name of a link to it.
    fn link(&self, add: &mut dyn FnMut(Effect, String)) {
        let Some((links, rootfs)) = self.links else { return };
        let Some((target, Some(id))) = &self.target else { return };
        let name = escape(self.name);
        let runs = |by: &&ObjectId| {
            let by = links.object(**by);
            by.usage != Use::Unreferenced || by.root.is_some()
        };
        let by_name = |by: &&ObjectId| {
            let by = links.object(**by);
            by.needs.iter().any(|need| need.name == name) || by.opens.iter().any(|open| open.name == name)
        };
        let object = links.object(*id);
        let users = object.needed_by.iter().chain(&object.opened_by).filter(by_name);
        let users: BTreeSet<&ObjectId> = users.filter(runs).collect();
        let Some(first) = users.first() else { return };
        let first = escape(&rootfs.node(links.object(**first).node).path());
        let (more, verb) = (and_more(users.len(), 1), if users.len() == 1 { "loads" } else { "load" });
        let is_needed = users.iter().any(|by| object.needed_by.contains(by));
        let kind = if is_needed { Effect::Breaks } else { Effect::MayBreak };
        add(kind, format!("{first}{more} {verb} {target} by this name."));
    }

    fn mentions(&self, add: &mut dyn FnMut(Effect, String)) {
        let Some(first) = self.references.first() else { return };
        let more = and_more(self.references.len(), 1);
        let names = first.names.join(", ");
        add(
            Effect::MayBreak,
            format!("{}{more} contains its name ({names}) and may open or start it.", first.path),
        );
    }

    fn verdicts(&self, add: &mut dyn FnMut(Effect, String)) {
        for finding in self.findings.iter().filter(|finding| !finding.shadowed) {
            let kind = match &*finding.verdict {
                word if word == Verdict::Safe.as_str() => Effect::Nothing,
                word if word == Verdict::Needed.as_str() => Effect::Breaks,
                _ => Effect::MayBreak,
            };
            // Its reason and its question are with the findings.
            let (title, bytes) = (&finding.title, human(finding.bytes));
            let verdict = VERDICTS.shown(&finding.verdict).to_lowercase();
            add(kind, format!("Part of the finding {title} ({bytes} of it here): {verdict}."));
        }
    }
}
