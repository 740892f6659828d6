//! Large files that have the same bytes.

use std::collections::HashSet;

use super::RULE;
use crate::base::size::human;
use crate::cuda::Inode;
use crate::findings::census::item;
use crate::findings::facts::Facts;
use crate::findings::finish::Draft;
use crate::findings::value::{Severity, Verdict};

/// Files from this size on are told: smaller ones are many, and add up to little.
const LARGE: u64 = 1 << 20;
/// Groups that the proof names.
const NAMED: usize = 12;

pub(super) fn find(facts: &Facts<'_>) -> Option<Draft> {
    let libraries: HashSet<Inode> =
        facts.inventory.libraries.iter().filter_map(|library| facts.node(library.node).content()).collect();
    // What is sorted already is told of with its kind.
    let sorted: HashSet<Inode> =
        facts.census.files.iter().map(|file| (file.item.layer, file.item.entry)).collect();
    let mut draft = Draft::new(&RULE, Verdict::Unsure, "Large files that have the same bytes".to_owned());
    let mut groups = 0_usize;
    for same in facts.inventory.identical.iter().filter(|same| same.bytes >= LARGE) {
        let own = same.nodes.iter().filter_map(|node| Some((*node, facts.node(*node).content()?)));
        let own: Vec<_> =
            own.filter(|(_, inode)| !libraries.contains(inode) && !sorted.contains(inode)).collect();
        // One copy stays. When one is told of elsewhere, that is no reason to take all of these.
        let Some(((kept, _), more)) = own.split_first().filter(|(_, more)| !more.is_empty()) else {
            continue;
        };
        draft.items.extend(more.iter().map(|(_, inode)| item(&facts.census, facts.rootfs, *inode)));
        groups += 1;
        if groups <= NAMED {
            let copies: Vec<String> = more.iter().take(4).map(|(node, _)| facts.shown(*node)).collect();
            let further = more.len().checked_sub(4).filter(|left| *left > 0);
            let further = further.map_or_else(String::new, |left| format!(" and {left} more"));
            let bytes = human(same.bytes);
            draft.proof.push(format!(
                "{bytes} each: {} is also {}{further}",
                facts.shown(*kept),
                copies.join(", ")
            ));
        }
    }
    if draft.items.is_empty() {
        return None;
    }
    if groups > NAMED {
        draft.proof.push(format!("and {} more groups", groups - NAMED));
    }
    draft.proof.push("the BLAKE3 hashes over all bytes of the files of a group are the same".to_owned());
    draft.severity = Some(Severity::Low);
    "These files have the same bytes as another one that stays. By which path each is opened is not written in the image.".clone_into(&mut draft.reason);
    draft.question = Some("Does anything need them as separate files, not as links to one copy?".to_owned());
    "Put each file in once, and link to it (`ln`, `cp --reflink` does not survive a layer) in the same instruction."
        .clone_into(&mut draft.fix);
    Some(draft)
}
