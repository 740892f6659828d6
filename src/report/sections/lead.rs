//! Lead of a report: name, origin, and summary.

use super::cold_start;
use super::make::{label, name, one_line, sum};
use crate::base::labels::{APPLICABILITIES, inline};
use crate::base::size::{grouped, human};
use crate::base::text::counted;
use crate::base::text::{elide_end, elide_middle, printable};
use crate::cuda::compat::RunVerdict;
use crate::report::compatibility::TargetLine;
use crate::report::findings::FindingLine;
use crate::report::model::Report;
use crate::report::page::{Line, Tone, share};

/// Characters of a title: a digest after a name fits in.
const TITLE: usize = 160;
/// GPUs that are named in a sentence.
const NAMED: usize = 3;

/// The name that the source gives the image, with its folder where it is a bare tag; else its reference.
pub(super) fn title(report: &Report) -> String {
    let image = &report.image;
    let place = image.reference.trim_end_matches('/');
    let place = place.rsplit('/').next().unwrap_or(place);
    let title = match image.tags.first() {
        Some(tag) if tag.contains([':', '/']) => tag.clone(),
        Some(tag) if !place.contains(':') => format!("{place}:{tag}"),
        Some(_) => place.to_owned(),
        None => image.reference.clone(),
    };
    elide_middle(&printable(&elide_middle(&title, TITLE)), TITLE)
}

pub(super) fn generator(report: &Report) -> String {
    format!("Report of {} {}", name(&report.generator.name), name(&report.generator.version))
}

pub(super) fn facts(report: &Report) -> Vec<String> {
    let image = &report.image;
    let mut facts = vec![name(&image.source)];
    let reference = elide_middle(&printable(&elide_middle(&image.reference, TITLE)), TITLE);
    if reference != title(report) {
        facts.push(reference);
    }
    if let Some(platform) = &image.platform {
        facts.push(name(&platform.to_string()));
    }
    if let Some(created) = &image.created {
        facts.push(format!("created {}", name(&moment(created))));
    }
    if let Some(digest) = &image.manifest_digest {
        facts.push(format!("manifest {}", name(digest)));
    }
    facts
}

/// A time without fractions of a second: `2026-01-02 03:04:05Z`, its zone unchanged.
fn moment(created: &str) -> String {
    let (whole, rest) = created.split_once('.').unwrap_or((created, ""));
    let zone = rest.trim_start_matches(|letter: char| letter.is_ascii_digit());
    format!("{}{zone}", whole.replace('T', " "))
}

pub(super) fn lead(report: &Report) -> Vec<Line> {
    let lines = [
        incomplete(report),
        Some(sizes(report)),
        Some(savings(report)),
        proposal(report),
        severe(report),
        Some(runs(report)),
        start(report),
    ];
    lines.into_iter().flatten().collect()
}

/// That the figures are not of the whole image.
fn incomplete(report: &Report) -> Option<Line> {
    if report.totals.complete {
        return None;
    }
    let layers = report.layers.len();
    let unread = report.layers.iter().filter(|layer| layer.content_bytes.is_none()).count();
    let is_skipped = !report.warnings.is_empty() && report.warnings.iter().all(|one| one.code == "not-read");
    let text = match unread {
        unread if unread == layers && is_skipped => "Manifest only: no layer was read.".to_owned(),
        unread if unread == layers => format!(
            "Incomplete: {}. Only the manifest could be read; see the warnings.",
            if layers == 1 { "the layer is unreadable".to_owned() } else { format!("all {layers} layers are unreadable") },
        ),
        0 => "Incomplete: part of the image is missing, unreadable, or has another digest or size than declared. \
            Figures cover what was read; the warnings name the part."
            .to_owned(),
        unread => format!(
            "Incomplete: {} of {} {} not read. Figures cover the other {}; see the warnings.",
            grouped(unread as u64),
            counted(layers, "layer"),
            if unread == 1 { "was" } else { "were" },
            layers - unread,
        ),
    };
    Some(Line::plain(text).tone(Tone::Bad))
}

/// What the image is, with each of the sizes named.
fn sizes(report: &Report) -> Line {
    let totals = &report.totals;
    let layers = counted(totals.layers, "layer");
    let stored = match totals.compressed_bytes {
        Some(bytes) => format!("{layers}, {} compressed", human(bytes)),
        None => layers.clone(),
    };
    let (Some(merged), Some(files), Some(wasted), Some(content)) =
        (totals.merged_bytes, totals.merged_files, totals.wasted_bytes, totals.content_bytes)
    else {
        return Line::plain(format!("{layers}. Contents unknown: only the manifest was read."));
    };
    let merged = format!("{} merged ({})", human(merged), counted(files, "file"));
    Line::plain(match wasted {
        0 if totals.complete => format!("{stored}: {merged}, 0 B wasted."),
        0 => format!("{stored}: {merged}."),
        wasted => {
            let share = share(wasted, content);
            format!("{stored}: {merged}, {} wasted ({share}).", human(wasted))
        }
    })
}

/// The findings that matter most, whatever their bytes.
fn severe(report: &Report) -> Option<Line> {
    let high = |finding: &&FindingLine| finding.severity == "high" && finding.verdict != "needed";
    let list: Vec<&FindingLine> = report.findings.iter().flatten().filter(high).collect();
    let first = list.first()?;
    let title = elide_end(&printable(&elide_end(&first.title, TITLE)), TITLE);
    Some(
        Line::plain(match list.len() - 1 {
            0 => format!("1 high-severity finding: “{title}”."),
            more => format!("{} high-severity findings: “{title}” and {more} more.", more + 1),
        })
        .tone(Tone::Unsure),
    )
}

/// Removable bytes, and the sizes after.
fn savings(report: &Report) -> Line {
    let (Some(findings), Some(sums)) = (&report.findings, &report.reclaimable) else {
        return Line::plain("Removable bytes unknown: the rules did not run.");
    };
    if findings.is_empty() {
        return Line::plain(if report.totals.complete {
            "No findings."
        } else {
            "No findings in the part that was read."
        });
    }
    let safe = match sums.safe_bytes {
        0 if sums.unsure_bytes > 0 => {
            let bytes = human(sums.unsure_bytes);
            return Line::plain(format!("Nothing is removable without review; {bytes} to review."));
        }
        0 => "Nothing is removable without review".to_owned(),
        bytes => format!("{} removable", human(bytes)),
    };
    let unsure = match sums.unsure_bytes {
        0 => String::new(),
        bytes => format!(", {} to review", human(bytes)),
    };
    let after =
        report.plan.as_ref().filter(|plan| !plan.findings.is_empty()).map_or_else(String::new, |plan| {
            let pull = plan
                .compressed_bytes_after
                .map_or_else(String::new, |bytes| format!(", about {} to pull", human(bytes)));
            format!(" After removal: {} merged{pull}.", human(plan.merged_bytes_after))
        });
    let tone = if sums.safe_bytes > 0 { Tone::Strong } else { Tone::Plain };
    Line::plain(format!("{safe}{unsure}.{after}")).tone(tone)
}

/// The best proposed Dockerfile.
fn proposal(report: &Report) -> Option<Line> {
    let best = report.proposals.as_ref()?.first()?;
    let title = one_line(&best.title, TITLE);
    let applicability = inline(&label(&APPLICABILITIES, &best.applicability));
    let bytes = human(best.saved_bytes);
    Some(Line::plain(format!("Proposed Dockerfile saves {bytes} in layers ({applicability}): {title}.")))
}

/// What a start costs on the node of the estimate, if that is known.
fn start(report: &Report) -> Option<Line> {
    let part = report.cold_start.as_ref()?;
    let seconds = cold_start::sentence(part)?;
    Some(Line::plain(format!("Cold start ({}): {seconds}.", name(&part.node_name))))
}

/// Whether it would run on the GPUs that it was judged against.
fn runs(report: &Report) -> Line {
    let Some(part) = &report.compatibility else {
        return Line::plain("Compatibility unknown: the image was not analysed completely.");
    };
    let targets = &part.targets;
    let of = |verdict: &str| targets.iter().filter(|one| one.verdict == verdict).collect::<Vec<_>>();
    let (runs, jit, compat) = (of("runs"), of("runs-with-jit"), of("runs-with-compat"));
    let (fails, unknown) = (of("fails"), of("unknown"));
    let ready = sum([runs.len(), jit.len(), compat.len()].into_iter().map(|count| count as u64));
    if targets.is_empty() {
        return Line::plain("No target GPU.");
    }
    let all = counted(targets.len(), "target GPU");
    if unknown.len() == targets.len() {
        let text = format!("Compatibility unknown for all {all}.");
        return Line::plain(text).tone(Tone::Unsure);
    }
    let mut text = format!("Runs on {} of {all}", grouped(ready));
    let parts = [
        (RunVerdict::RunsWithJit, "on", jit),
        (RunVerdict::RunsWithCompat, "on", compat),
        (RunVerdict::Fails, "on", fails.clone()),
        (RunVerdict::Unknown, "for", unknown.clone()),
    ];
    for (verdict, on, list) in parts {
        if !list.is_empty() {
            text = format!("{text}; {} {on} {}", inline(verdict.label()), gpus(&list));
        }
    }
    let tone = match (&fails[..], &unknown[..]) {
        ([], []) => Tone::Good,
        ([], _) => Tone::Unsure,
        _ => Tone::Bad,
    };
    Line::plain(format!("{text}.")).tone(tone)
}

fn gpus(targets: &[&TargetLine]) -> String {
    let mut text = targets.iter().take(NAMED).map(|one| gpu(one)).collect::<Vec<_>>().join(", ");
    if let Some(more @ 1..) = targets.len().checked_sub(NAMED) {
        text = format!("{text} and {} more", grouped(more as u64));
    }
    text
}

/// A GPU with its compute capability, the maker left out: `H100 80GB (9.0)`.
pub(super) fn gpu(target: &TargetLine) -> String {
    let gpu = target.gpu.strip_prefix("NVIDIA ").unwrap_or(&target.gpu);
    format!("{} ({})", name(gpu), one_line(&target.compute_capability, 8))
}
