//! Builds by programs that are not known to compile: a script of the project, `ant`, `sbt`, `f2py`.

use super::context::SplitContext;
use crate::formats::binary::FileFacts;
use crate::formats::dockerfile::ShellCommand;
use crate::layer::EntryId;
use crate::rewrite::tidy::Call;
use crate::rootfs::Node;

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

/// Whether a command whose effect is unknown may call a build tool: a script in the image names one, or the script is not
/// in the image.
pub(super) fn may_call_builders(context: &SplitContext<'_>, command: &ShellCommand) -> bool {
    let Some(call) = Call::of(command).filter(|_| may_build(command)) else { return false };
    let operands = call.words.iter().map(|word| word.text.as_str());
    let scripts = operands.chain([call.path]).filter(|word| {
        let name = word.rsplit('/').next().unwrap_or_default();
        let suffix = name.rsplit_once('.').map(|(_, suffix)| suffix);
        matches!(suffix, Some("sh" | "bash" | "py" | "pl" | "rb" | "js")) && !word.contains("://")
    });
    scripts.into_iter().any(|script| {
        let name = script.rsplit('/').next().unwrap_or_default().as_bytes();
        let mut files = context.rootfs.nodes().filter(|node| node.name() == name).peekable();
        let named = |node: Node<'_>| {
            context.input.inventory.mentions.iter().any(|one| one.node == node.id() && !one.words.is_empty())
        };
        files.peek().is_none() || files.any(named)
    })
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
