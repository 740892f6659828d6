//! `cutaway extract`: files and folders of an image, in a folder or in a tar archive.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io::{self, BufWriter, Write};
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context as _;
use clap::Args;

use super::cat::{analysed, tell_incomplete};
use super::output::{UsageError, code, message};
use super::progress::with_bar;
use super::reading::{ImageReader, Reading};
use crate::analysis::{Analysis, AnalysisError, Options};
use crate::base::size::human;
use crate::base::text::{counted, escape};
use crate::contents::{
    ContentsError, ExtractOptions, Extracted, archive, extract as extract_into, save_archive, select,
};
use crate::jobs::{CancelToken, Progress, catch_panic};
use crate::rootfs::{NodeId, NodeKind, Rootfs};
use crate::slim;
use crate::source::Reference;

/// Name for standard output.
const STDOUT: &str = "-";
/// Lines about paths that were not extracted.
const SHOWN: usize = 20;

#[derive(Args)]
pub(super) struct ExtractArguments {
    #[command(flatten)]
    reading: Reading,
    /// Files and folders to copy, as their paths in a container; * matches within a name, ** across folders
    #[arg(value_name = "PATH", required = true)]
    paths: Vec<OsString>,
    /// Folder to copy to, with the paths of the image below it; FILE.tar writes an archive
    #[arg(short, long, value_name = "FOLDER")]
    output: PathBuf,
    /// Write a tar archive with the headers of the image; with -o - to stdout
    #[arg(long)]
    tar: bool,
    /// Replace files that exist
    #[arg(long)]
    force: bool,
    /// Keep the set-user-ID, set-group-ID and sticky bits in a folder
    #[arg(long)]
    keep_setuid: bool,
}

impl ExtractArguments {
    fn is_tar(&self) -> bool {
        let named = self.output.extension().is_some_and(|extension| extension == "tar");
        self.tar || (named && !self.output.is_dir())
    }
}

/// Extracts, and says what was left out.
pub(super) fn extract(arguments: &ExtractArguments) -> anyhow::Result<ExitCode> {
    let tar = arguments.is_tar();
    if !tar && arguments.output.as_os_str() == STDOUT {
        let hint = Some("add --tar to write an archive to stdout".to_owned());
        return Err(UsageError::new("cannot extract files to stdout", hint).into());
    }
    if tar && !arguments.force && arguments.output.exists() {
        let hint = Some("use --force to replace it".to_owned());
        return Err(UsageError::new(format!("{} exists", arguments.output.display()), hint).into());
    }
    let (mut analysis, mut opened) = analysed(&arguments.reading)?;
    if tar && slim::needs_all_bytes(&analysis) {
        // A table of contents does not have the headers.
        opened.verify = true;
        let reference = Reference::parse(&arguments.reading.image).map_err(AnalysisError::from)?;
        analysis = ImageReader::new(&arguments.reading.how).analyse_with(&reference, &opened)?;
    }
    let Some(merge) = analysis.merge.as_deref() else { return Err(arguments.reading.unread()) };
    let complete = tell_incomplete(&analysis);
    let mut nodes = BTreeSet::new();
    for path in &arguments.paths {
        nodes.extend(select(&analysis, &merge.rootfs, path.as_bytes()).map_err(ContentsError::from)?);
    }
    let (cancel, progress) = (CancelToken::new(), Progress::default());
    let work = || {
        catch_panic(|| {
            write(arguments, tar, (&analysis, &opened), (&merge.rootfs, &nodes), (&progress, &cancel))
        })
        .map_err(|panic| anyhow::anyhow!("internal error; please report it: {panic}"))?
    };
    let done = with_bar(&progress, arguments.reading.how.verbose, work)?;
    tell(arguments, &done, &merge.rootfs, &nodes);
    Ok(code(complete && done.is_complete()))
}

fn write(
    arguments: &ExtractArguments,
    tar: bool,
    (analysis, opened): (&Arc<Analysis>, &Options),
    (rootfs, nodes): (&Rootfs, &BTreeSet<NodeId>),
    job: (&Progress, &CancelToken),
) -> anyhow::Result<Extracted> {
    let to = &arguments.output;
    if !tar {
        let options = ExtractOptions { force: arguments.force, setuid: arguments.keep_setuid };
        return Ok(extract_into((analysis, opened), rootfs, nodes, to, options, job)?);
    }
    if to.as_os_str() == STDOUT {
        let mut out = BufWriter::new(io::stdout().lock());
        let done = archive((analysis, opened), rootfs, nodes, &mut out, job)?;
        out.flush().context("cannot write to stdout")?;
        return Ok(done);
    }
    Ok(save_archive((analysis, opened), rootfs, nodes, to, arguments.force, job)?)
}

/// Says what was written, and what was not.
fn tell(arguments: &ExtractArguments, done: &Extracted, rootfs: &Rootfs, nodes: &BTreeSet<NodeId>) {
    if arguments.reading.how.listens() {
        let mut parts = vec![format!("{} ({})", counted(done.files, "file"), human(done.bytes))];
        let others = [(done.folders, "folder"), (done.links, "symbolic link"), (done.others, "special file")];
        parts.extend(others.iter().filter(|(count, _)| *count > 0).map(|(count, one)| counted(*count, one)));
        message(&format!("extracted {} to {}", parts.join(", "), arguments.output.display()));
    }
    for left in done.left_out.iter().take(SHOWN) {
        message(&format!("warning: not extracted: {}: {}", left.path, left.reason));
    }
    if let Some(more) = done.left_out.len().checked_sub(SHOWN).filter(|more| *more > 0) {
        message(&format!("warning: {} more not extracted", counted(more, "path")));
    }
    if !arguments.force && done.left_out.iter().any(|left| left.reason.contains("exists")) {
        message("hint: use --force to replace files that exist");
    }
    if !arguments.reading.how.listens() {
        return;
    }
    // A link that was asked for by name, and leads nowhere in the result.
    for id in nodes.iter().filter(|id| rootfs.node(**id).kind() == NodeKind::Symlink) {
        let node = rootfs.node(*id);
        let target = crate::cuda::links::Paths::new(rootfs).lookup(&node.path());
        if nodes.len() == 1
            && let Some(target) = target.filter(|target| !nodes.contains(target))
        {
            let (link, target) = (escape(&node.path()), escape(&rootfs.node(target).path()));
            message(&format!("note: {link} is a symbolic link; extract {target} too for what it leads to"));
        }
    }
}
