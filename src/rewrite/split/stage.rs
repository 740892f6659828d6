//! The final stage of a recipe, and what its instructions do.

use std::collections::BTreeSet;

use crate::formats::dockerfile::{Dockerfile, Form, Keyword, ShellCommand, commands};
use crate::rewrite::recipe::Recipe;

/// The instructions that make the image, from the base image on, through stages that start from each other.
pub(super) struct Final<'r> {
    pub(super) file: &'r Dockerfile,
    /// The `FROM` of the final stage.
    pub(super) from: usize,
    /// The image that the first of the stages starts from, with arguments filled in.
    pub(super) base: String,
    /// Names of all stages.
    pub(super) names: BTreeSet<String>,
    /// Instructions of all these stages, in order, without their `FROM`s.
    pub(super) steps: Vec<usize>,
    /// Where the instructions begin, in `steps`, that only say how the image is run and end the file.
    pub(super) tail: usize,
}

/// A package that an instruction installs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Asked {
    /// As it is written, version and all.
    pub(super) word: String,
    pub(super) name: String,
    /// The line of the instruction.
    pub(super) line: u32,
}

/// What `RUN`s do beside writing files that are copied.
#[derive(Debug, Default)]
pub(super) struct Effects {
    /// Packages that are installed by name, in order, each once.
    pub(super) packages: Vec<Asked>,
    /// Commands that add users and groups, as they are written.
    pub(super) users: Vec<String>,
    /// Commands that write by-products anew from what is copied: each with its absolute paths.
    pub(super) after: Vec<(String, Vec<String>)>,
    /// Instructions that tell package managers of other sources, and whether they do nothing else.
    pub(super) sources: Vec<(usize, bool)>,
    /// The program that installs packages of rpm.
    pub(super) rpm_tool: Option<String>,
    /// What cannot be carried over, in sentences.
    pub(super) by_hand: Vec<String>,
}

impl<'r> Final<'r> {
    /// `None` when the file has no stage.
    pub(super) fn of(recipe: &'r Recipe) -> Option<Self> {
        let file = &recipe.file;
        let stages = file.stages();
        let last = stages.last()?;
        let mut chain = vec![last];
        while let Some(parent) = chain.last().and_then(|stage| stage.parent) {
            if chain.len() > stages.len() {
                break;
            }
            chain.push(stages.get(parent)?);
        }
        let base = chain.last()?.base.clone();
        let steps: Vec<usize> = chain.iter().rev().flat_map(|stage| stage.body.clone()).collect();
        let own = last.body.len();
        let says_how = |step: &usize| {
            !matches!(
                file.instructions[*step].keyword,
                Keyword::Run | Keyword::Copy | Keyword::Add | Keyword::From | Keyword::Maintainer
            )
        };
        let tail = steps.iter().rev().take(own).take_while(|step| says_how(step)).count();
        Some(Self {
            file,
            from: last.from,
            base,
            names: stages.iter().filter_map(|stage| stage.name.clone()).collect(),
            tail: steps.len() - tail,
            steps,
        })
    }

    /// A name for the build stage that no stage has. That of the final stage stays with the new one: builds ask
    /// for it by `--target`.
    pub(super) fn build_name(&self) -> String {
        let names = ["build", "builder", "build-stage"].into_iter().map(str::to_owned);
        let more = (2..).map(|number| format!("build-{number}"));
        names.chain(more).find(|name| !self.names.contains(name)).unwrap_or_default()
    }

    /// The text of an instruction without the end of its last line.
    pub(super) fn text(&self, step: usize) -> &'r str {
        self.file.slice(&self.file.instructions[step].span).trim_end_matches(['\r', '\n'])
    }

    pub(super) fn effects(&self) -> Effects {
        let mut effects = Effects::default();
        for step in &self.steps {
            let instruction = &self.file.instructions[*step];
            if instruction.keyword != Keyword::Run {
                continue;
            }
            let all = commands(self.file, *step);
            for command in &all {
                effects.command(self.file, command, instruction.line);
            }
            let adds = all.iter().any(adds_source);
            if adds {
                let alone = instruction.form == Form::Shell
                    && instruction.heredocs.is_empty()
                    && all.iter().all(only_sources);
                effects.sources.push((*step, alone));
            }
        }
        effects
    }
}

impl Effects {
    fn command(&mut self, file: &Dockerfile, command: &ShellCommand, line: u32) {
        let words: Vec<&str> = program_words(command);
        let Some(program) = words.first().map(|word| word.rsplit('/').next().unwrap_or(word)) else { return };
        match program {
            "apt-get" | "apt" | "aptitude" if words.contains(&"install") => self.install(&words, line),
            "dnf" | "yum" | "microdnf" | "tdnf" if words.contains(&"install") => {
                self.rpm_tool.get_or_insert_with(|| program.to_owned());
                self.install(&words, line);
            }
            "useradd" | "groupadd" | "adduser" | "addgroup" | "usermod" | "groupmod" => {
                let text = file.slice(&command.span);
                if command.plain && !text.contains(['\n', '#']) {
                    self.users.push(text.to_owned());
                } else {
                    self.by_hand.push(format!("line {line} adds a user in a way that was not understood: repeat it in the final stage"));
                }
            }
            "update-ca-certificates" | "update-alternatives" | "fc-cache" | "dpkg-reconfigure" => {
                let text = file.slice(&command.span);
                if command.plain && !text.contains(['\n', '#', '$']) {
                    let paths = words.iter().filter(|word| word.starts_with('/'));
                    self.after.push((text.to_owned(), paths.map(|path| (*path).to_owned()).collect()));
                } else {
                    self.by_hand.push(format!(
                        "line {line} calls {program} in a way that was not understood: repeat it in the final stage"
                    ));
                }
            }
            "setcap" => self.by_hand.push(format!(
                "line {line} gives a file capabilities, which a COPY may not carry: repeat it in the final stage"
            )),
            _ => {}
        }
    }

    fn install(&mut self, words: &[&str], line: u32) {
        let mut words = words.iter().skip_while(|word| **word != "install").skip(1);
        while let Some(word) = words.next() {
            if matches!(*word, "-t" | "-o" | "-c" | "--target-release" | "--option" | "--config-file") {
                words.next();
                continue;
            }
            if word.starts_with('-') || word.is_empty() {
                continue;
            }
            let name = word.split(['=', '/']).next().unwrap_or(word);
            let name = name.split(':').next().unwrap_or(name);
            if word.contains(['$', '*', '`']) {
                self.by_hand.push(format!(
                    "line {line} installs {}, whose packages were not told apart: those that the image needs are named by themselves",
                    crate::base::text::printable(word)
                ));
            } else if word.contains(".deb") || word.starts_with(['.', '/']) {
                self.by_hand.push(format!(
                    "line {line} installs {} from a file: its files are not installed again",
                    crate::base::text::printable(word)
                ));
            } else if !self.packages.iter().any(|known| known.name == name) {
                self.packages.push(Asked { word: (*word).to_owned(), name: name.to_owned(), line });
            }
        }
    }
}

/// Words without assignments and `sudo` before them.
fn program_words(command: &ShellCommand) -> Vec<&str> {
    let assigned = |word: &str| {
        word.split_once('=').is_some_and(|(name, _)| {
            !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        })
    };
    let words = command.words.iter().map(|word| word.text.as_str());
    words.skip_while(|word| assigned(word) || matches!(*word, "sudo" | "env" | "-E" | "exec")).collect()
}

const SOURCE_MARKS: [&str; 9] = [
    "add-apt-repository",
    "apt-key",
    "sources.list",
    "keyring",
    "--dearmor",
    "yum.repos.d",
    "yum-config-manager",
    "config-manager",
    "trusted.gpg",
];

fn adds_source(command: &ShellCommand) -> bool {
    let marked = |text: &str| SOURCE_MARKS.iter().any(|mark| text.contains(mark));
    command.words.iter().any(|word| marked(&word.text)) || command.writes.iter().any(|path| marked(path))
}

/// Whether a command belongs to installing packages.
fn only_sources(command: &ShellCommand) -> bool {
    const KNOWN: [&str; 26] = [
        "apt-get",
        "apt",
        "add-apt-repository",
        "apt-key",
        "dpkg",
        "curl",
        "wget",
        "gpg",
        "echo",
        "printf",
        "tee",
        "cat",
        "mkdir",
        "install",
        "chmod",
        "rm",
        "mv",
        "dnf",
        "yum",
        "microdnf",
        "rpm",
        "set",
        "export",
        "true",
        "sed",
        "yum-config-manager",
    ];
    program_words(command).first().is_none_or(|program| KNOWN.contains(program))
}
