//! Configuration files and scripts that the image's command names, read again from their layers.

use std::collections::BTreeMap;

use crate::analysis::{Analysis, Options};
use crate::base::text::escape;
use crate::contents::{ContentsError, read_into};
use crate::cuda::links::Paths;
use crate::jobs::{CancelToken, Cancelled, Progress};
use crate::layer::EntryId;
use crate::slim::FileSink;

/// Maximum number of files; commands name a few.
const FILES: usize = 16;
/// Maximum size of a file, in bytes: configuration files and scripts of entrypoints are smaller.
const FILE_BYTES: u64 = 256 << 10;
/// Maximum number of words of a command that are looked up.
const WORDS: usize = 256;

/// A text file of the image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigFile {
    /// Path in the merged view, escaped.
    pub path: String,
    /// Contents; bytes that are not UTF-8 are replaced.
    pub text: String,
}

/// Reads the files that entrypoint and command name: scripts, and configuration files after options. Compressed layers
/// that contain one and have no restart points are decompressed again. Binaries, and files beyond 256 KiB, are left out.
///
/// # Errors
/// A layer changed since the analysis, or cannot be read; cancelled.
pub fn read_config_files(
    analysis: &Analysis,
    opened: &Options,
    progress: &Progress,
    cancel: &CancelToken,
) -> Result<Vec<ConfigFile>, ContentsError> {
    let wanted = named(analysis);
    let mut sink = Texts { wanted: &wanted, files: Vec::new(), bytes: Vec::new() };
    if !wanted.is_empty() {
        read_into(analysis, opened, &wanted, &mut sink, progress, cancel)?;
    }
    let mut files = sink.files;
    files.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(files)
}

/// The files that the command names, by layer and entry.
fn named(analysis: &Analysis) -> BTreeMap<(u16, EntryId), Vec<u8>> {
    let mut wanted = BTreeMap::new();
    let config = analysis.image.config.as_ref().and_then(|config| config.config().as_ref());
    let (Some(merge), Some(config)) = (analysis.merge.as_deref(), config) else { return wanted };
    let folder = config.working_dir().as_deref().filter(|folder| !folder.is_empty()).unwrap_or("/");
    let paths = Paths::new(&merge.rootfs);
    let words = [config.entrypoint(), config.cmd()].into_iter().flatten().flatten();
    let parts = words.flat_map(|word| word.split([' ', '=', '"', '\'', ';']));
    for word in parts.filter(|word| word.contains(['/', '.'])).take(WORDS) {
        let path = if word.starts_with('/') { word.to_owned() } else { format!("{folder}/{word}") };
        let Some(node) = paths.lookup(path.as_bytes()) else { continue };
        let Some(inode) = paths.inode(node) else { continue };
        let bytes = merge.rootfs.node(node).bytes();
        if (1..=FILE_BYTES).contains(&bytes) && wanted.len() < FILES {
            wanted.insert(inode, paths.path(node));
        }
    }
    wanted
}

struct Texts<'a> {
    wanted: &'a BTreeMap<(u16, EntryId), Vec<u8>>,
    files: Vec<ConfigFile>,
    bytes: Vec<u8>,
}

impl FileSink for Texts<'_> {
    fn begin(&mut self, _: (u16, EntryId), _: u64) {
        self.bytes.clear();
    }

    fn push(&mut self, bytes: &[u8]) {
        // The size was checked, and the reader keeps to it.
        self.bytes.extend_from_slice(bytes);
    }

    fn end(&mut self, file: (u16, EntryId)) -> Result<(), Cancelled> {
        if !self.bytes.contains(&0)
            && let Some(path) = self.wanted.get(&file)
        {
            let text = String::from_utf8_lossy(&self.bytes).into_owned();
            self.files.push(ConfigFile { path: escape(path), text });
        }
        Ok(())
    }
}
