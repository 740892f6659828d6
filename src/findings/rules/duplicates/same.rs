//! Large identical files.

use hashbrown::HashSet;

use super::RULE;
use crate::base::size::human;
use crate::cuda::Inode;
use crate::findings::classification::item;
use crate::findings::draft::Draft;
use crate::findings::facts::Facts;
use crate::findings::value::{Severity, Verdict};

/// Smallest file size reported: smaller files are many and add up to little.
const LARGE: u64 = 1 << 20;
/// Maximum groups listed in the proof.
const NAMED: usize = 12;

pub(super) fn find(facts: &Facts<'_>) -> Option<Draft> {
    let libraries: HashSet<Inode> =
        facts.inventory.libraries.iter().filter_map(|library| facts.node(library.node).content()).collect();
    // Files with a category are part of another finding.
    let sorted: HashSet<Inode> =
        facts.classification.files.iter().map(|file| (file.item.layer, file.item.entry)).collect();
    let mut draft = Draft::new(&RULE, Verdict::Unsure, "Identical large files".to_owned());
    let mut groups = 0_usize;
    for same in facts.inventory.identical.iter().filter(|same| same.bytes >= LARGE) {
        let own = same.nodes.iter().filter_map(|node| Some((*node, facts.node(*node).content()?)));
        let own: Vec<_> =
            own.filter(|(_, inode)| !libraries.contains(inode) && !sorted.contains(inode)).collect();
        // One of these copies stays, even if another copy is part of another finding.
        let Some(((kept, _), more)) = own.split_first().filter(|(_, more)| !more.is_empty()) else {
            continue;
        };
        draft.items.extend(more.iter().map(|(_, inode)| item(&facts.classification, facts.rootfs, *inode)));
        groups += 1;
        if groups <= NAMED {
            let copies: Vec<String> = more.iter().take(4).map(|(node, _)| facts.shown(*node)).collect();
            let further = more.len().checked_sub(4).filter(|left| *left > 0);
            let further = further.map_or_else(String::new, |left| format!(" and {left} more"));
            let bytes = human(same.bytes);
            draft.proof.push(format!(
                "{bytes} each: {} = {}{further}",
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
    draft.proof.push("the files of each group have the same BLAKE3 hash over all bytes".to_owned());
    draft.severity = Some(Severity::Low);
    "Identical to another file that stays. Which path is opened is not recorded in the image."
        .clone_into(&mut draft.reason);
    draft.question =
        Some("Does anything need them as separate files instead of links to one copy?".to_owned());
    "Add each file once, and link to it with `ln` in the same instruction (`cp --reflink` does not survive a layer)."
        .clone_into(&mut draft.fix);
    Some(draft)
}
