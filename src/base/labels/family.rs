//! A label, the labels of an enum, and how an enum gets them.

use crate::base::text::printable;

/// The label of one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Label {
    /// The JSON value.
    pub value: &'static str,
    /// The shown text, a noun phrase or an adjective.
    pub text: &'static str,
    /// What it means, without a full stop.
    pub about: &'static str,
    short: Option<&'static str>,
}

impl Label {
    pub(super) const fn new(value: &'static str, text: &'static str, about: &'static str) -> Self {
        Self { value, text, about, short: None }
    }

    /// A label whose filter word is shorter than its text.
    pub(super) const fn short(
        value: &'static str,
        short: &'static str,
        text: &'static str,
        about: &'static str,
    ) -> Self {
        Self { value, text, about, short: Some(short) }
    }

    /// The filter word: the text in lower case with `-` for spaces, or its short form.
    pub fn word(&self) -> String {
        self.short.map_or_else(|| slug(self.text), str::to_owned)
    }

    /// The text and what it means: `Safe: the image behaves the same`.
    pub fn described(&self) -> String {
        format!("{}: {}", self.text, inline(self.about))
    }

    /// Whether a filter term means this value: its word, its text or its JSON value.
    pub fn accepts(&self, typed: &str) -> bool {
        let typed = typed.to_lowercase();
        typed == self.value || typed == slug(self.text) || self.short.is_some_and(|short| typed == short)
    }
}

/// The labels of one enum.
#[derive(Clone, Copy, Debug)]
pub struct Family {
    /// What the values are, for headings.
    pub title: &'static str,
    /// The key in filters, as in `verdict:removable`; empty where no filter has one.
    pub key: &'static str,
    /// One label for each value, in display order.
    pub list: &'static [Label],
}

impl Family {
    /// The label of a JSON value.
    pub const fn get(&self, value: &str) -> Option<&'static Label> {
        let list = self.list;
        let mut at = 0;
        while at < list.len() {
            if same(list[at].value, value) {
                return Some(&list[at]);
            }
            at += 1;
        }
        None
    }

    /// The shown text of a value that has a label.
    pub const fn text(&self, value: &'static str) -> &'static str {
        match self.get(value) {
            Some(label) => label.text,
            None => value,
        }
    }

    /// What a value means; empty without a label.
    pub const fn about(&self, value: &str) -> &'static str {
        match self.get(value) {
            Some(label) => label.about,
            None => "",
        }
    }

    /// The shown text of a value from a saved report: a newer version may have written one without a label.
    pub fn shown(&self, value: &str) -> String {
        self.get(value).map_or_else(|| printable(value).replace('-', " "), |label| label.text.to_owned())
    }

    /// The label that a filter term names.
    pub fn named(&self, typed: &str) -> Option<&'static Label> {
        self.list.iter().find(|label| label.accepts(typed))
    }

    /// What a filter accepts: `verdict:removable, verdict:needs-review or verdict:required`.
    pub fn expected(&self) -> String {
        expected(self.list.iter().map(|label| format!("{}:{}", self.key, label.word())))
    }

    /// A filter term, for hints: `verdict:removable`.
    pub fn term(&self, value: &str) -> String {
        let word = self.get(value).map_or_else(|| value.to_owned(), Label::word);
        format!("{}:{word}", self.key)
    }
}

/// Choices in a line: `a, b or c`.
pub fn expected(words: impl Iterator<Item = String>) -> String {
    let words: Vec<String> = words.collect();
    match &words[..] {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}

/// A text as a filter word: lower case, `-` for spaces.
pub fn slug(text: &str) -> String {
    text.to_lowercase().replace(' ', "-")
}

/// A label inside a sentence: its first letter in lower case, unless the word is an abbreviation.
pub fn inline(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next();
    let rest = letters.as_str();
    match first {
        Some(first) if !rest.starts_with(char::is_uppercase) => {
            first.to_lowercase().chain(rest.chars()).collect()
        }
        _ => text.to_owned(),
    }
}

/// A label at the start of a line: its first letter in upper case.
pub fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

const fn same(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    if one.len() != other.len() {
        return false;
    }
    let mut at = 0;
    while at < one.len() {
        if one[at] != other[at] {
            return false;
        }
        at += 1;
    }
    true
}

/// Gives an enum with `ALL` and `as_str` its labels: `label`, `about` and `described`. Fails to compile unless
/// the family has exactly one label for each value.
macro_rules! labelled {
    ($type:ty: $family:ident) => {
        impl $type {
            /// The shown text.
            pub const fn label(self) -> &'static str {
                $crate::base::labels::$family.text(self.as_str())
            }

            /// What it means, without a full stop.
            pub const fn about(self) -> &'static str {
                $crate::base::labels::$family.about(self.as_str())
            }

            /// The shown text and what it means.
            pub fn described(self) -> String {
                $crate::base::labels::$family
                    .get(self.as_str())
                    .map_or_else(String::new, $crate::base::labels::Label::described)
            }
        }

        const _: () = {
            let family = $crate::base::labels::$family;
            let all = <$type>::ALL;
            assert!(family.list.len() == all.len());
            let mut at = 0;
            while at < all.len() {
                assert!(family.get(all[at].as_str()).is_some());
                at += 1;
            }
        };
    };
}

pub(crate) use labelled;
