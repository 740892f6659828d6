//! Aligns two sequences from their ends.
//!
//! Short ones are aligned by the longest common subsequence. Long ones use Myers' "An O(ND) difference algorithm"
//! (1986) with a bound on the differences that are followed at once: beyond it the best path so far is kept and a new
//! one begins, so that the work grows linearly with the length.

use super::history_tokens::HistoryToken;

/// Maximum cells of the table: a thousand instructions against a thousand entries.
const MAX_TABLE: usize = 1 << 20;

/// Maximum differences followed at once.
const MAX_DIFFERENCES: usize = 64;

/// Pairs of equal places in `entries` and `parts`, the last first. All of `parts` is processed; entries before the
/// first match belong to the base image.
pub(super) fn align(entries: &[HistoryToken], parts: &[HistoryToken]) -> Vec<(usize, usize)> {
    if (entries.len() + 1).saturating_mul(parts.len() + 1) <= MAX_TABLE {
        return table(entries, parts);
    }
    let (mut x, mut y) = (0, 0);
    let mut found = Vec::new();
    while x < entries.len() && y < parts.len() {
        let (to_x, to_y) = stretch(entries, parts, x, y, &mut found);
        if (to_x, to_y) == (x, y) {
            break;
        }
        (x, y) = (to_x, to_y);
    }
    found
}

/// The longest common subsequence; of several the one nearest to the ends.
fn table(entries: &[HistoryToken], parts: &[HistoryToken]) -> Vec<(usize, usize)> {
    let row = parts.len() + 1;
    // Number of pairs among the first so many of both.
    let mut most = vec![0_u32; (entries.len() + 1) * row];
    for (x, entry) in entries.iter().enumerate() {
        for (y, part) in parts.iter().enumerate() {
            let paired = if entry.is(part) { most[x * row + y] + 1 } else { 0 };
            most[(x + 1) * row + y + 1] = paired.max(most[x * row + y + 1]).max(most[(x + 1) * row + y]);
        }
    }
    let mut found = Vec::new();
    let (mut x, mut y) = (entries.len(), parts.len());
    while x > 0 && y > 0 {
        let here = most[x * row + y];
        if here == most[(x - 1) * row + y - 1] + 1 && entries[x - 1].is(&parts[y - 1]) {
            found.push((x - 1, y - 1));
            (x, y) = (x - 1, y - 1);
        } else if here == most[x * row + y - 1] {
            y -= 1;
        } else {
            x -= 1;
        }
    }
    found
}

/// Continues from a place, counted from the ends, and returns the place that it reached.
fn stretch(
    entries: &[HistoryToken],
    parts: &[HistoryToken],
    x: usize,
    y: usize,
    found: &mut Vec<(usize, usize)>,
) -> (usize, usize) {
    let grid = Grid { width: entries.len() - x, height: parts.len() - y };
    let same = |at_x: usize, at_y: usize| {
        entries[entries.len() - 1 - x - at_x].is(&parts[parts.len() - 1 - y - at_y])
    };
    // By diagonal: number of entries passed.
    let mut reach: Vec<Option<usize>> = vec![None; 2 * MIDDLE + 1];
    let mut history: Vec<Vec<Option<usize>>> = Vec::new();
    let mut end = None;
    'rounds: for round in 0..=MAX_DIFFERENCES {
        let before = reach.clone();
        for step in 0..=round {
            // From -round to round by twos.
            let diagonal = MIDDLE + 2 * step - round;
            reach[diagonal] = None;
            let Some(mut at) = grid.start(&before, diagonal, round) else { continue };
            while at < grid.width && part_of(at, diagonal) < grid.height && same(at, part_of(at, diagonal)) {
                at += 1;
            }
            reach[diagonal] = Some(at);
            if part_of(at, diagonal) == grid.height {
                history.push(before);
                end = Some((diagonal, at));
                break 'rounds;
            }
        }
        history.push(before);
    }
    // Diagonals of the other parity belong to the previous round.
    let last = |diagonal: usize| (diagonal + MIDDLE) % 2 == MAX_DIFFERENCES % 2;
    let far = |(diagonal, at): (usize, &Option<usize>)| {
        at.filter(|_| last(diagonal)).map(|at| (at + part_of(at, diagonal), diagonal, at))
    };
    let end = end.or_else(|| {
        let (_, diagonal, at) = reach.iter().enumerate().filter_map(far).max()?;
        Some((diagonal, at))
    });
    let Some((diagonal, at)) = end else { return (x, y) };
    let pairs = grid.trail(&history, diagonal, at).into_iter().rev();
    found.extend(pairs.map(|(at_x, at_y)| (entries.len() - 1 - x - at_x, parts.len() - 1 - y - at_y)));
    (x + at, y + part_of(at, diagonal))
}

/// The diagonal of the beginning; those with more parts passed than entries are below it.
const MIDDLE: usize = MAX_DIFFERENCES + 1;

/// Number of parts passed at this number of entries on a diagonal.
fn part_of(at: usize, diagonal: usize) -> usize {
    (at + MIDDLE).saturating_sub(diagonal)
}

/// Number of entries and parts left.
struct Grid {
    width: usize,
    height: usize,
}

impl Grid {
    /// After a passed part, and after a passed entry.
    fn ways(&self, before: &[Option<usize>], diagonal: usize) -> (Option<usize>, Option<usize>) {
        let part = before.get(diagonal + 1).copied().flatten();
        let entry = before.get(diagonal - 1).copied().flatten().map(|at| at + 1);
        (part.filter(|at| part_of(*at, diagonal) <= self.height), entry.filter(|at| *at <= self.width))
    }

    /// The start of a diagonal in a round: from its neighbour that came further.
    fn start(&self, before: &[Option<usize>], diagonal: usize, round: usize) -> Option<usize> {
        if round == 0 {
            return (diagonal == MIDDLE).then_some(0);
        }
        let (part, entry) = self.ways(before, diagonal);
        part.max(entry)
    }

    /// The path back to the beginning: equal places, the furthest first.
    fn trail(
        &self,
        history: &[Vec<Option<usize>>],
        mut diagonal: usize,
        mut at: usize,
    ) -> Vec<(usize, usize)> {
        let mut pairs = Vec::new();
        for (round, before) in history.iter().enumerate().rev() {
            let from = self.start(before, diagonal, round).unwrap_or(0);
            while at > from {
                at -= 1;
                pairs.push((at, part_of(at, diagonal)));
            }
            if round > 0 {
                if self.ways(before, diagonal).0 == Some(from) {
                    diagonal += 1;
                } else {
                    diagonal -= 1;
                    at = from.saturating_sub(1);
                }
            }
        }
        pairs
    }
}

#[cfg(test)]
mod tests {
    use super::super::history_tokens::HistoryToken;
    use super::{MAX_DIFFERENCES, MAX_TABLE, align, table};

    fn history_tokens(numbers: impl IntoIterator<Item = u64>) -> Vec<HistoryToken> {
        numbers.into_iter().enumerate().map(|(owner, key)| HistoryToken { keys: vec![key], owner }).collect()
    }

    /// Pairs ascend, and paired items are equal.
    fn sound(entries: &[HistoryToken], parts: &[HistoryToken], found: &[(usize, usize)]) {
        assert!(found.iter().all(|(entry, part)| entries[*entry].is(&parts[*part])));
        assert!(found.is_sorted_by(|one, next| one.0 > next.0 && one.1 > next.1));
    }

    #[test]
    fn short_ones_are_paired_as_well_as_can_be() {
        let entries = history_tokens([9, 1, 8, 2, 7, 3]);
        assert_eq!(align(&entries, &history_tokens([1, 2, 3])), [(5, 2), (3, 1), (1, 0)]);
        assert_eq!(align(&entries, &history_tokens([5, 2, 6])), [(3, 1)]);
        assert_eq!(align(&entries, &[]), []);
        // Of two the one nearer to the end.
        assert_eq!(align(&history_tokens([1, 2, 1]), &history_tokens([1])), [(2, 0)]);
    }

    #[test]
    fn long_ones_give_the_same_where_they_differ_little() {
        let all: Vec<u64> = (0..3000).collect();
        let some = all.iter().copied().filter(|number| number % 50 != 7).collect::<Vec<_>>();
        let more = all
            .iter()
            .flat_map(|number| if number % 60 == 9 { vec![*number, 10_000] } else { vec![*number] });
        let (entries, parts) = (history_tokens(more), history_tokens(some));
        assert!(entries.len() * parts.len() > MAX_TABLE);
        let found = align(&entries, &parts);
        sound(&entries, &parts, &found);
        assert_eq!(found.len(), parts.len());
        assert_eq!(found, table(&entries, &parts));
    }

    #[test]
    fn long_ones_that_differ_much_come_to_an_end() {
        let entries = history_tokens((0..2000).map(|number| number * 7 % 1001));
        let parts = history_tokens((0..2000).map(|number| number * 11 % 1009));
        let found = align(&entries, &parts);
        sound(&entries, &parts, &found);
        let strange = history_tokens(5000..5000 + 20 * MAX_DIFFERENCES as u64);
        assert_eq!(align(&entries, &strange), []);
        assert_eq!(align(&strange, &entries), []);
    }
}
