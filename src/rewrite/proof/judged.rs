//! Compares the new view with the verdicts of the findings, and with mentions in application files.

use std::collections::{BTreeMap, BTreeSet};

use super::image_pair::ImagePair;
use super::notes::ProofNotes;
use super::side::shown;
use crate::base::text::counted;
use crate::base::text::{elide_end, escape};
use crate::cuda::links::Object;
use crate::findings::{Answer, Category, Finding, User, Verdict};
use crate::rootfs::{NodeId, NodeKind};

/// Maximum lines about kept content, and characters of each.
const LINES: usize = 50;
const TEXT: usize = 300;
/// Maximum users of a finding; one with as many may have more that are not listed.
const MOST_USERS: usize = 16;

/// Compares the new view with the verdicts. Returns lines about kept content.
pub(super) fn findings(pair: &ImagePair<'_>, notes: &mut ProofNotes) -> Vec<String> {
    let mut lines = Vec::new();
    // Findings without bytes of their own refer to files that these count.
    let findings = pair.input.findings.list.iter().filter(|finding| finding.category.has_bytes());
    for finding in findings {
        let seen = || finding.items.iter().filter(|item| item.node.is_some());
        let (mut kept, mut lost, mut first) = (0_u64, 0_u64, None);
        for item in seen() {
            if pair.has((item.layer, item.entry)) {
                kept += 1;
            } else {
                lost += 1;
                first = first.or(item.node);
            }
        }
        let is_planned = pair.input.plan.contains(&finding.id);
        let answer = pair.input.plan.answer(&finding.id);
        if finding.verdict == Verdict::Needed && kept > 0 && lines.len() < LINES {
            lines.push(elide_end(&format!("{}: {}", finding.title, finding.reason), TEXT));
        }
        let Some(first) = first.map(|node| pair.old.shown(node)) else { continue };
        let (title, reason, lost) = (&finding.title, &finding.reason, counted(lost, "file"));
        match finding.verdict {
            // For build headers and libraries, the packages that stay contain what is read.
            Verdict::Needed
                if !is_planned && is_wanted(pair, finding) && !(is_for_builds(finding) && kept > 0) =>
            {
                notes.faults.add(elide_end(
                    &format!("left out but required at run time: {lost}, such as {first}: {title}: {reason}"),
                    TEXT * 2,
                ));
            }
            Verdict::Needed => notes.unproven.add(elide_end(
                &format!("left out but required at run time in the current image: {lost}, such as {first}: {reason}"),
                TEXT * 2,
            )),
            Verdict::Unsure if answer == Some(Answer::Unused) => {}
            Verdict::Unsure if answer == Some(Answer::Used) && !is_planned => {
                notes.faults.add(elide_end(
                    &format!(
                        "left out although the plan keeps it as used ({}): {lost} of “{title}”, such as {first}",
                        finding.id
                    ),
                    TEXT * 2,
                ));
            }
            // The subject of the question may be left out as well.
            Verdict::Unsure if is_wanted(pair, finding) => {
                let question = finding.question.as_deref().unwrap_or(reason);
                notes.unproven.say(format!("question {question}"), || {
                    elide_end(
                        &format!(
                            "not in the new image, needs review: {lost} of “{title}”, such as {first} (open question {})",
                            finding.id
                        ),
                        TEXT * 2,
                    )
                });
            }
            Verdict::Unsure | Verdict::Safe => {}
        }
    }
    lines
}

/// Whether a finding is about files that compilers read, of which a reader needs only a part.
fn is_for_builds(finding: &Finding) -> bool {
    matches!(finding.category, Category::Headers | Category::StaticLibraries | Category::BuildMetadata)
}

/// Whether the new view still contains a user of a finding.
fn is_wanted(pair: &ImagePair<'_>, finding: &Finding) -> bool {
    let shows = |node: NodeId| {
        let content = pair.old.node(node).content();
        content.is_none_or(|inode| pair.has(inode))
    };
    let links = &pair.old.inventory.links;
    finding.users.is_empty()
        || finding.users.len() >= MOST_USERS
        || finding.users.iter().any(|user| match user {
            User::Object(id) => {
                links.objects.get(id.0 as usize).is_some_and(|object: &Object| shows(object.node))
            }
            User::File(node) => shows(*node),
            User::Package(_, folder) => {
                folder.is_empty() || pair.new.find_from(NodeId::ROOT, folder).is_some()
            }
            User::Setting(_) => true,
        })
}

/// Libraries mentioned by application files that are missing completely.
pub(super) fn mentions(pair: &ImagePair<'_>, notes: &mut ProofNotes) {
    let old = &pair.old;
    let mut named: BTreeMap<&str, NodeId> = BTreeMap::new();
    for mention in &old.inventory.mentions {
        let stays = old.node(mention.node).content().is_some_and(|inode| pair.has(inode));
        for library in mention.libraries.iter().filter(|_| stays) {
            named.entry(library).or_insert(mention.node);
        }
    }
    if named.is_empty() {
        return;
    }
    let wanted = |name: &[u8]| memchr::memmem::find(name, b".so").map(|_| escape(name));
    let in_new: BTreeSet<String> = pair
        .new
        .rootfs
        .nodes()
        .filter(|node| node.kind() != NodeKind::Directory)
        .filter_map(|node| wanted(node.name()))
        .filter(|name| named.contains_key(name.as_str()))
        .collect();
    // Whether all files of this name are removed by findings with verdict safe.
    let mut gone: BTreeMap<&str, (bool, NodeId)> = BTreeMap::new();
    for node in old.rootfs.nodes().filter(|node| node.kind() != NodeKind::Directory) {
        let Some(name) = wanted(node.name()).filter(|name| !in_new.contains(name)) else { continue };
        let Some((name, _)) = named.get_key_value(name.as_str()) else { continue };
        // A link is as safe as its target.
        let file = old.find_from(node.parent().id(), node.name());
        let inode = file.and_then(|file| old.node(file).content());
        let finding = inode.filter(|inode| pair.is_planned(*inode)).and_then(|inode| pair.finding(inode));
        let is_safe = finding.is_some_and(|finding| finding.verdict == Verdict::Safe);
        let known = gone.entry(name).or_insert((true, node.id()));
        known.0 &= is_safe;
    }
    for (name, (is_safe, node)) in gone {
        let (who, path) = (named.get(name).map(|who| old.shown(*who)).unwrap_or_default(), old.shown(node));
        let name = shown(name.as_bytes());
        // A text mentions a library without version for a linker; the loader opens a version.
        let dotted = format!("{name}.");
        let version = || pair.new.rootfs.nodes().find(|one| one.name().starts_with(dotted.as_bytes()));
        if is_safe {
            notes.unproven.add(format!("{who} mentions {name}; the plan removes {path} as safe"));
        } else if let Some(version) = name.strip_suffix(".so").and_then(|_| version()) {
            let version = shown(version.name());
            notes.unproven.add(format!("{who} mentions {name}; only versions such as {version} stay"));
        } else {
            notes.faults.add(format!("{who} mentions {name}; {path} is left out without a safe finding"));
        }
    }
}
