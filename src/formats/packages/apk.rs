//! The apk database `/lib/apk/db/installed`: lines of one letter, a colon and a value.

use super::fields::lines;
use super::{Bounds, Collector, Package, Read, some_text, text};

/// Parses the whole database, with the files and folders of each package.
pub fn read_installed(bytes: &[u8]) -> Read {
    let mut collector = Collector::new(Bounds::USUAL);
    let mut package = Package::default();
    // Start of the current package, and the folder of the files that follow.
    let mut begun: Option<usize> = None;
    let mut folder: &[u8] = b"";
    // An additional empty line ends the last package.
    for (at, line) in lines(bytes).chain([(bytes.len(), b"".as_slice())]) {
        if line.is_empty() {
            let Some(start) = begun.take() else { continue };
            let mut done = std::mem::take(&mut package);
            folder = b"";
            if done.name.is_empty() {
                collector.problem(start, "package without a name");
                continue;
            }
            done.installed = true;
            done.files.get_or_insert_default();
            if !collector.package(start, done) {
                break;
            }
            continue;
        }
        begun.get_or_insert(at);
        let [letter, b':', value @ ..] = line else {
            collector.problem(at, "invalid field");
            continue;
        };
        match letter {
            b'P' => package.name = some_text(value).unwrap_or_default(),
            b'V' => package.version = some_text(value).unwrap_or_default(),
            b'A' => package.architecture = some_text(value),
            b'o' => package.source = some_text(value),
            b'm' => package.maker = some_text(value),
            b'D' => package.depends = collector.names(at, dependency_names(value)),
            b'p' => package.provides = collector.names(at, dependency_names(value)),
            b'F' => {
                folder = value;
                if !value.is_empty() {
                    collector.path(at, package.files.get_or_insert_default(), &[b"/", value]);
                }
            }
            b'R' => {
                let slash: &[u8] = if folder.is_empty() { b"" } else { b"/" };
                collector.path(at, package.files.get_or_insert_default(), &[b"/", folder, slash, value]);
            }
            _ => {}
        }
    }
    collector.finish()
}

/// Names in `so:libc.musl-x86_64.so.1 busybox>=1.36 !conflict /bin/sh`, without conflicts and versions.
fn dependency_names(list: &[u8]) -> impl Iterator<Item = &[u8]> {
    list.split(u8::is_ascii_whitespace).filter(|one| !one.starts_with(b"!")).map(|one| {
        let end = one.iter().position(|byte| b"<>=~@".contains(byte)).unwrap_or(one.len());
        one.get(..end).unwrap_or(one)
    })
}

/// Parses `/etc/apk/world`: the packages requested by the user, the first 100,000.
pub fn read_world(bytes: &[u8]) -> Vec<String> {
    let names = dependency_names(bytes).filter(|name| !name.is_empty());
    names.take(Bounds::USUAL.packages).map(text).collect()
}
