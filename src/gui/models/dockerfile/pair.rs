//! Which lines of two blocks are the same line with other words.

use super::line::words;

/// Larger blocks are not compared line by line: slow, with little gain.
const MOST: usize = 10_000;
/// Of longer lines only so many bytes are compared.
const BYTES: usize = 500;
/// The least share of common words, in thousandths.
const LEAST: u32 = 600;

/// Pairs of places in `old` and `new`, both rising.
pub(super) fn pairs(old: &[&str], new: &[&str]) -> Vec<(usize, usize)> {
    if old.is_empty() || new.is_empty() || old.len().saturating_mul(new.len()) > MOST {
        return Vec::new();
    }
    let (left, right) = (all_names(old), all_names(new));
    let width = new.len() + 1;
    // The best sum of what the rest of both blocks from a place on has in common.
    let mut best = vec![0_u32; (old.len() + 1) * width];
    let likeness =
        |one: usize, other: usize| Some(alike(&left[one], &right[other])).filter(|value| *value >= LEAST);
    for one in (0..old.len()).rev() {
        for other in (0..new.len()).rev() {
            let at = one * width + other;
            let paired = likeness(one, other).map_or(0, |value| value + best[at + width + 1]);
            best[at] = paired.max(best[at + width]).max(best[at + 1]);
        }
    }
    let mut found = Vec::new();
    let (mut one, mut other) = (0, 0);
    while one < old.len() && other < new.len() {
        let at = one * width + other;
        if likeness(one, other).is_some_and(|value| best[at] == value + best[at + width + 1]) {
            found.push((one, other));
            (one, other) = (one + 1, other + 1);
        } else if best[at] == best[at + width] {
            one += 1;
        } else {
            other += 1;
        }
    }
    found
}

/// For each line its words that are no signs and no white space, in order of the alphabet.
fn all_names<'a>(lines: &[&'a str]) -> Vec<Vec<&'a str>> {
    let names = |line: &&'a str| {
        let line = line.get(..line.floor_char_boundary(BYTES)).unwrap_or(line);
        let mut names: Vec<&str> = words(line).into_iter().map(|word| &line[word]).collect();
        names.retain(|name| name.starts_with(|first: char| first.is_alphanumeric() || first == '_'));
        names.sort_unstable();
        names
    };
    lines.iter().map(names).collect()
}

/// What share of the words is in both, in thousandths.
fn alike(one: &[&str], other: &[&str]) -> u32 {
    let (mut left, mut right, mut common) = (one.iter().peekable(), other.iter().peekable(), 0_usize);
    while let (Some(here), Some(there)) = (left.peek(), right.peek()) {
        match here.cmp(there) {
            std::cmp::Ordering::Less => drop(left.next()),
            std::cmp::Ordering::Greater => drop(right.next()),
            std::cmp::Ordering::Equal => {
                common += 1;
                left.next();
                right.next();
            }
        }
    }
    let all = one.len() + other.len();
    u32::try_from((common * 2_000).checked_div(all).unwrap_or(0)).unwrap_or(0)
}
