//! A smaller final stage as edits of the user's text.

use std::fmt::Write as _;

use super::keep::{Fate, Keep};
use super::packages::Wanted;
use super::stage::{Effects, Final};
use super::trees::{Copy, Trees, trees};
use super::{is_pinned, state};
use crate::base::size::human;
use crate::base::text::{elide_middle, escape, printable};
use crate::cuda::Flavor;
use crate::formats::dockerfile::{Keyword, PieceKind};
use crate::rewrite::draft::Draft;
use crate::rewrite::propose::Input;
use crate::rewrite::value::{Applicability, Edit, StageSize};
use crate::rootfs::NodeKind;

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
    let mut selection = keep.selection();
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
        self.remove_first();
        self.from();
        self.repeat(&[Keyword::Arg, Keyword::Env, Keyword::Shell]);
        self.settings();
        self.sources();
        self.install();
        self.users();
        for copy in &self.trees.copies {
            self.copy(copy);
        }
        self.links();
        self.repeat(&[
            Keyword::Label,
            Keyword::Expose,
            Keyword::Volume,
            Keyword::StopSignal,
            Keyword::Healthcheck,
            Keyword::OnBuild,
            Keyword::WorkDir,
            Keyword::User,
            Keyword::Entrypoint,
            Keyword::Cmd,
        ]);
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

    fn name_build_stage(&mut self) {
        if self.stage.name.is_some() {
            return;
        }
        let from = &self.stage.file.instructions[self.stage.from];
        let with = format!(" {} {}", self.word("AS"), self.name);
        self.edits.push(Edit {
            at: from.arguments.end..from.arguments.end,
            with,
            reason: "The instructions of today become a stage that builds; nothing of it is shipped unless it is copied."
                .to_owned(),
            applicability: Applicability::Review,
            bytes: None,
        });
    }

    fn remove_first(&mut self) {
        if self.trees.removed.is_empty() {
            return;
        }
        let before = &self.stage.steps[..self.stage.tail];
        let users =
            before.iter().filter(|step| self.stage.file.instructions[**step].keyword == Keyword::User);
        if users.count() > 0 {
            let line = format!("{} root", self.word("USER"));
            self.add(&line, "What follows removes files of any owner, in the build stage only.", None);
        }
        let bytes = self.trees.removed.iter().map(|(_, bytes)| bytes).sum();
        let paths: Vec<&str> = self.trees.removed.iter().map(|(path, _)| path.as_str()).collect();
        let line = self.run(&[format!("rm -rf{}", self.lines(&paths))]);
        self.add(
            &line,
            "These files are in folders that are copied, and nothing needs them when the image runs.",
            Some(bytes),
        );
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

    fn from(&mut self) {
        let base = self.keep.base;
        let gone = |users: bool| -> u64 {
            let nodes = self.keep.world.rootfs.nodes().filter(|node| node.kind() == NodeKind::File);
            let gone = nodes.filter(|node| self.keep.fate(node.id()) == Fate::Gone);
            gone.filter(|node| self.keep.world.is_users(*node) == users).map(|node| node.bytes()).sum()
        };
        let (of_base, of_users) = (gone(false), gone(true));
        let reason = if base.own {
            format!(
                "The final stage starts from the same image and leaves {} behind that only the build needs.",
                human(of_users)
            )
        } else {
            let what = match base.flavor {
                Flavor::None if base.local => {
                    "the slim variant of the same image: the same Python without compilers and headers"
                }
                Flavor::None => {
                    "the distribution's own image, of the same release: nothing that runs needs a file of the CUDA image"
                }
                Flavor::Base => {
                    "the base flavour of the same release: libcudart and the settings for NVIDIA's container runtime"
                }
                Flavor::Runtime | Flavor::Devel => {
                    "the runtime flavour of the same release: it brings the libraries of the toolkit"
                }
            };
            format!(
                "The final stage starts from {what}. {} of the base image of today and {} of what was put on it are left behind.",
                human(of_base),
                human(of_users)
            )
        };
        let before = self.stage.file.text().get(..self.at).unwrap_or_default();
        let gap = before.ends_with("\n\n") || before.ends_with("\n\r\n");
        let gap = if gap && self.trees.removed.is_empty() { "" } else { "\n" };
        let text = format!("{gap}{} {}", self.word("FROM"), self.reference());
        self.add(&text, reason, Some(of_base + of_users));
        if is_pinned(base) && !base.own {
            self.assumed
                .push("The base of today is pinned by digest; the new one is named by its tag.".to_owned());
        }
        if !base.own {
            self.assumed.push(format!(
                "{} is taken to be what this image was built on: its lowest {} layers.",
                base.reference, base.layers
            ));
        }
    }

    /// The reference in the user's own way: with the arguments that the `FROM` of today uses.
    fn reference(&self) -> String {
        let file = self.stage.file;
        let from = &file.instructions[self.stage.from];
        let (Some(word), base) = (from.words.first(), &self.keep.base.reference) else {
            return self.keep.base.reference.clone();
        };
        let raw = word.text.as_str();
        if !raw.contains('$') {
            return base.clone();
        }
        if self.keep.base.own {
            return raw.to_owned();
        }
        let defaults = |name: &str| {
            let before = file.instructions.iter().take_while(|one| one.keyword != Keyword::From);
            let words = before.filter(|one| one.keyword == Keyword::Arg).flat_map(|one| &one.words);
            words
                .filter_map(|word| word.text.split_once('='))
                .find(|(known, _)| *known == name)
                .map(|(_, value)| value.to_owned())
        };
        let flavors = [
            "cudnn-devel",
            "cudnn8-devel",
            "cudnn9-devel",
            "devel",
            "cudnn-runtime",
            "cudnn8-runtime",
            "runtime",
        ];
        for old in flavors {
            for new in ["base", "runtime", "cudnn-runtime", "cudnn8-runtime", "cudnn9-runtime"] {
                let tried = raw.replacen(&format!("-{old}-"), &format!("-{new}-"), 1);
                if tried != raw && file.expand(&tried, &defaults) == *base {
                    return tried;
                }
            }
        }
        base.clone()
    }

    /// Repeats instructions of the build stage that say how the image is run.
    fn repeat(&mut self, keywords: &[Keyword]) {
        let file = self.stage.file;
        let before = &self.stage.steps[..self.stage.tail];
        let tail = &self.stage.steps[self.stage.tail..];
        for keyword in keywords {
            let of_kind: Vec<usize> =
                before.iter().copied().filter(|step| file.instructions[*step].keyword == *keyword).collect();
            let last_counts = matches!(
                keyword,
                Keyword::Shell
                    | Keyword::StopSignal
                    | Keyword::Healthcheck
                    | Keyword::WorkDir
                    | Keyword::User
                    | Keyword::Entrypoint
                    | Keyword::Cmd
            );
            let replaced =
                last_counts && tail.iter().any(|step| file.instructions[*step].keyword == *keyword);
            let wanted = match () {
                () if replaced && *keyword != Keyword::WorkDir => continue,
                () if last_counts => of_kind.last().copied().into_iter().collect(),
                () => of_kind,
            };
            for step in wanted {
                if *keyword == Keyword::Arg && !self.is_used(step) {
                    continue;
                }
                let line = file.instructions[step].line;
                let text = match *keyword {
                    Keyword::WorkDir => match self.folder(step) {
                        Some(folder) => format!("{} {folder}", self.word("WORKDIR")),
                        None => self.stage.text(step).to_owned(),
                    },
                    _ => self.stage.text(step).to_owned(),
                };
                let text = text.replace("\r\n", "\n");
                self.add(&text, format!("As on line {line}: a new stage does not inherit it."), None);
            }
        }
    }

    /// Whether an argument is named by something that is repeated or stays at the end.
    fn is_used(&self, step: usize) -> bool {
        let file = self.stage.file;
        let names: Vec<&str> = file.instructions[step]
            .words
            .iter()
            .map(|word| word.text.split('=').next().unwrap_or_default())
            .filter(|name| !name.is_empty())
            .collect();
        let how = self.stage.steps.iter().filter(|step| {
            !matches!(
                file.instructions[**step].keyword,
                Keyword::Run | Keyword::Copy | Keyword::Add | Keyword::Arg
            )
        });
        let mut texts = how.map(|step| self.stage.text(*step));
        texts.any(|text| {
            names
                .iter()
                .any(|name| text.contains(&format!("${name}")) || text.contains(&format!("${{{name}")))
        })
    }

    /// The working folder after an instruction, when it is no absolute path itself.
    fn folder(&self, step: usize) -> Option<String> {
        let file = self.stage.file;
        let own = file.instructions[step].words.first()?.text.as_str();
        if own.starts_with(['/', '$']) {
            return None;
        }
        let config = self.keep.world.input.image.config.as_ref()?.config().as_ref()?;
        config.working_dir().clone().filter(|folder| folder.starts_with('/'))
    }

    /// What NVIDIA's images set and the distribution's do not.
    fn settings(&mut self) {
        if self.keep.base.flavor != Flavor::None || self.keep.base.own || !self.keep.world.is_cuda_image() {
            return;
        }
        let world = self.keep.world;
        let mut set = Vec::new();
        for (name, other) in
            [("NVIDIA_VISIBLE_DEVICES", "all"), ("NVIDIA_DRIVER_CAPABILITIES", "compute,utility")]
        {
            if !self.is_set_by_user(name) {
                set.push(format!("{name}={}", world.variable(name).unwrap_or(other)));
            }
        }
        if !self.is_set_by_user("LD_LIBRARY_PATH")
            && let Some(path) = world.variable("LD_LIBRARY_PATH")
        {
            let host: Vec<&str> =
                path.split(':').filter(|folder| folder.starts_with("/usr/local/nvidia")).collect();
            if !host.is_empty() {
                set.push(format!("LD_LIBRARY_PATH={}", host.join(":")));
            }
        }
        if !set.is_empty() {
            let words: Vec<&str> = set.iter().map(String::as_str).collect();
            let line =
                format!("{} {}", self.word("ENV"), words.join(&format!(" {}\n    ", self.stage.file.escape)));
            self.add(
                &line,
                "NVIDIA's image sets them: they ask the container runtime for the GPU, and on GKE the driver is found by that path.",
                None,
            );
        }
        let users: Vec<String> = self
            .environment
            .iter()
            .filter(|pair| {
                let name = pair.split('=').next().unwrap_or_default();
                self.is_set_by_user(name) || name == "PATH"
            })
            .cloned()
            .collect();
        self.environment = users;
        self.environment.extend(set);
        self.kept.push(
            "Variables of NVIDIA's image other than these are not there any more, such as CUDA_VERSION and NVIDIA_REQUIRE_CUDA; the latter refuses drivers that are too old."
                .to_owned(),
        );
    }

    fn is_set_by_user(&self, name: &str) -> bool {
        let file = self.stage.file;
        self.stage.steps.iter().any(|step| {
            let instruction = &file.instructions[*step];
            instruction.keyword == Keyword::Env
                && instruction.words.iter().any(|word| word.text.split('=').next() == Some(name))
        })
    }

    fn sources(&mut self) {
        if self.keep.installed.is_empty() {
            return;
        }
        for (step, alone) in &self.effects.sources {
            let line = self.stage.file.instructions[*step].line;
            if *alone {
                let text = self.stage.text(*step).replace("\r\n", "\n");
                self.add(
                    &text,
                    format!("As on line {line}: packages that are installed again come from there."),
                    None,
                );
            } else {
                self.by_hand.push(format!(
                    "line {line} names a source of packages among other work: repeat that part in the final stage"
                ));
            }
        }
    }

    fn install(&mut self) {
        let inventory = self.keep.world.input.inventory;
        let mut words: Vec<&str> = Vec::new();
        let mut bytes = 0;
        let mut named: std::collections::HashSet<usize> = std::collections::HashSet::new();
        for wanted in self.wanted {
            if let Some(place) = wanted.place.filter(|place| self.keep.installed.contains(place)) {
                words.push(&wanted.asked.word);
                named.insert(place);
            }
        }
        // What comes with those above needs no name of its own.
        let brought = self.keep.world.with_dependencies(named.iter().copied());
        let mut more: Vec<&str> = Vec::new();
        for place in &self.keep.named {
            let from_base = inventory.packages[*place].layer < self.keep.base.layers;
            if !brought.contains(place) && !from_base {
                more.push(&inventory.packages[*place].name);
            }
        }
        for place in &self.keep.installed {
            bytes += inventory.packages[*place].bytes.unwrap_or_default();
        }
        if words.is_empty() && more.is_empty() {
            return;
        }
        let manager =
            self.keep.named.iter().next().map_or("dpkg", |place| inventory.packages[*place].manager);
        let reason = match (words.is_empty(), more.is_empty()) {
            (_, true) => "Packages of the build stage that the image needs when it runs.".to_owned(),
            (true, _) => format!(
                "Files that are copied need {}, which the build stage has by other packages.",
                listed(&more)
            ),
            _ => format!(
                "Packages that the image needs when it runs; {} came with others in the build stage.",
                listed(&more)
            ),
        };
        let mut all: Vec<&str> = words.iter().chain(&more).copied().collect();
        all.dedup();
        let commands = if manager == "rpm" {
            let tool = self.effects.rpm_tool.as_deref().unwrap_or("dnf");
            vec![format!("{tool} install -y{}", self.lines(&all)), format!("{tool} clean all")]
        } else {
            vec![
                "apt-get update".to_owned(),
                format!("apt-get install -y --no-install-recommends{}", self.lines(&all)),
                "rm -rf /var/lib/apt/lists/*".to_owned(),
            ]
        };
        let line = self.run(&commands);
        self.add(&line, format!("{reason} They take {} with what they depend on.", human(bytes)), None);
        self.assumed.push(format!(
            "Packages that are installed again ({}) may come in other versions than this image has, unless they are pinned.",
            listed(&all)
        ));
    }

    fn users(&mut self) {
        if !self.effects.users.is_empty() {
            let line = self.run(&self.effects.users);
            self.add(&line, "Users and groups of the build stage: a new stage does not have them.", None);
        }
    }

    fn copy(&mut self, copy: &Copy) {
        let owner = copy.owner.map(|(user, group)| format!(" --chown={user}:{group}")).unwrap_or_default();
        let mut words: Vec<&str> = copy.from.iter().map(String::as_str).collect();
        words.push(&copy.to);
        let words = if words.len() > 3 {
            words.join(&format!(" {}\n     ", self.stage.file.escape))
        } else {
            words.join(" ")
        };
        let line = format!("{} --from={}{owner} {words}", self.word("COPY"), self.name);
        let world = self.keep.world;
        let single = copy.to.ends_with('/');
        let why = if single && copy.from.iter().any(|path| path.contains(".so")) {
            "Libraries that something in the final stage loads"
        } else if single {
            "Files that the final stage needs"
        } else {
            "What the build stage made here"
        };
        let folder = escape(&world.rootfs.node(copy.folder).path());
        self.add(&line, format!("{why}, {} in {}.", human(copy.bytes), elide_middle(&folder, 60)), None);
    }

    fn links(&mut self) {
        let mut commands: Vec<String> =
            self.trees.links.iter().map(|(target, path)| format!("ln -sfn {target} {path}")).collect();
        if self.trees.needs_ldconfig {
            commands.push("ldconfig".to_owned());
        }
        if commands.is_empty() {
            return;
        }
        let reason = match (self.trees.links.is_empty(), self.trees.needs_ldconfig) {
            (false, true) => {
                "Links are made anew, since COPY follows them; ldconfig tells the loader of the libraries that were copied."
            }
            (false, false) => "Links are made anew, since COPY follows them.",
            _ => "Tells the loader of the libraries that were copied.",
        };
        let line = self.run(&commands);
        self.add(&line, reason, None);
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

    fn entry(&mut self) {
        let banner = |words: &Option<Vec<String>>| {
            words
                .as_ref()
                .and_then(|words| words.first())
                .is_some_and(|word| word.contains("nvidia_entrypoint"))
        };
        let brings = matches!(self.keep.base.flavor, Flavor::Runtime | Flavor::Devel);
        if banner(&self.entrypoint) && !brings {
            self.entrypoint = None;
            self.kept.push(
                "The entrypoint of NVIDIA's image is gone: it prints a banner and warns when there is no driver; the command is run without it."
                    .to_owned(),
            );
        }
    }

    fn assume(&mut self) {
        let world = self.keep.world;
        let mut lost = (0_u64, 0_u64);
        for node in world.rootfs.nodes().filter(|node| node.kind() == NodeKind::File && world.is_users(*node))
        {
            let known = node.content().is_some_and(|inode| world.gone.contains(&inode));
            if self.keep.fate(node.id()) == Fate::Gone
                && !known
                && world.system_owner(node.id()).is_none()
                && state::state(&node.path()) == Some(state::State::Lost)
            {
                lost = (lost.0 + 1, lost.1 + node.bytes());
            }
        }
        if lost.0 > 0 {
            self.assumed.push(format!(
                "{} files ({}) below folders of caches, logs and temporary files are not carried over.",
                lost.0,
                human(lost.1)
            ));
        }
        for folder in &self.trees.mixed {
            self.by_hand.push(format!(
                "files in {} have several owners, and COPY gives them all to root: set them in the final stage",
                printable(folder)
            ));
        }
        for path in &self.trees.unnamed {
            self.by_hand
                .push(format!("{path} is needed and cannot be written in a COPY that is read by people"));
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
