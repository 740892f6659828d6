//! Lines of a limited width.

/// Units that stay on the line of their figure.
const UNITS: [&str; 6] = ["%", "B", "KiB", "MiB", "GiB", "TiB"];

/// Words in lines of at most `width` characters; a word that is longer has its own line.
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in words(text) {
        if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > width {
            lines.push(std::mem::take(&mut line));
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(&word);
    }
    lines.push(line);
    lines
}

/// The words of a text, a figure and its unit as one.
fn words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for word in text.split(' ') {
        let is_unit = UNITS.contains(&word.trim_end_matches(|c: char| c.is_ascii_punctuation() && c != '%'));
        match words.last_mut().filter(|last| is_unit && last.ends_with(|c: char| c.is_ascii_digit())) {
            Some(figure) => *figure = format!("{figure} {word}"),
            None => words.push(word.to_owned()),
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::wrap;

    #[test]
    fn a_figure_keeps_its_unit() {
        assert_eq!(wrap("wasted (2.5 %). B is 10 MiB", 12), ["wasted", "(2.5 %). B", "is 10 MiB"]);
        assert_eq!(wrap("averyverylongword a", 5), ["averyverylongword", "a"]);
        assert_eq!(wrap("", 5), [""]);
    }
}
