//! Facts of files as people read them.

use crate::rootfs::NodeKind;

/// Mode bits as `ls -l` writes them, and in octal: `-rwxr-xr-x (755)`.
pub fn mode(mode: u16, kind: NodeKind) -> String {
    let mut text = String::with_capacity(16);
    text.push(match kind {
        NodeKind::Directory => 'd',
        NodeKind::Symlink => 'l',
        NodeKind::File => '-',
        NodeKind::Other => '?',
    });
    for (shift, special, letter) in [(6, 0o4000, 's'), (3, 0o2000, 's'), (0, 0o1000, 't')] {
        let bits = mode >> shift;
        text.push(if bits & 4 == 0 { '-' } else { 'r' });
        text.push(if bits & 2 == 0 { '-' } else { 'w' });
        text.push(match (bits & 1 != 0, mode & special != 0) {
            (true, true) => letter,
            (false, true) => letter.to_ascii_uppercase(),
            (true, false) => 'x',
            (false, false) => '-',
        });
    }
    format!("{text} ({mode:o})")
}

/// Seconds since 1970 as `2026-01-02 03:04:05 UTC`.
pub fn utc(seconds: i64) -> String {
    let days = seconds.div_euclid(86_400);
    let rest = seconds.rem_euclid(86_400);
    // Howard Hinnant's civil_from_days: eras of 400 years that begin on 1 March.
    let shifted = i128::from(days) + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = year_of_era + era * 400 + i128::from(month <= 2);
    let (hour, minute, second) = (rest / 3_600, rest / 60 % 60, rest % 60);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02} UTC")
}

/// `count` of something: `1 layer`, `2 layers`.
pub fn count(count: usize, one: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{} {one}{plural}", crate::base::size::grouped(count as u64))
}

#[cfg(test)]
mod tests {
    use super::{mode, utc};
    use crate::rootfs::NodeKind;

    #[test]
    fn modes_read_as_in_a_listing() {
        assert_eq!(mode(0o755, NodeKind::File), "-rwxr-xr-x (755)");
        assert_eq!(mode(0o1777, NodeKind::Directory), "drwxrwxrwt (1777)");
        assert_eq!(mode(0o4644, NodeKind::File), "-rwSr--r-- (4644)");
    }

    #[test]
    fn times_are_those_of_date() {
        assert_eq!(utc(0), "1970-01-01 00:00:00 UTC");
        assert_eq!(utc(1_767_323_045), "2026-01-02 03:04:05 UTC");
        assert_eq!(utc(951_782_400), "2000-02-29 00:00:00 UTC");
        assert_eq!(utc(-1), "1969-12-31 23:59:59 UTC");
        assert!(utc(i64::MAX).ends_with(" UTC") && utc(i64::MIN).ends_with(" UTC"));
    }
}
