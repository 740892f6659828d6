//! A file as it is shown: text, bytes, tables.

mod binary;
mod listed;
mod outline;
mod picture;
mod search;
mod text;

use std::sync::Arc;

pub use self::outline::{Outline, OutlineError, OutlineRow, OutlineRows, Syntax};
pub use self::picture::Picture;
pub use self::search::{Searched, TextSearch};
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

/// A way to show a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ContentView {
    /// Its pixels.
    Picture,
    /// Lines of text.
    Text,
    /// JSON or TOML as a tree.
    Folded,
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
            Self::Folded => "Folded",
            Self::Elf => "ELF",
            Self::GpuCode => "GPU code",
            Self::Members => "Members",
            Self::Hex => "Hex",
        }
    }
}

/// Why a way to show a file is missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContentProblem {
    /// The reason.
    pub words: String,
    /// The line of the text with it, from 0.
    pub line: Option<usize>,
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
    pub problem: Option<ContentProblem>,
    /// Its pixels.
    pub picture: Option<Picture>,
    /// Its text.
    pub text: Option<Arc<TextDocument>>,
    /// Its values as a tree.
    pub folded: Option<OutlineRows>,
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
        let text = TextDocument::decode(&head.bytes, whole).map(Arc::new);
        cancel.check()?;
        let (picture, problem) = picture_of(&head, name, text.is_some());
        cancel.check()?;
        let (folded, broken) =
            text.as_ref().map_or((None, None), |text| folded_of(text, (whole, head.size), name));
        let problem = problem.map(|words| ContentProblem { words, line: None }).or(broken);
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
            None => about(&head, text.as_deref(), facts, found.as_ref().map(|found| found.form.as_str())),
        };
        let members = found.as_ref().map(listed::members_page);
        let views = [
            (ContentView::Picture, picture.is_some()),
            (ContentView::Folded, folded.is_some()),
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
            folded,
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
            ContentView::Picture | ContentView::Text | ContentView::Folded | ContentView::Hex => None,
        }
    }
}

/// Bytes to read of a file at first: all of what is shown only when it is complete, within limits.
pub fn first_bytes(name: &[u8], size: u64) -> u64 {
    let is_small = |most: u64, is: bool| if is && size <= most { size.max(FIRST_BYTES) } else { FIRST_BYTES };
    match Syntax::of_name(name) {
        Some(syntax) => is_small(syntax.most_bytes() as u64, true),
        None => is_small(MOST_BYTES, picture::is_named(name)),
    }
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

/// The tree of a text of which all or a part is known, or why it has none. Without a name that demands one a text that
/// has none is text.
fn folded_of(
    text: &Arc<TextDocument>,
    (whole, size): (bool, u64),
    name: &[u8],
) -> (Option<OutlineRows>, Option<ContentProblem>) {
    let named = Syntax::of_name(name);
    let sniffed = text.all().trim_start().starts_with(['{', '[']).then_some(Syntax::Json);
    let Some(syntax) = named.or(sniffed) else { return (None, None) };
    if !whole {
        let title = syntax.title();
        let words = format!("{title} of more than {} is shown as text", human(syntax.most_bytes() as u64));
        let too_large = named.is_some() && size > syntax.most_bytes() as u64;
        return (None, too_large.then_some(ContentProblem { words, line: None }));
    }
    match Outline::parse(text, syntax) {
        Ok(outline) => (Some(OutlineRows::new(Arc::new(outline))), None),
        Err(OutlineError { words, line }) => {
            (None, named.is_some().then_some(ContentProblem { words, line }))
        }
    }
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
