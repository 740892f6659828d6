//! A smaller final stage as edits of the user's text.

mod base;
mod copies;
mod install;
mod remarks;
mod repeat;

use std::collections::HashSet;
use std::fmt::Write as _;

use super::effects::Effects;
use super::keep::Keep;
use super::packages::Wanted;
use super::stage::Final;
use super::trees::{Copy, Trees, trees};
use super::words::variables;
use crate::base::text::printable;
use crate::cuda::Flavor;
use crate::formats::dockerfile::{Keyword, PieceKind};
use crate::rewrite::draft::Draft;
use crate::rewrite::propose::Input;
use crate::rewrite::tidy::{VersionArgument, version_argument};
use crate::rewrite::value::{Applicability, Edit, StageSize};

/// Writes the draft of one base.
pub(super) fn draft(
    id: &'static str,
    input: &Input<'_>,
    stage: &Final<'_>,
    keep: &Keep<'_, '_>,
    effects: &Effects,
    wanted: &[Wanted],
) -> Draft {
    let trees = trees(keep);
    let mut selection = keep.selection(&trees.folders);
    for node in &trees.left {
        let node = keep.world.rootfs.node(*node);
        for (layer, entry) in
            node.content().into_iter().chain(node.entry().map(|entry| (node.layer(), entry)))
        {
            selection.set(layer, entry, true, keep.world.rootfs.layer(layer).len());
        }
    }
    let mut writer = Writer::new(stage, keep, effects, wanted, &trees);
    writer.all();
    let title = match (keep.base.own, keep.base.flavor) {
        (true, _) => "Build in a stage of its own, and ship what runs".to_owned(),
        (false, Flavor::None) if keep.world.is_cuda_image() => {
            format!("Ship what runs on {}, without a CUDA base", keep.base.reference)
        }
        (false, _) => format!("Ship what runs on {}", keep.base.reference),
    };
    Draft {
        id,
        title,
        applicability: Applicability::Review,
        base_image: Some(keep.base.reference.clone()),
        edits: writer.edits,
        selection,
        environment: writer.environment,
        entrypoint: writer.entrypoint,
        stages: vec![StageSize {
            name: stage.build_name(),
            base: stage.base.clone(),
            merged_bytes: Some(
                input.merge.merged_bytes
                    - trees.removed.iter().map(|(_, bytes)| bytes).sum::<u64>().min(input.merge.merged_bytes),
            ),
        }],
        kept: writer.kept,
        assumed: writer.assumed,
        by_hand: writer.by_hand,
        hints: Vec::new(),
    }
}

struct Writer<'s, 'r, 'k, 'w, 'a> {
    stage: &'s Final<'r>,
    keep: &'k Keep<'w, 'a>,
    effects: &'s Effects,
    wanted: &'s [Wanted],
    trees: &'s Trees,
    name: String,
    /// The CUDA version in one place, when both stages start from NVIDIA's image.
    version: Option<VersionArgument>,
    /// Variables that instructions use which are repeated or stay at the end.
    used: HashSet<String>,
    /// Where the new stage goes.
    at: usize,
    end: &'static str,
    lower: bool,
    edits: Vec<Edit>,
    environment: Vec<String>,
    entrypoint: Option<Vec<String>>,
    kept: Vec<String>,
    assumed: Vec<String>,
    by_hand: Vec<String>,
}

impl<'s, 'r, 'k, 'w, 'a> Writer<'s, 'r, 'k, 'w, 'a> {
    fn new(
        stage: &'s Final<'r>,
        keep: &'k Keep<'w, 'a>,
        effects: &'s Effects,
        wanted: &'s [Wanted],
        trees: &'s Trees,
    ) -> Self {
        let from = &stage.file.instructions[stage.from];
        let config = keep.world.input.image.config.as_ref().and_then(|config| config.config().as_ref());
        Self {
            stage,
            keep,
            effects,
            wanted,
            trees,
            name: stage.build_name(),
            version: (!keep.base.own && keep.base.flavor != Flavor::None)
                .then(|| version_argument(stage.file, 1))
                .flatten(),
            used: used(stage, effects),
            at: place(stage),
            end: stage.file.line_end(),
            lower: stage.file.slice(&from.keyword_span).bytes().all(|byte| byte.is_ascii_lowercase()),
            edits: Vec::new(),
            environment: config.and_then(|config| config.env().clone()).unwrap_or_default(),
            entrypoint: config.and_then(|config| config.entrypoint().clone()),
            kept: Vec::new(),
            assumed: Vec::new(),
            by_hand: effects.by_hand.clone(),
        }
    }

    fn all(&mut self) {
        self.name_build_stage();
        self.end_continuation();
        self.remove_first();
        self.from();
        self.settings();
        self.repeat(&[Keyword::Maintainer, Keyword::Arg, Keyword::Env]);
        self.certificates();
        // Users have the same numbers when they are there before packages add theirs; sources are wanted by what
        // installs from them.
        let copies = self.trees.copies.iter();
        let (early, late): (Vec<&Copy>, Vec<&Copy>) = copies.partition(|copy| copy.early);
        for copy in early {
            self.copy(copy);
        }
        self.install();
        for copy in late {
            self.copy(copy);
        }
        self.links();
        for keyword in [
            Keyword::Label,
            Keyword::Expose,
            Keyword::Volume,
            Keyword::StopSignal,
            Keyword::Healthcheck,
            Keyword::OnBuild,
            Keyword::WorkDir,
            Keyword::Shell,
            Keyword::User,
            Keyword::Entrypoint,
            Keyword::Cmd,
        ] {
            self.repeat(&[keyword]);
        }
        self.end_line();
        self.entry();
        self.assume();
    }

    fn word(&self, keyword: &str) -> String {
        if self.lower { keyword.to_lowercase() } else { keyword.to_owned() }
    }

    /// Puts lines in before the tail, with one reason.
    fn add(&mut self, text: &str, reason: impl Into<String>, bytes: Option<u64>) {
        let mut text = text.replace('\n', self.end);
        let before = self.stage.file.text().get(..self.at).unwrap_or_default();
        if !before.ends_with('\n') && !self.edits.iter().any(|edit| edit.at.start == self.at) {
            text.insert_str(0, self.end);
        }
        self.edits.push(Edit {
            at: self.at..self.at,
            with: format!("{text}{}", self.end),
            reason: reason.into(),
            applicability: Applicability::Review,
            bytes,
        });
    }

    /// Words of a command, each on a line of its own when there are several.
    fn lines(&self, words: &[&str]) -> String {
        match words {
            [] => String::new(),
            [one] => format!(" {one}"),
            many => many.iter().fold(String::new(), |mut text, word| {
                write!(text, " {}\n        {word}", self.stage.file.escape).ok();
                text
            }),
        }
    }

    fn run(&self, commands: &[String]) -> String {
        let joined = commands.join(&format!(" {}\n && ", self.stage.file.escape));
        format!("{} {joined}", self.word("RUN"))
    }

    /// A last line that goes on with nothing would go on with what is put in.
    fn end_continuation(&mut self) {
        let file = self.stage.file;
        let before = file.text().get(..self.at).unwrap_or_default().trim_end();
        let Some(at) = before.len().checked_sub(1).filter(|_| before.ends_with(file.escape)) else { return };
        if file.instructions.iter().any(|one| one.span.contains(&at)) {
            self.edits.push(Edit {
                at: at..at + 1,
                with: String::new(),
                reason: "The line goes on with nothing.".to_owned(),
                applicability: Applicability::Review,
                bytes: None,
            });
        }
    }

    /// Nothing: the last line that was put in ends where the tail begins.
    fn end_line(&mut self) {
        let after = self.stage.file.text().get(self.at..).unwrap_or_default();
        if after.trim().is_empty()
            && let Some(last) = self.edits.last_mut()
            && !self.stage.file.text().ends_with('\n')
        {
            last.with.truncate(last.with.trim_end_matches(['\r', '\n']).len());
        }
    }
}

fn listed(words: &[&str]) -> String {
    const SHOWN: usize = 8;
    let mut text = words.iter().take(SHOWN).map(|word| printable(word)).collect::<Vec<_>>().join(", ");
    if words.len() > SHOWN {
        write!(text, " and {} more", words.len() - SHOWN).ok();
    }
    text
}

/// Variables that the instructions use which say how the image is run, and commands that are repeated.
fn used(stage: &Final<'_>, effects: &Effects) -> HashSet<String> {
    let says_how = |step: &&usize| {
        let keyword = stage.file.instructions[**step].keyword;
        !matches!(keyword, Keyword::Run | Keyword::Copy | Keyword::Add)
    };
    let texts = stage.steps.iter().filter(says_how).map(|step| stage.text(*step));
    let texts = texts.chain(effects.after.iter().map(|(text, _)| text.as_str()));
    texts.flat_map(variables).map(str::to_owned).collect()
}

/// Where the new stage goes: before the instructions that end the file and only say how the image is run, with
/// the comments right above them.
fn place(stage: &Final<'_>) -> usize {
    let file = stage.file;
    let Some(first) = stage.steps.get(stage.tail) else {
        let last = stage.steps.last().copied().unwrap_or(stage.from);
        return file.instructions[last.max(stage.from)].span.end;
    };
    let piece = file.pieces.iter().position(|piece| piece.kind == PieceKind::Instruction(*first));
    let mut at = file.instructions[*first].span.start;
    for piece in file.pieces[..piece.unwrap_or(0)].iter().rev() {
        if piece.kind != PieceKind::Comment {
            break;
        }
        at = piece.span.start;
    }
    at
}
