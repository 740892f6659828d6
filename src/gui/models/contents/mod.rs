//! A file as it is shown: text, bytes, tables.

mod binary;
mod listed;
mod picture;
mod search;
mod text;

use std::sync::Arc;

pub use self::picture::Picture;
pub use self::search::TextSearch;
pub use self::text::TextDocument;
use crate::base::Limits;
use crate::base::size::human;
use crate::contents::FileHead;
use crate::formats::binary::FileFacts;
use crate::formats::members::members;
use crate::jobs::{CancelToken, Cancelled};
use crate::report::page::Page;

/// Bytes that are read at first.
pub const FIRST_BYTES: u64 = 1 << 20;
/// Bytes that are read at most: two million lines of 16 bytes, which a list can scroll to.
pub const MOST_BYTES: u64 = 32 << 20;
/// Larger JSON documents are shown as they are.
const FORMATTED_BYTES: usize = 8 << 20;

/// A way to show a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ContentView {
    /// Its pixels.
    Picture,
    /// Lines of text.
    Text,
    /// JSON with one value a line.
    Formatted,
    /// Headers of an ELF file.
    Elf,
    /// GPU code by architecture.
    GpuCode,
    /// Members of an archive.
    Members,
    /// Bytes.
    Hex,
}

impl ContentView {
    /// Its name.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Picture => "Picture",
            Self::Text => "Text",
            Self::Formatted => "Formatted",
            Self::Elf => "ELF",
            Self::GpuCode => "GPU code",
            Self::Members => "Members",
            Self::Hex => "Hex",
        }
    }
}

/// A file, made once for what was read of it.
pub struct FileDocument {
    /// The bytes.
    pub head: FileHead,
    /// What it is, in a few words.
    pub about: String,
    /// The ways to show it, the most useful first; never empty.
    pub views: Vec<ContentView>,
    /// Why a way to show it is missing.
    pub problem: Option<String>,
    /// Its pixels.
    pub picture: Option<Picture>,
    /// Its text.
    pub text: Option<TextDocument>,
    /// Its text with one value a line.
    pub formatted: Option<TextDocument>,
    /// Its headers.
    pub elf: Option<Arc<Page>>,
    /// Its GPU code.
    pub gpu_code: Option<Arc<Page>>,
    /// Its members.
    pub members: Option<Arc<Page>>,
}

impl FileDocument {
    /// From the bytes and the facts of the analysis.
    ///
    /// # Errors
    /// When cancelled.
    pub fn new(
        head: FileHead,
        name: &[u8],
        facts: Option<&FileFacts>,
        cancel: &CancelToken,
    ) -> Result<Self, Cancelled> {
        let whole = head.is_whole();
        let text = TextDocument::decode(&head.bytes, whole);
        cancel.check()?;
        let (picture, problem) = picture_of(&head, name, text.is_some());
        cancel.check()?;
        let formatted = text.as_ref().filter(|_| whole).and_then(|text| formatted(text, name));
        let found = if text.is_some() || picture.is_some() {
            None
        } else {
            members(&head.bytes, whole, &Limits::default(), cancel)
        };
        cancel.check()?;
        let elf = match facts {
            Some(FileFacts::Elf(elf)) => Some(binary::elf_page(elf, &head.bytes)),
            _ => None,
        };
        let gpu_code =
            facts.and_then(FileFacts::gpu).filter(|gpu| !gpu.rows.is_empty()).map(binary::gpu_page);
        let about = match &picture {
            Some(picture) => picture.about.clone(),
            None => about(&head, text.as_ref(), facts, found.as_ref().map(|found| found.form.as_str())),
        };
        let members = found.as_ref().map(listed::members_page);
        let views = [
            (ContentView::Picture, picture.is_some()),
            (ContentView::Formatted, formatted.is_some()),
            (ContentView::Text, text.is_some()),
            (ContentView::Elf, elf.is_some()),
            (ContentView::GpuCode, gpu_code.is_some()),
            (ContentView::Members, members.is_some()),
            (ContentView::Hex, true),
        ];
        let views = views.into_iter().filter(|(_, has)| *has).map(|(view, _)| view).collect();
        Ok(Self {
            about,
            views,
            problem,
            picture,
            text,
            formatted,
            elf: elf.map(Arc::new),
            gpu_code: gpu_code.map(Arc::new),
            members: members.map(Arc::new),
            head,
        })
    }

    /// The page of a view that is one.
    pub fn page(&self, view: ContentView) -> Option<&Arc<Page>> {
        match view {
            ContentView::Elf => self.elf.as_ref(),
            ContentView::GpuCode => self.gpu_code.as_ref(),
            ContentView::Members => self.members.as_ref(),
            ContentView::Picture | ContentView::Text | ContentView::Formatted | ContentView::Hex => None,
        }
    }

    /// The text of a view that is one.
    pub fn text_of(&self, view: ContentView) -> Option<&TextDocument> {
        match view {
            ContentView::Text => self.text.as_ref(),
            ContentView::Formatted => self.formatted.as_ref(),
            _ => None,
        }
    }
}

/// Bytes to read of a file at first: all of what is shown only when it is complete, within limits.
pub fn first_bytes(name: &[u8], size: u64) -> u64 {
    if picture::is_named(name) && size <= MOST_BYTES { size.max(FIRST_BYTES) } else { FIRST_BYTES }
}

/// Whether all of a file is to be read, of which only this is known.
pub fn wants_all(head: &FileHead) -> bool {
    let format = picture::format(&head.bytes).filter(|format| !picture::is_weak(*format));
    !head.is_whole() && head.size <= MOST_BYTES && format.is_some()
}

/// The picture in a file, or why it cannot be shown.
fn picture_of(head: &FileHead, name: &[u8], is_text: bool) -> (Option<Picture>, Option<String>) {
    let named = picture::is_named(name);
    let Some(format) = picture::format(&head.bytes) else {
        let broken = named && !is_text && !head.bytes.is_empty();
        return (None, broken.then(|| "Not a picture of the format in its name".to_owned()));
    };
    // Text and programs may begin with the few bytes of these.
    let weak = picture::is_weak(format);
    if weak && is_text {
        return (None, None);
    }
    let decoded = if head.is_whole() {
        Picture::decode(format, &head.bytes)
    } else {
        Err(format!("files of more than {} are not shown", human(MOST_BYTES)))
    };
    match decoded {
        Ok(picture) => (Some(picture), None),
        Err(_) if weak && !named => (None, None),
        Err(reason) => (None, Some(format!("Cannot show the {} picture: {reason}", picture::title(format)))),
    }
}

/// JSON with one value a line; `None` for all else.
fn formatted(text: &TextDocument, name: &[u8]) -> Option<TextDocument> {
    let all = text.all();
    let may_be = name.ends_with(b".json") || all.trim_start().starts_with(['{', '[']);
    if !may_be || all.len() > FORMATTED_BYTES {
        return None;
    }
    let value: serde_json::Value = serde_json::from_str(all).ok()?;
    let pretty = serde_json::to_string_pretty(&value).ok()?;
    (pretty.trim_end() != all.trim_end()).then(|| TextDocument::of(pretty, "JSON, keys sorted"))
}

fn about(
    head: &FileHead,
    text: Option<&TextDocument>,
    facts: Option<&FileFacts>,
    archive: Option<&str>,
) -> String {
    let bytes = &head.bytes;
    match (text, facts) {
        (Some(text), _) => text.about(),
        (None, Some(FileFacts::Elf(_))) => "ELF".to_owned(),
        (None, Some(FileFacts::Archive(_))) => "Static library".to_owned(),
        (None, Some(FileFacts::Fatbin(_))) => "GPU code containers".to_owned(),
        (None, Some(FileFacts::Pe { .. })) => "Windows program".to_owned(),
        (None, Some(FileFacts::MachO)) => "macOS program".to_owned(),
        (None, _) if archive.is_some() => format!("Archive: {}", archive.unwrap_or_default()),
        (None, _)
            if let Some(format) = picture::format(bytes).filter(|format| !picture::is_weak(*format)) =>
        {
            format!("{} picture", picture::title(format))
        }
        (None, _) if bytes.is_empty() => "Empty file".to_owned(),
        (None, _) => "Binary".to_owned(),
    }
}
