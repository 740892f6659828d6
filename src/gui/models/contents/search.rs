//! A search in what a file contains.

use std::sync::Arc;

use super::ContentView;
use crate::base::size::grouped;
use crate::base::text::counted;
use crate::gui::models::background::Background;
use crate::jobs::Waker;

/// Bytes that are searched while the frame is painted.
const AT_ONCE: usize = 256 << 10;
/// Matches that are found.
pub(super) const MOST_FOUND: usize = 100_000;

/// What can be searched.
pub trait Searched: Send + Sync + 'static {
    /// Places that match; the first ones.
    fn find(&self, query: &str) -> Vec<usize>;
    /// Its size.
    fn bytes(&self) -> usize;
}

/// A search in the text or the tree of a file.
#[derive(Default)]
pub struct TextSearch {
    /// As typed.
    pub query: String,
    /// Whether to bring the match in front into sight.
    pub reveal: bool,
    /// For what the places were found.
    asked: Option<(ContentView, String)>,
    found: Vec<usize>,
    at: usize,
    /// A place that is shown without a search.
    pinned: Option<usize>,
    job: Background<Vec<usize>>,
}

impl TextSearch {
    /// Searches again if something else is typed or shown.
    pub fn update<T: Searched>(&mut self, view: ContentView, content: &Arc<T>, waker: &Waker) {
        let wanted = (view, self.query.clone());
        if self.asked.as_ref() != Some(&wanted) {
            if self.asked.as_ref().is_some_and(|(_, before)| *before != self.query) {
                self.pinned = None;
            }
            self.found.clear();
            let (content, query) = (Arc::clone(content), self.query.clone());
            let at_once = query.is_empty() || content.bytes() <= AT_ONCE;
            let found = self.job.start(waker, at_once, move |_| {
                Ok(if query.is_empty() { Vec::new() } else { content.find(&query) })
            });
            self.asked = Some(wanted);
            self.take(found);
        }
        let found = self.job.take();
        self.take(found);
    }

    fn take(&mut self, found: Option<Vec<usize>>) {
        if let Some(found) = found {
            self.reveal |= !found.is_empty();
            (self.found, self.at) = (found, 0);
        }
    }

    /// Goes to the next match, or the one before, around the end.
    pub fn step(&mut self, forward: bool) {
        let count = self.found.len().max(1);
        self.at = if forward { (self.at + 1) % count } else { (self.at + count - 1) % count };
        (self.pinned, self.reveal) = (None, true);
    }

    /// Shows a place of a view, whatever is searched.
    pub fn go_to(&mut self, view: ContentView, place: usize) {
        self.query.clear();
        self.found.clear();
        self.asked = Some((view, String::new()));
        (self.pinned, self.reveal) = (Some(place), true);
    }

    /// The place of the match in front.
    pub fn place(&self) -> Option<usize> {
        self.pinned.or_else(|| self.found.get(self.at).copied())
    }

    /// Whether there are matches to step through.
    pub fn has_matches(&self) -> bool {
        !self.found.is_empty()
    }

    /// Whether it works.
    pub fn is_busy(&self) -> bool {
        self.job.is_busy()
    }

    /// How many places match, in words; empty without a search.
    pub fn words(&self, noun: &str) -> String {
        match self.found.len() {
            _ if self.query.is_empty() => String::new(),
            _ if self.is_busy() => "Searching…".to_owned(),
            0 => "No match".to_owned(),
            count => {
                let more = if count == MOST_FOUND { " or more" } else { "" };
                format!("{} of {}{more}", grouped(self.at as u64 + 1), counted(count as u64, noun))
            }
        }
    }
}
