//! A layer read by its table of contents: the entries first, file facts when fetched.

use std::io;
use std::sync::Arc;

use super::builder::{IndexBuilder, NewEntry, escape_reason};
use super::capture::{Capture, File, Want};
use super::context::Context;
use super::index::EntryId;
use super::outcome::{LayerRead, Verified};
use super::walk::entry_kind;
use crate::base::text::escape;
use crate::base::warning::Warnings;
use crate::base::{Warning, WarningCode};
use crate::formats::compression::Compression;
use crate::formats::contents::{Contents, Format};
use crate::formats::input::BUFFER_BYTES;
use crate::jobs::Cancelled;

/// First read of a file of which only the head may be needed.
const FIRST_BYTES: usize = 4 << 10;

/// Reads the contents of single files of a layer, one after the other.
pub trait ListedBodies {
    /// Seeks to the start of a file, given by its entry.
    fn open(&mut self, entry: EntryId);

    /// The next bytes of the file; 0 at its end.
    ///
    /// # Errors
    /// They cannot be fetched, or do not match the table.
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize>;

    /// Verifies the bytes returned so far.
    ///
    /// # Errors
    /// Those of [`Self::read`].
    fn prove(&mut self) -> io::Result<()>;

    /// Why no further bytes can be read.
    fn broken(&self) -> Option<String>;
}

/// Reads the entries of a table; index entries have the same numbers. Their contents are unknown. `bytes` is the length
/// of the blob.
///
/// # Errors
/// Only when cancelled.
pub fn read_listed(
    contents: &Contents,
    format: Format,
    bytes: u64,
    context: &Context,
) -> Result<LayerRead, Cancelled> {
    let mut builder = IndexBuilder::new(&context.limits);
    let mut oddities = Warnings::with_limit(context.limits.warnings_per_code);
    let mut full = None;
    let mut told = 0;
    for (place, listed) in contents.entries().iter().enumerate() {
        let path = contents.path(listed);
        let entry = NewEntry {
            kind: entry_kind(listed.kind),
            size: listed.size,
            mode: listed.mode,
            uid: listed.uid,
            gid: listed.gid,
            mtime: listed.mtime,
            link: contents.link(listed),
            body_at: None,
        };
        match builder.add_path(path, entry) {
            Ok(false) => {}
            Ok(true) => oddities.push_with(WarningCode::PathEscapes, || {
                (context.subject.clone(), format!("{} {}", escape(path), escape_reason(path)))
            }),
            Err(error) => {
                full = Some(error);
                break;
            }
        }
        if place % 4096 == 0 {
            context.cancel.check()?;
            context.progress.add_entries((builder.len() - told) as u64);
            told = builder.len();
        }
    }
    context.progress.add_entries((builder.len() - told) as u64);
    let mut warnings = oddities.finish(&context.subject);
    warnings.extend(
        full.map(|full| Warning::new(WarningCode::LayerMalformed, context.subject.clone(), full.to_string())),
    );
    Ok(LayerRead {
        index: Arc::new(builder.finish()),
        facts: Arc::default(),
        compression: Some(match format {
            Format::Estargz => Compression::Gzip,
            Format::ZstdChunked => Compression::Zstd,
        }),
        compressed_bytes: Some(bytes),
        uncompressed_bytes: None,
        digest: None,
        diff_id: None,
        verified: Verified::default(),
        complete: full.is_none(),
        warnings,
    })
}

/// Relevant files, by path and mode, each with whether all its bytes are needed.
pub fn wanted_of(read: &LayerRead, context: &Context) -> Vec<(EntryId, bool)> {
    let mut capture = Capture::new(context);
    let files = read.index.entries().filter(|entry| read.index.size(*entry) > 0);
    files
        .filter_map(|entry| {
            let want = capture.wants_listed(&file(read, entry), &read.index)?;
            Some((entry, want == Want::Whole))
        })
        .collect()
}

/// Analyses the files of `wanted_of`. A file that cannot be fetched, or does not match the table, stays unknown, with a
/// warning.
///
/// # Errors
/// Only cancellation.
pub fn look_into_listed(
    read: &mut LayerRead,
    wanted: &[(EntryId, bool)],
    bodies: &mut dyn ListedBodies,
    context: &Context,
) -> Result<(), Cancelled> {
    let mut capture = Capture::new(context);
    let mut faults = Warnings::with_limit(context.limits.warnings_per_code);
    let mut buffer = vec![0; BUFFER_BYTES];
    for (place, (entry, whole)) in wanted.iter().enumerate() {
        context.cancel.check()?;
        let done = look_into(read, (*entry, *whole), bodies, &mut capture, &mut buffer);
        let Err(error) = done else { continue };
        Cancelled::check_error(&error)?;
        read.complete = false;
        if let Some(why) = bodies.broken() {
            let left = wanted.len() - place;
            faults.push_with(WarningCode::LayerCutShort, || {
                let what = format!("{left} files could not be fetched for analysis: {why}");
                (context.subject.clone(), what)
            });
            break;
        }
        let code = if error.kind() == io::ErrorKind::InvalidData {
            WarningCode::DigestMismatch
        } else {
            WarningCode::NotRead
        };
        faults.push_with(code, || {
            let what = format!("not analysed: {error} ({})", context.subject);
            (escape(&read.index.path(*entry)), what)
        });
    }
    let (facts, own) = capture.finish();
    read.facts = Arc::new(facts);
    read.warnings.extend(own.finish(&context.subject));
    read.warnings.extend(faults.finish(&context.subject));
    Ok(())
}

fn look_into(
    read: &LayerRead,
    (entry, whole): (EntryId, bool),
    bodies: &mut dyn ListedBodies,
    capture: &mut Capture<'_>,
    buffer: &mut [u8],
) -> io::Result<()> {
    let file = file(read, entry);
    let Some(mut watch) = capture.watch_listed(&file, &read.index) else { return Ok(()) };
    let limits = capture.binary_limits();
    bodies.open(entry);
    let mut passed = 0;
    let mut most = if whole { buffer.len() } else { FIRST_BYTES.min(buffer.len()) };
    loop {
        let piece = buffer.get_mut(..most).unwrap_or_default();
        let count = bodies.read(piece)?;
        if count == 0 {
            break;
        }
        watch.push(piece.get(..count).unwrap_or_default(), &limits);
        passed += count as u64;
        if !whole && !watch.wants_more() {
            break;
        }
        most = buffer.len();
    }
    bodies.prove()?;
    if passed < file.size {
        watch.stop_early();
    }
    capture.keep(watch);
    Ok(())
}

fn file(read: &LayerRead, entry: EntryId) -> File<'_> {
    let index = &read.index;
    File {
        entry,
        dir: index.dir(entry),
        name: index.name(entry),
        size: index.size(entry),
        sparse: false,
        mode: u32::from(index.mode(entry)),
    }
}
