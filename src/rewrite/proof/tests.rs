//! Wrong drafts, which the proof must reject, and correct ones.

mod elf;
mod files;
mod links;
mod python;
mod scene;
mod sizes;

use super::Proven;

/// Exactly one fault, with all of these words in it.
fn faults(proven: &Proven, words: &[&str]) {
    let list = &proven.closure.faults;
    assert_eq!(list.len(), 1, "{:#?}", proven.closure);
    assert!(words.iter().all(|word| list[0].contains(word)), "{words:?}: {list:#?}");
    assert!(!proven.closure.resolved);
    assert_eq!(proven.applicability, crate::rewrite::Applicability::Manual);
}

/// No fault, and one unproven sentence with all of these words in it.
fn unproven(proven: &Proven, words: &[&str]) {
    assert_eq!(proven.closure.faults, [""; 0]);
    assert!(proven.closure.resolved);
    let list = &proven.closure.unproven;
    assert!(list.iter().any(|text| words.iter().all(|word| text.contains(word))), "{words:?}: {list:#?}");
    assert!(proven.applicability >= crate::rewrite::Applicability::Review);
}
