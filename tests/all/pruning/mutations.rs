//! The check of a pruned file fails for every single byte that is not what it must be.

use cutaway::cuda::pruning::{PruneCheck, PruneMismatch, PruneRule};
use cutaway::formats::fatbin::compacted;

use super::{checked, cubin, library, limits, located, pruned, with_code, written};
use crate::fixtures::fatbin::{Coding, Entry, container};

fn what(result: &Result<(), PruneMismatch>) -> String {
    result.as_ref().unwrap_err().to_string()
}

#[test]
fn every_changed_byte_is_found_near_its_place() {
    let file = library();
    let (code, plan, mut new) = pruned(&file, &[90]);
    let mut reasons = std::collections::BTreeSet::new();
    for at in 0..new.len() {
        new[at] ^= 0x20;
        let failure = checked(&code, plan.stays(), &file, &new).expect_err("a changed byte");
        let near = code.containers.iter().find(|one| (one.at..one.end()).contains(&(at as u64)));
        let from = near.map_or(0, |one| one.at);
        assert!((from..=at as u64).contains(&failure.at), "byte {at}: {failure}");
        reasons.insert(failure.what.split(" from byte ").next().unwrap().to_owned());
        new[at] ^= 0x20;
    }
    for part in [
        "outside of containers",
        "header of a container",
        "size of a container",
        "is not zero",
        "entry sm_90",
    ] {
        assert!(reasons.iter().any(|reason| reason.contains(part)), "{part}: {reasons:?}");
    }
}

#[test]
fn a_change_of_the_old_file_between_the_passes_is_found() {
    let file = library();
    let (code, plan, new) = pruned(&file, &[90]);
    let first = &code.containers[0];
    // Outside, the size of a container, and a kept entry; the new file was written from the former one.
    for at in [0, first.at + 8, first.entries_at() + code.entries[0].bytes + 100] {
        let mut old = file.clone();
        old[usize::try_from(at).unwrap()] ^= 1;
        assert!(checked(&code, plan.stays(), &old, &new).is_err(), "{at}");
    }
}

#[test]
fn another_set_of_entries_is_found() {
    let file = library();
    let (code, plan, _) = pruned(&file, &[90]);
    for index in 0..code.entries.len() {
        // A planner that removes one more, or one less, than it was told.
        let mut other = plan.stays().to_vec();
        other[index] = !other[index];
        let new = written(&compacted(&code, &other), &file, 100);
        let result = checked(&code, plan.stays(), &file, &new);
        assert!(result.is_err(), "{index}");
        assert_eq!(checked(&code, &other, &file, &new), Ok(()));
    }
    let unchanged = checked(&code, plan.stays(), &file, &file);
    assert!(what(&unchanged).contains("size of a container in the new file"), "{unchanged:?}");
}

#[test]
fn another_length_is_found() {
    let file = library();
    let (code, plan, new) = pruned(&file, &[90]);
    let short = checked(&code, plan.stays(), &file, &new[..new.len() - 1]);
    assert!(what(&short).contains("the new file has"), "{short:?}");
    let long = checked(&code, plan.stays(), &file, &[&new[..], &[0]].concat());
    assert!(what(&long).contains("longer than"), "{long:?}");
    let nothing = PruneCheck::new(&code, plan.stays(), &limits()).finish();
    assert!(what(&nothing).contains("the old file has 0 bytes"), "{nothing:?}");
}

#[test]
fn chunks_of_both_files_may_come_in_any_order() {
    let file = library();
    let (code, plan, new) = pruned(&file, &[90]);
    for (one, other) in [(1, 1), (3, 1_000), (1_000, 3), (64, 64)] {
        let mut check = PruneCheck::new(&code, plan.stays(), &limits());
        let (mut olds, mut news) = (file.chunks(one), new.chunks(other));
        loop {
            match (olds.next(), news.next()) {
                (None, None) => break,
                (old, new) => {
                    check.push_new(new.unwrap_or_default());
                    check.push_old(old.unwrap_or_default());
                }
            }
        }
        assert_eq!(check.finish(), Ok(()));
    }
}

#[test]
fn the_walk_of_the_new_file_finds_what_byte_comparison_cannot() {
    // An entry whose header is not what was located: equal in both files, but not the entry that the rule judged.
    let file = library();
    let code = located(&file, 100);
    let plan = PruneRule::new([90], false).plan(&code);
    let mut other = file.clone();
    let kept = code.containers[0].entries_at() + code.entries[0].bytes;
    other[usize::try_from(kept).unwrap() + 28] = 80;
    let new = written(&plan.pieces(&code), &other, 100);
    let result = checked(&code, plan.stays(), &other, &new);
    assert!(what(&result).contains("other entries"), "{result:?}");
}

#[test]
fn a_file_that_reads_its_section_names_from_gpu_code_is_refused() {
    let number = |file: &[u8], at: usize| {
        usize::try_from(u64::from_le_bytes(file[at..at + 8].try_into().unwrap())).unwrap()
    };
    // Header of the section with the names.
    let header = |file: &[u8]| number(file, 40) + 64 * usize::from(u16::from_le_bytes([file[62], file[63]]));
    let (file, _) = with_code(&container(&[cubin(90, None)]));
    let (start, size) = (number(&file, header(&file) + 24), number(&file, header(&file) + 32));
    let names = file[start..start + size].to_vec();

    let dead = Entry { content: names, coding: Coding::Stored, zeros: 0, ..cubin(50, None) };
    let (mut file, at) = with_code(&container(&[dead, cubin(90, None)]));
    let place = header(&file) + 24;
    file[place..place + 8].copy_from_slice(&(at as u64 + 16 + 64).to_le_bytes());
    let code = located(&file, 100);
    assert_eq!(code.containers.len(), 1);
    let plan = PruneRule::new([90], false).plan(&code);
    assert!(plan.is_change());
    // All bytes are what the plan says, and the file is another one for who reads it.
    let new = written(&plan.pieces(&code), &file, 100);
    let refused = checked(&code, plan.stays(), &file, &new);
    assert!(what(&refused).contains("section .nv_fatbin is another one"), "{refused:?}");
}
