//! Builds by programs that are not known to compile: a script of the project, `ant`, `sbt`, `f2py`.

use super::context::SplitContext;
use crate::formats::binary::FileFacts;
use crate::formats::dockerfile::ShellCommand;
use crate::layer::EntryId;
use crate::rewrite::tidy::Call;

/// Programs that download, unpack, copy or edit: what they leave was compiled elsewhere.
const OTHERS: [&str; 66] = [
    ".",
    "7z",
    "aria2c",
    "awk",
    "aws",
    "az",
    "basename",
    "break",
    "bunzip2",
    "bzip2",
    "case",
    "cat",
    "cp",
    "curl",
    "cut",
    "dd",
    "deno",
    "dirname",
    "do",
    "done",
    "else",
    "esac",
    "exit",
    "fc-list",
    "fi",
    "for",
    "gcloud",
    "git",
    "git-lfs",
    "grep",
    "gsutil",
    "gunzip",
    "gzip",
    "head",
    "helm",
    "hf",
    "huggingface-cli",
    "if",
    "jq",
    "ls",
    "mv",
    "nvm",
    "ollama",
    "openssl",
    "playwright",
    "puppeteer",
    "rsync",
    "rustup",
    "sed",
    "sha256sum",
    "sha512sum",
    "sleep",
    "sort",
    "source",
    "svn",
    "tail",
    "tar",
    "then",
    "tr",
    "unxz",
    "unzip",
    "wc",
    "wget",
    "while",
    "xz",
    "zstd",
];
const SHELLS: [&str; 5] = ["ash", "bash", "dash", "sh", "zsh"];

/// Whether a command whose effect is unknown may compile.
pub(super) fn may_build(command: &ShellCommand) -> bool {
    let Some(call) = Call::of(command) else { return false };
    if SHELLS.contains(&call.program) {
        // In a pipe it reads an installer: `curl … | sh -s -- -y`.
        let first = call.words.iter().map(|word| word.text.as_str()).find(|word| !word.starts_with('-'));
        let reads = call.words.iter().any(|word| word.text == "-s");
        return first.is_some() && !reads;
    }
    !OTHERS.contains(&call.program)
}

/// Whether a layer adds compiled files that belong to no package.
pub(super) fn leave_output(context: &SplitContext<'_>, layers: &[u16]) -> bool {
    layers.iter().any(|layer| {
        let read = context.input.layers.get(usize::from(*layer)).and_then(Option::as_ref);
        read.is_some_and(|read| {
            let index = &read.index;
            let is_own = |entry: EntryId| {
                let node = context.paths.entry_at(&index.path(entry));
                node.is_some_and(|node| {
                    context.rootfs.node(node).content() == Some((*layer, entry))
                        && context.input.inventory.owners.of(node).is_none()
                })
            };
            let binaries = read.facts.binaries().iter();
            let mut programs = binaries.filter(|(_, facts)| matches!(facts, FileFacts::Elf(_)));
            let of_java =
                |name: &[u8]| [&b".class"[..], b".jar", b".war"].iter().any(|suffix| name.ends_with(suffix));
            programs.any(|(entry, _)| is_own(*entry))
                || index.entries().any(|entry| of_java(index.name(entry)) && is_own(entry))
        })
    })
}
