//! Images in the engines of this machine.

use super::{EngineLister, RemoteSetup};
use crate::base::digest::short;
use crate::base::size::{grouped, human};
use crate::base::text::printable;
use crate::gui::models::background::Background;
use crate::gui::models::format::utc;
use crate::jobs::Waker;
use crate::source::Tried;
use crate::source::engine::{Listing, LocalImage};

/// Limit of listed images: every row is in the Tab order.
const MOST: usize = 500;

/// An image of an engine as it is listed. Safe to show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImageRow {
    /// The reference that opens it.
    pub reference: String,
    /// Its first name with the tag; the beginning of its id when it has none.
    pub name: String,
    /// Whether it has a name.
    pub named: bool,
    /// How many further names it has, in words.
    pub more: Option<String>,
    /// Its engine.
    pub engine: String,
    /// The day it was made.
    pub created: String,
    /// Its size in MiB, without the unit.
    pub size: String,
    /// Screen reader text.
    pub spoken: String,
    /// Everything about it, for the tooltip.
    pub about: String,
}

impl ImageRow {
    fn new(image: &LocalImage) -> Self {
        let mut tags: Vec<String> = image.tags.iter().map(|tag| printable(tag)).collect();
        let id = printable(&image.id);
        let named = !tags.is_empty();
        let name = tags.first().cloned().unwrap_or_else(|| short(&id).to_owned());
        let more = tags.len().saturating_sub(1);
        let time = image.created.map(utc);
        let day = time.as_deref().and_then(|time| time.split(' ').next()).unwrap_or("–");
        let size = image.bytes.map_or_else(|| "size unknown".to_owned(), human);
        let engine = printable(&image.engine);
        let spoken =
            format!("{name}, {engine}, created {}, {size}", time.as_deref().unwrap_or("at an unknown time"));
        if tags.is_empty() {
            tags.push("untagged".to_owned());
        }
        let made = time.as_ref().map(|time| format!("created {time}"));
        let facts: Vec<String> = [Some(engine.clone()), made, Some(size)].into_iter().flatten().collect();
        Self {
            reference: image.reference.clone(),
            named,
            more: (more > 0).then(|| format!("+{}", grouped(more as u64))),
            created: day.to_owned(),
            size: image.bytes.map_or_else(|| "–".to_owned(), mebibytes),
            spoken,
            about: format!("{}\n{}\n{}", tags.join("\n"), facts.join("  ·  "), short(&id)),
            name,
            engine,
        }
    }
}

/// Bytes in MiB with one place behind the point.
fn mebibytes(bytes: u64) -> String {
    const TENTH: u64 = (1 << 20) / 10;
    if bytes < TENTH {
        return if bytes == 0 { "0.0".to_owned() } else { "<0.1".to_owned() };
    }
    let tenths = (u128::from(bytes) * 10 + (1 << 19)) >> 20;
    let (whole, tenth) = (u64::try_from(tenths / 10).unwrap_or(u64::MAX), tenths % 10);
    format!("{}.{tenth}", grouped(whole))
}

/// Whether an engine answered there.
fn answers(tried: &Tried) -> bool {
    tried.result.ends_with("image") || tried.result.ends_with("images")
}

/// The images, and the work that lists them.
#[derive(Default)]
pub struct LocalImages {
    job: Background<Listing>,
    rows: Vec<ImageRow>,
    tried: Vec<String>,
    /// Images that are not listed.
    left_out: usize,
    answered: bool,
    listed: bool,
}

impl LocalImages {
    /// Asks the engines; what is known stays until they answer.
    pub fn refresh(&mut self, setup: &RemoteSetup, waker: &Waker) {
        let engines = EngineLister::clone(&setup.engines);
        let listing = self.job.start(waker, setup.at_once, move |cancel| {
            let listing = engines(cancel);
            cancel.check()?;
            Ok(listing)
        });
        if let Some(listing) = listing {
            self.take(listing);
        }
    }

    /// Asks the engines when they were never asked.
    pub fn first(&mut self, setup: &RemoteSetup, waker: &Waker) {
        if !self.listed && !self.job.is_busy() && self.job.error().is_none() {
            self.refresh(setup, waker);
        }
    }

    /// Takes the result.
    pub fn poll(&mut self) {
        if let Some(listing) = self.job.take() {
            self.take(listing);
        }
    }

    fn take(&mut self, mut listing: Listing) {
        // The order is that of the listing; engines are listed side by side, so it is made sure of.
        listing.images.sort_by_key(|image| std::cmp::Reverse(image.created));
        self.left_out = listing.images.len().saturating_sub(MOST);
        self.rows = listing.images.iter().take(MOST).map(ImageRow::new).collect();
        self.tried = listing.tried.iter().map(|tried| printable(&tried.to_string())).collect();
        self.answered = listing.tried.iter().any(answers);
        self.listed = true;
    }

    /// The images, those made last first.
    pub fn rows(&self) -> &[ImageRow] {
        &self.rows
    }

    /// How many images are not listed.
    pub fn left_out(&self) -> usize {
        self.left_out
    }

    /// Sockets that were tried, with the result of each.
    pub fn tried(&self) -> &[String] {
        &self.tried
    }

    /// Whether they are being asked.
    pub fn is_busy(&self) -> bool {
        self.job.is_busy()
    }

    /// The text without any image.
    pub fn state(&self) -> String {
        match self.job.error() {
            Some(error) => error.to_owned(),
            None if !self.listed => "Searching for container engines…".to_owned(),
            None if self.answered => "No images in the local container engines".to_owned(),
            None => "No container engine responds on this machine".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::mebibytes;

    #[test]
    fn sizes_are_in_one_unit() {
        for (bytes, wanted) in [
            (0, "0.0"),
            (13_000, "<0.1"),
            (1 << 20, "1.0"),
            (200 << 20, "200.0"),
            (14 << 30, "14,336.0"),
            ((1 << 20) - 1, "1.0"),
            (u64::MAX, "17,592,186,044,416.0"),
        ] {
            assert_eq!(mebibytes(bytes), wanted);
        }
    }
}
