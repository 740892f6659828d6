//! Base images that nobody looks after any more.

use std::fmt::Write as _;

use crate::base::text::printable;
use crate::cuda::catalog::numbers;
use crate::findings::facts::Facts;
use crate::findings::finish::Draft;
use crate::findings::rule::Rule;
use crate::findings::value::{Category, Severity, Verdict};
use crate::formats::os_release::{self, OsRelease};

pub(super) static RULE: Rule = Rule {
    id: "base-past-support",
    title: "Base image past its support",
    category: Category::Configuration,
    severity: Severity::Medium,
    fix: "Build on a release that is looked after.",
    finds: "A release of the distribution whose security updates have ended, and a tag of nvidia/cuda that NVIDIA's policy ends: of a point release that a later one replaces, or of a major version two before the newest.",
    matters: "Faults that are found later stay in. NVIDIA deletes tags from Docker Hub and NGC six months after they end: the image can no longer be built, and the layers of the base may vanish under those that were built on it.",
    example: r"```dockerfile
FROM nvidia/cuda:11.8.0-runtime-ubuntu20.04
```",
    remedy: r"```dockerfile
FROM nvidia/cuda:12.9.1-runtime-ubuntu24.04
```

Take the newest point release of the CUDA version that you need. Where the old one must stay, keep a copy of the base image in a registry of your own. Extended support that is paid for (Ubuntu Pro, Debian ELTS) cannot be seen in an image.

Dates are compared with the day of the report; without one (`--today`, the clock) the rule says nothing.",
    source: "nvidia/cuda, doc/support-policy.md; ubuntu.com/about/release-cycle; wiki.debian.org/DebianReleases and LTS; centos.org, end of life dates.",
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
    let mut draft = Draft::new(&RULE, Verdict::Safe, format!("{name} is past its support"));
    draft.subjects = vec![name.clone()];
    draft.reason = format!("The security updates of {name} ended on {}.", release.end_of_support);
    if let (Some(date), Some(end)) = (&release.long_term, release.long_term_end()) {
        if today <= end {
            draft.severity = Some(Severity::Low);
            draft.verdict = Verdict::Unsure;
            draft.question =
                Some("Are the updates of the long-term team installed, and are they enough?".to_owned());
            write!(draft.reason, " A team of volunteers goes on for the main packages until {date}.").ok();
        } else {
            write!(draft.reason, " Those of the long-term team ended on {date}.").ok();
        }
    }
    draft.proof.push(format!("os-release says {name}; dates: {}", release.source));
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
            format!(
                "NVIDIA looks after images of two majors of CUDA: with {newest} out, those of {major} have ended."
            )
        }
        (false, Some(later)) => format!(
            "NVIDIA ends the images of a point release when a later one is out, here {}.",
            later.version
        ),
        (false, None) => return None,
    };
    let reference = printable(reference);
    let mut draft = Draft::new(&RULE, Verdict::Unsure, format!("{reference} has ended"));
    draft.severity = Some(if old_major { Severity::Medium } else { Severity::Low });
    draft.reason = format!("{reason} Tags are deleted six months later.");
    draft.proof.extend(base.evidence.iter().map(|text| printable(text)));
    draft.question = Some(format!("Can {reference} still be pulled, or is a copy of it kept?"));
    if let Some(later) = replacing {
        draft.fix =
            format!("Build on nvidia/cuda:{}, the newest point release of that version.", later.version);
    }
    draft.subjects = vec![reference];
    Some(draft)
}
