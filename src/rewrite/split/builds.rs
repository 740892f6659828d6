//! Builds by programs that are not known to compile: a script of the project, `ant`, `sbt`, `f2py`.

use hashbrown::HashMap;

use super::calls::{Target, names_compiler, targets};
use super::context::SplitContext;
use super::operands::operands;
use super::shell::{Work, work};
use super::steps::Steps;
use crate::formats::binary::FileFacts;
use crate::layer::EntryId;
use crate::rewrite::tidy::{Call, Run};
use crate::rootfs::{Node, NodeId};

const DOWNLOADERS: [&str; 3] = ["aria2c", "curl", "wget"];

/// Whether a `RUN` may compile: it calls a program that builds, or a script of the project. A script in a `RUN` that
/// downloads installs what was compiled elsewhere, unless its name says otherwise or an earlier instruction brought it.
pub(super) fn may_build(run: &Run, brought: &dyn Fn(&str) -> bool) -> bool {
    let downloads = downloads(run);
    run.commands.iter().filter_map(Call::of).flat_map(|call| targets(&call)).any(|target| match target {
        Target::Builder => true,
        Target::Code(text) => names_compiler(text) || compiles_in_code(text),
        Target::Script(script) => !downloads || is_named_as_build(script) || brought(script),
        Target::Module(_) | Target::Program(_) => false,
    })
}

fn compiles_in_code(text: &str) -> bool {
    const PARTS: [&str; 8] = [
        "Pkg.build",
        "build_ext",
        "cpp_extension",
        "cythonize",
        "ffi.compile",
        "install.packages",
        "load_inline",
        "set_source",
    ];
    PARTS.iter().any(|part| text.contains(part))
}

fn is_named_as_build(script: &str) -> bool {
    let name = script.rsplit('/').next().unwrap_or(script);
    ["bootstrap", "build", "compile", "make"].iter().any(|part| name.contains(part))
}

fn downloads(run: &Run) -> bool {
    run.commands.iter().filter_map(Call::of).any(|call| DOWNLOADERS.contains(&call.program))
}

/// Whether a step may call a build tool: only what the image shows to call none does not.
pub(super) fn may_call_builders(context: &SplitContext<'_>, steps: &Steps<'_, '_>, at: usize) -> bool {
    let Some(run) = steps.run(at) else { return true };
    let downloads = downloads(run);
    let calls = run.commands.iter().zip(operands(steps, at));
    // `setup() { … }` in the same RUN: its commands are looked at themselves.
    let words = run.commands.iter().flat_map(|command| &command.words);
    let functions: Vec<&str> = words.filter_map(|word| word.text.strip_suffix("()")).collect();
    let mut modules: HashMap<String, bool> = HashMap::new();
    let calls = calls.filter_map(|(command, named)| {
        let work = work(command);
        let may = matches!(work, Work::Other | Work::Language | Work::Shell);
        Some((Call::of(command).filter(|_| may)?, named.folder, work))
    });
    calls.into_iter().any(|(call, folder, work)| {
        targets(&call).into_iter().any(|target| match target {
            Target::Builder => true,
            Target::Code(text) => {
                names_compiler(text)
                    || compiles_in_code(text)
                    || text.contains("subprocess")
                    || text.contains("system(")
            }
            Target::Script(script) => {
                let path = match (script.starts_with('/'), &folder) {
                    (false, Some(folder)) => format!("{folder}/{}", script.trim_start_matches("./")),
                    _ => script.to_owned(),
                };
                match context.paths.lookup(path.as_bytes()) {
                    Some(node) => names_tools(context, node),
                    None => !downloads || is_named_as_build(script),
                }
            }
            Target::Module(name) => {
                !*modules.entry(name.to_owned()).or_insert_with(|| is_installed(context, name))
            }
            Target::Program(name) => {
                let is_function = || functions.contains(&name.trim_end_matches("()"));
                work == Work::Other && !is_function() && program_may(context, name, downloads)
            }
        })
    })
}

fn names_tools(context: &SplitContext<'_>, node: NodeId) -> bool {
    context.input.inventory.mentions.iter().any(|one| one.node == node && !one.words.is_empty())
}

/// Whether a module of Python is of its own library or of an installed package.
fn is_installed(context: &SplitContext<'_>, module: &str) -> bool {
    let top = module.split('.').next().unwrap_or(module);
    let file = format!("{top}.py");
    let of_others =
        |node: &Node<'_>| !context.is_users(*node) || context.input.inventory.owners.of(node.id()).is_some();
    let is_one = |node: &Node<'_>| {
        node.name() == file.as_bytes()
            || node.name() == b"__init__.py" && node.parent().name() == top.as_bytes()
    };
    let mut found = context.rootfs.nodes().filter(is_one).peekable();
    found.peek().is_some() && found.all(|node| of_others(&node))
}

/// Whether a program may call a build tool: a package for building has it, or it is of no package and not known to call
/// none.
fn program_may(context: &SplitContext<'_>, name: &str, downloads: bool) -> bool {
    let node = context.program(name).and_then(|path| context.paths.lookup(&path));
    // What the RUN downloads and removes again was compiled elsewhere.
    let Some(node) = node else { return !downloads };
    match context.input.inventory.owners.of(node) {
        Some(owner) => context.is_builders(&context.input.inventory.packages[owner].name),
        None => context.is_users(context.rootfs.node(node)) && names_tools(context, node),
    }
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
