//! The facts of files: columns of entries, each with its facts.

use super::bytes::{Reader, StoredError, Width, Writer};
use crate::base::Limits;
use crate::base::convert::in_memory;
use crate::formats::binary::FileFacts;
use crate::formats::document::{DocumentKind, Keep};
use crate::formats::string_references::StringReferences;
use crate::layer::column::Column;
use crate::layer::facts::{Document, LayerFacts, Packed};
use crate::layer::index::{EntryId, EntryKind, LayerIndex};
use crate::layer::watch::SCRIPT_BYTES;

/// In the order of their numbers.
const DOCUMENTS: [DocumentKind; 30] = [
    DocumentKind::DpkgStatus,
    DocumentKind::DpkgStatusPart,
    DocumentKind::DpkgSums,
    DocumentKind::DpkgList,
    DocumentKind::Rpm,
    DocumentKind::RpmJournal,
    DocumentKind::Apk,
    DocumentKind::PipMetadata,
    DocumentKind::PipRecord,
    DocumentKind::PipWheel,
    DocumentKind::TorchVersion,
    DocumentKind::CondaMeta,
    DocumentKind::LoaderConf,
    DocumentKind::LoaderPreload,
    DocumentKind::MuslPath,
    DocumentKind::CudaVersion,
    DocumentKind::OsRelease,
    DocumentKind::AptStates,
    DocumentKind::AptConf,
    DocumentKind::ApkWorld,
    DocumentKind::DnfReasons,
    DocumentKind::DnfGroups,
    DocumentKind::DnfHistory,
    DocumentKind::DnfJournal,
    DocumentKind::DpkgDiversions,
    DocumentKind::PythonEnvironment,
    DocumentKind::PythonProject,
    DocumentKind::NpmInstalled,
    DocumentKind::NpmProject,
    DocumentKind::PipOrigin,
];

/// An entry with its first line.
type Script = (EntryId, Box<[u8]>);

pub(super) fn write(out: &mut Writer, facts: &LayerFacts) {
    out.raw(&[u8::from(facts.passed), u8::from(facts.left_out)]);
    out.number(facts.lost_string_references);
    out.pieces(facts.hashes.iter().map(|(entry, hash)| (*entry, hash)));
    out.pieces(facts.heads.iter().map(|(entry, head)| (*entry, head)));
    let scripts = &facts.scripts;
    out.number(scripts.len() as u64);
    out.column(scripts.iter().map(|(_, line)| line.len() as u64), Width::Counted);
    out.column(scripts.iter().map(|(entry, _)| entry.0), Width::Any);
    for (_, line) in scripts {
        out.raw(line);
    }
    write_documents(out, &facts.documents);
    out.known(facts.binaries.iter().map(|(entry, facts)| (*entry, facts)));
    out.known(facts.mentions.iter().map(|(entry, mentions)| (*entry, mentions)));
}

fn write_documents(out: &mut Writer, documents: &[Document]) {
    let number = |document: &Document| {
        let place = DOCUMENTS.iter().position(|kind| *kind == document.kind);
        place.and_then(|place| u8::try_from(place).ok()).unwrap_or(u8::MAX)
    };
    out.bytes(&documents.iter().map(number).collect::<Vec<u8>>());
    out.column(documents.iter().map(|document| document.entry.0), Width::Any);
    out.column(documents.iter().map(|document| document.packed.bytes().len() as u64), Width::Any);
    // An empty document is never compressed, so 0 marks an uncompressed one.
    let unpacked = documents.iter().map(|document| match document.packed {
        Packed::Plain(_) => 0,
        Packed::Zstd(_, size) => size as u64,
    });
    out.column(unpacked, Width::Any);
    for document in documents {
        out.raw(document.packed.bytes());
    }
}

pub(super) fn read(
    from: &mut Reader<'_>,
    index: &LayerIndex,
    limits: &Limits,
) -> Result<LayerFacts, StoredError> {
    let is_file = |entry: EntryId| index.kind.get(entry.0 as usize) == Some(&EntryKind::File);
    let [passed, left_out] = match from.raw(2)? {
        [passed @ (0 | 1), left_out @ (0 | 1)] => [*passed == 1, *left_out == 1],
        _ => return Err(from.fault("neither yes nor no")),
    };
    let lost_string_references = from.number()?;
    from.expect(lost_string_references <= index.len() as u64, "more files than there are")?;
    let hashes = from.pieces_of(&is_file)?;
    let heads = from.pieces_of(&is_file)?;
    let scripts = read_scripts(from, &is_file)?;
    let documents = read_documents(from, index, limits, &is_file)?;
    let binaries: Vec<(EntryId, FileFacts)> = from.known(&is_file)?;
    let mentions: Vec<(EntryId, StringReferences)> = from.known(&is_file)?;
    let possible = binaries.iter().all(|(entry, facts)| facts.is_possible(index.size(*entry)))
        && mentions.iter().all(|(_, mentions)| mentions.is_possible());
    from.expect(possible, "facts that no file has")?;
    let few = binaries.len() + scripts.len() <= limits.layer_binaries && heads.len() <= limits.layer_binaries;
    from.expect(few, "more binaries than a layer may have")?;
    let facts = LayerFacts {
        binaries,
        scripts,
        documents,
        hashes,
        heads,
        mentions,
        lost_string_references,
        passed,
        left_out,
    };
    from.expect(facts.kept_bytes() <= limits.facts_total, "more facts than an image may have")?;
    Ok(facts)
}

fn read_scripts(
    from: &mut Reader<'_>,
    is_file: &impl Fn(EntryId) -> bool,
) -> Result<Vec<Script>, StoredError> {
    let count = from.count(usize::MAX)?;
    let lengths: Column<u64> = from.column(count, Width::Counted)?;
    from.expect(lengths.iter().all(|length| length <= SCRIPT_BYTES as u64), "no first line")?;
    let entries = from.entries(count, is_file)?;
    let mut scripts = Vec::with_capacity(count);
    for (entry, length) in entries.into_iter().zip(lengths.iter()) {
        scripts.push((entry, from.raw(in_memory(length))?.into()));
    }
    Ok(scripts)
}

fn read_documents(
    from: &mut Reader<'_>,
    index: &LayerIndex,
    limits: &Limits,
    is_file: &impl Fn(EntryId) -> bool,
) -> Result<Vec<Document>, StoredError> {
    let kinds = from.bytes()?;
    let entries = from.entries(kinds.len(), is_file)?;
    let lengths: Column<u64> = from.column(kinds.len(), Width::Any)?;
    let unpacked: Column<u64> = from.column(kinds.len(), Width::Any)?;
    let mut documents = Vec::with_capacity(kinds.len());
    let mut total = 0_u64;
    for (((kind, entry), length), unpacked) in
        kinds.iter().zip(entries).zip(lengths.iter()).zip(unpacked.iter())
    {
        let kind = DOCUMENTS.get(usize::from(*kind)).copied();
        let Some(kind) = kind else { return Err(from.fault("no kind of a document")) };
        let size = index.size(entry);
        let bytes = from.raw(in_memory(length))?;
        total = total.saturating_add(length);
        let most = size.min(match kind.keep() {
            Keep::Whole => limits.document_bytes,
            Keep::Database => limits.database_bytes,
            Keep::Head => limits.document_head_bytes,
        });
        let packed = match unpacked {
            0 => Packed::Plain(bytes.into()),
            _ => Packed::Zstd(bytes.into(), in_memory(unpacked)),
        };
        // Decompression relies on the frame's own declaration.
        let claimed = match unpacked {
            0 => Some(length),
            _ => {
                zstd::zstd_safe::get_frame_content_size(bytes).ok().flatten().filter(|size| *size == unpacked)
            }
        };
        let believed = claimed.is_some_and(|size| size <= most) && total <= limits.documents_total;
        from.expect(believed, "no document")?;
        documents.push(Document { entry, kind, size, packed });
    }
    Ok(documents)
}
