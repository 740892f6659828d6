//! Turns drafts into findings: bytes, layers, owners, ids, order and sums.

use std::collections::{BTreeMap, BTreeSet};

use hashbrown::HashSet;

use super::draft::Draft;
use super::facts::Facts;
use super::input::Input;
use super::rules;
use super::value::{Finding, Findings, Reclaimable, Rule, Severity, Share, User, Verdict};
use crate::base::text::{and_more, elide_middle};
use crate::rootfs::NodeId;

/// Applies all rules. Reads no bytes of the image.
pub fn findings(input: &Input<'_>) -> Findings {
    let facts = Facts::new(input);
    let mut drafts = rules::run(&facts);
    let settle = |drafts: &mut Vec<Draft>, first: usize| {
        if !input.complete {
            drafts[first..].iter_mut().for_each(doubt);
        }
        keep_each_file_once(drafts);
    };
    settle(&mut drafts, 0);
    for find in rules::AFTERWARDS {
        let known = drafts.len();
        drafts.extend(find(&facts, &drafts));
        if drafts.len() > known {
            settle(&mut drafts, known);
        }
    }
    let places = drafts.into_iter().enumerate().filter(|(_, draft)| has_subject(draft));
    let mut list: Vec<(usize, Vec<usize>, Finding)> = places
        .map(|(place, mut draft)| (place, std::mem::take(&mut draft.rests_on), finish(&facts, draft)))
        .collect();
    list.sort_by(|a, b| order(&a.2).cmp(&order(&b.2)));
    find_reading(list.iter_mut().map(|(.., finding)| finding).collect());
    name(list.iter_mut().map(|(.., finding)| finding));
    let list = rest(list);
    let reclaimable = reclaimable(&list);
    Findings { list, reclaimable, metadata_only: rules::metadata_only(&facts), ..Findings::default() }
}

/// Finds the files of findings that may need those of others.
fn find_reading(list: Vec<&mut Finding>) {
    let users = list.iter().flat_map(|finding| &finding.readers);
    let files = users.filter_map(|reader| match reader {
        (Some(User::File(node)), _) => Some(*node),
        _ => None,
    });
    let files: HashSet<NodeId> = files.collect();
    if files.is_empty() {
        for finding in list {
            finding.reading.clear();
        }
        return;
    }
    for finding in list.into_iter().filter(|finding| finding.verdict == Verdict::Unsure) {
        let own = finding.items.iter().filter_map(|item| item.node).filter(|node| files.contains(node));
        let own: Vec<NodeId> = own.collect();
        finding.reading.retain(|node| files.contains(node));
        finding.reading.extend(own);
        finding.reading.sort_unstable();
        finding.reading.dedup();
    }
}

/// An unread part may contain a user of any file: nothing is certain then.
fn doubt(draft: &mut Draft) {
    if draft.verdict == Verdict::Safe {
        draft.verdict = Verdict::Unsure;
        draft.question = Some("Do unread parts of the image use these files?".to_owned());
        draft.proof.push("not certain: parts of the image were not read, see the warnings".to_owned());
    }
}

/// A draft about files is dropped when it has none left, and when those that are safe to remove have no bytes.
fn has_subject(draft: &Draft) -> bool {
    let named = !draft.category.has_bytes() && !draft.subjects.is_empty();
    // Nothing is gained without files that are empty.
    let gains = draft.verdict != Verdict::Safe
        || !draft.category.has_bytes()
        || draft.items.iter().any(|item| item.bytes > 0);
    !draft.items.is_empty() && gains || named || draft.potential_bytes > 0
}

/// A file found by two rules is kept by the one whose category comes first.
fn keep_each_file_once(drafts: &mut [Draft]) {
    let mut order: Vec<usize> = (0..drafts.len()).collect();
    order.sort_by_key(|place| (drafts[*place].category, *place));
    let mut taken = HashSet::new();
    for place in order {
        let draft = &mut drafts[place];
        if draft.category.has_bytes() {
            draft.items.retain(|item| taken.insert((item.layer, item.entry)));
        }
    }
}

fn order(finding: &Finding) -> (Verdict, std::cmp::Reverse<u64>, Severity, &str, &str) {
    let bytes = std::cmp::Reverse(finding.bytes);
    (finding.verdict, bytes, finding.severity, finding.rule.id, &finding.title)
}

fn finish(facts: &Facts<'_>, mut draft: Draft) -> Finding {
    draft.items.sort_unstable();
    draft.items.dedup();
    let has_bytes = draft.category.has_bytes();
    let mut layers: BTreeMap<u16, Share> = BTreeMap::new();
    let mut packages = BTreeSet::new();
    for item in &draft.items {
        let none = Share { layer: item.layer, bytes: 0, files: 0, merged_bytes: 0 };
        let share = layers.entry(item.layer).or_insert(none);
        share.files += 1;
        // Files of a rule without bytes of its own are counted by other rules.
        if has_bytes {
            share.bytes += item.bytes;
            share.merged_bytes += if item.node.is_some() { item.bytes } else { 0 };
        }
        packages.extend(item.node.and_then(|node| facts.owner(node)));
    }
    let layers: Vec<Share> = layers.into_values().collect();
    let bytes = layers.iter().map(|share| share.bytes).sum();
    draft.users.sort();
    draft.users.dedup();
    if let Some(owners) = owners(facts, &packages) {
        draft.proof.push(owners);
    }
    let cut = draft.proof.len().saturating_sub(MOST_STATEMENTS);
    draft.proof.truncate(MOST_STATEMENTS);
    draft.proof.iter_mut().chain(&mut draft.subjects).for_each(elide);
    draft.proof.extend((cut > 0).then(|| format!("{cut} more statements not shown")));
    [&mut draft.title, &mut draft.reason].into_iter().chain(draft.question.as_mut()).for_each(elide);
    let fix = if draft.fix.is_empty() { draft.rule.fix.to_owned() } else { draft.fix };
    let note = later_layer_note(facts, &layers, has_bytes && bytes > 0);
    let fix = match (draft.verdict, note) {
        (Verdict::Needed, _) => "No action: required at run time.".to_owned(),
        (_, Some(note)) => format!("{fix} {note}"),
        (_, None) => fix,
    };
    Finding {
        id: String::new(),
        rule: draft.rule,
        severity: draft.severity.unwrap_or_else(|| severity(draft.rule, draft.verdict, bytes)),
        verdict: draft.verdict,
        category: draft.category,
        title: draft.title,
        reason: draft.reason,
        proof: draft.proof,
        question: draft.question,
        readers: draft.readers.into_iter().collect(),
        reading: draft.reading,
        fix,
        bytes,
        merged_bytes: layers.iter().map(|share| share.merged_bytes).sum(),
        layers,
        items: draft.items,
        subjects: draft.subjects,
        packages: packages.into_iter().collect(),
        users: draft.users,
        potential_bytes: draft.potential_bytes,
        potential_compressed_bytes: draft.potential_compressed_bytes,
        rests_on: Vec::new(),
    }
}

/// Maximum statements per finding, and characters per statement. Names and paths are untrusted input of any
/// length, and an image may have millions of files.
const MOST_STATEMENTS: usize = 200;
const TEXT: usize = 1_000;

fn elide(text: &mut String) {
    if text.len() > TEXT {
        *text = elide_middle(text, TEXT);
    }
}

/// Required at run time is information; size outweighs the rule's severity.
fn severity(rule: &Rule, verdict: Verdict, bytes: u64) -> Severity {
    const MUCH: u64 = 256 << 20;
    const LITTLE: u64 = 1 << 20;
    match verdict {
        Verdict::Needed => Severity::Info,
        _ if !rule.category.has_bytes() => rule.severity,
        _ if bytes >= MUCH => Severity::High,
        _ if bytes < LITTLE => Severity::Low.max(rule.severity),
        _ => rule.severity,
    }
}

/// The packages that own the files, as a statement.
fn owners(facts: &Facts<'_>, packages: &BTreeSet<usize>) -> Option<String> {
    const MOST: usize = 8;
    if packages.is_empty() {
        return None;
    }
    let names: Vec<String> = packages
        .iter()
        .filter_map(|place| facts.inventory.packages.get(*place))
        .map(|package| format!("{} {} ({})", package.name, package.version, package.manager))
        .collect();
    let more = and_more(names.len(), MOST);
    Some(format!("owned by {}{more}", names.iter().take(MOST).cloned().collect::<Vec<_>>().join(", ")))
}

/// The note that removing files in an upper layer frees nothing, with the layers that contain them.
fn later_layer_note(facts: &Facts<'_>, layers: &[Share], has_bytes: bool) -> Option<String> {
    if !has_bytes {
        return None;
    }
    if layers.iter().all(|share| share.merged_bytes == 0) {
        return Some("Upper layers shadow them already; deleting them there frees no space.".to_owned());
    }
    let base = facts.base_layers();
    let numbers: Vec<String> = layers.iter().map(|share| share.layer.to_string()).collect();
    let (noun, list) = (if numbers.len() == 1 { "layer" } else { "layers" }, numbers.join(", "));
    let of_base = layers.iter().filter(|share| usize::from(share.layer) < base).count();
    Some(if of_base == layers.len() {
        format!(
            "All of it is in the base image ({noun} {list}); deleting it in an upper layer frees no space."
        )
    } else {
        format!("They are in {noun} {list}; deleting them in an upper layer frees no space.")
    })
}

/// Sets ids that are stable for the same image: rule, verdict, and a number when there are several.
fn name<'f>(list: impl Iterator<Item = &'f mut Finding>) {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for finding in list {
        let base = format!("{}:{}", finding.rule.id, finding.verdict.as_str());
        let count = seen.entry(base.clone()).or_default();
        *count += 1;
        finding.id = if *count == 1 { base } else { format!("{base}:{count}") };
    }
}

/// Resolves `rests_on` from draft indexes to finding ids.
fn rest(list: Vec<(usize, Vec<usize>, Finding)>) -> Vec<Finding> {
    let ids: BTreeMap<usize, String> =
        list.iter().map(|(place, _, finding)| (*place, finding.id.clone())).collect();
    let give = |(_, rests_on, mut finding): (usize, Vec<usize>, Finding)| {
        finding.rests_on = rests_on.iter().filter_map(|place| ids.get(place)).cloned().collect();
        finding.rests_on.sort();
        if !finding.rests_on.is_empty() {
            let ids = finding.rests_on.join(", ");
            finding.reason = format!("{} Applies only together with {ids}.", finding.reason);
        }
        finding
    };
    list.into_iter().map(give).collect()
}

fn reclaimable(list: &[Finding]) -> Reclaimable {
    let mut sums = Reclaimable::default();
    for finding in list {
        sums.potential_bytes += finding.potential_bytes;
        match finding.verdict {
            Verdict::Safe => sums.safe_bytes += finding.bytes,
            Verdict::Unsure => sums.unsure_bytes += finding.bytes,
            Verdict::Needed => continue,
        }
        if finding.bytes > 0 {
            *sums.by_category.entry(finding.category).or_default() += finding.bytes;
        }
    }
    sums
}
