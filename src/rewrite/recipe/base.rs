//! The end of the base image in the history.

use super::step::{Body, Step, layers};
use super::values::strings;
use crate::base::text::printable;
use crate::cuda::{BaseImage, Flavor};
use crate::formats::dockerfile::Keyword;
use crate::source::redacted;

/// The base of an image, as far as a Dockerfile can name it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Base {
    /// The reference for `FROM`; `None` when unknown.
    pub(super) reference: Option<String>,
    /// Number of its history entries: the first ones.
    pub(super) steps: usize,
    /// Number of its layers; `None` when unknown.
    pub(super) layers: Option<usize>,
    /// A note about it, in a sentence.
    pub(super) note: Option<String>,
}

/// Commands of distribution and language images: images built on them set another.
const SHELLS: [&str; 10] =
    ["bash", "/bin/bash", "sh", "/bin/sh", "/bin/ash", "python3", "python", "node", "irb", "jshell"];

/// Finds the end of the base. `fits` is whether the history has as many layers as the image.
pub(super) fn find(steps: &[Step<'_>], base: Option<&BaseImage>, fits: bool) -> Base {
    let built_on = built_on(steps);
    let known = base.and_then(|base| base.reference.clone());
    let reference = known.clone().or_else(|| built_on.as_ref().map(|(name, _)| name.clone()));
    let flavor = base.map_or(Flavor::None, |base| base.flavor);
    if let Some(base) = base.filter(|base| base.layers > 0) {
        if steps.is_empty() {
            return Base { reference, steps: 0, layers: Some(base.layers), note: None };
        }
        if fits && reference.is_some() {
            let end = own_command(steps, reference.as_deref().unwrap_or_default());
            if let Some(end) = end.filter(|end| layers(&steps[..*end]) == base.layers) {
                return Base { reference, steps: end, layers: Some(base.layers), note: None };
            }
            return with_layers(steps, reference, base.layers, flavor);
        }
    }
    // The layers are inconclusive: the entries themselves decide.
    // What buildah records may be an image in between, with a tag: its end is not that of another image.
    let is_other = |name: &str| known.as_deref().is_some_and(|known| repository(known) != repository(name));
    let told = || built_on.as_ref().filter(|(name, _)| !is_other(name)).map(|(_, end)| *end);
    let end = told()
        .or_else(|| last_step(steps, 0, steps.len(), flavor))
        .or_else(|| own_command(steps, reference.as_deref().unwrap_or_default()));
    let of_other = || built_on.as_ref().map(|(name, end)| (Some(name.clone()), *end));
    let found = end.map(|end| (reference.clone(), end)).or_else(of_other);
    if let Some((reference, end)) = found.filter(|(reference, _)| reference.is_some()) {
        let count = layers(&steps[..end]);
        return Base { reference, steps: end, layers: fits.then_some(count), note: None };
    }
    let seems = |reference: &str| {
        format!(
            "The image seems to be built on {reference}; the end of that image in the history is unknown."
        )
    };
    if let Some(lower) = base.and_then(|base| base.below.last()).filter(|_| fits) {
        let mut found = with_layers(steps, Some(lower.reference.clone()), lower.layers, lower.flavor);
        found.note = reference.as_deref().map(|reference| {
            format!("{} Everything built on {} is written out.", seems(reference), lower.reference)
        });
        return found;
    }
    if let Some(base) = base.filter(|base| base.layers > 0 && fits) {
        return with_layers(steps, None, base.layers, flavor);
    }
    let note = reference.as_deref().map(seems);
    Base { reference: reference.filter(|_| steps.is_empty()), steps: 0, layers: None, note }
}

/// A base of so many layers: its entries end with its last layer and the settings after it that such images set.
fn with_layers(steps: &[Step<'_>], reference: Option<String>, count: usize, flavor: Flavor) -> Base {
    let last = steps.iter().position(|step| step.layer.is_some_and(|layer| layer + 1 >= count));
    let Some(last) = last else {
        return Base { reference, steps: steps.len(), layers: Some(count), note: None };
    };
    let start = last + 1;
    let settings = steps[start..].iter().take_while(|step| step.layer.is_none()).count();
    let end = last_step(steps, start, start + settings, flavor)
        .or_else(|| (flavor == Flavor::None && settings > 0 && is_shell(&steps[start])).then_some(start + 1));
    Base { reference, steps: end.unwrap_or(start), layers: Some(count), note: None }
}

/// The place after the last instruction of NVIDIA's Dockerfile of a flavor, if it is in this part of the history.
fn last_step(steps: &[Step<'_>], start: usize, end: usize, flavor: Flavor) -> Option<usize> {
    let is_last = |step: &Step<'_>| match flavor {
        Flavor::Base => step.text.contains("NVIDIA_DRIVER_CAPABILITIES"),
        Flavor::Runtime => step
            .arguments(Keyword::Entrypoint)
            .is_some_and(|text| text.contains("/opt/nvidia/nvidia_entrypoint.sh")),
        Flavor::Devel => step.text.contains("LIBRARY_PATH") && step.text.contains("stubs"),
        Flavor::None => false,
    };
    let place = steps.get(start..end)?.iter().position(is_last)?;
    Some(start + place + 1)
}

/// The place after the command with which images of these languages end.
fn own_command(steps: &[Step<'_>], reference: &str) -> Option<usize> {
    let wanted: &[&str] = match repository(reference) {
        "python" => &["python3", "python2", "python"],
        "node" => &["node"],
        "ruby" => &["irb"],
        "golang" => {
            let place = steps.iter().position(|step| step.arguments(Keyword::WorkDir) == Some("/go"))?;
            return Some(place + 1);
        }
        _ => return None,
    };
    let place =
        steps.iter().position(|step| command(step).is_some_and(|name| wanted.contains(&name.as_str())))?;
    Some(place + 1)
}

/// The last part of a reference's repository: `python` of `docker.io/library/python:3.11`.
fn repository(reference: &str) -> &str {
    let last = reference.rsplit('/').next().unwrap_or(reference);
    last.split(['@', ':']).next().unwrap_or(last)
}

/// The command of one word that an entry sets.
fn command(step: &Step<'_>) -> Option<String> {
    let text = step.arguments(Keyword::Cmd)?;
    let mut words = strings(text).unwrap_or_else(|| vec![text.to_owned()]);
    (words.len() == 1).then(|| words.pop()).flatten()
}

fn is_shell(step: &Step<'_>) -> bool {
    command(step).is_some_and(|name| SHELLS.contains(&name.as_str()))
}

/// The base that buildah records: its name, and the number of its entries. Intermediate images have no name but the
/// beginning of their digest.
fn built_on(steps: &[Step<'_>]) -> Option<(String, usize)> {
    let is_name = |name: &str| name.len() < 12 || !name.bytes().all(|byte| byte.is_ascii_hexdigit());
    let place = steps.iter().rposition(|step| step.parent.is_some_and(is_name))?;
    let name = steps[place].parent?;
    let name = name.strip_prefix("docker.io/").unwrap_or(name);
    let name = redacted(&printable(name.strip_prefix("library/").unwrap_or(name)));
    // Without `--layers` only the last entry has the comment, and those before it created no layer.
    let mut start = place;
    while start > 0 && steps[start - 1].layer.is_none() && steps[start - 1].parent.is_none() {
        start -= 1;
    }
    while start < place && (is_shell(&steps[start]) || matches!(steps[start].body, Body::Other)) {
        start += 1;
    }
    Some((name, start))
}
