//! Formats of model weight files.

use hashbrown::HashMap;
use serde::Deserialize;

use super::Catalog;
use super::entry::{CatalogEntry, entry};
use super::names::file_name;

/// A format of model files.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WeightFormat {
    /// Name, such as `safetensors`.
    pub name: String,
    /// Unambiguous file name suffixes, without the leading dot.
    #[serde(default)]
    pub suffixes: Vec<String>,
    /// Suffixes of other files as well: magic bytes or size must match, too.
    #[serde(default)]
    pub ambiguous_suffixes: Vec<String>,
    /// Substring of paths in which files without a suffix may have this format, such as `/models--`.
    #[serde(default)]
    pub folders: Vec<String>,
    /// Magic bytes, of which one must match if any apply.
    #[serde(default)]
    pub magic: Vec<Magic>,
    /// Minimum size of a file with an ambiguous suffix or without one, in bytes.
    #[serde(default)]
    pub minimum_bytes: u64,
    /// Source of the facts.
    pub source: String,
}

/// Magic bytes at an offset.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Magic {
    /// Offset from the start of the file, in bytes.
    pub offset: usize,
    /// Expected bytes; hexadecimal in the file.
    #[serde(deserialize_with = "hex")]
    pub bytes: Vec<u8>,
    /// File name suffixes to which it applies; all if empty.
    #[serde(default)]
    pub suffixes: Vec<String>,
    /// Words of which the file name must contain one; no condition if empty.
    #[serde(default)]
    pub words: Vec<String>,
}

impl Magic {
    /// Whether it applies to a file with this name. It applies to all names without a suffix.
    fn is_for(&self, name: &[u8]) -> bool {
        let has = |word: &String| memchr::memmem::find(name, word.as_bytes()).is_some();
        !name.contains(&b'.')
            || ((self.suffixes.is_empty() || self.suffixes.iter().any(|suffix| ends_with(name, suffix)))
                && (self.words.is_empty() || self.words.iter().any(has)))
    }
}

fn hex<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
    let text = String::deserialize(deserializer)?;
    let digit = |byte: &u8| char::from(*byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let pair = |pair: &[u8]| match pair {
        [high, low] => Some(digit(high)? * 16 + digit(low)?),
        _ => None,
    };
    let bytes: Option<Vec<u8>> = text.as_bytes().chunks(2).map(pair).collect();
    bytes
        .filter(|bytes| !bytes.is_empty())
        .ok_or_else(|| serde::de::Error::custom("expected pairs of hexadecimal digits"))
}

entry!(WeightFormat, |it| it.name.clone());

impl WeightFormat {
    /// Whether the magic bytes match; `None` if the first bytes are unknown or too few, or the format has no
    /// magic for this name.
    fn has_magic(&self, name: &[u8], head: Option<&[u8]>) -> Option<bool> {
        let head = head?;
        let mut known = self.magic.iter().filter(|magic| magic.is_for(name));
        let needed = known.clone().map(|magic| magic.offset.saturating_add(magic.bytes.len())).max()?;
        let fits =
            |magic: &Magic| head.get(magic.offset..).is_some_and(|rest| rest.starts_with(&magic.bytes));
        let any = known.any(fits);
        (any || head.len() >= needed).then_some(any)
    }
}

/// Lookup index of the weight formats, by the last part of their suffixes.
#[derive(Clone, Debug)]
pub(super) struct Index {
    by_extension: HashMap<Vec<u8>, Vec<usize>>,
    /// By the last byte of these last parts: bit set of their lengths.
    lengths: [u64; 256],
    /// Minimum size of a file without a suffix, in bytes.
    least_unnamed: u64,
}

impl Default for Index {
    fn default() -> Self {
        Self { by_extension: HashMap::new(), lengths: [0; 256], least_unnamed: u64::MAX }
    }
}

impl Index {
    pub(super) fn new(formats: &[WeightFormat]) -> Self {
        let mut index = Self::default();
        for (at, format) in formats.iter().enumerate() {
            for suffix in format.suffixes.iter().chain(&format.ambiguous_suffixes) {
                let ending = extension(suffix.as_bytes());
                let (last, length) = shape(ending);
                index.lengths[last] |= length;
                let owners = index.by_extension.entry(ending.to_vec()).or_default();
                if !owners.contains(&at) {
                    owners.push(at);
                }
            }
            if !format.folders.is_empty() {
                index.least_unnamed = index.least_unnamed.min(format.minimum_bytes.max(1));
            }
        }
        index
    }
}

/// Replaces the numbers of a TensorFlow checkpoint shard, `NAME.data-00001-of-00004`, by those of a single
/// one.
fn whole_shard(name: Vec<u8>) -> Vec<u8> {
    let digits = |part: &[u8]| part.len() == 5 && part.iter().all(u8::is_ascii_digit);
    let shard = name.len().checked_sub(20).map(|at| name.split_at(at));
    match shard {
        Some((stem, end))
            if end.starts_with(b".data-")
                && digits(&end[6..11])
                && &end[11..15] == b"-of-"
                && digits(&end[15..]) =>
        {
            [stem, b".data-00000-of-00001"].concat()
        }
        _ => name,
    }
}

/// The part after the last dot; all of it without one.
fn extension(name: &[u8]) -> &[u8] {
    name.rsplit(|byte| *byte == b'.').next().unwrap_or(name)
}

/// The last byte of a suffix in lower case, and the bit of its length; lengths from 63 on have the same bit.
fn shape(ending: &[u8]) -> (usize, u64) {
    (usize::from(ending.last().map_or(0, u8::to_ascii_lowercase)), 1 << ending.len().min(63))
}

fn ends_with(name: &[u8], suffix: &str) -> bool {
    name.strip_suffix(suffix.as_bytes()).is_some_and(|stem| stem.ends_with(b".") && stem.len() > 1)
}

impl Catalog {
    /// Whether [`Self::weight_format`] may match a file with this name and size: excludes nearly all files without
    /// allocation.
    pub fn may_be_weights(&self, name: &[u8], size: u64) -> bool {
        if !name.contains(&b'.') {
            return size >= self.weights.least_unnamed;
        }
        let ending = extension(name);
        // The numbers of a shard are replaced before its name is compared.
        let is_shard = ending.get(..5).is_some_and(|start| start.eq_ignore_ascii_case(b"data-"));
        let (last, length) = shape(ending);
        is_shard || self.weights.lengths[last] & length != 0
    }

    /// Format of a model file, by its absolute path, its size and, if available, its first bytes. Without
    /// first bytes, an ambiguous name is decided by its size.
    pub fn weight_format(&self, path: &[u8], head: Option<&[u8]>, size: u64) -> Option<&WeightFormat> {
        let name = whole_shard(file_name(path).to_ascii_lowercase());
        if is_onnx_test(&name) {
            return None;
        }
        let formats = &self.document.weight_formats;
        // Files with an ambiguous suffix that start like JSON or XML are not models, unless their magic
        // matches.
        let is_text = head.is_some_and(|head| matches!(head.first(), Some(b'{' | b'<')));
        let candidates =
            if name.contains(&b'.') { self.weights.by_extension.get(extension(&name)) } else { None };
        let named = candidates.into_iter().flatten().filter_map(|at| formats.get(*at));
        let by_name = named.clone().find(|format| {
            let certain = format.suffixes.iter().any(|suffix| ends_with(&name, suffix));
            let ambiguous = || format.ambiguous_suffixes.iter().any(|suffix| ends_with(&name, suffix));
            let magic = format.has_magic(&name, head);
            if certain {
                return size > 0 && magic != Some(false);
            }
            ambiguous() && size >= format.minimum_bytes && magic.unwrap_or(!is_text)
        });
        by_name.or_else(|| self.weights_without_ending(path, &name, head, size))
    }

    fn weights_without_ending(
        &self,
        path: &[u8],
        name: &[u8],
        head: Option<&[u8]>,
        size: u64,
    ) -> Option<&WeightFormat> {
        if name.contains(&b'.') {
            return None;
        }
        let contains =
            |text: &String| path.windows(text.len().max(1)).any(|window| window == text.as_bytes());
        self.document.weight_formats.iter().find(|format| {
            size >= format.minimum_bytes.max(1)
                && !format.folders.is_empty()
                && format.has_magic(name, head) != Some(false)
                && format.folders.iter().any(contains)
        })
    }
}

/// Whether a file is an input or output of a test of ONNX: `input_0.pb`. The package `onnx` brings thousands.
fn is_onnx_test(name: &[u8]) -> bool {
    let number = [&b"input_"[..], b"output_"].iter().find_map(|start| name.strip_prefix(*start));
    let number = number.and_then(|rest| rest.strip_suffix(b".pb"));
    number.is_some_and(|number| !number.is_empty() && number.iter().all(u8::is_ascii_digit))
}
