//! Code: lines of even width, folded where they are too long.

use std::ops::Range;

use egui::Ui;

use crate::gui::design::text;

/// The height of a line.
pub(super) const ROW: f32 = 18.0;
/// Room around the lines.
pub(super) const PAD: f32 = 8.0;
/// How wide a tab is, in characters.
const TAB: usize = 4;

/// The lines of a text, those too long for `width` points in parts; whether each begins a line.
pub(super) fn rows(ui: &Ui, words: &str, width: f32) -> Vec<(Range<usize>, bool)> {
    let each = ui.fonts_mut(|fonts| fonts.glyph_width(&text::mono(), '0')).max(1.0);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a float cast saturates")]
    let most = ((width - 2.0 * PAD) / each).floor().max(8.0) as usize;
    let mut rows = Vec::new();
    let mut start = 0;
    for line in words.split_inclusive('\n') {
        let end = start + line.trim_end_matches(['\n', '\r']).len();
        let (mut from, mut count, mut whole) = (start, 0, true);
        for (at, character) in line.char_indices().take_while(|(at, _)| start + at < end) {
            let wide = if character == '\t' { TAB } else { 1 };
            if count + wide > most {
                rows.push((from..start + at, whole));
                (from, count, whole) = (start + at, 0, false);
            }
            count += wide;
        }
        rows.push((from..end, whole));
        start += line.len();
    }
    rows
}

/// A part of a text as it is painted.
pub(super) fn shown(part: &str) -> String {
    crate::base::text::printable(&part.replace('\t', "    "))
}

#[cfg(test)]
mod tests {
    use super::rows;

    #[test]
    fn every_byte_but_line_ends_is_in_one_row() {
        let words = format!("FROM a\r\n\n\t{}\nend", "x".repeat(200));
        let mut all = String::new();
        let mut begun = 0;
        egui::__run_test_ui(|ui| {
            for (range, whole) in rows(ui, &words, 300.0) {
                all.push_str(&words[range]);
                begun += usize::from(whole);
            }
        });
        assert_eq!(all, words.replace(['\r', '\n'], ""));
        assert_eq!(begun, 4);
    }
}
