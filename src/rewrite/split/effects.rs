//! What `RUN`s do beside writing files that are copied.

use std::collections::HashSet;

use super::stage::Final;
use crate::base::text::printable;
use crate::formats::dockerfile::{Dockerfile, Keyword, ShellCommand, commands};

/// A package that an instruction installs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Asked {
    /// As it is written, version and all.
    pub(super) word: String,
    pub(super) name: String,
    /// The line of the instruction.
    pub(super) line: u32,
}

/// What the instructions of an image do to the system.
#[derive(Debug, Default)]
pub(super) struct Effects {
    /// Packages that are installed by name, in order, each once.
    pub(super) packages: Vec<Asked>,
    /// Their names.
    seen: HashSet<String>,
    /// Names of packages that are installed from files: no source has them.
    pub(super) from_files: Vec<String>,
    /// Whether users or groups are added or changed.
    pub(super) users: bool,
    /// Commands that write by-products anew from what is copied: each with its absolute paths.
    pub(super) after: Vec<(String, Vec<String>)>,
    /// Absolute paths that are removed.
    pub(super) removed: Vec<String>,
    /// The program that installs packages of rpm.
    pub(super) rpm_tool: Option<String>,
    /// What was taken to be true, in sentences.
    pub(super) assumed: Vec<String>,
    /// What cannot be carried over, in sentences.
    pub(super) by_hand: Vec<String>,
}

/// Programs that install packages; the first three of dpkg.
const INSTALLERS: [&str; 7] = ["apt-get", "apt", "aptitude", "dnf", "yum", "microdnf", "tdnf"];
/// Programs that change the tables of users and groups.
const OF_USERS: [&str; 14] = [
    "useradd", "groupadd", "adduser", "addgroup", "usermod", "groupmod", "gpasswd", "chpasswd", "newusers",
    "passwd", "userdel", "groupdel", "deluser", "delgroup",
];
/// Programs whose effect is known: on packages, on files that are copied by themselves, or none.
const KNOWN: [&str; 44] = [
    "apt-get",
    "apt",
    "aptitude",
    "apt-mark",
    "apt-key",
    "add-apt-repository",
    "dnf",
    "yum",
    "microdnf",
    "tdnf",
    "rpm",
    "dpkg",
    "curl",
    "wget",
    "gpg",
    "mkdir",
    "rm",
    "ln",
    "chmod",
    "chown",
    "set",
    "export",
    "true",
    "test",
    "[",
    "cd",
    "pip",
    "pip3",
    "uv",
    "conda",
    "mamba",
    "npm",
    "git",
    "make",
    "cmake",
    "ninja",
    "cargo",
    "ldconfig",
    "locale-gen",
    "update-ca-certificates",
    "update-alternatives",
    "fc-cache",
    "dpkg-reconfigure",
    "echo",
];

pub(super) fn effects(stage: &Final<'_>) -> Effects {
    let mut effects = Effects::default();
    let file = stage.file;
    for step in &stage.steps {
        let instruction = &file.instructions[*step];
        if instruction.keyword != Keyword::Run {
            continue;
        }
        let line = instruction.line;
        let all = commands(file, *step);
        if all.is_empty() {
            effects
                .by_hand
                .push(format!("line {line} was not understood: see what of it the final stage needs"));
        }
        let installed = effects.packages.len() + effects.from_files.len();
        for command in &all {
            effects.command(file, command, line);
        }
        let installs = effects.packages.len() + effects.from_files.len() > installed;
        let other = all.iter().find_map(|command| {
            let program = program_words(command).first().map(|word| base_name(word).to_owned())?;
            let writes =
                command.writes.iter().any(|path| !path.starts_with("/dev/") && !path.starts_with('/'));
            (!KNOWN.contains(&program.as_str()) && !OF_USERS.contains(&program.as_str()) || writes)
                .then_some(program)
        });
        if let Some(program) = other.filter(|_| installs) {
            effects.assumed.push(format!(
                "Line {line} installs packages and does other work ({}) in one instruction: what that changes of files of these packages is carried over only where the line names them by their whole path.",
                printable(&program)
            ));
        }
    }
    effects
}

impl Effects {
    fn command(&mut self, file: &Dockerfile, command: &ShellCommand, line: u32) {
        let words = program_words(command);
        // xargs, timeout and others start what follows.
        let at = words.iter().position(|word| INSTALLERS.contains(&base_name(word)));
        if let Some(at) = at
            && let Some(tail) = words.get(at..)
            && tail.contains(&"install")
        {
            let tool = base_name(tail[0]);
            if !tool.starts_with("apt") {
                self.rpm_tool.get_or_insert_with(|| tool.to_owned());
            }
            if at > 0 && words.iter().take(at).any(|word| base_name(word) == "xargs") {
                self.by_hand.push(format!(
                    "line {line} installs packages from a list: name those that the final stage needs"
                ));
            }
            self.install(tail, line);
            return;
        }
        let Some(program) = words.first().map(|word| base_name(word)) else { return };
        match program {
            "sh" | "bash" | "dash" if words.contains(&"-c") => self.nested(&words, line),
            _ if OF_USERS.contains(&program) => self.users = true,
            "dpkg" if words.iter().any(|word| matches!(*word, "-i" | "--install")) => {
                for word in words.iter().filter(|word| word.contains(".deb")) {
                    self.package_file(word, line);
                }
            }
            "dpkg" if words.contains(&"--add-architecture") => self.by_hand.push(format!(
                "line {line} adds an architecture to dpkg: repeat it before packages are installed in the final stage"
            )),
            "debconf-set-selections" => self.by_hand.push(format!(
                "line {line} answers questions of packages: repeat it before they are installed in the final stage"
            )),
            "update-ca-certificates" | "update-alternatives" | "fc-cache" | "dpkg-reconfigure" => {
                let text = file.slice(&command.span);
                if command.plain && !text.contains(['\n', '#', '$', '`']) {
                    let paths = words.iter().filter(|word| word.starts_with('/'));
                    self.after.push((text.to_owned(), paths.map(|path| (*path).to_owned()).collect()));
                } else {
                    self.by_hand.push(format!(
                        "line {line} calls {program} in a way that was not understood: repeat it in the final stage"
                    ));
                }
            }
            "rm" => {
                let plain = |word: &&&str| word.starts_with('/') && !word.contains(['$', '`', '\'', '"', '\\', '\n', ' ']);
                self.removed.extend(words.iter().filter(plain).map(|word| (*word).to_owned()));
            }
            "setcap" => self.by_hand.push(format!(
                "line {line} gives a file capabilities, which a COPY may not carry: repeat it in the final stage"
            )),
            _ => {}
        }
    }

    /// A text that another shell reads.
    fn nested(&mut self, words: &[&str], line: u32) {
        let Some(text) = words.iter().skip_while(|word| **word != "-c").nth(1) else { return };
        let says = |names: &[&str]| {
            text.split(|c: char| c.is_whitespace() || ";&|()".contains(c))
                .any(|word| names.contains(&base_name(word)))
        };
        self.users |= says(&OF_USERS);
        if says(&INSTALLERS) || says(&["setcap", "dpkg", "update-alternatives", "update-ca-certificates"]) {
            self.by_hand.push(format!(
                "line {line} changes the system in a shell of its own: see what of it the final stage needs"
            ));
        }
    }

    fn package_file(&mut self, word: &str, line: u32) {
        let name = base_name(word).split(['_', '*', '$']).next().unwrap_or_default();
        let name = name.strip_suffix(".deb").unwrap_or(name);
        if name.is_empty() {
            self.by_hand.push(format!(
                "line {line} installs packages from files: see that the final stage has those that it needs"
            ));
        } else {
            self.from_files.push(name.to_owned());
        }
    }

    fn install(&mut self, words: &[&str], line: u32) {
        let mut words = words.iter().skip_while(|word| **word != "install").skip(1);
        while let Some(word) = words.next() {
            if matches!(*word, "-t" | "--target-release") {
                self.by_hand.push(format!(
                    "line {line} installs from another release: repeat that option in the final stage"
                ));
                words.next();
                continue;
            }
            if matches!(*word, "-o" | "-c" | "--option" | "--config-file") {
                words.next();
                continue;
            }
            if word.starts_with('-') || word.is_empty() {
                continue;
            }
            let name = word.split(['=', '/']).next().unwrap_or(word);
            let name = name.split(':').next().unwrap_or(name);
            if word.contains(".deb") || word.starts_with(['.', '/']) {
                self.package_file(word, line);
            } else if !is_package_word(word) {
                self.by_hand.push(format!(
                    "line {line} installs {}, whose packages were not told apart: those that files of the image need are named by themselves, programs that it starts by name are not",
                    printable(word)
                ));
            } else if self.seen.insert(name.to_owned()) {
                self.packages.push(Asked { word: (*word).to_owned(), name: name.to_owned(), line });
            }
        }
    }
}

/// Whether a word is a package's name, with a version, release or architecture maybe, and nothing that a shell
/// reads otherwise.
pub(super) fn is_package_word(word: &str) -> bool {
    !word.is_empty()
        && !word.starts_with('-')
        && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.:=~_/^@".contains(&byte))
}

fn base_name(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}

/// Words without assignments and `sudo` before them.
fn program_words(command: &ShellCommand) -> Vec<&str> {
    let assigned = |word: &str| {
        word.split_once('=').is_some_and(|(name, _)| {
            !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        })
    };
    let words = command.words.iter().map(|word| word.text.as_str());
    words
        .skip_while(|word| assigned(word) || matches!(*word, "sudo" | "env" | "-E" | "exec" | "command"))
        .collect()
}
