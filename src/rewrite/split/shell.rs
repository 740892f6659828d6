//! Classifies the commands of a `RUN` by their words.

use super::operands::makes_folders;
use crate::formats::dockerfile::{ShellCommand, Word};
use crate::rewrite::tidy::{Call, TAKES_VALUE};

/// The effect of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Work {
    /// Installs packages of the system.
    Install,
    /// Prepares or cleans up after the installation of packages: lists, keys, sources, caches.
    Manage,
    /// Adds or changes users and groups.
    Users,
    /// Changes owner, mode or capabilities of files.
    Owner,
    /// Writes little: folders, links, settings. Repeating it in another stage gives the same result.
    Configure,
    /// Removes files.
    Remove,
    /// Has no effect on files: `set -e`, `cd`, `export`.
    Shell,
    /// Compiles.
    Compile,
    /// Installs packages of a language: pip, uv, poetry, conda, npm.
    Language,
    /// Anything else: downloads, scripts, programs.
    Other,
}

/// Programs that install packages of the system.
pub(super) const INSTALLERS: [&str; 9] =
    ["apt-get", "apt", "aptitude", "dnf", "dnf5", "yum", "microdnf", "tdnf", "apk"];

const USERS: [&str; 14] = [
    "useradd", "groupadd", "adduser", "addgroup", "usermod", "groupmod", "gpasswd", "chpasswd", "newusers",
    "passwd", "userdel", "groupdel", "deluser", "delgroup",
];

pub(super) const COMPILERS: [&str; 38] = [
    "make",
    "gmake",
    "cmake",
    "ninja",
    "meson",
    "scons",
    "bazel",
    "bazelisk",
    "gcc",
    "g++",
    "cc",
    "c++",
    "cpp",
    "clang",
    "clang++",
    "nvcc",
    "gfortran",
    "ld",
    "ar",
    "cargo",
    "rustc",
    "maturin",
    "configure",
    "autoreconf",
    "autoconf",
    "automake",
    "autogen.sh",
    "javac",
    "mvn",
    "mvnw",
    "gradle",
    "gradlew",
    "ctest",
    "cpack",
    "checkinstall",
    "debuild",
    "dpkg-buildpackage",
    "rpmbuild",
];

const LANGUAGES: [&str; 16] = [
    "pip",
    "uv",
    "poetry",
    "pdm",
    "pipenv",
    "pipx",
    "virtualenv",
    "conda",
    "mamba",
    "micromamba",
    "npm",
    "npx",
    "yarn",
    "pnpm",
    "gem",
    "bundle",
];

/// Programs that configure the system: their output is small, and repeating them gives the same result.
const CONFIGURE: [&str; 15] = [
    "mkdir",
    "ln",
    "touch",
    "ldconfig",
    "locale-gen",
    "update-locale",
    "localedef",
    "echo",
    "printf",
    "update-ca-certificates",
    "update-alternatives",
    "fc-cache",
    "dpkg-reconfigure",
    "tee",
    "mktemp",
];

const MANAGE: [&str; 8] = [
    "apt-mark",
    "apt-key",
    "add-apt-repository",
    "dpkg",
    "debconf-set-selections",
    "gpg",
    "rpm",
    "dnf-config-manager",
];

const SHELL: [&str; 20] = [
    "set", "cd", "export", "true", ":", "test", "[", "[[", "unset", "umask", "shopt", "sync", "date", "id",
    "pwd", "env", "getent", "command", "which", "type",
];

/// Programs that start another one, behind their options and assignments.
const STARTERS: [&str; 4] = ["command", "env", "nice", "nohup"];

/// The effect of a command. Assignments alone affect only the shell.
pub(super) fn work(command: &ShellCommand) -> Work {
    let Some(call) = Call::of(command) else { return Work::Shell };
    let looks_up = || call.words.first().is_some_and(|word| matches!(&*word.text, "-v" | "-V"));
    if STARTERS.contains(&call.program) && !looks_up() {
        let options = call.words.iter().take_while(|word| word.text.starts_with('-')).count();
        let words = call.words.get(options..).unwrap_or_default().to_vec();
        return work(&ShellCommand { words, ..command.clone() });
    }
    let program = call.program;
    let has = |wanted: &str| call.words.iter().any(|word| word.text == wanted);
    if INSTALLERS.contains(&program) {
        return if has("install") || (program == "apk" && has("add")) { Work::Install } else { Work::Manage };
    }
    if program.starts_with("python") {
        let module = call.words.first().zip(call.words.get(1));
        let module = module.filter(|(dash, _)| dash.text == "-m").map(|(_, module)| module.text.as_str());
        return match module {
            Some("venv" | "virtualenv" | "ensurepip" | "pip" | "poetry" | "uv") => Work::Language,
            Some("build") => Work::Compile,
            _ if call.words.first().is_some_and(|word| word.text.ends_with("setup.py")) => Work::Compile,
            _ => Work::Other,
        };
    }
    if USERS.contains(&program) {
        return Work::Users;
    }
    if matches!(program, "go") && (has("build") || has("install")) || COMPILERS.contains(&program) {
        return Work::Compile;
    }
    let builds_packages = match program {
        "R" => has("CMD") && (has("INSTALL") || has("SHLIB")),
        "Rscript" => call.words.iter().any(|word| word.text.contains("install")),
        "cpanm" => true,
        "luarocks" => has("install") || has("make"),
        "perl" => has("Makefile.PL") || has("Build.PL"),
        _ => false,
    };
    if builds_packages || is_compiler_of_system(program) {
        return Work::Compile;
    }
    if LANGUAGES.contains(&program) {
        let compiles = program == "pip" && call.subcommand("wheel").is_some()
            || matches!(program, "npm" | "yarn" | "pnpm") && (has("run") || has("build"));
        return if compiles { Work::Compile } else { Work::Language };
    }
    match program {
        "chown" | "chmod" | "chgrp" | "setcap" => Work::Owner,
        "rm" | "rmdir" => Work::Remove,
        "find" if has("-delete") => Work::Remove,
        "install" if makes_folders(&call) => Work::Configure,
        _ if MANAGE.contains(&program) => Work::Manage,
        "sed" if edits_system(&call) => Work::Configure,
        _ if CONFIGURE.contains(&program) => Work::Configure,
        _ if SHELL.contains(&program) => Work::Shell,
        _ => Work::Other,
    }
}

/// `x86_64-linux-gnu-gcc-12`, `gcc-12`, `clang-15`.
fn is_compiler_of_system(program: &str) -> bool {
    let stem = program.trim_end_matches(|one: char| one.is_ascii_digit() || one == '.' || one == '-');
    stem != program && COMPILERS.contains(&stem) || program.contains("-linux-gnu-")
}

/// `sed -i` on files of the system.
fn edits_system(call: &Call<'_>) -> bool {
    call.words.iter().any(|word| word.text.starts_with("-i"))
        && call.words.iter().any(|word| word.text.starts_with("/etc/"))
}

/// Whether an installation with pip or similar compiles in place, by its words: the source is a folder, a source
/// archive or a repository, or wheels are disabled.
pub(super) fn installs_sources(command: &ShellCommand) -> bool {
    let Some(call) = Call::of(command) else { return false };
    let mut words = call.words.iter().map(|word| word.text.as_str());
    let installs = match call.program {
        "pip" | "uv" => call.words.iter().any(|word| word.text == "install" || word.text == "sync"),
        program => program.starts_with("python") && call.words.iter().any(|word| word.text == "install"),
    };
    installs
        && words.any(|word| {
            matches!(word, "." | "--no-build-isolation" | "--no-binary" | "-e" | "--editable")
                || word.starts_with("--no-binary=")
                || word.starts_with("git+")
                || word.starts_with("./")
                || (word.starts_with('/') && !matches!(word.rsplit_once('.'), Some((_, "whl" | "txt"))))
                || word.ends_with(".tar.gz")
        })
}

/// The package words of an `apt-get install` or similar.
pub(super) fn package_words<'c>(call: &Call<'c>) -> Vec<&'c Word> {
    let mut words =
        call.words.iter().skip_while(|word| !matches!(word.text.as_str(), "install" | "add")).skip(1);
    let mut found = Vec::new();
    while let Some(word) = words.next() {
        let text = word.text.as_str();
        if TAKES_VALUE.contains(&text) {
            words.next();
        } else if !text.starts_with('-') && !text.is_empty() {
            found.push(word);
        }
    }
    found
}

/// The package in a word of an installation, without version, release and architecture.
pub(super) fn package_name(word: &str) -> &str {
    let name = word.split(['=', '/', '<', '>', '~']).next().unwrap_or(word);
    match name.rsplit_once(':') {
        Some((name, architecture)) if architecture.bytes().all(|byte| byte.is_ascii_alphanumeric()) => name,
        _ => name,
    }
}

/// Whether a word is a plain package name without shell syntax.
pub(super) fn is_package_word(word: &str) -> bool {
    !word.is_empty()
        && !word.starts_with(['-', '.', '/'])
        && !word.contains(".deb")
        && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.:=~_/^@".contains(&byte))
}
