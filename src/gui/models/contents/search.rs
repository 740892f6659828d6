//! A search in the text of a file.

use super::{ContentView, TextDocument};
use crate::base::size::grouped;
use crate::base::text::counted;

/// A search in the text of a file.
#[derive(Default)]
pub struct TextSearch {
    /// As typed.
    pub query: String,
    /// Whether to bring the match in front into sight.
    pub reveal: bool,
    /// For what the lines were found.
    asked: Option<(ContentView, String)>,
    found: Vec<usize>,
    at: usize,
}

impl TextSearch {
    /// Searches again if something else is typed or shown.
    pub fn update(&mut self, view: ContentView, text: &TextDocument) {
        let wanted = (view, self.query.clone());
        if self.asked.as_ref() != Some(&wanted) {
            self.found = text.find(&self.query);
            self.at = 0;
            self.reveal = !self.found.is_empty();
            self.asked = Some(wanted);
        }
    }

    /// Goes to the next match, or the one before, around the end.
    pub fn step(&mut self, forward: bool) {
        let count = self.found.len().max(1);
        self.at = if forward { (self.at + 1) % count } else { (self.at + count - 1) % count };
        self.reveal = true;
    }

    /// The line of the match in front.
    pub fn line(&self) -> Option<usize> {
        self.found.get(self.at).copied()
    }

    /// How many lines match, in words; empty without a search.
    pub fn words(&self) -> String {
        match self.found.len() {
            _ if self.query.is_empty() => String::new(),
            0 => "No match".to_owned(),
            count => format!("{} of {}", grouped(self.at as u64 + 1), counted(count as u64, "line")),
        }
    }
}
