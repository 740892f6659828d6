//! What is true of every proposal, whatever the image: its text is a Dockerfile, its diff gives its text, and what
//! its final stage puts together has the bytes that were predicted.

use cutaway::formats::dockerfile::parse;
use cutaway::rewrite::{Applicability, Proposal};

use super::built::{Built, View, build, view};
use super::scene::Scene;

/// Holds a proposal for the image of a scene, whose Dockerfile is `text`, to what is true of all.
pub(super) fn check(scene: &Scene, text: &str, proposal: &Proposal) {
    let told = format!("{}:\n{}\n{:#?}", proposal.id, proposal.dockerfile, proposal.closure);
    let file = parse(proposal.dockerfile.as_bytes()).unwrap_or_else(|error| panic!("{error}: {told}"));
    assert_eq!(patched(text, &proposal.diff), proposal.dockerfile, "the diff gives another text: {told}");
    assert_ne!(proposal.dockerfile, text, "{told}");
    let stages = file.stages();
    let last = stages.last().unwrap();
    assert_eq!(proposal.base_image.as_deref(), Some(last.base.as_str()), "{told}");
    let lines = u32::try_from(proposal.dockerfile.lines().count()).unwrap();
    assert!(proposal.reasons.iter().all(|reason| reason.line + reason.lines <= lines + 1), "{told}");
    let (predicted, closure) = (&proposal.predicted, &proposal.closure);
    assert_eq!(closure.resolved, closure.faults.is_empty(), "{told}");
    let by_hand = proposal.applicability == Applicability::Manual;
    assert!(by_hand || closure.resolved, "faults, and not by hand: {told}");
    let final_size = predicted.stages.last().unwrap();
    assert_eq!(final_size.merged_bytes, Some(predicted.merged_bytes), "{told}");
    let all: u64 = scene.layers.iter().map(|layer| bytes(&view(std::slice::from_ref(layer)))).sum();
    assert_eq!(predicted.content_bytes + predicted.saved_bytes, all, "{told}");
    if proposal.id != "tidy" {
        split(scene, text, proposal, &told);
    }
}

/// What is true of one with a new final stage.
fn split(scene: &Scene, text: &str, proposal: &Proposal, told: &str) {
    let before = view(&scene.layers);
    // Which packages come as recommendations is not known to the scene.
    if proposal.closure.unproven.iter().any(|line| line.ends_with("predicted sizes still include them.")) {
        return;
    }
    let Some(mut built) = build(scene, text, proposal) else { return };
    // What is left to the user is predicted as done.
    for (path, thing) in &before {
        let named = format!("/{} is needed and cannot be written", String::from_utf8_lossy(path));
        if proposal.closure.unproven.iter().any(|line| line.starts_with(&named)) {
            built.content += thing.bytes();
            built.view.insert(path.clone(), thing.clone());
        }
    }
    assert!(built.faults.is_empty(), "{:#?}\n{told}", built.faults);
    let predicted = &proposal.predicted;
    let difference = |built: &Built| -> Vec<String> {
        // What was predicted: all that is not said to be removed.
        let removed = |path: &Vec<u8>| {
            let path = format!("/{}", String::from_utf8_lossy(path));
            proposal.removed.iter().any(|one| one.path == path)
        };
        let missing = before
            .iter()
            .filter(|(path, thing)| thing.bytes() > 0 && !removed(path) && !built.view.contains_key(*path));
        let there = before.iter().filter(|(path, _)| removed(path) && built.view.contains_key(*path));
        let named = |(path, thing): (&Vec<u8>, &super::built::Thing), what: &str| {
            format!("{what} /{} of {}", String::from_utf8_lossy(path), thing.bytes())
        };
        missing.map(|one| named(one, "not built:")).chain(there.map(|one| named(one, "built:"))).collect()
    };
    assert_eq!(bytes(&built.view), predicted.merged_bytes, "{:#?}\n{told}", difference(&built));
    assert_eq!(built.content, predicted.content_bytes, "content of layers: {told}");
    if built.source_bytes.is_some() {
        let build_stage = predicted.stages.iter().rev().nth(1).unwrap();
        assert_eq!(build_stage.merged_bytes, built.source_bytes, "of the build stage: {told}");
    }
    let gone: u64 = proposal.removed.iter().map(|one| one.bytes).sum();
    // A file that the base image has in another version is removed as it is, and there as it was.
    let mut older = 0;
    for one in &proposal.removed {
        let path = one.path.trim_start_matches('/').as_bytes();
        if let Some(thing) = built.view.get(path) {
            assert_ne!(Some(thing), before.get(path), "{} is removed and built: {told}", one.path);
            older += thing.bytes();
        }
    }
    assert_eq!(bytes(&before) - gone + older, predicted.merged_bytes, "{told}");
    if proposal.applicability != Applicability::Manual {
        let others = built.others.iter().map(|(path, was)| (String::from_utf8_lossy(path), was));
        let others: Vec<_> = others.collect();
        let said = proposal.closure.unproven.iter().any(|line| line.contains("several owners"));
        assert!(others.is_empty() || said, "other owners, which were: {others:?}\n{told}");
    }
}

pub(super) fn bytes(view: &View) -> u64 {
    view.values().map(super::built::Thing::bytes).sum()
}

/// A text with a unified diff applied.
fn patched(before: &str, diff: &str) -> String {
    let old: Vec<&str> = before.split_inclusive('\n').collect();
    let mut new = String::new();
    let mut at = 0;
    let mut lines = diff.split_inclusive('\n').skip(2).peekable();
    while let Some(line) = lines.next() {
        if let Some(range) = line.strip_prefix("@@ -") {
            let (start, count) = range.split_once(' ').unwrap().0.split_once(',').map_or_else(
                || (range.split_once(' ').unwrap().0.parse().unwrap(), 1),
                |(start, count)| (start.parse::<usize>().unwrap(), count.parse::<usize>().unwrap()),
            );
            let start = if count == 0 { start } else { start - 1 };
            new.extend(old[at..start].iter().copied());
            at = start;
            continue;
        }
        let (sign, text) = line.split_at(1);
        let ends = lines.peek().is_some_and(|next| next.starts_with('\\'));
        let text = if ends { text.strip_suffix('\n').unwrap() } else { text };
        match sign {
            " " | "-" => {
                assert_eq!(old[at], text, "the diff does not fit");
                at += 1;
                if sign == " " {
                    new += text;
                }
            }
            "+" => new += text,
            _ => assert!(line.starts_with("\\ No newline"), "{line:?}"),
        }
    }
    new.extend(old[at..].iter().copied());
    new
}
