//! `cutaway cat`: the bytes of one file of an image on standard output.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{self, IsTerminal as _, Write};
use std::os::unix::ffi::OsStrExt as _;
use std::process::ExitCode;

use anyhow::Context as _;
use clap::Args;

use super::output::{code, message};
use super::progress::with_bar;
use super::reading::{ImageReader, Reading};
use crate::analysis::{Analysis, AnalysisError, Options};
use crate::base::WarningCode;
use crate::base::text::{escape, printable_lines};
use crate::contents::{ContentsError, find, read_into};
use crate::jobs::{CancelToken, Cancelled, Progress};
use crate::layer::EntryId;
use crate::rootfs::{Node, NodeKind, Rootfs};
use crate::slim::{FileSink, SparseFiles};
use crate::source::Reference;

#[derive(Args)]
pub(super) struct CatArguments {
    #[command(flatten)]
    reading: Reading,
    /// File to print, as its path in a container; symbolic links are followed inside the image
    #[arg(value_name = "PATH")]
    path: OsString,
}

/// The analysis with its options, and the merged view.
pub(super) fn analysed(reading: &Reading) -> anyhow::Result<(std::sync::Arc<Analysis>, Options)> {
    let reader = ImageReader::new(&reading.how);
    let options = reader.options(None)?;
    let reference = Reference::parse(&reading.image).map_err(AnalysisError::from)?;
    let analysis = reader.analyse_with(&reference, &options)?;
    if analysis.merge.is_none() {
        return Err(reading.unread());
    }
    Ok((analysis, options))
}

/// Notes on layers that were not read: files may be others in a container. Whether there are none.
pub(super) fn tell_incomplete(analysis: &Analysis) -> bool {
    for (number, layer) in analysis.layers.iter().enumerate().filter(|(_, layer)| !layer.is_complete()) {
        let fault = layer.fault.as_ref().or_else(|| layer.read.as_ref()?.warnings.first());
        let why = fault.map_or_else(String::new, |fault| format!(": {}", fault.message));
        message(&format!(
            "warning: layer {number} was not read completely; it may change or remove files{why}"
        ));
    }
    // Unpackers differ where a layer has entries below a link of a lower one.
    let merge = analysis.merge.as_deref();
    let links = merge
        .map(|merge| merge.warnings.iter().filter(|warning| warning.code == WarningCode::ParentIsSymlink));
    for warning in links.into_iter().flatten() {
        message(&format!("warning: {}: {}", warning.subject, warning.message));
    }
    analysis.layers.iter().all(crate::analysis::Layer::is_complete)
}

/// Prints the file.
pub(super) fn cat(arguments: &CatArguments) -> anyhow::Result<ExitCode> {
    let (analysis, opened) = analysed(&arguments.reading)?;
    let Some(merge) = analysis.merge.as_deref() else { return Err(arguments.reading.unread()) };
    let path = arguments.path.as_bytes();
    let rootfs = &merge.rootfs;
    let complete = tell_incomplete(&analysis);
    let node = rootfs.node(find(&analysis, rootfs, path, true).map_err(ContentsError::from)?);
    let inode = node.content().ok_or_else(|| not_a_file(rootfs, node))?;
    let (cancel, progress) = (CancelToken::new(), Progress::default());
    let mut out = Stdout {
        terminal: io::stdout().is_terminal(),
        held: Vec::new(),
        begun: false,
        failed: None,
        stop: cancel.clone(),
    };
    let wanted = BTreeMap::from([(inode, node.path())]);
    let work = || read_into(&analysis, &opened, &wanted, &mut out, &progress, &cancel);
    let result = with_bar(&progress, arguments.reading.how.verbose, work);
    match out.failed {
        Some(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(ExitCode::SUCCESS),
        Some(error) => return Err(error).context("cannot write to stdout"),
        None => result?,
    }
    if !out.begun {
        let reason = "its layer does not have its bytes".to_owned();
        return Err(ContentsError::NotAFile { path: escape(&node.path()), reason }.into());
    }
    Ok(code(complete))
}

fn not_a_file(rootfs: &Rootfs, node: Node<'_>) -> ContentsError {
    let reason = match node.kind() {
        NodeKind::Directory => {
            let mut names: Vec<String> = node.children().map(|child| escape(child.name())).collect();
            names.sort_unstable();
            let shown = names.len().min(5);
            let more = crate::base::text::and_more(names.len(), shown);
            match shown {
                0 => "an empty folder".to_owned(),
                _ => format!("a folder with {}{more}", names[..shown].join(", ")),
            }
        }
        NodeKind::Symlink => "a symbolic link".to_owned(),
        NodeKind::File => "its layer has no bytes for it".to_owned(),
        NodeKind::Other => "a device, pipe or socket".to_owned(),
    };
    ContentsError::NotAFile { path: escape(&rootfs.node(node.id()).path()), reason }
}

/// Standard output. On a terminal, control characters are escaped: a file of an image must not control it.
struct Stdout {
    terminal: bool,
    /// Bytes of a character whose end has not come yet.
    held: Vec<u8>,
    begun: bool,
    failed: Option<io::Error>,
    stop: CancelToken,
}

impl Stdout {
    fn note(&mut self, result: io::Result<()>) {
        if let Err(error) = result {
            self.failed.get_or_insert(error);
            self.stop.cancel();
        }
    }

    fn write_escaped(&mut self, bytes: &[u8], last: bool) -> io::Result<()> {
        self.held.extend_from_slice(bytes);
        let mut text = String::new();
        let mut rest = &self.held[..];
        loop {
            match std::str::from_utf8(rest) {
                Ok(valid) => {
                    text.push_str(&printable_lines(valid));
                    rest = b"";
                    break;
                }
                Err(error) => {
                    let (valid, broken) = rest.split_at(error.valid_up_to());
                    text.push_str(&printable_lines(&String::from_utf8_lossy(valid)));
                    rest = broken;
                    match error.error_len() {
                        None if !last => break,
                        length => {
                            let (bad, after) = rest.split_at(length.unwrap_or(rest.len()));
                            text.push_str(&escape(bad));
                            rest = after;
                        }
                    }
                }
            }
        }
        self.held = rest.to_vec();
        io::stdout().lock().write_all(text.as_bytes())
    }
}

impl FileSink for Stdout {
    fn sparse_files(&self) -> SparseFiles {
        SparseFiles::Expand
    }

    fn begin(&mut self, _: (u16, EntryId), _: u64) {
        self.begun = true;
    }

    fn push(&mut self, bytes: &[u8]) {
        if self.failed.is_none() {
            let result = if self.terminal {
                self.write_escaped(bytes, false)
            } else {
                io::stdout().lock().write_all(bytes)
            };
            self.note(result);
        }
    }

    fn end(&mut self, _: (u16, EntryId)) -> Result<(), Cancelled> {
        if self.terminal {
            let result = self.write_escaped(b"", true);
            self.note(result);
        }
        let result = io::stdout().lock().flush();
        self.note(result);
        if self.failed.is_some() { Err(Cancelled) } else { Ok(()) }
    }
}
