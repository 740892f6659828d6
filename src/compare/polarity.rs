//! Whether a difference of a figure is an improvement.

use super::Change;

/// Which direction of a figure is an improvement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Polarity {
    /// Smaller is better: sizes of images, waste, findings.
    Smaller,
    /// Larger is better: efficiency.
    Larger,
    /// Neither: counts of files and layers, components, architectures, versions.
    #[default]
    Neutral,
}

/// What a difference means for an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judgement {
    /// An improvement on the baseline.
    Better,
    /// A setback.
    Worse,
}

impl Judgement {
    /// The word for it, beside its colour.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Better => "better",
            Self::Worse => "worse",
        }
    }
}

impl Polarity {
    /// Judges a number that grew (`Added`) or shrank (`Removed`); nothing for all other changes.
    pub const fn judge(self, change: Change) -> Option<Judgement> {
        match (self, change) {
            (Self::Smaller, Change::Removed) | (Self::Larger, Change::Added) => Some(Judgement::Better),
            (Self::Smaller, Change::Added) | (Self::Larger, Change::Removed) => Some(Judgement::Worse),
            _ => None,
        }
    }
}

/// Part of a difference above which a cause, or a figure that moved against it, is told.
pub const SHARE: u64 = 5;

/// The figure, smaller being better, that moved against the merged size: where an image shrank or stayed, the one
/// that grew most; where it grew, the one that shrank most. Each figure has a name, the baseline's bytes and the
/// image's. The result has the name, the bytes between both, and whether it grew; `None` if that is less than a fifth of
/// the difference of the sizes, beside which it does not matter.
pub fn countermove<N>(
    merged: (u64, u64),
    figures: impl Iterator<Item = (N, u64, u64)>,
) -> Option<(N, u64, bool)> {
    let grew = merged.1 <= merged.0;
    let moved = figures.filter(|(_, base, value)| if grew { value > base } else { value < base });
    let moved = moved.map(|(name, base, value)| (name, value.abs_diff(base), grew));
    // Of equal ones the first, which is the more general.
    let most = moved.reduce(|best, next| if next.1 > best.1 { next } else { best });
    most.filter(|(_, bytes, _)| *bytes >= merged.0.abs_diff(merged.1) / SHARE)
}

#[cfg(test)]
mod tests {
    use super::{Change, Judgement, Polarity, countermove};

    #[test]
    fn the_same_sign_is_judged_by_the_figure() {
        use Judgement::{Better, Worse};
        for (polarity, grew, shrank) in [
            (Polarity::Smaller, Some(Worse), Some(Better)),
            (Polarity::Larger, Some(Better), Some(Worse)),
            (Polarity::Neutral, None, None),
        ] {
            assert_eq!((polarity.judge(Change::Added), polarity.judge(Change::Removed)), (grew, shrank));
            assert_eq!(polarity.judge(Change::Same), None);
            assert_eq!(polarity.judge(Change::Unknown), None);
        }
    }

    #[test]
    fn what_moved_against_the_size_is_named() {
        let figures = [("waste", 5, 9), ("headers", 0, 7), ("caches", 9, 1)];
        assert_eq!(countermove((100, 70), figures.into_iter()), Some(("headers", 7, true)));
        assert_eq!(countermove((100, 50), figures.into_iter()), None);
        assert_eq!(countermove((60, 100), figures.into_iter()), Some(("caches", 8, false)));
        assert_eq!(countermove((50, 100), [("waste", 1, 2)].into_iter()), None);
    }
}
