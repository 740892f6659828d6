//! Checks the invariants of edits and diffs for any bytes.

use super::super::value::{Applicability, Edit};
use super::{apply, unified};
use crate::formats::dockerfile::{Dockerfile, parse};

/// The fuzz target: parses, edits, renders, parses again.
///
/// # Panics
/// When an invariant is violated.
pub fn fuzz_edits(bytes: &[u8]) {
    let Ok(file) = parse(bytes) else { return };
    let text = file.text();
    let edits = edits(&file, bytes);
    let (after, reasons, left_out) = apply(text, &edits);
    assert_eq!(reasons.len() + left_out.len(), edits.len(), "an edit is neither done nor left out");
    let mut kept: Vec<&Edit> = edits
        .iter()
        .enumerate()
        .filter(|(place, _)| !left_out.contains(place))
        .map(|(_, edit)| edit)
        .collect();
    kept.sort_by_key(|edit| (edit.at.start, !edit.at.is_empty()));
    assert_eq!(put_together(text, &kept), after, "text outside the edits changed");
    assert_eq!(
        patched(text, &unified("Dockerfile", text, &after)),
        after,
        "the diff does not give the new text"
    );

    // A comment before an instruction changes no instruction.
    let line_end = file.line_end();
    let comments =
        file.instructions.iter().map(|instruction| at(instruction.span.start, 0, &format!("#{line_end}")));
    let (after, _, left_out) = apply(text, &comments.collect::<Vec<_>>());
    assert!(left_out.is_empty(), "instructions overlap");
    let again = parse(after.as_bytes());
    assert!(again.is_ok(), "a comment breaks the file: {again:?}");
    let texts = |file: &Dockerfile| -> Vec<String> {
        file.instructions.iter().map(|instruction| file.slice(&instruction.span).to_owned()).collect()
    };
    assert_eq!(again.map(|again| texts(&again)), Ok(texts(&file)), "a comment changes an instruction");
}

fn at(start: usize, bytes: usize, with: &str) -> Edit {
    Edit {
        at: start..start.saturating_add(bytes),
        with: with.to_owned(),
        reason: "because".to_owned(),
        applicability: Applicability::Review,
        bytes: None,
    }
}

/// Edits of words, flags and places selected by the bytes; some overlap, some are outside the text.
fn edits(file: &Dockerfile, bytes: &[u8]) -> Vec<Edit> {
    const MOST: usize = 64;
    const WITH: [&str; 6] = ["", "x", "\n", " \\\r\n    y", "ä\n", "RUN true\n"];
    let mut number =
        bytes.iter().fold(7_u64, |sum, byte| sum.wrapping_mul(31).wrapping_add(u64::from(*byte)));
    let mut next = |below: usize| {
        number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(number >> 33).unwrap_or_default() % below.max(1)
    };
    let mut edits = Vec::new();
    for instruction in file.instructions.iter().take(MOST) {
        let words = instruction.words.iter().map(|word| &word.span);
        let spans: Vec<_> = words.chain(instruction.flags.iter().map(|flag| &flag.span)).collect();
        let with = WITH.get(next(WITH.len())).copied().unwrap_or_default();
        edits.push(match spans.get(next(spans.len() + 1)) {
            Some(span) => at(span.start, span.len(), with),
            None => at(next(bytes.len() + 2), next(4), with),
        });
    }
    edits
}

fn put_together(text: &str, edits: &[&Edit]) -> String {
    let mut after = String::new();
    let mut from = 0;
    for edit in edits {
        after.push_str(text.get(from..edit.at.start).unwrap_or_default());
        after.push_str(&edit.with);
        from = edit.at.end;
    }
    after + text.get(from..).unwrap_or_default()
}

/// Applies a diff as `patch` does; panics if it does not apply.
pub(super) fn patched(text: &str, diff: &str) -> String {
    const NO_END: &str = "\\ No newline at end of file\n";
    let old: Vec<&str> = text.split_inclusive('\n').collect();
    let mut after = String::new();
    let mut place = 0;
    let mut lines = diff.split_inclusive('\n').skip(2).peekable();
    while let Some(line) = lines.next() {
        if let Some(header) = line.strip_prefix("@@ -") {
            let mut numbers = header.split([',', ' ']);
            let start = numbers.next().and_then(|number| number.parse::<usize>().ok()).unwrap_or_default();
            let is_empty = header.split(' ').next().is_some_and(|range| range.ends_with(",0"));
            let start = if is_empty { start } else { start.saturating_sub(1) };
            after.extend(old.get(place..start).unwrap_or_default().iter().copied());
            place = start;
            continue;
        }
        let (sign, rest) = line.split_at(1);
        let ends = lines.next_if_eq(&NO_END).is_none();
        let rest = if ends { rest } else { rest.strip_suffix('\n').unwrap_or(rest) };
        if sign != "+" {
            assert_eq!(old.get(place).copied(), Some(rest), "a line of the diff is not one of the text");
            place += 1;
        }
        if sign != "-" {
            after.push_str(rest);
        }
    }
    after.extend(old.get(place..).unwrap_or_default().iter().copied());
    after
}
