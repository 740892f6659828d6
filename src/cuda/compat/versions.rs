//! Comparison and display of versions and compute capabilities.

/// Whether `version` is at least `wanted`, compared by numbers. A shorter version means any with that prefix:
/// `550` is at least `550.54.14`.
pub(super) fn as_new_as(version: &[u32], wanted: &[u32]) -> bool {
    version.iter().zip(wanted).find(|(one, other)| one != other).is_none_or(|(one, other)| one > other)
}

/// Compute capability of an SM number, such as `8.6` for 86.
pub(super) fn capability(sm: u32) -> String {
    format!("{}.{}", sm / 10, sm % 10)
}

/// The items as a list in words: `a`, `a and b`, `a, b and c`; beyond `most` items, the number of the others.
pub(super) fn listed(items: &[String], most: usize) -> String {
    let more = items.len().saturating_sub(most);
    let mut shown: Vec<String> = items.iter().take(most).cloned().collect();
    if more > 0 {
        shown.push(format!("{more} more"));
    }
    match shown.split_last() {
        Some((last, first)) if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        Some((last, _)) => last.clone(),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::{as_new_as, listed};

    #[test]
    fn versions_are_compared_by_their_numbers() {
        for (version, wanted, answer) in [
            (&[550, 54, 14][..], &[550, 54, 14][..], true),
            (&[550, 54, 15], &[550, 54, 14], true),
            (&[550, 40, 7], &[550, 54, 14], false),
            (&[550], &[550, 54, 14], true),
            (&[549], &[550, 54, 14], false),
            (&[570, 26], &[570], true),
            (&[525, 125], &[525, 60, 13], true),
        ] {
            assert_eq!(as_new_as(version, wanted), answer, "{version:?} {wanted:?}");
        }
    }

    #[test]
    fn lists_read_as_sentences() {
        let list =
            |items: &[&str]| listed(&items.iter().map(|item| (*item).to_owned()).collect::<Vec<_>>(), 3);
        assert_eq!(list(&["a"]), "a");
        assert_eq!(list(&["a", "b", "c"]), "a, b and c");
        assert_eq!(list(&["a", "b", "c", "d", "e"]), "a, b, c and 2 more");
    }
}
