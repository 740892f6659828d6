//! The instructions of the final stage, with their effects and layers.

use std::collections::BTreeSet;

use hashbrown::{HashMap, HashSet};

use super::builds;
use super::context::SplitContext;
use super::runs::units;
use super::shell::{Work, installs_sources, is_package_word, package_name, package_words, work};
use super::stage::Final;
use crate::base::convert::layer16;
use crate::cuda::Inode;
use crate::cuda::links::folder_of;
use crate::formats::binary::FileFacts;
use crate::formats::dockerfile::{Keyword, ShellCommand, Word};
use crate::formats::document::DocumentKind;
use crate::layer::EntryKind;
use crate::rewrite::recipe::Recipe;
use crate::rewrite::tidy::{Call, Run, TidyContext};
use crate::rootfs::{Node, NodeKind, replaced};

/// The effect of an instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Sets how the image runs or how later instructions work.
    Setting,
    /// Adds files of the build context, a URL or a heredoc.
    Context,
    /// Adds files of another stage or image.
    FromStage,
    /// Runs commands: the effect of each, in order.
    Run(Vec<Work>),
}

/// An instruction of the final stage.
#[derive(Clone, Debug)]
pub(super) struct Step {
    /// Its index among the instructions of the file.
    pub(super) place: usize,
    pub(super) keyword: Keyword,
    pub(super) kind: Kind,
    /// Its layers.
    pub(super) layers: Vec<u16>,
    /// Whether it compiles: it calls a compiler or build system, or builds a language package from source.
    pub(super) compiles: bool,
}

impl Step {
    /// Whether it creates content that no other instruction of a final stage can provide: it compiles, installs
    /// language packages, downloads, or runs something unknown.
    pub(super) fn makes(&self) -> bool {
        matches!(&self.kind, Kind::Run(works) if works.iter().any(|work| makes(*work)))
    }

    /// Whether it changes owners or modes, for which a layer stores files again.
    fn changes_owners(&self) -> bool {
        matches!(&self.kind, Kind::Run(works) if works.contains(&Work::Owner))
    }

    /// Whether it installs packages of the system.
    pub(super) fn installs(&self) -> bool {
        matches!(&self.kind, Kind::Run(works) if works.contains(&Work::Install))
    }
}

/// Whether a command creates content.
pub(super) fn makes(work: Work) -> bool {
    matches!(work, Work::Compile | Work::Language | Work::Other)
}

/// The final stage as steps.
pub(super) struct Steps<'s, 'r> {
    pub(super) tidying: &'s TidyContext<'r>,
    pub(super) list: Vec<Step>,
    /// By layer: the step that created it.
    by_layer: HashMap<u16, usize>,
    /// A layer of several instructions, and the paths in it that those after the last one that makes content copied.
    shared_later: Option<(u16, HashMap<Vec<u8>, usize>)>,
    /// Steps after it of which the layer does not tell what they copied.
    pub(super) unclear: Vec<usize>,
    /// Files that an upper layer stores again at the same path with the same size: their earlier location.
    earlier: HashMap<Inode, Inode>,
}

impl<'s, 'r> Steps<'s, 'r> {
    pub(super) fn of(
        stage: &Final<'_>,
        recipe: &Recipe,
        tidying: &'s TidyContext<'r>,
        context: &SplitContext<'_>,
    ) -> Self {
        let mut list: Vec<Step> = Vec::new();
        let (mut shared_later, mut unclear) = (None, Vec::new());
        // Names of what instructions before copied.
        let mut brought: HashSet<&[u8]> = HashSet::new();
        let mut by_layer = HashMap::new();
        for place in &stage.steps {
            let Some(instruction) = stage.file.instructions.get(*place) else { continue };
            let layers = stage.layers_of(recipe, *place);
            by_layer.extend(layers.iter().map(|layer| (*layer, list.len())));
            let kind = match instruction.keyword {
                Keyword::Run => {
                    let run = tidying.run(*place);
                    Kind::Run(run.map(|run| run.commands.iter().map(work).collect()).unwrap_or_default())
                }
                Keyword::Copy | Keyword::Add if instruction.flags.iter().any(|flag| flag.name == "from") => {
                    Kind::FromStage
                }
                Keyword::Copy | Keyword::Add => Kind::Context,
                _ => Kind::Setting,
            };
            let compiles = match (&kind, tidying.run(*place)) {
                (Kind::Run(works), Some(run)) => {
                    works.contains(&Work::Compile)
                        || run.commands.iter().any(installs_sources) && holds_programs(context, &layers)
                        || works.contains(&Work::Language)
                            && (holds_local_wheels(context, &layers) || holds_extensions(context, &layers))
                        || works.iter().any(|work| matches!(work, Work::Other | Work::Language | Work::Shell))
                            && builds::may_build(run, &|script| {
                                brought.contains(script.rsplit('/').next().unwrap_or(script).as_bytes())
                            })
                            && builds::leave_output(context, &layers)
                }
                // A RUN with unknown commands may do anything.
                (Kind::Run(_), None) => true,
                _ => false,
            };
            if matches!(kind, Kind::Context | Kind::FromStage) {
                for layer in &layers {
                    let index = context.rootfs.layer(*layer);
                    brought.extend(index.entries().map(|entry| index.name(entry)));
                }
            }
            list.push(Step { place: *place, keyword: instruction.keyword, kind, layers, compiles });
        }
        if let Some(shared) = &stage.shared {
            // A copy from the build stage gives every file, whichever instruction added it.
            let by = |fits: &dyn Fn(&Step) -> bool| list.iter().rposition(fits);
            let adds = |step: &Step| matches!(step.kind, Kind::Context | Kind::FromStage);
            let maker = by(&Step::makes).or_else(|| by(&adds));
            by_layer.extend(maker.map(|maker| (shared.layer, maker)));
            let later = maker.map(|maker| brought_later(tidying, context, &list, maker));
            let (later, not_told) = later.unwrap_or_default();
            // The last one that copies a path counts.
            shared_later = Some((shared.layer, later.into_iter().collect()));
            unclear = not_told;
        }
        let mut earlier: HashMap<Inode, Inode> =
            replaced(context.rootfs).map(|(hidden, by)| (by, hidden)).collect();
        earlier.extend(links_stored_again(context, &|layer| {
            let step = by_layer.get(&layer).and_then(|step| list.get(*step));
            step.is_some_and(Step::changes_owners)
        }));
        Self { tidying, list, by_layer, shared_later, unclear, earlier }
    }

    /// The step that made a layer.
    pub(super) fn of_layer(&self, layer: u16) -> Option<usize> {
        self.by_layer.get(&layer).copied()
    }

    /// The step that added the content of a file, ignoring those that only change owners or modes.
    pub(super) fn origin(&self, node: Node<'_>) -> Option<usize> {
        let mut inode = node.content().or_else(|| Some((node.layer(), node.entry()?)))?;
        if let Some((layer, later)) = &self.shared_later
            && inode.0 == *layer
            && !later.is_empty()
        {
            let path = node.path();
            let above = path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(end, _)| end);
            let copied = above.chain([path.len()]).filter_map(|end| later.get(&path[..end]));
            if let Some(step) = copied.max() {
                return Some(*step);
            }
        }
        let mut seen = HashSet::new();
        loop {
            let step = self.by_layer.get(&inode.0).copied();
            let owns = step.and_then(|step| self.list.get(step)).is_some_and(Step::changes_owners);
            match self.earlier.get(&inode) {
                Some(before) if owns && seen.insert(inode) => inode = *before,
                _ => return step,
            }
        }
    }

    /// The text of a word of a step, with variables that an earlier `ENV` of the stage sets.
    pub(super) fn filled(&self, step: usize, word: &Word) -> String {
        if !word.text.contains('$') {
            return word.text.clone();
        }
        let before = self.list.get(..step).unwrap_or_default();
        let value = |name: &str| {
            let settings = before.iter().rev().filter_map(|step| self.tidying.instruction(step.place));
            let words = settings.filter(|one| one.keyword == Keyword::Env).flat_map(|one| &one.words);
            let mut pairs = words.filter_map(|word| word.text.split_once('='));
            let value = pairs.find(|(known, _)| *known == name).map(|(_, value)| value);
            value.filter(|value| !value.contains('$')).map(str::to_owned)
        };
        self.tidying.file.expand_word(word, &value)
    }

    /// The `RUN` of a step.
    pub(super) fn run(&self, step: usize) -> Option<&Run> {
        self.tidying.run(self.list.get(step)?.place)
    }

    /// System packages that instructions install by name, each with its step.
    pub(super) fn asked(&self) -> Vec<(usize, String)> {
        let mut asked = Vec::new();
        for (at, step) in self.list.iter().enumerate() {
            let Kind::Run(works) = &step.kind else { continue };
            let Some(run) = self.run(at) else { continue };
            for (command, work) in run.commands.iter().zip(works) {
                let Some(call) = Call::of(command).filter(|_| *work == Work::Install) else { continue };
                let packages = package_words(&call).into_iter().filter(|word| is_package_word(&word.text));
                asked.extend(packages.map(|word| (at, package_name(&word.text).to_owned())));
            }
        }
        asked
    }

    /// Whether a `RUN` is repeated unchanged or not at all: its text cannot be edited, or it installs
    /// packages from files, or in a pipe or a list with alternatives.
    pub(super) fn is_opaque(&self, step: usize) -> bool {
        let Some(run) = self.run(step) else { return true };
        let in_list = |unit: std::ops::Range<usize>| {
            unit.len() > 1 && run.commands[unit].iter().any(|command| work(command) == Work::Install)
        };
        !run.may_edit
            || run.commands.iter().any(installs_archive)
            || units(&run.commands).into_iter().any(in_list)
    }

    /// Whether a `RUN` is repeated unchanged: it cannot be edited, compiles nothing, and installs packages or
    /// creates no content.
    pub(super) fn is_whole(&self, step: usize) -> bool {
        let Some(one) = self.list.get(step) else { return false };
        matches!(one.kind, Kind::Run(_))
            && self.is_opaque(step)
            && !one.compiles
            && (one.installs() || !one.makes() || self.installs_archives(step))
    }

    /// Whether a `RUN` installs packages from files.
    pub(super) fn installs_archives(&self, step: usize) -> bool {
        self.run(step).is_some_and(|run| run.commands.iter().any(installs_archive))
    }

    /// Whether a command whose effect is unknown may call a build tool.
    pub(super) fn calls_builders(&self, context: &SplitContext<'_>) -> bool {
        self.list.iter().enumerate().any(|(at, step)| {
            let Kind::Run(works) = &step.kind else { return false };
            works.contains(&Work::Other) && builds::may_call_builders(context, self, at)
        })
    }

    /// Names of all programs that the commands call.
    pub(super) fn programs(&self) -> BTreeSet<&str> {
        let commands = (0..self.list.len()).filter_map(|step| self.run(step)).flat_map(|run| &run.commands);
        commands.filter_map(Call::of).map(|call| call.program).collect()
    }
}

/// A path, and the step that copied it.
type Brought = (Vec<u8>, usize);

/// Paths that instructions after step `maker` copy: by the names of their sources, and all below a target that no
/// instruction before names. With the steps of which that is not known: builds fill folders that their files name.
fn brought_later(
    tidying: &TidyContext<'_>,
    context: &SplitContext<'_>,
    list: &[Step],
    maker: usize,
) -> (Vec<Brought>, Vec<usize>) {
    let text = |place: usize| tidying.instruction(place).map(|one| tidying.file.slice(&one.span));
    let earlier: Vec<&str> = list[..=maker].iter().filter_map(|step| text(step.place)).collect();
    let builds = list[..=maker]
        .iter()
        .any(|step| step.compiles || matches!(&step.kind, Kind::Run(works) if works.contains(&Work::Other)));
    let (mut found, mut unclear) = (Vec::new(), Vec::new());
    for (at, step) in list.iter().enumerate().skip(maker + 1) {
        if !matches!(step.kind, Kind::Context | Kind::FromStage) {
            continue;
        }
        let Some((target, sources)) = tidying.instruction(step.place).and_then(|one| one.words.split_last())
        else {
            continue;
        };
        let Some(folder) = tidying.absolute(step.place, &target.text) else { continue };
        let names = sources.iter().map(|source| source.text.trim_end_matches('/'));
        let inside: Vec<Vec<u8>> = names
            .map(|name| {
                format!("{}/{}", folder.trim_end_matches('/'), name.rsplit('/').next().unwrap_or(name))
            })
            .map(String::into_bytes)
            // Of a folder, `COPY` brings what is in it.
            .filter(|path| !matches!(path.rsplit(|byte| *byte == b'/').next(), Some(b"." | b"..")))
            .filter(|path| {
                let node = context.paths.lookup(path).map(|node| context.rootfs.node(node));
                node.is_some_and(|node| node.kind() != NodeKind::Directory)
            })
            .collect();
        let is_known = inside.len() == sources.len();
        found.extend(inside.into_iter().map(|path| (path, at)));
        let is_file = context
            .paths
            .lookup(folder.as_bytes())
            .is_some_and(|node| context.rootfs.node(node).kind() != NodeKind::Directory);
        let name = folder.trim_matches('/');
        let is_new = !builds && !name.is_empty() && !earlier.iter().any(|text| text.contains(name));
        if is_file || !is_known && is_new {
            found.push((folder.into_bytes(), at));
        } else if !is_known {
            unclear.push(at);
        }
    }
    (found, unclear)
}

/// Whether a command installs packages from files.
fn installs_archive(command: &ShellCommand) -> bool {
    Call::of(command).is_some_and(|call| {
        let mut words = call.words.iter().map(|word| word.text.as_str());
        matches!(call.program, "dpkg" | "rpm" | "apt" | "apt-get" | "dnf" | "yum")
            && words.clone().any(|word| matches!(word, "-i" | "--install" | "install"))
            && words.any(|word| word.contains(".deb") || word.contains(".rpm"))
    })
}

/// Symbolic links that layers which change owners store again with the same target: their earlier location.
fn links_stored_again(
    context: &SplitContext<'_>,
    changes_owners: &dyn Fn(u16) -> bool,
) -> Vec<(Inode, Inode)> {
    let layers = context.base_layers..layer16(context.input.layers.len());
    let mut again = Vec::new();
    if !layers.clone().any(changes_owners) {
        return again;
    }
    let mut known: HashMap<Vec<u8>, Inode> = HashMap::new();
    for layer in layers {
        let index = context.rootfs.layer(layer);
        for entry in index.entries().filter(|entry| index.kind(*entry) == EntryKind::Symlink) {
            let before = known.insert(index.path(entry), (layer, entry));
            let is_same =
                |(layer, before): &Inode| context.rootfs.layer(*layer).link(*before) == index.link(entry);
            if let Some(before) = before.filter(is_same).filter(|_| changes_owners(layer)) {
                again.push(((layer, entry), before));
            }
        }
    }
    again
}

/// Whether a layer contains Python packages compiled in place: `PyPI` accepts no wheels for `linux_x86_64`, and those
/// of other indexes have their variant after a `+`.
fn holds_local_wheels(context: &SplitContext<'_>, layers: &[u16]) -> bool {
    layers.iter().any(|layer| {
        let read = context.input.layers.get(usize::from(*layer)).and_then(Option::as_ref);
        read.is_some_and(|read| {
            let documents = read.facts.documents().iter();
            let mut wheels = documents.filter(|document| document.kind == DocumentKind::PipWheel);
            wheels.any(|document| {
                let path = read.index.path(document.entry);
                let folder = folder_of(&path);
                let text = document.bytes().unwrap_or_default();
                let is_local = |line: &[u8]| {
                    line.starts_with(b"Tag:") && memchr::memmem::find(line, b"-linux_").is_some()
                };
                !folder.contains(&b'+') && text.split(|byte| *byte == b'\n').any(is_local)
            })
        })
    })
}

/// Whether a layer contains extensions of Node.js or Ruby packages that were compiled in place: node-gyp leaves its
/// Makefile beside what it links, and `RubyGems` a mark for each gem whose extensions it built.
fn holds_extensions(context: &SplitContext<'_>, layers: &[u16]) -> bool {
    let is_built = |path: &[u8]| {
        let of_node = path.ends_with(b".node") && folder_of(path).ends_with(b"/build/Release");
        let makefile = || [folder_of(folder_of(path)), b"/Makefile"].concat();
        of_node && context.paths.lookup(&makefile()).is_some()
            || path.ends_with(b"/gem.build_complete") && memchr::memmem::find(path, b"/extensions/").is_some()
    };
    layers.iter().any(|layer| {
        let index = context.rootfs.layer(*layer);
        let is_mark = |name: &[u8]| name.ends_with(b".node") || name == b"gem.build_complete";
        index.entries().any(|entry| is_mark(index.name(entry)) && is_built(&index.path(entry)))
    })
}

/// Whether a layer adds an ELF file.
fn holds_programs(context: &SplitContext<'_>, layers: &[u16]) -> bool {
    layers.iter().any(|layer| {
        let read = context.input.layers.get(usize::from(*layer)).and_then(Option::as_ref);
        read.is_some_and(|read| {
            read.facts.binaries().iter().any(|(_, facts)| matches!(facts, FileFacts::Elf(_)))
        })
    })
}
