//! Base images past end of support.

use std::fmt::Write as _;

use crate::base::text::printable;
use crate::cuda::catalog::numbers;
use crate::findings::draft::Draft;
use crate::findings::facts::Facts;
use crate::findings::value::{Category, Rule, Severity, Verdict};
use crate::formats::os_release::{self, OsRelease};

pub(super) static RULE: Rule = Rule {
    id: "base-past-support",
    title: "Base image past end of support",
    category: Category::Configuration,
    severity: Severity::Medium,
    fix: "Build on a supported release.",
    page: include_str!("../../../assets/manual/rules/base-past-support.md"),
};

pub(super) fn find(facts: &Facts<'_>) -> Vec<Draft> {
    let Some(today) = facts.input.today else { return Vec::new() };
    distribution(facts, today).into_iter().chain(toolkit(facts)).collect()
}

fn release(facts: &Facts<'_>) -> Option<OsRelease> {
    [&b"/etc/os-release"[..], b"/usr/lib/os-release"].iter().find_map(|path| {
        let (layer, entry) = facts.node(facts.paths.lookup(path)?).content()?;
        Some(os_release::read(&facts.layer(layer)?.facts.document(entry)?.bytes().ok()?))
    })
}

fn distribution(facts: &Facts<'_>, today: u32) -> Option<Draft> {
    let found = release(facts)?;
    let release = facts.catalog.release(found.id.as_deref()?, found.version_id.as_deref()?)?;
    if today <= release.end()? {
        return None;
    }
    let name = &release.name;
    let mut draft = Draft::new(&RULE, Verdict::Safe, format!("{name} is past end of support"));
    draft.subjects = vec![name.clone()];
    draft.reason = format!("Security updates for {name} ended on {}.", release.end_of_support);
    if let (Some(date), Some(end)) = (&release.long_term, release.long_term_end()) {
        if today <= end {
            draft.severity = Some(Severity::Low);
            draft.verdict = Verdict::Unsure;
            draft.question = Some("Are LTS updates installed, and are they sufficient?".to_owned());
            write!(draft.reason, " LTS volunteers support the main packages until {date}.").ok();
        } else {
            write!(draft.reason, " LTS support ended on {date}.").ok();
        }
    }
    draft.proof.push(format!("/etc/os-release: {name}; dates: {}", release.source));
    draft.fix = "Build on a later release of the distribution.".into();
    Some(draft)
}

fn toolkit(facts: &Facts<'_>) -> Option<Draft> {
    let base = facts.inventory.base.as_ref()?;
    let reference = base.reference.as_deref().filter(|reference| reference.starts_with("nvidia/cuda:"))?;
    let version = base.cuda_version.as_deref()?;
    let asked = numbers(version.as_bytes());
    let [major, minor, ..] = asked[..] else { return None };
    let newest = facts.catalog.toolkits().iter().map(|one| numbers(one.version.as_bytes())).max()?;
    let replacing = facts.catalog.newest_toolkit(&format!("{major}.{minor}"));
    let replacing = replacing.filter(|one| numbers(one.version.as_bytes()) > asked);
    let old_major = newest.first().is_some_and(|newest| major.saturating_add(2) <= *newest);
    let reason = match (old_major, replacing) {
        (true, _) => {
            let newest = newest.first().copied().unwrap_or_default();
            format!("NVIDIA supports images of two CUDA major versions: since {newest}, {major} has ended.")
        }
        (false, Some(later)) => format!(
            "NVIDIA ends support for a point release when its successor is published, here {}.",
            later.version
        ),
        (false, None) => return None,
    };
    let reference = printable(reference);
    let mut draft = Draft::new(&RULE, Verdict::Unsure, format!("{reference} is past end of support"));
    draft.severity = Some(if old_major { Severity::Medium } else { Severity::Low });
    draft.reason = format!("{reason} Tags are deleted six months later.");
    draft.proof.extend(base.evidence.iter().map(|text| printable(text)));
    draft.question = Some(format!("Can {reference} still be pulled, or is a copy kept?"));
    if let Some(later) = replacing {
        draft.fix =
            format!("Build on nvidia/cuda:{}, the newest point release of that version.", later.version);
    }
    draft.subjects = vec![reference];
    Some(draft)
}
