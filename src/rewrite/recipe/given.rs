//! Compares a Dockerfile from the user with the image's history.

use std::collections::BTreeSet;

use super::base::Base;
use super::belongs::{contradiction, is_same};
use super::history_tokens::{HistoryToken, Scope, of_steps, text};
use super::matching::{Match, is_content};
use super::page::note;
use super::settings::Settings;
use super::step::Step;
use crate::base::redact;
use crate::base::text::{elide_end, printable};
use crate::cuda::BaseImage;
use crate::formats::dockerfile::{Dockerfile, Keyword, Stage};

/// Maximum characters quoted of an instruction.
const MAX_QUOTE: usize = 60;

/// The minimum share, by weight, of instructions with traces that must be in the history.
const ENOUGH: f64 = 0.5;

/// The same when the file starts from another image than this one was built on.
const ENOUGH_ELSEWHERE: f64 = 0.9;

/// Maximum other stages tried when the last one does not match, and maximum instructions of a file for that.
const MAX_STAGES: usize = 8;
const MAX_OTHERS: usize = 1000;

/// A file compared with an image.
#[derive(Debug, Default)]
pub(super) struct MatchedLayers {
    /// Entries, for each instruction.
    pub(super) ties: Vec<Vec<usize>>,
    /// Layers of the final stage's base.
    pub(super) base_layers: Option<usize>,
    /// What is unknown: line and sentence.
    pub(super) unknown: Vec<(u32, String)>,
}

/// Matches the instructions of the final stage, or returns why the file belongs to another image.
pub(super) fn hold(
    file: &Dockerfile,
    steps: &[Step<'_>],
    base: &Base,
    told: Option<&BaseImage>,
    last: &Settings,
) -> Result<MatchedLayers, String> {
    let stages = file.stages();
    let Some(target) = stages.len().checked_sub(1) else { return Err("no FROM instruction".to_owned()) };
    let stage = |place: usize| hold_stage(file, &stages, place, steps, base, told, last);
    stage(target).map_err(|why| {
        let others = if file.instructions.len() > MAX_OTHERS { 0 } else { target };
        let named = |place: usize| stages.get(place).and_then(|stage| stage.name.as_deref());
        let mut tried = (0..others).rev().filter(|place| named(*place).is_some()).take(MAX_STAGES);
        match tried.find(|place| stage(*place).is_ok()).and_then(named) {
            Some(name) => {
                let name = printable(&elide_end(name, MAX_QUOTE));
                format!("{why}; its stage {name} matches: pass the file up to the end of that stage")
            }
            None => why,
        }
    })
}

/// The same for one stage.
fn hold_stage(
    file: &Dockerfile,
    stages: &[Stage],
    target: usize,
    steps: &[Step<'_>],
    base: &Base,
    told: Option<&BaseImage>,
    last: &Settings,
) -> Result<MatchedLayers, String> {
    let mut chain = Vec::new();
    let mut next = Some(target);
    while let Some(stage) = next.and_then(|place| stages.get(place)) {
        chain.push(stage);
        // A parent comes before its stage.
        next = stage.parent.filter(|parent| stages.get(*parent).is_some_and(|one| one.from < stage.from));
    }
    chain.reverse();
    let Some(first) = chain.first() else { return Err("no FROM instruction".to_owned()) };
    let line = file.instructions.get(first.from).map_or(1, |from| from.line);
    let against = told.and_then(|told| contradiction(&first.base, told));
    let mut held =
        MatchedLayers { ties: vec![Vec::new(); file.instructions.len()], ..MatchedLayers::default() };
    if steps.is_empty() {
        if let Some(against) = against {
            return Err(against);
        }
        let what = "The image has no history: whether this file belongs to it is unknown.";
        note(&mut held.unknown, 1, what.to_owned());
        held.base_layers =
            base.layers.filter(|_| base.reference.as_deref().is_some_and(|name| is_same(name, &first.base)));
        return Ok(held);
    }
    let mut scope = Scope::new(file);
    let before = file.instructions.iter().take_while(|one| one.keyword != Keyword::From);
    for word in before.flat_map(|one| &one.words) {
        if let Some((name, value)) = word.text.split_once('=') {
            scope.set(name, value);
        }
    }
    let own: Vec<usize> = chain.iter().flat_map(|stage| stage.body.clone()).collect();
    let parts: Vec<HistoryToken> =
        own.iter().flat_map(|place| scope.history_tokens(&file.instructions[*place], *place)).collect();
    let entries = of_steps(steps, last);
    let same = base.reference.as_deref().is_some_and(|name| is_same(name, &first.base));
    let start = Some(base.steps).filter(|_| same);
    let mut match_ = Match::new(file, steps, &own, start);
    // Settings of the base image may look like those of the file.
    match_.find(&entries, &parts, base.steps);
    if match_.score() < ENOUGH && base.steps > 0 {
        let mut whole = Match::new(file, steps, &own, start);
        whole.find(&entries, &parts, 0);
        if whole.score() > match_.score() {
            match_ = whole;
        }
    }
    match_.judge(against.as_deref())?;
    if let Some(against) = against {
        note(&mut held.unknown, line, format!("The image was built on another base image: {against}."));
    }
    held.base_layers = match_.base_layers(base);
    match_.tell(&mut held.unknown);
    for (place, entries) in match_.tied {
        held.ties[place] = entries.into_iter().collect();
    }
    Ok(held)
}

impl Match<'_> {
    /// Returns why the file belongs to another image.
    fn judge(&self, against: Option<&str>) -> Result<(), String> {
        let score = self.score();
        let all = self.traced().count();
        let found = self
            .traced()
            .filter(|place| self.tied.contains_key(place) && !self.changed.contains(place))
            .count();
        let example = self.traced().find(|place| !self.tied.contains_key(place) && self.weight(*place) > 1.0);
        let example = example.or_else(|| self.traced().find(|place| !self.tied.contains_key(place)));
        let mut counted = match all {
            0 => "none of its instructions leaves a trace".to_owned(),
            1 => format!("{found} of its 1 instruction that leaves a trace is in the image's history"),
            _ => format!("{found} of its {all} instructions that leave a trace are in the image's history"),
        };
        if let Some(place) = example {
            let line = self.file.instructions.get(place).map_or(1, |instruction| instruction.line);
            counted.extend(["; ", &self.quoted(place), &format!(" (line {line}) is not")]);
        }
        if let Some(against) = against.filter(|_| score < ENOUGH_ELSEWHERE || all < 3) {
            return Err(format!("{against}; {counted}"));
        }
        if score < ENOUGH {
            return Err(counted);
        }
        let (explained, strange) = self.coverage();
        if strange.len() > explained {
            let entry = strange.first().and_then(|entry| self.steps.get(*entry)).map(|step| step.text);
            let entry = quote(&redact::instruction(entry.unwrap_or_default()));
            return Err(format!(
                "{} instructions of the image's history that add files are not in it, such as {entry}",
                strange.len()
            ));
        }
        Ok(())
    }

    /// Entries that add files, from the end of the base or else from the first match: the number of matched ones, and
    /// the others.
    fn coverage(&self) -> (usize, Vec<usize>) {
        let tied: BTreeSet<usize> = self.tied.values().flatten().copied().collect();
        let Some(first) = self.start.or_else(|| tied.first().copied()) else { return (0, Vec::new()) };
        let brings = |entry: &usize| self.steps.get(*entry).and_then(Step::keyword).is_some_and(is_content);
        let (explained, strange): (Vec<usize>, Vec<usize>) =
            (first..self.steps.len()).filter(brings).partition(|entry| tied.contains(entry));
        (explained.len(), strange)
    }

    /// Layers below the first instruction of the chain.
    fn base_layers(&self, base: &Base) -> Option<usize> {
        let first = self.traced().next();
        let lowest = self.tied.values().flatten().min();
        let below = |entry: usize| self.steps[..entry].iter().filter(|step| step.layer.is_some()).count();
        match (first, lowest) {
            (None, _) => base.layers,
            // The file names the recognised image.
            (_, Some(lowest)) if self.start.is_some_and(|start| start <= *lowest) => base.layers,
            // The first instruction is known: layers below belong to the base.
            (Some(first), Some(lowest))
                if self.tied.get(&first).is_some_and(|tied| tied.contains(lowest)) =>
            {
                Some(below(*lowest))
            }
            (_, Some(lowest)) => base.layers.filter(|layers| *layers <= below(*lowest)),
            _ => base.layers,
        }
    }

    /// Records the differences.
    fn tell(&self, unknown: &mut Vec<(u32, String)>) {
        for place in self.traced() {
            let line = self.file.instructions.get(place).map_or(1, |instruction| instruction.line);
            let text = self.quoted(place);
            if self.changed.contains(&place) {
                let entry =
                    self.tied.get(&place).and_then(BTreeSet::first).and_then(|entry| self.steps.get(*entry));
                let was = quote(&redact::instruction(entry.map_or("", |step| step.text)));
                note(
                    unknown,
                    line,
                    format!("{text} changed since the image was built: its history has {was}."),
                );
            } else if !self.tied.contains_key(&place) {
                note(unknown, line, format!("{text} is not in the image's history."));
            }
        }
        let (_, strange) = self.coverage();
        for entry in strange.into_iter().filter_map(|entry| self.steps.get(entry)) {
            let text = quote(&redact::instruction(entry.text));
            note(unknown, 1, format!("The image's history has {text}, which is not in this file."));
        }
    }

    fn quoted(&self, place: usize) -> String {
        let instruction = self.file.instructions.get(place);
        let text = instruction.map(|one| format!("{} {}", one.keyword.as_str(), text(self.file, one)));
        quote(&redact::instruction(&text.unwrap_or_default()))
    }
}

/// Quotes a text in a sentence; secrets are already redacted.
fn quote(text: &str) -> String {
    let joined: Vec<&str> = text.split_whitespace().take(MAX_QUOTE).collect();
    format!("`{}`", printable(&elide_end(&joined.join(" "), MAX_QUOTE)))
}
