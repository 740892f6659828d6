//! Builds by programs that are not known to compile: a script of the project, `ant`, `sbt`, `f2py`.

use super::context::SplitContext;
use super::shell::COMPILERS;
use crate::formats::binary::FileFacts;
use crate::layer::EntryId;
use crate::rewrite::tidy::{Call, Run};
use crate::rootfs::Node;

/// Programs that build, besides compilers.
const BUILDERS: [&str; 48] = [
    "PyInstaller",
    "ant",
    "b2",
    "bjam",
    "buck2",
    "cabal",
    "catkin_make",
    "colcon",
    "crystal",
    "cython",
    "cythonize",
    "dotnet",
    "dune",
    "f2py",
    "flutter",
    "ghc",
    "go-task",
    "groovyc",
    "hatch",
    "invoke",
    "just",
    "kotlinc",
    "lein",
    "mage",
    "mix",
    "nim",
    "nimble",
    "node-gyp",
    "nuitka",
    "nuitka3",
    "opam",
    "pecl",
    "premake5",
    "pyinstaller",
    "pythran",
    "qmake",
    "rake",
    "rebar3",
    "sbt",
    "scalac",
    "shards",
    "stack",
    "swift",
    "task",
    "tox",
    "waf",
    "xmake",
    "zig",
];
/// Their commands that only tell something.
const TELLS: [&str; 8] = ["--help", "--info", "--version", "-V", "-version", "doctor", "help", "version"];
const SHELLS: [&str; 5] = ["ash", "bash", "dash", "sh", "zsh"];
const DOWNLOADERS: [&str; 3] = ["aria2c", "curl", "wget"];

/// Whether a `RUN` with commands of unknown effect may compile: it calls a program that builds, or a script of the
/// project. One that was downloaded by the same `RUN` installs what was compiled elsewhere, unless its name says
/// otherwise.
pub(super) fn may_build(run: &Run) -> bool {
    let downloads = downloads(run);
    run.commands.iter().filter_map(Call::of).any(|call| {
        let tells = call.words.last().is_some_and(|word| TELLS.contains(&word.text.as_str()));
        let in_text = || inline(&call).is_some_and(|text| names_compiler(text) || compiles_in_python(text));
        let of_project = || script(&call).is_some_and(|script| !downloads || is_named_as_build(script));
        let is_builder = || {
            BUILDERS.contains(&call.program)
                || call.program.starts_with('$') && names_compiler(call.program)
                || module(&call).is_some_and(|name| name == "build" || BUILDERS.contains(&name))
        };
        !tells && (is_builder() || in_text() || of_project())
    })
}

/// The script that a command runs: with a shell, with Python, or by its path in the build context.
fn script<'c>(call: &Call<'c>) -> Option<&'c str> {
    const SYSTEM: [&str; 4] = ["/bin/", "/opt/", "/sbin/", "/usr/"];
    let first = call.words.iter().map(|word| word.text.as_str()).find(|word| !word.starts_with('-'));
    if SHELLS.contains(&call.program) {
        // In a pipe it reads an installer: `curl … | sh -s -- -y`.
        return first.filter(|_| inline(call).is_none() && !call.has("-s"));
    }
    if call.program.starts_with("python") {
        return first.filter(|word| {
            word.rsplit_once('.').is_some_and(|(_, suffix)| suffix == "py") && module(call).is_none()
        });
    }
    let is_own = call.path.contains('/') && !SYSTEM.iter().any(|folder| call.path.starts_with(folder));
    is_own.then_some(call.path)
}

/// The code in the words of a command: `sh -c "make"`, `python -c "…"`.
fn inline<'c>(call: &Call<'c>) -> Option<&'c str> {
    let takes_code = SHELLS.contains(&call.program) || call.program.starts_with("python");
    let is_code = |word: &str| word.starts_with('-') && !word.starts_with("--") && word.ends_with('c');
    let at = call.words.iter().position(|word| is_code(&word.text)).filter(|_| takes_code)?;
    call.words.get(at + 1).map(|word| word.text.as_str())
}

/// The last part of the module that Python runs: `f2py` of `python -m numpy.f2py`.
fn module<'c>(call: &Call<'c>) -> Option<&'c str> {
    let at = call.words.iter().position(|word| word.text == "-m")?;
    let name = call.words.get(at + 1).filter(|_| call.program.starts_with("python"))?;
    name.text.rsplit('.').next()
}

fn names_compiler(text: &str) -> bool {
    let mut words = text.split(|one: char| !(one.is_ascii_alphanumeric() || "+_-.".contains(one)));
    words.any(|word| COMPILERS.contains(&word) || matches!(word, "CC" | "CXX"))
}

fn compiles_in_python(text: &str) -> bool {
    const PARTS: [&str; 6] =
        ["build_ext", "cpp_extension", "cythonize", "ffi.compile", "load_inline", "set_source"];
    PARTS.iter().any(|part| text.contains(part))
}

fn is_named_as_build(script: &str) -> bool {
    let name = script.rsplit('/').next().unwrap_or(script);
    ["bootstrap", "build", "compile", "make"].iter().any(|part| name.contains(part))
}

/// Whether a `RUN` may call a build tool by a script of the project: the script names one, or is not in the image.
pub(super) fn may_call_builders(context: &SplitContext<'_>, run: &Run) -> bool {
    let downloads = downloads(run);
    let mut scripts = run.commands.iter().filter_map(Call::of).filter_map(|call| script(&call));
    scripts.any(|script| {
        let name = script.rsplit('/').next().unwrap_or_default().as_bytes();
        let mut files = context.rootfs.nodes().filter(|node| node.name() == name).peekable();
        let named = |node: Node<'_>| {
            let mut mentions = context.input.inventory.mentions.iter();
            mentions.any(|one| one.node == node.id() && !one.words.is_empty())
        };
        files.peek().is_none() && (!downloads || is_named_as_build(script)) || files.any(named)
    })
}

fn downloads(run: &Run) -> bool {
    run.commands.iter().filter_map(Call::of).any(|call| DOWNLOADERS.contains(&call.program))
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
