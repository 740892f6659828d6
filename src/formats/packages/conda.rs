//! `conda-meta/NAME-VERSION-BUILD.json`: one package of a conda environment.

use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, SeqAccess, Visitor};

use super::{Bounds, Collector, Package, Read, some_text, text};

#[derive(serde::Deserialize)]
struct Meta {
    name: String,
    version: String,
    channel: Option<String>,
    subdir: Option<String>,
    depends: Option<Names>,
    files: Option<Names>,
}

/// Parses such a file. Paths are relative to the prefix, the folder that contains `conda-meta`.
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
    let needed = meta.depends.unwrap_or_default().list;
    let names = needed.iter().map(|one| one.split([' ', '=', '<', '>', '!', '~']).next().unwrap_or(one));
    let depends = collector.names(0, names.map(str::as_bytes));
    let listed = meta.files.unwrap_or_default();
    if listed.left_out {
        collector.problem(0, "too many file names; the rest is omitted");
    }
    let package = Package {
        name: text(meta.name.as_bytes()),
        version: text(meta.version.as_bytes()),
        architecture: meta.subdir.and_then(|subdir| some_text(subdir.as_bytes())),
        maker: meta.channel.and_then(|channel| some_text(channel.as_bytes())),
        depends,
        installed: true,
        files: Some(listed.list.into_iter().map(String::into_bytes).collect()),
        ..Package::default()
    };
    if package.name.is_empty() {
        collector.problem(0, "package without a name");
    } else {
        collector.package(0, package);
    }
    collector.finish()
}

/// The first names of a list. A longer one is parsed without storing the rest.
#[derive(Default)]
struct Names {
    list: Vec<String>,
    left_out: bool,
}

impl<'de> Deserialize<'de> for Names {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(NamesVisitor)
    }
}

struct NamesVisitor;

impl<'de> Visitor<'de> for NamesVisitor {
    type Value = Names;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Names, A::Error> {
        let mut names = Names::default();
        while names.list.len() < Bounds::USUAL.paths {
            let Some(name) = items.next_element()? else { return Ok(names) };
            names.list.push(name);
        }
        while items.next_element::<IgnoredAny>()?.is_some() {
            names.left_out = true;
        }
        Ok(names)
    }
}
