//! Evidence of a finding, each statement once.

use std::collections::BTreeSet;

/// Words that only join statements.
const JOINING: [&str; 2] = ["Also", "It"];

/// The question without the statements behind it, where `reason` and `proof` say them.
pub fn short_question<'q>(question: &'q str, reason: &str, proof: &[String]) -> &'q str {
    let Some((asked, rest)) = question.split_once("? ") else { return question };
    let said = words(reason).chain(proof.iter().flat_map(|text| words(text))).collect();
    if is_said(rest, &said) { &question[..=asked.len()] } else { question }
}

/// The statements that `reason` does not contain.
pub(super) fn beyond(reason: &str, proof: Vec<String>) -> Vec<String> {
    let said = words(reason).collect();
    proof.into_iter().filter(|statement| !is_said(statement, &said)).collect()
}

/// Whether all words of a text were said: `FILE names git` after `FILE names git and make.`
fn is_said(text: &str, said: &BTreeSet<&str>) -> bool {
    words(text).all(|word| JOINING.contains(&word) || said.contains(word))
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split_whitespace().map(|word| word.trim_end_matches(['.', ',', ':']))
}
