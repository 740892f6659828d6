//! The walk over the members of a layer: entries, file facts, and faults.

use std::io;

use super::builder::{IndexBuilder, NewEntry, escape_reason};
use super::capture::{Capture, File};
use super::context::Context;
use super::facts::LayerFacts;
use super::index::{EntryId, EntryKind, LayerIndex};

use crate::base::convert::index32;
use crate::base::warning::Warnings;
use crate::base::{Warning, WarningCode};
use crate::formats::tar::{MemberKind, TarError, TarInput, TarWalk};
use crate::jobs::Cancelled;

/// Result of a walk: `end` is the input, if the end of the archive was reached.
pub(super) struct Walked<I> {
    pub(super) index: LayerIndex,
    pub(super) facts: LayerFacts,
    pub(super) warnings: Vec<Warning>,
    pub(super) end: Result<I, Fault>,
}

/// Walks the tar into an index.
pub(super) fn walk<I: TarInput>(input: I, context: &Context) -> Result<Walked<I>, Cancelled> {
    let limits = &context.limits;
    let mut builder = IndexBuilder::new(limits);
    let mut oddities = Warnings::with_limit(limits.warnings_per_code);
    let mut walk = TarWalk::new(input, limits);
    let mut capture = Capture::new(context);
    if context.beside {
        capture = capture.with_threads();
    }
    let mut counted = 0;
    let end = loop {
        match walk.advance() {
            Ok(true) => {
                let member = walk.member();
                let entry = NewEntry {
                    kind: entry_kind(member.kind),
                    size: member.size,
                    mode: member.mode,
                    uid: member.uid,
                    gid: member.gid,
                    mtime: member.mtime,
                    link: &member.link,
                    body_at: (!member.sparse).then_some(member.body_at),
                };
                match builder.add_path(&member.path, entry) {
                    Ok(false) => {}
                    Ok(true) => oddities.push_with(WarningCode::PathEscapes, || {
                        let path = crate::base::text::escape(&member.path);
                        (context.subject.clone(), format!("{path} {}", escape_reason(&member.path)))
                    }),
                    Err(full) => break Err(Fault::Malformed(full.to_string())),
                }
                if let Err(error) = look_into(&mut walk, &builder, &mut capture) {
                    builder.drop_last();
                    break Err(Fault::from_tar(error)?);
                }
                if builder.len() - counted >= 4096 {
                    context.progress.add_entries((builder.len() - counted) as u64);
                    counted = builder.len();
                }
            }
            Ok(false) => break Ok(()),
            Err(error) => {
                // A file with a missing body is not counted: its size is only a claim.
                if walk.is_within_body() {
                    builder.drop_last();
                    capture.forget_from(EntryId(index32(builder.len())));
                }
                break Err(Fault::from_tar(error)?);
            }
        }
    };
    context.progress.add_entries((builder.len() - counted) as u64);
    let (facts, faults) = capture.finish();
    let subject = &context.subject;
    let mut warnings = faults.finish(subject);
    for mut warning in walk.take_warnings().finish(subject) {
        warning.message = format!("{}: {}", warning.subject, warning.message);
        warning.subject.clone_from(subject);
        warnings.push(warning);
    }
    warnings.extend(oddities.finish(subject));
    Ok(Walked { index: builder.finish(), facts, warnings, end: end.map(|()| walk.into_input()) })
}

/// Collects the facts of the current file.
fn look_into<I: TarInput>(
    walk: &mut TarWalk<I>,
    builder: &IndexBuilder,
    capture: &mut Capture<'_>,
) -> Result<(), TarError> {
    let (member, index) = (walk.member(), builder.so_far());
    let Some(entry) = builder.last().filter(|entry| index.kind(*entry) == EntryKind::File) else {
        return Ok(());
    };
    let file = File {
        entry,
        dir: index.dir(entry),
        name: index.name(entry),
        size: member.size,
        sparse: member.sparse,
        mode: member.mode,
    };
    if let Some(body) = walk.body() {
        capture.read(&file, index, &body);
    } else if let Some(mut watch) = capture.watch(&file, index) {
        let limits = capture.binary_limits();
        walk.pass_body(&mut |bytes| watch.push(bytes, &limits))?;
        capture.keep(watch);
    }
    Ok(())
}

/// Why a walk ended early.
pub(super) enum Fault {
    Cut(String),
    Malformed(String),
    Window(String),
}

impl Fault {
    fn from_tar(error: TarError) -> Result<Self, Cancelled> {
        let text = error.to_string();
        let TarError::Read { source, .. } = error else {
            return Ok(match error {
                TarError::CutShort { .. } => Self::Cut(text),
                _ => Self::Malformed(text),
            });
        };
        Cancelled::check_error(&source)?;
        Ok(match source.kind() {
            // zstd's text for this error, which has no code in the Rust binding.
            _ if source.to_string().contains("requires too much memory") => Self::Window(source.to_string()),
            io::ErrorKind::InvalidData
            | io::ErrorKind::InvalidInput
            | io::ErrorKind::FileTooLarge
            | io::ErrorKind::Other => Self::Malformed(text),
            _ => Self::Cut(text),
        })
    }
}

pub(super) fn entry_kind(kind: MemberKind) -> EntryKind {
    match kind {
        MemberKind::File => EntryKind::File,
        MemberKind::HardLink => EntryKind::HardLink,
        MemberKind::Symlink => EntryKind::Symlink,
        MemberKind::Directory => EntryKind::Directory,
        MemberKind::CharDevice | MemberKind::BlockDevice | MemberKind::Fifo | MemberKind::Other => {
            EntryKind::Other
        }
    }
}
