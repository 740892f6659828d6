//! Rebuilds a Dockerfile from an image's history.

use std::collections::BTreeMap;

use super::arguments::{arguments, declared, given};
use super::base::Base;
use super::page::Page;
use super::redaction_policy::RedactionPolicy;
use super::settings::Settings;
use super::step::Step;
use super::values::list;
use super::write::State;
use crate::base::redact;
use crate::base::text::printable;
use crate::formats::dockerfile::Keyword;

/// The default shell of `RUN`.
const SHELL: &str = "/bin/sh -c";

/// The placeholder for an unknown base image.
const UNKNOWN_BASE: &str = "unknown-base";

/// The text. `last` are the settings of the image; `None` when it has no configuration. `copied` gives
/// the names of the files that a `COPY` put into a folder, by its layer.
pub(super) fn rebuild(
    steps: &[Step<'_>],
    base: &Base,
    last: Option<&Settings>,
    distribution: Option<&str>,
    redaction_policy: RedactionPolicy,
    copied: &dyn Fn(usize, &str) -> Option<Vec<String>>,
) -> Page {
    let mut page = Page::default();
    head(&mut page, steps, base, distribution);
    let declared = declared(steps);
    let calls: Vec<Vec<(String, String)>> = steps.iter().map(|step| arguments(step, &declared)).collect();
    let mut state = State {
        settings: Settings::default(),
        last: last.cloned().unwrap_or_default(),
        shell: SHELL.to_owned(),
        arguments: BTreeMap::new(),
        given: given(steps, &calls),
        redaction_policy,
        copied,
        told_flags: false,
        told_secret: false,
    };
    let (below, own) = steps.split_at(base.steps.min(steps.len()));
    for step in below {
        state.settings.apply(step, &state.last);
        if let Some(text) = step.arguments(Keyword::Shell) {
            state.shell = list(text).join(" ");
        }
    }
    state.settings.start();
    for (place, step) in own.iter().enumerate() {
        let place = below.len() + place;
        state.write(&mut page, place, step, &calls[place]);
        state.settings.apply(step, &state.last);
    }
    if last.is_some() {
        rest(&mut state, &mut page);
    }
    page.finish();
    page
}

fn head(page: &mut Page, steps: &[Step<'_>], base: &Base, distribution: Option<&str>) {
    page.comment("Reconstructed from the image history; not the original Dockerfile.");
    page.comment(
        "An image contains neither earlier build stages nor the build context: this file may not build as is.",
    );
    if steps.is_empty() {
        let text = "The image has no history: only its configuration is known.";
        page.comment(text);
        page.note(1, text);
    }
    page.gap();
    let mut notes: Vec<String> = base.note.iter().cloned().collect();
    let from = base.reference.clone().filter(|reference| !reference.contains(char::is_whitespace));
    if from.is_none() {
        let system =
            distribution.map(|name| format!(" Distribution: {}.", printable(name))).unwrap_or_default();
        notes.push(format!("The base image is unknown.{system}"));
    }
    page.instruction(&format!("FROM {}", from.as_deref().unwrap_or(UNKNOWN_BASE)), &[], &notes);
}

/// Settings of the configuration that the instructions do not set.
fn rest(state: &mut State<'_>, page: &mut Page) {
    let missing = state.settings.missing(&state.last, state.redaction_policy);
    if missing.is_empty() {
        return;
    }
    page.gap();
    let text =
        "These settings are in the configuration but not in the history; some may come from the base image.";
    page.note(page.next_line(), text);
    page.comment(text);
    state.secret(page, missing.iter().any(|line| line.contains(redact::REDACTED)));
    for line in missing {
        page.instruction(&line, &[], &[]);
    }
}
