//! The tags of a repository: asked for, filtered, one chosen.

use super::TagLister;
use crate::analysis::Failure;
use crate::base::redact;
use crate::base::text::printable;
use crate::gui::models::background::Background;
use crate::jobs::{Progress, Waker};
use crate::source::{Access, Reference};

/// What is known of the tags.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TagsState<'a> {
    /// They are being asked for.
    Asking,
    /// They are known.
    Known,
    /// They could not be had.
    Failed(&'a Failure),
}

/// A tag in parts that sort as people count: versions before their fellows of fewer digits.
fn parts(tag: &str) -> Vec<(usize, &str)> {
    let is_digit = |byte: u8| byte.is_ascii_digit();
    tag.as_bytes()
        .chunk_by(|one, other| is_digit(*one) == is_digit(*other))
        .filter_map(|part| std::str::from_utf8(part).ok())
        .map(|part| match part.trim_start_matches('0') {
            number if part.starts_with(|c: char| c.is_ascii_digit()) => (number.len() + 1, number),
            _ => (0, part),
        })
        .collect()
}

/// Tags, what is typed to filter them, and which one is chosen.
#[derive(Default)]
pub struct TagList {
    job: Background<Result<Vec<String>, Failure>>,
    /// Slot of the newest message.
    progress: Progress,
    tags: Vec<String>,
    failure: Option<Failure>,
    filter: String,
    /// Places in `tags` of those that fit the filter.
    fit: Vec<usize>,
    /// A place in `fit`.
    chosen: usize,
}

impl TagList {
    /// Asks for them.
    pub fn ask(&mut self, tags: &TagLister, reference: Reference, access: Access, waker: &Waker) {
        let tags = TagLister::clone(tags);
        self.failure = None;
        self.progress = Progress::default();
        let progress = self.progress.clone();
        self.job.start(waker, false, move |cancel| {
            let found = tags(&reference, &access, cancel, &progress);
            cancel.check()?;
            Ok(found)
        });
    }

    /// Takes the result.
    pub fn poll(&mut self) {
        match self.job.result() {
            None => {}
            Some(Ok(Ok(tags))) => {
                // What has signs that no tag has would not open.
                self.tags = tags.into_iter().filter(|tag| printable(tag) == *tag).collect();
                let key = |tag: &String| tag != "latest";
                self.tags.sort_by(|one, other| {
                    key(one).cmp(&key(other)).then_with(|| parts(other).cmp(&parts(one)))
                });
                self.filter();
            }
            Some(Ok(Err(failure))) => self.failure = Some(failure),
            Some(Err(error)) => self.failure = Some(Failure::new(error)),
        }
    }

    /// What is known.
    pub fn state(&self) -> TagsState<'_> {
        match &self.failure {
            Some(failure) => TagsState::Failed(failure),
            None if self.job.is_busy() => TagsState::Asking,
            None => TagsState::Known,
        }
    }

    /// The newest message of the work, such as that it tries again, or that there are more tags.
    pub fn message(&self) -> Option<String> {
        self.progress.messages_since(0).last().map(|message| printable(&redact::url_user_info(message)))
    }

    /// What is typed to filter them; [`Self::filter`] is to be called when it was changed.
    pub fn typed(&mut self) -> &mut String {
        &mut self.filter
    }

    /// Filters again.
    pub fn filter(&mut self) {
        let wanted = self.filter.trim().to_lowercase();
        let fits = |tag: &String| tag.to_lowercase().contains(&wanted);
        self.fit = self.tags.iter().enumerate().filter(|(_, tag)| fits(tag)).map(|(at, _)| at).collect();
        self.chosen = 0;
    }

    /// How many there are, and how many fit the filter.
    pub fn counts(&self) -> (usize, usize) {
        (self.tags.len(), self.fit.len())
    }

    /// One of those that fit.
    pub fn at(&self, place: usize) -> Option<&str> {
        self.fit.get(place).and_then(|at| self.tags.get(*at)).map(String::as_str)
    }

    /// The place of the chosen one.
    pub fn chosen(&self) -> usize {
        self.chosen
    }

    /// Chooses the one so many places down, and up, around the ends.
    pub fn step(&mut self, down: usize, up: usize) {
        let count = self.fit.len();
        if count > 0 {
            self.chosen = (self.chosen + down % count + count - up % count) % count;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cmp::Reverse;

    use super::{TagList, parts};

    #[test]
    fn newer_versions_come_before_older_ones() {
        let mut tags = ["1.9", "1.10", "1.10-rc1", "0.9", "nightly-2026-01-02", "nightly-2025-12-31"];
        tags.sort_by_key(|tag| Reverse(parts(tag)));
        assert_eq!(
            tags,
            ["1.10-rc1", "1.10", "1.9", "0.9", "nightly-2026-01-02", "nightly-2025-12-31"],
            "{:?}",
            parts("1.10-rc1")
        );
    }

    #[test]
    fn a_filter_narrows_and_steps_go_around() {
        let tags = ["latest", "1.0-CUDA", "1.0-cpu"].map(str::to_owned).to_vec();
        let mut list = TagList { tags, ..TagList::default() };
        list.filter();
        assert_eq!(list.counts(), (3, 3));
        "cuda ".clone_into(list.typed());
        list.filter();
        assert_eq!((list.at(0), list.at(1)), (Some("1.0-CUDA"), None));
        list.typed().clear();
        list.filter();
        list.step(0, 1);
        assert_eq!(list.at(list.chosen()), Some("1.0-cpu"));
        list.step(2, 0);
        assert_eq!(list.at(list.chosen()), Some("1.0-CUDA"));
        "none".clone_into(list.typed());
        list.filter();
        list.step(1, 0);
        assert_eq!(list.at(list.chosen()), None);
    }
}
