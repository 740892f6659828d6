//! Globs over rules and paths, and suggestions for misspelled names.

use regex::{Regex, RegexBuilder};

/// Maximum bytes of one glob.
const GLOB_BYTES: usize = 1 << 10;
/// Maximum bytes of one compiled glob: one of the longest takes less than half of it.
const COMPILED_BYTES: usize = 1 << 20;

/// A glob: `*` matches any characters except a slash, `**` any characters, and `/**/` also a single slash. Nothing else
/// is special.
#[derive(Clone, Debug)]
pub struct Pattern {
    pub(super) text: String,
    regex: Regex,
}

impl Pattern {
    /// Parses a glob.
    ///
    /// # Errors
    /// The glob is empty or too long; why.
    pub fn new(glob: &str) -> Result<Self, String> {
        if glob.is_empty() {
            return Err("empty".to_owned());
        }
        if glob.len() > GLOB_BYTES {
            return Err(format!("more than {GLOB_BYTES} bytes"));
        }
        let regex = RegexBuilder::new(&regex_of(glob)).size_limit(COMPILED_BYTES).build();
        Ok(Self { text: glob.to_owned(), regex: regex.map_err(|error| error.to_string())? })
    }

    /// Whether it matches all of `text`.
    pub fn is_match(&self, text: &str) -> bool {
        self.regex.is_match(text)
    }
}

fn regex_of(glob: &str) -> String {
    let mut text = String::from("^");
    let mut rest = glob;
    while let Some(at) = rest.find('*') {
        let (literal, stars) = rest.split_at(at);
        text.push_str(&regex::escape(literal));
        let after = stars.trim_start_matches('*');
        rest = after;
        if stars.len() - after.len() == 1 {
            text.push_str("[^/]*");
        } else if let Some(below) = after.strip_prefix('/').filter(|_| literal.ends_with('/')) {
            text.push_str("(?s:.*/)?");
            rest = below;
        } else {
            text.push_str("(?s:.*)");
        }
    }
    text.push_str(&regex::escape(rest));
    text.push('$');
    text
}

/// The names of `known` similar to `name`: at most three, nearest first.
pub fn near<'k>(name: &str, known: impl IntoIterator<Item = &'k str>) -> Vec<&'k str> {
    const MOST: usize = 3;
    /// No name is longer; the work grows with the square.
    const LONGEST: usize = 64;
    if name.len() > LONGEST {
        return Vec::new();
    }
    let allowed = (name.chars().count() / 3).max(2);
    let mut found: Vec<(usize, &str)> = known
        .into_iter()
        .map(|known| (distance(name, known), known))
        .filter(|(distance, known)| *distance <= allowed || (name.len() > 3 && known.contains(name)))
        .collect();
    found.sort_unstable();
    found.into_iter().take(MOST).map(|(_, known)| known).collect()
}

/// The Levenshtein distance of two texts.
fn distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.chars().count()).collect();
    for (line, letter) in a.chars().enumerate() {
        let mut diagonal = line;
        let mut left = line + 1;
        for (above, other) in row.iter_mut().zip(std::iter::once(None).chain(b.chars().map(Some))) {
            if let Some(other) = other {
                let replaced = diagonal + usize::from(letter != other);
                diagonal = *above;
                left = replaced.min(*above + 1).min(left + 1);
            }
            *above = left;
        }
    }
    row.last().copied().unwrap_or_default()
}
