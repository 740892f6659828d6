//! The lines of a text that may be very long.

use crate::base::text::printable;

/// Characters of a line that are shown.
const MOST: usize = 2_000;

/// Where the lines of a text begin.
#[derive(Clone, Debug, Default)]
pub struct TextLines {
    starts: Vec<usize>,
    widest: usize,
}

impl TextLines {
    /// Looks for the lines. Takes time on long texts.
    pub fn new(text: &str) -> Self {
        let mut lines = Self::default();
        let mut start = 0;
        for line in text.split_inclusive('\n') {
            lines.starts.push(start);
            start += line.len();
            // More bytes than characters: a little too wide does no harm.
            lines.widest = lines.widest.max(line.len().min(MOST));
        }
        lines
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.starts.len()
    }

    /// Characters of the longest line, as far as it is shown.
    pub fn widest(&self) -> usize {
        self.widest
    }

    /// A line of the text that this was made of, as it is shown.
    pub fn shown(&self, text: &str, place: usize) -> String {
        let start = self.starts.get(place).copied().unwrap_or(text.len());
        let end = self.starts.get(place + 1).copied().unwrap_or(text.len());
        let line = text.get(start..end).unwrap_or_default().trim_end_matches(['\n', '\r']);
        // A line may be the whole of a long text: only its beginning is looked at.
        let mut short: String = line.chars().take(MOST - 1).collect();
        if short.len() < line.len() {
            short.push('…');
        }
        printable(&short.replace('\t', "    "))
    }
}

#[cfg(test)]
mod tests {
    use super::TextLines;

    #[test]
    fn lines_are_those_of_the_text() {
        let text = format!("one\r\n\n\ttwo\u{7}\n{}", "x".repeat(5_000));
        let lines = TextLines::new(&text);
        assert_eq!((lines.count(), lines.widest()), (4, 2_000));
        let shown: Vec<String> = (0..4).map(|place| lines.shown(&text, place)).collect();
        assert_eq!(shown[..3], ["one", "", "    two\\x07"]);
        assert_eq!(shown[3].chars().count(), 2_000);
        assert_eq!(lines.shown(&text, 9), "");
        assert_eq!(TextLines::new("").count(), 0);
    }
}
