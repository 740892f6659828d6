//! Whole images: the documents that describe them, and archives from the first byte to the written report.

use std::io::{Read, Write as _};
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::sync::Arc;

use rustix::fs::{MemfdFlags, memfd_create};

use super::invariants;
use super::layers::with_checksums;
use super::limits::limits;
use crate::analysis::{Analysis, Options, analyze};
use crate::base::Platform;
use crate::jobs::{CancelToken, Cancelled, Progress};
use crate::report::{self, CsvTable, Format, Report, read_saved, to_json};
use crate::source::{Access, Blob, OpenContext, Reference, Sink, SourceKey, StreamedMember, open};

/// Documents of an image: the parts of `data` between zero bytes become the files of an archive with these names;
/// digests are one repeated letter, so that the documents can name each other.
///
/// # Panics
/// If an invariant is violated.
pub fn image_documents(data: &[u8]) {
    let [a, b, c] = ["a", "b", "c"].map(|letter| letter.repeat(64));
    let names = [
        vec!["index.json".to_owned()],
        vec!["manifest.json".to_owned()],
        vec!["repositories".to_owned()],
        vec![format!("blobs/sha256/{a}"), format!("{a}.json"), format!("{a}/json")],
        vec![format!("blobs/sha256/{b}"), format!("{b}.json"), format!("{b}/json")],
        vec![format!("blobs/sha256/{c}"), format!("{c}/json")],
    ];
    let mut builder = tar::Builder::new(Vec::new());
    let mut add = |name: &str, body: &[u8]| {
        let mut header = tar::Header::new_gnu();
        header.set_size(body.len() as u64);
        header.set_mode(0o644);
        // Writing to memory has nothing that can fail.
        builder.append_data(&mut header, name, body).ok();
    };
    let parts = data.split(|byte| *byte == 0);
    for (names, part) in names.iter().zip(parts).filter(|(_, part)| !part.is_empty()) {
        for name in names {
            add(name, part);
        }
    }
    add(&format!("{a}/layer.tar"), &[0; 1024]);
    add(&format!("{b}/layer.tar"), &[0; 1024]);
    let archive = builder.into_inner().unwrap_or_default();
    for transport in ["", "oci-archive:", "docker-archive:"] {
        opened(transport, &archive);
    }
}

/// The list of members of a compressed archive, as it was kept from an earlier run.
///
/// # Panics
/// When a promise is broken.
pub fn archive_members(data: &[u8]) {
    let packed = zstd::bulk::compress(&[0; 1024], 1).unwrap_or_default();
    let Some((reference, _file)) = in_memory("", &packed) else { return };
    let limits = limits();
    let mut context = OpenContext {
        limits: &limits,
        platform: None,
        access: &Access::default(),
        cancel: &CancelToken::new(),
        progress: &Progress::default(),
        sink: &mut Recalls(Some(data)),
    };
    let Ok(image) = open(&reference, &mut context) else { return };
    assert!(image.layers.len() <= limits.layers, "{} layers", image.layers.len());
    invariants::warnings(&image.warnings);
    for layer in &image.layers {
        if let Blob::Missing(why) = &layer.blob {
            invariants::is_safe(why);
        }
    }
}

/// Accepts no layer, and knows the members of an earlier archive.
struct Recalls<'a>(Option<&'a [u8]>);

impl Sink for Recalls<'_> {
    fn layer(&mut self, _: &StreamedMember, _: &mut dyn Read) -> Result<usize, Cancelled> {
        Ok(0)
    }

    fn recall(&mut self, _: &SourceKey) -> Option<Vec<u8>> {
        self.0.map(<[u8]>::to_vec)
    }
}

/// Opens an archive, for no platform in particular and for one.
fn opened(transport: &str, archive: &[u8]) {
    let Some((reference, _file)) = in_memory(transport, archive) else { return };
    let limits = limits();
    let arm = Platform { os: "linux".into(), architecture: "arm64".into(), variant: None };
    for platform in [None, Some(&arm)] {
        let mut context = OpenContext {
            limits: &limits,
            platform,
            access: &Access::default(),
            cancel: &CancelToken::new(),
            progress: &Progress::default(),
            sink: &mut Recalls(None),
        };
        match open(&reference, &mut context) {
            Ok(image) => {
                assert!(image.layers.len() <= limits.layers, "{} layers", image.layers.len());
                invariants::warnings(&image.warnings);
            }
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    }
}

/// An archive, from its bytes to all reports. One that is not compressed is also read packed, as it streams past.
///
/// # Panics
/// When a promise is broken.
pub fn image_archive(data: &[u8]) {
    let archive = with_checksums(data, 1);
    let seek = analyzed(&archive);
    if let Some(analysis) = &seek {
        reports(analysis);
    }
    if data.starts_with(&[0x1f, 0x8b]) {
        return;
    }
    let packed = zstd::bulk::compress(&archive, 1).unwrap_or_default();
    let stream = analyzed(&packed);
    let totals = |analysis: Option<Arc<Analysis>>| {
        let totals = analysis?.totals()?;
        totals.complete.then_some((totals.layers, totals.content_bytes, totals.merged_bytes))
    };
    if let (Some(seek), Some(stream)) = (totals(seek), totals(stream)) {
        assert_eq!(seek, stream, "an image is the same when it streams past");
    }
}

fn analyzed(archive: &[u8]) -> Option<Arc<Analysis>> {
    let (reference, _file) = in_memory("", archive)?;
    let options = Options { limits: limits(), today: Some(20_000), ..Options::default() };
    let (cancel, progress) = (CancelToken::new(), Progress::default());
    let analysis = analyze(&reference, &options, &cancel, &progress, &|_| {}).ok()?;
    invariants::warnings(&analysis.warnings());
    for read in analysis.layers.iter().filter_map(|layer| layer.read.as_ref()) {
        invariants::layer(read, &options.limits);
    }
    let inventory = analysis.inventory.iter().flat_map(|inventory| &inventory.warnings);
    let findings = analysis.findings.iter().flat_map(|findings| &findings.warnings);
    invariants::warnings(&inventory.chain(findings).cloned().collect::<Vec<_>>());
    Some(analysis)
}

fn reports(analysis: &Analysis) {
    let report = Report::new(analysis, &report::Options::default());
    assert!(report.is_some(), "a finished analysis has a report");
    report.iter().for_each(every_format);
}

/// Writes a report in all formats, and reads it again.
pub(super) fn every_format(report: &Report) {
    let json = to_json(report);
    let again = read_saved(json.as_bytes());
    assert!(again.is_ok(), "a report that was written can be read: {:?}", again.err());
    assert!(
        again.is_ok_and(|again| to_json(&again) == json),
        "a report that was read is the one that was written"
    );
    let tables = [CsvTable::Libraries, CsvTable::Findings, CsvTable::Layers].map(Format::Csv);
    for format in [Format::Text, Format::Markdown, Format::Html, Format::Sarif].into_iter().chain(tables) {
        let text = format.write(report, &[]);
        for line in text.lines() {
            invariants::is_safe(line);
        }
    }
}

/// A reference to an in-memory file, and that file.
fn in_memory(transport: &str, bytes: &[u8]) -> Option<(Reference, OwnedFd)> {
    let descriptor = memfd_create("image", MemfdFlags::CLOEXEC).ok()?;
    let mut file = std::fs::File::from(descriptor);
    file.write_all(bytes).ok()?;
    let descriptor = OwnedFd::from(file);
    let text = format!("{transport}/proc/self/fd/{}", descriptor.as_raw_fd());
    Some((Reference::parse(&text).ok()?, descriptor))
}
