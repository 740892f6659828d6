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

#[cfg(test)]
mod tests {
    use super::{beyond, short_question};

    #[test]
    fn statements_are_said_once() {
        let reason = "/app/k.py names load and load_inline. torch 2.9 runs a compiler. Also: triton 3.9.";
        let proof = ["/app/k.py names load", "triton 3.9 runs a compiler", "owned by gcc 12"];
        let proof: Vec<String> = proof.into_iter().map(str::to_owned).collect();
        let question = "Does one of these need the files? /app/k.py names load. Also: torch 2.9, triton 3.9.";
        assert_eq!(short_question(question, reason, &proof), "Does one of these need the files?");
        assert_eq!(beyond(reason, proof), ["owned by gcc 12"]);
        for whole in ["Does the service run nvcc?", "Are these used? /app/x.py mentions them."] {
            assert_eq!(short_question(whole, reason, &[]), whole);
        }
    }
}
