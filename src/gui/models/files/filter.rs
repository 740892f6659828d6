use super::tree::FileTree;
use crate::base::convert::index32;
use crate::base::labels::{CHANGES, SHADOWED};
use crate::gui::models::filter::{Field, Filter, FilterView, Word};
use crate::jobs::{CancelToken, Cancelled, run_all, workers};
use crate::rootfs::PathId;

/// Above this many matches, folders are not opened by themselves.
const OPEN_AT_MOST: usize = 2_000;
const STRIDE: usize = 1 << 14;

/// The files of a tree, as filters see them.
pub struct Files;

/// A path of a tree.
pub struct FilteredFile<'a> {
    tree: &'a FileTree,
    id: PathId,
    /// The whole path; empty where no word is about it.
    path: &'a [u8],
}

impl FilterView for Files {
    type Row<'a> = FilteredFile<'a>;

    const FIELDS: &'static [Field<Self>] = &[
        Field::size(|file, range| range.contains(&file.tree.bytes(file.id))),
        Field::label_of(CHANGES, &["added", "changed", "removed"], |file, value| {
            file.tree.mark(file.id).word() == value
        }),
        Field::flag(SHADOWED, |file| file.tree.is_hidden(file.id)),
    ];

    fn has_word(file: &FilteredFile<'_>, word: &Word) -> bool {
        word.is_match(file.tree.timeline().name(file.id), file.path)
    }
}

fn fits(tree: &FileTree, query: &Filter<Files>, id: PathId, path: &[u8]) -> bool {
    !(query.is_about_files() && tree.is_folder(id)) && query.fits(&FilteredFile { tree, id, path })
}

const MATCH: u8 = 1;
const ABOVE: u8 = 2;
const BELOW: u8 = 4;

/// What a filter found in a tree.
#[derive(Debug)]
pub struct FileMatches {
    state: Vec<u8>,
    count: usize,
    bytes: u64,
}

impl FileMatches {
    /// Looks for `query` in `tree`.
    ///
    /// # Errors
    /// When cancelled.
    pub fn new(tree: &FileTree, query: &Filter<Files>, cancel: &CancelToken) -> Result<Self, Cancelled> {
        let mut found = Self { state: vec![0; tree.timeline().len()], count: 0, bytes: 0 };
        if query.has_paths() {
            found.by_path(tree, query, cancel)?;
        } else {
            let parts: Vec<_> = found.state.chunks_mut(STRIDE).enumerate().collect();
            run_all(parts, workers(), |(part, states)| {
                for (place, state) in states.iter_mut().enumerate() {
                    let path = PathId(index32(part * STRIDE + place));
                    if path != PathId::ROOT && tree.shows(path) && fits(tree, query, path, &[]) {
                        *state |= MATCH;
                    }
                    if place == 0 && cancel.is_cancelled() {
                        return;
                    }
                }
            });
            cancel.check()?;
        }
        found.spread(tree);
        Ok(found)
    }

    /// Goes down folder by folder, so that no path is put together twice.
    fn by_path(
        &mut self,
        tree: &FileTree,
        query: &Filter<Files>,
        cancel: &CancelToken,
    ) -> Result<(), Cancelled> {
        let mut text = Vec::new();
        let mut folders = vec![(PathId::ROOT, 0, false)];
        while let Some((folder, length, leave)) = folders.pop() {
            text.truncate(length);
            if leave {
                continue;
            }
            cancel.check()?;
            if folder != PathId::ROOT {
                text.push(b'/');
                text.extend_from_slice(tree.timeline().name(folder));
            }
            let here = text.len();
            folders.push((folder, length, true));
            for child in tree.children(folder) {
                text.truncate(here);
                text.push(b'/');
                text.extend_from_slice(tree.timeline().name(child));
                if fits(tree, query, child, &text) {
                    self.add(child);
                }
                if tree.is_folder(child) {
                    folders.push((child, here, false));
                }
            }
            text.truncate(here);
        }
        Ok(())
    }

    fn add(&mut self, path: PathId) {
        self.state[path.0 as usize] |= MATCH;
    }

    /// Marks what is above and below matches, and counts.
    fn spread(&mut self, tree: &FileTree) {
        let timeline = tree.timeline();
        for at in (1..self.state.len()).rev() {
            if self.state[at] & (MATCH | ABOVE) != 0 {
                self.state[timeline.parent(PathId(index32(at))).0 as usize] |= ABOVE;
            }
        }
        for at in 1..self.state.len() {
            let path = PathId(index32(at));
            let above = self.state[timeline.parent(path).0 as usize];
            let below = above & (MATCH | BELOW) != 0;
            if self.state[at] & MATCH != 0 {
                self.count += 1;
                // The content of a matching folder counts with the folder.
                if !below {
                    self.bytes += tree.bytes(path);
                }
            }
            if below {
                self.state[at] |= BELOW;
            }
        }
    }

    /// How many paths match.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Bytes of what matches, folders with all that is in them.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Whether the path itself matches.
    pub fn matches(&self, path: PathId) -> bool {
        self.state[path.0 as usize] & MATCH != 0
    }

    /// Whether something below the path matches.
    pub fn leads(&self, path: PathId) -> bool {
        self.state[path.0 as usize] & ABOVE != 0
    }

    /// Whether the path matches, leads to a match, or is in a matching folder.
    pub fn keeps(&self, path: PathId) -> bool {
        self.state[path.0 as usize] != 0
    }

    /// Whether matches are few enough to open every folder that leads to one.
    pub fn opens(&self) -> bool {
        self.count <= OPEN_AT_MOST
    }
}
