//! Lead of a comparison: growth, causes, and pull size.

use crate::base::labels::inline;
use crate::base::size::{grouped, human};
use crate::base::text::counted;
use crate::compare::{Change, SHARE, countermove};
use crate::report::compare::rows::{View, class_title, ends};
use crate::report::page::{Line, Tone};
use crate::report::sections::make::name;

/// Which images; of many, the first and the last.
pub(super) fn title(view: &View<'_>) -> String {
    match &view.titles[..] {
        [first, last] => format!("{first} vs {last}"),
        all if all.len() <= 4 => all.join(" vs "),
        all => format!("{} images, {} to {}", all.len(), view.first(), view.last()),
    }
}

pub(super) fn facts(view: &View<'_>) -> Vec<String> {
    let mut facts = vec![counted(view.titles.len(), "image"), format!("baseline {}", view.first())];
    if view.shown.len() < view.titles.len() {
        let shown: Vec<&str> = view.shown.iter().map(|place| view.title(*place)).collect();
        facts.push(format!("columns for {} only; JSON and CSV have all images", shown.join(" and ")));
    }
    facts
}

pub(super) fn lead(view: &View<'_>) -> Vec<Line> {
    let all = [incomplete(view), verdict(view), Some(growth(view)), pulls(view), Some(files(view))];
    all.into_iter().flatten().filter(|line| !line.text.is_empty()).collect()
}

/// That the figures are not of all that there is.
fn incomplete(view: &View<'_>) -> Option<Line> {
    let images = view.report.images.iter().enumerate();
    let missing: Vec<&str> =
        images.filter(|(_, image)| !image.complete).map(|(place, _)| view.title(place)).collect();
    let comparable = if is_comparable(view) { "" } else { " and are not comparable" };
    let text = format!(
        "Incomplete: {} could not be read completely. Figures cover the part that was read{comparable}; see the warnings.",
        missing.join(" and ")
    );
    (!missing.is_empty()).then(|| Line::plain(text).tone(Tone::Bad))
}

/// Whether the sizes of all images are known.
fn is_comparable(view: &View<'_>) -> bool {
    !(0..view.report.images.len()).any(|image| view.is_partial(image))
}

fn verdict(view: &View<'_>) -> Option<Line> {
    let verdict = view.report.verdict.as_ref()?;
    let broken: Vec<&str> =
        verdict.checks.iter().filter(|check| !check.ok).map(|check| check.name.as_ref()).collect();
    Some(match (verdict.pass, &broken[..]) {
        (true, _) => {
            Line::plain(format!("Regression budget passed: {}.", counted(verdict.checks.len(), "check")))
                .tone(Tone::Good)
        }
        (false, []) => Line::plain("Regression budget not evaluated.").tone(Tone::Bad),
        (false, broken) => {
            Line::plain(format!("Regression budget exceeded: {}.", name(&broken.join(", ")))).tone(Tone::Bad)
        }
    })
}

/// Growth of the merged size, and its main causes.
fn growth(view: &View<'_>) -> Line {
    let images = &view.report.images;
    let merged = |image: Option<&crate::report::compare::CompareImage>| {
        image.and_then(|image| image.totals.merged_bytes)
    };
    let (Some(first), Some(last)) = (merged(images.first()), merged(images.last())) else {
        return Line::default();
    };
    if !is_comparable(view) {
        return Line::default();
    }
    let (from, to) = (view.first(), view.last());
    if first == last {
        return Line::plain(format!("{to} has the same merged size as {from}: {}.", human(last)));
    }
    let why = causes(view, first, last);
    let why = if why.is_empty() { String::new() } else { format!(", mainly {}", why.join(" and ")) };
    let word = if last > first { "larger" } else { "smaller" };
    let text = format!(
        "{to} is {} {word} than {from} ({} vs {}){why}{}.",
        human(first.abs_diff(last)),
        human(last),
        human(first),
        against(view, first, last)
    );
    Line::plain(text).tone(Tone::Strong)
}

/// The figure that moved against the size: `; 655 MiB more wasted`.
fn against(view: &View<'_>, first: u64, last: u64) -> String {
    let wasted: Vec<_> = view.report.images.iter().map(|image| image.totals.wasted_bytes).collect();
    let wasted = ends(&wasted).map(|(first, last)| (None, first, last));
    let findings = view.report.findings.iter().filter_map(|row| {
        let (first, last) = ends(&row.bytes)?;
        Some((Some(&*row.rule), first, last))
    });
    countermove((first, last), wasted.into_iter().chain(findings))
        .map_or_else(String::new, |(rule, bytes, grew)| format!("; {}", moved_in_words(rule, bytes, grew)))
}

/// A figure that moved, in words: of the rule with this id, or the waste.
pub fn moved_in_words(rule: Option<&str>, bytes: u64, grew: bool) -> String {
    let (bytes, more) = (human(bytes), if grew { "more" } else { "less" });
    match rule {
        None => format!("{bytes} {more} wasted"),
        Some(id) => {
            let title = crate::findings::rule(id).map_or_else(|| name(id), |rule| inline(rule.title));
            format!("{bytes} {more} in “{title}”")
        }
    }
}

/// Main causes of the difference: the class, then the single component or package.
fn causes(view: &View<'_>, first: u64, last: u64) -> Vec<String> {
    let report = view.report;
    let grows = last > first;
    let enough = (first.abs_diff(last) / SHARE).max(1);
    let part = |bytes: &[Option<u64>]| {
        let (first, last) = ends(bytes)?;
        let part = first.abs_diff(last);
        ((last > first) == grows && part >= enough).then_some(part)
    };
    let sign = if grows { "+" } else { "−" };
    let named = |(bytes, what): (u64, String)| format!("{what} ({sign}{})", human(bytes));
    let classes =
        report.classes.iter().filter_map(|row| Some((part(&row.bytes)?, inline(&class_title(&row.name)))));
    // A package that is new or gone has no bytes on one side, which is none there.
    let none = |versions: &[Option<String>], bytes: &[Option<u64>]| -> Vec<Option<u64>> {
        let both = bytes.iter().zip(versions);
        both.map(|(bytes, version)| bytes.or_else(|| version.is_none().then_some(0))).collect()
    };
    let packages = report.packages.iter().filter_map(|row| {
        let bytes = part(&none(&row.versions, &row.bytes))?;
        Some((bytes, format!("the package {}", name(&row.name))))
    });
    let components = report.components.iter();
    let components =
        components.filter_map(|row| Some((part(&row.bytes)?, format!("the {} libraries", name(&row.name)))));
    let largest = |causes: &mut dyn Iterator<Item = (u64, String)>| causes.max_by_key(|(bytes, _)| *bytes);
    let class = largest(&mut { classes });
    let single = largest(&mut packages.chain(components));
    class.into_iter().chain(single).map(named).collect()
}

/// What a node that has the first image pulls for the last.
fn pulls(view: &View<'_>) -> Option<Line> {
    let report = view.report;
    let last = report.images.last()?;
    let (from, to) = (view.first(), view.last());
    let place = report.images.len() - 1;
    // A layer may occur in an image several times. A match by content only is pulled.
    let (mut same, mut alike) = (0, 0);
    for layer in report.layers.iter().filter(|layer| layer.shared_by.contains(&0)) {
        let times = layer.indexes.get(place).map_or(0, Vec::len);
        match layer.matches.get(place).and_then(Option::as_deref) {
            Some("content") => alike += times,
            _ => same += times,
        }
    }
    let all = last.totals.layers;
    let mut layers = match (same, all) {
        (0, 1) => "its layer is not shared".to_owned(),
        (0, _) => format!("none of {all} layers is shared"),
        (1, 1) => "its layer is shared".to_owned(),
        (1, _) => format!("1 of {all} layers is shared"),
        (same, _) => format!("{same} of {all} layers are shared"),
    };
    if alike > 0 {
        layers = format!("{layers}, {alike} with the same files but other timestamps");
    }
    Some(Line::plain(match (report.pull_bytes.last().copied().flatten(), last.totals.compressed_bytes) {
        (Some(0), _) => format!("A node that has {from} pulls no layer for {to}; {layers}."),
        (Some(pulled), Some(whole)) => {
            format!("A node that has {from} pulls {} of {} for {to}; {layers}.", human(pulled), human(whole))
        }
        (Some(pulled), None) => {
            format!("A node that has {from} pulls {} for {to}; {layers}.", human(pulled))
        }
        (None, _) => format!("Pull size for {to} on a node that has {from} unknown; {layers}."),
    }))
}

fn files(view: &View<'_>) -> Line {
    let files = &view.report.files;
    if files.added + files.removed + files.changed + files.unknown == 0 {
        return Line::plain(match files.same {
            1 => "The only file is unchanged.".to_owned(),
            same => format!("All {} files are unchanged.", grouped(same)),
        });
    }
    let parts = [
        (files.added, Change::Added.label(), human(files.added_bytes)),
        (files.removed, Change::Removed.label(), human(files.removed_bytes)),
        (files.changed, Change::Changed.label(), human(files.changed_bytes)),
        (files.unknown, Change::Unknown.label(), human(files.unknown_bytes)),
    ];
    let told = parts.iter().filter(|(count, ..)| *count > 0);
    let told = told.map(|(number, what, bytes)| format!("{} {what} ({bytes})", counted(*number, "file")));
    let told: Vec<String> = told.collect();
    Line::plain(format!("{}.", told.join(", ")))
}
