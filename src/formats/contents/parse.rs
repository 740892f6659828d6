//! The JSON of a table of contents. It is parsed entry by entry, so that memory grows only with the stored part.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::{Chunk, ChunkMap, Contents, Format, Listed, Refused, Sum, time};
use crate::base::Limits;
use crate::base::convert::index32;
use crate::base::text::escape;
use crate::formats::tar::MemberKind;

/// The version that both formats use.
const VERSION: i64 = 1;

impl Contents {
    /// Parses a table in this format. `data_end` is the end of the file data in the blob.
    ///
    /// # Errors
    /// It is not such a table, has more entries than `limits` allow, or contradicts itself.
    pub fn parse(json: &[u8], format: Format, data_end: u64, limits: &Limits) -> Result<Self, Refused> {
        let mut builder = Builder { contents: Self::default(), format, data_end, limits, open: 0 };
        let mut from = serde_json::Deserializer::from_slice(json);
        let done = Top(&mut builder).deserialize(&mut from).and_then(|()| from.end());
        done.map_err(|error| Refused::new(format!("unusable table of contents: {error}")))?;
        Ok(builder.contents)
    }

    /// Adds a file that is not in the table.
    ///
    /// # Errors
    /// A limit is reached.
    pub fn push(
        &mut self,
        path: &[u8],
        listed: Listed,
        part: Chunk,
        sum: Option<Sum>,
    ) -> Result<(), Refused> {
        let name = store(&mut self.names, path).ok_or_else(|| Refused::new("names too long"))?;
        self.entries.push(Listed { name, link: (0, 0), ..listed });
        self.bodies.parts.push(part);
        self.bodies.ends.push(index32(self.bodies.parts.len()));
        self.bodies.sums.push(sum);
        Ok(())
    }
}

impl Listed {
    /// A regular file.
    pub fn file(size: u64, mode: u32, uid: u32, gid: u32, mtime: i64) -> Self {
        Self { name: (0, 0), link: (0, 0), kind: MemberKind::File, size, mode, uid, gid, mtime }
    }
}

/// An entry as written, without fields that are not used.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Raw<'a> {
    #[serde(rename = "type", borrow)]
    sort: Cow<'a, str>,
    #[serde(default, borrow)]
    name: Cow<'a, str>,
    #[serde(default, borrow)]
    link_name: Cow<'a, str>,
    #[serde(default, borrow)]
    modtime: Option<&'a serde_json::value::RawValue>,
    #[serde(default)]
    mode: i64,
    #[serde(default)]
    size: i64,
    #[serde(default)]
    uid: i64,
    #[serde(default)]
    gid: i64,
    #[serde(default)]
    offset: i64,
    #[serde(default)]
    inner_offset: i64,
    #[serde(default)]
    chunk_offset: i64,
    #[serde(default)]
    chunk_size: i64,
    #[serde(default, borrow)]
    chunk_type: Cow<'a, str>,
    #[serde(default, borrow)]
    digest: Cow<'a, str>,
    #[serde(default, borrow)]
    chunk_digest: Cow<'a, str>,
}

struct Builder<'a> {
    contents: Contents,
    format: Format,
    data_end: u64,
    limits: &'a Limits,
    /// Index of the first chunk of the current entry.
    open: usize,
}

impl Builder<'_> {
    fn add(&mut self, raw: &Raw<'_>) -> Result<(), String> {
        if raw.sort == "chunk" {
            let is_file = self.contents.entries.last().is_some_and(|last| last.kind == MemberKind::File);
            return if is_file { self.part(raw) } else { Err("chunk without a file".to_owned()) };
        }
        self.close()?;
        let kind = match &*raw.sort {
            "reg" => MemberKind::File,
            "hardlink" => MemberKind::HardLink,
            "symlink" => MemberKind::Symlink,
            "dir" => MemberKind::Directory,
            "char" => MemberKind::CharDevice,
            "block" => MemberKind::BlockDevice,
            "fifo" => MemberKind::Fifo,
            other => return Err(format!("entry of type {}", escape(other.as_bytes()))),
        };
        let contents = &mut self.contents;
        if contents.entries.len() >= self.limits.layer_entries {
            return Err(format!("more than {} entries", self.limits.layer_entries));
        }
        if raw.name.len().max(raw.link_name.len()) > self.limits.path_bytes {
            return Err("path too long".to_owned());
        }
        let is_link = matches!(kind, MemberKind::HardLink | MemberKind::Symlink);
        let link = if is_link { raw.link_name.as_bytes() } else { b"" };
        let mut stored = |text: &[u8]| store(&mut contents.names, text).ok_or("names too long");
        let (name, link) = (stored(raw.name.as_bytes())?, stored(link)?);
        let is_file = kind == MemberKind::File;
        contents.entries.push(Listed {
            name,
            link,
            kind,
            size: if is_file { unsigned(raw.size, "size")? } else { 0 },
            // As for tar headers: invalid ids become the largest one, never 0, which is root.
            mode: u32::try_from(raw.mode).unwrap_or(u32::MAX) & 0o7777,
            uid: u32::try_from(raw.uid).unwrap_or(u32::MAX),
            gid: u32::try_from(raw.gid).unwrap_or(u32::MAX),
            mtime: mtime(raw.modtime)?,
        });
        contents.bodies.sums.push(if is_file { sum(&raw.digest)? } else { None });
        contents.bodies.ends.push(index32(self.open));
        if is_file && raw.size > 0 { self.part(raw) } else { Ok(()) }
    }

    /// Adds a chunk of the current file.
    fn part(&mut self, raw: &Raw<'_>) -> Result<(), String> {
        let part = Chunk {
            at: unsigned(raw.chunk_offset, "chunkOffset")?,
            size: unsigned(raw.chunk_size, "chunkSize")?,
            offset: unsigned(raw.offset, "offset")?,
            end: self.data_end,
            inner: unsigned(raw.inner_offset, "innerOffset")?,
            zeros: raw.chunk_type == "zeros",
            sum: sum(&raw.chunk_digest)?,
        };
        if part.offset >= self.data_end {
            return Err(format!("data at byte {}, beyond the end at {}", part.offset, self.data_end));
        }
        let parts = &mut self.contents.bodies.parts;
        // A chunk entry has a minimum length in the text, so the text limit bounds their number.
        parts.push(part);
        if let Some(end) = self.contents.bodies.ends.last_mut() {
            *end = index32(parts.len());
        }
        Ok(())
    }

    /// Completes the current entry: its chunks must add up to its size. A chunk without a size extends to the next one
    /// or to the end.
    fn close(&mut self) -> Result<(), String> {
        let parts = &mut self.contents.bodies.parts;
        let Some(last) = self.contents.entries.last() else { return Ok(()) };
        let mut next = last.size;
        for part in parts.get_mut(self.open..).unwrap_or_default().iter_mut().rev() {
            let size = next.checked_sub(part.at).filter(|size| *size > 0 && [0, *size].contains(&part.size));
            part.size = size.ok_or_else(|| broken(&self.contents.names, last))?;
            next = part.at;
        }
        if last.size > 0 && (next != 0 || parts.len() == self.open) {
            return Err(broken(&self.contents.names, last));
        }
        if let (Some([part]), Some(sum)) = (parts.get_mut(self.open..), self.contents.bodies.sums.last()) {
            part.sum = part.sum.or(*sum);
        }
        self.open = parts.len();
        Ok(())
    }

    fn finish(&mut self) -> Result<(), String> {
        self.close()?;
        let ChunkMap { parts, .. } = &mut self.contents.bodies;
        let mut starts: Vec<u64> = parts.iter().map(|part| part.offset).collect();
        starts.sort_unstable();
        starts.dedup();
        for part in parts {
            let next = starts.partition_point(|start| *start <= part.offset);
            part.end = starts.get(next).copied().unwrap_or(self.data_end);
            let most = (part.end - part.offset).saturating_mul(most_of(self.format));
            if !part.zeros && part.inner.saturating_add(part.size) > most {
                let (size, stored) = (part.size, part.end - part.offset);
                return Err(format!("file of {size} bytes in {stored}: impossible for {}", self.format));
            }
        }
        Ok(())
    }
}

/// Maximum decompressed bytes per stored byte: a run of 258 in two bits for gzip, a block of 128 KiB in four bytes for
/// zstd. Rounded up: it only rejects impossible claims.
fn most_of(format: Format) -> u64 {
    match format {
        Format::Estargz => 1100,
        Format::ZstdChunked => 64 << 10,
    }
}

fn broken(names: &[u8], entry: &Listed) -> String {
    let (at, length) = (entry.name.0 as usize, entry.name.1 as usize);
    let name = names.get(at..at.saturating_add(length)).unwrap_or_default();
    format!("the chunks of {} do not add up to {} bytes", escape(name), entry.size)
}

fn store(names: &mut Vec<u8>, text: &[u8]) -> Option<(u32, u32)> {
    let at = u32::try_from(names.len()).ok()?;
    let length = u32::try_from(text.len()).ok()?;
    at.checked_add(length)?;
    names.extend_from_slice(text);
    Some((at, length))
}

fn unsigned(number: i64, what: &str) -> Result<u64, String> {
    u64::try_from(number).map_err(|_| format!("{what} is {number}"))
}

/// Digests other than SHA-256 are ignored: they cannot be verified here.
fn sum(digest: &str) -> Result<Option<Sum>, String> {
    let Some(hex) = digest.strip_prefix("sha256:") else { return Ok(None) };
    let mut sum = [0; 32];
    let text = hex.as_bytes();
    let digits =
        |pair: &[u8]| std::str::from_utf8(pair).ok().and_then(|pair| u8::from_str_radix(pair, 16).ok());
    if text.len() != 64 || !text.iter().all(u8::is_ascii_hexdigit) {
        return Err(format!("{} is not a digest", escape(digest.as_bytes())));
    }
    for (byte, pair) in sum.iter_mut().zip(text.chunks_exact(2)) {
        *byte = digits(pair).unwrap_or_default();
    }
    Ok(Some(sum))
}

/// A missing or empty time is the epoch.
fn mtime(raw: Option<&serde_json::value::RawValue>) -> Result<i64, String> {
    let text = raw.map_or("null", serde_json::value::RawValue::get);
    let plain = text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or_default();
    match plain {
        "" if matches!(text, "null" | "\"\"") => Ok(0),
        time => time::seconds(time).ok_or_else(|| format!("{} is not a time", escape(text.as_bytes()))),
    }
}

struct Top<'a, 'b>(&'a mut Builder<'b>);

impl<'de> DeserializeSeed<'de> for Top<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Top<'_, '_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a table of contents")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut seen = (false, false);
        while let Some(key) = map.next_key::<Cow<'_, str>>()? {
            match &*key {
                "version" if !seen.0 => {
                    let version: i64 = map.next_value()?;
                    if version != VERSION {
                        return Err(A::Error::custom(format!("version {version}, expected {VERSION}")));
                    }
                    seen.0 = true;
                }
                "entries" if !seen.1 => {
                    map.next_value_seed(Entries(&mut *self.0))?;
                    seen.1 = true;
                }
                "version" | "entries" => return Err(A::Error::custom("duplicate key")),
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        if seen != (true, true) {
            return Err(A::Error::custom("no version or no entries"));
        }
        self.0.finish().map_err(A::Error::custom)
    }
}

struct Entries<'a, 'b>(&'a mut Builder<'b>);

impl<'de> DeserializeSeed<'de> for Entries<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Entries<'_, '_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("the entries of a table of contents")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        while let Some(raw) = entries.next_element::<Raw<'de>>()? {
            self.0.add(&raw).map_err(A::Error::custom)?;
        }
        Ok(())
    }
}
