//! The input of clean-ups: the file, its layers, and their superfluous files.

use std::cell::OnceCell;

use super::call::is_strict;
use crate::formats::dockerfile::{
    Dockerfile, Form, Instruction, Keyword, PieceKind, ShellCommand, Span, Stage, commands,
};
use crate::layer::EntryId;
use crate::rewrite::recipe::{InstructionLayers, shared_layer};

/// A regular file of a layer that a finding of the plan covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::rewrite) struct Waste {
    pub(in crate::rewrite) layer: u16,
    pub(in crate::rewrite) entry: EntryId,
    pub(in crate::rewrite) bytes: u64,
    pub(in crate::rewrite) kind: Kind,
    /// The upper layer that shadows it.
    pub(in crate::rewrite) by: Option<u16>,
    /// The entry of that layer with the same content at the same path.
    pub(in crate::rewrite) copy: Option<EntryId>,
}

/// The kind of a superfluous file, as far as an instruction can avoid it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::rewrite) enum Kind {
    AptLists,
    AptArchives,
    Dnf,
    Zypper,
    Apk,
    /// Below `/root`.
    PipOfRoot,
    Pip,
    Uv,
    Poetry,
    Conda,
    Npm,
    Yarn,
    Artifact,
    Other,
}

impl Kind {
    /// The cache that contains a path.
    pub(in crate::rewrite) fn of_cache(path: &[u8]) -> Self {
        const BELOW: [(&[u8], Kind); 9] = [
            (b"/var/lib/apt/lists/", Kind::AptLists),
            (b"/var/cache/apt/", Kind::AptArchives),
            (b"/var/cache/dnf/", Kind::Dnf),
            (b"/var/cache/yum/", Kind::Dnf),
            (b"/var/cache/libdnf5/", Kind::Dnf),
            (b"/var/cache/zypp", Kind::Zypper),
            (b"/var/cache/apk/", Kind::Apk),
            (b"/etc/apk/cache/", Kind::Apk),
            (b"/root/.cache/pip/", Kind::PipOfRoot),
        ];
        const WITHIN: [(&[u8], Kind); 6] = [
            (b"/.cache/pypoetry/", Kind::Poetry),
            (b"/.cache/pip/", Kind::Pip),
            (b"/.cache/uv/", Kind::Uv),
            (b"/.npm/", Kind::Npm),
            (b"/.cache/yarn/", Kind::Yarn),
            (b"/pkgs/", Kind::Conda),
        ];
        // pip's note about its own newest version, some bytes: no reason for an edit.
        if memchr::memmem::find(path, b"/.cache/pip/selfcheck/").is_some() {
            return Self::Other;
        }
        let below = BELOW.iter().find(|(folder, _)| path.starts_with(folder));
        let within = || WITHIN.iter().find(|(part, _)| memchr::memmem::find(path, part).is_some());
        below.or_else(within).map_or(Self::Other, |(_, kind)| *kind)
    }

    /// Whether a command in its RUN can keep it out of the layer.
    pub(in crate::rewrite) fn is_cache(self) -> bool {
        !matches!(self, Self::Artifact | Self::Other)
    }
}

/// Queries about the image's layers.
pub(in crate::rewrite) trait Look {
    /// The path of an entry.
    fn path(&self, layer: u16, entry: EntryId) -> Vec<u8>;

    /// Permission bits of an entry.
    fn mode(&self, layer: u16, entry: EntryId) -> u16;

    /// Whether a layer below `layer` has an entry at a path.
    fn existed(&self, path: &str, layer: u16) -> bool;

    /// Whether everything in `layers` at or below a path is in one of `others` too.
    fn is_all_of(&self, layers: &[u16], others: &[u16], path: &str) -> bool;

    /// Whether files of these caches in these layers stay in the image: installed packages link to them, or whether
    /// something reads them is an open question.
    fn keeps(&self, layers: &[u16], caches: &[Kind]) -> bool;
}

/// A `RUN`.
#[derive(Clone, Debug)]
pub(in crate::rewrite) struct Run {
    /// Its index among the instructions.
    pub(in crate::rewrite) place: usize,
    /// Its commands.
    pub(in crate::rewrite) commands: Vec<ShellCommand>,
    /// Whether it can be edited: in shell form, with every command understood.
    pub(in crate::rewrite) may_edit: bool,
    /// Whether it stops at the first command that fails, by `set -e`.
    pub(in crate::rewrite) is_strict: bool,
}

/// The input of clean-ups.
pub(in crate::rewrite) struct TidyContext<'a> {
    pub(in crate::rewrite) file: &'a Dockerfile,
    /// The name of the file, for hints.
    pub(in crate::rewrite) name: &'a str,
    ties: &'a [InstructionLayers],
    /// By layer and entry.
    pub(in crate::rewrite) waste: &'a [Waste],
    pub(in crate::rewrite) look: &'a dyn Look,
    pub(in crate::rewrite) stages: Vec<Stage>,
    /// All of the file, in order.
    pub(in crate::rewrite) runs: Vec<Run>,
    /// The joiner of commands on separate lines somewhere in the file, computed once.
    pub(in crate::rewrite) joint: OnceCell<Option<String>>,
}

impl<'a> TidyContext<'a> {
    /// `waste` must be sorted by layer and entry.
    pub(in crate::rewrite) fn new(
        file: &'a Dockerfile,
        name: &'a str,
        ties: &'a [InstructionLayers],
        waste: &'a [Waste],
        look: &'a dyn Look,
    ) -> Self {
        let is_run = |(_, instruction): &(usize, &Instruction)| instruction.keyword == Keyword::Run;
        let run = |(place, instruction): (usize, &Instruction)| {
            let commands = outer(commands(file, place));
            let is_shell = instruction.form == Form::Shell && !commands.is_empty();
            Run {
                place,
                may_edit: is_shell && commands.iter().all(|command| command.plain),
                is_strict: commands.first().is_some_and(is_strict),
                commands,
            }
        };
        let runs = file.instructions.iter().enumerate().filter(is_run).map(run).collect();
        Self { file, name, ties, waste, look, stages: file.stages(), runs, joint: OnceCell::new() }
    }

    /// Layers of an instruction; none when it is not part of the final image, or one of them was not read.
    pub(in crate::rewrite) fn layers(&self, place: usize) -> &'a [u16] {
        let tie = self.ties.get(place).filter(|tie| tie.content_bytes.is_some());
        tie.map_or(&[], |tie| tie.layers.as_slice())
    }

    /// The only layer of the last stage, if several of its instructions created it.
    pub(in crate::rewrite) fn shared_layer(&self) -> Option<u16> {
        let places = self.stages.last()?.body.clone();
        shared_layer(self.file, self.ties, places).map(|(layer, _)| layer)
    }

    /// Whether an instruction is in the stage of the image.
    pub(in crate::rewrite) fn is_of_last_stage(&self, place: usize) -> bool {
        self.stages.last().is_some_and(|stage| stage.body.contains(&place))
    }

    /// Layers with the files of a `RUN`: its own; for one in an earlier stage those of the `COPY`s that copy its
    /// results into the image.
    pub(in crate::rewrite) fn results(&self, place: usize) -> Vec<u16> {
        let own = self.layers(place);
        let Some(stage) = self.stage(place).filter(|stage| own.is_empty() && stage + 1 < self.stages.len())
        else {
            return own.to_vec();
        };
        let is_meant = |value: &str| {
            let named = self.stages.get(stage).and_then(|one| one.name.as_deref());
            named.is_some_and(|name| name.eq_ignore_ascii_case(value)) || value == stage.to_string()
        };
        let copies =
            self.file.instructions.iter().enumerate().filter(|(_, one)| one.keyword == Keyword::Copy);
        let from = copies.filter(|(_, one)| {
            one.flags.iter().any(|flag| flag.name == "from" && flag.value.as_deref().is_some_and(is_meant))
        });
        from.flat_map(|(copy, _)| self.layers(copy)).copied().collect()
    }

    /// The instruction that created a layer.
    pub(in crate::rewrite) fn maker(&self, layer: u16) -> Option<usize> {
        self.ties.iter().position(|tie| tie.layers.contains(&layer))
    }

    /// Superfluous files in these layers.
    pub(in crate::rewrite) fn waste_of(&self, layers: &[u16]) -> impl Iterator<Item = &'a Waste> {
        let waste = self.waste;
        let of = move |layer: u16| {
            let start = waste.partition_point(|one| one.layer < layer);
            let end = waste.partition_point(|one| one.layer <= layer);
            waste.get(start..end).unwrap_or_default()
        };
        layers.iter().copied().flat_map(of)
    }

    pub(in crate::rewrite) fn instruction(&self, place: usize) -> Option<&'a Instruction> {
        self.file.instructions.get(place)
    }

    /// The `RUN` at a place.
    pub(in crate::rewrite) fn run(&self, place: usize) -> Option<&Run> {
        let at = self.runs.binary_search_by_key(&place, |run| run.place).ok()?;
        self.runs.get(at)
    }

    /// The line that an instruction begins on.
    pub(in crate::rewrite) fn line(&self, place: usize) -> u32 {
        self.instruction(place).map_or(0, |instruction| instruction.line)
    }

    /// The stage that an instruction belongs to.
    pub(in crate::rewrite) fn stage(&self, place: usize) -> Option<usize> {
        let after = self.stages.partition_point(|stage| stage.from <= place);
        after.checked_sub(1)
    }

    /// The working directory of an instruction, if the file sets it.
    pub(in crate::rewrite) fn workdir(&self, place: usize) -> Option<String> {
        let mut stage = self.stage(place);
        let mut end = place;
        let mut parts: Vec<&str> = Vec::new();
        // Stages only start from earlier ones.
        while let Some(one) = stage.and_then(|stage| self.stages.get(stage)) {
            let body = self.file.instructions.get(one.body.start..end).unwrap_or_default();
            for instruction in body.iter().rev().filter(|one| one.keyword == Keyword::WorkDir) {
                let path = &instruction.words.first()?.text;
                parts.push(path);
                if path.starts_with('/') {
                    parts.reverse();
                    return clean(&parts.join("/"));
                }
            }
            stage = one.parent;
            end = stage.and_then(|parent| self.stages.get(parent)).map_or(0, |parent| parent.body.end);
        }
        None
    }

    /// A path of an instruction, absolute and without a trailing slash. `None` when the file does not determine it.
    pub(in crate::rewrite) fn absolute(&self, place: usize, path: &str) -> Option<String> {
        if path.starts_with('/') {
            return clean(path);
        }
        clean(&format!("{}/{path}", self.workdir(place)?))
    }

    /// All lines of an instruction with the last line end, and one of two blank lines around it.
    pub(in crate::rewrite) fn whole(&self, place: usize) -> Option<Span> {
        let pieces = &self.file.pieces;
        let at = pieces.iter().position(|piece| piece.kind == PieceKind::Instruction(place))?;
        let is_blank = |at: usize| pieces.get(at).is_some_and(|piece| piece.kind == PieceKind::Blank);
        let span = &pieces.get(at)?.span;
        let between_blanks = at.checked_sub(1).is_some_and(is_blank) && is_blank(at + 1);
        let end = pieces.get(at + 1).filter(|_| between_blanks).map_or(span.end, |piece| piece.span.end);
        Some(span.start..end)
    }

    /// Whether the file needs `BuildKit`: it uses a feature of `BuildKit`.
    pub(in crate::rewrite) fn is_buildkit(&self) -> bool {
        let knows = |instruction: &Instruction| {
            !instruction.heredocs.is_empty() || instruction.flags.iter().any(|flag| flag.name == "mount")
        };
        self.file.directives.iter().any(|directive| directive.name == "syntax")
            || self.file.instructions.iter().any(knows)
    }
}

/// Top-level commands: not those in `$(...)`.
fn outer(commands: Vec<ShellCommand>) -> Vec<ShellCommand> {
    let mut end = 0;
    let mut is_outer = |command: &ShellCommand| {
        let is_outer = command.span.start >= end;
        end = end.max(command.span.end);
        is_outer
    };
    commands.into_iter().filter(|command| is_outer(command)).collect()
}

/// A normalised absolute path. `None` when it has variables, patterns, quotes or `..`.
fn clean(path: &str) -> Option<String> {
    if path.contains(['$', '*', '?', '[', '~', '\\', '`', '{']) {
        return None;
    }
    let mut clean = String::new();
    for part in path.split('/').filter(|part| !matches!(*part, "" | ".")) {
        if part == ".." {
            clean.truncate(clean.rfind('/').unwrap_or_default());
            continue;
        }
        clean.push('/');
        clean.push_str(part);
    }
    Some(if clean.is_empty() { "/".to_owned() } else { clean })
}

/// Whether a path is another one, or is below it.
pub(in crate::rewrite) fn is_within(path: &[u8], folder: &str) -> bool {
    let folder = if folder == "/" { "" } else { folder };
    path.strip_prefix(folder.as_bytes()).is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
}
