//! `conda-meta/NAME-VERSION-BUILD.json`: one package of a conda environment.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, IgnoredAny, SeqAccess, Visitor};

use super::{Bounds, Collector, Package, Read, some_text, text};

#[derive(serde::Deserialize)]
struct Meta {
    name: String,
    version: String,
    build: Option<String>,
    channel: Option<String>,
    subdir: Option<String>,
    depends: Option<Folded<Vec<String>>>,
    files: Option<Folded<Vec<String>>>,
    paths_data: Option<PathsData>,
}

#[derive(serde::Deserialize)]
struct PathsData {
    paths: Option<Folded<Sum>>,
}

#[derive(serde::Deserialize)]
struct SizedPath {
    size_in_bytes: Option<u64>,
}

/// Parses such a file. Paths are relative to the prefix, the folder that contains `conda-meta`. The installed size is
/// the sum over its files, because its `size` is that of the download.
pub fn read_meta(bytes: &[u8]) -> Read {
    let mut collector = Collector::new(Bounds::USUAL);
    let meta: Meta = match serde_json::from_slice(bytes) {
        Ok(meta) => meta,
        Err(error) => {
            // The error message may quote the document, so only the position is reported.
            let (line, column) = (error.line(), error.column());
            let what = format!("invalid conda metadata (JSON), line {line}, column {column}");
            let before = super::fields::lines(bytes).nth(line.saturating_sub(1)).map_or(0, |(at, _)| at);
            collector.problem(before.saturating_add(column).min(bytes.len()), what);
            return collector.finish();
        }
    };
    // `cuda-version >=12.9,<13`: the name ends at the first space.
    let needed = meta.depends.unwrap_or_default().value;
    let names = needed.iter().map(|one| one.split([' ', '=', '<', '>', '!', '~']).next().unwrap_or(one));
    let depends = collector.names(0, names.map(str::as_bytes));
    let listed = meta.files.unwrap_or_default();
    if listed.left_out {
        collector.problem(0, "too many file names; the rest is omitted");
    }
    let package = Package {
        name: text(meta.name.as_bytes()),
        version: text(meta.version.as_bytes()),
        build: meta.build.and_then(|build| some_text(build.as_bytes())),
        architecture: meta.subdir.and_then(|subdir| some_text(subdir.as_bytes())),
        installed_bytes: meta.paths_data.and_then(|data| data.paths).and_then(|paths| paths.value.0),
        source: None,
        maker: meta.channel.and_then(|channel| some_text(channel.as_bytes())),
        homepage: None,
        depends,
        installed: true,
        files: Some(listed.value.into_iter().map(String::into_bytes).collect()),
        ..Package::default()
    };
    if package.name.is_empty() {
        collector.problem(0, "package without a name");
    } else {
        collector.package(0, package);
    }
    collector.finish()
}

/// Result of folding a list while it is parsed, so that a long one uses no more memory than its result.
trait Fold: Default {
    type Item: for<'de> Deserialize<'de>;
    /// Adds one element; `false` if no more are needed.
    fn add(&mut self, item: Self::Item) -> bool;
}

impl Fold for Vec<String> {
    type Item = String;

    fn add(&mut self, item: String) -> bool {
        if self.len() >= Bounds::USUAL.paths {
            return false;
        }
        self.push(item);
        true
    }
}

/// The sum of sizes, if there are any.
#[derive(Default)]
struct Sum(Option<u64>);

impl Fold for Sum {
    type Item = SizedPath;

    fn add(&mut self, item: SizedPath) -> bool {
        if let Some(bytes) = item.size_in_bytes {
            self.0 = Some(self.0.unwrap_or(0).saturating_add(bytes));
        }
        true
    }
}

#[derive(Default)]
struct Folded<T> {
    value: T,
    left_out: bool,
}

impl<'de, T: Fold> Deserialize<'de> for Folded<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(FoldVisitor(PhantomData))
    }
}

struct FoldVisitor<T>(PhantomData<T>);

impl<'de, T: Fold> Visitor<'de> for FoldVisitor<T> {
    type Value = Folded<T>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut folded = Folded { value: T::default(), left_out: false };
        while let Some(item) = list.next_element()? {
            if !folded.value.add(item) {
                folded.left_out = true;
                while list.next_element::<IgnoredAny>()?.is_some() {}
                break;
            }
        }
        Ok(folded)
    }
}
