//! Writers of eStargz and zstd:chunked, as their formats say: no Debian tool writes them.

use std::io::Write as _;

use cutaway::formats::contents::Format;
use flate2::GzBuilder;
use serde_json::{Value, json};

use crate::fixtures::image::Layer;
use crate::fixtures::packing::{Packing, gzip, zstd, zstd_skippable};
use crate::fixtures::tarball::{BLOCK, Member, file, tar};
use crate::fixtures::{CREATED, digest};

/// Bytes of a part of a file: those that are larger have several.
const PART: usize = 1 << 20;
/// Files below this size share a member of gzip.
const SMALL: usize = 1 << 10;

/// A layer with its table of contents still apart from the rest.
pub struct Packed {
    /// The tar stream so far.
    tar: Vec<u8>,
    /// The data of the files, compressed.
    pub data: Vec<u8>,
    /// The table.
    pub table: Value,
    /// The annotations are changed by this in the end.
    pub annotate: fn(&mut Vec<(String, String)>),
}

fn type_of(member: &Member) -> &'static str {
    match member.kind {
        b'1' => "hardlink",
        b'2' => "symlink",
        b'3' => "char",
        b'4' => "block",
        b'5' => "dir",
        b'6' => "fifo",
        _ => "reg",
    }
}

/// The entry of a member, without where its bytes lie.
fn entry(member: &Member) -> Value {
    let mut entry = json!({
        "type": type_of(member),
        "name": String::from_utf8(member.name.clone()).unwrap(),
        "mode": member.mode,
        "uid": member.owner.0,
        "gid": member.owner.1,
        "modtime": CREATED,
        "xattrs": {},
    });
    if !member.link.is_empty() {
        entry["linkName"] = json!(String::from_utf8(member.link.clone()).unwrap());
    }
    if type_of(member) == "reg" {
        entry["size"] = json!(member.body.len());
        if !member.body.is_empty() {
            entry["digest"] = json!(digest(&member.body));
        }
    }
    entry
}

/// Writes `members` as a layer of this format.
pub fn pack(format: Format, members: &[Member]) -> Packed {
    let compress: fn(&[u8]) -> Vec<u8> = if format == Format::Estargz { gzip } else { zstd };
    let (mut stream, mut data) = (Vec::new(), Vec::new());
    let mut entries: Vec<Value> = Vec::new();
    // What waits for the next member or frame, and the entries whose bytes are in it.
    let mut pending: Vec<u8> = Vec::new();
    let mut inner: Vec<usize> = Vec::new();
    for member in members {
        let mut raw = Vec::new();
        member.write(&mut raw);
        stream.extend_from_slice(&raw);
        let body_at = raw.len() - member.body.len().next_multiple_of(BLOCK);
        entries.push(entry(member));
        let small = format == Format::Estargz && member.body.len() < SMALL;
        if member.body.is_empty() || small {
            if !member.body.is_empty() {
                let last = entries.len() - 1;
                entries[last]["innerOffset"] = json!(pending.len() + body_at);
                entries[last]["chunkDigest"] = json!(digest(&member.body));
                inner.push(last);
            }
            pending.extend(raw);
            continue;
        }
        pending.extend(&raw[..body_at]);
        flush(compress, &mut data, &mut pending, &mut inner, &mut entries);
        let count = member.body.len().div_ceil(PART);
        for (number, part) in member.body.chunks(PART).enumerate() {
            if number > 0 {
                entries.push(json!({"type": "chunk", "name": entries[entries.len() - 1]["name"]}));
            }
            let last = entries.len() - 1;
            entries[last]["offset"] = json!(data.len());
            if number > 0 {
                entries[last]["chunkOffset"] = json!(number * PART);
            }
            // zstd:chunked says nothing of the only part, eStargz not how long the last one is.
            let sized = if format == Format::Estargz { number + 1 < count } else { count > 1 };
            if sized {
                entries[last]["chunkSize"] = json!(part.len());
            }
            if format == Format::Estargz || count > 1 {
                entries[last]["chunkDigest"] = json!(digest(part));
            }
            data.extend(compress(part));
        }
        if format == Format::ZstdChunked {
            let first = entries.len() - count;
            entries[first]["endOffset"] = json!(data.len());
        }
        pending.extend(&raw[body_at + member.body.len()..]);
    }
    if format == Format::ZstdChunked {
        pending.extend([0; 2 * BLOCK]);
        stream.extend([0; 2 * BLOCK]);
    }
    flush(compress, &mut data, &mut pending, &mut inner, &mut entries);
    let table = json!({"version": 1, "entries": entries});
    Packed { tar: stream, data, table, annotate: |_| () }
}

fn flush(
    compress: fn(&[u8]) -> Vec<u8>,
    data: &mut Vec<u8>,
    pending: &mut Vec<u8>,
    inner: &mut Vec<usize>,
    entries: &mut [Value],
) {
    for entry in inner.drain(..) {
        entries[entry]["offset"] = json!(data.len());
    }
    if !pending.is_empty() {
        data.extend(compress(pending));
        pending.clear();
    }
}

impl Packed {
    /// The entry of a path.
    pub fn entry(&mut self, path: &str) -> Option<&mut Value> {
        self.table["entries"].as_array_mut().unwrap().iter_mut().find(|entry| entry["name"] == path)
    }

    /// The layer, with its annotations.
    pub fn layer(&self, format: Format) -> Layer {
        let json = serde_json::to_vec(&self.table).unwrap();
        let (mut stream, mut blob) = (self.tar.clone(), self.data.clone());
        let offset = blob.len();
        let mut annotations = match format {
            Format::Estargz => {
                let table = tar([file("stargz.index.json", json.clone())]);
                stream.extend(&table);
                blob.extend(gzip(&table));
                let mut extra = b"SG\x16\0".to_vec();
                extra.extend(format!("{offset:016x}STARGZ").into_bytes());
                let mut footer = GzBuilder::new().extra(extra).write(Vec::new(), flate2::Compression::none());
                footer.flush().unwrap();
                // An empty stored block, as Go writes it: 51 bytes in all.
                let mut bytes = b"\x1f\x8b\x08\x04\0\0\0\0\0\xff\x1a\0SG\x16\0".to_vec();
                bytes.extend(format!("{offset:016x}STARGZ").into_bytes());
                bytes.extend([1, 0, 0, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0, 0]);
                blob.extend(bytes);
                let name = "containerd.io/snapshot/stargz/toc.digest";
                vec![(name.to_owned(), digest(&json))]
            }
            Format::ZstdChunked => {
                let stored = zstd(&json);
                blob.extend(zstd_skippable(&stored));
                let position = (offset + 8, stored.len(), json.len());
                let mut footer = Vec::new();
                for number in [position.0 as u64, position.1 as u64, position.2 as u64, 1, 0, 0, 0] {
                    footer.extend(number.to_le_bytes());
                }
                footer.extend(b"GNUlInUx");
                blob.extend(zstd_skippable(&footer));
                let name = |end: &str| format!("io.github.containers.zstd-chunked.manifest-{end}");
                vec![
                    (name("position"), format!("{}:{}:{}:1", position.0, position.1, position.2)),
                    (name("checksum"), digest(&stored)),
                ]
            }
        };
        (self.annotate)(&mut annotations);
        let packing = if format == Format::Estargz { Packing::Estargz } else { Packing::ZstdChunked };
        Layer { annotations, ..Layer::of_blob(stream, blob, packing) }
    }
}
